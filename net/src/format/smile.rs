//! Smile, Jackson's binary form of JSON's data (version 1.0.6 of its specification).
//!
//! Written without shared names or values; read with both: a reference is a number that stands for
//! a text met before, in a table of at most 1,024. Names count there however long they are, values
//! only in their short forms (of up to 64 bytes).

use super::{DEPTH_MAX, In, Malformed, Number, Out, Tree, base64, big, number, too_long};

/// So many texts have a reference at a time.
const SHARED_MAX: usize = 1_024;

/// What is known while reading.
struct Shared {
    names: Option<Vec<String>>,
    values: Option<Vec<String>>,
}

fn share(table: &mut Option<Vec<String>>, text: &str) {
    let Some(table) = table else { return };
    if table.len() == SHARED_MAX {
        table.clear();
    }
    table.push(text.to_owned());
}

fn shared(table: &Option<Vec<String>>, number: usize, at: usize) -> Result<String, Malformed> {
    let held = table.as_ref().and_then(|table| table.get(number));
    held.cloned().ok_or_else(|| Malformed::new(at, "a reference to nothing"))
}

/// What is open while reading.
#[derive(Clone, Copy)]
enum Open {
    Array,
    Object,
}

impl Open {
    /// The mark that ends it.
    fn end(self) -> u8 {
        match self {
            Self::Array => 0xf9,
            Self::Object => 0xfb,
        }
    }

    /// The brackets of JSON.
    fn marks(self) -> (&'static str, &'static str) {
        match self {
            Self::Array => ("[", "]"),
            Self::Object => ("{", "}"),
        }
    }
}

pub(super) fn read(body: &[u8], out: &mut Out) -> Result<(), Malformed> {
    let mut bytes = In { bytes: body, at: 0 };
    if bytes.take(3)? != b":)\n" {
        return Err(Malformed::new(0, "no header of Smile"));
    }
    let flags = bytes.byte()?;
    if flags >> 4 != 0 {
        return Err(Malformed::new(3, "another version of Smile"));
    }
    let table = |bit: u8| (flags & bit != 0).then(Vec::new);
    let mut known = Shared { names: table(1), values: table(2) };
    let mut open: Vec<Open> = Vec::new();
    let mut head = bytes.byte()?;
    loop {
        let at = bytes.at;
        match value(&mut bytes, out, &mut known, head)? {
            Some(_) if open.len() >= DEPTH_MAX => {
                return Err(Malformed::new(at, "nested too deeply"));
            }
            Some(begun) => {
                out.raw(begun.marks().0);
                open.push(begun);
            }
            None if open.is_empty() => break,
            None => out.raw(","),
        }
        while let Some(last) = open.last() {
            head = bytes.byte()?;
            if head != last.end() {
                break;
            }
            out.uncomma();
            out.raw(last.marks().1);
            open.pop();
            if !open.is_empty() {
                out.raw(",");
            }
        }
        match open.last() {
            None => break,
            Some(Open::Array) => {}
            Some(Open::Object) => {
                name(&mut bytes, out, &mut known, head)?;
                out.raw(":");
                head = bytes.byte()?;
            }
        }
    }
    match bytes.bytes.get(bytes.at) {
        None => Ok(()),
        Some(0xff) if bytes.at + 1 == body.len() => Ok(()),
        Some(_) => Err(Malformed::new(bytes.at, "bytes after the end")),
    }
}

/// Seven bits a byte, the last one six and marked.
fn vint(bytes: &mut In<'_>) -> Result<u64, Malformed> {
    let at = bytes.at;
    let mut value = 0u64;
    for _ in 0..10 {
        let byte = bytes.byte()?;
        if byte & 0x80 != 0 {
            return Ok(value << 6 | u64::from(byte & 0x3f));
        }
        value = value << 7 | u64::from(byte);
    }
    Err(Malformed::new(at, "a number too long"))
}

fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// Seven bits a byte, the highest first.
fn sevens(bytes: &mut In<'_>, count: usize) -> Result<u128, Malformed> {
    Ok(bytes.take(count)?.iter().fold(0u128, |sum, byte| sum << 7 | u128::from(byte & 0x7f)))
}

/// `len` bytes, packed into groups of seven bits.
fn packed(bytes: &mut In<'_>, len: usize) -> Result<Vec<u8>, Malformed> {
    let groups = (len.saturating_mul(8)).div_ceil(7);
    let mut held = Vec::with_capacity(len.min(bytes.bytes.len()));
    let (mut bits, mut count) = (0u32, 0u32);
    for (at, byte) in bytes.take(groups)?.iter().enumerate() {
        // The last group holds just what is left.
        let left = len * 8 - at * 7;
        let width = left.min(7) as u32;
        bits = bits << width | u32::from(byte & 0x7f);
        count += width;
        if count >= 8 {
            held.push((bits >> (count - 8)) as u8);
            count -= 8;
            bits &= (1 << count) - 1;
        }
    }
    Ok(held)
}

/// An integer of any size, as digits: its bytes in two's complement, packed.
fn integer(bytes: &mut In<'_>, at: usize) -> Result<String, Malformed> {
    let len = usize::try_from(vint(bytes)?).unwrap_or(usize::MAX);
    big::of_complement(&packed(bytes, len)?).ok_or_else(|| too_long(at))
}

/// A text up to its end mark.
fn long_text<'a>(bytes: &mut In<'a>) -> Result<&'a str, Malformed> {
    let rest = &bytes.bytes[bytes.at..];
    let len = rest.iter().position(|byte| *byte == 0xfc);
    let len = len.ok_or_else(|| Malformed::new(bytes.bytes.len(), "unexpected end"))?;
    let text = bytes.text(len)?;
    bytes.at += 1;
    Ok(text)
}

/// A whole value, or where a list or an object begins.
fn value(
    bytes: &mut In<'_>,
    out: &mut Out,
    known: &mut Shared,
    head: u8,
) -> Result<Option<Open>, Malformed> {
    let at = bytes.at;
    out.check(at)?;
    match head {
        0x01..=0x1f => out.text(&shared(&known.values, usize::from(head & 31) - 1, at)?),
        0x20 => out.text(""),
        0x21 => out.raw("null"),
        0x22 => out.raw("false"),
        0x23 => out.raw("true"),
        0x24 | 0x25 => out.raw(&unzigzag(vint(bytes)?).to_string()),
        0x26 => out.raw(&integer(bytes, at)?),
        0x2a => {
            let scale = i32::try_from(unzigzag(vint(bytes)?)).map_err(|_| too_long(at))?;
            out.raw(&big::scaled(&integer(bytes, at)?, scale));
        }
        0x28 => out.float(at, f64::from(f32::from_bits(sevens(bytes, 5)? as u32)))?,
        0x29 => out.float(at, f64::from_bits(sevens(bytes, 10)? as u64))?,
        0x40..=0xbf => {
            // Short ASCII, ASCII, short text, text: from 1, 33, 2 and 34 bytes on.
            let base = [1, 33, 2, 34][usize::from(head >> 5) - 2];
            let text = bytes.text(base + usize::from(head & 31))?;
            share(&mut known.values, text);
            out.text(text);
        }
        0xc0..=0xdf => out.raw(&unzigzag(u64::from(head & 31)).to_string()),
        0xe0 | 0xe4 => {
            let text = long_text(bytes)?;
            out.text(text);
        }
        0xe8 => {
            let len = usize::try_from(vint(bytes)?).unwrap_or(usize::MAX);
            let held = packed(bytes, len)?;
            out.text(&base64(&held));
        }
        0xec..=0xef => {
            let number = usize::from(head & 3) << 8 | usize::from(bytes.byte()?);
            out.text(&shared(&known.values, number, at)?);
        }
        0xfd => {
            let len = usize::try_from(vint(bytes)?).unwrap_or(usize::MAX);
            out.text(&base64(bytes.take(len)?));
        }
        0xf8 => return Ok(Some(Open::Array)),
        0xfa => return Ok(Some(Open::Object)),
        _ => return Err(Malformed::new(at, format!("an unknown mark [{head:#04x}]"))),
    }
    Ok(None)
}

fn name(bytes: &mut In<'_>, out: &mut Out, known: &mut Shared, head: u8) -> Result<(), Malformed> {
    let at = bytes.at;
    out.check(at)?;
    match head {
        0x20 => out.text(""),
        0x30..=0x33 => {
            let number = usize::from(head & 3) << 8 | usize::from(bytes.byte()?);
            out.text(&shared(&known.names, number, at)?);
        }
        0x34 => {
            let text = long_text(bytes)?;
            share(&mut known.names, text);
            out.text(text);
        }
        0x40..=0x7f => out.text(&shared(&known.names, usize::from(head & 0x3f), at)?),
        0x80..=0xf7 => {
            let len = if head < 0xc0 { head - 0x80 + 1 } else { head - 0xc0 + 2 };
            let text = bytes.text(usize::from(len))?;
            share(&mut known.names, text);
            out.text(text);
        }
        _ => return Err(Malformed::new(at, format!("an unknown mark of a name [{head:#04x}]"))),
    }
    Ok(())
}

pub(super) fn write(tree: &Tree, out: &mut Vec<u8>) {
    // Nothing is shared.
    out.extend_from_slice(b":)\n\0");
    write_value(tree, out);
}

fn write_value(tree: &Tree, out: &mut Vec<u8>) {
    match tree {
        Tree::Null => out.push(0x21),
        Tree::Bool(flag) => out.push(0x22 + u8::from(*flag)),
        Tree::Number(held) => match number(held) {
            Number::Int(int @ -16..=15) => out.push(0xc0 + zigzag(int) as u8),
            Number::Int(int) => {
                out.push(if i32::try_from(int).is_ok() { 0x24 } else { 0x25 });
                write_vint(out, zigzag(int));
            }
            Number::Big(text) => {
                let bytes = big::to_complement(text);
                out.push(0x26);
                write_vint(out, bytes.len() as u64);
                pack(out, &bytes);
            }
            Number::Float(float) => {
                out.push(0x29);
                let bits = float.to_bits();
                out.extend((0..10).rev().map(|at| (bits >> (7 * at)) as u8 & 0x7f));
            }
        },
        Tree::String(text) => write_text(out, text),
        Tree::Array(items) => {
            out.push(0xf8);
            items.iter().for_each(|item| write_value(item, out));
            out.push(0xf9);
        }
        Tree::Object(object) => {
            out.push(0xfa);
            for (key, item) in object.iter() {
                write_name(out, key);
                write_value(item, out);
            }
            out.push(0xfb);
        }
    }
}

/// The other way of [`packed`].
fn pack(out: &mut Vec<u8>, bytes: &[u8]) {
    let (mut bits, mut count) = (0u32, 0u32);
    for byte in bytes {
        bits = bits << 8 | u32::from(*byte);
        count += 8;
        while count >= 7 {
            count -= 7;
            out.push((bits >> count) as u8 & 0x7f);
        }
        bits &= (1 << count) - 1;
    }
    if count > 0 {
        out.push(bits as u8);
    }
}

fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

fn write_vint(out: &mut Vec<u8>, value: u64) {
    let mut groups = Vec::with_capacity(10);
    let mut rest = value >> 6;
    while rest > 0 {
        groups.push((rest & 0x7f) as u8);
        rest >>= 7;
    }
    out.extend(groups.iter().rev());
    out.push(0x80 | (value & 0x3f) as u8);
}

fn write_text(out: &mut Vec<u8>, text: &str) {
    let len = text.len();
    // Short and longer texts of ASCII, then of other letters, which have two bytes at least.
    let mark = match (text.is_ascii(), len) {
        (_, 0) => Some(0x20),
        (true, 1..33) => Some(0x40 + (len - 1) as u8),
        (true, 33..65) => Some(0x60 + (len - 33) as u8),
        (false, 2..34) => Some(0x80 + (len - 2) as u8),
        (false, 34..65) => Some(0xa0 + (len - 34) as u8),
        _ => None,
    };
    match mark {
        Some(mark) => {
            out.push(mark);
            out.extend_from_slice(text.as_bytes());
        }
        None => {
            out.push(if text.is_ascii() { 0xe0 } else { 0xe4 });
            out.extend_from_slice(text.as_bytes());
            out.push(0xfc);
        }
    }
}

fn write_name(out: &mut Vec<u8>, name: &str) {
    let (len, ascii) = (name.len(), name.is_ascii());
    match len {
        0 => out.push(0x20),
        1..=64 if ascii => out.push(0x80 + (len - 1) as u8),
        2..=57 if !ascii => out.push(0xc0 + (len - 2) as u8),
        _ => {
            out.push(0x34);
            out.extend_from_slice(name.as_bytes());
            out.push(0xfc);
            return;
        }
    }
    out.extend_from_slice(name.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::super::{Encoding, of_json, to_json};

    #[test]
    fn what_a_peer_wrote_is_read() {
        // `{"_index":"c_y","_id":"1","found":false}` as Jackson writes it, names shared.
        let bytes = b":)\n\x05\xfa\x85_indexBc_y\x82_id@1\x84found\"\xfb";
        let json = to_json(Encoding::Smile, bytes).expect("good");
        assert_eq!(json, br#"{"_index":"c_y","_id":"1","found":false}"#);
        let ours = of_json(Encoding::Smile, &json).expect("JSON");
        assert_eq!(&ours[4..], &bytes[4..]);
    }

    #[test]
    fn references_lead_back() {
        let bytes = b":)\n\x03\xf8\xfa\x80a\x40x\xfb\xfa\x40\x01\xfb\xf9";
        let json = to_json(Encoding::Smile, bytes).expect("good");
        assert_eq!(json, br#"[{"a":"x"},{"a":"x"}]"#);
        assert!(to_json(Encoding::Smile, b":)\n\x03\xf8\x02\xf9").is_err(), "to nothing");
        assert!(to_json(Encoding::Smile, b":)\n\x00\xf8\x01\xf9").is_err(), "not switched on");
    }

    #[test]
    fn long_names_count_in_the_table_of_names() {
        // As Jackson writes it: `[{"k…":1,"b":2,"c":3},{"b":2,"c":3}]`, the first name of 65 bytes.
        let long = "k".repeat(65);
        let mut bytes = b":)\n\x01\xf8\xfa\x34".to_vec();
        bytes.extend_from_slice(long.as_bytes());
        bytes.extend_from_slice(
            b"\xfc\xc2\x80b\xc4\x80c\xc6\xfb\xfa\x41\xc4\x42\xc6\x40\xc2\xfb\xf9",
        );
        let json = to_json(Encoding::Smile, &bytes).expect("good");
        let wanted = format!(r#"[{{"{long}":1,"b":2,"c":3}},{{"b":2,"c":3,"{long}":1}}]"#);
        assert_eq!(String::from_utf8_lossy(&json), wanted);
        // The table of 1,024 begins anew after its last place.
        let mut bytes = b":)\n\x01\xfa".to_vec();
        let mut wanted = Vec::new();
        for number in 0..1_025 {
            let name = if number % 2 == 0 { format!("{number:070}") } else { number.to_string() };
            if name.len() > 64 {
                bytes.push(0x34);
                bytes.extend_from_slice(name.as_bytes());
                bytes.push(0xfc);
            } else {
                bytes.push(0x80 + (name.len() - 1) as u8);
                bytes.extend_from_slice(name.as_bytes());
            }
            bytes.push(0xc2);
            wanted.push(format!(r#""{name}":1"#));
        }
        bytes.extend_from_slice(b"\x40\xc4\xfb");
        wanted.push(format!(r#""{:070}":2"#, 1_024));
        let json = to_json(Encoding::Smile, &bytes).expect("good");
        assert_eq!(String::from_utf8_lossy(&json), format!("{{{}}}", wanted.join(",")));
    }

    #[test]
    fn integers_and_decimals_of_any_size_are_read() {
        // As Jackson writes 18446744073709551615, -1 (as a long integer) and 273.15.
        for (bytes, text) in [
            (&b"\x26\x89\x00\x3f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x03"[..], "18446744073709551615"),
            (b"\x26\x81\x7f\x01", "-1"),
            (b"\x2a\x84\x82\x35\x2c\x03", "273.15"),
        ] {
            let json = to_json(Encoding::Smile, &[b":)\n\0", bytes].concat()).expect(text);
            assert_eq!(String::from_utf8_lossy(&json), text);
        }
        let ours = of_json(Encoding::Smile, b"18446744073709551615").expect("JSON");
        assert_eq!(&ours[4..], b"\x26\x89\x00\x3f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x03");
    }

    #[test]
    fn packed_bytes_become_base64() {
        // 0xab in groups of seven bits and one.
        let json = to_json(Encoding::Smile, b":)\n\x00\xe8\x81\x55\x01").expect("good");
        assert_eq!(json, br#""qw==""#);
    }
}
