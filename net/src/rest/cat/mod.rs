//! `_cat`: tables for people, and for scripts that people wrote.

mod cluster;
mod columns;
mod indices;
mod nodes;
mod shards;
mod small;

use engine::{Error, Result};
use env::budget::Taken;
use env::{Env, Spawn};

use crate::call::Call;
use crate::render::cat::{Column, Row, Table, Wish, help};
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

/// Tables with more rows stand behind nobody's short work.
const ROWS_SHORT_MAX: usize = 4 << 10;

/// Memory for so many rows of a table, where they are many.
///
/// # Errors
/// 429 where there is too little.
fn room<E: Env>(call: &Call<'_, E>, rows: usize, bytes_of_row: usize) -> Result<Option<Taken>> {
    if rows <= ROWS_HERE_MAX {
        return Ok(None);
    }
    call.core.room("cat", rows.saturating_mul(bytes_of_row)).map(Some)
}

/// The answer: text, or what was asked for by name.
async fn answer<E: Env, R: Row + Send + Sync + 'static>(
    call: &Call<'_, E>,
    table: Table<R>,
    wish: Wish,
) -> Result<Reply> {
    let structured = call.wanted.structured;
    if table.rows.len() <= ROWS_HERE_MAX {
        return lay_out(&table, &wish, structured);
    }
    let rows = table.rows.len();
    let memory = room(call, rows, table.bytes_of_row(&wish, structured))?;
    let work = move || lay_out(&table, &wish, structured);
    let done = match rows <= ROWS_SHORT_MAX {
        true => call.core.env().spawn().work_short(work).await,
        false => call.core.work_in_turn(work).await,
    };
    let busy = |error| Error::rejected(format!("no worker for the table: {error}"));
    let reply = done.map_err(busy)??;
    Ok(match memory {
        Some(memory) => reply.counted(memory),
        None => reply,
    })
}

fn lay_out<R: Row>(table: &Table<R>, wish: &Wish, structured: bool) -> Result<Reply> {
    if structured {
        let mut body = Vec::new();
        table.json(wish, &mut json::Writer::new(&mut body))?;
        return Ok(Reply::json(200, body));
    }
    Ok(Reply::text(200, table.text(wish)?))
}
