//! Reads the documents of one term: as a cursor, by runs, as bits of a window, or by blocks.
//!
//! Always true
//! 1. Fresh, a cursor stands before the first document: `next`, `seek` or `run` come first.
//! 2. Documents given rise strictly and are below the segment's document count.
//! 3. Damage ends the cursor (`END`, no run, no bits) and is recorded in the segment: a step's
//!    results are believed only after `Segment::fault` was asked.
//! 4. A block is decoded when it is entered, its frequencies when one is asked for, positions of a
//!    document likewise.

use std::ops::Range;
use std::sync::Arc;

use base::DocId;

use super::block::BLOCK;
use super::blocks::{Blocks, Decoded, Entered, Probe, WORDS};
use super::impact::Impacts;
use super::shared::MANY;
use super::skip::GROUP;
use super::walk::Walk;
use super::{END, Need};
use crate::error::{Error, Result};
use crate::positions::PositionCursor;
use crate::section::Missing;
use crate::terms::{FieldTerms, TermInfo};

/// No block was entered.
const NONE: u32 = u32::MAX;

/// A bound that holds from the document asked about to `last`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockMax {
    /// The last document for which the bound holds; `END` where there is no document left.
    pub last: DocId,
    /// The bound.
    pub impacts: Impacts,
}

/// The documents of a term.
pub struct Postings {
    blocks: Blocks,
    need: Need,

    /// The block in `docs`; `NONE` before the first, the number of blocks after the last.
    block: u32,
    /// Documents of the block are `docs[..count]`; the places after them hold `u32::MAX`.
    count: usize,
    /// Where in the block it stands; at `count` after a run.
    at: usize,
    doc: u32,
    freqs_ready: bool,
    values: Box<Values>,

    places: Places,
    /// The block that the next window's bits begin with, and what is left of the last.
    bits_block: u32,
    bits_left: Option<Box<Decoded>>,
}

/// The decoded block.
struct Values {
    docs: [u32; BLOCK],
    freqs: [u32; BLOCK],
}

/// Where the reading of positions stands.
struct Places {
    cursor: Option<PositionCursor>,
    /// The block and the place in it whose positions come next.
    next: (u32, usize),
}

impl Places {
    /// Appends the positions of the document at place `at` of `block`, whose frequencies are
    /// `freqs`.
    fn read(
        &mut self,
        blocks: &Blocks,
        block: u32,
        at: usize,
        freqs: &[u32; BLOCK],
        out: &mut Vec<u32>,
    ) -> Result<()> {
        let Some((cursor, next)) = self.reach(blocks, block, at, freqs)? else { return Ok(()) };
        cursor.read(freqs[at], out)?;
        *next = (block, at + 1);
        Ok(())
    }

    /// As [`Self::read`], the distances of those positions where they lie together.
    #[inline]
    fn distances(
        &mut self,
        blocks: &Blocks,
        block: u32,
        at: usize,
        freqs: &[u32; BLOCK],
    ) -> Result<Option<&[u32]>> {
        let Some((cursor, next)) = self.reach(blocks, block, at, freqs)? else {
            return Ok(Some(&[]));
        };
        let found = cursor.distances(freqs[at])?;
        *next = (block, at + usize::from(found.is_some()));
        Ok(found)
    }

    /// Stands before the positions of the document at place `at` of `block`, and forgets where that
    /// is: who reads them says what comes next then. `None` where the field keeps no positions.
    #[inline]
    fn reach(
        &mut self,
        blocks: &Blocks,
        block: u32,
        at: usize,
        freqs: &[u32; BLOCK],
    ) -> Result<Option<(&mut PositionCursor, &mut (u32, usize))>> {
        let Some(section) = blocks.terms.positions_section() else { return Ok(None) };
        let total = blocks.info.total_freq;
        let cursor = self.cursor.get_or_insert_with(|| {
            PositionCursor::new(section.clone(), blocks.positions_range(), total)
        });
        let (mut from, mut skip) = (self.next.1, 0);
        if self.next.0 != block || from > at {
            let (offset, first) = blocks.positions_place(block);
            cursor.jump(u64::from(offset));
            (from, skip) = (0, u64::from(first));
        }
        self.next = (NONE, 0);
        let passed = &freqs[from..at];
        // A block's frequencies add up to no more than the term's.
        skip += match u32::try_from(total) {
            Ok(_) => u64::from(passed.iter().fold(0u32, |sum, freq| sum.wrapping_add(*freq))),
            Err(_) => passed.iter().map(|freq| u64::from(*freq)).sum(),
        };
        cursor.skip(skip)?;
        Ok(Some((cursor, &mut self.next)))
    }
}

impl Postings {
    /// Stands before the first document of the term that `info` describes.
    pub(crate) fn new(terms: Arc<FieldTerms>, info: &TermInfo, need: Need) -> Self {
        Self {
            blocks: Blocks::new(terms, info),
            need,
            block: NONE,
            count: 0,
            at: 0,
            doc: 0,
            freqs_ready: false,
            values: Box::new(Values { docs: [0; BLOCK], freqs: [0; BLOCK] }),
            places: Places { cursor: None, next: (NONE, 0) },
            bits_block: 0,
            bits_left: None,
        }
    }

    /// Number of documents, dead ones included.
    #[inline]
    pub fn doc_freq(&self) -> u32 {
        self.blocks.info.doc_freq
    }

    /// The most that the term can stand in one document, told by the dictionary: all that it stands
    /// in more than once, in one of them.
    #[inline]
    pub fn freq_max(&self) -> u64 {
        let info = &self.blocks.info;
        (info.total_freq + 1).saturating_sub(u64::from(info.doc_freq)).max(1)
    }

    /// Where it stands; `END` after the last document.
    #[inline]
    pub fn doc(&self) -> DocId {
        debug_assert!(self.block != NONE, "a fresh cursor stands nowhere");
        DocId(self.doc)
    }

    /// Moves to the next document.
    #[inline]
    #[expect(clippy::should_implement_trait, reason = "leaf cursors say doc, next, seek")]
    pub fn next(&mut self) -> DocId {
        self.at += 1;
        if self.at < self.count {
            self.doc = self.values.docs[self.at];
            return DocId(self.doc);
        }
        self.enter(self.block.wrapping_add(1))
    }

    /// Moves to the first document at or after `target`; stays where it stands there already.
    #[inline]
    pub fn seek(&mut self, target: DocId) -> DocId {
        let target = target.get();
        if self.at == self.count || target > self.values.docs[self.count - 1] {
            // Fresh, after a run, or behind the block.
            return self.seek_block(target);
        }
        if target <= self.doc {
            return DocId(self.doc);
        }
        self.at = self.place_of(target);
        self.doc = self.values.docs[self.at];
        DocId(self.doc)
    }

    /// How often the term is in the document; 1 where frequencies are not kept.
    #[inline]
    pub fn freq(&mut self) -> u32 {
        debug_assert!(self.need >= Need::Freqs, "frequencies were not asked for");
        if !self.freqs_ready {
            self.load_freqs();
        }
        self.values.freqs[self.at]
    }

    /// Where the term is in the document; replaces what `out` held. None where the field keeps no
    /// positions.
    pub fn positions(&mut self, out: &mut Vec<u32>) {
        debug_assert!(self.need == Need::Positions, "positions were not asked for");
        if !self.freqs_ready {
            self.load_freqs();
        }
        out.clear();
        if self.block >= self.blocks.count() {
            return;
        }
        let freqs = &self.values.freqs;
        if let Err(error) = self.places.read(&self.blocks, self.block, self.at, freqs, out) {
            out.clear();
            self.break_off(error);
        }
    }

    /// The next run of documents below `end` that lie in one block, with their frequencies (all 1
    /// where they are not kept, none where they were not asked for); moves past them. `None`: the
    /// cursor stands at its first document at or after `end`. Between runs it stands nowhere.
    #[inline]
    pub fn run(&mut self, end: DocId) -> Option<(&[u32], &[u32])> {
        if self.at == self.count {
            self.enter(self.block.wrapping_add(1));
        }
        if self.doc >= end.get() || self.doc == u32::MAX {
            return None;
        }
        let start = self.at;
        if self.values.docs[self.count - 1] < end.get() {
            self.at = self.count;
        } else {
            self.at = self.place_of(end.get());
            self.doc = self.values.docs[self.at];
        }
        let docs = start..self.at;
        if self.need == Need::Docs {
            return Some((&self.values.docs[docs], &[]));
        }
        if !self.freqs_ready {
            self.load_freqs();
        }
        Some((&self.values.docs[docs.clone()], &self.values.freqs[docs]))
    }

    /// Sets bit `doc - range.start` for each document of the range. Does not move the cursor;
    /// windows that follow each other are found without a search.
    pub fn fill_bits(&mut self, range: Range<u32>, bits: &mut [u64]) {
        assert!(bits.len() * 64 >= range.len(), "a bit for each document");
        if range.is_empty() {
            return;
        }
        let count = self.blocks.count();
        let mut block = self.bits_from(range.start);
        while block < count {
            if let Err(error) = self.blocks.fill_bits(block, &range, &mut self.bits_left, bits) {
                return self.break_off(error);
            }
            if self.blocks.last(block) >= range.end - 1 {
                break;
            }
            block += 1;
        }
        self.bits_block = block;
    }

    /// How many documents of the range have bit `doc - range.start` set. As [`Postings::fill_bits`], it does not
    /// move the cursor, and windows that follow each other are found without a search.
    pub fn count_bits(&mut self, range: Range<u32>, bits: &[u64; MANY]) -> u64 {
        assert!(bits.len() * 64 >= range.len(), "a bit for each document");
        if range.is_empty() {
            return 0;
        }
        let count = self.blocks.count();
        let mut block = self.bits_from(range.start);
        let mut sum = 0;
        while block < count {
            match self.blocks.count_bits(block, &range, &mut self.bits_left, bits) {
                Ok(more) => sum += u64::from(more),
                Err(error) => {
                    self.break_off(error);
                    return 0;
                }
            }
            if self.blocks.last(block) >= range.end - 1 {
                break;
            }
            block += 1;
        }
        self.bits_block = block;
        sum
    }

    /// The block that the bits of a window begin with whose first document is `start`.
    fn bits_from(&self, start: u32) -> u32 {
        let from = match self.bits_block.min(self.blocks.count()).checked_sub(1) {
            Some(before) if self.blocks.last(before) >= start => 0,
            _ => self.bits_block,
        };
        self.blocks.of(from, start)
    }

    /// Names what reading the documents of `range` will read.
    pub fn need(&self, range: Range<u32>, missing: &mut Missing) -> Result<()> {
        if range.is_empty() {
            return Ok(());
        }
        let first = self.blocks.of(0, range.start);
        let end = self.blocks.of(first, range.end - 1).saturating_add(1);
        self.need_blocks(first..end.min(self.blocks.count()), missing)
    }

    /// The bound of the block that holds the first document at or after `target`. Does not move.
    pub fn block_max(&self, target: DocId) -> BlockMax {
        let block = self.block_near(target);
        if block == self.blocks.count() {
            return BlockMax { last: END, impacts: Impacts::one(0, 0) };
        }
        BlockMax { last: self.block_last(block), impacts: self.block_impacts(block) }
    }

    /// The bound of the group of blocks that holds it. Does not move.
    pub fn group_max(&self, target: DocId) -> BlockMax {
        let block = self.block_near(target);
        if block == self.blocks.count() {
            return BlockMax { last: END, impacts: Impacts::one(0, 0) };
        }
        let group = self.group_of(block);
        BlockMax { last: self.group_last(group), impacts: self.group_impacts(group) }
    }

    /// Number of blocks.
    #[inline]
    pub fn block_count(&self) -> u32 {
        self.blocks.count()
    }

    /// Last document of a block, or, where that is not known before it is read, of the segment.
    #[inline]
    pub fn block_last(&self, block: u32) -> DocId {
        self.blocks.last_doc(block)
    }

    /// The first block, from `from` on, whose last document is at or after `target`; the number
    /// of blocks where there is none.
    #[inline]
    pub fn block_of(&self, from: u32, target: DocId) -> u32 {
        self.blocks.of(from, target.get())
    }

    /// The group of a block.
    #[inline]
    pub fn group_of(&self, block: u32) -> u32 {
        block / GROUP
    }

    /// Last document of a group of [`GROUP`] blocks.
    pub fn group_last(&self, group: u32) -> DocId {
        DocId(self.blocks.group_last(group))
    }

    /// The bound of a block.
    #[inline]
    pub fn block_impacts(&self, block: u32) -> Impacts {
        self.blocks.impacts(block)
    }

    /// The bound of a group of [`GROUP`] blocks.
    #[inline]
    pub fn group_impacts(&self, group: u32) -> Impacts {
        self.blocks.group_impacts(group)
    }

    /// Names what reading `blocks` will read.
    pub fn need_blocks(&self, blocks: Range<u32>, missing: &mut Missing) -> Result<()> {
        self.blocks.need(blocks.clone(), missing)?;
        if self.need == Need::Positions {
            self.blocks.need_positions(blocks, missing)?;
        }
        Ok(())
    }

    /// Puts the documents of a block into `docs`, and answers how many there are: 0 where the
    /// block is damaged. Places after them become `u32::MAX`. Does not move.
    #[inline]
    pub fn docs(&self, block: u32, docs: &mut [u32; BLOCK]) -> usize {
        self.count_or_fail(self.blocks.decode(block, docs, None))
    }

    /// Looks for `doc` in a block ([`Postings::block_of`] tells in which) without decoding it,
    /// where its form allows that: blocks of common terms, which rare leads probe. Does not move.
    #[inline]
    pub fn probe(&self, block: u32, doc: DocId) -> Probe {
        self.blocks.probe(block, doc.get()).unwrap_or_else(|error| {
            self.blocks.terms.fail(error);
            Probe::Absent
        })
    }

    /// Reads a block to look documents up in it: blocks of bits as they are, which is many times
    /// cheaper, others as [`Postings::docs`]. No document where the block is damaged. Does not move.
    #[inline]
    pub fn look(&self, block: u32, words: &mut [u64; WORDS], docs: &mut [u32; BLOCK]) -> Entered {
        self.blocks.enter(block, words, docs).unwrap_or_else(|error| {
            self.blocks.terms.fail(error);
            Entered::Docs(0)
        })
    }

    /// As [`Postings::docs`], and the frequencies: 1 where they are not kept.
    pub fn docs_and_freqs(
        &self,
        block: u32,
        docs: &mut [u32; BLOCK],
        freqs: &mut [u32; BLOCK],
    ) -> usize {
        self.count_or_fail(self.blocks.decode(block, docs, Some(freqs)))
    }

    /// Puts the frequencies of a block into `freqs`: 1 where they are not kept, or the block is
    /// damaged. For who decoded the documents before, and now wants these.
    #[inline]
    pub fn freqs(&self, block: u32, freqs: &mut [u32; BLOCK]) {
        let answer = if self.blocks.is_rest(block) {
            self.blocks.rest(block, &mut [0; BLOCK], freqs).map(drop)
        } else {
            self.blocks.full_freqs(block, freqs)
        };
        if let Err(error) = answer {
            freqs.fill(1);
            self.blocks.terms.fail(error);
        }
    }

    /// As [`Postings::positions`], for the document at place `at` of a block whose frequencies are
    /// `freqs`. Cheapest when asked in rising order. Does not move.
    pub fn positions_of(
        &mut self,
        block: u32,
        at: usize,
        freqs: &[u32; BLOCK],
        out: &mut Vec<u32>,
    ) {
        debug_assert!(self.need == Need::Positions, "positions were not asked for");
        out.clear();
        if block >= self.blocks.count() {
            return;
        }
        if let Err(error) = self.places.read(&self.blocks, block, at, freqs, out) {
            out.clear();
            self.break_off(error);
        }
    }

    /// As [`Postings::positions_of`], the distances between those positions as they were unpacked, the
    /// first from zero: nothing is copied. `None` where they lie in more than one block of positions, as
    /// those of some documents do; then [`Postings::positions_of`] has them.
    #[inline]
    pub fn distances_of(&mut self, block: u32, at: usize, freqs: &[u32; BLOCK]) -> Option<&[u32]> {
        debug_assert!(self.need == Need::Positions, "positions were not asked for");
        let Self { places, blocks, .. } = self;
        if block >= blocks.count() {
            return Some(&[]);
        }
        places.distances(blocks, block, at, freqs).unwrap_or_else(|error| {
            blocks.terms.fail(error);
            Some(&[])
        })
    }

    /// As [`Postings::positions_of`], a few at a time; `None` where the field keeps no positions, or
    /// what stands before them is damaged.
    pub fn walk_of(&self, block: u32, at: usize, freqs: &[u32; BLOCK]) -> Option<Walk> {
        debug_assert!(self.need == Need::Positions, "positions were not asked for");
        if block >= self.blocks.count() {
            return None;
        }
        let terms = &self.blocks.terms;
        let section = terms.positions_section()?;
        let (range, total) = (self.blocks.positions_range(), self.blocks.info.total_freq);
        let mut cursor = PositionCursor::new(section.clone(), range, total);
        let (offset, first) = self.blocks.positions_place(block);
        cursor.jump(u64::from(offset));
        let before: u64 = freqs[..at].iter().map(|freq| u64::from(*freq)).sum();
        if let Err(error) = cursor.skip(u64::from(first) + before) {
            terms.fail(error);
            return None;
        }
        Some(Walk::new(Arc::clone(terms), cursor, freqs[at]))
    }

    /// The block that holds the first document at or after `target`.
    fn block_near(&self, target: DocId) -> u32 {
        let behind = self.block == NONE || target.get() < self.doc;
        self.blocks.of(if behind { 0 } else { self.block }, target.get())
    }

    /// Moves to the first document at or after `target`, which is behind the block entered.
    fn seek_block(&mut self, target: u32) -> DocId {
        let block = self.blocks.of(self.block.wrapping_add(1), target);
        self.enter(block);
        if self.doc < target {
            self.at = self.place_of(target);
            if self.at == self.count {
                // The end of a small term was not known before it was read.
                return self.enter(block + 1);
            }
            self.doc = self.values.docs[self.at];
        }
        DocId(self.doc)
    }

    /// The first place of the block entered whose document is at or after `target`.
    #[inline]
    fn place_of(&self, target: u32) -> usize {
        const LANES: usize = 16;
        // Whole lanes are compared at once; places before `at` are below the target anyway, and
        // those after the last hold the highest number.
        let mut start = self.at / LANES * LANES;
        while start + LANES < BLOCK && self.values.docs[start + LANES - 1] < target {
            start += LANES;
        }
        let lanes = &self.values.docs[start..start + LANES];
        let below: usize = lanes.iter().map(|doc| usize::from(*doc < target)).sum();
        (start + below).min(self.count)
    }

    /// Enters a block and stands on its first document.
    fn enter(&mut self, block: u32) -> DocId {
        if block >= self.blocks.count() {
            return self.end();
        }
        let values = &mut *self.values;
        let answer = if self.blocks.is_rest(block) {
            self.freqs_ready = true;
            self.blocks.rest(block, &mut values.docs, &mut values.freqs)
        } else {
            self.freqs_ready = false;
            self.blocks.full_docs(block, &mut values.docs).map(|()| BLOCK)
        };
        match answer {
            Ok(count) => {
                self.block = block;
                self.count = count;
                self.at = 0;
                self.doc = self.values.docs[0];
            }
            Err(error) => self.break_off(error),
        }
        DocId(self.doc)
    }

    /// Stands after the last document: on one place that holds the highest number, so that the
    /// quick ways of `seek` and `next` need not ask.
    fn end(&mut self) -> DocId {
        self.block = self.blocks.count();
        self.count = 1;
        self.at = 0;
        self.doc = u32::MAX;
        self.values.docs[0] = u32::MAX;
        self.values.freqs[0] = 1;
        self.freqs_ready = true;
        END
    }

    /// Records damage, and ends.
    #[cold]
    fn break_off(&mut self, error: Error) {
        self.blocks.give_up(error);
        self.end();
    }

    fn load_freqs(&mut self) {
        self.freqs_ready = true;
        if self.block < self.blocks.count()
            && let Err(error) = self.blocks.full_freqs(self.block, &mut self.values.freqs)
        {
            // Not `break_off`: a run is about to hand out this block's documents. What is given
            // is void anyway once the fault is seen.
            self.values.freqs.fill(1);
            self.blocks.give_up(error);
        }
    }

    fn count_or_fail(&self, answer: Result<usize>) -> usize {
        answer.unwrap_or_else(|error| {
            self.blocks.terms.fail(error);
            0
        })
    }
}
