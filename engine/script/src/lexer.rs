//! A source cut into tokens.

use crate::error::Fault;

/// What a token is.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A name or a word of the language.
    Word(String),
    /// A number, as it is written.
    Number(String),
    /// A string, without its quotes and escapes.
    Text(String),
    /// `/a/i`: pattern and flags.
    Pattern(String, String),
    /// A sign: `+=`.
    Sign(&'static str),
    /// Nothing more.
    End,
}

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub struct Token {
    /// Offset in the source.
    pub at: u32,
    /// After its end.
    pub end: u32,
    /// What it is.
    pub kind: Kind,
}

/// Signs, the longest first.
const SIGNS: [&str; 53] = [
    ">>>=", "===", "!==", "==~", ">>>", "<<=", ">>=", "++", "--", "==", "!=", "<=", ">=", "&&",
    "||", "?.", "?:", "=~", "->", "::", "+=", "-=", "*=", "/=", "%=", "&=", "^=", "|=", "<<", ">>",
    "{", "}", "[", "]", "(", ")", ".", ",", ";", "!", "~", "*", "/", "%", "+", "-", "<", ">", "&",
    "^", "|", "?", ":",
];

/// Cuts a source.
///
/// # Errors
/// Characters that begin nothing.
pub fn cut(source: &str) -> Result<Vec<Token>, Fault> {
    let bytes = source.as_bytes();
    let mut tokens: Vec<Token> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        if byte.is_ascii_whitespace() {
            at += 1;
            continue;
        }
        if source[at..].starts_with("//") {
            at += source[at..].find(['\n', '\r']).unwrap_or(source.len() - at);
            continue;
        }
        if source[at..].starts_with("/*") {
            at += match source[at + 2..].find("*/") {
                Some(len) => len + 4,
                None => return Err(unexpected(source, at)),
            };
            continue;
        }
        let start = at;
        let kind = match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                at += word_len(&bytes[at..]);
                Kind::Word(source[start..at].to_owned())
            }
            b'0'..=b'9' => {
                let behind_dot =
                    matches!(tokens.last().map(|last| &last.kind), Some(Kind::Sign("." | "?.")));
                at += if behind_dot { digits(&bytes[at..]) } else { number_len(&bytes[at..]) };
                Kind::Number(source[start..at].to_owned())
            }
            b'\'' | b'"' => {
                let (text, end) = string(source, at)?;
                at = end;
                Kind::Text(text)
            }
            b'/' if begins_pattern(tokens.last()) => match pattern(source, at) {
                Some((text, flags, end)) => {
                    at = end;
                    Kind::Pattern(text, flags)
                }
                None => return Err(unexpected(source, at)),
            },
            _ => {
                let rest = &source[at..];
                let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
                let sign = sign.copied().or_else(|| rest.starts_with('=').then_some("="));
                let Some(sign) = sign else { return Err(unexpected(source, at)) };
                at += sign.len();
                Kind::Sign(sign)
            }
        };
        tokens.push(Token { at: start as u32, end: at as u32, kind });
    }
    tokens.push(Token { at: source.len() as u32, end: source.len() as u32, kind: Kind::End });
    Ok(tokens)
}

fn word_len(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count()
}

fn digits(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// `0x1F`, `017`, `1`, `1.5e-3f`, `1L`.
fn number_len(bytes: &[u8]) -> usize {
    if bytes.len() > 2 && bytes[0] == b'0' && matches!(bytes[1], b'x' | b'X') {
        let len = 2 + bytes[2..].iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        return len + usize::from(matches!(bytes.get(len), Some(b'l' | b'L')));
    }
    let mut len = digits(bytes);
    if bytes.get(len) == Some(&b'.') && bytes.get(len + 1).is_some_and(u8::is_ascii_digit) {
        len += 1 + digits(&bytes[len + 1..]);
    }
    if matches!(bytes.get(len), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(len + 1), Some(b'+' | b'-')));
        let more = digits(&bytes[(len + 1 + sign).min(bytes.len())..]);
        if more > 0 {
            len += 1 + sign + more;
        }
    }
    len + usize::from(matches!(bytes.get(len), Some(b'l' | b'L' | b'f' | b'F' | b'd' | b'D')))
}

fn string(source: &str, start: usize) -> Result<(String, usize), Fault> {
    let quote = source.as_bytes()[start];
    let mut text = String::new();
    let mut chars = source[start + 1..].char_indices();
    while let Some((at, character)) = chars.next() {
        if character == char::from(quote) {
            return Ok((text, start + 1 + at + 1));
        }
        if character != '\\' {
            text.push(character);
            continue;
        }
        match chars.next() {
            Some((_, escaped)) if escaped == '\\' || escaped == char::from(quote) => {
                text.push(escaped);
            }
            escaped => {
                let end = escaped.map_or(source.len(), |(at, c)| start + 1 + at + c.len_utf8());
                let mark = char::from(quote);
                return Err(Fault::illegal(format!(
                    "unexpected character [{}]. The only valid escape sequences in strings starting \
                     with [{mark}] are [\\\\] and [\\{mark}].",
                    &source[start..end]
                ))
                .or_at(start as u32));
            }
        }
    }
    Err(unexpected(source, start))
}

/// May a slash begin a pattern behind this token? Not behind a value, which it would divide.
fn begins_pattern(last: Option<&Token>) -> bool {
    match last.map(|token| &token.kind) {
        None => true,
        Some(Kind::Sign(sign)) => !matches!(*sign, ")" | "]" | "}" | "++" | "--"),
        Some(Kind::Word(word)) => matches!(word.as_str(), "return" | "in"),
        Some(_) => false,
    }
}

fn pattern(source: &str, start: usize) -> Option<(String, String, usize)> {
    let mut end = None;
    let mut is_escaped = false;
    for (at, character) in source[start + 1..].char_indices() {
        match character {
            '\n' => return None,
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '/' => {
                end = Some(start + 1 + at);
                break;
            }
            _ => {}
        }
    }
    let end = end.filter(|end| *end > start + 1)?;
    let flags: String =
        source[end + 1..].chars().take_while(|flag| "cilmsUux".contains(*flag)).collect();
    let after = end + 1 + flags.len();
    Some((source[start + 1..end].to_owned(), flags, after))
}

fn unexpected(source: &str, at: usize) -> Fault {
    let rest: String = source[at..].chars().take(1).collect();
    Fault::illegal(format!("unexpected character [{rest}].")).or_at(at as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slash_divides_or_begins_a_pattern() {
        let kinds =
            |source| cut(source).expect("tokens").into_iter().map(|t| t.kind).collect::<Vec<_>>();
        assert!(kinds("a / b / c").iter().all(|kind| !matches!(kind, Kind::Pattern(..))));
        assert!(kinds("x =~ /a\\/b/i")[2] == Kind::Pattern("a\\/b".into(), "i".into()));
    }

    #[test]
    fn numbers_keep_their_signs_apart() {
        let texts: Vec<String> = cut("1.5e-3f 0x1FL 1..x 7")
            .expect("tokens")
            .into_iter()
            .filter_map(|token| match token.kind {
                Kind::Number(text) => Some(text),
                _ => None,
            })
            .collect();
        assert_eq!(texts, ["1.5e-3f", "0x1FL", "1", "7"]);
    }
}
