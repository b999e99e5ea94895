//! Aggregations over results: inside of buckets first, then beside them.
//!
//! | file     | holds                                       |
//! |----------|---------------------------------------------|
//! | `moving` | functions of a window                       |
//! | `scripted` | scripts over numbers of buckets           |

mod moving;
mod scripted;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use base::hash::{Map, Set};
use env::heap::left_by;

use super::format::{Decimal, Format};
use super::meter::Meter;
use super::metric::moments::Moments;
use super::partial::{Bucket, Buckets, Key, KeyKind, Made, Partial};
use super::paths::{self, Step};
use super::shape::key_text;
use super::spec::{Agg, Aggs, BucketScript, Gaps, Kind, Metric, Pipe, PipeKind, Scale};
use crate::error::{Error, Result};
use crate::request::Order;
use scripted::Running;

/// What one run of a script is taken for, in numbers looked at.
const SCRIPT_WORK: usize = 1 << 10;

/// Runs all pipelines of `aggs` and below, whose results stand in `bucket`, as long as `meter` has memory for what they
/// make.
///
/// # Errors
/// A path that leads to nothing that is a number.
pub fn run(aggs: &Aggs, bucket: &mut Bucket, meter: &Meter<'_>) -> Result<()> {
    run_in_order(aggs, &in_order(aggs), bucket, meter)
}

/// As [`run`], with the order of the pipelines: the same in each of ten thousand buckets.
fn run_in_order(
    aggs: &Aggs,
    order: &[(usize, &Pipe)],
    bucket: &mut Bucket,
    meter: &Meter<'_>,
) -> Result<()> {
    for (agg, partial) in aggs.aggs.iter().zip(&mut bucket.subs) {
        match partial {
            Partial::Single(inner) => run(&agg.subs, inner, meter)?,
            Partial::Buckets(buckets) => {
                let below = in_order(&agg.subs);
                for inner in buckets.list.iter_mut().take_while(|_| !meter.is_over()) {
                    run_in_order(&agg.subs, &below, inner, meter)?;
                }
                for (place, pipe) in below {
                    if !pipe.kind.is_sibling() && !meter.is_over() {
                        let (done, bytes) = left_by(|| parent(agg, buckets, place, pipe, meter));
                        meter.takes(bytes);
                        done?;
                    }
                }
            }
            _ => {}
        }
    }
    bucket.pipes.resize(aggs.pipes.len(), None);
    for (place, pipe) in order {
        if pipe.kind.is_sibling() && !meter.is_over() {
            bucket.pipes[*place] = Some(sibling(aggs, bucket, pipe, meter)?);
        }
    }
    Ok(())
}

/// Pipelines with their places, those that others read first: at each step the first of those that wait for none that is
/// left.
fn in_order(aggs: &Aggs) -> Vec<(usize, &Pipe)> {
    let pipes = &aggs.pipes;
    let mut places: Map<&str, Vec<usize>> = Map::default();
    for (at, pipe) in pipes.iter().enumerate() {
        places.entry(pipe.name.as_str()).or_default().push(at);
    }
    // How many each waits for, and which wait for it (Kahn, "Topological sorting of large networks").
    let mut waits = vec![0; pipes.len()];
    let mut waiting: Vec<Vec<usize>> = vec![Vec::new(); pipes.len()];
    for (at, pipe) in pipes.iter().enumerate() {
        let paths = pipe.paths();
        let firsts: Set<&str> = paths.iter().filter_map(|path| paths::first(path)).collect();
        for first in firsts.iter().filter(|first| **first != pipe.name) {
            for &other in places.get(first).into_iter().flatten() {
                waits[at] += 1;
                waiting[other].push(at);
            }
        }
    }
    let ready = (0..pipes.len()).filter(|at| waits[*at] == 0).map(Reverse);
    let mut ready: BinaryHeap<Reverse<usize>> = ready.collect();
    let mut is_done = vec![false; pipes.len()];
    let mut done: Vec<(usize, &Pipe)> = Vec::with_capacity(pipes.len());
    let mut next = 0;
    while done.len() < pipes.len() {
        // Those that wait for each other are taken in their order.
        let at = ready.pop().map_or_else(
            || {
                next += is_done[next..].iter().position(|is_done| !is_done).unwrap_or(0);
                next
            },
            |Reverse(at)| at,
        );
        if std::mem::replace(&mut is_done[at], true) {
            continue;
        }
        done.push((at, &pipes[at]));
        for &other in &waiting[at] {
            waits[other] -= 1;
            if waits[other] == 0 {
                ready.push(Reverse(other));
            }
        }
    }
    done
}

/// How a number of a pipeline is printed.
fn text(pipe: &Pipe, value: f64, inherited: Option<&Format>) -> Option<String> {
    match (&pipe.format, inherited) {
        (Some(pattern), _) => Some(Decimal::parse(pattern).print(value)),
        (None, Some(format)) if !format.is_raw() => Some(format.double(value)),
        _ => None,
    }
}

fn format_of(pipe: &Pipe) -> Format {
    match &pipe.format {
        Some(pattern) => Format::Decimal(Arc::new(Decimal::parse(pattern))),
        None => Format::Raw,
    }
}

/// The number of a bucket that a path leads to, as the gap policy says; `None` is a gap.
fn number(aggs: &Aggs, bucket: &Bucket, steps: &[Step<'_>], gaps: Gaps) -> Option<f64> {
    let found = paths::follow(aggs, bucket, steps);
    let value = found.filter(|value| value.is_finite());
    let counted = steps.len() == 1 && steps[0].name == "_count";
    let empty = bucket.count == 0 && !counted;
    match gaps {
        Gaps::Skip => value.filter(|_| !empty),
        Gaps::InsertZeros => Some(value.filter(|_| !empty).unwrap_or(0.0)),
        Gaps::KeepValues => value,
    }
}

/// Puts a result into a bucket.
fn put(bucket: &mut Bucket, aggs: &Aggs, place: usize, made: Made) {
    bucket.pipes.resize(aggs.pipes.len(), None);
    bucket.pipes[place] = Some(made);
}

/// Puts a number into each bucket that has one.
fn put_all(buckets: &mut Buckets, aggs: &Aggs, place: usize, pipe: &Pipe, found: Vec<Option<f64>>) {
    for (bucket, found) in buckets.list.iter_mut().zip(found) {
        if let Some(found) = found {
            put(bucket, aggs, place, Made::Value(found, text(pipe, found, None)));
        }
    }
}

/// What `make` makes of the window at each bucket that has a value. Gaps are no part of a window.
fn windows(
    values: &[Option<f64>],
    (window, shift): (u32, i32),
    meter: &Meter<'_>,
    mut make: impl FnMut(&[f64]) -> Result<f64>,
) -> Result<Vec<Option<f64>>> {
    let kept: Vec<f64> = values.iter().flatten().copied().collect();
    let place = |at: i64| at.clamp(0, kept.len() as i64) as usize;
    let mut end = i64::from(shift);
    let each = values.iter().map(|value| {
        let of = |end| &kept[place(end - i64::from(window))..place(end)];
        let made = value.filter(|_| !meter.is_over()).map(|_| {
            meter.works(of(end).len());
            make(of(end))
        });
        end += i64::from(value.is_some());
        made.transpose()
    });
    each.collect()
}

/// A pipeline inside of buckets.
fn parent(
    agg: &Agg,
    buckets: &mut Buckets,
    place: usize,
    pipe: &Pipe,
    meter: &Meter<'_>,
) -> Result<()> {
    let aggs = &agg.subs;
    let steps = paths::steps(&pipe.path);
    if !pipe.path.is_empty() || !pipe.is_scripted() {
        check(aggs, &steps, pipe)?;
    }
    let values = |buckets: &Buckets| -> Vec<Option<f64>> {
        buckets.list.iter().map(|bucket| number(aggs, bucket, &steps, pipe.gaps)).collect()
    };
    match &pipe.kind {
        PipeKind::CumulativeSum => {
            let mut sum = 0.0;
            for bucket in &mut buckets.list {
                let value = paths::follow(aggs, bucket, &steps).filter(|value| value.is_finite());
                sum += value.unwrap_or(0.0);
                put(bucket, aggs, place, Made::Value(sum, text(pipe, sum, None)));
            }
        }
        PipeKind::CumulativeCardinality => {
            let mut all: Option<super::metric::distinct::Distinct> = None;
            for bucket in &mut buckets.list {
                let at = aggs.aggs.iter().position(|agg| agg.name == steps[0].name);
                if let Some(Partial::Distinct(distinct)) = at.and_then(|at| bucket.subs.get(at)) {
                    match &mut all {
                        Some(all) => all.merge(distinct),
                        None => all = Some(distinct.clone()),
                    }
                }
                let count = all.as_ref().map_or(0, |all| all.count()) as f64;
                put(bucket, aggs, place, Made::Value(count, text(pipe, count, None)));
            }
        }
        PipeKind::Derivative { unit_ms } => {
            let values = values(buckets);
            let mut last: Option<(f64, f64)> = None;
            for (bucket, value) in buckets.list.iter_mut().zip(values) {
                let key = bucket.key.number().unwrap_or(0.0);
                if paths::follow(aggs, bucket, &steps).is_none() {
                    // What is read is not even there.
                    last = None;
                    continue;
                }
                if let Some((before, before_key)) = last {
                    let change = value.map_or(f64::NAN, |value| value - before);
                    let normalized =
                        unit_ms.map(|unit| change / ((key - before_key) / unit as f64));
                    let shown = text(pipe, change, None);
                    put(bucket, aggs, place, Made::Derivative(change, normalized, shown));
                }
                // A gap has no number, and so has no change either, nor has the next bucket.
                last = Some((value.unwrap_or(f64::NAN), key));
            }
        }
        PipeKind::SerialDiff { lag } => {
            let values = values(buckets);
            let lag = *lag as usize;
            for (at, bucket) in buckets.list.iter_mut().enumerate() {
                let before = at.checked_sub(lag).and_then(|before| values[before]);
                if let (Some(value), Some(before)) = (values[at], before) {
                    let change = value - before;
                    put(bucket, aggs, place, Made::Value(change, text(pipe, change, None)));
                }
            }
        }
        PipeKind::MovingFn { window, shift, function } => {
            let values = values(buckets);
            let size = (*window, *shift);
            let found = windows(&values, size, meter, |of| moving::apply(*function, of))?;
            put_all(buckets, aggs, place, pipe, found);
        }
        PipeKind::MovingScript { window, shift, script } => {
            let mut running = Running::new(script, &script::Context::MOVING_FUNCTION)?;
            let values = values(buckets);
            let found = windows(&values, (*window, *shift), meter, |of| running.window(of))?;
            put_all(buckets, aggs, place, pipe, found);
        }
        PipeKind::BucketScript(of) => {
            let mut running = Running::new(&of.script, &script::Context::BUCKET_AGGREGATION)?;
            for path in pipe.paths() {
                check(aggs, &paths::steps(path), pipe)?;
            }
            for bucket in buckets.list.iter_mut().take_while(|_| !meter.is_over()) {
                meter.works(SCRIPT_WORK);
                let numbers = numbers_of(of, aggs, bucket, pipe.gaps);
                if pipe.gaps != Gaps::InsertZeros && numbers.iter().any(|(_, it)| it.is_nan()) {
                    continue;
                }
                if let Some(found) = running.number(&numbers)? {
                    put(bucket, aggs, place, Made::Value(found, text(pipe, found, None)));
                }
            }
        }
        PipeKind::BucketSelector(of) => {
            let mut running = Running::new(&of.script, &script::Context::BUCKET_SELECTOR)?;
            for path in pipe.paths() {
                check(aggs, &paths::steps(path), pipe)?;
            }
            let mut kept = Vec::with_capacity(buckets.list.len());
            for bucket in buckets.list.drain(..).take_while(|_| !meter.is_over()) {
                meter.works(SCRIPT_WORK);
                let numbers = numbers_of(of, aggs, &bucket, pipe.gaps);
                if running.says(&numbers)? {
                    kept.push(bucket);
                }
            }
            buckets.list = kept;
        }
        PipeKind::MovingPercentiles { .. } => {}
        PipeKind::Normalize(scale) => {
            let values = values(buckets);
            let scaled = normalize(*scale, &values);
            for ((bucket, value), scaled) in buckets.list.iter_mut().zip(values).zip(scaled) {
                let made = if value.is_some() { scaled } else { f64::NAN };
                put(bucket, aggs, place, Made::Value(made, text(pipe, made, None)));
            }
        }
        PipeKind::BucketSort { sort, from, size } => {
            bucket_sort(agg, buckets, sort, pipe.gaps, meter);
            let from = (*from as usize).min(buckets.list.len());
            buckets.list.drain(..from);
            if let Some(size) = size {
                buckets.list.truncate(*size as usize);
            }
        }
        _ => {}
    }
    Ok(())
}

/// The numbers of a bucket that a script reads; NaN where there is none.
fn numbers_of<'a>(
    of: &'a BucketScript,
    aggs: &Aggs,
    bucket: &Bucket,
    gaps: Gaps,
) -> Vec<(&'a str, f64)> {
    let number = |path: &str| number(aggs, bucket, &paths::steps(path), gaps).unwrap_or(f64::NAN);
    of.paths.iter().map(|(name, path)| (name.as_str(), number(path))).collect()
}

/// Some pipeline of `aggs` or below runs a script.
pub fn runs_scripts(aggs: &Aggs) -> bool {
    aggs.pipes.iter().any(Pipe::is_scripted) || aggs.aggs.iter().any(|agg| runs_scripts(&agg.subs))
}

/// Orders buckets; those without any of the numbers are passed over. What it takes to compare them is counted before
/// it is made: a request may name thousands of paths.
fn bucket_sort(
    agg: &Agg,
    buckets: &mut Buckets,
    sort: &[(String, Order)],
    gaps: Gaps,
    meter: &Meter<'_>,
) {
    if sort.is_empty() {
        return;
    }
    // Where a path stands once more it decides nothing.
    let mut known = Set::default();
    let sorts: Vec<(&str, Order, Vec<Step<'_>>)> = sort
        .iter()
        .filter(|(path, _)| known.insert(path.as_str()))
        .map(|(path, order)| (path.as_str(), *order, paths::steps(path)))
        .collect();
    let each = sorts.len() * size_of::<Option<f64>>() + size_of::<u32>();
    meter.takes(buckets.list.len().saturating_mul(each));
    if meter.is_over() {
        return;
    }
    let mut values = Vec::with_capacity(buckets.list.len() * sorts.len());
    let mut kept: Vec<u32> = Vec::with_capacity(buckets.list.len());
    for (at, bucket) in buckets.list.iter().enumerate() {
        let begin = values.len();
        values.extend(sorts.iter().map(|(path, _, steps)| {
            if *path == "_key" && bucket.key.number().is_none() {
                return Some(0.0);
            }
            number(&agg.subs, bucket, steps, gaps)
        }));
        if values[begin..].iter().any(Option::is_some) {
            kept.push(at as u32);
        }
    }
    let of = |bucket: u32, at: usize| values[bucket as usize * sorts.len() + at];
    let key = |bucket: u32| &buckets.list[bucket as usize].key;
    kept.sort_by(|a, b| {
        for (at, (path, order, _)) in sorts.iter().enumerate() {
            let found = if *path == "_key" {
                key(*a).compare(key(*b))
            } else {
                match (of(*a, at), of(*b, at)) {
                    (Some(a), Some(b)) => a.total_cmp(&b),
                    (None, None) => std::cmp::Ordering::Equal,
                    (None, Some(_)) => return std::cmp::Ordering::Greater,
                    (Some(_), None) => return std::cmp::Ordering::Less,
                }
            };
            let found = if *order == Order::Descending { found.reverse() } else { found };
            if found != std::cmp::Ordering::Equal {
                return found;
            }
        }
        std::cmp::Ordering::Equal
    });
    let mut list: Vec<Option<Bucket>> = buckets.list.drain(..).map(Some).collect();
    buckets.list = kept.iter().filter_map(|at| list[*at as usize].take()).collect();
}

fn normalize(scale: Scale, values: &[Option<f64>]) -> Vec<f64> {
    let known: Vec<f64> = values.iter().flatten().copied().collect();
    let n = known.len() as f64;
    let (sum, min, max) =
        known.iter().fold((0.0, f64::INFINITY, f64::NEG_INFINITY), |(sum, min, max), value| {
            (sum + value, f64::min(min, *value), f64::max(max, *value))
        });
    let mean = sum / n;
    let deviation = (known.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n).sqrt();
    let exponentials: f64 = known.iter().map(|value| value.exp()).sum();
    let one = |value: f64| match scale {
        Scale::Rescale01 => (value - min) / (max - min),
        Scale::Rescale0100 => 100.0 * (value - min) / (max - min),
        Scale::PercentOfSum => value / sum,
        Scale::Mean => (value - mean) / (max - min),
        Scale::ZScore => (value - mean) / deviation,
        Scale::Softmax => value.exp() / exponentials,
    };
    values.iter().map(|value| value.map_or(f64::NAN, one)).collect()
}

/// Checks that a path leads to a number of each bucket.
fn check(aggs: &Aggs, steps: &[Step<'_>], pipe: &Pipe) -> Result<()> {
    let Some((step, rest)) = steps.split_first() else { return Ok(()) };
    if step.name.starts_with('_') || step.name.is_empty() {
        return Ok(());
    }
    if aggs.pipes.iter().any(|other| other.name == step.name) {
        return Ok(());
    }
    let whole = step.key.map(|key| format!("{}.{key}", step.name));
    let found =
        aggs.aggs.iter().find(|agg| agg.name == step.name || Some(&agg.name) == whole.as_ref());
    let Some(agg) = found else {
        return Err(Error::illegal(format!(
            "Cannot find an aggregation named [{}] in buckets_path [{}]",
            step.name, pipe.path
        )));
    };
    let needs = "buckets_path must reference either a number value or a single value numeric \
                 metric aggregation, ";
    if agg.kind.is_bucket() {
        if !rest.is_empty() {
            return check(&agg.subs, rest, pipe);
        }
        let counted = step.key.is_some() || agg.kind.is_single();
        return if counted {
            Ok(())
        } else {
            Err(aggregation(format!(
                "{needs}got: [{}] at aggregation [{}]",
                internal(&agg.kind),
                agg.name
            )))
        };
    }
    if paths::is_multi(&agg.kind) && step.key.is_none() {
        return Err(aggregation(format!(
            "{needs}but [{}] contains multiple values. Please specify which to use.",
            agg.name
        )));
    }
    let words = matches!(agg.kind, Kind::TopHits(_) | Kind::Metric(Metric::GeoBounds { .. }, _));
    if words {
        return Err(aggregation(format!(
            "{needs}got: [{}] at aggregation [{}]",
            internal(&agg.kind),
            agg.name
        )));
    }
    Ok(())
}

fn aggregation(reason: String) -> Error {
    Error::new(crate::error::Kind::AggregationExecution, reason)
}

fn internal(kind: &Kind) -> String {
    format!("Internal{}", paths::java_name(kind))
}

/// A pipeline beside the buckets it reads.
fn sibling(aggs: &Aggs, bucket: &Bucket, pipe: &Pipe, meter: &Meter<'_>) -> Result<Made> {
    let steps = paths::steps(&pipe.path);
    let (first, rest) = match steps.split_first() {
        Some((first, rest)) => (first, rest),
        None => return Err(Error::illegal("buckets_path is empty")),
    };
    let at = aggs.aggs.iter().position(|agg| agg.name == first.name);
    let found = at.and_then(|at| Some((&aggs.aggs[at], bucket.subs.get(at)?)));
    // Places of buckets, and their numbers.
    let mut values: Vec<(usize, f64)> = Vec::new();
    if let Some((agg, Partial::Buckets(buckets))) = found {
        let count = [Step { name: "_count", key: None, bracket: false }];
        // `buckets.metric` is `buckets>metric`.
        let dotted: Vec<Step<'_>> = match first.key.filter(|_| !first.bracket) {
            Some(key) => paths::steps(key).into_iter().chain(rest.iter().cloned()).collect(),
            None => rest.to_vec(),
        };
        let rest = if dotted.is_empty() { &count[..] } else { &dotted[..] };
        check(&agg.subs, rest, pipe)?;
        for (place, inner) in buckets.list.iter().enumerate() {
            if let Some(key) = first.key.filter(|_| first.bracket)
                && key_text(agg, buckets, inner, place) != key
            {
                continue;
            }
            if let Some(value) = number(&agg.subs, inner, rest, pipe.gaps) {
                values.push((place, value));
            }
        }
    }
    let mut moments = Moments::default();
    values.iter().for_each(|(_, value)| moments.add(*value));
    let made = |value: f64| Made::Value(value, text(pipe, value, None));
    let none = values.is_empty();
    Ok(match &pipe.kind {
        PipeKind::AvgBucket => {
            made(if none { f64::NAN } else { plain_sum(&values) / values.len() as f64 })
        }
        PipeKind::SumBucket => made(plain_sum(&values)),
        PipeKind::MinBucket | PipeKind::MaxBucket => {
            let best =
                if matches!(pipe.kind, PipeKind::MinBucket) { moments.min } else { moments.max };
            let mut keys = Vec::new();
            if let Some((agg, Partial::Buckets(buckets))) = found {
                for (place, _) in values.iter().filter(|(_, value)| *value == best) {
                    // All ten thousand may tie.
                    let key = name_of(agg, buckets, &buckets.list[*place], *place);
                    meter.takes(2 * size_of::<String>() + key.capacity());
                    if meter.is_over() {
                        break;
                    }
                    keys.push(key);
                }
            }
            Made::Keyed(best, text(pipe, best, None), keys)
        }
        PipeKind::StatsBucket | PipeKind::ExtendedStatsBucket { .. } => {
            Made::Stats(moments, format_of(pipe))
        }
        PipeKind::PercentilesBucket { percents, .. } => {
            let mut sorted: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
            sorted.sort_by(f64::total_cmp);
            let one = |percent: f64| match sorted.is_empty() {
                true => f64::NAN,
                false => {
                    let place = (percent / 100.0) * (sorted.len() - 1) as f64;
                    sorted[place.round() as usize]
                }
            };
            meter.takes(percents.len() * size_of::<(f64, f64)>());
            // Where there is no memory none of it is told.
            let told = if meter.is_over() { &[] } else { &percents[..] };
            let list = told.iter().map(|percent| (*percent, one(*percent))).collect();
            Made::Percentiles(list, format_of(pipe))
        }
        _ => made(f64::NAN),
    })
}

fn plain_sum(values: &[(usize, f64)]) -> f64 {
    // Of none it is -0.0 otherwise.
    values.iter().map(|(_, value)| value).sum::<f64>() + 0.0
}

/// A bucket's name among the keys of `max_bucket`.
fn name_of(agg: &Agg, buckets: &Buckets, bucket: &Bucket, place: usize) -> String {
    match (&bucket.key, buckets.kind) {
        (Key::Double(value), KeyKind::Double)
            if buckets.formats.first().is_none_or(Format::is_raw) =>
        {
            json::number::double_to_string(*value)
        }
        _ => key_text(agg, buckets, bucket, place),
    }
}

#[cfg(test)]
mod tests;
