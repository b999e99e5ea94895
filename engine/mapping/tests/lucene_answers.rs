//! Analysis gives what Lucene gives: recorded answers, read again (tests/data/ORIGIN.md).

use json::Value;
use mapping::analysis::Registry;

#[test]
fn standard_tokenizer_cuts_as_lucene_does() {
    let registry = Registry::default();
    let tokenizer = json::json!({"analyzer": {"bare": {"tokenizer": "standard"}}});
    let registry_bare = Registry::parse(&tokenizer).expect("a bare tokenizer");
    let bare = registry_bare.analyzer("bare").expect("given");
    assert!(registry.analyzer("standard").is_some());
    let recorded = include_str!("data/standard-tokenizer.ndjson");
    for line in recorded.lines() {
        let case = json::parse(line.as_bytes()).expect("recorded as JSON");
        let [text, want] = case.as_array().expect("a pair") else { panic!("no pair: {line}") };
        let mut got = Vec::new();
        bare.tokens(text.as_str().expect("a text"), &mut |token| {
            got.push(Value::Array(vec![
                token.term.into(),
                token.start.into(),
                token.end.into(),
                token.kind.name().into(),
            ]));
        });
        assert_eq!(&Value::Array(got), want, "{text:?}");
    }
    assert!(recorded.lines().count() > 500);
}

#[test]
fn english_stems_as_lucene_does() {
    let registry = Registry::default();
    let english = registry.analyzer("english").expect("built in");
    for line in include_str!("data/english.tsv").lines() {
        let (word, want) = line.split_once('\t').expect("two columns");
        let mut got = Vec::new();
        english.tokens(word, &mut |token| got.push(token.term.to_owned()));
        assert_eq!(got.first().map(String::as_str), Some(want), "{word}");
    }
}
