//! Rights over the privileges and data of some applications, and over keys of some kinds; built-in roles that had
//! more than they need.

use json::Value;

use crate::browser::basic;
use crate::place::{Client, at, with_security};

const PROFILE: &str = "/_security/profile";

async fn elastic(client: &mut Client) {
    client.authorize(Some(&basic("elastic", "secret")));
}

/// A user with this role, signed in.
async fn sign_in(client: &mut Client, role: &str, descriptor: Option<&str>) {
    elastic(client).await;
    if let Some(descriptor) = descriptor {
        client.good("PUT", &format!("/_security/role/{role}"), descriptor).await;
    }
    let user = format!(r#"{{"password":"password","roles":["{role}"]}}"#);
    client.good("PUT", "/_security/user/ann", &user).await;
    client.authorize(Some(&basic("ann", "password")));
}

async fn status(client: &mut Client, method: &str, target: &str, body: &str) -> u16 {
    client.call(method, target, body).await.status
}

/// Who keeps the companion tool changed the privileges of every application.
#[test]
fn some_may_manage_the_privileges_of_some_applications() {
    with_security(|mut client| async move {
        elastic(&mut client).await;
        let mine = r#"{"myapp":{"read":{"actions":["data:read/*"]}}}"#;
        client.good("PUT", "/_security/privilege", mine).await;
        let managers =
            r#"{"global":{"application":{"manage":{"applications":["kibana-*","other"]}}}}"#;
        for (role, descriptor) in [("kibana_system", None), ("manager", Some(managers))] {
            sign_in(&mut client, role, descriptor).await;
            let own = r#"{"kibana-x":{"all":{"actions":["a:b"]},"read":{"actions":["a:c"]}}}"#;
            client.good("PUT", "/_security/privilege", own).await;
            client.good("GET", "/_security/privilege/kibana-x", "").await;
            client.good("DELETE", "/_security/privilege/kibana-x/all,read", "").await;
            let both =
                r#"{"kibana-x":{"all":{"actions":["a:b"]}},"myapp":{"all":{"actions":["a:*"]}}}"#;
            for (method, target, body) in [
                ("PUT", "/_security/privilege", mine),
                ("PUT", "/_security/privilege", both),
                ("DELETE", "/_security/privilege/myapp/read", ""),
                ("GET", "/_security/privilege/myapp", ""),
                ("GET", "/_security/privilege/kibana-x,myapp", ""),
                ("GET", "/_security/privilege", ""),
            ] {
                assert_eq!(
                    status(&mut client, method, target, body).await,
                    403,
                    "{role}: {method} {target}"
                );
            }
        }
        elastic(&mut client).await;
        let kept = client.good("GET", "/_security/privilege", "").await;
        assert!(kept.get("kibana-x").is_none() && kept.get("myapp").is_some(), "{kept:?}");
    });
}

/// The companion tool could not keep what it knows of people.
#[test]
fn the_companion_tool_writes_its_own_data_of_profiles() {
    with_security(|mut client| async move {
        sign_in(&mut client, "kibana_system", None).await;
        let who = r#"{"grant_type":"password","username":"ann","password":"password"}"#;
        let profile = client.good("POST", &format!("{PROFILE}/_activate"), who).await;
        let uid = at(&profile, &["uid"]).as_str().expect("an id").to_owned();
        let target = format!("{PROFILE}/{uid}/_data");
        client
            .good("POST", &target, r#"{"data":{"kibana":{"dark":true}},"labels":{"kibana-a":1}}"#)
            .await;
        for body in
            [r#"{"data":{"other":1}}"#, r#"{"data":{"kibana":1},"labels":{"other":1}}"#, "{}"]
        {
            assert_eq!(status(&mut client, "POST", &target, body).await, 403, "{body}");
        }
    });
}

/// A right to all of `metricbeat-*` deleted what others had measured.
#[test]
fn who_writes_measures_deletes_none() {
    with_security(|mut client| async move {
        elastic(&mut client).await;
        client.good("PUT", "/metricbeat-1/_doc/1?refresh", r#"{"a":1}"#).await;
        sign_in(&mut client, "remote_monitoring_agent", None).await;
        client.good("POST", "/metricbeat-1/_doc", r#"{"a":2}"#).await;
        client.good("PUT", "/metricbeat-2", "").await;
        for (method, target) in [
            ("GET", "/metricbeat-1/_search"),
            ("DELETE", "/metricbeat-1"),
            ("DELETE", "/metricbeat-1/_doc/1"),
        ] {
            assert_eq!(status(&mut client, method, target, "").await, 403, "{method} {target}");
        }
    });
}

/// `manage_api_key` was enough to end the keys of other clusters.
#[test]
fn keys_of_clusters_end_by_who_manages_security() {
    with_security(|mut client| async move {
        elastic(&mut client).await;
        let made = r#"{"name":"cc","access":{"search":[{"names":["a*"]}]}}"#;
        let made = client.good("POST", "/_security/cross_cluster/api_key", made).await;
        let of_cluster = at(&made, &["id"]).as_str().expect("an id").to_owned();
        let plain = client.good("POST", "/_security/api_key", r#"{"name":"p"}"#).await;
        let plain = at(&plain, &["id"]).as_str().expect("an id").to_owned();
        let ids = format!(r#"{{"ids":["{of_cluster}","{plain}"]}}"#);
        sign_in(&mut client, "keys", Some(r#"{"cluster":["manage_api_key"]}"#)).await;
        let answer = client.good("DELETE", "/_security/api_key", &ids).await;
        let ended = |answer: &Value| {
            let ended = at(answer, &["invalidated_api_keys"]).as_array().expect("a list").to_vec();
            ended.iter().map(|id| id.as_str().expect("text").to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(ended(&answer), [plain]);
        assert_eq!(at(&answer, &["error_count"]).as_i64(), Some(1));
        let details = at(&answer, &["error_details"]).as_array().expect("a list");
        let reason = at(&details[0], &["reason"]).as_str().expect("text");
        assert_eq!(
            reason,
            format!(
                "Cannot invalidate cross-cluster API key [{of_cluster}]. This requires [manage_security] cluster \
                 privilege or higher"
            )
        );
        sign_in(&mut client, "security", Some(r#"{"cluster":["manage_security"]}"#)).await;
        let answer = client.good("DELETE", "/_security/api_key", &ids).await;
        assert_eq!(ended(&answer), [of_cluster]);
        assert_eq!(at(&answer, &["error_count"]).as_i64(), Some(0));
    });
}

/// Templates of mappings came back as objects, which the tools of others do not read.
#[test]
fn templates_of_mappings_are_shown_as_texts() {
    with_security(|mut client| async move {
        elastic(&mut client).await;
        let mapping = r#"{"rules":{"field":{"username":"a"}},"role_templates":[
            {"template":{"source":"{{username}}_role"}},
            {"template":"{\"source\":\"x\"}","format":"json"}]}"#;
        client.good("PUT", "/_security/role_mapping/m", mapping).await;
        let shown = client.good("GET", "/_security/role_mapping/m", "").await;
        let templates = at(&shown, &["m", "role_templates"]);
        assert_eq!(
            json::to_string(templates),
            r#"[{"template":"{\"source\":\"{{username}}_role\"}","format":"string"},{"template":"{\"source\":\"x\"}","format":"json"}]"#
        );
        // What was shown is taken.
        let body = json::to_string(at(&shown, &["m"]));
        client.good("PUT", "/_security/role_mapping/m", &body).await;
        assert_eq!(client.good("GET", "/_security/role_mapping/m", "").await, shown);
    });
}

/// A key that has all of its owner's rights, and a service, could not ask which those are.
#[test]
fn who_is_not_limited_may_ask_for_all_privileges() {
    with_security(|mut client| async move {
        const ALL: &str = "/_security/user/_privileges";
        elastic(&mut client).await;
        for (body, expected) in [
            (r#"{"name":"plain"}"#, 200),
            (r#"{"name":"less","role_descriptors":{"r":{"cluster":["all"]}}}"#, 400),
        ] {
            elastic(&mut client).await;
            let key = client.good("POST", "/_security/api_key", body).await;
            let encoded = at(&key, &["encoded"]).as_str().expect("text").to_owned();
            client.authorize(Some(&format!("ApiKey {encoded}")));
            assert_eq!(status(&mut client, "GET", ALL, "").await, expected, "{body}");
        }
        elastic(&mut client).await;
        let made = "/_security/service/elastic/fleet-server/credential/token/t";
        let token = client.good("POST", made, "").await;
        let token = at(&token, &["token", "value"]).as_str().expect("text").to_owned();
        client.authorize(Some(&format!("Bearer {token}")));
        assert_eq!(status(&mut client, "GET", ALL, "").await, 200);
        elastic(&mut client).await;
        let refused = client.bad("PUT", "/_security/role/r?refresh=bogus", "{}").await;
        assert_eq!(refused, "400 illegal_argument_exception: Unknown value for refresh: [bogus].");
    });
}

/// A key that may only make keys made one that managed the privileges of every application.
#[test]
fn a_key_of_a_key_gives_nothing_of_global_either() {
    with_security(|mut client| async move {
        elastic(&mut client).await;
        let narrow = r#"{"name":"n","role_descriptors":{"n":{"cluster":["manage_own_api_key"]}}}"#;
        let key = client.good("POST", "/_security/api_key", narrow).await;
        let header = format!("ApiKey {}", at(&key, &["encoded"]).as_str().expect("a key"));
        client.authorize(Some(&header));
        for (descriptor, expected) in [
            (r#"{"global":{"application":{"manage":{"applications":["*"]}}}}"#, 400),
            (r#"{"global":{"profile":{"write":{"applications":["*"]}}}}"#, 400),
            (r#"{"remote_indices":[{"clusters":["*"],"names":["*"],"privileges":["read"]}]}"#, 400),
            (r#"{"cluster":["monitor"]}"#, 400),
            (r#"{"cluster":[],"indices":[]}"#, 200),
        ] {
            let body = format!(r#"{{"name":"d","role_descriptors":{{"x":{descriptor}}}}}"#);
            let found = status(&mut client, "POST", "/_security/api_key", &body).await;
            assert_eq!(found, expected, "{descriptor}");
        }
    });
}

/// Who keeps the companion tool read the documents of all logs.
#[test]
fn the_companion_tool_reads_of_logs_what_is_its_own() {
    with_security(|mut client| async move {
        elastic(&mut client).await;
        for index in ["logs-nginx.access-default", ".fleet-secrets-1", "logs-apm.error-default"] {
            client.good("POST", &format!("/{index}/_create/1?refresh"), "{}").await;
        }
        sign_in(&mut client, "kibana_system", None).await;
        for (method, target, expected) in [
            ("GET", "/logs-nginx.access-default/_search", 403),
            ("GET", "/.fleet-secrets-1/_doc/1", 403),
            ("POST", "/.fleet-secrets-1/_doc", 201),
            ("GET", "/logs-nginx.access-default/_mapping", 200),
            ("GET", "/logs-apm.error-default/_search", 200),
        ] {
            let body = if method == "POST" { "{}" } else { "" };
            assert_eq!(status(&mut client, method, target, body).await, expected, "{target}");
        }
        let held = client.good("GET", "/_security/user/_privileges", "").await;
        let global = json::to_string(at(&held, &["global"]));
        let expected = concat!(
            r#"[{"application":{"manage":{"applications":["kibana-*"]}}},"#,
            r#"{"profile":{"write":{"applications":["kibana*"]}}}]"#
        );
        assert_eq!(global, expected);
    });
}
