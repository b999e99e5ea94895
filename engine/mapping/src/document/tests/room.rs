//! What an analysis may hold and make of a document is bounded, whatever its analyzer is made of.

use env::budget::Budget;

use super::*;
use crate::analysis::Registry;
use crate::document::arena::BYTES_MAX;
use crate::types::{Kind, TERM_BYTES_MAX};

/// One text field `f` that is analysed as `chain` says.
fn analysed(parts: Value, chain: Value) -> Mapping {
    let mut analysis = parts;
    analysis.as_object_mut().expect("parts").insert("analyzer", json!({"a": chain}));
    let analysis = Arc::new(Registry::parse(&analysis).expect("known parts"));
    let settings = Arc::new(Settings { analysis, ..Settings::default() });
    let fields = json!({"properties": {
        "f": {"type": "text", "analyzer": "a"},
        "s": {"type": "search_as_you_type", "analyzer": "a"},
        "n": {"type": "token_count", "analyzer": "a"},
        "c": {"type": "completion", "analyzer": "a"}
    }});
    Mapping::parse(&fields, settings).expect("a mapping")
}

/// Reads a document of one field into an arena of 4 MiB.
fn read_one(mapping: &Mapping, field: &str, text: &str) -> Result<Parsed> {
    let source = format!("{{\"{field}\":\"{text}\"}}");
    parse(mapping, &source, Mode::Strict, &mut Arena::bounded(4 << 20))
}

fn is_refused(mapping: &Mapping, field: &str, text: &str) {
    let error = read_one(mapping, field, text).expect_err("more than there is room for");
    assert_eq!(error.kind, crate::ErrorKind::NoMemory, "{field} {error}");
    assert!(error.reason.contains("Data too large"), "{error}");
    // The words of a completion are told as such.
    let named = format!("data for [<field [{field}");
    assert!(field == "c" || error.reason.contains(&named), "{error}");
}

/// A document of 100 KB was taken, and held 800 MB meanwhile.
#[test]
fn a_text_that_char_filters_make_long_is_refused() {
    let blanks = format!("a=>{}b", "\\u0020".repeat(500));
    let mapping = analysed(
        json!({"char_filter": {"long": {"type": "mapping", "mappings": [blanks]}}}),
        json!({"tokenizer": "whitespace", "char_filter": ["long"]}),
    );
    is_refused(&mapping, "f", &"a".repeat(10_000));
    is_refused(&mapping, "n", &"a".repeat(10_000));
    assert!(read_one(&mapping, "f", &"a".repeat(100)).is_ok());
    let groups = analysed(
        json!({"char_filter": {"long": {
            "type": "pattern_replace", "pattern": "a+", "replacement": "$0$0$0$0$0$0$0$0"
        }}}),
        json!({"tokenizer": "keyword", "char_filter": ["long", "long", "long", "long"]}),
    );
    is_refused(&groups, "f", &"a".repeat(10_000));
    assert!(read_one(&groups, "f", "aa").is_ok());
    // Of a text that shifts at each letter, the way back takes more than the text.
    let html =
        analysed(json!({}), json!({"tokenizer": "whitespace", "char_filter": ["html_strip"]}));
    is_refused(&html, "f", &"<p>x".repeat(300_000));
    assert!(read_one(&html, "f", &"<p>x".repeat(10_000)).is_ok());
}

/// A document of a megabyte held two gigabytes before its word was found to be too long.
#[test]
fn a_word_that_is_replaced_by_much_is_refused() {
    let filter = json!({"filter": {"long": {
        "type": "pattern_replace", "pattern": "a", "replacement": ("b".repeat(1_000))
    }}});
    let mapping = analysed(filter, json!({"tokenizer": "keyword", "filter": ["long"]}));
    is_refused(&mapping, "f", &"a".repeat(100_000));
    let settings = Settings {
        analysis: Arc::new(
            Registry::parse(&json!({
                "filter": {"long": {
                    "type": "pattern_replace", "pattern": "a", "replacement": ("b".repeat(1_000))
                }},
                "normalizer": {"n": {"filter": ["long"]}}
            }))
            .expect("known parts"),
        ),
        ..Settings::default()
    };
    let fields = json!({"properties": {"f": {"type": "keyword", "normalizer": "n"}}});
    let keyword = Mapping::parse(&fields, Arc::new(settings)).expect("a mapping");
    is_refused(&keyword, "f", &"a".repeat(100_000));
    assert!(read_one(&keyword, "f", "aa").is_ok());
    let kind = &keyword.field("f").expect("mapped").kind;
    let Kind::Keyword(kind) = kind else { panic!("a keyword") };
    assert_eq!(kind.term("a").len(), 1_000);
    let beyond = kind.term(&"a".repeat(100_000));
    assert!(beyond.len() > TERM_BYTES_MAX, "no document has it");
}

/// Twenty of them took a second; forty never came to an end.
#[test]
fn an_analysis_ends_where_there_is_no_room_for_what_it_gives() {
    let mapping = analysed(
        json!({}),
        json!({"tokenizer": "whitespace", "filter": (vec!["keyword_repeat"; 60])}),
    );
    for field in ["f", "s", "n", "c"] {
        is_refused(&mapping, field, "a");
    }
    let never = json!({"filter": {"never": {"type": "stop", "stopwords": ["a"]}}});
    let mut filters = vec!["keyword_repeat"; 3];
    filters.push("never");
    let dropped = analysed(never, json!({"tokenizer": "whitespace", "filter": filters}));
    assert!(read_one(&dropped, "f", "a").is_ok());
}

/// Each match copied all that was still to come: gigabytes of twenty kilobytes.
#[test]
fn long_synonyms_are_not_copied_for_each_match() {
    let rule = format!("a => {}", "b ".repeat(5_000));
    let filter = json!({"filter": {"same": {"type": "synonym", "synonyms": [rule]}}});
    let mapping = analysed(filter, json!({"tokenizer": "whitespace", "filter": ["same"]}));
    is_refused(&mapping, "f", &"a ".repeat(10_000));
    assert!(read_one(&mapping, "f", "a a").is_ok());
    let order =
        json!({"filter": {"same": {"type": "synonym", "synonyms": ["a => x y z", "b => u v, w"]}}});
    let mapping = analysed(order, json!({"tokenizer": "whitespace", "filter": ["same"]}));
    let mut arena = Arena::new();
    parse(&mapping, r#"{"f":"a b c"}"#, Mode::Strict, &mut arena).expect("a document");
    let Some(Entry::Text { terms, .. }) =
        arena.entries(0).find(|entry| matches!(entry, Entry::Text { .. }))
    else {
        panic!("a text")
    };
    let words: Vec<String> =
        terms.map(|(t, at)| format!("{}@{at}", String::from_utf8_lossy(t))).collect();
    assert_eq!(words, ["x@0", "y@1", "u@1", "w@1", "c@2", "z@2", "v@2"]);
}

/// What is remembered of tokens is bounded as what becomes of them.
#[test]
fn what_filters_hold_is_counted() {
    let text: String = (0..20_000).map(|at| format!("{at}x")).collect();
    let filters = json!({"filter": {
        "n": {"type": "ngram", "min_gram": 100, "max_gram": 101},
        "none": {"type": "length", "max": 3},
        "catch": {"type": "pattern_capture", "patterns": (vec!["(.)"; 20])},
        "all": {"type": "fingerprint", "max_output_size": 1_000_000_000},
        "cut": {"type": "word_delimiter", "preserve_original": false},
        "graph": {"type": "word_delimiter_graph"},
        "wide": {"type": "shingle", "max_shingle_size": 3, "output_unigrams": false}
    }});
    for chain in [
        json!(["n", "unique", "none"]),
        json!(["n", "remove_duplicates", "none"]),
        json!(["catch", "none"]),
        json!(["n", "all", "none"]),
        json!(["cut", "none"]),
        json!(["graph", "none"]),
        json!(["n", "wide", "all", "none"]),
    ] {
        let chain = json!({"tokenizer": "keyword", "filter": chain});
        let mapping = analysed(filters.clone(), chain.clone());
        is_refused(&mapping, "f", &text);
        assert!(read_one(&mapping, "f", &text[..200]).is_ok(), "{chain:?}");
    }
    let pieces = json!({
        "tokenizer": {"n": {"type": "ngram", "min_gram": 1, "max_gram": 2}},
        "filter": {"none": {"type": "length", "max": 0}}
    });
    let cut = analysed(pieces, json!({"tokenizer": "n", "filter": ["none"]}));
    is_refused(&cut, "f", &"a".repeat(300_000));
}

/// Documents on several cores, each within its bound, took more together than there was.
#[test]
fn a_document_is_paid_for_while_it_is_read() {
    let budget = Budget::new(8 << 20);
    let lease = budget.lease();
    let again = json!({"tokenizer": "whitespace", "filter": (vec!["keyword_repeat"; 60])});
    let mapping = analysed(json!({}), again);
    let mut arena = Arena::bounded(BYTES_MAX).paid_by(lease.clone());
    let error = parse(&mapping, r#"{"f":"a"}"#, Mode::Strict, &mut arena).expect_err("8 MiB");
    assert_eq!(error.kind, crate::ErrorKind::NoMemory, "{error}");
    assert_eq!(lease.held_by_all(), 0, "all came back");
    let plain = super::mapping(json!({"properties": {"f": {"type": "text"}}}));
    let long = format!("{{\"f\":\"{}\"}}", "ab ".repeat(300_000));
    parse(&plain, &long, Mode::Strict, &mut arena).expect("a megabyte");
    assert!(lease.held_by_all() + (512 << 10) > arena.size_bytes(), "it is paid for");
    arena.settle();
    assert_eq!(lease.held_by_all(), 0, "whoever reads documents pays from here on");
    let all = lease.take(7 << 20).expect("most of it");
    let refused = parse(&plain, &long, Mode::Strict, &mut arena).expect_err("no memory");
    assert_eq!(refused.kind, crate::ErrorKind::NoMemory, "{refused}");
    drop(all);
    assert!(parse(&plain, &long, Mode::Strict, &mut arena).is_ok());
}

/// What was acknowledged is analysed whatever it takes.
#[test]
fn what_was_acknowledged_is_read_again() {
    let blanks = format!("a=>{}b", "\\u0020".repeat(500));
    let mapping = analysed(
        json!({"char_filter": {"long": {"type": "mapping", "mappings": [blanks]}}}),
        json!({"tokenizer": "whitespace", "char_filter": ["long"]}),
    );
    let source = format!("{{\"f\":\"{}\"}}", "a".repeat(1_000));
    let mut arena = Arena::bounded(1 << 20);
    assert!(parse(&mapping, &source, Mode::Strict, &mut arena).is_err());
    assert!(parse(&mapping, &source, Mode::Replay, &mut arena).is_ok());
}
