//! Answers that are kept: a search that asks the same of the same documents finds the same, so it need not look again.
//! Elasticsearch's shard request cache, but of whole answers, where a request comes in.
//!
//! Kept is what Elasticsearch keeps by default: answers to searches that bring no hits (`size` 0), of indices that do
//! not forbid it (`index.requests.cache.enable`); any answer where `request_cache` asks for it.
//!
//! Always true
//! 1. An answer is told again to the same words alone, of the same indices as they were then (the very mapping and
//!    settings, and those of the cluster), while each shard shows the very view that was read.
//! 2. Nothing is kept of a search that may not find the same again ([`is_steady`]), of a caller to whom anything is
//!    hidden, by a filter of an alias, or of an answer that is not whole.
//! 3. A core keeps no more than its limit, taken from the node's memory; where that has none left, nothing is kept, and
//!    where it is scarce all goes. What was asked for longest ago goes first.
//! 4. The places of views, indices and settings are compared, and held occupied (`Weak`): none is taken for another.
//! 5. Nobody goes through all that is kept at once: that would hold the core.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, Weak};
use std::time::Duration;

use base::ShardId;
use base::hash::Set;
use cluster::{ClusterSettings, Index};
use env::budget::{Lease, Taken};
use env::{Clock, Env, Spawn, heap};
use memchr::memmem;
use search::request::SearchRequest;
use search::result::Memory;
use segment::View;
use shard::KeptAnswers;

use super::context::HeldShard;
use super::groups::Part;
use super::search::{SEARCH, SearchCall, SearchReply};
use super::slow::Phase;
use crate::core::Core;
use crate::gate::{self, Gate};
use crate::node::{Directory, Entry as Shard};

/// What all cores together keep, as a share of the node's memory: one part in so many, as Elasticsearch's
/// `indices.requests.cache.size`.
const SHARE: usize = 100;

/// One answer is so much of what a core keeps at most.
const ANSWER_PART: usize = 8;

/// A larger answer is not kept: to copy it takes longer than a core may be held.
const ANSWER_BYTES_MAX: usize = 256 << 10;

/// Longer words are not compared with those of other searches.
const WORDS_BYTES_MAX: usize = 16 << 10;

/// Of a search of more shards nothing is kept: to look whether all show the same takes longer than half of what a core
/// may be held.
const SHARDS_MAX: usize = 512;

/// So many answers are kept by a core at most.
const ANSWERS_MAX: usize = 2048;

/// So many are let go in one go.
const GONE_AT_ONCE: usize = 64;

/// What each answer takes beside what is measured, about; and each shard that it reads.
const ENTRY_BYTES: usize = 512;
const READ_BYTES: usize = 2 * size_of::<Read>();

/// A copy of a smaller answer is not paid for.
const FREE_BYTES: usize = 16 << 10;

/// What stands in the words of a search that may ask for the time or for chance: each is part of a name or value that
/// asks for it, and nothing else does. A backslash may hide one (`n\\ow` of a query string is `now`); decay functions take
/// the time where they are told of none.
const UNSTEADY: [&[u8]; 4] = [b"now", b"random", b"function_score", b"\\"];

/// How much one of `cores` may keep of a budget of `total` bytes.
pub(crate) fn limit(total: usize, cores: u16) -> usize {
    total / SHARE / usize::from(cores).max(1)
}

/// One shard as a search reads it.
struct Read {
    shard: ShardId,
    index: Weak<Index>,
    view: Weak<View>,
    /// How often its answers had been cleared.
    cleared: u64,
}

impl Read {
    fn is_same(&self, other: &Self) -> bool {
        self.shard == other.shard
            && self.cleared == other.cleared
            && Weak::ptr_eq(&self.index, &other.index)
            && Weak::ptr_eq(&self.view, &other.view)
    }
}

/// What an answer is kept by: the words of the search, and what it reads.
pub(super) struct Key {
    words: Arc<[u8]>,
    reads: Vec<Read>,
    /// The cluster's: they say what may be asked.
    settings: Weak<ClusterSettings>,
}

struct Entry {
    reads: Vec<Read>,
    settings: Weak<ClusterSettings>,
    reply: SearchReply,
    bytes: usize,
    asked: u64,
    _memory: Taken,
}

impl Entry {
    /// Calls `each` for what the shards count that it reads, with the part of its bytes that counts there.
    fn each(&self, directory: &Directory, each: impl Fn(&KeptAnswers, &Read, u64)) {
        let count = self.reads.len().max(1);
        let mut rest = self.bytes % count;
        for read in &self.reads {
            let part = self.bytes / count + std::mem::take(&mut rest);
            if let Some(kept) = kept_of(directory, read.shard) {
                each(kept, read, part as u64);
            }
        }
    }

    /// Counts that it is kept no more; perhaps for want of room.
    fn goes(&self, directory: &Directory, is_pressed: bool) {
        self.each(directory, |kept, read, part| {
            // What was cleared is counted already.
            if kept.cleared.get() == read.cleared {
                kept.gone_bytes.add(part);
                kept.pressed.add(u64::from(is_pressed));
            }
        });
    }
}

/// The answers that one core keeps.
pub(crate) struct Answers {
    entries: BTreeMap<Arc<[u8]>, Entry>,
    /// The words of each by when it was asked for last.
    order: BTreeMap<u64, Arc<[u8]>>,
    asked: u64,
    bytes: usize,
    bytes_max: usize,
    lease: Lease,
}

impl Answers {
    /// Room for so many bytes, taken from `lease`.
    pub(crate) fn new(bytes_max: usize, lease: Lease) -> Self {
        let (entries, order) = (BTreeMap::new(), BTreeMap::new());
        Self { entries, order, asked: 0, bytes: 0, bytes_max, lease }
    }

    /// The answer to a search that reads the same, and what a copy of it takes.
    fn find(&mut self, key: &Key) -> Option<(&SearchReply, usize)> {
        let entry = self.entries.get_mut(&key.words)?;
        let same = entry.reads.len() == key.reads.len()
            && Weak::ptr_eq(&entry.settings, &key.settings)
            && entry.reads.iter().zip(&key.reads).all(|(kept, now)| kept.is_same(now));
        if !same {
            return None;
        }
        self.asked += 1;
        if let Some(words) = self.order.remove(&entry.asked) {
            entry.asked = self.asked;
            self.order.insert(self.asked, words);
        }
        Some((&entry.reply, entry.bytes))
    }

    /// Keeps an answer, in place of an older one to the same words; calls `goes` for each that goes for it, and
    /// whether that is for want of room. False where there is no memory.
    fn keep(
        &mut self,
        key: Key,
        (reply, bytes): (SearchReply, usize),
        mut goes: impl FnMut(&Entry, bool),
    ) -> bool {
        if let Some(old) = self.remove(&key.words) {
            goes(&old, false);
        }
        while (self.bytes + bytes > self.bytes_max || self.entries.len() >= ANSWERS_MAX)
            && let Some((_, words)) = self.order.pop_first()
        {
            if let Some(entry) = self.remove(&words) {
                goes(&entry, true);
            }
        }
        let Some(memory) = self.lease.take_leaving(bytes) else { return false };
        self.asked += 1;
        self.bytes += bytes;
        self.order.insert(self.asked, Arc::clone(&key.words));
        let (Key { words, reads, settings }, asked) = (key, self.asked);
        let entry = Entry { reads, settings, reply, bytes, asked, _memory: memory };
        self.entries.insert(words, entry);
        true
    }

    fn remove(&mut self, words: &[u8]) -> Option<Entry> {
        let entry = self.entries.remove(words)?;
        self.order.remove(&entry.asked);
        self.bytes -= entry.bytes;
        Some(entry)
    }

    /// Takes out some of those for which `goes` says so, those that were asked for longest ago first.
    fn remove_some(&mut self, goes: impl Fn(&Entry) -> bool) -> Vec<Entry> {
        let going: Vec<Arc<[u8]>> = self
            .order
            .values()
            .filter(|words| self.entries.get(&***words).is_some_and(&goes))
            .take(GONE_AT_ONCE)
            .cloned()
            .collect();
        going.iter().filter_map(|words| self.remove(words)).collect()
    }
}

/// Does a search find the same again, as long as the documents are the same? Not where it reads the time or chance, a
/// script of its own, other documents, or tells how long it took. Whether words ask for the time is told by sight: who
/// looks for `nowhere` is taken to, and looks again.
fn is_steady(request: &SearchRequest, call: &SearchCall) -> bool {
    let is_plain = !request.scripted
        && !request.looks_up
        && !request.families
        && !request.profile
        && request.suggest.is_empty();
    let mut texts = call.params.iter().map(|(_, value)| value.as_bytes()).chain([&*call.body]);
    is_plain && texts.all(|text| UNSTEADY.iter().all(|word| memmem::find(text, word).is_none()))
}

/// All of a search that its answer depends on, and the shards that it reads.
fn words_of(call: &SearchCall, held: &[HeldShard]) -> Vec<u8> {
    let texts = call.params.iter().flat_map(|(name, value)| [name.as_bytes(), value.as_bytes()]);
    let mut words = Vec::with_capacity(64 + call.body.len() + 24 * held.len());
    for text in texts.chain([&*call.body]) {
        words.extend_from_slice(&(text.len() as u64).to_le_bytes());
        words.extend_from_slice(text);
    }
    for number in [call.shards_unfiltered_max, call.reduce_at_once] {
        words.extend_from_slice(&number.map_or(u64::MAX, u64::from).to_le_bytes());
    }
    for shard in held {
        words.extend_from_slice(&shard.index);
        words.extend_from_slice(&shard.number.to_le_bytes());
    }
    words
}

impl<E: Env> Core<E> {
    /// By what the answer of a search may be kept; none where it may not be.
    pub(super) fn key_of(
        &self,
        gate: &dyn Gate,
        (call, request): (&SearchCall, &SearchRequest),
        held: &[HeldShard],
    ) -> Option<Key> {
        let is_wanted = call.request_cache.unwrap_or(request.size == 0);
        let bytes = call.body.len() + call.params.iter().map(|(_, it)| it.len()).sum::<usize>();
        let is_small = (1..=SHARDS_MAX).contains(&held.len()) && bytes <= WORDS_BYTES_MAX;
        if !is_wanted || !is_small || !is_steady(request, call) {
            return None;
        }
        let directory = self.directory();
        let mut reads: Vec<Read> = Vec::with_capacity(held.len());
        for of_index in held.chunk_by(|a, b| a.index == b.index) {
            let first = &of_index[0];
            let index = self.glance(|state| state.index_by_uuid(first.index).cloned())?;
            let is_allowed =
                call.request_cache.is_some() || index.settings.flag("index.requests.cache.enable");
            let limits = gate::ask(gate, SEARCH, &first.name, &first.via).ok()?;
            if !is_allowed || !limits.is_unlimited() {
                return None;
            }
            for one in of_index {
                let view = one.view.as_ref().ok().filter(|_| one.filters.is_empty())?;
                let shard = ShardId { index: one.index, number: one.number };
                let cleared = kept_of(&directory, shard)?.cleared.get();
                let (index, view) = (Arc::downgrade(&index), Arc::downgrade(view));
                reads.push(Read { shard, index, view, cleared });
            }
        }
        let settings = self.glance(|state| Arc::downgrade(&state.settings));
        Some(Key { words: words_of(call, held).into(), reads, settings })
    }

    /// The answer that is kept of a search, counted as one that was found; none where there is none.
    pub(super) fn told_again(
        self: &Rc<Self>,
        key: &Key,
        request: &SearchRequest,
        begin: Duration,
    ) -> Option<SearchReply> {
        let mut answers = self.answers.borrow_mut();
        let found = answers.find(key).and_then(|(reply, bytes)| {
            let memory = (bytes > FREE_BYTES).then(|| self.lease().take(bytes));
            match memory {
                Some(None) => None,
                memory => Some((reply.clone(), memory.flatten())),
            }
        });
        let directory = self.directory();
        for kept in key.reads.iter().filter_map(|read| kept_of(&directory, read.shard)) {
            if found.is_some() { kept.found.add(1) } else { kept.missed.add(1) }
        }
        let (mut reply, memory) = found?;
        self.watch(key.reads.iter().map(|read| read.shard), Phase::Query).done();
        let took = self.env.clock().monotonic().saturating_sub(begin);
        if !request.groups.is_empty() {
            let index = |read: &Read| Some((read.index.upgrade()?, read.shard.number));
            let shards: Vec<(Arc<Index>, u32)> = key.reads.iter().filter_map(index).collect();
            self.count_groups(&shards, &request.groups, Part::Query, took);
        }
        reply.took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        reply.memory = memory.map(Arc::new);
        Some(reply)
    }

    /// Keeps the answer of a search, where it is whole and small.
    pub(super) fn keep_answer(&self, key: Key, reply: &SearchReply) {
        let is_whole = !reply.timed_out && reply.shards.failures.is_empty();
        let mut answers = self.answers.borrow_mut();
        let most = (answers.bytes_max / ANSWER_PART).min(ANSWER_BYTES_MAX);
        let counted = reply.memory.as_ref().map_or(0, |it| it.bytes()) + reply.more_memory.bytes();
        if !is_whole || counted > most {
            return;
        }
        let directory = self.directory();
        if self.lease().is_scarce() {
            let gone = answers.remove_some(|_| true);
            return gone.iter().for_each(|entry| entry.goes(&directory, true));
        }
        let (mut copy, copied) = heap::left_by(|| reply.clone());
        (copy.memory, copy.more_memory) = (None, Memory::default());
        let bytes = copied + key.words.len() + ENTRY_BYTES + READ_BYTES * key.reads.len();
        if bytes > most {
            return;
        }
        let words = Arc::clone(&key.words);
        if answers.keep(key, (copy, bytes), |entry, pressed| entry.goes(&directory, pressed))
            && let Some(entry) = answers.entries.get(&words)
        {
            entry.each(&directory, |kept, _, part| kept.came_bytes.add(part));
        }
    }

    /// Forgets the answers of shards: at once where they are told, and by and by what they hold on this core; on others
    /// when something else needs the room.
    pub(super) async fn clear_answers(&self, shards: &[ShardId]) {
        let directory = self.directory();
        let shards: Set<ShardId> = shards.iter().copied().collect();
        for kept in shards.iter().filter_map(|shard| kept_of(&directory, *shard)) {
            kept.cleared.add(1);
            kept.gone_bytes.add(kept.held_bytes());
            self.env.spawn().yield_if_needed().await;
        }
        let concerns = |entry: &Entry| entry.reads.iter().any(|it| shards.contains(&it.shard));
        loop {
            let gone = self.answers.borrow_mut().remove_some(concerns);
            gone.iter().for_each(|entry| entry.goes(&directory, false));
            if gone.len() < GONE_AT_ONCE {
                return;
            }
            drop(gone);
            self.env.spawn().yield_if_needed().await;
        }
    }
}

/// What a shard counts of its answers, while it serves.
fn kept_of(directory: &Directory, shard: ShardId) -> Option<&KeptAnswers> {
    match directory.shards.get(&shard) {
        Some(Shard::Open(reader)) => Some(&reader.uses().answers),
        _ => None,
    }
}
