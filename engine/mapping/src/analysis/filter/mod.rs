//! Token filters that look at one token at a time: keep it, change it, or drop it.
//!
//! Filters that make several tokens of one (`ngram`, synonyms) or look at several (`shingle`) need
//! a queue between steps; they come with the wider set of analyzers.

mod lowercase;
mod porter;
mod possessive;
mod stop;

pub use lowercase::{lowercase, uppercase};
pub use stop::{ENGLISH, StopWords};

use std::sync::Arc;

/// A filter, ready to be applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Filter {
    /// Lower case, character by character.
    Lowercase,
    /// Upper case, character by character.
    Uppercase,
    /// Drops the words of a list.
    Stop(Arc<StopWords>),
    /// Takes `'s` off the end.
    Possessive,
    /// Porter's stemmer of 1980.
    Porter,
    /// Porter's stemmer, but for the words of a list.
    PorterExcept(Arc<StopWords>),
}

/// The text of a token on its way through the filters: copied when it is first changed.
#[derive(Debug)]
pub struct Term<'a> {
    text: &'a str,
    buffer: &'a mut String,
    changed: bool,
}

impl<'a> Term<'a> {
    /// A token of `text`; `buffer` is used where it must change.
    pub fn new(text: &'a str, buffer: &'a mut String) -> Self {
        Self { text, buffer, changed: false }
    }

    /// The text now.
    #[inline]
    pub fn as_str(&self) -> &str {
        if self.changed { self.buffer } else { self.text }
    }

    /// The text at last.
    pub fn into_str(self) -> &'a str {
        if self.changed { self.buffer } else { self.text }
    }

    /// The text, to change.
    pub fn to_mut(&mut self) -> &mut String {
        if !self.changed {
            self.buffer.clear();
            self.buffer.push_str(self.text);
            self.changed = true;
        }
        self.buffer
    }

    /// Cuts the text to its first `len` bytes.
    pub fn truncate(&mut self, len: usize) {
        if self.changed {
            self.buffer.truncate(len);
        } else {
            self.text = &self.text[..len];
        }
    }
}

impl Filter {
    /// Applies the filter; `false` drops the token.
    #[inline]
    pub fn apply(&self, term: &mut Term<'_>) -> bool {
        match self {
            Self::Lowercase => lowercase(term),
            Self::Uppercase => uppercase(term),
            Self::Stop(words) => return !words.contains(term.as_str()),
            Self::Possessive => possessive::strip(term),
            Self::Porter => porter::stem(term),
            Self::PorterExcept(words) => {
                if !words.contains(term.as_str()) {
                    porter::stem(term);
                }
            }
        }
        true
    }

    /// Does it give the same after lower case as before it?
    pub const fn ignores_case(&self) -> bool {
        matches!(self, Self::Possessive)
    }
}
