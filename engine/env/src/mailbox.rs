//! A mailbox: many senders on any thread, one receiver on its core, bounded by weight.
//!
//! Always true
//! 1. Sending never waits for room: a message that does not fit comes back at once.
//! 2. A reply ([`Sender::send_reply`]) is never refused: its place was taken with the request.
//! 3. Messages of one sender arrive in the order in which they were sent.
//! 4. Queue and waker lie under one lock, so no wake can fall between "is it empty" and "wake me".
//!    (An atomic flag beside the queue saves nothing: each send takes the lock anyway.)
//!
//! Weight is what the sender says, commonly the bytes that a message keeps alive. A message heavier
//! than the whole limit is let in when nothing else waits; otherwise it could never be sent.
//!
//! Not here: waiting for room. Overload is decided at the door.

use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Poll, Waker};

use crate::sync::{Mutex, lock};

/// A mailbox that holds messages of at most `limit` weight at a time.
pub fn channel<T: Send>(limit: usize) -> (Sender<T>, Receiver<T>) {
    let inner =
        Inner { messages: VecDeque::new(), weight: 0, sender_count: 1, receiver: Receiving::Awake };
    let shared = Arc::new(Shared { limit, inner: Mutex::new(inner) });
    (Sender { shared: Arc::clone(&shared) }, Receiver { shared })
}

struct Shared<T> {
    limit: usize,
    inner: Mutex<Inner<T>>,
}

struct Inner<T> {
    messages: VecDeque<T>,
    /// Weight of `messages`; replies count nothing.
    weight: usize,
    sender_count: usize,
    receiver: Receiving,
}

/// What the receiving side does.
enum Receiving {
    Awake,
    Asleep(Waker),
    Gone,
}

impl<T> Inner<T> {
    /// The waker to call once the lock is released.
    fn rouse(&mut self) -> Option<Waker> {
        match std::mem::replace(&mut self.receiver, Receiving::Awake) {
            Receiving::Asleep(waker) => Some(waker),
            Receiving::Awake => None,
            Receiving::Gone => {
                self.receiver = Receiving::Gone;
                None
            }
        }
    }
}

/// A message that found no room.
#[derive(PartialEq, Eq)]
pub struct Full<T>(pub T);

impl<T> fmt::Debug for Full<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Full(..)")
    }
}

impl<T> fmt::Display for Full<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("mailbox is full")
    }
}

impl<T> std::error::Error for Full<T> {}

/// The sending side; clones send to the same mailbox.
pub struct Sender<T> {
    shared: Arc<Shared<T>>,
}

impl<T: Send> Sender<T> {
    /// Puts `message` in and wakes the receiver, or gives it back where it does not fit.
    ///
    /// A message to a receiver that is gone is dropped, and with it any [`crate::reply::Reply`] in
    /// it, which tells whoever waits for the answer.
    pub fn send(&self, message: T, weight: usize) -> Result<(), Full<T>> {
        self.put(message, Some(weight))
    }

    /// Puts in an answer to a request whose own place stands for it: never refused.
    pub fn send_reply(&self, message: T) {
        let sent = self.put(message, None);
        debug_assert!(sent.is_ok(), "only weighed messages are refused");
    }

    fn put(&self, message: T, weight: Option<usize>) -> Result<(), Full<T>> {
        let waker = {
            let mut inner = lock(&self.shared.inner);
            if matches!(inner.receiver, Receiving::Gone) {
                drop(inner);
                drop(message);
                return Ok(());
            }
            if let Some(weight) = weight {
                let total = inner.weight.saturating_add(weight);
                if inner.weight > 0 && total > self.shared.limit {
                    drop(inner);
                    return Err(Full(message));
                }
                inner.weight = total;
            }
            inner.messages.push_back(message);
            inner.rouse()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
        Ok(())
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        lock(&self.shared.inner).sender_count += 1;
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let waker = {
            let mut inner = lock(&self.shared.inner);
            inner.sender_count -= 1;
            if inner.sender_count == 0 { inner.rouse() } else { None }
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("mailbox::Sender")
    }
}

/// The receiving side, owned by one task of one core.
pub struct Receiver<T> {
    shared: Arc<Shared<T>>,
}

impl<T: Send> Receiver<T> {
    /// Waits until messages are there and appends them all to `into`: true. False where every
    /// sender is gone and nothing is left.
    ///
    /// Dropping the future loses no message.
    pub fn receive(&mut self, into: &mut Vec<T>) -> impl Future<Output = bool> {
        poll_fn(move |context| {
            let mut inner = lock(&self.shared.inner);
            if !inner.messages.is_empty() {
                inner.weight = 0;
                inner.receiver = Receiving::Awake;
                into.extend(inner.messages.drain(..));
                return Poll::Ready(true);
            }
            if inner.sender_count == 0 {
                return Poll::Ready(false);
            }
            let known = match &inner.receiver {
                Receiving::Asleep(waker) => waker.will_wake(context.waker()),
                Receiving::Awake | Receiving::Gone => false,
            };
            if !known {
                inner.receiver = Receiving::Asleep(context.waker().clone());
            }
            Poll::Pending
        })
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let left = {
            let mut inner = lock(&self.shared.inner);
            inner.receiver = Receiving::Gone;
            inner.weight = 0;
            std::mem::take(&mut inner.messages)
        };
        // Outside the lock: a message may hold a sender of this very mailbox.
        drop(left);
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("mailbox::Receiver")
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::pin::pin;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Context, Wake};

    use super::*;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Polls once; the number of wakes is counted in `count`.
    fn poll_once<T: Send>(
        receiver: &mut Receiver<T>,
        into: &mut Vec<T>,
        count: &Arc<Count>,
    ) -> Poll<bool> {
        let waker = Waker::from(Arc::clone(count));
        pin!(receiver.receive(into)).poll(&mut Context::from_waker(&waker))
    }

    #[test]
    fn one_receive_takes_all_that_waits_in_order() {
        let (sender, mut receiver) = channel(100);
        let count = Arc::default();
        let mut got = vec![0];
        sender.send(1, 10).expect("fits");
        sender.clone().send(2, 10).expect("fits");
        sender.send_reply(3);
        assert_eq!(poll_once(&mut receiver, &mut got, &count), Poll::Ready(true));
        assert_eq!(got, [0, 1, 2, 3]);
        assert_eq!(poll_once(&mut receiver, &mut got, &count), Poll::Pending);
    }

    #[test]
    fn only_the_first_send_to_a_sleeper_wakes() {
        let (sender, mut receiver) = channel(100);
        let count: Arc<Count> = Arc::default();
        let mut got = Vec::new();
        sender.send(0, 1).expect("fits");
        assert_eq!(count.0.load(Ordering::Relaxed), 0, "nobody sleeps yet");
        assert_eq!(poll_once(&mut receiver, &mut got, &count), Poll::Ready(true));
        assert_eq!(poll_once(&mut receiver, &mut got, &count), Poll::Pending);
        sender.send(1, 1).expect("fits");
        sender.send(2, 1).expect("fits");
        assert_eq!(count.0.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_full_mailbox_gives_the_message_back_but_takes_replies() {
        let (sender, mut receiver) = channel(10);
        sender.send("a", 6).expect("fits");
        assert_eq!(sender.send("b", 5), Err(Full("b")));
        sender.send("c", 4).expect("fits to the brim");
        sender.send_reply("d");
        let mut got = Vec::new();
        assert_eq!(poll_once(&mut receiver, &mut got, &Arc::default()), Poll::Ready(true));
        assert_eq!(got, ["a", "c", "d"]);
        sender.send("b", 5).expect("room again");
    }

    #[test]
    fn a_message_above_the_limit_passes_alone() {
        let (sender, _receiver) = channel(10);
        sender.send("heavy", 1000).expect("nothing else waits");
        assert_eq!(sender.send("light", 1), Err(Full("light")));
    }

    #[test]
    fn the_end_comes_when_all_senders_are_gone_and_nothing_is_left() {
        let (sender, mut receiver) = channel(10);
        let other = sender.clone();
        let count: Arc<Count> = Arc::default();
        let mut got = Vec::new();
        drop(sender);
        assert_eq!(poll_once(&mut receiver, &mut got, &count), Poll::Pending);
        other.send(7, 1).expect("fits");
        drop(other);
        assert_eq!(poll_once(&mut receiver, &mut got, &count), Poll::Ready(true));
        assert_eq!(poll_once(&mut receiver, &mut got, &count), Poll::Ready(false));
        assert_eq!(got, [7]);
    }

    #[test]
    fn a_message_to_a_receiver_that_is_gone_is_dropped() {
        let (sender, receiver) = channel(10);
        let (reply, answer) = crate::reply::channel::<u32>();
        drop(receiver);
        sender.send(reply, 1).expect("dropped, not refused");
        let waker = Waker::noop();
        assert_eq!(pin!(answer).poll(&mut Context::from_waker(waker)), Poll::Ready(None));
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use crate::sync::model::block_on;

    #[test]
    fn no_wake_is_lost_between_two_senders_and_a_sleeper() {
        loom::model(|| {
            let (sender, mut receiver) = channel(100);
            let other = sender.clone();
            let first = loom::thread::spawn(move || sender.send(1, 1).expect("fits"));
            let second = loom::thread::spawn(move || other.send(2, 1).expect("fits"));
            let mut got = Vec::new();
            while block_on(receiver.receive(&mut got)) {}
            got.sort_unstable();
            assert_eq!(got, [1, 2]);
            first.join().expect("sent");
            second.join().expect("sent");
        });
    }

    #[test]
    fn a_message_alone_wakes_a_sleeper() {
        loom::model(|| {
            let (sender, mut receiver) = channel(100);
            // One that stays: no sender's end wakes the receiver.
            let stays = sender.clone();
            let thread = loom::thread::spawn(move || sender.send(1, 1).expect("fits"));
            let mut got = Vec::new();
            assert!(block_on(receiver.receive(&mut got)));
            assert_eq!(got, [1]);
            thread.join().expect("sent");
            drop(stays);
        });
    }

    #[test]
    fn a_receiver_that_goes_away_loses_nothing_silently() {
        loom::model(|| {
            let (sender, receiver) = channel(100);
            // One that stays: a message left in the mailbox would live as long as it.
            let stays = sender.clone();
            let (reply, answer) = crate::reply::channel::<u32>();
            let thread = loom::thread::spawn(move || sender.send(reply, 1).expect("fits"));
            drop(receiver);
            assert_eq!(block_on(answer), None);
            thread.join().expect("sent");
            drop(stays);
        });
    }
}
