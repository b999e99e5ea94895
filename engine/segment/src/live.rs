//! Which documents of a segment are alive, and the file that says so.
//!
//! Always true
//! 1. A `Live` never changes; deleting makes the next one. A segment none of whose documents was
//!    deleted needs none.
//! 2. Each generation is a file of its own, written once; the manifest names the one that counts.
//!
//! Layout (little-endian), before the footer (`footer`, kind `Live`)
//!
//! | at | bytes | what                                                               |
//! |----|-------|--------------------------------------------------------------------|
//! | 0  | 8     | generation                                                         |
//! | 8  | 4     | number of documents of the segment                                 |
//! | 12 | 4     | number of deleted ones                                             |
//! | 16 | 1     | form: 0 bits, 1 gaps                                               |
//! | 17 | …     | bits: a word of 8 bytes for each 64 documents, a set bit is alive; gaps: for each deleted document, by how much it is above the one before, less one, as vints |
//!
//! Example: of three documents the second is deleted, first generation:
//! `01 00×7 | 03 00 00 00 | 01 00 00 00 | 01 | 01` and the footer.
//!
//! Not here: deciding what is deleted (`shard`), naming files (`shard/manifest`).

use base::{DocId, SegmentId, vint};

use crate::bytes::bitmap::{self, Bitmap};
use crate::error::{Error, Result};
use crate::footer::{self, FileKind, u32_at, u64_at};

const FORM_BITS: u8 = 0;
const FORM_GAPS: u8 = 1;

/// Bytes before the bits or gaps.
const HEAD: usize = 17;

/// The alive documents of one segment, at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Live {
    alive: Bitmap,
    deleted_count: u32,
}

impl Live {
    /// Bytes that tell what a file is of.
    pub const HEAD_BYTES: u64 = HEAD as u64;

    /// All of `doc_count` documents.
    pub fn all(doc_count: u32) -> Self {
        Self { alive: Bitmap::full(doc_count), deleted_count: 0 }
    }

    /// The same without `docs`, some of which may be deleted already.
    ///
    /// # Panics
    ///
    /// Where a document is not one of the segment's.
    #[must_use]
    pub fn without(&self, docs: impl IntoIterator<Item = DocId>) -> Self {
        let mut next = self.clone();
        for doc in docs {
            next.deleted_count += u32::from(next.alive.remove(doc.get()));
        }
        next
    }

    /// The same without the documents that `bits` lacks, which has a bit for each document.
    #[must_use]
    pub fn only(&self, bits: &Bitmap) -> Self {
        assert_eq!(self.doc_count(), bits.len(), "a bit for each document");
        let both = self.alive.words().iter().zip(bits.words()).map(|(one, other)| one & other);
        let alive = Bitmap::from_words(both.collect(), bits.len()).expect("no bit is added");
        let deleted_count = alive.len() - alive.count();
        Self { alive, deleted_count }
    }

    /// Whether a document is alive; false from the segment's end on.
    #[inline]
    pub fn is_alive(&self, doc: DocId) -> bool {
        self.alive.has(doc.get())
    }

    /// Number of documents of the segment, deleted ones included.
    #[inline]
    pub fn doc_count(&self) -> u32 {
        self.alive.len()
    }

    /// Number of deleted documents.
    #[inline]
    pub fn deleted_count(&self) -> u32 {
        self.deleted_count
    }

    /// Number of alive documents.
    #[inline]
    pub fn live_count(&self) -> u32 {
        self.alive.len() - self.deleted_count
    }

    /// The alive documents as bits, for plans that run in windows.
    #[inline]
    pub fn bits(&self) -> &Bitmap {
        &self.alive
    }

    /// The documents deleted here but alive in `before`: those that came during a merge that read
    /// `before`.
    ///
    /// # Panics
    ///
    /// Where the two are not of one segment.
    pub fn deleted_since<'a>(&'a self, before: &'a Self) -> impl Iterator<Item = DocId> + 'a {
        assert_eq!(self.doc_count(), before.doc_count(), "two states of one segment");
        before.alive.iter().filter(|&doc| !self.alive.has(doc)).map(DocId)
    }

    /// The bytes of the file of `generation`.
    pub fn encode(&self, id: SegmentId, generation: u64) -> Vec<u8> {
        let mut gaps = Vec::new();
        // Few deletes are the usual case: a list of them is far shorter than a bit for each
        // document, and a list that is not shorter is given up as soon as that shows.
        let bits_bytes = self.alive.words().len() * 8;
        let mut previous = None;
        for doc in (0..self.doc_count()).filter(|&doc| !self.alive.has(doc)) {
            vint::write(&mut gaps, u64::from(previous.map_or(doc, |previous| doc - previous - 1)));
            previous = Some(doc);
            if gaps.len() >= bits_bytes {
                break;
            }
        }
        let form = if gaps.len() < bits_bytes { FORM_GAPS } else { FORM_BITS };
        let mut file = Vec::with_capacity(HEAD + bits_bytes + footer::LEN);
        file.extend_from_slice(&generation.to_le_bytes());
        file.extend_from_slice(&self.doc_count().to_le_bytes());
        file.extend_from_slice(&self.deleted_count.to_le_bytes());
        file.push(form);
        match form {
            FORM_GAPS => file.extend_from_slice(&gaps),
            _ => file.extend(self.alive.words().iter().flat_map(|word| word.to_le_bytes())),
        }
        footer::seal(&mut file, FileKind::Live, id);
        file
    }

    /// How many documents are deleted, by the first [`Live::HEAD_BYTES`] of a file, whose checksum nobody
    /// compares; `None` where they are not of a segment with `doc_count` documents.
    pub fn deleted_count_of(head: &[u8], doc_count: u32) -> Option<u32> {
        if head.len() < HEAD || u32_at(head, 8) != doc_count {
            return None;
        }
        Some(u32_at(head, 12)).filter(|deleted| *deleted <= doc_count)
    }

    /// Reads the file of a segment's live documents; gives its generation too. The file must be of
    /// the segment `id` with `doc_count` documents.
    pub fn decode(file: &[u8], id: SegmentId, doc_count: u32) -> Result<(Self, u64)> {
        let footer = footer::open(file, FileKind::Live)?;
        footer::check_body(file, &footer)?;
        if footer.id != id {
            return Err(Error::Live { what: "it belongs to another segment" });
        }
        let body = &file[..file.len() - footer::LEN];
        if body.len() < HEAD {
            return Err(Error::Live { what: "its head is cut short" });
        }
        let generation = u64_at(body, 0);
        if u32_at(body, 8) != doc_count {
            return Err(Error::Live { what: "the segment has another number of documents" });
        }
        let deleted_count = u32_at(body, 12);
        let rest = &body[HEAD..];
        let alive = match body[16] {
            FORM_BITS => bits(rest, doc_count),
            FORM_GAPS => gaps(rest, doc_count),
            _ => None,
        };
        let alive = alive.ok_or(Error::Live { what: "its documents are unreadable" })?;
        if doc_count - alive.count() != deleted_count {
            return Err(Error::Live { what: "the number of deleted documents is another" });
        }
        Ok((Self { alive, deleted_count }, generation))
    }
}

/// Reads the form of bits.
fn bits(bytes: &[u8], doc_count: u32) -> Option<Bitmap> {
    let (words, rest) = bytes.as_chunks::<8>();
    if !rest.is_empty() || words.len() != bitmap::word_count(doc_count) {
        return None;
    }
    let words = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
    Bitmap::from_words(words, doc_count)
}

/// Reads the form of gaps.
fn gaps(mut bytes: &[u8], doc_count: u32) -> Option<Bitmap> {
    let mut alive = Bitmap::full(doc_count);
    let mut next = 0u32;
    while !bytes.is_empty() {
        let doc = next.checked_add(vint::read_u32(&mut bytes)?)?;
        if doc >= doc_count {
            return None;
        }
        alive.remove(doc);
        next = doc + 1;
    }
    Some(alive)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ID: SegmentId = SegmentId(7);

    /// A file with right checksums around `body`.
    fn sealed(body: &[u8]) -> Vec<u8> {
        let mut file = body.to_vec();
        footer::seal(&mut file, FileKind::Live, ID);
        file
    }

    #[test]
    fn the_example_of_the_head_holds() {
        let file = Live::all(3).without([DocId(1)]).encode(ID, 1);
        let body = &file[..file.len() - footer::LEN];
        assert_eq!(body, [1, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, FORM_GAPS, 1]);
    }

    #[test]
    fn deleting_twice_counts_once_and_leaves_the_old_state_alone() {
        let all = Live::all(100);
        let once = all.without([DocId(3), DocId(99)]);
        let twice = once.without([DocId(3), DocId(4)]);
        assert_eq!((all.deleted_count(), once.deleted_count(), twice.deleted_count()), (0, 2, 3));
        assert!(all.is_alive(DocId(3)));
        assert!(!twice.is_alive(DocId(3)));
        assert!(!twice.is_alive(DocId(100)), "beyond the end");
        assert_eq!(twice.deleted_since(&once).collect::<Vec<_>>(), [DocId(4)]);
    }

    #[test]
    fn the_head_tells_how_many_are_deleted() {
        let file = Live::all(300).without([DocId(3), DocId(299)]).encode(SegmentId(1), 1);
        let head = &file[..Live::HEAD_BYTES as usize];
        assert_eq!(Live::deleted_count_of(head, 300), Some(2));
        assert_eq!(Live::deleted_count_of(head, 301), None);
        assert_eq!(Live::deleted_count_of(&head[..16], 300), None);
        let mut all = head.to_vec();
        all[12..16].copy_from_slice(&301u32.to_le_bytes());
        assert_eq!(Live::deleted_count_of(&all, 300), None, "more than there are");
    }

    #[test]
    fn file_of_another_segment_or_size_is_refused() {
        let file = Live::all(10).without([DocId(1)]).encode(ID, 3);
        assert!(Live::decode(&file, SegmentId(8), 10).is_err());
        assert!(Live::decode(&file, ID, 11).is_err());
        assert_eq!(Live::decode(&file, ID, 10).map(|(_, generation)| generation), Ok(3));
    }

    proptest! {
        #[test]
        fn written_is_read(doc_count in 0u32..3000, deleted in prop::collection::vec(any::<u32>(), 0..2000)) {
            let deleted = deleted.into_iter().filter(|_| doc_count > 0).map(|doc| DocId(doc % doc_count.max(1)));
            let live = Live::all(doc_count).without(deleted);
            prop_assert_eq!(live.live_count(), live.bits().count());
            let file = live.encode(ID, 42);
            prop_assert_eq!(Live::decode(&file, ID, doc_count), Ok((live, 42)));
        }

        #[test]
        fn foreign_bodies_with_right_checksums_never_panic(
            form in 0u8..3, doc_count in 0u32..200, deleted in 0u32..200, rest: Vec<u8>,
        ) {
            let mut body = vec![0; 8];
            body.extend_from_slice(&doc_count.to_le_bytes());
            body.extend_from_slice(&deleted.to_le_bytes());
            body.push(form);
            body.extend_from_slice(&rest);
            if let Ok((live, _)) = Live::decode(&sealed(&body), ID, doc_count) {
                prop_assert_eq!(live.deleted_count(), deleted);
                prop_assert_eq!(live.live_count(), live.bits().count());
            }
            for len in 0..body.len() {
                let _ = Live::decode(&sealed(&body[..len]), ID, doc_count);
            }
        }
    }

    #[test]
    fn each_flipped_bit_of_the_file_is_noticed() {
        let file = Live::all(300).without((0..250).map(DocId)).encode(ID, 1);
        for bit in 0..file.len() * 8 {
            let mut bad = file.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(Live::decode(&bad, ID, 300).is_err(), "bit {bit}");
        }
    }
}
