//! Memory of the cluster state: counted, and bounded by a share of what the node may have.
//!
//! Always true
//! 1. A change that would make the state larger than its share, or for which there is no memory now, is
//!    refused before anything is logged. One that makes nothing grow never is.
//! 2. What is taken for the state is what it weighs, and what changes under way may add.
//! 3. A state that is too large already (memory was lowered) serves; nothing is added to it.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use cluster::{Command, Growth, State, Weight};
use env::budget::{Holder, Lease, Taken};

use crate::error::{Error, Result};

/// The part of a node's memory that its cluster state may take: one in so many. Names, settings and fields
/// cannot be put aside as filters or buffers can; what is left must do for all the rest.
pub(super) const SHARE_PART: usize = 4;

/// A change that adds no more is small: a setting, an alias, a few fields.
const SMALL_BYTES: usize = 4 << 10;

/// Small changes find room beyond the share, one part of it in so many: who is at its end can still set what
/// helps.
const SMALL_PART: usize = 8;

/// See the head of the file.
pub(super) struct Held {
    lease: Lease,
    weight: RefCell<Arc<Weight>>,
    /// What changes under way may add.
    coming: Cell<usize>,
    taken: RefCell<Option<Taken>>,
}

/// What one change may add; dropping it takes that back.
pub(super) struct Coming<'a> {
    held: &'a Held,
    bytes: usize,
}

impl Held {
    /// Takes memory for a state that stands already, as much as `weight` says where so much is to be had.
    pub(super) fn of(weight: Weight, lease: &Lease) -> Self {
        let lease = lease.of(Holder::State);
        let weight = Arc::new(weight);
        let taken = lease.take(0);
        let held = Self { lease, weight: weight.into(), coming: Cell::new(0), taken: taken.into() };
        held.settle();
        held
    }

    /// Why nothing can be added to the state that stands; for the log.
    pub(super) fn complaint(&self) -> Option<String> {
        let (bytes, most) = (self.weight.borrow().bytes(), self.most());
        (bytes > most).then(|| {
            format!(
                "the cluster state takes about {} MiB of memory, of which it may have {} MiB (a quarter of the \
                 memory setting): nothing is added to it until indices, fields or templates are deleted, or the \
                 setting is raised",
                bytes >> 20,
                most >> 20
            )
        })
    }

    /// What the state weighs.
    pub(super) fn weight(&self) -> Arc<Weight> {
        Arc::clone(&self.weight.borrow())
    }

    /// Admits a change, whose memory is taken until it is done; `grown` is by how much the state that it makes weighs
    /// more, where that is known ([`growth_to`]).
    ///
    /// # Errors
    /// 429 where there is no room for it.
    pub(super) fn admit(&self, command: &Command, grown: Option<usize>) -> Result<Coming<'_>> {
        let bytes = match (grown, command.growth()) {
            // It would have been tried where this is not known.
            (_, Growth::None) | (None, Growth::Unknown) => 0,
            (Some(bytes), _) | (None, Growth::About(bytes)) => bytes,
        };
        let coming = Coming { held: self, bytes };
        self.coming.set(self.coming.get() + bytes);
        if bytes == 0 {
            return Ok(coming);
        }
        let (wanted, most) = (self.wanted(), self.most());
        let beyond = if bytes <= SMALL_BYTES { most / SMALL_PART } else { 0 };
        if wanted > most + beyond {
            return Err(Error::state_too_large(wanted, most));
        }
        let mut taken = self.taken.borrow_mut();
        let has = taken.as_ref().map_or(0, Taken::bytes);
        let lacking = wanted.saturating_sub(has);
        let is_there = self.lease.add(&mut taken, lacking);
        drop(taken);
        match is_there {
            true => Ok(coming),
            false => Err(Error::no_memory("cluster_state", lacking, self.lease.total_bytes())),
        }
    }

    /// The state was weighed anew ([`Weight::of`]): a change was done. Of two that were weighed at once the later
    /// one counts.
    pub(super) fn put(&self, weight: Weight) {
        if weight.version() >= self.weight.borrow().version() {
            *self.weight.borrow_mut() = Arc::new(weight);
        }
        self.settle();
    }

    fn wanted(&self) -> usize {
        self.weight.borrow().bytes().saturating_add(self.coming.get())
    }

    fn most(&self) -> usize {
        self.lease.total_bytes() / SHARE_PART
    }

    /// Holds what is wanted, or what is to be had: what the state takes is taken already, so nobody is refused
    /// for it here.
    fn settle(&self) {
        let wanted = self.wanted();
        let mut taken = self.taken.borrow_mut();
        let Some(taken) = &mut *taken else { return };
        match wanted.checked_sub(taken.bytes()) {
            Some(lacking) if lacking > 0 => {
                // By halves: near the end of memory a part of it is better than nothing.
                let mut piece = lacking;
                while piece > 0 && !taken.grow(piece) {
                    piece /= 2;
                }
            }
            _ => taken.shrink_to(wanted),
        }
    }
}

/// By how much a state weighs more than the one that weighs `weight`: a walk over what is new in it.
pub(super) fn growth_to(after: &State, weight: &Weight) -> usize {
    let after = Weight::of(&Arc::new(after.clone()), Some(weight));
    after.bytes().saturating_sub(weight.bytes())
}

impl Drop for Coming<'_> {
    fn drop(&mut self) {
        self.held.coming.set(self.held.coming.get() - self.bytes);
        self.held.settle();
    }
}
