//! What takes long and is waited for ends with the right to it.

use std::time::Duration;

use env::{Clock, Env};
use sim::Sim;

use crate::browser::basic;
use crate::place::{Client, at, with_oauth_clients_on};

const JSON: [(&str, &str); 1] = [("Content-Type", "application/json")];

/// An index of sixty documents, and `ann`, who may read and write it.
async fn stage(admin: &mut Client) {
    admin.authorize(Some(&basic("elastic", "secret")));
    admin.good("PUT", "/w", r#"{"settings":{"number_of_shards":1}}"#).await;
    let line = |n: u32| format!("{{\"index\":{{\"_id\":\"{n}\"}}}}\n{{\"a\":1,\"n\":{n}}}\n");
    let lines = (0..60).map(line).collect::<String>();
    admin.good("POST", "/w/_bulk?refresh=true", &lines).await;
    let role = r#"{"indices":[{"names":["w","v"],"privileges":["read","write","create_index"]}]}"#;
    admin.good("PUT", "/_security/role/ann", role).await;
    let user = r#"{"password":"ann-knows-this","roles":["ann"]}"#;
    admin.good("PUT", "/_security/user/ann", user).await;
}

/// The work of `ann` that somebody waits for.
async fn begin(admin: &mut Client, ann: &mut Client, target: &str, body: &str) {
    stage(admin).await;
    ann.authorize(Some(&basic("ann", "ann-knows-this")));
    ann.send("POST", target, &JSON, body.as_bytes()).await;
}

async fn count(admin: &mut Client, target: &str) -> u64 {
    admin.good("POST", "/_refresh", "").await;
    let told = admin.good("GET", &format!("/{target}"), "").await;
    at(&told, &["count"]).as_u64().expect("a count")
}

/// Only the work that nobody waits for ended so: any other wrote on for as long as its caller had asked it to take.
#[test]
fn work_by_query_asks_again_with_each_batch() {
    let slow = "scroll_size=1&requests_per_second=5";
    let script = r#"{"script":"ctx._source.a = 2"}"#;
    let copy = r#"{"source":{"index":"w","size":1},"dest":{"index":"v"}}"#;
    let all = r#"{"query":{"match_all":{}}}"#;
    let ends = [
        ("POST", "/_security/user/ann", r#"{"roles":["ann"],"enabled":false}"#),
        ("PUT", "/_security/role/ann", r#"{"indices":[{"names":["other"],"privileges":["all"]}]}"#),
        ("DELETE", "/_security/user/ann", ""),
    ];
    for (method, path, end) in ends {
        for (target, body, changed) in [
            (format!("/w/_update_by_query?{slow}"), script, "w/_count?q=a:2"),
            (format!("/w/_delete_by_query?{slow}"), all, "w/_count"),
            (
                "/_reindex?requests_per_second=5".to_owned(),
                copy,
                "v/_count?ignore_unavailable=true",
            ),
        ] {
            let sim = Sim::new(1);
            let (env, sim) = (sim.env(), &sim);
            with_oauth_clients_on(sim, 2, |mut clients| async move {
                let [admin, other] = &mut clients[..] else { panic!("two") };
                begin(admin, other, &target, body).await;
                env.clock().sleep(Duration::from_secs(2)).await;
                let begun = count(admin, changed).await;
                if begun == 0 {
                    panic!(
                        "{target}: nothing so far: {}",
                        other.answer("POST", &target).await.text()
                    );
                }
                assert_ne!(begun, 60, "{target}");
                admin.good(method, path, end).await;
                let then = count(admin, changed).await;
                let answer = other.answer("POST", &target).await;
                let after = count(admin, changed).await;
                // A batch may have been under way.
                assert!(then.abs_diff(after) <= 1, "{method} {path}, {target}: {then}, {after}");
                assert!(matches!(answer.status, 401 | 403), "{target}: {}", answer.text());
            });
        }
    }
}

/// Whoever may go on goes on.
#[test]
fn work_by_query_goes_on_while_its_caller_may() {
    let sim = Sim::new(1);
    let (env, sim) = (sim.env(), &sim);
    with_oauth_clients_on(sim, 2, |mut clients| async move {
        let [admin, other] = &mut clients[..] else { panic!("two") };
        let target = "/w/_update_by_query?scroll_size=10&requests_per_second=20";
        begin(admin, other, target, r#"{"script":"ctx._source.a = 2"}"#).await;
        env.clock().sleep(Duration::from_secs(1)).await;
        admin.good("POST", "/_security/user/bob", r#"{"password":"bob-knows","roles":[]}"#).await;
        let wider = r#"{"indices":[{"names":["*"],"privileges":["all"]}]}"#;
        admin.good("PUT", "/_security/role/ann", wider).await;
        let answer = other.answer("POST", target).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_eq!(count(admin, "w/_count?q=a:2").await, 60);
    });
}
