//! What callers are told of a shard that does not serve: `bad` has two, and the files of the first are damaged.

use json::{Value, json};

use crate::lost::break_segment;
use crate::place::{Client, Machine, at};

/// A machine with that index, a whole one, and one of a single shard that is damaged.
fn machine(seed: u64) -> Machine {
    let machine = Machine::new(seed);
    let mut uuids = Vec::new();
    machine.story(async |mut client: Client| {
        for (index, shards) in [("bad", 2), ("good", 2), ("gone", 1)] {
            let settings =
                json!({"settings": {"number_of_shards": shards, "number_of_replicas": 0}});
            client.good("PUT", &format!("/{index}"), &json::to_string(&settings)).await;
            for id in 0..10 {
                let target = format!("/{index}/_doc/{id}");
                client.good("PUT", &target, r#"{"text":"quick"}"#).await;
            }
            client.good("POST", &format!("/{index}/_flush"), "").await;
            let settings = client.good("GET", &format!("/{index}/_settings"), "").await;
            let uuid = at(&settings, &[index, "settings", "index", "uuid"]).as_str();
            uuids.push(uuid.expect("an id").to_owned());
        }
    });
    break_segment(&machine, &uuids[0]);
    break_segment(&machine, &uuids[2]);
    machine
}

/// An answer with its status, whatever it is.
async fn told(client: &mut Client, method: &str, target: &str, body: &str) -> (u16, Value) {
    let response = client.call(method, target, body).await;
    let value = json::parse(response.text().as_bytes()).expect("JSON");
    (response.status, value)
}

/// An id of a document in the damaged shard of `bad`, and one of the other.
async fn ids(client: &mut Client) -> (String, String) {
    let (mut lost, mut well) = (None, None);
    for id in 0..10 {
        match client.call("GET", &format!("/bad/_doc/{id}"), "").await.status {
            503 => lost = Some(id.to_string()),
            _ => well = Some(id.to_string()),
        }
    }
    (lost.expect("one of ten"), well.expect("one of ten"))
}

const MUTE: &str = r#"{"type":"no_shard_available_action_exception","reason":"FILE"}"#;

/// An answer in which the damaged file is named, by its place in the store, with a word in place of that.
fn without_file(answer: &Value) -> String {
    let text = json::to_string(answer);
    let mut told = String::new();
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once("\"reason\":\"[indices/") {
        let (file, after) = after.split_once('"').expect("the end of the reason");
        assert!(file.contains("/segment-"), "{text}");
        told.push_str(before);
        told.push_str("\"reason\":\"FILE\"");
        rest = after;
    }
    told.push_str(rest);
    told
}

#[test]
fn a_search_names_no_node_for_a_shard_that_does_not_serve() {
    // Once the node was named, with `unavailable_shards_exception` and the path of the damaged file.
    machine(31).story(async |mut client: Client| {
        let failure =
            |index: &str| format!(r#"{{"shard":0,"index":"{index}","node":null,"reason":{MUTE}}}"#);
        for target in ["/bad/_search", "/bad/_count"] {
            let found = client.good("GET", target, "").await;
            let expected = format!(
                r#"{{"total":2,"successful":1,"skipped":0,"failed":1,"failures":[{}]}}"#,
                failure("bad")
            );
            assert_eq!(without_file(at(&found, &["_shards"])), expected, "{target}");
        }
        let (status, all) = told(&mut client, "GET", "/gone/_search", "").await;
        let expected = format!(
            r#"{{"error":{{"root_cause":[{MUTE}],"type":"search_phase_execution_exception","reason":"all shards failed","phase":"query","grouped":true,"failed_shards":[{}],"caused_by":{MUTE}}},"status":503}}"#,
            failure("gone")
        );
        assert_eq!((status, without_file(&all)), (503, expected));
        let target = "/bad,gone/_search?allow_partial_search_results=false";
        let (status, part) = told(&mut client, "GET", target, "").await;
        let expected = r#"{"error":{"root_cause":[],"type":"search_phase_execution_exception","reason":"Search rejected due to missing shards [[bad][0], [gone][0]]. Consider using `allow_partial_search_results` setting to bypass this error.","phase":"query","grouped":true,"failed_shards":[]},"status":503}"#;
        assert_eq!((status, json::to_string(&part).as_str()), (503, expected));
        let (status, pit) = told(&mut client, "POST", "/bad/_pit?keep_alive=1m", "").await;
        assert_eq!(status, 503);
        let reason = "[open_point_in_time] action requires all shards to be available. Missing shards: [[bad][0]]. \
                      Consider using `allow_partial_search_results` setting to bypass this error.";
        assert_eq!(at(&pit, &["error", "reason"]).as_str(), Some(reason));
        let valid = client.good("GET", "/gone/_validate/query?explain=true", "").await;
        let expected = r#"{"_shards":{"total":1,"successful":0,"failed":0},"valid":true}"#;
        assert_eq!(json::to_string(&valid), expected, "a shard that is not there judges nothing");
    });
}

#[test]
fn a_document_of_a_shard_that_does_not_serve_is_told_by_its_request() {
    machine(32).story(async |mut client: Client| {
        let (lost, well) = ids(&mut client).await;
        let reason = |verb: &str, routing: &str| {
            format!("No shard available for [{verb} [bad][{lost}]: routing [{routing}]]")
        };
        let kind = "503 no_shard_available_action_exception";
        let get = client.bad("GET", &format!("/bad/_doc/{lost}"), "").await;
        assert_eq!(get, format!("{kind}: {}", reason("get", "null")));
        let get = client.bad("GET", &format!("/bad/_doc/{lost}?routing={lost}"), "").await;
        assert_eq!(get, format!("{kind}: {}", reason("get", &lost)));
        let body = r#"{"query":{"match_all":{}}}"#;
        let why = client.bad("GET", &format!("/bad/_explain/{lost}"), body).await;
        assert_eq!(why, format!("{kind}: {}", reason("explain", "null")));
        let asked = format!(r#"{{"ids":["{lost}","{well}"]}}"#);
        let both = client.good("GET", "/bad/_mget", &asked).await;
        let docs = at(&both, &["docs"]).as_array().expect("two");
        let error = at(&docs[0], &["error"]);
        assert_eq!(at(error, &["reason"]).as_str(), Some(&*reason("get", "null")));
        assert_eq!(at(&docs[1], &["found"]).as_bool(), Some(true));
    });
}

#[test]
fn a_write_to_a_shard_that_does_not_serve_says_for_what_it_waited() {
    machine(33).story(async |mut client: Client| {
        let (lost, well) = ids(&mut client).await;
        let one = format!("/bad/_doc/{lost}");
        let said = |timeout: &str, path: &str| {
            format!(
                "[bad][0] primary shard is not active Timeout: [{timeout}], request: [{path}]"
            )
        };
        let kind = "503 unavailable_shards_exception";
        let put = client.bad("PUT", &one, "{}").await;
        assert_eq!(put, format!("{kind}: {}", said("1m", &one)));
        let delete = client.bad("DELETE", &format!("{one}?timeout=2s"), "").await;
        assert_eq!(delete, format!("{kind}: {}", said("2s", &one)));
        let update = format!("/bad/_update/{lost}");
        let told = client.bad("POST", &update, r#"{"doc":{"a":1}}"#).await;
        assert_eq!(told, format!("{kind}: {}", said("1m", &update)));
        let lines = format!(
            "{{\"index\":{{\"_id\":\"{lost}\"}}}}\n{{}}\n{{\"index\":{{\"_id\":\"{well}\"}}}}\n{{}}\n"
        );
        let bulk = client.good("POST", "/bad/_bulk", &lines).await;
        let items = at(&bulk, &["items"]).as_array().expect("two");
        let error = at(&items[0], &["index", "error", "reason"]);
        assert_eq!(error.as_str(), Some(&*said("1m", "/bad/_bulk")));
        assert_eq!(at(&items[1], &["index", "result"]).as_str(), Some("updated"));
    });
}

#[test]
fn a_shard_that_does_not_serve_counts_in_totals_alone() {
    // Once broadcasts counted it as failed, `_segments` did not count it, and `_cluster/stats` as if it were there.
    machine(34).story(async |mut client: Client| {
        let counts = r#"{"total":2,"successful":1,"failed":0}"#;
        for (method, target) in [
            ("POST", "/bad/_refresh"),
            ("POST", "/bad/_flush"),
            ("POST", "/bad/_forcemerge"),
            ("POST", "/bad/_cache/clear"),
            ("POST", "/bad/_disk_usage?run_expensive_tasks=true"),
            ("GET", "/bad/_segments"),
            ("GET", "/bad/_stats"),
        ] {
            let told = client.good(method, target, "").await;
            assert_eq!(json::to_string(at(&told, &["_shards"])), counts, "{target}");
        }
        let none = client.good("POST", "/gone/_refresh", "").await;
        let expected = r#"{"total":1,"successful":0,"failed":0}"#;
        assert_eq!(json::to_string(at(&none, &["_shards"])), expected);
        let segments = client.good("GET", "/gone/_segments", "").await;
        assert_eq!(json::to_string(at(&segments, &["indices"])), "{}");
        // Once these named the index, with figures of nothing.
        let none = json::to_string(at(&none, &["_shards"]));
        let stats = client.good("GET", "/gone/_stats?level=shards", "").await;
        let nothing = r#""_all":{"primaries":{},"total":{}},"indices":{}"#;
        assert_eq!(json::to_string(&stats), format!("{{\"_shards\":{none},{nothing}}}"));
        for (method, target) in
            [("POST", "/gone/_disk_usage?run_expensive_tasks=true"), ("GET", "/gone/_field_usage_stats")]
        {
            let told = client.good(method, target, "").await;
            assert_eq!(json::to_string(&told), format!("{{\"_shards\":{none}}}"), "{target}");
        }
        let stats = client.good("GET", "/_cluster/stats", "").await;
        assert_eq!(at(&stats, &["indices", "count"]).as_u64(), Some(2), "`gone` has no shard");
        let expected = r#"{"total":3,"primaries":3,"replication":0.0,"index":{"shards":{"min":1,"max":2,"avg":1.5},"primaries":{"min":1,"max":2,"avg":1.5},"replication":{"min":0.0,"max":0.0,"avg":0.0}}}"#;
        assert_eq!(json::to_string(at(&stats, &["indices", "shards"])), expected);
        let count = client.good("GET", "/bad,good/_count", "").await;
        let docs = at(&stats, &["indices", "docs", "count"]).as_u64();
        assert_eq!(docs, at(&count, &["count"]).as_u64());
        let copies = client.good("GET", "/bad/_search_shards", "").await;
        let groups = at(&copies, &["shards"]).as_array().expect("two groups");
        let sizes: Vec<_> = groups.iter().map(|group| group.as_array().map(<[_]>::len)).collect();
        assert_eq!(sizes, [Some(0), Some(1)]);
    });
}

#[test]
fn a_damaged_primary_is_explained_by_its_store() {
    // Once `no_attempt` stood beside the failed one, and `max_retry` was said to speak against it.
    machine(35).story(async |mut client: Client| {
        client.good("PUT", "/gone/_settings", r#"{"number_of_replicas":1}"#).await;
        let asked = r#"{"index":"gone","shard":0,"primary":true}"#;
        let told = client.good("POST", "/_cluster/allocation/explain", asked).await;
        let info = at(&told, &["unassigned_info"]);
        assert_eq!(at(info, &["last_allocation_status"]).as_str(), Some("no_valid_shard_copy"));
        assert_eq!(at(info, &["failed_allocation_attempts"]).as_u64(), Some(1));
        assert_eq!(at(&told, &["can_allocate"]).as_str(), Some("no_valid_shard_copy"));
        let why = at(&told, &["allocate_explanation"]).as_str().expect("a text");
        assert!(
            why.contains(
                "because all the copies of its data in the cluster are stale or corrupt. "
            ),
            "{why}"
        );
        let decision = &at(&told, &["node_allocation_decisions"]).as_array().expect("one")[0];
        assert_eq!(at(decision, &["node_decision"]).as_str(), Some("no"));
        assert!(decision.get("deciders").is_none() && decision.get("weight_ranking").is_none());
        let store = at(decision, &["store"]);
        assert_eq!(at(store, &["in_sync"]).as_bool(), Some(true));
        let error = at(store, &["store_exception"]);
        assert_eq!(at(error, &["type"]).as_str(), Some("corrupt_index_exception"));
        assert_eq!(at(error, &["reason"]), at(info, &["details"]));
        let asked = r#"{"index":"gone","shard":0,"primary":false}"#;
        let told = client.good("POST", "/_cluster/allocation/explain", asked).await;
        let decision = &at(&told, &["node_allocation_decisions"]).as_array().expect("one")[0];
        let decider = &at(decision, &["deciders"]).as_array().expect("one")[0];
        assert_eq!(at(decider, &["decider"]).as_str(), Some("replica_after_primary_active"));
        let state = client.good("GET", "/_cluster/state/routing_table/gone", "").await;
        let table = at(&state, &["routing_table", "indices", "gone", "shards", "0"]);
        let copies = table.as_array().expect("copies");
        let ended = |at: usize| copies[at].at(&["unassigned_info", "allocation_status"]).cloned();
        assert_eq!(ended(0), Some("no_valid_shard_copy".into()));
        assert_eq!(ended(1), Some("no_attempt".into()));
    });
}

#[test]
fn nobody_is_told_where_the_store_lies() {
    // Once every error named the damaged file by its whole path.
    machine(36).story(async |mut client: Client| {
        let explain = r#"{"index":"bad","shard":0,"primary":true}"#;
        let reroute = r#"{"commands":[{"allocate_empty_primary":{"index":"bad","shard":0,"node":"node-1","accept_data_loss":true}}]}"#;
        let mut named = 0;
        for (method, target, body) in [
            ("GET", "/bad/_search", ""),
            ("GET", "/bad/_doc/1", ""),
            ("PUT", "/bad/_doc/1", "{}"),
            ("PUT", "/bad/_doc/2", "{}"),
            ("POST", "/bad/_refresh", ""),
            ("GET", "/bad/_shard_stores", ""),
            ("GET", "/_cat/shards/bad?h=state,unassigned.details", ""),
            ("GET", "/_cluster/state/routing_table,routing_nodes/bad", ""),
            ("POST", "/_cluster/allocation/explain", explain),
            ("POST", "/_cluster/reroute", reroute),
            ("GET", "/_health_report?verbose=true", ""),
        ] {
            let text = client.call(method, target, body).await.text();
            assert!(!text.contains("/data/"), "{method} {target}: {text}");
            named += usize::from(text.contains("/segment-"));
        }
        assert!(named >= 5, "operators are told which file it is: {named}");
    });
}

#[test]
fn health_and_the_table_of_indices_obey_options_of_names() {
    // Once they refused the parameters.
    machine(37).story(async |mut client: Client| {
        let rows = |text: String| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let target = "/_cat/indices/good,missing?h=index&ignore_unavailable=true";
        assert_eq!(rows(client.call("GET", target, "").await.text()), ["good"]);
        let strict = client.bad("GET", "/_cat/indices/good,missing", "").await;
        assert!(strict.starts_with("404 index_not_found_exception"), "{strict}");
        let none = "/_cat/indices/missing*?h=index&allow_no_indices=";
        assert_eq!(client.call("GET", &format!("{none}true"), "").await.text().trim(), "");
        let strict = client.bad("GET", &format!("{none}false"), "").await;
        assert!(strict.starts_with("404 index_not_found_exception"), "{strict}");
        let health = "/_cluster/health/missing*?allow_no_indices=";
        let (status, told_) = told(&mut client, "GET", &format!("{health}true"), "").await;
        assert_eq!((status, at(&told_, &["status"]).as_str()), (200, Some("green")));
        let (status, told_) = told(&mut client, "GET", &format!("{health}false"), "").await;
        assert_eq!(
            (status, at(&told_, &["status"]).as_str()),
            (200, Some("red")),
            "no index, no colour"
        );
        assert_eq!(at(&told_, &["timed_out"]).as_bool(), Some(false));
        // A missing name is waited for, whatever the options say; they say whether the others are counted.
        let health = "/_cluster/health/good,missing?timeout=0s&ignore_unavailable=";
        for (lenient, active) in [("true", 2), ("false", 0)] {
            let (status, told) = told(&mut client, "GET", &format!("{health}{lenient}"), "").await;
            assert_eq!((status, at(&told, &["status"]).as_str()), (408, Some("red")), "{lenient}");
            assert_eq!(at(&told, &["active_shards"]).as_u64(), Some(active), "{lenient}");
        }
    });
}
