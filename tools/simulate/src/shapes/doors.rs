//! Two indices whose settings change, that are closed and opened, and whose documents are asked for.
//!
//! A write that was acknowledged while `request` was sure is there after any end of the process; one
//! under `async` may be lost, until a close has written it.

use std::collections::BTreeMap;

use cluster::State;
use engine::Everything;
use engine::ops::document::{GetRequest, WriteAction, WriteItem};
use engine::ops::index_settings::{NewSettings, SettingsChange};
use engine::ops::{IndicesOptions, Refresh};
use env::Bytes;
use json::Value;

use super::{Work, at_once, may_fail, says_closed};
use crate::context::Context;
use crate::indices::{self, Register};

/// Names, with their shards.
const DOORS: [(&str, u32); 2] = [("door0", 1), ("door1", 2)];

/// Documents of each.
const IDS: u64 = 4;

/// All that is known.
#[derive(Default)]
pub(super) struct Doors(BTreeMap<String, Door>);

/// What is known of an index.
struct Door {
    /// `index.translog.durability` is `async`.
    is_async: Register<bool>,
    is_open: Register<bool>,
    /// `index.blocks.write`.
    is_blocked: Register<bool>,
    docs: BTreeMap<u64, Kept>,
}

/// A document.
struct Kept {
    /// What may be read now.
    now: Register<Option<u64>>,
    /// What may be read when the process has ended.
    later: Register<Option<u64>>,
}

/// Is something else done to the index at the same moment?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beside {
    /// No.
    Nothing,
    /// Its settings change.
    Settings,
    /// It is closed, opened, or deleted.
    Doors,
}

impl Default for Door {
    fn default() -> Self {
        let new = || Register::new(None);
        Self {
            is_async: Register::new(false),
            is_open: Register::new(true),
            is_blocked: Register::new(false),
            docs: (0..IDS).map(|id| (id, Kept { now: new(), later: new() })).collect(),
        }
    }
}

impl Doors {
    /// Holds the state against what may stand.
    pub(super) fn look(&mut self, state: &State, is_start: bool) {
        for (name, door) in &mut self.0 {
            let Some(index) = state.index(name) else { continue };
            let is_async = index.settings.text("index.translog.durability") == Some("async");
            door.is_async.check(&format!("async durability of [{name}]"), is_async, is_start);
            door.is_open.check(&format!("[{name}] open"), index.open, is_start);
            let is_blocked = index.settings.flag("index.blocks.write");
            door.is_blocked.check(&format!("[{name}] blocked"), is_blocked, is_start);
        }
    }
}

/// Works on what is known of an index.
fn with<T>(context: &Context, name: &str, work: impl FnOnce(&mut Door) -> T) -> T {
    work(context.oracle.shapes.borrow_mut().doors.0.entry(name.to_owned()).or_default())
}

fn stands(context: &Context, name: &str) -> bool {
    context.node.cores[0].state().index(name).is_some()
}

/// One of them that stands and is open for reading and writing; made, opened and let free where it must be.
pub(super) async fn open_one(context: &Context) -> Option<&'static str> {
    let (name, shards) = DOORS[context.below(DOORS.len() as u64) as usize];
    if !stands(context, name) {
        with(context, name, |door| *door = Door::default());
        let settings = r#""index.translog.durability":"request","index.refresh_interval":"200ms""#;
        indices::create(context, name, shards, (settings, r#""tag":{"type":"long"}"#), "{}").await;
        if !stands(context, name) {
            return None;
        }
    }
    if with(context, name, |door| door.is_open.sure() != Some(&true)) {
        move_doors(context, name, vec![true], false).await;
    }
    if with(context, name, |door| door.is_blocked.sure() != Some(&false)) {
        set_block(context, name, false).await;
    }
    let is_free = |door: &mut Door| {
        door.is_open.sure() == Some(&true) && door.is_blocked.sure() == Some(&false)
    };
    with(context, name, is_free).then_some(name)
}

/// Writes documents.
pub(super) async fn write_some(context: &Context) {
    let Some(name) = open_one(context).await else { return };
    for _ in 0..1 + context.below(4) {
        write(context, name, Beside::Nothing).await;
    }
    read(context, name, context.below(IDS), false).await;
}

/// Changes durability: one change of an index or of both, or two at one moment; then writes.
pub(super) async fn settle(context: &Context) {
    let Some(name) = open_one(context).await else { return };
    let both: Vec<&str> =
        DOORS.iter().map(|(name, _)| *name).filter(|name| stands(context, name)).collect();
    let mut changes = vec![(both, context.one_in(2))];
    if !context.one_in(3) {
        changes.push((vec![name], context.one_in(3)));
    }
    for (names, is_async) in &changes {
        names.iter().for_each(|name| with(context, name, |door| door.is_async.begin(*is_async)));
    }
    let mut works: Vec<Work<'_, Option<bool>>> = Vec::new();
    for (names, is_async) in &changes {
        works.push(Box::pin(async move {
            let durability = if *is_async { "async" } else { "request" };
            let body = format!(r#"{{"index.translog.durability":"{durability}"}}"#);
            put_settings(context, &names.join(","), &body).await.then_some(true)
        }));
    }
    if context.one_in(3) {
        works.push(Box::pin(async move {
            write(context, name, Beside::Settings).await;
            Some(true)
        }));
    }
    if at_once(context, works).await.iter().all(Option::is_some) {
        let state = context.node.cores[0].state();
        for (name, _) in DOORS {
            let asked = changes.iter().filter(|(names, _)| names.contains(&name));
            let asked: Vec<bool> = asked.map(|(_, is_async)| *is_async).collect();
            let Some(index) = state.index(name).filter(|_| !asked.is_empty()) else { continue };
            let is_async = index.settings.text("index.translog.durability") == Some("async");
            with(context, name, |door| {
                door.is_async.one_of(asked);
                door.is_async.check(&format!("async durability of [{name}]"), is_async, true);
            });
        }
    }
    for _ in 0..1 + context.below(3) {
        write(context, name, Beside::Nothing).await;
    }
}

async fn put_settings(context: &Context, names: &str, body: &str) -> bool {
    let value = json::parse(body.as_bytes()).expect("well-formed");
    let new = NewSettings::read(&value).expect("settings");
    let (options, change) = (IndicesOptions::default(), SettingsChange::default());
    let done = context.core().put_settings(&Everything, names, options, new, change).await;
    context.say(|| format!("settings {body} of [{names}] -> {done:?}"));
    if let Err(error) = &done {
        context.judge(&format!("settings of [{names}]"), error);
    }
    done.is_ok()
}

/// Sets or takes back the block of writes; whether that was done.
pub(super) async fn set_block(context: &Context, name: &str, is_blocked: bool) -> bool {
    with(context, name, |door| door.is_blocked.begin(is_blocked));
    let is_done = if is_blocked {
        let options = IndicesOptions::default();
        let done = context.core().add_block(&Everything, name, options, "write").await;
        context.say(|| format!("block [{name}] -> {done:?}"));
        if let Err(error) = &done {
            context.judge(&format!("block [{name}]"), error);
        }
        done.is_ok()
    } else {
        put_settings(context, name, r#"{"index.blocks.write":null}"#).await
    };
    if is_done {
        with(context, name, |door| door.is_blocked.done(is_blocked));
    }
    is_done
}

/// Closes and opens: once, or twice at one moment, beside writes or not.
pub(super) async fn turn(context: &Context) {
    let Some(name) = open_one(context).await else { return };
    let first = !context.one_in(4);
    let moves = match context.below(3) {
        0 => vec![!first],
        1 => vec![!first, first],
        _ => vec![false, true, context.one_in(2)],
    };
    let writes = context.one_in(2);
    move_doors(context, name, moves, writes).await;
    for id in 0..IDS {
        read(context, name, id, false).await;
    }
}

async fn move_doors(context: &Context, name: &str, moves: Vec<bool>, writes: bool) {
    moves.iter().for_each(|open| with(context, name, |door| door.is_open.begin(*open)));
    let mut works: Vec<Work<'_, bool>> =
        moves.iter().map(|&open| Box::pin(move_door(context, name, open)) as _).collect();
    if writes {
        works.push(Box::pin(async move {
            write(context, name, Beside::Doors).await;
            true
        }));
    }
    let are_done = at_once(context, works).await.into_iter().all(|done| done);
    let Some(index) = context.node.cores[0].state().index(name).cloned() else { return };
    if !are_done {
        return;
    }
    with(context, name, |door| {
        door.is_open.one_of(moves);
        door.is_open.check(&format!("[{name}] open"), index.open, true);
        if !index.open && !may_fail(context) {
            // Whoever closes writes what there is.
            for kept in door.docs.values_mut() {
                if let Some(now) = kept.now.sure() {
                    kept.later = Register::new(*now);
                }
            }
        }
    });
}

async fn move_door(context: &Context, name: &str, open: bool) -> bool {
    let (core, options) = (context.core(), IndicesOptions::default());
    let done = match open {
        true => core.open_indices(&Everything, name, options).await.map(drop),
        false => core.close_indices(&Everything, name, options).await.map(drop),
    };
    context.say(|| format!("[{name}] open: {open} -> {done:?}"));
    if let Err(error) = &done {
        context.judge(&format!("[{name}] open: {open}"), error);
    }
    done.is_ok()
}

/// Closes an index, as somebody does while it is copied.
pub(super) async fn close_beside(context: &Context, name: &str) {
    with(context, name, |door| door.is_open.begin(false));
    if move_door(context, name, false).await {
        with(context, name, |door| door.is_open.done(false));
    }
}

/// Deletes an index while it opens.
pub(super) async fn remove_while_it_opens(context: &Context) {
    let Some(name) = open_one(context).await else { return };
    write(context, name, Beside::Nothing).await;
    move_doors(context, name, vec![false], false).await;
    with(context, name, |door| door.is_open.begin(true));
    let opens: Work<'_, ()> = Box::pin(async move {
        let core = context.core();
        let done = core.open_indices(&Everything, name, IndicesOptions::default()).await;
        context.say(|| format!("open [{name}] while it is removed -> {done:?}"));
        match done {
            Ok(_) => with(context, name, |door| door.is_open.done(true)),
            Err(error) if error.status == 404 => {}
            Err(error) => drop(context.judge(&format!("open [{name}]"), &error)),
        }
    });
    let removes: Work<'_, ()> = Box::pin(indices::remove_named(context, name));
    at_once(context, vec![opens, removes]).await;
}

/// Writes a document of an index, beside something else or not.
pub(super) async fn write(context: &Context, name: &str, beside: Beside) {
    let (id, tag) = (context.below(IDS), context.oracle.history.tag());
    let is_kept = with(context, name, |door| {
        let kept = door.docs.get_mut(&id).expect("each has one");
        kept.now.begin(Some(tag));
        kept.later.begin(Some(tag));
        door.is_async.sure() == Some(&false) && beside != Beside::Settings
    });
    let item = WriteItem {
        source: Bytes::from(format!(r#"{{"tag":{tag}}}"#).into_bytes()),
        ..WriteItem::new(WriteAction::Index, name, format!("d{id}"))
    };
    let done = context.core().write(&Everything, item, Refresh::No).await;
    context.say(|| format!("write {tag} to {name}/d{id}, kept: {is_kept} -> {done:?}"));
    with(context, name, |door| {
        let (is_closed, is_blocked) = (door.is_open.may_be(&false), door.is_blocked.may_be(&true));
        let kept = door.docs.get_mut(&id).expect("each has one");
        let is_sure = match &done {
            Ok(_) => {
                assert!(door.is_open.may_be(&true), "[{name}] is closed and took a write");
                assert!(door.is_blocked.may_be(&false), "[{name}] is blocked and took a write");
                kept.now.done(Some(tag));
                if is_kept {
                    kept.later.done(Some(tag));
                }
                return;
            }
            Err(error) if is_closed && says_closed(error) => true,
            Err(error) if is_blocked && error.status == 403 => true,
            // Its shard went, or came, under way.
            Err(error) if beside == Beside::Doors && matches!(error.status, 404 | 503) => false,
            Err(error) => context.judge(&format!("write to {name}/d{id}"), error),
        };
        if is_sure {
            kept.now.refused();
            kept.later.refused();
        }
    });
}

/// Reads a document; what there is, where that could be read.
pub(super) async fn read(
    context: &Context,
    name: &str,
    id: u64,
    is_start: bool,
) -> Option<Option<(u64, u64)>> {
    let found = get(context, name, &format!("d{id}")).await;
    with(context, name, |door| match found {
        Ok(found) => {
            assert!(door.is_open.may_be(&true), "[{name}] is closed and was read");
            let tag = found.map(|(tag, _)| tag);
            let kept = door.docs.get_mut(&id).expect("each has one");
            if is_start {
                kept.later.check(&format!("{name}/d{id} after a start"), tag, true);
                kept.now = Register::new(tag);
            } else {
                kept.now.check(&format!("{name}/d{id}"), tag, false);
            }
            Some(found)
        }
        Err(error) => {
            if !(says_closed(&error) && door.is_open.may_be(&false)) {
                context.judge(&format!("get {name}/d{id}"), &error);
            }
            None
        }
    })
}

/// Tag and version of a document.
pub(super) async fn get(
    context: &Context,
    name: &str,
    id: &str,
) -> engine::Result<Option<(u64, u64)>> {
    let request = GetRequest { index: name.to_owned(), id: id.to_owned(), ..GetRequest::default() };
    let reply = context.core().get(&Everything, &request).await;
    context.say(|| format!("get {name}/{id} -> {reply:?}"));
    Ok(reply?.found.map(|found| {
        let source = found.source.expect("it was asked for");
        let tag = json::parse(&source).ok().and_then(|it| it.get("tag").and_then(Value::as_u64));
        let told = String::from_utf8_lossy(&source);
        (tag.unwrap_or_else(|| panic!("nobody sent {told}")), found.version)
    }))
}

/// Each document of an index, tag and version; `None` where one could not be read.
pub(super) async fn read_all(
    context: &Context,
    name: &str,
) -> Option<BTreeMap<String, Option<(u64, u64)>>> {
    let mut all = BTreeMap::new();
    for id in 0..IDS {
        all.insert(format!("d{id}"), read(context, name, id, false).await?);
    }
    Some(all)
}

/// Each document of each that stands and is open.
pub(super) async fn look_closely(context: &Context, is_start: bool) -> bool {
    let mut are_read = true;
    for (name, _) in DOORS {
        let Some(index) = context.node.cores[0].state().index(name).cloned() else { continue };
        if is_start {
            // What cannot be read now is there when it can.
            with(context, name, |door| {
                door.docs.values_mut().for_each(|kept| kept.now = kept.later.clone());
            });
        }
        if !index.open {
            continue;
        }
        for id in 0..IDS {
            are_read &= read(context, name, id, is_start).await.is_some();
        }
    }
    are_read
}
