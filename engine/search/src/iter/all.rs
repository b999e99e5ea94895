//! Every document of a segment.

use super::{Bits, END, Filter, Turn, WINDOW, bits, term::window_range};

/// Every document of a segment.
pub struct All {
    doc_count: u32,
}

impl All {
    /// Of a segment of `doc_count` documents.
    pub fn new(doc_count: u32) -> Self {
        Self { doc_count }
    }
}

impl Filter for All {
    fn cost(&self) -> u64 {
        u64::from(self.doc_count)
    }

    fn next(&mut self, from: u32) -> u32 {
        if from < self.doc_count { from } else { END }
    }

    fn prepare(&mut self, _window: u32, _turn: &mut Turn<'_>) -> bool {
        true
    }

    fn fill(&mut self, window: u32, bits: &mut Bits) {
        let range = window_range(window, self.doc_count);
        let base = window * WINDOW;
        bits::set_range(bits, range.start - base..range.end - base);
    }

    fn prepare_probe(&mut self, _docs: &[u32], _turn: &mut Turn<'_>) -> bool {
        true
    }

    fn probe(&mut self, _docs: &[u32], matches: &mut [bool]) {
        matches.fill(true);
    }

    fn count(&mut self) -> Option<u64> {
        Some(u64::from(self.doc_count))
    }

    fn count_min(&self) -> u64 {
        u64::from(self.doc_count)
    }
}

/// No document.
pub struct Nothing;

impl Filter for Nothing {
    fn cost(&self) -> u64 {
        0
    }

    fn next(&mut self, _from: u32) -> u32 {
        END
    }

    fn prepare(&mut self, _window: u32, _turn: &mut Turn<'_>) -> bool {
        true
    }

    fn fill(&mut self, _window: u32, _bits: &mut Bits) {}

    fn prepare_probe(&mut self, _docs: &[u32], _turn: &mut Turn<'_>) -> bool {
        true
    }

    fn probe(&mut self, _docs: &[u32], matches: &mut [bool]) {
        matches.fill(false);
    }

    fn count(&mut self) -> Option<u64> {
        Some(0)
    }
}
