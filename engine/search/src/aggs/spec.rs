//! Aggregations as they were asked: names, not yet columns; no index has been looked at.
//!
//! Always true
//! 1. A name holds none of `[`, `]`, `>`.
//! 2. Numbers that have bounds lie within them: `dsl::aggs` checks what needs no index.
//!
//! Not here: reading JSON (`dsl::aggs`), meeting an index (`bind`).

mod names;
mod pipe;

pub use pipe::{BucketScript, Gaps, MovingFn, Pipe, PipeKind, Scale};

use std::sync::Arc;

use crate::ast::{Query, Scalar, Script};
use crate::request::{Order, SearchRequest, Sort};

/// Aggregations side by side, and the pipelines that read them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Aggs {
    /// What reads documents.
    pub aggs: Vec<Agg>,
    /// What reads results.
    pub pipes: Vec<Pipe>,
}

impl Aggs {
    /// Nothing was asked.
    pub fn is_empty(&self) -> bool {
        self.aggs.is_empty() && self.pipes.is_empty()
    }
}

/// One aggregation.
#[derive(Clone, Debug, PartialEq)]
pub struct Agg {
    /// Its name.
    pub name: String,
    /// What it does.
    pub kind: Kind,
    /// Echoed.
    pub meta: Option<json::Value>,
    /// What is made of each of its buckets.
    pub subs: Aggs,
}

/// Where values come from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values {
    /// The field; empty where none was named.
    pub field: String,
    /// Stands for no value.
    pub missing: Option<Scalar>,
    /// How values are printed.
    pub format: Option<String>,
    /// In which zone dates are read and printed.
    pub time_zone: Option<String>,
    /// What values are where no index maps the field.
    pub value_type: Option<String>,
    /// Makes the values, or changes those of the field.
    pub script: Option<Box<Script>>,
}

/// What an aggregation does.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A number or a few of all values.
    Metric(Metric, Values),
    /// A mean by weight.
    WeightedAvg {
        /// What is averaged.
        value: Values,
        /// How much each counts.
        weight: Values,
        /// How it is printed.
        format: Option<String>,
    },
    /// The best documents.
    TopHits(Arc<SearchRequest>),
    /// Values of the documents that come first.
    TopMetrics(TopMetrics),
    /// Moments of several fields and how they hang together.
    MatrixStats {
        /// The fields.
        fields: Vec<String>,
        /// Stand for no value.
        missing: Vec<(String, f64)>,
        /// Which of several values counts.
        mode: crate::request::Mode,
    },
    /// Student's test of two samples.
    TTest(Box<TTest>),
    /// A bucket for each value.
    Terms(Box<Terms>),
    /// A bucket for each rare value.
    RareTerms(Box<RareTerms>),
    /// Values that are more frequent here than elsewhere.
    Significant(Box<Significant>),
    /// A bucket for each combination of values.
    MultiTerms(Box<MultiTerms>),
    /// Buckets of equal width.
    Histogram(Box<Histogram>),
    /// Buckets of equal time.
    DateHistogram(Box<DateHistogram>),
    /// At most so many buckets of equal time.
    AutoDateHistogram(Box<AutoDateHistogram>),
    /// Buckets that lie where the values lie.
    VariableWidth {
        /// The values.
        values: Values,
        /// Buckets at most.
        buckets: u32,
        /// Buckets of a shard.
        shard_size: u32,
        /// Documents seen before buckets are made.
        initial_buffer: u32,
    },
    /// Buckets between numbers.
    Range(Box<Range>),
    /// Buckets between addresses.
    IpRange(Box<IpRange>),
    /// Buckets of networks.
    IpPrefix(Box<IpPrefix>),
    /// Buckets by distance.
    GeoDistance(Box<GeoDistance>),
    /// Cells of a grid.
    GeoGrid(Box<GeoGrid>),
    /// Documents that match.
    Filter(Box<Query>),
    /// Documents that match each of several.
    Filters(Box<Filters>),
    /// Documents that match each pair of several.
    Adjacency {
        /// Names and filters, by name.
        filters: Vec<(String, Query)>,
        /// Stands between two names.
        separator: String,
    },
    /// Documents without a value.
    Missing(Values),
    /// All documents, whatever the query.
    Global,
    /// The objects below a document.
    Nested(String),
    /// The documents above an object.
    ReverseNested(Option<String>),
    /// The best documents of each shard.
    Sampler {
        /// So many.
        shard_size: u32,
        /// No more than so many for each value.
        diversity: Option<(Values, u32)>,
    },
    /// Documents by chance.
    RandomSampler {
        /// How likely each is taken.
        probability: f64,
        /// What chance begins with.
        seed: i32,
    },
    /// Combinations of values, page by page.
    Composite(Box<Composite>),
}

impl Kind {
    /// The values of those kinds that scripts may make.
    pub fn values_mut(&mut self) -> Vec<&mut Values> {
        match self {
            Self::Metric(_, values) => vec![values],
            Self::WeightedAvg { value, weight, .. } => vec![value, weight],
            Self::Terms(terms) => vec![&mut terms.values],
            Self::Histogram(histogram) => vec![&mut histogram.values],
            Self::DateHistogram(histogram) => vec![&mut histogram.values],
            Self::Range(range) => vec![&mut range.values],
            _ => Vec::new(),
        }
    }
}

/// One number or a few of all values of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum Metric {
    /// The mean.
    Avg,
    /// All added.
    Sum,
    /// The least.
    Min,
    /// The greatest.
    Max,
    /// How many.
    ValueCount,
    /// Count, min, max, mean, sum.
    Stats,
    /// And squares.
    ExtendedStats {
        /// Width of the bounds in deviations.
        sigma: f64,
    },
    /// How many different ones.
    Cardinality {
        /// Exact below this.
        precision: u32,
    },
    /// Values below which so many per cent lie.
    Percentiles {
        /// Per cents.
        percents: Vec<f64>,
        /// As an object.
        keyed: bool,
        /// How they are found.
        method: Method,
    },
    /// How many per cent lie below values.
    PercentileRanks {
        /// The values.
        values: Vec<f64>,
        /// As an object.
        keyed: bool,
        /// How they are found.
        method: Method,
    },
    /// Median of the distances from the median.
    MedianAbsoluteDeviation {
        /// Of the digest.
        compression: f64,
    },
    /// Quartiles and whiskers.
    Boxplot {
        /// Of the digest.
        compression: f64,
    },
    /// Lengths and entropy of strings.
    StringStats {
        /// Also how often each letter stands.
        show_distribution: bool,
    },
    /// The box around points.
    GeoBounds {
        /// It may cross the date line.
        wrap_longitude: bool,
    },
    /// The middle of points.
    GeoCentroid,
}

/// How percentiles are found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// By a digest of this compression.
    TDigest(f64),
    /// By a histogram of so many digits.
    Hdr(u8),
}

/// `top_metrics`.
#[derive(Clone, Debug, PartialEq)]
pub struct TopMetrics {
    /// Fields shown.
    pub metrics: Vec<Values>,
    /// What comes first.
    pub sort: Vec<Sort>,
    /// Documents shown.
    pub size: u32,
}

/// `t_test`.
#[derive(Clone, Debug, PartialEq)]
pub struct TTest {
    /// One sample.
    pub a: (Values, Option<Query>),
    /// The other.
    pub b: (Values, Option<Query>),
    /// Which test.
    pub kind: TTestKind,
    /// Tails of the distribution.
    pub tails: u8,
}

/// Which test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TTestKind {
    /// Pairs of values of one document.
    Paired,
    /// Equal variances.
    Homoscedastic,
    /// Any variances.
    Heteroscedastic,
}

/// By what buckets are ordered.
#[derive(Clone, Debug, PartialEq)]
pub enum OrderBy {
    /// Documents.
    Count,
    /// Key.
    Key,
    /// An aggregation below: the path.
    Path(String),
}

/// Keys of an order; the first decides.
pub type BucketOrder = Vec<(OrderBy, Order)>;

/// Which terms count.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IncludeExclude {
    /// Only these.
    pub include: Option<TermSet>,
    /// Not these.
    pub exclude: Option<TermSet>,
    /// Only this part of so many, by hash.
    pub partition: Option<(u32, u32)>,
}

/// Terms by list or by expression.
#[derive(Clone, Debug, PartialEq)]
pub enum TermSet {
    /// An expression.
    Regexp(String),
    /// These.
    List(Vec<String>),
}

/// `terms`.
#[derive(Clone, Debug, PartialEq)]
pub struct Terms {
    /// The values.
    pub values: Values,
    /// Buckets wanted.
    pub size: u32,
    /// Buckets of each shard.
    pub shard_size: Option<u32>,
    /// Their order.
    pub order: BucketOrder,
    /// Documents that a bucket must have.
    pub min_doc_count: u64,
    /// Documents that it must have on its shard.
    pub shard_min_doc_count: u64,
    /// Which terms.
    pub filter: IncludeExclude,
    /// Tell how wrong each count may be.
    pub show_error: bool,
}

/// `rare_terms`.
#[derive(Clone, Debug, PartialEq)]
pub struct RareTerms {
    /// The values.
    pub values: Values,
    /// Documents that a term has at most.
    pub max_doc_count: u64,
    /// Which terms.
    pub filter: IncludeExclude,
}

/// `significant_terms` and `significant_text`.
#[derive(Clone, Debug, PartialEq)]
pub struct Significant {
    /// The values.
    pub values: Values,
    /// They are words of a text.
    pub text: bool,
    /// Fields of the source that the text is read from; empty: its own.
    pub source_fields: Vec<String>,
    /// Passages seen before do not count again.
    pub filter_duplicates: bool,
    /// Buckets wanted.
    pub size: u32,
    /// Buckets of each shard.
    pub shard_size: Option<u32>,
    /// Documents that a bucket must have.
    pub min_doc_count: u64,
    /// Documents that it must have on its shard.
    pub shard_min_doc_count: u64,
    /// Which terms.
    pub filter: IncludeExclude,
    /// What "elsewhere" is; all documents where absent.
    pub background: Option<Query>,
    /// How it is judged.
    pub heuristic: Heuristic,
}

/// How significance is judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Heuristic {
    /// Absolute times relative change.
    Jlh,
    /// Mutual information.
    MutualInformation {
        /// Also those more frequent elsewhere.
        include_negatives: bool,
        /// Elsewhere includes here.
        superset: bool,
    },
    /// Chi square.
    ChiSquare {
        /// Also those more frequent elsewhere.
        include_negatives: bool,
        /// Elsewhere includes here.
        superset: bool,
    },
    /// Normalised distance.
    Gnd {
        /// Elsewhere includes here.
        superset: bool,
    },
    /// Here by elsewhere.
    Percentage,
}

/// `multi_terms`.
#[derive(Clone, Debug, PartialEq)]
pub struct MultiTerms {
    /// The fields.
    pub terms: Vec<Values>,
    /// Buckets wanted.
    pub size: u32,
    /// Buckets of each shard.
    pub shard_size: Option<u32>,
    /// Their order.
    pub order: BucketOrder,
    /// Documents that a bucket must have.
    pub min_doc_count: u64,
    /// Documents that it must have on its shard.
    pub shard_min_doc_count: u64,
    /// Tell how wrong each count may be.
    pub show_error: bool,
}

/// Two ends, each as it was given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ends<T> {
    /// Lower end.
    pub min: Option<T>,
    /// Upper end.
    pub max: Option<T>,
}

/// `histogram`.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// The values.
    pub values: Values,
    /// Width of a bucket.
    pub interval: f64,
    /// Where buckets begin.
    pub offset: f64,
    /// Their order.
    pub order: BucketOrder,
    /// As an object.
    pub keyed: bool,
    /// Documents that a bucket must have.
    pub min_doc_count: u64,
    /// Buckets at least between these.
    pub extended: Ends<f64>,
    /// Buckets at most between these.
    pub hard: Ends<f64>,
}

/// Length of a bucket of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interval {
    /// On the calendar.
    Calendar(Unit),
    /// So many milliseconds.
    Fixed(i64),
}

/// A unit of the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Of a clock.
    Second,
    /// Of a clock.
    Minute,
    /// Of a clock.
    Hour,
    /// From midnight.
    Day,
    /// From Monday.
    Week,
    /// From its first day.
    Month,
    /// Three months.
    Quarter,
    /// From January.
    Year,
}

/// `date_histogram`.
#[derive(Clone, Debug, PartialEq)]
pub struct DateHistogram {
    /// The values.
    pub values: Values,
    /// Length of a bucket.
    pub interval: Option<Interval>,
    /// Moves the beginnings, in milliseconds.
    pub offset_ms: i64,
    /// Their order.
    pub order: BucketOrder,
    /// As an object.
    pub keyed: bool,
    /// Documents that a bucket must have.
    pub min_doc_count: u64,
    /// Buckets at least between these.
    pub extended: Option<Ends<Scalar>>,
    /// Buckets at most between these.
    pub hard: Option<Ends<Scalar>>,
}

/// `auto_date_histogram`.
#[derive(Clone, Debug, PartialEq)]
pub struct AutoDateHistogram {
    /// The values.
    pub values: Values,
    /// Buckets at most.
    pub buckets: u32,
    /// Least length of a bucket: place in the list of roundings.
    pub minimum: usize,
}

/// One bucket of `range`, as it was given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RangeOf {
    /// Its name.
    pub key: Option<String>,
    /// Lower end.
    pub from: Option<Scalar>,
    /// Upper end.
    pub to: Option<Scalar>,
}

/// `range` and `date_range`.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// The values.
    pub values: Values,
    /// The buckets.
    pub ranges: Vec<RangeOf>,
    /// As an object.
    pub keyed: bool,
    /// `date_range`.
    pub dates: bool,
}

/// `ip_range`.
#[derive(Clone, Debug, PartialEq)]
pub struct IpRange {
    /// The values.
    pub values: Values,
    /// Names, ends as 16 bytes (the upper one outside), and as they are shown.
    pub ranges: Vec<IpRangeOf>,
    /// As an object.
    pub keyed: bool,
}

/// One bucket of `ip_range`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IpRangeOf {
    /// Its name.
    pub key: Option<String>,
    /// Lower end.
    pub from: Option<[u8; 16]>,
    /// Upper end, outside.
    pub to: Option<[u8; 16]>,
}

/// `ip_prefix`.
#[derive(Clone, Debug, PartialEq)]
pub struct IpPrefix {
    /// The values.
    pub values: Values,
    /// Bits of a network.
    pub length: u8,
    /// Addresses of 128 bits.
    pub is_ipv6: bool,
    /// Keys end with the length.
    pub append_length: bool,
    /// As an object.
    pub keyed: bool,
    /// Documents that a bucket must have.
    pub min_doc_count: u64,
}

/// `geo_distance`.
#[derive(Clone, Debug, PartialEq)]
pub struct GeoDistance {
    /// The points.
    pub values: Values,
    /// From where: latitude, longitude.
    pub origin: (f64, f64),
    /// The buckets.
    pub ranges: Vec<(Option<String>, Option<f64>, Option<f64>)>,
    /// Metres of a unit.
    pub unit_metres: f64,
    /// On the plane.
    pub plane: bool,
    /// As an object.
    pub keyed: bool,
}

/// `geohash_grid` and `geotile_grid`.
#[derive(Clone, Debug, PartialEq)]
pub struct GeoGrid {
    /// The points.
    pub values: Values,
    /// Tiles, else hashes.
    pub tiles: bool,
    /// How fine.
    pub precision: u8,
    /// Buckets wanted.
    pub size: u32,
    /// Buckets of each shard.
    pub shard_size: Option<u32>,
    /// Only inside of this box: top, left, bottom, right.
    pub bounds: Option<[f64; 4]>,
}

/// `filters`.
#[derive(Clone, Debug, PartialEq)]
pub struct Filters {
    /// Names and filters; names are empty where they were given as a list.
    pub filters: Vec<(String, Query)>,
    /// They have names.
    pub named: bool,
    /// Shown as an object.
    pub keyed: bool,
    /// Name of the bucket for the rest.
    pub other: Option<String>,
}

/// `composite`.
#[derive(Clone, Debug, PartialEq)]
pub struct Composite {
    /// Parts of the key.
    pub sources: Vec<CompositeSource>,
    /// Buckets of a page.
    pub size: u32,
    /// The last key of the page before; parallel to `sources`.
    pub after: Option<Vec<Option<Scalar>>>,
}

/// One part of the key.
#[derive(Clone, Debug, PartialEq)]
pub struct CompositeSource {
    /// Its name.
    pub name: String,
    /// The values.
    pub values: Values,
    /// How values become keys.
    pub kind: CompositeKind,
    /// Greatest first.
    pub descending: bool,
    /// Documents without a value count.
    pub missing_bucket: bool,
    /// They come first (`true`), last (`false`), or as the order says.
    pub missing_first: Option<bool>,
}

/// How values become keys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CompositeKind {
    /// As they are.
    Terms,
    /// By width.
    Histogram(f64),
    /// By time, moved by milliseconds.
    Date(Interval, i64),
    /// By tile.
    GeoTile(u8),
}
