//! `_analyze` gives what a peer on Lucene 10.5 gave: recorded answers, read again (tests/data/ORIGIN.md).
//!
//! A line holds the request and its tokens, each as text, start, end, type, position, position length.

use std::sync::Arc;

use env::budget::Budget;
use json::Value;
use mapping::analysis::analyze::{Analysis, TOKENS_MAX, analyze};
use mapping::analysis::{GramLimits, Registry};
use mapping::{Mapping, Settings};

#[test]
fn chains_give_what_a_peer_gave() {
    let limits = GramLimits { ngram: 10, shingle: 10 };
    let registry = Registry::parse_with(&Value::object(), limits).expect("nothing to read");
    let settings = Settings { analysis: Arc::new(registry), ..Settings::default() };
    let mapping = Mapping::empty(Arc::new(settings));
    let lease = Budget::new(1 << 30).lease();
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in include_str!("data/analysis.ndjson").lines() {
        let case = json::parse(line.as_bytes()).expect("recorded as JSON");
        let [body, want] = case.as_array().expect("a pair") else { panic!("no pair: {line}") };
        count += 1;
        let got = match analyze(body, Some(&mapping), TOKENS_MAX, &lease).map(|(found, _)| found) {
            Ok(Analysis::Tokens(tokens)) => Value::Array(
                tokens
                    .into_iter()
                    .map(|token| {
                        Value::Array(vec![
                            token.term.as_str().into(),
                            token.start.into(),
                            token.end.into(),
                            token.kind.name().into(),
                            token.position.into(),
                            token.length.into(),
                        ])
                    })
                    .collect(),
            ),
            Ok(Analysis::Detail(_)) => panic!("explained: {line}"),
            Err(error) => Value::String(error.reason),
        };
        if got != *want {
            let (got, want) = (json::to_string(&got), json::to_string(want));
            wrong.push(format!("{}\n   got {got}\n  want {want}", json::to_string(body)));
        }
    }
    let shown = &wrong[..wrong.len().min(400)];
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), shown.join("\n"));
    assert!(count > 400);
}
