//! A whole search request, read and checked: what `_search` and `_count` ask for.
//!
//! Plain data; every core may hold a copy.

use crate::ast::{Query, Scalar};

/// `index.max_result_window`: the default bound of `from + size`.
pub const RESULT_WINDOW: u64 = 10_000;

/// Where the count stops unless told otherwise.
pub const TOTAL_THRESHOLD: u32 = 10_000;

/// Hits asked for where nothing is said.
pub const SIZE: u32 = 10;

/// A search.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchRequest {
    /// What to find; everything where absent.
    pub query: Option<Query>,
    /// Narrows the hits without touching their scores.
    pub post_filter: Option<Query>,
    /// Hits passed over.
    pub from: u32,
    /// Hits wanted.
    pub size: u32,
    /// Order of the hits; empty: by score.
    pub sort: Vec<Sort>,
    /// Only hits after this place in the order; parallel to `sort`.
    pub search_after: Option<Vec<After>>,
    /// What of `_source` to return; absent: all of it, unless `stored` says otherwise.
    pub source: Option<SourceFilter>,
    /// How far to count.
    pub total: TrackTotal,
    /// Scores even where the order does not need them.
    pub track_scores: bool,
    /// Hits below this score do not count.
    pub min_score: Option<f32>,
    /// Return `_version`.
    pub version: bool,
    /// Return `_seq_no` and `_primary_term`.
    pub seq_no_primary_term: bool,
    /// Return how each score came about.
    pub explain: bool,
    /// Which stored fields to return.
    pub stored: Stored,
    /// Columns to return.
    pub docvalue_fields: Vec<FieldFormat>,
    /// Values from the source to return, formatted by the mapping.
    pub fields: Vec<FieldFormat>,
    /// Time after which partial results are returned.
    pub timeout_ms: Option<u64>,
    /// Documents a shard collects at most; 0: all.
    pub terminate_after: u32,
}

impl Default for SearchRequest {
    fn default() -> Self {
        Self {
            query: None,
            post_filter: None,
            from: 0,
            size: SIZE,
            sort: Vec::new(),
            search_after: None,
            source: None,
            total: TrackTotal::UpTo(TOTAL_THRESHOLD),
            track_scores: false,
            min_score: None,
            version: false,
            seq_no_primary_term: false,
            explain: false,
            stored: Stored::Default,
            docvalue_fields: Vec::new(),
            fields: Vec::new(),
            timeout_ms: None,
            terminate_after: 0,
        }
    }
}

impl SearchRequest {
    /// Hits a shard must bring so that the page can be cut from them.
    pub fn window(&self) -> usize {
        self.from as usize + self.size as usize
    }

    /// The order is the score's, best first: nothing else need be compared.
    pub fn sorts_by_score(&self) -> bool {
        match self.sort.as_slice() {
            [] => true,
            [sort] => sort.by == SortBy::Score && sort.order == Order::Descending,
            _ => false,
        }
    }

    /// What of `_source` to return, all things considered.
    pub fn source_filter(&self) -> SourceFilter {
        match (&self.source, &self.stored) {
            (Some(filter), _) => filter.clone(),
            (None, Stored::Default) => SourceFilter::default(),
            (None, Stored::None) => SourceFilter { enabled: false, ..SourceFilter::default() },
            (None, Stored::Names(names)) => SourceFilter {
                enabled: names.iter().any(|name| name == "_source"),
                ..SourceFilter::default()
            },
        }
    }

    /// Scores are needed: by the order, by a bound, or because they were asked for.
    pub fn needs_scores(&self) -> bool {
        self.size > 0 && (self.sort.is_empty() || self.sort.iter().any(|s| s.by == SortBy::Score))
            || self.track_scores
            || self.min_score.is_some()
    }
}

/// How far hits are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrackTotal {
    /// Not at all: no total is returned.
    No,
    /// Exactly.
    Exact,
    /// Exactly up to this number; beyond it the answer is `gte` this number.
    UpTo(u32),
}

impl TrackTotal {
    /// The count from which on it need not be exact.
    pub fn threshold(self) -> u64 {
        match self {
            Self::No => 0,
            Self::Exact => u64::MAX,
            Self::UpTo(limit) => u64::from(limit),
        }
    }
}

/// One key of the order.
#[derive(Clone, Debug, PartialEq)]
pub struct Sort {
    /// What is compared.
    pub by: SortBy,
    /// Which end comes first.
    pub order: Order,
    /// Which of several values of a document counts.
    pub mode: Option<Mode>,
    /// Where documents without a value stand.
    pub missing: Missing,
    /// Type to assume where the index does not map the field.
    pub unmapped_type: Option<String>,
    /// How dates are printed and read in `search_after`.
    pub format: Option<String>,
    /// Type in which values of several indices are compared.
    pub numeric_type: Option<NumericType>,
}

/// What is compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SortBy {
    /// The score.
    Score,
    /// The order in the index.
    Doc,
    /// A field's column.
    Field(String),
}

/// Direction of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Smallest first.
    Ascending,
    /// Greatest first.
    Descending,
}

/// Which of several values counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The smallest.
    Min,
    /// The greatest.
    Max,
    /// All added.
    Sum,
    /// Their mean.
    Avg,
    /// The middle one.
    Median,
}

/// Where documents without a value stand.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Missing {
    /// After all others.
    #[default]
    Last,
    /// Before all others.
    First,
    /// Where this value would.
    Value(Scalar),
}

/// `numeric_type` of a sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumericType {
    /// As a long.
    Long,
    /// As a double.
    Double,
    /// As milliseconds.
    Date,
    /// As nanoseconds.
    DateNanos,
}

/// One value of `search_after`.
#[derive(Clone, Debug, PartialEq)]
pub enum After {
    /// A document without value.
    Null,
    /// A value.
    Value(Scalar),
}

/// Which stored fields are returned. No field is stored on its own yet, so names bring nothing
/// but leave out `_source`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Stored {
    /// Ids and `_source`.
    #[default]
    Default,
    /// `_none_`: neither ids nor `_source`.
    None,
    /// These; `_source` only where it is among them.
    Names(Vec<String>),
}

/// What of `_source` is returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFilter {
    /// Anything at all.
    pub enabled: bool,
    /// Paths wanted; empty: all.
    pub includes: Vec<String>,
    /// Paths not wanted.
    pub excludes: Vec<String>,
}

impl Default for SourceFilter {
    fn default() -> Self {
        Self { enabled: true, includes: Vec::new(), excludes: Vec::new() }
    }
}

impl SourceFilter {
    /// The text passes through as it is.
    pub fn whole(&self) -> bool {
        self.enabled && self.includes.is_empty() && self.excludes.is_empty()
    }
}

/// A field (or a pattern of names) and how its values are printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldFormat {
    /// Name or pattern.
    pub field: String,
    /// Format that takes the place of the mapping's.
    pub format: Option<String>,
    /// Also values of fields that the mapping does not know.
    pub include_unmapped: bool,
}
