//! Group commit: one committer gathers what was appended into batches, and tells each group when
//! its batch and all before it are synced.
//!
//! Always true
//! 1. At most [`IN_FLIGHT_MAX`] batches are under way; groups are told in log order.
//! 2. A batch under way is alone, or one that overtakes nothing: while one is under way, the next
//!    starts only when it is worth a sync of its own (twice the records, or 256 KiB).
//! 3. After a failure nobody is told anything but the failure.
//!
//! Why 2: with many writers a batch of one would start as soon as the first of them is back, and
//! the others would share the sync after it. Letting the rest start as a second, larger batch
//! costs one more sync and saves everybody half a wait; letting every few start their own would
//! bring back one sync a write.
//!
//! Not here: files (`rotate`), bytes (`frame`).

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use env::{Clock, Env, File, Spawn};

use crate::extent::Extent;
use crate::frame::{self, BLOCK, Place};
use crate::group::Group;
use crate::rotate::Files;
use crate::writer::Inner;
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
struct Forming {
    records: Vec<Record>,
    bytes: usize,
    group: Rc<Group>,
    /// When it is to start at the latest.
    due: Duration,
}

/// A batch under way.
struct Flight {
    position: LogPosition,
    record_count: usize,
    bytes: usize,
    group: Rc<Group>,
    landed: bool,
}

/// All that changes while a log is open.
pub(crate) struct State<E: Env> {
    pub(crate) files: Files<E>,
    forming: VecDeque<Forming>,
    in_flight: VecDeque<Flight>,
    last: Last,
    synced: LogPosition,
    term: u64,
    unsynced_bytes: usize,
    extent: Extent,
    /// When the last batch landed.
    quiet_since: Duration,
    /// There was no room to say that this batch is synced.
    hushed: LogPosition,
    failure: Option<Error>,
    /// Told when the log is closed.
    closing: Option<Rc<Group>>,
    closed: bool,
    /// Told when the log goes on in a small file.
    fresh: Option<Rc<Group>>,
    committer: Option<Waker>,
    watchers: Vec<Waker>,
}

/// What the committer does next.
enum Step {
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
            committer: None,
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
    ) -> Poll<Error> {
        if let Some(failure) = &self.failure {
            return Poll::Ready(failure.clone());
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
        if let Some(waker) = self.committer.take() {
            waker.wake();
        }
    }

    pub(crate) fn sleep_committer(&mut self, context: &Context<'_>) {
        self.committer = Some(context.waker().clone());
    }

    /// What to do now, or when to ask again.
    fn step(&self, now: Duration, idle_after: Duration) -> Step {
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

impl<E: Env> Inner<E> {
    /// The committer: runs until the log is closed or fails.
    pub(crate) async fn commit(self: Rc<Self>) {
        let mut alarm = Alarm::default();
        loop {
            let done = match self.next_step(&mut alarm).await {
                Step::End => break,
                Step::Wait | Step::WaitUntil(_) => unreachable!("it waits itself"),
                Step::Fresh => self.go_on_in_a_small_file().await,
                Step::Say => self.say().await,
                Step::Batch => {
                    let forming = self.state.borrow_mut().forming.pop_front();
                    let forming = forming.expect("a batch is forming");
                    let Forming { records, bytes, group, .. } = forming;
                    self.write(records, bytes, group).await
                }
            };
            if let Err(error) = done {
                self.fail(error);
            }
        }
        // Whoever closed the log may remove its folder next.
        self.made().await;
        let closing = {
            let mut state = self.state.borrow_mut();
            state.closed = true;
            state.closing.clone().map(|group| (group, state.synced, state.failure.clone()))
        };
        if let Some((group, synced, failure)) = closing {
            group.tell(failure.map_or(Ok(synced), Err));
        }
    }

    async fn next_step(&self, alarm: &mut Alarm) -> Step {
        poll_fn(|context| {
            let mut state = self.state.borrow_mut();
            loop {
                let now = self.env.clock().monotonic();
                match state.step(now, self.config.idle_after) {
                    Step::Wait => break,
                    Step::WaitUntil(at) if alarm.rings(&self.env, now, at, context) => {}
                    Step::WaitUntil(_) => break,
                    step => return Poll::Ready(step),
                }
            }
            state.sleep_committer(context);
            Poll::Pending
        })
        .await
    }

    /// Builds a batch and lets it start; the group is told when it has landed.
    pub(crate) async fn write(
        self: &Rc<Self>,
        records: Vec<Record>,
        payload_bytes: usize,
        group: Rc<Group>,
    ) -> Result<()> {
        let batch_bytes = frame::batch_bytes(payload_bytes);
        assert_eq!(batch_bytes % BLOCK, 0);
        if let Err(error) = self.make_room(batch_bytes as u64).await {
            group.tell(Err(error.clone()));
            return Err(error);
        }
        let mut state = self.state.borrow_mut();
        if let Some(failure) = &state.failure {
            group.tell(Err(failure.clone()));
            return Ok(());
        }
        let position = state.last.position.next();
        let (file, offset) = state.files.place(position, batch_bytes as u64);
        let place = Place {
            position,
            term: state.term,
            synced: state.synced,
            file: file.id,
            shard: self.config.shard,
            previous_checksum: state.last.checksum,
            records_before: state.last.records,
        };
        let mut buffer = file.file.buffer(batch_bytes);
        let checksum = frame::write(&place, &records, buffer.as_mut());
        let records_last = if records.is_empty() { state.last.records } else { position };
        state.last = Last { position, checksum, records: records_last };
        state.extent.add(position, batch_bytes as u64);
        state.in_flight.push_back(Flight {
            position,
            record_count: records.len(),
            bytes: payload_bytes,
            group,
            landed: false,
        });
        assert!(state.in_flight.len() as u64 <= IN_FLIGHT_MAX);
        drop(state);
        let inner = Rc::clone(self);
        self.env.spawn().spawn(async move {
            let written = async {
                file.file.write_at(buffer, offset).await?;
                file.file.sync_data().await
            };
            match written.await {
                Ok(()) => inner.landed(position),
                Err(error) if error.kind == env::ErrorKind::NoSpace => {
                    inner.fail(Error::Starved(error));
                }
                Err(error) => inner.fail(Error::Failed(error)),
            }
        });
        if self.state.borrow().files.wants_next(self.env.clock().monotonic()) {
            self.prepare_next();
        }
        Ok(())
    }

    /// Writes an empty batch, whose header says that the last one is synced.
    async fn say(self: &Rc<Self>) -> Result<()> {
        {
            let mut state = self.state.borrow_mut();
            if !state.files.has_room_for_a_word() {
                // Not worth a new file, and no reason to fail on a full disk.
                state.hushed = state.last.position;
                return Ok(());
            }
        }
        self.write(Vec::new(), 0, Rc::default()).await
    }

    /// A batch is synced: all groups up to the first that is not are told.
    fn landed(&self, position: LogPosition) {
        let mut told = Vec::new();
        {
            let mut state = self.state.borrow_mut();
            if state.failure.is_some() {
                return;
            }
            let flight = state.in_flight.iter_mut().find(|flight| flight.position == position);
            flight.expect("it is under way until it lands").landed = true;
            while state.in_flight.front().is_some_and(|flight| flight.landed) {
                let flight = state.in_flight.pop_front().expect("looked at above");
                assert_eq!(flight.position, state.synced.next(), "groups are told in log order");
                state.synced = flight.position;
                state.unsynced_bytes -= flight.bytes;
                told.push((flight.group, flight.position));
            }
            state.quiet_since = self.env.clock().monotonic();
            state.wake_committer();
        }
        for (group, position) in told {
            group.tell(Ok(position));
        }
    }

    /// The log takes nothing any more; all who wait are told why.
    pub(crate) fn fail(&self, error: Error) {
        let (groups, watchers) = {
            let mut state = self.state.borrow_mut();
            if state.failure.is_some() {
                return;
            }
            state.failure = Some(error.clone());
            let mut groups: Vec<Rc<Group>> = Vec::new();
            groups.extend(state.in_flight.drain(..).map(|flight| flight.group));
            groups.extend(state.forming.drain(..).map(|forming| forming.group));
            groups.extend(state.fresh.take());
            groups.extend(state.closing.clone());
            state.wake_committer();
            (groups, std::mem::take(&mut state.watchers))
        };
        for group in groups {
            group.tell(Err(error.clone()));
        }
        for waker in watchers {
            waker.wake();
        }
    }

    /// The log goes on in a file of the smallest size, whose first batch is empty.
    async fn go_on_in_a_small_file(self: &Rc<Self>) -> Result<()> {
        let fresh = self.state.borrow_mut().fresh.take().expect("somebody asked for it");
        let started = self.start_small_file().await;
        if let Err(error) = started {
            fresh.tell(Err(error.clone()));
            return if error.is_refusal() { Ok(()) } else { Err(error) };
        }
        self.write(Vec::new(), 0, fresh).await
    }
}

type Sleep = Pin<Box<dyn Future<Output = ()>>>;

/// A sleep that is kept while it is early enough.
#[derive(Default)]
struct Alarm {
    set: Option<(Duration, Sleep)>,
}

impl Alarm {
    /// True where it is time to look again; else `context` is woken at `at` or before.
    fn rings<E: Env>(
        &mut self,
        env: &E,
        now: Duration,
        at: Duration,
        context: &mut Context<'_>,
    ) -> bool {
        if self.set.as_ref().is_none_or(|(set, _)| *set > at) {
            let clock = env.clock().clone();
            let pause = at.saturating_sub(now);
            self.set = Some((at, Box::pin(async move { clock.sleep(pause).await })));
        }
        let (_, sleep) = self.set.as_mut().expect("set above");
        let rings = sleep.as_mut().poll(context).is_ready();
        if rings {
            self.set = None;
        }
        rings
    }
}
