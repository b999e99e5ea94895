//! Which documents stand for themselves, where others are nested in them.
//!
//! Always true
//! 1. Nested documents stand right before the one they belong to; so the last document of a segment
//!    stands for itself, and a block begins after the one before it that does.
//! 2. A segment without nested documents has no such section.
//! 3. The section agrees with the ids: a document has an id where it stands for itself, no other.
//!
//! Layout (little-endian): a word of 8 bytes for each 64 documents; bit `i % 64` of word `i / 64` is
//! set where document `i` stands for itself. Bits beyond the last document are zero.
//!
//! Example: two nested documents, then theirs, then one without: `0c 00 00 00 00 00 00 00`.

use std::ops::Range;
use std::sync::Arc;

use base::{DocId, FieldNo};

use crate::bytes::bitmap::{Bitmap, word_count};
use crate::docmap::DocMap;
use crate::error::Result;
use crate::reader::Segment;
use crate::section::File;
use crate::toc::SectionKind;
use crate::writer::SegmentWriter;

/// Documents that stand for themselves. Clones are one counter.
#[derive(Clone, Debug)]
pub struct Parents(Arc<Bitmap>);

impl SegmentWriter {
    /// The documents that stand for themselves, in any order; the last is one of them.
    ///
    /// # Panics
    ///
    /// Where a document is none of the segment's.
    pub fn parents(&mut self, docs: impl IntoIterator<Item = DocId>) {
        let mut bits = Bitmap::new(self.doc_count());
        for doc in docs {
            bits.insert(doc.get());
        }
        if bits.count() == self.doc_count() {
            return;
        }
        assert!(bits.has(self.doc_count() - 1), "nested documents stand before theirs");
        self.put_with(SectionKind::Parents, FieldNo(0), |file| {
            file.extend(bits.words().iter().flat_map(|word| word.to_le_bytes()));
        });
    }
}

impl Parents {
    /// Opens the section, if the file has one.
    pub(crate) fn open(file: &Arc<File>) -> Result<Option<Self>> {
        let Some(section) = file.section(SectionKind::Parents, FieldNo(0)) else { return Ok(None) };
        let bytes = section.all()?;
        let doc_count = file.doc_count();
        let malformed = |what| section.malformed(0, what);
        if bytes.len() != 8 * word_count(doc_count) {
            return Err(malformed("a bit for each document"));
        }
        let words = bytes
            .chunks_exact(8)
            .map(|word| u64::from_le_bytes(*word.first_chunk().expect("chunks of eight bytes")));
        let bits = Bitmap::from_words(words.collect(), doc_count)
            .ok_or_else(|| malformed("no bit beyond the last document"))?;
        if doc_count == 0 || !bits.has(doc_count - 1) {
            return Err(malformed("the last document stands for itself"));
        }
        if bits.count() == doc_count {
            return Err(malformed("there is a nested document"));
        }
        Ok(Some(Self(Arc::new(bits))))
    }

    /// Does a document stand for itself?
    #[inline]
    pub fn has(&self, doc: DocId) -> bool {
        self.0.has(doc.get())
    }

    /// The documents that stand for themselves.
    #[inline]
    pub fn bits(&self) -> &Bitmap {
        &self.0
    }

    /// The document that a nested one belongs to; itself, where it stands for itself.
    pub fn of(&self, doc: DocId) -> Option<DocId> {
        let words = self.0.words();
        let mut at = doc.index() / 64;
        let mut word = *words.get(at)? & (u64::MAX << (doc.get() % 64));
        while word == 0 {
            at += 1;
            word = *words.get(at)?;
        }
        Some(DocId(at as u32 * 64 + word.trailing_zeros()))
    }

    /// The last document before this one that stands for itself.
    pub fn before(&self, doc: DocId) -> Option<DocId> {
        let words = self.0.words();
        let mut at = doc.index() / 64;
        let mut word = words.get(at).copied().unwrap_or(0) & !(u64::MAX << (doc.get() % 64));
        loop {
            if word != 0 {
                return Some(DocId(at as u32 * 64 + 63 - word.leading_zeros()));
            }
            at = at.checked_sub(1)?;
            word = words[at];
        }
    }

    /// The nested documents of one that stands for itself.
    pub fn nested(&self, doc: DocId) -> Range<u32> {
        self.before(doc).map_or(0, |before| before.get() + 1)..doc.get()
    }
}

impl Segment {
    /// The nested documents of a document and itself: what lives and dies together.
    pub fn block(&self, doc: DocId) -> impl Iterator<Item = DocId> + use<> {
        let start = self.parents().map_or(doc.get(), |parents| parents.nested(doc).start);
        (start..=doc.get()).map(DocId)
    }
}

/// Writes which documents of a merge stand for themselves.
pub(crate) fn merge(writer: &mut SegmentWriter, segments: &[&Segment], map: &DocMap) {
    if segments.iter().all(|segment| segment.parents().is_none()) {
        return;
    }
    let mut docs = Vec::new();
    for (segment, input) in segments.iter().zip(map.inputs()) {
        let parents = segment.parents();
        let own = input.kept().filter(|(old, _)| parents.is_none_or(|parents| parents.has(*old)));
        docs.extend(own.map(|(_, new)| new));
    }
    if map.doc_count() > 0 {
        writer.parents(docs);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::SegmentId;
    use env::Bytes;
    use proptest::prelude::*;

    use crate::section::Check;

    fn segment(doc_count: u32, parents: &[u32]) -> Segment {
        let mut writer = SegmentWriter::new(SegmentId(1), doc_count);
        let ids: Vec<String> = parents.iter().map(|doc| format!("{doc:010}")).collect();
        writer.ids(ids.iter().zip(parents).map(|(id, doc)| (id.as_bytes(), DocId(*doc)))).unwrap();
        writer.parents(parents.iter().copied().map(DocId));
        let file = writer.seal().unwrap();
        assert_eq!(crate::verify::verify(SegmentId(1), Bytes::from(file.clone())), []);
        Segment::open(SegmentId(1), Bytes::from(file), Check::Full).unwrap()
    }

    #[test]
    fn the_example_of_the_head_holds() {
        let segment = segment(4, &[2, 3]);
        let section = segment.section(SectionKind::Parents, FieldNo(0)).unwrap();
        assert_eq!(section.all().unwrap(), [0x0c, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(segment.block(DocId(2)).collect::<Vec<_>>(), [DocId(0), DocId(1), DocId(2)]);
        assert_eq!(segment.block(DocId(3)).collect::<Vec<_>>(), [DocId(3)]);
    }

    #[test]
    fn without_nested_documents_there_is_no_section() {
        assert!(segment(3, &[0, 1, 2]).parents().is_none());
    }

    #[test]
    fn hostile_bits_are_refused() {
        for (doc_count, bytes) in [
            (4u32, vec![0x04, 0, 0, 0, 0, 0, 0, 0]),
            (4, vec![0x0f, 0, 0, 0, 0, 0, 0, 0]),
            (4, vec![0x18, 0, 0, 0, 0, 0, 0, 0]),
            (4, vec![0x08, 0, 0, 0]),
            (4, vec![]),
        ] {
            let mut writer = SegmentWriter::new(SegmentId(1), doc_count);
            writer.put(SectionKind::Parents, FieldNo(0), &bytes);
            let file = Bytes::from(writer.seal().unwrap());
            assert!(Segment::open(SegmentId(1), file, Check::Full).is_err(), "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn blocks_are_what_a_walk_finds(mut is_parent in prop::collection::vec(any::<bool>(), 1..300)) {
            *is_parent.last_mut().unwrap() = true;
            let parents: Vec<u32> =
                (0..is_parent.len() as u32).filter(|doc| is_parent[*doc as usize]).collect();
            let segment = segment(is_parent.len() as u32, &parents);
            let Some(found) = segment.parents() else { return Ok(()) };
            let mut start = 0;
            for doc in 0..is_parent.len() as u32 {
                let of = parents.iter().copied().find(|parent| *parent >= doc);
                prop_assert_eq!(found.of(DocId(doc)), of.map(DocId));
                if is_parent[doc as usize] {
                    prop_assert_eq!(found.nested(DocId(doc)), start..doc);
                    start = doc + 1;
                }
            }
        }
    }
}
