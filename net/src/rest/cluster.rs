//! `_cluster/health`.

use engine::ops::IndicesOptions;
use engine::ops::observe::{Health, HealthReply, HealthWait, IndexRow, Standing};
use engine::{Error, Result};
use env::Env;
use json::Writer;

use super::copies::Copies;
use crate::call::Call;
use crate::params::{flag, time_ms};
use crate::render::units;
use crate::reply::Reply;

/// The default of `timeout`.
const TIMEOUT_MS: u64 = 30_000;

/// Counts of some indices together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) active: u64,
    pub(super) initializing: u64,
    pub(super) unassigned: u64,
    pub(super) unassigned_primaries: u64,
}

impl Counts {
    /// Of one index. A node alone never holds a replica.
    pub(super) fn of(row: &IndexRow) -> Self {
        let [primaries, replicas, active, initializing] =
            [row.primaries, row.replicas, row.active, row.initializing].map(u64::from);
        let unassigned_primaries = primaries.saturating_sub(active + initializing);
        Self {
            active,
            initializing,
            unassigned: unassigned_primaries + primaries * replicas,
            unassigned_primaries,
        }
    }

    /// Of all.
    pub(super) fn all(rows: &[IndexRow]) -> Self {
        rows.iter().map(Self::of).fold(Self::default(), |sum, one| Self {
            active: sum.active + one.active,
            initializing: sum.initializing + one.initializing,
            unassigned: sum.unassigned + one.unassigned,
            unassigned_primaries: sum.unassigned_primaries + one.unassigned_primaries,
        })
    }

    /// Copies there should be.
    pub(super) fn total(&self) -> u64 {
        self.active + self.initializing + self.unassigned
    }
}

/// A health that did not come in time is no failed request to whoever says so.
const IN_TIME: &str = "the [return_200_for_cluster_health_timeout] parameter is deprecated and will be removed in a \
                       future release.";

/// `GET /_cluster/health`, `/_cluster/health/{index}`.
pub(super) async fn health<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let asked = call.params.text("level").unwrap_or("cluster");
    let levels = ["cluster", "indices", "shards"];
    let Some(level) = levels.into_iter().find(|level| level.eq_ignore_ascii_case(asked)) else {
        return Err(Error::illegal_argument(format!(
            "level parameter must be one of [cluster] or [indices] or [shards] but was [{asked}]"
        )));
    };
    let wait = wait(call)?;
    // Of names some of which are missing, the others' figures are told.
    let base = IndicesOptions {
        expand_closed: true,
        expand_hidden: true,
        ignore_unavailable: true,
        ..IndicesOptions::default()
    };
    let options = call.params.indices_options(base)?;
    let in_time = call.params.text("return_200_for_cluster_health_timeout");
    if in_time.is_some() {
        call.gate.warn(IN_TIME);
    }
    let reply = call.core.cluster_health(call.gate, call.indices(), options, &wait).await?;
    // It is no flag in Elasticsearch: what is not the word is no error.
    let is_in_time = in_time.is_some_and(|text| text.eq_ignore_ascii_case("true"));
    let status = if reply.timed_out && !is_in_time { 408 } else { 200 };
    Ok(call.json(status, |writer| write(call, writer, &reply, level)))
}

fn write<E: Env>(call: &Call<'_, E>, writer: &mut Writer<'_>, reply: &HealthReply, level: &str) {
    let counts = Counts::all(&reply.indices);
    let info = &call.core.shared().config.info;
    writer
        .begin_object()
        .field_str("cluster_name", &info.cluster_name)
        .field_str("status", reply.status.as_str())
        .field_bool("timed_out", reply.timed_out)
        .field_u64("number_of_nodes", 1)
        .field_u64("number_of_data_nodes", 1);
    write_counts(writer, &counts);
    writer
        .field_u64("delayed_unassigned_shards", 0)
        .field_u64("number_of_pending_tasks", 0)
        .field_u64("number_of_in_flight_fetch", 0);
    if call.human {
        writer.field_str("task_max_waiting_in_queue", &units::millis(0));
    }
    writer.field_u64("task_max_waiting_in_queue_millis", 0);
    if call.human {
        writer.field_str("active_shards_percent", &units::percent(counts.active, counts.total()));
    }
    writer.key("active_shards_percent_as_number").f64(units::ratio(counts.active, counts.total()));
    if level != "cluster" {
        writer.key("indices").begin_object();
        for row in reply.indices.iter().filter(|row| call.gate.learns(&row.name)) {
            writer.key(&row.name);
            index(writer, row, level == "shards");
        }
        writer.end_object();
    }
    writer.end_object();
}

fn write_counts(writer: &mut Writer<'_>, counts: &Counts) {
    writer
        .field_u64("active_primary_shards", counts.active)
        .field_u64("active_shards", counts.active)
        .field_u64("relocating_shards", 0)
        .field_u64("initializing_shards", counts.initializing)
        .field_u64("unassigned_shards", counts.unassigned)
        .field_u64("unassigned_primary_shards", counts.unassigned_primaries);
}

fn index(writer: &mut Writer<'_>, row: &IndexRow, shards: bool) {
    writer
        .begin_object()
        .field_str("status", row.health.as_str())
        .field_u64("number_of_shards", u64::from(row.primaries))
        .field_u64("number_of_replicas", u64::from(row.replicas));
    write_counts(writer, &Counts::of(row));
    if shards {
        writer.key("shards").begin_object();
        for (number, standing) in row.shards.iter().enumerate() {
            shard(writer, row, number, *standing);
        }
        writer.end_object();
    }
    writer.end_object();
}

fn shard(writer: &mut Writer<'_>, row: &IndexRow, number: usize, standing: Standing) {
    let one_if = |wanted| u64::from(standing == wanted);
    let (active, initializing) = (one_if(Standing::Active), one_if(Standing::Initializing));
    let lost = one_if(Standing::Lost);
    let status = match (standing, row.replicas) {
        (Standing::Initializing, _) if row.health == Health::Yellow => Health::Yellow,
        (Standing::Initializing | Standing::Lost, _) => Health::Red,
        (Standing::Active, 0) => Health::Green,
        (Standing::Active, _) => Health::Yellow,
    };
    writer
        .key(&number.to_string())
        .begin_object()
        .field_str("status", status.as_str())
        .field_bool("primary_active", active == 1)
        .field_u64("active_shards", active)
        .field_u64("relocating_shards", 0)
        .field_u64("initializing_shards", initializing)
        .field_u64("unassigned_shards", lost + u64::from(row.replicas))
        .field_u64("unassigned_primary_shards", lost)
        .end_object();
}

/// What is waited for.
fn wait<E: Env>(call: &Call<'_, E>) -> Result<HealthWait> {
    let params = call.params;
    let status = match params.text("wait_for_status") {
        None => None,
        Some(word) => Some(match word.to_ascii_lowercase().as_str() {
            "green" => Health::Green,
            "yellow" => Health::Yellow,
            "red" => Health::Red,
            _ => {
                return Err(Error::illegal_argument(format!(
                    "No enum constant org.elasticsearch.cluster.health.ClusterHealthStatus.{}",
                    word.to_uppercase()
                )));
            }
        }),
    };
    if let Some(word) = params.text("wait_for_events") {
        let known = ["immediate", "urgent", "high", "normal", "low", "languid"];
        if !known.contains(&word.to_ascii_lowercase().as_str()) {
            return Err(Error::illegal_argument(format!(
                "No enum constant org.elasticsearch.common.Priority.{}",
                word.to_uppercase()
            )));
        }
    }
    let active_shards =
        match params.text("wait_for_active_shards").map(Copies::parse).transpose()? {
            None | Some(Copies::Setting) => None,
            Some(Copies::All) => {
                // All copies there is what green means; no other colour is asked for more.
                let status = Some(Health::Green);
                return finish(call, HealthWait { status, ..HealthWait::default() });
            }
            Some(Copies::Count(count)) => Some(count),
        };
    finish(call, HealthWait { status, active_shards, ..HealthWait::default() })
}

fn finish<E: Env>(call: &Call<'_, E>, mut wait: HealthWait) -> Result<HealthWait> {
    let flagged = |name: &str| call.params.text(name).map_or(Ok(false), flag);
    wait.no_initializing = flagged("wait_for_no_initializing_shards")?;
    if call.params.text("wait_for_relocating_shards").is_some() {
        return Err(Error::illegal_argument(
            "wait_for_relocating_shards has been removed, use wait_for_no_relocating_shards [true/false] instead",
        ));
    }
    wait.timeout_ms = match call.params.text("timeout") {
        None => TIMEOUT_MS,
        // Over before it begins, as there.
        Some("-1") => 0,
        Some(text) => match (time_ms("timeout", text)?, text.strip_prefix('-')) {
            (Some(millis), _) => millis,
            (None, less) => {
                let millis = less.map_or(Ok(None), |text| time_ms("timeout", text))?;
                let millis = millis.unwrap_or_default();
                return Err(Error::illegal_argument(format!(
                    "duration cannot be negative, was given [-{millis}]"
                )));
            }
        },
    };
    wait.in_vain = !call
        .params
        .text("wait_for_nodes")
        .filter(|it| !it.is_empty())
        .map_or(Ok(true), one_fits)?;
    Ok(wait)
}

/// Does one node satisfy `>=2`, `ge(2)`, `3`, …?
fn one_fits(text: &str) -> Result<bool> {
    type Fits = fn(i64) -> bool;
    let forms: [(&str, &str, Fits); 4] = [
        (">=", "ge(", |count| 1 >= count),
        ("<=", "le(", |count| 1 <= count),
        (">", "gt(", |count| 1 > count),
        ("<", "lt(", |count| 1 < count),
    ];
    let number = |digits: &str| {
        // As Java does: a blank is no part of a number.
        digits.parse::<i32>().map(i64::from).map_err(|_| {
            Error::new(400, "number_format_exception", format!("For input string: \"{digits}\""))
        })
    };
    for (sign, word, fits) in forms {
        let worded = || text.strip_prefix(word).and_then(|rest| rest.strip_suffix(')'));
        if let Some(digits) = text.strip_prefix(sign).or_else(worded) {
            return Ok(fits(number(digits)?));
        }
    }
    Ok(number(text)? == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_node_is_compared() {
        for (text, fits) in [
            ("1", true),
            ("2", false),
            (">=1", true),
            (">=2", false),
            ("<2", true),
            ("ge(1)", true),
            ("gt(1)", false),
            ("le(5)", true),
        ] {
            assert_eq!(one_fits(text), Ok(fits), "{text}");
        }
        for none in ["many", "99999999999", ">=99999999999", ">= 1", " 1", "ge( 1)"] {
            let error = one_fits(none).expect_err(none);
            assert_eq!(error.kind, "number_format_exception", "{none}");
        }
    }

    #[test]
    fn replicas_of_a_node_alone_are_unassigned() {
        let row = IndexRow {
            name: "a".into(),
            uuid: String::new(),
            health: Health::Yellow,
            open: true,
            hidden: false,
            primaries: 3,
            replicas: 1,
            active: 1,
            initializing: 1,
            shards: vec![Standing::Active, Standing::Initializing, Standing::Lost],
            docs_count: 0,
            docs_deleted: 0,
            store_bytes: 0,
            segment_bytes: 0,
            created_ms: 0,
        };
        let counts = Counts::of(&row);
        let expected =
            Counts { active: 1, initializing: 1, unassigned: 4, unassigned_primaries: 1 };
        assert_eq!(counts, expected);
        assert_eq!(counts.total(), 6);
    }
}
