//! `_cat`: tables for people, and for scripts that people wrote.

mod cluster;
mod columns;
mod indices;
mod nodes;
mod shards;
mod small;

use engine::{Error, Result};
use env::budget::{Lease, Taken};
use env::{Env, Spawn};

use crate::call::Call;
use crate::render::cat::{Column, Row, Table, Take, Wish, help};
use crate::reply::Reply;
use crate::table::{Api, ROUTES};

pub(super) use cluster::{
    aliases, component_templates, count, health, pending_tasks, tasks, templates,
};
pub(super) use indices::indices;
pub(super) use nodes::{allocation, fielddata, master, nodeattrs, nodes, thread_pool};
pub(super) use shards::{recovery, segments, shards};
pub(super) use small::{plugins, repositories, snapshots};

/// `GET /_cat`: every table there is.
pub(super) fn list() -> Reply {
    let mut text = String::from("=^.^=\n");
    let tables = ROUTES.iter().filter(|route| route.path.starts_with("/_cat/"));
    for route in tables {
        text.push_str(route.path);
        text.push('\n');
    }
    Reply::text(200, text)
}

/// What was asked for; or, for `help`, the answer.
fn wish<E: Env, R>(
    call: &Call<'_, E>,
    columns: &[Column<R>],
) -> Result<std::result::Result<Wish, Reply>> {
    debug_assert!(call.route.api != Api::Cat, "the list is no table");
    let wish = Wish::read(call.params)?;
    Ok(if wish.wants_help() { Err(Reply::text(200, help(columns))) } else { Ok(wish) })
}

/// Tables with more rows are laid out by a worker.
const ROWS_HERE_MAX: usize = 50;

/// So are those with more cells, and those for which more names are looked up.
const CELLS_HERE_MAX: usize = 2_000;
const NAMES_HERE_MAX: usize = 100;

/// So are those that take more memory.
const BYTES_HERE_MAX: usize = 256 << 10;

/// Tables with more rows stand behind nobody's short work.
const ROWS_SHORT_MAX: usize = 4 << 10;

/// So much of a table is taken as anything small is; beyond it, some is left to others.
const BYTES_SMALL: usize = 1 << 20;

/// Nor do those with more cells.
const CELLS_SHORT_MAX: usize = 64 << 10;

/// What memory is taken for.
const WHAT: &str = "cat";

/// Memory for so many rows of a table, where they are many.
///
/// # Errors
/// 429 where there is too little.
fn room<E: Env>(call: &Call<'_, E>, rows: usize, bytes_of_row: usize) -> Result<Option<Taken>> {
    if rows <= ROWS_HERE_MAX {
        return Ok(None);
    }
    call.core.room(WHAT, rows.saturating_mul(bytes_of_row)).map(Some)
}

/// The answer: text, or what was asked for by name.
async fn answer<E: Env, R: Row + Send + Sync + 'static>(
    call: &Call<'_, E>,
    table: Table<R>,
    wish: Wish,
) -> Result<Reply> {
    let structured = call.wanted.structured;
    let rows = table.rows.len();
    let long: usize = table.rows.iter().map(Row::long_bytes).sum();
    let names = wish.cells(&table.columns);
    let is_narrow = names <= NAMES_HERE_MAX && rows * names <= CELLS_HERE_MAX;
    if rows <= ROWS_HERE_MAX && long <= BYTES_HERE_MAX && is_narrow {
        let (mut left, mut is_long) = (BYTES_HERE_MAX, false);
        let reply =
            lay_out(&table, &wish, structured, &mut |bytes| match left.checked_sub(bytes) {
                Some(rest) => {
                    left = rest;
                    Ok(())
                }
                None => {
                    is_long = true;
                    Err(Error::no_memory(WHAT, bytes, BYTES_HERE_MAX))
                }
            });
        if !is_long {
            return reply;
        }
    }
    let is_short = rows <= ROWS_SHORT_MAX && rows * names <= CELLS_SHORT_MAX && long <= BYTES_SMALL;
    let mut memory = room(call, rows, size_of::<R>())?;
    let lease = call.core.lease().clone();
    let work = move || {
        let take = &mut |bytes| more(&lease, &mut memory, bytes);
        let reply = lay_out(&table, &wish, structured, take)?;
        drop(table);
        Ok(match memory {
            Some(mut memory) => {
                memory.shrink_to(reply.body.capacity());
                reply.counted(memory)
            }
            None => reply,
        })
    };
    let done = match is_short {
        true => call.core.env().spawn().work_short(work).await,
        false => call.core.work_in_turn(work).await,
    };
    done.map_err(|error| Error::rejected(format!("no worker for the table: {error}")))?
}

fn more(lease: &Lease, memory: &mut Option<Taken>, bytes: usize) -> Result<()> {
    let is_small = memory.as_ref().map_or(0, Taken::bytes) + bytes <= BYTES_SMALL;
    let has = if is_small { lease.add(memory, bytes) } else { lease.add_leaving(memory, bytes) };
    match has {
        true => Ok(()),
        false => Err(Error::no_memory(WHAT, bytes, lease.total_bytes())),
    }
}

fn lay_out<R: Row>(
    table: &Table<R>,
    wish: &Wish,
    structured: bool,
    take: Take<'_>,
) -> Result<Reply> {
    if structured {
        let mut body = Vec::new();
        table.json(wish, &mut json::Writer::new(&mut body), take)?;
        return Ok(Reply::json(200, body));
    }
    Ok(Reply::text(200, table.text(wish, take)?))
}
