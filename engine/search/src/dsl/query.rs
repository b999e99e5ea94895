//! One query object: its only key names the query, its value says the rest.

use json::spanned::{Kind as Json, Node};

use super::context::{DEPTH_MAX, Fault, Read};
use super::{compound, leaf, suggest, text};
use crate::ast::Query;
use crate::error::{Error, Kind};

/// The queries that are known.
pub const NAMES: [&str; 15] = [
    "bool",
    "boosting",
    "constant_score",
    "dis_max",
    "exists",
    "ids",
    "match",
    "match_all",
    "match_none",
    "match_phrase",
    "prefix",
    "range",
    "term",
    "terms",
    "wildcard",
];

/// Reads one query; `depth` counts the queries around it.
pub fn read(node: &Node, depth: u32) -> Read<Query> {
    let Json::Object(members) = &node.kind else {
        return Err(Fault::parsing(node.at, "[_na] query malformed, must start with start_object"));
    };
    let Some(first) = members.first() else {
        let reason = format!("query malformed, empty clause found at {}", node.end);
        return Err(Fault::illegal(node.end, reason));
    };
    let (name, body) = (first.key.as_str(), &first.value);
    if body.as_object().is_none() {
        let reason = format!("[{name}] query malformed, no start_object after query name");
        return Err(Fault::parsing(body.at, reason));
    }
    let depth = depth + 1;
    if depth > DEPTH_MAX {
        return Err(Fault::illegal(
            body.at,
            "The nested depth of the query exceeds the maximum nested depth for queries set in \
             [indices.query.bool.max_nested_depth]",
        ));
    }
    let query = match name {
        "bool" => compound::bool(body, depth),
        "boosting" => compound::boosting(body, depth),
        "constant_score" => compound::constant_score(body, depth),
        "dis_max" => compound::dis_max(body, depth),
        "exists" => leaf::exists(body),
        "ids" => leaf::ids(body),
        "match" => text::match_(body),
        "match_all" => compound::match_all(body),
        "match_none" => compound::match_none(body),
        "match_phrase" => text::match_phrase(body),
        "prefix" => leaf::prefix(body),
        "range" => leaf::range(body),
        "term" => leaf::term(body),
        "terms" => leaf::terms(body),
        "wildcard" => leaf::wildcard(body),
        _ => return Err(unknown(name, body)),
    }?;
    if let Some(second) = members.get(1) {
        let reason =
            format!("[{name}] malformed query, expected [END_OBJECT] but found [FIELD_NAME]");
        return Err(Fault::parsing(second.key_at, reason));
    }
    Ok(query)
}

fn unknown(name: &str, body: &Node) -> Fault {
    let cause = Error::new(Kind::NamedObject, format!("{} unknown field [{name}]", body.at));
    let outer = format!("unknown query [{name}]{}", suggest::near(name, NAMES));
    Fault { error: Error::parsing(body.at, outer).caused_by(cause), at: body.at }
}
