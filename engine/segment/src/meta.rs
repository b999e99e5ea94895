//! Facts about the whole segment, as an archive of its own.
//!
//! Kept apart from the list of sections so that a fact may be added without touching the frame.

use rkyv::{Archive, Deserialize, Serialize};

/// Facts about the whole segment.
#[derive(Archive, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct Meta {
    /// Number of documents, dead ones included.
    pub doc_count: u32,
    /// What made the segment: 0 a buffer that was sealed, else the number of segments merged.
    pub merged_count: u32,
}
