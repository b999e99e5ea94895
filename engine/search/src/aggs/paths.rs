//! Paths to numbers: `sub`, `sub.metric`, `sub[metric]`, `outer>inner.metric`, `_count`.

use super::partial::{Bucket, Made, Partial};
use super::spec::{Agg, Aggs, Kind, Metric};
use crate::error::{Error, Kind as ErrorKind, Result};

/// One step of a path: a name, and a key of what it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step<'a> {
    /// Name of the aggregation.
    pub name: &'a str,
    /// Key of a metric or a bucket.
    pub key: Option<&'a str>,
    /// The key stood in brackets.
    pub bracket: bool,
}

/// The steps of a path; names of `aggs` may hold dots.
pub fn steps(path: &str) -> Vec<Step<'_>> {
    path.split('>').map(step).collect()
}

/// The name that a path begins with.
pub fn first(path: &str) -> Option<&str> {
    path.split('>').next().map(|part| step(part).name)
}

fn step(part: &str) -> Step<'_> {
    let part = part.trim();
    if let Some((name, rest)) = part.split_once('[')
        && let Some(key) = rest.strip_suffix(']')
    {
        let key = Some(key.trim_matches(|c| c == '\'' || c == '"'));
        return Step { name, key, bracket: true };
    }
    match part.split_once('.') {
        Some((name, key)) => Step { name, key: Some(key), bracket: false },
        None => Step { name: part, key: None, bracket: false },
    }
}

/// Checks that buckets of `agg` can be ordered by what a path leads to.
pub fn check(agg: &Agg, path: &str) -> Result<()> {
    let steps = steps(path);
    let fault = |reason: String| Error::new(ErrorKind::AggregationExecution, reason);
    let no_number = || {
        format!(
            "Invalid aggregation order path [{path}]. Buckets can only be sorted on a sub-aggregator \
             path that is built out of zero or more single-bucket aggregations within the path and a \
             final single-bucket or a metrics aggregation at the path end."
        )
    };
    let mut aggs = &agg.subs;
    for (at, step) in steps.iter().enumerate() {
        let Some(found) = aggs.aggs.iter().find(|agg| agg.name == step.name) else {
            return Err(fault(format!(
                "Invalid aggregation order path [{path}]. The provided aggregation [{}] either \
                 does not exist, or is a pipeline aggregation and cannot be used to sort the \
                 buckets.",
                step.name
            )));
        };
        let last = at + 1 == steps.len();
        if found.kind.is_bucket() {
            if !found.kind.is_single() {
                return Err(fault(no_number()));
            }
            if let (true, Some(key)) = (last, step.key)
                && key != "doc_count"
            {
                let name = step.name;
                return Err(fault(format!(
                    "Invalid aggregation order path [{path}]. Ordering on a single-bucket aggregation \
                     can only be done on its doc_count. Either drop the key (a la \"{name}\") or change \
                     it to \"doc_count\" (a la \"{name}.doc_count\") or \"key\"."
                )));
            }
            aggs = &found.subs;
            continue;
        }
        if !last {
            return Err(fault(format!(
                "Invalid aggregation order path [{path}]. Metrics aggregations cannot have \
                 sub-aggregations (at [{}>{}])",
                step.name,
                steps[at + 1].name
            )));
        }
        if !is_number(&found.kind) {
            return Err(fault(no_number()));
        }
        if let Some(key) = step.key
            && !knows(&found.kind, key)
        {
            if value_names(&found.kind) == ["value"] && !is_multi(&found.kind) {
                let name = step.name;
                return Err(fault(format!(
                    "Invalid aggregation order path [{path}]. Ordering on a single-value metrics \
                     aggregation can only be done on its value. Either drop the key (a la \"{name}\") \
                     or change it to \"value\" (a la \"{name}.value\")"
                )));
            }
            return Err(fault(format!(
                "Invalid aggregation order path [{path}]. Unknown metric name [{key}] on \
                 multi-value metrics aggregation [{}]",
                step.name
            )));
        }
        if is_multi(&found.kind) && step.key.is_none() {
            return Err(fault(format!(
                "Invalid aggregation order path [{path}]. When ordering on a multi-value metrics \
                 aggregation a metric name must be specified."
            )));
        }
    }
    Ok(())
}

/// It gives more than one number.
pub fn is_multi(kind: &Kind) -> bool {
    match kind {
        Kind::Metric(metric, _) => matches!(
            metric,
            Metric::Stats
                | Metric::ExtendedStats { .. }
                | Metric::Percentiles { .. }
                | Metric::PercentileRanks { .. }
                | Metric::Boxplot { .. }
                | Metric::StringStats { .. }
        ),
        _ => false,
    }
}

/// It gives numbers, and not documents, places or tables.
fn is_number(kind: &Kind) -> bool {
    !matches!(
        kind,
        Kind::TopHits(_)
            | Kind::MatrixStats { .. }
            | Kind::Metric(Metric::GeoBounds { .. } | Metric::GeoCentroid, _)
    )
}

/// The numbers of a metric by name.
fn value_names(kind: &Kind) -> &'static [&'static str] {
    match kind {
        Kind::Metric(Metric::Stats, _) => &["count", "min", "max", "avg", "sum"],
        Kind::Metric(Metric::ExtendedStats { .. }, _) => &[
            "count",
            "min",
            "max",
            "avg",
            "sum",
            "sum_of_squares",
            "variance",
            "variance_population",
            "variance_sampling",
            "std_deviation",
            "std_deviation_population",
            "std_deviation_sampling",
            "std_upper",
            "std_lower",
            "std_upper_population",
            "std_lower_population",
            "std_upper_sampling",
            "std_lower_sampling",
        ],
        Kind::Metric(Metric::Boxplot { .. }, _) => {
            &["min", "max", "q1", "q2", "q3", "lower", "upper"]
        }
        Kind::Metric(Metric::StringStats { .. }, _) => {
            &["count", "min_length", "max_length", "avg_length", "entropy"]
        }
        Kind::TopMetrics(_) | Kind::TopHits(_) => &[],
        _ => &["value"],
    }
}

fn knows(kind: &Kind, key: &str) -> bool {
    match kind {
        Kind::Metric(Metric::Percentiles { percents, .. }, _) => {
            key.parse::<f64>().is_ok_and(|key| percents.contains(&key))
        }
        Kind::Metric(Metric::PercentileRanks { values, .. }, _) => {
            key.parse::<f64>().is_ok_and(|key| values.contains(&key))
        }
        Kind::TopMetrics(top) => top.metrics.iter().any(|metric| metric.field == key),
        kind => value_names(kind).contains(&key),
    }
}

/// The number that a path leads to from a bucket; NaN where there is none.
pub fn number(aggs: &Aggs, bucket: &Bucket, path: &str) -> f64 {
    follow(aggs, bucket, &steps(path)).unwrap_or(f64::NAN)
}

/// The number that steps lead to; `None` where they lead nowhere.
pub fn follow(aggs: &Aggs, bucket: &Bucket, steps: &[Step<'_>]) -> Option<f64> {
    let (step, rest) = steps.split_first()?;
    match step.name {
        "_count" => return Some(bucket.count as f64),
        "_key" => return bucket.key.number(),
        _ => {}
    }
    if let Some(at) = aggs.pipes.iter().position(|pipe| pipe.name == step.name) {
        return match bucket.pipes.get(at)?.as_ref()? {
            Made::Derivative(_, Some(normalized), _) if step.key == Some("normalized_value") => {
                Some(*normalized)
            }
            Made::Value(value, _) | Made::Derivative(value, _, _) | Made::Keyed(value, _, _) => {
                Some(*value)
            }
            Made::Stats(moments, _) => {
                let values = Partial::Moments(*moments, super::format::Format::Raw);
                metric(
                    &Kind::Metric(Metric::ExtendedStats { sigma: 2.0 }, Default::default()),
                    &values,
                    step.key,
                )
            }
            Made::Percentiles(values, _) => {
                let wanted = step.key?.parse::<f64>().ok()?;
                values.iter().find(|(percent, _)| *percent == wanted).map(|(_, value)| *value)
            }
        };
    }
    // Names may hold dots: then the whole is the name.
    let whole = step.key.map(|key| format!("{}.{key}", step.name));
    let (at, key) = match aggs.aggs.iter().position(|agg| agg.name == step.name) {
        Some(at) => (at, step.key),
        None => {
            let whole = whole?;
            (aggs.aggs.iter().position(|agg| agg.name == whole)?, None)
        }
    };
    let (agg, partial) = (aggs.aggs.get(at)?, bucket.subs.get(at)?);
    match partial {
        Partial::Single(inner) => match rest.is_empty() {
            true => Some(inner.count as f64),
            false => follow(&agg.subs, inner, rest),
        },
        Partial::Buckets(buckets) => {
            if let [last] = rest
                && last.name == "_bucket_count"
            {
                return Some(buckets.list.len() as f64);
            }
            if step.key == Some("_bucket_count") {
                return Some(buckets.list.len() as f64);
            }
            let wanted = key?;
            let found = buckets.list.iter().enumerate().find(|(place, bucket)| {
                super::shape::key_text(agg, buckets, bucket, *place) == wanted
            });
            let (_, inner) = found?;
            match rest.is_empty() {
                true => Some(inner.count as f64),
                false => follow(&agg.subs, inner, rest),
            }
        }
        partial => metric(&agg.kind, partial, key),
    }
}

/// A number of a metric, by name where it has several.
pub fn metric(kind: &Kind, partial: &Partial, key: Option<&str>) -> Option<f64> {
    Some(match (kind, partial) {
        (Kind::Metric(which, _), Partial::Moments(moments, _)) => match which {
            Metric::Avg => moments.avg(),
            Metric::Sum => moments.sum.value,
            Metric::Min => moments.min,
            Metric::Max => moments.max,
            Metric::ValueCount => moments.count as f64,
            _ => {
                let sigma = match which {
                    Metric::ExtendedStats { sigma } => *sigma,
                    _ => 2.0,
                };
                let bounds = |deviation: f64, sign: f64| moments.avg() + sign * sigma * deviation;
                match key? {
                    "count" => moments.count as f64,
                    "min" => moments.min,
                    "max" => moments.max,
                    "avg" => moments.avg(),
                    "sum" => moments.sum.value,
                    "sum_of_squares" => moments.squares.value,
                    "variance" | "variance_population" => moments.variance(),
                    "variance_sampling" => moments.variance_sampling(),
                    "std_deviation" | "std_deviation_population" => moments.variance().sqrt(),
                    "std_deviation_sampling" => moments.variance_sampling().sqrt(),
                    "std_upper" | "std_upper_population" => bounds(moments.variance().sqrt(), 1.0),
                    "std_lower" | "std_lower_population" => bounds(moments.variance().sqrt(), -1.0),
                    "std_upper_sampling" => bounds(moments.variance_sampling().sqrt(), 1.0),
                    "std_lower_sampling" => bounds(moments.variance_sampling().sqrt(), -1.0),
                    _ => return None,
                }
            }
        },
        (_, Partial::Distinct(distinct)) => distinct.count() as f64,
        (Kind::Metric(which, _), Partial::Digest(digest, _)) => {
            let digest = digest.settled();
            match which {
                Metric::Percentiles { .. } => digest.quantile(key?.parse::<f64>().ok()? / 100.0),
                Metric::PercentileRanks { .. } => digest.rank(key?.parse().ok()?) * 100.0,
                Metric::MedianAbsoluteDeviation { .. } => digest.median_absolute_deviation(),
                _ => {
                    let all = super::shape::boxplot(&digest);
                    let names = ["min", "max", "q1", "q2", "q3", "lower", "upper"];
                    all[names.iter().position(|name| Some(*name) == key)?]
                }
            }
        }
        (Kind::Metric(which, _), Partial::Hdr(hdr, _)) => match which {
            Metric::Percentiles { .. } => hdr.percentile(key?.parse().ok()?),
            _ => hdr.rank(key?.parse().ok()?),
        },
        (_, Partial::Weighted { sum, weight, .. }) => sum.value / weight.value,
        (_, Partial::Strings(strings)) => match key? {
            "count" => strings.count as f64,
            "min_length" => strings.min as f64,
            "max_length" => strings.max as f64,
            "avg_length" => strings.total as f64 / strings.count as f64,
            "entropy" => strings.entropy(),
            _ => return None,
        },
        (Kind::TTest(test), Partial::Samples(samples)) => super::shape::t_test(test, samples),
        (_, Partial::Centroid(_, _, count)) => *count as f64,
        (Kind::TopMetrics(top), Partial::TopMetrics(found)) => {
            let at = match key {
                Some(key) => top.metrics.iter().position(|metric| metric.field == key)?,
                None => 0,
            };
            found.first()?.metrics.get(at)?.as_ref()?.0.number()?
        }
        _ => return None,
    })
}

/// As Elasticsearch names the builder of an aggregation in one message.
pub fn java_name(kind: &Kind) -> String {
    let words = kind.type_name().split('_').map(|word| {
        let (head, tail) = word.split_at(word.len().min(1));
        format!("{}{tail}", head.to_uppercase())
    });
    words.collect()
}
