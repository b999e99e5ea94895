//! `_bulk`: lines of JSON, cut where they stand.
//!
//! Lines are found by memchr; a document is a range of the body and never copied. What is wrong with an
//! action line (`action`) fails the request, what is wrong with one item fails the item.
//!
//! Always true
//! 1. Items stand in the order of their lines; line numbers in messages count from 1.
//! 2. The body ends with a line feed. `\r\n` ends a line too. Blank lines between items say
//!    nothing.
//! 3. An action line is one object of one action, and nothing stands after it. (Elasticsearch 8 warns
//!    of other lines and reads on; version 9 refuses them.)

#[path = "bulk/action.rs"]
mod action;

use engine::ops::Refresh;
use engine::ops::bulk::{BulkOutcome, BulkReply, BulkRequest};
use engine::ops::document::{self, SourceFilter, Update, WriteAction, WriteItem};
use engine::{Error, Result};
use env::{Bytes, Env, Spawn};

use self::action::{action, has_half_pair};
use super::copies::{self, Copies};
use super::document::{names_source, pipeline, refresh, routing, source_filter, without_mark};
use super::update;
use crate::call::Call;
use crate::render::document as render;
use crate::reply::Reply;

/// What the request says for all items.
#[derive(Clone, Debug, Default)]
pub struct Defaults {
    /// Index of items that name none; empty where the path has none.
    pub index: String,
    /// Routing of items that have none.
    pub routing: Option<String>,
    /// Items must name aliases, unless they say otherwise.
    pub require_alias: bool,
    /// Documents must go to data streams, unless they say otherwise.
    pub require_data_stream: bool,
    /// What documents of items are to run through that name nothing else.
    pub pipeline: Option<Box<str>>,
    /// What of new documents the answers to updates bring.
    pub source: Option<SourceFilter>,
}

/// An item, or why it never becomes one.
#[derive(Clone, Debug)]
pub enum Item {
    /// To be done.
    Write(WriteItem),
    /// Refused alone.
    Refused(WriteItem, Error),
}

/// `POST|PUT /_bulk`, `/{index}/_bulk`.
pub(super) async fn bulk<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let refresh = refresh(call)?;
    let copies = Copies::read(call)?;
    if call.body.is_empty() {
        return Err(Error::parse("request body is required"));
    }
    let defaults = Defaults {
        index: call.indices().to_owned(),
        routing: routing(call),
        require_alias: call.params.flag("require_alias", false)?,
        require_data_stream: call.params.flag("require_data_stream", false)?,
        pipeline: pipeline(call),
        source: match names_source(call) {
            true => update::wanted(source_filter(call)?),
            false => None,
        },
    };
    let spawn = call.core.env().spawn();
    let mut splitter = Splitter::new(&call.body, &defaults)?;
    loop {
        match splitter.step(STEP_ITEMS)? {
            Cut::Done => break,
            Cut::More => spawn.yield_if_needed().await,
            Cut::Update(held) => {
                let Held { text, update, item, refused } = *held;
                let (update, item) = update::read_away(call, text, update, item).await?;
                splitter.take(WriteItem { update: Some(Box::new(update)), ..item }, refused);
            }
        }
    }
    let mut items = splitter.finish()?;
    let waits = refuse_without_copies(call, copies, &mut items).await?;
    let mut reply = run(call, items, refresh).await;
    if waits {
        copies::wait_in_vain(call).await?;
    }
    if let Some(error) = refused_whole(&reply) {
        return Err(error.clone());
    }
    let count = reply.items.len();
    let mut body = Vec::with_capacity(64 + count.min(SAMPLE_ITEMS) * 200);
    let mut writer = json::Writer::new(&mut body);
    render::begin_bulk(&mut writer, &reply);
    // What was taken for sources is given back once all of them are written.
    let mut sources = Vec::new();
    for (at, item) in std::mem::take(&mut reply.items).into_iter().enumerate() {
        if at == SAMPLE_ITEMS {
            // The rest is most likely as long, and an eighth for what differs.
            let each = writer.written().len() / at + 1;
            writer.reserve(((count - at) * (each + each / 8)).min(RESERVE_BYTES_MAX));
        }
        if let Err(error) = &item.result {
            call.told.borrow_mut().failed(error);
        }
        render::bulk_item(&mut writer, &item, call.trace);
        sources.extend(item.result.ok().and_then(|written| written.source));
        spawn.yield_at(at).await;
    }
    render::end_bulk(&mut writer);
    Ok(Reply::json(200, body))
}

/// Refuses the items whose shards have too few copies. Are there such? Then they are waited for.
async fn refuse_without_copies<E: Env>(
    call: &Call<'_, E>,
    copies: Copies,
    items: &mut [Vec<Item>],
) -> Result<bool> {
    let mut waits = false;
    // An index whose setting asks for no more is not looked at again with each of its items.
    let mut enough: Option<String> = None;
    for (at, item) in items.iter_mut().flatten().enumerate() {
        call.core.env().spawn().yield_at(at).await;
        let Item::Write(write) = item else { continue };
        if enough.as_ref() == Some(&write.index) {
            continue;
        }
        let routed = write.routing.as_deref().or(write.id.as_deref());
        match copies::lacking(call, copies, &write.index, routed)? {
            Some(error) => {
                let error = match call.core.may_write(call.gate, write, false) {
                    Ok(()) => {
                        waits = true;
                        error
                    }
                    Err(denied) => denied,
                };
                *item = Item::Refused(write.clone(), error);
            }
            None => enough = Some(write.index.clone()),
        }
    }
    Ok(waits)
}

/// Longer answers grow as they come: what was reserved counts until they are sent.
const RESERVE_BYTES_MAX: usize = 16 << 20;

/// Items by whose answers the length of all of them is guessed.
const SAMPLE_ITEMS: usize = 256;

/// Items that are cut before others may run: some ten microseconds.
const STEP_ITEMS: usize = 128;

/// Gives the engine what can be done; refused items keep their places.
async fn run<E: Env>(call: &Call<'_, E>, items: Vec<Vec<Item>>, refresh: Refresh) -> BulkReply {
    let spawn = call.core.env().spawn();
    let mut refused = Vec::new();
    let mut writes = Vec::with_capacity(items.iter().map(Vec::len).sum());
    for (at, item) in items.into_iter().flatten().enumerate() {
        match item {
            Item::Write(item) => writes.push(item),
            Item::Refused(item, error) => refused.push((at, item, error)),
        }
        spawn.yield_at(at).await;
    }
    let request = BulkRequest { items: writes, refresh };
    let mut reply = call.core.bulk_within(call.gate, request, call.room.take(), call.left).await;
    for (at, outcome) in reply.items.iter_mut().enumerate() {
        if let Err(error) = &mut outcome.result {
            copies::tell_whole(call, error);
        }
        spawn.yield_at(at).await;
    }
    if refused.is_empty() {
        return reply;
    }
    let mut items = Vec::with_capacity(reply.items.len() + refused.len());
    let mut done = reply.items.into_iter();
    for (at, WriteItem { action, index, id, .. }, error) in refused {
        while items.len() < at
            && let Some(outcome) = done.next()
        {
            items.push(outcome);
            spawn.yield_at(items.len()).await;
        }
        items.push(BulkOutcome { action, index, id, result: Err(error) });
        spawn.yield_at(items.len()).await;
    }
    for outcome in done {
        items.push(outcome);
        spawn.yield_at(items.len()).await;
    }
    reply.items = items;
    reply
}

/// The refusal, where overload refused every item: the request is told so as a whole, with 429 and
/// a time to come back, as where it is refused before its body is read. Clients wait and send it
/// again; items that are refused one by one many of them count as failed.
fn refused_whole(reply: &BulkReply) -> Option<&Error> {
    let mut refusals = reply.items.iter().map(|item| {
        let error = item.result.as_ref().err()?;
        (error.status == 429 && error.kind == "es_rejected_execution_exception").then_some(error)
    });
    let first = refusals.next()??;
    refusals.all(|refusal| refusal.is_some()).then_some(first)
}

/// Cuts a body into its items.
///
/// # Errors
/// What fails the whole request.
pub fn split(body: &Bytes, defaults: &Defaults) -> Result<Vec<Item>> {
    let mut splitter = Splitter::new(body, defaults)?;
    loop {
        match splitter.step(usize::MAX)? {
            Cut::Done => return Ok(splitter.finish()?.into_iter().flatten().collect()),
            Cut::More => {}
            Cut::Update(held) => {
                let Held { text, mut update, mut item, refused } = *held;
                update::read(&text, &mut update, &mut item)?;
                splitter.take(WriteItem { update: Some(Box::new(update)), ..item }, refused);
            }
        }
    }
}

/// What a step of cutting came to.
enum Cut {
    /// There may be more.
    More,
    /// All is cut.
    Done,
    /// An update that is long to read: its item is to be taken back before the next step.
    Update(Box<Held>),
}

/// An item whose update is not read yet.
struct Held {
    text: Bytes,
    update: Update,
    item: WriteItem,
    refused: Option<Error>,
}

/// Items that are kept in one piece: a few hundred kilobytes.
const PIECE_ITEMS: usize = 1_024;

/// Updates are read in a step until their texts are so long.
const STEP_BYTES: usize = update::READ_HERE_BYTES_MAX;

/// Validation problems that are told; a request has one of these for each of its items at most.
const PROBLEMS_MAX: usize = 1_000;

/// Cuts a body into its items, some at a time.
struct Splitter<'a> {
    body: &'a Bytes,
    defaults: &'a Defaults,
    lines: Lines<'a>,
    /// In pieces of [`PIECE_ITEMS`]: one list that grows copies all its items at once.
    items: Vec<Vec<Item>>,
    problems: Vec<String>,
}

impl<'a> Splitter<'a> {
    fn new(body: &'a Bytes, defaults: &'a Defaults) -> Result<Self> {
        if body.last() != Some(&b'\n') {
            return Err(Error::illegal_argument(
                "The bulk request must be terminated by a newline [\\n]",
            ));
        }
        let lines = Lines { body, at: 0, number: 0 };
        Ok(Self { body, defaults, lines, items: Vec::new(), problems: Vec::new() })
    }

    /// Cuts at most `count` items more.
    fn step(&mut self, count: usize) -> Result<Cut> {
        let mut read_bytes = 0;
        for _ in 0..count {
            let Some(line) = self.lines.next() else { return Ok(Cut::Done) };
            let text = &self.body[line.start..line.end];
            if !text.iter().all(u8::is_ascii_whitespace)
                && let Some(held) = self.item(text, &mut read_bytes)?
            {
                return Ok(Cut::Update(held));
            }
            if read_bytes > STEP_BYTES {
                break;
            }
        }
        Ok(Cut::More)
    }

    /// Reads the item whose action stands in `text`, its document in the line after; gives it back where
    /// its update is long. `read_bytes` counts those that are read here.
    fn item(&mut self, text: &[u8], read_bytes: &mut usize) -> Result<Option<Box<Held>>> {
        let (mut item, mut refused) = action(text, self.lines.number, self.defaults)?;
        if has_half_pair(text) {
            refused.get_or_insert_with(|| {
                Error::illegal_argument(format!(
                    "Malformed action/metadata line [{}], half a surrogate pair is no character",
                    self.lines.number
                ))
            });
        }
        if matches!(item.action, WriteAction::Delete | WriteAction::Update)
            && item.id.as_deref().is_none_or(str::is_empty)
        {
            self.problem("id is missing".to_owned());
        }
        if item.action != WriteAction::Delete {
            let Some(source) = self.lines.next() else {
                return Err(Error::validation(&["no requests added"]));
            };
            let source = self.body.slice(source.start..source.end);
            let source = source.expect("a line of the body");
            if item.action == WriteAction::Update {
                let mut update = *item.update.take().unwrap_or_default();
                if source.len() > update::READ_HERE_BYTES_MAX {
                    return Ok(Some(Box::new(Held { text: source, update, item, refused })));
                }
                *read_bytes += source.len();
                update::read(&source, &mut update, &mut item)?;
                item.update = Some(Box::new(update));
            } else {
                item.source = without_mark(source);
            }
        }
        self.take(item, refused);
        Ok(None)
    }

    /// Takes an item that is read.
    fn take(&mut self, item: WriteItem, mut refused: Option<Error>) {
        // One that was given, and is no name, fails its item alone.
        if item.index.is_empty() && refused.is_none() {
            self.problem("index is missing".to_owned());
        }
        for problem in document::problems(&item) {
            self.problem(problem);
        }
        if item.id.as_deref() == Some("") && refused.is_none() {
            let reason = "if _id is specified it must not be empty";
            refused = Some(Error::illegal_argument(reason));
        }
        let item = match refused {
            None => Item::Write(item),
            Some(error) => Item::Refused(item, error),
        };
        match self.items.last_mut() {
            Some(piece) if piece.len() < PIECE_ITEMS => piece.push(item),
            _ => {
                // A piece has its place at once, but the first, which is most often the only one.
                let place = if self.items.is_empty() { 1 } else { PIECE_ITEMS };
                let mut piece = Vec::with_capacity(place);
                piece.push(item);
                self.items.push(piece);
            }
        }
    }

    fn problem(&mut self, what: String) {
        if self.problems.len() < PROBLEMS_MAX {
            self.problems.push(what);
        }
    }

    /// The items, once all are cut, in pieces.
    fn finish(self) -> Result<Vec<Vec<Item>>> {
        if self.items.is_empty() {
            return Err(Error::validation(&["no requests added"]));
        }
        if !self.problems.is_empty() {
            return Err(Error::validation(&self.problems));
        }
        Ok(self.items)
    }
}

/// Lines of a body, without their ends.
struct Lines<'a> {
    body: &'a [u8],
    at: usize,
    number: usize,
}

/// Where a line stands.
struct Line {
    start: usize,
    end: usize,
}

impl Iterator for Lines<'_> {
    type Item = Line;

    fn next(&mut self) -> Option<Line> {
        let start = self.at;
        let found = memchr::memchr(b'\n', self.body.get(start..)?)?;
        let end = start + found;
        self.at = end + 1;
        self.number += 1;
        let cr = end > start && self.body[end - 1] == b'\r';
        Some(Line { start, end: end - usize::from(cr) })
    }
}

#[cfg(test)]
#[path = "bulk/tests.rs"]
mod tests;
