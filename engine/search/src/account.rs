//! Memory that one slice of a search takes as it goes, and how much work one call of a collector may be.
//!
//! Always true: what is used is taken from the lease first, a step ahead; where that is not to be had, or is more
//! than one slice may have, there is a fault, and nothing of what was found is told.

use env::budget::{Lease, Taken};

use crate::error::{Error, Kind};
use crate::result::Memory;

/// How much memory the aggregations of one slice may take, and how much they do; and how much work one
/// call of a collector may be.
pub struct Account {
    lease: Option<Lease>,
    /// What it is taken for, where that is refused.
    what: &'static str,
    taken: Vec<Taken>,
    taken_bytes: usize,
    used_bytes: usize,
    fault: Option<Error>,
    /// Pairs of a document and a bucket since [`Account::begin`], and how many there may be.
    pairs: u64,
    pairs_max: u64,
}

/// What is asked of the lease at once at first: few aggregations need more, and for pieces no larger than this there
/// is memory that larger ones leave.
const FIRST_STEP_BYTES: usize = 64 << 10;

/// Up to here.
const FIRST_STEPS_BYTES: usize = 8 * FIRST_STEP_BYTES;

/// An account up to here may take the last of the lease.
const SMALL_BYTES: usize = 4 << 20;

/// What is asked of the lease at once.
const STEP_BYTES: usize = 1 << 20;

/// Most bytes of one slice, whatever the lease has.
const SLICE_BYTES_MAX: usize = 1 << 30;

impl Account {
    /// An account over a lease; without one only the greatest size is watched.
    pub fn new(lease: Option<Lease>) -> Self {
        Self {
            lease,
            what: "aggregations",
            taken: Vec::new(),
            taken_bytes: 0,
            used_bytes: 0,
            fault: None,
            pairs: 0,
            pairs_max: u64::MAX,
        }
    }

    /// As [`Account::new`], for something else.
    pub fn of(what: &'static str, lease: Lease) -> Self {
        Self { what, ..Self::new(Some(lease)) }
    }

    /// The lease, where it is over one.
    pub fn lease(&self) -> Option<&Lease> {
        self.lease.as_ref()
    }

    /// An account over the same lease, of which nothing is taken.
    #[must_use]
    pub fn renewed(&mut self) -> Self {
        Self { what: self.what, ..Self::new(self.lease.take()) }
    }

    /// A call of collectors begins, in which they may meet so many pairs of a document and a bucket: a
    /// document with a thousand values is in a million buckets on the second level, and that is one call.
    pub fn begin(&mut self, pairs_max: u64) {
        (self.pairs, self.pairs_max) = (0, pairs_max);
    }

    /// So many pairs more were met.
    #[inline]
    pub fn meet(&mut self, pairs: usize) {
        self.pairs += pairs as u64;
    }

    /// Pairs of the call at hand.
    pub fn pairs(&self) -> u64 {
        self.pairs
    }

    /// The call was too much: what it has done is of no use.
    pub fn is_exhausted(&self) -> bool {
        self.pairs > self.pairs_max
    }

    /// Collectors may leave everything as it is: nothing of it will be told.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.fault.is_some() || self.is_exhausted()
    }

    /// So many bytes more are held.
    #[inline]
    pub fn grow(&mut self, bytes: usize) {
        self.used_bytes += bytes;
        if self.used_bytes > self.taken_bytes {
            self.take();
        }
    }

    #[cold]
    fn take(&mut self) {
        let is_first = self.taken_bytes < FIRST_STEPS_BYTES;
        let step = if is_first { FIRST_STEP_BYTES } else { STEP_BYTES };
        let wanted = (self.used_bytes - self.taken_bytes).max(step);
        let given = match &self.lease {
            Some(lease) => match self.ask(lease, wanted) {
                Some(taken) => {
                    self.taken.push(taken);
                    true
                }
                None => false,
            },
            None => true,
        };
        if !given || self.used_bytes > SLICE_BYTES_MAX {
            let limit = if given { SLICE_BYTES_MAX } else { self.taken_bytes };
            let reason = format!(
                "[request] Data too large, data for [<{}>] would be [{}b], which is larger than the \
                 limit of [{limit}b]",
                self.what, self.used_bytes
            );
            self.fault.get_or_insert_with(|| Error::new(Kind::CircuitBreaking, reason));
            return;
        }
        self.taken_bytes += wanted;
    }

    /// What has grown large leaves room to what is small: one caller's buckets by the million do not stop
    /// another's ten.
    fn ask(&self, lease: &Lease, wanted: usize) -> Option<Taken> {
        let is_small = self.taken_bytes + wanted <= SMALL_BYTES;
        if is_small { lease.take(wanted) } else { lease.take_leaving(wanted) }
    }

    /// Gives away what was taken, with what it was taken for: nothing is held after it.
    pub fn take_memory(&mut self) -> Memory {
        (self.taken_bytes, self.used_bytes) = (0, 0);
        Memory::new(std::mem::take(&mut self.taken))
    }

    /// How much is held, about.
    pub fn used_bytes(&self) -> usize {
        self.used_bytes
    }

    /// Something that cannot be answered.
    pub fn fail(&mut self, error: Error) {
        self.fault.get_or_insert(error);
    }

    /// Why the aggregations cannot be answered.
    pub fn fault(&self) -> Option<&Error> {
        self.fault.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use env::budget::Budget;

    #[test]
    fn a_large_account_leaves_room_to_small_ones() {
        let budget = Budget::new(64 << 20);
        let mut large = Account::new(Some(budget.lease()));
        while large.fault().is_none() {
            large.grow(1 << 20);
        }
        let mut small = Account::new(Some(budget.lease()));
        (0..3).for_each(|_| small.grow(1 << 20));
        assert!(small.fault().is_none(), "{:?}", small.fault());
        assert!(large.fault().is_some_and(|error| error.to_string().contains("Data too large")));
    }

    /// A search with ten buckets was refused beside a flood: its second piece was a large one.
    #[test]
    fn a_small_account_has_of_what_large_pieces_leave() {
        let budget = Budget::new(64 << 20);
        let lease = budget.lease();
        let mut large = Vec::new();
        while let Some(taken) = lease.take(256 << 10) {
            large.push(taken);
        }
        let mut small = Account::new(Some(budget.lease()));
        (0..7).for_each(|_| small.grow(64 << 10));
        assert!(small.fault().is_none(), "{:?}", small.fault());
        drop(large);
    }
}
