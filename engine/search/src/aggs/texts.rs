//! Texts that a request says once and its answer tells in every bucket: names, formats, what is echoed, keys of ranges
//! and of filters.

use super::partial::{Bucket, Partial};
use super::spec::{Agg, Aggs, Kind};

/// Texts below this are in what a bucket is reckoned to take anyway.
const FREE_BYTES: usize = 256;

/// How many values a metric with several of them prints.
const VALUES: usize = 8;

/// About how many bytes of such texts the answer holds; nothing where none of them is long.
pub fn said_bytes(aggs: &Aggs, found: &[Partial]) -> usize {
    let said = Said::of(aggs);
    if said.longest() <= FREE_BYTES { 0 } else { said.bytes(found) }
}

/// How long the texts of aggregations side by side are: reckoned once, for however many buckets.
struct Said {
    /// Of those that are made of the others.
    pipes: usize,
    aggs: Vec<One>,
}

/// Of one of them.
struct One {
    /// Told once wherever it stands.
    own: usize,
    /// Told in each of its buckets.
    each: usize,
    subs: Said,
}

impl Said {
    fn of(aggs: &Aggs) -> Self {
        let one = |agg: &Agg| One { own: own(agg), each: each(agg), subs: Self::of(&agg.subs) };
        Self { pipes: of_pipes(aggs), aggs: aggs.aggs.iter().map(one).collect() }
    }

    fn longest(&self) -> usize {
        let of_each = self.aggs.iter().map(|one| one.own.max(one.each).max(one.subs.longest()));
        of_each.fold(self.pipes, usize::max)
    }

    fn bytes(&self, found: &[Partial]) -> usize {
        let of_each =
            self.aggs.iter().zip(found).map(|(one, partial)| one.own + one.inside(partial));
        of_each.fold(self.pipes, usize::saturating_add)
    }
}

impl One {
    fn inside(&self, partial: &Partial) -> usize {
        match partial {
            Partial::Single(bucket) => self.subs.bytes(&bucket.subs),
            Partial::Buckets(buckets) => {
                let bytes = |bucket: &Bucket| self.each + self.subs.bytes(&bucket.subs);
                buckets.list.iter().map(bytes).fold(0, usize::saturating_add)
            }
            _ => 0,
        }
    }
}

/// What is told once of an aggregation, wherever it stands.
fn own(agg: &Agg) -> usize {
    let keys = |names: &mut dyn Iterator<Item = &String>| names.map(String::len).sum::<usize>();
    let keys = match &agg.kind {
        Kind::Range(of) => keys(&mut of.ranges.iter().filter_map(|range| range.key.as_ref())),
        Kind::IpRange(of) => keys(&mut of.ranges.iter().filter_map(|range| range.key.as_ref())),
        Kind::GeoDistance(of) => keys(&mut of.ranges.iter().filter_map(|range| range.0.as_ref())),
        Kind::Filters(of) => keys(&mut of.filters.iter().map(|(name, _)| name).chain(&of.other)),
        // Each with each of the others.
        Kind::Adjacency { filters, .. } => {
            2 * filters.len() * keys(&mut filters.iter().map(|(name, _)| name))
        }
        Kind::Metric(..) => VALUES * format(agg),
        _ => 0,
    };
    agg.name.len() + agg.meta.as_ref().map_or(0, json::Value::held_bytes) + keys
}

/// What is told in each of its buckets.
fn each(agg: &Agg) -> usize {
    match &agg.kind {
        Kind::Composite(of) => {
            let parts = of.sources.iter();
            parts
                .map(|part| part.name.len() + part.values.format.as_ref().map_or(0, String::len))
                .sum()
        }
        _ => format(agg),
    }
}

fn format(agg: &Agg) -> usize {
    let format = agg.kind.values().and_then(|values| values.format.as_ref());
    format.map_or(0, String::len)
}

fn of_pipes(aggs: &Aggs) -> usize {
    let pipes = aggs.pipes.iter().map(|pipe| {
        let format = pipe.format.as_ref().map_or(0, String::len);
        pipe.name.len() + pipe.meta.as_ref().map_or(0, json::Value::held_bytes) + VALUES * format
    });
    pipes.sum()
}
