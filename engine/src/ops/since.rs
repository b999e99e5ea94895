//! What became of an index since somebody met it, who is still busy with it.

use std::sync::Arc;

use cluster::{Index, State};

/// See the head of the file.
pub(super) enum Since {
    /// It is there, and as open as it was.
    Same,
    /// It was closed.
    Closed(Arc<Index>),
    /// It was deleted.
    Deleted,
}

/// What became of `index`, in `now`.
pub(super) fn of(now: &State, index: &Index) -> Since {
    // An index keeps its name, and looking for an identifier reads all of them.
    match now.index(&index.name) {
        Some(known) if known.uuid != index.uuid => Since::Deleted,
        Some(known) if index.open && !known.open => Since::Closed(Arc::clone(known)),
        Some(_) => Since::Same,
        None => Since::Deleted,
    }
}
