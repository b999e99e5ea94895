//! An index that is made of another, seen by whoever watches it.

use std::cell::Cell;
use std::pin::Pin;

use json::{Value, json};

use crate::place::{at, with_clients, with_node};

/// What one of several clients does, and what it saw: lists of tasks and of recoveries.
type Part<'a> = Pin<Box<dyn Future<Output = Vec<(Value, Value)>> + 'a>>;

/// It was no task, and its shards were told as if their logs were replayed.
#[test]
fn a_copy_is_a_task_and_its_shards_are_made_while_it_goes_on() {
    with_clients(3, 2, |mut clients| async move {
        let body = r#"{"settings":{"number_of_shards":2}}"#;
        clients[0].good("PUT", "/s", body).await;
        let lines: String = (0..2_000)
            .map(|n| format!("{{\"index\":{{}}}}\n{{\"n\":{n},\"t\":\"some words\"}}\n"))
            .collect();
        clients[0].good("POST", "/s/_bulk?refresh", &lines).await;
        clients[0].good("PUT", "/s/_settings", r#"{"index.blocks.write":true}"#).await;
        let [copier, watcher] = &mut clients[..] else { panic!("two clients") };
        let done = Cell::new(false);
        let copy = Box::pin(async {
            copier.good("POST", "/s/_shrink/z", "").await;
            done.set(true);
            Vec::new()
        });
        let watch = Box::pin(async {
            let mut seen = Vec::new();
            while !done.get() {
                let tasks =
                    watcher.good("GET", "/_tasks?actions=*resize&detailed&group_by=none", "").await;
                let rows = watcher.good("GET", "/_recovery?active_only", "").await;
                // It was red here while it was yellow in `_cluster/health`.
                for target in ["/_cat/indices/z?h=health", "/_cat/indices?h=health&health=red"] {
                    let told = watcher.call("GET", target, "").await;
                    assert!(!told.text().contains("red"), "{target}: {}", told.text());
                }
                seen.push((tasks, rows));
            }
            seen
        });
        let both: Vec<Part<'_>> = vec![copy, watch];
        let seen = env::join_all(both).await.pop().expect("what was seen");
        let tasks: Vec<&Value> = seen
            .iter()
            .flat_map(|(tasks, _)| at(tasks, &["tasks"]).as_array().expect("a list"))
            .collect();
        assert!(!tasks.is_empty(), "{} looks", seen.len());
        for task in &tasks {
            assert_eq!(at(task, &["action"]).as_str(), Some("indices:admin/resize"));
            assert_eq!(at(task, &["description"]).as_str(), Some("shrink from [s] to [z]"));
            assert_eq!(at(task, &["cancellable"]).as_bool(), Some(false));
        }
        let first = at(tasks[0], &["id"]);
        assert!(tasks.iter().all(|task| at(task, &["id"]) == first), "it is one task");
        let made: Vec<&Value> = seen
            .iter()
            .filter_map(|(_, rows)| rows.at(&["z", "shards"])?.as_array())
            .flatten()
            .collect();
        assert!(!made.is_empty(), "{} looks", seen.len());
        for shard in made {
            assert_eq!(at(shard, &["type"]).as_str(), Some("LOCAL_SHARDS"));
            assert_eq!(at(shard, &["stage"]).as_str(), Some("INDEX"));
        }
        let after = watcher.good("GET", "/_tasks?actions=*resize&group_by=none", "").await;
        assert_eq!(after, json!({"tasks": []}));
    });
}

/// Nothing was told to have been made, of a shard full of documents.
#[test]
fn a_copy_tells_what_was_made_for_it() {
    with_node(|mut client| async move {
        client.good("PUT", "/s", r#"{"settings":{"number_of_shards":2}}"#).await;
        for id in 0..8 {
            client.good("PUT", &format!("/s/_doc/{id}?refresh"), r#"{"a":1}"#).await;
        }
        client.good("PUT", "/s/_settings", r#"{"index.blocks.write":true}"#).await;
        client.good("POST", "/s/_shrink/z", "").await;
        let stats = client.good("GET", "/z/_stats/store,segments", "").await;
        let total = |part: &str, key: &str| {
            at(&stats, &["_all", "primaries", part, key]).as_u64().expect("a figure")
        };
        let (bytes, files) = (total("store", "size_in_bytes"), total("segments", "count"));
        assert!(bytes > 0 && files > 0);
        let rows = client.good("GET", "/z/_recovery", "").await;
        let shard = &at(&rows, &["z", "shards"]).as_array().expect("a list")[0];
        assert_eq!(at(shard, &["stage"]).as_str(), Some("DONE"));
        for (part, unit, figure) in [("size", "_in_bytes", bytes), ("files", "", files)] {
            let of = |key: &str| at(shard, &["index", part, &format!("{key}{unit}")]).as_u64();
            assert_eq!(of("total"), Some(figure), "{part}");
            assert_eq!(of("recovered"), Some(figure), "{part}");
            assert_eq!(of("reused"), Some(0), "{part}");
            assert_eq!(at(shard, &["index", part, "percent"]).as_str(), Some("100.0%"), "{part}");
        }
        let target = "/_cat/recovery/z?h=type,stage,files,fr,tf,b,br,tb&bytes=b";
        let cat = client.call("GET", target, "").await;
        let told: Vec<String> = cat.text().split_whitespace().map(str::to_owned).collect();
        let (files, bytes) = (files.to_string(), bytes.to_string());
        let expected = ["local_shards", "done", &files, &files, &files, &bytes, &bytes, &bytes];
        assert_eq!(told, expected);
    });
}
