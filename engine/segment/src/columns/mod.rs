//! Columns: the values of a field by document, for sorting, aggregating and filtering.
//!
//! Lucene calls them doc values. A column is cut into windows of 4,096 documents, the unit in which
//! plans run, and each window is a block of its own: who reads one needs no other.
//!
//! Always true
//! 1. Values stand in document order; those of one document rise, so its first is its least.
//! 2. Of each window it is known without reading it how many documents and values it has and
//!    between which two values they lie (its zone).
//! 3. Nothing here panics on bytes that were damaged: damage is an error where a function can
//!    give one, else the values are absent and the segment's fault says why.
//!
//! | file         | question                                            |
//! |--------------|-----------------------------------------------------|
//! | `zone`       | what is known of a window without reading it?       |
//! | `presence`   | which documents of a window have a value?           |
//! | `numeric`    | how do the numbers of a window lie in bytes?        |
//! | `block`      | how do presence, counts and numbers make a window?  |
//! | `dictionary` | how do sorted terms lie in bytes?                   |
//! | `reader`     | a column of numbers, open                           |
//! | `ordinal`    | a column of terms, open                             |
//! | `binary`     | a column of byte strings, written and open          |
//! | `writer`     | how do values become columns?                       |
//! | `merge`      | how do the columns of several segments become one?  |

pub mod binary;
pub mod block;
pub mod dictionary;
pub mod merge;
pub mod numeric;
pub mod ordinal;
pub mod presence;
pub mod reader;
pub mod writer;
pub mod zone;

#[cfg(test)]
mod tests;

pub use binary::{Binary, BinaryReader};
pub use dictionary::DictionaryReader;
pub use ordinal::{OrdPairs, Ordinals};
pub use reader::{Cursor, Numeric, Pairs};
pub use zone::Zone;

/// Documents of a window.
pub const WINDOW: u32 = 4096;

/// Words that hold a bit for each document of a window.
pub const WINDOW_WORDS: usize = WINDOW as usize / 64;

/// A bit for each document of a window.
pub type WindowWords = [u64; WINDOW_WORDS];

/// The window of a document, and its place there.
#[inline]
pub(crate) fn place(doc: base::DocId) -> (u32, u32) {
    (doc.get() / WINDOW, doc.get() % WINDOW)
}
