//! Time for the workers on a processor that an executor fills.
//!
//! Merges and large segments are made by threads of the lowest priority. Where every processor has a
//! busy executor the kernel gives them 1.5 %: beside a flood that writes, segments came late, and memory
//! filled up with what waited for them. So an executor that has not paused by itself does so for a
//! moment, often, while jobs wait for a processor. Measured (`overload.py`, 60 s of four times the peak, one
//! core): answered well 90 % of the peak before, 99 with this; 383 MiB at most before, 277 with this. Not
//! mended: the kernel still gives the workers whole ticks now and then (4 ms with `CONFIG_HZ=250`, as
//! `perf sched timehist` shows), and the quiet caller waits for them.
//!
//! Always true
//! 1. There is no pause while jobs come forward by themselves (on an idle processor), or there are none.
//! 2. Pauses take some 7 % at most: [`PAUSE`], which the kernel rounds up, after [`EVERY`].

use std::cell::Cell;
use std::time::{Duration, Instant};

use crate::workers::Pool;

/// Between two pauses.
const EVERY: Duration = Duration::from_millis(2);

/// How long one is. The kernel adds its slack, 50 µs.
const PAUSE: Duration = Duration::from_micros(100);

/// Jobs that had less than this part of a processor need a pause.
const STARVED_PART: u32 = 16;

/// One executor's pauses.
#[derive(Debug)]
pub(crate) struct Pauses {
    workers: Box<[Pool]>,
    /// When it was looked last while jobs ran, and how much time they had had.
    looked: Cell<Option<(Instant, Duration)>>,
}

impl Pauses {
    /// For jobs of `workers`.
    pub(crate) fn new(workers: Box<[Pool]>) -> Self {
        Self { workers, looked: Cell::default() }
    }

    /// Pauses where that is needed; for an executor between two tasks.
    pub(crate) fn pause_if_needed(&self) {
        if self.is_needed(Instant::now()) {
            std::thread::sleep(PAUSE);
        }
    }

    /// Processor time that the jobs have had.
    fn time(&self) -> Duration {
        self.workers.iter().map(Pool::time).sum()
    }

    fn is_needed(&self, now: Instant) -> bool {
        if !self.workers.iter().any(Pool::is_busy) {
            self.looked.set(None);
            return false;
        }
        let Some((before, had)) = self.looked.get() else {
            self.looked.set(Some((now, self.time())));
            return false;
        };
        let wall = now.saturating_duration_since(before);
        if wall < EVERY {
            return false;
        }
        let time = self.time();
        self.looked.set(Some((now, time)));
        time.saturating_sub(had) < wall / STARVED_PART
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use futures_lite::future::block_on;

    use super::*;
    use crate::workers::{OfOne, PoolOptions};

    #[test]
    fn jobs_that_get_no_processor_are_paused_for_and_others_not() {
        let of_one = OfOne::ALL;
        let options = PoolOptions {
            name: "test",
            threads: 1,
            niceness: 10,
            waiting_max: 8,
            of_one,
            long_max: 1,
        };
        let pool = Pool::start(&options).expect("threads can be made");
        let pauses = Pauses::new([pool.clone()].into());
        let begun = Instant::now();
        assert!(!pauses.is_needed(begun), "there is no job");
        // A job that waits has no processor, as if others had them all.
        let (release, wait) = mpsc::channel::<()>();
        let (started, starts) = mpsc::channel::<()>();
        let waiting = pool.clone();
        let thread = std::thread::spawn(move || {
            block_on(waiting.run("waits", move || {
                started.send(()).expect("the test listens");
                wait.recv().expect("the test releases");
            }))
        });
        starts.recv().expect("it runs");
        assert!(!pauses.is_needed(begun), "nothing is known of it yet");
        assert!(!pauses.is_needed(begun + EVERY / 2), "not so soon");
        assert!(pauses.is_needed(begun + EVERY));
        assert!(!pauses.is_needed(begun + EVERY), "not twice");
        release.send(()).expect("it waits");
        thread.join().expect("no panic").expect("it ran");
        while pool.is_busy() {
            std::thread::yield_now();
        }
        assert!(!pauses.is_needed(begun + EVERY * 4), "it is done");
    }
}
