//! Aggregations that have met one index.

use std::sync::Arc;

use mapping::types::zone::Zone;

use super::choice::Choice;
use super::format::Format;
use super::partial::{Between, Key};
use super::rounding::Rounding;
use super::source::Source;
use super::spec::Agg;
use crate::plan::bound::Clause;
use crate::plan::order::Order;
use crate::request::Mode;
use crate::scripted::Bound as Scripted;

/// The aggregations of one request in one index.
#[derive(Clone, Debug, Default)]
pub struct BoundAggs {
    /// Those over what the query finds.
    pub aggs: Vec<BoundAgg>,
    /// Those over all documents: their places in the request.
    pub globals: Vec<usize>,
    /// Filters, by number.
    pub filters: Vec<Clause>,
    /// What the query finds, before `post_filter`.
    pub query: Option<Clause>,
    /// All documents that the caller may see; present where some aggregation is over all.
    pub all: Option<Clause>,
    /// Some aggregation needs scores.
    pub scores: bool,
    /// Scripts that make values, by number.
    pub scripts: Vec<AggScript>,
    /// Buckets that an answer may have (`search.max_buckets`).
    pub buckets_max: usize,
}

/// A script that makes values of an aggregation.
#[derive(Clone, Debug)]
pub struct AggScript {
    /// The script.
    pub script: Arc<Scripted>,
    /// The values that it changes; absent: it makes them of documents.
    pub before: Option<Source>,
    /// What it gives is taken as text.
    pub is_text: bool,
    /// `_value` is a whole number.
    pub is_long: bool,
}

/// One aggregation.
#[derive(Clone, Debug)]
pub struct BoundAgg {
    /// As it was asked.
    pub spec: Arc<Agg>,
    /// What it does here.
    pub what: What,
    /// What stands below.
    pub subs: Vec<BoundAgg>,
    /// The filter of what counts as elsewhere (significance), by number.
    pub background: Option<usize>,
}

/// What an aggregation does in one index.
#[derive(Clone, Debug)]
pub enum What {
    /// A metric over one field.
    Metric(Source),
    /// A mean by weight.
    Weighted(Source, Source, Format),
    /// Moments of several fields, those that the index maps, with their names.
    Matrix(Vec<Source>, Mode, Arc<[String]>),
    /// Two samples, each perhaps narrowed by a filter of that number.
    Samples(Source, Source, [Option<usize>; 2]),
    /// The best documents.
    TopHits(Arc<Order>, usize),
    /// Values of the documents that come first.
    TopMetrics {
        /// The order.
        order: Arc<Order>,
        /// How its key is printed.
        format: Format,
        /// The values.
        metrics: Vec<Source>,
        /// Documents.
        size: usize,
    },
    /// Buckets by value.
    Terms {
        /// The values.
        source: Source,
        /// Which count.
        choice: Option<Arc<Choice>>,
        /// Also those without documents.
        zero: bool,
    },
    /// Words of a text that are more frequent here.
    Words {
        /// The text's terms, read from `_source` again.
        field: Arc<mapping::Field>,
        /// Which count.
        choice: Option<Arc<Choice>>,
        /// Where the text stands in the source.
        paths: Vec<String>,
        /// Passages seen before do not count.
        filter_duplicates: bool,
    },
    /// Buckets by width.
    Width(Source, f64, f64, (f64, f64)),
    /// Buckets by time: between hard ends, at least between others.
    Time(Source, Rounding, (i64, i64), (Option<i64>, Option<i64>)),
    /// Each value its own bucket, joined later.
    Values(Source),
    /// Buckets by a time that is chosen by what is found.
    Auto(Source, Zone),
    /// Buckets by range, sorted.
    Ranges(Source, Arc<Vec<Between>>),
    /// Buckets by distance, sorted.
    Distances(Source, Arc<Vec<Between>>),
    /// Buckets by address.
    Addresses(Source),
    /// Cells.
    Cells(Source),
    /// Combinations of values.
    Several(Vec<Source>),
    /// Pages of combinations.
    Pages(Vec<Source>, Vec<Option<Rounding>>, Option<Key>),
    /// Filters by number.
    Filters(Vec<usize>),
    /// Documents that match the filter of that number.
    Filter(usize),
    /// Documents without a value.
    Lacking(Source),
    /// All documents.
    Everything,
    /// Objects below: their filter, and that of the level at hand; `None`: there are none.
    Below(Option<(usize, Option<usize>)>),
    /// Documents above: the filter of their level; `None` inside: the top; outside: there is none.
    Above(Option<Option<usize>>),
    /// The best.
    Sampler(Option<Source>),
    /// Some by chance.
    Chance {
        /// Makes chance another.
        seed: u64,
        /// What of a document decides; its place where there is none.
        by: Option<Source>,
    },
}
