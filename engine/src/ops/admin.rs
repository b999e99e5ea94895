//! Indices and mappings: create, delete, look, change.

use std::sync::Arc;

use json::Value;

/// What `GET /{index}` tells of one index.
#[derive(Clone, Debug)]
pub struct IndexInfo {
    /// Concrete name.
    pub name: String,
    /// `{"alias":{…}}`.
    pub aliases: Value,
    /// The mapping as Elasticsearch shows it.
    pub mappings: Value,
    /// `{"index":{…}}`, all values strings.
    pub settings: Value,
}

/// One token of `_analyze`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnalyzedToken {
    /// Its text.
    pub token: String,
    /// Where it starts, in UTF-16 units.
    pub start_offset: u32,
    /// Where it ends.
    pub end_offset: u32,
    /// `<ALPHANUM>`, `word`, …
    pub kind: &'static str,
    /// Its position.
    pub position: u32,
}

/// What a `_analyze` request asks.
#[derive(Clone, Debug, Default)]
pub struct AnalyzeRequest {
    /// Index whose analyzers count.
    pub index: Option<String>,
    /// The body, parsed as JSON: `analyzer`, `field`, `text`, `tokenizer`, `filter`, …
    pub body: Arc<Value>,
}

/// Answer of index creation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Created {
    /// Concrete name.
    pub index: String,
    /// Its shards opened in time.
    pub shards_acknowledged: bool,
}
