//! `_field_usage_stats`: which parts of which fields searches read.

use engine::Result;
use engine::ops::IndicesOptions;
use engine::ops::field_uses::{Count, IndexUses, ShardUses};
use env::Env;
use json::Writer;
use search::plan::uses::Parts;

use super::index_stats::shards;
use crate::call::Call;
use crate::render::units;
use crate::reply::Reply;

/// `GET /{index}/_field_usage_stats`.
pub(super) async fn stats<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let options = call.params.indices_options(IndicesOptions::default())?;
    let fields = call.params.list("fields");
    let rows = call.core.field_uses(call.gate, call.indices(), options, &fields).await?;
    let total: u64 = rows.iter().map(|row| u64::from(row.index.settings.shard_count())).sum();
    let found: u64 = rows.iter().map(|row| row.shards.len() as u64).sum();
    let info = &call.core.shared().config.info;
    Ok(call.json(200, |writer| {
        writer.begin_object();
        shards(writer, total, found);
        for row in rows.iter().filter(|row| !row.shards.is_empty()) {
            writer.key(&row.index.name).begin_object().key("shards").begin_array();
            for shard in &row.shards {
                one(writer, row, shard, (&info.id, info.started_ms), call.human);
            }
            writer.end_array().end_object();
        }
        writer.end_object();
    }))
}

fn one(
    writer: &mut Writer<'_>,
    row: &IndexUses,
    shard: &ShardUses,
    (node, node_started_ms): (&str, i64),
    human: bool,
) {
    // Counted from the start of the node, or of the index.
    let started_ms = node_started_ms.max(row.index.created_ms);
    let mut id = row.index.uuid;
    let salt = started_ms.to_le_bytes().into_iter().chain(shard.number.to_le_bytes());
    id.iter_mut().zip(salt).for_each(|(byte, other)| *byte ^= other);
    writer.begin_object().field_str("tracking_id", &cluster::state::uuid_text(id));
    if human {
        writer.field_str("tracking_started_at", &units::date(started_ms));
    }
    writer
        .key("tracking_started_at_millis")
        .i64(started_ms)
        .key("routing")
        .begin_object()
        .field_str("state", "STARTED")
        .field_bool("primary", true)
        .field_str("node", node)
        .key("relocating_node")
        .null()
        .end_object()
        .key("stats")
        .begin_object();
    let mut sum = Count::default();
    shard.fields.values().for_each(|count| sum += *count);
    counts(writer, "all_fields", &sum);
    writer.key("fields").begin_object();
    for (name, count) in &shard.fields {
        counts(writer, name, count);
    }
    writer.end_object().end_object().end_object();
}

fn counts(writer: &mut Writer<'_>, name: &str, count: &Count) {
    writer
        .key(name)
        .begin_object()
        .field_u64("any", count.any)
        .key("inverted_index")
        .begin_object()
        .field_u64("terms", count.of(Parts::TERMS))
        .field_u64("postings", count.of(Parts::POSTINGS))
        .field_u64("term_frequencies", count.of(Parts::FREQUENCIES))
        .field_u64("positions", count.of(Parts::POSITIONS))
        // Neither is kept: there is nothing to read.
        .field_u64("offsets", 0)
        .field_u64("payloads", 0)
        .field_u64("proximity", count.proximity)
        .end_object()
        .field_u64("stored_fields", count.of(Parts::STORED))
        .field_u64("doc_values", count.of(Parts::COLUMNS))
        .field_u64("points", count.of(Parts::POINTS))
        .field_u64("norms", count.of(Parts::NORMS))
        .field_u64("term_vectors", 0)
        .field_u64("knn_vectors", 0)
        .end_object();
}
