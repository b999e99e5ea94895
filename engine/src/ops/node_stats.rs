//! Statistics of the whole node: of the shards that are there, and what those counted that are closed.
//!
//! Always true
//! 1. A count never falls while the process runs, as Elasticsearch's `OldShardsStats` has it: who draws
//!    rates of it would take a fall for a restart. What is now (documents, bytes, what is under way) is
//!    of the shards that serve, and of those of closed indices, which lie here too.
//! 2. Each opening of a shard is counted once: a core brings its sum to an end in one go, and a shard
//!    that was closed since it was looked at is then counted among the closed ones.

use std::rc::Rc;

use base::ShardId;
use base::hash::Map;
use cluster::Index;
use env::{Env, Spawn, reply};
use shard::{Reader, Shard};

use super::stats::Stats;
use super::{field_sizes, resting};
use crate::core::Core;
use crate::host::call::Message;
use crate::host::serve::Slot;
use crate::node::Primary;

/// What shards counted that a core has closed.
pub(crate) struct Past<E: Env> {
    /// Shards that are being closed: they still count.
    closing: Vec<Shard<E>>,
    /// Of those that are closed.
    sum: Stats,
}

impl<E: Env> Default for Past<E> {
    fn default() -> Self {
        Self { closing: Vec::new(), sum: Stats::default() }
    }
}

impl<E: Env> Past<E> {
    /// A shard was taken out of those that are there, to be closed.
    pub(crate) fn begin(&mut self, shard: &Shard<E>) {
        self.closing.push(shard.clone());
    }

    /// It is closed, and counts no more.
    pub(crate) fn end(&mut self, shard: &Shard<E>, now_ms: i64) {
        let reader = shard.reader();
        self.closing.retain(|other| !other.reader().is_same(&reader));
        self.sum += &counters(shard, now_ms);
    }

    fn sum(&self, now_ms: i64) -> Stats {
        let mut sum = self.sum.clone();
        for shard in &self.closing {
            sum += &counters(shard, now_ms);
        }
        sum
    }
}

fn counters<E: Env>(shard: &Shard<E>, now_ms: i64) -> Stats {
    Stats::of(&shard.reader(), shard.stats(), now_ms).counters()
}

impl<E: Env> Core<E> {
    /// Counts of all shards of this node together, with what was counted by those that are closed. The
    /// gate has been asked.
    pub async fn node_stats(self: &Rc<Self>) -> Stats {
        // The shards of closed indices are here too, though no core holds them open.
        self.look_after_all_closed().await;
        self.node_stats_as_looked_at().await
    }

    /// As [`Core::node_stats`], for who just had the closed indices looked after.
    pub async fn node_stats_as_looked_at(self: &Rc<Self>) -> Stats {
        let ask = |core: usize| {
            let (reply, answer) = reply::channel();
            // Never refused: with a core missing all counts would fall.
            self.shared.cores[core].send_reply(Message::Stats { reply });
            answer
        };
        let answers: Vec<_> = (0..self.shared.cores.len()).map(ask).collect();
        let state = self.state();
        let mapped = state.indices.values().map(|index| index.mapping.total_fields()).sum();
        let mut sum = Stats { mapped_fields: Some(mapped), ..Stats::default() };
        let directory = self.directory();
        for index in state.indices.values().filter(|index| !index.open) {
            let numbers = 0..index.settings.shard_count();
            for stats in numbers.filter_map(|at| resting::figures(&directory, index, at)) {
                sum += &stats;
            }
        }
        for answer in answers {
            if let Some(stats) = answer.await {
                sum += &stats;
            }
        }
        sum
    }

    /// The part of this core in [`Core::node_stats`].
    pub(crate) async fn own_stats(&self) -> Stats {
        let (state, directory) = (self.state(), self.directory());
        let indices: Map<[u8; 16], &Index> =
            state.indices.values().map(|index| (index.uuid, &**index)).collect();
        let ids: Vec<ShardId> = self.shards.borrow().keys().copied().collect();
        let mut looked: Vec<(ShardId, Reader, Stats)> = Vec::with_capacity(ids.len());
        for id in ids {
            let shard = match self.shards.borrow().get(&id) {
                Some(Slot::Open(shard)) => shard.clone(),
                _ => continue,
            };
            let reader = shard.reader();
            let mut stats = Stats::of(&reader, shard.stats(), self.now_ms());
            let serves = |index: &&&Index| {
                matches!(directory.primary(index, id.number), Primary::Started(_))
            };
            match indices.get(&id.index).filter(serves) {
                Some(index) => {
                    stats.loaded = field_sizes::loaded(&index.mapping, &reader.view.load());
                }
                // Damaged, or not whole yet, or no more: only what it has counted is left.
                None => stats = stats.counters(),
            }
            looked.push((id, reader, stats));
            self.env.spawn().yield_if_needed().await;
        }
        // From here on nothing waits: see the head, rule 2.
        let mut sum = self.past.borrow().sum(self.now_ms());
        let shards = self.shards.borrow();
        for (id, reader, stats) in looked {
            if let Some(Slot::Open(shard)) = shards.get(&id)
                && shard.reader().is_same(&reader)
            {
                sum += &stats;
            }
        }
        sum
    }
}
