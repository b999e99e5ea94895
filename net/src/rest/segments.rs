//! `_segments`: the segments of each shard.

use engine::Result;
use engine::ops::IndicesOptions;
use env::Env;

use super::index_stats::shards;
use crate::call::Call;
use crate::render::stats::Figures;
use crate::render::units;
use crate::reply::Reply;

/// `GET /_segments`, `/{index}/_segments`.
pub(super) async fn segments<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let options = call.params.indices_options(IndicesOptions::default())?;
    let rows = call.core.segment_rows(call.gate, call.indices(), options).await?;
    let info = &call.core.shared().config.info;
    let total: u64 = rows.iter().map(|row| 1 + u64::from(row.index.settings.replica_count())).sum();
    let serving: Vec<_> = rows
        .iter()
        .filter_map(|row| row.segments.as_ref().map(|segments| (row, segments)))
        .collect();
    Ok(call.json(200, |writer| {
        writer.begin_object();
        shards(writer, total, serving.len() as u64);
        writer.key("indices").begin_object();
        for of_index in serving.chunk_by(|(a, _), (b, _)| a.index.uuid == b.index.uuid) {
            writer.key(&of_index[0].0.index.name).begin_object().key("shards").begin_object();
            for (row, segments) in of_index {
                writer.key(&row.number.to_string()).begin_array().begin_object();
                writer.key("routing").begin_object().field_str("state", "STARTED");
                writer.field_bool("primary", true).field_str("node", &info.id).end_object();
                let committed = segments.iter().filter(|segment| segment.committed).count();
                writer
                    .field_u64("num_committed_segments", committed as u64)
                    .field_u64("num_search_segments", segments.len() as u64);
                writer.key("segments").begin_object();
                for segment in *segments {
                    writer.key(&units::segment_name(segment.id)).begin_object();
                    writer
                        .field_u64("generation", units::segment_generation(segment.id))
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
