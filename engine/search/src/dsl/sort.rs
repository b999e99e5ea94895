//! `sort`: the keys of the order.

use json::spanned::{Kind as Json, Node};

use super::context::{Fault, Read, Takes, members, object, scalar, text};
use crate::ast::Scalar;
use crate::error::{Error, Result};
use crate::request::{Missing, Mode, NumericType, Order, Sort, SortBy};

/// A name, an object of names, or an array of both.
pub fn read(node: &Node) -> Read<Vec<Sort>> {
    let mut sorts = Vec::new();
    match &node.kind {
        Json::String(name) => sorts.push(by_name(name)),
        Json::Object(_) => compound(node, &mut sorts)?,
        Json::Array(nodes) => {
            for node in nodes {
                match &node.kind {
                    Json::String(name) => sorts.push(by_name(name)),
                    Json::Object(_) => compound(node, &mut sorts)?,
                    _ => {
                        return Err(Fault::illegal(
                            node.at,
                            "malformed sort format, within the sort array, an object, or an \
                             actual string are allowed",
                        ));
                    }
                }
            }
        }
        _ => {
            return Err(Fault::illegal(
                node.at,
                "malformed sort format, either start with array, object, or an actual string",
            ));
        }
    }
    Ok(sorts)
}

/// A key in its default direction.
pub fn by_name(name: &str) -> Sort {
    let (by, order) = match name {
        "_score" => (SortBy::Score, Order::Descending),
        "_doc" => (SortBy::Doc, Order::Ascending),
        "_shard_doc" => (SortBy::ShardDoc, Order::Ascending),
        _ => (SortBy::Field(name.to_owned()), Order::Ascending),
    };
    Sort {
        by,
        order,
        mode: None,
        missing: Missing::Last,
        unmapped_type: None,
        format: None,
        numeric_type: None,
    }
}

fn compound(node: &Node, sorts: &mut Vec<Sort>) -> Read<()> {
    for member in members(node) {
        let value = &member.value;
        let mut sort = by_name(&member.key);
        match &value.kind {
            Json::String(word) => {
                sort.order = order(word).map_err(|error| Fault { error, at: value.at })?;
            }
            _ if sort.by == SortBy::Score => {
                object("_score", &[("order", Takes::String)], value, |_, value| {
                    sort.order = order_of(value)?;
                    Ok(())
                })?;
            }
            _ => field(&mut sort, value)?,
        }
        sorts.push(sort);
    }
    Ok(())
}

fn field(sort: &mut Sort, node: &Node) -> Read<()> {
    const FIELDS: [(&str, Takes); 6] = [
        ("missing", Takes::Value),
        ("unmapped_type", Takes::String),
        ("order", Takes::String),
        ("mode", Takes::String),
        ("numeric_type", Takes::String),
        ("format", Takes::String),
    ];
    if node.as_object().is_none() {
        let reason = format!("[field_sort] Expected START_OBJECT but was: {}", node.token());
        return Err(Fault::content(node.at, node.at, reason));
    }
    object("field_sort", &FIELDS, node, |key, value| {
        match key {
            "missing" => {
                sort.missing = match scalar(value)? {
                    None => Missing::Last,
                    Some(Scalar::String(word)) if word == "_last" => Missing::Last,
                    Some(Scalar::String(word)) if word == "_first" => Missing::First,
                    Some(value) => Missing::Value(value),
                };
            }
            "unmapped_type" => sort.unmapped_type = Some(text(value)?),
            "order" => sort.order = order_of(value)?,
            "mode" => sort.mode = Some(mode(value)?),
            "numeric_type" => sort.numeric_type = Some(numeric_type(value)?),
            _ => sort.format = Some(text(value)?),
        }
        Ok(())
    })
}

fn order_of(value: &Node) -> Read<Order> {
    order(&text(value)?).map_err(|error| Fault { error, at: value.at })
}

/// `SortOrder.fromString`.
fn order(word: &str) -> Result<Order> {
    match word.to_uppercase().as_str() {
        "ASC" => Ok(Order::Ascending),
        "DESC" => Ok(Order::Descending),
        word => Err(Error::illegal(format!(
            "No enum constant org.elasticsearch.search.sort.SortOrder.{word}"
        ))),
    }
}

/// `SortMode.fromString`.
fn mode(value: &Node) -> Read<Mode> {
    let word = text(value)?;
    match word.to_ascii_lowercase().as_str() {
        "min" => Ok(Mode::Min),
        "max" => Ok(Mode::Max),
        "sum" => Ok(Mode::Sum),
        "avg" => Ok(Mode::Avg),
        "median" => Ok(Mode::Median),
        _ => Err(Fault::illegal(value.at, format!("Unknown SortMode [{word}]"))),
    }
}

fn numeric_type(value: &Node) -> Read<NumericType> {
    let word = text(value)?;
    match word.to_ascii_lowercase().as_str() {
        "long" => Ok(NumericType::Long),
        "double" => Ok(NumericType::Double),
        "date" => Ok(NumericType::Date),
        "date_nanos" => Ok(NumericType::DateNanos),
        lower => {
            let reason = format!(
                "invalid value for [numeric_type], must be [long, double, date, date_nanos], got {lower}"
            );
            Err(Fault::illegal(value.at, reason))
        }
    }
}

/// `f:asc,g:desc` of a URL. A direction that is none drops its key, as in Elasticsearch.
pub fn of_url(text: &str) -> Vec<Sort> {
    let mut sorts = Vec::new();
    for part in text.split(',').filter(|part| !part.is_empty()) {
        match part.rsplit_once(':') {
            None => sorts.push(by_name(part)),
            Some((name, "asc")) => {
                sorts.push(Sort { order: Order::Ascending, ..by_name(name) });
            }
            Some((name, "desc")) => {
                sorts.push(Sort { order: Order::Descending, ..by_name(name) });
            }
            Some(_) => {}
        }
    }
    sorts
}
