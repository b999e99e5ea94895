//! What may go wrong in authz.

use std::fmt;

/// Answer of authz.
pub type Result<T> = std::result::Result<T, Error>;

/// A failure of authz state or of a command to it. (A refused credential is an
/// [`AuthError`](crate::authenticate::AuthError), a refused action a
/// [`Denied`](crate::access::Denied).)
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// There is no such user.
    UnknownUser {
        /// The name asked for.
        name: String,
    },
    /// The command asks for something that is not allowed.
    Refused {
        /// Why, in a sentence.
        reason: String,
    },
    /// Stored bytes do not read as what they should be.
    Malformed {
        /// Which.
        what: &'static str,
        /// Why.
        reason: String,
    },
    /// Authz state on disk was written by a later version of the program.
    Version {
        /// Which file, and both versions.
        reason: String,
    },
    /// Authz state on disk cannot be read.
    Store {
        /// Which file, and why.
        reason: String,
    },
    /// The log of authz state failed: the process must end.
    Log {
        /// What the log said.
        reason: String,
    },
    /// The core that keeps authz state has stopped.
    Stopped,
    /// Too much work waits.
    Busy,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownUser { name } => write!(f, "user [{name}] does not exist"),
            Self::Refused { reason } => f.write_str(reason),
            Self::Malformed { what, reason } => write!(f, "{what}: {reason}"),
            Self::Version { reason } | Self::Store { reason } => {
                write!(f, "authz state: {reason}")
            }
            Self::Log { reason } => write!(f, "authz log: {reason}"),
            Self::Stopped => f.write_str("the node is stopping"),
            Self::Busy => f.write_str("too many password checks wait"),
        }
    }
}

impl std::error::Error for Error {}

impl From<consensus::Error> for Error {
    fn from(error: consensus::Error) -> Self {
        let reason = error.to_string();
        match error {
            consensus::Error::Version { .. } => Self::Version { reason },
            consensus::Error::Closed => Self::Stopped,
            error if error.is_fatal() => Self::Log { reason },
            error if error.is_refusal() => Self::Busy,
            _ => Self::Store { reason },
        }
    }
}
