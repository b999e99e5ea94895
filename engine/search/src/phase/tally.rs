//! Counting matches apart from finding the best: window after window, or list after list.

use super::{Part, Slice, keep_alive, keep_in_part};
use crate::iter::build::{self, Context, Rest, Split};
use crate::iter::{Turn, WINDOW, bits, window_of};
use crate::plan::weigh::{Node, Plan};

/// A count of matches, window after window.
pub(super) struct Tally {
    rest: Rest,
    /// They are taken from what is counted.
    less: bool,
    pos: u32,
}

impl Slice {
    /// How the matches of a segment are counted, apart from its best; `all`: they are those of the
    /// whole segment, and none is deleted. `None` where they are known.
    pub(super) fn tally_of(
        &mut self,
        plan: &Plan,
        context: Context<'_>,
        all: bool,
    ) -> Option<Tally> {
        if all && let Some(count) = build::known_count(&plan.root, context) {
            self.count += count;
            return None;
        }
        let mut filter = build::any_filter(&plan.root, context);
        let pos = self.pos;
        if all {
            if let Some(count) = filter.count() {
                self.count += count;
                return None;
            }
            if let Some(tally) = self.split(plan, context) {
                return Some(tally);
            }
        }
        Some(Tally { rest: Rest::Windows(filter), less: false, pos })
    }

    /// A count that needs to read less than all matches, where there is one.
    pub(super) fn split(&mut self, plan: &Plan, context: Context<'_>) -> Option<Tally> {
        let Split { known, rest, less } =
            build::split_count(&plan.root, context, self.threshold == u64::MAX)?;
        if less && self.threshold != u64::MAX {
            // What is known would pass for matches.
            return None;
        }
        self.count += known;
        Some(Tally { rest, less, pos: self.pos })
    }

    /// Counts one window; false when all are counted, or enough.
    pub(super) fn tally_window(
        &mut self,
        tally: &mut Tally,
        plan: &Plan,
        part: &Part,
        turn: &mut Turn<'_>,
    ) -> bool {
        if self.may_skip() {
            self.pass_over();
            return false;
        }
        let more = match &mut tally.rest {
            Rest::Windows(filter) => {
                let next = filter.next(tally.pos);
                if next >= part.docs.end {
                    return false;
                }
                let number = window_of(next);
                if !filter.prepare(number, turn) {
                    return true;
                }
                let mut found = bits::NONE;
                filter.fill(number, &mut found);
                keep_in_part(&mut found, number, part);
                keep_alive(plan, part.segment, number, &mut found);
                turn.spend(64);
                tally.pos = (number + 1).saturating_mul(WINDOW);
                bits::count(&found) as usize
            }
            Rest::Union(union) => match union.step(turn) {
                Some(more) => more as usize,
                None => return false,
            },
            Rest::Overlap(overlap) => match overlap.step(turn) {
                Some(more) => more as usize,
                None => return false,
            },
            Rest::Lists(scorer) => {
                let window = scorer.window(tally.pos, 0.0, turn);
                if window.start >= part.docs.end {
                    return false;
                }
                if !scorer.prepare(&window, turn) {
                    return true;
                }
                self.hits.clear();
                scorer.fill(&window, &mut self.hits);
                tally.pos = window.end;
                self.hits.docs.len()
            }
        };
        match tally.less {
            true => self.count -= more as u64,
            false => self.count += more as u64,
        }
        true
    }
}

/// The matches of a node are counted much faster than they are scored.
pub(super) fn counts_fast(node: &Node) -> bool {
    match node {
        Node::All { .. }
        | Node::Term { .. }
        | Node::FewTerms { .. }
        | Node::Numbers { .. }
        | Node::Box { .. }
        | Node::Kept { .. }
        | Node::Exists { .. } => true,
        Node::DisMax { clauses, .. } => clauses.iter().all(counts_fast),
        Node::Bool { must, filter, should, minimum, .. } => {
            match must.len() + filter.len() {
                0 => should.iter().all(counts_fast),
                // Optional clauses beside a required one are not counted at all.
                1 => *minimum == 0 && must.iter().chain(filter).all(counts_fast),
                _ => false,
            }
        }
        Node::None
        | Node::Phrase { .. }
        | Node::Synonym { .. }
        | Node::MultiPhrase { .. }
        | Node::Combined { .. }
        | Node::Function { .. }
        | Node::Script { .. }
        | Node::ScriptScore { .. }
        | Node::Feature { .. }
        | Node::Near { .. }
        | Node::Inside { .. }
        | Node::Covering { .. }
        | Node::Places { .. }
        | Node::Nested { .. }
        | Node::Terms { .. }
        | Node::Pattern { .. }
        | Node::Ids { .. }
        | Node::Constant { .. }
        | Node::Boosting { .. } => false,
    }
}
