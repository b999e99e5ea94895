//! Running the aggregations of one slice, in bounded steps, beside the search for hits.
//!
//! Two passes: over what the query finds (before `post_filter`), and, where some aggregation is
//! over all documents, over all. Each segment has collectors of its own; what they found is merged
//! when the segment ends.

use std::collections::VecDeque;
use std::sync::Arc;

use env::budget::Lease;
use env::heap::left_by;
use env::leftovers;

use super::bound::BoundAgg;
use super::build::{self, Place};
use super::collect::{Account, Around, Batch, Group, Multitudes, Scores};
use super::empty;
use super::joining::Joining;
use super::partial::{Partial, Partials};
use super::reduce;
use super::scripted::{Board, Scripts};
use crate::error::{Error, Kind};
use crate::iter::build::{self as iterators, Context};
use crate::iter::{AnyFilter, AnyScorer, END, Hits, Turn, WINDOW, Window, bits, window_of};
use crate::phase::{Part, Parts, keep_alive, keep_in_part};
use crate::plan::weigh::{Node, Plan};
use crate::result::Memory;

/// Documents of one batch, by how many aggregations there are.
const BATCH: usize = 4096;

/// Least documents of one batch.
const BATCH_MIN: usize = 256;

/// Work that a document makes, for itself and for each aggregation, in the unit of [`Turn::spend`]: terms
/// with percentiles and a cardinality below take some 50 ns, where a unit is 6.
const DOC_WORK: usize = 2;
const NODE_WORK: usize = 2;

/// Documents of the first batch of a segment, whose number of buckets nobody knows yet; the next is so many times the
/// last, at most.
const BATCH_FIRST: usize = 64;
const BATCH_GROWTH: usize = 4;

/// Least documents of one batch where they take longer than they should.
const BATCH_DEAR: usize = 16;

/// Most documents of one batch of which scripts make texts, however long: they are there until it is collected.
const BATCH_SCRIPTED: usize = 256;

/// Pairs of a document and a bucket that one call may meet on a core that others need, too: about a
/// millisecond. A call that meets more is given up, and the slice begins anew where it may take its time.
const PAIRS_HERE: u64 = 1 << 16;

/// Pairs that one call may meet at all: some seconds of a thread, in which nothing stops it.
const PAIRS_MAX: u64 = 1 << 27;

/// So many buckets, or documents that wait for the end of a segment, are put in order elsewhere.
const SIZE_HERE: usize = 1 << 13;

/// So many bytes, or buckets of one segment, are given back in a moment: some 100 µs.
const LEFT_BYTES: usize = 64 << 10;
const LEFT_SIZE: usize = 1 << 10;

/// Reads documents.
enum Reader {
    Filter(AnyFilter),
    Scorer(AnyScorer, Option<Window>),
    /// Nothing matches.
    Nothing,
}

/// The segment at hand.
struct Here {
    reader: Reader,
    pos: u32,
    group: Group,
    multitudes: Multitudes,
    /// Documents found and not yet collected, from `at` on.
    docs: Vec<u32>,
    at: usize,
    /// They are prepared.
    ready: bool,
    /// Scripts that make values, and what they made of the next batch.
    scripts: Scripts,
    board: Option<Arc<Board>>,
    /// No document is looked at: collectors know what all of them would make.
    whole: bool,
    /// No more documents.
    ended: bool,
    /// What the segment had, as far as it is not joined with what others had.
    found: Option<Found>,
    /// The buckets that are being joined, and their place.
    joining: Option<(usize, Joining)>,
}

/// What was found, with its place in [`Run::found`].
type Found = VecDeque<(usize, Partial)>;

/// The aggregations of one slice.
pub struct Run {
    plan: Arc<Plan>,
    parts: Parts,
    /// Over all documents.
    global: bool,
    part: usize,
    here: Option<Here>,
    scores: Scores,
    hits: Hits,
    account: Account,
    found: Vec<Option<Partial>>,
    batch: usize,
    /// What scripts made of one batch, the most so far: it is paid.
    scripted_bytes: usize,
    /// How many aggregations there are, and pairs of a document and a bucket that a document of the last
    /// batch made.
    nodes: usize,
    pairs: Option<usize>,
    /// Work that a document of the last batch was, as far as that is known: what begins empty grows with the first
    /// documents of each segment, which takes many times as long.
    doc_work: usize,
    /// Documents of the next batch, at most: few where collectors are still empty.
    first: usize,
    count: u64,
    terminated: bool,
    /// It is too much at a time for a core that others need, too: all of it, or the end of this segment.
    heavy: bool,
    heavy_end: bool,
    done: bool,
}

impl Run {
    /// The aggregations of `plan` over `parts`.
    pub fn new(plan: Arc<Plan>, parts: Parts, lease: Option<Lease>) -> Self {
        let aggs = plan.bound.aggs.as_ref().map_or(&[][..], |aggs| &aggs.aggs);
        let nodes = count(aggs);
        let found = vec![None; aggs.len()];
        let batch = (BATCH * 4 / (3 + nodes)).clamp(BATCH_MIN, BATCH);
        Self {
            plan,
            parts,
            global: false,
            part: 0,
            here: None,
            scores: Scores::default(),
            hits: Hits::default(),
            account: Account::new(lease),
            found,
            batch,
            scripted_bytes: 0,
            nodes,
            pairs: None,
            doc_work: 0,
            first: BATCH_FIRST,
            count: 0,
            terminated: false,
            heavy: false,
            heavy_end: false,
            done: false,
        }
    }

    /// The memory that may be taken.
    pub fn set_lease(&mut self, lease: Lease) {
        self.account = Account::new(Some(lease));
    }

    /// Documents that the query found.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// `terminate_after` stopped it.
    pub fn terminated(&self) -> bool {
        self.terminated
    }

    /// All was seen, or cannot be answered.
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// It is too much at a time for a core that others need, too: its steps belong on a worker.
    pub fn is_heavy(&self) -> bool {
        (self.heavy || self.heavy_end) && !self.done
    }

    /// Forgets all that was found, and begins anew as something heavy.
    fn restart(&mut self) {
        let wanted = self.found.len();
        self.let_go();
        (self.global, self.part) = (false, 0);
        self.account = self.account.renewed();
        self.found = vec![None; wanted];
        (self.count, self.terminated, self.heavy) = (0, false, true);
        self.scripted_bytes = 0;
    }

    /// The segment that the next step reads.
    pub fn segment(&self) -> Option<u32> {
        self.parts.get(self.part).map(|part| part.segment)
    }

    /// Goes on until the turn is over or blocks are missing.
    ///
    /// # Errors
    /// Where the segment is damaged.
    pub fn step(&mut self, turn: &mut Turn<'_>) -> segment::Result<()> {
        while !self.done && !turn.is_over() && turn.is_ready() {
            if self.account.fault().is_some() {
                self.done = true;
                break;
            }
            let Some(part) = self.parts.get(self.part).cloned() else {
                self.next_pass();
                continue;
            };
            let is_heavy = self.is_heavy();
            self.account.begin(if is_heavy { PAIRS_MAX } else { PAIRS_HERE });
            self.advance(&part, turn)?;
            match (self.account.is_exhausted(), is_heavy) {
                (false, _) => {}
                (true, true) => self.account.fail(too_many_pairs()),
                (true, false) => {
                    self.restart();
                    turn.end();
                }
            }
        }
        Ok(())
    }

    /// What was found, one for each aggregation of the request, and the memory that it takes; or that
    /// it was too much memory, or had a value that an aggregation cannot take.
    pub fn finish(mut self) -> (Result<Partials, Error>, Memory) {
        if let Some(fault) = self.account.fault() {
            return (Err(fault.clone()), Memory::default());
        }
        let found = std::mem::take(&mut self.found);
        let aggs = self.plan.bound.aggs.as_ref().map_or(&[][..], |aggs| &aggs.aggs);
        let found = found.into_iter().zip(aggs);
        // What stands where nothing was found may be much, too: ranges in ranges.
        let (found, bytes) = left_by(|| {
            found.map(|(found, agg)| found.unwrap_or_else(|| empty::of(agg))).collect::<Vec<_>>()
        });
        self.account.grow(bytes);
        if let Some(fault) = self.account.fault() {
            drop(Partial::leaving(found));
            return (Err(fault.clone()), Memory::default());
        }
        (Ok(Partial::leaving(found)), self.account.take_memory())
    }

    /// Lets all go that is held, with the memory that it takes: what is much not here, where others wait.
    fn let_go(&mut self) {
        let is_much = self.account.used_bytes() > LEFT_BYTES;
        let held = (self.here.take(), std::mem::take(&mut self.found), self.account.take_memory());
        if is_much {
            leftovers::leave(held);
        }
    }

    fn next_pass(&mut self) {
        let more = !self.global
            && self.plan.bound.aggs.as_ref().is_some_and(|aggs| !aggs.globals.is_empty());
        if more {
            self.global = true;
            self.part = 0;
        } else {
            self.done = true;
        }
    }

    /// The aggregations of the pass at hand, by their places.
    fn places(&self) -> Vec<usize> {
        let Some(aggs) = &self.plan.bound.aggs else { return Vec::new() };
        let places = 0..aggs.aggs.len();
        places.filter(|place| aggs.globals.contains(place) == self.global).collect()
    }

    fn begin(&mut self, part: &Part) -> Here {
        let plan = &self.plan;
        let number = part.segment as usize;
        let segments = &plan.view.segments;
        let others = segments.iter().filter(|one| one.segment.doc_count() > 0).count() > 1;
        let alone = !others && part.docs == (0..segments[number].segment.doc_count());
        let place = Place { plan: Arc::clone(plan), number, alone };
        let aggs = plan.bound.aggs.as_ref().map_or(&[][..], |aggs| &aggs.aggs);
        let chosen: Vec<BoundAgg> =
            self.places().into_iter().map(|place| aggs[place].clone()).collect();
        let group = build::group(&chosen, &place);
        let segment = &plan.view.segments[number].segment;
        let context = Context { segment, number };
        let nodes = plan.aggs.as_ref();
        let root: Option<&Node> = match self.global {
            true => nodes.and_then(|nodes| nodes.all.as_ref()),
            false => Some(nodes.and_then(|nodes| nodes.query.as_ref()).unwrap_or(&plan.root)),
        };
        let scored = !self.global && self.scored();
        let reader = match root {
            // A count of matches is wanted even where nothing is collected.
            None => Reader::Nothing,
            Some(node) if scored => match iterators::scorer(node, context) {
                Some(scorer) => Reader::Scorer(scorer, None),
                None => Reader::Nothing,
            },
            Some(node) => Reader::Filter(iterators::any_filter(node, context)),
        };
        let multitudes = Multitudes::of(segment);
        let whole = matches!(root, Some(Node::All { .. }))
            && !scored
            && plan.bound.terminate_after == 0
            && plan.view.segments[number].live_count() == segment.doc_count()
            && segment.parents().is_none()
            && multitudes.is_plain()
            && group.knows_all();
        let scripts = plan.bound.aggs.as_ref().map_or(&[][..], |aggs| &aggs.scripts);
        let scripts = Scripts::new(scripts, plan, number);
        Here {
            reader,
            pos: part.docs.start,
            group,
            multitudes,
            docs: Vec::new(),
            at: 0,
            ready: false,
            scripts,
            board: None,
            whole,
            ended: self.terminated && !self.global,
            found: None,
            joining: None,
        }
    }

    fn scored(&self) -> bool {
        let aggs = self.plan.bound.aggs.as_ref();
        aggs.is_some_and(|aggs| aggs.scores) || self.plan.bound.min_score.is_some()
    }

    fn advance(&mut self, part: &Part, turn: &mut Turn<'_>) -> segment::Result<()> {
        let mut here = match self.here.take() {
            Some(here) => here,
            None => {
                turn.spend(256);
                self.first = BATCH_FIRST;
                self.begin(part)
            }
        };
        let is_over = self.go_on(&mut here, part, turn);
        if !matches!(is_over, Ok(true)) {
            self.here = Some(here);
        } else {
            self.part += 1;
            if here.group.size(1) > LEFT_SIZE {
                leftovers::leave(here);
            }
        }
        is_over.map(drop)
    }

    /// Collects, reads on, or ends the segment: true.
    fn go_on(
        &mut self,
        here: &mut Here,
        part: &Part,
        turn: &mut Turn<'_>,
    ) -> segment::Result<bool> {
        if here.at < here.docs.len() {
            self.collect(here, turn);
            return Ok(false);
        }
        if here.whole && !here.ended {
            // Of a segment that is cut into parts the first tells all.
            if part.docs.start > 0 || here.group.take_all(turn, &mut self.account)? {
                here.ended = true;
                if !self.global {
                    self.count += part.docs.len() as u64;
                }
            }
            return Ok(false);
        }
        if !here.ended {
            self.read(here, part, turn);
            return Ok(false);
        }
        let Some(found) = here.found.take() else {
            if !self.is_heavy() && here.group.size(1) > SIZE_HERE {
                self.heavy_end = true;
                turn.end();
                return Ok(false);
            }
            if here.group.leave(turn, &mut self.account)? {
                let found = here.group.finish(1, &mut self.account)?.pop().unwrap_or_default();
                here.found = Some(self.places().into_iter().zip(found).collect());
                self.heavy_end = false;
                // Nobody knows how long that took: others have their turn.
                turn.end();
            }
            return Ok(false);
        };
        Ok(self.join(here, found, turn))
    }

    /// Joins what the segment had with what others had until the turn is over; true when all is.
    fn join(&mut self, here: &mut Here, mut found: Found, turn: &mut Turn<'_>) -> bool {
        let result = self.join_some(&mut found, &mut here.joining, turn);
        let is_done = result.unwrap_or_else(|error| {
            self.account.fail(error);
            true
        });
        here.found = (!is_done).then_some(found);
        is_done
    }

    fn join_some(
        &mut self,
        found: &mut Found,
        joining: &mut Option<(usize, Joining)>,
        turn: &mut Turn<'_>,
    ) -> Result<bool, Error> {
        let aggs = self.plan.bound.aggs.as_ref().map_or(&[][..], |aggs| &aggs.aggs);
        while !turn.is_over() {
            if let Some((place, buckets)) = joining {
                if buckets.step(Some(&aggs[*place].spec))? {
                    turn.spend(buckets.settle());
                } else if let Some((place, buckets)) = joining.take() {
                    self.found[place] = Some(Partial::Buckets(Box::new(buckets.finish())));
                }
                continue;
            }
            let Some((place, partial)) = found.pop_front() else { return Ok(true) };
            let spec = Some(&*aggs[place].spec);
            match (self.found[place].take(), partial) {
                (None, Partial::Buckets(from)) => {
                    *joining = Some((place, Joining::new(spec, None, *from)?));
                }
                (Some(Partial::Buckets(into)), Partial::Buckets(from)) => {
                    *joining = Some((place, Joining::new(spec, Some(*into), *from)?));
                }
                (None, partial) => self.found[place] = Some(partial),
                (Some(mut known), partial) => {
                    reduce::merge(spec, &mut known, partial)?;
                    self.found[place] = Some(known);
                    // Nobody knows how long that took.
                    turn.end();
                }
            }
        }
        Ok(false)
    }

    /// How many documents the turn has time for.
    fn batch_of(&self, turn: &Turn<'_>) -> usize {
        let pairs = self.pairs.unwrap_or(self.nodes).max(1);
        // In how many buckets a document is, and how long collectors take that are still empty, is known of the
        // first.
        let most = self.batch.min(self.first);
        let planned = DOC_WORK + NODE_WORK * pairs;
        let fits = turn.left() / planned.max(self.doc_work);
        let least = match () {
            () if pairs > self.nodes => 1,
            () if self.doc_work > 2 * planned => BATCH_DEAR,
            () => BATCH_MIN,
        };
        let safe = (PAIRS_HERE as usize / 4 / pairs).max(1);
        most.min(fits.max(least)).min(safe)
    }

    /// Gives the next documents to the collectors.
    fn collect(&mut self, here: &mut Here, turn: &mut Turn<'_>) {
        // A batch that scripts have begun is what it was; others are no more than the turn has time for.
        let batch = match here.scripts.is_empty() {
            true => self.batch_of(turn),
            false => self.batch.min(BATCH_SCRIPTED),
        };
        let end = (here.at + batch).min(here.docs.len());
        if !here.scripts.is_empty() && here.board.is_none() {
            let docs = &here.docs[here.at..end];
            let board = here.scripts.run(docs, &self.scores, turn);
            // What the documents of the next batch are made into takes as much.
            let made = self.scripted_bytes.max(here.scripts.held_bytes());
            self.account.grow(made - self.scripted_bytes);
            self.scripted_bytes = made;
            match board {
                Some(board) => here.board = Some(Arc::new(board)),
                None => return,
            }
        }
        let docs = &here.docs[here.at..];
        let (Some(first), Some(last)) = (docs.first(), docs.last()) else { return };
        if !here.ready {
            let docs = *first..last + 1;
            let counted = here.multitudes.prepare(&docs, turn);
            turn.board.clone_from(&here.board);
            let prepared = here.group.prepare(&docs, turn);
            turn.board = None;
            if !prepared || !counted {
                return;
            }
            here.ready = true;
        }
        let docs = &here.docs[here.at..end];
        let begun = turn.now();
        let mut around = Around {
            multitudes: &here.multitudes,
            scores: &self.scores,
            account: &mut self.account,
        };
        here.group.collect(Batch { docs, owners: &[] }, &mut around);
        let pairs = (self.account.pairs() as usize).max(docs.len() * self.nodes);
        let work = turn.spend_since(begun, docs.len() * DOC_WORK + pairs * NODE_WORK);
        self.doc_work = work.div_ceil(docs.len());
        self.first = (end - here.at) * BATCH_GROWTH;
        self.pairs = Some(pairs.div_ceil(docs.len()));
        here.at = end;
        if here.board.take().is_some() {
            here.ready = false;
        }
    }

    /// Finds the next documents.
    fn read(&mut self, here: &mut Here, part: &Part, turn: &mut Turn<'_>) {
        here.docs.clear();
        (here.at, here.ready) = (0, false);
        match &mut here.reader {
            Reader::Nothing => here.ended = true,
            Reader::Filter(filter) => {
                let next = filter.next(here.pos);
                if next >= part.docs.end {
                    here.ended = true;
                    return;
                }
                let number = window_of(next);
                if !filter.prepare(number, turn) {
                    return;
                }
                let mut found = bits::NONE;
                filter.fill(number, &mut found);
                keep_in_part(&mut found, number, part);
                keep_alive(&self.plan, part.segment, number, &mut found);
                bits::list(&found, number * WINDOW, &mut here.docs);
                here.pos = (number + 1).saturating_mul(WINDOW);
                turn.spend(64);
            }
            Reader::Scorer(scorer, window) => {
                let bar = self.plan.bound.min_score.map_or(0.0, |score| score.max(0.0));
                if window.is_none() {
                    let next = scorer.window(here.pos, bar, turn);
                    if next.start >= part.docs.end {
                        here.ended = true;
                        return;
                    }
                    here.pos = next.start;
                    if next.start >= next.end {
                        return;
                    }
                    let end = next.end.min(part.docs.end);
                    *window = Some(Window { end, bar, ..next });
                }
                let Some(at) = *window else { return };
                if !scorer.prepare(&at, turn) {
                    return;
                }
                self.hits.clear();
                scorer.fill(&at, &mut self.hits);
                *window = None;
                here.pos = at.end;
                turn.spend(self.hits.docs.len() * 2 + 16);
                let view = &self.plan.view.segments[part.segment as usize];
                let least = self.plan.bound.min_score.unwrap_or(f32::NEG_INFINITY);
                let mut scores = Vec::with_capacity(self.hits.docs.len());
                for (doc, score) in self.hits.docs.iter().zip(&self.hits.scores) {
                    if view.is_alive(base::DocId(*doc)) && *score >= least {
                        here.docs.push(*doc);
                        scores.push(*score);
                    }
                }
                self.scores.set(&here.docs, &scores);
            }
        }
        if !self.global {
            let limit = u64::from(self.plan.bound.terminate_after);
            if limit > 0 && self.count + here.docs.len() as u64 >= limit {
                here.docs.truncate((limit - self.count) as usize);
                self.terminated = true;
                here.ended = true;
                here.pos = END;
            }
            self.count += here.docs.len() as u64;
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.let_go();
    }
}

/// A few documents are in so many buckets, level below level, that nobody waits for the answer.
fn too_many_pairs() -> Error {
    let reason = format!(
        "the values of few documents are in more than [{PAIRS_MAX}] buckets of the aggregations: ask for fewer \
         levels, or for fields with fewer values a document"
    );
    Error::new(Kind::IllegalArgument, reason)
}

/// Aggregations of all levels.
fn count(aggs: &[BoundAgg]) -> usize {
    aggs.iter().map(|agg| 1 + count(&agg.subs)).sum()
}
