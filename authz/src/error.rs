//! What may go wrong in authz.

use std::fmt;

use crate::access::Denied;

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
    /// A code or token is unknown, over, used, or somebody else's; nobody is told which.
    InvalidGrant,
    /// The same, because another client presents it: for the audit log.
    Foreign,
    /// The same, because it comes a second time: what came of it was revoked.
    Reused,
    /// A request that waited for an answer is over, or was answered.
    Gone,
    /// Somebody else changed the thing meanwhile.
    Changed,
    /// What let the caller in counts no more: the password was changed meanwhile, the session or grant ended.
    Lapsed,
    /// The caller was let in, and may not do this any more.
    Denied(Box<Denied>),
    /// The caller may do this, but not for that account.
    NotForAccount {
        /// The caller.
        user: String,
        /// The user for whom it would be.
        account: String,
    },
    /// There are as many of the kind as there may be.
    Crowded {
        /// How many.
        room: u64,
    },
    /// The API keys of one owner would hold more than they may.
    Heavy {
        /// Whose.
        owner: String,
        /// What they would hold.
        bytes: usize,
        /// What they may hold.
        bytes_max: usize,
    },
    /// All of a kind together would hold more memory than they may.
    NoMemory {
        /// Of what: `api_keys`, `users_and_roles`.
        what: &'static str,
        /// What they would hold.
        bytes: usize,
        /// What they may hold.
        bytes_max: usize,
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
    /// The disk failed under authz state, or under its log, which takes nothing any more then.
    Log {
        /// What the log said.
        reason: String,
    },
    /// The log takes nothing now, for want of room on the disk: it may again.
    Full {
        /// What the log said.
        reason: String,
    },
    /// The audit log is strict, and does not take the line that comes before a change.
    Unnoted,
    /// The core that keeps authz state has stopped.
    Stopped,
    /// Too much work waits.
    Busy,
}

impl Error {
    /// A refusal with its sentence.
    pub fn refused(reason: impl Into<String>) -> Self {
        Self::Refused { reason: reason.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownUser { name } => write!(f, "user [{name}] does not exist"),
            Self::Refused { reason } => f.write_str(reason),
            Self::Crowded { room } => {
                write!(f, "there are [{room}] of the kind, as many as there may be")
            }
            Self::Heavy { owner, bytes, bytes_max } => write!(
                f,
                "the API keys of [{owner}] would hold [{bytes}b], which is more than the limit of [{bytes_max}b]; \
                 those that were invalidated count until they are forgotten"
            ),
            Self::NoMemory { what, bytes, bytes_max } => write!(
                f,
                "all {} would hold [{bytes}b], which is more than the limit of [{bytes_max}b]",
                what.replace('_', " ")
            ),
            Self::InvalidGrant | Self::Foreign | Self::Reused => {
                f.write_str("the grant is invalid")
            }
            Self::Gone => f.write_str("the request is over"),
            Self::Changed => f.write_str("somebody else changed it meanwhile"),
            Self::Lapsed => f.write_str("what let the caller in counts no more"),
            Self::Denied(denied) => denied.fmt(f),
            Self::NotForAccount { user, account } => {
                write!(f, "user [{user}] may not act for the service account [{account}]")
            }
            Self::Malformed { what, reason } => write!(f, "{what}: {reason}"),
            Self::Version { reason } | Self::Store { reason } => {
                write!(f, "authz state: {reason}")
            }
            Self::Log { reason } => write!(f, "authz log: {reason}"),
            Self::Full { reason } => {
                write!(f, "users, keys and tokens are not changed now: {reason}")
            }
            Self::Unnoted => f.write_str("the audit log cannot be written"),
            Self::Stopped => f.write_str("the node is stopping"),
            Self::Busy => f.write_str("too many password checks wait"),
        }
    }
}

impl Error {
    /// For callers: what the disk says of files, which names where they lie, is for the log alone.
    pub fn brief(&self) -> String {
        let text = match self {
            Self::Version { .. } | Self::Store { .. } => "authz state: it cannot be written",
            Self::Log { .. } => "authz log: it cannot be written",
            Self::Full { .. } => {
                "users, keys and tokens are not changed now: there is no room to write them down"
            }
            other => return other.to_string(),
        };
        text.to_owned()
    }
}

impl std::error::Error for Error {}

impl From<consensus::Error> for Error {
    fn from(error: consensus::Error) -> Self {
        let reason = error.to_string();
        match error {
            consensus::Error::Version { .. } => Self::Version { reason },
            consensus::Error::Closed => Self::Stopped,
            error if error.is_disk() => Self::Log { reason },
            error if error.is_refusal() => Self::Full { reason },
            _ => Self::Store { reason },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Administrators were told the whole path of what could not be written.
    #[test]
    fn callers_are_not_told_where_files_lie() {
        let reason = || "write /var/lib/store/authz/log-000001: No space left on device".to_owned();
        for error in [
            Error::Version { reason: reason() },
            Error::Store { reason: reason() },
            Error::Log { reason: reason() },
            Error::Full { reason: reason() },
        ] {
            assert!(error.to_string().contains("/var/lib/"), "the log has it: {error}");
            assert!(!error.brief().contains('/'), "{}", error.brief());
        }
        assert_eq!(Error::Gone.brief(), Error::Gone.to_string());
    }
}
