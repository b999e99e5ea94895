//! When wrong passwords are refused: at times that tell nothing of how any password is hashed.
//!
//! Checks stand in one line of workers, and take from 5 to 120 ms by the hash. A refusal that came as soon as
//! its check ends would tell by its own time whether there is such a user, and by the time of those behind it, too:
//! nine wrong passwords at once made the last of them late where the hash is costly. So a refusal comes when it
//! would if each check before it, and its own, took [`CHECK`].
//!
//! Always true
//! 1. All cores share one line, as they share the workers.
//! 2. Who is let in never waits here.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Longer than the costliest hash that is taken needs for both forms of a password.
pub(crate) const CHECK: Duration = Duration::from_millis(150);

/// No refusal waits longer than for so many checks.
const PLACES_MAX: u32 = 32;

/// How many passwords are being checked; clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Line {
    standing: Arc<AtomicU32>,
}

/// A place in it, left when dropped.
#[derive(Debug)]
pub(crate) struct Place {
    line: Line,
    /// From 1.
    at: u32,
}

impl Line {
    /// Takes the last place.
    pub(crate) fn enter(&self) -> Place {
        let before = self.standing.fetch_add(1, Ordering::Relaxed);
        Place { line: self.clone(), at: before + 1 }
    }
}

impl Place {
    /// How long after it was taken and `took` later a refusal still waits.
    pub(crate) fn rest(&self, took: Duration) -> Duration {
        let due = CHECK * self.at.min(PLACES_MAX);
        match due.checked_sub(took) {
            Some(rest) => rest,
            // A busy machine: the next whole step.
            None => {
                let beyond = (took - due).as_nanos() % CHECK.as_nanos();
                CHECK - Duration::from_nanos(u64::try_from(beyond).unwrap_or(0))
            }
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.line.standing.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_waits_for_those_before_it() {
        let line = Line::default();
        let ms = Duration::from_millis;
        let (first, second) = (line.enter(), line.clone().enter());
        assert_eq!((first.rest(ms(20)), second.rest(ms(20))), (ms(130), ms(280)));
        assert_eq!(second.rest(ms(299)), ms(1), "whatever the hashes took");
        assert_eq!(first.rest(ms(200)), ms(100), "late, and still at a whole step");
        drop(first);
        assert_eq!(line.enter().rest(ms(0)), ms(300));
        drop(second);
        assert_eq!(line.enter().rest(ms(0)), ms(150));
        let crowd: Vec<_> = (0..100).map(|_| line.enter()).collect();
        assert_eq!(crowd[99].rest(ms(0)), ms(150 * 32));
    }
}
