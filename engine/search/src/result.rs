//! What a search found: plain data that crosses cores, and the hits that `net` prints.
//!
//! Always true
//! 1. [`Ranked`] entries of one [`Partial`] stand in the request's order, best first.
//! 2. `keys` is parallel to the request's `sort`, and empty where the order is the score's.

use std::cmp::Ordering;
use std::sync::Arc;

use base::DocId;

use env::Bytes;
use env::budget::Taken;
use env::leftovers::Leaving;

/// Memory that stays taken while somebody holds what it is for; clones share it. It is no part of what
/// is compared.
#[derive(Clone, Default)]
pub struct Memory(Vec<Arc<Taken>>);

impl Memory {
    /// Holds what was taken.
    pub fn new(taken: Vec<Taken>) -> Self {
        Self(taken.into_iter().map(Arc::new).collect())
    }

    /// Holds this, too, where it is something.
    pub fn hold(&mut self, taken: Option<Arc<Taken>>) {
        self.0.extend(taken);
    }

    /// Holds what another holds, too.
    pub fn join(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// How much that is.
    pub fn bytes(&self) -> usize {
        self.0.iter().map(|taken| taken.bytes()).sum()
    }
}

impl PartialEq for Memory {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Memory({} bytes)", self.bytes())
    }
}

/// How sure a total is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Exactly.
    Eq,
    /// At least.
    Gte,
}

/// How many documents match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Total {
    /// The count.
    pub value: u64,
    /// How sure it is.
    pub relation: Relation,
}

/// One value that a hit was ordered by.
#[derive(Clone, Debug, PartialEq)]
pub enum Key {
    /// A string without value.
    Null,
    /// A long, a date in milliseconds, a boolean as 0 or 1, a place in the index.
    Long(i64),
    /// A long without sign; only as it is printed.
    Unsigned(u64),
    /// A double.
    Double(f64),
    /// A float.
    Float(f32),
    /// The score.
    Score(f32),
    /// A keyword's bytes.
    Term(Arc<[u8]>),
    /// Already text: a date with a format.
    Text(String),
}

impl Key {
    /// What it takes beside itself.
    pub fn held_bytes(&self) -> usize {
        match self {
            Self::Term(term) => term.len(),
            Self::Text(text) => text.len(),
            _ => 0,
        }
    }
}

/// In the order of their bytes; thousands of hits may share one long term.
pub fn compare_terms(a: &[u8], b: &[u8]) -> Ordering {
    if std::ptr::eq(a, b) { Ordering::Equal } else { a.cmp(b) }
}

/// A document of one shard that may become a hit.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    /// Its score; `NaN` where none was computed.
    pub score: f32,
    /// What it was ordered by, in comparable form.
    pub keys: Vec<Key>,
    /// Which segment of the view.
    pub segment: u32,
    /// Which document of the segment.
    pub doc: DocId,
}

/// What one slice found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Partial {
    /// The best, in order.
    pub hits: Vec<Ranked>,
    /// Matches counted.
    pub count: u64,
    /// Matches were passed over without being counted.
    pub skipped: bool,
    /// The best score seen; `NaN` where none was computed.
    pub max_score: Option<f32>,
    /// `terminate_after` stopped it.
    pub terminated_early: bool,
    /// The deadline stopped it.
    pub timed_out: bool,
    /// What aggregations found, or why they cannot be answered; absent where none was asked for.
    pub aggs: Option<std::result::Result<crate::aggs::Partials, crate::Error>>,
    /// The memory that aggregations take.
    pub memory: Memory,
    /// The memory that texts by which hits are ordered take.
    pub texts: Memory,
}

/// So many keys of documents go in a moment: some 100 µs.
const KEYS_FEW: usize = 1 << 10;

/// As many documents that are shown.
pub const HITS_FEW: usize = 1 << 7;

/// Keys of so many documents; those by the score alone have none, and are no pieces by themselves.
fn keys_of(count: usize, first: Option<&Ranked>) -> usize {
    count.saturating_mul(first.map_or(0, |ranked| ranked.keys.len()))
}

impl Partial {
    /// What it found goes elsewhere where it is much.
    pub fn leaving(self) -> Leaving<Self> {
        Leaving::new(self, |found| keys_of(found.hits.len(), found.hits.first()) > KEYS_FEW)
    }

    /// What all of these found goes elsewhere where it is much.
    pub fn all_leaving(all: Vec<(u32, Self)>) -> Leaving<Vec<(u32, Self)>> {
        Leaving::new(all, |all| {
            let keys = |found: &Self| keys_of(found.hits.len(), found.hits.first());
            all.iter().map(|(_, found)| keys(found)).sum::<usize>() > KEYS_FEW
        })
    }
}

/// A winner: one ranked document and the place of its shard among those asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Winner {
    /// Which of the shards asked, in their order.
    pub target: u32,
    /// The document.
    pub ranked: Ranked,
}

/// All slices of all shards together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Merged {
    /// The page, in order.
    pub winners: Vec<Winner>,
    /// How many match; absent where it was not asked for.
    pub total: Option<Total>,
    /// The best score; absent without hits or scores.
    pub max_score: Option<f32>,
    /// Asked for and reached (`true`) or not (`false`); absent where not asked for.
    pub terminated_early: Option<bool>,
    /// A deadline stopped a slice.
    pub timed_out: bool,
}

impl Merged {
    /// What it found goes elsewhere where it is much.
    pub fn leaving(self) -> Leaving<Self> {
        Leaving::new(self, |merged| {
            let first = merged.winners.first().map(|winner| &winner.ranked);
            keys_of(merged.winners.len(), first) > KEYS_FEW
        })
    }
}

/// A hit as it is printed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hit {
    /// Name of its index.
    pub index: String,
    /// Its id; absent with `stored_fields: _none_`.
    pub id: Option<String>,
    /// Its score; absent (null) where none was computed.
    pub score: Option<f32>,
    /// `_version`, where asked for.
    pub version: Option<u64>,
    /// `_seq_no`, where asked for.
    pub seq_no: Option<u64>,
    /// `_primary_term`, where asked for.
    pub primary_term: Option<u64>,
    /// `_routing`, where the document has one.
    pub routing: Option<String>,
    /// `_ignored`: fields whose values were passed over.
    pub ignored: Vec<String>,
    /// The document's JSON text, filtered; absent where not asked for.
    pub source: Option<Bytes>,
    /// `fields`: name and values, each as JSON text.
    pub fields: Vec<(String, Vec<String>)>,
    /// `ignored_field_values`: of fields that are asked for, the values that were passed over.
    pub ignored_values: Vec<(String, Vec<String>)>,
    /// `highlight`: name and fragments.
    pub highlight: Vec<(String, Vec<String>)>,
    /// Why it cannot be shown as it was asked for: its shard has failed.
    pub failed: Option<crate::Error>,
    /// `_nested`: where its object stands, of a hit inside another.
    pub nested: Option<json::Value>,
    /// Hits inside this one, by name.
    pub inner_hits: Vec<(Arc<str>, SearchResult)>,
    /// `matched_queries`.
    pub matched_queries: Vec<String>,
    /// The score of each of them, where it was asked for.
    pub matched_scores: Vec<f32>,
    /// `_shard` and `_node`, of a hit whose score is explained.
    pub place: Option<(String, String)>,
    /// Values it was ordered by.
    pub sort: Vec<Key>,
    /// How its score came about.
    pub explanation: Option<Explanation>,
}

/// How a score came about.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The number.
    pub value: Number,
    /// What it is.
    pub description: String,
    /// What it was made of.
    pub details: Vec<Explanation>,
}

/// A number of an explanation: counts print without a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A score or factor.
    Float(f32),
    /// A count.
    Count(u64),
}

/// What a search answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchResult {
    /// How many match; absent where it was not asked for.
    pub total: Option<Total>,
    /// The best score; absent (null) without hits or scores.
    pub max_score: Option<f32>,
    /// The page.
    pub hits: Vec<Hit>,
    /// What aggregations found; absent where none was asked for.
    pub aggs: Option<crate::aggs::shape::Answer>,
}

impl SearchResult {
    /// Its hits go elsewhere where they are many.
    pub fn leaving(self) -> Leaving<Self> {
        Leaving::new(self, |found| found.hits.len() > HITS_FEW)
    }
}

/// These, one after the other; the rest goes elsewhere where it is much, of which a few hundred are.
pub fn one_by_one<T: Send + 'static>(all: Vec<T>) -> Leaving<std::vec::IntoIter<T>> {
    Leaving::new(all.into_iter(), |rest| rest.len() > HITS_FEW)
}
