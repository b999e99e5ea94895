//! A change of the cluster state, tried on the state as it is before it is logged.
//!
//! What it refuses need not be logged, and the indices it would make tell how to make their shards.
//! Templates are worked in here, so that the change makes the same indices when its turn has come.
//!
//! A pure function of a state and a command: a worker does it where that takes long; so it weighs the state behind it.

use std::sync::Arc;

use cluster::{Command, Growth, Outcome, State, Weight};
use env::{Clock, Env, Spawn};
use mapping::analysis::holding::within_bytes;

use super::held::{SHARE_PART, growth_to};
use super::keeper::Keeper;
use crate::core::reserved_alias;
use crate::error::{Error, Result};
use crate::node::Shared;
use crate::ops::alias_filter;

/// See the head of the file.
pub(super) struct Tried {
    /// The change, with the templates of what it makes.
    pub(super) command: Command,
    /// The state that it makes; none where it may only add so much as it says ([`Growth`]).
    pub(super) after: Option<State>,
    /// By how much that weighs more.
    pub(super) grown: Option<usize>,
    /// What is wrong with an index that it makes. There must be room for it first.
    pub(super) unfit: Option<Unfit>,
}

/// Why an index is not made.
pub(super) enum Unfit {
    /// The cluster refuses it.
    Refused(cluster::Error),
    /// It cannot be.
    Failed(Error),
}

impl Tried {
    /// Tries `command`. Analyzers of one index may take no more than the whole state; of a change that is in the log
    /// they are made whatever they take.
    ///
    /// # Errors
    /// Why it is refused.
    pub(super) fn of(
        state: &State,
        weight: &Weight,
        command: Command,
        shared: &Shared,
        now_ms: i64,
    ) -> cluster::Result<Self> {
        let most = shared.config.memory_bytes / SHARE_PART;
        let tried = within_bytes(most, || Self::of_any_size(state, command, shared, now_ms))?;
        let grows =
            tried.after.as_ref().filter(|_| !matches!(tried.command.growth(), Growth::None));
        let grown = grows.map(|after| growth_to(after, weight));
        Ok(Self { grown, ..tried })
    }

    fn of_any_size(
        state: &State,
        command: Command,
        shared: &Shared,
        now_ms: i64,
    ) -> cluster::Result<Self> {
        cluster::admit(state, &command)?;
        let makes_indices = !command.new_indices().is_empty();
        let command = if makes_indices { cluster::compose(state, command)? } else { command };
        if !makes_indices && !matches!(command.growth(), Growth::Unknown) {
            return Ok(Self { command, after: None, grown: None, unfit: None });
        }
        let (after, outcome) = cluster::apply(state, &command);
        if let Outcome::Refused(error) = outcome {
            return Err(error);
        }
        let unfit = unfit(state, &after, &command, shared, now_ms);
        Ok(Self { command, after: Some(after), grown: None, unfit })
    }
}

impl<E: Env> Keeper<E> {
    /// Tries a command on the state as it is; one that takes long, on a worker. Or why it is refused.
    pub(super) async fn tried(
        &self,
        state: &Arc<State>,
        command: Command,
        is_long: bool,
    ) -> cluster::Result<Tried> {
        let (shared, now_ms) = (Arc::clone(&self.shared), self.env.clock().unix_ms());
        let weight = self.held.weight();
        if !is_long {
            return Tried::of(state, &weight, command, &shared, now_ms);
        }
        // Where no worker has time it is done here: some changes may not be refused, such as the block of a disk
        // that fills up.
        let state = Arc::clone(state);
        let job = move || Tried::of(&state, &weight, command, &shared, now_ms);
        self.env.spawn().work_short_or_here(job).await
    }

    /// Weighs the state anew, where a change took long on a worker: there it is as much that is new.
    pub(super) async fn weigh(&self, is_long: bool) {
        let (state, before) = (self.value.state(), self.held.weight());
        let job = move || Weight::of(&state, Some(&before));
        let weight = match is_long {
            false => job(),
            true => self.env.spawn().work_short_or_here(job).await,
        };
        self.held.put(weight);
    }
}

/// What is wrong with the indices that `command` makes.
fn unfit(
    state: &State,
    after: &State,
    command: &Command,
    shared: &Shared,
    now_ms: i64,
) -> Option<Unfit> {
    let news = || command.new_indices().into_iter().filter_map(|new| after.index_by_uuid(new.uuid));
    for index in news() {
        if let Err(error) = cluster::admit_index(after, index) {
            return Some(Unfit::Refused(error));
        }
        // A template's alias may take a part of its name from the index.
        let reserved_names = shared.config.reserved_names;
        let mut aliases = index.aliases.keys();
        if let Some(alias) = aliases.find(|alias| reserved_names.contains(&alias.as_ref())) {
            return Some(Unfit::Failed(reserved_alias(alias)));
        }
    }
    let checked: Result<()> =
        news().try_for_each(|index| alias_filter::check_all(state, index, now_ms));
    checked.err().map(Unfit::Failed)
}
