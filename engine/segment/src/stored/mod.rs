//! Stored documents: the `_source` of each, in compressed blocks of about 16 KiB.
//!
//! Always true
//! 1. Every document of a segment has an entry, in document order; an empty one says that it has
//!    no source (a nested child, or a mapping that keeps none). JSON is never empty.
//! 2. A document lies in one block, and a block knows nothing of its place, so that a merge can
//!    copy it as it is.
//! 3. A block is ended as soon as it has [`BLOCK_BYTES`]; so only a long document makes a long one.
//!
//! Layout of a block, which may be one zstd frame: for each document the length of its source as a
//! vint, then all sources.
//!
//! Layout of the head (little-endian)
//!
//! | bytes       | what                                                                        |
//! |-------------|-----------------------------------------------------------------------------|
//! | 4           | number of blocks                                                            |
//! | 4           | zero                                                                        |
//! | blocks * 16 | 8 end in the body, 4 first document, 4 length decompressed (0: it is plain) |
//!
//! Example: the sources `{}` and none are one plain block, `02 00 7b 7d`.

pub mod merge;
pub mod reader;
pub mod writer;

#[cfg(test)]
mod tests;

pub use reader::{Stored, StoredReader};

/// Bytes at which a block ends. zstd gains little above it, and a get decompresses all of it.
pub const BLOCK_BYTES: usize = 16 << 10;

/// Longest source. What a document may be is the door's affair; this bounds what a damaged length
/// can make us allocate.
pub const SOURCE_BYTES_MAX: usize = 1 << 28;

/// No block has more, compressed or not: the last document may come when all but one byte are
/// there, and each takes a few bytes for its length.
const BLOCK_BYTES_MAX: usize = SOURCE_BYTES_MAX + 2 * BLOCK_BYTES;

/// Bytes of the head before its lines, and of a line.
const HEAD: usize = 8;
const LINE: usize = 16;
