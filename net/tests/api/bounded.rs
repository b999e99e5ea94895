//! What the security API answers and keeps is bounded: a small request is no large answer, and nobody fills the memory.

use json::{Value, json};

use crate::browser::basic;
use crate::place::{Client, at, failure, value, with_security, with_security_within};

const HAS: &str = "/_security/user/_has_privileges";

fn names(begin: &str, count: usize) -> Vec<String> {
    (0..count).map(|at| format!("{begin}{at}")).collect()
}

/// Privileges of an application, on resources.
fn on_resources(privileges: Vec<String>, resources: Vec<String>) -> Value {
    json!({"application": "app", "privileges": privileges, "resources": resources})
}

/// A body of 70 KB became an answer of 220 MB, and one of 160 KB took more memory than there was.
#[test]
fn privileges_are_asked_for_in_bounded_products() {
    with_security(|mut client| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        client.good("PUT", "/_security/user/ann", r#"{"password":"secret","roles":[]}"#).await;
        client.authorize(Some(&basic("ann", "secret")));
        let raw = names("indices:data/read/x", 400);
        let of_indices = json!({"index": [{"names": (names("n", 400)), "privileges": raw}]});
        let halves = vec![
            on_resources(names("p", 400), names("r", 200)),
            on_resources(names("p", 400), names("r", 200)),
        ];
        for (asked, pairs) in [
            (json!({"application": [(on_resources(names("p", 400), names("r", 400)))]}), 160_000),
            (json!({"application": halves}), 160_000),
            (of_indices, 160_000),
        ] {
            let told = client.bad("POST", HAS, &json::to_string(&asked)).await;
            assert_eq!(
                told,
                format!(
                    "400 illegal_argument_exception: privileges check [ann] asks for [{pairs}] pairs of a name \
                     and a privilege, but one request may ask for at most [100000] of them"
                )
            );
        }
        // What a companion asks of all its spaces.
        let asked = json!({"cluster": ["monitor"],
            "application": [(on_resources(names("p", 50), names("space:", 1_000)))]});
        let held = client.good("POST", HAS, &json::to_string(&asked)).await;
        assert_eq!(at(&held, &["has_all_requested"]), &json!(false));
        assert_eq!(at(&held, &["username"]).as_str(), Some("ann"));
        assert_eq!(at(&held, &["cluster", "monitor"]), &json!(false));
        let spaces = at(&held, &["application", "app"]).as_object().expect("resources");
        assert_eq!(spaces.len(), 1_000);
        assert!(spaces.values().all(|held| held.as_object().is_some_and(|held| held.len() == 50)));
    });
}

/// Each word of the answer is as long as its asker likes.
#[test]
fn an_answer_of_privileges_takes_its_memory_first() {
    with_security_within(256 << 20, |mut client, _lease| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        let long = "p".repeat(1_000);
        let asked = json!({"application": [(on_resources(names(&long, 300), names("r", 300)))]});
        let told = client.bad("POST", HAS, &json::to_string(&asked)).await;
        assert!(told.starts_with("429 circuit_breaking_exception: "), "{told}");
        assert!(told.contains("data for [<privileges>] would be"), "{told}");
    });
}

/// A name of a megabyte, held against one pattern of half a megabyte, took a core for minutes.
#[test]
fn privileges_are_asked_for_by_names_of_bounded_length() {
    with_security(|mut client| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        let text = |bytes: usize| vec!["n".repeat(bytes)];
        for (bytes, status) in [(1_024, 200), (1_025, 400)] {
            for asked in [
                json!({"index": [{"names": (text(bytes)), "privileges": ["read"]}]}),
                json!({"application": [(on_resources(text(bytes), names("r", 1)))]}),
                json!({"application": [(on_resources(names("p", 1), text(bytes)))]}),
            ] {
                let answer = client.call("POST", HAS, &json::to_string(&asked)).await;
                assert_eq!(answer.status, status, "{}", answer.text());
                if status == 400 {
                    let told = failure(&answer);
                    assert!(
                        told.contains("a name of [1025] bytes, but [1024] are the most"),
                        "{told}"
                    );
                }
            }
        }
    });
}

/// What is looked at for many people is as much as for one of them.
#[test]
fn privileges_of_many_people_are_bounded_together() {
    with_security(|mut client| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        let asked = json!({"uids": (names("u_", 1_000)), "privileges": {
            "application": [(on_resources(names("p", 40), names("r", 40)))]}});
        let target = "/_security/profile/_has_privileges";
        let told = client.bad("POST", target, &json::to_string(&asked)).await;
        assert!(told.contains("asks for [1600000] pairs"), "{told}");
    });
}

/// Tens of thousands of clauses were held against each key, without a pause.
#[test]
fn queries_of_records_have_as_many_clauses_as_others() {
    with_security(|mut client| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        client.good("POST", "/_security/api_key", r#"{"name":"b7"}"#).await;
        for (target, field) in [("api_key", "name"), ("user", "username"), ("role", "name")] {
            let target = format!("/_security/_query/{target}");
            let begins = |count: usize| -> Vec<Value> {
                names("b", count).into_iter().map(|text| json!({"prefix": {field: text}})).collect()
            };
            let several = |count: usize| json!({"query": {"bool": {"should": (begins(count))}}});
            let words = |count: usize| {
                let text = names("b", count).join("* ");
                json!({"query": {"simple_query_string": {"query": text, "fields": [field]}}})
            };
            let texts = json!({"query": {"match": {"full_name": (names("w", 5_000).join(" "))}}});
            let mut many = vec![several(4_097), words(4_097), words(300_000)];
            if field == "username" {
                many.push(texts);
            }
            for body in many {
                let told = client.bad("POST", &target, &json::to_string(&body)).await;
                assert_eq!(
                    told,
                    "400 too_many_nested_clauses: Query contains too many nested clauses; maxClauseCount is set \
                     to 4096",
                    "{target}"
                );
            }
            for body in [several(4_096), words(4_096)] {
                let found = client.good("POST", &target, &json::to_string(&body)).await;
                let total = u64::from(target.ends_with("api_key"));
                assert_eq!(at(&found, &["total"]).as_u64(), Some(total), "{target}");
            }
            let terms = |count: usize| json!({"query": {"terms": {field: (names("b", count))}}});
            let found = client.good("POST", &target, &json::to_string(&terms(65_536))).await;
            let total = u64::from(target.ends_with("api_key"));
            assert_eq!(at(&found, &["total"]).as_u64(), Some(total), "{target}");
            let told = client.bad("POST", &target, &json::to_string(&terms(65_537))).await;
            assert!(
                told.starts_with("400 illegal_argument_exception: The number of terms [65537]"),
                "{told}"
            );
        }
    });
}

async fn key_of(client: &mut Client, bytes: usize) -> http::client::Response {
    let key = json!({"name": "x", "metadata": {"a": ("y".repeat(bytes))}});
    client.call("POST", "/_security/api_key", &json::to_string(&key)).await
}

/// Keys were bounded one by one, and not in their number: who may make any filled the memory.
#[test]
fn what_the_keys_of_one_owner_hold_is_bounded() {
    with_security(|mut client| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        let role = r#"{"cluster":["manage_own_api_key"]}"#;
        client.good("PUT", "/_security/role/own", role).await;
        for name in ["ann", "bob"] {
            let user = r#"{"password":"secret","roles":["own"]}"#;
            client.good("PUT", &format!("/_security/user/{name}"), user).await;
        }
        client.authorize(Some(&basic("ann", "secret")));
        let mut made = 0;
        let refused = loop {
            let answer = key_of(&mut client, 1_000_000).await;
            if answer.status != 200 {
                break answer;
            }
            made += 1;
            assert!(made < 100, "there is no end of it");
        };
        let told = failure(&refused);
        assert!(
            told.starts_with("400 illegal_argument_exception: the API keys of [ann] would hold ["),
            "{told}"
        );
        // A small one more there is room for, and a change that makes it large is one, too.
        let small = client.good("POST", "/_security/api_key", r#"{"name":"small"}"#).await;
        let id = at(&small, &["id"]).as_str().expect("an id");
        let body = json::to_string(&json!({"metadata": {"a": ("y".repeat(1_000_000))}}));
        let told = client.bad("PUT", &format!("/_security/api_key/{id}"), &body).await;
        assert!(told.contains("the API keys of [ann] would hold ["), "{told}");
        client.authorize(Some(&basic("bob", "secret")));
        assert_eq!(
            key_of(&mut client, 1_000_000).await.status,
            200,
            "others have room of their own"
        );
    });
}

/// All keys of an owner were copied for an answer, several times, and nothing of it was counted.
#[test]
fn answers_that_list_keys_take_their_memory_first() {
    with_security_within(128 << 20, |mut client, lease| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        for _ in 0..24 {
            assert_eq!(key_of(&mut client, 1_000_000).await.status, 200);
        }
        let listed = "/_security/api_key?owner=true";
        let asked = "/_security/_query/api_key";
        let keys = client.good("GET", listed, "").await;
        assert_eq!(at(&keys, &["api_keys"]).as_array().expect("keys").len(), 24);
        let mut held: Vec<_> = std::iter::from_fn(|| lease.take(1 << 20)).collect();
        held.truncate(held.len().saturating_sub(16));
        for (method, target, body) in [("GET", listed, ""), ("POST", asked, r#"{"size":100}"#)] {
            let told = client.bad(method, target, body).await;
            assert!(told.starts_with("429 circuit_breaking_exception: "), "{target}: {told}");
            assert!(told.contains("data for [<api_keys>] would be"), "{target}: {told}");
        }
        // What is asked for in parts is there.
        let page = client.good("POST", asked, r#"{"size":1,"sort":["name"]}"#).await;
        assert_eq!(at(&page, &["total"]).as_u64(), Some(24));
        assert_eq!(at(&page, &["count"]).as_u64(), Some(1));
        drop(held);
        let keys = client.good("POST", asked, r#"{"size":100}"#).await;
        assert_eq!(at(&keys, &["count"]).as_u64(), Some(24));
    });
}

/// Buckets are made of what owners keep beside their keys: they take their memory first, and a page keeps its own alone.
#[test]
fn buckets_of_keys_take_their_memory_first() {
    with_security_within(128 << 20, |mut client, lease| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        for key in 0..2 {
            let tags = names(&format!("{key}-"), 30_000);
            let key = json::to_string(&json!({"name": "x", "metadata": {"tags": tags}}));
            client.good("POST", "/_security/api_key", &key).await;
        }
        let mut held: Vec<_> = std::iter::from_fn(|| lease.take(1 << 20)).collect();
        held.truncate(held.len().saturating_sub(16));
        let asked = |agg: &str| format!(r#"{{"size":0,"aggs":{{"it":{agg}}}}}"#);
        let terms = asked(r#"{"terms":{"field":"metadata.tags"}}"#);
        let told = client.bad("POST", "/_security/_query/api_key", &terms).await;
        assert!(told.starts_with("429 circuit_breaking_exception: "), "{told}");
        // Buckets of filters are there without a record; those in each other are the product of their numbers.
        let filters = format!("[{}]", vec![r#"{"term":{"name":"none"}}"#; 100].join(","));
        let inside = |below: &str| format!(r#"{{"filters":{{"filters":{filters}}}{below}}}"#);
        let two = inside(&format!(r#","aggs":{{"in":{}}}"#, inside("")));
        let three = inside(&format!(r#","aggs":{{"in":{two}}}"#));
        let told = client.bad("POST", "/_security/_query/api_key", &asked(&three)).await;
        assert!(told.starts_with("429 circuit_breaking_exception: "), "{told}");
        client.good("POST", "/_security/_query/api_key", &asked(&two)).await;
        let page = r#"{"composite":{"size":2,"sources":[{"t":{"terms":{"field":"metadata.tags","order":"desc"}}}]},
            "aggs":{"names":{"terms":{"field":"name"}}}}"#;
        let found = client.good("POST", "/_security/_query/api_key", &asked(page)).await;
        let after = at(&found, &["aggregations", "it", "after_key", "t"]);
        assert_eq!(after.as_str(), Some("1-9998"));
        drop(held);
        let found = client.good("POST", "/_security/_query/api_key", &terms).await;
        let others = at(&found, &["aggregations", "it", "sum_other_doc_count"]);
        assert_eq!(others.as_u64(), Some(60_000 - 10));
    });
}

/// What applications note beside a person grew without end.
#[test]
fn a_profile_holds_so_much() {
    with_security(|mut client| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        let body = r#"{"grant_type":"password","username":"elastic","password":"secret"}"#;
        let profile = client.good("POST", "/_security/profile/_activate", body).await;
        let uid = at(&profile, &["uid"]).as_str().expect("an id");
        let target = format!("/_security/profile/{uid}/_data");
        let text = "y".repeat(4 << 20);
        for part in ["a", "b"] {
            let body = json::to_string(&json!({"data": {part: (text.as_str())}}));
            client.good("PUT", &target, &body).await;
        }
        for kind in ["data", "labels"] {
            let body = json::to_string(&json!({kind: {"c": (text.as_str())}}));
            let told = client.bad("PUT", &target, &body).await;
            assert!(
                told.starts_with(&format!(
                    "400 illegal_argument_exception: cannot update profile [{uid}] because the combined profile \
                     size of ["
                )),
                "{told}"
            );
        }
        // What takes the place of something counts instead of it.
        let body = json::to_string(&json!({"data": {"a": "short", "c": (text.as_str())}}));
        client.good("PUT", &target, &body).await;
    });
}

/// What was noted beside people was copied for an answer as often as somebody was named.
#[test]
fn answers_that_list_profiles_take_their_memory_first() {
    with_security_within(128 << 20, |mut client, lease| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        let body = r#"{"grant_type":"password","username":"elastic","password":"secret"}"#;
        let profile = client.good("POST", "/_security/profile/_activate", body).await;
        let uid = at(&profile, &["uid"]).as_str().expect("an id");
        let noted = json!({"data": {"a": ("y".repeat(1_000_000))}});
        let target = format!("/_security/profile/{uid}/_data");
        client.good("PUT", &target, &json::to_string(&noted)).await;
        let listed =
            |count: usize| format!("/_security/profile/{}?data=*", vec![uid; count].join(","));
        let mut held: Vec<_> = std::iter::from_fn(|| lease.take(1 << 20)).collect();
        held.truncate(held.len().saturating_sub(16));
        let told = client.bad("GET", &listed(40), "").await;
        assert!(told.starts_with("429 circuit_breaking_exception: "), "{told}");
        assert!(
            told.contains("data for [<profiles>] would be"),
            "refused before it is made: {told}"
        );
        let found =
            client.good("GET", &format!("{},nobody", listed(1).replace("?data=*", "")), "").await;
        assert_eq!(at(&found, &["profiles"]).as_array().map(<[Value]>::len), Some(1));
        assert_eq!(at(&found, &["errors", "count"]).as_u64(), Some(1));
        assert!(at(&found, &["errors", "details"]).get("nobody").is_some(), "{found:?}");
        drop(held);
        let found = client.good("POST", "/_security/profile/_suggest", r#"{"data":"*"}"#).await;
        assert_eq!(at(&found, &["total"]), &json!({"value": 1, "relation": "eq"}));
        let of = at(&found, &["profiles"]).as_array().expect("profiles");
        assert_eq!(of[0].at(&["uid"]).and_then(Value::as_str), Some(uid));
    });
}

/// Twenty thousand ids were told to be none.
#[test]
fn too_many_keys_in_one_change_are_told_as_such() {
    with_security(|mut client| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        let body = json::to_string(&json!({"ids": (names("k", 10_001))}));
        let target = "/_security/api_key/_bulk_update";
        let answer = client.call_with(
            "POST",
            target,
            &[("Content-Type", "application/json")],
            body.as_bytes(),
        );
        let answer = answer.await;
        assert_eq!(
            failure(&answer),
            "400 action_request_validation_exception: Validation Failed: 1: Field [ids] may hold at most [10000] \
             ids, but holds [10001];"
        );
        let answer = client.call_with(
            "POST",
            target,
            &[("Content-Type", "application/json")],
            br#"{"ids":[]}"#,
        );
        let told = value(&answer.await);
        let reason = at(&told, &["error", "reason"]).as_str().unwrap_or_default();
        assert!(reason.contains("Field [ids] cannot be empty"), "{reason}");
    });
}
