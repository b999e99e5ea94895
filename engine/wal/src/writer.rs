//! The log as its writer sees it: records go in, in order, and proofs come out.
//!
//! Always true
//! 1. A [`Durable`] is made in one place, [`Append::poll`], from what the committer told the
//!    record's group after its sync.
//! 2. What [`Writer::append`] took in is written, in the order of the calls, unless the log fails.
//!    A refusal comes from the call itself, and then nothing is written.
//!
//! Not here: gathering records into batches and syncing them (`commit`), choosing files
//! (`rotate`).

use std::cell::{OnceCell, RefCell};
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use env::budget::Lease;
use env::{Clock, Disk, Env, Spawn};

use crate::file::{Kind, LogFile, kind};
use crate::frame::{PAYLOAD_BYTES_MAX, record_bytes};
use crate::group::Group;
use crate::reader::End;
use crate::rotate::Files;
use crate::state::State;
use crate::{Config, Error, LogPosition, Record, Reserve, Result};

/// Proof that a record is on stable storage. Only the writer makes one.
#[derive(Debug, PartialEq, Eq)]
pub struct Durable {
    position: LogPosition,
}

impl Durable {
    /// The batch that holds the record.
    pub fn position(&self) -> LogPosition {
        self.position
    }
}

/// Proof that a record is taken in and will be on stable storage within the time agreed, unless
/// the log fails, which ends the process.
#[derive(Debug, PartialEq, Eq)]
pub struct Promised(());

/// An append under way; dropping it does not undo the append.
#[must_use = "an append is not durable before its answer"]
pub struct Append {
    group: Rc<Group>,
    slot: Option<usize>,
}

impl Future for Append {
    type Output = Result<Durable>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<Durable>> {
        let Self { group, slot } = &mut *self;
        group.poll(slot, context).map(|told| told.map(|position| Durable { position }))
    }
}

/// A log open for writing; clones are the same log. When the last one is dropped, what was taken
/// in is still written.
pub struct Writer<E: Env> {
    inner: Rc<Inner<E>>,
    /// The committer holds `inner` too; this is what only writers hold.
    owner: Rc<Owner<E>>,
}

/// Ends the committer when the last writer is gone.
struct Owner<E: Env>(Rc<Inner<E>>);

impl<E: Env> Drop for Owner<E> {
    fn drop(&mut self) {
        self.0.state.borrow_mut().close();
    }
}

/// What writers and the committer share.
pub(crate) struct Inner<E: Env> {
    pub(crate) env: E,
    pub(crate) config: Config,
    pub(crate) reserve: Option<Reserve<E>>,
    /// What the disk must have room for beside the next file.
    pub(crate) beside: OnceCell<Lease>,
    pub(crate) state: RefCell<State<E>>,
}

impl<E: Env> Clone for Writer<E> {
    fn clone(&self) -> Self {
        Self { inner: Rc::clone(&self.inner), owner: Rc::clone(&self.owner) }
    }
}

impl<E: Env> Writer<E> {
    /// Makes a new log, and its folder where there is none. [`Error::AlreadyExists`] where one
    /// stands.
    pub async fn create(
        env: &E,
        config: Config,
        term: u64,
        reserve: Option<Reserve<E>>,
    ) -> Result<Self> {
        env.disk().create_dir(&config.dir).await?;
        for entry in env.disk().list(&config.dir).await? {
            if matches!(kind(&entry.name), Kind::Log(_) | Kind::Corrupt) {
                let file = config.dir.join(entry.name).to_string_lossy().into_owned();
                return Err(Error::AlreadyExists { file });
            }
        }
        let len = config.file_bytes_min;
        let active = LogFile::create(env, &config.dir, config.shard, 1, len).await?;
        Ok(Self::start(env, config, End::of_new(active), term, reserve))
    }

    /// Goes on where a reader found the end.
    pub(crate) fn start(
        env: &E,
        config: Config,
        end: End<E>,
        term: u64,
        reserve: Option<Reserve<E>>,
    ) -> Self {
        assert!(term >= end.term, "terms only rise");
        let now = env.clock().monotonic();
        let ends = (end.first, end.last.position);
        let files = Files::new(end.older, end.active, end.offset, ends, end.next, now);
        let state = State::new(files, end.last, end.extent, term, now);
        let inner = Rc::new(Inner {
            env: env.clone(),
            config,
            reserve,
            beside: OnceCell::new(),
            state: RefCell::new(state),
        });
        env.spawn().spawn(Rc::clone(&inner).commit());
        Self { owner: Rc::new(Owner(Rc::clone(&inner))), inner }
    }

    /// Takes `record` into the log, after all that were taken in before. Refused at once
    /// ([`Error::is_refusal`]) or not at all, but for a log that fails.
    pub fn append(&self, record: Record) -> Result<Append> {
        let group = self.take_in(record, Duration::ZERO)?;
        Ok(Append { group, slot: None })
    }

    /// As [`Writer::append`] for what may wait until a full disk has room: refused there as soon as no more
    /// than half of a file is left, or the reserve was given up. The rest is for records that may not.
    pub fn append_sparing(&self, record: Record) -> Result<Append> {
        let bytes = record_bytes(&record);
        if self.is_lacking() || self.check_room(bytes.saturating_add(self.spared())).is_err() {
            return Err(Error::Spared { needed_bytes: bytes as u64 });
        }
        self.append(record)
    }

    /// As [`Writer::append`] for what a full disk should take, but somebody may ask for again and again: it may
    /// have half of what is spared.
    pub fn append_careful(&self, record: Record) -> Result<Append> {
        let bytes = record_bytes(&record);
        if self.is_lacking() {
            let asked = bytes.saturating_add(self.spared());
            if !self.inner.state.borrow().surely_has_room_for(asked) {
                return Err(Error::Spared { needed_bytes: bytes as u64 });
            }
        } else if self.check_room(bytes.saturating_add(self.spared() / 2)).is_err() {
            return Err(Error::Spared { needed_bytes: bytes as u64 });
        }
        self.append(record)
    }

    /// What is left on a full disk to records that may not wait.
    fn spared(&self) -> usize {
        self.inner.config.file_bytes_min as usize / 2
    }

    fn is_lacking(&self) -> bool {
        self.inner.reserve.as_ref().is_some_and(Reserve::is_lacking)
    }

    /// Looks whether there is room for a record of `bytes`, where that can be known only by looking: none has tried
    /// to make the next file, or the last attempt found none a while ago, or the record may be longer than it.
    pub async fn look_for_room(&self, bytes: usize) -> Result<()> {
        let inner = &self.inner;
        let (is_known_full, is_sure) = {
            let state = inner.state.borrow();
            let known = state.files.is_known_full(inner.env.clock().monotonic());
            (known, state.surely_has_room_for(bytes.saturating_add(self.spared())))
        };
        if !is_known_full && !is_sure {
            inner.prepare_next();
            inner.made().await;
        }
        if bytes < self.spared() || inner.state.borrow().surely_has_room_for(bytes) {
            return Ok(());
        }
        let kept = match &inner.reserve {
            Some(reserve) if reserve.is_full() => reserve.bytes(),
            _ => 0,
        };
        // Where it cannot be asked, the attempt will tell. A file is longer than what it holds.
        let free = inner.env.disk().free_bytes(&inner.config.dir).await.unwrap_or(u64::MAX);
        match free.saturating_add(kept) < 2 * bytes as u64 {
            true => Err(Error::NoSpace { needed_bytes: bytes as u64 }),
            false => Ok(()),
        }
    }

    /// Makes room where a full disk left none for a record of `bytes`: gives the reserve up for the next
    /// file. Whether there is room now.
    pub async fn make_way(&self, bytes: usize) -> bool {
        if self.inner.state.borrow().surely_has_room_for(bytes) {
            return true;
        }
        // After a start nobody has looked yet; and what was done before may have given room back.
        self.inner.prepare_next();
        self.inner.made().await;
        if self.check_room(bytes).is_ok() {
            return true;
        }
        let Some(reserve) = &self.inner.reserve else { return false };
        if !reserve.spend().await {
            return false;
        }
        self.inner.prepare_next();
        self.inner.made().await;
        self.check_room(bytes).is_ok()
    }

    /// As [`Writer::append`] for a caller who does not wait: the record is written within `delay`.
    pub fn append_within(&self, record: Record, delay: Duration) -> Result<Promised> {
        self.take_in(record, delay)?;
        Ok(Promised(()))
    }

    /// Whether records of `bytes` together would be taken in beside what waits for its sync.
    pub fn admits(&self, bytes: usize) -> bool {
        let unsynced_bytes = self.inner.state.borrow().unsynced_bytes();
        unsynced_bytes == 0 || unsynced_bytes + bytes <= self.inner.config.unsynced_bytes_max
    }

    fn take_in(&self, record: Record, delay: Duration) -> Result<Rc<Group>> {
        let bytes = record_bytes(&record);
        if bytes > PAYLOAD_BYTES_MAX {
            return Err(Error::TooLarge { bytes, bytes_max: PAYLOAD_BYTES_MAX });
        }
        let state = self.inner.state.borrow();
        state.check_open()?;
        let unsynced_bytes = state.unsynced_bytes();
        let unsynced_bytes_max = self.inner.config.unsynced_bytes_max;
        if unsynced_bytes > 0 && unsynced_bytes + bytes > unsynced_bytes_max {
            return Err(Error::Full { unsynced_bytes, unsynced_bytes_max });
        }
        drop(state);
        self.check_room(bytes)?;
        let now = self.inner.env.clock().monotonic();
        Ok(self.inner.state.borrow_mut().take_in(record, bytes, now + delay))
    }

    /// Refuses what will find no room, as far as is known, and looks now and then whether there is some.
    fn check_room(&self, bytes: usize) -> Result<()> {
        let retry = {
            let state = self.inner.state.borrow();
            if state.has_room_for(bytes) {
                return Ok(());
            }
            state.files.retry_is_due(self.inner.env.clock().monotonic())
        };
        if retry {
            self.inner.prepare_next();
        }
        Err(Error::NoSpace { needed_bytes: bytes as u64 })
    }

    /// Ends when all that was taken in so far is on stable storage. Answers the last batch of it.
    pub async fn sync(&self) -> Result<LogPosition> {
        let group = {
            let mut state = self.inner.state.borrow_mut();
            state.check_open()?;
            match state.hurry() {
                Some(group) => group,
                None => return Ok(state.synced()),
            }
        };
        group.wait().await
    }

    pub(crate) fn inner(&self) -> &Inner<E> {
        &self.inner
    }

    /// The last batch known to be on stable storage, with all before it.
    pub fn synced(&self) -> LogPosition {
        self.inner.state.borrow().synced()
    }

    /// Says that batches up to `through` are not needed any more; removes files that hold no
    /// other. Only after whatever stops needing them is durable.
    pub async fn release(&self, through: LogPosition) -> Result<()> {
        let fresh = {
            let mut state = self.inner.state.borrow_mut();
            state.check_open()?;
            state.release(through, self.inner.config.file_bytes_min)
        };
        if let Some(group) = fresh {
            match group.wait().await {
                // No room for a smaller file: the larger one stays.
                Err(error) if error.is_refusal() => {}
                told => {
                    told?;
                }
            }
        }
        self.inner.remove_released().await
    }

    /// Bytes of batches that are not released, to within 64 KiB.
    pub fn bytes(&self) -> u64 {
        self.inner.state.borrow().bytes()
    }

    /// Files that are made in advance leave room for as many bytes as `held` holds: for what must be
    /// written elsewhere before this log can be shortened.
    pub fn leave_room_for(&self, held: Lease) {
        // The first stands: it is one budget's.
        let _ = self.inner.beside.set(held);
    }

    /// Takes nothing any more, as if its next file had found no room: for an owner who finds, before
    /// anything was appended, that there is none for what must be written first.
    pub fn starve(&self, full: env::Error) {
        assert_eq!(full.kind, env::ErrorKind::NoSpace, "only a full disk passes");
        self.inner.fail(Error::NoRoom(full));
    }

    /// Why the log takes nothing any more.
    pub fn failure(&self) -> Option<Error> {
        self.inner.state.borrow().failure()
    }

    /// Ends when the log fails: for whoever must end the process then. `None` where the log was
    /// closed in peace.
    pub async fn failed(&self) -> Option<Error> {
        let mut slot = None;
        poll_fn(|context| self.inner.state.borrow_mut().poll_failure(&mut slot, context)).await
    }

    /// Syncs all that was taken in, says so in an empty batch, and ends. Later calls answer
    /// [`Error::Closed`].
    pub async fn close(&self) -> Result<()> {
        let group = self.inner.state.borrow_mut().close();
        group.wait().await.map(|_| ())
    }
}
