//! Aggregations that make a number or a few.

use std::sync::Arc;

use json::spanned::{Kind as Json, Node};

use super::super::context::{Fault, Read, Takes, boolean, int, members, object, text};
use super::super::{body, query, sort};
use super::values::{Knows, double, doubles, long, no_field, values_object};
use crate::aggs::spec::{Kind, Method, Metric, TTest, TTestKind, TopMetrics, Values};
use crate::ast::Query;
use crate::error::{Error, Kind as ErrorKind};
use crate::request::{Mode, SearchRequest, SortBy};

/// Per cents shown where none were asked for.
const PERCENTS: [f64; 7] = [1.0, 5.0, 25.0, 50.0, 75.0, 95.0, 99.0];

/// Precision of a count of different values, where none was asked for, and the greatest.
const PRECISION: u32 = 3000;
const PRECISION_MAX: i64 = 40_000;

/// Metrics over one field.
pub fn read(kind: &str, name: &str, node: &Node) -> Read<Kind> {
    let (metric, values) = match kind {
        "avg" => (Metric::Avg, plain("avg", node)?),
        "sum" => (Metric::Sum, plain("sum", node)?),
        "min" => (Metric::Min, plain("min", node)?),
        "max" => (Metric::Max, plain("max", node)?),
        "value_count" => (Metric::ValueCount, plain("value_count", node)?),
        "stats" => (Metric::Stats, plain("stats", node)?),
        "extended_stats" => {
            let mut sigma = 2.0;
            let own = [("sigma", Takes::Number)];
            let values = values_object(Knows::new("extended_stats"), &own, node, |_, value| {
                sigma = double(value)?;
                if sigma < 0.0 {
                    return Err(Fault::illegal(
                        value.at,
                        format!(
                            "[sigma] must be greater than or equal to 0. Found [{sigma:?}] in [{name}]"
                        ),
                    ));
                }
                Ok(())
            })?;
            (Metric::ExtendedStats { sigma }, values)
        }
        "cardinality" => cardinality(name, node)?,
        "percentiles" => percentiles(name, node)?,
        "percentile_ranks" => percentile_ranks(name, node)?,
        "median_absolute_deviation" => {
            let (compression, values) = digest("median_absolute_deviation", 1000.0, name, node)?;
            (Metric::MedianAbsoluteDeviation { compression }, values)
        }
        "boxplot" => {
            let (compression, values) = digest("boxplot", 100.0, name, node)?;
            (Metric::Boxplot { compression }, values)
        }
        "string_stats" => {
            let mut show_distribution = false;
            let own = [("show_distribution", Takes::Bool)];
            let values = values_object(Knows::new("string_stats"), &own, node, |_, value| {
                show_distribution = boolean(value)?;
                Ok(())
            })?;
            (Metric::StringStats { show_distribution }, values)
        }
        "geo_bounds" => {
            let mut wrap_longitude = true;
            let own = [("wrap_longitude", Takes::Bool)];
            let knows = Knows::new("geo_bounds").unformatted();
            let values = values_object(knows, &own, node, |_, value| {
                wrap_longitude = boolean(value)?;
                Ok(())
            })?;
            (Metric::GeoBounds { wrap_longitude }, values)
        }
        _ => {
            let knows = Knows::new("geo_centroid").unformatted();
            (Metric::GeoCentroid, values_object(knows, &[], node, |_, _| Ok(()))?)
        }
    };
    Ok(Kind::Metric(metric, values))
}

fn plain(parser: &'static str, node: &Node) -> Read<Values> {
    values_object(Knows::new(parser), &[], node, |_, _| Ok(()))
}

fn cardinality(name: &str, node: &Node) -> Read<(Metric, Values)> {
    let mut precision = PRECISION;
    let own = [
        ("precision_threshold", Takes::Number),
        ("rehash", Takes::Bool),
        ("execution_hint", Takes::String),
    ];
    let knows = Knows::new("cardinality").unformatted();
    let values = values_object(knows, &own, node, |key, value| {
        if key == "precision_threshold" {
            let threshold = long(value)?;
            if threshold < 0 {
                return Err(Fault::illegal(
                    value.at,
                    format!(
                        "[precisionThreshold] must be greater than or equal to 0. Found \
                         [{threshold}] in [{name}]"
                    ),
                ));
            }
            precision = threshold.min(PRECISION_MAX) as u32;
        }
        Ok(())
    })?;
    Ok((Metric::Cardinality { precision }, values))
}

fn digest(parser: &'static str, default: f64, name: &str, node: &Node) -> Read<(f64, Values)> {
    let mut compression = default;
    let own = [("compression", Takes::Number), ("execution_hint", Takes::String)];
    let values = values_object(Knows::new(parser), &own, node, |key, value| {
        if key == "compression" {
            compression = double(value)?;
            if compression <= 0.0 {
                return Err(Fault::illegal(
                    value.at,
                    format!(
                        "[compression] must be greater than 0. Found [{compression:?}] in [{name}]"
                    ),
                ));
            }
        } else {
            hint(value)?;
        }
        Ok(())
    })?;
    Ok((compression, values))
}

/// `execution_hint` of a digest.
fn hint(value: &Node) -> Read<()> {
    let word = text(value)?;
    match word.as_str() {
        "default" | "high_accuracy" => Ok(()),
        _ => Err(Fault::illegal(
            value.at,
            format!("Invalid execution_hint [{word}], valid values are [default, high_accuracy]"),
        )),
    }
}

/// The keys that choose how percentiles are found.
const METHODS: [(&str, Takes); 3] =
    [("keyed", Takes::Bool), ("tdigest", Takes::Object), ("hdr", Takes::Object)];

fn method(key: &str, value: &Node, chosen: &mut Option<Method>) -> Read<()> {
    if chosen.is_some() {
        return Err(Fault::illegal(value.at, "Only one percentiles method should be declared."));
    }
    if key == "hdr" {
        let mut digits = 3;
        let fields = [("number_of_significant_value_digits", Takes::Number)];
        object("hdr", &fields, value, |_, value| {
            digits = int(value)?;
            if !(0..=5).contains(&digits) {
                let reason = "[numberOfSignificantValueDigits] must be between 0 and 5";
                return Err(Fault::illegal(value.at, reason));
            }
            Ok(())
        })?;
        *chosen = Some(Method::Hdr(digits as u8));
        return Ok(());
    }
    let mut compression = 100.0;
    let fields = [("compression", Takes::Number), ("execution_hint", Takes::String)];
    object("tdigest", &fields, value, |key, value| {
        match key {
            "compression" => {
                compression = double(value)?;
                if compression < 0.0 || compression.is_nan() {
                    let reason = format!(
                        "[compression] must be greater than or equal to 0. Found [{compression:?}]"
                    );
                    return Err(Fault::illegal(value.at, reason));
                }
            }
            _ => hint(value)?,
        }
        Ok(())
    })?;
    *chosen = Some(Method::TDigest(compression));
    Ok(())
}

/// What a builder refuses once all its keys are there.
fn not_built(parser: &str, node: &Node, reason: String) -> Fault {
    let outer = format!("Failed to build [{parser}] after last required field arrived");
    let error = Error::new(ErrorKind::XContent, outer).caused_by(Error::illegal(reason));
    Fault { error, at: node.end }
}

fn percentiles(name: &str, node: &Node) -> Read<(Metric, Values)> {
    let (mut percents, mut keyed, mut chosen) = (PERCENTS.to_vec(), true, None);
    let mut own = METHODS.to_vec();
    own.push(("percents", Takes::Any));
    let values = values_object(Knows::new("percentiles"), &own, node, |key, value| {
        match key {
            "percents" => percents = doubles(value)?,
            "keyed" => keyed = boolean(value)?,
            _ => method(key, value, &mut chosen)?,
        }
        Ok(())
    })?;
    if percents.is_empty() {
        return Err(not_built(
            "percentiles",
            node,
            format!("[percents] must not be empty: [{name}]"),
        ));
    }
    check_percents(&percents, name).map_err(|reason| not_built("percentiles", node, reason))?;
    percents.sort_by(f64::total_cmp);
    let method = chosen.unwrap_or(Method::TDigest(100.0));
    Ok((Metric::Percentiles { percents, keyed, method }, values))
}

/// Each lies between 0 and 100.
pub fn check_percents(percents: &[f64], name: &str) -> Result<(), String> {
    match percents.iter().find(|percent| !(0.0..=100.0).contains(*percent)) {
        Some(percent) => Err(format!("percent must be in [0,100], got [{percent:?}]: [{name}]")),
        None => Ok(()),
    }
}

fn percentile_ranks(name: &str, node: &Node) -> Read<(Metric, Values)> {
    let (mut ranks, mut keyed, mut chosen) = (None, true, None);
    let mut own = METHODS.to_vec();
    own.push(("values", Takes::Any));
    let values = values_object(Knows::new("percentile_ranks"), &own, node, |key, value| {
        match key {
            "values" => ranks = Some(doubles(value)?),
            "keyed" => keyed = boolean(value)?,
            _ => method(key, value, &mut chosen)?,
        }
        Ok(())
    })?;
    let Some(mut ranks) = ranks else {
        let reason = format!("[values] must not be null: [{name}]");
        return Err(not_built("percentile_ranks", node, reason));
    };
    if ranks.is_empty() {
        let reason = format!("[values] must not be an empty array: [{name}]");
        return Err(not_built("percentile_ranks", node, reason));
    }
    ranks.sort_by(f64::total_cmp);
    let method = chosen.unwrap_or(Method::TDigest(100.0));
    Ok((Metric::PercentileRanks { values: ranks, keyed, method }, values))
}

/// A field with its `missing`, as several aggregations hold more than one.
pub fn multi_values(node: &Node, own: &[(&'static str, Takes)]) -> Read<(Values, Option<Query>)> {
    let mut filter = None;
    let knows = Knows { zone: true, ..Knows::new("field_config") };
    let values = values_object(knows, own, node, |_, value| {
        filter = Some(query::read(value, 0)?);
        Ok(())
    })?;
    Ok((values, filter))
}

/// `weighted_avg`.
pub fn weighted_avg(node: &Node) -> Read<Kind> {
    let fields = [
        ("value", Takes::Object),
        ("weight", Takes::Object),
        ("format", Takes::String),
        ("value_type", Takes::String),
    ];
    let (mut found, mut weight, mut format) = (None, None, None);
    object("weighted_avg", &fields, node, |key, value| {
        match key {
            "value" => found = Some(multi_values(value, &[])?.0),
            "weight" => weight = Some(multi_values(value, &[])?.0),
            "format" => format = Some(text(value)?),
            _ => {}
        }
        Ok(())
    })?;
    match (found, weight) {
        (Some(value), Some(weight)) => Ok(Kind::WeightedAvg { value, weight, format }),
        (None, _) => Err(Fault::illegal(node.end, "[value] must not be null: [weighted_avg]")),
        (_, None) => Err(Fault::illegal(node.end, "[weight] must not be null: [weighted_avg]")),
    }
}

/// `matrix_stats`. What it does not know it refuses by the kind of its value, as Elasticsearch's reader of several
/// fields does.
pub fn matrix_stats(name: &str, node: &Node) -> Read<Kind> {
    for member in members(node) {
        let (key, value) = (&member.key, &member.value);
        if ["fields", "missing", "mode"].contains(&key.as_str()) {
            continue;
        }
        let has_parts = matches!(value.kind, Json::Object(_) | Json::Array(_));
        let no_script = match key == "script" && has_parts {
            true => " Multi-field aggregations do not support scripts.",
            false => "",
        };
        let reason = format!("Unexpected token {} [{key}] in [{name}].{no_script}", value.token());
        return Err(Fault::parsing(value.at, reason));
    }
    let own = [("fields", Takes::Strings), ("missing", Takes::Object), ("mode", Takes::String)];
    let (mut fields, mut missing, mut mode) = (Vec::new(), Vec::new(), Mode::Avg);
    object("matrix_stats", &own, node, |key, value| {
        match key {
            "fields" => {
                fields = match &value.kind {
                    Json::Array(nodes) => nodes.iter().map(text).collect::<Read<_>>()?,
                    _ => vec![text(value)?],
                };
            }
            "missing" => {
                for member in members(value) {
                    missing.push((member.key.clone(), double(&member.value)?));
                }
            }
            _ => {
                mode = match text(value)?.to_ascii_lowercase().as_str() {
                    "min" => Mode::Min,
                    "max" => Mode::Max,
                    "avg" => Mode::Avg,
                    "sum" => Mode::Sum,
                    "median" => Mode::Median,
                    word => {
                        let reason = format!("Unknown SortMode [{word}]");
                        return Err(Fault::illegal(value.at, reason));
                    }
                };
            }
        }
        Ok(())
    })?;
    if fields.is_empty() {
        return Err(no_field(false, node.end));
    }
    Ok(Kind::MatrixStats { fields, missing, mode })
}

/// `top_hits`: the keys of a search that speak of hits.
pub fn top_hits(node: &Node) -> Read<Kind> {
    let mut request = SearchRequest { size: 3, ..SearchRequest::default() };
    for member in members(node) {
        let (key, value) = (member.key.as_str(), &member.value);
        match key {
            "from"
            | "size"
            | "sort"
            | "_source"
            | "stored_fields"
            | "docvalue_fields"
            | "fields"
            | "version"
            | "seq_no_primary_term"
            | "explain"
            | "track_scores"
            | "script_fields"
            | "highlight" => body::key(&mut request, key, value)?,
            _ => {
                let reason = format!("Unknown key for a {} in [{key}].", value.token());
                return Err(Fault::parsing(value.at, reason));
            }
        }
    }
    Ok(Kind::TopHits(Arc::new(request)))
}

/// `top_metrics`.
pub fn top_metrics(node: &Node) -> Read<Kind> {
    let fields = [("metrics", Takes::Objects), ("sort", Takes::Any), ("size", Takes::Number)];
    let mut found = TopMetrics { metrics: Vec::new(), sort: Vec::new(), size: 1 };
    object("top_metrics", &fields, node, |key, value| {
        match key {
            "metrics" => {
                let nodes = match &value.kind {
                    Json::Array(nodes) => nodes.as_slice(),
                    _ => std::slice::from_ref(value),
                };
                for node in nodes {
                    found.metrics.push(multi_values(node, &[])?.0);
                }
            }
            "sort" => found.sort = sort::read(value)?,
            _ => {
                let size = int(value)?;
                if size < 1 {
                    return Err(Fault::illegal(
                        value.at,
                        format!("[size] must be more than 0 but was [{size}]"),
                    ));
                }
                found.size = size as u32;
            }
        }
        Ok(())
    })?;
    if found.sort.len() != 1 {
        return Err(Fault::illegal(node.end, "[top_metrics] must have exactly one [sort]"));
    }
    let place = match found.sort[0].by {
        SortBy::Doc => Some("_doc"),
        SortBy::ShardDoc => Some("_shard_doc"),
        _ => None,
    };
    if let Some(place) = place {
        return Err(Fault::illegal(node.end, format!("sorting by {place} is not supported")));
    }
    if found.metrics.is_empty() {
        return Err(Fault::illegal(node.end, "Required [metrics]"));
    }
    Ok(Kind::TopMetrics(found))
}

/// `t_test`.
pub fn t_test(node: &Node) -> Read<Kind> {
    let fields = [
        ("a", Takes::Object),
        ("b", Takes::Object),
        ("type", Takes::String),
        ("tails", Takes::Number),
        ("format", Takes::String),
    ];
    let own = [("filter", Takes::Object)];
    let (mut a, mut b, mut kind, mut tails) = (None, None, TTestKind::Heteroscedastic, 2);
    object("t_test", &fields, node, |key, value| {
        match key {
            "a" => a = Some(multi_values(value, &own)?),
            "b" => b = Some(multi_values(value, &own)?),
            "type" => {
                let word = text(value)?;
                kind = match word.as_str() {
                    "paired" => TTestKind::Paired,
                    "homoscedastic" => TTestKind::Homoscedastic,
                    "heteroscedastic" => TTestKind::Heteroscedastic,
                    _ => {
                        let reason = format!(
                            "No enum constant org.elasticsearch.xpack.analytics.ttest.TTestType.{}",
                            word.to_uppercase()
                        );
                        return Err(Fault::illegal(value.at, reason));
                    }
                };
            }
            "tails" => {
                tails = int(value)?;
                if !(1..=2).contains(&tails) {
                    return Err(Fault::illegal(
                        value.at,
                        format!("[tails] must be 1 or 2. Found [{tails}]"),
                    ));
                }
            }
            _ => {}
        }
        Ok(())
    })?;
    let (Some(a), Some(b)) = (a, b) else {
        let error = Error::new(ErrorKind::IllegalArgument, "Required [a, b]");
        return Err(Fault { error, at: node.end });
    };
    Ok(Kind::TTest(Box::new(TTest { a, b, kind, tails: tails as u8 })))
}
