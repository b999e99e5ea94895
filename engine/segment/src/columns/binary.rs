//! A column of byte strings: one at most for each document, written and open.
//!
//! For what is neither a number nor a term worth ordering: shapes, sketches, vectors' originals.
//!
//! Always true
//! 1. A window's strings lie behind one another, in document order, and may be one zstd frame.
//! 2. The bounds of a zone are the lengths of the window's shortest and longest string.
//! 3. A compressed window has at most [`TEXT_BYTES_MAX`] bytes of strings; a larger one lies open.
//!
//! Layout: the head is the zones (`zone`), the body the windows (little-endian)
//!
//! | bytes      | what                                                                  |
//! |------------|-----------------------------------------------------------------------|
//! | `presence` | the documents that have a string                                      |
//! | 1, packed  | a width, and for each such document the number of bytes up to its end |
//! | 4          | length of all strings where they are compressed, else 0               |
//! | …          | the strings                                                           |

use std::sync::Arc;

use base::{DocId, FieldNo};
use env::breath::breathe;

use super::presence::{self, Presence};
use super::zone::{Zone, Zones, ZonesWriter};
use super::{WINDOW, WindowWords, place};
use crate::bytes::packed::{self, Packed};
use crate::bytes::zblock::{Compressor, Decompressor};
use crate::error::{Error, Result};
use crate::footer::u32_at;
use crate::reader::Segment;
use crate::section::{File, Missing, Section};
use crate::toc::SectionKind;
use crate::writer::{SegmentWriter, TermBlocks};

/// Bytes of the strings of a compressed window at most: what a damaged length can make us allocate.
pub const TEXT_BYTES_MAX: usize = 1 << 28;

impl SegmentWriter {
    /// A column of byte strings: `docs` rise by document.
    ///
    /// # Panics
    ///
    /// Where they do not, or a document is none of the segment's.
    pub fn binary<'a>(
        &mut self,
        field: FieldNo,
        docs: impl IntoIterator<Item = (DocId, &'a [u8])>,
    ) {
        let mut docs = docs.into_iter().peekable();
        if docs.peek().is_none() {
            return;
        }
        let (doc_count, blocks) = (self.doc_count(), self.term_blocks);
        let head = self.put_with(SectionKind::BinaryBody, field, |file| {
            let mut writer = BinaryWriter::new(doc_count, blocks, file.len());
            docs.for_each(|(doc, bytes)| writer.push(doc, bytes, file));
            writer.finish(file)
        });
        self.put(SectionKind::BinaryHead, field, &head.expect("there is a string"));
    }
}

/// Takes strings and appends windows.
pub(super) struct BinaryWriter {
    doc_count: u32,
    /// Length of the file before the body.
    start: usize,
    compressor: Option<Compressor>,
    zones: ZonesWriter,
    places: Vec<u16>,
    ends: Vec<u64>,
    text: Vec<u8>,
    any: bool,
    /// [`TEXT_BYTES_MAX`], but in a test.
    pub(super) compressed_max: usize,
}

impl BinaryWriter {
    /// A column of a segment of `doc_count` documents, whose body starts at `start` of the file.
    pub(super) fn new(doc_count: u32, blocks: TermBlocks, start: usize) -> Self {
        Self {
            doc_count,
            start,
            compressor: (blocks == TermBlocks::Zstd).then(|| Compressor::new(1)),
            zones: ZonesWriter::default(),
            places: Vec::new(),
            ends: Vec::new(),
            text: Vec::new(),
            any: false,
            compressed_max: TEXT_BYTES_MAX,
        }
    }

    /// Adds the string of a document.
    pub(super) fn push(&mut self, doc: DocId, bytes: &[u8], file: &mut Vec<u8>) {
        assert!(doc.get() < self.doc_count, "a document of the segment");
        let (window, place) = place(doc);
        assert!(window >= self.zones.window_count(), "documents rise");
        while self.zones.window_count() < window {
            self.end_window(file);
        }
        let rises = self.places.last().is_none_or(|&last| u32::from(last) < place);
        assert!(rises, "documents rise");
        self.places.push(place as u16);
        self.text.extend_from_slice(bytes);
        self.ends.push(self.text.len() as u64);
        self.any = true;
    }

    /// Appends the open window.
    fn end_window(&mut self, file: &mut Vec<u8>) {
        breathe();
        let zone = if self.places.is_empty() { Zone::default() } else { self.write_window(file) };
        self.zones.push(zone, (file.len() - self.start) as u64);
        self.places.clear();
        self.ends.clear();
        self.text.clear();
    }

    /// Appends a window that has strings.
    fn write_window(&mut self, body: &mut Vec<u8>) -> Zone {
        let span = WINDOW.min(self.doc_count - self.zones.window_count() * WINDOW);
        presence::write(&self.places, span, body);
        let bits = packed::width(self.text.len() as u64);
        body.push(bits);
        packed::write(&self.ends, bits, body);
        let at = body.len();
        body.extend_from_slice(&[0; 4]);
        let is_small = self.text.len() <= self.compressed_max;
        if let Some(compressor) = self.compressor.as_mut().filter(|_| is_small) {
            compressor.compress(&self.text, body);
            // Less than an eighth saved is not worth decompressing for.
            if (body.len() - at - 4) * 8 <= self.text.len() * 7 {
                let len = self.text.len() as u32;
                body[at..at + 4].copy_from_slice(&len.to_le_bytes());
            } else {
                body.truncate(at + 4);
            }
        }
        if body.len() == at + 4 {
            body.extend_from_slice(&self.text);
        }
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let lens = self.ends.iter().zip(starts).map(|(end, start)| (end - start) as i64);
        let (min, max) = lens.fold((i64::MAX, 0), |(min, max), len| (min.min(len), max.max(len)));
        let doc_count = self.places.len() as u32;
        Zone { min, max, doc_count, value_count: doc_count }
    }

    /// Ends the column, and gives its head; `None` where no document has a string.
    pub(super) fn finish(mut self, file: &mut Vec<u8>) -> Option<Vec<u8>> {
        if !self.any {
            return None;
        }
        while self.zones.window_count() < self.doc_count.div_ceil(WINDOW) {
            self.end_window(file);
        }
        Some(self.zones.finish())
    }
}

/// A column of byte strings. Clones are one counter.
#[derive(Clone, Debug)]
pub struct Binary(Arc<Open>);

#[derive(Debug)]
struct Open {
    zones: Zones,
    body: Section,
    doc_count: u32,
}

impl Segment {
    /// The column of byte strings of a field; `None` where no document has one.
    pub fn binary(&self, field: FieldNo) -> Option<&Binary> {
        self.field(field)?.binary()
    }
}

impl Binary {
    /// Opens the column of `field`, if the file has one.
    pub(crate) fn open(file: &Arc<File>, field: FieldNo) -> Result<Option<Self>> {
        let Some(head) = file.section(SectionKind::BinaryHead, field) else { return Ok(None) };
        let body = file
            .section(SectionKind::BinaryBody, field)
            .ok_or_else(|| head.malformed(0, "a column has a head and a body"))?;
        let doc_count = file.doc_count();
        let (zones, rest) = Zones::open(head.all()?, 0..body.len(), doc_count)
            .map_err(|what| head.malformed(0, what))?;
        let single = zones.value_count() == u64::from(zones.doc_count());
        if !rest.is_empty() || !single || zones.doc_count() == 0 {
            return Err(head.malformed(0, "a column of strings has one for each of some documents"));
        }
        Ok(Some(Self(Arc::new(Open { zones, body, doc_count }))))
    }

    /// Number of documents with a string, deleted ones included.
    pub fn doc_count(&self) -> u32 {
        self.0.zones.doc_count()
    }

    /// What is known of a window without reading it: its bounds are lengths.
    pub fn zone(&self, window: u32) -> Zone {
        self.0.zones.get(window)
    }

    /// Names the bytes of a window that are not there.
    pub fn need(&self, window: u32, missing: &mut Missing) -> Result<()> {
        if self.zone(window).is_empty() {
            return Ok(());
        }
        self.0.body.need(self.0.zones.range(window), missing)
    }

    /// Reads strings. Keep it: it remembers the window it stands in.
    pub fn reader(&self) -> BinaryReader {
        BinaryReader { column: self.clone(), decompressor: None, window: None, text: Vec::new() }
    }

    /// Sets the bits of the documents of a window that have a string; other bits stay.
    pub fn presence(&self, window: u32, bits: &mut WindowWords) -> Result<()> {
        if let Some(block) = self.block(window)? {
            block.presence.fill(bits);
        }
        Ok(())
    }

    /// A window that has strings.
    fn block(&self, window: u32) -> Result<Option<Block<'_>>> {
        let zone = self.zone(window);
        if zone.is_empty() {
            return Ok(None);
        }
        let range = self.0.zones.range(window);
        let bytes = self.0.body.bytes(range.clone())?;
        let span = WINDOW.min(self.0.doc_count - window * WINDOW);
        let block = Block::parse(bytes, &zone, span);
        block.map(Some).ok_or_else(|| self.malformed(window, "a window of strings is cut short"))
    }

    /// Number of windows of the segment.
    pub(super) fn window_count(&self) -> u32 {
        self.0.zones.all().len() as u32
    }

    /// Length of a window in bytes.
    pub(super) fn window_bytes(&self, window: u32) -> u64 {
        let range = self.0.zones.range(window);
        range.end - range.start
    }

    /// The error of a window that makes no sense.
    fn malformed(&self, window: u32, what: &'static str) -> Error {
        self.0.body.malformed(self.0.zones.range(window).start, what)
    }

    /// Reads and checks every window, and gives what is wrong to `damage`.
    pub(crate) fn verify(&self, damage: &mut dyn FnMut(Error)) {
        let mut reader = self.reader();
        for window in 0..self.window_count() {
            if let Err(error) = self.verify_window(window, &mut reader) {
                damage(error);
            }
        }
    }

    /// Checks one window.
    fn verify_window(&self, window: u32, reader: &mut BinaryReader) -> Result<()> {
        let Some(block) = self.block(window)? else { return Ok(()) };
        let span = WINDOW.min(self.0.doc_count - window * WINDOW);
        block.presence.verify(span).map_err(|what| self.malformed(window, what))?;
        let len = match block.decompressed_bytes {
            0 => block.text.len(),
            len => {
                reader.enter(window, &block)?;
                len
            }
        };
        let ends: Vec<u64> = (0..block.ends.len()).map(|rank| block.ends.get(rank)).collect();
        if ends.windows(2).any(|pair| pair[0] > pair[1]) || ends.last() != Some(&(len as u64)) {
            return Err(self.malformed(window, "strings follow one another to the end"));
        }
        Ok(())
    }
}

struct Block<'a> {
    presence: Presence<'a>,
    ends: Packed<'a>,
    decompressed_bytes: usize,
    text: &'a [u8],
}

impl<'a> Block<'a> {
    /// Looks at a window that has the counts of `zone`.
    fn parse(bytes: &'a [u8], zone: &Zone, span: u32) -> Option<Self> {
        let count = zone.doc_count as usize;
        let (presence, rest) = Presence::parse(bytes, count, span)?;
        let (&bits, rest) = rest.split_first()?;
        let (ends, rest) = Packed::new(rest, count, bits)?;
        let (_, text) = rest.split_at_checked(4)?;
        Some(Self { presence, ends, decompressed_bytes: u32_at(rest, 0) as usize, text })
    }
}

/// Reads the strings of a column.
pub struct BinaryReader {
    column: Binary,
    decompressor: Option<Decompressor>,
    /// The compressed window whose strings `text` holds.
    window: Option<u32>,
    text: Vec<u8>,
}

impl BinaryReader {
    /// The string of a document. Documents of one window cost one decompression.
    pub fn get(&mut self, doc: DocId) -> Result<Option<&[u8]>> {
        let (window, place) = place(doc);
        let column = self.column.clone();
        let Some(block) = column.block(window)? else { return Ok(None) };
        let Some(rank) = block.presence.rank(place) else { return Ok(None) };
        let start = if rank == 0 { 0 } else { block.ends.get(rank - 1) as usize };
        let range = start..block.ends.get(rank) as usize;
        let string = if block.decompressed_bytes == 0 {
            self.column.block(window)?.and_then(|block| block.text.get(range))
        } else {
            self.enter(window, &block)?;
            self.text.get(range)
        };
        let outside = "a string lies inside of its window";
        string.map(Some).ok_or_else(|| column.malformed(window, outside))
    }

    /// Brings the strings of a compressed window.
    fn enter(&mut self, window: u32, block: &Block<'_>) -> Result<()> {
        if self.window == Some(window) {
            return Ok(());
        }
        self.window = None;
        self.text.clear();
        let len = block.decompressed_bytes;
        let decompressor = self.decompressor.get_or_insert_default();
        let done = len <= TEXT_BYTES_MAX
            && decompressor.decompress(block.text, len, &mut self.text).is_ok()
            && self.text.len() == len;
        if !done {
            return Err(self.column.malformed(window, "strings are a frame"));
        }
        self.window = Some(window);
        Ok(())
    }
}
