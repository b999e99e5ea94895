//! Cutting a search into slices, choosing cores for them, and running them in steps.
//!
//! A cheap plan runs where it was asked. A dear one is cut so that every core of the process has a
//! part: slices of one shard share a rising score, so each tells the others what is no longer worth
//! finding. Between steps a core runs its other tasks, and looks at the deadline and whether who asked is
//! still there: a search that is dropped ends on all cores.

use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base::CoreId;
use env::budget::Holder;
use env::leftovers::Leaving;
use env::{Clock, Env, ErrorKind, Spawn, reply};
use search::phase::{Pace, Progress, STEP_WORK, Shared, Slice};
use search::plan::Plan;
use search::result::Partial;

use crate::core::{Core, WAIT};
use crate::error::{Error, Result};
use crate::host::call::{Message, SliceCall};

/// Postings, points or documents that one core looks at before cutting pays: a hop costs about
/// 10 µs there and back.
const CUT_COST: u64 = 100_000;

/// What the slices of one shard found, with the place of the shard; or the damage that was met.
pub(crate) type Part = (u32, std::result::Result<Leaving<Partial>, segment::Error>);

/// How long slices go on.
pub(crate) struct Until<'a> {
    /// When to stop and bring what is there, on the monotonic clock.
    pub(crate) deadline: Option<Duration>,
    /// Whether somebody still waits for what they find.
    pub(crate) is_wanted: &'a dyn Fn() -> bool,
}

impl Until<'_> {
    fn is_over(&self, now: Duration) -> bool {
        self.deadline.is_some_and(|deadline| now >= deadline) || !(self.is_wanted)()
    }
}

impl<E: Env> Core<E> {
    /// Runs plans (each with the place of its shard among those asked) on as many cores as pay.
    pub(crate) async fn run_plans(
        self: &Rc<Self>,
        plans: &[(u32, Arc<Plan>)],
        deadline: Option<Duration>,
    ) -> Result<Vec<Part>> {
        let cores = usize::from(self.shared.config.cores);
        // Where there is nobody to share with, what it costs need not be known.
        let wide = cores > 1 && self.is_wide(plans).await;
        let mut hands: Vec<Vec<(u32, Slice)>> = (0..cores).map(|_| Vec::new()).collect();
        let here = usize::from(self.id.get());
        for (at, (target, plan)) in plans.iter().enumerate() {
            if at > 0 {
                self.env.spawn().yield_if_needed().await;
            }
            let shared = Arc::new(Shared::default());
            let parts = plan.cut(if wide { cores } else { 1 });
            for (part_at, parts) in parts.into_iter().enumerate() {
                let hand = if wide { (here + at + part_at) % cores } else { here };
                let slice = Slice::new(Arc::clone(plan), parts, Arc::clone(&shared));
                let slice =
                    slice.of_target(*target).with_memory(self.lease.of(Holder::Aggregations));
                hands[hand].push((*target, slice));
            }
        }
        let mut under_way = Vec::new();
        let mut own = Vec::new();
        for (hand, slices) in hands.into_iter().enumerate() {
            if slices.is_empty() {
                continue;
            }
            if hand == here {
                own = slices;
                continue;
            }
            let (reply, answer) = reply::channel();
            let call = Box::new(SliceCall { slices, deadline, lane: self.turns.current(), reply });
            let weight = 1024 * call.slices.len();
            match self.shared.core(CoreId(hand as u16)).send(Message::Slices(call), weight) {
                Ok(()) => under_way.push(answer),
                Err(full) => {
                    // That core has enough to do: its part is done here.
                    if let Message::Slices(call) = full.0 {
                        own.extend(call.slices);
                    }
                }
            }
        }
        // What asks for these is dropped with them.
        let mut partials = self.run_slices(own, Until { deadline, is_wanted: &|| true }).await;
        let _held = (!under_way.is_empty()).then(|| self.turns.hold());
        for answer in under_way {
            let Some(found) = answer.await else {
                return Err(Error::internal("a core stopped in the middle of a search"));
            };
            partials.extend(found);
        }
        Ok(partials)
    }

    /// Is it worth it to cut these plans?
    async fn is_wide(&self, plans: &[(u32, Arc<Plan>)]) -> bool {
        let mut cost = 0u64;
        for (at, (_, plan)) in plans.iter().enumerate() {
            if at > 0 {
                self.env.spawn().yield_if_needed().await;
            }
            cost = cost.saturating_add(plan.cost());
            if cost > CUT_COST || plan.is_heavy_anywhere() {
                return true;
            }
        }
        false
    }

    /// Runs slices one after the other in steps. Where nobody wants them any more none begins, and the
    /// one at work ends.
    pub(crate) async fn run_slices(
        &self,
        slices: Vec<(u32, Slice)>,
        until: Until<'_>,
    ) -> Vec<Part> {
        let mut partials = Vec::with_capacity(slices.len());
        let mut pace = Pace::default();
        for (target, slice) in slices {
            if !(until.is_wanted)() {
                break;
            }
            if !partials.is_empty() {
                self.env.spawn().yield_if_needed().await;
            }
            partials.push((target, self.run_slice(slice, &until, &mut pace).await));
        }
        partials
    }

    async fn run_slice(
        &self,
        mut slice: Slice,
        until: &Until<'_>,
        pace: &mut Pace,
    ) -> std::result::Result<Leaving<Partial>, segment::Error> {
        let clock = self.env.clock();
        // Also where its plan took all the time there was.
        if until.is_over(clock.monotonic()) {
            slice.stop();
            return Ok(self.finished(slice).await);
        }
        while !slice.is_heavy() {
            let begun = clock.monotonic();
            match slice.step_on_core(pace.work(), &|| clock.monotonic())? {
                Progress::Done => return Ok(self.finished(slice).await),
                Progress::More => {}
                Progress::Missing(mut missing) => missing.fetch(),
            }
            let now = clock.monotonic();
            pace.took(now.saturating_sub(begun));
            if until.is_over(now) {
                slice.stop();
                return Ok(self.finished(slice).await);
            }
            self.env.spawn().yield_if_needed().await;
        }
        self.run_heavy(slice, until).await
    }

    /// What a slice found: in order, which for many hits by many keys is a worker's.
    async fn finished(&self, mut slice: Slice) -> Leaving<Partial> {
        if !slice.ends_long() {
            return slice.finish().leaving();
        }
        self.finished_away(&Arc::new(Mutex::new(slice))).await
    }

    async fn finished_away(&self, slice: &Arc<Mutex<Slice>>) -> Leaving<Partial> {
        if !lock(slice).ends_long() {
            return lock(slice).finish().leaving();
        }
        let lent = Arc::clone(slice);
        let done = self.work_at_last(move || lock(&lent).finish().leaving()).await;
        done.unwrap_or_else(|_| lock(slice).finish().leaving())
    }

    /// Goes on with a slice whose steps may be long, on workers; where too many jobs wait for one, here, but for
    /// steps that cannot be short.
    async fn run_heavy(
        &self,
        slice: Slice,
        until: &Until<'_>,
    ) -> std::result::Result<Leaving<Partial>, segment::Error> {
        let slice = Arc::new(Mutex::new(slice));
        let clock = self.env.clock();
        loop {
            let lent = Arc::clone(&slice);
            let step = move || {
                let mut slice = lock(&lent);
                let work = slice.heavy_work();
                slice.step(work)
            };
            let is_dear = lock(&slice).is_dear();
            let progress = match self.work_in_turn(step).await {
                Ok(progress) => progress,
                Err(error) if is_dear && error.kind == ErrorKind::Busy => {
                    clock.sleep(WAIT).await;
                    Ok(Progress::More)
                }
                Err(_) => lock(&slice).step(STEP_WORK),
            };
            match progress? {
                Progress::Done => break,
                Progress::More => {}
                Progress::Missing(mut missing) => missing.fetch(),
            }
            if until.is_over(clock.monotonic()) {
                lock(&slice).stop();
                break;
            }
            self.env.spawn().yield_if_needed().await;
        }
        Ok(self.finished_away(&slice).await)
    }
}

fn lock(slice: &Mutex<Slice>) -> MutexGuard<'_, Slice> {
    slice.lock().unwrap_or_else(PoisonError::into_inner)
}
