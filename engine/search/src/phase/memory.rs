//! The memory that a slice may take as it goes.

use env::budget::{Holder, Lease};

use super::{Keep, Slice};

impl Slice {
    /// The memory that aggregations may take, and texts by which hits are ordered.
    #[must_use]
    pub fn with_memory(mut self, lease: Lease) -> Self {
        if let Keep::Sorted(sorter) = &mut self.keep {
            sorter.set_lease(lease.of(Holder::Answers));
        }
        if let Some(aggs) = &mut self.aggs {
            aggs.set_lease(lease);
        }
        self
    }

    /// There is none for what hits are ordered by: nothing of the shard is told, and the slice is done with them.
    pub(super) fn lacks_memory(&mut self) -> bool {
        let Keep::Sorted(sorter) = &self.keep else { return false };
        let Some(fault) = sorter.fault() else { return false };
        let _ = self.plan.trouble.set(fault.clone());
        self.stop();
        self.part = self.parts.len();
        true
    }
}
