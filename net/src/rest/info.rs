//! What the node is: `/`, `_nodes`, `_license`.

use std::net::SocketAddr;

use engine::ops::observe::NodeInfo;
use engine::{Error, Result};
use env::Env;
use json::Writer;
use json::path::glob;

use crate::call::Call;
use crate::render::units;
use crate::reply::Reply;

/// The Elasticsearch version whose language is spoken.
pub const VERSION: &str = "8.19.0";

/// The Lucene of that version.
const LUCENE: &str = "9.12.2";

/// `GET|HEAD /`.
pub(super) fn info<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    call.gate.cluster("cluster:monitor/main")?;
    let info = &call.core.shared().config.info;
    Ok(call.json(200, |writer| {
        writer
            .begin_object()
            .field_str("name", &info.name)
            .field_str("cluster_name", &info.cluster_name)
            .field_str("cluster_uuid", &info.cluster_uuid)
            .key("version")
            .begin_object()
            .field_str("number", VERSION)
            .field_str("build_flavor", "default")
            .field_str("build_type", "tar")
            .field_str("build_hash", &info.build_hash)
            .field_str("build_date", &info.build_date)
            .field_bool("build_snapshot", false)
            .field_str("lucene_version", LUCENE)
            .field_str("minimum_wire_compatibility_version", "7.17.0")
            .field_str("minimum_index_compatibility_version", "7.0.0")
            .end_object()
            .field_str("tagline", "You Know, for Search")
            .end_object();
    }))
}

/// `GET /_license`: everything is free; the type is Elasticsearch's word for that.
pub(super) fn license<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    call.gate.cluster("cluster:monitor/xpack/license/get")?;
    let info = &call.core.shared().config.info;
    Ok(call.json(200, |writer| {
        writer
            .begin_object()
            .key("license")
            .begin_object()
            .field_str("status", "active")
            .field_str("uid", &uid(&info.cluster_uuid))
            .field_str("type", "basic")
            .field_str("issue_date", &units::date(info.started_ms));
        writer.key("issue_date_in_millis").i64(info.started_ms);
        writer.field_u64("max_nodes", 1_000).key("max_resource_units").null();
        writer
            .field_str("issued_to", &info.cluster_name)
            .field_str("issuer", "elasticsearch")
            .key("start_date_in_millis")
            .i64(-1)
            .end_object()
            .end_object();
    }))
}

/// A license is named by a UUID; this one is made of the cluster's own name for itself.
fn uid(cluster_uuid: &str) -> String {
    let mut digits: String =
        cluster_uuid.bytes().take(16).map(|byte| format!("{byte:02x}")).collect();
    while digits.len() < 32 {
        digits.push('0');
    }
    let part = |from: usize, to: usize| &digits[from..to];
    [part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-")
}

/// Sections of `_nodes` that are known.
const METRICS: [&str; 3] = ["settings", "transport", "http"];

/// `GET /_nodes`, `/_nodes/{node_id|metric}`, `/_nodes/{node_id}/{metric}`.
pub(super) fn nodes<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    call.gate.cluster("cluster:monitor/nodes/info")?;
    let first = call.path.get("node_id");
    let second = call.path.get("metric");
    let is_metrics =
        |text: &str| text.split(',').all(|part| METRICS.contains(&part) || part == "_all");
    let (ids, metrics) = match (first, second) {
        (ids, Some(metrics)) => (ids.unwrap_or("_all"), metrics),
        (Some(one), None) if one != "_all" && is_metrics(one) => ("_all", one),
        (ids, None) => (ids.unwrap_or("_all"), "_all"),
    };
    if let Some(unknown) = metrics
        .split(',')
        .find(|part| !METRICS.contains(part) && *part != "_all" && *part != "_none")
    {
        let path =
            String::from_utf8_lossy(http::Target::new(call.head.target()).path()).into_owned();
        return Err(Error::illegal_argument(format!(
            "request [{path}] contains unrecognized metric: [{unknown}]"
        )));
    }
    let info = &call.core.shared().config.info;
    let chosen = ids.split(',').any(|id| is_named(info, id));
    let wants = |section: &str| metrics.split(',').any(|part| part == section || part == "_all");
    Ok(call.json(200, |writer| {
        let count = u64::from(chosen);
        writer
            .begin_object()
            .key("_nodes")
            .begin_object()
            .field_u64("total", count)
            .field_u64("successful", count)
            .field_u64("failed", 0)
            .end_object()
            .field_str("cluster_name", &info.cluster_name)
            .key("nodes")
            .begin_object();
        if chosen {
            writer.key(&info.id).begin_object();
            node(writer, info);
            if wants("settings") {
                settings(writer, info, call.params.flag("flat_settings", false).unwrap_or(false));
            }
            if wants("transport") {
                addresses(writer, "transport", &info.transport_address);
                writer.key("profiles").begin_object().end_object().end_object();
            }
            if wants("http") {
                addresses(writer, "http", &info.http_address);
                if call.human {
                    writer
                        .field_str("max_content_length", &units::bytes(call.body_bytes_max as u64));
                }
                writer
                    .field_u64("max_content_length_in_bytes", call.body_bytes_max as u64)
                    .end_object();
            }
            writer.end_object();
        }
        writer.end_object().end_object();
    }))
}

/// Does an id of the path name this node?
fn is_named(info: &NodeInfo, id: &str) -> bool {
    match id {
        "_all" | "_local" | "_master" | "*" => true,
        // Role filters: this node does everything.
        "master:true" | "data:true" | "ingest:true" => true,
        _ => {
            let fits = |text: &str| glob(id.as_bytes(), text.as_bytes());
            fits(&info.id) || fits(&info.name) || fits(host(&info.transport_address))
        }
    }
}

fn node(writer: &mut Writer<'_>, info: &NodeInfo) {
    let ip = host(&info.transport_address);
    writer
        .field_str("name", &info.name)
        .field_str("transport_address", &info.transport_address)
        .field_str("host", ip)
        .field_str("ip", ip)
        .field_str("version", VERSION)
        .field_str("build_flavor", "default")
        .field_str("build_type", "tar")
        .field_str("build_hash", &info.build_hash)
        .key("roles")
        .begin_array()
        .str("data")
        .str("ingest")
        .str("master")
        .end_array()
        .key("attributes")
        .begin_object()
        .end_object();
}

fn settings(writer: &mut Writer<'_>, info: &NodeInfo, flat: bool) {
    writer.key("settings").begin_object();
    if flat {
        writer.field_str("cluster.name", &info.cluster_name).field_str("node.name", &info.name);
    } else {
        writer.key("cluster").begin_object().field_str("name", &info.cluster_name).end_object();
        writer.key("node").begin_object().field_str("name", &info.name).end_object();
    }
    writer.end_object();
}

/// Begins a section with its addresses.
fn addresses(writer: &mut Writer<'_>, section: &str, address: &str) {
    writer.key(section).begin_object().key("bound_address").begin_array().str(address).end_array();
    writer.field_str("publish_address", address);
}

/// The host of `host:port`.
fn host(address: &str) -> &str {
    match address.parse::<SocketAddr>() {
        Ok(SocketAddr::V6(_)) => {
            address.rsplit_once(':').map_or(address, |(host, _)| host).trim_matches(['[', ']'])
        }
        _ => address.rsplit_once(':').map_or(address, |(host, _)| host),
    }
}

/// `GET /favicon.ico`: one transparent pixel.
pub(super) fn favicon() -> Reply {
    const ICON: &[u8] = &[
        // Directory: one icon of 1×1 pixels, 32 bits, 48 bytes from byte 22.
        0, 0, 1, 0, 1, 0, 1, 1, 0, 0, 1, 0, 32, 0, 48, 0, 0, 0, 22, 0, 0, 0,
        // Bitmap header: 40 bytes, 1×2 (colour and mask), one plane.
        40, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 32, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, // One pixel, and its row of the mask.
        0, 0, 0, 0, 0, 0, 0, 0x80,
    ];
    Reply {
        status: 200,
        content_type: Some("image/x-icon".into()),
        body: ICON.to_vec(),
        ..Reply::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uid_has_the_form_of_one() {
        let uid = uid("AbCdEfGhIjKlMnOpQrStUv");
        assert_eq!(uid.len(), 36);
        assert_eq!(uid.matches('-').count(), 4);
    }

    #[test]
    fn hosts_are_cut_off_their_ports() {
        assert_eq!(host("127.0.0.1:9200"), "127.0.0.1");
        assert_eq!(host("[::1]:9200"), "::1");
        assert_eq!(host("localhost:1"), "localhost");
    }
}
