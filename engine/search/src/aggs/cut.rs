//! What a shard keeps of its buckets, and the last reduction: order, gaps, sizes.

use std::cmp::Ordering;

use env::heap::left_by;
use mapping::types::zone::Zone;

use super::partial::{Bucket, Buckets, Key, KeyKind, Partial};
use super::rounding::Rounding;
use super::significance;
use super::spec::{Agg, Aggs, BucketOrder, DateHistogram, Histogram, Kind, OrderBy, RareTerms};
use super::{auto, pages, paths, reduce};
use crate::error::{Error, Kind as ErrorKind, Result};
use crate::request::Order;

/// `search.max_buckets` where the cluster says nothing.
pub const BUCKETS_MAX: usize = 65_536;

/// Buckets that a shard keeps of so many wanted, so that the best of all are among them.
fn suggested(size: u32) -> usize {
    (f64::from(size) * 1.5 + 10.0) as usize
}

fn shard_size(size: u32, given: Option<u32>, by_key: bool) -> usize {
    let least = size as usize;
    match given {
        Some(given) => (given as usize).max(least),
        None if by_key => least,
        None => suggested(size),
    }
}

/// The first key of the order is the bucket's own.
fn by_key(order: &BucketOrder) -> bool {
    matches!(order.first(), Some((OrderBy::Key, _)))
}

/// Buckets that a shard of one segment sends at most, where those of most documents come first, and among
/// equals those of the least key; `None` where that is not the order, or something is aggregated below.
pub fn most_of_shard(agg: &Agg) -> Option<usize> {
    let Kind::Terms(terms) = &agg.kind else { return None };
    let order = [(OrderBy::Count, Order::Descending), (OrderBy::Key, Order::Ascending)];
    let is_plain = terms.order == order && agg.subs.aggs.is_empty() && agg.subs.pipes.is_empty();
    is_plain.then(|| shard_size(terms.size, terms.shard_size, false))
}

/// Cuts what one shard found to what it would send.
pub fn shard(agg: &Agg, partial: &mut Partial) {
    match partial {
        Partial::Single(bucket) => below(&agg.subs, bucket),
        Partial::Buckets(buckets) => {
            buckets.shards = 1;
            match &agg.kind {
                Kind::Terms(terms) => {
                    let size = shard_size(terms.size, terms.shard_size, by_key(&terms.order));
                    let least = terms.shard_min_doc_count.min(terms.min_doc_count);
                    terms_of_shard(agg, buckets, &terms.order, size, least);
                }
                Kind::MultiTerms(terms) => {
                    let size = shard_size(terms.size, terms.shard_size, by_key(&terms.order));
                    let least = terms.shard_min_doc_count.min(terms.min_doc_count);
                    terms_of_shard(agg, buckets, &terms.order, size, least);
                }
                Kind::RareTerms(terms) => {
                    // What is frequent on one shard is frequent on all: it must be remembered, but
                    // nothing below it.
                    for bucket in &mut buckets.list {
                        if bucket.count > terms.max_doc_count {
                            bucket.subs = Vec::new();
                        }
                    }
                }
                Kind::Significant(sig) => {
                    significance::score(sig, buckets);
                    let least = sig.shard_min_doc_count;
                    buckets.list.retain(|bucket| bucket.count >= least);
                    let size = shard_size(sig.size, sig.shard_size, false) * 2;
                    best(&mut buckets.list, size, significance::order);
                }
                Kind::GeoGrid(grid) => {
                    let size =
                        grid.shard_size.map_or(grid.size.max(10), |size| size.max(grid.size));
                    best(&mut buckets.list, size as usize, most_first_last_key);
                }
                _ => {}
            }
            for bucket in &mut buckets.list {
                below(&agg.subs, bucket);
            }
        }
        _ => {}
    }
}

fn below(aggs: &Aggs, bucket: &mut Bucket) {
    for (agg, partial) in aggs.aggs.iter().zip(&mut bucket.subs) {
        shard(agg, partial);
    }
}

/// Keeps the best, in the order of keys.
fn best(list: &mut Vec<Bucket>, size: usize, order: fn(&Bucket, &Bucket) -> Ordering) -> u64 {
    if list.len() <= size {
        return 0;
    }
    list.sort_by(order);
    let cut: u64 = list[size..].iter().map(|bucket| bucket.count).sum();
    list.truncate(size);
    list.sort_by(|a, b| a.key.compare(&b.key));
    cut
}

/// Most documents first, then the greatest cell.
fn most_first_last_key(a: &Bucket, b: &Bucket) -> Ordering {
    b.count.cmp(&a.count).then_with(|| b.key.compare(&a.key))
}

fn terms_of_shard(agg: &Agg, buckets: &mut Buckets, order: &BucketOrder, size: usize, least: u64) {
    let mut other = 0;
    if least > 0 {
        buckets.list.retain(|bucket| {
            let kept = bucket.count >= least;
            other += if kept { 0 } else { bucket.count };
            kept
        });
    }
    let full = buckets.list.len() >= size;
    let mut smallest = 0;
    if buckets.list.len() > size {
        sort(agg, &mut buckets.list, order);
        other += buckets.list[size..].iter().map(|bucket| bucket.count).sum::<u64>();
        buckets.list.truncate(size);
        buckets.list.sort_by(|a, b| a.key.compare(&b.key));
    }
    if full {
        smallest = buckets.list.iter().map(|bucket| bucket.count).min().unwrap_or(0);
    }
    buckets.other += other;
    buckets.error = match order.first() {
        _ if !full => 0,
        Some((OrderBy::Key, _)) => 0,
        Some((OrderBy::Count, Order::Descending)) => smallest as i64,
        _ => -1,
    };
    for bucket in &mut buckets.list {
        bucket.error = buckets.error;
    }
}

/// Orders buckets.
pub fn sort(agg: &Agg, list: &mut Vec<Bucket>, order: &BucketOrder) {
    // Numbers of sub-aggregations are computed once for each bucket.
    let mut keyed: Vec<(Vec<f64>, Bucket)> = list
        .drain(..)
        .map(|bucket| {
            let numbers = order.iter().map(|(by, _)| match by {
                OrderBy::Path(path) => paths::number(&agg.subs, &bucket, path),
                _ => 0.0,
            });
            (numbers.collect(), bucket)
        })
        .collect();
    keyed.sort_by(|(a_numbers, a), (b_numbers, b)| {
        for (at, (by, direction)) in order.iter().enumerate() {
            let found = match by {
                OrderBy::Count => a.count.cmp(&b.count),
                OrderBy::Key => a.key.compare(&b.key),
                OrderBy::Path(_) => {
                    let (x, y) = (a_numbers[at], b_numbers[at]);
                    // No number comes last in either direction.
                    match (x.is_nan(), y.is_nan()) {
                        (true, true) => Ordering::Equal,
                        (true, false) => return Ordering::Greater,
                        (false, true) => return Ordering::Less,
                        (false, false) => x.total_cmp(&y),
                    }
                }
            };
            let found = match direction {
                Order::Ascending => found,
                Order::Descending => found.reverse(),
            };
            if found != Ordering::Equal {
                return found;
            }
        }
        Ordering::Equal
    });
    list.extend(keyed.into_iter().map(|(_, bucket)| bucket));
}

/// The buckets of one search, counted, and what those take that the last reduction makes.
pub struct Limit<'p> {
    most: usize,
    count: usize,
    pay: &'p dyn Fn(usize) -> bool,
}

impl<'p> Limit<'p> {
    /// At most so many; `pay` has memory for so many bytes more.
    pub fn new(most: usize, pay: &'p dyn Fn(usize) -> bool) -> Self {
        Self { most, count: 0, pay }
    }

    /// So many more.
    pub fn add(&mut self, count: usize) -> Result<()> {
        self.count += count;
        if self.count <= self.most {
            return Ok(());
        }
        Err(too_many(self.most))
    }
}

/// There would be more buckets than `most`.
pub fn too_many(most: usize) -> Error {
    let reason = format!(
        "Trying to create too many buckets. Must be less than or equal to: [{most}] but this number of \
         buckets was exceeded. This limit can be set by changing the [search.max_buckets] cluster \
         level setting."
    );
    Error::new(ErrorKind::TooManyBuckets, reason)
}

/// The last reduction of one aggregation and all below it.
///
/// # Errors
/// More buckets than allowed.
pub fn last(agg: &Agg, partial: &mut Partial, limit: &mut Limit<'_>) -> Result<()> {
    match partial {
        Partial::Single(bucket) => last_below(&agg.subs, bucket, limit)?,
        Partial::Buckets(buckets) => {
            arrange(agg, buckets, limit)?;
            limit.add(buckets.list.len())?;
            let subs = &agg.subs;
            for bucket in &mut buckets.list {
                last_below(subs, bucket, limit)?;
            }
        }
        _ => {}
    }
    Ok(())
}

fn last_below(aggs: &Aggs, bucket: &mut Bucket, limit: &mut Limit<'_>) -> Result<()> {
    for (agg, partial) in aggs.aggs.iter().zip(&mut bucket.subs) {
        last(agg, partial, limit)?;
    }
    Ok(())
}

fn arrange(agg: &Agg, buckets: &mut Buckets, limit: &mut Limit<'_>) -> Result<()> {
    match &agg.kind {
        Kind::Terms(terms) => {
            last_terms(agg, buckets, &terms.order, terms.size, terms.min_doc_count);
        }
        Kind::MultiTerms(terms) => {
            last_terms(agg, buckets, &terms.order, terms.size, terms.min_doc_count);
        }
        Kind::RareTerms(terms) => rare(terms, buckets),
        Kind::Significant(sig) => {
            significance::score(sig, buckets);
            let least = sig.min_doc_count;
            buckets.list.retain(|bucket| bucket.count >= least && bucket.extra.0 > 0.0);
            buckets.list.sort_by(significance::order);
            buckets.list.truncate(sig.size as usize);
        }
        Kind::Histogram(histogram) => last_histogram(agg, histogram, buckets, limit)?,
        Kind::DateHistogram(histogram) => last_dates(agg, histogram, buckets, limit)?,
        Kind::AutoDateHistogram(_) => {}
        Kind::VariableWidth { buckets: wanted, .. } => {
            super::width::last(agg, buckets, *wanted as usize)?;
        }
        Kind::IpPrefix(prefix) => {
            buckets.list.retain(|bucket| bucket.count >= prefix.min_doc_count);
        }
        Kind::GeoGrid(grid) => {
            buckets.list.sort_by(most_first_last_key);
            buckets.list.truncate(grid.size as usize);
        }
        Kind::Composite(composite) => {
            buckets.list.sort_by(|a, b| pages::compare(composite, &a.key, &b.key));
            buckets.list.truncate(composite.size as usize);
            buckets.after = buckets.list.last().map(|bucket| bucket.key.clone());
        }
        _ => {}
    }
    Ok(())
}

fn last_terms(agg: &Agg, buckets: &mut Buckets, order: &BucketOrder, size: u32, least: u64) {
    let total = buckets.error;
    for bucket in &mut buckets.list {
        bucket.error = if total < 0 { -1 } else { total - bucket.error };
    }
    // What one shard did not send is missing nowhere else; but of an order that says nothing of counts nothing is
    // known (`InternalTerms.reduce`).
    if buckets.shards <= 1 && total >= 0 {
        buckets.error = 0;
        buckets.list.iter_mut().for_each(|bucket| bucket.error = 0);
    }
    buckets.list.retain(|bucket| bucket.count >= least);
    sort(agg, &mut buckets.list, order);
    let size = size as usize;
    if buckets.list.len() > size {
        buckets.other += buckets.list[size..].iter().map(|bucket| bucket.count).sum::<u64>();
        buckets.list.truncate(size);
    }
}

fn rare(terms: &RareTerms, buckets: &mut Buckets) {
    buckets.list.retain(|bucket| bucket.count <= terms.max_doc_count);
    buckets.list.sort_by(|a, b| a.count.cmp(&b.count).then_with(|| a.key.compare(&b.key)));
}

/// A bucket without documents. What it takes is measured: what is below it says a request once, and it stands in each.
fn gap(buckets: &Buckets, key: Key, limit: &Limit<'_>) -> Result<Bucket> {
    let (subs, bytes) = left_by(|| buckets.empty.as_ref().clone());
    match (limit.pay)(size_of::<Bucket>() + bytes) {
        true => Ok(Bucket { key, subs, ..Bucket::default() }),
        false => Err(Error::no_memory("reduce_aggs")),
    }
}

/// How many buckets without documents the last reduction will put between those that were found, about.
pub fn gap_count(agg: &Agg, buckets: &Buckets) -> usize {
    let found = match &agg.kind {
        Kind::Histogram(histogram)
            if histogram.min_doc_count == 0 && buckets.kind != KeyKind::Unmapped =>
        {
            places(histogram, buckets).map(|(first, last)| last - first)
        }
        Kind::DateHistogram(histogram) if histogram.min_doc_count == 0 => {
            days(buckets).zip(histogram.interval).map(|((first, last), interval)| {
                // A month is about so long, and no zone moves a bucket far.
                let zone = Zone::UTC;
                let rounding = Rounding { interval, zone, offset_ms: 0 };
                let width = rounding.next(first).saturating_sub(first).max(1);
                (last.saturating_sub(first) / width) as f64
            })
        }
        _ => None,
    };
    // A number beyond all that can be made is as many as there may be.
    found.map_or(0, |count| count as usize)
}

/// The first and the last place of a histogram, in intervals.
fn places(histogram: &Histogram, buckets: &Buckets) -> Option<(f64, f64)> {
    let (interval, offset) = (histogram.interval, histogram.offset);
    let place = |value: f64| ((value - offset) / interval).floor();
    let near = |bucket: &Bucket| ((bucket.key.number().unwrap_or(0.0) - offset) / interval).round();
    let mut first = buckets.list.first().map(near);
    let mut last = buckets.list.last().map(near);
    let both = histogram.extended.min.is_some() && histogram.extended.max.is_some();
    if let Some(min) = histogram.extended.min
        && (first.is_some() || both)
    {
        first = Some(first.map_or(place(min), |first| first.min(place(min))));
    }
    if let Some(max) = histogram.extended.max
        && (last.is_some() || both)
    {
        last = Some(last.map_or(place(max), |last| last.max(place(max))));
    }
    first.zip(last)
}

/// The first and the last key of a histogram of dates.
fn days(buckets: &Buckets) -> Option<(i64, i64)> {
    let (min, max) = buckets.bounds;
    let mut first = buckets.list.first().map(day);
    let mut last = buckets.list.last().map(day);
    let both = min.is_some() && max.is_some();
    if let Some(min) = min
        && (first.is_some() || both)
    {
        first = Some(first.map_or(min, |first| first.min(min)));
    }
    if let Some(max) = max
        && (last.is_some() || both)
    {
        last = Some(last.map_or(max, |last| last.max(max)));
    }
    first.zip(last)
}

fn day(bucket: &Bucket) -> i64 {
    match bucket.key {
        Key::Long(key) => key,
        _ => 0,
    }
}

fn last_histogram(
    agg: &Agg,
    histogram: &Histogram,
    buckets: &mut Buckets,
    limit: &mut Limit<'_>,
) -> Result<()> {
    buckets.list.retain(|bucket| bucket.count >= histogram.min_doc_count);
    if histogram.min_doc_count == 0 && buckets.kind != KeyKind::Unmapped {
        let (interval, offset) = (histogram.interval, histogram.offset);
        let number = |bucket: &Bucket| bucket.key.number().unwrap_or(0.0);
        let near = |value: f64| ((value - offset) / interval).round();
        if let Some((first, last)) = places(histogram, buckets) {
            let count = last - first + 1.0;
            if count > limit.most as f64 {
                limit.add(limit.most + 1)?;
            }
            let mut list = std::mem::take(&mut buckets.list).into_iter().peekable();
            let mut filled = Vec::with_capacity(count as usize);
            let mut before = None;
            for step in 0..count as u64 {
                // Beyond 2^53 the next place may be the same number: a sum would never pass it.
                let at = first + step as f64;
                if before.replace(at) == Some(at) {
                    continue;
                }
                let found = filled.len();
                while list.peek().is_some_and(|bucket| near(number(bucket)) <= at) {
                    filled.extend(list.next());
                }
                if filled.len() == found {
                    let key = Key::Double(at * interval + offset + 0.0);
                    filled.push(gap(buckets, key, limit)?);
                }
            }
            filled.extend(list);
            buckets.list = filled;
        }
    }
    if !is_by_key(&histogram.order) {
        sort(agg, &mut buckets.list, &histogram.order);
    }
    Ok(())
}

fn is_by_key(order: &BucketOrder) -> bool {
    matches!(order.first(), Some((OrderBy::Key, Order::Ascending)))
}

fn last_dates(
    agg: &Agg,
    histogram: &DateHistogram,
    buckets: &mut Buckets,
    limit: &mut Limit<'_>,
) -> Result<()> {
    buckets.list.retain(|bucket| bucket.count >= histogram.min_doc_count);
    if histogram.min_doc_count == 0
        && let Some(interval) = histogram.interval
    {
        let zone = match &histogram.values.time_zone {
            Some(name) => Zone::parse(name)?,
            None => Zone::UTC,
        };
        let rounding = Rounding { interval, zone, offset_ms: histogram.offset_ms };
        fill_dates(buckets, &rounding, limit)?;
    }
    if !is_by_key(&histogram.order) {
        sort(agg, &mut buckets.list, &histogram.order);
    }
    Ok(())
}

fn fill_dates(buckets: &mut Buckets, rounding: &Rounding, limit: &mut Limit<'_>) -> Result<()> {
    let Some((mut at, last)) = days(buckets) else { return Ok(()) };
    let mut list = std::mem::take(&mut buckets.list).into_iter().peekable();
    let mut filled = Vec::new();
    loop {
        if filled.len() > limit.most {
            limit.add(filled.len())?;
        }
        match list.peek().map(day) {
            // A bucket that stands a little aside (a change of the clock) is kept where it is.
            Some(next) if next <= at => {
                filled.extend(list.next());
                at = rounding.next(next.max(at));
                if next < at && list.peek().is_some_and(|bucket| day(bucket) < at) {
                    continue;
                }
            }
            _ if at > last => break,
            _ => {
                filled.push(gap(buckets, Key::Long(at), limit)?);
                at = rounding.next(at);
            }
        }
        if at > last && list.peek().is_none() {
            break;
        }
    }
    filled.extend(list);
    buckets.list = filled;
    Ok(())
}

/// Merges what the same aggregations of two shards found.
pub fn merge_all(aggs: &Aggs, into: &mut Vec<Partial>, from: Vec<Partial>) -> Result<()> {
    if into.is_empty() {
        *into = from;
        return Ok(());
    }
    for ((agg, into), from) in aggs.aggs.iter().zip(into).zip(from) {
        reduce::merge(Some(agg), into, from)?;
    }
    Ok(())
}

/// Intervals that `auto_date_histogram` chose, told by name: done before buckets are counted.
pub fn intervals(agg: &Agg, partial: &mut Partial) -> Result<()> {
    match partial {
        Partial::Single(bucket) => {
            for (agg, partial) in agg.subs.aggs.iter().zip(&mut bucket.subs) {
                intervals(agg, partial)?;
            }
        }
        Partial::Buckets(buckets) => {
            if matches!(agg.kind, Kind::AutoDateHistogram(_)) {
                let name = auto::last(agg, buckets)?;
                buckets.after = Some(Key::Bytes(name.as_bytes().into()));
            }
            for bucket in &mut buckets.list {
                for (agg, partial) in agg.subs.aggs.iter().zip(&mut bucket.subs) {
                    intervals(agg, partial)?;
                }
            }
        }
        _ => {}
    }
    Ok(())
}
