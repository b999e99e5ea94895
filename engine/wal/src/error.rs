//! What may go wrong with a log: refused, broken on disk, or lost for good.
//!
//! Three faults are told apart: the caller may try again later ([`Error::NoSpace`], [`Error::Spared`],
//! [`Error::Full`]: nothing was written), the bytes on disk are wrong (nothing is served), or the
//! log failed under way ([`Error::is_fatal`]: whoever runs the process ends it with code 74).

use std::fmt;

use crate::LogPosition;

/// Answer of a log.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a log, or one call on it, failed. Plain data: it is handed to every waiter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// No log where one was expected; nothing was touched.
    NoLog {
        /// The folder.
        dir: String,
    },
    /// A new log was asked for where one stands; nothing was touched.
    AlreadyExists {
        /// The file that stands there.
        file: String,
    },
    /// A file was written by another version of this program.
    Version {
        /// The file.
        file: String,
        /// The version found.
        found: u32,
        /// The version read here.
        expected: u32,
    },
    /// Bytes on disk are not what was written. The file is kept, its name ends in `.corrupt`.
    Corrupt {
        /// The file.
        file: String,
        /// Where in it.
        offset: u64,
        /// What was expected and what was found.
        what: String,
    },
    /// The log does not hold the batches after the position that was asked for.
    Gap {
        /// The folder.
        dir: String,
        /// The position that was asked for.
        after: LogPosition,
        /// What the log holds instead.
        found: LogPosition,
    },
    /// No room on the disk: nothing was written, the log lives on.
    NoSpace {
        /// Bytes that were wanted.
        needed_bytes: u64,
    },
    /// The room that is left on the disk is kept back for what gives some back: nothing was written, the log lives on.
    Spared {
        /// Bytes that were wanted.
        needed_bytes: u64,
    },
    /// There is no room for the next file, and the reserve did not help. Who is told this: nothing
    /// of the record was written. The log takes nothing any more until it is opened again; the
    /// process may live on.
    NoRoom(env::Error),
    /// The disk filled up under a batch that was being written: what became of it is unknown. The
    /// log takes nothing any more until it is opened again; the process may live on.
    Starved(env::Error),
    /// Too many bytes wait for their sync: nothing was written, the log lives on.
    Full {
        /// Bytes that wait.
        unsynced_bytes: usize,
        /// Bytes that may wait.
        unsynced_bytes_max: usize,
    },
    /// The record is larger than any batch may be: nothing was written, the log lives on.
    TooLarge {
        /// Its size.
        bytes: usize,
        /// The largest size.
        bytes_max: usize,
    },
    /// A write or a sync failed. It is not tried again: the kernel may have thrown the data away,
    /// and a second sync would not say so.
    Failed(env::Error),
    /// A disk call failed while the log was made, opened or read; what is on disk may be fine.
    Disk(env::Error),
    /// The log is closed.
    Closed,
}

impl Error {
    /// Whether the log takes nothing any more and what was under way is unknown.
    pub fn is_fatal(&self) -> bool {
        matches!(self, Self::Failed(_))
    }

    /// Whether the caller may try again later: nothing was written.
    pub fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::NoSpace { .. } | Self::Spared { .. } | Self::Full { .. } | Self::TooLarge { .. }
        )
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoLog { dir } => write!(f, "no log in [{dir}]"),
            Self::AlreadyExists { file } => write!(f, "[{file}] stands already"),
            Self::Version { file, found, expected } => {
                write!(f, "[{file}] has format version {found}, this program reads {expected}")
            }
            Self::Corrupt { file, offset, what } => {
                write!(f, "[{file}] is corrupt at {offset}: {what}")
            }
            Self::Gap { dir, after, found } => {
                write!(f, "the log in [{dir}] should go on after {after}, but stands at {found}")
            }
            Self::NoSpace { needed_bytes } => {
                write!(f, "no room on the disk for {needed_bytes} bytes of log")
            }
            Self::Spared { needed_bytes } => write!(
                f,
                "the disk is full, but for what is kept back for changes that make room: {needed_bytes} \
                 bytes of log wait until there is more"
            ),
            Self::NoRoom(error) | Self::Starved(error) => {
                write!(f, "the disk is full, the log stops: {error}")
            }
            Self::Full { unsynced_bytes, unsynced_bytes_max } => write!(
                f,
                "{unsynced_bytes} bytes wait for their sync, {unsynced_bytes_max} may wait"
            ),
            Self::TooLarge { bytes, bytes_max } => {
                write!(f, "a log record of {bytes} bytes, at most {bytes_max} are taken")
            }
            Self::Failed(error) => write!(f, "the log failed: {error}"),
            Self::Disk(error) => error.fmt(f),
            Self::Closed => f.write_str("the log is closed"),
        }
    }
}

impl std::error::Error for Error {}

impl From<env::Error> for Error {
    fn from(error: env::Error) -> Self {
        Self::Disk(error)
    }
}
