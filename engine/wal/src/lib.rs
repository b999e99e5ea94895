//! The write-ahead log of one shard: what is acknowledged is here first, on stable storage.
//!
//! Always true
//! 1. A [`Durable`] exists only after the sync that covers its batch has ended well; nothing else
//!    makes one, and acknowledgements leave in log order.
//! 2. A block that holds acknowledged bytes is never written again.
//! 3. Recovery gives every acknowledged batch, in order, or says that the log is corrupt. It
//!    never skips one and goes on.
//! 4. A failed write or sync ends the log; it is never tried again.
//!
//! A log is a row of files `log-000001`, `log-000002`, …, each zero-filled and synced before its
//! first use (`file`, `rotate`). Records that are appended while a sync runs share the next batch
//! (`commit`); a batch lies on block boundaries ([`frame`]). [`reader`] tells a torn tail from rot
//! (`tail`).
//!
//! Not here: what records mean, and what the position is that a manifest no longer needs.

#![forbid(unsafe_code)]

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use base::{SeqNo, ShardId};

mod commit;
pub mod error;
mod extent;
mod file;
pub mod frame;
mod group;
mod look;
mod payload;
pub mod reader;
pub mod reserve;
mod rotate;
mod scrub;
mod state;
mod tail;
pub mod writer;

pub use error::{Error, Result};
pub use look::look;
pub use reader::{Batch, Reader, Tail};
pub use reserve::Reserve;
pub use writer::{Append, Durable, Promised, Writer};

/// Batches that may be under way at once. The rule for a torn tail counts on it: it is part of
/// the format.
pub const IN_FLIGHT_MAX: u64 = 4;

/// Place of a batch in a log: 1, 2, 3, … without a gap. 0 is before the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LogPosition(pub u64);

impl LogPosition {
    /// Before the first batch.
    pub const ZERO: Self = Self(0);

    /// The position after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }

    /// The position before this one; that of 0 is 0.
    #[must_use]
    pub const fn previous(self) -> Self {
        Self(self.0.saturating_sub(1))
    }
}

impl fmt::Display for LogPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What one caller logs at once: operations that stand or fall together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Sequence number of its first operation; the others follow without a gap.
    pub first_seq_no: SeqNo,
    /// How many operations; may be 0.
    pub count: u32,
    /// Version of the mapping that its documents were prepared with; 0 where there is none.
    pub mapping_version: u64,
    /// The operations, in the caller's form.
    pub payload: Vec<u8>,
}

/// How a log is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The folder; it may hold other files too.
    pub dir: PathBuf,
    /// Whose log it is: written into every batch.
    pub shard: ShardId,
    /// Size of the first file, and of each file while little is written.
    pub file_bytes_min: u64,
    /// Size up to which files grow while much is written.
    pub file_bytes_max: u64,
    /// Bytes that may wait for their sync.
    pub unsynced_bytes_max: usize,
    /// After so long without an append an empty batch says up to where the log is synced.
    pub idle_after: Duration,
}

impl Config {
    /// The default for a log of `shard` in `dir`.
    pub fn new(dir: impl Into<PathBuf>, shard: ShardId) -> Self {
        Self {
            dir: dir.into(),
            shard,
            file_bytes_min: 1 << 20,
            file_bytes_max: 64 << 20,
            unsynced_bytes_max: 256 << 20,
            idle_after: Duration::from_secs(1),
        }
    }
}
