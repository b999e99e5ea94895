//! The real answers to `env`'s questions: glommio, rustls, memmap2, and a few system calls.
//!
//! No other crate names glommio or rustls. TLS ends inside: above it there are byte streams.
//!
//! Always true
//! 1. What runs on an executor never blocks it: calls that io_uring does not offer, hashing and
//!    merging run on [`workers`].
//! 2. `unsafe` lives in three fences: [`system`], `mapped`, [`suspect`].
//!
//! Order at start: [`system::StopSignals::block`] before the first thread, [`preflight`], then
//! [`start`]. Not here: settings, certificates on disk, what the process prints (`tools`).

pub mod clock;
pub mod disk;
pub mod executor;
mod mapped;
pub mod memory;
pub mod net;
mod pause;
mod poke;
pub mod preflight;
pub mod probe;
pub mod random;
mod ring;
mod stretch;
pub mod suspect;
pub mod system;
pub mod tls;
pub mod tls_client;
pub mod watchdog;
pub mod workers;

pub use clock::RuntimeClock;
pub use disk::{PROBE, RuntimeDisk, RuntimeFile};
pub use executor::{Core, Running, RuntimeSpawn, start, start_measured};
pub use probe::Probe;
pub use random::RuntimeRandom;

/// The outside, as this machine answers it; cheap to clone, stays on its core.
#[derive(Clone, Debug)]
pub struct RuntimeEnv {
    pub(crate) disk: RuntimeDisk,
    pub(crate) clock: RuntimeClock,
    pub(crate) random: RuntimeRandom,
    pub(crate) spawn: RuntimeSpawn,
}

impl env::Env for RuntimeEnv {
    type Disk = RuntimeDisk;
    type Clock = RuntimeClock;
    type Random = RuntimeRandom;
    type Spawn = RuntimeSpawn;

    fn disk(&self) -> &RuntimeDisk {
        &self.disk
    }

    fn clock(&self) -> &RuntimeClock {
        &self.clock
    }

    fn random(&self) -> &RuntimeRandom {
        &self.random
    }

    fn spawn(&self) -> &RuntimeSpawn {
        &self.spawn
    }
}
