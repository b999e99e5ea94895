//! Searching a shard: one slice of one plan, in bounded steps; and merging what slices found.
//!
//! A [`Slice`] walks through its parts in order: builds iterators for a segment, asks for the next
//! window, prepares it (which may name blocks that are not there), fills it, drops deleted
//! documents, and gives the rest to what collects.
//!
//! Always true
//! 1. A step ends when its work is used up or blocks are missing; then the host does its part and
//!    calls again.
//! 2. The parts of a slice are ordered and do not overlap, so hits come in the order of their
//!    places; [`merge`] keeps (order, target, segment, document).
//! 3. Skipping begins once more documents than the threshold are known to match, so a total at or
//!    below it is exact, and one above it is only ever told as "at least the threshold".
//! 4. What a slice passes over because of the shared score scores strictly less.

mod keep;
mod memory;
mod merge;
mod pace;
mod parts;
mod pieces;
mod rescore;
mod steps;
mod stride;
mod tally;

use std::ops::Range;
use std::sync::Arc;

use env::rising::Rising;
use segment::Missing;

use crate::aggs::run::Run as AggRun;
use crate::collect::sort::Sorter;
use crate::collect::top::Top;
use crate::iter::build::{self, Context};
use crate::iter::{AnyFilter, AnyScorer, Bits, END, Hits, Turn, WINDOW, Window, bits, window_of};
use crate::plan::weigh::{Node, Plan};
use crate::request::TrackTotal;
use crate::result::{Memory, Partial, Ranked};

use keep::{drop_below, is_wide};
pub(crate) use keep::{keep_alive, keep_in_part};
pub use merge::{best_of_shard, merge, merges_long};
pub(crate) use merge::{compare as compare_winners, compare_keys};
pub use pace::Pace;
pub use parts::{Part, Parts};
use pieces::Pending;
pub use rescore::rescore;
use tally::{Tally, counts_fast};

/// Work of one step, where a document costs what it mostly does: about 300 µs.
pub const STEP_WORK: u32 = 50_000;

/// Work of a step on a thread that nobody waits for: some 20 ms.
pub const HEAVY_WORK: u32 = 1 << 21;

/// What slices of one search tell each other.
#[derive(Debug, Default)]
pub struct Shared {
    /// The score that a hit must at least have, by what some slice has found.
    bar: Rising,
}

/// What a step left to do.
pub enum Progress {
    /// Work is left.
    More,
    /// Blocks must be brought first.
    Missing(Missing),
    /// All was seen.
    Done,
}

/// What reads the segment at hand.
enum Run {
    Scored { scorer: AnyScorer, window: Option<Window> },
    Filtered { filter: AnyFilter, window: Option<u32> },
}

/// What is kept.
enum Keep {
    /// Nothing but the count.
    Count,
    /// The best by score.
    Top(Top),
    /// The best by keys.
    Sorted(Box<Sorter>),
}

/// One slice of one plan.
pub struct Slice {
    plan: Arc<Plan>,
    parts: Parts,
    shared: Arc<Shared>,
    /// The part at hand.
    part: usize,
    run: Option<Run>,
    /// Where in the part at hand the next window is looked for.
    pos: u32,
    /// Counts the matches of the part at hand, before its best are looked for.
    tally: Option<Tally>,
    /// The part at hand is counted apart: its best may be looked for without seeing all.
    apart: bool,
    /// The collector has taken its place in the segment at hand.
    entered: bool,
    keep: Keep,
    scored: bool,
    /// Matches counted.
    count: u64,
    /// Matches counted before the part at hand.
    begun: u64,
    /// At least so many match in the part at hand, so that skipping may begin before they are counted.
    known: u64,
    threshold: u64,
    skipped: bool,
    terminated_early: bool,
    stopped: bool,
    hits: Hits,
    /// Hits found that are not collected yet: scripts of the order run first, or they are too many for one piece.
    pending: Option<Pending>,
    /// Keys of the order.
    keys: usize,
    /// Aggregations, which follow the hits.
    aggs: Option<Box<AggRun>>,
    /// They count the matches too: nothing else is looked for.
    aggs_count: bool,
    /// Others wait for the thread of the step at hand.
    on_core: bool,
    /// The last step on a core left something to a worker.
    is_left: bool,
    /// The segment that was weighed last, and whether its windows are dear.
    dear: Option<(u32, bool)>,
    /// The dear segment that a worker came to last, and of how many documents a step there is.
    step_docs: Option<(u32, u32)>,
}

impl Slice {
    /// A slice that reads `parts`.
    pub fn new(plan: Arc<Plan>, parts: Parts, shared: Arc<Shared>) -> Self {
        let bound = &plan.bound;
        let limit = bound.window;
        let keep = if limit == 0 {
            Keep::Count
        } else if bound.order.keys.is_empty() {
            Keep::Top(Top::new(limit))
        } else {
            Keep::Sorted(Box::new(Sorter::new(Arc::clone(&bound.order), limit)))
        };
        let (scored, keys) = (bound.scores, bound.order.keys.len());
        let parts_len = parts.len();
        let threshold = bound.total.threshold();
        let aggs = bound
            .aggs
            .as_ref()
            .map(|_| Box::new(AggRun::new(Arc::clone(&plan), parts.clone(), None)));
        // Without hits to find and without a narrower query, aggregations see every match anyway.
        let aggs_count = limit == 0 && bound.aggs.as_ref().is_some_and(|aggs| aggs.query.is_none());
        Self {
            plan,
            parts,
            shared,
            part: if aggs_count { parts_len } else { 0 },
            run: None,
            pos: 0,
            tally: None,
            apart: false,
            entered: false,
            keep,
            scored,
            count: 0,
            begun: 0,
            known: 0,
            threshold,
            skipped: false,
            terminated_early: false,
            stopped: false,
            hits: Hits::default(),
            pending: None,
            keys,
            aggs,
            aggs_count,
            on_core: false,
            is_left: false,
            dear: None,
            step_docs: None,
        }
    }

    /// The shard's number among those asked, by which hits of several shards are told apart.
    #[must_use]
    pub fn of_target(mut self, target: u32) -> Self {
        if let Keep::Sorted(sorter) = &mut self.keep {
            sorter.set_target(target);
        }
        self
    }

    /// The deadline has passed: what was found so far is the answer.
    pub fn stop(&mut self) {
        self.stopped =
            self.part < self.parts.len() || self.aggs.as_ref().is_some_and(|aggs| !aggs.is_done());
    }

    /// What the slice found; nothing is left in it.
    pub fn finish(&mut self) -> Partial {
        let max_score = match &self.keep {
            Keep::Sorted(sorter) if self.plan.bound.scores => Some(sorter.max_score()),
            _ => None,
        };
        let mut texts = Memory::default();
        let hits = match std::mem::replace(&mut self.keep, Keep::Count) {
            Keep::Count => Vec::new(),
            Keep::Top(top) => top
                .into_sorted()
                .into_iter()
                .map(|(score, segment, doc)| Ranked { score, keys: Vec::new(), segment, doc })
                .collect(),
            Keep::Sorted(mut sorter) => {
                if self.stopped {
                    // Blocks of the last hits' terms may not be there: such hits are left out.
                    sorter.drop_unsettled();
                }
                texts = sorter.take_memory();
                sorter.into_sorted()
            }
        };
        let mut partial = Partial {
            hits,
            count: self.count,
            skipped: self.skipped,
            max_score: max_score.filter(|score| !score.is_nan()),
            terminated_early: self.terminated_early,
            timed_out: self.stopped,
            aggs: None,
            memory: Memory::default(),
            texts,
        };
        if let Some(run) = self.aggs.take() {
            if self.aggs_count {
                (partial.count, partial.terminated_early) = (run.count(), run.terminated());
            }
            let (found, memory) = run.finish();
            (partial.aggs, partial.memory) = (Some(found), memory);
        }
        partial
    }

    /// Does something about the part at hand; true when it is done with.
    fn advance(&mut self, plan: &Plan, turn: &mut Turn<'_>) -> segment::Result<bool> {
        let part = self.parts[self.part].clone();
        let at = &plan.view.segments[part.segment as usize];
        if !self.entered {
            if let Keep::Sorted(sorter) = &mut self.keep
                && !sorter.enter(plan, part.segment, turn)?
            {
                return Ok(false);
            }
            self.entered = true;
            self.pos = part.docs.start;
            let context = Context { segment: &at.segment, number: part.segment as usize };
            if !self.begin(plan, context, &part) {
                self.pos = END;
            }
            turn.spend(256);
        }
        if let Some(mut tally) = self.tally.take() {
            if self.tally_window(&mut tally, plan, &part, turn) {
                self.tally = Some(tally);
            }
            self.end_dear(part.segment, turn);
            return Ok(false);
        }
        if let Some(pending) = self.pending.take() {
            self.pending = self.go_on_with(pending, &part, turn);
            self.end_dear(part.segment, turn);
            return Ok(false);
        }
        if self.pos >= part.docs.end || self.terminated_early {
            if let Keep::Sorted(sorter) = &mut self.keep
                && !sorter.leave(turn)?
            {
                return Ok(false);
            }
            if self.terminated_early {
                self.part = self.parts.len() - 1;
            }
            return Ok(true);
        }
        match self.run.take() {
            None => self.pos = END,
            Some(Run::Scored { mut scorer, mut window }) => {
                self.scored_window(&mut scorer, &mut window, plan, &part, turn);
                self.run = Some(Run::Scored { scorer, window });
            }
            Some(Run::Filtered { mut filter, mut window }) => {
                self.filtered_window(&mut filter, &mut window, plan, &part, turn);
                self.run = Some(Run::Filtered { filter, window });
            }
        }
        Ok(false)
    }

    /// Builds what reads the segment; false where nothing in the part needs to be read.
    fn begin(&mut self, plan: &Plan, context: Context<'_>, part: &Part) -> bool {
        let deleted = plan.view.segments[context.number]
            .live
            .as_ref()
            .map_or(0, |live| u64::from(live.deleted_count()));
        let doc_count = context.segment.doc_count();
        let whole = part.docs == (0..doc_count);
        (self.begun, self.known) = (self.count, 0);
        if self.scored {
            let Some(scorer) = build::scorer(&plan.root, context) else { return false };
            self.known = scorer.count_min().saturating_sub(deleted);
            self.run = Some(Run::Scored { scorer, window: None });
            self.apart = self.wants_apart(plan, context);
            if self.apart {
                self.tally = self.tally_of(plan, context, whole && deleted == 0);
            }
            return true;
        }
        let counts = matches!(self.keep, Keep::Count) && plan.bound.terminate_after == 0;
        if counts
            && whole
            && deleted == 0
            && let Some(count) = build::known_count(&plan.root, context)
        {
            self.count += count;
            return false;
        }
        if counts
            && whole
            && deleted == 0
            && let Some(tally) = self.split(plan, context)
        {
            self.tally = Some(tally);
            return true;
        }
        // Of what is joined nothing is known before.
        let joins = counts && build::joins(&plan.root);
        if joins && self.list(plan, context) {
            return self.run.is_some();
        }
        let mut filter = build::any_filter(&plan.root, context);
        if counts {
            let is_all = matches!(plan.root, Node::All { .. });
            let counted = match is_all {
                true => Some(u64::from(doc_count) - deleted),
                false if deleted == 0 => filter.count(),
                false => None,
            };
            if whole && let Some(count) = counted {
                self.count += count;
                return false;
            }
        }
        self.known = filter.count_min().saturating_sub(deleted);
        if counts && !joins && self.list(plan, context) {
            return self.run.is_some();
        }
        self.run = Some(Run::Filtered { filter, window: None });
        true
    }

    /// Matches are counted by lists, where those are faster; or not at all, where the total will be told as
    /// "at least" anyway. False where neither is so.
    fn list(&mut self, plan: &Plan, context: Context<'_>) -> bool {
        if self.may_skip() {
            self.pass_over();
            return true;
        }
        let Some(scorer) = build::lister(&plan.root, context) else { return false };
        self.run = Some(Run::Scored { scorer, window: None });
        true
    }

    /// Counting and looking for the best are cheaper apart: the count reads no frequency, and the
    /// best are found without seeing all.
    fn wants_apart(&self, plan: &Plan, context: Context<'_>) -> bool {
        matches!(self.keep, Keep::Top(_))
            && plan.bound.min_score.is_none()
            && plan.bound.terminate_after == 0
            && !self.may_skip()
            && (counts_fast(&plan.root) || is_wide(&plan.root, context))
    }

    /// More documents match than need be counted.
    fn may_skip(&self) -> bool {
        self.threshold != u64::MAX
            && (self.count > self.threshold
                || self.begun.saturating_add(self.known) > self.threshold
                || self.threshold == 0 && self.plan.bound.total == TrackTotal::No)
    }

    /// Matches were or may be passed over uncounted; the count is known to be above the threshold.
    fn pass_over(&mut self) {
        self.skipped = true;
        if self.plan.bound.total != TrackTotal::No {
            self.count = self.count.max(self.threshold + 1);
        }
    }

    /// The least score that is of use now.
    fn bar(&mut self) -> f32 {
        let floor = self.plan.bound.min_score.map_or(0.0, |score| score.max(0.0));
        let Keep::Top(top) = &self.keep else { return floor };
        let may_skip = self.apart || self.may_skip();
        if self.plan.bound.terminate_after > 0 || !may_skip {
            return floor;
        }
        let bar = top.bar().max(self.shared.bar.get());
        if bar <= floor {
            return floor;
        }
        if !self.apart {
            self.pass_over();
        }
        bar
    }

    fn scored_window(
        &mut self,
        scorer: &mut AnyScorer,
        window: &mut Option<Window>,
        plan: &Plan,
        part: &Part,
        turn: &mut Turn<'_>,
    ) {
        if window.is_none() {
            if matches!(self.keep, Keep::Count) && self.may_skip() {
                self.pass_over();
                self.pos = END;
                return;
            }
            let bar = self.bar();
            if let Keep::Top(top) = &self.keep
                && plan.bound.min_score.is_none()
            {
                scorer.count_below(top.bar());
            }
            let next = scorer.window(self.pos, bar, turn);
            if next.start >= part.docs.end {
                self.pos = END;
                return;
            }
            self.pos = next.start;
            if next.start >= next.end {
                return;
            }
            if self.is_hopeless(next.start, next.end, part) {
                self.pos = self.passed(next.end);
                return;
            }
            let end = self.end_of_step(part.segment, next.start, next.end.min(part.docs.end));
            *window = Some(Window { end, ..next });
        }
        let Some(at) = *window else { return };
        if !scorer.prepare(&at, turn) || !self.prepare_keys(at.range(), part, turn) {
            return;
        }
        let mut hits = std::mem::take(&mut self.hits);
        hits.clear();
        scorer.fill(&at, &mut hits);
        *window = None;
        self.pos = at.end;
        turn.spend(hits.docs.len() * 2 + 16);
        self.drop_deleted(plan, part, &mut hits);
        if let Some(least) = plan.bound.min_score {
            drop_below(&mut hits, least);
        }
        self.take(hits, part);
        self.end_dear(part.segment, turn);
    }

    fn filtered_window(
        &mut self,
        filter: &mut AnyFilter,
        window: &mut Option<u32>,
        plan: &Plan,
        part: &Part,
        turn: &mut Turn<'_>,
    ) {
        if window.is_none() {
            if matches!(self.keep, Keep::Count)
                && self.may_skip()
                && plan.bound.terminate_after == 0
            {
                self.pass_over();
                self.pos = END;
                return;
            }
            let next = filter.next(self.pos);
            if next >= part.docs.end {
                self.pos = END;
                return;
            }
            self.pos = next;
            let end = (window_of(next) + 1).saturating_mul(WINDOW);
            if self.is_hopeless(next, end, part) {
                self.pos = self.passed(end);
                return;
            }
            *window = Some(window_of(next));
        }
        let Some(number) = *window else { return };
        let start = number * WINDOW;
        let docs = start..start.saturating_add(WINDOW);
        if !filter.prepare(number, turn) || !self.prepare_keys(docs, part, turn) {
            return;
        }
        let mut found = bits::NONE;
        filter.fill(number, &mut found);
        *window = None;
        let base = number * WINDOW;
        self.pos = base.saturating_add(WINDOW);
        keep_in_part(&mut found, number, part);
        keep_alive(plan, part.segment, number, &mut found);
        turn.spend(64);
        if matches!(self.keep, Keep::Count) && plan.bound.terminate_after == 0 {
            self.count += u64::from(bits::count(&found));
            self.end_dear(part.segment, turn);
            return;
        }
        let mut hits = std::mem::take(&mut self.hits);
        hits.clear();
        bits::list(&found, base, &mut hits.docs);
        turn.spend(hits.docs.len() * 4);
        self.take(hits, part);
        self.end_dear(part.segment, turn);
    }

    /// No document from `start` to `end` can become a hit, and none need be counted.
    fn is_hopeless(&mut self, start: u32, end: u32, part: &Part) -> bool {
        let Keep::Sorted(sorter) = &self.keep else { return false };
        if self.plan.bound.terminate_after > 0 || !self.may_skip() {
            return false;
        }
        let doc_count = self.plan.view.segments[part.segment as usize].segment.doc_count();
        let end = end.min(doc_count);
        if end <= start {
            return false;
        }
        let windows = window_of(start)..=window_of(end - 1);
        // Scores of passed documents might be the best.
        let wants_best = self.scored && !sorter.needs_scores();
        let hopeless = !wants_best
            && (sorter.is_complete()
                || windows.into_iter().all(|window| sorter.is_hopeless(window, doc_count)));
        if hopeless {
            self.pass_over();
        }
        hopeless
    }

    /// Where to go on after documents up to `end` were found hopeless.
    fn passed(&self, end: u32) -> u32 {
        match &self.keep {
            Keep::Sorted(sorter) if sorter.is_complete() => END,
            _ => end,
        }
    }

    /// Names what the keys of `docs` will be read from.
    fn prepare_keys(&self, docs: Range<u32>, part: &Part, turn: &mut Turn<'_>) -> bool {
        match &self.keep {
            Keep::Sorted(sorter) => sorter.prepare(docs.start..docs.end.min(part.docs.end), turn),
            Keep::Count | Keep::Top(_) => true,
        }
    }

    fn drop_deleted(&self, plan: &Plan, part: &Part, hits: &mut Hits) {
        let Some(live) = &plan.view.segments[part.segment as usize].live else { return };
        let words = live.bits().words();
        let mut kept = 0;
        for at in 0..hits.docs.len() {
            let doc = hits.docs[at];
            hits.docs[kept] = doc;
            hits.scores[kept] = hits.scores[at];
            kept += (words[doc as usize / 64] >> (doc % 64) & 1) as usize;
        }
        hits.docs.truncate(kept);
        hits.scores.truncate(kept);
    }

    /// Counts hits and keeps the best.
    fn collect(&mut self, docs: &[u32], scores: &[f32], part: &Part) {
        let mut end = docs.len();
        let limit = u64::from(self.plan.bound.terminate_after);
        if limit > 0 && self.count + end as u64 >= limit {
            end = (limit - self.count) as usize;
            self.terminated_early = true;
        }
        let docs = &docs[..end];
        let scores = &scores[..end.min(scores.len())];
        if !self.apart {
            self.count += end as u64;
        }
        match &mut self.keep {
            Keep::Count => {}
            Keep::Top(top) if scores.len() == docs.len() => {
                for (doc, score) in docs.iter().zip(scores) {
                    top.offer(*score, part.segment, *doc);
                }
                if let Some(worst) = top.worst() {
                    self.shared.bar.raise(worst);
                }
            }
            // Without scores all are equal: the first stay.
            Keep::Top(top) => {
                for doc in docs {
                    top.offer(0.0, part.segment, *doc);
                }
            }
            Keep::Sorted(sorter) => sorter.offer(docs, scores),
        }
    }
}
