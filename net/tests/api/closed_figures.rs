//! What is told of indices that nobody reads: closed ones.

use std::path::PathBuf;

use env::{Disk, Env};
use json::Value;

use crate::place::{Client, Machine, at, with_node};

/// What `_stats` says of all shards of `c`, closed or not.
async fn figures(client: &mut Client) -> Value {
    let told = client.good("GET", "/c/_stats?forbid_closed_indices=false&level=shards", "").await;
    assert_eq!(at(&told, &["_shards", "failed"]).as_u64(), Some(0));
    told
}

/// They were zeros, and no shard of a closed index was counted as there.
#[test]
fn a_closed_index_keeps_its_figures() {
    with_node(|mut client| async move {
        let body = r#"{"settings":{"number_of_shards":2,"number_of_replicas":0}}"#;
        client.good("PUT", "/c", body).await;
        for id in 0..20 {
            let target = format!("/c/_doc/{id}?refresh=true");
            client.good("PUT", &target, r#"{"t":"some text"}"#).await;
        }
        client.good("POST", "/c/_flush", "").await;
        for id in 0..5 {
            client.good("DELETE", &format!("/c/_doc/{id}?refresh=true"), "").await;
        }
        client.good("POST", "/c/_flush", "").await;
        let open = figures(&mut client).await;
        client.good("POST", "/c/_close", "").await;
        let closed = figures(&mut client).await;
        let counted = |told: &Value, path: &[&str]| at(told, path).as_u64().expect("a count");
        for path in [
            &["_shards", "total"][..],
            &["_shards", "successful"],
            &["_all", "total", "docs", "count"],
            &["_all", "total", "shard_stats", "total_count"],
            &["indices", "c", "primaries", "docs", "count"],
            &["indices", "c", "primaries", "docs", "deleted"],
            &["indices", "c", "primaries", "docs", "total_size_in_bytes"],
            &["indices", "c", "primaries", "store", "size_in_bytes"],
            &["indices", "c", "primaries", "segments", "count"],
        ] {
            assert_eq!(counted(&closed, path), counted(&open, path), "{path:?}");
        }
        assert_eq!(counted(&closed, &["_all", "total", "docs", "count"]), 15);
        assert!(counted(&closed, &["_all", "total", "store", "size_in_bytes"]) > 0);
        assert_eq!(at(&closed, &["indices", "c", "status"]).as_str(), Some("close"));
        for number in ["0", "1"] {
            let before = at(&open, &["indices", "c", "shards", number]);
            let after = at(&closed, &["indices", "c", "shards", number]);
            let (before, after) = (before.as_array().expect("one"), after.as_array().expect("one"));
            for path in [&["docs", "count"][..], &["docs", "deleted"], &["seq_no", "max_seq_no"]] {
                assert_eq!(at(&after[0], path), at(&before[0], path), "{number} {path:?}");
            }
        }
        // What is not written down anywhere begins anew.
        assert_eq!(counted(&closed, &["_all", "total", "indexing", "index_total"]), 0);
        assert_eq!(counted(&closed, &["_all", "total", "translog", "operations"]), 0);
    });
}

/// Documents, bytes and segments of all shards that are here, as all who sum them up tell them.
async fn sums(client: &mut Client) -> Vec<(String, u64)> {
    let mut found = Vec::new();
    let cluster = client.good("GET", "/_cluster/stats", "").await;
    let nodes = client.good("GET", "/_nodes/stats/indices,allocations", "").await;
    let node = at(&nodes, &["nodes", "AAAAAAAAAAAAAAAAAAAAAA"]);
    for path in
        [["docs", "count"], ["docs", "deleted"], ["store", "size_in_bytes"], ["segments", "count"]]
    {
        for (who, told) in [("cluster", &cluster), ("node", node)] {
            let figure = at(told, &["indices", path[0], path[1]]).as_u64().expect("a figure");
            found.push((format!("{who} {path:?}"), figure));
        }
    }
    let of_version = &at(&cluster, &["indices", "versions"]).as_array().expect("one")[0];
    let allocated = at(node, &["allocations", "current_disk_usage_in_bytes"]);
    for told in [at(of_version, &["total_primary_bytes"]), allocated] {
        found.push(("bytes".to_owned(), told.as_u64().expect("a figure")));
    }
    let cat = client.call("GET", "/_cat/allocation?h=disk.indices&bytes=b", "").await.text();
    found.push(("_cat/allocation".to_owned(), cat.trim().parse().expect("a figure")));
    let page = client.call("GET", "/_prometheus", "").await.text();
    for line in page.lines() {
        if let Some((name, figure)) = line.split_once(' ')
            && ["docs", "docs_deleted", "store_bytes", "segments"]
                .contains(&name.trim_start_matches("corelode_"))
        {
            found.push((name.to_owned(), figure.parse().expect("a figure")));
        }
    }
    found
}

/// An index `index` of two shards with 18 documents of 20, all of it in files, and nothing left to merge.
async fn fill(client: &mut Client, index: &str) {
    let body = r#"{"settings":{"number_of_shards":2,"number_of_replicas":0}}"#;
    client.good("PUT", &format!("/{index}"), body).await;
    for id in 0..20 {
        client.good("PUT", &format!("/{index}/_doc/{id}"), r#"{"t":"some text"}"#).await;
    }
    client.good("POST", &format!("/{index}/_forcemerge?max_num_segments=1"), "").await;
    for id in 0..2 {
        client.good("DELETE", &format!("/{index}/_doc/{id}"), "").await;
    }
    client.good("POST", &format!("/{index}/_flush"), "").await;
}

/// They counted the shards of closed indices, and nothing of what these hold.
#[test]
fn sums_of_the_node_hold_closed_indices() {
    let machine = Machine::new(41);
    let mut open = Vec::new();
    machine.story(async |mut client: Client| {
        fill(&mut client, "c").await;
        fill(&mut client, "d").await;
        open = sums(&mut client).await;
        assert_eq!(open.len(), 15);
        assert_eq!((open[0].1, open[2].1), (36, 4), "documents, deleted ones");
        client.good("POST", "/c/_close", "").await;
        assert_eq!(sums(&mut client).await, open);
        let nodes = client.good("GET", "/_nodes/stats/indices?level=shards", "").await;
        let node = at(&nodes, &["nodes", "AAAAAAAAAAAAAAAAAAAAAA", "indices"]);
        let shards = at(node, &["shards", "c"]).as_array().expect("its shards");
        assert_eq!(shards.len(), 2);
        let table = client.call("GET", "/_cat/shards/c?h=docs", "").await.text();
        let docs = table.lines().map(|line| line.trim().parse::<u64>().expect("a count"));
        assert_eq!(docs.sum::<u64>(), 18);
    });
    machine.story(async |mut client: Client| {
        assert_eq!(sums(&mut client).await, open, "what lay there when the node started");
        client.good("POST", "/c/_open", "").await;
        assert_eq!(sums(&mut client).await, open);
        client.good("POST", "/c/_close", "").await;
        client.good("DELETE", "/c", "").await;
        assert_eq!(sums(&mut client).await[0].1, 18);
    });
}

/// A shard whose manifest could not be read any more was told as there, and its index as green.
#[test]
fn a_closed_shard_that_cannot_be_read_any_more_is_a_failed_one() {
    let machine = Machine::new(42);
    machine.story(async |mut client: Client| {
        fill(&mut client, "c").await;
        fill(&mut client, "d").await;
        client.good("POST", "/c,d/_close", "").await;
        let settings = client.good("GET", "/c/_settings", "").await;
        let uuid = at(&settings, &["c", "settings", "index", "uuid"]).as_str().expect("an id");
        let all = "/c,d/_stats?forbid_closed_indices=false&level=shards";
        let told = client.good("GET", all, "").await;
        assert_eq!(at(&told, &["indices", "c", "health"]).as_str(), Some("green"));
        for slot in 0..2 {
            machine.sim.plant(format!("/data/indices/{uuid}/1/manifest-{slot}"), b"rot");
        }
        let told = client.good("GET", all, "").await;
        assert_eq!(at(&told, &["indices", "c", "health"]).as_str(), Some("red"));
        assert_eq!(at(&told, &["indices", "d", "health"]).as_str(), Some("green"));
        assert_eq!(at(&told, &["_shards", "total"]).as_u64(), Some(4));
        assert_eq!(at(&told, &["_shards", "successful"]).as_u64(), Some(3));
        let shards = at(&told, &["indices", "c", "shards"]).as_object().expect("shards");
        assert_eq!(shards.keys().collect::<Vec<_>>(), ["0"]);
        let table = client.call("GET", "/_cat/shards/c?h=shard,state,ud&s=shard", "").await.text();
        let lost = table.lines().nth(1).expect("two shards");
        assert!(lost.contains("UNASSIGNED") && lost.contains("/1/manifest-"), "{table}");
        let health = client.good("GET", "/_cluster/health", "").await;
        assert_eq!(at(&health, &["status"]).as_str(), Some("red"));
    });
}

/// Tables knew of it, and health, routing and stores only after somebody had asked for a table.
#[test]
fn whoever_asks_first_learns_of_a_closed_shard_that_is_lost() {
    let explain = r#"{"index":"c","shard":1,"primary":true}"#;
    let calls = [
        ("GET", "/_cluster/health", "", r#""status":"red""#),
        ("GET", "/_cat/health", "", " red "),
        ("GET", "/_health_report", "", r#""status":"red""#),
        ("GET", "/_cluster/state/routing_table", "", r#""state":"UNASSIGNED""#),
        ("GET", "/_cluster/state/routing_nodes", "", r#""state":"UNASSIGNED""#),
        ("POST", "/_cluster/allocation/explain", explain, r#""current_state":"unassigned""#),
        ("GET", "/c/_shard_stores", "", "store_exception"),
        ("GET", "/_cat/shards/c", "", "UNASSIGNED"),
    ];
    for (method, target, body, wanted) in calls {
        let machine = Machine::new(44);
        machine.story(async |mut client: Client| {
            fill(&mut client, "c").await;
            client.good("POST", "/c/_close", "").await;
            let settings = client.good("GET", "/c/_settings", "").await;
            let uuid = at(&settings, &["c", "settings", "index", "uuid"]).as_str().expect("an id");
            for slot in 0..2 {
                machine.sim.plant(format!("/data/indices/{uuid}/1/manifest-{slot}"), b"rot");
            }
            let told = client.call(method, target, body).await.text();
            assert!(told.contains(wanted), "{target}: {told}");
        });
    }
}

/// A shard that could not be opened for want of its log was told as there, even after a restart, and one with a
/// segment that was cut until a restart.
#[test]
fn a_closed_shard_without_its_log_or_with_a_cut_file_is_a_failed_one() {
    for (begin, is_cut) in [("log-", false), ("log-", true), ("segment-", true), ("live-", true)] {
        let machine = Machine::new(45);
        let told = async |client: &mut Client| {
            let all = "/c,d/_stats?forbid_closed_indices=false&level=shards";
            let told = client.good("GET", all, "").await;
            let health = |index| at(&told, &["indices", index, "health"]).as_str().expect("one");
            let health = (health("c").to_owned(), health("d").to_owned());
            let cluster = client.good("GET", "/_cluster/health", "").await;
            let cluster = at(&cluster, &["status"]).as_str().expect("one").to_owned();
            let stores = client.call("GET", "/c/_shard_stores?status=red", "").await.text();
            let explain = r#"{"index":"c","shard":1,"primary":true}"#;
            let why = client.call("POST", "/_cluster/allocation/explain", explain).await.text();
            (health, cluster, stores.contains("store_exception"), why.contains("unassigned_info"))
        };
        let whole = (("green".to_owned(), "green".to_owned()), "green".to_owned(), false, false);
        let lost = (("red".to_owned(), "green".to_owned()), "red".to_owned(), true, true);
        machine.story(async |mut client: Client| {
            fill(&mut client, "c").await;
            fill(&mut client, "d").await;
            client.good("POST", "/c,d/_close", "").await;
            assert_eq!(told(&mut client).await, whole, "{begin}");
            let settings = client.good("GET", "/c/_settings", "").await;
            let uuid = at(&settings, &["c", "settings", "index", "uuid"]).as_str().expect("an id");
            let folder = format!("/data/indices/{uuid}/1");
            let mut files = machine.sim.files().into_iter().map(|(path, _)| path);
            let is_meant = |path: &PathBuf| {
                let name = path.file_name().and_then(|name| name.to_str());
                path.starts_with(&folder) && name.is_some_and(|name| name.starts_with(begin))
            };
            let file = files.rfind(is_meant).expect("a file");
            if is_cut {
                let bytes = machine.sim.bytes(&file).expect("its bytes");
                machine.sim.plant(&file, &bytes[..bytes.len() / 2]);
            } else {
                machine.sim.env().disk().remove(&file).await.expect("a healthy disk");
            }
            assert_eq!(told(&mut client).await, lost, "{begin} {is_cut}");
        });
        machine.story(async |mut client: Client| {
            assert_eq!(told(&mut client).await, lost, "{begin} {is_cut} after a restart");
        });
    }
}

/// It was how many documents the shard held at the moment.
#[test]
fn a_commit_counts_the_documents_that_live_by_it() {
    let machine = Machine::new(46);
    let counts = async |client: &mut Client| {
        let told = "/a/_stats?level=shards&forbid_closed_indices=false";
        let told = client.good("GET", told, "").await;
        let shard = &at(&told, &["indices", "a", "shards", "0"]).as_array().expect("one")[0];
        let of = |path: &[&str]| at(shard, path).as_u64().expect("a count");
        (of(&["docs", "count"]), of(&["commit", "num_docs"]))
    };
    machine.story(async |mut client: Client| {
        let client = &mut client;
        client.good("PUT", "/a", r#"{"settings":{"number_of_replicas":0}}"#).await;
        for id in 0..5 {
            client.good("PUT", &format!("/a/_doc/{id}?refresh=true"), "{}").await;
        }
        assert_eq!(counts(client).await, (5, 0));
        client.good("POST", "/a/_flush", "").await;
        assert_eq!(counts(client).await, (5, 5));
        for id in 0..2 {
            client.good("DELETE", &format!("/a/_doc/{id}?refresh=true"), "").await;
        }
        assert_eq!(counts(client).await, (3, 5));
        client.good("POST", "/a/_flush", "").await;
        assert_eq!(counts(client).await, (3, 3));
        client.good("PUT", "/a/_doc/9?refresh=true", "{}").await;
        assert_eq!(counts(client).await, (4, 3));
        client.good("POST", "/a/_close", "").await;
        assert_eq!(counts(client).await, (4, 4), "closing writes all down");
        client.good("POST", "/a/_open", "").await;
        client.good("DELETE", "/a/_doc/9?refresh=true", "").await;
        assert_eq!(counts(client).await, (3, 4));
    });
    machine.story(async |mut client: Client| {
        assert_eq!(counts(&mut client).await, (3, 3), "so does a stop in order");
    });
}

/// Number and name of the commit on which the shard of `a` stands.
async fn commit(client: &mut Client) -> (u64, String) {
    let told = client.good("GET", "/a/_stats?level=shards&forbid_closed_indices=false", "").await;
    let shard = &at(&told, &["indices", "a", "shards", "0"]).as_array().expect("one")[0];
    let id = at(shard, &["commit", "id"]).as_str().expect("a name").to_owned();
    (at(shard, &["commit", "generation"]).as_u64().expect("a number"), id)
}

/// It was how often the process had flushed: after a restart another commit bore the number and the name of an
/// earlier one.
#[test]
fn a_commit_bears_a_number_and_a_name_that_no_other_bore() {
    let machine = Machine::new(43);
    let mut seen: Vec<(u64, String)> = Vec::new();
    for round in 0..3 {
        machine.story(async |mut client: Client| {
            if round == 0 {
                client.good("PUT", "/a", r#"{"settings":{"number_of_replicas":0}}"#).await;
            }
            for id in 0..2 {
                client.good("PUT", &format!("/a/_doc/{round}{id}"), r#"{"n":1}"#).await;
                client.good("POST", "/a/_flush", "").await;
                seen.push(commit(&mut client).await);
                // What changes nothing is no commit.
                client.good("POST", "/a/_flush", "").await;
                assert_eq!(Some(&commit(&mut client).await), seen.last());
            }
            client.good("POST", "/a/_close", "").await;
            seen.push(commit(&mut client).await);
            client.good("POST", "/a/_open", "").await;
        });
    }
    assert!(seen.windows(2).all(|pair| pair[0].0 < pair[1].0), "{seen:?}");
    let names: std::collections::BTreeSet<&String> = seen.iter().map(|(_, name)| name).collect();
    assert_eq!(names.len(), seen.len());
}

/// It was the first, whatever reign the shard had reached.
#[test]
fn the_reign_of_a_closed_shard_is_told_as_its_files_have_it() {
    let machine = Machine::new(47);
    let reign = async |client: &mut Client| {
        let told = client.good("GET", "/_cluster/state/metadata/a", "").await;
        let terms = at(&told, &["metadata", "indices", "a", "primary_terms"]);
        at(terms, &["0"]).as_u64().expect("a number")
    };
    machine.story_cut(async |mut client: Client| {
        client.good("PUT", "/a", r#"{"settings":{"number_of_replicas":0}}"#).await;
        client.good("PUT", "/a/_doc/1", "{}").await;
        assert_eq!(reign(&mut client).await, 1);
    });
    machine.story(async |mut client: Client| {
        client.good("GET", "/_cluster/health?wait_for_no_initializing_shards=true", "").await;
        assert_eq!(reign(&mut client).await, 2, "the power went");
        client.good("POST", "/a/_close", "").await;
        assert_eq!(reign(&mut client).await, 2);
    });
    machine.story(async |mut client: Client| {
        assert_eq!(reign(&mut client).await, 2, "what lay there when the node started");
        client.good("POST", "/a/_open", "").await;
        assert_eq!(reign(&mut client).await, 2);
    });
}

/// It left closed indices out where they were not named.
#[test]
fn recoveries_of_closed_indices_are_told_by_wildcards_too() {
    with_node(|mut client| async move {
        fill(&mut client, "c").await;
        fill(&mut client, "open").await;
        let hidden = r#"{"settings":{"index.hidden":true}}"#;
        client.good("PUT", "/hidden", hidden).await;
        client.good("POST", "/c/_close", "").await;
        for (target, wanted) in [
            ("/_recovery", &["c", "open"][..]),
            ("/*/_recovery", &["c", "open"]),
            ("/_recovery?expand_wildcards=open", &["open"]),
            ("/_recovery?expand_wildcards=all", &["c", "hidden", "open"]),
            ("/hidden/_recovery", &["hidden"]),
        ] {
            let told = client.good("GET", target, "").await;
            let names: Vec<&str> = told.as_object().expect("indices").keys().collect();
            assert_eq!(names, wanted, "{target}");
        }
        let told = client.good("GET", "/c/_recovery", "").await;
        let shard = &at(&told, &["c", "shards"]).as_array().expect("two")[0];
        assert_eq!(at(shard, &["stage"]).as_str(), Some("DONE"));
        assert!(at(shard, &["index", "size", "total_in_bytes"]).as_u64() > Some(0));
    });
}

/// Stores of closed and hidden indices were left out where they were not named.
#[test]
fn stores_of_closed_and_hidden_indices_are_told_by_wildcards_too() {
    with_node(|mut client| async move {
        client.good("PUT", "/open", "").await;
        client.good("PUT", "/c", "").await;
        client.good("PUT", "/hidden", r#"{"settings":{"index.hidden":true}}"#).await;
        client.good("POST", "/c/_close", "").await;
        for (target, wanted) in [
            ("/_shard_stores?status=all", &["c", "hidden", "open"][..]),
            ("/*/_shard_stores?status=all", &["c", "hidden", "open"]),
            ("/_all/_shard_stores?status=all&expand_wildcards=open", &["open"]),
        ] {
            let told = client.good("GET", target, "").await;
            let indices = at(&told, &["indices"]).as_object().expect("indices");
            let mut names: Vec<&str> = indices.keys().collect();
            names.sort_unstable();
            assert_eq!(names, wanted, "{target}");
        }
        let text = r#"{"index":"open","shard":"0","primary":"true"}"#;
        let told = client.good("POST", "/_cluster/allocation/explain", text).await;
        assert_eq!(at(&told, &["current_state"]).as_str(), Some("started"));
        for wrong in [r#""shard":"x","primary":true"#, r#""shard":0,"primary":"yes""#] {
            let body = format!(r#"{{"index":"open",{wrong}}}"#);
            let told = client.bad("POST", "/_cluster/allocation/explain", &body).await;
            assert!(told.starts_with("400 x_content_parse_exception"), "{told}");
        }
    });
}
