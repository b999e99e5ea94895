//! A disk error under a memory map: names the file for the next start, then ends the process.
//!
//! The kernel reports such an error as SIGBUS in whatever thread touched the page; there is no
//! going on from there. The handler looks the address up among the maps, appends the file's path
//! and a line end to the *suspect* file, which is open since the start, syncs it, and exits with
//! code 74. At the next start each file named there must be verified in full before use
//! ([`take`] hands the names out).
//!
//! Always true
//! 1. The handler calls only what is safe in a signal handler: atomics, `write`, `fdatasync`,
//!    `_exit`.
//! 2. A slot's range is stored last and cleared first, and the map outlives its slot; so a range
//!    that the handler finds belongs to the path beside it.
//! 3. An address under no map is somebody else's fault: the default action (a core dump) follows.

#![allow(unsafe_code, reason = "a signal handler; each block says why it is sound")]

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::IntoRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicI32, AtomicPtr, AtomicUsize, Ordering};

/// Maps that can be named at a time; those beyond are mapped all the same, but not named.
const SLOT_COUNT: usize = 16_384;

/// What ends the process, as everywhere where the store cannot be read or written.
const EXIT_CODE: i32 = 74;

struct Slot {
    start: AtomicUsize,
    end: AtomicUsize,
    path: AtomicPtr<u8>,
    path_len: AtomicUsize,
}

static SLOTS: [Slot; SLOT_COUNT] = [const {
    Slot {
        start: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
        path: AtomicPtr::new(std::ptr::null_mut()),
        path_len: AtomicUsize::new(0),
    }
}; SLOT_COUNT];

/// Slots that were used and are free again, and the first that never was used.
static FREE: Mutex<(Vec<usize>, usize)> = Mutex::new((Vec::new(), 0));

/// The open suspect file; -1 before [`install`].
static SUSPECT_FILE: AtomicI32 = AtomicI32::new(-1);

/// A map's place in the table; dropping it takes the map out.
#[derive(Debug)]
pub(crate) struct Registered {
    slot: Option<usize>,
    /// Where the slot's pointer points.
    _path: Box<[u8]>,
}

impl Registered {
    /// Names the `bytes` of a map for the handler. Must be dropped before the map is.
    pub(crate) fn new(path: &Path, bytes: &[u8]) -> Self {
        let mut name: Box<[u8]> = path.as_os_str().as_bytes().into();
        let slot = {
            let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
            free.0.pop().or_else(|| {
                let next = free.1;
                (next < SLOT_COUNT).then(|| {
                    free.1 += 1;
                    next
                })
            })
        };
        if let Some(number) = slot {
            let slot = &SLOTS[number];
            let start = bytes.as_ptr() as usize;
            slot.path.store(name.as_mut_ptr(), Ordering::Relaxed);
            slot.path_len.store(name.len(), Ordering::Relaxed);
            slot.end.store(start + bytes.len(), Ordering::Relaxed);
            slot.start.store(start, Ordering::Release);
        }
        Self { slot, _path: name }
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        if let Some(number) = self.slot {
            SLOTS[number].start.store(0, Ordering::Release);
            SLOTS[number].end.store(0, Ordering::Release);
            FREE.lock().unwrap_or_else(PoisonError::into_inner).0.push(number);
        }
    }
}

/// The slot under whose map `address` lies.
fn find(address: usize) -> Option<&'static Slot> {
    SLOTS.iter().find(|slot| {
        let start = slot.start.load(Ordering::Acquire);
        start != 0 && start <= address && address < slot.end.load(Ordering::Relaxed)
    })
}

extern "C" fn on_sigbus(
    _signal: libc::c_int,
    info: *mut libc::siginfo_t,
    _context: *mut libc::c_void,
) {
    const SAID: &[u8] = b"corelode: the disk failed under a memory map; the file is noted as \
                          suspect and will be verified at the next start\n";
    // SAFETY: with SA_SIGINFO the kernel passes a valid `siginfo_t`; SIGBUS carries an address.
    let address = unsafe { (*info).si_addr() } as usize;
    let Some(slot) = find(address) else {
        // SAFETY: restoring the default action is allowed here; on return the access repeats and
        // the default action ends the process.
        unsafe { libc::signal(libc::SIGBUS, libc::SIG_DFL) };
        return;
    };
    let file = SUSPECT_FILE.load(Ordering::Relaxed);
    let path = slot.path.load(Ordering::Relaxed);
    let len = slot.path_len.load(Ordering::Relaxed);
    // SAFETY: `path` and `len` describe the boxed path of a map that is alive, because a thread
    // was just reading it. The results are ignored because nothing could be done about them.
    unsafe {
        libc::write(file, path.cast(), len);
        libc::write(file, b"\n".as_ptr().cast(), 1);
        libc::fdatasync(file);
        libc::write(2, SAID.as_ptr().cast(), SAID.len());
        libc::_exit(EXIT_CODE);
    }
}

/// Opens the suspect file at `path` and installs the handler, once in a process.
pub fn install(path: &Path) -> io::Result<()> {
    let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
    let before = SUSPECT_FILE.swap(file.into_raw_fd(), Ordering::Relaxed);
    assert!(before < 0, "installed once");
    // SAFETY: an all-zero `sigaction` is a valid one; the handler has the signature that
    // SA_SIGINFO asks for and keeps to what a handler may do.
    let result = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_sigbus as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO;
        libc::sigemptyset(&mut action.sa_mask);
        libc::sigaction(libc::SIGBUS, &action, std::ptr::null_mut())
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// The files that were named at `path` in earlier runs; the list is emptied. Each must be verified
/// in full before it is used.
pub fn take(path: &Path) -> io::Result<Vec<PathBuf>> {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut paths: Vec<PathBuf> = bytes
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| PathBuf::from(std::ffi::OsStr::from_bytes(line)))
        .collect();
    paths.sort();
    paths.dedup();
    if !bytes.is_empty() {
        File::create(path)?.sync_all()?;
    }
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_under_a_map_finds_its_file_until_the_map_goes() {
        let bytes = vec![0u8; 100].leak();
        let inside = bytes.as_ptr() as usize + 99;
        let registered = Registered::new(Path::new("/data/segment-1"), bytes);
        let slot = find(inside).expect("registered");
        assert_eq!(slot.path_len.load(Ordering::Relaxed), "/data/segment-1".len());
        assert!(find(inside + 1).is_none_or(|other| !std::ptr::eq(other, slot)));
        drop(registered);
        assert!(find(inside).is_none());
    }

    #[test]
    fn names_are_handed_out_once() {
        let folder = std::env::temp_dir().join(format!("corelode-suspect-{}", std::process::id()));
        std::fs::write(&folder, "/a/b\n/c\n/a/b\n").expect("writable");
        let names = take(&folder).expect("readable");
        assert_eq!(names, [PathBuf::from("/a/b"), PathBuf::from("/c")]);
        assert!(take(&folder).expect("readable").is_empty());
        std::fs::remove_file(&folder).expect("removable");
        assert!(take(&folder).expect("a missing file names nothing").is_empty());
    }
}
