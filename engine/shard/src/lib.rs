//! Writing: one shard, one core.
//!
//! A shard decides each operation (version check, sequence number), logs the decided batch, applies
//! it to the buffer when the log says it is durable, and answers. A refresh seals the buffer into a
//! segment in memory and publishes the new view; a flush writes it to files behind a manifest; an
//! open after a crash replays what the log holds beyond the manifest.
//!
//! | to find                                    | look into                                  |
//! |--------------------------------------------|--------------------------------------------|
//! | what a caller may ask                      | [`Shard`], [`operation`], [`config`]        |
//! | the rules of versions and conflicts        | `decide`, `versions`                        |
//! | the way of a batch                         | `write` (updates: `update`), then `apply`   |
//! | what the home core holds, and in what order it is asked | `state`, `held`                |
//! | the inverted index in memory               | `buffer`                                    |
//! | when a search sees what                    | `refresh`, [`reader`]                       |
//! | a document before it is written            | [`lone`]                                    |
//! | bytes on disk                              | [`frame`], [`manifest`], [`file`]           |
//! | what is durable when                       | `flush`, `recover`, `replay`                |
//! | whether a folder holds anything            | `blank`                                     |
//! | what is known of a shard that is not open  | [`look`]                                    |
//! | which segments are merged                  | [`merge`]                                   |
//!
//! Deliberately absent: HTTP and index names (`engine`), reading by query (`search`), the bytes of
//! segments (`segment`) and of the log (`wal`).

#![forbid(unsafe_code)]

mod apply;
mod blank;
mod buffer;
pub mod config;
mod decide;
pub mod error;
pub mod file;
mod flush;
mod forget;
pub mod frame;
mod get;
mod held;
pub mod lone;
pub mod manifest;
pub mod merge;
pub mod operation;
pub mod reader;
mod recover;
mod refresh;
mod replay;
mod resting;
mod room;
pub mod scripted;
mod scrub;
mod shard;
mod state;
pub mod stats;
mod update;
mod versions;
mod waiters;
mod write;

pub use blank::is_blank;
pub use config::{Durability, MergeConfig, RefreshInterval, ShardConfig};
pub use error::{Conflict, Error, Result, WriteError};
pub use merge::Aim;
pub use operation::{
    Answers, Check, Found, ID_BYTES_MAX, Kind, Operation, Outcome, Reading, Realtime, Scripted,
    Seen, Update, WriteBatch, Written,
};
pub use reader::{KeptAnswers, Opening, Reader, Touched, Uses};
pub use resting::{Resting, look, marks};
pub use scrub::scrub_closed;
pub use shard::{Setup, Shard};
pub use stats::{SegmentStats, Stats};
