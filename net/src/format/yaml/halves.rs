//! Escaped halves of surrogate pairs: `"\ud83d\ude00"` in double quotes is one letter, as in JSON. The parser of
//! YAML knows letters only, so that a half is given to it as a letter of which the text has none, and is made one
//! again in what it says.
//!
//! Always true
//! 1. What the parser is given has the same letters at the same places, but for the one hexadecimal digit by which
//!    a half is told from a letter: lines, quotes and marks stand where they stood.
//! 2. The letters from X800 to XFFF, X being that digit, stand for halves alone: the text held none of them, neither
//!    raw nor escaped.

use std::borrow::Cow;

use saphyr_parser::ScalarStyle;

/// The digits that may stand for the `d` of a half.
const DIGITS: [u8; 5] = *b"eabcf";

/// A text of YAML as the parser is given it.
pub(super) struct Halves<'t> {
    text: Cow<'t, str>,
    /// What stands for the `d` of halves, in small letters; none where there are no halves.
    digit: Option<u8>,
}

/// What a scalar says.
pub(super) enum Said<'s> {
    Text(Cow<'s, str>),
    /// It holds halves without their other half, as JSON does.
    Json(String),
}

impl<'t> Halves<'t> {
    /// Makes halves letters. Where a text already holds letters of all kinds that could stand for them, they stay as
    /// they are.
    pub fn hide(text: &'t str) -> Self {
        let unchanged = Self { text: Cow::Borrowed(text), digit: None };
        let bytes = text.as_bytes();
        let halves: Vec<usize> = escapes(bytes)
            .filter(|escape| escape.is_real && matches!(bytes[escape.at], b'd' | b'D'))
            .map(|escape| escape.at)
            .collect();
        if halves.is_empty() {
            return unchanged;
        }
        let mut used = [false; 16];
        for letter in text.chars().map(u32::from).filter(|code| code & !0xf7ff == 0x800) {
            used[(letter >> 12) as usize] = true;
        }
        for escape in escapes(bytes) {
            used[usize::from(hex(bytes[escape.at]).unwrap_or(0))] = true;
        }
        let free = |digit: &u8| !used[usize::from(hex(*digit).unwrap_or(0))];
        let Some(digit) = DIGITS.into_iter().find(free) else { return unchanged };
        let mut hidden = bytes.to_vec();
        for at in halves {
            hidden[at] = if bytes[at] == b'd' { digit } else { digit.to_ascii_uppercase() };
        }
        // One digit for another: it is UTF-8 as before.
        match String::from_utf8(hidden) {
            Ok(hidden) => Self { text: Cow::Owned(hidden), digit: Some(digit) },
            Err(_) => unchanged,
        }
    }

    /// What the parser is given.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What a scalar says of which the parser read this.
    pub fn said<'s>(&self, text: Cow<'s, str>, style: ScalarStyle) -> Said<'s> {
        match self.digit {
            None => Said::Text(text),
            // Elsewhere it was no escape.
            Some(digit) if style != ScalarStyle::DoubleQuoted => {
                let mut bytes = text.as_bytes().to_vec();
                for escape in escapes(text.as_bytes()) {
                    bytes[escape.at] = match bytes[escape.at] {
                        found if found == digit => b'd',
                        found if found == digit.to_ascii_uppercase() => b'D',
                        found => found,
                    };
                }
                Said::Text(String::from_utf8(bytes).map_or(text, Cow::Owned))
            }
            Some(digit) => joined(text, u32::from(hex(digit).unwrap_or(0)) << 12),
        }
    }
}

/// Letters that stand for halves become those of pairs; `kind` is the highest digit of their codes.
fn joined(text: Cow<'_, str>, kind: u32) -> Said<'_> {
    let half = |letter: char| {
        let code = u32::from(letter);
        (code & !0x7ff == kind | 0x800).then_some(0xd800 | (code & 0x7ff))
    };
    if !text.contains(|letter| half(letter).is_some()) {
        return Said::Text(text);
    }
    let mut whole = String::with_capacity(text.len());
    let mut is_whole = true;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let high = half(letter).filter(|code| *code < 0xdc00);
        let low = letters.peek().and_then(|next| half(*next)).filter(|code| *code >= 0xdc00);
        let pair = high.zip(low).and_then(|(high, low)| {
            char::from_u32(0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00))
        });
        if pair.is_some() {
            letters.next();
        } else {
            is_whole &= half(letter).is_none();
        }
        whole.push(pair.unwrap_or(letter));
    }
    if is_whole {
        return Said::Text(Cow::Owned(whole));
    }
    let mut json = String::new();
    for letter in json::to_string(&json::Value::from(whole)).chars() {
        match half(letter) {
            Some(code) => json.push_str(&format!("\\u{code:04x}")),
            None => json.push(letter),
        }
    }
    Said::Json(json)
}

/// What reads like the escape of a letter between 0800 and 0FFF, 1800 and 1FFF and so on.
struct Escape {
    /// Where its first digit stands.
    at: usize,
    /// In double quotes it would be one: the backslash is not escaped itself.
    is_real: bool,
}

fn escapes(text: &[u8]) -> impl Iterator<Item = Escape> + '_ {
    memchr::memchr_iter(b'\\', text).filter_map(|slash| {
        let at = slash
            + match text.get(slash + 1)? {
                b'u' => 2,
                b'U' if text.get(slash + 2..slash + 6)? == b"0000" => 6,
                _ => return None,
            };
        let digits = text.get(at..at + 4)?;
        let fits = digits.iter().all(u8::is_ascii_hexdigit) && hex(digits[1])? >= 8;
        let before = || text[..slash].iter().rev().take_while(|byte| **byte == b'\\').count();
        fits.then(|| Escape { at, is_real: before() % 2 == 0 })
    })
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|value| value as u8)
}

#[cfg(test)]
mod tests {
    use super::super::super::{Encoding, to_json};

    fn json(yaml: &str) -> String {
        String::from_utf8(to_json(Encoding::Yaml, yaml.as_bytes()).expect(yaml)).expect("UTF-8")
    }

    /// Each pair was refused.
    #[test]
    fn pairs_in_double_quotes_are_one_letter_and_stay_text_elsewhere() {
        for (yaml, wanted) in [
            (r#"v: "\ud83d\ude00""#, r#"{"v":"😀"}"#),
            (r#"v: "a\uD83D\uDE00b\u0041""#, r#"{"v":"a😀bA"}"#),
            (r#"v: "\U0000D83D\uDE00""#, r#"{"v":"😀"}"#),
            ("v: \"\\ud83d\\\n  \\ude00\"", r#"{"v":"😀"}"#),
            (r#""\ud83d\ude00": !!str "\ud83d\ude00""#, r#"{"😀":"😀"}"#),
            (r#"v: {"\ud83d\ude00": ["\\\ud83d\ude00"]}"#, r#"{"v":{"😀":["\\😀"]}}"#),
            // Halves alone, as in JSON.
            (r#"v: "\uD83D""#, r#"{"v":"\ud83d"}"#),
            (r#"v: "\ud83d\ud83d\ude00 \ude00""#, r#"{"v":"\ud83d😀 \ude00"}"#),
            (r#""\ude00\n": 1"#, r#"{"\ude00\n":1}"#),
            // No escapes: the backslash is one, or the quotes are others.
            (r#"v: "\\ud83d\\ude00""#, r#"{"v":"\\ud83d\\ude00"}"#),
            (r#"v: ['\ud83d\uDE00', "\ud83d\ude00"]"#, r#"{"v":["\\ud83d\\uDE00","😀"]}"#),
            (r#"v: [\ud83d\ude00, "\ud83d\ude00"]"#, r#"{"v":["\\ud83d\\ude00","😀"]}"#),
            ("v: |\n  \\uD83d\\ude00\n", r#"{"v":"\\uD83d\\ude00\n"}"#),
            ("# \"\\ud83d\nv: it\"\\ud83d\\ude00\"", r#"{"v":"it\"\\ud83d\\ude00\""}"#),
            // Letters and escapes that could be taken for what stands for halves.
            (
                "v: [\"\\ud83d\\ude00\", \"\u{e83d}\", '\\ue83d']",
                "{\"v\":[\"😀\",\"\u{e83d}\",\"\\\\ue83d\"]}",
            ),
            (r#"v: "\ud83d\ude00\ue83d\U0000a83d""#, "{\"v\":\"😀\u{e83d}\u{a83d}\"}"),
        ] {
            assert_eq!(json(yaml), wanted, "{yaml}");
        }
    }

    #[test]
    fn a_text_with_letters_of_all_kinds_that_could_stand_for_halves_is_refused_as_before() {
        let all = r#"v: "\ud83d\ude00\ue800\ua800\ub800\uc800\uf800""#;
        assert!(to_json(Encoding::Yaml, all.as_bytes()).is_err());
    }
}
