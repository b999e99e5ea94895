//! Names to indices, documents to shards, settings to what a shard reads.

pub mod block;
pub mod date_math;
pub(crate) mod names;
pub mod preference;
pub mod resolve;
pub mod route;
pub(crate) mod settings;
pub mod single;
