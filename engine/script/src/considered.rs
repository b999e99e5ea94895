//! How much one use of a pattern may do in a script: nothing stops it within, and whoever shares its core waits. All
//! that a matcher finds in its text is one use, as is all that is replaced or split.
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
#[derive(Clone, Debug)]
pub struct Considered {
    bytes: usize,
    left: Cell<u64>,
    /// What was left when it was asked last what was spent.
    told: Cell<u64>,
    is_out: Cell<bool>,
    /// What a look costs, of the pattern that was looked for last.
    look: Cell<Option<(usize, u64)>>,
}

impl Considered {
    /// For one use on a text of so many bytes.
    pub fn of(bytes: usize) -> Self {
        let most = (bytes as u64).saturating_mul(FACTOR * LOOK).saturating_add(STEPS_LEAST);
        Self {
            bytes,
            left: Cell::new(most),
            told: Cell::new(most),
            is_out: Cell::new(false),
            look: Cell::new(None),
        }
    }

    /// Bytes of a text that what was spent since the last time counts as.
    ///
    /// # Errors
    /// It was too much, and what it found is of no use.
    pub fn spent(&self, pattern: &str) -> Result<usize, Fault> {
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
        let left = self.left.get();
        Ok(usize::try_from(self.told.replace(left) - left).unwrap_or(usize::MAX))
    }
}

impl Effort for Considered {
    /// Looks ahead to the end of a long text are what takes seconds.
    const FAR_BYTES: u64 = 4;

    /// One for each byte of texts of some megabytes.
    const STEPS_BACK_MAX: usize = 25_600_000;

    fn look(&self, pattern: usize, find: impl FnOnce() -> u64) -> u64 {
        let known = self.look.get().filter(|(of, _)| *of == pattern);
        let (_, look) = known.unwrap_or_else(|| (pattern, find()));
        self.look.set(Some((pattern, look)));
        look
    }

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
