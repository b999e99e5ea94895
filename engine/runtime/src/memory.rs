//! Measures what memory the process really has, and keeps back in the budget what nobody counts.
//!
//! What a request holds for long is counted when it is taken ([`env::budget`]). Beside that there is
//! memory that no count sees: stacks, rings, tables of the process, what a request makes for a
//! moment, what the allocator keeps of what was freed. A thread reads the size of the process every
//! few milliseconds; what of it is not counted is set aside, so that both together stay within the
//! setting. The peer does the same when it asks its heap instead of its own counts (the parent
//! breaker with real memory).
//!
//! Always true
//! 1. What is set aside is the most that was found uncounted within the last one to two
//!    [`TURN`]s, and a tenth of all for what grows between two looks; never more than seven
//!    eighths of all, so that a node with too little memory still answers one request after another.
//! 2. What was freed is given back to the system by this thread alone, which nobody waits for. While the
//!    process is larger than half of what it may have it does so more often, and each executor and worker hands
//!    over at its next beat what was freed there.
//! 3. The thread ends when the [`Gauge`] is dropped.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use env::budget::Budget;
use env::{Error, Result};

use crate::system;

/// Between two looks where there is plenty.
const CALM: Duration = Duration::from_millis(10);

/// Between two looks where more than half is in use.
const TIGHT: Duration = Duration::from_millis(2);

/// Between two times at which what was freed is given back, where there is plenty, and where more than half is in use.
const GIVE_BACK: [Duration; 2] = [Duration::from_millis(200), Duration::from_millis(50)];

/// So long the most that was found counts, at least.
const TURN: Duration = Duration::from_millis(500);

/// One part in so many is kept for what grows between two looks.
const SLACK_PART: usize = 10;

/// One part in so many is never set aside.
const USABLE_PART: usize = 8;

/// The most of a figure within the last one to two turns.
#[derive(Debug)]
struct Most {
    now: usize,
    before: usize,
    turned: Instant,
}

impl Most {
    fn new(at: Instant) -> Self {
        Self { now: 0, before: 0, turned: at }
    }

    fn note(&mut self, figure: usize, at: Instant) -> usize {
        if at.duration_since(self.turned) >= TURN {
            self.before = self.now;
            self.now = 0;
            self.turned = at;
        }
        self.now = self.now.max(figure);
        self.now.max(self.before)
    }
}

/// What is kept back of `total` where `uncounted` was found.
fn kept_back(total: usize, uncounted: usize) -> usize {
    (uncounted + total / SLACK_PART).min(total - total / USABLE_PART)
}

/// The process's own line of sizes.
struct Sizes {
    file: File,
    page_bytes: usize,
}

impl Sizes {
    fn open() -> Result<Self> {
        let path = "/proc/self/statm";
        let file = File::open(path).map_err(|error| Error::from_io(&error, path))?;
        Ok(Self { file, page_bytes: system::page_bytes() })
    }

    /// Bytes in memory that no file backs; `None` where the system does not tell.
    fn anonymous_bytes(&self) -> Option<usize> {
        let mut line = [0; 128];
        let length = self.file.read_at(&mut line, 0).ok()?;
        anonymous_pages(&line[..length])?.checked_mul(self.page_bytes)
    }
}

/// Resident pages less those that are shared with files, of a line as `/proc/self/statm` has it.
fn anonymous_pages(line: &[u8]) -> Option<usize> {
    let mut words = std::str::from_utf8(line).ok()?.split_ascii_whitespace().skip(1);
    let resident: usize = words.next()?.parse().ok()?;
    let shared: usize = words.next()?.parse().ok()?;
    Some(resident.saturating_sub(shared))
}

/// The thread that measures.
#[derive(Debug)]
pub struct Gauge {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Gauge {
    /// Measures for this budget, whose total is all that the process may have. What is there now is
    /// set aside before this returns.
    pub fn start(budget: Budget) -> Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let stopping = Arc::clone(&stop);
        let sizes = Sizes::open()?;
        let mut most = Most::new(Instant::now());
        let mut given_back = Instant::now();
        let mut look = move || {
            let Some(bytes) = sizes.anonymous_bytes() else { return CALM };
            let counted: usize = budget.taken_bytes().iter().map(|(_, bytes)| bytes).sum();
            let (total, at) = (budget.total_bytes(), Instant::now());
            let uncounted = most.note(bytes.saturating_sub(counted), at);
            budget.set_aside(kept_back(total, uncounted));
            let is_tight = bytes > total / 2;
            system::ask_to_give_back(is_tight);
            if at.duration_since(given_back) >= GIVE_BACK[usize::from(is_tight)] {
                given_back = at;
                system::give_all_back();
            }
            if is_tight { TIGHT } else { CALM }
        };
        look();
        let measure = move || {
            while !stopping.load(Ordering::Relaxed) {
                std::thread::park_timeout(look());
            }
        };
        let thread = std::thread::Builder::new()
            .name("memory".into())
            .spawn(measure)
            .map_err(|error| Error::from_io(&error, "starting the gauge of memory"))?;
        Ok(Self { stop, thread: Some(thread) })
    }
}

impl Drop for Gauge {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            if thread.join().is_err() {
                log::error!("the gauge of memory panicked");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    #[test]
    fn a_line_of_sizes_is_read() {
        assert_eq!(anonymous_pages(b"2000 1500 400 1 0 900 0\n"), Some(1100));
        assert_eq!(anonymous_pages(b"2000 15"), None);
        assert_eq!(anonymous_pages(b""), None);
        assert_eq!(anonymous_pages(b"1 x 2"), None);
    }

    #[test]
    fn what_was_found_counts_for_one_turn_at_least() {
        let start = Instant::now();
        let mut most = Most::new(start);
        assert_eq!(most.note(70, start), 70);
        assert_eq!(most.note(10, start + TURN / 2), 70);
        assert_eq!(most.note(10, start + TURN), 70);
        assert_eq!(most.note(10, start + TURN * 2), 10);
    }

    #[test]
    fn something_stays_usable() {
        assert_eq!(kept_back(100 * MIB, 40 * MIB), 50 * MIB);
        assert_eq!(kept_back(128 * MIB, 500 * MIB), 112 * MIB);
    }

    /// Memory that nobody counts lessens what may be taken, and comes back when it is freed.
    #[test]
    fn uncounted_memory_is_set_aside() {
        let sizes = Sizes::open().unwrap();
        let before = sizes.anonymous_bytes().unwrap();
        let budget = Budget::new(before + 256 * MIB);
        let gauge = Gauge::start(budget.clone()).unwrap();
        assert!(budget.aside_bytes() >= before.min(budget.total_bytes() * 7 / 8));
        let held = vec![1_u8; 64 * MIB];
        let end = Instant::now() + Duration::from_secs(20);
        while budget.aside_bytes() < before + 48 * MIB && Instant::now() < end {
            std::thread::sleep(CALM);
        }
        assert!(budget.aside_bytes() >= before + 48 * MIB, "{} of {before}", budget.aside_bytes());
        drop(std::hint::black_box(held));
        drop(gauge);
    }
}
