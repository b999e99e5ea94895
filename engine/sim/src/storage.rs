//! The simulated disk: what is written, what of it is safe, and what a power cut makes of it.
//!
//! Always true
//! 1. A sector (512 bytes) is safe when a sync that began after its write had ended has ended.
//! 2. A name is safe when a sync of its folder that began after the change has ended.
//! 3. A file's length is safe only through `sync_all`.
//! 4. After a power cut the volatile copy equals the safe one: nothing is half gone.
//!
//! A failed sync throws part of the unsynced writes away, and a later sync does not bring them
//! back: so do kernels.
//!
//! Not here: when a call ends, and which ones fail (`disk`).

mod names;
mod settle;

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};

use env::{Error, ErrorKind, Result};

use crate::chance::Chance;

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
    bytes: Vec<u8>,
}

/// One file's bytes.
#[derive(Clone, Debug, Default)]
struct Content {
    /// What a read answers.
    volatile: Vec<u8>,
    /// What survives, up to `safe_len`.
    safe: Vec<u8>,
    safe_len: usize,
    unsynced: VecDeque<Unsynced>,
}

/// All files.
#[derive(Debug)]
pub(crate) struct Storage {
    contents: BTreeMap<FileId, Content>,
    folders: BTreeMap<PathBuf, Folder>,
    /// Writes that have begun and not ended: number, file, offset, bytes.
    in_flight: BTreeMap<u64, (FileId, usize, Vec<u8>)>,
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
        let folder = self.folder_mut(&dir)?;
        if folder.volatile.contains_key(&name) && !replace {
            return Err(error(ErrorKind::AlreadyExists, "create", path));
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

    pub(crate) fn read(&self, id: FileId, offset: u64, len: usize) -> Option<Vec<u8>> {
        let offset = usize::try_from(offset).ok()?;
        let end = offset.checked_add(len)?;
        self.contents.get(&id)?.volatile.get(offset..end).map(<[u8]>::to_vec)
    }

    /// Begins a write; the answer is its number.
    pub(crate) fn write_begin(&mut self, id: FileId, offset: u64, bytes: Vec<u8>) -> Result<u64> {
        let end = offset + bytes.len() as u64;
        let growth = end.saturating_sub(self.len(id));
        if growth > self.free() {
            return Err(Error::new(ErrorKind::NoSpace, "the simulated disk is full"));
        }
        let number = self.stamp();
        self.in_flight.insert(number, (id, offset as usize, bytes));
        Ok(number)
    }

    /// Ends a write: all of it is readable now, none of it is safe.
    pub(crate) fn write_end(&mut self, number: u64) {
        let (id, offset, bytes) = self.in_flight.remove(&number).expect("begun and not ended");
        let stamp = self.stamp();
        if let Some(content) = self.contents.get_mut(&id) {
            content.put(offset, &bytes);
            content.unsynced.push_back(Unsynced { stamp, offset, bytes });
        }
    }

    /// Ends a write badly: some of its sectors are written.
    pub(crate) fn write_fail(&mut self, number: u64, chance: &mut Chance) {
        let (id, offset, bytes) = self.in_flight.remove(&number).expect("begun and not ended");
        let sectors = (bytes.len() / SECTOR) as u64;
        let kept = chance.between(0, sectors) as usize * SECTOR;
        let stamp = self.stamp();
        if let Some(content) = self.contents.get_mut(&id) {
            let bytes = bytes[..kept].to_vec();
            content.put(offset, &bytes);
            content.unsynced.push_back(Unsynced { stamp, offset, bytes });
        }
    }

    /// Makes writes safe that ended not after `stamp`; the length too where `all`.
    pub(crate) fn sync(&mut self, id: FileId, stamp: u64, all: bool) {
        let Some(content) = self.contents.get_mut(&id) else { return };
        while content.unsynced.front().is_some_and(|write| write.stamp <= stamp) {
            let write = content.unsynced.pop_front().expect("looked at above");
            content.put_safe(write.offset, &write.bytes);
        }
        if all {
            content.safe_len = content.volatile.len();
            content.safe.resize(content.safe_len.max(content.safe.len()), 0);
        }
    }

    /// A failed sync: some unsynced writes become safe, the others never will.
    pub(crate) fn sync_fail(&mut self, id: FileId, chance: &mut Chance) {
        let Some(content) = self.contents.get_mut(&id) else { return };
        for write in std::mem::take(&mut content.unsynced) {
            if chance.percent(50) {
                content.put_safe(write.offset, &write.bytes);
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
            volatile: bytes.to_vec(),
            safe: bytes.to_vec(),
            safe_len: bytes.len(),
            unsynced: VecDeque::new(),
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
        content.volatile[at] ^= mask;
        if let Some(byte) = content.safe.get_mut(at) {
            *byte ^= mask;
        }
        for write in &mut content.unsynced {
            if let Some(byte) = at.checked_sub(write.offset).and_then(|i| write.bytes.get_mut(i)) {
                *byte ^= mask;
            }
        }
        Ok(())
    }

    pub(crate) fn bytes(&self, path: &Path) -> Option<Vec<u8>> {
        let id = self.open(path).ok()?;
        self.contents.get(&id).map(|content| content.volatile.clone())
    }
}

impl Content {
    fn put(&mut self, offset: usize, bytes: &[u8]) {
        put(&mut self.volatile, offset, bytes);
    }

    fn put_safe(&mut self, offset: usize, bytes: &[u8]) {
        put(&mut self.safe, offset, bytes);
    }
}

fn put(target: &mut Vec<u8>, offset: usize, bytes: &[u8]) {
    let end = offset + bytes.len();
    if target.len() < end {
        target.resize(end, 0);
    }
    target[offset..end].copy_from_slice(bytes);
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
