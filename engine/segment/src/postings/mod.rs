//! Stub.
use crate::error::Result;
use crate::section::Missing;
use base::DocId;
use std::ops::Range;

/// Number of documents in a full block.
pub const BLOCK: usize = 128;
/// Number of blocks in a group.
pub const GROUP: u32 = 32;
/// What a cursor stands on after its last document.
pub const END: DocId = DocId(u32::MAX);

/// What of the postings will be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// Documents.
    Docs,
    /// And frequencies.
    Freqs,
    /// And positions.
    Positions,
}

/// Pairs (frequency, norm byte), one of which scores at least as high as any document of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Impacts {}
impl Impacts {
    /// The pairs, frequencies and norms rising together. Frequency `u32::MAX` stands for "any".
    pub fn iter(&self) -> impl Iterator<Item = (u32, u8)> + '_ {
        std::iter::empty()
    }
}

/// A bound that holds from the document asked about to `last`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockMax {
    /// The last document for which the bound holds.
    pub last: DocId,
    /// The bound.
    pub impacts: Impacts,
}

/// The documents of a term. Fresh, it stands before the first: `next` or `seek` first.
///
/// Two ways to read: as a cursor (`next`, `seek`, `doc`, `freq`, `positions`), or by blocks.
/// Damage ends the cursor and is recorded in the segment (`Segment::fault`).
pub struct Postings {}
impl Postings {
    /// Number of documents.
    pub fn doc_freq(&self) -> u32 {
        todo!()
    }
    /// Where it stands; `END` after the last.
    pub fn doc(&self) -> DocId {
        todo!()
    }
    /// Moves to the next document.
    pub fn next(&mut self) -> DocId {
        todo!()
    }
    /// Moves to the first document at or after `target`; stays where it stands there already.
    pub fn seek(&mut self, _target: DocId) -> DocId {
        todo!()
    }
    /// How often the term is in the document; 1 where frequencies are not kept or not asked for.
    pub fn freq(&mut self) -> u32 {
        todo!()
    }
    /// Where the term is in the document; replaces what `out` held.
    pub fn positions(&mut self, _out: &mut Vec<u32>) {
        todo!()
    }
    /// Names what reading documents of `range` will read.
    pub fn need(&self, _range: Range<u32>, _missing: &mut Missing) -> Result<()> {
        todo!()
    }
    /// The bound of the block that holds the first document at or after `target`. Does not move.
    pub fn block_max(&self, _target: DocId) -> BlockMax {
        todo!()
    }
    /// The bound of the group of blocks that holds it. Does not move.
    pub fn group_max(&self, _target: DocId) -> BlockMax {
        todo!()
    }
    /// From where it stands (or the first document at or after `range.start`) sets bit
    /// `doc - range.start` for each document of the range, and stands after the range.
    pub fn fill_bits(&mut self, _range: Range<u32>, _bits: &mut [u64]) {
        todo!()
    }
    /// The next run of documents below `end` that lie in one block, with their frequencies (empty
    /// where not asked for); moves past them. `None`: the cursor stands at or after `end`.
    pub fn run(&mut self, _end: DocId) -> Option<(&[u32], &[u32])> {
        todo!()
    }

    /// Number of blocks.
    pub fn block_count(&self) -> u32 {
        todo!()
    }
    /// Last document of a block.
    pub fn block_last(&self, _block: u32) -> DocId {
        todo!()
    }
    /// The first block, from `from` on, whose last document is at or after `target`.
    pub fn block_of(&self, _from: u32, _target: DocId) -> u32 {
        todo!()
    }
    /// The bound of a block.
    pub fn block_impacts(&self, _block: u32) -> Impacts {
        todo!()
    }
    /// The bound of a group of [`GROUP`] blocks.
    pub fn group_impacts(&self, _group: u32) -> Impacts {
        todo!()
    }
    /// Names what reading `blocks` will read.
    pub fn need_blocks(&self, _blocks: Range<u32>, _missing: &mut Missing) -> Result<()> {
        todo!()
    }
    /// Documents of a block; answers how many. 0 where the block is damaged (and recorded).
    pub fn docs(&self, _block: u32, _docs: &mut [u32; BLOCK]) -> usize {
        todo!()
    }
    /// Documents and frequencies of a block; answers how many.
    pub fn docs_and_freqs(
        &self,
        _block: u32,
        _docs: &mut [u32; BLOCK],
        _freqs: &mut [u32; BLOCK],
    ) -> usize {
        todo!()
    }
}
