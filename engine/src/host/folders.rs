//! Folders of indices that are named no more: the keeper removes them, now or at the next start.

use cluster::{Command, State};
use env::{Disk, Env, ErrorKind};

use super::keeper::Keeper;

impl<E: Env> Keeper<E> {
    /// Removes the folders of indices that were closed before a change and are named no more: they had
    /// no shards that could be closed now.
    pub(super) async fn remove_closed(&self, before: &State) {
        let after = self.value.state();
        let closed = before.indices.values().filter(|index| !index.open);
        for index in closed {
            if after.index(&index.name).is_none_or(|other| other.uuid != index.uuid)
                && after.index_by_uuid(index.uuid).is_none()
            {
                self.remove_folder(index.uuid).await;
            }
        }
    }

    pub(super) async fn remove_folder(&self, uuid: [u8; 16]) {
        let dir = self.shared.index_dir(uuid);
        match self.env.disk().remove_dir(&dir).await {
            Ok(()) => {}
            Err(error) if error.kind == ErrorKind::NotFound => {}
            Err(error) => (self.warn)(&format!("[{}] was not removed: {error}", dir.display())),
        }
    }

    /// Indices whose documents were still being copied when the process ended: nobody was told
    /// that they are there.
    pub(super) async fn remove_unfinished(&self) -> std::result::Result<(), consensus::Error> {
        let state = self.value.state();
        let uuids: Vec<[u8; 16]> =
            state.indices.values().filter(|index| index.copying).map(|index| index.uuid).collect();
        if uuids.is_empty() {
            return Ok(());
        }
        (self.warn)(&format!("[{}] indices that were not copied whole are removed", uuids.len()));
        self.propose(Command::DeleteIndices { uuids }).await?;
        self.publish_state();
        self.remove_orphans().await;
        Ok(())
    }

    /// Folders of indices that were deleted just before a crash.
    pub(super) async fn remove_orphans(&self) {
        let dir = self.shared.config.data.join("indices");
        let Ok(entries) = self.env.disk().list(&dir).await else { return };
        let state = self.value.state();
        for entry in entries.into_iter().filter(|entry| entry.is_dir) {
            // Only names that we make are ours.
            if let Some(uuid) = cluster::state::uuid_from_text(&entry.name)
                && state.index_by_uuid(uuid).is_none()
            {
                self.remove_folder(uuid).await;
            }
        }
    }
}
