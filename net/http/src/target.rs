//! The request target: path and query, and what percent signs mean in them.
//!
//! A path is cut at its slashes before it is decoded, so an encoded slash (`%2F`) belongs to its
//! segment; a plus sign stays one. In the query, plus means space. Bytes that are not UTF-8 after
//! decoding are refused: replaced, they would make one id of two.
//!
//! A path that two readers could take for two different ones is a fault ([`Target::fault`]): whoever
//! stands before us (a proxy that guards some paths) must not see another path than we do.

use std::borrow::Cow;

/// A target, cut but not decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target<'a> {
    path: &'a [u8],
    query: &'a [u8],
}

/// A percent sign that is no escape: the words Elasticsearch has for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadEscape(pub String);

impl std::fmt::Display for BadEscape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadEscape {}

impl<'a> Target<'a> {
    /// Cuts a target: origin form (`/a?b`), absolute form (`http://host/a?b`), or anything else,
    /// which then is a path that no route has.
    pub fn new(target: &'a [u8]) -> Self {
        let rest = match after_authority(target) {
            Some(rest) => rest,
            None => target,
        };
        match memchr::memchr(b'?', rest) {
            Some(at) => Self { path: &rest[..at], query: &rest[at + 1..] },
            None => Self { path: rest, query: &[] },
        }
    }

    /// The path as it was sent.
    pub fn path(&self) -> &'a [u8] {
        self.path
    }

    /// The query as it was sent, without its question mark.
    pub fn query(&self) -> &'a [u8] {
        self.query
    }

    /// Segments of the path, not decoded: `/a//b/` has `a`, an empty one, and `b`.
    pub fn segments(&self) -> impl Iterator<Item = &'a [u8]> {
        let path = self.path.strip_prefix(b"/").unwrap_or(self.path);
        let end = path.iter().rposition(|byte| *byte != b'/').map_or(0, |at| at + 1);
        path[..end].split(|byte| *byte == b'/').skip(usize::from(end == 0))
    }

    /// What makes the path ambiguous, before anyone routes it: segments that mean "here" or "up",
    /// written plainly or with escapes; an empty segment that is not the last; a NUL; a backslash, but before
    /// a brace of a date-math name; an escaped slash in the first segment, but in a date-math name; a raw `#` or
    /// 8-bit byte; no slash at its begin.
    ///
    /// One empty segment is no fault: that of an empty list of indices before the name of an API, as
    /// Elasticsearch's clients write it (`//_refresh`).
    pub fn fault(&self) -> Option<&'static str> {
        if self.path.iter().chain(self.query).any(|byte| *byte == b'#') {
            return Some("a fragment in the request target");
        }
        if self.path.iter().any(|byte| *byte >= 0x80 || *byte == b'\\') {
            return Some("a byte in the path that must be escaped");
        }
        // Nothing but the host may stand before it, and `*` alone is the whole server (`OPTIONS`).
        let path = match self.path {
            [b'/', path @ ..] => path,
            [] | b"*" => return None,
            _ => return Some("a request target that does not begin with a slash"),
        };
        let mut segments = path.split(|byte| *byte == b'/').peekable();
        let mut at = 0;
        while let Some(segment) = segments.next() {
            if segment.is_empty() && (at > 0 || self.path.len() > 1) {
                match segments.peek() {
                    Some(api) if at == 0 && api.starts_with(b"_") => {}
                    Some(_) => return Some("an empty segment in the path"),
                    // A single slash may end the path.
                    None => return None,
                }
            }
            if is_dots(segment) {
                return Some("a dot segment in the path");
            }
            if has_escape(segment, b"00") || has_backslash_outside_of_date_math(segment) {
                return Some("an escape in the path that stands for NUL or backslash");
            }
            if at == 0 && has_slash_outside_of_date_math(segment) {
                return Some("an escaped slash in the first segment of the path");
            }
            at += 1;
        }
        None
    }

    /// Names and values of the query in order, decoded; a name without `=` has an empty value. `;`
    /// stands between two as `&` does; what has no name in front of its `=` is one itself.
    pub fn params(&self) -> impl Iterator<Item = Result<(Cow<'a, str>, Cow<'a, str>), BadEscape>> {
        let pieces = self.query.split(|byte| matches!(byte, b'&' | b';')).map(|piece| {
            let named = piece.iter().position(|byte| *byte != b'=').unwrap_or(piece.len());
            &piece[named..]
        });
        pieces.filter(|piece| !piece.is_empty()).map(|piece| {
            let (name, value) = match memchr::memchr(b'=', piece) {
                Some(at) => (&piece[..at], &piece[at + 1..]),
                None => (piece, &[][..]),
            };
            Ok((decode(name, Plus::Space)?, decode(value, Plus::Space)?))
        })
    }
}

/// `.` or `..`, each dot plain or escaped.
fn is_dots(segment: &[u8]) -> bool {
    let mut rest = segment;
    let mut dots = 0;
    while !rest.is_empty() {
        rest = match rest {
            [b'.', rest @ ..] | [b'%', b'2', b'e' | b'E', rest @ ..] => rest,
            _ => return false,
        };
        dots += 1;
    }
    matches!(dots, 1 | 2)
}

/// Is there an escape with these hex digits, whatever their case?
fn has_escape(segment: &[u8], hex: &[u8; 2]) -> bool {
    memchr::memchr_iter(b'%', segment)
        .any(|at| segment.get(at + 1..at + 3).is_some_and(|found| found.eq_ignore_ascii_case(hex)))
}

/// An escaped backslash, but for those that take the meaning of a brace in a date-math name (`<a-\{b\}-{now}>`).
/// Who takes one of these for a slash sees a segment that begins with a brace: no call and no name does.
fn has_backslash_outside_of_date_math(segment: &[u8]) -> bool {
    let mut inside = false;
    let mut rest = segment;
    while let [first, behind @ ..] = rest {
        rest = match rest {
            [b'<', ..] | [b'>', ..] => {
                inside = *first == b'<';
                behind
            }
            [b'%', b'3', b'c' | b'C' | b'e' | b'E', behind @ ..] => {
                inside = matches!(rest[2], b'c' | b'C');
                behind
            }
            [b'%', b'5', b'c' | b'C', behind @ ..] => match behind {
                [b'{' | b'}', ..] | [b'%', b'7', b'b' | b'B' | b'd' | b'D', ..] if inside => behind,
                _ => return true,
            },
            _ => behind,
        };
    }
    false
}

fn has_slash_outside_of_date_math(segment: &[u8]) -> bool {
    let mut inside = false;
    let mut rest = segment;
    while !rest.is_empty() {
        rest = match rest {
            [b'<', rest @ ..] | [b'%', b'3', b'c' | b'C', rest @ ..] => {
                inside = true;
                rest
            }
            [b'>', rest @ ..] | [b'%', b'3', b'e' | b'E', rest @ ..] => {
                inside = false;
                rest
            }
            [b'%', b'2', b'f' | b'F', ..] if !inside => return true,
            [_, rest @ ..] => rest,
            [] => rest,
        };
    }
    false
}

/// What follows scheme and authority, where there are any.
fn after_authority(target: &[u8]) -> Option<&[u8]> {
    let scheme =
        |name: &[u8]| target.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name));
    let len = if scheme(b"http://") {
        7
    } else if scheme(b"https://") {
        8
    } else {
        return None;
    };
    let rest = &target[len..];
    let end = rest.iter().position(|byte| matches!(byte, b'/' | b'?')).unwrap_or(rest.len());
    Some(&rest[end..])
}

/// What a plus sign stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plus {
    /// Itself: in paths.
    Plus,
    /// A space: in queries.
    Space,
}

/// Undoes percent escapes.
///
/// # Errors
/// A percent sign without two hex digits, or bytes that are no UTF-8.
pub fn decode(text: &[u8], plus: Plus) -> Result<Cow<'_, str>, BadEscape> {
    let special = |byte: &u8| *byte == b'%' || (*byte == b'+' && plus == Plus::Space);
    if !text.iter().any(special) {
        return match std::str::from_utf8(text) {
            Ok(text) => Ok(Cow::Borrowed(text)),
            Err(_) => Err(not_utf8(text)),
        };
    }
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b'+' if plus == Plus::Space => out.push(b' '),
            b'%' => {
                out.push(escape(text, at)?);
                at += 2;
            }
            byte => out.push(byte),
        }
        at += 1;
    }
    match String::from_utf8(out) {
        Ok(text) => Ok(Cow::Owned(text)),
        Err(_) => Err(not_utf8(text)),
    }
}

/// Two ids that differ only in bytes that are no text would become one: they are refused.
fn not_utf8(text: &[u8]) -> BadEscape {
    BadEscape(format!("malformed UTF-8 in: {}", String::from_utf8_lossy(text)))
}

fn escape(text: &[u8], at: usize) -> Result<u8, BadEscape> {
    let hex = |byte: u8| char::from(byte).to_digit(16);
    let whole = String::from_utf8_lossy(text);
    match text[at + 1..] {
        [] => Err(BadEscape(format!("unterminated escape sequence at end of string: {whole}"))),
        [_] => Err(BadEscape(format!("partial escape sequence at end of string: {whole}"))),
        [high, low, ..] => match (hex(high), hex(low)) {
            (Some(high), Some(low)) => Ok(u8::try_from(high * 16 + low).expect("two hex digits")),
            _ => Err(BadEscape(format!(
                "invalid escape sequence `%{}{}' at index {at} of: {whole}",
                char::from(high),
                char::from(low)
            ))),
        },
    }
}

/// Appends `text` as one segment of a path, percent escapes where they are needed.
pub fn encode_segment(text: &str, out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    for &byte in text.as_bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(byte);
        } else {
            let digits = [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]];
            out.extend_from_slice(&[b'%', digits[0], digits[1]]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segments(target: &str) -> Vec<String> {
        let target = Target::new(target.as_bytes());
        target.segments().map(|part| String::from_utf8_lossy(part).into_owned()).collect()
    }

    fn params(target: &str) -> Result<Vec<(String, String)>, BadEscape> {
        Target::new(target.as_bytes())
            .params()
            .map(|pair| pair.map(|(name, value)| (name.into_owned(), value.into_owned())))
            .collect()
    }

    #[test]
    fn paths_are_cut_before_they_are_decoded() {
        assert_eq!(segments("/a/_doc/x%2Fy?q=/z"), ["a", "_doc", "x%2Fy"]);
        assert_eq!(segments("/"), [""; 0]);
        assert_eq!(segments(""), [""; 0]);
        assert_eq!(segments("/a/"), ["a"]);
        assert_eq!(segments("/a//b"), ["a", "", "b"]);
        assert_eq!(segments("http://h:9200/a/b?x"), ["a", "b"]);
        assert_eq!(segments("HTTPS://h"), [""; 0]);
        assert_eq!(segments("*"), ["*"]);
        assert_eq!(decode(b"x%2Fy+z", Plus::Plus).as_deref(), Ok("x/y+z"));
    }

    #[test]
    fn paths_that_could_be_read_in_two_ways_are_faults() {
        let fault = |target: &str| Target::new(target.as_bytes()).fault().is_some();
        for good in [
            "/",
            "",
            "*",
            "/a/",
            "/a/_doc/x%2Fy",
            "/a/_doc/..x",
            "/a/_doc/%2e%2e%2e",
            "/%3Clogs-%7Bnow%2Fd%7D%3E/_search?q=/../",
            "/a,%3cb-%7Bnow%2fd%7D%3e,c/_search",
            "http://h:9200/a",
            "//_refresh",
            "//_search/template/",
            "/a/_doc/%5",
            "/%3Celastic%5C%7BON%5C%7D-%7Bnow%2FM%7D%3E",
            "/_cat/indices/a,<b%5c{c%5c}-{now}>",
            "/_search?q=a%00%5C",
        ] {
            assert!(!fault(good), "{good}");
        }
        for bad in [
            "/.",
            "/a/..",
            "/a/../b",
            "/%2e%2E/b",
            "/.%2e",
            "/a/%00",
            "/a/x%5cy",
            "/a%5C%7B",
            "/%3Ca%5Cb%3E",
            "/%3Ca%3E%5C%7B",
            "/%3Ca%5C%5C%7B%3E",
            "/%3Ca%5C",
            "/%3Ca%5C%7B%00%3E",
            "/a\\b",
            "//x",
            "///_refresh",
            "//_refresh//a",
            "//_refresh/..",
            "//_refresh%00",
            "/a//_refresh",
            "/a//b",
            "/a//",
            "//",
            "/a#b",
            "/a?b#c",
            "/\u{e9}",
            "/a%2Fb/_doc/1",
            "/%3Ca%2Fb%3E%2Fc",
            "http://h/../a",
            "a",
            "h:80",
            "*/a",
        ] {
            assert!(fault(bad), "{bad}");
        }
    }

    #[test]
    fn queries_are_pairs() {
        let pairs = params("/?a=1&b&c=x+y%26z&&=v&d=%E2%82%AC&e=a=b").expect("good escapes");
        let shown: Vec<(&str, &str)> =
            pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let expected = [("a", "1"), ("b", ""), ("c", "x y&z"), ("v", ""), ("d", "€"), ("e", "a=b")];
        assert_eq!(shown, expected);
    }

    /// As Elasticsearch cuts a query. An escaped semicolon belongs to its value.
    #[test]
    fn semicolons_stand_between_pairs_too() {
        let pairs = params("/?a=1;b;c=x%3By;;d=2&e=;=;==f=g").expect("good escapes");
        let shown: Vec<(&str, &str)> =
            pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let expected = [("a", "1"), ("b", ""), ("c", "x;y"), ("d", "2"), ("e", ""), ("f", "g")];
        assert_eq!(shown, expected);
    }

    #[test]
    fn broken_escapes_are_named() {
        let words = |target: &str| params(target).expect_err("broken").0;
        assert_eq!(words("/?q=%zz"), "invalid escape sequence `%zz' at index 0 of: %zz");
        assert_eq!(words("/?q=a%2"), "partial escape sequence at end of string: a%2");
        assert_eq!(words("/?q=a%"), "unterminated escape sequence at end of string: a%");
        assert_eq!(words("/?%+=a"), "partial escape sequence at end of string: %+");
    }

    #[test]
    fn bytes_that_are_no_text_are_refused() {
        assert!(decode(b"%ff", Plus::Plus).is_err());
        assert!(decode(b"a\xff", Plus::Plus).is_err());
        assert_eq!(decode(b"%c3%a9", Plus::Plus).as_deref(), Ok("é"));
    }

    #[test]
    fn segments_survive_the_way_out_and_back() {
        let mut out = Vec::new();
        encode_segment("a b/ü%+~", &mut out);
        assert_eq!(out, b"a%20b%2F%C3%BC%25%2B~");
        assert_eq!(decode(&out, Plus::Plus).as_deref(), Ok("a b/ü%+~"));
    }
}
