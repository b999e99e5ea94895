//! `_disk_usage`: what each field takes of the disk.

use engine::ops::IndicesOptions;
use engine::ops::field_sizes::FieldSizes;
use engine::{Error, Result};
use env::Env;

use super::index_stats::shards;
use crate::call::Call;
use crate::render::stats::Figures;
use crate::reply::Reply;

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
