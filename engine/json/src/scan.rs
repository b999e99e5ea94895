//! The grammar: JSON text as tokens with their places, one after the other, without a tree.
//!
//! [`Scanner`] is a pull parser. It checks everything that RFC 8259 asks, except that keys stand
//! once, which needs memory and belongs to those who build ([`crate::parser`], [`crate::tape`]).
//!
//! Always true
//! 1. Tokens come in the order of the text; each `Begin` has its `End`, each key its value.
//! 2. `event.start..event.end` is the token's text, quotes included, and lies on character borders.
//! 3. After an error every further call gives the same kind of answer or the end; nothing panics.
//!
//! Half a surrogate pair in an escape (`\ud800`) is read as U+FFFD, for a Rust string cannot hold
//! it. A byte order mark before the text is passed over. Both are as Jackson behaves, in effect.

use std::borrow::Cow;

use crate::error::{Error, ErrorKind, Place, Result, source_at};
use crate::lexeme::{number, unescape};
use crate::limits::Limits;

/// What begins or ends here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    /// `{`.
    BeginObject,
    /// `}`.
    EndObject,
    /// `[`.
    BeginArray,
    /// `]`.
    EndArray,
    /// A key, quotes included; the colon is passed.
    Key,
    /// A string, quotes included.
    String,
    /// A number.
    Number,
    /// `true`.
    True,
    /// `false`.
    False,
    /// `null`.
    Null,
}

impl Token {
    /// Jackson's name of the token.
    pub const fn name(self) -> &'static str {
        match self {
            Self::BeginObject => "START_OBJECT",
            Self::EndObject => "END_OBJECT",
            Self::BeginArray => "START_ARRAY",
            Self::EndArray => "END_ARRAY",
            Self::Key => "FIELD_NAME",
            Self::String => "VALUE_STRING",
            Self::Number => "VALUE_NUMBER",
            Self::True | Self::False => "VALUE_BOOLEAN",
            Self::Null => "VALUE_NULL",
        }
    }
}

/// One token and the bytes it covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// What it is.
    pub token: Token,
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// A key or string that holds escapes.
    pub escaped: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expect {
    /// The root value.
    Root,
    /// A value or `]`.
    FirstElement,
    /// A value after a comma.
    Element,
    /// A key or `}`.
    FirstKey,
    /// A key after a comma.
    Key,
    /// The value of a key.
    Member,
    /// A comma or the end of the innermost container.
    Next,
    /// Nothing but blanks.
    End,
}

/// A pull parser over one text.
#[derive(Clone, Debug)]
pub struct Scanner<'a> {
    text: &'a str,
    at: usize,
    expect: Expect,
    /// Containers that are open: the byte where each begins, and whether it is an object.
    open: Vec<(usize, bool)>,
    limits: Limits,
}

impl<'a> Scanner<'a> {
    /// A scanner of `text`.
    ///
    /// # Errors
    /// Where the bytes are not UTF-8.
    pub fn new(text: &'a [u8], limits: Limits) -> Result<Self> {
        match std::str::from_utf8(text) {
            Ok(text) => Ok(Self::of_str(text, limits)),
            Err(error) => Err(not_utf8(text, error.valid_up_to())),
        }
    }

    /// A scanner of `text`, which is known to be UTF-8.
    pub fn of_str(text: &'a str, limits: Limits) -> Self {
        let at = if text.starts_with('\u{feff}') { 3 } else { 0 };
        Self { text, at, expect: Expect::Root, open: Vec::new(), limits }
    }

    /// The text that is scanned.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// How many containers are open.
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// The bytes of a token as they stand.
    pub fn raw(&self, event: &Event) -> &'a str {
        &self.text[event.start..event.end]
    }

    /// The text of a key or string, unescaped.
    pub fn string(&self, event: &Event) -> Cow<'a, str> {
        let inner = &self.text[event.start + 1..event.end - 1];
        if event.escaped { Cow::Owned(unescape(inner)) } else { Cow::Borrowed(inner) }
    }

    /// The place of a byte.
    pub fn place(&self, offset: usize) -> Place {
        Place::of(self.text.as_bytes(), offset)
    }

    /// The next token; `None` after the root value, where only blanks may follow.
    ///
    /// # Errors
    /// What the grammar or the limits forbid.
    #[allow(clippy::should_implement_trait, reason = "an error does not end the iteration")]
    pub fn next(&mut self) -> Result<Option<Event>> {
        self.blanks();
        let Some(&byte) = self.bytes().get(self.at) else {
            return self.end_of_text();
        };
        match self.expect {
            Expect::End => Err(self.trailing(byte)),
            Expect::Root if matches!(byte, b'}' | b']') => Err(self.wrong_close(byte)),
            Expect::FirstElement if byte == b'}' => Err(self.wrong_close(byte)),
            Expect::FirstKey if byte == b']' => Err(self.wrong_close(byte)),
            Expect::Root | Expect::Member | Expect::Element => self.value(byte).map(Some),
            Expect::FirstElement if byte == b']' => Ok(Some(self.close(Token::EndArray))),
            Expect::FirstElement => self.value(byte).map(Some),
            Expect::FirstKey if byte == b'}' => Ok(Some(self.close(Token::EndObject))),
            Expect::FirstKey | Expect::Key => self.key(byte).map(Some),
            Expect::Next => self.after_value(byte),
        }
    }

    /// Passes over the rest of the value that `event` began; answers its last event.
    ///
    /// # Errors
    /// As [`Scanner::next`].
    pub fn skip(&mut self, event: Event) -> Result<Event> {
        if !matches!(event.token, Token::BeginObject | Token::BeginArray) {
            return Ok(event);
        }
        let outside = self.open.len() - 1;
        loop {
            match self.next()? {
                Some(event) if self.open.len() == outside => return Ok(event),
                Some(_) => {}
                None => return Ok(event),
            }
        }
    }

    fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    fn blanks(&mut self) {
        let rest = &self.bytes()[self.at..];
        let blank = |byte: &u8| matches!(byte, b' ' | b'\n' | b'\r' | b'\t');
        self.at += rest.iter().position(|byte| !blank(byte)).unwrap_or(rest.len());
    }

    fn after_value(&mut self, byte: u8) -> Result<Option<Event>> {
        let in_object = self.open.last().is_some_and(|(_, object)| *object);
        match byte {
            b'}' if in_object => return Ok(Some(self.close(Token::EndObject))),
            b']' if !in_object => return Ok(Some(self.close(Token::EndArray))),
            b'}' | b']' => return Err(self.wrong_close(byte)),
            b',' => {}
            _ if in_object => {
                return Err(self.unexpected("was expecting comma to separate Object entries"));
            }
            _ => return Err(self.unexpected("was expecting comma to separate Array entries")),
        }
        self.at += 1;
        self.expect = if in_object { Expect::Key } else { Expect::Element };
        self.next()
    }

    fn key(&mut self, byte: u8) -> Result<Event> {
        if byte != b'"' {
            return Err(self.unexpected("was expecting double-quote to start field name"));
        }
        let key = self.quoted(Token::Key)?;
        if key.end - key.start - 2 > self.limits.key_bytes_max {
            let message = format!(
                "Name length ({}) exceeds the maximum allowed ({}, from \
                 `StreamReadConstraints.getMaxNameLength()`)",
                key.end - key.start - 2,
                self.limits.key_bytes_max
            );
            return Err(self.fault(ErrorKind::Limit, message, key.end));
        }
        self.blanks();
        match self.bytes().get(self.at) {
            Some(b':') => self.at += 1,
            Some(_) => {
                let message = "was expecting a colon to separate field name and value";
                return Err(self.unexpected(message));
            }
            None => return Err(self.early_end(" within/between Object entries")),
        }
        self.expect = Expect::Member;
        Ok(key)
    }

    fn value(&mut self, byte: u8) -> Result<Event> {
        let start = self.at;
        let (token, end, escaped) = match byte {
            b'{' | b'[' => return self.begin(byte == b'{'),
            b'"' => {
                let event = self.quoted(Token::String)?;
                (Token::String, event.end, event.escaped)
            }
            b'-' | b'0'..=b'9' => {
                let end = number(self.bytes(), start, &self.limits)?;
                self.at = end;
                (Token::Number, end, false)
            }
            b't' => (Token::True, self.word("true")?, false),
            b'f' => (Token::False, self.word("false")?, false),
            b'n' => (Token::Null, self.word("null")?, false),
            _ => return Err(self.no_value(byte)),
        };
        self.expect = if self.open.is_empty() { Expect::End } else { Expect::Next };
        Ok(Event { token, start, end, escaped })
    }

    fn begin(&mut self, object: bool) -> Result<Event> {
        let start = self.at;
        if self.open.len() >= self.limits.depth_max {
            let message = format!(
                "Document nesting depth ({}) exceeds the maximum allowed ({}, from \
                 `StreamReadConstraints.getMaxNestingDepth()`)",
                self.open.len() + 1,
                self.limits.depth_max
            );
            return Err(self.fault(ErrorKind::Limit, message, start + 1));
        }
        self.open.push((start, object));
        self.at += 1;
        let (token, expect) = if object {
            (Token::BeginObject, Expect::FirstKey)
        } else {
            (Token::BeginArray, Expect::FirstElement)
        };
        self.expect = expect;
        Ok(Event { token, start, end: start + 1, escaped: false })
    }

    fn close(&mut self, token: Token) -> Event {
        let start = self.at;
        self.at += 1;
        self.open.pop();
        self.expect = if self.open.is_empty() { Expect::End } else { Expect::Next };
        Event { token, start, end: start + 1, escaped: false }
    }

    /// A key or string from its opening quote.
    fn quoted(&mut self, token: Token) -> Result<Event> {
        let (start, bytes) = (self.at, self.bytes());
        let mut at = start + 1;
        let mut escaped = false;
        loop {
            match bytes.get(at) {
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    at = self.escape(at)?;
                }
                Some(&byte) if byte < b' ' => {
                    let message = format!(
                        "Illegal unquoted character ((CTRL-CHAR, code {byte})): has to be escaped \
                         using backslash to be included in {}",
                        if token == Token::Key { "name" } else { "string value" }
                    );
                    return Err(self.fault(ErrorKind::Syntax, message, at));
                }
                Some(_) => at += 1,
                None => return Err(self.unclosed(token)),
            }
        }
        self.at = at + 1;
        Ok(Event { token, start, end: at + 1, escaped })
    }

    /// Passes the escape whose backslash stands at `at`.
    fn escape(&self, at: usize) -> Result<usize> {
        let bytes = self.bytes();
        match bytes.get(at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
            Some(b'u') => {
                for digit in at + 2..at + 6 {
                    match bytes.get(digit) {
                        Some(byte) if byte.is_ascii_hexdigit() => {}
                        Some(_) => {
                            let what = "expected a hex-digit for character escape sequence";
                            return Err(self.unexpected_at(digit, what));
                        }
                        None => return Err(self.early_end(" in character escape sequence")),
                    }
                }
                Ok(at + 6)
            }
            Some(_) => {
                let message = format!("Unrecognized character escape {}", self.describe(at + 1).1);
                Err(self.fault(ErrorKind::Syntax, message, at + 1))
            }
            None => Err(self.early_end(" in character escape sequence")),
        }
    }

    fn word(&mut self, word: &'static str) -> Result<usize> {
        let rest = &self.text[self.at..];
        let whole =
            rest.starts_with(word) && !rest[word.len()..].starts_with(|c: char| is_identifier(c));
        if !whole {
            return Err(self.bad_word());
        }
        self.at += word.len();
        Ok(self.at)
    }
}

/// Faults, in Jackson's words.
impl Scanner<'_> {
    #[cold]
    fn fault(&self, kind: ErrorKind, message: impl Into<String>, at: usize) -> Error {
        Error::at(kind, message, self.bytes(), at)
    }

    #[cold]
    fn early_end(&self, what: &str) -> Error {
        let message = format!("Unexpected end-of-input{what}");
        self.fault(ErrorKind::UnexpectedEnd, message, self.text.len())
    }

    #[cold]
    fn unclosed(&self, token: Token) -> Error {
        self.early_end(if token == Token::Key {
            " in field name"
        } else {
            ": was expecting closing quote for a string value"
        })
    }

    fn end_of_text(&self) -> Result<Option<Event>> {
        match (self.expect, self.open.last()) {
            (Expect::End, _) => Ok(None),
            (Expect::Member, _) => Err(self.early_end(" within/between Object entries")),
            (Expect::Element, _) => Err(self.early_end(" within/between Array entries")),
            (Expect::Key, _) => Err(self.early_end(" within/between Object entries")),
            (_, Some((start, object))) => Err(self.early_end(&format!(
                ": expected close marker for {} (start marker at {})",
                if *object { "Object" } else { "Array" },
                source_at(self.bytes(), self.place(*start)),
            ))),
            (_, None) => {
                let message = "No content to map due to end-of-input";
                Err(self.fault(ErrorKind::UnexpectedEnd, message, self.text.len()))
            }
        }
    }

    #[cold]
    fn trailing(&self, byte: u8) -> Error {
        match byte {
            b'}' | b']' => self.wrong_close(byte),
            _ => {
                let mut rest = Scanner { expect: Expect::Root, open: Vec::new(), ..self.clone() };
                match rest.next() {
                    Ok(Some(event)) => {
                        let token = event.token.name();
                        let message = format!("Unexpected token [{token}] after the value");
                        self.fault(ErrorKind::Trailing(token), message, self.at)
                    }
                    Ok(None) => self.unexpected("expected the end of the content"),
                    Err(error) => error,
                }
            }
        }
    }

    #[cold]
    fn wrong_close(&self, byte: u8) -> Error {
        let expected = if byte == b'}' { ']' } else { '}' };
        let (name, place) = match self.open.last() {
            Some((start, true)) => ("Object", self.place(*start)),
            Some((start, false)) => ("Array", self.place(*start)),
            None => ("root", Place { line: 1, column: 0 }),
        };
        let message = format!(
            "Unexpected close marker '{}': expected '{expected}' (for {name} starting at {})",
            char::from(byte),
            source_at(self.bytes(), place),
        );
        self.fault(ErrorKind::Syntax, message, self.at)
    }

    #[cold]
    fn no_value(&self, byte: u8) -> Error {
        let next = self.text[self.at..].chars().next().unwrap_or_default();
        match byte {
            b'N' if self.text[self.at..].starts_with("NaN") => self.non_standard("NaN"),
            b'I' if self.text[self.at..].starts_with("Infinity") => self.non_standard("Infinity"),
            b']' | b'}' => self.unexpected("expected a value"),
            _ if is_identifier(next) => self.bad_word(),
            _ => self.unexpected(
                "expected a valid value (JSON String, Number, Array, Object or token 'null', \
                 'true' or 'false')",
            ),
        }
    }

    #[cold]
    fn non_standard(&self, word: &str) -> Error {
        let message = format!(
            "Non-standard token '{word}': enable `JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS` to \
             allow"
        );
        self.fault(ErrorKind::Syntax, message, self.at + word.len())
    }

    #[cold]
    fn bad_word(&self) -> Error {
        const SHOWN_MAX: usize = 256;
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| !is_identifier(c)).unwrap_or(rest.len());
        let cut = rest[..end].char_indices().nth(SHOWN_MAX).map_or(end, |(at, _)| at);
        let more = if cut < end { "..." } else { "" };
        let message = format!(
            "Unrecognized token '{}{more}': was expecting (JSON String, Number, Array, Object or \
             token 'null', 'true' or 'false')",
            &rest[..cut]
        );
        self.fault(ErrorKind::Syntax, message, self.at + end)
    }

    #[cold]
    fn unexpected(&self, what: &str) -> Error {
        self.unexpected_at(self.at, what)
    }

    #[cold]
    fn unexpected_at(&self, at: usize, what: &str) -> Error {
        let message = format!("Unexpected character ({}): {what}", self.describe(at).1);
        self.fault(ErrorKind::Syntax, message, at)
    }

    /// The character at `at`, and Jackson's description of it: `'q' (code 113)`.
    fn describe(&self, at: usize) -> (char, String) {
        let c = self.text[at..].chars().next().unwrap_or_default();
        let code = u32::from(c);
        let text = match c {
            c if c.is_control() && code < 0x20 => format!("(CTRL-CHAR, code {code})"),
            c if code > 0xff => format!("'{c}' (code {code} / 0x{code:x})"),
            c => format!("'{c}' (code {code})"),
        };
        (c, text)
    }
}

fn is_identifier(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

#[cold]
fn not_utf8(text: &[u8], at: usize) -> Error {
    let byte = text.get(at).copied().unwrap_or_default();
    let starts = matches!(byte, 0xc2..=0xf4);
    let (message, at) = if starts {
        let middle = (at + 1..text.len()).find(|at| text[*at] & 0xc0 != 0x80).unwrap_or(at + 1);
        match text.get(middle) {
            Some(byte) => (format!("Invalid UTF-8 middle byte 0x{byte:x}"), middle),
            None => ("Unexpected end-of-input in a UTF-8 character".to_owned(), text.len()),
        }
    } else {
        (format!("Invalid UTF-8 start byte 0x{byte:x}"), at)
    };
    Error::at(ErrorKind::Utf8, message, text, at)
}

#[cfg(test)]
#[path = "scan/tests.rs"]
mod tests;
