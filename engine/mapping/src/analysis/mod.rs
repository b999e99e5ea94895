//! Words of a text: char filters, a tokenizer, token filters, and the names they go by.

pub mod analyze;
pub mod analyzer;
mod build;
pub mod char_filter;
mod cutters;
pub mod effort;
pub mod filter;
pub mod holding;
mod languages;
mod options;
pub(crate) mod regex;
pub mod registry;
pub(crate) mod room;
mod stage;
pub mod stem;
pub mod token;
pub mod tokenizer;

pub use analyzer::{Analyzed, Analyzer, OwnedToken, Scratch, Tokenizer};
pub use registry::{GramLimits, Registry};
pub use room::{Flow, ON, ROOM_BYTES, Room, STOP};
pub use stage::Shingles;
pub use token::{Token, TokenKind};
