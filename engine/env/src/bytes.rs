//! Shared, read-only bytes: a piece of a memory map, of a buffer, or of a constant.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// A range of bytes kept alive by a counted owner; cloning copies no byte, any thread may read.
#[derive(Clone)]
pub struct Bytes {
    owner: Arc<dyn AsRef<[u8]> + Send + Sync>,
    start: usize,
    end: usize,
}

impl Bytes {
    /// All bytes of `owner`, whose `as_ref` must answer the same bytes each time.
    pub fn from_owner(owner: impl AsRef<[u8]> + Send + Sync + 'static) -> Self {
        let end = owner.as_ref().len();
        Self { owner: Arc::new(owner), start: 0, end }
    }

    /// No bytes.
    pub fn empty() -> Self {
        Self::from_owner(&[] as &'static [u8])
    }

    /// The bytes of `range`, counted from the start of these; `None` where it passes the end.
    pub fn slice(&self, range: Range<usize>) -> Option<Self> {
        if range.start > range.end || range.end > self.len() {
            return None;
        }
        Some(Self {
            owner: Arc::clone(&self.owner),
            start: self.start + range.start,
            end: self.start + range.end,
        })
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
        &(*self.owner).as_ref()[self.start..self.end]
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
