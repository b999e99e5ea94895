//! Words and numbers of the standard tokenizer: rules WB5 to WB13b of UAX #29, in Lucene's form.
//!
//! A word is groups with underscores around and between them. A group is Katakana letters; or
//! letters and digits, where one `. : '` may stand between letters, one `. , ; '` between digits,
//! and Hebrew letters may be followed by `'`, or by `"` and another Hebrew letter. Each character
//! takes along those that extend it.

use super::classes;
use super::{Scan, extends};
use crate::analysis::token::TokenKind;

/// What was read last.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing but underscores.
    Start,
    Letter,
    Hebrew,
    /// A Hebrew letter and `'`: may end the word.
    HebrewQuote,
    /// A Hebrew letter and `"`: another must follow.
    HebrewDouble,
    /// A Hebrew letter, `"`, and another: takes nothing between itself and what follows.
    HebrewPair,
    Digit,
    Katakana,
    /// Underscores after a group.
    Underscore,
    /// A letter must follow.
    MidLetter,
    /// A digit must follow.
    MidDigit,
}

impl State {
    /// May a word end here?
    const fn ends(self) -> bool {
        !matches!(self, Self::Start | Self::HebrewDouble | Self::MidLetter | Self::MidDigit)
    }

    /// The state after a character of `class`; `None` where the word cannot go on.
    const fn after(self, class: u8) -> Option<Self> {
        use classes as c;
        match class {
            c::UNDERSCORE => match self {
                Self::Start => Some(Self::Start),
                _ if self.ends() => Some(Self::Underscore),
                _ => None,
            },
            c::HEBREW => match self {
                Self::HebrewDouble => Some(Self::HebrewPair),
                Self::Katakana | Self::MidDigit => None,
                // It belongs to the letters before the sign, and takes no quote.
                Self::MidLetter => Some(Self::Letter),
                _ => Some(Self::Hebrew),
            },
            c::WORD | c::HANGUL_LETTER | c::LETTER_PICTOGRAPH => match self {
                Self::HebrewDouble | Self::Katakana | Self::MidDigit => None,
                _ => Some(Self::Letter),
            },
            c::DIGIT => match self {
                Self::HebrewDouble | Self::Katakana | Self::MidLetter => None,
                _ => Some(Self::Digit),
            },
            c::KATAKANA => match self {
                Self::Start | Self::Katakana | Self::Underscore => Some(Self::Katakana),
                _ => None,
            },
            c::QUOTE => match self {
                Self::Hebrew => Some(Self::HebrewQuote),
                Self::Letter => Some(Self::MidLetter),
                Self::Digit => Some(Self::MidDigit),
                _ => None,
            },
            c::DOUBLE_QUOTE => match self {
                Self::Hebrew => Some(Self::HebrewDouble),
                _ => None,
            },
            c::MID_BOTH => match self {
                Self::Letter | Self::Hebrew => Some(Self::MidLetter),
                Self::Digit => Some(Self::MidDigit),
                _ => None,
            },
            c::MID_LETTER => match self {
                Self::Letter | Self::Hebrew => Some(Self::MidLetter),
                _ => None,
            },
            c::MID_DIGIT => match self {
                Self::Digit => Some(Self::MidDigit),
                _ => None,
            },
            _ => None,
        }
    }
}

/// What a word is made of; its kind follows from it.
#[derive(Clone, Copy, Default)]
struct Parts {
    letters: bool,
    hangul: bool,
    digits: bool,
    katakana: bool,
    /// Underscores and signs between.
    others: bool,
}

impl Parts {
    const fn add(&mut self, class: u8) {
        match class {
            classes::HANGUL_LETTER => self.hangul = true,
            classes::WORD | classes::HEBREW | classes::LETTER_PICTOGRAPH => self.letters = true,
            classes::DIGIT => self.digits = true,
            classes::KATAKANA => self.katakana = true,
            _ => self.others = true,
        }
    }

    const fn kind(self) -> TokenKind {
        match self {
            Self { letters: false, hangul: false, katakana: false, .. } => TokenKind::Num,
            Self {
                hangul: true,
                letters: false,
                digits: false,
                katakana: false,
                others: false,
            } => TokenKind::Hangul,
            Self {
                katakana: true,
                letters: false,
                digits: false,
                hangul: false,
                others: false,
            } => TokenKind::Katakana,
            _ => TokenKind::Alphanum,
        }
    }
}

/// The longest word or number at the beginning of `scan`.
pub(super) fn word<'t>(scan: Scan<'t>) -> Option<(Scan<'t>, TokenKind)> {
    let (mut at, mut state, mut parts) = (scan, State::Start, Parts::default());
    let mut best = None;
    let mut any = false;
    while let Some((class, c)) = at.peek() {
        if extends(class) {
            if !any {
                break;
            }
        } else {
            let Some(next) = state.after(class) else { break };
            state = next;
            parts.add(class);
            any = true;
        }
        at.pass(c);
        if state.ends() {
            best = Some((at, parts.kind()));
        }
    }
    best
}
