//! YAML: written in blocks as Jackson writes it, texts in double quotes; read by events, so that
//! neither aliases nor tags make more of a body than stands in it.

use saphyr_parser::{Event, Parser, ScalarStyle};

use super::{DEPTH_MAX, Malformed, Out, Tree};

/// What is open while reading.
enum Open {
    List,
    /// An object, and whether a key comes next.
    Object(bool),
}

pub(super) fn read(body: &[u8], out: &mut Out) -> Result<(), Malformed> {
    let text =
        std::str::from_utf8(body).map_err(|_| Malformed::new(0, "a text that is no UTF-8"))?;
    let mut parser = Parser::new_from_str(text);
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
                let is_key = matches!(open.last(), Some(Open::Object(true)));
                let quoted = style != ScalarStyle::Plain
                    || tag.is_some_and(|tag| tag.is_yaml_core_schema() && tag.suffix == "str");
                if is_key || quoted {
                    out.text(&text);
                } else {
                    plain(&text, out, at)?;
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

/// A text without quotes may be a truth, a number or nothing.
fn plain(text: &str, out: &mut Out, at: usize) -> Result<(), Malformed> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => out.raw("null"),
        "true" | "True" | "TRUE" => out.raw("true"),
        "false" | "False" | "FALSE" => out.raw("false"),
        _ => {
            let digits = text.strip_prefix('+').unwrap_or(text);
            if json::Number::from_text(digits).is_some() {
                out.raw(digits);
            } else if let Some(hex) = text.strip_prefix("0x")
                && let Ok(number) = i64::from_str_radix(hex, 16)
            {
                out.raw(&number.to_string());
            } else if is_float(digits)
                && let Ok(number) = digits.parse::<f64>()
            {
                out.float(at, number)?;
            } else {
                out.text(text);
            }
        }
    }
    Ok(())
}

/// `1.`, `.5`, `01.5`: numbers of YAML that JSON writes otherwise.
fn is_float(text: &str) -> bool {
    let text = text.strip_prefix('-').unwrap_or(text);
    let known = |byte: u8| byte.is_ascii_digit() || b".eE+-".contains(&byte);
    text.bytes().all(known)
        && text.contains('.')
        && text.bytes().any(|byte| byte.is_ascii_digit())
        && !text.starts_with(['e', 'E', '+', '-'])
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
                write_key(key, out);
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

/// In double quotes; what JSON escapes, YAML reads.
fn quoted(text: &str, out: &mut Vec<u8>) {
    json::Writer::new(out).str(text);
}

fn write_key(key: &str, out: &mut Vec<u8>) {
    const RESERVED: [&str; 11] =
        ["false", "no", "off", "n", "true", "yes", "on", "y", "null", "~", ""];
    let lower = key.to_ascii_lowercase();
    let first = key.as_bytes().first().copied().unwrap_or(b' ');
    let control = key.chars().any(|c| c.is_control());
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
            r#"{"query":{"match":{"title":"a: b"}},"size":5,"x":[1,0.5,null,"yes",3,31,0.5]}"#
        );
        assert_eq!(json("text: |\n  one\n  two\n"), r#"{"text":"one\ntwo\n"}"#);
        assert_eq!(json("{a: 1.2.3, b: 2024-01-01}"), r#"{"a":"1.2.3","b":"2024-01-01"}"#);
        for bad in ["a: &x [1]\nb: *x\n", "a: 1\n---\nb: 2\n", "? [1]\n: 2\n", "a: [1", ""] {
            assert!(to_json(Encoding::Yaml, bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
