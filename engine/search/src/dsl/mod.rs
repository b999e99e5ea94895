//! The query language: JSON text becomes a request, or an error in Elasticsearch's words.
//!
//! No index is looked at: what a name means is asked later, by `plan`.
//!
//! Always true
//! 1. What is not there yet answers as Elasticsearch answers a name that it does not know.
//! 2. Depth is bounded twice: by the JSON reader, and by `context::DEPTH_MAX` for queries.

mod aggs;
mod alike;
mod around;
mod body;
mod compound;
mod context;
mod deprecated;
mod family;
mod function;
pub mod geo;
mod highlight;
pub(crate) mod inner;
mod intervals;
mod leaf;
mod multi;
mod params;
mod query;
pub mod query_string;
mod script;
mod sort;
mod source;
mod span;
mod special;
mod suggest;
mod suggesters;
#[cfg(test)]
mod tests;
mod text;
mod words;

pub use aggs::NAMES as AGGREGATION_NAMES;
pub(crate) use aggs::interval::time_ms as signed_time_ms;
pub use body::time_ms;
pub use deprecated::deprecated_in;
pub use params::{COUNT_PARAMS, SEARCH_PARAMS};
pub use query::NAMES as QUERY_NAMES;
pub use query_string::{URL_PARAMS as URL_QUERY_PARAMS, of_url as query_of_url};
pub(crate) use sort::by_name;
pub use sort::of_url as sort_of_url;

use std::collections::BTreeSet;

use crate::ast::Query;
use crate::error::{Error, Result};
use crate::request::SearchRequest;

/// A longer request may name thousands of fields, or of patterns of them.
const LONG_TEXT_BYTES: usize = 32 << 10;

/// Reads the body of `_search` (empty: none) and the parameters of its URL among
/// [`SEARCH_PARAMS`], which win over the body.
pub fn parse_search(body: &[u8], params: &[(String, String)]) -> Result<SearchRequest> {
    let mut request = match tree(body)? {
        Some(root) => body::search(&root).map_err(|fault| fault.error)?,
        None => SearchRequest::default(),
    };
    // Few do, and looking through the text costs less than through the query.
    let text = std::str::from_utf8(body).unwrap_or_default();
    request.has_inner = text.contains("inner_hits");
    request.families = may_ask_families(text);
    request.scripted = may_run_scripts(text);
    foresee(&mut request, text, params);
    request.warnings = deprecated::told(&mut request, text);
    params::search(&mut request, params)?;
    body::validate(&request)?;
    let asked = [&request.query, &request.post_filter];
    let mut kinds = BTreeSet::new();
    asked.into_iter().flatten().for_each(|query| query.names(&mut kinds));
    request.kinds = kinds;
    Ok(request)
}

/// Reads the body of `_count` (empty: none) and the parameters of its URL among
/// [`COUNT_PARAMS`].
pub fn parse_count(body: &[u8], params: &[(String, String)]) -> Result<SearchRequest> {
    let mut request = match tree(body)? {
        Some(root) => body::count(&root).map_err(|fault| fault.error)?,
        None => body::count_all(),
    };
    let text = std::str::from_utf8(body).unwrap_or_default();
    request.families = may_ask_families(text);
    request.scripted = may_run_scripts(text);
    foresee(&mut request, text, params);
    request.warnings = deprecated::told(&mut request, text);
    params::count(&mut request, params)?;
    Ok(request)
}

/// May the text ask about families? `true` too often costs a walk through the query.
fn may_ask_families(text: &str) -> bool {
    // What is escaped or wrapped may spell anything.
    ["has_child", "has_parent", "wrapper", "\\u"].iter().any(|word| text.contains(word))
}

/// May there be a script? `true` too often costs a walk through the request.
fn may_run_scripts(text: &str) -> bool {
    ["script", "wrapper", "\\u"].iter().any(|word| text.contains(word))
}

/// Tells how long it may take to meet an index.
fn foresee(request: &mut SearchRequest, text: &str, params: &[(String, String)]) {
    request.costly = is_costly(text) || params.iter().any(|(key, it)| key == "q" && language(it));
    // Lists of names are compiled for each index.
    request.costly |= text.len() > LONG_TEXT_BYTES;
    request.text_bytes = text.len();
    let stars = |text: &str| text.bytes().filter(|byte| *byte == b'*').count();
    request.stars = stars(text) + params.iter().map(|(_, value)| stars(value)).sum::<usize>();
    // What is escaped or wrapped may spell anything.
    let naming = ["more_like_this", "\"index\"", "wrapper", "\\u"];
    request.looks_up = naming.iter().any(|word| text.contains(word));
    // They look at all fields where they name none.
    let wide = ["query_string", "multi_match", "more_like_this"];
    request.stars += wide.iter().map(|name| text.matches(name).count()).sum::<usize>();
    request.stars += params.iter().filter(|(key, _)| key == "q").count();
}

/// May the text ask for automata that take long to make? `true` too often costs a hop to a worker. A regular
/// expression always may; words near a word where it is long.
fn is_costly(text: &str) -> bool {
    /// Letters of a word whose automaton takes about as long as a core may be kept.
    const LONG: usize = 20;
    let has_long =
        || text.split(|c: char| !c.is_alphanumeric()).any(|word| word.chars().nth(LONG).is_some());
    // What is escaped may spell anything.
    text.contains("regexp")
        || text.contains("\\u")
        || (text.contains("query_string") && language(text))
        || (text.contains("fuzz") && has_long())
}

/// May a text in the language of users hold an expression, or words near a word?
fn language(text: &str) -> bool {
    text.contains(['/', '~'])
}

/// Reads one query, as it stands in a filter of an alias or a role.
pub fn parse_query(text: &[u8]) -> Result<Query> {
    let root = json::spanned::parse(text).map_err(|error| context::not_json(&error, text))?;
    query::read(&root, 0).map_err(|fault| fault.error)
}

/// Reads one query from a tree whose text is gone.
pub fn parse_query_value(value: &json::Value) -> Result<Query> {
    let start = json::Place { line: 1, column: 1 };
    let root = json::spanned::Node::from_value(value, start);
    query::read(&root, 0).map_err(|fault| fault.error)
}

fn tree(body: &[u8]) -> Result<Option<json::spanned::Node>> {
    if body.iter().all(u8::is_ascii_whitespace) {
        return Ok(None);
    }
    match json::spanned::parse(body) {
        Ok(root) => Ok(Some(root)),
        Err(error) => {
            if let json::ErrorKind::Trailing(token) = error.kind {
                let reason = format!("Unexpected token [{token}]");
                return Err(Error::parsing(error.place(), reason));
            }
            Err(context::not_json(&error, body))
        }
    }
}
