//! One term: its documents in blocks of 128, decoded into arrays when they are entered.
//!
//! [`TermFilter`] fills bits straight from packed blocks; [`TermScorer`] decodes documents and
//! frequencies and scores a block at once. Both follow a lead by [`Blocks::find`]: resident skips
//! name the block, one decode, a search inside.

use std::ops::Range;
use std::sync::Arc;

use base::DocId;
use segment::postings::{BLOCK, GROUP};
use segment::{Need, Norms, Postings, TermInfo, Terms};

use super::{Bits, END, Filter, Hits, NO_MATCH, Scorer, Turn, WINDOW, Window};
use crate::score::bm25::{self, Inverses, NO_NORM};

/// Blocks that an unpruned window of one term takes together.
const BLOCKS_A_WINDOW: u32 = 16;

/// A decoded block and the way to the next.
pub struct Blocks {
    /// The term's postings, read by blocks.
    pub postings: Postings,
    /// Number of blocks.
    pub count: u32,
    /// The block decoded; `END` before the first.
    pub block: u32,
    /// Documents of the block; `END` in the places after the last.
    pub docs: [u32; BLOCK],
    /// Number of documents of the block.
    pub len: usize,
    /// Frequencies, where they were decoded for this block.
    pub freqs: [u32; BLOCK],
    /// They were.
    pub has_freqs: bool,
    /// Where in the block the last search ended.
    pub at: usize,
}

impl Blocks {
    /// Before the first block.
    pub fn new(postings: Postings) -> Self {
        let count = postings.block_count();
        Self {
            postings,
            count,
            block: END,
            docs: [END; BLOCK],
            len: 0,
            freqs: [0; BLOCK],
            has_freqs: false,
            at: 0,
        }
    }

    /// The first block that may hold documents at or after `from`.
    #[inline]
    pub fn block_of(&self, from: u32) -> u32 {
        let near = match self.block {
            END => 0,
            block if block == 0 || self.postings.block_last(block - 1).get() < from => block,
            _ => 0,
        };
        self.postings.block_of(near, DocId(from))
    }

    /// The first document at or after `from` that may be there, told without decoding.
    #[inline]
    pub fn next(&self, from: u32) -> u32 {
        if self.block != END && self.len > 0 {
            // Inside the decoded block it is known exactly.
            if from <= self.docs[self.len - 1] && (from >= self.docs[0] || self.block == 0) {
                let at = place_of(&self.docs, self.at_before(from), from);
                return self.docs[at];
            }
            if self.count == 1 {
                return if from > self.docs[self.len - 1] { END } else { self.docs[0] };
            }
        }
        let block = self.block_of(from);
        if block >= self.count {
            return END;
        }
        match block {
            0 => from,
            block => from.max(self.postings.block_last(block - 1).get() + 1),
        }
    }

    /// A place to begin a search for `target` from.
    #[inline]
    fn at_before(&self, target: u32) -> usize {
        if self.at < self.len && self.docs[self.at] < target { self.at } else { 0 }
    }

    /// Does the decoded block hold a document of `range`?
    #[inline]
    fn touches(&self, range: &Range<u32>) -> bool {
        let at = place_of(&self.docs, 0, range.start);
        at < self.len && self.docs[at] < range.end
    }

    /// Decodes a term of one block, so that its documents are known exactly. Only where every
    /// block is there.
    pub fn settle(&mut self) {
        if self.count == 1 {
            self.enter(0);
        }
    }

    /// Decodes the documents of a block.
    #[inline]
    pub fn enter(&mut self, block: u32) {
        if self.block == block {
            return;
        }
        self.len = self.postings.docs(block, &mut self.docs);
        self.block = block;
        self.has_freqs = false;
        self.at = 0;
    }

    /// Decodes the documents and frequencies of a block.
    #[inline]
    pub fn enter_with_freqs(&mut self, block: u32) {
        if self.block == block && self.has_freqs {
            return;
        }
        if self.block != block {
            self.at = 0;
        }
        self.len = self.postings.docs_and_freqs(block, &mut self.docs, &mut self.freqs);
        self.block = block;
        self.has_freqs = true;
    }

    /// The frequency at a place of the block entered.
    #[inline]
    pub fn freq(&mut self, at: usize) -> u32 {
        if !self.has_freqs {
            self.postings.freqs(self.block, &mut self.freqs);
            self.has_freqs = true;
        }
        self.freqs[at]
    }

    /// Is `target` there? Then the block is entered and `at` is its place. Cheapest where targets
    /// rise.
    #[inline]
    pub fn find(&mut self, target: u32) -> bool {
        if self.len == 0 || target > self.docs[self.len - 1] {
            let block = self.block_of(target);
            if block >= self.count {
                return false;
            }
            self.enter(block);
            if self.len == 0 {
                return false;
            }
        }
        let here = self.docs[self.at];
        if here < target {
            self.at = place_of(&self.docs, self.at, target);
            if self.at >= self.len {
                // The end of a small term is not known before it is read.
                self.at = self.len - 1;
                return false;
            }
        } else if here > target {
            return self.find_behind(target);
        }
        self.docs[self.at] == target
    }

    /// Is `target` there, which is before the place of the last search?
    fn find_behind(&mut self, target: u32) -> bool {
        if self.at > 0 {
            if self.docs[self.at - 1] < target {
                return false;
            }
        } else if self.block == 0 || self.postings.block_last(self.block - 1).get() < target {
            return false;
        }
        if target < self.docs[0] {
            let block = self.postings.block_of(0, DocId(target));
            self.enter(block);
            if self.len == 0 {
                return false;
            }
        }
        self.at = place_of(&self.docs, 0, target);
        self.docs[self.at] == target
    }

    /// Places of the entered block that lie in `range`.
    #[inline]
    pub fn places(&self, range: &Range<u32>) -> Range<usize> {
        let docs = &self.docs[..self.len];
        let start = match docs.first() {
            Some(first) if *first < range.start => place_of(&self.docs, 0, range.start),
            _ => 0,
        };
        let end = match docs.last() {
            Some(last) if *last >= range.end => place_of(&self.docs, start, range.end),
            _ => self.len,
        };
        start.min(self.len)..end.min(self.len)
    }

    /// Names the blocks that hold documents of `range`.
    pub fn prepare(&self, range: Range<u32>, turn: &mut Turn<'_>) -> bool {
        if turn.resident || range.is_empty() {
            return true;
        }
        let first = self.postings.block_of(0, DocId(range.start));
        let end = self.postings.block_of(first, DocId(range.end - 1)).saturating_add(1);
        self.need(first..end.min(self.count), turn)
    }

    /// Names the blocks that may hold one of `docs`.
    pub fn prepare_probe(&self, docs: &[u32], turn: &mut Turn<'_>) -> bool {
        if turn.resident {
            return true;
        }
        let mut block = 0;
        let mut named = END;
        for doc in docs {
            block = self.postings.block_of(block, DocId(*doc));
            if block >= self.count {
                break;
            }
            if block != named {
                self.need(block..block + 1, turn);
                named = block;
            }
        }
        turn.is_ready()
    }

    fn need(&self, blocks: Range<u32>, turn: &mut Turn<'_>) -> bool {
        // A block that cannot even be named is met again, and recorded, when it is read.
        let _ = self.postings.need_blocks(blocks, turn.missing);
        turn.is_ready()
    }
}

/// The first place at or after `from` whose document is at or after `target`; `BLOCK` where there
/// is none. Places after the last document hold the highest number.
#[inline]
pub fn place_of(docs: &[u32; BLOCK], from: usize, target: u32) -> usize {
    const LANES: usize = 16;
    let mut start = from / LANES * LANES;
    while start + LANES < BLOCK && docs[start + LANES - 1] < target {
        start += LANES;
    }
    let below: usize =
        docs[start..start + LANES].iter().map(|doc| usize::from(*doc < target)).sum();
    start + below
}

/// The documents of one term.
pub struct TermFilter {
    blocks: Blocks,
    doc_count: u32,
}

impl TermFilter {
    /// The documents of the term that `info` describes, in a segment of `doc_count`.
    pub fn new(terms: &Terms, info: &TermInfo, doc_count: u32) -> Self {
        Self { blocks: Blocks::new(terms.postings(info, Need::Docs)), doc_count }
    }
}

impl Filter for TermFilter {
    fn cost(&self) -> u64 {
        u64::from(self.blocks.postings.doc_freq())
    }

    fn next(&mut self, from: u32) -> u32 {
        self.blocks.next(from)
    }

    fn prepare(&mut self, window: u32, turn: &mut Turn<'_>) -> bool {
        self.blocks.prepare(window_range(window, self.doc_count), turn)
    }

    fn fill(&mut self, window: u32, bits: &mut Bits) {
        self.blocks.postings.fill_bits(window_range(window, self.doc_count), bits);
    }

    fn prepare_probe(&mut self, docs: &[u32], turn: &mut Turn<'_>) -> bool {
        self.blocks.prepare_probe(docs, turn)
    }

    fn probe(&mut self, docs: &[u32], matches: &mut [bool]) {
        for (slot, doc) in matches.iter_mut().zip(docs) {
            *slot = self.blocks.find(*doc);
        }
    }

    fn count(&mut self) -> Option<u64> {
        Some(u64::from(self.blocks.postings.doc_freq()))
    }

    fn count_min(&self) -> u64 {
        u64::from(self.blocks.postings.doc_freq())
    }
}

/// The documents of a window in a segment of `doc_count`.
#[inline]
pub fn window_range(window: u32, doc_count: u32) -> Range<u32> {
    let start = window * WINDOW;
    start..(start.saturating_add(WINDOW)).min(doc_count).max(start)
}

/// What a term's scores are made of, in one shard.
#[derive(Clone, Debug)]
pub struct Weight {
    /// BM25's factor: boost, 2.2 and idf.
    pub weight: f32,
    /// The inverse of each length.
    pub inverses: Arc<Inverses>,
    /// The field keeps lengths.
    pub norms: bool,
    /// What it came from, for explanations.
    pub origin: Origin,
}

/// What a weight came from.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Origin {
    /// Factor of the score, 2.2 not among it.
    pub boost: f32,
    /// Inverse document frequency.
    pub idf: f32,
    /// Documents that have the field.
    pub doc_count: u64,
    /// Documents that have the term.
    pub doc_freq: u64,
    /// Mean length of the field.
    pub average: f32,
}

impl Weight {
    /// The inverse of a norm.
    #[inline]
    pub fn inverse(&self, norm: u8) -> f32 {
        self.inverses[usize::from(if self.norms { norm } else { NO_NORM })]
    }

    /// The best score of some (frequency, norm) pairs.
    #[inline]
    pub fn bound(&self, impacts: &segment::Impacts) -> f32 {
        let mut best = 0.0f32;
        for (freq, norm) in impacts.iter() {
            best = best.max(bm25::score(self.weight, freq as f32, self.inverse(norm)));
        }
        best
    }
}

/// Bounds on the scores of a term's blocks, computed when first asked.
pub struct Bounds {
    weight: Weight,
    /// Bounds of blocks and groups; negative where not yet computed.
    blocks: Vec<f32>,
    groups: Vec<f32>,
}

/// A bound that was not computed.
const UNKNOWN: f32 = -1.0;

impl Bounds {
    /// Bounds of the blocks of a term with this weight.
    pub fn new(blocks: &Blocks, weight: Weight) -> Self {
        let groups = blocks.count.div_ceil(GROUP) as usize;
        Self { weight, blocks: vec![UNKNOWN; blocks.count as usize], groups: vec![UNKNOWN; groups] }
    }

    /// The bound of a block.
    #[inline]
    pub fn block(&mut self, blocks: &Blocks, block: u32) -> f32 {
        let known = self.blocks[block as usize];
        if known >= 0.0 {
            return known;
        }
        let bound = self.weight.bound(&blocks.postings.block_impacts(block));
        self.blocks[block as usize] = bound;
        bound
    }

    /// The bound of a group of blocks.
    #[inline]
    pub fn group(&mut self, blocks: &Blocks, group: u32) -> f32 {
        let known = self.groups[group as usize];
        if known >= 0.0 {
            return known;
        }
        let bound = self.weight.bound(&blocks.postings.group_impacts(group));
        self.groups[group as usize] = bound;
        bound
    }

    /// The bound of all blocks.
    pub fn all(&mut self, blocks: &Blocks) -> f32 {
        (0..self.groups.len() as u32).map(|group| self.group(blocks, group)).fold(0.0, f32::max)
    }

    /// The first block from `block` on whose bound reaches `bar`.
    #[inline]
    fn worthy(&mut self, blocks: &Blocks, mut block: u32, bar: f32) -> u32 {
        while block < blocks.count {
            if block.is_multiple_of(GROUP) && self.group(blocks, block / GROUP) < bar {
                block += GROUP;
            } else if self.block(blocks, block) < bar {
                block += 1;
            } else {
                break;
            }
        }
        block.min(blocks.count)
    }

    /// The bound of the documents of a range.
    pub fn over(&mut self, blocks: &Blocks, range: Range<u32>) -> f32 {
        if range.is_empty() {
            return 0.0;
        }
        let mut block = blocks.block_of(range.start);
        let mut best = 0.0f32;
        while block < blocks.count {
            // Documents of this block come after the last of the block before.
            let before = block.checked_sub(1).map(|before| blocks.postings.block_last(before));
            if before.is_some_and(|before| before.get() + 1 >= range.end) {
                break;
            }
            if block == blocks.block && !blocks.touches(&range) {
                // The documents of the decoded block are known exactly.
                block += 1;
            } else if block.is_multiple_of(GROUP)
                && blocks.postings.group_last(block / GROUP).get() < range.end
            {
                best = best.max(self.group(blocks, block / GROUP));
                block += GROUP;
            } else {
                best = best.max(self.block(blocks, block));
                block += 1;
            }
        }
        best
    }
}

/// The documents of one term with their scores.
pub struct TermScorer {
    blocks: Blocks,
    norms: Option<Norms>,
    weight: Weight,
    bounds: Bounds,
    bound: f32,
}

impl TermScorer {
    /// The documents of the term that `info` describes; `resident`: every block is there.
    pub fn new(
        terms: &Terms,
        info: &TermInfo,
        norms: Option<Norms>,
        weight: Weight,
        resident: bool,
    ) -> Self {
        let mut blocks = Blocks::new(terms.postings(info, Need::Freqs));
        if resident {
            blocks.settle();
        }
        let norms = norms.filter(|_| weight.norms);
        let mut bounds = Bounds::new(&blocks, weight.clone());
        let bound = bounds.all(&blocks);
        Self { blocks, norms, weight, bounds, bound }
    }

    /// Appends the scores of the places of the block entered.
    #[inline]
    fn score(&self, places: Range<usize>, out: &mut Vec<f32>) {
        let (docs, freqs) = (&self.blocks.docs[places.clone()], &self.blocks.freqs[places]);
        let from = out.len();
        out.resize(from + docs.len(), 0.0);
        let out = &mut out[from..];
        match &self.norms {
            None => out.fill(self.weight.inverse(NO_NORM)),
            Some(norms) => match norms.dense() {
                Some(norms) => gather(&self.weight.inverses, norms, docs, out),
                None => {
                    for (slot, doc) in out.iter_mut().zip(docs) {
                        *slot = self.weight.inverse(norms.get(DocId(*doc)));
                    }
                }
            },
        }
        bm25::scores(self.weight.weight, freqs, out);
    }

    /// The score of the place that was found last.
    #[inline]
    fn score_found(&mut self, norms: Option<&[u8]>, doc: u32) -> f32 {
        let at = self.blocks.at;
        let freq = self.blocks.freq(at);
        let inverse = match (norms, &self.norms) {
            (Some(norms), _) => self.weight.inverses[usize::from(norms[doc as usize])],
            (None, Some(norms)) => self.weight.inverse(norms.get(DocId(doc))),
            (None, None) => self.weight.inverse(NO_NORM),
        };
        bm25::score(self.weight.weight, freq as f32, inverse)
    }
}

/// The inverse of each document's norm.
#[inline]
fn gather(inverses: &Inverses, norms: &[u8], docs: &[u32], out: &mut [f32]) {
    for (slot, doc) in out.iter_mut().zip(docs) {
        *slot = inverses[usize::from(norms[*doc as usize])];
    }
}

impl Scorer for TermScorer {
    fn cost(&self) -> u64 {
        u64::from(self.blocks.postings.doc_freq())
    }

    fn next(&mut self, from: u32) -> u32 {
        self.blocks.next(from)
    }

    fn window(&mut self, from: u32, bar: f32, turn: &mut Turn<'_>) -> Window {
        if self.bound < bar {
            return Window::NONE;
        }
        let near = self.blocks.block_of(from);
        let block = match bar > 0.0 {
            true => self.bounds.worthy(&self.blocks, near, bar),
            false => near,
        };
        turn.spend((block - near) as usize + 1);
        if block >= self.blocks.count {
            return Window::NONE;
        }
        let start = match block {
            0 => from,
            block => from.max(self.blocks.postings.block_last(block - 1).get() + 1),
        };
        let blocks = if bar > 0.0 { 1 } else { BLOCKS_A_WINDOW };
        let last = (block + blocks).min(self.blocks.count) - 1;
        let end = self.blocks.postings.block_last(last).get() + 1;
        Window { start, end: end.max(start), bar }
    }

    fn max_score(&mut self, range: Range<u32>) -> f32 {
        self.bounds.over(&self.blocks, range)
    }

    fn prepare(&mut self, window: &Window, turn: &mut Turn<'_>) -> bool {
        self.blocks.prepare(window.range(), turn)
    }

    fn fill(&mut self, window: &Window, hits: &mut Hits) {
        let range = window.range();
        if range.is_empty() {
            return;
        }
        let mut block = self.blocks.block_of(range.start);
        while block < self.blocks.count {
            if block > 0 && self.blocks.postings.block_last(block - 1).get() + 1 >= range.end {
                break;
            }
            if window.bar <= 0.0 || self.bounds.block(&self.blocks, block) >= window.bar {
                self.blocks.enter_with_freqs(block);
                let places = self.blocks.places(&range);
                hits.docs.extend_from_slice(&self.blocks.docs[places.clone()]);
                self.score(places, &mut hits.scores);
            }
            block += 1;
        }
    }

    fn prepare_probe(&mut self, docs: &[u32], turn: &mut Turn<'_>) -> bool {
        self.blocks.prepare_probe(docs, turn)
    }

    fn probe(&mut self, docs: &[u32], scores: &mut [f32]) {
        // One counter's clone buys the slice for the whole loop.
        let norms = self.norms.clone();
        let dense = norms.as_ref().and_then(Norms::dense);
        for (slot, doc) in scores.iter_mut().zip(docs) {
            *slot = if self.blocks.find(*doc) { self.score_found(dense, *doc) } else { NO_MATCH };
        }
    }

    fn count_min(&self) -> u64 {
        u64::from(self.blocks.postings.doc_freq())
    }
}
