//! A chain: char filters, one tokenizer, token filters.

use super::token::Token;

/// What a whole text gave beside its tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Analyzed {
    /// Tokens given.
    pub count: u32,
    /// Position after the end: one past the last token, stop words at the end counted.
    pub position_end: u32,
    /// Length of the text in UTF-16 units.
    pub offset_end: u32,
}

/// A chain of char filters, one tokenizer and token filters, by name.
#[derive(Debug)]
pub struct Analyzer {
    name: String,
}

impl Analyzer {
    /// The name it is known by.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Gives every token of `text`, in order, to `sink`.
    pub fn tokens(&self, _text: &str, _sink: &mut dyn FnMut(Token<'_>)) -> Analyzed {
        todo!()
    }
}
