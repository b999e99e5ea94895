//! A log with one copy: committed means synced.

use std::time::Duration;

use env::budget::Lease;
use env::{Env, Pace};
use wal::{Batch, Config, LogPosition, Promised, Reader, Record, Reserve, Tail, Writer};

use crate::log::{Log, Pending};
use crate::{Error, Result};

/// A log that has no other copy.
pub struct Local<E: Env> {
    writer: Writer<E>,
}

impl<E: Env> Clone for Local<E> {
    fn clone(&self) -> Self {
        Self { writer: self.writer.clone() }
    }
}

impl<E: Env> Local<E> {
    /// Makes a new log.
    pub async fn create(env: &E, config: Config, reserve: Option<Reserve<E>>) -> Result<Self> {
        Ok(Self { writer: Writer::create(env, config, 1, reserve).await? })
    }

    /// Opens a log that was made before, to read what it holds after `after` first.
    pub async fn open(env: &E, config: Config, after: LogPosition) -> Result<Replay<E>> {
        Ok(Replay { reader: Reader::open(env, config, after).await? })
    }

    /// Reads what is synced, at a pace, and compares it with its checksums.
    pub async fn scrub(&self, pace: &Pace<E>) -> Result<()> {
        Ok(self.writer.scrub(pace).await?)
    }
}

/// A log that is being read before it takes anything new.
pub struct Replay<E: Env> {
    reader: Reader<E>,
}

impl<E: Env> Replay<E> {
    /// The next entry; `None` at the end. With one copy, all that is readable is committed: it
    /// may have been acknowledged.
    pub async fn next(&mut self) -> Result<Option<Batch>> {
        Ok(self.reader.next().await?)
    }

    /// What stood after the last entry; known once [`Replay::next`] has answered `None`.
    pub fn tail(&self) -> Tail {
        self.reader.tail()
    }

    /// Position of the last entry read.
    pub fn position(&self) -> LogPosition {
        self.reader.position()
    }

    /// Reads to the end, makes all that was read durable, and opens the log for appends in a new
    /// term. Nothing that was read may be acknowledged or served before.
    pub async fn finish(self, reserve: Option<Reserve<E>>) -> Result<Local<E>> {
        let Self { mut reader } = self;
        while reader.next().await?.is_some() {}
        let term = reader.term() + 1;
        Ok(Local { writer: reader.into_writer(term, reserve).await? })
    }
}

impl<E: Env> Local<E> {
    /// Whether records of `bytes` together would be taken in beside what waits for its sync.
    pub fn admits(&self, bytes: usize) -> bool {
        self.writer.admits(bytes)
    }

    /// As [`Log::append`], but leaves what little room there is on a full disk to those who may not wait.
    pub fn append_sparing(&self, record: Record) -> Result<Pending> {
        Ok(Pending::new(self.writer.append_sparing(record)?))
    }

    /// As [`Log::append`], but leaves half of that to those who may not wait.
    pub fn append_careful(&self, record: Record) -> Result<Pending> {
        Ok(Pending::new(self.writer.append_careful(record)?))
    }

    /// Looks whether there is room for a record of `bytes`, where that is not known; a refusal where not.
    pub async fn look_for_room(&self, bytes: usize) -> Result<()> {
        Ok(self.writer.look_for_room(bytes).await?)
    }

    /// Gives the reserve up where a full disk leaves no room for `bytes`; whether there is room now.
    pub async fn make_way(&self, bytes: usize) -> bool {
        self.writer.make_way(bytes).await
    }

    /// The log's files leave room on the disk for as many bytes as `held` holds.
    pub fn leave_room_for(&self, held: Lease) {
        self.writer.leave_room_for(held);
    }

    /// Takes nothing any more: there is no room for what must be written before anything else.
    pub fn starve(&self, full: env::Error) {
        self.writer.starve(full);
    }
}

impl<E: Env> Log for Local<E> {
    fn append(&self, record: Record) -> Result<Pending> {
        Ok(Pending::new(self.writer.append(record)?))
    }

    fn append_within(&self, record: Record, delay: Duration) -> Result<Promised> {
        Ok(self.writer.append_within(record, delay)?)
    }

    async fn sync(&self) -> Result<LogPosition> {
        Ok(self.writer.sync().await?)
    }

    fn committed(&self) -> LogPosition {
        self.writer.synced()
    }

    async fn release(&self, through: LogPosition) -> Result<()> {
        Ok(self.writer.release(through).await?)
    }

    fn bytes(&self) -> u64 {
        self.writer.bytes()
    }

    fn failure(&self) -> Option<Error> {
        self.writer.failure().map(Error::from)
    }

    async fn failed(&self) -> Option<Error> {
        self.writer.failed().await.map(Error::from)
    }

    async fn close(&self) -> Result<()> {
        Ok(self.writer.close().await?)
    }
}
