//! What searches leave open: scrolls and points in time, each holding the views it reads.
//!
//! All of them live on the keeper's core, so their number is exact; they are plain data, and the
//! core that is asked does the work. A context that nobody asked for in its time is forgotten.
//!
//! Always true
//! 1. An identifier holds a secret, so nobody finds another's context by counting; and a context
//!    answers its owner only.
//! 2. While any context is open, one task looks every second for those whose time is over, and for those whose
//!    owner would not be let in any more: what a credential opened ends with it.
//!
//! Not here: searching in them (`search`, `scroll`).

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use base::ShardId;
use base::hash::Map;
use env::reply::{self, Reply};
use env::{Clock, Env, Random, Spawn};
use json::Value;
use search::request::SearchRequest;
use search::result::{Key, Total};
use segment::View;

use crate::core::{Core, KEEPER};
use crate::error::{Error, Result};
use crate::gate::Standing;
use crate::host::call::Message;
use crate::node;
use crate::ops::ShardFailure;

/// `search.max_open_scroll_context` where it cannot be read; counts points in time too.
const OPEN_MAX: usize = 500;

/// `search.max_keep_alive` where it cannot be read.
const KEEP_ALIVE_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// How often contexts whose time is over are looked for.
const SWEEP: Duration = Duration::from_secs(1);

/// How many owners are asked about before other tasks may run.
const ASKED: usize = 100;

/// Kinds of context: the first byte of an identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContextKind {
    /// A search that goes on.
    Scroll = 0x53,
    /// A moment that searches share.
    PointInTime = 0x50,
}

/// One shard as a context holds it.
#[derive(Clone)]
pub struct HeldShard {
    /// Id of the index.
    pub index: [u8; 16],
    /// Its name then.
    pub name: Arc<str>,
    /// Number of the shard.
    pub number: u32,
    /// Filters of the aliases that led there; any of them; empty: none.
    pub filters: Vec<Value>,
    /// The aliases that led there; empty where the index itself was named.
    pub via: Vec<String>,
    /// What a search sees, or why nothing.
    pub view: std::result::Result<Arc<View>, Error>,
}

/// How far a scroll is.
#[derive(Clone)]
pub struct Scrolling {
    /// What it asks.
    pub request: Arc<SearchRequest>,
    /// Keys of the last hit told; `None` before the first.
    pub after: Option<Arc<[Key]>>,
    /// All hits, as counted at the beginning.
    pub total: Option<Total>,
    /// Their best score.
    pub max_score: Option<f32>,
    /// Shards that failed meanwhile make the whole fail.
    pub partial_results: bool,
    /// What it asked, in its own words, for the slow log.
    pub source: Arc<[u8]>,
}

/// What is held open.
#[derive(Clone)]
pub struct Context {
    /// Who may use it.
    pub owner: String,
    /// What let its owner in; `None` is for ever.
    pub standing: Option<Arc<dyn Standing>>,
    /// What it is.
    pub kind: ContextKind,
    /// The shards, in the order in which they are numbered.
    pub shards: Arc<[HeldShard]>,
    /// Of a scroll.
    pub scrolling: Option<Scrolling>,
}

/// Identifies a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextId {
    kind: u8,
    number: u64,
    secret: u64,
}

impl ContextId {
    /// As callers see it.
    pub fn text(self) -> String {
        let mut bytes = [0; 18];
        bytes[0] = self.kind;
        bytes[1..9].copy_from_slice(&self.number.to_be_bytes());
        bytes[9..17].copy_from_slice(&self.secret.to_be_bytes());
        let mut text = String::with_capacity(24);
        for three in bytes.chunks_exact(3) {
            let number = u32::from(three[0]) << 16 | u32::from(three[1]) << 8 | u32::from(three[2]);
            for shift in [18, 12, 6, 0] {
                text.push(char::from(ALPHABET[(number >> shift & 63) as usize]));
            }
        }
        text
    }

    /// Reads what [`ContextId::text`] wrote; `None` for anything else.
    pub fn parse(text: &str, kind: ContextKind) -> Option<Self> {
        if text.len() != 24 {
            return None;
        }
        let mut bytes = [0; 18];
        for (four, three) in text.as_bytes().chunks_exact(4).zip(bytes.chunks_exact_mut(3)) {
            let mut number = 0;
            for letter in four {
                let digit = ALPHABET.iter().position(|known| known == letter)?;
                number = number << 6 | digit as u32;
            }
            three.copy_from_slice(&number.to_be_bytes()[1..]);
        }
        let number =
            |at: usize| bytes[at..at + 8].first_chunk().map(|chunk| u64::from_be_bytes(*chunk));
        let id = Self { kind: bytes[0], number: number(1)?, secret: number(9)? };
        (id.kind == kind as u8 && bytes[17] == 0).then_some(id)
    }

    /// The number that errors name.
    pub fn number(self) -> u64 {
        self.number
    }
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// What is asked of the keeper's contexts.
pub enum ContextCall {
    /// Opens one.
    Open {
        /// It.
        context: Box<Context>,
        /// For how long it stays without being asked for.
        keep_alive: Duration,
        /// Its identifier, or why there is none.
        reply: Reply<Result<ContextId>>,
    },
    /// Looks one up, and lets it live on.
    Use {
        /// Which.
        id: ContextId,
        /// For whom.
        owner: String,
        /// For how long it stays from now; `None`: as long as before.
        keep_alive: Option<Duration>,
        /// It, where it is open and the owner's.
        reply: Reply<Option<Context>>,
    },
    /// A scroll has gone on.
    Move {
        /// Which.
        id: ContextId,
        /// To where.
        scrolling: Scrolling,
        /// When it is noted.
        reply: Reply<()>,
    },
    /// Closes some, or all of a kind.
    Close {
        /// Which; `None`: all of the owner's.
        ids: Option<Vec<ContextId>>,
        /// Whose; `None`: everybody's.
        owner: Option<String>,
        /// Of which kind.
        kind: ContextKind,
        /// How many were open.
        reply: Reply<usize>,
    },
    /// Counts those that are open.
    Count {
        /// Scrolls, points in time.
        reply: Reply<(usize, usize)>,
    },
}

struct Entry {
    secret: u64,
    context: Context,
    keep_alive: Duration,
    expires: Duration,
    /// The shards that count it, and when it was opened.
    counted: Vec<shard::Reader>,
    opened: Duration,
}

impl Entry {
    fn end(&self, now: Duration) {
        for reader in &self.counted {
            let span = span_of(reader.uses(), self.context.kind);
            span.ended.add(now.saturating_sub(self.opened));
        }
    }
}

/// Where contexts of a kind are counted.
fn span_of(uses: &shard::Uses, kind: ContextKind) -> &env::meter::Span {
    match kind {
        ContextKind::Scroll => &uses.scroll,
        ContextKind::PointInTime => &uses.moment,
    }
}

/// The open contexts; only the keeper's core has any.
#[derive(Default)]
pub(crate) struct Contexts {
    count: u64,
    open: Map<u64, Entry>,
    is_swept: bool,
}

impl Contexts {
    fn entry(&mut self, id: ContextId, owner: &str) -> Option<&mut Entry> {
        let entry = self.open.get_mut(&id.number)?;
        let is_it = entry.secret == id.secret
            && entry.context.kind as u8 == id.kind
            && entry.context.owner == owner;
        is_it.then_some(entry)
    }

    /// Closes all but those that `stays` wants.
    fn retain(&mut self, now: Duration, stays: impl Fn(u64, &Entry) -> bool) {
        self.open.retain(|number, entry| {
            let stays = stays(*number, entry);
            if !stays {
                entry.end(now);
            }
            stays
        });
    }
}

impl<E: Env> Core<E> {
    /// Opens a context.
    pub(crate) async fn open_context(
        self: &Rc<Self>,
        context: Context,
        keep_alive: Duration,
    ) -> Result<ContextId> {
        let context = Box::new(context);
        self.ask_contexts(|reply| ContextCall::Open { context, keep_alive, reply })
            .await
            .unwrap_or_else(|| Err(Error::internal("the node is stopping")))
    }

    /// An open context of the owner.
    pub(crate) async fn use_context(
        self: &Rc<Self>,
        id: ContextId,
        owner: &str,
        keep_alive: Option<Duration>,
    ) -> Option<Context> {
        let owner = owner.to_owned();
        self.ask_contexts(|reply| ContextCall::Use { id, owner, keep_alive, reply }).await.flatten()
    }

    /// Notes how far a scroll is.
    pub(crate) async fn move_context(self: &Rc<Self>, id: ContextId, scrolling: Scrolling) {
        self.ask_contexts(|reply| ContextCall::Move { id, scrolling, reply }).await;
    }

    /// Closes contexts of an owner, or of everybody; how many of them were open.
    pub async fn close_contexts(
        self: &Rc<Self>,
        ids: Option<Vec<ContextId>>,
        owner: Option<&str>,
        kind: ContextKind,
    ) -> usize {
        let owner = owner.map(str::to_owned);
        let closed = self.ask_contexts(|reply| ContextCall::Close { ids, owner, kind, reply });
        closed.await.unwrap_or_default()
    }

    /// Open scrolls and points in time.
    pub async fn count_contexts(self: &Rc<Self>) -> (usize, usize) {
        self.ask_contexts(|reply| ContextCall::Count { reply }).await.unwrap_or_default()
    }

    fn ask_contexts<T>(
        self: &Rc<Self>,
        make: impl FnOnce(Reply<T>) -> ContextCall,
    ) -> reply::Answer<T> {
        let (reply, answer) = reply::channel();
        let call = make(reply);
        if self.id == KEEPER {
            self.answer_contexts(call);
        } else {
            self.shared.core(KEEPER).send_reply(Message::Context(Box::new(call)));
        }
        answer
    }

    /// Answers on the keeper's core.
    pub(crate) fn answer_contexts(self: &Rc<Self>, call: ContextCall) {
        let now = self.env.clock().monotonic();
        let mut contexts = self.contexts.borrow_mut();
        match call {
            ContextCall::Open { context, keep_alive, reply } => {
                contexts.retain(now, |_, entry| entry.expires > now);
                let most = self.state().settings.int("search.max_open_scroll_context");
                let most = most.map_or(OPEN_MAX, |most| usize::try_from(most).unwrap_or(0));
                if contexts.open.len() >= most {
                    drop(contexts);
                    return reply.send(Err(too_many(most)));
                }
                contexts.count += 1;
                let number = contexts.count;
                let mut secret = [0; 8];
                self.env.random().fill(&mut secret);
                let secret = u64::from_le_bytes(secret);
                let id = ContextId { kind: context.kind as u8, number, secret };
                let expires = now + keep_alive;
                let counted = self.count_context(&context);
                let context = *context;
                let opened = now;
                let entry = Entry { secret, context, keep_alive, expires, counted, opened };
                contexts.open.insert(number, entry);
                let is_swept = std::mem::replace(&mut contexts.is_swept, true);
                drop(contexts);
                if !is_swept {
                    let core = Rc::clone(self);
                    self.env.spawn().spawn(async move { core.sweep_contexts().await });
                }
                reply.send(Ok(id));
            }
            ContextCall::Use { id, owner, keep_alive, reply } => {
                let found = contexts.entry(id, &owner).filter(|entry| entry.expires > now);
                let context = found.map(|entry| {
                    entry.keep_alive = keep_alive.unwrap_or(entry.keep_alive);
                    entry.expires = now + entry.keep_alive;
                    entry.context.clone()
                });
                drop(contexts);
                reply.send(context);
            }
            ContextCall::Move { id, scrolling, reply } => {
                if let Some(entry) = contexts.open.get_mut(&id.number)
                    && entry.secret == id.secret
                {
                    entry.context.scrolling = Some(scrolling);
                }
                drop(contexts);
                reply.send(());
            }
            ContextCall::Close { ids, owner, kind, reply } => {
                // Counted as there: each of its shards has one.
                let count = |context: &Context| context.shards.len();
                let sum = |contexts: &Contexts| {
                    contexts.open.values().map(|entry| count(&entry.context)).sum::<usize>()
                };
                let before = sum(&contexts);
                match ids {
                    Some(ids) => {
                        for id in ids {
                            let known = contexts.open.get(&id.number);
                            let owner = match (&owner, known) {
                                (Some(owner), _) => owner.clone(),
                                (None, Some(entry)) => entry.context.owner.clone(),
                                (None, None) => continue,
                            };
                            if contexts.entry(id, &owner).is_some()
                                && let Some(entry) = contexts.open.remove(&id.number)
                            {
                                entry.end(now);
                            }
                        }
                    }
                    None => contexts.retain(now, |_, entry| {
                        let is_theirs =
                            owner.as_ref().is_none_or(|owner| entry.context.owner == *owner);
                        entry.context.kind != kind || !is_theirs
                    }),
                }
                let closed = before - sum(&contexts);
                drop(contexts);
                reply.send(closed);
            }
            ContextCall::Count { reply } => {
                let all = contexts.open.len();
                let scrolls = contexts.open.values();
                let scrolls =
                    scrolls.filter(|entry| entry.context.kind == ContextKind::Scroll).count();
                drop(contexts);
                reply.send((scrolls, all - scrolls));
            }
        }
    }

    /// Counts a context at its shards.
    fn count_context(&self, context: &Context) -> Vec<shard::Reader> {
        let directory = self.directory();
        let readers = context.shards.iter().filter_map(|held| {
            match directory.shards.get(&ShardId { index: held.index, number: held.number }) {
                Some(node::Entry::Open(reader)) => Some(reader.clone()),
                _ => None,
            }
        });
        readers.inspect(|reader| span_of(reader.uses(), context.kind).begun.add(1)).collect()
    }

    /// Checks how long a context is to be kept.
    ///
    /// # Errors
    /// Longer than `search.max_keep_alive`.
    pub(crate) fn check_keep_alive(&self, keep_alive_ms: u64, text: &str) -> Result<Duration> {
        let most = self.state().settings.time("search.max_keep_alive");
        let most = most.unwrap_or(KEEP_ALIVE_MAX);
        let keep_alive = Duration::from_millis(keep_alive_ms);
        if keep_alive > most {
            let most = short(most);
            return Err(Error::illegal_argument(format!(
                "Keep alive for request ({text}) is too large. It must be less than ({most}). This \
                 limit can be set by changing the [search.max_keep_alive] cluster level setting."
            )));
        }
        Ok(keep_alive)
    }

    async fn sweep_contexts(self: Rc<Self>) {
        loop {
            self.env.clock().sleep(SWEEP).await;
            let now = self.env.clock().monotonic();
            self.contexts.borrow_mut().retain(now, |_, entry| entry.expires > now);
            self.end_orphans().await;
            let mut contexts = self.contexts.borrow_mut();
            if contexts.open.is_empty() {
                contexts.is_swept = false;
                return;
            }
        }
    }

    /// Closes contexts whose owners would not be let in any more.
    async fn end_orphans(self: &Rc<Self>) {
        let open: Vec<(u64, Arc<dyn Standing>)> = {
            let contexts = self.contexts.borrow();
            let standing = contexts.open.iter();
            standing
                .filter_map(|(number, entry)| Some((*number, entry.context.standing.clone()?)))
                .collect()
        };
        for some in open.chunks(ASKED) {
            let now_ms = self.env.clock().unix_ms();
            let orphans = some.iter().filter(|(_, standing)| !standing.holds(now_ms));
            let orphans: Vec<u64> = orphans.map(|(number, _)| *number).collect();
            let now = self.env.clock().monotonic();
            for number in orphans {
                if let Some(entry) = self.contexts.borrow_mut().open.remove(&number) {
                    entry.end(now);
                }
            }
            self.env.spawn().yield_if_needed().await;
        }
    }
}

fn too_many(most: usize) -> Error {
    Error::new(
        429,
        "es_rejected_execution_exception",
        format!(
            "Trying to create too many scroll contexts. Must be less than or equal to: \
             [{most}]. This limit can be set by changing the [search.max_open_scroll_context] \
             setting."
        ),
    )
}

/// A time in the largest unit that tells it whole.
fn short(time: Duration) -> String {
    let ms = time.as_millis();
    let units = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000)];
    match units.iter().find(|(_, unit)| ms > 0 && ms.is_multiple_of(*unit)) {
        Some((name, unit)) => format!("{}{name}", ms / unit),
        None => format!("{ms}ms"),
    }
}

/// 404: it was closed, its time is over, or it is another's.
pub fn missing(id: ContextId) -> Error {
    let cause = Error::new(
        404,
        "search_context_missing_exception",
        format!("No search context found for id [{}]", id.number()),
    );
    let mut error = super::failure::of_all_shards(&[ShardFailure {
        shard: u32::MAX,
        index: String::new(),
        node: None,
        reason: cause,
    }]);
    error.status = 404;
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_read_back_and_nothing_else_is() {
        for number in [0, 1, u64::MAX] {
            let id = ContextId { kind: ContextKind::Scroll as u8, number, secret: !number };
            assert_eq!(ContextId::parse(&id.text(), ContextKind::Scroll), Some(id));
            assert_eq!(ContextId::parse(&id.text(), ContextKind::PointInTime), None);
        }
        for text in
            ["", "foo", "AAAAAAAAAAAAAAAAAAAAAAAA", "++++++++++++++++++++++++", "ünüxüéüüüüüü"]
        {
            assert_eq!(ContextId::parse(text, ContextKind::Scroll), None, "{text}");
        }
    }

    #[test]
    fn times_are_told_in_their_largest_unit() {
        for (ms, text) in
            [(0, "0ms"), (1, "1ms"), (2000, "2s"), (5_400_000, "90m"), (86_400_000, "1d")]
        {
            assert_eq!(short(Duration::from_millis(ms)), text);
        }
    }
}
