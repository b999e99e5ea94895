//! Waiting on one core for a number to rise.

use std::cell::RefCell;

use env::reply::{self, Answer, Reply};

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
    use std::task::{Context, Poll, Waker};

    use super::*;

    fn poll<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
        std::pin::Pin::new(future).poll(&mut Context::from_waker(Waker::noop()))
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
