//! Aggregations over results, and whether they stand where they may.

use json::spanned::{Kind as Json, Node};

use super::super::context::{Fault, Read, Takes, int, members, object, text};
use super::interval::time_ms;
use super::metric::check_percents;
use super::values::{double, doubles};
use crate::aggs::paths;
use crate::aggs::spec::{Agg, Aggs, BucketScript, Gaps, Kind, MovingFn, Pipe, PipeKind, Scale};
use crate::ast::ScriptSource;
use crate::error::Error;
use crate::request::Order;

const PERCENTS: [f64; 7] = [1.0, 5.0, 25.0, 50.0, 75.0, 95.0, 99.0];

/// Reads a pipeline; `None` where `kind` is none.
pub fn read(kind: &str, name: &str, node: &Node) -> Read<Option<Pipe>> {
    let own: &[(&'static str, Takes)] = match kind {
        "avg_bucket"
        | "sum_bucket"
        | "min_bucket"
        | "max_bucket"
        | "stats_bucket"
        | "cumulative_sum"
        | "cumulative_cardinality" => &[],
        "extended_stats_bucket" => &[("sigma", Takes::Number)],
        "percentiles_bucket" => &[("percents", Takes::Array), ("keyed", Takes::Bool)],
        "derivative" => &[("unit", Takes::String)],
        "serial_diff" => &[("lag", Takes::Number)],
        "moving_fn" => {
            &[("window", Takes::Number), ("shift", Takes::Number), ("script", Takes::Any)]
        }
        "bucket_script" | "bucket_selector" => &[("script", Takes::Any)],
        "normalize" => &[("method", Takes::String)],
        "bucket_sort" => &[("sort", Takes::Any), ("from", Takes::Number), ("size", Takes::Number)],
        _ => return Ok(None),
    };
    let mut fields = vec![
        ("buckets_path", Takes::Any),
        ("gap_policy", Takes::String),
        ("format", Takes::String),
    ];
    fields.extend_from_slice(own);
    let mut pipe = Pipe {
        name: name.to_owned(),
        kind: PipeKind::CumulativeSum,
        path: String::new(),
        gaps: Gaps::default(),
        format: None,
        meta: None,
    };
    let mut part =
        Parts { percents: PERCENTS.to_vec(), sigma: 2.0, keyed: true, ..Parts::default() };
    let scripted = matches!(kind, "bucket_script" | "bucket_selector");
    let mut named = Vec::new();
    let mut take = |key: &str, value: &'_ Node| -> Read<()> {
        match key {
            "buckets_path" if scripted => named = named_paths(value)?,
            "buckets_path" => pipe.path = path(name, value)?,
            "gap_policy" => pipe.gaps = gaps(value)?,
            _ => pipe.format = Some(text(value)?),
        }
        Ok(())
    };
    let shared = |key: &str| matches!(key, "buckets_path" | "gap_policy" | "format");
    if kind.ends_with("_bucket") || matches!(kind, "derivative" | "serial_diff") {
        // Read by hand: what goes wrong is told as it is.
        for member in members(node) {
            let (key, value) = (member.key.as_str(), &member.value);
            if !fields.iter().any(|(known, _)| *known == key) {
                let reason = format!("Unexpected token {} [{key}] in [{name}].", value.token());
                return Err(Fault::parsing(value.at, reason));
            }
            if shared(key) {
                take(key, value)?;
            } else {
                part.take(key, name, value)?;
            }
        }
    } else {
        object(kind, &fields, node, |key, value| {
            if shared(key) { take(key, value) } else { part.take(key, name, value) }
        })?;
    }
    if scripted {
        return bucket_script(kind, pipe, named, part.script, node).map(Some);
    }
    if pipe.path.is_empty() && kind != "bucket_sort" {
        let of = match kind {
            "derivative" | "serial_diff" => format!("{kind} "),
            _ => String::new(),
        };
        let reason = format!("Missing required field [buckets_path] for {of}aggregation [{name}]");
        return Err(Fault::parsing(node.end, reason));
    }
    pipe.kind = match kind {
        "avg_bucket" => PipeKind::AvgBucket,
        "sum_bucket" => PipeKind::SumBucket,
        "min_bucket" => PipeKind::MinBucket,
        "max_bucket" => PipeKind::MaxBucket,
        "stats_bucket" => PipeKind::StatsBucket,
        "extended_stats_bucket" => PipeKind::ExtendedStatsBucket { sigma: part.sigma },
        "percentiles_bucket" => {
            check_percents(&part.percents, name).map_err(|_| {
                let reason =
                    "[percents] must only contain non-null doubles from 0.0-100.0 inclusive";
                Fault::illegal(node.end, reason)
            })?;
            PipeKind::PercentilesBucket { percents: part.percents, keyed: part.keyed }
        }
        "derivative" => PipeKind::Derivative { unit_ms: part.unit_ms },
        "cumulative_sum" => PipeKind::CumulativeSum,
        "cumulative_cardinality" => PipeKind::CumulativeCardinality,
        "serial_diff" => PipeKind::SerialDiff { lag: part.lag.unwrap_or(1) },
        "normalize" => match part.scale {
            Some(scale) => PipeKind::Normalize(scale),
            None => return Err(Fault::illegal(node.end, "Required [method]")),
        },
        "bucket_sort" => {
            if part.sort.is_empty() && part.size.is_none() && part.from == 0 {
                let reason = format!(
                    "[{name}] is configured to perform nothing. Please set either of [sort, from, \
                     size] to use [bucket_sort]"
                );
                return Err(Fault { error: Error::validation(&[reason]), at: node.end });
            }
            PipeKind::BucketSort { sort: part.sort, from: part.from, size: part.size }
        }
        _ => moving_fn(&part, node)?,
    };
    Ok(Some(pipe))
}

/// `bucket_script`, `bucket_selector`.
fn bucket_script(
    kind: &str,
    mut pipe: Pipe,
    paths: Vec<(String, String)>,
    script: Option<&Node>,
    node: &Node,
) -> Read<Pipe> {
    let lacks = |what: &str| {
        let reason =
            format!("Missing required field [{what}] for {kind} aggregation [{}]", pipe.name);
        Fault::parsing(node.end, reason)
    };
    if paths.is_empty() {
        return Err(lacks("buckets_path"));
    }
    let Some(script) = script else { return Err(lacks("script")) };
    let of = Box::new(BucketScript { script: super::super::script::read(script)?, paths });
    pipe.kind = match kind {
        "bucket_script" => PipeKind::BucketScript(of),
        _ => PipeKind::BucketSelector(of),
    };
    Ok(pipe)
}

/// Paths by the names of parameters: one alone is `_value`, those of a list `_value0` and so on.
fn named_paths(value: &Node) -> Read<Vec<(String, String)>> {
    match &value.kind {
        Json::String(path) => Ok(vec![("_value".to_owned(), path.clone())]),
        Json::Array(nodes) => {
            let named = nodes.iter().enumerate();
            named.map(|(at, node)| Ok((format!("_value{at}"), text(node)?))).collect()
        }
        Json::Object(parts) => {
            parts.iter().map(|part| Ok((part.key.clone(), text(&part.value)?))).collect()
        }
        _ => {
            let reason = format!("Unexpected token {} [buckets_path].", value.token());
            Err(Fault::parsing(value.at, reason))
        }
    }
}

/// Keys that only some pipelines know.
#[derive(Default)]
struct Parts<'a> {
    percents: Vec<f64>,
    keyed: bool,
    sigma: f64,
    unit_ms: Option<i64>,
    lag: Option<u32>,
    window: Option<i32>,
    shift: i32,
    script: Option<&'a Node>,
    scale: Option<Scale>,
    sort: Vec<(String, Order)>,
    from: u32,
    size: Option<u32>,
}

impl<'a> Parts<'a> {
    fn take(&mut self, key: &str, name: &str, value: &'a Node) -> Read<()> {
        match key {
            "percents" => self.percents = doubles(value)?,
            "keyed" => self.keyed = super::super::context::boolean(value)?,
            "sigma" => {
                self.sigma = double(value)?;
                if self.sigma < 0.0 {
                    let reason = "[sigma] must be a non-negative double";
                    return Err(Fault {
                        error: Error::validation(&[reason.to_owned()]),
                        at: value.at,
                    });
                }
            }
            "unit" => self.unit_ms = Some(unit(&text(value)?, value)?),
            "lag" => {
                let lag = int(value)?;
                if lag <= 0 {
                    let reason = format!(
                        "Lag must be a positive, non-zero integer.  Value supplied was{lag} in [{name}]."
                    );
                    return Err(Fault::illegal(value.at, reason));
                }
                self.lag = Some(lag as u32);
            }
            "window" => {
                let window = int(value)?;
                if window <= 0 {
                    let reason = "[window] must be a positive, non-zero integer.";
                    return Err(Fault::illegal(value.at, reason));
                }
                self.window = Some(window);
            }
            "shift" => self.shift = int(value)?,
            "script" => self.script = Some(value),
            "method" => {
                let word = text(value)?;
                self.scale = Some(match word.as_str() {
                    "rescale_0_1" => Scale::Rescale01,
                    "rescale_0_100" => Scale::Rescale0100,
                    "percent_of_sum" => Scale::PercentOfSum,
                    "mean" => Scale::Mean,
                    "z-score" => Scale::ZScore,
                    "softmax" => Scale::Softmax,
                    _ => {
                        return Err(Fault::illegal(value.at, format!("invalid method [{word}]")));
                    }
                });
            }
            "sort" => self.sort = sorts(value)?,
            "from" => {
                let from = int(value)?;
                self.from = u32::try_from(from).map_err(|_| {
                    let reason = format!("[from] must be a non-negative integer: [{from}]");
                    Fault::illegal(value.at, reason)
                })?;
            }
            _ => {
                let size = int(value)?;
                if size <= 0 {
                    let reason = format!("[size] must be a positive integer: [{size}]");
                    return Err(Fault::illegal(value.at, reason));
                }
                self.size = Some(size as u32);
            }
        }
        Ok(())
    }
}

/// A path, or an array of one.
fn path(name: &str, value: &Node) -> Read<String> {
    match &value.kind {
        Json::String(path) => Ok(path.clone()),
        Json::Array(nodes) => match nodes.as_slice() {
            [one] => text(one),
            _ => {
                let reason = "buckets_path must contain a single entry for aggregation";
                Err(Fault {
                    error: Error::validation(&[format!("{reason} [{name}]")]),
                    at: value.at,
                })
            }
        },
        Json::Object(parts) if parts.len() == 1 => text(&parts[0].value),
        _ => {
            let reason = format!("Unexpected token {} [buckets_path] in [{name}].", value.token());
            Err(Fault::parsing(value.at, reason))
        }
    }
}

fn gaps(value: &Node) -> Read<Gaps> {
    let word = text(value)?;
    match word.as_str() {
        "skip" => Ok(Gaps::Skip),
        "insert_zeros" => Ok(Gaps::InsertZeros),
        "keep_values" => Ok(Gaps::KeepValues),
        _ => {
            let reason = format!(
                "Invalid gap policy: [{word}], accepted values: [insert_zeros, skip, keep_values]"
            );
            Err(Fault::parsing(value.at, reason))
        }
    }
}

/// A unit of `derivative`.
fn unit(word: &str, value: &Node) -> Read<i64> {
    Ok(match word {
        "second" | "1s" => 1_000,
        "minute" | "1m" => 60_000,
        "hour" | "1h" => 3_600_000,
        "day" | "1d" => 86_400_000,
        "week" | "1w" => 604_800_000,
        // As long as the calendar says on average.
        "month" | "1M" => 2_629_746_000,
        "quarter" | "1q" => 7_889_238_000,
        "year" | "1y" => 31_556_952_000,
        _ => time_ms(word, "derivative.unit").map_err(|error| Fault { error, at: value.at })?,
    })
}

fn sorts(value: &Node) -> Read<Vec<(String, Order)>> {
    let nodes = match &value.kind {
        Json::Array(nodes) => nodes.as_slice(),
        _ => std::slice::from_ref(value),
    };
    let mut sorts = Vec::new();
    for sort in super::super::sort::read(value)? {
        let name = match sort.by {
            crate::request::SortBy::Field(name) => name,
            _ => {
                return Err(Fault::illegal(value.at, "[bucket_sort] sorts by buckets' paths"));
            }
        };
        sorts.push((name, sort.order));
    }
    debug_assert!(sorts.len() >= nodes.len().min(1), "each names a path");
    Ok(sorts)
}

/// `moving_fn`: functions that are known are computed here, others are scripts.
fn moving_fn(part: &Parts<'_>, node: &Node) -> Read<PipeKind> {
    let Some(window) = part.window else {
        return Err(Fault::illegal(node.end, "Required [window]"));
    };
    let Some(script) = part.script else {
        return Err(Fault::illegal(node.end, "Required [script]"));
    };
    let (window, shift) = (window as u32, part.shift);
    let script = super::super::script::read(script)?;
    let known = match &script.source {
        ScriptSource::Inline(source) => function(source),
        ScriptSource::Stored(_) => None,
    };
    Ok(match known {
        Some(function) => PipeKind::MovingFn { window, shift, function },
        None => PipeKind::MovingScript { window, shift, script: Box::new(script) },
    })
}

fn function(source: &str) -> Option<MovingFn> {
    let text: String = source.chars().filter(|c| !c.is_whitespace()).collect();
    let text = text.strip_suffix(';').unwrap_or(&text);
    let text = text.strip_prefix("return").unwrap_or(text);
    let call = text.strip_prefix("MovingFunctions.")?;
    let (name, rest) = call.split_once('(')?;
    let arguments = rest.strip_suffix(')')?;
    let mut parts = arguments.splitn(2, ',');
    if parts.next()? != "values" {
        return None;
    }
    let rest = parts.next();
    let numbers = || -> Option<Vec<f64>> {
        rest.unwrap_or_default().split(',').map(|part| part.parse().ok()).collect()
    };
    Some(match (name, rest) {
        ("max", None) => MovingFn::Max,
        ("min", None) => MovingFn::Min,
        ("sum", None) => MovingFn::Sum,
        ("unweightedAvg", None) => MovingFn::Unweighted,
        ("linearWeightedAvg", None) => MovingFn::Linear,
        ("stdDev", Some("MovingFunctions.unweightedAvg(values)")) => MovingFn::StdDev,
        ("ewma", Some(_)) => match numbers()?.as_slice() {
            [alpha] => MovingFn::Ewma(*alpha),
            _ => return None,
        },
        ("holt", Some(_)) => match numbers()?.as_slice() {
            [alpha, beta] => MovingFn::Holt(*alpha, *beta),
            _ => return None,
        },
        ("holtWinters", Some(rest)) => {
            let parts: Vec<&str> = rest.split(',').collect();
            let [alpha, beta, gamma, period, multiplicative] = parts.as_slice() else {
                return None;
            };
            MovingFn::HoltWinters(
                alpha.parse().ok()?,
                beta.parse().ok()?,
                gamma.parse().ok()?,
                period.parse().ok()?,
                multiplicative.parse().ok()?,
            )
        }
        _ => return None,
    })
}

/// Checks that pipelines stand where they may, and that what they name is there.
pub fn validate(aggs: &Aggs, parent: Option<&Agg>) -> Read<()> {
    let mut problems = Vec::new();
    for pipe in &aggs.pipes {
        problem(pipe, aggs, parent, &mut problems);
    }
    if !problems.is_empty() {
        let at = crate::error::Place { line: 1, column: 1 };
        return Err(Fault { error: Error::validation(&problems), at });
    }
    for agg in &aggs.aggs {
        validate(&agg.subs, Some(agg))?;
    }
    Ok(())
}

fn problem(pipe: &Pipe, aggs: &Aggs, parent: Option<&Agg>, problems: &mut Vec<String>) {
    let (kind, name) = (pipe.kind.type_name(), pipe.name.as_str());
    let path = pipe.path.as_str();
    if pipe.kind.is_sibling() {
        let steps = paths::steps(path);
        let Some(agg) = steps.first().and_then(|step| child(aggs, step)) else {
            problems.push(format!("No aggregation found for path [{path}]"));
            return;
        };
        if !agg.kind.is_bucket() || agg.kind.is_single() {
            problems.push(format!(
                "The first aggregation in buckets_path must be a multi-bucket aggregation for \
                 aggregation [{name}] found :{} for buckets path: {path}",
                java_class(&agg.kind),
            ));
            return;
        }
        let mut here = &agg.subs;
        for step in &steps[1..] {
            if step.name.starts_with('_') || here.pipes.iter().any(|pipe| pipe.name == step.name) {
                break;
            }
            match child(here, step) {
                Some(next) => here = &next.subs,
                None => {
                    let missing = step.name;
                    problems.push(format!("No aggregation [{missing}] found for path [{path}]"));
                    return;
                }
            }
        }
        return;
    }
    let sequential = !matches!(
        pipe.kind,
        PipeKind::BucketSort { .. }
            | PipeKind::Normalize(_)
            | PipeKind::BucketScript(_)
            | PipeKind::BucketSelector(_)
    );
    if sequential {
        let fits = match parent.map(|agg| &agg.kind) {
            Some(Kind::Histogram(histogram)) => {
                if histogram.min_doc_count != 0 {
                    problems.push(format!("parent histogram of {kind} aggregation [{name}] must have min_doc_count of 0"));
                }
                true
            }
            Some(Kind::DateHistogram(histogram)) => {
                if histogram.min_doc_count != 0 {
                    problems.push(format!("parent histogram of {kind} aggregation [{name}] must have min_doc_count of 0"));
                }
                true
            }
            Some(Kind::AutoDateHistogram(_)) => true,
            _ => false,
        };
        if !fits {
            problems.push(format!(
                "{kind} aggregation [{name}] must have a histogram, date_histogram or \
                 auto_date_histogram as parent"
            ));
            return;
        }
    } else if parent.is_none_or(|agg| agg.kind.is_single()) {
        problems.push(format!(
            "{kind} aggregation [{name}] must be declared inside of another aggregation"
        ));
        return;
    }
    for path in pipe.paths() {
        let steps = paths::steps(path);
        let there = steps.first().is_none_or(|step| {
            step.name.is_empty()
                || step.name.starts_with('_')
                || aggs.pipes.iter().any(|other| other.name == step.name)
                || child(aggs, step).is_some()
        });
        if !there {
            problems.push(format!("No aggregation found for path [{path}]"));
        }
    }
}

/// The aggregation that a step names: names may hold dots.
fn child<'a>(aggs: &'a Aggs, step: &paths::Step<'_>) -> Option<&'a Agg> {
    let whole = step.key.map(|key| format!("{}.{key}", step.name));
    let named = |agg: &&Agg| agg.name == step.name || Some(&agg.name) == whole.as_ref();
    aggs.aggs.iter().find(named)
}

/// As Elasticsearch prints the builder's class in one message.
fn java_class(kind: &Kind) -> String {
    let package = match kind {
        kind if !kind.is_bucket() => "metrics".to_owned(),
        Kind::ReverseNested(_) => "bucket.nested".to_owned(),
        kind => format!("bucket.{}", kind.type_name().split('_').next().unwrap_or_default()),
    };
    format!(
        "org.elasticsearch.search.aggregations.{package}.{}AggregationBuilder",
        paths::java_name(kind)
    )
}
