//! What a document means: mappings, field types, analysis, and the one walk over a document.
//!
//! Three questions are answered here. *What may stand in an index?* [`Mapping`], an immutable tree
//! of fields with Elasticsearch's rules for reading, showing and changing it (`tree`). *What are the
//! words of a text?* [`analysis`]. *What does this document hold?* [`document`]: prepared entries
//! in a flat arena, and where fields are new, a [`Delta`] that the cluster is asked to accept.
//!
//! Always true
//! 1. A [`Mapping`] never changes; a change makes another one, which shares what stayed the same.
//! 2. A field's number is given once and never reused within an index; user fields start at
//!    [`FIELD_NO_FIRST`].
//! 3. Failures speak Elasticsearch's words ([`Error`]); statuses are given above.
//!
//! Not here: segments and their bytes, queries (`search`), the JSON text form (`json`).

#![forbid(unsafe_code)]

pub mod analysis;
pub mod document;
pub mod error;
pub mod script;
pub mod settings;
pub mod similarity;
pub mod tree;
pub mod types;

pub use error::{Error, ErrorKind, Result};
pub use settings::{Limits, Settings, SortSpec};
pub use similarity::Similarity;
pub use tree::{Delta, Dynamic, Mapping, Sight, SourceMode, is_metadata};
pub use types::{
    Bounds, Column, Field, IndexOptions, Keyword, KeywordFlavor, Kind, Number, NumberKind,
    QueryValue, RangeOptions, Relation, TERM_BYTES_MAX, Text, TextFlavor,
};

/// First number of a user's field; those below belong to the system (`_id`, `_seq_no`, …).
pub const FIELD_NO_FIRST: u32 = 16;
