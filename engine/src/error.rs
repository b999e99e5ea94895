//! What an operation may fail with: Elasticsearch's type, words and status, given once.
//!
//! An [`Error`] is plain data: it crosses cores, and `net` prints it. Crates below speak of facts
//! in their own small enums; this file and `ops` put those into Elasticsearch's words.
//!
//! Not here: the JSON form (`net/fail`).

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use env::budget::{Lease, Taken};
use json::Value;

/// No copy of a shard can be read.
const NO_SHARD: &str = "no_shard_available_action_exception";

/// A shard cannot be written to.
const UNAVAILABLE: &str = "unavailable_shards_exception";

/// Answer of an operation.
pub type Result<T> = std::result::Result<T, Error>;

/// One failure, with the failures that caused it.
#[derive(Clone, Debug, PartialEq)]
pub struct Error {
    /// HTTP status.
    pub status: u16,
    /// Elasticsearch's name, in snake case: `index_not_found_exception`.
    pub kind: Cow<'static, str>,
    /// For people.
    pub reason: String,
    /// Keys beside type and reason, in order: `resource.type`, `index`, `line`.
    pub meta: Vec<(Cow<'static, str>, Value)>,
    /// The failure below this one.
    pub caused_by: Option<Box<Error>>,
    /// Roots that the outer failure names where they cannot be found by walking the causes
    /// (failures of several shards); empty otherwise.
    pub root_causes: Vec<Error>,
    /// Of a search that failed on all shards: the failures, which `failed_shards` lists.
    pub failed_shards: Vec<crate::ops::ShardFailure>,
    /// The memory that was taken for it, where many may be told together.
    pub memory: Held,
}

/// Memory that somebody holds; it says nothing.
#[derive(Clone, Debug, Default)]
pub struct Held {
    _taken: Option<Arc<Taken>>,
}

impl PartialEq for Held {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

/// Names of indices have at most 255 bytes, expressions are longer. Of one so long that no index has it its beginning is
/// told: an error holds it several times, and each item of a request may have one.
pub(crate) fn name_shown(name: &str) -> Cow<'_, str> {
    match name.len() > NAME_BYTES_MAX {
        false => Cow::Borrowed(name),
        true => Cow::Owned(format!("{}...", &name[..name.floor_char_boundary(NAME_BYTES_MAX)])),
    }
}

/// See [`name_shown`].
const NAME_BYTES_MAX: usize = 4_000;

impl Error {
    /// About how many bytes of memory it takes, itself included.
    pub fn held_bytes(&self) -> usize {
        let meta = self.meta.iter().map(|(key, value)| key.len() + value.held_bytes());
        let below = self.caused_by.as_deref().into_iter().chain(&self.root_causes);
        let below = below.chain(self.failed_shards.iter().map(|failure| &failure.reason));
        size_of::<Self>()
            + self.reason.len()
            + meta.sum::<usize>()
            + below.map(Self::held_bytes).sum::<usize>()
    }

    /// A failure of `kind` with `status`.
    pub fn new(status: u16, kind: impl Into<Cow<'static, str>>, reason: impl Into<String>) -> Self {
        Self {
            status,
            kind: kind.into(),
            reason: reason.into(),
            meta: Vec::new(),
            caused_by: None,
            root_causes: Vec::new(),
            failed_shards: Vec::new(),
            memory: Held::default(),
        }
    }

    /// One of many that are told together: with memory for it and for what is told of it, until it goes; where there is
    /// none, the refusal of that, which is short. Refusals are.
    #[must_use]
    pub fn paid(self, lease: &Lease) -> Self {
        if self.status == 429 {
            return self;
        }
        let bytes = self.held_bytes().saturating_mul(2);
        match lease.take_leaving(bytes) {
            Some(taken) => Self { memory: Held { _taken: Some(Arc::new(taken)) }, ..self },
            None => Self::no_memory("failures", bytes, lease.total_bytes()),
        }
    }

    /// 400 `illegal_argument_exception`.
    pub fn illegal_argument(reason: impl Into<String>) -> Self {
        Self::new(400, "illegal_argument_exception", reason)
    }

    /// 400 `action_request_validation_exception`, the problems counted from 1.
    pub fn validation<S: AsRef<str>>(problems: &[S]) -> Self {
        let mut reason = String::from("Validation Failed: ");
        for (at, problem) in problems.iter().enumerate() {
            reason.push_str(&format!("{}: {};", at + 1, problem.as_ref()));
        }
        Self::new(400, "action_request_validation_exception", reason)
    }

    /// 400 `parse_exception`.
    pub fn parse(reason: impl Into<String>) -> Self {
        Self::new(400, "parse_exception", reason)
    }

    /// 404 for a name that no index or alias bears; `resource_type` is `index_or_alias` for most
    /// calls, `index_expression` for those on one document.
    pub fn index_not_found(name: &str, resource_type: &'static str) -> Self {
        let name = &*name_shown(name);
        Self::new(404, "index_not_found_exception", format!("no such index [{name}]"))
            .with("resource.type", resource_type)
            .with("resource.id", name)
            .with("index_uuid", "_na_")
            .with("index", name)
    }

    /// 429: the node has no room for the request now; the caller may try again.
    pub fn rejected(reason: impl Into<String>) -> Self {
        Self::new(429, "es_rejected_execution_exception", reason)
    }

    /// Is it that there is no memory ([`Self::no_memory`])?
    pub fn is_no_memory(&self) -> bool {
        self.kind == "circuit_breaking_exception"
    }

    /// 429: there is no memory for `what` now.
    pub fn no_memory(what: &str, wanted_bytes: usize, limit_bytes: usize) -> Self {
        Self::new(
            429,
            "circuit_breaking_exception",
            format!(
                "[parent] Data too large, data for [<{what}>] would be [{wanted_bytes}b], which is \
                 larger than what is left of the limit of [{limit_bytes}b]"
            ),
        )
        .with("bytes_wanted", wanted_bytes)
        .with("bytes_limit", limit_bytes)
        .with("durability", "TRANSIENT")
    }

    /// 429: names, settings, fields and templates would take more than they may. Until something of them is
    /// deleted that stays so.
    pub fn state_too_large(wanted_bytes: usize, limit_bytes: usize) -> Self {
        Self::new(
            429,
            "circuit_breaking_exception",
            format!(
                "[parent] Data too large, data for [<cluster_state>] would be [{wanted_bytes}b], which is \
                 larger than the limit of [{limit_bytes}b]"
            ),
        )
        .with("bytes_wanted", wanted_bytes)
        .with("bytes_limit", limit_bytes)
        .with("durability", "PERMANENT")
    }

    /// 503 of a write: the shard is not open (yet), or has failed.
    pub fn primary_inactive(index: &str, shard: u32) -> Self {
        Self::new(503, UNAVAILABLE, format!("[{index}][{shard}] primary shard is not active"))
    }

    /// Whether it is that. Whoever asked adds how long was waited for what.
    pub fn is_primary_inactive(&self) -> bool {
        self.kind == UNAVAILABLE && self.reason.ends_with("] primary shard is not active")
    }

    /// 503 of what a shard failed at that served until then.
    pub fn primary_failed(index: &str, shard: u32, why: &str) -> Self {
        Self::new(503, UNAVAILABLE, format!("[{index}][{shard}] primary shard failed: {why}"))
    }

    /// 503 of a read: no copy of the shard answers. Where it has failed, `why` names the file; else nothing is said.
    pub fn no_shard(why: Option<&str>) -> Self {
        Self::new(503, NO_SHARD, why.unwrap_or_default())
    }

    /// The same of one document, where the request for it is told: `get [books][1]: routing [null]`.
    pub fn no_shard_for(
        verb: &str,
        index: &str,
        id: &str,
        routing: Option<&str>,
        why: Option<&str>,
    ) -> Self {
        let routing = routing.unwrap_or("null");
        let asked = format!("{verb} [{index}][{id}]: routing [{routing}]");
        let error = Self::new(503, NO_SHARD, format!("No shard available for [{asked}]"));
        match why {
            Some(why) => error.caused_by(Self::no_shard(Some(why))),
            None => error,
        }
    }

    /// No copy of the shard answers, so there is no node to name either.
    pub fn is_no_shard(&self) -> bool {
        self.kind == NO_SHARD
    }

    /// What is said of it, where something is.
    pub fn message(&self) -> Option<&str> {
        let is_mute = self.is_no_shard() && self.reason.is_empty();
        (!is_mute).then_some(&*self.reason)
    }

    /// 500: our own fault.
    pub fn internal(reason: impl Into<String>) -> Self {
        Self::new(500, "exception", reason)
    }

    /// Adds a key beside type and reason.
    #[must_use]
    pub fn with(mut self, key: impl Into<Cow<'static, str>>, value: impl Into<Value>) -> Self {
        self.meta.push((key.into(), value.into()));
        self
    }

    /// Names the index and shard the failure belongs to.
    #[must_use]
    pub fn at_shard(self, uuid: &str, shard: u32, index: &str) -> Self {
        self.with("index_uuid", uuid).with("shard", shard.to_string()).with("index", index)
    }

    /// Names the failure below.
    #[must_use]
    pub fn caused_by(mut self, cause: Error) -> Self {
        self.caused_by = Some(Box::new(cause));
        self
    }

    /// The failures that `root_cause` lists: found by walking the causes from the outside for as
    /// long as they are of Elasticsearch's own kinds, as Elasticsearch does.
    pub fn roots(&self) -> Vec<&Error> {
        if !self.root_causes.is_empty() {
            return self.root_causes.iter().collect();
        }
        if self.kind == "search_phase_execution_exception" && self.caused_by.is_none() {
            // Its roots are those of its shards, and none of them failed.
            return Vec::new();
        }
        let mut root = self;
        while let Some(cause) = &root.caused_by {
            // A parser's own failure is looked into, not looked for.
            if is_plain(&cause.kind) || is_content(&cause.kind) && !is_content(&root.kind) {
                break;
            }
            root = cause;
        }
        vec![root]
    }
}

/// Kinds of Elasticsearch's body parsers.
fn is_content(kind: &str) -> bool {
    matches!(
        kind,
        "x_content_parse_exception"
            | "x_content_e_o_f_exception"
            | "named_object_not_found_exception"
    )
}

/// Kinds that are Java's own: `root_cause` does not step into them.
fn is_plain(kind: &str) -> bool {
    matches!(
        kind,
        "illegal_argument_exception"
            | "illegal_state_exception"
            | "number_format_exception"
            | "json_parse_exception"
            | "json_e_o_f_exception"
            | "date_time_exception"
            | "date_time_parse_exception"
            | "zone_rules_exception"
            | "arithmetic_exception"
            | "null_pointer_exception"
            | "input_coercion_exception"
            | "unsupported_operation_exception"
    )
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.reason)
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_are_counted_from_one() {
        let error = Error::validation(&["id is missing", "index is missing"]);
        assert_eq!(error.reason, "Validation Failed: 1: id is missing;2: index is missing;");
    }

    #[test]
    fn roots_stop_before_javas_own_kinds() {
        let number = Error::new(400, "number_format_exception", "For input string: \"a\"");
        let query =
            Error::new(400, "query_shard_exception", "failed to create query").caused_by(number);
        let outer = Error::new(400, "x_content_parse_exception", "[1:2] bool").caused_by(query);
        assert_eq!(outer.roots()[0].kind, "query_shard_exception");
    }
}
