//! What a client says of itself, by whichever way it comes.

use json::{Value, json};

use crate::browser::{Browser, basic, words};
use crate::place::{Client, at, value, with_oauth_set};

fn text(value: &Value, key: &str) -> String {
    at(value, &[key]).as_str().expect("a text").to_owned()
}

async fn register(client: &mut Client, body: &Value) -> Value {
    client.authorize(None);
    client.good("POST", "/register", &json::to_string(body)).await
}

/// A change with somebody else's secret in it was made.
#[test]
fn a_change_with_a_wrong_secret_is_refused() {
    let set = [("oauth.registration.mode", "open")];
    with_oauth_set(&set, |mut client, told| async move {
        let uris = vec!["https://a.example/cb"];
        let made = register(&mut client, &json!({"redirect_uris": (uris.clone())})).await;
        let place = format!("/register/{}", text(&made, "client_id"));
        let (id, own) = (text(&made, "client_id"), text(&made, "client_secret"));
        client.authorize(Some(&format!("Bearer {}", text(&made, "registration_access_token"))));
        told.all();
        for wrong in [json!("wrong"), json!(""), json!(7)] {
            let body = json!({"client_id": (id.clone()), "client_secret": (wrong.clone()),
                "client_name": "Other", "redirect_uris": (uris.clone())});
            let refused = client.call("PUT", &place, &json::to_string(&body)).await;
            assert_eq!(refused.status, 400, "{wrong:?}: {}", refused.text());
            assert_eq!(text(&value(&refused), "error"), "invalid_client_metadata");
            assert_eq!(told.of("client_changed").len(), 1);
        }
        let body = json!({"client_id": (id), "client_secret": (own), "client_name": "Other",
            "redirect_uris": (uris)});
        let changed = client.good("PUT", &place, &json::to_string(&body)).await;
        assert_eq!(text(&changed, "client_name"), "Other");
    });
}

/// One callback that was written twice made two, and a request that named none was refused.
#[test]
fn a_callback_counts_once() {
    let set = [("oauth.registration.mode", "open")];
    with_oauth_set(&set, |mut client, _| async move {
        let uri = "https://a.example/cb";
        let twice = json!({"client_name": "A", "redirect_uris": (vec![uri; 21])});
        let by_itself = register(&mut client, &twice).await;
        client.authorize(Some(&basic("elastic", "secret")));
        let by_api = client.good("POST", "/_oauth/client", &json::to_string(&twice)).await;
        for made in [by_itself, by_api] {
            let kept = at(&made, &["redirect_uris"]).as_array().expect("a list");
            assert_eq!(kept.len(), 1, "{kept:?}");
        }
    });
}

/// A grant that is switched off was given to clients by administrators, and told them as theirs.
#[test]
fn where_devices_may_not_ask_no_client_gets_their_grant() {
    let device = "urn:ietf:params:oauth:grant-type:device_code";
    for (enabled, status) in [("false", 400), ("true", 201)] {
        let set = [("oauth.device.enabled", enabled)];
        with_oauth_set(&set, |mut client, _| async move {
            client.authorize(Some(&basic("elastic", "secret")));
            let body = json!({"client_name": "TV", "application_type": "native",
                "grant_types": (vec![device])});
            let made = client.call("POST", "/_oauth/client", &json::to_string(&body)).await;
            assert_eq!(made.status, status, "{}", made.text());
            let usual = json!({"client_name": "Program", "application_type": "native",
                "redirect_uris": (vec!["http://127.0.0.1/cb"])});
            let made = client.good("POST", "/_oauth/client", &json::to_string(&usual)).await;
            let kinds = at(&made, &["grant_types"]).as_array().expect("a list");
            let has = kinds.iter().any(|kind| kind.as_str() == Some(device));
            assert_eq!(has, status == 201, "{kinds:?}");
        });
    }
}

/// Where nobody may register, the eleventh who asked within an hour was told to wait, as if there were something to
/// wait for.
#[test]
fn where_nobody_registers_there_is_nothing_to_wait_for() {
    let set = [("oauth.registration.mode", "closed")];
    with_oauth_set(&set, |mut client, _| async move {
        for _ in 0..12 {
            client.authorize(None);
            let answer = client.call("POST", "/register", "{}").await;
            assert_eq!(answer.status, 404, "{}", answer.text());
        }
    });
}

/// Contacts that hide or turn what stands around them were kept for reviewers to read, and those beyond ten passed over.
#[test]
fn contacts_are_short_and_what_they_look_like() {
    let set = [("oauth.registration.mode", "open"), ("oauth.limit.register", "0")];
    with_oauth_set(&set, |mut client, _| async move {
        let body = |contacts: Vec<String>| json!({"redirect_uris": ["https://a.example/cb"], "contacts": contacts});
        let ten: Vec<String> = (0..10).map(|at| format!("dev{at}@a.example")).collect();
        let eleven: Vec<String> = (0..11).map(|at| format!("dev{at}@a.example")).collect();
        let made = register(&mut client, &body(ten.clone())).await;
        let kept = at(&made, &["contacts"]).as_array().expect("a list");
        assert_eq!(kept.len(), 10, "{kept:?}");
        for bad in [
            eleven,
            vec!["a\u{202e}b@a.example".into()],
            vec!["x".repeat(255)],
            vec![String::new()],
        ] {
            let body = json::to_string(&body(bad));
            let refused = client.call("POST", "/register", &body).await;
            assert_eq!(refused.status, 400, "{body}: {}", refused.text());
            assert_eq!(text(&value(&refused), "error"), "invalid_client_metadata");
        }
    });
}

/// Of two tokens the first one counted.
#[test]
fn who_registers_brings_one_token() {
    let set =
        [("oauth.registration.mode", "token"), ("oauth.registration.token", "let-them-in-please")];
    with_oauth_set(&set, |mut client, _| async move {
        let body = json::to_string(&json!({"redirect_uris": ["https://a.example/cb"]}));
        for (more, status) in [(&[("Authorization", "Bearer other")][..], 401), (&[], 201)] {
            client.authorize(Some("Bearer let-them-in-please"));
            let answer = client.call_with("POST", "/register", more, body.as_bytes()).await;
            assert_eq!(answer.status, status, "{}", answer.text());
        }
    });
}

/// Where nobody registers by themselves, other methods than POST were told that this one is the right one.
#[test]
fn what_is_switched_off_is_not_there_by_any_method() {
    let set = [("oauth.registration.mode", "closed"), ("oauth.device.enabled", "false")];
    with_oauth_set(&set, |mut client, _told| async move {
        for target in ["/register", "/register/x", "/device_authorization"] {
            for method in ["GET", "POST", "PUT", "DELETE", "OPTIONS"] {
                let answer = client.call(method, target, "").await;
                let told = (answer.status, answer.field("allow").map(str::to_owned));
                assert_eq!(told, (404, None), "{method} {target}: {}", answer.text());
            }
        }
    });
    with_oauth_set(&[("oauth.registration.mode", "open")], |mut client, _told| async move {
        let answer = client.call("GET", "/register", "").await;
        assert_eq!((answer.status, answer.field("allow")), (405, Some("POST")));
    });
}

/// A client that became a public one kept its secret, and had it once more when it went back.
#[test]
fn a_secret_ends_where_a_client_does_without() {
    let set = [("oauth.registration.mode", "open")];
    with_oauth_set(&set, |mut client, _| async move {
        let uris = vec!["https://a.example/cb"];
        let made = register(&mut client, &json!({"redirect_uris": (uris.clone())})).await;
        let (id, first) = (text(&made, "client_id"), text(&made, "client_secret"));
        let own = format!("Bearer {}", text(&made, "registration_access_token"));
        let mut secrets = vec![first];
        for method in ["none", "client_secret_basic"] {
            client.authorize(Some(&own));
            let body = json!({"client_id": (id.clone()), "redirect_uris": (uris.clone()),
                "token_endpoint_auth_method": method});
            let place = format!("/register/{id}");
            let changed = client.good("PUT", &place, &json::to_string(&body)).await;
            secrets.extend(changed.get("client_secret").and_then(Value::as_str).map(str::to_owned));
        }
        let [first, second] = &secrets[..] else { panic!("{secrets:?}") };
        assert_ne!(first, second);
        let kind = [("Content-Type", "application/x-www-form-urlencoded")];
        for (secret, status) in [(first, 401), (second, 200)] {
            client.authorize(Some(&basic(&id, secret)));
            let answer = client.call_with("POST", "/revoke", &kind, b"token=x").await;
            assert_eq!(answer.status, status, "{}", answer.text());
        }
    });
}

/// Fields that were null were refused, though the standard has them mean what is left out.
#[test]
fn what_is_null_is_left_out() {
    let set = [("oauth.registration.mode", "open")];
    with_oauth_set(&set, |mut client, _| async move {
        let body = json!({"redirect_uris": ["https://a.example/cb"], "contacts": null,
            "grant_types": null, "response_types": null, "scope": null, "jwks": null,
            "require_pushed_authorization_requests": null});
        let made = register(&mut client, &body).await;
        assert_eq!(at(&made, &["grant_types"]), &json!(["authorization_code"]));
        client.authorize(Some(&format!("Bearer {}", text(&made, "registration_access_token"))));
        let mut body = body;
        let fields = body.as_object_mut().expect("an object");
        fields.insert("client_id", text(&made, "client_id"));
        fields.insert("client_secret", Value::Null);
        fields.insert("client_id_issued_at", Value::Null);
        let place = format!("/register/{}", text(&made, "client_id"));
        client.good("PUT", &place, &json::to_string(&body)).await;
    });
}

/// Who had an initial token registered what was looked at, and then gave the client more ways to tokens.
#[test]
fn more_ways_to_tokens_wait_for_a_reviewer() {
    let initial = "0123456789abcdef";
    let set = [("oauth.registration.mode", "token"), ("oauth.registration.token", initial)];
    with_oauth_set(&set, |mut client, _| async move {
        let device = "urn:ietf:params:oauth:grant-type:device_code";
        let code = "authorization_code";
        let body = |kinds: &[&str], pushes: bool| {
            json!({"redirect_uris": ["https://a.example/cb"], "grant_types": (kinds.to_vec()),
                "require_pushed_authorization_requests": pushes})
        };
        client.authorize(Some(&format!("Bearer {initial}")));
        let first = json::to_string(&body(&[code, "refresh_token"], true));
        let made = client.good("POST", "/register", &first).await;
        let (id, own) = (text(&made, "client_id"), text(&made, "registration_access_token"));
        let (place, own) = (format!("/register/{id}"), format!("Bearer {own}"));
        for (kinds, pushes, waits) in [
            (&[code, "refresh_token", device][..], true, true),
            (&[code, "refresh_token"][..], false, true),
            (&[code][..], true, false),
            (&[code, "refresh_token"][..], true, true),
        ] {
            let mut body = body(kinds, pushes);
            body.as_object_mut().expect("an object").insert("client_id", id.clone());
            client.authorize(Some(&own));
            client.good("PUT", &place, &json::to_string(&body)).await;
            client.authorize(Some(&basic("elastic", "secret")));
            let now = client.good("GET", &format!("/_oauth/client/{id}"), "").await;
            let has_it = *at(&now, &["grant_types"]) == json!(kinds.to_vec())
                && *at(&now, &["require_pushed_authorization_requests"]) == json!(pushes);
            assert_eq!((now.get("proposal").is_some(), has_it), (waits, !waits), "{kinds:?}");
        }
        let mut rev = Browser::default();
        let user = r#"{"password":"rev-knows-this","roles":["oauth_admin"]}"#;
        client.good("PUT", "/_security/user/rev", user).await;
        rev.sign_in(&mut client, "rev", "/login").await;
        let card = words(&rev.ask(&mut client, "/admin/apps", &[]).await);
        let told = format!("Grant types {code} {code} refresh_token Must push its requests yes");
        assert!(card.contains(&told), "{card}");
        client.authorize(Some(&basic("elastic", "secret")));
        client.good("POST", &format!("/_oauth/client/{id}/_approve"), "").await;
        let now = client.good("GET", &format!("/_oauth/client/{id}"), "").await;
        assert_eq!(at(&now, &["grant_types"]), &json!([code, "refresh_token"]));
    });
}
