//! JSON text laid out as Elasticsearch lays it out for `?pretty`.
//!
//! Two spaces a level, ` : ` between key and value, one element a line also in arrays, `{ }` and
//! `[ ]` where empty. The text is taken as it is, numbers and escapes untouched; it is our own, so
//! it is not checked again.

/// Lays out compact or loose JSON text anew. No line feed at the end.
pub fn pretty(json: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(json.len() * 2);
    let mut depth = 0usize;
    let mut at = 0;
    while let Some(&byte) = json.get(at) {
        match byte {
            b'"' => {
                let end = string_end(json, at);
                out.extend_from_slice(&json[at..end]);
                at = end;
                continue;
            }
            b'{' | b'[' => {
                out.push(byte);
                let next = next_solid(json, at + 1);
                if matches!(json.get(next), Some(b'}' | b']')) {
                    out.push(b' ');
                    out.push(json[next]);
                    at = next + 1;
                    continue;
                }
                depth += 1;
                line(&mut out, depth);
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.push(byte);
            }
            b',' => {
                out.push(b',');
                line(&mut out, depth);
            }
            b':' => out.extend_from_slice(b" : "),
            b' ' | b'\n' | b'\r' | b'\t' => {}
            _ => out.push(byte),
        }
        at += 1;
    }
    out
}

fn line(out: &mut Vec<u8>, depth: usize) {
    out.push(b'\n');
    out.resize(out.len() + 2 * depth, b' ');
}

/// One past the closing quote of the string that begins at `at`.
fn string_end(json: &[u8], at: usize) -> usize {
    let mut at = at + 1;
    while let Some(found) = json.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += found;
        if json[at] == b'"' {
            return at + 1;
        }
        at += 2;
    }
    json.len()
}

fn next_solid(json: &[u8], from: usize) -> usize {
    let rest = json.get(from..).unwrap_or_default();
    let blank = |byte: &u8| matches!(byte, b' ' | b'\n' | b'\r' | b'\t');
    from + rest.iter().position(|byte| !blank(byte)).unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(json: &str) -> String {
        String::from_utf8(pretty(json.as_bytes())).expect("UTF-8")
    }

    #[test]
    fn layout_is_elasticsearchs() {
        assert_eq!(text(r#"{"a":1}"#), "{\n  \"a\" : 1\n}");
        assert_eq!(text("{}"), "{ }");
        assert_eq!(text(r#"{"a":{},"b":[ ]}"#), "{\n  \"a\" : { },\n  \"b\" : [ ]\n}");
        assert_eq!(
            text(r#"{"hits":[{"x":"a,\"{"},2],"n":null}"#),
            "{\n  \"hits\" : [\n    {\n      \"x\" : \"a,\\\"{\"\n    },\n    2\n  ],\n  \"n\" : null\n}"
        );
    }

    #[test]
    fn loose_text_is_laid_out_the_same() {
        let loose = "{ \"a\" :\n[ 1 ,\t{ } ] }";
        assert_eq!(text(loose), text(r#"{"a":[1,{}]}"#));
        assert_eq!(text(&text(loose)), text(loose));
    }

    #[test]
    fn broken_text_does_not_panic() {
        for bad in ["\"", "{\"a", "]]]}", "\"\\", "{,:"] {
            pretty(bad.as_bytes());
        }
    }
}
