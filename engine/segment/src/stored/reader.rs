//! Stored documents, open: the source of a document costs one block.
//!
//! Always true
//! 1. The head is resident and was looked through at open.
//! 2. Decompression is bounded by the length that the head tells, and that by [`super`]'s limits.

use std::ops::Range;
use std::sync::Arc;

use base::{DocId, FieldNo, vint};
use env::Bytes;

use super::{
    BLOCK_BYTES, BLOCK_BYTES_MAX, DICTIONARY_BYTES_MAX, HEAD, INHERITED, LINE, WITH_DICTIONARY,
};
use crate::bytes::zblock::{Decompressor, Dictionary};
use crate::error::{Error, Result};
use crate::footer::{u32_at, u64_at};
use crate::section::{File, Missing, Section};
use crate::toc::SectionKind;

/// A reader's buffer is given back after a block longer than this.
const KEEP_BYTES: usize = 64 * BLOCK_BYTES;

/// The stored documents of a segment. Clones are one counter.
#[derive(Clone, Debug)]
pub struct Stored(Arc<Open>);

#[derive(Debug)]
struct Open {
    head: Bytes,
    body: Section,
    block_count: usize,
    doc_count: u32,
    dictionary: Option<Dictionary>,
    inherits: bool,
}

impl Stored {
    /// Opens the documents, if the file keeps them.
    pub(crate) fn open(file: &Arc<File>) -> Result<Option<Self>> {
        let Some(head) = file.section(SectionKind::StoredHead, FieldNo(0)) else { return Ok(None) };
        let body = file
            .section(SectionKind::StoredBody, FieldNo(0))
            .ok_or_else(|| head.malformed(0, "stored documents have a head and a body"))?;
        let bytes = head.shared()?;
        let doc_count = file.doc_count();
        if bytes.len() < HEAD {
            return Err(head.malformed(0, "the head is cut short"));
        }
        let block_count = u32_at(&bytes, 0) as usize;
        let told = u32_at(&bytes, 4);
        let dictionary_bytes = (told & !INHERITED) as usize;
        let lines_end = HEAD as u64 + block_count as u64 * LINE as u64;
        if bytes.len() as u64 != lines_end + dictionary_bytes as u64 {
            return Err(head.malformed(0, "the head has a line for each block, and its dictionary"));
        }
        if dictionary_bytes > DICTIONARY_BYTES_MAX {
            return Err(head.malformed(4, "a dictionary is larger than any"));
        }
        let dictionary =
            (dictionary_bytes > 0).then(|| Dictionary::new(&bytes[lines_end as usize..]));
        let inherits = told & INHERITED != 0;
        let open = Open { head: bytes, body, block_count, doc_count, dictionary, inherits };
        open.check().map_err(|what| head.malformed(0, what))?;
        Ok(Some(Self(Arc::new(open))))
    }

    /// Names the bytes of a document that are not there.
    pub fn need(&self, doc: DocId, missing: &mut Missing) -> Result<()> {
        if doc.get() >= self.0.doc_count {
            return Ok(());
        }
        self.0.body.need(self.0.range(self.0.block_of(doc.get())), missing)
    }

    /// Bytes that are decompressed to read a document: those of its block.
    ///
    /// # Panics
    ///
    /// Where the document is none of the segment's.
    pub fn reading_bytes(&self, doc: DocId) -> u64 {
        self.decompressed_bytes(self.0.block_of(doc.get()))
    }

    /// The source of one document; empty where it has none. Who wants several takes a
    /// [`StoredReader`]: making its parts costs more than decompressing a block.
    ///
    /// # Panics
    ///
    /// Where the document is none of the segment's.
    pub fn get(&self, doc: DocId) -> Result<Vec<u8>> {
        self.reader().into_doc(doc)
    }

    /// Reads documents, and remembers the block it stands in.
    pub fn reader(&self) -> StoredReader {
        StoredReader {
            stored: self.clone(),
            decompressor: None,
            block: None,
            text: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// What the documents of this segment have in common, where it keeps that.
    pub fn dictionary(&self) -> Option<&Dictionary> {
        self.0.dictionary.as_ref()
    }

    /// The dictionary was trained of other documents: pieces of some that are deleted may be in it.
    pub fn inherits(&self) -> bool {
        self.0.inherits
    }

    /// Length of all documents, decompressed.
    pub(super) fn bytes(&self) -> u64 {
        (0..self.block_count()).map(|block| self.decompressed_bytes(block)).sum()
    }

    /// Number of blocks.
    pub(super) fn block_count(&self) -> usize {
        self.0.block_count
    }

    /// The documents of a block.
    pub(super) fn docs(&self, block: usize) -> Range<u32> {
        self.0.docs(block)
    }

    /// A block as it lies, and its form.
    pub(super) fn block(&self, block: usize) -> Result<(&[u8], Form)> {
        let bytes = self.0.body.bytes(self.0.range(block))?;
        Ok((bytes, self.0.line(block).form))
    }

    /// How a block lies.
    pub(super) fn form(&self, block: usize) -> Form {
        self.0.line(block).form
    }

    /// Length of a block, decompressed.
    pub(super) fn decompressed_bytes(&self, block: usize) -> u64 {
        match self.0.line(block).form {
            Form::Plain => self.stored_bytes(block),
            Form::Frame { len, .. } => u64::from(len),
        }
    }

    /// Length of a block in the file.
    pub(super) fn stored_bytes(&self, block: usize) -> u64 {
        let range = self.0.range(block);
        range.end - range.start
    }

    /// Reads and checks every block, and gives what is wrong to `damage`.
    pub(crate) fn verify(&self, damage: &mut dyn FnMut(Error)) {
        let mut reader = self.reader();
        for block in 0..self.0.block_count {
            if let Err(error) = reader.enter(block) {
                damage(error);
            }
        }
    }
}

/// How a block lies in the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// As it is.
    Plain,
    /// As a frame.
    Frame {
        /// Its length decompressed.
        len: u32,
        /// It needs the dictionary.
        has_dictionary: bool,
    },
}

impl Form {
    /// The form as a line tells it.
    pub(super) fn told(self) -> u32 {
        match self {
            Self::Plain => 0,
            Self::Frame { len, has_dictionary: false } => len,
            Self::Frame { len, has_dictionary: true } => len | WITH_DICTIONARY,
        }
    }

    /// The form that a line tells.
    fn of(told: u32) -> Self {
        match told {
            0 => Self::Plain,
            told => Self::Frame {
                len: told & !WITH_DICTIONARY,
                has_dictionary: told & WITH_DICTIONARY != 0,
            },
        }
    }
}

struct Line {
    end: u64,
    first: u32,
    form: Form,
}

impl Open {
    /// Checks what the layout promises.
    fn check(&self) -> std::result::Result<(), &'static str> {
        let mut end = 0;
        let mut first = None;
        for block in 0..self.block_count {
            let line = self.line(block);
            let stored = line.end.checked_sub(end).filter(|len| *len > 0);
            let stored = stored.ok_or("blocks follow one another")?;
            let (len, has_dictionary) = match line.form {
                Form::Plain => (0, false),
                Form::Frame { len, has_dictionary } => (len, has_dictionary),
            };
            if stored > BLOCK_BYTES_MAX as u64 || len as usize > BLOCK_BYTES_MAX {
                return Err("a block is larger than any");
            }
            if has_dictionary && self.dictionary.is_none() {
                return Err("a block needs a dictionary, and there is none");
            }
            if (block == 0) != (line.first == 0) || first >= Some(line.first) {
                return Err("blocks begin with rising documents");
            }
            (end, first) = (line.end, Some(line.first));
        }
        if end != self.body.len() {
            return Err("the last block ends with the body");
        }
        match first {
            Some(first) if first < self.doc_count => Ok(()),
            None if self.doc_count == 0 => Ok(()),
            _ => Err("blocks hold the segment's documents"),
        }
    }

    /// What is known of a block.
    fn line(&self, block: usize) -> Line {
        let at = HEAD + block * LINE;
        Line {
            end: u64_at(&self.head, at),
            first: u32_at(&self.head, at + 8),
            form: Form::of(u32_at(&self.head, at + 12)),
        }
    }

    /// Where a block lies in the body.
    fn range(&self, block: usize) -> Range<u64> {
        let start = if block == 0 { 0 } else { self.line(block - 1).end };
        start..self.line(block).end
    }

    /// The documents of a block.
    fn docs(&self, block: usize) -> Range<u32> {
        let next = block + 1;
        let end = if next == self.block_count { self.doc_count } else { self.line(next).first };
        self.line(block).first..end
    }

    /// The block of a document of the segment.
    fn block_of(&self, doc: u32) -> usize {
        let (mut start, mut end) = (0, self.block_count);
        // The first block begins with document 0, so `start` ends at 1 or above.
        while start < end {
            let middle = start + (end - start) / 2;
            if self.line(middle).first > doc {
                end = middle;
            } else {
                start = middle + 1;
            }
        }
        start - 1
    }
}

/// Reads the documents of one segment.
pub struct StoredReader {
    stored: Stored,
    decompressor: Option<Decompressor>,
    /// The block that `text` holds.
    block: Option<usize>,
    text: Vec<u8>,
    /// Where each of the block's documents ends in `text`; before the first one's start.
    ends: Vec<usize>,
}

impl StoredReader {
    /// The source of a document; empty where it has none. Documents of one block cost one
    /// decompression.
    ///
    /// # Panics
    ///
    /// Where the document is none of the segment's.
    pub fn get(&mut self, doc: DocId) -> Result<&[u8]> {
        let range = self.find(doc)?;
        Ok(&self.text[range])
    }

    /// The source of one document, by who reads no other: a long one is not copied.
    fn into_doc(mut self, doc: DocId) -> Result<Vec<u8>> {
        let range = self.find(doc)?;
        if 2 * range.len() < self.text.len() {
            return Ok(self.text[range].to_vec());
        }
        self.text.truncate(range.end);
        self.text.drain(..range.start);
        Ok(self.text)
    }

    /// Brings the block of a document: where it lies in `text`.
    fn find(&mut self, doc: DocId) -> Result<Range<usize>> {
        let open = &self.stored.0;
        assert!(doc.get() < open.doc_count, "a document of the segment");
        let block = open.block_of(doc.get());
        let within = (doc.get() - open.docs(block).start) as usize;
        self.enter(block)?;
        Ok(self.ends[within]..self.ends[within + 1])
    }

    /// Brings a block.
    fn enter(&mut self, block: usize) -> Result<()> {
        if self.block == Some(block) {
            return Ok(());
        }
        self.block = None;
        let (bytes, form) = self.stored.block(block)?;
        if self.text.capacity() > KEEP_BYTES {
            self.text = Vec::new();
        }
        match form {
            Form::Plain => {
                self.text.clear();
                self.text.extend_from_slice(bytes);
            }
            Form::Frame { len, has_dictionary } => {
                let decompressor = self.decompressor.get_or_insert_default();
                let dictionary = self.stored.dictionary().filter(|_| has_dictionary);
                let len = len as usize;
                let done = decompressor.decompress_with(dictionary, bytes, len, &mut self.text);
                if done.is_err() || self.text.len() != len {
                    return Err(self.malformed(block, "a block of documents is a frame"));
                }
            }
        }
        if self.find_ends(self.stored.0.docs(block).len()).is_none() {
            return Err(self.malformed(block, "a block has the lengths of its documents"));
        }
        self.block = Some(block);
        Ok(())
    }

    /// Reads the lengths of a block of `count` documents; `None` where they do not fill it.
    fn find_ends(&mut self, count: usize) -> Option<()> {
        let mut rest = self.text.as_slice();
        self.ends.clear();
        self.ends.push(0);
        let mut end = 0usize;
        for _ in 0..count {
            end = end.checked_add(usize::try_from(vint::read(&mut rest)?).ok()?)?;
            self.ends.push(end);
        }
        let start = self.text.len() - rest.len();
        self.ends.iter_mut().for_each(|end| *end = end.saturating_add(start));
        (end == rest.len()).then_some(())
    }

    /// The error of a block that makes no sense.
    fn malformed(&self, block: usize, what: &'static str) -> Error {
        self.stored.0.body.malformed(self.stored.0.range(block).start, what)
    }
}
