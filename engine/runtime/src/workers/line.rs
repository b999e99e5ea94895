//! Jobs that wait for a thread, and which of them is next: plain data, changed under the lock of a pool.
//!
//! Always true
//! 1. Jobs of one caller begin in the order in which they came.
//! 2. Next is a job of whoever has the fewest at work; among those of whoever waits the longest for a turn.
//! 3. Of one caller never more are at work, or wait, than [`OfOne`] says.

use std::collections::{BTreeMap, VecDeque};

use env::turns::Lane;

/// What one caller may have.
#[derive(Clone, Copy, Debug)]
pub struct OfOne {
    /// Jobs at work beside each other.
    pub running_max: usize,
    /// Jobs that wait; one more is refused.
    pub waiting_max: usize,
}

impl OfOne {
    /// As much as there is: for a pool whose jobs belong to no caller.
    pub const ALL: Self = Self { running_max: usize::MAX, waiting_max: usize::MAX };
}

/// The jobs of a pool.
pub(super) struct Line<J> {
    of_one: OfOne,
    callers: BTreeMap<Lane, Caller<J>>,
    /// Callers with jobs that wait, in turns: who had one last stands last.
    turns: VecDeque<Lane>,
    waiting: usize,
}

/// Kept while it has a job that waits or is at work.
struct Caller<J> {
    waiting: VecDeque<J>,
    running: usize,
}

impl<J> Line<J> {
    pub(super) fn new(of_one: OfOne) -> Self {
        Self { of_one, callers: BTreeMap::new(), turns: VecDeque::new(), waiting: 0 }
    }

    /// Jobs that wait.
    pub(super) fn len(&self) -> usize {
        self.waiting
    }

    /// Jobs that wait too many to take one more of this caller in, where `waiting_max` may wait in all.
    pub(super) fn crowd(&self, lane: Lane, waiting_max: usize) -> Option<usize> {
        let own = self.callers.get(&lane).map_or(0, |caller| caller.waiting.len());
        if self.waiting >= waiting_max {
            return Some(self.waiting);
        }
        (own >= self.of_one.waiting_max).then_some(own)
    }

    /// Lets a job wait.
    pub(super) fn push(&mut self, lane: Lane, job: J) {
        let new = || Caller { waiting: VecDeque::new(), running: 0 };
        let caller = self.callers.entry(lane).or_insert_with(new);
        if caller.waiting.is_empty() {
            self.turns.push_back(lane);
        }
        caller.waiting.push_back(job);
        self.waiting += 1;
    }

    /// The next job, which is at work until [`Line::end`]; none where all who wait have as many as they may.
    pub(super) fn take(&mut self) -> Option<(Lane, J)> {
        let running = |lane: &Lane| self.callers.get(lane).map_or(0, |caller| caller.running);
        let turns = self.turns.iter().enumerate().map(|(at, lane)| (running(lane), at));
        let (_, at) = turns.filter(|(running, _)| *running < self.of_one.running_max).min()?;
        let lane = self.turns.remove(at)?;
        let caller = self.callers.get_mut(&lane)?;
        let job = caller.waiting.pop_front()?;
        caller.running += 1;
        self.waiting -= 1;
        if !caller.waiting.is_empty() {
            self.turns.push_back(lane);
        }
        Some((lane, job))
    }

    /// A job that was taken has ended.
    pub(super) fn end(&mut self, lane: Lane) {
        let Some(caller) = self.callers.get_mut(&lane) else { return };
        caller.running -= 1;
        if caller.running == 0 && caller.waiting.is_empty() {
            self.callers.remove(&lane);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANY: Lane = Lane(1);
    const FEW: Lane = Lane(2);
    const THIRD: Lane = Lane(3);

    fn line(running_max: usize) -> Line<&'static str> {
        Line::new(OfOne { running_max, waiting_max: 4 })
    }

    #[test]
    fn callers_have_turns_and_each_its_own_order() {
        let mut line = line(9);
        for job in ["a1", "a2", "a3", "a4"] {
            line.push(MANY, job);
        }
        line.push(FEW, "b1");
        line.push(THIRD, "c1");
        let mut order = Vec::new();
        while let Some((lane, job)) = line.take() {
            order.push(job);
            line.end(lane);
            // Who comes back after a turn stands behind those who still wait for one.
            if job == "b1" {
                line.push(FEW, "b2");
            }
        }
        assert_eq!(order, ["a1", "b1", "c1", "a2", "b2", "a3", "a4"]);
        assert!(line.callers.is_empty(), "who has nothing is forgotten");
    }

    #[test]
    fn who_has_fewest_at_work_is_next_and_nobody_has_all() {
        let mut line = line(3);
        for job in ["a1", "a2", "a3", "a4"] {
            line.push(MANY, job);
        }
        let take = |line: &mut Line<_>| line.take().map(|(_, job)| job);
        assert_eq!([take(&mut line), take(&mut line)], [Some("a1"), Some("a2")]);
        line.push(FEW, "b1");
        line.push(FEW, "b2");
        // Its turn would be later than that of the first; but it has none at work.
        assert_eq!([take(&mut line), take(&mut line)], [Some("b1"), Some("b2")]);
        assert_eq!(take(&mut line), Some("a3"));
        assert_eq!((take(&mut line), line.len()), (None, 1), "three of one caller are at work");
        line.end(MANY);
        assert_eq!(take(&mut line), Some("a4"));
    }

    #[test]
    fn who_lets_too_many_wait_is_refused_and_others_are_not() {
        let mut line = line(1);
        for job in ["a1", "a2", "a3", "a4"] {
            assert_eq!(line.crowd(MANY, 6), None);
            line.push(MANY, job);
        }
        assert_eq!((line.crowd(MANY, 6), line.crowd(FEW, 6)), (Some(4), None));
        line.push(FEW, "b1");
        line.push(FEW, "b2");
        assert_eq!(line.crowd(THIRD, 6), Some(6), "so many wait in all");
    }
}
