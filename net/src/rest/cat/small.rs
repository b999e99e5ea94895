//! `_cat` tables that are empty here, and why: no plugins, no repositories.

use engine::{Error, Result};
use env::Env;

use super::{answer, wish};
use crate::call::Call;
use crate::render::cat::{Cell, Column, Row, Table, hidden, left, right};
use crate::reply::Reply;

/// A row that never is.
enum Never {}

impl Row for Never {}

async fn empty<E: Env>(
    call: &Call<'_, E>,
    action: &'static str,
    columns: Vec<Column<Never>>,
) -> Result<Reply> {
    empty_or(call, action, columns, None).await
}

/// As [`empty`]; who may ask is told what is wrong with what they ask, but for the columns' help.
async fn empty_or<E: Env>(
    call: &Call<'_, E>,
    action: &'static str,
    columns: Vec<Column<Never>>,
    wrong: Option<Error>,
) -> Result<Reply> {
    let wish = match wish(call, &columns)? {
        Ok(wish) => wish,
        Err(help) => return Ok(help),
    };
    call.gate.cluster(action)?;
    if let Some(wrong) = wrong {
        return Err(wrong);
    }
    answer(call, Table { columns, rows: Vec::new() }, wish).await
}

/// `GET /_cat/plugins`: all that there is stands in the program.
pub(in crate::rest) async fn plugins<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    #[rustfmt::skip]
    let columns = vec![
        hidden(left("id", &[], "unique node id", |_: &Never| Cell::Empty)),
        left("name", &["n"], "node name", |_| Cell::Empty),
        left("component", &["c"], "component", |_| Cell::Empty),
        left("version", &["v"], "component version", |_| Cell::Empty),
        hidden(left("description", &["d"], "plugin details", |_| Cell::Empty)),
        hidden(left("type", &["t"], "plugin type", |_| Cell::Empty)),
    ];
    empty(call, "cluster:monitor/nodes/info", columns).await
}

/// `GET /_cat/repositories`: there are no snapshots yet.
pub(in crate::rest) async fn repositories<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    #[rustfmt::skip]
    let columns = vec![
        left("id", &["id", "repoId"], "unique repository id", |_: &Never| Cell::Empty),
        left("type", &["t", "type"], "repository type", |_| Cell::Empty),
    ];
    empty(call, "cluster:admin/repository/get", columns).await
}

/// `GET /_cat/snapshots`, `/_cat/snapshots/{repository}`: none, for there are no repositories; one
/// that is named is missing.
pub(in crate::rest) async fn snapshots<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    #[rustfmt::skip]
    let columns = vec![
        left("id", &["id", "snapshot"], "unique snapshot", |_: &Never| Cell::Empty),
        left("repository", &["re", "repo"], "repository name", |_| Cell::Empty),
        left("status", &["s", "status"], "snapshot name", |_| Cell::Empty),
        left("start_epoch", &["ste", "startEpoch"], "start time in seconds since 1970-01-01 00:00:00", |_| Cell::Empty),
        left("start_time", &["sti", "startTime"], "start time in HH:MM:SS", |_| Cell::Empty),
        left("end_epoch", &["ete", "endEpoch"], "end time in seconds since 1970-01-01 00:00:00", |_| Cell::Empty),
        left("end_time", &["eti", "endTime"], "end time in HH:MM:SS", |_| Cell::Empty),
        right("duration", &["dur", "duration"], "duration", |_| Cell::Empty),
        right("indices", &["i", "indices"], "number of indices", |_| Cell::Empty),
        right("successful_shards", &["ss"], "number of successful shards", |_| Cell::Empty),
        right("failed_shards", &["fs"], "number of failed shards", |_| Cell::Empty),
        right("total_shards", &["ts"], "number of total shards", |_| Cell::Empty),
        hidden(left("reason", &["r", "reason"], "reason for failures", |_| Cell::Empty)),
    ];
    let named: Vec<&str> = call
        .segment("repository")
        .split(',')
        .filter(|name| !name.is_empty() && *name != "_all" && !name.contains('*'))
        .collect();
    let missing = (!named.is_empty()).then(|| {
        let reason = format!("[{}] missing", named.join(", "));
        Error::new(404, "repository_missing_exception", reason)
    });
    empty_or(call, "cluster:admin/snapshot/get", columns, missing).await
}
