//! What runs and waits in each lane, and which goes next: plain data, changed by [`super::Turns`].

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use base::hash::Map;

use super::{BUSY_LEAST, BUSY_MAX, Lane, Load, RUNNING_MAX, Task, TaskWaker};

/// A task that has used a processor for longer is slow.
const SLOW: Duration = Duration::from_millis(20);

/// Turns of tasks that are not slow, for one of a slow task in the same lane.
const TURNS_A_SLOW_ONE: u32 = 3;

/// For so long a task is young.
pub(super) const YOUNG: Duration = Duration::from_millis(100);

/// A lane that did nothing for so long is forgotten.
const REST: Duration = Duration::from_secs(1);

/// Beside other lanes, one that has more than this part of a core waits for its turns.
const HEAVY_SHARE: u64 = 8;

/// All lanes of a core, and all tasks in them.
#[derive(Default)]
pub(super) struct State {
    pub(super) lanes: Map<Lane, LaneState>,
    /// Lanes with something to run, by the time that they have had.
    pub(super) line: BTreeSet<(u64, Lane)>,
    pub(super) slots: Vec<Slot>,
    pub(super) free: Vec<usize>,
    /// Tasks that were ever put in.
    pub(super) put_count: u64,
    /// What the lane that went last had had: where others begin, less the credit.
    now: u64,
    credit: u64,
    pub(super) load: Load,
    pub(super) is_driven: bool,
    swept: Duration,
    /// So many of a lane may be busy where one more begins.
    pub(super) busy_max: usize,
    /// Memory that those of a lane may take together; zero where nobody says so.
    pub(super) share_bytes: usize,
}

/// One lane.
#[derive(Default)]
pub(super) struct LaneState {
    /// Nanoseconds it has had, moved up to where the others are after each rest.
    had: u64,
    /// Its place in the line, where it has one.
    in_line: Option<u64>,
    /// Tasks that are woken: those that are not slow, and those that are.
    ready: VecDeque<usize>,
    slow: VecDeque<usize>,
    /// Turns since a slow one had one.
    since_slow: u32,
    pub(super) waiting: VecDeque<(usize, Duration)>,
    /// When the tasks that are young began.
    young: VecDeque<Duration>,
    /// Tasks that have begun.
    pub(super) running: usize,
    /// Those of them that wait for a processor elsewhere.
    pub(super) held: usize,
    /// Those of them that wait for the disk, and are not young for that.
    pub(super) resting: usize,
    /// When one last began, and the mean time between two, while some wait.
    pub(super) begun: Duration,
    pub(super) between: Duration,
    /// When it was last seen, and what it has had of late: halves every 100 ms.
    seen: Duration,
    recent: u64,
    /// What its tasks took of memory of late, the greatest of them.
    pub(super) took_bytes: usize,
}

/// The place of one task.
pub(super) struct Slot {
    pub(super) lane: Lane,
    pub(super) task: Option<Task>,
    pub(super) is_begun: bool,
    /// When its turn first came, while it counts as young.
    pub(super) young: Option<Duration>,
    /// How much time it has had.
    pub(super) used: Duration,
    pub(super) waker: Arc<TaskWaker>,
}

/// What the driver does next.
pub(super) enum Next {
    Poll(usize),
    /// A lane may begin another when one of its tasks is young no more.
    Sleep,
    End,
}

impl State {
    /// Nothing runs; who comes back is ahead by `credit` nanoseconds.
    pub(super) fn new(credit: u64) -> Self {
        Self { credit, busy_max: BUSY_MAX, ..Self::default() }
    }

    /// A lane; one that was at rest begins a little before where the others are.
    pub(super) fn lane(&mut self, lane: Lane, now: Duration) -> &mut LaneState {
        let at = self.now.saturating_sub(self.credit);
        let known = self.lanes.entry(lane).or_default();
        if known.in_line.is_none() && known.had < at {
            known.had = at;
        }
        let halves = now.saturating_sub(known.seen).as_nanos() / YOUNG.as_nanos();
        if halves > 0 {
            known.recent =
                u32::try_from(halves).map_or(0, |n| known.recent.checked_shr(n).unwrap_or(0));
            known.seen = now;
        }
        known
    }

    pub(super) fn charge(&mut self, lane: Lane, now: Duration, took: Duration) {
        let took = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX).max(1);
        let known = self.lane(lane, now);
        known.had = known.had.saturating_add(took);
        known.recent = known.recent.saturating_add(took);
    }

    /// Puts the lane at its place in the line, or takes it out where it has nothing to run.
    pub(super) fn line_up(&mut self, lane: Lane, now: Duration) {
        let most = (self.busy_max, self.share_bytes);
        let Some(known) = self.lanes.get_mut(&lane) else { return };
        let busy_max = known.busy_max(most);
        if let Some(had) = known.in_line.take() {
            self.line.remove(&(had, lane));
        }
        if !known.ready.is_empty() || !known.slow.is_empty() || known.may_begin(now, busy_max) {
            known.in_line = Some(known.had);
            self.line.insert((known.had, lane));
        }
    }

    pub(super) fn next(&mut self, now: Duration) -> Next {
        if self.line.is_empty() && self.load.waiting > 0 {
            // Somebody may have grown old.
            let held: Vec<Lane> = self
                .lanes
                .iter()
                .filter(|(_, it)| !it.waiting.is_empty())
                .map(|(lane, _)| *lane)
                .collect();
            for lane in held {
                self.line_up(lane, now);
            }
        }
        let Some((had, lane)) = self.line.pop_first() else {
            if self.load == Load::default() {
                self.is_driven = false;
                return Next::End;
            }
            return Next::Sleep;
        };
        self.now = self.now.max(had);
        let most = (self.busy_max, self.share_bytes);
        let Some(known) = self.lanes.get_mut(&lane) else { return Next::Sleep };
        let busy_max = known.busy_max(most);
        known.in_line = None;
        if let Some(at) = known.take_ready(now, busy_max) {
            return Next::Poll(at);
        }
        let begins = known.may_begin(now, busy_max);
        let Some((at, _)) = begins.then(|| known.waiting.pop_front()).flatten() else {
            self.line_up(lane, now);
            return self.next(now);
        };
        let since = now.saturating_sub(known.begun);
        known.between = known.between.saturating_mul(7).saturating_add(since) / 8;
        known.begun = now;
        known.running += 1;
        known.young.push_back(now);
        self.slots[at].is_begun = true;
        self.slots[at].young = Some(now);
        self.load.waiting -= 1;
        self.load.running += 1;
        Next::Poll(at)
    }

    /// This task does not count as young from now on.
    pub(super) fn grow_up(&mut self, at: usize) {
        let slot = &mut self.slots[at];
        if let Some(begun) = slot.young.take()
            && let Some(known) = self.lanes.get_mut(&slot.lane)
            && let Some(place) = known.young.iter().position(|it| *it == begun)
        {
            known.young.remove(place);
        }
    }

    /// Forgets lanes that rest.
    pub(super) fn sweep(&mut self, now: Duration) {
        if now.saturating_sub(self.swept) < REST {
            return;
        }
        self.swept = now;
        self.lanes.retain(|_, lane| {
            lane.running > 0
                || lane.held > 0
                || !lane.waiting.is_empty()
                || now.saturating_sub(lane.seen) < REST
        });
    }
}

impl LaneState {
    /// It has had little of late.
    pub(super) fn is_light(&self) -> bool {
        self.recent < YOUNG.as_nanos() as u64 * 2 / HEAVY_SHARE
    }

    /// How many may be busy when one more begins: of `most`, those for which there is memory.
    fn busy_max(&self, (most, share_bytes): (usize, usize)) -> usize {
        match share_bytes.checked_div(self.took_bytes) {
            Some(fit) if share_bytes > 0 => most.min(fit.max(BUSY_LEAST)),
            _ => most,
        }
    }

    /// A task was woken that has had so much time.
    pub(super) fn wake(&mut self, at: usize, used: Duration) {
        if used >= SLOW { &mut self.slow } else { &mut self.ready }.push_back(at);
    }

    /// The task that goes on; none where one that waits may begin now. Tasks go on in the order in which
    /// they were woken, so that the first ends first, and what it holds comes back; slow ones have a
    /// part beside them.
    fn take_ready(&mut self, now: Duration, busy_max: usize) -> Option<usize> {
        let others = !self.ready.is_empty() || self.may_begin(now, busy_max);
        if !self.slow.is_empty() && (!others || self.since_slow >= TURNS_A_SLOW_ONE) {
            self.since_slow = 0;
            return self.slow.pop_front();
        }
        self.since_slow = if self.slow.is_empty() { 0 } else { self.since_slow + 1 };
        self.ready.pop_front()
    }

    fn may_begin(&mut self, now: Duration, busy_max: usize) -> bool {
        if self.waiting.is_empty() {
            return false;
        }
        while self.young.front().is_some_and(|begun| now.saturating_sub(*begun) >= YOUNG) {
            self.young.pop_front();
        }
        self.young.len() < RUNNING_MAX && self.ready.len() + self.slow.len() + self.held < busy_max
    }
}
