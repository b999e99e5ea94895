//! The small forms inside JSON text: numbers and escapes.

use crate::error::{Error, ErrorKind, Result};
use crate::limits::Limits;

/// Checks the number that begins at `start`; answers one past its last byte.
///
/// # Errors
/// What the grammar forbids, in Jackson's words, and too many characters.
pub fn number(text: &[u8], start: usize, limits: &Limits) -> Result<usize> {
    let digits = |mut at: usize| {
        while text.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let bad = |at: usize, what: &str| {
        let Some(&byte) = text.get(at) else {
            let message = format!("Unexpected end-of-input in a number: {what}");
            return Error::at(ErrorKind::UnexpectedEnd, message, text, at);
        };
        let shown = if byte < b' ' {
            format!("(CTRL-CHAR, code {byte})")
        } else {
            format!("'{}' (code {byte})", char::from(byte))
        };
        let message = format!("Unexpected character ({shown}) in numeric value: {what}");
        Error::at(ErrorKind::Syntax, message, text, at)
    };
    let first = start + usize::from(text.get(start) == Some(&b'-'));
    let mut at = digits(first);
    if at == first {
        return Err(bad(at, "expected digit (0-9) to follow minus sign, for valid numeric value"));
    }
    if text[first] == b'0' && at > first + 1 {
        let message = "Invalid numeric value: Leading zeroes not allowed";
        return Err(Error::at(ErrorKind::Syntax, message, text, first + 1));
    }
    if text.get(at) == Some(&b'.') {
        let end = digits(at + 1);
        if end == at + 1 {
            return Err(bad(end, "Decimal point not followed by a digit"));
        }
        at = end;
    }
    if matches!(text.get(at), Some(b'e' | b'E')) {
        let first = at + 1 + usize::from(matches!(text.get(at + 1), Some(b'+' | b'-')));
        let end = digits(first);
        if end == first {
            return Err(bad(end, "Exponent indicator not followed by a digit"));
        }
        at = end;
    }
    if at - start > limits.number_bytes_max {
        let message = format!(
            "Number value length ({}) exceeds the maximum allowed ({}, from \
             `StreamReadConstraints.getMaxNumberLength()`)",
            at - start,
            limits.number_bytes_max
        );
        return Err(Error::at(ErrorKind::Limit, message, text, at));
    }
    Ok(at)
}

/// Undoes the escapes of a string that the scanner has passed, quotes taken off.
pub fn unescape(inner: &str) -> String {
    let mut out = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let kind = after.as_bytes().first().copied().unwrap_or(b'\\');
        if kind == b'u' {
            let (c, len) = unicode_escape(&after[1..]);
            out.push(c);
            rest = &after[(1 + len).min(after.len())..];
            continue;
        }
        out.push(match kind {
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            other => char::from(other),
        });
        rest = after.get(1..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

/// The character of the hex digits after `\u`, a low half included; and how many bytes they take.
fn unicode_escape(digits: &str) -> (char, usize) {
    let unit =
        |from: usize| digits.get(from..from + 4).and_then(|hex| u32::from_str_radix(hex, 16).ok());
    let Some(first) = unit(0) else { return (char::REPLACEMENT_CHARACTER, 4) };
    let high = (0xd800..0xdc00).contains(&first) && digits.get(4..6) == Some("\\u");
    if let (true, Some(low @ 0xdc00..=0xdfff)) = (high, unit(6)) {
        let code = 0x1_0000 + ((first - 0xd800) << 10) + (low - 0xdc00);
        return (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 10);
    }
    (char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER), 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_undone() {
        assert_eq!(unescape(r#"a\"\\\/\b\f\n\r\t\u00e9"#), "a\"\\/\u{8}\u{c}\n\r\té");
        assert_eq!(unescape(r"\ud83d\ude00!"), "😀!");
        assert_eq!(unescape(r"\ud83dx\ude00\ud800\u0041"), "\u{fffd}x\u{fffd}\u{fffd}A");
    }
}
