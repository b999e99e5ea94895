//! Jobs that wait for a thread, and which of them is next: plain data, changed under the lock of a pool.
//!
//! Always true
//! 1. Jobs of one caller begin in the order in which they came, but that costly ones may have to wait for those of
//!    all callers (rule 4) and others do not stand behind them.
//! 2. Next is a job of whoever has the fewest at work; among those of whoever waits the longest for a turn.
//! 3. Of one caller never more are at work, or wait, than [`OfOne`] says.
//! 4. Of costly jobs never more are at work than were given to [`Line::new`], whosever they are.

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
    /// Jobs that came.
    came: u64,
    /// Costly jobs at work, and how many may be.
    costly: usize,
    costly_max: usize,
}

/// What is known of how long a job takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// Nothing; or that it is bounded.
    Usual,
    /// It is long: seconds, perhaps.
    Long,
}

/// A job that was taken.
pub(super) struct Begun<J> {
    /// Whose it is.
    pub lane: Lane,
    /// How long it is.
    pub cost: Cost,
    /// What is to be done.
    pub job: J,
}

/// Jobs with their numbers, which rise.
type Numbered<J> = VecDeque<(u64, J)>;

/// Kept while it has a job that waits or is at work.
struct Caller<J> {
    usual: Numbered<J>,
    long: Numbered<J>,
    running: usize,
}

impl<J> Caller<J> {
    fn waiting(&self) -> usize {
        self.usual.len() + self.long.len()
    }

    /// Which of its jobs is next, where long ones may begin or not.
    fn next(&self, may_be_long: bool) -> Option<Cost> {
        let first = |jobs: &Numbered<J>| jobs.front().map(|(number, _)| *number);
        let long = first(&self.long).filter(|_| may_be_long);
        match (first(&self.usual), long) {
            (Some(usual), Some(long)) if long < usual => Some(Cost::Long),
            (Some(_), _) => Some(Cost::Usual),
            (None, long) => long.map(|_| Cost::Long),
        }
    }
}

impl<J> Line<J> {
    /// An empty one, of whose long jobs at most `costly_max` are at work beside each other.
    pub(super) fn new(of_one: OfOne, costly_max: usize) -> Self {
        Self {
            of_one,
            callers: BTreeMap::new(),
            turns: VecDeque::new(),
            waiting: 0,
            came: 0,
            costly: 0,
            costly_max,
        }
    }

    /// Jobs that wait.
    pub(super) fn len(&self) -> usize {
        self.waiting
    }

    /// Jobs that wait too many to take one more of this caller in, where `waiting_max` may wait in all.
    pub(super) fn crowd(&self, lane: Lane, waiting_max: usize) -> Option<usize> {
        let own = self.callers.get(&lane).map_or(0, Caller::waiting);
        if self.waiting >= waiting_max {
            return Some(self.waiting);
        }
        (own >= self.of_one.waiting_max).then_some(own)
    }

    /// Lets a job wait.
    pub(super) fn push(&mut self, lane: Lane, cost: Cost, job: J) {
        let new = || Caller { usual: VecDeque::new(), long: VecDeque::new(), running: 0 };
        let caller = self.callers.entry(lane).or_insert_with(new);
        if caller.waiting() == 0 {
            self.turns.push_back(lane);
        }
        let jobs = match cost {
            Cost::Usual => &mut caller.usual,
            Cost::Long => &mut caller.long,
        };
        jobs.push_back((self.came, job));
        self.came += 1;
        self.waiting += 1;
    }

    /// The next job, which is at work until [`Line::end`]; none where all who wait have as many as they may.
    pub(super) fn take(&mut self) -> Option<Begun<J>> {
        let may_be_long = self.costly < self.costly_max;
        let mut best: Option<(usize, usize, Cost)> = None;
        for (at, lane) in self.turns.iter().enumerate() {
            let Some(caller) = self.callers.get(lane) else { continue };
            let Some(cost) = caller.next(may_be_long) else { continue };
            let is_better = best.is_none_or(|(running, ..)| caller.running < running);
            if is_better && caller.running < self.of_one.running_max {
                best = Some((caller.running, at, cost));
            }
        }
        let (_, at, cost) = best?;
        let lane = self.turns.remove(at)?;
        let caller = self.callers.get_mut(&lane)?;
        let (_, job) = match cost {
            Cost::Usual => caller.usual.pop_front()?,
            Cost::Long => caller.long.pop_front()?,
        };
        caller.running += 1;
        self.costly += usize::from(cost == Cost::Long);
        self.waiting -= 1;
        if caller.waiting() > 0 {
            self.turns.push_back(lane);
        }
        Some(Begun { lane, cost, job })
    }

    /// A job that was taken has ended.
    pub(super) fn end(&mut self, lane: Lane, cost: Cost) {
        self.costly -= usize::from(cost == Cost::Long);
        let Some(caller) = self.callers.get_mut(&lane) else { return };
        caller.running -= 1;
        if caller.running == 0 && caller.waiting() == 0 {
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
        Line::new(OfOne { running_max, waiting_max: 4 }, usize::MAX)
    }

    #[test]
    fn callers_have_turns_and_each_its_own_order() {
        let mut line = line(9);
        for job in ["a1", "a2", "a3", "a4"] {
            line.push(MANY, Cost::Usual, job);
        }
        line.push(FEW, Cost::Usual, "b1");
        line.push(THIRD, Cost::Usual, "c1");
        let mut order = Vec::new();
        while let Some(Begun { lane, cost, job }) = line.take() {
            order.push(job);
            line.end(lane, cost);
            // Who comes back after a turn stands behind those who still wait for one.
            if job == "b1" {
                line.push(FEW, Cost::Usual, "b2");
            }
        }
        assert_eq!(order, ["a1", "b1", "c1", "a2", "b2", "a3", "a4"]);
        assert!(line.callers.is_empty(), "who has nothing is forgotten");
    }

    #[test]
    fn who_has_fewest_at_work_is_next_and_nobody_has_all() {
        let mut line = line(3);
        for job in ["a1", "a2", "a3", "a4"] {
            line.push(MANY, Cost::Usual, job);
        }
        let take = |line: &mut Line<_>| line.take().map(|begun| begun.job);
        assert_eq!([take(&mut line), take(&mut line)], [Some("a1"), Some("a2")]);
        line.push(FEW, Cost::Usual, "b1");
        line.push(FEW, Cost::Usual, "b2");
        // Its turn would be later than that of the first; but it has none at work.
        assert_eq!([take(&mut line), take(&mut line)], [Some("b1"), Some("b2")]);
        assert_eq!(take(&mut line), Some("a3"));
        assert_eq!((take(&mut line), line.len()), (None, 1), "three of one caller are at work");
        line.end(MANY, Cost::Usual);
        assert_eq!(take(&mut line), Some("a4"));
    }

    #[test]
    fn who_lets_too_many_wait_is_refused_and_others_are_not() {
        let mut line = line(1);
        for job in ["a1", "a2", "a3", "a4"] {
            assert_eq!(line.crowd(MANY, 6), None);
            line.push(MANY, Cost::Usual, job);
        }
        assert_eq!((line.crowd(MANY, 6), line.crowd(FEW, 6)), (Some(4), None));
        line.push(FEW, Cost::Usual, "b1");
        line.push(FEW, Cost::Usual, "b2");
        assert_eq!(line.crowd(THIRD, 6), Some(6), "so many wait in all");
    }
    /// Six indices of one caller had all workers with a document each of a minute.
    #[test]
    fn long_jobs_have_never_the_last_thread_and_nobody_stands_behind_them() {
        let mut line = Line::new(OfOne { running_max: 3, waiting_max: 4 }, 2);
        line.push(MANY, Cost::Long, "a1");
        line.push(FEW, Cost::Long, "b1");
        line.push(THIRD, Cost::Long, "c1");
        line.push(FEW, Cost::Usual, "b2");
        line.push(FEW, Cost::Long, "b3");
        line.push(FEW, Cost::Usual, "b4");
        let take = |line: &mut Line<_>| line.take().map(|begun| begun.job);
        assert_eq!([take(&mut line), take(&mut line)], [Some("a1"), Some("b1")]);
        assert_eq!([take(&mut line), take(&mut line)], [Some("b2"), Some("b4")]);
        assert_eq!((take(&mut line), line.len()), (None, 2), "two long ones are at work");
        line.end(FEW, Cost::Usual);
        assert_eq!(take(&mut line), None, "what ended was none of them");
        line.end(MANY, Cost::Long);
        assert_eq!(take(&mut line), Some("c1"));
        line.end(THIRD, Cost::Long);
        assert_eq!((take(&mut line), line.len()), (Some("b3"), 0));
    }
}
