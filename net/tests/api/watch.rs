//! What tools that watch a cluster read: health reports, figures, parameters wherever they stand.

use json::json;

use crate::place::{Client, at, with_node};

#[test]
fn a_health_report_says_what_follows_and_what_helps() {
    with_node(|mut client| async move {
        let whole = client.good("GET", "/_health_report", "").await;
        let indicator = |of: &json::Value| at(of, &["indicators", "shards_availability"]).clone();
        assert!(indicator(&whole).get("impacts").is_none(), "nothing is wrong: {whole:?}");
        assert!(indicator(&whole).get("diagnosis").is_none());
        for index in ["a", "b", "c"] {
            let body = r#"{"settings":{"number_of_replicas":1}}"#;
            client.good("PUT", &format!("/{index}"), body).await;
        }
        client.good("PUT", "/d", r#"{"settings":{"number_of_replicas":0}}"#).await;
        let report = client.good("GET", "/_health_report?size=2", "").await;
        let shards = indicator(&report);
        assert_eq!(
            at(&shards, &["impacts"]),
            &json!([{
                "id": "elasticsearch:health:shards_availability:impact:replica_unassigned",
                "severity": 2,
                "description": "Searches might be slower than usual. Fewer redundant copies of \
                                the data exist on 3 indices [a, b, c].",
                "impact_areas": ["search"]
            }])
        );
        let diagnosis = &at(&shards, &["diagnosis"]).as_array().expect("a list")[0];
        assert_eq!(
            at(diagnosis, &["id"]).as_str(),
            Some(
                "elasticsearch:health:shards_availability:diagnosis:\
                 increase_node_capacity_for_allocations"
            )
        );
        assert_eq!(
            at(diagnosis, &["affected_resources"]),
            &json!({"indices": ["a", "b"]}),
            "no more than were asked for"
        );
        for key in ["cause", "action", "help_url"] {
            assert!(at(diagnosis, &[key]).as_str().is_some_and(|text| !text.is_empty()), "{key}");
        }
        assert!(at(&report, &["indicators", "disk"]).get("impacts").is_none());
        let short = indicator(&client.good("GET", "/_health_report?verbose=false", "").await);
        assert!(short.get("diagnosis").is_none());
        assert!(short.get("impacts").is_some());

        let most = r#"{"persistent":{"cluster.max_shards_per_node":8}}"#;
        client.good("PUT", "/_cluster/settings", most).await;
        let full = client.good("GET", "/_health_report/shards_capacity", "").await;
        let capacity = at(&full, &["indicators", "shards_capacity"]);
        assert_eq!(
            at(&at(capacity, &["impacts"]).as_array().expect("a list")[0], &["id"]).as_str(),
            Some("elasticsearch:health:shards_capacity:impact:creation_of_new_indices_blocked")
        );
    });
}

#[test]
fn a_data_stream_tells_its_bytes_and_its_newest_document() {
    with_node(|mut client| async move {
        let template = r#"{"index_patterns":["ds*"],"data_stream":{}}"#;
        client.good("PUT", "/_index_template/t", template).await;
        client.good("PUT", "/_data_stream/ds", "").await;
        let empty = client.good("GET", "/_data_stream/_stats", "").await;
        let first =
            |of: &json::Value| at(of, &["data_streams"]).as_array().expect("a list")[0].clone();
        assert_eq!(at(&first(&empty), &["maximum_timestamp"]).as_i64(), Some(0));
        // A replica has no place on one node, and counts.
        assert_eq!(at(&empty, &["_shards"]), &json!({"total": 2, "successful": 1, "failed": 0}));
        for time in ["2020-01-01T00:00:00.123Z", "2019-01-01"] {
            let doc = format!(r#"{{"@timestamp":"{time}"}}"#);
            client.good("POST", "/ds/_doc?refresh", &doc).await;
        }
        let stats = client.good("GET", "/_data_stream/ds/_stats?human", "").await;
        let one = first(&stats);
        assert_eq!(at(&one, &["maximum_timestamp"]).as_i64(), Some(1_577_836_800_123));
        assert_eq!(
            at(&one, &["store_size_bytes"]).as_u64(),
            at(&stats, &["total_store_size_bytes"]).as_u64()
        );
        assert_eq!(at(&one, &["store_size"]).as_str(), at(&stats, &["total_store_size"]).as_str());
        assert!(stats.get("total_store_size_in_bytes").is_none());
    });
}

async fn lists(client: &mut Client, target: &str) -> u16 {
    client.call("GET", target, "").await.status
}

#[test]
fn what_a_path_may_give_the_query_may_give() {
    with_node(|mut client| async move {
        for index in ["m1", "m2"] {
            client.good("PUT", &format!("/{index}/_doc/1?refresh"), r#"{"a":1}"#).await;
        }
        let found = client.good("GET", "/_search?index=m1", "").await;
        assert_eq!(at(&found, &["hits", "total", "value"]).as_u64(), Some(1));
        let found = client.good("GET", "/m1,m2/_search?index=m1", "").await;
        assert_eq!(at(&found, &["hits", "total", "value"]).as_u64(), Some(2), "the path wins");
        let stats = client.good("GET", "/_stats?metric=docs&index=m2", "").await;
        let total = at(&stats, &["indices", "m2", "total"]);
        assert_eq!(total, &json!({"docs": at(total, &["docs"]).clone()}));
        assert!(at(&stats, &["indices"]).get("m1").is_none());
        let set = client.good("GET", "/m1/_settings?name=index.uuid", "").await;
        let index = at(&set, &["m1", "settings", "index"]);
        assert_eq!(index.as_object().map(json::Object::len), Some(1), "{index:?}");
        for target in [
            "/_nodes/stats?metric=http",
            "/_cat/thread_pool?thread_pool_patterns=write",
            "/_cat/indices?index=m1",
            "/_cluster/health?index=m1",
        ] {
            assert_eq!(lists(&mut client, target).await, 200, "{target}");
        }
        assert_eq!(lists(&mut client, "/_search?index=none").await, 404);
        assert_eq!(lists(&mut client, "/_cat/health?index=m1").await, 400);
    });
}

#[test]
fn a_body_may_stand_in_the_query() {
    with_node(|mut client| async move {
        client.good("PUT", "/m1/_doc/1?refresh", r#"{"a":1}"#).await;
        client.good("PUT", "/m1/_doc/2?refresh", r#"{"a":2}"#).await;
        let as_json = "source_content_type=application%2Fjson&source=";
        let two = "%7B%22query%22%3A%7B%22term%22%3A%7B%22a%22%3A2%7D%7D%7D";
        let target = format!("/m1/_update_by_query?refresh&{as_json}{two}");
        let done = client.good("POST", &target, "").await;
        assert_eq!(at(&done, &["updated"]).as_u64(), Some(1));
        let target = format!("/m1/_delete_by_query?refresh&{as_json}{two}");
        let done = client.good("POST", &target, "").await;
        assert_eq!(at(&done, &["deleted"]).as_u64(), Some(1));
        let filter = "%7B%22index_filter%22%3A%7B%22match_none%22%3A%7B%7D%7D%7D";
        let caps =
            client.good("GET", &format!("/m1/_field_caps?fields=a&{as_json}{filter}"), "").await;
        assert_eq!(at(&caps, &["indices"]), &json!([]));
        let script = "%7B%22script%22%3A%7B%22source%22%3A%221%2B1%22%7D%7D";
        let target = format!("/_scripts/painless/_execute?{as_json}{script}");
        let made = client.good("GET", &target, "").await;
        assert_eq!(at(&made, &["result"]).as_str(), Some("2"));
        let pit = client.good("POST", "/m1/_pit?keep_alive=1m", "").await;
        let id = at(&pit, &["id"]).as_str().expect("an id").to_owned();
        let target = format!("/_pit?{as_json}%7B%22id%22%3A%22{id}%22%7D");
        let closed = client.good("DELETE", &target, "").await;
        assert_eq!(at(&closed, &["num_freed"]).as_u64(), Some(1));
        client.good("POST", &format!("/_cluster/reroute?{as_json}%7B%7D"), "").await;
        let asked = "%7B%22index%22%3A%22m1%22%2C%22shard%22%3A0%2C%22primary%22%3Atrue%7D";
        let target = format!("/_cluster/allocation/explain?{as_json}{asked}");
        let told = client.good("GET", &target, "").await;
        assert_eq!(told.get("note"), None, "the shard was named");
    });
}

#[test]
fn a_name_with_a_comma_is_one_name() {
    with_node(|mut client| async move {
        client.good("PUT", "/m1", "").await;
        client.good("PUT", "/m2", "").await;
        for (action, told) in [
            (
                r#"{"add":{"index":"m1","alias":"q1,q2"}}"#,
                "400 invalid_alias_name_exception: Invalid alias name [q1,q2]",
            ),
            (
                r#"{"add":{"index":"m1","aliases":"q4,q5"}}"#,
                "400 invalid_alias_name_exception: Invalid alias name [q4,q5]",
            ),
            (
                r#"{"add":{"index":"m1,m2","alias":"q"}}"#,
                "404 index_not_found_exception: no such index [m1,m2]",
            ),
        ] {
            let body = format!(r#"{{"actions":[{action}]}}"#);
            let found = client.bad("POST", "/_aliases", &body).await;
            assert!(found.starts_with(told), "{found}");
        }
        let both = r#"{"actions":[{"add":{"indices":["m1","m2"],"aliases":["q1","q2"]}}]}"#;
        client.good("POST", "/_aliases", both).await;
        assert_eq!(
            client.good("GET", "/_alias", "").await,
            json!({"m1": {"aliases": {"q1": {}, "q2": {}}}, "m2": {"aliases": {"q1": {}, "q2": {}}}})
        );
    });
}

#[test]
fn what_searches_ask_is_counted() {
    with_node(|mut client| async move {
        let shape = r#"{"settings":{"number_of_shards":2},"mappings":{"properties":{
            "n":{"type":"long"},"k":{"type":"keyword"}}}}"#;
        client.good("PUT", "/m", shape).await;
        client.good("PUT", "/twin", shape).await;
        for id in 0..8 {
            client.good("PUT", &format!("/m/_doc/{id}?refresh"), r#"{"n":1,"k":"a"}"#).await;
        }
        let body = r#"{"size":0,"query":{"bool":{"filter":{"term":{"k":"a"}}}},"aggs":{
            "by":{"terms":{"field":"k"},"aggs":{"mean":{"avg":{"field":"n"}}}},
            "some":{"filter":{"match_all":{}}}}}"#;
        client.good("POST", "/m/_search", body).await;
        let usage = client.good("GET", "/_nodes/usage/aggregations", "").await;
        let nodes = at(&usage, &["nodes"]).as_object().expect("an object");
        let node = nodes.values().next().expect("a node");
        assert_eq!(
            at(node, &["aggregations"]),
            &json!({"avg": {"numeric": 2}, "filter": {"other": 2}, "terms": {"keyword": 2}}),
            "once a shard"
        );
        let info = client.good("GET", "/_nodes/aggregations", "").await;
        let nodes = at(&info, &["nodes"]).as_object().expect("an object");
        let known = at(nodes.values().next().expect("a node"), &["aggregations"]);
        assert_eq!(at(known, &["avg"]), &json!({"types": ["boolean", "date", "numeric"]}));
        assert!(known.get("avg_bucket").is_none(), "it reads no values");

        let stats = client.good("GET", "/_cluster/stats", "").await;
        assert_eq!(
            at(&stats, &["indices", "search"]),
            &json!({
                "total": 1,
                "queries": {"bool": 1, "term": 1},
                "rescorers": {},
                "sections": {"aggs": 1, "query": 1},
                "retrievers": {}
            })
        );
        let mappings = at(&stats, &["indices", "mappings"]);
        let count = |key: &str| at(mappings, &[key]).as_u64().expect("a number");
        assert_eq!((count("total_field_count"), count("total_deduplicated_field_count")), (4, 2));
        assert!(count("total_deduplicated_mapping_size_in_bytes") > 0);
        assert_eq!(at(&stats, &["ccs", "_search", "total"]).as_u64(), Some(0));
        assert!(stats.get("nodes").and_then(|nodes| nodes.get("indexing_pressure")).is_some());
    });
}

#[test]
fn sections_of_figures_are_there() {
    with_node(|mut client| async move {
        client.good("PUT", "/m", r#"{"mappings":{"properties":{"n":{"type":"long"}}}}"#).await;
        let stats = client.good("GET", "/m/_stats", "").await;
        let total = at(&stats, &["_all", "total"]);
        assert!(at(total, &["indexing", "write_load"]).as_f64().is_some());
        assert_eq!(at(total, &["sparse_vector"]), &json!({"value_count": 0}));
        assert!(total.get("mappings").is_none(), "they are the node's");
        let stats = client.good("GET", "/_stats/sparse_vector", "").await;
        assert_eq!(at(&stats, &["_all", "total"]), &json!({"sparse_vector": {"value_count": 0}}));
        client.good("GET", "/_stats/mappings", "").await;
        let stats = client.good("GET", "/_nodes/stats/indices/mappings", "").await;
        let nodes = at(&stats, &["nodes"]).as_object().expect("an object");
        let indices = at(nodes.values().next().expect("a node"), &["indices"]);
        assert_eq!(
            indices,
            &json!({"mappings": {"total_count": 1, "total_estimated_overhead_in_bytes": 1024}})
        );
    });
}

/// Rows of the table of errors (`tools/conform`) that no other test here asks.
#[test]
fn what_is_wrong_is_told_in_elasticsearchs_words() {
    with_node(|mut client| async move {
        client.good("PUT", "/a", "").await;
        let template = r#"{"index_patterns":["tt*"],"data_stream":{}}"#;
        client.good("PUT", "/_index_template/there", template).await;
        client.good("PUT", "/_data_stream/tt", "").await;
        for (method, target, body, told) in [
            (
                "GET",
                "/_index_template/there,nope",
                "",
                "404 resource_not_found_exception: index template matching [there,nope] not found",
            ),
            (
                "PUT",
                "/_index_template/t1",
                r#"{"index_patterns":["x*"],"priority":"x"}"#,
                "400 x_content_parse_exception: [1:37] [index_template] failed to parse field \
                 [priority]",
            ),
            (
                "PUT",
                "/_index_template/t1",
                r#"{"index_patterns":["x*"],"template":{"settings":{"number_of_shards":"x"}}}"#,
                "400 invalid_index_template_exception: index_template [t1] invalid, cause \
                 [Validation Failed: 1: Failed to parse value [x] for setting \
                 [index.number_of_shards];]",
            ),
            (
                "PUT",
                "/_component_template/x",
                r#"{"template":{"foo":1}}"#,
                "400 x_content_parse_exception: [1:20] [component_template] failed to parse field \
                 [template]",
            ),
            (
                "PUT",
                "/_data_stream/ds-*",
                "",
                "400 illegal_argument_exception: data_stream [ds-*] must not contain the following \
                 characters ",
            ),
            (
                "PUT",
                "/_data_stream/_x",
                "",
                "400 illegal_argument_exception: data_stream [_x] must not start with '_', '-', or '+'",
            ),
            (
                "POST",
                "/_data_stream/_modify",
                r#"{"actions":[{"foo":{}}]}"#,
                "400 x_content_parse_exception: [1:14] [data_stream_action] unknown field [foo]",
            ),
            (
                "POST",
                "/_data_stream/_modify",
                r#"{"actions":[{"add_backing_index":{"data_stream":"tt","index":"nope"}}]}"#,
                "400 illegal_argument_exception: index [nope] not found",
            ),
            (
                "PUT",
                "/zz",
                r#"{"settings":{"number_of_shards":2,"number_of_routing_shards":1}}"#,
                "400 illegal_argument_exception: index.number_of_routing_shards [1] must be >= \
                 index.number_of_shards [2]",
            ),
            (
                "PUT",
                "/zz",
                r#"{"settings":{"refresh_interval":"-1s"}}"#,
                "400 illegal_argument_exception: failed to parse value [-1s] for setting \
                 [index.refresh_interval], must be >= [-1]",
            ),
            (
                "PUT",
                "/a/_mapping",
                r#"{"_meta":5}"#,
                "400 mapper_parsing_exception: [_meta] must be an object",
            ),
        ] {
            let found = client.bad(method, target, body).await;
            assert!(found.starts_with(told), "{method} {target}: {found}");
        }
    });
}

/// A block that somebody set by hand was told as a full disk, with a node beyond its flood stage.
#[test]
fn a_block_by_hand_is_no_full_disk() {
    with_node(|mut client| async move {
        client.good("PUT", "/b", "").await;
        client.good("PUT", "/b/_settings", r#"{"index.blocks.read_only_allow_delete":true}"#).await;
        let report = client.good("GET", "/_health_report/disk", "").await;
        let disk = at(&report, &["indicators", "disk"]);
        assert_eq!(at(disk, &["status"]).as_str(), Some("red"));
        assert_eq!(at(disk, &["symptom"]).as_str(), Some("1 index is not allowed to be updated."));
        let figure = |name: &str| at(disk, &["details", name]).as_u64();
        let figures = [
            "nodes_with_enough_disk_space",
            "nodes_over_flood_stage_watermark",
            "indices_with_readonly_block",
        ];
        assert_eq!(figures.map(figure), [Some(1), Some(0), Some(1)]);
        let diagnosis = json::to_string(at(disk, &["diagnosis"]));
        assert!(diagnosis.contains("read_only_allow_delete"), "{diagnosis}");
        assert!(!diagnosis.contains("run out of space"), "{diagnosis}");
    });
}
