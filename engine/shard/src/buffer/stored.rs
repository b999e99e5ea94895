//! The documents of a buffer: id, source, stamp; and which document has an id.
//!
//! Always true
//! 1. The documents are numbered by arrival, from 0; nested ones stand before the one they belong to,
//!    and have neither id nor source.
//! 2. At most one living document has an id; `find` gives that one.
//! 3. A source stays where the request put it: a counted slice, not a copy.
//! 4. Nothing moves when there is one more of them, however many there are.

use std::hash::BuildHasher;

use base::hash::State;
use base::{PrimaryTerm, SeqNo};
use env::Bytes;

use super::rows::{Rows, Slab};
use super::table::Table;

/// What an operation stamps on its document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// Place in the shard's history.
    pub(crate) seq_no: SeqNo,
    /// Reign it was decided in.
    pub(crate) term: PrimaryTerm,
    /// The document's version.
    pub(crate) version: u64,
}

/// One document.
#[derive(Debug)]
struct Doc {
    source: Bytes,
    stamp: Stamp,
    /// Where its id stands, and how long it is.
    id: (u32, u32),
    /// An operation after it put it away.
    is_dead: bool,
}

/// The documents.
#[derive(Debug, Default)]
pub(crate) struct Stored {
    docs: Rows<Doc>,
    ids: Slab,
    dead_count: usize,
    /// Nested documents, rising.
    nested: Vec<u32>,
    source_bytes: usize,
    by_id: Table,
    state: State,
}

impl Stored {
    /// Number of documents, dead ones included.
    pub(crate) fn len(&self) -> usize {
        self.docs.len()
    }

    /// Number of living documents.
    pub(crate) fn live_count(&self) -> usize {
        self.docs.len() - self.dead_count
    }

    /// Bytes of memory held.
    pub(crate) fn size_bytes(&self) -> usize {
        self.source_bytes
            + self.docs.size_bytes()
            + self.ids.size_bytes()
            + self.by_id.size_bytes()
            + self.nested.capacity() * size_of::<u32>()
    }

    /// Takes a document whose id no living one has; gives its number.
    pub(crate) fn add(&mut self, id: &[u8], source: Bytes, stamp: Stamp) -> u32 {
        debug_assert!(self.find(id).is_none(), "the one before was put away");
        let len = u32::try_from(id.len()).expect("an id has 512 bytes at most");
        let start = self.ids.put(id);
        let doc = self.push(source, stamp, (start, len));
        let hash = self.state.hash_one(id);
        let mut by_id = std::mem::take(&mut self.by_id);
        by_id.put(hash, doc, |other| self.id(other) == id);
        self.by_id = by_id;
        doc
    }

    /// Number of the next document.
    pub(crate) fn next(&self) -> u32 {
        u32::try_from(self.docs.len()).expect("a buffer is sealed long before 2^32")
    }

    /// Takes a nested document; the one it belongs to follows.
    pub(crate) fn add_nested(&mut self, stamp: Stamp) {
        let doc = self.push(Bytes::empty(), stamp, (0, 0));
        self.nested.push(doc);
    }

    fn push(&mut self, source: Bytes, stamp: Stamp, id: (u32, u32)) -> u32 {
        let doc = self.next();
        self.source_bytes += source.len();
        self.docs.push(Doc { source, stamp, id, is_dead: false });
        doc
    }

    fn at(&self, doc: u32) -> &Doc {
        self.docs.at(doc as usize)
    }

    /// Is there a nested document?
    pub(crate) fn has_nested(&self) -> bool {
        !self.nested.is_empty()
    }

    /// Does a document belong to another one?
    pub(crate) fn is_nested(&self, doc: u32) -> bool {
        self.nested.binary_search(&doc).is_ok()
    }

    /// A document and its nested ones: what lives and dies together.
    pub(crate) fn block(&self, doc: u32) -> std::ops::RangeInclusive<u32> {
        self.nested_of(doc)..=doc
    }

    /// The first of the nested documents of a document, which stand right before it.
    fn nested_of(&self, doc: u32) -> u32 {
        let mut at = self.nested.partition_point(|nested| *nested < doc);
        let mut first = doc;
        while at > 0 && self.nested[at - 1] + 1 == first {
            at -= 1;
            first -= 1;
        }
        first
    }

    /// The living document with this id.
    pub(crate) fn find(&self, id: &[u8]) -> Option<u32> {
        let hash = self.state.hash_one(id);
        self.by_id.find(hash, |doc| self.id(doc) == id)
    }

    /// Puts a living document away, and its nested ones.
    pub(crate) fn remove(&mut self, doc: u32) {
        assert!(!self.is_dead(doc), "a document dies once");
        for dying in self.block(doc) {
            self.docs.at_mut(dying as usize).is_dead = true;
            self.dead_count += 1;
        }
        let mut by_id = std::mem::take(&mut self.by_id);
        by_id.remove(self.state.hash_one(self.id(doc)), |other| other == doc);
        self.by_id = by_id;
    }

    /// Whether a document was put away.
    pub(crate) fn is_dead(&self, doc: u32) -> bool {
        self.at(doc).is_dead
    }

    /// The id of a document.
    pub(crate) fn id(&self, doc: u32) -> &[u8] {
        match self.at(doc).id {
            (_, 0) => &[],
            (start, len) => self.ids.get(start, len),
        }
    }

    /// What was stamped on a document.
    pub(crate) fn stamp(&self, doc: u32) -> Stamp {
        self.at(doc).stamp
    }

    /// The text of a document.
    pub(crate) fn source(&self, doc: u32) -> &Bytes {
        &self.at(doc).source
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(seq_no: u64) -> Stamp {
        Stamp { seq_no: SeqNo(seq_no), term: PrimaryTerm(1), version: 1 }
    }

    #[test]
    fn nested_documents_die_with_theirs() {
        let mut docs = Stored::default();
        docs.add_nested(stamp(0));
        let first = docs.add(b"a", Bytes::empty(), stamp(0));
        docs.add_nested(stamp(1));
        docs.add_nested(stamp(1));
        let second = docs.add(b"b", Bytes::empty(), stamp(1));
        assert_eq!((first, second, docs.live_count()), (1, 4, 5));
        docs.remove(second);
        let dead: Vec<u32> = (0..5).filter(|doc| docs.is_dead(*doc)).collect();
        assert_eq!((dead, docs.live_count()), (vec![2, 3, 4], 2));
        assert_eq!((docs.id(0), docs.id(1), docs.id(3)), (&b""[..], &b"a"[..], &b""[..]));
        assert!(docs.is_nested(3));
        assert!(!docs.is_nested(4));
    }

    #[test]
    fn an_id_finds_its_living_document() {
        let mut docs = Stored::default();
        let first = docs.add(b"a", Bytes::from(b"{}".to_vec()), stamp(0));
        let other = docs.add(b"", Bytes::empty(), stamp(1));
        docs.remove(first);
        assert_eq!(docs.find(b"a"), None);
        let second = docs.add(b"a", Bytes::empty(), stamp(2));
        assert_eq!((docs.find(b"a"), docs.find(b"")), (Some(second), Some(other)));
        assert_eq!(
            (docs.id(first), docs.id(other), docs.id(second)),
            (&b"a"[..], &b""[..], &b"a"[..])
        );
        assert_eq!((docs.len(), docs.live_count()), (3, 2));
        assert!(docs.is_dead(first));
        assert_eq!(docs.stamp(second), stamp(2));
    }
}
