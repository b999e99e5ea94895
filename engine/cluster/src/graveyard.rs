//! The last indices that were deleted: `index-graveyard` of Elasticsearch's cluster state.
//!
//! Always true
//! 1. Oldest first, and never more than [`TOMBSTONES_MAX`].
//! 2. An index that went at a moment nobody knows (in a log from before moments were kept) is not there.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::state::Index;

/// `cluster.indices.tombstones.size`: Elasticsearch's default.
pub const TOMBSTONES_MAX: usize = 500;

/// An index that was deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tombstone {
    /// Its name.
    pub name: Arc<str>,
    /// Its unique id.
    pub uuid: [u8; 16],
    /// When it was deleted, milliseconds since 1970.
    pub deleted_ms: i64,
}

/// The tombstones once all of `before` are gone that `after` has no more.
pub(crate) fn buried(
    tombstones: &Arc<[Tombstone]>,
    before: &BTreeMap<Arc<str>, Arc<Index>>,
    after: &BTreeMap<Arc<str>, Arc<Index>>,
    at_ms: Option<i64>,
) -> Arc<[Tombstone]> {
    let Some(deleted_ms) = at_ms else { return Arc::clone(tombstones) };
    let gone = before.values().filter(|index| !after.contains_key(&index.name));
    let gone =
        gone.map(|index| Tombstone { name: Arc::clone(&index.name), uuid: index.uuid, deleted_ms });
    bounded(tombstones.iter().cloned().chain(gone).collect())
}

/// The newest of them, no more than there may be.
pub(crate) fn bounded(mut all: Vec<Tombstone>) -> Arc<[Tombstone]> {
    all.drain(..all.len().saturating_sub(TOMBSTONES_MAX));
    all.into()
}
