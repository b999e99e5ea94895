//! Scrolls and points in time that somebody leaves open end with what let that somebody in.

use std::time::Duration;

use env::{Clock, Env};
use json::json;
use sim::{Sim, SimEnv};

use crate::browser::{Browser, basic, words};
use crate::consented::{promised, stage};
use crate::place::{
    Client, at, value, with_oauth_and_a_minute, with_oauth_on, with_oauth_on_and_off,
};

/// Opens a scroll and a point in time for a day; answers the scroll's id.
async fn open(client: &mut Client, who: &str) -> String {
    client.authorize(Some(who));
    client.good("POST", "/a-1/_pit?keep_alive=24h", "").await;
    let page = client.good("POST", "/a-1/_search?scroll=24h", "").await;
    at(&page, &["_scroll_id"]).as_str().expect("an id").to_owned()
}

/// How many are open a little later.
async fn left(client: &mut Client, env: &SimEnv) -> Option<u64> {
    env.clock().sleep(Duration::from_secs(2)).await;
    client.authorize(Some(&basic("elastic", "secret")));
    let stats = client.good("GET", "/_nodes/_all/stats/indices/search", "").await;
    let nodes = at(&stats, &["nodes"]).as_object().expect("nodes");
    let (_, node) = nodes.iter().next().expect("one");
    at(node, &["indices", "search", "open_contexts"]).as_u64()
}

/// An application opened as many as there may be, for a day. Its grant was revoked, and for that day nobody else
/// could scroll.
#[test]
fn what_was_left_open_ends_with_what_let_in() {
    let sim = Sim::new(1);
    let env = sim.env();
    with_oauth_on(&sim, |mut client| async move {
        let reads = [("a-*", "read")];
        let app = stage(&mut client, &[("ann", &reads), ("bob", &reads), ("cat", &reads)]).await;
        let revoked = promised(&mut client, &app, "ann", "index:a-*:read").await.1.expect("some");
        let suspended = promised(&mut client, &app, "bob", "index:a-*:read").await.1.expect("some");
        client.authorize(Some(&basic("elastic", "secret")));
        let key = client.good("POST", "/_security/api_key", r#"{"name":"k"}"#).await;
        let key_id = at(&key, &["id"]).as_str().expect("an id").to_owned();
        let key = format!("ApiKey {}", at(&key, &["encoded"]).as_str().expect("a text"));
        let ask = r#"{"grant_type":"client_credentials"}"#;
        let token = client.good("POST", "/_security/oauth2/token", ask).await;
        let token = at(&token, &["access_token"]).as_str().expect("a token").to_owned();
        let bearer = format!("Bearer {token}");
        let key_body = json::to_string(&json!({"ids": [(key_id.as_str())]}));
        let token_body = json::to_string(&json!({"token": (token.as_str())}));
        let suspend = format!("/_oauth/client/{}/_suspend", app.0);
        let cat = basic("cat", "cat-knows-this");
        for (who, method, target, body) in [
            // Another password from an administrator revokes the grants.
            (&revoked, "PUT", "/_security/user/ann/_password", r#"{"password":"another-one"}"#),
            (&key, "DELETE", "/_security/api_key", &key_body),
            (&bearer, "DELETE", "/_security/oauth2/token", &token_body),
            (&suspended, "POST", suspend.as_str(), ""),
            (&cat, "PUT", "/_security/user/cat/_disable", ""),
        ] {
            open(&mut client, who).await;
            assert_eq!(left(&mut client, &env).await, Some(2), "{target}");
            let done = client.call(method, target, body).await;
            assert_eq!(done.status, 200, "{target}: {}", done.text());
            assert_eq!(left(&mut client, &env).await, Some(0), "{target}");
        }
    });
}

/// The owner ann, and forty documents of hers.
async fn stage_with_documents(client: &mut Client) {
    stage(client, &[("ann", &[("a-*", "all")])]).await;
    let lines: String = (0..40).map(|_| "{\"index\":{}}\n{\"n\":1}\n").collect();
    client.good("POST", "/a-1/_bulk?refresh", &lines).await;
}

/// What somebody did in another's name went on when its own key, token or record had ended, or the right to do so.
#[test]
fn what_is_done_in_anothers_name_ends_with_what_let_its_doer_in() {
    let sim = Sim::new(1);
    let env = sim.env();
    with_oauth_on(&sim, |mut client| async move {
        stage_with_documents(&mut client).await;
        let elastic = basic("elastic", "secret");
        let as_ann = [("es-security-runas-user", "ann")];
        let own = [("manage_own_api_key", "manage_token")];
        let role = json!({"cluster": [(own[0].0), (own[0].1)], "run_as": ["ann"]});
        for (kind, method, target) in [
            ("key", "DELETE", "/_security/api_key"),
            ("token", "DELETE", "/_security/oauth2/token"),
            ("own", "DELETE", "/_security/user/eve"),
            ("own", "PUT", "/_security/user/eve/_disable"),
            ("right", "PUT", "/_security/role/acts"),
        ] {
            client.authorize(Some(&elastic));
            client.good("PUT", "/_security/role/acts", &json::to_string(&role)).await;
            let eve = r#"{"password":"eve-knows-this","roles":["acts"]}"#;
            client.good("PUT", "/_security/user/eve", eve).await;
            let eve = basic("eve", "eve-knows-this");
            client.authorize(Some(&eve));
            let (shown, body) = match kind {
                "key" => {
                    let key = client.good("POST", "/_security/api_key", r#"{"name":"k"}"#).await;
                    let text = |name: &str| at(&key, &[name]).as_str().expect("a text").to_owned();
                    let ids = json!({"ids": [(text("id"))]});
                    (format!("ApiKey {}", text("encoded")), json::to_string(&ids))
                }
                "token" => {
                    let ask = r#"{"grant_type":"client_credentials"}"#;
                    let token = client.good("POST", "/_security/oauth2/token", ask).await;
                    let token = at(&token, &["access_token"]).as_str().expect("a token").to_owned();
                    let body = json!({"token": (token.as_str())});
                    (format!("Bearer {token}"), json::to_string(&body))
                }
                "right" => (eve, "{}".to_owned()),
                _ => (eve, String::new()),
            };
            client.authorize(Some(&shown));
            let json = [as_ann.as_slice(), &[("Content-Type", "application/json")]].concat();
            let work = "/a-1/_update_by_query?requests_per_second=1&scroll_size=2\
                        &conflicts=proceed&wait_for_completion=false";
            for target in [work, "/a-1/_pit?keep_alive=24h", "/a-1/_search?scroll=24h"] {
                let answer = client.call_with("POST", target, &json, b"").await;
                assert_eq!(answer.status, 200, "{kind}: {}", answer.text());
            }
            assert_eq!(at_work(&mut client, &env).await, 1, "{kind} {target}");
            client.authorize(Some(&elastic));
            let done = client.call(method, target, &body).await;
            assert_eq!(done.status, 200, "{kind}: {}", done.text());
            assert_eq!(at_work(&mut client, &env).await, 0, "{kind} {target}");
            if kind != "right" {
                assert_eq!(left(&mut client, &env).await, Some(0), "{kind} {target}");
            }
        }
    });
}

/// Keys of tokens are changed where somebody may have forged some. What had been begun with a token went on, for a
/// day.
#[test]
fn what_was_begun_with_a_token_ends_with_the_keys_of_tokens() {
    let sim = Sim::new(1);
    let env = sim.env();
    with_oauth_on(&sim, |mut client| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        let app = stage(&mut client, &[("ann", &[("a-*", "all")])]).await;
        let lines: String = (0..40).map(|_| "{\"index\":{}}\n{\"n\":1}\n").collect();
        client.good("POST", "/a-1/_bulk?refresh", &lines).await;
        let work = "/a-1/_update_by_query?requests_per_second=1&scroll_size=2\
                    &conflicts=proceed&wait_for_completion=false";
        let owner = r#"{"grant_type":"password","username":"ann","password":"ann-knows-this"}"#;
        let alone = r#"{"grant_type":"client_credentials"}"#;
        for ask in [Some(owner), Some(alone), None] {
            client.authorize(Some(&basic("elastic", "secret")));
            let shown = match ask {
                None => promised(&mut client, &app, "ann", "index:a-*:all").await.1.expect("some"),
                Some(ask) => {
                    let token = client.good("POST", "/_security/oauth2/token", ask).await;
                    format!("Bearer {}", at(&token, &["access_token"]).as_str().expect("a token"))
                }
            };
            open(&mut client, &shown).await;
            client.good("POST", work, "").await;
            assert_eq!(at_work(&mut client, &env).await, 1, "{ask:?}");
            client.good("POST", "/_oauth/keys/_rotate", "").await;
            assert_eq!(at_work(&mut client, &env).await, 0, "{ask:?}");
            assert_eq!(left(&mut client, &env).await, Some(0), "{ask:?}");
            client.authorize(Some(&shown));
            assert_eq!(client.call("GET", "/a-1/_search", "").await.status, 401, "{ask:?}");
        }
        // Passwords and keys are no such tokens.
        open(&mut client, &basic("ann", "ann-knows-this")).await;
        client.good("POST", work, "").await;
        client.authorize(Some(&basic("elastic", "secret")));
        client.good("POST", "/_oauth/keys/_rotate", "").await;
        assert_eq!(at_work(&mut client, &env).await, 1);
        assert_eq!(left(&mut client, &env).await, Some(2));
    });
}

/// A client that gets no refresh tokens: what was revoked of its only access token's grant was the token alone.
/// Its work went on, and its owner and the administrator read of an access that there was not.
#[test]
fn work_ends_with_the_only_token_that_let_in() {
    let sim = Sim::new(1);
    let env = sim.env();
    with_oauth_on(&sim, |mut client| async move {
        stage_with_documents(&mut client).await;
        let made = json!({"client_name": "App", "redirect_uris": ["https://app.example/cb"],
            "scope": "index:*:all", "grant_types": ["authorization_code"]});
        let made = client.good("POST", "/_oauth/client", &json::to_string(&made)).await;
        let text = |name: &str| at(&made, &[name]).as_str().expect("a text").to_owned();
        let app = (text("client_id"), text("client_secret"));
        let ask = r#"{"grant_type":"client_credentials"}"#;
        let token = client.good("POST", "/_security/oauth2/token", ask).await;
        let own = at(&token, &["access_token"]).as_str().expect("a token").to_owned();
        let given = promised(&mut client, &app, "ann", "index:a-*:all").await.1.expect("some");
        let given = given["Bearer ".len()..].to_owned();
        let revoked = format!("token={given}&client_id={}&client_secret={}", app.0, app.1);
        let invalidated = json::to_string(&json!({"token": (own.as_str())}));
        const FORM: &str = "application/x-www-form-urlencoded";
        let elastic = basic("elastic", "secret");
        for (token, method, target, kind, body) in [
            (&given, "POST", "/revoke", FORM, &revoked),
            (&own, "DELETE", "/_security/oauth2/token", "application/json", &invalidated),
        ] {
            client.authorize(Some(&format!("Bearer {token}")));
            let work = "/a-1/_update_by_query?requests_per_second=1&scroll_size=2\
                        &conflicts=proceed&wait_for_completion=false";
            client.good("POST", work, "").await;
            assert_eq!(at_work(&mut client, &env).await, 1, "{target}");
            client.authorize((kind != FORM).then_some(elastic.as_str()));
            let kind = [("Content-Type", kind)];
            let ended = client.call_with(method, target, &kind, body.as_bytes()).await;
            assert_eq!(ended.status, 200, "{target}");
            assert_eq!(at_work(&mut client, &env).await, 0, "{target}");
        }
        let grants = client.good("GET", "/_oauth/grant", "").await;
        assert_eq!(grants, json!({"grants": []}));
        let mut browser = Browser::default();
        browser.sign_in(&mut client, "ann", "/login").await;
        let page = browser.ask(&mut client, "/account/apps", &[]).await;
        let told = words(&page);
        assert!(told.contains("No application has access"), "{told}");
    });
}

/// What was read for a later batch was read with the rights of that moment, and written back with what had become
/// hidden meanwhile left out: the documents lost it for good, and the task told of no failure.
#[test]
fn an_update_by_query_ends_when_fields_become_hidden() {
    let sim = Sim::new(1);
    with_oauth_on(&sim, |mut client| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        let lines: String = (0..12)
            .map(|n| format!("{{\"index\":{{}}}}\n{{\"n\":{n},\"kept\":\"yes\"}}\n"))
            .collect();
        client.good("POST", "/a-1/_bulk?refresh", &lines).await;
        let role = |more: &str| {
            format!(r#"{{"indices":[{{"names":["a-*"],"privileges":["read"]{more}}}]}}"#)
        };
        let writes = r#"{"indices":[{"names":["a-*"],"privileges":["write"]}]}"#;
        client.good("PUT", "/_security/role/reads", &role("")).await;
        client.good("PUT", "/_security/role/writes", writes).await;
        let dan = r#"{"password":"dan-knows-this","roles":["reads","writes"]}"#;
        client.good("PUT", "/_security/user/dan", dan).await;
        client.authorize(Some(&basic("dan", "dan-knows-this")));
        let work = "/a-1/_update_by_query?requests_per_second=1&scroll_size=2\
                    &wait_for_completion=false";
        let task = client.good("POST", work, "").await;
        let task = at(&task, &["task"]).as_str().expect("its id").to_owned();
        client.authorize(Some(&basic("elastic", "secret")));
        let some = role(r#","field_security":{"grant":["n"]}"#);
        client.good("PUT", "/_security/role/reads", &some).await;
        let target = format!("/_tasks/{task}?wait_for_completion&timeout=60s");
        let ended = client.good("GET", &target, "").await;
        let reason = at(&ended, &["error", "reason"]).as_str().map(str::to_owned);
        let refused =
            "Can't execute an update request if field or document level security is enabled";
        assert_eq!(reason.as_deref(), Some(refused), "{ended:?}");
        client.good("POST", "/a-1/_refresh", "").await;
        let whole = client.good("GET", "/a-1/_count?q=kept:yes", "").await;
        assert_eq!(at(&whole, &["count"]).as_u64(), Some(12));
    });
}

/// How many updates by query go on a little later.
async fn at_work(client: &mut Client, env: &SimEnv) -> usize {
    env.clock().sleep(Duration::from_secs(5)).await;
    client.authorize(Some(&basic("elastic", "secret")));
    let target = "/_tasks?actions=*update/byquery&group_by=none";
    let told = client.good("GET", target, "").await;
    at(&told, &["tasks"]).as_array().expect("a list").len()
}

/// `elastic` freed none of the scrolls that others had left; in Elasticsearch `_all` is everybody's.
#[test]
fn who_may_close_every_scroll_closes_everybodys() {
    let sim = Sim::new(1);
    let env = sim.env();
    with_oauth_on(&sim, |mut client| async move {
        let reads = [("a-*", "read")];
        stage(&mut client, &[("ann", &reads), ("bob", &reads)]).await;
        for name in ["ann", "bob"] {
            open(&mut client, &basic(name, &format!("{name}-knows-this"))).await;
        }
        let freed = client.good("DELETE", "/_search/scroll/_all", "").await;
        assert_eq!(at(&freed, &["num_freed"]).as_u64(), Some(1), "bob may close his own");
        assert_eq!(left(&mut client, &env).await, Some(3));
        let freed = client.good("DELETE", "/_search/scroll/_all", "").await;
        assert_eq!(at(&freed, &["num_freed"]).as_u64(), Some(1));
        assert_eq!(left(&mut client, &env).await, Some(2), "points in time are no scrolls");
    });
}

/// The half was switched off, with its pages and interfaces: nobody could revoke a token, which still opened the
/// store.
#[test]
fn where_the_half_is_off_its_tokens_let_nobody_in() {
    with_oauth_on_and_off(|mut on, mut off| async move {
        let app = stage(&mut on, &[("ann", &[("a-*", "read")])]).await;
        let token = promised(&mut on, &app, "ann", "index:a-*:read").await.1.expect("some");
        for (client, status) in [(&mut on, 200), (&mut off, 401)] {
            client.authorize(Some(&token));
            assert_eq!(client.call("GET", "/a-1/_search", "").await.status, status);
        }
        // Tokens of the store's own token service are no part of that half.
        off.authorize(Some(&basic("elastic", "secret")));
        let ask = r#"{"grant_type":"client_credentials"}"#;
        let own = off.good("POST", "/_security/oauth2/token", ask).await;
        let own = at(&own, &["access_token"]).as_str().expect("a token").to_owned();
        off.authorize(Some(&format!("Bearer {own}")));
        off.good("GET", "/a-1/_search", "").await;
    });
}

/// When a token was issued was reckoned from its end by the setting of the moment: after a restart with a shorter
/// one it was to be, and whoever minds `nbf` refused a good token.
#[test]
fn a_token_tells_when_it_was_issued_whatever_is_set_since() {
    with_oauth_and_a_minute(|mut first, mut second| async move {
        let app = stage(&mut first, &[("ann", &[("a-*", "read")])]).await;
        let token = promised(&mut first, &app, "ann", "index:a-*:read").await.1.expect("some");
        let form = format!(
            "token={}&client_id={}&client_secret={}",
            &token["Bearer ".len()..],
            app.0,
            app.1
        );
        let kind = [("Content-Type", "application/x-www-form-urlencoded")];
        second.authorize(None);
        let answer = second.call_with("POST", "/introspect", &kind, form.as_bytes()).await;
        let told = value(&answer);
        let number = |name: &str| at(&told, &[name]).as_u64().expect("a number");
        assert_eq!(number("iat"), number("nbf"));
        let life = number("exp") - number("iat");
        assert!((1200..=1201).contains(&life), "{}", answer.text());
    });
}
