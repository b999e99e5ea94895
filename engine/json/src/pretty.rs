//! JSON text laid out as Elasticsearch lays it out for `?pretty`.
//!
//! Two spaces a level, ` : ` between key and value, one element a line also in arrays, `{ }` and
//! `[ ]` where empty. The text is taken as it is, numbers and escapes untouched; it is our own, so
//! it is not checked again.

/// Lays out compact or loose JSON text anew. No line feed at the end.
pub fn pretty(json: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(json.len() * 2);
    lay_out(json, &mut out);
    out
}

/// Bytes of [`pretty`], without writing it: of what lies deep most is margin, hundreds of times the text.
pub fn pretty_len(json: &[u8]) -> usize {
    let mut len = Length(0);
    lay_out(json, &mut len);
    len.0
}

/// Where a layout goes.
trait Sink {
    fn text(&mut self, text: &[u8]);
    /// A new line, and blanks.
    fn line(&mut self, blanks: usize);
}

impl Sink for Vec<u8> {
    fn text(&mut self, text: &[u8]) {
        self.extend_from_slice(text);
    }

    fn line(&mut self, blanks: usize) {
        self.push(b'\n');
        self.resize(self.len() + blanks, b' ');
    }
}

/// Its length alone.
struct Length(usize);

impl Sink for Length {
    fn text(&mut self, text: &[u8]) {
        self.0 += text.len();
    }

    fn line(&mut self, blanks: usize) {
        self.0 += 1 + blanks;
    }
}

fn lay_out(json: &[u8], out: &mut impl Sink) {
    let mut depth = 0usize;
    let mut at = 0;
    while let Some(&byte) = json.get(at) {
        match byte {
            b'"' => {
                let end = string_end(json, at);
                out.text(&json[at..end]);
                at = end;
                continue;
            }
            b'{' | b'[' => {
                out.text(&[byte]);
                let next = next_solid(json, at + 1);
                if matches!(json.get(next), Some(b'}' | b']')) {
                    out.text(&[b' ', json[next]]);
                    at = next + 1;
                    continue;
                }
                depth += 1;
                out.line(2 * depth);
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                out.line(2 * depth);
                out.text(&[byte]);
            }
            b',' => {
                out.text(b",");
                out.line(2 * depth);
            }
            b':' => out.text(b" : "),
            b' ' | b'\n' | b'\r' | b'\t' => {}
            _ => out.text(&[byte]),
        }
        at += 1;
    }
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
        let text = pretty(json.as_bytes());
        assert_eq!(pretty_len(json.as_bytes()), text.len());
        String::from_utf8(text).expect("UTF-8")
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
            assert_eq!(pretty_len(bad.as_bytes()), pretty(bad.as_bytes()).len());
        }
    }
}
