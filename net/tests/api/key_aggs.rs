//! API keys, counted.

use json::{Value, json};

use crate::browser::basic;
use crate::place::{Client, at, with_security};

const TARGET: &str = "/_security/_query/api_key";

/// Keys of two owners.
async fn make(client: &mut Client) {
    client.authorize(Some(&basic("elastic", "secret")));
    let role = r#"{"cluster":["manage_own_api_key"]}"#;
    client.good("PUT", "/_security/role/keeper", role).await;
    for name in ["ann", "bob"] {
        let user = format!(r#"{{"password":"{name}-knows-this","roles":["keeper"]}}"#);
        client.good("PUT", &format!("/_security/user/{name}"), &user).await;
    }
    for (owner, name, end, tags) in [
        ("ann", "one", Some("10d"), json!(["prod", "east"])),
        ("ann", "two", None, json!(["prod", "west", "prod"])),
        ("ann", "three", Some("30d"), json!("test")),
        ("bob", "four", None, json!(["prod"])),
    ] {
        client.authorize(Some(&basic(owner, &format!("{owner}-knows-this"))));
        let mut key = json!({"name": name, "metadata": {"tags": (tags)}});
        if let (Some(end), Some(key)) = (end, key.as_object_mut()) {
            key.insert("expiration", end);
        }
        client.good("POST", "/_security/api_key", &json::to_string(&key)).await;
    }
    client.authorize(Some(&basic("elastic", "secret")));
    client.good("DELETE", "/_security/api_key", r#"{"name":"two"}"#).await;
}

async fn found(client: &mut Client, body: &Value) -> Value {
    let answer = client.good("POST", TARGET, &json::to_string(body)).await;
    at(&answer, &["aggregations"]).clone()
}

/// All of them were refused.
#[test]
fn keys_are_counted_as_documents_are() {
    with_security(|mut client| async move {
        make(&mut client).await;
        let terms = |buckets: Value| json!({"doc_count_error_upper_bound": 0, "sum_other_doc_count": 0, "buckets": (buckets)});
        for (agg, expected) in [
            (
                json!({"terms": {"field": "username"}}),
                terms(json!([{"key": "ann", "doc_count": 3}, {"key": "bob", "doc_count": 1}])),
            ),
            (
                json!({"terms": {"field": "metadata.tags", "size": 1}}),
                json!({"doc_count_error_upper_bound": 0, "sum_other_doc_count": 3,
                    "buckets": [{"key": "prod", "doc_count": 3}]}),
            ),
            (
                json!({"terms": {"field": "metadata.tags", "order": {"_key": "desc"}, "exclude": "p.*",
                    "missing": "none"}}),
                terms(json!([{"key": "west", "doc_count": 1}, {"key": "test", "doc_count": 1},
                    {"key": "east", "doc_count": 1}])),
            ),
            (
                json!({"terms": {"field": "invalidated"}}),
                terms(json!([{"key": 0, "key_as_string": "false", "doc_count": 3},
                    {"key": 1, "key_as_string": "true", "doc_count": 1}])),
            ),
            (
                json!({"terms": {"field": "username", "order": {"tags": "asc"}},
                    "aggs": {"tags": {"cardinality": {"field": "metadata.tags"}}}}),
                terms(json!([{"key": "bob", "doc_count": 1, "tags": {"value": 1}},
                    {"key": "ann", "doc_count": 3, "tags": {"value": 4}}])),
            ),
            (json!({"value_count": {"field": "metadata.tags"}}), json!({"value": 6})),
            (json!({"missing": {"field": "expiration"}}), json!({"doc_count": 2})),
            (
                json!({"missing": {"field": "expiration"}, "meta": {"a": 1},
                    "aggs": {"names": {"terms": {"field": "name"}}}}),
                json!({"meta": {"a": 1}, "doc_count": 2, "names": (terms(json!([
                    {"key": "four", "doc_count": 1}, {"key": "two", "doc_count": 1}])))}),
            ),
            (
                json!({"filter": {"term": {"name": "none"}},
                    "aggs": {"n": {"value_count": {"field": "name"}},
                        "u": {"terms": {"field": "username"}}}}),
                json!({"doc_count": 0, "n": {"value": 0}, "u": (terms(json!([])))}),
            ),
            (
                json!({"filters": {"other_bucket_key": "rest", "filters": {
                    "east": {"term": {"metadata.tags": "east"}},
                    "prod": {"match": {"metadata.tags": "prod"}}}}}),
                json!({"buckets": {"east": {"doc_count": 1}, "prod": {"doc_count": 3},
                    "rest": {"doc_count": 1}}}),
            ),
            (
                json!({"filters": {"filters": [{"match_all": {}}, {"exists": {"field": "invalidation"}}]}}),
                json!({"buckets": [{"doc_count": 4}, {"doc_count": 1}]}),
            ),
            (
                json!({"date_range": {"field": "expiration", "format": "yyyy", "ranges": [
                    {"key": "soon", "to": "2000"}, {"from": "2000", "to": "3000"}]}}),
                json!({"buckets": [
                    {"key": "soon", "to": 946_684_800_000.0, "to_as_string": "2000", "doc_count": 0},
                    {"key": "2000-3000", "from": 946_684_800_000.0, "from_as_string": "2000",
                        "to": 32_503_680_000_000.0, "to_as_string": "3000", "doc_count": 2}]}),
            ),
            (
                json!({"range": {"field": "creation", "keyed": true, "ranges": [{"from": 0}]}}),
                json!({"buckets": {"0-*": {"from": 0.0, "from_as_string": "0", "doc_count": 4}}}),
            ),
            (
                json!({"composite": {"size": 2, "sources": [
                    {"who": {"terms": {"field": "username", "order": "desc"}}},
                    {"tag": {"terms": {"field": "metadata.tags"}}}]}}),
                json!({"after_key": {"who": "ann", "tag": "east"}, "buckets": [
                    {"key": {"who": "bob", "tag": "prod"}, "doc_count": 1},
                    {"key": {"who": "ann", "tag": "east"}, "doc_count": 1}]}),
            ),
            (
                json!({"composite": {"size": 2, "after": {"who": "ann", "tag": "east"}, "sources": [
                    {"who": {"terms": {"field": "username", "order": "desc"}}},
                    {"tag": {"terms": {"field": "metadata.tags"}}}]},
                    "aggs": {"dead": {"filter": {"term": {"invalidated": true}}}}}),
                json!({"after_key": {"who": "ann", "tag": "test"}, "buckets": [
                    {"key": {"who": "ann", "tag": "prod"}, "doc_count": 2, "dead": {"doc_count": 1}},
                    {"key": {"who": "ann", "tag": "test"}, "doc_count": 1, "dead": {"doc_count": 0}}]}),
            ),
            (
                json!({"composite": {"sources": [
                    {"end": {"date_histogram": {"field": "expiration", "fixed_interval": "1000000d",
                        "missing_bucket": true}}}]}}),
                json!({"after_key": {"end": 0}, "buckets": [
                    {"key": {"end": null}, "doc_count": 2}, {"key": {"end": 0}, "doc_count": 2}]}),
            ),
        ] {
            let body = json!({"size": 0, "aggs": {"it": (agg.clone())}});
            let found = found(&mut client, &body).await;
            assert_eq!(json::to_string(at(&found, &["it"])), json::to_string(&expected), "{agg:?}");
        }
    });
}

/// What is counted is what the query means, and what the caller may see.
#[test]
fn only_what_is_seen_is_counted() {
    with_security(|mut client| async move {
        make(&mut client).await;
        let names = json!({"terms": {"field": "name", "order": {"_key": "asc"}}});
        let counted = |aggs: &Value| -> Vec<String> {
            let buckets = at(aggs, &["n", "buckets"]).as_array().expect("buckets").iter();
            buckets.filter_map(|one| Some(one.get("key")?.as_str()?.to_owned())).collect()
        };
        // A page is cut after all of it is counted, and where it begins does not matter.
        let body = json!({"query": {"term": {"username": "ann"}}, "size": 1, "sort": ["name"],
            "search_after": ["three"], "aggs": {"n": (names.clone())}});
        let aggs = found(&mut client, &body).await;
        assert_eq!(counted(&aggs), ["one", "three", "two"]);
        client.authorize(Some(&basic("bob", "bob-knows-this")));
        let aggs = found(&mut client, &json!({"aggregations": {"n": (names)}})).await;
        assert_eq!(counted(&aggs), ["four"]);
        let typed = client
            .good(
                "GET",
                &format!("{TARGET}?typed_keys=true"),
                r#"{"aggs":{"n":{"terms":{"field":"type"}}}}"#,
            )
            .await;
        let typed = at(&typed, &["aggregations", "sterms#n", "buckets"]);
        assert_eq!(json::to_string(typed), r#"[{"key":"rest","doc_count":1}]"#);
        // Nobody asked.
        let plain = client.good("POST", TARGET, "{}").await;
        assert!(plain.get("aggregations").is_none(), "{plain:?}");
    });
}

#[test]
fn what_may_not_be_counted_is_refused() {
    with_security(|mut client| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        for (agg, reason) in [
            (json!({"global": {}}), "Unsupported API Keys agg [it] of type [global]"),
            (json!({"avg": {"field": "creation"}}), "Unsupported API Keys agg [it] of type [avg]"),
            (
                json!({"date_histogram": {"field": "creation", "fixed_interval": "1d"}}),
                "Unsupported API Keys agg [it] of type [date_histogram]",
            ),
            (json!({"top_hits": {}}), "Unsupported API Keys agg [it] of type [top_hits]"),
            (
                json!({"avg_bucket": {"buckets_path": "t>c"}}),
                "Unsupported aggregation of type [avg_bucket]",
            ),
            (json!({"terms": {"script": "doc"}}), "Unsupported script value source for [it] agg"),
            (
                json!({"composite": {"sources": [{"s": {"terms": {"script": "doc"}}}]}}),
                "Unsupported script value source for [s] of composite agg [it]",
            ),
            (
                json!({"terms": {"field": "secret"}}),
                "Field [secret] is not allowed for querying or aggregation",
            ),
            (
                json!({"filter": {"term": {"creator.realm": "x"}}}),
                "Field [creator.realm] is not allowed for querying or aggregation",
            ),
            (
                json!({"filters": {"filters": [{"match_none": {}}]}}),
                "Query type [match_none] is not currently supported in this context",
            ),
            (
                json!({"terms": {"field": "type"}, "aggs": {"in": {"filter": {"regexp": {"name": "a"}}}}}),
                "Query type [regexp] is not currently supported in this context",
            ),
            (
                json!({"date_range": {"field": "name", "ranges": [{"to": "now"}]}}),
                "Field [name] of type [keyword] is not supported for aggregation [date_range]",
            ),
            (
                json!({"terms": {"field": "name", "order": {"x": "asc"}}}),
                "Invalid aggregation order path [x]. The provided aggregation [x] either does not exist, or is a \
                 pipeline aggregation and cannot be used to sort the buckets.",
            ),
        ] {
            let mut aggs = json!({"it": (agg.clone())});
            if let (Some(_), Some(aggs)) = (agg.get("avg_bucket"), aggs.as_object_mut()) {
                let counted = json!({"terms": {"field": "type"},
                    "aggs": {"c": {"value_count": {"field": "type"}}}});
                aggs.insert("t", counted);
            }
            let body = json!({"aggs": (aggs)});
            let refused = client.bad("POST", TARGET, &json::to_string(&body)).await;
            let (_, told) = refused.split_once(": ").expect("a reason");
            assert_eq!(told, reason, "{agg:?}: {refused}");
            assert!(refused.starts_with("400 "), "{refused}");
        }
        // Other families have none.
        let refused = client.bad("POST", "/_security/_query/user", r#"{"aggs":{}}"#).await;
        assert!(refused.ends_with("unexpected field [aggs]"), "{refused}");
        // More buckets than a search may make.
        client.good("PUT", "/_cluster/settings", r#"{"transient":{"search.max_buckets":1}}"#).await;
        for name in ["a", "b"] {
            client.good("POST", "/_security/api_key", &format!(r#"{{"name":"{name}"}}"#)).await;
        }
        let body = r#"{"aggs":{"n":{"terms":{"field":"name"}}}}"#;
        let refused = client.bad("POST", TARGET, body).await;
        assert!(refused.starts_with("400 too_many_buckets_exception: "), "{refused}");
    });
}
