//! What the pages say of a filter is what it lets through.

use crate::browser::{Browser, basic, escaped, fields, location, words};
use crate::consented::{CALLBACK, stage};
use crate::place::{at, with_oauth};

/// An application chose values that held our quotation marks, and so told of a narrower filter than the one it
/// then got; and brackets were missing where they meant something.
#[test]
fn a_filter_is_told_as_it_filters() {
    with_oauth(|mut client| async move {
        stage(&mut client, &[("ann", &[("*", "read")])]).await;
        client.authorize(Some(&basic("elastic", "secret")));
        let words_of = r#"{"properties":{"k":{"type":"keyword"},"tag":{"type":"keyword"},
            "short":{"type":"keyword","ignore_above":3},"inner":{"type":"nested"},"f":{"type":"float"},
            "none":{"type":"keyword","null_value":"acme"},
            "customer":{"type":"text","fields":{"keyword":{"type":"keyword"}}}}}"#;
        client.good("PUT", "/a-1/_mapping", words_of).await;
        // In one index it is a text, in the other it is not.
        client.good("PUT", "/a-2/_mapping", r#"{"properties":{"both":{"type":"keyword"}}}"#).await;
        client.good("PUT", "/a-1/_mapping", r#"{"properties":{"both":{"type":"text"}}}"#).await;
        let body = format!(
            r#"{{"client_name":"App","redirect_uris":["{CALLBACK}"],"scope":"index:*:read",
                "authorization_details_types":["index_access"]}}"#
        );
        let made = client.good("POST", "/_oauth/client", &body).await;
        let id = at(&made, &["client_id"]).as_str().expect("an id").to_owned();
        for (query, fields_asked, expected) in [
            // A text that holds the word and more was read, where "customer is acme" was told.
            (r#"{"term":{"customer":"acme"}}"#, r#"["k"]"#, r#"{"term":{"customer":"acme"}}"#),
            (
                r#"{"term":{"customer.keyword":"acme"}}"#,
                r#"["k"]"#,
                "where customer.keyword is “acme”",
            ),
            (r#"{"term":{"both":"acme"}}"#, r#"["k"]"#, r#"{"term":{"both":"acme"}}"#),
            (r#"{"term":{"nowhere":1}}"#, r#"["k"]"#, r#"{"term":{"nowhere":1}}"#),
            (
                r#"{"range":{"n":{"gte":1,"lt":5}}}"#,
                r#"["k"]"#,
                "where n is at least 1 and below 5",
            ),
            // Whole numbers are cut, long words are left out: what passes may be another, or have been left out.
            (r#"{"range":{"n":{"lte":1}}}"#, r#"["k"]"#, r#"{"range":{"n":{"lte":1}}}"#),
            (r#"{"term":{"n":1}}"#, r#"["k"]"#, r#"{"term":{"n":1}}"#),
            (r#"{"term":{"short":"acme"}}"#, r#"["k"]"#, "where short is “acme”"),
            (
                r#"{"bool":{"must_not":{"term":{"short":"acme"}}}}"#,
                r#"["k"]"#,
                r#"{"bool":{"must_not":{"term":{"short":"acme"}}}}"#,
            ),
            (
                r#"{"bool":{"must_not":{"exists":{"field":"inner"}}}}"#,
                r#"["k"]"#,
                r#"{"bool":{"must_not":{"exists":{"field":"inner"}}}}"#,
            ),
            (r#"{"term":{"f":16777216}}"#, r#"["k"]"#, r#"{"term":{"f":16777216}}"#),
            (r#"{"term":{"none":"acme"}}"#, r#"["k"]"#, r#"{"term":{"none":"acme"}}"#),
            (
                r#"{"term":{"k":"zzz”) and (k is “a"}}"#,
                r#"["k"]"#,
                r#"{"term":{"k":"zzz\u201d) and (k is \u201ca"}}"#,
            ),
            (
                r#"{"term":{"a”) and (customer":"x"}}"#,
                r#"["k"]"#,
                r#"{"term":{"a\u201d) and (customer":"x"}}"#,
            ),
            (r#"{"term":{"k":"a\u202eb"}}"#, r#"["k"]"#, r#"{"term":{"k":"a\u202eb"}}"#),
            (
                r#"{"bool":{"filter":[{"bool":{"should":[{"term":{"k":"a"}},{"term":{"k":"b"}}]}},{"term":{"tag":"p"}}]}}"#,
                r#"["k"]"#,
                "(k is “a” or k is “b”) and tag is “p”",
            ),
            (r#"{"term":{"k":"a"}}"#, r#"["k, and nothing else"]"#, r#""k, and nothing else""#),
            (r#"{"match_all":{}}"#, r#"["k"]"#, "Only the fields k ."),
        ] {
            let details = format!(
                r#"[{{"type":"index_access","indices":["a-*"],"actions":["read"],"query":{query},"fields":{fields_asked}}}]"#
            );
            let target = format!(
                "/authorize?response_type=code&client_id={id}&authorization_details={}",
                escaped(&details)
            );
            let mut browser = Browser::default();
            let (_, page) = browser.consent_to(&mut client, "ann", &target).await;
            let told = words(&page).replace("&quot;", "\"");
            assert!(told.contains(expected), "{query}: {told}");
            assert!(!told.contains("k is “a” )") && !told.contains('\u{202e}'), "{told}");
            assert!(!told.contains("where anything"), "{told}");
            // And so where it can be revoked.
            let mut form = fields(&page, "/consent");
            for (name, value) in [("detail", "0"), ("decision", "allow")] {
                form.push((name.into(), value.into()));
            }
            let led = location(&browser.post(&mut client, "/consent", &form).await);
            let code = led.split_once("code=").expect("a code").1;
            let body = format!(
                "grant_type=authorization_code&code={}&client_id={id}&client_secret={}",
                code.split('&').next().unwrap_or_default(),
                at(&made, &["client_secret"]).as_str().expect("a secret")
            );
            let kind = [("Content-Type", "application/x-www-form-urlencoded")];
            let answer = client.call_with("POST", "/token", &kind, body.as_bytes()).await;
            assert_eq!(answer.status, 200, "{}", answer.text());
            let page = browser.ask(&mut client, "/account/apps", &[]).await;
            let told = words(&page).replace("&quot;", "\"");
            let expected = expected.strip_prefix("Only the fields k .").unwrap_or(expected);
            assert!(told.contains(expected), "{query}: {told}");
            assert!(!told.contains('\u{202e}') && !told.contains("anything"), "{told}");
        }
    });
}

/// Of two bounds of one side the page told both, and the last alone counted; what no search can read was granted,
/// and opened nothing.
#[test]
fn what_cannot_be_told_or_read_is_not_asked() {
    with_oauth(|mut client| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        let body = format!(
            r#"{{"client_name":"App","redirect_uris":["{CALLBACK}"],"scope":"index:*:read",
                "authorization_details_types":["index_access"]}}"#
        );
        let made = client.good("POST", "/_oauth/client", &body).await;
        let id = at(&made, &["client_id"]).as_str().expect("an id").to_owned();
        client.authorize(None);
        for (query, is_fine) in [
            (r#"{"range":{"n":{"lte":1}}}"#, true),
            (r#"{"range":{"d":{"lte":"2024","format":"yyyy","time_zone":"Europe/Oslo"}}}"#, true),
            (r#"{"range":{"n":{"lte":1,"lt":100}}}"#, false),
            (r#"{"range":{"n":{"gte":5,"gt":1}}}"#, false),
            (r#"{"range":{"d":{"lte":"2024","format":"foo"}}}"#, false),
            (r#"{"range":{"d":{"lte":"2024","time_zone":"bogus"}}}"#, false),
            (r#"{"term":{"f":{"value":"a","foo":1}}}"#, false),
            (r#"{"term":{"f":{"value":"a","boost":"x"}}}"#, false),
            (r#"{"terms":{"f":[null]}}"#, false),
            (r#"{"term":{"":"a"}}"#, false),
            (r#"{"exists":{"field":""}}"#, false),
            (r#"{"exists":{"field":"_source"}}"#, false),
            (r#"{"bool":{"should":{"exists":{"field":"a"}},"minimum_should_match":1.5}}"#, false),
        ] {
            let details = format!(
                r#"[{{"type":"index_access","indices":["a-*"],"actions":["read"],"query":{query}}}]"#
            );
            let target = format!(
                "/authorize?response_type=code&client_id={id}&code_challenge={}&code_challenge_method=S256\
                 &authorization_details={}",
                "x".repeat(43),
                escaped(&details)
            );
            let led = location(&client.call("GET", &target, "").await);
            assert_eq!(
                led.contains("error=invalid_authorization_details"),
                !is_fine,
                "{query}: {led}"
            );
            assert_eq!(led.starts_with("/login?"), is_fine, "{query}: {led}");
        }
    });
}
