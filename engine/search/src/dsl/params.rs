//! Parameters of the URL that say what a body key says too; they win over the body.

use super::context::boolean_text;
use super::{body, query_string, sort};
use crate::error::{Error, Result};
use crate::request::{FieldFormat, SearchRequest, SourceFilter, TrackTotal};
use crate::suggest::spelling::{Mode, Spelling};
use crate::suggest::{Kind, Suggestion};

/// Parameters of `_search` that are read here.
pub const SEARCH_PARAMS: [&str; 28] = [
    "from",
    "size",
    "sort",
    "_source",
    "_source_includes",
    "_source_excludes",
    "stored_fields",
    "docvalue_fields",
    "track_total_hits",
    "track_scores",
    "version",
    "seq_no_primary_term",
    "timeout",
    "terminate_after",
    "q",
    "df",
    "default_operator",
    "analyzer",
    "lenient",
    "analyze_wildcard",
    "explain",
    "search_type",
    "stats",
    "include_named_queries_score",
    "suggest_field",
    "suggest_mode",
    "suggest_size",
    "suggest_text",
];

/// Parameters of `_count` that are read here.
pub const COUNT_PARAMS: [&str; 8] = [
    "min_score",
    "terminate_after",
    "q",
    "df",
    "default_operator",
    "analyzer",
    "lenient",
    "analyze_wildcard",
];

/// Puts the parameters of a search into its request.
pub fn search(request: &mut SearchRequest, params: &[(String, String)]) -> Result<()> {
    for (name, value) in params {
        match name.as_str() {
            "from" => request.from = body::from(int(name, value)?)?,
            "size" => request.size = body::size(int(name, value)?)?,
            "sort" => request.sort = sort::of_url(value),
            "stored_fields" => request.stored = body::stored(list(value))?,
            "docvalue_fields" => {
                let fields = list(value).into_iter();
                request.docvalue_fields.extend(fields.map(|field| FieldFormat {
                    field,
                    format: None,
                    include_unmapped: false,
                }));
            }
            "track_total_hits" => {
                request.total = match value.as_str() {
                    "true" | "" => TrackTotal::Exact,
                    "false" => TrackTotal::No,
                    _ => body::track_total_up_to(int(name, value)?)?,
                };
            }
            "track_scores" => request.track_scores = flag(value)?,
            "version" => request.version = flag(value)?,
            "seq_no_primary_term" => request.seq_no_primary_term = flag(value)?,
            "explain" => request.explain = flag(value)?,
            "include_named_queries_score" => request.named_scores = flag(value)?,
            "search_type" => request.dfs = value == "dfs_query_then_fetch",
            "stats" => request.groups = list(value),
            "timeout" => request.timeout_ms = body::time_ms(value, "timeout")?,
            "terminate_after" => {
                request.terminate_after = body::terminate_after(int(name, value)?)?;
            }
            _ => {}
        }
    }
    if let Some(query) = query_string::of_url(params)? {
        request.query = Some(query);
    }
    if let Some(filter) = source_of_url(params) {
        request.source = Some(filter);
    }
    request.suggest.extend(suggestion_of_url(params)?);
    Ok(())
}

/// `suggest_field` and kin: words near those of a text, under the field's name.
fn suggestion_of_url(params: &[(String, String)]) -> Result<Option<Suggestion>> {
    let value = |name: &str| params.iter().find(|(known, _)| known == name).map(|(_, v)| v);
    let Some(field) = value("suggest_field") else { return Ok(None) };
    let text = value("suggest_text").or_else(|| value("q")).cloned().unwrap_or_default();
    let size = match value("suggest_size") {
        Some(size) => u32::try_from(int("suggest_size", size)?)
            .ok()
            .filter(|size| *size > 0)
            .ok_or_else(|| Error::illegal("size must be positive"))?,
        None => 5,
    };
    let mut spelling = Spelling::default();
    if let Some(mode) = value("suggest_mode") {
        spelling.mode = match mode.to_ascii_lowercase().as_str() {
            "missing" => Mode::Missing,
            "popular" => Mode::Popular,
            "always" => Mode::Always,
            _ => {
                return Err(Error::illegal(format!(
                    "No enum constant org.elasticsearch.search.suggest.term.TermSuggestionBuilder.\
                     SuggestMode.{}",
                    mode.to_uppercase()
                )));
            }
        };
    }
    Ok(Some(Suggestion {
        name: field.clone(),
        text,
        field: field.clone(),
        analyzer: None,
        size,
        shard_size: size.max(5),
        kind: Kind::Term(spelling),
    }))
}

/// Puts the parameters of a count into its request.
pub fn count(request: &mut SearchRequest, params: &[(String, String)]) -> Result<()> {
    for (name, value) in params {
        match name.as_str() {
            "min_score" => {
                let score = value.parse().map_err(|_| not_a(name, "float", value))?;
                request.min_score = Some(score);
            }
            "terminate_after" => {
                request.terminate_after = body::terminate_after(int(name, value)?)?;
            }
            _ => {}
        }
    }
    if let Some(query) = query_string::of_url(params)? {
        request.query = Some(query);
    }
    Ok(())
}

/// `_source`, `_source_includes`, `_source_excludes` of a URL. Paths of `_source_includes` stand for
/// those of `_source`.
pub fn source_of_url(params: &[(String, String)]) -> Option<SourceFilter> {
    let mut filter = SourceFilter::default();
    let mut given = false;
    for (name, value) in params {
        match (name.as_str(), value.as_str()) {
            ("_source", "true" | "") => filter.enabled = true,
            ("_source", "false") => filter.enabled = false,
            ("_source", _) => {
                if !params.iter().any(|(name, _)| name == "_source_includes") {
                    filter.includes = list(value);
                }
            }
            ("_source_includes", _) => filter.includes = list(value),
            ("_source_excludes", _) => filter.excludes = list(value),
            _ => continue,
        }
        given = true;
    }
    given.then_some(filter)
}

fn list(text: &str) -> Vec<String> {
    text.split(',').filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// A flag; present but empty says yes.
fn flag(value: &str) -> Result<bool> {
    if value.is_empty() { Ok(true) } else { boolean_text(value) }
}

fn int(name: &str, value: &str) -> Result<i32> {
    value.parse().map_err(|_| not_a(name, "int", value))
}

fn not_a(name: &str, kind: &str, value: &str) -> Error {
    Error::illegal(format!("Failed to parse {kind} parameter [{name}] with value [{value}]"))
        .caused_by(Error::number(value))
}
