//! The bodies of `_search` and `_count`.

use json::spanned::{Kind as Json, Node};

use super::context::{
    Fault, Read, Takes, boolean, float, int, is_value, members, object, scalar, text,
};
use super::{aggs, around, highlight, query, script, sort, source, suggesters};
use crate::error::{Error, Result};
use crate::request::{After, FieldFormat, SearchRequest, Stored, TrackTotal};

/// Reads a whole search.
pub fn search(root: &Node) -> Read<SearchRequest> {
    must_be_object(root)?;
    let mut request = SearchRequest::default();
    for member in members(root) {
        key(&mut request, &member.key, &member.value)?;
    }
    // Suggestions alone look for no documents.
    if !request.suggest.is_empty() && request.query.is_none() && suggest_only(root) {
        request.suggest_only = true;
        request.query = Some(crate::ast::Query::new(crate::ast::Node::MatchNone));
    }
    Ok(request)
}

/// Reads one key of a search.
pub fn key(request: &mut SearchRequest, key: &str, value: &Node) -> Read<()> {
    match &value.kind {
        Json::Object(_) => object_key(request, key, value),
        Json::Array(_) => array_key(request, key, value),
        Json::Null => Err(unknown_key(key, value)),
        _ => value_key(request, key, value),
    }
}

/// Nothing but suggestions is asked for.
fn suggest_only(root: &Node) -> bool {
    members(root)
        .iter()
        .all(|member| !matches!(member.key.as_str(), "query" | "aggs" | "aggregations" | "knn"))
}

/// What `_count` asks for without a body.
pub fn count_all() -> SearchRequest {
    SearchRequest { size: 0, total: TrackTotal::Exact, ..SearchRequest::default() }
}

/// Reads the body of `_count`: a query and nothing else.
pub fn count(root: &Node) -> Read<SearchRequest> {
    must_be_object(root)?;
    let mut request = count_all();
    for member in members(root) {
        if member.key != "query" {
            let reason = format!("request does not support [{}]", member.key);
            return Err(Fault::parsing(member.key_at, reason));
        }
        request.query = Some(query::read(&member.value, 0)?);
    }
    Ok(request)
}

fn must_be_object(root: &Node) -> Read<()> {
    match &root.kind {
        Json::Object(_) => Ok(()),
        _ => {
            let reason = format!("Expected [START_OBJECT] but found [{}]", root.token());
            Err(Fault::parsing(root.at, reason))
        }
    }
}

fn unknown_key(key: &str, value: &Node) -> Fault {
    Fault::parsing(value.at, format!("Unknown key for a {} in [{key}].", value.token()))
}

fn value_key(request: &mut SearchRequest, key: &str, value: &Node) -> Read<()> {
    let at = value.at;
    match key {
        "from" => request.from = from(int(value)?).map_err(|error| Fault { error, at })?,
        "size" => request.size = size(int(value)?).map_err(|error| Fault { error, at })?,
        "timeout" => {
            let timeout = time_ms(&text(value)?, "timeout").map_err(|error| Fault { error, at })?;
            request.timeout_ms = timeout;
        }
        "terminate_after" => {
            let count = int(value)?;
            request.terminate_after =
                terminate_after(count).map_err(|error| Fault { error, at })?;
        }
        "min_score" => request.min_score = Some(float(value)?),
        "version" => request.version = boolean(value)?,
        "seq_no_primary_term" => request.seq_no_primary_term = boolean(value)?,
        "track_scores" => request.track_scores = boolean(value)?,
        "explain" => request.explain = boolean(value)?,
        "profile" => request.profile = boolean(value)?,
        "include_named_queries_score" => request.named_scores = boolean(value)?,
        "track_total_hits" => request.total = track_total(value)?,
        "_source" => request.source = Some(source::read(value)?),
        "stored_fields" => request.stored = stored_fields(value)?,
        "sort" => request.sort = sort::read(value)?,
        _ => return Err(unknown_key(key, value)),
    }
    Ok(())
}

fn object_key(request: &mut SearchRequest, key: &str, value: &Node) -> Read<()> {
    match key {
        "query" => request.query = Some(query::read(value, 0)?),
        "aggs" | "aggregations" => request.aggs = aggs::read(value)?,
        "post_filter" => request.post_filter = Some(query::read(value, 0)?),
        "_source" => request.source = Some(source::read(value)?),
        "sort" => request.sort = sort::read(value)?,
        "suggest" => request.suggest = suggesters::read(value)?,
        "highlight" => request.highlight = Some(highlight::read(value)?),
        "pit" => request.pit = Some(around::pit(value)?),
        "slice" => request.slice = Some(around::slice(value)?),
        "script_fields" => request.script_fields = script::fields(value)?,
        "runtime_mappings" => around::refuse_runtime_fields(value)?,
        "collapse" => request.collapse = Some(around::collapse(value)?),
        "rescore" => request.rescore = vec![around::rescore(value)?],
        "ext" => around::refuse_extensions(value)?,
        _ => return Err(unknown_key(key, value)),
    }
    Ok(())
}

fn array_key(request: &mut SearchRequest, key: &str, value: &Node) -> Read<()> {
    match key {
        "stored_fields" => request.stored = stored_fields(value)?,
        "indices_boost" => {
            for node in value.as_array().unwrap_or_default() {
                for member in members(node) {
                    if !matches!(member.value.kind, Json::Number(_)) {
                        return Err(Fault::parsing(
                            member.value.at,
                            format!(
                                "Expected [VALUE_NUMBER] in [indices_boost] but found [{}]",
                                member.value.token()
                            ),
                        ));
                    }
                }
                indices_boost(node, &mut request.indices_boost)?;
            }
        }
        "_source" => request.source = Some(source::read(value)?),
        "sort" => request.sort = sort::read(value)?,
        "stats" => {
            for node in value.as_array().unwrap_or_default() {
                request.groups.push(text(node)?);
            }
        }
        "docvalue_fields" => request.docvalue_fields = field_formats(value)?,
        "fields" => request.fields = field_formats(value)?,
        "rescore" => request.rescore = around::rescores(value)?,
        "search_after" => request.search_after = Some(search_after(value)?),
        _ => return Err(unknown_key(key, value)),
    }
    Ok(())
}

/// Factors of indices: names or patterns with a number each.
fn indices_boost(value: &Node, out: &mut Vec<(String, f32)>) -> Read<()> {
    for member in members(value) {
        out.push((member.key.clone(), float(&member.value)?));
    }
    Ok(())
}

/// `[from]`, in Elasticsearch's words where it is negative.
pub fn from(value: i32) -> Result<u32> {
    u32::try_from(value).map_err(|_| {
        Error::illegal(format!("[from] parameter cannot be negative but was [{value}]"))
    })
}

/// `[size]`, in Elasticsearch's words where it is negative.
pub fn size(value: i32) -> Result<u32> {
    u32::try_from(value).map_err(|_| {
        Error::illegal(format!("[size] parameter cannot be negative, found [{value}]"))
    })
}

/// `terminate_after`, in Elasticsearch's words where it is negative.
pub fn terminate_after(value: i32) -> Result<u32> {
    u32::try_from(value).map_err(|_| Error::illegal("terminateAfter must be > 0"))
}

fn track_total(value: &Node) -> Read<TrackTotal> {
    match &value.kind {
        Json::Bool(true) => Ok(TrackTotal::Exact),
        Json::Bool(false) => Ok(TrackTotal::No),
        Json::String(word) if word == "true" => Ok(TrackTotal::Exact),
        Json::String(word) if word == "false" => Ok(TrackTotal::No),
        _ => track_total_up_to(int(value)?).map_err(|error| Fault { error, at: value.at }),
    }
}

/// An integer for `track_total_hits`; -1 says no.
pub fn track_total_up_to(limit: i32) -> Result<TrackTotal> {
    match u32::try_from(limit) {
        Ok(limit) if limit == i32::MAX as u32 => Ok(TrackTotal::Exact),
        Ok(limit) => Ok(TrackTotal::UpTo(limit)),
        Err(_) if limit == -1 => Ok(TrackTotal::No),
        Err(_) => Err(Error::illegal(format!(
            "[track_total_hits] parameter must be positive or equals to -1, got {limit}"
        ))),
    }
}

pub fn stored_fields(value: &Node) -> Read<Stored> {
    let names = match &value.kind {
        Json::Array(nodes) => nodes.iter().map(text).collect::<Read<Vec<_>>>()?,
        Json::String(name) => vec![name.clone()],
        _ => {
            let reason = format!(
                "Expected [VALUE_STRING] or [START_ARRAY] in [stored_fields] but found [{}]",
                value.token()
            );
            return Err(Fault::parsing(value.at, reason));
        }
    };
    stored(names).map_err(|error| Fault { error, at: value.at })
}

/// `FieldAndFormat`: names or objects with a name and a format.
pub fn field_formats(value: &Node) -> Read<Vec<FieldFormat>> {
    const FIELDS: [(&str, Takes); 3] =
        [("field", Takes::String), ("format", Takes::String), ("include_unmapped", Takes::Bool)];
    let mut fields = Vec::new();
    for node in value.as_array().unwrap_or_default() {
        let mut field = FieldFormat { field: String::new(), format: None, include_unmapped: false };
        if node.as_object().is_none() {
            field.field = text(node)?;
        } else {
            object("fetch_field_and_format", &FIELDS, node, |key, value| {
                match key {
                    "field" => field.field = text(value)?,
                    "format" => field.format = Some(text(value)?),
                    _ => field.include_unmapped = boolean(value)?,
                }
                Ok(())
            })?;
            if field.field.is_empty() {
                return Err(Fault::illegal(node.end, "Required [field]"));
            }
        }
        fields.push(field);
    }
    Ok(fields)
}

/// Names of stored fields; `_none_` stands alone.
pub fn stored(names: Vec<String>) -> Result<Stored> {
    match names.as_slice() {
        [name] if name == "_none_" => Ok(Stored::None),
        names if names.iter().any(|name| name == "_none_") => {
            Err(Error::illegal("cannot combine _none_ with other fields"))
        }
        _ => Ok(Stored::Names(names)),
    }
}

fn search_after(value: &Node) -> Read<Vec<After>> {
    let nodes = value.as_array().unwrap_or_default();
    if nodes.is_empty() {
        return Err(Fault::illegal(value.at, "Values must contains at least one value."));
    }
    let mut values = Vec::with_capacity(nodes.len());
    for node in nodes {
        if !is_value(node) && !node.is_null() {
            let reason = format!(
                "Expected [VALUE_STRING] or [VALUE_NUMBER] or [VALUE_BOOLEAN] or [VALUE_NULL] \
                 but found [{}] inside search_after.",
                node.token()
            );
            return Err(Fault::parsing(node.at, reason));
        }
        values.push(scalar(node)?.map_or(After::Null, After::Value));
    }
    Ok(values)
}

/// A time with its unit, in milliseconds; `None` for -1 (no limit).
pub fn time_ms(text: &str, setting: &str) -> Result<Option<u64>> {
    const UNITS: [(&str, f64); 7] = [
        ("nanos", 1e-6),
        ("micros", 1e-3),
        ("ms", 1.0),
        ("s", 1e3),
        ("m", 6e4),
        ("h", 3.6e6),
        ("d", 8.64e7),
    ];
    let lower = text.trim().to_ascii_lowercase();
    match lower.as_str() {
        "-1" => return Ok(None),
        "0" => return Ok(Some(0)),
        _ => {}
    }
    let failed = |what: &str| {
        Error::illegal(format!(
            "failed to parse setting [{setting}] with value [{text}] as a time value: {what}"
        ))
    };
    // `M` means months to others, and is no minute.
    let is_minutes = !text.trim().ends_with('M');
    let unit = UNITS.iter().find(|(unit, _)| is_minutes && lower.ends_with(unit));
    let Some((unit, factor)) = unit else {
        return Err(failed("unit is missing or unrecognized"));
    };
    let digits = lower[..lower.len() - unit.len()].trim();
    match digits.parse::<f64>() {
        Ok(count) if count >= 0.0 && count.is_finite() => {
            // Saturates far beyond any time that matters.
            Ok(Some((count * factor) as u64))
        }
        Ok(_) => Err(failed("negative durations are not supported")),
        Err(_) => {
            Err(Error::illegal(format!("failed to parse [{text}]"))
                .caused_by(Error::number(digits)))
        }
    }
}

/// What contradicts itself.
pub fn validate(request: &SearchRequest) -> Result<()> {
    let mut problems = Vec::new();
    if request.from > 0 && request.search_after.is_some() {
        problems.push("[from] parameter must be set to 0 when [search_after] is used".to_owned());
    }
    if request.stored == Stored::None {
        if request.version {
            problems.push("[stored_fields] cannot be disabled if [version] is requested".into());
        }
        if request.source.as_ref().is_some_and(|source| source.enabled) {
            problems.push("[stored_fields] cannot be disabled if [_source] is requested".into());
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(Error::validation(&problems)) }
}
