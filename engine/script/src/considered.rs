//! How much one use of a pattern may do in a script: nothing stops it within, and whoever shares its core waits.
//!
//! Elasticsearch lets a pattern look at six times as many characters as its text has
//! (`script.painless.regex.limit-factor`), and fails the script beyond that. So it is here, but that looks are counted
//! as the engine makes them, by what they cost, and that a short text has some to spare.

use std::cell::Cell;

use crate::backtrack::{Effort, LOOK};
use crate::error::Fault;

/// Looks for each byte of the text.
const FACTOR: u64 = 6;

/// Steps that any text has: some ten milliseconds, all looks that a search may take in a short one.
const STEPS_LEAST: u64 = 16 << 20;

/// The effort of one use of a pattern.
#[derive(Debug)]
pub struct Considered {
    bytes: usize,
    most: u64,
    left: Cell<u64>,
    is_out: Cell<bool>,
}

impl Considered {
    /// For one use on a text of so many bytes.
    pub fn of(bytes: usize) -> Self {
        let most = (bytes as u64).saturating_mul(FACTOR * LOOK).saturating_add(STEPS_LEAST);
        Self { bytes, most, left: Cell::new(most), is_out: Cell::new(false) }
    }

    /// The use is over: bytes of a text that it counts as.
    ///
    /// # Errors
    /// It was too much, and what it found is of no use.
    pub fn end(&self, pattern: &str) -> Result<usize, Fault> {
        if self.is_out.get() {
            return Err(Fault::limit(
                "circuit_breaking_exception",
                format!(
                    "[scripting] Regular expression considered too many characters, pattern: [{pattern}], \
                     limit factor: [{FACTOR}], char limit: [{}]",
                    (self.bytes as u64).saturating_mul(FACTOR)
                ),
            ));
        }
        let spent = usize::try_from(self.most - self.left.get()).unwrap_or(usize::MAX);
        Ok(self.bytes.saturating_add(spent))
    }
}

impl Effort for Considered {
    /// Looks ahead to the end of a long text are what takes seconds.
    const FAR_BYTES: u64 = 4;

    fn has(&self, steps: u64) -> bool {
        self.left.get() >= steps
    }

    fn spend(&self, steps: u64) -> bool {
        let rest = self.left.get().checked_sub(steps);
        self.left.set(rest.unwrap_or(0));
        if rest.is_none() {
            self.is_out.set(true);
        }
        rest.is_some()
    }

    fn give_up(&self) {
        self.is_out.set(true);
    }
}
