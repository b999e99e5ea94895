//! CBOR (RFC 8949): JSON's data, written with definite lengths, read with either.
//!
//! Read are all major types: byte strings become base64, `undefined` is null. Of tags those of long
//! integers (2, 3), of decimals (4) and of texts that were told before (256, 25: `stringref`) are known, as
//! Jackson knows them. That of shared values (29) is refused: the number after it is no value. Others are passed
//! over: they say what a value is for.

use super::{DEPTH_MAX, In, Malformed, Number, Out, Tree, base64, big, number, too_long};

/// Tags of long integers, and of `[exponent, integer]`.
const POSITIVE: u64 = 2;
const NEGATIVE: u64 = 3;
const DECIMAL: u64 = 4;

/// Tags of <http://cbor.schmorp.de/stringref>: a text that was told before, and what such numbers count in.
const TOLD: u64 = 25;
const NAMESPACE: u64 = 256;

/// Tag of <http://cbor.schmorp.de/value-sharing>: a value that was told before.
const SHARED: u64 = 29;

/// A list or an object that is being read.
struct Open {
    is_object: bool,
    /// What is to come, where it was told.
    left: Option<u64>,
    /// Texts that are told within it are counted anew.
    is_namespace: bool,
}

/// Texts and bytes that may be referred to: where each stands, by namespace, the innermost last. There are no more
/// namespaces than values inside each other, and no more texts than the body has room for.
#[derive(Default)]
struct Told(Vec<Vec<u32>>);

impl Told {
    /// Notes what stands at `at` and is so long, where a reference to it would be shorter.
    fn note(&mut self, at: usize, len: u64) {
        let Some(texts) = self.0.last_mut() else { return };
        let least = match texts.len() {
            0..24 => 3,
            24..0x100 => 4,
            0x100..0x1_0000 => 5,
            _ => 7,
        };
        if len >= least {
            texts.push(u32::try_from(at).expect("no body is so long"));
        }
    }

    /// What is referred to by the number that stands next: its kind and its bytes.
    fn find<'a>(&self, bytes: &mut In<'a>) -> Result<(u8, &'a [u8]), Malformed> {
        let at = bytes.at;
        let head = bytes.byte()?;
        let number = match argument(bytes, head & 31)? {
            Some(number) if head >> 5 == 0 => number,
            _ => return Err(Malformed::new(at, "a reference that is no number")),
        };
        let texts = self.0.last().ok_or_else(|| {
            Malformed::new(at, "a reference to a text, and nothing says which are counted")
        })?;
        let place = usize::try_from(number).ok().and_then(|number| texts.get(number));
        let place = place.ok_or_else(|| {
            Malformed::new(at, format!("a reference to text [{number}] of [{}]", texts.len()))
        })?;
        let mut there = In { bytes: bytes.bytes, at: *place as usize };
        let head = there.byte()?;
        let len = argument(&mut there, head & 31)?.expect("noted with its length");
        let len = usize::try_from(len).expect("it was read");
        Ok((head >> 5, there.take(len)?))
    }
}

pub(super) fn read(body: &[u8], out: &mut Out) -> Result<(), Malformed> {
    let mut bytes = In { bytes: body, at: 0 };
    let mut open: Vec<Open> = Vec::new();
    let mut told = Told::default();
    loop {
        let at = bytes.at;
        match value(&mut bytes, out, &mut told)? {
            Some(_) if open.len() >= DEPTH_MAX => {
                return Err(Malformed::new(at, "nested too deeply"));
            }
            Some(begun) => {
                out.raw(if begun.is_object { "{" } else { "[" });
                if begun.is_namespace {
                    told.0.push(Vec::new());
                }
                open.push(begun);
            }
            None if open.is_empty() => break,
            None => out.raw(","),
        }
        while let Some(last) = open.last_mut() {
            if more(&mut bytes, &mut last.left)? {
                if last.is_object {
                    out.check(bytes.at)?;
                    out.text(&key(&mut bytes, &mut told)?);
                    out.raw(":");
                }
                break;
            }
            out.uncomma();
            out.raw(if last.is_object { "}" } else { "]" });
            if open.pop().is_some_and(|ended| ended.is_namespace) {
                told.0.pop();
            }
            if !open.is_empty() {
                out.raw(",");
            }
        }
        if open.is_empty() {
            break;
        }
    }
    if bytes.at < body.len() {
        return Err(Malformed::new(bytes.at, "bytes after the end"));
    }
    Ok(())
}

/// The value of a head: in itself or in the bytes after it; `None`: indefinite.
fn argument(bytes: &mut In<'_>, info: u8) -> Result<Option<u64>, Malformed> {
    let at = bytes.at;
    let width = match info {
        0..24 => return Ok(Some(u64::from(info))),
        24 => 1,
        25 => 2,
        26 => 4,
        27 => 8,
        31 => return Ok(None),
        _ => return Err(Malformed::new(at, "a reserved length")),
    };
    let value = bytes.take(width)?.iter().fold(0u64, |sum, byte| sum << 8 | u64::from(*byte));
    Ok(Some(value))
}

/// A whole value, or where a list or an object begins.
fn value(bytes: &mut In<'_>, out: &mut Out, told: &mut Told) -> Result<Option<Open>, Malformed> {
    let (mut at, mut head) = (bytes.at, bytes.byte()?);
    let mut is_namespace = false;
    // A tag says what the value stands for. But for those above JSON has no place for that.
    while head >> 5 == 6 {
        let mut ahead = In { bytes: bytes.bytes, at: bytes.at };
        match argument(&mut ahead, head & 31)? {
            Some(POSITIVE | NEGATIVE) if are_bytes_next(&ahead) => break,
            Some(DECIMAL | TOLD) => break,
            Some(SHARED) => return Err(Malformed::new(at, "a reference to a shared value")),
            Some(NAMESPACE) => is_namespace = true,
            Some(_) => {}
            None => return Err(Malformed::new(at, "a length that is not there")),
        }
        bytes.at = ahead.at;
        (at, head) = (bytes.at, bytes.byte()?);
    }
    out.check(at)?;
    let (major, info) = (head >> 5, head & 31);
    if major == 7 {
        simple(bytes, out, info, at)?;
        return Ok(None);
    }
    let argument = argument(bytes, info)?;
    match (major, argument) {
        (0, Some(number)) => out.raw(&number.to_string()),
        (1, Some(number)) => out.raw(&(-1 - i128::from(number)).to_string()),
        (2, _) => {
            let held = chunks(bytes, 2, argument)?;
            note(told, at, argument);
            out.text(&base64(&held));
        }
        (3, _) => {
            let held = chunks(bytes, 3, argument)?;
            note(told, at, argument);
            out.text(&text(held, at)?);
        }
        (4 | 5, left) => return Ok(Some(Open { is_object: major == 5, left, is_namespace })),
        (6, Some(TOLD)) => match told.find(bytes)? {
            (2, held) => out.text(&base64(held)),
            (_, held) => out.text(&text(held.to_vec(), at)?),
        },
        (6, Some(POSITIVE | NEGATIVE)) if are_bytes_next(bytes) => {
            bytes.at = at;
            out.raw(&integer(bytes, told)?);
        }
        (6, Some(DECIMAL)) => {
            let pair_at = bytes.at;
            if bytes.byte()? != 0x82 {
                return Err(Malformed::new(pair_at, "a decimal that is no pair"));
            }
            let exponent = integer(bytes, told)?.parse::<i32>().ok().and_then(i32::checked_neg);
            let scale = exponent.ok_or_else(|| too_long(pair_at))?;
            out.raw(&big::scaled(&integer(bytes, told)?, scale));
        }
        _ => return Err(Malformed::new(at, "a length that is not there")),
    }
    Ok(None)
}

/// The kind of what comes next.
fn next_major(bytes: &In<'_>) -> Option<u8> {
    bytes.bytes.get(bytes.at).map(|head| head >> 5)
}

/// Whether these are bytes, or a reference to some.
fn are_bytes_next(bytes: &In<'_>) -> bool {
    next_major(bytes) == Some(2) || is_told_next(bytes)
}

fn is_told_next(bytes: &In<'_>) -> bool {
    bytes.bytes.get(bytes.at..).is_some_and(|rest| rest.starts_with(&[0xd8, TOLD as u8]))
}

/// Notes what was read at `at`, where it is one piece.
fn note(told: &mut Told, at: usize, len: Option<u64>) {
    if let Some(len) = len {
        told.note(at, len);
    }
}

fn text(held: Vec<u8>, at: usize) -> Result<String, Malformed> {
    String::from_utf8(held).map_err(|_| Malformed::new(at, "a text that is no UTF-8"))
}

/// An integer of any size, as digits.
fn integer(bytes: &mut In<'_>, told: &mut Told) -> Result<String, Malformed> {
    let at = bytes.at;
    let head = bytes.byte()?;
    let said = argument(bytes, head & 31)?;
    match (head >> 5, said) {
        (0, Some(number)) => Ok(number.to_string()),
        (1, Some(number)) => Ok((-1 - i128::from(number)).to_string()),
        (6, Some(tag @ (POSITIVE | NEGATIVE))) if are_bytes_next(bytes) => {
            let held_at = bytes.at;
            let head = bytes.byte()?;
            let said = argument(bytes, head & 31)?;
            let held = if head >> 5 == 2 {
                let held = chunks(bytes, 2, said)?;
                note(told, held_at, said);
                held
            } else {
                match told.find(bytes)? {
                    (2, held) => held.to_vec(),
                    _ => return Err(Malformed::new(held_at, "no integer")),
                }
            };
            let read = if tag == POSITIVE { big::of_bytes } else { big::below_zero };
            read(&held).ok_or_else(|| too_long(at))
        }
        _ => Err(Malformed::new(at, "no integer")),
    }
}

/// A key: a text; some writers have integers there, or text that they call bytes.
fn key(bytes: &mut In<'_>, told: &mut Told) -> Result<String, Malformed> {
    let at = bytes.at;
    match next_major(bytes) {
        Some(0 | 1) => integer(bytes, told),
        Some(major @ (2 | 3)) => {
            let head = bytes.byte()?;
            let len = argument(bytes, head & 31)?;
            let held = chunks(bytes, major, len)?;
            note(told, at, len);
            text(held, at)
        }
        Some(6) if is_told_next(bytes) => {
            bytes.take(2)?;
            text(told.find(bytes)?.1.to_vec(), at)
        }
        _ => Err(Malformed::new(at, "a key that is no text")),
    }
}

/// Is there one more in a list of known or unknown length?
fn more(bytes: &mut In<'_>, left: &mut Option<u64>) -> Result<bool, Malformed> {
    match left {
        Some(0) => Ok(false),
        Some(count) => {
            *count -= 1;
            Ok(true)
        }
        None if bytes.bytes.get(bytes.at) == Some(&0xff) => {
            bytes.at += 1;
            Ok(false)
        }
        None => Ok(true),
    }
}

/// Bytes or text: one piece, or pieces until the end mark.
fn chunks(bytes: &mut In<'_>, major: u8, len: Option<u64>) -> Result<Vec<u8>, Malformed> {
    let size = |len: u64| usize::try_from(len).unwrap_or(usize::MAX);
    if let Some(len) = len {
        return Ok(bytes.take(size(len))?.to_vec());
    }
    let mut held = Vec::new();
    loop {
        let at = bytes.at;
        let head = bytes.byte()?;
        if head == 0xff {
            return Ok(held);
        }
        match argument(bytes, head & 31)? {
            Some(len) if head >> 5 == major => held.extend_from_slice(bytes.take(size(len))?),
            _ => return Err(Malformed::new(at, "a piece of another kind")),
        }
    }
}

fn simple(bytes: &mut In<'_>, out: &mut Out, info: u8, at: usize) -> Result<(), Malformed> {
    match info {
        20 => out.raw("false"),
        21 => out.raw("true"),
        22 | 23 => out.raw("null"),
        25 => {
            let half = u16::from_be_bytes([bytes.byte()?, bytes.byte()?]);
            out.float(at, half_float(half))?;
        }
        26 => {
            let mut four = [0; 4];
            four.copy_from_slice(bytes.take(4)?);
            out.float(at, f64::from(f32::from_be_bytes(four)))?;
        }
        27 => {
            let mut eight = [0; 8];
            eight.copy_from_slice(bytes.take(8)?);
            out.float(at, f64::from_be_bytes(eight))?;
        }
        _ => return Err(Malformed::new(at, "an unknown simple value")),
    }
    Ok(())
}

fn half_float(half: u16) -> f64 {
    let exponent = i32::from(half >> 10 & 0x1f);
    let fraction = f64::from(half & 0x3ff);
    let value = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (fraction + 1_024.0) * 2f64.powi(exponent - 25),
    };
    if half >> 15 == 1 { -value } else { value }
}

pub(super) fn write(value: &Tree, out: &mut Vec<u8>) {
    match value {
        Tree::Null => out.push(0xf6),
        Tree::Bool(flag) => out.push(0xf4 + u8::from(*flag)),
        Tree::Number(held) => match number(held) {
            Number::Int(int) if int >= 0 => head(out, 0, int as u64),
            Number::Int(int) => head(out, 1, !int as u64),
            Number::Big(text) => long(out, text),
            Number::Float(float) => {
                out.push(0xfb);
                out.extend_from_slice(&float.to_be_bytes());
            }
        },
        Tree::String(text) => string(out, text),
        Tree::Array(items) => {
            head(out, 4, items.len() as u64);
            items.iter().for_each(|item| write(item, out));
        }
        Tree::Object(object) => {
            head(out, 5, object.len() as u64);
            for (key, item) in object.iter() {
                string(out, key);
                write(item, out);
            }
        }
    }
}

/// An integer beyond 64 bits with sign: in a head where one holds it, else tagged bytes.
fn long(out: &mut Vec<u8>, text: &str) {
    let (major, tag, bytes) = match text.strip_prefix('-') {
        Some(digits) => (1, NEGATIVE, big::to_bytes_less_one(digits)),
        None => (0, POSITIVE, big::to_bytes(text)),
    };
    if bytes.len() <= 8 {
        head(out, major, bytes.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte)));
        return;
    }
    head(out, 6, tag);
    // Jackson takes the bytes for a number with its sign: a zero says that there is none.
    let zero = bytes.first().filter(|first| **first >> 7 == 1).map(|_| 0);
    head(out, 2, bytes.len() as u64 + u64::from(zero.is_some()));
    out.extend(zero);
    out.extend_from_slice(&bytes);
}

fn string(out: &mut Vec<u8>, text: &str) {
    head(out, 3, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

fn head(out: &mut Vec<u8>, major: u8, argument: u64) {
    let major = major << 5;
    match argument {
        0..24 => out.push(major | argument as u8),
        24..0x100 => out.extend_from_slice(&[major | 24, argument as u8]),
        0x100..0x1_0000 => {
            out.push(major | 25);
            out.extend_from_slice(&(argument as u16).to_be_bytes());
        }
        0x1_0000..0x1_0000_0000 => {
            out.push(major | 26);
            out.extend_from_slice(&(argument as u32).to_be_bytes());
        }
        _ => {
            out.push(major | 27);
            out.extend_from_slice(&argument.to_be_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Encoding, of_json, to_json};

    fn read(bytes: &[u8]) -> String {
        String::from_utf8(to_json(Encoding::Cbor, bytes).expect("good")).expect("UTF-8")
    }

    /// Jackson and clients made of it read 3353998650045843694279729906065329 as a number below zero.
    #[test]
    fn a_long_integer_has_room_for_its_sign() {
        let written = |text: &str| of_json(Encoding::Cbor, text.as_bytes()).expect("JSON");
        let positive = written("3353998650045843694279729906065329");
        assert_eq!(positive[..4], [0xc2, 0x4f, 0, 0xa5]);
        assert_eq!(read(&positive), "3353998650045843694279729906065329");
        let negative = written("-3353998650045843694279729906065329");
        assert_eq!(negative[..4], [0xc3, 0x4f, 0, 0xa5]);
        assert_eq!(read(&negative), "-3353998650045843694279729906065329");
        assert_eq!(written("18446744073709551616")[..3], [0xc2, 0x49, 1]);
    }

    /// A text that was told before was read as the number of the reference.
    #[test]
    fn texts_that_were_told_before_are_read() {
        let elephants = b"\xd9\x01\x00\xa1\x61a\x82\x68elephant\xd8\x19\x00";
        assert_eq!(read(elephants), r#"{"a":["elephant","elephant"]}"#);
        // The examples of the specification.
        let rows = b"\xd9\x01\x00\x83\xa3\x44rank\x04\x45count\x19\x01\xa1\x44name\x48Cocktail\
                     \xa3\xd8\x19\x02\x44Bath\xd8\x19\x01\x19\x01\x38\xd8\x19\x00\x04\
                     \xa3\xd8\x19\x02\x44Food\xd8\x19\x01\x19\x02\xb3\xd8\x19\x00\x04";
        let read_rows = read(rows);
        assert_eq!(
            read_rows,
            r#"[{"rank":4,"count":417,"name":"Q29ja3RhaWw="},{"name":"QmF0aA==","count":312,"rank":4},{"name":"Rm9vZA==","count":691,"rank":4}]"#
        );
        let mut many = b"\xd9\x01\x00\x98\x1f".to_vec();
        for text in ["111", "222", "333", "444", "555", "666", "777", "888", "999", "aaa", "bbb"] {
            many.extend([0x43]);
            many.extend(text.bytes());
        }
        many.extend(b"\x43ccc\x43ddd\x43eee\x44ffff\x43ggg\x43hhh\x43iii\x43jjj\x43kkk\x43lll");
        many.extend(
            b"\x43mmm\x43nnn\x43ooo\xd8\x19\x01\x43ppp\x44qqqq\xd8\x19\x17\xd8\x19\x18\x18",
        );
        many[4] = 0x1d;
        // The 25th has three bytes: a reference to it would have four.
        assert!(read(&many).ends_with(r#""b29v","MjIy","cHBw","cXFxcQ==","b29v","cXFxcQ=="]"#));
        // A namespace of its own within another, and the other again behind it.
        let nested =
            b"\xd9\x01\x00\x85\x63aaa\xd8\x19\x00\xd9\x01\x00\x83\x63bbb\x63aaa\xd8\x19\x01\
                       \xd9\x01\x00\x82\x63ccc\xd8\x19\x00\xd8\x19\x00";
        assert_eq!(read(nested), r#"["aaa","aaa",["bbb","aaa","aaa"],["ccc","ccc"],"aaa"]"#);
        // A text in pieces is not counted, a long integer's bytes are.
        let pieces = b"\xd9\x01\x00\x84\x7f\x63aaa\x63bbb\xff\xc2\x49\x01\0\0\0\0\0\0\0\0\xc3\xd8\x19\x00\xd8\x19\x00";
        assert_eq!(
            read(pieces),
            r#"["aaabbb",18446744073709551616,-18446744073709551617,"AQAAAAAAAAAA"]"#
        );
        for bad in [
            &b"\xd8\x19\x00"[..],
            b"\x82\x63aaa\xd8\x19\x00",
            b"\xd9\x01\x00\x82\x63aaa\xd8\x19\x01",
            b"\xd9\x01\x00\x82\x63aaa\xd8\x19\x20",
            b"\xd9\x01\x00\x82\x63aaa\xd8\x19\x61a",
            b"\xd9\x01\x00\x82\x62aa\xd8\x19\x00",
            b"\xd9\x01\x00\x82\x63aaa\xc2\xd8\x19\x00",
            b"\x82\xd9\x01\x00\x81\x63aaa\xd8\x19\x00",
            b"\xa1\xd8\x19\x00\x01",
            b"\xd8\x1c\x82\x01\xd8\x1d\x00",
        ] {
            assert!(to_json(Encoding::Cbor, bad).is_err(), "{bad:x?}");
        }
    }

    #[test]
    fn the_examples_of_the_rfc_are_read() {
        for (bytes, text) in [
            (&[0x18, 0x64][..], "100"),
            (&[0x1b, 255, 255, 255, 255, 255, 255, 255, 255], "18446744073709551615"),
            (&[0x39, 0x03, 0xe7], "-1000"),
            (&[0xf9, 0x3c, 0x00], "1.0"),
            (&[0xf9, 0x00, 0x01], "5.960464477539063E-8"),
            (&[0xfa, 0x47, 0xc3, 0x50, 0x00], "100000.0"),
            (&[0x44, 1, 2, 3, 4], r#""AQIDBA==""#),
            (&[0x9f, 0x01, 0x82, 0x02, 0x03, 0xff], "[1,[2,3]]"),
            (&[0xbf, 0x61, 0x61, 0x01, 0xff], r#"{"a":1}"#),
            (&[0x7f, 0x62, 0x61, 0x62, 0x61, 0x63, 0xff], r#""abc""#),
            (&[0xc1, 0x1a, 0x51, 0x4b, 0x67, 0xb0], "1363896240"),
            (&[0xf7], "null"),
            (&[0xc2, 0x49, 1, 0, 0, 0, 0, 0, 0, 0, 0], "18446744073709551616"),
            (&[0xc3, 0x49, 1, 0, 0, 0, 0, 0, 0, 0, 0], "-18446744073709551617"),
            (&[0x3b, 255, 255, 255, 255, 255, 255, 255, 255], "-18446744073709551616"),
            (&[0xc4, 0x82, 0x21, 0x19, 0x6a, 0xb3], "273.15"),
            (&[0xc4, 0x82, 0x00, 0xc3, 0x41, 4], "-5"),
            (&[0xa2, 0x01, 0x61, 0x61, 0x20, 0x61, 0x62], r#"{"1":"a","-1":"b"}"#),
            (&[0xa1, 0x41, 0x61, 0x02], r#"{"a":2}"#),
            (&[0xc2, 0x01], "1"),
        ] {
            assert_eq!(read(bytes), text);
        }
        assert!(to_json(Encoding::Cbor, &[0xf9, 0x7c, 0x00]).is_err(), "infinity");
        for bad in [
            &[0xa1, 0xf5, 0x02][..],
            &[0xa1, 0xc2, 0x41, 1, 0x02],
            &[0xc4, 0x01],
            &[0xc4, 0x82, 0x01],
            &[0xc4, 0x82, 0x61, 0x61, 0x01],
            &[0xc4, 0x82, 0x1b, 1, 0, 0, 0, 0, 0, 0, 0, 0x01],
            &[0xc2, 0x59, 255, 255],
        ] {
            assert!(to_json(Encoding::Cbor, bad).is_err(), "{bad:?}");
        }
        let long = [&[0xc2, 0x59, 0x02, 0x00][..], &[255; 512]].concat();
        assert!(to_json(Encoding::Cbor, &long).is_err(), "too many digits");
        assert!(to_json(Encoding::Cbor, &[0x01, 0x02]).is_err(), "two values");
        assert!(to_json(Encoding::Cbor, &[0x5b, 255, 255, 255, 255, 255, 255, 255, 255]).is_err());
    }
}
