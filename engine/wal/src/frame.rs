//! Batches as bytes: a header, the records, zeros up to the block.
//!
//! Always true
//! 1. A batch starts on a block boundary and fills whole blocks of 4096 bytes; its header lies in
//!    one sector, so that it is there wholly or not at all.
//! 2. A header is believed only with its checksum, its file's id and its shard; records only with
//!    the payload's checksum. Both checksums cover the lengths.
//! 3. Each batch names the checksum of the one before it, also across files.
//!
//! Layout (little-endian)
//!
//! | at  | bytes | what                                                                  |
//! |-----|-------|-----------------------------------------------------------------------|
//! | 0   | 4     | `CLwb`                                                                |
//! | 4   | 2     | format version, 1                                                     |
//! | 6   | 2     | 0                                                                     |
//! | 8   | 8     | position: 1, 2, 3, …                                                  |
//! | 16  | 8     | term                                                                  |
//! | 24  | 8     | synced position: the highest known durable when the batch was built   |
//! | 32  | 16    | id of the file, random                                                |
//! | 48  | 16    | id of the index                                                       |
//! | 64  | 4     | number of the shard                                                   |
//! | 68  | 4     | record count                                                          |
//! | 72  | 8     | lowest sequence number of its operations; 2⁶⁴−1 where it has none     |
//! | 80  | 8     | highest sequence number of its operations; 2⁶⁴−1 where it has none    |
//! | 88  | 4     | payload length, at most 256 MiB                                       |
//! | 92  | 4     | CRC-32 of the payload                                                 |
//! | 96  | 4     | header checksum of the batch before; 0 in the first of a log          |
//! | 100 | 8     | the newest position before this one whose batch has records, or 0     |
//! | 108 | 16    | 0                                                                     |
//! | 124 | 4     | CRC-32 of bytes 0 to 123                                              |
//! | 128 |       | payload: the records, one after the other, then zeros up to the block |
//!
//! A record is four variable-length integers and bytes: operation count, first sequence number,
//! mapping version, length, payload.
//!
//! Example: two operations from sequence number 7 on, mapping version 1, payload `ab`, are
//! `02 07 01 02 61 62`. `tests/data/log-000001` is a whole file.
//!
//! Not here: where in a file a batch lies (`file`), and what a bad one means (`tail`).

use base::checksum::checksum;
use base::planted::{Fault, planted};
use base::{SeqNo, ShardId, vint};

use crate::payload::Payload;
use crate::{LogPosition, Record};

/// The unit in which a log is written.
pub const BLOCK: usize = 4096;

/// Bytes of a batch header.
pub const HEADER_BYTES: usize = 128;

/// Longest payload of a batch.
pub const PAYLOAD_BYTES_MAX: usize = 256 << 20;

/// Version of this layout, of batches and of files.
pub const VERSION: u16 = 1;

const MAGIC: [u8; 4] = *b"CLwb";

/// Stands where there is no sequence number.
const NO_SEQ_NO: u64 = u64::MAX;

const _: () = assert!(HEADER_BYTES <= 512, "a header lies in one sector");
const _: () = assert!(PAYLOAD_BYTES_MAX <= u32::MAX as usize);

/// Random id of a file.
pub type FileId = [u8; 16];

/// What a batch says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Its place in the log.
    pub position: LogPosition,
    /// The term it was written in.
    pub term: u64,
    /// The highest position known durable when it was built; below its own.
    pub synced: LogPosition,
    /// The file it was written to.
    pub file: FileId,
    /// Whose log it is.
    pub shard: ShardId,
    /// How many records.
    pub record_count: u32,
    /// Lowest and highest sequence number, where it has operations.
    pub seq_nos: Option<(SeqNo, SeqNo)>,
    /// Length of the payload.
    pub payload_len: u32,
    /// Checksum of the payload.
    pub payload_checksum: u32,
    /// Header checksum of the batch before.
    pub previous_checksum: u32,
    /// The newest position before this one whose batch has records: where this batch is the
    /// oldest that is left, what is missing before it.
    pub records_before: LogPosition,
}

/// Why bytes are no header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoHeader {
    /// They do not begin like one.
    Magic,
    /// They begin like one, but not of this version.
    Version(u16),
    /// The checksum is another.
    Checksum,
    /// The checksum is right and a value is impossible.
    Value(&'static str),
}

/// Bytes of a whole batch whose payload has `payload_len` bytes.
pub fn batch_bytes(payload_len: usize) -> usize {
    (HEADER_BYTES + payload_len).next_multiple_of(BLOCK)
}

/// Bytes of `record` in a payload.
pub fn record_bytes(record: &Record) -> usize {
    let varying =
        [u64::from(record.count), record.first_seq_no.0, record.mapping_version].map(vint_bytes);
    let len = record.payload.len();
    varying.iter().sum::<usize>() + vint_bytes(len as u64) + len
}

fn vint_bytes(value: u64) -> usize {
    (64 - (value | 1).leading_zeros() as usize).div_ceil(7)
}

/// What the caller knows of a batch; the rest follows from its records.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Its place in the log.
    pub position: LogPosition,
    /// The term.
    pub term: u64,
    /// The highest position known durable.
    pub synced: LogPosition,
    /// The file it goes to.
    pub file: FileId,
    /// Whose log it is.
    pub shard: ShardId,
    /// Header checksum of the batch before.
    pub previous_checksum: u32,
    /// The newest position before this one whose batch has records.
    pub records_before: LogPosition,
}

/// The header of a batch of `records`, whose payload has the checksum `payload_checksum`.
pub(crate) fn header(place: &Place, records: &[Record], payload_checksum: u32) -> Header {
    assert!(place.synced < place.position, "a batch cannot know that it is durable");
    assert!(place.records_before < place.position, "before means before");
    let payload_len: usize = records.iter().map(record_bytes).sum();
    assert!(payload_len <= PAYLOAD_BYTES_MAX);
    Header {
        position: place.position,
        term: place.term,
        synced: place.synced,
        file: place.file,
        shard: place.shard,
        record_count: records.len() as u32,
        seq_nos: seq_nos(records),
        payload_len: payload_len as u32,
        payload_checksum,
        previous_checksum: place.previous_checksum,
        records_before: place.records_before,
    }
}

/// Writes a batch into `block`, which is zero-filled and as long as [`batch_bytes`] says. Answers
/// the header's checksum, which the next batch names.
pub fn write(place: &Place, records: &[Record], block: &mut [u8]) -> u32 {
    let payload_len: usize = records.iter().map(record_bytes).sum();
    assert_eq!(block.len(), batch_bytes(payload_len), "the block was made for these records");
    let payload = &mut block[HEADER_BYTES..HEADER_BYTES + payload_len];
    let filled = Payload::new(records).fill(payload);
    assert_eq!(filled, payload_len, "sizes are reckoned as they are written");
    let bytes = header(place, records, checksum(payload)).encode();
    block[..HEADER_BYTES].copy_from_slice(&bytes);
    header_checksum(&bytes)
}

fn seq_nos(records: &[Record]) -> Option<(SeqNo, SeqNo)> {
    let full = || records.iter().filter(|record| record.count > 0);
    let lowest = full().map(|record| record.first_seq_no).min()?;
    let highest = full().filter_map(last_seq_no).max()?;
    Some((lowest, highest))
}

/// Sequence number of a record's last operation; `None` where it has none, or no such number is.
fn last_seq_no(record: &Record) -> Option<SeqNo> {
    let more = u64::from(record.count.checked_sub(1)?);
    record.first_seq_no.0.checked_add(more).filter(|last| *last < NO_SEQ_NO).map(SeqNo)
}

/// The checksum that a header ends with.
pub(crate) fn header_checksum(header: &[u8; HEADER_BYTES]) -> u32 {
    u32_at(header, 124)
}

impl Header {
    /// The header's bytes.
    pub fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut out = [0; HEADER_BYTES];
        let (lowest, highest) =
            self.seq_nos.map_or((NO_SEQ_NO, NO_SEQ_NO), |(lowest, highest)| (lowest.0, highest.0));
        let mut put = |at: usize, bytes: &[u8]| out[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, &MAGIC);
        put(4, &VERSION.to_le_bytes());
        put(8, &self.position.0.to_le_bytes());
        put(16, &self.term.to_le_bytes());
        put(24, &self.synced.0.to_le_bytes());
        put(32, &self.file);
        put(48, &self.shard.index);
        put(64, &self.shard.number.to_le_bytes());
        put(68, &self.record_count.to_le_bytes());
        put(72, &lowest.to_le_bytes());
        put(80, &highest.to_le_bytes());
        put(88, &self.payload_len.to_le_bytes());
        put(92, &self.payload_checksum.to_le_bytes());
        put(96, &self.previous_checksum.to_le_bytes());
        put(100, &self.records_before.0.to_le_bytes());
        let sum = checksum(&out[..124]);
        out[124..].copy_from_slice(&sum.to_le_bytes());
        out
    }

    /// Reads a header from the start of `bytes`. Answers its checksum too.
    pub fn decode(bytes: &[u8]) -> Result<(Self, u32), NoHeader> {
        let bytes: &[u8; HEADER_BYTES] = bytes.first_chunk().ok_or(NoHeader::Magic)?;
        if bytes[..4] != MAGIC {
            return Err(NoHeader::Magic);
        }
        let version = u16::from_le_bytes([bytes[4], bytes[5]]);
        if version != VERSION {
            return Err(NoHeader::Version(version));
        }
        let sum = header_checksum(bytes);
        if checksum(&bytes[..124]) != sum {
            return Err(NoHeader::Checksum);
        }
        let (lowest, highest) = (u64_at(bytes, 72), u64_at(bytes, 80));
        let seq_nos = match (lowest, highest) {
            (NO_SEQ_NO, NO_SEQ_NO) => None,
            (lowest, highest) if lowest <= highest && highest < NO_SEQ_NO => {
                Some((SeqNo(lowest), SeqNo(highest)))
            }
            _ => return Err(NoHeader::Value("sequence numbers")),
        };
        let header = Self {
            position: LogPosition(u64_at(bytes, 8)),
            term: u64_at(bytes, 16),
            synced: LogPosition(u64_at(bytes, 24)),
            file: array_at(bytes, 32),
            shard: ShardId { index: array_at(bytes, 48), number: u32_at(bytes, 64) },
            record_count: u32_at(bytes, 68),
            seq_nos,
            payload_len: u32_at(bytes, 88),
            payload_checksum: u32_at(bytes, 92),
            previous_checksum: u32_at(bytes, 96),
            records_before: LogPosition(u64_at(bytes, 100)),
        };
        if header.position <= header.synced {
            return Err(NoHeader::Value("synced position"));
        }
        if header.position <= header.records_before {
            return Err(NoHeader::Value("position of the records before"));
        }
        if header.payload_len as usize > PAYLOAD_BYTES_MAX {
            return Err(NoHeader::Value("payload length"));
        }
        Ok((header, sum))
    }

    /// Bytes of the whole batch.
    pub fn batch_bytes(&self) -> usize {
        batch_bytes(self.payload_len as usize)
    }

    /// Reads the records of `payload`, which has the right length. `None` where its checksum is
    /// another, or it does not hold what this header says.
    pub fn records(&self, payload: &[u8]) -> Option<Vec<Record>> {
        assert_eq!(payload.len(), self.payload_len as usize, "the caller cuts by this header");
        if checksum(payload) != self.payload_checksum && !planted(Fault::SkipBatchChecksum) {
            return None;
        }
        let mut rest = payload;
        // Each record takes four bytes at least: a claimed count cannot make us allocate more.
        let mut records = Vec::with_capacity((self.record_count as usize).min(payload.len() / 4));
        while !rest.is_empty() {
            let record = Record {
                count: vint::read_u32(&mut rest)?,
                first_seq_no: SeqNo(vint::read(&mut rest)?),
                mapping_version: vint::read(&mut rest)?,
                payload: vint::read_bytes(&mut rest)?.to_vec(),
            };
            if record.count > 0 {
                last_seq_no(&record)?;
            }
            records.push(record);
        }
        let as_said =
            records.len() == self.record_count as usize && seq_nos(&records) == self.seq_nos;
        as_said.then_some(records)
    }
}

fn array_at<const N: usize>(bytes: &[u8; HEADER_BYTES], at: usize) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(&bytes[at..at + N]);
    array
}

fn u32_at(bytes: &[u8; HEADER_BYTES], at: usize) -> u32 {
    u32::from_le_bytes(array_at(bytes, at))
}

fn u64_at(bytes: &[u8; HEADER_BYTES], at: usize) -> u64 {
    u64::from_le_bytes(array_at(bytes, at))
}

#[cfg(test)]
mod tests;
