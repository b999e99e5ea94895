//! Folders of indices that are named no more: the keeper removes them, now or at the next start.
//!
//! Always true
//! 1. At a start only that is removed of which the cluster state says that it was deleted, or which
//!    holds nothing that was ever acknowledged. A state that is older than the folders, or has lost its
//!    end, costs nobody a document.
//! 2. Beside folders that hold something no empty state is begun.

use std::path::Path;

use base::ShardId;
use cluster::{Command, Index, State};
use env::{Disk, Env, ErrorKind};

use super::keeper::Keeper;

impl<E: Env> Keeper<E> {
    /// Removes the folders of indices that were named before a change and are no more, where that was not
    /// done with their shards: of closed ones, and of those that another change was closing. `after` is what was
    /// followed: what is named no more since then has shards that nobody has begun to close.
    pub(super) async fn remove_deleted(&self, before: &State, after: &State) {
        // Mostly the name tells; looking for an identifier reads all of them.
        let stays = |index: &Index| {
            after.index(&index.name).is_some_and(|other| other.uuid == index.uuid)
                || after.index_by_uuid(index.uuid).is_some()
        };
        for index in before.indices.values().filter(|index| !stays(index)) {
            for number in 0..index.settings.shard_count() {
                self.forget_resting(ShardId { index: index.uuid, number });
            }
            debug_assert!(!self.has_shards(index.uuid), "its shards are closed first");
            self.remove_folder(index.uuid).await;
        }
    }

    /// Is a shard of it open, or about to be?
    fn has_shards(&self, index: [u8; 16]) -> bool {
        self.directory.borrow().shards.keys().any(|shard| shard.index == index)
    }

    pub(super) async fn remove_folder(&self, uuid: [u8; 16]) {
        // An earlier change may still open or close a shard in it.
        self.lines.quiet(uuid).await;
        let dir = self.shared.index_dir(uuid);
        match self.env.disk().remove_dir(&dir).await {
            Ok(()) => {}
            Err(error) if error.kind == ErrorKind::NotFound => {}
            Err(error) => (self.warn)(&format!("[{}] was not removed: {error}", dir.display())),
        }
    }

    /// Indices whose documents were still being copied when the process ended: nobody was told
    /// that they are whole.
    pub(super) async fn remove_unfinished(&self) -> std::result::Result<(), consensus::Error> {
        let state = self.value.state();
        let uuids: Vec<[u8; 16]> =
            state.indices.values().filter(|index| index.copying).map(|index| index.uuid).collect();
        if uuids.is_empty() {
            return Ok(());
        }
        (self.warn)(&format!("[{}] indices that were not copied whole are removed", uuids.len()));
        self.propose(Command::DeleteIndices { uuids: uuids.clone() }).await?;
        self.publish_state();
        for uuid in uuids {
            self.remove_folder(uuid).await;
        }
        Ok(())
    }

    /// Looks at the folders that no index names: those of indices that were deleted, or not made to the
    /// end, just before a crash are removed; of any other it is told.
    pub(super) async fn remove_orphans(&self) {
        let state = self.value.state();
        let found = match folders(&self.env, &self.shared.config.data).await {
            Ok(found) => found,
            Err(error) => {
                return (self.warn)(&format!("folders of no index were not looked for: {error}"));
            }
        };
        for uuid in found {
            if state.index_by_uuid(uuid).is_some() {
                continue;
            }
            let dir = self.shared.index_dir(uuid);
            let was_deleted = state.tombstones.iter().any(|one| one.uuid == uuid);
            if was_deleted || is_blank_index(&self.env, &dir, uuid).await {
                self.remove_folder(uuid).await;
                continue;
            }
            (self.warn)(&format!(
                "[{}] holds documents of an index that the cluster state does not name: it is kept as it is, and \
                 nobody finds it; stop the node and bring back the folder [cluster] that names it, or move this one \
                 away",
                dir.display()
            ));
        }
    }
}

/// The indices whose folders stand in the data folder. Only names that we make are ours.
async fn folders<E: Env>(env: &E, data: &Path) -> env::Result<Vec<[u8; 16]>> {
    let entries = match env.disk().list(&data.join("indices")).await {
        Err(error) if error.kind == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let folders = entries.into_iter().filter(|entry| entry.is_dir);
    Ok(folders.filter_map(|entry| cluster::state::uuid_from_text(&entry.name)).collect())
}

/// Whether nothing was ever written into an index of these shards: see [`shard::is_blank`].
pub async fn is_blank_index<E: Env>(env: &E, dir: &Path, uuid: [u8; 16]) -> bool {
    let Ok(entries) = env.disk().list(dir).await else { return false };
    for entry in entries {
        let Ok(number) = entry.name.parse() else { return false };
        let shard = ShardId { index: uuid, number };
        if !entry.is_dir || !shard::is_blank(env, &dir.join(entry.name), shard).await {
            return false;
        }
    }
    true
}

/// Refuses to begin an empty cluster state beside indices that hold something: it would name none of
/// them.
pub(super) async fn refuse_beside_indices<E: Env>(
    env: &E,
    data: &Path,
) -> std::result::Result<(), consensus::Error> {
    let indices = data.join("indices");
    for uuid in folders(env, data).await? {
        let dir = indices.join(cluster::state::uuid_text(uuid));
        if !is_blank_index(env, &dir, uuid).await {
            return Err(consensus::Error::Corrupt {
                file: data.join("cluster").display().to_string(),
                what: format!(
                    "there is no cluster state, while [{}] holds documents: bring the folder back from the same \
                     copy, or move what is in [{}] away to begin anew",
                    dir.display(),
                    indices.display()
                ),
            });
        }
    }
    Ok(())
}
