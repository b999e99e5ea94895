//! What may be wrong with a segment's bytes, or with a wish to write one.
//!
//! Two faults of three: the disk gave other bytes than were written (`Footer`, `Version`,
//! `Checksum`, `Malformed`, `Live`, `Input`), and the caller asked for more than the format holds (`Limit`,
//! `Cancelled`). The third, a bug of ours, is an assertion.

use std::fmt;

use base::{FieldNo, SegmentId};

use crate::toc::SectionKind;

/// Answer of everything here that reads or writes a file's bytes.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a file or a part of it cannot be read, or not be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The file does not end as each file of ours ends, or it is another file than was asked for.
    Footer {
        /// What does not fit.
        what: &'static str,
    },
    /// The file has a format that this program does not read.
    Version {
        /// The version this program reads and writes.
        expected: u16,
        /// The version of the file.
        found: u16,
    },
    /// Bytes disagree with their checksum.
    Checksum {
        /// What the bytes are.
        what: &'static str,
        /// Where in the file they start.
        offset: u64,
        /// The checksum written beside them.
        expected: u32,
        /// The checksum they have.
        found: u32,
    },
    /// Bytes agree with their checksum, but do not make sense.
    Malformed {
        /// The kind of section they lie in.
        section: SectionKind,
        /// The field the section belongs to; 0 where it belongs to none.
        field: FieldNo,
        /// Where in the section, as near as known.
        offset: u64,
        /// What does not make sense.
        what: &'static str,
    },
    /// A value is larger than the format can hold.
    Limit {
        /// What is too large.
        what: &'static str,
        /// The largest that fits.
        limit: u64,
        /// How large it is.
        found: u64,
    },
    /// A file of live documents agrees with its checksum, but does not make sense.
    Live {
        /// What does not make sense.
        what: &'static str,
    },
    /// The caller asked a merge to end early.
    Cancelled,
    /// One of the segments that a merge reads cannot be read.
    Input {
        /// Which.
        segment: SegmentId,
        /// What is wrong with it.
        error: Box<Self>,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Footer { what } => write!(f, "not a whole segment file: {what}"),
            Self::Version { expected, found } => {
                write!(f, "format version {found} of the file is not {expected}")
            }
            Self::Checksum { what, offset, expected, found } => write!(
                f,
                "checksum of {what} at offset {offset} is {found:08x} and not {expected:08x}"
            ),
            Self::Malformed { section, field, offset, what } => write!(
                f,
                "section {section:?} of field {field} is malformed at offset {offset}: {what}"
            ),
            Self::Limit { what, limit, found } => {
                write!(f, "{what} is {found}, above the limit of {limit}")
            }
            Self::Live { what } => write!(f, "file of live documents: {what}"),
            Self::Cancelled => f.write_str("cancelled"),
            Self::Input { segment, error } => write!(f, "segment {}: {error}", segment.get()),
        }
    }
}

impl std::error::Error for Error {}
