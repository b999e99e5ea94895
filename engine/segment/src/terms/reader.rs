//! Looks terms up in a field of a segment.
//!
//! A look-up is a search in the resident index, one block, a search of its groups, and a walk of
//! at most 16 terms. Plain blocks are read in place; compressed ones come from the caller's
//! [`BlockCache`].

use std::sync::Arc;

use base::FieldNo;
use env::Bytes;

use super::block::{self, Block};
use super::{BlockCache, TermCursor, TermIndex, TermInfo, TermOptions};
use crate::bytes::archive::Checked;
use crate::bytes::zblock::Decompressor;
use crate::error::{Error, Result};
use crate::postings::{self, Need, Postings, Scratch};
use crate::section::{File, Missing, Section};
use crate::toc::SectionKind;

/// Sections of a field's terms, opened once for all readers.
pub struct FieldTerms {
    index: Checked<TermIndex>,
    options: TermOptions,
    blocks: Section,
    postings: Section,
    skips: Option<Section>,
    positions: Option<Section>,
    segment_doc_count: u32,
}

impl std::fmt::Debug for FieldTerms {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "FieldTerms(field {})", self.blocks.entry().field)
    }
}

/// A block of terms as it lies in its section.
pub(crate) enum Stored<'a> {
    Plain(&'a [u8]),
    Compressed(&'a [u8]),
}

impl FieldTerms {
    /// Opens the terms of `field`, if it has any.
    pub(crate) fn open(file: &Arc<File>, field: FieldNo) -> Result<Option<Self>> {
        let Some(section) = file.section(SectionKind::TermIndex, field) else {
            return Ok(None);
        };
        let index: Checked<TermIndex> = section.archive()?;
        let options = index.get().options().filter(|_| index.get().blocks.is_sound());
        let options = options.ok_or_else(|| section.malformed(0, "arrays of unlike lengths"))?;
        let part = |kind| {
            let missing = || section.malformed(0, "terms without a section that belongs to them");
            file.section(kind, field).ok_or_else(missing)
        };
        if index.get().doc_count.to_native() > file.doc_count() {
            return Err(section.malformed(0, "more documents than the segment has"));
        }
        Ok(Some(Self {
            options,
            blocks: part(SectionKind::TermBlocks)?,
            postings: part(SectionKind::Postings)?,
            skips: file.section(SectionKind::Skips, field),
            positions: options.positions.then(|| part(SectionKind::Positions)).transpose()?,
            segment_doc_count: file.doc_count(),
            index,
        }))
    }

    /// What the postings hold.
    pub(crate) fn options(&self) -> TermOptions {
        self.options
    }

    /// Number of documents of the segment: above all documents of postings.
    pub(crate) fn segment_doc_count(&self) -> u32 {
        self.segment_doc_count
    }

    pub(crate) fn postings_section(&self) -> &Section {
        &self.postings
    }

    pub(crate) fn positions_section(&self) -> Option<&Section> {
        self.positions.as_ref()
    }

    /// The skips of a term.
    pub(crate) fn skips(&self, at: u64, len: u64) -> Result<Bytes> {
        let missing = || self.postings.malformed(0, "a term has skips, and the field none");
        let section = self.skips.as_ref().ok_or_else(missing)?;
        section.shared_range(at..at.saturating_add(len))
    }

    /// Records damage.
    pub(crate) fn fail(&self, error: Error) {
        self.postings.fail(error);
    }

    /// Number of blocks.
    pub(crate) fn block_count(&self) -> usize {
        self.index.get().blocks.block_count()
    }

    /// The block that `term` lies in, if any does.
    pub(crate) fn block_of(&self, term: &[u8]) -> usize {
        self.index.get().blocks.block_of(term)
    }

    /// Whether `term`, if it is there, lies in this block. May say no for want of a close look.
    pub(crate) fn may_hold(&self, at: usize, term: &[u8]) -> bool {
        self.index.get().blocks.may_hold(at, term)
    }

    /// A block as it lies.
    pub(crate) fn stored(&self, at: usize) -> Result<Stored<'_>> {
        let range = self.index.get().blocks.block(at);
        match self.blocks.bytes(range)?.split_first() {
            Some((0, bytes)) => Ok(Stored::Plain(bytes)),
            Some((1, bytes)) => Ok(Stored::Compressed(bytes)),
            _ => Err(self.damaged(at, "block of terms of an unknown form")),
        }
    }

    /// A block as it lies, shared; `None` where it is compressed.
    pub(crate) fn plain(&self, at: usize) -> Result<Option<Bytes>> {
        let range = self.index.get().blocks.block(at);
        match self.blocks.bytes(range.clone())?.first() {
            Some(0) => self.blocks.shared_range(range.start + 1..range.end).map(Some),
            _ => Ok(None),
        }
    }

    /// Names what reading a block will read.
    pub(crate) fn need_block(&self, at: usize, missing: &mut Missing) -> Result<()> {
        self.blocks.need(self.index.get().blocks.block(at), missing)
    }

    /// Decodes a compressed block.
    pub(crate) fn decode(
        &self,
        at: usize,
        frame: &[u8],
        decompressor: &mut Decompressor,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        decompressor
            .decompress(frame, block::LEN_MAX, out)
            .map_err(|_| self.damaged(at, "block of terms does not decompress"))
    }

    /// The error for a block that makes no sense.
    #[cold]
    pub(crate) fn damaged(&self, at: usize, what: &'static str) -> Error {
        self.blocks.malformed(self.index.get().blocks.block(at).start, what)
    }

    /// The parts of a block that was decoded.
    pub(crate) fn parse<'a>(&self, at: usize, bytes: &'a [u8]) -> Result<Block<'a>> {
        Block::parse(bytes, self.options).map_err(|what| self.damaged(at, what))
    }

    /// Whether what a term's info says fits the segment.
    pub(crate) fn check(&self, at: usize, info: TermInfo) -> Result<TermInfo> {
        let above = info.single.is_some_and(|doc| doc >= self.segment_doc_count);
        if above || info.doc_freq > self.segment_doc_count {
            return Err(self.damaged(at, "a term has more documents than the segment"));
        }
        Ok(info)
    }
}

/// The terms of a field. Clones are one counter.
#[derive(Clone, Debug)]
pub struct Terms(Arc<FieldTerms>);

impl Terms {
    pub(crate) fn new(inner: Arc<FieldTerms>) -> Self {
        Self(inner)
    }

    /// What the postings hold.
    pub fn options(&self) -> TermOptions {
        self.0.options
    }

    /// Number of terms.
    pub fn term_count(&self) -> u64 {
        self.0.index.get().term_count.to_native()
    }

    /// Number of documents that have any term, dead ones included.
    pub fn doc_count(&self) -> u32 {
        self.0.index.get().doc_count.to_native()
    }

    /// Sum of the terms' document counts.
    pub fn doc_freq_sum(&self) -> u64 {
        self.0.index.get().doc_freq_sum.to_native()
    }

    /// Sum of the terms' occurrences.
    pub fn term_freq_sum(&self) -> u64 {
        self.0.index.get().term_freq_sum.to_native()
    }

    /// Length of their positions, where they have any.
    pub(crate) fn positions_bytes(&self) -> Option<u64> {
        self.0.positions_section().map(Section::len)
    }

    /// Names what `find` will read.
    pub fn need(&self, term: &[u8], missing: &mut Missing) -> Result<()> {
        self.0.need_block(self.0.block_of(term), missing)
    }

    /// Looks a term up.
    pub fn find(&self, term: &[u8], cache: &mut BlockCache) -> Result<Option<TermInfo>> {
        let at = self.0.block_of(term);
        let bytes = match self.0.stored(at)? {
            Stored::Plain(bytes) => bytes,
            Stored::Compressed(frame) => cache.block(&self.0, at, |decompressor, out| {
                self.0.decode(at, frame, decompressor, out)
            })?,
        };
        let found = self.0.parse(at, bytes)?.find(term);
        let found = found.map_err(|what| self.0.damaged(at, what))?;
        found.map(|info| self.0.check(at, info)).transpose()
    }

    /// A cursor before the first term.
    pub fn cursor(&self) -> TermCursor {
        TermCursor::new(Arc::clone(&self.0))
    }

    /// The first damage met in the segment, as an error.
    pub(crate) fn fault(&self) -> Result<()> {
        self.0.postings.file().fault().map_or(Ok(()), |error| Err(error.clone()))
    }

    /// The error for terms that make no sense.
    pub(crate) fn malformed(&self, what: &'static str) -> Error {
        self.0.blocks.malformed(0, what)
    }

    /// Sets the bit of each document of a term that was found here, in `bits`, one for each
    /// document of the segment; every block is there. For patterns of many terms: nothing is kept
    /// from one to the next but the room in `scratch`.
    pub fn fill_all(&self, info: &TermInfo, bits: &mut [u64], scratch: &mut Scratch) {
        postings::fill_all(&self.0, info, bits, scratch);
    }

    /// The documents of a term that was found here.
    pub fn postings(&self, info: &TermInfo, need: Need) -> Postings {
        Postings::new(Arc::clone(&self.0), info, need)
    }
}
