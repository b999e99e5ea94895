//! The value that a hit stands for, where one hit for each value is kept.

use std::sync::Arc;

use base::DocId;
use base::hash::Map;
use segment::Segment;
use segment::columns::{self, DictionaryReader};

use crate::error::{Error, Kind};
use crate::iter::function::Trouble;
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
    Numbers(columns::Numeric, Trouble),
    Terms(Box<Terms>),
}

/// Reads terms, each once.
pub(super) struct Terms {
    column: columns::Ordinals,
    reader: DictionaryReader,
    known: Map<u32, Arc<[u8]>>,
    known_bytes: usize,
    trouble: Trouble,
}

/// Terms that were read are remembered up to so many bytes.
const KNOWN_BYTES_MAX: usize = 1 << 20;

/// What one of them takes beside its bytes.
const TERM_BYTES: usize = 64;

/// What reads the groups of a segment; a document of several values is the search's `trouble`.
pub(super) fn grouper(collapse: &Collapse, segment: &Segment, trouble: &Trouble) -> Grouper {
    let no = collapse.field.no;
    let trouble = Arc::clone(trouble);
    if !collapse.has_terms {
        return match segment.numeric(no) {
            None => Grouper::Nothing,
            Some(column) => Grouper::Numbers(column.clone(), trouble),
        };
    }
    match segment.ordinals(no) {
        None => Grouper::Nothing,
        Some(column) => Grouper::Terms(Box::new(Terms {
            column: column.clone(),
            reader: column.terms(),
            known: Map::default(),
            known_bytes: 0,
            trouble,
        })),
    }
}

impl Group {
    /// What it takes beside itself.
    pub(super) fn held_bytes(&self) -> usize {
        match self {
            Self::Term(term) => term.len(),
            Self::None | Self::Number(_) => 0,
        }
    }
}

impl Grouper {
    /// The value of a document. What cannot be read is damaged; the segment records that.
    pub(super) fn read(&mut self, doc: u32) -> Group {
        match self {
            Self::Nothing => Group::None,
            Self::Numbers(column, trouble) => {
                if !column.is_single() {
                    let mut values = Vec::new();
                    column.values(DocId(doc), &mut values);
                    check(values.len() > 1, doc, trouble);
                }
                column.first(DocId(doc)).map_or(Group::None, Group::Number)
            }
            Self::Terms(terms) => {
                let Terms { column, reader, known, known_bytes, trouble } = &mut **terms;
                let Some(rank) = column.first(DocId(doc)) else { return Group::None };
                if !column.is_single() {
                    check(column.last(DocId(doc)) != Some(rank), doc, trouble);
                }
                if let Some(term) = known.get(&rank.get()) {
                    return Group::Term(Arc::clone(term));
                }
                let Ok(term) = reader.term(rank) else { return Group::None };
                let term: Arc<[u8]> = term.into();
                *known_bytes += TERM_BYTES + term.len();
                if *known_bytes > KNOWN_BYTES_MAX {
                    known.clear();
                    *known_bytes = TERM_BYTES + term.len();
                }
                known.insert(rank.get(), Arc::clone(&term));
                Group::Term(term)
            }
        }
    }
}

/// A hit stands for one value.
fn check(has_several: bool, doc: u32, trouble: &Trouble) {
    if has_several {
        let reason =
            format!("failed to extract doc:{doc}, the grouping field must be single valued");
        // The first is told.
        let _ = trouble.set(Error::new(Kind::IllegalState, reason));
    }
}
