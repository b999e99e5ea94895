//! Matches of one scorer whose scores something else decides: functions, features, distances,
//! how many clauses match.
//!
//! An [`Adjust`] sees the documents of a window with their scores and changes them in place;
//! [`NO_MATCH`] takes a document out. Nothing is known of what it makes of a score but a bound.

use std::ops::Range;

use super::{
    AnyFilter, AnyScorer, Bits, Filter, Hits, NO_MATCH, Scorer, Turn, WINDOW, Window, bits,
};

/// Changes scores.
pub trait Adjust: Send {
    /// Gets ready for `docs`, which rise and match with these scores; false where it must wait.
    fn prepare(&mut self, docs: &[u32], scores: &[f32], turn: &mut Turn<'_>) -> bool;
    /// Changes the scores of the documents prepared.
    fn adjust(&mut self, docs: &[u32], scores: &mut [f32]);
    /// A bound of what it makes of scores up to this one.
    fn bound(&self, score: f32) -> f32;
}

/// A scorer with changed scores.
pub struct Adjusted {
    base: AnyScorer,
    adjust: Box<dyn Adjust>,
    hits: Hits,
    filled: bool,
    /// Documents that are probed, the matches among them, and where they stand.
    probed: Vec<u32>,
    found: Hits,
    places: Vec<u32>,
    scores: Vec<f32>,
    is_probed: bool,
}

impl Adjusted {
    /// Matches of `base`, scored by `adjust`.
    pub fn new(base: AnyScorer, adjust: Box<dyn Adjust>) -> Self {
        Self {
            base,
            adjust,
            hits: Hits::default(),
            filled: false,
            probed: Vec::new(),
            found: Hits::default(),
            places: Vec::new(),
            scores: Vec::new(),
            is_probed: false,
        }
    }
}

impl Scorer for Adjusted {
    fn cost(&self) -> u64 {
        self.base.cost()
    }

    fn next(&mut self, from: u32) -> u32 {
        self.base.next(from)
    }

    fn window(&mut self, from: u32, bar: f32, turn: &mut Turn<'_>) -> Window {
        let window = self.base.window(from, 0.0, turn);
        Window { bar, ..window }
    }

    fn max_score(&mut self, range: Range<u32>) -> f32 {
        let base = self.base.max_score(range);
        self.adjust.bound(base)
    }

    fn prepare(&mut self, window: &Window, turn: &mut Turn<'_>) -> bool {
        if !self.filled {
            let asked = Window { bar: 0.0, ..*window };
            if !self.base.prepare(&asked, turn) {
                return false;
            }
            self.hits.clear();
            self.base.fill(&asked, &mut self.hits);
            self.filled = true;
        }
        turn.spend(self.hits.docs.len() * 8);
        self.hits.docs.is_empty() || self.adjust.prepare(&self.hits.docs, &self.hits.scores, turn)
    }

    fn fill(&mut self, window: &Window, hits: &mut Hits) {
        self.filled = false;
        if self.hits.docs.is_empty() {
            return;
        }
        self.adjust.adjust(&self.hits.docs, &mut self.hits.scores);
        for (doc, score) in self.hits.docs.iter().zip(&self.hits.scores) {
            if *score >= 0.0 && *score >= window.bar {
                hits.docs.push(*doc);
                hits.scores.push(*score);
            }
        }
    }

    fn prepare_probe(&mut self, docs: &[u32], turn: &mut Turn<'_>) -> bool {
        if !self.is_probed || self.probed != docs {
            self.is_probed = false;
            if !self.base.prepare_probe(docs, turn) {
                return false;
            }
            self.scores.clear();
            self.scores.resize(docs.len(), NO_MATCH);
            self.base.probe(docs, &mut self.scores);
            self.probed.clear();
            self.probed.extend_from_slice(docs);
            self.found.clear();
            self.places.clear();
            // Only matches are changed; what is taken out stays out.
            for (place, score) in (0u32..).zip(&self.scores) {
                if *score >= 0.0 {
                    self.found.docs.push(docs[place as usize]);
                    self.found.scores.push(*score);
                    self.places.push(place);
                }
            }
            self.is_probed = true;
        }
        self.found.docs.is_empty()
            || self.adjust.prepare(&self.found.docs, &self.found.scores, turn)
    }

    fn probe(&mut self, docs: &[u32], scores: &mut [f32]) {
        debug_assert!(self.is_probed, "prepared");
        self.is_probed = false;
        scores[..docs.len()].fill(NO_MATCH);
        if self.found.docs.is_empty() {
            return;
        }
        self.adjust.adjust(&self.found.docs, &mut self.found.scores);
        for (place, score) in self.places.iter().zip(&self.found.scores) {
            scores[*place as usize] = if *score >= 0.0 { *score } else { NO_MATCH };
        }
    }
}

/// Looks at a document.
pub trait Check: Send {
    /// Gets ready for `docs`, which rise; false where it must wait.
    fn prepare(&mut self, docs: &[u32], turn: &mut Turn<'_>) -> bool;
    /// Does it match?
    fn matches(&mut self, doc: u32) -> bool;
    /// Sets the bits of those of `docs` that match, which lie in the window that begins at `base`.
    fn keep(&mut self, docs: &[u32], base: u32, bits: &mut Bits) {
        for doc in docs {
            if self.matches(*doc) {
                bits::set(bits, doc - base);
            }
        }
    }
}

/// Matches of a filter that a closer look confirms.
pub struct Checked {
    base: AnyFilter,
    check: Box<dyn Check>,
    docs: Vec<u32>,
    filled: bool,
}

impl Checked {
    /// What `base` matches and `check` confirms.
    pub fn new(base: AnyFilter, check: Box<dyn Check>) -> Self {
        Self { base, check, docs: Vec::new(), filled: false }
    }
}

impl Filter for Checked {
    fn cost(&self) -> u64 {
        self.base.cost()
    }

    fn next(&mut self, from: u32) -> u32 {
        self.base.next(from)
    }

    fn prepare(&mut self, window: u32, turn: &mut Turn<'_>) -> bool {
        if !self.filled {
            if !self.base.prepare(window, turn) {
                return false;
            }
            let mut found: Bits = bits::NONE;
            self.base.fill(window, &mut found);
            self.docs.clear();
            bits::list(&found, window * WINDOW, &mut self.docs);
            self.filled = true;
        }
        turn.spend(self.docs.len() * 4 + 64);
        self.docs.is_empty() || self.check.prepare(&self.docs, turn)
    }

    fn fill(&mut self, window: u32, bits: &mut Bits) {
        self.filled = false;
        self.check.keep(&self.docs, window * WINDOW, bits);
    }

    fn prepare_probe(&mut self, docs: &[u32], turn: &mut Turn<'_>) -> bool {
        let base = self.base.prepare_probe(docs, turn);
        self.check.prepare(docs, turn) && base
    }

    fn probe(&mut self, docs: &[u32], matches: &mut [bool]) {
        self.base.probe(docs, matches);
        for (matches, doc) in matches.iter_mut().zip(docs) {
            *matches = *matches && self.check.matches(*doc);
        }
    }
}

/// The matches of a scorer, told by their scores.
pub struct Scored {
    scorer: AnyScorer,
    hits: Hits,
    filled: bool,
    /// Where the window of bits at hand was read up to.
    pos: u32,
    /// What is asked for next, until it is answered: with its blocks there, the scorer might tell another.
    asked: Option<Window>,
    scores: Vec<f32>,
    doc_count: u32,
}

impl Scored {
    /// What `scorer` matches, in a segment of `doc_count`.
    pub fn new(scorer: AnyScorer, doc_count: u32) -> Self {
        let (hits, scores) = (Hits::default(), Vec::new());
        Self { scorer, hits, filled: false, pos: 0, asked: None, scores, doc_count }
    }

    /// The next window to ask for, up to `end`; none where there is no more, or (`pos` stays before `end`)
    /// not in this turn.
    fn next_window(&mut self, end: u32, turn: &mut Turn<'_>) -> Option<Window> {
        while self.asked.is_none() && self.pos < end {
            let found = self.scorer.window(self.pos, 0.0, turn);
            self.pos = found.start.min(end);
            if found.start < found.end.min(end) {
                self.asked = Some(Window { end: found.end.min(end), ..found });
            } else if turn.is_over() {
                break;
            }
        }
        self.asked
    }
}

impl Filter for Scored {
    fn cost(&self) -> u64 {
        self.scorer.cost()
    }

    fn next(&mut self, from: u32) -> u32 {
        self.scorer.next(from)
    }

    fn prepare(&mut self, window: u32, turn: &mut Turn<'_>) -> bool {
        let range = super::term::window_range(window, self.doc_count);
        if !self.filled {
            self.hits.clear();
            self.pos = range.start;
            self.filled = true;
        }
        while let Some(asked) = self.next_window(range.end, turn) {
            if !self.scorer.prepare(&asked, turn) {
                return false;
            }
            self.scorer.fill(&asked, &mut self.hits);
            self.asked = None;
            self.pos = asked.end;
        }
        self.pos >= range.end
    }

    fn fill(&mut self, window: u32, bits: &mut Bits) {
        self.filled = false;
        for doc in &self.hits.docs {
            bits::set(bits, doc - window * WINDOW);
        }
    }

    fn prepare_probe(&mut self, docs: &[u32], turn: &mut Turn<'_>) -> bool {
        self.scorer.prepare_probe(docs, turn)
    }

    fn probe(&mut self, docs: &[u32], matches: &mut [bool]) {
        self.scores.clear();
        self.scores.resize(docs.len(), NO_MATCH);
        self.scorer.probe(docs, &mut self.scores);
        for (matches, score) in matches.iter_mut().zip(&self.scores) {
            *matches = *score >= 0.0;
        }
    }
}
