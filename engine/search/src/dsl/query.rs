//! One query object: its only key names the query, its value says the rest.

use json::spanned::{Kind as Json, Node};

use super::context::{DEPTH_MAX, Fault, Read};
use super::{
    alike, compound, family, function, geo, intervals, leaf, multi, query_string, script, span,
    special, suggest, text, words,
};
use crate::ast::Query;
use crate::error::{Error, Kind};

/// The queries that are known.
pub const NAMES: [&str; 49] = [
    "bool",
    "boosting",
    "combined_fields",
    "constant_score",
    "dis_max",
    "distance_feature",
    "exists",
    "function_score",
    "fuzzy",
    "geo_bounding_box",
    "geo_distance",
    "geo_polygon",
    "has_child",
    "has_parent",
    "ids",
    "intervals",
    "match",
    "match_all",
    "match_bool_prefix",
    "match_none",
    "match_phrase",
    "match_phrase_prefix",
    "more_like_this",
    "multi_match",
    "nested",
    "parent_id",
    "pinned",
    "prefix",
    "query_string",
    "range",
    "rank_feature",
    "regexp",
    "script",
    "script_score",
    "simple_query_string",
    "span_containing",
    "span_field_masking",
    "span_first",
    "span_multi",
    "span_near",
    "span_not",
    "span_or",
    "span_term",
    "span_within",
    "term",
    "terms",
    "terms_set",
    "wildcard",
    "wrapper",
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
        "combined_fields" => multi::combined_fields(body),
        "constant_score" => compound::constant_score(body, depth),
        "dis_max" => compound::dis_max(body, depth),
        "distance_feature" => special::distance_feature(body),
        "exists" => leaf::exists(body),
        "function_score" => function::function_score(body, depth),
        "fuzzy" => words::fuzzy(body),
        "geo_bounding_box" => geo::geo_bounding_box(body),
        "geo_distance" => geo::geo_distance(body),
        "geo_polygon" => geo::geo_polygon(body),
        "has_child" => family::has_child(body, depth),
        "has_parent" => family::has_parent(body, depth),
        "ids" => leaf::ids(body),
        "intervals" => intervals::intervals(body),
        "match" => text::match_(body),
        "match_all" => compound::match_all(body),
        "match_bool_prefix" => text::match_bool_prefix(body),
        "match_none" => compound::match_none(body),
        "match_phrase" => text::match_phrase(body),
        "match_phrase_prefix" => text::match_phrase_prefix(body),
        "more_like_this" => alike::more_like_this(body),
        "multi_match" => multi::multi_match(body),
        "nested" => special::nested(body, depth),
        "parent_id" => family::parent_id(body),
        "pinned" => special::pinned(body, depth),
        "prefix" => words::prefix(body),
        "query_string" => query_string::query_string(body),
        "range" => leaf::range(body),
        "rank_feature" => special::rank_feature(body),
        "regexp" => words::regexp(body),
        "script" => script::script(body),
        "script_score" => script::script_score(body, depth),
        "simple_query_string" => query_string::simple_query_string(body),
        "span_containing" | "span_field_masking" | "span_first" | "span_multi" | "span_near"
        | "span_not" | "span_or" | "span_term" | "span_within" => span::read(name, body, depth),
        "term" => leaf::term(body),
        "terms" => leaf::terms(body),
        "terms_set" => words::terms_set(body),
        "wildcard" => words::wildcard(body),
        "wrapper" => special::wrapper(body, depth),
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
