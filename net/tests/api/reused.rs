//! Refresh tokens: who gets one, and those that come a second time.

use std::time::Duration;

use env::{Clock, Env};
use http::client::Response;
use json::{Value, json};
use sim::Sim;

use crate::browser::{Browser, basic, escaped, fields, location};
use crate::consented::stage;
use crate::place::{Client, at, value, with_oauth_on};

const FORM: [(&str, &str); 1] = [("Content-Type", "application/x-www-form-urlencoded")];

const READ: &str = "index:a-*:read";

/// What `/token` answers: its status, and what a member of it says.
async fn ask(
    client: &mut Client,
    app: &(String, String),
    more: &str,
) -> (u16, impl Fn(&str) -> String + use<>) {
    client.authorize(None);
    let form = format!("client_id={}&client_secret={}&{more}", app.0, app.1);
    let answer = client.call_with("POST", "/token", &FORM, form.as_bytes()).await;
    let told = value(&answer);
    (answer.status, move |name: &str| {
        told.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
    })
}

/// A first refresh token of a new consent, where there is one: what is asked for, and what is ticked.
async fn first(
    client: &mut Client,
    app: &(String, String),
    asked: &str,
    ticked: &[&str],
) -> String {
    let mut browser = Browser::default();
    let (_, page) = browser.consent(client, "ann", &app.0, asked).await;
    let form = ticks(&page, ticked, &[]);
    let led = location(&browser.post(client, "/consent", &form).await);
    exchanged(client, app, &led).await
}

/// A form of consent that allows what is ticked.
fn ticks(page: &Response, ticked: &[&str], more: &[(&str, &str)]) -> Vec<(String, String)> {
    let mut form = fields(page, "/consent");
    let scopes = ticked.iter().map(|scope| ("scope", *scope));
    let chosen = scopes.chain(more.iter().copied()).chain([("decision", "allow")]);
    form.extend(chosen.map(|(name, value)| (name.to_owned(), value.to_owned())));
    form
}

/// The refresh token that the code in an address gives, where it gives one.
async fn exchanged(client: &mut Client, app: &(String, String), led: &str) -> String {
    let code = led.split_once("code=").expect("a code").1.split('&').next().expect("a text");
    let (status, told) =
        ask(client, app, &format!("grant_type=authorization_code&code={code}")).await;
    assert_eq!(status, 200);
    told("refresh_token")
}

/// With a scope that was not granted, or somebody else's resource, a token that was rotated out was no theft: its
/// family lived on.
#[test]
fn a_second_use_ends_the_family_whatever_else_is_wrong() {
    let sim = Sim::new(1);
    let env = sim.env();
    with_oauth_on(&sim, |mut client| async move {
        let app = stage(&mut client, &[("ann", &[("a-*", "read")])]).await;
        for (wrong, error) in [
            ("", ""),
            ("&scope=index%3Ab-*%3Aread", "invalid_scope"),
            ("&scope=%22", "invalid_scope"),
            ("&resource=https%3A%2F%2Fother.example", "invalid_target"),
            ("&authorization_details=%5B%5D", "invalid_authorization_details"),
        ] {
            let old = first(&mut client, &app, READ, &[READ]).await;
            let refresh = |token: &str| format!("grant_type=refresh_token&refresh_token={token}");
            if !wrong.is_empty() {
                // One that is good is not used up by what is wrong.
                let (status, told) = ask(&mut client, &app, &(refresh(&old) + wrong)).await;
                assert_eq!((status, told("error").as_str()), (400, error), "{wrong}");
            }
            let (status, new) = ask(&mut client, &app, &refresh(&old)).await;
            assert_eq!(status, 200, "{wrong}");
            env.clock().sleep(Duration::from_secs(4)).await;
            let (status, told) = ask(&mut client, &app, &(refresh(&old) + wrong)).await;
            assert_eq!((status, told("error").as_str()), (400, "invalid_grant"), "{wrong}");
            let (status, _) = ask(&mut client, &app, &refresh(&new("refresh_token"))).await;
            assert_eq!(status, 400, "{wrong}");
            client.authorize(Some(&format!("Bearer {}", new("access_token"))));
            assert_eq!(client.call("GET", "/a-1/_search", "").await.status, 401, "{wrong}");
        }
    });
}

/// An application that asks to keep access.
async fn keeper(client: &mut Client, scope: &str) -> (String, String) {
    client.authorize(Some(&basic("elastic", "secret")));
    let body = json!({"client_name": "Keeper", "redirect_uris": ["https://app.example/cb"],
        "grant_types": ["authorization_code", "refresh_token"], "scope": scope});
    let made = client.good("POST", "/_oauth/client", &json::to_string(&body)).await;
    let text = |key: &str| at(&made, &[key]).as_str().expect("a text").to_owned();
    (text("client_id"), text("client_secret"))
}

/// Who unticked "Keep access while you are away" gave a refresh token all the same.
#[test]
fn an_application_keeps_access_where_its_owner_left_that_ticked() {
    let sim = Sim::new(1);
    with_oauth_on(&sim, |mut client| async move {
        stage(&mut client, &[("ann", &[("a-*", "read")])]).await;
        let scope = format!("{READ} offline_access");
        let app = keeper(&mut client, &scope).await;
        for (asked, ticked, keeps) in [
            (READ, &[READ][..], true),
            (scope.as_str(), &[READ, "offline_access"], true),
            (scope.as_str(), &[READ], false),
        ] {
            let token = first(&mut client, &app, asked, ticked).await;
            assert_eq!(!token.is_empty(), keeps, "{asked}: {ticked:?}");
        }
    });
}

/// Where the decision was remembered, a request that did not name `offline_access` got a refresh token without a
/// question.
#[test]
fn what_is_kept_back_is_remembered_as_such() {
    let sim = Sim::new(1);
    with_oauth_on(&sim, |mut client| async move {
        stage(&mut client, &[("ann", &[("a-*", "read")])]).await;
        let scope = format!("{READ} offline_access");
        let app = keeper(&mut client, &scope).await;
        let mut browser = Browser::default();
        let (_, mut page) = browser.consent(&mut client, "ann", &app.0, &scope).await;
        let ask = format!("/authorize?response_type=code&client_id={}&scope=", app.0);
        for (ticked, keeps) in [(&[READ][..], false), (&[READ, "offline_access"], true)] {
            let form = ticks(&page, ticked, &[("remember", "true")]);
            let led = location(&browser.post(&mut client, "/consent", &form).await);
            assert_eq!(!exchanged(&mut client, &app, &led).await.is_empty(), keeps);
            for prompt in ["", "&prompt=none"] {
                let again = format!("{ask}{}{prompt}", escaped(READ));
                let led = location(&browser.ask(&mut client, &again, &[]).await);
                let token = exchanged(&mut client, &app, &led).await;
                assert_eq!(!token.is_empty(), keeps, "{ticked:?} {prompt}");
            }
            let whole = format!("{ask}{}&prompt=consent", escaped(&scope));
            let led = location(&browser.ask(&mut client, &whole, &[]).await);
            page = browser.ask(&mut client, &led, &[]).await;
        }
    });
}

/// An answer named scopes of which the owner held nothing any more, beside those of which they did.
#[test]
fn a_refresh_tells_what_its_owner_still_holds() {
    let sim = Sim::new(1);
    with_oauth_on(&sim, |mut client| async move {
        let both = "index:a-*:read index:b-*:read";
        let holds = [("a-*", "read"), ("b-*", "read")];
        let app = stage(&mut client, &[("ann", &holds)]).await;
        let ticked: Vec<&str> = both.split(' ').collect();
        let mut token = first(&mut client, &app, both, &ticked).await;
        for (left, told) in [(&holds[..], both), (&holds[..1], READ), (&[], both)] {
            let entries = left
                .iter()
                .map(|(names, privilege)| json!({"names": [*names], "privileges": [*privilege]}));
            let entries: Vec<Value> = entries.collect();
            client.authorize(Some(&basic("elastic", "secret")));
            let role = json::to_string(&json!({"indices": entries}));
            client.good("PUT", "/_security/role/ann", &role).await;
            let more = format!("grant_type=refresh_token&refresh_token={token}");
            let (status, answer) = ask(&mut client, &app, &more).await;
            assert_eq!((status, answer("scope").as_str()), (200, told));
            token = answer("refresh_token");
        }
    });
}

/// Who ticked nothing but to keep access for longer gave a token that opened nothing, for longer.
#[test]
fn to_keep_nothing_is_nothing() {
    let sim = Sim::new(1);
    with_oauth_on(&sim, |mut client| async move {
        stage(&mut client, &[("ann", &[("a-*", "read")])]).await;
        let scope = format!("{READ} offline_access");
        let (id, _) = keeper(&mut client, &scope).await;
        let mut browser = Browser::default();
        let (_, page) = browser.consent(&mut client, "ann", &id, &scope).await;
        let form = ticks(&page, &["offline_access"], &[]);
        let led = location(&browser.post(&mut client, "/consent", &form).await);
        assert!(led.contains("error=access_denied"), "{led}");
    });
}

/// While its owner was disabled a stolen token was refused, and its family came back with the owner.
#[test]
fn a_second_use_ends_the_family_of_who_is_disabled() {
    let sim = Sim::new(1);
    let env = sim.env();
    with_oauth_on(&sim, |mut client| async move {
        let app = stage(&mut client, &[("ann", &[("a-*", "read")])]).await;
        let old = first(&mut client, &app, READ, &[READ]).await;
        let refresh = |token: &str| format!("grant_type=refresh_token&refresh_token={token}");
        let (_, new) = ask(&mut client, &app, &refresh(&old)).await;
        env.clock().sleep(Duration::from_secs(4)).await;
        for (order, token, status) in
            [("_disable", &old, 400), ("_enable", &new("refresh_token"), 400)]
        {
            client.authorize(Some(&basic("elastic", "secret")));
            client.good("PUT", &format!("/_security/user/ann/{order}"), "").await;
            assert_eq!(ask(&mut client, &app, &refresh(token)).await.0, status, "{order}");
        }
        client.authorize(Some(&format!("Bearer {}", new("access_token"))));
        assert_eq!(client.call("GET", "/a-1/_search", "").await.status, 401);
    });
}
