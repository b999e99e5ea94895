//! Java's regular expressions in settings: those of the scripting language, failures in the words of
//! a mapping.

pub use script::pattern::{Pattern, Replacement};

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

fn failed(fault: script::Fault) -> Error {
    Error::illegal_argument(fault.message.unwrap_or_default())
}
