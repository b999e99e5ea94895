//! Time: the system's clocks, and timers of this core's executor.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use env::Clock;
use futures_lite::future;
use glommio::timer::Timer;

/// The system's clocks. All clones count from the same moment.
#[derive(Clone, Copy, Debug)]
pub struct RuntimeClock {
    start: Instant,
}

impl RuntimeClock {
    /// Counts from now.
    pub fn start() -> Self {
        Self { start: Instant::now() }
    }
}

/// Does `work` on this core, or gives up after `limit`: `None`.
pub async fn within<T>(limit: Duration, work: impl Future<Output = T>) -> Option<T> {
    let time_up = async {
        Timer::new(limit).await;
        None
    };
    future::or(async { Some(work.await) }, time_up).await
}

impl Clock for RuntimeClock {
    fn monotonic(&self) -> Duration {
        self.start.elapsed()
    }

    fn unix_ms(&self) -> i64 {
        match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
            Err(before) => i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |ms| -ms),
        }
    }

    async fn sleep(&self, duration: Duration) {
        Timer::new(duration).await;
    }
}
