//! A user of the operator's file and a stored user of the same name are two people.

use json::json;

use crate::browser::basic;
use crate::place::{Client, at, with_filed};

const FILED: (&str, &[&str], &str) = ("fred", &["viewer", "oauth_admin"], "filed-knows-1");

/// The stored fred, who may do everything; whoever speaks from here on is the fred of the file.
async fn stored(client: &mut Client) {
    client.authorize(Some(&basic("elastic", "secret")));
    let boss = r#"{"cluster":["all"],"indices":[{"names":["*"],"privileges":["all"]}]}"#;
    client.good("PUT", "/_security/role/boss", boss).await;
    let body = r#"{"password":"stored-knows-1","roles":["boss"]}"#;
    client.good("PUT", "/_security/user/fred", body).await;
    client.authorize(Some(&basic("fred", FILED.2)));
}

/// Whoever has the line in the file gave the stored user another password, and came in by it.
#[test]
fn a_user_of_the_file_changes_no_stored_password() {
    with_filed(FILED, |mut client| async move {
        stored(&mut client).await;
        let me = client.good("GET", "/_security/_authenticate", "").await;
        assert_eq!(at(&me, &["lookup_realm", "name"]).as_str(), Some("default_file"));
        for target in ["/_security/user/_password", "/_security/user/fred/_password"] {
            let refused = client.bad("PUT", target, r#"{"password":"taken-over-1"}"#).await;
            assert!(
                refused.starts_with(
                    "403 security_exception: action [cluster:admin/xpack/security/user/change_password] \
                     is unauthorized for user [fred]"
                ),
                "{target}: {refused}"
            );
        }
        client.authorize(Some(&basic("fred", "stored-knows-1")));
        // The stored one may, as ever.
        let target = "/_security/user/_password";
        client.good("PUT", target, r#"{"password":"stored-knows-2"}"#).await;
        client.authorize(Some(&basic("fred", "stored-knows-2")));
        client.good("GET", "/_security/_authenticate", "").await;
    });
}

/// A client that acts for the stored user wrote what the user of the file may not.
#[test]
fn a_user_of_the_file_lends_no_stored_account() {
    with_filed(FILED, |mut client| async move {
        stored(&mut client).await;
        let service = r#"{"client_name":"S","application_type":"service","service_account":"fred",
            "grant_types":["client_credentials"],"scope":"index:*:all"}"#;
        assert_eq!(
            client.bad("POST", "/_oauth/client", service).await,
            "403 security_exception: user [fred] may not act for the service account [fred]"
        );
        client.authorize(Some(&basic("fred", "stored-knows-1")));
        client.good("POST", "/_oauth/client", service).await;
    });
}

/// The token service gave the user of the file a token of the stored one.
#[test]
fn a_user_of_the_file_gets_no_token_of_the_stored_one() {
    with_filed(("fred", &["viewer", "tokens"], FILED.2), |mut client| async move {
        stored(&mut client).await;
        client.authorize(Some(&basic("elastic", "secret")));
        let tokens = r#"{"cluster":["manage_token"]}"#;
        client.good("PUT", "/_security/role/tokens", tokens).await;
        client.authorize(Some(&basic("fred", FILED.2)));
        let by_password =
            json!({"grant_type": "password", "username": "fred", "password": (FILED.2)});
        for body in [json!({"grant_type": "client_credentials"}), by_password] {
            assert_eq!(
                client.bad("POST", "/_security/oauth2/token", &json::to_string(&body)).await,
                "400 illegal_argument_exception: tokens are given to users of the reserved and native realms \
                 only"
            );
        }
        client.authorize(Some(&basic("fred", "stored-knows-1")));
        let body = r#"{"grant_type":"client_credentials"}"#;
        client.good("POST", "/_security/oauth2/token", body).await;
    });
}

/// A key of the user of the file read by a filter that is filled from the stored one.
#[test]
fn a_key_of_a_user_of_the_file_is_filtered_by_nobody_else() {
    with_filed(("fred", &["own"], FILED.2), |mut client| async move {
        stored(&mut client).await;
        client.authorize(Some(&basic("elastic", "secret")));
        let query =
            r#"{"template":{"source":"{\"term\":{\"mail.keyword\":\"{{_user.email}}\"}}"}}"#;
        let own = json::to_string(&json!({"cluster": ["manage_own_api_key"],
            "indices": [{"names": ["m"], "privileges": ["read"], "query": query}]}));
        client.good("PUT", "/_security/role/own", &own).await;
        let body = r#"{"password":"stored-knows-1","roles":["boss"],"email":"fred@store.example"}"#;
        client.good("PUT", "/_security/user/fred", body).await;
        let doc = r#"{"mail":"fred@store.example"}"#;
        client.good("PUT", "/m/_doc/1?refresh=true", doc).await;
        client.authorize(Some(&basic("fred", FILED.2)));
        let key = client.good("POST", "/_security/api_key", r#"{"name":"k"}"#).await;
        let key = at(&key, &["encoded"]).as_str().expect("a key").to_owned();
        client.authorize(Some(&format!("ApiKey {key}")));
        let found = client.good("GET", "/m/_count", "").await;
        assert_eq!(at(&found, &["count"]).as_u64(), Some(0));
    });
}

/// The profile of one was written over by the other, and answered with the other's rights.
#[test]
fn each_has_a_profile_of_its_own() {
    with_filed(FILED, |mut client| async move {
        stored(&mut client).await;
        client.authorize(Some(&basic("elastic", "secret")));
        let mut uids = Vec::new();
        for (password, realm, role) in
            [(FILED.2, "default_file", "viewer"), ("stored-knows-1", "default_native", "boss")]
        {
            let body = json!({"grant_type": "password", "username": "fred", "password": password});
            let target = "/_security/profile/_activate";
            let profile = client.good("POST", target, &json::to_string(&body)).await;
            assert_eq!(at(&profile, &["user", "realm_name"]).as_str(), Some(realm));
            let roles = at(&profile, &["user", "roles"]).as_array().expect("roles");
            assert_eq!(roles[0].as_str(), Some(role));
            uids.push(at(&profile, &["uid"]).as_str().expect("an id").to_owned());
        }
        assert_ne!(uids[0], uids[1]);
        let asked = json!({"uids": (uids.clone()), "privileges": {"cluster": ["manage_security"]}});
        let target = "/_security/profile/_has_privileges";
        let having = client.good("POST", target, &json::to_string(&asked)).await;
        assert_eq!(at(&having, &["has_privilege_uids"]), &json!([(uids[1].as_str())]));
        let user = client.good("GET", "/_security/user/fred?with_profile_uid=true", "").await;
        assert_eq!(at(&user, &["fred", "profile_uid"]).as_str(), Some(uids[1].as_str()));
    });
}
