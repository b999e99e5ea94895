//! A client may have less than it had when it asked: what it asked for then is worth no more than that.

use http::client::Response;
use json::{Value, json};

use crate::browser::{Browser, basic, escaped, fields, location};
use crate::consented::CALLBACK;
use crate::place::{Client, at, value, with_oauth};

const FORM: [(&str, &str); 1] = [("Content-Type", "application/x-www-form-urlencoded")];

const DEVICE: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// A client of `dev`, who has signed in, with these scopes, also by default; and the owner `ann`, who has everything
/// there.
struct Stage {
    dev: Browser,
    app: String,
    id: String,
    secret: String,
}

impl Stage {
    async fn new(client: &mut Client, scope: &str) -> Self {
        client.authorize(Some(&basic("elastic", "secret")));
        let role = r#"{"indices":[{"names":["a-*","b-*"],"privileges":["all"]}]}"#;
        client.good("PUT", "/_security/role/has", role).await;
        for (name, role) in [("ann", "has"), ("dev", "viewer")] {
            let body = json!({"password": (format!("{name}-knows-this")), "roles": [role]});
            client.good("PUT", &format!("/_security/user/{name}"), &json::to_string(&body)).await;
        }
        let body = json!({"client_name": "App", "owner": "dev", "redirect_uris": [CALLBACK],
            "scope": scope, "default_scope": scope,
            "authorization_details_types": ["index_access"],
            "grant_types": ["authorization_code", "refresh_token", DEVICE]});
        let made = client.good("POST", "/_oauth/client", &json::to_string(&body)).await;
        let text = |key: &str| at(&made, &[key]).as_str().expect("a text").to_owned();
        let mut dev = Browser::default();
        dev.sign_in(client, "dev", "/login").await;
        let app = format!("/apps/{}", text("reference"));
        Self { dev, app, id: text("client_id"), secret: text("client_secret") }
    }

    /// Its owner changes it.
    async fn change(&mut self, client: &mut Client, more: &[(&str, &str)]) {
        let page = self.dev.ask(client, &self.app, &[]).await;
        let mut form = fields(&page, &self.app);
        let base =
            [("application_type", "web"), ("client_name", "App"), ("redirect_uris", CALLBACK)];
        for (name, value) in base.iter().chain(more).chain(&[("action", "submit")]) {
            form.push(((*name).into(), (*value).into()));
        }
        let answer = self.dev.post(client, &self.app, &form).await;
        assert_eq!(answer.status, 303, "{}", answer.text());
    }

    /// Its ceiling is another, and approved.
    async fn narrow(&mut self, client: &mut Client, scope: &str) {
        self.change(client, &[("confidential", "confidential"), ("scope", scope)]).await;
        client.authorize(Some(&basic("elastic", "secret")));
        client.good("POST", &format!("/_oauth/client/{}/_approve", self.id), "").await;
    }

    /// The page that asks its owner, in a browser of its own.
    async fn page(&self, client: &mut Client, more: &str) -> (Browser, String, Response) {
        let mut browser = Browser::default();
        let target = format!("/authorize?response_type=code&client_id={}{more}", self.id);
        let (request, page) = browser.consent_to(client, "ann", &target).await;
        (browser, request, page)
    }

    /// What is answered to a form of the client.
    async fn post(&self, client: &mut Client, target: &str, more: &str) -> (u16, Value) {
        client.authorize(None);
        let body = format!("client_id={}&client_secret={}{more}", self.id, self.secret);
        let answer = client.call_with("POST", target, &FORM, body.as_bytes()).await;
        (answer.status, value(&answer))
    }
}

/// Allows these scopes on a page; answers to what that led.
async fn allow(
    browser: &mut Browser,
    client: &mut Client,
    (page, action): (&Response, &str),
    scopes: &[&str],
) -> Response {
    let mut form = fields(page, action);
    form.extend(scopes.iter().map(|scope| ("scope".to_owned(), (*scope).to_owned())));
    form.push(("decision".into(), "allow".into()));
    browser.post(client, action, &form).await
}

/// The page that follows where the code of a device is typed.
async fn device_page(
    browser: &mut Browser,
    client: &mut Client,
    device: &(u16, Value),
) -> Response {
    let page = browser.ask(client, "/device", &[]).await;
    let mut form = fields(&page, "/device");
    form.push(("user_code".into(), word(device, "user_code")));
    browser.post(client, "/device", &form).await
}

fn code_in(answer: &Response) -> String {
    let led = location(answer);
    let code = led.split_once("code=").expect("a code").1;
    code.split('&').next().unwrap_or_default().to_owned()
}

fn word(told: &(u16, Value), name: &str) -> String {
    told.1.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// The scopes that a page offers.
fn offered(page: &Response) -> Vec<String> {
    let text = page.text();
    let boxes = text.split("<input").filter(|it| it.contains("name=\"scope\""));
    let values = boxes.filter_map(|it| it.split_once("value=\"")?.1.split('"').next());
    values.map(str::to_owned).collect()
}

/// What a client with a secret was granted was renewed for whoever has the refresh token, once it was a public one.
#[test]
fn what_was_granted_to_who_has_a_secret_ends_with_it() {
    with_oauth(|mut client| async move {
        let scope = "index:a-*:read";
        let mut stage = Stage::new(&mut client, scope).await;
        let mut granted = Vec::new();
        for _ in 0..2 {
            let (mut browser, _, page) = stage.page(&mut client, "").await;
            let led = allow(&mut browser, &mut client, (&page, "/consent"), &[scope]).await;
            let body = format!("&grant_type=authorization_code&code={}", code_in(&led));
            let told = stage.post(&mut client, "/token", &body).await;
            granted.push((word(&told, "access_token"), word(&told, "refresh_token")));
            // Another name changes nothing of it.
            stage.change(&mut client, &[("confidential", "confidential"), ("scope", scope)]).await;
        }
        let body = format!("&grant_type=refresh_token&refresh_token={}", granted[0].1);
        assert_eq!(stage.post(&mut client, "/token", &body).await.0, 200);
        let device = stage.post(&mut client, "/device_authorization", "").await;
        let mut browser = Browser::default();
        browser.sign_in(&mut client, "ann", "/login").await;
        let page = device_page(&mut browser, &mut client, &device).await;
        allow(&mut browser, &mut client, (&page, "/device"), &[scope]).await;

        stage.change(&mut client, &[("confidential", "public"), ("scope", scope)]).await;
        client.authorize(Some(&basic("elastic", "secret")));
        client.good("POST", &format!("/_oauth/client/{}/_approve", stage.id), "").await;
        let (access, refresh) = &granted[1];
        client.authorize(None);
        let body =
            format!("grant_type=refresh_token&refresh_token={refresh}&client_id={}", stage.id);
        let told = client.call_with("POST", "/token", &FORM, body.as_bytes()).await;
        assert_eq!(told.status, 400, "{}", told.text());
        assert_eq!(at(&value(&told), &["error"]).as_str(), Some("invalid_grant"));
        let code = word(&device, "device_code");
        let body = format!("grant_type={DEVICE}&device_code={code}&client_id={}", stage.id);
        let told = client.call_with("POST", "/token", &FORM, body.as_bytes()).await;
        assert_eq!(at(&value(&told), &["error"]).as_str(), Some("invalid_grant"));
        client.authorize(Some(&format!("Bearer {access}")));
        assert_eq!(client.call("GET", "/_security/_authenticate", "").await.status, 401);
    });
}

/// A client that had asked without PKCE, and had to use it or was a public one by then, got tokens without.
#[test]
fn a_code_without_a_challenge_is_worth_nothing_to_who_needs_one() {
    let scope = "index:a-*:read";
    for becomes in [
        &[("confidential", "confidential"), ("require_pkce", "true")][..],
        &[("confidential", "public")],
    ] {
        with_oauth(|mut client| async move {
            let mut stage = Stage::new(&mut client, scope).await;
            let (mut browser, _, page) = stage.page(&mut client, "").await;
            let code =
                code_in(&allow(&mut browser, &mut client, (&page, "/consent"), &[scope]).await);
            let (mut waiting, request, page) = stage.page(&mut client, "").await;
            stage.change(&mut client, &[becomes, &[("scope", scope)]].concat()).await;
            let is_public = becomes.len() == 1;
            if is_public {
                client.authorize(Some(&basic("elastic", "secret")));
                let approve = format!("/_oauth/client/{}/_approve", stage.id);
                client.good("POST", &approve, "").await;
            }
            let body = format!(
                "grant_type=authorization_code&code={code}&client_id={}{}",
                stage.id,
                if is_public { String::new() } else { format!("&client_secret={}", stage.secret) }
            );
            client.authorize(None);
            let told = client.call_with("POST", "/token", &FORM, body.as_bytes()).await;
            assert_eq!(told.status, 400, "{}", told.text());
            assert_eq!(at(&value(&told), &["error"]).as_str(), Some("invalid_grant"));
            let late = allow(&mut waiting, &mut client, (&page, "/consent"), &[scope]).await;
            assert_eq!(late.status, 409, "{}", late.text());
            let target = format!("/consent?request={request}");
            assert_eq!(waiting.ask(&mut client, &target, &[]).await.status, 400);
        });
    }
}

/// What was asked for by default, had been granted, or waited at a device was given though the client might not have
/// it any more: tokens for nothing.
#[test]
fn what_lies_beyond_the_ceiling_is_as_if_it_had_not_been_granted() {
    with_oauth(|mut client| async move {
        let (reads, writes, one) = ("index:a-*:read", "index:a-*:write", "index:a-1:read");
        let mut stage = Stage::new(&mut client, &format!("{reads} {writes}")).await;
        let (mut browser, _, page) = stage.page(&mut client, "").await;
        let both = [reads, writes];
        let allowed = allow(&mut browser, &mut client, (&page, "/consent"), &both).await;
        let exchange = |code: &str| format!("&grant_type=authorization_code&code={code}");
        let told = stage.post(&mut client, "/token", &exchange(&code_in(&allowed))).await;
        let mut refresh = word(&told, "refresh_token");
        let (mut browser, _, page) = stage.page(&mut client, "").await;
        let allowed = allow(&mut browser, &mut client, (&page, "/consent"), &both).await;
        let on_its_way = code_in(&allowed);
        let device = stage.post(&mut client, "/device_authorization", "").await;
        stage.change(&mut client, &[("confidential", "confidential"), ("scope", one)]).await;

        let told = stage.post(&mut client, "/token", &exchange(&on_its_way)).await;
        assert_eq!(word(&told, "scope"), one, "{told:?}");
        for (scope, status, answered) in [("", 200, one), (writes, 400, ""), (one, 200, one)] {
            let scope =
                if scope.is_empty() { String::new() } else { format!("&scope={}", escaped(scope)) };
            let body = format!("&grant_type=refresh_token&refresh_token={refresh}{scope}");
            let told = stage.post(&mut client, "/token", &body).await;
            assert_eq!((told.0, &*word(&told, "scope")), (status, answered), "{scope}: {told:?}");
            match status {
                200 => refresh = word(&told, "refresh_token"),
                _ => assert_eq!(word(&told, "error"), "invalid_scope"),
            }
        }
        let (_, _, page) = stage.page(&mut client, "").await;
        assert_eq!(offered(&page), [one]);
        let pushed = stage.post(&mut client, "/par", "&response_type=code").await;
        assert_eq!(pushed.0, 201, "{pushed:?}");

        let mut browser = Browser::default();
        browser.sign_in(&mut client, "ann", "/login").await;
        let page = device_page(&mut browser, &mut client, &device).await;
        assert_eq!(offered(&page), [one]);
        allow(&mut browser, &mut client, (&page, "/device"), &[one, writes]).await;
        let body = format!("&grant_type={DEVICE}&device_code={}", word(&device, "device_code"));
        let told = stage.post(&mut client, "/token", &body).await;
        assert_eq!((told.0, &*word(&told, "scope")), (200, one), "{told:?}");

        // Nothing of it is left.
        let device = stage.post(&mut client, "/device_authorization", "").await;
        stage.narrow(&mut client, "index:b-1:read").await;
        let target = format!("/authorize?response_type=code&client_id={}", stage.id);
        let led = location(&Browser::default().ask(&mut client, &target, &[]).await);
        assert!(led.starts_with(CALLBACK) && led.contains("error=invalid_scope"), "{led}");
        for (target, more) in [
            ("/par", "&response_type=code".to_owned()),
            ("/device_authorization", String::new()),
            ("/token", format!("&grant_type=refresh_token&refresh_token={refresh}")),
        ] {
            let told = stage.post(&mut client, target, &more).await;
            assert_eq!((told.0, &*word(&told, "error")), (400, "invalid_scope"), "{target}");
        }
        let page = device_page(&mut browser, &mut client, &device).await;
        assert_eq!(page.status, 400, "{}", page.text());
    });
}

/// A code, and a device that was allowed, were worth a token with all that had been granted, though its client might
/// have nothing of it any more; introspection told other servers of it.
#[test]
fn what_lies_wholly_beyond_the_ceiling_is_worth_no_token() {
    with_oauth(|mut client| async move {
        let (reads, elsewhere) = ("index:a-*:read", "index:b-1:read");
        let mut stage = Stage::new(&mut client, &format!("{reads} offline_access")).await;
        let both = [reads, "offline_access"];
        let exchange = |code: &str| format!("&grant_type=authorization_code&code={code}");
        let entry = |index: &str| json!({"type": "index_access", "indices": [(index)], "actions": ["read"]});
        let entries = escaped(&json::to_string(&json!([(entry("a-1")), (entry("a-2"))])));
        let with_entries = format!("&authorization_details={entries}");
        let mut codes = Vec::new();
        let mut tokens = Vec::new();
        for more in ["", &with_entries] {
            for list in [&mut codes, &mut tokens] {
                let (mut browser, _, page) = stage.page(&mut client, more).await;
                let mut form = fields(&page, "/consent");
                form.extend(both.iter().map(|one| ("scope".to_owned(), (*one).to_owned())));
                form.extend(["0", "1"].map(|at| ("detail".to_owned(), at.to_owned())));
                form.push(("decision".into(), "allow".into()));
                list.push(code_in(&browser.post(&mut client, "/consent", &form).await));
            }
        }
        for code in &mut tokens {
            let told = stage.post(&mut client, "/token", &exchange(code)).await;
            *code = word(&told, "access_token");
        }
        let device = stage.post(&mut client, "/device_authorization", "").await;
        let mut browser = Browser::default();
        browser.sign_in(&mut client, "ann", "/login").await;
        let page = device_page(&mut browser, &mut client, &device).await;
        allow(&mut browser, &mut client, (&page, "/device"), &both).await;

        // One of the two entries is left, and nothing of the scopes.
        stage.narrow(&mut client, "index:a-2:read").await;
        let seen = async |client: &mut Client, stage: &Stage, token: &str| {
            let told = stage.post(client, "/introspect", &format!("&token={token}")).await;
            let entries = told.1.get("authorization_details").map(json::to_string);
            (told.1.get("active").and_then(Value::as_bool), word(&told, "scope"), entries)
        };
        let second = r#"[{"type":"index_access","indices":["a-2"],"actions":["read"]}]"#;
        let told = seen(&mut client, &stage, &tokens[1]).await;
        assert_eq!(told, (Some(true), String::new(), Some(second.to_owned())));

        // Their owner and the administrator are told the same.
        let nothing = "nothing at the moment: it may not have any more what you allowed";
        let shown = async |client: &mut Client, browser: &mut Browser| {
            let page = browser.ask(client, "/account/apps", &[]).await.text();
            client.authorize(Some(&basic("elastic", "secret")));
            let told = client.good("GET", "/_oauth/grant?username=ann", "").await;
            let told = at(&told, &["grants"]).as_array().expect("a list");
            let told = told.iter().map(|grant| {
                let entries = json::to_string(at(grant, &["authorization_details"]));
                (at(grant, &["scope"]).as_str().expect("a text").to_owned(), entries)
            });
            let mut told: Vec<_> = told.collect();
            told.sort();
            (page.matches(nothing).count(), told)
        };
        let none = (String::new(), "[]".to_owned());
        let told = shown(&mut client, &mut browser).await;
        let scopes = ("index:a-2:read offline_access".to_owned(), "[]".to_owned());
        assert_eq!(told, (0, vec![(String::new(), second.to_owned()), scopes]));

        stage.narrow(&mut client, elsewhere).await;
        for token in &tokens {
            let told = seen(&mut client, &stage, token).await;
            assert_eq!(told, (Some(true), String::new(), None));
        }
        assert_eq!(shown(&mut client, &mut browser).await, (2, vec![none.clone(), none]));
        let polled = format!("&grant_type={DEVICE}&device_code={}", word(&device, "device_code"));
        for more in [exchange(&codes[0]), exchange(&codes[1]), polled.clone()] {
            let told = stage.post(&mut client, "/token", &more).await;
            assert_eq!((told.0, &*word(&told, "error")), (400, "invalid_grant"), "{more}");
        }

        // None of them was spent by that.
        stage.narrow(&mut client, reads).await;
        for more in [exchange(&codes[0]), polled] {
            let told = stage.post(&mut client, "/token", &more).await;
            assert_eq!((told.0, &*word(&told, "scope")), (200, &*both.join(" ")), "{more}");
        }
        stage.narrow(&mut client, "index:a-2:read").await;
        let told = stage.post(&mut client, "/token", &exchange(&codes[1])).await;
        let entries = told.1.get("authorization_details").map(json::to_string);
        assert_eq!((told.0, entries.as_deref()), (200, Some(second)), "{told:?}");
    });
}

/// The right to keep for longer what nothing was left of was worth a token; entries were told whole of which a part was
/// left; and a page that was open meanwhile said that the request had taken too long.
#[test]
fn time_alone_is_nothing_and_of_entries_what_is_left_is_told() {
    with_oauth(|mut client| async move {
        let ceiling = "index:a-*:all index:b-*:all";
        let mut stage = Stage::new(&mut client, ceiling).await;
        let entry = |indices: Value, actions: Value| json!([{"type": "index_access", "indices": indices, "actions": actions}]);
        let asked = entry(json!(["a-1", "b-1"]), json!(["read", "write"]));
        let more = format!(
            "&scope=offline_access&authorization_details={}",
            escaped(&json::to_string(&asked))
        );
        let exchange = |code: &str| format!("&grant_type=authorization_code&code={code}");
        let mut codes = Vec::new();
        for ticked in [true, true, false] {
            let (mut browser, _, page) = stage.page(&mut client, &more).await;
            let mut form = fields(&page, "/consent");
            form.push(("scope".to_owned(), "offline_access".to_owned()));
            if ticked {
                form.push(("detail".to_owned(), "0".to_owned()));
            }
            form.push(("decision".into(), "allow".into()));
            let led = browser.post(&mut client, "/consent", &form).await;
            match ticked {
                true => codes.push(code_in(&led)),
                false => assert!(location(&led).contains("error=access_denied")),
            }
        }
        let (mut waiting, request, page) = stage.page(&mut client, &more).await;
        let scope = format!("&scope={}", escaped("index:b-1:read offline_access"));
        let device = stage.post(&mut client, "/device_authorization", &scope).await;

        stage.narrow(&mut client, "index:a-1:read").await;
        let told = stage.post(&mut client, "/token", &exchange(&codes[0])).await;
        let left = entry(json!(["a-1"]), json!(["read"]));
        assert_eq!((told.0, &*word(&told, "scope")), (200, "offline_access"), "{told:?}");
        assert_eq!(told.1.get("authorization_details"), Some(&left));
        let refresh = word(&told, "refresh_token");
        let seen = format!("&token={}", word(&told, "access_token"));
        let seen = stage.post(&mut client, "/introspect", &seen).await;
        assert_eq!(seen.1.get("authorization_details"), Some(&left));
        client.authorize(Some(&format!("Bearer {}", word(&told, "access_token"))));
        let own = client.good("GET", "/_security/_authenticate", "").await;
        assert_eq!(at(&own, &["oauth", "scope"]).as_str(), Some("offline_access"));
        let late = allow(&mut waiting, &mut client, (&page, "/consent"), &[]).await;
        assert_eq!(late.status, 409, "{}", late.text());
        assert!(late.text().contains("may not ask for all of this"), "{}", late.text());
        let target = format!("/consent?request={request}");
        assert_eq!(waiting.ask(&mut client, &target, &[]).await.status, 400);

        let mut browser = Browser::default();
        browser.sign_in(&mut client, "ann", "/login").await;
        let page = device_page(&mut browser, &mut client, &device).await;
        assert_eq!(page.status, 400, "{}", page.text());

        stage.narrow(&mut client, "index:zzz:read").await;
        let told = stage.post(&mut client, "/token", &exchange(&codes[1])).await;
        assert_eq!((told.0, &*word(&told, "error")), (400, "invalid_grant"), "{told:?}");
        let body = format!("&grant_type=refresh_token&refresh_token={refresh}");
        let told = stage.post(&mut client, "/token", &body).await;
        assert_eq!((told.0, &*word(&told, "error")), (400, "invalid_scope"), "{told:?}");
    });
}
