//! `_cat` tables of shards: shards, segments, recovery.

use std::path::Path;
use std::sync::Arc;

use cluster::{Index, Vacancy};
use engine::Result;
use engine::ops::IndicesOptions;
use engine::ops::stats::{
    Closed, Counts, IndexStats, RecoveryRow, Segment, SegmentRows, Standing, Stats,
};
use env::{Env, Spawn};

use super::columns::{For, columns};
use super::nodes::host;
use super::{answer, room, wish};
use crate::call::Call;
use crate::render::cat::{Cell, Column, Row, Table, hidden, left, right};
use crate::render::units;
use crate::reply::Reply;
use crate::rest::cluster_state::unassigned::vacancies;

/// One copy of a shard.
struct Line {
    index: Arc<Index>,
    number: u32,
    copy: ShardCopy,
    node: Arc<NodeWords>,
    /// Where the shards of the index lie.
    folder: Arc<Path>,
    now_ms: i64,
}

/// Which copy it is: a node alone holds primaries, and has no place for a replica.
enum ShardCopy {
    Primary(Standing),
    Replica(Vacancy),
}

/// What a line says of the node.
#[derive(Clone)]
struct NodeWords {
    id: String,
    ip: String,
    name: String,
}

impl NodeWords {
    fn of<E: Env>(call: &Call<'_, E>) -> Self {
        let info = &call.core.shared().config.info;
        Self { id: info.id.clone(), ip: host(&info.transport_address), name: info.name.clone() }
    }
}

impl Row for Line {
    fn stats(&self) -> Option<&Stats> {
        match &self.copy {
            ShardCopy::Primary(standing) => standing.stats(),
            ShardCopy::Replica(_) => None,
        }
    }
}

impl Line {
    fn count(&self, count: fn(&Counts) -> Cell) -> Cell {
        self.stats().map_or(Cell::Empty, |stats| count(&stats.shard))
    }

    fn is_primary(&self) -> bool {
        matches!(self.copy, ShardCopy::Primary(_))
    }

    fn state(&self) -> &'static str {
        match &self.copy {
            ShardCopy::Primary(standing) => standing.as_str(),
            ShardCopy::Replica(_) => "UNASSIGNED",
        }
    }

    /// Why the copy has no place, and since when, where it has none: a primary since it failed.
    fn unassigned(&self) -> Option<(&'static str, i64)> {
        match &self.copy {
            ShardCopy::Replica(vacancy) => Some((vacancy.reason.as_str(), vacancy.at_ms)),
            ShardCopy::Primary(Standing::Failed(failure)) => {
                Some(("ALLOCATION_FAILED", failure.at_ms))
            }
            ShardCopy::Primary(_) => None,
        }
    }

    /// A word about the node, where the copy has one.
    fn at_node(&self, word: fn(&Self) -> Cell) -> Cell {
        if self.unassigned().is_some() { Cell::Empty } else { word(self) }
    }
}

/// For how long, in whole milliseconds.
fn unassigned_for(line: &Line) -> Cell {
    Cell::option(line.unassigned().map(|(_, since)| {
        let ms = u64::try_from(line.now_ms.saturating_sub(since)).unwrap_or(0);
        Cell::Nanos(ms.saturating_mul(1_000_000))
    }))
}

/// States of shards in Elasticsearch's order, by which tables are sorted: who looks for what is broken finds it first.
const STATES: &[&str] = &["UNASSIGNED", "INITIALIZING", "STARTED", "RELOCATING"];

/// Reasons for having no place, likewise.
const REASONS: &[&str] = &[
    "INDEX_CREATED",
    "CLUSTER_RECOVERED",
    "INDEX_REOPENED",
    "DANGLING_INDEX_IMPORTED",
    "NEW_INDEX_RESTORED",
    "EXISTING_INDEX_RESTORED",
    "REPLICA_ADDED",
    "ALLOCATION_FAILED",
    "NODE_LEFT",
];

fn details(line: &Line) -> Cell {
    match &line.copy {
        ShardCopy::Primary(Standing::Failed(failure)) => (&*failure.why).into(),
        _ => Cell::Empty,
    }
}

/// A sequence number; -1 before the first.
fn seq_no(number: Option<u64>) -> Cell {
    Cell::Number(number.map_or(-1, |number| i64::try_from(number).unwrap_or(i64::MAX)))
}

fn shard_table() -> Vec<Column<Line>> {
    #[rustfmt::skip]
    let mut table: Vec<Column<Line>> = vec![
        left("index", &["i", "idx"], "index name", |l: &Line| (&*l.index.name).into()),
        left("shard", &["s", "sh"], "shard name", |l| l.number.into()),
        left("prirep", &["p", "pr", "primaryOrReplica"], "primary or replica", |l| if l.is_primary() { "p" } else { "r" }.into()),
        left("state", &["st"], "shard state", |l| Cell::listed(STATES, l.state())),
        right("docs", &["d", "dc"], "number of docs in shard", |l| l.count(|c| c.docs_count.into())),
        right("store", &["sto"], "store size of shard (how much disk it uses)", |l| l.count(|c| Cell::Bytes(c.store_bytes))),
        right("dataset", &[], "total size of dataset", |l| l.count(|c| Cell::Bytes(c.store_bytes))),
        left("ip", &[], "ip of node where it lives", |l| l.at_node(|l| l.node.ip.as_str().into())),
        hidden(left("id", &[], "unique id of node where it lives", |l| l.at_node(|l| l.node.id.as_str().into()))),
        left("node", &["n"], "name of node where it lives", |l| l.at_node(|l| l.node.name.as_str().into())),
        hidden(left("sync_id", &[], "sync id", |_| Cell::Empty)),
        hidden(left("unassigned.reason", &["ur"], "reason shard became unassigned", |l| Cell::option(l.unassigned().map(|(reason, _)| Cell::listed(REASONS, reason))))),
        hidden(left("unassigned.at", &["ua"], "time shard became unassigned (UTC)", |l| Cell::option(l.unassigned().map(|(_, since)| units::date(since))))),
        hidden(right("unassigned.for", &["uf"], "time has been unassigned", unassigned_for)),
        hidden(left("unassigned.details", &["ud"], "additional details as to why the shard became unassigned", details)),
        hidden(left("recoverysource.type", &["rs"], "recovery source type", |l| if l.is_primary() { Cell::Empty } else { "peer".into() })),
    ];
    table.extend(columns(For::Shards));
    #[rustfmt::skip]
    table.extend([
        hidden(right("seq_no.max", &["sqm", "maxSeqNo"], "max sequence number", |l: &Line| l.count(|c| seq_no(c.seq_no_max)))),
        hidden(right("seq_no.local_checkpoint", &["sql", "localCheckpoint"], "local checkpoint", |l| l.count(|c| seq_no(c.seq_no_applied)))),
        hidden(right("seq_no.global_checkpoint", &["sqg", "globalCheckpoint"], "global checkpoint", |l| l.count(|c| seq_no(c.seq_no_applied)))),
        hidden(right("warmer.current", &["wc", "warmerCurrent"], "current warmer ops", |l| l.count(|_| 0u64.into()))),
        hidden(right("warmer.total", &["wto", "warmerTotal"], "total warmer ops", |l| l.count(|_| 0u64.into()))),
        hidden(right("warmer.total_time", &["wtt", "warmerTotalTime"], "time spent in warmers", |l| l.count(|_| Cell::Nanos(0)))),
        hidden(right("path.data", &["pd", "dataPath"], "shard data path", |l| l.at_node(|l| l.folder.join(l.number.to_string()).display().to_string().into()))),
        hidden(right("path.state", &["ps", "statsPath"], "shard state path", |l| l.at_node(|l| l.folder.join(l.number.to_string()).display().to_string().into()))),
    ]);
    table.extend(columns(For::ShardsEnd));
    #[rustfmt::skip]
    table.push(hidden(right("docs.deleted", &["dd", "docsDeleted"], "number of deleted docs in shard", |l| l.count(|c| c.docs_deleted.into()))));
    table
}

/// `GET /_cat/shards`, `/_cat/shards/{index}`.
pub(in crate::rest) async fn shards<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let columns = shard_table();
    let wish = match wish(call, &columns)? {
        Ok(wish) => wish,
        Err(help) => return Ok(help),
    };
    let options =
        IndicesOptions { expand_closed: true, expand_hidden: true, ..IndicesOptions::default() };
    let action = "indices:monitor/stats";
    let indices =
        call.core.index_stats(call.gate, action, call.indices(), options, Closed::Show).await?;
    let (node, data) = (Arc::new(NodeWords::of(call)), &call.core.shared().config.data);
    let now_ms = call.now_ms();
    // Of each shard there may be a thousand copies.
    let lines =
        |one: &IndexStats| one.shards.len() * (1 + one.index.settings.replica_count() as usize);
    let count = indices.iter().map(lines).sum();
    let _room = room(call, count, size_of::<Line>())?;
    let mut rows = Vec::with_capacity(count);
    for one in indices {
        let vacancies: Vec<Vacancy> = vacancies(call, &one.index).collect();
        let folder: Arc<Path> = data.join("indices").join(one.index.uuid_text()).into();
        for shard in one.shards {
            call.core.env().spawn().yield_if_needed().await;
            let line = |copy| Line {
                index: Arc::clone(&one.index),
                number: shard.number,
                copy,
                node: Arc::clone(&node),
                folder: Arc::clone(&folder),
                now_ms,
            };
            rows.push(line(ShardCopy::Primary(shard.standing)));
            rows.extend(vacancies.iter().map(|vacancy| line(ShardCopy::Replica(*vacancy))));
        }
    }
    answer(call, Table { columns, rows }, wish).await
}

/// One segment.
struct SegmentLine {
    index: String,
    shard: u32,
    segment: Segment,
    node: NodeWords,
}

impl Row for SegmentLine {}

fn flag(flag: bool) -> Cell {
    if flag { "true" } else { "false" }.into()
}

/// `GET /_cat/segments`, `/_cat/segments/{index}`.
pub(in crate::rest) async fn segments<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    #[rustfmt::skip]
    let columns = vec![
        left("index", &["i", "idx"], "index name", |l: &SegmentLine| l.index.as_str().into()),
        left("shard", &["s", "sh"], "shard name", |l| l.shard.into()),
        left("prirep", &["p", "pr", "primaryOrReplica"], "primary or replica", |_| "p".into()),
        left("ip", &[], "ip of node where it lives", |l| l.node.ip.as_str().into()),
        hidden(left("id", &[], "unique id of node where it lives", |l| l.node.id.as_str().into())),
        left("segment", &["seg"], "segment name", |l| units::segment_name(l.segment.id).into()),
        right("generation", &["g", "gen"], "segment generation", |l| units::segment_generation(l.segment.id).into()),
        right("docs.count", &["dc", "docsCount"], "number of docs in segment", |l| l.segment.docs_count.into()),
        right("docs.deleted", &["dd", "docsDeleted"], "number of deleted docs in segment", |l| l.segment.docs_deleted.into()),
        right("size", &["si"], "segment size in bytes", |l| Cell::Bytes(l.segment.bytes)),
        right("size.memory", &["sm", "sizeMemory"], "segment memory in bytes", |_| Cell::Count(0)),
        left("committed", &["ic", "isCommitted"], "is segment committed", |l| flag(l.segment.committed)),
        left("searchable", &["is", "isSearchable"], "is segment searched", |_| flag(true)),
        left("version", &["v", "ver"], "version", |_| crate::rest::info::LUCENE.into()),
        left("compound", &["ico", "isCompound"], "is segment compound", |_| flag(true)),
    ];
    let wish = match wish(call, &columns)? {
        Ok(wish) => wish,
        Err(help) => return Ok(help),
    };
    let options = call.params.indices_options(IndicesOptions::default())?;
    let rows = call.core.segment_rows(call.gate, call.indices(), options).await?;
    let node = NodeWords::of(call);
    let lines = |row: SegmentRows| {
        let (index, node) = (row.index.name.to_string(), node.clone());
        row.segments.into_iter().flatten().map(move |segment| SegmentLine {
            index: index.clone(),
            shard: row.number,
            segment,
            node: node.clone(),
        })
    };
    let rows = rows.into_iter().flat_map(lines).collect();
    answer(call, Table { columns, rows }, wish).await
}

/// One recovery.
struct RecoveryLine {
    row: RecoveryRow,
    node: NodeWords,
}

impl Row for RecoveryLine {}

fn date(ms: u64) -> Cell {
    units::date(i64::try_from(ms).unwrap_or(0)).into()
}

/// `GET /_cat/recovery`, `/_cat/recovery/{index}`.
pub(in crate::rest) async fn recovery<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    #[rustfmt::skip]
    let columns = vec![
        left("index", &["i", "idx"], "index name", |l: &RecoveryLine| (&*l.row.index.name).into()),
        left("shard", &["s", "sh"], "shard name", |l| l.row.number.into()),
        hidden(left("start_time", &["start"], "recovery start time", |l| date(l.row.begin_ms))),
        hidden(left("start_time_millis", &["start_millis"], "recovery start time in epoch milliseconds", |l| l.row.begin_ms.into())),
        hidden(left("stop_time", &["stop"], "recovery stop time", |l| date(l.row.begin_ms + l.row.took_us / 1_000))),
        hidden(left("stop_time_millis", &["stop_millis"], "recovery stop time in epoch milliseconds", |l| (l.row.begin_ms + l.row.took_us / 1_000).into())),
        left("time", &["t", "ti"], "recovery time", |l| Cell::micros(l.row.took_us)),
        left("type", &["ty"], "recovery type", |l| l.row.origin.as_str().to_ascii_lowercase().into()),
        left("stage", &["st"], "recovery stage", |l| l.row.stage().to_ascii_lowercase().into()),
        left("source_host", &["shost"], "source host", |_| "n/a".into()),
        left("source_node", &["snode"], "source node name", |_| "n/a".into()),
        left("target_host", &["thost"], "target host", |l| l.node.ip.as_str().into()),
        left("target_node", &["tnode"], "target node name", |l| l.node.name.as_str().into()),
        left("repository", &["rep"], "repository", |_| "n/a".into()),
        left("snapshot", &["snap"], "snapshot", |_| "n/a".into()),
        left("files", &["f"], "number of files to recover", |l| l.row.recovered().0.into()),
        left("files_recovered", &["fr"], "files recovered", |l| l.row.recovered().0.into()),
        left("files_percent", &["fp"], "percent of files recovered", |l| if l.row.files > 0 { "100.0%" } else { "0.0%" }.into()),
        left("files_total", &["tf"], "total number of files", |l| l.row.files.into()),
        left("bytes", &["b"], "number of bytes to recover", |l| Cell::Bytes(l.row.recovered().1)),
        left("bytes_recovered", &["br"], "bytes recovered", |l| Cell::Bytes(l.row.recovered().1)),
        left("bytes_percent", &["bp"], "percent of bytes recovered", |l| if l.row.bytes > 0 { "100.0%" } else { "0.0%" }.into()),
        left("bytes_total", &["tb"], "total number of bytes", |l| Cell::Bytes(l.row.bytes)),
        left("translog_ops", &["to"], "number of translog ops to recover", |l| l.row.replayed.into()),
        left("translog_ops_recovered", &["tor"], "translog ops recovered", |l| l.row.replayed.into()),
        left("translog_ops_percent", &["top"], "percent of translog ops recovered", |_| "100.0%".into()),
    ];
    let wish = match wish(call, &columns)? {
        Ok(wish) => wish,
        Err(help) => return Ok(help),
    };
    let base = IndicesOptions { expand_closed: true, ..IndicesOptions::default() };
    let options = call.params.indices_options(base)?;
    let active_only = call.params.flag("active_only", false)?;
    let named = call.params.text("index").unwrap_or_else(|| call.indices());
    let rows = call.core.recovery_rows(call.gate, named, options).await?;
    let node = NodeWords::of(call);
    let rows = rows
        .into_iter()
        .filter(|row| !active_only || !row.done)
        .map(|row| RecoveryLine { row, node: node.clone() })
        .collect();
    answer(call, Table { columns, rows }, wish).await
}
