//! What an aggregation found, in a form that can be merged: plain data that crosses cores.
//!
//! Always true
//! 1. Partials of one aggregation have one variant, whatever segment or index they come from.
//! 2. Buckets stand in the order of their keys, each key once, until the last reduction.

use std::cmp::Ordering;
use std::sync::Arc;

use base::number::Number;
use env::leftovers::Leaving;

use super::format::Format;
use super::metric::digest::{Digest, Hdr};
use super::metric::distinct::Distinct;
use super::metric::matrix::Matrix;
use super::metric::moments::{Kahan, Moments};
use super::metric::strings::Strings;
use crate::result::{Key as SortKey, Winner};

/// What one aggregation found.
#[derive(Clone, Debug, PartialEq)]
pub enum Partial {
    /// Of avg, sum, min, max, value_count, stats, extended_stats.
    Moments(Moments, Format),
    /// Different values.
    Distinct(Distinct),
    /// Percentiles by digest.
    Digest(Digest, Format),
    /// Percentiles by histogram.
    Hdr(Hdr, Format),
    /// A mean by weight.
    Weighted {
        /// Values times weights.
        sum: Kahan,
        /// Weights.
        weight: Kahan,
        /// How it is printed.
        format: Format,
    },
    /// Lengths and letters.
    Strings(Strings),
    /// The box around points: top, bottom, and the ends of both halves of the earth.
    Bounds(GeoBounds),
    /// Sums of latitudes and longitudes, and their count.
    Centroid(Kahan, Kahan, u64),
    /// Moments of several fields, and their names.
    Matrix(Matrix, Arc<[String]>),
    /// Two samples, and their differences where they are paired.
    Samples(Box<[Moments; 3]>),
    /// The best documents.
    TopHits(TopHits),
    /// Values of the documents that come first.
    TopMetrics(Vec<TopMetric>),
    /// One bucket.
    Single(Box<Bucket>),
    /// Buckets.
    Buckets(Box<Buckets>),
}

/// What the aggregations of a request found, one for each: not where others wait does much of it go.
pub type Partials = Leaving<Vec<Partial>>;

/// So many buckets and documents go in a moment: some 100 µs.
const FEW: usize = 512;

impl Partial {
    /// These, which go elsewhere where they are many.
    pub fn leaving(partials: Vec<Self>) -> Partials {
        Leaving::new(partials, |partials| !Self::are_within(partials, &mut { FEW }))
    }

    /// Takes what these hold from what is `left`; false where that is less. Looks no further than it must.
    fn are_within(partials: &[Self], left: &mut usize) -> bool {
        partials.iter().all(|partial| match partial {
            Self::Single(bucket) => bucket.is_within(left),
            Self::Buckets(buckets) => buckets.list.iter().all(|bucket| bucket.is_within(left)),
            Self::TopHits(top) => spend(left, top.hits.len()),
            Self::TopMetrics(best) => spend(left, best.len()),
            _ => spend(left, 1),
        })
    }
}

/// Takes `pieces` from what is `left`; false where that is less.
pub(super) fn spend(left: &mut usize, pieces: usize) -> bool {
    let rest = left.checked_sub(pieces);
    *left = rest.unwrap_or(0);
    rest.is_some()
}

/// The box around points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GeoBounds {
    /// Northernmost.
    pub top: f64,
    /// Southernmost.
    pub bottom: f64,
    /// Westernmost and easternmost of the east.
    pub east: (f64, f64),
    /// Westernmost and easternmost of the west.
    pub west: (f64, f64),
}

impl Default for GeoBounds {
    fn default() -> Self {
        const NONE: (f64, f64) = (f64::INFINITY, f64::NEG_INFINITY);
        Self { top: f64::NEG_INFINITY, bottom: f64::INFINITY, east: NONE, west: NONE }
    }
}

impl GeoBounds {
    /// Adds a point.
    pub fn add(&mut self, lat: f64, lon: f64) {
        self.top = self.top.max(lat);
        self.bottom = self.bottom.min(lat);
        let half = if lon >= 0.0 { &mut self.east } else { &mut self.west };
        *half = (half.0.min(lon), half.1.max(lon));
    }

    /// Adds another box.
    pub fn merge(&mut self, other: &Self) {
        self.top = self.top.max(other.top);
        self.bottom = self.bottom.min(other.bottom);
        for (half, theirs) in [(&mut self.east, other.east), (&mut self.west, other.west)] {
            *half = (half.0.min(theirs.0), half.1.max(theirs.1));
        }
    }

    /// Top, left, bottom, right; `None` without points.
    pub fn sides(&self, wrap: bool) -> Option<[f64; 4]> {
        if self.top == f64::NEG_INFINITY {
            return None;
        }
        let (east, west) = (self.east, self.west);
        let (left, right) = if east.0 > east.1 {
            west
        } else if west.0 > west.1 {
            east
        } else {
            // Across Greenwich, or across the date line where that is shorter.
            let plain = east.1 - west.0;
            let wrapped = 360.0 - east.0 + west.1;
            if wrap && wrapped < plain { (east.0, west.1) } else { (west.0, east.1) }
        };
        Some([self.top, left, self.bottom, right])
    }
}

/// The best documents of a bucket.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TopHits {
    /// Documents in the bucket.
    pub total: u64,
    /// Best score; NaN where none was computed.
    pub max_score: f32,
    /// The best, in order.
    pub hits: Vec<Winner>,
}

/// One document of `top_metrics`.
#[derive(Clone, Debug, PartialEq)]
pub struct TopMetric {
    /// What it was ordered by.
    pub sort: SortKey,
    /// How that is printed.
    pub format: Format,
    /// Its values.
    pub metrics: Vec<Option<(Key, Format)>>,
}

impl TopMetric {
    /// Bytes that one of so many metrics takes, but for texts.
    pub const fn bytes(metrics: usize) -> usize {
        size_of::<Self>() + metrics * size_of::<Option<(Key, Format)>>()
    }
}

/// Buckets of one aggregation.
#[derive(Clone, Debug, PartialEq)]
pub struct Buckets {
    /// What keys are.
    pub kind: KeyKind,
    /// How keys are printed; one for each part of a key.
    pub formats: Vec<Format>,
    /// The buckets.
    pub list: Vec<Bucket>,
    /// Documents in buckets that were cut off.
    pub other: u64,
    /// How many documents a bucket that was cut off on a shard may have had.
    pub error: i64,
    /// What stands in a bucket without documents.
    pub empty: Arc<Vec<Partial>>,
    /// Documents here and elsewhere (significance).
    pub totals: (u64, u64),
    /// Which of the steps of `auto_date_histogram`.
    pub step: usize,
    /// Shards that are in it.
    pub shards: u32,
    /// The key behind which the next page begins (composite).
    pub after: Option<Key>,
    /// Buckets of time reach at least from and to these.
    pub bounds: (Option<i64>, Option<i64>),
    /// What the places of ranges mean.
    pub ranges: Arc<Vec<Between>>,
}

/// A range: its name where one was given, its lower end, its upper end outside.
pub type Between = (Option<String>, f64, f64);

/// What the keys of buckets are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// The index does not map the field.
    Unmapped,
    /// Longs.
    Long,
    /// Longs without sign.
    Unsigned,
    /// Doubles.
    Double,
    /// Bytes.
    Bytes,
    /// Places of filters and ranges, parts of composite keys.
    Other,
}

/// One bucket.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bucket {
    /// Its key.
    pub key: Key,
    /// Documents.
    pub count: u64,
    /// How wrong that may be.
    pub error: i64,
    /// Documents elsewhere with the key (significance).
    pub background: u64,
    /// Significance; or least and greatest value of a bucket of variable width.
    pub extra: (f64, f64),
    /// What aggregations below found.
    pub subs: Vec<Partial>,
    /// What pipelines made of it, by their place.
    pub pipes: Vec<Option<Made>>,
}

impl Bucket {
    /// As [`Partial::are_within`].
    fn is_within(&self, left: &mut usize) -> bool {
        spend(left, 1 + self.pipes.len()) && Partial::are_within(&self.subs, left)
    }
}

/// How many results these are, with all in their buckets.
pub fn places(found: &[Partial]) -> usize {
    let one = |partial: &Partial| match partial {
        Partial::Single(bucket) => 1 + places(&bucket.subs),
        Partial::Buckets(buckets) => {
            let each = buckets.list.iter().map(|bucket| 1 + places(&bucket.subs));
            each.fold(1, usize::saturating_add)
        }
        _ => 1,
    };
    found.iter().map(one).fold(0, usize::saturating_add)
}

/// What a pipeline made.
#[derive(Clone, Debug, PartialEq)]
pub enum Made {
    /// A number, perhaps none, and its text.
    Value(f64, Option<String>),
    /// A number for each unit, beside it.
    Derivative(f64, Option<f64>, Option<String>),
    /// A number and the keys of the buckets that have it.
    Keyed(f64, Option<String>, Vec<String>),
    /// Moments.
    Stats(Moments, Format),
    /// Percentiles.
    Percentiles(Vec<(f64, f64)>, Format),
}

/// Key of a bucket.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Key {
    /// No value.
    #[default]
    Null,
    /// A long, a date, a boolean; place of a filter or range.
    Long(i64),
    /// A long without sign.
    Unsigned(u64),
    /// A double.
    Double(f64),
    /// A term, an address; buckets of several owners share it, and what is shown of them.
    Bytes(Arc<[u8]>),
    /// Several.
    List(Arc<[Key]>),
}

impl Key {
    /// What it takes beside itself.
    pub fn held_bytes(&self) -> usize {
        match self {
            Self::Null | Self::Long(_) | Self::Unsigned(_) | Self::Double(_) => 0,
            Self::Bytes(bytes) => bytes.len(),
            Self::List(keys) => keys.iter().map(|key| size_of::<Self>() + key.held_bytes()).sum(),
        }
    }

    /// Keys in a total order: no value first, numbers by value, then terms, then lists.
    pub fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Long(a), Self::Long(b)) => a.cmp(b),
            (Self::Unsigned(a), Self::Unsigned(b)) => a.cmp(b),
            (Self::Double(a), Self::Double(b)) => a.total_cmp(b),
            (Self::Bytes(a), Self::Bytes(b)) => a.cmp(b),
            (Self::List(a), Self::List(b)) => {
                let parts = a.iter().zip(b.iter()).map(|(a, b)| a.compare(b));
                parts.fold(Ordering::Equal, Ordering::then).then(a.len().cmp(&b.len()))
            }
            (a, b) => match (a.exact(), b.exact()) {
                (Some(a), Some(b)) => a.order(b),
                _ => a.rank().cmp(&b.rank()),
            },
        }
    }

    /// A number as it is.
    fn exact(&self) -> Option<Number> {
        match self {
            Self::Long(value) => Some(Number::Whole(i128::from(*value))),
            Self::Unsigned(value) => Some(Number::Whole(i128::from(*value))),
            Self::Double(value) => Some(Number::Real(*value)),
            Self::Null | Self::Bytes(_) | Self::List(_) => None,
        }
    }

    /// As a number.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Long(value) => Some(*value as f64),
            Self::Unsigned(value) => Some(*value as f64),
            Self::Double(value) => Some(*value),
            Self::Null | Self::Bytes(_) | Self::List(_) => None,
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Null => 0,
            Self::Long(_) | Self::Unsigned(_) | Self::Double(_) => 1,
            Self::Bytes(_) => 2,
            Self::List(_) => 3,
        }
    }
}
