//! The plain tokenizers: letters, whitespace, and the whole text as one token.

use super::Piece;
use super::classes::TABLE;
use crate::analysis::room::{Flow, ON};
use crate::analysis::token::TokenKind;

/// Runs of letters (`letter`, and before lower case `lowercase`).
pub fn letters(text: &str, units_max: u32, sink: impl FnMut(Piece) -> Flow) -> Flow {
    let table = &*TABLE;
    runs(
        text,
        units_max,
        |c| if c.is_ascii() { c.is_ascii_alphabetic() } else { table.is_letter(c) },
        sink,
    )
}

/// Runs of anything but blanks (`whitespace`).
pub fn whitespace(text: &str, units_max: u32, sink: impl FnMut(Piece) -> Flow) -> Flow {
    runs(text, units_max, |c| !is_blank(c), sink)
}

/// The whole text (`keyword`), even if it is empty.
pub fn whole(text: &str, mut sink: impl FnMut(Piece) -> Flow) -> Flow {
    let to = text.encode_utf16().count() as u32;
    sink(Piece { start: 0, end: text.len(), from: 0, to, kind: TokenKind::Word })
}

/// `Character.isWhitespace`: blanks and separators, but none that forbids a break.
pub fn is_blank(c: char) -> bool {
    match c {
        '\t'..='\r' | '\u{1c}'..='\u{1f}' => true,
        '\u{85}' | '\u{a0}' | '\u{2007}' | '\u{202f}' => false,
        c => c.is_whitespace(),
    }
}

/// Runs of the characters that belong, cut where they reach `units_max`.
pub(super) fn runs(
    text: &str,
    units_max: u32,
    belongs: impl Fn(char) -> bool,
    mut sink: impl FnMut(Piece) -> Flow,
) -> Flow {
    let mut units = 0u32;
    let mut open: Option<(usize, u32)> = None;
    for (at, c) in text.char_indices() {
        let to = units + c.len_utf16() as u32;
        if belongs(c) {
            let (start, from) = *open.get_or_insert((at, units));
            if to - from >= units_max {
                sink(Piece { start, end: at + c.len_utf8(), from, to, kind: TokenKind::Word })?;
                open = None;
            }
        } else if let Some((start, from)) = open.take() {
            sink(Piece { start, end: at, from, to: units, kind: TokenKind::Word })?;
        }
        units = to;
    }
    if let Some((start, from)) = open {
        return sink(Piece { start, end: text.len(), from, to: units, kind: TokenKind::Word });
    }
    ON
}
