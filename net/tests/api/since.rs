//! What tables tell of the past: why copies have no place and since when, which indices were deleted.

use std::time::Duration;

use env::{Clock, Env};
use json::Value;

use crate::place::{Client, Machine, at};

/// Why each replica of `a` has no place, and since when, as three tables have it alike.
async fn replicas(client: &mut Client) -> Vec<(String, String)> {
    let table = client.call("GET", "/_cat/shards/a?h=prirep,ur,ua,uf&time=ms", "").await.text();
    let lines = table.lines().filter_map(|line| line.strip_prefix("r "));
    let lines: Vec<Vec<&str>> = lines.map(|line| line.split_whitespace().collect()).collect();
    let told: Vec<(String, String)> =
        lines.iter().map(|cells| (cells[0].to_owned(), cells[1].to_owned())).collect();
    assert!(lines.iter().all(|cells| cells[2].parse::<u64>().is_ok()), "{table}");
    let state = client.good(
        "GET",
        "/_cluster/state/routing_table,routing_nodes/a?expand_wildcards=all",
        "",
    );
    let state = state.await;
    let info = |copy: &Value| {
        let info = at(copy, &["unassigned_info"]);
        let word = |key: &str| at(info, &[key]).as_str().expect("a text").to_owned();
        (word("reason"), word("at"))
    };
    let copies = at(&state, &["routing_table", "indices", "a", "shards", "0"]);
    let copies = &copies.as_array().expect("a list")[1..];
    assert_eq!(copies.iter().map(info).collect::<Vec<_>>(), told);
    let nodes = at(&state, &["routing_nodes", "unassigned"]).as_array().expect("a list").iter();
    assert_eq!(nodes.map(info).collect::<Vec<_>>(), told);
    let asked = r#"{"index":"a","shard":0,"primary":false}"#;
    let explained = client.good("POST", "/_cluster/allocation/explain", asked).await;
    assert_eq!(info(&explained), told[0]);
    told
}

#[test]
fn replicas_tell_why_they_have_no_place_and_since_when() {
    // Once each said INDEX_CREATED, and the moment at which its index was made.
    let machine = Machine::new(31);
    let env = machine.sim.env();
    let second = async || {
        env.clock().sleep(Duration::from_secs(1)).await;
        base::calendar::iso(env.clock().unix_ms())
    };
    let is = |told: &(String, String), reason: &str, from: &str| {
        let soon = told.1[..from.len() - 5] == from[..from.len() - 5];
        assert!(told.0 == reason && soon, "{told:?} is not {reason} at {from}");
    };
    machine.story(async |mut client: Client| {
        let made = second().await;
        client.good("PUT", "/a", r#"{"settings":{"number_of_replicas":1}}"#).await;
        is(&replicas(&mut client).await[0], "INDEX_CREATED", &made);
        let raised = second().await;
        client.good("PUT", "/a/_settings", r#"{"number_of_replicas":2}"#).await;
        let told = replicas(&mut client).await;
        assert_eq!(told.len(), 2);
        is(&told[0], "INDEX_CREATED", &made);
        is(&told[1], "REPLICA_ADDED", &raised);
        let closed = second().await;
        client.good("POST", "/a/_close", "").await;
        is(&replicas(&mut client).await[1], "INDEX_CLOSED", &closed);
        let opened = second().await;
        client.good("POST", "/a/_open", "").await;
        is(&replicas(&mut client).await[1], "INDEX_REOPENED", &opened);
    });
    let mut started = String::new();
    machine.sim.run(async { started = second().await });
    machine.story(async |mut client: Client| {
        second().await;
        let told = replicas(&mut client).await;
        assert_eq!(told.len(), 2);
        told.iter().for_each(|one| is(one, "CLUSTER_RECOVERED", &started));
        let raised = second().await;
        client.good("PUT", "/a/_settings", r#"{"number_of_replicas":3}"#).await;
        let told = replicas(&mut client).await;
        is(&told[1], "CLUSTER_RECOVERED", &started);
        is(&told[2], "REPLICA_ADDED", &raised);
    });
}

/// Names, ids and moments of the graveyard.
async fn graveyard(client: &mut Client, target: &str) -> Vec<Value> {
    let state = client.good("GET", target, "").await;
    let tombstones = at(&state, &["metadata", "index-graveyard", "tombstones"]);
    tombstones.as_array().expect("a list").to_vec()
}

#[test]
fn the_graveyard_holds_what_was_deleted() {
    // Once it was always empty.
    let machine = Machine::new(32);
    let env = machine.sim.env();
    let mut before = Vec::new();
    machine.story(async |mut client: Client| {
        let mut uuids = Vec::new();
        for index in ["a", "b"] {
            client.good("PUT", &format!("/{index}"), "").await;
            let got = client.good("GET", &format!("/{index}/_settings"), "").await;
            let uuid = at(&got, &[index, "settings", "index", "uuid"]).as_str().map(str::to_owned);
            uuids.push(uuid.expect("an id"));
        }
        client.good("DELETE", "/b", "").await;
        let remove = r#"{"actions":[{"remove_index":{"index":"a"}}]}"#;
        client.good("POST", "/_aliases", remove).await;
        client
            .good("PUT", "/_index_template/t", r#"{"index_patterns":["s"],"data_stream":{}}"#)
            .await;
        client.good("PUT", "/_data_stream/s", "").await;
        client.good("DELETE", "/_data_stream/s", "").await;
        let now = env.clock().unix_ms();
        before = graveyard(&mut client, "/_cluster/state/metadata").await;
        let name = |at_: usize| at(&before[at_], &["index", "index_name"]).as_str();
        assert_eq!((name(0), name(1), before.len()), (Some("b"), Some("a"), 3));
        assert!(name(2).is_some_and(|name| name.starts_with(".ds-s-")), "{:?}", before[2]);
        for (one, uuid) in before.iter().zip(uuids.iter().rev()) {
            assert_eq!(at(one, &["index", "index_uuid"]).as_str(), Some(&**uuid));
            let deleted = at(one, &["delete_date_in_millis"]).as_i64().expect("a time");
            assert!((now - 60_000..=now).contains(&deleted), "{deleted} {now}");
            assert!(one.get("delete_date").is_none());
        }
        let human = graveyard(&mut client, "/_cluster/state/metadata?human").await;
        let deleted = at(&before[0], &["delete_date_in_millis"]).as_i64().expect("a time");
        let date = base::calendar::iso(deleted);
        assert_eq!(at(&human[0], &["delete_date"]).as_str(), Some(&*date));
    });
    machine.story(async |mut client: Client| {
        assert_eq!(graveyard(&mut client, "/_cluster/state/metadata").await, before);
    });
}
