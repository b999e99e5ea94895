//! Grants that one client makes by itself: as many as there is use for.

use std::time::Duration;

use env::{Clock, Env};
use json::json;
use sim::Sim;

use crate::browser::basic;
use crate::consented::stage;
use crate::place::{Client, at, value, with_oauth_on};

const FORM: [(&str, &str); 1] = [("Content-Type", "application/x-www-form-urlencoded")];

/// What `/token` answers to a client.
async fn ask(client: &mut Client, app: &(String, String), more: &str) -> json::Value {
    let form = format!("client_id={}&client_secret={}&{more}", app.0, app.1);
    client.authorize(None);
    let answer = client.call_with("POST", "/token", &FORM, form.as_bytes()).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    value(&answer)
}

fn text(told: &json::Value, name: &str) -> String {
    at(told, &[name]).as_str().expect("a text").to_owned()
}

async fn opens(client: &mut Client, token: &str) -> u16 {
    client.authorize(Some(&format!("Bearer {token}")));
    client.call("GET", "/_security/_authenticate", "").await.status
}

async fn service(client: &mut Client) -> (String, String) {
    client.authorize(Some(&basic("elastic", "secret")));
    let made = json!({"client_name": "Service", "application_type": "service",
        "service_account": "ann", "scope": "index:a-*:read"});
    let made = client.good("POST", "/_oauth/client", &json::to_string(&made)).await;
    (text(&made, "client_id"), text(&made, "client_secret"))
}

/// A service made a token for each of its requests, fifty a second; each was kept for twenty minutes.
#[test]
fn a_service_has_so_many_tokens_of_its_own() {
    let sim = Sim::new(1);
    let env = sim.env();
    with_oauth_on(&sim, |mut client| async move {
        stage(&mut client, &[("ann", &[("a-*", "read")])]).await;
        let (first, second) = (service(&mut client).await, service(&mut client).await);
        let own = "grant_type=client_credentials";
        let other = text(&ask(&mut client, &second, own).await, "access_token");
        let mut tokens = Vec::new();
        for at in 0..501 {
            if at % 50 == 0 {
                env.clock().sleep(Duration::from_secs(2)).await;
            }
            tokens.push(text(&ask(&mut client, &first, own).await, "access_token"));
        }
        assert_eq!(opens(&mut client, &tokens[0]).await, 401, "the oldest ended");
        for token in [&tokens[1], &tokens[500], &other] {
            assert_eq!(opens(&mut client, token).await, 200);
        }
        client.authorize(Some(&basic("elastic", "secret")));
        let target = format!("/_oauth/grant?client_id={}", first.0);
        let grants = client.good("GET", &target, "").await;
        assert_eq!(at(&grants, &["grants"]).as_array().expect("a list").len(), 500);
    });
}

/// The same by refresh tokens, each with fewer scopes.
#[test]
fn an_access_has_so_many_narrowed_tokens() {
    let sim = Sim::new(1);
    let env = sim.env();
    with_oauth_on(&sim, |mut client| async move {
        let app = stage(&mut client, &[("ann", &[("a-*", "read")])]).await;
        let scope = "index:a-*:read";
        let mut browser = crate::browser::Browser::default();
        let (_, page) = browser.consent(&mut client, "ann", &app.0, scope).await;
        let mut form = crate::browser::fields(&page, "/consent");
        form.extend([("scope", scope), ("decision", "allow")].map(|(a, b)| (a.into(), b.into())));
        let led = crate::browser::location(&browser.post(&mut client, "/consent", &form).await);
        let code = led.split_once("code=").expect("a code").1.split('&').next().expect("text");
        let more = format!("grant_type=authorization_code&code={code}");
        let mut told = ask(&mut client, &app, &more).await;
        let whole = text(&told, "access_token");
        let mut tokens = Vec::new();
        for _ in 0..51 {
            env.clock().sleep(Duration::from_millis(100)).await;
            let refresh = text(&told, "refresh_token");
            let more = format!(
                "grant_type=refresh_token&refresh_token={refresh}&scope=index%3Aa-1%3Aread"
            );
            told = ask(&mut client, &app, &more).await;
            tokens.push(text(&told, "access_token"));
        }
        assert_eq!(opens(&mut client, &tokens[0]).await, 401, "the oldest ended");
        for token in [&tokens[1], &tokens[50], &whole] {
            assert_eq!(opens(&mut client, token).await, 200);
        }
        let more =
            format!("grant_type=refresh_token&refresh_token={}", text(&told, "refresh_token"));
        ask(&mut client, &app, &more).await;
    });
}
