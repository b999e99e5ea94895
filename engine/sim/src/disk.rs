//! The simulated disk's calls: each takes a while, each may fail, each may be the last.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use env::disk::{Entry, Watched};
use env::{Bytes, Disk, Error, ErrorKind, File, Result};

use crate::fault::Call;
use crate::life::Life;
use crate::storage::{FileId, Storage};
use crate::world::World;

/// The file system of a simulated machine.
#[derive(Clone)]
pub struct SimDisk(pub(crate) Life);

impl SimDisk {
    /// One call: counts it, lets it fail where that is planned, and lets `happen` act when it
    /// ends.
    async fn call<T: 'static>(
        &self,
        call: Call,
        path: &Path,
        happen: impl FnOnce(&mut Storage) -> Result<T> + 'static,
    ) -> Result<T> {
        let (failure, delay) = begin(&self.0, call, path).await;
        let path = path.to_owned();
        let life = &self.0;
        life.later(delay, move |world| {
            let answer = match failure {
                Some(kind) => Err(planned(kind, call, &path)),
                None => happen(&mut world.storage.borrow_mut()),
            };
            world.record("disk", &[call as u64, u64::from(answer.is_ok())]);
            answer
        })
        .await
    }
}

/// Counts a call and says how it fails, if it does, and how long it takes. Does not end where the
/// process is gone.
async fn begin(life: &Life, call: Call, path: &Path) -> (Option<ErrorKind>, std::time::Duration) {
    let Some(world) = life.world() else {
        return std::future::pending().await;
    };
    let (failure, cut) = world.faults.borrow_mut().meet(call, &path.to_string_lossy());
    if cut {
        world.cut.set(true);
    }
    (failure, world.latency())
}

fn planned(kind: ErrorKind, call: Call, path: &Path) -> Error {
    Error::new(kind, format!("{call:?} {}: planned {kind:?}", path.display()))
}

impl Disk for SimDisk {
    type File = SimFile;

    async fn create(&self, path: &Path) -> Result<SimFile> {
        let whole = path.to_owned();
        let id =
            self.call(Call::Create, path, move |storage| storage.create(&whole, false)).await?;
        Ok(SimFile { life: self.0.clone(), path: path.to_owned(), id })
    }

    async fn open(&self, path: &Path) -> Result<SimFile> {
        let whole = path.to_owned();
        let id = self.call(Call::Open, path, move |storage| storage.open(&whole)).await?;
        Ok(SimFile { life: self.0.clone(), path: path.to_owned(), id })
    }

    async fn map(&self, path: &Path) -> Result<Bytes> {
        let whole = path.to_owned();
        self.call(Call::Open, path, move |storage| {
            let id = storage.open(&whole)?;
            let len = storage.len(id) as usize;
            Ok(Bytes::from(storage.read(id, 0, len).unwrap_or_default()))
        })
        .await
    }

    async fn save(&self, path: &Path, bytes: Bytes) -> Result<()> {
        let mut temporary = path.as_os_str().to_owned();
        temporary.push(".tmp");
        let temporary = PathBuf::from(temporary);
        let whole = temporary.clone();
        let id = self
            .call(Call::Create, &temporary, move |storage| storage.create(&whole, true))
            .await?;
        let file = SimFile { life: self.0.clone(), path: temporary.clone(), id };
        file.write(bytes.to_vec(), 0).await?;
        file.sync(true).await?;
        self.rename(&temporary, path).await?;
        let dir = path.parent().unwrap_or(Path::new("/"));
        self.sync_dir(dir).await
    }

    async fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        let (source, target) = (from.to_owned(), to.to_owned());
        self.call(Call::Rename, from, move |storage| storage.rename(&source, &target)).await
    }

    async fn remove(&self, path: &Path) -> Result<()> {
        let whole = path.to_owned();
        self.call(Call::Remove, path, move |storage| storage.remove(&whole)).await
    }

    async fn create_dir(&self, path: &Path) -> Result<()> {
        let whole = path.to_owned();
        self.call(Call::CreateDir, path, move |storage| storage.create_dir(&whole)).await
    }

    async fn remove_dir(&self, path: &Path) -> Result<()> {
        let whole = path.to_owned();
        self.call(Call::Remove, path, move |storage| storage.remove_dir(&whole)).await
    }

    async fn sync_dir(&self, path: &Path) -> Result<()> {
        let whole = path.to_owned();
        // Only what was changed before the call is covered by it.
        let stamp = self.0.world().map_or(0, |world| world.storage.borrow_mut().stamp());
        self.call(Call::SyncDir, path, move |storage| storage.sync_dir(&whole, stamp)).await
    }

    async fn list(&self, path: &Path) -> Result<Vec<Entry>> {
        let whole = path.to_owned();
        self.call(Call::Look, path, move |storage| storage.list(&whole)).await
    }

    async fn marks(&self, watched: Vec<Watched>) -> Result<Vec<u64>> {
        let first = watched.first().map(|one| one.folder.clone()).unwrap_or_default();
        self.call(Call::Look, &first, move |storage| {
            Ok(watched.iter().map(|one| storage.mark(&one.folder, &one.names)).collect())
        })
        .await
    }

    async fn free_bytes(&self, path: &Path) -> Result<u64> {
        self.call(Call::Look, path, |storage| Ok(storage.free())).await
    }
}

/// An open simulated file.
pub struct SimFile {
    life: Life,
    path: PathBuf,
    id: FileId,
}

/// Memory for writes.
pub struct SimBuffer(Vec<u8>);

impl AsMut<[u8]> for SimBuffer {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

impl AsRef<[u8]> for SimBuffer {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl SimFile {
    async fn write(&self, bytes: Vec<u8>, offset: u64) -> Result<()> {
        let (failure, delay) = begin(&self.life, Call::Write, &self.path).await;
        let len = bytes.len() as u64;
        let number = match self.life.world() {
            Some(world) => world.storage.borrow_mut().write_begin(self.id, offset, bytes)?,
            None => return std::future::pending().await,
        };
        let path = self.path.clone();
        let lie = match self.life.world() {
            Some(world) if failure.is_none() => {
                world.faults.borrow_mut().lies(&path.to_string_lossy())
            }
            _ => None,
        };
        self.life
            .later(delay, move |world| {
                let mut storage = world.storage.borrow_mut();
                world.record("write", &[offset, len, u64::from(failure.is_none())]);
                match failure {
                    None => {
                        match lie {
                            None => storage.write_end(number),
                            Some(lie) => {
                                storage.write_lie(number, lie, &mut world.chance.borrow_mut());
                            }
                        }
                        Ok(())
                    }
                    Some(kind) => {
                        storage.write_fail(number, &mut world.chance.borrow_mut());
                        Err(planned(kind, Call::Write, &path))
                    }
                }
            })
            .await
    }

    async fn sync(&self, all: bool) -> Result<()> {
        let (failure, delay) = begin(&self.life, Call::Sync, &self.path).await;
        let id = self.id;
        // Only what was written before the call is covered by it.
        let stamp = self.life.world().map_or(0, |world| world.storage.borrow_mut().stamp());
        let path = self.path.clone();
        self.life
            .later(delay, move |world| {
                let mut storage = world.storage.borrow_mut();
                world.record("sync", &[u64::from(all), u64::from(failure.is_none())]);
                match failure {
                    None => {
                        storage.sync(id, stamp, all);
                        Ok(())
                    }
                    Some(kind) => {
                        storage.sync_fail(id, &mut world.chance.borrow_mut());
                        Err(planned(kind, Call::Sync, &path))
                    }
                }
            })
            .await
    }
}

impl File for SimFile {
    type Buffer = SimBuffer;

    fn alignment(&self) -> u64 {
        4096
    }

    fn buffer(&self, len: usize) -> SimBuffer {
        assert_eq!(len as u64 % self.alignment(), 0, "a buffer's length is aligned");
        SimBuffer(vec![0; len])
    }

    async fn write_at(&self, buffer: SimBuffer, offset: u64) -> Result<()> {
        assert_eq!(offset % self.alignment(), 0, "a write's offset is aligned");
        assert_eq!(buffer.0.len() as u64 % self.alignment(), 0, "a write's length is aligned");
        self.write(buffer.0, offset).await
    }

    async fn read_at(&self, offset: u64, len: usize) -> Result<Bytes> {
        let (failure, delay) = begin(&self.life, Call::Read, &self.path).await;
        let (id, path) = (self.id, self.path.clone());
        self.life
            .later(delay, move |world| {
                world.record("read", &[offset, len as u64]);
                if let Some(kind) = failure {
                    return Err(planned(kind, Call::Read, &path));
                }
                let bytes = world.storage.borrow().read(id, offset, len);
                bytes.map(Bytes::from).ok_or_else(|| {
                    Error::new(
                        ErrorKind::UnexpectedEnd,
                        format!("{} ends before {offset} + {len}", path.display()),
                    )
                })
            })
            .await
    }

    async fn sync_data(&self) -> Result<()> {
        self.sync(false).await
    }

    async fn sync_all(&self) -> Result<()> {
        self.sync(true).await
    }

    async fn len(&self) -> Result<u64> {
        let (failure, delay) = begin(&self.life, Call::Look, &self.path).await;
        let (id, path) = (self.id, self.path.clone());
        self.life
            .later(delay, move |world| match failure {
                Some(kind) => Err(planned(kind, Call::Look, &path)),
                None => Ok(world.storage.borrow().len(id)),
            })
            .await
    }

    fn is_linked(&self) -> bool {
        let named = |world: &Rc<World>| world.storage.borrow().has_name(self.id, &self.path);
        self.life.world().is_none_or(named)
    }
}
