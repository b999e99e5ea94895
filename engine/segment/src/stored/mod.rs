//! Stored documents: the `_source` of each, in compressed blocks of about 16 KiB; where a segment is large enough
//! to keep a dictionary of what its documents have in common, of about 4 KiB, for a read decompresses a whole one.
//!
//! Always true
//! 1. Every document of a segment has an entry, in document order; an empty one says that it has
//!    no source (a nested child, or a mapping that keeps none). JSON is never empty.
//! 2. A document lies in one block, and a block knows nothing of its place, so that a merge can
//!    copy it as it is, where the dictionary stays the same.
//! 3. A block is ended as soon as it has [`BLOCK_BYTES`], or [`SHORT_BLOCK_BYTES`] beside a dictionary; so only a
//!    long document makes a long one.
//!
//! Layout of a block, which may be one zstd frame: for each document the length of its source as a
//! vint, then all sources.
//!
//! The dictionary is trained of a sample of the documents, and handed on from segment to segment of a shard ([`heir`]),
//! as long as what it was trained for is no small part of what it is used for.
//!
//! Layout of the head (little-endian)
//!
//! | bytes       | what                                                                        |
//! |-------------|-----------------------------------------------------------------------------|
//! | 4           | number of blocks                                                            |
//! | 4           | length of the dictionary; 0: there is none. Its highest bit says that it was taken over |
//! | blocks * 16 | 8 end in the body, 4 first document, 4 length decompressed (0: it is plain), whose highest bit says that the frame needs the dictionary |
//! | that length | the dictionary, as zstd keeps one (RFC 8878, section 5)                     |
//!
//! Example: the sources `{}` and none are one plain block, `02 00 7b 7d`.

mod heir;
pub mod merge;
pub mod reader;
pub mod writer;

#[cfg(test)]
mod tests;

pub use heir::{Chosen, for_sources, heir};
pub use reader::{Stored, StoredReader};

/// Bytes at which a block ends that is compressed by itself. zstd gains little above it, and a get decompresses all
/// of it.
pub const BLOCK_BYTES: usize = 16 << 10;

/// Bytes at which a block ends that is compressed with a dictionary.
pub const SHORT_BLOCK_BYTES: usize = 4 << 10;

/// Memory that training a dictionary takes beside all else that a merge does: the tables of zstd's `fastCover`, and
/// what is read for it.
pub const TRAINING_BYTES: usize = 12 << 20;

/// The bit of the dictionary's length that says that it was trained of other documents than these.
const INHERITED: u32 = 1 << 31;

/// A block of more is one long document's, for which a dictionary does little.
const LONG_BLOCK_BYTES: usize = 4 * BLOCK_BYTES;

/// Longest dictionary.
const DICTIONARY_BYTES_MAX: usize = 16 << 10;

/// Sources for which a dictionary is worth its place: it takes at most a thirty-second of them.
const DICTIONARY_FOR_BYTES: u64 = 32 * DICTIONARY_BYTES_MAX as u64;

/// The bit of a line's length that says that the frame needs the dictionary.
const WITH_DICTIONARY: u32 = 1 << 31;

/// Longest source. What a document may be is the door's affair; this bounds what a damaged length
/// can make us allocate.
pub const SOURCE_BYTES_MAX: usize = 1 << 28;

/// No block has more, compressed or not: the last document may come when all but one byte are
/// there, and each takes a few bytes for its length.
const BLOCK_BYTES_MAX: usize = SOURCE_BYTES_MAX + 2 * BLOCK_BYTES;

/// Does the head of stored documents name a dictionary?
pub(crate) fn has_dictionary(head: &[u8]) -> bool {
    head.len() >= HEAD && crate::footer::u32_at(head, 4) != 0
}

/// Bytes of the head before its lines, and of a line.
const HEAD: usize = 8;
const LINE: usize = 16;
