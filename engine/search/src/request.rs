//! A whole search request, read and checked: what `_search` and `_count` ask for.
//!
//! Plain data; every core may hold a copy.

use std::collections::BTreeSet;
use std::sync::Arc;

use script::Context;

use crate::ast::{EachScript, Query, Scalar, Script, ScriptSource};
use crate::result::Key;

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
    /// Return the scores of queries with a name.
    pub named_scores: bool,
    /// Statistics of all shards together, not of each.
    pub dfs: bool,
    /// Return how long each part took.
    pub profile: bool,
    /// Factors of the scores of indices, by expression; the first that fits counts.
    pub indices_boost: Vec<(String, f32)>,
    /// Which stored fields to return.
    pub stored: Stored,
    /// Columns to return.
    pub docvalue_fields: Vec<FieldFormat>,
    /// Values to return that scripts make, by name.
    pub script_fields: Vec<ScriptField>,
    /// Values from the source to return, formatted by the mapping.
    pub fields: Vec<FieldFormat>,
    /// Groups under which the search is counted.
    pub groups: Vec<String>,
    /// Time after which partial results are returned.
    pub timeout_ms: Option<u64>,
    /// Documents a shard collects at most; 0: all.
    pub terminate_after: u32,
    /// Numbers and buckets over what the query finds.
    pub aggs: crate::aggs::spec::Aggs,
    /// The moment that is searched.
    pub pit: Option<PointInTime>,
    /// The part of the documents that is searched.
    pub slice: Option<Slice>,
    /// A last key of our own, by which no two hits are equal.
    pub tiebreak: Tiebreak,
    /// Only hits after the one with these keys; takes the place of `search_after`.
    pub resume: Option<Arc<[Key]>>,
    /// Batches of a scroll: the window counts, not from + size.
    pub scrolls: bool,
    /// Suggestions, in order.
    pub suggest: Vec<crate::suggest::Suggestion>,
    /// Nothing but suggestions is asked for: no documents are looked for.
    pub suggest_only: bool,
    /// What to mark in the text of hits.
    pub highlight: Option<crate::highlight::Highlight>,
    /// One hit for each value of a field.
    pub collapse: Option<Collapse>,
    /// Second scores for the best hits, one after the other.
    pub rescore: Vec<Rescore>,
    /// The query may ask for hits inside of hits.
    pub has_inner: bool,
    /// Meeting an index may take milliseconds: automata of expressions or of long words are made.
    pub costly: bool,
    /// Bytes of its text.
    pub text_bytes: usize,
    /// Stars in its text: names of fields that may be patterns, each of which is met by each field of
    /// an index.
    pub stars: usize,
    /// Queries of it may ask about families (`has_child`, `has_parent`).
    pub families: bool,
    /// There may be scripts in it.
    pub scripted: bool,
    /// Queries of it may name documents that are to be looked up.
    pub looks_up: bool,
    /// The kinds of its queries, where it was read as a search.
    pub kinds: BTreeSet<&'static str>,
    /// All that matches is wanted, however much: the search for families.
    pub whole: bool,
    /// Where more shards than this are asked, those that cannot match are passed over
    /// (`pre_filter_shard_size`).
    pub shards_unfiltered_max: Option<u32>,
    /// Answers of so many shards are merged at once (`batched_reduce_size`).
    pub reduce_at_once: u32,
    /// What of it is deprecated, in Elasticsearch's words.
    pub warnings: Vec<&'static str>,
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
            named_scores: false,
            dfs: false,
            profile: false,
            indices_boost: Vec::new(),
            stored: Stored::Default,
            docvalue_fields: Vec::new(),
            script_fields: Vec::new(),
            fields: Vec::new(),
            groups: Vec::new(),
            timeout_ms: None,
            terminate_after: 0,
            aggs: Default::default(),
            pit: None,
            slice: None,
            tiebreak: Tiebreak::None,
            resume: None,
            scrolls: false,
            suggest: Vec::new(),
            suggest_only: false,
            highlight: None,
            collapse: None,
            rescore: Vec::new(),
            has_inner: false,
            costly: false,
            text_bytes: 0,
            stars: 0,
            families: false,
            scripted: false,
            looks_up: true,
            kinds: BTreeSet::new(),
            whole: false,
            shards_unfiltered_max: None,
            reduce_at_once: REDUCE_AT_ONCE,
            warnings: Vec::new(),
        }
    }
}

/// What is made of a text of so many bytes goes in less than half a millisecond.
const LARGE_BYTES: usize = 64 << 10;

/// Elasticsearch's default of `batched_reduce_size`.
pub const REDUCE_AT_ONCE: u32 = 512;

impl SearchRequest {
    /// The steps in which Elasticsearch merges the answers of so many shards: each step takes in as
    /// many as may be merged at once, what the step before made among them.
    pub fn reduce_phases(&self, shard_count: u32) -> u32 {
        let at_once = self.reduce_at_once.max(2);
        if self.size == 0 && self.aggs.is_empty() || shard_count <= at_once {
            return 1;
        }
        1 + (shard_count - at_once).div_ceil(at_once - 1)
    }

    /// Hits a shard must bring so that the page can be cut from them.
    pub fn window(&self) -> usize {
        let page = self.from as usize + self.size as usize;
        self.rescore.iter().map(|one| one.window as usize).fold(page, usize::max)
    }

    /// What of the request says how hits that were found make a page: a copy that costs little, however large
    /// the query is.
    #[must_use]
    pub fn page(&self) -> Self {
        Self {
            from: self.from,
            size: self.size,
            sort: self.sort.clone(),
            total: self.total,
            track_scores: self.track_scores,
            terminate_after: self.terminate_after,
            tiebreak: self.tiebreak,
            collapse: self.collapse.clone(),
            ..Self::default()
        }
    }

    /// Is what it means in so many indices so much that it takes a while to go?
    pub fn is_large(&self, indices: usize) -> bool {
        self.text_bytes.saturating_mul(indices) > LARGE_BYTES
    }

    /// The order is the score's, best first: nothing else need be compared.
    pub fn sorts_by_score(&self) -> bool {
        self.tiebreak == Tiebreak::None && self.ranks_by_score()
    }

    /// The order that was asked for is the score's, best first.
    pub fn ranks_by_score(&self) -> bool {
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
            // Who asks for values of scripts must ask for the source too.
            (None, Stored::Default) => {
                SourceFilter { enabled: self.script_fields.is_empty(), ..SourceFilter::default() }
            }
            (None, Stored::None) => SourceFilter { enabled: false, ..SourceFilter::default() },
            (None, Stored::Names(names)) => SourceFilter {
                enabled: names.iter().any(|name| name == "_source"),
                ..SourceFilter::default()
            },
        }
    }

    /// Calls `each` for all scripts, but those of `inner_hits`.
    pub fn scripts_mut(&mut self, each: EachScript<'_>) {
        for query in [&mut self.query, &mut self.post_filter].into_iter().flatten() {
            query.scripts_mut(each);
        }
        for rescore in &mut self.rescore {
            rescore.query.scripts_mut(each);
        }
        for sort in &mut self.sort {
            sort.scripts_mut(each);
        }
        for field in &mut self.script_fields {
            each(&mut field.script, &Context::FIELD);
        }
        crate::aggs::scripts_mut(&mut self.aggs, each);
    }

    /// Scores are needed: by the order, by a bound, or because they were asked for.
    pub fn needs_scores(&self) -> bool {
        self.size > 0 && (self.sort.is_empty() || self.sort.iter().any(Sort::reads_score))
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

/// `collapse`.
#[derive(Clone, Debug, PartialEq)]
pub struct Collapse {
    /// The field.
    pub field: String,
    /// Hits told with each of its values.
    pub inner_hits: Vec<InnerHits>,
}

/// `inner_hits`: hits that belong to a hit.
#[derive(Clone, Debug, PartialEq)]
pub struct InnerHits {
    /// Under which name they are told.
    pub name: Option<String>,
    /// A path that the mapping does not know matches nothing.
    pub ignore_unmapped: bool,
    /// How many, in which order, and what of them.
    pub request: Box<SearchRequest>,
}

/// One element of `rescore`.
#[derive(Clone, Debug, PartialEq)]
pub struct Rescore {
    /// Best hits of each shard that get a second score.
    pub window: u32,
    /// What gives it.
    pub query: Query,
    /// Factor of the first score.
    pub query_weight: f32,
    /// Factor of the second.
    pub rescore_weight: f32,
    /// How both become one.
    pub mode: ScoreMode,
}

/// `score_mode` of a rescorer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScoreMode {
    /// Their sum.
    #[default]
    Total,
    /// Their product.
    Multiply,
    /// Their mean.
    Avg,
    /// The greater.
    Max,
    /// The smaller.
    Min,
}

impl ScoreMode {
    /// Makes one score of two.
    pub fn combine(self, first: f32, second: f32) -> f32 {
        match self {
            Self::Total => first + second,
            Self::Multiply => first * second,
            Self::Avg => (first + second) / 2.0,
            Self::Max => first.max(second),
            Self::Min => first.min(second),
        }
    }

    /// Its name in explanations.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Total => "sum",
            Self::Multiply => "product",
            Self::Avg => "avg",
            Self::Max => "max",
            Self::Min => "min",
        }
    }
}

/// `pit`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PointInTime {
    /// Its identifier, as given.
    pub id: String,
    /// For how long it is to stay from now, in milliseconds, and as it was written.
    pub keep_alive: Option<(u64, String)>,
}

/// `slice`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    /// By the values of this field; by the documents' ids where absent.
    pub field: Option<String>,
    /// Which part.
    pub id: u32,
    /// Of how many.
    pub max: u32,
}

/// A last key that tells all hits apart: shard, then place in the shard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tiebreak {
    /// None is needed.
    #[default]
    None,
    /// It is not told.
    Hidden,
    /// It is told with the other keys.
    Shown,
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
    /// The values are those of documents inside.
    pub nested: Option<NestedSort>,
}

impl Sort {
    /// The score decides, or a script that reads it.
    pub fn reads_score(&self) -> bool {
        match &self.by {
            SortBy::Score => true,
            SortBy::Script(sort) => match (&sort.script.compiled, &sort.script.source) {
                (Some(Ok(program)), _) => program.uses_score,
                (_, ScriptSource::Inline(source)) => source.contains("_score"),
                _ => false,
            },
            _ => false,
        }
    }

    /// Calls `each` for its scripts.
    pub fn scripts_mut(&mut self, each: EachScript<'_>) {
        if let SortBy::Script(sort) = &mut self.by {
            each(&mut sort.script, sort.kind.context());
        }
        if let Some(filter) = self.nested.as_mut().and_then(|nested| nested.filter.as_mut()) {
            filter.scripts_mut(each);
        }
    }

    /// A key that says nothing more: documents without a value come last.
    pub fn new(by: SortBy, order: Order) -> Self {
        Self {
            by,
            order,
            mode: None,
            missing: Missing::Last,
            unmapped_type: None,
            format: None,
            numeric_type: None,
            nested: None,
        }
    }
}

/// `nested` of a sort.
#[derive(Clone, Debug, PartialEq)]
pub struct NestedSort {
    /// Path of the documents inside.
    pub path: String,
    /// Only those that match count.
    pub filter: Option<Query>,
    /// Only so many of each document count.
    pub max_children: u32,
    /// A path below the outermost says how many, which it may not.
    pub has_inner_max: bool,
}

/// What is compared.
#[derive(Clone, Debug, PartialEq)]
pub enum SortBy {
    /// The score.
    Score,
    /// The order in the index.
    Doc,
    /// The order of shards, then in the index.
    ShardDoc,
    /// How far the places of a field are from others.
    Distance(DistanceSort),
    /// A field's column.
    Field(String),
    /// What a script makes of a document.
    Script(Box<ScriptSort>),
}

/// `_script`.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptSort {
    /// The script.
    pub script: Script,
    /// What it gives.
    pub kind: ScriptKind,
}

/// What a script gives that orders hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptKind {
    /// Numbers.
    Number,
    /// Strings.
    Text,
    /// Strings that are versions.
    Version,
}

impl ScriptKind {
    /// Where such a script runs.
    pub const fn context(self) -> &'static Context {
        match self {
            Self::Number => &Context::NUMBER_SORT,
            Self::Text | Self::Version => &Context::STRING_SORT,
        }
    }
}

/// One of `script_fields`.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptField {
    /// Under which name it is told.
    pub name: String,
    /// The script.
    pub script: Script,
    /// Where it fails, there is no value.
    pub ignore_failure: bool,
}

/// `_geo_distance`.
#[derive(Clone, Debug, PartialEq)]
pub struct DistanceSort {
    /// The field.
    pub field: String,
    /// From where; at least one place.
    pub origins: Vec<crate::ast::GeoPoint>,
    /// Metres of the unit in which it is told.
    pub unit: f64,
    /// On a flat map, not on the sphere.
    pub is_flat: bool,
    /// An index that does not map the field has no places.
    pub ignore_unmapped: bool,
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
