//! What mappings and searches of the everyday mean: prefixes, stored fields, second scores, too many words, and
//! suggestions.

use json::json;

use crate::place::{at, with_node};

#[test]
fn beginnings_of_words_are_terms_where_the_mapping_says_so() {
    with_node(|mut client| async move {
        let mapping = r#"{"mappings":{"properties":{"t":{"type":"text","index_prefixes":{"min_chars":2,"max_chars":4}}}}}"#;
        client.good("PUT", "/a", mapping).await;
        for (id, text) in [("1", "the lazy dog"), ("2", "lazy donkeys sleep"), ("3", "a dog lazy")]
        {
            let source = format!(r#"{{"t":"{text}"}}"#);
            client.good("PUT", &format!("/a/_doc/{id}?refresh=true"), &source).await;
        }
        for (query, count) in [
            (r#"{"match_phrase_prefix":{"t":"lazy do"}}"#, 2),
            (r#"{"match_phrase_prefix":{"t":"do"}}"#, 3),
            (r#"{"match_phrase_prefix":{"t":"lazy donkey"}}"#, 1),
            (r#"{"prefix":{"t":"don"}}"#, 1),
            (r#"{"prefix":{"t":"d"}}"#, 3),
            (r#"{"match_bool_prefix":{"t":"sleep la"}}"#, 3),
        ] {
            let body = format!(r#"{{"query":{query},"highlight":{{"fields":{{"t":{{}}}}}}}}"#);
            let found = client.good("POST", "/a/_search", &body).await;
            let total = at(&found, &["hits", "total", "value"]).as_u64();
            assert_eq!(total, Some(count), "{query}");
            let hits = at(&found, &["hits", "hits"]).as_array().expect("a list");
            assert!(hits.iter().all(|hit| hit.get("highlight").is_some()), "{query} is marked");
        }
    });
}

#[test]
fn stored_fields_outlive_a_source_that_lacks_them() {
    with_node(|mut client| async move {
        let mapping = r#"{"mappings":{"_source":{"excludes":["s","n.s"]},"properties":{
            "s":{"type":"text","store":true},"x":{"type":"text"},
            "n":{"type":"nested","properties":{"s":{"type":"text","store":true}}}}}}"#;
        client.good("PUT", "/a", mapping).await;
        let source = r#"{"s":"red fox","x":"blue","n":[{"s":"one"},{"s":"red two"}]}"#;
        client.good("PUT", "/a/_doc/1", source).await;
        // First from the buffer, then from a segment.
        for _ in 0..2 {
            let one = client.good("GET", "/a/_doc/1?stored_fields=s,x", "").await;
            assert_eq!(at(&one, &["fields"]), &json!({"s": ["red fox"]}));
            let whole = client.good("GET", "/a/_doc/1", "").await;
            assert_eq!(at(&whole, &["_source"]), &json!({"x": "blue", "n": [{}, {}]}));
            client.good("POST", "/a/_refresh", "").await;
        }
        let body = r#"{"query":{"match":{"s":"fox"}},"stored_fields":["s"],"highlight":{"fields":{"s":{},"x":{}}}}"#;
        let found = client.good("POST", "/a/_search", body).await;
        let hit = &at(&found, &["hits", "hits"]).as_array().expect("a list")[0];
        assert_eq!(at(hit, &["fields"]), &json!({"s": ["red fox"]}));
        assert_eq!(at(hit, &["highlight"]), &json!({"s": ["red <em>fox</em>"]}));
        let body = r#"{"query":{"nested":{"path":"n","query":{"match":{"n.s":"two"}},
            "inner_hits":{"highlight":{"fields":{"n.s":{}}}}}}}"#;
        let found = client.good("POST", "/a/_search", body).await;
        let hit = &at(&found, &["hits", "hits"]).as_array().expect("a list")[0];
        let inner = &at(hit, &["inner_hits", "n", "hits", "hits"]).as_array().expect("a list")[0];
        assert_eq!(at(inner, &["highlight"]), &json!({"n.s": ["red <em>two</em>"]}));
    });
}

#[test]
fn a_second_score_is_explained_with_the_first() {
    with_node(|mut client| async move {
        for id in 1..=3 {
            let path = format!("/a/_doc/{id}?refresh=true");
            client.good("PUT", &path, r#"{"t":"word"}"#).await;
        }
        let body = r#"{"query":{"constant_score":{"filter":{"match_all":{}},"boost":2}},"explain":true,
            "rescore":[{"window_size":10,"query":{"query_weight":3,"rescore_query_weight":2,"score_mode":"multiply",
            "rescore_query":{"constant_score":{"filter":{"ids":{"values":["2"]}},"boost":5}}}},
            {"window_size":1,"query":{"rescore_query":{"match_all":{}}}}]}"#;
        let found = client.good("POST", "/a/_search", body).await;
        let hits = at(&found, &["hits", "hits"]).as_array().expect("a list");
        for hit in hits {
            let (score, told) = (at(hit, &["_score"]), at(hit, &["_explanation", "value"]));
            assert_eq!(score.as_f64(), told.as_f64(), "{}", json::to_string(hit));
        }
        // 2 * 3, by 5 * 2, and 1 more.
        assert_eq!(at(&hits[0], &["_score"]).as_f64(), Some(61.0));
        assert_eq!(at(&hits[0], &["_explanation", "description"]).as_str(), Some("sum of:"));
        assert_eq!(at(&hits[1], &["_explanation", "description"]).as_str(), Some("product of:"));
    });
}

#[test]
fn too_many_words_of_a_pattern_are_an_error_where_each_is_a_clause() {
    with_node(|mut client| async move {
        let words: Vec<String> = (0..5000).map(|n| format!("w{n}")).collect();
        let source = format!(r#"{{"t":"{}"}}"#, words.join(" "));
        client.good("PUT", "/a/_doc/1?refresh=true", &source).await;
        for rewrite in ["scoring_boolean", "constant_score_boolean"] {
            let body = format!(
                r#"{{"query":{{"prefix":{{"t":{{"value":"w","rewrite":"{rewrite}"}}}}}}}}"#
            );
            let told = client.call("POST", "/a/_search", &body).await;
            assert_eq!(told.status, 400);
            assert!(told.text().contains("maxClauseCount is set to 4096"), "{}", told.text());
        }
        for rewrite in ["constant_score", "top_terms_10"] {
            let body = format!(
                r#"{{"query":{{"prefix":{{"t":{{"value":"w","rewrite":"{rewrite}"}}}}}}}}"#
            );
            let found = client.good("POST", "/a/_search", &body).await;
            assert_eq!(at(&found, &["hits", "total", "value"]).as_u64(), Some(1), "{rewrite}");
        }
        let fewer =
            r#"{"query":{"prefix":{"t":{"value":"w1","rewrite":"constant_score_boolean"}}}}"#;
        let found = client.good("POST", "/a/_search", fewer).await;
        assert_eq!(at(&found, &["hits", "max_score"]).as_f64(), Some(1.0));
    });
}

#[test]
fn suggestions_and_many_buckets_are_put_together_elsewhere() {
    with_node(|mut client| async move {
        let settings = r#"{"settings":{"number_of_shards":2}}"#;
        client.good("PUT", "/a", settings).await;
        let mut lines = String::new();
        for n in 0..3000 {
            lines.push_str(&format!(
                "{{\"index\":{{\"_id\":\"{n}\"}}}}\n{{\"n\":{n},\"t\":\"captain\"}}\n"
            ));
        }
        client.good("POST", "/a/_bulk?refresh=true", &lines).await;
        let body = r#"{"size":0,"aggs":{"all":{"terms":{"field":"n","size":5000,"order":{"_key":"asc"}}}},
            "suggest":{"s":{"text":"captian","term":{"field":"t"}}}}"#;
        let found = client.good("POST", "/a/_search", body).await;
        let buckets = at(&found, &["aggregations", "all", "buckets"]).as_array().expect("a list");
        assert_eq!(buckets.len(), 3000);
        assert_eq!(at(&buckets[2999], &["key"]).as_u64(), Some(2999));
        let entries = at(&found, &["suggest", "s"]).as_array().expect("a list");
        let options = at(&entries[0], &["options"]).as_array().expect("a list");
        assert_eq!(at(&options[0], &["text"]).as_str(), Some("captain"));
    });
}
