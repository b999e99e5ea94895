//! What answers show beside the matter: the node of a failure, the id of a refused document, shares
//! of nothing, names of commits, the names behind a block.

use json::{Value, json};

use crate::place::{Client, at, with_clients, with_node};

/// The body of an answer, whatever its status.
async fn body(client: &mut Client, method: &str, target: &str, body: &str) -> (u16, Value) {
    let answer = client.call(method, target, body).await;
    (answer.status, json::parse(&answer.body).expect("JSON"))
}

/// `failed_shards` once told no node, and a search that is gone a shard of number 2³²-1.
#[test]
fn failed_shards_name_their_node() {
    with_node(|mut client| async move {
        let mapping = r#"{"mappings":{"properties":{"t":{"type":"text"}}}}"#;
        client.good("PUT", "/a", mapping).await;
        let nodes = client.good("GET", "/_nodes", "").await;
        let nodes = at(&nodes, &["nodes"]).as_object().expect("nodes");
        let id = nodes.keys().next().expect("a node").to_owned();
        let bad = r#"{"sort":[{"t":"asc"}]}"#;
        let (status, alone) = body(&mut client, "POST", "/a/_search", bad).await;
        assert_eq!(status, 400);
        let pair = format!("{{}}\n{bad}\n");
        let many = client.good("POST", "/a/_msearch", &pair).await;
        let many = at(&many, &["responses"]).as_array().expect("a list")[0].clone();
        for answer in [alone, many] {
            let shards = at(&answer, &["error", "failed_shards"]).as_array().expect("a list");
            assert_eq!(at(&shards[0], &["index"]).as_str(), Some("a"));
            assert_eq!(at(&shards[0], &["node"]).as_str(), Some(&*id));
        }
        let found = client.good("POST", "/a/_search?scroll=1m", "").await;
        let scroll = at(&found, &["_scroll_id"]).as_str().expect("an id");
        let again = format!(r#"{{"scroll_id":"{scroll}"}}"#);
        client.good("DELETE", "/_search/scroll", &again).await;
        let (status, gone) = body(&mut client, "POST", "/_search/scroll", &again).await;
        assert_eq!(status, 404);
        let shards = at(&gone, &["error", "failed_shards"]).as_array().expect("a list");
        assert_eq!(at(&shards[0], &["shard"]).as_i64(), Some(-1));
        assert_eq!(at(&shards[0], &["index"]), &Value::Null);
        assert!(shards[0].get("node").is_none());
    });
}

/// A copy once had as many replicas as its source.
#[test]
fn a_resized_index_has_replicas_of_its_own() {
    with_node(|mut client| async move {
        let settings = r#"{"settings":{"number_of_shards":2,"number_of_replicas":0,
            "blocks.write":true,"refresh_interval":"7s"}}"#;
        client.good("PUT", "/s", settings).await;
        for (how, shards) in [("clone", 2), ("shrink", 1), ("split", 4)] {
            let count = format!(r#"{{"settings":{{"number_of_shards":{shards}}}}}"#);
            client.good("PUT", &format!("/s/_{how}/{how}"), &count).await;
            let told = client.good("GET", &format!("/{how}/_settings"), "").await;
            let told = at(&told, &[how, "settings", "index"]);
            assert_eq!(at(told, &["number_of_replicas"]).as_str(), Some("1"), "{how}");
            assert_eq!(at(told, &["refresh_interval"]).as_str(), Some("7s"), "{how}");
        }
        let given = r#"{"settings":{"number_of_replicas":0,"auto_expand_replicas":"0-2"}}"#;
        client.good("PUT", "/s/_clone/given", given).await;
        let told = client.good("GET", "/given/_settings", "").await;
        let told = at(&told, &["given", "settings", "index"]);
        assert_eq!(at(told, &["auto_expand_replicas"]).as_str(), Some("0-2"));
    });
}

/// The id that a document had been given was once not told where its index refused it.
#[test]
fn a_refused_document_has_its_id() {
    with_node(|mut client| async move {
        client.good("PUT", "/b", r#"{"settings":{"blocks.write":true}}"#).await;
        client.good("PUT", "/r", r#"{"mappings":{"_routing":{"required":true}}}"#).await;
        client.good("PUT", "/c", "").await;
        client.good("POST", "/c/_close", "").await;
        let lines = "{\"index\":{}}\n{}\n{\"create\":{}}\n{}\n";
        for (index, kind) in [("b", "cluster_block_exception"), ("r", "routing_missing_exception")]
        {
            let told = client.good("POST", &format!("/{index}/_bulk"), lines).await;
            let items = at(&told, &["items"]).as_array().expect("a list");
            let mut ids = Vec::new();
            for (item, action) in items.iter().zip(["index", "create"]) {
                let item = at(item, &[action]);
                assert_eq!(at(item, &["error", "type"]).as_str(), Some(kind));
                let id = at(item, &["_id"]).as_str().expect("an id").to_owned();
                assert_eq!(id.len(), 20);
                if index == "r" {
                    let reason = at(item, &["error", "reason"]).as_str().expect("words");
                    assert!(reason.ends_with(&format!("[r]/[{id}]")), "{reason}");
                }
                ids.push(id);
            }
            assert_ne!(ids[0], ids[1]);
        }
        let told = client.good("POST", "/c/_bulk", lines).await;
        let items = at(&told, &["items"]).as_array().expect("a list");
        assert_eq!(at(&items[0], &["index", "_id"]), &Value::Null, "no index took it");
    });
}

#[test]
fn health_tells_of_the_indices_that_are_there() {
    with_node(|mut client| async move {
        client.good("PUT", "/a", r#"{"settings":{"number_of_replicas":0}}"#).await;
        let target = "/_cluster/health/nope,a?timeout=10ms&level=indices";
        let (status, told) = body(&mut client, "GET", target, "").await;
        assert_eq!((status, at(&told, &["status"]).as_str()), (408, Some("red")));
        assert_eq!(at(&told, &["active_shards"]).as_u64(), Some(1));
        assert_eq!(at(&told, &["indices", "a", "status"]).as_str(), Some("green"));
        let (status, told) =
            body(&mut client, "GET", "/_cluster/health/no*,a?level=indices", "").await;
        assert_eq!((status, at(&told, &["status"]).as_str()), (200, Some("green")));
    });
}

/// The colour was of one moment, the figures beside it of another.
#[test]
fn the_colour_is_of_the_figures_beside_it() {
    for seed in 0..8 {
        with_clients(seed, 2, |clients| async move {
            let [mut maker, mut other]: [Client; 2] = clients.try_into().ok().expect("two");
            for name in 0..80 {
                let body = r#"{"settings":{"number_of_replicas":0}}"#;
                maker.good("PUT", &format!("/a{name}"), body).await;
            }
            let json = [("content-type", "application/json")];
            let mut seen = [0, 0];
            for replicas in [1, 0, 1, 0, 1, 0] {
                let body = format!(r#"{{"index.number_of_replicas":{replicas}}}"#);
                maker.send("PUT", "/a77/_settings", &json, body.as_bytes()).await;
                for _ in 0..4 {
                    let health = other.good("GET", "/_cluster/health", "").await;
                    let lacks = at(&health, &["unassigned_shards"]).as_u64() != Some(0);
                    let expected = if lacks { "yellow" } else { "green" };
                    assert_eq!(at(&health, &["status"]).as_str(), Some(expected), "{health:?}");
                    seen[usize::from(lacks)] += 1;
                }
                assert_eq!(maker.answer("PUT", "/a77/_settings").await.status, 200);
            }
            assert!(seen.iter().all(|&times| times > 0), "{seen:?}");
        });
    }
}

#[test]
fn a_commit_says_what_it_belongs_to() {
    with_node(|mut client| async move {
        client.good("PUT", "/a", r#"{"settings":{"number_of_shards":2}}"#).await;
        let mut names = Vec::new();
        for (flushed, id) in [("-1", "1"), ("0", "2")] {
            client.good("PUT", &format!("/a/_doc/{id}?routing=x"), "{}").await;
            let stats = client.good("GET", "/a/_stats?level=shards", "").await;
            let shards = at(&stats, &["indices", "a", "shards"]).as_object().expect("shards");
            for copies in shards.values() {
                let path = at(&copies.as_array().expect("a list")[0], &["shard_path"]);
                assert_eq!(at(path, &["state_path"]), at(path, &["data_path"]));
                assert_eq!(at(path, &["is_custom_data_path"]).as_bool(), Some(false));
            }
            let commits: Vec<&Value> = shards
                .values()
                .map(|copies| at(&copies.as_array().expect("a list")[0], &["commit", "user_data"]))
                .collect();
            let said = |commit: &Value, key: &str| {
                at(commit, &[key]).as_str().expect("a string").to_owned()
            };
            let mut of_commits: Vec<String> =
                commits.iter().map(|commit| said(commit, "max_seq_no")).collect();
            of_commits.sort();
            assert_eq!(of_commits.last().map(String::as_str), Some(flushed));
            for commit in commits {
                assert_eq!(said(commit, "local_checkpoint"), said(commit, "max_seq_no"));
                assert_eq!(said(commit, "max_unsafe_auto_id_timestamp"), "-1");
                assert_eq!(said(commit, "translog_uuid").len(), 22);
                names.push(said(commit, "history_uuid"));
            }
            client.good("POST", "/a/_flush", "").await;
        }
        assert_eq!(names[..2], names[2..], "a flush begins no new history");
        assert_ne!(names[0], names[1], "shards have their own");
    });
}

/// Numbers before the first were blank in the table.
#[test]
fn an_empty_shard_has_numbers_before_the_first() {
    with_node(|mut client| async move {
        client.good("PUT", "/a", r#"{"settings":{"number_of_replicas":0}}"#).await;
        client.good("PUT", "/b", r#"{"settings":{"number_of_replicas":0}}"#).await;
        client.good("PUT", "/b/_doc/1", "{}").await;
        let table = "/_cat/shards?h=index,seq_no.*&s=sqm:desc";
        let answer = client.call("GET", table, "").await;
        assert_eq!(String::from_utf8_lossy(&answer.body), "b  0  0  0\na -1 -1 -1\n");
        let stats = client.good("GET", "/a/_stats?level=shards", "").await;
        let copies = at(&stats, &["indices", "a", "shards", "0"]).as_array().expect("a list");
        for name in ["max_seq_no", "local_checkpoint", "global_checkpoint"] {
            assert_eq!(at(&copies[0], &["seq_no", name]).as_i64(), Some(-1), "{name}");
        }
    });
}

/// Sections of an index are written once and shown wherever they are the same.
#[test]
fn figures_of_a_shard_alone_are_its_index_figures() {
    with_node(|mut client| async move {
        client.good("PUT", "/a", r#"{"settings":{"number_of_shards":1}}"#).await;
        client.good("PUT", "/b", r#"{"settings":{"number_of_shards":25}}"#).await;
        for id in 0..9 {
            client.good("PUT", &format!("/a/_doc/{id}?refresh=true"), "{}").await;
            client.good("PUT", &format!("/b/_doc/{id}?refresh=true"), "{}").await;
        }
        for metric in ["", "/docs,shard_stats,indexing"] {
            let stats = client.good("GET", &format!("/_stats{metric}?level=shards"), "").await;
            for (name, shards) in [("a", 1), ("b", 25)] {
                let index = at(&stats, &["indices", name]);
                assert_eq!(at(index, &["primaries"]), at(index, &["total"]));
                let all = at(index, &["shards"]).as_object().expect("shards");
                assert_eq!(all.len(), shards);
                let docs = |it: &Value| at(it, &["docs", "count"]).as_u64().expect("a count");
                let each = all.values().map(|copies| docs(&copies.as_array().expect("a list")[0]));
                assert_eq!(each.sum::<u64>(), 9);
                assert_eq!(docs(at(index, &["total"])), 9);
            }
            let index = at(&stats, &["indices", "a"]);
            let shard = &at(index, &["shards", "0"]).as_array().expect("a list")[0];
            for (section, figures) in at(index, &["total"]).as_object().expect("sections").iter() {
                assert_eq!(at(shard, &[section]), figures, "{section}");
            }
            assert!(shard.get("routing").is_some() && shard.get("commit").is_some());
        }
        // No section is none: what a shard is stays.
        let stats = client.good("GET", "/a/_stats/mappings?level=shards", "").await;
        let shard = &at(&stats, &["indices", "a", "shards", "0"]).as_array().expect("a list")[0];
        assert!(shard.get("routing").is_some() && shard.get("seq_no").is_some(), "{shard:?}");
    });
}

/// Threads were told as nothing.
#[test]
fn information_of_the_cluster_is_what_its_nodes_count() {
    with_node(|mut client| async move {
        client.good("PUT", "/a/_doc/1", "{}").await;
        let told = client.good("GET", "/_info/_all", "").await;
        let stats = client.good("GET", "/_nodes/stats/thread_pool,http,script,ingest", "").await;
        let nodes = at(&stats, &["nodes"]).as_object().expect("nodes");
        let node = nodes.values().next().expect("one");
        for part in ["thread_pool", "http", "script", "ingest"] {
            let names = |it: &Value| -> Vec<String> {
                let part = it.get(part).and_then(Value::as_object).expect(part);
                part.iter().map(|(name, _)| name.to_owned()).collect()
            };
            assert_eq!(names(&told), names(node), "{part}");
        }
        assert_eq!(at(&told, &["thread_pool", "write", "completed"]).as_u64(), Some(1));
        let alone = client.good("GET", "/_info/thread_pool", "").await;
        assert!(at(&alone, &["thread_pool", "search", "threads"]).as_u64() > Some(0));
        assert!(alone.get("http").is_none());
    });
}

/// An exclusion of nothing was no filter at all.
#[test]
fn a_filter_that_excludes_nothing_is_refused() {
    with_node(|mut client| async move {
        for filter in ["-", "name,-", "-,-%20"] {
            let target = format!("/?filter_path={filter}");
            let (status, told) = body(&mut client, "GET", &target, "").await;
            assert_eq!(status, 400, "{filter}");
            let reason = at(&told, &["error", "reason"]).as_str();
            assert_eq!(reason, Some("filters cannot be null or empty"), "{filter}");
        }
        let told = client.good("GET", "/?filter_path=-,-tagline,-version", "").await;
        assert!(told.get("name").is_some() && told.get("tagline").is_none());
    });
}

#[test]
fn a_new_shard_recovered_nothing_of_nothing() {
    with_node(|mut client| async move {
        client.good("PUT", "/a", "").await;
        let told = client.good("GET", "/a/_recovery", "").await;
        let shard = &at(&told, &["a", "shards"]).as_array().expect("a list")[0];
        for part in ["size", "files"] {
            assert_eq!(at(shard, &["index", part, "percent"]).as_str(), Some("0.0%"), "{part}");
        }
        assert_eq!(at(shard, &["translog", "percent"]).as_str(), Some("100.0%"));
    });
}

#[test]
fn a_read_only_cluster_names_the_indices_it_keeps() {
    with_node(|mut client| async move {
        client.good("PUT", "/a", r#"{"aliases":{"al":{}}}"#).await;
        client.good("PUT", "/b", r#"{"settings":{"blocks.write":true}}"#).await;
        let block = r#"{"persistent":{"cluster.blocks.read_only":true}}"#;
        client.good("PUT", "/_cluster/settings", block).await;
        let text = "[FORBIDDEN/6/cluster read-only (api)];";
        let add = r#"{"actions":[{"add":{"index":"a","alias":"x"}}]}"#;
        for (method, target, body, names) in [
            ("PUT", "/zzz", "", &["zzz"][..]),
            ("DELETE", "/a", "", &["a"]),
            ("DELETE", "/a,b", "", &["a", "b"]),
            ("PUT", "/a/_mapping", r#"{"properties":{"n":{"type":"long"}}}"#, &["a"]),
            ("POST", "/_aliases", add, &["a"]),
            ("PUT", "/a/_alias/x", "", &["a"]),
            ("POST", "/a/_close", "", &["a"]),
            ("POST", "/a/_open", "", &["a"]),
            ("PUT", "/a/_block/write", "", &["a"]),
            ("POST", "/al/_rollover/n", "", &["a"]),
            ("PUT", "/b/_clone/c", "", &["c"]),
            ("PUT", "/a/_settings", r#"{"refresh_interval":"3s"}"#, &[]),
            ("POST", "/a/_forcemerge", "", &[]),
            ("PUT", "/a/_doc/1", "{}", &[]),
            ("PUT", "/_index_template/t", r#"{"index_patterns":["q*"]}"#, &[]),
        ] {
            let mut want = String::from("403 cluster_block_exception: ");
            match names {
                [] => want.push_str(&format!("blocked by: {text}")),
                names => {
                    names.iter().for_each(|name| {
                        want.push_str(&format!("index [{name}] blocked by: {text}"));
                    });
                }
            }
            assert_eq!(client.bad(method, target, body).await, want, "{method} {target}");
        }
    });
}

#[test]
fn archived_settings_may_be_taken_back() {
    with_node(|mut client| async move {
        let body = r#"{"persistent":{"archived.x":null}}"#;
        let told = client.good("PUT", "/_cluster/settings", body).await;
        assert_eq!(told, json!({"acknowledged": true, "persistent": {}, "transient": {}}));
        let body = r#"{"persistent":{"archived.x":1}}"#;
        let told = client.bad("PUT", "/_cluster/settings", body).await;
        assert!(told.contains("persistent setting [archived.x], not recognized"), "{told}");
    });
}

/// Tools that copy a cluster's templates read them from its state; there were none.
#[test]
fn the_state_shows_templates_and_data_streams() {
    with_node(|mut client| async move {
        let state = client.good("GET", "/_cluster/state/metadata", "").await;
        let metadata = at(&state, &["metadata"]);
        assert_eq!(at(metadata, &["templates"]), &json!({}));
        for kind in ["component_template", "index_template", "data_stream"] {
            assert_eq!(metadata.get(kind), None, "{kind}");
        }
        let part = r#"{"template":{"settings":{"index.number_of_replicas":0}}}"#;
        client.good("PUT", "/_component_template/c", part).await;
        let whole = r#"{"index_patterns":["ds-*"],"composed_of":["c"],"data_stream":{}}"#;
        client.good("PUT", "/_index_template/t", whole).await;
        let old = r#"{"index_patterns":["o*"],"mappings":{"properties":{"a":{"type":"ip"}}}}"#;
        client.good("PUT", "/_template/o", old).await;
        client.good("PUT", "/_data_stream/ds-m", "").await;
        let state = client.good("GET", "/_cluster/state/metadata", "").await;
        let metadata = at(&state, &["metadata"]);
        assert_eq!(
            at(metadata, &["component_template", "component_template"]),
            &json!({"c": {"template": {"settings": {"index": {"number_of_replicas": "0"}}}}})
        );
        assert_eq!(
            at(metadata, &["index_template", "index_template"]),
            &json!({"t": {"index_patterns": ["ds-*"], "composed_of": ["c"],
                "data_stream": {"hidden": false, "allow_custom_routing": false}}})
        );
        let old = at(metadata, &["templates", "o", "mappings", "_doc", "properties", "a", "type"]);
        assert_eq!(old.as_str(), Some("ip"));
        let streams = at(metadata, &["data_stream"]);
        assert_eq!(at(streams, &["data_stream_aliases"]), &json!({}));
        let stream = at(streams, &["data_stream", "ds-m"]);
        assert_eq!(at(stream, &["timestamp_field"]), &json!({"name": "@timestamp"}));
        assert_eq!(at(stream, &["generation"]).as_u64(), Some(1));
        let index = &at(stream, &["indices"]).as_array().expect("a list")[0];
        let name = at(index, &["index_name"]).as_str().expect("a name");
        assert_eq!(
            at(index, &["index_uuid"]),
            at(metadata, &["indices", name, "settings", "index", "uuid"])
        );
        let flat = client.good("GET", "/_cluster/state/metadata?flat_settings", "").await;
        let parts = at(&flat, &["metadata", "component_template", "component_template"]);
        assert_eq!(
            at(parts, &["c", "template", "settings"]),
            &json!({"index.number_of_replicas": "0"})
        );
        // Who names indices is told of these.
        let state = client.good("GET", "/_cluster/state/metadata/ds-m", "").await;
        assert_eq!(at(&state, &["metadata"]).get("index_template"), None);
    });
}

/// `_cat/allocation` had the figures, and this nothing.
#[test]
fn the_node_tells_what_it_holds() {
    with_node(|mut client| async move {
        client.good("PUT", "/a", r#"{"settings":{"number_of_shards":3}}"#).await;
        client.good("PUT", "/a/_doc/1?refresh", r#"{"a":1}"#).await;
        client.good("POST", "/a/_flush", "").await;
        let stats = client.good("GET", "/_nodes/stats/allocations,indices?human", "").await;
        let nodes = at(&stats, &["nodes"]).as_object().expect("nodes");
        let node = nodes.values().next().expect("a node");
        let told = at(node, &["allocations"]);
        let bytes = at(node, &["indices", "store", "size_in_bytes"]);
        let size = at(node, &["indices", "store", "size"]);
        assert!(bytes.as_u64().is_some_and(|bytes| bytes > 0));
        assert_eq!(
            told,
            &json!({"shards": 3, "undesired_shards": 0, "forecasted_ingest_load": 0.0,
                "forecasted_disk_usage": (size.clone()),
                "forecasted_disk_usage_in_bytes": (bytes.clone()),
                "current_disk_usage": (size.clone()),
                "current_disk_usage_in_bytes": (bytes.clone())})
        );
    });
}

/// The whole call failed, and a table with nothing in it.
#[test]
fn what_names_nothing_is_told_where_it_belongs() {
    with_node(|mut client| async move {
        let told = client.good("GET", "/_resolve/cluster/nope?ignore_unavailable=false", "").await;
        assert_eq!(
            told,
            json!({"(local)": {"connected": true, "skip_unavailable": false,
                "error": "no such index [nope]"}})
        );
        client.good("PUT", "/a", r#"{"aliases":{"al":{}}}"#).await;
        let told =
            client.good("GET", "/_resolve/cluster/a,nope*?ignore_unavailable=false", "").await;
        assert_eq!(at(&told, &["(local)", "matching_indices"]).as_bool(), Some(true));
        let told = client.good("GET", "/_resolve/cluster/nope", "").await;
        assert_eq!(at(&told, &["(local)", "matching_indices"]).as_bool(), Some(false));
        let (status, table) = {
            let answer = client.call("GET", "/_cat/aliases?expand_wildcards=none", "").await;
            (answer.status, answer.text().to_owned())
        };
        assert_eq!((status, &*table), (200, ""));
        let table = client.call("GET", "/_cat/aliases", "").await;
        assert!(table.text().starts_with("al a "), "{}", table.text());
    });
}

/// Elasticsearch's client for Java refused these answers as a whole: members that its types require were not there.
#[test]
fn what_clients_require_of_an_answer_is_there() {
    with_node(|mut client| async move {
        client.good("PUT", "/i", "").await;
        let synthetic = r#"{"settings":{"index.mapping.source.mode":"synthetic"}}"#;
        client.good("PUT", "/s", synthetic).await;
        let report = client.good("GET", "/_health_report", "").await;
        let capacity = ["indicators", "shards_capacity", "details", "frozen"];
        assert_eq!(
            at(&report, &[&capacity[..], &["max_shards_in_cluster"]].concat()).as_u64(),
            Some(0)
        );
        let stats = client.good("GET", "/_cluster/stats", "").await;
        let modes = at(&stats, &["indices", "mappings", "source_modes"]);
        assert_eq!(modes, &json!({"stored": 1, "synthetic": 1}));
        assert_eq!(at(&stats, &["repositories"]), &json!({}));
        let told = client.good("GET", "/_cluster/allocation/explain", "").await;
        let nodes = at(&told, &["node_allocation_decisions"]).as_array().expect("one");
        assert_eq!(nodes[0].get("weight_ranking").and_then(Value::as_u64), Some(1));
        for (flat, names) in [
            (
                "",
                [
                    &["cluster", "election", "strategy"][..],
                    &["http", "type"],
                    &["transport", "type"],
                    &["node", "attr"],
                ],
            ),
            (
                "?flat_settings",
                [
                    &["cluster.election.strategy"][..],
                    &["http.type"],
                    &["transport.type"],
                    &["node.name"],
                ],
            ),
        ] {
            let told = client.good("GET", &format!("/_nodes{flat}"), "").await;
            let (_, node) =
                at(&told, &["nodes"]).as_object().and_then(|all| all.iter().next()).expect("one");
            for name in names {
                assert!(node.get("settings").and_then(|all| all.at(name)).is_some(), "{name:?}");
            }
        }
    });
}
