//! Who is at a shard. To open it and to close it each take a while, and changes of the state that ask for
//! the one or the other come meanwhile: two that were at its files at once would destroy them.
//!
//! Always true
//! 1. One at a time is at a shard; those who wait come in the order in which that was decided.
//! 2. A queue of which nobody is part is forgotten, sooner or later.

use std::cell::{Cell, RefCell};

use base::ShardId;
use base::hash::Map;
use env::queue::{Place, Queue};

/// Queues that are kept before it is looked which of them are of use.
const KEPT: usize = 64;

/// The queues, by shard.
#[derive(Default)]
pub(crate) struct Lines {
    queues: RefCell<Map<ShardId, Queue>>,
    /// So many there were when it was looked last.
    in_use: Cell<usize>,
}

impl Lines {
    /// Takes the next place at a shard, at once.
    pub(crate) fn join(&self, shard: ShardId) -> Place {
        let mut queues = self.queues.borrow_mut();
        // Half of them at least are new since then, so each is looked at a few times.
        if queues.len() > 2 * self.in_use.get() + KEPT {
            queues.retain(|_, queue| queue.is_taken());
            self.in_use.set(queues.len());
        }
        queues.entry(shard).or_default().join()
    }

    /// Ends when whoever is at a shard of this index now, or waits there, has ended.
    pub(crate) async fn quiet(&self, index: [u8; 16]) {
        let busy: Vec<ShardId> = {
            let queues = self.queues.borrow();
            let of_index =
                queues.iter().filter(|(shard, queue)| shard.index == index && queue.is_taken());
            of_index.map(|(shard, _)| *shard).collect()
        };
        for shard in busy {
            let place = self.join(shard);
            drop(place.front().await);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    fn poll<T>(future: &mut std::pin::Pin<&mut impl Future<Output = T>>) -> Option<T> {
        match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(value) => Some(value),
            Poll::Pending => None,
        }
    }

    fn shard(number: u32) -> ShardId {
        ShardId { index: [7; 16], number }
    }

    #[test]
    fn each_shard_has_a_queue_of_its_own_and_quiet_waits_for_all_of_an_index() {
        let lines = Lines::default();
        let first = poll(&mut pin!(lines.join(shard(0)).front())).expect("nobody is there");
        let mut second = pin!(lines.join(shard(0)).front());
        let other = poll(&mut pin!(lines.join(shard(1)).front())).expect("nobody is there");
        let mut quiet = pin!(lines.quiet([7; 16]));
        assert!(poll(&mut quiet).is_none());
        drop(first);
        drop(poll(&mut second).expect("it is the next"));
        assert!(poll(&mut quiet).is_none());
        drop(other);
        assert!(poll(&mut quiet).is_some());
        assert!(poll(&mut pin!(lines.quiet([7; 16]))).is_some(), "nobody is there");
    }

    #[test]
    fn queues_of_nobody_are_forgotten() {
        let lines = Lines::default();
        let stays = lines.join(shard(1_000));
        for number in 0..1_000 {
            drop(lines.join(shard(number)));
        }
        assert!(lines.queues.borrow().len() <= 2 * KEPT);
        let mut behind = pin!(lines.join(shard(1_000)).front());
        assert!(poll(&mut behind).is_none());
        drop(stays);
        assert!(poll(&mut behind).is_some());
    }
}
