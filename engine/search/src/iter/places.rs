//! Words at places that rules describe: `intervals` and span queries.
//!
//! Documents that may match are found by their words; in each, the positions of all words are read
//! and the rules are gone through from the leaves up. That is for a worker where positions are many, for it
//! is not cut: each rule takes about as long as its lists are. Intervals are *minimal*: none holds another of
//! the same rule, which is what makes their number finite and each step linear. Spans are not: every
//! beginning counts, as in Lucene's older queries.

use std::borrow::Cow;
use std::sync::Arc;

use base::DocId;
use segment::postings::BLOCK;
use segment::{Need, Norms, Segment, TermInfo};

use super::adjusted::Adjust;
use super::blocks::Blocks;
use super::long::{self, Allowance};
use super::members::{self, Members};
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
    members: Members,
    found: Vec<Found>,
}

/// Reads words, and finds what the rules describe.
pub struct Placed {
    places: Arc<Places>,
    words: Vec<Word>,
    positions: Vec<u32>,
    /// Documents may take long.
    is_long: bool,
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
                Leaf::Pattern(expand, _) => expand.field,
            };
            let terms = segment.terms(field).map(|terms| {
                infos.iter().map(|it| Blocks::new(terms.postings(it, Need::Positions))).collect()
            });
            words.push(Word {
                terms: terms.unwrap_or_default(),
                members: Members::default(),
                found: Vec::new(),
            });
        }
        let weight = weight.map(|weight| {
            let norms = places.spans.and_then(|(field, _)| segment.norms(field));
            let norms = norms.filter(|_| weight.norms);
            (weight, norms)
        });
        let all: Vec<&Blocks> = words.iter().flat_map(|word| &word.terms).collect();
        let is_long = long::may_be(all.into_iter());
        let (places, positions) = (Arc::clone(places), Vec::new());
        Self { places, words, positions, is_long, boost, weight }
    }

    /// Whether the positions of these documents are so many that a core would be held.
    fn are_long(&mut self, docs: &[u32]) -> bool {
        let mut allowance = Allowance::default();
        docs.iter().any(|doc| {
            let mut positions = 0u64;
            for Word { terms, members, .. } in &mut self.words {
                members.each_found(terms, *doc, |term| {
                    let (block, at) = (term.block, term.at);
                    positions += u64::from(term.freqs(block)[at % BLOCK]);
                    true
                });
            }
            !allowance.leaves(positions)
        })
    }

    fn read(&mut self, doc: u32) {
        for Word { terms, members, found } in &mut self.words {
            found.clear();
            members.each_found(terms, doc, |term| {
                let at = term.at;
                term.positions(term.block, at, &mut self.positions);
                let here = self.positions.iter();
                found.extend(here.map(|at| Found { start: *at, end: *at, gaps: 0 }));
                true
            });
            if terms.len() > 1 {
                found.sort_unstable_by_key(|found| found.start);
                found.dedup();
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
            for one in found.iter() {
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
        for Word { terms, members, .. } in &mut self.words {
            let range = members::range_of(docs, terms.len());
            for term in terms.iter() {
                ready &= match &range {
                    Some(range) => term.prepare(range.clone(), turn),
                    None => term.prepare_probe(docs, turn),
                };
            }
            if let Some(range) = range.filter(|_| ready) {
                ready = members.tell(terms, &range, turn);
            }
        }
        ready && !(self.is_long && turn.on_core && self.are_long(docs) && turn.leaves_it())
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

fn find<'a>(source: &Source, words: &'a [Word], spans: bool) -> Cow<'a, [Found]> {
    Cow::Owned(match source {
        Source::Nothing => Vec::new(),
        Source::Leaf(at) => return Cow::Borrowed(&words[*at].found),
        Source::Or(some) => {
            let mut all = Vec::new();
            for source in some {
                all.extend_from_slice(&find(source, words, spans));
            }
            all.sort_by_key(|found| (found.start, found.end));
            all.dedup_by_key(|found| (found.start, found.end));
            if spans { all } else { minimal(all) }
        }
        Source::Ordered(all, gaps) => {
            let lists: Lists<'_> = all.iter().map(|it| find(it, words, spans)).collect();
            within_gaps(minimal(ordered(&lists)), *gaps)
        }
        Source::Unordered(all, gaps) => {
            let lists: Lists<'_> = all.iter().map(|it| find(it, words, spans)).collect();
            within_gaps(minimal(unordered(&lists)), *gaps)
        }
        Source::Near(all, slop, in_order) => {
            let lists: Lists<'_> = all.iter().map(|it| find(it, words, spans)).collect();
            let found = if *in_order { ordered(&lists) } else { any_order(&lists) };
            found.into_iter().filter(|one| i64::from(one.gaps) <= *slop).collect()
        }
        Source::Lies(source, lies, reference) => {
            let (mut found, others) =
                (find(source, words, spans).into_owned(), find(reference, words, spans));
            let others = Others::new(&others);
            found.retain(|one| others.lie_so(one, *lies));
            found
        }
        Source::Not(include, exclude, pre, post) => {
            let (mut found, others) =
                (find(include, words, spans).into_owned(), find(exclude, words, spans));
            let others = Others::new(&others);
            found.retain(|one| {
                !others.meet(one.start.saturating_sub(*pre), one.end.saturating_add(*post))
            });
            found
        }
        Source::First(inner, end) => {
            let mut found = find(inner, words, spans).into_owned();
            found.retain(|one| one.end < *end);
            found
        }
    })
}

/// What each of several rules found.
type Lists<'a> = Vec<Cow<'a, [Found]>>;

/// From each beginning on the next of each list, one after the other. Lists rise.
fn ordered(lists: &[Cow<'_, [Found]>]) -> Vec<Found> {
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
fn unordered(lists: &[Cow<'_, [Found]>]) -> Vec<Found> {
    let mut starts: Vec<u32> =
        lists.iter().flat_map(|list| list.iter()).map(|found| found.start).collect();
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
fn any_order(lists: &[Cow<'_, [Found]>]) -> Vec<Found> {
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

/// Places that others are compared with: each question is answered by a search, not by a walk through
/// all of them, for both may be millions.
struct Others<'a> {
    /// Rising by their beginnings.
    all: Cow<'a, [Found]>,
    /// Of each the last end up to it.
    ends: Vec<u32>,
    /// Of each the first end from it on.
    first_ends: Vec<u32>,
}

impl<'a> Others<'a> {
    fn new(all: &'a [Found]) -> Self {
        let mut all = Cow::Borrowed(all);
        if !all.is_sorted_by_key(|other| other.start) {
            all.to_mut().sort_by_key(|other| other.start);
        }
        let mut last = 0;
        let ends = all.iter().map(|other| {
            last = last.max(other.end);
            last
        });
        let ends = ends.collect();
        let mut first = u32::MAX;
        let mut first_ends = vec![0; all.len()];
        for (slot, other) in first_ends.iter_mut().zip(all.iter()).rev() {
            first = first.min(other.end);
            *slot = first;
        }
        Self { all, ends, first_ends }
    }

    /// The last end of those that begin at or before `start`.
    fn last_end(&self, start: u32) -> Option<u32> {
        let count = self.all.partition_point(|other| other.start <= start);
        Some(self.ends[count.checked_sub(1)?])
    }

    /// The first end of those that begin at or after `start`.
    fn first_end(&self, start: u32) -> Option<u32> {
        let from = self.all.partition_point(|other| other.start < start);
        self.first_ends.get(from).copied()
    }

    /// Has any a position in common with `start` to `end`, both included?
    fn meet(&self, start: u32, end: u32) -> bool {
        self.last_end(end).is_some_and(|last| last >= start)
    }

    fn lie_so(&self, one: &Found, lies: Lies) -> bool {
        let are_inside = || self.first_end(one.start).is_some_and(|first| first <= one.end);
        let are_around = || self.last_end(one.start).is_some_and(|last| last >= one.end);
        match lies {
            Lies::After => self.first_ends.first().is_some_and(|first| *first < one.start),
            Lies::Before => self.all.last().is_some_and(|last| one.end < last.start),
            Lies::Containing => are_inside(),
            Lies::ContainedBy => are_around(),
            Lies::NotContaining => !are_inside(),
            Lies::NotContainedBy => !are_around(),
            Lies::Overlapping => self.meet(one.start, one.end),
            Lies::NotOverlapping => !self.meet(one.start, one.end),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(places: &[u32]) -> Cow<'static, [Found]> {
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
            assert_eq!(Others::new(&others).lie_so(&one, lies), expected, "{lies:?}");
        }
    }

    proptest! {
        /// Each question as it is defined: by a walk through all.
        #[test]
        fn others_are_asked_as_one_by_one(
            others in prop::collection::vec((0u32..40, 0u32..9), 0..20),
            start in 0u32..40,
            len in 0u32..9,
            (pre, post) in (0u32..5, 0u32..5),
        ) {
            let found = |start, len| Found { start, end: start + len, gaps: 0 };
            let all: Vec<Found> = others.iter().map(|(start, len)| found(*start, *len)).collect();
            let (asked, one) = (Others::new(&all), found(start, len));
            let some = |test: &dyn Fn(&Found) -> bool| all.iter().any(test);
            let holds = |big: &Found, little: &Found| {
                big.start <= little.start && little.end <= big.end
            };
            let overlaps = |other: &Found| other.start <= one.end && one.start <= other.end;
            for (lies, expected) in [
                (Lies::After, some(&|other| other.end < one.start)),
                (Lies::Before, some(&|other| one.end < other.start)),
                (Lies::Containing, some(&|other| holds(&one, other))),
                (Lies::ContainedBy, some(&|other| holds(other, &one))),
                (Lies::NotContaining, !some(&|other| holds(&one, other))),
                (Lies::NotContainedBy, !some(&|other| holds(other, &one))),
                (Lies::Overlapping, some(&overlaps)),
                (Lies::NotOverlapping, !some(&overlaps)),
            ] {
                prop_assert_eq!(asked.lie_so(&one, lies), expected, "{:?}", lies);
            }
            let is_apart = all.iter().all(|other| {
                other.end.saturating_add(pre) < one.start
                    || other.start > one.end.saturating_add(post)
            });
            let meets = asked.meet(one.start.saturating_sub(pre), one.end.saturating_add(post));
            prop_assert_eq!(meets, !is_apart);
        }
    }
}
