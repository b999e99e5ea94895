//! Small values that change only through commands in a log.
//!
//! Always true
//! 1. The value is `apply` of all committed commands, in log order, on `State::default()`.
//! 2. A proposal is answered only after its command is committed and applied.
//! 3. A reader on any core sees some committed value, never one that may be lost.
//! 4. A command that takes long ([`State::is_long`]) is written and applied on a worker; those behind it in
//!    the log wait for it. So is a snapshot written and read, which is as long as the whole value.
//!
//! On disk: the log (`log-NNNNNN`), whose records are one command each (its number as sequence
//! number, then the version of its form as a variable-length integer, then its form), and a
//! [`snapshot`](crate::snapshot) of the value at one position of it.
//!
//! Not here: what the value is; whoever reads it on other cores takes
//! [`Replicated::published`]. Recovery is in `restore`.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Poll, Waker};

use base::planted::{Fault, planted};
use base::{SeqNo, ShardId, vint};
use env::published::Published;
use env::queue::Queue;
use env::reply::Reply;
use env::{Bytes, Disk, Env, File, Pace, Spawn};
use wal::{LogPosition, Record, Reserve};

use crate::log::Log;
use crate::snapshot::{self, Head, NoSnapshot};
use crate::{Error, Local, Pending, Result, restore};

/// Why bytes are no state or command: what was expected and what was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decode(pub String);

/// A value that changes by commands. `Default` is the value before the first.
pub trait State: Default + Send + Sync + 'static {
    /// What may change it. Chance and time come in here, never in `apply`.
    type Command: Send + Sync + 'static;
    /// What a command did, or why it did nothing.
    type Outcome: Send + 'static;

    /// Version of the byte forms of state and commands that is written. Older ones are read,
    /// newer ones end the opening ([`Error::Version`]).
    const FORMAT: u32;

    /// The value after `command`; a pure function.
    fn apply(&self, command: &Self::Command) -> (Self, Self::Outcome);

    /// Whether that would hold a core for long.
    fn is_long(&self, _command: &Self::Command) -> bool {
        false
    }

    /// Appends the byte form of the value.
    fn encode(&self, out: &mut Vec<u8>);

    /// Reads the byte form of `format`, which is at most [`State::FORMAT`].
    fn decode(format: u32, bytes: &[u8]) -> std::result::Result<Self, Decode>;

    /// Appends the byte form of a command.
    fn encode_command(command: &Self::Command, out: &mut Vec<u8>);

    /// Reads the byte form of `format`, which is at most [`State::FORMAT`].
    fn decode_command(format: u32, bytes: &[u8]) -> std::result::Result<Self::Command, Decode>;
}

/// Where a value lives.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Its folder, of its own.
    pub dir: PathBuf,
    /// Whose log it is: written into every batch, so that files cannot be mixed up.
    pub id: ShardId,
    /// A log longer than this is cut by a snapshot.
    pub snapshot_after_bytes: u64,
}

impl Setup {
    /// The default for the value called `name` (at most 16 bytes) in `dir`.
    pub fn new(dir: impl Into<PathBuf>, name: &str) -> Self {
        assert!(name.len() <= 16, "a short name");
        let mut index = [0; 16];
        index[..name.len()].copy_from_slice(name.as_bytes());
        Self { dir: dir.into(), id: ShardId { index, number: 0 }, snapshot_after_bytes: 4 << 20 }
    }

    pub(crate) fn log(&self) -> wal::Config {
        // A log that is cut early need not be long.
        let file_bytes_min = self.snapshot_after_bytes.clamp(32 << 10, 1 << 20);
        wal::Config {
            file_bytes_min: file_bytes_min.next_multiple_of(wal::frame::BLOCK as u64),
            file_bytes_max: 16 << 20,
            ..wal::Config::new(&self.dir, self.id)
        }
    }
}

/// A replicated value on its keeper core; clones are the same value.
pub struct Replicated<E: Env, S: State> {
    inner: Rc<Inner<E, S>>,
}

struct Inner<E: Env, S: State> {
    env: E,
    setup: Setup,
    log: Local<E>,
    published: Arc<Published<S>>,
    ledger: RefCell<Ledger<S>>,
    /// Who looks for room: nobody overtakes them.
    entering: Queue,
}

/// A command on its way, and who waits for it.
struct Proposal<S: State> {
    command: Arc<S::Command>,
    is_long: bool,
    reply: Reply<Result<S::Outcome>>,
}

/// What is applied, and what is on its way.
struct Ledger<S: State> {
    value: Arc<S>,
    /// Commands applied.
    applied: u64,
    /// Log entries up to here hold only commands that are applied.
    position: LogPosition,
    /// Proposed and not applied, in order; the first has the number `applied`.
    waiting: VecDeque<Proposal<S>>,
    /// The log is this long when the next snapshot is due.
    snapshot_due_bytes: u64,
    saving: bool,
    /// A worker applies the first of `waiting`.
    applying: bool,
    /// Wait for `saving` or `applying` to end, or for `waiting` to be empty.
    watchers: Vec<Waker>,
}

impl<S: State> Ledger<S> {
    /// Takes in what the first of those that wait has made; who waits for its answer.
    fn take_in(&mut self, value: S) -> Reply<Result<S::Outcome>> {
        let done = self.waiting.pop_front().expect("proposed, not applied");
        self.value = Arc::new(value);
        self.applied += 1;
        done.reply
    }

    fn wake(&mut self) {
        for waker in self.watchers.drain(..) {
            waker.wake();
        }
    }
}

impl<E: Env, S: State> Clone for Replicated<E, S> {
    fn clone(&self) -> Self {
        Self { inner: Rc::clone(&self.inner) }
    }
}

impl<E: Env, S: State> Replicated<E, S> {
    /// Makes a new value, `S::default()`. [`Error::AlreadyExists`] where one stands; what an
    /// interrupted `create` left is cleared away.
    pub async fn create(env: &E, setup: Setup, reserve: Option<Reserve<E>>) -> Result<Self> {
        if Self::exists(env, &setup).await? {
            return Err(Error::AlreadyExists { dir: setup.dir.to_string_lossy().into_owned() });
        }
        restore::clear(env, &setup).await?;
        let log = Local::create(env, setup.log(), reserve).await?;
        let made = Self::start(env, setup, log, S::default(), 0, LogPosition::ZERO);
        // From now on a missing snapshot is a loss.
        made.save().await?;
        Ok(made)
    }

    /// Opens a value that was made before: snapshot, then the commands after it. Never makes an
    /// empty one: [`Error::NotFound`].
    pub async fn open(env: &E, setup: Setup, reserve: Option<Reserve<E>>) -> Result<Self> {
        let restored = restore::restore(env, &setup, reserve).await?;
        let restore::Restored { log, value, applied, position } = restored;
        Ok(Self::start(env, setup, log, value, applied, position))
    }

    /// The value that stands there, read whole and not opened: nothing is written.
    pub async fn look(env: &E, setup: &Setup) -> Result<S> {
        Ok(restore::find::<E, S>(env, setup).await?.value)
    }

    /// Whether a value was made in the folder of `setup` (even if it cannot be opened).
    pub async fn exists(env: &E, setup: &Setup) -> Result<bool> {
        restore::exists(env, setup).await
    }

    fn start(
        env: &E,
        setup: Setup,
        log: Local<E>,
        value: S,
        applied: u64,
        position: LogPosition,
    ) -> Self {
        let value = Arc::new(value);
        let ledger = Ledger {
            value: Arc::clone(&value),
            applied,
            position,
            waiting: VecDeque::new(),
            snapshot_due_bytes: setup.snapshot_after_bytes,
            saving: false,
            applying: false,
            watchers: Vec::new(),
        };
        let published = Arc::new(Published::new(value));
        let env = env.clone();
        let (ledger, entering) = (RefCell::new(ledger), Queue::default());
        Self { inner: Rc::new(Inner { env, setup, log, published, ledger, entering }) }
    }

    /// Logs `command`, applies it once it is committed, and answers what it did. A proposal that
    /// the log has taken is carried out even if the future is dropped.
    pub async fn propose(&self, command: S::Command) -> Result<S::Outcome> {
        self.propose_by(command, Log::append).await
    }

    /// As [`Self::propose`] for what may wait: on a full disk it is refused while there still is a little room.
    pub async fn propose_sparing(&self, command: S::Command) -> Result<S::Outcome> {
        self.propose_by(command, Local::append_sparing).await
    }

    /// As [`Self::propose`] for what a full disk should take, and somebody may ask for again and again: not the
    /// last of the room.
    pub async fn propose_careful(&self, command: S::Command) -> Result<S::Outcome> {
        self.propose_by(command, Local::append_careful).await
    }

    /// As [`Self::propose`] for what may not wait until a full disk has room: the reserve is for it.
    pub async fn propose_pressing(&self, command: S::Command) -> Result<S::Outcome> {
        // Where there is no way it is refused as any other.
        self.inner.log.make_way(payload_of::<S>(&command).len() + RECORD_BYTES).await;
        self.propose(command).await
    }

    async fn propose_by(
        &self,
        command: S::Command,
        append: fn(&Local<E>, Record) -> Result<Pending>,
    ) -> Result<S::Outcome> {
        let command = Arc::new(command);
        let is_long = self.state().is_long(&command);
        let payload = match is_long {
            true => {
                let long = Arc::clone(&command);
                let written = self.inner.env.spawn().work_short(move || payload_of::<S>(&long));
                // Where no worker has time, late is better than not at all.
                written.await.unwrap_or_else(|_| payload_of::<S>(&command))
            }
            false => payload_of::<S>(&command),
        };
        let pass = self.inner.entering.pass().await;
        self.inner.log.look_for_room(payload.len() + RECORD_BYTES).await?;
        let answer = {
            let mut ledger = self.inner.ledger.borrow_mut();
            let number = ledger.applied + ledger.waiting.len() as u64;
            let first_seq_no = SeqNo(number);
            let record = Record { first_seq_no, count: 1, mapping_version: 0, payload };
            let pending = append(&self.inner.log, record)?;
            let (reply, answer) = env::reply::channel();
            ledger.waiting.push_back(Proposal { command, is_long, reply });
            let inner = Rc::clone(&self.inner);
            self.inner.env.spawn().spawn(inner.follow(number, pending));
            answer
        };
        drop(pass);
        if planted(Fault::AnswerStateEarly) {
            let last = {
                let ledger = self.inner.ledger.borrow();
                (ledger.applied + ledger.waiting.len() as u64).saturating_sub(1)
            };
            self.inner.apply_through(last, LogPosition::ZERO).await;
        }
        answer.await.unwrap_or(Err(Error::Closed))
    }

    /// The newest value.
    pub fn state(&self) -> Arc<S> {
        Arc::clone(&self.inner.ledger.borrow().value)
    }

    /// The newest value, for all cores.
    pub fn published(&self) -> Arc<Published<S>> {
        Arc::clone(&self.inner.published)
    }

    /// Saves a snapshot of what is applied now, and shortens the log.
    pub async fn save(&self) -> Result<()> {
        self.inner.save().await
    }

    /// Reads the snapshot and the log, at a pace, and compares them with their checksums; answers
    /// how many files that were. The value that is in memory stays.
    pub async fn scrub(&self, pace: &Pace<E>) -> Result<u64> {
        let Inner { env, setup, log, .. } = &*self.inner;
        let path = setup.dir.join(snapshot::NAME);
        let file = env.disk().open(&path).await?;
        let len = usize::try_from(file.len().await?).unwrap_or(usize::MAX);
        let bytes = file.read_at(0, len).await?;
        pace.took(len).await;
        let corrupt = |what: String| Error::Corrupt { file: path.display().to_string(), what };
        snapshot::read(&bytes, setup.id).map_err(|error| match error {
            NoSnapshot::Version(found) => corrupt(format!("it has version {found}")),
            NoSnapshot::Corrupt(what) => corrupt(what),
        })?;
        log.scrub(pace).await?;
        Ok(2)
    }

    /// Why the value takes no command any more.
    pub fn failure(&self) -> Option<Error> {
        self.inner.log.failure()
    }

    /// Ends when the log fails: for whoever must end the process then. Does not end where the value
    /// is closed in peace.
    pub async fn failed(&self) -> Error {
        match self.inner.log.failed().await {
            Some(error) => error,
            None => std::future::pending().await,
        }
    }

    /// Commits and applies what was proposed, and lets go of the files.
    pub async fn close(&self) -> Result<()> {
        self.inner.log.close().await?;
        self.inner.watch(|ledger| ledger.waiting.is_empty() && !ledger.saving).await;
        Ok(())
    }
}

/// More than a record's head takes.
const RECORD_BYTES: usize = 64;

/// What stands of a command in its record.
fn payload_of<S: State>(command: &S::Command) -> Vec<u8> {
    let mut payload = Vec::with_capacity(256);
    vint::write(&mut payload, S::FORMAT.into());
    S::encode_command(command, &mut payload);
    payload
}

impl<E: Env, S: State> Inner<E, S> {
    /// Waits for command `number`, then applies it and all before it.
    async fn follow(self: Rc<Self>, number: u64, pending: Pending) {
        match pending.await {
            Ok(committed) => self.apply_through(number, committed.position()).await,
            Err(error) => self.fail(number, &error),
        }
        let due = {
            let ledger = self.ledger.borrow();
            !ledger.saving && self.log.bytes() > ledger.snapshot_due_bytes
        };
        // A failed save costs nothing but a longer log: it is tried again when that has grown.
        if due && self.log.failure().is_none() && self.save().await.is_err() {
            let mut ledger = self.ledger.borrow_mut();
            ledger.snapshot_due_bytes = self.log.bytes() + self.setup.snapshot_after_bytes;
        }
    }

    /// Applies the commands up to `number`, which lies in the entry `position`. All before it are
    /// committed too, whoever hears of it first.
    async fn apply_through(&self, number: u64, position: LogPosition) {
        loop {
            // A later one is not applied before what it rests on.
            self.watch(|ledger| !ledger.applying).await;
            let Some((value, command)) = self.apply_here(number, position) else { return };
            let (old, long) = (Arc::clone(&value), Arc::clone(&command));
            let applied = self.env.spawn().work_short(move || old.apply(&long)).await;
            let (value, outcome) = applied.unwrap_or_else(|_| value.apply(&command));
            let mut ledger = self.ledger.borrow_mut();
            ledger.applying = false;
            let reply = ledger.take_in(value);
            self.published.store(Arc::clone(&ledger.value));
            ledger.wake();
            drop(ledger);
            reply.send(Ok(outcome));
            // A tree of a hundred thousand fields takes milliseconds to be let go, too.
            let spawn = self.env.spawn().clone();
            self.env.spawn().spawn(async move {
                let _ = spawn.work_short(move || drop(command)).await;
            });
        }
    }

    /// As [`Inner::apply_through`], until one comes that takes long: that one, and the value it meets.
    fn apply_here(&self, number: u64, position: LogPosition) -> Option<(Arc<S>, Arc<S::Command>)> {
        let mut answers = Vec::new();
        let mut long = None;
        {
            let mut ledger = self.ledger.borrow_mut();
            while ledger.applied <= number {
                let next = ledger.waiting.front().expect("proposed, not applied");
                let command = Arc::clone(&next.command);
                if next.is_long {
                    ledger.applying = true;
                    long = Some((Arc::clone(&ledger.value), command));
                    break;
                }
                let (value, outcome) = ledger.value.apply(&command);
                answers.push((ledger.take_in(value), outcome));
            }
            if long.is_none() {
                // Later commands may lie in the same entry.
                ledger.position = ledger.position.max(position.previous());
            }
            self.published.store(Arc::clone(&ledger.value));
            ledger.wake();
        }
        for (reply, outcome) in answers {
            reply.send(Ok(outcome));
        }
        long
    }

    /// The log has failed: nobody knows what becomes of command `number` and those after it. (Those
    /// before it may be committed; they hear of it themselves.)
    fn fail(&self, number: u64, error: &Error) {
        let unknown = {
            let mut ledger = self.ledger.borrow_mut();
            let first = (number - ledger.applied) as usize;
            let kept = first.min(ledger.waiting.len());
            let unknown = ledger.waiting.split_off(kept);
            ledger.wake();
            unknown
        };
        for proposal in unknown {
            proposal.reply.send(Err(error.clone()));
        }
    }

    async fn save(&self) -> Result<()> {
        // One at a time, or an older snapshot could take the place of a newer one.
        self.watch(|ledger| !ledger.saving).await;
        let (value, applied, position) = {
            let mut ledger = self.ledger.borrow_mut();
            ledger.saving = true;
            (Arc::clone(&ledger.value), ledger.applied, ledger.position)
        };
        let saved = self.save_now(&value, applied, position).await;
        let mut ledger = self.ledger.borrow_mut();
        ledger.saving = false;
        if saved.is_ok() {
            ledger.snapshot_due_bytes = self.setup.snapshot_after_bytes;
        }
        ledger.wake();
        saved
    }

    async fn save_now(&self, value: &Arc<S>, applied: u64, position: LogPosition) -> Result<()> {
        let head = Head { format: S::FORMAT, applied, position, id: self.setup.id };
        let value = Arc::clone(value);
        let write = move || Bytes::from(snapshot::write(&head, |form| value.encode(form)));
        let bytes = self.env.spawn().work_short_or_here(write).await;
        if planted(Fault::ReleaseStateLog) {
            self.log.release(self.log.committed()).await?;
        }
        self.env.disk().save(&self.setup.dir.join(snapshot::NAME), bytes).await?;
        match self.log.release(position).await {
            // Closing: the files go at the next opening's first snapshot.
            Err(Error::Closed) => Ok(()),
            released => released,
        }
    }

    /// Waits until `holds`.
    async fn watch(&self, holds: impl Fn(&Ledger<S>) -> bool) {
        poll_fn(|context| {
            let mut ledger = self.ledger.borrow_mut();
            if holds(&ledger) {
                return Poll::Ready(());
            }
            ledger.watchers.push(context.waker().clone());
            Poll::Pending
        })
        .await;
    }
}
