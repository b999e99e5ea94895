//! Shared, read-only bytes: a piece of a memory map, of a buffer, or of a constant.
//!
//! Where the bytes lie is kept beside their owner: asking the owner each time is a call through a
//! table, and a look-up in a block of postings asks some ten times (`bench/engines` runs on it).
//!
//! This is the fence around one pointer.
//!
//! Always true
//! 1. `start` and `len` are what the owner's `as_ref` answered once, or a piece of it.
//! 2. The owner lives in its `Arc`, unmoved and never lent mutably, as long as any `Bytes` of it.

#![allow(unsafe_code, reason = "one pointer into what the owner keeps; each block says why")]

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

use crate::budget::Taken;

/// A range of bytes kept alive by a counted owner; cloning copies no byte, any thread may read.
#[derive(Clone)]
pub struct Bytes {
    start: *const u8,
    len: usize,
    _owner: Arc<dyn Owner>,
}

/// What keeps bytes alive.
trait Owner: Send + Sync {}

impl<T: Send + Sync> Owner for T {}

// SAFETY: the bytes are only read, and whoever keeps them may be shared and sent himself.
unsafe impl Send for Bytes {}
// SAFETY: as above.
unsafe impl Sync for Bytes {}

/// Bytes, and what is taken for them.
struct Counted<T> {
    owner: T,
    _taken: Taken,
}

impl<T: AsRef<[u8]>> AsRef<[u8]> for Counted<T> {
    fn as_ref(&self) -> &[u8] {
        self.owner.as_ref()
    }
}

impl Bytes {
    /// All bytes of `owner`.
    pub fn from_owner(owner: impl AsRef<[u8]> + Send + Sync + 'static) -> Self {
        let owner = Arc::new(owner);
        let bytes: &[u8] = (*owner).as_ref();
        let (start, len) = (bytes.as_ptr(), bytes.len());
        Self { start, len, _owner: owner }
    }

    /// All bytes of `owner`, for which so much memory is taken until the last of them goes.
    pub fn counted(owner: impl AsRef<[u8]> + Send + Sync + 'static, taken: Taken) -> Self {
        Self::from_owner(Counted { owner, _taken: taken })
    }

    /// No bytes.
    pub fn empty() -> Self {
        Self::from_owner(&[] as &'static [u8])
    }

    /// The bytes of `range`, counted from the start of these; `None` where it passes the end.
    pub fn slice(&self, range: Range<usize>) -> Option<Self> {
        let piece = self.get(range)?;
        let (start, len) = (piece.as_ptr(), piece.len());
        Some(Self { start, len, _owner: Arc::clone(&self._owner) })
    }
}

impl Default for Bytes {
    fn default() -> Self {
        Self::empty()
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self::from_owner(bytes)
    }
}

impl Deref for Bytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: `as_ref` lent these bytes for as long as its owner is borrowed. The owner is
        // borrowed, and never mutably, until the last `Arc` of it goes: that borrow could have been
        // kept, had it a name. `self` holds one such `Arc`, and the slice does not outlive `self`.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl PartialEq for Bytes {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Bytes {}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bytes({} bytes)", self.len())
    }
}
