//! Forgetting deletes: the version of a document that is gone is remembered for `index.gc_deletes`, then no more.
//!
//! Always true: whatever is remembered of deletes that the view shows goes soon after its time is over, also
//! where nobody writes. Nothing wakes the core while nothing is remembered, or nothing of it is shown; a refresh
//! begins to look again.

use std::rc::Rc;
use std::time::Duration;

use env::{Clock, Env, Spawn};

use crate::shard::{Inner, Phase};

/// Looks are at least so far apart,
const PERIOD_MIN: Duration = Duration::from_millis(250);
/// and at most, for the time that deletes are kept may become shorter meanwhile.
const PERIOD_MAX: Duration = Duration::from_secs(5);

impl<E: Env> Inner<E> {
    /// Sees to it that deletes are forgotten when their time is over.
    pub(crate) fn schedule_forgetting(self: &Rc<Self>) {
        if self.next_forgetting().is_none() || self.forgetting_is_due.replace(true) {
            return;
        }
        let inner = Rc::downgrade(self);
        let clock = self.env.clock().clone();
        self.env.spawn().spawn(async move {
            let next = || inner.upgrade()?.next_forgetting();
            while let Some(pause) = next() {
                clock.sleep(pause).await;
                let Some(inner) = inner.upgrade() else { return };
                inner.forget().await;
            }
            if let Some(inner) = inner.upgrade() {
                inner.forgetting_is_due.set(false);
            }
        });
    }

    /// How long to wait for the next delete that can be forgotten; none where there is none.
    fn next_forgetting(&self) -> Option<Duration> {
        if self.phase.get() != Phase::Open {
            return None;
        }
        let state = self.state.borrow();
        let put = state.tombstones.oldest_below(state.visible)?;
        let age = self.env.clock().monotonic().saturating_sub(put);
        let keep = self.config.borrow().gc_deletes;
        Some(keep.saturating_sub(age).clamp(PERIOD_MIN, PERIOD_MAX))
    }

    /// Forgets all whose time is over, and gives back the memory.
    async fn forget(&self) {
        while self.forget_some() {
            self.env.spawn().yield_if_needed().await;
        }
    }

    /// Forgets some; true where more may wait.
    fn forget_some(&self) -> bool {
        let now = self.env.clock().monotonic();
        let keep = self.config.borrow().gc_deletes;
        let mut state = self.state.borrow_mut();
        let is_more = state.prune(now, keep);
        state.hold_tombstones(&self.lease);
        is_more
    }
}
