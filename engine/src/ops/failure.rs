//! Failures of the floors below, put into Elasticsearch's words with their status.

use cluster::{Index, State};
use shard::{Conflict, WriteError};

use super::{ShardFailure, Shards};
use crate::error::Error;
use crate::host::call::{Ask, Down};
use crate::node::Shared;

/// A mapping or a document that is wrong.
pub(crate) fn of_mapping(error: mapping::Error) -> Error {
    let status = match error.kind {
        // As Elasticsearch: a limit that only `_analyze` meets.
        mapping::ErrorKind::IllegalState => 500,
        mapping::ErrorKind::NoMemory => 429,
        _ => 400,
    };
    let cause = error.caused_by.map(|cause| of_mapping(*cause));
    let made = Error::new(status, error.kind.name(), error.reason);
    match cause {
        Some(cause) => made.caused_by(cause),
        None => made,
    }
}

/// A command that the cluster state refused.
pub(crate) fn of_cluster(error: cluster::Error) -> Error {
    let reason = error.to_string();
    match error {
        cluster::Error::IndexName { name, .. } => {
            Error::new(400, "invalid_index_name_exception", reason)
                .with("index_uuid", "_na_")
                .with("index", name)
        }
        cluster::Error::AliasName { .. } => Error::new(400, "invalid_alias_name_exception", reason),
        cluster::Error::Exists { name, uuid } => {
            Error::new(400, "resource_already_exists_exception", reason)
                .with("index_uuid", uuid)
                .with("index", name)
        }
        cluster::Error::StreamExists { .. } => {
            Error::new(400, "resource_already_exists_exception", reason)
        }
        cluster::Error::NotFound { name } => Error::index_not_found(&name, "index_or_alias"),
        cluster::Error::AliasesMissing { names } => super::alias::aliases_missing(names.iter()),
        cluster::Error::TemplateMissing { .. } => {
            Error::new(404, "index_template_missing_exception", reason)
        }
        cluster::Error::Template { .. } => {
            Error::new(400, "invalid_index_template_exception", reason)
        }
        cluster::Error::Because { cause, .. } => {
            Error::illegal_argument(reason).caused_by(of_cluster(*cause))
        }
        cluster::Error::Moved { target } => Error::new(
            503,
            "process_cluster_event_timeout_exception",
            format!("failed to process cluster event (rollover of [{target}]): {reason}"),
        ),
        cluster::Error::State { .. } => Error::new(500, "illegal_state_exception", reason),
        cluster::Error::Invalid { .. } => Error::new(400, "validation_exception", reason),
        cluster::Error::Argument { number: Some(text), .. } => Error::illegal_argument(reason)
            .caused_by(Error::new(
                400,
                "number_format_exception",
                format!("For input string: \"{text}\""),
            )),
        cluster::Error::Argument { number: None, .. } => Error::illegal_argument(reason),
        cluster::Error::Parse { .. } => Error::parse(reason),
        cluster::Error::Mapping(error) => of_mapping(error),
    }
}

/// A script that could not be read, or failed.
pub(crate) fn of_script(error: &script::Error) -> Error {
    let reason = match error.stage {
        script::Stage::Compile => "compile error",
        script::Stage::Runtime => "runtime error",
    };
    let stack = error.stack.iter().map(String::as_str).collect::<json::Value>();
    let mut made = Error::new(400, "script_exception", reason)
        .with("script_stack", stack)
        .with("script", error.source.as_str())
        .with("lang", error.lang);
    if let Some(position) = error.position {
        let mut place = json::Object::new();
        place.insert("offset", position.offset as u64);
        place.insert("start", position.start as u64);
        place.insert("end", position.end as u64);
        made = made.with("position", json::Value::Object(place));
    }
    let cause = &error.cause;
    let message = cause.message.clone().unwrap_or_default();
    made.caused_by(Error::new(400, cause.kind.clone(), message))
}

/// A script of an update that failed: whichever way, in these words.
pub(crate) fn of_update_script(cause: Error) -> Error {
    let outer = Error::illegal_argument("failed to execute script");
    let root = outer.clone();
    let mut outer = outer.caused_by(cause);
    // Java's own exception is the root, as Elasticsearch has it.
    outer.root_causes = vec![root];
    outer
}

/// An operation that a shard did not do; `after` is the cluster as it is since ([`Down::error`]).
pub(crate) fn of_write(
    shared: &Shared,
    after: &State,
    index: &Index,
    number: u32,
    id: &str,
    error: WriteError,
) -> Error {
    match error {
        WriteError::Conflict(conflict) => of_conflict(index, number, id, &conflict),
        WriteError::Missing => of_missing(index, number, id),
        WriteError::NoSource => Error::new(
            400,
            "document_source_missing_exception",
            format!("[{id}]: document source missing"),
        )
        .at_shard(&index.uuid_text(), number, &index.name),
        WriteError::Document(error) => of_mapping(*error),
        WriteError::Script(error) => of_update_script(of_script(&error)),
        // The caller sends the rest of its batch again; these never reach a user.
        WriteError::NeedsFields(_) | WriteError::NotTried => {
            Error::internal("an update that waits for fields")
        }
        WriteError::Rejected { needed_bytes } => Error::rejected(format!(
            "rejected execution of coordinating operation [{}][{number}]: no memory for \
             [{needed_bytes}] bytes",
            index.name
        )),
        WriteError::NoSpace { needed_bytes } => Error::rejected(format!(
            "rejected execution of coordinating operation [needed_disk_bytes={needed_bytes}]: no room on the disk"
        )),
        WriteError::TooLarge { bytes, bytes_max } => Error::illegal_argument(format!(
            "operation of [{bytes}] bytes exceeds the largest that the log takes [{bytes_max}]"
        )),
        WriteError::Failed { error: shard::Error::Closed, .. } => {
            Down::Gone.error(after, index, number, Ask::Write)
        }
        WriteError::Failed { error: shard::Error::Starved(why), durable_unknown: false } => {
            Error::rejected(format!(
                "rejected execution of coordinating operation [{}][{number}]: {}",
                index.name,
                shared.told(&why)
            ))
        }
        WriteError::Failed { error, .. } => {
            Error::primary_failed(&index.name, number, &shared.told(&error.to_string()))
        }
    }
}

/// An update of a document that is not there.
pub(crate) fn of_missing(index: &Index, number: u32, id: &str) -> Error {
    Error::new(404, "document_missing_exception", format!("[{id}]: document missing")).at_shard(
        &index.uuid_text(),
        number,
        &index.name,
    )
}

/// A condition that does not hold of the document that stands there.
pub(crate) fn of_conflict(index: &Index, number: u32, id: &str, conflict: &Conflict) -> Error {
    Error::new(409, "version_conflict_engine_exception", format!("[{id}]: {conflict}")).at_shard(
        &index.uuid_text(),
        number,
        &index.name,
    )
}

/// A request or query that cannot be read, or that an index cannot answer.
pub(crate) fn of_search(error: search::Error) -> Error {
    if let Some(script) = &error.script {
        return of_script(script);
    }
    let status = match error.kind {
        search::error::Kind::ResourceNotFound => 404,
        search::error::Kind::AggregationInit | search::error::Kind::IllegalState => 500,
        search::error::Kind::CircuitBreaking => 429,
        _ => 400,
    };
    let mut made = Error::new(status, error.kind.name(), error.reason);
    if error.kind == search::error::Kind::TooManyBuckets
        && let Some(most) = made.reason.split(['[', ']']).nth(1).map(str::to_owned)
    {
        made = made.with("max_buckets", most.parse::<i64>().unwrap_or(0));
    }
    if let Some(place) = error.place {
        made = made.with("line", place.line).with("col", place.column);
    }
    match error.cause {
        Some(cause) => made.caused_by(of_search(*cause)),
        None => made,
    }
}

/// A search that failed in this phase on every shard it asked; or on some of them, where its caller
/// takes no part for the whole: then Elasticsearch names no cause outside.
pub(crate) fn of_shards(shards: &Shards, phase: &'static str) -> Error {
    let mut error = of_all_shards(&shards.failures);
    if shards.successful > 0 {
        error.reason = "Partial shards failure".to_owned();
        error.caused_by = None;
    }
    error.with("phase", phase)
}

/// A search that takes no part for the whole, where shards do not serve: none is asked.
pub(crate) fn of_missing_shards(phase: &'static str, missing: &str) -> Error {
    let hint = "Consider using `allow_partial_search_results` setting to bypass this error.";
    let reason = match phase {
        "open_search_context" => format!(
            "[open_point_in_time] action requires all shards to be available. Missing shards: [{missing}]. {hint}"
        ),
        _ => format!("Search rejected due to missing shards [{missing}]. {hint}"),
    };
    Error::new(503, "search_phase_execution_exception", reason).with("phase", phase)
}

/// A search that failed on every shard it asked: the first cause outside, equal failures of one
/// index told once.
pub(crate) fn of_all_shards(failures: &[ShardFailure]) -> Error {
    let mut distinct: Vec<ShardFailure> = Vec::new();
    for failure in failures {
        let known = distinct.iter().any(|other| {
            other.index == failure.index
                && other.reason.kind == failure.reason.kind
                && other.reason.reason == failure.reason.reason
        });
        if !known {
            distinct.push(failure.clone());
        }
    }
    let status = failures.iter().map(|failure| failure.reason.status).max().unwrap_or(503);
    let mut error = Error::new(status, "search_phase_execution_exception", "all shards failed");
    if let Some(first) = distinct.first() {
        let mut cause = first.reason.clone();
        if cause.kind == "illegal_argument_exception" && cause.caused_by.is_none() {
            // Elasticsearch shows a plain Java exception twice here.
            let inner = cause.clone();
            cause = cause.caused_by(inner);
        }
        error = error.caused_by(cause);
    }
    error.root_causes = distinct
        .iter()
        .map(|failure| match failure.reason.caused_by.as_deref() {
            // Around an exception of its own Elasticsearch tells that one as the root.
            Some(script) if script.kind == "script_exception" => {
                Error { caused_by: None, ..script.clone() }
            }
            _ => Error { caused_by: None, ..failure.reason.clone() },
        })
        .collect();
    error.failed_shards = distinct;
    error
}
