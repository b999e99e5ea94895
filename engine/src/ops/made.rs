//! Memory for what a request becomes: a query is bound at each index and weighed at each shard, and its words, patterns
//! and automata are there as often.
//!
//! It is measured (`env::heap`), not reckoned of the request's text: a word of a phrase becomes a kilobyte, an
//! expression of a hundred letters ninety, a margin nothing. What was made is paid right after, so a request is ahead
//! of what it has paid by one index or shard, and by [`FREE_BYTES`].

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use env::budget::{Lease, Taken};
use env::{Env, heap};

use crate::core::Core;
use crate::error::Result;

/// So much is not paid: requests of every day are not slower for it.
const FREE_BYTES: usize = 64 << 10;

/// What was made for one request so far.
#[derive(Debug, Default)]
pub(super) struct Made {
    memory: Option<Taken>,
    unpaid_bytes: usize,
}

impl Made {
    /// So much more was made.
    ///
    /// # Errors
    /// 429 where there is too little memory left.
    pub(super) fn pay<E: Env>(&mut self, core: &Core<E>, bytes: usize) -> Result<()> {
        self.unpaid_bytes = self.unpaid_bytes.saturating_add(bytes);
        if self.unpaid_bytes <= FREE_BYTES {
            return Ok(());
        }
        core.pay(&mut self.memory, "query", std::mem::take(&mut self.unpaid_bytes))
    }

    /// The memory, for whoever keeps what was made.
    pub(super) fn memory(self) -> Option<Arc<Taken>> {
        self.memory.map(Arc::new)
    }
}

/// A meter pays so much ahead.
const AHEAD_BYTES: usize = 256 << 10;

/// What one long job on a worker holds, paid while it runs: a job that looks now and then whether it is to go on looks
/// here, too.
pub(super) struct Meter {
    lease: Lease,
    begun: isize,
    memory: RefCell<Option<Taken>>,
    /// What there was no memory for; zero where there was for all.
    lacks: Cell<usize>,
}

/// There was no memory for so many bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lacks(pub(super) usize);

impl Meter {
    /// Of what this thread makes from now on.
    pub(super) fn new(lease: &Lease) -> Self {
        let (memory, lacks) = (RefCell::default(), Cell::default());
        Self { lease: lease.clone(), begun: heap::held(), memory, lacks }
    }

    /// Pays for what was made since; false where there is no memory for it.
    pub(super) fn goes_on(&self) -> bool {
        let held = self.held_bytes();
        let mut memory = self.memory.borrow_mut();
        let paid = memory.as_ref().map_or(FREE_BYTES, Taken::bytes);
        if self.lacks.get() > 0 || held <= paid {
            return self.lacks.get() == 0;
        }
        let has = memory.as_ref().map_or(0, Taken::bytes);
        let is_paid = self.lease.add_leaving(&mut memory, held - has + AHEAD_BYTES);
        self.lacks.set(if is_paid { 0 } else { held });
        is_paid
    }

    fn held_bytes(&self) -> usize {
        usize::try_from(heap::held().wrapping_sub(self.begun)).unwrap_or(0)
    }

    /// The memory for what is left of it, on the thread that made it.
    pub(super) fn end(self) -> std::result::Result<Option<Taken>, Lacks> {
        if !self.goes_on() {
            return Err(Lacks(self.lacks.get()));
        }
        let held = self.held_bytes();
        let mut memory = self.memory.into_inner();
        if let Some(memory) = &mut memory {
            memory.shrink_to(held);
        }
        Ok(memory)
    }
}
