//! The index of a field's terms: which block a term lies in, and what the field counts.
//!
//! Resident: an rkyv archive, checked when the segment is opened.

use rkyv::{Archive, Deserialize, Serialize};

use super::TermOptions;
use crate::bytes::keys::KeyIndex;

/// As stored.
#[derive(Archive, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
pub struct TermIndex {
    /// Number of terms.
    pub term_count: u64,
    /// Sum of the terms' document counts.
    pub doc_freq_sum: u64,
    /// Sum of the terms' occurrences.
    pub term_freq_sum: u64,
    /// Number of documents with any term.
    pub doc_count: u32,
    /// 0: documents alone; 1: frequencies; 2: positions, too.
    pub kept: u8,
    /// The blocks.
    pub blocks: KeyIndex,
}

impl TermIndex {
    /// An index of no blocks yet.
    pub(crate) fn new(options: TermOptions) -> Self {
        let kept = u8::from(options.freqs) + u8::from(options.positions);
        Self { kept, ..Self::default() }
    }
}

impl ArchivedTermIndex {
    /// What is kept; `None` for a number that means nothing.
    pub(crate) fn options(&self) -> Option<TermOptions> {
        match self.kept {
            0 => Some(TermOptions::DOCS),
            1 => Some(TermOptions { freqs: true, positions: false }),
            2 => Some(TermOptions::TEXT),
            _ => None,
        }
    }
}
