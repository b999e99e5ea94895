//! Scripts, and the queries that are made of one: `script`, `script_score`.

use json::spanned::{Kind as Json, Node};

use super::context::{
    Fault, Read, Takes, boolean, boost, float, is_value, members, object, text, unsupported,
};
use super::query;
use crate::ast::{Node as Ask, Query, Script, ScriptScore};
use crate::request::ScriptField;

/// A script: its text, or an object that says more.
pub fn read(node: &Node) -> Read<Script> {
    Script::parse(&node.to_value()).map_err(|error| Fault { error, at: node.at })
}

/// `script`.
pub fn script(body: &Node) -> Read<Query> {
    const NAME: &str = "script";
    let mut found = None;
    let (mut factor, mut name) = (1.0, None);
    for member in members(body) {
        let (key, value) = (member.key.as_str(), &member.value);
        match (key, &value.kind) {
            ("script", Json::Object(_) | Json::String(_)) => found = Some(read(value)?),
            ("script", Json::Array(_)) => {
                let reason = format!(
                    "[{NAME}] query does not support an array of scripts. Use a bool query with a \
                     clause per script instead."
                );
                return Err(Fault::parsing(value.at, reason));
            }
            ("boost", _) if is_value(value) => factor = boost(value)?,
            ("_name", _) if is_value(value) => name = Some(text(value)?),
            _ => return Err(unsupported(NAME, key, value)),
        }
    }
    let Some(script) = found else {
        return Err(Fault::parsing(body.end, "script must be provided with a [script] filter"));
    };
    Ok(Query { node: Ask::Script(Box::new(script)), boost: factor, name })
}

/// `script_score`.
pub fn script_score(body: &Node, depth: u32) -> Read<Query> {
    const FIELDS: [(&str, Takes); 5] = [
        ("query", Takes::Object),
        ("script", Takes::Any),
        ("min_score", Takes::Number),
        ("boost", Takes::Number),
        ("_name", Takes::String),
    ];
    let (mut inner, mut script, mut min_score) = (None, None, None);
    let (mut factor, mut name) = (1.0, None);
    object("script_score", &FIELDS, body, |key, value| {
        match key {
            "query" => inner = Some(query::read(value, depth)?),
            "script" => script = Some(read(value)?),
            "min_score" => {
                let least = float(value)?;
                if least < 0.0 {
                    let reason = "min_score value cannot be negative";
                    return Err(Fault::illegal(value.at, reason));
                }
                min_score = Some(least);
            }
            "boost" => factor = boost(value)?,
            _ => name = Some(text(value)?),
        }
        Ok(())
    })?;
    let (Some(query), Some(script)) = (inner, script) else {
        return Err(Fault::illegal(body.end, "Required [query, script]"));
    };
    let score = ScriptScore { query, script, min_score };
    Ok(Query { node: Ask::ScriptScore(Box::new(score)), boost: factor, name })
}

/// `script_score` among functions.
pub fn function(body: &Node) -> Read<Script> {
    let mut found = None;
    for member in members(body) {
        let (key, value) = (member.key.as_str(), &member.value);
        match (key, &value.kind) {
            ("script", Json::Object(_) | Json::String(_)) => found = Some(read(value)?),
            _ => {
                let reason = format!("script_score query does not support [{key}]");
                return Err(Fault::parsing(value.at, reason));
            }
        }
    }
    found.ok_or_else(|| Fault::parsing(body.end, "script_score requires 'script' field"))
}

/// `script_fields`.
pub fn fields(node: &Node) -> Read<Vec<ScriptField>> {
    const FIELDS: [(&str, Takes); 2] = [("script", Takes::Any), ("ignore_failure", Takes::Bool)];
    let mut fields = Vec::new();
    for member in members(node) {
        let (mut script, mut ignore_failure) = (None, false);
        if member.value.as_object().is_none() {
            let reason = format!(
                "Expected [START_OBJECT] in [{}] but found [{}]",
                member.key,
                member.value.token()
            );
            return Err(Fault::parsing(member.value.at, reason));
        }
        object("script_field", &FIELDS, &member.value, |key, value| {
            match key {
                "script" => script = Some(read(value)?),
                _ => ignore_failure = boolean(value)?,
            }
            Ok(())
        })?;
        let Some(script) = script else {
            return Err(Fault::illegal(member.value.end, "Required [script]"));
        };
        fields.push(ScriptField { name: member.key.clone(), script, ignore_failure });
    }
    Ok(fields)
}
