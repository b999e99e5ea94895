//! Indices, their mappings and settings, and how they do.

use json::json;

use crate::place::{at, with_node};

#[test]
fn an_index_comes_and_goes() {
    with_node(|mut client| async move {
        let body = r#"{"settings":{"number_of_replicas":0},"mappings":{"properties":{"a":{"type":"long"}}},"aliases":{"al":{}}}"#;
        let made = client.good("PUT", "/a", body).await;
        assert_eq!(made, json!({"acknowledged": true, "shards_acknowledged": true, "index": "a"}));
        let got = client.good("GET", "/a", "").await;
        assert_eq!(at(&got, &["a", "aliases"]), &json!({"al": {}}));
        assert_eq!(at(&got, &["a", "mappings", "properties", "a", "type"]).as_str(), Some("long"));
        let index = at(&got, &["a", "settings", "index"]);
        assert_eq!(at(index, &["number_of_replicas"]).as_str(), Some("0"));
        assert_eq!(at(index, &["uuid"]).as_str().map(str::len), Some(22));
        let some = client.good("GET", "/a?features=aliases", "").await;
        assert_eq!(some, json!({"a": {"aliases": {"al": {}}}}));
        assert_eq!(client.call("HEAD", "/a", "").await.status, 200);
        assert_eq!(client.call("HEAD", "/b", "").await.status, 404);
        let told = client.bad("PUT", "/a", "").await;
        assert!(told.starts_with("400 resource_already_exists_exception: index [a/"), "{told}");
        assert_eq!(
            client.bad("DELETE", "/*", "").await,
            "400 illegal_argument_exception: Wildcard expressions or all indices are not allowed"
        );
        assert_eq!(client.good("DELETE", "/a", "").await, json!({"acknowledged": true}));
        assert_eq!(
            client.bad("GET", "/a", "").await,
            "404 index_not_found_exception: no such index [a]"
        );
        assert_eq!(client.good("GET", "/a*", "").await, json!({}));
    });
}

#[test]
fn bad_bodies_are_named() {
    with_node(|mut client| async move {
        for (method, target, body, told) in [
            (
                "PUT",
                "/b",
                r#"{"foo":{}}"#,
                "400 parse_exception: unknown key [foo] for create index",
            ),
            ("PUT", "/b", "[]", "400 parse_exception: Failed to parse content to map"),
            ("PUT", "/b", "{", "400 parse_exception: Failed to parse content to map"),
            (
                "PUT",
                "/b",
                r#"{"mappings":[]}"#,
                "400 parse_exception: key [mappings] must be an object",
            ),
            ("PUT", "/a/_mapping", "", "400 parse_exception: request body is required"),
            (
                "PUT",
                "/A",
                "",
                "400 invalid_index_name_exception: Invalid index name [A], must be lowercase",
            ),
            (
                "GET",
                "/_foo",
                "",
                "400 invalid_index_name_exception: Invalid index name [_foo], must not start with \
                 '_'.",
            ),
            (
                "GET",
                "/a?features=foo",
                "",
                "400 illegal_argument_exception: Invalid features specified [foo]",
            ),
            (
                "POST",
                "/_analyze",
                "{}",
                "400 action_request_validation_exception: Validation Failed: 1: text is missing;",
            ),
            (
                "POST",
                "/_forcemerge?max_num_segments=1&only_expunge_deletes",
                "",
                "400 action_request_validation_exception: Validation Failed: 1: cannot set \
                 only_expunge_deletes and max_num_segments at the same time, those two parameters \
                 are mutually exclusive;",
            ),
            (
                "GET",
                "/_cluster/health?wait_for_status=foo",
                "",
                "400 illegal_argument_exception: No enum constant \
                 org.elasticsearch.cluster.health.ClusterHealthStatus.FOO",
            ),
        ] {
            assert_eq!(client.bad(method, target, body).await, told, "{method} {target}");
        }
    });
}

#[test]
fn mappings_grow_and_settings_are_shown() {
    with_node(|mut client| async move {
        client.good("PUT", "/a", "").await;
        let empty = client.good("GET", "/a/_mapping", "").await;
        assert_eq!(empty, json!({"a": {"mappings": {}}}));
        let grow = r#"{"properties":{"k":{"type":"keyword"}}}"#;
        assert_eq!(client.good("PUT", "/a/_mapping", grow).await, json!({"acknowledged": true}));
        let grown = client.good("GET", "/_mapping", "").await;
        assert_eq!(grown, json!({"a": {"mappings": {"properties": {"k": {"type": "keyword"}}}}}));
        let told =
            client.bad("PUT", "/a/_mapping", r#"{"properties":{"k":{"type":"long"}}}"#).await;
        assert_eq!(
            told,
            "400 illegal_argument_exception: mapper [k] cannot be changed from type [keyword] to \
             [long]"
        );
        let named = client.good("GET", "/a/_settings/index.number_of_*?flat_settings", "").await;
        let shown = at(&named, &["a", "settings"]).as_object().expect("an object");
        assert_eq!(shown.get("index.number_of_shards"), Some(&json!("1")));
        assert!(shown.keys().all(|key| key.starts_with("index.number_of_")));
        let human = client.good("GET", "/a/_settings?human", "").await;
        assert!(human.at(&["a", "settings", "index", "creation_date_string"]).is_some());
    });
}

#[test]
fn health_is_told_in_words_and_tables() {
    with_node(|mut client| async move {
        let empty = client.good("GET", "/_cluster/health", "").await;
        assert_eq!(at(&empty, &["status"]).as_str(), Some("green"));
        assert_eq!(at(&empty, &["active_shards_percent_as_number"]), &json!(100.0));
        client.good("PUT", "/a", r#"{"settings":{"number_of_shards":2}}"#).await;
        let yellow = client.good("GET", "/_cluster/health?level=shards", "").await;
        assert_eq!(at(&yellow, &["status"]).as_str(), Some("yellow"));
        assert_eq!(at(&yellow, &["active_primary_shards"]).as_u64(), Some(2));
        assert_eq!(at(&yellow, &["unassigned_shards"]).as_u64(), Some(2));
        assert_eq!(
            at(&yellow, &["indices", "a", "shards", "1", "primary_active"]).as_bool(),
            Some(true)
        );
        let late =
            client.call("GET", "/_cluster/health?wait_for_status=green&timeout=1s", "").await;
        assert_eq!(late.status, 408);
        let late = client.call("GET", "/_cluster/health?wait_for_nodes=2&timeout=1s", "").await;
        assert_eq!(late.status, 408);
        let rows =
            client.good("GET", "/_cat/indices?format=json&h=index,pri,rep,docs.count", "").await;
        assert_eq!(rows, json!([{"index": "a", "pri": "2", "rep": "1", "docs.count": "0"}]));
        let text = client.call("GET", "/_cat/indices?v&h=health,index,pri", "").await;
        assert_eq!(text.text(), "health index pri\nyellow a       2\n");
        assert_eq!(text.field("content-type"), Some("text/plain; charset=UTF-8"));
        let health = client.call("GET", "/_cat/health?ts=false&v", "").await;
        assert!(health.text().starts_with("cluster  status node.total"), "{}", health.text());
        let help = client.call("GET", "/_cat/indices?help", "").await;
        assert!(help.text().contains("docs.count"));
    });
}

#[test]
fn text_is_analyzed() {
    with_node(|mut client| async move {
        let body = client
            .good("GET", "/_analyze", r#"{"analyzer":"standard","text":"The QUICK 2 fox"}"#)
            .await;
        assert_eq!(
            at(&body, &["tokens"]).as_array().and_then(|tokens| tokens.get(1)),
            Some(
                &json!({"token": "quick", "start_offset": 4, "end_offset": 9, "type": "<ALPHANUM>", "position": 1})
            )
        );
    });
}
