//! Terms that count as one: their frequencies add up, and the sum is scored.
//!
//! Terms of one place in one field (`SynonymQuery`), or a word in several fields that count as one
//! (`CombinedFieldQuery`: frequencies and lengths by the fields' factors). Frequencies are summed in
//! windows of 4,096 documents; what the sum can be at most is told by the weight alone.

use std::ops::Range;

use base::DocId;
use segment::{Need, Norms, TermInfo, Terms};

use super::blocks::Blocks;
use super::lent::{Lent, Numbers};
use super::term::Weight;
use super::{Bits, END, Hits, NO_MATCH, Scorer, Turn, WINDOW, Window, bits, window_of};
use crate::score::bm25;

/// One term.
struct Part {
    blocks: Blocks,
    factor: f32,
}

/// Where the length of a document comes from.
enum Lengths {
    /// The field keeps none.
    None,
    /// One field.
    One(Norms),
    /// Several fields, each with its factor.
    Sum(Vec<(Option<Norms>, f32)>),
}

/// Terms that count as one.
pub struct Summed {
    parts: Vec<Part>,
    lengths: Lengths,
    weight: Weight,
}

impl Summed {
    /// Terms of one field.
    pub fn of_field(
        terms: &Terms,
        infos: &[TermInfo],
        norms: Option<Norms>,
        weight: Weight,
    ) -> Self {
        let parts = infos.iter().map(|info| part(terms, info, 1.0)).collect();
        let lengths = norms.filter(|_| weight.norms).map_or(Lengths::None, Lengths::One);
        Self { parts, lengths, weight }
    }

    /// Terms of several fields with their factors, and the lengths of all fields.
    pub fn of_fields(
        found: &[(Terms, TermInfo, f32)],
        norms: Vec<(Option<Norms>, f32)>,
        weight: Weight,
    ) -> Self {
        let parts = found.iter().map(|(terms, info, factor)| part(terms, info, *factor)).collect();
        Self { parts, lengths: Lengths::Sum(norms), weight }
    }

    fn inverse(&self, doc: u32) -> f32 {
        let norm = match &self.lengths {
            Lengths::None => bm25::NO_NORM,
            Lengths::One(norms) => norms.get(DocId(doc)),
            Lengths::Sum(all) => {
                let sum: f32 = all
                    .iter()
                    .map(|(norms, factor)| match norms {
                        Some(norms) => factor * bm25::length_of(norms.get(DocId(doc))) as f32,
                        None => 0.0,
                    })
                    .sum();
                bm25::norm_of(sum.round() as u32)
            }
        };
        self.weight.inverses[usize::from(norm)]
    }

    /// The sum of the frequencies in a document; 0 where no term is there.
    fn freq(&mut self, doc: u32) -> f32 {
        let mut sum = 0.0;
        for part in &mut self.parts {
            if part.blocks.find(doc) {
                let at = part.blocks.at;
                sum += part.factor * part.blocks.freq(at) as f32;
            }
        }
        sum
    }
}

fn part(terms: &Terms, info: &TermInfo, factor: f32) -> Part {
    Part { blocks: Blocks::new(terms.postings(info, Need::Freqs)), factor }
}

impl Scorer for Summed {
    fn cost(&self) -> u64 {
        self.parts.iter().map(|part| u64::from(part.blocks.postings.doc_freq())).sum()
    }

    fn next(&mut self, from: u32) -> u32 {
        self.parts.iter().map(|part| part.blocks.next(from)).min().unwrap_or(END)
    }

    fn window(&mut self, from: u32, bar: f32, turn: &mut Turn<'_>) -> Window {
        turn.spend(self.parts.len());
        if self.weight.weight < bar {
            return Window::NONE;
        }
        match self.next(from) {
            END => Window::NONE,
            start => Window { start, end: (window_of(start) + 1).saturating_mul(WINDOW), bar },
        }
    }

    fn max_score(&mut self, range: Range<u32>) -> f32 {
        if range.is_empty() || self.next(range.start) >= range.end {
            return 0.0;
        }
        self.weight.weight
    }

    fn prepare(&mut self, window: &Window, turn: &mut Turn<'_>) -> bool {
        turn.spend(64);
        let mut ready = true;
        for part in &self.parts {
            ready &= part.blocks.prepare(window.range(), turn);
        }
        ready
    }

    fn fill(&mut self, window: &Window, hits: &mut Hits) {
        let range = window.range();
        if range.is_empty() {
            return;
        }
        let base = window_of(range.start) * WINDOW;
        let mut matched: Bits = bits::NONE;
        let mut sums = Lent::<Numbers<f32>>::take();
        for part in &mut self.parts {
            let mut block = part.blocks.block_of(range.start);
            while block < part.blocks.count {
                let before = block.checked_sub(1).map(|at| part.blocks.postings.block_last(at));
                if before.is_some_and(|before| before.get() + 1 >= range.end) {
                    break;
                }
                part.blocks.enter_with_freqs(block);
                for at in part.blocks.places(&range) {
                    let place = (part.blocks.docs[at] - base) as usize;
                    sums[place] += part.factor * part.blocks.freq(at) as f32;
                    matched[place / 64] |= 1 << (place % 64);
                }
                block += 1;
            }
        }
        let mut found = Vec::new();
        bits::list(&matched, base, &mut found);
        for doc in found {
            let freq = std::mem::take(&mut sums[(doc - base) as usize]);
            let score = self.weight.score(freq, self.inverse(doc));
            if score >= window.bar {
                hits.docs.push(doc);
                hits.scores.push(score);
            }
        }
        sums.give_back();
    }

    fn prepare_probe(&mut self, docs: &[u32], turn: &mut Turn<'_>) -> bool {
        let mut ready = true;
        for part in &self.parts {
            ready &= part.blocks.prepare_probe(docs, turn);
        }
        ready
    }

    fn probe(&mut self, docs: &[u32], scores: &mut [f32]) {
        for (slot, doc) in scores.iter_mut().zip(docs) {
            *slot = match self.freq(*doc) {
                0.0 => NO_MATCH,
                freq => self.weight.score(freq, self.inverse(*doc)),
            };
        }
    }

    fn count_min(&self) -> u64 {
        let freqs = self.parts.iter().map(|part| u64::from(part.blocks.postings.doc_freq()));
        freqs.max().unwrap_or(0)
    }
}
