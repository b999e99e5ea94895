//! How much analyzers may do for the texts of a request, and where.
//!
//! What a text costs is known only while it is analysed: sixty-five thousand values of a `terms` query through a
//! normalizer of many parts are seconds. So a request begins on its executor, which gives it up after a moment; a
//! worker begins it anew, first among the short jobs, then among the long steps of searches, where callers have
//! turns. Steps are counted ([`mapping::analysis::effort`]), and what one request may take of them is bounded; so is
//! what it may take to show one document (marks around words, hits inside of it).

use mapping::document;

use crate::error::Error;

/// On an executor.
pub(super) const STEPS_HERE: u64 = document::STEPS_HERE;

/// On the worker for short jobs, where somebody else's short search waits behind it: some ten milliseconds.
pub(super) const STEPS_SHORT: u64 = 8 << 20;

/// For the filter of an alias, which is judged where it is put.
pub(super) const STEPS_OF_FILTER: u64 = 2 * STEPS_SHORT;

/// In all indices of a request together: about a second of a worker.
pub(super) const STEPS_MAX: u64 = 512 << 20;

/// What is to be shown of a document would take more steps than a request may.
#[cold]
pub(super) fn too_costly_to_show() -> Error {
    Error::illegal_argument(format!(
        "the texts of a hit are too costly to show: their analyzers and normalizers would take more than \
         [{STEPS_MAX}] steps"
    ))
}

/// What the request says would take more steps than these.
#[cold]
pub(super) fn too_costly(steps: u64) -> Error {
    Error::illegal_argument(format!(
        "the texts of the request are too costly: their analyzers and normalizers, and what its patterns mean \
         in the index, would take more than [{steps}] steps"
    ))
}
