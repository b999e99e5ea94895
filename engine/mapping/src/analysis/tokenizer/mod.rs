//! Tokenizers: a text cut into pieces.
//!
//! Each is a function over a text and a sink, so that chains are compiled together with them.

mod addresses;
pub mod classes;
mod classic;
mod cut;
mod emoji;
mod plain;
mod standard;
mod url_email;
mod word;

pub use cut::{CharGroup, Cut, NgramCut, PathCut};
pub use plain::{is_blank, letters, whitespace, whole};
pub use standard::standard;

use super::token::TokenKind;

/// Longest token, in UTF-16 units, where a chain does not say otherwise.
pub const MAX_TOKEN_LENGTH: u32 = 255;

/// A piece of a text, before filters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// First UTF-16 unit.
    pub from: u32,
    /// One past the last unit.
    pub to: u32,
    /// What it is.
    pub kind: TokenKind,
}

/// A place in a text that moves on for at most a number of UTF-16 units.
#[derive(Clone, Copy)]
struct Scan<'t> {
    text: &'t str,
    /// Byte of the next character.
    at: usize,
    /// Units behind.
    units: u32,
    units_max: u32,
    table: &'static classes::Table,
}

impl Scan<'_> {
    /// The next character's class, with the character, where it fits.
    #[inline]
    fn peek(&self) -> Option<(u8, char)> {
        let c = self.text[self.at..].chars().next()?;
        let fits = self.units + c.len_utf16() as u32 <= self.units_max;
        fits.then(|| (classes::word_class(self.table.of(c)), c))
    }

    #[inline]
    fn class(&self) -> u8 {
        self.peek().map_or(classes::OTHER, |(class, _)| class)
    }

    #[inline]
    fn pass(&mut self, c: char) {
        self.at += c.len_utf8();
        self.units += c.len_utf16() as u32;
    }

    /// Passes the characters that `belongs` says yes to.
    #[inline]
    fn pass_while(&mut self, belongs: impl Fn(u8) -> bool) {
        while let Some((class, c)) = self.peek() {
            if !belongs(class) {
                break;
            }
            self.pass(c);
        }
    }
}

/// Does a character of this class belong to the character before it?
#[inline]
const fn extends(class: u8) -> bool {
    matches!(
        class,
        classes::EXTEND
            | classes::TEXT_STYLE
            | classes::EMOJI_STYLE
            | classes::KEYCAP
            | classes::JOINER
            | classes::MODIFIER
            | classes::COMPLEX_EXTEND
    )
}

/// As [`extends`], but for the two style selectors.
#[inline]
const fn extends_sans_style(class: u8) -> bool {
    extends(class) && !matches!(class, classes::TEXT_STYLE | classes::EMOJI_STYLE)
}
