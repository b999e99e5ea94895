//! How much more work a byte of a document may be than one of a plain text field.
//!
//! A value of one field may be read by many: its multi-fields, the fields that it is copied to and
//! theirs; and a date may be tried by hundreds of formats. A document of 30 KB may so be a quarter of
//! a second of work. Which field a byte stands in is not known before it is read, so the dearest counts.

use super::node::Flat;
use crate::types::{Field, Kind, Number, Text, TextFlavor, shingle};

/// Work is counted in quarters of a byte of plain text.
const TEXT: u32 = 4;

/// A try of a format takes about half as long as a byte of text; most values are several.
const FORMAT: u32 = 2;

/// The work of a byte in the dearest field, in bytes of plain text: one at least.
pub(super) fn fan(flat: &Flat) -> u32 {
    let dearest = flat.fields.iter().map(|field| {
        let copies = field.copy_to.iter().filter_map(|target| flat.field(target));
        copies.map(|target| whole(target)).fold(whole(field), u32::saturating_add)
    });
    (dearest.max().unwrap_or(TEXT) / TEXT).max(1)
}

/// A field with its multi-fields, and the parts that it has of itself.
fn whole(field: &Field) -> u32 {
    let with_parts = |field: &Field| {
        let parts = field.parts.iter().map(|part| own(part));
        parts.fold(own(field), u32::saturating_add)
    };
    let multi = field.multi_fields.iter().map(|multi| with_parts(multi));
    multi.fold(with_parts(field), u32::saturating_add)
}

/// Bytes of words that become of one of a text.
fn words(text: &Text) -> u32 {
    let joined = match text.flavor {
        TextFlavor::Text | TextFlavor::MatchOnly | TextFlavor::SearchAsYouType(_) => 1,
        TextFlavor::Shingles(size) => u32::from(size),
        TextFlavor::Prefixes(size) => {
            u32::from(size).saturating_mul(shingle::PREFIX_MAX as u32 / 2)
        }
        TextFlavor::Beginnings(_, most) => 1 + u32::from(most) / 2,
    };
    text.analyzer.expansion().saturating_mul(joined)
}

fn own(field: &Field) -> u32 {
    let formats = match &field.kind {
        Kind::Text(text) => return TEXT.saturating_mul(words(text)),
        Kind::Completion(kind) => return TEXT.saturating_mul(kind.analyzer.expansion()),
        Kind::Number(Number { counts: Some(counts), .. }) => {
            return TEXT.saturating_mul(counts.analyzer.expansion());
        }
        Kind::Date(date) => date.format.alternative_count(),
        Kind::Range(range) => range.date_format().alternative_count(),
        _ => return 1,
    };
    FORMAT.saturating_mul(u32::try_from(formats).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use json::{Value, json};

    use crate::analysis::Registry;
    use crate::{Mapping, Settings};

    /// Documents of such fields were read where they held a core.
    #[test]
    fn what_an_analyzer_adds_to_a_text_is_work_too() {
        let long = "b ".repeat(100);
        let analysis = json!({
            "char_filter": {"long": {"type": "mapping", "mappings": ["a => bbbbbbbbbbbbbbbb"]}},
            "filter": {
                "same": {"type": "synonym", "synonyms": [format!("a => {long}"), "c, d".to_owned()]},
                "many": {"type": "multiplexer", "filters": ["lowercase", "uppercase, keyword_repeat"]},
                "parts": {"type": "dictionary_decompounder", "word_list": ["a"]},
                "hashes": {"type": "pattern_replace", "pattern": "x", "replacement": "################"}
            },
            "analyzer": {
                "plain": {"tokenizer": "standard", "filter": ["lowercase", "stop"]},
                "same": {"tokenizer": "standard", "filter": ["same"]},
                "many": {"tokenizer": "standard", "filter": ["many"]},
                "parts": {"tokenizer": "standard", "filter": ["parts"]},
                "again": {"tokenizer": "standard", "filter": (vec!["keyword_repeat"; 40])},
                "long": {"tokenizer": "standard", "char_filter": ["long"], "filter": ["hashes"]}
            }
        });
        let analysis = Registry::parse(&analysis).expect("known parts");
        let settings = Arc::new(Settings { analysis: Arc::new(analysis), ..Settings::default() });
        let bytes = |field: Value| {
            let mut fields = json::Object::new();
            fields.insert("f", field);
            let mut body = json::Object::new();
            body.insert("properties", Value::Object(fields));
            let mapping = Mapping::parse(&Value::Object(body), Arc::clone(&settings));
            mapping.expect("a mapping").reading_bytes(1)
        };
        for (analyzer, want) in [
            ("plain", 1),
            ("same", 100),
            ("many", 4),
            ("parts", 15),
            ("again", (1 << 30) - 1),
            ("long", 9),
        ] {
            for kind in ["text", "token_count", "completion"] {
                let found = bytes(json!({"type": kind, "analyzer": analyzer}));
                assert_eq!(found, want, "{analyzer} of {kind}");
            }
        }
    }
}
