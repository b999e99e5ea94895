//! YAML: written in blocks as Jackson writes it, texts in double quotes; read by events, so that
//! aliases make no more of a body than stands in it.
//!
//! What stands without quotes is read as Jackson reads it, which is neither YAML 1.1 nor 1.2 whole:
//! `yes`, `no`, `on`, `off` are truths (but `y` and `n` are not), numbers that begin with `0` or
//! `0o` are octal, those with `0x` are hexadecimal; there are no `_` in numbers, and no dates.

use saphyr_parser::{Event, Parser, ScalarStyle, Tag};

use super::{DEPTH_MAX, Malformed, Out, Tree, base64, big, too_long};

mod halves;

use halves::{Halves, Said};

/// A key of more letters is marked as one: readers look no further than 1,024 for its colon, quotes included.
const PLAIN_KEY_LETTERS_MAX: usize = 500;

/// What is open while reading.
enum Open {
    List,
    /// An object, and whether a key comes next.
    Object(bool),
}

pub(super) fn read(body: &[u8], out: &mut Out) -> Result<(), Malformed> {
    let text =
        std::str::from_utf8(body).map_err(|_| Malformed::new(0, "a text that is no UTF-8"))?;
    let halves = Halves::hide(text);
    let mut parser = Parser::new_from_str(halves.text());
    let mut open: Vec<Open> = Vec::new();
    let mut documents = 0;
    while let Some(event) = parser.next_event() {
        let (event, span) = event
            .map_err(|error| Malformed::new(error.marker().index(), error.info().to_owned()))?;
        let at = span.start.index();
        out.check(at)?;
        match event {
            Event::Nothing | Event::StreamStart | Event::DocumentEnd => {}
            Event::StreamEnd => break,
            Event::DocumentStart(_) => {
                documents += 1;
                if documents > 1 {
                    return Err(Malformed::new(at, "a second document"));
                }
            }
            Event::Alias(_) => return Err(Malformed::new(at, "an alias")),
            Event::Scalar(text, style, _, tag) => {
                match (halves.said(text, style), open.last(), tag) {
                    (Said::Json(json), ..) => out.raw(&json),
                    (Said::Text(text), Some(Open::Object(true)), _) => out.text(&text),
                    (Said::Text(text), _, Some(tag)) => tagged(&tag, &text, out, at)?,
                    (Said::Text(text), _, None) if style == ScalarStyle::Plain => {
                        plain(&text, out, at)?;
                    }
                    (Said::Text(text), ..) => out.text(&text),
                }
                end_of_value(&mut open, out);
            }
            Event::SequenceStart(..) | Event::MappingStart(..) => {
                if matches!(open.last(), Some(Open::Object(true))) {
                    return Err(Malformed::new(at, "a key that is no text"));
                }
                if open.len() >= DEPTH_MAX {
                    return Err(Malformed::new(at, "nested too deeply"));
                }
                if matches!(event, Event::SequenceStart(..)) {
                    out.raw("[");
                    open.push(Open::List);
                } else {
                    out.raw("{");
                    open.push(Open::Object(true));
                }
            }
            Event::SequenceEnd | Event::MappingEnd => {
                out.uncomma();
                let ended = open.pop();
                out.raw(if matches!(ended, Some(Open::List)) { "]" } else { "}" });
                end_of_value(&mut open, out);
            }
        }
    }
    if documents == 0 || !open.is_empty() {
        return Err(Malformed::new(body.len(), "unexpected end"));
    }
    Ok(())
}

/// A colon after a key, a comma after a value.
fn end_of_value(open: &mut [Open], out: &mut Out) {
    match open.last_mut() {
        None => {}
        Some(Open::List) => out.raw(","),
        Some(Open::Object(key)) => {
            out.raw(if *key { ":" } else { "," });
            *key = !*key;
        }
    }
}

/// A text whose kind is told; one of a kind that nobody knows is a text.
fn tagged(tag: &Tag, text: &str, out: &mut Out, at: usize) -> Result<(), Malformed> {
    let kind = if tag.is_yaml_core_schema() { tag.suffix.as_str() } else { "" };
    match (kind, truth(text)) {
        ("null", _) => out.raw("null"),
        ("bool", Some(flag)) => out.raw(if flag { "true" } else { "false" }),
        ("int", _) if number(text, out, at)? => {}
        ("float", _) => {
            let value = text.parse().map_err(|_| Malformed::new(at, "a float that is none"))?;
            out.float(at, value)?;
        }
        ("binary", _) => out.text(&base64(&bytes(text, at)?)),
        _ => out.text(text),
    }
    Ok(())
}

/// The bytes that a text means, in units of four letters; lines end, and are indented, between units.
fn bytes(text: &str, at: usize) -> Result<Vec<u8>, Malformed> {
    use base64::Engine;
    use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
    // Bits behind the last byte are passed over.
    const READS: GeneralPurpose = GeneralPurpose::new(
        &base64::alphabet::STANDARD,
        GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
    );
    const BLANK: [char; 4] = [' ', '\t', '\r', '\n'];
    let mut letters = String::with_capacity(text.len());
    for part in text.split(BLANK) {
        // What is cut within a unit is no line of such a text.
        if !letters.len().is_multiple_of(4) && !part.is_empty() {
            return Err(Malformed::new(at, "white space within a unit of base64"));
        }
        letters.push_str(part);
    }
    READS
        .decode(letters)
        .map_err(|error| Malformed::new(at, format!("bytes that are none: {error}")))
}

/// A text without quotes may be a truth, a number or nothing.
fn plain(text: &str, out: &mut Out, at: usize) -> Result<(), Malformed> {
    match (text, truth(text)) {
        ("" | "~" | "null" | "Null" | "NULL", _) => out.raw("null"),
        (_, Some(flag)) => out.raw(if flag { "true" } else { "false" }),
        _ if number(text, out, at)? => {}
        // JSON has no numbers for these; Jackson makes them texts.
        (".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF", _) => out.text("Infinity"),
        ("-.inf" | "-.Inf" | "-.INF", _) => out.text("-Infinity"),
        (".nan" | ".NaN" | ".NAN", _) => out.text("NaN"),
        _ => out.text(text),
    }
    Ok(())
}

fn truth(text: &str) -> Option<bool> {
    match text {
        "true" | "True" | "TRUE" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => Some(true),
        "false" | "False" | "FALSE" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => Some(false),
        _ => None,
    }
}

/// Writes a text that is a number; false where it is none.
fn number(text: &str, out: &mut Out, at: usize) -> Result<bool, Malformed> {
    let (sign, rest) = match text.as_bytes().first() {
        Some(b'-') => ("-", &text[1..]),
        Some(b'+') => ("", &text[1..]),
        _ => ("", text),
    };
    let all = |digits: &str, known: fn(&u8) -> bool| {
        !digits.is_empty() && digits.bytes().all(|byte| known(&byte))
    };
    let is_signed = rest.len() < text.len();
    let other = if is_signed { None } else { rest.strip_prefix("0x").map(|digits| (digits, 16)) };
    let other =
        if is_signed { None } else { other.or(rest.strip_prefix("0o").map(|digits| (digits, 8))) };
    let (digits, radix) = match other {
        Some((digits, 16)) if all(digits, u8::is_ascii_hexdigit) => (digits, 16),
        Some((digits, radix)) if all(digits, |byte| matches!(byte, b'0'..=b'7')) => (digits, radix),
        Some(_) => return Ok(false),
        None if all(rest, u8::is_ascii_digit) => match rest.strip_prefix('0') {
            Some(digits) if digits.contains(['8', '9']) => {
                return Err(Malformed::new(at, format!("no octal number [{text}]")));
            }
            Some(digits) if !digits.is_empty() => (digits, 8),
            _ => (rest, 10),
        },
        None if is_float(rest) => {
            let value = text.parse().map_err(|_| Malformed::new(at, "no number"))?;
            out.float(at, value)?;
            return Ok(true);
        }
        None => return Ok(false),
    };
    let value = |digit: u8| char::from(digit).to_digit(16).unwrap_or(0) as u8;
    let decimal = big::decimal(digits.bytes().map(value), radix).ok_or_else(|| too_long(at))?;
    if decimal != "0" {
        out.raw(sign);
    }
    out.raw(&decimal);
    Ok(true)
}

/// Digits with a point among, before or behind them, or with an exponent.
fn is_float(text: &str) -> bool {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let powers = exponent.map(|text| text.strip_prefix(['+', '-']).unwrap_or(text));
    digits(whole)
        && digits(part)
        && whole.len() + part.len() > 0
        && powers.is_none_or(|text| !text.is_empty() && digits(text))
}

pub(super) fn write(tree: &Tree, out: &mut Vec<u8>) {
    out.extend_from_slice(b"---");
    match tree {
        Tree::Object(object) if !object.is_empty() => {
            out.push(b'\n');
            block(tree, 0, out);
        }
        Tree::Array(items) if !items.is_empty() => {
            out.push(b'\n');
            block(tree, 0, out);
        }
        _ => {
            out.push(b' ');
            scalar(tree, out);
            out.push(b'\n');
        }
    }
}

/// An object or a list that is not empty, from the start of a line on.
fn block(tree: &Tree, indent: usize, out: &mut Vec<u8>) {
    let margin = |out: &mut Vec<u8>| out.extend(std::iter::repeat_n(b' ', indent));
    match tree {
        Tree::Object(object) => {
            for (at, (key, value)) in object.iter().enumerate() {
                if at > 0 || !out.ends_with(b"- ") {
                    margin(out);
                }
                if key.chars().nth(PLAIN_KEY_LETTERS_MAX).is_some() {
                    out.extend_from_slice(b"? ");
                    quoted(key, out);
                    out.push(b'\n');
                    margin(out);
                } else {
                    write_key(key, out);
                }
                out.push(b':');
                member(value, indent, out);
            }
        }
        Tree::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                if at > 0 || !out.ends_with(b"- ") {
                    margin(out);
                }
                out.extend_from_slice(b"-");
                if is_block(item) {
                    // Its first line stands behind the dash.
                    out.push(b' ');
                    block(item, indent + 2, out);
                } else {
                    out.push(b' ');
                    scalar(item, out);
                    out.push(b'\n');
                }
            }
        }
        _ => scalar(tree, out),
    }
}

/// A value behind its key.
fn member(value: &Tree, indent: usize, out: &mut Vec<u8>) {
    if !is_block(value) {
        out.push(b' ');
        scalar(value, out);
        out.push(b'\n');
        return;
    }
    out.push(b'\n');
    // The dashes of a list stand below its key.
    let deeper = if matches!(value, Tree::Array(_)) { indent } else { indent + 2 };
    block(value, deeper, out);
}

fn is_block(tree: &Tree) -> bool {
    match tree {
        Tree::Object(object) => !object.is_empty(),
        Tree::Array(items) => !items.is_empty(),
        _ => false,
    }
}

fn scalar(tree: &Tree, out: &mut Vec<u8>) {
    match tree {
        Tree::Null => out.extend_from_slice(b"null"),
        Tree::Bool(flag) => out.extend_from_slice(if *flag { b"true" } else { b"false" }),
        Tree::Number(number) => out.extend_from_slice(number.text().as_bytes()),
        Tree::String(text) => quoted(text, out),
        Tree::Array(_) => out.extend_from_slice(b"[]"),
        Tree::Object(_) => out.extend_from_slice(b"{}"),
    }
}

/// May this stand in a text as it is? Controls and marks of order are no printable characters of
/// YAML, other ends of lines would be folded.
fn is_printable(letter: char) -> bool {
    !letter.is_control()
        && !matches!(letter, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// In double quotes; what JSON escapes, YAML reads.
fn quoted(text: &str, out: &mut Vec<u8>) {
    let begin = out.len();
    json::Writer::new(out).str(text);
    // JSON has escaped what is below a blank; the rest is rare.
    let is_ready = text.chars().all(|letter| letter < ' ' || is_printable(letter));
    if !is_ready {
        let written = String::from_utf8_lossy(&out[begin..]).into_owned();
        out.truncate(begin);
        for letter in written.chars() {
            if is_printable(letter) {
                out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
            } else {
                out.extend_from_slice(format!("\\u{:04x}", u32::from(letter)).as_bytes());
            }
        }
    }
}

fn write_key(key: &str, out: &mut Vec<u8>) {
    const RESERVED: [&str; 11] =
        ["false", "no", "off", "n", "true", "yes", "on", "y", "null", "~", ""];
    let lower = key.to_ascii_lowercase();
    let first = key.as_bytes().first().copied().unwrap_or(b' ');
    let control = !key.chars().all(is_printable);
    let like_number = first.is_ascii_digit() || matches!(first, b'-' | b'+' | b'.');
    if RESERVED.contains(&lower.as_str()) || control || like_number {
        return quoted(key, out);
    }
    let unsafe_plain = b"{}[],&*#?|<>=!%@`\"' ".contains(&first)
        || key.ends_with([' ', ':'])
        || key.contains(": ")
        || key.contains(" #");
    if unsafe_plain {
        out.push(b'\'');
        out.extend_from_slice(key.replace('\'', "''").as_bytes());
        out.push(b'\'');
    } else {
        out.extend_from_slice(key.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Encoding, of_json, to_json};

    fn yaml(json: &str) -> String {
        String::from_utf8(of_json(Encoding::Yaml, json.as_bytes()).expect("JSON")).expect("UTF-8")
    }

    fn json(yaml: &str) -> String {
        String::from_utf8(to_json(Encoding::Yaml, yaml.as_bytes()).expect(yaml)).expect("UTF-8")
    }

    #[test]
    fn blocks_stand_as_jackson_writes_them() {
        assert_eq!(
            yaml(r#"[{"index":"t","pri":"1"},{"index":"u","n":{"x":[1,"a"]},"e":[],"o":{}}]"#),
            "---\n- index: \"t\"\n  pri: \"1\"\n- index: \"u\"\n  \"n\":\n    x:\n    - 1\n    - \"a\"\n  e: []\n  o: {}\n"
        );
        assert_eq!(yaml("[[1,2],[[]]]"), "---\n- - 1\n  - 2\n- - []\n");
        assert_eq!(yaml("{}"), "--- {}\n");
        let long = "k".repeat(1_100);
        let told = format!(r#"{{"a":{{"{long}":1,"{long}x":{{"b":2}}}},"c":[{{"{long}":[3]}}]}}"#);
        assert_eq!(json(&yaml(&told)), told);
        assert_eq!(yaml(r#""x""#), "--- \"x\"\n");
    }

    #[test]
    fn keys_are_quoted_where_they_must_be() {
        assert_eq!(
            yaml(
                r##"{"a b":1,"0":1,"true":1,"#x":1,"-x":1,"a: b":1,"it's":1,"x:y":1," a":1,"q?":1}"##
            ),
            "---\na b: 1\n\"0\": 1\n\"true\": 1\n'#x': 1\n\"-x\": 1\n'a: b': 1\nit's: 1\nx:y: 1\n' a': 1\nq?: 1\n"
        );
    }

    #[test]
    fn what_people_write_is_read() {
        assert_eq!(
            json(
                "---\nquery:\n  match: {title: \"a: b\"}\nsize: 5\nx: [1, 0.5, ~, yes, +3, 0x1F, .5]\n"
            ),
            r#"{"query":{"match":{"title":"a: b"}},"size":5,"x":[1,0.5,null,true,3,31,0.5]}"#
        );
        assert_eq!(json("text: |\n  one\n  two\n"), r#"{"text":"one\ntwo\n"}"#);
        assert_eq!(json("{a: 1.2.3, b: 2024-01-01}"), r#"{"a":"1.2.3","b":"2024-01-01"}"#);
        for bad in ["a: &x [1]\nb: *x\n", "a: 1\n---\nb: 2\n", "? [1]\n: 2\n", "a: [1", ""] {
            assert!(to_json(Encoding::Yaml, bad.as_bytes()).is_err(), "{bad}");
        }
    }

    /// The text was kept as it stood, lines and all.
    #[test]
    fn bytes_are_base64_in_one_line() {
        let lines = "a: !!binary |\n  AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4v\n  MDEyMzQ1Njc4OTo7yP/+\n";
        assert_eq!(
            json(lines),
            r#"{"a":"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vMDEyMzQ1Njc4OTo7yP/+"}"#
        );
        assert_eq!(
            json("[!!binary \"aGk=\", !!binary aGk=, !!binary \"\", !!binary 'YWJj aGl=']"),
            r#"["aGk=","aGk=","","YWJjaGk="]"#
        );
        for bad in ["!!binary a", "!!binary aGk", "!!binary aG k=", "!!binary \"a*k=\""] {
            assert!(to_json(Encoding::Yaml, bad.as_bytes()).is_err(), "{bad}");
        }
    }

    #[test]
    fn plain_words_are_read_as_jackson_reads_them() {
        let table = "
            yes true|Yes true|YES true|yEs \"yEs\"|on true|On true|ON true|off false|Off false|OFF false
            no false|No false|NO false|y \"y\"|Y \"Y\"|n \"n\"|N \"N\"|TRUE true|tRue \"tRue\"|False false
            017 15|0o17 15|0x1F 31|0X1F \"0X1F\"|0b101 \"0b101\"|1_000 \"1_000\"|-017 -15|+017 15
            09.5 9.5|1e3 1000.0|1.5e3 1500.0|.5 0.5|5. 5.0|-.5 -0.5|+5 5|.inf \"Infinity\"|.NaN \"NaN\"
            1:30 \"1:30\"|0 0|00 0|-0 0|0_7 \"0_7\"|0x1_f \"0x1_f\"|12345678901234567890 12345678901234567890
            nUll \"nUll\"|2001-01-01 \"2001-01-01\"|1E3 1000.0|1.0e+3 1000.0|0xZZ \"0xZZ\"|1e \"1e\"
            e1 \"e1\"|1.2.3 \"1.2.3\"|+.5 0.5|-0x1F \"-0x1F\"|0o18 \"0o18\"|-0.0 -0.0|00.5 0.5|1.e3 1000.0
            0777777777777777777777 9223372036854775807|0xFFFFFFFFFFFFFFFFFF 4722366482869645213695
            . \".\"|+ \"+\"|0x \"0x\"|1,000 \"1,000\"";
        for row in table.split(['|', '\n']).map(str::trim).filter(|row| !row.is_empty()) {
            let (word, wanted) = row.split_once(' ').expect("a word and its meaning");
            assert_eq!(json(&format!("v: {word}\n")), format!(r#"{{"v":{wanted}}}"#), "{word}");
        }
        for (told, wanted) in [
            ("!!str 12", r#""12""#),
            ("!!int \"12\"", "12"),
            ("!!float 1", "1.0"),
            ("!!bool yes", "true"),
            ("!!bool \"x\"", r#""x""#),
            ("!!null x", "null"),
            ("!own 12", r#""12""#),
            ("\"yes\"", r#""yes""#),
        ] {
            assert_eq!(json(&format!("v: {told}\n")), format!(r#"{{"v":{wanted}}}"#), "{told}");
        }
        for bad in ["v: 08", "v: -019", "v: 1e999", "v: !!float x"] {
            assert!(to_json(Encoding::Yaml, bad.as_bytes()).is_err(), "{bad}");
        }
        assert!(to_json(Encoding::Yaml, "1".repeat(5_000).as_bytes()).is_err(), "too many digits");
        assert_eq!(json("yes: 1\n017: 2\n"), r#"{"yes":1,"017":2}"#, "keys stay words");
    }

    #[test]
    fn what_cannot_be_printed_is_escaped_and_comes_back() {
        for code in (0..0xd800).chain(0xe000..0x1_0000).chain([0x1_0000, 0x1_f600, 0x10_ffff]) {
            let letter = char::from_u32(code).expect("no surrogate");
            let text = json::to_string(&json::Value::from(format!("a{letter}b")));
            let sample = format!("{{{text}:{text}}}");
            let written = yaml(&sample);
            // As other readers of YAML bound what is printable, and what ends a line.
            let printable = |letter: char| {
                matches!(letter, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}')
                    || letter >= '\u{10000}'
            };
            assert!(written.chars().all(printable), "{code:#x}");
            assert!(!written.contains(['\u{2028}', '\u{2029}', '\u{feff}']), "{code:#x}");
            let back = json::parse(json(&written).as_bytes()).expect("JSON");
            assert_eq!(Some(back), json::parse(sample.as_bytes()).ok(), "{code:#x}");
        }
        assert_eq!(json("v: \"a\u{85}b\"\n"), "{\"v\":\"a\u{85}b\"}");
    }
}
