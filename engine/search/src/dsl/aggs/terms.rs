//! `terms` and its relatives, orders of buckets, include and exclude.

use json::spanned::{Kind as Json, Node};

use super::super::context::{Fault, Read, Takes, boolean, int, members, object, text};
use super::super::query;
use super::metric::multi_values;
use super::values::{Knows, long, natural, positive, values_object};
use crate::aggs::spec::{
    BucketOrder, Heuristic, IncludeExclude, Kind, MultiTerms, OrderBy, RareTerms, Significant,
    TermSet, Terms,
};
use crate::error::{Error, Kind as ErrorKind};
use crate::request::Order;

/// Most documents first, ties by key.
pub fn default_order() -> BucketOrder {
    vec![(OrderBy::Count, Order::Descending), (OrderBy::Key, Order::Ascending)]
}

/// `terms`.
pub fn terms(name: &str, node: &Node) -> Read<Kind> {
    let own = [
        ("size", Takes::Number),
        ("shard_size", Takes::Number),
        ("order", Takes::Any),
        ("min_doc_count", Takes::Number),
        ("shard_min_doc_count", Takes::Number),
        ("include", Takes::Any),
        ("exclude", Takes::Any),
        ("show_term_doc_count_error", Takes::Bool),
        ("collect_mode", Takes::String),
        ("execution_hint", Takes::String),
    ];
    let mut terms = Terms {
        values: Default::default(),
        size: 10,
        shard_size: None,
        order: default_order(),
        min_doc_count: 1,
        shard_min_doc_count: 0,
        filter: IncludeExclude::default(),
        show_error: false,
    };
    let values = values_object(Knows::new("terms"), &own, node, |key, value| {
        match key {
            "size" => terms.size = positive("size", name, value)?,
            "shard_size" => terms.shard_size = shard_size(name, value)?,
            "order" => terms.order = order(value)?,
            "min_doc_count" => terms.min_doc_count = natural("minDocCount", name, value)?,
            "shard_min_doc_count" => {
                terms.shard_min_doc_count = natural("shardMinDocCount", name, value)?;
            }
            "show_term_doc_count_error" => terms.show_error = boolean(value)?,
            "collect_mode" => collect_mode(value)?,
            "execution_hint" => execution_hint(value)?,
            _ => include_exclude(key, value, &mut terms.filter)?,
        }
        Ok(())
    })?;
    terms.values = values;
    Ok(Kind::Terms(Box::new(terms)))
}

/// -1 says: by size.
fn shard_size(name: &str, value: &Node) -> Read<Option<u32>> {
    if int(value)? == -1 {
        return Ok(None);
    }
    positive("shardSize", name, value).map(Some)
}

fn collect_mode(value: &Node) -> Read<()> {
    let word = text(value)?;
    match word.as_str() {
        "depth_first" | "breadth_first" => Ok(()),
        _ => {
            let reason = format!("no [collect_mode] found for value [{word}]");
            Err(Fault { error: Error::new(ErrorKind::Parse, reason), at: value.at })
        }
    }
}

fn execution_hint(value: &Node) -> Read<()> {
    let word = text(value)?;
    match word.as_str() {
        "map" | "global_ordinals" => Ok(()),
        _ => Err(Fault::illegal(
            value.at,
            format!("Unknown `execution_hint`: [{word}], expected any of [map, global_ordinals]"),
        )),
    }
}

/// One key or several; the key of the bucket decides in the end.
pub fn order(node: &Node) -> Read<BucketOrder> {
    let mut orders = Vec::new();
    match &node.kind {
        Json::Array(nodes) => {
            for node in nodes {
                orders.push(one_order(node)?);
            }
        }
        _ => orders.push(one_order(node)?),
    }
    if !orders.iter().any(|(by, _)| *by == OrderBy::Key) {
        orders.push((OrderBy::Key, Order::Ascending));
    }
    Ok(orders)
}

fn one_order(node: &Node) -> Read<(OrderBy, Order)> {
    let Some(parts) = node.as_object() else {
        let reason = format!("Unexpected token [{}] for [order]", node.token());
        return Err(Fault::parsing(node.at, reason));
    };
    let mut found = None;
    for part in parts {
        let value = &part.value;
        let Some(word) = value.as_str() else {
            let reason = format!("Unexpected token [{}] for [order]", value.token());
            return Err(Fault::parsing(value.at, reason));
        };
        let direction = match word.to_ascii_lowercase().as_str() {
            "asc" => Order::Ascending,
            "desc" => Order::Descending,
            _ => {
                return Err(Fault::parsing(value.at, format!("Unknown order direction [{word}]")));
            }
        };
        let by = match part.key.as_str() {
            "_key" | "_term" | "_time" => OrderBy::Key,
            "_count" => OrderBy::Count,
            path => OrderBy::Path(path.to_owned()),
        };
        found = Some((by, direction));
    }
    found.ok_or_else(|| Fault::parsing(node.end, "Must specify at least one field for [order]"))
}

/// `include` and `exclude`.
fn include_exclude(key: &str, value: &Node, filter: &mut IncludeExclude) -> Read<()> {
    let set = match &value.kind {
        Json::String(expression) => TermSet::Regexp(expression.clone()),
        Json::Array(nodes) => {
            let mut list = Vec::with_capacity(nodes.len());
            for node in nodes {
                if !matches!(node.kind, Json::String(_) | Json::Number(_)) {
                    let reason =
                        "Array elements in include/exclude clauses should be string values";
                    return Err(Fault { error: Error::new(ErrorKind::Parse, reason), at: node.at });
                }
                list.push(text(node)?);
            }
            TermSet::List(list)
        }
        Json::Object(parts) if key == "include" => {
            let (mut partition, mut count) = (None, None);
            for part in parts {
                match part.key.as_str() {
                    "partition" => partition = Some(int(&part.value)?),
                    "num_partitions" => count = Some(int(&part.value)?),
                    other => {
                        let reason =
                            format!("Unknown parameter in Include/Exclude clause: {other}");
                        let error = Error::new(ErrorKind::Parse, reason);
                        return Err(Fault { error, at: part.value.at });
                    }
                }
            }
            let missing = |what: &str| {
                let reason = format!("Missing [{what}] parameter for partition-based include");
                Fault::illegal(value.end, reason)
            };
            let partition = partition.ok_or_else(|| missing("partition"))?;
            let count = count.ok_or_else(|| missing("num_partitions"))?;
            if partition < 0 || partition >= count {
                let reason = format!("Partition must be >=0 and < numPartition which is {count}");
                return Err(Fault::illegal(value.end, reason));
            }
            filter.partition = Some((partition as u32, count as u32));
            return Ok(());
        }
        _ => {
            let article = if key == "include" { "an include" } else { "an exclude" };
            let reason = format!("Unrecognized token for {article} [{}]", value.token());
            return Err(Fault::illegal(value.at, reason));
        }
    };
    if key == "include" {
        filter.include = Some(set);
    } else {
        filter.exclude = Some(set);
    }
    if filter.partition.is_some() && filter.exclude.is_some() {
        return Err(Fault::illegal(
            value.at,
            "Cannot specify any excludes when using a partition-based include",
        ));
    }
    Ok(())
}

/// `rare_terms`.
pub fn rare_terms(name: &str, node: &Node) -> Read<Kind> {
    let own = [
        ("max_doc_count", Takes::Number),
        ("precision", Takes::Number),
        ("include", Takes::Any),
        ("exclude", Takes::Any),
    ];
    let (mut max, mut filter) = (1, IncludeExclude::default());
    let values = values_object(Knows::new("rare_terms"), &own, node, |key, value| {
        match key {
            "max_doc_count" => {
                let count = long(value)?;
                if count <= 0 {
                    let reason = format!(
                        "[max_doc_count] must be greater than 0. Found [{count}] in [{name}]"
                    );
                    return Err(Fault::illegal(value.at, reason));
                }
                if count > 100 {
                    let reason = format!("[max_doc_count] must be smaller than 100 in [{name}]");
                    return Err(Fault::illegal(value.at, reason));
                }
                max = count as u64;
            }
            "precision" => {
                let precision = super::values::double(value)?;
                if precision < 0.00001 {
                    return Err(Fault::illegal(
                        value.at,
                        "[precision] must be greater than 0.00001",
                    ));
                }
            }
            _ => include_exclude(key, value, &mut filter)?,
        }
        Ok(())
    })?;
    Ok(Kind::RareTerms(Box::new(RareTerms { values, max_doc_count: max, filter })))
}

/// `significant_terms` and `significant_text`.
pub fn significant(name: &str, node: &Node, is_text: bool) -> Read<Kind> {
    let mut own = vec![
        ("size", Takes::Number),
        ("shard_size", Takes::Number),
        ("min_doc_count", Takes::Number),
        ("shard_min_doc_count", Takes::Number),
        ("include", Takes::Any),
        ("exclude", Takes::Any),
        ("execution_hint", Takes::String),
        ("background_filter", Takes::Object),
        ("jlh", Takes::Object),
        ("mutual_information", Takes::Object),
        ("chi_square", Takes::Object),
        ("gnd", Takes::Object),
        ("percentage", Takes::Object),
        ("script_heuristic", Takes::Object),
    ];
    if is_text {
        own.push(("filter_duplicate_text", Takes::Bool));
        own.push(("source_fields", Takes::Strings));
    }
    let mut sig = Significant {
        values: Default::default(),
        text: is_text,
        source_fields: Vec::new(),
        filter_duplicates: false,
        size: 10,
        shard_size: None,
        min_doc_count: 3,
        shard_min_doc_count: 0,
        filter: IncludeExclude::default(),
        background: None,
        heuristic: Heuristic::Jlh,
    };
    let parser = if is_text { "significant_text" } else { "significant_terms" };
    let mut knows = Knows::new(parser).unscripted();
    if is_text {
        knows = knows.unformatted();
    }
    let values = values_object(knows, &own, node, |key, value| {
        match key {
            "size" => sig.size = positive("size", name, value)?,
            "shard_size" => sig.shard_size = shard_size(name, value)?,
            "min_doc_count" => sig.min_doc_count = natural("minDocCount", name, value)?,
            "shard_min_doc_count" => {
                sig.shard_min_doc_count = natural("shardMinDocCount", name, value)?;
            }
            "execution_hint" => execution_hint(value)?,
            "background_filter" => sig.background = Some(query::read(value, 0)?),
            "filter_duplicate_text" => sig.filter_duplicates = boolean(value)?,
            "source_fields" => {
                sig.source_fields = match &value.kind {
                    Json::Array(nodes) => nodes.iter().map(text).collect::<Read<_>>()?,
                    _ => vec![text(value)?],
                };
            }
            "script_heuristic" => return Err(super::values::no_scripts(value.at)),
            "jlh" | "mutual_information" | "chi_square" | "gnd" | "percentage" => {
                sig.heuristic = heuristic(key, value)?;
            }
            _ => include_exclude(key, value, &mut sig.filter)?,
        }
        Ok(())
    })?;
    sig.values = values;
    Ok(Kind::Significant(Box::new(sig)))
}

fn heuristic(key: &str, value: &Node) -> Read<Heuristic> {
    let (mut include_negatives, mut superset) = (false, true);
    let both = [("include_negatives", Takes::Bool), ("background_is_superset", Takes::Bool)];
    let fields: &[(&str, Takes)] = match key {
        "mutual_information" | "chi_square" => &both,
        "gnd" => &both[1..],
        _ => &[],
    };
    object(key, fields, value, |key, value| {
        match key {
            "include_negatives" => include_negatives = boolean(value)?,
            _ => superset = boolean(value)?,
        }
        Ok(())
    })?;
    Ok(match key {
        "mutual_information" => Heuristic::MutualInformation { include_negatives, superset },
        "chi_square" => Heuristic::ChiSquare { include_negatives, superset },
        "gnd" => Heuristic::Gnd { superset },
        "percentage" => Heuristic::Percentage,
        _ => Heuristic::Jlh,
    })
}

/// `multi_terms`.
pub fn multi_terms(name: &str, node: &Node) -> Read<Kind> {
    let fields = [
        ("terms", Takes::Array),
        ("size", Takes::Number),
        ("shard_size", Takes::Number),
        ("order", Takes::Any),
        ("min_doc_count", Takes::Number),
        ("shard_min_doc_count", Takes::Number),
        ("show_term_doc_count_error", Takes::Bool),
        ("collect_mode", Takes::String),
        ("format", Takes::String),
        ("value_type", Takes::String),
    ];
    let mut terms = MultiTerms {
        terms: Vec::new(),
        size: 10,
        shard_size: None,
        order: default_order(),
        min_doc_count: 1,
        shard_min_doc_count: 0,
        show_error: false,
    };
    object("multi_terms", &fields, node, |key, value| {
        match key {
            "terms" => {
                for node in value.as_array().unwrap_or_default() {
                    if node.as_object().is_none() {
                        let reason = format!(
                            "[field_config] Expected START_OBJECT but was: {}",
                            node.token()
                        );
                        return Err(Fault::content(node.at, node.at, reason));
                    }
                    terms.terms.push(multi_values(node, &[("include", Takes::Any)])?.0);
                }
                if terms.terms.len() < 2 {
                    return Err(Fault::illegal(value.end, too_few(name, terms.terms.len())));
                }
            }
            "size" => terms.size = positive("size", name, value)?,
            "shard_size" => terms.shard_size = shard_size(name, value)?,
            "order" => terms.order = order(value)?,
            "min_doc_count" => terms.min_doc_count = natural("minDocCount", name, value)?,
            "shard_min_doc_count" => {
                terms.shard_min_doc_count = natural("shardMinDocCount", name, value)?;
            }
            "show_term_doc_count_error" => terms.show_error = boolean(value)?,
            "collect_mode" => collect_mode(value)?,
            _ => {}
        }
        Ok(())
    })?;
    if terms.terms.len() < 2 {
        return Err(Fault::illegal(node.end, too_few(name, 0)));
    }
    Ok(Kind::MultiTerms(Box::new(terms)))
}

fn too_few(name: &str, count: usize) -> String {
    let hint = if count == 0 { "" } else { " For a single field user terms aggregation." };
    format!(
        "The [terms] parameter in the aggregation [{name}] must be present and have at least 2 \
         fields or scripts.{hint}"
    )
}

/// Members of an object whose values are queries, by name.
pub fn named_queries(node: &Node) -> Read<Vec<(String, crate::ast::Query)>> {
    let mut queries = Vec::new();
    for member in members(node) {
        queries.push((member.key.clone(), query::read(&member.value, 0)?));
    }
    Ok(queries)
}
