//! Words joined to runs of several lengths: queries look for them by position, as Elasticsearch does.

use json::{Value, json};

use crate::place::{Client, at, with_node};

const INDEX: &str = r#"{
  "settings": {"number_of_shards": 1, "analysis": {
    "filter": {
      "longer": {"type": "shingle", "max_shingle_size": 3, "output_unigrams": false},
      "cjk": {"type": "cjk_bigram", "output_unigrams": true}
    },
    "analyzer": {
      "beside": {"tokenizer": "standard", "filter": ["lowercase", "shingle"]},
      "longer": {"tokenizer": "standard", "filter": ["lowercase", "longer"]},
      "cjk": {"tokenizer": "standard", "filter": ["cjk"]}
    }
  }},
  "mappings": {"properties": {
    "s": {"type": "text", "analyzer": "beside"},
    "l": {"type": "text", "analyzer": "longer"},
    "c": {"type": "text", "analyzer": "cjk"}
  }}
}"#;

/// The documents that a query finds, by id.
async fn found(client: &mut Client, query: &Value) -> Vec<String> {
    let body = json!({"query": (query.clone()), "sort": ["_doc"]});
    let found = client.good("POST", "/a/_search", &json::to_string(&body)).await;
    let hits = at(&found, &["hits", "hits"]).as_array().expect("a list");
    let id = |hit: &Value| at(hit, &["_id"]).as_str().expect("an id").to_owned();
    let mut ids: Vec<String> = hits.iter().map(id).collect();
    ids.sort_unstable();
    ids
}

/// They were paths: `quick dog` found only what has `dog` and, before it or not, `quick` or both as one.
#[test]
fn words_beside_their_runs_match_one_by_one() {
    with_node(|mut client| async move {
        client.good("PUT", "/a", INDEX).await;
        for (id, text, chars) in [
            ("1", "the quick brown fox", "\u{6771}\u{4eac}\u{90fd}"),
            ("2", "a brown dog", "\u{4eac}\u{90fd}"),
            ("3", "fox", "\u{6771}"),
        ] {
            let source = json!({"s": text, "l": text, "c": chars});
            let target = format!("/a/_doc/{id}?refresh=true");
            client.good("PUT", &target, &json::to_string(&source)).await;
        }
        let and = |field: &str, text: &str| json!({"match": {(field): {"query": text, "operator": "and"}}});
        for (query, wanted) in [
            (json!({"match": {"s": "quick dog"}}), vec!["1", "2"]),
            (json!({"match": {"s": "brown fox"}}), vec!["1", "2", "3"]),
            (json!({"query_string": {"query": "s:(quick dog)"}}), vec!["1", "2"]),
            (json!({"query_string": {"query": "s:\"brown dog\""}}), vec!["2"]),
            (
                json!({"simple_query_string": {"query": "brown fox", "fields": ["s"]}}),
                vec!["1", "2", "3"],
            ),
            (json!({"multi_match": {"query": "quick dog", "fields": ["s", "l"]}}), vec!["1", "2"]),
            (
                json!({"multi_match": {"query": "quick dog", "fields": ["s"], "type": "cross_fields"}}),
                vec!["1", "2"],
            ),
            (json!({"combined_fields": {"query": "quick dog", "fields": ["s"]}}), vec!["1", "2"]),
            // Each position needs one of its words.
            (and("s", "brown fox"), vec!["1"]),
            (and("s", "brown dog"), vec!["2"]),
            // A phrase is one of the words of each position: a run stands where its first word does.
            (json!({"match_phrase": {"s": "brown fox"}}), vec!["1"]),
            (json!({"match_phrase": {"s": "quick fox"}}), vec![]),
            (json!({"match_phrase": {"s": "a brown dog"}}), vec!["2"]),
            (json!({"match_phrase_prefix": {"s": "quick bro"}}), vec!["1"]),
            // Runs of two and of three words, without the words themselves.
            (json!({"match": {"l": "quick brown dog"}}), vec!["1", "2"]),
            (json!({"match": {"c": "\u{4eac}\u{90fd}"}}), vec!["1", "2"]),
            (json!({"match": {"c": "\u{6771}\u{4eac}"}}), vec!["1", "2", "3"]),
            (and("c", "\u{6771}\u{4eac}"), vec!["1"]),
        ] {
            assert_eq!(found(&mut client, &query).await, wanted, "{query:?}");
        }
        // So many words were too many paths.
        let many: Vec<String> = (0..60).map(|number| format!("w{number}")).collect();
        let query = json!({"match": {"s": (many.join(" "))}});
        assert_eq!(found(&mut client, &query).await, Vec::<String>::new());
    });
}
