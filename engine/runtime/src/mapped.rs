//! Memory maps of files that never change again: the fence around `mmap`.
//!
//! Always true
//! 1. Only files of ours that are finished are mapped: read-only, and never truncated or written
//!    in place afterwards. They may be unlinked while mapped.
//! 2. The descriptor is closed at once: the map holds the file, and a store of many segments needs no
//!    more open files than it has shards.
//! 3. The length is read from the open file, and checked by whoever knows what it should be.
//!
//! A page fault stalls a whole core, so a map's pages are brought in here, on a worker thread,
//! before any core sees it; above [`POPULATE_BYTES_MAX`] the kernel is only advised.

#![allow(unsafe_code, reason = "mmap; the one block says why it is sound")]

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use env::{Bytes, Error, ErrorKind, Result};
use memmap2::{Advice, Mmap};

use crate::suspect::Registered;

/// Maps above this are not read in as a whole: that could push everything else out.
const POPULATE_BYTES_MAX: usize = 256 << 20;

struct Mapped {
    // Dropped in this order: the handler must forget the range before it is unmapped.
    _registered: Registered,
    map: Mmap,
}

impl AsRef<[u8]> for Mapped {
    fn as_ref(&self) -> &[u8] {
        &self.map
    }
}

/// Maps the whole of `path`. Blocks: for worker threads.
pub(crate) fn map(path: &Path) -> Result<Bytes> {
    let failed =
        |error: std::io::Error| Error::from_io(&error, format_args!("mapping {}", path.display()));
    // A pipe of that name would be waited for until somebody writes to it. Files know no such wait.
    let mut options = OpenOptions::new();
    let file = options.read(true).custom_flags(libc::O_NONBLOCK).open(path).map_err(failed)?;
    let meta = file.metadata().map_err(failed)?;
    if !meta.is_file() {
        return Err(Error::new(ErrorKind::Io, format!("{} is not a file", path.display())));
    }
    if meta.len() == 0 {
        return Ok(Bytes::empty());
    }
    // SAFETY: a map is only unsound when the file changes under it. The contract of `Disk::map`
    // and rule 1 above exclude that: such files are made under another name, synced, renamed, and
    // only ever unlinked. A disk error under the map ends the process (`suspect`).
    let map = unsafe { Mmap::map(&file) }.map_err(failed)?;
    if map.len() > POPULATE_BYTES_MAX || map.advise(Advice::PopulateRead).is_err() {
        // Kernels before 5.14 do not know PopulateRead. Advice that fails costs time only.
        if let Err(error) = map.advise(Advice::WillNeed) {
            log::debug!("{}: no read-ahead: {error}", path.display());
        }
    }
    let registered = Registered::new(path, &map);
    Ok(Bytes::from_owner(Mapped { _registered: registered, map }))
}
