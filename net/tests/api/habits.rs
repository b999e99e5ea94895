//! What administrators are used to: names, orders and words of Elasticsearch in calls that were not alike.

use json::Value;

use crate::place::{at, with_node};

/// Tools look for a condition by its name, which is that of the value, however it was written.
#[test]
fn conditions_of_a_rollover_are_named_by_their_values() {
    with_node(|mut client| async move {
        client.good("PUT", "/log-1", r#"{"aliases":{"log":{"is_write_index":true}}}"#).await;
        for (asked, named) in [
            (r#"{"max_age":"90m"}"#, "[max_age: 1.5h]"),
            (r#"{"max_age":"36h"}"#, "[max_age: 1.5d]"),
            (r#"{"max_age":"100s"}"#, "[max_age: 1.6m]"),
            (r#"{"max_age":"1000ms"}"#, "[max_age: 1s]"),
            (r#"{"max_size":"1024mb"}"#, "[max_size: 1gb]"),
            (r#"{"max_primary_shard_size":"1500mb"}"#, "[max_primary_shard_size: 1.4gb]"),
            (r#"{"max_docs":7}"#, "[max_docs: 7]"),
        ] {
            let body = format!(r#"{{"conditions":{asked}}}"#);
            let told = client.good("POST", "/log/_rollover?dry_run=true", &body).await;
            let conditions = at(&told, &["conditions"]).as_object().expect("conditions");
            let names: Vec<_> = conditions.iter().map(|(name, _)| name).collect();
            assert_eq!(names, [named], "{asked}");
        }
    });
}

#[test]
fn a_forced_merge_to_no_segments_is_one_by_the_policy() {
    with_node(|mut client| async move {
        client.good("PUT", "/a", "").await;
        for count in [-5, -1, 0, 1] {
            let target = format!("/a/_forcemerge?max_num_segments={count}");
            client.good("POST", &target, "").await;
        }
    });
}

/// Who sorts shards by their state looks for those that are broken.
#[test]
fn states_of_shards_are_sorted_in_their_order() {
    with_node(|mut client| async move {
        let body = r#"{"settings":{"number_of_shards":2,"number_of_replicas":1}}"#;
        client.good("PUT", "/s", body).await;
        for (key, order) in [
            ("state", ["UNASSIGNED", "UNASSIGNED", "STARTED", "STARTED"]),
            ("state:desc", ["STARTED", "STARTED", "UNASSIGNED", "UNASSIGNED"]),
        ] {
            let told =
                client.call("GET", &format!("/_cat/shards/s?h=state&s={key}"), "").await.text();
            assert_eq!(told.split_whitespace().collect::<Vec<_>>(), order, "{key}");
        }
    });
}

#[test]
fn tables_of_nodes_and_indices_have_the_columns_of_the_last_version() {
    with_node(|mut client| async move {
        client.good("PUT", "/a/_doc/1?refresh=true", r#"{"n":1,"t":"x"}"#).await;
        assert_eq!(client.call("PUT", "/a/_create/1", "{}").await.status, 409);
        let columns = "available_processors,shard_stats.total_count,mappings.total_count,\
                       mappings.total_estimated_overhead_in_bytes,\
                       indexing.index_failed_due_to_version_conflict";
        let target = format!("/_cat/nodes?format=json&bytes=b&h={columns}");
        let nodes = client.good("GET", &target, "").await;
        let row = nodes.as_array().expect("rows")[0].as_object().expect("a row").clone();
        let cell = |name: &str| row.get(name).and_then(Value::as_str).map(str::to_owned);
        for name in columns.split(',') {
            assert!(cell(name).is_some(), "{name}: {row:?}");
        }
        let told = |name| cell(name).expect("told");
        assert_eq!(told("shard_stats.total_count"), "1");
        // The text has its keyword.
        assert_eq!(told("mappings.total_count"), "3");
        assert_eq!(told("mappings.total_estimated_overhead_in_bytes"), "3072");
        assert_eq!(told("indexing.index_failed_due_to_version_conflict"), "1");
        for name in ["iifvc", "pri.indexing.index_failed_due_to_version_conflict"] {
            let told = client.call("GET", &format!("/_cat/indices/a?h={name}"), "").await.text();
            assert_eq!(told.trim(), "1", "{name}");
        }
        let help = client.call("GET", "/_cat/nodes?help", "").await.text();
        let at = |name: &str| help.lines().position(|line| line.starts_with(name)).expect("there");
        assert!(at("script.compilations") < at("search.fetch_current"));
    });
}

#[test]
fn what_is_no_object_is_told_so_by_aliases() {
    with_node(|mut client| async move {
        for (body, words) in [
            ("[]", "[1:1] [aliases] Expected START_OBJECT but was: START_ARRAY"),
            (
                r#"{"actions":["x"]}"#,
                "[1:13] [alias_action] Expected START_OBJECT but was: VALUE_STRING",
            ),
        ] {
            let refused = client.call("POST", "/_aliases", body).await;
            assert_eq!(refused.status, 400);
            assert!(refused.text().contains(words), "{}", refused.text());
        }
    });
}

#[test]
fn types_of_a_source_that_are_none_are_named() {
    with_node(|mut client| async move {
        for (kind, words) in [
            ("foo", "400 illegal_argument_exception: invalid Content-Type header [foo]"),
            (
                "text/plain",
                "500 illegal_state_exception: Unknown value for source_content_type [text/plain]",
            ),
        ] {
            let target = format!("/_search?source=%7B%7D&source_content_type={kind}");
            assert_eq!(client.bad("GET", &target, "").await, words);
        }
        client.good("GET", "/_cluster/health?wait_for_nodes=", "").await;
        let told = client.good("GET", "/_nodes/stats/indices/segments?human=true", "").await;
        let text = json::to_string(&told);
        assert!(text.contains(r#""fixed_bit_set":"0b""#), "{text}");
    });
}

#[test]
fn statistics_of_several_fields_refuse_what_they_do_not_know() {
    with_node(|mut client| async move {
        client.good("PUT", "/a", "").await;
        for (more, words) in [
            (
                r#""script":{"source":"1"}"#,
                "400 parsing_exception: Unexpected token START_OBJECT [script] in [mfs]. \
                 Multi-field aggregations do not support scripts.",
            ),
            (r#""foo":1"#, "400 parsing_exception: Unexpected token VALUE_NUMBER [foo] in [mfs]."),
        ] {
            let body =
                format!(r#"{{"aggs":{{"mfs":{{"matrix_stats":{{"fields":["n"],{more}}}}}}}}}"#);
            assert_eq!(client.bad("POST", "/a/_search", &body).await, words);
        }
    });
}
