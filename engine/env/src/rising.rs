//! Numbers that only rise, shared between cores: the score below which a hit is of no more use.
//!
//! Always true
//! 1. What is read was raised by somebody, and is never below what was read before.
//! 2. Reading late is harmless: a stale value prunes less, never more. So all access is relaxed.
//!
//! The bit patterns of floats that are not negative have the order of the floats, so one
//! `fetch_max` on the bits raises a score.

use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// A shared score that only rises; starts at 0.
#[derive(Debug)]
pub struct Rising(AtomicU32);

impl Rising {
    /// Starts at 0.
    pub fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// Raises it to `score` where that is higher. Scores are never negative nor NaN; such a value
    /// would be a bug elsewhere and is ignored here.
    #[inline]
    pub fn raise(&self, score: f32) {
        debug_assert!(score >= 0.0, "a score is not negative");
        // Also keeps -0.0 out, whose bits would stand above every score.
        if score > 0.0 {
            self.0.fetch_max(score.to_bits(), Ordering::Relaxed);
        }
    }

    /// The highest score raised so far, as far as this core has heard.
    #[inline]
    pub fn get(&self) -> f32 {
        f32::from_bits(self.0.load(Ordering::Relaxed))
    }
}

impl Default for Rising {
    fn default() -> Self {
        Self::new()
    }
}

/// A shared whole number that only rises.
#[derive(Debug)]
pub struct RisingNumber(AtomicU64);

impl RisingNumber {
    /// Starts at `value`.
    pub fn new(value: u64) -> Self {
        Self(AtomicU64::new(value))
    }

    /// Raises it to `value` where that is higher.
    #[inline]
    pub fn raise(&self, value: u64) {
        self.0.fetch_max(value, Ordering::Relaxed);
    }

    /// The highest value raised so far, as far as this core has heard.
    #[inline]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn scores_rise_in_the_order_of_floats() {
        let rising = Rising::new();
        let scores = [0.0, f32::MIN_POSITIVE, 1e-10, 0.1, 0.5, 1.0, 2.2, 1e10, f32::INFINITY];
        for score in scores {
            rising.raise(score);
            assert_eq!(rising.get(), score);
        }
        for score in scores {
            rising.raise(score);
            assert_eq!(rising.get(), f32::INFINITY, "a lower score changes nothing");
        }
    }

    #[test]
    fn minus_zero_raises_nothing() {
        let rising = Rising::new();
        rising.raise(-0.0);
        assert_eq!(rising.get().to_bits(), 0);
    }

    #[test]
    fn numbers_rise() {
        let rising = RisingNumber::new(5);
        rising.raise(3);
        assert_eq!(rising.get(), 5);
        rising.raise(u64::MAX);
        assert_eq!(rising.get(), u64::MAX);
    }
}

#[cfg(all(test, loom))]
mod model {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn two_raisers_leave_the_higher_and_no_reader_sees_it_fall() {
        loom::model(|| {
            let rising = Arc::new(Rising::new());
            let threads = [1.0f32, 2.0].map(|score| {
                let rising = Arc::clone(&rising);
                loom::thread::spawn(move || rising.raise(score))
            });
            let first = rising.get();
            let second = rising.get();
            assert!(first <= second);
            for thread in threads {
                thread.join().expect("raised");
            }
            assert_eq!(rising.get(), 2.0);
        });
    }
}
