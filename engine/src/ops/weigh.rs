//! What a request means in an index meets a shard: its statistics become weights.
//!
//! Terms of patterns are gathered first, in steps, as that may take a walk through all of a dictionary;
//! where only words of documents that the caller may see count, a look at all of those, too.

use std::sync::Arc;
use std::time::Duration;

use env::{Env, Spawn, heap};
use search::plan::gather::{Gather, Gathered};
use search::plan::weigh::{Among, Statistics, weigh_among};
use search::plan::{Bound, Plan};
use segment::section::Missing;
use segment::{BlockCache, View};

use super::failure;
use super::search::damaged;
use crate::core::Core;
use crate::error::{Error, Result};

/// So much room for which documents may be seen is not counted: it is gone again at once.
const SEEN_BYTES_FREE: usize = 16 << 10;

/// More look-ups of terms are left to a worker: each takes up to a microsecond.
const LOOKUPS_HERE_MAX: usize = 512;

/// Blocks of terms that such a worker keeps.
const WORKER_CACHE_BYTES: usize = 1 << 20;

/// Terms of patterns in a shard, and counts.
pub(super) type Known = (Gathered, Statistics);

impl<E: Env> Core<E> {
    /// Statistics of a shard, weights, postings.
    ///
    /// # Errors
    /// Damage, or too little memory.
    pub(super) async fn weigh(&self, bound: &Arc<Bound>, view: &Arc<View>) -> Result<Arc<Plan>> {
        self.weigh_inside(bound, view, view).await
    }

    /// As [`Self::weigh`], for a view of the inside of documents; who lives is told by `outer`.
    ///
    /// # Errors
    /// As [`Self::weigh`].
    pub(super) async fn weigh_inside(
        &self,
        bound: &Arc<Bound>,
        view: &Arc<View>,
        outer: &Arc<View>,
    ) -> Result<Arc<Plan>> {
        let made = Box::pin(self.weigh_until(bound, view, outer, None)).await?;
        made.ok_or_else(|| Error::internal("a plan that may take any time was given up"))
    }

    /// As [`Self::weigh_inside`]; none where the deadline passes before it is done.
    ///
    /// # Errors
    /// As [`Self::weigh`].
    pub(super) async fn weigh_until(
        &self,
        bound: &Arc<Bound>,
        view: &Arc<View>,
        outer: &Arc<View>,
        deadline: Option<Duration>,
    ) -> Result<Option<Arc<Plan>>> {
        if self.is_late(deadline) {
            return Ok(None);
        }
        let Some(terms) = self.gather(bound, view, outer, deadline).await? else {
            return Ok(None);
        };
        let known = (terms, Statistics::default());
        // Boxed: whoever asks is large enough.
        let made = Box::pin(self.weigh_as(bound, view, known, |_| Among::Alone, deadline)).await?;
        Ok(made.map(|(plan, _)| plan))
    }

    /// Weights of a shard, with terms that were gathered; `among` says whose counts decide. What is known comes
    /// back with what was told. None where the deadline passes before it is done.
    ///
    /// # Errors
    /// As [`Self::weigh`].
    pub(super) async fn weigh_as(
        &self,
        bound: &Arc<Bound>,
        view: &Arc<View>,
        known: Known,
        among: impl for<'a> Fn(&'a mut Statistics) -> Among<'a> + Send + 'static,
        deadline: Option<Duration>,
    ) -> Result<Option<(Arc<Plan>, Known)>> {
        let (terms, mut own) = known;
        let found: usize = terms.values().map(Vec::len).sum();
        if (bound.clauses + found).saturating_mul(view.segments.len()) <= LOOKUPS_HERE_MAX {
            let blocks = &mut self.blocks.borrow_mut();
            let kept_bytes = blocks.len_bytes();
            let weigh = || weigh_whole(bound, view, blocks, &terms, among, &mut own);
            let (plan, bytes) = heap::left_by(weigh);
            let kept_bytes = blocks.len_bytes().saturating_sub(kept_bytes);
            let plan = measured(plan?, bytes.saturating_sub(kept_bytes));
            return Ok(Some((plan, (terms, own))));
        }
        let (bound, view) = (Arc::clone(bound), Arc::clone(view));
        let job = move || {
            let (plan, bytes) = heap::left_by(|| {
                let mut blocks = BlockCache::new(WORKER_CACHE_BYTES);
                weigh_whole(&bound, &view, &mut blocks, &terms, among, &mut own)
            });
            Ok((measured(plan?, bytes), (terms, own)))
        };
        // A job that nobody waits for any more goes on for a second or two at most: so many terms there may be.
        let Some(done) = self.in_time(deadline, self.work_in_turn(job)).await else {
            return Ok(None);
        };
        done.map_err(|_| Error::rejected("too many searches wait for a worker"))?.map(Some)
    }

    /// Terms of patterns; none where the deadline passes before all are gathered.
    ///
    /// # Errors
    /// As [`Self::weigh`].
    pub(super) async fn gather(
        &self,
        bound: &Arc<Bound>,
        view: &Arc<View>,
        outer: &Arc<View>,
        deadline: Option<Duration>,
    ) -> Result<Option<Gathered>> {
        /// Terms looked at in one step: about 100 µs.
        const STEP: usize = 1024;
        let mut gather = Gather::new(bound, outer);
        if gather.is_empty() {
            return Ok(Some(Gathered::new()));
        }
        let bytes = gather.len_bytes();
        let counted = bytes > SEEN_BYTES_FREE;
        let _room = counted.then(|| self.room("visible_documents", bytes)).transpose()?;
        let mut missing = Missing::new();
        loop {
            let step = {
                let mut blocks = self.blocks.borrow_mut();
                gather.step(view, &mut blocks, &mut missing, STEP)
            };
            if step.map_err(|error| damaged(&error))? {
                return match gather.trouble() {
                    Some(error) => Err(failure::of_search(error)),
                    None => Ok(Some(gather.finish())),
                };
            }
            if self.is_late(deadline) {
                return Ok(None);
            }
            missing.fetch();
            self.env.spawn().yield_if_needed().await;
        }
    }
}

/// The plan, with what it and the counts beside it were found to hold.
fn measured(mut plan: Arc<Plan>, bytes: usize) -> Arc<Plan> {
    if let Some(new) = Arc::get_mut(&mut plan) {
        new.held_bytes = bytes;
    }
    plan
}

fn weigh_whole(
    bound: &Arc<Bound>,
    view: &Arc<View>,
    blocks: &mut BlockCache,
    terms: &Gathered,
    among: impl for<'a> Fn(&'a mut Statistics) -> Among<'a>,
    statistics: &mut Statistics,
) -> Result<Arc<Plan>> {
    let mut missing = Missing::new();
    loop {
        let counts = among(statistics);
        let plan = weigh_among(bound, view, blocks, &mut missing, counts, Some(terms));
        if let Some(plan) = plan.map_err(|error| damaged(&error))? {
            return Ok(plan);
        }
        missing.fetch();
    }
}
