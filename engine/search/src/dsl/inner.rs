//! `inner_hits`: which of the hits inside a hit are told, and what of them.

use json::spanned::{Kind as Json, Node};

use super::context::{Fault, Read, boolean, int, members, text};
use super::{body, sort, source};
use crate::request::{InnerHits, SearchRequest, TrackTotal};

/// Hits where nothing is said.
const SIZE: u32 = 3;

/// Reads one definition.
pub fn read(node: &Node) -> Read<InnerHits> {
    let mut request =
        SearchRequest { size: SIZE, total: TrackTotal::Exact, ..SearchRequest::default() };
    let (mut name, mut ignore_unmapped) = (None, false);
    if node.as_object().is_none() {
        let reason = format!("[inner_hits] Expected START_OBJECT but was: {}", node.token());
        return Err(Fault::content(node.at, node.at, reason));
    }
    for member in members(node) {
        let value = &member.value;
        let at = value.at;
        match member.key.as_str() {
            "name" => name = Some(text(value)?),
            "ignore_unmapped" => ignore_unmapped = boolean(value)?,
            "from" => {
                request.from = body::from(int(value)?).map_err(|error| Fault { error, at })?
            }
            "size" => {
                request.size = body::size(int(value)?).map_err(|error| Fault { error, at })?
            }
            "version" => request.version = boolean(value)?,
            "seq_no_primary_term" => request.seq_no_primary_term = boolean(value)?,
            "track_scores" => request.track_scores = boolean(value)?,
            "explain" => request.explain = boolean(value)?,
            "sort" => request.sort = sort::read(value)?,
            "_source" => request.source = Some(source::read(value)?),
            "stored_fields" => request.stored = body::stored_fields(value)?,
            "docvalue_fields" if matches!(value.kind, Json::Array(_)) => {
                request.docvalue_fields = body::field_formats(value)?;
            }
            "fields" if matches!(value.kind, Json::Array(_)) => {
                request.fields = body::field_formats(value)?;
            }
            "script_fields" => request.script_fields = super::script::fields(value)?,
            "highlight" => request.highlight = Some(super::highlight::read(value)?),
            "collapse" => request.collapse = Some(super::around::collapse_inside(value)?),
            other => {
                let reason = format!("[inner_hits] unknown field [{other}]");
                return Err(Fault::content(member.key_at, member.key_at, reason));
            }
        }
    }
    Ok(InnerHits { name, ignore_unmapped, request: Box::new(request) })
}
