//! Memory for what a request becomes: a query is bound at each index and weighed at each shard, and its words, patterns
//! and automata are there as often.
//!
//! It is measured (`env::heap`), not reckoned of the request's text: a word of a phrase becomes a kilobyte, an
//! expression of a hundred letters ninety, a margin nothing. What was made is paid right after, so a request is ahead
//! of what it has paid by one index or shard, and by [`FREE_BYTES`].

use std::sync::Arc;

use env::Env;
use env::budget::Taken;

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
