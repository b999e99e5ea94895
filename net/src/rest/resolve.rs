//! `_resolve/index`, `_search_shards`: what names stand for.

use engine::Result;
use engine::ops::IndicesOptions;
use env::Env;
use json::{Value, Writer};

use super::cluster_state::primary;
use super::document::preference;
use super::nodes::described;
use crate::call::Call;
use crate::reply::Reply;

/// `GET /_resolve/index/{name}`.
pub(super) async fn index<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let options = call.params.indices_options(IndicesOptions::default())?;
    let found = call.core.resolve_names(call.gate, call.segment("name"), options).await?;
    Ok(call.json(200, |writer| {
        writer.begin_object().key("indices").begin_array();
        for index in &found.indices {
            writer.begin_object().field_str("name", &index.name);
            if !index.aliases.is_empty() {
                list(writer, "aliases", &index.aliases);
            }
            let attributes: Value = index.attributes.iter().copied().collect();
            writer.field("attributes", &attributes);
            if let Some(stream) = &index.stream {
                writer.field_str("data_stream", stream);
            }
            writer.end_object();
        }
        writer.end_array().key("aliases").begin_array();
        for (name, indices) in &found.aliases {
            writer.begin_object().field_str("name", name);
            list(writer, "indices", indices);
            writer.end_object();
        }
        writer.end_array().key("data_streams").begin_array();
        for (name, indices) in &found.streams {
            writer.begin_object().field_str("name", name);
            list(writer, "backing_indices", indices);
            writer.field_str("timestamp_field", cluster::data_stream::TIMESTAMP).end_object();
        }
        writer.end_array().end_object();
    }))
}

/// `GET /_resolve/cluster`, `/_resolve/cluster/{name}`: there are no remote clusters.
pub(super) async fn cluster<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let Some(name) = call.path.get("name") else {
        call.gate.cluster(call.route.privilege)?;
        return Ok(call.json(200, |writer| {
            writer.begin_object().end_object();
        }));
    };
    let base = IndicesOptions { ignore_unavailable: true, ..IndicesOptions::default() };
    let options = call.params.indices_options(base)?;
    let found = match call.core.resolve_names(call.gate, name, options).await {
        // Said of the cluster it is missing in, as of any other.
        Err(error) if error.kind == "index_not_found_exception" => Err(error.reason),
        other => Ok(other?),
    };
    Ok(call.json(200, |writer| {
        writer.begin_object().key("(local)").begin_object();
        writer.field_bool("connected", true).field_bool("skip_unavailable", false);
        match &found {
            Err(reason) => {
                writer.field_str("error", reason);
            }
            Ok(found) => {
                let is_empty = found.indices.is_empty()
                    && found.aliases.is_empty()
                    && found.streams.is_empty();
                writer.field_bool("matching_indices", !is_empty);
                version(writer);
            }
        }
        writer.end_object().end_object();
    }))
}

fn version(writer: &mut Writer<'_>) {
    writer
        .key("version")
        .begin_object()
        .field_str("number", super::info::VERSION)
        .field_str("build_flavor", "default")
        .field_str("minimum_wire_compatibility_version", "7.17.0")
        .field_str("minimum_index_compatibility_version", "7.0.0")
        .end_object();
}

/// `GET|POST /{index}/_reload_search_analyzers`: no analyzer is read from a file, so there is
/// nothing to read again.
pub(super) async fn reload_analyzers<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let options = call.params.indices_options(IndicesOptions::default())?;
    let indices = call.core.reload_analyzers(call.gate, call.indices(), options).await?;
    let info = &call.core.shared().config.info;
    // One shard of each index is asked on each node.
    let shards = indices.len() as u64;
    Ok(call.json(200, |writer| {
        writer
            .begin_object()
            .key("_shards")
            .begin_object()
            .field_u64("total", shards)
            .field_u64("successful", shards)
            .field_u64("failed", 0)
            .end_object()
            .key("reload_details")
            .begin_array();
        for index in &indices {
            writer.begin_object().field_str("index", &index.name);
            list(writer, "reloaded_analyzers", &[]);
            list(writer, "reloaded_node_ids", std::slice::from_ref(&info.id));
            writer.end_object();
        }
        writer.end_array().end_object();
    }))
}

fn list(writer: &mut Writer<'_>, key: &str, names: &[String]) {
    writer.key(key).begin_array();
    for name in names {
        writer.str(name);
    }
    writer.end_array();
}

/// `GET|POST /_search_shards`, `/{index}/_search_shards`.
pub(super) async fn search_shards<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let preference = preference(call)?;
    // What is not there has no shards, unless the caller says otherwise.
    let base = IndicesOptions { ignore_unavailable: true, ..IndicesOptions::default() };
    let options = call.params.indices_options(base)?;
    let routing = call.params.list("routing");
    let found = call
        .core
        .search_shards(call.gate, call.indices(), options, (&routing, &preference))
        .await?;
    let info = &call.core.shared().config.info;
    let directory = call.core.directory();
    Ok(call.json(200, |writer| {
        writer.begin_object().key("nodes").begin_object();
        if found.shards.iter().any(|shard| directory.failure(&shard.index, shard.number).is_none())
        {
            writer.key(&info.id);
            writer.begin_object();
            described(writer, info).end_object();
        }
        writer.end_object().key("indices").begin_object();
        for (name, aliases, filter) in &found.indices {
            writer.key(name).begin_object();
            if !aliases.is_empty() {
                list(writer, "aliases", aliases);
            }
            if let Some(filter) = filter {
                writer.field("filter", filter);
            }
            writer.end_object();
        }
        writer.end_object().key("shards").begin_array();
        for shard in &found.shards {
            writer.begin_array();
            // A search would ask nobody where the shard has no place.
            if directory.failure(&shard.index, shard.number).is_none() {
                primary(call, writer, &shard.index, shard.number);
            }
            writer.end_array();
        }
        writer.end_array().end_object();
    }))
}
