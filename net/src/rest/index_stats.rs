//! `_stats`, `_segments`, `_recovery`, `_shard_stores`: what was counted of indices.

use std::borrow::Cow;
use std::sync::Arc;

use base::ShardId;
use engine::index::block::{self, Level};
use engine::node::{Config, Entry, Failure};
use engine::ops::IndicesOptions;
use engine::ops::field_sizes::FieldSizes;
use engine::ops::observe::NodeInfo;
use engine::ops::stats::{
    Closed, Counts, IndexStats, Origin, RecoveryRow, ShardStats, Standing, Stats,
};
use engine::{Error, Result};
use env::{Env, Spawn};
use json::Writer;

use crate::call::Call;
use crate::params;
use crate::render::stats::{FieldWish, Figures, SECTIONS, Sections, sections_with};
use crate::render::units;
use crate::reply::Reply;
use crate::rest::cluster_state::allocation_id;
use crate::rest::nodes::described;

/// `GET /_stats`, `/{index}/_stats`, each with `/{metric}`.
pub(super) async fn stats<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let wanted = Wish { sections: wanted(call)?, fields: fields(call), human: call.human };
    let asked = call.params.text("level").unwrap_or("indices");
    let level = asked.to_ascii_lowercase();
    if !["cluster", "indices", "shards"].contains(&level.as_str()) {
        return Err(Error::illegal_argument(format!(
            "level parameter must be one of [cluster] or [indices] or [shards] but was [{asked}]"
        )));
    }
    let closed = if call.params.flag("forbid_closed_indices", true)? {
        Closed::Forbid
    } else {
        Closed::Show
    };
    let options = call.params.indices_options(IndicesOptions::default())?;
    let mut rows = call
        .core
        .index_stats(call.gate, "indices:monitor/stats", call.indices(), options, closed)
        .await?;
    if !wanted.fields.groups.is_empty() {
        call.core.fill_groups(&mut rows).await;
    }
    let shared = Arc::clone(call.core.shared());
    let count: usize = rows.iter().map(|row| row.shards.len()).sum();
    let work = Arc::new(move || body(&rows, &level, &wanted, &shared.config));
    if count > SHARDS_HERE_MAX {
        let there = Arc::clone(&work);
        if let Ok(body) = call.core.env().spawn().work_short(move || there()).await {
            return Ok(Reply::json(200, body));
        }
        // All workers are busy with more than they can do; late is better than not at all.
    }
    Ok(Reply::json(200, work()))
}

/// Figures of more shards are written by a worker: an executor has others to answer meanwhile.
const SHARDS_HERE_MAX: usize = 20;

/// What an index takes beside its figures, and what a shard does.
const INDEX_BYTES: usize = 192;
const SHARD_BYTES: usize = 640;

/// The whole answer.
fn body(rows: &[IndexStats], level: &str, wanted: &Wish, config: &Config) -> Vec<u8> {
    let sums: Vec<Stats> = rows.iter().map(IndexStats::sum).collect();
    let total: u64 = rows.iter().map(copies).sum();
    let started: u64 = rows.iter().map(|row| row.started_count() as u64).sum();
    let all = wanted.members(&Stats::sum(&sums));
    let mut out = Vec::with_capacity(bytes_of(rows, level, &all));
    let writer = &mut Writer::new(&mut out);
    writer.begin_object();
    shards(writer, total, started);
    writer.key("_all");
    writer.begin_object();
    twice(writer, &all);
    writer.end_object();
    if level != "cluster" {
        writer.key("indices").begin_object();
        for (row, sum) in rows.iter().zip(&sums) {
            writer.key(&row.index.name).begin_object();
            writer
                .field_str("uuid", &row.index.uuid_text())
                .field_str("health", row.health.as_str())
                .field_str("status", if row.index.open { "open" } else { "close" });
            let own = wanted.members(sum);
            twice(writer, &own);
            if level == "shards" {
                // Figures of an index with one shard are that shard's.
                let alone = (row.shards.len() == 1).then_some(&*own);
                writer.key("shards").begin_object();
                let has_place = |it: &&ShardStats| !matches!(it.standing, Standing::Failed(_));
                for shard in row.shards.iter().filter(has_place) {
                    writer.key(&shard.number.to_string()).begin_array();
                    one_shard(writer, row, shard, (wanted, alone), config);
                    writer.end_array();
                }
                writer.end_object();
            }
            writer.end_object();
        }
        writer.end_object();
    }
    writer.end_object();
    out
}

/// What an answer takes: the memory that it holds is counted, so no more is asked for than is written. The
/// figures of all are at least as long as those of each.
fn bytes_of(rows: &[IndexStats], level: &str, all: &[u8]) -> usize {
    let index_bytes = INDEX_BYTES + 2 * all.len();
    let shards = || rows.iter().map(|row| row.shards.len()).sum::<usize>();
    match level {
        "cluster" => index_bytes,
        "indices" => index_bytes * (1 + rows.len()),
        _ => index_bytes * (1 + rows.len()) + (SHARD_BYTES + all.len()) * shards(),
    }
}

/// Copies that are configured.
fn copies(row: &IndexStats) -> u64 {
    row.shards.len() as u64 * (1 + u64::from(row.index.settings.replica_count()))
}

/// The sections that are asked for.
fn wanted<E: Env>(call: &Call<'_, E>) -> Result<Sections> {
    let metrics: Vec<&str> =
        call.segment("metric").split(',').filter(|metric| !metric.is_empty()).collect();
    if metrics.is_empty() {
        return Ok(Sections::ALL);
    }
    super::nodes::all_alone(call, &metrics)?;
    Sections::of(metrics.iter().copied()).map_err(|_| {
        let known: Vec<&str> = SECTIONS.iter().map(|(metric, _)| *metric).collect();
        let mut unknown: Vec<&str> = metrics
            .iter()
            .copied()
            .filter(|metric| *metric != "_all" && !known.contains(metric))
            .collect();
        unknown.sort_unstable();
        let path = String::from_utf8_lossy(http::Target::new(call.head.target()).path());
        params::unrecognized(&path, "metric", &unknown, &known)
    })
}

/// What of the figures is shown, and how.
struct Wish {
    sections: Sections,
    fields: FieldWish,
    human: bool,
}

impl Wish {
    /// The figures as the members of an object.
    fn members(&self, stats: &Stats) -> Vec<u8> {
        let mut out = Vec::new();
        let mut writer = Writer::new(&mut out);
        sections_with(&mut writer, stats, self.sections, self.human, &self.fields);
        out
    }
}

/// Fields that are shown one by one.
fn fields<E: Env>(call: &Call<'_, E>) -> FieldWish {
    let both = call.params.list("fields");
    let of = |name: &str| {
        let mut list = call.params.list(name);
        list.extend(both.iter().cloned());
        list
    };
    FieldWish {
        fielddata: of("fielddata_fields"),
        completion: of("completion_fields"),
        groups: call.params.list("groups"),
    }
}

/// The same figures as `primaries` and as `total`: a node alone holds primaries only.
fn twice(writer: &mut Writer<'_>, members: &[u8]) {
    for key in ["primaries", "total"] {
        writer.key(key).begin_object().raw_members(members).end_object();
    }
}

/// One shard, whose figures may be written already.
fn one_shard(
    writer: &mut Writer<'_>,
    row: &IndexStats,
    shard: &ShardStats,
    (wanted, known): (&Wish, Option<&[u8]>),
    config: &Config,
) {
    writer.begin_object().key("routing").begin_object();
    writer.field_str("state", shard.standing.as_str()).field_bool("primary", true);
    writer.field_str("node", &config.info.id).key("relocating_node").null().end_object();
    if let Standing::Started(stats) = &shard.standing {
        // They stand among the shard's own.
        let own = known.map_or_else(|| wanted.members(stats).into(), Cow::Borrowed);
        writer.raw_members(&own);
        let counts = &stats.shard;
        // What was flushed is named by the shard and by how often that was done.
        let id =
            cluster::state::uuid_text(commit_id(row.index.uuid, shard.number, counts.flush.count));
        writer
            .key("commit")
            .begin_object()
            .field_str("id", &id)
            .field_u64("generation", counts.flush.count + 1)
            .key("user_data")
            .begin_object();
        user_data(writer, row.index.uuid, shard.number, counts);
        writer.end_object().field_u64("num_docs", counts.docs_count).end_object();
        writer.key("seq_no").begin_object();
        writer.key("max_seq_no").i64(number(counts.seq_no_max));
        writer.key("local_checkpoint").i64(number(counts.seq_no_applied));
        writer.key("global_checkpoint").i64(number(counts.seq_no_applied));
        writer.end_object();
        writer
            .key("retention_leases")
            .begin_object()
            .field_u64("primary_term", counts.primary_term)
            .field_u64("version", 0)
            .key("leases")
            .begin_array()
            .end_array()
            .end_object();
        // The folder below which all shards lie, as the peer tells it: not the shard's own.
        let path = config.data.display().to_string();
        writer
            .key("shard_path")
            .begin_object()
            .field_str("state_path", &path)
            .field_str("data_path", &path)
            .field_bool("is_custom_data_path", false)
            .end_object();
    }
    writer.end_object();
}

/// What a commit says of the log and the history that it belongs to. Both begin with the shard and
/// are never another's, so both bear its name.
fn user_data(writer: &mut Writer<'_>, uuid: [u8; 16], shard: u32, counts: &Counts) {
    let name = cluster::state::uuid_text(commit_id(uuid, shard, 0));
    let applied = number(counts.seq_no_applied) + 1;
    let flushed = (applied - counts.log_operations as i64 - 1).to_string();
    writer
        .field_str("translog_uuid", &name)
        .field_str("history_uuid", &name)
        .field_str("local_checkpoint", &flushed)
        .field_str("max_seq_no", &flushed)
        // An id that was made here is looked up as any other is.
        .field_str("max_unsafe_auto_id_timestamp", "-1");
}

/// A sequence number; -1 before the first.
fn number(seq_no: Option<u64>) -> i64 {
    seq_no.map_or(-1, |seq_no| seq_no as i64)
}

fn commit_id(uuid: [u8; 16], shard: u32, generation: u64) -> [u8; 16] {
    let mut id = uuid;
    for (byte, more) in
        id.iter_mut().zip(shard.to_be_bytes().into_iter().chain(generation.to_be_bytes()))
    {
        *byte ^= more;
    }
    id
}

pub(super) fn shards(writer: &mut Writer<'_>, total: u64, successful: u64) {
    writer
        .key("_shards")
        .begin_object()
        .field_u64("total", total)
        .field_u64("successful", successful)
        .field_u64("failed", 0)
        .end_object();
}

/// `GET /_segments`, `/{index}/_segments`.
pub(super) async fn segments<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let options = call.params.indices_options(IndicesOptions::default())?;
    let rows = call.core.segment_rows(call.gate, call.indices(), options).await?;
    let info = &call.core.shared().config.info;
    let total: u64 = rows.iter().map(|row| 1 + u64::from(row.index.settings.replica_count())).sum();
    Ok(call.json(200, |writer| {
        writer.begin_object();
        shards(writer, total, rows.len() as u64);
        writer.key("indices").begin_object();
        for of_index in rows.chunk_by(|a, b| a.index.uuid == b.index.uuid) {
            writer.key(&of_index[0].index.name).begin_object().key("shards").begin_object();
            for row in of_index {
                writer.key(&row.number.to_string()).begin_array().begin_object();
                writer.key("routing").begin_object().field_str("state", "STARTED");
                writer.field_bool("primary", true).field_str("node", &info.id).end_object();
                let committed = row.segments.iter().filter(|segment| segment.committed).count();
                writer
                    .field_u64("num_committed_segments", committed as u64)
                    .field_u64("num_search_segments", row.segments.len() as u64);
                writer.key("segments").begin_object();
                for segment in &row.segments {
                    writer.key(&units::segment_name(segment.id)).begin_object();
                    writer
                        .field_u64("generation", segment.id)
                        .field_u64("num_docs", segment.docs_count)
                        .field_u64("deleted_docs", segment.docs_deleted);
                    Figures::new(writer, call.human).bytes("size", segment.bytes);
                    writer
                        .field_bool("committed", segment.committed)
                        .field_bool("search", true)
                        .field_str("version", super::info::LUCENE)
                        .field_bool("compound", true)
                        .key("attributes")
                        .begin_object()
                        .end_object()
                        .end_object();
                }
                writer.end_object().end_object().end_array();
            }
            writer.end_object().end_object();
        }
        writer.end_object().end_object();
    }))
}

/// `GET /_recovery`, `/{index}/_recovery`.
pub(super) fn recovery<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let options = call.params.indices_options(IndicesOptions::default())?;
    let active = call.params.flag("active_only", false)?;
    let detailed = call.params.flag("detailed", false)?;
    let mut rows = call.core.recovery_rows(call.gate, call.indices(), options)?;
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
        .field_str("stage", if row.done { "DONE" } else { "TRANSLOG" })
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
    // What lies on the disk is used as it lies: nothing is copied.
    out.begin("index").begin("size");
    out.bytes("total", row.bytes).bytes("reused", row.bytes).bytes("recovered", 0);
    out.bytes("recovered_from_snapshot", 0).text("percent", reused(row.bytes)).end();
    out.begin("files").count("total", row.files).count("reused", row.files).count("recovered", 0);
    out.text("percent", reused(row.files));
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
const fn reused(total: u64) -> &'static str {
    if total == 0 { "0.0%" } else { "100.0%" }
}

/// `GET /_shard_stores`, `/{index}/_shard_stores`.
pub(super) fn shard_stores<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let options = call.params.indices_options(IndicesOptions::default())?;
    let wanted: Vec<&str> = call.params.text("status").unwrap_or("yellow,red").split(',').collect();
    for word in &wanted {
        if !["green", "yellow", "red", "all"].contains(word) {
            return Err(Error::illegal_argument(format!("unknown cluster health status [{word}]")));
        }
    }
    let action = "indices:monitor/shard_stores";
    let indices = call.core.named_indices(call.gate, action, call.indices(), options)?;
    block::check_all(indices.iter().map(|index| &**index), Level::MetadataRead)?;
    let directory = call.core.directory();
    let info = &call.core.shared().config.info;
    Ok(call.json(200, |writer| {
        writer.begin_object().key("indices").begin_object();
        for index in &indices {
            let replicas = index.settings.replica_count();
            let found: Vec<(u32, Option<&Entry>, &str)> = (0..index.settings.shard_count())
                .map(|number| {
                    let entry = directory.shards.get(&ShardId { index: index.uuid, number });
                    let colour = match entry {
                        Some(Entry::Open(_)) if replicas == 0 => "green",
                        None if !index.open && replicas == 0 => "green",
                        Some(Entry::Open(_)) => "yellow",
                        None if !index.open => "yellow",
                        _ => "red",
                    };
                    (number, entry, colour)
                })
                .filter(|(_, _, colour)| wanted.contains(&"all") || wanted.contains(colour))
                .collect();
            if found.is_empty() {
                continue;
            }
            writer.key(&index.name).begin_object().key("shards").begin_object();
            for (number, entry, _) in found {
                writer.key(&number.to_string()).begin_object().key("stores").begin_array();
                writer.begin_object().key(&info.id);
                writer.begin_object();
                described(writer, info).end_object();
                let id = allocation_id(index, number);
                writer.field_str("allocation_id", &id).field_str("allocation", "primary");
                if let Some(Entry::Failed(Failure { why, .. })) = entry {
                    writer.key("store_exception").begin_object();
                    writer.field_str("type", "corrupt_index_exception").field_str("reason", why);
                    writer.end_object();
                }
                writer.end_object().end_array().end_object();
            }
            writer.end_object().end_object();
        }
        writer.end_object().end_object();
    }))
}

/// `POST /{index}/_disk_usage`.
pub(super) async fn disk_usage<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    if !call.params.flag("run_expensive_tasks", false)? {
        return Err(Error::illegal_argument(
            "analyzing the disk usage of an index is expensive and resource intensive; the \
             parameter [run_expensive_tasks] must be set to [true] in order for the task to be \
             performed",
        ));
    }
    let options = call.params.indices_options(IndicesOptions::default())?;
    let flush = call.params.flag("flush", true)?;
    let (counts, usages) = call.core.disk_usage(call.gate, call.indices(), options, flush).await?;
    Ok(call.json(200, |writer| {
        writer.begin_object();
        shards(writer, u64::from(counts.total), u64::from(counts.successful));
        for usage in &usages {
            writer.key(&usage.index).begin_object();
            let mut out = Figures::new(writer, true);
            out.bytes("store_size", usage.store_bytes).begin("all_fields");
            let mut sum = FieldSizes::default();
            usage.fields.values().for_each(|sizes| sum += *sizes);
            sizes(&mut out, &sum);
            out.end().begin("fields");
            for (name, one) in &usage.fields {
                out.begin(name);
                sizes(&mut out, one);
                out.end();
            }
            out.end().end();
        }
        writer.end_object();
    }))
}

fn sizes(out: &mut Figures<'_, '_>, sizes: &FieldSizes) {
    out.bytes("total", sizes.total())
        .begin("inverted_index")
        .bytes("total", sizes.inverted)
        .end()
        .bytes("stored_fields", sizes.stored)
        .bytes("doc_values", sizes.doc_values)
        .bytes("points", sizes.points)
        .bytes("norms", sizes.norms)
        .bytes("term_vectors", 0)
        .bytes("knn_vectors", 0);
}

#[cfg(test)]
mod tests;
