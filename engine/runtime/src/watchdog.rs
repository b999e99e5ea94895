//! Wakes each executor ten times a second, and tells when one does not answer.
//!
//! glommio 0.9 can lose the wake of a timer; a wake from any other thread has revived every
//! executor that stopped so. So the kick is the remedy, and the count of answers the alarm. An
//! executor that is merely busy answers late: that is worth a line too, since no stretch of work
//! may hold a core for long.
//!
//! A kick can be what is lost (one of some 900 starts on a machine with far more to do than it can stood still for
//! good, all threads asleep): so an executor that stays silent is kicked again each second, and its answers stand in a
//! queue of tasks whose wakes write to the executor's event whether or not it says that it sleeps.
//!
//! Always true
//! 1. A waker is called once for each time that its slot is filled, and once more for each second of silence, as long
//!    as it counts ([`KICKS_MAX`]).
//! 2. The thread ends when the [`Watchdog`] is dropped.

use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::thread::JoinHandle;
use std::time::Duration;

use env::meter::Counter;
use env::{Error, Result};

/// Between two kicks.
const PERIOD: Duration = Duration::from_millis(100);

/// Kicks without an answer before a line is written: one second.
const SILENT_MAX: u64 = 10;

/// Kicks of a silent executor, one a second: each is a reference to its task, and there may be 32,767 of them.
const KICKS_MAX: u64 = 10_000;

/// One executor's side.
#[derive(Debug, Default)]
pub struct Beat {
    answers: AtomicU64,
    /// Times it was silent for too long.
    pub(crate) stalls: Counter,
    /// Milliseconds of those silences.
    pub(crate) stalled_ms: Counter,
    /// The longest time for which a task held the core, in microseconds.
    stretch_max_us: AtomicU64,
    /// Times that one held it for too long.
    pub(crate) long_stretches: Counter,
    slot: Mutex<Slot>,
}

/// Whom to wake.
#[derive(Debug, Default)]
struct Slot {
    waker: Option<Waker>,
    /// It was woken since it came here.
    kicked: bool,
}

impl Beat {
    /// A task held the core for so long.
    pub(crate) fn note_stretch(&self, stretch: Duration, is_long: bool) {
        let us = u64::try_from(stretch.as_micros()).unwrap_or(u64::MAX);
        self.stretch_max_us.fetch_max(us, Ordering::Relaxed);
        if is_long {
            self.long_stretches.add(1);
            log::debug!("a task held its core for {us} us");
        }
    }

    /// The longest time for which a task held the core.
    pub(crate) fn stretch_max(&self) -> Duration {
        Duration::from_micros(self.stretch_max_us.load(Ordering::Relaxed))
    }

    /// Answers the kicks; runs on the executor until that ends.
    pub async fn answer(self: Arc<Self>) {
        loop {
            let mut armed = false;
            poll_fn(|context| {
                if armed {
                    return Poll::Ready(());
                }
                armed = true;
                let waker = Some(context.waker().clone());
                *self.slot() = Slot { waker, kicked: false };
                Poll::Pending
            })
            .await;
            self.answers.fetch_add(1, Ordering::Relaxed);
            crate::system::give_back_if_asked();
        }
    }

    fn slot(&self) -> MutexGuard<'_, Slot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the executor where it waits for that, and `again` where it did not answer.
    fn kick(&self, again: bool) {
        let waker = {
            let mut slot = self.slot();
            let is_asked = again || !slot.kicked;
            slot.kicked = true;
            slot.waker.clone().filter(|_| is_asked)
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// How long one executor has been silent.
#[derive(Debug, Default)]
struct Silence {
    answers: u64,
    kicks: u64,
    told: bool,
}

impl Silence {
    /// Another second of silence has passed.
    fn is_to_be_kicked(&self) -> bool {
        self.kicks >= SILENT_MAX
            && self.kicks.is_multiple_of(SILENT_MAX)
            && self.kicks / SILENT_MAX <= KICKS_MAX
    }

    /// Takes one look; a line to write, if any.
    fn look(&mut self, answers: u64) -> Option<String> {
        if answers != self.answers {
            let line = self.told.then(|| {
                format!("answers again after {} ms", self.kicks * PERIOD.as_millis() as u64)
            });
            *self = Self { answers, kicks: 0, told: false };
            return line;
        }
        self.kicks += 1;
        if self.kicks < SILENT_MAX || self.told {
            return None;
        }
        self.told = true;
        Some(format!("has not answered for {} ms", self.kicks * PERIOD.as_millis() as u64))
    }
}

/// The thread that kicks.
#[derive(Debug)]
pub struct Watchdog {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Watchdog {
    /// Watches over the executors with these beats, in the order of their numbers.
    pub fn start(beats: Vec<Arc<Beat>>) -> Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let stopping = Arc::clone(&stop);
        let watch = move || {
            let mut silences: Vec<Silence> = Vec::new();
            silences.resize_with(beats.len(), Silence::default);
            while !stopping.load(Ordering::Relaxed) {
                for (number, (beat, silence)) in beats.iter().zip(&mut silences).enumerate() {
                    let (told, kicks) = (silence.told, silence.kicks);
                    if let Some(line) = silence.look(beat.answers.load(Ordering::Relaxed)) {
                        if told {
                            beat.stalled_ms.add(kicks * PERIOD.as_millis() as u64);
                        } else {
                            beat.stalls.add(1);
                        }
                        log::warn!("core {number} {line}");
                    }
                    beat.kick(silence.is_to_be_kicked());
                }
                std::thread::park_timeout(PERIOD);
            }
        };
        let thread = std::thread::Builder::new()
            .name("watchdog".into())
            .spawn(watch)
            .map_err(|error| Error::from_io(&error, "starting the watchdog"))?;
        Ok(Self { stop, thread: Some(thread) })
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            if thread.join().is_err() {
                log::error!("the watchdog panicked");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_is_told_once_and_its_end_too() {
        let mut silence = Silence::default();
        for _ in 1..SILENT_MAX {
            assert_eq!(silence.look(0), None);
        }
        assert_eq!(silence.look(0).as_deref(), Some("has not answered for 1000 ms"));
        assert_eq!(silence.look(0), None);
        assert_eq!(silence.look(1).as_deref(), Some("answers again after 1100 ms"));
        assert_eq!(silence.look(2), None);
    }

    #[test]
    fn each_kick_gets_one_answer() {
        let beat = Arc::new(Beat::default());
        let mut answering = std::pin::pin!(Arc::clone(&beat).answer());
        let mut context = std::task::Context::from_waker(Waker::noop());
        for answers in 0..3 {
            assert!(answering.as_mut().poll(&mut context).is_pending());
            assert_eq!(beat.answers.load(Ordering::Relaxed), answers);
            beat.kick(false);
        }
    }

    /// Whoever was not woken by the first kick was never woken again.
    #[test]
    fn who_stays_silent_is_kicked_again_each_second() {
        struct Count(AtomicU64);
        impl std::task::Wake for Count {
            fn wake(self: Arc<Self>) {
                self.0.fetch_add(1, Ordering::Relaxed);
            }
        }
        let (beat, count) = (Arc::new(Beat::default()), Arc::new(Count(AtomicU64::new(0))));
        let mut answering = std::pin::pin!(Arc::clone(&beat).answer());
        let waker = Waker::from(Arc::clone(&count));
        let mut context = std::task::Context::from_waker(&waker);
        assert!(answering.as_mut().poll(&mut context).is_pending());
        let mut silence = Silence::default();
        let mut woken = Vec::new();
        for _ in 0..30 {
            silence.look(beat.answers.load(Ordering::Relaxed));
            beat.kick(silence.is_to_be_kicked());
            woken.push(count.0.load(Ordering::Relaxed));
        }
        assert_eq!(woken[..9], [1; 9]);
        assert_eq!((woken[9], woken[19], woken[29]), (2, 3, 4));
        // It answers at last: one kick for one answer again.
        assert!(answering.as_mut().poll(&mut context).is_pending());
        silence.look(beat.answers.load(Ordering::Relaxed));
        beat.kick(silence.is_to_be_kicked());
        assert_eq!((count.0.load(Ordering::Relaxed), silence.kicks), (5, 0));
    }
}
