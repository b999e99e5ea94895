//! Virtual time.

use std::time::Duration;

use env::Clock;

use crate::life::Life;

/// The clock of a simulated core.
#[derive(Clone)]
pub struct SimClock(pub(crate) Life);

impl Clock for SimClock {
    fn monotonic(&self) -> Duration {
        self.0.any_world().scheduler.now()
    }

    fn unix_ms(&self) -> i64 {
        let world = self.0.any_world();
        world.unix_ms_start.get() + world.scheduler.now().as_millis() as i64
    }

    async fn sleep(&self, duration: Duration) {
        self.0.later(duration, |_| ()).await;
    }
}
