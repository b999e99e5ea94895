//! CBOR (RFC 8949): JSON's data, written with definite lengths, read with either.
//!
//! Read are all major types: byte strings become base64, `undefined` is null. Of tags those of long
//! integers (2, 3) and of decimals (4) are known; others are passed over.

use super::{DEPTH_MAX, In, Malformed, Number, Out, Tree, base64, big, number, too_long};

/// Tags of long integers, and of `[exponent, integer]`.
const POSITIVE: u64 = 2;
const NEGATIVE: u64 = 3;
const DECIMAL: u64 = 4;

/// A list or an object that is being read.
struct Open {
    is_object: bool,
    /// What is to come, where it was told.
    left: Option<u64>,
}

pub(super) fn read(body: &[u8], out: &mut Out) -> Result<(), Malformed> {
    let mut bytes = In { bytes: body, at: 0 };
    let mut open: Vec<Open> = Vec::new();
    loop {
        let at = bytes.at;
        match value(&mut bytes, out)? {
            Some(_) if open.len() >= DEPTH_MAX => {
                return Err(Malformed::new(at, "nested too deeply"));
            }
            Some(begun) => {
                out.raw(if begun.is_object { "{" } else { "[" });
                open.push(begun);
            }
            None if open.is_empty() => break,
            None => out.raw(","),
        }
        while let Some(last) = open.last_mut() {
            if more(&mut bytes, &mut last.left)? {
                if last.is_object {
                    out.check(bytes.at)?;
                    out.text(&key(&mut bytes)?);
                    out.raw(":");
                }
                break;
            }
            out.uncomma();
            out.raw(if last.is_object { "}" } else { "]" });
            open.pop();
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
fn value(bytes: &mut In<'_>, out: &mut Out) -> Result<Option<Open>, Malformed> {
    let (mut at, mut head) = (bytes.at, bytes.byte()?);
    // A tag says what the value stands for. But for those of numbers JSON has no place for that.
    while head >> 5 == 6 {
        let mut ahead = In { bytes: bytes.bytes, at: bytes.at };
        match argument(&mut ahead, head & 31)? {
            Some(POSITIVE | NEGATIVE) if next_major(&ahead) == Some(2) => break,
            Some(DECIMAL) => break,
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
            out.text(&base64(&held));
        }
        (3, _) => {
            let held = chunks(bytes, 3, argument)?;
            let text = String::from_utf8(held)
                .map_err(|_| Malformed::new(at, "a text that is no UTF-8"))?;
            out.text(&text);
        }
        (4 | 5, left) => return Ok(Some(Open { is_object: major == 5, left })),
        (6, Some(POSITIVE | NEGATIVE)) if next_major(bytes) == Some(2) => {
            bytes.at = at;
            out.raw(&integer(bytes)?);
        }
        (6, Some(DECIMAL)) => {
            let pair_at = bytes.at;
            if bytes.byte()? != 0x82 {
                return Err(Malformed::new(pair_at, "a decimal that is no pair"));
            }
            let exponent = integer(bytes)?.parse::<i32>().ok().and_then(i32::checked_neg);
            let scale = exponent.ok_or_else(|| too_long(pair_at))?;
            out.raw(&big::scaled(&integer(bytes)?, scale));
        }
        _ => return Err(Malformed::new(at, "a length that is not there")),
    }
    Ok(None)
}

/// The kind of what comes next.
fn next_major(bytes: &In<'_>) -> Option<u8> {
    bytes.bytes.get(bytes.at).map(|head| head >> 5)
}

/// An integer of any size, as digits.
fn integer(bytes: &mut In<'_>) -> Result<String, Malformed> {
    let at = bytes.at;
    let head = bytes.byte()?;
    let said = argument(bytes, head & 31)?;
    match (head >> 5, said) {
        (0, Some(number)) => Ok(number.to_string()),
        (1, Some(number)) => Ok((-1 - i128::from(number)).to_string()),
        (6, Some(tag @ (POSITIVE | NEGATIVE))) if next_major(bytes) == Some(2) => {
            let head = bytes.byte()?;
            let len = argument(bytes, head & 31)?;
            let held = chunks(bytes, 2, len)?;
            let read = if tag == POSITIVE { big::of_bytes } else { big::below_zero };
            read(&held).ok_or_else(|| too_long(at))
        }
        _ => Err(Malformed::new(at, "no integer")),
    }
}

/// A key: a text; some writers have integers there, or text that they call bytes.
fn key(bytes: &mut In<'_>) -> Result<String, Malformed> {
    let at = bytes.at;
    match next_major(bytes) {
        Some(0 | 1) => integer(bytes),
        Some(major @ (2 | 3)) => {
            let head = bytes.byte()?;
            let len = argument(bytes, head & 31)?;
            String::from_utf8(chunks(bytes, major, len)?)
                .map_err(|_| Malformed::new(at, "a text that is no UTF-8"))
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
    head(out, 2, bytes.len() as u64);
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
    use super::super::{Encoding, to_json};

    fn read(bytes: &[u8]) -> String {
        String::from_utf8(to_json(Encoding::Cbor, bytes).expect("good")).expect("UTF-8")
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
