//! Statistics of shards, for `_stats`, `_nodes/stats`, `_cluster/stats` and `_cat`: counted where
//! the work is done, summed up here; of the whole node in `node_stats`.
//!
//! Always true
//! 1. Every figure was counted; what nobody counts is not here.
//! 2. Asking costs each shard's home one message; all are asked before the first answer is awaited.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use base::ShardId;
use cluster::Index;
use env::Env;
use env::meter::Span;

pub use shard::SegmentStats as Segment;
pub use shard::Stats as Counts;
pub use shard::stats::Work;

use super::IndicesOptions;
use super::field_sizes::{self, Loaded};
use super::groups::Groups;
use super::hidden_names::HiddenNames;
use super::observe::{Health, colour};
use super::resting;
use super::since::{self, Since};
use crate::core::{Core, Sent};
use crate::error::Result;
use crate::gate::Gate;
use crate::host::call::ShardCall;
use crate::index::block::{self, Level};
use crate::index::resolve::Call;
use crate::node::{Directory, Failure, Primary};

/// How often something was done, how long it took, and how much of it is under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Times done.
    pub count: u64,
    /// Microseconds in all.
    pub time_us: u64,
    /// Under way now.
    pub current: u64,
}

impl Usage {
    fn of(span: &Span) -> Self {
        Self {
            count: span.ended.count.get(),
            time_us: span.ended.time_us.get(),
            current: span.current(),
        }
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.count += other.count;
        self.time_us += other.time_us;
        self.current += other.current;
    }
}

/// What is kept of answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// Searches that one was there for.
    pub found: u64,
    /// Searches that one might have been there for.
    pub missed: u64,
    /// Those that went for want of room.
    pub evicted: u64,
    /// What they hold now.
    pub bytes: u64,
}

impl Kept {
    fn of(answers: &shard::KeptAnswers) -> Self {
        Self {
            found: answers.found.get(),
            missed: answers.missed.get(),
            evicted: answers.pressed.get(),
            bytes: answers.held_bytes(),
        }
    }
}

impl std::ops::AddAssign for Kept {
    fn add_assign(&mut self, other: Self) {
        self.found += other.found;
        self.missed += other.missed;
        self.evicted += other.evicted;
        self.bytes += other.bytes;
    }
}

/// Counts of a shard, or of several together.
#[derive(Clone, Debug, Default)]
pub struct Stats {
    /// Shards that were counted.
    pub shards: u64,
    /// What their homes count.
    pub shard: shard::Stats,
    /// Query phases of searches.
    pub query: Usage,
    /// Fetch phases of searches.
    pub fetch: Usage,
    /// Suggesters.
    pub suggest: Usage,
    /// Scrolls, for as long as they are open.
    pub scroll: Usage,
    /// Points in time, for as long as they are open.
    pub moment: Usage,
    /// Batches of writes.
    pub bulk: Usage,
    /// Bytes of the sources in those.
    pub bulk_bytes: u64,
    /// Searches that a kept answer was there for, and those that one might have been there for.
    pub kept_answers: Kept,
    /// What sorting text and completing words keep, by field.
    pub loaded: BTreeMap<Arc<str>, Loaded>,
    /// Searches by the groups that they named; only where asked for.
    pub groups: Groups,
    /// For how long the shards have been open, in microseconds together.
    pub open_us: u64,
    /// Fields that mappings have; only of the whole node.
    pub mapped_fields: Option<u64>,
}

impl Stats {
    pub(super) fn of(reader: &shard::Reader, shard: shard::Stats, now_ms: i64) -> Self {
        let uses = reader.uses();
        let now_ms = u64::try_from(now_ms).unwrap_or(0);
        Self {
            shards: 1,
            shard,
            query: Usage::of(&uses.query),
            fetch: Usage::of(&uses.fetch),
            suggest: Usage::of(&uses.suggest),
            scroll: Usage::of(&uses.scroll),
            moment: Usage::of(&uses.moment),
            bulk: Usage::of(&uses.bulk),
            bulk_bytes: uses.bulk_bytes.get(),
            kept_answers: Kept::of(&uses.answers),
            loaded: BTreeMap::new(),
            groups: Groups::new(),
            open_us: now_ms.saturating_sub(reader.opening().begin_ms.get()) * 1_000,
            mapped_fields: None,
        }
    }

    /// What only grows as long as the shards are open; all else is 0.
    #[must_use]
    pub fn counters(&self) -> Self {
        let ended = |usage: Usage| Usage { current: 0, ..usage };
        Self {
            shard: self.shard.counters(),
            query: ended(self.query),
            fetch: ended(self.fetch),
            suggest: ended(self.suggest),
            scroll: ended(self.scroll),
            moment: ended(self.moment),
            bulk: ended(self.bulk),
            bulk_bytes: self.bulk_bytes,
            kept_answers: Kept { bytes: 0, ..self.kept_answers },
            open_us: self.open_us,
            ..Self::default()
        }
    }

    /// Searches that are held open: scrolls and points in time.
    pub fn open_contexts(&self) -> u64 {
        self.scroll.current + self.moment.current
    }

    /// The share of their time that the shards have spent on indexing.
    pub fn write_load(&self) -> f64 {
        if self.open_us == 0 { 0.0 } else { self.shard.index.time_us as f64 / self.open_us as f64 }
    }

    /// The sum of several.
    pub fn sum<'a>(all: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut sum = Self::default();
        for one in all {
            sum += one;
        }
        sum
    }
}

impl std::ops::AddAssign<&Stats> for Stats {
    fn add_assign(&mut self, other: &Self) {
        self.shards += other.shards;
        self.shard += &other.shard;
        self.query += other.query;
        self.fetch += other.fetch;
        self.suggest += other.suggest;
        self.scroll += other.scroll;
        self.moment += other.moment;
        self.bulk += other.bulk;
        self.bulk_bytes += other.bulk_bytes;
        self.kept_answers += other.kept_answers;
        self.open_us += other.open_us;
        for (name, group) in &other.groups {
            *self.groups.entry(name.clone()).or_default() += *group;
        }
        for (field, loaded) in &other.loaded {
            let known = self.loaded.entry(Arc::clone(field)).or_default();
            known.fielddata += loaded.fielddata;
            known.completion += loaded.completion;
        }
    }
}

/// How a shard does.
#[derive(Clone, Debug)]
pub enum Standing {
    /// It serves; its counts.
    Started(Box<Stats>),
    /// It replays.
    Initializing,
    /// It serves no more.
    Failed(Failure),
    /// Its index is closed: its files are there as far as is known, and nobody reads them; what they told when
    /// they were looked at last. None while it is being closed.
    Closed(Option<Box<Stats>>),
}

impl Standing {
    /// Its counts, where it serves.
    pub fn stats(&self) -> Option<&Stats> {
        match self {
            Self::Started(stats) | Self::Closed(Some(stats)) => Some(stats),
            _ => None,
        }
    }

    /// It serves, or its index is closed and its files are there.
    pub const fn is_active(&self) -> bool {
        matches!(self, Self::Started(_) | Self::Closed(_))
    }

    /// Elasticsearch's word.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Started(_) | Self::Closed(_) => "STARTED",
            Self::Initializing => "INITIALIZING",
            Self::Failed(_) => "UNASSIGNED",
        }
    }
}

/// One primary shard.
#[derive(Clone, Debug)]
pub struct ShardStats {
    /// Its number.
    pub number: u32,
    /// How it does.
    pub standing: Standing,
}

/// One index.
#[derive(Clone, Debug)]
pub struct IndexStats {
    /// The index.
    pub index: Arc<Index>,
    /// Its colour.
    pub health: Health,
    /// Its primary shards, by number. A node alone holds no replica.
    pub shards: Vec<ShardStats>,
}

impl IndexStats {
    /// Counts of all shards that serve.
    pub fn sum(&self) -> Stats {
        Stats::sum(self.shards.iter().filter_map(|shard| shard.standing.stats()))
    }

    /// Shards that serve.
    pub fn started_count(&self) -> usize {
        self.shards.iter().filter(|shard| shard.standing.stats().is_some()).count()
    }
}

/// Segments of one shard.
#[derive(Clone, Debug)]
pub struct SegmentRows {
    /// Its index.
    pub index: Arc<Index>,
    /// Its number.
    pub number: u32,
    /// The segments; none where it does not serve.
    pub segments: Option<Vec<shard::SegmentStats>>,
}

/// How one shard came to be open.
#[derive(Clone, Debug)]
pub struct RecoveryRow {
    /// Its index.
    pub index: Arc<Index>,
    /// Its number.
    pub number: u32,
    /// Where its documents came from.
    pub origin: Origin,
    /// It serves.
    pub done: bool,
    /// When opening it began, in milliseconds since 1970.
    pub begin_ms: u64,
    /// Microseconds until it served.
    pub took_us: u64,
    /// Files of its segments, as it was opened or as its documents had been copied.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Operations replayed out of the log.
    pub replayed: u64,
}

impl RecoveryRow {
    /// How far it is, in Elasticsearch's word.
    pub fn stage(&self) -> &'static str {
        match (self.done, self.origin) {
            (true, _) => "DONE",
            // Its documents are on their way from another index.
            (false, Origin::Local) => "INDEX",
            (false, Origin::Empty | Origin::Existing) => "TRANSLOG",
        }
    }

    /// Files and bytes that were made for it; the others of [`RecoveryRow::files`] lay there and are used.
    pub fn recovered(&self) -> (u64, u64) {
        match self.origin {
            Origin::Local => (self.files, self.bytes),
            Origin::Empty | Origin::Existing => (0, 0),
        }
    }
}

/// Where the documents of a shard came from when it was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It was made, empty.
    Empty,
    /// It was there before.
    Existing,
    /// It was made of the shards of another index.
    Local,
}

impl Origin {
    /// Elasticsearch's word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Empty => "EMPTY_STORE",
            Self::Existing => "EXISTING_STORE",
            Self::Local => "LOCAL_SHARDS",
        }
    }
}

/// Copies of shards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShardCounts {
    /// Those that have a place.
    pub assigned: u64,
    /// Those that have none.
    pub unassigned: u64,
}

/// What is done with closed indices that are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closed {
    /// They are shown.
    Show,
    /// They are an error.
    Forbid,
}

impl<E: Env> Core<E> {
    /// Statistics of the named indices, sorted by name.
    ///
    /// # Errors
    /// A missing index; a closed one where that is forbidden; what the gate says.
    pub async fn index_stats(
        self: &Rc<Self>,
        gate: &dyn Gate,
        action: &'static str,
        expression: &str,
        options: IndicesOptions,
        closed: Closed,
    ) -> Result<Vec<IndexStats>> {
        let call = Call { forbid_closed: closed == Closed::Forbid, ..Call::new(options) };
        let mut reached = self.reached(gate, action, expression, call).await?;
        // The cluster's own sums name no index.
        if action.starts_with("indices:") {
            block::check_all(reached.iter().map(|one| &*one.index), Level::MetadataRead)?;
        }
        reached.sort_by(|a, b| a.index.name.cmp(&b.index.name));
        let hidden = HiddenNames::new(reached.iter().map(|one| (one.index.uuid, one.seen(gate))));
        let indices: Vec<Arc<Index>> = reached.into_iter().map(|one| one.index).collect();
        self.look_after_closed(indices.iter().map(|index| &**index)).await;
        let asked = indices.len();
        let mut rows = self.ask_stats(indices, closed).await;
        if rows.len() < asked {
            // Some are gone meanwhile: whoever named one is told so, as who asks now.
            self.reached(gate, action, expression, call).await?;
        }
        rows.iter_mut().for_each(|row| hidden.leave_out_of_index(row));
        Ok(rows)
    }

    /// Segments of the named indices, sorted by name and shard; of shards that serve.
    ///
    /// # Errors
    /// A missing or closed index; what the gate says.
    pub async fn segment_rows(
        self: &Rc<Self>,
        gate: &dyn Gate,
        expression: &str,
        options: IndicesOptions,
    ) -> Result<Vec<SegmentRows>> {
        let action = "indices:monitor/segments";
        let mut indices = self.indices(gate, action, expression, Call::new(options)).await?;
        block::check_all(indices.iter().map(|index| &**index), Level::MetadataRead)?;
        indices.sort_by(|a, b| a.name.cmp(&b.name));
        let mut under_way = Vec::new();
        // Those of an index that is still being made are nobody's yet.
        for index in indices.into_iter().filter(|index| !index.copying) {
            for number in 0..index.settings.shard_count() {
                let shard = ShardId { index: index.uuid, number };
                let sent = self.send(shard, |reply| ShardCall::Segments { reply });
                under_way.push((Arc::clone(&index), number, sent));
            }
        }
        let mut rows = Vec::with_capacity(under_way.len());
        for (index, number, sent) in under_way {
            let segments = sent.answer().await.ok();
            if segments.is_none() && !matches!(since::of(&self.state(), &index), Since::Same) {
                continue;
            }
            rows.push(SegmentRows { index, number, segments });
        }
        Ok(rows)
    }

    /// How the shards of the named indices came to be open, sorted by name and number. A closed
    /// index shows its shards as they lie: nothing was recovered since.
    ///
    /// # Errors
    /// A missing index, one that may not be read; what the gate says.
    pub async fn recovery_rows(
        self: &Rc<Self>,
        gate: &dyn Gate,
        expression: &str,
        options: IndicesOptions,
    ) -> Result<Vec<RecoveryRow>> {
        let call = Call { forbid_closed: false, ..Call::new(options) };
        let mut indices = self.indices(gate, "indices:monitor/recovery", expression, call).await?;
        block::check_all(indices.iter().map(|index| &**index), Level::Read)?;
        indices.sort_by(|a, b| a.name.cmp(&b.name));
        let directory = self.directory();
        let mut rows = Vec::new();
        for index in indices {
            for number in 0..index.settings.shard_count() {
                let made_of = index.settings.text("index.resize.source.uuid");
                let mut row = RecoveryRow {
                    index: Arc::clone(&index),
                    number,
                    origin: Origin::Existing,
                    done: true,
                    begin_ms: u64::try_from(index.created_ms).unwrap_or(0),
                    took_us: 0,
                    files: 0,
                    bytes: 0,
                    replayed: 0,
                };
                match directory.primary(&index, number) {
                    Primary::Started(reader) => {
                        let opening = reader.opening();
                        row.origin = match (opening.existing.get(), made_of) {
                            (1, _) => Origin::Existing,
                            (_, Some(_)) => Origin::Local,
                            (_, None) => Origin::Empty,
                        };
                        row.begin_ms = opening.begin_ms.get();
                        row.took_us = opening.took_us.get();
                        row.files = opening.files.get();
                        row.bytes = opening.bytes.get();
                        row.replayed = opening.replayed.get();
                    }
                    Primary::Failed(_) => continue,
                    Primary::Initializing => {
                        row.done = false;
                        if index.copying && made_of.is_some() {
                            row.origin = Origin::Local;
                        }
                        let begun_ms = i64::try_from(row.begin_ms).unwrap_or(0);
                        let took_ms = self.now_ms().saturating_sub(begun_ms);
                        row.took_us = u64::try_from(took_ms).unwrap_or(0).saturating_mul(1_000);
                    }
                    Primary::Closed => {
                        if let Some(resting) = directory.resting(&index, number) {
                            row.files = resting.stats.segment_count;
                            row.bytes = resting.stats.segment_bytes;
                        }
                    }
                }
                rows.push(row);
            }
        }
        Ok(rows)
    }

    /// How many copies of shards have a place, and how many have none.
    pub fn shard_counts(&self) -> ShardCounts {
        let (state, directory) = (self.state(), self.directory());
        let mut counts = ShardCounts::default();
        for index in state.indices.values() {
            let primaries = index.settings.shard_count();
            counts.unassigned += u64::from(primaries) * u64::from(index.settings.replica_count());
            for number in 0..primaries {
                match directory.primary(index, number) {
                    Primary::Started(_) | Primary::Initializing | Primary::Closed => {
                        counts.assigned += 1;
                    }
                    Primary::Failed(_) => counts.unassigned += 1,
                }
            }
        }
        counts
    }

    /// The named indices, sorted by name; closed ones too.
    ///
    /// # Errors
    /// A missing index; what the gate says.
    pub async fn named_indices(
        self: &Rc<Self>,
        gate: &dyn Gate,
        action: &'static str,
        expression: &str,
        options: IndicesOptions,
    ) -> Result<Vec<Arc<Index>>> {
        let call = Call { forbid_closed: false, ..Call::new(options) };
        let mut indices = self.indices(gate, action, expression, call).await?;
        indices.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(indices)
    }

    /// Counts of these indices, but for those that are deleted meanwhile, or closed where that is an error.
    async fn ask_stats(
        self: &Rc<Self>,
        indices: Vec<Arc<Index>>,
        closed: Closed,
    ) -> Vec<IndexStats> {
        let directory = self.directory();
        let mut under_way = Vec::with_capacity(indices.len());
        for index in indices {
            if !index.open {
                let shards = at_rest(&directory, &index).into_iter();
                under_way.push((index, shards.map(|shard| Asked::Not(shard.standing)).collect()));
                continue;
            }
            let asked: Vec<Asked> = (0..index.settings.shard_count())
                .map(|number| {
                    let shard = ShardId { index: index.uuid, number };
                    match directory.primary(&index, number) {
                        Primary::Failed(failure) => Asked::Not(Standing::Failed(failure.clone())),
                        Primary::Started(reader) => {
                            let sent = self.send(shard, |reply| ShardCall::Stats { reply });
                            Asked::Open(reader.clone(), sent)
                        }
                        _ => Asked::Not(Standing::Initializing),
                    }
                })
                .collect();
            under_way.push((index, asked));
        }
        let mut rows = Vec::with_capacity(under_way.len());
        for (mut index, asked) in under_way {
            let mut shards = Vec::with_capacity(asked.len());
            for (number, asked) in (0..).zip(asked) {
                let standing = self.standing_of(&index, asked).await;
                shards.push(ShardStats { number, standing });
            }
            if shards.iter().any(|shard| !matches!(shard.standing, Standing::Started(_))) {
                match since::of(&self.state(), &index) {
                    Since::Deleted => continue,
                    Since::Closed(_) if closed == Closed::Forbid => continue,
                    Since::Closed(now) => {
                        shards = at_rest(&self.directory(), &now);
                        index = now;
                    }
                    Since::Same => {}
                }
            }
            let any = |is: fn(&Standing) -> bool| shards.iter().any(|shard| is(&shard.standing));
            let is_lost = any(|standing| matches!(standing, Standing::Failed(_)));
            let is_late = any(|standing| matches!(standing, Standing::Initializing));
            let health = colour(&index, is_lost, is_late);
            rows.push(IndexStats { index, health, shards });
        }
        rows
    }

    /// How a shard stands that was asked.
    async fn standing_of(self: &Rc<Self>, index: &Index, asked: Asked) -> Standing {
        let (reader, sent) = match asked {
            Asked::Not(standing) => return standing,
            Asked::Open(reader, sent) => (reader, sent),
        };
        match sent.answer().await {
            Ok(counts) => {
                let mut stats = Stats::of(&reader, counts, self.now_ms());
                stats.loaded = field_sizes::loaded(&index.mapping, &reader.view.load());
                Standing::Started(Box::new(stats))
            }
            Err(down) => {
                // The keeper hears of damage a moment later than who meets it.
                Standing::Failed(Failure {
                    why: self.shared.told(&down.to_string()).into(),
                    at_ms: self.now_ms(),
                    attempts: 1,
                })
            }
        }
    }
}

/// A shard that counts are asked of.
enum Asked {
    Open(shard::Reader, Sent<shard::Stats>),
    Not(Standing),
}

/// The shards of a closed index.
fn at_rest(directory: &Directory, index: &Index) -> Vec<ShardStats> {
    let standing = |number| match directory.primary(index, number) {
        Primary::Failed(failure) => Standing::Failed(failure.clone()),
        _ => Standing::Closed(resting::figures(directory, index, number)),
    };
    let numbers = 0..index.settings.shard_count();
    numbers.map(|number| ShardStats { number, standing: standing(number) }).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn sums_add_every_figure() {
        let span = Span::default();
        span.begun.add(3);
        span.ended.add(Duration::from_millis(2));
        let query = Usage::of(&span);
        assert_eq!(query, Usage { count: 1, time_us: 2_000, current: 2 });
        let counts = shard::Stats { docs_count: 4, merge_current: 1, ..shard::Stats::default() };
        let one = Stats {
            shards: 1,
            shard: counts,
            query,
            bulk_bytes: 7,
            open_us: 5,
            ..Stats::default()
        };
        let sum = Stats::sum([&one, &one]);
        assert_eq!((sum.shards, sum.shard.docs_count, sum.shard.merge_current), (2, 8, 2));
        assert_eq!((sum.query.time_us, sum.query.current, sum.bulk_bytes), (4_000, 4, 14));
        assert_eq!(sum.open_us, 10);
    }
}
