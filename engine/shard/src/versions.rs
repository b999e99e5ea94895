//! What is known of ids that no segment of the published view tells: operations under way, and
//! deletes of the last minute. (Documents that are newer than the view are in the buffer, which
//! finds them by id itself.)
//!
//! Always true
//! 1. *Decided* is what the next decision reads; an id is in it while an operation on it is logged
//!    but not yet applied. So two operations in flight on one id cannot both create it.
//! 2. *Applied* is what callers read: buffers, tombstones, segments, in this order. A reader never
//!    sees what is only decided.
//! 3. An id with a living document in a buffer has no tombstone.
//! 4. A tombstone stays until its delete is in the published view and its time is over. So a
//!    segment is asked about an id only where its answer is the newest.
//!
//! Memory: an entry lives as long as its operation is under way, or for `gc_deletes`; both are
//! counted in `size_bytes`.

use std::collections::BTreeMap;
use std::time::Duration;

use base::hash::Pieces;
use env::Bytes;

use crate::buffer::stored::Stamp;

/// Bytes that an entry takes beside its id: table slot, string head, allocation.
const ENTRY_BYTES: usize = 96;

/// How a document stands, as a decision sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It was never there, or was deleted so long ago that this is forgotten.
    Absent,
    /// It was deleted.
    Deleted(Stamp),
    /// It is there.
    Present(Stamp),
}

/// The document of an operation under way: what an update that is decided next changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Text {
    pub(crate) source: Bytes,
    pub(crate) routing: Option<Box<str>>,
}

/// A decision: how the document will stand, and its text where it is there.
pub(crate) type Decision = (Standing, Option<Text>);

/// Operations under way, the newest of each id.
#[derive(Debug, Default)]
pub(crate) struct Decided {
    by_id: Pieces<Box<str>, Decision>,
    id_bytes: usize,
}

impl Decided {
    /// How a document will stand when all that is under way is applied.
    pub(crate) fn get(&self, id: &str) -> Option<Standing> {
        self.by_id.get(id).map(|(standing, _)| *standing)
    }

    /// The document that will stand there; its bytes are those that the operation under way holds.
    pub(crate) fn text(&self, id: &str) -> Option<&Text> {
        self.by_id.get(id)?.1.as_ref()
    }

    /// Notes a decision; gives the one it takes the place of.
    pub(crate) fn put(&mut self, id: &str, decision: Decision) -> Option<Decision> {
        if let Some(held) = self.by_id.get_mut(id) {
            return Some(std::mem::replace(held, decision));
        }
        self.id_bytes += id.len();
        self.by_id.insert(id.into(), decision);
        None
    }

    /// Forgets a decision that is applied now, unless a newer one stands.
    pub(crate) fn settle(&mut self, id: &str, stamp: Stamp) {
        let is_it = self.get(id).is_some_and(|standing| standing.stamp() == Some(stamp));
        if is_it {
            self.remove(id);
        }
    }

    /// Takes a decision back that was not logged: `before` stands again, unless it is applied
    /// (below `applied`) by now.
    pub(crate) fn take_back(&mut self, id: &str, before: Option<Decision>, applied: u64) {
        match before {
            Some(decision)
                if decision.0.stamp().is_some_and(|stamp| stamp.seq_no.get() >= applied) =>
            {
                self.put(id, decision);
            }
            _ => self.remove(id),
        }
    }

    fn remove(&mut self, id: &str) {
        if self.by_id.remove(id).is_some() {
            self.id_bytes -= id.len();
        }
    }

    /// Bytes of memory held, near enough.
    pub(crate) fn size_bytes(&self) -> usize {
        self.by_id.len() * ENTRY_BYTES + self.id_bytes
    }
}

impl Standing {
    /// The operation that made it so.
    pub(crate) fn stamp(self) -> Option<Stamp> {
        match self {
            Self::Absent => None,
            Self::Deleted(stamp) | Self::Present(stamp) => Some(stamp),
        }
    }
}

/// Deletes that are remembered.
#[derive(Debug, Default)]
pub(crate) struct Tombstones {
    by_id: Pieces<Box<str>, (Stamp, Duration)>,
    /// By number, and no other: so no list is swept, nor copied to grow, while an executor waits.
    order: BTreeMap<u64, (Duration, Box<str>)>,
    id_bytes: usize,
}

impl Tombstones {
    /// The delete of this id.
    pub(crate) fn get(&self, id: &str) -> Option<Stamp> {
        self.by_id.get(id).map(|(stamp, _)| *stamp)
    }

    /// Remembers a delete applied at `now`.
    pub(crate) fn put(&mut self, id: &str, stamp: Stamp, now: Duration) {
        match self.by_id.insert(id.into(), (stamp, now)) {
            Some((before, _)) => drop(self.order.remove(&before.seq_no.get())),
            None => self.id_bytes += id.len(),
        }
        self.order.insert(stamp.seq_no.get(), (now, id.into()));
    }

    /// Forgets the delete of an id that has a document again.
    pub(crate) fn remove(&mut self, id: &str) {
        if let Some((stamp, _)) = self.by_id.remove(id) {
            self.id_bytes -= id.len();
            self.order.remove(&stamp.seq_no.get());
        }
    }

    /// Forgets deletes older than `keep`, at most `count_max` at a time, if they are below
    /// `visible`: true where more may wait.
    pub(crate) fn prune(
        &mut self,
        now: Duration,
        keep: Duration,
        visible: u64,
        count_max: usize,
    ) -> bool {
        for _ in 0..count_max {
            let Some(first) = self.order.first_entry() else { return false };
            if now.saturating_sub(first.get().0) < keep || *first.key() >= visible {
                return false;
            }
            let (_, id) = first.remove();
            self.by_id.remove(&id);
            self.id_bytes -= id.len();
        }
        true
    }

    /// When the oldest delete was put, where it is below `visible`.
    pub(crate) fn oldest_below(&self, visible: u64) -> Option<Duration> {
        let (seq_no, (put, _)) = self.order.first_key_value()?;
        (*seq_no < visible).then_some(*put)
    }

    /// Deletes from operation `from` on, oldest first, at most `count_max`: id, stamp, time since.
    /// And where to go on: `None` at the end.
    pub(crate) fn page(
        &self,
        from: u64,
        count_max: usize,
        now: Duration,
    ) -> (Vec<(&str, Stamp, Duration)>, Option<u64>) {
        let mut rest = self.order.range(from..);
        let page = rest
            .by_ref()
            .take(count_max)
            .filter_map(|(_, (put, id))| Some((&**id, self.get(id)?, now.saturating_sub(*put))));
        let page = page.collect();
        (page, rest.next().map(|(seq_no, _)| *seq_no))
    }

    /// Deletes remembered.
    pub(crate) fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Bytes of memory held, near enough.
    pub(crate) fn size_bytes(&self) -> usize {
        2 * (self.by_id.len() * ENTRY_BYTES + self.id_bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use base::{PrimaryTerm, SeqNo};
    use proptest::prelude::*;

    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    fn stamp(seq_no: u64) -> Stamp {
        Stamp { seq_no: SeqNo(seq_no), term: PrimaryTerm(1), version: seq_no + 1 }
    }

    fn ids(tombstones: &Tombstones) -> Vec<String> {
        let (mut ids, mut from) = (Vec::new(), Some(0));
        while let Some(start) = from {
            let (page, next) = tombstones.page(start, 1, Duration::ZERO);
            ids.extend(page.into_iter().map(|(id, _, _)| id.to_owned()));
            from = next;
        }
        ids
    }

    #[test]
    fn the_newest_decision_of_an_id_stands_until_it_is_applied() {
        let mut decided = Decided::default();
        decided.put("a", (Standing::Present(stamp(0)), None));
        decided.put("a", (Standing::Deleted(stamp(1)), None));
        decided.settle("a", stamp(0));
        assert_eq!(decided.get("a"), Some(Standing::Deleted(stamp(1))));
        decided.settle("a", stamp(1));
        assert_eq!(decided.get("a"), None);
        assert_eq!(decided.size_bytes(), 0);
    }

    #[test]
    fn decision_taken_back_uncovers_the_one_before() {
        let mut decided = Decided::default();
        decided.put("a", (Standing::Present(stamp(4)), None));
        let before = decided.put("a", (Standing::Present(stamp(5)), None));
        decided.take_back("a", before, 4);
        assert_eq!(decided.get("a"), Some(Standing::Present(stamp(4))));
    }

    #[test]
    fn decision_taken_back_does_not_revive_one_that_was_applied_meanwhile() {
        let mut decided = Decided::default();
        decided.put("a", (Standing::Present(stamp(4)), None));
        let before = decided.put("a", (Standing::Present(stamp(5)), None));
        // Operation 4 is applied: it finds a newer decision and leaves that.
        decided.settle("a", stamp(4));
        decided.take_back("a", before, 5);
        assert_eq!((decided.get("a"), decided.size_bytes()), (None, 0));
    }

    #[test]
    fn tombstone_goes_when_its_time_is_over_and_its_delete_visible() {
        let mut tombstones = Tombstones::default();
        tombstones.put("a", stamp(7), Duration::ZERO);
        tombstones.prune(MINUTE - Duration::from_millis(1), MINUTE, 8, 10);
        assert!(tombstones.get("a").is_some(), "its time is not over");
        tombstones.prune(MINUTE, MINUTE, 7, 10);
        assert!(tombstones.get("a").is_some(), "a segment may still hold the document");
        tombstones.prune(MINUTE, MINUTE, 8, 10);
        assert!(tombstones.get("a").is_none());
        assert_eq!(tombstones.size_bytes(), 0);
    }

    #[test]
    fn second_delete_of_an_id_takes_the_place_of_the_first() {
        let mut tombstones = Tombstones::default();
        tombstones.put("a", stamp(1), Duration::ZERO);
        tombstones.put("b", stamp(2), Duration::ZERO);
        tombstones.put("a", stamp(3), MINUTE);
        assert_eq!(ids(&tombstones), ["b", "a"]);
        tombstones.prune(MINUTE, MINUTE, 100, 10);
        assert_eq!(ids(&tombstones), ["a"]);
        assert_eq!(tombstones.get("a"), Some(stamp(3)));
    }

    #[test]
    fn deleting_and_creating_for_ever_takes_little_memory() {
        let mut tombstones = Tombstones::default();
        for seq_no in 0..10_000 {
            tombstones.put("a", stamp(seq_no), Duration::ZERO);
            tombstones.remove("a");
        }
        assert!(tombstones.size_bytes() < 100 * ENTRY_BYTES);
        assert_eq!(ids(&tombstones), [""; 0]);
    }

    #[test]
    fn pruning_stops_after_as_many_as_allowed() {
        let mut tombstones = Tombstones::default();
        for seq_no in 0..10 {
            tombstones.put(&seq_no.to_string(), stamp(seq_no), Duration::ZERO);
        }
        assert!(tombstones.prune(MINUTE, MINUTE, 100, 4));
        assert_eq!(tombstones.len(), 6);
        assert!(!tombstones.prune(MINUTE, MINUTE, 100, 40));
        assert_eq!(tombstones.len(), 0);
    }

    /// What happens to ids, of which there are few, so that things meet.
    #[derive(Clone, Debug)]
    enum Step {
        /// An operation is decided; it deletes or not.
        Decide(u8, bool),
        /// The oldest one under way is applied.
        Apply,
        /// The log refuses so many of the newest.
        TakeBack(u8),
        /// So many seconds pass; all below the number is visible; deletes are pruned.
        Prune(u8, u8),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            4 => (0..5u8, any::<bool>()).prop_map(|(id, deletes)| Step::Decide(id, deletes)),
            3 => Just(Step::Apply),
            1 => (1..4u8).prop_map(Step::TakeBack),
            1 => (0..50u8, 0..30u8).prop_map(|(seconds, behind)| Step::Prune(seconds, behind)),
        ];
        prop::collection::vec(step, 0..200)
    }

    proptest! {
        #[test]
        fn what_is_known_of_ids_is_what_a_list_of_operations_says(steps in steps()) {
            let (mut decided, mut tombstones) = (Decided::default(), Tombstones::default());
            let mut under_way: VecDeque<(String, Standing, Option<Decision>)> = VecDeque::new();
            let mut deleted: BTreeMap<String, (u64, Duration)> = BTreeMap::new();
            let (mut next, mut applied, mut now) = (0, 0, Duration::ZERO);
            for step in steps {
                match step {
                    Step::Decide(id, deletes) => {
                        let make = if deletes { Standing::Deleted } else { Standing::Present };
                        let (id, standing) = (id.to_string(), make(stamp(next)));
                        let before = decided.put(&id, (standing, None));
                        under_way.push_back((id, standing, before));
                        next += 1;
                    }
                    Step::Apply => {
                        let Some((id, standing, _)) = under_way.pop_front() else { continue };
                        decided.settle(&id, stamp(applied));
                        match standing {
                            Standing::Deleted(stamp) => {
                                tombstones.put(&id, stamp, now);
                                deleted.insert(id, (applied, now));
                            }
                            _ => {
                                tombstones.remove(&id);
                                deleted.remove(&id);
                            }
                        }
                        applied += 1;
                    }
                    Step::TakeBack(count) => {
                        for _ in 0..count {
                            let Some((id, _, before)) = under_way.pop_back() else { break };
                            next -= 1;
                            decided.take_back(&id, before, applied);
                        }
                    }
                    Step::Prune(seconds, behind) => {
                        now += Duration::from_secs(seconds.into());
                        let visible = applied.saturating_sub(behind.into());
                        tombstones.prune(now, MINUTE, visible, 1_000);
                        deleted.retain(|_, (seq_no, put)| now - *put < MINUTE || *seq_no >= visible);
                    }
                }
                for id in (0..5).map(|id| id.to_string()) {
                    let newest = under_way.iter().rfind(|(of, ..)| *of == id).map(|it| it.1);
                    prop_assert_eq!(decided.get(&id), newest, "{}", id);
                    let delete = deleted.get(&id).map(|(seq_no, _)| stamp(*seq_no));
                    prop_assert_eq!(tombstones.get(&id), delete, "{}", id);
                }
                prop_assert!(!under_way.is_empty() || decided.size_bytes() == 0);
                let mut remembered: Vec<_> = deleted.iter().map(|(id, it)| (it.0, id)).collect();
                remembered.sort_unstable();
                let remembered: Vec<String> =
                    remembered.into_iter().map(|(_, id)| id.clone()).collect();
                prop_assert_eq!(ids(&tombstones), remembered);
            }
        }
    }
}
