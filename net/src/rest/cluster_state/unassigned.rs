//! How a copy without a place is told, wherever one is: `unassigned_info`.

use cluster::vacancy::Reason;
use cluster::{Index, Vacancy};
use engine::node::Failure;
use env::Env;
use json::Writer;

use crate::call::Call;
use crate::render::units;

/// Why a copy has no place, and since when.
#[derive(Clone, Copy)]
pub(in crate::rest) struct Lack<'a> {
    /// Elasticsearch's word.
    pub(in crate::rest) reason: &'static str,
    /// Milliseconds since 1970.
    pub(in crate::rest) at_ms: i64,
    /// How often it failed.
    attempts: u32,
    /// What failed.
    pub(in crate::rest) details: Option<&'a str>,
    /// From what it would be filled.
    source: &'static str,
    primary: bool,
}

impl<'a> Lack<'a> {
    /// Of a primary: it failed, or nobody has come to it yet.
    pub(in crate::rest) fn primary<E: Env>(
        call: &Call<'_, E>,
        index: &Index,
        failure: Option<&'a Failure>,
    ) -> Self {
        let vacancy = index.vacancy().as_of(started_ms(call));
        let is_new = vacancy.reason == Reason::IndexCreated;
        let source = if is_new && failure.is_none() { "EMPTY_STORE" } else { "EXISTING_STORE" };
        let (reason, at_ms) = match failure {
            Some(failure) => ("ALLOCATION_FAILED", failure.at_ms),
            None => (vacancy.reason.as_str(), vacancy.at_ms),
        };
        let attempts = failure.map_or(0, |failure| failure.attempts);
        let details = failure.map(|failure| &*failure.why);
        Self { reason, at_ms, attempts, details, source, primary: true }
    }

    /// How the last attempt to give it a place ended.
    pub(in crate::rest) fn last_attempt(&self) -> &'static str {
        if self.attempts > 0 { "no_valid_shard_copy" } else { "no_attempt" }
    }

    /// `reason`, `at`, how often it failed (Elasticsearch has a key for that at each place), and what is
    /// between them and `details`.
    pub(in crate::rest) fn write(
        &self,
        writer: &mut Writer<'_>,
        attempts: &str,
        between: impl Fn(&mut Writer<'_>),
    ) {
        writer.field_str("reason", self.reason).field_str("at", &units::date(self.at_ms));
        if self.attempts > 0 {
            writer.field_u64(attempts, u64::from(self.attempts));
        }
        between(writer);
        if let Some(why) = self.details {
            writer.field_str("details", why);
        }
    }
}

/// Of each replica of a shard, oldest first: there is no other node for them.
pub(in crate::rest) fn replicas<'a, E: Env>(
    call: &Call<'_, E>,
    index: &'a Index,
) -> impl Iterator<Item = Lack<'static>> + use<'a, E> {
    vacancies(call, index).map(|vacancy| Lack {
        reason: vacancy.reason.as_str(),
        at_ms: vacancy.at_ms,
        attempts: 0,
        details: None,
        source: "PEER",
        primary: false,
    })
}

/// The same as values.
pub(in crate::rest) fn vacancies<'a, E: Env>(
    call: &Call<'_, E>,
    index: &'a Index,
) -> impl Iterator<Item = Vacancy> + use<'a, E> {
    let started_ms = started_ms(call);
    index.replica_vacancies().map(move |vacancy| vacancy.as_of(started_ms))
}

fn started_ms<E: Env>(call: &Call<'_, E>) -> i64 {
    call.core.shared().config.info.started_ms
}

/// What is wrong with the files of a primary.
pub(in crate::rest) fn store_exception(writer: &mut Writer<'_>, failure: &Failure) {
    writer
        .key("store_exception")
        .begin_object()
        .field_str("type", "corrupt_index_exception")
        .field_str("reason", &failure.why)
        .end_object();
}

/// A copy without a place, as routing tables show it.
pub(super) fn write(writer: &mut Writer<'_>, index: &Index, number: u32, lack: Lack<'_>) {
    writer
        .begin_object()
        .field_str("state", "UNASSIGNED")
        .field_bool("primary", lack.primary)
        .key("node")
        .null()
        .key("relocating_node")
        .null()
        .field_u64("shard", u64::from(number))
        .field_str("index", &index.name)
        .key("recovery_source")
        .begin_object()
        .field_str("type", lack.source)
        .end_object()
        .key("unassigned_info")
        .begin_object();
    lack.write(writer, "failed_attempts", |writer| {
        writer.field_bool("delayed", false);
    });
    writer
        .field_str("allocation_status", lack.last_attempt())
        .end_object()
        .key("relocation_failure_info")
        .begin_object()
        .field_u64("failed_attempts", 0)
        .end_object()
        .end_object();
}
