//! Writing: many appenders, one committer, one sync for all who wait.

use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use env::Env;

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

/// Proof that a record is taken and will be on stable storage within the time agreed, unless the
/// log fails, which ends the process.
#[derive(Debug, PartialEq, Eq)]
pub struct Promised(());

/// An append under way; dropping it does not undo the append.
pub struct Append {
    private: (),
}

impl Future for Append {
    type Output = Result<Durable>;

    fn poll(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<Result<Durable>> {
        let _ = self.private;
        todo!()
    }
}

/// A log open for writing; clones are the same log.
pub struct Writer<E: Env> {
    inner: Rc<E>,
}

impl<E: Env> Clone for Writer<E> {
    fn clone(&self) -> Self {
        Self { inner: Rc::clone(&self.inner) }
    }
}

impl<E: Env> Writer<E> {
    /// Makes a new log. [`Error::AlreadyExists`] where one stands.
    pub async fn create(
        env: &E,
        config: Config,
        term: u64,
        reserve: Option<Reserve<E>>,
    ) -> Result<Self> {
        let _ = (config, term, reserve);
        Ok(Self { inner: Rc::new(env.clone()) })
    }

    /// Takes `record` into the log, after all that were taken before. Refused at once or not at
    /// all, but for a log that fails: what was taken in is written.
    pub fn append(&self, record: Record) -> Result<Append> {
        let _ = record;
        todo!()
    }

    /// As [`Writer::append`] for a caller who does not wait: the record is synced within `delay`.
    pub fn append_within(&self, record: Record, delay: Duration) -> Result<Promised> {
        let _ = (record, delay);
        todo!()
    }

    /// Ends when all that was taken in so far is on stable storage.
    pub async fn sync(&self) -> Result<LogPosition> {
        todo!()
    }

    /// The last batch known to be on stable storage, with all before it.
    pub fn synced(&self) -> LogPosition {
        todo!()
    }

    /// Says that batches up to `through` are not needed any more; removes files that hold no
    /// other. Only after whatever stops needing them is durable.
    pub async fn release(&self, through: LogPosition) -> Result<()> {
        let _ = through;
        todo!()
    }

    /// Bytes of batches that are not released.
    pub fn bytes(&self) -> u64 {
        todo!()
    }

    /// Why the log takes nothing any more.
    pub fn failure(&self) -> Option<Error> {
        todo!()
    }

    /// Ends when the log fails: for whoever must end the process then.
    pub async fn failed(&self) -> Error {
        todo!()
    }

    /// Syncs all that was taken in, says so in an empty batch, and lets go of the files. Later
    /// calls answer [`Error::Closed`].
    pub async fn close(&self) -> Result<()> {
        let _ = &self.inner;
        todo!()
    }
}
