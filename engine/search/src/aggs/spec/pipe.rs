//! Aggregations over results, as they were asked.

use script::Context;

use crate::ast::{EachScript, Script};
use crate::request::Order;

/// An aggregation over results.
#[derive(Clone, Debug, PartialEq)]
pub struct Pipe {
    /// Its name.
    pub name: String,
    /// What it does.
    pub kind: PipeKind,
    /// Where its numbers stand.
    pub path: String,
    /// What a gap is.
    pub gaps: Gaps,
    /// How it is printed.
    pub format: Option<String>,
    /// Echoed.
    pub meta: Option<json::Value>,
}

/// What a gap is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Gaps {
    /// No number.
    #[default]
    Skip,
    /// Zero.
    InsertZeros,
    /// What it is, where it is a number.
    KeepValues,
}

/// What a pipeline does.
#[derive(Clone, Debug, PartialEq)]
pub enum PipeKind {
    /// Mean over buckets.
    AvgBucket,
    /// Sum over buckets.
    SumBucket,
    /// Least of buckets.
    MinBucket,
    /// Greatest of buckets.
    MaxBucket,
    /// Count, min, max, mean, sum of buckets.
    StatsBucket,
    /// And squares.
    ExtendedStatsBucket {
        /// Width of the bounds.
        sigma: f64,
    },
    /// Percentiles of buckets.
    PercentilesBucket {
        /// Per cents.
        percents: Vec<f64>,
        /// As an object.
        keyed: bool,
    },
    /// Change from the bucket before.
    Derivative {
        /// Also by this time, in milliseconds.
        unit_ms: Option<i64>,
    },
    /// Sum so far.
    CumulativeSum,
    /// Distinct values so far.
    CumulativeCardinality,
    /// Difference from some buckets before.
    SerialDiff {
        /// How many.
        lag: u32,
    },
    /// A function of a window.
    MovingFn {
        /// Buckets of the window.
        window: u32,
        /// Moves it.
        shift: i32,
        /// Which function.
        function: MovingFn,
    },
    /// What a script makes of a window.
    MovingScript {
        /// Buckets of the window.
        window: u32,
        /// Moves it.
        shift: i32,
        /// The script.
        script: Box<Script>,
    },
    /// A number that a script makes of others.
    BucketScript(Box<BucketScript>),
    /// Keeps the buckets for which a script says yes.
    BucketSelector(Box<BucketScript>),
    /// Percentiles of a window.
    MovingPercentiles {
        /// Buckets of the window.
        window: u32,
        /// Moves it.
        shift: i32,
    },
    /// Orders and cuts buckets.
    BucketSort {
        /// By what.
        sort: Vec<(String, Order)>,
        /// Passed over.
        from: u32,
        /// Kept.
        size: Option<u32>,
    },
    /// All scaled.
    Normalize(Scale),
}

/// A script over numbers of a bucket.
#[derive(Clone, Debug, PartialEq)]
pub struct BucketScript {
    /// The script.
    pub script: Script,
    /// Names of its parameters, and the paths of the numbers that they hold.
    pub paths: Vec<(String, String)>,
}

/// Built-in functions of a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MovingFn {
    /// Greatest.
    Max,
    /// Least.
    Min,
    /// All added.
    Sum,
    /// Deviation from the mean.
    StdDev,
    /// Mean.
    Unweighted,
    /// Mean by age.
    Linear,
    /// Exponential.
    Ewma(f64),
    /// With a trend.
    Holt(f64, f64),
    /// With a season: alpha, beta, gamma, period, multiplicative.
    HoltWinters(f64, f64, f64, u32, bool),
}

/// How values are scaled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// To 0..1.
    Rescale01,
    /// To 0..100.
    Rescale0100,
    /// By the sum.
    PercentOfSum,
    /// By distance from the mean.
    Mean,
    /// By deviation.
    ZScore,
    /// Exponentials by their sum.
    Softmax,
}

impl PipeKind {
    /// The name by which it was asked for.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::AvgBucket => "avg_bucket",
            Self::SumBucket => "sum_bucket",
            Self::MinBucket => "min_bucket",
            Self::MaxBucket => "max_bucket",
            Self::StatsBucket => "stats_bucket",
            Self::ExtendedStatsBucket { .. } => "extended_stats_bucket",
            Self::PercentilesBucket { .. } => "percentiles_bucket",
            Self::Derivative { .. } => "derivative",
            Self::CumulativeSum => "cumulative_sum",
            Self::CumulativeCardinality => "cumulative_cardinality",
            Self::SerialDiff { .. } => "serial_diff",
            Self::MovingFn { .. } | Self::MovingScript { .. } => "moving_fn",
            Self::BucketScript(_) => "bucket_script",
            Self::BucketSelector(_) => "bucket_selector",
            Self::MovingPercentiles { .. } => "moving_percentiles",
            Self::BucketSort { .. } => "bucket_sort",
            Self::Normalize(_) => "normalize",
        }
    }

    /// It stands beside the buckets it reads; else inside of them.
    pub fn is_sibling(&self) -> bool {
        matches!(
            self,
            Self::AvgBucket
                | Self::SumBucket
                | Self::MinBucket
                | Self::MaxBucket
                | Self::StatsBucket
                | Self::ExtendedStatsBucket { .. }
                | Self::PercentilesBucket { .. }
        )
    }
}

impl Pipe {
    /// The paths of all numbers that it reads.
    pub fn paths(&self) -> Vec<&str> {
        match &self.kind {
            PipeKind::BucketScript(of) | PipeKind::BucketSelector(of) => {
                of.paths.iter().map(|(_, path)| path.as_str()).collect()
            }
            _ => vec![self.path.as_str()],
        }
    }

    /// It runs a script.
    pub fn is_scripted(&self) -> bool {
        matches!(
            self.kind,
            PipeKind::BucketScript(_) | PipeKind::BucketSelector(_) | PipeKind::MovingScript { .. }
        )
    }

    /// Calls `each` for its script.
    pub fn scripts_mut(&mut self, each: EachScript<'_>) {
        match &mut self.kind {
            PipeKind::BucketScript(of) => each(&mut of.script, &Context::BUCKET_AGGREGATION),
            PipeKind::BucketSelector(of) => each(&mut of.script, &Context::BUCKET_SELECTOR),
            PipeKind::MovingScript { script, .. } => each(script, &Context::MOVING_FUNCTION),
            _ => {}
        }
    }
}
