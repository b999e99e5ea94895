//! Shards whose files are damaged or gone, as all tables tell of them.

use env::{Disk, Env};

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
fn break_segment(machine: &Machine, uuid: &str) -> String {
    let folder = format!("/data/indices/{uuid}/0");
    let name = machine.sim.names(&folder).into_iter().find(|name| name.starts_with("segment-"));
    let path = format!("{folder}/{}", name.expect("it was flushed"));
    let len = machine.sim.bytes(&path).expect("a file").len() as u64;
    for back in 1..=60 {
        machine.sim.rot(&path, len - back, 0xff);
    }
    path
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
    let page = client.call("GET", "/_prometheus", "").await.text().to_owned();
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
