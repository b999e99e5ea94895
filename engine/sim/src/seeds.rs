//! Which seeds a test runs.

use std::ops::Range;

/// `few`, as part of every test run, or those that the environment variable names: `from..to`, without the
/// last.
///
/// # Panics
/// It names none.
pub fn seeds(variable: &str, few: Range<u64>) -> Range<u64> {
    let Ok(given) = std::env::var(variable) else { return few };
    let ends =
        given.split_once("..").and_then(|(from, to)| Some((from.parse().ok()?, to.parse().ok()?)));
    match ends {
        Some((from, to)) if from < to => from..to,
        _ => panic!("{variable}={given} names no seeds; {variable}=0..1000 does"),
    }
}
