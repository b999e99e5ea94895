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

/// Stemmers of the `stemmer` filter that are written here, and `german_stem`. `CORELODE_STEMS` names a larger
/// file of the same form.
#[test]
fn stemmers_stem_as_lucene_does() {
    let recorded = match std::env::var_os("CORELODE_STEMS") {
        Some(path) => std::fs::read_to_string(path).expect("a file of stems"),
        None => include_str!("data/stems.tsv").to_owned(),
    };
    let mut chains = std::collections::BTreeMap::new();
    let mut wrong = Vec::new();
    for line in recorded.lines() {
        let mut columns = line.split('\t');
        let (Some(name), Some(word), Some(want)) = (columns.next(), columns.next(), columns.next())
        else {
            panic!("three columns: {line}");
        };
        let registry = chains.entry(name).or_insert_with(|| {
            let filter = match name {
                "german_stem" => json::json!({"type": "german_stem"}),
                name => json::json!({"type": "stemmer", "language": name}),
            };
            let analysis = json::json!({
                "filter": {"stem": filter},
                "analyzer": {"whole": {"tokenizer": "keyword", "filter": ["stem"]}}
            });
            Registry::parse(&analysis).expect("a stemmer of Elasticsearch")
        });
        let mut got = Vec::new();
        let whole = registry.analyzer("whole").expect("given");
        whole.tokens(word, &mut |token| got.push(token.term.to_owned()));
        if got != [want] {
            wrong.push(format!("{name} {word}: {got:?}, not {want:?}"));
        }
    }
    let shown = &wrong[..wrong.len().min(60)];
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), shown.join("\n"));
    assert_eq!(chains.len(), 21);
}
