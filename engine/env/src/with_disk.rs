//! Surroundings with another disk: for one that is looked through, counts, or fails on purpose.

use crate::{Disk, Env};

/// An `E` whose files are those of `D`.
#[derive(Clone)]
pub struct WithDisk<E, D> {
    env: E,
    disk: D,
}

impl<E: Env, D: Disk> WithDisk<E, D> {
    /// `env`, but for its disk.
    pub fn new(env: E, disk: D) -> Self {
        Self { env, disk }
    }
}

impl<E: Env, D: Disk> Env for WithDisk<E, D> {
    type Disk = D;
    type Clock = E::Clock;
    type Random = E::Random;
    type Spawn = E::Spawn;

    fn disk(&self) -> &D {
        &self.disk
    }

    fn clock(&self) -> &E::Clock {
        self.env.clock()
    }

    fn random(&self) -> &E::Random {
        self.env.random()
    }

    fn spawn(&self) -> &E::Spawn {
        self.env.spawn()
    }
}
