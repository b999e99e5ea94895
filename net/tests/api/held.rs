//! What `_has_privileges` says is held, and what is done by who comes in another's name.

use json::{Value, json};

use crate::browser::basic;
use crate::place::{Client, at, failure, with_security};

const HAS: &str = "/_security/user/_has_privileges";

async fn person(client: &mut Client, name: &str, roles: &[(&str, Value)]) {
    client.authorize(Some(&basic("elastic", "secret")));
    for (role, body) in roles {
        client.good("PUT", &format!("/_security/role/{role}"), &json::to_string(body)).await;
    }
    let names: Vec<&str> = roles.iter().map(|(role, _)| *role).collect();
    let user = json!({"password": (format!("{name}-knows-this")), "roles": names});
    client.good("PUT", &format!("/_security/user/{name}"), &json::to_string(&user)).await;
    client.authorize(Some(&basic(name, &format!("{name}-knows-this"))));
}

fn on(names: &[&str], privileges: &[&str]) -> Value {
    json!({"names": (names.to_vec()), "privileges": (privileges.to_vec())})
}

/// Each entry and each role was asked for itself, and what two of them hold together was held by nobody; a pattern
/// held indices that it does not mean.
#[test]
fn what_several_roles_hold_together_is_held() {
    with_security(|mut client| async move {
        let entries = json!([(on(&["a*"], &["write"])), (on(&["*"], &["create_index"]))]);
        let roles = [
            ("one", json!({"cluster": ["monitor"], "indices": entries})),
            (
                "two",
                json!({"cluster": ["manage_security", "MANAGE_OWN_API_KEY"],
                "indices": [(on(&["b"], &["write"])), (on(&["*"], &["all"]))]}),
            ),
        ];
        person(&mut client, "ann", &roles).await;
        let asked = json!({"cluster": ["read_ccr", "monitor", "manage", "manage_own_api_key"],
            "index": [(on(&["a1", "c", ".security-7", ".security*", ".tasks"], &["auto_configure", "read"]))]});
        let told = client.good("POST", HAS, &json::to_string(&asked)).await;
        for (name, held) in
            [("read_ccr", true), ("monitor", true), ("manage", false), ("manage_own_api_key", true)]
        {
            assert_eq!(at(&told, &["cluster", name]).as_bool(), Some(held), "{name}");
        }
        for (name, held) in [
            ("a1", true),
            ("c", true),
            (".security-7", false),
            (".security*", false),
            (".tasks", false),
        ] {
            for privilege in ["auto_configure", "read"] {
                let found = at(&told, &["index", name, privilege]).as_bool();
                assert_eq!(found, Some(held), "{name} {privilege}");
            }
        }
        client.good("POST", "/_security/api_key", r#"{"name":"own"}"#).await;
        person(&mut client, "bob", &roles[..1]).await;
        let told = client.good("POST", HAS, &json::to_string(&asked)).await;
        for (name, privilege, held) in
            [("a1", "auto_configure", true), ("c", "auto_configure", false), ("a1", "read", false)]
        {
            let found = at(&told, &["index", name, privilege]).as_bool();
            assert_eq!(found, Some(held), "{name} {privilege}");
        }
    });
}

/// A key that may act as somebody gave them another password, which outlives it.
#[test]
fn who_comes_in_anothers_name_by_a_key_gives_no_password() {
    with_security(|mut client| async move {
        let acts = json!({"run_as": ["bob"], "cluster": ["manage_own_api_key", "manage_token"]});
        person(&mut client, "bob", &[("none", json!({}))]).await;
        person(&mut client, "ann", &[("acts", acts)]).await;
        let key = client.good("POST", "/_security/api_key", r#"{"name":"k"}"#).await;
        let grant = r#"{"grant_type":"password","username":"ann","password":"ann-knows-this"}"#;
        let token = client.good("POST", "/_security/oauth2/token", grant).await;
        let text =
            |value: &Value, key: &str| at(value, &[key]).as_str().expect("a text").to_owned();
        let as_bob = [("Content-Type", "application/json"), ("es-security-runas-user", "bob")];
        let body = br#"{"password":"a-new-password"}"#;
        for (how, status) in [
            (format!("ApiKey {}", text(&key, "encoded")), 403),
            (format!("Bearer {}", text(&token, "access_token")), 403),
            // Their own hand may: it knows a password.
            (basic("ann", "ann-knows-this"), 200),
        ] {
            client.authorize(Some(&how));
            let target = "/_security/user/_password";
            let answer = client.call_with("POST", target, &as_bob, body).await;
            assert_eq!(answer.status, status, "{how}: {}", failure(&answer));
            client.authorize(Some(&basic("bob", "a-new-password")));
            let comes_in = client.call("GET", "/_security/_authenticate", "").await.status == 200;
            assert_eq!(comes_in, status == 200, "{how}");
        }
    });
}
