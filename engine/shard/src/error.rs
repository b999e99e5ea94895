//! What may go wrong with one shard, and why one operation is refused.
//!
//! Three faults are told apart: an operation that is refused ([`WriteError`]: the caller's), a
//! shard that cannot serve ([`Error`]: disk or bytes), and a bug (an assertion).
//!
//! Not here: Elasticsearch's words and status codes; `engine` puts the facts below into those.

use std::fmt;

use base::{PrimaryTerm, SegmentId, SeqNo};
use mapping::Delta;

use crate::file;

/// Answer of a shard.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a shard, or one call on it, failed. Plain data: it crosses cores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// No manifest where a shard was expected; nothing in the folder was touched.
    NoManifest {
        /// The folder.
        dir: String,
    },
    /// A new shard was asked for where data stands already; nothing in the folder was touched.
    AlreadyExists {
        /// What stands there.
        file: String,
    },
    /// Bytes on disk are not what was written.
    Corrupt {
        /// The file (or folder) that is wrong.
        file: String,
        /// What was expected and what was found.
        what: String,
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
    /// The disk failed.
    Disk(env::Error),
    /// The log takes nothing any more. Operations under way may or may not have become durable.
    Log(String),
    /// There is no room on the disk for the log, which takes nothing until the shard is opened
    /// again. Reading goes on.
    Starved(String),
    /// There is no memory now for a long document that was to be read.
    NoMemory {
        /// How much it takes.
        needed_bytes: u64,
    },
    /// The shard is closed or closing.
    Closed,
    /// The work was stopped because the shard closes.
    Cancelled,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoManifest { dir } => write!(f, "no manifest in [{dir}]"),
            Self::AlreadyExists { file } => write!(f, "[{file}] stands already"),
            Self::Corrupt { file, what } => write!(f, "[{file}] is corrupt: {what}"),
            Self::Version { file, found, expected } => {
                write!(f, "[{file}] has format version {found}, this program reads {expected}")
            }
            Self::Disk(error) => error.fmt(f),
            Self::Log(what) => write!(f, "the log failed: {what}"),
            Self::Starved(what) => f.write_str(what),
            Self::NoMemory { needed_bytes } => {
                write!(f, "no memory for [{needed_bytes}] bytes of a document")
            }
            Self::Closed => f.write_str("the shard is closed"),
            Self::Cancelled => f.write_str("cancelled, the shard closes"),
        }
    }
}

impl std::error::Error for Error {}

impl Error {
    /// Whether room on the disk is all that is missing.
    pub fn is_full_disk(&self) -> bool {
        match self {
            Self::Starved(_) => true,
            Self::Disk(error) => error.kind == env::ErrorKind::NoSpace,
            _ => false,
        }
    }

    /// The shard's word for damage found in a segment.
    pub(crate) fn in_segment(id: SegmentId, error: &segment::Error) -> Self {
        let file = file::segment_name(id);
        match error {
            segment::Error::Input { segment, error } => Self::in_segment(*segment, error),
            segment::Error::Version { found, expected } => {
                Self::Version { file, found: u32::from(*found), expected: u32::from(*expected) }
            }
            segment::Error::Cancelled => Self::Cancelled,
            other => Self::Corrupt { file, what: other.to_string() },
        }
    }
}

impl From<env::Error> for Error {
    fn from(error: env::Error) -> Self {
        Self::Disk(error)
    }
}

impl From<consensus::Error> for Error {
    fn from(error: consensus::Error) -> Self {
        use consensus::Error as Log;
        match error {
            Log::Corrupt { file, what } => Self::Corrupt { file, what },
            Log::Version { file, found, expected } => Self::Version { file, found, expected },
            Log::Disk(error) => Self::Disk(error),
            Log::Closed => Self::Closed,
            Log::Log(wal::Error::Corrupt { file, offset, what }) => {
                Self::Corrupt { file, what: format!("at {offset}: {what}") }
            }
            Log::Log(wal::Error::Disk(error)) => Self::Disk(error),
            Log::Log(full @ (wal::Error::NoRoom(_) | wal::Error::Starved(_))) => {
                Self::Starved(full.to_string())
            }
            other => Self::Log(other.to_string()),
        }
    }
}

/// Why one operation was not done. Nothing of a refused operation is kept anywhere.
#[derive(Clone, Debug, PartialEq)]
pub enum WriteError {
    /// The document is not as the caller expects it to be.
    Conflict(Conflict),
    /// An update found no document, and has none to put.
    Missing,
    /// An update found a document whose text is not kept.
    NoSource,
    /// What an update makes of its document does not fit the mapping.
    Document(Box<mapping::Error>),
    /// An update's script failed.
    Script(Box<script::Error>),
    /// What an update makes of its document needs these fields first. Operations after it were not
    /// tried.
    NeedsFields(Box<Delta>),
    /// An operation before it in its batch needs fields first.
    NotTried,
    /// No memory for the batch, or too much of it under way: the same answer for all its
    /// operations. The caller may try again.
    Rejected {
        /// Bytes the batch would have needed.
        needed_bytes: usize,
    },
    /// No room on the disk for the log. The caller may try again when there is some.
    NoSpace {
        /// Bytes that were wanted.
        needed_bytes: u64,
    },
    /// The operation is larger than any may be.
    TooLarge {
        /// Its size.
        bytes: usize,
        /// The largest size.
        bytes_max: usize,
    },
    /// The shard failed. Where `durable_unknown`, the operation may have been logged.
    Failed {
        /// Why.
        error: Error,
        /// Whether the operation may still come to light after a restart.
        durable_unknown: bool,
    },
}

/// The facts of a version conflict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// `if_seq_no` and `if_primary_term` name another state.
    SeqNo {
        /// What the caller asked for.
        required: (SeqNo, PrimaryTerm),
        /// What stands there; `None`: no document (or a deleted one).
        current: Option<(SeqNo, PrimaryTerm)>,
    },
    /// A create found the document there already.
    Exists {
        /// Its version.
        version: u64,
    },
    /// An external version is not above (`or_equal`: is below) the one that stands there.
    Version {
        /// The version that stands there.
        current: u64,
        /// The version the caller gave.
        provided: u64,
        /// An equal one would have been taken (`external_gte`).
        or_equal: bool,
    },
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Conflict(conflict) => conflict.fmt(f),
            Self::Missing => f.write_str("document missing"),
            Self::NoSource => f.write_str("document source missing"),
            Self::Document(error) => error.fmt(f),
            Self::Script(error) => error.fmt(f),
            Self::NeedsFields(_) => f.write_str("the mapping lacks fields of the document"),
            Self::NotTried => f.write_str("an operation before it waits for fields"),
            Self::Rejected { needed_bytes } => {
                write!(f, "no memory for a batch of {needed_bytes} bytes")
            }
            Self::NoSpace { needed_bytes } => {
                write!(f, "no room on the disk for {needed_bytes} bytes")
            }
            Self::TooLarge { bytes, bytes_max } => {
                write!(f, "an operation of {bytes} bytes, at most {bytes_max} are taken")
            }
            Self::Failed { error, .. } => error.fmt(f),
        }
    }
}

impl std::error::Error for WriteError {}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SeqNo { required: (seq_no, term), current } => {
                write!(f, "version conflict, required seqNo [{seq_no}], primary term [{term}]")?;
                match current {
                    Some((seq_no, term)) => write!(
                        f,
                        ". current document has seqNo [{seq_no}] and primary term [{term}]"
                    ),
                    None => f.write_str(". but no document was found"),
                }
            }
            Self::Exists { version } => {
                write!(f, "version conflict, document already exists (current version [{version}])")
            }
            Self::Version { current, provided, or_equal } => {
                let how = if *or_equal { "higher" } else { "higher or equal to" };
                let than = if *or_equal { "than " } else { "" };
                write!(
                    f,
                    "version conflict, current version [{current}] is {how} {than}the one provided [{provided}]"
                )
            }
        }
    }
}
