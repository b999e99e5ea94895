//! Versions of software as terms whose bytes sort as the versions do (semver, loosely).
//!
//! Each part of `1.22.3-beta.4+build` between dots becomes, where it is digits only, `01`, a byte of
//! length with the upper bit set and the digits; else its text. After the main parts stands `02`
//! where a pre-release part follows, else `03`, so that 1.0-rc comes before 1.0; the rest follows.
//!
//! | bytes                | what                                                     |
//! |----------------------|----------------------------------------------------------|
//! | 01, 80 + n, n digits | a number of n digits, without zeros before it            |
//! | text                 | a part that is no number, of a pre-release                |
//! | 2e                   | a dot between parts                                       |
//! | 02 or 03             | before a pre-release, or where there is none              |
//! | 2b, text             | the build                                                |
//!
//! Example: `1.10` is `01 81 31 2e 01 82 31 30 03`. What is no version (`1..x`) is kept as its text and
//! sorts after all versions, because its first byte is `ff`.

use std::borrow::Cow;

/// Most digits of a number that gets its length.
const DIGITS_MAX: usize = 127;

/// Before a number, so that numbers come before words.
const NUMBER: u8 = 1;
const PRE_RELEASE: u8 = 2;
const NO_PRE_RELEASE: u8 = 3;
const NO_VERSION: u8 = 0xff;

/// The term of a version.
pub fn encode(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 8);
    if !encode_into(text, &mut out) {
        out.clear();
        out.push(NO_VERSION);
        out.extend_from_slice(text.as_bytes());
    }
    out
}

fn encode_into(text: &str, out: &mut Vec<u8>) -> bool {
    let (rest, build) = match text.split_once('+') {
        Some((rest, build)) => (rest, Some(build)),
        None => (text, None),
    };
    let (main, pre) = match rest.split_once('-') {
        Some((main, pre)) => (main, Some(pre)),
        None => (rest, None),
    };
    for (at, part) in main.split('.').enumerate() {
        if at > 0 {
            out.push(b'.');
        }
        if !is_number(part) {
            return false;
        }
        number(part, out);
    }
    match pre {
        None => out.push(NO_PRE_RELEASE),
        Some(pre) => {
            out.push(PRE_RELEASE);
            out.push(b'-');
            for (at, part) in pre.split('.').enumerate() {
                if at > 0 {
                    out.push(b'.');
                }
                if !is_word(part) {
                    return false;
                }
                if is_number(part) {
                    number(part, out);
                } else {
                    out.extend_from_slice(part.as_bytes());
                }
            }
        }
    }
    if let Some(build) = build {
        if !build.split('.').all(is_word) {
            return false;
        }
        out.push(b'+');
        out.extend_from_slice(build.as_bytes());
    }
    true
}

/// Digits that read back as they were: without a zero before them.
fn is_number(part: &str) -> bool {
    !part.is_empty()
        && part.len() <= DIGITS_MAX
        && part.bytes().all(|byte| byte.is_ascii_digit())
        && (part.len() == 1 || !part.starts_with('0'))
}

fn is_word(part: &str) -> bool {
    !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn number(part: &str, out: &mut Vec<u8>) {
    out.push(NUMBER);
    out.push(0x80 + part.len() as u8);
    out.extend_from_slice(part.as_bytes());
}

/// The version of a term.
pub fn decode(term: &[u8]) -> Cow<'_, str> {
    if let Some((&NO_VERSION, text)) = term.split_first() {
        return String::from_utf8_lossy(text);
    }
    let kept = term
        .iter()
        .filter(|byte| **byte < 0x80 && !matches!(**byte, NUMBER | PRE_RELEASE | NO_PRE_RELEASE));
    let text: Vec<u8> = kept.copied().collect();
    Cow::Owned(String::from_utf8_lossy(&text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_sort_and_read_back() {
        let rising = [
            "1.0.0-alpha",
            "1.0.0-alpha.1",
            "1.0.0-alpha.beta",
            "1.0.0-beta",
            "1.0.0-beta.2",
            "1.0.0-beta.11",
            "1.0.0-rc.1",
            "1.0.0",
            "1.0.0+build",
            "1.2.0",
            "1.10",
            "2.0.0",
            "11.2.0",
            "1.x",
            "bad",
        ];
        for pair in rising.windows(2) {
            assert!(encode(pair[0]) < encode(pair[1]), "{} {}", pair[0], pair[1]);
        }
        for text in rising.into_iter().chain(["", "01.2", "1..2", "1.2-", "é"]) {
            assert_eq!(decode(&encode(text)), text);
        }
    }
}
