//! Clauses that must not match, taken from those that do.

use std::ops::Range;

use super::{
    AnyFilter, AnyScorer, Bits, Filter, Hits, NO_MATCH, Scorer, Turn, WINDOW, Window, bits,
};

/// What one filter matches and another does not.
pub struct Without {
    base: AnyFilter,
    not: AnyFilter,
    bits: Option<Bits>,
    docs: Vec<u32>,
    matches: Vec<bool>,
    looks_up: bool,
    is_empty: bool,
    doc_count: u32,
}

/// Looking a document up costs about as much as reading so many in order, and reading a window about
/// as much again as so many.
const LOOK: u64 = 32;
const READ: u64 = 512;

impl Without {
    /// What `base` matches and `not` does not, in a segment of `doc_count`.
    pub fn new(base: AnyFilter, not: AnyFilter, doc_count: u32) -> Self {
        Self {
            base,
            not,
            bits: None,
            docs: Vec::new(),
            matches: Vec::new(),
            looks_up: false,
            is_empty: false,
            doc_count,
        }
    }
}

impl Filter for Without {
    fn cost(&self) -> u64 {
        self.base.cost()
    }

    fn next(&mut self, from: u32) -> u32 {
        self.base.next(from)
    }

    fn prepare(&mut self, window: u32, turn: &mut Turn<'_>) -> bool {
        let base = window * WINDOW;
        if self.bits.is_none() {
            if !self.base.prepare(window, turn) {
                return false;
            }
            let mut found = bits::NONE;
            self.base.fill(window, &mut found);
            let count = u64::from(bits::count(&found));
            let expected = self.not.cost() * u64::from(WINDOW) / u64::from(self.doc_count.max(1));
            self.looks_up = count * LOOK < expected + READ;
            self.docs.clear();
            if self.looks_up {
                bits::list(&found, base, &mut self.docs);
            }
            self.bits = Some(found);
            self.is_empty = count == 0;
            turn.spend(count as usize + 64);
        }
        if self.is_empty {
            return true;
        }
        if self.looks_up {
            self.not.prepare_probe(&self.docs, turn)
        } else {
            self.not.prepare(window, turn)
        }
    }

    fn fill(&mut self, window: u32, bits: &mut Bits) {
        let Some(mut found) = self.bits.take() else { return };
        if !self.is_empty && self.looks_up {
            self.matches.clear();
            self.matches.resize(self.docs.len(), false);
            self.not.probe(&self.docs, &mut self.matches);
            for (doc, matches) in self.docs.iter().zip(&self.matches) {
                let place = (doc - window * WINDOW) % WINDOW;
                found[place as usize / 64] &= !(u64::from(*matches) << (place % 64));
            }
        } else if !self.is_empty {
            let mut not = bits::NONE;
            self.not.fill(window, &mut not);
            bits::and_not(&mut found, &not);
        }
        bits::or(bits, &found);
    }

    fn prepare_probe(&mut self, docs: &[u32], turn: &mut Turn<'_>) -> bool {
        let base = self.base.prepare_probe(docs, turn);
        self.not.prepare_probe(docs, turn) && base
    }

    fn probe(&mut self, docs: &[u32], matches: &mut [bool]) {
        self.base.probe(docs, matches);
        self.matches.clear();
        self.matches.resize(docs.len(), false);
        self.not.probe(docs, &mut self.matches);
        for (matches, not) in matches.iter_mut().zip(&self.matches) {
            *matches &= !not;
        }
    }
}

/// What a scorer matches and a filter does not.
pub struct ScoredWithout {
    base: AnyScorer,
    not: AnyFilter,
    hits: Hits,
    filled: bool,
    matches: Vec<bool>,
}

impl ScoredWithout {
    /// What `base` matches and `not` does not.
    pub fn new(base: AnyScorer, not: AnyFilter) -> Self {
        Self { base, not, hits: Hits::default(), filled: false, matches: Vec::new() }
    }
}

impl Scorer for ScoredWithout {
    fn cost(&self) -> u64 {
        self.base.cost()
    }

    fn next(&mut self, from: u32) -> u32 {
        self.base.next(from)
    }

    fn window(&mut self, from: u32, bar: f32, turn: &mut Turn<'_>) -> Window {
        self.base.window(from, bar, turn)
    }

    fn max_score(&mut self, range: Range<u32>) -> f32 {
        self.base.max_score(range)
    }

    fn prepare(&mut self, window: &Window, turn: &mut Turn<'_>) -> bool {
        if !self.filled {
            if !self.base.prepare(window, turn) {
                return false;
            }
            self.hits.clear();
            self.base.fill(window, &mut self.hits);
            self.filled = true;
        }
        turn.spend(self.hits.docs.len() * 4);
        self.hits.docs.is_empty() || self.not.prepare_probe(&self.hits.docs, turn)
    }

    fn fill(&mut self, _window: &Window, hits: &mut Hits) {
        self.filled = false;
        if self.hits.docs.is_empty() {
            return;
        }
        self.matches.clear();
        self.matches.resize(self.hits.docs.len(), false);
        self.not.probe(&self.hits.docs, &mut self.matches);
        for at in 0..self.hits.docs.len() {
            if !self.matches[at] {
                hits.docs.push(self.hits.docs[at]);
                hits.scores.push(self.hits.scores[at]);
            }
        }
    }

    fn prepare_probe(&mut self, docs: &[u32], turn: &mut Turn<'_>) -> bool {
        let base = self.base.prepare_probe(docs, turn);
        self.not.prepare_probe(docs, turn) && base
    }

    fn probe(&mut self, docs: &[u32], scores: &mut [f32]) {
        self.base.probe(docs, scores);
        self.matches.clear();
        self.matches.resize(docs.len(), false);
        self.not.probe(docs, &mut self.matches);
        for (score, not) in scores.iter_mut().zip(&self.matches) {
            if *not {
                *score = NO_MATCH;
            }
        }
    }
}
