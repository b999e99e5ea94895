//! `_cat`: health and indices.

use engine::Result;
use engine::ops::IndicesOptions;
use engine::ops::observe::{Health, HealthWait, IndexRow};
use env::{Clock, Env};

use super::cluster::Counts;
use crate::call::Call;
use crate::params::flag;
use crate::render::cat::{Cell, Column, Table, Wish, help};
use crate::render::units;
use crate::reply::Reply;

const fn left(name: &'static str, aliases: &'static [&'static str], about: &'static str) -> Column {
    Column { name, aliases, shown: true, right: false, about }
}

const fn right(
    name: &'static str,
    aliases: &'static [&'static str],
    about: &'static str,
) -> Column {
    Column { name, aliases, shown: true, right: true, about }
}

const fn hidden(column: Column) -> Column {
    Column { shown: false, ..column }
}

#[rustfmt::skip]
const HEALTH: &[Column] = &[
    left("epoch", &["t", "time"], "seconds since 1970-01-01 00:00:00"),
    left("timestamp", &["ts", "hms", "hhmmss"], "time in HH:MM:SS"),
    left("cluster", &["cl"], "cluster name"),
    left("status", &["st"], "health status"),
    right("node.total", &["nt", "nodeTotal"], "total number of nodes"),
    right("node.data", &["nd", "nodeData"], "number of nodes that can store data"),
    right("shards", &["t", "sh", "shards.total", "shardsTotal"], "total number of shards"),
    right("pri", &["p", "shards.primary", "shardsPrimary"], "number of primary shards"),
    right("relo", &["r", "shards.relocating", "shardsRelocating"], "number of relocating nodes"),
    right("init", &["i", "shards.initializing", "shardsInitializing"], "number of initializing nodes"),
    right("unassign", &["u", "shards.unassigned", "shardsUnassigned"], "number of unassigned shards"),
    right("unassign.pri", &["up", "shards.unassigned.primary", "shardsUnassignedPrimary"], "number of unassigned primary shards"),
    right("pending_tasks", &["pt", "pendingTasks"], "number of pending tasks"),
    right("max_task_wait_time", &["mtwt", "maxTaskWaitTime"], "wait time of longest task pending"),
    right("active_shards_percent", &["asp", "activeShardsPercent"], "active number of shards in percent"),
];

#[rustfmt::skip]
const INDICES: &[Column] = &[
    left("health", &["h"], "current health status"),
    left("status", &["s"], "open/close status"),
    left("index", &["i", "idx"], "index name"),
    left("uuid", &["id"], "index uuid"),
    right("pri", &["p", "shards.primary", "shardsPrimary"], "number of primary shards"),
    right("rep", &["r", "shards.replica", "shardsReplica"], "number of replica shards"),
    right("docs.count", &["dc", "docsCount"], "available docs"),
    right("docs.deleted", &["dd", "docsDeleted"], "deleted docs"),
    hidden(right("creation.date", &["cd"], "index creation date (millisecond value)")),
    hidden(left("creation.date.string", &["cds"], "index creation date (as string)")),
    right("store.size", &["ss", "storeSize"], "store size of primaries & replicas"),
    right("pri.store.size", &[], "store size of primaries"),
    right("dataset.size", &[], "total size of dataset"),
];

/// `GET /_cat`.
pub(super) fn list() -> Reply {
    Reply::text(200, "=^.^=\n/_cat/health\n/_cat/indices\n/_cat/indices/{index}\n")
}

/// `GET /_cat/health`.
pub(super) async fn health<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let wish = Wish::read(call.params)?;
    if wish.wants_help() {
        return Ok(Reply::text(200, help(HEALTH)));
    }
    let all =
        IndicesOptions { expand_closed: true, expand_hidden: true, ..IndicesOptions::default() };
    let reply = call.core.cluster_health(call.gate, "", all, &HealthWait::default()).await?;
    let counts = Counts::all(&reply.indices);
    let now_ms = call.core.env().clock().unix_ms();
    let row: Vec<Cell> = vec![
        now_ms.div_euclid(1_000).to_string().into(),
        units::time_of_day(now_ms).into(),
        call.core.shared().config.info.cluster_name.as_str().into(),
        reply.status.as_str().into(),
        1u64.into(),
        1u64.into(),
        counts.active.into(),
        counts.active.into(),
        0u64.into(),
        counts.initializing.into(),
        counts.unassigned.into(),
        counts.unassigned_primaries.into(),
        0u64.into(),
        "-".into(),
        units::percent(counts.active, counts.total()).into(),
    ];
    let mut table = Table { columns: HEALTH, rows: vec![row] };
    if !call.params.text("ts").map_or(Ok(true), flag)? {
        table.columns = &HEALTH[2..];
        table.rows[0].drain(..2);
    }
    answer(call, &table, &wish)
}

/// `GET /_cat/indices`, `/_cat/indices/{index}`.
pub(super) async fn indices<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let wish = Wish::read(call.params)?;
    if wish.wants_help() {
        return Ok(Reply::text(200, help(INDICES)));
    }
    // All but hidden ones, unless they are named.
    let base = IndicesOptions {
        expand_closed: true,
        expand_hidden: !call.indices().is_empty(),
        ..IndicesOptions::default()
    };
    let options = call.params.indices_options(base)?;
    let colour = match call.params.text("health").map(str::to_ascii_lowercase).as_deref() {
        None => None,
        Some("green") => Some(Health::Green),
        Some("yellow") => Some(Health::Yellow),
        Some("red") => Some(Health::Red),
        Some(other) => {
            return Err(engine::Error::illegal_argument(format!(
                "unknown cluster health status [{other}]"
            )));
        }
    };
    let rows = call.core.index_rows(call.gate, call.indices(), options).await?;
    let rows = rows
        .iter()
        .filter(|row| colour.is_none_or(|colour| row.health == colour))
        .map(index_row)
        .collect();
    answer(call, &Table { columns: INDICES, rows }, &wish)
}

fn index_row(row: &IndexRow) -> Vec<Cell> {
    let known = row.open && row.active > 0;
    let count = |count: u64| if known { Cell::Count(count) } else { Cell::Empty };
    let size = || if known { Cell::Bytes(row.store_bytes) } else { Cell::Empty };
    vec![
        row.health.as_str().into(),
        if row.open { "open" } else { "close" }.into(),
        row.name.as_str().into(),
        row.uuid.as_str().into(),
        row.primaries.into(),
        row.replicas.into(),
        count(row.docs_count),
        count(row.docs_deleted),
        row.created_ms.to_string().into(),
        units::date(row.created_ms).into(),
        size(),
        size(),
        size(),
    ]
}

fn answer<E: Env>(call: &Call<'_, E>, table: &Table, wish: &Wish) -> Result<Reply> {
    if call.wanted.json {
        let mut body = Vec::new();
        table.json(wish, &mut json::Writer::new(&mut body))?;
        return Ok(Reply::json(200, body));
    }
    Ok(Reply::text(200, table.text(wish)?))
}
