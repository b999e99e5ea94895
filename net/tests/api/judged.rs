//! Settings of an index are judged as Elasticsearch judges them: what fits, when, and in which words it is refused.

use json::json;

use crate::place::{at, failure, value, with_node};

/// Limits of mappings are numbers of 64 bits, which were refused beyond 32.
#[test]
fn limits_of_mappings_are_long_numbers() {
    with_node(|mut client| async move {
        let most = "9223372036854775807";
        for name in ["total_fields", "nested_fields", "nested_objects", "depth", "dimension_fields"]
        {
            let target = format!("/{name}");
            let flat = format!("index.mapping.{name}.limit");
            let body = format!(r#"{{"settings":{{"{flat}":2147483648}}}}"#);
            client.good("PUT", &target, &body).await;
            let settings = format!("{target}/_settings");
            client.good("PUT", &settings, &format!(r#"{{"{flat}":"{most}"}}"#)).await;
            let shown = client.good("GET", &format!("{settings}?flat_settings"), "").await;
            assert_eq!(at(&shown, &[name, "settings", &flat]), &json!(most));
            // What a limit so wide lets through is taken.
            client.good("PUT", &format!("{target}/_doc/1"), r#"{"a":{"b":[{"c":1}]}}"#).await;
            let refused = client.bad("PUT", &settings, &format!(r#"{{"{flat}":"{most}0"}}"#)).await;
            assert_eq!(
                refused,
                format!(
                    "400 illegal_argument_exception: Failed to parse value [{most}0] for setting [{flat}]"
                )
            );
        }
    });
}

/// It is set at creation, or while the index is closed, and was refused then.
#[test]
fn the_cache_of_fields_is_set_while_the_index_is_closed() {
    with_node(|mut client| async move {
        client.good("PUT", "/a", "").await;
        let put = r#"{"index.fielddata.cache":"none"}"#;
        let open = client.bad("PUT", "/a/_settings", put).await;
        assert!(
            open.contains("Can't update non dynamic settings [[index.fielddata.cache]]"),
            "{open}"
        );
        client.good("POST", "/a/_close", "").await;
        client.good("PUT", "/a/_settings", put).await;
        let shown = client.good("GET", "/a/_settings?flat_settings", "").await;
        assert_eq!(at(&shown, &["a", "settings", "index.fielddata.cache"]), &json!("none"));
        client.good("PUT", "/a/_settings", r#"{"index.fielddata.cache":null}"#).await;
        client.good("POST", "/a/_open", "").await;
        client.good("PUT", "/a/_settings?reopen=true", put).await;
        let shown = client.good("GET", "/a/_settings?flat_settings", "").await;
        assert_eq!(at(&shown, &["a", "settings", "index.fielddata.cache"]), &json!("none"));
    });
}

/// A node alone heeds the watermarks whatever is said here; whoever switched that off was told yes.
#[test]
fn what_stands_in_the_file_of_a_node_is_not_set_while_it_runs() {
    with_node(|mut client| async move {
        let watermarks = "cluster.routing.allocation.disk.watermark.enable_for_single_data_node";
        for (name, layer, value) in [
            (watermarks, "persistent", "false"),
            (watermarks, "transient", "true"),
            (watermarks, "persistent", "null"),
            ("search.keep_alive_interval", "persistent", r#""2m""#),
            ("http.type", "transient", r#""netty4""#),
            ("thread_pool.write.size", "persistent", "2"),
        ] {
            let body = format!(r#"{{"{layer}":{{"{name}":{value}}}}}"#);
            assert_eq!(
                client.bad("PUT", "/_cluster/settings", &body).await,
                format!(
                    "400 illegal_argument_exception: {layer} setting [{name}], not dynamically updateable"
                )
            );
        }
        let name = "cluster.persistent_tasks.allocation.recheck_interval";
        let body = |value: &str| format!(r#"{{"persistent":{{"{name}":{value}}}}}"#);
        assert_eq!(
            client.bad("PUT", "/_cluster/settings", &body(r#""9s""#)).await,
            format!(
                "400 illegal_argument_exception: failed to parse value [9s] for setting [{name}], must be >= [10s]"
            )
        );
        client.good("PUT", "/_cluster/settings", &body(r#""10s""#)).await;
        client.good("PUT", "/_cluster/settings", &body("null")).await;
    });
}

#[test]
fn what_is_no_number_is_told_with_what_was_read() {
    with_node(|mut client| async move {
        client.good("PUT", "/a", "").await;
        for (target, body, reason, text) in [
            (
                "/a/_settings",
                r#"{"max_result_window":2147483648}"#,
                "Failed to parse value [2147483648] for setting [index.max_result_window]",
                "2147483648",
            ),
            (
                "/a/_settings",
                r#"{"max_result_window":[1,2]}"#,
                "Failed to parse value [[1, 2]] for setting [index.max_result_window]",
                "[1, 2]",
            ),
            (
                "/_cluster/settings",
                r#"{"persistent":{"cluster.max_shards_per_node":99999999999}}"#,
                "Failed to parse value [99999999999] for setting [cluster.max_shards_per_node]",
                "99999999999",
            ),
            (
                "/_cluster/settings",
                r#"{"persistent":{"cluster.max_shards_per_node":[1,2]}}"#,
                "Failed to parse value [[1, 2]] for setting [cluster.max_shards_per_node]",
                "[1, 2]",
            ),
        ] {
            let told = client.call("PUT", target, body).await;
            assert_eq!(failure(&told), format!("400 illegal_argument_exception: {reason}"));
            let told = value(&told);
            assert_eq!(
                at(&told, &["error", "caused_by", "reason"]),
                &json!(format!("For input string: \"{text}\""))
            );
        }
    });
}

/// Numbers in text are taken where nothing is said, and the default of the setting is `false` all the same.
#[test]
fn the_default_of_coercion_is_shown_as_elasticsearch_has_it() {
    with_node(|mut client| async move {
        let body = r#"{"mappings":{"properties":{"n":{"type":"long"}}}}"#;
        client.good("PUT", "/a", body).await;
        client.good("PUT", "/a/_doc/1", r#"{"n":"1.5"}"#).await;
        let shown = client.good("GET", "/a/_settings?include_defaults&flat_settings", "").await;
        assert_eq!(at(&shown, &["a", "defaults", "index.mapping.coerce"]), &json!("false"));
        client.good("PUT", "/b", r#"{"settings":{"index.mapping.coerce":true}}"#).await;
        let shown = client.good("GET", "/b/_settings?include_defaults&flat_settings", "").await;
        assert_eq!(at(&shown, &["b", "settings", "index.mapping.coerce"]), &json!("true"));
    });
}
