//! What a segment keeps of a document's text, and how it is read: as `_source`, and as the values of fields
//! with `store`.
//!
//! Most often both are one: the text as it came, and nothing here copies it. Where `_source` lacks fields that
//! are to be stored, their values lie behind it.
//!
//! Layout
//!
//! | bytes | what                                               |
//! |-------|----------------------------------------------------|
//! | 1     | 0, which begins no JSON: the source has a companion |
//! | 4     | length of the source, little-endian                |
//! | so many | the source; none where it is not kept            |
//! | rest  | an object with the stored fields' values where the document has them |

use std::ops::Range;

use json::Value;

/// Begins a text of two parts.
const SPLIT: u8 = 0;

/// Bytes before the source of such a text.
const HEAD: usize = 5;

/// Objects inside each other that are looked into.
const DEPTH_MAX: usize = 128;

/// The two readings of a kept text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept<'t> {
    /// `_source`; empty where the mapping keeps none.
    pub source: &'t [u8],
    /// Where values of stored fields are found.
    pub stored: &'t [u8],
}

impl<'t> Kept<'t> {
    /// Reads a kept text.
    pub fn of(text: &'t [u8]) -> Self {
        match split(text) {
            Some((source, stored)) => Self { source: &text[source], stored: &text[stored] },
            None => Self { source: text, stored: text },
        }
    }

    /// A text that is read in one way.
    pub fn whole(text: &'t [u8]) -> Self {
        Self { source: text, stored: text }
    }
}

/// Where the source and its companion stand; `None` where the whole text is both.
pub fn split(text: &[u8]) -> Option<(Range<usize>, Range<usize>)> {
    let head = text.first_chunk::<HEAD>().filter(|head| head[0] == SPLIT)?;
    let len = u32::from_le_bytes([head[1], head[2], head[3], head[4]]) as usize;
    let end = HEAD.checked_add(len).filter(|end| *end <= text.len())?;
    Some((HEAD..end, end..text.len()))
}

/// A source with its companion: what `whole` has at the paths.
pub(super) fn join(source: &[u8], whole: &[u8], paths: &[impl AsRef<str>]) -> Option<Vec<u8>> {
    let value = json::parse(whole).ok()?;
    let stored = json::to_vec(&pick(&value, "", paths, 0));
    let len = u32::try_from(source.len()).ok()?;
    let mut text = Vec::with_capacity(HEAD + source.len() + stored.len());
    text.push(SPLIT);
    text.extend_from_slice(&len.to_le_bytes());
    text.extend_from_slice(source);
    text.extend_from_slice(&stored);
    Some(text)
}

/// The value with what lies at the paths or on the way to them; objects of an array stay in their places.
fn pick(value: &Value, at: &str, paths: &[impl AsRef<str>], depth: usize) -> Value {
    match value {
        Value::Object(members) if depth < DEPTH_MAX => {
            let mut kept = json::Object::new();
            for (key, value) in members.iter() {
                let path = if at.is_empty() { key.to_owned() } else { format!("{at}.{key}") };
                if paths.iter().any(|wanted| wanted.as_ref() == path) {
                    kept.insert(key, value.clone());
                } else if paths.iter().any(|wanted| is_below(wanted.as_ref(), &path)) {
                    kept.insert(key, pick(value, &path, paths, depth + 1));
                }
            }
            Value::Object(kept)
        }
        Value::Array(items) if depth < DEPTH_MAX => {
            Value::Array(items.iter().map(|item| pick(item, at, paths, depth + 1)).collect())
        }
        _ => Value::Null,
    }
}

fn is_below(path: &str, outer: &str) -> bool {
    path.strip_prefix(outer).is_some_and(|rest| rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_values_lie_behind_the_source() {
        let whole = br#"{"a":1,"n":[{"x":"k","y":2},{"y":3}],"o.p":[4,5],"z":6}"#;
        let text = join(b"{\"a\":1}", whole, &["n.x", "o.p"]).expect("short");
        let kept = Kept::of(&text);
        assert_eq!(kept.source, b"{\"a\":1}");
        assert_eq!(kept.stored, br#"{"n":[{"x":"k"},{}],"o.p":[4,5]}"#);
        let text = join(b"", whole, &["z"]).expect("short");
        assert_eq!(Kept::of(&text), Kept { source: b"", stored: b"{\"z\":6}" });
    }

    #[test]
    fn other_texts_are_read_whole() {
        for text in [&b""[..], b"{}", b"\0", b"\0\x09\0\0\0ab"] {
            assert_eq!(Kept::of(text), Kept::whole(text));
        }
    }
}
