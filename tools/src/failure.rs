//! How the program ends when it cannot go on: an exit code for scripts, one or two sentences for
//! people, never a backtrace.

use std::fmt;

/// Exit codes, as `docs/guide` promises them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// The command did not do what was asked.
    Failed = 1,
    /// Wrong usage.
    Usage = 2,
    /// The machine lacks what is needed.
    Machine = 71,
    /// An address is in use.
    Address = 73,
    /// The log could not be written or synced.
    Log = 74,
    /// The data folder is in use by another process.
    Folder = 75,
    /// A setting or certificate is wrong.
    Setting = 78,
}

/// Why the program ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// For scripts.
    pub code: Code,
    /// For people.
    pub sentence: String,
}

/// Answer of a step of a command.
pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// Ends with `code` and `sentence`.
    pub fn new(code: Code, sentence: impl Into<String>) -> Self {
        Self { code, sentence: sentence.into() }
    }

    /// A failure on a file or folder of ours that fits no other code.
    pub fn file(what: &str, path: &std::path::Path, error: &dyn fmt::Display) -> Self {
        Self::new(Code::Failed, format!("{what} {}: {error}", path.display()))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}
