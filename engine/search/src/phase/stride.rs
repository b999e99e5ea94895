//! How much the least step of a plan is: one window of one segment, which no turn can cut.
//!
//! A step ends between two windows, and a window of a composite is a window of each of its clauses. With
//! hundreds of phrases, or thousands of ranges or keys of an order, one is more than a core may give while
//! others wait; so is the building of what reads thousands of terms. Such plans are told from what is resident,
//! before their first step, and all of their steps are left to a worker.
//!
//! Measured on 20,000 documents of 300 words, one core: `c a` with a slop of 3 held it 18 ms a window, five
//! hundred of them 4.7 s; 4,000 clauses `a` of a `minimum_should_match` 87 ms.
//!
//! Not here: documents that are long beyond the average of their segment ([`crate::iter::long`]), and what
//! aggregations do ([`crate::aggs::run`]).

use std::time::Duration;

use segment::TermInfo;

use super::{HEAVY_WORK, Progress, Slice};
use crate::iter::build::Context;
use crate::iter::{Turn, WINDOW};
use crate::plan::weigh::{Node, Plan};

/// Work of a window, in documents looked at (about 5 ns each), beyond which it is left to a worker: half a
/// millisecond.
const STRIDE_MAX: u64 = 100_000;

/// Work of a step on a worker, where it can be cut: ten milliseconds.
const STEP_OF_WORKER: u64 = 2_000_000;

/// Fewer documents are no step: each step costs something, too.
const STEP_DOCS_MIN: u32 = 64;

/// What a clause costs in each window, whatever it finds.
const CLAUSE: u64 = 16;

/// To make what reads a term's postings, once in a segment for the best and once for the count, however short
/// they are.
const READER: u64 = 1_000;

/// To ask about documents that others found, in groups: for so many of them as much as for one in order.
const ASKED: u64 = 4;

/// To look a document up in a list.
const LOOKUP: u64 = 8;

/// To find a term in the dictionary, or an id.
const TERM: u64 = 40;

/// To read a position and compare it, and to move a word of a sloppy phrase on.
const POSITION: u64 = 2;

/// To read one more key of the order and to compare a hit by it, where all hits are alike in those before.
const KEY: u64 = 2;

impl Plan {
    /// Is it so in any segment? Then what it costs in all need not be known.
    pub fn is_heavy_anywhere(&self) -> bool {
        (0..self.view.segments.len()).any(|number| self.is_heavy(number))
    }

    /// Is a window of the segment with this number, or what is built for it, more than a core may give at a time?
    pub fn is_heavy(&self, number: usize) -> bool {
        self.work_of_window(number, STRIDE_MAX).is_none()
    }

    /// How many documents a worker looks at in a step, where a window is too much: fewer where a part of it costs
    /// as much less.
    fn docs_of_step(&self, number: usize) -> u32 {
        if !costs_by_docs(&self.root) {
            return u32::MAX;
        }
        let work = self.work_of_window(number, u64::MAX).unwrap_or(u64::MAX).max(1);
        let window = self.view.segments[number].segment.doc_count().min(WINDOW);
        let docs = u64::from(window) * STEP_OF_WORKER / work;
        (docs as u32).clamp(STEP_DOCS_MIN, WINDOW)
    }

    /// The work of a window; none where it is more than `most`.
    fn work_of_window(&self, number: usize, most: u64) -> Option<u64> {
        let segment = &self.view.segments[number].segment;
        let context = Context { segment, number };
        let mut sum = Sum { context, left: most };
        let keys = self.bound.order.keys.len() as u64;
        let window = u64::from(segment.doc_count().min(WINDOW));
        let fits = sum.add(keys.saturating_mul(KEY * window))
            && sum.all(&self.sort_filters, window)
            && sum.node(&self.root, window)
            && self.aggs.as_ref().is_none_or(|aggs| {
                let whole = aggs.query.iter().chain(&aggs.all);
                sum.all(&aggs.filters, window) && whole.into_iter().all(|it| sum.node(it, window))
            });
        fits.then_some(most - sum.left)
    }
}

impl Slice {
    /// As [`Self::step`], on a thread for which others wait: what would take long is left to a worker
    /// ([`Self::is_heavy`]), and what takes longer than it should ends the step by this `clock`.
    ///
    /// # Errors
    /// As there.
    pub fn step_on_core(
        &mut self,
        work: u32,
        clock: &dyn Fn() -> Duration,
    ) -> segment::Result<Progress> {
        self.on_core = true;
        let progress = self.step_by(work, Some(clock));
        self.on_core = false;
        progress
    }

    /// The next step may take long: it belongs on a thread that nobody waits for, and may be of
    /// [`Self::heavy_work`].
    pub fn is_heavy(&mut self) -> bool {
        let is_heavy =
            self.part >= self.parts.len() && self.aggs.as_ref().is_some_and(|run| run.is_heavy());
        self.is_left || is_heavy || self.is_dear()
    }

    /// Work of a step on a thread that nobody waits for. Of windows that take long it ends after one, so that a
    /// deadline or a client that left is seen.
    pub fn heavy_work(&mut self) -> u32 {
        let is_looking = self.part < self.parts.len();
        if !is_looking && self.is_dear() { WINDOW } else { HEAVY_WORK }
    }

    /// Ends a worker's step after something dear.
    pub(super) fn end_dear(&mut self, segment: u32, turn: &mut Turn<'_>) {
        if !self.on_core && self.is_dear_in(segment) {
            turn.end();
        }
    }

    /// Each window of the segment at hand is more than a core may give at a time.
    pub fn is_dear(&mut self) -> bool {
        let segment = match (self.parts.get(self.part), &self.aggs) {
            (Some(part), _) => Some(part.segment),
            (None, Some(run)) => run.segment(),
            (None, None) => None,
        };
        segment.is_some_and(|segment| self.is_dear_in(segment))
    }

    fn is_dear_in(&mut self, segment: u32) -> bool {
        match self.dear {
            Some((known, is_dear)) if known == segment => is_dear,
            _ => {
                let is_dear = self.plan.is_heavy(segment as usize);
                self.dear = Some((segment, is_dear));
                is_dear
            }
        }
    }

    /// Where the last document of a window lies that begins at `start`: a worker that looks at dear ones does so in
    /// parts, so that callers have turns.
    pub(super) fn end_of_step(&mut self, segment: u32, start: u32, end: u32) -> u32 {
        if self.on_core || !self.is_dear_in(segment) {
            return end;
        }
        end.min(start.saturating_add(self.docs_of_step(segment)))
    }

    /// Documents of a step in a segment whose windows are dear. To find them the whole plan is looked at: on a
    /// worker.
    fn docs_of_step(&mut self, segment: u32) -> u32 {
        match self.step_docs {
            Some((known, docs)) if known == segment => docs,
            _ => {
                let docs = self.plan.docs_of_step(segment as usize);
                self.step_docs = Some((segment, docs));
                docs
            }
        }
    }
}

/// Does a part of a window cost a part of it? What fills windows of bits costs the whole for any part.
fn costs_by_docs(node: &Node) -> bool {
    match node {
        Node::Term { weight, .. } => weight.is_some(),
        Node::Phrase { weight, .. } => weight.is_some(),
        Node::MultiPhrase { weight, .. } => weight.is_some(),
        Node::Bool { must, filter, should, must_not, minimum } => {
            let is_scored = filter.is_empty() && must_not.is_empty() && *minimum <= 1;
            is_scored && must.iter().chain(should).all(costs_by_docs)
        }
        Node::DisMax { clauses, .. } => clauses.iter().all(costs_by_docs),
        _ => false,
    }
}

/// What may still be added; all answer false once that was too much, and look no further.
struct Sum<'a> {
    context: Context<'a>,
    left: u64,
}

impl Sum<'_> {
    fn add(&mut self, work: u64) -> bool {
        let rest = self.left.checked_sub(work);
        self.left = rest.unwrap_or(0);
        rest.is_some()
    }

    fn all(&mut self, nodes: &[Node], docs: u64) -> bool {
        nodes.iter().all(|node| self.node(node, docs))
    }

    /// Of so many documents, how many lie in a window, if they lie evenly.
    fn share(&self, docs: u64) -> u64 {
        let all = u64::from(self.context.segment.doc_count()).max(1);
        docs.saturating_mul(u64::from(WINDOW)).div_ceil(all).min(docs).min(u64::from(WINDOW))
    }

    fn terms<'a>(&mut self, infos: impl IntoIterator<Item = &'a TermInfo>, docs: u64) -> bool {
        infos.into_iter().all(|info| {
            let found = self.share(u64::from(info.doc_freq));
            self.add(READER + found.min(docs.saturating_mul(LOOKUP)))
        })
    }

    /// Terms that stand beside each other: each place is one of several terms. `steps`: of a word, for each of
    /// its occurrences.
    fn beside(&mut self, places: &[&[TermInfo]], steps: u64, docs: u64) -> bool {
        let found = |place: &[TermInfo]| place.iter().map(|it| u64::from(it.doc_freq)).sum::<u64>();
        let lead = places.iter().map(|place| found(place)).min().unwrap_or(0);
        let met = self.share(lead).min(docs);
        let occurrences: u64 = places
            .iter()
            .map(|place| {
                let all: u64 = place.iter().map(|it| it.total_freq).sum();
                all.div_ceil(found(place).max(1))
            })
            .sum();
        let made: u64 = places.iter().map(|place| READER * place.len() as u64).sum();
        let each = LOOKUP * places.len() as u64 + occurrences.saturating_mul(steps);
        self.add(made.saturating_add(met.saturating_mul(each)))
    }

    /// Adds a window of a node of which so many documents at most are asked about.
    fn node(&mut self, node: &Node, docs: u64) -> bool {
        let number = self.context.number;
        match node {
            Node::None | Node::All { .. } => self.add(CLAUSE),
            Node::Term { infos, .. } | Node::Feature { infos, .. } => {
                self.terms(&infos[number], docs)
            }
            Node::Synonym { infos, .. } | Node::FewTerms { infos, .. } => {
                self.terms(&infos[number], docs)
            }
            Node::Combined { infos, .. } => {
                self.terms(infos[number].iter().map(|(_, info)| info), docs)
            }
            Node::Phrase { phrase, infos, .. } => {
                let Some(infos) = &infos[number] else { return self.add(CLAUSE) };
                let places: Vec<&[TermInfo]> = infos.iter().map(std::slice::from_ref).collect();
                self.beside(&places, steps(phrase.slop, infos.len()), docs)
            }
            Node::MultiPhrase { phrase, infos, .. } => {
                let places: Vec<&[TermInfo]> = infos[number].iter().map(Vec::as_slice).collect();
                self.beside(&places, steps(phrase.slop, places.len()), docs)
            }
            Node::Places { infos, .. } => {
                let words = infos[number].iter();
                words.into_iter().all(|word| self.beside(&[word], 4 * POSITION, docs))
            }
            Node::Terms { terms, access, .. } => {
                let each = if access.index { TERM } else { LOOKUP };
                self.add(u64::from(WINDOW).min(docs) + each.saturating_mul(terms.len() as u64))
            }
            Node::Ids { ids, .. } => self.add(TERM.saturating_mul(ids.len() as u64)),
            Node::Pattern { .. } | Node::Box { .. } | Node::Script { .. } => {
                self.add(u64::from(WINDOW).min(docs))
            }
            Node::Numbers { numbers, .. } => {
                self.add(u64::from(WINDOW).min(docs) + TERM * numbers.ranges.len() as u64)
            }
            Node::Near { .. } | Node::Inside { .. } => self.add(docs.saturating_mul(LOOKUP)),
            Node::Exists { ways, .. } => {
                self.add((CLAUSE + docs).saturating_mul(ways.len() as u64))
            }
            Node::Kept { inner, docs: known } => match &known[number] {
                Some(_) => self.add(CLAUSE + u64::from(WINDOW) / 64),
                None => self.node(inner, docs),
            },
            Node::Function { query, filters, .. } => {
                self.node(query, docs)
                    && filters.iter().all(|filter| match filter {
                        Some(filter) => self.node(filter, docs),
                        None => self.add(docs),
                    })
            }
            Node::ScriptScore { query, .. } => self.node(query, docs),
            Node::Nested { children, .. } => self.node(children, u64::from(WINDOW)),
            Node::Covering { clauses, .. } | Node::DisMax { clauses, .. } => {
                self.all(clauses, docs)
            }
            Node::Constant { filter, .. } => self.node(filter, docs),
            Node::Boosting { positive, negative, .. } => {
                self.node(positive, docs) && self.node(negative, docs)
            }
            Node::Bool { must, filter, should, must_not, .. } => {
                let required = must.iter().chain(filter).map(|node| self.most(node)).min();
                let lead = required.unwrap_or(docs).min(docs);
                // What is optional beside something required is asked about each document of that.
                let asked = required.map_or(0, |_| should.len() as u64 * (lead / ASKED));
                [must, filter, should, must_not].into_iter().all(|nodes| self.all(nodes, lead))
                    && self.add(asked)
            }
        }
    }

    /// How many documents of a window a node lets through at most, where that is known at a glance.
    fn most(&self, node: &Node) -> u64 {
        let number = self.context.number;
        match node {
            Node::None => 0,
            Node::Term { infos, .. } => {
                infos[number].map_or(0, |info| self.share(u64::from(info.doc_freq)))
            }
            Node::Phrase { infos, .. } => infos[number].as_ref().map_or(0, |infos| {
                let least = infos.iter().map(|info| u64::from(info.doc_freq)).min();
                self.share(least.unwrap_or(0))
            }),
            Node::Ids { ids, .. } => ids.len() as u64,
            Node::Constant { filter, .. } => self.most(filter),
            _ => u64::from(WINDOW),
        }
    }
}

/// What each occurrence of a word of a phrase costs: with slop a step over one looks at all words.
fn steps(slop: u32, words: usize) -> u64 {
    if slop == 0 { POSITION } else { POSITION * words as u64 }
}
