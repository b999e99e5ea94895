//! What an analyzer makes too much of is refused, wherever a text is analysed, and the node serves on.

use json::json;

use crate::place::{at, with_memory};

#[test]
fn texts_that_become_too_long_are_refused_with_the_breakers_name() {
    with_memory(64 << 20, |mut client, _| async move {
        let made = json!({
            "settings": {"number_of_shards": 1, "number_of_replicas": 0, "analysis": {
                "char_filter": {"long": {"type": "mapping", "mappings": [format!("a => {}", "-".repeat(2_000))]}},
                "filter": {"same": {"type": "synonym", "synonyms": [format!("b => {}", "c ".repeat(5_000))]}},
                "analyzer": {
                    "long": {"tokenizer": "whitespace", "char_filter": ["long"]},
                    "same": {"tokenizer": "whitespace", "filter": ["same"]},
                    "again": {"tokenizer": "whitespace", "filter": (vec!["keyword_repeat"; 60])}
                },
                "normalizer": {"long": {"type": "custom", "char_filter": ["long"]}}
            }},
            "mappings": {"properties": {
                "long": {"type": "text", "analyzer": "long"},
                "same": {"type": "text", "analyzer": "same"},
                "again": {"type": "text", "analyzer": "again"},
                "plain": {"type": "text", "search_analyzer": "again"},
                "word": {"type": "keyword", "normalizer": "long"},
                "count": {"type": "token_count", "analyzer": "again"},
                "done": {"type": "completion", "analyzer": "again"}
            }}
        });
        client.good("PUT", "/made", &json::to_string(&made)).await;
        client.good("PUT", "/made/_doc/1?refresh", r#"{"plain":"a b","same":"c"}"#).await;
        let (a, b) = ("a".repeat(200_000), "b ".repeat(50_000));
        for document in [
            json!({"long": (a.clone())}),
            json!({"same": (b.clone())}),
            json!({"again": "a"}),
            json!({"word": (a.clone())}),
            json!({"count": "a"}),
            json!({"done": "a"}),
        ] {
            let failed = client.bad("PUT", "/made/_doc/2", &json::to_string(&document)).await;
            assert!(failed.starts_with("429 circuit_breaking_exception: "), "{failed}");
        }
        for query in [
            json!({"match": {"long": (a.clone())}}),
            json!({"match": {"same": (b.clone())}}),
            json!({"match_phrase": {"plain": "a"}}),
            json!({"multi_match": {"query": "a", "fields": ["plain", "again"], "type": "cross_fields"}}),
        ] {
            let body = json!({"query": (query.clone())});
            let refused = client.call("POST", "/made/_search", &json::to_string(&body)).await;
            // What goes wrong while a query meets an index is wrapped; it would not go better later.
            assert_eq!(refused.status, 400, "{}", refused.text());
            let reason =
                "failed to create query: [request] Data too large, data for [<words of a query>]";
            assert!(refused.text().contains(reason), "{}", refused.text());
        }
        let term = json!({"query": {"term": {"word": (a.clone())}}});
        let none = client.good("POST", "/made/_search", &json::to_string(&term)).await;
        assert_eq!(at(&none, &["hits", "total", "value"]).as_u64(), Some(0), "no document has it");
        for (analyzer, text, want) in [
            ("long", a.as_str(), "429 circuit_breaking_exception: "),
            ("again", "a", "500 illegal_state_exception: "),
        ] {
            let body = json!({"analyzer": analyzer, "text": text});
            let failed = client.bad("POST", "/made/_analyze", &json::to_string(&body)).await;
            assert!(failed.starts_with(want), "{failed}");
        }
        let found = client.good("GET", "/made/_search?q=_id:1", "").await;
        assert_eq!(at(&found, &["hits", "total", "value"]).as_u64(), Some(1));
    });
}
