//! Span queries: words at places, the older way.

use json::spanned::{Kind as Json, Node};

use super::context::{
    Fault, OneField, Read, boolean, boost, int, is_value, members, scalar, text, unsupported,
};
use super::query;
use crate::ast::{Node as Ask, Query, Span};

/// A span query of this name.
pub fn read(kind: &str, body: &Node, depth: u32) -> Read<Query> {
    let mut factor = 1.0;
    let mut name = None;
    let span = match kind {
        "span_term" => span_term(body, &mut factor, &mut name)?,
        _ => compound(kind, body, depth, &mut factor, &mut name)?,
    };
    Ok(Query { node: Ask::Span(Box::new(span)), boost: factor, name })
}

fn span_term(body: &Node, factor: &mut f32, name: &mut Option<String>) -> Read<Span> {
    const NAME: &str = "span_term";
    let mut field = OneField::default();
    let mut found = None;
    for member in members(body) {
        field.set(NAME, &member.key, member.value.at)?;
        let Json::Object(options) = &member.value.kind else {
            found = scalar(&member.value)?;
            continue;
        };
        for option in options {
            let (key, value) = (option.key.as_str(), &option.value);
            match key {
                "value" | "term" => found = scalar(value)?,
                "boost" => *factor = boost(value)?,
                "_name" => *name = Some(text(value)?),
                _ => return Err(unsupported(NAME, key, value)),
            }
        }
    }
    let field = field.required(body.end)?;
    match found {
        Some(value) => Ok(Span::Term(field, value, 1.0)),
        None => Err(Fault::illegal(body.end, "value cannot be null")),
    }
}

/// A clause that must be a span query.
fn clause(kind: &str, key: &str, node: &Node, depth: u32) -> Read<Span> {
    let found = query::read(node, depth)?;
    match found.node {
        Ask::Span(span) => Ok(*span),
        _ => {
            let reason = format!("{kind} [{key}] must be of type span query");
            Err(Fault::parsing(node.end, reason))
        }
    }
}

fn compound(
    kind: &str,
    body: &Node,
    depth: u32,
    factor: &mut f32,
    name: &mut Option<String>,
) -> Read<Span> {
    let (mut clauses, mut first, mut second) = (Vec::new(), None, None);
    let (mut slop, mut in_order, mut end) = (None, true, None);
    let (mut pre, mut post, mut field, mut multi) = (0, 0, None, None);
    for member in members(body) {
        let (key, value) = (member.key.as_str(), &member.value);
        match (kind, key, &value.kind) {
            ("span_near" | "span_or", "clauses", Json::Array(nodes)) => {
                for node in nodes {
                    clauses.push(clause(kind, key, node, depth)?);
                }
            }
            ("span_not", "include", Json::Object(_))
            | ("span_first", "match", Json::Object(_))
            | ("span_containing" | "span_within", "big", Json::Object(_))
            | ("span_field_masking", "query", Json::Object(_)) => {
                first = Some(clause(kind, key, value, depth)?);
            }
            ("span_not", "exclude", Json::Object(_))
            | ("span_containing" | "span_within", "little", Json::Object(_)) => {
                second = Some(clause(kind, key, value, depth)?);
            }
            ("span_multi", "match", Json::Object(_)) => multi = Some(query::read(value, depth)?),
            ("span_near", "slop", _) if is_value(value) => slop = Some(i64::from(int(value)?)),
            ("span_near", "in_order", _) if is_value(value) => in_order = boolean(value)?,
            ("span_first", "end", _) if is_value(value) => end = u32::try_from(int(value)?).ok(),
            ("span_field_masking", "field", _) if is_value(value) => field = Some(text(value)?),
            ("span_not", "pre", _) if is_value(value) => {
                pre = u32::try_from(int(value)?).unwrap_or(0);
            }
            ("span_not", "post", _) if is_value(value) => {
                post = u32::try_from(int(value)?).unwrap_or(0);
            }
            ("span_not", "dist", _) if is_value(value) => {
                pre = u32::try_from(int(value)?).unwrap_or(0);
                post = pre;
            }
            (_, "boost", _) if is_value(value) => *factor = boost(value)?,
            (_, "_name", _) if is_value(value) => *name = Some(text(value)?),
            _ => return Err(unsupported(kind, key, value)),
        }
    }
    let missing = |what: &str| {
        Fault::parsing(body.end, format!("{kind} must have [{what}] span query clause"))
    };
    let take = |slot: &mut Option<Span>, what: &str| {
        slot.take().map(Box::new).ok_or_else(|| missing(what))
    };
    Ok(match kind {
        "span_near" | "span_or" if clauses.is_empty() => {
            return Err(Fault::parsing(body.end, format!("{kind} must include [clauses]")));
        }
        "span_near" => Span::Near { clauses, slop: slop.unwrap_or(0), in_order },
        "span_or" => Span::Or(clauses),
        "span_not" => Span::Not {
            include: take(&mut first, "include")?,
            exclude: take(&mut second, "exclude")?,
            pre,
            post,
        },
        "span_first" => match end {
            Some(end) => Span::First(take(&mut first, "match")?, end),
            None => return Err(Fault::parsing(body.end, "span_first must have [end] set for it")),
        },
        "span_containing" => {
            Span::Containing(take(&mut first, "big")?, take(&mut second, "little")?)
        }
        "span_within" => Span::Within(take(&mut first, "big")?, take(&mut second, "little")?),
        "span_field_masking" => match field {
            Some(field) => Span::Masked(take(&mut first, "query")?, field),
            None => {
                let reason = "span_field_masking must have [field] set for it";
                return Err(Fault::parsing(body.end, reason));
            }
        },
        _ => match multi {
            Some(query)
                if matches!(
                    query.node,
                    Ask::Prefix(_)
                        | Ask::Wildcard(_)
                        | Ask::Regexp(_)
                        | Ask::Fuzzy(_)
                        | Ask::Range(_)
                ) =>
            {
                Span::Multi(Box::new(query))
            }
            Some(_) => {
                let reason = "[span_multi] [match] must be of type multi term query";
                return Err(Fault::parsing(body.end, reason));
            }
            None => {
                let reason = "[span_multi] must have [match] multi term query clause";
                return Err(Fault::parsing(body.end, reason));
            }
        },
    })
}
