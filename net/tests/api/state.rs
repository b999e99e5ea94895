//! `_cluster/state`: what of it is told of which index.

use json::{Value, json};

use crate::place::{Client, at, with_node};

/// Of named indices alone the blocks were told; Elasticsearch narrows metadata and routing by names, and no blocks.
#[test]
fn blocks_are_those_of_all_indices_whichever_are_named() {
    with_node(|mut client| async move {
        for name in ["a", "b", "c"] {
            client.good("PUT", &format!("/{name}"), "").await;
        }
        client.good("PUT", "/b/_block/write", "").await;
        client.good("POST", "/c/_close", "").await;
        let read_only = json!({"persistent": {"cluster.blocks.read_only_allow_delete": true}});
        client.good("PUT", "/_cluster/settings", &json::to_string(&read_only)).await;
        for target in ["/_cluster/state/blocks/a", "/_cluster/state/blocks,metadata/a,b"] {
            let state = client.good("GET", target, "").await;
            let blocks = at(&state, &["blocks", "indices"]).as_object().expect("by index");
            assert_eq!(blocks.keys().collect::<Vec<_>>(), ["b", "c"], "{target}");
            assert!(at(&state, &["blocks", "global"]).get("13").is_some(), "{target}");
        }
        let state = client.good("GET", "/_cluster/state/metadata/a", "").await;
        assert!(state.get("blocks").is_none());
        let indices = at(&state, &["metadata", "indices"]).as_object().expect("by name");
        assert_eq!(indices.keys().collect::<Vec<_>>(), ["a"]);
    });
}

/// Whoever named no index and said which a pattern shall meet got the metadata and the routing of those alone.
#[test]
fn what_patterns_meet_matters_to_names_alone() {
    with_node(|mut client| async move {
        for name in ["a", "b"] {
            client.good("PUT", &format!("/{name}"), "").await;
        }
        client.good("PUT", "/h", r#"{"settings":{"hidden":true}}"#).await;
        client.good("POST", "/b/_close", "").await;
        for (target, wanted) in [
            ("/_cluster/state", &["a", "b", "h"][..]),
            ("/_cluster/state?expand_wildcards=open", &["a", "b", "h"]),
            ("/_cluster/state?expand_wildcards=none&allow_no_indices=false", &["a", "b", "h"]),
            (
                "/_cluster/state/metadata,routing_table/_all?expand_wildcards=closed",
                &["a", "b", "h"],
            ),
            ("/_cluster/state/metadata,routing_table/*", &["a"]),
            ("/_cluster/state/metadata,routing_table/*?expand_wildcards=closed", &["b"]),
            ("/_cluster/state/metadata,routing_table/*?expand_wildcards=open,hidden", &["a", "h"]),
        ] {
            let state = client.good("GET", target, "").await;
            for part in [["metadata", "indices"], ["routing_table", "indices"]] {
                let indices = at(&state, &part).as_object().expect("by name");
                let mut names: Vec<&str> = indices.keys().collect();
                names.sort_unstable();
                assert_eq!(names, wanted, "{target} {part:?}");
            }
        }
        let told = client.bad("GET", "/_cluster/state?expand_wildcards=some", "").await;
        assert!(told.starts_with("400 illegal_argument_exception"), "{told}");
    });
}

/// What the state counts of an index: version, and those of mapping, settings and aliases.
async fn versions(client: &mut Client) -> [u64; 4] {
    let state = client.good("GET", "/_cluster/state/metadata?expand_wildcards=all", "").await;
    let index: &Value = at(&state, &["metadata", "indices", "a"]);
    ["version", "mapping_version", "settings_version", "aliases_version"]
        .map(|key| at(index, &[key]).as_u64().expect("a number"))
}

/// Who closed an index, or opened it, changed nothing that was counted, though a setting came and went; and the
/// version of an index was that of its mapping.
#[test]
fn each_change_of_an_index_is_counted() {
    with_node(|mut client| async move {
        client.good("PUT", "/a", "").await;
        assert_eq!(versions(&mut client).await, [1, 1, 1, 1]);
        let fields = r#"{"properties":{"n":{"type":"long"}}}"#;
        for (method, target, body, counted) in [
            ("PUT", "/a/_mapping", fields, [2, 2, 1, 1]),
            ("PUT", "/a/_settings", r#"{"index.refresh_interval":"5s"}"#, [3, 2, 2, 1]),
            ("PUT", "/a/_alias/x", "", [4, 2, 2, 2]),
            ("POST", "/a/_close", "", [5, 2, 3, 2]),
            ("POST", "/a/_close", "", [5, 2, 3, 2]),
            ("POST", "/a/_open", "", [6, 2, 4, 2]),
            ("PUT", "/a/_settings", r#"{"index.refresh_interval":"5s"}"#, [6, 2, 4, 2]),
            (
                "PUT",
                "/a/_settings?reopen=true",
                r#"{"index.codec":"best_compression"}"#,
                [7, 2, 5, 2],
            ),
        ] {
            client.good(method, target, body).await;
            assert_eq!(versions(&mut client).await, counted, "{method} {target}");
        }
    });
}

/// A list for a text of a family was refused, as was the text of no size with its unit.
#[test]
fn settings_of_the_cluster_are_taken_as_elasticsearch_takes_them() {
    with_node(|mut client| async move {
        let put = |name: &str, value: Value| {
            let mut persistent = json::Object::new();
            persistent.insert(name, value);
            json::to_string(&json!({"persistent": (Value::Object(persistent))}))
        };
        for (name, value) in [
            ("cluster.routing.allocation.exclude._ip", json!(["10.0.0.1", "10.0.*"])),
            ("cluster.routing.allocation.include._name", json!(["a", "b"])),
            ("cluster.indices.validate_ignored_dot_patterns", json!(["\\.a.*"])),
            ("indices.recovery.max_bytes_per_sec", json!("-1b")),
        ] {
            client.good("PUT", "/_cluster/settings", &put(name, value.clone())).await;
            let kept = client.good("GET", "/_cluster/settings?flat_settings", "").await;
            assert_eq!(at(&kept, &["persistent", name]), &value, "{name}");
            client.good("PUT", "/_cluster/settings", &put(name, Value::Null)).await;
        }
        let all = "/_cluster/settings?flat_settings&include_defaults";
        let all = client.good("GET", all, "").await;
        let patterns = at(&all, &["defaults", "cluster.indices.validate_ignored_dot_patterns"]);
        let patterns = patterns.as_array().expect("a list");
        assert_eq!((patterns.len(), patterns[0].as_str()), (9, Some("\\.ml-state-\\d+")));
        let name = "indices.recovery.max_bytes_per_sec";
        for (value, told) in [
            (
                "-2b",
                "failed to parse setting [indices.recovery.max_bytes_per_sec] with value [-2b] as a size in bytes",
            ),
            (
                "-1mb",
                "failed to parse setting [indices.recovery.max_bytes_per_sec] with value [-1mb] as a size in bytes",
            ),
        ] {
            let refused = client.bad("PUT", "/_cluster/settings", &put(name, json!(value))).await;
            assert_eq!(refused, format!("400 illegal_argument_exception: {told}"));
        }
        let wrong = put("cluster.routing.allocation.exclude._ip", json!(["10.0.0.1", "no"]));
        let refused = client.bad("PUT", "/_cluster/settings", &wrong).await;
        let told = "invalid IP address [no] for [cluster.routing.allocation.exclude._ip]";
        assert_eq!(refused, format!("400 illegal_argument_exception: {told}"));
    });
}

/// A list for a text was refused, as was the text of no size with its unit, and any tier and any list of addresses
/// taken.
#[test]
fn settings_of_an_index_are_taken_as_elasticsearch_takes_them() {
    with_node(|mut client| async move {
        let given = r#"{"default_pipeline":["a","b"],"index":{"translog.retention.size":"-1b",
            "query.default_field":["a","b"],"routing.allocation.exclude._ip":["10.0.0.1"]}}"#;
        let wanted = json!({
            "index.default_pipeline": "[a, b]",
            "index.translog.retention.size": "-1",
            "index.query.default_field": ["a", "b"],
            "index.routing.allocation.exclude._ip": ["10.0.0.1"],
        });
        let wanted = wanted.as_object().expect("by name");
        let has = |index: &str, settings: &Value| {
            for (name, value) in wanted.iter() {
                assert_eq!(at(settings, &[index, "settings", name]), value, "{index} {name}");
            }
        };
        let flat = "/_settings?flat_settings";
        // Whichever way they come.
        let whole = format!(r#"{{"settings":{given}}}"#);
        client.good("PUT", "/a", &whole).await;
        client.good("PUT", "/b", "").await;
        client.good("PUT", "/b/_settings", given).await;
        let template = format!(r#"{{"index_patterns":["c"],"template":{whole}}}"#);
        client.good("PUT", "/_index_template/c", &template).await;
        client.good("PUT", "/c", "").await;
        let old = format!(r#"{{"index_patterns":["d"],"settings":{given}}}"#);
        client.good("PUT", "/_template/d", &old).await;
        client.good("PUT", "/d", "").await;
        client.good("PUT", "/_component_template/e", &format!(r#"{{"template":{whole}}}"#)).await;
        client
            .good("PUT", "/_index_template/e", r#"{"index_patterns":["e"],"composed_of":["e"]}"#)
            .await;
        client.good("PUT", "/e", "").await;
        client.good("PUT", "/b/_block/write", "").await;
        client.good("POST", "/b/_clone/f", &whole).await;
        client.good("PUT", "/g-1", r#"{"aliases":{"g":{}}}"#).await;
        client.good("POST", "/g/_rollover/g-2", &whole).await;
        let settings = client.good("GET", flat, "").await;
        ["a", "b", "c", "d", "e", "f", "g-2"].iter().for_each(|index| has(index, &settings));
        let other = template.replace(r#"["c"]"#, r#"["other"]"#);
        let tried = client.good("POST", "/_index_template/_simulate", &other).await;
        let pipeline = ["template", "settings", "index", "default_pipeline"];
        assert_eq!(at(&tried, &pipeline).as_str(), Some("[a, b]"));
        // The pipeline of that name is not there.
        let told = client.bad("PUT", "/a/_doc/1", "{}").await;
        assert!(told.ends_with("pipeline with id [[a, b]] does not exist"), "{told}");
        let ip = r#"{"routing.allocation.exclude._ip":["10.0.0.1","no"]}"#;
        let no_ip = "invalid IP address [no] for [index.routing.allocation.exclude._ip]";
        let tier = r#"{"routing.allocation.include._tier_preference":"data_hot,x"}"#;
        let no_tier = "invalid tier names found in [data_hot,x] allowed values are [data_frozen, data_cold, \
                       data_warm, data_hot, data_content]";
        for (settings, told) in [(ip, no_ip), (tier, no_tier)] {
            let whole = format!(r#"{{"settings":{settings}}}"#);
            let part = format!(r#"{{"template":{whole}}}"#);
            let refused = format!("400 illegal_argument_exception: {told}");
            assert_eq!(client.bad("PUT", "/z", &whole).await, refused);
            assert_eq!(client.bad("PUT", "/a/_settings", settings).await, refused);
            assert_eq!(client.bad("PUT", "/_component_template/z", &part).await, refused);
            assert_eq!(client.bad("POST", "/g/_rollover", &whole).await, refused);
            let template = format!(r#"{{"index_patterns":["z"],"template":{whole}}}"#);
            let refused = client.bad("PUT", "/_index_template/z", &template).await;
            let cause = format!("[Validation Failed: 1: {told};]");
            assert_eq!(
                refused,
                format!(
                    "400 invalid_index_template_exception: index_template [z] invalid, cause {cause}"
                )
            );
        }
    });
}
