//! What an aggregation finds where there are no documents.

use std::sync::Arc;

use super::bind::empties;
use super::bound::{BoundAgg, What};
use super::bucket::keyed::Shape;
use super::cut::too_many;
use super::format::Format;
use super::metric::digest::{Digest, Hdr};
use super::metric::distinct::Distinct;
use super::metric::matrix::Matrix;
use super::metric::moments::{Kahan, Moments};
use super::metric::strings::Strings;
use super::partial::{Bucket, GeoBounds, Key, KeyKind, Partial, TopHits};
use super::source::Source;
use super::spec::{Kind, Method, Metric};
use crate::error::Result;

/// Nothing found by `agg`.
pub fn of(agg: &BoundAgg) -> Partial {
    match (&agg.spec.kind, &agg.what) {
        (Kind::Metric(metric, _), What::Metric(source)) => of_metric(metric, &source.format),
        (_, What::Weighted(_, _, format)) => Partial::Weighted {
            sum: Kahan::default(),
            weight: Kahan::default(),
            format: format.clone(),
        },
        (_, What::Matrix(.., names)) => Partial::Matrix(Matrix::default(), Arc::clone(names)),
        (_, What::Samples(..)) => Partial::Samples(Default::default()),
        (_, What::TopHits(..)) => {
            Partial::TopHits(TopHits { max_score: f32::NAN, ..TopHits::default() })
        }
        (_, What::TopMetrics { .. }) => Partial::TopMetrics(Vec::new()),
        (kind, _) if kind.is_single() => {
            let subs = agg.subs.iter().map(of).collect();
            Partial::Single(Box::new(Bucket { subs, ..Bucket::default() }))
        }
        _ => Partial::Buckets(Box::new(shape(agg).none_with(always(agg)))),
    }
}

/// Refuses aggregations of which the buckets that are there without documents are more than `most`: an aggregation with
/// ranges in ranges would clone them, a million at a time, before any limit of what was found.
///
/// # Errors
/// There are too many.
pub fn check(aggs: &[BoundAgg], most: usize) -> Result<()> {
    match aggs.iter().all(|agg| count(agg) <= most) {
        true => aggs.iter().try_for_each(|agg| check(&agg.subs, most)),
        false => Err(too_many(most)),
    }
}

/// How many buckets [`of`] makes.
fn count(agg: &BoundAgg) -> usize {
    let below = agg.subs.iter().map(count).fold(1, usize::saturating_add);
    match agg.spec.kind.is_single() {
        true => below,
        false => below.saturating_mul(always(agg) as usize),
    }
}

/// Nothing found by a metric.
pub fn of_metric(metric: &Metric, format: &Format) -> Partial {
    match metric {
        Metric::Cardinality { precision } => Partial::Distinct(Distinct::new(*precision)),
        Metric::Percentiles { method, .. } | Metric::PercentileRanks { method, .. } => match method
        {
            Method::TDigest(compression) => {
                Partial::Digest(Digest::new(*compression), format.clone())
            }
            Method::Hdr(digits) => Partial::Hdr(Hdr::new(*digits), format.clone()),
        },
        Metric::MedianAbsoluteDeviation { compression } | Metric::Boxplot { compression } => {
            Partial::Digest(Digest::new(*compression), format.clone())
        }
        Metric::StringStats { .. } => Partial::Strings(Strings::default()),
        Metric::GeoBounds { .. } => Partial::Bounds(GeoBounds::default()),
        Metric::GeoCentroid => Partial::Centroid(Kahan::default(), Kahan::default(), 0),
        _ => Partial::Moments(Moments::default(), format.clone()),
    }
}

/// Places that have a bucket in any case.
fn always(agg: &BoundAgg) -> u32 {
    match (&agg.spec.kind, &agg.what) {
        (Kind::Filters(filters), _) => {
            filters.filters.len() as u32 + u32::from(filters.other.is_some())
        }
        (_, What::Ranges(_, ranges) | What::Distances(_, ranges)) => ranges.len() as u32,
        (Kind::IpRange(range), _) => range.ranges.len() as u32,
        _ => 0,
    }
}

/// What the buckets of an aggregation are.
pub fn shape(agg: &BoundAgg) -> Shape {
    let of_source = |source: &Source| {
        let kind = match source.mapped || source.missing.is_some() {
            true => source.form.key_kind(),
            false => KeyKind::Unmapped,
        };
        (kind, vec![source.format.clone()])
    };
    let (kind, formats) = match &agg.what {
        What::Terms { source, .. } => of_source(source),
        What::Width(source, ..) | What::Values(source) => {
            (KeyKind::Double, vec![source.format.clone()])
        }
        What::Time(source, rounding, ..) => {
            (KeyKind::Long, vec![in_zone(&source.format, &rounding.zone)])
        }
        What::Auto(source, zone) => (KeyKind::Long, vec![in_zone(&source.format, zone)]),
        What::Ranges(source, _) | What::Addresses(source) => {
            (KeyKind::Other, vec![source.format.clone()])
        }
        What::Cells(_) => (
            KeyKind::Long,
            vec![match &agg.spec.kind {
                Kind::GeoGrid(grid) if grid.tiles => Format::GeoTile,
                _ => Format::GeoHash,
            }],
        ),
        What::Several(sources) => {
            (KeyKind::Other, sources.iter().map(|source| source.format.clone()).collect())
        }
        What::Pages(sources, roundings, _) => {
            let formats = sources.iter().zip(roundings).zip(pages(&agg.spec.kind));
            let formats = formats.map(|((source, rounding), tile)| match (rounding, tile) {
                (_, true) => Format::GeoTile,
                (Some(rounding), _) => in_zone(&source.format, &rounding.zone),
                (None, _) => source.format.clone(),
            });
            (KeyKind::Other, formats.collect())
        }
        What::Words { .. } => (KeyKind::Bytes, vec![Format::Raw]),
        _ => (KeyKind::Other, vec![Format::Raw]),
    };
    Shape {
        kind,
        formats,
        empty: empties(agg),
        totals: matches!(agg.spec.kind, Kind::Significant(_)),
        elsewhere: 0,
        step: 0,
        bounds: match &agg.what {
            What::Time(_, _, _, bounds) => *bounds,
            _ => (None, None),
        },
        ranges: match &agg.what {
            What::Ranges(_, ranges) | What::Distances(_, ranges) => Arc::clone(ranges),
            _ => Arc::default(),
        },
    }
}

/// Which parts of composite keys are tiles.
fn pages(kind: &Kind) -> Vec<bool> {
    let Kind::Composite(composite) = kind else { return Vec::new() };
    let tile = |kind| matches!(kind, super::spec::CompositeKind::GeoTile(_));
    composite.sources.iter().map(|source| tile(source.kind)).collect()
}

/// Dates as the clock of a zone shows them. What is no date is printed as one where milliseconds
/// are keys.
fn in_zone(format: &Format, zone: &mapping::types::zone::Zone) -> Format {
    match format {
        Format::Date { format, .. } => {
            Format::Date { format: format.clone(), zone: zone.clone(), nanos: false }
        }
        other => other.clone(),
    }
}

impl Shape {
    /// Buckets without documents at the places 0 to below `count`.
    pub fn none_with(&self, count: u32) -> super::partial::Buckets {
        let mut buckets = self.none();
        buckets.list = (0..i64::from(count))
            .map(|place| Bucket {
                key: Key::Long(place),
                subs: self.empty.as_ref().clone(),
                ..Bucket::default()
            })
            .collect();
        buckets
    }
}
