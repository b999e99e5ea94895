//! Names of fields in figures: what a field keeps tells that it is there.
//!
//! Whoever may ask for the figures of a node sees the names of all indices, and of the fields of those that it does
//! not read, as on Elasticsearch; but what is hidden from it in an index that it reads is not told here either.

use std::rc::Rc;

use base::hash::Map;
use cluster::State;
use env::Env;

use super::IndicesOptions;
use super::reached::READ;
use super::stats::{IndexStats, Standing, Stats};
use crate::core::Core;
use crate::gate::{Gate, Limits};
use crate::index::resolve::Call;

/// What a caller sees of the indices of which it does not see all.
#[derive(Debug, Default)]
pub struct HiddenNames(Map<[u8; 16], Vec<Limits>>);

impl HiddenNames {
    pub(super) fn new(limits: impl Iterator<Item = ([u8; 16], Vec<Limits>)>) -> Self {
        Self(limits.filter(|(_, seen)| !seen.is_empty()).collect())
    }

    /// Leaves out what is hidden in an index.
    pub fn leave_out_of_index(&self, row: &mut IndexStats) {
        let Some(seen) = self.0.get(&row.index.uuid) else { return };
        for shard in &mut row.shards {
            if let Standing::Started(stats) = &mut shard.standing {
                stats.loaded.retain(|field, _| seen.iter().all(|limits| limits.shows(field)));
            }
        }
    }

    /// Leaves out what is hidden in each index that has it.
    pub fn leave_out_of_node(&self, state: &State, stats: &mut Stats) {
        if self.0.is_empty() {
            return;
        }
        stats.loaded.retain(|field, _| {
            let mut having =
                state.indices.values().filter(|index| index.mapping.field(field).is_some());
            let shows = |uuid: &[u8; 16]| {
                self.0.get(uuid).is_none_or(|seen| seen.iter().all(|limits| limits.shows(field)))
            };
            let first = having.next();
            first.is_none() || first.into_iter().chain(having).any(|index| shows(&index.uuid))
        });
    }
}

impl<E: Env> Core<E> {
    /// What is hidden from the caller in the indices that it reads.
    pub async fn hidden_names(self: &Rc<Self>, gate: &dyn Gate) -> HiddenNames {
        let all = IndicesOptions {
            expand_closed: true,
            expand_hidden: true,
            ignore_unavailable: true,
            ..IndicesOptions::default()
        };
        // Who reads nothing is told nothing of it.
        let reached = self.reached(gate, READ, "*", Call::new(all)).await.unwrap_or_default();
        HiddenNames::new(reached.iter().map(|one| (one.index.uuid, one.seen(gate))))
    }
}
