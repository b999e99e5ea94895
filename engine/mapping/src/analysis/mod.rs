//! Words of a text: char filters, a tokenizer, token filters, and the names they go by.

pub mod analyzer;
pub mod registry;
pub mod token;

pub use analyzer::{Analyzed, Analyzer};
pub use registry::Registry;
pub use token::{Token, TokenKind};
