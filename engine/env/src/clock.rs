//! Time, as a question.

use std::time::Duration;

/// The clocks of one core. `monotonic` never goes back; `unix_ms` may jump.
#[allow(async_fn_in_trait, reason = "futures stay on the core that made them")]
pub trait Clock: Clone + 'static {
    /// Time since a fixed moment of this process.
    fn monotonic(&self) -> Duration;

    /// Milliseconds since 1970-01-01T00:00:00Z.
    fn unix_ms(&self) -> i64;

    /// Ends when `duration` has passed.
    async fn sleep(&self, duration: Duration);
}
