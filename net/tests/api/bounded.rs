//! What the security API answers is bounded: a small request is no large answer.

use json::{Value, json};

use crate::browser::basic;
use crate::place::{at, with_security};

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
    with_security(|mut client| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        let long = "p".repeat(80_000);
        let asked = json!({"application": [(on_resources(names(&long, 100), names("r", 20)))]});
        let told = client.bad("POST", HAS, &json::to_string(&asked)).await;
        assert!(told.starts_with("429 circuit_breaking_exception: "), "{told}");
        assert!(told.contains("data for [<privileges>] would be"), "{told}");
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
