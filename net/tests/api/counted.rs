//! What is counted goes on counting: rates are drawn of it, and a fall is taken for a restart.

use std::collections::BTreeMap;

use crate::place::{Client, at, with_node};

/// The samples of all families that Prometheus is told to be counters, and of histograms.
async fn counters(client: &mut Client) -> BTreeMap<String, f64> {
    let page = client.call("GET", "/_prometheus", "").await.text();
    let mut found = BTreeMap::new();
    let mut counts = false;
    for line in page.lines() {
        if let Some(family) = line.strip_prefix("# TYPE ") {
            counts = family.ends_with(" counter") || family.ends_with(" histogram");
        } else if !line.starts_with('#') && counts {
            let (name, value) = line.rsplit_once(' ').expect("a sample");
            found.insert(name.to_owned(), value.parse().expect("a number"));
        }
    }
    found
}

/// Counts of the node in the words of `_nodes/stats`.
const COUNTS: [&[&str]; 12] = [
    &["indices", "indexing", "index_total"],
    &["indices", "indexing", "noop_update_total"],
    &["indices", "indexing", "delete_total"],
    &["indices", "get", "total"],
    &["indices", "search", "query_total"],
    &["indices", "search", "fetch_total"],
    &["indices", "merges", "total"],
    &["indices", "merges", "total_docs"],
    &["indices", "refresh", "total"],
    &["indices", "flush", "total"],
    &["indices", "bulk", "total_operations"],
    &["thread_pool", "search", "completed"],
];

async fn node(client: &mut Client) -> json::Value {
    let told = client.good("GET", "/_nodes/stats", "").await;
    at(&told, &["nodes", "AAAAAAAAAAAAAAAAAAAAAA"]).clone()
}

fn count(told: &json::Value, path: &[&str]) -> u64 {
    at(told, path).as_u64().expect("a count")
}

async fn cat(client: &mut Client) -> Vec<u64> {
    let row = client.call("GET", "/_cat/nodes?h=iito,sqto,gto,mt,rto", "").await;
    row.text().split_whitespace().map(|cell| cell.parse().expect("a count")).collect()
}

async fn work(client: &mut Client, index: &str) {
    for round in 0..3 {
        for id in 0..5 {
            let target = format!("/{index}/_doc/{round}{id}?refresh=true");
            client.good("PUT", &target, r#"{"text":"quick fox"}"#).await;
            client.good("GET", &format!("/{index}/_doc/{round}{id}"), "").await;
        }
    }
    client.good("POST", &format!("/{index}/_update/01"), r#"{"doc":{"text":"quick fox"}}"#).await;
    client.good("DELETE", &format!("/{index}/_doc/00"), "").await;
    client.good("POST", &format!("/{index}/_search"), "").await;
    client.good("POST", &format!("/{index}/_forcemerge?max_num_segments=1"), "").await;
}

#[test]
fn counts_of_the_node_outlive_the_indices() {
    // Once all of them were sums over the shards that were there: they fell with each index that was
    // deleted or closed, and Prometheus read restarts out of that.
    with_node(|mut client| async move {
        let two = r#"{"settings":{"number_of_shards":2,"number_of_replicas":0}}"#;
        for index in ["kept", "gone"] {
            client.good("PUT", &format!("/{index}"), two).await;
            work(&mut client, index).await;
        }
        let (mut samples, mut told) = (counters(&mut client).await, node(&mut client).await);
        let mut columns = cat(&mut client).await;
        assert!(columns.iter().all(|count| *count > 0), "{columns:?}");
        assert!(COUNTS.iter().all(|path| count(&told, path) > 0));
        let indexed = count(&told, COUNTS[0]);
        for (method, target) in
            [("POST", "/gone/_close"), ("POST", "/gone/_open"), ("DELETE", "/gone")]
        {
            client.good(method, target, "").await;
            let (samples_now, now) = (counters(&mut client).await, node(&mut client).await);
            for (name, before) in &samples {
                assert!(samples_now[name] >= *before, "{method} {target}: {name}");
            }
            for path in COUNTS {
                assert!(count(&now, path) >= count(&told, path), "{method} {target}: {path:?}");
            }
            let columns_now = cat(&mut client).await;
            let grows = columns_now.iter().zip(&columns).all(|(now, before)| now >= before);
            assert!(grows, "{method} {target}: {columns_now:?} after {columns:?}");
            (samples, told, columns) = (samples_now, now, columns_now);
        }
        assert_eq!(count(&told, COUNTS[0]), indexed, "and none is counted twice");
        assert_eq!(count(&told, &["indices", "docs", "count"]), 14, "what is now is of those here");
        let stats = client.good("GET", "/_stats", "").await;
        let own = at(&stats, &["_all", "primaries", "indexing", "index_total"]).as_u64();
        assert_eq!(own, Some(15), "an index counts for itself");
    });
}

/// Counts of an index: queries, suggestions, gets, those that found something, those that did not.
async fn of_index(client: &mut Client) -> [u64; 5] {
    let stats = client.good("GET", "/a/_stats/search,get", "").await;
    let told = at(&stats, &["_all", "primaries"]);
    assert_eq!(count(told, &["search", "query_current"]), 0);
    [
        count(told, &["search", "query_total"]),
        count(told, &["search", "suggest_total"]),
        count(told, &["get", "total"]),
        count(told, &["get", "exists_total"]),
        count(told, &["get", "missing_total"]),
    ]
}

#[test]
fn what_only_suggests_is_no_query() {
    // Once it counted as a query, too.
    with_node(|mut client| async move {
        client.good("PUT", "/a", "").await;
        client.good("PUT", "/a/_doc/1?refresh", r#"{"t":"captain","n":1}"#).await;
        let suggest = r#""suggest":{"s":{"text":"captian","term":{"field":"t"}}}"#;
        client.good("POST", "/a/_search", &format!("{{{suggest}}}")).await;
        assert_eq!(of_index(&mut client).await[..2], [0, 1]);
        let both = format!(r#"{{"query":{{"match_all":{{}}}},{suggest}}}"#);
        client.good("POST", "/a/_search", &both).await;
        assert_eq!(of_index(&mut client).await[..2], [1, 1]);
    });
}

#[test]
fn a_search_that_is_refused_counts_as_none() {
    // Once it counted as a query that had ended.
    with_node(|mut client| async move {
        client.good("PUT", "/a", "").await;
        client.good("PUT", "/a/_doc/1?refresh", r#"{"t":"captain","n":1}"#).await;
        client.good("POST", "/a/_search", "").await;
        for refused in [
            r#"{"query":{"range":{"n":{"gte":"x"}}}}"#,
            r#"{"sort":"t"}"#,
            r#"{"aggs":{"a":{"terms":{"field":"t"}}}}"#,
            r#"{"query":{"script":{"script":"doc['none'].value > 1"}}}"#,
        ] {
            let told = client.bad("POST", "/a/_search", refused).await;
            assert!(told.starts_with("400 "), "{told}");
            assert_eq!(of_index(&mut client).await[0], 1, "{refused}");
        }
        client.good("POST", "/a/_search", "").await;
        assert_eq!(of_index(&mut client).await[0], 2);
    });
}

/// Fetches of an index that have ended, and those under way.
async fn fetches(client: &mut Client) -> [u64; 2] {
    let stats = client.good("GET", "/a/_stats/search", "").await;
    let told = at(&stats, &["_all", "primaries", "search"]);
    [count(told, &["fetch_total"]), count(told, &["fetch_current"])]
}

#[test]
fn a_fetch_that_fails_counts_as_none() {
    // Once it counted as one that had ended: only what matches told its counters of failures.
    with_node(|mut client| async move {
        client.good("PUT", "/a", "").await;
        client.good("PUT", "/a/_doc/1?refresh", r#"{"t":"captain","n":1}"#).await;
        client.good("POST", "/a/_search", "").await;
        assert_eq!(fetches(&mut client).await, [1, 0]);
        let fails = r#""script_fields":{"x":{"script":"doc['none'].value"}}"#;
        for refused in
            [format!("{{{fails}}}"), format!(r#"{{"aggs":{{"a":{{"top_hits":{{{fails}}}}}}}}}"#)]
        {
            let told = client.bad("POST", "/a/_search", &refused).await;
            assert!(told.starts_with("400 "), "{told}");
            assert_eq!(fetches(&mut client).await, [1, 0], "{refused}");
        }
        client.good("POST", "/a/_search", "").await;
        assert_eq!(fetches(&mut client).await, [2, 0]);
    });
}

#[test]
fn an_update_counts_the_document_that_it_reads() {
    // Once `get` knew of documents only that were asked for.
    with_node(|mut client| async move {
        client.good("PUT", "/a/_doc/1?refresh", r#"{"n":1}"#).await;
        assert_eq!(of_index(&mut client).await[2..], [0, 0, 0]);
        client.good("POST", "/a/_update/1", r#"{"doc":{"n":2}}"#).await;
        assert_eq!(of_index(&mut client).await[2..], [1, 1, 0]);
        client.good("POST", "/a/_update/2", r#"{"doc":{"n":2},"doc_as_upsert":true}"#).await;
        assert_eq!(of_index(&mut client).await[2..], [2, 1, 1]);
        client.bad("POST", "/a/_update/3", r#"{"doc":{"n":2}}"#).await;
        assert_eq!(of_index(&mut client).await[2..], [3, 1, 2]);
        client.good("GET", "/a/_doc/1", "").await;
        assert_eq!(of_index(&mut client).await[2..], [4, 2, 2]);
    });
}

#[test]
fn an_update_that_changes_nothing_counts_as_that() {
    // Once the figure stood still.
    with_node(|mut client| async move {
        client.good("PUT", "/a/_doc/1?refresh", r#"{"a":1}"#).await;
        client.good("PUT", "/b", "").await;
        for _ in 0..3 {
            client.good("POST", "/a/_update/1", r#"{"doc":{"a":1}}"#).await;
        }
        let bulk = "{\"update\":{\"_id\":\"1\"}}\n{\"doc\":{\"a\":1}}\n";
        client.good("POST", "/a/_bulk", bulk).await;
        client.good("POST", "/a/_update/1", r#"{"script":"ctx.op = 'none'"}"#).await;
        client.good("POST", "/a/_update/1", r#"{"doc":{"a":1},"detect_noop":false}"#).await;
        client.good("POST", "/a/_update/1", r#"{"doc":{"a":2}}"#).await;
        let stats = client.good("GET", "/_stats/indexing?level=shards", "").await;
        let noops = |path: &[&str]| {
            let told = at(at(&stats, path), &["indexing"]);
            (count(told, &["noop_update_total"]), count(told, &["index_total"]))
        };
        assert_eq!(noops(&["_all", "primaries"]), (5, 3));
        assert_eq!(noops(&["indices", "a", "total"]), (5, 3));
        assert_eq!(noops(&["indices", "b", "total"]), (0, 0));
        assert_eq!(count(&node(&mut client).await, COUNTS[1]), 5);
    });
}

#[test]
fn groups_of_the_address_take_the_place_of_those_of_the_body() {
    // Once the address's were passed over.
    with_node(|mut client| async move {
        client.good("PUT", "/a/_doc/1?refresh", r#"{"a":1}"#).await;
        client.good("POST", "/a/_search?stats=g1,g2", r#"{"stats":["own"]}"#).await;
        client.good("POST", "/a/_search", r#"{"stats":["own"]}"#).await;
        client.good("GET", "/a/_search?stats=g2", "").await;
        let stats = client.good("GET", "/a/_stats/search?groups=*", "").await;
        let groups = at(&stats, &["_all", "primaries", "search", "groups"]);
        assert_eq!(groups.as_object().map(json::Object::len), Some(3), "{groups:?}");
        for (group, searches) in [("g1", 1), ("g2", 2), ("own", 1)] {
            assert_eq!(count(groups, &[group, "query_total"]), searches, "{group}");
        }
        // Of nodes nobody heard of them.
        let path = &["nodes", "AAAAAAAAAAAAAAAAAAAAAA", "indices", "search"];
        let nodes = client.good("GET", "/_nodes/stats/indices?groups=g*", "").await;
        let groups = at(at(&nodes, path), &["groups"]);
        assert_eq!(groups.as_object().map(json::Object::len), Some(2), "{groups:?}");
        assert_eq!(count(groups, &["g2", "query_total"]), 2);
        let nodes = client.good("GET", "/_nodes/stats/indices?level=indices&groups=own", "").await;
        let own = at(&nodes, &["nodes", "AAAAAAAAAAAAAAAAAAAAAA", "indices", "indices", "a"]);
        assert_eq!(count(own, &["search", "groups", "own", "query_total"]), 1);
        let nodes = client.good("GET", "/_nodes/stats/indices", "").await;
        assert!(at(&nodes, path).get("groups").is_none());
    });
}

/// A group had fetches where no hit was read, of all shards where one had a hit, and nothing of suggestions; it
/// tells of a shard what that tells of itself.
#[test]
fn groups_count_as_their_shards_do() {
    with_node(|mut client| async move {
        client.good("PUT", "/a", r#"{"settings":{"number_of_shards":3}}"#).await;
        client.good("PUT", "/a/_doc/1?refresh", r#"{"t":"captain"}"#).await;
        let suggest = r#""suggest":{"s":{"text":"captian","term":{"field":"t"}}}"#;
        let both = format!(r#"{{"size":0,"query":{{"match_all":{{}}}},{suggest}}}"#);
        let figures = ["query_total", "fetch_total", "suggest_total"];
        for (group, body, counts) in [
            ("none", r#"{"size":0}"#.to_owned(), [3, 0, 0]),
            ("hit", "{}".to_owned(), [3, 1, 0]),
            ("suggests", format!("{{{suggest}}}"), [0, 0, 3]),
            ("both", both, [3, 0, 0]),
        ] {
            let before = client.good("GET", "/a/_stats/search", "").await;
            client.good("POST", &format!("/a/_search?stats={group}"), &body).await;
            let stats = client.good("GET", "/a/_stats/search?groups=*", "").await;
            let search = at(&stats, &["_all", "primaries", "search"]);
            for (figure, wanted) in std::iter::zip(figures, counts) {
                assert_eq!(count(search, &["groups", group, figure]), wanted, "{group} {figure}");
                let before = count(&before, &["_all", "primaries", "search", figure]);
                assert_eq!(count(search, &[figure]) - before, wanted, "all, {group} {figure}");
            }
        }
    });
}

/// The rest of a batch that waited for a new field was counted as a batch of its own.
#[test]
fn a_batch_that_brings_fields_counts_once() {
    with_node(|mut client| async move {
        client.good("PUT", "/a", "").await;
        let lines = concat!(
            "{\"index\":{\"_id\":\"1\"}}\n{\"old\":1}\n",
            "{\"update\":{\"_id\":\"1\"}}\n{\"doc\":{\"new\":1}}\n",
            "{\"update\":{\"_id\":\"1\"}}\n{\"doc\":{\"newer\":1}}\n",
            "{\"index\":{\"_id\":\"2\"}}\n{\"newest\":1}\n",
        );
        let done = client.good("POST", "/a/_bulk", lines).await;
        assert_eq!(at(&done, &["errors"]).as_bool(), Some(false), "{}", json::to_string(&done));
        let stats = client.good("GET", "/a/_stats/bulk", "").await;
        let bulk = at(&stats, &["_all", "primaries", "bulk"]);
        assert_eq!(count(bulk, &["total_operations"]), 1);
        assert_eq!(count(bulk, &["total_size_in_bytes"]), "{\"old\":1}{\"newest\":1}".len() as u64);
        client.good("POST", "/a/_update/1", r#"{"doc":{"last":1}}"#).await;
        let stats = client.good("GET", "/a/_stats/bulk", "").await;
        assert_eq!(count(&stats, &["_all", "primaries", "bulk", "total_operations"]), 2);
    });
}

/// What was no request was answered, and counted as no answer.
#[test]
fn answers_to_what_is_no_request_count() {
    crate::place::with_clients(1, 3, |mut clients| async move {
        let mut looks = clients.pop().expect("three");
        let name = "corelode_http_answers_total{status=\"4xx\"}";
        assert_eq!(counters(&mut looks).await[name], 0.0);
        for (mut client, wrong) in std::iter::zip(
            clients,
            [
                "GET / HTTP/1.1\r\nno field\r\n\r\n".to_owned(),
                format!("GET /{} HTTP/1.1\r\n\r\n", "x".repeat(5_000)),
            ],
        ) {
            client.write(wrong.as_bytes()).await;
            assert_eq!(client.answer("GET", "/").await.status, 400);
        }
        assert_eq!(counters(&mut looks).await[name], 2.0);
    });
}

/// A point in time was no open context.
#[test]
fn scrolls_and_points_in_time_are_open_contexts() {
    with_node(|mut client| async move {
        client.good("PUT", "/m/_doc/1?refresh", r#"{"n":1}"#).await;
        let opened = client.good("POST", "/m/_pit?keep_alive=1m", "").await;
        let id = at(&opened, &["id"]).as_str().expect("an id").to_owned();
        client.good("POST", "/m/_search?scroll=1m", "").await;
        for (open, scrolls) in [(2, 1), (1, 1)] {
            let stats = client.good("GET", "/m/_stats/search", "").await;
            let search = at(&stats, &["_all", "total", "search"]);
            assert_eq!(at(search, &["open_contexts"]).as_u64(), Some(open));
            assert_eq!(at(search, &["scroll_current"]).as_u64(), Some(scrolls));
            client.call("DELETE", "/_pit", &format!(r#"{{"id":"{id}"}}"#)).await;
        }
    });
}

/// Who asked for a node that is not there was told the searches of the cluster.
#[test]
fn of_no_node_nothing_is_counted() {
    with_node(|mut client| async move {
        work(&mut client, "a").await;
        client.good("GET", "/a/_search", r#"{"query":{"match":{"text":"fox"}}}"#).await;
        let all = client.good("GET", "/_cluster/stats", "").await;
        assert!(at(&all, &["indices", "search", "total"]).as_u64() > Some(0));
        assert!(count(&all, &["nodes", "indexing_pressure", "memory", "limit_in_bytes"]) > 0);
        let none = client.good("GET", "/_cluster/stats/nodes/nope", "").await;
        let mut figures = Vec::new();
        for part in ["indices", "nodes"] {
            let mut told = at(&none, &[part]).clone();
            // What mappings hold is the cluster's.
            for key in ["mappings", "analysis"] {
                told.as_object_mut().expect("an object").remove(key);
            }
            numbers(&told, part, &mut figures);
        }
        assert!(figures.len() > 50, "{figures:?}");
        // -1 stands for none.
        figures.retain(|(path, _)| !path.ends_with("max_unsafe_auto_id_timestamp"));
        let found: Vec<_> = figures.iter().filter(|(_, figure)| *figure != 0.0).collect();
        assert!(found.is_empty(), "{found:?}");
        assert!(at(&none, &["indices", "search", "queries"]).as_object().expect("none").is_empty());
    });
}

/// All numbers of a tree, with their paths.
fn numbers(tree: &json::Value, path: &str, found: &mut Vec<(String, f64)>) {
    if let Some(number) = tree.as_f64() {
        found.push((path.to_owned(), number));
    }
    for (key, value) in tree.as_object().into_iter().flat_map(|object| object.iter()) {
        numbers(value, &format!("{path}.{key}"), found);
    }
    for value in tree.as_array().into_iter().flatten() {
        numbers(value, path, found);
    }
}
