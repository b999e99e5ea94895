//! Devices without a keyboard: their code on the way through the sign-in, and what they may ask.

use http::client::Response;
use json::json;

use crate::browser::{Browser, basic, fields, location, words};
use crate::place::{Client, ISSUER, at, value, with_audited, with_oauth};

const FORM: [(&str, &str); 1] = [("Content-Type", "application/x-www-form-urlencoded")];

/// A device's client, and the owner `ann`; answers what identifies the client in a form.
async fn stage(client: &mut Client) -> String {
    client.authorize(Some(&basic("elastic", "secret")));
    let role = r#"{"indices":[{"names":["a-*"],"privileges":["read"]}]}"#;
    client.good("PUT", "/_security/role/reader", role).await;
    let user = r#"{"password":"ann-knows-this","roles":["reader"]}"#;
    client.good("PUT", "/_security/user/ann", user).await;
    let device = r#"{"client_name":"TV","application_type":"native","scope":"index:a-*:read index:b-*:read",
        "grant_types":["urn:ietf:params:oauth:grant-type:device_code"]}"#;
    let made = client.good("POST", "/_oauth/client", device).await;
    client.authorize(None);
    let text = |key: &str| at(&made, &[key]).as_str().expect("a text").to_owned();
    format!("client_id={}&client_secret={}", text("client_id"), text("client_secret"))
}

async fn begin(client: &mut Client, who: &str, more: &str) -> json::Value {
    let body = format!("{who}{more}");
    client.authorize(None);
    value(&client.call_with("POST", "/device_authorization", &FORM, body.as_bytes()).await)
}

/// Presses a button of the page that asks.
async fn decide(
    browser: &mut Browser,
    client: &mut Client,
    page: &Response,
    (scope, decision): (&str, &str),
) -> Response {
    let mut form = fields(page, "/device");
    for (name, value) in [("scope", scope), ("decision", decision)] {
        form.push((name.into(), value.into()));
    }
    browser.post(client, "/device", &form).await
}

/// Whoever scanned the device's picture and was not signed in had to type the code all the same.
#[test]
fn the_code_of_a_device_survives_the_sign_in() {
    with_oauth(|mut client| async move {
        let who = stage(&mut client).await;
        let begun = begin(&mut client, &who, "&scope=index:a-*:read").await;
        let text = |key: &str| at(&begun, &[key]).as_str().expect("a text").to_owned();
        let complete = text("verification_uri_complete");
        let target = complete.strip_prefix(ISSUER).expect("an address here").to_owned();
        let mut browser = Browser::default();
        let led = location(&browser.ask(&mut client, &target, &[]).await);
        assert_eq!(led, format!("/login?user_code={}", text("user_code")));
        // Also where the first password is wrong.
        let wrong = browser.sign_in(&mut client, "nobody", &led).await;
        assert_eq!(wrong.status, 400);
        assert!(wrong.text().contains(&format!("value=\"{}\"", text("user_code"))));
        let led = browser.sign_in(&mut client, "ann", &led).await;
        assert_eq!(location(&led), target);
        let page = browser.ask(&mut client, &target, &[]).await.text();
        assert!(page.contains(&format!("value=\"{}\"", text("user_code"))), "{page}");
        // Nothing else travels that way.
        for target in ["/device", "/device?user_code=%22%3E", "/device?user_code=//x.example"] {
            let led = location(&Browser::default().ask(&mut client, target, &[]).await);
            assert_eq!(led, "/login", "{target}");
        }
        let mut other = Browser::default();
        let led = other.sign_in(&mut client, "ann", "/login?user_code=//x.example").await;
        assert_eq!(location(&led), "/account/apps");
    });
}

/// A resource that is not this store was refused at `/authorize` and taken of a device.
#[test]
fn a_device_asks_for_this_store_alone() {
    with_oauth(|mut client| async move {
        let who = stage(&mut client).await;
        for resource in ["https://other.example", "x"] {
            let refused = begin(&mut client, &who, &format!("&resource={resource}")).await;
            assert_eq!(at(&refused, &["error"]).as_str(), Some("invalid_target"), "{resource}");
        }
        let begun = begin(&mut client, &who, &format!("&resource={ISSUER}")).await;
        let code = at(&begun, &["device_code"]).as_str().expect("a code").to_owned();
        let poll = |resource: &str| {
            format!(
                "{who}&grant_type=urn:ietf:params:oauth:grant-type:device_code&device_code={code}\
                 &resource={resource}"
            )
        };
        for (resource, expected) in
            [("https://other.example", "invalid_target"), (ISSUER, "authorization_pending")]
        {
            let body = poll(resource);
            let answer = client.call_with("POST", "/token", &FORM, body.as_bytes()).await;
            assert_eq!(at(&value(&answer), &["error"]).as_str(), Some(expected), "{resource}");
        }
    });
}

/// A refusal was noted without its reason.
#[test]
fn what_a_device_does_not_get_is_noted_with_why() {
    with_audited(|mut client, told| async move {
        let who = stage(&mut client).await;
        for (scope, decision, reason) in [
            ("index:a-*:read", "deny", "The owner refused"),
            ("index:b-*:read", "allow", "The owner holds nothing of what was asked for"),
        ] {
            let begun = begin(&mut client, &who, &format!("&scope={scope}")).await;
            let code = at(&begun, &["user_code"]).as_str().expect("a code").to_owned();
            let mut browser = Browser::default();
            browser.sign_in(&mut client, "ann", "/login").await;
            let page = browser.ask(&mut client, "/device", &[]).await;
            let mut form = fields(&page, "/device");
            form.push(("user_code".into(), code));
            let page = browser.post(&mut client, "/device", &form).await;
            let answer = decide(&mut browser, &mut client, &page, (scope, decision)).await;
            assert_eq!(answer.status, 200, "{}", answer.text());
            let lines = told.of("consent_denied");
            assert_eq!(at(&lines[0], &["reason"]).as_str(), Some(reason));
            assert_eq!(at(&lines[0], &["user"]).as_str(), Some("ann"));
        }
    });
}

/// The owner was shown one application on the device, and allowed what it had become meanwhile; and nobody had to be
/// shown it at all.
#[test]
fn an_owner_lets_in_the_device_that_the_page_showed() {
    with_oauth(|mut client| async move {
        stage(&mut client).await;
        let scope = "index:a-*:read";
        let kinds = ["urn:ietf:params:oauth:grant-type:device_code"];
        let called = |name: &str, more: &[(&str, &str)]| {
            let mut body = json!({"client_name": name, "application_type": "native",
                "token_endpoint_auth_method": "none", "grant_types": (kinds.to_vec()), "scope": scope});
            for (name, value) in more {
                body.as_object_mut().expect("an object").insert(*name, *value);
            }
            json::to_string(&body)
        };
        client.authorize(None);
        let made = client.good("POST", "/register", &called("Photos", &[])).await;
        let text = |key: &str| at(&made, &[key]).as_str().expect("a text").to_owned();
        let (id, own) = (text("client_id"), text("registration_access_token"));
        let begun = begin(&mut client, &format!("client_id={id}"), "&scope=index:a-*:read").await;
        let code = at(&begun, &["user_code"]).as_str().expect("a code").to_owned();
        let mut browser = Browser::default();
        browser.sign_in(&mut client, "ann", "/login").await;
        let first = browser.ask(&mut client, "/device", &[]).await;
        let mut form = fields(&first, "/device");
        form.push(("user_code".into(), code));
        let page = browser.post(&mut client, "/device", &form).await;
        assert!(words(&page).contains("Photos"), "{}", words(&page));
        client.authorize(Some(&format!("Bearer {own}")));
        let another = called("Your Bank", &[("client_id", &id)]);
        client.good("PUT", &format!("/register/{id}"), &another).await;
        let answer = decide(&mut browser, &mut client, &page, (scope, "allow")).await;
        assert_eq!(answer.status, 409, "{}", words(&answer));
        assert!(
            words(&answer).contains("was changed while you looked at it"),
            "{}",
            words(&answer)
        );
        // Nor without a page, or by the token of another.
        for version in [None, Some(1), Some(2)] {
            let mut blind = form.clone();
            if let Some(version) = version {
                let token = fields(&page, "/device").swap_remove(0).1;
                let (_, rest) = token.split_once('.').expect("two parts");
                blind[0].1 = format!("{}.{rest}", version + 1);
            }
            blind.extend(
                [("scope", scope), ("decision", "allow")].map(|(a, b)| (a.into(), b.into())),
            );
            let answer = browser.post(&mut client, "/device", &blind).await;
            assert_eq!(answer.status, 403, "{version:?}: {}", words(&answer));
        }
        // Loaded again, the page shows what it is now.
        let page = browser.post(&mut client, "/device", &form).await;
        assert!(words(&page).contains("Your Bank"), "{}", words(&page));
        let answer = decide(&mut browser, &mut client, &page, (scope, "allow")).await;
        assert!(words(&answer).contains("Your device is connected"), "{}", words(&answer));
    });
}

/// They were passed over in silence, and the device asked for all that its client may have by itself.
#[test]
fn a_device_asks_for_no_details() {
    with_oauth(|mut client| async move {
        let who = stage(&mut client).await;
        let details = "&authorization_details=%5B%7B%22type%22%3A%22index_access%22%7D%5D";
        let told = begin(&mut client, &who, details).await;
        assert_eq!(at(&told, &["error"]).as_str(), Some("invalid_authorization_details"));
    });
}

/// As on the page of a browser: what is unticked there is not given.
#[test]
fn a_device_keeps_access_where_its_owner_left_that_ticked() {
    let scope = "index:a-*:read";
    for keeps in [true, false] {
        with_oauth(|mut client| async move {
            stage(&mut client).await;
            client.authorize(Some(&basic("elastic", "secret")));
            let kind = "urn:ietf:params:oauth:grant-type:device_code";
            let device = json!({"client_name": "TV", "application_type": "native",
                "scope": (format!("{scope} offline_access")), "grant_types": [kind, "refresh_token"]});
            let made = client.good("POST", "/_oauth/client", &json::to_string(&device)).await;
            let text = |told: &json::Value, key: &str| {
                told.get(key).and_then(json::Value::as_str).unwrap_or_default().to_owned()
            };
            let (id, secret) = (text(&made, "client_id"), text(&made, "client_secret"));
            let who = format!("client_id={id}&client_secret={secret}");
            let begun = begin(&mut client, &who, &format!("&scope={scope}+offline_access")).await;
            let mut browser = Browser::default();
            browser.sign_in(&mut client, "ann", "/login").await;
            let page = browser.ask(&mut client, "/device", &[]).await;
            let mut form = fields(&page, "/device");
            form.push(("user_code".into(), text(&begun, "user_code")));
            let page = browser.post(&mut client, "/device", &form).await;
            let mut form = fields(&page, "/device");
            form.push(("decision".into(), "allow".into()));
            let ticked = if keeps { &[scope, "offline_access"][..] } else { &[scope] };
            form.extend(ticked.iter().map(|one| ("scope".into(), (*one).into())));
            let done = browser.post(&mut client, "/device", &form).await;
            assert_eq!(done.status, 200, "{}", words(&done));
            let body =
                format!("{who}&grant_type={kind}&device_code={}", text(&begun, "device_code"));
            client.authorize(None);
            let told = client.call_with("POST", "/token", &FORM, body.as_bytes()).await;
            assert_eq!(told.status, 200, "{}", told.text());
            assert_eq!(!text(&value(&told), "refresh_token").is_empty(), keeps);
        });
    }
}
