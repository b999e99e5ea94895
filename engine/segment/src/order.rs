//! The order in which the documents of a segment stand, where their index is sorted.
//!
//! Always true
//! 1. Documents stand by the first key, those of equal keys by the next, and documents that no key
//!    tells apart in the order in which they came.
//! 2. Each key reads one column. A document without a value stands where the least, or the greatest,
//!    number would stand.
//! 3. A segment of a sorted index has no nested documents: a block could not be kept together.
//!
//! Layout (little-endian), for each key:
//!
//! | bytes | what                                                                             |
//! |-------|----------------------------------------------------------------------------------|
//! | 4     | field                                                                            |
//! | 1     | column: 0 numbers, 1 terms                                                       |
//! | 1     | bit 0: greatest first; 1: the greatest of several values counts; 2: without first |
//! | 2     | 0                                                                                |
//!
//! Example: field 16, numbers, greatest first by the greatest value, documents without one last:
//! `10 00 00 00 | 00 | 03 | 00 00`.
//!
//! Not here: which index is sorted, and by what (`mapping`); laying out a buffer (`shard/buffer/seal`).

use std::sync::Arc;

use base::FieldNo;

use crate::columns::WINDOW;
use crate::columns::block::Block;
use crate::error::{Error, Result};
use crate::reader::Segment;
use crate::section::File;
use crate::toc::SectionKind;
use crate::writer::SegmentWriter;

/// Keys of an order at most.
pub const KEYS_MAX: usize = 64;

const KEY_BYTES: usize = 8;

/// Which column of its field a key reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SortColumn {
    /// Sortable numbers.
    Numbers,
    /// Terms, by their bytes.
    Terms,
}

/// One key of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SortKey {
    /// The field.
    pub field: FieldNo,
    /// Its column.
    pub column: SortColumn,
    /// Greatest first.
    pub descending: bool,
    /// The greatest of several values counts, else the least.
    pub greatest: bool,
    /// Documents without a value stand first, else last.
    pub missing_first: bool,
}

impl SortKey {
    /// What a value compares as: the lesser stands first.
    #[inline]
    pub fn directed(&self, value: i64) -> i64 {
        if self.descending { !value } else { value }
    }

    /// What no value compares as.
    pub fn absent(&self) -> i64 {
        if self.missing_first { i64::MIN } else { i64::MAX }
    }

    /// What each document of a segment compares as; `ranks` are what stands for those of its terms.
    fn values(&self, segment: &Segment, ranks: Option<&[u32]>) -> Result<Vec<i64>> {
        let mut values = vec![self.absent(); segment.doc_count() as usize];
        let column = match self.column {
            SortColumn::Numbers => segment.numeric(self.field),
            SortColumn::Terms => segment.ordinals(self.field).map(|column| column.ranks()),
        };
        let Some(column) = column else { return Ok(values) };
        for window in 0..column.window_count() {
            let Some(block) = column.block(window)? else { continue };
            let start = window as usize * WINDOW as usize;
            let whole = self.window(&block, ranks, &mut values[start..]);
            if !whole {
                return Err(column.malformed(window, "every rank has a term"));
            }
        }
        Ok(values)
    }

    /// What the documents of one window compare as; false where a rank has no term.
    fn window(&self, block: &Block<'_>, ranks: Option<&[u32]>, values: &mut [i64]) -> bool {
        let mut last = None;
        let mut whole = true;
        block.for_each(|place, value| {
            // The values of a document stand side by side, the least first.
            let is_first = last != Some(place);
            last = Some(place);
            if !is_first && !self.greatest {
                return;
            }
            let value = match ranks {
                None => Some(value),
                Some(ranks) => usize::try_from(value)
                    .ok()
                    .and_then(|rank| ranks.get(rank))
                    .map(|rank| i64::from(*rank)),
            };
            match (value, values.get_mut(place as usize)) {
                (Some(value), Some(slot)) => *slot = self.directed(value),
                _ => whole = false,
            }
        });
        whole
    }
}

/// The order of a segment's documents: one key at least.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortOrder(Arc<[SortKey]>);

impl SortOrder {
    /// An order by these keys, the first decides; `None` without one, or with more than
    /// [`KEYS_MAX`].
    pub fn new(keys: impl IntoIterator<Item = SortKey>) -> Option<Self> {
        let keys: Arc<[SortKey]> = keys.into_iter().collect();
        (1..=KEYS_MAX).contains(&keys.len()).then_some(Self(keys))
    }

    /// The keys, the first decides.
    pub fn keys(&self) -> &[SortKey] {
        &self.0
    }

    /// Opens the section, if the file has one.
    pub(crate) fn open(file: &Arc<File>) -> Result<Option<Self>> {
        let Some(section) = file.section(SectionKind::Order, FieldNo(0)) else { return Ok(None) };
        let bytes = section.all()?;
        let malformed = |what| section.malformed(0, what);
        let (keys, rest) = bytes.as_chunks::<KEY_BYTES>();
        if !rest.is_empty() {
            return Err(malformed("eight bytes for each key"));
        }
        let keys: Option<Vec<SortKey>> = keys.iter().map(read).collect();
        let keys = keys.ok_or_else(|| malformed("a key of a known kind"))?;
        if file.section(SectionKind::Parents, FieldNo(0)).is_some() {
            return Err(malformed("no nested documents in a sorted segment"));
        }
        Self::new(keys).map(Some).ok_or_else(|| malformed("a bounded number of keys, at least one"))
    }

    /// What the documents of a segment compare as: for each key a number for each document.
    pub(crate) fn values(
        &self,
        segment: &Segment,
        ranks: impl Fn(usize) -> Option<Arc<[u32]>>,
    ) -> Result<Vec<Vec<i64>>> {
        let keys = self.0.iter().enumerate();
        keys.map(|(at, key)| key.values(segment, ranks(at).as_deref())).collect()
    }

    /// Checks that the documents of a segment stand in this order.
    pub(crate) fn verify(&self, segment: &Segment) -> Result<()> {
        let values = self.values(segment, |_| None)?;
        for doc in 1..segment.doc_count() as usize {
            let order = values.iter().map(|of| of[doc - 1].cmp(&of[doc]));
            if order.reduce(std::cmp::Ordering::then).is_some_and(std::cmp::Ordering::is_gt) {
                let (section, field) = (SectionKind::Order, FieldNo(0));
                let what = "documents stand in the order of the segment";
                return Err(Error::Malformed { section, field, offset: 0, what });
            }
        }
        Ok(())
    }
}

/// A key of its bytes; `None` where they are none.
fn read(bytes: &[u8; KEY_BYTES]) -> Option<SortKey> {
    let [a, b, c, d, column, flags, 0, 0] = *bytes else { return None };
    let column = match column {
        0 => SortColumn::Numbers,
        1 => SortColumn::Terms,
        _ => return None,
    };
    (flags < 8).then_some(SortKey {
        field: FieldNo(u32::from_le_bytes([a, b, c, d])),
        column,
        descending: flags & 1 != 0,
        greatest: flags & 2 != 0,
        missing_first: flags & 4 != 0,
    })
}

impl SegmentWriter {
    /// The order in which the documents stand. Whoever says so has laid them so.
    pub fn order(&mut self, order: &SortOrder) {
        let mut bytes = Vec::with_capacity(order.0.len() * KEY_BYTES);
        for key in order.keys() {
            bytes.extend_from_slice(&key.field.get().to_le_bytes());
            bytes.push(match key.column {
                SortColumn::Numbers => 0,
                SortColumn::Terms => 1,
            });
            let flags = [key.descending, key.greatest, key.missing_first];
            let bits = flags.iter().rev().fold(0, |bits, flag| bits << 1 | u8::from(*flag));
            bytes.extend_from_slice(&[bits, 0, 0]);
        }
        self.put(SectionKind::Order, FieldNo(0), &bytes);
    }
}

/// The documents of one run, sorted: `order[i]` is the one that stands at place `i`. `values` are
/// what they compare as, for each key a number for each document of `docs`, in their order.
pub fn sorted(docs: &[u32], values: &[Vec<i64>]) -> Vec<u32> {
    let mut places: Vec<u32> = (0..docs.len() as u32).collect();
    places.sort_by(|one, other| {
        let (one, other) = (*one as usize, *other as usize);
        let order = values.iter().map(|of| of[one].cmp(&of[other]));
        order.reduce(std::cmp::Ordering::then).unwrap_or(std::cmp::Ordering::Equal)
    });
    places.into_iter().map(|at| docs[at as usize]).collect()
}

/// The order that all segments share; `None` where they stand otherwise: they are merged one behind
/// the other then.
pub(crate) fn shared(segments: &[&Segment]) -> Option<SortOrder> {
    let (first, rest) = segments.split_first()?;
    let order = first.order()?;
    rest.iter().all(|segment| segment.order() == Some(order)).then(|| order.clone())
}

#[cfg(test)]
#[path = "order_tests.rs"]
mod tests;
