//! Postings: the documents of a term, how often it is in each, and what they could score.
//!
//! | to find                        | look into |
//! |--------------------------------|-----------|
//! | how a block of 128 lies        | `block`   |
//! | where blocks end               | `skip`    |
//! | what bounds a block's scores   | `impact`  |
//! | how to find and decode blocks  | `blocks`  |
//! | how to read a term             | `cursor`  |
//! | how to read a long document    | `walk`    |
//! | how two terms are counted      | `shared`  |
//! | how a field is written, merged | `writer`, `merge` |

mod block;
mod blocks;
mod cursor;
mod impact;
pub(crate) mod merge;
mod shared;
mod skip;
mod verify;
mod walk;
mod writer;

use base::DocId;

pub use block::BLOCK;
pub(crate) use blocks::fill_all;
pub use blocks::{Entered, Probe, Scratch, WORDS};
pub use cursor::{BlockMax, Postings};
pub use impact::Impacts;
pub(crate) use impact::NORM_NONE;
pub use shared::MANY;
pub use skip::GROUP;
pub(crate) use skip::Shape;
pub(crate) use verify::bounds_hold;
pub use walk::Walk;
pub(crate) use writer::PostingWriter;

/// What a cursor stands on after its last document.
pub const END: DocId = DocId(u32::MAX);

/// What of the postings will be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// Documents.
    Docs,
    /// And frequencies.
    Freqs,
    /// And positions.
    Positions,
}

#[cfg(test)]
mod tests;
