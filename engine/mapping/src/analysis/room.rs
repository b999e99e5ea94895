//! What an analysis may hold in memory, and how it is told to stop.
//!
//! A chain may make very much of a little: a mapping of one letter to a thousand, runs of runs of words,
//! every token twice and again. So whatever takes tokens answers whether there is any use for more, and
//! that answer goes back through all stages to the tokenizer; and whatever a stage holds that is more than a
//! few tokens is taken from a [`Room`] first.
//!
//! Always true
//! 1. After [`STOP`] no stage pushes another token, and nobody asks for what is still held.
//! 2. Only a room that is full, or too much work ([`super::effort`]), stops an analysis whose sink did not:
//!    [`Room::is_full`] tells the two apart.

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;

use env::budget::{Lease, Taken};

use super::effort;

/// Does an analysis go on?
pub type Flow = ControlFlow<()>;

/// It does.
pub const ON: Flow = ControlFlow::Continue(());

/// It does not.
pub const STOP: Flow = ControlFlow::Break(());

/// Bytes that an analysis may hold, where nobody says otherwise.
pub const ROOM_BYTES: usize = 64 << 20;

/// Shorter texts need not be counted where a stage holds some bytes for each of theirs for a moment.
const SHORT_BYTES: usize = 4 << 10;

/// Bytes that are not paid for: most analyses hold less.
pub(crate) const UNPAID_BYTES: usize = 256 << 10;

/// Bytes that are paid for at once.
pub(crate) const STEP_BYTES: usize = 256 << 10;

/// Bytes that one word may grow to by what stands in for parts of it.
const WORD_BYTES: usize = 16 << 20;

/// Bytes that an analysis may hold beside the text that it is given.
#[derive(Debug)]
pub struct Room {
    total: usize,
    left: Cell<usize>,
    is_full: Cell<bool>,
    /// Bytes that may be held before more are paid for.
    paid: Cell<usize>,
    /// Where memory is paid for, and what was.
    lease: Option<Lease>,
    taken: RefCell<Option<Taken>>,
}

impl Default for Room {
    fn default() -> Self {
        Self::of(ROOM_BYTES)
    }
}

impl Room {
    /// Room for `bytes`.
    pub const fn of(bytes: usize) -> Self {
        Self {
            total: bytes,
            left: Cell::new(bytes),
            is_full: Cell::new(false),
            paid: Cell::new(usize::MAX),
            lease: None,
            taken: RefCell::new(None),
        }
    }

    /// The same room, for which is paid as it is taken; all is given back in the end.
    #[must_use]
    pub fn paid_by(mut self, lease: Option<Lease>) -> Self {
        if lease.is_some() {
            self.paid.set(UNPAID_BYTES);
            self.lease = lease;
        }
        self
    }

    /// What was paid for what it holds, which somebody keeps.
    pub fn into_paid(self) -> Option<Taken> {
        self.taken.into_inner()
    }

    /// Bytes that may still be taken.
    #[cfg(test)]
    pub fn left_bytes(&self) -> usize {
        self.left.get()
    }

    /// Was more asked for than there was, or more work than may be done?
    pub fn is_full(&self) -> bool {
        self.is_full.get()
    }

    /// Says that there is no room for what is to come.
    #[cold]
    pub fn refuse(&self) -> Flow {
        self.is_full.set(true);
        STOP
    }

    /// Counts work; where it is too much there is no room for what comes of it.
    #[inline]
    pub(super) fn spend(&self, steps: u64) -> Flow {
        if effort::spend(steps).is_break() { self.refuse() } else { ON }
    }

    /// Takes `bytes`, until they are given back.
    #[inline]
    pub fn take(&self, bytes: usize) -> Flow {
        match self.left.get().checked_sub(bytes) {
            Some(left) if self.total - left <= self.paid.get() || self.pay(self.total - left) => {
                self.left.set(left);
                ON
            }
            _ => self.refuse(),
        }
    }

    /// Pays for `held` bytes, or says that there are none.
    #[cold]
    fn pay(&self, held: usize) -> bool {
        let Some(lease) = &self.lease else { return true };
        let lacking = held.saturating_sub(self.paid.get()).next_multiple_of(STEP_BYTES);
        let has = lease.add_leaving(&mut self.taken.borrow_mut(), lacking);
        if has {
            self.paid.set(self.paid.get() + lacking);
        }
        has
    }

    /// Bytes that a word of `len` may grow to.
    pub fn word_bytes(&self, len: usize) -> usize {
        let most = if self.total == usize::MAX { usize::MAX } else { WORD_BYTES.max(len) };
        self.left.get().min(most)
    }

    /// Gives `bytes` back that were taken.
    pub fn give_back(&self, bytes: usize) {
        self.left.set(self.left.get().saturating_add(bytes));
    }

    /// Takes `bytes` as long as what it answers lives.
    pub fn hold(&self, bytes: usize) -> ControlFlow<(), Held<'_>> {
        self.take(bytes)?;
        ControlFlow::Continue(Held { room: self, bytes })
    }

    /// As [`Self::hold`], `each` bytes for each of a text's `len`, but nothing for a short one.
    #[inline]
    pub fn hold_for(&self, len: usize, each: usize) -> ControlFlow<(), Option<Held<'_>>> {
        if len <= SHORT_BYTES {
            return ControlFlow::Continue(None);
        }
        self.hold(len.saturating_mul(each)).map_continue(Some)
    }
}

/// Room that is given back when this is dropped.
#[derive(Debug)]
pub struct Held<'r> {
    room: &'r Room,
    bytes: usize,
}

impl Held<'_> {
    /// Takes `bytes` more.
    pub fn grow(&mut self, bytes: usize) -> Flow {
        self.room.take(bytes)?;
        self.bytes += bytes;
        ON
    }

    /// Gives back all that is held; the same room may be taken again.
    pub fn clear(&mut self) {
        self.room.give_back(std::mem::take(&mut self.bytes));
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.clear();
    }
}

#[cfg(test)]
mod tests {
    use env::budget::Budget;

    use super::*;

    #[test]
    fn what_is_held_comes_back_and_what_is_too_much_is_told() {
        let room = Room::of(10_000);
        {
            let held = room.hold(6_000);
            assert!(held.is_continue());
            assert_eq!(room.left_bytes(), 4_000);
            assert!(room.hold_for(1_000, 100).is_continue(), "a short text is not counted");
            assert!(!room.is_full());
            assert!(room.hold_for(5_000, 1).is_break());
        }
        assert!(room.is_full());
        assert_eq!(room.left_bytes(), 10_000);
        let std::ops::ControlFlow::Continue(mut held) = room.hold(1) else {
            panic!("there is room")
        };
        assert!(held.grow(9_999).is_continue() && held.grow(1).is_break());
        held.clear();
        assert_eq!(room.left_bytes(), 10_000);
    }

    #[test]
    fn what_is_held_is_paid_for() {
        let budget = Budget::new(64 << 20);
        let lease = budget.lease();
        let others = lease.take(50 << 20).expect("most of it");
        let room = Room::of(usize::MAX >> 1).paid_by(Some(lease.clone()));
        assert!(room.take(UNPAID_BYTES).is_continue());
        assert_eq!(lease.held_by_all(), 50 << 20, "hardly any text needs so much");
        assert!(room.take(1 << 20).is_continue());
        assert_eq!(lease.held_by_all(), 51 << 20);
        // There are thirteen left, and an eighth of all stays for others.
        assert!(room.take(6 << 20).is_break() && room.is_full());
        let small = lease.take(6 << 20).expect("for them it is there");
        drop(small);
        drop(room);
        assert_eq!(lease.held_by_all(), 50 << 20);
        drop(others);
    }
}
