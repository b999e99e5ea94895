//! The end of every file: 32 bytes that say what the file is and what its body's checksum is.
//!
//! Always true
//! 1. The footer is the last thing of a file, and the file is exactly as long as it says.
//! 2. Its own checksum is tested before anything else in it is believed.
//!
//! Layout (little-endian)
//!
//! | at | bytes | what                                            |
//! |----|-------|-------------------------------------------------|
//! | 0  | 4     | magic `CLod`                                    |
//! | 4  | 2     | format version                                  |
//! | 6  | 2     | file kind: 1 segment, 2 live documents          |
//! | 8  | 8     | length of the file in bytes, footer included    |
//! | 16 | 8     | file id: the number of the segment it belongs to |
//! | 24 | 4     | checksum of the body: see below                 |
//! | 28 | 4     | checksum of the 28 bytes before this            |
//!
//! The body's checksum is that of all bytes before the footer but, in a segment, the checksums among
//! them: a CRC-32 over bytes with their own CRC-32 behind them is the same whatever the bytes are. In
//! segments of version 1 it was, so one small file passed for another of its length.
//!
//! Not here: testing the body's checksum at open. It is there for copies, merges and the
//! background check; what a query reads is guarded page by page (`section`).

use std::ops::Range;

use base::SegmentId;
use base::checksum::{Checksum, checksum};
use base::planted::{Fault, planted};

use crate::error::{Error, Result};
use crate::toc;

/// The newest format of segments: those with a column whose blocks of terms have short keys. Each is written in the oldest
/// version that tells what is in it, so that what knows no more reads it, and refuses others by their version. Those of
/// version 1 are read as well: only the body's checksum was another one.
pub const SEGMENT_VERSION: u16 = 4;

/// Format of the segments without such keys, whose stored documents have a dictionary.
pub const DICTIONARY_SEGMENT_VERSION: u16 = 3;

/// Format of the segments with neither.
pub const PLAIN_SEGMENT_VERSION: u16 = 2;

/// Format of the files of live documents.
pub const LIVE_VERSION: u16 = 1;

/// Length of a footer.
pub const LEN: usize = 32;

const MAGIC: [u8; 4] = *b"CLod";

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum FileKind {
    /// An immutable segment.
    Segment = 1,
    /// Which documents of a segment are alive.
    Live = 2,
}

impl FileKind {
    /// The newest version.
    const fn version(self) -> u16 {
        match self {
            Self::Segment => SEGMENT_VERSION,
            Self::Live => LIVE_VERSION,
        }
    }
}

/// What a footer says, after its own checksum was found right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footer {
    /// What the file holds.
    pub kind: FileKind,
    /// Of which format it is.
    pub version: u16,
    /// The segment the file belongs to.
    pub id: SegmentId,
    /// Checksum of the body.
    pub body_checksum: u32,
}

/// The checksum of a body, by the rule of its kind and version, piece by piece.
#[derive(Clone, Debug)]
pub struct BodySum {
    sum: Checksum,
    /// What was fed so far.
    at: u64,
    /// Where bytes stand that are not summed, from the last on.
    others: Vec<Range<u64>>,
}

/// How much of the end of a body [`BodySum::new`] wants to see.
pub const TAIL: usize = toc::TRAILER;

impl BodySum {
    /// Of a body of `len` bytes that ends with `tail`: [`TAIL`] bytes, or all where it has less.
    pub fn new(kind: FileKind, version: u16, len: u64, tail: &[u8]) -> Self {
        let mut others = match (kind, tail.last_chunk()) {
            (FileKind::Segment, Some(trailer)) if version > 1 && !planted(Fault::BlindChecksum) => {
                toc::checksums(trailer, len)
            }
            _ => Vec::new(),
        };
        others.reverse();
        Self { sum: Checksum::new(), at: 0, others }
    }

    /// Feeds the next bytes.
    pub fn update(&mut self, mut bytes: &[u8]) {
        while let Some(other) = self.others.last().cloned() {
            let before = other.start.saturating_sub(self.at).min(bytes.len() as u64) as usize;
            self.sum.update(&bytes[..before]);
            self.at += before as u64;
            bytes = &bytes[before..];
            let within = other.end.saturating_sub(self.at).min(bytes.len() as u64) as usize;
            self.at += within as u64;
            bytes = &bytes[within..];
            if self.at < other.end {
                return;
            }
            self.others.pop();
        }
        self.sum.update(bytes);
        self.at += bytes.len() as u64;
    }

    /// The checksum of all that was fed.
    pub fn finish(self) -> u32 {
        self.sum.finish()
    }
}

fn body_checksum(body: &[u8], kind: FileKind, version: u16) -> u32 {
    let mut sum = BodySum::new(kind, version, body.len() as u64, body);
    sum.update(body);
    sum.finish()
}

/// Ends the file whose body is `file`.
pub fn seal(file: &mut Vec<u8>, kind: FileKind, id: SegmentId) {
    let version = match kind {
        FileKind::Segment => PLAIN_SEGMENT_VERSION,
        FileKind::Live => LIVE_VERSION,
    };
    seal_as(file, kind, version, id);
}

/// Ends the file of a segment of this version.
pub fn seal_segment(file: &mut Vec<u8>, version: u16, id: SegmentId) {
    seal_as(file, FileKind::Segment, version, id);
}

fn seal_as(file: &mut Vec<u8>, kind: FileKind, version: u16, id: SegmentId) {
    let body_checksum = body_checksum(file, kind, version);
    let start = file.len();
    file.extend_from_slice(&MAGIC);
    file.extend_from_slice(&version.to_le_bytes());
    file.extend_from_slice(&(kind as u16).to_le_bytes());
    file.extend_from_slice(&((start + LEN) as u64).to_le_bytes());
    file.extend_from_slice(&id.get().to_le_bytes());
    file.extend_from_slice(&body_checksum.to_le_bytes());
    let own = checksum(&file[start..]);
    file.extend_from_slice(&own.to_le_bytes());
    assert_eq!(file.len(), start + LEN, "a footer has a fixed length");
}

/// Reads the footer of a whole file of `kind`.
pub fn open(file: &[u8], kind: FileKind) -> Result<Footer> {
    let Some((_, footer)) = file.split_last_chunk::<LEN>() else {
        return Err(Error::Footer { what: "shorter than a footer" });
    };
    open_end(footer, file.len() as u64, kind)
}

/// Reads the last [`LEN`] bytes of a file of `kind` that has `len` bytes.
pub fn open_end(footer: &[u8; LEN], len: u64, kind: FileKind) -> Result<Footer> {
    if footer[..4] != MAGIC {
        return Err(Error::Footer { what: "magic missing" });
    }
    let found = checksum(&footer[..28]);
    let expected = u32_at(footer, 28);
    if found != expected {
        let offset = len.saturating_sub(LEN as u64);
        return Err(Error::Checksum { what: "footer", offset, expected, found });
    }
    let version = u16::from_le_bytes([footer[4], footer[5]]);
    if version == 0 || version > kind.version() {
        return Err(Error::Version { expected: kind.version(), found: version });
    }
    if u16::from_le_bytes([footer[6], footer[7]]) != kind as u16 {
        return Err(Error::Footer { what: "another kind of file" });
    }
    if u64_at(footer, 8) != len {
        return Err(Error::Footer { what: "length differs from the file's" });
    }
    let (id, body_checksum) = (SegmentId(u64_at(footer, 16)), u32_at(footer, 24));
    Ok(Footer { kind, version, id, body_checksum })
}

/// Tests the whole body against the footer's checksum.
pub fn check_body(file: &[u8], footer: &Footer) -> Result<()> {
    let found = body_checksum(&file[..file.len() - LEN], footer.kind, footer.version);
    let expected = footer.body_checksum;
    if found != expected && !planted(Fault::SkipSegmentChecksum) {
        return Err(Error::Checksum { what: "body", offset: 0, expected, found });
    }
    Ok(())
}

/// The four bytes at `at`, which the caller knows to be there.
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(*bytes[at..].first_chunk().expect("callers pass a checked offset"))
}

/// The eight bytes at `at`, which the caller knows to be there.
pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(*bytes[at..].first_chunk().expect("callers pass a checked offset"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sealed() -> Vec<u8> {
        let mut file = b"body".to_vec();
        seal(&mut file, FileKind::Live, SegmentId(7));
        file
    }

    #[test]
    fn sealed_file_opens() {
        let file = sealed();
        let footer = open(&file, FileKind::Live).expect("just sealed");
        assert_eq!(footer.id, SegmentId(7));
        check_body(&file, &footer).expect("body is untouched");
    }

    #[test]
    fn pieces_of_any_length_give_the_checksum_of_the_body() {
        let mut writer = crate::SegmentWriter::new(SegmentId(7), 3);
        writer.stored([b"one".as_slice(), b"two", &[7; 9000]]).expect("short sources");
        let file = writer.seal().expect("sealed in memory");
        let footer = open(&file, FileKind::Segment).expect("just sealed");
        let body = &file[..file.len() - LEN];
        for len in [1, 7, 39, 40, 4096, body.len()] {
            let tail = &body[body.len() - TAIL..];
            let mut sum = BodySum::new(footer.kind, footer.version, body.len() as u64, tail);
            body.chunks(len).for_each(|piece| sum.update(piece));
            assert_eq!(sum.finish(), footer.body_checksum, "pieces of {len}");
        }
    }

    #[test]
    fn each_flipped_bit_is_noticed() {
        let file = sealed();
        for bit in 0..file.len() * 8 {
            let mut bad = file.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            let found = open(&bad, FileKind::Live).and_then(|footer| check_body(&bad, &footer));
            assert!(found.is_err(), "bit {bit}");
        }
    }

    #[test]
    fn shorter_file_or_other_kind_is_refused() {
        let file = sealed();
        for len in 0..file.len() {
            assert!(open(&file[..len], FileKind::Live).is_err());
        }
        assert_eq!(
            open(&file, FileKind::Segment),
            Err(Error::Footer { what: "another kind of file" })
        );
    }

    #[test]
    fn newer_version_names_both() {
        let mut file = sealed();
        let at = file.len() - LEN;
        file[at + 4] = 9;
        let own = checksum(&file[at..at + 28]);
        file[at + 28..].copy_from_slice(&own.to_le_bytes());
        assert_eq!(
            open(&file, FileKind::Live),
            Err(Error::Version { expected: LIVE_VERSION, found: 9 })
        );
    }
}
