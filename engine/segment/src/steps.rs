//! How far long work is, and whether it shall go on.
//!
//! A merge runs on a worker and takes seconds to minutes. It says after each block how many bytes
//! of its inputs are behind it, and asks at the same time whether anybody still wants the result.
//! Not here: pacing (`shard/merge` may wait inside its answer) and clocks.

use std::ops::ControlFlow;

use env::breath::breathe;

use crate::error::{Error, Result};

/// Asked after each step of long work.
pub type Watch<'a> = dyn FnMut(Done) -> ControlFlow<()> + 'a;

/// How far the work is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// Bytes of the inputs that are behind; an estimate that only rises.
    pub bytes: u64,
    /// Bytes of all inputs.
    pub total_bytes: u64,
}

/// Counts steps and asks the watch.
pub struct Steps<'a> {
    done: Done,
    watch: Option<&'a mut Watch<'a>>,
}

impl<'a> Steps<'a> {
    /// Work over `total_bytes`, watched.
    pub fn new(total_bytes: u64, watch: &'a mut Watch<'a>) -> Self {
        Self { done: Done { bytes: 0, total_bytes }, watch: Some(watch) }
    }

    /// Work that nobody watches.
    pub fn unwatched() -> Steps<'static> {
        Steps { done: Done { bytes: 0, total_bytes: 0 }, watch: None }
    }

    /// Notes that `bytes` more are behind; [`Error::Cancelled`] where the work shall end.
    pub fn step(&mut self, bytes: u64) -> Result<()> {
        breathe();
        self.done.bytes = self.done.bytes.saturating_add(bytes).min(self.done.total_bytes);
        let Some(watch) = &mut self.watch else { return Ok(()) };
        match watch(self.done) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Cancelled),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_ends_where_the_watch_breaks() {
        let mut seen = Vec::new();
        let mut watch = |done: Done| {
            seen.push(done.bytes);
            if done.bytes < 5 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let mut steps = Steps::new(10, &mut watch);
        assert_eq!(steps.step(3), Ok(()));
        assert_eq!(steps.step(100), Err(Error::Cancelled));
        assert_eq!(seen, [3, 10], "never above the total");
        assert_eq!(Steps::unwatched().step(1), Ok(()));
    }
}
