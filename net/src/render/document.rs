//! Answers about single documents, and about many.

use engine::Result;
use engine::ops::bulk::{BulkOutcome, BulkReply};
use engine::ops::document::{Found, GetReply, WriteAction, Written};
use engine::ops::{ShardFailure, Shards};
use json::Writer;

use crate::fail::{self, Trace};

/// The members of a write's answer.
pub fn written(writer: &mut Writer<'_>, done: &Written) {
    writer
        .field_str("_index", &done.index)
        .field_str("_id", &done.id)
        .field_u64("_version", done.version)
        .field_str("result", done.result.as_str());
    if done.forced_refresh {
        writer.field_bool("forced_refresh", true);
    }
    writer.key("_shards").begin_object();
    writer
        .field_u64("total", u64::from(done.shards_total))
        .field_u64("successful", u64::from(done.shards_successful))
        .field_u64("failed", 0)
        .end_object();
    writer.field_u64("_seq_no", done.seq_no).field_u64("_primary_term", done.primary_term);
    if let Some(source) = &done.source {
        writer.key("get").begin_object();
        writer.field_u64("_seq_no", done.seq_no).field_u64("_primary_term", done.primary_term);
        writer.field_bool("found", true).key("_source").raw(source).end_object();
    }
}

/// Begins the answer to a bulk request. `took`, `errors`, `items` stand in this order without
/// blanks: shippers look for these very bytes.
pub fn begin_bulk(writer: &mut Writer<'_>, reply: &BulkReply) {
    let errors = reply.items.iter().any(|item| item.result.is_err());
    writer.begin_object().field_u64("took", reply.took_ms).field_bool("errors", errors);
    writer.key("items").begin_array();
}

/// Ends it.
pub fn end_bulk(writer: &mut Writer<'_>) {
    writer.end_array().end_object();
}

/// One item of it.
pub fn bulk_item(writer: &mut Writer<'_>, item: &BulkOutcome, trace: Trace) {
    let action = match item.action {
        WriteAction::Index => "index",
        WriteAction::Create => "create",
        WriteAction::Delete => "delete",
        WriteAction::Update => "update",
    };
    writer.begin_object().key(action).begin_object();
    match &item.result {
        Ok(done) => {
            written(writer, done);
            writer.field_u64("status", u64::from(done.result.status()));
        }
        Err(error) => {
            writer.field_str("_index", &item.index).key("_id");
            match &item.id {
                Some(id) => writer.str(id),
                None => writer.null(),
            };
            writer.field_u64("status", u64::from(error.status)).key("error");
            fail::inner(writer, error, trace);
        }
    }
    writer.end_object().end_object();
}

/// The answer to a get.
pub fn got(writer: &mut Writer<'_>, reply: &GetReply) {
    writer.begin_object().field_str("_index", &reply.index).field_str("_id", &reply.id);
    match &reply.found {
        Some(found) => found_document(writer, found),
        None => {
            writer.field_bool("found", false);
        }
    }
    writer.end_object();
}

pub(crate) fn found_document(writer: &mut Writer<'_>, found: &Found) {
    writer
        .field_u64("_version", found.version)
        .field_u64("_seq_no", found.seq_no)
        .field_u64("_primary_term", found.primary_term);
    if let Some(routing) = &found.routing {
        writer.field_str("_routing", routing);
    }
    if !found.ignored.is_empty() {
        writer.key("_ignored").begin_array();
        for field in &found.ignored {
            writer.str(field);
        }
        writer.end_array();
    }
    writer.field_bool("found", true);
    if let Some(source) = &found.source {
        writer.key("_source").raw(source);
    }
    if !found.fields.is_empty() {
        writer.key("fields").begin_object();
        for (name, values) in &found.fields {
            writer.key(name).begin_array();
            for value in values {
                writer.raw(value.as_bytes());
            }
            writer.end_array();
        }
        writer.end_object();
    }
}

/// One document of a multi-get: as it was found, or why it was not looked at.
pub fn got_item(
    writer: &mut Writer<'_>,
    index: &str,
    id: &str,
    reply: &Result<GetReply>,
    trace: Trace,
) {
    match reply {
        Ok(reply) => got(writer, reply),
        Err(error) => {
            writer.begin_object().field_str("_index", index).field_str("_id", id).key("error");
            fail::whole(writer, error, trace);
            writer.end_object();
        }
    }
}

/// `{"_shards":{…}}` of calls that go to all shards.
pub fn broadcast(writer: &mut Writer<'_>, shards: &Shards, trace: Trace) {
    writer.begin_object().key("_shards").begin_object();
    writer
        .field_u64("total", u64::from(shards.total))
        .field_u64("successful", u64::from(shards.successful))
        .field_u64("failed", u64::from(shards.failed));
    failures(writer, &shards.failures, None, trace);
    writer.end_object().end_object();
}

/// `failures`, where there are any.
pub fn failures(
    writer: &mut Writer<'_>,
    failures: &[ShardFailure],
    node: Option<&str>,
    trace: Trace,
) {
    if failures.is_empty() {
        return;
    }
    writer.key("failures").begin_array();
    for failure in failures {
        writer
            .begin_object()
            .field_u64("shard", u64::from(failure.shard))
            .field_str("index", &failure.index);
        match node {
            Some(_) if failure.reason.is_no_shard() => writer.key("node").null(),
            Some(node) => writer.field_str("node", node),
            None => writer.field_str("status", status_name(failure.reason.status)),
        };
        writer.key("reason");
        fail::inner(writer, &failure.reason, trace);
        writer.end_object();
    }
    writer.end_array();
}

/// Java's name of a status.
fn status_name(status: u16) -> &'static str {
    match status {
        400 => "BAD_REQUEST",
        403 => "FORBIDDEN",
        404 => "NOT_FOUND",
        409 => "CONFLICT",
        429 => "TOO_MANY_REQUESTS",
        503 => "SERVICE_UNAVAILABLE",
        _ => "INTERNAL_SERVER_ERROR",
    }
}

/// Status of an answer to a call that went to all shards: fine, unless none did it.
pub fn broadcast_status(shards: &Shards) -> u16 {
    if shards.successful > 0 || shards.failures.is_empty() {
        return 200;
    }
    shards.failures.iter().map(|failure| failure.reason.status).max().unwrap_or(200)
}

#[cfg(test)]
mod tests {
    use engine::Error;
    use engine::ops::document::WriteResult;
    use env::Bytes;

    use super::*;

    fn text(write: impl FnOnce(&mut Writer<'_>)) -> String {
        let mut out = Vec::new();
        write(&mut Writer::new(&mut out));
        String::from_utf8(out).expect("UTF-8")
    }

    fn bulk(writer: &mut Writer<'_>, reply: &BulkReply, trace: Trace) {
        begin_bulk(writer, reply);
        for item in &reply.items {
            bulk_item(writer, item, trace);
        }
        end_bulk(writer);
    }

    fn done() -> Written {
        Written {
            index: "a".into(),
            id: "1".into(),
            version: 1,
            result: WriteResult::Created,
            shards_total: 2,
            shards_successful: 1,
            seq_no: 0,
            primary_term: 1,
            forced_refresh: false,
            source: None,
        }
    }

    #[test]
    fn bulk_answers_keep_the_bytes_that_shippers_look_for() {
        let item = |result| BulkOutcome {
            action: WriteAction::Index,
            index: "a".into(),
            id: Some("1".into()),
            result,
        };
        let reply = BulkReply { took_ms: 3, items: vec![item(Ok(done()))] };
        assert_eq!(
            text(|writer| bulk(writer, &reply, Trace::No)),
            r#"{"took":3,"errors":false,"items":[{"index":{"_index":"a","_id":"1","_version":1,"result":"created","_shards":{"total":2,"successful":1,"failed":0},"_seq_no":0,"_primary_term":1,"status":201}}]}"#
        );
        let failed = BulkOutcome { id: None, ..item(Err(Error::illegal_argument("no"))) };
        let reply = BulkReply { took_ms: 3, items: vec![failed] };
        assert_eq!(
            text(|writer| bulk(writer, &reply, Trace::No)),
            r#"{"took":3,"errors":true,"items":[{"index":{"_index":"a","_id":null,"status":400,"error":{"type":"illegal_argument_exception","reason":"no"}}}]}"#
        );
    }

    #[test]
    fn a_source_passes_through_as_it_is() {
        let found = Found {
            version: 2,
            seq_no: 5,
            primary_term: 1,
            routing: Some("r".into()),
            ignored: vec!["f".into()],
            source: Some(Bytes::from(b"{ \"a\" : 1.50 }".to_vec())),
            fields: Vec::new(),
        };
        let reply = GetReply { index: "a".into(), id: "1".into(), found: Some(found) };
        assert_eq!(
            text(|writer| got(writer, &reply)),
            r#"{"_index":"a","_id":"1","_version":2,"_seq_no":5,"_primary_term":1,"_routing":"r","_ignored":["f"],"found":true,"_source":{ "a" : 1.50 }}"#
        );
        let reply = GetReply { index: "a".into(), id: "1".into(), found: None };
        assert_eq!(text(|writer| got(writer, &reply)), r#"{"_index":"a","_id":"1","found":false}"#);
    }
}
