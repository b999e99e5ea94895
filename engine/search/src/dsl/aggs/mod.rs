//! `aggs`: aggregations by name, each an object that names its type, and what stands below it.
//!
//! | file        | reads                                                        |
//! |-------------|--------------------------------------------------------------|
//! | `values`    | what most aggregations share: field, missing, format, zone   |
//! | `metric`    | aggregations that make numbers                               |
//! | `terms`     | `terms` and its relatives, orders, include and exclude       |
//! | `interval`  | histograms, their intervals, offsets and bounds              |
//! | `range`     | buckets between ends                                         |
//! | `single`    | filters, samplers, nested                                    |
//! | `geo`       | grids and points                                             |
//! | `composite` | `composite`                                                  |
//! | `pipeline`  | aggregations over results                                    |
//!
//! Always true: what needs a script is refused as where scripts are switched off.

mod composite;
mod geo;
pub(super) mod interval;
mod metric;
mod pipeline;
mod range;
mod single;
mod terms;
mod values;

pub(super) use values::long;

use json::spanned::Node;

use super::context::{Fault, Read, members};
use super::suggest;
use crate::aggs::spec::{Agg, Aggs, Kind, Pipe};
use crate::error::{Error, Kind as ErrorKind};

/// The aggregations that are known.
pub const NAMES: [&str; 64] = [
    "adjacency_matrix",
    "auto_date_histogram",
    "avg",
    "avg_bucket",
    "boxplot",
    "bucket_script",
    "bucket_selector",
    "bucket_sort",
    "cardinality",
    "composite",
    "cumulative_cardinality",
    "cumulative_sum",
    "date_histogram",
    "date_range",
    "derivative",
    "diversified_sampler",
    "extended_stats",
    "extended_stats_bucket",
    "filter",
    "filters",
    "geo_bounds",
    "geo_centroid",
    "geo_distance",
    "geohash_grid",
    "geotile_grid",
    "global",
    "histogram",
    "ip_prefix",
    "ip_range",
    "matrix_stats",
    "max",
    "max_bucket",
    "median_absolute_deviation",
    "min",
    "min_bucket",
    "missing",
    "moving_fn",
    "multi_terms",
    "nested",
    "normalize",
    "percentile_ranks",
    "percentiles",
    "percentiles_bucket",
    "random_sampler",
    "range",
    "rare_terms",
    "reverse_nested",
    "sampler",
    "scripted_metric",
    "serial_diff",
    "significant_terms",
    "significant_text",
    "stats",
    "stats_bucket",
    "string_stats",
    "sum",
    "sum_bucket",
    "t_test",
    "terms",
    "top_hits",
    "top_metrics",
    "value_count",
    "variable_width_histogram",
    "weighted_avg",
];

/// Depth of aggregations inside aggregations; the JSON reader bounds it too.
const DEPTH_MAX: u32 = 100;

/// What one aggregation turned out to be.
enum Either {
    Agg(Kind),
    Pipe(Pipe),
}

/// Reads aggregations by name.
pub fn read(node: &Node) -> Read<Aggs> {
    let aggs = level(node, 1)?;
    pipeline::validate(&aggs, None)?;
    Ok(aggs)
}

fn level(node: &Node, depth: u32) -> Read<Aggs> {
    if depth > DEPTH_MAX {
        return Err(Fault::parsing(node.at, "aggregations are nested too deep"));
    }
    let mut aggs = Aggs::default();
    for member in members(node) {
        let name = member.key.as_str();
        if name.is_empty() || name.contains(['[', ']', '>']) {
            let reason = format!(
                "Invalid aggregation name [{name}]. Aggregation names can contain any character \
                 except '[', ']', and '>'"
            );
            return Err(Fault::parsing(member.key_at, reason));
        }
        let taken = aggs.aggs.iter().any(|agg| agg.name == name)
            || aggs.pipes.iter().any(|pipe| pipe.name == name);
        if taken {
            let reason = format!("Two sibling aggregations cannot have the same name: [{name}]");
            return Err(Fault::illegal(member.key_at, reason));
        }
        one(name, &member.value, depth, &mut aggs)?;
    }
    Ok(aggs)
}

/// Reads one aggregation and puts it where it belongs.
fn one(name: &str, node: &Node, depth: u32, aggs: &mut Aggs) -> Read<()> {
    let Some(parts) = node.as_object() else {
        let reason = format!(
            "Aggregation definition for [{name} starts with a [{}], expected a [START_OBJECT].",
            node.token()
        );
        return Err(Fault::parsing(node.at, reason));
    };
    let mut found: Option<(&str, Either)> = None;
    let (mut meta, mut subs) = (None, None);
    for part in parts {
        let (key, value) = (part.key.as_str(), &part.value);
        if value.as_object().is_none() {
            let reason = format!(
                "Expected [START_OBJECT] under [{key}], but got a [{}] in [{name}]",
                value.token()
            );
            return Err(Fault::parsing(value.at, reason));
        }
        match key {
            "meta" => meta = Some(value.to_value()),
            "aggs" | "aggregations" => {
                if subs.is_some() {
                    let reason = format!("Found two sub aggregation definitions under [{name}]");
                    return Err(Fault::parsing(value.at, reason));
                }
                subs = Some(level(value, depth + 1)?);
            }
            _ => {
                if let Some((first, _)) = &found {
                    let reason = format!(
                        "Found two aggregation type definitions in [{name}]: [{first}] and [{key}]"
                    );
                    return Err(Fault::parsing(value.at, reason));
                }
                found = Some((key, typed(key, name, value)?));
            }
        }
    }
    let Some((_, either)) = found else {
        let reason = format!("Missing definition for aggregation [{name}]");
        return Err(Fault::parsing(node.end, reason));
    };
    match either {
        Either::Agg(kind) => {
            let subs = subs.unwrap_or_default();
            if !subs.is_empty() && !kind.is_bucket() {
                let reason = format!(
                    "Aggregator [{name}] of type [{}] cannot accept sub-aggregations",
                    kind.type_name()
                );
                let error = Error::new(ErrorKind::AggregationInit, reason);
                return Err(Fault { error, at: node.end });
            }
            aggs.aggs.push(Agg { name: name.to_owned(), kind, meta, subs });
        }
        Either::Pipe(mut pipe) => {
            if subs.is_some() {
                let reason = format!("Aggregation [{name}] cannot define sub-aggregations");
                return Err(Fault::parsing(node.end, reason));
            }
            pipe.meta = meta;
            aggs.pipes.push(pipe);
        }
    }
    Ok(())
}

fn typed(kind: &str, name: &str, node: &Node) -> Read<Either> {
    let agg = match kind {
        "avg"
        | "sum"
        | "min"
        | "max"
        | "value_count"
        | "stats"
        | "extended_stats"
        | "cardinality"
        | "percentiles"
        | "percentile_ranks"
        | "median_absolute_deviation"
        | "boxplot"
        | "string_stats"
        | "geo_bounds"
        | "geo_centroid" => metric::read(kind, name, node)?,
        "weighted_avg" => metric::weighted_avg(node)?,
        "matrix_stats" => metric::matrix_stats(name, node)?,
        "top_hits" => metric::top_hits(node)?,
        "top_metrics" => metric::top_metrics(node)?,
        "t_test" => metric::t_test(node)?,
        "terms" => terms::terms(name, node)?,
        "rare_terms" => terms::rare_terms(name, node)?,
        "significant_terms" => terms::significant(name, node, false)?,
        "significant_text" => terms::significant(name, node, true)?,
        "multi_terms" => terms::multi_terms(name, node)?,
        "histogram" => interval::histogram(name, node)?,
        "date_histogram" => interval::date_histogram(name, node)?,
        "auto_date_histogram" => interval::auto_date_histogram(name, node)?,
        "variable_width_histogram" => interval::variable_width(name, node)?,
        "range" => range::range(node, false)?,
        "date_range" => range::range(node, true)?,
        "ip_range" => range::ip_range(name, node)?,
        "ip_prefix" => range::ip_prefix(node)?,
        "geo_distance" => geo::distance(name, node)?,
        "geohash_grid" => geo::grid(node, false)?,
        "geotile_grid" => geo::grid(node, true)?,
        "filter" => single::filter(node)?,
        "filters" => single::filters(node)?,
        "adjacency_matrix" => single::adjacency(node)?,
        "missing" => single::missing(node)?,
        "global" => single::global(node)?,
        "nested" => single::nested(name, node)?,
        "reverse_nested" => single::reverse_nested(node)?,
        "sampler" => single::sampler(node, false)?,
        "diversified_sampler" => single::sampler(node, true)?,
        "random_sampler" => single::random_sampler(node)?,
        "composite" => composite::read(name, node)?,
        "scripted_metric" => return Err(values::no_scripts(node.at)),
        _ => match pipeline::read(kind, name, node)? {
            Some(pipe) => return Ok(Either::Pipe(pipe)),
            None => return Err(unknown(kind, node)),
        },
    };
    Ok(Either::Agg(agg))
}

fn unknown(kind: &str, node: &Node) -> Fault {
    let cause = Error::new(ErrorKind::NamedObject, format!("{} unknown field [{kind}]", node.at));
    let outer = format!("Unknown aggregation type [{kind}]{}", suggest::near(kind, NAMES));
    Fault { error: Error::parsing(node.at, outer).caused_by(cause), at: node.at }
}

#[cfg(test)]
mod tests;
