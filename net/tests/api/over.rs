//! What is over opens nothing, and what stands in an address never did.

use std::time::Duration;

use env::{Clock, Env};
use sim::Sim;

use crate::browser::{Browser, basic, fields, location};
use crate::consented::{promised, stage};
use crate::place::{at, value, with_oauth_on};

/// An access token ends at its instant, a code after a minute; each in the words that its bearer gets.
#[test]
fn what_is_over_opens_nothing() {
    let sim = Sim::new(1);
    let env = sim.env();
    with_oauth_on(&sim, |mut client| async move {
        let app = stage(&mut client, &[("ann", &[("a-*", "read")])]).await;
        let mut codes = Vec::new();
        for wait in [59, 61] {
            let mut browser = Browser::default();
            let (_, page) = browser.consent(&mut client, "ann", &app.0, "index:a-*:read").await;
            let mut form = fields(&page, "/consent");
            for (name, value) in [("scope", "index:a-*:read"), ("decision", "allow")] {
                form.push((name.into(), value.into()));
            }
            let led = location(&browser.post(&mut client, "/consent", &form).await);
            let code = led.split_once("code=").expect("a code").1;
            let code = code.split('&').next().unwrap_or_default();
            env.clock().sleep(Duration::from_secs(wait)).await;
            let body = format!(
                "grant_type=authorization_code&code={code}&client_id={}&client_secret={}",
                app.0, app.1
            );
            let kind = [("Content-Type", "application/x-www-form-urlencoded")];
            let answer = client.call_with("POST", "/token", &kind, body.as_bytes()).await;
            let error = value(&answer).get("error").and_then(|it| it.as_str().map(str::to_owned));
            codes.push((answer.status, error));
        }
        assert_eq!(codes, [(200, None), (400, Some("invalid_grant".to_owned()))]);
        let token = promised(&mut client, &app, "ann", "index:a-*:read").await.1.expect("some");
        let mut told = Vec::new();
        for wait in [1_195, 10] {
            env.clock().sleep(Duration::from_secs(wait)).await;
            client.authorize(Some(&token));
            let answer = client.call("GET", "/a-1/_search", "").await;
            let words = answer
                .fields
                .iter()
                .filter(|(name, _)| name.eq_ignore_ascii_case("www-authenticate"));
            let expired =
                words.filter(|(_, words)| words.contains("The access token expired")).count();
            told.push((answer.status, expired));
        }
        assert_eq!(told, [(200, 0), (401, 1)]);
        // In an address none counts, be it good.
        let fresh = promised(&mut client, &app, "ann", "index:a-*:read").await.1.expect("some");
        let target = format!("/a-1/_search?access_token={}", &fresh["Bearer ".len()..]);
        for header in [None, Some(fresh.as_str()), Some(&*basic("elastic", "secret"))] {
            client.authorize(header);
            assert_eq!(client.call("GET", &target, "").await.status, 400, "{header:?}");
        }
        client.authorize(Some(&fresh));
        let found = client.good("GET", "/a-1/_search", "").await;
        assert_eq!(at(&found, &["hits", "total", "value"]).as_u64(), Some(1));
    });
}

/// Its end was rounded up to a whole second, up to a second after what `expires_in` had promised.
#[test]
fn an_access_token_ends_with_what_was_promised() {
    let sim = Sim::new(1);
    let env = sim.env();
    with_oauth_on(&sim, |mut client| async move {
        let app = stage(&mut client, &[("ann", &[("a-*", "read")])]).await;
        let now = || env.clock().unix_ms() as u64;
        env.clock().sleep(Duration::from_millis(1_100 - now() % 1000)).await;
        client.authorize(Some(&basic("elastic", "secret")));
        let begun = now();
        let ask = r#"{"grant_type":"client_credentials"}"#;
        let own = client.good("POST", "/_security/oauth2/token", ask).await;
        let own = at(&own, &["access_token"]).as_str().expect("a token").to_owned();
        let given = promised(&mut client, &app, "ann", "index:a-*:read").await.1.expect("some");
        let told = now();
        assert!(told / 1000 == begun / 1000, "the whole second after {begun} is long after {told}");
        for (then, status) in [(begun + 1_199_999, 200), (told + 1_200_000, 401)] {
            env.clock().sleep(Duration::from_millis(then - now())).await;
            for token in [&format!("Bearer {own}"), &given] {
                client.authorize(Some(token));
                let answer = client.call("GET", "/a-1/_search", "").await;
                assert_eq!(answer.status, status, "{then}: {}", answer.text());
            }
        }
    });
}
