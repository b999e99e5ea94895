//! Lines that somebody keeps: a log in a file.

use std::fmt::Debug;

/// Takes lines. Writing may block, so it is a job for a worker.
pub trait Lines: Debug + Send + Sync {
    /// Keeps one line, which has no line end.
    fn keep(&self, line: &str);
}
