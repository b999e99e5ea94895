//! What changes while a log is open: what is forming, what is under way, what is synced.
//!
//! Always true
//! 1. Records stand in the order of their appends: told, under way, forming.
//! 2. `unsynced_bytes` is the sum of what is forming and under way.
//! 3. After a failure nothing is forming or under way.
//!
//! When a batch starts: at once where none is under way; while one is, only when it is worth a
//! sync of its own (twice the records, or 256 KiB). Why: with many writers a batch of one would
//! start as soon as the first of them is back, and the others would share the sync after it.
//! Letting the rest start as a second, larger batch costs one more sync and saves everybody half a
//! wait; letting every few start their own would bring back one sync a write. (`bench/src/bin/log`
//! measures it.)
//!
//! Not here: carrying it out (`commit`).

use std::collections::VecDeque;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use base::planted::{Fault, planted};
use env::Env;

use crate::extent::Extent;
use crate::frame;
use crate::group::Group;
use crate::rotate::Files;
use crate::{Error, IN_FLIGHT_MAX, LogPosition, Record, Result};

/// A batch takes no further record beyond this. (One record alone may be larger.)
const BATCH_BYTES_MAX: usize = 4 << 20;

/// A batch of this size starts though others are under way.
const BATCH_BYTES_WORTH: usize = 256 << 10;

/// The last batch that was built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Last {
    pub(crate) position: LogPosition,
    /// Its header checksum.
    pub(crate) checksum: u32,
    /// The newest batch that has records: this one or one before.
    pub(crate) records: LogPosition,
}

/// Records that will make a batch.
pub(crate) struct Forming {
    pub(crate) records: Vec<Record>,
    pub(crate) bytes: usize,
    pub(crate) group: Rc<Group>,
    /// When it is to start at the latest.
    pub(crate) due: Duration,
}

/// A batch under way.
pub(crate) struct Flight {
    pub(crate) position: LogPosition,
    pub(crate) record_count: usize,
    pub(crate) bytes: usize,
    pub(crate) group: Rc<Group>,
    pub(crate) landed: bool,
}

/// All that changes while a log is open.
pub(crate) struct State<E: Env> {
    pub(crate) files: Files<E>,
    forming: VecDeque<Forming>,
    in_flight: VecDeque<Flight>,
    pub(crate) last: Last,
    synced: LogPosition,
    pub(crate) term: u64,
    unsynced_bytes: usize,
    extent: Extent,
    /// When the last batch landed.
    quiet_since: Duration,
    /// There was no room to say that this batch is synced.
    pub(crate) hushed: LogPosition,
    failure: Option<Error>,
    /// Told when the log is closed.
    closing: Option<Rc<Group>>,
    closed: bool,
    /// Told when the log goes on in a small file.
    pub(crate) fresh: Option<Rc<Group>>,
    /// The committer, and who waits until a file is made.
    sleepers: Vec<Waker>,
    watchers: Vec<Waker>,
}

/// What the committer does next.
pub(crate) enum Step {
    /// Writes what is forming.
    Batch,
    /// Says in an empty batch up to where the log is synced.
    Say,
    /// Goes on in a small file.
    Fresh,
    /// Nothing more, ever.
    End,
    /// Nothing before something changes.
    Wait,
    /// Nothing before something changes, or that time.
    WaitUntil(Duration),
}

impl<E: Env> State<E> {
    pub(crate) fn new(
        files: Files<E>,
        last: Last,
        extent: Extent,
        term: u64,
        now: Duration,
    ) -> Self {
        Self {
            files,
            forming: VecDeque::new(),
            in_flight: VecDeque::new(),
            last,
            synced: last.position,
            term,
            unsynced_bytes: 0,
            extent,
            quiet_since: now,
            hushed: LogPosition::ZERO,
            failure: None,
            closing: None,
            closed: false,
            fresh: None,
            sleepers: Vec::new(),
            watchers: Vec::new(),
        }
    }

    pub(crate) fn check_open(&self) -> Result<()> {
        match &self.failure {
            Some(failure) => Err(failure.clone()),
            None if self.closing.is_some() => Err(Error::Closed),
            None => Ok(()),
        }
    }

    pub(crate) fn unsynced_bytes(&self) -> usize {
        self.unsynced_bytes
    }

    pub(crate) fn synced(&self) -> LogPosition {
        self.synced
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.extent.bytes()
    }

    pub(crate) fn failure(&self) -> Option<Error> {
        self.failure.clone()
    }

    pub(crate) fn in_flight_is_empty(&self) -> bool {
        self.in_flight.is_empty()
    }

    /// Whether a record of `bytes` will find room, as far as is known.
    pub(crate) fn has_room_for(&self, bytes: usize) -> bool {
        let waiting: usize = self.forming.iter().map(|f| frame::batch_bytes(f.bytes)).sum();
        // At worst it makes a batch of its own.
        self.files.may_hold((waiting + frame::batch_bytes(bytes)) as u64)
    }

    /// Whether it will find some for sure.
    pub(crate) fn surely_has_room_for(&self, bytes: usize) -> bool {
        let waiting: usize = self.forming.iter().map(|f| frame::batch_bytes(f.bytes)).sum();
        self.files.holds((waiting + frame::batch_bytes(bytes)) as u64)
    }

    pub(crate) fn take_in(&mut self, record: Record, bytes: usize, due: Duration) -> Rc<Group> {
        // Short files take short batches, so that few bytes at their end stay unused.
        let bytes_max = BATCH_BYTES_MAX.min(self.files.active().len as usize / 4);
        let joins = self.forming.back().is_some_and(|last| last.bytes + bytes <= bytes_max);
        if !joins {
            self.forming.push_back(Forming {
                records: Vec::new(),
                bytes: 0,
                group: Rc::default(),
                due,
            });
        }
        let forming = self.forming.back_mut().expect("pushed where there was none");
        forming.records.push(record);
        forming.bytes += bytes;
        forming.due = forming.due.min(due);
        let group = Rc::clone(&forming.group);
        self.unsynced_bytes += bytes;
        self.wake_committer();
        group
    }

    /// Lets what is forming start at once; answers the last group that is not told yet.
    pub(crate) fn hurry(&mut self) -> Option<Rc<Group>> {
        if let Some(last) = self.forming.back_mut() {
            last.due = Duration::ZERO;
            let group = Rc::clone(&last.group);
            self.wake_committer();
            return Some(group);
        }
        self.in_flight.back().map(|flight| Rc::clone(&flight.group))
    }

    /// Batches up to `through` are not needed. Where that is all of them, and the file is large,
    /// the log goes on in a small one: the answer is told then.
    pub(crate) fn release(
        &mut self,
        through: LogPosition,
        file_bytes_min: u64,
    ) -> Option<Rc<Group>> {
        let all = through >= self.last.records;
        self.files.release(if all { self.last.position } else { through });
        self.extent.release(through, all);
        let idle = self.forming.is_empty() && self.in_flight.is_empty();
        if !all || !idle || self.files.active().len <= file_bytes_min {
            return None;
        }
        let group = Rc::clone(self.fresh.get_or_insert_default());
        self.wake_committer();
        Some(group)
    }

    pub(crate) fn close(&mut self) -> Rc<Group> {
        let group = Rc::clone(self.closing.get_or_insert_default());
        if let Some(failure) = &self.failure {
            group.tell(Err(failure.clone()));
        }
        self.wake_committer();
        group
    }

    pub(crate) fn poll_failure(
        &mut self,
        slot: &mut Option<usize>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Error>> {
        if self.failure.is_some() || self.closed {
            return Poll::Ready(self.failure.clone());
        }
        match slot {
            Some(at) => self.watchers[*at].clone_from(context.waker()),
            None => {
                *slot = Some(self.watchers.len());
                self.watchers.push(context.waker().clone());
            }
        }
        Poll::Pending
    }

    pub(crate) fn wake_committer(&mut self) {
        self.sleepers.drain(..).for_each(Waker::wake);
    }

    pub(crate) fn sleep_committer(&mut self, context: &Context<'_>) {
        // Another may sleep here too: whoever takes its place would sleep on for both.
        if !self.sleepers.iter().any(|sleeper| sleeper.will_wake(context.waker())) {
            self.sleepers.push(context.waker().clone());
        }
    }

    /// Takes what formed first, to be written.
    pub(crate) fn take_first(&mut self) -> Option<Forming> {
        self.forming.pop_front()
    }

    /// A batch with this header was built; `flight` begins.
    pub(crate) fn begin(&mut self, checksum: u32, batch_bytes: usize, flight: Flight) {
        let position = flight.position;
        assert_eq!(position, self.last.position.next(), "positions have no gap");
        let records = if flight.record_count == 0 { self.last.records } else { position };
        self.last = Last { position, checksum, records };
        self.extent.add(position, batch_bytes as u64);
        self.in_flight.push_back(flight);
        assert!(self.in_flight.len() as u64 <= IN_FLIGHT_MAX);
    }

    /// The batch `position` is synced. Answers whom to tell: all up to the first that is not.
    pub(crate) fn land(&mut self, position: LogPosition, now: Duration) -> Vec<Flight> {
        let mut told = Vec::new();
        if self.failure.is_some() {
            return told;
        }
        let flight = self.in_flight.iter_mut().find(|flight| flight.position == position);
        flight.expect("it is under way until it lands").landed = true;
        if planted(Fault::AcknowledgeOutOfOrder) {
            let landed = self.in_flight.iter().filter(|flight| flight.landed);
            landed.for_each(|flight| flight.group.tell(Ok(flight.position)));
        }
        while let Some(flight) = self.in_flight.pop_front_if(|flight| flight.landed) {
            assert_eq!(flight.position, self.synced.next(), "groups are told in log order");
            self.synced = flight.position;
            self.unsynced_bytes -= flight.bytes;
            told.push(flight);
        }
        self.quiet_since = now;
        self.wake_committer();
        told
    }

    /// The log takes nothing any more. Answers whom to tell; nobody where it has failed before.
    pub(crate) fn fail(&mut self, error: Error) -> (Vec<Rc<Group>>, Vec<Waker>) {
        if self.failure.is_some() {
            return (Vec::new(), Vec::new());
        }
        self.failure = Some(error);
        let mut groups: Vec<Rc<Group>> = Vec::new();
        groups.extend(self.in_flight.drain(..).map(|flight| flight.group));
        groups.extend(self.forming.drain(..).map(|forming| forming.group));
        groups.extend(self.fresh.take());
        groups.extend(self.closing.clone());
        self.unsynced_bytes = 0;
        self.wake_committer();
        (groups, std::mem::take(&mut self.watchers))
    }

    /// Nothing follows any more. Answers who waits for that, and what they are told.
    pub(crate) fn end(&mut self) -> Option<(Rc<Group>, Result<LogPosition>)> {
        self.closed = true;
        self.watchers.drain(..).for_each(Waker::wake);
        let told = self.failure.clone().map_or(Ok(self.synced), Err);
        self.closing.clone().map(|group| (group, told))
    }

    /// What to do now, or when to ask again.
    pub(crate) fn step(&self, now: Duration, idle_after: Duration) -> Step {
        if self.failure.is_some() || self.closed {
            return Step::End;
        }
        if self.in_flight.len() as u64 >= IN_FLIGHT_MAX {
            return Step::Wait;
        }
        let closing = self.closing.is_some();
        if let Some(first) = self.forming.front() {
            let due = self.forming.iter().map(|forming| forming.due).min().expect("there is one");
            let full = self.forming.len() > 1;
            if !(closing || full || due <= now) {
                return Step::WaitUntil(due);
            }
            let most = self.in_flight.iter().map(|flight| flight.record_count).max();
            let worth = most.is_none_or(|most| {
                full || first.bytes >= BATCH_BYTES_WORTH || first.records.len() >= 2 * most.max(1)
            });
            return if worth { Step::Batch } else { Step::Wait };
        }
        if !self.in_flight.is_empty() {
            return Step::Wait;
        }
        if self.fresh.is_some() {
            return Step::Fresh;
        }
        // An empty batch tells all before it; so it needs none behind it.
        let said = self.last.position > self.last.records || self.last.position == self.hushed;
        match (said, closing) {
            (true, true) => Step::End,
            (true, false) => Step::Wait,
            (false, true) => Step::Say,
            (false, false) if self.quiet_since + idle_after <= now => Step::Say,
            (false, false) => Step::WaitUntil(self.quiet_since + idle_after),
        }
    }
}
