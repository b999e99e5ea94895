//! `_cat/indices`.

use engine::ops::IndicesOptions;
use engine::ops::observe::Health;
use engine::ops::stats::{Closed, IndexStats, Stats};
use engine::{Error, Result};
use env::Env;

use super::columns::{For, columns};
use super::{answer, wish};
use crate::call::Call;
use crate::render::cat::{Cell, Column, Row, Table, hidden, left, right};
use crate::render::units;
use crate::reply::Reply;

/// An index with its counts; those of a closed one are not known.
struct Line {
    index: IndexStats,
    stats: Option<Stats>,
}

impl Row for Line {
    fn stats(&self) -> Option<&Stats> {
        self.stats.as_ref()
    }
}

impl Line {
    fn of(index: IndexStats) -> Self {
        let known = index.index.open && index.started_count() > 0;
        let stats = known.then(|| index.sum());
        Self { index, stats }
    }

    fn size(&self) -> Cell {
        self.stats.as_ref().map_or(Cell::Empty, |stats| Cell::Bytes(stats.shard.store_bytes))
    }
}

fn table() -> Vec<Column<Line>> {
    #[rustfmt::skip]
    let mut table: Vec<Column<Line>> = vec![
        left("health", &["h"], "current health status", |l: &Line| l.index.health.as_str().into()),
        left("status", &["s"], "open/close status", |l| if l.index.index.open { "open" } else { "close" }.into()),
        left("index", &["i", "idx"], "index name", |l| (&*l.index.index.name).into()),
        left("uuid", &["id", "uuid"], "index uuid", |l| l.index.index.uuid_text().into()),
        right("pri", &["p", "shards.primary", "shardsPrimary"], "number of primary shards", |l| l.index.index.settings.shard_count().into()),
        right("rep", &["r", "shards.replica", "shardsReplica"], "number of replica shards", |l| l.index.index.settings.replica_count().into()),
        right("docs.count", &["dc", "docsCount"], "available docs", |l| Cell::option(l.stats.as_ref().map(|s| s.shard.docs_count))),
        right("docs.deleted", &["dd", "docsDeleted"], "deleted docs", |l| Cell::option(l.stats.as_ref().map(|s| s.shard.docs_deleted))),
        hidden(right("creation.date", &["cd"], "index creation date (millisecond value)", |l| l.index.index.created_ms.into())),
        hidden(left("creation.date.string", &["cds"], "index creation date (as string)", |l| units::date(l.index.index.created_ms).into())),
        right("store.size", &["ss", "storeSize"], "store size of primaries & replicas", Line::size),
        right("pri.store.size", &[], "store size of primaries", Line::size),
        right("dataset.size", &[], "total size of dataset", Line::size),
    ];
    table.extend(columns(For::Indices));
    // Memory that the index takes: its buffers, segments that no file holds yet, what is known of deletes.
    let memory = |l: &Line| {
        let bytes = |stats: &Stats| stats.shard.buffer_bytes + stats.shard.version_bytes;
        l.stats.as_ref().map_or(Cell::Empty, |stats| Cell::Bytes(bytes(stats)))
    };
    table.push(hidden(right("memory.total", &["tm", "memoryTotal"], "total used memory", memory)));
    table.push(hidden(right("pri.memory.total", &[], "total used memory", memory)));
    table.push(hidden(left(
        "search.throttled",
        &["sth"],
        "whether searches are throttled",
        |_| "false".into(),
    )));
    table
}

/// `GET /_cat/indices`, `/_cat/indices/{index}`.
pub(in crate::rest) async fn indices<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let columns = table();
    let wish = match wish(call, &columns)? {
        Ok(wish) => wish,
        Err(help) => return Ok(help),
    };
    // All but hidden ones; a hidden one that is named is shown.
    let base = IndicesOptions { expand_closed: true, ..IndicesOptions::default() };
    let options = call.params.indices_options(base)?;
    let colour = match call.params.text("health").map(str::to_ascii_lowercase).as_deref() {
        None => None,
        Some("green") => Some(Health::Green),
        Some("yellow") => Some(Health::Yellow),
        Some("red") => Some(Health::Red),
        Some(other) => {
            return Err(Error::illegal_argument(format!(
                "unknown cluster health status [{other}]"
            )));
        }
    };
    let action = "indices:monitor/stats";
    let rows =
        call.core.index_stats(call.gate, action, call.indices(), options, Closed::Show).await?;
    let rows = rows
        .into_iter()
        .filter(|row| colour.is_none_or(|colour| row.health == colour))
        .map(Line::of)
        .collect();
    answer(call, Table { columns, rows }, wish).await
}
