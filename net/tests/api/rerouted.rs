//! Commands of `_cluster/reroute` are judged one by one, and told why where somebody asks.

use json::{Value, json};

use crate::place::{Client, at, with_node};

async fn node_of(client: &mut Client) -> String {
    let nodes = client.good("GET", "/_nodes", "").await;
    let nodes = at(&nodes, &["nodes"]).as_object().expect("nodes");
    nodes.keys().next().expect("one").to_owned()
}

fn body(name: &str, fields: Value) -> String {
    let command = Value::Object([(name, fields)].into_iter().collect());
    json::to_string(&json!({"commands": [command]}))
}

/// The decision about the only command: who decided, what, and why.
async fn decided(client: &mut Client, body: &str) -> [String; 3] {
    let told = client.good("POST", "/_cluster/reroute?explain&metric=none", body).await;
    let explained = at(&told, &["explanations"]).as_array().expect("explanations");
    assert_eq!(explained.len(), 1, "{told:?}");
    let decisions = at(&explained[0], &["decisions"]).as_array().expect("decisions");
    ["decider", "decision", "explanation"]
        .map(|key| at(&decisions[0], &[key]).as_str().expect(key).to_owned())
}

/// Each was refused as if the flag were not there.
#[test]
fn a_primary_is_given_up_where_that_is_allowed() {
    with_node(|mut client| async move {
        client.good("PUT", "/a", "").await;
        client.good("PUT", "/a/_doc/1", "{}").await;
        let node = node_of(&mut client).await;
        let cancel = |allow: Value, shard: u32| {
            let node = node.as_str();
            body(
                "cancel",
                json!({"index": "a", "shard": shard, "node": node, "allow_primary": allow}),
            )
        };
        for allowed in [json!(true), json!("true")] {
            let allowed = cancel(allowed, 0);
            for target in ["/_cluster/reroute?dry_run=true", "/_cluster/reroute"] {
                let told = client.good("POST", target, &allowed).await;
                assert_eq!(at(&told, &["acknowledged"]), &json!(true));
            }
            let [decider, decision, why] = decided(&mut client, &allowed).await;
            assert_eq!((&*decider, &*decision), ("cancel_allocation_command", "YES"));
            assert!(why.starts_with("shard 0 on node {"), "{why}");
            assert!(why.ends_with("} can be cancelled"), "{why}");
        }
        // It is there at once.
        client.good("GET", "/a/_doc/1", "").await;
        let refused = client.bad("POST", "/_cluster/reroute", &cancel(json!(false), 0)).await;
        assert!(refused.ends_with(", shard is primary and started"), "{refused}");
        let refused = client.bad("POST", "/_cluster/reroute", &cancel(json!(true), 7)).await;
        assert!(refused.contains("can't cancel [a][7], failed to find it on node {"), "{refused}");
    });
}

/// Both were done: what the first gives up was there for the second.
#[test]
fn a_primary_is_given_up_once() {
    with_node(|mut client| async move {
        client.good("PUT", "/a", r#"{"settings":{"number_of_shards":2}}"#).await;
        let node = node_of(&mut client).await;
        let cancel = |shard: i64| {
            json!({"cancel": {
                "index": "a", "shard": shard, "node": (node.as_str()), "allow_primary": true,
            }})
        };
        let all = |commands: Vec<Value>| json::to_string(&json!({"commands": commands}));
        client.good("POST", "/_cluster/reroute", &all(vec![cancel(0), cancel(1)])).await;
        let shift = json!({"move": {
            "index": "a", "shard": 0, "from_node": (node.as_str()), "to_node": (node.as_str()),
        }});
        for (then, words) in [
            (cancel(0), "[cancel_allocation] can't cancel [a][0], failed to find it on node {"),
            (shift, "[move_allocation] can't move [a][0], failed to find it on node {"),
            (cancel(-1), "[cancel_allocation] can't cancel [a][-1], failed to find it on node {"),
        ] {
            let refused =
                client.bad("POST", "/_cluster/reroute", &all(vec![cancel(0), then])).await;
            let words = format!("400 illegal_argument_exception: {words}");
            assert!(refused.starts_with(&words), "{refused}");
        }
    });
}

/// The index was 404, with reasons or without.
#[test]
fn what_is_not_there_is_not_moved() {
    with_node(|mut client| async move {
        client.good("PUT", "/a", "").await;
        let node = node_of(&mut client).await;
        let node = node.as_str();
        for (index, shard) in [("none", 0), ("a", 7)] {
            let shift = json!({"index": index, "shard": shard, "from_node": node, "to_node": node});
            let shift = body("move", shift);
            let refused = client.bad("POST", "/_cluster/reroute", &shift).await;
            let words = format!(
                "400 illegal_argument_exception: [move_allocation] can't move [{index}][{shard}], failed \
                 to find it on node {{"
            );
            assert!(refused.starts_with(&words), "{refused}");
            let told = decided(&mut client, &shift).await;
            assert_eq!(
                told,
                ["move_allocation_command", "NO", &format!("shard {shard} not found")]
            );
        }
    });
}

/// A refusal hid the reasons of all commands.
#[test]
fn whoever_asks_why_a_copy_is_not_made_is_told_of_unknown_nodes_and_indices() {
    with_node(|mut client| async move {
        client.good("PUT", "/a", "").await;
        let node = node_of(&mut client).await;
        let no_node = "failed to resolve [zz], no matching nodes";
        let no_index = "no such index [none]";
        for name in ["allocate_replica", "allocate_empty_primary", "allocate_stale_primary"] {
            let is_stale = name == "allocate_stale_primary";
            for (index, on, why) in
                [("a", "zz", no_node), ("none", &*node, no_index), ("none", "zz", no_node)]
            {
                let asked = body(name, json!({"index": index, "shard": 0, "node": on}));
                // Where old data is asked for, the index is looked for before anything is judged.
                if is_stale && index == "none" {
                    let target = "/_cluster/reroute?explain=true";
                    let refused = client.bad("POST", target, &asked).await;
                    assert_eq!(refused, format!("404 index_not_found_exception: {no_index}"));
                    continue;
                }
                let told = decided(&mut client, &asked).await;
                assert_eq!(told, [&format!("{name} (allocation command)"), "NO", why], "{index}");
                let refused = client.bad("POST", "/_cluster/reroute", &asked).await;
                assert!(refused.ends_with(why), "{refused}");
            }
        }
        // Other commands are refused.
        for (name, fields) in [
            ("cancel", json!({"index": "a", "shard": 0, "node": "zz"})),
            ("move", json!({"index": "a", "shard": 0, "from_node": "zz", "to_node": "zz"})),
        ] {
            let told = client.bad("POST", "/_cluster/reroute?explain", &body(name, fields)).await;
            assert_eq!(told, format!("400 illegal_argument_exception: {no_node}"));
        }
    });
}
