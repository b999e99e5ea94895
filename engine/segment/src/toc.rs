//! The frame of a segment file: what stands before and after its sections, and their list.
//!
//! Always true
//! 1. Sections start at multiples of 16, do not overlap, and each (field, kind) is there at most once.
//! 2. Sections lie in the order they were written; the list is sorted by field, then kind.
//! 3. Each page (4,096 bytes, counted from the start of the file) of what lies before the page
//!    table has its checksum in the table; table and list have theirs in the trailer.
//!
//! Layout (little-endian)
//!
//! | bytes         | what                                                      |
//! |---------------|-----------------------------------------------------------|
//! | 16            | `corelode segment`                                        |
//! | …             | sections, each padded with zeros to a multiple of 16      |
//! | 4 each page   | page table: checksum of each page before this point       |
//! | 0..=15        | zeros, to a multiple of 16                                |
//! | …             | the list of sections: an rkyv archive of [`Toc`]          |
//! | 40            | trailer, below                                            |
//! | 32            | footer (`footer`)                                         |
//!
//! The list is a vector of entries of 24 bytes, sorted by field, then kind; the last 8 bytes say
//! where it begins and how many there are (`bytes/archive`).
//!
//! | entry at | bytes | what                                       |
//! |----------|-------|--------------------------------------------|
//! | 0        | 8     | offset of the section in the file          |
//! | 8        | 8     | its length without padding                 |
//! | 16       | 4     | its field, 0 where it belongs to none      |
//! | 20       | 2     | its kind: the number in [`SectionKind`]    |
//! | 22       | 2     | 0                                          |
//!
//! | trailer at | bytes | what                            |
//! |------------|-------|---------------------------------|
//! | 0          | 8     | offset of the page table        |
//! | 8          | 8     | offset of the list              |
//! | 16         | 8     | length of the list              |
//! | 24         | 4     | checksum of the page table      |
//! | 28         | 4     | checksum of the list            |
//! | 32         | 4     | number of documents             |
//! | 36         | 4     | checksum of the trailer so far  |

use std::ops::Range;

use base::FieldNo;
use base::checksum::checksum;
use rkyv::{Archive, Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::footer::{self, u32_at, u64_at};

/// First bytes of a segment file.
pub const HEADER: [u8; 16] = *b"corelode segment";

/// Sections start at multiples of this, so that archives lie aligned in a map.
pub const ALIGNMENT: usize = 16;

/// The unit of checksums and of fetching.
pub const PAGE: usize = 4096;

/// Length of the trailer.
pub(crate) const TRAILER: usize = 40;

/// Number of sections at most: bounds what a hostile list can make us allocate.
const SECTIONS_MAX: usize = 1 << 20;

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $number:literal $(, $resident:ident)?;)*) => {
        /// What a section holds. The numbers are part of the format.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, std::cmp::Ord, Hash)]
        #[repr(u16)]
        pub enum SectionKind {
            $($(#[$doc])* $name = $number,)*
        }

        impl SectionKind {
            /// Every kind, by rising number.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The kind with this number.
            pub const fn from_number(number: u16) -> Option<Self> {
                match number {
                    $($number => Some(Self::$name),)*
                    _ => None,
                }
            }

            /// Whether a section of this kind is always in memory: readers ask for its bytes
            /// without naming them as needed first.
            pub const fn resident(self) -> bool {
                match self {
                    $(Self::$name => kinds!(@ $($resident)?),)*
                }
            }
        }
    };
    (@ resident) => { true };
    (@) => { false };
}

kinds! {
    /// Facts of the whole segment (`meta`).
    Meta = 1, resident;
    /// Ids in sorted blocks, with the document of each (`ids`).
    IdBlocks = 2;
    /// First ids of the blocks (`ids`).
    IdIndex = 3, resident;
    /// Filter that knows which ids are certainly absent (`ids`).
    IdFilter = 4, resident;
    /// Rank of each document's id (`ids`).
    IdRanks = 5;
    /// Documents that stand for themselves, where others are nested in them (`parents`).
    Parents = 6, resident;
    /// The order in which the documents stand, where their index is sorted (`order`).
    Order = 7, resident;
    /// Statistics and block index of a field's terms (`terms/index`).
    TermIndex = 16, resident;
    /// Blocks of terms (`terms/block`).
    TermBlocks = 17;
    /// Documents and frequencies of terms (`postings`).
    Postings = 18;
    /// Where blocks of postings end, and the best scores in them (`postings/skip`).
    Skips = 19, resident;
    /// Positions of terms in documents (`positions`).
    Positions = 20;
    /// Length of the field in each document, in one byte (`norms`).
    Norms = 21, resident;
    /// Description of a column of numbers.
    NumericHead = 32, resident;
    /// Values of a column of numbers.
    NumericBody = 33;
    /// Description of a column of ordinals.
    OrdinalHead = 34, resident;
    /// Values and terms of a column of ordinals.
    OrdinalBody = 35;
    /// Description of a column of byte strings.
    BinaryHead = 36, resident;
    /// Values of a column of byte strings.
    BinaryBody = 37;
    /// Description and inner nodes of a tree of points.
    PointsHead = 48, resident;
    /// Leaves of a tree of points.
    PointsBody = 49;
    /// Block index of the stored documents.
    StoredHead = 64, resident;
    /// Stored documents.
    StoredBody = 65;
}

/// The list of sections, as stored.
#[derive(Archive, Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct Toc {
    /// Sorted by field, then kind.
    pub sections: Vec<StoredEntry>,
}

/// One line of the list, as stored.
#[derive(Archive, Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct StoredEntry {
    /// Offset in the file.
    pub offset: u64,
    /// Length without padding.
    pub len: u64,
    /// Field, 0 where the section belongs to none.
    pub field: u32,
    /// Number of the kind.
    pub kind: u16,
}

/// One line of the list, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Field, 0 where the section belongs to none.
    pub field: FieldNo,
    /// Kind.
    pub kind: SectionKind,
    /// Offset in the file.
    pub offset: u64,
    /// Length without padding.
    pub len: u64,
}

impl Entry {
    /// By what the list is sorted.
    pub fn key(&self) -> (FieldNo, SectionKind) {
        (self.field, self.kind)
    }
}

/// A file's frame, read and checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Sorted by field, then kind.
    pub entries: Vec<Entry>,
    /// Where in the file the page table lies.
    pub table: Range<usize>,
    /// Number of documents.
    pub doc_count: u32,
}

/// Number of pages of `len` bytes.
pub const fn page_count(len: usize) -> usize {
    len.div_ceil(PAGE)
}

/// Appends zeros up to the next multiple of [`ALIGNMENT`].
pub(crate) fn pad(file: &mut Vec<u8>) {
    file.resize(file.len().next_multiple_of(ALIGNMENT), 0);
}

/// Appends table, list and trailer to `file`, which holds header and sections.
pub fn finish(file: &mut Vec<u8>, mut entries: Vec<Entry>, doc_count: u32) {
    pad(file);
    entries.sort_unstable_by_key(Entry::key);
    let table_at = file.len();
    let sums: Vec<u8> = file.chunks(PAGE).flat_map(|page| checksum(page).to_le_bytes()).collect();
    file.extend_from_slice(&sums);
    pad(file);
    let toc = Toc {
        sections: entries
            .iter()
            .map(|entry| StoredEntry {
                offset: entry.offset,
                len: entry.len,
                field: entry.field.get(),
                kind: entry.kind as u16,
            })
            .collect(),
    };
    let list = crate::bytes::archive::write(&toc);
    let list_at = file.len();
    file.extend_from_slice(&list);
    let start = file.len();
    file.extend_from_slice(&(table_at as u64).to_le_bytes());
    file.extend_from_slice(&(list_at as u64).to_le_bytes());
    file.extend_from_slice(&(list.len() as u64).to_le_bytes());
    file.extend_from_slice(&checksum(&sums).to_le_bytes());
    file.extend_from_slice(&checksum(&list).to_le_bytes());
    file.extend_from_slice(&doc_count.to_le_bytes());
    let own = checksum(&file[start..]);
    file.extend_from_slice(&own.to_le_bytes());
    assert_eq!(file.len(), start + TRAILER, "a trailer has a fixed length");
}

/// Reads the frame of `file`, whose footer was found right.
pub fn read(file: &[u8]) -> Result<Frame> {
    let end = file.len() - footer::LEN;
    if end < HEADER.len() + TRAILER || file[..HEADER.len()] != HEADER {
        return Err(Error::Footer { what: "header missing" });
    }
    let start = end - TRAILER;
    let trailer = &file[start..end];
    compare("trailer", start + 36, &trailer[..36], u32_at(trailer, 36))?;
    let table_at = usize::try_from(u64_at(trailer, 0)).unwrap_or(usize::MAX);
    let list_at = usize::try_from(u64_at(trailer, 8)).unwrap_or(usize::MAX);
    let list_len = usize::try_from(u64_at(trailer, 16)).unwrap_or(usize::MAX);
    let misplaced = Error::Footer { what: "list of sections misplaced" };
    if table_at > start || table_at < HEADER.len() || table_at % ALIGNMENT != 0 {
        return Err(misplaced);
    }
    let table = table_at..table_at + 4 * page_count(table_at);
    if table.end.next_multiple_of(ALIGNMENT) != list_at
        || list_at.checked_add(list_len) != Some(start)
    {
        return Err(misplaced);
    }
    compare("page table", table_at, &file[table.clone()], u32_at(trailer, 24))?;
    compare("list of sections", list_at, &file[list_at..start], u32_at(trailer, 28))?;
    let toc = crate::bytes::archive::Checked::<Toc>::copied(&file[list_at..start])
        .map_err(|_| Error::Footer { what: "list of sections unreadable" })?;
    let entries = entries(toc.get(), table_at)?;
    Ok(Frame { entries, table, doc_count: u32_at(trailer, 32) })
}

/// Where in a body of `len` bytes, which ends with this trailer, checksums of others of its bytes stand: the
/// page table, and those in the trailer. None where it is no trailer.
pub(crate) fn checksums(trailer: &[u8; TRAILER], len: u64) -> Vec<Range<u64>> {
    let start = len.saturating_sub(TRAILER as u64);
    let table_at = u64_at(trailer, 0);
    let table = 4 * table_at.div_ceil(PAGE as u64);
    if table_at > start || table_at + table > start {
        return Vec::new();
    }
    vec![table_at..table_at + table, start + 24..start + 32, start + 36..len]
}

/// Checks that the list keeps its promises: validation by rkyv knows none of them.
fn entries(toc: &ArchivedToc, end: usize) -> Result<Vec<Entry>> {
    if toc.sections.len() > SECTIONS_MAX {
        return Err(Error::Footer { what: "too many sections" });
    }
    let mut entries = Vec::with_capacity(toc.sections.len());
    let mut ranges = Vec::with_capacity(toc.sections.len());
    for stored in toc.sections.iter() {
        let (offset, len) = (stored.offset.to_native(), stored.len.to_native());
        let kind = SectionKind::from_number(stored.kind.to_native())
            .ok_or(Error::Footer { what: "section of an unknown kind" })?;
        let after = offset
            .checked_add(len)
            .filter(|after| *after <= end as u64 && offset % ALIGNMENT as u64 == 0)
            .filter(|_| offset >= HEADER.len() as u64)
            .ok_or(Error::Footer { what: "section outside of the file" })?;
        let entry = Entry { field: FieldNo(stored.field.to_native()), kind, offset, len };
        if entries.last().is_some_and(|last: &Entry| last.key() >= entry.key()) {
            return Err(Error::Footer { what: "list of sections out of order" });
        }
        entries.push(entry);
        ranges.push((offset, after));
    }
    ranges.sort_unstable();
    if ranges.windows(2).any(|pair| pair[0].1 > pair[1].0) {
        return Err(Error::Footer { what: "sections overlap" });
    }
    Ok(entries)
}

/// Compares the checksum of `bytes` with the one `expected`.
fn compare(what: &'static str, offset: usize, bytes: &[u8], expected: u32) -> Result<()> {
    let found = checksum(bytes);
    if found != expected {
        return Err(Error::Checksum { what, offset: offset as u64, expected, found });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::footer::FileKind;
    use base::SegmentId;

    fn entry(field: u32, kind: SectionKind, offset: u64, len: u64) -> Entry {
        Entry { field: FieldNo(field), kind, offset, len }
    }

    /// A file whose list says `entries`, all checksums right.
    fn file(entries: Vec<Entry>) -> Vec<u8> {
        let mut file = HEADER.to_vec();
        file.resize(5000, 1);
        finish(&mut file, entries, 9);
        footer::seal(&mut file, FileKind::Segment, SegmentId(1));
        file
    }

    #[test]
    fn frame_is_read_as_written() {
        let list = vec![
            entry(3, SectionKind::Postings, 32, 100),
            entry(0, SectionKind::Meta, 16, 16),
            entry(3, SectionKind::Norms, 144, 0),
        ];
        let frame = read(&file(list.clone())).expect("sound");
        assert_eq!(frame.entries, [list[1], list[0], list[2]], "by field, then kind");
        assert_eq!(frame.doc_count, 9);
        assert_eq!(frame.table, 5008..5016, "two pages");
    }

    #[test]
    fn an_entry_lies_as_the_head_says() {
        let file =
            file(vec![entry(3, SectionKind::Norms, 32, 100), entry(0, SectionKind::Meta, 16, 8)]);
        let trailer = file.len() - footer::LEN - TRAILER;
        let end = (u64_at(&file, trailer + 8) + u64_at(&file, trailer + 16)) as usize;
        assert_eq!(file[end - 8..end], [0xd0, 0xff, 0xff, 0xff, 2, 0, 0, 0], "48 bytes before it");
        let second = &file[end - 8 - 24..end - 8];
        assert_eq!((u64_at(second, 0), u64_at(second, 8), u32_at(second, 16)), (32, 100, 3));
        assert_eq!(second[20..], [SectionKind::Norms as u8, 0, 0, 0]);
    }

    #[test]
    fn list_that_breaks_its_promises_is_refused() {
        let norms = |offset, len| entry(3, SectionKind::Norms, offset, len);
        for (list, what) in [
            (vec![norms(0, 16)], "section outside of the file"),
            (vec![norms(24, 16)], "section outside of the file"),
            (vec![norms(16, 5000)], "section outside of the file"),
            (vec![norms(16, u64::MAX)], "section outside of the file"),
            (vec![norms(16, 16), norms(32, 16)], "list of sections out of order"),
            (vec![entry(0, SectionKind::Meta, 16, 17), norms(32, 16)], "sections overlap"),
        ] {
            assert_eq!(read(&file(list)), Err(Error::Footer { what }));
        }
    }

    #[test]
    fn numbers_of_kinds_are_those_of_the_format() {
        for kind in SectionKind::ALL {
            assert_eq!(SectionKind::from_number(*kind as u16), Some(*kind));
        }
        assert!(SectionKind::ALL.is_sorted());
        assert_eq!(SectionKind::from_number(0), None);
        assert_eq!(SectionKind::Postings as u16, 18);
    }
}
