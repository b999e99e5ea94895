//! Queries for special ends: `nested`, `rank_feature`, `distance_feature`, `pinned`, `wrapper`.

use json::spanned::{Kind as Json, Node};

use super::context::{
    Fault, Read, Takes, boolean, boost, float, is_value, members, object, text, unsupported,
};
use super::{inner, query};
use crate::ast::{
    DistanceFeature, Nested, NestedScore, Node as Ask, Pinned, Query, RankFeature, RankFunction,
};

/// `nested`.
pub fn nested(body: &Node, depth: u32) -> Read<Query> {
    const NAME: &str = "nested";
    let (mut path, mut asked, mut inner_hits) = (None, None, None);
    let (mut score_mode, mut ignore_unmapped) = (NestedScore::Avg, false);
    let (mut factor, mut name) = (1.0, None);
    for member in members(body) {
        let (key, value) = (member.key.as_str(), &member.value);
        match (key, &value.kind) {
            ("query", Json::Object(_)) => asked = Some(query::read(value, depth)?),
            ("inner_hits", Json::Object(_)) => {
                // Read again where hits are fetched.
                inner::read(value)?;
                inner_hits = Some(value.to_value());
            }
            ("path", _) if is_value(value) => path = Some(text(value)?),
            ("boost", _) if is_value(value) => factor = boost(value)?,
            ("ignore_unmapped", _) if is_value(value) => ignore_unmapped = boolean(value)?,
            ("score_mode", _) if is_value(value) => score_mode = nested_score(value)?,
            ("_name", _) if is_value(value) => name = Some(text(value)?),
            _ => return Err(unsupported(NAME, key, value)),
        }
    }
    let Some(path) = path else {
        return Err(Fault::illegal(body.end, "[nested] requires 'path' field"));
    };
    let Some(query) = asked else {
        return Err(Fault::illegal(body.end, "[nested] requires 'query' field"));
    };
    let nested = Nested { path, query, score_mode, ignore_unmapped, inner_hits };
    Ok(Query { node: Ask::Nested(Box::new(nested)), boost: factor, name })
}

pub(super) fn nested_score(value: &Node) -> Read<NestedScore> {
    let word = text(value)?;
    Ok(match word.as_str() {
        "none" => NestedScore::None,
        "min" => NestedScore::Min,
        "max" => NestedScore::Max,
        "avg" => NestedScore::Avg,
        "sum" => NestedScore::Sum,
        _ => {
            let reason = format!("No score mode for child query [{word}] found");
            return Err(Fault::illegal(value.at, reason));
        }
    })
}

/// `rank_feature`.
pub fn rank_feature(body: &Node) -> Read<Query> {
    let fields = [
        ("field", Takes::String),
        ("boost", Takes::Number),
        ("_name", Takes::String),
        ("log", Takes::Objects),
        ("saturation", Takes::Objects),
        ("sigmoid", Takes::Objects),
        ("linear", Takes::Objects),
    ];
    let (mut field, mut functions) = (None, Vec::new());
    let (mut factor, mut name) = (1.0, None);
    object("feature", &fields, body, |key, value| {
        match key {
            "field" => field = Some(text(value)?),
            "boost" => factor = boost(value)?,
            "_name" => name = Some(text(value)?),
            _ => functions.push(rank_function(key, value)?),
        }
        Ok(())
    })?;
    let Some(field) = field else {
        return Err(Fault::illegal(body.end, "Required [field]"));
    };
    if functions.len() > 1 {
        let reason = "Can only specify one of [log], [saturation], [sigmoid] and [linear]";
        return Err(Fault::illegal(body.end, reason));
    }
    let function = functions.pop().unwrap_or(RankFunction::Saturation(None));
    Ok(Query { node: Ask::RankFeature(RankFeature { field, function }), boost: factor, name })
}

fn rank_function(kind: &str, body: &Node) -> Read<RankFunction> {
    let known: &[(&str, Takes)] = match kind {
        "log" => &[("scaling_factor", Takes::Number)],
        "saturation" => &[("pivot", Takes::Number)],
        "sigmoid" => &[("pivot", Takes::Number), ("exponent", Takes::Number)],
        _ => &[],
    };
    let (mut first, mut exponent) = (None, None);
    object(kind, known, body, |key, value| {
        match key {
            "exponent" => exponent = Some(float(value)?),
            _ => first = Some(float(value)?),
        }
        Ok(())
    })?;
    let required = |value: Option<f32>, name: &str| {
        value.ok_or_else(|| Fault::illegal(body.end, format!("Required [{name}]")))
    };
    let positive = |value: f32, what: &str| {
        if value > 0.0 && value.is_finite() {
            return Ok(value);
        }
        Err(Fault::illegal(body.end, format!("{what} must be > 0, got: {value:?}")))
    };
    Ok(match kind {
        "log" => {
            let factor = required(first, "scaling_factor")?;
            if factor < 1.0 || !factor.is_finite() {
                let reason = format!("scalingFactor must be >= 1, got: {factor:?}");
                return Err(Fault::illegal(body.end, reason));
            }
            RankFunction::Log(factor)
        }
        "saturation" => {
            RankFunction::Saturation(first.map(|pivot| positive(pivot, "pivot")).transpose()?)
        }
        "sigmoid" => RankFunction::Sigmoid(
            positive(required(first, "pivot")?, "pivot")?,
            positive(required(exponent, "exponent")?, "exp")?,
        ),
        _ => RankFunction::Linear,
    })
}

/// `distance_feature`.
pub fn distance_feature(body: &Node) -> Read<Query> {
    let (mut field, mut origin, mut pivot) = (None, None, None);
    let (mut factor, mut name) = (1.0, None);
    for member in members(body) {
        let (key, value) = (member.key.as_str(), &member.value);
        match key {
            "field" => field = Some(text(value)?),
            "origin" => origin = Some(value.to_value()),
            "pivot" => pivot = Some(text(value)?),
            "boost" => factor = boost(value)?,
            "_name" => name = Some(text(value)?),
            _ => {
                let reason = format!("[distance_feature] unknown field [{key}]");
                return Err(Fault::content(member.key_at, value.at, reason));
            }
        }
    }
    let missing = |what: &str| Fault::illegal(body.end, format!("Required [{what}]"));
    let found = DistanceFeature {
        field: field.ok_or_else(|| missing("field"))?,
        origin: origin.ok_or_else(|| missing("origin"))?,
        pivot: pivot.ok_or_else(|| missing("pivot"))?,
    };
    Ok(Query { node: Ask::DistanceFeature(found), boost: factor, name })
}

/// `pinned`.
pub fn pinned(body: &Node, depth: u32) -> Read<Query> {
    const NAME: &str = "pinned";
    const MOST: usize = 100;
    let (mut organic, mut ids, mut docs) = (None, None, None);
    let (mut factor, mut name) = (1.0, None);
    for member in members(body) {
        let (key, value) = (member.key.as_str(), &member.value);
        match (key, &value.kind) {
            ("organic", Json::Object(_)) => organic = Some(query::read(value, depth)?),
            ("ids", Json::Array(nodes)) => {
                let read = nodes.iter().map(|node| Ok((None, text(node)?)));
                ids = Some(read.collect::<Read<Vec<_>>>()?);
            }
            ("docs", Json::Array(nodes)) => {
                docs = Some(nodes.iter().map(pinned_doc).collect::<Read<Vec<_>>>()?);
            }
            ("boost", _) if is_value(value) => factor = boost(value)?,
            ("_name", _) if is_value(value) => name = Some(text(value)?),
            _ => {
                let reason = format!("[{NAME}] unknown field [{key}]");
                return Err(Fault::content(member.key_at, value.at, reason));
            }
        }
    }
    let Some(organic) = organic else {
        return Err(Fault::illegal(body.end, "Required [organic]"));
    };
    let pinned = match (ids, docs) {
        (Some(found), None) | (None, Some(found)) => found,
        (None, None) => {
            return Err(Fault::illegal(body.end, "[pinned] one of [ids, docs] must be specified"));
        }
        _ => {
            let reason = "[pinned] only one of [ids, docs] may be specified";
            return Err(Fault::illegal(body.end, reason));
        }
    };
    if pinned.len() > MOST {
        let reason = format!("[pinned] Max of {MOST} docs exceeded: {} provided.", pinned.len());
        return Err(Fault::illegal(body.end, reason));
    }
    let node = Ask::Pinned(Pinned { organic: Box::new(organic), docs: pinned });
    Ok(Query { node, boost: factor, name })
}

fn pinned_doc(node: &Node) -> Read<(Option<String>, String)> {
    let fields = [("_index", Takes::String), ("_id", Takes::String)];
    let (mut index, mut id) = (None, None);
    object("pinned", &fields, node, |key, value| {
        match key {
            "_index" => index = Some(text(value)?),
            _ => id = Some(text(value)?),
        }
        Ok(())
    })?;
    match id {
        Some(id) => Ok((index, id)),
        None => Err(Fault::illegal(node.end, "Required [_id]")),
    }
}

/// `wrapper`: a query in base64.
pub fn wrapper(body: &Node, depth: u32) -> Read<Query> {
    let [member] = members(body) else {
        return Err(Fault::parsing(body.end, "[wrapper] query malformed"));
    };
    if member.key != "query" {
        let reason = format!("[wrapper] query malformed, expected `query` but was {}", member.key);
        return Err(Fault::parsing(member.key_at, reason));
    }
    let encoded = text(&member.value)?;
    if encoded.is_empty() {
        return Err(Fault::illegal(body.end, "query source text cannot be null or empty"));
    }
    let Some(bytes) = base64(&encoded) else {
        let reason = "Illegal base64 character";
        return Err(Fault::illegal(member.value.at, reason));
    };
    let root = json::spanned::parse(&bytes).map_err(|error| Fault {
        error: super::context::not_json(&error, &bytes),
        at: member.value.at,
    })?;
    query::read(&root, depth)
}

/// The bytes of a text in base64, with or without padding.
fn base64(text: &str) -> Option<Vec<u8>> {
    let text = text.trim_end_matches('=');
    let mut out = Vec::with_capacity(text.len() * 3 / 4);
    let (mut bits, mut count) = (0u32, 0);
    for c in text.bytes() {
        let six = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(six);
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
        }
    }
    Some(out)
}
