//! How much work a step is given: what steps before it took tells how much fits into [`STEP`].
//!
//! The unit of work is a document looked at. What is done with one costs from a few nanoseconds to microseconds
//! (a digest that grows beside a cold cache), so no number of them is a time.

use std::time::Duration;

use super::STEP_WORK;

/// How long a step should take.
const STEP: Duration = Duration::from_micros(250);

/// The least work of a step.
const WORK_MIN: u64 = 2_000;

/// The pace of one search on one core.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    work: u64,
}

impl Default for Pace {
    fn default() -> Self {
        Self { work: u64::from(STEP_WORK) }
    }
}

impl Pace {
    /// Work of the next step.
    pub fn work(self) -> u32 {
        u32::try_from(self.work).unwrap_or(STEP_WORK)
    }

    /// A step of that much work took `time`. One that ended early was cheap, and says little: the next grows by
    /// half at most.
    pub fn took(&mut self, time: Duration) {
        let time = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).max(1);
        let fits = self.work.saturating_mul(STEP.as_nanos() as u64) / time;
        self.work = fits.min(self.work * 3 / 2).clamp(WORK_MIN, u64::from(STEP_WORK));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_that_take_long_become_shorter_and_grow_again() {
        let mut pace = Pace::default();
        assert_eq!(pace.work(), STEP_WORK);
        pace.took(Duration::ZERO);
        assert_eq!(pace.work(), STEP_WORK, "where time stands still nothing changes");
        pace.took(STEP * 5);
        assert_eq!(pace.work(), STEP_WORK / 5);
        pace.took(STEP);
        assert_eq!(pace.work(), STEP_WORK / 5);
        pace.took(STEP / 10);
        assert_eq!(pace.work(), STEP_WORK / 5 * 3 / 2);
        pace.took(Duration::from_secs(9));
        assert_eq!(u64::from(pace.work()), WORK_MIN);
    }
}
