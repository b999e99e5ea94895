//! Scorers made of others: a filter with a constant score, a required clause with an optional one,
//! a clause scored down.

use std::ops::Range;

use super::{
    AnyFilter, AnyScorer, END, Hits, NO_MATCH, Scorer, Turn, WINDOW, Window, bits, bound, window_of,
};

/// A filter whose matches all score the same.
pub struct Constant {
    filter: AnyFilter,
    score: f32,
    matches: Vec<bool>,
}

impl Constant {
    /// Matches of `filter`, each with `score`.
    pub fn new(filter: AnyFilter, score: f32) -> Self {
        Self { filter, score, matches: Vec::new() }
    }
}

impl Scorer for Constant {
    fn cost(&self) -> u64 {
        self.filter.cost()
    }

    fn next(&mut self, from: u32) -> u32 {
        self.filter.next(from)
    }

    fn window(&mut self, from: u32, bar: f32, turn: &mut Turn<'_>) -> Window {
        turn.spend(1);
        if self.score < bar {
            return Window::NONE;
        }
        match self.filter.next(from) {
            END => Window::NONE,
            start => Window { start, end: (window_of(start) + 1).saturating_mul(WINDOW), bar },
        }
    }

    fn max_score(&mut self, range: Range<u32>) -> f32 {
        if range.is_empty() || self.filter.next(range.start) >= range.end {
            0.0
        } else {
            self.score
        }
    }

    fn prepare(&mut self, window: &Window, turn: &mut Turn<'_>) -> bool {
        debug_assert!(
            window.start == window.end || window_of(window.start) == window_of(window.end - 1),
            "one window of bits"
        );
        turn.spend(64);
        self.filter.prepare(window_of(window.start), turn)
    }

    fn fill(&mut self, window: &Window, hits: &mut Hits) {
        let number = window_of(window.start);
        let base = number * WINDOW;
        let mut found = bits::NONE;
        self.filter.fill(number, &mut found);
        let (start, end) = (window.start - base, window.end - base);
        if start > 0 || end < WINDOW {
            bits::keep_range(&mut found, start..end);
        }
        bits::list(&found, base, &mut hits.docs);
        hits.scores.resize(hits.docs.len(), self.score);
    }

    fn prepare_probe(&mut self, docs: &[u32], turn: &mut Turn<'_>) -> bool {
        self.filter.prepare_probe(docs, turn)
    }

    fn probe(&mut self, docs: &[u32], scores: &mut [f32]) {
        self.matches.clear();
        self.matches.resize(docs.len(), false);
        self.filter.probe(docs, &mut self.matches);
        for (score, matches) in scores.iter_mut().zip(&self.matches) {
            *score = if *matches { self.score } else { NO_MATCH };
        }
    }

    fn count_min(&self) -> u64 {
        self.filter.count_min()
    }
}

/// A clause that must match, and one whose score is added where it does (`ReqOptSumScorer`: both
/// sums are rounded to f32 before they are added, in f32).
pub struct Optional {
    required: AnyScorer,
    optional: AnyScorer,
    optional_max: f32,
    hits: Hits,
    filled: bool,
    scores: Vec<f32>,
}

impl Optional {
    /// Matches of `required`, with the score of `optional` added.
    pub fn new(required: AnyScorer, mut optional: AnyScorer) -> Self {
        let optional_max = optional.max_score(0..END);
        Self {
            required,
            optional,
            optional_max,
            hits: Hits::default(),
            filled: false,
            scores: Vec::new(),
        }
    }

    /// What the required clause must reach.
    fn needed(bar: f32, rest: f32) -> f32 {
        let needed = f64::from(bar) * (1.0 - 1e-6) - f64::from(rest) * (1.0 + 1e-6);
        if needed > 0.0 { needed as f32 } else { 0.0 }
    }

    /// Adds the optional scores.
    #[inline]
    fn add(scores: &mut [f32], optional: &[f32]) {
        for (score, more) in scores.iter_mut().zip(optional) {
            if *more >= 0.0 {
                *score += more;
            }
        }
    }
}

impl Scorer for Optional {
    fn cost(&self) -> u64 {
        self.required.cost()
    }

    fn next(&mut self, from: u32) -> u32 {
        self.required.next(from)
    }

    fn window(&mut self, mut from: u32, bar: f32, turn: &mut Turn<'_>) -> Window {
        loop {
            let needed = Self::needed(bar, self.optional_max);
            let window = self.required.window(from, needed, turn);
            if window.start >= window.end || bar <= 0.0 {
                return Window { bar, ..window };
            }
            if self.max_score(window.range()) >= bar {
                return Window { bar, ..window };
            }
            from = window.end;
            if turn.is_over() {
                return Window { start: from, end: from, bar };
            }
        }
    }

    fn max_score(&mut self, range: Range<u32>) -> f32 {
        let required = f64::from(self.required.max_score(range.clone()));
        bound(required + f64::from(self.optional.max_score(range)))
    }

    fn prepare(&mut self, window: &Window, turn: &mut Turn<'_>) -> bool {
        if !self.filled {
            let rest = match window.bar > 0.0 {
                true => self.optional.max_score(window.range()),
                false => 0.0,
            };
            let asked = Window { bar: Self::needed(window.bar, rest), ..*window };
            if !self.required.prepare(&asked, turn) {
                return false;
            }
            self.hits.clear();
            self.required.fill(&asked, &mut self.hits);
            self.filled = true;
            if window.bar > 0.0 {
                let mut kept = 0;
                for at in 0..self.hits.docs.len() {
                    let score = self.hits.scores[at];
                    self.hits.docs[kept] = self.hits.docs[at];
                    self.hits.scores[kept] = score;
                    let most = bound(f64::from(score) + f64::from(rest));
                    kept += usize::from(most >= window.bar);
                }
                self.hits.docs.truncate(kept);
                self.hits.scores.truncate(kept);
            }
        }
        turn.spend(self.hits.docs.len() * 4);
        self.hits.docs.is_empty() || self.optional.prepare_probe(&self.hits.docs, turn)
    }

    fn fill(&mut self, window: &Window, hits: &mut Hits) {
        self.filled = false;
        if self.hits.docs.is_empty() {
            return;
        }
        self.scores.clear();
        self.scores.resize(self.hits.docs.len(), NO_MATCH);
        self.optional.probe(&self.hits.docs, &mut self.scores);
        Self::add(&mut self.hits.scores, &self.scores);
        for (doc, score) in self.hits.docs.iter().zip(&self.hits.scores) {
            if *score >= window.bar {
                hits.docs.push(*doc);
                hits.scores.push(*score);
            }
        }
    }

    fn prepare_probe(&mut self, docs: &[u32], turn: &mut Turn<'_>) -> bool {
        let required = self.required.prepare_probe(docs, turn);
        self.optional.prepare_probe(docs, turn) && required
    }

    fn probe(&mut self, docs: &[u32], scores: &mut [f32]) {
        self.required.probe(docs, scores);
        self.scores.clear();
        self.scores.resize(docs.len(), NO_MATCH);
        self.optional.probe(docs, &mut self.scores);
        for (score, more) in scores.iter_mut().zip(&self.scores) {
            if *score >= 0.0 && *more >= 0.0 {
                *score += more;
            }
        }
    }

    fn count_min(&self) -> u64 {
        self.required.count_min()
    }
}

/// Matches of one clause, scored down where another matches too
/// (`FunctionScoreQuery.boostByQuery`).
pub struct Demoted {
    positive: AnyScorer,
    negative: AnyFilter,
    negative_boost: f64,
    boost: f64,
    hits: Hits,
    filled: bool,
    matches: Vec<bool>,
}

impl Demoted {
    /// Scores of `positive` times `negative_boost` where `negative` matches, all times `boost`.
    pub fn new(positive: AnyScorer, negative: AnyFilter, negative_boost: f32, boost: f32) -> Self {
        Self {
            positive,
            negative,
            negative_boost: f64::from(negative_boost),
            boost: f64::from(boost),
            hits: Hits::default(),
            filled: false,
            matches: Vec::new(),
        }
    }

    fn score(&self, score: f32, demoted: bool) -> f32 {
        let factor = if demoted { self.negative_boost } else { 1.0 };
        (f64::from(score) * factor * self.boost) as f32
    }

    fn probe_negative(&mut self, docs: &[u32]) {
        self.matches.clear();
        self.matches.resize(docs.len(), false);
        self.negative.probe(docs, &mut self.matches);
    }
}

impl Scorer for Demoted {
    fn cost(&self) -> u64 {
        self.positive.cost()
    }

    fn next(&mut self, from: u32) -> u32 {
        self.positive.next(from)
    }

    fn window(&mut self, from: u32, bar: f32, turn: &mut Turn<'_>) -> Window {
        let window = self.positive.window(from, 0.0, turn);
        Window { bar, ..window }
    }

    fn max_score(&mut self, range: Range<u32>) -> f32 {
        let most = self.negative_boost.max(1.0) * self.boost;
        bound(f64::from(self.positive.max_score(range)) * most)
    }

    fn prepare(&mut self, window: &Window, turn: &mut Turn<'_>) -> bool {
        if !self.filled {
            let asked = Window { bar: 0.0, ..*window };
            if !self.positive.prepare(&asked, turn) {
                return false;
            }
            self.hits.clear();
            self.positive.fill(&asked, &mut self.hits);
            self.filled = true;
        }
        turn.spend(self.hits.docs.len() * 4);
        self.hits.docs.is_empty() || self.negative.prepare_probe(&self.hits.docs, turn)
    }

    fn fill(&mut self, window: &Window, hits: &mut Hits) {
        self.filled = false;
        let found = std::mem::take(&mut self.hits);
        if !found.docs.is_empty() {
            self.probe_negative(&found.docs);
        }
        for at in 0..found.docs.len() {
            let score = self.score(found.scores[at], self.matches[at]);
            if score >= window.bar {
                hits.docs.push(found.docs[at]);
                hits.scores.push(score);
            }
        }
        self.hits = found;
    }

    fn prepare_probe(&mut self, docs: &[u32], turn: &mut Turn<'_>) -> bool {
        let positive = self.positive.prepare_probe(docs, turn);
        self.negative.prepare_probe(docs, turn) && positive
    }

    fn probe(&mut self, docs: &[u32], scores: &mut [f32]) {
        self.positive.probe(docs, scores);
        self.probe_negative(docs);
        for at in 0..docs.len() {
            if scores[at] >= 0.0 {
                scores[at] = self.score(scores[at], self.matches[at]);
            }
        }
    }

    fn count_min(&self) -> u64 {
        self.positive.count_min()
    }
}
