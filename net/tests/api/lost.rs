//! Shards whose files are damaged or gone, as all tables tell of them.

use std::time::Duration;

use env::{Clock, Disk, Env};

use crate::place::{Client, Machine, at};

/// One row of a table.
async fn row(client: &mut Client, target: &str) -> String {
    let response = client.call("GET", target, "").await;
    assert_eq!(response.status, 200, "{target}: {}", response.text());
    response.text().split_whitespace().collect::<Vec<_>>().join(" ")
}

async fn fill(client: &mut Client, index: &str) -> String {
    let one = r#"{"settings":{"number_of_shards":1,"number_of_replicas":0}}"#;
    client.good("PUT", &format!("/{index}"), one).await;
    for id in 0..5 {
        client.good("PUT", &format!("/{index}/_doc/{id}"), r#"{"text":"quick"}"#).await;
    }
    client.good("POST", &format!("/{index}/_flush"), "").await;
    let settings = client.good("GET", &format!("/{index}/_settings"), "").await;
    at(&settings, &[index, "settings", "index", "uuid"]).as_str().expect("an id").to_owned()
}

/// Breaks the segment of an index so that opening it finds out.
pub(crate) fn break_segment(machine: &Machine, uuid: &str) {
    let folder = format!("/data/indices/{uuid}/0");
    let name = machine.sim.names(&folder).into_iter().find(|name| name.starts_with("segment-"));
    let path = format!("{folder}/{}", name.expect("it was flushed"));
    let len = machine.sim.bytes(&path).expect("a file").len() as u64;
    for back in 1..=60 {
        machine.sim.rot(&path, len - back, 0xff);
    }
}

/// A machine whose index `name` has a shard that does not open.
fn damaged(seed: u64, name: &str) -> Machine {
    let machine = Machine::new(seed);
    let mut uuid = String::new();
    machine.story(async |mut client: Client| uuid = fill(&mut client, name).await);
    break_segment(&machine, &uuid);
    machine
}

/// What all tables say of a lost shard.
async fn is_lost(client: &mut Client, index: &str) {
    let health = client.good("GET", &format!("/_cluster/health/{index}?level=shards"), "").await;
    assert_eq!(at(&health, &["status"]).as_str(), Some("red"), "{index}");
    assert_eq!(at(&health, &["unassigned_primary_shards"]).as_u64(), Some(1));
    let shard = at(&health, &["indices", index, "shards", "0"]);
    assert_eq!(at(shard, &["status"]).as_str(), Some("red"));
    assert_eq!(row(client, &format!("/_cat/shards/{index}?h=state,node")).await, "UNASSIGNED");
    assert_eq!(row(client, &format!("/_cat/indices/{index}?h=health")).await, "red");
    let asked = format!(r#"{{"index":"{index}","shard":0,"primary":true}}"#);
    let told = client.good("POST", "/_cluster/allocation/explain", &asked).await;
    assert_eq!(at(&told, &["current_state"]).as_str(), Some("unassigned"));
    let state = client.good("GET", &format!("/_cluster/state/routing_table/{index}"), "").await;
    let copies = at(&state, &["routing_table", "indices", index, "shards", "0"]);
    let copy = &copies.as_array().expect("a list")[0];
    assert_eq!(at(copy, &["state"]).as_str(), Some("UNASSIGNED"));
    let report = client.good("GET", "/_health_report/shards_availability", "").await;
    let report = at(&report, &["indicators", "shards_availability"]);
    assert_eq!(at(report, &["status"]).as_str(), Some("red"));
    assert!(json::to_string(report).contains(index), "{}", json::to_string(report));
}

async fn unassigned(client: &mut Client) -> String {
    let page = client.call("GET", "/_prometheus", "").await.text();
    let line = page.lines().find(|line| line.starts_with("corelode_shards{state=\"unassigned\"}"));
    line.expect("a gauge").rsplit_once(' ').expect("a number").1.to_owned()
}

#[test]
fn a_closed_index_that_is_damaged_is_red() {
    // Once every closed index was green and its shards STARTED, whatever had become of its files.
    let machine = Machine::new(11);
    let mut uuids = Vec::new();
    machine.story(async |mut client: Client| {
        for index in ["dmg", "gone", "bare", "well"] {
            uuids.push(fill(&mut client, index).await);
        }
        client.good("POST", "/gone,well,bare/_close", "").await;
        let health = client.good("GET", "/_cluster/health/well?level=shards", "").await;
        let shard = at(&health, &["indices", "well", "shards", "0"]);
        assert_eq!(at(shard, &["status"]).as_str(), Some("green"), "files that are there");
    });
    break_segment(&machine, &uuids[0]);
    machine.sim.run(async {
        let env = machine.sim.env();
        let indices = std::path::Path::new("/data/indices");
        env.disk().remove_dir(&indices.join(&uuids[1])).await.expect("it is there");
        let folder = indices.join(&uuids[2]).join("0");
        let names = machine.sim.names(&folder);
        let segment = names.iter().find(|name| name.starts_with("segment-")).expect("flushed");
        env.disk().remove(&folder.join(segment)).await.expect("it is there");
    });
    machine.story(async |mut client: Client| {
        for index in ["dmg", "gone", "bare"] {
            is_lost(&mut client, index).await;
        }
        client.good("POST", "/dmg/_close", "").await;
        is_lost(&mut client, "dmg").await;
        assert_eq!(unassigned(&mut client).await, "3");
        assert_eq!(row(&mut client, "/_cat/shards/well?h=state").await, "STARTED");
        // Opening tries again, closing changes nothing of what is known.
        client.good("POST", "/gone/_open?wait_for_active_shards=0", "").await;
        is_lost(&mut client, "gone").await;
        client.good("POST", "/gone/_close", "").await;
        is_lost(&mut client, "gone").await;
    });
    machine.story(async |mut client: Client| {
        for index in ["dmg", "gone", "bare"] {
            is_lost(&mut client, index).await;
        }
        client.good("DELETE", "/dmg,gone,bare", "").await;
        let health = client.good("GET", "/_cluster/health", "").await;
        assert_eq!(at(&health, &["status"]).as_str(), Some("green"));
        assert_eq!(unassigned(&mut client).await, "0");
        client.good("POST", "/well/_open", "").await;
        let count = client.good("GET", "/well/_count", "").await;
        assert_eq!(at(&count, &["count"]).as_u64(), Some(5));
        client.good("POST", "/well/_close", "").await;
        client.good("DELETE", "/well", "").await;
        assert!(machine.sim.names("/data/indices").is_empty(), "nothing is left of closed ones");
    });
}

#[test]
fn a_lost_shard_tells_since_when_it_is_lost() {
    // Once it was told as lost since its index was made, or `_cat/shards` left the time out, and
    // `_search_shards` gave it a node and an allocation.
    let machine = damaged(12, "dmg");
    let env = machine.sim.env();
    let mut started_ms = 0;
    machine.sim.run(async {
        env.clock().sleep(Duration::from_secs(3_600)).await;
        started_ms = env.clock().unix_ms();
    });
    machine.story(async |mut client: Client| {
        env.clock().sleep(Duration::from_secs(5)).await;
        let told = since(&mut client).await;
        let soon = base::calendar::iso(started_ms)..base::calendar::iso(started_ms + 4_000);
        assert!(soon.contains(&told), "{told} is not within {soon:?}");
        let shards = client.good("GET", "/dmg/_search_shards", "").await;
        assert!(at(&shards, &["nodes"]).as_object().expect("nodes").is_empty());
        // A search would ask nobody for it; once the copy without a place was told.
        assert_eq!(json::to_string(at(&shards, &["shards"])), "[[]]");
        let stats = client.good("GET", "/dmg/_stats?level=shards", "").await;
        assert_eq!(json::to_string(at(&stats, &["indices"])), "{}", "nobody answers for it");
        client.good("POST", "/dmg/_close", "").await;
        assert_eq!(since(&mut client).await, told, "closing is no failure");
    });
}

/// Since when the shard of `dmg` has no place: the same everywhere.
async fn since(client: &mut Client) -> String {
    let cells = row(client, "/_cat/shards/dmg?h=ur,ua,uf,ud&time=ms").await;
    let cells: Vec<&str> = cells.splitn(4, ' ').collect();
    assert_eq!(cells[0], "ALLOCATION_FAILED");
    assert!(cells[2].parse::<u64>().expect("milliseconds") >= 4_000, "{cells:?}");
    assert!(cells[3].contains("/segment-") && !cells[3].contains("/data"), "{cells:?}");
    let asked = r#"{"index":"dmg","shard":0,"primary":true}"#;
    let told = client.good("POST", "/_cluster/allocation/explain", asked).await;
    let state = client.good("GET", "/_cluster/state/routing_table,routing_nodes/dmg", "").await;
    let table = at(&state, &["routing_table", "indices", "dmg", "shards", "0"]);
    let nodes = at(&state, &["routing_nodes", "unassigned"]);
    let first = |list: &json::Value| list.as_array().expect("a list")[0].clone();
    let all = [told, first(table), first(nodes)];
    for one in &all {
        let info = at(one, &["unassigned_info"]);
        assert_eq!(at(info, &["reason"]).as_str(), Some("ALLOCATION_FAILED"));
        assert_eq!(at(info, &["at"]).as_str(), Some(cells[1]));
        assert_eq!(at(info, &["details"]).as_str(), Some(cells[3]));
    }
    let attempts = |one: &json::Value, key: &str| at(one, &["unassigned_info", key]).as_u64();
    assert_eq!(attempts(&all[0], "failed_allocation_attempts"), Some(1));
    assert!(all[1..].iter().all(|copy| attempts(copy, "failed_attempts") == Some(1)));
    cells[1].to_owned()
}

#[test]
fn a_lost_primary_is_explained_before_replicas_that_have_no_place() {
    // Once the first index in the order of names was taken that had either.
    let machine = Machine::new(13);
    let mut uuid = String::new();
    machine.story(async |mut client: Client| {
        let bare = client.call("GET", "/_cluster/allocation/explain", "").await;
        assert_eq!(bare.status, 400, "nothing is unassigned");
        client.good("PUT", "/a", r#"{"settings":{"number_of_replicas":1}}"#).await;
        uuid = fill(&mut client, "z").await;
        let told = client.good("GET", "/_cluster/allocation/explain", "").await;
        assert_eq!(at(&told, &["index"]).as_str(), Some("a"));
        assert_eq!(at(&told, &["primary"]).as_bool(), Some(false));
        let info = at(&told, &["unassigned_info"]);
        assert!(info.get("failed_allocation_attempts").is_none(), "nobody tried it");
        let target = "/_cluster/allocation/explain?include_disk_info&human";
        let told = client.good("GET", target, "").await;
        let disks = at(&told, &["cluster_info", "nodes"]).as_object().expect("nodes");
        let disk = disks.values().next().and_then(|node| node.get("least_available"));
        for name in ["total", "used", "free"] {
            assert!(disk.is_some_and(|disk| disk.get(name).is_some()), "{name}: {disk:?}");
        }
        let sizes = at(&told, &["cluster_info", "shard_sizes"]);
        assert!(sizes.get("[a][0][p]").is_some() && sizes.get("[a][0][p]_bytes").is_some());
        let note = at(&told, &["note"]).as_str().expect("a note");
        assert!(note.contains("you must specify the target shard"), "{note}");
        assert!(note.ends_with("cluster-allocation-explain.html for more information."), "{note}");
    });
    break_segment(&machine, &uuid);
    machine.story(async |mut client: Client| {
        let told = client.good("GET", "/_cluster/allocation/explain", "").await;
        assert_eq!(at(&told, &["index"]).as_str(), Some("z"));
        assert_eq!(at(&told, &["primary"]).as_bool(), Some(true));
    });
}

#[test]
fn a_lost_primary_is_not_thrown_away_by_a_command() {
    // It was told that there is no data on the node, where there is some that is damaged.
    let machine = damaged(14, "z");
    machine.story(async |mut client: Client| {
        for (name, word) in [("allocate_empty_primary", "an empty"), ("allocate_stale_primary", "a stale")] {
            let mut told = Vec::new();
            for accepts in [false, true] {
                let asked = format!(
                    r#"{{"commands":[{{"{name}":{{"index":"z","shard":0,"node":"node-1","accept_data_loss":{accepts}}}}}]}}"#
                );
                told.push(client.bad("POST", "/_cluster/reroute", &asked).await);
            }
            let begins = format!("400 illegal_argument_exception: [{name}] ");
            assert!(told[0].starts_with(&format!("{begins}allocating {word} primary for [z][0] can")), "{told:?}");
            assert!(told[1].starts_with(&format!("{begins}primary [z][0] failed on node {{node-1}}")), "{told:?}");
            assert!(told[1].contains("/segment-"), "{told:?}");
        }
    });
}
