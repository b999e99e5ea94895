//! The shard: what its home core holds, and the calls that others make.
//!
//! Always true
//! 1. Long work (write, refresh, flush, merge) runs in tasks of its own: a caller who stops waiting
//!    stops nothing.
//! 2. Nothing below keeps a borrow over a wait.
//!
//! Not here: the work itself; each kind has its file.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use base::planted::{Fault, planted};
use base::{PrimaryTerm, SeqNo, ShardId};
use consensus::{Local, Log, Reserve};
use env::budget::{Advance, Lease};
use env::published::Published;
use env::queue::Queue;
use env::rising::RisingNumber;
use env::turns::Lane;
use env::{Clock, Disk, Env, Spawn, reply};
use mapping::Mapping;
use mapping::document::Parser;
use segment::View;

use crate::apply::LoggedPart;
use crate::config::ShardConfig;
use crate::error::{Error, Result, WriteError};
use crate::manifest::Manifest;
use crate::merge::Aim;
use crate::operation::{Answers, Found, Reading, Realtime, WriteBatch};
use crate::reader::{Reader, Touch};
use crate::state::State;
use crate::stats::{SegmentStats, Stats, Work};
use crate::waiters::Waiters;
use crate::write::{Incoming, UnderWay};

/// How long a job waits that found no place at the workers.
pub(crate) const BUSY_PAUSE: Duration = Duration::from_millis(5);

/// What a shard is opened with.
pub struct Setup<E: Env> {
    /// Which shard.
    pub id: ShardId,
    /// Its folder, of its own.
    pub dir: PathBuf,
    /// Settings.
    pub config: ShardConfig,
    /// The index's mapping: replay parses by it.
    pub mapping: Arc<Mapping>,
    /// Where the memory of buffers comes from.
    pub lease: Lease,
    /// The core's disk space for logs that run out of it.
    pub reserve: Option<Reserve<E>>,
}

/// One shard on its home core; clones are the same shard.
pub struct Shard<E: Env> {
    pub(crate) inner: Rc<Inner<E>>,
}

impl<E: Env> Clone for Shard<E> {
    fn clone(&self) -> Self {
        Self { inner: Rc::clone(&self.inner) }
    }
}

/// Where a shard stands in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// It takes operations.
    Open,
    /// It ends what is under way and takes nothing new.
    Closing,
    /// It is over.
    Closed,
}

/// Sums that only rise.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) index: Work,
    pub(crate) delete: Work,
    pub(crate) noop_updates: u64,
    pub(crate) refused: u64,
    pub(crate) conflicts: u64,
    pub(crate) get: Work,
    pub(crate) get_missing: Work,
    pub(crate) refresh: Work,
    pub(crate) flush: Work,
    pub(crate) flush_periodic: u64,
    pub(crate) merge: Work,
    pub(crate) merge_docs: u64,
    pub(crate) merge_bytes: u64,
}

/// What the home core holds.
pub(crate) struct Inner<E: Env> {
    pub(crate) env: E,
    pub(crate) id: ShardId,
    pub(crate) dir: PathBuf,
    pub(crate) lease: Lease,
    /// The memory of replay, while the shard is opened.
    pub(crate) replaying: RefCell<Option<Advance>>,
    pub(crate) log: OnceCell<Local<E>>,
    pub(crate) config: RefCell<ShardConfig>,
    pub(crate) mapping: RefCell<Arc<Mapping>>,
    /// Reads what updates make.
    pub(crate) parser: RefCell<Parser>,
    pub(crate) state: RefCell<State>,
    /// The newest manifest on disk.
    pub(crate) manifest: RefCell<Manifest>,
    /// Documents that live by it.
    pub(crate) manifest_docs_count: Cell<u64>,
    pub(crate) view: Arc<Published<View>>,
    pub(crate) touch: Arc<Touch>,
    /// Operations that index and that delete, of batches that are not answered yet.
    pub(crate) current: Rc<Cell<(u64, u64)>>,
    /// Batches that wait to be decided.
    pub(crate) incoming: RefCell<VecDeque<Incoming>>,
    pub(crate) is_deciding: Cell<bool>,
    /// Decided parts that wait to be durable, then applied.
    pub(crate) logged: RefCell<VecDeque<LoggedPart>>,
    pub(crate) is_applying: Cell<bool>,
    /// Has who puts a document into the buffer, or freezes it.
    pub(crate) entering: Queue,
    pub(crate) refreshing: Queue,
    pub(crate) flushing: Queue,
    pub(crate) merging: Queue,
    /// A merge task is on its way or at work.
    pub(crate) merge_is_due: Cell<bool>,
    /// Raised when running merges shall end.
    pub(crate) merge_stop: Arc<RisingNumber>,
    /// A flush task is on its way or at work.
    pub(crate) flush_is_due: Cell<bool>,
    /// A flush will come when nothing more does.
    pub(crate) idle_flush_is_due: Cell<bool>,
    /// Somebody waits for the time of a delete to be over.
    pub(crate) forgetting_is_due: Cell<bool>,
    /// Those who wait for `applied` to rise.
    pub(crate) appliers: Waiters,
    /// Those who wait for a queue to end.
    pub(crate) quiet: Waiters,
    /// Those who wait for the shard to be closed.
    pub(crate) closing: Waiters,
    /// Those who wait for `visible` to rise.
    pub(crate) listeners: Waiters,
    /// A refresh will come by itself.
    pub(crate) refresh_is_due: Cell<bool>,
    /// How long the last refresh took.
    pub(crate) refresh_took: Cell<Duration>,
    /// Refreshes are passed over because nobody searches.
    pub(crate) is_asleep: Cell<bool>,
    pub(crate) phase: Cell<Phase>,
    pub(crate) failure: RefCell<Option<Error>>,
    pub(crate) counters: RefCell<Counters>,
}

impl<E: Env> Shard<E> {
    /// Decides, logs, commits, applies; answers in the batch's order once all of it is durable and
    /// applied. What was handed in is done even if the future is dropped.
    pub async fn write(&self, batch: WriteBatch) -> Answers {
        let count = batch.ops.len();
        let (reply, answer) = reply::channel();
        let current = UnderWay::begin(&self.inner.current, &batch);
        self.inner.take_in(Incoming { batch, reply, current });
        let answers = answer.await;
        // Only a core that stops drops a reply.
        let lost = || WriteError::Failed { error: Error::Closed, durable_unknown: true };
        answers.unwrap_or_else(|| (0..count).map(|_| Err(lost())).collect())
    }

    /// The document with this id.
    pub async fn get(&self, id: &str, realtime: Realtime) -> Result<Option<Found>> {
        self.get_by(id, realtime, Reading::Whole).await
    }

    /// As much as is wanted of the document with this id.
    ///
    /// # Errors
    /// Damage, or a shard that is closed.
    pub async fn get_by(
        &self,
        id: &str,
        realtime: Realtime,
        reading: Reading,
    ) -> Result<Option<Found>> {
        self.inner.check_readable()?;
        self.inner.get(id, realtime, reading).await
    }

    /// Makes all that is applied searchable, and answers the view that shows it.
    pub async fn refresh(&self) -> Result<Arc<View>> {
        self.inner.check_readable()?;
        if planted(Fault::StaleRefresh) {
            self.inner.refresh_soon();
            return Ok(self.inner.view.load());
        }
        self.inner.refresh().await?;
        Ok(self.inner.view.load())
    }

    /// Ends when `seq_no` is searchable: true where a refresh was forced because too many wait.
    pub async fn wait_for(&self, seq_no: SeqNo) -> Result<bool> {
        self.inner.check_usable()?;
        self.inner.wait_for(seq_no).await
    }

    /// Writes all segments to files, then the manifest, and shortens the log.
    pub async fn flush(&self) -> Result<()> {
        self.inner.check_usable()?;
        self.inner.flush().await
    }

    /// Merges until at most `segments_max` segments are left (or, where `None`, until the policy is
    /// content). Segments that come meanwhile are not counted.
    pub async fn force_merge(&self, segments_max: Option<usize>) -> Result<()> {
        self.merge_to(segments_max.map_or(Aim::Tidy, Aim::Count)).await
    }

    /// Merges until the segments that stand now are as `aim` says.
    pub async fn merge_to(&self, aim: Aim) -> Result<()> {
        self.inner.check_usable()?;
        self.inner.force_merge(aim).await
    }

    /// Ends what is under way, flushes, marks the stop as clean, and lets go of the files. Later
    /// calls answer [`Error::Closed`]. A shard that failed is let go as it is.
    pub async fn close(&self) -> Result<()> {
        self.inner.close(true).await
    }

    /// As [`Shard::close`], but writes nothing more and removes the folder: the index is gone.
    pub async fn remove(&self) -> Result<()> {
        self.inner.close(false).await?;
        match self.inner.env.disk().remove_dir(&self.inner.dir).await {
            // Somebody removed the folder of the whole index.
            Err(error) if error.kind == env::ErrorKind::NotFound => Ok(()),
            removed => Ok(removed?),
        }
    }

    /// Tells the shard that it is searched; refreshes first where it slept, and answers the view.
    pub async fn search_touched(&self) -> Result<Arc<View>> {
        self.inner.check_readable()?;
        let now = self.inner.env.clock().monotonic();
        match self.reader().touch(now) {
            crate::Touched::Fresh => Ok(self.inner.view.load()),
            crate::Touched::RefreshFirst => self.refresh().await,
        }
    }

    /// What searching cores hold.
    pub fn reader(&self) -> Reader {
        Reader { view: Arc::clone(&self.inner.view), shared: Arc::clone(&self.inner.touch) }
    }

    /// The mapping that sealing and replay read by; an older one than the last changes nothing.
    pub fn set_mapping(&self, mapping: Arc<Mapping>) {
        let mut held = self.inner.mapping.borrow_mut();
        if mapping.version() >= held.version() {
            *held = mapping;
        }
    }

    /// Changes settings; they count from now on.
    pub fn set_config(&self, config: ShardConfig) {
        if *self.inner.config.borrow() == config {
            return;
        }
        *self.inner.config.borrow_mut() = config;
        // A timer of the old interval does no harm when it ends.
        self.inner.refresh_is_due.set(false);
        self.inner.schedule_refresh();
        self.inner.after_change();
    }

    /// Which shard it is.
    pub fn id(&self) -> ShardId {
        self.inner.id
    }

    /// The reign.
    pub fn primary_term(&self) -> PrimaryTerm {
        self.inner.state.borrow().term
    }

    /// Counts.
    pub fn stats(&self) -> Stats {
        self.inner.stats()
    }

    /// Its segments, oldest documents first.
    pub fn segments(&self) -> Vec<SegmentStats> {
        let state = self.inner.state.borrow();
        let facts = |held: &crate::held::Held| {
            let deleted = u64::from(held.deleted_count());
            SegmentStats {
                id: held.id().get(),
                docs_count: u64::from(held.segment.doc_count()) - deleted,
                docs_deleted: deleted,
                bytes: held.segment.len_bytes(),
                committed: held.file.is_some(),
            }
        };
        state.segments.iter().map(facts).collect()
    }

    /// Why the shard serves no more, where it does not: a damaged block, a failed log.
    pub fn failure(&self) -> Option<Error> {
        self.inner.failure()
    }

    /// Ends when the log takes nothing any more. [`Error::Log`]: whoever runs the process ends it
    /// (code 74); [`Error::Starved`]: the shard is opened again once there is room. `None` where it
    /// was closed in peace.
    pub async fn log_failed(&self) -> Option<Error> {
        self.inner.log().failed().await.map(Error::from)
    }
}

/// Bytes of a segment's files.
fn on_disk(file: &crate::manifest::SegmentFile) -> u64 {
    file.len_bytes + file.live.map_or(0, |live| live.len_bytes)
}

/// Asks for work on a worker; again, some time later, while too many wait there.
pub(crate) async fn until_taken<E: Env, T>(
    env: &E,
    ask: impl AsyncFn() -> env::Result<T>,
) -> Result<T> {
    loop {
        match ask().await {
            Err(error) if error.kind == env::ErrorKind::Busy => {
                env.clock().sleep(BUSY_PAUSE).await;
            }
            done => return Ok(done?),
        }
    }
}

impl<E: Env> Inner<E> {
    /// The log; set before anybody else sees the shard.
    pub(crate) fn log(&self) -> &Local<E> {
        self.log.get().expect("opening sets it before it gives the shard away")
    }

    /// Runs `work` in a task of its own and waits for its answer.
    pub(crate) async fn run<T: 'static>(
        self: &Rc<Self>,
        work: impl Future<Output = Result<T>> + 'static,
    ) -> Result<T> {
        let (reply, answer) = reply::channel();
        self.env.spawn().spawn(async move { reply.send(work.await) });
        answer.await.unwrap_or(Err(Error::Closed))
    }

    /// Asks for work on a worker; again while too many wait there.
    async fn until_taken<T>(&self, ask: impl AsyncFn() -> env::Result<T>) -> Result<T> {
        until_taken(&self.env, ask).await
    }

    /// Runs `job` on a worker; tries again while too many wait there.
    pub(crate) async fn work<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Clone + Send + 'static,
    ) -> Result<T> {
        self.until_taken(async || self.env.spawn().work(job.clone()).await).await
    }

    /// As [`Self::work`], for reading a document: those of other indices do not stand behind it.
    pub(crate) async fn work_on_document<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Clone + Send + 'static,
    ) -> Result<T> {
        let lane = Lane::of_id(self.id.index);
        self.until_taken(async || self.env.spawn().work_on_document(lane, job.clone()).await).await
    }

    /// As [`Self::work_on_document`], for one that turned out to be long.
    pub(crate) async fn work_on_long_document<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Clone + Send + 'static,
    ) -> Result<T> {
        let lane = Lane::of_id(self.id.index);
        let spawn = self.env.spawn();
        self.until_taken(async || spawn.work_on_long_document(lane, job.clone()).await).await
    }

    /// Adds one to a kind of work that began at `started`.
    pub(crate) fn count(&self, started: Duration, of: impl FnOnce(&mut Counters) -> &mut Work) {
        let time = self.env.clock().monotonic().saturating_sub(started);
        let mut counters = self.counters.borrow_mut();
        *of(&mut counters) += Work { count: 1, time_us: time.as_micros() as u64 };
    }

    /// Notes that the shard serves no more; the first reason stands.
    pub(crate) fn fail(&self, error: &Error) {
        let mut failure = self.failure.borrow_mut();
        if failure.is_none() {
            *failure = Some(error.clone());
        }
        drop(failure);
        self.appliers.end();
        self.quiet.end();
        self.listeners.end();
    }

    /// Why the shard serves no more.
    pub(crate) fn failure(&self) -> Option<Error> {
        if let Some(error) = &*self.failure.borrow() {
            return Some(error.clone());
        }
        if let Some(error) = self.log.get().and_then(|log| log.failure()) {
            return Some(error.into());
        }
        let state = self.state.borrow();
        state.segments.iter().find_map(|held| {
            let fault = held.segment.fault()?;
            Some(Error::in_segment(held.id(), fault))
        })
    }

    /// An error where the shard is closed or failed.
    pub(crate) fn check_usable(&self) -> Result<()> {
        if self.phase.get() != Phase::Open {
            return Err(Error::Closed);
        }
        match self.failure() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// As [`Inner::check_usable`], but for what reads only: where nothing but room for the log is
    /// missing, all that is applied is still there.
    pub(crate) fn check_readable(&self) -> Result<()> {
        match self.check_usable() {
            Err(Error::Starved(_)) => Ok(()),
            checked => checked,
        }
    }

    async fn close(self: &Rc<Self>, in_order: bool) -> Result<()> {
        match self.phase.get() {
            Phase::Open => self.phase.set(Phase::Closing),
            Phase::Closing => {
                // Somebody else closes it; told when that is over.
                let _ = self.closing.wait(0).await;
                return Ok(());
            }
            Phase::Closed => return Ok(()),
        }
        let inner = Rc::clone(self);
        self.run(async move {
            let ended = inner.wind_up(in_order).await;
            inner.phase.set(Phase::Closed);
            inner.appliers.end();
            inner.listeners.end();
            inner.closing.end();
            ended
        })
        .await
    }

    async fn wind_up(self: &Rc<Self>, in_order: bool) -> Result<()> {
        self.merge_stop.raise(1);
        let _merging = self.merging.pass().await;
        self.drain().await;
        let flushed = match self.failure() {
            Some(error) => Err(error),
            None if in_order => self.flush_as(crate::flush::Stop::Clean).await,
            None => Ok(()),
        };
        // Whatever runs under these turns has ended when they are ours.
        let _flushing = self.flushing.pass().await;
        let _refreshing = self.refreshing.pass().await;
        let closed = self.log().close().await.map_err(Error::from);
        flushed.and(closed)
    }

    /// Waits until nothing is under way.
    async fn drain(&self) {
        while self.is_deciding.get() || self.is_applying.get() {
            if self.failure().is_some() {
                return;
            }
            // Told at the end of either queue.
            let _ = self.quiet.wait(0).await;
        }
    }

    fn stats(&self) -> Stats {
        let state = self.state.borrow();
        let counters = self.counters.borrow();
        let (index_current, delete_current) = self.current.get();
        let segments = || state.segments.iter();
        let merging = || segments().filter(|held| held.is_merging);
        let docs: u64 = segments().map(|held| u64::from(held.segment.doc_count())).sum();
        let deleted: u64 = segments().map(|held| u64::from(held.deleted_count())).sum();
        let log_operations =
            state.applied - self.manifest.borrow().seq_no_next.get().min(state.applied);
        Stats {
            docs_count: docs - deleted,
            docs_deleted: deleted,
            store_bytes: segments().filter_map(|held| held.file.as_ref()).map(on_disk).sum::<u64>()
                + state.obsolete_bytes,
            segment_bytes: segments().map(|held| held.segment.len_bytes()).sum(),
            segment_count: state.segments.len() as u64,
            segment_count_unflushed: segments().filter(|held| held.file.is_none()).count() as u64,
            seq_no_max: state.seq_no_next.checked_sub(1),
            seq_no_applied: state.applied.checked_sub(1),
            seq_no_visible: state.visible.checked_sub(1),
            primary_term: state.term.get(),
            commit_generation: self.manifest.borrow().generation,
            commit_docs_count: self.manifest_docs_count.get(),
            index: counters.index,
            delete: counters.delete,
            noop_update_count: counters.noop_updates,
            index_current,
            delete_current,
            refused_count: counters.refused,
            conflict_count: counters.conflicts,
            get: counters.get,
            get_missing: counters.get_missing,
            refresh: counters.refresh,
            flush: counters.flush,
            flush_periodic_count: counters.flush_periodic,
            merge: counters.merge,
            merge_current: u64::from(merging().next().is_some()),
            merge_current_docs: merging().map(|held| u64::from(held.segment.doc_count())).sum(),
            merge_current_bytes: merging().map(|held| held.segment.len_bytes()).sum(),
            merge_docs: counters.merge_docs,
            merge_bytes: counters.merge_bytes,
            log_bytes: self.log.get().map_or(0, |log| log.bytes()),
            log_operations,
            buffer_bytes: (state.buffer_bytes() + state.unflushed_bytes()) as u64,
            version_bytes: state.version_bytes() as u64,
            refresh_listener_count: self.listeners.len() as u64,
            is_search_idle: self.is_search_idle(),
        }
    }
}
