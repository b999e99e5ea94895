//! Merging what segments, slices and shards found.
//!
//! Three stages: partials of one shard are merged whole ([`merge`]); a shard is cut to what it
//! would send (`cut`: Elasticsearch's `shard_size`, and how wrong counts may be because of it);
//! shards are merged, and the last reduction orders and cuts for good (`last`).

use std::cmp::Ordering;

use super::joining::Joining;
use super::partial::{Bucket, Buckets, Key, KeyKind, Partial, TopHits};
use super::spec::{Agg, Kind};
use crate::error::{Error, Kind as ErrorKind, Result};
use crate::phase::compare_winners;

/// Puts buckets in the order of their keys, and joins those of one key.
pub fn sort_by_key(list: &mut Vec<Bucket>) {
    list.sort_by(|a, b| a.key.compare(&b.key));
    if list.windows(2).all(|pair| pair[0].key != pair[1].key) {
        return;
    }
    let mut joined: Vec<Bucket> = Vec::with_capacity(list.len());
    for bucket in list.drain(..) {
        match joined.last_mut() {
            Some(last) if last.key == bucket.key => {
                // Partials below are of one segment here: a failure to merge cannot be.
                let _ = join(None, last, bucket);
            }
            _ => joined.push(bucket),
        }
    }
    *list = joined;
}

/// Adds a bucket to another of the same key.
///
/// # Errors
/// Where a field has different types in different indices.
pub fn join(agg: Option<&Agg>, into: &mut Bucket, from: Bucket) -> Result<()> {
    into.count += from.count;
    into.error += from.error;
    into.background += from.background;
    if into.extra != (0.0, 0.0) || from.extra != (0.0, 0.0) {
        into.extra = (into.extra.0.min(from.extra.0), into.extra.1.max(from.extra.1));
    }
    if into.subs.is_empty() {
        into.subs = from.subs;
        return Ok(());
    }
    for (at, (into, from)) in into.subs.iter_mut().zip(from.subs).enumerate() {
        merge(agg.and_then(|agg| agg.subs.aggs.get(at)), into, from)?;
    }
    Ok(())
}

/// Adds a bucket to another of a near key: buckets of variable width, coarser times.
pub fn absorb(agg: &Agg, into: &mut Bucket, from: Bucket) -> Result<()> {
    join(Some(agg), into, from)
}

/// Adds a partial to another of the same aggregation.
///
/// # Errors
/// Where a field has different types in different indices.
pub fn merge(agg: Option<&Agg>, into: &mut Partial, from: Partial) -> Result<()> {
    match (into, from) {
        (Partial::Moments(a, format), Partial::Moments(b, other)) => {
            if a.count == 0 {
                *format = other;
            }
            a.merge(&b);
        }
        (Partial::Distinct(a), Partial::Distinct(b)) => a.absorb(b),
        (Partial::Digest(a, format), Partial::Digest(b, other)) => {
            if a.count() == 0 {
                *format = other;
            }
            a.merge(&b);
        }
        (Partial::Hdr(a, format), Partial::Hdr(b, other)) => {
            if a.count() == 0 {
                *format = other;
            }
            a.merge(&b);
        }
        (
            Partial::Weighted { sum, weight, .. },
            Partial::Weighted { sum: other_sum, weight: other_weight, .. },
        ) => {
            sum.merge(other_sum);
            weight.merge(other_weight);
        }
        (Partial::Strings(a), Partial::Strings(b)) => a.merge(&b),
        (Partial::Bounds(a), Partial::Bounds(b)) => a.merge(&b),
        (Partial::Centroid(lat, lon, count), Partial::Centroid(other_lat, other_lon, n)) => {
            lat.merge(other_lat);
            lon.merge(other_lon);
            *count += n;
        }
        (Partial::Matrix(a, names), Partial::Matrix(b, other)) => {
            if a.count == 0 {
                (*a, *names) = (b, other);
            } else if *names == other {
                a.merge(&b);
            }
        }
        (Partial::Samples(a), Partial::Samples(b)) => {
            for (a, b) in a.iter_mut().zip(b.iter()) {
                a.merge(b);
            }
        }
        (Partial::TopHits(a), Partial::TopHits(b)) => merge_hits(agg, a, b),
        (Partial::TopMetrics(a), Partial::TopMetrics(b)) => {
            let Some(Kind::TopMetrics(top)) = agg.map(|agg| &agg.kind) else {
                a.extend(b);
                return Ok(());
            };
            a.extend(b);
            a.sort_by(|x, y| crate::phase::compare_keys(&top.sort[0], &x.sort, &y.sort));
            a.truncate(top.size as usize);
        }
        (Partial::Single(a), Partial::Single(b)) => join(agg, a, *b)?,
        (Partial::Buckets(a), Partial::Buckets(b)) => merge_buckets(agg, a, *b)?,
        (into, from) => {
            debug_assert!(false, "partials of one aggregation: {into:?} {from:?}");
        }
    }
    Ok(())
}

fn merge_hits(agg: Option<&Agg>, into: &mut TopHits, from: TopHits) {
    into.total += from.total;
    into.max_score = into.max_score.max(from.max_score);
    into.hits.extend(from.hits);
    let Some(Kind::TopHits(request)) = agg.map(|agg| &agg.kind) else { return };
    let by_score = request.sorts_by_score();
    into.hits.sort_by(|a, b| compare_winners(request, by_score, true, a, b));
    into.hits.truncate(request.window());
}

fn merge_buckets(agg: Option<&Agg>, into: &mut Buckets, from: Buckets) -> Result<()> {
    let list = std::mem::take(&mut into.list);
    let known = Buckets { list, ..into.clone() };
    let mut joining = Joining::new(agg, Some(known), from)?;
    while joining.step(agg)? {}
    *into = joining.finish();
    Ok(())
}

/// Joins all of two partials but their lists of buckets, whose keys are of one kind after it.
///
/// # Errors
/// Where a field has different types in different indices.
pub fn join_heads(agg: Option<&Agg>, into: &mut Buckets, from: &mut Buckets) -> Result<()> {
    if into.kind == KeyKind::Unmapped || (into.list.is_empty() && from.kind != KeyKind::Unmapped) {
        into.kind = from.kind;
        into.formats.clone_from(&from.formats);
        into.empty.clone_from(&from.empty);
    }
    if from.kind != into.kind && from.kind != KeyKind::Unmapped {
        unify(agg, into, from)?;
    }
    into.other += from.other;
    into.shards += from.shards;
    into.error = if into.error < 0 || from.error < 0 { -1 } else { into.error + from.error };
    into.totals = (into.totals.0 + from.totals.0, into.totals.1 + from.totals.1);
    if into.step != from.step
        && let Some(agg) = agg
    {
        super::auto::same_step(agg, into, from)?;
    }
    Ok(())
}

/// The order in which the buckets of an aggregation stand.
pub fn order(agg: Option<&Agg>, a: &Key, b: &Key) -> Ordering {
    match agg.map(|agg| &agg.kind) {
        Some(Kind::Composite(composite)) => super::pages::compare(composite, a, b),
        _ => a.compare(b),
    }
}

/// Keys of two kinds become those of one: numbers become doubles, words and numbers do not mix.
fn unify(agg: Option<&Agg>, into: &mut Buckets, from: &mut Buckets) -> Result<()> {
    let numeric = |kind| matches!(kind, KeyKind::Long | KeyKind::Unsigned | KeyKind::Double);
    if !numeric(into.kind) || !numeric(from.kind) {
        if into.list.is_empty() || from.list.is_empty() {
            return Ok(());
        }
        let name = agg.map_or("", |agg| agg.name.as_str());
        return Err(Error::new(
            ErrorKind::AggregationExecution,
            format!(
                "Merging/Reducing the aggregations failed when computing the aggregation [{name}] \
                 because the field you gave in the aggregation query existed as two different \
                 types in two different indices"
            ),
        ));
    }
    for buckets in [&mut *into, from] {
        for bucket in &mut buckets.list {
            if let Some(number) = bucket.key.number() {
                bucket.key = Key::Double(number);
            }
        }
        buckets.kind = KeyKind::Double;
    }
    Ok(())
}
