//! Preparing writes: documents become operations, new fields one change of the cluster state.
//!
//! Documents are parsed by the mapping that the change would give, and parsed again only where
//! another change came in between (decision 2). Updates are parsed at their shard's home; what one of
//! them needs there is asked for here, together with what those after it will probably need.

use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use base::hash::Map;
use base::{PrimaryTerm, SeqNo};
use cluster::{Command, Index, Outcome as ClusterOutcome};
use env::budget::{Lease, Taken};
use env::{Bytes, Env, Spawn};
use mapping::analysis::effort::{Exhausted, within};
use mapping::document::{Arena, Chosen, Mode, Parsed, Parser, STEPS_HERE, STEPS_MAX, too_costly};
use mapping::{Delta, Mapping};
use script::Context;
use shard::{Check, Kind, Operation, Scripted, WriteBatch};

use super::document::{Update, VersionType, WriteAction, WriteItem, Written};
use super::failure;
use super::slow::Phase;
use crate::core::{Core, Pass, Unread};
use crate::error::{Error, Result};
use crate::index::block::{self, Level};
use crate::left::Left;

/// How often documents are prepared again because the mapping changed under them.
const ROUNDS_MAX: usize = 3;

/// Memory for a new field: in the sketch, in the states before and after, in tables of the buffer and
/// of the segments with it. Measured with 2,000 fields of text and their keywords in one document.
const FIELD_BYTES: usize = 4 << 10;

/// A larger document is parsed on a worker: 32 KiB of words take about 500 µs. Where several fields read one
/// value it counts for more ([`Mapping::reading_bytes`]).
pub(super) const PARSE_HERE_BYTES_MAX: usize = 32 << 10;

/// The items of one shard, on their way.
pub(super) struct Group {
    pub(super) index: Arc<Index>,
    pub(super) number: u32,
    /// Positions in the request, in order.
    pub(super) members: Vec<usize>,
}

/// What a group sends: operations, the mapping they were prepared with, and each one's position in
/// the request.
pub(super) type Prepared = (WriteBatch, Arc<Mapping>, Vec<usize>);

/// Documents that a worker parsed: where they lie, the number of each or what is wrong with it, by position in
/// the request.
struct Aside {
    arena: Arena,
    read: Map<usize, Result<u32>>,
}

/// A document on its way to a worker: its position in the request, its id, whether it is routed, its text.
type Away = (usize, String, bool, Option<Arc<Chosen>>, Bytes);

/// What a worker reads documents into.
struct Lent {
    sketch: Sketch,
    aside: Aside,
    paying: Paying,
    /// The first that is not read.
    next: usize,
}

impl Lent {
    /// Reads the documents that are not read yet.
    ///
    /// # Errors
    /// They take more than there is for the first pass.
    fn read(&mut self, docs: &[Away], pass: Pass) -> std::result::Result<(), Exhausted> {
        let mut parser = Parser::new();
        let mut steps = pass.steps();
        while let Some((at, id, is_routed, chosen, source)) = docs.get(self.next) {
            parser.set_routed(*is_routed);
            parser.set_chosen(chosen.as_ref());
            let Self { sketch, aside, paying, .. } = self;
            let parsed = match pass {
                Pass::Long => parse_whole(sketch, &mut parser, id, source, &mut aside.arena),
                Pass::First => {
                    let read = || sketch.parse(&mut parser, id, source, &mut aside.arena);
                    let (parsed, taken) = within(steps, read)?;
                    steps -= taken;
                    parsed
                }
            };
            aside.read.insert(*at, paying.paid(parsed, &mut aside.arena));
            self.next += 1;
        }
        Ok(())
    }
}

/// An item that names an existing index.
pub(super) struct Aim {
    pub(super) group: usize,
    pub(super) id: String,
    pub(super) routing: Option<String>,
}

/// The items of a request, where each of them goes, and whether somebody still waits for them.
#[derive(Clone, Copy)]
pub(super) struct Work<'a> {
    pub(super) items: &'a [WriteItem],
    pub(super) aims: &'a [Option<Aim>],
    pub(super) left: &'a Left,
}

/// What is left of a group whose batch stopped: an update needs fields first.
pub(super) struct Rest {
    pub(super) group: usize,
    /// What the first of them needs.
    pub(super) delta: Delta,
    /// Positions in the request, in order.
    pub(super) members: Vec<usize>,
}

impl<E: Env> Core<E> {
    /// Parses every document; what each group sends, with the positions of its members. Memory for so much of
    /// what they become is taken already.
    pub(super) async fn prepare(
        self: &Rc<Self>,
        work: Work<'_>,
        groups: &mut [Group],
        results: &mut [Option<Result<Written>>],
        mut room_bytes: usize,
    ) -> Vec<Option<Prepared>> {
        let mut out: Vec<Option<Prepared>> = groups.iter().map(|_| None).collect();
        let mut todo: Vec<usize> = (0..groups.len()).collect();
        for round in 0..ROUNDS_MAX {
            let mut sketches: Map<[u8; 16], Sketch> = Map::default();
            for &at in &todo {
                let group = &groups[at];
                let sketch = sketches
                    .entry(group.index.uuid)
                    .or_insert_with(|| Sketch::new(&group.index, &self.lease));
                let parsed = self.parse_group(work, group, sketch, results, room_bytes);
                let batch = parsed.await;
                room_bytes = room_bytes.saturating_sub(batch.0.arena.size_bytes());
                out[at] = Some(batch);
            }
            let deltas: Vec<([u8; 16], Delta)> = sketches
                .iter_mut()
                .flat_map(|(uuid, sketch)| {
                    std::mem::take(&mut sketch.deltas).into_iter().map(|delta| (*uuid, delta))
                })
                .collect();
            if deltas.is_empty() {
                break;
            }
            let change = self.change(Command::AddFields { deltas }).await;
            let state = self.state();
            let refused = match change {
                Ok(ClusterOutcome::Fields(_)) => None,
                Ok(_) => Some(Error::internal("an unexpected answer of the cluster state")),
                Err(error) => Some(error),
            };
            todo.retain(|&at| {
                let uuid = groups[at].index.uuid;
                let Some(sketch) = sketches.get(&uuid) else { return false };
                let fail = |error: Error, results: &mut [Option<Result<Written>>]| {
                    for &member in &groups[at].members {
                        results[member].get_or_insert(Err(error.clone()));
                    }
                };
                if !sketch.grew {
                    return false;
                }
                let Some(index) = state.index_by_uuid(uuid) else {
                    fail(Error::index_not_found(&groups[at].index.name, "index_or_alias"), results);
                    out[at] = None;
                    return false;
                };
                if let Some(error) = &refused {
                    fail(error.clone(), results);
                    out[at] = None;
                    return false;
                }
                if index.mapping.is_same(&sketch.mapping) {
                    // What was sketched is what the cluster agreed on.
                    if let Some((batch, mapping, _)) = &mut out[at] {
                        batch.mapping_version = index.mapping.version();
                        *mapping = Arc::clone(&index.mapping);
                    }
                    return false;
                }
                if round + 1 == ROUNDS_MAX {
                    let text = "the mapping changed too often while the document was prepared";
                    fail(Error::new(503, "process_cluster_event_timeout_exception", text), results);
                    out[at] = None;
                    return false;
                }
                true
            });
            for &at in &todo {
                if let Some(index) = state.index_by_uuid(groups[at].index.uuid) {
                    groups[at].index = Arc::clone(index);
                }
            }
            if todo.is_empty() {
                break;
            }
        }
        out.into_iter().map(|batch| batch.filter(|(batch, ..)| !batch.ops.is_empty())).collect()
    }

    /// Parses the documents of one group by the sketched mapping, which grows on the way.
    async fn parse_group(
        self: &Rc<Self>,
        work: Work<'_>,
        group: &Group,
        sketch: &mut Sketch,
        results: &mut [Option<Result<Written>>],
        room_bytes: usize,
    ) -> Prepared {
        let Work { items, aims, .. } = work;
        let mut aside = Aside { arena: arena_of(&self.lease), read: Map::default() };
        let mut paying = Paying::new(&self.lease, room_bytes);
        // May an executor still parse them?
        let mut here = !is_long_anywhere(items, group, sketch);
        if !here {
            self.parse_away(work, (group, 0), sketch, &mut paying, &mut aside).await;
        }
        let mut parser = self.parser.take();
        // The slow log tells what an updated document became, which its shard alone knows.
        let told = self.shared.config.info.slow_log.is_some()
            && Phase::Index.is_watched(&group.index.settings);
        let mut ops = Vec::with_capacity(group.members.len());
        let mut members = Vec::with_capacity(group.members.len());
        for (place, &at) in group.members.iter().enumerate() {
            let (item, Some(aim)) = (&items[at], &aims[at]) else { continue };
            let kind = if item.action == WriteAction::Delete {
                Ok(Kind::Delete)
            } else if let Some(update) = &item.update {
                match self.scripted(update, group) {
                    Ok(script) if update.is_longer_than(PARSE_HERE_BYTES_MAX) => {
                        let own = update.clone();
                        let job = move || own.operation(script, told);
                        let made = self.work_on_document(group.index.uuid, work.left, job).await;
                        made.map_err(Unread::error).map(|made| Kind::Update(Box::new(made)))
                    }
                    Ok(script) => Ok(Kind::Update(Box::new(update.operation(script, told)))),
                    Err(error) => {
                        results[at] = Some(Err(failure::of_update_script(error)));
                        continue;
                    }
                }
            } else {
                parser.set_routed(aim.routing.is_some());
                parser.set_chosen(item.templates.as_ref());
                if here && !aside.read.contains_key(&at) {
                    let arena = &mut aside.arena;
                    let read = || sketch.parse(&mut parser, &aim.id, &item.source, arena);
                    here = match within(STEPS_HERE, read) {
                        Ok((parsed, _)) => {
                            aside.read.insert(at, paying.paid(parsed, arena));
                            true
                        }
                        // Others behind it are probably like this one.
                        Err(Exhausted) => false,
                    };
                    if !here {
                        let rest = (group, place);
                        self.parse_away(work, rest, sketch, &mut paying, &mut aside).await;
                    }
                }
                let parsed = aside.read.remove(&at).unwrap_or_else(|| {
                    // The workers have no time.
                    let arena = &mut aside.arena;
                    let parsed = parse_whole(sketch, &mut parser, &aim.id, &item.source, arena);
                    paying.paid(parsed, arena)
                });
                parsed.map(|doc| Kind::Index {
                    create: item.action == WriteAction::Create
                        || (item.id.is_none() && item.if_seq_no.is_none()),
                    source: item.source.clone(),
                    doc,
                })
            };
            match kind {
                Ok(kind) => {
                    results[at] = None;
                    members.push(at);
                    ops.push(Operation {
                        id: aim.id.clone(),
                        routing: aim.routing.clone(),
                        kind,
                        check: check(item),
                    });
                }
                Err(error) => results[at] = Some(Err(error)),
            }
            self.env.spawn().yield_if_needed().await;
        }
        self.parser.replace(parser);
        let (arena, room) = (aside.arena, paying.room.into_iter().collect());
        let batch = WriteBatch { mapping_version: sketch.mapping.version(), arena, ops, room };
        (batch, Arc::clone(&sketch.mapping), members)
    }

    /// Parses the documents of a group from this place on with a worker: they are large, or costly, and a core
    /// would be held by them. Where the workers have no time nothing is read, but for what is known to be long: that
    /// is refused; and all where nobody waits for it any more.
    async fn parse_away(
        self: &Rc<Self>,
        work: Work<'_>,
        (group, from): (&Group, usize),
        sketch: &mut Sketch,
        paying: &mut Paying,
        aside: &mut Aside,
    ) {
        let mut docs = Vec::new();
        for (round, &at) in group.members[from..].iter().enumerate() {
            self.env.spawn().yield_at(round).await;
            let (item, Some(aim)) = (&work.items[at], &work.aims[at]) else { continue };
            if item.action != WriteAction::Delete && item.update.is_none() {
                let (is_routed, chosen) = (aim.routing.is_some(), item.templates.clone());
                docs.push((at, aim.id.clone(), is_routed, chosen, item.source.clone()));
            }
        }
        let docs = Arc::new(docs);
        // What was read before stays where it is, also where no worker takes the job.
        let empty = Aside { arena: arena_of(&self.lease), read: Map::default() };
        let unpaid = Paying::new(&self.lease, 0);
        let lent = Lent {
            sketch: sketch.clone(),
            aside: std::mem::replace(aside, empty),
            paying: std::mem::replace(paying, unpaid),
            next: 0,
        };
        let lent = Arc::new(Mutex::new(Some(lent)));
        let job = {
            let (lent, docs) = (Arc::clone(&lent), Arc::clone(&docs));
            move |pass: Pass| {
                let mut lent = lent.lock().unwrap_or_else(PoisonError::into_inner);
                lent.as_mut().map_or(Ok(()), |lent| lent.read(&docs, pass))
            }
        };
        // Where it panicked the documents that it had begun with are as they were before.
        let done = self.read_on_worker(group.index.uuid, work.left, job).await;
        let back = lent.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(back) = back {
            if let Err(unread @ (Unread::BusyLong | Unread::Left)) = done {
                for (at, ..) in &docs[back.next..] {
                    aside.read.insert(*at, Err(unread.error()));
                }
            }
            let failed = std::mem::take(&mut aside.read);
            (*sketch, *aside, *paying) = (back.sketch, back.aside, back.paying);
            aside.read.extend(failed);
        }
    }

    /// The script of an update, ready for the shard.
    fn scripted(&self, update: &Update, group: &Group) -> Result<Option<Arc<Scripted>>> {
        let Some(script) = &update.script else { return Ok(None) };
        let program = self.compiled(script, &Context::UPDATE)?;
        Ok(Some(Arc::new(Scripted {
            program,
            params: script.params.clone(),
            index: group.index.name.to_string(),
            now_ms: self.now_ms(),
            upserts: update.scripted_upsert,
        })))
    }

    /// Asks the cluster for the fields that stopped batches; the groups that are to be sent again.
    pub(super) async fn widen(
        self: &Rc<Self>,
        work: Work<'_>,
        groups: &[Group],
        rests: Vec<Rest>,
        results: &mut [Option<Result<Written>>],
    ) -> Vec<Group> {
        let Work { items, aims, left } = work;
        let mut sketches: Map<[u8; 16], Sketch> = Map::default();
        let mut again = Vec::new();
        let mut arena = arena_of(&self.lease);
        let mut parser = self.parser.take();
        for Rest { group, delta, mut members } in rests {
            let group = &groups[group];
            let state = self.state();
            let index = state.index_by_uuid(group.index.uuid).unwrap_or(&group.index);
            let sketch =
                sketches.entry(index.uuid).or_insert_with(|| Sketch::new(index, &self.lease));
            if let Err(error) = sketch.add(delta) {
                let first = members.remove(0);
                results[first] = Some(Err(error));
            }
            for &at in &members {
                let (Some(aim), Some(update)) = (&aims[at], &items[at].update) else { continue };
                // Only a guess at what it will need: its own turn tells what is wrong with it.
                let most_bytes = PARSE_HERE_BYTES_MAX / sketch.mapping.reading_bytes(1);
                let mut is_long = update.is_longer_than(most_bytes);
                parser.set_routed(aim.routing.is_some());
                parser.set_chosen(None);
                for text in update.texts() {
                    if is_long {
                        break;
                    }
                    arena.clear();
                    let read = || sketch.parse(&mut parser, &aim.id, &text, &mut arena);
                    is_long = within(STEPS_HERE, read).is_err();
                    self.env.spawn().yield_if_needed().await;
                }
                if is_long {
                    let (own, update, id) = (sketch.clone(), update.clone(), aim.id.clone());
                    let is_routed = aim.routing.is_some();
                    let job = move |pass: Pass| {
                        let (mut own, mut parser) = (own, Parser::new());
                        parser.set_routed(is_routed);
                        for text in update.texts() {
                            let mut arena = arena_of(&own.lease);
                            let read = || own.parse(&mut parser, &id, &text, &mut arena);
                            if let Err(exhausted) = within(pass.steps(), read)
                                && pass == Pass::First
                            {
                                return Err(exhausted);
                            }
                        }
                        Ok(own)
                    };
                    if let Ok(Ok(own)) = self.read_on_worker(index.uuid, left, job).await {
                        *sketch = own;
                    }
                }
            }
            again.push((Arc::clone(&group.index), group.number, members));
        }
        self.parser.replace(parser);
        let deltas: Vec<([u8; 16], Delta)> = sketches
            .into_iter()
            .flat_map(|(uuid, sketch)| sketch.deltas.into_iter().map(move |delta| (uuid, delta)))
            .collect();
        let refused = match deltas.is_empty() {
            true => None,
            false => self.change(Command::AddFields { deltas }).await.err(),
        };
        let state = self.state();
        let mut groups = Vec::new();
        for (index, number, members) in again {
            let error = match (&refused, state.index_by_uuid(index.uuid)) {
                (None, Some(index)) => {
                    groups.push(Group { index: Arc::clone(index), number, members });
                    continue;
                }
                (Some(error), _) => error.clone(),
                (None, None) => Error::index_not_found(&index.name, "index_or_alias"),
            };
            members.iter().for_each(|&at| results[at] = Some(Err(error.clone())));
        }
        groups
    }
}

/// An arena whose documents take a quarter of all memory at most, each: what their analyzers make of them is
/// counted when they are parsed, and paid for meanwhile.
pub(super) fn arena_of(lease: &Lease) -> Arena {
    Arena::bounded(lease.total_bytes() / 4).paid_by(lease.clone())
}

/// Is one of a group's documents so large that a core would be held by it? The words of a megabyte take
/// milliseconds.
fn is_long_anywhere(items: &[WriteItem], group: &Group, sketch: &Sketch) -> bool {
    let is_long = |at: &usize| {
        let item = &items[*at];
        let bytes = sketch.mapping.reading_bytes(item.source.len());
        bytes > PARSE_HERE_BYTES_MAX && item.update.is_none()
    };
    group.members.iter().any(is_long)
}

/// Parses a document, however costly it is, up to what one may take.
fn parse_whole(
    sketch: &mut Sketch,
    parser: &mut Parser,
    id: &str,
    source: &[u8],
    arena: &mut Arena,
) -> Result<u32> {
    let read = || sketch.parse(parser, id, source, arena);
    match within(STEPS_MAX, read) {
        Ok((parsed, _)) => parsed,
        Err(Exhausted) => Err(failure::of_mapping(too_costly(id))),
    }
}

/// Pays for documents as they are parsed: what they become may be much more than their text, which was counted.
struct Paying {
    lease: Lease,
    /// Bytes that are paid for already.
    has_bytes: usize,
    /// What is paid beside those.
    room: Option<Taken>,
}

impl Paying {
    fn new(lease: &Lease, has_bytes: usize) -> Self {
        Self { lease: lease.clone(), has_bytes, room: None }
    }

    /// The document that was parsed last, or why it was not, paid for.
    fn paid(&mut self, parsed: Result<u32>, arena: &mut Arena) -> Result<u32> {
        let paid = parsed.and_then(|doc| self.pay(arena).map(|()| doc));
        paid.map_err(|error| error.paid(&self.lease))
    }

    /// Pays for the document that was parsed last, or forgets it: it would else be counted against those that
    /// fit.
    fn pay(&mut self, arena: &mut Arena) -> Result<()> {
        arena.settle();
        let has = self.has_bytes + self.room.as_ref().map_or(0, Taken::bytes);
        let lacking = arena.size_bytes().saturating_sub(has);
        if lacking == 0 || self.lease.add(&mut self.room, lacking) {
            return Ok(());
        }
        arena.forget_last();
        Err(Error::no_memory("documents", lacking, self.lease.total_bytes()))
    }
}

/// The mapping as it will be when the request's new fields are added.
#[derive(Clone)]
pub(super) struct Sketch {
    pub(super) mapping: Arc<Mapping>,
    deltas: Vec<Delta>,
    grew: bool,
    /// Why there may be no new fields, where a block of the index forbids them.
    blocked: Option<Error>,
    lease: Lease,
    /// What the new fields take until the request is answered.
    taken: Vec<Arc<Taken>>,
}

impl Sketch {
    pub(super) fn new(index: &Index, lease: &Lease) -> Self {
        Self {
            mapping: Arc::clone(&index.mapping),
            deltas: Vec::new(),
            grew: false,
            blocked: block::check(index, Level::MetadataWrite).err(),
            lease: lease.clone(),
            taken: Vec::new(),
        }
    }

    /// Takes memory for new fields.
    fn pay(&mut self, delta: &Delta) -> Result<()> {
        let bytes = delta.len().saturating_mul(FIELD_BYTES);
        let Some(taken) = self.lease.take(bytes) else {
            let text =
                format!("[parent] Data too large, data for [<new fields>] would be [{bytes}b]");
            let error = mapping::Error::new(mapping::ErrorKind::NoMemory, text);
            return Err(failure::of_mapping(error));
        };
        self.taken.push(Arc::new(taken));
        Ok(())
    }

    /// Takes fields in that a shard asked for.
    fn add(&mut self, delta: Delta) -> Result<()> {
        self.may_grow()?;
        self.pay(&delta)?;
        let grown = self.mapping.apply_delta(&delta).map_err(failure::of_mapping)?;
        self.mapping = Arc::new(grown);
        self.deltas.push(delta);
        self.grew = true;
        Ok(())
    }

    fn may_grow(&self) -> Result<()> {
        self.blocked.clone().map_or(Ok(()), Err)
    }

    /// Parses one document; its new fields join the sketch only if the whole of it fits.
    pub(super) fn parse(
        &mut self,
        parser: &mut Parser,
        id: &str,
        source: &[u8],
        arena: &mut Arena,
    ) -> Result<u32> {
        let mut trial = Arc::clone(&self.mapping);
        let mut added = Vec::new();
        loop {
            let parsed = parser.parse(&trial, id, source, Mode::Strict, arena);
            match parsed.map_err(failure::of_mapping)? {
                Parsed::Ready(doc) => {
                    if !added.is_empty() {
                        self.mapping = trial;
                        self.deltas.append(&mut added);
                        self.grew = true;
                    }
                    return Ok(doc as u32);
                }
                Parsed::NeedsMapping(delta) => {
                    self.may_grow()?;
                    // Each round adds what the last one lacked: an object that says more of itself than that it is
                    // one, and in the next what lies in it.
                    let rounds_max = trial.settings().limits.depth.saturating_add(8);
                    if added.len() as u64 >= rounds_max {
                        return Err(Error::internal("a document whose new fields never suffice"));
                    }
                    self.pay(&delta)?;
                    let grown = trial.apply_delta(&delta).map_err(failure::of_mapping)?;
                    trial = Arc::new(grown);
                    added.push(delta);
                }
            }
        }
    }
}

fn check(item: &WriteItem) -> Check {
    let version = item.version.unwrap_or(0).max(0) as u64;
    match (item.version_type, item.if_seq_no, item.if_primary_term) {
        (VersionType::External, ..) => Check::External(version),
        (VersionType::ExternalGte, ..) => Check::ExternalGte(version),
        (VersionType::Internal, Some(seq_no), Some(term)) => {
            Check::SeqNo { seq_no: SeqNo(seq_no), term: PrimaryTerm(term) }
        }
        _ if item.only_absent => Check::Absent,
        _ => Check::None,
    }
}
