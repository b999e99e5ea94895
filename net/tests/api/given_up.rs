//! Searches that are given up: cancelled as tasks, or left by their clients.

use std::time::Duration;

use json::{Value, json};
use sim::Sim;

use crate::place::{Client, at, failure, with_clients_on};

/// Goes on for minutes where nobody ends it: a million rounds a document.
const ENDLESS: &str = r#"{"size": 3, "query": {"script": {"script":
    "int n = 0; for (int i = 0; i < 1000000; i++) { n += i } return n > 0"}}}"#;

const KIND: [(&str, &str); 2] =
    [("Content-Type", "application/json"), ("X-Opaque-Id", "the slow one")];

async fn fill(client: &mut Client) {
    let lines: String = (0..1000).map(|n| format!("{{\"index\":{{}}}}\n{{\"n\":{n}}}\n")).collect();
    client.good("POST", "/a/_bulk?refresh", &lines).await;
}

/// The tasks of an action, without their parts.
async fn tasks(client: &mut Client, action: &str) -> Vec<Value> {
    let target = format!("/_tasks?detailed&group_by=none&actions={action}");
    let listed = client.good("GET", &target, "").await;
    at(&listed, &["tasks"]).as_array().expect("a list").to_vec()
}

/// Looks until such a task is there.
async fn seen(client: &mut Client, action: &str) -> Value {
    for _ in 0..200 {
        if let Some(task) = tasks(client, action).await.pop() {
            return task;
        }
    }
    panic!("no task of {action}");
}

#[test]
fn a_search_is_a_task_that_is_cancelled() {
    let scroll = "indices[a], search_type[QUERY_THEN_FETCH], scroll[1m], source[";
    let lines = format!("{{\"index\":\"a\"}}\n{}\n", ENDLESS.replace('\n', ""));
    let template = json::to_string(&json!({"source": ENDLESS}));
    let count = ENDLESS.replace("\"size\": 3,", "");
    for (seed, target, action, body, told) in [
        (1, "/a/_search?scroll=1m", "indices:data/read/search", ENDLESS, scroll),
        (2, "/a/_count", "indices:data/read/search", &count, "indices[a], search_type[QUERY_"),
        (3, "/_msearch", "indices:data/read/msearch", &lines, ""),
        (4, "/a/_search/template", "indices:data/read/search/template", &template, ""),
    ] {
        with_clients_on(&Sim::new(seed), 2, |clients| async move {
            let [mut slow, mut other]: [Client; 2] = clients.try_into().ok().expect("two");
            fill(&mut other).await;
            slow.send("POST", target, &KIND, body.as_bytes()).await;
            let task = seen(&mut other, action).await;
            assert_eq!(at(&task, &["cancellable"]).as_bool(), Some(true));
            assert_eq!(at(&task, &["headers"]), &json!({"X-Opaque-Id": "the slow one"}));
            let description = at(&task, &["description"]).as_str().expect("a text");
            assert!(description.starts_with(told), "{target}: {description}");
            let id = at(&task, &["id"]).as_u64().expect("a number");
            let id = format!("{}:{id}", at(&task, &["node"]).as_str().expect("a name"));
            // Its speed is not that of work by query.
            let faster = format!("/_reindex/{id}/_rethrottle?requests_per_second=1");
            let kept = other.good("POST", &faster, "").await;
            let failure_of = &at(&kept, &["node_failures"]).as_array().expect("a list")[0];
            let reason = at(failure_of, &["caused_by", "reason"]).as_str();
            let expected = format!("task [{id}] doesn't support this operation");
            assert_eq!(reason, Some(expected.as_str()));

            other.good("POST", &format!("/_tasks/{id}/_cancel"), "").await;
            let answer = slow.answer("POST", target).await;
            let cancelled = "400 task_cancelled_exception: task cancelled [by user request]";
            assert_eq!(failure(&answer), cancelled);
            assert!(tasks(&mut other, "indices*").await.is_empty());
        });
    }
}

/// A search went on, on the cores that had a part of it, when nobody was there any more to read its answer.
#[test]
fn a_search_ends_with_its_client() {
    let sim = Sim::new(5);
    with_clients_on(&sim, 2, |clients| async {
        let [mut slow, mut other]: [Client; 2] = clients.try_into().ok().expect("two");
        fill(&mut other).await;
        slow.send("POST", "/a/_search", &KIND, ENDLESS.as_bytes()).await;
        seen(&mut other, "indices:data/read/search").await;
        slow.leave().await;
        sim.pause(Duration::from_secs(2));
        for _ in 0..50 {
            if tasks(&mut other, "indices*").await.is_empty() {
                return;
            }
        }
        panic!("it goes on");
    });
}

/// Who closes its sending half alone looks the same from here, and may still read.
#[test]
fn who_says_no_more_is_answered_where_that_takes_a_moment_and_else_told() {
    let sim = Sim::new(7);
    with_clients_on(&sim, 3, |clients| async {
        let [mut slow, mut quick, mut other]: [Client; 3] = clients.try_into().ok().expect("three");
        fill(&mut other).await;
        quick.send("POST", "/a/_count", &KIND, b"{}").await;
        quick.finish().await;
        assert_eq!(quick.answer("POST", "/a/_count").await.status, 200);
        slow.send("POST", "/a/_search", &KIND, ENDLESS.as_bytes()).await;
        seen(&mut other, "indices:data/read/search").await;
        slow.finish().await;
        sim.pause(Duration::from_secs(2));
        let told = failure(&slow.answer("POST", "/a/_search").await);
        assert_eq!(told, "400 task_cancelled_exception: task cancelled [channel closed]");
    });
}

#[test]
fn what_writes_is_done_to_its_end() {
    let sim = Sim::new(6);
    with_clients_on(&sim, 2, |clients| async {
        let [mut slow, mut other]: [Client; 2] = clients.try_into().ok().expect("two");
        fill(&mut other).await;
        let target = "/a/_update_by_query?requests_per_second=1000&scroll_size=100&refresh";
        slow.send("POST", target, &KIND, br#"{"script":"ctx._source.n = -1"}"#).await;
        seen(&mut other, "indices:data/write/update/byquery").await;
        slow.leave().await;
        for _ in 0..200 {
            sim.pause(Duration::from_millis(100));
            if tasks(&mut other, "indices:data/write*").await.is_empty() {
                break;
            }
        }
        let counted = other.good("GET", "/a/_count?q=n:%22-1%22", "").await;
        assert_eq!(at(&counted, &["count"]).as_u64(), Some(1000));
    });
}

/// Connections of clients that had long left were held for as long as the request once said, until no more came in.
#[test]
fn a_write_waits_for_copies_no_longer_than_its_client() {
    let sim = Sim::new(11);
    with_clients_on(&sim, 2, |clients| async {
        let [mut slow, mut other]: [Client; 2] = clients.try_into().ok().expect("two");
        other.good("PUT", "/a", r#"{"settings":{"number_of_replicas":1}}"#).await;
        let wait = "wait_for_active_shards=2&timeout=106751d";
        slow.send("PUT", &format!("/a/_doc/1?{wait}"), &KIND, b"{}").await;
        other.good("GET", "/_cluster/health", "").await;
        slow.leave().await;
        sim.pause(Duration::from_secs(2));
        for _ in 0..50 {
            let stats =
                other.good("GET", "/_nodes/stats/http?filter_path=**.current_open", "").await;
            if json::to_string(&stats).contains(r#""current_open":1"#) {
                let asked = other.call("GET", "/a/_doc/1", "").await;
                assert_eq!(asked.status, 404, "nothing was written");
                return;
            }
        }
        panic!("the connection is still held");
    });
}
