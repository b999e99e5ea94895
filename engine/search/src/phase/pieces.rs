//! Hits of a window that are collected piece by piece.
//!
//! Each hit is read and compared by every key of the order, where it is like others in those before. Four
//! thousand hits by ten thousand keys held a worker for 3.8 s, and everybody who waited for it; so a piece has as
//! many hits as make [`KEYS_AT_ONCE`] keys. A heap of many hits is deep, and lies far apart in memory: a hit of the ten
//! thousand best sinks through thirteen levels of it, and a window of them by three keys held a core for 7 ms. Its levels
//! count as keys.
//!
//! Always true: with no more than four keys, and of no more than 511 best hits, a window is one piece.

use env::leftovers;

use super::{Keep, Part, Slice};
use crate::iter::{Hits, Turn, WINDOW};

/// Hits of one window that are collected piece by piece.
pub(super) struct Pending {
    hits: Hits,
    /// So many are collected.
    done: usize,
    /// Scripts of the order have run, or there are none.
    is_ready: bool,
}

/// Keys of hits that are read in one piece on a core: about a millisecond, where all hits are alike in most of
/// them.
const KEYS_AT_ONCE: usize = 4 * WINDOW as usize;

/// What a level of a deep heap costs, in keys: two entries that lie apart are compared, and one is moved.
const KEYS_OF_LEVEL: usize = 8;

/// Pieces of a core that a worker makes one.
const PIECES_OF_A_WORKER: usize = 8;

/// So many keys are given back in a moment: some 100 µs.
const KEYS_LEFT: usize = 1 << 10;

impl Drop for Slice {
    fn drop(&mut self) {
        self.let_go();
    }
}

impl Slice {
    /// To put what was found in order, key by key, may take long: [`Self::finish`] belongs on a worker.
    pub fn ends_long(&self) -> bool {
        let Keep::Sorted(sorter) = &self.keep else { return false };
        sorter.len().saturating_mul(self.keys_of_hit()) > KEYS_AT_ONCE
    }

    /// Lets go what was found and not asked for: many hits not here, where others wait.
    fn let_go(&mut self) {
        let keys = if let Keep::Sorted(sorter) = &self.keep { sorter.len() * self.keys } else { 0 };
        if keys > KEYS_LEFT {
            leftovers::leave(std::mem::replace(&mut self.keep, Keep::Count));
        }
    }

    /// Collects hits, or leaves that to the next steps.
    pub(super) fn take(&mut self, hits: Hits, part: &Part) {
        if let Keep::Sorted(sorter) = &self.keep {
            let is_ready = !sorter.has_scripts();
            if !is_ready || hits.docs.len() > self.piece() {
                self.pending = Some(Pending { hits, done: 0, is_ready });
                return;
            }
        }
        self.collect(&hits.docs, &hits.scores, part);
        self.hits = hits;
    }

    /// Hits that are collected at once.
    fn piece(&self) -> usize {
        let keys = KEYS_AT_ONCE * if self.on_core { 1 } else { PIECES_OF_A_WORKER };
        keys.checked_div(self.keys_of_hit()).map_or(usize::MAX, |docs| docs.max(1))
    }

    /// What a hit costs to collect, in keys: reading it by each, and [`KEYS_OF_LEVEL`] a level of a deep heap. None
    /// without an order.
    pub(super) fn keys_of_hit(&self) -> usize {
        let Keep::Sorted(sorter) = &self.keep else { return 0 };
        self.keys + KEYS_OF_LEVEL * sorter.depth()
    }

    /// Collects one piece more, or lets scripts run first; gives what is left.
    pub(super) fn go_on_with(
        &mut self,
        mut pending: Pending,
        part: &Part,
        turn: &mut Turn<'_>,
    ) -> Option<Pending> {
        let Pending { hits, done, is_ready } = &mut pending;
        if !*is_ready && let Keep::Sorted(sorter) = &mut self.keep {
            *is_ready = sorter.run_scripts(&hits.docs, &hits.scores, turn);
        }
        if !*is_ready {
            return Some(pending);
        }
        let piece = *done..hits.docs.len().min(done.saturating_add(self.piece()));
        let scores = hits.scores.get(piece.clone()).unwrap_or_default();
        turn.spend(piece.len());
        self.collect(&hits.docs[piece.clone()], scores, part);
        *done = piece.end;
        if *done < hits.docs.len() && !self.terminated_early {
            return Some(pending);
        }
        self.hits = pending.hits;
        None
    }
}
