//! What may go wrong outside: told by kind, with the file or address it happened to.

use std::fmt;

/// Answer of a question to the outside.
pub type Result<T> = std::result::Result<T, Error>;

/// Kinds that callers tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The file is not there.
    NotFound,
    /// The file is there already.
    AlreadyExists,
    /// No room on the disk.
    NoSpace,
    /// Fewer bytes than asked for.
    UnexpectedEnd,
    /// The other side closed or reset the connection.
    Disconnected,
    /// The time allowed has passed.
    TimedOut,
    /// No permission.
    Denied,
    /// The queue of workers is full.
    Busy,
    /// Any other failure of disk, network or kernel.
    Io,
}

/// A failure outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Kind, for code.
    pub kind: ErrorKind,
    /// What was attempted on what, and what the system said, for people.
    pub message: String,
}

impl Error {
    /// An error of `kind`; `message` names the thing.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    /// Puts a system error into our words; `what` names the attempt and the thing.
    pub fn from_io(error: &std::io::Error, what: impl fmt::Display) -> Self {
        use std::io::ErrorKind as Io;
        let kind = match error.kind() {
            Io::NotFound => ErrorKind::NotFound,
            Io::AlreadyExists => ErrorKind::AlreadyExists,
            Io::StorageFull | Io::QuotaExceeded => ErrorKind::NoSpace,
            Io::UnexpectedEof => ErrorKind::UnexpectedEnd,
            Io::ConnectionReset | Io::ConnectionAborted | Io::BrokenPipe | Io::NotConnected => {
                ErrorKind::Disconnected
            }
            Io::TimedOut => ErrorKind::TimedOut,
            Io::PermissionDenied | Io::ReadOnlyFilesystem => ErrorKind::Denied,
            _ => ErrorKind::Io,
        };
        Self { kind, message: format!("{what}: {error}") }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
