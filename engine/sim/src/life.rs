//! A handle of the world that dies with the process it was given to.

use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::time::Duration;

use crate::world::World;

/// What every simulated answer holds.
#[derive(Clone)]
pub(crate) struct Life {
    world: Rc<World>,
    number: u32,
}

impl Life {
    pub(crate) fn new(world: &Rc<World>) -> Self {
        Self { world: Rc::clone(world), number: world.life.get() }
    }

    /// The world, while this life lasts.
    pub(crate) fn world(&self) -> Option<&Rc<World>> {
        (self.world.life.get() == self.number).then_some(&self.world)
    }

    /// The world, for questions that change nothing.
    pub(crate) fn any_world(&self) -> &World {
        &self.world
    }

    /// Lets `happen` run after `delay` and answers what it gives; where nobody waits any more, it
    /// happens all the same. Never ends once the life has ended.
    pub(crate) async fn later<T: 'static>(
        &self,
        delay: Duration,
        happen: impl FnOnce(&World) -> T + 'static,
    ) -> T {
        let slot = Rc::new(RefCell::new((None::<T>, None::<Waker>)));
        if let Some(world) = self.world() {
            let life = self.clone();
            let theirs = Rc::clone(&slot);
            world.scheduler.later(delay, move || {
                if let Some(world) = life.world() {
                    let value = happen(world);
                    let waker = {
                        let mut slot = theirs.borrow_mut();
                        slot.0 = Some(value);
                        slot.1.take()
                    };
                    if let Some(waker) = waker {
                        waker.wake();
                    }
                }
            });
        }
        poll_fn(|context| {
            let mut slot = slot.borrow_mut();
            match slot.0.take() {
                Some(value) => Poll::Ready(value),
                None => {
                    slot.1 = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }
}
