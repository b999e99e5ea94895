//! `_search` and `_count`.

use env::Bytes;

use super::{IndicesOptions, Shards};

/// A search as it came: the parsed form is made here, once.
#[derive(Clone, Debug, Default)]
pub struct SearchCall {
    /// Index expression; empty is all.
    pub indices: String,
    /// How to read it.
    pub options: IndicesOptions,
    /// The body; empty where there is none.
    pub body: Bytes,
    /// Query parameters that a body key has too, decoded, in order: `size`, `from`, `sort`, `q`, …
    pub params: Vec<(String, String)>,
}

/// Answer of a search.
#[derive(Clone, Debug)]
pub struct SearchReply {
    /// Milliseconds it took.
    pub took_ms: u64,
    /// The deadline passed before all was seen.
    pub timed_out: bool,
    /// `terminate_after` stopped it: `Some(true)`; asked for but not reached: `Some(false)`.
    pub terminated_early: Option<bool>,
    /// Which shards took part.
    pub shards: Shards,
    /// Totals and hits.
    pub result: search::result::SearchResult,
}

/// Answer of a count.
#[derive(Clone, Debug)]
pub struct CountReply {
    /// Matching documents.
    pub count: u64,
    /// Which shards took part.
    pub shards: Shards,
}
