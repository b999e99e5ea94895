//! The account of a service that its developer registered: a reviewer names it, an administrator changes it.

use http::client::Response;

use crate::browser::{Browser, basic, fields, location, words};
use crate::decided;
use crate::place::{Client, at, value, with_oauth};

const FORM: [(&str, &str); 1] = [("Content-Type", "application/x-www-form-urlencoded")];

/// A developer, a reviewer who may act for `ann`, and the accounts `ann` and `bob`.
async fn stage(client: &mut Client) -> (Browser, Browser) {
    client.authorize(Some(&basic("elastic", "secret")));
    let acts = r#"{"cluster":["manage_oauth"],"run_as":["ann"]}"#;
    client.good("PUT", "/_security/role/acts", acts).await;
    for index in ["a-1", "b-1"] {
        client.good("PUT", &format!("/{index}/_doc/1?refresh=true"), r#"{"n":1}"#).await;
    }
    for (name, pattern) in [("ann", "a-*"), ("bob", "b-*")] {
        let role = format!(r#"{{"indices":[{{"names":["{pattern}"],"privileges":["read"]}}]}}"#);
        client.good("PUT", &format!("/_security/role/{name}"), &role).await;
    }
    for name in ["ann", "bob"] {
        let body = format!(r#"{{"password":"{name}-knows-this","roles":["{name}"]}}"#);
        client.good("PUT", &format!("/_security/user/{name}"), &body).await;
    }
    decided::stage_with(client, "acts").await
}

/// Sends a service for review; answers its reference.
async fn send(dev: &mut Browser, client: &mut Client, name: &str, scope: &str) -> String {
    let page = dev.ask(client, "/apps/new", &[]).await;
    let mut form = fields(&page, "/apps/new");
    for (name, value) in [
        ("application_type", "service"),
        ("client_name", name),
        ("scope", scope),
        ("confidential", "confidential"),
        ("require_pkce", "true"),
    ] {
        form.push((name.into(), value.into()));
    }
    let answer = dev.post(client, "/apps/new", &form).await;
    assert_eq!(answer.status, 303, "{}", answer.text());
    location(&answer).rsplit('/').next().expect("a reference").to_owned()
}

/// What identifies an approved service in a form: its id, and its secret as its developer sees it.
async fn identity(dev: &mut Browser, client: &mut Client, reference: &str) -> String {
    let app = format!("/apps/{reference}");
    let page = dev.ask(client, &app, &[]).await;
    let mut form = fields(&page, &app);
    form.push(("action".into(), "show_secret".into()));
    let page = dev.post(client, &app, &form).await.text();
    let code = |class: &str| {
        let after = page.split_once(&format!("<code class=\"{class}\">"));
        after
            .unwrap_or_else(|| panic!("no {class}: {page}"))
            .1
            .split('<')
            .next()
            .unwrap_or_default()
    };
    format!("client_id={}&client_secret={}", code("client_id"), code("client_secret"))
}

async fn token(client: &mut Client, who: &str, scope: &str) -> Response {
    let body = format!("grant_type=client_credentials&{who}&scope={scope}");
    client.authorize(None);
    client.call_with("POST", "/token", &FORM, body.as_bytes()).await
}

async fn counts(client: &mut Client, token: &str, index: &str) -> u16 {
    client.authorize(Some(&format!("Bearer {token}")));
    client.call("GET", &format!("/{index}/_count"), "").await.status
}

fn access(answer: &Response) -> String {
    assert_eq!(answer.status, 200, "{}", answer.text());
    at(&value(answer), &["access_token"]).as_str().expect("a token").to_owned()
}

async fn decide(rev: &mut Browser, client: &mut Client, more: &[(&str, &str)]) -> Response {
    let page = rev.ask(client, "/admin/apps", &[]).await;
    let mut form = fields(&page, "/admin/apps");
    form.extend(more.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())));
    rev.post(client, "/admin/apps", &form).await
}

/// A service that came by the form was approved, got its secret, and could never act for anybody.
#[test]
fn a_reviewer_names_the_account_of_a_service() {
    with_oauth(|mut client| async move {
        let (mut dev, mut rev) = stage(&mut client).await;
        let reference = send(&mut dev, &mut client, "One", "index:a-*:read").await;
        for (account, status, told) in [
            (None, 400, "name the account that it acts for"),
            (Some(" "), 400, "name the account that it acts for"),
            (Some("nobody"), 400, "There is no user of this name"),
            (Some("bob"), 403, "not yours to approve"),
        ] {
            let mut more =
                vec![("decision", "approve"), ("note", "Noted here"), ("require_pkce", "false")];
            more.extend(account.map(|account| ("service_account", account)));
            let answer = decide(&mut rev, &mut client, &more).await;
            assert_eq!(answer.status, status, "{account:?}: {}", words(&answer));
            assert!(words(&answer).contains(told), "{account:?}: {}", words(&answer));
            if status == 400 {
                let page = answer.text();
                assert!(page.contains("Noted here"), "what was typed is not lost: {page}");
                assert!(page.contains("aria-invalid=\"true\""), "{page}");
                assert!(page.contains("value=\"false\" selected"), "nor what was chosen: {page}");
            }
        }
        let more = [("decision", "approve"), ("service_account", "ann")];
        let answer = decide(&mut rev, &mut client, &more).await;
        assert_eq!(answer.status, 303, "{}", words(&answer));
        let who = identity(&mut dev, &mut client, &reference).await;
        let answer = token(&mut client, &who, "index:a-*:read").await;
        assert_eq!(counts(&mut client, &access(&answer), "a-1").await, 200);
        // What it is turned down for needs no account.
        send(&mut dev, &mut client, "Two", "index:a-*:read").await;
        let answer = decide(&mut rev, &mut client, &[("decision", "reject")]).await;
        assert_eq!(answer.status, 303, "{}", words(&answer));
    });
}

/// The same by a call, and what no call could change afterwards.
#[test]
fn an_administrator_names_and_changes_the_account_of_a_service() {
    with_oauth(|mut client| async move {
        let (mut dev, _) = stage(&mut client).await;
        let scope = "index:a-*:read index:b-*:read self";
        let reference = send(&mut dev, &mut client, "One", "self").await;
        let one = format!("/_oauth/client/{reference}");
        client.authorize(Some(&basic("elastic", "secret")));
        let approve = format!("{one}/_approve");
        for (body, expected) in [
            ("", "400 illegal_argument_exception: [service_account] is needed: "),
            ("{}", "400 illegal_argument_exception: [service_account] is needed: "),
            (
                r#"{"service_account":"nobody"}"#,
                "400 illegal_argument_exception: [service_account] names a user that does not exist",
            ),
            (
                r#"{"service_account":7}"#,
                "400 illegal_argument_exception: [service_account] must be a text",
            ),
            (r#"{"account":"ann"}"#, "400 illegal_argument_exception: [account] is not known"),
            ("[]", "400 "),
        ] {
            let refused = client.bad("POST", &approve, body).await;
            assert!(refused.starts_with(expected), "{body}: {refused}");
        }
        client.authorize(Some(&basic("rev", "rev-knows-this")));
        let refused = client.bad("POST", &approve, r#"{"service_account":"bob"}"#).await;
        assert!(refused.starts_with("403 security_exception"), "{refused}");
        client.good("POST", &approve, r#"{"service_account":"ann"}"#).await;
        let who = identity(&mut dev, &mut client, &reference).await;
        let first = access(&token(&mut client, &who, "self").await);
        client.authorize(Some(&format!("Bearer {first}")));
        let known = client.good("GET", "/_security/_authenticate", "").await;
        assert_eq!(at(&known, &["username"]).as_str(), Some("ann"));

        let change = format!("{one}/_service_account");
        client.authorize(Some(&basic("rev", "rev-knows-this")));
        let refused = client.bad("POST", &change, r#"{"service_account":"bob"}"#).await;
        assert!(refused.starts_with("403 security_exception"), "{refused}");
        client.authorize(Some(&basic("elastic", "secret")));
        for body in ["", "{}", r#"{"service_account":"nobody"}"#, r#"{"service_account":null}"#] {
            let refused = client.bad("POST", &change, body).await;
            assert!(refused.starts_with("400 "), "{body}: {refused}");
        }
        let refused = client
            .bad("POST", &format!("{change}?version=77"), r#"{"service_account":"bob"}"#)
            .await;
        assert!(refused.starts_with("409 version_conflict"), "{refused}");
        let done = client.good("POST", &change, r#"{"service_account":"bob"}"#).await;
        assert_eq!(at(&done, &["service_account"]).as_str(), Some("bob"));
        // What it got as the other is over at once.
        client.authorize(Some(&format!("Bearer {first}")));
        assert_eq!(client.call("GET", "/_security/_authenticate", "").await.status, 401);
        let second = access(&token(&mut client, &who, "self").await);
        client.authorize(Some(&format!("Bearer {second}")));
        let known = client.good("GET", "/_security/_authenticate", "").await;
        assert_eq!(at(&known, &["username"]).as_str(), Some("bob"));
        // Once more changes nothing.
        client.authorize(Some(&basic("elastic", "secret")));
        client.good("POST", &change, r#"{"service_account":"bob"}"#).await;
        client.authorize(Some(&format!("Bearer {second}")));
        client.good("GET", "/_security/_authenticate", "").await;

        // Of an approved one nothing is approved, so nothing is named by the way; of another kind neither.
        client.authorize(Some(&basic("elastic", "secret")));
        let refused = client.bad("POST", &approve, r#"{"service_account":"ann"}"#).await;
        assert!(
            refused.starts_with("400 illegal_argument_exception: [service_account]"),
            "{refused}"
        );
        client.good("POST", &approve, "").await;
        let web = r#"{"client_name":"App","redirect_uris":["https://app.example/cb"],"status":"pending"}"#;
        let made = client.good("POST", "/_oauth/client", web).await;
        let id = at(&made, &["client_id"]).as_str().expect("an id").to_owned();
        for verb in ["_approve", "_service_account"] {
            let target = format!("/_oauth/client/{id}/{verb}");
            let refused = client.bad("POST", &target, r#"{"service_account":"ann"}"#).await;
            assert!(
                refused.starts_with("400 illegal_argument_exception: [service_account]"),
                "{refused}"
            );
        }
        // Its scopes stay within what its account may do.
        let wide = send(&mut dev, &mut client, "Wide", scope).await;
        client.authorize(Some(&basic("elastic", "secret")));
        let target = format!("/_oauth/client/{wide}/_approve");
        let refused = client.bad("POST", &target, r#"{"service_account":"ann"}"#).await;
        assert!(refused.starts_with("400 illegal_argument_exception: [scope]"), "{refused}");
    });
}

/// A service was lent an account while it waited, and its developer made a web application of it: that one kept the
/// account, and so did a client that an administrator made as no service.
#[test]
fn what_is_no_service_has_nobodys_account() {
    with_oauth(|mut client| async move {
        let (mut dev, _) = stage(&mut client).await;
        let callback = "https://app.example/cb";
        client.authorize(Some(&basic("elastic", "secret")));
        for more in [r#","application_type":"web""#, r#","application_type":"native""#, ""] {
            let body = format!(
                r#"{{"client_name":"App","redirect_uris":["{callback}"],"service_account":"ann"{more}}}"#
            );
            let refused = client.bad("POST", "/_oauth/client", &body).await;
            assert!(
                refused.starts_with(
                    "400 illegal_argument_exception: [service_account] is for a client whose \
                     [application_type] is service"
                ),
                "{refused}"
            );
        }
        for approve in [false, true] {
            let name = format!("One {approve}");
            let reference = send(&mut dev, &mut client, &name, "self").await;
            let one = format!("/_oauth/client/{reference}");
            client.authorize(Some(&basic("elastic", "secret")));
            let ann = r#"{"service_account":"ann"}"#;
            client.good("POST", &format!("{one}/_service_account"), ann).await;
            let app = format!("/apps/{reference}");
            decided::send(&mut dev, &mut client, &app, &name, callback, "self").await;
            client.authorize(Some(&basic("elastic", "secret")));
            if approve {
                client.good("POST", &format!("{one}/_approve"), "").await;
            }
            let now = client.good("GET", &one, "").await;
            assert_eq!(at(&now, &["application_type"]).as_str(), Some("web"));
            assert!(now.get("service_account").is_none(), "{now:?}");
        }
    });
}

/// What a web application becomes when it is a service from now on is approved with its account.
#[test]
fn a_change_into_a_service_needs_its_account() {
    with_oauth(|mut client| async move {
        let (mut dev, _) = stage(&mut client).await;
        let callback = "https://app.example/cb";
        let app = decided::send(&mut dev, &mut client, "/apps/new", "One", callback, "self").await;
        let one = format!("/_oauth/client/{}", app.rsplit('/').next().expect("a reference"));
        client.authorize(Some(&basic("elastic", "secret")));
        client.good("POST", &format!("{one}/_approve"), "").await;
        let page = dev.ask(&mut client, &app, &[]).await;
        let mut form = fields(&page, &app);
        for (name, value) in [
            ("application_type", "service"),
            ("client_name", "One"),
            ("scope", "self"),
            ("confidential", "confidential"),
            ("action", "submit"),
        ] {
            form.push((name.into(), value.into()));
        }
        assert_eq!(dev.post(&mut client, &app, &form).await.status, 303);
        client.authorize(Some(&basic("elastic", "secret")));
        let refused = client.bad("POST", &format!("{one}/_approve"), "").await;
        assert!(
            refused.starts_with("400 illegal_argument_exception: [service_account]"),
            "{refused}"
        );
        client.good("POST", &format!("{one}/_approve"), r#"{"service_account":"ann"}"#).await;
        let now = client.good("GET", &one, "").await;
        assert_eq!(at(&now, &["grant_types"]), &json::json!(["client_credentials"]));
        assert_eq!(at(&now, &["service_account"]).as_str(), Some("ann"));
        // And back: what it got for itself is over, and it has nobody's account.
        let who =
            identity(&mut dev, &mut client, app.rsplit('/').next().expect("a reference")).await;
        let token = access(&token(&mut client, &who, "self").await);
        let callback = "https://other.example/cb";
        decided::send(&mut dev, &mut client, &app, "One", callback, "self").await;
        client.authorize(Some(&basic("elastic", "secret")));
        client.good("POST", &format!("{one}/_approve"), "").await;
        let now = client.good("GET", &one, "").await;
        assert_eq!(at(&now, &["application_type"]).as_str(), Some("web"));
        assert!(now.get("service_account").is_none(), "{now:?}");
        client.authorize(Some(&format!("Bearer {token}")));
        assert_eq!(client.call("GET", "/_security/_authenticate", "").await.status, 401);
    });
}
