//! JSON as it is written: compact, into a byte buffer, escaped as Jackson escapes.
//!
//! Always true
//! 1. A [`Writer`] only appends; what stood in the buffer before stays.
//! 2. Commas and colons are the writer's work; the caller gives keys and values in turn.
//! 3. Quotes, backslashes and control characters are escaped, nothing else is.

use crate::number;
use crate::value::Value;

/// Appends JSON to a buffer.
#[derive(Debug)]
pub struct Writer<'a> {
    out: &'a mut Vec<u8>,
    comma: bool,
}

impl<'a> Writer<'a> {
    /// A writer at the end of `out`.
    pub fn new(out: &'a mut Vec<u8>) -> Self {
        Self { out, comma: false }
    }

    /// What is written so far, with what stood before.
    pub fn written(&self) -> &[u8] {
        self.out
    }

    /// What is written so far, to be moved to where there is more room: it must come back as it was.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        self.out
    }

    /// Makes room for so many bytes more: what is long does not move time and again as it grows.
    pub fn reserve(&mut self, bytes: usize) {
        self.out.reserve(bytes);
    }

    /// `{`.
    pub fn begin_object(&mut self) -> &mut Self {
        self.begin(b'{')
    }

    /// `}`.
    pub fn end_object(&mut self) -> &mut Self {
        self.end(b'}')
    }

    /// `[`.
    pub fn begin_array(&mut self) -> &mut Self {
        self.begin(b'[')
    }

    /// `]`.
    pub fn end_array(&mut self) -> &mut Self {
        self.end(b']')
    }

    /// A key; its value comes next.
    pub fn key(&mut self, key: &str) -> &mut Self {
        self.separate();
        write_str(self.out, key);
        self.out.push(b':');
        self.comma = false;
        self
    }

    /// A string.
    pub fn str(&mut self, text: &str) -> &mut Self {
        self.separate();
        write_str(self.out, text);
        self
    }

    /// An integer.
    pub fn i64(&mut self, value: i64) -> &mut Self {
        self.separate();
        write_i64(self.out, value);
        self
    }

    /// An integer that is not negative.
    pub fn u64(&mut self, value: u64) -> &mut Self {
        self.separate();
        write_u64(self.out, value);
        self
    }

    /// A double as Java prints it; NaN and infinities in quotes, as Jackson does.
    pub fn f64(&mut self, value: f64) -> &mut Self {
        self.separate();
        quoted_unless(self.out, value.is_finite(), |out| number::write_f64(out, value));
        self
    }

    /// A float as Java prints it; NaN and infinities in quotes.
    pub fn f32(&mut self, value: f32) -> &mut Self {
        self.separate();
        quoted_unless(self.out, value.is_finite(), |out| number::write_f32(out, value));
        self
    }

    /// `true` or `false`.
    pub fn bool(&mut self, value: bool) -> &mut Self {
        self.raw(if value { b"true" } else { b"false" })
    }

    /// `null`.
    pub fn null(&mut self) -> &mut Self {
        self.raw(b"null")
    }

    /// A value that is JSON text already.
    pub fn raw(&mut self, json: &[u8]) -> &mut Self {
        self.separate();
        self.out.extend_from_slice(json);
        self
    }

    /// Members of the open object that are JSON text already, commas between them; perhaps none.
    pub fn raw_members(&mut self, json: &[u8]) -> &mut Self {
        if json.is_empty() { self } else { self.raw(json) }
    }

    /// A tree.
    pub fn value(&mut self, value: &Value) -> &mut Self {
        self.separate();
        write_value(self.out, value);
        self
    }

    /// A member: key and string.
    pub fn field_str(&mut self, key: &str, text: &str) -> &mut Self {
        self.key(key).str(text)
    }

    /// A member: key and integer.
    pub fn field_u64(&mut self, key: &str, value: u64) -> &mut Self {
        self.key(key).u64(value)
    }

    /// A member: key and truth.
    pub fn field_bool(&mut self, key: &str, value: bool) -> &mut Self {
        self.key(key).bool(value)
    }

    /// A member: key and tree.
    pub fn field(&mut self, key: &str, value: &Value) -> &mut Self {
        self.key(key).value(value)
    }

    fn begin(&mut self, bracket: u8) -> &mut Self {
        self.separate();
        self.out.push(bracket);
        self.comma = false;
        self
    }

    fn end(&mut self, bracket: u8) -> &mut Self {
        self.out.push(bracket);
        self.comma = true;
        self
    }

    fn separate(&mut self) {
        if self.comma {
            self.out.push(b',');
        }
        self.comma = true;
    }
}

/// The tree as compact text.
pub fn to_string(value: &Value) -> String {
    String::from_utf8(to_vec(value)).expect("the writer writes UTF-8")
}

/// The tree as compact text, in bytes.
pub fn to_vec(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    write_value(&mut out, value);
    out
}

/// Appends a tree.
pub fn write_value(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Number(number) => out.extend_from_slice(number.text().as_bytes()),
        Value::String(text) => write_str(out, text),
        Value::Array(values) => {
            out.push(b'[');
            for (at, value) in values.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                write_value(out, value);
            }
            out.push(b']');
        }
        Value::Object(object) => {
            out.push(b'{');
            for (at, (key, value)) in object.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                write_str(out, key);
                out.push(b':');
                write_value(out, value);
            }
            out.push(b'}');
        }
    }
}

/// How many bytes a string takes as it is written, with its quotes.
pub fn str_bytes(text: &str) -> usize {
    let more = |byte: u8| match byte {
        b'"' | b'\\' | 0x08 | 0x0c | b'\n' | b'\r' | b'\t' => 1,
        0..b' ' => 5,
        _ => 0,
    };
    text.len() + 2 + text.bytes().map(more).sum::<usize>()
}

/// Appends a string with its quotes.
pub fn write_str(out: &mut Vec<u8>, text: &str) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut from = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        if byte >= b' ' && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.extend_from_slice(&bytes[from..at]);
        from = at + 1;
        write_escape(out, byte);
    }
    out.extend_from_slice(&bytes[from..]);
    out.push(b'"');
}

fn write_escape(out: &mut Vec<u8>, byte: u8) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let short = match byte {
        b'"' | b'\\' => byte,
        0x08 => b'b',
        0x0c => b'f',
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        _ => {
            out.extend_from_slice(b"\\u00");
            out.push(HEX[usize::from(byte >> 4)]);
            out.push(HEX[usize::from(byte & 15)]);
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

/// Appends a decimal integer.
pub fn write_i64(out: &mut Vec<u8>, value: i64) {
    if value < 0 {
        out.push(b'-');
    }
    write_u64(out, value.unsigned_abs());
}

/// Appends a decimal integer.
pub fn write_u64(out: &mut Vec<u8>, mut value: u64) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + u8::try_from(value % 10).expect("a digit");
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

fn quoted_unless(out: &mut Vec<u8>, plain: bool, write: impl FnOnce(&mut Vec<u8>)) {
    if plain {
        return write(out);
    }
    out.push(b'"');
    write(out);
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_values_are_separated() {
        let mut out = b"before ".to_vec();
        let mut writer = Writer::new(&mut out);
        writer.begin_object().key("a").begin_array().i64(-1).u64(2).f32(0.5).end_array();
        writer.key("b").begin_object().raw_members(b"").end_object();
        writer.key("c").null().field_bool("d", true);
        writer.key("e").begin_object().raw_members(b"\"x\":1,\"y\":2").end_object();
        writer
            .raw_members(b"\"z\":{}")
            .key("e")
            .raw(b"{\"x\":1}")
            .field_str("f", "g")
            .key("h")
            .f64(1e10)
            .end_object();
        assert_eq!(
            String::from_utf8(out).expect("UTF-8"),
            r#"before {"a":[-1,2,0.5],"b":{},"c":null,"d":true,"e":{"x":1,"y":2},"z":{},"e":{"x":1},"f":"g","h":1.0E10}"#
        );
    }

    #[test]
    fn strings_are_as_long_as_is_told() {
        for text in ["", "plain ä", "\"\\\n\r\t\u{8}\u{c}", "\u{0}\u{1f}\u{7f}", "a\u{1}b"] {
            assert_eq!(str_bytes(text), to_string(&Value::from(text)).len(), "{text:?}");
        }
    }

    #[test]
    fn strings_are_escaped_as_jackson_does() {
        let mut out = Vec::new();
        write_str(&mut out, "a\"b\\c\u{8}\u{c}\n\r\t\u{1f}\u{7f}/é😀");
        assert_eq!(
            String::from_utf8(out).expect("UTF-8"),
            "\"a\\\"b\\\\c\\b\\f\\n\\r\\t\\u001F\u{7f}/é😀\""
        );
    }

    #[test]
    fn integers_have_no_edge() {
        for value in [0, 1, -1, 9, 10, i64::MAX, i64::MIN] {
            let mut out = Vec::new();
            write_i64(&mut out, value);
            assert_eq!(String::from_utf8(out).expect("ASCII"), value.to_string());
        }
        let mut out = Vec::new();
        Writer::new(&mut out).begin_array().f64(f64::NAN).u64(u64::MAX).end_array();
        assert_eq!(out, b"[\"NaN\",18446744073709551615]");
    }
}
