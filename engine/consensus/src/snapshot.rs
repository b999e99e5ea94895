//! The file that a replicated value is saved in, so that its log may be shortened.
//!
//! Always true
//! 1. A snapshot stands whole or not at all: it is written beside the old one, synced, and put in
//!    its place (`Disk::save`).
//! 2. Where a value was made, there is a snapshot, from before the first command on.
//!
//! Layout of `snapshot` (little-endian)
//!
//! | at | bytes | what                                                          |
//! |----|-------|---------------------------------------------------------------|
//! | 0  | 4     | `CLst`                                                        |
//! | 4  | 2     | version of this layout, 1                                     |
//! | 6  | 2     | 0                                                             |
//! | 8  | 4     | version of the value's own form ([`State::FORMAT`])           |
//! | 12 | 8     | commands applied to the value                                 |
//! | 20 | 8     | position: log entries up to here are not needed               |
//! | 28 | 16    | id of the value, as in its log                                |
//! | 44 | 4     | number of the value, as in its log                            |
//! | 48 | 8     | length of the value's form                                    |
//! | 56 | 4     | CRC-32 of the value's form                                    |
//! | 60 | 4     | CRC-32 of bytes 0 to 59                                       |
//! | 64 |       | the value's form                                              |
//!
//! Entries after the position may hold commands that are applied already (several commands share
//! an entry); their numbers tell.
//!
//! Not here: the value's form.
//!
//! [`State::FORMAT`]: crate::State::FORMAT

use base::ShardId;
use base::checksum::checksum;
use wal::LogPosition;

/// Version of the layout.
const VERSION: u16 = 1;
const MAGIC: [u8; 4] = *b"CLst";
const HEAD_BYTES: usize = 64;

/// Name of the file.
pub const NAME: &str = "snapshot";

/// What a snapshot says beside the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Version of the value's own form.
    pub format: u32,
    /// Commands applied to the value.
    pub applied: u64,
    /// Log entries up to here are not needed.
    pub position: LogPosition,
    /// Whose value it is.
    pub id: ShardId,
}

/// Why bytes are no snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoSnapshot {
    /// It has another layout: its version.
    Version(u32),
    /// It is damaged, or another value's.
    Corrupt(String),
}

/// A snapshot of the value whose form `encode` appends. There is no second copy of it: it may be large.
pub fn write(head: &Head, encode: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = vec![0; HEAD_BYTES];
    encode(&mut out);
    let (first, value) = out.split_at_mut(HEAD_BYTES);
    first[..4].copy_from_slice(&MAGIC);
    first[4..6].copy_from_slice(&VERSION.to_le_bytes());
    first[8..12].copy_from_slice(&head.format.to_le_bytes());
    first[12..20].copy_from_slice(&head.applied.to_le_bytes());
    first[20..28].copy_from_slice(&head.position.0.to_le_bytes());
    first[28..44].copy_from_slice(&head.id.index);
    first[44..48].copy_from_slice(&head.id.number.to_le_bytes());
    first[48..56].copy_from_slice(&(value.len() as u64).to_le_bytes());
    first[56..60].copy_from_slice(&checksum(value).to_le_bytes());
    let sum = checksum(&first[..60]);
    first[60..].copy_from_slice(&sum.to_le_bytes());
    out
}

/// Reads a snapshot of the value `id`; answers the value's form.
pub fn read(bytes: &[u8], id: ShardId) -> Result<(Head, &[u8]), NoSnapshot> {
    let corrupt = |what: String| NoSnapshot::Corrupt(what);
    let Some((head, value)) = bytes.split_first_chunk::<HEAD_BYTES>() else {
        return Err(corrupt(format!("it has {} bytes, a head has {HEAD_BYTES}", bytes.len())));
    };
    if head[..4] != MAGIC {
        return Err(corrupt("its first bytes are not those of a snapshot".to_owned()));
    }
    let version = u16::from_le_bytes([head[4], head[5]]);
    // A newer layout may keep its checksum elsewhere, so its version is told first.
    if version > VERSION {
        return Err(NoSnapshot::Version(version.into()));
    }
    let (expected, found) = (u32_at(head, 60), checksum(&head[..60]));
    if expected != found || version != VERSION {
        return Err(corrupt(format!("checksum of its head: expected {expected:08x}, {found:08x}")));
    }
    let mut index = [0; 16];
    index.copy_from_slice(&head[28..44]);
    let found_id = ShardId { index, number: u32_at(head, 44) };
    if found_id != id {
        return Err(corrupt(format!("it is of {found_id:?}, expected {id:?}")));
    }
    let (len, expected, found) = (u64_at(head, 48), u32_at(head, 56), checksum(value));
    if len != value.len() as u64 {
        return Err(corrupt(format!("its value has {} bytes, expected {len}", value.len())));
    }
    if expected != found {
        return Err(corrupt(format!(
            "checksum of its value: expected {expected:08x}, {found:08x}"
        )));
    }
    let head = Head {
        format: u32_at(head, 8),
        applied: u64_at(head, 12),
        position: LogPosition(u64_at(head, 20)),
        id,
    };
    Ok((head, value))
}

fn u32_at(bytes: &[u8; HEAD_BYTES], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn u64_at(bytes: &[u8; HEAD_BYTES], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ID: ShardId = ShardId { index: *b"cluster\0\0\0\0\0\0\0\0\0", number: 0 };

    fn head() -> Head {
        Head { format: 3, applied: 9, position: LogPosition(7), id: ID }
    }

    fn written(value: &[u8]) -> Vec<u8> {
        write(&head(), |out| out.extend_from_slice(value))
    }

    #[test]
    fn written_is_read() {
        let bytes = written(b"value");
        assert_eq!(read(&bytes, ID), Ok((head(), b"value".as_slice())));
    }

    #[test]
    fn the_layout_is_pinned() {
        let bytes = written(b"value");
        let expected = [
            b"CLst\x01\0\0\0".as_slice(),
            b"\x03\0\0\0\x09\0\0\0\0\0\0\0\x07\0\0\0\0\0\0\0",
            b"cluster\0\0\0\0\0\0\0\0\0\0\0\0\0",
            b"\x05\0\0\0\0\0\0\0\x34\x58\x77\x1d",
        ]
        .concat();
        assert_eq!(bytes[..60], expected);
        assert_eq!(&bytes[64..], b"value");
    }

    #[test]
    fn every_flipped_bit_is_seen() {
        let bytes = written(b"value");
        for bit in 0..bytes.len() * 8 {
            let mut rotten = bytes.clone();
            rotten[bit / 8] ^= 1 << (bit % 8);
            assert!(read(&rotten, ID).is_err(), "bit {bit}");
        }
        for len in 0..bytes.len() {
            assert!(read(&bytes[..len], ID).is_err(), "cut at {len}");
        }
    }

    #[test]
    fn a_newer_layout_is_named() {
        let mut bytes = written(b"value");
        bytes[4] = 2;
        assert_eq!(read(&bytes, ID), Err(NoSnapshot::Version(2)));
    }

    #[test]
    fn the_snapshot_of_another_value_is_refused() {
        let other = ShardId { number: 1, ..ID };
        assert!(matches!(read(&written(b""), other), Err(NoSnapshot::Corrupt(_))));
    }

    proptest! {
        #[test]
        fn foreign_bytes_are_refused(bytes: Vec<u8>) {
            prop_assert!(read(&bytes, ID).is_err());
        }
    }
}
