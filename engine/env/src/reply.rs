//! One answer to one question, from any thread to the core that waits for it.
//!
//! Always true
//! 1. An [`Answer`] always ends: with the value, or with `None` where the [`Reply`] was dropped.
//! 2. Sending never waits and never fails; an answer that nobody awaits is dropped.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use crate::sync::{Mutex, lock};

/// The two ends of one answer.
pub fn channel<T>() -> (Reply<T>, Answer<T>) {
    let shared = Arc::new(Mutex::new(State::Unasked));
    (Reply { shared: Arc::clone(&shared) }, Answer { shared })
}

enum State<T> {
    /// Neither sent nor awaited.
    Unasked,
    /// Awaited.
    Asked(Waker),
    /// Sent, not yet taken.
    Sent(T),
    /// Taken, or the replying side was dropped.
    Over,
    /// The asking side was dropped.
    Unwanted,
}

/// The side that answers.
pub struct Reply<T> {
    shared: Arc<Mutex<State<T>>>,
}

impl<T> Reply<T> {
    /// Answers.
    pub fn send(self, value: T) {
        self.end(Some(value));
    }

    /// Whether somebody may still take the answer; false lets long work stop early.
    pub fn is_wanted(&self) -> bool {
        !matches!(*lock(&self.shared), State::Unwanted)
    }

    /// Ends the exchange; the first end counts. What is displaced is dropped after the lock.
    fn end(&self, value: Option<T>) {
        let mut state = lock(&self.shared);
        let next = match *state {
            State::Unasked | State::Asked(_) => value.map_or(State::Over, State::Sent),
            State::Sent(_) | State::Over | State::Unwanted => return,
        };
        let before = std::mem::replace(&mut *state, next);
        drop(state);
        if let State::Asked(waker) = before {
            waker.wake();
        }
    }
}

impl<T> Drop for Reply<T> {
    fn drop(&mut self) {
        self.end(None);
    }
}

impl<T> fmt::Debug for Reply<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reply")
    }
}

/// The side that asked; a future of the answer.
#[must_use = "an answer is a future: await it"]
pub struct Answer<T> {
    shared: Arc<Mutex<State<T>>>,
}

impl<T> Future for Answer<T> {
    type Output = Option<T>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        let mut state = lock(&self.shared);
        match std::mem::replace(&mut *state, State::Over) {
            State::Sent(value) => Poll::Ready(Some(value)),
            State::Over | State::Unwanted => Poll::Ready(None),
            State::Asked(waker) if waker.will_wake(context.waker()) => {
                *state = State::Asked(waker);
                Poll::Pending
            }
            State::Unasked | State::Asked(_) => {
                *state = State::Asked(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl<T> Drop for Answer<T> {
    fn drop(&mut self) {
        let before = std::mem::replace(&mut *lock(&self.shared), State::Unwanted);
        drop(before);
    }
}

impl<T> fmt::Debug for Answer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Answer")
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::pin::pin;

    use super::*;

    fn poll<T>(answer: &mut Answer<T>) -> Poll<Option<T>> {
        pin!(answer).poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn an_answer_arrives_before_or_after_it_is_awaited() {
        let (reply, mut answer) = channel();
        reply.send(1);
        assert_eq!(poll(&mut answer), Poll::Ready(Some(1)));
        let (reply, mut answer) = channel();
        assert_eq!(poll(&mut answer), Poll::Pending);
        reply.send(2);
        assert_eq!(poll(&mut answer), Poll::Ready(Some(2)));
        assert_eq!(poll(&mut answer), Poll::Ready(None), "once only");
    }

    #[test]
    fn a_dropped_reply_ends_the_wait() {
        let (reply, mut answer) = channel::<u32>();
        assert_eq!(poll(&mut answer), Poll::Pending);
        drop(reply);
        assert_eq!(poll(&mut answer), Poll::Ready(None));
    }

    #[test]
    fn a_reply_knows_whether_anybody_waits() {
        let (reply, answer) = channel();
        assert!(reply.is_wanted());
        drop(answer);
        assert!(!reply.is_wanted());
        reply.send(1);
    }

    #[test]
    fn values_are_dropped_exactly_once() {
        let token = Arc::new(());
        let (reply, answer) = channel();
        reply.send(Arc::clone(&token));
        assert_eq!(Arc::strong_count(&token), 2);
        drop(answer);
        assert_eq!(Arc::strong_count(&token), 1);
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use crate::sync::model::block_on;

    #[test]
    fn an_answer_from_another_thread_is_never_missed() {
        loom::model(|| {
            let (reply, answer) = channel();
            let thread = loom::thread::spawn(move || reply.send(5));
            assert_eq!(block_on(answer), Some(5));
            thread.join().expect("sent");
        });
    }

    #[test]
    fn a_reply_dropped_elsewhere_wakes() {
        loom::model(|| {
            let (reply, answer) = channel::<u32>();
            let thread = loom::thread::spawn(move || drop(reply));
            assert_eq!(block_on(answer), None);
            thread.join().expect("dropped");
        });
    }
}
