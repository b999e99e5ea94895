//! Fragments are those that a peer gave: recorded answers, read again (tests/data/highlight.ndjson).
//!
//! The first line holds a mapping and documents, each other one a query, a `highlight` and the fragments that
//! OpenSearch 3.8 gave for each document that matched. Texts are our own. Left out is where Elasticsearch 8 differs:
//! it weighs each term of a passage alike, and finds text that was copied to a field.

use std::sync::Arc;

use json::Value;
use mapping::document::kept::Kept;
use mapping::{Mapping, Settings};
use search::dsl;
use search::fetch::Marks;
use search::plan::Context;

#[test]
fn fragments_are_those_of_a_peer() {
    let recorded = include_str!("data/highlight.ndjson");
    let mut lines = recorded.lines();
    let first = json::parse(lines.next().expect("a first line").as_bytes()).expect("JSON");
    let mapping =
        Mapping::parse(first.get("mapping").expect("given"), Arc::new(Settings::default()))
            .expect("a mapping");
    let documents = first.get("documents").and_then(Value::as_array).expect("documents");
    let context = Context::new("books", 0);
    let (mut wrong, mut count) = (Vec::new(), 0);
    for line in lines {
        let case = json::parse(line.as_bytes()).expect("JSON");
        let (query, highlight) =
            (case.get("query").expect("given"), case.get("highlight").expect("given"));
        let body = json::json!({"query": query.clone(), "highlight": highlight.clone()});
        let request = dsl::parse_search(json::to_string(&body).as_bytes(), &[]).expect("a request");
        let marks = Marks::bind(&request, &mapping, &context).expect("bound");
        for (id, want) in case.get("hits").and_then(Value::as_object).expect("hits").iter() {
            let document = &documents[id.parse::<usize>().expect("a number")];
            let found =
                marks.of(Kept::whole(json::to_string(document).as_bytes())).expect("short texts");
            let mut got = json::Object::new();
            for (name, fragments) in found {
                let fragments = fragments.iter().map(|text| Value::from(text.as_str()));
                got.insert(&name, Value::Array(fragments.collect()));
            }
            count += 1;
            if Value::Object(got.clone()) != *want && !same(&got, want) {
                let (got, want) = (json::to_string(&Value::Object(got)), json::to_string(want));
                wrong.push(format!("{id} {line:.200}\n   got {got}\n  want {want}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 300, "{count}");
}

/// The same fields in another order.
fn same(got: &json::Object, want: &Value) -> bool {
    let want = want.as_object().expect("an object");
    got.iter().count() == want.iter().count()
        && want.iter().all(|(name, fragments)| got.get(name) == Some(fragments))
}
