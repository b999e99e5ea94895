//! A document, walked once: prepared entries in a flat arena, perhaps a Delta.

pub mod arena;

use crate::Result;
use crate::tree::{Delta, Mapping};

pub use arena::{Arena, Entries, Entry, Terms};

/// How strictly a document is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A request: what does not fit is refused, new fields give a Delta.
    Strict,
    /// Replay of what was acknowledged: a value that no longer fits goes to `_ignored`, unknown
    /// fields are passed over; only text that is no JSON object fails.
    Replay,
}

/// What became of a document.
#[derive(Debug)]
pub enum Parsed {
    /// It lies in the arena under this number.
    Ready(usize),
    /// It has fields that the mapping lacks; parse it again once they are there.
    NeedsMapping(Delta),
}

/// Walks documents; keeps its buffers from one to the next.
#[derive(Debug, Default)]
pub struct Parser {}

impl Parser {
    /// A parser with empty buffers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Walks one document. On anything but `Ready` the arena is as it was.
    ///
    /// # Errors
    /// Where the document is no JSON object, does not fit its mapping, or adds what may not be
    /// added; in Elasticsearch's words.
    pub fn parse(
        &mut self,
        _mapping: &Mapping,
        _id: &str,
        _source: &[u8],
        _mode: Mode,
        _arena: &mut Arena,
    ) -> Result<Parsed> {
        todo!()
    }
}
