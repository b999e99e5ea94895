//! The OAuth half and the door beside it: who may let whom act for whom, and how often one may guess.

use json::{Value, json};

use crate::browser::{Browser, basic, fields};
use crate::place::{Client, ISSUER, at, value, with_audited, with_oauth, with_oauth_clients};

async fn person(client: &mut Client, name: &str, roles: &[&str]) {
    let body = json!({"password": (format!("{name}-knows-this")), "roles": (roles.to_vec())});
    client.good("PUT", &format!("/_security/user/{name}"), &json::to_string(&body)).await;
}

fn own(name: &str) -> String {
    basic(name, &format!("{name}-knows-this"))
}

fn service(account: &str, scope: &str) -> String {
    json::to_string(&json!({"client_name": "Service", "application_type": "service",
        "service_account": account, "scope": scope}))
}

/// `oauth_admin` became a superuser by a client that acted for `elastic`.
#[test]
fn a_client_acts_for_whom_its_maker_may_act() {
    with_oauth(|mut client| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        let reader = r#"{"indices":[{"names":["orders-*"],"privileges":["read"]}]}"#;
        client.good("PUT", "/_security/role/reader", reader).await;
        let acts = r#"{"cluster":["manage_oauth"],"run_as":["ann","elastic"]}"#;
        client.good("PUT", "/_security/role/acts", acts).await;
        person(&mut client, "ann", &["reader"]).await;
        person(&mut client, "oad", &["oauth_admin"]).await;
        person(&mut client, "may", &["acts"]).await;
        let fine = "index:orders-*:read";
        client.authorize(Some(&own("oad")));
        for account in ["elastic", "ann", "may"] {
            let refused = client.bad("POST", "/_oauth/client", &service(account, fine)).await;
            assert_eq!(
                refused,
                format!(
                    "403 security_exception: user [oad] may not act for the service account [{account}]"
                )
            );
        }
        // For itself it may, within its own roles.
        let refused = client.bad("POST", "/_oauth/client", &service("oad", fine)).await;
        assert!(refused.starts_with("400 illegal_argument_exception: [scope]"), "{refused}");
        client.good("POST", "/_oauth/client", &service("oad", "self")).await;
        // The right to act for somebody is not one to become all-powerful.
        client.authorize(Some(&own("may")));
        let refused = client.bad("POST", "/_oauth/client", &service("elastic", fine)).await;
        assert!(refused.starts_with("403 security_exception"), "{refused}");
        let refused = client.bad("POST", "/_oauth/client", &service("ann", "index:*:all")).await;
        assert!(refused.starts_with("400 illegal_argument_exception: [scope]"), "{refused}");
        let made = client.good("POST", "/_oauth/client", &service("ann", fine)).await;
        let id = at(&made, &["client_id"]).as_str().expect("an id").to_owned();
        // A new secret of it, or an end of its suspension, is as much.
        client.good("POST", &format!("/_oauth/client/{id}/_suspend"), "").await;
        client.authorize(Some(&own("oad")));
        for verb in ["_rotate_secret", "_approve"] {
            let refused = client.bad("POST", &format!("/_oauth/client/{id}/{verb}"), "").await;
            assert!(refused.starts_with("403 security_exception"), "{verb}: {refused}");
        }
        client.authorize(Some(&own("may")));
        client.good("POST", &format!("/_oauth/client/{id}/_approve"), "").await;
        client.good("POST", &format!("/_oauth/client/{id}/_rotate_secret"), "").await;
        // A key of somebody who may is less than that one.
        let key = r#"{"name":"k","role_descriptors":{"k":{"cluster":["manage_oauth"]}}}"#;
        client.authorize(Some(&basic("elastic", "secret")));
        let key = client.good("POST", "/_security/api_key", key).await;
        let encoded = at(&key, &["encoded"]).as_str().expect("a key").to_owned();
        client.authorize(Some(&format!("ApiKey {encoded}")));
        let refused = client.bad("POST", "/_oauth/client", &service("elastic", fine)).await;
        assert!(refused.starts_with("403 security_exception"), "{refused}");
    });
}

/// Behind `/login` guessing was slow, at the store and at `/introspect` it was not.
#[test]
fn passwords_are_guessed_ten_times_a_minute() {
    with_oauth(|mut client| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        person(&mut client, "ann", &[]).await;
        person(&mut client, "bob", &[]).await;
        for name in ["ann", "nobody"] {
            let mut statuses = Vec::new();
            for guess in 0..12 {
                client.authorize(Some(&basic(name, &format!("guess-{guess}"))));
                statuses.push(client.call("GET", "/_security/_authenticate", "").await.status);
            }
            assert_eq!(statuses[..10], [401; 10], "{name}");
            assert_eq!(statuses[10..], [429; 2], "{name}");
        }
        // Also with the right password, if no core knows it yet; not so other accounts.
        client.authorize(Some(&own("ann")));
        let late = client.call("GET", "/_security/_authenticate", "").await;
        assert_eq!(late.status, 429);
        let wait = late.fields.iter().find(|(name, _)| name.eq_ignore_ascii_case("retry-after"));
        let wait: u64 = wait.expect("a time").1.parse().expect("seconds");
        assert!((1..=60).contains(&wait));
        client.authorize(Some(&own("bob")));
        client.good("GET", "/_security/_authenticate", "").await;
        // Whoever was let in lately is let in, however often others guess.
        for guess in 0..12 {
            client.authorize(Some(&basic("bob", &format!("guess-{guess}"))));
            client.call("GET", "/_security/_authenticate", "").await;
        }
        client.authorize(Some(&own("bob")));
        client.good("GET", "/_security/_authenticate", "").await;
        // One count for all doors.
        let form = [("Content-Type", "application/x-www-form-urlencoded")];
        client.authorize(Some(&basic("bob", "guess")));
        let asked = client.call_with("POST", "/introspect", &form, b"token=x").await;
        assert_eq!(asked.status, 429);
        assert_eq!(at(&value(&asked), &["error"]).as_str(), Some("temporarily_unavailable"));
        let mut statuses = Vec::new();
        for guess in 0..12 {
            client.authorize(Some(&basic("elastic", &format!("guess-{guess}"))));
            statuses.push(client.call_with("POST", "/introspect", &form, b"token=x").await.status);
        }
        assert_eq!(
            (statuses[..10].to_vec(), statuses[10..].to_vec()),
            (vec![401; 10], vec![429; 2])
        );
    });
}

/// Where the line of passwords is full nobody hears of a wrong password, and nothing is counted as one.
#[test]
fn a_full_line_is_told_as_one() {
    with_oauth_clients(34, |mut clients| async move {
        let [client, door, crowd @ ..] = &mut clients[..] else { panic!("many") };
        client.authorize(Some(&basic("elastic", "secret")));
        person(client, "ann", &[]).await;
        let mut browser = Browser::default();
        let page = browser.ask(client, "/login", &[]).await;
        let mut form = fields(&page, "/login");
        for (name, value) in [("username", "ann"), ("password", "ann-knows-this")] {
            form.push((name.into(), value.into()));
        }
        for (at, stranger) in crowd.iter_mut().enumerate() {
            stranger.authorize(Some(&basic(&format!("nobody-{at}"), "guess")));
            stranger.send("GET", "/_security/_authenticate", &[], b"").await;
        }
        for _ in 0..12 {
            door.authorize(Some(&own("ann")));
            let told = door.bad("GET", "/_security/_authenticate", "").await;
            assert_eq!(
                told,
                "429 es_rejected_execution_exception: too many passwords wait to be checked"
            );
            let ask = r#"{"grant_type":"password","username":"ann","password":"ann-knows-this"}"#;
            door.authorize(Some(&basic("elastic", "secret")));
            let answer = door.call("POST", "/_security/oauth2/token", ask).await;
            assert_eq!(answer.status, 429, "{}", answer.text());
            let answer = browser.post(client, "/login", &form).await;
            assert_eq!(answer.status, 503, "{}", answer.text());
            assert!(answer.text().contains("Many people sign in at this moment"));
            assert_eq!(answer.field("retry-after"), Some("1"));
        }
        for stranger in crowd.iter_mut() {
            assert_eq!(stranger.answer("GET", "/").await.status, 401);
        }
        assert_eq!(browser.post(client, "/login", &form).await.status, 303);
    });
}

/// Bodies that bring a password were asked as often as one liked.
#[test]
fn passwords_in_bodies_are_guessed_as_seldom() {
    with_oauth(|mut client| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        for (name, door, more, wrong) in [
            ("ann", "/_security/oauth2/token", "", 400),
            ("bob", "/_security/api_key/grant", r#","api_key":{"name":"k"}"#, 401),
            ("eve", "/_security/profile/_activate", "", 401),
            ("nobody", "/_security/oauth2/token", "", 400),
        ] {
            if name != "nobody" {
                person(&mut client, name, &[]).await;
            }
            let mut statuses = Vec::new();
            let mut waits = Vec::new();
            for guess in 0..12 {
                let body = format!(
                    r#"{{"grant_type":"password","username":"{name}","password":"guess-{guess}"{more}}}"#
                );
                let answer = client.call("POST", door, &body).await;
                statuses.push(answer.status);
                let fields = answer.fields.iter();
                let waiting = fields.filter(|field| field.0.eq_ignore_ascii_case("retry-after"));
                waits.extend(waiting.map(|field| field.1.clone()));
            }
            // One field each, and the time that is left of the minute, or of a slot in it.
            let waits: Vec<u64> = waits.iter().map(|wait| wait.parse().expect("seconds")).collect();
            assert!(
                waits.len() == 2 && waits.iter().all(|wait| (2..=60).contains(wait)),
                "{waits:?}"
            );
            let counted = (statuses[..10].to_vec(), statuses[10..].to_vec());
            assert_eq!(counted, (vec![wrong; 10], vec![429; 2]), "{door}");
            // One count for all doors.
            client.authorize(Some(&own(name)));
            assert_eq!(client.call("GET", "/_security/_authenticate", "").await.status, 429);
            client.authorize(Some(&basic("elastic", "secret")));
        }
    });
}

/// A wrong password was 401, as if the caller were not let in: it is its grant that is none.
#[test]
fn a_token_for_a_wrong_password_is_an_invalid_grant() {
    with_audited(|mut client, told| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        person(&mut client, "ann", &[]).await;
        person(&mut client, "bob", &[]).await;
        client.good("PUT", "/_security/user/bob/_disable", "").await;
        let door = "/_security/oauth2/token";
        for (name, password) in
            [("ann", "wrong"), ("nobody", "wrong"), ("bob", "bob-knows-this"), ("", "")]
        {
            let ask = json!({"grant_type": "password", "username": (name), "password": (password)});
            let answer = client.call("POST", door, &json::to_string(&ask)).await;
            assert_eq!(
                (answer.status, &*answer.text()),
                (
                    400,
                    r#"{"error":"invalid_grant","error_description":"the user name or the password is wrong"}"#
                ),
                "{name}"
            );
            assert_eq!(answer.field("www-authenticate"), None);
        }
        let events = told.of("token_issued");
        let text = |event: &json::Value, key: &str| {
            at(event, &[key]).as_str().unwrap_or_default().to_owned()
        };
        let first = events.first().expect("it is noted");
        assert_eq!(
            [
                text(first, "outcome"),
                text(first, "reason"),
                text(first, "target_user"),
                text(first, "user")
            ],
            ["failed", "wrong password", "ann", "elastic"]
        );
        // Who asks is another question.
        client.authorize(Some(&basic("elastic", "wrong")));
        let ask = r#"{"grant_type":"client_credentials"}"#;
        assert_eq!(client.call("POST", door, ask).await.status, 401);
    });
}

/// Whoever might use the token service could renew the tokens of others.
#[test]
fn tokens_are_renewed_by_who_made_them() {
    with_oauth(|mut client| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        for name in ["ann", "bob"] {
            person(&mut client, name, &[]).await;
            let role = r#"{"cluster":["manage_token"]}"#;
            client.good("PUT", "/_security/role/tokens", role).await;
            let user = format!(r#"{{"password":"{name}-knows-this","roles":["tokens"]}}"#);
            client.good("PUT", &format!("/_security/user/{name}"), &user).await;
        }
        let door = "/_security/oauth2/token";
        let person = |name: &str| basic(name, &format!("{name}-knows-this"));
        client.authorize(Some(&person("bob")));
        let body = r#"{"grant_type":"password","username":"ann","password":"ann-knows-this"}"#;
        let made = client.good("POST", door, body).await;
        let refresh = at(&made, &["refresh_token"]).as_str().expect("a token");
        let body = format!(r#"{{"grant_type":"refresh_token","refresh_token":"{refresh}"}}"#);
        // Also not by whose token it is, as in Elasticsearch.
        for stranger in ["ann", "elastic"] {
            let own = if stranger == "ann" { person("ann") } else { basic("elastic", "secret") };
            client.authorize(Some(&own));
            let answer = client.call("POST", door, &body).await;
            assert_eq!(answer.status, 400, "{stranger}");
            assert_eq!(
                value(&answer),
                json::json!({"error": "invalid_grant",
                    "error_description": "tokens must be refreshed by the creating client"})
            );
        }
        client.authorize(Some(&person("bob")));
        client.good("POST", door, &body).await;
    });
}

/// A link with `prompt=none` led anybody to wherever a stranger had registered.
#[test]
fn strangers_lead_nobody_away() {
    with_oauth(|mut client| async move {
        let body = r#"{"redirect_uris":["https://dyn.example/cb"],"client_name":"Stranger","scope":"index:orders-*:read"}"#;
        let made = client.good("POST", "/register", body).await;
        let id = at(&made, &["client_id"]).as_str().expect("an id");
        let target = format!(
            "/authorize?response_type=code&client_id={id}&prompt=none&scope=index%3Aorders-*%3Aread\
             &code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256"
        );
        let answer = client.call("GET", &target, "").await;
        assert_eq!(answer.status, 400, "{}", answer.text());
        assert!(!answer.fields.iter().any(|(name, _)| name.eq_ignore_ascii_case("location")));
        // One that was reviewed hears of it at home.
        client.authorize(Some(&basic("elastic", "secret")));
        let body = r#"{"client_name":"Known","redirect_uris":["https://app.example/cb"],"scope":"index:orders-*:read"}"#;
        let made = client.good("POST", "/_oauth/client", body).await;
        client.authorize(None);
        let known = at(&made, &["client_id"]).as_str().expect("an id");
        let answer = client.call("GET", &target.replace(id, known), "").await;
        let location = answer.fields.iter().find(|(name, _)| name.eq_ignore_ascii_case("location"));
        let location = &location.expect("led back").1;
        assert!(location.starts_with("https://app.example/cb?error=login_required"), "{location}");
        assert!(location.contains(&ISSUER.replace("://", "%3A%2F%2F")), "{location}");
    });
}

/// What no browser would send, or would take for another place, was kept; and clients without a secret that
/// act for themselves.
#[test]
fn a_client_that_could_not_work_is_not_made() {
    with_oauth(|mut client| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        let with = |more: &str| {
            format!(r#"{{"client_name":"App","redirect_uris":["https://app.example/cb"]{more}}}"#)
        };
        let mut wrong = Vec::new();
        for (body, field) in [
            (with(r#","web_origins":["*"]"#), "web_origins"),
            (with(r#","web_origins":["null"]"#), "web_origins"),
            (with(r#","web_origins":["javascript:1"]"#), "web_origins"),
            (with(r#","web_origins":["https://app.example/path"]"#), "web_origins"),
            (with(r#","web_origins":["https://2130706433"]"#), "web_origins"),
            (
                r#"{"client_name":"A","redirect_uris":["https://2130706433/cb"]}"#.to_owned(),
                "redirect_uris",
            ),
            (
                r#"{"client_name":"A","redirect_uris":["https://0x7f.1/cb"]}"#.to_owned(),
                "redirect_uris",
            ),
            (
                r#"{"client_name":"A","application_type":"service","token_endpoint_auth_method":"none"}"#
                    .to_owned(),
                "token_endpoint_auth_method",
            ),
            (
                r#"{"client_name":"A","grant_types":["client_credentials"],"token_endpoint_auth_method":"none"}"#
                    .to_owned(),
                "grant_types",
            ),
            (
                with(r#","grant_types":["authorization_code","client_credentials"],"token_endpoint_auth_method":"none""#),
                "grant_types",
            ),
            // Only a service acts for itself; what was said of its kind is not overruled.
            (
                with(r#","application_type":"web","grant_types":["authorization_code","client_credentials"]"#),
                "grant_types",
            ),
            (
                r#"{"client_name":"A","application_type":"web","grant_types":["client_credentials"]}"#
                    .to_owned(),
                "grant_types",
            ),
            (
                r#"{"client_name":"A","application_type":"native","grant_types":["client_credentials"]}"#
                    .to_owned(),
                "grant_types",
            ),
            (
                r#"{"client_name":"A","application_type":"tv","grant_types":["authorization_code"]}"#
                    .to_owned(),
                "application_type",
            ),
        ] {
            let answer = client.call("POST", "/_oauth/client", &body).await;
            let text = answer.text();
            if answer.status != 400 || !text.contains(&format!("\"reason\":\"[{field}] ")) {
                wrong.push(format!("{body}: {} {text}", answer.status));
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
        let origins =
            with(r#","web_origins":["https://app.example:8443","http://localhost:3000"]"#);
        client.good("POST", "/_oauth/client", &origins).await;
        // A device has no callback, and needs no secret; its kind is what was said.
        let device = r#"{"client_name":"TV","application_type":"native","token_endpoint_auth_method":"none",
            "grant_types":["urn:ietf:params:oauth:grant-type:device_code"]}"#;
        let made = client.good("POST", "/_oauth/client", device).await;
        assert_eq!(at(&made, &["application_type"]).as_str(), Some("native"));
    });
}

/// One that could also send its owners on was made a `web` application, whose tokens of its own were then
/// refused.
#[test]
fn who_asks_to_act_for_itself_does() {
    with_oauth(|mut client| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        person(&mut client, "ann", &[]).await;
        let callback = r#","redirect_uris":["https://app.example/cb"]"#;
        for more in [
            r#","grant_types":["client_credentials"]"#.to_owned(),
            format!(r#","grant_types":["client_credentials"]{callback}"#),
            format!(r#","grant_types":["authorization_code","client_credentials"]{callback}"#),
            format!(
                r#","grant_types":["client_credentials"],"application_type":"service"{callback}"#
            ),
        ] {
            client.authorize(Some(&basic("elastic", "secret")));
            let body = format!(r#"{{"client_name":"A","service_account":"ann"{more}}}"#);
            let made = client.good("POST", "/_oauth/client", &body).await;
            let text = |key: &str| at(&made, &[key]).as_str().expect("a text").to_owned();
            assert_eq!(text("application_type"), "service", "{body}");
            let form = format!(
                "grant_type=client_credentials&client_id={}&client_secret={}",
                text("client_id"),
                text("client_secret")
            );
            let kind = [("Content-Type", "application/x-www-form-urlencoded")];
            client.authorize(None);
            let answer = client.call_with("POST", "/token", &kind, form.as_bytes()).await;
            assert_eq!(answer.status, 200, "{body}: {}", answer.text());
        }
    });
}

/// Whoever looked at or changed what it had registered was not told where and by what it goes on doing so, as
/// RFC 7592 wants.
#[test]
fn who_registered_is_told_how_to_go_on() {
    with_oauth(|mut client| async move {
        let asked = r#""redirect_uris":["https://app.example/cb"]"#;
        let made = client.good("POST", "/register", &format!("{{{asked}}}")).await;
        let text =
            |value: &json::Value, key: &str| at(value, &[key]).as_str().expect("a text").to_owned();
        let (id, token) = (text(&made, "client_id"), text(&made, "registration_access_token"));
        let place = format!("/register/{id}");
        client.authorize(Some(&format!("Bearer {token}")));
        let seen = client.good("GET", &place, "").await;
        let body = format!(r#"{{"client_id":"{id}","client_name":"Another",{asked}}}"#);
        let changed = client.good("PUT", &place, &body).await;
        for answer in [made, seen, changed] {
            assert_eq!(text(&answer, "registration_access_token"), token);
            assert_eq!(text(&answer, "registration_client_uri"), format!("{ISSUER}{place}"));
        }
        for field in ["require_pushed_authorization_requests", "dpop_bound_access_tokens"] {
            let body = format!(r#"{{"{field}":"yes",{asked}}}"#);
            let refused = client.call("POST", "/register", &body).await;
            assert_eq!(
                (refused.status, at(&value(&refused), &["error"]).as_str()),
                (400, Some("invalid_client_metadata")),
                "{field}"
            );
        }
    });
}

/// Of two changes at one moment one was told that the server is down, and who changed the registration all the
/// time put off that its secret was replaced.
#[test]
fn who_changes_a_registration_holds_up_nobody() {
    with_oauth_clients(8, |mut clients| async move {
        let asked = r#""redirect_uris":["https://app.example/cb"]"#;
        let made = clients[0].good("POST", "/register", &format!("{{{asked}}}")).await;
        let text =
            |value: &json::Value, key: &str| at(value, &[key]).as_str().expect("a text").to_owned();
        let (id, token) = (text(&made, "client_id"), text(&made, "registration_access_token"));
        let (place, rotate) =
            (format!("/register/{id}"), format!("/_oauth/client/{id}/_rotate_secret"));
        let calls = clients.iter_mut().enumerate().map(|(at, client)| {
            let name = format!(r#"{{"client_id":"{id}","client_name":"Name {at}",{asked}}}"#);
            let (place, rotate, token) = (&place, &rotate, &token);
            Box::pin(async move {
                if at < 6 {
                    client.authorize(Some(&format!("Bearer {token}")));
                    return client.call("PUT", place, &name).await;
                }
                client.authorize(Some(&basic("elastic", "secret")));
                client.call("POST", rotate, "").await
            })
        });
        for answer in env::join_all(calls.collect()).await {
            assert_eq!(answer.status, 200, "{}", answer.text());
        }
        // Whose decision comes after the end of the client is told that there is none.
        let suspend = format!("/_oauth/client/{id}/_suspend");
        let calls = clients.iter_mut().enumerate().map(|(at, client)| {
            client.authorize(Some(&basic("elastic", "secret")));
            let (suspend, rotate) = (&suspend, &rotate);
            let one = suspend.trim_end_matches("/_suspend");
            Box::pin(async move {
                match at {
                    0 => client.call("DELETE", one, "").await,
                    1..4 => client.call("POST", suspend, "").await,
                    _ => client.call("POST", rotate, "").await,
                }
            })
        });
        for answer in env::join_all(calls.collect()).await {
            assert!(matches!(answer.status, 200 | 404), "{}", answer.text());
        }
    });
}

/// A server that asks about tokens could come with two credentials, of which one was passed over.
#[test]
fn who_asks_about_tokens_comes_with_one_credential() {
    with_oauth(|mut client| async move {
        let admin = basic("elastic", "secret");
        let fields = [("Content-Type", "application/x-www-form-urlencoded")];
        let twice = [fields[0], ("Authorization", admin.as_str())];
        for (fields, body, status) in [
            (&fields[..], "token=x", 200),
            (&fields, "token=x&client_secret=y", 400),
            (&fields, "token=x&secret=y", 400),
            (&twice, "token=x", 400),
        ] {
            client.authorize(Some(&admin));
            let answer = client.call_with("POST", "/introspect", fields, body.as_bytes()).await;
            assert_eq!(answer.status, status, "{body}: {}", answer.text());
            let told = value(&answer);
            let error = told.get("error").and_then(Value::as_str);
            assert_eq!(error, (status == 400).then_some("invalid_request"), "{body}");
        }
    });
}
