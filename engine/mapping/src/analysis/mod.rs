//! Words of a text: a tokenizer, token filters, and the names they go by.

pub mod analyze;
pub mod analyzer;
pub mod filter;
pub mod registry;
pub mod token;
pub mod tokenizer;

pub use analyzer::{Analyzed, Analyzer, OwnedToken, Scratch, Tokenizer};
pub use registry::Registry;
pub use token::{Token, TokenKind};
