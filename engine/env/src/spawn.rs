//! Tasks on this core, and work that leaves it.

use std::sync::Arc;
use std::time::Duration;

use crate::Result;
use crate::sync::{Mutex, lock};
use crate::turns::Lane;

/// See [`Spawn::yield_at`].
const ROUNDS: usize = 16;

/// What a loop has done since it last asked what time it is.
#[derive(Debug, Default)]
pub struct Rounds(usize);

/// Bytes that are copied in as long as a short round takes, about.
const ROUND_BYTES: usize = 4 << 10;

impl Rounds {
    /// A round is done, in which `bytes` were copied: lets others run, where that is due.
    pub async fn done(&mut self, spawn: &impl Spawn, bytes: usize) {
        self.0 += 1 + bytes / ROUND_BYTES;
        if self.0 >= ROUNDS {
            self.0 = 0;
            spawn.yield_if_needed().await;
        }
    }
}

/// Runs things.
#[allow(async_fn_in_trait, reason = "futures stay on the core that made them")]
pub trait Spawn: Clone + 'static {
    /// Runs `task` on this core until it ends, beside its maker.
    fn spawn(&self, task: impl Future<Output = ()> + 'static);

    /// Lets other tasks of this core run, where this one has run for long enough (200 µs).
    async fn yield_if_needed(&self);

    /// As [`Spawn::yield_if_needed`], where this one has run for `_most`.
    async fn yield_after(&self, _most: Duration) {
        self.yield_if_needed().await;
    }

    /// As [`Spawn::yield_if_needed`], in a loop whose rounds take some ten microseconds at most: only
    /// each of a few rounds asks what time it is. `at` counts them.
    async fn yield_at(&self, at: usize) {
        if at % ROUNDS == ROUNDS - 1 {
            self.yield_if_needed().await;
        }
    }

    /// As [`Spawn::yield_if_needed`], however short this task has run: what others can do now is done
    /// before it goes on.
    async fn give_way(&self) {
        self.yield_if_needed().await;
    }

    /// The name of the thread that this runs on, for lines of logs.
    fn thread_name(&self) -> String {
        "core".to_owned()
    }

    /// Says whether what is polled next is part of a task that yields by itself
    /// ([`crate::turns`]): its yields then only give the turn back.
    fn set_within(&self, _within: bool) {}

    /// Runs `job` on a worker thread (heavy work: hashing, sealing a buffer). `Busy` where too many
    /// wait.
    async fn work<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> Result<T>;

    /// As [`Spawn::work`], for a step of a search that no core can give: it stands before nobody's documents.
    /// Callers have turns, and none of them has all threads. Whoever asks says whose turn it is.
    async fn work_in_turn<T: Send + 'static>(
        &self,
        _lane: Lane,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        self.work(job).await
    }

    /// As [`Spawn::work`], for reading a document whose analyzers may take seconds: those of other lanes, which
    /// are those of other indices, do not stand behind it.
    async fn work_on_document<T: Send + 'static>(
        &self,
        _lane: Lane,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        self.work(job).await
    }

    /// As [`Spawn::work_on_document`], for one that turned out to be long: such never have all threads, whosever
    /// they are.
    async fn work_on_long_document<T: Send + 'static>(
        &self,
        lane: Lane,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        self.work_on_document(lane, job).await
    }

    /// As [`Spawn::work`], for what somebody waits for and is some ten milliseconds: long changes of the cluster
    /// state, what a search means. It never stands behind documents, merges or long steps of searches.
    async fn work_short<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        self.work(job).await
    }

    /// As [`Spawn::work_short`], to unpack, read or pack the body of a request or an answer; it stands behind
    /// other bodies alone.
    async fn work_on_body<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        self.work_short(job).await
    }

    /// As [`Spawn::work_short`], to make or check the hash of a password; it stands behind others of those alone.
    async fn work_on_hash<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        self.work_short(job).await
    }

    /// As [`Spawn::work_short`], for a job that is better done late, here, than not at all.
    ///
    /// # Errors
    /// The job, where no worker had room for it; nothing, where one has begun it and does not come to its end.
    async fn work_short_or_back<T: Send + 'static, J: FnOnce() -> T + Send + 'static>(
        &self,
        job: J,
    ) -> std::result::Result<T, Option<J>> {
        // Whoever comes to it first takes it.
        let place = Arc::new(Mutex::new(Some(job)));
        let lent = Arc::clone(&place);
        let take = move || {
            let job = lock(&lent).take();
            job.map(|job| job())
        };
        match self.work_short(take).await {
            Ok(Some(done)) => Ok(done),
            _ => Err(lock(&place).take()),
        }
    }

    /// As [`Spawn::work_short_or_back`]; what comes back is done here.
    async fn work_short_or_here<T: Send + 'static, J: FnOnce() -> T + Send + 'static>(
        &self,
        job: J,
    ) -> T {
        match self.work_short_or_back(job).await {
            Ok(done) => done,
            Err(job) => job.expect("a worker that panics ends the process")(),
        }
    }

    /// As [`Spawn::work`], for a job of seconds to minutes (merging): in a lane of its own, so that
    /// no short job waits behind it.
    async fn work_long<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        self.work(job).await
    }
}
