//! The turn to roll an alias or data stream over, of all calls of all cores.
//!
//! Always true
//! 1. One call at a time has the turn of a target; those who wait get it in the order in which the
//!    keeper's core heard of them.
//! 2. A call that ends, or is dropped, passes its turn on.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use env::reply::{self, Reply};
use env::{Env, Spawn};

use crate::core::{Core, KEEPER};
use crate::error::{Error, Result};
use crate::host::call::Message;

/// The turn; dropping it passes it on.
pub(crate) type Pass = Reply<()>;

/// Who waits, by the target whose turn somebody has; on the keeper's core.
#[derive(Default)]
pub(crate) struct Rolling(RefCell<BTreeMap<String, VecDeque<Reply<Pass>>>>);

impl Rolling {
    /// Waits behind who has the turn; gives the place back where nobody has it, who has it from now on.
    fn wait(&self, target: &str, reply: Reply<Pass>) -> Option<Reply<Pass>> {
        let mut waiting = self.0.borrow_mut();
        if let Some(queue) = waiting.get_mut(target) {
            queue.push_back(reply);
            return None;
        }
        waiting.insert(target.to_owned(), VecDeque::new());
        Some(reply)
    }

    /// The next who has the turn; where nobody waits it is free.
    fn next(&self, target: &str) -> Option<Reply<Pass>> {
        let mut waiting = self.0.borrow_mut();
        let queue = waiting.get_mut(target)?;
        while let Some(reply) = queue.pop_front() {
            if reply.is_wanted() {
                return Some(reply);
            }
        }
        waiting.remove(target);
        None
    }
}

impl<E: Env> Core<E> {
    /// Waits for the turn to roll `target` over.
    ///
    /// # Errors
    /// Too much is asked of the keeper's core, or the node stops.
    pub(crate) async fn turn_to_roll(self: &Rc<Self>, target: &str) -> Result<Pass> {
        let (reply, answer) = reply::channel();
        if self.id == KEEPER {
            self.give_turn_to_roll(target.to_owned(), reply);
        } else {
            let message = Message::Roll { target: target.to_owned(), reply };
            if self.shared.core(KEEPER).send(message, 256 + target.len()).is_err() {
                return Err(Error::rejected("the queue of cluster state changes is full"));
            }
        }
        answer.await.ok_or_else(|| Error::internal("the node is stopping"))
    }

    /// Gives the turn, on the keeper's core, now or when those before have had it.
    pub(crate) fn give_turn_to_roll(self: &Rc<Self>, target: String, reply: Reply<Pass>) {
        let Some(mut reply) = self.rolling.wait(&target, reply) else { return };
        let core = Rc::clone(self);
        self.env.spawn().spawn(async move {
            loop {
                let (pass, passed_on) = reply::channel();
                reply.send(pass);
                passed_on.await;
                match core.rolling.next(&target) {
                    Some(next) => reply = next,
                    None => break,
                }
            }
        });
    }
}
