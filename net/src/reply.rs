//! An answer, and how its head is written.

use std::borrow::Cow;
use std::sync::Arc;

use env::budget::Taken;
use http::answer::Answer;

/// An answer.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    /// Its status.
    pub status: u16,
    /// Its `content-type`; none for an answer without one.
    pub content_type: Option<Cow<'static, str>>,
    /// Fields beside those that every answer has.
    pub fields: Vec<(&'static str, Cow<'static, str>)>,
    /// Its body.
    pub body: Vec<u8>,
    /// The connection ends with it.
    pub close: bool,
    /// Whoever gets it has shown who it is: its connection is no stranger's any more.
    pub is_of_known: bool,
    /// The memory that it takes until it is sent.
    pub memory: Option<Arc<Taken>>,
}

/// The version that warnings name.
const VERSION: &str = crate::rest::VERSION;

/// The type of JSON answers.
pub const JSON: &str = "application/json";

/// The type of text answers.
pub const TEXT: &str = "text/plain; charset=UTF-8";

impl Reply {
    /// An answer without body.
    pub fn empty(status: u16) -> Self {
        Self { status, ..Self::default() }
    }

    /// A JSON answer.
    pub fn json(status: u16, body: Vec<u8>) -> Self {
        Self { status, content_type: Some(Cow::Borrowed(JSON)), body, ..Self::default() }
    }

    /// A text answer.
    pub fn text(status: u16, body: impl Into<Vec<u8>>) -> Self {
        let body = body.into();
        Self { status, content_type: Some(Cow::Borrowed(TEXT)), body, ..Self::default() }
    }

    /// With a field more.
    #[must_use]
    pub fn field(mut self, name: &'static str, value: impl Into<Cow<'static, str>>) -> Self {
        self.fields.push((name, value.into()));
        self
    }

    /// With the memory that was taken for its body.
    #[must_use]
    pub fn counted(self, memory: Taken) -> Self {
        Self { memory: Some(Arc::new(memory)), ..self }
    }

    /// About what it takes: its body, and its fields.
    pub fn bytes(&self) -> usize {
        self.body.len() + self.fields.iter().map(|(_, value)| value.len()).sum::<usize>()
    }

    /// With a warning of a program that was built from this commit: something is deprecated. Clients show it to
    /// people, so it needs a cause.
    #[must_use]
    pub fn warn(self, sentence: &str, commit: &str) -> Self {
        let value = format!("299 Elasticsearch-{VERSION}-{commit} \"{}\"", quoted(sentence));
        self.field("Warning", value)
    }

    /// Appends status line and fields. `close`: the connection ends after it; `keep_alive`: the
    /// client must be told that it does not.
    pub fn write_head(&self, out: &mut Vec<u8>, close: bool, keep_alive: bool) {
        let mut answer = Answer::new(out, self.status);
        answer.field("X-elastic-product", b"Elasticsearch");
        if let Some(kind) = &self.content_type {
            answer.field("content-type", kind.as_bytes());
        }
        for (name, value) in &self.fields {
            answer.field(name, value.as_bytes());
        }
        if close {
            answer.field("connection", b"close");
        } else if keep_alive {
            answer.field("connection", b"keep-alive");
        }
        match self.status {
            204 => answer.end(),
            _ => answer.length(self.body.len()),
        }
    }
}

/// A text between the quotes of a warning: what ends it, or escapes, has a backslash in front, and what is no
/// printable letter of ASCII is escaped by its bytes of UTF-8, as is the percent sign of such an escape.
fn quoted(text: &str) -> String {
    use std::fmt::Write;
    let mut quoted = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'\\' | b'"' => quoted.extend(['\\', char::from(byte)]),
            b'%' => quoted.push_str("%25"),
            b'\t' | b' '..=b'~' => quoted.push(char::from(byte)),
            _ => write!(quoted, "%{byte:02X}").expect("a text takes all"),
        }
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line end in the name of a template began another field of the head.
    #[test]
    fn a_warning_holds_printable_letters_alone() {
        for (text, shown) in [
            ("plain [a], {b} ~!", "plain [a], {b} ~!"),
            (r#"a "b" \c"#, r#"a \"b\" \\c"#),
            ("100%\tof", "100%25\tof"),
            ("a\r\nSet-Cookie: x\0\x7f", "a%0D%0ASet-Cookie: x%00%7F"),
            ("ä€😀", "%C3%A4%E2%82%AC%F0%9F%98%80"),
        ] {
            assert_eq!(quoted(text), shown);
        }
    }
}
