//! Files: direct, aligned writes; whole-file saves by rename; shared read-only maps.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::{Bytes, Result};

/// One entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Name within the folder.
    pub name: String,
    /// Whether it is a folder itself.
    pub is_dir: bool,
    /// Size of a file; 0 for a folder.
    pub len: u64,
}

/// A file system, seen from one core.
///
/// Nothing is durable before a sync says so: a file's bytes after [`File::sync_data`] or
/// [`File::sync_all`], a name after [`Disk::sync_dir`] of its folder.
#[allow(async_fn_in_trait, reason = "futures stay on the core that made them")]
pub trait Disk: Clone + 'static {
    /// An open file.
    type File: File;

    /// Makes a new file for reading and writing; an error where the name is taken.
    async fn create(&self, path: &Path) -> Result<Self::File>;

    /// Opens a file for reading and writing past the page cache.
    async fn open(&self, path: &Path) -> Result<Self::File>;

    /// As [`Disk::open`], for reading alone: also where nothing can be written.
    async fn open_to_read(&self, path: &Path) -> Result<Self::File> {
        self.open(path).await
    }

    /// The whole file as shared bytes that may be backed by a memory map. The file must not change
    /// any more; it may be removed while the bytes live.
    async fn map(&self, path: &Path) -> Result<Bytes>;

    /// Puts `bytes` at `path`, whole or not at all: writes `path.tmp`, syncs it, renames it over
    /// `path` and syncs the folder. Durable when this returns.
    async fn save(&self, path: &Path, bytes: Bytes) -> Result<()>;

    /// Renames a file within one file system, replacing what stood there.
    async fn rename(&self, from: &Path, to: &Path) -> Result<()>;

    /// Removes a file.
    async fn remove(&self, path: &Path) -> Result<()>;

    /// Makes a folder with mode 0700, and those above it where they are missing; no error where it
    /// stands already. Each new name is synced into its folder.
    async fn create_dir(&self, path: &Path) -> Result<()>;

    /// Removes a folder and all below it.
    async fn remove_dir(&self, path: &Path) -> Result<()>;

    /// Makes the names of a folder durable.
    async fn sync_dir(&self, path: &Path) -> Result<()>;

    /// What a folder holds, sorted by name.
    async fn list(&self, path: &Path) -> Result<Vec<Entry>>;

    /// A number for each of these that is another one once a name came or went in the folder, or one of its files
    /// that are watched was written, cut or took another's place: whoever keeps what they said need not read them
    /// again as long as it stays. What cannot be looked at counts as not there.
    async fn marks(&self, watched: Vec<Watched>) -> Result<Vec<u64>>;

    /// Bytes that an unprivileged writer may still use on the file system of `path`.
    async fn free_bytes(&self, path: &Path) -> Result<u64>;

    /// Nothing is changed here ([`crate::read_only`]).
    fn is_read_only(&self) -> bool {
        false
    }
}

/// What [`Disk::marks`] looks at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watched {
    /// The folder.
    pub folder: PathBuf,
    /// The names of files in it.
    pub names: Arc<[String]>,
}

/// An open file. Dropping it closes it.
#[allow(async_fn_in_trait, reason = "futures stay on the core that made them")]
#[allow(clippy::len_without_is_empty, reason = "nobody asks whether a file is empty")]
pub trait File: 'static {
    /// Memory from which the device can write without a copy.
    type Buffer: AsMut<[u8]> + AsRef<[u8]> + 'static;

    /// The unit of offsets and lengths of writes; a power of two, at most 4096.
    fn alignment(&self) -> u64;

    /// Zero-filled memory of `len` bytes, a multiple of [`File::alignment`].
    fn buffer(&self, len: usize) -> Self::Buffer;

    /// Writes the whole buffer at `offset`, both multiples of [`File::alignment`].
    async fn write_at(&self, buffer: Self::Buffer, offset: u64) -> Result<()>;

    /// Reads exactly `len` bytes at any `offset`; `UnexpectedEnd` where the file ends before.
    async fn read_at(&self, offset: u64, len: usize) -> Result<Bytes>;

    /// Makes written bytes durable where length and allocation did not change.
    async fn sync_data(&self) -> Result<()>;

    /// Makes bytes, length and allocation durable.
    async fn sync_all(&self) -> Result<()>;

    /// Current length in bytes.
    async fn len(&self) -> Result<u64>;

    /// Has the file a name still? One that has none goes with the process, whatever of it was synced. What
    /// cannot be asked has one, and so has each file of a disk that nobody else reaches.
    fn is_linked(&self) -> bool {
        true
    }
}
