//! `_stats`: what was counted of indices.

use std::sync::Arc;

use engine::node::Config;
use engine::ops::IndicesOptions;
use engine::ops::stats::{Closed, Counts, IndexStats, ShardStats, Standing, Stats};
use engine::{Error, Result};
use env::{Env, Spawn};
use json::Writer;

use crate::call::Call;
use crate::params;
use crate::render::stats::{FieldWish, SECTIONS, Sections, sections_with};
use crate::reply::Reply;

/// `GET /_stats`, `/{index}/_stats`, each with `/{metric}`.
pub(super) async fn stats<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let wanted = Wish { sections: wanted(call)?, fields: fields(call), human: call.human };
    check_params(call, wanted.sections, false)?;
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
    let stats = || rows.iter().flat_map(|row| &row.shards).filter_map(|it| it.standing.stats());
    let total: u64 = rows.iter().map(copies).sum();
    let started: u64 = rows.iter().map(|row| row.started_count() as u64).sum();
    // Elasticsearch makes the answer of the shards that are asked: where an index has none, nothing tells of it.
    let shown = || rows.iter().filter(|row| row.shards.iter().any(has_place));
    let mut all = Vec::new();
    if shown().next().is_some() {
        wanted.members(&Stats::sum(stats()), &mut all);
    }
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
        // Written for one index after the other, in one place.
        let mut own = Vec::with_capacity(all.len());
        for row in shown() {
            writer.key(&row.index.name).begin_object();
            writer
                .field_str("uuid", &row.index.uuid_text())
                .field_str("health", row.health.as_str())
                .field_str("status", if row.index.open { "open" } else { "close" });
            // What one shard counts is its index's sum.
            match &*row.shards {
                [ShardStats { standing: Standing::Started(stats), .. }] => {
                    wanted.members(stats, &mut own);
                }
                _ => wanted.members(&row.sum(), &mut own),
            }
            twice(writer, &own);
            if level == "shards" {
                // Figures of an index with one shard are that shard's.
                let alone = (row.shards.len() == 1).then_some(&*own);
                writer.key("shards").begin_object();
                for shard in row.shards.iter().filter(|shard| has_place(shard)) {
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

/// Is this shard asked for its figures?
fn has_place(shard: &ShardStats) -> bool {
    !matches!(shard.standing, Standing::Failed(_))
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

/// Parameters are read with the sections that they are of; beside others they are as unknown as any.
///
/// # Errors
/// All of those.
pub(super) fn check_params<E: Env>(
    call: &Call<'_, E>,
    sections: Sections,
    of_nodes: bool,
) -> Result<()> {
    let has = |metric| sections.names(metric);
    let is_read = |name: &str| match name {
        "fields" => has("fielddata") || has("completion"),
        "fielddata_fields" => has("fielddata"),
        "completion_fields" => has("completion"),
        "groups" => !of_nodes || has("search"),
        "types" => has("indexing"),
        "include_segment_file_sizes" | "include_unloaded_segments" => has("segments"),
        _ => true,
    };
    let mut unknown: Vec<&str> =
        call.params.iter().map(|(name, _)| name).filter(|name| !is_read(name)).collect();
    if unknown.is_empty() {
        return Ok(());
    }
    unknown.sort_unstable();
    let path = String::from_utf8_lossy(http::Target::new(call.head.target()).path());
    Err(params::unrecognized(&path, "parameter", &unknown, &[]))
}

/// What of the figures is shown, and how.
struct Wish {
    sections: Sections,
    fields: FieldWish,
    human: bool,
}

impl Wish {
    /// The figures as the members of an object, in place of what `out` holds.
    fn members(&self, stats: &Stats, out: &mut Vec<u8>) {
        out.clear();
        sections_with(&mut Writer::new(out), stats, self.sections, self.human, &self.fields);
    }
}

/// Fields that are shown one by one: `fields` where a kind has no list of its own.
pub(super) fn fields<E: Env>(call: &Call<'_, E>) -> FieldWish {
    let of = |name: &str| match call.params.text(name) {
        Some(_) => call.params.list(name),
        None => call.params.list("fields"),
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
    if let Some(stats) = shard.standing.stats() {
        // They stand among the shard's own.
        match known {
            Some(own) => writer.raw_members(own),
            None => {
                let mut own = Vec::new();
                wanted.members(stats, &mut own);
                writer.raw_members(&own)
            }
        };
        let counts = &stats.shard;
        // What was written down is named by the shard and by how often that was done.
        let generation = counts.commit_generation;
        let id = cluster::state::uuid_text(commit_id(row.index.uuid, shard.number, generation));
        writer
            .key("commit")
            .begin_object()
            .field_str("id", &id)
            .field_u64("generation", generation)
            .key("user_data")
            .begin_object();
        user_data(writer, row.index.uuid, shard.number, counts);
        writer.end_object().field_u64("num_docs", counts.commit_docs_count).end_object();
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

#[cfg(test)]
mod tests;
