//! The terms of a pattern in one shard, gathered in steps before a query is weighed.
//!
//! A walk goes through the dictionaries of all segments; a term found in several is one term. Of
//! terms that are worth more or less, only the best are kept (`TopTermsRewrite`: the greater factor
//! first, among equals the lesser term); they are scored in the order of their bytes.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::FieldNo;
use segment::{Missing, TermCursor, TermInfo, View};

use crate::automaton::Next;
use crate::plan::bind::CLAUSES_MAX;
use crate::plan::bound::{self, Bound, Clause, Pattern};
use crate::plan::expand::{Expand, MultiPhrase, Near};
use crate::plan::places::Leaf;

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

/// What one node of a query asks for.
struct Task {
    key: usize,
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
}

/// Gathers the terms of all patterns of a query.
pub struct Gather {
    tasks: Vec<Task>,
    at: usize,
}

/// What was gathered, by the place of the node that asked.
pub type Gathered = BTreeMap<usize, Vec<Found>>;

/// The name of a node among those that ask.
pub fn key_of<T>(node: &Arc<T>) -> usize {
    Arc::as_ptr(node) as usize
}

impl Gather {
    /// What a query asks for.
    pub fn new(bound: &Bound) -> Self {
        let mut tasks = Vec::new();
        visit(&bound.query, &mut tasks);
        for (_, clause) in &bound.named {
            visit(clause, &mut tasks);
        }
        for clause in &bound.sort_filters {
            visit(clause, &mut tasks);
        }
        if let Some(aggs) = &bound.aggs {
            for clause in aggs.filters.iter().chain(&aggs.query).chain(&aggs.all) {
                visit(clause, &mut tasks);
            }
        }
        Self { tasks, at: 0 }
    }

    /// Nothing is asked for.
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// Goes on for about so many terms; true when all is gathered. With blocks missing it waits.
    pub fn step(
        &mut self,
        view: &View,
        missing: &mut Missing,
        work: usize,
    ) -> segment::Result<bool> {
        let mut left = work;
        while let Some(task) = self.tasks.get_mut(self.at) {
            if !task.step(view, missing, &mut left)? {
                return Ok(false);
            }
            self.at += 1;
        }
        Ok(true)
    }

    /// What was gathered.
    pub fn finish(self) -> Gathered {
        self.tasks.into_iter().map(|task| (task.key, task.finish())).collect()
    }
}

impl Task {
    fn of_expand(expand: &Arc<Expand>) -> Self {
        Self {
            key: key_of(expand),
            field: expand.field,
            pattern: Arc::clone(&expand.pattern),
            near: expand.near.clone(),
            // One more than may be, where more is an error.
            most: expand.rewrite.most().map_or(CLAUSES_MAX + 1, |most| most as usize),
            equal: expand.near.is_none(),
            segment: 0,
            cursor: None,
            seek: None,
            taken: 0,
            found: BTreeMap::new(),
        }
    }

    /// Words that the last place of a phrase may be.
    fn of_phrase(phrase: &Arc<MultiPhrase>, most: u32) -> Option<Self> {
        let (words, _) = phrase.places.last()?;
        let prefix = words.first()?.clone();
        Some(Self {
            key: key_of(phrase),
            field: phrase.field,
            pattern: Arc::new(Pattern::Prefix { prefix, case_insensitive: false }),
            near: None,
            most: most as usize,
            equal: true,
            segment: 0,
            cursor: None,
            seek: None,
            taken: 0,
            found: BTreeMap::new(),
        })
    }

    /// True when all segments are walked.
    fn step(
        &mut self,
        view: &View,
        missing: &mut Missing,
        left: &mut usize,
    ) -> segment::Result<bool> {
        while let Some(at) = view.segments.get(self.segment) {
            let segment = &at.segment;
            if self.cursor.is_none() {
                let Some(terms) = segment.terms(self.field) else {
                    self.segment += 1;
                    continue;
                };
                self.cursor = Some(terms.cursor());
                self.seek = Some(self.pattern.start().to_vec());
                self.taken = 0;
            }
            let Some(cursor) = &mut self.cursor else { continue };
            if *left == 0 {
                return Ok(false);
            }
            *left -= 1;
            if !segment.file().is_resident() {
                match &self.seek {
                    Some(target) => cursor.need(target, missing)?,
                    None => cursor.need_next(missing)?,
                }
                if !missing.is_empty() {
                    return Ok(false);
                }
            }
            let more = match self.seek.take() {
                Some(target) => cursor.seek_ceil(&target)?,
                None => cursor.next()?,
            };
            let enough = self.equal && self.taken >= self.most;
            if !more || enough {
                self.cursor = None;
                self.segment += 1;
                continue;
            }
            match self.pattern.look(cursor.term()) {
                Next::Match => {
                    let info = cursor.info()?;
                    let term = cursor.term().into();
                    self.taken += 1;
                    self.add(term, info, view.segments.len());
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

    fn add(&mut self, term: Box<[u8]>, info: TermInfo, segments: usize) {
        let near = self.near.as_ref();
        let slot = self.found.entry(term).or_insert_with_key(|term| {
            let boost = near.map_or(1.0, |near| near.boost(&String::from_utf8_lossy(term)));
            (boost, vec![None; segments])
        });
        slot.1[self.segment] = Some(info);
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
                if let Leaf::Pattern(expand) = leaf {
                    tasks.push(Task::of_expand(expand));
                }
            }
        }
        node => node.for_each_clause(&mut |clause| visit(clause, tasks)),
    }
}
