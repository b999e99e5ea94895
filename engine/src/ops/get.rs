//! Reading one document, or several, by id.

use std::rc::Rc;
use std::sync::Arc;

use base::ShardId;
use cluster::Index;
use env::budget::{Lease, Taken};
use env::{Bytes, Env, Spawn};
use mapping::document::kept::Kept;
use search::fetch::Shown;
use shard::{Reading, Realtime};

use super::bulk::routing_missing;
use super::document::{Found, GetReply, GetRequest, SourceFilter};
use crate::core::{Core, Sent};
use crate::error::{Error, Result};
use crate::gate::{self, Gate, Limits, Named};
use crate::host::call::{Ask, Down, ShardCall};
use crate::index::block::{self, Level};
use crate::index::route::Route;
use crate::index::single::{One, Purpose, resolve_one};

/// A get on its way.
struct Aim {
    index: Arc<Index>,
    number: u32,
    limits: Limits,
}

impl Aim {
    /// Whether the document may be seen is told by what stands in it.
    fn judges(&self) -> bool {
        self.limits.each().iter().any(|kind| kind.filter.is_some())
    }
}

/// What the gate is asked for several documents.
const MULTI: &str = "indices:data/read/mget[shard]";

/// How often a document is read again that changes meanwhile.
const ROUNDS_MAX: usize = 4;

/// Documents that are read at the same time for one request, at first and at most: large ones are read a
/// few at a time, for each takes all of its memory until what is wanted of it is chosen.
const TOGETHER_FIRST: usize = 8;
const TOGETHER_MAX: usize = 128;
/// Bytes above which documents read together were too many.
const TOGETHER_BYTES: usize = 1 << 20;

/// Answers of a request for several documents.
#[derive(Debug)]
pub struct Gotten {
    /// One a request.
    pub replies: Vec<Result<GetReply>>,
    /// The memory that the documents take.
    pub memory: Option<Taken>,
}

impl<E: Env> Core<E> {
    /// Reads one document.
    ///
    /// # Errors
    /// A missing index, a version that is not the one asked for, a shard that does not serve.
    pub async fn get(self: &Rc<Self>, gate: &dyn Gate, request: &GetRequest) -> Result<GetReply> {
        self.get_of(gate, &self.state(), request).await
    }

    /// As [`Self::get`]; what the name means is of the moment that is given.
    pub(super) async fn get_of(
        self: &Rc<Self>,
        gate: &dyn Gate,
        state: &cluster::State,
        request: &GetRequest,
    ) -> Result<GetReply> {
        let (aim, sent) = self.begin_get(gate, "indices:data/read/get", state, request).await?;
        self.finish_get(&aim, request, sent, &mut 0).await
    }

    /// Reads several, at the same time; each stands alone, but what their names mean is of one moment. One that finds no memory beside the others is read
    /// again when those are presented.
    pub async fn multi_get(self: &Rc<Self>, gate: &dyn Gate, requests: &[GetRequest]) -> Gotten {
        let mut replies = Vec::with_capacity(requests.len());
        let (mut memory, state) = (None, self.state());
        let (mut left, mut together) = (requests, TOGETHER_FIRST);
        while !left.is_empty() {
            let (some, rest) = left.split_at(together.min(left.len()));
            left = rest;
            let mut read_bytes = 0;
            let mut under_way = Vec::with_capacity(some.len());
            for (at, request) in some.iter().enumerate() {
                under_way.push(self.begin_get(gate, MULTI, &state, request).await);
                self.env.spawn().yield_at(at).await;
            }
            let (first, mut crowded) = (replies.len(), Vec::new());
            for (request, begun) in some.iter().zip(under_way) {
                let reply = match begun {
                    Ok((aim, sent)) => self.finish_get(&aim, request, sent, &mut read_bytes).await,
                    Err(error) => Err(error),
                };
                if some.len() > 1 && reply.as_ref().is_err_and(|error| error.status == 429) {
                    crowded.push(replies.len());
                }
                replies.push(reply.and_then(|reply| self.paid(&mut memory, reply)));
                self.env.spawn().yield_at(replies.len()).await;
            }
            for at in crowded {
                let request = &some[at - first];
                let reply = match self.begin_get(gate, MULTI, &state, request).await {
                    Ok((aim, sent)) => self.finish_get(&aim, request, sent, &mut read_bytes).await,
                    Err(error) => Err(error),
                };
                replies[at] = reply.and_then(|reply| self.paid(&mut memory, reply));
            }
            together = match read_bytes > TOGETHER_BYTES {
                true => (together / 2).max(1),
                false => (together * 2).min(TOGETHER_MAX),
            };
        }
        Gotten { replies, memory }
    }

    /// Counts what a document takes until all are answered; what does not fit any more fails alone.
    fn paid(&self, memory: &mut Option<Taken>, reply: GetReply) -> Result<GetReply> {
        let source = reply.found.as_ref().and_then(|found| found.source.as_ref());
        let bytes = source.map_or(0, |source| source.len());
        self.pay(memory, "documents", bytes).map(|()| reply)
    }

    async fn begin_get(
        self: &Rc<Self>,
        gate: &dyn Gate,
        action: &'static str,
        state: &cluster::State,
        request: &GetRequest,
    ) -> Result<(Aim, Sent<Option<shard::Found>>)> {
        let now_ms = self.now_ms();
        let (name, alias_routing, via) = one_to_read(gate, action, state, &request.index, now_ms)?;
        let asked = Named { action, expression: &request.index, names: state, now_ms };
        let told = |error| gate::told(gate, &asked, error);
        let limits = gate::ask(gate, action, &name, via.as_slice()).map_err(told)?;
        let Some(index) = state.index(&name) else {
            return Err(Error::index_not_found(&name, "index_expression"));
        };
        block::check(index, Level::Read)?;
        block::check_whole(index)?;
        let routing = match (&request.routing, alias_routing) {
            (Some(own), Some(alias)) if *own != alias => {
                return Err(Error::illegal_argument(format!(
                    "Alias [{}] has index routing associated with it [{alias}], and was provided \
                     with routing value [{own}], rejecting operation",
                    request.index
                )));
            }
            (own, alias) => own.clone().or(alias),
        };
        if routing.is_none() && index.mapping.routing_required() {
            return Err(routing_missing(&index.name, &request.id));
        }
        let number = Route::of(&index.settings).shard(&request.id, routing.as_deref());
        let shard = ShardId { index: index.uuid, number };
        let aim = Aim { index: Arc::clone(index), number, limits };
        self.settled(shard).await.map_err(|down| self.in_vain(&down, &aim, request))?;
        // Who may not see all is judged by the head; of what is hidden no more is read.
        let reading = match aim.judges() || !reads_text(request) {
            true => Reading::Head,
            false => Reading::Whole,
        };
        let sent = self.send_get(&aim, request, reading, request.refresh);
        Ok((aim, sent))
    }

    fn send_get(
        self: &Rc<Self>,
        aim: &Aim,
        request: &GetRequest,
        reading: Reading,
        refresh: bool,
    ) -> Sent<Option<shard::Found>> {
        let shard = ShardId { index: aim.index.uuid, number: aim.number };
        self.send(shard, |reply| ShardCall::Get {
            id: request.id.clone(),
            realtime: if request.realtime { Realtime::Yes } else { Realtime::No },
            reading,
            refresh,
            reply,
        })
    }

    /// The shard does not answer.
    fn in_vain(&self, down: &Down, aim: &Aim, request: &GetRequest) -> Error {
        let GetRequest { index, id, routing, .. } = request;
        let ask = Ask::Document { verb: "get", index, id, routing: routing.as_deref() };
        down.error(&self.state(), &aim.index, aim.number, ask)
    }

    /// What a caller who does not see all sees of a document whose head was read.
    async fn seen_of(
        self: &Rc<Self>,
        aim: &Aim,
        request: &GetRequest,
        mut head: Option<shard::Found>,
    ) -> Result<Option<shard::Found>> {
        for _ in 0..ROUNDS_MAX {
            let Some(found) = head else {
                self.judge_absent(&aim.index, aim.number, &aim.limits, &request.id).await?;
                return Ok(None);
            };
            let (index, number, seq_no) = (&aim.index, aim.number, found.seq_no);
            let mut seen = None;
            for kind in aim.limits.each() {
                if self.is_seen(index, number, kind, &request.id, seq_no.get()).await? {
                    seen = Some(kind);
                    break;
                }
            }
            let Some(kind) = seen else { return Ok(None) };
            if !aim.judges() || !reads_text(request) {
                return Ok(Some(shown_to(kind, index, found)));
            }
            let sent = self.send_get(aim, request, Reading::Again, false);
            let again = sent.answer().await.map_err(|down| self.in_vain(&down, aim, request))?;
            match again {
                Some(again) if again.seq_no == seq_no => {
                    return Ok(Some(shown_to(kind, index, again)));
                }
                // Another has taken its place, which nobody has judged.
                again => head = again,
            }
        }
        Ok(None)
    }

    /// What is shown of a document; what was read of it is added to `read_bytes`.
    async fn finish_get(
        self: &Rc<Self>,
        aim: &Aim,
        request: &GetRequest,
        sent: Sent<Option<shard::Found>>,
        read_bytes: &mut usize,
    ) -> Result<GetReply> {
        let found = sent.answer().await.map_err(|down| self.in_vain(&down, aim, request))?;
        let found = match aim.limits.is_unlimited() {
            true => found,
            false => self.seen_of(aim, request, found).await?,
        };
        if let (Some(found), Some(wanted)) = (&found, request.version) {
            let current = found.version as i64;
            // Whoever counts the versions: a read wants exactly the one it names.
            if current != wanted {
                return Err(Error::new(
                    409,
                    "version_conflict_engine_exception",
                    format!(
                        "[{}]: version conflict, current version [{current}] is different than the one \
                         provided [{wanted}]",
                        request.id
                    ),
                )
                .at_shard(&aim.index.uuid_text(), aim.number, &aim.index.name));
            }
        }
        *read_bytes += found.as_ref().map_or(0, held_bytes);
        let found = match found {
            None => None,
            Some(found) if is_short(&found, &aim.index, request) => {
                Some(present(found, &aim.index, request)?)
            }
            Some(found) => {
                let (index, request) = (Arc::clone(&aim.index), request.clone());
                let bytes = presenting_bytes(&found, &request);
                Some(self.presented(bytes, move || present(found, &index, &request)).await?)
            }
        };
        Ok(GetReply { index: aim.index.name.to_string(), id: request.id.clone(), found })
    }
}

impl<E: Env> Core<E> {
    /// Has a worker do what would hold this core, and takes `bytes` of memory meanwhile.
    ///
    /// # Errors
    /// Those of the job; no memory; too many wait for a worker.
    pub(super) async fn presented<T: Send + 'static>(
        &self,
        bytes: usize,
        job: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let done = self.work(with_room(self.lease.clone(), bytes, job)).await;
        done.map_err(|_| Error::rejected("too many documents wait for a worker"))?
    }

    /// As [`Core::presented`], where it is what was asked that takes long, not the document: callers have turns.
    ///
    /// # Errors
    /// As there.
    pub(super) async fn presented_in_turn<T: Send + 'static>(
        &self,
        bytes: usize,
        job: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let done = self.work_in_turn(with_room(self.lease.clone(), bytes, job)).await;
        done.map_err(|_| Error::rejected("too many searches wait for a worker"))?
    }

    /// The source as it was asked for; where choosing takes long, a worker does it.
    ///
    /// # Errors
    /// A stored document that is no JSON; too many that wait for a worker.
    pub(super) async fn chosen(
        &self,
        source: Bytes,
        filter: &SourceFilter,
    ) -> Result<Option<Bytes>> {
        if chooses_in_ns(&source, filter) <= HERE_NS_MAX {
            return filter_source(source, filter);
        }
        let filter = filter.clone();
        self.presented(source.len(), move || filter_source(source, &filter)).await
    }
}

/// A job that takes so much memory while it is at work.
fn with_room<T>(
    lease: Lease,
    bytes: usize,
    job: impl FnOnce() -> Result<T>,
) -> impl FnOnce() -> Result<T> {
    move || match lease.take(bytes) {
        Some(_taken) => job(),
        None => Err(Error::no_memory("documents", bytes, lease.total_bytes())),
    }
}

/// A document may hold its core so long on its way out.
const HERE_NS_MAX: u64 = 400_000;

/// Nanoseconds that a byte takes to be read as a tree and shown as stored fields.
const SHOW_NS: u64 = 25;

/// Nanoseconds that a field takes to meet a pattern.
const MEET_NS: u64 = 30;

/// Bytes of memory that a byte of a text takes as a tree of values.
const TREE_BYTES: usize = 6;

/// The text that is held of a document.
fn held_bytes(found: &shard::Found) -> usize {
    found.source.len() + found.stored.as_ref().map_or(0, |stored| stored.len())
}

/// Memory that presenting a document takes beside its text.
fn presenting_bytes(found: &shard::Found, request: &GetRequest) -> usize {
    let chooses = !request.source.disabled && !request.source.is_whole();
    let filtered = if chooses { found.source.len() } else { 0 };
    match request.stored_fields.is_empty() {
        true => filtered,
        false => filtered + TREE_BYTES * held_bytes(found),
    }
}

/// About how long it takes to choose what is wanted of a source.
fn chooses_in_ns(source: &[u8], filter: &SourceFilter) -> u64 {
    if filter.disabled || filter.is_whole() {
        return 0;
    }
    let (a_byte, once) = json::path::source_cost(&filter.includes, &filter.excludes);
    once.saturating_add(a_byte.saturating_mul(source.len() as u64))
}

/// Whether a document is presented before anybody else has to wait for it.
fn is_short(found: &shard::Found, index: &Index, request: &GetRequest) -> bool {
    let mut ns = chooses_in_ns(&found.source, &request.source);
    if !request.stored_fields.is_empty() {
        let bytes = held_bytes(found);
        let patterns = request.stored_fields.iter().filter(|name| name.contains('*')).count();
        let met = (patterns as u64).saturating_mul(index.mapping.fields().len() as u64);
        let once = 200 * request.stored_fields.len() as u64 + MEET_NS * met;
        ns = ns.saturating_add(once + SHOW_NS * bytes as u64);
    }
    ns <= HERE_NS_MAX
}

/// Is the document's text needed for the answer?
fn reads_text(request: &GetRequest) -> bool {
    !request.source.disabled || !request.stored_fields.is_empty()
}

/// What of a document is seen by who sees this of its kind.
fn shown_to(kind: &Limits, index: &Index, mut found: shard::Found) -> shard::Found {
    if let Some(fields) = &kind.fields {
        if !found.source.is_empty() {
            found.source = Bytes::from(fields.reduce_text(&found.source));
        }
        let stored = found.stored.as_ref().map(|stored| fields.reduce_text(stored));
        found.stored = stored.map(Bytes::from);
        if !found.ignored.is_empty() {
            // One of which a part is hidden is not told.
            let mapping = index.mapping.visible(&**fields);
            let is_known = |path: &str| mapping.lookup(path).is_some();
            found.ignored.retain(|path| fields.permits(path) && is_known(path));
        }
    }
    found
}

fn present(found: shard::Found, index: &Index, request: &GetRequest) -> Result<Found> {
    let fields = match &*request.stored_fields {
        [] => Vec::new(),
        names => {
            let stored = found.stored.as_ref().unwrap_or(&found.source);
            let kept = Kept { source: &found.source, stored };
            Shown::stored(names, &index.mapping).values(kept).0
        }
    };
    Ok(Found {
        fields,
        version: found.version,
        seq_no: found.seq_no.get(),
        primary_term: found.primary_term.get(),
        routing: found.routing,
        ignored: found.ignored,
        source: filter_source(found.source, &request.source)?,
    })
}

/// The source as it was asked for; the whole passes through as the text it is.
fn filter_source(source: Bytes, filter: &SourceFilter) -> Result<Option<Bytes>> {
    if filter.disabled || source.is_empty() {
        return Ok(None);
    }
    if filter.is_whole() {
        return Ok(Some(source));
    }
    let mut filtered = Vec::with_capacity(source.len());
    json::path::Filter::source(&filter.includes, &filter.excludes)
        .apply(&source, &mut filtered)
        .map_err(|error| Error::internal(format!("a stored document is no JSON: {error}")))?;
    // Room for all of the text would live as long as a word of it.
    filtered.shrink_to_fit();
    Ok(Some(Bytes::from(filtered)))
}

/// The one index that a document is read from, with the routing of the alias that led there, and the name of
/// the alias or data stream that did.
///
/// # Errors
/// A name of several indices, of none, or of a closed one, in Elasticsearch's words; what the gate says.
pub(super) fn one_to_read(
    gate: &dyn Gate,
    action: &'static str,
    state: &cluster::State,
    expression: &str,
    now_ms: i64,
) -> Result<(String, Option<String>, Option<String>)> {
    let asked = Named { action, expression, names: state, now_ms };
    let one = resolve_one(state, expression, now_ms, Purpose::Read)
        .map_err(|error| gate::told(gate, &asked, error))?;
    match one {
        One::Index { name, routing, via, .. } => Ok((name, routing, via)),
        One::Missing { name } => {
            // Whoever may not see the name learns nothing of it.
            gate.index(action, &name)?;
            Err(Error::index_not_found(&name, "index_expression"))
        }
    }
}
