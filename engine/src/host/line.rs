//! Whose turn it is at a shard. To open it and to close it each take a while, and changes of the state
//! that ask for the one or the other come meanwhile: two that were at its files at once would destroy
//! them.
//!
//! Always true
//! 1. One at a time has the turn of a shard; those who wait get it in the order in which they came.
//! 2. Who ends, or is dropped, passes the turn on.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use base::ShardId;
use base::hash::Map;
use env::reply::{self, Answer, Reply};

/// Who waits, by the shard whose turn somebody has.
#[derive(Clone, Default)]
pub(crate) struct Lines(Rc<RefCell<Map<ShardId, VecDeque<Reply<Turn>>>>>);

/// A place in the line of a shard.
pub(crate) enum Place {
    /// The first.
    Turn(Turn),
    /// Behind others.
    Behind(Answer<Turn>),
}

/// The turn; dropping it passes it on.
pub(crate) struct Turn {
    lines: Lines,
    shard: ShardId,
}

impl Lines {
    /// Takes the next place at a shard, at once.
    pub(crate) fn join(&self, shard: ShardId) -> Place {
        let mut lines = self.0.borrow_mut();
        if let Some(line) = lines.get_mut(&shard) {
            let (reply, answer) = reply::channel();
            line.push_back(reply);
            return Place::Behind(answer);
        }
        lines.insert(shard, VecDeque::new());
        Place::Turn(Turn { lines: self.clone(), shard })
    }

    /// Ends when whoever is at a shard of this index now, or waits there, has ended.
    pub(crate) async fn quiet(&self, index: [u8; 16]) {
        let busy: Vec<ShardId> =
            self.0.borrow().keys().filter(|shard| shard.index == index).copied().collect();
        for shard in busy {
            let place = self.join(shard);
            drop(place.turn().await);
        }
    }
}

impl Place {
    /// Waits for the turn.
    pub(crate) async fn turn(self) -> Turn {
        match self {
            Self::Turn(turn) => turn,
            Self::Behind(answer) => answer.await.expect("who has the turn passes it on"),
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let next = {
            let mut lines = self.lines.0.borrow_mut();
            let Some(line) = lines.get_mut(&self.shard) else { return };
            loop {
                match line.pop_front() {
                    Some(reply) if !reply.is_wanted() => {}
                    Some(reply) => break Some(reply),
                    None => break None,
                }
            }
        };
        match next {
            Some(reply) => reply.send(Self { lines: self.lines.clone(), shard: self.shard }),
            None => drop(self.lines.0.borrow_mut().remove(&self.shard)),
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

    #[test]
    fn turns_come_in_order_and_who_left_is_passed_over() {
        let lines = Lines::default();
        let shard = |number| ShardId { index: [7; 16], number };
        let mut first = pin!(lines.join(shard(0)).turn());
        let left = lines.join(shard(0));
        let mut second = pin!(lines.join(shard(0)).turn());
        let mut other = pin!(lines.join(shard(1)).turn());
        let turn = poll(&mut first).expect("nobody is there");
        assert!(poll(&mut other).is_some(), "each shard has a line of its own");
        assert!(poll(&mut second).is_none());
        let mut quiet = pin!(lines.quiet([7; 16]));
        assert!(poll(&mut quiet).is_none());
        drop(left);
        drop(turn);
        let turn = poll(&mut second).expect("it is the next");
        assert!(poll(&mut quiet).is_none());
        drop(turn);
        assert!(poll(&mut quiet).is_some());
        assert!(lines.0.borrow().is_empty(), "nothing is kept");
    }
}
