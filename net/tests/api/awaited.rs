//! Tasks that a caller waits for.

use std::time::Duration;

use env::{Clock, Env};
use json::json;
use sim::Sim;

use crate::place::{Client, at, value, with_clients_on};

/// Begins copies that last long; their ids.
async fn begin(client: &mut Client, count: usize) -> Vec<String> {
    let lines: String = (0..40).map(|_| "{\"index\":{}}\n{\"a\":1}\n").collect();
    client.good("POST", "/from/_bulk?refresh", &lines).await;
    let mut ids = Vec::new();
    for to in 0..count {
        let body =
            format!(r#"{{"source":{{"index":"from","size":4}},"dest":{{"index":"to{to}"}}}}"#);
        let target = "/_reindex?requests_per_second=4&wait_for_completion=false";
        let begun = client.good("POST", target, &body).await;
        ids.push(at(&begun, &["task"]).as_str().expect("an id").to_owned());
    }
    ids
}

/// The time was given to each task anew, and listings that waited at the same time waited for each other.
#[test]
fn a_listing_waits_for_all_tasks_together_and_for_no_other_listing() {
    let sim = Sim::new(1);
    let env = sim.env();
    with_clients_on(&sim, 4, |mut clients| async move {
        let ids = begin(&mut clients[0], 4).await;
        // All tasks, the listings of the others among them.
        let target = "/_tasks?wait_for_completion=true&timeout=1500ms";
        let begun = env.clock().monotonic();
        let told = crate::place::at_once(&mut clients, "GET", target, |_| String::new()).await;
        let took = env.clock().monotonic().saturating_sub(begun);
        assert!(took < Duration::from_millis(1_700), "{took:?}");
        for answer in &told {
            assert_eq!(answer.status, 200, "{}", answer.text());
            let told = value(answer);
            assert_eq!(at(&told, &["nodes"]), &json!({}));
            let failure = &at(&told, &["node_failures"]).as_array().expect("a list")[0];
            assert_eq!(at(failure, &["type"]).as_str(), Some("failed_node_exception"));
            let cause = at(failure, &["caused_by"]);
            assert_eq!(at(cause, &["type"]).as_str(), Some("timeout_exception"));
            let reason = at(cause, &["reason"]).as_str();
            assert_eq!(reason, Some("timed out after [1.5s/1500ms]"));
        }
        for (group_by, empty) in [("none", json!([])), ("parents", json!({}))] {
            let target =
                format!("/_tasks?wait_for_completion=true&timeout=1ms&group_by={group_by}");
            let told = clients[0].good("GET", &target, "").await;
            assert!(told.get("node_failures").is_some(), "{told:?}");
            assert_eq!(at(&told, &["tasks"]), &empty);
        }
        // What was waited for is told, though it is no more.
        let target = "/_tasks?actions=*reindex&wait_for_completion&timeout=60s&group_by=none";
        let told = clients[0].good("GET", target, "").await;
        let tasks = at(&told, &["tasks"]).as_array().expect("a list");
        assert_eq!(tasks.len(), ids.len(), "{told:?}");
        assert_eq!(clients[0].good("GET", target, "").await, json!({"tasks": []}));
    });
}
