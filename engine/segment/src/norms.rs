//! Stub.
use crate::error::Result;
use crate::section::{File, Section};
use crate::toc::SectionKind;
use crate::writer::SegmentWriter;
use base::{DocId, FieldNo};
use std::sync::Arc;

/// Lengths of a field, one byte a document.
#[derive(Clone, Debug)]
pub struct Norms {
    section: Section,
}

impl Norms {
    pub(crate) fn open(file: &Arc<File>, field: FieldNo) -> Result<Option<Self>> {
        Ok(file.section(SectionKind::Norms, field).map(|section| Self { section }))
    }
    /// The byte of `doc`: 0 where it has no such field.
    pub fn get(&self, _doc: DocId) -> u8 {
        let _ = &self.section;
        todo!()
    }
    /// All bytes, one for each document, where the field is common enough to be kept so; take the
    /// slice once per window, not per document.
    pub fn dense(&self) -> Option<&[u8]> {
        todo!()
    }
    /// Sets bit `doc - range.start` for each document of the range that has the field.
    pub fn fill_bits(&self, _range: std::ops::Range<u32>, _bits: &mut [u64]) {
        todo!()
    }
    /// Number of documents that have the field.
    pub fn doc_count(&self) -> u32 {
        todo!()
    }
}

/// Lucene's one-byte form of a length.
pub fn encode_len(_len: u32) -> u8 {
    todo!()
}
/// The length that a byte stands for.
pub fn decode_len(_byte: u8) -> u32 {
    todo!()
}

impl SegmentWriter {
    /// Lengths of a field: a byte for each document, 0 where absent. Before the field's terms.
    pub fn norms(&mut self, _field: FieldNo, _bytes: &[u8]) -> Result<()> {
        todo!()
    }
}
