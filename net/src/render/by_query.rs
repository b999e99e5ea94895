//! Answers of work by query: the report, and how far it is.

use engine::ops::by_query::{ByQueryReply, Status, Work};
use json::Writer;

use super::units;
use crate::fail::{self, Trace};

/// What the work was: some counts are told of some kinds only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// `_delete_by_query`.
    Delete,
    /// `_update_by_query`.
    Update,
    /// `_reindex`, and every kind while it runs.
    All,
}

impl Of {
    /// The kind of some work.
    pub fn work(work: &Work) -> Self {
        match work {
            Work::Delete => Self::Delete,
            Work::Update => Self::Update,
            Work::Reindex(_) => Self::All,
        }
    }
}

/// The members of the report; `human`: times as people read them stand beside.
pub fn answer(writer: &mut Writer<'_>, reply: &ByQueryReply, of: Of, human: bool, trace: Trace) {
    writer.field_u64("took", reply.took_ms).field_bool("timed_out", reply.timed_out);
    counts(writer, &reply.status, of, human);
    writer.key("failures").begin_array();
    for failure in &reply.failures {
        writer.begin_object().field_str("index", &failure.index).field_str("id", &failure.id);
        writer.key("cause");
        fail::inner(writer, &failure.cause, trace);
        writer.field_u64("status", u64::from(failure.cause.status)).end_object();
    }
    writer.end_array();
}

/// The counts, with those of the slices.
pub fn counts(writer: &mut Writer<'_>, status: &Status, of: Of, human: bool) {
    if let Some(id) = status.slice_id {
        writer.field_u64("slice_id", u64::from(id));
    }
    writer.field_u64("total", status.total);
    if of != Of::Delete {
        writer.field_u64("updated", status.updated);
    }
    if of == Of::All {
        writer.field_u64("created", status.created);
    }
    writer
        .field_u64("deleted", status.deleted)
        .field_u64("batches", status.batches)
        .field_u64("version_conflicts", status.version_conflicts)
        .field_u64("noops", status.noops)
        .key("retries")
        .begin_object()
        .field_u64("bulk", status.bulk_retries)
        .field_u64("search", 0)
        .end_object();
    if human {
        writer.field_str("throttled", &units::millis(status.throttled_ms));
    }
    writer
        .field_u64("throttled_millis", status.throttled_ms)
        .key("requests_per_second")
        .f32(status.requests_per_second);
    if let Some(why) = &status.cancelled {
        writer.field_str("canceled", why);
    }
    if human {
        writer.field_str("throttled_until", &units::millis(status.throttled_until_ms));
    }
    writer.field_u64("throttled_until_millis", status.throttled_until_ms);
    if !status.slices.is_empty() {
        writer.key("slices").begin_array();
        for slice in &status.slices {
            writer.begin_object();
            counts(writer, slice, of, human);
            writer.end_object();
        }
        writer.end_array();
    }
}
