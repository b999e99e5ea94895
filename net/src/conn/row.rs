//! The row of answers that a connection owes, in the order of its requests.
//!
//! A request that cannot answer at once gets a number; its task puts the answer at its place.
//! Only the first of the row is ever waited for.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use env::budget::Taken;

use crate::reply::Reply;

/// How an answer is to be written, known from its request.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Manner {
    /// Without its body: to a `HEAD`.
    pub(crate) bare: bool,
    /// The connection closes after it.
    pub(crate) close: bool,
    /// The client must be told that the connection stays open: HTTP/1.0.
    pub(crate) keep_alive: bool,
}

struct Place {
    manner: Manner,
    safe: bool,
    reply: Option<Reply>,
    /// What the request takes until its answer is there.
    memory: Option<Taken>,
}

/// Answers owed.
#[derive(Default)]
pub(crate) struct Row {
    places: RefCell<VecDeque<Place>>,
    /// Number of the first place.
    first: Cell<u64>,
    waker: RefCell<Option<Waker>>,
    /// The largest answer of late, in bytes: it halves with each that is smaller.
    largest: Cell<usize>,
    /// What the answers hold that are there.
    ready_bytes: Cell<usize>,
}

impl Row {
    pub(crate) fn new() -> Rc<Self> {
        Rc::default()
    }

    pub(crate) fn len(&self) -> usize {
        self.places.borrow().len()
    }

    /// How many requests may stand in the row: at most `max`, and where answers are large so many as
    /// give about one piece of `write_bytes` together, so that who does not read makes little wait. None
    /// more where so much is there already.
    pub(crate) fn room(&self, max: usize, write_bytes: usize) -> usize {
        if self.ready_bytes.get() >= write_bytes {
            return 0;
        }
        (4 * write_bytes / self.largest.get().max(1)).clamp(1, max)
    }

    fn note(&self, reply: &Reply) {
        self.ready_bytes.set(self.ready_bytes.get() + reply.bytes());
        self.largest.set(reply.bytes().max(self.largest.get() / 2));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.places.borrow().is_empty()
    }

    /// All requests of the row are safe. (One that is not stands alone, so the first tells.)
    pub(crate) fn is_safe(&self) -> bool {
        self.places.borrow().front().is_none_or(|place| place.safe)
    }

    /// A place for an answer that is there.
    pub(crate) fn push_ready(&self, manner: Manner, safe: bool, reply: Reply) {
        self.note(&reply);
        self.places.borrow_mut().push_back(Place {
            manner,
            safe,
            reply: Some(reply),
            memory: None,
        });
    }

    /// A place for an answer that will come, to a request that takes so much until then; its number.
    pub(crate) fn push(&self, manner: Manner, safe: bool, memory: Option<Taken>) -> u64 {
        let mut places = self.places.borrow_mut();
        places.push_back(Place { manner, safe, reply: None, memory });
        self.first.get() + places.len() as u64 - 1
    }

    /// Puts an answer at its place.
    pub(crate) fn finish(&self, number: u64, reply: Reply) {
        let at = usize::try_from(number - self.first.get()).expect("the row is short");
        let mut places = self.places.borrow_mut();
        let Some(place) = places.get_mut(at) else { return };
        debug_assert!(place.reply.is_none());
        self.note(&reply);
        place.reply = Some(reply);
        place.memory = None;
        if at == 0
            && let Some(waker) = self.waker.borrow_mut().take()
        {
            waker.wake();
        }
    }

    /// The first answer, where it is there.
    pub(crate) fn pop_ready(&self) -> Option<(Reply, Manner)> {
        let mut places = self.places.borrow_mut();
        let reply = places.front_mut()?.reply.take()?;
        let place = places.pop_front()?;
        self.first.set(self.first.get() + 1);
        self.ready_bytes.set(self.ready_bytes.get() - reply.bytes());
        Some((reply, place.manner))
    }

    /// Ends when the first answer is there.
    pub(crate) async fn first_ready(&self) {
        poll_fn(|context| {
            let places = self.places.borrow();
            if places.front().is_none_or(|place| place.reply.is_some()) {
                return Poll::Ready(());
            }
            *self.waker.borrow_mut() = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }
}
