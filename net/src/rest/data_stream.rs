//! Data streams.

use std::collections::BTreeSet;

use engine::ops::IndicesOptions;
use engine::ops::data_stream::{StreamChange, StreamView};
use engine::{Error, Result};
use env::Env;
use json::{Place, Value, Writer, spanned};

use crate::audit;
use crate::call::Call;
use crate::fail;
use crate::render::stats::Figures;
use crate::reply::Reply;

/// `PUT /_data_stream/{name}`.
pub(super) async fn create<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    call.core.create_stream(call.gate, call.segment("name")).await?;
    Ok(call.acknowledged())
}

/// `GET /_data_stream`, `/_data_stream/{name}`.
pub(super) async fn get<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let options = call.params.indices_options(IndicesOptions::default())?;
    let action = "indices:admin/data_stream/get";
    let views = call.core.streams(call.gate, action, call.segment("name"), options).await?;
    Ok(call.json(200, |writer| {
        writer.begin_object().key("data_streams").begin_array();
        for view in &views {
            one(writer, view);
        }
        writer.end_array().end_object();
    }))
}

fn one(writer: &mut Writer<'_>, view: &StreamView) {
    const UNMANAGED: &str = "Unmanaged";
    let stream = &view.stream;
    writer.begin_object().field_str("name", &stream.name);
    writer.key("timestamp_field").begin_object();
    writer.field_str("name", cluster::data_stream::TIMESTAMP).end_object();
    writer.key("indices").begin_array();
    for index in &view.indices {
        writer
            .begin_object()
            .field_str("index_name", &index.name)
            .field_str("index_uuid", &index.uuid_text())
            .field_bool("prefer_ilm", true)
            .field_str("managed_by", UNMANAGED)
            .end_object();
    }
    writer.end_array().field_u64("generation", stream.generation);
    if let Some(meta) = &stream.meta {
        writer.field("_meta", meta);
    }
    writer.field_str("status", &view.health.as_str().to_uppercase());
    if let Some(template) = &view.template {
        writer.field_str("template", template);
    }
    writer
        .field_str("next_generation_managed_by", UNMANAGED)
        .field_bool("prefer_ilm", true)
        .field_bool("hidden", stream.hidden)
        .field_bool("system", false)
        .field_bool("allow_custom_routing", stream.allow_custom_routing)
        .field_bool("replicated", false)
        .field_bool("rollover_on_write", stream.rollover_on_write)
        .end_object();
}

/// `DELETE /_data_stream/{name}`.
pub(super) async fn delete<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    // A pattern means no hidden one, unless it is told to: what cannot be seen is not to be lost.
    let options = call.params.indices_options(IndicesOptions::default())?;
    call.core.delete_streams(call.gate, call.segment("name"), options).await?;
    Ok(call.acknowledged())
}

/// `POST /_data_stream/_migrate/{name}`.
pub(super) async fn migrate<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    call.core.migrate_alias(call.gate, call.segment("name")).await?;
    Ok(call.acknowledged())
}

/// `POST /_data_stream/_modify`.
pub(super) async fn modify<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let body = call.required_map().await?;
    let mut changes = Vec::new();
    let list = body.get("actions").and_then(Value::as_array).unwrap_or_default();
    for item in list {
        let members = item.as_object().into_iter().flat_map(json::Object::iter);
        for (kind, said) in members {
            let add = match kind {
                "add_backing_index" => true,
                "remove_backing_index" => false,
                other => {
                    let name = other.to_owned();
                    let at = call.read(move |content| Ok(place_of_action(content, &name))).await?;
                    return Err(fail::unknown_field("data_stream_action", other, at));
                }
            };
            let text = |key: &str| {
                said.get(key)
                    .and_then(Value::as_str)
                    .map(str::to_owned)
                    .ok_or_else(|| Error::illegal_argument(format!("Required [{key}]")))
            };
            changes.push(StreamChange { add, stream: text("data_stream")?, index: text("index")? });
        }
    }
    if changes.is_empty() {
        return Err(Error::validation(&[
            "must specify at least one data stream modification action",
        ]));
    }
    let names = changes.iter().flat_map(|change| [&change.stream, &change.index]);
    let names: BTreeSet<String> = names.cloned().collect();
    call.told.borrow_mut().indices(names.into_iter().collect());
    audit::begin_named(call).await?;
    call.core.modify_streams(call.gate, &changes).await?;
    Ok(call.acknowledged())
}

/// Where the action of this name stands in the list of them.
fn place_of_action(content: &[u8], name: &str) -> Place {
    let found = spanned::parse(content).ok().and_then(|body| {
        let list = body.as_object()?.iter().find(|member| member.key == "actions")?;
        let mut actions = list.value.as_array()?.iter().filter_map(spanned::Node::as_object);
        actions.find_map(|members| Some(members.iter().find(|it| it.key == name)?.key_at))
    });
    found.unwrap_or_else(|| Place::of(content, 0))
}

/// `GET /_data_stream/_stats`, `/_data_stream/{name}/_stats`.
pub(super) async fn stats<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let options = call.params.indices_options(IndicesOptions::default())?;
    let rows = call.core.stream_stats(call.gate, call.segment("name"), options).await?;
    let sum = |of: fn(&engine::ops::data_stream::StreamStats) -> u64| -> u64 {
        rows.iter().map(of).sum()
    };
    Ok(call.json(200, |writer| {
        writer
            .begin_object()
            .key("_shards")
            .begin_object()
            .field_u64("total", sum(|row| row.shard_count))
            .field_u64("successful", sum(|row| row.active_count))
            .field_u64("failed", 0)
            .end_object()
            .field_u64("data_stream_count", rows.len() as u64)
            .field_u64("backing_indices", sum(|row| row.index_count));
        Figures::new(writer, call.human).size("total_store_size", sum(|row| row.store_bytes));
        writer.key("data_streams").begin_array();
        for row in &rows {
            writer
                .begin_object()
                .field_str("data_stream", &row.name)
                .field_u64("backing_indices", row.index_count);
            Figures::new(writer, call.human).size("store_size", row.store_bytes);
            writer.key("maximum_timestamp").i64(row.newest_ms).end_object();
        }
        writer.end_array().end_object();
    }))
}
