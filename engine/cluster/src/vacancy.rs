//! Why a copy of a shard has no place, and since when: `unassigned_info` in Elasticsearch's words.
//!
//! One node holds all primaries, so every replica lacks a place from the moment at which it comes to be
//! wanted: when its index is made, when `index.number_of_replicas` is raised, when the index is closed or
//! opened (both make all copies anew), and when the node starts. The state keeps all moments but the last,
//! which only the node knows; see [`Vacancy::as_of`].
//!
//! Always true
//! 1. `added` counts no more replicas than the index has; the others came with the index.
//! 2. Where replicas are taken away, the oldest go first, as Elasticsearch removes the first that has
//!    no place.

use std::sync::Arc;

use crate::state::Index;

/// Why a copy has no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Its index was made.
    IndexCreated,
    /// More replicas are wanted than before.
    ReplicaAdded,
    /// Its index was opened.
    IndexReopened,
    /// Its index was closed.
    IndexClosed,
    /// The cluster came up from what it had on disk.
    ClusterRecovered,
}

impl Reason {
    /// As Elasticsearch names it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::IndexCreated => "INDEX_CREATED",
            Self::ReplicaAdded => "REPLICA_ADDED",
            Self::IndexReopened => "INDEX_REOPENED",
            Self::IndexClosed => "INDEX_CLOSED",
            Self::ClusterRecovered => "CLUSTER_RECOVERED",
        }
    }
}

/// That a copy has no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vacancy {
    /// Why.
    pub reason: Reason,
    /// Since when, milliseconds since 1970.
    pub at_ms: i64,
}

impl Vacancy {
    /// As a node tells it that came up at `started_ms`: what is older was taken up from disk then.
    #[must_use]
    pub fn as_of(self, started_ms: i64) -> Self {
        if self.at_ms < started_ms {
            return Self { reason: Reason::ClusterRecovered, at_ms: started_ms };
        }
        self
    }
}

/// Replicas that came to be wanted after their index was there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Added {
    /// How many, of each shard.
    pub count: u32,
    /// When, milliseconds since 1970.
    pub at_ms: i64,
}

impl Index {
    /// Why its primaries have no place while nothing is known to be wrong with them.
    pub fn vacancy(&self) -> Vacancy {
        match self.turned_ms {
            None => Vacancy { reason: Reason::IndexCreated, at_ms: self.created_ms },
            Some(at_ms) if self.open => Vacancy { reason: Reason::IndexReopened, at_ms },
            Some(at_ms) => Vacancy { reason: Reason::IndexClosed, at_ms },
        }
    }

    /// Why each replica of a shard has no place, oldest first.
    pub fn replica_vacancies(&self) -> impl Iterator<Item = Vacancy> {
        let added = self.added.iter().flat_map(|added| {
            let one = Vacancy { reason: Reason::ReplicaAdded, at_ms: added.at_ms };
            std::iter::repeat_n(one, added.count as usize)
        });
        let count = self.settings.replica_count();
        let later: u32 = self.added.iter().map(|added| added.count).sum();
        let first = std::iter::repeat_n(self.vacancy(), count.saturating_sub(later) as usize);
        first.chain(added).take(count as usize)
    }
}

/// What was added, once the number of replicas goes from `before` to `after`. Where nobody knows when,
/// as in a log from before moments were kept, the new ones count as those that came with the index.
pub(crate) fn resized(
    added: &Arc<[Added]>,
    before: u32,
    after: u32,
    at_ms: Option<i64>,
) -> Arc<[Added]> {
    if let (Some(more), Some(at_ms)) = (after.checked_sub(before).filter(|more| *more > 0), at_ms) {
        return added.iter().copied().chain([Added { count: more, at_ms }]).collect();
    }
    let mut room = after;
    let mut kept: Vec<Added> = Vec::new();
    for one in added.iter().rev() {
        let count = one.count.min(room);
        room -= count;
        if count > 0 {
            kept.push(Added { count, ..*one });
        }
    }
    kept.reverse();
    kept.into()
}
