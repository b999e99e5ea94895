//! Stub.
use crate::error::Result;
use crate::postings::{Need, Postings};
use crate::section::{File, Missing};
use crate::writer::SegmentWriter;
use base::{DocId, FieldNo};
use std::sync::Arc;

/// Sections of a field's terms, opened.
#[derive(Debug)]
pub struct FieldTerms {}
impl FieldTerms {
    pub(crate) fn open(_file: &Arc<File>, _field: FieldNo) -> Result<Option<Self>> {
        todo!()
    }
}

/// The terms of a field.
#[derive(Clone, Debug)]
pub struct Terms {
    #[allow(dead_code)]
    inner: Arc<FieldTerms>,
}

/// What a field's postings hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TermOptions {
    /// How often a term is in a document.
    pub freqs: bool,
    /// Where; needs `freqs`.
    pub positions: bool,
}

/// A term found: counts, and where its postings lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TermInfo {
    /// Number of documents with the term.
    pub doc_freq: u32,
    /// Number of occurrences; the same where frequencies are not kept.
    pub total_freq: u64,
}

impl Terms {
    pub(crate) fn new(inner: Arc<FieldTerms>) -> Self {
        Self { inner }
    }
    /// What the postings hold.
    pub fn options(&self) -> TermOptions {
        todo!()
    }
    /// Number of terms.
    pub fn term_count(&self) -> u64 {
        todo!()
    }
    /// Number of documents that have any term.
    pub fn doc_count(&self) -> u32 {
        todo!()
    }
    /// Sum of the terms' document counts.
    pub fn doc_freq_sum(&self) -> u64 {
        todo!()
    }
    /// Sum of the terms' occurrences.
    pub fn term_freq_sum(&self) -> u64 {
        todo!()
    }
    /// Names what `find` will read.
    pub fn need(&self, _term: &[u8], _missing: &mut Missing) -> Result<()> {
        todo!()
    }
    /// Looks a term up.
    pub fn find(&self, _term: &[u8], _cache: &mut BlockCache) -> Result<Option<TermInfo>> {
        todo!()
    }
    /// A cursor before the first term.
    pub fn cursor(&self) -> TermCursor {
        todo!()
    }
    /// The documents of a term that was found here.
    pub fn postings(&self, _info: &TermInfo, _need: Need) -> Postings {
        todo!()
    }
}

/// Walks terms in byte order.
pub struct TermCursor {}
impl TermCursor {
    /// Moves to the first term at or above `target`; false where there is none.
    pub fn seek_ceil(&mut self, _target: &[u8]) -> Result<bool> {
        todo!()
    }
    /// Moves to the next term; false where there is none.
    pub fn next(&mut self) -> Result<bool> {
        todo!()
    }
    /// The term it stands on.
    pub fn term(&self) -> &[u8] {
        todo!()
    }
    /// What is known of the term it stands on.
    pub fn info(&self) -> TermInfo {
        todo!()
    }
    /// Names what `seek_ceil` (and each later `next`, block by block) will read.
    pub fn need(&self, _target: &[u8], _missing: &mut Missing) -> Result<()> {
        todo!()
    }
}

/// One core's decoded blocks of terms, bounded in bytes.
pub struct BlockCache {}
impl BlockCache {
    /// A cache of `limit_bytes`.
    pub fn new(_limit_bytes: usize) -> Self {
        todo!()
    }
}

/// One document of a term, as a writer takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Posting<'a> {
    /// The document.
    pub doc: DocId,
    /// How often the term is in it: at least 1.
    pub freq: u32,
    /// Where, ascending; `freq` of them, or none where the field keeps none.
    pub positions: &'a [u32],
}

/// Terms with their postings, as a writer takes them.
pub trait TermSource {
    /// Moves to the next term, in byte order.
    fn next_term(&mut self) -> Result<Option<&[u8]>>;
    /// The next document of the term, ascending; each term has at least one.
    fn next_posting(&mut self) -> Result<Option<Posting<'_>>>;
}

impl SegmentWriter {
    /// Terms of a field with their postings. After the field's norms.
    pub fn terms(
        &mut self,
        _field: FieldNo,
        _options: TermOptions,
        _source: &mut impl TermSource,
    ) -> Result<()> {
        todo!()
    }
}
