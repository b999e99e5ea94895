//! Positions of terms in documents: what phrases are found by.
//!
//! Always true
//! 1. The positions of a term lie together, document after document, each document's rising.
//! 2. A document's first position is kept as it is, each other as the distance to the one before.
//!    So nothing but the number of positions is needed to start at any document.
//! 3. They are read when a phrase asks, for the document it asks about; never before.
//!
//! Layout of a term's positions
//!
//! | what                     | bytes                                                          |
//! |--------------------------|----------------------------------------------------------------|
//! | each 128 distances       | their width (0..=32), then 16 bytes each bit of width, packed  |
//! | the rest (1..=127)       | 128 + their number, then a vint each                           |
//!
//! A term with fewer than 128 positions has no byte before its rest: the number is known.
//!
//! Example: a term at 4 and 9 of one document and at 2 of the next: `04 05 02`.
//!
//! Absent: offsets in the text and payloads.

mod cursor;
mod writer;

pub(crate) use cursor::{PACKED_LEN_MAX, PositionCursor};
pub(crate) use writer::PositionWriter;

/// Added to the number of values of a rest.
const REST: u8 = 128;

#[cfg(test)]
mod tests;
