//! Clauses of which some must match: one ([`AnyOf`]), a number of them ([`AtLeast`],
//! [`ScoredAtLeast`]), or the best of them ([`DisMax`]).
//!
//! Scores that add up with one match needed are `blockmax`'s.

use std::ops::Range;

use super::lent::{Lent, Numbers};
use super::{
    AnyFilter, AnyScorer, Bits, END, Filter, Hits, NO_MATCH, Scorer, Turn, WINDOW, Window, bits,
    bound, window_of,
};

/// Filters of which one must match.
pub struct AnyOf {
    filters: Vec<AnyFilter>,
    matches: Vec<bool>,
}

impl AnyOf {
    /// At least one filter.
    pub fn new(filters: Vec<AnyFilter>) -> Self {
        Self { filters, matches: Vec::new() }
    }
}

/// All of `clauses` ready; each is asked, so that all name their blocks at once.
fn all_ready<T>(clauses: &mut [T], mut ask: impl FnMut(&mut T) -> bool) -> bool {
    let mut ready = true;
    for clause in clauses {
        ready &= ask(clause);
    }
    ready
}

impl Filter for AnyOf {
    fn cost(&self) -> u64 {
        self.filters.iter().map(|filter| filter.cost()).sum()
    }

    fn next(&mut self, from: u32) -> u32 {
        self.filters.iter_mut().map(|filter| filter.next(from)).min().unwrap_or(END)
    }

    fn prepare(&mut self, window: u32, turn: &mut Turn<'_>) -> bool {
        turn.spend(self.filters.len() * 16);
        all_ready(&mut self.filters, |filter| filter.prepare(window, turn))
    }

    fn fill(&mut self, window: u32, bits: &mut Bits) {
        for filter in &mut self.filters {
            filter.fill(window, bits);
        }
    }

    fn prepare_probe(&mut self, docs: &[u32], turn: &mut Turn<'_>) -> bool {
        turn.spend(docs.len() * self.filters.len());
        all_ready(&mut self.filters, |filter| filter.prepare_probe(docs, turn))
    }

    fn probe(&mut self, docs: &[u32], matches: &mut [bool]) {
        matches.fill(false);
        self.matches.clear();
        self.matches.resize(docs.len(), false);
        for filter in &mut self.filters {
            filter.probe(docs, &mut self.matches);
            for (matches, found) in matches.iter_mut().zip(&self.matches) {
                *matches |= found;
            }
        }
    }

    fn count_min(&self) -> u64 {
        self.filters.iter().map(|filter| filter.count_min()).max().unwrap_or(0)
    }
}

/// Filters of which a number must match.
pub struct AtLeast {
    filters: Vec<AnyFilter>,
    minimum: u32,
    matches: Vec<bool>,
}

impl AtLeast {
    /// `minimum` of `filters`.
    pub fn new(filters: Vec<AnyFilter>, minimum: usize) -> Self {
        Self { filters, minimum: minimum as u32, matches: Vec::new() }
    }
}

impl Filter for AtLeast {
    fn cost(&self) -> u64 {
        let all: u64 = self.filters.iter().map(|filter| filter.cost()).sum();
        all / u64::from(self.minimum.max(1))
    }

    fn next(&mut self, from: u32) -> u32 {
        nth_next(self.filters.iter_mut().map(|filter| filter.next(from)), self.minimum)
    }

    fn prepare(&mut self, window: u32, turn: &mut Turn<'_>) -> bool {
        turn.spend(self.filters.len() * 64);
        all_ready(&mut self.filters, |filter| filter.prepare(window, turn))
    }

    fn fill(&mut self, window: u32, bits: &mut Bits) {
        let mut any = bits::NONE;
        let mut counts = Lent::<Numbers<u16>>::take();
        for filter in &mut self.filters {
            let mut found = bits::NONE;
            filter.fill(window, &mut found);
            bits::for_each(&found, |place| counts[place as usize] += 1);
            bits::or(&mut any, &found);
        }
        bits::for_each(&any, |place| {
            let count = std::mem::take(&mut counts[place as usize]);
            if u32::from(count) >= self.minimum {
                bits::set(bits, place);
            }
        });
        counts.give_back();
    }

    fn prepare_probe(&mut self, docs: &[u32], turn: &mut Turn<'_>) -> bool {
        turn.spend(docs.len() * self.filters.len());
        all_ready(&mut self.filters, |filter| filter.prepare_probe(docs, turn))
    }

    fn probe(&mut self, docs: &[u32], matches: &mut [bool]) {
        let mut counts = vec![0u32; docs.len()];
        self.matches.clear();
        self.matches.resize(docs.len(), false);
        for filter in &mut self.filters {
            filter.probe(docs, &mut self.matches);
            for (count, found) in counts.iter_mut().zip(&self.matches) {
                *count += u32::from(*found);
            }
        }
        for (matches, count) in matches.iter_mut().zip(&counts) {
            *matches = *count >= self.minimum;
        }
    }
}

/// Before the `minimum`-th of these documents no document has so many matches.
fn nth_next(nexts: impl Iterator<Item = u32>, minimum: u32) -> u32 {
    let mut nexts: Vec<u32> = nexts.collect();
    nexts.sort_unstable();
    nexts.get((minimum as usize).saturating_sub(1)).copied().unwrap_or(END)
}

/// Scorers of which a number must match; scores add up.
pub struct ScoredAtLeast {
    scorers: Vec<AnyScorer>,
    minimum: u32,
}

impl ScoredAtLeast {
    /// `minimum` of `scorers`.
    pub fn new(scorers: Vec<AnyScorer>, minimum: usize) -> Self {
        Self { scorers, minimum: minimum as u32 }
    }
}

/// The window of bits that begins at `start`.
fn whole(start: u32, bar: f32) -> Window {
    if start == END {
        return Window::NONE;
    }
    Window { start, end: (window_of(start) + 1).saturating_mul(WINDOW), bar }
}

impl Scorer for ScoredAtLeast {
    fn cost(&self) -> u64 {
        let all: u64 = self.scorers.iter().map(|scorer| scorer.cost()).sum();
        all / u64::from(self.minimum.max(1))
    }

    fn next(&mut self, from: u32) -> u32 {
        nth_next(self.scorers.iter_mut().map(|scorer| scorer.next(from)), self.minimum)
    }

    fn window(&mut self, from: u32, bar: f32, turn: &mut Turn<'_>) -> Window {
        turn.spend(self.scorers.len() * 4);
        let window = whole(self.next(from), bar);
        if window != Window::NONE && bar > 0.0 && self.max_score(window.range()) < bar {
            return Window { start: window.end, end: window.end, bar };
        }
        window
    }

    fn max_score(&mut self, range: Range<u32>) -> f32 {
        bound(self.scorers.iter_mut().map(|s| f64::from(s.max_score(range.clone()))).sum())
    }

    fn prepare(&mut self, window: &Window, turn: &mut Turn<'_>) -> bool {
        turn.spend(self.scorers.len() * 64);
        let asked = Window { bar: 0.0, ..*window };
        all_ready(&mut self.scorers, |scorer| scorer.prepare(&asked, turn))
    }

    fn fill(&mut self, window: &Window, hits: &mut Hits) {
        let base = window_of(window.start) * WINDOW;
        let mut any = bits::NONE;
        let mut found = Lent::<Hits>::take();
        let (mut sums, mut counts) = (Lent::<Numbers<f64>>::take(), Lent::<Numbers<u16>>::take());
        for scorer in &mut self.scorers {
            found.clear();
            scorer.fill(&Window { bar: 0.0, ..*window }, &mut found);
            for (doc, score) in found.docs.iter().zip(&found.scores) {
                let place = (doc - base) as usize;
                sums[place] += f64::from(*score);
                counts[place] += 1;
                bits::set(&mut any, place as u32);
            }
        }
        bits::for_each(&any, |place| {
            let sum = std::mem::take(&mut sums[place as usize]);
            let count = std::mem::take(&mut counts[place as usize]);
            let score = sum as f32;
            if u32::from(count) >= self.minimum && score >= window.bar {
                hits.docs.push(base + place);
                hits.scores.push(score);
            }
        });
        found.give_back();
        sums.give_back();
        counts.give_back();
    }

    fn prepare_probe(&mut self, docs: &[u32], turn: &mut Turn<'_>) -> bool {
        turn.spend(docs.len() * self.scorers.len());
        all_ready(&mut self.scorers, |scorer| scorer.prepare_probe(docs, turn))
    }

    fn probe(&mut self, docs: &[u32], scores: &mut [f32]) {
        let mut sums = vec![(0.0f64, 0u32); docs.len()];
        for scorer in &mut self.scorers {
            scorer.probe(docs, scores);
            for ((sum, count), score) in sums.iter_mut().zip(scores.iter()) {
                if *score >= 0.0 {
                    *sum += f64::from(*score);
                    *count += 1;
                }
            }
        }
        for (score, (sum, count)) in scores.iter_mut().zip(sums) {
            *score = if count >= self.minimum { sum as f32 } else { NO_MATCH };
        }
    }
}

/// The best of several scores, and a share of the others (`DisjunctionMaxScorer`).
pub struct DisMax {
    scorers: Vec<AnyScorer>,
    tie_breaker: f64,
}

impl DisMax {
    /// At least one scorer.
    pub fn new(scorers: Vec<AnyScorer>, tie_breaker: f32) -> Self {
        Self { scorers, tie_breaker: f64::from(tie_breaker) }
    }
}

/// Takes one more score: the best so far, and the sum of the others.
#[inline]
fn take(best: &mut f32, others: &mut f64, score: f32) {
    if score >= *best {
        *others += f64::from(*best);
        *best = score;
    } else {
        *others += f64::from(score);
    }
}

impl Scorer for DisMax {
    fn cost(&self) -> u64 {
        self.scorers.iter().map(|scorer| scorer.cost()).sum()
    }

    fn next(&mut self, from: u32) -> u32 {
        self.scorers.iter_mut().map(|scorer| scorer.next(from)).min().unwrap_or(END)
    }

    fn window(&mut self, from: u32, bar: f32, turn: &mut Turn<'_>) -> Window {
        turn.spend(self.scorers.len() * 4);
        let window = whole(self.next(from), bar);
        if window != Window::NONE && bar > 0.0 && self.max_score(window.range()) < bar {
            return Window { start: window.end, end: window.end, bar };
        }
        window
    }

    fn max_score(&mut self, range: Range<u32>) -> f32 {
        let (mut best, mut others) = (0.0, 0.0);
        for scorer in &mut self.scorers {
            take(&mut best, &mut others, scorer.max_score(range.clone()));
        }
        bound(f64::from(best) + others * self.tie_breaker)
    }

    fn prepare(&mut self, window: &Window, turn: &mut Turn<'_>) -> bool {
        turn.spend(self.scorers.len() * 64);
        let asked = Window { bar: 0.0, ..*window };
        all_ready(&mut self.scorers, |scorer| scorer.prepare(&asked, turn))
    }

    fn fill(&mut self, window: &Window, hits: &mut Hits) {
        let base = window_of(window.start) * WINDOW;
        let mut any = bits::NONE;
        let mut found = Lent::<Hits>::take();
        let (mut bests, mut others) = (Lent::<Numbers<f32>>::take(), Lent::<Numbers<f64>>::take());
        for scorer in &mut self.scorers {
            found.clear();
            scorer.fill(&Window { bar: 0.0, ..*window }, &mut found);
            for (doc, score) in found.docs.iter().zip(&found.scores) {
                let place = (doc - base) as usize;
                take(&mut bests[place], &mut others[place], *score);
                bits::set(&mut any, place as u32);
            }
        }
        bits::for_each(&any, |place| {
            let best = std::mem::take(&mut bests[place as usize]);
            let others = std::mem::take(&mut others[place as usize]);
            let score = (f64::from(best) + others * self.tie_breaker) as f32;
            if score >= window.bar {
                hits.docs.push(base + place);
                hits.scores.push(score);
            }
        });
        found.give_back();
        bests.give_back();
        others.give_back();
    }

    fn prepare_probe(&mut self, docs: &[u32], turn: &mut Turn<'_>) -> bool {
        turn.spend(docs.len() * self.scorers.len());
        all_ready(&mut self.scorers, |scorer| scorer.prepare_probe(docs, turn))
    }

    fn probe(&mut self, docs: &[u32], scores: &mut [f32]) {
        let mut taken = vec![(0.0f32, 0.0f64, false); docs.len()];
        for scorer in &mut self.scorers {
            scorer.probe(docs, scores);
            for ((best, others, any), score) in taken.iter_mut().zip(scores.iter()) {
                if *score >= 0.0 {
                    take(best, others, *score);
                    *any = true;
                }
            }
        }
        for (score, (best, others, any)) in scores.iter_mut().zip(taken) {
            *score = match any {
                true => (f64::from(best) + others * self.tie_breaker) as f32,
                false => NO_MATCH,
            };
        }
    }

    fn count_min(&self) -> u64 {
        self.scorers.iter().map(|scorer| scorer.count_min()).max().unwrap_or(0)
    }
}
