//! One core's way to the pool, and what is taken by it.
//!
//! What is spare of a chunk that was fetched lies in a number of the core's own, so that the common case
//! touches no other.

use std::fmt;
use std::sync::{Arc, Weak};

use super::{CHUNK_BYTES, Holder, Pool, SMALL_PART, subtract, subtract_leaving};
use crate::leftovers;
use crate::sync::{AtomicUsize, Ordering, lock};

/// Above this a lease gives whole chunks back.
const SPARE_BYTES_MAX: usize = 2 * CHUNK_BYTES;

/// One part in so many: where less is free, memory is scarce.
const SCARCE_PART: usize = 8;

/// Who has more than this, with what is asked for, leaves some of the pool to others: who takes all that is there stops
/// neither a read of one document nor an order to delete an index. A page of ten thousand hits is no small thing
/// because it comes hit by hit.
pub(super) const SMALL_BYTES: usize = 64 << 10;

/// One part in so many of what is left to smaller ones is for requests that come in.
const DOOR_PART: usize = 2;

/// What the leases of one core share.
pub(super) struct Local {
    pub(super) pool: Arc<Pool>,
    pub(super) spare: AtomicUsize,
    /// What is taken, by holder.
    pub(super) held: [AtomicUsize; Holder::ALL.len()],
}

impl Local {
    /// Takes `bytes` for what `has` some already.
    fn take(&self, holder: Holder, has: usize, bytes: usize) -> bool {
        let taken = self.fetch(holder, has, bytes);
        if taken {
            self.held[holder as usize].fetch_add(bytes, Ordering::Relaxed);
        }
        taken
    }

    fn fetch(&self, holder: Holder, has: usize, bytes: usize) -> bool {
        if subtract(&self.spare, bytes) {
            return true;
        }
        // Whole chunks never come of the part for small pieces: what lies spare is anybody's.
        let small_part = self.pool.total / SMALL_PART;
        let spare = self.spare.load(Ordering::Relaxed);
        let chunks = bytes.saturating_sub(spare).div_ceil(CHUNK_BYTES).max(1);
        let fetched = chunks.saturating_mul(CHUNK_BYTES);
        if subtract_leaving(&self.pool.free, fetched, small_part) {
            let before = self.spare.fetch_add(fetched, Ordering::Relaxed);
            if before + fetched >= bytes && subtract(&self.spare, bytes) {
                return true;
            }
            // Somebody else used the spare meanwhile; what was fetched stays spare for the next.
        }
        // Near the end of the pool: all that is spare here, and exactly what is lacking.
        let spare = self.spare.swap(0, Ordering::Relaxed);
        if let Some(rest) = spare.checked_sub(bytes) {
            self.spare.fetch_add(rest, Ordering::Relaxed);
            return true;
        }
        let left = match holder {
            _ if has.saturating_add(bytes) > SMALL_BYTES => small_part,
            // Without a place nobody can even be told that there is no memory.
            Holder::Requests => 0,
            _ => small_part / DOOR_PART,
        };
        if subtract_leaving(&self.pool.free, bytes - spare, left) {
            return true;
        }
        self.spare.fetch_add(spare, Ordering::Relaxed);
        let is_small = has.saturating_add(bytes) <= SMALL_BYTES;
        if is_small && self.fetch_from_others(bytes) {
            return true;
        }
        self.pool.refused.fetch_add(1, Ordering::Relaxed);
        false
    }

    /// Takes what lies spare at another core: chunks that it fetched for larger things and does not need now.
    #[cold]
    fn fetch_from_others(&self, bytes: usize) -> bool {
        let locals = lock(&self.pool.locals);
        let mut others = locals.iter().filter_map(Weak::upgrade);
        others.any(|other| subtract(&other.spare, bytes))
    }

    fn give_back(&self, holder: Holder, bytes: usize) {
        self.held[holder as usize].fetch_sub(bytes, Ordering::Relaxed);
        if self.pool.debt.load(Ordering::Relaxed) > 0 {
            return self.keep(bytes);
        }
        let spare = self.spare.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if spare > SPARE_BYTES_MAX {
            let surplus = (spare - CHUNK_BYTES) / CHUNK_BYTES * CHUNK_BYTES;
            if subtract(&self.spare, surplus) {
                self.pool.free.fetch_add(surplus, Ordering::Relaxed);
            }
        }
    }
}

impl Local {
    /// Pays what is to be set aside with what comes back, and with what is spare; the rest is spare.
    fn keep(&self, bytes: usize) {
        let Pool { aside, debt, .. } = &*self.pool;
        let back = bytes + self.spare.swap(0, Ordering::Relaxed);
        let paid = |owed: usize| Some(owed.saturating_sub(back));
        let owed = debt.fetch_update(Ordering::Relaxed, Ordering::Relaxed, paid);
        let paid = owed.unwrap_or(0).min(back);
        aside.fetch_add(paid, Ordering::Relaxed);
        self.spare.fetch_add(back - paid, Ordering::Relaxed);
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        let spare = self.spare.load(Ordering::Relaxed);
        self.pool.free.fetch_add(spare, Ordering::Relaxed);
    }
}

/// One core's way to the pool.
#[derive(Clone)]
pub struct Lease {
    pub(super) local: Arc<Local>,
    pub(super) holder: Holder,
}

impl Lease {
    /// Takes `bytes`, or nothing where they are not to be had.
    pub fn take(&self, bytes: usize) -> Option<Taken> {
        let Self { local, holder } = self;
        let taken = local.take(*holder, 0, bytes);
        taken.then(|| Taken { local: Arc::clone(local), holder: *holder, bytes })
    }

    /// Takes `bytes` more for what holds `taken`, perhaps nothing yet; or changes nothing: false.
    #[must_use]
    pub fn add(&self, taken: &mut Option<Taken>, bytes: usize) -> bool {
        match taken {
            Some(taken) => taken.grow(bytes),
            none => {
                *none = self.take(bytes);
                none.is_some()
            }
        }
    }

    /// The same way to the pool, of another holder.
    #[must_use]
    pub fn of(&self, holder: Holder) -> Self {
        Self { local: Arc::clone(&self.local), holder }
    }

    /// Who takes by it.
    pub fn holder(&self) -> Holder {
        self.holder
    }

    /// What this holder has taken, on all cores together. Not for a hot path: it takes a lock.
    pub fn held_by_all(&self) -> usize {
        let locals: Vec<Arc<Local>> =
            lock(&self.local.pool.locals).iter().filter_map(Weak::upgrade).collect();
        let held = locals.iter().map(|it| it.held[self.holder as usize].load(Ordering::Relaxed));
        held.sum()
    }

    /// Whether `bytes` were to be had if all came back that this holder has taken, but `own` bytes of it. Not
    /// for a hot path, as [`Lease::held_by_all`].
    pub fn is_within_reach(&self, bytes: usize, own: usize) -> bool {
        let pool = &self.local.pool;
        let spare = self.local.spare.load(Ordering::Relaxed);
        let free =
            (pool.free.load(Ordering::Relaxed) + spare).saturating_sub(pool.total / SMALL_PART);
        bytes <= free + self.held_by_all().saturating_sub(own)
    }

    /// Size of the pool.
    pub fn total_bytes(&self) -> usize {
        self.local.pool.total
    }

    /// Whether little is left: who may give something back should.
    pub fn is_scarce(&self) -> bool {
        self.is_below(SCARCE_PART)
    }

    /// As [`Lease::add`], for work whose size only shows as it goes: it leaves as much to others as makes memory
    /// scarce, so that some of it at once does not stop all that is small.
    #[must_use]
    pub fn add_leaving(&self, taken: &mut Option<Taken>, bytes: usize) -> bool {
        let pool = &self.local.pool;
        let spare = self.local.spare.load(Ordering::Relaxed);
        let there = pool.free.load(Ordering::Relaxed).saturating_add(spare);
        let left = there.checked_sub(bytes);
        left.is_some_and(|left| left >= pool.total / SCARCE_PART) && self.add(taken, bytes)
    }

    /// As [`Lease::take`], for work whose size only shows as it goes: see [`Lease::add_leaving`].
    pub fn take_leaving(&self, bytes: usize) -> Option<Taken> {
        let mut taken = None;
        if self.add_leaving(&mut taken, bytes) { taken } else { None }
    }

    /// Whether more is left than what is kept for small pieces: who makes many of those asks before each.
    pub fn leaves_small(&self) -> bool {
        let pool = &self.local.pool;
        let spare = self.local.spare.load(Ordering::Relaxed);
        pool.free.load(Ordering::Relaxed).saturating_add(spare) > pool.total / SMALL_PART
    }

    /// Whether less than one part in so many is left.
    pub fn is_below(&self, part: usize) -> bool {
        let pool = &self.local.pool;
        pool.free.load(Ordering::Relaxed) < pool.total / part
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lease({} bytes spare)", self.local.spare.load(Ordering::Relaxed))
    }
}

/// Bytes taken from a budget; dropping gives them back. May travel to another core.
#[must_use = "dropping it gives the bytes back"]
pub struct Taken {
    local: Arc<Local>,
    holder: Holder,
    bytes: usize,
}

impl Taken {
    /// How much is taken.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Takes `bytes` more, or changes nothing: false.
    #[must_use]
    pub fn grow(&mut self, bytes: usize) -> bool {
        let grown = self.local.take(self.holder, self.bytes, bytes);
        if grown {
            self.bytes += bytes;
        }
        grown
    }

    /// Cuts off as much as `bytes` of it: the two may go to two places.
    pub fn split(&mut self, bytes: usize) -> Self {
        let bytes = bytes.min(self.bytes);
        self.bytes -= bytes;
        Self { local: Arc::clone(&self.local), holder: self.holder, bytes }
    }

    /// From now on `holder` holds it.
    pub fn hand_to(&mut self, holder: Holder) {
        let held = &self.local.held;
        held[self.holder as usize].fetch_sub(self.bytes, Ordering::Relaxed);
        held[holder as usize].fetch_add(self.bytes, Ordering::Relaxed);
        self.holder = holder;
    }

    /// Gives all but `bytes` back; keeps what it has where that is less.
    pub fn shrink_to(&mut self, bytes: usize) {
        if let Some(surplus) = self.bytes.checked_sub(bytes) {
            self.local.give_back(self.holder, surplus);
            self.bytes = bytes;
        }
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        let (local, bytes) = (&self.local, self.bytes);
        // Perhaps what it was taken for is on its way, and in memory until then: answers that were let go faster than
        // one thread frees them made 750 MB resident of 128 that were allowed.
        if bytes > SMALL_BYTES && leftovers::is_behind() {
            return leftovers::leave(Late { local: Arc::clone(local), holder: self.holder, bytes });
        }
        local.give_back(self.holder, bytes);
    }
}

/// Bytes that come back behind what was left before them.
struct Late {
    local: Arc<Local>,
    holder: Holder,
    bytes: usize,
}

impl Drop for Late {
    fn drop(&mut self) {
        self.local.give_back(self.holder, self.bytes);
    }
}

impl fmt::Debug for Taken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Taken({} bytes)", self.bytes)
    }
}
