//! `inner_hits`: which of the hits inside a hit are told, and what of them.

use json::spanned::Node;

use super::context::{Fault, Read, Takes, boolean, int, object, text};
use super::{around, body, highlight, script, sort, source};
use crate::request::{InnerHits, SearchRequest, TrackTotal};

/// Hits where nothing is said.
const SIZE: u32 = 3;

const FIELDS: [(&str, Takes); 16] = [
    ("name", Takes::String),
    ("ignore_unmapped", Takes::Bool),
    ("from", Takes::Number),
    ("size", Takes::Number),
    ("explain", Takes::Bool),
    ("version", Takes::Bool),
    ("seq_no_primary_term", Takes::Bool),
    ("track_scores", Takes::Bool),
    ("stored_fields", Takes::Strings),
    ("docvalue_fields", Takes::Array),
    ("fields", Takes::Array),
    ("script_fields", Takes::Object),
    ("sort", Takes::Any),
    ("_source", Takes::Any),
    ("highlight", Takes::Object),
    ("collapse", Takes::Object),
];

/// Reads one definition.
pub fn read(node: &Node) -> Read<InnerHits> {
    let mut request =
        SearchRequest { size: SIZE, total: TrackTotal::Exact, ..SearchRequest::default() };
    let (mut name, mut ignore_unmapped) = (None, false);
    if node.as_object().is_none() {
        let reason = format!("[inner_hits] Expected START_OBJECT but was: {}", node.token());
        return Err(Fault::content(node.at, node.at, reason));
    }
    object("inner_hits", &FIELDS, node, |key, value| {
        match key {
            "name" => name = Some(text(value)?),
            "ignore_unmapped" => ignore_unmapped = boolean(value)?,
            "from" => request.from = count(key, value)?,
            "size" => request.size = count(key, value)?,
            "version" => request.version = boolean(value)?,
            "seq_no_primary_term" => request.seq_no_primary_term = boolean(value)?,
            "track_scores" => request.track_scores = boolean(value)?,
            "explain" => request.explain = boolean(value)?,
            "sort" => request.sort = sort::read(value)?,
            "_source" => request.source = Some(source::read(value)?),
            "stored_fields" => request.stored = body::stored_fields(value)?,
            "docvalue_fields" => request.docvalue_fields = body::field_formats(value)?,
            "fields" => request.fields = body::field_formats(value)?,
            "script_fields" => request.script_fields = script::fields(value)?,
            "highlight" => request.highlight = Some(highlight::read(value)?),
            _ => request.collapse = Some(around::collapse_inside(value)?),
        }
        Ok(())
    })?;
    Ok(InnerHits { name, ignore_unmapped, request: Box::new(request) })
}

fn count(key: &str, value: &Node) -> Read<u32> {
    u32::try_from(int(value)?)
        .map_err(|_| Fault::illegal(value.at, format!("illegal {key} value, at least 0 or higher")))
}
