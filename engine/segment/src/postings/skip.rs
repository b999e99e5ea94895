//! Skips of a term with at least 128 documents: where its blocks end and what they are worth.
//!
//! They are resident, so that a plan can tell which blocks a window needs, and which are not
//! worth reading, before any block is there. Smaller terms have none: their one rest is all.
//!
//! Always true
//! 1. The rest, where there is one, is a block like the others: the last.
//! 2. Arrays have fixed places, so nothing is decoded to search them.
//!
//! Layout (little-endian), `n` blocks in `g = ⌈n / 32⌉` groups; lines marked F only where
//! frequencies are kept, P only where positions are
//!
//! | bytes |   | what                                                                        |
//! |-------|---|-----------------------------------------------------------------------------|
//! | 4 n   |   | last document of each block                                                 |
//! | 4 n   |   | where each block ends in the term's postings                                |
//! | 8 n   | F | impacts of each block: 4 pairs                                              |
//! | 16 g  | F | impacts of each group: 8 pairs                                              |
//! | 4 n   | P | where in the term's positions the packed block begins in which the positions of the block's first document begin |
//! | n     | P | which value of that packed block is the first                               |
//!
//! Not here: the blocks (`block`).

use env::Bytes;

use super::block::BLOCK;
use super::impact::{BLOCK_PAIRS, GROUP_PAIRS, Impacts};
use crate::terms::TermOptions;

/// Number of blocks in a group.
pub const GROUP: u32 = 32;

/// How the skips of a term lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    blocks: usize,
    options: TermOptions,
}

impl Shape {
    /// The shape for a term of `doc_freq` documents.
    pub(crate) fn new(doc_freq: u32, options: TermOptions) -> Self {
        Self { blocks: (doc_freq as usize).div_ceil(BLOCK), options }
    }

    /// Number of blocks.
    pub(crate) fn blocks(&self) -> u32 {
        self.blocks as u32
    }

    /// Number of groups.
    fn groups(&self) -> usize {
        self.blocks.div_ceil(GROUP as usize)
    }

    #[inline]
    fn impacts_at(&self) -> usize {
        8 * self.blocks
    }

    #[inline]
    fn groups_at(&self) -> usize {
        self.impacts_at() + if self.options.freqs { 2 * BLOCK_PAIRS * self.blocks } else { 0 }
    }

    fn positions_at(&self) -> usize {
        self.groups_at() + if self.options.freqs { 2 * GROUP_PAIRS * self.groups() } else { 0 }
    }

    /// Length of the skips in bytes; 0 for a term that has none.
    pub(crate) fn len_bytes(&self, doc_freq: u32) -> usize {
        if (doc_freq as usize) < BLOCK {
            return 0;
        }
        self.positions_at() + if self.options.positions { 5 * self.blocks } else { 0 }
    }
}

/// The skips of one term, in place.
#[derive(Clone, Debug)]
pub(crate) struct Skips {
    bytes: Bytes,
    shape: Shape,
}

impl Skips {
    /// `bytes` are as long as the shape says.
    pub(crate) fn new(bytes: Bytes, shape: Shape) -> Self {
        Self { bytes, shape }
    }

    /// Last document of `block`.
    #[inline]
    pub(crate) fn last(&self, block: u32) -> u32 {
        self.lasts()[block as usize].native()
    }

    /// Where `block` ends in the term's postings.
    #[inline]
    pub(crate) fn end(&self, block: u32) -> u32 {
        self.u32_at(4 * (self.shape.blocks + block as usize))
    }

    /// The first block from `from` on whose last document is at or after `target`; the number of
    /// blocks where there is none.
    #[inline]
    pub(crate) fn block_of(&self, from: u32, target: u32) -> u32 {
        let lasts = self.lasts();
        let last = |at: usize| lasts[at].native();
        // Plans mostly move to a block nearby: look at widening distances, then halve the last.
        let mut low = from as usize;
        let mut step = 1;
        let mut high = low;
        while high < lasts.len() && last(high) < target {
            low = high + 1;
            high += step;
            step *= 2;
        }
        high = high.min(lasts.len());
        (low + lasts[low..high].partition_point(|last| last.native() < target)) as u32
    }

    /// Impacts of a block; without frequencies any document is like any other.
    #[inline]
    pub(crate) fn impacts(&self, block: u32) -> Option<Impacts> {
        let at = self.shape.impacts_at() + 2 * BLOCK_PAIRS * block as usize;
        self.shape.options.freqs.then(|| Impacts::read(&self.bytes[at..at + 2 * BLOCK_PAIRS]))
    }

    /// Impacts of a group.
    #[inline]
    pub(crate) fn group_impacts(&self, group: u32) -> Option<Impacts> {
        let at = self.shape.groups_at() + 2 * GROUP_PAIRS * group as usize;
        self.shape.options.freqs.then(|| Impacts::read(&self.bytes[at..at + 2 * GROUP_PAIRS]))
    }

    /// Where the positions of a block's first document begin: packed block, and value in it.
    pub(crate) fn positions(&self, block: u32) -> (u32, u8) {
        let at = self.shape.positions_at();
        let offset = self.u32_at(at + 4 * block as usize);
        (offset, self.bytes[at + 4 * self.shape.blocks + block as usize])
    }

    #[inline]
    fn lasts(&self) -> &[[u8; 4]] {
        self.bytes[..4 * self.shape.blocks].as_chunks().0
    }

    #[inline]
    fn u32_at(&self, at: usize) -> u32 {
        crate::footer::u32_at(&self.bytes, at)
    }
}

/// Reading a stored number in place.
trait Native {
    fn native(&self) -> u32;
}

impl Native for [u8; 4] {
    #[inline]
    fn native(&self) -> u32 {
        u32::from_le_bytes(*self)
    }
}

/// Gathers the skips of one term after the other.
#[derive(Default)]
pub(crate) struct SkipWriter {
    lasts: Vec<u32>,
    ends: Vec<u32>,
    impacts: Vec<u8>,
    group_impacts: Vec<u8>,
    offsets: Vec<u32>,
    firsts: Vec<u8>,
}

impl SkipWriter {
    /// Begins a term.
    pub(crate) fn clear(&mut self) {
        self.lasts.clear();
        self.ends.clear();
        self.impacts.clear();
        self.group_impacts.clear();
        self.offsets.clear();
        self.firsts.clear();
    }

    /// Takes a block: its last document, and where it ends.
    pub(crate) fn block(&mut self, last: u32, end: u32) {
        self.lasts.push(last);
        self.ends.push(end);
    }

    /// Where the impacts of the next block go.
    pub(crate) fn impacts(&mut self) -> &mut Vec<u8> {
        &mut self.impacts
    }

    /// Where the impacts of the next group go.
    pub(crate) fn group_impacts(&mut self) -> &mut Vec<u8> {
        &mut self.group_impacts
    }

    /// Takes where the positions of the next block's first document begin.
    pub(crate) fn positions(&mut self, offset: u32, first: u8) {
        self.offsets.push(offset);
        self.firsts.push(first);
    }

    /// Number of blocks taken.
    pub(crate) fn block_count(&self) -> usize {
        self.lasts.len()
    }

    /// Appends the skips of the term.
    pub(crate) fn write(&self, doc_freq: u32, options: TermOptions, out: &mut Vec<u8>) {
        let start = out.len();
        for number in self.lasts.iter().chain(&self.ends) {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.extend_from_slice(&self.impacts);
        out.extend_from_slice(&self.group_impacts);
        for offset in &self.offsets {
            out.extend_from_slice(&offset.to_le_bytes());
        }
        out.extend_from_slice(&self.firsts);
        let len = Shape::new(doc_freq, options).len_bytes(doc_freq);
        assert_eq!(out.len() - start, len, "readers know the length by the number of documents");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const OPTIONS: TermOptions = TermOptions { freqs: true, positions: true };

    fn skips(lasts: &[u32]) -> Skips {
        let doc_freq = (lasts.len() * BLOCK) as u32;
        let mut writer = SkipWriter::default();
        for (at, last) in (0u32..).zip(lasts) {
            writer.block(*last, at * 10 + 10);
            writer.impacts().extend_from_slice(&[at as u8; 8]);
            if at % GROUP == 0 {
                writer.group_impacts().extend_from_slice(&[at as u8; 16]);
            }
            writer.positions(at * 100, at as u8);
        }
        let mut bytes = Vec::new();
        writer.write(doc_freq, OPTIONS, &mut bytes);
        Skips::new(Bytes::from(bytes), Shape::new(doc_freq, OPTIONS))
    }

    #[test]
    fn each_block_has_its_line() {
        let skips = skips(&(0..70).map(|at| at * 200 + 199).collect::<Vec<_>>());
        assert_eq!(skips.last(69), 69 * 200 + 199);
        assert_eq!(skips.end(69), 700);
        assert_eq!(skips.impacts(69).expect("kept").iter().next(), Some((69, 69)));
        assert_eq!(skips.group_impacts(2).expect("kept").iter().next(), Some((64, 64)));
        assert_eq!(skips.positions(69), (6900, 69));
    }

    proptest! {
        #[test]
        fn block_of_is_the_first_that_reaches(
            steps in prop::collection::vec(1u32..50, 1..200),
            from in 0u32..200,
            target in 0u32..6000,
        ) {
            let lasts: Vec<u32> = steps.iter().scan(127, |last, step| { *last += step; Some(*last) }).collect();
            let from = from % lasts.len() as u32;
            let plain = (from as usize..lasts.len()).find(|at| lasts[*at] >= target);
            prop_assert_eq!(skips(&lasts).block_of(from, target) as usize, plain.unwrap_or(lasts.len()));
        }
    }
}
