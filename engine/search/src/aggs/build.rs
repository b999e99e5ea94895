//! Aggregations that have met an index meet a segment: collectors.

use std::sync::Arc;

use segment::Segment;

use super::auto;
use super::bound::{BoundAgg, What};
use super::bucket::address::{ByAddress, Nets};
use super::bucket::census::Census;
use super::bucket::choose::{ByChance, Diversity, Everything, Lacking, Matching, Nobody};
use super::bucket::family::{Above, Below};
use super::bucket::filters::ByFilter;
use super::bucket::keyed::{Keyed, Keys, Shape};
use super::bucket::made::ByMade;
use super::bucket::matcher::Matcher;
use super::bucket::number::{ByRange, ByScale, Measure as Measured, Scale};
use super::bucket::sampler::Sampler;
use super::bucket::several::{Field, Page, Several, Step};
use super::bucket::single::{Choose, Single};
use super::bucket::span::{BySpan, Grid};
use super::bucket::terms::{ByNumber, ByTerm, Part};
use super::bucket::text::ByWord;
use super::collect::{AnyCollector, Group};
use super::cut::{self, BUCKETS_MAX};
use super::empty;
use super::hits::{Best, Metrics};
use super::measure::{Center, Measure, MeasureWords, Nothing, OfWords};
use super::metric::digest::{Digest, Hdr};
use super::metric::distinct::Distinct;
use super::metric::moments;
use super::pages;
use super::partial::GeoBounds;
use super::read::{Numbers, Terms, Words};
use super::rounding::Rounder;
use super::source::{Column, Missing as Absent, Source};
use super::spec::{CompositeKind, Kind, Method, Metric};
use super::together::{Samples, Several as Moments, Weighted};
use crate::iter::build::{self, Context};
use crate::iter::function::Trouble;
use crate::plan::weigh::Plan;

/// A segment of a plan.
#[derive(Clone)]
pub struct Place {
    /// The plan.
    pub plan: Arc<Plan>,
    /// Number of the segment in the view.
    pub number: usize,
    /// It holds all documents of its shard, and one slice reads them.
    pub alone: bool,
}

/// Collectors for aggregations side by side.
pub fn group(aggs: &[BoundAgg], place: &Place) -> Group {
    Group(aggs.iter().map(|agg| collector(agg, place)).collect())
}

impl Place {
    fn segment(&self) -> &Segment {
        &self.plan.view.segments[self.number].segment
    }

    fn matcher(&self, filter: usize) -> Matcher {
        let context = Context { segment: self.segment(), number: self.number };
        let node = self.plan.aggs.as_ref().map(|aggs| &aggs.filters[filter]);
        match node {
            Some(node) => Matcher::new(build::any_filter(node, context)),
            None => Matcher::new(Box::new(crate::iter::all::Nothing)),
        }
    }

    /// Buckets that an answer may have, and where it is told that there would be more.
    fn limit(&self) -> (usize, &Trouble) {
        let most = self.plan.bound.aggs.as_ref().map_or(BUCKETS_MAX, |aggs| aggs.buckets_max);
        (most, &self.plan.trouble)
    }

    fn numbers(&self, source: &Source) -> Numbers {
        Numbers::open(source, self.segment())
    }

    fn terms(&self, source: &Source) -> (Terms, Words) {
        (Terms::open(source, self.segment()), Words::open(source, self.segment()))
    }

    fn part(&self, source: &Source) -> Part {
        if source.form.is_bytes() || matches!(source.column, Column::Spans(_)) {
            return Part::Term(Box::new(self.terms(source)));
        }
        Part::Number(Box::new(self.numbers(source)))
    }
}

/// Nothing can be found here.
fn is_nowhere(source: &Source) -> bool {
    source.column == Column::None && source.missing.is_none()
}

/// A collector for one aggregation.
pub fn collector(agg: &BoundAgg, place: &Place) -> AnyCollector {
    let subs = || group(&agg.subs, place);
    let shape = || empty::shape(agg);
    match &agg.what {
        What::Metric(source) => metric(agg, source, place),
        What::Weighted(value, weight, format) => {
            let (value, weight) = (place.numbers(value), place.numbers(weight));
            Box::new(Weighted::new(value, weight, format.clone()))
        }
        What::Matrix(sources, mode, names) => {
            let fields = sources.iter().map(|source| place.numbers(source)).collect();
            Box::new(Moments::new(fields, *mode, Arc::clone(names)))
        }
        What::Samples(a, b, filters) => {
            let filters = filters.map(|filter| filter.map(|filter| place.matcher(filter)));
            Box::new(Samples::new(place.numbers(a), place.numbers(b), filters))
        }
        What::TopHits(order, limit) => {
            let number = place.number as u32;
            let plan = Arc::clone(&place.plan);
            Box::new(Best::new(plan, number, Arc::clone(order), *limit, None))
        }
        What::TopMetrics { order, format, metrics, size } => {
            let parts = metrics.iter().map(|one| (place.part(one), one.format.clone())).collect();
            let metrics = Metrics { parts, format: format.clone() };
            let number = place.number as u32;
            let plan = Arc::clone(&place.plan);
            Box::new(Best::new(plan, number, Arc::clone(order), *size, Some(metrics)))
        }
        What::Terms { source, choice, zero } => {
            let (choice, shape) = (choice.clone(), shape());
            if let (Column::Script(number), true) = (&source.column, source.form.is_bytes()) {
                let missing = match &source.missing {
                    Some(Absent::Bytes(word)) => Some(word.as_ref().into()),
                    _ => None,
                };
                return keyed(ByMade::new(*number, choice, missing), shape, subs());
            }
            if source.form.is_bytes() {
                let (terms, words) = place.terms(source);
                let free = choice.is_none() && source.missing.is_none() && !*zero;
                let keys = ByTerm::new(terms, words, choice, *zero)
                    .with_census(Census::of(source, place.segment()));
                let most = cut::most_of_shard(&agg.spec).filter(|_| place.alone && free);
                return Box::new(Keyed::new(keys, shape, subs()).with_most(most));
            }
            let windows = place.segment().doc_count().div_ceil(segment::columns::WINDOW);
            let all = zero.then_some(windows);
            keyed(ByNumber::new(place.numbers(source), choice, all), shape, subs())
        }
        What::Words { field, choice, paths, filter_duplicates } => {
            let segment = place.segment().clone();
            let keys = ByWord::new(
                segment,
                Arc::clone(field),
                choice.clone(),
                paths.clone(),
                *filter_duplicates,
            );
            keyed(keys, shape(), subs())
        }
        What::Width(source, interval, offset, hard) => {
            if let Column::Spans(field) = source.column {
                let segment = place.segment();
                let grid = Grid::Width { interval: *interval, offset: *offset, hard: *hard };
                let keys = BySpan::new(segment, field, source.form, grid, place.limit());
                return keyed(keys, shape(), subs());
            }
            let scale = Scale::Width { interval: *interval, offset: *offset, hard: *hard };
            keyed(ByScale::new(place.numbers(source), scale), shape(), subs())
        }
        What::Time(source, rounding, hard, _) => {
            if let Column::Spans(field) = source.column {
                let segment = place.segment();
                let grid = Grid::Time(rounding.clone(), *hard);
                let keys = BySpan::new(segment, field, source.form, grid, place.limit());
                return keyed(keys, shape(), subs());
            }
            let rounder = Rounder::new(rounding.clone());
            keyed(ByScale::time(place.numbers(source), rounder, *hard), shape(), subs())
        }
        What::Values(source) => {
            keyed(ByScale::new(place.numbers(source), Scale::Value), shape(), subs())
        }
        What::Auto(source, zone) => {
            let Kind::AutoDateHistogram(auto) = &agg.spec.kind else { return nothing(agg) };
            let (numbers, zone, agg, place_of) =
                (place.numbers(source), zone.clone(), agg.clone(), place.clone());
            let source = source.clone();
            let build = move |step: usize| {
                let rounding = auto::rounding(step, zone);
                let bounds = (i64::MIN, i64::MAX);
                let shape = Shape { step, ..empty::shape(&agg) };
                let rounder = Rounder::new(rounding);
                let keys = ByScale::time(place_of.numbers(&source), rounder, bounds);
                keyed(keys, shape, group(&agg.subs, &place_of))
            };
            Box::new(auto::Late::new(numbers, auto.minimum, auto.buckets, Box::new(build)))
        }
        What::Ranges(source, ranges) => {
            let ends = ranges.iter().map(|(_, from, to)| (*from, *to)).collect();
            let keys = ByRange::new(place.numbers(source), Measured::Number, ends);
            keyed(keys, shape(), subs())
        }
        What::Distances(source, ranges) => {
            let Kind::GeoDistance(distance) = &agg.spec.kind else { return nothing(agg) };
            let measure = Measured::Distance {
                origin: distance.origin,
                metres: distance.unit_metres,
                plane: distance.plane,
            };
            let ends = ranges.iter().map(|(_, from, to)| (*from, *to)).collect();
            keyed(ByRange::new(place.numbers(source), measure, ends), shape(), subs())
        }
        What::Addresses(source) => {
            let (terms, words) = place.terms(source);
            let nets = match &agg.spec.kind {
                Kind::IpRange(range) => {
                    Nets::Ranges(range.ranges.iter().map(|one| (one.from, one.to)).collect())
                }
                Kind::IpPrefix(prefix) => {
                    Nets::Prefix { bits: prefix.length, is_ipv6: prefix.is_ipv6 }
                }
                _ => return nothing(agg),
            };
            keyed(ByAddress::new(terms, words, nets), shape(), subs())
        }
        What::Cells(source) => {
            let Kind::GeoGrid(grid) = &agg.spec.kind else { return nothing(agg) };
            let scale = match grid.tiles {
                true => Scale::GeoTile(grid.precision, grid.bounds),
                false => Scale::GeoHash(grid.precision, grid.bounds),
            };
            keyed(ByScale::new(place.numbers(source), scale), shape(), subs())
        }
        What::Several(sources) => {
            let field = |source: &Source| Field {
                part: place.part(source),
                step: Step::Same,
                missing: false,
            };
            let fields = sources.iter().map(field).collect();
            let zero =
                matches!(&agg.spec.kind, Kind::MultiTerms(terms) if terms.min_doc_count == 0);
            let all = if zero { place.segment().doc_count() } else { 0 };
            keyed(Several::new(fields, None, all), shape(), subs())
        }
        What::Pages(sources, roundings, after) => {
            let Kind::Composite(composite) = &agg.spec.kind else { return nothing(agg) };
            let fields = sources.iter().zip(roundings).zip(&composite.sources);
            let fields = fields
                .map(|((source, rounding), one)| Field {
                    part: place.part(source),
                    step: match (one.kind, rounding) {
                        (CompositeKind::Histogram(width), _) => Step::Width(width),
                        (CompositeKind::GeoTile(level), _) => Step::Tile(level),
                        (_, Some(rounding)) => Step::Time(Box::new(Rounder::new(rounding.clone()))),
                        _ => Step::Same,
                    },
                    missing: one.missing_bucket,
                })
                .collect();
            let (descending, missing_last) = pages::directions(composite);
            let size = composite.size as usize;
            let page = Page { descending, missing_last, after: after.clone(), size };
            keyed(Several::new(fields, Some(page), 0), shape(), subs())
        }
        What::Filters(filters) => {
            let matchers = filters.iter().map(|filter| place.matcher(*filter)).collect();
            let keys = match &agg.spec.kind {
                Kind::Filters(filters) => ByFilter::new(matchers, filters.other.is_some()),
                _ => ByFilter::pairs(matchers),
            };
            keyed(keys, shape(), subs())
        }
        What::Filter(filter) => single(Matching(place.matcher(*filter)), subs()),
        What::Lacking(source) => single(Lacking(place.part(source)), subs()),
        What::Everything => single(Everything, subs()),
        What::Below(path) => match (path, place.segment().parents()) {
            (Some((objects, level)), Some(parents)) => {
                let level = level.map(|level| place.matcher(level));
                single(Below::new(parents.clone(), place.matcher(*objects), level), subs())
            }
            _ => single(Nobody, subs()),
        },
        What::Above(level) => match (level, place.segment().parents()) {
            (Some(level), Some(parents)) => {
                let level = level.map(|level| place.matcher(level));
                single(Above::new(parents.clone(), level), subs())
            }
            _ => single(Nobody, subs()),
        },
        What::Sampler(source) => {
            let Kind::Sampler { shard_size, diversity } = &agg.spec.kind else {
                return nothing(agg);
            };
            let diversity = match (source, diversity) {
                (Some(source), Some((_, most))) => {
                    Some(Diversity { part: place.part(source), most: *most })
                }
                _ => None,
            };
            Box::new(Sampler::new(*shard_size as usize, diversity, subs()))
        }
        What::Chance { seed, by } => {
            let Kind::RandomSampler { probability, .. } = agg.spec.kind else {
                return nothing(agg);
            };
            let (seed, base) = (*seed, place.plan.view.segments[place.number].base);
            let by = by.as_ref().map(|source| place.part(source));
            single(ByChance { probability, seed, base, by }, subs())
        }
    }
}

fn keyed<K: Keys + 'static>(keys: K, shape: Shape, subs: Group) -> AnyCollector {
    Box::new(Keyed::new(keys, shape, subs))
}

fn single<C: Choose + 'static>(choose: C, subs: Group) -> AnyCollector {
    Box::new(Single::new(choose, subs))
}

fn nothing(agg: &BoundAgg) -> AnyCollector {
    Box::new(Nothing(empty::of(agg)))
}

fn metric(agg: &BoundAgg, source: &Source, place: &Place) -> AnyCollector {
    let Kind::Metric(metric, _) = &agg.spec.kind else { return nothing(agg) };
    if is_nowhere(source) {
        return nothing(agg);
    }
    let format = source.format.clone();
    if source.form.is_bytes() || matches!(source.column, Column::Spans(_)) {
        let (terms, words) = place.terms(source);
        let what = match metric {
            Metric::Cardinality { precision } => OfWords::Distinct(*precision),
            Metric::StringStats { .. } => OfWords::Strings,
            _ => OfWords::Count,
        };
        return Box::new(MeasureWords::new(terms, words, what, format));
    }
    let numbers = place.numbers(source);
    match metric {
        Metric::Cardinality { precision } => {
            Box::new(Measure::new(numbers, format, Distinct::new(*precision)))
        }
        Metric::Percentiles { method, .. } | Metric::PercentileRanks { method, .. } => match method
        {
            Method::TDigest(compression) => {
                Box::new(Measure::new(numbers, format, Digest::new(*compression)))
            }
            Method::Hdr(digits) => Box::new(Measure::new(numbers, format, Hdr::new(*digits))),
        },
        Metric::MedianAbsoluteDeviation { compression } | Metric::Boxplot { compression } => {
            Box::new(Measure::new(numbers, format, Digest::new(*compression)))
        }
        Metric::GeoBounds { .. } => Box::new(Measure::new(numbers, format, GeoBounds::default())),
        Metric::GeoCentroid => Box::new(Measure::new(numbers, format, Center::default())),
        _ => Box::new(Measure::new(numbers, format, moments::Moments::default())),
    }
}
