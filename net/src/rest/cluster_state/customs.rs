//! `metadata` of `_cluster/state` beside the indices: templates and data streams, where there are any.
//!
//! As Elasticsearch's `ProjectMetadata` prints them to clients: each kind lies in an object of its own
//! name. Of deleted indices and data streams a caller is told those alone that it may see.

use cluster::State;
use cluster::data_stream::TIMESTAMP;
use engine::Result;
use env::Env;
use json::{Object, Value, Writer};

use super::Wish;
use crate::call::Call;
use crate::render::units;
use crate::rest::long_answer::Growing;
use crate::rest::template::shown;

/// What the gate is asked of a name that is told.
const LOOK: &str = "cluster:monitor/state";

/// `templates`: those of the old kind. Their mappings lie under a type.
pub(super) async fn legacy_templates<E: Env>(
    writer: &mut Writer<'_>,
    state: &State,
    wish: &Wish<'_>,
    growing: &mut Growing<'_, '_, E>,
) -> Result<()> {
    writer.key("templates").begin_object();
    for (name, template) in state.templates.legacy.iter().filter(|_| !wish.narrowed) {
        growing.more(writer, name.len() + template.held_bytes()).await?;
        let mut body = shown(&template.to_json(), wish.flat);
        if let Value::Object(object) = &mut body
            && let Some(mappings) = object.get("mappings").cloned()
            && mappings.as_object().is_some_and(|mappings| !mappings.is_empty())
        {
            let mut typed = Object::new();
            typed.insert("_doc", mappings);
            object.insert("mappings", Value::Object(typed));
        }
        writer.field(name, &body);
    }
    writer.end_object();
    Ok(())
}

/// What a tombstone takes beside its name, and a data stream and each of its indices beside theirs.
const TOMBSTONE_BYTES: usize = 256;
const STREAM_BYTES: usize = 1 << 10;
const STREAM_INDEX_BYTES: usize = 128;

/// `index-graveyard`: the last indices that were deleted, whichever are asked about, of those that the caller
/// might see if they were there.
pub(super) async fn graveyard<E: Env>(
    call: &Call<'_, E>,
    writer: &mut Writer<'_>,
    state: &State,
    growing: &mut Growing<'_, '_, E>,
) -> Result<()> {
    writer.key("index-graveyard").begin_object().key("tombstones").begin_array();
    let tombstones = state.tombstones.iter();
    let seen = tombstones.filter(|one| call.gate.sees(LOOK, &one.name));
    for (at, tombstone) in seen.enumerate() {
        growing.more_at(at, writer, TOMBSTONE_BYTES + tombstone.name.len()).await?;
        writer
            .begin_object()
            .key("index")
            .begin_object()
            .field_str("index_name", &tombstone.name)
            .field_str("index_uuid", &cluster::state::uuid_text(tombstone.uuid))
            .end_object();
        if call.human {
            writer.field_str("delete_date", &units::date(tombstone.deleted_ms));
        }
        writer.key("delete_date_in_millis").i64(tombstone.deleted_ms).end_object();
    }
    writer.end_array().end_object();
    Ok(())
}

/// `component_template` and `index_template`.
pub(super) async fn templates<E: Env>(
    writer: &mut Writer<'_>,
    state: &State,
    flat: bool,
    growing: &mut Growing<'_, '_, E>,
) -> Result<()> {
    let all = &state.templates;
    let component = all.component.iter();
    let component =
        component.map(|(name, body)| (&**name, body.held_bytes(), move || body.to_json()));
    let index = all.index.iter();
    let index = index.map(|(name, body)| (&**name, body.held_bytes(), move || body.to_json()));
    kind(writer, "component_template", component, flat, growing).await?;
    kind(writer, "index_template", index, flat, growing).await
}

/// Templates, each with what it weighs, made when it is shown.
async fn kind<'a, E: Env, B: FnOnce() -> Value>(
    writer: &mut Writer<'_>,
    key: &str,
    templates: impl Iterator<Item = (&'a str, usize, B)>,
    flat: bool,
    growing: &mut Growing<'_, '_, E>,
) -> Result<()> {
    let mut templates = templates.peekable();
    if templates.peek().is_none() {
        return Ok(());
    }
    writer.key(key).begin_object().key(key).begin_object();
    for (name, bytes, body) in templates {
        growing.more(writer, name.len() + bytes).await?;
        writer.field(name, &shown(&body(), flat));
    }
    writer.end_object().end_object();
    Ok(())
}

/// `data_stream`: those that the caller may see. There are no aliases of them.
pub(super) async fn data_streams<E: Env>(
    call: &Call<'_, E>,
    writer: &mut Writer<'_>,
    state: &State,
    growing: &mut Growing<'_, '_, E>,
) -> Result<()> {
    let streams = state.data_streams.values();
    let mut seen = streams.filter(|stream| call.gate.sees(LOOK, &stream.name)).peekable();
    if seen.peek().is_none() {
        return Ok(());
    }
    writer.key("data_stream").begin_object().key("data_stream").begin_object();
    for stream in seen {
        let meta = stream.meta.as_ref().map_or(0, Value::held_bytes);
        growing.more(writer, STREAM_BYTES + 2 * stream.name.len() + meta).await?;
        writer.key(&stream.name).begin_object().field_str("name", &stream.name);
        writer.key("timestamp_field").begin_object().field_str("name", TIMESTAMP).end_object();
        writer.key("indices").begin_array();
        let indices = stream.indices.iter().filter_map(|name| state.index(name));
        for (at, index) in indices.enumerate() {
            growing.more_at(at, writer, STREAM_INDEX_BYTES + index.name.len()).await?;
            writer
                .begin_object()
                .field_str("index_name", &index.name)
                .field_str("index_uuid", &index.uuid_text())
                .end_object();
        }
        writer.end_array().field_u64("generation", stream.generation);
        if let Some(meta) = &stream.meta {
            writer.field("_meta", meta);
        }
        writer
            .field_bool("hidden", stream.hidden)
            .field_bool("replicated", false)
            .field_bool("system", false)
            .field_bool("allow_custom_routing", stream.allow_custom_routing)
            .field_bool("rollover_on_write", stream.rollover_on_write)
            .end_object();
    }
    writer.end_object().key("data_stream_aliases").begin_object().end_object().end_object();
    Ok(())
}
