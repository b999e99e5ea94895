//! Memory shared by all cores, taken in chunks: what may be held at once is bounded in one place.
//!
//! Always true
//! 1. The sum of all that is taken, all that leases keep spare and what is set aside never passes the
//!    total.
//! 2. What is taken comes back when its [`Taken`] is dropped, on whatever core that happens.
//! 3. What is to be set aside and was not free then is kept as it comes back, before anybody may take it again.
//! 4. Taking never waits: `None` means that the caller refuses its request (429).
//! 5. Work that cannot be refused ([`Lease::advance`]) uses more than the total only one at a time.
//!
//! A [`Lease`] stands between one core and the pool so that the common case touches a number that
//! no other core touches: it fetches chunks of 4 MiB, and gives whole chunks back when more than
//! two lie spare. Near the end of the pool it asks for exactly what it lacks. A lease takes for one
//! [`Holder`], so that whoever asks may be told who holds how much.

mod advance;
mod holder;
mod lease;
#[cfg(all(test, loom))]
mod model;
#[cfg(all(test, not(loom)))]
mod tests;

use std::fmt;
use std::sync::{Arc, Weak};

use crate::sync::{AtomicUsize, Mutex, Ordering, lock};

pub use advance::Advance;
use advance::Advances;
pub use holder::Holder;
use lease::Local;
pub use lease::{Lease, Taken};

/// The unit in which leases fetch from the pool.
pub const CHUNK_BYTES: usize = 4 << 20;

/// One part in so many is left to them.
const SMALL_PART: usize = 32;

/// The pool; clones share it.
#[derive(Clone)]
pub struct Budget {
    pool: Arc<Pool>,
}

struct Pool {
    total: usize,
    free: AtomicUsize,
    /// Kept back for what nobody counts.
    aside: AtomicUsize,
    /// To be kept back, too, as soon as it comes back.
    debt: AtomicUsize,
    refused: AtomicUsize,
    advances: Mutex<Advances>,
    /// The leases that were given: asked for what they hold, and nothing else.
    locals: Mutex<Vec<Weak<Local>>>,
}

impl Budget {
    /// A pool of `total_bytes`.
    pub fn new(total_bytes: usize) -> Self {
        Self {
            pool: Arc::new(Pool {
                total: total_bytes,
                free: AtomicUsize::new(total_bytes),
                aside: AtomicUsize::new(0),
                debt: AtomicUsize::new(0),
                refused: AtomicUsize::new(0),
                advances: Mutex::new(Advances::default()),
                locals: Mutex::new(Vec::new()),
            }),
        }
    }

    /// A lease for one core; its clones share what it keeps spare.
    pub fn lease(&self) -> Lease {
        let local = Arc::new(Local {
            pool: Arc::clone(&self.pool),
            spare: AtomicUsize::new(0),
            held: Holder::ALL.map(|_| AtomicUsize::new(0)),
        });
        let mut locals = lock(&self.pool.locals);
        locals.retain(|known| known.strong_count() > 0);
        locals.push(Arc::downgrade(&local));
        drop(locals);
        Lease { local, holder: Holder::default() }
    }

    /// How much is taken for each of [`Holder::ALL`].
    pub fn taken_bytes(&self) -> [(Holder, usize); Holder::ALL.len()] {
        let locals: Vec<Arc<Local>> =
            lock(&self.pool.locals).iter().filter_map(Weak::upgrade).collect();
        Holder::ALL.map(|holder| {
            let held =
                locals.iter().map(|local| local.held[holder as usize].load(Ordering::Relaxed));
            (holder, held.sum())
        })
    }

    /// Keeps `bytes` back for memory that nobody counts: as much of that as is free, and the rest of what comes
    /// back; how much is kept back now. For one thread, which measures.
    pub fn set_aside(&self, bytes: usize) -> usize {
        let Pool { free, aside, debt, .. } = &*self.pool;
        // Nobody adds to it now but who has begun to.
        debt.store(0, Ordering::Relaxed);
        let before = aside.load(Ordering::Relaxed);
        if let Some(surplus) = before.checked_sub(bytes) {
            aside.fetch_sub(surplus, Ordering::Relaxed);
            free.fetch_add(surplus, Ordering::Relaxed);
            return bytes;
        }
        let lacking = bytes - before;
        let left = self.pool.total / SMALL_PART;
        let mut found = 0;
        let taken = free.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |free| {
            found = free.saturating_sub(left).min(lacking);
            Some(free - found)
        });
        // The closure always gives a number.
        let found = taken.map_or(0, |_| found);
        aside.fetch_add(found, Ordering::Relaxed);
        debt.store(lacking - found, Ordering::Relaxed);
        before + found
    }

    /// What is kept back for memory that nobody counts.
    pub fn aside_bytes(&self) -> usize {
        self.pool.aside.load(Ordering::Relaxed)
    }

    /// Size of the pool.
    pub fn total_bytes(&self) -> usize {
        self.pool.total
    }

    /// How often somebody asked for more than there was.
    pub fn refused_count(&self) -> usize {
        self.pool.refused.load(Ordering::Relaxed)
    }

    /// What is not to be had: what leases hold, taken or spare, and what is set aside.
    pub fn leased_bytes(&self) -> usize {
        self.pool.total - self.pool.free.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Budget({} of {} bytes leased)", self.leased_bytes(), self.total_bytes())
    }
}

/// Takes `bytes` from `from` where so much is there, and `left` besides.
fn subtract_leaving(from: &AtomicUsize, bytes: usize, left: usize) -> bool {
    let taken = from.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |current| {
        let rest = current.checked_sub(bytes)?;
        (rest >= left).then_some(rest)
    });
    taken.is_ok()
}

/// Takes `bytes` from `from` where so much is there.
fn subtract(from: &AtomicUsize, bytes: usize) -> bool {
    subtract_leaving(from, bytes, 0)
}
