//! Stub.
use crate::error::Result;
use crate::section::{File, Missing};
use crate::writer::SegmentWriter;
use base::DocId;
use std::sync::Arc;

/// Ids of the documents, both ways.
#[derive(Clone, Debug)]
pub struct Ids {}

impl Ids {
    pub(crate) fn open(_file: &Arc<File>) -> Result<Self> {
        todo!()
    }
    /// The newest document with this id (where one id was written twice, the higher number).
    pub fn find(&self, _id: &[u8]) -> Result<Option<DocId>> {
        todo!()
    }
    /// The id of `doc`; `None` for a document without one.
    pub fn id_of(&self, _doc: DocId) -> Result<Option<&[u8]>> {
        todo!()
    }
    /// Names what `find` will read.
    pub fn need(&self, _id: &[u8], _missing: &mut Missing) -> Result<()> {
        todo!()
    }
    /// Names what `id_of` will read; two rounds (the first brings where the id lies).
    pub fn need_id_of(&self, _doc: DocId, _missing: &mut Missing) -> Result<()> {
        todo!()
    }
    /// Number of (id, document) pairs.
    pub fn len(&self) -> u32 {
        todo!()
    }
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// All pairs by id, ties by document: for merges and checks.
    pub fn iter(&self) -> IdIter {
        todo!()
    }
}

/// Walks the ids in order.
pub struct IdIter {}
impl IdIter {
    /// The next pair.
    pub fn next(&mut self) -> Result<Option<(&[u8], DocId)>> {
        todo!()
    }
}

impl SegmentWriter {
    /// Ids, sorted by bytes, ties by document.
    pub fn ids<'a>(&mut self, _ids: impl IntoIterator<Item = (&'a [u8], DocId)>) -> Result<()> {
        todo!()
    }
}
