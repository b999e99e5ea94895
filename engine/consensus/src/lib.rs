//! One log, one or many copies; and small values that change only through such a log.
//!
//! Always true
//! 1. A [`Committed`] exists only for a record that no later failure of fewer than half of the
//!    copies can take back. With one copy ([`local`]) that is: it is synced.
//! 2. Records are committed in the order in which they were appended.
//! 3. A replicated value ([`state`]) is a pure function of its first value and its commands: equal
//!    logs give equal values.
//!
//! Not here: several copies (they come with the cluster, behind the same trait), and what records
//! and commands mean.

#![forbid(unsafe_code)]

pub mod error;
pub mod local;
pub mod log;
mod restore;
pub mod snapshot;
pub mod state;

pub use error::{Error, Result};
pub use local::{Local, Replay};
pub use log::{Committed, Log, Pending};
pub use state::{Decode, Replicated, Setup, State};
pub use wal::{Batch, Config, LogPosition, Promised, Record, Reserve, Tail};
