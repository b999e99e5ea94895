//! Filters, samplers, and the ways to other documents.

use json::spanned::{Kind as Json, Node};

use super::super::context::{Fault, Read, Takes, boolean, int, object, text};
use super::super::query;
use super::terms::named_queries;
use super::values::{Knows, double, values_object};
use crate::aggs::spec::{Filters, Kind, Values};

/// Filters of an adjacency matrix at most (the count of clauses allowed).
const ADJACENCY_MAX: usize = 4096;

/// `filter`.
pub fn filter(node: &Node) -> Read<Kind> {
    Ok(Kind::Filter(Box::new(query::read(node, 0)?)))
}

/// `filters`.
pub fn filters(node: &Node) -> Read<Kind> {
    let fields = [
        ("filters", Takes::Objects),
        ("other_bucket", Takes::Bool),
        ("other_bucket_key", Takes::String),
        ("keyed", Takes::Bool),
    ];
    let mut found = Filters { filters: Vec::new(), named: true, keyed: true, other: None };
    let (mut given, mut other, mut other_key, mut keyed) = (false, false, None, None);
    object("filters", &fields, node, |key, value| {
        match key {
            "filters" => {
                given = true;
                if let Json::Array(nodes) = &value.kind {
                    found.named = false;
                    for node in nodes {
                        found.filters.push((String::new(), query::read(node, 0)?));
                    }
                } else {
                    found.filters = named_queries(value)?;
                }
            }
            "other_bucket" => other = boolean(value)?,
            "other_bucket_key" => other_key = Some(text(value)?),
            _ => keyed = Some(boolean(value)?),
        }
        Ok(())
    })?;
    if !given || found.filters.is_empty() {
        return Err(Fault::illegal(node.end, "[filters] cannot be empty."));
    }
    if found.named {
        found.filters.sort_by(|a, b| a.0.cmp(&b.0));
    }
    found.keyed = found.named && keyed.unwrap_or(true);
    found.other =
        (other || other_key.is_some()).then(|| other_key.unwrap_or_else(|| "_other_".to_owned()));
    Ok(Kind::Filters(Box::new(found)))
}

/// `adjacency_matrix`.
pub fn adjacency(node: &Node) -> Read<Kind> {
    let fields = [("filters", Takes::Object), ("separator", Takes::String)];
    let (mut filters, mut separator) = (Vec::new(), "&".to_owned());
    object("adjacency_matrix", &fields, node, |key, value| {
        match key {
            "filters" => filters = named_queries(value)?,
            _ => separator = text(value)?,
        }
        Ok(())
    })?;
    if filters.is_empty() {
        return Err(Fault::illegal(node.end, "[filters] cannot be empty."));
    }
    if filters.len() > ADJACENCY_MAX {
        let reason = format!(
            "Number of filters is too large, must be less than or equal to: [{ADJACENCY_MAX}] but \
             was [{}].",
            filters.len()
        );
        return Err(Fault::illegal(node.end, reason));
    }
    filters.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(Kind::Adjacency { filters, separator })
}

/// `missing`.
pub fn missing(node: &Node) -> Read<Kind> {
    let knows = Knows::new("missing").unformatted().unscripted();
    let values: Values = values_object(knows, &[], node, |_, _| Ok(()))?;
    Ok(Kind::Missing(values))
}

/// `global`.
pub fn global(node: &Node) -> Read<Kind> {
    object("global", &[], node, |_, _| Ok(()))?;
    Ok(Kind::Global)
}

/// `nested`.
pub fn nested(name: &str, node: &Node) -> Read<Kind> {
    let mut path = None;
    object("nested", &[("path", Takes::String)], node, |_, value| {
        path = Some(text(value)?);
        Ok(())
    })?;
    match path {
        Some(path) => Ok(Kind::Nested(path)),
        None => Err(Fault::parsing(
            node.end,
            format!("Missing [path] field for nested aggregation [{name}]"),
        )),
    }
}

/// `reverse_nested`.
pub fn reverse_nested(node: &Node) -> Read<Kind> {
    let mut path = None;
    object("reverse_nested", &[("path", Takes::String)], node, |_, value| {
        path = Some(text(value)?);
        Ok(())
    })?;
    Ok(Kind::ReverseNested(path))
}

/// `sampler` and `diversified_sampler`.
pub fn sampler(node: &Node, diverse: bool) -> Read<Kind> {
    let mut shard_size = 100;
    if !diverse {
        object("sampler", &[("shard_size", Takes::Number)], node, |_, value| {
            shard_size = size(value)?;
            Ok(())
        })?;
        return Ok(Kind::Sampler { shard_size, diversity: None });
    }
    let own = [
        ("shard_size", Takes::Number),
        ("max_docs_per_value", Takes::Number),
        ("execution_hint", Takes::String),
    ];
    let mut most = 1;
    let knows = Knows::new("diversified_sampler").unformatted();
    let values = values_object(knows, &own, node, |key, value| {
        match key {
            "shard_size" => shard_size = size(value)?,
            "max_docs_per_value" => most = size(value)?,
            _ => {}
        }
        Ok(())
    })?;
    Ok(Kind::Sampler { shard_size, diversity: Some((values, most)) })
}

fn size(value: &Node) -> Read<u32> {
    let size = int(value)?;
    u32::try_from(size).map_err(|_| {
        Fault::illegal(
            value.at,
            format!("[shardSize] must be greater than or equal to 0. Found [{size}]"),
        )
    })
}

/// `random_sampler`.
pub fn random_sampler(node: &Node) -> Read<Kind> {
    let fields =
        [("probability", Takes::Number), ("seed", Takes::Number), ("shard_seed", Takes::Number)];
    let (mut probability, mut seed) = (None, 0);
    object("random_sampler", &fields, node, |key, value| {
        match key {
            "probability" => probability = Some(double(value)?),
            "seed" => seed = int(value)?,
            _ => {}
        }
        Ok(())
    })?;
    let Some(probability) = probability else {
        return Err(Fault::illegal(node.end, "Required [probability]"));
    };
    if !(probability > 0.0 && probability <= 0.5 || probability == 1.0) {
        let reason = format!(
            "[probability] must be between 0.0 and 0.5 or exactly 1.0, was [{probability:?}]"
        );
        return Err(Fault::illegal(node.end, reason));
    }
    Ok(Kind::RandomSampler { probability, seed })
}
