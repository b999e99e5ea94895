//! Questions to the outside: disk, network, time, chance and running things, as traits.
//!
//! Core crates are generic over [`Env`] and know no other way out. `runtime` answers with glommio,
//! rustls and memmap2; `sim` answers from one seed, on one thread, with faults. Dispatch is static.
//!
//! Always true
//! 1. A future of this crate is driven on the core that made it; none is `Send`.
//! 2. Between cores pass only mailbox messages, replies, published values and rising numbers.
//! 3. A buffer given to a write is owned by the write until it ends.

#![deny(unsafe_code)]

pub mod breath;
pub mod budget;
pub mod bytes;
pub mod clock;
pub mod disk;
pub mod error;
pub mod heap;
pub mod join;
pub mod leftovers;
pub mod lines;
pub mod machine;
pub mod mailbox;
pub mod meter;
pub mod net;
pub mod pace;
pub mod published;
pub mod queue;
pub mod random;
pub mod read_only;
pub mod reply;
pub mod rising;
pub mod spawn;
mod sync;
pub mod turns;
mod with_disk;

pub use bytes::Bytes;
pub use clock::Clock;
pub use disk::{Disk, File};
pub use error::{Error, ErrorKind, Result};
pub use join::{join_all, join_in_turns};
pub use net::Stream;
pub use pace::Pace;
pub use random::Random;
pub use read_only::{ReadOnly, read_only};
pub use spawn::{Rounds, Spawn};
pub use with_disk::WithDisk;

/// Everything a core may ask of the outside; cheap to clone.
pub trait Env: Clone + 'static {
    /// Files.
    type Disk: Disk;
    /// Time.
    type Clock: Clock;
    /// Chance.
    type Random: Random;
    /// Tasks on this core, work on worker threads.
    type Spawn: Spawn;

    /// Files.
    fn disk(&self) -> &Self::Disk;
    /// Time.
    fn clock(&self) -> &Self::Clock;
    /// Chance.
    fn random(&self) -> &Self::Random;
    /// Tasks on this core, work on worker threads.
    fn spawn(&self) -> &Self::Spawn;
}
