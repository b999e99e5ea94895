//! Which task runs next, and when time passes.
//!
//! Always true
//! 1. Of the tasks that can go on, the seed picks one; each pick takes up to 20 µs.
//! 2. An event happens at its time or later, events of one moment in the order they were made.
//! 3. Where no task can go on, time jumps to the next event.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use crate::world::World;

type Task = Pin<Box<dyn Future<Output = ()>>>;

/// The future that a run was asked for.
const MAIN: usize = usize::MAX;

/// What one step came to.
pub(crate) enum Step<T> {
    Done(T),
    Again,
    Stuck,
}

struct Event {
    at: Duration,
    number: u64,
    happen: Box<dyn FnOnce()>,
}

impl PartialEq for Event {
    fn eq(&self, other: &Self) -> bool {
        (self.at, self.number) == (other.at, other.number)
    }
}

impl Eq for Event {}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Event {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

/// Woken tasks; wakers may be cloned to any thread, so this alone is behind a lock.
type Woken = Arc<Mutex<Vec<usize>>>;

struct Bell {
    task: usize,
    woken: Woken,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let mut woken = self.woken.lock().unwrap_or_else(PoisonError::into_inner);
        if !woken.contains(&self.task) {
            woken.push(self.task);
        }
    }
}

/// Tasks and events of the process.
pub(crate) struct Scheduler {
    tasks: RefCell<Vec<Option<Task>>>,
    woken: RefCell<Woken>,
    events: RefCell<BinaryHeap<Reverse<Event>>>,
    event_count: Cell<u64>,
    now: Cell<Duration>,
}

impl Scheduler {
    pub(crate) fn new() -> Self {
        Self {
            tasks: RefCell::new(Vec::new()),
            woken: RefCell::new(Woken::default()),
            events: RefCell::new(BinaryHeap::new()),
            event_count: Cell::new(0),
            now: Cell::new(Duration::ZERO),
        }
    }

    pub(crate) fn now(&self) -> Duration {
        self.now.get()
    }

    /// Time goes on, and nothing else.
    pub(crate) fn pass(&self, duration: Duration) {
        self.now.set(self.now.get().saturating_add(duration));
    }

    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        let mut tasks = self.tasks.borrow_mut();
        tasks.push(Some(Box::pin(task)));
        self.wake(tasks.len() - 1);
    }

    /// Lets `happen` run `after` from now.
    pub(crate) fn later(&self, after: Duration, happen: impl FnOnce() + 'static) {
        let number = self.event_count.get();
        self.event_count.set(number + 1);
        let at = self.now.get().saturating_add(after);
        self.events.borrow_mut().push(Reverse(Event { at, number, happen: Box::new(happen) }));
    }

    pub(crate) fn wake_main(&self) {
        self.wake(MAIN);
    }

    /// The tasks that can go on.
    pub(crate) fn ready(&self) -> Vec<usize> {
        self.woken.borrow().lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn wake(&self, task: usize) {
        self.waker(task).wake();
    }

    fn waker(&self, task: usize) -> Waker {
        Waker::from(Arc::new(Bell { task, woken: Arc::clone(&self.woken.borrow()) }))
    }

    /// Forgets all tasks and events.
    pub(crate) fn clear(&self) {
        // New wakers go to a new list: those of dropped tasks must not wake new ones. Dropping may
        // spawn or wake, so nothing is borrowed meanwhile, and once more round for what it made.
        for _ in 0..2 {
            *self.woken.borrow_mut() = Woken::default();
            let tasks = std::mem::take(&mut *self.tasks.borrow_mut());
            drop(tasks);
            let events = std::mem::take(&mut *self.events.borrow_mut());
            drop(events);
        }
    }

    /// Lets one task run, or one event happen.
    pub(crate) fn step<F: Future + ?Sized>(
        &self,
        world: &World,
        main: Pin<&mut F>,
    ) -> Step<F::Output> {
        self.due_events();
        let Some(task) = self.pick(world) else {
            return if self.next_event() { Step::Again } else { Step::Stuck };
        };
        let pause = world.below(20_000);
        self.now.set(self.now.get() + Duration::from_nanos(pause));
        world.record("run", &[task as u64]);
        let waker = self.waker(task);
        let mut context = Context::from_waker(&waker);
        if task == MAIN {
            return match main.poll(&mut context) {
                Poll::Ready(value) => Step::Done(value),
                Poll::Pending => Step::Again,
            };
        }
        // Taken out while it runs: it may spawn others.
        let taken = self.tasks.borrow_mut().get_mut(task).and_then(Option::take);
        if let Some(mut future) = taken
            && future.as_mut().poll(&mut context).is_pending()
        {
            self.tasks.borrow_mut()[task] = Some(future);
        }
        Step::Again
    }

    fn pick(&self, world: &World) -> Option<usize> {
        let woken = Arc::clone(&self.woken.borrow());
        let mut woken = woken.lock().unwrap_or_else(PoisonError::into_inner);
        if woken.is_empty() {
            return None;
        }
        let at = world.below(woken.len() as u64) as usize;
        Some(woken.swap_remove(at))
    }

    fn due_events(&self) {
        while self.events.borrow().peek().is_some_and(|Reverse(next)| next.at <= self.now.get()) {
            self.next_event();
        }
    }

    fn next_event(&self) -> bool {
        let Some(Reverse(event)) = self.events.borrow_mut().pop() else { return false };
        self.now.set(self.now.get().max(event.at));
        (event.happen)();
        true
    }
}
