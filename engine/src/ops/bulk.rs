//! Many writes in one request, and the single one.
//!
//! Documents are parsed here, on the core that took the request, into one arena for each shard;
//! the shard's home decides. Operations of one shard keep their order. New fields of all items are
//! one change of the cluster state (decision 2): documents are parsed by the mapping that this
//! change would give, and parsed again only where another change came in between.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use base::hash::{Map, Set};
use base::{SeqNo, ShardId};
use cluster::{DataStream, Index, State};
use env::budget::Taken;
use env::{Bytes, Clock, Env, Random, Spawn};
use shard::WriteError;

use super::document::{
    self, SourceFilter, VersionType, WriteAction, WriteItem, WriteResult, Written,
};
use super::prepare::{Aim, Group, Rest, Work};
use super::slow::{Phase, Told};
use super::{Refresh, failure, limited};
use crate::core::Core;
use crate::error::{Error, Result};
use crate::gate::{self, Gate, Named};
use crate::host::call::{Ask, ShardCall, Turn, WriteAnswer};
use crate::index::block::{self, Level};
use crate::index::route::Route;
use crate::index::single::{One, Purpose, resolve_one};
use crate::left::Left;

mod admit;
mod target;

use admit::Admitted;
use target::Astray;
pub(crate) use target::routing_missing;

/// What the items of one bulk request stand for together, at a shard.
const BULK_ITEMS: &str = "indices:data/write/bulk[s]";

/// What a write stands for that comes alone.
const fn alone_action(action: WriteAction) -> &'static str {
    match action {
        WriteAction::Delete => "indices:data/write/delete",
        WriteAction::Update => "indices:data/write/update",
        WriteAction::Index | WriteAction::Create => "indices:data/write/index",
    }
}

/// How often items of one request are judged by what others of it made: of one document so many are done in
/// order, and of those after them each is judged as things stood before the first of them.
const WAVES_MAX: usize = 64;

/// Items that are done together.
struct Wave<'a> {
    request: &'a BulkRequest,
    /// What is to be judged after others of it waits for the next wave.
    waits: bool,
    /// The shards to which something of the whole request was sent.
    asked: &'a mut Set<ShardId>,
}

/// With what the groups of a wave are sent.
struct Sending<'a> {
    refresh: Refresh,
    /// Memory that was taken for what the shards need.
    room: Option<Taken>,
    /// As in [`Wave`].
    asked: &'a mut Set<ShardId>,
}

/// What became of an item.
struct Answer {
    /// Its id, where one was made.
    id: Option<String>,
    /// Where it went.
    shard: Option<ShardId>,
    result: Result<Written>,
}

impl Answer {
    /// What was written, and where.
    fn written(&self) -> Option<(ShardId, &Written)> {
        let done = self.result.as_ref().ok().filter(|done| done.result != WriteResult::Noop)?;
        Some((self.shard?, done))
    }
}

/// How often the rest of a batch is sent again because an update needs fields.
const ROUNDS_MAX: usize = 64;

/// How often the source that an update brings is there until it is sent: by itself, and in an answer that grows.
const SOURCE_COPIES: usize = 3;

/// A bulk request.
#[derive(Clone, Debug)]
pub struct BulkRequest {
    /// In request order.
    pub items: Vec<WriteItem>,
    /// When it is to be searchable.
    pub refresh: Refresh,
}

/// Answer of one item; `index` and `id` are echoed where it failed.
#[derive(Clone, Debug)]
pub struct BulkOutcome {
    /// What the item asked for.
    pub action: WriteAction,
    /// The name as given.
    pub index: String,
    /// The id given or made.
    pub id: Option<String>,
    /// What became of it.
    pub result: Result<Written>,
}

/// Answer of a bulk request, in request order.
#[derive(Clone, Debug)]
pub struct BulkReply {
    /// Milliseconds it took.
    pub took_ms: u64,
    /// One a request item.
    pub items: Vec<BulkOutcome>,
}

impl<E: Env> Core<E> {
    /// Does many writes. Items stand alone: one that fails leaves the others unharmed.
    pub async fn bulk(self: &Rc<Self>, gate: &dyn Gate, request: BulkRequest) -> BulkReply {
        self.bulk_within(gate, request, None, &Left::default()).await
    }

    /// As [`Core::bulk`], with memory that was taken for what the shards need: they take what it lacks, and what
    /// they leave comes back once all have theirs. A document that waits for a worker when whoever asks has `left` is
    /// given up; what has begun is done to its end.
    pub async fn bulk_within(
        self: &Rc<Self>,
        gate: &dyn Gate,
        request: BulkRequest,
        room: Option<Taken>,
        left: &Left,
    ) -> BulkReply {
        let begin = self.env.clock().monotonic();
        let results = self.write_all(gate, BULK_ITEMS, &request, room, left).await;
        let mut items = Vec::with_capacity(results.len());
        for (at, (item, answer)) in request.items.into_iter().zip(results).enumerate() {
            let Answer { id, result, .. } = answer;
            let id = id.or(item.id);
            items.push(BulkOutcome { action: item.action, index: item.index, id, result });
            self.env.spawn().yield_at(at).await;
        }
        let took = self.env.clock().monotonic().saturating_sub(begin);
        BulkReply { took_ms: took.as_millis() as u64, items }
    }

    /// Does one write.
    ///
    /// # Errors
    /// Why it was not done.
    pub async fn write(
        self: &Rc<Self>,
        gate: &dyn Gate,
        item: WriteItem,
        refresh: Refresh,
    ) -> Result<Written> {
        self.write_for(gate, item, refresh, &Left::default()).await
    }

    /// As [`Core::write`], for somebody who may leave, as in [`Core::bulk_within`].
    ///
    /// # Errors
    /// Why it was not done.
    pub async fn write_for(
        self: &Rc<Self>,
        gate: &dyn Gate,
        item: WriteItem,
        refresh: Refresh,
        left: &Left,
    ) -> Result<Written> {
        let action = alone_action(item.action);
        let request = BulkRequest { items: vec![item], refresh };
        let mut results = self.write_all(gate, action, &request, None, left).await;
        match results.pop() {
            Some(answer) => answer.result,
            None => Err(Error::internal("a write without an answer")),
        }
    }

    /// The id (where one was made) and the answer of each item, in order. What is to be judged once what comes
    /// before it is done is done in waves.
    async fn write_all(
        self: &Rc<Self>,
        gate: &dyn Gate,
        action: &'static str,
        request: &BulkRequest,
        room: Option<Taken>,
        left: &Left,
    ) -> Vec<Answer> {
        let mut asked = Set::default();
        let whole = Wave { request, waits: true, asked: &mut asked };
        let (mut answers, mut later) = self.write_wave(gate, action, whole, room, left).await;
        let is_in_waves = !later.is_empty();
        for wave in 1..WAVES_MAX {
            if later.is_empty() {
                break;
            }
            let mut items = Vec::with_capacity(later.len());
            for (round, &at) in later.iter().enumerate() {
                items.push(request.items[at].clone());
                self.env.spawn().yield_at(round).await;
            }
            let rest = BulkRequest { items, refresh: Refresh::No };
            let waits = wave + 1 < WAVES_MAX;
            let rest = Wave { request: &rest, waits, asked: &mut asked };
            let (done, again) = self.write_wave(gate, action, rest, None, left).await;
            for (round, (&at, answer)) in later.iter().zip(done).enumerate() {
                answers[at] = answer;
                self.env.spawn().yield_at(round).await;
            }
            later = again.into_iter().map(|at| later[at]).collect();
        }
        if is_in_waves && request.refresh != Refresh::No {
            self.show(request.refresh, &mut answers).await;
        }
        answers
    }

    /// Makes visible what several waves wrote, once for all of them: one that waited for a refresh would hold up the
    /// next, and whatever is to be judged by the rights of now.
    async fn show(self: &Rc<Self>, refresh: Refresh, answers: &mut [Answer]) {
        let mut written: Map<ShardId, u64> = Map::default();
        for (at, answer) in answers.iter().enumerate() {
            if let Some((shard, done)) = answer.written() {
                let seq_no = written.entry(shard).or_default();
                *seq_no = done.seq_no.max(*seq_no);
            }
            self.env.spawn().yield_at(at).await;
        }
        let sent: Vec<_> = written
            .into_iter()
            .map(|(shard, seq_no)| {
                let seq_no = SeqNo(seq_no);
                (shard, self.send(shard, |reply| ShardCall::Show { seq_no, refresh, reply }))
            })
            .collect();
        let mut forced: Set<ShardId> = Set::default();
        for (shard, sent) in sent {
            // One that serves no more has told so when it was written to, or will be found out.
            if sent.answer().await.unwrap_or(false) {
                forced.insert(shard);
            }
        }
        for (at, answer) in answers.iter_mut().enumerate() {
            let is_forced = answer.written().is_some_and(|(shard, _)| forced.contains(&shard));
            if let (true, Ok(done)) = (is_forced, &mut answer.result) {
                done.forced_refresh = true;
            }
            self.env.spawn().yield_at(at).await;
        }
    }

    /// The answers of one wave, and the places of the items that wait for the next.
    async fn write_wave(
        self: &Rc<Self>,
        gate: &dyn Gate,
        action: &'static str,
        Wave { request, waits, asked }: Wave<'_>,
        mut room: Option<Taken>,
        left: &Left,
    ) -> (Vec<Answer>, Vec<usize>) {
        let spawn = self.env.spawn();
        let mut results: Vec<Option<Result<Written>>> = Vec::with_capacity(request.items.len());
        for at in 0..request.items.len() {
            results.push(None);
            spawn.yield_at(at).await;
        }
        let targets = self.targets(gate, action, &request.items).await;
        let Admitted { changed, later } =
            self.admit(gate, &request.items, &targets, &mut results, waits).await;
        let items = changed.as_deref().unwrap_or(&request.items);
        let mut groups: Vec<Group> = Vec::new();
        let mut by_shard: Map<ShardId, usize> = Map::default();
        let mut aims: Vec<Option<Aim>> = Vec::with_capacity(items.len());
        let mut astray: BTreeMap<usize, String> = BTreeMap::new();
        for (at, item) in items.iter().enumerate() {
            spawn.yield_at(at).await;
            if results[at].is_some() {
                aims.push(None);
                continue;
            }
            match self.aim(item, &targets, &mut groups, &mut by_shard) {
                Ok(aim) => {
                    groups[aim.group].members.push(at);
                    aims.push(Some(aim));
                }
                Err(Astray { id, error }) => {
                    astray.extend(id.map(|id| (at, id)));
                    results[at] = Some(Err(error));
                    aims.push(None);
                }
            }
        }
        let shard_of = |group: &Group| ShardId { index: group.index.uuid, number: group.number };
        let shards: Vec<ShardId> = groups.iter().map(shard_of).collect();
        let refresh = if later.is_empty() { request.refresh } else { Refresh::No };
        let work = Work { items, aims: &aims, left };
        for _ in 0..ROUNDS_MAX {
            let sending = Sending { refresh, room: room.take(), asked };
            let rests = self.send_groups(gate, work, &mut groups, &mut results, sending).await;
            if rests.is_empty() {
                groups.clear();
                break;
            }
            groups = self.widen(work, &groups, rests, &mut results).await;
        }
        for at in groups.iter().flat_map(|group| &group.members) {
            let text = "the mapping changed too often while the documents were updated";
            let error = Error::new(503, "process_cluster_event_timeout_exception", text);
            results[*at] = Some(Err(error));
        }
        let mut answers = Vec::with_capacity(results.len());
        for (at, (aim, result)) in aims.into_iter().zip(results).enumerate() {
            let lost = || Err(Error::internal("a write without an answer"));
            let shard = aim.as_ref().map(|aim| shards[aim.group]);
            let id = aim.map(|aim| aim.id).or_else(|| astray.remove(&at));
            answers.push(Answer { id, shard, result: result.unwrap_or_else(lost) });
            spawn.yield_at(at).await;
        }
        // There may be as many names as items, and each goes by itself.
        for (at, target) in targets.into_iter().enumerate() {
            drop(target);
            spawn.yield_at(at).await;
        }
        (answers, later)
    }

    /// Prepares the groups, sends them and takes their answers; what is left where an update needs
    /// fields first.
    async fn send_groups(
        self: &Rc<Self>,
        gate: &dyn Gate,
        work: Work<'_>,
        groups: &mut [Group],
        results: &mut [Option<Result<Written>>],
        Sending { refresh, mut room, asked }: Sending<'_>,
    ) -> Vec<Rest> {
        let room_bytes = room.as_ref().map_or(0, Taken::bytes);
        let prepared = self.prepare(work, groups, results, room_bytes).await;
        let Work { items, aims, .. } = work;
        let begun = self.env.clock().monotonic();
        let mut under_way = Vec::new();
        for (at, batch) in prepared.into_iter().enumerate() {
            let Some((mut batch, mapping, members)) = batch else { continue };
            if let Some(room) = &mut room {
                let mut needed_bytes = batch.arena_bytes();
                for (round, op) in batch.ops.iter().enumerate() {
                    needed_bytes += op.needed_bytes();
                    self.env.spawn().yield_at(round).await;
                }
                let has: usize = batch.room.iter().map(Taken::bytes).sum();
                batch.room.push(room.split(needed_bytes.saturating_sub(has)));
            }
            let shard = ShardId { index: groups[at].index.uuid, number: groups[at].number };
            let sent = match self.settled(shard).await {
                Ok(()) => {
                    let turn = if asked.insert(shard) { Turn::First } else { Turn::Later };
                    Ok(self.send(shard, |reply| ShardCall::Write {
                        batch,
                        mapping,
                        refresh,
                        turn,
                        reply,
                    }))
                }
                Err(down) => Err(down),
            };
            under_way.push((at, members, sent));
        }
        drop(room);
        // A lone write shares its sync with all those that come meanwhile.
        let _resting = (items.len() == 1).then(|| self.turns.rest());
        let mut rests = Vec::new();
        for (group_at, members, sent) in under_way {
            let group = &groups[group_at];
            let answer = match sent {
                Ok(sent) => sent.answer().await,
                Err(down) => Err(down),
            };
            let WriteAnswer { answers, forced_refresh } = match answer {
                Ok(answer) => answer,
                Err(down) => {
                    let error = down.error(&self.state(), &group.index, group.number, Ask::Write);
                    for at in members {
                        results[at] = Some(Err(error.clone()));
                    }
                    continue;
                }
            };
            debug_assert_eq!(answers.len(), members.len(), "one answer an operation");
            let took = self.env.clock().monotonic().saturating_sub(begun);
            // What waits for fields, or is refused, is not written: its line comes once it is.
            let indexed = || {
                std::iter::zip(&members, &answers)
                    .filter_map(|(at, done)| Some((*at, done.as_ref().ok()?)))
                    .filter(|(_, done)| {
                        matches!(done.outcome, shard::Outcome::Created | shard::Outcome::Updated)
                    })
            };
            if indexed().next().is_some() {
                let about = (&group.index, group.number);
                self.tell_slow(gate, Phase::Index, about, took, || {
                    told(group, &indexed().collect::<Vec<_>>(), items, aims)
                });
            }
            let mut rest: Option<Rest> = None;
            for (round, (at, answer)) in members.into_iter().zip(answers).enumerate() {
                self.env.spawn().yield_at(round).await;
                let id = aims[at].as_ref().map(|aim| aim.id.as_str()).unwrap_or_default();
                results[at] = Some(match (answer, &mut rest) {
                    (Ok(mut done), _) => {
                        let source = match shown(&items[at], &mut done) {
                            Some((source, filter)) => self.chosen(source, filter).await,
                            None => Ok(None),
                        };
                        let source = source.map(|source| match items.len() {
                            1 => source,
                            _ => source.and_then(|source| self.paid_source(source)),
                        });
                        source.map(|source| written(&group.index, id, done, source, forced_refresh))
                    }
                    (Err(WriteError::NeedsFields(delta)), None) => {
                        rest = Some(Rest { group: group_at, delta: *delta, members: vec![at] });
                        continue;
                    }
                    (Err(WriteError::NotTried), Some(rest)) => {
                        rest.members.push(at);
                        continue;
                    }
                    (Err(error), _) => {
                        let state = self.state();
                        let (index, number) = (&group.index, group.number);
                        let error =
                            failure::of_write(&self.shared, &state, index, number, id, error);
                        Err(error.paid(&self.lease))
                    }
                });
            }
            rests.extend(rest);
        }
        rests
    }

    /// A source that is there until all items are answered, and in the answer, with memory for that; none where there is
    /// no memory: what was written is told in any case.
    fn paid_source(&self, source: Bytes) -> Option<Bytes> {
        let taken = self.lease.take(source.len().saturating_mul(SOURCE_COPIES))?;
        Some(Bytes::counted(source, taken))
    }

    /// An id as Elasticsearch makes them: 20 characters of URL-safe base64 over 15 bytes, time
    /// first, so that ids of one moment lie side by side.
    pub(super) fn make_id(&self) -> String {
        let mut bytes = [0; 15];
        self.env.random().fill(&mut bytes);
        let now = self.now_ms().to_be_bytes();
        bytes[..6].copy_from_slice(&now[2..]);
        const ALPHABET: &[u8; 64] =
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        let mut id = String::with_capacity(20);
        for three in bytes.chunks_exact(3) {
            let number = u32::from(three[0]) << 16 | u32::from(three[1]) << 8 | u32::from(three[2]);
            for shift in [18, 12, 6, 0] {
                id.push(char::from(ALPHABET[(number >> shift & 63) as usize]));
            }
        }
        id
    }
}

/// The source that an update brings with its answer, as its caller may see it, whole, and what is wanted
/// of it.
fn shown<'a>(item: &'a WriteItem, done: &mut shard::Written) -> Option<(Bytes, &'a SourceFilter)> {
    let update = item.update.as_ref()?;
    let (filter, source) = (update.source.as_ref()?, done.source.take()?);
    let source = match &update.seen {
        Some(fields) => Bytes::from(fields.reduce_text(&source)),
        None => source,
    };
    Some((source, filter))
}

fn written(
    index: &Index,
    id: &str,
    done: shard::Written,
    source: Option<Bytes>,
    forced_refresh: bool,
) -> Written {
    Written {
        index: index.name.to_string(),
        id: id.to_owned(),
        version: done.version,
        result: match done.outcome {
            shard::Outcome::Created => WriteResult::Created,
            shard::Outcome::Updated => WriteResult::Updated,
            shard::Outcome::Deleted => WriteResult::Deleted,
            shard::Outcome::NotFound => WriteResult::NotFound,
            shard::Outcome::Noop => WriteResult::Noop,
        },
        shards_total: 1 + index.settings.replica_count(),
        shards_successful: 1,
        seq_no: done.seq_no.get(),
        primary_term: done.primary_term.get(),
        forced_refresh: forced_refresh && done.outcome != shard::Outcome::Noop,
        source,
    }
}

/// What the slow log tells of a batch: its size, and its first document. Of an update that is what
/// the document became.
fn told(
    group: &Group,
    written: &[(usize, &shard::Written)],
    items: &[WriteItem],
    aims: &[Option<Aim>],
) -> Told {
    let settings = &group.index.settings;
    let most = match settings.text("index.indexing.slowlog.source").unwrap_or("1000") {
        "true" => usize::MAX,
        "false" => 0,
        text => text.parse().unwrap_or(1_000),
    };
    let first = written.first();
    let source = first.map_or(&[][..], |(at, done)| {
        let source = done.source.as_ref().unwrap_or(&items[*at].source);
        &source[..source.len().min(most)]
    });
    let aim = first.and_then(|(at, _)| aims[*at].as_ref());
    Told {
        source: source.to_vec(),
        id: aim.map(|aim| aim.id.clone()),
        routing: aim.and_then(|aim| aim.routing.clone()),
        docs: written.len(),
        ..Told::default()
    }
}
