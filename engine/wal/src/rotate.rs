//! The row of files: which one is written to, which comes next, which may go.
//!
//! Always true
//! 1. A file is begun only when all batches of the one before are synced: the reader's judgement
//!    counts on it.
//! 2. The next file is ready before it is needed, where the disk keeps up: it is made when one is
//!    half full. It is twice as long where that took less than 30 s, else of the smallest size.
//! 3. A file that is made in advance, or longer than it must be, leaves room on the disk for what must
//!    be written elsewhere before files can go ([`Writer::leave_room_for`]): else a disk fills up with
//!    logs that nothing can shorten. Only what was taken in already goes before that.
//! 4. Files go oldest first, each removal synced before the next, and never before the file that
//!    is written to holds a synced batch: what is left is always a row without a gap, whose last
//!    batch tells the log's position.
//!
//! Not here: what is in a batch, and when one starts (`commit`).
//!
//! [`Writer::leave_room_for`]: crate::Writer::leave_room_for

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::path::PathBuf;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use env::{Clock, Disk, Env, ErrorKind, Spawn};

use crate::file::LogFile;
use crate::frame::BLOCK;
use crate::state::State;
use crate::writer::Inner;
use crate::{Config, Error, LogPosition, Result};

/// A file that fills its first half faster than this is followed by a longer one.
const BUSY: Duration = Duration::from_secs(30);

/// Room left on the disk beside what is held for it: for manifests, and for opening a log again.
const LEFT_BYTES: u64 = 8 << 20;

/// Between two attempts to make a file on a full disk.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// A file that is written full.
pub(crate) struct Older {
    pub(crate) path: PathBuf,
    /// Its last batch.
    pub(crate) last: LogPosition,
}

/// The file after the one that is written to.
enum Next<E: Env> {
    Absent,
    Making {
        /// There was no room for it before, and hardly is now: nothing counts on it.
        again: bool,
    },
    Ready(LogFile<E>),
    /// The committer begins with it, or makes one that is long enough: nobody else may make that number.
    Taken,
    /// There was no room for it then.
    NoSpace(Duration),
}

/// The row of files.
pub(crate) struct Files<E: Env> {
    older: VecDeque<Older>,
    active: Rc<LogFile<E>>,
    /// Where its next batch goes.
    offset: u64,
    /// Its first batch; 0 where it has none.
    first: LogPosition,
    /// The last batch of all; 0 where there is none.
    last: LogPosition,
    since: Duration,
    next: Next<E>,
    released: LogPosition,
    removing: bool,
}

impl<E: Env> Files<E> {
    pub(crate) fn new(
        older: VecDeque<Older>,
        active: LogFile<E>,
        offset: u64,
        (first, last): (LogPosition, LogPosition),
        next: Option<LogFile<E>>,
        now: Duration,
    ) -> Self {
        assert!(offset >= BLOCK as u64);
        assert!(offset <= active.len);
        Self {
            older,
            active: Rc::new(active),
            offset,
            first,
            since: now,
            next: next.map_or(Next::Absent, Next::Ready),
            released: LogPosition::ZERO,
            removing: false,
            last,
        }
    }

    pub(crate) fn active(&self) -> &LogFile<E> {
        &self.active
    }

    /// Takes the next `bytes` of the active file, which has them, for the batch `position`.
    pub(crate) fn place(&mut self, position: LogPosition, bytes: u64) -> (Rc<LogFile<E>>, u64) {
        let offset = self.offset;
        self.offset += bytes;
        assert!(self.offset <= self.active.len, "room was made");
        if self.first == LogPosition::ZERO {
            self.first = position;
        }
        self.last = position;
        (Rc::clone(&self.active), offset)
    }

    /// The files that hold batches, oldest first.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        let older = self.older.iter().map(|file| file.path.clone());
        older.chain([self.active.path.clone()]).collect()
    }

    fn room(&self) -> u64 {
        self.active.len - self.offset
    }

    /// Whether `bytes` will find room, as far as is known now.
    pub(crate) fn may_hold(&self, bytes: u64) -> bool {
        bytes <= self.room()
            || !matches!(self.next, Next::NoSpace(_) | Next::Making { again: true })
    }

    /// Whether a batch of `bytes` finds room in a file that stands.
    pub(crate) fn holds(&self, bytes: u64) -> bool {
        let ready = match &self.next {
            Next::Ready(file) => LogFile::<E>::room_of(file.len),
            _ => 0,
        };
        bytes <= self.room().max(ready)
    }

    /// Whether it is time to try again to make the next file.
    pub(crate) fn retry_is_due(&self, now: Duration) -> bool {
        matches!(self.next, Next::NoSpace(at) if at + RETRY_AFTER <= now)
    }

    /// Whether there was no room for the next file a moment ago.
    pub(crate) fn is_known_full(&self, now: Duration) -> bool {
        matches!(self.next, Next::NoSpace(_)) && !self.retry_is_due(now)
    }

    /// Whether it is time to make the next file.
    pub(crate) fn wants_next(&self, now: Duration) -> bool {
        let half = self.offset >= self.active.len / 2;
        half && (matches!(self.next, Next::Absent) || self.retry_is_due(now))
    }

    fn next_len(&self, now: Duration, min: u64, max: u64) -> u64 {
        let busy = now.saturating_sub(self.since) < BUSY;
        if busy { (self.active.len * 2).clamp(min, max) } else { min }
    }

    fn begin(&mut self, file: LogFile<E>, now: Duration) {
        assert_eq!(file.number, self.active.number + 1, "files follow each other");
        let full = std::mem::replace(&mut self.active, Rc::new(file));
        self.older.push_back(Older { path: full.path.clone(), last: self.last });
        self.offset = BLOCK as u64;
        self.first = LogPosition::ZERO;
        self.since = now;
        self.next = Next::Absent;
    }

    pub(crate) fn release(&mut self, through: LogPosition) {
        self.released = self.released.max(through);
    }

    /// The oldest file, where it may go.
    fn next_to_remove(&self, synced: LogPosition) -> Option<PathBuf> {
        let active_tells = self.first != LogPosition::ZERO && self.first <= synced;
        let oldest = self.older.front()?;
        (active_tells && oldest.last <= self.released).then(|| oldest.path.clone())
    }

    /// Whether an empty batch would find room without a wait.
    pub(crate) fn has_room_for_a_word(&self) -> bool {
        self.room() >= BLOCK as u64 || matches!(self.next, Next::Ready(_))
    }
}

/// The place of the next file while the committer makes that itself: dropping it gives it back.
struct Place<'a, E: Env>(&'a RefCell<State<E>>);

impl<E: Env> Drop for Place<'_, E> {
    fn drop(&mut self) {
        let mut state = self.0.borrow_mut();
        if matches!(state.files.next, Next::Taken) {
            state.files.next = Next::Absent;
            state.wake_committer();
        }
    }
}

impl<E: Env> Inner<E> {
    /// Sees to it that the active file has room for `bytes`. Only the committer calls this.
    pub(crate) async fn make_room(self: &Rc<Self>, bytes: u64) -> Result<()> {
        if self.state.borrow().files.room() >= bytes {
            return Ok(());
        }
        self.landing().await?;
        let file = match self.take_next().await? {
            Some(file) if LogFile::<E>::room_of(file.len) >= bytes => file,
            unfit => {
                let _taken = Place(&self.state);
                let lens = {
                    let state = self.state.borrow();
                    let now = self.env.clock().monotonic();
                    let Config { file_bytes_min: min, file_bytes_max: max, .. } = self.config;
                    let least = min.max(bytes + BLOCK as u64);
                    [least.max(state.files.next_len(now, min, max)), least]
                };
                self.replace(unfit, &lens).await?
            }
        };
        assert!(LogFile::<E>::room_of(file.len) >= bytes);
        self.begin(file);
        Ok(())
    }

    /// Begins a file of the smallest size.
    pub(crate) async fn start_small_file(self: &Rc<Self>) -> Result<()> {
        self.landing().await?;
        let min = self.config.file_bytes_min;
        let file = match self.take_next().await? {
            Some(file) if file.len <= min => file,
            unfit => {
                let _taken = Place(&self.state);
                self.remove_unfit(unfit).await?;
                match self.make(min).await {
                    Err(error) if error.kind == ErrorKind::NoSpace => {
                        return Err(Error::NoSpace { needed_bytes: min });
                    }
                    made => made.map_err(Error::Failed)?,
                }
            }
        };
        self.begin(file);
        Ok(())
    }

    fn begin(&self, file: LogFile<E>) {
        let now = self.env.clock().monotonic();
        let mut state = self.state.borrow_mut();
        state.files.begin(file, now);
        state.wake_committer();
    }

    /// Waits until no batch is under way.
    async fn landing(&self) -> Result<()> {
        poll_fn(|context| {
            let mut state = self.state.borrow_mut();
            if let Some(failure) = state.failure() {
                return Poll::Ready(Err(failure));
            }
            if state.in_flight_is_empty() {
                return Poll::Ready(Ok(()));
            }
            state.sleep_committer(context);
            Poll::Pending
        })
        .await
    }

    /// The next file, where it is ready or about to be; from then on its place is the caller's.
    async fn take_next(&self) -> Result<Option<LogFile<E>>> {
        poll_fn(|context| {
            let mut state = self.state.borrow_mut();
            if let Some(failure) = state.failure() {
                return Poll::Ready(Err(failure));
            }
            match std::mem::replace(&mut state.files.next, Next::Taken) {
                making @ Next::Making { .. } => {
                    state.files.next = making;
                    state.sleep_committer(context);
                    Poll::Pending
                }
                Next::Ready(file) => Poll::Ready(Ok(Some(file))),
                Next::Absent | Next::NoSpace(_) | Next::Taken => Poll::Ready(Ok(None)),
            }
        })
        .await
    }

    /// Waits until no file is being made.
    pub(crate) async fn made(&self) {
        poll_fn(|context| {
            let mut state = self.state.borrow_mut();
            if !matches!(state.files.next, Next::Making { .. } | Next::Taken) {
                return Poll::Ready(());
            }
            state.sleep_committer(context);
            Poll::Pending
        })
        .await;
    }

    /// Makes the next file at once, of the first of `lens` for which there is room, if need be
    /// in place of the reserve.
    async fn replace(&self, unfit: Option<LogFile<E>>, lens: &[u64]) -> Result<LogFile<E>> {
        self.remove_unfit(unfit).await?;
        let mut spent = false;
        loop {
            let (least, longer) = lens.split_last().expect("there is a length to try");
            let made = match self.make_beside(longer).await {
                // What was taken in must be written.
                Err(error) if error.kind == ErrorKind::NoSpace => self.make(*least).await,
                made => made,
            };
            let full = match made {
                Err(error) if error.kind == ErrorKind::NoSpace => error,
                made => return made.map_err(Error::Failed),
            };
            match &self.reserve {
                Some(reserve) if !spent && reserve.spend().await => spent = true,
                _ => return Err(Error::NoRoom(full)),
            }
        }
    }

    /// Removes a file that was made ready and is too small or too large; it holds nothing.
    async fn remove_unfit(&self, unfit: Option<LogFile<E>>) -> Result<()> {
        if let Some(file) = unfit {
            let path = file.path.clone();
            drop(file);
            self.env.disk().remove(&path).await.map_err(Error::Failed)?;
        }
        Ok(())
    }

    /// Makes a file of the first of `lens` for which there is room, beside what else needs some.
    async fn make_beside(&self, lens: &[u64]) -> env::Result<LogFile<E>> {
        let beside = self.beside.get().map_or(0, |held| held.held_by_all() as u64 + LEFT_BYTES);
        let mut full = env::Error::new(ErrorKind::NoSpace, "no length was tried");
        for len in lens {
            let free = match beside {
                0 => u64::MAX,
                _ => self.env.disk().free_bytes(&self.config.dir).await?,
            };
            if free < beside.saturating_add(*len) {
                let what = format!(
                    "{free} bytes are free: too few for a log file of {len} and {beside} beside it"
                );
                full = env::Error::new(ErrorKind::NoSpace, what);
                continue;
            }
            match self.make(*len).await {
                Err(error) if error.kind == ErrorKind::NoSpace => full = error,
                made => return made,
            }
        }
        Err(full)
    }

    async fn make(&self, len: u64) -> env::Result<LogFile<E>> {
        let number = self.state.borrow().files.active.number + 1;
        let Config { dir, shard, .. } = &self.config;
        let len = len.next_multiple_of(BLOCK as u64);
        LogFile::create(&self.env, dir, *shard, number, len).await
    }

    /// Makes the next file beside other work.
    pub(crate) fn prepare_next(self: &Rc<Self>) {
        let len = {
            let mut state = self.state.borrow_mut();
            let again = match state.files.next {
                Next::Absent => false,
                Next::NoSpace(_) => true,
                Next::Making { .. } | Next::Ready(_) | Next::Taken => return,
            };
            state.files.next = Next::Making { again };
            let now = self.env.clock().monotonic();
            state.files.next_len(now, self.config.file_bytes_min, self.config.file_bytes_max)
        };
        let lens = [len, self.config.file_bytes_min];
        let inner = Rc::clone(self);
        self.env.spawn().spawn(async move {
            let mut failure = None;
            // On a nearly full disk a short file is better than none.
            let next = match inner.make_beside(&lens).await {
                Ok(file) => {
                    if let Some(reserve) = &inner.reserve {
                        reserve.restore();
                    }
                    Next::Ready(file)
                }
                Err(error) if error.kind == ErrorKind::NoSpace => {
                    Next::NoSpace(inner.env.clock().monotonic())
                }
                Err(error) => {
                    failure = Some(error);
                    Next::Absent
                }
            };
            {
                let mut state = inner.state.borrow_mut();
                state.files.next = next;
                state.wake_committer();
            }
            if let Some(error) = failure {
                inner.fail(Error::Failed(error));
            }
        });
    }

    /// Removes files of which no batch is needed.
    pub(crate) async fn remove_released(&self) -> Result<()> {
        if std::mem::replace(&mut self.state.borrow_mut().files.removing, true) {
            // Whoever is at it looks again after each file.
            return Ok(());
        }
        let removed = self.remove_each().await;
        self.state.borrow_mut().files.removing = false;
        removed
    }

    async fn remove_each(&self) -> Result<()> {
        loop {
            let path = {
                let state = self.state.borrow();
                state.files.next_to_remove(state.synced())
            };
            let Some(path) = path else { return Ok(()) };
            self.env.disk().remove(&path).await?;
            self.env.disk().sync_dir(&self.config.dir).await?;
            self.state.borrow_mut().files.older.pop_front();
        }
    }
}
