//! The terms of a pattern in one shard, gathered in steps before a query is weighed.
//!
//! A walk goes through the dictionaries of all segments; a term found in several is one term. Of
//! terms that are worth more or less, only the best are kept (`TopTermsRewrite`: the greater factor
//! first, among equals the lesser term); they are scored in the order of their bytes.
//!
//! Once as many are kept as are wanted, terms of more edits may be of no use any more: then the walk
//! goes on with the automaton of fewer (as Lucene's `FuzzyTermsEnum` does).
//!
//! All terms that the patterns of one query yield count as its clauses, together: a few words may ask for
//! millions.
//!
//! To a caller who sees some documents alone, terms that none of those holds are no terms: the documents
//! are gathered first (`seen`), and each term that matches is judged by its postings. Patterns of the rule
//! that says which documents those are go through all terms.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use base::FieldNo;
use segment::bytes::bitmap;
use segment::{BlockCache, Missing, TermCursor, TermInfo, Terms, View};

use crate::error::Error;
use crate::plan::bind::{self, CLAUSES_MAX, REQUEST_CLAUSES_MAX};
use crate::plan::bound::{self, Bound, Clause, Pattern};
use crate::plan::expand::{Expand, MultiPhrase, Near};
use crate::plan::places::Leaf;
use crate::plan::seen::{Judging, Looking, Seen};
use automaton::{Dfa, Look, Next, Walk};

/// A term found, with what is known of it in each segment.
#[derive(Clone, Debug)]
pub struct Found {
    /// The term.
    pub term: Box<[u8]>,
    /// Its factor.
    pub boost: f32,
    /// Its postings, by segment.
    pub infos: Vec<Option<TermInfo>>,
}

/// A factor, and postings by segment.
type Known = (f32, Vec<Option<TermInfo>>);

/// So many terms in a row fail before one is looked for by what may come next: a look-up costs as
/// much as some steps.
const FAILED_MAX: u32 = 2;

/// What one node of a query asks for.
struct Task {
    key: usize,
    /// The query that it is of.
    query: usize,
    /// Terms above [`CLAUSES_MAX`] are told by who weighs them.
    is_checked: bool,
    field: FieldNo,
    pattern: Arc<Pattern>,
    near: Option<Near>,
    /// Terms kept.
    most: usize,
    /// Terms are worth the same: the first of each segment are enough.
    equal: bool,
    segment: usize,
    cursor: Option<TermCursor>,
    seek: Option<Vec<u8>>,
    taken: usize,
    found: BTreeMap<Box<[u8]>, Known>,
    /// Where the walk of an automaton stands; failures since the last leap, and how many bytes of the
    /// last one no term to come may begin with.
    walk: Walk,
    failed: u32,
    apart: Option<usize>,
    /// Room for what is looked for.
    target: Vec<u8>,
    /// The automaton of fewer edits that is walked now.
    fewer: Option<(u32, Dfa)>,
    /// The worst term kept, where no more are wanted.
    worst: Option<(f32, Box<[u8]>)>,
    /// The term at hand, while it is not known whether it counts.
    judging: Option<Judging>,
}

/// Gathers the terms of all patterns of a query.
pub struct Gather {
    /// Of which all terms count.
    free: VecDeque<Task>,
    /// Of which only terms of documents that may be seen do; those documents.
    judged: VecDeque<Task>,
    looking: Option<Looking>,
    seen: Option<Seen>,
    done: Gathered,
    clauses: Clauses,
}

/// Terms found, by query.
struct Clauses {
    counts: Vec<usize>,
    /// Of all queries.
    all: usize,
    /// One of the queries has more than may be; its terms are not gathered to the end.
    are_too_many: bool,
}

impl Clauses {
    /// What a task has found by now; true where its query has too many clauses with it.
    fn exceed(&mut self, task: &Task) -> bool {
        let most = if task.is_checked { CLAUSES_MAX } else { usize::MAX };
        let found = task.found.len().min(most);
        self.are_too_many |= self.counts[task.query] + found > CLAUSES_MAX;
        self.are_too_many |= self.all + found > REQUEST_CLAUSES_MAX;
        self.are_too_many
    }
}

/// What was gathered, by the place of the node that asked.
pub type Gathered = BTreeMap<usize, Vec<Found>>;

/// The name of a node among those that ask.
pub fn key_of<T>(node: &Arc<T>) -> usize {
    Arc::as_ptr(node) as usize
}

impl Gather {
    /// What a query asks for. In `outer` lives who lives: where the view at hand shows the inside of
    /// documents, that is the one that shows these.
    pub fn new(bound: &Arc<Bound>, outer: &Arc<View>) -> Self {
        let (mut tasks, mut queries): (Vec<Task>, usize) = (Vec::new(), 0);
        for_each_asked(bound, &mut |clause| {
            let first = tasks.len();
            visit(clause, &mut tasks);
            tasks[first..].iter_mut().for_each(|task| task.query = queries);
            queries += 1;
        });
        let mut gather = Self {
            free: VecDeque::new(),
            judged: VecDeque::new(),
            looking: None,
            seen: None,
            done: Gathered::new(),
            clauses: Clauses { counts: vec![0; queries + 1], all: 0, are_too_many: false },
        };
        let Some(rule) = &bound.seen else {
            gather.free.extend(tasks);
            return gather;
        };
        let mut own = Vec::new();
        visit(rule, &mut own);
        own.iter_mut().for_each(|task| task.query = queries);
        let (free, judged): (Vec<Task>, Vec<Task>) =
            tasks.into_iter().partition(|task| own.iter().any(|own| own.key == task.key));
        if judged.is_empty() {
            gather.free.extend(free);
        } else {
            gather.free.extend(own);
            gather.judged.extend(judged);
            gather.looking = Some(Looking::new(bound, outer));
        }
        gather
    }

    /// Nothing is asked for.
    pub fn is_empty(&self) -> bool {
        self.free.is_empty() && self.judged.is_empty()
    }

    /// Room that it takes to know which documents may be seen, where that matters.
    pub fn len_bytes(&self) -> usize {
        self.looking.as_ref().map_or(0, Looking::len_bytes)
    }

    /// Goes on for about so many terms; true when all is gathered. With blocks missing it waits.
    ///
    /// # Errors
    /// Where a segment is damaged.
    pub fn step(
        &mut self,
        view: &View,
        cache: &mut BlockCache,
        missing: &mut Missing,
        work: usize,
    ) -> segment::Result<bool> {
        let mut left = work;
        let found = (&mut self.done, &mut self.clauses);
        if !walk(&mut self.free, found, view, None, missing, &mut left)? {
            return Ok(false);
        }
        if self.clauses.are_too_many {
            return Ok(true);
        }
        if let Some(looking) = &mut self.looking {
            if !looking.step(&self.done, cache, missing, &mut left)? {
                return Ok(false);
            }
            self.seen = self.looking.take().map(Looking::finish);
        }
        let seen = self.seen.as_ref();
        let found = (&mut self.done, &mut self.clauses);
        walk(&mut self.judged, found, view, seen, missing, &mut left)
    }

    /// Tells that patterns of a query yield more terms than it may have clauses. Once that is so, the walk is at
    /// its end.
    pub fn trouble(&self) -> Option<Error> {
        let one = || self.clauses.all <= REQUEST_CLAUSES_MAX - CLAUSES_MAX;
        let told = || if one() { bind::too_many_nested() } else { bind::too_many_in_request() };
        self.clauses.are_too_many.then(told)
    }

    /// What was gathered.
    pub fn finish(self) -> Gathered {
        self.done
    }
}

/// Goes through tasks, one after the other; true when all are done.
fn walk(
    tasks: &mut VecDeque<Task>,
    (done, clauses): (&mut Gathered, &mut Clauses),
    view: &View,
    seen: Option<&Seen>,
    missing: &mut Missing,
    left: &mut usize,
) -> segment::Result<bool> {
    while let Some(task) = tasks.front_mut() {
        let is_new = !done.contains_key(&task.key);
        let is_done = !is_new || task.step(view, seen, missing, left)?;
        if is_new && clauses.exceed(task) {
            return Ok(true);
        }
        if !is_done {
            return Ok(false);
        }
        if let Some(task) = tasks.pop_front() {
            if is_new {
                clauses.counts[task.query] += task.found.len();
                clauses.all += task.found.len();
            }
            done.entry(task.key).or_insert_with(|| task.finish());
        }
    }
    Ok(true)
}

/// Are terms gathered for this query?
pub(super) fn asks(clause: &Clause) -> bool {
    let mut tasks = Vec::new();
    visit(clause, &mut tasks);
    !tasks.is_empty()
}

/// Calls `each` for all that a shard is asked.
fn for_each_asked(bound: &Bound, each: &mut dyn FnMut(&Clause)) {
    each(&bound.query);
    bound.named.iter().for_each(|(_, clause)| each(clause));
    bound.sort_filters.iter().chain(&bound.guard).for_each(&mut *each);
    if let Some(aggs) = &bound.aggs {
        aggs.filters.iter().chain(&aggs.query).chain(&aggs.all).for_each(each);
    }
}

impl Task {
    fn new(key: usize, field: FieldNo, pattern: Arc<Pattern>, most: usize) -> Self {
        Self {
            key,
            query: 0,
            is_checked: false,
            field,
            pattern,
            near: None,
            most,
            equal: true,
            segment: 0,
            cursor: None,
            seek: None,
            taken: 0,
            found: BTreeMap::new(),
            walk: Walk::default(),
            failed: 0,
            apart: None,
            target: Vec::new(),
            fewer: None,
            worst: None,
            judging: None,
        }
    }

    fn of_expand(expand: &Arc<Expand>) -> Self {
        // One more than may be, where more is an error.
        let most = expand.rewrite.most().map_or(CLAUSES_MAX + 1, |most| most as usize);
        let pattern = Arc::clone(&expand.pattern);
        let near = expand.near.clone();
        let equal = near.is_none();
        Self {
            near,
            equal,
            is_checked: true,
            ..Self::new(key_of(expand), expand.field, pattern, most)
        }
    }

    /// Words that the last place of a phrase may be.
    fn of_phrase(phrase: &Arc<MultiPhrase>, most: u32) -> Option<Self> {
        let (words, _) = phrase.places.last()?;
        let prefix = words.first()?.clone();
        let pattern = Arc::new(Pattern::Prefix { prefix, case_insensitive: false });
        Some(Self::new(key_of(phrase), phrase.field, pattern, most as usize))
    }

    /// True when all segments are walked.
    fn step(
        &mut self,
        view: &View,
        seen: Option<&Seen>,
        missing: &mut Missing,
        left: &mut usize,
    ) -> segment::Result<bool> {
        while let Some(at) = view.segments.get(self.segment) {
            let segment = &at.segment;
            if let (Some(seen), Some(judging)) = (seen, &mut self.judging) {
                let is_held = judging.step(seen.of(self.segment), segment, missing, left)?;
                let Some(is_held) = is_held else { return Ok(false) };
                let info = judging.info;
                self.judging = None;
                self.judged(info, is_held, view);
                continue;
            }
            if self.cursor.is_none() {
                let Some(terms) = segment.terms(self.field) else {
                    self.segment += 1;
                    continue;
                };
                self.open(&terms);
            }
            let Some(cursor) = &mut self.cursor else { continue };
            if *left == 0 {
                return Ok(false);
            }
            *left -= 1;
            if !segment.file().is_resident() {
                // Passing over terms may leave the block that is there.
                self.apart = None;
                match &self.seek {
                    Some(target) => cursor.need(target, missing)?,
                    None => cursor.need_next(missing)?,
                }
                if !missing.is_empty() {
                    return Ok(false);
                }
            }
            let more = match (self.seek.take(), self.apart.take()) {
                (Some(target), _) => {
                    let more = cursor.seek_ceil(&target)?;
                    self.target = target;
                    more
                }
                (None, Some(len)) => cursor.next_apart(len)?,
                (None, None) => cursor.next()?,
            };
            let enough = self.equal && self.taken >= self.most;
            if !more || enough {
                self.cursor = None;
                self.segment += 1;
                continue;
            }
            let next = match &*self.pattern {
                Pattern::Automaton { dfa, .. } => {
                    let dfa = self.fewer.as_ref().map_or(dfa, |(_, dfa)| dfa);
                    match self.walk.look(dfa, cursor.term(), cursor.shared()) {
                        Look::Fail(at) => {
                            self.failed += 1;
                            if self.failed < FAILED_MAX {
                                self.apart = Some(after_char(cursor.term(), at));
                                Next::Step
                            } else {
                                self.failed = 0;
                                let mut target = std::mem::take(&mut self.target);
                                match self.walk.leap(dfa, cursor.term(), &mut target) {
                                    true => Next::Seek(target),
                                    false => Next::End,
                                }
                            }
                        }
                        look => {
                            self.failed = 0;
                            if look == Look::Match { Next::Match } else { Next::Step }
                        }
                    }
                }
                pattern => pattern.look(cursor.term()),
            };
            match next {
                Next::Match => {
                    let info = cursor.info()?;
                    let seen = seen.filter(|_| !self.found.contains_key(cursor.term()));
                    match (seen, info.only()) {
                        (None, _) => self.judged(info, true, view),
                        // Many terms are one document's.
                        (Some(seen), Some(doc)) => {
                            let is_held = bitmap::has(seen.of(self.segment), doc.get());
                            self.judged(info, is_held, view);
                        }
                        (Some(_), None) => {
                            let terms = segment.terms(self.field);
                            self.judging = terms.map(|terms| Judging::new(&terms, info));
                        }
                    }
                }
                Next::Step => {}
                Next::Seek(target) => self.seek = Some(target),
                Next::End => {
                    self.cursor = None;
                    self.segment += 1;
                }
            }
        }
        Ok(true)
    }

    /// Takes the term at hand, where it counts.
    fn judged(&mut self, info: TermInfo, counts: bool, view: &View) {
        if let Some(cursor) = self.cursor.as_ref().filter(|_| counts) {
            let term: Box<[u8]> = cursor.term().into();
            self.taken += 1;
            self.add(term, info, view.segments.len());
        }
    }

    /// Begins with a segment.
    fn open(&mut self, terms: &Terms) {
        self.cursor = Some(terms.cursor());
        self.seek = Some(self.pattern.start().to_vec());
        self.taken = 0;
        self.walk = Walk::default();
        self.narrow(None);
    }

    fn add(&mut self, term: Box<[u8]>, info: TermInfo, segments: usize) {
        let Some(near) = &self.near else {
            let slot = self.found.entry(term).or_insert_with(|| (1.0, vec![None; segments]));
            slot.1[self.segment] = Some(info);
            return;
        };
        if let Some(slot) = self.found.get_mut(&term) {
            slot.1[self.segment] = Some(info);
            return;
        }
        let boost = near.boost(&String::from_utf8_lossy(&term));
        if let Some((worst, last)) = &self.worst {
            if boost < *worst || boost == *worst && term > *last {
                return self.narrow(Some(&term));
            }
            self.found.remove(last);
        }
        let mut infos = vec![None; segments];
        infos[self.segment] = Some(info);
        self.found.insert(term.clone(), (boost, infos));
        if self.found.len() >= self.most {
            // The least factor, and of those the greatest term.
            let worst = self.found.iter().rev().min_by(|a, b| a.1.0.total_cmp(&b.1.0));
            self.worst = worst.map(|(term, (boost, _))| (*boost, term.clone()));
            self.narrow(Some(&term));
        }
    }

    /// Leaves terms of so many edits out that all to come are worse than those kept; `at` is where
    /// in the segment at hand the walk stands, absent at its beginning.
    fn narrow(&mut self, at: Option<&[u8]>) {
        let Some(near) = &self.near else { return };
        let mut edits = near.edits;
        if let Some((worst, last)) = &self.worst {
            // Of equal factors the lesser term is the better: those to come are above this one.
            let is_past = at.is_some_and(|at| *at >= **last);
            let useless = |edits| {
                let most = near.boost_max(edits);
                most < *worst || most == *worst && is_past
            };
            while edits > 0 && useless(edits) {
                edits -= 1;
            }
        }
        if edits == self.fewer.as_ref().map_or(near.edits, |(edits, _)| *edits) {
            return;
        }
        // One of fewer edits is simpler than the one that was made before.
        let fewer = (edits < near.edits).then(|| near.automaton(edits).ok()).flatten();
        self.fewer = fewer.map(|dfa| (edits, dfa));
        self.walk = Walk::default();
    }

    fn finish(self) -> Vec<Found> {
        let most = self.most;
        let found = self.found.into_iter();
        let mut found: Vec<Found> =
            found.map(|(term, (boost, infos))| Found { term, boost, infos }).collect();
        if found.len() > most {
            found.sort_by(|a, b| b.boost.total_cmp(&a.boost).then_with(|| a.term.cmp(&b.term)));
            found.truncate(most);
            found.sort_by(|a, b| a.term.cmp(&b.term));
        }
        found
    }
}

/// Where the character at byte `at` of a term ends.
#[inline]
fn after_char(term: &[u8], at: usize) -> usize {
    let len = term[at..].iter().skip(1).take_while(|byte| **byte & 0xC0 == 0x80).count();
    at + 1 + len
}

/// Finds the nodes that ask.
fn visit(clause: &Clause, tasks: &mut Vec<Task>) {
    match &clause.node {
        bound::Node::Expand(expand) => tasks.push(Task::of_expand(expand)),
        bound::Node::MultiPhrase(phrase) => {
            if let Some(most) = phrase.prefix {
                tasks.extend(Task::of_phrase(phrase, most));
            }
        }
        bound::Node::Places(places) => {
            for leaf in &places.leaves {
                if let Leaf::Pattern(expand, _) = leaf {
                    tasks.push(Task::of_expand(expand));
                }
            }
        }
        node => node.for_each_clause(&mut |clause| visit(clause, tasks)),
    }
}
