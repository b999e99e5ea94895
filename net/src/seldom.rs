//! What is said once in a while, however often there is cause.

use std::cell::Cell;
use std::time::Duration;

/// When something was said last.
#[derive(Debug)]
pub(crate) struct Seldom {
    every: Duration,
    last: Cell<Option<Duration>>,
}

impl Seldom {
    /// At most once in `every`.
    pub fn new(every: Duration) -> Self {
        Self { every, last: Cell::default() }
    }

    /// Is it to be said at `now`, of a clock that never goes back? Who asks says it then.
    pub fn is_due(&self, now: Duration) -> bool {
        let is_due = self.last.get().is_none_or(|last| now.saturating_sub(last) >= self.every);
        if is_due {
            self.last.set(Some(now));
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_counts_from_when_it_was_said() {
        let seldom = Seldom::new(Duration::from_secs(60));
        let due = [0, 1, 59, 60, 61, 119, 121].map(|at| seldom.is_due(Duration::from_secs(at)));
        assert_eq!(due, [true, false, false, true, false, false, true]);
    }
}
