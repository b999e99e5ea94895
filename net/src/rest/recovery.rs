//! `_recovery`: how each shard came to serve.

use engine::Result;
use engine::ops::IndicesOptions;
use engine::ops::observe::NodeInfo;
use engine::ops::stats::{Origin, RecoveryRow};
use env::Env;
use json::Writer;

use crate::call::Call;
use crate::render::stats::Figures;
use crate::render::units;
use crate::reply::Reply;

/// `GET /_recovery`, `/{index}/_recovery`.
pub(super) async fn recovery<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let base = IndicesOptions { expand_closed: true, ..IndicesOptions::default() };
    let options = call.params.indices_options(base)?;
    let active = call.params.flag("active_only", false)?;
    let detailed = call.params.flag("detailed", false)?;
    let mut rows = call.core.recovery_rows(call.gate, call.indices(), options).await?;
    if active {
        rows.retain(|row| !row.done);
    }
    let info = &call.core.shared().config.info;
    Ok(call.json(200, |writer| {
        writer.begin_object();
        for of_index in rows.chunk_by(|a, b| a.index.uuid == b.index.uuid) {
            writer.key(&of_index[0].index.name).begin_object().key("shards").begin_array();
            for row in of_index {
                recovered(writer, row, info, call.human, detailed);
            }
            writer.end_array().end_object();
        }
        writer.end_object();
    }))
}

fn recovered(
    writer: &mut Writer<'_>,
    row: &RecoveryRow,
    info: &NodeInfo,
    human: bool,
    detailed: bool,
) {
    let took_ms = row.took_us / 1_000;
    let begin_ms = i64::try_from(row.begin_ms).unwrap_or(0);
    writer
        .begin_object()
        .field_u64("id", u64::from(row.number))
        .field_str("type", row.origin.as_str())
        .field_str("stage", row.stage())
        .field_bool("primary", true);
    if human {
        writer.field_str("start_time", &units::date(begin_ms));
    }
    writer.field_u64("start_time_in_millis", row.begin_ms);
    if row.done {
        if human {
            writer.field_str("stop_time", &units::date(begin_ms + took_ms as i64));
        }
        writer.field_u64("stop_time_in_millis", row.begin_ms + took_ms);
    }
    let mut out = Figures::new(writer, human);
    out.millis("total_time", took_ms);
    out.begin("source");
    if row.origin == Origin::Existing {
        out.flag("bootstrap_new_history_uuid", false);
    }
    out.end().begin("target").text("id", &info.id);
    let host = info.transport_address.rsplit_once(':').map_or("", |(host, _)| host);
    out.text("host", host)
        .text("transport_address", &info.transport_address)
        .text("ip", host)
        .text("name", &info.name)
        .end();
    // What lies on the disk is used as it lies; of another index's shards everything is written anew.
    let (files, bytes) = row.recovered();
    out.begin("index").begin("size");
    out.bytes("total", row.bytes).bytes("reused", row.bytes - bytes).bytes("recovered", bytes);
    out.bytes("recovered_from_snapshot", 0).text("percent", there(row.bytes)).end();
    out.begin("files").count("total", row.files).count("reused", row.files - files);
    out.count("recovered", files).text("percent", there(row.files));
    if detailed {
        out.writer().key("details").begin_array().end_array();
    }
    out.end()
        .millis("total_time", 0)
        .millis("source_throttle_time", 0)
        .millis("target_throttle_time", 0)
        .end();
    out.begin("translog")
        .count("recovered", row.replayed)
        .count("total", row.replayed)
        .text("percent", "100.0%")
        .count("total_on_start", row.replayed)
        .millis("total_time", took_ms)
        .end();
    out.begin("verify_index").millis("check_index_time", 0).millis("total_time", 0).end();
    writer.end_object();
}

/// The share of so many files or bytes that is there: all; of none, none.
const fn there(total: u64) -> &'static str {
    if total == 0 { "0.0%" } else { "100.0%" }
}
