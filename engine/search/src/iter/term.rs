//! One term as a clause.
//!
//! [`TermFilter`] fills bits straight from packed blocks; [`TermScorer`] decodes documents and
//! frequencies and scores a block at once. Both follow a lead by [`Blocks::find`].

use std::ops::Range;
use std::sync::Arc;

use base::DocId;
use segment::postings::GROUP;
use segment::{Need, Norms, TermInfo, Terms};

use super::blocks::{Blocks, Met};
use super::{Bits, Filter, Hits, NO_MATCH, Scorer, Turn, WINDOW, Window};
use crate::score::bm25::{self, Inverses, NO_NORM};
use crate::score::model::Curve;

/// Blocks that an unpruned window of one term takes together.
const BLOCKS_A_WINDOW: u32 = 16;

/// The documents of one term.
pub struct TermFilter {
    blocks: Blocks,
    met: Met,
    doc_count: u32,
}

impl TermFilter {
    /// The documents of the term that `info` describes, in a segment of `doc_count`.
    pub fn new(terms: &Terms, info: &TermInfo, doc_count: u32) -> Self {
        let blocks = Blocks::new(terms.postings(info, Need::Docs));
        Self { blocks, met: Met::default(), doc_count }
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
        matches.fill(false);
        let mut from = 0;
        while from < docs.len() {
            let looked = self.blocks.meet::<false>(&docs[from..], &mut self.met);
            for which in &self.met.which[..self.met.count] {
                matches[from + usize::from(*which)] = true;
            }
            from += looked;
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
    /// BM25's factor: boost, 2.2 and idf. No score is above it.
    pub weight: f32,
    /// The inverse of each length; of each norm the norm itself, where a model scores.
    pub inverses: Arc<Inverses>,
    /// What scores in place of BM25.
    pub curve: Option<Arc<Curve>>,
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

    /// The score of a frequency and the inverse of a norm.
    #[inline]
    pub fn score(&self, freq: f32, inverse: f32) -> f32 {
        match &self.curve {
            None => bm25::score(self.weight, freq, inverse),
            Some(curve) => curve.score(freq, inverse as u8),
        }
    }

    /// The scores of frequencies whose inverses stand in `out`.
    #[inline]
    pub fn scores(&self, freqs: &[u32], out: &mut [f32]) {
        match &self.curve {
            None => bm25::scores(self.weight, freqs, out),
            Some(curve) => {
                for (slot, freq) in out.iter_mut().zip(freqs) {
                    *slot = curve.score(*freq as f32, *slot as u8);
                }
            }
        }
    }

    /// The best score of some (frequency, norm) pairs. A score rises with the product alone.
    #[inline]
    pub fn bound(&self, impacts: &segment::Impacts) -> f32 {
        let mut most = 0.0f32;
        if let Some(curve) = &self.curve {
            for (freq, norm) in impacts.iter() {
                let norm = if self.norms { norm } else { NO_NORM };
                most = most.max(curve.bound(freq as f32, norm));
            }
            return most;
        }
        for (freq, norm) in impacts.iter() {
            most = most.max(freq as f32 * self.inverse(norm));
        }
        bm25::score(self.weight, most, 1.0)
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
    pub(super) fn worthy(&mut self, blocks: &Blocks, mut block: u32, bar: f32) -> u32 {
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
    met: Met,
    /// Blocks that the next window without a bar takes together: few at first, as they may set one.
    taken: u32,
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
        Self { blocks, norms, weight, bounds, bound, met: Met::default(), taken: 1 }
    }

    /// Appends the scores of the places of the block entered.
    #[inline]
    fn score(&mut self, places: Range<usize>, out: &mut Vec<f32>) {
        let (docs, freqs) = self.blocks.both(places);
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
        self.weight.scores(freqs, out);
    }

    /// The score of a place that was found.
    #[inline]
    fn score_found(&mut self, norms: Option<&[u8]>, doc: u32, at: usize) -> f32 {
        let freq = self.blocks.freq(at);
        let inverse = match (norms, &self.norms) {
            (Some(norms), _) => self.weight.inverses[usize::from(norms[doc as usize])],
            (None, Some(norms)) => self.weight.inverse(norms.get(DocId(doc))),
            (None, None) => self.weight.inverse(NO_NORM),
        };
        self.weight.score(freq as f32, inverse)
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
        let blocks = if bar > 0.0 { 1 } else { self.taken };
        self.taken = (self.taken * 2).min(BLOCKS_A_WINDOW);
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

    fn probes_some(&self) -> bool {
        true
    }

    fn probe(&mut self, docs: &[u32], scores: &mut [f32]) {
        // One counter's clone buys the slice for the whole loop.
        let norms = self.norms.clone();
        let dense = norms.as_ref().and_then(Norms::dense);
        scores.fill(NO_MATCH);
        let mut from = 0;
        while from < docs.len() {
            let looked = self.blocks.meet::<true>(&docs[from..], &mut self.met);
            for at in 0..self.met.count {
                let which = from + usize::from(self.met.which[at]);
                let place = usize::from(self.met.places[at]);
                scores[which] = self.score_found(dense, docs[which], place);
            }
            from += looked;
        }
    }

    fn count_min(&self) -> u64 {
        u64::from(self.blocks.postings.doc_freq())
    }
}
