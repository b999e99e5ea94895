//! The value that a hit stands for, where one hit for each value is kept.

use std::sync::Arc;

use base::DocId;
use base::hash::Map;
use segment::Segment;
use segment::columns::{self, DictionaryReader};

use crate::plan::order::Collapse;

/// The value that a hit stands for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum Group {
    /// None, or hits are not grouped.
    #[default]
    None,
    Number(i64),
    Term(Arc<[u8]>),
}

/// Reads values of the column by which hits are grouped.
pub(super) enum Grouper {
    Nothing,
    Numbers(columns::Numeric),
    Terms(Box<Terms>),
}

/// Reads terms, each once.
pub(super) struct Terms {
    column: columns::Ordinals,
    reader: DictionaryReader,
    known: Map<u32, Arc<[u8]>>,
}

pub(super) fn grouper(collapse: &Collapse, segment: &Segment) -> Grouper {
    let no = collapse.field.no;
    if !collapse.has_terms {
        return segment.numeric(no).map_or(Grouper::Nothing, |it| Grouper::Numbers(it.clone()));
    }
    match segment.ordinals(no) {
        None => Grouper::Nothing,
        Some(column) => Grouper::Terms(Box::new(Terms {
            column: column.clone(),
            reader: column.terms(),
            known: Map::default(),
        })),
    }
}

impl Grouper {
    /// The value of a document. What cannot be read is damaged; the segment records that.
    pub(super) fn read(&mut self, doc: u32) -> Group {
        match self {
            Self::Nothing => Group::None,
            Self::Numbers(column) => column.first(DocId(doc)).map_or(Group::None, Group::Number),
            Self::Terms(terms) => {
                let Terms { column, reader, known } = &mut **terms;
                let Some(rank) = column.first(DocId(doc)) else { return Group::None };
                if let Some(term) = known.get(&rank.get()) {
                    return Group::Term(Arc::clone(term));
                }
                let Ok(term) = reader.term(rank) else { return Group::None };
                let term: Arc<[u8]> = term.into();
                known.insert(rank.get(), Arc::clone(&term));
                Group::Term(term)
            }
        }
    }
}
