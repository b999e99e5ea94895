//! What is counted while a node runs: numbers that only rise, and how times spread.
//!
//! Always true
//! 1. A number never falls; what is "now" is told by two of them, begun and ended.
//! 2. Adding is one relaxed atomic addition. Each core adds to meters of its own, on cache lines of
//!    their own; whoever asks sums them up. A sum may miss what is being added.

use std::time::Duration;

use crate::sync::{AtomicU64, Ordering};

/// A number that only rises.
#[derive(Debug)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Starts at 0.
    pub fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Adds.
    #[inline]
    pub fn add(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    /// The sum so far.
    #[inline]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Default for Counter {
    fn default() -> Self {
        Self::new()
    }
}

/// How often something was done, and how long it took in all.
#[derive(Debug, Default)]
pub struct Timed {
    /// Times done.
    pub count: Counter,
    /// Microseconds in all.
    pub time_us: Counter,
}

impl Timed {
    /// One more.
    pub fn add(&self, time: Duration) {
        self.count.add(1);
        self.time_us.add(micros(time));
    }

    /// More time of one that was counted.
    pub fn lengthen(&self, time: Duration) {
        self.time_us.add(micros(time));
    }
}

/// Something that begins, takes a while, and ends.
#[derive(Debug, Default)]
pub struct Span {
    /// Times begun.
    pub begun: Counter,
    /// Those that ended well.
    pub ended: Timed,
    /// Those that failed, or were given up.
    pub failed: Counter,
}

impl Span {
    /// Under way now, as far as this core has heard.
    pub fn current(&self) -> u64 {
        self.begun.get().saturating_sub(self.ended.count.get()).saturating_sub(self.failed.get())
    }
}

/// Upper bounds of a histogram's steps, in microseconds; above the last there is one step more.
pub const STEPS_US: [u64; 15] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000,
    1_000_000, 5_000_000, 30_000_000,
];

/// How times spread.
#[derive(Debug, Default)]
pub struct Histogram {
    steps: [Counter; STEPS_US.len() + 1],
    sum_us: Counter,
}

impl Histogram {
    /// One more time.
    pub fn add(&self, time: Duration) {
        let time_us = micros(time);
        let step = STEPS_US.partition_point(|bound| *bound < time_us);
        self.steps[step].add(1);
        self.sum_us.add(time_us);
    }

    /// Adds what was counted here to `sum`.
    pub fn add_to(&self, sum: &mut Spread) {
        for (step, counted) in sum.steps.iter_mut().zip(&self.steps) {
            *step += counted.get();
        }
        sum.sum_us += self.sum_us.get();
    }
}

/// Histograms of several cores together; plain data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spread {
    /// Times in each step, not summed up.
    pub steps: [u64; STEPS_US.len() + 1],
    /// Microseconds in all.
    pub sum_us: u64,
}

impl Spread {
    /// Times in all.
    pub fn count(&self) -> u64 {
        self.steps.iter().sum()
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_time_falls_into_the_first_step_that_holds_it() {
        let histogram = Histogram::default();
        for us in [0, 100, 101, 999, 1_000, 40_000_000] {
            histogram.add(Duration::from_micros(us));
        }
        let mut sum = Spread::default();
        histogram.add_to(&mut sum);
        histogram.add_to(&mut sum);
        assert_eq!(sum.steps[..4], [4, 2, 0, 4]);
        assert_eq!(sum.steps[STEPS_US.len()], 2);
        assert_eq!((sum.count(), sum.sum_us), (12, 2 * 40_002_200));
    }

    #[test]
    fn what_is_under_way_has_begun_and_not_ended() {
        let span = Span::default();
        span.begun.add(2);
        span.ended.add(Duration::from_millis(3));
        assert_eq!((span.current(), span.ended.time_us.get()), (1, 3_000));
    }
}
