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
    /// The log of authz state failed, or the core that keeps it has stopped.
    Log {
        /// What the log said.
        reason: String,
    },
    /// Too much work waits.
    Busy,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownUser { name } => write!(f, "user [{name}] does not exist"),
            Self::Refused { reason } => f.write_str(reason),
            Self::Malformed { what, reason } => write!(f, "{what}: {reason}"),
            Self::Log { reason } => write!(f, "authz log: {reason}"),
            Self::Busy => f.write_str("too many password checks wait"),
        }
    }
}

impl std::error::Error for Error {}
