//! The simulated answers together, with chance and tasks.

use std::cell::Cell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

use env::{Env, Random, Result, Spawn};

use crate::clock::SimClock;
use crate::disk::SimDisk;
use crate::life::Life;
use crate::world::World;

/// The outside of a simulated process.
#[derive(Clone)]
pub struct SimEnv {
    disk: SimDisk,
    clock: SimClock,
    random: SimRandom,
    spawn: SimSpawn,
}

impl SimEnv {
    pub(crate) fn new(world: &Rc<World>) -> Self {
        let life = Life::new(world);
        Self {
            disk: SimDisk(life.clone()),
            clock: SimClock(life.clone()),
            random: SimRandom(life.clone()),
            spawn: SimSpawn(life),
        }
    }
}

impl Env for SimEnv {
    type Disk = SimDisk;
    type Clock = SimClock;
    type Random = SimRandom;
    type Spawn = SimSpawn;

    fn disk(&self) -> &SimDisk {
        &self.disk
    }

    fn clock(&self) -> &SimClock {
        &self.clock
    }

    fn random(&self) -> &SimRandom {
        &self.random
    }

    fn spawn(&self) -> &SimSpawn {
        &self.spawn
    }
}

/// Chance, by the seed.
#[derive(Clone)]
pub struct SimRandom(Life);

impl Random for SimRandom {
    fn fill(&self, bytes: &mut [u8]) {
        self.0.any_world().chance.borrow_mut().fill(bytes);
    }
}

/// Lets the seed pick once more.
async fn leave() {
    let left = Cell::new(false);
    poll_fn(|context| {
        if left.replace(true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Tasks on the simulated core. Work of other threads happens here too, at a later moment.
#[derive(Clone)]
pub struct SimSpawn(Life);

impl Spawn for SimSpawn {
    fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        if let Some(world) = self.0.world() {
            world.scheduler.spawn(task);
        }
    }

    async fn yield_if_needed(&self) {
        let world = self.0.any_world();
        world.yields.set(world.yields.get() + 1);
        if world.percent(30) {
            leave().await;
        }
    }

    async fn give_way(&self) {
        let Some(world) = self.0.world() else { return };
        // A task that is woken again and again holds nobody up for ever.
        let mut before = world.scheduler.ready();
        for _ in 0..=2 * before.len() {
            leave().await;
            let ready = world.scheduler.ready();
            before.retain(|task| ready.contains(task));
            if before.is_empty() {
                return;
            }
        }
    }

    async fn work<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> Result<T> {
        let world = self.0.any_world();
        world.jobs.set(world.jobs.get() + 1);
        let delay = world.latency();
        Ok(self.0.later(delay, |_| job()).await)
    }
}
