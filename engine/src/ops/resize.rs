//! `_clone`, `_shrink`, `_split`: an index made of another's documents.
//!
//! The new index is in the cluster state from the start, marked as being copied into: its shards are told as
//! initializing and serve nobody until every document has been written to the shard where it belongs and
//! flushed. A process that ends meanwhile removes it at the next start; nobody was told that it is whole.
//!
//! Versions are kept, sequence numbers begin anew. What is copied is one view of each shard of the source,
//! all taken before the first document: the source may take writes again, or be closed, while it is copied; it may not
//! be deleted, for a crash would leave neither.

use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base::planted::{Fault, planted};
use base::{DocId, FieldNo, ShardId};
use cluster::{Command, Index, NewIndex};
use env::{Bytes, Clock, Env, ErrorKind, Spawn};
use json::{Object, Value};
use mapping::analysis::effort::within;
use mapping::document::kept::Kept;
use mapping::document::{Arena, Mode, Parsed, Parser, STEPS_HERE};
use search::fetch::texts;
use segment::View;
use shard::{Check, Kind, Operation, WriteBatch};

use super::create::{Created, part, settings_part};
use super::prepare::PARSE_HERE_BYTES_MAX;
use super::reached::{READ, Reached, limits_of_new};
use super::{IndicesOptions, Refresh, deprecated, failure};
use crate::core::{Core, WAIT};
use crate::error::{Error, Result};
use crate::gate::{self, Gate};
use crate::host::call::{Ask, Called, ShardCall, Turn, WriteAnswer};
use crate::index::block::{self, Level};
use crate::index::date_math;
use crate::index::resolve::{Call, closed};
use crate::index::route::Route;
use crate::node::Entry;
use crate::task::TaskSpec;

/// Documents of one batch.
const BATCH_DOCS: usize = 500;

/// Bytes of the sources of one batch, about.
const BATCH_BYTES: usize = 4 << 20;

/// How long a document waits for memory, and after how long it asks again at first; each time twice as long.
const MEMORY_WAIT: Duration = Duration::from_secs(30);
const MEMORY_PAUSE: Duration = Duration::from_millis(50);

/// What becomes of the number of shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Resize {
    /// It stays.
    Clone,
    /// It is divided.
    Shrink,
    /// It is multiplied.
    Split,
}

impl Resize {
    const fn word(self) -> &'static str {
        match self {
            Self::Clone => "clone",
            Self::Shrink => "shrink",
            Self::Split => "split",
        }
    }
}

/// How large a shard of the new index may become, where the body says it.
fn largest_shard(kind: Resize, body: &Value) -> Result<Option<u64>> {
    const KEY: &str = "max_primary_shard_size";
    let text = match body.get(KEY) {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(text)) => text.clone(),
        Some(other) => json::to_string(other),
    };
    let bytes = base::units::bytes(KEY, &text).map_err(Error::illegal_argument)?;
    if kind != Resize::Shrink {
        let problem = "max_primary_shard_size can only be set for shrink operations";
        return Err(Error::validation(&[problem]));
    }
    match bytes {
        Some(bytes) if bytes > 0 => Ok(Some(bytes)),
        _ => Err(Error::validation(&["max_primary_shard_size must be greater than 0"])),
    }
}

/// The least factor of the source's shards that keeps each new shard at most so large; as many as the
/// source has where even those are larger.
fn shards_of_at_most(largest_bytes: u64, bytes: u64, shards: u32) -> u32 {
    let least = bytes.div_ceil(largest_bytes).max(1);
    let mut factors = (1..=shards).filter(|count| shards.is_multiple_of(*count));
    factors.find(|count| u64::from(*count) >= least).unwrap_or(shards)
}

/// Settings that a copy does not take from its source; of its copies Elasticsearch makes as many as of any
/// new index.
const NOT_COPIED: [&str; 3] =
    ["index.number_of_routing_shards", "index.number_of_replicas", "index.allocation.max_retries"];

/// A document on its way.
#[derive(Clone)]
struct Moved {
    id: String,
    routing: Option<String>,
    version: u64,
    source: Bytes,
}

impl<E: Env> Core<E> {
    /// Makes `target` of the documents of `source`; `body` may hold `settings` and `aliases`.
    ///
    /// # Errors
    /// In Elasticsearch's words.
    pub async fn resize(
        self: &Rc<Self>,
        gate: &dyn Gate,
        kind: Resize,
        source: &str,
        target: &str,
        (body, copies): (&Value, Option<u32>),
    ) -> Result<Created> {
        let call = Call { forbid_closed: false, ..Call::new(IndicesOptions::default()) };
        let found = self.reached(gate, "indices:admin/resize", source, call).await?;
        // It is the name of one index: nothing that stands for some, as an alias or a data stream does.
        let named = date_math::resolve(source, self.now_ms())?;
        let [Reached { index, via, .. }] = found.as_slice() else {
            return Err(no_such_index(source));
        };
        if *index.name != *named {
            return Err(no_such_index(&named));
        }
        // Whoever makes a copy may read all of it: what is hidden in the source must not be seen in the copy.
        let read = gate::ask(gate, READ, &index.name, via)?;
        if !read.is_unlimited() {
            let reason = format!(
                "action [indices:admin/resize] copies index [{}] whole, of which documents or fields are \
                 hidden from the caller",
                index.name
            );
            return Err(Error::new(403, "security_exception", reason));
        }
        if !index.open {
            return Err(closed(&index.name, index.uuid));
        }
        block::check_whole(index)?;
        if !index.mapping.keeps_whole_source() {
            return Err(Error::illegal_argument(format!(
                "index [{}] cannot be copied: its mapping says that [_source] keeps not all of its documents, which are \
                 written anew of it",
                index.name
            )));
        }
        let provided = target;
        let target = date_math::resolve(target, self.now_ms())?.into_owned();
        gate.index("indices:admin/create", &target)?;
        block::check_cluster_of(&self.state(), [&*target], Level::MetadataWrite)?;
        block::check(index, Level::MetadataRead)?;
        let asked =
            cluster::settings::prefixed(&settings_part(body)?).map_err(failure::of_cluster)?;
        if asked.keys().any(|name| name.starts_with("index.sort.")) {
            let problem = "can't override index sort when resizing an index";
            return Err(Error::validation(&[problem]));
        }
        if asked.contains_key("index.routing_partition_size") {
            let problem = "cannot provide a routing partition size value when resizing an index";
            return Err(Error::validation(&[problem]));
        }
        // One shard may be split as one likes.
        let free = kind == Resize::Split && index.settings.shard_count() == 1;
        if asked.contains_key("index.number_of_routing_shards") && !free {
            return Err(Error::illegal_argument(
                "cannot provide index.number_of_routing_shards on resize",
            ));
        }
        let asked_count = asked.get("index.number_of_shards");
        let largest = body.get("max_primary_shard_size").and_then(Value::as_str);
        if let Some(text) = largest.filter(|text| base::units::is_fraction(text)) {
            deprecated::fraction(gate, "max_primary_shard_size", text);
        }
        let shards = match largest_shard(kind, body)? {
            None => shard_count(kind, index, asked_count)?,
            Some(_) if asked_count.is_some() => {
                return Err(Error::illegal_argument(
                    "Cannot set both index.number_of_shards and max_primary_shard_size for the \
                     target index",
                ));
            }
            Some(largest_bytes) => {
                let rows = self.health_rows(|row| row.uuid == index.uuid).await;
                let bytes: u64 = rows.iter().map(|row| row.segment_bytes).sum();
                shards_of_at_most(largest_bytes, bytes, index.settings.shard_count())
            }
        };
        // As any new index, before anything is asked of its source but how many shards it has.
        cluster::check_new_name(&self.state(), &target).map_err(failure::of_cluster)?;
        if !index.settings.flag("index.blocks.write")
            && !index.settings.flag("index.blocks.read_only")
        {
            return Err(Error::new(
                500,
                "illegal_state_exception",
                format!(
                    "index {} must be read-only to resize index. use \"index.blocks.write=true\"",
                    index.name
                ),
            ));
        }
        let mut settings = Object::new();
        for (name, value) in index.settings.iter() {
            if !cluster::settings::is_private(name) && !NOT_COPIED.contains(&name) {
                settings.insert(name, value.clone());
            }
        }
        for (name, value) in asked {
            settings.insert(name, value);
        }
        cluster::check_soft_deletes(settings.get("index.soft_deletes.enabled"))
            .map_err(failure::of_cluster)?;
        settings.insert("index.number_of_shards", shards.to_string());
        let aliases = self.aliases_of(gate, &target, part(body, "aliases")?).await?;
        let new = NewIndex {
            provided: provided.to_owned(),
            settings: Value::Object(settings),
            aliases,
            composed: true,
            source: Some(index.uuid),
            ..NewIndex::new(&target, self.uuid(), self.now_ms())
        };
        // It would bring the mapping of the source, which is the caller's own, to documents that are hidden.
        if !limits_of_new(gate, "indices:admin/create", &self.state(), &new).is_empty() {
            let reason = format!(
                "action [indices:admin/resize] makes index [{target}] by the mapping of another, of which \
                 documents or fields are hidden from the caller"
            );
            return Err(Error::new(403, "security_exception", reason));
        }
        let uuid = new.uuid;
        let command = Command::CreateIndex(new);
        self.check_copies(&command, uuid, copies)?;
        let headers = gate.origin().opaque_id.iter();
        let _running = self.begin_task(TaskSpec {
            kind: "transport",
            action: "indices:admin/resize",
            description: format!("{} from [{}] to [{target}]", kind.word(), index.name),
            headers: headers.map(|id| ("X-Opaque-Id".to_owned(), id.clone())).collect(),
            owner: gate.owner().to_owned(),
            ..TaskSpec::default()
        });
        self.quiet(index).await;
        let views = self.views(index).await.map_err(|error| {
            // It may have gone meanwhile: its shards serve nobody then.
            match self.state().index_by_uuid(index.uuid) {
                None => no_such_index(&index.name),
                Some(source) if !source.open => closed(&index.name, index.uuid),
                Some(_) => error,
            }
        })?;
        let both = vec![index.name.to_string(), target.clone()];
        gate.begins("indices:admin/resize", both).await?;
        self.done(command).await?;
        if planted(Fault::EndCopyEarly) {
            self.done(Command::EndCopy { uuid }).await?;
        }
        let copied = match self.copy_all(&views, uuid).await {
            Ok(()) => self.done(Command::EndCopy { uuid }).await,
            Err(error) => Err(error),
        };
        if let Err(error) = copied {
            let was_deleted = self.state().index_by_uuid(uuid).is_none();
            // Nobody was told that it is whole; what cannot be taken away now goes at the next start.
            let _ = self.done(Command::DeleteIndices { uuids: vec![uuid] }).await;
            return Err(if was_deleted { no_such_index(&target) } else { error });
        }
        self.warn_of_name(gate, uuid);
        Ok(Created { index: target, shards_acknowledged: self.is_whole(uuid) })
    }

    /// What there is in each shard of `source` now.
    async fn views(self: &Rc<Self>, source: &Index) -> Result<Vec<Arc<View>>> {
        let mut views = Vec::with_capacity(source.settings.shard_count() as usize);
        for number in 0..source.settings.shard_count() {
            let shard = ShardId { index: source.uuid, number };
            let refreshed: Called<()> = self.ask(shard, |reply| ShardCall::Refresh { reply }).await;
            refreshed.map_err(|down| down.error(&self.state(), source, number, Ask::Read))?;
            match self.directory().shards.get(&shard) {
                Some(Entry::Open(reader)) => views.push(reader.view.load()),
                _ => return Err(Error::no_shard(None)),
            }
        }
        Ok(views)
    }

    /// Writes every document of the views into the index `uuid`, and flushes that.
    async fn copy_all(self: &Rc<Self>, views: &[Arc<View>], uuid: [u8; 16]) -> Result<()> {
        for view in views {
            self.copy_view(view, uuid).await?;
        }
        let state = self.state();
        let index = state
            .index_by_uuid(uuid)
            .ok_or_else(|| no_such_index(&cluster::state::uuid_text(uuid)))?;
        for number in 0..index.settings.shard_count() {
            let shard = ShardId { index: uuid, number };
            let refreshed: Called<()> = self.ask(shard, |reply| ShardCall::Refresh { reply }).await;
            refreshed.map_err(|down| down.error(&self.state(), index, number, Ask::Write))?;
            let flushed: Called<()> = self.ask(shard, |reply| ShardCall::Flush { reply }).await;
            flushed.map_err(|down| down.error(&self.state(), index, number, Ask::Write))?;
            self.note_copied(shard).await;
        }
        Ok(())
    }

    /// Notes what a shard came to, for whoever asks how it began. One that does not answer says nothing.
    async fn note_copied(self: &Rc<Self>, shard: ShardId) {
        let stats: Called<shard::Stats> = self.ask(shard, |reply| ShardCall::Stats { reply }).await;
        let directory = self.directory();
        let (Ok(stats), Some(Entry::Open(reader))) = (stats, directory.shards.get(&shard)) else {
            return;
        };
        let opening = reader.opening();
        let now_ms = u64::try_from(self.now_ms()).unwrap_or(0);
        opening.took_us.raise(now_ms.saturating_sub(opening.begin_ms.get()) * 1_000);
        opening.files.raise(stats.segment_count);
        opening.bytes.raise(stats.store_bytes);
    }

    async fn copy_view(self: &Rc<Self>, view: &View, uuid: [u8; 16]) -> Result<()> {
        let damaged =
            |error: segment::Error| Error::new(500, "corrupt_index_exception", error.to_string());
        let mut batch: Vec<Moved> = Vec::new();
        let mut bytes = 0;
        for part in &view.segments {
            let segment = &part.segment;
            for doc in (0..segment.doc_count()).map(DocId) {
                if part.live.as_ref().is_some_and(|live| !live.is_alive(doc)) {
                    continue;
                }
                let Some(id) = segment.ids().id_of(doc).map_err(damaged)? else { continue };
                let id = String::from_utf8_lossy(id).into_owned();
                let source = match segment.stored() {
                    Some(stored) => {
                        let text = stored.get(doc).map_err(damaged)?;
                        Bytes::from(Kept::of(&text).source.to_vec())
                    }
                    None => {
                        return Err(Error::illegal_argument(
                            "documents without a stored source cannot be copied",
                        ));
                    }
                };
                let version = segment.numeric(FieldNo::VERSION).and_then(|it| it.first(doc));
                let routing = texts(segment, FieldNo::ROUTING, doc).map_err(damaged)?;
                bytes += source.len() + id.len() + 64;
                batch.push(Moved {
                    id,
                    routing: routing.into_iter().next(),
                    version: version.map_or(1, |version| version as u64),
                    source,
                });
                if batch.len() >= BATCH_DOCS || bytes >= BATCH_BYTES {
                    self.copy_docs(&batch, uuid).await?;
                    batch.clear();
                    bytes = 0;
                }
                self.env.spawn().yield_if_needed().await;
            }
        }
        self.copy_docs(&batch, uuid).await
    }

    /// Writes some documents: fewer at a time where there is no memory for so many, and later where there is none
    /// for one.
    async fn copy_docs(self: &Rc<Self>, docs: &[Moved], uuid: [u8; 16]) -> Result<()> {
        let clock = self.env.clock();
        let mut until = clock.monotonic() + MEMORY_WAIT;
        let (mut left, mut together, mut pause) = (docs, docs.len(), MEMORY_PAUSE);
        while !left.is_empty() {
            let (some, rest) = left.split_at(together.min(left.len()));
            match self.copy_batch(some, uuid).await {
                Ok(()) => {
                    (left, pause) = (rest, MEMORY_PAUSE);
                    until = clock.monotonic() + MEMORY_WAIT;
                }
                Err(error) if error.status != 429 => return Err(error),
                // Those that came through are written again, which changes nothing.
                Err(_) if together > 1 => together = some.len() / 2,
                Err(error) if clock.monotonic() > until => return Err(error),
                Err(_) => {
                    clock.sleep(pause).await;
                    pause *= 2;
                }
            }
            together = together.max(1);
        }
        Ok(())
    }

    /// Writes some documents, each to the shard where it belongs.
    async fn copy_batch(self: &Rc<Self>, docs: &[Moved], uuid: [u8; 16]) -> Result<()> {
        let state = self.state();
        let Some(index) = state.index_by_uuid(uuid) else {
            // Deleted while it was made.
            return Err(no_such_index(&cluster::state::uuid_text(uuid)));
        };
        let (shards, route) = (index.settings.shard_count(), Route::of(&index.settings));
        let mut reading = Reading::new(index, shards, route);
        let mut parser = self.parser.take();
        let mut here = 0;
        for doc in docs {
            let is_short = index.mapping.reading_bytes(doc.source.len()) <= PARSE_HERE_BYTES_MAX;
            let read = || reading.read(&mut parser, doc);
            let Some(Ok((read, _))) = is_short.then(|| within(STEPS_HERE, read)) else { break };
            read?;
            here += 1;
            self.env.spawn().yield_if_needed().await;
        }
        self.parser.replace(parser);
        if here < docs.len() {
            reading = Box::pin(self.read_away(uuid, reading, docs[here..].into())).await?;
        }
        let groups = reading.groups;
        let mut under_way = Vec::new();
        for (number, (arena, ops)) in groups.into_iter().enumerate() {
            if ops.is_empty() {
                continue;
            }
            let shard = ShardId { index: uuid, number: number as u32 };
            self.settled(shard)
                .await
                .map_err(|down| down.error(&self.state(), index, shard.number, Ask::Write))?;
            let mapping = Arc::clone(&index.mapping);
            let batch =
                WriteBatch { mapping_version: mapping.version(), arena, ops, room: Vec::new() };
            let sent = self.send(shard, |reply| ShardCall::Write {
                batch,
                mapping,
                refresh: Refresh::No,
                turn: Turn::First,
                reply,
            });
            under_way.push((shard.number, sent));
        }
        for (number, sent) in under_way {
            let answer: Called<WriteAnswer> = sent.answer().await;
            let answer =
                answer.map_err(|down| down.error(&self.state(), index, number, Ask::Write))?;
            for one in answer.answers {
                one.map_err(|error| {
                    failure::of_write(&self.shared, &self.state(), index, number, "", error)
                })?;
            }
        }
        Ok(())
    }
}

/// Documents, parsed for the shards where they belong.
struct Reading {
    index: Arc<Index>,
    route: Route,
    /// Of each shard.
    groups: Vec<(Arena, Vec<Operation>)>,
}

impl Reading {
    fn new(index: &Arc<Index>, shards: u32, route: Route) -> Self {
        let mut groups = Vec::new();
        groups.resize_with(shards as usize, || (Arena::new(), Vec::new()));
        Self { index: Arc::clone(index), route, groups }
    }

    /// Adds a document.
    ///
    /// # Errors
    /// What was stored is none of the index any more; where its analyzers did more than they may nothing is added.
    fn read(&mut self, parser: &mut Parser, doc: &Moved) -> Result<()> {
        let number = self.route.shard(&doc.id, doc.routing.as_deref()) as usize;
        let (arena, ops) = &mut self.groups[number];
        let parsed = parser
            // The mapping may have become stricter since it was taken.
            .parse(&self.index.mapping, &doc.id, &doc.source, Mode::Replay, arena)
            .map_err(failure::of_mapping)?;
        let Parsed::Ready(at) = parsed else {
            return Err(Error::internal("a stored document has fields that its index lacks"));
        };
        ops.push(Operation {
            id: doc.id.clone(),
            routing: doc.routing.clone(),
            kind: Kind::Index { create: false, source: doc.source.clone(), doc: at as u32 },
            check: Check::ExternalGte(doc.version),
        });
        Ok(())
    }
}

impl<E: Env> Core<E> {
    /// Reads documents on a worker: they are large, or costly, and were acknowledged once, so they may be as costly
    /// as they are.
    async fn read_away(
        &self,
        uuid: [u8; 16],
        reading: Reading,
        docs: Arc<[Moved]>,
    ) -> Result<Reading> {
        let lent = Arc::new(Mutex::new(Some(reading)));
        loop {
            let (lent, docs) = (Arc::clone(&lent), Arc::clone(&docs));
            let job = move || {
                let taken = lent.lock().unwrap_or_else(PoisonError::into_inner).take();
                let mut reading = taken.ok_or_else(|| Error::internal("it was read before"))?;
                let mut parser = Parser::new();
                docs.iter().try_for_each(|doc| reading.read(&mut parser, doc))?;
                Ok(reading)
            };
            match self.work_on_kept_documents(uuid, job).await {
                Ok(read) => return read,
                Err(error) if error.kind == ErrorKind::Busy => self.env.clock().sleep(WAIT).await,
                Err(error) => return Err(Error::internal(error.to_string())),
            }
        }
    }
}

/// The source is no index, or the target is one no more.
fn no_such_index(name: &str) -> Error {
    Error::new(404, "index_not_found_exception", format!("no such index [{name}]"))
        .with("index_uuid", "_na_")
        .with("index", name)
}

/// How many shards the new index has.
fn shard_count(kind: Resize, source: &Index, asked: Option<&Value>) -> Result<u32> {
    let from = source.settings.shard_count();
    let asked = match asked {
        None | Some(Value::Null) => None,
        // Read by what reads it where an index is made, so that it is refused in the same words.
        Some(count) => {
            let alone = json::json!({"index.number_of_shards": (count.clone())});
            let read = cluster::IndexSettings::parse(&alone).map_err(failure::of_cluster)?;
            Some(read.shard_count())
        }
    };
    let wrong = |reason: String| Err(Error::illegal_argument(reason));
    match kind {
        Resize::Clone => match asked.unwrap_or(from) {
            to if to == from => Ok(to),
            to => wrong(format!(
                "the number of target shards ({to}) must be the same as the number of  source \
                 shards ( {from})"
            )),
        },
        Resize::Shrink => match asked.unwrap_or(1) {
            to if to > from => wrong(format!(
                "the number of target shards [{to}] must be less that the number of source shards \
                 [{from}]"
            )),
            to if !from.is_multiple_of(to) => {
                wrong(format!("the number of source shards [{from}] must be a multiple of [{to}]"))
            }
            to => Ok(to),
        },
        Resize::Split => {
            let Some(to) = asked else {
                return Err(Error::validation(&[
                    "index.number_of_shards is required for split operations",
                ]));
            };
            let routing = source.settings.routing_shard_count();
            split_into(from, to, routing)
        }
    }
}

/// Judges a split of `from` shards into `to`, in the order in which Elasticsearch looks.
fn split_into(from: u32, to: u32, routing: u32) -> Result<u32> {
    let wrong = |reason: String| Err(Error::illegal_argument(reason));
    if to > from && !to.is_multiple_of(from) {
        return wrong(format!("the number of source shards [{from}] must be a factor of [{to}]"));
    }
    if to < from && !from.is_multiple_of(to) {
        return wrong(format!("the number of source shards [{from}] must be a multiple of [{to}]"));
    }
    if to < from {
        return wrong(format!(
            "the number of source shards [{from}] must be less that the number of target shards [{to}]"
        ));
    }
    // One shard may be split into any number.
    if from > 1 && !routing.is_multiple_of(to) {
        let reason = format!(
            "the number of routing shards [{routing}] must be a multiple of the target shards [{to}]"
        );
        return Err(Error::new(500, "illegal_state_exception", reason));
    }
    Ok(to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_split_is_judged_in_elasticsearchs_order() {
        for (from, to, routing) in
            [(1, 1, 1024), (1, 7, 1024), (4, 4, 1024), (4, 8, 1024), (4, 12, 24)]
        {
            assert_eq!(split_into(from, to, routing).expect("possible"), to);
        }
        for (from, to, status, told) in [
            (4, 6, 400, "the number of source shards [4] must be a factor of [6]"),
            (4, 3, 400, "the number of source shards [4] must be a multiple of [3]"),
            (
                4,
                2,
                400,
                "the number of source shards [4] must be less that the number of target shards [2]",
            ),
            (
                4,
                12,
                500,
                "the number of routing shards [1024] must be a multiple of the target shards [12]",
            ),
        ] {
            let error = split_into(from, to, 1024).expect_err(told);
            assert_eq!((error.status, error.reason.as_str()), (status, told));
        }
    }

    #[test]
    fn shards_divide_those_of_the_source_and_are_small_enough() {
        for (largest, bytes, shards, expected) in [
            (100, 0, 8, 1),
            (100, 100, 8, 1),
            (100, 101, 8, 2),
            (100, 250, 8, 4),
            (100, 10_000, 8, 8),
            (100, 201, 6, 3),
            (100, 401, 6, 6),
            (100, 201, 5, 5),
        ] {
            assert_eq!(shards_of_at_most(largest, bytes, shards), expected, "{bytes} {shards}");
        }
    }

    #[test]
    fn only_shrink_may_say_how_large() {
        let body = |text: &str| json::parse(text.as_bytes()).expect("good JSON");
        let read = |kind, text: &str| largest_shard(kind, &body(text));
        assert_eq!(read(Resize::Shrink, "{}"), Ok(None));
        let said = r#"{"max_primary_shard_size":"2kb"}"#;
        assert_eq!(read(Resize::Shrink, said), Ok(Some(2_048)));
        assert!(read(Resize::Clone, said).is_err());
        assert!(read(Resize::Shrink, r#"{"max_primary_shard_size":0}"#).is_err());
        assert!(read(Resize::Shrink, r#"{"max_primary_shard_size":"much"}"#).is_err());
    }
}
