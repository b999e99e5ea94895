//! Writes stored documents, one after the other, or blocks of another segment as they are.

use base::FieldNo;
use env::breath::breathe;

use super::reader::Form;
use super::{BLOCK_BYTES, BLOCK_BYTES_MAX, Chosen, INHERITED, SHORT_BLOCK_BYTES, SOURCE_BYTES_MAX};
use crate::bytes::zblock::{Compressor, Dictionary};
use crate::error::{Error, Result};
use crate::toc::SectionKind;
use crate::writer::SegmentWriter;
use base::vint;

/// zstd's level: blocks are written at each refresh, so the fastest of the usual ones.
const LEVEL: i32 = 1;

impl SegmentWriter {
    /// The sources of all documents, in order; an empty one where there is none.
    ///
    /// # Panics
    ///
    /// Where there are more or fewer than documents.
    pub fn stored<'a>(&mut self, sources: impl IntoIterator<Item = &'a [u8]>) -> Result<()> {
        self.stored_with(sources, None)
    }

    /// As [`Self::stored`]; they are compressed with `dictionary` ([`for_sources`](super::for_sources)).
    pub fn stored_with<'a>(
        &mut self,
        sources: impl IntoIterator<Item = &'a [u8]>,
        dictionary: Option<&Chosen>,
    ) -> Result<()> {
        let doc_count = self.doc_count();
        let head = self.put_with(SectionKind::StoredBody, FieldNo(0), |file| {
            let mut writer = BlocksWriter::new(file.len(), dictionary);
            for source in sources {
                writer.push(source, file)?;
            }
            assert_eq!(writer.doc_count(), doc_count, "each document has an entry");
            Ok::<_, Error>(writer.finish(file))
        })?;
        self.put(SectionKind::StoredHead, FieldNo(0), &head);
        Ok(())
    }
}

/// Takes sources and appends blocks.
pub(super) struct BlocksWriter {
    /// Length of the file before the body.
    start: usize,
    compressor: Compressor,
    dictionary: Option<Chosen>,
    /// Bytes at which a block ends.
    block_bytes: usize,
    lines: Vec<u8>,
    /// Lengths and sources of the open block.
    lens: Vec<u8>,
    text: Vec<u8>,
    /// First document of the open block, and the document after the last.
    first: u32,
    next: u32,
}

impl BlocksWriter {
    /// A body that starts at `start` of the file, whose blocks are compressed with `dictionary`.
    pub(super) fn new(start: usize, dictionary: Option<&Chosen>) -> Self {
        let with = |chosen: &Chosen| {
            let compressor = Compressor::with(LEVEL, &chosen.dictionary)?;
            Some((compressor, Some(chosen.clone()), SHORT_BLOCK_BYTES))
        };
        let (compressor, dictionary, block_bytes) = dictionary
            .and_then(with)
            .unwrap_or_else(|| (Compressor::new(LEVEL), None, BLOCK_BYTES));
        Self {
            start,
            compressor,
            dictionary,
            block_bytes,
            lines: Vec::new(),
            lens: Vec::new(),
            text: Vec::new(),
            first: 0,
            next: 0,
        }
    }

    /// Number of documents so far.
    pub(super) fn doc_count(&self) -> u32 {
        self.next
    }

    /// Adds the source of the next document.
    pub(super) fn push(&mut self, source: &[u8], file: &mut Vec<u8>) -> Result<()> {
        breathe();
        if source.len() > SOURCE_BYTES_MAX {
            let (limit, found) = (SOURCE_BYTES_MAX as u64, source.len() as u64);
            return Err(Error::Limit { what: "length of a stored document", limit, found });
        }
        vint::write(&mut self.lens, source.len() as u64);
        self.text.extend_from_slice(source);
        self.next += 1;
        if self.pending_bytes() >= self.block_bytes {
            self.end_block(file);
        }
        Ok(())
    }

    /// Bytes at which a block ends.
    pub(super) fn block_bytes(&self) -> usize {
        self.block_bytes
    }

    /// What blocks are compressed with.
    pub(super) fn dictionary(&self) -> Option<&Dictionary> {
        self.dictionary.as_ref().map(|chosen| &chosen.dictionary)
    }

    /// Bytes of the open block.
    pub(super) fn pending_bytes(&self) -> usize {
        self.lens.len() + self.text.len()
    }

    /// Appends a block of `docs` documents of another segment as it is, after the open one. If it needs a
    /// dictionary, that is this one.
    pub(super) fn copy(&mut self, block: &[u8], form: Form, docs: u32, file: &mut Vec<u8>) {
        assert!(docs > 0, "a block has a document");
        if self.next > self.first {
            self.end_block(file);
        }
        file.extend_from_slice(block);
        self.next += docs;
        self.end_line(form, file);
    }

    /// Appends the open block.
    fn end_block(&mut self, file: &mut Vec<u8>) {
        self.lens.append(&mut self.text);
        let block = &self.lens;
        assert!(block.len() <= BLOCK_BYTES_MAX, "a document's length was checked");
        let at = file.len();
        self.compressor.compress(block, file);
        let has_dictionary = self.dictionary.is_some();
        let mut form = Form::Frame { len: block.len() as u32, has_dictionary };
        if file.len() - at >= block.len() {
            file.truncate(at);
            file.extend_from_slice(block);
            form = Form::Plain;
        }
        self.lens.clear();
        self.end_line(form, file);
    }

    /// Notes that a block ends here.
    fn end_line(&mut self, form: Form, file: &[u8]) {
        self.lines.extend_from_slice(&((file.len() - self.start) as u64).to_le_bytes());
        self.lines.extend_from_slice(&self.first.to_le_bytes());
        self.lines.extend_from_slice(&form.told().to_le_bytes());
        self.first = self.next;
    }

    /// Ends the body, and gives the head.
    pub(super) fn finish(mut self, file: &mut Vec<u8>) -> Vec<u8> {
        if self.next > self.first {
            self.end_block(file);
        }
        let dictionary = self.dictionary().map_or(&[][..], Dictionary::bytes);
        let is_inherited = self.dictionary.as_ref().is_some_and(|chosen| chosen.is_inherited);
        let told = dictionary.len() as u32 | if is_inherited { INHERITED } else { 0 };
        let mut head = Vec::with_capacity(super::HEAD + self.lines.len() + dictionary.len());
        head.extend_from_slice(&((self.lines.len() / super::LINE) as u32).to_le_bytes());
        head.extend_from_slice(&told.to_le_bytes());
        head.extend_from_slice(&self.lines);
        head.extend_from_slice(dictionary);
        head
    }
}
