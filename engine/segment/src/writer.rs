//! Writes a segment: each part appends its sections, and `seal` closes the file.
//!
//! Always true
//! 1. Each (kind, field) is put at most once.
//! 2. What is written depends on what was put and in which order, on nothing else: the same
//!    calls give the same bytes.
//!
//! The parts are methods beside their formats: `ids` in `ids`, `terms` in `terms/writer`,
//! `norms` in `norms`, and so on. A field's norms come before its terms, because the terms'
//! impacts are made of them.

use base::hash::Map;
use base::{FieldNo, SegmentId};

use crate::error::Result;
use crate::footer;
use crate::meta::Meta;
use crate::toc::{self, Entry, SectionKind};

/// The largest number of documents of a segment: Lucene's, and doc ids stay below 2³¹.
pub const DOC_COUNT_MAX: u32 = i32::MAX as u32 - 128;

/// How blocks of terms are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TermBlocks {
    /// As they are: a buffer that was just sealed is read at once, and merged soon.
    #[default]
    Plain,
    /// Compressed by zstd where that saves an eighth: the result of a merge.
    Zstd,
}

/// A file takes at most one part in so many of its length beyond its end: room that it did not come to may have been
/// touched by others before, and then it is memory like any other.
const SPARE_PART: usize = 8;

/// A segment that is being written.
pub struct SegmentWriter {
    id: SegmentId,
    file: Vec<u8>,
    entries: Vec<Entry>,
    /// Where in `entries` a section is: each field asks for its sections, and there may be many fields.
    places: Map<(FieldNo, SectionKind), usize>,
    meta: Meta,
    pub(crate) term_blocks: TermBlocks,
    /// A column of terms has keys that readers of versions before 4 do not know.
    pub(crate) has_short_keys: bool,
}

impl SegmentWriter {
    /// As [`Self::new`], with room for a file of about so many bytes: it does not move as it grows.
    #[must_use]
    pub fn with_room(mut self, bytes: usize) -> Self {
        self.file.reserve_exact(bytes);
        self
    }

    /// Begins segment `id` of `doc_count` documents.
    pub fn new(id: SegmentId, doc_count: u32) -> Self {
        assert!(doc_count <= DOC_COUNT_MAX, "callers cut larger segments");
        Self {
            id,
            file: toc::HEADER.to_vec(),
            entries: Vec::new(),
            places: Map::default(),
            meta: Meta { doc_count, merged_count: 0 },
            term_blocks: TermBlocks::Plain,
            has_short_keys: false,
        }
    }

    /// Notes that the segment is made of `count` others, and how to keep its terms.
    #[must_use]
    pub fn merged(mut self, count: u32, term_blocks: TermBlocks) -> Self {
        self.meta.merged_count = count;
        self.term_blocks = term_blocks;
        self
    }

    /// Number of documents.
    pub fn doc_count(&self) -> u32 {
        self.meta.doc_count
    }

    /// Appends a section.
    pub fn put(&mut self, kind: SectionKind, field: FieldNo, bytes: &[u8]) {
        self.put_with(kind, field, |file| file.extend_from_slice(bytes));
    }

    /// Appends a section that `write` appends to the bytes it is given; offsets of the section
    /// count from the length it finds.
    pub fn put_with<T>(
        &mut self,
        kind: SectionKind,
        field: FieldNo,
        write: impl FnOnce(&mut Vec<u8>) -> T,
    ) -> T {
        assert!(self.section(kind, field).is_none(), "{kind:?} of field {field} is there already");
        toc::pad(&mut self.file);
        let start = self.file.len();
        let answer = write(&mut self.file);
        assert!(self.file.len() >= start, "writers of sections append");
        let len = (self.file.len() - start) as u64;
        self.places.insert((field, kind), self.entries.len());
        self.entries.push(Entry { field, kind, offset: start as u64, len });
        answer
    }

    /// Appends a section that `write` appends to the bytes it is given, and behind it the head that it answers.
    /// Neither stands where it answers none, and then it has appended nothing.
    pub(crate) fn put_with_head(
        &mut self,
        (body, head): (SectionKind, SectionKind),
        field: FieldNo,
        write: impl FnOnce(&mut Vec<u8>) -> Result<Option<Vec<u8>>>,
    ) -> Result<()> {
        match self.put_with(body, field, write)? {
            Some(bytes) => self.put(head, field, &bytes),
            None => self.take_back(),
        }
        Ok(())
    }

    /// The bytes of a section that was put before.
    pub fn section(&self, kind: SectionKind, field: FieldNo) -> Option<&[u8]> {
        let entry = self.entries[*self.places.get(&(field, kind))?];
        Some(&self.file[entry.offset as usize..(entry.offset + entry.len) as usize])
    }

    /// Forgets the section put last, which turned out empty.
    pub(crate) fn take_back(&mut self) {
        let entry = self.entries.pop().expect("a section was put");
        self.places.remove(&entry.key());
        assert_eq!(entry.len, 0, "only an empty section is taken back");
    }

    /// Number of bytes written so far.
    pub fn len_bytes(&self) -> usize {
        self.file.len()
    }

    /// Ends the file, and gives its bytes.
    pub fn seal(self) -> Result<Vec<u8>> {
        let file = self.seal_with_room()?;
        let spare = file.capacity() - file.len();
        match spare > file.len() / SPARE_PART {
            false => Ok(file),
            // Views keep a segment for long, and count its length alone.
            true => Ok(file.as_slice().to_vec()),
        }
    }

    /// As [`Self::seal`], with what room is left behind the bytes: they are there once, for whoever does not keep
    /// them.
    pub fn seal_with_room(mut self) -> Result<Vec<u8>> {
        let meta = crate::bytes::archive::write(&self.meta);
        self.put(SectionKind::Meta, FieldNo(0), &meta);
        let head = self.section(SectionKind::StoredHead, FieldNo(0));
        let has_dictionary = head.is_some_and(crate::stored::has_dictionary);
        toc::finish(&mut self.file, self.entries, self.meta.doc_count);
        let version = match (self.has_short_keys, has_dictionary) {
            (true, _) => footer::SEGMENT_VERSION,
            (false, true) => footer::DICTIONARY_SEGMENT_VERSION,
            (false, false) => footer::PLAIN_SEGMENT_VERSION,
        };
        footer::seal_segment(&mut self.file, version, self.id);
        Ok(self.file)
    }
}
