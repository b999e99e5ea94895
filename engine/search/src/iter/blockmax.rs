//! Optional clauses whose scores add up, best first wanted: MaxScore over windows with bounds of
//! blocks.
//!
//! In a window each clause has a bound. Sorted by it, the weakest clauses together cannot reach the
//! bar: a document that only they match is of no use. So only the others, the *essential* clauses,
//! are read whole; the weak ones are looked up for the candidates that may still reach the bar.
//! (Turtle and Flood 1995; bounds by block after Ding and Suel 2011; windows as in Lucene's
//! `MaxScoreBulkScorer`.) Without a bar all clauses are essential and every match is found.
//!
//! Where one clause alone is essential in the whole segment, its own windows are taken: it passes over
//! its blocks by their bounds, and no array of sums is needed.
//!
//! Always true
//! 1. Sums of several clauses are kept in an array, for 4,096 documents at a time.
//! 2. Sums are made in f64 and rounded once, so the order of the clauses does not matter.

use std::ops::Range;

use super::and::SPARSE;
use super::lent::{Lent, Numbers};
use super::{
    AnyScorer, Bits, END, Hits, NO_MATCH, Scorer, Turn, WINDOW, Window, bits, bound, is_wide,
    window_of,
};

/// To ask about so many documents in order costs about as much as to look at one.
const ASKED: usize = 4;

/// Where the work on a window stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Not begun.
    Fresh,
    /// Candidates are there; this many of the weak clauses have been looked up.
    Looked(usize),
    /// All is done.
    Done,
}

struct Clause {
    scorer: AnyScorer,
    /// Bound in the window at hand.
    max: f32,
    /// Bound in the whole segment; negative until it is asked for.
    whole: f32,
}

/// Optional clauses whose scores add up.
pub struct BlockMax {
    /// Sorted by their bound in the window at hand, the weakest first.
    clauses: Vec<Clause>,
    /// The first that is essential in the window at hand.
    essential: usize,
    /// What all clauses but one add at most in the window at hand, for each clause; void without a bar.
    others: Vec<f64>,
    /// The window that the bounds are of.
    bounded: Range<u32>,
    stage: Stage,
    /// Documents of the next window without a bar: few at first, as they may set one.
    taken: u32,
    /// Candidates and their sums so far.
    docs: Vec<u32>,
    sums: Vec<f64>,
    hits: Hits,
    scores: Vec<f32>,
    /// Documents probed that score less are of no use.
    probe_bar: f32,
    /// The place of each candidate among the documents probed.
    places: Vec<u32>,
    /// Clauses may be asked about some of the documents that they were prepared for.
    probes_some: bool,
}

impl BlockMax {
    /// At least one clause.
    pub fn new(scorers: Vec<AnyScorer>) -> Self {
        let probes_some = scorers.iter().all(|scorer| scorer.probes_some());
        let clauses: Vec<Clause> =
            scorers.into_iter().map(|scorer| Clause { scorer, max: 0.0, whole: -1.0 }).collect();
        Self {
            clauses,
            essential: 0,
            others: Vec::new(),
            bounded: 0..0,
            stage: Stage::Fresh,
            taken: WINDOW / 16,
            docs: Vec::new(),
            sums: Vec::new(),
            hits: Hits::default(),
            scores: Vec::new(),
            probe_bar: 0.0,
            places: Vec::new(),
            probes_some,
        }
    }

    /// Scores of the documents that reach the bar: the clause that may give most is asked first, and the
    /// next ones only about documents that they can still lift.
    fn probe_best(&mut self, docs: &[u32], scores: &mut [f32]) {
        scores.fill(NO_MATCH);
        let (Some(first), Some(last)) = (docs.first(), docs.last()) else { return };
        let bar = self.probe_bar;
        let mut range = *first..last.saturating_add(1);
        if docs.len() as u64 * SPARSE < u64::from(last - first) {
            // A block's bound would be made for hardly more than one document.
            range = 0..END;
        }
        if self.bound_clauses(&range) < bar {
            return;
        }
        self.docs.clear();
        self.docs.extend_from_slice(docs);
        self.places.clear();
        self.places.extend(0..docs.len() as u32);
        self.sums.clear();
        self.sums.resize(docs.len(), 0.0);
        for at in (0..self.clauses.len()).rev() {
            self.scores.clear();
            self.scores.resize(self.docs.len(), NO_MATCH);
            self.clauses[at].scorer.probe(&self.docs, &mut self.scores);
            let rest = self.rest(at);
            let mut kept = 0;
            for from in 0..self.docs.len() {
                let sum = self.sums[from] + f64::from(self.scores[from].max(0.0));
                self.docs[kept] = self.docs[from];
                self.places[kept] = self.places[from];
                self.sums[kept] = sum;
                kept += usize::from(bound(sum + rest) >= bar);
            }
            self.docs.truncate(kept);
            self.places.truncate(kept);
            self.sums.truncate(kept);
        }
        for (place, sum) in self.places.iter().zip(&self.sums) {
            scores[*place as usize] = *sum as f32;
        }
    }

    /// Computes each clause's bound in `range`; answers the bound of their sum.
    fn bound_clauses(&mut self, range: &Range<u32>) -> f32 {
        if self.bounded != *range {
            for clause in &mut self.clauses {
                clause.max = clause.scorer.max_score(range.clone());
            }
            // Few clauses, nearly sorted from the last window.
            self.clauses.sort_by(|a, b| a.max.total_cmp(&b.max));
            self.bounded = range.clone();
        }
        bound(self.clauses.iter().map(|clause| f64::from(clause.max)).sum())
    }

    /// The clause without which no document reaches the bar, whatever all others give, if there is
    /// one; and what all others give at most.
    fn alone(&mut self, bar: f32) -> Option<(usize, f64)> {
        for clause in &mut self.clauses {
            if clause.whole < 0.0 {
                clause.whole = clause.scorer.max_score(0..END);
            }
        }
        let wholes = self.clauses.iter().map(|clause| clause.whole).enumerate();
        let (at, _) = wholes.max_by(|a, b| a.1.total_cmp(&b.1))?;
        // A bound may be so large (a function's is `f32::MAX`) that it cannot be taken away from a sum again.
        let others = self.clauses[..at].iter().chain(&self.clauses[at + 1..]);
        let rest = others.map(|clause| f64::from(clause.whole)).sum::<f64>();
        // Sums of other orders may differ in their last bits: far less than this margin.
        (bound(rest * (1.0 + 1e-6)) < bar).then_some((at, rest))
    }

    /// The windows of the one clause that is essential.
    fn lead_window(
        &mut self,
        (at, rest): (usize, f64),
        mut from: u32,
        bar: f32,
        turn: &mut Turn<'_>,
    ) -> Window {
        let least = needed(bar, rest);
        // Clauses are sorted anew for each window.
        let whole = self.clauses[at].whole;
        loop {
            let Some(lead) = self.clauses.iter_mut().find(|clause| clause.whole == whole) else {
                return Window::NONE;
            };
            let window = lead.scorer.window(from, least, turn);
            turn.spend(self.clauses.len() * 4);
            if window.start >= window.end || self.bound_clauses(&window.range()) >= bar {
                return Window { bar, ..window };
            }
            from = window.end;
            if turn.is_over() {
                return Window { start: from, end: from, bar };
            }
        }
    }

    /// Finds the essential clauses of the window bounded.
    fn part(&mut self, window: &Window) {
        let bar = window.bar;
        if is_wide(window)
            && let Some((at, _)) = self.alone(bar)
        {
            // The one essential clause stands last, though another may have a higher bound here.
            let lead = self.clauses.remove(at);
            self.clauses.push(lead);
            self.essential = self.clauses.len() - 1;
            return;
        }
        let mut sum = 0.0;
        self.essential = self
            .clauses
            .iter()
            .position(|clause| {
                sum += f64::from(clause.max);
                bound(sum) >= bar
            })
            .unwrap_or(self.clauses.len());
    }

    /// Sum of the bounds of the first `count` clauses.
    fn rest(&self, count: usize) -> f64 {
        self.clauses[..count].iter().map(|clause| f64::from(clause.max)).sum()
    }

    /// Sums up, for each clause, the bounds before it and behind it: a bound cannot be taken away from the sum of
    /// all again (see [`Self::alone`]), and to sum up anew for each of four thousand took 30 ms a window.
    fn sum_up_others(&mut self) {
        self.others.clear();
        let mut sum = 0.0;
        for clause in &self.clauses {
            self.others.push(sum);
            sum += f64::from(clause.max);
        }
        sum = 0.0;
        for (clause, others) in self.clauses.iter().zip(&mut self.others).rev() {
            *others += sum;
            sum += f64::from(clause.max);
        }
    }

    /// How clause `at` is asked for a window: what the others add at most need not be reached. A
    /// document of a block that cannot reach the bar even so is of no use, whoever else has it.
    fn asked(&self, at: usize, window: &Window) -> Window {
        if window.bar <= 0.0 {
            return *window;
        }
        Window { bar: needed(window.bar, self.others[at]), ..*window }
    }

    /// The candidates of the window: what the essential clauses match.
    fn gather(&mut self, window: &Window) {
        self.docs.clear();
        self.sums.clear();
        let rest = self.rest(self.essential);
        if self.clauses.len() - self.essential == 1 {
            self.hits.clear();
            let asked = self.asked(self.essential, window);
            self.clauses[self.essential].scorer.fill(&asked, &mut self.hits);
            let Hits { docs, scores } = &self.hits;
            keep(docs, scores, rest, window.bar, &mut self.docs, &mut self.sums);
            return;
        }
        // Sums by place in the window.
        let mut table = Lent::<Numbers<f64>>::take();
        let mut start = window.start;
        while start < window.end {
            let base = window_of(start) * WINDOW;
            let end = window.end.min(base.saturating_add(WINDOW));
            let part = Window { start, end, bar: window.bar };
            let mut matched = bits::NONE;
            for at in self.essential..self.clauses.len() {
                let asked = self.asked(at, &part);
                self.hits.clear();
                self.clauses[at].scorer.fill(&asked, &mut self.hits);
                add(&self.hits.docs, &self.hits.scores, base, &mut table, &mut matched);
            }
            let (docs, sums) = (&mut self.docs, &mut self.sums);
            harvest(&matched, base, rest, window.bar, &mut table, docs, sums);
            start = end;
        }
        table.give_back();
    }

    /// Drops candidates that cannot reach the bar with the first `count` clauses.
    fn prune(&mut self, count: usize, bar: f32) {
        if bar <= 0.0 {
            return;
        }
        let rest = self.rest(count);
        let mut kept = 0;
        for at in 0..self.docs.len() {
            self.docs[kept] = self.docs[at];
            self.sums[kept] = self.sums[at];
            kept += usize::from(bound(self.sums[at] + rest) >= bar);
        }
        self.docs.truncate(kept);
        self.sums.truncate(kept);
    }
}

/// What a clause must reach where others add at most `rest`. The margin is far wider than any
/// rounding.
pub fn needed(bar: f32, rest: f64) -> f32 {
    let needed = f64::from(bar) * (1.0 - 1e-6) - rest * (1.0 + 1e-6);
    if needed > 0.0 { needed as f32 } else { 0.0 }
}

/// Takes the hits that can reach the bar. Which do cannot be foretold: each is written, and the next over
/// it where it does not.
#[inline]
fn keep(
    docs: &[u32],
    scores: &[f32],
    rest: f64,
    bar: f32,
    out: &mut Vec<u32>,
    sums: &mut Vec<f64>,
) {
    out.extend_from_slice(docs);
    sums.extend(scores.iter().map(|score| f64::from(*score)));
    if bar <= 0.0 {
        return;
    }
    let first = out.len() - docs.len();
    let mut kept = first;
    for at in first..out.len() {
        (out[kept], sums[kept]) = (out[at], sums[at]);
        kept += usize::from(bound(sums[at] + rest) >= bar);
    }
    out.truncate(kept);
    sums.truncate(kept);
}

/// Adds scores at their documents' places.
#[inline]
fn add(
    docs: &[u32],
    scores: &[f32],
    base: u32,
    table: &mut [f64; WINDOW as usize],
    matched: &mut Bits,
) {
    for (doc, score) in docs.iter().zip(scores) {
        let place = (doc - base) as usize % WINDOW as usize;
        table[place] += f64::from(*score);
        matched[place / 64] |= 1 << (place % 64);
    }
}

/// Takes the sums out of the table, those that can reach the bar.
#[inline]
fn harvest(
    matched: &Bits,
    base: u32,
    rest: f64,
    bar: f32,
    table: &mut [f64; WINDOW as usize],
    docs: &mut Vec<u32>,
    sums: &mut Vec<f64>,
) {
    let listed = docs.len();
    bits::list(matched, base, docs);
    sums.resize(docs.len(), 0.0);
    let mut kept = listed;
    for at in listed..docs.len() {
        let doc = docs[at];
        let sum = std::mem::take(&mut table[(doc - base) as usize % WINDOW as usize]);
        (docs[kept], sums[kept]) = (doc, sum);
        kept += usize::from(bar <= 0.0 || bound(sum + rest) >= bar);
    }
    docs.truncate(kept);
    sums.truncate(kept);
}

impl Scorer for BlockMax {
    fn cost(&self) -> u64 {
        self.clauses.iter().map(|clause| clause.scorer.cost()).sum()
    }

    fn next(&mut self, from: u32) -> u32 {
        self.clauses.iter_mut().map(|clause| clause.scorer.next(from)).min().unwrap_or(END)
    }

    fn window(&mut self, mut from: u32, bar: f32, turn: &mut Turn<'_>) -> Window {
        if bar > 0.0
            && let Some(alone) = self.alone(bar)
        {
            return self.lead_window(alone, from, bar, turn);
        }
        loop {
            let start = self.next(from);
            if start == END {
                return Window::NONE;
            }
            let mut end = (window_of(start) + 1).saturating_mul(WINDOW);
            if bar <= 0.0 {
                end = end.min(start.saturating_add(self.taken));
                self.taken = (self.taken * 2).min(WINDOW);
            }
            turn.spend(self.clauses.len() * 4);
            if bar <= 0.0 || self.bound_clauses(&(start..end)) >= bar {
                return Window { start, end, bar };
            }
            from = end;
            if turn.is_over() {
                return Window { start: end, end, bar };
            }
        }
    }

    fn max_score(&mut self, range: Range<u32>) -> f32 {
        bound(
            self.clauses
                .iter_mut()
                .map(|clause| f64::from(clause.scorer.max_score(range.clone())))
                .sum(),
        )
    }

    fn prepare(&mut self, window: &Window, turn: &mut Turn<'_>) -> bool {
        if self.stage == Stage::Done {
            return true;
        }
        if self.stage == Stage::Fresh {
            if window.bar > 0.0 {
                self.bound_clauses(&window.range());
                self.part(window);
                self.sum_up_others();
            } else {
                self.essential = 0;
            }
            let mut ready = true;
            for at in self.essential..self.clauses.len() {
                let asked = self.asked(at, window);
                ready &= self.clauses[at].scorer.prepare(&asked, turn);
            }
            if !ready {
                return false;
            }
            self.gather(window);
            turn.spend(self.docs.len() + 64);
            self.stage = Stage::Looked(0);
        }
        while let Stage::Looked(count) = self.stage {
            // The strongest of the weak ones first.
            let left = self.essential - count;
            if left == 0 || self.docs.is_empty() {
                break;
            }
            self.prune(left, window.bar);
            let clause = &mut self.clauses[left - 1];
            if !clause.scorer.prepare_probe(&self.docs, turn) {
                return false;
            }
            self.scores.clear();
            self.scores.resize(self.docs.len(), NO_MATCH);
            clause.scorer.probe(&self.docs, &mut self.scores);
            turn.spend(self.docs.len() * 4);
            for (sum, score) in self.sums.iter_mut().zip(&self.scores) {
                *sum += f64::from(score.max(0.0));
            }
            self.stage = Stage::Looked(count + 1);
        }
        self.stage = Stage::Done;
        true
    }

    fn fill(&mut self, window: &Window, hits: &mut Hits) {
        debug_assert!(self.stage == Stage::Done, "prepared");
        self.stage = Stage::Fresh;
        for (doc, sum) in self.docs.iter().zip(&self.sums) {
            let score = *sum as f32;
            if score >= window.bar {
                hits.docs.push(*doc);
                hits.scores.push(score);
            }
        }
    }

    fn prepare_probe(&mut self, docs: &[u32], turn: &mut Turn<'_>) -> bool {
        turn.spend(docs.len() * self.clauses.len() / ASKED);
        let mut ready = true;
        for clause in &mut self.clauses {
            ready &= clause.scorer.prepare_probe(docs, turn);
        }
        ready
    }

    fn probe_above(&mut self, bar: f32) {
        self.probe_bar = bar;
    }

    fn probe(&mut self, docs: &[u32], scores: &mut [f32]) {
        if self.probe_bar > 0.0 && self.probes_some {
            return self.probe_best(docs, scores);
        }
        self.sums.clear();
        self.sums.resize(docs.len(), -1.0);
        for clause in &mut self.clauses {
            clause.scorer.probe(docs, scores);
            for (sum, score) in self.sums.iter_mut().zip(scores.iter()) {
                if *score >= 0.0 {
                    *sum = sum.max(0.0) + f64::from(*score);
                }
            }
        }
        for (score, sum) in scores.iter_mut().zip(&self.sums) {
            *score = if *sum < 0.0 { NO_MATCH } else { *sum as f32 };
        }
    }

    fn count_min(&self) -> u64 {
        self.clauses.iter().map(|clause| clause.scorer.count_min()).max().unwrap_or(0)
    }
}
