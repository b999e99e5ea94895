//! The words that all crates share: identifiers, variable-length integers, checksums, hashing,
//! Java's numbers as text, numbers in one order, patterns with stars, names that are close.
//!
//! Nothing here does I/O, allocates in a hot path, or knows a crate above.

#![forbid(unsafe_code)]

pub mod calendar;
pub mod checksum;
pub mod hash;
pub mod id;
pub mod java;
pub mod near;
pub mod number;
pub mod planted;
pub mod units;
pub mod vint;
pub mod wildcard;

pub use id::{CoreId, DocId, FieldNo, Ord, PrimaryTerm, SegmentId, SeqNo, ShardId};
