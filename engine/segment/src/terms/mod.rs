//! Terms: the words of a field in byte order, each with its counts and where its postings lie.
//!
//! | to find                          | look into |
//! |----------------------------------|-----------|
//! | how a block of terms lies        | `block`   |
//! | which block a term lies in       | `index`   |
//! | looking up, walking, prefixes    | `reader`, `cursor` |
//! | decoded blocks kept by a core    | `cache`   |
//! | how a field is written, merged   | `writer`, `merge` |

pub(crate) mod block;
mod cache;
mod cursor;
mod index;
mod merge;
mod reader;
mod writer;

use base::DocId;

pub use cache::BlockCache;
pub use cursor::TermCursor;
pub use index::TermIndex;
pub use merge::MergedTerms;
pub(crate) use reader::FieldTerms;
pub use reader::Terms;

use crate::error::Result;

/// The longest term in bytes: Lucene's.
pub const TERM_LEN_MAX: usize = 32_766;

/// What a field's postings hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TermOptions {
    /// How often a term is in a document.
    pub freqs: bool,
    /// Where; needs `freqs`.
    pub positions: bool,
}

impl TermOptions {
    /// Documents alone: exact values.
    pub const DOCS: Self = Self { freqs: false, positions: false };
    /// Documents, frequencies, positions: text.
    pub const TEXT: Self = Self { freqs: true, positions: true };
}

/// A term found: counts, and where its postings lie.
///
/// Means something for the field and segment that it was found in, alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TermInfo {
    /// Number of documents with the term, dead ones included.
    pub doc_freq: u32,
    /// Number of occurrences in them; the same where frequencies are not kept.
    pub total_freq: u64,
    /// The one document, where there is one alone.
    pub(crate) single: Option<u32>,
    pub(crate) postings: u64,
    pub(crate) postings_len: u32,
    pub(crate) skips: u64,
    pub(crate) positions: u64,
    pub(crate) positions_len: u64,
    /// Bound of a term without skips.
    pub(crate) impacts: [u8; 8],
}

impl TermInfo {
    /// The one document that holds the term, where it is one alone.
    #[must_use]
    pub fn only(&self) -> Option<DocId> {
        self.single.map(DocId)
    }

    /// Number of impacts kept for a term without skips: few documents need few.
    pub(crate) const fn pairs(doc_freq: u32) -> usize {
        match doc_freq {
            0..=1 => 0,
            2..=7 => 1,
            8..=31 => 2,
            _ => 4,
        }
    }
}

/// One document of a term, as a writer takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Posting<'a> {
    /// The document.
    pub doc: DocId,
    /// How often the term is in it: at least 1.
    pub freq: u32,
    /// Where, rising; `freq` of them, or none where the field keeps none.
    pub positions: &'a [u32],
}

/// Terms with their postings, as a writer takes them.
pub trait TermSource {
    /// Moves to the next term, in byte order.
    fn next_term(&mut self) -> Result<Option<&[u8]>>;

    /// The next document of the term, rising; each term has at least one.
    fn next_posting(&mut self) -> Result<Option<Posting<'_>>>;

    /// Bytes that the positions of all terms take at most, where that is known: room for them is made once.
    fn positions_bytes(&self) -> usize {
        0
    }
}

#[cfg(test)]
pub(crate) mod model;
#[cfg(test)]
mod tests;
