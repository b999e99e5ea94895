//! Java's regular expressions in settings: those of the scripting language, failures in the words of
//! a mapping.

pub use script::pattern::{Effort, Pattern, Replacement, Span, TooLong};

use super::effort::{self, Cost};
use crate::{Error, Result};

/// Compiles a pattern of Java's; `flags` as `CASE_INSENSITIVE|COMMENTS`.
///
/// # Errors
/// A pattern that is wrong, too long, or beyond what is here; a flag that Java does not have.
pub fn pattern(text: &str, flags: &str) -> Result<Pattern> {
    Pattern::java(text, flags).map_err(failed)
}

/// Reads a replacement of Java's: `$1`, `${name}`, `\$`.
///
/// # Errors
/// A group that the pattern does not have.
pub fn replacement(text: &str, pattern: &Pattern) -> Result<Replacement> {
    Replacement::java(text, pattern).map_err(failed)
}

/// Searches by backtracking, and what others read twice, count as all that analyses do ([`super::effort`]), and end where too much was done.
pub(crate) struct Counted;

impl Effort for Counted {
    /// That is [`PATTERN`].
    const COUNTS_WAY: bool = false;

    fn counts(&self) -> bool {
        effort::is_bounded()
    }

    fn has(&self, steps: u64) -> bool {
        effort::has(steps)
    }

    fn spend(&self, steps: u64) -> bool {
        effort::spend(steps).is_continue()
    }
}

/// What looking for all places of a pattern costs, beside what searches by backtracking count themselves.
pub(super) const PATTERN: Cost = Cost { text: 256, byte: 8 };

/// Bytes that become of one, about, where some are replaced by so many.
pub(super) fn replaced(bytes: usize) -> u32 {
    /// One byte in so many is replaced, in most texts.
    const SELDOM: usize = 8;
    u32::try_from(1 + bytes / SELDOM).unwrap_or(u32::MAX)
}

/// How much longer a text becomes by a replacement.
pub(super) trait Expands {
    /// Bytes that become of one, about.
    fn expansion(&self) -> u32;
}

impl Expands for Replacement {
    fn expansion(&self) -> u32 {
        replaced(self.len_bytes(&[]))
    }
}

fn failed(fault: script::Fault) -> Error {
    Error::illegal_argument(fault.message.unwrap_or_default())
}
