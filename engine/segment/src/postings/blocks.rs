//! Blocks of one term: where they are, what bounds them, and their documents decoded.
//!
//! Always true
//! 1. Documents given rise strictly and are below the segment's document count, whatever the
//!    bytes say. So they may index whatever has a place for each document.
//! 2. Bounds, and what a window needs, come from resident skips; only decoding reads blocks.
//!
//! A term with fewer than 128 documents has one block and no skips: its end is not known before
//! it is read, so the last document of the segment stands for it. A term with one document has
//! it in its [`TermInfo`] and reads nothing.
//!
//! Not here: standing somewhere (`cursor`).

use std::ops::Range;
use std::sync::Arc;

use base::DocId;

use super::block::{self, BLOCK, FREQ_MAX, Full, first_after};
use super::impact::{Impacts, NORM_NONE};
use super::shared::{self, MANY};
use super::skip::{GROUP, Shape, Skips};
use crate::error::{Error, Result};
use crate::positions::PACKED_LEN_MAX;
use crate::section::Missing;
use crate::terms::{FieldTerms, TermInfo};

/// No block.
const NONE: u32 = u32::MAX;

/// What looking for a document in a block found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe {
    /// The document is not there.
    Absent,
    /// It is the one at this place.
    At(usize),
    /// The block has to be decoded to know.
    Unknown,
}

/// Words of bits that a block has at most.
pub const WORDS: usize = 64;

/// How a block that is looked into was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entered {
    /// So many documents.
    Docs(usize),
    /// So many words of bits, the first bit of which stands for this document; 128 are set.
    Words(u32, usize),
}

/// A block decoded for the sake of a window.
pub(crate) struct Decoded {
    block: u32,
    count: usize,
    /// After the last document that was taken: the next window mostly goes on here.
    at: usize,
    docs: [u32; BLOCK],
}

impl Default for Decoded {
    fn default() -> Self {
        Self { block: NONE, count: 0, at: 0, docs: [0; BLOCK] }
    }
}

/// Room to decode a block in, used again and again.
#[derive(Default)]
pub struct Scratch(Option<Box<Decoded>>);

/// Sets the bit of each document of a term. Damage is recorded, and ends the term.
pub(crate) fn fill_all(
    terms: &Arc<FieldTerms>,
    info: &TermInfo,
    bits: &mut [u64],
    scratch: &mut Scratch,
) {
    if let Some(single) = info.single {
        if let Some(word) = bits.get_mut(single as usize / 64) {
            *word |= 1 << (single % 64);
        }
        return;
    }
    let blocks = Blocks::new(Arc::clone(terms), info);
    let all = 0..terms.segment_doc_count();
    for block in 0..blocks.count() {
        if let Some(decoded) = &mut scratch.0 {
            decoded.block = NONE;
        }
        if let Err(error) = blocks.fill_bits(block, &all, &mut scratch.0, bits) {
            return terms.fail(error);
        }
    }
}

/// The blocks of a term.
pub(crate) struct Blocks {
    pub(crate) terms: Arc<FieldTerms>,
    pub(crate) info: TermInfo,
    skips: Option<Skips>,
    count: u32,
}

impl Blocks {
    /// The blocks of the term that `info` describes; none where its skips are damaged.
    pub(crate) fn new(terms: Arc<FieldTerms>, info: &TermInfo) -> Self {
        let shape = Shape::new(info.doc_freq, terms.options());
        let mut blocks = Self { info: *info, skips: None, count: shape.blocks(), terms };
        if info.doc_freq as usize >= BLOCK {
            let len = shape.len_bytes(info.doc_freq) as u64;
            match blocks.terms.skips(info.skips, len) {
                Ok(bytes) => blocks.skips = Some(Skips::new(bytes, shape)),
                Err(error) => blocks.give_up(error),
            }
        }
        blocks
    }

    /// Records damage; from now on there are no blocks.
    #[cold]
    pub(crate) fn give_up(&mut self, error: Error) {
        self.terms.fail(error);
        self.count = 0;
    }

    /// Number of blocks.
    #[inline]
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// Last document of a block, or, where that is not known before it is read, of the segment.
    #[inline]
    pub(crate) fn last(&self, block: u32) -> u32 {
        match (&self.skips, self.info.single) {
            (Some(skips), _) => skips.last(block),
            (None, Some(single)) => single,
            (None, None) => self.terms.segment_doc_count() - 1,
        }
    }

    /// The first block, from `from` on, whose last document is at or after `target`; the number
    /// of blocks where there is none.
    #[inline]
    pub(crate) fn of(&self, from: u32, target: u32) -> u32 {
        if from >= self.count {
            return self.count;
        }
        match &self.skips {
            Some(skips) => skips.block_of(from, target),
            None if self.last(0) < target => self.count,
            None => 0,
        }
    }

    /// Last document of a group.
    pub(crate) fn group_last(&self, group: u32) -> u32 {
        self.last(((group + 1) * GROUP).min(self.count) - 1)
    }

    /// The bound of a block.
    #[inline]
    pub(crate) fn impacts(&self, block: u32) -> Impacts {
        let impacts = match &self.skips {
            Some(skips) => skips.impacts(block),
            None => self.small_impacts(),
        };
        impacts.unwrap_or_else(|| Impacts::one(1, NORM_NONE))
    }

    /// The bound of a group of blocks.
    #[inline]
    pub(crate) fn group_impacts(&self, group: u32) -> Impacts {
        let impacts = match &self.skips {
            Some(skips) => skips.group_impacts(group),
            None => self.small_impacts(),
        };
        impacts.unwrap_or_else(|| Impacts::one(1, NORM_NONE))
    }

    /// Names what reading the documents of `blocks` will read.
    pub(crate) fn need(&self, blocks: Range<u32>, missing: &mut Missing) -> Result<()> {
        if blocks.is_empty() || self.info.single.is_some() {
            return Ok(());
        }
        let start = self.bytes_of(blocks.start)?.start;
        let end = self.bytes_of(blocks.end - 1)?.end;
        self.terms.postings_section().need(start..end, missing)
    }

    /// Names what reading the positions of `blocks` will read.
    pub(crate) fn need_positions(&self, blocks: Range<u32>, missing: &mut Missing) -> Result<()> {
        let Some(section) = self.terms.positions_section() else { return Ok(()) };
        if blocks.is_empty() {
            return Ok(());
        }
        let all = self.positions_range();
        let start = all.start.saturating_add(u64::from(self.positions_place(blocks.start).0));
        // The last block's positions may end inside of the packed block where the next's begin.
        let end = match &self.skips {
            Some(skips) if blocks.end < self.count => {
                let next = u64::from(skips.positions(blocks.end).0);
                all.start.saturating_add(next + PACKED_LEN_MAX).min(all.end)
            }
            _ => all.end,
        };
        section.need(start.min(end)..end, missing)
    }

    /// Where the positions of a block's first document begin.
    pub(crate) fn positions_place(&self, block: u32) -> (u32, u8) {
        self.skips.as_ref().map_or((0, 0), |skips| skips.positions(block))
    }

    /// Where the term's positions lie in their section.
    pub(crate) fn positions_range(&self) -> Range<u64> {
        let start = self.info.positions;
        start..start.saturating_add(self.info.positions_len)
    }

    /// Whether a block is the rest after the full ones.
    #[inline]
    pub(crate) fn is_rest(&self, block: u32) -> bool {
        block == self.info.doc_freq / BLOCK as u32
    }

    /// Decodes the documents of a full block.
    #[inline]
    pub(crate) fn full_docs(&self, block: u32, docs: &mut [u32; BLOCK]) -> Result<()> {
        self.docs_of(self.full(block)?, block, docs)
    }

    /// Decodes the frequencies of a full block: 1 where they are not kept.
    #[inline]
    pub(crate) fn full_freqs(&self, block: u32, freqs: &mut [u32; BLOCK]) -> Result<()> {
        if !self.terms.options().freqs {
            freqs.fill(1);
            return Ok(());
        }
        self.full(block)?.freqs(freqs).map_err(|what| self.malformed(block, what))
    }

    /// Decodes the rest, or takes the one document that lies in the term itself; answers how many
    /// documents there are. Places after them become `u32::MAX`.
    pub(crate) fn rest(
        &self,
        block: u32,
        docs: &mut [u32; BLOCK],
        freqs: &mut [u32; BLOCK],
    ) -> Result<usize> {
        let count = self.info.doc_freq as usize % BLOCK;
        if let Some(single) = self.info.single {
            docs.fill(u32::MAX);
            docs[0] = single;
            freqs[0] = u32::try_from(self.info.total_freq)
                .ok()
                .filter(|freq| *freq <= FREQ_MAX)
                .ok_or_else(|| self.malformed(block, "frequency above all"))?;
        } else {
            let bytes = self.terms.postings_section().bytes(self.bytes_of(block)?)?;
            let has_freqs = self.terms.options().freqs;
            block::read_rest(bytes, has_freqs, self.before(block), count, docs, freqs)
                .map_err(|what| self.malformed(block, what))?;
        }
        let last = docs[count - 1];
        if last > self.last(block) || last >= self.terms.segment_doc_count() {
            return Err(self.malformed(block, "documents pass the last of their block"));
        }
        Ok(count)
    }

    /// Sets bit `doc - range.start` for each document of the block that is in `range`. What has to
    /// be decoded for it is left in `decoded`: the next window often begins in the same block.
    pub(crate) fn fill_bits(
        &self,
        block: u32,
        range: &Range<u32>,
        decoded: &mut Option<Box<Decoded>>,
        bits: &mut [u64],
    ) -> Result<()> {
        if let Some(decoded) = decoded
            && decoded.block == block
        {
            decoded.set_bits(range, bits);
            return Ok(());
        }
        if !self.is_rest(block) {
            let full = self.full(block)?;
            let first = first_after(self.before(block));
            if let Some(words) = full.bits() {
                // Bits outside of the range are cut off, so it does not matter how many there are.
                or_words(words, first, range, bits);
                return Ok(());
            }
            if full.is_run() {
                let last = self.check_run(block, first)?;
                let low = first.max(range.start);
                let high = (last + 1).min(range.end).max(low);
                set_run(bits, low - range.start..high - range.start);
                return Ok(());
            }
        }
        let decoded = decoded.get_or_insert_default();
        decoded.block = NONE;
        decoded.count = self.decode(block, &mut decoded.docs, None)?;
        (decoded.block, decoded.at) = (block, 0);
        decoded.set_bits(range, bits);
        Ok(())
    }

    /// How many documents of the block that are in `range` have bit `doc - range.start` set. What has to be
    /// decoded for it is left in `decoded`, as [`Blocks::fill_bits`] does.
    pub(crate) fn count_bits(
        &self,
        block: u32,
        range: &Range<u32>,
        decoded: &mut Option<Box<Decoded>>,
        bits: &[u64; MANY],
    ) -> Result<u32> {
        if let Some(decoded) = decoded
            && decoded.block == block
        {
            return Ok(decoded.count_bits(range, bits));
        }
        if !self.is_rest(block) {
            let full = self.full(block)?;
            let first = first_after(self.before(block));
            if let Some(words) = full.bits() {
                return Ok(shared::of_words(words, first, range, bits));
            }
            if full.is_run() {
                let last = self.check_run(block, first)?;
                let low = first.max(range.start);
                let high = (last + 1).min(range.end).max(low);
                return Ok(shared::of_run(low - range.start..high - range.start, bits));
            }
        }
        let decoded = decoded.get_or_insert_default();
        decoded.block = NONE;
        decoded.count = self.decode(block, &mut decoded.docs, None)?;
        (decoded.block, decoded.at) = (block, 0);
        Ok(decoded.count_bits(range, bits))
    }

    /// Looks for `doc` in a block, if its form allows to do so without decoding.
    #[inline]
    pub(crate) fn probe(&self, block: u32, doc: u32) -> Result<Probe> {
        if self.is_rest(block) {
            return Ok(Probe::Unknown);
        }
        let full = self.full(block)?;
        let first = first_after(self.before(block));
        let Some(place) = doc.checked_sub(first).map(|place| place as usize) else {
            return Ok(Probe::Absent);
        };
        if full.is_run() {
            self.check_run(block, first)?;
            return Ok(if place < BLOCK { Probe::At(place) } else { Probe::Absent });
        }
        let Some(words) = full.bits() else { return Ok(Probe::Unknown) };
        self.check_bits(block, words, first)?;
        let Some(word) = words.get(place / 64) else { return Ok(Probe::Absent) };
        let word = u64::from_le_bytes(*word);
        if word >> (place % 64) & 1 == 0 {
            return Ok(Probe::Absent);
        }
        let before = words[..place / 64].iter().map(|word| u64::from_le_bytes(*word).count_ones());
        let inside = (word & ((1 << (place % 64)) - 1)).count_ones();
        Ok(Probe::At((before.sum::<u32>() + inside) as usize))
    }

    /// Reads a block to look documents up in it: bits as they are, all else decoded.
    #[inline]
    pub(crate) fn enter(
        &self,
        block: u32,
        words: &mut [u64; WORDS],
        docs: &mut [u32; BLOCK],
    ) -> Result<Entered> {
        if self.is_rest(block) {
            return self.rest(block, docs, &mut [0; BLOCK]).map(Entered::Docs);
        }
        let full = self.full(block)?;
        let Some(bits) = full.bits() else {
            return self.docs_of(full, block, docs).map(|()| Entered::Docs(BLOCK));
        };
        let first = first_after(self.before(block));
        self.check_bits(block, bits, first)?;
        for (word, bits) in words.iter_mut().zip(bits) {
            *word = u64::from_le_bytes(*bits);
        }
        Ok(Entered::Words(first, bits.len().min(WORDS)))
    }

    /// Checks that a block of bits has 128 documents that end where the skips say.
    #[inline]
    fn check_bits(&self, block: u32, words: &[[u8; 8]], first: u32) -> Result<()> {
        let last = self.last(block);
        if words_end(words, first) != Some(last) || last >= self.terms.segment_doc_count() {
            return Err(self.malformed(block, "bits do not end at the last document"));
        }
        Ok(())
    }

    /// Checks that a block of neighbours ends where the skips say, and answers where.
    #[inline]
    fn check_run(&self, block: u32, first: u32) -> Result<u32> {
        let last = self.last(block);
        if last.checked_sub(first) != Some(BLOCK as u32 - 1)
            || last >= self.terms.segment_doc_count()
        {
            return Err(self.malformed(block, "neighbours do not end at the last document"));
        }
        Ok(last)
    }

    /// A full block's parts.
    #[inline]
    fn full(&self, block: u32) -> Result<Full<'_>> {
        let bytes = self.terms.postings_section().bytes(self.bytes_of(block)?)?;
        Full::parse(bytes, self.terms.options().freqs).map_err(|what| self.malformed(block, what))
    }

    #[inline]
    fn docs_of(&self, full: Full<'_>, block: u32, docs: &mut [u32; BLOCK]) -> Result<()> {
        let last = self.last(block);
        if last >= self.terms.segment_doc_count() {
            return Err(self.malformed(block, "document above the segment's"));
        }
        full.docs(self.before(block), last, docs).map_err(|what| self.malformed(block, what))
    }

    /// The last document before a block.
    #[inline]
    fn before(&self, block: u32) -> Option<u32> {
        match &self.skips {
            Some(skips) if block > 0 => Some(skips.last(block - 1)),
            _ => None,
        }
    }

    /// Where in the section of postings a block lies.
    #[inline]
    fn bytes_of(&self, block: u32) -> Result<Range<u64>> {
        let len = u64::from(self.info.postings_len);
        let (start, end) = match &self.skips {
            Some(skips) => {
                let start = if block == 0 { 0 } else { u64::from(skips.end(block - 1)) };
                (start, u64::from(skips.end(block)))
            }
            None => (0, len),
        };
        if start > end || end > len {
            return Err(self.malformed(block, "block of postings outside of its term"));
        }
        let at = self.info.postings;
        Ok(at.saturating_add(start)..at.saturating_add(end))
    }

    /// The bound of a term without skips; `None` where frequencies are not kept.
    fn small_impacts(&self) -> Option<Impacts> {
        if !self.terms.options().freqs {
            return None;
        }
        if self.info.single.is_some() {
            // The norm of a single document is not kept; the shortest possible one bounds it.
            let freq = u32::try_from(self.info.total_freq).unwrap_or(u32::MAX);
            return Some(Impacts::one(freq, 0));
        }
        let pairs = TermInfo::pairs(self.info.doc_freq);
        Some(Impacts::read(&self.info.impacts[..2 * pairs]))
    }

    #[cold]
    fn malformed(&self, block: u32, what: &'static str) -> Error {
        let at = self.info.postings;
        let offset = match (&self.skips, block) {
            (Some(skips), 1..) => at.saturating_add(u64::from(skips.end(block - 1))),
            _ => at,
        };
        self.terms.postings_section().malformed(offset, what)
    }

    /// Puts the documents of any block, and, where wanted, frequencies, into places of the caller.
    pub(crate) fn decode(
        &self,
        block: u32,
        docs: &mut [u32; BLOCK],
        freqs: Option<&mut [u32; BLOCK]>,
    ) -> Result<usize> {
        if self.is_rest(block) {
            return match freqs {
                Some(freqs) => self.rest(block, docs, freqs),
                None => self.rest(block, docs, &mut [0; BLOCK]),
            };
        }
        self.full_docs(block, docs)?;
        if let Some(freqs) = freqs {
            self.full_freqs(block, freqs)?;
        }
        Ok(BLOCK)
    }

    /// As [`Self::last`].
    #[inline]
    pub(crate) fn last_doc(&self, block: u32) -> DocId {
        DocId(self.last(block))
    }
}

impl Decoded {
    /// How many of the documents that are in `range` have their bit set.
    fn count_bits(&self, range: &Range<u32>, bits: &[u64; MANY]) -> u32 {
        let docs = &self.docs[..self.count];
        match docs {
            [first, .., last] if *first >= range.start && *last < range.end => {}
            _ => {
                let inside = docs.iter().filter(|doc| range.contains(doc));
                return inside.map(|doc| shared::bit(doc - range.start, bits)).sum();
            }
        }
        docs.iter().map(|doc| shared::bit(doc - range.start, bits)).sum()
    }

    /// Sets the bits of the documents that are in `range`.
    fn set_bits(&mut self, range: &Range<u32>, bits: &mut [u64]) {
        let docs = &self.docs[..self.count];
        if docs.len() == BLOCK && docs[0] >= range.start && docs[BLOCK - 1] < range.end {
            // Neighbours mostly share a word, and each write waits for the one before: four
            // streams, far from each other, wait together.
            const STREAM: usize = BLOCK / 4;
            let (a, rest) = docs.split_at(STREAM);
            let (b, rest) = rest.split_at(STREAM);
            let (c, d) = rest.split_at(STREAM);
            for (((a, b), c), d) in a.iter().zip(b).zip(c).zip(d) {
                for doc in [a, b, c, d] {
                    let at = doc - range.start;
                    bits[at as usize / 64] |= 1 << (at % 64);
                }
            }
            self.at = BLOCK;
            return;
        }
        let before = self.at.checked_sub(1).and_then(|at| docs.get(at));
        if before.is_some_and(|doc| *doc >= range.start) {
            self.at = 0;
        }
        while let Some(doc) = docs.get(self.at)
            && *doc < range.end
        {
            if let Some(at) = doc.checked_sub(range.start) {
                bits[at as usize / 64] |= 1 << (at % 64);
            }
            self.at += 1;
        }
    }
}

/// The last document whose bit is set, if there are 128.
fn words_end(words: &[[u8; 8]], first: u32) -> Option<u32> {
    let count: u32 = words.iter().map(|word| u64::from_le_bytes(*word).count_ones()).sum();
    let last = u64::from_le_bytes(*words.last()?);
    if count as usize != BLOCK || last == 0 {
        return None;
    }
    let at = (words.len() as u32 - 1) * 64 + (63 - last.leading_zeros());
    first.checked_add(at)
}

/// Sets the bits of `words`, which count from document `first`, that are in `range`.
fn or_words(words: &[[u8; 8]], first: u32, range: &Range<u32>, bits: &mut [u64]) {
    let last = first.saturating_add(words.len() as u32 * 64);
    if first < range.start || last > range.end {
        return or_part(words, first, range, bits);
    }
    let (index, shift) = ((first - range.start) as usize / 64, (first - range.start) % 64);
    let Some(bits) = bits.get_mut(index..) else { return };
    // What a word leaves over goes into the next one: each place is written once, so no write waits
    // for the one before.
    let mut left = 0;
    for (slot, word) in bits.iter_mut().zip(words) {
        let word = u64::from_le_bytes(*word);
        *slot |= word << shift | left;
        // In two steps, as none may be by 64.
        left = word >> 1 >> (63 - shift);
    }
    if let Some(slot) = bits.get_mut(words.len()) {
        *slot |= left;
    }
}

/// As [`or_words`], where `range` holds but a part of them.
fn or_part(words: &[[u8; 8]], first: u32, range: &Range<u32>, bits: &mut [u64]) {
    for (at, word) in (0u32..).zip(words) {
        let mut word = u64::from_le_bytes(*word);
        let base = first + at * 64;
        if base >= range.end {
            break;
        }
        if range.end - base < 64 {
            word &= (1 << (range.end - base)) - 1;
        }
        let Some(shift) = base.checked_sub(range.start) else {
            let before = range.start - base;
            if before < 64 {
                bits[0] |= word >> before;
            }
            continue;
        };
        let (index, shift) = (shift as usize / 64, shift % 64);
        bits[index] |= word << shift;
        if shift > 0 && word >> (64 - shift) != 0 {
            bits[index + 1] |= word >> (64 - shift);
        }
    }
}

/// Sets the bits of `range`.
fn set_run(bits: &mut [u64], range: Range<u32>) {
    for at in range.start / 64..range.end.div_ceil(64) {
        let low = range.start.saturating_sub(at * 64);
        let high = (range.end - at * 64).min(64);
        let mask = if high == 64 { u64::MAX } else { (1 << high) - 1 };
        bits[at as usize] |= mask & !((1 << low) - 1);
    }
}
