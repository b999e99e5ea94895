//! Small languages of queries: expressions, wildcards, words with edits, `query_string` and its simple
//! sibling. Before the first line break stands the pattern, behind it a text. An automaton and its
//! complement never agree; what a language means is bound in bounded time.
#![no_main]

use std::sync::{Arc, LazyLock};

use automaton::{levenshtein, regexp};
use libfuzzer_sys::fuzz_target;
use mapping::{Mapping, Settings};
use search::plan::bind::{Context, bind_query};

static MAPPING: LazyLock<Mapping> = LazyLock::new(|| {
    let fields = br#"{"properties":{"t":{"type":"text"},"k":{"type":"keyword"},
        "n":{"type":"long"},"d":{"type":"date"},"i":{"type":"ip"},"w":{"type":"wildcard"}}}"#;
    let fields = json::parse(fields).expect("JSON");
    Mapping::parse(&fields, Arc::new(Settings::default())).expect("a mapping")
});

/// Every flag of expressions.
const ALL: u32 = 0xffff;

fuzz_target!(init: base::hash::fix_seed(), |bytes: &[u8]| {
    let Ok(input) = std::str::from_utf8(bytes) else { return };
    let (pattern, text) = input.split_once('\n').unwrap_or((input, "abc"));
    for (flags, any_case) in [(ALL, false), (ALL, true), (0, false)] {
        let Ok(dfa) = regexp::automaton(pattern, flags, any_case, 1_000) else { continue };
        assert_ne!(dfa.matches(text), dfa.complement().matches(text), "one of the two");
        if dfa.matches(text) {
            assert!(text.starts_with(&dfa.prefix()), "[{pattern}] [{text}]");
        }
    }
    let (word, other): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    if word.len() <= 24 && other.len() <= 24 {
        let edits = other.len() % 3;
        let near = levenshtein::distance(&word, &other, true, edits) <= edits;
        if let Ok(dfa) = levenshtein::automaton(pattern, 0, edits as u32, true) {
            assert_eq!(dfa.matches(text), near, "[{pattern}] [{text}] {edits}");
        }
    }
    let quoted = json::to_string(&json::Value::from(pattern));
    let queries = [
        format!(r#"{{"query_string":{{"query":{quoted},"fields":["t","k"]}}}}"#),
        format!(r#"{{"query_string":{{"query":{quoted},"lenient":true}}}}"#),
        format!(r#"{{"simple_query_string":{{"query":{quoted}}}}}"#),
        format!(r#"{{"wildcard":{{"k":{quoted}}}}}"#),
        format!(r#"{{"regexp":{{"k":{quoted}}}}}"#),
        format!(r#"{{"match_phrase_prefix":{{"t":{quoted}}}}}"#),
        format!(r#"{{"term":{{"i":{quoted}}}}}"#),
        format!(r#"{{"range":{{"d":{{"gte":{quoted}}}}}}}"#),
    ];
    // One of them for each input: the length of the text says which.
    let query = &queries[other.len() % queries.len()];
    let parsed = search::dsl::parse_query(query.as_bytes()).expect("a text in its place");
    let context = Context::new("index", 1_700_000_000_000);
    if let Err(error) = bind_query(&parsed, &MAPPING, &context) {
        assert!(!error.reason.is_empty(), "a refusal says why");
    }
});
