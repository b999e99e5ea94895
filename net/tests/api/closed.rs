//! Indices that several clients close, open and delete at once.

use std::time::Duration;

use env::{Clock, Env};
use json::Value;
use sim::Sim;

use crate::place::{Client, at, at_once, failure, value, with_clients_on, with_node};

/// Rounds of each client.
const ROUNDS: usize = 12;

/// `CLOSED_SEEDS=from..to` runs other seeds.
fn seeds() -> std::ops::Range<u64> {
    sim::seeds("CLOSED_SEEDS", 0..4)
}

/// What a client did with which document: those that were acknowledged.
async fn write(client: &mut Client, ids: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut done = Vec::new();
    for id in ids {
        let written = client.call("PUT", &format!("/a/_doc/{id}"), r#"{"n":1}"#).await;
        match written.status {
            201 => done.push(id),
            // It opens.
            503 => {}
            _ => assert_eq!(failure(&written), "400 index_closed_exception: closed"),
        }
    }
    done
}

/// Two who closed and opened one index over and over had two instances of a shard at its files at once: in a
/// second all documents of it were lost.
#[test]
fn an_index_that_two_close_and_open_at_once_keeps_its_documents() {
    for seed in seeds() {
        let sim = Sim::new(seed);
        with_clients_on(&sim, 4, |clients| async move {
            let [mut one, mut two, mut writer, mut sweeper]: [Client; 4] =
                clients.try_into().ok().expect("four");
            one.good("PUT", "/a", r#"{"settings":{"number_of_replicas":0}}"#).await;
            let mut kept = write(&mut writer, 0..5).await;
            let close_and_open = async |client: &mut Client| {
                for _ in 0..ROUNDS {
                    client.good("POST", "/a/_close", "").await;
                    client.good("POST", "/a/_open", "").await;
                }
                Vec::new()
            };
            let sweep = async |client: &mut Client| {
                for _ in 0..ROUNDS {
                    client.call("POST", "/a/_flush", "").await;
                    client.call("POST", "/a/_forcemerge?max_num_segments=1", "").await;
                }
                Vec::new()
            };
            type Work<'a> = std::pin::Pin<Box<dyn Future<Output = Vec<usize>> + 'a>>;
            let works: Vec<Work<'_>> = vec![
                Box::pin(close_and_open(&mut one)),
                Box::pin(close_and_open(&mut two)),
                Box::pin(write(&mut writer, 5..60)),
                Box::pin(sweep(&mut sweeper)),
            ];
            kept.extend(env::join_all(works).await.into_iter().flatten());
            one.good("POST", "/a/_open", "").await;
            one.good("POST", "/a/_refresh", "").await;
            let health = one.good("GET", "/_cluster/health/a", "").await;
            assert_eq!(at(&health, &["status"]).as_str(), Some("green"), "seed {seed}");
            let found = one.good("GET", "/a/_search?size=100&_source=false", "").await;
            let hits = at(&found, &["hits", "hits"]).as_array().expect("a list");
            let ids: Vec<&str> = hits.iter().filter_map(|hit| at(hit, &["_id"]).as_str()).collect();
            for id in kept {
                assert!(ids.contains(&id.to_string().as_str()), "seed {seed}: {id} of {ids:?}");
            }
        });
    }
}

/// A write that met a shard which was being closed was told that there is no such index.
#[test]
fn what_is_closed_while_it_is_written_to_is_called_closed() {
    for seed in seeds() {
        with_clients_on(&Sim::new(seed), 4, |clients| async move {
            let [mut closer, mut writer, mut bulker, mut reader]: [Client; 4] =
                clients.try_into().ok().expect("four");
            closer.good("PUT", "/a", r#"{"settings":{"number_of_shards":3}}"#).await;
            closer.good("PUT", "/a/_doc/1", r#"{"n":1}"#).await;
            let turn = async |client: &mut Client| {
                for round in 0..4 * ROUNDS {
                    let what = if round % 2 == 0 { "_close" } else { "_open" };
                    client.good("POST", &format!("/a/{what}"), "").await;
                }
            };
            // What is told of a shard that serves, of one that does not, and of an index that is closed.
            let judge = |status: u64, told: &Value| {
                if ![200, 201, 503].contains(&status) {
                    let part = |key: &str| at(told, &["error", key]).as_str();
                    let parts = [part("type"), part("reason"), part("index")];
                    let closed = ["index_closed_exception", "closed", "a"].map(Some);
                    assert_eq!((status, parts), (400, closed), "seed {seed}");
                }
            };
            let ask = async |client: &mut Client, method: &str, target: &str, body: &str| {
                for _ in 0..8 * ROUNDS {
                    let answer = client.call(method, target, body).await;
                    let told = value(&answer);
                    let items = told.get("items").and_then(Value::as_array);
                    for item in items.into_iter().flatten() {
                        let item = at(item, &["index"]);
                        judge(at(item, &["status"]).as_u64().expect("a status"), item);
                    }
                    judge(u64::from(answer.status), &told);
                }
            };
            let lines: String = (0..200)
                .map(|id| format!("{{\"index\":{{\"_id\":\"{id}\"}}}}\n{{\"n\":1}}\n"))
                .collect();
            type Work<'a> = std::pin::Pin<Box<dyn Future<Output = ()> + 'a>>;
            let works: Vec<Work<'_>> = vec![
                Box::pin(turn(&mut closer)),
                Box::pin(ask(&mut writer, "POST", "/a/_doc", r#"{"n":1}"#)),
                Box::pin(ask(&mut bulker, "POST", "/a/_bulk", &lines)),
                Box::pin(ask(&mut reader, "GET", "/a/_source/1", "")),
            ];
            env::join_all(works).await;
        });
    }
}

/// A folder was removed while a shard was opened in it, which ended the process.
#[test]
fn an_index_may_be_deleted_while_it_opens_or_closes() {
    for seed in seeds() {
        let sim = Sim::new(seed);
        with_clients_on(&sim, 3, |clients| async move {
            let rounds = |client: Client, steps: &'static [(&'static str, &'static str)]| async move {
                let mut client = client;
                for round in 0..3 * ROUNDS {
                    let (method, target) = steps[round % steps.len()];
                    let answer = client.call(method, target, "").await;
                    let text = answer.text();
                    assert!(answer.status != 500, "{method} {target}: {text}");
                    // A shard that failed would say why.
                    assert!(!text.contains("corrupt") && !text.contains("No such file"), "{text}");
                }
                client
            };
            let steps: [&[(&str, &str)]; 3] = [
                &[
                    ("PUT", "/a"),
                    ("PUT", "/a/_doc/1?refresh"),
                    ("POST", "/a/_close"),
                    ("POST", "/a/_open"),
                ],
                &[("POST", "/a/_open"), ("POST", "/a/_close"), ("POST", "/a/_flush")],
                &[("DELETE", "/a"), ("GET", "/_cluster/health"), ("POST", "/a/_open")],
            ];
            let works =
                clients.into_iter().zip(steps).map(|(one, steps)| Box::pin(rounds(one, steps)));
            let mut client = env::join_all(works.collect()).await.pop().expect("three");
            client.call("DELETE", "/a", "").await;
            client.good("PUT", "/a", "").await;
            client.good("PUT", "/a/_doc/1?refresh", r#"{"n":1}"#).await;
            let health: Value = client.good("GET", "/_cluster/health", "").await;
            assert_eq!(
                at(&health, &["unassigned_primary_shards"]).as_u64(),
                Some(0),
                "seed {seed}"
            );
        });
    }
}

/// Of two who deleted one index at once both were told that they had.
#[test]
fn an_index_is_deleted_once() {
    for seed in seeds() {
        with_clients_on(&Sim::new(seed), 3, |mut clients| async move {
            clients[0].good("PUT", "/a", r#"{"settings":{"number_of_shards":3}}"#).await;
            let answers = at_once(&mut clients, "DELETE", "/a", |_| String::new()).await;
            let told: Vec<String> =
                answers.iter().filter(|one| one.status != 200).map(failure).collect();
            let gone = "404 index_not_found_exception: no such index [a]".to_owned();
            assert_eq!(told, [gone.clone(), gone], "seed {seed}");
        });
    }
}

/// A copy went on for half a minute when its target was closed, and told a fault of ours when it was deleted.
#[test]
fn an_index_that_is_made_of_another_is_not_closed_and_its_end_is_told() {
    for seed in seeds() {
        with_clients_on(&Sim::new(seed), 2, |clients| async move {
            let [mut maker, mut other]: [Client; 2] = clients.try_into().ok().expect("two");
            let lines: String = (0..3_000).map(|_| "{\"index\":{}}\n{\"n\":1}\n").collect();
            maker.good("POST", "/a/_bulk?refresh", &lines).await;
            maker.good("PUT", "/a/_settings", r#"{"index.blocks.write":true}"#).await;
            maker.send("POST", "/a/_clone/c", &[], b"").await;
            let told = loop {
                let closed = other.call("POST", "/c/_close", "").await;
                if closed.status != 404 {
                    break failure(&closed);
                }
            };
            assert_eq!(
                told,
                "503 no_shard_available_action_exception: [c] is being made from another index"
            );
            // Searches of all indices lack its documents alone.
            let all = other.good("GET", "/_search?size=0", "").await;
            assert_eq!(at(&all, &["_shards", "failed"]).as_u64(), Some(1), "seed {seed}");
            assert_eq!(at(&all, &["hits", "total", "value"]).as_u64(), Some(3_000));
            other.good("GET", "/_field_caps?fields=*", "").await;
            let whole = "/_search?allow_partial_search_results=false";
            assert_eq!(other.call("GET", whole, "").await.status, 503);
            assert_eq!(other.call("GET", "/c/_search", "").await.status, 503);
            other.good("DELETE", "/c", "").await;
            let told = failure(&maker.answer("POST", "/a/_clone/c").await);
            assert_eq!(told, "404 index_not_found_exception: no such index [c]", "seed {seed}");
        });
    }
}

/// It was told as green from its first moment; who waited for that, and took its source away as everybody does,
/// lost both. A copy of it held a part, and one of a source that took writes again was of no moment.
#[test]
fn an_index_is_initializing_until_it_holds_what_its_source_held() {
    for seed in seeds() {
        with_clients_on(&Sim::new(seed), 2, |clients| async move {
            let [mut maker, mut other]: [Client; 2] = clients.try_into().ok().expect("two");
            let two = r#"{"settings":{"number_of_shards":2,"number_of_replicas":0}}"#;
            maker.good("PUT", "/a", two).await;
            let lines: String = (0..3_000).map(|_| "{\"index\":{}}\n{\"n\":1}\n").collect();
            maker.good("POST", "/a/_bulk?refresh", &lines).await;
            maker.good("PUT", "/a/_settings", r#"{"index.blocks.write":true}"#).await;
            let body = r#"{"settings":{"number_of_replicas":0,"index.blocks.write":null}}"#;
            let json = [("content-type", "application/json")];
            maker.send("POST", "/a/_clone/c", &json, body.as_bytes()).await;
            let mut looks = 0;
            while other.call("HEAD", "/c", "").await.status == 404 {
                looks += 1;
                assert!(looks < 1_000, "it is not made");
            }
            let health = other.good("GET", "/_cluster/health/c?level=shards", "").await;
            assert_eq!(at(&health, &["status"]).as_str(), Some("yellow"), "seed {seed}");
            assert_eq!(at(&health, &["initializing_shards"]).as_u64(), Some(2));
            let shard = at(&health, &["indices", "c", "shards", "1"]);
            assert_eq!(at(shard, &["initializing_shards"]).as_u64(), Some(1));
            assert_eq!(at(shard, &["status"]).as_str(), Some("yellow"));
            let report = other.good("GET", "/_health_report/shards_availability", "").await;
            let told = at(&report, &["indicators", "shards_availability", "symptom"]).as_str();
            let words = "This cluster has 2 initializing primary shards";
            assert!(told.is_some_and(|told| told.starts_with(words)), "{told:?}");
            let asked = r#"{"index":"c","shard":1,"primary":true}"#;
            let why = other.good("POST", "/_cluster/allocation/explain", asked).await;
            assert_eq!(at(&why, &["current_state"]).as_str(), Some("initializing"));
            let segments = other.good("GET", "/c/_segments", "").await;
            assert_eq!(at(&segments, &["_shards", "successful"]).as_u64(), Some(0));
            let shards = other.call("GET", "/_cat/shards/c?h=shard,state", "").await.text();
            assert_eq!(shards, "0 INITIALIZING\n1 INITIALIZING\n");
            let stages = other.call("GET", "/_cat/recovery/c?h=type,stage", "").await.text();
            assert!(!stages.contains("done"), "{stages}");
            let told = other.bad("POST", "/c/_clone/d", "").await;
            assert!(told.starts_with("503 no_shard_available_action_exception: [c] is"), "{told}");
            // It stays until it is copied.
            let told = other.bad("DELETE", "/a", "").await;
            assert!(told.ends_with("delete it first."), "{told}");
            let swap = r#"{"actions":[{"remove_index":{"index":"a"}}]}"#;
            let told = other.bad("POST", "/_aliases", swap).await;
            assert!(
                told.starts_with("400 illegal_argument_exception: Cannot delete index [a/"),
                "{told}"
            );
            // It takes writes again, and loses what it had.
            other.good("PUT", "/a/_settings", r#"{"index.blocks.write":null}"#).await;
            other
                .good("POST", "/a/_delete_by_query?refresh", r#"{"query":{"match_all":{}}}"#)
                .await;
            let green = "/_cluster/health/c?wait_for_status=green&timeout=60s";
            let health = other.good("GET", green, "").await;
            assert_eq!(at(&health, &["status"]).as_str(), Some("green"), "seed {seed}");
            let made = maker.answer("POST", "/a/_clone/c").await;
            assert_eq!(made.status, 200, "{}", made.text());
            other.good("DELETE", "/a", "").await;
            let count = other.good("GET", "/c/_count", "").await;
            assert_eq!(at(&count, &["count"]).as_u64(), Some(3_000), "seed {seed}");
        });
    }
}

/// A copy is written anew of the texts: what those lack was lost without a word.
#[test]
fn an_index_whose_texts_lack_something_is_not_copied() {
    with_node(|mut client| async move {
        for (index, source) in [
            ("a", r#"{"excludes":["k"]}"#),
            ("b", r#"{"includes":["z"]}"#),
            ("c", r#"{"enabled":false}"#),
        ] {
            let body = format!(
                r#"{{"settings":{{"index.blocks.write":true}},"mappings":{{"_source":{source}}}}}"#
            );
            client.good("PUT", &format!("/{index}"), &body).await;
            let told = client.bad("PUT", &format!("/{index}/_clone/x"), "").await;
            let why = format!(
                "400 illegal_argument_exception: index [{index}] cannot be copied: its mapping"
            );
            assert!(told.starts_with(&why), "{told}");
        }
        assert_eq!(client.call("HEAD", "/x", "").await.status, 404);
    });
}

/// The bound on shards was asked of new indices alone.
#[test]
fn indices_are_opened_where_there_is_room_for_their_shards() {
    with_clients_on(&Sim::new(1), 1, |mut clients| async move {
        let client = &mut clients[0];
        let three = r#"{"settings":{"number_of_shards":3,"number_of_replicas":0}}"#;
        client.good("PUT", "/a", three).await;
        client.good("POST", "/a/_close", "").await;
        client.good("PUT", "/b", three).await;
        let most = r#"{"persistent":{"cluster.max_shards_per_node":5}}"#;
        client.good("PUT", "/_cluster/settings", most).await;
        assert_eq!(
            client.bad("POST", "/a/_open", "").await,
            "400 validation_exception: Validation Failed: 1: this action would add [3] shards, but this \
             cluster currently has [3]/[5] maximum normal shards open;"
        );
        // What is open already needs no room, and hidden ones do not count.
        client.good("POST", "/b/_open", "").await;
        client.good("PUT", "/a/_settings", r#"{"index.hidden":true}"#).await;
        client.good("POST", "/a/_open", "").await;
    });
}

/// It was told by its id.
#[test]
fn an_index_that_is_deleted_meanwhile_is_told_by_its_name() {
    let mut met = 0;
    for seed in 0..12 {
        let all = std::cell::RefCell::new(Vec::new());
        let told = &all;
        with_clients_on(&Sim::new(seed), 6, |mut clients| async move {
            clients[0].good("PUT", "/z", "").await;
            let calls = clients.iter_mut().zip([
                ("DELETE", "/z", ""),
                ("POST", "/z/_close", ""),
                ("POST", "/z/_open", ""),
                ("PUT", "/z/_settings", r#"{"index.priority":3}"#),
                ("PUT", "/z/_mapping", r#"{"properties":{"n":{"type":"long"}}}"#),
                ("PUT", "/z/_block/write", ""),
            ]);
            let calls = calls.map(|(client, (method, target, body))| {
                Box::pin(async move {
                    let answer = client.call(method, target, body).await;
                    if answer.status == 404 {
                        told.borrow_mut().push(failure(&answer));
                    }
                })
            });
            env::join_all(calls.collect()).await;
        });
        for told in all.take() {
            assert_eq!(told, "404 index_not_found_exception: no such index [z]", "seed {seed}");
            met += 1;
        }
    }
    assert!(met > 0, "none came too late");
}

/// Whoever makes one of a closed index is told which is closed; of one that is closed meanwhile it becomes whole.
#[test]
fn a_closed_source_is_told_by_its_own_name() {
    let told_of = |answer: &http::client::Response| {
        let told = value(answer);
        let name = at(&told, &["error", "index"]).as_str().unwrap_or_default().to_owned();
        (failure(answer), name)
    };
    let expected = ("400 index_closed_exception: closed".to_owned(), "a".to_owned());
    for moment in 0..30 {
        let sim = Sim::new(moment);
        let env = sim.env();
        with_clients_on(&sim, 2, |clients| async {
            let [mut maker, mut other]: [Client; 2] = clients.try_into().ok().expect("two");
            let lines: String = (0..600).map(|_| "{\"index\":{}}\n{\"n\":1}\n").collect();
            maker.good("POST", "/a/_bulk?refresh", &lines).await;
            maker.good("PUT", "/a/_settings", r#"{"index.blocks.write":true}"#).await;
            let close = async {
                env.clock().sleep(Duration::from_micros(moment * moment * 400)).await;
                other.call("POST", "/a/_close", "").await
            };
            let make = async { maker.call("POST", "/a/_clone/c", "").await };
            type Work<'a> = std::pin::Pin<Box<dyn Future<Output = http::client::Response> + 'a>>;
            let works: [Work<'_>; 2] = [Box::pin(make), Box::pin(close)];
            let told = env::join_all(works.into()).await;
            assert_eq!(told[1].status, 200, "{}", told[1].text());
            if told[0].status == 200 {
                let count = maker.good("GET", "/c/_count", "").await;
                assert_eq!(at(&count, &["count"]).as_u64(), Some(600), "moment {moment}");
            } else {
                assert_eq!(told_of(&told[0]), expected, "moment {moment}: {}", told[0].text());
            }
            for (call, body) in [
                ("_clone/x", ""),
                ("_shrink/x", ""),
                ("_split/x", r#"{"settings":{"index.number_of_shards":2}}"#),
            ] {
                let answer = maker.call("POST", &format!("/a/{call}"), body).await;
                assert_eq!(told_of(&answer), expected, "{call}");
            }
        });
    }
}

/// What the switch of the cluster says was told nowhere.
#[test]
fn closing_may_be_switched_off() {
    with_node(|mut client| async move {
        client.good("PUT", "/a", "").await;
        let set = |on: &str| format!(r#"{{"persistent":{{"cluster.indices.close.enable":{on}}}}}"#);
        client.good("PUT", "/_cluster/settings", &set("false")).await;
        let told = client.bad("POST", "/a/_close", "").await;
        assert!(
            told.starts_with("500 illegal_state_exception: closing indices is disabled"),
            "{told}"
        );
        client.good("GET", "/a/_search", "").await;
        client.good("PUT", "/_cluster/settings", &set("null")).await;
        client.good("POST", "/a/_close", "").await;
    });
}

/// A broadcast told as failed what was deleted while it went on.
#[test]
fn what_is_deleted_during_a_broadcast_counts_as_nothing() {
    for seed in seeds() {
        with_clients_on(&Sim::new(seed), 5, |clients| async move {
            let [mut maker, mut first, mut second, mut third, mut fourth]: [Client; 5] =
                clients.try_into().ok().expect("five");
            maker.good("PUT", "/stays", r#"{"settings":{"number_of_replicas":0}}"#).await;
            let turn = async |client: &mut Client| {
                for round in 0..6 * ROUNDS {
                    let body = r#"{"settings":{"number_of_shards":3,"number_of_replicas":0}}"#;
                    client.good("PUT", "/goes", body).await;
                    client.good("PUT", "/goes/_doc/1", r#"{"n":1}"#).await;
                    if round % 3 == 0 {
                        client.good("POST", "/goes/_close", "").await;
                    }
                    client.good("DELETE", "/goes", "").await;
                }
            };
            let ask = async |client: &mut Client, calls: &[(&str, &str)]| {
                for _ in 0..12 * ROUNDS {
                    for (method, call) in calls {
                        let all = client.good(method, &format!("/_all/{call}"), "").await;
                        let shards = |key: &str| at(&all, &["_shards", key]).as_u64();
                        assert_eq!(shards("failed"), Some(0), "seed {seed} {call}: {all:?}");
                        assert_eq!(
                            shards("total"),
                            shards("successful"),
                            "seed {seed} {call}: {all:?}"
                        );
                        assert!(
                            matches!(shards("total"), Some(1 | 4)),
                            "seed {seed} {call}: {all:?}"
                        );
                        let one = client.call(method, &format!("/stays,goes/{call}"), "").await;
                        let told = value(&one);
                        let kind = told.at(&["error", "type"]).and_then(Value::as_str);
                        let gone = ["index_not_found_exception", "index_closed_exception"];
                        if kind.is_some_and(|kind| gone.contains(&kind)) {
                            continue;
                        }
                        assert_eq!(one.status, 200, "seed {seed} {call}: {told:?}");
                        // Where another is made by that name meanwhile, the old one counts as nothing.
                        let shards = |key: &str| at(&told, &["_shards", key]).as_u64();
                        assert_eq!(shards("failed"), Some(0), "seed {seed} {call}: {told:?}");
                        assert_eq!(shards("total"), shards("successful"), "seed {seed} {call}");
                    }
                }
            };
            type Work<'a> = std::pin::Pin<Box<dyn Future<Output = ()> + 'a>>;
            let works: Vec<Work<'_>> = vec![
                Box::pin(turn(&mut maker)),
                Box::pin(ask(&mut first, &[("POST", "_flush"), ("POST", "_refresh")])),
                Box::pin(ask(&mut second, &[("POST", "_forcemerge"), ("POST", "_cache/clear")])),
                Box::pin(ask(
                    &mut third,
                    &[
                        ("POST", "_disk_usage?run_expensive_tasks=true"),
                        ("GET", "_stats"),
                        ("GET", "_field_usage_stats"),
                    ],
                )),
                Box::pin(ask(&mut fourth, &[("GET", "_search?size=0"), ("GET", "_count")])),
            ];
            env::join_all(works).await;
        });
    }
}

/// Health told the shards of an index that was deleted or closed while names were looked up as lost, and the cluster as
/// red.
#[test]
fn no_shard_is_lost_where_indices_come_and_go() {
    for seed in seeds() {
        with_clients_on(&Sim::new(seed), 3, |clients| async move {
            let [mut maker, mut first, mut second]: [Client; 3] =
                clients.try_into().ok().expect("three");
            let turn = async |client: &mut Client| {
                for round in 0..12 * ROUNDS {
                    let body = r#"{"settings":{"number_of_shards":3,"number_of_replicas":0}}"#;
                    client.good("PUT", "/goes", body).await;
                    if round % 3 == 0 {
                        client.good("POST", "/goes/_close", "").await;
                    }
                    client.good("DELETE", "/goes", "").await;
                }
            };
            let ask = async |client: &mut Client, target: &str| {
                for _ in 0..40 * ROUNDS {
                    let told = client.good("GET", target, "").await;
                    assert_eq!(at(&told, &["status"]).as_str(), Some("green"), "{seed}: {told:?}");
                    let lost = at(&told, &["unassigned_primary_shards"]).as_u64();
                    assert_eq!(lost, Some(0), "{seed}: {told:?}");
                }
            };
            type Work<'a> = std::pin::Pin<Box<dyn Future<Output = ()> + 'a>>;
            let works: Vec<Work<'_>> = vec![
                Box::pin(turn(&mut maker)),
                Box::pin(ask(&mut first, "/_cluster/health?level=shards")),
                Box::pin(ask(&mut second, "/_cluster/health/g*")),
            ];
            env::join_all(works).await;
        });
    }
}
