//! What a limited caller's write was judged by is no more when the shard does it: a document came between.

use std::time::Duration;

use env::{Clock, Env};
use json::{Value, json};
use sim::Sim;

use crate::browser::basic;
use crate::place::{Client, at, with_oauth_clients_on, with_security};

const JSON: [(&str, &str); 1] = [("Content-Type", "application/json")];

/// An index `x` of one shard, its alias `some`, and `docs`, who sees by each name what these entries give.
async fn stage(client: &mut Client, indices: Value) {
    client.authorize(Some(&basic("elastic", "secret")));
    let body = r#"{"settings":{"number_of_shards":1},"aliases":{"some":{}},
        "mappings":{"properties":{"a":{"type":"long"}}}}"#;
    client.good("PUT", "/x", body).await;
    let role = json::to_string(&json!({"indices": indices}));
    client.good("PUT", "/_security/role/docs", &role).await;
    let user = r#"{"password":"docs-know-this","roles":["docs"]}"#;
    client.good("PUT", "/_security/user/docs", user).await;
}

/// An entry of a role that lets all be done to documents of which `a` is 1.
fn limited(name: &str) -> Value {
    let query = json!({"term": {"a": 1}});
    json!({"names": [name], "privileges": ["read", "write"], "query": query})
}

fn docs(client: &mut Client) {
    client.authorize(Some(&basic("docs", "docs-know-this")));
}

fn seq_no(answer: &Value) -> u64 {
    at(answer, &["_seq_no"]).as_u64().expect("a number")
}

/// A delete was judged while nothing stood there, and took away a hidden document that came between; a condition on
/// a state to come let a whole document be put in its place, too.
#[test]
fn a_hidden_document_that_comes_between_stays() {
    let sim = Sim::new(1);
    let (env, sim) = (sim.env(), &sim);
    with_oauth_clients_on(sim, 2, |mut clients| async move {
        let [admin, other] = &mut clients[..] else { panic!("two") };
        stage(admin, json!([(limited("x"))])).await;
        docs(other);
        other.good("GET", "/_security/_authenticate", "").await;
        let first = admin.good("PUT", "/x/_doc/first", r#"{"a":0}"#).await;
        let mut last = seq_no(&first);
        let mut told = Vec::new();
        let whole = r#"{"a":1}"#;
        let upsert = r#"{"doc":{"a":1},"doc_as_upsert":true}"#;
        let calls = [
            ("DELETE", "/x/_doc/ID", "", 409),
            ("DELETE", "/x/_doc/ID?if_seq_no=NEXT&if_primary_term=1", "", 409),
            ("PUT", "/x/_doc/ID", whole, 409),
            ("PUT", "/x/_doc/ID?if_seq_no=NEXT&if_primary_term=1", whole, 409),
            ("PUT", "/x/_create/ID", whole, 409),
            ("POST", "/x/_update/ID", upsert, 409),
            ("POST", "/x/_update/ID", r#"{"doc":{"a":1}}"#, 404),
            ("POST", "/x/_update/ID?if_seq_no=NEXT&if_primary_term=1", r#"{"doc":{"a":1}}"#, 404),
        ];
        for (id, (method, target, body, _)) in calls.iter().enumerate() {
            let next = (last + 1).to_string();
            let target = target.replace("ID", &id.to_string()).replace("NEXT", &next);
            // What the other puts is decided, and on its way to the disk.
            let disk = Duration::from_millis(50);
            sim.set_latency(disk, disk);
            let path = format!("/x/_doc/{id}");
            admin.send("PUT", &path, &JSON, br#"{"a":0}"#).await;
            env.clock().sleep(disk / 2).await;
            let answer = other.call(method, &target, body).await;
            let put = admin.answer("PUT", &path).await;
            sim.set_latency(Duration::ZERO, Duration::from_millis(1));
            assert_eq!(put.status, 201, "{}", put.text());
            last = seq_no(&json::parse(&put.body).expect("JSON"));
            let left = admin.call("GET", &format!("/x/_source/{id}"), "").await;
            told.push((*method, target, answer.status, left.text().to_string()));
        }
        let expected: Vec<_> = std::iter::zip(&told, &calls)
            .map(|((method, target, ..), call)| {
                (*method, target.clone(), call.3, r#"{"a":0}"#.to_owned())
            })
            .collect();
        assert_eq!(told, expected);
    });
}

/// The same inside one `_bulk`, by a name that gives more and one that gives less.
#[test]
fn what_one_bulk_made_by_another_name_stays() {
    with_security(|mut client| async move {
        let all = json!({"names": ["x"], "privileges": ["read", "write"]});
        stage(&mut client, json!([all, (limited("some"))])).await;
        docs(&mut client);
        let mut told = Vec::new();
        let ways = [
            r#"{"delete":{"_index":"some","_id":"ID"}}"#,
            r#"{"delete":{"_index":"some","_id":"ID","if_seq_no":NEXT,"if_primary_term":1}}"#,
            "{\"index\":{\"_index\":\"some\",\"_id\":\"ID\"}}\n{\"a\":1}",
            "{\"index\":{\"_index\":\"some\",\"_id\":\"ID\",\"if_seq_no\":NEXT,\"if_primary_term\":1}}\n{\"a\":1}",
        ];
        for (id, way) in ways.iter().enumerate() {
            let before = client.good("PUT", "/x/_doc/before", r#"{"a":0}"#).await;
            let next = (seq_no(&before) + 1).to_string();
            let way = way.replace("ID", &id.to_string()).replace("NEXT", &next);
            let lines = format!(
                "{{\"index\":{{\"_index\":\"x\",\"_id\":\"{id}\"}}}}\n{{\"a\":0}}\n{way}\n"
            );
            let done = client.good("POST", "/_bulk", &lines).await;
            let items = at(&done, &["items"]).as_array().expect("items").to_vec();
            let status = |item: &Value| {
                let (_, told) = item.as_object().and_then(|item| item.iter().next()).expect("one");
                at(told, &["status"]).as_u64()
            };
            let left = client.good("GET", &format!("/x/_doc/{id}?filter_path=_source"), "").await;
            told.push((status(&items[0]), status(&items[1]), json::to_string(&left)));
        }
        // It is judged after what came before it, and a condition fails as on what is not there.
        let kept = |status| (Some(201), Some(status), r#"{"_source":{"a":0}}"#.to_owned());
        assert_eq!(told, [403, 409, 403, 409].map(kept));
    });
}

/// Changes of one document in one `_bulk` were each judged as things stood before the first, and conflicted.
#[test]
fn changes_of_one_document_in_one_bulk_come_one_after_the_other() {
    with_security(|mut client| async move {
        stage(&mut client, json!([(limited("x"))])).await;
        let lines = [
            r#"{"index":{"_index":"x","_id":"1"}}"#,
            r#"{"a":1,"n":1}"#,
            r#"{"update":{"_index":"x","_id":"1"}}"#,
            r#"{"doc":{"n":2}}"#,
            r#"{"index":{"_index":"x","_id":"2"}}"#,
            r#"{"a":1}"#,
            r#"{"delete":{"_index":"x","_id":"1"}}"#,
            r#"{"create":{"_index":"some","_id":"1"}}"#,
            r#"{"a":1,"n":3}"#,
            r#"{"update":{"_index":"x","_id":"1"}}"#,
            r#"{"doc":{"a":1},"doc_as_upsert":true}"#,
            r#"{"delete":{"_index":"x","_id":"2"}}"#,
            r#"{"delete":{"_index":"x","_id":"2"}}"#,
        ];
        let lines = lines.join("\n") + "\n";
        let mut told = Vec::new();
        for (user, password) in [("elastic", "secret"), ("docs", "docs-know-this")] {
            client.authorize(Some(&basic("elastic", "secret")));
            client.good("POST", "/x/_refresh", "").await;
            client
                .good("POST", "/x/_delete_by_query?refresh=true", r#"{"query":{"match_all":{}}}"#)
                .await;
            if user == "docs" {
                let both = json!({"names": ["x", "some"], "privileges": ["read", "write"],
                    "query": {"term": {"a": 1}}});
                let role = json::to_string(&json!({"indices": [(both)]}));
                client.good("PUT", "/_security/role/docs", &role).await;
            }
            client.authorize(Some(&basic(user, password)));
            let done = client.good("POST", "/_bulk", &lines).await;
            let items = at(&done, &["items"]).as_array().expect("items").iter();
            let results: Vec<String> = items
                .map(|item| {
                    let (_, item) =
                        item.as_object().and_then(|item| item.iter().next()).expect("one");
                    json::to_string(item.get("result").or_else(|| item.get("error")).expect("one"))
                })
                .collect();
            let left = client.good("GET", "/x/_source/1", "").await;
            told.push((results, json::to_string(&left)));
        }
        assert_eq!(told[0], told[1]);
        assert_eq!(told[0].1, r#"{"a":1,"n":3}"#);
    });
}

/// One that goes on so takes the time of so many requests, and no more.
#[test]
fn so_many_changes_of_one_document_are_done_in_order() {
    with_security(|mut client| async move {
        stage(&mut client, json!([(limited("x"))])).await;
        docs(&mut client);
        let change = |n: u32| format!("{{\"index\":{{\"_id\":\"1\"}}}}\n{{\"a\":1,\"n\":{n}}}\n");
        let done = client.good("POST", "/x/_bulk", &(0..70).map(change).collect::<String>()).await;
        let statuses: Vec<u64> = at(&done, &["items"])
            .as_array()
            .expect("items")
            .iter()
            .filter_map(|item| at(item, &["index", "status"]).as_u64())
            .collect();
        let mut expected = vec![200; 70];
        expected[0] = 201;
        expected[64..].fill(409);
        assert_eq!(statuses, expected);
        let left = client.good("GET", "/x/_source/1", "").await;
        assert_eq!(json::to_string(&left), r#"{"a":1,"n":63}"#);
    });
}

/// Where nothing stands, and nothing comes between, a delete is answered as ever.
#[test]
fn a_delete_that_finds_nothing_counts_on() {
    with_security(|mut client| async move {
        stage(&mut client, json!([(limited("x"))])).await;
        for (user, password) in [("elastic", "secret"), ("docs", "docs-know-this")] {
            client.authorize(Some(&basic(user, password)));
            let mut told = Vec::new();
            for _ in 0..2 {
                let done = client.call("DELETE", &format!("/x/_doc/{user}"), "").await;
                let body = json::parse(&done.body).expect("JSON");
                let version = at(&body, &["_version"]).as_u64();
                let result = at(&body, &["result"]).as_str().map(str::to_owned);
                told.push((done.status, version, result, seq_no(&body)));
            }
            let first = told[0].3;
            let missing =
                |count: u64| (404, Some(count), Some("not_found".to_owned()), first + count - 1);
            assert_eq!(told, [missing(1), missing(2)], "{user}");
        }
    });
}

/// Each wave of a request waited for a refresh of its own: what was acknowledged took a minute, and was written for a
/// caller whose right had ended meanwhile; where nobody refreshes, never.
#[test]
fn waves_wait_for_one_refresh_together() {
    with_security(|mut client| async move {
        stage(&mut client, json!([(limited("x"))])).await;
        client.good("PUT", "/x/_settings", r#"{"index.refresh_interval":"-1"}"#).await;
        docs(&mut client);
        let change = |n: u32| format!("{{\"index\":{{\"_id\":\"1\"}}}}\n{{\"a\":1,\"n\":{n}}}\n");
        let lines = (0..5).map(change).collect::<String>();
        let other = "{\"index\":{\"_id\":\"2\"}}\n{\"a\":1,\"n\":4}\n";
        let done = client.good("POST", "/x/_bulk?refresh=true", &(lines.clone() + other)).await;
        let items = at(&done, &["items"]).as_array().expect("items");
        assert!(
            items.iter().all(|item| at(item, &["index", "forced_refresh"]) == &Value::Bool(true)),
            "{}",
            json::to_string(&done)
        );
        let found = client.good("GET", "/x/_count?q=n:4", "").await;
        assert_eq!(at(&found, &["count"]).as_u64(), Some(2));
    });
}

/// The same where somebody waits for a refresh that somebody else asks for.
#[test]
fn waves_are_written_before_they_wait() {
    let sim = Sim::new(1);
    let (env, sim) = (sim.env(), &sim);
    with_oauth_clients_on(sim, 2, |mut clients| async move {
        let [admin, other] = &mut clients[..] else { panic!("two") };
        stage(admin, json!([(limited("x"))])).await;
        admin.good("PUT", "/x/_settings", r#"{"index.refresh_interval":"-1"}"#).await;
        docs(other);
        let change = |n: u32| format!("{{\"index\":{{\"_id\":\"1\"}}}}\n{{\"a\":1,\"n\":{n}}}\n");
        let lines = (0..5).map(change).collect::<String>();
        let target = "/x/_bulk?refresh=wait_for";
        other
            .send("POST", target, &[("Content-Type", "application/x-ndjson")], lines.as_bytes())
            .await;
        env.clock().sleep(Duration::from_secs(2)).await;
        let kept = admin.good("GET", "/x/_source/1", "").await;
        assert_eq!(json::to_string(&kept), r#"{"a":1,"n":4}"#);
        admin.good("POST", "/x/_refresh", "").await;
        let done = other.answer("POST", target).await;
        assert_eq!(done.status, 200, "{}", done.text());
        assert!(!done.text().contains("\"errors\":true"), "{}", done.text());
    });
}
