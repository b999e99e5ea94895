//! The log form of operations: one frame holds operations that were decided together.
//!
//! Always true
//! 1. The operations of a frame have one primary term and sequence numbers without a gap.
//! 2. A frame says all that a replay needs: nothing is decided a second time.
//! 3. Reading ends at the last byte; anything left over is damage.
//!
//! Layout of the payload (little-endian; vint: `base::vint`), format 1
//!
//! | at | bytes | what                          |
//! |----|-------|-------------------------------|
//! | 0  | 1     | format                        |
//! | 1  | 8     | primary term                  |
//! | 9  | …     | the operations: at least one  |
//!
//! First sequence number, number of operations and mapping version stand in the log's own record.
//!
//! An operation
//!
//! | bytes | what                                                    |
//! |-------|---------------------------------------------------------|
//! | 1     | flags: 1 it deletes, 2 it has a routing value           |
//! | vint  | version of the document                                 |
//! | vint  | length of the id, then the id (UTF-8)                   |
//! | vint  | with flag 2: length of the routing value, then that     |
//! | vint  | without flag 1: length of the source, then the source   |
//!
//! Example: document `a` = `{}` put as version 1 in term 1: `01 | 01 00×7 | 00 | 01 | 01 61 | 02 7b 7d`.
//!
//! Not here: checksums, blocks and the batch header (`wal`), the log's own index (`consensus`).

use std::fmt;

use base::{PrimaryTerm, SeqNo, vint};
use consensus::Record;
use env::Bytes;

/// The format written and read.
pub const FORMAT: u8 = 1;

/// Bytes before the operations.
const HEAD_BYTES: usize = 9;

const DELETES: u8 = 1;
const HAS_ROUTING: u8 = 2;

/// A frame that is being written.
#[derive(Debug)]
pub struct FrameWriter {
    record: Record,
}

impl FrameWriter {
    /// Begins a frame whose first operation is `first`.
    pub fn new(mapping_version: u64, term: PrimaryTerm, first: SeqNo) -> Self {
        let mut payload = Vec::with_capacity(1024);
        payload.push(FORMAT);
        payload.extend_from_slice(&term.get().to_le_bytes());
        Self { record: Record { first_seq_no: first, count: 0, mapping_version, payload } }
    }

    /// Adds an operation; `source` is `None` where it deletes.
    pub fn add(&mut self, version: u64, id: &str, routing: Option<&str>, source: Option<&[u8]>) {
        self.begin(version, id, routing, source.map(<[u8]>::len));
        self.extend(source.unwrap_or_default());
    }

    /// Adds an operation but for its source of so many bytes, which [`Self::extend`] brings.
    pub fn begin(
        &mut self,
        version: u64,
        id: &str,
        routing: Option<&str>,
        source_bytes: Option<usize>,
    ) {
        let bytes = &mut self.record.payload;
        let deletes = if source_bytes.is_none() { DELETES } else { 0 };
        bytes.push(deletes | if routing.is_some() { HAS_ROUTING } else { 0 });
        vint::write(bytes, version);
        vint::write_bytes(bytes, id.as_bytes());
        if let Some(routing) = routing {
            vint::write_bytes(bytes, routing.as_bytes());
        }
        if let Some(len) = source_bytes {
            vint::write(bytes, len as u64);
            bytes.reserve(len);
        }
        self.record.count += 1;
    }

    /// Adds the next bytes of the source.
    pub fn extend(&mut self, source: &[u8]) {
        self.record.payload.extend_from_slice(source);
    }

    /// An operation was prepared by this mapping, perhaps a newer one than the others.
    pub fn raise_mapping_version(&mut self, version: u64) {
        self.record.mapping_version = self.record.mapping_version.max(version);
    }

    /// Operations so far.
    pub fn count(&self) -> u32 {
        self.record.count
    }

    /// Bytes so far.
    pub fn len_bytes(&self) -> usize {
        self.record.payload.len()
    }

    /// Ends the frame.
    pub fn finish(self) -> Record {
        assert!(self.record.count > 0, "a frame without operations is never logged");
        self.record
    }
}

/// A frame as read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Version of the mapping the documents were prepared with.
    pub mapping_version: u64,
    /// The reign.
    pub term: PrimaryTerm,
    /// Number of the first operation; the others follow without a gap.
    pub first: SeqNo,
    /// The operations.
    pub ops: Vec<Logged>,
}

/// One operation of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logged {
    /// Its place in the shard's history.
    pub seq_no: SeqNo,
    /// The document's version after it.
    pub version: u64,
    /// Id of the document.
    pub id: String,
    /// Its routing value.
    pub routing: Option<String>,
    /// The document's text; `None`: the operation deletes.
    pub source: Option<Bytes>,
}

/// What is wrong with a frame whose checksum was right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameError {
    /// It has another format.
    Format(u8),
    /// It does not make sense.
    Malformed(&'static str),
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Format(found) => write!(f, "frame of format {found}, expected {FORMAT}"),
            Self::Malformed(what) => write!(f, "malformed frame: {what}"),
        }
    }
}

impl std::error::Error for FrameError {}

impl Frame {
    /// Reads a frame out of a record of the log; the sources are slices of its payload.
    pub fn decode(record: Record) -> Result<Self, FrameError> {
        let Record { first_seq_no: first, count, mapping_version, payload } = record;
        let bytes = Bytes::from(payload);
        match bytes.first() {
            None => return Err(FrameError::Malformed("it is empty")),
            Some(&format) if format != FORMAT => return Err(FrameError::Format(format)),
            Some(_) => {}
        }
        let Some((head, mut rest)) = bytes.split_first_chunk::<HEAD_BYTES>() else {
            return Err(FrameError::Malformed("its head is cut short"));
        };
        let term = u64::from_le_bytes(*head[1..].first_chunk().expect("nine bytes less one"));
        if count == 0 {
            return Err(FrameError::Malformed("it has no operation"));
        }
        let end = first.get().checked_add(u64::from(count));
        if end.is_none_or(|end| end > i64::MAX as u64) {
            return Err(FrameError::Malformed("its sequence numbers are too high"));
        }
        // Each operation takes more than a byte, so the count cannot make us allocate much.
        if count as usize > rest.len() {
            return Err(FrameError::Malformed("it is shorter than its operations"));
        }
        let mut ops = Vec::with_capacity(count as usize);
        for number in 0..u64::from(count) {
            let seq_no = SeqNo(first.get() + number);
            let op = operation(&bytes, &mut rest, seq_no);
            ops.push(op.ok_or(FrameError::Malformed("an operation is unreadable"))?);
        }
        if !rest.is_empty() {
            return Err(FrameError::Malformed("bytes are left over"));
        }
        Ok(Self { mapping_version, term: PrimaryTerm(term), first, ops })
    }
}

fn operation(whole: &Bytes, rest: &mut &[u8], seq_no: SeqNo) -> Option<Logged> {
    let (&flags, after) = rest.split_first()?;
    *rest = after;
    if flags & !(DELETES | HAS_ROUTING) != 0 {
        return None;
    }
    let version = vint::read(rest)?;
    let id = text(rest)?;
    let routing = if flags & HAS_ROUTING != 0 { Some(text(rest)?) } else { None };
    let source = if flags & DELETES != 0 {
        None
    } else {
        let len = vint::read_bytes(rest)?.len();
        let end = whole.len() - rest.len();
        Some(whole.slice(end - len..end)?)
    };
    Some(Logged { seq_no, version, id, routing, source })
}

fn text(rest: &mut &[u8]) -> Option<String> {
    let bytes = vint::read_bytes(rest)?;
    std::str::from_utf8(bytes).ok().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn example() -> Record {
        let mut frame = FrameWriter::new(3, PrimaryTerm(1), SeqNo(0));
        frame.add(1, "a", None, Some(b"{}"));
        frame.finish()
    }

    fn with_payload(payload: Vec<u8>) -> Record {
        Record { payload, ..example() }
    }

    #[test]
    fn the_example_of_the_head_holds() {
        let expected = [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, b'a', 2, b'{', b'}'];
        assert_eq!(example().payload, expected);
        assert_eq!(example().count, 1);
    }

    #[test]
    fn golden_frame_reads_and_writes_the_same() {
        let golden = include_bytes!("../tests/data/frame-1.bin");
        let mut frame = FrameWriter::new(7, PrimaryTerm(2), SeqNo(40));
        frame.add(3, "köln", Some("r 1"), Some(br#"{"city":"K\u00f6ln"}"#));
        frame.add(u64::MAX >> 1, "gone", None, None);
        frame.add(200, "x", None, Some(b"{}"));
        let record = frame.finish();
        assert_eq!(record.payload, golden);
        let read = Frame::decode(record).expect("our own frame");
        assert_eq!((read.mapping_version, read.term, read.first), (7, PrimaryTerm(2), SeqNo(40)));
        assert_eq!(read.ops[1].seq_no, SeqNo(41));
        assert_eq!(read.ops[1].source, None);
        assert_eq!(read.ops[0].routing.as_deref(), Some("r 1"));
    }

    #[test]
    fn cut_frame_or_longer_one_is_refused() {
        let bytes = example().payload;
        for len in 0..bytes.len() {
            assert!(Frame::decode(with_payload(bytes[..len].to_vec())).is_err(), "{len}");
        }
        let longer = [bytes, vec![0]].concat();
        let found = Frame::decode(with_payload(longer));
        assert_eq!(found, Err(FrameError::Malformed("bytes are left over")));
    }

    #[test]
    fn count_that_does_not_fit_is_refused() {
        for count in [0, 2, u32::MAX] {
            assert!(Frame::decode(Record { count, ..example() }).is_err(), "{count}");
        }
        let first_seq_no = SeqNo(u64::MAX);
        assert!(Frame::decode(Record { first_seq_no, ..example() }).is_err());
    }

    #[test]
    fn other_format_is_named() {
        let mut bytes = example().payload;
        bytes[0] = 2;
        assert_eq!(Frame::decode(with_payload(bytes)), Err(FrameError::Format(2)));
    }

    type Op = (u64, String, Option<String>, Option<Vec<u8>>);

    proptest! {
        #[test]
        fn written_is_read(
            ops in prop::collection::vec(any::<Op>(), 1..20),
            mapping_version: u64, term: u64, first in 0..u64::MAX >> 2,
        ) {
            let mut frame = FrameWriter::new(mapping_version, PrimaryTerm(term), SeqNo(first));
            for (version, id, routing, source) in &ops {
                frame.add(*version, id, routing.as_deref(), source.as_deref());
            }
            let read = Frame::decode(frame.finish()).expect("our own frame");
            prop_assert_eq!(read.mapping_version, mapping_version);
            prop_assert_eq!(read.term, PrimaryTerm(term));
            let found: Vec<Op> = read.ops.iter().map(|op| {
                let source = op.source.as_ref().map(|source| source.to_vec());
                (op.version, op.id.clone(), op.routing.clone(), source)
            }).collect();
            let numbers: Vec<u64> = read.ops.iter().map(|op| op.seq_no.get()).collect();
            prop_assert_eq!(numbers, (first..first + ops.len() as u64).collect::<Vec<_>>());
            prop_assert_eq!(found, ops);
        }

        #[test]
        fn foreign_bytes_never_panic(mut payload: Vec<u8>, format: bool, count in 0u32..9) {
            if format && !payload.is_empty() {
                payload[0] = FORMAT;
            }
            let _ = Frame::decode(Record { count, ..with_payload(payload) });
        }

        #[test]
        fn flipped_bits_never_panic(bit: usize) {
            let mut payload = example().payload;
            let len = payload.len();
            payload[bit / 8 % len] ^= 1 << (bit % 8);
            let _ = Frame::decode(with_payload(payload));
        }
    }
}
