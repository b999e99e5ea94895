//! Who may pass the door.

use http::client::Response;
use json::json;

use crate::browser::basic;
use crate::place::{at, failure, value, with_oauth, with_security, with_unwritten};

#[test]
fn strangers_are_challenged() {
    with_security(|mut client| async move {
        for target in ["/", "/a/_search?q=1", "/x/y/z/q"] {
            let response = client.call("GET", target, "").await;
            assert_eq!(
                failure(&response),
                format!(
                    "401 security_exception: missing authentication credentials for REST request \
                     [{target}]"
                )
            );
            let challenges: Vec<&str> = response
                .fields
                .iter()
                .filter(|(name, _)| name.eq_ignore_ascii_case("www-authenticate"))
                .map(|(_, value)| value.as_str())
                .collect();
            assert_eq!(
                challenges,
                [
                    "Basic realm=\"security\", charset=\"UTF-8\"",
                    "Bearer realm=\"security\"",
                    "ApiKey"
                ]
            );
        }
        client.authorize(Some(&basic("elastic", "wrong")));
        assert_eq!(
            client.bad("GET", "/", "").await,
            "401 security_exception: unable to authenticate user [elastic] for REST request [/]"
        );
        client.authorize(Some("Bearer abc"));
        assert_eq!(client.call("GET", "/", "").await.status, 401);
        client.authorize(None);
        assert_eq!(client.call("OPTIONS", "/", "").await.status, 200);
    });
}

#[test]
fn elastic_may_do_everything() {
    with_security(|mut client| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        client.good("GET", "/", "").await;
        client.good("PUT", "/a", "").await;
        let me = client.good("GET", "/_security/_authenticate", "").await;
        assert_eq!(at(&me, &["username"]).as_str(), Some("elastic"));
        assert_eq!(at(&me, &["roles"]), &json::json!(["superuser"]));
    });
}

#[test]
fn a_new_password_bites_at_once() {
    with_security(|mut client| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        let target = "/_security/user/elastic/_password";
        assert_eq!(
            client.bad("POST", target, r#"{"password":"x"}"#).await,
            "400 action_request_validation_exception: Validation Failed: 1: passwords must be at \
             least [6] characters long;"
        );
        assert_eq!(
            client.bad("PUT", "/_security/user/nobody/_password", r#"{"password":"abcdef"}"#).await,
            "404 action_request_validation_exception: Validation Failed: 1: user must exist in \
             order to change password;"
        );
        let done = client.call("POST", target, r#"{"password":"secret2"}"#).await;
        assert_eq!((done.status, done.text().as_str()), (200, "{}"));
        assert_eq!(client.call("GET", "/", "").await.status, 401);
        client.authorize(Some(&basic("elastic", "secret2")));
        client.good("GET", "/", "").await;
    });
}

/// A role that was put without a body lost all that it gave.
#[test]
fn what_is_put_has_a_body() {
    with_security(|mut client| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        client.good("PUT", "/_security/role/r", r#"{"cluster":["monitor"]}"#).await;
        for (method, target) in [
            ("PUT", "/_security/role/r"),
            ("POST", "/_security/role/r"),
            ("POST", "/_security/role"),
            ("DELETE", "/_security/role"),
            ("PUT", "/_security/role_mapping/m"),
            ("PUT", "/_security/user/u"),
            ("PUT", "/_security/user/_password"),
            ("PUT", "/_security/privilege"),
            ("PUT", "/_security/api_key"),
            ("DELETE", "/_security/api_key"),
            ("POST", "/_security/api_key/grant"),
            ("POST", "/_security/api_key/_bulk_update"),
            ("POST", "/_security/oauth2/token"),
            ("POST", "/_security/profile/_activate"),
        ] {
            assert_eq!(
                client.bad(method, target, "").await,
                "400 parse_exception: request body is required",
                "{method} {target}"
            );
        }
        let role = client.good("GET", "/_security/role/r", "").await;
        assert_eq!(at(&role, &["r", "cluster"]), &json::json!(["monitor"]));
        // Without one it is asked for everything, or nothing is changed.
        client.good("POST", "/_security/_query/api_key", "").await;
        client.good("POST", "/_security/profile/_suggest", "").await;
    });
}

/// Parts of a role that mean nothing were taken and shown back, and so were names of applications that are none.
#[test]
fn a_role_that_cannot_be_is_refused() {
    with_security(|mut client| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        let app = |name: &str, privilege: &str| {
            format!(
                r#"{{"applications":[{{"application":"{name}","privileges":["{privilege}"],"resources":["*"]}}]}}"#
            )
        };
        let remote = |more: &str| format!(r#"{{"remote_indices":[{{"names":["a"],{more}}}]}}"#);
        for bad in [
            r#"{"remote_indices":5}"#.to_owned(),
            r#"{"remote_indices":[5]}"#.to_owned(),
            remote(r#""privileges":["read"]"#),
            remote(r#""clusters":["c"]"#),
            remote(r#""clusters":["c"],"privileges":["nope"]"#),
            r#"{"remote_cluster":[{"clusters":["c"],"privileges":["nope"]}]}"#.to_owned(),
            r#"{"global":5}"#.to_owned(),
            r#"{"global":{"foo":1}}"#.to_owned(),
            r#"{"global":{"application":{"manage":{"applications":5}}}}"#.to_owned(),
            app("A*", "read"),
            app("k", "read"),
            app("a*b", "read"),
            app("app", "a b"),
        ] {
            let answer = client.call("PUT", "/_security/role/r", &bad).await;
            assert_eq!(answer.status, 400, "{bad}: {}", answer.text());
        }
        for good in [
            remote(r#""clusters":["c*"],"privileges":["read"]"#),
            r#"{"remote_cluster":[{"clusters":["*"],"privileges":["monitor_enrich"]}]}"#.to_owned(),
            r#"{"global":{"application":{"manage":{"applications":["app-*"]}}}}"#.to_owned(),
            app("kibana-*", "feature_x.read"),
            app("*", "*"),
        ] {
            client.good("PUT", "/_security/role/r", &good).await;
        }
        assert_eq!(
            client.bad("PUT", "/_security/role/r", &app("A*", "read")).await,
            "400 action_request_validation_exception: Validation Failed: 1: An application name prefix must \
             match the pattern ^[a-z][A-Za-z0-9]*$ (found 'A');"
        );
        for (name, privilege) in [("k", "read"), ("app", "a b"), ("app*", "read")] {
            let asked = app(name, privilege).replace("applications", "application");
            let answer = client.call("POST", "/_security/user/_has_privileges", &asked).await;
            assert_eq!(answer.status, 400, "{asked}: {}", answer.text());
        }
    });
}

/// A user that was made with a hash of bcrypt, as others keep it, was refused.
#[test]
fn a_hash_made_elsewhere_is_taken() {
    with_security(|mut client| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        let hash = "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW";
        let body = format!(r#"{{"password_hash":"{hash}","roles":["viewer"]}}"#);
        client.good("PUT", "/_security/user/ann", &body).await;
        for bad in [hash.replace("$05$", "$31$"), hash.replace("$2a$", "$2x$"), "U*U".to_owned()] {
            let body = format!(r#"{{"password_hash":"{bad}","roles":["viewer"]}}"#);
            let answer = client.call("PUT", "/_security/user/bob", &body).await;
            assert_eq!(answer.status, 400, "{bad} {}", failure(&answer));
        }
        client.authorize(Some(&basic("ann", "U*U")));
        let me = client.good("GET", "/_security/_authenticate", "").await;
        assert_eq!(at(&me, &["username"]).as_str(), Some("ann"));
    });
}

/// Hundreds of expressions that are dear one by one held a core for many seconds, as did their comparison,
/// and came back at each start.
#[test]
fn expressions_in_names_may_cost_so_much_together() {
    with_security(|mut client| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        let dear = |count: usize| -> Vec<String> {
            (0..count).map(|at| format!("/(a|b)*a(a|b){{9}}{at}/")).collect()
        };
        let entry = |names: Vec<String>| json::json!([{"names": names, "privileges": ["read"]}]);
        let key = |names| {
            json::to_string(&json::json!({
                "name": "k", "role_descriptors": {"r": {"indices": (entry(names))}},
            }))
        };
        let refused = client.bad("POST", "/_security/api_key", &key(dear(600))).await;
        assert!(refused.contains("too complex together"), "{refused}");
        client.good("POST", "/_security/api_key", &key(dear(1))).await;
        let plain: Vec<String> = (0..300).map(|at| format!("/logs-[0-9]+-{at}.*/")).collect();
        client.good("POST", "/_security/api_key", &key(plain)).await;
        let noted = json::json!({"name": "k", "metadata": {"a": ("x".repeat(1 << 20))}});
        let refused = client.bad("POST", "/_security/api_key", &json::to_string(&noted)).await;
        assert!(refused.contains("at most [1048576] bytes"), "{refused}");

        let role = json::json!({"indices": (entry(vec!["/(a|b)*a(a|b){9}/".to_owned()]))});
        client.good("PUT", "/_security/role/r", &json::to_string(&role)).await;
        client.good("PUT", "/_security/user/ann", r#"{"password":"secret","roles":["r"]}"#).await;
        client.authorize(Some(&basic("ann", "secret")));
        let target = "/_security/user/_has_privileges";
        let ask = |names| json::to_string(&json::json!({"index": (entry(names))}));
        let refused = client.bad("POST", target, &ask(dear(300))).await;
        assert!(refused.contains("too complex to evaluate"), "{refused}");
        let found = client.good("POST", target, &ask(vec!["aaaaaaaaaa".to_owned()])).await;
        assert_eq!(at(&found, &["has_all_requested"]), &json::json!(true));
    });
}

fn field<'a>(answer: &'a Response, wanted: &str) -> Option<&'a str> {
    let found = answer.fields.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted));
    found.map(|(_, value)| value.as_str())
}

/// Keys, tokens and people were told in answers that a cache may keep.
#[test]
fn no_cache_keeps_what_security_answers() {
    with_security(|mut client| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        let grant = json!({"grant_type": "password", "username": "elastic", "password": "secret",
            "api_key": {"name": "g"}});
        let cross = r#"{"name":"x","access":{"search":[{"names":["a"]}]}}"#;
        for (method, target, body) in [
            ("POST", "/_security/api_key", r#"{"name":"k"}"#),
            ("POST", "/_security/api_key/grant", &json::to_string(&grant)),
            ("POST", "/_security/cross_cluster/api_key", cross),
            ("POST", "/_security/service/elastic/kibana/credential/token/t", ""),
            ("POST", "/_security/oauth2/token", r#"{"grant_type":"client_credentials"}"#),
            ("GET", "/_security/user", ""),
        ] {
            let answer = client.call(method, target, body).await;
            let told = ["cache-control", "pragma"].map(|name| field(&answer, name));
            assert_eq!(told, [Some("no-store"), Some("no-cache")], "{target}: {}", answer.text());
            let count = |(name, _): &&(String, String)| name.eq_ignore_ascii_case("cache-control");
            assert_eq!(answer.fields.iter().filter(count).count(), 1, "{target}");
        }
    });
}

/// Bytes that are no text were no credential at all; and of two users to act as, the first was taken.
#[test]
fn headers_that_say_two_things_or_nothing_are_refused() {
    with_security(|mut client| async move {
        client.write(b"GET / HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \xe9\r\n\r\n").await;
        let answer = client.answer("GET", "/").await;
        assert_eq!(answer.status, 400, "{}", answer.text());
        assert_eq!(field(&answer, "www-authenticate"), Some("Bearer error=\"invalid_request\""));
        client.authorize(Some(&basic("elastic", "secret")));
        let user = r#"{"password":"ann-knows-this","roles":[]}"#;
        client.good("PUT", "/_security/user/ann", user).await;
        let target = "/_security/_authenticate";
        let runs_as = |name| ("es-security-runas-user", name);
        let answer = client.call_with("GET", target, &[runs_as("ann"), runs_as("bob")], b"").await;
        assert_eq!(
            failure(&answer),
            "400 illegal_argument_exception: multiple values for single-valued header \
             [es-security-runas-user]."
        );
        let answer = client.call_with("GET", target, &[runs_as("ann"), runs_as("ann")], b"").await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        let answer = client.call_with("GET", target, &[runs_as("")], b"").await;
        assert_eq!(
            failure(&answer),
            format!(
                "401 security_exception: unable to authenticate user [] for REST request [{target}]"
            )
        );
    });
}

/// Whoever acts in another's name by a key was told to have come in by a password.
#[test]
fn who_acts_by_a_key_came_in_by_it() {
    with_security(|mut client| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        let user = r#"{"password":"ann-knows-this","roles":[]}"#;
        client.good("PUT", "/_security/user/ann", user).await;
        let wish = r#"{"name":"k","role_descriptors":{"r":{"run_as":["ann"]}}}"#;
        let key = client.good("POST", "/_security/api_key", wish).await;
        let key = format!("ApiKey {}", at(&key, &["encoded"]).as_str().expect("a text"));
        for (shown, name, kind, by) in [
            (basic("elastic", "secret"), "reserved", "reserved", "realm"),
            (key, "_es_api_key", "_es_api_key", "api_key"),
        ] {
            client.authorize(Some(&shown));
            let as_ann = [("es-security-runas-user", "ann")];
            let answer = client.call_with("GET", "/_security/_authenticate", &as_ann, b"").await;
            let me = value(&answer);
            assert_eq!(at(&me, &["username"]).as_str(), Some("ann"));
            let realm = json!({"name": name, "type": kind});
            assert_eq!(at(&me, &["authentication_realm"]), &realm);
            let own = json!({"name": "default_native", "type": "native"});
            assert_eq!(at(&me, &["lookup_realm"]), &own);
            assert_eq!(at(&me, &["authentication_type"]).as_str(), Some(by));
            assert!(me.get("api_key").is_none(), "{}", answer.text());
        }
    });
}

/// An endpoint is the same however its name is written.
#[test]
fn endpoints_are_known_by_what_their_paths_mean() {
    with_oauth(|mut client| async move {
        for target in ["/login", "/%6cogin", "/.well%2dknown/oauth-authorization-server"] {
            let answer = client.call("GET", target, "").await;
            assert_eq!(answer.status, 200, "{target}: {}", answer.text());
        }
        // A page may use nothing of the browser's but what a key needs to sign in.
        let page = client.call("GET", "/login", "").await;
        let allowed = field(&page, "permissions-policy").expect("a policy");
        for feature in [
            "bluetooth",
            "clipboard-read",
            "display-capture",
            "fullscreen",
            "hid",
            "midi",
            "publickey-credentials-create",
            "serial",
            "usb",
        ] {
            assert!(allowed.contains(&format!("{feature}=()")), "{feature}: {allowed}");
        }
        assert!(allowed.ends_with("publickey-credentials-get=(self)"), "{allowed}");
    });
}

/// Programs got a page where the audit log could not be written.
#[test]
fn programs_are_told_in_json_that_nothing_can_be_noted() {
    with_unwritten(|mut client| async move {
        let form = [("Content-Type", "application/x-www-form-urlencoded")];
        for target in ["/token", "/revoke", "/introspect", "/par", "/device_authorization"] {
            let answer = client.call_with("POST", target, &form, b"token=x").await;
            let text = answer.text();
            assert_eq!(answer.status, 503, "{target}: {text}");
            assert!(text.contains("\"error\":\"temporarily_unavailable\""), "{target}: {text}");
            assert!(field(&answer, "retry-after").is_some(), "{target}");
            assert_eq!(field(&answer, "cache-control"), Some("no-store"), "{target}");
        }
        let page = client.call("GET", "/login", "").await;
        assert_eq!(
            (page.status, field(&page, "content-type").map(|kind| &kind[..9])),
            (503, Some("text/html"))
        );
    });
}
