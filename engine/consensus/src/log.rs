//! The contract of a log that is agreed on.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use wal::{Append, Durable, LogPosition, Promised, Record};

use crate::{Error, Result};

/// Proof that a record is committed. Only a log makes one.
#[derive(Debug, PartialEq, Eq)]
pub struct Committed {
    durable: Durable,
}

impl Committed {
    /// The entry that holds the record.
    pub fn position(&self) -> LogPosition {
        self.durable.position()
    }
}

/// An append under way; dropping it does not undo the append.
#[must_use = "an append is not committed before its answer"]
pub struct Pending {
    append: Append,
}

impl Pending {
    pub(crate) fn new(append: Append) -> Self {
        Self { append }
    }
}

impl Future for Pending {
    type Output = Result<Committed>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<Committed>> {
        Pin::new(&mut self.append)
            .poll(context)
            .map(|answer| answer.map(|durable| Committed { durable }).map_err(Error::from))
    }
}

/// A log with one or many copies, as the one who writes it sees it. Clones are the same log.
#[allow(async_fn_in_trait, reason = "futures stay on the core that made them")]
pub trait Log: Clone + 'static {
    /// Takes `record` in, after all that were taken before. Refused at once
    /// ([`Error::is_refusal`]) or not at all, but for a log that fails.
    fn append(&self, record: Record) -> Result<Pending>;

    /// As [`Log::append`] for a caller who does not wait: committed within about `delay`.
    fn append_within(&self, record: Record, delay: Duration) -> Result<Promised>;

    /// Ends when all that was taken in so far is committed.
    async fn sync(&self) -> Result<LogPosition>;

    /// The last entry known to be committed, with all before it.
    fn committed(&self) -> LogPosition;

    /// Says that entries up to `through` are not needed any more. Only after whatever stops
    /// needing them (a manifest, a snapshot) is durable.
    async fn release(&self, through: LogPosition) -> Result<()>;

    /// Bytes of entries that are not released.
    fn bytes(&self) -> u64;

    /// Why the log takes nothing any more.
    fn failure(&self) -> Option<Error>;

    /// Ends when the log fails: for whoever must end the process then. `None` where it was closed
    /// in peace.
    async fn failed(&self) -> Option<Error>;

    /// Commits all that was taken in and lets go of the files.
    async fn close(&self) -> Result<()>;
}
