//! The standard tokenizer: word boundaries of UAX #29 as Lucene 9 reads them.
//!
//! The grammar is Lucene's `StandardTokenizerImpl.jflex`: at each place the longest of these is
//! taken, the first where two are equally long; where none fits, one character is passed over.
//!
//! | token               | made of                                                        |
//! |---------------------|----------------------------------------------------------------|
//! | `<EMOJI>`           | a pictograph, joined or tagged sequence, keycap, flag (`emoji`) |
//! | `<NUM>`             | digits, `_`; between digits one of `. , ; '`                   |
//! | `<HANGUL>`          | Hangul letters                                                 |
//! | `<KATAKANA>`        | Katakana letters                                               |
//! | `<ALPHANUM>`        | letters, digits, `_`; between letters one of `. : '` (`word`)  |
//! | `<SOUTHEAST_ASIAN>` | Thai, Lao, Khmer, Myanmar, …, whole runs                       |
//! | `<IDEOGRAPHIC>`     | one Han character                                              |
//! | `<HIRAGANA>`        | one Hiragana character                                         |
//!
//! Always true
//! 1. No token is longer than the given number of UTF-16 units: a longer word is cut there, and
//!    what follows is read as if it began anew, as Lucene's buffer of that size does.
//! 2. Words of ASCII alone never leave `ascii_word`; it gives up at the first other byte, and the
//!    whole grammar reads the word again.
//! 3. Work is linear in the text: a run that can begin no token is passed over as a whole.

use super::classes::{self, BEYOND, BYTES, TABLE};
use super::{Piece, Scan, emoji, extends, word};
use crate::analysis::room::{Flow, ON};
use crate::analysis::token::TokenKind;

/// Gives every token of `text`, in order, to `sink`.
pub fn standard(text: &str, units_max: u32, mut sink: impl FnMut(Piece) -> Flow) -> Flow {
    let bytes = text.as_bytes();
    let units_max = units_max.max(1);
    let (mut at, mut units) = (0usize, 0u32);
    while let Some(&byte) = bytes.get(at) {
        match BYTES[usize::from(byte)] {
            classes::WORD | classes::DIGIT | classes::UNDERSCORE => {
                if let Some((len, kind)) = ascii_word(bytes, at, units_max as usize) {
                    let (end, to) = (at + len, units + len as u32);
                    sink(Piece { start: at, end, from: units, to, kind })?;
                    (at, units) = (end, to);
                    continue;
                }
            }
            BEYOND => {}
            classes::KEYCAP_BASE if bytes.get(at + 1).is_some_and(|next| *next >= 0x80) => {}
            _ => {
                at += 1;
                units += 1;
                continue;
            }
        }
        let scan = Scan { text, at, units: 0, units_max, table: &TABLE };
        if let Some((end, kind)) = longest(scan) {
            let to = units + end.units;
            sink(Piece { start: at, end: end.at, from: units, to, kind })?;
            (at, units) = (end.at, to);
        } else {
            let (bytes_passed, units_passed) = pass(scan);
            at += bytes_passed;
            units += units_passed;
        }
    }
    ON
}

/// The word of ASCII letters, digits and underscores at `at`: its length and kind. `None` where
/// there is none or where a byte beyond ASCII could belong to it.
#[inline]
fn ascii_word(bytes: &[u8], at: usize, len_max: usize) -> Option<(usize, TokenKind)> {
    let bytes = &bytes[at..bytes.len().min(at + len_max)];
    let class = |at: usize| bytes.get(at).map_or(classes::OTHER, |byte| BYTES[usize::from(*byte)]);
    let (mut letters, mut digits) = (false, false);
    let mut at = 0;
    // Class of the character before `at`.
    let mut last = classes::OTHER;
    loop {
        let next = class(at);
        match next {
            classes::WORD => {
                at += 1;
                while class(at) == classes::WORD {
                    at += 1;
                }
                letters = true;
            }
            classes::DIGIT => {
                at += 1;
                while class(at) == classes::DIGIT {
                    at += 1;
                }
                digits = true;
            }
            classes::UNDERSCORE => {
                at += 1;
                while class(at) == classes::UNDERSCORE {
                    at += 1;
                }
            }
            classes::MID_LETTER | classes::MID_DIGIT | classes::MID_BOTH | classes::QUOTE => {
                let joins = match last {
                    classes::WORD => next != classes::MID_DIGIT,
                    classes::DIGIT => next != classes::MID_LETTER,
                    _ => false,
                };
                if !joins {
                    break;
                }
                let after = class(at + 1);
                if after == BEYOND {
                    return None;
                }
                if after != last {
                    break;
                }
                at += 1;
                continue;
            }
            BEYOND => return None,
            _ => break,
        }
        last = next;
    }
    let kind = if letters { TokenKind::Alphanum } else { TokenKind::Num };
    (letters || digits).then_some((at, kind))
}

/// The longest token at the beginning of `scan`.
fn longest<'t>(scan: Scan<'t>) -> Option<(Scan<'t>, TokenKind)> {
    let (class, c) = scan.peek()?;
    let emoji = match class {
        classes::PICTOGRAPH
        | classes::LETTER_PICTOGRAPH
        | classes::MODIFIER
        | classes::JOINER
        | classes::REGIONAL
        | classes::KEYCAP_BASE
        | classes::DIGIT => emoji::sequence(scan),
        _ => None,
    };
    let other = match class {
        classes::WORD
        | classes::HANGUL_LETTER
        | classes::HEBREW
        | classes::LETTER_PICTOGRAPH
        | classes::DIGIT
        | classes::KATAKANA
        | classes::UNDERSCORE => word::word(scan),
        classes::COMPLEX | classes::COMPLEX_EXTEND => {
            let mut end = scan;
            end.pass_while(|class| class == classes::COMPLEX || extends(class));
            Some((end, TokenKind::SoutheastAsian))
        }
        classes::HAN_CHARACTER | classes::HIRAGANA => {
            let mut end = scan;
            end.pass(c);
            end.pass_while(extends);
            let han = class == classes::HAN_CHARACTER;
            Some((end, if han { TokenKind::Ideographic } else { TokenKind::Hiragana }))
        }
        _ => None,
    };
    match (emoji, other) {
        (Some(emoji), Some((other, kind))) if other.units > emoji.units => Some((other, kind)),
        (Some(emoji), _) => Some((emoji, TokenKind::Emoji)),
        (None, other) => other,
    }
}

/// Bytes and units to pass over where no token begins.
///
/// One character; but a run of underscores, joiners and marks may be long, and would be looked
/// through again from each of its characters. Of such a run, all that is further from its end than
/// a token may reach is passed at once; all of it where nothing after it could complete a token.
fn pass(scan: Scan<'_>) -> (usize, u32) {
    let opens = |class| {
        matches!(
            class,
            classes::UNDERSCORE
                | classes::EXTEND
                | classes::TEXT_STYLE
                | classes::EMOJI_STYLE
                | classes::KEYCAP
                | classes::JOINER
        )
    };
    let mut passed = Scan { units_max: u32::MAX, ..scan };
    let Some((class, c)) = passed.peek() else { return (0, 0) };
    if !opens(class) {
        return (c.len_utf8(), c.len_utf16() as u32);
    }
    let mut end = passed;
    end.pass_while(opens);
    let completes = matches!(
        end.class(),
        classes::WORD
            | classes::HANGUL_LETTER
            | classes::HEBREW
            | classes::LETTER_PICTOGRAPH
            | classes::DIGIT
            | classes::KATAKANA
            | classes::PICTOGRAPH
            | classes::MODIFIER
            | classes::COMPLEX_EXTEND
    );
    let units_kept = if completes { scan.units_max } else { 0 };
    passed.pass(c);
    while let Some((_, c)) = passed.peek() {
        if passed.at >= end.at || end.units - passed.units <= units_kept {
            break;
        }
        passed.pass(c);
    }
    (passed.at - scan.at, passed.units - scan.units)
}

#[cfg(test)]
mod tests;
