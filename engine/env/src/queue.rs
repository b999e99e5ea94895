//! A queue of one core's tasks: one at a time is at the front.
//!
//! Always true
//! 1. Those who wait come to the front in the order in which they joined.
//! 2. Who leaves, at the front or while it waits, makes way for the next.
//!
//! Not here: shares and lanes ([`crate::turns`]), and what several cores wait for.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use crate::reply::{self, Answer, Reply};

/// The queue; clones are the same one.
#[derive(Clone, Default)]
pub struct Queue(Rc<Inner>);

#[derive(Default)]
struct Inner {
    is_taken: Cell<bool>,
    waiting: RefCell<VecDeque<Reply<Pass>>>,
}

/// A place in the queue.
pub enum Place {
    /// At the front.
    Front(Pass),
    /// Behind others.
    Behind(Answer<Pass>),
}

/// The place at the front; dropping it lets the next one there.
#[must_use = "dropping it lets the next one there"]
pub struct Pass(Rc<Inner>);

impl Queue {
    /// Takes the last place, at once.
    pub fn join(&self) -> Place {
        if !self.0.is_taken.replace(true) {
            return Place::Front(Pass(Rc::clone(&self.0)));
        }
        let (reply, answer) = reply::channel();
        self.0.waiting.borrow_mut().push_back(reply);
        Place::Behind(answer)
    }

    /// Takes the last place, and waits until it is the first.
    pub async fn pass(&self) -> Pass {
        self.join().front().await
    }

    /// Whether somebody is there.
    pub fn is_taken(&self) -> bool {
        self.0.is_taken.get()
    }
}

impl Place {
    /// Waits until it is the first.
    pub async fn front(self) -> Pass {
        match self {
            Self::Front(pass) => pass,
            Self::Behind(answer) => answer.await.expect("who is at the front makes way"),
        }
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        let next = loop {
            match self.0.waiting.borrow_mut().pop_front() {
                Some(reply) if !reply.is_wanted() => {}
                next => break next,
            }
        };
        match next {
            Some(reply) => reply.send(Self(Rc::clone(&self.0))),
            None => self.0.is_taken.set(false),
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    fn poll<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
        std::pin::Pin::new(future).poll(&mut Context::from_waker(Waker::noop()))
    }

    fn now<T>(future: impl Future<Output = T>) -> Option<T> {
        match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(value) => Some(value),
            Poll::Pending => None,
        }
    }

    #[test]
    fn the_front_goes_round_in_order_and_past_those_who_left() {
        let queue = Queue::default();
        let first = now(queue.pass()).expect("nobody is there");
        let mut second = Box::pin(queue.pass());
        let left = queue.join();
        let mut third = Box::pin(queue.pass());
        assert!(poll(&mut second).is_pending());
        assert!(poll(&mut third).is_pending());
        drop((second, left));
        drop(first);
        let Poll::Ready(pass) = poll(&mut third) else { panic!("the second left") };
        assert!(now(queue.pass()).is_none());
        drop(pass);
        assert!(!queue.is_taken());
    }

    #[test]
    fn a_pass_given_to_one_who_leaves_before_looking_goes_on() {
        let queue = Queue::default();
        let first = now(queue.pass()).expect("nobody is there");
        let mut second = Box::pin(queue.pass());
        assert!(poll(&mut second).is_pending());
        drop(first);
        assert!(queue.is_taken());
        drop(second);
        assert!(!queue.is_taken());
    }
}
