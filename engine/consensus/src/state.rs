//! Small values that change only through commands in a log.
//!
//! Always true
//! 1. The value is `apply` of all committed commands, in log order, on `State::default()`.
//! 2. A proposal is answered only after its command is committed and applied.
//! 3. A reader on any core sees some committed value, never one that may be lost.
//!
//! On disk: the log (`log-NNNNNN`) and a `snapshot` of the value at one position of it.
//!
//! Not here: what the value is; whoever reads it on other cores takes
//! [`Replicated::published`].

use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use base::ShardId;
use env::Env;
use env::published::Published;
use wal::Reserve;

use crate::{Error, Result};

/// Why bytes are no state or command: what was expected and what was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decode(pub String);

/// A value that changes by commands. `Default` is the value before the first.
pub trait State: Default + Send + Sync + 'static {
    /// What may change it. Chance and time come in here, never in `apply`.
    type Command: 'static;
    /// What a command did, or why it did nothing.
    type Outcome: 'static;

    /// Version of the byte forms of state and commands that is written. Older ones are read,
    /// newer ones end the opening ([`Error::Version`]).
    const FORMAT: u32;

    /// The value after `command`; a pure function.
    fn apply(&self, command: &Self::Command) -> (Self, Self::Outcome);

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
        let mut index = [0; 16];
        let len = name.len().min(16);
        index[..len].copy_from_slice(&name.as_bytes()[..len]);
        Self { dir: dir.into(), id: ShardId { index, number: 0 }, snapshot_after_bytes: 4 << 20 }
    }
}

/// A replicated value on its keeper core; clones are the same value.
pub struct Replicated<E: Env, S: State> {
    inner: Rc<(E, Arc<Published<S>>)>,
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
        let _ = (setup, reserve);
        Ok(Self { inner: Rc::new((env.clone(), Arc::new(Published::new(Arc::new(S::default()))))) })
    }

    /// Opens a value that was made before: snapshot, then the commands after it. Never makes an
    /// empty one: [`Error::NotFound`].
    pub async fn open(env: &E, setup: Setup, reserve: Option<Reserve<E>>) -> Result<Self> {
        let _ = (env, setup, reserve);
        todo!()
    }

    /// Whether a value was made in the folder of `setup` (even if it cannot be opened).
    pub async fn exists(env: &E, setup: &Setup) -> Result<bool> {
        let _ = (env, setup);
        todo!()
    }

    /// Logs `command`, applies it once it is committed, and answers what it did. A proposal that
    /// was begun is carried out even if the future is dropped.
    pub async fn propose(&self, command: S::Command) -> Result<S::Outcome> {
        let _ = command;
        todo!()
    }

    /// The newest value.
    pub fn state(&self) -> Arc<S> {
        self.inner.1.load()
    }

    /// The newest value, for all cores.
    pub fn published(&self) -> Arc<Published<S>> {
        Arc::clone(&self.inner.1)
    }

    /// Saves a snapshot and shortens the log.
    pub async fn save(&self) -> Result<()> {
        todo!()
    }

    /// Why the value takes no command any more.
    pub fn failure(&self) -> Option<Error> {
        todo!()
    }

    /// Ends when the log fails: for whoever must end the process then.
    pub async fn failed(&self) -> Error {
        todo!()
    }

    /// Commits what was proposed and lets go of the files.
    pub async fn close(&self) -> Result<()> {
        let _ = &self.inner.0;
        todo!()
    }
}
