//! `_xpack` and `_xpack/usage`: what Elastic's clients must find in them.

use json::{Value, json};

use crate::browser::basic;
use crate::place::{at, with_node, with_security};

/// What the client for Java 8.19 cannot do without, beside the two flags of each.
const NEEDED: [(&str, &[&str]); 20] = [
    ("aggregate_metric", &[]),
    ("analytics", &["stats.boxplot_usage", "stats.t_test_usage", "stats.rate_usage"]),
    ("archive", &["indices_count"]),
    ("ccr", &["auto_follow_patterns_count", "follower_indices_count"]),
    ("data_tiers", &["data_hot.node_count", "data_warm.doc_count", "data_cold.index_count"]),
    ("eql", &["features.join", "features.joins.join_until", "features.keys", "queries"]),
    ("frozen_indices", &["indices_count"]),
    ("graph", &[]),
    ("ilm", &["policy_count", "policy_stats"]),
    ("logstash", &[]),
    ("ml", &["datafeeds", "jobs", "node_count", "data_frame_analytics_jobs._all.count"]),
    ("monitoring", &["collection_enabled", "enabled_exporters"]),
    ("rollup", &[]),
    ("searchable_snapshots", &["indices_count"]),
    ("slm", &[]),
    ("spatial", &[]),
    ("sql", &["features", "queries"]),
    ("transform", &[]),
    ("voting_only", &[]),
    ("watcher", &["execution.actions", "watch.input", "watch.trigger._all.total", "count.active"]),
];

/// The client could read neither answer: each lacked members that it takes for granted.
#[test]
fn what_clients_take_for_granted_is_there() {
    with_node(|mut client| async move {
        let info = client.good("GET", "/_xpack", "").await;
        assert_eq!(
            at(&info, &["features", "universal_profiling"]),
            &json!({"available": false, "enabled": false})
        );
        let never = at(&info, &["license", "expiry_date_in_millis"]);
        assert_eq!(never.as_u64(), Some(9_223_372_005_318_775_807));
        let usage = client.good("GET", "/_xpack/usage", "").await;
        for (feature, needed) in NEEDED {
            for path in ["available", "enabled"].iter().chain(needed) {
                let path: Vec<&str> = std::iter::once(feature).chain(path.split('.')).collect();
                assert!(usage.at(&path).is_some(), "{path:?}");
            }
        }
        assert_eq!(at(&usage, &["security", "enabled"]), &json!(false));
        let told = client.good("GET", "/_xpack/usage?human", "").await;
        assert_eq!(at(&told, &["data_tiers", "data_hot", "total_size"]), &json!("0b"));
        assert_eq!(at(&usage, &["security", "token_service", "enabled"]), &json!(false));
    });
}

/// What is counted is counted.
#[test]
fn figures_of_features_are_measured() {
    with_security(|mut client| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        let usage = client.good("GET", "/_xpack/usage", "").await;
        let figure = |usage: &Value, path: &str| {
            let path: Vec<&str> = path.split('.').collect();
            at(usage, &path).clone()
        };
        let paths = [
            "data_streams.data_streams",
            "data_streams.indices_count",
            "analytics.stats.boxplot_usage",
            "security.roles.native.size",
            "security.role_mapping.native.enabled",
        ];
        for path in paths {
            assert_eq!(figure(&usage, path), json!(0), "{path}");
        }
        assert_eq!(figure(&usage, "security.realms.native.size"), json!([0]));
        let template = r#"{"index_patterns":["ds"],"data_stream":{}}"#;
        client.good("PUT", "/_index_template/t", template).await;
        client.good("PUT", "/_data_stream/ds", "").await;
        client.good("POST", "/ds/_rollover", "").await;
        // Of those that read other aggregations none was counted, and the others once for each shard.
        let search = r#"{"size":0,"aggs":{
            "b":{"boxplot":{"field":"n"}},
            "h":{"histogram":{"field":"n","interval":1},"aggs":{
                "n":{"normalize":{"buckets_path":"_count","method":"percent_of_sum"}},
                "m":{"boxplot":{"field":"n"}},
                "c":{"cardinality":{"field":"n"}},
                "s":{"cumulative_cardinality":{"buckets_path":"c"}}}}}}"#;
        client.good("POST", "/ds/_search", search).await;
        let nodes = client.good("GET", "/_nodes/usage/aggregations", "").await;
        let node = at(&nodes, &["nodes"]).as_object().expect("by id").iter().next();
        let read = at(node.expect("one").1, &["aggregations"]).as_object().expect("by name");
        assert_eq!(read.keys().collect::<Vec<_>>(), ["boxplot", "cardinality", "histogram"]);
        let role =
            r#"{"indices":[{"names":["a"],"privileges":["read"],"query":"{\"match_all\":{}}"}]}"#;
        client.good("PUT", "/_security/role/r", role).await;
        let user = r#"{"password":"ann-knows-this","roles":["r"]}"#;
        client.good("PUT", "/_security/user/ann", user).await;
        for (name, enabled) in [("m", true), ("n", false)] {
            let rules = json!({"field": {"username": "x"}});
            let mapping = json!({"roles": ["r"], "enabled": enabled, "rules": rules});
            let target = format!("/_security/role_mapping/{name}");
            client.good("PUT", &target, &json::to_string(&mapping)).await;
        }
        let usage = client.good("GET", "/_xpack/usage", "").await;
        for (path, value) in [
            ("data_streams.data_streams", json!(1)),
            ("data_streams.indices_count", json!(2)),
            ("analytics.stats.boxplot_usage", json!(2)),
            ("analytics.stats.normalize_usage", json!(1)),
            ("analytics.stats.cumulative_cardinality_usage", json!(1)),
            ("analytics.stats.moving_percentiles_usage", json!(0)),
            ("security.enabled", json!(true)),
            ("security.realms.native.size", json!([1])),
            ("security.roles.native", json!({"size": 1, "fls": false, "dls": true})),
            ("security.role_mapping.native", json!({"size": 2, "enabled": 1})),
            ("security.audit.enabled", json!(false)),
        ] {
            assert_eq!(figure(&usage, path), value, "{path}");
        }
    });
}
