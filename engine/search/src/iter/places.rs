//! Words at places that rules describe: `intervals` and span queries.
//!
//! Documents that may match are found by their words; in each, the positions of all words are read
//! and the rules are gone through from the leaves up. Intervals are *minimal*: none holds another of
//! the same rule, which is what makes their number finite and each step linear. Spans are not: every
//! beginning counts, as in Lucene's older queries.

use std::sync::Arc;

use base::DocId;
use segment::{Need, Norms, Segment, TermInfo};

use super::adjusted::Adjust;
use super::blocks::Blocks;
use super::term::Weight;
use super::{NO_MATCH, Turn};
use crate::ast::Lies;
use crate::plan::places::{Leaf, Places, Source};
use crate::score::bm25;

/// Found places of one rule that are kept in a document.
const FOUND_MAX: usize = 100_000;

/// From the first position to the last, both included; positions inside that no word takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Found {
    start: u32,
    end: u32,
    gaps: u32,
}

impl Found {
    const fn len(self) -> u32 {
        self.end - self.start + 1
    }
}

/// One word of the tree in a segment.
struct Word {
    terms: Vec<Blocks>,
    found: Vec<Found>,
}

/// Reads words, and finds what the rules describe.
pub struct Placed {
    places: Arc<Places>,
    words: Vec<Word>,
    positions: Vec<u32>,
    /// The factor of intervals.
    boost: f32,
    /// What spans score.
    weight: Option<(Weight, Option<Norms>)>,
}

impl Placed {
    /// The words of a segment.
    pub fn new(
        segment: &Segment,
        places: &Arc<Places>,
        infos: &[Vec<TermInfo>],
        boost: f32,
        weight: Option<Weight>,
    ) -> Self {
        let mut words = Vec::with_capacity(places.leaves.len());
        for (leaf, infos) in places.leaves.iter().zip(infos) {
            let field = match leaf {
                Leaf::Term(field, _) => *field,
                Leaf::Pattern(expand) => expand.field,
            };
            let terms = segment.terms(field).map(|terms| {
                infos.iter().map(|it| Blocks::new(terms.postings(it, Need::Positions))).collect()
            });
            words.push(Word { terms: terms.unwrap_or_default(), found: Vec::new() });
        }
        let weight = weight.map(|weight| {
            let norms = places.spans.and_then(|(field, _)| segment.norms(field));
            let norms = norms.filter(|_| weight.norms);
            (weight, norms)
        });
        Self { places: Arc::clone(places), words, positions: Vec::new(), boost, weight }
    }

    fn read(&mut self, doc: u32) {
        for word in &mut self.words {
            word.found.clear();
            for term in &mut word.terms {
                if !term.find(doc) {
                    continue;
                }
                let at = term.at;
                term.positions(term.block, at, &mut self.positions);
                let found = self.positions.iter();
                word.found.extend(found.map(|at| Found { start: *at, end: *at, gaps: 0 }));
            }
            if word.terms.len() > 1 {
                word.found.sort_unstable_by_key(|found| found.start);
                word.found.dedup();
            }
        }
    }

    fn score(&mut self, doc: u32) -> f32 {
        self.read(doc);
        let places = Arc::clone(&self.places);
        let spans = places.spans.is_some();
        let found = find(&places.source, &self.words, spans);
        if found.is_empty() {
            return NO_MATCH;
        }
        let Some((weight, norms)) = &self.weight else {
            let extent = places.source.extent();
            let mut freq = 0.0f32;
            for one in &found {
                let over = i64::from(one.len()) - i64::from(extent) + 1;
                freq += (1.0 / over.max(1) as f64) as f32;
            }
            return self.boost * (1.0 - 1.0 / (1.0 + freq));
        };
        let freq: f32 = found.iter().map(|one| 1.0 / (1.0 + one.gaps as f32)).sum();
        let norm = norms.as_ref().map_or(bm25::NO_NORM, |norms| norms.get(DocId(doc)));
        weight.score(freq, weight.inverse(norm))
    }
}

impl Adjust for Placed {
    fn prepare(&mut self, docs: &[u32], _: &[f32], turn: &mut Turn<'_>) -> bool {
        turn.spend(docs.len() * 16);
        let mut ready = true;
        for term in self.words.iter().flat_map(|word| &word.terms) {
            ready &= term.prepare_probe(docs, turn);
        }
        ready
    }

    fn adjust(&mut self, docs: &[u32], scores: &mut [f32]) {
        for (slot, doc) in scores.iter_mut().zip(docs) {
            *slot = self.score(*doc);
        }
    }

    fn bound(&self, _: f32) -> f32 {
        match &self.weight {
            Some((weight, _)) => weight.weight,
            None => self.boost,
        }
    }
}

fn find(source: &Source, words: &[Word], spans: bool) -> Vec<Found> {
    match source {
        Source::Nothing => Vec::new(),
        Source::Leaf(at) => words[*at].found.clone(),
        Source::Or(some) => {
            let mut all: Vec<Found> =
                some.iter().flat_map(|source| find(source, words, spans)).collect();
            all.sort_by_key(|found| (found.start, found.end));
            all.dedup_by_key(|found| (found.start, found.end));
            if spans { all } else { minimal(all) }
        }
        Source::Ordered(all, gaps) => {
            let lists: Vec<Vec<Found>> = all.iter().map(|it| find(it, words, spans)).collect();
            within_gaps(minimal(ordered(&lists)), *gaps)
        }
        Source::Unordered(all, gaps) => {
            let lists: Vec<Vec<Found>> = all.iter().map(|it| find(it, words, spans)).collect();
            within_gaps(minimal(unordered(&lists)), *gaps)
        }
        Source::Near(all, slop, in_order) => {
            let lists: Vec<Vec<Found>> = all.iter().map(|it| find(it, words, spans)).collect();
            let found = if *in_order { ordered(&lists) } else { any_order(&lists) };
            found.into_iter().filter(|one| i64::from(one.gaps) <= *slop).collect()
        }
        Source::Lies(source, lies, reference) => {
            let (found, others) = (find(source, words, spans), find(reference, words, spans));
            found.into_iter().filter(|one| lies_so(*one, *lies, &others)).collect()
        }
        Source::Not(include, exclude, pre, post) => {
            let (found, others) = (find(include, words, spans), find(exclude, words, spans));
            let apart = |one: &Found| {
                others.iter().all(|other| {
                    other.end.saturating_add(*pre) < one.start
                        || other.start > one.end.saturating_add(*post)
                })
            };
            found.into_iter().filter(apart).collect()
        }
        Source::First(inner, end) => {
            let found = find(inner, words, spans);
            found.into_iter().filter(|one| one.end < *end).collect()
        }
    }
}

/// From each beginning on the next of each list, one after the other. Lists rise.
fn ordered(lists: &[Vec<Found>]) -> Vec<Found> {
    let Some((first, rest)) = lists.split_first() else { return Vec::new() };
    let mut out = Vec::new();
    'starts: for start in first.iter().take(FOUND_MAX) {
        let (mut end, mut gaps) = (start.end, start.gaps);
        for list in rest {
            let at = list.partition_point(|next| next.start <= end);
            let Some(next) = list.get(at) else { break 'starts };
            gaps += next.start - end - 1 + next.gaps;
            end = next.end;
        }
        out.push(Found { start: start.start, end, gaps });
    }
    out
}

/// From each beginning on the next of each list, wherever they stand to each other.
fn unordered(lists: &[Vec<Found>]) -> Vec<Found> {
    let mut starts: Vec<u32> = lists.iter().flatten().map(|found| found.start).collect();
    starts.sort_unstable();
    starts.dedup();
    let mut at = vec![0usize; lists.len()];
    let mut out = Vec::new();
    for start in starts.into_iter().take(FOUND_MAX) {
        let (mut from, mut end, mut taken) = (u32::MAX, 0, 0u32);
        for (list, at) in lists.iter().zip(&mut at) {
            while list.get(*at).is_some_and(|found| found.start < start) {
                *at += 1;
            }
            let Some(found) = list.get(*at) else { return out };
            from = from.min(found.start);
            end = end.max(found.end);
            taken += found.len() - found.gaps;
        }
        let gaps = (end - from + 1).saturating_sub(taken);
        out.push(Found { start: from, end, gaps });
    }
    out
}

/// As Lucene's unordered spans: the first of all lists goes on, and each state counts.
fn any_order(lists: &[Vec<Found>]) -> Vec<Found> {
    let mut at = vec![0usize; lists.len()];
    let mut out = Vec::new();
    loop {
        let (mut from, mut end, mut taken, mut least) = (u32::MAX, 0, 0u32, 0);
        for (number, (list, at)) in lists.iter().zip(&at).enumerate() {
            let Some(found) = list.get(*at) else { return out };
            if found.start < from {
                (from, least) = (found.start, number);
            }
            end = end.max(found.end);
            taken += found.len();
        }
        out.push(Found { start: from, end, gaps: (end - from + 1).saturating_sub(taken) });
        at[least] += 1;
        if out.len() >= FOUND_MAX {
            return out;
        }
    }
}

/// Those that hold no other.
fn minimal(mut all: Vec<Found>) -> Vec<Found> {
    all.sort_by_key(|found| (found.start, std::cmp::Reverse(found.end)));
    let mut out: Vec<Found> = Vec::with_capacity(all.len());
    for found in all {
        while out.last().is_some_and(|last| last.start <= found.start && found.end <= last.end) {
            out.pop();
        }
        out.push(found);
    }
    out
}

fn within_gaps(mut found: Vec<Found>, most: Option<u32>) -> Vec<Found> {
    if let Some(most) = most {
        found.retain(|one| one.gaps <= most);
    }
    found
}

fn lies_so(one: Found, lies: Lies, others: &[Found]) -> bool {
    let some = |test: &dyn Fn(&Found) -> bool| others.iter().any(test);
    let holds = |big: &Found, little: &Found| big.start <= little.start && little.end <= big.end;
    let overlaps = |other: &Found| other.start <= one.end && one.start <= other.end;
    match lies {
        Lies::After => some(&|other| other.end < one.start),
        Lies::Before => some(&|other| one.end < other.start),
        Lies::Containing => some(&|other| holds(&one, other)),
        Lies::ContainedBy => some(&|other| holds(other, &one)),
        Lies::NotContaining => !some(&|other| holds(&one, other)),
        Lies::NotContainedBy => !some(&|other| holds(other, &one)),
        Lies::Overlapping => some(&overlaps),
        Lies::NotOverlapping => !some(&overlaps),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(places: &[u32]) -> Vec<Found> {
        places.iter().map(|at| Found { start: *at, end: *at, gaps: 0 }).collect()
    }

    fn show(found: &[Found]) -> Vec<(u32, u32, u32)> {
        found.iter().map(|it| (it.start, it.end, it.gaps)).collect()
    }

    #[test]
    fn intervals_are_minimal() {
        // a at 0 and 1, b at 3: only the nearer a counts.
        let found = minimal(ordered(&[at(&[0, 1]), at(&[3])]));
        assert_eq!(show(&found), [(1, 3, 1)]);
        let found = minimal(unordered(&[at(&[5]), at(&[1, 7])]));
        assert_eq!(show(&found), [(1, 5, 3), (5, 7, 1)]);
    }

    #[test]
    fn spans_count_every_beginning() {
        let found = ordered(&[at(&[0, 1]), at(&[3])]);
        assert_eq!(show(&found), [(0, 3, 2), (1, 3, 1)]);
        assert_eq!(show(&any_order(&[at(&[4]), at(&[2, 5])])), [(2, 4, 1), (4, 5, 0)]);
    }

    #[test]
    fn places_lie_to_others() {
        let one = Found { start: 2, end: 4, gaps: 1 };
        let others = at(&[4, 9]);
        for (lies, expected) in [
            (Lies::Containing, true),
            (Lies::Before, true),
            (Lies::After, false),
            (Lies::Overlapping, true),
            (Lies::NotOverlapping, false),
            (Lies::ContainedBy, false),
        ] {
            assert_eq!(lies_so(one, lies, &others), expected, "{lies:?}");
        }
    }
}
