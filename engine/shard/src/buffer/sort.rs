//! Laying the documents of a buffer in the order of a sorted index.
//!
//! Always true
//! 1. A value counts as the column of the segment will hold it: the order that is laid here is the one
//!    that `segment::order` verifies.
//! 2. Documents that no key tells apart keep the order of their arrival.
//!
//! Not here: what an index may be sorted by (`mapping`), keeping the order in merges (`segment::merge`).

use base::FieldNo;
use mapping::{Column, Mapping};
use segment::order;
use segment::{SortColumn, SortKey, SortOrder};

use super::Buffer;

/// The order of an index's segments, where it is sorted.
pub(crate) fn order_of(mapping: &Mapping) -> Option<SortOrder> {
    let keys = mapping.sort().map(|(spec, field)| {
        let column = match field.column() {
            Column::Numeric => SortColumn::Numbers,
            Column::Ordinals => SortColumn::Terms,
            _ => return None,
        };
        Some(SortKey {
            field: field.no,
            column,
            descending: spec.descending,
            greatest: spec.greatest,
            missing_first: spec.missing_first,
        })
    });
    SortOrder::new(keys.collect::<Option<Vec<SortKey>>>()?)
}

/// These documents, rising, as `order` lays them.
pub(crate) fn sorted(buffer: &Buffer, order: &SortOrder, docs: Vec<u32>) -> Vec<u32> {
    let values: Vec<Vec<i64>> = order
        .keys()
        .iter()
        .map(|key| {
            let of_all = values(buffer, key);
            docs.iter().map(|doc| of_all[*doc as usize]).collect()
        })
        .collect();
    order::sorted(&docs, &values)
}

/// What each document of the buffer compares as.
fn values(buffer: &Buffer, key: &SortKey) -> Vec<i64> {
    let mut found: Vec<Option<i64>> = vec![None; buffer.docs().len()];
    let mut take = |doc: u32, value: i64| {
        let slot = &mut found[doc as usize];
        *slot = Some(match *slot {
            None => value,
            Some(other) if key.greatest => other.max(value),
            Some(other) => other.min(value),
        });
    };
    match key.column {
        SortColumn::Numbers => {
            if let Some(numbers) = of(&buffer.numbers, key.field) {
                numbers.iter().for_each(|(doc, value)| take(doc, value));
            }
        }
        SortColumn::Terms => {
            if let Some(terms) = of(&buffer.terms, key.field) {
                let mut ranks = vec![0; terms.len()];
                for (rank, number) in terms.sorted(&buffer.words).into_iter().enumerate() {
                    ranks[number as usize] = rank as i64;
                }
                for (doc, number) in terms.column().iter() {
                    take(*doc, ranks[*number as usize]);
                }
            }
        }
    }
    let directed = |value: Option<i64>| value.map_or(key.absent(), |value| key.directed(value));
    found.into_iter().map(directed).collect()
}

fn of<T>(fields: &[(FieldNo, T)], field: FieldNo) -> Option<&T> {
    fields.iter().find(|(no, _)| *no == field).map(|(_, found)| found)
}
