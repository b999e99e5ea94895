//! A range of a file, read page by page: the one door to a segment's bytes.
//!
//! A file is resident (in memory, mapped or owned) or fetched. A reader first names what it is
//! going to read ([`Section::need`]), the host brings what is missing, and then the reader
//! asks for the bytes ([`Section::bytes`]), which neither waits nor touches a cold page.
//!
//! Always true
//! 1. No byte is handed out before its page was compared with its checksum; each page is
//!    compared once (a bit remembers), unless two cores do so at the same moment.
//! 2. Bytes of a fetched file are asked for only after `need` said that none of them is missing.
//!    Sections of a resident kind are exempt.
//! 3. No offset read from the file is used before it was compared with the section's end.
//! 4. What a cursor finds damaged in its inner loop it records once and for all ([`File::fail`]);
//!    the cursor then ends. So a host asks [`File::fault`] after a step, before it believes the
//!    step's results.
//!
//! Absent: fetching. Today every file is resident, except in tests, where [`File::missing_once`]
//! makes each page miss once and punishes the reader that forgot to name it. A fetching file can
//! keep this contract by reading pages into memory that is reserved for the whole length.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use base::checksum::checksum;
use base::planted::{Fault, planted};
use base::{FieldNo, SegmentId};
use env::Bytes;

use crate::bytes::archive::{Checked, Root};
use crate::error::{Error, Result};
use crate::footer::{self, FileKind, u32_at};
use crate::toc::{self, Entry, Frame, PAGE, SectionKind};

/// How much of a file is read when it is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// Footer, list of sections and structure; pages at their first read.
    Lazy,
    /// Every byte, as after a copy from elsewhere.
    Full,
}

/// An open segment file.
#[derive(Debug)]
pub struct File {
    bytes: Bytes,
    frame: Frame,
    id: SegmentId,
    /// A bit for each page that agreed with its checksum.
    verified: Box<[AtomicU64]>,
    /// A bit for each page that was fetched; absent for a resident file.
    fetched: Option<Box<[AtomicU64]>>,
    fault: OnceLock<Error>,
}

impl File {
    /// Opens a file that is in memory.
    pub fn open(bytes: Bytes, check: Check) -> Result<Self> {
        let footer = footer::open(&bytes, FileKind::Segment)?;
        if check == Check::Full {
            footer::check_body(&bytes, &footer)?;
        }
        let frame = toc::read(&bytes)?;
        let words = toc::page_count(frame.table.start).div_ceil(64);
        let mark = if check == Check::Full { u64::MAX } else { 0 };
        let verified = (0..words).map(|_| AtomicU64::new(mark)).collect();
        let file =
            Self { bytes, frame, id: footer.id, verified, fetched: None, fault: OnceLock::new() };
        if check == Check::Full {
            for page in 0..toc::page_count(file.frame.table.start) {
                file.verify(page)?;
            }
        }
        Ok(file)
    }

    /// Opens a file each of whose pages misses once: for tests of readers. Reading a page that
    /// was not named and fetched before is an assertion.
    pub fn missing_once(bytes: Bytes) -> Result<Self> {
        let mut file = Self::open(bytes, Check::Lazy)?;
        file.fetched = Some(file.verified.iter().map(|_| AtomicU64::new(0)).collect());
        Ok(file)
    }

    /// The segment the file belongs to.
    pub fn id(&self) -> SegmentId {
        self.id
    }

    /// Number of documents.
    pub fn doc_count(&self) -> u32 {
        self.frame.doc_count
    }

    /// Length of the file.
    pub fn len_bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// The whole file: for copies, and for writing out what was sealed in memory.
    pub fn whole(&self) -> &Bytes {
        &self.bytes
    }

    /// The list of sections, by field, then kind.
    pub fn entries(&self) -> &[Entry] {
        &self.frame.entries
    }

    /// The section of `kind` of `field`.
    pub fn section(self: &Arc<Self>, kind: SectionKind, field: FieldNo) -> Option<Section> {
        let at = self.frame.entries.binary_search_by_key(&(field, kind), Entry::key).ok()?;
        let entry = self.frame.entries[at];
        Some(Section { file: Arc::clone(self), entry })
    }

    /// Whether every page is there, so that nothing need be named before it is read.
    #[inline]
    pub fn is_resident(&self) -> bool {
        self.fetched.is_none()
    }

    /// Records damage; the first stays.
    pub fn fail(&self, error: Error) {
        // A second fault of the same file adds nothing: the file is given up at the first.
        let _ = self.fault.set(error);
    }

    /// The first damage that any reader met.
    pub fn fault(&self) -> Option<&Error> {
        self.fault.get()
    }

    /// Number of pages that have checksums.
    pub fn page_count(&self) -> usize {
        toc::page_count(self.frame.table.start)
    }

    /// Compares one page with its checksum.
    pub fn verify_page(&self, page: usize) -> Result<()> {
        assert!(page < self.page_count(), "a page of the file");
        self.verify(page)
    }

    /// Compares a page with its checksum.
    #[cold]
    fn verify(&self, page: usize) -> Result<()> {
        let start = page * PAGE;
        let end = (start + PAGE).min(self.frame.table.start);
        let found = checksum(&self.bytes[start..end]);
        let expected = u32_at(&self.bytes, self.frame.table.start + page * 4);
        if found != expected && !planted(Fault::SkipSegmentChecksum) {
            let error = Error::Checksum { what: "page", offset: start as u64, expected, found };
            self.fail(error.clone());
            return Err(error);
        }
        // Relaxed: the bit guards bytes that never change, so it orders nothing.
        self.verified[page / 64].fetch_or(1 << (page % 64), Ordering::Relaxed);
        Ok(())
    }

    /// Compares the pages of a range that is inside the file.
    #[inline]
    fn ensure(&self, at: &Range<usize>) -> Result<()> {
        if at.is_empty() {
            return Ok(());
        }
        for page in at.start / PAGE..=(at.end - 1) / PAGE {
            if !has(&self.verified, page) {
                self.verify(page)?;
            }
        }
        Ok(())
    }
}

/// Whether bit `page` is set.
#[inline]
fn has(bits: &[AtomicU64], page: usize) -> bool {
    bits[page / 64].load(Ordering::Relaxed) >> (page % 64) & 1 == 1
}

/// One section of an open file. Cloning copies no byte; any thread may read.
#[derive(Clone, Debug)]
pub struct Section {
    file: Arc<File>,
    entry: Entry,
}

impl Section {
    /// Length in bytes.
    #[inline]
    pub fn len(&self) -> u64 {
        self.entry.len
    }

    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.entry.len == 0
    }

    /// What it holds, whose, and where.
    pub fn entry(&self) -> &Entry {
        &self.entry
    }

    /// The file it lies in.
    pub fn file(&self) -> &Arc<File> {
        &self.file
    }

    /// Names the pages of `range` that are not there yet. Those that are there are compared with
    /// their checksums, so that the coming read cannot fail.
    pub fn need(&self, range: Range<u64>, missing: &mut Missing) -> Result<()> {
        let at = self.locate(range)?;
        if let Some(fetched) = self.fetched()
            && !at.is_empty()
        {
            let mut absent = false;
            for page in at.start / PAGE..=(at.end - 1) / PAGE {
                if !has(fetched, page) {
                    missing.add(&self.file, page);
                    absent = true;
                }
            }
            if absent {
                return Ok(());
            }
        }
        self.file.ensure(&at)
    }

    /// The bytes of `range`, which must be ready. An error where the range passes the end, or a
    /// page disagrees with its checksum.
    #[inline]
    pub fn bytes(&self, range: Range<u64>) -> Result<&[u8]> {
        let at = self.locate(range)?;
        if let Some(fetched) = self.fetched()
            && !at.is_empty()
        {
            for page in at.start / PAGE..=(at.end - 1) / PAGE {
                assert!(has(fetched, page), "page {page} of {:?} read before need", self.entry);
            }
        }
        self.file.ensure(&at)?;
        Ok(&self.file.bytes[at])
    }

    /// All bytes.
    pub fn all(&self) -> Result<&[u8]> {
        self.bytes(0..self.entry.len)
    }

    /// All bytes, shared: for heads that a reader keeps.
    pub fn shared(&self) -> Result<Bytes> {
        self.shared_range(0..self.entry.len)
    }

    /// The bytes of `range`, shared.
    pub fn shared_range(&self, range: Range<u64>) -> Result<Bytes> {
        self.bytes(range.clone())?;
        let at = self.locate(range)?;
        Ok(self.file.bytes.slice(at).expect("located inside of the file"))
    }

    /// The archive that is the whole section.
    pub fn archive<T: Root>(&self) -> Result<Checked<T>>
    where
        T::Archived: rkyv::Portable
            + for<'a> rkyv::bytecheck::CheckBytes<
                rkyv::api::high::HighValidator<'a, rkyv::rancor::Failure>,
            >,
    {
        Checked::shared(self.shared()?).map_err(|_| self.malformed(0, "not an archive"))
    }

    /// The error for bytes at `offset` that make no sense.
    #[cold]
    pub fn malformed(&self, offset: u64, what: &'static str) -> Error {
        Error::Malformed { section: self.entry.kind, field: self.entry.field, offset, what }
    }

    /// Records damage that an inner loop met; see [`File::fault`].
    #[cold]
    pub fn fail(&self, error: Error) {
        self.file.fail(error);
    }

    /// The pages that must be fetched before they are read; none for a resident kind.
    #[inline]
    fn fetched(&self) -> Option<&[AtomicU64]> {
        match &self.file.fetched {
            Some(fetched) if !self.entry.kind.resident() => Some(fetched),
            _ => None,
        }
    }

    /// Where in the file `range` lies.
    #[inline]
    fn locate(&self, range: Range<u64>) -> Result<Range<usize>> {
        if range.start > range.end || range.end > self.entry.len {
            return Err(self.malformed(range.start, "range outside of the section"));
        }
        let start = self.entry.offset + range.start;
        // Inside of the file, whose length is a `usize`: the list of sections was checked.
        Ok(start as usize..(self.entry.offset + range.end) as usize)
    }
}

/// Pages that readers named and that are not there yet.
#[derive(Debug, Default)]
pub struct Missing {
    pages: Vec<(Arc<File>, usize)>,
}

impl Missing {
    /// None.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether everything named is there.
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// Number of pages missing.
    pub fn len(&self) -> usize {
        self.pages.len()
    }

    /// Brings the pages and forgets them. A fetching host does this by reading; today only the
    /// files of tests have missing pages, and theirs arrive by being asked for.
    pub fn fetch(&mut self) {
        for (file, page) in self.pages.drain(..) {
            if let Some(fetched) = &file.fetched {
                fetched[page / 64].fetch_or(1 << (page % 64), Ordering::Relaxed);
            }
        }
    }

    fn add(&mut self, file: &Arc<File>, page: usize) {
        let known =
            self.pages.iter().rev().any(|(other, at)| *at == page && Arc::ptr_eq(other, file));
        if !known {
            self.pages.push((Arc::clone(file), page));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::writer::SegmentWriter;

    const FIELD: FieldNo = FieldNo(16);

    /// A file with a bulk section of 20,000 bytes behind a resident one of 100.
    fn written() -> Vec<u8> {
        let mut writer = SegmentWriter::new(SegmentId(5), 1);
        writer.put(SectionKind::Norms, FIELD, &[7; 100]);
        let bulk: Vec<u8> = (0..20_000u32).map(|at| at as u8).collect();
        writer.put(SectionKind::Postings, FIELD, &bulk);
        writer.seal().expect("in memory")
    }

    fn section(file: File, kind: SectionKind) -> Section {
        Arc::new(file).section(kind, FIELD).expect("written")
    }

    #[test]
    fn what_was_named_and_fetched_is_read() {
        let file = File::missing_once(Bytes::from(written())).expect("just sealed");
        let bulk = section(file, SectionKind::Postings);
        let mut missing = Missing::new();
        bulk.need(5000..9000, &mut missing).expect("inside");
        bulk.need(6000..7000, &mut missing).expect("inside");
        assert_eq!(missing.len(), 2, "pages 1 and 2, each named once");
        missing.fetch();
        bulk.need(5000..9000, &mut missing).expect("inside");
        assert!(missing.is_empty());
        assert_eq!(bulk.bytes(5000..5003), Ok(&[136, 137, 138][..]));
        assert_eq!(bulk.bytes(20_000..20_000), Ok(&[][..]), "nothing is always there");
    }

    #[test]
    #[should_panic(expected = "read before need")]
    fn reader_that_names_too_little_is_punished() {
        let file = File::missing_once(Bytes::from(written())).expect("just sealed");
        let bulk = section(file, SectionKind::Postings);
        let mut missing = Missing::new();
        bulk.need(0..100, &mut missing).expect("inside");
        missing.fetch();
        let _ = bulk.bytes(0..10_000);
    }

    #[test]
    fn resident_kinds_are_there_unasked() {
        let file = File::missing_once(Bytes::from(written())).expect("just sealed");
        assert_eq!(section(file, SectionKind::Norms).all(), Ok(&[7; 100][..]));
    }

    #[test]
    fn ranges_outside_are_refused() {
        let file = File::open(Bytes::from(written()), Check::Lazy).expect("just sealed");
        let bulk = section(file, SectionKind::Postings);
        for range in [0..20_001, 20_001..20_001, 0..u64::MAX, Range { start: 2, end: 1 }] {
            assert!(bulk.bytes(range.clone()).is_err());
            assert!(bulk.need(range, &mut Missing::new()).is_err());
        }
    }

    #[test]
    fn rot_is_met_at_the_first_read_of_its_page_and_stays_known() {
        let mut bytes = written();
        bytes[3 * PAGE + 1] ^= 8;
        let file = File::open(Bytes::from(bytes), Check::Lazy).expect("lazy");
        let bulk = section(file, SectionKind::Postings);
        assert!(bulk.bytes(0..8000).is_ok());
        assert_eq!(bulk.file().fault(), None);
        let error = bulk.bytes(2 * PAGE as u64..4 * PAGE as u64).expect_err("rotten");
        assert!(matches!(error, Error::Checksum { what: "page", offset: 12_288, .. }));
        assert_eq!(bulk.file().fault(), Some(&error));
        assert_eq!(bulk.need(13_000..13_001, &mut Missing::new()), Err(error));
        assert!(bulk.bytes(0..8000).is_ok(), "other pages stay readable");
    }

    #[test]
    fn full_check_sees_rot_at_once() {
        for at in [0, 20, 3 * PAGE, 20_200, 20_320] {
            let mut bytes = written();
            bytes[at] ^= 8;
            assert!(File::open(Bytes::from(bytes), Check::Full).is_err(), "byte {at}");
        }
    }
}
