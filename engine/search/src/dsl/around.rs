//! Keys of a search around the hits: `pit`, `slice`, `collapse`, `rescore`.

use json::spanned::{Kind as Json, Node};

use super::body::time_ms;
use super::context::{Fault, Read, Takes, float, int, members, object, text};
use super::{inner, query};
use crate::error::{Error, Kind};
use crate::request::{Collapse, PointInTime, Rescore, ScoreMode, Slice};

/// `pit`.
pub fn pit(node: &Node) -> Read<PointInTime> {
    let mut pit = PointInTime { id: String::new(), keep_alive: None };
    let mut given = false;
    object("pit", &[("id", Takes::String), ("keep_alive", Takes::String)], node, |key, value| {
        if key == "id" {
            pit.id = text(value)?;
            given = true;
            return Ok(());
        }
        let word = text(value)?;
        let time = time_ms(&word, "keep_alive").map_err(|error| Fault { error, at: value.at })?;
        pit.keep_alive = Some((time.unwrap_or(0), word));
        Ok(())
    })?;
    if !given {
        return Err(Fault::illegal(node.end, "Required [id]"));
    }
    Ok(pit)
}

/// `slice`.
pub fn slice(node: &Node) -> Read<Slice> {
    const FIELDS: [(&str, Takes); 3] =
        [("field", Takes::String), ("id", Takes::Number), ("max", Takes::Number)];
    let (mut field, mut id, mut max) = (None, None, None);
    object("slice", &FIELDS, node, |key, value| {
        match key {
            "field" => {
                field = Some(text(value)?);
                return Ok(());
            }
            "id" => {
                let number = int(value)?;
                id = Some(u32::try_from(number).map_err(|_| {
                    Fault::illegal(value.at, "id must be greater than or equal to 0")
                })?);
            }
            _ => {
                let number = int(value)?;
                if number <= 1 {
                    return Err(Fault::illegal(value.at, "max must be greater than 1"));
                }
                max = Some(number as u32);
            }
        }
        // The later of the two is the one that is wrong.
        match (id, max) {
            (Some(id), Some(max)) if id >= max => {
                Err(Fault::illegal(value.at, "max must be greater than id"))
            }
            _ => Ok(()),
        }
    })?;
    match (id, max) {
        (Some(id), Some(max)) => Ok(Slice { field: field.filter(|field| field != "_id"), id, max }),
        (None, _) => Err(Fault::illegal(node.at, "Required [id]")),
        (_, None) => Err(Fault::illegal(node.at, "Required [max]")),
    }
}

/// `runtime_mappings`: only none are taken.
pub fn refuse_runtime_fields(node: &Node) -> Read<()> {
    match members(node).first() {
        None => Ok(()),
        Some(first) => Err(Fault::illegal(first.value.at, "[runtime_mappings] are not supported")),
    }
}

/// `ext`: what plugins read, of which there is none.
pub fn refuse_extensions(node: &Node) -> Read<()> {
    let Some(first) = members(node).first() else { return Ok(()) };
    let at = first.value.at;
    let reason = format!("{at} unknown field [{}]", first.key);
    Err(Fault { error: Error::new(Kind::NamedObject, reason), at })
}

/// `collapse` inside of inner hits: a field, and nothing else.
pub fn collapse_inside(node: &Node) -> Read<Collapse> {
    let wrong = match members(node) {
        [] => node.end,
        [one, ..] if one.key != "field" => one.key_at,
        [one, ..] if !matches!(one.value.kind, Json::String(_)) => one.value.at,
        [one] => {
            return Ok(Collapse { field: text(&one.value)?, inner_hits: Vec::new() });
        }
        [_, other, ..] => other.key_at,
    };
    Err(Fault::parsing(wrong, "Invalid token in the inner collapse"))
}

/// `collapse`.
pub fn collapse(node: &Node) -> Read<Collapse> {
    const FIELDS: [(&str, Takes); 4] = [
        ("field", Takes::String),
        ("inner_hits", Takes::Any),
        ("max_concurrent_group_searches", Takes::Number),
        ("collapse", Takes::Object),
    ];
    let mut collapse = Collapse { field: String::new(), inner_hits: Vec::new() };
    object("collapse", &FIELDS, node, |key, value| {
        match key {
            "field" => collapse.field = text(value)?,
            "inner_hits" => match value.as_array() {
                Some(nodes) => {
                    for node in nodes {
                        collapse.inner_hits.push(inner::read(node)?);
                    }
                }
                None => collapse.inner_hits.push(inner::read(value)?),
            },
            "max_concurrent_group_searches" => {
                if int(value)? < 1 {
                    let reason = "maxConcurrentGroupRequests` must be positive";
                    return Err(Fault::illegal(value.at, reason));
                }
            }
            _ => {
                let reason = format!("[collapse] unknown field [{key}]");
                return Err(Fault::content(value.at, value.at, reason));
            }
        }
        Ok(())
    })?;
    if collapse.field.is_empty() {
        return Err(Fault::illegal(node.end, "Required [field]"));
    }
    let mut names: Vec<_> = collapse.inner_hits.iter().map(|inner| inner.name.as_ref()).collect();
    names.sort_unstable();
    names.dedup();
    if names.len() < collapse.inner_hits.len() {
        let reason = "[inner_hits] already contains an entry for key";
        return Err(Fault::illegal(node.at, reason));
    }
    Ok(collapse)
}

/// Several rescorers.
pub fn rescores(node: &Node) -> Read<Vec<Rescore>> {
    node.as_array().unwrap_or_default().iter().map(rescore).collect()
}

/// One rescorer.
pub fn rescore(node: &Node) -> Read<Rescore> {
    let mut window = 10;
    let mut rescorer = None;
    for member in members(node) {
        let value = &member.value;
        match member.key.as_str() {
            "window_size" => {
                let size = int(value)?;
                window = u32::try_from(size).map_err(|_| {
                    Fault::parsing(value.at, format!("rescore doesn't support [{size}]"))
                })?;
            }
            "query" => rescorer = Some(rescore_query(value)?),
            other if value.as_object().is_some() => {
                let reason = format!("{} unknown field [{other}]", value.at);
                let error = Error::new(Kind::NamedObject, reason);
                return Err(Fault { error, at: value.at });
            }
            other => {
                let reason = format!("rescore doesn't support [{other}]");
                return Err(Fault::parsing(value.at, reason));
            }
        }
    }
    match rescorer {
        Some(rescorer) => Ok(Rescore { window, ..rescorer }),
        None => Err(Fault::parsing(node.end, "missing rescore type")),
    }
}

fn rescore_query(node: &Node) -> Read<Rescore> {
    const FIELDS: [(&str, Takes); 4] = [
        ("rescore_query", Takes::Object),
        ("query_weight", Takes::Number),
        ("rescore_query_weight", Takes::Number),
        ("score_mode", Takes::String),
    ];
    let mut asked = None;
    let (mut query_weight, mut rescore_weight) = (1.0, 1.0);
    let mut mode = ScoreMode::Total;
    object("query", &FIELDS, node, |key, value| {
        match key {
            "rescore_query" => asked = Some(query::read(value, 0)?),
            "query_weight" => query_weight = float(value)?,
            "rescore_query_weight" => rescore_weight = float(value)?,
            _ => {
                let word = text(value)?;
                mode = match word.to_ascii_lowercase().as_str() {
                    "total" => ScoreMode::Total,
                    "multiply" => ScoreMode::Multiply,
                    "avg" => ScoreMode::Avg,
                    "max" => ScoreMode::Max,
                    "min" => ScoreMode::Min,
                    _ => {
                        let reason = format!("illegal score_mode [{word}]");
                        return Err(Fault::illegal(value.at, reason));
                    }
                };
            }
        }
        Ok(())
    })?;
    match asked {
        Some(query) => Ok(Rescore { window: 10, query, query_weight, rescore_weight, mode }),
        None => Err(Fault::illegal(node.end, "Required [rescore_query]")),
    }
}
