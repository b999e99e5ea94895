//! Writes columns: values come by rising document and leave window by window.
//!
//! Always true
//! 1. Nothing but one window is held, beside what is written.
//! 2. A column without a value is not written at all.

use base::{DocId, FieldNo, Ord};
use env::breath::breathe;

use super::block::BlockWriter;
use super::dictionary::{DictionaryHead, DictionaryWriter};
use super::zone::ZonesWriter;
use super::{WINDOW, place};
use crate::bytes::bitmap::Bitmap;
use crate::error::Result;
use crate::toc::SectionKind;
use crate::writer::SegmentWriter;

impl SegmentWriter {
    /// A column of numbers: `docs` rise by document, those of one document by value.
    ///
    /// # Panics
    ///
    /// Where they do not, or a document is none of the segment's.
    pub fn numeric(&mut self, field: FieldNo, docs: &[(DocId, i64)]) {
        if docs.is_empty() {
            return;
        }
        let doc_count = self.doc_count();
        let head = self.put_with(SectionKind::NumericBody, field, |body| {
            let mut windows = WindowsWriter::new(doc_count, body.len());
            for &(doc, value) in docs {
                windows.push(doc, value, body);
            }
            windows.finish(body)
        });
        self.put(SectionKind::NumericHead, field, &head);
    }

    /// A column of terms: `terms` rise and differ, `docs` rise by document and then by the rank of
    /// the term among `terms`, each rank once a document.
    ///
    /// # Panics
    ///
    /// Where they do not, or a document is none of the segment's, a rank no term's, or a term no
    /// document's.
    pub fn ordinals<'a>(
        &mut self,
        field: FieldNo,
        terms: impl IntoIterator<Item = &'a [u8]>,
        docs: &[(DocId, Ord)],
    ) -> Result<()> {
        if docs.is_empty() {
            return Ok(());
        }
        let (doc_count, blocks) = (self.doc_count(), self.term_blocks);
        let head = self.put_with(SectionKind::OrdinalBody, field, |body| -> Result<_> {
            let start = body.len();
            let mut dictionary = DictionaryWriter::new(blocks, start);
            for term in terms {
                dictionary.push(term, body)?;
            }
            let mut head = dictionary.finish(body);
            let term_count = head.term_count;
            let mut windows = WindowsWriter::new(doc_count, start);
            let mut used = Bitmap::new(term_count);
            let mut before = None;
            for &(doc, ord) in docs {
                assert!(ord.get() < term_count, "the rank of a term");
                used.insert(ord.get());
                assert!(before < Some((doc, ord)), "a document has a term once");
                before = Some((doc, ord));
                windows.push(doc, i64::from(ord.get()), body);
            }
            assert_eq!(used.count(), term_count, "every term belongs to a document");
            head.bytes.extend_from_slice(&windows.finish(body));
            Ok(head)
        })?;
        self.ordinal_head(field, &head);
        Ok(())
    }

    /// The head of a column of terms.
    pub(super) fn ordinal_head(&mut self, field: FieldNo, head: &DictionaryHead) {
        self.has_short_keys |= head.has_short_keys;
        self.put(SectionKind::OrdinalHead, field, &head.bytes);
    }
}

/// Takes the values of a column and appends windows to its body.
#[derive(Debug)]
pub(super) struct WindowsWriter {
    doc_count: u32,
    /// Length of the file before the body.
    start: usize,
    zones: ZonesWriter,
    block: BlockWriter,
}

impl WindowsWriter {
    /// A column of a segment of `doc_count` documents, whose body starts at `start` of the file.
    pub(super) fn new(doc_count: u32, start: usize) -> Self {
        Self { doc_count, start, zones: ZonesWriter::default(), block: BlockWriter::default() }
    }

    /// Adds a value.
    #[inline]
    pub(super) fn push(&mut self, doc: DocId, value: i64, file: &mut Vec<u8>) {
        assert!(doc.get() < self.doc_count, "a document of the segment");
        let (window, place) = place(doc);
        assert!(window >= self.zones.window_count(), "documents rise");
        while self.zones.window_count() < window {
            self.end_window(file);
        }
        self.block.push(place, value);
    }

    /// Ends the window that is open.
    fn end_window(&mut self, file: &mut Vec<u8>) {
        breathe();
        let span = WINDOW.min(self.doc_count - self.zones.window_count() * WINDOW);
        let zone = self.block.finish(span, file);
        self.zones.push(zone, (file.len() - self.start) as u64);
    }

    /// Whether no value came.
    pub(super) fn is_empty(&self) -> bool {
        self.zones.window_count() == 0 && self.block.is_empty()
    }

    /// Ends the column, and gives its zones.
    pub(super) fn finish(mut self, file: &mut Vec<u8>) -> Vec<u8> {
        assert!(!self.is_empty(), "a column has a value");
        while self.zones.window_count() < self.doc_count.div_ceil(WINDOW) {
            self.end_window(file);
        }
        self.zones.finish()
    }
}
