//! Whether somebody still waits for an answer.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap as Map;
use std::collections::btree_map::Entry;
use std::future::poll_fn;
use std::pin::pin;
use std::task::{Poll, Waker};

/// Whether the client of a connection has left while its answers were owed.
///
/// Its default is that of what no client asks for: it never leaves.
#[derive(Debug, Default)]
pub struct Left {
    has_left: Cell<bool>,
    /// Who wants to be told: one for each request that waits, by number.
    waiting: RefCell<Map<u64, Waker>>,
    next: Cell<u64>,
}

impl Left {
    /// The client has left: all who wait are told.
    pub fn tell(&self) {
        self.has_left.set(true);
        for (_, waker) in std::mem::take(&mut *self.waiting.borrow_mut()) {
            waker.wake();
        }
    }

    /// What `work` gives; none where the client leaves first: the work is given up then.
    pub async fn or<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let mut work = pin!(work);
        let place = Place { left: self, number: self.next.replace(self.next.get() + 1) };
        poll_fn(|context| {
            if let Poll::Ready(done) = work.as_mut().poll(context) {
                return Poll::Ready(Some(done));
            }
            if self.has_left.get() {
                return Poll::Ready(None);
            }
            place.note(context.waker());
            Poll::Pending
        })
        .await
    }
}

/// A place among those who want to be told, until it is dropped.
struct Place<'a> {
    left: &'a Left,
    number: u64,
}

impl Place<'_> {
    fn note(&self, waker: &Waker) {
        match self.left.waiting.borrow_mut().entry(self.number) {
            Entry::Occupied(mut known) => known.get_mut().clone_from(waker),
            Entry::Vacant(free) => drop(free.insert(waker.clone())),
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.left.waiting.borrow_mut().remove(&self.number);
    }
}
