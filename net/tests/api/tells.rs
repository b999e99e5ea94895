//! What calls of an administrator tell: of each action, of fields, of bodies that nobody reads.

use json::json;

use crate::place::{at, with_node};

#[test]
fn an_alias_that_is_not_there_is_told_beside_what_was_done() {
    with_node(|mut client| async move {
        client.good("PUT", "/a", "").await;
        let actions = r#"{"actions":[{"remove":{"index":"a","alias":"none"}},
            {"add":{"index":"a","alias":"new"}}]}"#;
        let answer = client.good("POST", "/_aliases", actions).await;
        assert_eq!(at(&answer, &["errors"]).as_bool(), Some(true));
        let results = at(&answer, &["action_results"]).as_array().expect("a list");
        assert_eq!(
            at(&results[0], &["action"]),
            &json!({"type": "remove", "indices": ["a"], "aliases": ["none"]})
        );
        assert_eq!(at(&results[0], &["status"]).as_u64(), Some(404));
        assert_eq!(at(&results[0], &["error", "reason"]).as_str(), Some("aliases [none] missing"));
        assert_eq!(at(&results[1], &["status"]).as_u64(), Some(200));
        let got = client.good("GET", "/_alias/new", "").await;
        assert_eq!(got, json!({"a": {"aliases": {"new": {}}}}));
        // Who says that it need not be there hears of no error.
        let actions = r#"{"actions":[{"remove":{"index":"a","alias":"none","must_exist":false}}]}"#;
        let answer = client.good("POST", "/_aliases", actions).await;
        assert_eq!(answer, json!({"acknowledged": true, "errors": false}));
    });
}

#[test]
fn fields_are_counted_by_what_searches_read_of_them() {
    with_node(|mut client| async move {
        let body = r#"{"mappings":{"properties":{"t":{"type":"text"},"n":{"type":"long"}}}}"#;
        client.good("PUT", "/a", body).await;
        client.good("PUT", "/a/_doc/1?refresh", r#"{"t":"one two","n":1}"#).await;
        for query in [r#"{"query":{"match":{"t":"one"}}}"#, r#"{"size":0,"sort":"n"}"#] {
            client.good("POST", "/a/_search", query).await;
        }
        client.good("POST", "/a/_search", r#"{"query":{"range":{"n":{"gte":5}}}}"#).await;
        let told = client.good("GET", "/a/_field_usage_stats?fields=t,n", "").await;
        let shards = at(&told, &["a", "shards"]).as_array().expect("a list");
        let fields = at(&shards[0], &["stats", "fields"]);
        assert_eq!(at(fields, &["t", "any"]).as_u64(), Some(1));
        assert_eq!(at(fields, &["t", "inverted_index", "postings"]).as_u64(), Some(1));
        assert_eq!(at(fields, &["t", "norms"]).as_u64(), Some(1));
        assert_eq!(at(fields, &["t", "points"]).as_u64(), Some(0));
        assert_eq!(at(fields, &["n", "doc_values"]).as_u64(), Some(1));
        assert_eq!(at(fields, &["n", "points"]).as_u64(), Some(1));
        assert_eq!(at(fields, &["n", "any"]).as_u64(), Some(2));
        // What hits are made of is read, too, and nothing else.
        let bare = r#"{"_source":false,"stored_fields":"_none_","docvalue_fields":["n"]}"#;
        client.good("POST", "/a/_search", bare).await;
        let scripted = r#"{"_source":false,"script_fields":{"m":{"script":"doc['n'].value"}}}"#;
        client.good("POST", "/a/_search", scripted).await;
        let told = client.good("GET", "/a/_field_usage_stats?human", "").await;
        let shards = at(&told, &["a", "shards"]).as_array().expect("a list");
        assert!(shards[0].get("tracking_started_at").is_some());
        let fields = at(&shards[0], &["stats", "fields"]);
        assert_eq!(at(fields, &["n", "doc_values"]).as_u64(), Some(3));
        assert_eq!(at(fields, &["_source", "stored_fields"]).as_u64(), Some(1));
        assert_eq!(at(fields, &["_id", "stored_fields"]).as_u64(), Some(2));
    });
}

#[test]
fn a_body_that_nobody_reads_is_refused() {
    with_node(|mut client| async move {
        client.good("PUT", "/a", "").await;
        for (method, path) in [("POST", "/a/_refresh"), ("DELETE", "/a"), ("GET", "/_cat/health")] {
            assert_eq!(
                client.bad(method, path, r#"{"x":1}"#).await,
                format!(
                    "400 illegal_argument_exception: request [{method} {path}] does not support \
                     having a body"
                )
            );
        }
        client.good("POST", "/a/_refresh", "").await;
    });
}

#[test]
fn conflicts_are_counted_and_finished_tasks_tell_times_for_people() {
    with_node(|mut client| async move {
        client.good("PUT", "/a/_doc/1?refresh", r#"{"n":1}"#).await;
        for _ in 0..2 {
            assert_eq!(client.call("PUT", "/a/_create/1", r#"{"n":1}"#).await.status, 409);
        }
        let told = client.good("GET", "/a/_stats/indexing", "").await;
        let indexing = at(&told, &["_all", "total", "indexing"]);
        for name in ["index_failed", "index_failed_due_to_version_conflict"] {
            assert_eq!(at(indexing, &[name]).as_u64(), Some(2), "{name}");
        }
        let path = "/a/_update_by_query?wait_for_completion=false";
        let begun = client.good("POST", path, "").await;
        let task = at(&begun, &["task"]).as_str().expect("an id").to_owned();
        let path = format!("/_tasks/{task}?wait_for_completion=true");
        let ended = client.good("GET", &path, "").await;
        assert_eq!(at(&ended, &["response", "throttled"]).as_str(), Some("0s"));
        assert_eq!(at(&ended, &["response", "throttled_until"]).as_str(), Some("0s"));
        assert!(at(&ended, &["task", "status"]).get("throttled").is_none());
    });
}

#[test]
fn what_is_explained_and_searched_tells_its_place() {
    with_node(|mut client| async move {
        let body = r#"{"mappings":{"properties":{"t":{"type":"text"}}}}"#;
        client.good("PUT", "/a", body).await;
        client.good("PUT", "/a/_doc/1?refresh", r#"{"t":"one"}"#).await;
        let found = client.good("POST", "/a/_search", r#"{"explain":true}"#).await;
        let hit = &at(&found, &["hits", "hits"]).as_array().expect("hits")[0];
        assert_eq!(at(hit, &["_shard"]).as_str(), Some("[a][0]"));
        assert!(at(hit, &["_node"]).as_str().is_some_and(|node| !node.is_empty()));
        let shards = client.good("GET", "/a/_search_shards", "").await;
        let shard = &at(&shards, &["shards"]).as_array().expect("shards")[0];
        let shard = &shard.as_array().expect("copies")[0];
        assert!(at(shard, &["allocation_id", "id"]).as_str().is_some());
        assert_eq!(at(shard, &["relocation_failure_info", "failed_attempts"]).as_u64(), Some(0));
        // Of a document that is not stored all text is shown.
        let vectors = client.good("POST", "/a/_termvectors", r#"{"doc":{"t":"two two"}}"#).await;
        let freq = at(&vectors, &["term_vectors", "t", "terms", "two", "term_freq"]);
        assert_eq!(freq.as_u64(), Some(2));
    });
}

#[test]
fn a_copy_is_named_alike_everywhere() {
    // Once `_shard_stores` had ids of its own for all shards but the first.
    with_node(|mut client| async move {
        client.good("PUT", "/a", r#"{"settings":{"number_of_shards":3}}"#).await;
        let stores = client.good("GET", "/a/_shard_stores?status=all", "").await;
        let state = client.good("GET", "/_cluster/state/metadata,routing_table/a", "").await;
        for number in ["0", "1", "2"] {
            let stores = at(&stores, &["indices", "a", "shards", number, "stores"]);
            let store = at(&stores.as_array().expect("a list")[0], &["allocation_id"]);
            let sync = at(&state, &["metadata", "indices", "a", "in_sync_allocations", number]);
            assert_eq!(sync.as_array(), Some(std::slice::from_ref(store)), "{number}");
            let copies = at(&state, &["routing_table", "indices", "a", "shards", number]);
            let copy = &copies.as_array().expect("a list")[0];
            assert_eq!(at(copy, &["allocation_id", "id"]), store, "{number}");
        }
    });
}

#[test]
fn versions_of_indices_are_releases() {
    // Once the number of the index version was told as if it were one: 8.536.0.
    with_node(|mut client| async move {
        client.good("PUT", "/a", "").await;
        let stats = client.good("GET", "/_cluster/stats", "").await;
        let versions = at(&stats, &["indices", "versions"]).as_array().expect("a list");
        assert_eq!(at(&versions[0], &["version"]).as_str(), Some("8.19.0"));
    });
}

/// They were green, on a machine with a processor and a disk.
#[test]
fn nodes_that_are_not_there_have_no_colour() {
    with_node(|mut client| async move {
        let body = r#"{"mappings":{"properties":{"t":{"type":"text"}}}}"#;
        client.good("PUT", "/a", body).await;
        let stats = client.good("GET", "/_cluster/stats/nodes/nope", "").await;
        assert_eq!(at(&stats, &["_nodes", "total"]).as_u64(), Some(0));
        assert_eq!(stats.get("status"), None);
        assert_eq!(at(&stats, &["indices", "count"]).as_u64(), Some(0));
        assert_eq!(at(&stats, &["indices", "shards"]), &json!({}));
        // What the mappings hold is the cluster's, whoever is asked.
        let fields = at(&stats, &["indices", "mappings", "total_field_count"]);
        assert_eq!(fields.as_u64(), Some(1));
        let nodes = at(&stats, &["nodes"]);
        for (path, told) in [
            (&["versions"][..], json!([])),
            (&["os", "available_processors"], json!(0)),
            (&["os", "allocated_processors"], json!(0)),
            (&["os", "names"], json!([])),
            (&["os", "pretty_names"], json!([])),
            (&["os", "architectures"], json!([])),
            (&["os", "mem", "total_in_bytes"], json!(0)),
            (&["process"], json!({"cpu": {"percent": 0}})),
            (&["jvm", "max_uptime_in_millis"], json!(0)),
            (&["jvm", "versions"], json!([])),
            (&["jvm", "mem", "heap_max_in_bytes"], json!(0)),
            (&["jvm", "threads"], json!(0)),
            (&["fs"], json!({})),
            (&["network_types"], json!({"transport_types": {}, "http_types": {}})),
            (&["discovery_types"], json!({})),
            (&["packaging_types"], json!([])),
        ] {
            assert_eq!(at(nodes, path), &told, "{path:?}");
        }
        let stats = client.good("GET", "/_cluster/stats/nodes/_all", "").await;
        assert_eq!(at(&stats, &["status"]).as_str(), Some("yellow"));
        assert_eq!(at(&stats, &["nodes", "packaging_types"]).as_array().map(<[_]>::len), Some(1));
    });
}

#[test]
fn the_node_is_described_alike_everywhere() {
    // Once two of three were without versions, and the id of the start was the node's.
    with_node(|mut client| async move {
        client.good("PUT", "/a", "").await;
        let state = client.good("GET", "/_cluster/state/nodes", "").await;
        let shards = client.good("GET", "/a/_search_shards", "").await;
        let stores = client.good("GET", "/a/_shard_stores?status=all", "").await;
        let id = "AAAAAAAAAAAAAAAAAAAAAA";
        let node = at(&state, &["nodes", id]);
        assert_eq!(at(&shards, &["nodes", id]), node);
        assert_eq!(at(node, &["ephemeral_id"]).as_str(), Some("EEEEEEEEEEEEEEEEEEEEEE"));
        let stores = at(&stores, &["indices", "a", "shards", "0", "stores"]);
        let store = at(&stores.as_array().expect("a list")[0], &[id]);
        assert_eq!(store, node);
        for key in ["version", "min_index_version", "max_index_version"] {
            assert!(!at(node, &[key]).is_null(), "{key}");
        }
    });
}
