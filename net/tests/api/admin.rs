//! Administration: aliases, settings, blocks, templates, data streams, indices made of others.

use json::{Value, json};

use crate::place::{Client, at, value, with_clients, with_node};

async fn count(client: &mut Client, target: &str) -> u64 {
    let answer = client.good("GET", &format!("/{target}/_count"), "").await;
    at(&answer, &["count"]).as_u64().expect("a count")
}

#[test]
fn an_alias_filters_routes_and_moves_in_one_change() {
    with_node(|mut client| async move {
        let body = r#"{"settings":{"number_of_shards":4},"mappings":{"properties":{"k":{"type":"keyword"}}}}"#;
        client.good("PUT", "/a", body).await;
        client.good("PUT", "/b", body).await;
        let actions = r#"{"actions":[
            {"add":{"index":"a","alias":"mine","filter":{"term":{"k":"x"}},"routing":"7"}},
            {"add":{"indices":["a","b"],"alias":"both"}},
            {"add":{"index":"b","alias":"w","is_write_index":true}}]}"#;
        client.good("POST", "/_aliases", actions).await;
        client.good("PUT", "/mine/_doc/1?refresh", r#"{"k":"x"}"#).await;
        client.good("PUT", "/mine/_doc/2?refresh", r#"{"k":"y"}"#).await;
        client.good("PUT", "/w/_doc/3?refresh", r#"{"k":"x"}"#).await;
        assert_eq!(count(&mut client, "mine").await, 1, "what the filter hides is not counted");
        assert_eq!(count(&mut client, "both").await, 3);
        let got = client.good("GET", "/a/_doc/1?routing=7", "").await;
        assert_eq!(at(&got, &["_routing"]).as_str(), Some("7"), "written by the alias's routing");
        assert_eq!(client.call("GET", "/mine/_doc/1", "").await.status, 200);
        let told = client.bad("PUT", "/mine/_doc/1?routing=8", r#"{"k":"x"}"#).await;
        assert!(told.contains("Alias [mine] has index routing associated with it [7]"), "{told}");
        let told = client.bad("PUT", "/both/_doc/9", "{}").await;
        assert!(told.contains("no write index is defined for alias [both]"), "{told}");

        let swap = r#"{"actions":[{"remove_index":{"index":"a"}},
            {"add":{"index":"b","alias":"a"}}]}"#;
        let twice = r#"{"actions":[{"remove":{"index":"a","alias":"both"}},{"remove_index":{"index":"a"}}]}"#;
        assert_eq!(
            client.bad("POST", "/_aliases", twice).await,
            "404 index_not_found_exception: no such index [a]",
            "indices go first, as on Elasticsearch"
        );
        client.good("POST", "/_aliases", swap).await;
        let got = client.good("GET", "/_alias", "").await;
        assert_eq!(
            got,
            json!({"b": {"aliases": {"a": {}, "both": {}, "w": {"is_write_index": true}}}})
        );
        let answer = client.call("GET", "/b/_alias/w,none", "").await;
        assert_eq!(answer.status, 404);
        assert_eq!(
            client.bad("DELETE", "/b/_alias/none", "").await,
            "404 aliases_not_found_exception: aliases [none] missing"
        );
        assert_eq!(
            client.bad("DELETE", "/both", "").await,
            "400 illegal_argument_exception: The provided expression [both] matches an alias, \
             specify the corresponding concrete indices instead."
        );
    });
}

#[test]
fn blocks_refuse_what_they_name() {
    with_node(|mut client| async move {
        client.good("PUT", "/t", "").await;
        client.good("PUT", "/t/_doc/1?refresh", r#"{"a":1}"#).await;
        let write =
            "403 cluster_block_exception: index [t] blocked by: [FORBIDDEN/8/index write (api)];";
        let blocked = client.good("PUT", "/t/_block/write", "").await;
        assert_eq!(at(&blocked, &["indices"]), &json!([{"name": "t", "blocked": true}]));
        assert_eq!(client.bad("PUT", "/t/_doc/2", "{}").await, write);
        assert_eq!(count(&mut client, "t").await, 1, "reading is not refused");
        client.good("PUT", "/t/_settings", r#"{"index.blocks.write":null}"#).await;
        client.good("PUT", "/t/_doc/2?refresh", "{}").await;

        client.good("PUT", "/t/_settings", r#"{"index.blocks.read":true}"#).await;
        for (method, target) in [("GET", "/t/_search"), ("GET", "/t/_count"), ("GET", "/t/_doc/1")]
        {
            let told = client.bad(method, target, "").await;
            assert!(told.contains("FORBIDDEN/7/index read (api)"), "{target}: {told}");
        }
        client.good("PUT", "/t/_settings", r#"{"index.blocks.read":false}"#).await;

        client.good("PUT", "/t/_settings", r#"{"index.blocks.read_only":true}"#).await;
        for (method, target, body) in [
            ("PUT", "/t/_mapping", r#"{"properties":{"z":{"type":"long"}}}"#),
            ("PUT", "/t/_settings", r#"{"refresh_interval":"5s"}"#),
            ("PUT", "/t/_alias/al", ""),
            ("POST", "/t/_close", ""),
            ("POST", "/t/_forcemerge", ""),
            ("DELETE", "/t", ""),
        ] {
            let told = client.bad(method, target, body).await;
            assert!(told.contains("FORBIDDEN/5/index read-only (api)"), "{target}: {told}");
        }
        client.good("PUT", "/t/_settings", r#"{"index.blocks.read_only":null}"#).await;

        client.good("PUT", "/t/_settings", r#"{"index.blocks.read_only_allow_delete":true}"#).await;
        let told = client.bad("PUT", "/t/_doc/3", "{}").await;
        assert!(told.starts_with("429 cluster_block_exception"), "{told}");
        client.good("DELETE", "/t", "").await;
    });
}

#[test]
fn a_closed_index_keeps_its_documents_and_serves_nobody() {
    with_node(|mut client| async move {
        client.good("PUT", "/t", r#"{"settings":{"number_of_replicas":0}}"#).await;
        client.good("PUT", "/t/_doc/1?refresh", r#"{"a":1}"#).await;
        let told = client.bad("PUT", "/t/_settings", r#"{"index.mapping.coerce":false}"#).await;
        assert!(told.contains("Can't update non dynamic settings"), "{told}");
        let closed = client.good("POST", "/t/_close", "").await;
        assert_eq!(at(&closed, &["indices"]), &json!({"t": {"closed": true}}));
        for target in ["/t/_search", "/t/_doc/1", "/t/_stats"] {
            let told = client.bad("GET", target, "").await;
            assert_eq!(told, "400 index_closed_exception: closed", "{target}");
        }
        assert_eq!(count(&mut client, "t*").await, 0, "a wildcard passes it over");
        client.good("PUT", "/t/_settings", r#"{"index.mapping.coerce":false}"#).await;
        client.good("POST", "/t/_open", "").await;
        assert_eq!(count(&mut client, "t").await, 1);
        client.good("PUT", "/t/_settings?reopen=true", r#"{"index.mapping.coerce":true}"#).await;
        assert_eq!(count(&mut client, "t").await, 1);
        let got = client.good("GET", "/t/_settings/index.mapping.coerce?flat_settings", "").await;
        assert_eq!(at(&got, &["t", "settings"]), &json!({"index.mapping.coerce": "true"}));
    });
}

#[test]
fn templates_shape_what_a_first_document_makes() {
    with_node(|mut client| async move {
        let component = r#"{"template":{"mappings":{"properties":{"z":{"type":"keyword"},"a":{"type":"keyword"}}}}}"#;
        client.good("PUT", "/_component_template/c", component).await;
        let template = r#"{"index_patterns":["x*"],"composed_of":["c"],"priority":3,"template":{
            "settings":{"number_of_replicas":0},"aliases":{"al":{}},
            "mappings":{"properties":{"z":{"type":"long"}}}}}"#;
        client.good("PUT", "/_index_template/t", template).await;
        client.good("PUT", "/x1/_doc/1", r#"{"z":5,"a":"b"}"#).await;
        let got = client.good("GET", "/x1", "").await;
        let properties = at(&got, &["x1", "mappings", "properties"]);
        assert_eq!(properties, &json!({"a": {"type": "keyword"}, "z": {"type": "long"}}));
        assert_eq!(at(&got, &["x1", "aliases"]), &json!({"al": {}}));
        let tried = client.good("POST", "/_index_template/_simulate_index/x7", "").await;
        assert_eq!(at(&tried, &["template", "mappings", "properties"]), properties);
        assert_eq!(
            client.good("POST", "/_index_template/_simulate_index/none", "").await,
            json!({})
        );
        let refused = r#"{"index_patterns":["y*"],"allow_auto_create":false}"#;
        client.good("PUT", "/_index_template/no", refused).await;
        assert_eq!(
            client.bad("PUT", "/y1/_doc/1", "{}").await,
            "404 index_not_found_exception: no such index [y1] and composable template [y*] \
             forbids index auto creation"
        );
        let told = client.bad("DELETE", "/_component_template/c", "").await;
        assert!(told.contains("still in use by index templates [t]"), "{told}");
        for (body, told) in [
            (
                r#"{"foo":1}"#,
                "400 x_content_parse_exception: [1:2] [index_template] unknown field [foo]",
            ),
            ("{}", "400 illegal_argument_exception: Required [index_patterns]"),
        ] {
            assert_eq!(client.bad("PUT", "/_index_template/bad", body).await, told);
        }
    });
}

#[test]
fn a_data_stream_grows_by_its_last_index() {
    with_node(|mut client| async move {
        let template = r#"{"index_patterns":["logs*"],"data_stream":{}}"#;
        client.good("PUT", "/_index_template/t", template).await;
        client.good("POST", "/logs-a/_doc?refresh", r#"{"@timestamp":1,"a":1}"#).await;
        let told = client.bad("PUT", "/logs-a/_doc/1", r#"{"@timestamp":1}"#).await;
        assert!(told.contains("only write ops with an op_type of create"), "{told}");
        let told = client.bad("POST", "/logs-a/_doc", r#"{"a":1}"#).await;
        assert!(told.contains("data stream timestamp field [@timestamp] is missing"), "{told}");
        let rolled = client.good("POST", "/logs-a/_rollover", "").await;
        assert_eq!(at(&rolled, &["rolled_over"]).as_bool(), Some(true));
        client.good("POST", "/logs-a/_doc?refresh", r#"{"@timestamp":2,"a":2}"#).await;
        assert_eq!(count(&mut client, "logs-a").await, 2);
        assert_eq!(count(&mut client, "*").await, 2, "once, by the stream's name");
        let got = client.good("GET", "/_data_stream/logs*", "").await;
        let stream = &at(&got, &["data_streams"]).as_array().expect("a list")[0];
        assert_eq!(at(stream, &["generation"]).as_u64(), Some(2));
        let newest = at(stream, &["indices"]).as_array().expect("a list")[1].clone();
        let newest = at(&newest, &["index_name"]).as_str().expect("a name").to_owned();
        let told = client.bad("DELETE", &format!("/{newest}"), "").await;
        assert!(told.contains("is the write index for data stream [logs-a]"), "{told}");
        client.good("DELETE", "/_data_stream/logs-a", "").await;
        assert_eq!(client.good("GET", "/_all?expand_wildcards=all", "").await, json!({}));
    });
}

/// A pattern deleted what the same pattern does not show.
#[test]
fn a_pattern_deletes_no_hidden_data_stream() {
    with_node(|mut client| async move {
        let template = r#"{"index_patterns":["hds*"],"data_stream":{"hidden":true}}"#;
        client.good("PUT", "/_index_template/hd", template).await;
        client.good("PUT", "/_data_stream/hds1", "").await;
        for target in ["/_data_stream/hds*", "/_data_stream/*"] {
            client.good("DELETE", target, "").await;
        }
        client.good("GET", "/_data_stream/hds1", "").await;
        client.good("DELETE", "/_data_stream/hds*?expand_wildcards=all", "").await;
        client.bad("GET", "/_data_stream/hds1", "").await;
    });
}

/// `DELETE /_data_stream/*,-keep-*` took all of them.
#[test]
fn streams_that_are_excluded_stay() {
    with_node(|mut client| async move {
        let template = r#"{"index_patterns":["ex-*","kp-*"],"data_stream":{}}"#;
        client.good("PUT", "/_index_template/streams", template).await;
        for name in ["ex-a", "ex-b", "kp-1"] {
            client.good("PUT", &format!("/_data_stream/{name}"), "").await;
        }
        client.good("PUT", "/plain", "").await;
        let mut names = async |expression: &str| -> Vec<String> {
            let got = client.good("GET", &format!("/_data_stream/{expression}"), "").await;
            let streams = at(&got, &["data_streams"]).as_array().expect("a list").to_vec();
            let name = |stream: &Value| at(stream, &["name"]).as_str().expect("a name").to_owned();
            streams.iter().map(name).collect()
        };
        assert_eq!(names("*,-*").await, Vec::<String>::new());
        assert_eq!(names("*,-kp-*").await, ["ex-a", "ex-b"]);
        assert_eq!(names("ex-*,-ex-a").await, ["ex-b"]);
        assert_eq!(names("*,-kp-1,kp-1").await, ["ex-a", "ex-b", "kp-1"]);
        assert_eq!(names("plain").await, Vec::<String>::new());
        let told = client.bad("DELETE", "/_data_stream/plain", "").await;
        assert!(told.contains("data streams [plain] not found"), "{told}");
        client.good("DELETE", "/_data_stream/*,-kp-*", "").await;
        let got = client.good("GET", "/_data_stream", "").await;
        assert_eq!(at(&got, &["data_streams"]).as_array().map(<[Value]>::len), Some(1));
    });
}

#[test]
fn documents_find_their_shards_when_an_index_is_made_of_another() {
    with_node(|mut client| async move {
        let body = r#"{"settings":{"number_of_shards":4,"number_of_replicas":0}}"#;
        client.good("PUT", "/t", body).await;
        let mut bulk = String::new();
        for id in 0..40 {
            bulk.push_str(&format!("{{\"index\":{{\"_id\":\"{id}\"}}}}\n{{\"n\":{id}}}\n"));
        }
        bulk.push_str("{\"index\":{\"_id\":\"r\",\"routing\":\"far\"}}\n{\"n\":99}\n");
        bulk.push_str("{\"delete\":{\"_id\":\"7\"}}\n");
        client.good("POST", "/t/_bulk?refresh", &bulk).await;
        client.good("PUT", "/t/_doc/3", r#"{"n":333}"#).await;
        let told = client.bad("POST", "/t/_clone/c", "").await;
        assert!(told.starts_with("500 illegal_state_exception"), "{told}");
        // Once the source was found wrong first, whatever was to be made of it.
        let whole = r#"{"settings":{"number_of_shards":8}}"#;
        let sorted = r#"{"settings":{"sort.field":"n","number_of_shards":8}}"#;
        for (target, body, told) in [
            ("_split/Xy", whole, "400 invalid_index_name_exception: Invalid index name [Xy]"),
            ("_shrink/_x", "", "400 invalid_index_name_exception: Invalid index name [_x]"),
            ("_clone/t", "", "400 resource_already_exists_exception: index [t/"),
            (
                "_split/Xy",
                sorted,
                "400 action_request_validation_exception: Validation Failed: 1: can't",
            ),
            (
                "_shrink/_x",
                r#"{"settings":{"number_of_shards":3}}"#,
                "400 illegal_argument_exception",
            ),
        ] {
            let refused = client.bad("POST", &format!("/t/{target}"), body).await;
            assert!(refused.starts_with(told), "{target}: {refused}");
        }
        client.good("PUT", "/t/_settings", r#"{"index.blocks.write":true}"#).await;
        for (what, target, shards) in [("_clone", "c", 4), ("_shrink", "s", 2), ("_split", "p", 8)]
        {
            let body = format!(
                r#"{{"settings":{{"index.number_of_shards":{shards},"index.blocks.write":null}}}}"#
            );
            client.good("POST", &format!("/t/{what}/{target}"), &body).await;
            assert_eq!(count(&mut client, target).await, 40, "{what}");
            // Each is found by its id, so it lies where the new index looks for it.
            for id in (0..40).filter(|id| *id != 7) {
                let found = client.good("GET", &format!("/{target}/_doc/{id}"), "").await;
                let wanted = if id == 3 { 2 } else { 1 };
                assert_eq!(at(&found, &["_version"]).as_u64(), Some(wanted), "{what} {id}");
            }
            client.good("GET", &format!("/{target}/_doc/r?routing=far"), "").await;
            client.good("PUT", &format!("/{target}/_doc/new"), "{}").await;
        }
        let told =
            client.bad("POST", "/t/_shrink/x", r#"{"settings":{"number_of_shards":3}}"#).await;
        assert!(
            told.contains("the number of source shards [4] must be a multiple of [3]"),
            "{told}"
        );
        let told = client.bad("POST", "/t/_split/x", "").await;
        assert!(told.contains("index.number_of_shards is required for split operations"), "{told}");
    });
}

#[test]
fn a_rollover_hands_the_writes_over() {
    with_node(|mut client| async move {
        client.good("PUT", "/l-1", r#"{"aliases":{"l":{"is_write_index":true}}}"#).await;
        client.good("PUT", "/l/_doc/1?refresh", r#"{"a":1}"#).await;
        let body = r#"{"conditions":{"max_docs":2}}"#;
        let waits = client.good("POST", "/l/_rollover", body).await;
        assert_eq!(at(&waits, &["rolled_over"]).as_bool(), Some(false));
        let dry = client.good("POST", "/l/_rollover?dry_run", "").await;
        assert_eq!(at(&dry, &["new_index"]).as_str(), Some("l-000002"));
        assert_eq!(client.call("HEAD", "/l-000002", "").await.status, 404);
        client.good("PUT", "/l/_doc/2?refresh", r#"{"a":1}"#).await;
        let done = client.good("POST", "/l/_rollover", body).await;
        assert_eq!(at(&done, &["conditions"]), &json!({"[max_docs: 2]": true}));
        let state = client.good("GET", "/_cluster/state/metadata", "").await;
        let indices = at(&state, &["metadata", "indices"]);
        let kept = at(indices, &["l-1", "rollover_info", "l"]);
        assert_eq!(at(kept, &["met_conditions"]), &json!({"max_docs": 2}));
        assert!(at(kept, &["time"]).as_u64().is_some_and(|time| time > 0));
        assert_eq!(at(indices, &["l-000002", "rollover_info"]), &json!({}));
        let again = r#"{"aliases":{"l":{},"more":{}}}"#;
        let dry = client.good("POST", "/l/_rollover?dry_run", again).await;
        assert_eq!(at(&dry, &["new_index"]).as_str(), Some("l-000003"));
        client.good("PUT", "/l/_doc/3?refresh", r#"{"a":1}"#).await;
        assert_eq!(count(&mut client, "l-000002").await, 1);
        assert_eq!(
            client.bad("POST", "/none/_rollover", "").await,
            "400 illegal_argument_exception: rollover target [none] does not exist"
        );
    });
}

#[test]
fn a_rollover_that_is_tried_is_refused_as_a_real_one() {
    // Once a dry one took names that no index may have.
    with_node(|mut client| async move {
        client.good("PUT", "/l-1", r#"{"aliases":{"l":{},"other":{}}}"#).await;
        client.good("PUT", "/there", "").await;
        let none = r#"{"conditions":{"max_docs":100}}"#;
        for (name, kind) in [
            ("Upper", "invalid_index_name_exception"),
            ("a%23b", "invalid_index_name_exception"),
            ("_begin", "invalid_index_name_exception"),
            ("other", "invalid_index_name_exception"),
            ("there", "resource_already_exists_exception"),
        ] {
            let real = client.bad("POST", &format!("/l/_rollover/{name}"), "").await;
            assert!(real.starts_with(&format!("400 {kind}: ")), "{real}");
            let dry = client.bad("POST", &format!("/l/_rollover/{name}?dry_run"), "").await;
            assert_eq!(dry, real);
            let waits = client.bad("POST", &format!("/l/_rollover/{name}"), none).await;
            assert_eq!(waits, real, "the conditions come after");
        }
        client.good("PUT", "/there/_alias/l", "").await;
        let real = client.bad("POST", "/l/_rollover/next", "").await;
        assert_eq!(client.bad("POST", "/l/_rollover/next?dry_run", "").await, real);
    });
}

#[test]
fn an_alias_of_a_template_is_not_rolled_over_to_two_indices() {
    with_node(|mut client| async move {
        client.good("PUT", "/l-1", r#"{"aliases":{"l":{}}}"#).await;
        let template = r#"{"index_patterns":["l-*"],"template":{"aliases":{"l":{}}}}"#;
        client.good("PUT", "/_index_template/t", template).await;
        assert_eq!(
            client.bad("POST", "/l/_rollover", "").await,
            "400 illegal_argument_exception: Rollover alias [l] can point to multiple indices, \
             found duplicated alias [[l]] in index template [t]"
        );
        client.good("DELETE", "/_index_template/t", "").await;
        client.good("POST", "/l/_rollover", r#"{"aliases":{"l":{},"more":{}}}"#).await;
        let got = client.good("GET", "/l-*/_alias", "").await;
        let expected = json!({
            "l-000002": {"aliases": {"l": {}, "more": {}}},
            "l-1": {"aliases": {}},
        });
        assert_eq!(got, expected);
    });
}

#[test]
fn an_exclusion_takes_away_before_anything_is_refused() {
    with_node(|mut client| async move {
        client.good("PUT", "/t1", r#"{"aliases":{"al1":{}}}"#).await;
        for index in ["t2", "cl1"] {
            client.good("PUT", &format!("/{index}"), "").await;
        }
        client.good("POST", "/cl1/_close", "").await;
        for (target, shards) in [
            ("/*,-cl*/_count?expand_wildcards=open,closed", 2),
            ("/*,-cl1/_count?expand_wildcards=open,closed", 2),
            ("/*,-cl1/_search?expand_wildcards=all", 2),
            ("/*,-al1/_count", 2),
            ("/a*,-al1/_count", 1),
            ("/*,-al*/_count", 1),
            ("/t*/_count?expand_wildcards=open,", 2),
            ("/t1,/_count", 1),
        ] {
            let answer = client.good("GET", target, "").await;
            assert_eq!(at(&answer, &["_shards", "total"]).as_u64(), Some(shards), "{target}");
        }
        let told = client.bad("GET", "/*/_count?expand_wildcards=open,closed", "").await;
        assert_eq!(told, "400 index_closed_exception: closed");
    });
}

#[test]
fn a_search_by_a_wildcard_is_not_led_by_an_aliass_routing() {
    with_node(|mut client| async move {
        let body = r#"{"settings":{"number_of_shards":2},
            "aliases":{"al1":{"filter":{"term":{"a":1}},"routing":"1"}}}"#;
        client.good("PUT", "/t1", body).await;
        for (target, shards) in [("al1", 1), ("al*", 2), ("al1,al*", 2), ("al1,t1", 2)] {
            let answer = client.good("GET", &format!("/{target}/_count"), "").await;
            assert_eq!(at(&answer, &["_shards", "total"]).as_u64(), Some(shards), "{target}");
        }
    });
}

#[test]
fn an_index_made_of_another_says_so_and_takes_room_once_it_has_files() {
    with_node(|mut client| async move {
        client.good("PUT", "/s", r#"{"settings":{"number_of_shards":2}}"#).await;
        client.good("PUT", "/s/_doc/1?refresh", r#"{"a":1}"#).await;
        let bytes = |stats: &json::Value| {
            at(stats, &["_all", "total", "store", "size_in_bytes"]).as_u64().expect("a size")
        };
        let stats = client.good("GET", "/s/_stats", "").await;
        assert_eq!(bytes(&stats), 0, "only memory and the log hold the segment");
        client.good("POST", "/s/_flush", "").await;
        let stats = client.good("GET", "/s/_stats", "").await;
        assert!(bytes(&stats) > 0);
        client.good("PUT", "/s/_settings", r#"{"index.blocks.write":true}"#).await;
        client.good("POST", "/s/_shrink/z", "").await;
        for (index, kind) in [("s", "EMPTY_STORE"), ("z", "LOCAL_SHARDS")] {
            let rows = client.good("GET", &format!("/{index}/_recovery"), "").await;
            let rows = at(&rows, &[index, "shards"]).as_array().expect("a list").to_vec();
            assert_eq!(at(&rows[0], &["type"]).as_str(), Some(kind));
        }
        let cat = client.call("GET", "/_cat/recovery/z?h=type", "").await;
        assert_eq!(String::from_utf8_lossy(&cat.body).trim(), "local_shards");
    });
}

#[test]
fn scripts_and_warmers_stand_in_the_tables() {
    with_node(|mut client| async move {
        let script = r#"{"script":{"source":"1 + 1"}}"#;
        for _ in 0..2 {
            client.good("POST", "/_scripts/painless/_execute", script).await;
        }
        let cat = client.call("GET", "/_cat/nodes?h=scrcc,scrce,scrclt", "").await;
        let text = String::from_utf8_lossy(&cat.body).into_owned();
        let figures: Vec<&str> = text.split_whitespace().collect();
        assert_eq!(figures, ["1", "0", "0"], "compiled once");
        let stats = client.good("GET", "/_nodes/stats/script", "").await;
        let nodes = at(&stats, &["nodes"]).as_object().expect("nodes");
        let (_, node) = nodes.iter().next().expect("one node");
        assert_eq!(at(node, &["script", "compilations"]).as_u64(), Some(1));
        client.good("PUT", "/a", "").await;
        let columns = "h=wc,wto,wtt,pri.warmer.current,pri.warmer.total,pri.warmer.total_time";
        let cat = client.call("GET", &format!("/_cat/indices?{columns}"), "").await;
        assert_eq!(String::from_utf8_lossy(&cat.body).split_whitespace().count(), 6);
    });
}

#[test]
fn parameters_of_the_specification_are_taken() {
    with_node(|mut client| async move {
        client.good("PUT", "/a", "").await;
        client.good("PUT", "/a/_doc/1?refresh", r#"{"t":"x"}"#).await;
        client.good("PUT", "/b", "").await;
        client.good("GET", "/_component_template?settings_filter=x", "").await;
        client.good("POST", "/a/_analyze?index=b", r#"{"text":"x"}"#).await;
        let pairs = "{}\n{}\n";
        for (target, hits) in [("/_msearch?index=a", 1), ("/b/_msearch?index=a", 0)] {
            let answer = client.good("POST", target, pairs).await;
            let first = at(&answer, &["responses"]).as_array().expect("a list")[0].clone();
            let total = at(&first, &["hits", "total", "value"]).as_u64();
            assert_eq!(total, Some(hits), "{target}");
        }
        let template = r#"{"source":"{\"query\":{\"match_all\":{}}}"}"#;
        let answer = client.good("POST", "/a/_search/template?profile=true", template).await;
        assert!(answer.get("profile").is_some());
        let script = r#"{"script":{"lang":"painless","source":"1"}}"#;
        client.good("PUT", "/_scripts/s/score?context=score", script).await;
    });
}

#[test]
fn bad_requests_are_told_in_elasticsearchs_words() {
    with_node(|mut client| async move {
        client.good("PUT", "/a", r#"{"settings":{"number_of_replicas":0}}"#).await;
        let threads = r#"{"settings":{"index.merge.scheduler.max_thread_count":3}}"#;
        client.good("PUT", "/s", threads).await;
        for (method, target, body, told) in [
            (
                "DELETE",
                "/",
                "",
                "400 action_request_validation_exception: Validation Failed: 1: index / indices is missing;",
            ),
            (
                "PUT",
                "/a/_block/foo",
                "",
                "400 illegal_argument_exception: No block found with name foo",
            ),
            (
                "PUT",
                "/a/_settings",
                "{}",
                "400 action_request_validation_exception: Validation Failed: 1: no settings to update;",
            ),
            (
                "PUT",
                "/_cluster/settings",
                r#"{"persistent":{"cluster":{}}}"#,
                "400 action_request_validation_exception: Validation Failed: 1: no settings to update;",
            ),
            (
                "PUT",
                "/_cluster/settings",
                r#"{"transient":{"foo.bar":{}}}"#,
                "400 action_request_validation_exception: Validation Failed: 1: no settings to update;",
            ),
            (
                "POST",
                "/a/_update_by_query?slices=2",
                r#"{"slice":{"id":0,"max":2},"query":{"match_all":{}}}"#,
                "400 action_request_validation_exception: Validation Failed: 1: can't specify both manual and automatic slicing at the same time;",
            ),
            (
                "POST",
                "/a/_delete_by_query?slices=2",
                r#"{"slice":{"id":0,"max":2},"query":{"match_all":{}}}"#,
                "400 action_request_validation_exception: Validation Failed: 1: can't specify both manual and automatic slicing at the same time;",
            ),
            ("PUT", "/a/_settings", "", "400 parse_exception: request body is required"),
            (
                "PUT",
                "/none/_settings",
                r#"{"refresh_interval":"1s"}"#,
                "404 index_not_found_exception: no such index [none]",
            ),
            (
                "POST",
                "/_aliases",
                r#"{"actions":[]}"#,
                "400 illegal_argument_exception: No action specified",
            ),
            (
                "POST",
                "/_aliases",
                r#"{"actions":[{"foo":{}}]}"#,
                "400 x_content_parse_exception: [1:20] [aliases] failed to parse field [actions]",
            ),
            (
                "PUT",
                "/_cluster/settings",
                r#"{"persistent":{"action.auto_create_index":"a*,-"}}"#,
                "400 illegal_argument_exception: Can't parse [a*,-] for setting \
                 [action.auto_create_index] must contain an index name after [-]",
            ),
            (
                "PUT",
                "/e",
                r#"{"settings":{"index.merge.policy.expunge_deletes_allowed":101}}"#,
                "400 illegal_argument_exception: forceMergeDeletesPctAllowed must be between 0.0 and \
                 100.0 inclusive (got 101.0)",
            ),
            (
                "PUT",
                "/a/_settings",
                r#"{"index":{"merge":{"policy":{"expunge_deletes_allowed":"100.5"}}}}"#,
                "400 illegal_argument_exception: forceMergeDeletesPctAllowed must be between 0.0 and \
                 100.0 inclusive (got 100.5)",
            ),
            (
                "PUT",
                "/_index_template/e",
                r#"{"index_patterns":["e*"],
                    "template":{"settings":{"index.merge.policy.expunge_deletes_allowed":101}}}"#,
                "400 illegal_argument_exception: composable template [e] template after composition \
                 is invalid",
            ),
            (
                "PUT",
                "/m",
                r#"{"settings":{"index.merge.scheduler":{"max_thread_count":5,"max_merge_count":3}}}"#,
                "400 illegal_argument_exception: maxThreadCount (= 5) should be <= maxMergeCount (= 3)",
            ),
            (
                "PUT",
                "/s/_settings",
                r#"{"index.merge.scheduler.max_merge_count":2}"#,
                "400 illegal_argument_exception: maxThreadCount (= 3) should be <= maxMergeCount (= 2)",
            ),
            (
                "PUT",
                "/_component_template/m",
                r#"{"template":{"settings":{
                    "index.merge.scheduler":{"max_thread_count":"5","max_merge_count":"3"}}}}"#,
                "400 illegal_argument_exception: maxThreadCount (= 5) should be <= maxMergeCount (= 3)",
            ),
            (
                "PUT",
                "/a/_alias/_x",
                "",
                "400 invalid_alias_name_exception: Invalid alias name [_x]: must not start with '_', '-', or '+'",
            ),
            (
                "GET",
                "/_index_template/none",
                "",
                "404 resource_not_found_exception: index template matching [none] not found",
            ),
            (
                "DELETE",
                "/_index_template/none",
                "",
                "404 index_template_missing_exception: index_template [none] missing",
            ),
            (
                "DELETE",
                "/_template/none",
                "",
                "404 index_template_missing_exception: index_template [none] missing",
            ),
            (
                "PUT",
                "/_data_stream/none",
                "",
                "400 illegal_argument_exception: no matching index template found for data stream [none]",
            ),
            (
                "GET",
                "/_data_stream/none",
                "",
                "404 index_not_found_exception: no such index [none]",
            ),
            (
                "GET",
                "/a/_stats/foo",
                "",
                "400 illegal_argument_exception: request [/a/_stats/foo] contains unrecognized metric: [foo]",
            ),
            (
                "GET",
                "/_nodes/stats/os,foo,bar",
                "",
                "400 illegal_argument_exception: request [/_nodes/stats/os,foo,bar] contains unrecognized metrics: [bar], [foo]",
            ),
            (
                "GET",
                "/_nodes/stats/indices/foo,_all,docs",
                "",
                "400 illegal_argument_exception: request [/_nodes/stats/indices/foo,_all,docs] contains unrecognized index metrics: [_all], [foo]",
            ),
            (
                "POST",
                "/a/_disk_usage",
                "",
                "400 illegal_argument_exception: analyzing the disk usage of an index is expensive and resource intensive; the parameter [run_expensive_tasks] must be set to [true] in order for the task to be performed",
            ),
            (
                "POST",
                "/a/_rollover",
                "",
                "400 illegal_argument_exception: rollover target is a [concrete index] but one of [alias,data_stream] was expected",
            ),
        ] {
            assert_eq!(client.bad(method, target, body).await, told, "{method} {target} {body}");
        }
    });
}

/// Documents brought new fields into an index whose metadata was blocked, and its counts were told.
#[test]
fn a_block_of_metadata_keeps_the_mapping_and_hides_the_figures() {
    with_node(|mut client| async move {
        client.good("PUT", "/t", r#"{"mappings":{"properties":{"a":{"type":"long"}}}}"#).await;
        client.good("PUT", "/t/_doc/1", r#"{"a":1}"#).await;
        client.good("PUT", "/t/_block/metadata", "").await;
        let refused = "403 cluster_block_exception: index [t] blocked by: [FORBIDDEN/9/index metadata (api)];";
        assert_eq!(client.bad("PUT", "/t/_doc/2", r#"{"new":1}"#).await, refused);
        let update = r#"{"doc":{"new":1}}"#;
        assert_eq!(client.bad("POST", "/t/_update/1", update).await, refused);
        let lines = "{\"index\":{\"_id\":\"3\"}}\n{\"a\":1}\n{\"index\":{\"_id\":\"4\"}}\n\
                     {\"new\":1}\n{\"update\":{\"_id\":\"1\"}}\n{\"doc\":{\"new\":2}}\n\
                     {\"update\":{\"_id\":\"1\"}}\n{\"doc\":{\"a\":2}}\n";
        let done = client.good("POST", "/t/_bulk", lines).await;
        let items = at(&done, &["items"]).as_array().expect("a list");
        let status = |item: &json::Value| {
            let (_, inner) = item.as_object().and_then(|item| item.iter().next())?;
            inner.get("status")?.as_u64()
        };
        let statuses: Vec<_> = items.iter().filter_map(status).collect();
        assert_eq!(statuses, [201, 403, 403, 200], "only what needs a new field is refused");
        for target in [
            "/t/_stats",
            "/t/_segments",
            "/t/_shard_stores",
            "/_cat/indices/t",
            "/_cat/shards",
            "/t/_search_shards",
            "/t/_mapping",
            "/t/_alias",
        ] {
            assert_eq!(client.bad("GET", target, "").await, refused, "{target}");
        }
        assert_eq!(client.call("HEAD", "/t", "").await.status, 403);
        assert_eq!(client.bad("DELETE", "/t/_alias/none", "").await, refused);
        assert_eq!(client.call("POST", "/t/_unfreeze", "").await.status, 403);
        client.good("GET", "/_nodes/stats?level=indices", "").await;
        client.good("GET", "/_cluster/stats", "").await;
        client.good("GET", "/_cluster/health/t", "").await;
        client.good("PUT", "/t/_settings", r#"{"index.blocks.metadata":null}"#).await;
        client.good("PUT", "/t/_doc/2", r#"{"new":1}"#).await;

        let thawed = client.call("POST", "/t/_unfreeze", "").await;
        assert_eq!(value(&thawed), json!({"acknowledged": true, "shards_acknowledged": true}));
        assert!(thawed.field("warning").is_some_and(|text| text.contains("Frozen indices are")));
        assert_eq!(
            client.bad("POST", "/t/_unfreeze?allow_no_indices=false", "").await,
            "404 resource_not_found_exception: no index found to unfreeze"
        );
        client.good("PUT", "/t/_block/read", "").await;
        client.good("PUT", "/t/_block/write", "").await;
        let told = client.bad("GET", "/t/_analyze", r#"{"text":"a"}"#).await;
        assert!(told.contains("[FORBIDDEN/7/index read (api)]"), "{told}");
        client.good("PUT", "/t/_settings", r#"{"index.blocks.read_only":true}"#).await;
        let told = client.bad("PUT", "/t/_doc/9", "{}").await;
        let both = "[FORBIDDEN/5/index read-only (api), FORBIDDEN/8/index write (api)];";
        assert!(told.ends_with(both), "{told}");
    });
}

#[test]
fn a_read_only_cluster_changes_nothing_but_its_block() {
    with_node(|mut client| async move {
        let set = |name: &str, value: &str| format!("{{\"persistent\":{{\"{name}\":{value}}}}}");
        let block = "cluster.blocks.read_only";
        client.good("PUT", "/was", r#"{"settings":{"index.blocks.read_only":true}}"#).await;
        client.good("PUT", "/_cluster/settings", &set(block, "true")).await;
        let refused =
            "403 cluster_block_exception: blocked by: [FORBIDDEN/6/cluster read-only (api)];";
        for body in [
            set("cluster.max_shards_per_node", "500"),
            format!("{{\"persistent\":{{\"{block}\":true,\"cluster.max_shards_per_node\":500}}}}"),
            format!(
                "{{\"persistent\":{{\"{block}\":null}},\"transient\":{{\
                 \"cluster.blocks.read_only_allow_delete\":true}}}}"
            ),
        ] {
            assert_eq!(client.bad("PUT", "/_cluster/settings", &body).await, refused, "{body}");
        }
        assert_eq!(client.bad("POST", "/_cluster/reroute", "").await, refused);
        // The block of an index is taken back only where the cluster takes changes.
        for body in [
            r#"{"index.blocks.read_only":null}"#,
            r#"{"index.blocks.read_only_allow_delete":null,"index.priority":7}"#,
        ] {
            assert_eq!(client.bad("PUT", "/was/_settings", body).await, refused, "{body}");
        }
        client.good("PUT", "/_cluster/settings", &set(block, "true")).await;
        let also = set("cluster.blocks.read_only_allow_delete", "true");
        client.good("PUT", "/_cluster/settings", &also).await;
        let told = client.bad("PUT", "/i", "").await;
        let both = "[FORBIDDEN/6/cluster read-only (api), FORBIDDEN/13/cluster read-only / allow \
                    delete (api)];";
        assert!(told.ends_with(both), "{told}");
        let none = r#"{"persistent":{"cluster.blocks":{"read_only":null,"read_only_allow_delete":false}}}"#;
        client.good("PUT", "/_cluster/settings", none).await;
        client.good("PUT", "/i", "").await;
    });
}

#[test]
fn aliases_are_put_on_indices_alone() {
    with_node(|mut client| async move {
        client.good("PUT", "/i", r#"{"aliases":{"al":{}}}"#).await;
        let told = "400 illegal_argument_exception: The provided expression [al] matches an alias, \
                    specify the corresponding concrete indices instead.";
        let add = r#"{"actions":[{"add":{"index":"al","alias":"b"}}]}"#;
        let remove = r#"{"actions":[{"remove":{"index":"al","alias":"al"}}]}"#;
        for (method, target, body) in [
            ("PUT", "/al/_alias/b", ""),
            ("DELETE", "/al/_alias/al", ""),
            ("POST", "/_aliases", add),
            ("POST", "/_aliases", remove),
        ] {
            assert_eq!(client.bad(method, target, body).await, told, "{target} {body}");
        }
        let template = r#"{"index_patterns":["ds*"],"data_stream":{}}"#;
        client.good("PUT", "/_index_template/t", template).await;
        client.good("PUT", "/_data_stream/ds1", "").await;
        let told = client.bad("PUT", "/ds1/_alias/b", "").await;
        assert!(told.contains("aliases of data streams are not supported"), "{told}");
        let told = client.bad("DELETE", "/ds1/_alias/b", "").await;
        assert_eq!(told, "404 aliases_not_found_exception: aliases [b] missing");
        let told = value(&client.call("DELETE", "/i/_alias/z,b,z", "").await);
        assert_eq!(at(&told, &["error", "reason"]).as_str(), Some("aliases [z, b] missing"));
        let ids = json::to_string(at(&told, &["error", "resource.id"]));
        assert_eq!(ids, r#"["z","b"]"#);
        client.good("PUT", "/i*/_alias/b", "").await;
        let told = client.bad("PUT", "/a*/_alias/b", "").await;
        assert_eq!(told, "404 index_not_found_exception: no such index [a*]");
    });
}

#[test]
fn a_wildcard_without_match_is_told_where_it_must_match() {
    with_node(|mut client| async move {
        client.good("PUT", "/a1", "").await;
        let none = "404 index_not_found_exception: no such index [zz*]";
        for (method, target) in [
            ("GET", "_count"),
            ("GET", "_search"),
            ("GET", "_stats"),
            ("POST", "_refresh"),
            ("GET", "_mapping"),
        ] {
            for list in ["a*,zz*", "a1,zz*", "zz*,a*", "a*,-zz*"] {
                let target = format!("/{list}/{target}?allow_no_indices=false");
                assert_eq!(client.bad(method, &target, "").await, none, "{target}");
            }
            client.good(method, &format!("/a*,zz*/{target}"), "").await;
        }
        let loose = r#"{"persistent":{"action.destructive_requires_name":false}}"#;
        client.good("PUT", "/_cluster/settings", loose).await;
        assert_eq!(client.bad("DELETE", "/a*,zz*?allow_no_indices=false", "").await, none);
        client.good("GET", "/a1", "").await;
        let body = r#"{"properties":{"b":{"type":"long"}}}"#;
        assert_eq!(client.bad("PUT", "/zz*/_mapping", body).await, none);
        client.good("PUT", "/zz*/_mapping?allow_no_indices=true", body).await;
    });
}

#[test]
fn slices_are_tasks_of_their_own_and_only_what_is_named_is_cancelled() {
    with_node(|mut client| async move {
        let mut lines = String::new();
        for id in 0..40 {
            lines.push_str(&format!("{{\"index\":{{\"_id\":\"{id}\"}}}}\n{{\"a\":{id}}}\n"));
        }
        client.good("POST", "/from/_bulk?refresh", &lines).await;
        let target = "/_reindex?slices=2&requests_per_second=1&wait_for_completion=false";
        let body = r#"{"source":{"index":"from","size":4},"dest":{"index":"to"}}"#;
        let begun = client.good("POST", target, body).await;
        let id = at(&begun, &["task"]).as_str().expect("an id").to_owned();
        let mut parts = Vec::new();
        for _ in 0..100 {
            let target = format!("/_tasks?parent_task_id={id}&group_by=none&detailed");
            let got = client.good("GET", &target, "").await;
            parts = at(&got, &["tasks"]).as_array().expect("a list").to_vec();
            if parts.len() == 2 {
                break;
            }
        }
        assert_eq!(parts.len(), 2, "one for each slice");
        for part in &parts {
            assert_eq!(at(part, &["parent_task_id"]).as_str(), Some(id.as_str()));
            assert_eq!(at(part, &["action"]).as_str(), Some("indices:data/write/reindex"));
            assert!(at(part, &["status", "slice_id"]).as_u64().is_some());
        }
        let grouped = client.good("GET", "/_tasks?group_by=parents&actions=*reindex", "").await;
        let parent = at(&grouped, &["tasks", &id]);
        assert_eq!(at(parent, &["children"]).as_array().map(<[_]>::len), Some(2));

        let late = format!("/_tasks/{id}?wait_for_completion=true&timeout=30ms");
        let told = client.bad("GET", &late, "").await;
        assert!(told.starts_with("429 timeout_exception: Timed out waiting for"), "{told}");

        let other = format!("/_tasks/{id}/_cancel?actions=*foo");
        let kept = client.good("POST", &other, "").await;
        let failure = &at(&kept, &["node_failures"]).as_array().expect("a list")[0];
        let reason = at(failure, &["caused_by", "reason"]).as_str();
        assert_eq!(reason, Some(format!("task [{id}] doesn't support this operation").as_str()));
        let running = client.good("GET", &format!("/_tasks/{id}"), "").await;
        assert_eq!(at(&running, &["task", "cancelled"]).as_bool(), Some(false));

        // Groups were unknown to this, and passed over where one task is cancelled, which told what it does besides.
        let speed = format!("/_reindex/{id}/_rethrottle?requests_per_second=2");
        let told = client.good("POST", &format!("{speed}&group_by=parents"), "").await;
        assert!(at(&told, &["tasks", &id, "status"]).as_object().is_some());
        let told = client.good("POST", &format!("{speed}&group_by=none"), "").await;
        let one = &at(&told, &["tasks"]).as_array().expect("a list")[0];
        assert!(at(one, &["description"]).as_str().expect("a text").starts_with("reindex from"));
        let told = client.bad("POST", &format!("{speed}&group_by=x"), "").await;
        assert_eq!(
            told,
            "400 illegal_argument_exception: [group_by] must be one of [nodes], [parents] or [none] but was [x]"
        );

        let cancel = format!("/_tasks/{id}/_cancel?actions=*reindex&group_by=none");
        let told = client.good("POST", &cancel, "").await;
        let one = &at(&told, &["tasks"]).as_array().expect("a list")[0];
        assert!(one.get("cancelled").is_some() && one.get("status").is_none());
        let ended = format!("/_tasks/{id}?wait_for_completion=true&timeout=10s");
        let ended = client.good("GET", &ended, "").await;
        let why = at(&ended, &["response", "canceled"]).as_str();
        assert_eq!(why, Some("by user request"));
        let left = client.good("GET", "/_tasks?actions=*reindex", "").await;
        assert_eq!(left, json!({"nodes": {}}));
    });
}

/// Of nodes that were excluded at the same time, each answered with 200, only the last was kept.
#[test]
fn votes_that_are_excluded_at_the_same_time_are_all_excluded() {
    for seed in 0..6 {
        with_clients(seed, 4, |mut clients| async move {
            let path = "/_cluster/voting_config_exclusions";
            let calls = clients.iter_mut().enumerate().map(|(at, client)| {
                let target = format!("{path}?node_names=n{at}");
                Box::pin(async move { client.call("POST", &target, "").await.status })
            });
            let told: Vec<u16> = env::join_all(calls.collect()).await;
            assert_eq!(told, [200; 4]);
            let target = "/_cluster/state/metadata";
            let state = clients[0].good("GET", target, "").await;
            let all = at(&state, &["metadata", "cluster_coordination", "voting_config_exclusions"]);
            assert_eq!(all.as_array().map(<[_]>::len), Some(4), "seed {seed}");
            // One more than may be is refused, whatever was there when it came.
            let setting = r#"{"persistent":{"cluster.max_voting_config_exclusions":5}}"#;
            clients[0].good("PUT", "/_cluster/settings", setting).await;
            let calls = clients.iter_mut().enumerate().map(|(at, client)| {
                let target = format!("{path}?node_names=m{at}");
                Box::pin(async move { client.call("POST", &target, "").await.status })
            });
            let mut told: Vec<u16> = env::join_all(calls.collect()).await;
            told.sort_unstable();
            assert_eq!(told, [200, 400, 400, 400]);
            assert_eq!(clients[0].call("DELETE", path, "").await.status, 200);
        });
    }
}

/// One wait was forgotten for another, and what was told after a wait was what had been there before it.
#[test]
fn health_waits_for_all_that_is_asked_and_settings_are_not_mixed() {
    with_node(|mut client| async move {
        client.good("PUT", "/y", "").await;
        let both = "wait_for_status=yellow&wait_for_active_shards=all&timeout=10ms";
        let told = client.call("GET", &format!("/_cluster/health/y?{both}"), "").await;
        assert_eq!(told.status, 408, "{}", told.text());
        let nodes = "wait_for_status=yellow&wait_for_nodes=2&timeout=10ms";
        let told = client.call("GET", &format!("/_cluster/health?{nodes}"), "").await;
        assert_eq!(told.status, 408, "{}", told.text());
        let mixed = r#"{"settings":{"index.priority":3},"index.refresh_interval":"7s"}"#;
        assert_eq!(
            client.bad("PUT", "/y/_settings", mixed).await,
            "400 parse_exception: mix of settings map and top-level properties"
        );
    });
}
