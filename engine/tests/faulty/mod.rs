//! The real disk with one fault in it: the `n`-th call fails, or writes half of its bytes.
//!
//! Calls are counted over the life of a process, whoever makes them; after the fault all goes well
//! again, but for a disk that is full, which stays full until the process ends. Whatever is called,
//! a failed call has no effect (a short write has half of it).

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use env::disk::{Entry, Watched};
use env::{Bytes, Disk, Env, Error, ErrorKind, File, Result, WithDisk};

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// EIO.
    Io,
    /// Half of the bytes are written, then EIO. Calls that write nothing fail without an effect.
    Short,
    /// ENOSPC, of this and all later calls that want room.
    NoSpace,
}

/// When it does.
#[derive(Debug)]
pub struct Plan {
    fault: Fault,
    /// Calls left until the fault.
    left: Cell<u64>,
    /// Calls so far.
    count: Cell<u64>,
    full: Cell<bool>,
    /// What failed.
    pub met: RefCell<Option<String>>,
}

impl Plan {
    /// Call `nth` (from 1) has the fault; 0: none has.
    pub fn new(fault: Fault, nth: u64) -> Rc<Self> {
        let (left, count, full) = (Cell::new(nth), Cell::new(0), Cell::new(false));
        Rc::new(Self { fault, left, count, full, met: RefCell::default() })
    }

    /// Calls so far.
    pub fn count(&self) -> u64 {
        self.count.get()
    }

    /// Counts a call; the fault that it has.
    fn meet(&self, what: &str, path: &Path, wants_room: bool) -> Option<Fault> {
        self.count.set(self.count.get() + 1);
        if self.full.get() && wants_room {
            return Some(Fault::NoSpace);
        }
        let left = self.left.get().checked_sub(1)?;
        self.left.set(left);
        if left > 0 {
            return None;
        }
        if self.fault == Fault::NoSpace {
            self.full.set(true);
            if !wants_room {
                return None;
            }
        }
        *self.met.borrow_mut() = Some(format!("{what} {}", path.display()));
        Some(self.fault)
    }

    fn check(&self, what: &str, path: &Path, wants_room: bool) -> Result<()> {
        self.meet(what, path, wants_room).map_or(Ok(()), |fault| Err(error(fault, what, path)))
    }
}

fn error(fault: Fault, what: &str, path: &Path) -> Error {
    let (kind, word) = match fault {
        Fault::Io => (ErrorKind::Io, "planted I/O error"),
        Fault::Short => (ErrorKind::Io, "planted short write"),
        Fault::NoSpace => (ErrorKind::NoSpace, "planted full disk"),
    };
    Error::new(kind, format!("{what} {}: {word}", path.display()))
}

/// An `E` with such a disk.
pub type FaultyEnv<E> = WithDisk<E, FaultyDisk<<E as Env>::Disk>>;

/// `env` with a disk that fails as `plan` says.
pub fn faulty<E: Env>(env: E, plan: Rc<Plan>) -> FaultyEnv<E> {
    let disk = FaultyDisk { disk: env.disk().clone(), plan };
    WithDisk::new(env, disk)
}

#[derive(Clone)]
pub struct FaultyDisk<D> {
    disk: D,
    plan: Rc<Plan>,
}

impl<D: Disk> FaultyDisk<D> {
    fn file(&self, path: &Path, file: D::File, len: u64) -> FaultyFile<D::File> {
        FaultyFile {
            file,
            path: path.to_owned(),
            plan: Rc::clone(&self.plan),
            filled: Cell::new(len),
        }
    }
}

impl<D: Disk> Disk for FaultyDisk<D> {
    type File = FaultyFile<D::File>;

    async fn create(&self, path: &Path) -> Result<Self::File> {
        self.plan.check("create", path, true)?;
        Ok(self.file(path, self.disk.create(path).await?, 0))
    }

    async fn open(&self, path: &Path) -> Result<Self::File> {
        self.plan.check("open", path, false)?;
        let file = self.disk.open(path).await?;
        let len = file.len().await?;
        Ok(self.file(path, file, len))
    }

    async fn map(&self, path: &Path) -> Result<Bytes> {
        self.plan.check("map", path, false)?;
        self.disk.map(path).await
    }

    async fn save(&self, path: &Path, bytes: Bytes) -> Result<()> {
        let Some(fault) = self.plan.meet("save", path, true) else {
            return self.disk.save(path, bytes).await;
        };
        if fault == Fault::Short {
            // The rest of an interrupted save, as a process that dies in it leaves it.
            let mut unfinished = path.as_os_str().to_owned();
            unfinished.push(".tmp");
            std::fs::write(PathBuf::from(unfinished), &bytes[..bytes.len() / 2])
                .map_err(|source| Error::from_io(&source, "planting"))?;
        }
        Err(error(fault, "save", path))
    }

    async fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        self.plan.check("rename", from, true)?;
        self.disk.rename(from, to).await
    }

    async fn remove(&self, path: &Path) -> Result<()> {
        self.plan.check("remove", path, false)?;
        self.disk.remove(path).await
    }

    async fn create_dir(&self, path: &Path) -> Result<()> {
        self.plan.check("create_dir", path, true)?;
        self.disk.create_dir(path).await
    }

    async fn remove_dir(&self, path: &Path) -> Result<()> {
        self.plan.check("remove_dir", path, false)?;
        self.disk.remove_dir(path).await
    }

    async fn sync_dir(&self, path: &Path) -> Result<()> {
        self.plan.check("sync_dir", path, false)?;
        self.disk.sync_dir(path).await
    }

    async fn list(&self, path: &Path) -> Result<Vec<Entry>> {
        self.plan.check("list", path, false)?;
        self.disk.list(path).await
    }

    async fn marks(&self, watched: Vec<Watched>) -> Result<Vec<u64>> {
        self.disk.marks(watched).await
    }

    async fn free_bytes(&self, path: &Path) -> Result<u64> {
        self.plan.check("free_bytes", path, false)?;
        if self.plan.full.get() {
            return Ok(0);
        }
        self.disk.free_bytes(path).await
    }
}

pub struct FaultyFile<F> {
    file: F,
    path: PathBuf,
    plan: Rc<Plan>,
    /// Up to where it has room.
    filled: Cell<u64>,
}

impl<F: File> File for FaultyFile<F> {
    type Buffer = F::Buffer;

    fn alignment(&self) -> u64 {
        self.file.alignment()
    }

    fn buffer(&self, len: usize) -> F::Buffer {
        self.file.buffer(len)
    }

    async fn write_at(&self, buffer: F::Buffer, offset: u64) -> Result<()> {
        // A file of the log was filled before it is used: writing into it wants no room.
        let end = offset + buffer.as_ref().len() as u64;
        let wants_room = end > self.filled.get();
        let Some(fault) = self.plan.meet("write", &self.path, wants_room) else {
            self.filled.set(self.filled.get().max(end));
            return self.file.write_at(buffer, offset).await;
        };
        let unit = self.file.alignment() as usize;
        let half = buffer.as_ref().len() / 2 / unit * unit;
        if fault == Fault::Short && half > 0 {
            let mut part = self.file.buffer(half);
            part.as_mut().copy_from_slice(&buffer.as_ref()[..half]);
            self.file.write_at(part, offset).await?;
        }
        Err(error(fault, "write", &self.path))
    }

    async fn read_at(&self, offset: u64, len: usize) -> Result<Bytes> {
        self.plan.check("read", &self.path, false)?;
        self.file.read_at(offset, len).await
    }

    async fn sync_data(&self) -> Result<()> {
        self.plan.check("sync", &self.path, false)?;
        self.file.sync_data().await
    }

    async fn sync_all(&self) -> Result<()> {
        self.plan.check("sync", &self.path, false)?;
        self.file.sync_all().await
    }

    fn is_linked(&self) -> bool {
        self.file.is_linked()
    }

    async fn len(&self) -> Result<u64> {
        self.plan.check("len", &self.path, false)?;
        self.file.len().await
    }
}
