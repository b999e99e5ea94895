//! Memory for work that cannot be refused: it waits for others of its kind, and where it is alone it begins
//! without. So what is held passes the total by one of it at most.

use std::fmt;
use std::sync::Arc;

use super::{Lease, Pool, SMALL_PART, Taken};
use crate::sync::{Ordering, lock};

/// Work that cannot be refused, of all cores.
#[derive(Default)]
pub(super) struct Advances {
    /// What is under way.
    count: usize,
    /// One of it uses memory that was not to be had.
    is_overdrawn: bool,
}

impl Lease {
    /// Takes `bytes` for work that cannot be refused. Where they are not to be had it waits for others of
    /// its kind (`None`), and where there are none, it begins without them: what is held then is more
    /// than the total.
    pub fn advance(&self, bytes: usize) -> Option<Advance> {
        let pool = Arc::clone(&self.local.pool);
        let mut advances = lock(&pool.advances);
        let free = pool.free.load(Ordering::Relaxed);
        if advances.count > 0 && free < bytes.saturating_add(pool.total / SMALL_PART) {
            // Who waits asks again and again: that is not counted as so many refusals.
            return None;
        }
        let taken = self.take(bytes);
        let is_overdrawn = taken.is_none();
        if is_overdrawn {
            if advances.count > 0 {
                return None;
            }
            advances.is_overdrawn = true;
        }
        advances.count += 1;
        drop(advances);
        Some(Advance { pool, taken, is_overdrawn })
    }
}

/// Memory for work that cannot be refused ([`Lease::advance`]); dropping ends it.
#[must_use = "dropping it ends the work"]
pub struct Advance {
    pool: Arc<Pool>,
    taken: Option<Taken>,
    is_overdrawn: bool,
}

impl Advance {
    /// Makes it `bytes` at least. Where they are not to be had, it does without them, but for when
    /// another does so already: false, and it waits for that one's end. Who does without never waits,
    /// so all get on.
    #[must_use]
    pub fn grow_to(&mut self, bytes: usize) -> bool {
        if self.is_overdrawn {
            return true;
        }
        let lacking = self.taken.as_ref().map_or(0, |taken| bytes.saturating_sub(taken.bytes()));
        if lacking == 0 || self.taken.as_mut().is_some_and(|taken| taken.grow(lacking)) {
            return true;
        }
        let mut advances = lock(&self.pool.advances);
        self.is_overdrawn = !advances.is_overdrawn;
        advances.is_overdrawn = true;
        self.is_overdrawn
    }
}

impl Drop for Advance {
    fn drop(&mut self) {
        // First the memory: who is told that nobody is under way finds all there is.
        drop(self.taken.take());
        let mut advances = lock(&self.pool.advances);
        advances.count -= 1;
        if self.is_overdrawn {
            advances.is_overdrawn = false;
        }
    }
}

impl fmt::Debug for Advance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Advance({:?}, overdrawn: {})", self.taken, self.is_overdrawn)
    }
}
