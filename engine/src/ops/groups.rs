//! Groups of searches: whoever searches may name some (`stats`), under which the search is counted
//! at each shard's home.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use base::ShardId;
use cluster::Index;
use env::Env;

use super::stats::{IndexStats, Standing, Usage};
use crate::core::Core;
use crate::host::call::{Called, ShardCall};

/// Groups that are kept of one shard; later names are not counted.
const GROUPS_MAX: usize = 1_000;

/// What was done under one name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// Query phases.
    pub query: Usage,
    /// Fetch phases.
    pub fetch: Usage,
    /// Searches that only suggest.
    pub suggest: Usage,
}

/// What is counted under names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A query phase.
    Query,
    /// A fetch phase.
    Fetch,
    /// A search that only suggests.
    Suggest,
}

impl std::ops::AddAssign for Group {
    fn add_assign(&mut self, other: Self) {
        self.query += other.query;
        self.fetch += other.fetch;
        self.suggest += other.suggest;
    }
}

/// Groups of one shard by name.
pub type Groups = BTreeMap<String, Group>;

impl<E: Env> Core<E> {
    /// Counts a part of a search that took so long under these names, at each of these shards.
    pub(crate) fn count_groups(
        self: &Rc<Self>,
        shards: &[(Arc<Index>, u32)],
        names: &[String],
        part: Part,
        took: Duration,
    ) {
        if names.is_empty() {
            return;
        }
        let names: Arc<[String]> = names.into();
        for (index, number) in shards {
            let shard = ShardId { index: index.uuid, number: *number };
            let names = Arc::clone(&names);
            // Nobody waits for it, and a shard that is gone counts nothing.
            drop(self.send::<()>(shard, |reply| ShardCall::CountGroups {
                names,
                part,
                took,
                reply,
            }));
        }
    }

    /// At the home: counts.
    pub(crate) fn note_groups(&self, shard: ShardId, names: &[String], part: Part, took: Duration) {
        let mut all = self.groups.borrow_mut();
        let groups = all.entry(shard).or_default();
        for name in names {
            if groups.len() >= GROUPS_MAX && !groups.contains_key(name) {
                continue;
            }
            let group = groups.entry(name.clone()).or_default();
            let usage = match part {
                Part::Query => &mut group.query,
                Part::Fetch => &mut group.fetch,
                Part::Suggest => &mut group.suggest,
            };
            usage.count += 1;
            usage.time_us += took.as_micros() as u64;
        }
    }

    /// Adds the groups of each shard to its counts.
    pub async fn fill_groups(self: &Rc<Self>, rows: &mut [IndexStats]) {
        for row in rows {
            let uuid = row.index.uuid;
            for shard in &mut row.shards {
                let Standing::Started(stats) = &mut shard.standing else { continue };
                let id = ShardId { index: uuid, number: shard.number };
                let groups: Called<Groups> =
                    self.send(id, |reply| ShardCall::Groups { reply }).answer().await;
                stats.groups = groups.unwrap_or_default();
            }
        }
    }
}
