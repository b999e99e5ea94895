//! What `_search_shards` makes of an index expression.

use json::Value;

use crate::place::{Client, at, with_node};

/// The indices that an expression means, and the aliases that are told of `one`.
async fn told(client: &mut Client, expression: &str) -> (Vec<String>, Vec<String>) {
    let answer = client.good("GET", &format!("/{expression}_search_shards"), "").await;
    let indices = at(&answer, &["indices"]).as_object().expect("indices");
    let names = indices.keys().map(str::to_owned).collect();
    let one = indices.get("one").and_then(|one| one.get("aliases"));
    let texts = |list: &Value| -> Vec<String> {
        let list = list.as_array().expect("a list");
        list.iter().map(|name| name.as_str().expect("a name").to_owned()).collect()
    };
    (names, one.map(texts).unwrap_or_default())
}

/// It split the expression by itself: an alias that was excluded was told, one by date math was not, nor any
/// where all was meant; hidden ones were.
#[test]
fn aliases_are_those_that_the_expression_means() {
    with_node(|mut client| async move {
        let dated = client.good("PUT", "/%3Clog-%7Bnow%7Byyyy%7D%7D%3E", "").await;
        let dated = at(&dated, &["index"]).as_str().expect("a name").to_owned();
        client.good("DELETE", &format!("/{dated}"), "").await;
        let more = r#""al":{},"am":{"filter":{"match_all":{}}},"h":{"is_hidden":true}"#;
        client.good("PUT", "/one", &format!(r#"{{"aliases":{{{more},"{dated}":{{}}}}}}"#)).await;
        client.good("PUT", "/two", r#"{"aliases":{"al":{}}}"#).await;
        let all = &["al", "am", &*dated][..];
        for (expression, indices, aliases) in [
            ("", &["one", "two"][..], all),
            ("_all/", &["one", "two"], all),
            ("*/", &["one", "two"], all),
            ("one/", &["one"], &[]),
            ("al/", &["one", "two"], &["al"]),
            ("a*/", &["one", "two"], &["al", "am"]),
            ("a*,-am/", &["one", "two"], &["al"]),
            ("a*,-am,am/", &["one", "two"], &["al", "am"]),
            ("a*,-a*/", &[], &[]),
            ("h/", &["one"], &["h"]),
            ("*h/", &[], &[]),
            ("one,-al/", &["one"], &[]),
            ("%3Clog-%7Bnow%7Byyyy%7D%7D%3E/", &["one"], &[&*dated]),
            ("nope/", &[], &[]),
        ] {
            let found = told(&mut client, expression).await;
            let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
            let wanted: (Vec<String>, Vec<String>) = (list(indices), list(aliases));
            assert_eq!(found, wanted, "{expression}");
        }
    });
}

/// A closed index has its shards, as Elasticsearch shows them, whatever may be missing.
#[test]
fn a_closed_index_that_is_named_has_its_shards() {
    with_node(|mut client| async move {
        client.good("PUT", "/one", r#"{"settings":{"number_of_shards":2}}"#).await;
        client.good("POST", "/one/_close", "").await;
        for query in ["", "?ignore_unavailable=false", "?ignore_unavailable=true"] {
            let target = format!("/one/_search_shards{query}");
            let answer = client.good("GET", &target, "").await;
            let shards = at(&answer, &["shards"]).as_array().expect("shards");
            assert_eq!(shards.len(), 2, "{query}");
            let copy = &shards[0].as_array().expect("copies")[0];
            assert_eq!(at(copy, &["state"]).as_str(), Some("STARTED"), "{query}");
        }
        // Patterns pass it over, unless closed ones are asked for.
        for (query, count) in [("", 0), ("?expand_wildcards=open,closed", 2)] {
            let answer = client.good("GET", &format!("/o*/_search_shards{query}"), "").await;
            let shards = at(&answer, &["shards"]).as_array().expect("shards");
            assert_eq!(shards.len(), count, "{query}");
        }
        let strict = "/x*/_search_shards?allow_no_indices=false";
        assert!(client.bad("GET", strict, "").await.starts_with("404 index_not_found_exception"));
    });
}
