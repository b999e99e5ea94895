//! Filters that this core keeps ([`search::kept`]), met by the plans of searches.

use std::sync::Arc;
use std::time::Duration;

use cluster::Index;
use env::{Env, Spawn};
use search::kept::KeptFilters;
use search::phase::STEP_WORK;
use search::plan::Plan;
use segment::Missing;

use crate::core::Core;

/// What all cores together keep, as a share of the node's budget: half of what Elasticsearch's
/// `indices.queries.cache.size` is by default.
const SHARE: usize = 20;

/// How much one of `cores` may keep of a budget of `total` bytes.
pub(crate) fn limit(total: usize, cores: u16) -> usize {
    total / SHARE / usize::from(cores).max(1)
}

impl<E: Env> Core<E> {
    /// The plan with what is kept of its filters. Those asked before, and worth it, are gathered and
    /// kept first, in steps: about what this search would have spent on them anyway, and no longer than it may
    /// take.
    pub(super) async fn with_kept(
        &self,
        mut plan: Arc<Plan>,
        index: &Index,
        deadline: Option<Duration>,
    ) -> Arc<Plan> {
        let is_on = || index.settings.flag("index.queries.cache.enabled");
        if !KeptFilters::concern(&plan) || !is_on() {
            return plan;
        }
        let wanted = self.kept.borrow_mut().meet(&mut plan);
        if wanted.is_empty() {
            return plan;
        }
        for mut making in wanted {
            let mut missing = Missing::new();
            while !making.step(STEP_WORK, &mut missing) {
                if self.is_late(deadline) {
                    return plan;
                }
                missing.fetch();
                self.env.spawn().yield_if_needed().await;
            }
            self.kept.borrow_mut().keep(making);
        }
        self.kept.borrow_mut().meet(&mut plan);
        plan
    }
}
