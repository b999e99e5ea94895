//! What types make of what is asked of them: analyzers that are forced on numbers, spans in `fields`, nanoseconds as
//! doubles; and what belongs to no type where others look for one.

use json::{Value, json};

use crate::edged::{hits, load, shard_failure};
use crate::place::{Client, at, value, with_node};

async fn made(client: &mut Client) {
    let mappings = json!({"mappings": {"properties": {
        "t": {"type": "text"}, "e": {"type": "text", "analyzer": "english"}, "n": {"type": "integer"},
        "k": {"type": "keyword"}, "dr": {"type": "date_range"}, "ir": {"type": "ip_range"},
        "lr": {"type": "long_range"}, "dn": {"type": "date_nanos"}
    }}});
    client.good("PUT", "/c", &json::to_string(&mappings)).await;
    let docs = [
        json!({"t": "fox", "n": 5, "k": "a", "e": "search the", "dn": "2024-01-01T00:00:00.123456789Z",
            "dr": {"gte": "2024-01-01", "lt": "2024-02-01"}, "ir": "10.0.0.0/8", "lr": [{"gte": "3", "lt": 9}]}),
        json!({"t": "fox 2024 01", "n": 9, "k": "b", "e": "search for the lost", "dn": "2023-01-01T00:00:00Z"}),
    ];
    load(client, "c", &docs).await;
}

async fn found(client: &mut Client, query: Value) -> Vec<String> {
    let mut ids: Vec<String> =
        hits(client, "c", query).await.into_iter().map(|(id, _)| id).collect();
    ids.sort();
    ids
}

async fn first_hit(client: &mut Client, body: Value) -> Value {
    let found = client.good("POST", "/c/_search", &json::to_string(&body)).await;
    at(&found, &["hits", "hits"]).as_array().expect("a list")[0].clone()
}

/// An analyzer that is named counted for text alone: `5 9` was no number.
#[test]
fn an_analyzer_that_is_named_counts_for_numbers_too() {
    with_node(|mut client| async move {
        made(&mut client).await;
        let both = json!({"match": {"n": {"query": "5 9", "analyzer": "standard"}}});
        assert_eq!(found(&mut client, both).await, ["0", "1"]);
        let all =
            json!({"match": {"n": {"query": "5 9", "analyzer": "standard", "operator": "and"}}});
        assert!(found(&mut client, all).await.is_empty());
        let several = json!({"multi_match":
            {"query": "5 fox", "fields": ["t", "n"], "analyzer": "standard", "lenient": true}});
        let scored = hits(&mut client, "c", several).await;
        assert_eq!(scored[0], ("0".to_owned(), 1.0), "{scored:?}");
        let none = json!({"query": {"match": {"n": {"query": "5 x", "analyzer": "standard"}}}});
        let why = shard_failure(&mut client, "c", none).await;
        assert!(why.ends_with("For input string: \"x\""), "{why}");
    });
}

/// `>3` was a range on every field that was asked for; it is one behind a field's name alone.
#[test]
fn a_sign_is_a_range_of_a_field_that_is_named() {
    with_node(|mut client| async move {
        made(&mut client).await;
        for query in [json!({"query": "n:>5"}), json!({"query": ">5", "default_field": "n"})] {
            assert_eq!(found(&mut client, json!({"query_string": query})).await, ["1"]);
        }
        for fields in [json!(["n"]), json!(["n", "t"])] {
            let lenient =
                json!({"query_string": {"query": ">5", "fields": fields, "lenient": true}});
            assert!(found(&mut client, lenient).await.is_empty());
        }
        let strict = json!({"query": {"query_string": {"query": ">5", "fields": ["n"]}}});
        let why = shard_failure(&mut client, "c", strict).await;
        assert!(why.ends_with("For input string: \">5\""), "{why}");
    });
}

/// `fields` told spans as they stood in the source, and knew no format of their dates.
#[test]
fn fields_read_spans_and_show_them() {
    with_node(|mut client| async move {
        made(&mut client).await;
        let body = json!({"query": {"term": {"k": "a"}}, "_source": false, "fields": [
            "ir", "lr", {"field": "dr", "format": "yyyy/MM"}]});
        let hit = first_hit(&mut client, body).await;
        let want = json!({"dr": [{"gte": "2024/01", "lt": "2024/02"}],
            "ir": ["10.0.0.0/8"], "lr": [{"gte": 3, "lt": 9}]});
        assert_eq!(at(&hit, &["fields"]), &want, "{}", json::to_string(&hit));
        let body = json!({"query": {"term": {"k": "a"}}, "_source": false, "fields": ["dr"]});
        let hit = first_hit(&mut client, body).await;
        let want = json!([{"gte": "2024-01-01T00:00:00.000Z", "lt": "2024-02-01T00:00:00.000Z"}]);
        assert_eq!(at(&hit, &["fields", "dr"]), &want);
    });
}

/// Beside a `date` of another index the order was wrong: nanoseconds stood among milliseconds.
#[test]
fn nanoseconds_are_sorted_as_doubles_of_milliseconds() {
    with_node(|mut client| async move {
        made(&mut client).await;
        let body = json!({"sort": [{"dn": {"order": "desc", "numeric_type": "double"}}]});
        let hit = first_hit(&mut client, body).await;
        assert_eq!(at(&hit, &["_id"]).as_str(), Some("0"));
        assert_eq!(
            at(&hit, &["sort"]).as_array().expect("a list")[0].as_f64(),
            Some(1_704_067_200_123.0)
        );
        let body = json!({"sort": [{"dn": {"order": "desc", "numeric_type": "double"}}],
            "search_after": [1_704_067_200_123.0]});
        let hit = first_hit(&mut client, body).await;
        assert_eq!(at(&hit, &["_id"]).as_str(), Some("1"));
    });
}

#[test]
fn an_empty_ext_is_read_and_what_no_plugin_reads_is_refused() {
    with_node(|mut client| async move {
        made(&mut client).await;
        client.good("POST", "/c/_search", r#"{"ext":{}}"#).await;
        let refused = client.call("POST", "/c/_search", r#"{"ext":{"foo":{}}}"#).await;
        assert_eq!(refused.status, 400);
        let body = value(&refused);
        let cause = at(&body, &["error", "type"]).as_str();
        assert_eq!(cause, Some("named_object_not_found_exception"), "{}", json::to_string(&body));
    });
}

/// Of buckets in an order that says nothing of counts nothing is known where a shard gave as many as it was asked for,
/// and it may be the only one.
#[test]
fn what_is_cut_by_another_order_than_counts_has_an_unknown_error() {
    with_node(|mut client| async move {
        made(&mut client).await;
        for (order, size, error) in [("desc", 1, -1), ("desc", 3, 0), ("asc", 1, -1)] {
            let body = json!({"size": 0, "aggs": {"a": {"terms":
                {"field": "k", "size": size, "shard_size": size, "order": {"m": order}},
                "aggs": {"m": {"max": {"field": "n"}}}}}});
            let found = client.good("POST", "/c/_search", &json::to_string(&body)).await;
            let told = at(&found, &["aggregations", "a", "doc_count_error_upper_bound"]);
            assert_eq!(told.as_i64(), Some(error), "{order} {size}");
        }
    });
}

/// `7` stood beside `true` as another of its keys.
#[test]
fn what_stands_for_no_flag_is_a_flag() {
    with_node(|mut client| async move {
        client.good("PUT", "/b/_doc/1?refresh=true", r#"{"b":true}"#).await;
        for (missing, is_flag) in [("7", false), (r#""7""#, false), ("false", true)] {
            let body = format!(
                r#"{{"size":0,"aggs":{{"a":{{"terms":{{"field":"b","missing":{missing}}}}}}}}}"#
            );
            let answer = client.call("POST", "/b/_search", &body).await;
            assert_eq!(answer.status == 200, is_flag, "{missing}");
            if !is_flag {
                let told = json::to_string(&value(&answer));
                assert!(
                    told.contains("Cannot parse boolean [7], expected either [true] or [false]"),
                    "{told}"
                );
            }
        }
    });
}

/// The limit was held against the parts of each shard.
#[test]
fn slices_of_all_shards_are_bounded_together() {
    with_node(|mut client| async move {
        client.good("PUT", "/s", r#"{"settings":{"number_of_shards":2}}"#).await;
        let body = r#"{"slice":{"id":0,"max":2000}}"#;
        let refused = client.call("POST", "/s/_search?scroll=1m", body).await;
        assert_eq!(refused.status, 400);
        let told = json::to_string(&value(&refused));
        assert!(told.contains("The number of slices [2000] is too large"), "{told}");
        client.good("POST", "/s/_search?scroll=1m", r#"{"slice":{"id":0,"max":1024}}"#).await;
    });
}

/// The plain highlighter ended such a beginning at the end of the value; it ends at the last word that is left.
#[test]
fn a_beginning_without_matches_ends_with_a_word_of_the_analyzer() {
    with_node(|mut client| async move {
        made(&mut client).await;
        let body = json!({"query": {"term": {"k": "a"}}, "highlight":
            {"type": "plain", "no_match_size": 100, "fields": {"e": {}}}});
        let hit = first_hit(&mut client, body).await;
        assert_eq!(at(&hit, &["highlight", "e"]), &json!(["search"]));
    });
}
