//! A column of numbers, open: by document, by window, or by range.
//!
//! Always true
//! 1. Zones are resident. A window's bytes are read when a value of it is asked for; `need` names
//!    them before.
//! 2. A window that turns out damaged has no values, and the segment's fault says why: whoever
//!    drives a query looks there after each step (`section`).
//!
//! Doubles, dates and booleans are numbers here; what they mean is `mapping`'s affair.

use std::ops::RangeInclusive;
use std::sync::Arc;

use base::{DocId, FieldNo};

use super::block::{self, Block};
use super::zone::{Zone, Zones};
use super::{WINDOW, WindowWords, place};
use crate::error::{Error, Result};
use crate::reader::Segment;
use crate::section::{File, Missing, Section};
use crate::toc::SectionKind;

/// A column of numbers. Clones are one counter.
#[derive(Clone, Debug)]
pub struct Numeric(Arc<Open>);

#[derive(Debug)]
struct Open {
    zones: Zones,
    body: Section,
    doc_count: u32,
}

/// Every value of a window with its document: for aggregations over many values a document.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    /// Places in the window, rising; a document with several values several times.
    pub places: Vec<u16>,
    /// The value beside each place.
    pub values: Vec<i64>,
}

impl Segment {
    /// The column of numbers of a field; `None` where no document has one.
    pub fn numeric(&self, field: FieldNo) -> Option<&Numeric> {
        self.field(field)?.numeric()
    }
}

impl Numeric {
    /// Opens the column of `field`, if the file has one.
    pub(crate) fn open(file: &Arc<File>, field: FieldNo) -> Result<Option<Self>> {
        let Some(head) = file.section(SectionKind::NumericHead, field) else { return Ok(None) };
        let body = file
            .section(SectionKind::NumericBody, field)
            .ok_or_else(|| head.malformed(0, "a column has a head and a body"))?;
        let bytes = head.all()?;
        let len = body.len();
        let (numeric, rest) = Self::with_zones(bytes, 0..len, body, &head)?;
        if !rest.is_empty() {
            return Err(head.malformed(0, "the zones end the head"));
        }
        Ok(Some(numeric))
    }

    /// Opens a column whose zones begin `bytes` of `head` and whose windows fill `range` of `body`.
    pub(super) fn with_zones<'a>(
        bytes: &'a [u8],
        range: std::ops::Range<u64>,
        body: Section,
        head: &Section,
    ) -> Result<(Self, &'a [u8])> {
        let doc_count = body.file().doc_count();
        let (zones, rest) =
            Zones::open(bytes, range, doc_count).map_err(|what| head.malformed(0, what))?;
        if zones.doc_count() == 0 {
            return Err(head.malformed(0, "a column has a value"));
        }
        Ok((Self(Arc::new(Open { zones, body, doc_count })), rest))
    }

    /// Number of documents with a value, deleted ones included.
    #[inline]
    pub fn doc_count(&self) -> u32 {
        self.0.zones.doc_count()
    }

    /// Number of values.
    #[inline]
    pub fn value_count(&self) -> u64 {
        self.0.zones.value_count()
    }

    /// Whether no document has more than one value.
    #[inline]
    pub fn is_single(&self) -> bool {
        self.value_count() == u64::from(self.doc_count())
    }

    /// Whether every document of the segment has a value.
    #[inline]
    pub fn is_dense(&self) -> bool {
        self.doc_count() == self.0.doc_count
    }

    /// Least value of all documents, deleted ones included.
    #[inline]
    pub fn min(&self) -> i64 {
        self.0.zones.bounds().expect("a column has a value").0
    }

    /// Greatest value of all documents, deleted ones included.
    #[inline]
    pub fn max(&self) -> i64 {
        self.0.zones.bounds().expect("a column has a value").1
    }

    /// What is known of a window without reading it; empty beyond the segment.
    #[inline]
    pub fn zone(&self, window: u32) -> Zone {
        self.0.zones.get(window)
    }

    /// What is known of all windows.
    pub fn zones(&self) -> &[Zone] {
        self.0.zones.all()
    }

    /// Names the bytes of a window that are not there.
    pub fn need(&self, window: u32, missing: &mut Missing) -> Result<()> {
        if self.zone(window).is_empty() {
            return Ok(());
        }
        self.0.body.need(self.0.zones.range(window), missing)
    }

    /// The values of a window; `None` where it has none.
    #[inline]
    pub fn block(&self, window: u32) -> Result<Option<Block<'_>>> {
        let zone = self.zone(window);
        if zone.is_empty() {
            return Ok(None);
        }
        let range = self.0.zones.range(window);
        let offset = range.start;
        let bytes = self.0.body.bytes(range)?;
        let block = Block::parse(bytes, &zone, self.span(window));
        block.map(Some).map_err(|what| self.0.body.malformed(offset, what))
    }

    /// As [`Numeric::block`]; a damaged window counts as empty, and the segment knows.
    #[inline]
    pub(super) fn block_or_fault(&self, window: u32) -> Option<Block<'_>> {
        match self.block(window) {
            Ok(block) => block,
            Err(error) => {
                self.0.body.fail(error);
                None
            }
        }
    }

    /// Documents of a window.
    #[inline]
    fn span(&self, window: u32) -> u32 {
        WINDOW.min(self.0.doc_count - window * WINDOW)
    }

    /// The value of a document of a column that [`is_single`](Numeric::is_single); in another the
    /// least, as [`Numeric::first`].
    #[inline]
    pub fn get(&self, doc: DocId) -> Option<i64> {
        self.first(doc)
    }

    /// The least value of a document. Who asks for many in order takes a [`Cursor`].
    #[inline]
    pub fn first(&self, doc: DocId) -> Option<i64> {
        let (window, place) = place(doc);
        self.block_or_fault(window)?.first(place)
    }

    /// The greatest value of a document.
    #[inline]
    pub fn last(&self, doc: DocId) -> Option<i64> {
        let (window, place) = place(doc);
        self.block_or_fault(window)?.last(place)
    }

    /// Appends the values of a document, rising, to `out`.
    pub fn values(&self, doc: DocId, out: &mut Vec<i64>) {
        let (window, place) = place(doc);
        if let Some(block) = self.block_or_fault(window) {
            out.extend(block.values(place));
        }
    }

    /// A reader that remembers the window it stands in.
    pub fn cursor(&self) -> Cursor<'_> {
        Cursor { column: self, window: u32::MAX, block: None }
    }

    /// Puts the least value of each document of a window at its place in `values`, and sets exactly
    /// the bits of these documents in `presence`. Other places keep what stood there.
    pub fn fill(
        &self,
        window: u32,
        values: &mut [i64; WINDOW as usize],
        presence: &mut WindowWords,
    ) {
        presence.fill(0);
        let Some(block) = self.block_or_fault(window) else { return };
        block.presence().fill(presence);
        match block.numbers() {
            Some(numbers) => numbers.for_each_batch(|start, batch| {
                values[start..start + batch.len()].copy_from_slice(batch);
            }),
            None => block.for_each_first(|place, value| values[place as usize] = value),
        }
    }

    /// As [`Numeric::fill`] with the greatest value of each document.
    pub fn fill_last(
        &self,
        window: u32,
        values: &mut [i64; WINDOW as usize],
        presence: &mut WindowWords,
    ) {
        presence.fill(0);
        let Some(block) = self.block_or_fault(window) else { return };
        block.presence().fill(presence);
        block.for_each_last(|place, value| values[place as usize] = value);
    }

    /// Replaces `pairs` by every value of a window with its document's place.
    pub fn pairs(&self, window: u32, pairs: &mut Pairs) {
        pairs.places.clear();
        pairs.values.clear();
        let Some(block) = self.block_or_fault(window) else { return };
        match block.numbers() {
            Some(numbers) => {
                numbers.for_each_batch(|_, batch| pairs.values.extend_from_slice(batch));
                pairs.places.extend(0..pairs.values.len() as u16);
            }
            None => block.for_each(|place, value| {
                pairs.places.push(place as u16);
                pairs.values.push(value);
            }),
        }
    }

    /// Sets the bits of the documents of a window that have a value; other bits stay.
    pub fn presence(&self, window: u32, bits: &mut WindowWords) {
        if let Some(block) = self.block_or_fault(window) {
            block.presence().fill(bits);
        }
    }

    /// Sets the bits of the documents of a window one of whose values lies in `range`; other bits
    /// stay. A window whose zone decides is not read for its values.
    pub fn matching(&self, window: u32, range: &RangeInclusive<i64>, bits: &mut WindowWords) {
        let zone = self.zone(window);
        if !zone.touches(range) {
            return;
        }
        if zone.is_within(range) {
            return self.presence(window, bits);
        }
        if let Some(block) = self.block_or_fault(window) {
            block::matching(&block, range, bits);
        }
    }

    /// The windows one of whose values may lie in `range`.
    pub fn windows_touching(&self, range: RangeInclusive<i64>) -> impl Iterator<Item = u32> + '_ {
        let zones = self.zones().iter().zip(0u32..);
        zones.filter(move |(zone, _)| zone.touches(&range)).map(|(_, window)| window)
    }

    /// Number of windows of the segment.
    pub(crate) fn window_count(&self) -> u32 {
        self.zones().len() as u32
    }

    /// Length of a window in bytes.
    pub(crate) fn window_bytes(&self, window: u32) -> u64 {
        let range = self.0.zones.range(window);
        range.end - range.start
    }

    /// The error of a window that makes no sense.
    pub(crate) fn malformed(&self, window: u32, what: &'static str) -> Error {
        self.0.body.malformed(self.0.zones.range(window).start, what)
    }

    /// Reads and checks every window, and gives what is wrong to `damage`.
    pub(crate) fn verify(&self, damage: &mut dyn FnMut(Error)) {
        for window in 0..self.window_count() {
            let checked = self.block(window).and_then(|block| match block {
                None => Ok(()),
                Some(block) => block
                    .verify(&self.zone(window), self.span(window))
                    .map_err(|what| self.malformed(window, what)),
            });
            if let Err(error) = checked {
                damage(error);
            }
        }
    }
}

/// Reads single documents of a column, fast while they share a window.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    column: &'a Numeric,
    window: u32,
    block: Option<Block<'a>>,
}

impl<'a> Cursor<'a> {
    /// The least value of a document.
    #[inline]
    pub fn first(&mut self, doc: DocId) -> Option<i64> {
        let (window, place) = place(doc);
        self.block(window)?.first(place)
    }

    /// The greatest value of a document.
    #[inline]
    pub fn last(&mut self, doc: DocId) -> Option<i64> {
        let (window, place) = place(doc);
        self.block(window)?.last(place)
    }

    /// The values of a document, rising.
    #[inline]
    pub fn values(&mut self, doc: DocId) -> impl Iterator<Item = i64> + 'a {
        let (window, place) = place(doc);
        self.block(window).map(|block| block.values(place)).into_iter().flatten()
    }

    /// The window's values.
    #[inline]
    fn block(&mut self, window: u32) -> Option<&Block<'a>> {
        if window != self.window {
            self.block = self.column.block_or_fault(window);
            self.window = window;
        }
        self.block.as_ref()
    }
}
