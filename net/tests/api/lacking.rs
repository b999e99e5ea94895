//! What a token lacks is told so that its application can do something about it, and nothing else is told.

use http::client::Response;

use crate::browser::basic;
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
