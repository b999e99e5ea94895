//! How long tasks hold their core without letting others run.
//!
//! Each poll is timed. The clock on the wall also runs while another process has the processor, so a
//! long one is judged by the processor time of its thread. That is read before a poll only where
//! the last reading is a millisecond old: what is told is at most so much too long.

use std::cell::Cell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::system;
use crate::watchdog::Beat;

/// A reading of the processor's clock serves for so long.
const READING_AGE: Duration = Duration::from_millis(1);

/// Shorter polls are not looked at.
const LOOKED_AT: Duration = Duration::from_millis(1);

/// A stretch above this is too long: nobody else was served meanwhile.
const LONG: Duration = Duration::from_millis(5);

/// So long no executor is between two tasks unless it looks at its rings, or sleeps.
const LOOK: Duration = Duration::from_micros(10);

/// One executor's side.
#[derive(Debug)]
pub(crate) struct Watch {
    beat: Arc<Beat>,
    polls: Cell<u64>,
    /// When the last poll ended.
    ended: Cell<Instant>,
    /// When the first poll began after the executor had looked at its rings.
    looked: Cell<Instant>,
    /// When the processor's clock was read, and what it told.
    reading: Cell<(Instant, Duration)>,
}

impl Watch {
    /// Tells `beat` what it finds.
    pub(crate) fn new(beat: Arc<Beat>) -> Self {
        let now = Instant::now();
        let reading = Cell::new((now, system::thread_time()));
        Self { beat, polls: Cell::new(0), ended: Cell::new(now), looked: Cell::new(now), reading }
    }

    /// Polls so far.
    pub(crate) fn polls(&self) -> u64 {
        self.polls.get()
    }

    /// About when the executor last looked at its rings by itself; where a look takes less than
    /// [`LOOK`], some time before.
    pub(crate) fn looked(&self) -> Instant {
        self.looked.get()
    }

    /// A poll begins.
    pub(crate) fn begin(&self) -> Instant {
        self.polls.set(self.polls.get() + 1);
        let now = Instant::now();
        if now.duration_since(self.ended.get()) > LOOK {
            self.looked.set(now);
        }
        if now.duration_since(self.reading.get().0) > READING_AGE {
            self.reading.set((now, system::thread_time()));
        }
        now
    }

    /// It has ended; `task` says whose poll it was.
    pub(crate) fn end(&self, begun: Instant, task: &str) {
        let now = Instant::now();
        self.ended.set(now);
        let wall = now.duration_since(begun);
        if wall < LOOKED_AT {
            return;
        }
        let time = system::thread_time();
        let stretch = wall.min(time.saturating_sub(self.reading.get().1));
        self.reading.set((now, time));
        self.beat.note_stretch(stretch, stretch > LONG);
        let level = if stretch > LONG { log::Level::Debug } else { log::Level::Trace };
        log::log!(level, "a core was held for {stretch:?} by {task}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_executor_that_was_idle_has_looked() {
        let watch = Watch::new(Arc::default());
        let poll = || {
            let begun = watch.begin();
            watch.end(begun, "this test");
            watch.looked() == begun
        };
        poll();
        std::thread::sleep(LOOK * 2);
        assert!(poll());
        // One right behind another is no look; the machine may come between the two, but not each time.
        assert!((0..1_000).any(|_| !poll()));
    }

    #[test]
    fn work_counts_and_sleep_does_not() {
        let beat: Arc<Beat> = Arc::default();
        let watch = Watch::new(Arc::clone(&beat));
        let begun = watch.begin();
        std::thread::sleep(Duration::from_millis(20));
        watch.end(begun, "this test");
        assert!(beat.stretch_max() < LONG, "asleep it held nothing");
        assert_eq!(beat.long_stretches.get(), 0);
        let begun = watch.begin();
        let mut sum = 0u64;
        while system::thread_time().saturating_sub(watch.reading.get().1) < LONG * 2 {
            sum = sum.wrapping_add(1);
        }
        watch.end(begun, "this test");
        assert!(beat.stretch_max() >= LONG, "{sum}");
        assert_eq!((beat.long_stretches.get(), watch.polls()), (1, 2));
    }
}
