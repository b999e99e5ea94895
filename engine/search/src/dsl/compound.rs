//! Queries made of queries, and those made of nothing: `bool`, `constant_score`, `dis_max`,
//! `boosting`, `match_all`, `match_none`.

use json::spanned::{Kind as Json, Node};

use super::context::{
    Fault, Read, Takes, boolean, boost, float, is_value, members, object, text, text_or_null,
    unsupported,
};
use super::query;
use crate::ast::{Bool, Boosting, DisMax, Node as Ask, Query};

/// `match_all`.
pub fn match_all(body: &Node) -> Read<Query> {
    let mut query = Query::all();
    let fields = [("boost", Takes::Number), ("_name", Takes::String)];
    object("match_all", &fields, body, |key, value| {
        match key {
            "boost" => query.boost = boost(value)?,
            _ => query.name = Some(text(value)?),
        }
        Ok(())
    })
    .map_err(Fault::again_as_parsing)?;
    Ok(query)
}

/// `match_none`.
pub fn match_none(body: &Node) -> Read<Query> {
    let mut query = Query::new(Ask::MatchNone);
    for member in members(body) {
        let value = &member.value;
        match member.key.as_str() {
            _ if !is_value(value) => {
                let reason = format!("[match_none] unknown token [{}]", value.token());
                return Err(Fault::parsing(value.at, reason));
            }
            "boost" => query.boost = boost(value)?,
            "_name" => query.name = Some(text(value)?),
            key => return Err(unsupported("match_none", key, value)),
        }
    }
    Ok(query)
}

/// `bool`.
pub fn bool(body: &Node, depth: u32) -> Read<Query> {
    let fields = [
        ("must", Takes::Objects),
        ("should", Takes::Objects),
        ("must_not", Takes::Objects),
        ("filter", Takes::Objects),
        ("adjust_pure_negative", Takes::Bool),
        ("minimum_should_match", Takes::Value),
        ("_name", Takes::String),
        ("boost", Takes::Number),
    ];
    let mut found = Bool::default();
    let (mut factor, mut name) = (1.0, None);
    object("bool", &fields, body, |key, value| {
        match key {
            "must" => clauses(value, depth, &mut found.must)?,
            "should" => clauses(value, depth, &mut found.should)?,
            "must_not" => clauses(value, depth, &mut found.must_not)?,
            "filter" => clauses(value, depth, &mut found.filter)?,
            "adjust_pure_negative" => found.adjust_pure_negative = boolean(value)?,
            "minimum_should_match" => found.minimum_should_match = text_or_null(value)?,
            "boost" => factor = boost(value)?,
            _ => name = Some(text(value)?),
        }
        Ok(())
    })?;
    Ok(Query { node: Ask::Bool(found), boost: factor, name })
}

/// One query, an array of queries, or `null` for none.
fn clauses(value: &Node, depth: u32, out: &mut Vec<Query>) -> Read<()> {
    match &value.kind {
        Json::Null => {}
        Json::Array(nodes) => {
            for node in nodes {
                out.push(query::read(node, depth)?);
            }
        }
        _ => out.push(query::read(value, depth)?),
    }
    Ok(())
}

/// `constant_score`.
pub fn constant_score(body: &Node, depth: u32) -> Read<Query> {
    const NAME: &str = "constant_score";
    let mut filter = None;
    let (mut factor, mut name) = (1.0, None);
    for member in members(body) {
        let (key, value) = (member.key.as_str(), &member.value);
        match (key, &value.kind) {
            ("filter", Json::Object(_)) => filter = Some(query::read(value, depth)?),
            (_, Json::Array(_)) => {
                return Err(Fault::parsing(value.at, "unexpected token [START_ARRAY]"));
            }
            ("_name", _) if is_value(value) => name = Some(text(value)?),
            ("boost", _) if is_value(value) => factor = boost(value)?,
            (_, Json::Null) => {
                return Err(Fault::parsing(value.at, "unexpected token [VALUE_NULL]"));
            }
            _ => return Err(unsupported(NAME, key, value)),
        }
    }
    let Some(filter) = filter else {
        return Err(Fault::parsing(body.end, "[constant_score] requires a 'filter' element"));
    };
    Ok(Query { node: Ask::Constant(Box::new(filter)), boost: factor, name })
}

/// `dis_max`.
pub fn dis_max(body: &Node, depth: u32) -> Read<Query> {
    const NAME: &str = "dis_max";
    let mut queries = Vec::new();
    let (mut tie_breaker, mut factor, mut name) = (0.0, 1.0, None);
    let mut given = false;
    for member in members(body) {
        let (key, value) = (member.key.as_str(), &member.value);
        match (key, &value.kind) {
            ("queries", Json::Object(_) | Json::Array(_)) => {
                given = true;
                if value.as_array().is_some_and(<[Node]>::is_empty) {
                    // Elasticsearch reads a query before it looks for the end of the list.
                    let reason = "[_na] query malformed, must start with start_object";
                    return Err(Fault::parsing(value.end, reason));
                }
                clauses(value, depth, &mut queries)?;
            }
            ("tie_breaker", _) => tie_breaker = float(value)?,
            ("boost", _) => factor = boost(value)?,
            ("_name", _) => name = Some(text(value)?),
            _ => return Err(unsupported(NAME, key, value)),
        }
    }
    if !given {
        let reason = "[dis_max] requires 'queries' field with at least one clause";
        return Err(Fault::parsing(body.end, reason));
    }
    Ok(Query { node: Ask::DisMax(DisMax { queries, tie_breaker }), boost: factor, name })
}

/// `boosting`.
pub fn boosting(body: &Node, depth: u32) -> Read<Query> {
    const NAME: &str = "boosting";
    let (mut positive, mut negative, mut negative_boost) = (None, None, -1.0);
    let (mut factor, mut name) = (1.0, None);
    for member in members(body) {
        let (key, value) = (member.key.as_str(), &member.value);
        match (key, &value.kind) {
            ("positive", Json::Object(_)) => positive = Some(query::read(value, depth)?),
            ("negative", Json::Object(_)) => negative = Some(query::read(value, depth)?),
            ("negative_boost", _) if is_value(value) => negative_boost = float(value)?,
            ("boost", _) if is_value(value) => factor = boost(value)?,
            ("_name", _) if is_value(value) => name = Some(text(value)?),
            _ => return Err(unsupported(NAME, key, value)),
        }
    }
    let missing =
        |what: &str| Fault::parsing(body.end, format!("[boosting] query requires {what}"));
    let Some(positive) = positive else {
        return Err(missing("'positive' query to be set'"));
    };
    let Some(negative) = negative else {
        return Err(missing("'negative' query to be set'"));
    };
    if negative_boost.is_nan() || negative_boost < 0.0 || negative_boost.is_infinite() {
        return Err(missing("'negative_boost' to be set to be a positive value'"));
    }
    let node =
        Boosting { positive: Box::new(positive), negative: Box::new(negative), negative_boost };
    Ok(Query { node: Ask::Boosting(node), boost: factor, name })
}
