//! A text that counts how often the engine looks at it.

use std::cell::Cell;

use fancy_regex::Input;

use crate::backtrack::Span;

/// Parts of a look, of which a step to the character before takes one.
pub(crate) const PARTS: u64 = 8;

/// A text, and how often it was looked at.
pub(crate) struct Looked<'t> {
    pub(crate) text: &'t str,
    /// In [`PARTS`].
    pub(crate) looks: Cell<u64>,
    /// What a look costs.
    pub(crate) look: u64,
}

impl<'t> Looked<'t> {
    /// A text that nobody has looked at, and what a look costs there.
    pub(crate) fn new(text: &'t str, look: u64) -> Self {
        Self { text, looks: Cell::new(0), look }
    }
}

impl Input for Looked<'_> {
    type Match<'m>
        = Span
    where
        Self: 'm;

    fn len(&self) -> usize {
        self.text.len()
    }

    fn as_bytes(&self) -> &[u8] {
        self.looks.set(self.looks.get() + PARTS);
        self.text.as_bytes()
    }

    fn is_char_boundary(&self, ix: usize) -> bool {
        self.text.is_char_boundary(ix)
    }

    fn is_ascii(&self) -> bool {
        self.text.is_ascii()
    }

    fn prev_codepoint_ix(&self, i: usize) -> usize {
        self.looks.set(self.looks.get() + 1);
        Input::prev_codepoint_ix(self.text, i)
    }

    fn make_match(&self, start: usize, end: usize) -> Span {
        (start, end)
    }

    fn advance_position(&self, i: usize) -> usize {
        Input::advance_position(self.text, i)
    }
}
