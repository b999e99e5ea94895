//! Whether documents match a filter, window by window.

use std::collections::VecDeque;
use std::ops::Range;

use crate::iter::{AnyFilter, Bits, Turn, WINDOW, bits, window_of};

/// A filter, and the windows of it that are filled.
pub struct Matcher {
    filter: AnyFilter,
    windows: VecDeque<(u32, Box<Bits>)>,
    /// The next window that may be filled.
    next: u32,
}

impl Matcher {
    /// Nothing filled yet.
    pub fn new(filter: AnyFilter) -> Self {
        Self { filter, windows: VecDeque::new(), next: 0 }
    }

    /// Fills the windows of `docs`, whose beginnings rise from call to call; false where it must
    /// wait.
    pub fn prepare(&mut self, docs: &Range<u32>, turn: &mut Turn<'_>) -> bool {
        if docs.is_empty() {
            return true;
        }
        let (first, last) = (window_of(docs.start), window_of(docs.end - 1));
        while self.windows.front().is_some_and(|(window, _)| *window < first) {
            self.windows.pop_front();
        }
        self.next = self.next.max(first);
        while self.next <= last {
            let from = self.next * WINDOW;
            let mut found = Box::new(bits::NONE);
            if window_of(self.filter.next(from)) == self.next {
                if !self.filter.prepare(self.next, turn) {
                    return false;
                }
                self.filter.fill(self.next, &mut found);
            }
            turn.spend(64);
            self.windows.push_back((self.next, found));
            self.next += 1;
        }
        true
    }

    /// Whether a document of the range prepared matches.
    #[inline]
    pub fn matches(&self, doc: u32) -> bool {
        let window = window_of(doc);
        let Some((first, _)) = self.windows.front() else { return false };
        let Some(at) = window.checked_sub(*first) else { return false };
        let Some((_, bits)) = self.windows.get(at as usize) else { return false };
        let place = doc % WINDOW;
        bits[place as usize / 64] >> (place % 64) & 1 == 1
    }
}
