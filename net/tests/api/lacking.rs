//! What a token lacks is told so that its application can do something about it, and nothing else is told.

use http::client::Response;

use crate::browser::{Browser, basic, escaped, fields, location};
use crate::consented::{promised, stage};
use crate::place::{Client, at, value, with_oauth};

/// The challenge of an answer.
fn challenge(answer: &Response) -> Option<&str> {
    let found =
        answer.fields.iter().find(|(name, _)| name.eq_ignore_ascii_case("www-authenticate"));
    found.map(|(_, value)| value.as_str())
}

const BARE: &str = "Bearer error=\"insufficient_scope\"";

fn lacking(scope: &str) -> String {
    format!("{BARE}, scope=\"{scope}\"")
}

async fn token(client: &mut Client, app: &(String, String), user: &str, scope: &str) -> String {
    let (_, token) = promised(client, app, user, scope).await;
    token.expect("something remains")
}

/// A copy into a forbidden index said 403 and not why: its answer is no error but tells of each document.
#[test]
fn whatever_is_refused_names_the_scope_that_lacks() {
    with_oauth(|mut client| async move {
        let app = stage(&mut client, &[("ann", &[("*", "all")])]).await;
        let copy = r#"{"source":{"index":"a-1"},"dest":{"index":"b-1"}}"#;
        let own = token(&mut client, &app, "ann", "index:a-*:all").await;
        client.authorize(Some(&own));
        let answer = client.call("POST", "/_reindex", copy).await;
        let expected = lacking("index:b-1:write");
        assert_eq!((answer.status, challenge(&answer)), (403, Some(expected.as_str())));
        assert!(value(&answer).get("failures").is_some(), "{}", answer.text());
        // Items of a bulk request are refused one by one, and the request is not.
        let bulk = "{\"index\":{\"_index\":\"b-1\"}}\n{}\n";
        let answer = client.call("POST", "/_bulk", bulk).await;
        assert_eq!((answer.status, challenge(&answer)), (200, None), "{}", answer.text());
        let reads = token(&mut client, &app, "ann", "index:a-*:read").await;
        client.authorize(Some(&reads));
        for (method, target, body, lacks) in [
            ("PUT", "/a-1/_doc/2", "{}", "index:a-1:write"),
            ("POST", "/a-1/_delete_by_query", r#"{"query":{"match_all":{}}}"#, "index:a-1:write"),
            ("GET", "/b-1/_search", "", "index:b-1:read"),
            ("DELETE", "/a-1", "", "index:a-1:manage"),
            ("GET", "/_cluster/health", "", "cluster:monitor"),
        ] {
            let answer = client.call(method, target, body).await;
            let lacks = lacking(lacks);
            let story = format!("{method} {target}: {}", answer.text());
            assert_eq!((answer.status, challenge(&answer)), (403, Some(lacks.as_str())), "{story}");
        }
        // What no token may do at all, no scope gives.
        let answer = client.call("GET", "/_oauth/client", "").await;
        assert_eq!((answer.status, challenge(&answer)), (403, Some(BARE)));
        // Nor is a block of the index anything that a token lacks.
        let all = token(&mut client, &app, "ann", "index:*:all").await;
        client.authorize(Some(&all));
        client.good("PUT", "/a-1/_block/write", "").await;
        let answer = client.call("PUT", "/a-1/_doc/2", "{}").await;
        assert_eq!((answer.status, challenge(&answer)), (403, None), "{}", answer.text());
        assert_eq!(
            at(&value(&answer), &["error", "type"]).as_str(),
            Some("cluster_block_exception")
        );
        let copy = r#"{"source":{"index":"b-1"},"dest":{"index":"a-1"}}"#;
        let answer = client.call("POST", "/_reindex", copy).await;
        assert_eq!((answer.status, challenge(&answer)), (403, None), "{}", answer.text());
    });
}

/// The application was told to ask for a scope that it held.
#[test]
fn no_scope_is_named_where_the_owner_lacks_the_right() {
    with_oauth(|mut client| async move {
        let app = stage(&mut client, &[("ann", &[("a-*", "read"), ("b-*", "read")])]).await;
        let reads = token(&mut client, &app, "ann", "index:*:read").await;
        client.authorize(Some(&reads));
        client.good("GET", "/b-1/_search", "").await;
        for target in ["/c-1/_search", "/.kibana/_search"] {
            let answer = client.call("GET", target, "").await;
            assert_eq!((answer.status, challenge(&answer)), (403, Some(BARE)), "{target}");
        }
        // The owner may not do this either, but the token was not granted it, so that this comes first.
        let answer = client.call("PUT", "/a-1/_doc/2", "{}").await;
        let expected = lacking("index:a-1:write");
        assert_eq!((answer.status, challenge(&answer)), (403, Some(expected.as_str())));
        client.authorize(Some(&basic("elastic", "secret")));
        let less = r#"{"indices":[{"names":["a-*"],"privileges":["read"]}]}"#;
        client.good("PUT", "/_security/role/ann", less).await;
        client.authorize(Some(&reads));
        let answer = client.call("GET", "/b-1/_search", "").await;
        assert_eq!((answer.status, challenge(&answer)), (403, Some(BARE)), "{}", answer.text());
    });
}

/// What an entry of details gives is held as well as what a scope does.
#[test]
fn what_an_entry_gives_is_not_asked_for_again() {
    with_oauth(|mut client| async move {
        stage(&mut client, &[("ann", &[("a-*", "read")])]).await;
        client.authorize(Some(&basic("elastic", "secret")));
        let body = r#"{"client_name":"App","redirect_uris":["https://app.example/cb"],
            "scope":"index:*:all","authorization_details_types":["index_access"]}"#;
        let made = client.good("POST", "/_oauth/client", body).await;
        let text = |key: &str| at(&made, &[key]).as_str().expect("a text").to_owned();
        let (id, secret) = (text("client_id"), text("client_secret"));
        let details = r#"[{"type":"index_access","indices":["a-*","b-*"],"actions":["read"]}]"#;
        let target = format!(
            "/authorize?response_type=code&client_id={id}&authorization_details={}",
            escaped(details)
        );
        let mut browser = Browser::default();
        let (_, page) = browser.consent_to(&mut client, "ann", &target).await;
        let mut form = fields(&page, "/consent");
        form.extend([("detail", "0"), ("decision", "allow")].map(|(a, b)| (a.into(), b.into())));
        let led = location(&browser.post(&mut client, "/consent", &form).await);
        let code = led.split_once("code=").expect("a code").1.split('&').next().unwrap_or_default();
        let body = format!(
            "grant_type=authorization_code&code={code}&client_id={id}&client_secret={secret}"
        );
        let kind = [("Content-Type", "application/x-www-form-urlencoded")];
        let answer = client.call_with("POST", "/token", &kind, body.as_bytes()).await;
        let token = at(&value(&answer), &["access_token"]).as_str().expect("a token").to_owned();
        client.authorize(Some(&format!("Bearer {token}")));
        client.good("GET", "/a-1/_search", "").await;
        let answer = client.call("GET", "/b-1/_search", "").await;
        assert_eq!((answer.status, challenge(&answer)), (403, Some(BARE)), "{}", answer.text());
        let answer = client.call("GET", "/c-1/_search", "").await;
        let expected = lacking("index:c-1:read");
        assert_eq!((answer.status, challenge(&answer)), (403, Some(expected.as_str())));
    });
}

/// An alias leads where a token may not go: the refusal named the index behind it, and so did the names that the
/// alias stands for.
#[test]
fn a_token_does_not_learn_what_is_behind_an_alias() {
    with_oauth(|mut client| async move {
        let app = stage(&mut client, &[("ann", &[("*", "all")])]).await;
        client.authorize(Some(&basic("elastic", "secret")));
        for index in ["hidden-one", "sales-1"] {
            client.good("PUT", &format!("/{index}/_doc/1?refresh=true"), r#"{"n":1}"#).await;
        }
        client.good("PUT", "/hidden-one/_alias/sales", "").await;
        client.good("PUT", "/hidden-one,sales-1/_alias/sales-all", "").await;
        let searches = "{\"index\":\"ALIAS\"}\n{}\n";
        let calls = [
            ("GET", "/ALIAS/_search", ""),
            ("GET", "/ALIAS/_count", ""),
            ("GET", "/ALIAS/_doc/1", ""),
            ("GET", "/ALIAS/_mapping", ""),
            ("GET", "/ALIAS/_settings", ""),
            ("GET", "/ALIAS/_alias", ""),
            ("GET", "/ALIAS", ""),
            ("GET", "/_alias/ALIAS", ""),
            ("GET", "/_cat/aliases/ALIAS?format=json", ""),
            ("GET", "/_cat/indices/ALIAS?format=json", ""),
            ("GET", "/ALIAS/_field_caps?fields=*", ""),
            ("GET", "/ALIAS/_search_shards", ""),
            ("GET", "/ALIAS/_validate/query", ""),
            ("GET", "/ALIAS/_termvectors/1", ""),
            ("GET", "/ALIAS/_stats", ""),
            ("POST", "/ALIAS/_pit?keep_alive=1m", ""),
            ("POST", "/ALIAS/_refresh", ""),
            ("PUT", "/ALIAS/_doc/2", "{}"),
            ("POST", "/ALIAS/_update/1", r#"{"doc":{"n":2}}"#),
            ("POST", "/ALIAS/_delete_by_query", r#"{"query":{"match_all":{}}}"#),
            ("POST", "/ALIAS/_explain/1", r#"{"query":{"match_all":{}}}"#),
            ("POST", "/_mget", r#"{"docs":[{"_index":"ALIAS","_id":"1"}]}"#),
            ("POST", "/_msearch", searches),
            ("POST", "/_bulk", "{\"index\":{\"_index\":\"ALIAS\",\"_id\":\"3\"}}\n{}\n"),
            ("POST", "/_reindex", r#"{"source":{"index":"ALIAS"},"dest":{"index":"a-1"}}"#),
            ("POST", "/_reindex", r#"{"source":{"index":"a-1"},"dest":{"index":"ALIAS"}}"#),
            ("GET", "/_resolve/index/ALIAS", ""),
            ("GET", "/_resolve/index/ALIA*", ""),
            ("GET", "/_resolve/index/*", ""),
            ("POST", "/ALIAS/_rollover", ""),
            // What is wrong with it would be told of all its indices.
            (
                "POST",
                "/_aliases",
                r#"{"actions":[{"add":{"index":"sales-1","alias":"ALIAS","is_hidden":true}}]}"#,
            ),
            ("PUT", "/sales-1/_alias/ALIAS", r#"{"is_hidden":true}"#),
            ("PUT", "/sales-new", r#"{"aliases":{"ALIAS":{"is_hidden":true}}}"#),
            ("POST", "/_data_stream/_migrate/ALIAS", ""),
        ];
        for scope in ["index:sales:read", "index:sales:all", "index:sales*:all", "index:a-*:read"] {
            let token = token(&mut client, &app, "ann", scope).await;
            client.authorize(Some(&token));
            for alias in ["sales", "sales-all"] {
                for (method, target, body) in calls {
                    let target = target.replace("ALIAS", alias).replace("ALIA*", "sale*");
                    let answer = client.call(method, &target, &body.replace("ALIAS", alias)).await;
                    let story = format!("{scope}: {method} {target} {body}: {}", answer.text());
                    assert!(!answer.text().contains("hidden-one"), "{story}");
                    let lacks = challenge(&answer).unwrap_or_default();
                    assert!(!lacks.contains("hidden-one"), "{lacks} {story}");
                }
            }
        }
        let token = token(&mut client, &app, "ann", "index:sales*:read").await;
        client.authorize(Some(&token));
        let told = client.bad("GET", "/sales/_search", "").await;
        assert!(told.starts_with("403 security_exception: action [indices:data/read/search] is "));
        assert!(told.contains(" on indices [sales], this action is granted by"), "{told}");
        assert_eq!(challenge(&client.call("GET", "/sales/_search", "").await), Some(BARE));
        let names = client.good("GET", "/_resolve/index/sales-all", "").await;
        assert_eq!(
            at(&names, &["aliases"]),
            &json::json!([{"name": "sales-all", "indices": ["sales-1"]}])
        );
        let told = client.bad("GET", "/_resolve/index/sales", "").await;
        assert!(told.contains(" on indices [sales], "), "{told}");
        // To whom the index was granted, too, nothing is hidden.
        let both = self::token(&mut client, &app, "ann", "index:*:read").await;
        client.authorize(Some(&both));
        let names = client.good("GET", "/_resolve/index/sales-all", "").await;
        let all = at(&names, &["aliases"]).as_array().expect("a list");
        assert_eq!(at(&all[0], &["indices"]), &json::json!(["hidden-one", "sales-1"]));
    });
}

/// A token whose index bore another alias was refused by each pattern that met the alias, which said its name.
#[test]
fn patterns_meet_no_alias_that_was_not_granted() {
    with_oauth(|mut client| async move {
        let app = stage(&mut client, &[("ann", &[("*", "all")])]).await;
        client.authorize(Some(&basic("elastic", "secret")));
        client.good("PUT", "/a-1/_doc/1?refresh=true", r#"{"n":1}"#).await;
        client.good("PUT", "/a-1/_alias/merger-with-acme", "").await;
        let calls = [
            ("GET", "/NAME/_search", ""),
            ("GET", "/NAME/_search?expand_wildcards=all", ""),
            ("GET", "/NAME/_count", ""),
            ("GET", "/NAME/_mapping", ""),
            ("GET", "/NAME/_settings", ""),
            ("GET", "/NAME/_field_caps?fields=*", ""),
            ("GET", "/NAME/_validate/query", ""),
            ("GET", "/NAME/_stats", ""),
            ("GET", "/NAME", ""),
            ("GET", "/_cat/count/NAME?h=count", ""),
            ("POST", "/NAME/_refresh", ""),
            ("POST", "/NAME/_flush", ""),
            ("POST", "/NAME/_delete_by_query", r#"{"query":{"match_none":{}}}"#),
            ("POST", "/_reindex", r#"{"source":{"index":"NAME"},"dest":{"index":"a-1"}}"#),
            ("POST", "/_msearch", "{\"index\":\"NAME\"}\n{\"size\":0}\n"),
            ("POST", "/_aliases", r#"{"actions":[{"remove":{"index":"a-1","alias":"NAME"}}]}"#),
            ("DELETE", "/a-1/_alias/NAME", ""),
        ];
        let token = token(&mut client, &app, "ann", "index:a-*:all").await;
        client.authorize(Some(&token));
        // What took how long is no part of what is told, nor is the pattern that was sent.
        let bare = |text: &str, name: &str| {
            let text = text.replace(name, "NAME");
            let parts = text.split(',').filter(|part| !part.contains("\"took\""));
            parts.collect::<Vec<_>>().join(",")
        };
        for (method, target, body) in calls {
            let mut told = Vec::new();
            for name in ["zz*", "me*", "*acme"] {
                let (target, body) = (target.replace("NAME", name), body.replace("NAME", name));
                let answer = client.call(method, &target, &body).await;
                let text = answer.text();
                assert!(!text.contains("merger"), "{method} {target} {body}: {text}");
                assert_eq!(challenge(&answer), None, "{method} {target} {body}: {text}");
                told.push((answer.status, bare(&text, name)));
            }
            assert_eq!(told[0], told[1], "{method} {target}");
            assert_eq!(told[0], told[2], "{method} {target}");
        }
        // What a pattern meets by a name that was granted is there, whatever else bears the pattern's letters.
        let own = client.good("GET", "/a-*/_count", "").await;
        let found = client.good("GET", "/a-*,me*/_search", "").await;
        assert_eq!(at(&found, &["hits", "total", "value"]), at(&own, &["count"]));
        client.authorize(Some(&basic("elastic", "secret")));
        client.good("GET", "/a-1/_alias/merger-with-acme", "").await;
    });
}
