//! The outside without any change: for looking at a store with the same readers that serve it.
//!
//! Removing the rest of an interrupted save is passed over in silence, so that readers that tidy up
//! first go on; every other change is refused.

use std::path::Path;

use crate::disk::{Entry, Watched};
use crate::{Bytes, Disk, Env, Error, ErrorKind, Result, WithDisk};

/// An `E` whose files cannot be changed by name.
pub type ReadOnly<E> = WithDisk<E, ReadOnlyDisk<<E as Env>::Disk>>;

/// `env`, looked at only.
pub fn read_only<E: Env>(env: E) -> ReadOnly<E> {
    let disk = ReadOnlyDisk(env.disk().clone());
    WithDisk::new(env, disk)
}

/// A disk whose files cannot be changed by name.
#[derive(Clone)]
pub struct ReadOnlyDisk<D>(D);

fn refused<T>(path: &Path) -> Result<T> {
    Err(Error::new(ErrorKind::Denied, format!("{}: nothing is changed here", path.display())))
}

impl<D: Disk> Disk for ReadOnlyDisk<D> {
    type File = D::File;

    fn is_read_only(&self) -> bool {
        true
    }

    async fn create(&self, path: &Path) -> Result<D::File> {
        refused(path)
    }

    async fn open(&self, path: &Path) -> Result<D::File> {
        self.0.open_to_read(path).await
    }

    async fn map(&self, path: &Path) -> Result<Bytes> {
        self.0.map(path).await
    }

    async fn save(&self, path: &Path, _bytes: Bytes) -> Result<()> {
        refused(path)
    }

    async fn rename(&self, from: &Path, _to: &Path) -> Result<()> {
        refused(from)
    }

    async fn remove(&self, _path: &Path) -> Result<()> {
        Ok(())
    }

    async fn create_dir(&self, path: &Path) -> Result<()> {
        refused(path)
    }

    async fn remove_dir(&self, path: &Path) -> Result<()> {
        refused(path)
    }

    async fn sync_dir(&self, _path: &Path) -> Result<()> {
        Ok(())
    }

    async fn list(&self, path: &Path) -> Result<Vec<Entry>> {
        self.0.list(path).await
    }

    async fn marks(&self, watched: Vec<Watched>) -> Result<Vec<u64>> {
        self.0.marks(watched).await
    }

    async fn free_bytes(&self, path: &Path) -> Result<u64> {
        self.0.free_bytes(path).await
    }
}
