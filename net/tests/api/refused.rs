//! Each refusal of the OAuth half has its line in the audit log, whatever refused it.

use json::{Value, json};

use crate::browser::{Browser, basic, fields};
use crate::consented::stage;
use crate::place::{Client, Told, at, value, with_audited, with_oauth_set};

const FORM: [(&str, &str); 1] = [("Content-Type", "application/x-www-form-urlencoded")];

fn text<'a>(line: &'a Value, key: &str) -> &'a str {
    line.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// The one line since the last call, as event, outcome, user, path.
fn only(told: &Told) -> (Value, [String; 4]) {
    let mut lines = told.all();
    assert_eq!(lines.len(), 1, "{lines:?}");
    let line = lines.remove(0);
    let short = ["event", "outcome", "user", "path"].map(|key| text(&line, key).to_owned());
    for key in ["reason", "address", "request_id"] {
        assert!(!text(&line, key).is_empty(), "no {key}: {line:?}");
    }
    (line, short)
}

async fn people(client: &mut Client) {
    client.authorize(Some(&basic("elastic", "secret")));
    for (name, roles) in [("ann", ""), ("adm", "\"oauth_admin\"")] {
        let body = format!(r#"{{"password":"{name}-knows-this","roles":[{roles}]}}"#);
        client.good("PUT", &format!("/_security/user/{name}"), &body).await;
    }
}

/// `/_oauth` told nothing of who was kept out: a key that was tried, a caller without the right.
#[test]
fn who_may_not_administer_is_noted() {
    with_audited(|mut client, told| async move {
        people(&mut client).await;
        told.all();
        let calls = [
            ("POST", "/_oauth/keys/_rotate"),
            ("DELETE", "/_oauth/client/00000000000000000000000000000000"),
            ("GET", "/_oauth/client"),
        ];
        for (method, path) in calls {
            for (header, status, event, user) in [
                (basic("ann", "wrong"), 401, "login_failed", "ann"),
                (basic("ann", "ann-knows-this"), 403, "access_denied", "ann"),
                ("Bearer core_at_junk".to_owned(), 401, "login_failed", ""),
                ("Bearer !".to_owned(), 400, "login_failed", ""),
                ("ApiKey YTpi".to_owned(), 401, "login_failed", ""),
            ] {
                client.authorize(Some(&header));
                assert_eq!(client.call(method, path, "").await.status, status, "{path} {header}");
                let expected = [event, "failed", user, path].map(str::to_owned);
                assert_eq!(only(&told).1, expected, "{header}");
            }
        }
        client.authorize(None);
        for _ in 0..3 {
            assert_eq!(client.call("GET", "/_oauth/client", "").await.status, 401);
        }
        // Strangers are told together.
        let (line, short) = only(&told);
        assert_eq!(short[0], "anonymous_access_denied");
        assert_eq!(text(&line, "count"), "1");
        // An API key is told by its id, and whose it is.
        client.authorize(Some(&basic("ann", "ann-knows-this")));
        let key = client.call("POST", "/_security/api_key", r#"{"name":"k"}"#).await;
        let key = if key.status == 200 { Some(value(&key)) } else { None };
        told.all();
        if let Some(key) = key {
            client.authorize(Some(&format!("ApiKey {}", text(&key, "encoded"))));
            assert_eq!(client.call("GET", "/_oauth/client", "").await.status, 403);
            let (line, short) = only(&told);
            assert_eq!([&*short[0], &*short[2]], ["access_denied", "ann"]);
            assert_eq!(text(&line, "api_key"), text(&key, "id"));
        }
    });
}

/// A server that asks about tokens with a wrong password, or without the right to ask, left no trace.
#[test]
fn who_may_not_introspect_is_noted() {
    with_audited(|mut client, told| async move {
        people(&mut client).await;
        told.all();
        for (password, event) in [("wrong", "login_failed"), ("ann-knows-this", "access_denied")] {
            client.authorize(Some(&basic("ann", password)));
            let answer = client.call_with("POST", "/introspect", &FORM, b"token=x").await;
            assert_eq!(answer.status, 401);
            let expected = [event, "failed", "ann", "/introspect"].map(str::to_owned);
            assert_eq!(only(&told).1, expected);
        }
        client.authorize(Some("Bearer core_at_junk"));
        assert_eq!(client.call_with("POST", "/introspect", &FORM, b"token=x").await.status, 401);
        assert_eq!(only(&told).1[0], "login_failed");
    });
}

/// Pages: somebody who is no reviewer at the queue, a guessed code of a device, a form that is none of ours.
#[test]
fn what_pages_refuse_is_noted() {
    with_audited(|mut client, told| async move {
        people(&mut client).await;
        let mut ann = Browser::default();
        ann.sign_in(&mut client, "ann", "/login").await;
        told.all();
        for form in [&[][..], &[("decision", "approve")][..]] {
            assert_eq!(ann.ask(&mut client, "/admin/apps", form).await.status, 403);
            let expected = ["access_denied", "failed", "ann", "/admin/apps"].map(str::to_owned);
            assert_eq!(only(&told).1, expected);
        }
        let page = ann.ask(&mut client, "/device", &[]).await;
        let mut form = fields(&page, "/device");
        form.push(("user_code".into(), "BCDF-GHJK".into()));
        for guess in 0..6 {
            let answer = ann.post(&mut client, "/device", &form).await;
            assert_eq!(answer.status, if guess < 5 { 400 } else { 429 });
            let (line, short) = only(&told);
            assert_eq!(
                short,
                ["device_code_failed", "failed", "ann", "/device"].map(str::to_owned)
            );
            assert!(!json::to_string(&line).contains("BCDF"), "{line:?}");
        }
        for path in
            ["/device", "/consent", "/logout", "/account/apps", "/apps/new", "/account/security"]
        {
            assert_eq!(ann.ask(&mut client, path, &[("action", "x")]).await.status, 403, "{path}");
            let (line, short) = only(&told);
            assert_eq!(short[1..], ["failed", "ann", path].map(str::to_owned), "{line:?}");
        }
        let mut nobody = Browser::default();
        nobody.ask(&mut client, "/login", &[]).await;
        assert_eq!(nobody.ask(&mut client, "/login", &[("username", "ann")]).await.status, 403);
        let (line, short) = only(&told);
        assert_eq!([&*short[0], &*short[3]], ["login_failed", "/login"], "{line:?}");
        // Somebody else's application, and an access that is none.
        assert_eq!(ann.ask(&mut client, "/apps/R-AAAAAAAAAA", &[]).await.status, 404);
        assert_eq!(only(&told).1[0], "access_denied");
        // What is let in, and what is merely not there, is no refusal.
        for path in ["/account/apps", "/apps", "/device", "/login"] {
            ann.ask(&mut client, path, &[]).await;
        }
        ann.ask(&mut client, "/login/nothing", &[]).await;
        assert!(told.all().is_empty());
    });
}

/// A stranger's token at somebody's registration, a registration that was refused, a device that was let wait.
#[test]
fn what_programs_are_refused_is_noted() {
    with_audited(|mut client, told| async move {
        let app = stage(&mut client, &[("ann", &[("a-*", "read")])]).await;
        told.all();
        client.authorize(Some("Bearer wrong"));
        let own = format!("/register/{}", app.0);
        let bodies = [
            ("GET", &*own, "", 401, "access_denied"),
            ("PUT", &*own, "{}", 401, "client_changed"),
            ("DELETE", &*own, "", 401, "client_deleted"),
            ("POST", "/register", r#"{"redirect_uris":[]}"#, 400, "client_registered"),
            (
                "POST",
                "/register",
                r#"{"redirect_uris":["https://a/"],"scope":"index:a:all"}"#,
                400,
                "client_registered",
            ),
        ];
        for (method, path, body, status, event) in bodies {
            let answer = client.call(method, path, body).await;
            assert_eq!(answer.status, status, "{method} {path} {}", answer.text());
            let (line, short) = only(&told);
            assert_eq!([&*short[0], &*short[1], &*short[3]], [event, "failed", path], "{line:?}");
            let of = if path == own { app.0.as_str() } else { "" };
            assert_eq!(text(&line, "client"), of);
        }
        client.authorize(None);
        let own = format!("client_id={}&client_secret={}", app.0, app.1);
        for (path, more, event) in [
            ("/token", "&grant_type=nonsense", "token_issued"),
            ("/token", "&grant_type=client_credentials", "token_issued"),
            ("/par", "&response_type=token", "authorize_rejected"),
            ("/revoke", "", "token_revoked"),
            ("/introspect", "", "token_introspected"),
            ("/device_authorization", "", "authorize_rejected"),
        ] {
            let body = format!("{own}{more}");
            let answer = client.call_with("POST", path, &FORM, body.as_bytes()).await;
            assert_eq!(answer.status, 400, "{path} {}", answer.text());
            let (line, short) = only(&told);
            assert_eq!([&*short[0], &*short[1], &*short[3]], [event, "failed", path], "{line:?}");
            assert_eq!(text(&line, "client"), app.0);
        }
    });
}

/// Who may not act as another was denied in a line that named neither.
#[test]
fn who_may_not_act_as_another_is_named() {
    with_audited(|mut client, told| async move {
        people(&mut client).await;
        told.all();
        let as_another = [("es-security-runas-user", "elastic")];
        for path in ["/_security/_authenticate", "/_oauth/client"] {
            client.authorize(Some(&basic("ann", "ann-knows-this")));
            let answer = client.call_with("GET", path, &as_another, b"").await;
            assert_eq!(answer.status, 403);
            let (line, _) = only(&told);
            let named = ["event", "user", "run_by"].map(|key| text(&line, key));
            assert_eq!(named, ["access_denied", "elastic", "ann"], "{line:?}");
        }
        // Nobody is named as whom a caller would act that has proven nothing.
        client.authorize(Some(&basic("ann", "wrong")));
        client.call_with("GET", "/_oauth/client", &as_another, b"").await;
        let (line, _) = only(&told);
        assert_eq!(["user", "run_by"].map(|key| text(&line, key)), ["ann", ""]);
        client.authorize(Some(&basic("elastic", "secret")));
        let key = json!({"name": "k", "role_descriptors": {"r": {"cluster": ["monitor"]}}});
        let key = client.good("POST", "/_security/api_key", &json::to_string(&key)).await;
        told.all();
        client.authorize(Some(&format!("ApiKey {}", text(&key, "encoded"))));
        let answer = client.call_with("GET", "/", &[("es-security-runas-user", "ann")], b"").await;
        assert_eq!(answer.status, 403);
        let (line, _) = only(&told);
        assert_eq!(["user", "run_by"].map(|key| text(&line, key)), ["ann", "elastic"]);
    });
}

/// What a page refused because of a field was told as `answered 400`.
#[test]
fn a_field_that_is_refused_is_named() {
    with_audited(|mut client, told| async move {
        people(&mut client).await;
        let mut ann = Browser::default();
        ann.sign_in(&mut client, "ann", "/login").await;
        let good = [
            ("application_type", "web"),
            ("client_name", "App"),
            ("redirect_uris", "https://a.example/cb"),
            ("confidential", "confidential"),
        ];
        let page = ann.ask(&mut client, "/apps/new", &[]).await;
        for (field, value, reason) in [
            ("redirect_uris", "nowhere", "[redirect_uris] line 1: "),
            ("client_name", "a\u{fffc}", "[client_name] no control"),
            ("scope", "core_at_secret", "[scope] a scope is malformed"),
        ] {
            let mut form = fields(&page, "/apps/new");
            form.extend(good.map(|(name, value)| (name.to_owned(), value.to_owned())));
            form.retain(|(name, _)| name != field);
            form.push((field.into(), value.into()));
            told.all();
            assert_eq!(ann.post(&mut client, "/apps/new", &form).await.status, 400, "{field}");
            let (line, short) = only(&told);
            assert_eq!(short[0], "client_registered");
            assert!(text(&line, "reason").starts_with(reason), "{line:?}");
            assert!(!json::to_string(&line).contains("secret"), "{line:?}");
        }
        let mut form = fields(&page, "/apps/new");
        form.extend(good.map(|(name, value)| (name.to_owned(), value.to_owned())));
        let app = crate::browser::location(&ann.post(&mut client, "/apps/new", &form).await);
        let mut form = fields(&ann.ask(&mut client, &app, &[]).await, &app);
        form.extend(good.map(|(name, value)| (name.to_owned(), value.to_owned())));
        form.retain(|(name, _)| name != "application_type");
        form.push(("application_type".into(), "tv".into()));
        told.all();
        assert_eq!(ann.post(&mut client, &app, &form).await.status, 400);
        let (line, short) = only(&told);
        assert_eq!(short[0], "client_changed");
        assert_eq!(text(&line, "reason"), "[application_type] choose one of the four kinds");
        let security = "/account/security";
        let mut form = fields(&ann.ask(&mut client, security, &[]).await, security);
        for (name, value) in [("new_password", "one-secret"), ("new_password_again", "other")] {
            form.push((name.into(), value.into()));
        }
        assert_eq!(ann.post(&mut client, security, &form).await.status, 400);
        let (line, short) = only(&told);
        assert_eq!(short[0], "password_changed");
        assert_eq!(text(&line, "reason"), "The two new passwords differ.");
    });
}

/// Whose password was guessed at the store was not told.
#[test]
fn who_is_not_let_in_is_named_as_far_as_it_is_a_name() {
    with_audited(|mut client, told| async move {
        people(&mut client).await;
        let long = "a-user-with-a-very-long-name";
        let body = r#"{"password":"nobody-knows-this","roles":[]}"#;
        client.good("PUT", &format!("/_security/user/{long}"), body).await;
        let body = r#"{"name":"k"}"#;
        let key = client.good("POST", "/_security/api_key", body).await;
        told.all();
        for (name, user) in [
            ("ann", "ann"),
            ("root", "root"),
            (long, long),
            // Secrets in the place of a name.
            (text(&key, "api_key"), ""),
            (text(&key, "encoded"), ""),
            ("core_at_0123456789012345678901234567890123456789012", ""),
        ] {
            for (path, calls) in [("/_search", "store"), ("/_oauth/client", "administration")] {
                client.authorize(Some(&basic(name, "wrong")));
                assert_eq!(client.call("GET", path, "").await.status, 401);
                let (line, short) = only(&told);
                assert_eq!([&*short[0], &*short[2]], ["login_failed", user], "{calls}: {line:?}");
            }
            let answer = client.call_with("POST", "/introspect", &FORM, b"token=x").await;
            assert_eq!(answer.status, 401);
            let (line, short) = only(&told);
            assert_eq!([&*short[0], &*short[2]], ["login_failed", user], "{line:?}");
        }
        for attempt in 0..12 {
            client.authorize(Some(&basic("adm", "wrong")));
            let status = client.call("GET", "/_search", "").await.status;
            let event = if status == 429 { "login_throttled" } else { "login_failed" };
            assert_eq!(status == 429, attempt >= 10);
            let (line, short) = only(&told);
            assert_eq!([&*short[0], &*short[2]], [event, "adm"], "{line:?}");
        }
    });
}

/// A device that asks again and again until its person has decided is refused nothing.
#[test]
fn who_waits_is_not_refused() {
    with_oauth_set(&[], |mut client, told| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        let body = r#"{"client_name":"TV","application_type":"native","scope":"self",
            "grant_types":["urn:ietf:params:oauth:grant-type:device_code"]}"#;
        let made = client.good("POST", "/_oauth/client", body).await;
        let own = format!(
            "client_id={}&client_secret={}",
            text(&made, "client_id"),
            text(&made, "client_secret")
        );
        client.authorize(None);
        let begun = client.call_with("POST", "/device_authorization", &FORM, own.as_bytes()).await;
        let code = at(&value(&begun), &["device_code"]).as_str().expect("a code").to_owned();
        told.all();
        let kind = "urn:ietf:params:oauth:grant-type:device_code";
        let body = format!("{own}&grant_type={kind}&device_code={code}");
        for error in ["authorization_pending", "slow_down"] {
            let answer = client.call_with("POST", "/token", &FORM, body.as_bytes()).await;
            assert_eq!(text(&value(&answer), "error"), error);
        }
        assert!(told.all().is_empty());
    });
}
