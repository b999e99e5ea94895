//! The outside, simulated: time, chance, files, tasks and streams, all from one seed on one thread.
//!
//! Always true
//! 1. The same seed and the same program give the same trace ([`Sim::trace`]): whatever happens,
//!    happens again, walks over hash tables too: those of the thread that makes a machine have one
//!    seed from then on.
//! 2. What was synced survives [`Sim::crash`]; of what was not, each sector and each name is kept,
//!    dropped, torn or turned to garbage, as the seed says ([`storage`]).
//! 3. Nothing of a life before a crash acts on the world after it: its tasks are gone, its calls
//!    never end.
//! 4. Time passes only here: a sleep of an hour costs nothing.
//! 5. The disk is honest and never fails, unless it is told otherwise: calls fail ([`Sim::fail`],
//!    [`Sim::fail_nth`]) or take long ([`Sim::set_spikes`]), writes are lost, misdirected or stale
//!    ([`Sim::lie`]), bytes rot ([`Sim::rot`]), space ends ([`Sim::set_free_bytes`]); the calendar
//!    jumps ([`Sim::jump_calendar`]), the process stands still ([`Sim::pause`]).
//!
//! ```
//! use env::{Clock, Env};
//! let sim = sim::Sim::new(7);
//! let env = sim.env();
//! let hour = std::time::Duration::from_secs(3600);
//! sim.run(async move { env.clock().sleep(hour).await });
//! assert!(sim.now() >= hour);
//! ```
//!
//! Not here: several cores. A core's mailbox works, but its other side runs on the same thread.

#![forbid(unsafe_code)]

mod chance;
mod clock;
mod disk;
mod fault;
mod life;
mod outside;
mod scheduler;
mod seeds;
mod storage;
mod stream;
mod world;

pub use clock::SimClock;
pub use disk::{SimBuffer, SimDisk, SimFile};
pub use fault::{Call, Lie};
pub use outside::{SimEnv, SimRandom, SimSpawn};
pub use seeds::seeds;
pub use stream::SimStream;
pub use world::Sim;
