//! Clauses that must all match: the one with the fewest matches leads, the others are probed.
//!
//! [`AllOf`] joins filters in windows of bits; a follower is probed where candidates are few, and
//! filled where they are many. [`Conjunction`] joins scorers, and filters that do not score: the
//! lead's candidates become fewer with each follower, and with a bar those go first that could not
//! reach it even with the best of what is still to come.

use std::ops::Range;

use super::blockmax::needed;
use super::{
    AnyFilter, AnyScorer, Bits, END, Filter, Hits, NO_MATCH, Scorer, Turn, WINDOW, Window, bits,
    bound, window_of,
};

/// Where the work on a window stands: how many clauses have been asked; `DONE` when all are.
const DONE: usize = usize::MAX;

/// Filters that must all match.
pub struct AllOf {
    /// The one with the fewest matches first.
    filters: Vec<AnyFilter>,
    doc_count: u32,
    stage: usize,
    bits: Bits,
    docs: Vec<u32>,
    matches: Vec<bool>,
    probe: Probe,
}

impl AllOf {
    /// At least one filter, in a segment of `doc_count`.
    pub fn new(mut filters: Vec<AnyFilter>, doc_count: u32) -> Self {
        filters.sort_by_key(|filter| filter.cost());
        Self {
            filters,
            doc_count,
            stage: 0,
            bits: bits::NONE,
            docs: Vec::new(),
            matches: Vec::new(),
            probe: Probe::default(),
        }
    }
}

impl Filter for AllOf {
    fn cost(&self) -> u64 {
        self.filters.first().map_or(0, |filter| filter.cost())
    }

    fn next(&mut self, from: u32) -> u32 {
        self.filters
            .iter_mut()
            .fold(from, |at, filter| if at == END { END } else { filter.next(at) })
    }

    fn prepare(&mut self, window: u32, turn: &mut Turn<'_>) -> bool {
        if self.stage == DONE {
            return true;
        }
        let base = window * WINDOW;
        while self.stage < self.filters.len() {
            let filter = &mut self.filters[self.stage];
            if self.stage == 0 {
                if !filter.prepare(window, turn) {
                    return false;
                }
                self.bits = bits::NONE;
                filter.fill(window, &mut self.bits);
                turn.spend(64);
            } else {
                let candidates = bits::count(&self.bits) as usize;
                if candidates == 0 {
                    break;
                }
                if filter.looks_up(candidates, self.doc_count) {
                    self.docs.clear();
                    bits::list(&self.bits, base, &mut self.docs);
                    if !filter.prepare_probe(&self.docs, turn) {
                        return false;
                    }
                    self.matches.clear();
                    self.matches.resize(self.docs.len(), false);
                    filter.probe(&self.docs, &mut self.matches);
                    self.bits = bits::NONE;
                    for (doc, matches) in self.docs.iter().zip(&self.matches) {
                        if *matches {
                            bits::set(&mut self.bits, doc - base);
                        }
                    }
                } else {
                    if !filter.prepare(window, turn) {
                        return false;
                    }
                    let mut other = bits::NONE;
                    filter.fill(window, &mut other);
                    bits::and(&mut self.bits, &other);
                }
                turn.spend(candidates + 64);
            }
            self.stage += 1;
        }
        self.stage = DONE;
        true
    }

    fn fill(&mut self, _window: u32, bits: &mut Bits) {
        debug_assert!(self.stage == DONE, "prepared");
        self.stage = 0;
        bits::or(bits, &self.bits);
    }

    fn prepare_probe(&mut self, docs: &[u32], turn: &mut Turn<'_>) -> bool {
        if self.probe.stage == DONE {
            return true;
        }
        self.probe.begin(docs);
        while let Some(filter) = self.filters.get_mut(self.probe.stage) {
            if !self.probe.filter(filter, turn) {
                return false;
            }
        }
        self.probe.stage = DONE;
        true
    }

    fn probe(&mut self, _docs: &[u32], matches: &mut [bool]) {
        matches.fill(false);
        for at in &self.probe.places {
            matches[*at as usize] = true;
        }
        self.probe.end();
    }
}

/// Documents being probed, fewer with each clause.
#[derive(Default)]
struct Probe {
    stage: usize,
    begun: bool,
    docs: Vec<u32>,
    /// Where each document stands among those asked about.
    places: Vec<u32>,
    sums: Vec<f64>,
    matches: Vec<bool>,
    scores: Vec<f32>,
}

impl Probe {
    /// Takes the documents asked about, unless it has them.
    fn begin(&mut self, docs: &[u32]) {
        if self.begun {
            return;
        }
        (self.begun, self.stage) = (true, 0);
        self.docs.clear();
        self.docs.extend_from_slice(docs);
        self.places.clear();
        self.places.extend(0..docs.len() as u32);
        self.sums.clear();
        self.sums.resize(docs.len(), 0.0);
    }

    fn end(&mut self) {
        (self.begun, self.stage) = (false, 0);
    }

    /// Keeps the documents that `filter` matches; false where it must wait.
    fn filter(&mut self, filter: &mut AnyFilter, turn: &mut Turn<'_>) -> bool {
        if !self.docs.is_empty() {
            if !filter.prepare_probe(&self.docs, turn) {
                return false;
            }
            self.matches.clear();
            self.matches.resize(self.docs.len(), false);
            filter.probe(&self.docs, &mut self.matches);
            turn.spend(self.docs.len() * 4);
            let mut kept = 0;
            for at in 0..self.docs.len() {
                self.docs[kept] = self.docs[at];
                self.places[kept] = self.places[at];
                self.sums[kept] = self.sums[at];
                kept += usize::from(self.matches[at]);
            }
            self.truncate(kept);
        }
        self.stage += 1;
        true
    }

    /// Keeps the documents that `scorer` matches and adds their scores; false where it must wait.
    fn score(&mut self, scorer: &mut AnyScorer, turn: &mut Turn<'_>) -> bool {
        if !self.docs.is_empty() {
            if !scorer.prepare_probe(&self.docs, turn) {
                return false;
            }
            self.scores.clear();
            self.scores.resize(self.docs.len(), NO_MATCH);
            scorer.probe(&self.docs, &mut self.scores);
            turn.spend(self.docs.len() * 4);
            let mut kept = 0;
            for at in 0..self.docs.len() {
                let score = self.scores[at];
                self.docs[kept] = self.docs[at];
                self.places[kept] = self.places[at];
                self.sums[kept] = self.sums[at] + f64::from(score);
                kept += usize::from(score >= 0.0);
            }
            self.truncate(kept);
        }
        self.stage += 1;
        true
    }

    /// Drops documents that cannot reach the bar with `rest` more.
    fn prune(&mut self, rest: f64, bar: f32) {
        let mut kept = 0;
        for at in 0..self.docs.len() {
            self.docs[kept] = self.docs[at];
            self.places[kept] = self.places[at];
            self.sums[kept] = self.sums[at];
            kept += usize::from(bound(self.sums[at] + rest) >= bar);
        }
        self.truncate(kept);
    }

    fn truncate(&mut self, kept: usize) {
        self.docs.truncate(kept);
        self.places.truncate(kept);
        self.sums.truncate(kept);
    }
}

/// A clause of a conjunction.
enum Part {
    Scorer(AnyScorer),
    Filter(AnyFilter),
}

impl Part {
    fn cost(&self) -> u64 {
        match self {
            Self::Scorer(scorer) => scorer.cost(),
            Self::Filter(filter) => filter.cost(),
        }
    }

    fn next(&mut self, from: u32) -> u32 {
        match self {
            Self::Scorer(scorer) => scorer.next(from),
            Self::Filter(filter) => filter.next(from),
        }
    }

    fn max_score(&mut self, range: Range<u32>) -> f32 {
        match self {
            Self::Scorer(scorer) => scorer.max_score(range),
            Self::Filter(_) => 0.0,
        }
    }
}

/// A filter leads a scorer of so many times its matches: looking them up costs a scorer less than scoring
/// so many more that the filter then takes out.
const LEAD: u64 = 3;

/// Candidates that a filter which leads gathers before scorers are asked: what a window costs apart from its
/// documents is paid for so many.
const GATHERED: u64 = 256;

/// Most windows that they are gathered from.
const GATHERED_WINDOWS: u64 = 16;

/// Of so many documents no more than one is asked about where bounds of single blocks cost more than they save.
pub const SPARSE: u64 = 32;

/// Puts the clause that leads first. Filters lead only where they match far less than the best
/// scorer: a scorer passes over what cannot reach the bar, and the filter is asked about the rest.
fn lead_first(parts: &mut [Part]) {
    let Some(scorer) = parts.iter().position(|part| matches!(part, Part::Scorer(_))) else {
        return;
    };
    if scorer > 0 && parts[0].cost().saturating_mul(LEAD) > parts[scorer].cost() {
        parts[..=scorer].rotate_right(1);
    }
}

/// Clauses that must all match, of which some score.
pub struct Conjunction {
    /// The one with the fewest matches first.
    parts: Vec<Part>,
    /// Bounds in the window at hand.
    maxes: Vec<f32>,
    bounded: Range<u32>,
    /// Bounds in the whole segment, all but the lead's.
    rest: f64,
    /// Windows that a filter leads at once.
    taken: u32,
    /// The lead's matches are so few that bounds in the whole segment do.
    coarse: bool,
    /// Where the window begins at hand that a filter leads, and the window of bits that it waits for.
    waits: Option<(u32, u32)>,
    /// Windows of the segment.
    windows: u32,
    probe: Probe,
    hits: Hits,
}

impl Conjunction {
    /// At least one clause, in a segment of `doc_count`.
    pub fn new(scorers: Vec<AnyScorer>, filters: Vec<AnyFilter>, doc_count: u32) -> Self {
        let mut parts: Vec<Part> = scorers.into_iter().map(Part::Scorer).collect();
        parts.extend(filters.into_iter().map(Part::Filter));
        parts.sort_by_key(Part::cost);
        lead_first(&mut parts);
        let maxes: Vec<f32> = parts.iter_mut().map(|part| part.max_score(0..END)).collect();
        let rest = maxes.iter().skip(1).map(|max| f64::from(*max)).sum();
        let leads = parts.first().filter(|lead| matches!(lead, Part::Filter(_)));
        let matches = leads.map_or(u64::MAX, Part::cost);
        let coarse = matches.saturating_mul(SPARSE) < u64::from(doc_count);
        let taken = match coarse {
            true => GATHERED * u64::from(doc_count) / (matches.max(1) * u64::from(WINDOW)),
            false => 1,
        };
        Self {
            parts,
            maxes,
            bounded: 0..0,
            rest,
            taken: taken.clamp(1, GATHERED_WINDOWS) as u32,
            coarse,
            waits: None,
            windows: doc_count.div_ceil(WINDOW),
            probe: Probe::default(),
            hits: Hits::default(),
        }
    }

    /// Computes the clauses' bounds in `range`; answers the bound of their sum.
    fn bound_parts(&mut self, range: Range<u32>) -> f32 {
        if !self.coarse && self.bounded != range {
            for (max, part) in self.maxes.iter_mut().zip(&mut self.parts) {
                *max = part.max_score(range.clone());
            }
            self.bounded = range;
        }
        bound(self.rest_from(0))
    }

    /// Sum of the bounds of the clauses from `from` on.
    fn rest_from(&self, from: usize) -> f64 {
        self.maxes[from..].iter().map(|max| f64::from(*max)).sum()
    }

    /// What clause `at` must give, where all others give what they can.
    fn above(&self, at: usize, bar: f32) -> f32 {
        if bar <= 0.0 {
            return 0.0;
        }
        let (before, after) = (&self.maxes[..at], &self.maxes[at + 1..]);
        needed(bar, before.iter().chain(after).map(|max| f64::from(*max)).sum())
    }

    /// The next range of the lead's.
    fn lead_window(&mut self, from: u32, bar: f32, turn: &mut Turn<'_>) -> Window {
        match &mut self.parts[0] {
            Part::Scorer(lead) => lead.window(from, needed(bar, self.rest), turn),
            Part::Filter(lead) => {
                let start = lead.next(from);
                if start == END {
                    return Window::NONE;
                }
                let first = window_of(start);
                let last = (first + self.taken).min(self.windows).max(first + 1);
                let end = last.saturating_mul(WINDOW);
                Window { start, end, bar }
            }
        }
    }

    /// The lead's candidates of a window; false where it must wait.
    fn lead(&mut self, window: &Window, turn: &mut Turn<'_>) -> bool {
        let rest = if window.bar > 0.0 { self.rest_from(1) } else { 0.0 };
        let resumed = self.waits.take().filter(|(start, _)| *start == window.start);
        if resumed.is_none() {
            self.hits.clear();
        }
        match &mut self.parts[0] {
            Part::Scorer(lead) => {
                let asked = Window { bar: needed(window.bar, rest), ..*window };
                if !lead.prepare(&asked, turn) {
                    return false;
                }
                lead.fill(&asked, &mut self.hits);
            }
            Part::Filter(lead) => {
                let first = resumed.map_or(window_of(window.start), |(_, number)| number);
                for number in first..=window_of(window.end - 1) {
                    if !lead.prepare(number, turn) {
                        self.waits = Some((window.start, number));
                        return false;
                    }
                    let mut found = bits::NONE;
                    lead.fill(number, &mut found);
                    let base = number * WINDOW;
                    let end = (window.end - base).min(WINDOW);
                    bits::keep_range(&mut found, window.start.saturating_sub(base)..end);
                    bits::list(&found, base, &mut self.hits.docs);
                    // Its bits are listed, however few they are.
                    turn.spend(16);
                }
                self.hits.scores.resize(self.hits.docs.len(), 0.0);
            }
        }
        self.probe.end();
        self.probe.begin(&self.hits.docs);
        for (sum, score) in self.probe.sums.iter_mut().zip(&self.hits.scores) {
            *sum = f64::from(*score);
        }
        self.probe.stage = 1;
        turn.spend(self.hits.docs.len() + 16);
        true
    }
}

impl Scorer for Conjunction {
    fn cost(&self) -> u64 {
        self.parts.first().map_or(0, Part::cost)
    }

    fn next(&mut self, from: u32) -> u32 {
        self.parts.iter_mut().fold(from, |at, part| if at == END { END } else { part.next(at) })
    }

    fn window(&mut self, mut from: u32, bar: f32, turn: &mut Turn<'_>) -> Window {
        loop {
            let window = self.lead_window(from, bar, turn);
            if window.start >= window.end {
                return Window { bar, ..window };
            }
            // Followers may know that nothing comes for long.
            let mut start = window.start;
            for part in &mut self.parts[1..] {
                start = part.next(start);
                if start == END {
                    return Window::NONE;
                }
            }
            turn.spend(self.parts.len() * 2);
            if start >= window.end {
                from = start;
            } else if bar > 0.0 && self.bound_parts(start..window.end) < bar {
                if self.coarse {
                    return Window::NONE;
                }
                from = window.end;
            } else {
                return Window { start, end: window.end, bar };
            }
            if turn.is_over() {
                return Window { start: from, end: from, bar };
            }
        }
    }

    fn max_score(&mut self, range: Range<u32>) -> f32 {
        bound(self.parts.iter_mut().map(|part| f64::from(part.max_score(range.clone()))).sum())
    }

    fn prepare(&mut self, window: &Window, turn: &mut Turn<'_>) -> bool {
        if self.probe.stage == DONE {
            return true;
        }
        if !self.probe.begun {
            if window.bar > 0.0 {
                self.bound_parts(window.range());
            }
            if !self.lead(window, turn) {
                self.probe.end();
                return false;
            }
        }
        while self.probe.stage < self.parts.len() {
            let at = self.probe.stage;
            if window.bar > 0.0 {
                let rest = self.rest_from(at);
                self.probe.prune(rest, window.bar);
            }
            let above = self.above(at, window.bar);
            let ready = match &mut self.parts[at] {
                Part::Scorer(scorer) => {
                    scorer.probe_above(above);
                    self.probe.score(scorer, turn)
                }
                Part::Filter(filter) => self.probe.filter(filter, turn),
            };
            if !ready {
                return false;
            }
        }
        self.probe.stage = DONE;
        true
    }

    fn fill(&mut self, window: &Window, hits: &mut Hits) {
        debug_assert!(self.probe.stage == DONE, "prepared");
        for (doc, sum) in self.probe.docs.iter().zip(&self.probe.sums) {
            let score = *sum as f32;
            if score >= window.bar {
                hits.docs.push(*doc);
                hits.scores.push(score);
            }
        }
        self.probe.end();
    }

    fn prepare_probe(&mut self, docs: &[u32], turn: &mut Turn<'_>) -> bool {
        if self.probe.stage == DONE {
            return true;
        }
        self.probe.begin(docs);
        while self.probe.stage < self.parts.len() {
            let ready = match &mut self.parts[self.probe.stage] {
                Part::Scorer(scorer) => {
                    scorer.probe_above(0.0);
                    self.probe.score(scorer, turn)
                }
                Part::Filter(filter) => self.probe.filter(filter, turn),
            };
            if !ready {
                return false;
            }
        }
        self.probe.stage = DONE;
        true
    }

    fn probe(&mut self, _docs: &[u32], scores: &mut [f32]) {
        scores.fill(NO_MATCH);
        for (at, sum) in self.probe.places.iter().zip(&self.probe.sums) {
            scores[*at as usize] = *sum as f32;
        }
        self.probe.end();
    }
}
