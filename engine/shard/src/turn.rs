//! Waiting on one core: for one's turn, and for a number to rise.
//!
//! Always true
//! 1. One task at a time has the turn; those who wait get it in the order they asked.
//! 2. A task that stops waiting, or is dropped with the turn, passes it on.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use env::reply::{self, Answer, Reply};

/// A turn that tasks take one after the other.
#[derive(Clone, Default)]
pub(crate) struct Turn(Rc<Queue>);

#[derive(Default)]
struct Queue {
    is_taken: Cell<bool>,
    waiting: RefCell<VecDeque<Reply<Pass>>>,
}

/// The turn; dropping it passes it on.
pub(crate) struct Pass(Rc<Queue>);

impl Turn {
    /// Waits for the turn.
    pub(crate) async fn take(&self) -> Pass {
        if !self.0.is_taken.replace(true) {
            return Pass(Rc::clone(&self.0));
        }
        let (reply, answer) = reply::channel();
        self.0.waiting.borrow_mut().push_back(reply);
        answer.await.expect("who has the turn passes it on")
    }

    /// Whether somebody has it.
    pub(crate) fn is_taken(&self) -> bool {
        self.0.is_taken.get()
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

/// Waiters for a number that rises.
#[derive(Default)]
pub(crate) struct Waiters {
    waiting: RefCell<Vec<(u64, Reply<()>)>>,
}

impl Waiters {
    /// An answer that comes when the number is above `value`; `None`: when no more is to come.
    pub(crate) fn wait(&self, value: u64) -> Answer<()> {
        let (reply, answer) = reply::channel();
        self.waiting.borrow_mut().push((value, reply));
        answer
    }

    /// Tells those who wait for less than `number`.
    pub(crate) fn rise(&self, number: u64) {
        let mut waiting = self.waiting.borrow_mut();
        if waiting.is_empty() {
            return;
        }
        let told = waiting.extract_if(.., |(value, _)| *value < number).collect::<Vec<_>>();
        drop(waiting);
        told.into_iter().for_each(|(_, reply)| reply.send(()));
    }

    /// Tells all that no more is to come.
    pub(crate) fn end(&self) {
        self.waiting.take();
    }

    /// How many wait.
    pub(crate) fn len(&self) -> usize {
        self.waiting.borrow().len()
    }
}

#[cfg(test)]
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
    fn the_turn_goes_round_in_order_and_past_those_who_left() {
        let turn = Turn::default();
        let first = now(turn.take()).expect("nobody has it");
        let mut second = Box::pin(turn.take());
        let mut third = Box::pin(turn.take());
        assert!(poll(&mut second).is_pending());
        assert!(poll(&mut third).is_pending());
        drop(second);
        drop(first);
        let Poll::Ready(pass) = poll(&mut third) else { panic!("the second left") };
        assert!(now(turn.take()).is_none());
        drop(pass);
        assert!(!turn.is_taken());
    }

    #[test]
    fn turn_given_to_one_who_leaves_before_looking_goes_on() {
        let turn = Turn::default();
        let first = now(turn.take()).expect("nobody has it");
        let mut second = Box::pin(turn.take());
        assert!(poll(&mut second).is_pending());
        drop(first);
        assert!(turn.is_taken());
        drop(second);
        assert!(!turn.is_taken());
    }

    #[test]
    fn waiters_hear_of_what_they_waited_for() {
        let waiters = Waiters::default();
        let (mut low, mut high) = (waiters.wait(3), waiters.wait(5));
        waiters.rise(4);
        assert_eq!(poll(&mut low), Poll::Ready(Some(())));
        assert!(poll(&mut high).is_pending());
        waiters.end();
        assert_eq!(poll(&mut high), Poll::Ready(None));
        assert_eq!(waiters.len(), 0);
    }
}
