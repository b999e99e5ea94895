//! Documents that were found by an earlier search, and kept.

use std::sync::Arc;

use super::{Bits, END, Filter, Turn, WINDOW, window_of};
use crate::kept::Docs;

/// The documents of a filter that was kept.
pub struct KeptDocs(Arc<Docs>);

impl KeptDocs {
    /// These documents.
    pub fn new(docs: Arc<Docs>) -> Self {
        Self(docs)
    }
}

impl Filter for KeptDocs {
    fn cost(&self) -> u64 {
        self.0.count()
    }

    fn next(&mut self, from: u32) -> u32 {
        let words = self.0.words();
        let mut at = from as usize / 64;
        let Some(mut word) = words.get(at).map(|word| word & (u64::MAX << (from % 64))) else {
            return END;
        };
        while word == 0 {
            at += 1;
            match words.get(at) {
                Some(next) => word = *next,
                None => return END,
            }
        }
        at as u32 * 64 + word.trailing_zeros()
    }

    fn prepare(&mut self, _window: u32, turn: &mut Turn<'_>) -> bool {
        turn.spend(64);
        true
    }

    fn fill(&mut self, window: u32, bits: &mut Bits) {
        let words = self.0.words().get(window as usize * bits.len()..).unwrap_or_default();
        for (word, more) in bits.iter_mut().zip(words) {
            *word |= more;
        }
    }

    fn prepare_probe(&mut self, _docs: &[u32], _turn: &mut Turn<'_>) -> bool {
        true
    }

    fn probe(&mut self, docs: &[u32], matches: &mut [bool]) {
        let words = self.0.words();
        for (matches, doc) in matches.iter_mut().zip(docs) {
            *matches = words[*doc as usize / 64] >> (doc % 64) & 1 == 1;
        }
    }

    fn count(&mut self) -> Option<u64> {
        Some(self.0.count())
    }

    fn count_min(&self) -> u64 {
        self.0.count()
    }
}

/// Whole windows for so many documents, in words of bits.
pub(crate) fn words_for(doc_count: u32) -> usize {
    let windows = doc_count.checked_sub(1).map_or(0, |last| window_of(last) + 1);
    (windows * (WINDOW / 64)) as usize
}
