//! Other encodings of JSON's data: YAML, CBOR, Smile. Bodies become JSON before a handler sees
//! them, answers cease to be JSON after it has written them.
//!
//! Always true
//! 1. What is read is bounded: by the body's own size, by [`DEPTH_MAX`], and by the size of the JSON
//!    that it becomes. There are no aliases, and no references but to names and texts.
//! 2. Written and read again, a value is the same, but that numbers keep their value, not their
//!    text: integers of any size exactly, numbers with a fraction as doubles.

mod big;
mod cbor;
mod smile;
mod yaml;

use std::fmt;

use json::Value;

/// What is written.
type Tree = Value;

/// Values inside each other that are read: as many as of JSON. No reader goes down with them.
pub const DEPTH_MAX: usize = json::Limits::DEFAULT.depth_max;

/// Values inside each other that a core writes: writers go down with each, and its stack has other uses.
pub const FLAT_MAX: usize = 200;

/// JSON may be so many times as long as what it is made of: escapes are, at six bytes each.
const GROWTH_MAX: usize = 8;

/// The same of Smile and CBOR, where two or three bytes may stand for a text of any length that was told before.
const SHARED_GROWTH_MAX: usize = 512;

/// An encoding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// RFC 8259.
    #[default]
    Json,
    /// JSON's data of YAML, words and numbers as Jackson reads them.
    Yaml,
    /// RFC 8949.
    Cbor,
    /// Jackson's.
    Smile,
}

impl Encoding {
    /// The last part of its media type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Yaml => "yaml",
            Self::Cbor => "cbor",
            Self::Smile => "smile",
        }
    }

    /// By that name.
    pub fn of_name(name: &str) -> Option<Self> {
        [Self::Json, Self::Yaml, Self::Cbor, Self::Smile]
            .into_iter()
            .find(|encoding| encoding.name() == name)
    }
}

/// Why a body cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// Where it went wrong, in bytes.
    pub at: usize,
    /// What was wrong.
    pub what: String,
    /// It becomes more JSON than there was room for.
    pub is_growth: bool,
}

impl Malformed {
    fn new(at: usize, what: impl Into<String>) -> Self {
        Self { at, what: what.into(), is_growth: false }
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.what, self.at)
    }
}

/// A body as JSON.
///
/// # Errors
/// Where it is none of this encoding, or holds what JSON cannot.
pub fn to_json(encoding: Encoding, body: &[u8]) -> Result<Vec<u8>, Malformed> {
    to_json_within(encoding, body, room(body.len()))
}

/// As [`to_json`], of `most` bytes or about as many.
///
/// # Errors
/// As [`to_json`]; more than that ([`Malformed::is_growth`]).
pub fn to_json_within(encoding: Encoding, body: &[u8], most: usize) -> Result<Vec<u8>, Malformed> {
    let mut out = Out { json: Vec::with_capacity(body.len()), most };
    match encoding {
        Encoding::Json => out.json.extend_from_slice(body),
        Encoding::Yaml => yaml::read(body, &mut out)?,
        Encoding::Cbor => cbor::read(body, &mut out)?,
        Encoding::Smile => smile::read(body, &mut out)?,
    }
    Ok(out.json)
}

/// A body that is a sequence of values as lines of JSON. In Smile each ends with the byte 0xff, which
/// stands in no value but raw bytes; YAML and CBOR have no such mark, so that they are one value.
///
/// # Errors
/// As [`to_json_within`], for the first value that is none.
pub fn to_lines(encoding: Encoding, body: &[u8], most: usize) -> Result<Vec<u8>, Malformed> {
    const END: u8 = 0xff;
    if encoding != Encoding::Smile {
        return to_json_within(encoding, body, most);
    }
    let mut lines = Vec::with_capacity(body.len());
    let mut at = 0;
    for part in body.split_inclusive(|byte| *byte == END) {
        let (value, is_ended) = match part.split_last() {
            Some((&END, value)) => (value, true),
            _ => (part, false),
        };
        if !value.is_empty() {
            let json = to_json_within(encoding, value, most.saturating_sub(lines.len()))
                .map_err(|malformed| Malformed { at: at + malformed.at, ..malformed })?;
            lines.extend_from_slice(&json);
        }
        // What lacks its end lacks its line's end too, and is refused as a line would be.
        if is_ended {
            lines.push(b'\n');
        }
        at += part.len();
    }
    Ok(lines)
}

/// An answer out of JSON; `None` where it is no JSON that we write. Where it is deeper than [`FLAT_MAX`] the
/// stack must be one's own.
pub fn of_json(encoding: Encoding, json: &[u8]) -> Option<Vec<u8>> {
    if encoding == Encoding::Json {
        return Some(json.to_vec());
    }
    let value = json::parse(json).ok()?;
    let mut out = Vec::with_capacity(json.len());
    match encoding {
        Encoding::Json => {}
        Encoding::Yaml => yaml::write(&value, &mut out),
        Encoding::Cbor => cbor::write(&value, &mut out),
        Encoding::Smile => smile::write(&value, &mut out),
    }
    Some(out)
}

/// How deep the brackets of a JSON text stand.
pub fn depth(json: &[u8]) -> usize {
    let (mut now, mut most, mut quoted, mut escaped) = (0usize, 0, false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' | b'[' if !quoted => {
                now += 1;
                most = most.max(now);
            }
            b'}' | b']' if !quoted => now = now.saturating_sub(1),
            _ => {}
        }
    }
    most
}

/// How much JSON a body of so many bytes may become.
pub fn room(len: usize) -> usize {
    len.saturating_mul(GROWTH_MAX).saturating_add(1_024)
}

/// How much JSON a body may become that grows more than [`room`] allows; none where that is all.
pub fn wide_room(encoding: Encoding, len: usize) -> Option<usize> {
    matches!(encoding, Encoding::Smile | Encoding::Cbor)
        .then(|| len.saturating_mul(SHARED_GROWTH_MAX))
}

/// JSON that is being made.
struct Out {
    json: Vec<u8>,
    most: usize,
}

impl Out {
    fn check(&self, at: usize) -> Result<(), Malformed> {
        if self.json.len() > self.most {
            let what = "the body grows too much".to_owned();
            return Err(Malformed { at, what, is_growth: true });
        }
        Ok(())
    }

    fn text(&mut self, text: &str) {
        json::Writer::new(&mut self.json).str(text);
    }

    fn raw(&mut self, text: &str) {
        self.json.extend_from_slice(text.as_bytes());
    }

    /// A number with fraction; JSON knows no infinities.
    fn float(&mut self, at: usize, value: f64) -> Result<(), Malformed> {
        if !value.is_finite() {
            return Err(Malformed::new(at, "a number that JSON does not know"));
        }
        json::Writer::new(&mut self.json).f64(value);
        Ok(())
    }

    /// Drops the comma that stands last, where one does.
    fn uncomma(&mut self) {
        if self.json.last() == Some(&b',') {
            self.json.pop();
        }
    }
}

/// The bytes that are being read.
struct In<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> In<'a> {
    fn byte(&mut self) -> Result<u8, Malformed> {
        let byte = self.bytes.get(self.at).copied();
        self.at += 1;
        byte.ok_or_else(|| Malformed::new(self.bytes.len(), "unexpected end"))
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], Malformed> {
        let end = self.at.checked_add(len).filter(|end| *end <= self.bytes.len());
        let end = end.ok_or_else(|| Malformed::new(self.bytes.len(), "unexpected end"))?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    fn text(&mut self, len: usize) -> Result<&'a str, Malformed> {
        let at = self.at;
        let bytes = self.take(len)?;
        std::str::from_utf8(bytes).map_err(|_| Malformed::new(at, "a text that is no UTF-8"))
    }
}

/// Base64, as Jackson shows bytes.
fn base64(bytes: &[u8]) -> String {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

/// A number in the form that holds it best.
enum Number<'a> {
    Int(i64),
    /// The digits of an integer that is longer, with its sign.
    Big(&'a str),
    Float(f64),
}

fn number(number: &json::Number) -> Number<'_> {
    match number.as_i64() {
        Some(int) if number.is_integer() => Number::Int(int),
        None if number.is_integer() => Number::Big(number.text()),
        _ => Number::Float(number.as_f64()),
    }
}

fn too_long(at: usize) -> Malformed {
    Malformed::new(at, "a number too long")
}

#[cfg(test)]
mod random_tests;

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLES: &[&str] = &[
        "{}",
        "[]",
        "null",
        r#"{"a":[1,-1,0,15,16,-17,255,65536,-4294967296,9223372036854775807,-9223372036854775808]}"#,
        r#"[9223372036854775808,18446744073709551615,18446744073709551616,-9223372036854775809]"#,
        r#"[-18446744073709551616,-18446744073709551617,1000000000000000000000000000000]"#,
        r#"{"f":[0.5,-2.25,1.0E300],"t":true,"n":null,"e":"","o":{},"l":[]}"#,
        r#"{"kurz":"käse","long":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}"#,
        r##"{"true":"true","0":"0","a b":" x","#x":"- y","x: y":"{","q\"":"\n\t\\","é":"😀"}"##,
        r#"[{"a":[[1,2],[],[{"b":[{}]}]]},"x"]"#,
        r#"{"same":1,"other":{"same":2,"same2":[{"same":3},{"same":4}]}}"#,
    ];

    #[test]
    fn written_and_read_again_a_value_is_the_same() {
        for encoding in [Encoding::Yaml, Encoding::Cbor, Encoding::Smile] {
            for sample in SAMPLES {
                let written = of_json(encoding, sample.as_bytes()).expect("JSON");
                let read = to_json(encoding, &written).expect(sample);
                let (one, two) = (json::parse(sample.as_bytes()), json::parse(&read));
                let (one, two) = (one.expect("JSON"), two.expect("JSON"));
                assert_eq!(json::to_string(&one), json::to_string(&two), "{encoding:?}: {sample}");
            }
        }
    }

    #[test]
    fn values_of_smile_become_lines() {
        let values = [r#"{"index":{"_id":"1"}}"#, r#"{"text":"a\nb"}"#];
        let mut body = Vec::new();
        for value in values {
            body.extend(of_json(Encoding::Smile, value.as_bytes()).expect("JSON"));
            body.push(0xff);
        }
        let lines = to_lines(Encoding::Smile, &body, room(body.len())).expect("two values");
        assert_eq!(String::from_utf8_lossy(&lines), values.join("\n") + "\n");
        body.pop();
        assert!(
            !to_lines(Encoding::Smile, &body, room(body.len()))
                .expect("two values")
                .ends_with(b"\n")
        );
        body.extend(b"\xff:)x\xff");
        let malformed =
            to_lines(Encoding::Smile, &body, room(body.len())).expect_err("no third value");
        assert!(malformed.at >= body.len() - 4, "{malformed}");
    }

    #[test]
    fn cut_and_garbled_bodies_never_panic() {
        for encoding in [Encoding::Yaml, Encoding::Cbor, Encoding::Smile] {
            for sample in SAMPLES {
                let written = of_json(encoding, sample.as_bytes()).expect("JSON");
                for len in 0..written.len() {
                    let _ = to_json(encoding, &written[..len]);
                }
                for at in 0..written.len() {
                    for bit in 0..8 {
                        let mut garbled = written.clone();
                        garbled[at] ^= 1 << bit;
                        if let Ok(json) = to_json(encoding, &garbled) {
                            assert!(json.len() <= room(garbled.len()) + 64);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn depth_is_bounded() {
        let deep = vec![0x81; 100_000];
        assert!(to_json(Encoding::Cbor, &deep).is_err());
        let mut deep = b":)\n\0".to_vec();
        deep.resize(100_000, 0xf8);
        assert!(to_json(Encoding::Smile, &deep).is_err());
        assert!(to_json(Encoding::Yaml, "[".repeat(100_000).as_bytes()).is_err());
        let nested = |count: usize| "[".repeat(count) + &"]".repeat(count);
        for encoding in [Encoding::Cbor, Encoding::Smile, Encoding::Yaml] {
            assert!(of_json(encoding, nested(DEPTH_MAX + 1).as_bytes()).is_none());
        }
        // Whoever writes these has a stack that allows for it.
        let deepest = move || {
            let mixed = "[{\"a\":".repeat(DEPTH_MAX / 2) + "1" + &"}]".repeat(DEPTH_MAX / 2);
            for json in [nested(DEPTH_MAX), mixed] {
                for encoding in [Encoding::Cbor, Encoding::Smile, Encoding::Yaml] {
                    let written = of_json(encoding, json.as_bytes()).expect("written");
                    let read = to_json(encoding, &written).expect("read");
                    assert_eq!(String::from_utf8_lossy(&read), json, "{encoding:?}");
                }
            }
        };
        let thread = std::thread::Builder::new().stack_size(64 << 20).spawn(deepest);
        thread.expect("a thread").join().expect("all of them");
        // One more.
        let mut one = vec![0x81; DEPTH_MAX + 1];
        one.push(1);
        assert!(to_json(Encoding::Cbor, &one).is_err());
        assert!(to_json(Encoding::Cbor, &one[1..]).is_ok());
        let mut smile = b":)\n\0".to_vec();
        smile.extend(std::iter::repeat_n(0xf8, DEPTH_MAX + 1));
        smile.extend(std::iter::repeat_n(0xf9, DEPTH_MAX + 1));
        assert!(to_json(Encoding::Smile, &smile).is_err());
        // Tags are none.
        let tags = [vec![0xc6; 100_000], vec![1]].concat();
        assert_eq!(to_json(Encoding::Cbor, &tags).as_deref(), Ok(&b"1"[..]));
        assert_eq!(depth(br#"{"[\"[":["[["]}"#), 2);
    }

    #[test]
    fn names_are_those_of_the_parameter() {
        assert_eq!(Encoding::of_name("cbor"), Some(Encoding::Cbor));
        assert_eq!(Encoding::of_name("xml"), None);
        assert!(matches!(number(&json::Number::from_text("1").expect("one")), Number::Int(1)));
    }
}
