//! A document by itself: a segment in memory that holds nothing else, so that a query can be asked of a
//! document before it is written.
//!
//! Always true: it is made as a refresh makes segments, so a query says of it what it will say of the
//! document once that is written (but for queries that look at other documents, and for what the write
//! will stamp on it).

use base::{PrimaryTerm, SegmentId, SeqNo};
use env::Bytes;
use mapping::Mapping;
use mapping::document::Entries;
use segment::{Check, Segment, View};

use crate::buffer::Buffer;
use crate::buffer::seal;
use crate::buffer::stored::Stamp;

/// The view of a shard that holds this document alone, whose `entries` were parsed by `mapping`.
///
/// # Errors
/// A document that no segment takes.
pub fn view(
    mapping: &Mapping,
    id: &str,
    routing: Option<&str>,
    source: Bytes,
    entries: Entries<'_>,
) -> segment::Result<View> {
    let stamp = Stamp { seq_no: SeqNo(0), term: PrimaryTerm(1), version: 1 };
    let mut buffer = Buffer::default();
    buffer.add(id.as_bytes(), routing, mapping.kept_source(source), stamp, entries);
    let number = SegmentId(0);
    let sealed = seal::seal(&buffer, number, mapping, None)?;
    let segments = match sealed.file {
        Some(file) => vec![(Segment::open(number, Bytes::from(file), Check::Lazy)?, None)],
        None => Vec::new(),
    };
    View::new(0, segments)
}
