//! `sort`: the keys of the order.

use json::spanned::{Kind as Json, Node};

use super::context::{Fault, Read, Takes, boolean, int, members, object, scalar, text};
use super::{geo, query};
use crate::ast::Scalar;
use crate::error::{Error, Result};
use crate::request::{
    DistanceSort, Missing, Mode, NestedSort, NumericType, Order, ScriptKind, ScriptSort, Sort,
    SortBy,
};

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
    Sort::new(by, order)
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
            _ if member.key == "_geo_distance" || member.key == "_geoDistance" => {
                distance(&mut sort, value)?;
            }
            _ if member.key == "_script" => {
                by_script(&mut sort, value)?;
            }
            _ => field(&mut sort, value)?,
        }
        sorts.push(sort);
    }
    Ok(())
}

fn field(sort: &mut Sort, node: &Node) -> Read<()> {
    const FIELDS: [(&str, Takes); 7] = [
        ("nested", Takes::Object),
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
            "nested" => sort.nested = Some(nested(value)?),
            "order" => sort.order = order_of(value)?,
            "mode" => sort.mode = Some(mode(value)?),
            "numeric_type" => sort.numeric_type = Some(numeric_type(value)?),
            _ => sort.format = Some(text(value)?),
        }
        Ok(())
    })
}

/// `_script`.
fn by_script(sort: &mut Sort, node: &Node) -> Read<()> {
    const FIELDS: [(&str, Takes); 5] = [
        ("script", Takes::Any),
        ("type", Takes::String),
        ("order", Takes::String),
        ("mode", Takes::String),
        ("nested", Takes::Object),
    ];
    let (mut script, mut kind) = (None, None);
    object("_script", &FIELDS, node, |key, value| {
        match key {
            "script" => script = Some(super::script::read(value)?),
            "type" => {
                let word = text(value)?;
                kind = Some(match word.to_ascii_lowercase().as_str() {
                    "number" => ScriptKind::Number,
                    "string" => ScriptKind::Text,
                    "version" => ScriptKind::Version,
                    _ => {
                        let reason = format!("Unknown ScriptSortType [{word}]");
                        return Err(Fault::illegal(value.at, reason));
                    }
                });
            }
            "order" => sort.order = order_of(value)?,
            "mode" => sort.mode = Some(mode(value)?),
            _ => sort.nested = Some(nested(value)?),
        }
        Ok(())
    })?;
    let (Some(script), Some(kind)) = (script, kind) else {
        return Err(Fault::illegal(node.end, "Required [script, type]"));
    };
    let few = matches!(sort.mode, None | Some(Mode::Min | Mode::Max));
    if kind != ScriptKind::Number && !few {
        let reason = "script sort of type [string] doesn't support mode";
        return Err(Fault::illegal(node.end, reason));
    }
    sort.by = SortBy::Script(Box::new(ScriptSort { script, kind }));
    Ok(())
}

/// `_geo_distance`.
fn distance(sort: &mut Sort, node: &Node) -> Read<()> {
    let mut asked = DistanceSort {
        field: String::new(),
        origins: Vec::new(),
        unit: 1.0,
        is_flat: false,
        ignore_unmapped: false,
    };
    for member in members(node) {
        let value = &member.value;
        match member.key.as_str() {
            "order" => sort.order = order_of(value)?,
            "unit" => {
                let name = text(value)?;
                asked.unit = geo::unit(&name).map_err(|error| Fault { error, at: value.at })?;
            }
            "distance_type" => match text(value)?.as_str() {
                "arc" => asked.is_flat = false,
                "plane" => asked.is_flat = true,
                other => {
                    let reason = format!("Unknown distance type [{other}]");
                    return Err(Fault::illegal(value.at, reason));
                }
            },
            "mode" => {
                let word = mode(value)?;
                if word == Mode::Sum {
                    let reason = "sort_mode [sum] isn't supported for sorting by geo distance";
                    return Err(Fault::illegal(value.at, reason));
                }
                sort.mode = Some(word);
            }
            "nested" => sort.nested = Some(nested(value)?),
            "ignore_unmapped" => asked.ignore_unmapped = boolean(value)?,
            "validation_method" => drop(text(value)?),
            other => {
                if !asked.field.is_empty() {
                    let reason = format!(
                        "Trying to reset fieldName to [{other}], already set to [{}].",
                        asked.field
                    );
                    return Err(Fault::parsing(value.at, reason));
                }
                other.clone_into(&mut asked.field);
                asked.origins = origins(value)?;
            }
        }
    }
    if asked.origins.is_empty() {
        return Err(Fault::illegal(node.at, "Geo distance sorting needs at least one point."));
    }
    sort.by = SortBy::Distance(asked);
    Ok(())
}

/// So many documents inside count where a request does not say.
const CHILDREN_MAX: u32 = i32::MAX as u32;

/// `nested`: the innermost path counts, and the outermost says how many.
fn nested(node: &Node) -> Read<NestedSort> {
    const FIELDS: [(&str, Takes); 4] = [
        ("path", Takes::String),
        ("filter", Takes::Object),
        ("max_children", Takes::Number),
        ("nested", Takes::Object),
    ];
    let mut sort = NestedSort {
        path: String::new(),
        filter: None,
        max_children: CHILDREN_MAX,
        has_inner_max: false,
    };
    let mut inner = None;
    object("nested_sort", &FIELDS, node, |key, value| {
        match key {
            "path" => sort.path = text(value)?,
            "filter" => sort.filter = Some(query::read(value, 0)?),
            "max_children" => {
                // Elasticsearch takes any: of less than none, none counts.
                sort.max_children = u32::try_from(int(value)?).unwrap_or(0);
            }
            _ => inner = Some(nested(value)?),
        }
        Ok(())
    })?;
    match inner {
        None => Ok(sort),
        Some(inner) if sort.filter.is_none() => {
            let has_inner_max = inner.has_inner_max || inner.max_children != CHILDREN_MAX;
            Ok(NestedSort { max_children: sort.max_children, has_inner_max, ..inner })
        }
        Some(_) => {
            Err(Fault::illegal(node.at, "[nested_sort] a filter of an outer path is not supported"))
        }
    }
}

/// One place, or several.
fn origins(node: &Node) -> Read<Vec<crate::ast::GeoPoint>> {
    match &node.kind {
        // `[lon, lat]` is one place.
        Json::Array(nodes) if !nodes.iter().any(|node| node.as_number().is_some()) => {
            nodes.iter().map(geo::point).collect()
        }
        _ => Ok(vec![geo::point(node)?]),
    }
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
