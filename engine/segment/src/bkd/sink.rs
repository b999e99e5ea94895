//! Where the documents go that a walk through a tree finds.
//!
//! A walk gives documents in the order of values, not of documents, and gives one twice where two
//! of its points lie inside. [`DocBits`] and [`WindowBits`] forget both; [`DocList`] keeps both.

use base::DocId;

use crate::bytes::bitmap::Bitmap;

/// Takes the documents of points that lie inside the bounds.
pub trait Sink {
    /// Takes documents, in no order, each below the segment's number of documents.
    fn docs(&mut self, docs: &[u32]);
}

/// Sets the bit of each document of a segment.
#[derive(Clone, Debug)]
pub struct DocBits(pub Bitmap);

impl DocBits {
    /// No document of a segment of `doc_count`.
    pub fn new(doc_count: u32) -> Self {
        Self(Bitmap::new(doc_count))
    }
}

impl Sink for DocBits {
    #[inline]
    fn docs(&mut self, docs: &[u32]) {
        for &doc in docs {
            self.0.insert(doc);
        }
    }
}

/// Lists documents as they come: for ranges with few points.
#[derive(Clone, Debug, Default)]
pub struct DocList(pub Vec<u32>);

impl DocList {
    /// The documents, rising, each once.
    pub fn sorted(mut self) -> Vec<u32> {
        self.0.sort_unstable();
        self.0.dedup();
        self.0
    }
}

impl Sink for DocList {
    #[inline]
    fn docs(&mut self, docs: &[u32]) {
        self.0.extend_from_slice(docs);
    }
}

/// Sets the bits of those documents that lie in one window.
#[derive(Debug)]
pub struct WindowBits<'a> {
    start: u32,
    words: &'a mut [u64],
}

impl<'a> WindowBits<'a> {
    /// The window that begins at `start` and has a bit of `words` for each document.
    pub fn new(start: DocId, words: &'a mut [u64]) -> Self {
        Self { start: start.get(), words }
    }
}

impl Sink for WindowBits<'_> {
    #[inline]
    fn docs(&mut self, docs: &[u32]) {
        for &doc in docs {
            // Documents before the window wrap to large numbers and fall out with those after it.
            let bit = doc.wrapping_sub(self.start) as usize;
            if let Some(word) = self.words.get_mut(bit / 64) {
                *word |= 1 << (bit % 64);
            }
        }
    }
}
