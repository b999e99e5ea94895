//! The simulated disk: what is written, what of it is safe, and what a power cut makes of it.
//!
//! Always true
//! 1. A sector (512 bytes) is safe when a sync that began after its write had ended has ended.
//! 2. A name is safe when a sync of its folder that began after the change has ended.
//! 3. A file's length is safe only through `sync_all`.
//! 4. After a power cut the volatile copy equals the safe one: nothing is half gone.
//!
//! A failed sync throws part of the unsynced writes away, and a later sync does not bring them
//! back: so do kernels. The process reads them all the same; the next one does not, for it reads what
//! the disk holds. A lying disk ([`Lie`]) breaks rule 1 where it is told to, and only there.
//!
//! Not here: when a call ends, and which ones fail (`disk`).

mod image;
mod names;
mod settle;

use std::collections::{BTreeMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use env::{Error, ErrorKind, Result};

use crate::chance::Chance;
use crate::fault::Lie;

use image::Image;
pub(crate) use names::Node;
use names::{Folder, NameChange};

/// The unit in which the device keeps or loses bytes.
pub(crate) const SECTOR: usize = 512;

/// Number of a file, whatever its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FileId(u64);

/// A write that has ended and is not safe.
#[derive(Clone, Debug)]
struct Unsynced {
    stamp: u64,
    offset: usize,
    bytes: Image,
    /// How much of it was written.
    len: usize,
}

/// One file's bytes.
#[derive(Clone, Debug, Default)]
struct Content {
    /// What a read answers.
    volatile: Image,
    /// What survives, up to `safe_len`.
    safe: Image,
    safe_len: usize,
    unsynced: VecDeque<Unsynced>,
    /// A failed sync threw something away that is read all the same.
    is_ahead: bool,
}

/// All files.
#[derive(Debug)]
pub(crate) struct Storage {
    contents: BTreeMap<FileId, Content>,
    folders: BTreeMap<PathBuf, Folder>,
    /// Writes that have begun and not ended: number, file, offset, bytes.
    in_flight: BTreeMap<u64, (FileId, usize, Image)>,
    stamp: u64,
    /// Bytes that files may hold together.
    pub(crate) capacity: u64,
}

impl Storage {
    pub(crate) fn new() -> Self {
        let mut folders = BTreeMap::new();
        folders.insert(PathBuf::from("/"), Folder::default());
        Self {
            contents: BTreeMap::new(),
            folders,
            in_flight: BTreeMap::new(),
            stamp: 0,
            capacity: u64::MAX,
        }
    }

    /// A number above all given before.
    pub(crate) fn stamp(&mut self) -> u64 {
        self.stamp += 1;
        self.stamp
    }

    /// Bytes that named files hold.
    pub(crate) fn used(&self) -> u64 {
        self.folders
            .values()
            .flat_map(Folder::files)
            .filter_map(|id| self.contents.get(&id))
            .map(|content| content.volatile.len() as u64)
            .sum()
    }

    pub(crate) fn free(&self) -> u64 {
        self.capacity.saturating_sub(self.used())
    }

    // Names.

    pub(crate) fn create(&mut self, path: &Path, replace: bool) -> Result<FileId> {
        let (dir, name) = split(path)?;
        let id = FileId(self.stamp());
        let known = self.folder_mut(&dir)?.volatile.get(&name).copied();
        match known {
            Some(_) if !replace => return Err(error(ErrorKind::AlreadyExists, "create", path)),
            Some(Node::Folder) => return Err(error(ErrorKind::Io, "create over a folder", path)),
            // As by `O_TRUNC`: the name stays that of the same file.
            Some(Node::File(id)) => {
                self.truncate(id);
                return Ok(id);
            }
            None => {}
        }
        self.change(&dir, NameChange::Link(name, Node::File(id)))?;
        self.contents.insert(id, Content::default());
        Ok(id)
    }

    pub(crate) fn open(&self, path: &Path) -> Result<FileId> {
        let (dir, name) = split(path)?;
        match self.folders.get(&dir).and_then(|folder| folder.volatile.get(&name)) {
            Some(Node::File(id)) => Ok(*id),
            Some(Node::Folder) => Err(error(ErrorKind::Io, "open a folder as a file", path)),
            None => Err(error(ErrorKind::NotFound, "open", path)),
        }
    }

    pub(crate) fn rename(&mut self, from: &Path, to: &Path) -> Result<()> {
        let id = self.open(from)?;
        let (from_dir, from_name) = split(from)?;
        let (to_dir, to_name) = split(to)?;
        if from_dir == to_dir {
            return self.change(&from_dir, NameChange::Rename(from_name, to_name));
        }
        self.folder_mut(&to_dir)?;
        self.change(&to_dir, NameChange::Link(to_name, Node::File(id)))?;
        self.change(&from_dir, NameChange::Unlink(from_name))
    }

    pub(crate) fn remove(&mut self, path: &Path) -> Result<()> {
        self.open(path)?;
        let (dir, name) = split(path)?;
        self.change(&dir, NameChange::Unlink(name))
    }

    /// Makes a folder and those above it; their names are safe at once.
    pub(crate) fn create_dir(&mut self, path: &Path) -> Result<()> {
        if self.folders.contains_key(path) && self.is_linked(path) {
            return Ok(());
        }
        let (dir, name) = split(path)?;
        self.create_dir(&dir)?;
        if self.folder_mut(&dir)?.volatile.contains_key(&name) {
            return Err(error(ErrorKind::AlreadyExists, "make a folder over a file", path));
        }
        self.change(&dir, NameChange::Link(name, Node::Folder))?;
        self.folders.insert(path.to_owned(), Folder::default());
        let stamp = self.stamp;
        self.sync_dir(&dir, stamp)
    }

    /// Removes a folder and all below it; not safe before the folder above is synced.
    pub(crate) fn remove_dir(&mut self, path: &Path) -> Result<()> {
        let names: Vec<(String, Node)> = match self.folders.get(path) {
            Some(folder) => folder.volatile.iter().map(|(n, node)| (n.clone(), *node)).collect(),
            None => return Err(error(ErrorKind::NotFound, "remove the folder", path)),
        };
        for (name, node) in names {
            match node {
                Node::File(_) => self.change(path, NameChange::Unlink(name))?,
                Node::Folder => self.remove_dir(&path.join(name))?,
            }
        }
        let (dir, name) = split(path)?;
        self.change(&dir, NameChange::Unlink(name))
    }

    /// What a folder holds: name, whether it is a folder, length.
    /// A number that is another one once the folder has other names, or one of these files other bytes.
    pub(crate) fn mark(&self, folder: &Path, names: &[String]) -> u64 {
        let mut hasher = DefaultHasher::new();
        for entry in self.list(folder).unwrap_or_default() {
            (entry.name, entry.is_dir).hash(&mut hasher);
        }
        for name in names {
            let id = self.open(&folder.join(name)).ok();
            id.and_then(|id| self.read(id, 0, self.len(id) as usize)).hash(&mut hasher);
        }
        hasher.finish()
    }

    pub(crate) fn list(&self, path: &Path) -> Result<Vec<env::disk::Entry>> {
        let folder = self
            .folders
            .get(path)
            .filter(|_| self.is_linked(path))
            .ok_or_else(|| error(ErrorKind::NotFound, "list the folder", path))?;
        let entry = |(name, node): (&String, &Node)| match node {
            Node::Folder => env::disk::Entry { name: name.clone(), is_dir: true, len: 0 },
            Node::File(id) => {
                env::disk::Entry { name: name.clone(), is_dir: false, len: self.len(*id) }
            }
        };
        Ok(folder.volatile.iter().map(entry).collect())
    }

    /// Makes the changes of a folder safe that are not newer than `stamp`.
    pub(crate) fn sync_dir(&mut self, path: &Path, stamp: u64) -> Result<()> {
        let folder = self
            .folders
            .get_mut(path)
            .ok_or_else(|| error(ErrorKind::NotFound, "sync the folder", path))?;
        folder.sync(stamp);
        Ok(())
    }

    fn is_linked(&self, path: &Path) -> bool {
        match split(path) {
            Err(_) => true,
            Ok((dir, name)) => {
                self.folders
                    .get(&dir)
                    .is_some_and(|folder| folder.volatile.get(&name) == Some(&Node::Folder))
                    && self.is_linked(&dir)
            }
        }
    }

    fn folder_mut(&mut self, path: &Path) -> Result<&mut Folder> {
        if !self.is_linked(path) {
            return Err(error(ErrorKind::NotFound, "find the folder", path));
        }
        self.folders
            .get_mut(path)
            .ok_or_else(|| error(ErrorKind::NotFound, "find the folder", path))
    }

    fn change(&mut self, dir: &Path, change: NameChange) -> Result<()> {
        let stamp = self.stamp();
        self.folder_mut(dir)?.change(stamp, change);
        Ok(())
    }

    // Bytes.

    pub(crate) fn len(&self, id: FileId) -> u64 {
        self.contents.get(&id).map_or(0, |content| content.volatile.len() as u64)
    }

    /// Does a name lead to this file? It was opened as `path`, and may have another since.
    pub(crate) fn has_name(&self, id: FileId, path: &Path) -> bool {
        let named = |folder: &Folder| folder.volatile.values().any(|node| *node == Node::File(id));
        let home = path.parent().and_then(|dir| self.folders.get(dir));
        home.is_some_and(named) || self.folders.values().any(named)
    }

    pub(crate) fn read(&self, id: FileId, offset: u64, len: usize) -> Option<Vec<u8>> {
        let offset = usize::try_from(offset).ok()?;
        self.contents.get(&id)?.volatile.read(offset, len)
    }

    /// Empties a file. What was safe of it is so until its length is synced.
    fn truncate(&mut self, id: FileId) {
        if let Some(content) = self.contents.get_mut(&id) {
            content.volatile = Image::default();
        }
    }

    /// Begins a write; the answer is its number.
    pub(crate) fn write_begin(&mut self, id: FileId, offset: u64, bytes: Vec<u8>) -> Result<u64> {
        let end = offset + bytes.len() as u64;
        let growth = end.saturating_sub(self.len(id));
        // Without a limit nothing need be counted.
        if self.capacity < u64::MAX && growth > self.free() {
            return Err(Error::new(ErrorKind::NoSpace, "the simulated disk is full"));
        }
        let number = self.stamp();
        self.in_flight.insert(number, (id, offset as usize, Image::new(&bytes)));
        Ok(number)
    }

    /// Ends a write: all of it is readable now, none of it is safe.
    pub(crate) fn write_end(&mut self, number: u64) {
        let (id, offset, bytes) = self.in_flight.remove(&number).expect("begun and not ended");
        let len = bytes.len();
        self.written(id, offset, bytes, len);
    }

    /// Ends a write badly: some of its sectors are written.
    pub(crate) fn write_fail(&mut self, number: u64, chance: &mut Chance) {
        let (id, offset, bytes) = self.in_flight.remove(&number).expect("begun and not ended");
        let sectors = (bytes.len() / SECTOR) as u64;
        let kept = chance.between(0, sectors) as usize * SECTOR;
        self.written(id, offset, bytes, kept);
    }

    /// Ends a write that the disk says it has done.
    pub(crate) fn write_lie(&mut self, number: u64, lie: Lie, chance: &mut Chance) {
        let (id, offset, bytes) = self.in_flight.remove(&number).expect("begun and not ended");
        let len = bytes.len();
        match lie {
            Lie::Lost => {}
            Lie::Misdirected => {
                // Some other place of the file, where it has one.
                let pages = self.len(id).div_ceil(4096).max(1);
                let wrong = chance.below(pages) as usize * 4096;
                if wrong != offset {
                    self.written(id, wrong, bytes, len);
                }
            }
            Lie::Stale => {
                if let Some(content) = self.contents.get_mut(&id) {
                    content.volatile.put_image(offset, &bytes, len);
                }
            }
        }
    }

    fn written(&mut self, id: FileId, offset: usize, bytes: Image, len: usize) {
        let stamp = self.stamp();
        if let Some(content) = self.contents.get_mut(&id) {
            content.volatile.put_image(offset, &bytes, len);
            content.unsynced.push_back(Unsynced { stamp, offset, bytes, len });
        }
    }

    /// Makes writes safe that ended not after `stamp`; the length too where `all`.
    pub(crate) fn sync(&mut self, id: FileId, stamp: u64, all: bool) {
        let Some(content) = self.contents.get_mut(&id) else { return };
        while content.unsynced.front().is_some_and(|write| write.stamp <= stamp) {
            let write = content.unsynced.pop_front().expect("looked at above");
            content.safe.put_image(write.offset, &write.bytes, write.len);
        }
        if all {
            content.safe_len = content.volatile.len();
            content.safe.resize(content.safe_len.max(content.safe.len()));
        }
    }

    /// A failed sync: some unsynced writes become safe, the others never will.
    pub(crate) fn sync_fail(&mut self, id: FileId, chance: &mut Chance) {
        let Some(content) = self.contents.get_mut(&id) else { return };
        for write in std::mem::take(&mut content.unsynced) {
            if chance.percent(50) {
                content.safe.put_image(write.offset, &write.bytes, write.len);
            } else {
                content.is_ahead = true;
            }
        }
    }

    /// Puts bytes on the disk, safe at once, as if they had always been there.
    pub(crate) fn plant(&mut self, path: &Path, bytes: &[u8]) -> Result<()> {
        let id = match self.open(path) {
            Ok(id) => id,
            Err(_) => {
                let (dir, _) = split(path)?;
                self.create_dir(&dir)?;
                let id = self.create(path, false)?;
                let stamp = self.stamp;
                self.sync_dir(&dir, stamp)?;
                id
            }
        };
        let content = Content {
            volatile: Image::new(bytes),
            safe: Image::new(bytes),
            safe_len: bytes.len(),
            unsynced: VecDeque::new(),
            is_ahead: false,
        };
        self.contents.insert(id, content);
        Ok(())
    }

    /// Changes bytes in place, in both copies: rot.
    pub(crate) fn rot(&mut self, path: &Path, offset: u64, mask: u8) -> Result<()> {
        let id = self.open(path)?;
        let content = self.contents.get_mut(&id).expect("a named file has content");
        let at = offset as usize;
        assert!(at < content.volatile.len(), "rot beyond the end of {}", path.display());
        content.volatile.flip(at, mask);
        if at < content.safe.len() {
            content.safe.flip(at, mask);
        }
        for write in &mut content.unsynced {
            let inside = at.checked_sub(write.offset).filter(|inside| *inside < write.len);
            if let Some(inside) = inside {
                write.bytes.flip(inside, mask);
            }
        }
        Ok(())
    }

    pub(crate) fn bytes(&self, path: &Path) -> Option<Vec<u8>> {
        let id = self.open(path).ok()?;
        self.contents.get(&id).map(|content| content.volatile.to_vec())
    }

    /// All files by their names, with their lengths.
    pub(crate) fn files(&self) -> Vec<(PathBuf, u64)> {
        let mut files = Vec::new();
        for (dir, folder) in &self.folders {
            for (name, node) in &folder.volatile {
                if let Node::File(id) = node {
                    files.push((dir.join(name), self.len(*id)));
                }
            }
        }
        files
    }
}

/// Folder and name of a path.
fn split(path: &Path) -> Result<(PathBuf, String)> {
    match (path.parent(), path.file_name()) {
        (Some(dir), Some(name)) => Ok((dir.to_owned(), name.to_string_lossy().into_owned())),
        _ => Err(error(ErrorKind::Io, "name", path)),
    }
}

fn error(kind: ErrorKind, what: &str, path: &Path) -> Error {
    Error::new(kind, format!("{what} {}: simulated {kind:?}", path.display()))
}

#[cfg(test)]
mod tests;
