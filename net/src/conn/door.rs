//! What the connections of one core share: the service behind them, their bounds, and the word
//! that ends them.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use base::hash::Map;
use env::Env;
use env::budget::Lease;
use http::Fault;

use crate::limits::Limits;
use crate::reply::Reply;
use crate::request::Request;

/// What answers requests.
pub trait Service: 'static {
    /// Answers a request. The future is polled at once, and becomes a task where it must wait.
    fn call(&self, request: Request) -> Pin<Box<dyn Future<Output = Reply>>>;

    /// The answer to a message that is refused before it is a request.
    fn refuse(&self, refusal: Refusal) -> Reply;
}

/// Why a message does not become a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is not framed as it must be, or too large.
    Fault(Fault),
    /// There is no memory for its body now.
    Memory {
        /// How much it asked for.
        wanted_bytes: usize,
    },
}

/// The door of one core.
pub struct Door<E: Env, S> {
    /// The outside.
    pub(crate) env: E,
    /// Bounds of each connection.
    pub(crate) limits: Limits,
    /// Who answers.
    pub(crate) service: S,
    /// Memory of bodies.
    pub(crate) lease: Lease,
    stopping: Cell<bool>,
    next: Cell<u64>,
    open: Cell<usize>,
    /// Connections that wait for a head, to be woken by a stop.
    waiting: RefCell<Map<u64, Waker>>,
    /// Who waits for the last connection to end.
    closed: RefCell<Option<Waker>>,
}

impl<E: Env, S: Service> Door<E, S> {
    /// A door before `service`.
    pub fn new(env: E, limits: Limits, lease: Lease, service: S) -> Rc<Self> {
        Rc::new(Self {
            env,
            limits,
            service,
            lease,
            stopping: Cell::new(false),
            next: Cell::new(0),
            open: Cell::new(0),
            waiting: RefCell::default(),
            closed: RefCell::default(),
        })
    }

    /// Who answers.
    pub fn service(&self) -> &S {
        &self.service
    }

    /// Connections that are open.
    pub fn open_count(&self) -> usize {
        self.open.get()
    }

    /// From now on no request begins but those whose heads are complete; connections end when
    /// theirs are answered.
    pub fn stop(&self) {
        self.stopping.set(true);
        let waiting = std::mem::take(&mut *self.waiting.borrow_mut());
        for (_, waker) in waiting {
            waker.wake();
        }
    }

    /// Ends when no connection is open. The time for it is the caller's.
    pub async fn closed(&self) {
        poll_fn(|context| {
            if self.open.get() == 0 {
                return Poll::Ready(());
            }
            *self.closed.borrow_mut() = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.get()
    }

    /// Is the door closing? Where not, the connection is woken when it does.
    pub(crate) fn poll_stopping(&self, number: u64, context: &mut Context<'_>) -> bool {
        if self.stopping.get() {
            return true;
        }
        let mut waiting = self.waiting.borrow_mut();
        match waiting.get_mut(&number) {
            Some(waker) => waker.clone_from(context.waker()),
            None => drop(waiting.insert(number, context.waker().clone())),
        }
        false
    }

    /// Counts a connection in.
    pub(crate) fn enter(self: &Rc<Self>) -> Entered<E, S> {
        let number = self.next.get();
        self.next.set(number + 1);
        self.open.set(self.open.get() + 1);
        Entered { door: Rc::clone(self), number }
    }
}

/// A connection that counts as open until this is dropped.
pub(crate) struct Entered<E: Env, S> {
    door: Rc<Door<E, S>>,
    number: u64,
}

impl<E: Env, S> Entered<E, S> {
    pub(crate) fn number(&self) -> u64 {
        self.number
    }
}

impl<E: Env, S> Drop for Entered<E, S> {
    fn drop(&mut self) {
        let door = &self.door;
        door.waiting.borrow_mut().remove(&self.number);
        door.open.set(door.open.get() - 1);
        if door.open.get() == 0
            && let Some(waker) = door.closed.borrow_mut().take()
        {
            waker.wake();
        }
    }
}
