//! What may go wrong with a log that is agreed on, or with a value kept by it.

use std::fmt;

/// Answer of a log or a replicated value.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a call failed. Plain data: it crosses cores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The log failed, is corrupt, or refuses for now.
    Log(wal::Error),
    /// Nothing stands where a value was expected; nothing was touched.
    NotFound {
        /// The folder.
        dir: String,
    },
    /// A new value was asked for where one stands; nothing was touched.
    AlreadyExists {
        /// The folder.
        dir: String,
    },
    /// A file was written by another version of this program. A node ends with code 78.
    Version {
        /// The file.
        file: String,
        /// The version found.
        found: u32,
        /// The newest version read here.
        expected: u32,
    },
    /// Bytes on disk are not what was written; nothing was touched.
    Corrupt {
        /// The file.
        file: String,
        /// What was expected and what was found.
        what: String,
    },
    /// A disk call failed outside the log.
    Disk(env::Error),
    /// The value is closed.
    Closed,
}

impl Error {
    /// Whether the log takes nothing any more: whoever runs the process ends it with code 74.
    pub fn is_fatal(&self) -> bool {
        matches!(self, Self::Log(error) if error.is_fatal())
    }

    /// Whether a disk call failed, under the log or beside it: nobody can say whose fault it is but
    /// who looks at the disk.
    pub fn is_disk(&self) -> bool {
        use wal::Error as Log;
        let of_log = |error: &Log| {
            matches!(error, Log::Disk(_) | Log::Failed(_) | Log::NoRoom(_) | Log::Starved(_))
        };
        match self {
            Self::Disk(_) => true,
            Self::Log(error) => of_log(error),
            _ => false,
        }
    }

    /// Whether the caller may try again later: nothing was written.
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Log(error) if error.is_refusal())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Log(error) => error.fmt(f),
            Self::NotFound { dir } => write!(f, "nothing stands in [{dir}]"),
            Self::AlreadyExists { dir } => write!(f, "something stands in [{dir}] already"),
            Self::Version { file, found, expected } => {
                write!(f, "[{file}] has format version {found}, this program reads {expected}")
            }
            Self::Corrupt { file, what } => write!(f, "[{file}] is corrupt: {what}"),
            Self::Disk(error) => error.fmt(f),
            Self::Closed => f.write_str("closed"),
        }
    }
}

impl std::error::Error for Error {}

impl From<wal::Error> for Error {
    fn from(error: wal::Error) -> Self {
        match error {
            wal::Error::Version { file, found, expected } => {
                Self::Version { file, found, expected }
            }
            wal::Error::Closed => Self::Closed,
            other => Self::Log(other),
        }
    }
}

impl From<env::Error> for Error {
    fn from(error: env::Error) -> Self {
        Self::Disk(error)
    }
}
