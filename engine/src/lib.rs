//! One node: indices, routing, operations.
//!
//! [`Shared`] is what all cores of a process share; each core runs a [`Core`], which takes any
//! operation (`ops`), parses on the spot, and sends each shard's part to the shard's home core
//! (`host`). Cluster state lives on core 0 and is published to all.
//!
//! Deliberately absent: HTTP, users, any clock or disk that is not `env`'s.

#![forbid(unsafe_code)]

mod core;
pub mod error;
pub mod gate;
mod host;
pub mod index;
mod left;
pub mod meter;
pub mod node;
pub mod ops;
pub mod task;

pub use core::{Core, start_all};
pub use error::{Error, Result};
pub use gate::{Everything, Gate, Limits, Open, Origin, Standing};
pub use host::folders::is_blank_index;
pub use host::room::Marks;
pub use host::scrub::{Other, Scrubbing};
pub use left::Left;
pub use node::{Config, Inbox, Shared, prepare};
