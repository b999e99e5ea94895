//! Reading a log back: every batch in order, then the end: a torn tail, or rot.

use env::Env;

use crate::{Config, LogPosition, Record, Reserve, Result, Writer};

/// A batch read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Its place.
    pub position: LogPosition,
    /// The term it was written in.
    pub term: u64,
    /// What it holds; nothing in a batch that an idle log wrote.
    pub records: Vec<Record>,
}

/// What stood after the last good batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tail {
    /// Bytes of blocks that were begun and never acknowledged.
    pub torn_bytes: u64,
}

/// A log being read.
pub struct Reader<E: Env> {
    env: E,
}

impl<E: Env> Reader<E> {
    /// Opens the log of `config` to read the batches after `after`.
    pub async fn open(env: &E, config: Config, after: LogPosition) -> Result<Self> {
        let _ = (config, after);
        Ok(Self { env: env.clone() })
    }

    /// The next batch; `None` at the end.
    pub async fn next(&mut self) -> Result<Option<Batch>> {
        let _ = &self.env;
        todo!()
    }

    /// What stood after the last batch; known once [`Reader::next`] has answered `None`.
    pub fn tail(&self) -> Tail {
        todo!()
    }

    /// Position of the last batch read; what was asked for as `after` where there was none.
    pub fn position(&self) -> LogPosition {
        todo!()
    }

    /// Term of the last batch; 0 where there is none.
    pub fn term(&self) -> u64 {
        todo!()
    }

    /// Reads to the end, zeroes what lies after it, syncs, and goes on writing there in `term`,
    /// which is not below [`Reader::term`].
    pub async fn into_writer(self, term: u64, reserve: Option<Reserve<E>>) -> Result<Writer<E>> {
        let _ = (term, reserve);
        todo!()
    }
}
