//! What may be wrong with JSON text: Jackson's words, and where.
//!
//! Places are those of Jackson 2.17 over a byte source: lines and columns from 1, columns in bytes;
//! a wrong character is named at its own place, an early end one past the last byte.

use std::fmt;

/// Answer of a reader.
pub type Result<T> = std::result::Result<T, Error>;

/// A place in JSON text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Line, from 1.
    pub line: u32,
    /// Column in bytes, from 1.
    pub column: u32,
}

impl Place {
    /// The place of byte `offset` in `text`; past the end counts as the end.
    pub fn of(text: &[u8], offset: usize) -> Self {
        let before = &text[..offset.min(text.len())];
        let line = 1 + memchr::memchr_iter(b'\n', before).count();
        let start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
        let column = before.len() - start + 1;
        Self {
            line: u32::try_from(line).unwrap_or(u32::MAX),
            column: u32::try_from(column).unwrap_or(u32::MAX),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}:{}]", self.line, self.column)
    }
}

/// Kinds that callers tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// A character, token or escape that the grammar does not allow here.
    Syntax,
    /// The text ends too early (Elasticsearch's `x_content_e_o_f_exception`).
    UnexpectedEnd,
    /// A key stands twice in an object.
    DuplicateKey,
    /// Bytes that are not UTF-8.
    Utf8,
    /// Deeper, longer or larger than the limits allow.
    Limit,
    /// A second value after the first; the token that begins it: `START_OBJECT`.
    Trailing(&'static str),
}

/// Why a text is not the JSON that was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Kind, for code.
    pub kind: ErrorKind,
    /// Jackson's sentence, without place.
    pub message: String,
    /// Where, line.
    pub line: u32,
    /// Where, column.
    pub column: u32,
}

impl Error {
    /// A fault of `kind` at byte `offset` of `text`.
    #[cold]
    pub fn at(kind: ErrorKind, message: impl Into<String>, text: &[u8], offset: usize) -> Self {
        let Place { line, column } = Place::of(text, offset);
        Self { kind, message: message.into(), line, column }
    }

    /// The place.
    pub const fn place(&self) -> Place {
        Place { line: self.line, column: self.column }
    }

    /// Jackson's whole message, with the beginning of the `source` it was found in: the reason of
    /// a `json_parse_exception`. Elasticsearch puts `[line:column] ` before it for its own
    /// `x_content_parse_exception`.
    pub fn jackson(&self, source: &[u8]) -> String {
        format!("{}\n at {}", self.message, source_at(source, self.place()))
    }
}

/// A place as Jackson prints it, with the beginning of its source.
pub(crate) fn source_at(source: &[u8], place: Place) -> String {
    format!("[Source: (byte[]){}; line: {}, column: {}]", show(source), place.line, place.column)
}

/// The first 500 bytes of a source in quotes, control characters masked, as Jackson prints it.
fn show(source: &[u8]) -> String {
    const SHOWN_BYTES_MAX: usize = 500;
    let head = &source[..source.len().min(SHOWN_BYTES_MAX)];
    let mut text = String::from("\"");
    for c in String::from_utf8_lossy(head).chars() {
        match c {
            '\r' | '\n' => text.push(c),
            c if c < ' ' || ('\u{7f}'..='\u{9f}').contains(&c) => {
                text.push_str(&format!("\\u{:04X}", u32::from(c)));
            }
            c => text.push(c),
        }
    }
    text.push('"');
    if source.len() > SHOWN_BYTES_MAX {
        text.push_str(&format!("[truncated {} bytes]", source.len() - SHOWN_BYTES_MAX));
    }
    text
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}:{}] {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_from_one() {
        let text = b"{\n \"a\":1}";
        assert_eq!(Place::of(text, 0), Place { line: 1, column: 1 });
        assert_eq!(Place::of(text, 3), Place { line: 2, column: 2 });
        assert_eq!(Place::of(text, 99), Place { line: 2, column: 8 });
    }

    #[test]
    fn long_sources_are_cut() {
        let error = Error::at(ErrorKind::Syntax, "no", b"x", 0);
        assert_eq!(
            error.jackson(b"x\x01"),
            "no\n at [Source: (byte[])\"x\\u0001\"; line: 1, column: 1]"
        );
        let long = error.jackson(&[b'a'; 600]);
        assert!(long.contains("\"[truncated 100 bytes]; line: 1"));
    }
}
