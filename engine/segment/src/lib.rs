//! Every byte of an immutable segment: how it is written, checked, read and merged.
//!
//! A segment is one file: sections behind one checksummed list, a fixed footer (`toc`, `footer`).
//! Structure is rkyv, checked; bulk is hand-laid little-endian, guarded page by page (`section`).
//!
//! | to find                        | look into                                      |
//! |--------------------------------|------------------------------------------------|
//! | a document by id               | [`ids`]                                        |
//! | a term                         | [`terms`]                                      |
//! | a term's documents             | [`postings`], and [`positions`] inside of them |
//! | a field's length               | [`norms`]                                      |
//! | a document's values            | [`columns`]                                    |
//! | the documents in a range       | [`bkd`]                                        |
//! | a document as it came          | [`stored`]                                     |
//! | which documents are nested     | [`parents`]                                    |
//! | which documents are alive      | [`live`]                                       |
//! | what a search sees             | [`view`]                                       |
//! | one segment out of several     | [`merge`](mod@merge), and [`docmap`]           |
//! | whether a file is whole        | [`verify`](mod@verify)                         |
//!
//! The crate knows field numbers and raw bytes, not mappings; it does no waiting and no I/O:
//! bytes come in as [`env::Bytes`] and go out as `Vec<u8>`.

#![deny(unsafe_code)]

pub mod bkd;
pub mod bytes;
pub mod columns;
pub mod docmap;
pub mod error;
pub mod fields;
pub mod footer;
pub mod ids;
pub mod live;
pub mod merge;
pub mod meta;
pub mod norms;
pub mod order;
pub mod parents;
pub mod positions;
pub mod postings;
pub mod reader;
pub mod section;
pub mod steps;
pub mod stored;
pub mod terms;
pub mod toc;
pub mod verify;
pub mod view;
pub mod writer;

pub use bkd::Bkd;
pub use docmap::{DocMap, InputMap};
pub use error::{Error, Result};
pub use ids::{IdSource, Ids, MergedIds};
pub use live::Live;
pub use norms::Norms;
pub use order::{SortColumn, SortKey, SortOrder};
pub use parents::Parents;
pub use postings::{BlockMax, Impacts, Need, Postings};
pub use reader::Segment;
pub use section::{Check, Missing, Section};
pub use terms::{
    BlockCache, MergedTerms, Posting, TermCursor, TermInfo, TermOptions, TermSource, Terms,
};
pub use toc::SectionKind;
pub use view::{View, ViewSegment};
pub use writer::SegmentWriter;
