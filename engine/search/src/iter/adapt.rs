//! Scorers made of others: a filter with a constant score, a required clause with an optional one,
//! a clause scored down.

use std::ops::Range;

use super::blockmax::needed;
use super::{
    AnyFilter, AnyScorer, END, Hits, NO_MATCH, Scorer, Turn, WINDOW, Window, bits, bound, is_wide,
    window_of,
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
        debug_assert!(!is_wide(window), "one window of bits");
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
///
/// Where the required clause alone cannot reach the bar, the optional one is required too; then the
/// one with fewer matches leads.
pub struct Optional {
    required: AnyScorer,
    optional: AnyScorer,
    /// Bounds in the whole segment.
    required_max: f32,
    optional_max: f32,
    /// What the lead matched, with its scores; the other's are added when filled.
    hits: Hits,
    /// Whose the window is that was answered last.
    answered: Lead,
    /// How the window at hand is asked for; decided once a window.
    asked: Option<Asked>,
    filled: bool,
    scores: Vec<f32>,
}

/// Which clause leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lead {
    Required,
    Optional,
}

/// How a window is asked for.
#[derive(Clone, Copy, Debug)]
struct Asked {
    lead: Lead,
    /// What the follower adds at most.
    rest: f32,
}

impl Optional {
    /// Matches of `required`, with the score of `optional` added.
    pub fn new(mut required: AnyScorer, mut optional: AnyScorer) -> Self {
        Self {
            required_max: required.max_score(0..END),
            optional_max: optional.max_score(0..END),
            required,
            optional,
            hits: Hits::default(),
            answered: Lead::Required,
            asked: None,
            filled: false,
            scores: Vec::new(),
        }
    }

    /// Who leads, where the required clause reaches at most `required_max`.
    fn leader(&self, bar: f32, required_max: f32) -> Lead {
        let both = bar > 0.0 && required_max < bar;
        match both && self.optional.cost() < self.required.cost() {
            true => Lead::Optional,
            false => Lead::Required,
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
            self.answered = self.leader(bar, self.required_max);
            let window = match self.answered {
                Lead::Required => {
                    let least = needed(bar, f64::from(self.optional_max));
                    self.required.window(from, least, turn)
                }
                Lead::Optional => {
                    let least = needed(bar, f64::from(self.required_max));
                    self.optional.window(from, least, turn)
                }
            };
            if window.start >= window.end || bar <= 0.0 || self.max_score(window.range()) >= bar {
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
        if self.asked.is_none() {
            let (mut lead, mut rest) = (Lead::Required, 0.0);
            if window.bar > 0.0 {
                let most = self.required.max_score(window.range());
                // A wide window is for the clause alone that answered it.
                lead = match is_wide(window) {
                    true => self.answered,
                    false => self.leader(window.bar, most),
                };
                rest = match lead {
                    Lead::Required => self.optional.max_score(window.range()),
                    Lead::Optional => most,
                };
            }
            self.filled = false;
            self.asked = Some(Asked { lead, rest });
        }
        let Some(Asked { lead, rest }) = self.asked else { return false };
        let (leader, follower) = match lead {
            Lead::Required => (&mut self.required, &mut self.optional),
            Lead::Optional => (&mut self.optional, &mut self.required),
        };
        if !self.filled {
            let asked = Window { bar: needed(window.bar, f64::from(rest)), ..*window };
            if !leader.prepare(&asked, turn) {
                return false;
            }
            self.hits.clear();
            leader.fill(&asked, &mut self.hits);
            if window.bar > 0.0 {
                keep_reaching(&mut self.hits, rest, window.bar);
            }
            self.filled = true;
        }
        turn.spend(self.hits.docs.len() * 4);
        self.hits.docs.is_empty() || follower.prepare_probe(&self.hits.docs, turn)
    }

    fn fill(&mut self, window: &Window, hits: &mut Hits) {
        let lead = self.asked.take().map(|asked| asked.lead);
        if self.hits.docs.is_empty() {
            return;
        }
        self.scores.clear();
        self.scores.resize(self.hits.docs.len(), NO_MATCH);
        let follower = match lead {
            Some(Lead::Optional) => &mut self.required,
            _ => &mut self.optional,
        };
        follower.probe(&self.hits.docs, &mut self.scores);
        for at in 0..self.hits.docs.len() {
            let more = self.scores[at];
            if more < 0.0 && lead == Some(Lead::Optional) {
                continue;
            }
            // Addition of two floats does not mind the order.
            let score = self.hits.scores[at] + more.max(0.0);
            if score >= window.bar {
                hits.docs.push(self.hits.docs[at]);
                hits.scores.push(score);
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

/// Keeps hits that reach the bar with `rest` more.
fn keep_reaching(hits: &mut Hits, rest: f32, bar: f32) {
    let mut kept = 0;
    for at in 0..hits.docs.len() {
        let score = hits.scores[at];
        hits.docs[kept] = hits.docs[at];
        hits.scores[kept] = score;
        kept += usize::from(bound(f64::from(score) + f64::from(rest)) >= bar);
    }
    hits.docs.truncate(kept);
    hits.scores.truncate(kept);
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
        for (at, score) in scores[..docs.len()].iter_mut().enumerate() {
            if *score >= 0.0 {
                *score = self.score(*score, self.matches[at]);
            }
        }
    }

    fn count_min(&self) -> u64 {
        self.positive.count_min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Some documents, as one window or in windows of bits, whose bound in a part is lower than in the whole.
    struct Known {
        docs: Vec<(u32, f32)>,
        most: f32,
        is_wide: bool,
    }

    impl Known {
        fn of(&self, range: Range<u32>) -> impl Iterator<Item = (u32, f32)> {
            self.docs.iter().copied().filter(move |(doc, _)| range.contains(doc))
        }
    }

    impl Scorer for Known {
        fn cost(&self) -> u64 {
            self.docs.len() as u64
        }

        fn next(&mut self, from: u32) -> u32 {
            self.of(from..END).next().map_or(END, |(doc, _)| doc)
        }

        fn window(&mut self, from: u32, bar: f32, _turn: &mut Turn<'_>) -> Window {
            match (self.next(from), self.is_wide) {
                (END, _) => Window::NONE,
                (start, true) => Window { start, end: 16 * WINDOW, bar },
                (start, false) => Window { start, end: (window_of(start) + 1) * WINDOW, bar },
            }
        }

        fn max_score(&mut self, range: Range<u32>) -> f32 {
            if range.end == END {
                return self.most;
            }
            self.of(range).map(|(_, score)| score).fold(0.0, f32::max)
        }

        fn prepare(&mut self, window: &Window, _turn: &mut Turn<'_>) -> bool {
            assert!(self.is_wide || !is_wide(window), "it answers windows of bits alone");
            true
        }

        fn fill(&mut self, window: &Window, hits: &mut Hits) {
            for (doc, score) in self.of(window.range()) {
                hits.docs.push(doc);
                hits.scores.push(score);
            }
        }

        fn prepare_probe(&mut self, _docs: &[u32], _turn: &mut Turn<'_>) -> bool {
            true
        }

        fn probe(&mut self, docs: &[u32], scores: &mut [f32]) {
            for (doc, score) in docs.iter().zip(scores) {
                *score = self.of(*doc..doc + 1).next().map_or(NO_MATCH, |(_, score)| score);
            }
        }
    }

    #[test]
    fn a_wide_window_is_asked_of_the_clause_that_answered_it() {
        // The story: a window of sixteen was answered by the required clause, whose bound there was below the bar.
        // So the rarer optional one was to lead in it, which had place for one.
        let doc = |at: u32| at * WINDOW / 2 + 7;
        let required =
            Known { docs: (0..30).map(|at| (doc(at), 1.0)).collect(), most: 10.0, is_wide: true };
        let optional = Known {
            docs: (0..30).step_by(5).map(|at| (doc(at), 4.0)).collect(),
            most: 4.0,
            is_wide: false,
        };
        let mut both = Optional::new(Box::new(required), Box::new(optional));
        let mut missing = segment::Missing::default();
        let mut turn = Turn::new(&mut missing, 100_000, true);
        let (mut hits, mut from) = (Hits::default(), 0);
        loop {
            let window = both.window(from, 5.0, &mut turn);
            if window.start == END {
                break;
            }
            assert!(both.prepare(&window, &mut turn));
            both.fill(&window, &mut hits);
            from = window.end;
        }
        assert_eq!(hits.docs, (0..30).step_by(5).map(doc).collect::<Vec<u32>>());
        assert!(hits.scores.iter().all(|score| *score == 5.0));
    }
}
