//! Turns: the work of one core that callers asked for, shared out so that none of them takes more
//! than a fair part while others wait.
//!
//! Work stands in *lanes*, one for each caller. The lane that has had the least time goes next; a
//! lane that comes back after a rest begins where the others are, less [`CREDIT`] of what it did not
//! use: a short request runs through beside long ones, and nobody saves more than that up. A task
//! goes on until it waits or yields; then the next lane has its turn. So a caller who asks for
//! little is served as if alone, whatever others pile up.
//!
//! Always true
//! 1. Tasks of one lane begin in the order in which they came.
//! 2. Of one lane at most [`RUNNING_MAX`] young tasks run beside each other; older ones do not
//!    count, for they wait for something else, or are long themselves. But of those that are busy,
//!    which use a processor or wait for one here or elsewhere ([`Turns::hold`]), at most [`BUSY_MAX`]:
//!    tasks that are each a little too long would pile up without end, with all that they hold. Where
//!    memory is tight ([`Turns::look_at`]) of those at most [`BUSY_TIGHT`] run when one more begins: who are many
//!    take no less time together, and each holds what it has for all of that. Nor run more than have their share
//!    of memory, if each takes what the greatest of that lane took of late ([`Turns::took`]): of thirty that
//!    begin while memory is free, and are large in the end, each would lack what the others have. Small
//!    ones that wait for the disk ([`Turns::rest`]) do not count as young, up to [`RESTING_MAX`]: one
//!    sync is for all of them.
//! 3. What a lane may let wait is bounded: [`Turns::admits`] is asked before work is taken in.
//! 4. A task is polled by its core alone, and only while it was woken: it stands among those that are ready once
//!    at most, and not any more when it has ended. A wake that comes later is no other task's, whoever has its
//!    slot by then.
//!
//! Not here: what is no caller's work (logs, flushes, messages); it runs beside this.

use std::cell::{Cell, OnceCell, RefCell};
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use crate::sync::{AtomicBool, Mutex, Ordering, lock};
use crate::{Clock, Env, Spawn};

mod line;

use line::{LaneState, Next, Slot, State, YOUNG};

/// Young tasks of one lane that run beside each other.
pub const RUNNING_MAX: usize = 16;

/// Tasks of one lane that are busy beside each other, however old. One more begins where they are a few
/// less than this, so that one long task among many does not hold up the short ones behind it.
pub const BUSY_MAX: usize = 2 * RUNNING_MAX;

/// As [`BUSY_MAX`], where memory is tight.
pub const BUSY_TIGHT: usize = 4;

/// So many may be busy, however much memory each takes.
pub const BUSY_LEAST: usize = 2;

/// What tasks of a lane are thought to take decays by one part in so many with each that takes less.
const TOOK_PART: usize = 16;

/// A task that lacked memory is thought to take so much at least.
const LACKED_LEAST: usize = 1 << 20;

/// Tasks of one lane that wait for the disk beside its young ones: the more share a sync, the fewer syncs.
pub const RESTING_MAX: usize = 256;

/// What a lane is expected to wait, at most, for one more to be taken in.
pub const WAIT_MAX: Duration = Duration::from_secs(10);

/// Below so many that wait none is refused because of time.
const SURE: usize = 16;

/// So much time a lane that comes back is ahead of others, at most.
pub const CREDIT: Duration = Duration::from_millis(10);

/// Whose work it is: callers with the same number share one part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lane(pub u64);

impl Lane {
    /// The lane of what goes by such an id.
    pub fn of_id(id: [u8; 16]) -> Self {
        let id = u128::from_be_bytes(id);
        Self((id ^ (id >> 64)) as u64)
    }
}

/// No more of a lane is taken in now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crowded {
    /// How many wait.
    pub waiting: usize,
    /// How long one more would wait, as far as is known.
    pub wait: Duration,
}

/// What runs and waits; plain data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Tasks that have begun.
    pub running: usize,
    /// Tasks that wait for their beginning.
    pub waiting: usize,
    /// Lanes that did something lately.
    pub lanes: usize,
}

/// A task of a light lane that goes on by itself has the core for so long before what is nobody's turn is done there.
/// Beside a flood, or thousands of connections that send a byte now and then, a search waited for pieces of that at each
/// of its steps.
const LIGHT_STRETCH: Duration = Duration::from_micros(500);

/// What comes between a turn and the next.
enum After {
    /// Its lane is a light one among others, and what the task asked of others should go on.
    Steps,
    /// Its lane is a light one, and the task waits for nothing.
    Goes,
    /// Whatever is due.
    Others,
}

type Task = Pin<Box<dyn Future<Output = ()>>>;

/// The turns of one core; clones share them.
pub struct Turns<E: Env> {
    inner: Rc<Inner<E>>,
}

impl<E: Env> Clone for Turns<E> {
    fn clone(&self) -> Self {
        Self { inner: Rc::clone(&self.inner) }
    }
}

struct Inner<E: Env> {
    env: E,
    waiting_max: usize,
    state: RefCell<State>,
    woken: Arc<Woken>,
    /// The lane whose task runs now.
    current: Cell<Lane>,
    /// The place of that task, where it has one.
    place: Cell<Option<usize>>,
    /// Whether memory is tight, where somebody knows.
    is_tight: OnceCell<Box<dyn Fn() -> bool>>,
}

/// Tasks that were woken, and the driver where it sleeps.
#[derive(Default)]
struct Woken(Mutex<(Vec<Put>, Option<Waker>)>);

/// A task that was put in: its slot, and which of all tasks it is that were ever put in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Put {
    slot: usize,
    number: u64,
}

impl Woken {
    /// Notes that a task was woken.
    fn push(&self, task: Put) {
        let driver = {
            let mut woken = lock(&self.0);
            woken.0.push(task);
            woken.1.take()
        };
        if let Some(driver) = driver {
            driver.wake();
        }
    }

    /// Those that were woken since the last time.
    fn take(&self) -> Vec<Put> {
        std::mem::take(&mut lock(&self.0).0)
    }

    /// Ready where a task was woken, or `is_due` says so; else the driver is woken when one is.
    fn poll(&self, context: &Context<'_>, is_due: impl FnOnce() -> bool) -> Poll<()> {
        let mut woken = lock(&self.0);
        if !woken.0.is_empty() || is_due() {
            return Poll::Ready(());
        }
        woken.1 = Some(context.waker().clone());
        Poll::Pending
    }

    /// Wakes the driver, where it sleeps.
    fn rouse(&self) {
        let driver = lock(&self.0).1.take();
        if let Some(driver) = driver {
            driver.wake();
        }
    }
}

struct TaskWaker {
    task: Put,
    is_woken: AtomicBool,
    woken: Arc<Woken>,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.is_woken.swap(true, Ordering::AcqRel) {
            self.woken.push(self.task);
        }
    }
}

impl TaskWaker {
    /// The task is about to be polled: a wake from now on counts. Whoever woke it before, and found
    /// that somebody had, is seen by this poll: hence no plain store.
    fn rearm(&self) {
        self.is_woken.swap(false, Ordering::AcqRel);
    }
}

impl<E: Env> Turns<E> {
    /// Turns of a core; of one lane at most `waiting_max` tasks may wait.
    pub fn new(env: E, waiting_max: usize) -> Self {
        Self::with_credit(env, waiting_max, CREDIT)
    }

    /// As [`Turns::new`], with another credit than [`CREDIT`].
    pub fn with_credit(env: E, waiting_max: usize, credit: Duration) -> Self {
        let credit = u64::try_from(credit.as_nanos()).unwrap_or(u64::MAX);
        let inner = Inner {
            env,
            waiting_max,
            state: RefCell::new(State::new(credit)),
            woken: Arc::default(),
            current: Cell::default(),
            place: Cell::default(),
            is_tight: OnceCell::new(),
        };
        Self { inner: Rc::new(inner) }
    }

    /// From now on `is_tight` says whether memory is: it is asked before each turn. The first that is given counts.
    /// Tasks of one lane together are to take no more than `share_bytes` of it.
    pub fn look_at(&self, share_bytes: usize, is_tight: impl Fn() -> bool + 'static) {
        self.inner.state.borrow_mut().share_bytes = share_bytes;
        // Another one would say the same.
        self.inner.is_tight.set(Box::new(is_tight)).ok();
    }

    /// The task whose turn it is took so much memory, at its greatest.
    pub fn took(&self, bytes: usize) {
        self.weigh(|took, _| match took.checked_sub(bytes) {
            Some(less) => took - less.div_ceil(TOOK_PART),
            None => bytes,
        });
    }

    /// The task whose turn it is lacked memory: those of its lane take more than was thought.
    pub fn lacked(&self) {
        self.weigh(|took, share| (2 * took).max(LACKED_LEAST).min(share.max(LACKED_LEAST)));
    }

    /// What a task of the lane takes becomes what `took` makes of it and of the share.
    fn weigh(&self, took: impl FnOnce(usize, usize) -> usize) {
        let now = self.inner.env.clock().monotonic();
        let mut state = self.inner.state.borrow_mut();
        let share = state.share_bytes;
        let known = state.lane(self.current(), now);
        known.took_bytes = took(known.took_bytes, share);
    }

    /// The lane whose task runs now.
    pub fn current(&self) -> Lane {
        self.inner.current.get()
    }

    /// The task whose turn it is waits for a processor elsewhere, a worker's or another core's, until
    /// what is given is dropped: so long it is busy.
    pub fn hold(&self) -> Held<E> {
        let lane = self.current();
        let now = self.inner.env.clock().monotonic();
        self.inner.state.borrow_mut().lane(lane, now).held += 1;
        Held { turns: self.clone(), lane, count: |lane| &mut lane.held }
    }

    /// The task whose turn it is waits for the disk until what is given is dropped, and holds little
    /// meanwhile: from now on it does not count as young, where not too many rest already.
    pub fn rest(&self) -> Option<Held<E>> {
        let lane = self.current();
        let mut state = self.inner.state.borrow_mut();
        let known = state.lanes.get_mut(&lane)?;
        if known.resting >= RESTING_MAX {
            return None;
        }
        known.resting += 1;
        if let Some(place) = self.inner.place.get() {
            state.grow_up(place);
        }
        drop(state);
        Some(Held { turns: self.clone(), lane, count: |lane| &mut lane.resting })
    }

    /// What runs and waits.
    pub fn load(&self) -> Load {
        let state = self.inner.state.borrow();
        Load { lanes: state.lanes.len(), ..state.load }
    }

    /// May one more of this lane be taken in?
    ///
    /// # Errors
    /// So many wait already, or would wait so long.
    pub fn admits(&self, lane: Lane) -> Result<(), Crowded> {
        let state = self.inner.state.borrow();
        let Some(lane) = state.lanes.get(&lane) else { return Ok(()) };
        let waiting = lane.waiting.len();
        let wait = lane.between.saturating_mul(u32::try_from(waiting).unwrap_or(u32::MAX));
        if waiting >= self.inner.waiting_max || (waiting > SURE && wait > WAIT_MAX) {
            return Err(Crowded { waiting, wait });
        }
        Ok(())
    }

    /// May a task of this lane begin now, before it is given in? Where nothing runs, or the lane is
    /// owed time; then [`Turns::begin`] polls it.
    pub fn is_free(&self, lane: Lane) -> bool {
        let now = self.inner.env.clock().monotonic();
        let mut state = self.inner.state.borrow_mut();
        state.sweep(now);
        let alone = state.lanes.len() == usize::from(state.lanes.contains_key(&lane));
        let is_idle = state.load.running == 0 && state.load.waiting == 0;
        let known = state.lane(lane, now);
        if !known.waiting.is_empty() {
            return false;
        }
        known.is_light() || (is_idle && alone)
    }

    /// Polls a task of the lane for the first time; what is left of it is to be given to
    /// [`Turns::go_on`].
    pub fn begin<T>(&self, lane: Lane, poll: impl FnOnce() -> T) -> T {
        let before = self.inner.current.replace(lane);
        let place = self.inner.place.take();
        let begun = self.inner.env.clock().monotonic();
        let polled = poll();
        let ended = self.inner.env.clock().monotonic();
        self.inner.current.set(before);
        self.inner.place.set(place);
        let mut state = self.inner.state.borrow_mut();
        state.charge(lane, ended, ended.saturating_sub(begun));
        polled
    }

    /// Takes a task in whose turn will come.
    pub fn run(&self, lane: Lane, task: impl Future<Output = ()> + 'static) {
        self.put(lane, Box::pin(task), false);
    }

    /// Takes a task in that has begun.
    pub fn go_on(&self, lane: Lane, task: impl Future<Output = ()> + 'static) {
        self.put(lane, Box::pin(task), true);
    }

    fn put(&self, lane: Lane, task: Task, is_begun: bool) {
        let inner = &self.inner;
        let now = inner.env.clock().monotonic();
        let mut state = inner.state.borrow_mut();
        let at = state.free.pop().unwrap_or(state.slots.len());
        let number = state.put_count;
        state.put_count += 1;
        let waker = Arc::new(TaskWaker {
            task: Put { slot: at, number },
            is_woken: AtomicBool::new(true),
            woken: Arc::clone(&inner.woken),
        });
        let slot =
            Slot { lane, task: Some(task), is_begun, young: None, used: Duration::ZERO, waker };
        if at == state.slots.len() {
            state.slots.push(slot);
        } else {
            state.slots[at] = slot;
        }
        let known = state.lane(lane, now);
        if is_begun {
            known.running += 1;
            known.wake(at, Duration::ZERO);
            state.load.running += 1;
        } else {
            if known.waiting.is_empty() {
                known.begun = now;
            }
            known.waiting.push_back((at, now));
            state.load.waiting += 1;
        }
        state.line_up(lane, now);
        if !std::mem::replace(&mut state.is_driven, true) {
            drop(state);
            inner.env.spawn().spawn(Rc::clone(inner).drive());
        } else {
            drop(state);
            // The driver may sleep.
            inner.woken.rouse();
        }
    }
}

/// A task waits for a processor elsewhere ([`Turns::hold`]), or for the disk ([`Turns::rest`]).
#[must_use = "what is dropped at once holds nothing"]
pub struct Held<E: Env> {
    turns: Turns<E>,
    lane: Lane,
    /// Where it is counted.
    count: fn(&mut LaneState) -> &mut usize,
}

impl<E: Env> Drop for Held<E> {
    fn drop(&mut self) {
        // Its task goes on, and has a turn: who waits behind it is looked at then.
        if let Some(lane) = self.turns.inner.state.borrow_mut().lanes.get_mut(&self.lane) {
            let count = (self.count)(lane);
            *count = count.saturating_sub(1);
        }
    }
}

impl<E: Env> Inner<E> {
    /// Polls what is woken, lane by lane, until nothing is left to do.
    async fn drive(self: Rc<Self>) {
        loop {
            let now = self.env.clock().monotonic();
            self.take_woken(now);
            let is_tight = self.is_tight.get().is_some_and(|is_tight| is_tight());
            let next = {
                let mut state = self.state.borrow_mut();
                state.busy_max = if is_tight { BUSY_TIGHT } else { BUSY_MAX };
                state.next(now)
            };
            match next {
                Next::Poll(at) => match self.poll(at) {
                    After::Steps => self.env.spawn().give_way().await,
                    After::Goes => self.env.spawn().yield_after(LIGHT_STRETCH).await,
                    After::Others => self.env.spawn().yield_if_needed().await,
                },
                Next::Sleep => self.sleep().await,
                Next::End => return,
            }
        }
    }

    fn take_woken(&self, now: Duration) {
        let woken = self.woken.take();
        let mut state = self.state.borrow_mut();
        for task in woken {
            let at = task.slot;
            let slot = &state.slots[at];
            // The task has ended, and maybe another has its slot. That would stand among those that are ready
            // twice, and its lane would lose its place in the line when it is found to have ended as well.
            if slot.waker.task != task || slot.task.is_none() {
                continue;
            }
            let (lane, used) = (slot.lane, slot.used);
            state.lane(lane, now).wake(at, used);
            state.line_up(lane, now);
        }
    }

    /// Polls a task.
    fn poll(&self, at: usize) -> After {
        let (lane, task, waker) = {
            let mut state = self.state.borrow_mut();
            let slot = &mut state.slots[at];
            (slot.lane, slot.task.take(), Arc::clone(&slot.waker))
        };
        let Some(mut task) = task else { return After::Others };
        waker.rearm();
        let before = self.current.replace(lane);
        let place = self.place.replace(Some(at));
        let begun = self.env.clock().monotonic();
        let polls = Waker::from(Arc::clone(&waker));
        self.env.spawn().set_within(true);
        let polled = task.as_mut().poll(&mut Context::from_waker(&polls));
        self.env.spawn().set_within(false);
        let ended = self.env.clock().monotonic();
        self.current.set(before);
        self.place.set(place);
        // What it holds may take turns as it goes: outside of the borrow.
        let task = match polled {
            Poll::Ready(()) => {
                drop(task);
                None
            }
            Poll::Pending => Some(task),
        };
        let mut state = self.state.borrow_mut();
        if task.is_none() {
            state.free.push(at);
            state.load.running -= 1;
            state.grow_up(at);
            state.lane(lane, ended).running -= 1;
        }
        let goes_on = task.is_some();
        state.slots[at].task = task;
        state.slots[at].used += ended.saturating_sub(begun);
        state.charge(lane, ended, ended.saturating_sub(begun));
        state.line_up(lane, ended);
        match state.lane(lane, ended).is_light() {
            false => After::Others,
            // One that has ended leaves its answer to others.
            true if goes_on && waker.is_woken.load(Ordering::Acquire) => After::Goes,
            true if state.line.is_empty() => After::Others,
            true => After::Steps,
        }
    }

    /// Until something is woken or put in, or a lane may begin another.
    async fn sleep(&self) {
        let mut alarm = std::pin::pin!(self.env.clock().sleep(YOUNG / 4));
        poll_fn(|context| {
            // Asked at each look: one may have been put in since that waits until others are old.
            let is_held = self.state.borrow().load.waiting > 0;
            if is_held && alarm.as_mut().poll(context).is_ready() {
                return Poll::Ready(());
            }
            // Put in since: the line is not empty any more.
            self.woken.poll(context, || !self.state.borrow().line.is_empty())
        })
        .await;
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use crate::sync::model::block_on;

    /// What the driver does with one task, which ends when it sees that all was told. What is told is
    /// ordered by nothing but the wakes.
    fn drive(woken: &Woken, waker: &TaskWaker, told: &[Arc<AtomicBool>]) {
        block_on(async {
            loop {
                waker.rearm();
                if told.iter().all(|told| told.load(Ordering::Relaxed)) {
                    return;
                }
                poll_fn(|context| woken.poll(context, || false)).await;
                assert_eq!(woken.take(), [waker.task], "a task is woken once until it is polled");
            }
        });
    }

    fn wakes(tellers: usize) {
        loom::model(move || {
            let woken = Arc::new(Woken::default());
            // A task that was just put in is as good as woken.
            let is_woken = AtomicBool::new(true);
            let task = Put { slot: 0, number: 0 };
            let waker = Arc::new(TaskWaker { task, is_woken, woken: Arc::clone(&woken) });
            let told: Vec<_> = (0..tellers).map(|_| Arc::new(AtomicBool::new(false))).collect();
            let threads: Vec<_> = told
                .iter()
                .map(|told| {
                    let (told, waker) = (Arc::clone(told), Arc::clone(&waker));
                    loom::thread::spawn(move || {
                        told.store(true, Ordering::Relaxed);
                        waker.wake_by_ref();
                    })
                })
                .collect();
            drive(&woken, &waker, &told);
            threads.into_iter().for_each(|thread| thread.join().expect("told"));
        });
    }

    #[test]
    fn a_wake_from_another_thread_is_never_lost() {
        wakes(1);
    }

    #[test]
    fn nor_are_two_that_meet() {
        wakes(2);
    }
}
