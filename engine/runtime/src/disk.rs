//! Files: direct I/O through io_uring for what is read and written in place, calls on worker
//! threads for the rest.
//!
//! | question                           | answered by                                            |
//! |------------------------------------|--------------------------------------------------------|
//! | `create`, `open`, `read`, `write`  | glommio's `DmaFile`: past the page cache               |
//! | `sync_data`                        | io_uring `fdatasync` on this core's ring               |
//! | `save`                             | plain writes on a worker: the pages stay warm for the  |
//! |                                    | map that follows; synced every 32 MiB and at the end   |
//! | `map`, names and folders           | plain calls on a worker                                |
//!
//! Always true
//! 1. A write is whole or an error: a short one goes on with the rest, until the kernel takes it or
//!    says why not (a full disk, a limit).
//! 2. A buffer belongs to its write until the kernel is done, also where the future is dropped.
//! 3. A rename or removal is durable when `sync_dir` of its folder has returned; `save` and
//!    `create_dir` do that themselves.
//!
//! 4. What is no regular file is not opened: a read of a pipe would never end.
//! 5. No file is opened on a device before this core's [`RuntimeDisk::meet`]. glommio asks each
//!    device once for each executor whether it can be polled, by a read of whatever file comes
//!    first. An empty file answers that read although the device cannot be polled, and every later
//!    read and log write of that executor fails with EOPNOTSUPP. So it is shown a file that cannot
//!    be read at all first, and takes each device for one that is not polled.
//!
//! Dropping a file closes it in the next turn of the executor; nothing waits for that.

use std::cell::RefCell;
use std::fs::{DirBuilder, File as StdFile, OpenOptions as StdOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write as _};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use env::disk::{Entry, Watched};
use env::meter::Timed;
use env::{Bytes, Disk, Error, ErrorKind, File, Random, Result};
use glommio::GlommioError;
use glommio::io::{DmaBuffer, DmaFile, OpenOptions};

use crate::mapped;
use crate::random::RuntimeRandom;
use crate::system;
use crate::workers::Pool;

/// Unit of offsets and lengths: what devices and file systems of today all take.
const ALIGNMENT: u64 = 4096;

/// Bytes read or saved in one go.
const PIECE_BYTES: usize = 1 << 20;

/// Bytes saved between two syncs, so that the last sync is not a long one.
const SAVE_SYNC_BYTES: usize = 32 << 20;

/// How often a write is tried of which the kernel takes not one unit, and does not say why.
const SHORT_WRITES_MAX: usize = 3;

/// The file system, seen from one core.
#[derive(Clone, Debug)]
pub struct RuntimeDisk {
    files: Pool,
    /// Syncs of data, by all cores.
    syncs: Arc<Timed>,
    /// Devices that this executor has judged; a handful at most.
    met: Rc<RefCell<Vec<u64>>>,
}

/// What the name of a file begins with by which the disk is judged; it ends in `.tmp`. Whoever is killed meanwhile
/// leaves it, empty.
pub const PROBE: &str = "io-probe-";

impl RuntimeDisk {
    /// Calls that io_uring does not offer run in `files`; syncs are counted at `syncs`.
    pub fn new(files: Pool, syncs: Arc<Timed>) -> Self {
        Self { files, syncs, met: Rc::default() }
    }

    /// Runs `call` on a worker and puts its error into our words.
    async fn call<T: Send + 'static>(
        &self,
        what: &'static str,
        path: &Path,
        call: impl FnOnce(&Path) -> io::Result<T> + Send + 'static,
    ) -> Result<T> {
        let path = path.to_owned();
        let job = move || call(&path).map_err(|error| failed(&error, what, &path));
        self.files.run(what, job).await?
    }

    /// Lets glommio judge the device of `folder` by a file that it must not read, once.
    async fn meet(&self, folder: &Path) -> Result<()> {
        let device = self
            .call("asking for the device of", folder, |path| Ok(path.metadata()?.dev()))
            .await?;
        if self.met.borrow().contains(&device) {
            return Ok(());
        }
        let probe = folder.join(format!("{PROBE}{:016x}.tmp", RuntimeRandom::new().next_u64()));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        let opened = options.dma_open(&probe).await;
        let file = opened.map_err(|error| told(error, "creating", &probe))?;
        let closed = file.close().await.map_err(|error| told(error, "closing", &probe));
        let removed = self.remove(&probe).await;
        closed.and(removed)?;
        self.met.borrow_mut().push(device);
        Ok(())
    }

    async fn dma_open(&self, path: &Path, way: Way) -> Result<RuntimeFile> {
        let what = if way == Way::New { "creating" } else { "opening" };
        if way != Way::New {
            self.call(what, path, be_file).await?;
        }
        match self.meet(folder_of(path)).await {
            Err(error) if way.bears(error.kind) => log::debug!("{error}"),
            met => met?,
        }
        let mut options = OpenOptions::new();
        options.read(true).write(way != Way::Read).create_new(way == Way::New).mode(0o600);
        let file = options.dma_open(path).await.map_err(|error| told(error, what, path))?;
        if file.alignment() > ALIGNMENT {
            let unit = file.alignment();
            return Err(Error::new(
                ErrorKind::Io,
                format!("{what} {}: the device wants units of {unit} bytes", path.display()),
            ));
        }
        let (files, syncs) = (self.files.clone(), Arc::clone(&self.syncs));
        Ok(RuntimeFile { file, path: path.to_owned(), files, syncs })
    }
}

/// What a file is opened for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// It is made, read and written.
    New,
    /// It is there, and is read and written.
    Change,
    /// It is there, and is read.
    Read,
}

impl Way {
    /// May this keep the disk from being judged by an empty file? A disk that takes none must not keep the log
    /// from being read: its first block is a real one, so glommio judges by that as well as it can.
    fn bears(self, unjudged: ErrorKind) -> bool {
        match self {
            Self::New => false,
            Self::Change => unjudged == ErrorKind::NoSpace,
            Self::Read => matches!(unjudged, ErrorKind::NoSpace | ErrorKind::Denied),
        }
    }
}

fn failed(error: &io::Error, what: &str, path: &Path) -> Error {
    Error::from_io(error, format_args!("{what} {}", path.display()))
}

/// The system's error inside glommio's.
fn told(error: GlommioError<()>, what: &str, path: &Path) -> Error {
    match error {
        GlommioError::IoError(source) | GlommioError::EnhancedIoError { source, .. } => {
            failed(&source, what, path)
        }
        other => failed(&other.into(), what, path),
    }
}

/// Refuses what is no regular file.
fn be_file(path: &Path) -> io::Result<()> {
    match path.metadata()?.is_file() {
        true => Ok(()),
        false => Err(io::Error::other("it is not a file")),
    }
}

fn sync_folder(path: &Path) -> io::Result<()> {
    StdFile::open(path)?.sync_all()
}

/// The folder that holds `path`.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// `path` with `.tmp` after its name.
fn temporary(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".tmp");
    PathBuf::from(name)
}

fn make_folders(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let parent = folder_of(path);
    if parent != path {
        make_folders(parent)?;
    }
    match DirBuilder::new().mode(0o700).create(path) {
        Ok(()) => sync_folder(parent),
        // Somebody else was faster; whoever it was syncs the name too, but maybe not yet.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {
            sync_folder(parent)
        }
        Err(error) => Err(error),
    }
}

fn entries(path: &Path) -> io::Result<Vec<Entry>> {
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(path)? {
        let entry = entry?;
        // No file of ours has a name that is not UTF-8, and others are none of our business.
        let Ok(name) = entry.file_name().into_string() else { continue };
        let meta = match entry.metadata() {
            Ok(meta) => meta,
            // Removed since the folder was read.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        let is_dir = meta.is_dir();
        entries.push(Entry { name, is_dir, len: if is_dir { 0 } else { meta.len() } });
    }
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(entries)
}

/// What the file system says of a folder and of some files in it. Each write changes a time of its file, and
/// whoever sets that back changes another time.
fn mark(watched: &Watched) -> u64 {
    let mut hasher = DefaultHasher::new();
    let mut path = watched.folder.clone();
    let mut note = |path: &Path| {
        let of = |meta: std::fs::Metadata| {
            let written = (meta.mtime(), meta.mtime_nsec());
            (meta.ino(), meta.len(), written, (meta.ctime(), meta.ctime_nsec()))
        };
        path.metadata().ok().map(of).hash(&mut hasher);
    };
    note(&path);
    for name in watched.names.iter() {
        path.push(name);
        note(&path);
        path.pop();
    }
    hasher.finish()
}

impl Disk for RuntimeDisk {
    type File = RuntimeFile;

    async fn create(&self, path: &Path) -> Result<RuntimeFile> {
        self.dma_open(path, Way::New).await
    }

    async fn open(&self, path: &Path) -> Result<RuntimeFile> {
        self.dma_open(path, Way::Change).await
    }

    async fn open_to_read(&self, path: &Path) -> Result<RuntimeFile> {
        self.dma_open(path, Way::Read).await
    }

    async fn map(&self, path: &Path) -> Result<Bytes> {
        let path = path.to_owned();
        self.files.run("mapping", move || mapped::map(&path)).await?
    }

    async fn save(&self, path: &Path, bytes: Bytes) -> Result<()> {
        let write = {
            let bytes = bytes.clone();
            move |path: &Path| {
                let mut options = StdOptions::new();
                // Where a pipe has that name nobody would ever read, and this would wait for that.
                options.write(true).create(true).truncate(true).custom_flags(libc::O_NONBLOCK);
                let mut file = options.mode(0o600).open(path)?;
                let mut unsynced = 0;
                for piece in bytes.chunks(PIECE_BYTES) {
                    file.write_all(piece)?;
                    unsynced += piece.len();
                    if unsynced >= SAVE_SYNC_BYTES {
                        file.sync_data()?;
                        unsynced = 0;
                    }
                }
                file.sync_all()
            }
        };
        let unfinished = temporary(path);
        if let Err(error) = self.call("saving", &unfinished, write).await {
            // Makes room again where the disk was full. A rest that stays is deleted at the next
            // open, as is every name that ends in `.tmp`.
            if let Err(rest) = self.remove(&unfinished).await {
                log::debug!("{rest}");
            }
            return Err(error);
        }
        let finish = {
            let path = path.to_owned();
            move |unfinished: &Path| {
                std::fs::rename(unfinished, &path)?;
                sync_folder(folder_of(&path))
            }
        };
        self.call("renaming", &unfinished, finish).await
    }

    async fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        let to = to.to_owned();
        self.call("renaming", from, move |from| std::fs::rename(from, to)).await
    }

    async fn remove(&self, path: &Path) -> Result<()> {
        self.call("removing", path, |path| std::fs::remove_file(path)).await
    }

    async fn create_dir(&self, path: &Path) -> Result<()> {
        self.call("making folder", path, make_folders).await
    }

    async fn remove_dir(&self, path: &Path) -> Result<()> {
        self.call("removing folder", path, |path| std::fs::remove_dir_all(path)).await
    }

    async fn sync_dir(&self, path: &Path) -> Result<()> {
        self.call("syncing folder", path, sync_folder).await
    }

    async fn list(&self, path: &Path) -> Result<Vec<Entry>> {
        self.call("listing", path, entries).await
    }

    async fn marks(&self, watched: Vec<Watched>) -> Result<Vec<u64>> {
        let job = move || watched.iter().map(mark).collect();
        self.files.run("looking at folders", job).await
    }

    async fn free_bytes(&self, path: &Path) -> Result<u64> {
        self.call("asking for free room on", path, system::free_bytes).await
    }
}

/// A file that is read and written past the page cache.
#[derive(Debug)]
pub struct RuntimeFile {
    file: DmaFile,
    path: PathBuf,
    files: Pool,
    syncs: Arc<Timed>,
}

impl RuntimeFile {
    fn told(&self, error: GlommioError<()>, what: &str) -> Error {
        told(error, what, &self.path)
    }
}

impl File for RuntimeFile {
    type Buffer = DmaBuffer;

    fn alignment(&self) -> u64 {
        ALIGNMENT
    }

    fn buffer(&self, len: usize) -> DmaBuffer {
        assert!(len > 0, "an empty buffer cannot be written");
        assert!((len as u64).is_multiple_of(ALIGNMENT), "a buffer has whole units");
        let mut buffer = self.file.alloc_dma_buffer(len);
        buffer.as_bytes_mut().fill(0);
        buffer
    }

    async fn write_at(&self, buffer: DmaBuffer, offset: u64) -> Result<()> {
        let len = buffer.len();
        assert!((len as u64).is_multiple_of(ALIGNMENT), "whole units are written");
        assert!(offset.is_multiple_of(ALIGNMENT), "writes begin at a unit");
        let mut rest = Rc::new(buffer);
        let (mut done, mut idle) = (0, 0);
        while idle < SHORT_WRITES_MAX {
            let written = self
                .file
                .write_rc_at(Rc::clone(&rest), offset + done as u64)
                .await
                .map_err(|error| self.told(error, "writing"))?;
            if written == rest.len() {
                return Ok(());
            }
            // The rest begins at a unit again; what the kernel says to it is the reason.
            let units = written / ALIGNMENT as usize * ALIGNMENT as usize;
            if units == 0 {
                idle += 1;
                continue;
            }
            let mut left = self.buffer(rest.len() - units);
            left.as_bytes_mut().copy_from_slice(&rest.as_bytes()[units..]);
            (rest, idle) = (Rc::new(left), 0);
            done += units;
        }
        Err(Error::new(
            ErrorKind::Io,
            format!("writing {}: {done} of {len} bytes at {offset}", self.path.display()),
        ))
    }

    async fn read_at(&self, offset: u64, len: usize) -> Result<Bytes> {
        let mut bytes = Vec::with_capacity(len);
        while bytes.len() < len {
            let at = offset + bytes.len() as u64;
            let start = at / ALIGNMENT * ALIGNMENT;
            let skip = (at - start) as usize;
            let wanted = (len - bytes.len()).min(PIECE_BYTES);
            let units = (skip + wanted).next_multiple_of(ALIGNMENT as usize);
            let piece = self
                .file
                .read_at_aligned(start, units)
                .await
                .map_err(|error| self.told(error, "reading"))?;
            let Some(found) = piece.get(skip..).filter(|found| !found.is_empty()) else {
                return Err(Error::new(
                    ErrorKind::UnexpectedEnd,
                    format!("reading {}: the file ends before {at}", self.path.display()),
                ));
            };
            bytes.extend_from_slice(&found[..wanted.min(found.len())]);
        }
        Ok(Bytes::from(bytes))
    }

    async fn sync_data(&self) -> Result<()> {
        let begin = Instant::now();
        let synced = self.file.fdatasync().await.map_err(|error| self.told(error, "syncing"));
        self.syncs.add(begin.elapsed());
        synced
    }

    async fn sync_all(&self) -> Result<()> {
        // glommio offers only fdatasync; the worker syncs through a second descriptor of the same
        // open file, so that no error is lost between the two.
        let file = system::duplicate(self.file.as_raw_fd())
            .map_err(|error| failed(&error, "syncing", &self.path))?;
        let synced = self.files.run("syncing", move || StdFile::from(file).sync_all()).await?;
        synced.map_err(|error| failed(&error, "syncing", &self.path))
    }

    async fn len(&self) -> Result<u64> {
        // glommio would ask by the name under which it was opened, which may be gone.
        let file = system::duplicate(self.file.as_raw_fd())
            .map_err(|error| failed(&error, "asking the size of", &self.path))?;
        let asked = move || StdFile::from(file).metadata().map(|meta| meta.len());
        let len = self.files.run("asking the size", asked).await?;
        len.map_err(|error| failed(&error, "asking the size of", &self.path))
    }

    fn is_linked(&self) -> bool {
        // The inode of an open file is in memory: this waits for no disk.
        system::has_name(self.file.as_raw_fd())
    }
}
