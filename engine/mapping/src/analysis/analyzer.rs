//! A chain: one tokenizer, then token filters.
//!
//! Where the chain lowercases, the ASCII of a text is lowercased whole before it is cut: letters of
//! either case are of one class to each tokenizer, so the cuts are the same, and tokens of ASCII are
//! then slices, not copies.

use super::filter::{Filter, Term};
use super::token::{Token, TokenKind};
use super::tokenizer::{self, Piece};

/// How a text is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tokenizer {
    /// Word boundaries of UAX #29; longest token in UTF-16 units.
    Standard(u32),
    /// Runs of letters.
    Letter(u32),
    /// Runs of anything but blanks.
    Whitespace(u32),
    /// The whole text.
    Keyword,
}

impl Tokenizer {
    #[inline]
    fn pieces(self, text: &str, sink: impl FnMut(Piece)) {
        match self {
            Self::Standard(max) => tokenizer::standard(text, max, sink),
            Self::Letter(max) => tokenizer::letters(text, max, sink),
            Self::Whitespace(max) => tokenizer::whitespace(text, max, sink),
            Self::Keyword => tokenizer::whole(text, sink),
        }
    }
}

/// What a whole text gave beside its tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Analyzed {
    /// Tokens given.
    pub count: u32,
    /// Position after the end: one past the last token, dropped words at the end counted.
    pub position_end: u32,
    /// Length of the text in UTF-16 units.
    pub offset_end: u32,
}

/// Memory of an analysis, used again for the next one.
#[derive(Debug, Default)]
pub struct Scratch {
    lowered: String,
    term: String,
}

/// A tokenizer and token filters, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Analyzer {
    name: String,
    tokenizer: Tokenizer,
    filters: Vec<Filter>,
    /// Positions between two values of one document.
    gap: u32,
    /// Which filter lowercases, where nothing before it minds.
    lowercases_at: Option<usize>,
}

impl Analyzer {
    /// Positions between the values of one field, where nothing says otherwise.
    pub const GAP: u32 = 100;

    /// A chain.
    pub fn new(name: impl Into<String>, tokenizer: Tokenizer, filters: Vec<Filter>) -> Self {
        let lowercases_at = filters
            .iter()
            .position(|filter| *filter == Filter::Lowercase)
            .filter(|at| filters[..*at].iter().all(Filter::ignores_case));
        Self { name: name.into(), tokenizer, filters, gap: Self::GAP, lowercases_at }
    }

    /// The same chain with another gap between values.
    #[must_use]
    pub fn with_gap(mut self, gap: u32) -> Self {
        self.gap = gap;
        self
    }

    /// The name it is known by.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Positions between two values of one document.
    pub const fn gap(&self) -> u32 {
        self.gap
    }

    /// Gives every token of `text`, in order, to `sink`.
    pub fn tokens(&self, text: &str, sink: &mut dyn FnMut(Token<'_>)) -> Analyzed {
        self.tokens_with(text, &mut Scratch::default(), sink)
    }

    /// As [`Self::tokens`], for many texts in a row.
    #[inline]
    pub fn tokens_with(
        &self,
        text: &str,
        scratch: &mut Scratch,
        sink: impl FnMut(Token<'_>),
    ) -> Analyzed {
        let Scratch { lowered, term } = scratch;
        let Some(skip) = self.lowercases_at else {
            return self.run(text, usize::MAX, term, sink);
        };
        lowered.clear();
        lowered.push_str(text);
        lowered.make_ascii_lowercase();
        self.run(lowered, skip, term, sink)
    }

    /// Runs the chain; tokens of ASCII need not go through the filter at `skip`.
    #[inline]
    fn run(
        &self,
        text: &str,
        skip: usize,
        buffer: &mut String,
        mut sink: impl FnMut(Token<'_>),
    ) -> Analyzed {
        let mut done = Analyzed::default();
        let filters = self.filters.as_slice();
        let mut last = (0, 0);
        self.tokenizer.pieces(text, |piece| {
            let position = done.position_end;
            done.position_end += 1;
            last = (piece.end, piece.to);
            let mut give = |term: &str| {
                done.count += 1;
                let Piece { from, to, kind, .. } = piece;
                sink(Token { term, position, start: from, end: to, kind });
            };
            let term = &text[piece.start..piece.end];
            let skip = if term.is_ascii() { skip } else { usize::MAX };
            if filters.len() == usize::from(skip != usize::MAX) {
                give(term);
                return;
            }
            let mut term = Term::new(term, buffer);
            for (at, filter) in filters.iter().enumerate() {
                if at != skip && !filter.apply(&mut term) {
                    return;
                }
            }
            give(term.as_str());
        });
        let (bytes, units) = last;
        done.offset_end = units + text[bytes..].chars().map(char::len_utf16).sum::<usize>() as u32;
        done
    }

    /// The one token that a normalizer makes of a text: filters without cutting.
    pub fn normalize<'a>(&self, text: &'a str, buffer: &'a mut String) -> &'a str {
        let mut term = Term::new(text, buffer);
        for filter in &self.filters {
            filter.apply(&mut term);
        }
        term.into_str()
    }
}

/// One token that owns its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnedToken {
    /// Its text.
    pub term: String,
    /// Its position.
    pub position: u32,
    /// First UTF-16 unit.
    pub start: u32,
    /// One past the last unit.
    pub end: u32,
    /// What the tokenizer says it is.
    pub kind: TokenKind,
}
