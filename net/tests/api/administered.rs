//! The calls of `/_oauth`: what they take, and what may be decided where.

use crate::browser::basic;
use crate::decided::{send, stage};
use crate::place::{Client, ISSUER, at, with_oauth};

const WRONG: &str = "400 illegal_argument_exception: ";

/// Makes a client of `dev`, which stands so; answers its id and its number.
async fn made(client: &mut Client, status: &str) -> (String, String) {
    client.authorize(Some(&basic("elastic", "secret")));
    let body = format!(
        r#"{{"client_name":"App","owner":"dev","status":"{status}","scope":"index:a-1:read",
            "redirect_uris":["https://app.example/cb"]}}"#
    );
    let made = client.good("POST", "/_oauth/client", &body).await;
    let text = |key: &str| at(&made, &[key]).as_str().expect("a text").to_owned();
    (text("client_id"), text("reference"))
}

/// `?versoin=1` approved whatever was there, and `?usernam=ann` showed everybody's grants.
#[test]
fn what_a_call_does_not_know_is_refused() {
    with_oauth(|mut client| async move {
        stage(&mut client).await;
        let (id, _) = made(&mut client, "pending").await;
        let one = format!("/_oauth/client/{id}");
        let approve = format!("{one}/_approve");
        let unknown = |path: &str, rest: &str| {
            format!("{WRONG}request [{path}] contains unrecognized parameter: {rest}")
        };
        let (long, twice) = ("Failed to parse long parameter [version] with value", "came twice");
        for (method, target, told) in [
            (
                "POST",
                format!("{approve}?versoin=1"),
                unknown(&approve, "[versoin] -> did you mean [version]?"),
            ),
            ("POST", format!("{approve}?foo=1"), unknown(&approve, "[foo]")),
            ("POST", format!("{approve}?version="), format!("{WRONG}{long} []")),
            ("POST", format!("{approve}?version=x"), format!("{WRONG}{long} [x]")),
            (
                "POST",
                format!("{approve}?version=-1"),
                format!("{WRONG}[version] must not be negative"),
            ),
            ("POST", format!("{approve}?version=1&version=1"), format!("{WRONG}[version] {twice}")),
            (
                "GET",
                "/_oauth/grant?usernam=x".into(),
                unknown("/_oauth/grant", "[usernam] -> did you mean [username]?"),
            ),
            ("GET", "/_oauth/grant?username=".into(), format!("{WRONG}[username] is empty")),
            (
                "GET",
                "/_oauth/grant?client_id=a&client_id=b".into(),
                format!("{WRONG}[client_id] {twice}"),
            ),
            ("GET", format!("{one}?version=1"), unknown(&one, "[version]")),
            ("DELETE", format!("{one}?version=1"), unknown(&one, "[version]")),
            ("POST", "/_oauth/keys/_rotate?x".into(), unknown("/_oauth/keys/_rotate", "[x]")),
        ] {
            assert_eq!(client.bad(method, &target, "").await, told, "{method} {target}");
        }
        // A version in a body is none.
        let refused = client.bad("POST", &approve, r#"{"version":7}"#).await;
        assert_eq!(refused, format!("{WRONG}[version] is not known"));
        for (method, target) in [
            ("POST", format!("{one}/_reject").as_str()),
            ("POST", &format!("{one}/_suspend")),
            ("POST", &format!("{one}/_rotate_secret")),
            ("DELETE", &one),
            ("GET", "/_oauth/grant"),
        ] {
            assert_eq!(
                client.bad(method, target, r#"{"version":7}"#).await,
                format!("{WRONG}request [{method} {target}] does not support having a body")
            );
        }
        let body = r#"{"client_name":"App","redirect_uris":["https://app.example/cb"],"vers":7}"#;
        let refused = client.bad("POST", "/_oauth/client", body).await;
        assert_eq!(refused, format!("{WRONG}[vers] is not known"));
        let body =
            r#"{"client_name":"App","redirect_uris":["https://a.example/"],"grant_types":[]}"#;
        let refused = client.bad("POST", "/_oauth/client", body).await;
        assert_eq!(refused, format!("{WRONG}[grant_types] names none"));
        let now = client.good("GET", &format!("{one}?pretty&human=false"), "").await;
        assert_eq!(at(&now, &["status"]).as_str(), Some("pending"), "nothing was done");
        // What every call of the store knows is heard here, too.
        let told = client.bad("POST", &format!("{approve}?pretty=foo"), "").await;
        let only = "Failed to parse value [foo] as only [true] or [false] are allowed.";
        assert_eq!(told, format!("{WRONG}{only}"));
        let short = client.call("GET", &format!("{one}?filter_path=status&pretty"), "").await;
        assert_eq!(short.text(), "{\n  \"status\" : \"pending\"\n}\n");
        let kind = client.call("GET", &format!("{one}?filter_path=status&format=yaml"), "").await;
        assert_eq!(kind.text(), "---\nstatus: \"pending\"\n");
        client.good("POST", &format!("{approve}?version=1"), "").await;
        // What is there has its methods; nothing else is.
        let wrong = client.call("PUT", &one, "").await;
        assert_eq!(wrong.status, 405);
        let allow = wrong.fields.iter().find(|(name, _)| name.eq_ignore_ascii_case("allow"));
        assert_eq!(allow.map(|(_, value)| value.as_str()), Some("DELETE, GET"));
        assert_eq!(client.call("GET", "/_oauth/clients", "").await.status, 400);
    });
}

/// Every decision where every client may stand. `_reject` of an approved client made it a rejected one whose
/// id and secret lived on, and `_suspend` approved of what nobody had looked at, for `_approve` only ends a
/// suspension.
#[test]
fn a_decision_has_its_place() {
    with_oauth(|mut client| async move {
        let (mut dev, _) = stage(&mut client).await;
        const NO: &str = "409";
        for (stands, changes, [approve, reject, suspend, rotate]) in [
            ("pending", false, ["approved", "rejected", NO, "pending"]),
            ("approved", false, ["approved", NO, "suspended", "approved"]),
            ("approved", true, ["approved", "approved", "suspended", "approved"]),
            ("rejected", false, [NO, "rejected", NO, NO]),
            ("suspended", false, ["approved", NO, "suspended", "suspended"]),
            ("suspended", true, ["approved", "suspended", "suspended", "suspended"]),
        ] {
            for (verb, expected) in [
                ("_approve", approve),
                ("_reject", reject),
                ("_suspend", suspend),
                ("_rotate_secret", rotate),
            ] {
                let begins = if stands == "rejected" { "pending" } else { "approved" };
                let begins = if stands == "pending" { stands } else { begins };
                let (id, reference) = made(&mut client, begins).await;
                let one = format!("/_oauth/client/{id}");
                match stands {
                    "rejected" => drop(client.good("POST", &format!("{one}/_reject"), "").await),
                    "suspended" => drop(client.good("POST", &format!("{one}/_suspend"), "").await),
                    _ => {}
                }
                if changes {
                    let app = format!("/apps/{reference}");
                    let (to, scope) = ("https://other.example/cb", "index:a-1:read");
                    client.authorize(None);
                    send(&mut dev, &mut client, &app, "App", to, scope).await;
                    client.authorize(Some(&basic("elastic", "secret")));
                }
                let story = format!("{verb} of {stands}, changes {changes}");
                let before = client.good("GET", &one, "").await;
                let target = format!("{one}/{verb}");
                if expected == NO {
                    let told = client.bad("POST", &target, "").await;
                    let what = match verb {
                        "_rotate_secret" => "rotate the secret of",
                        verb => &verb[1..],
                    };
                    let begin =
                        format!("409 status_exception: cannot {what} client [{id}]: it is ");
                    let rest =
                        told.strip_prefix(&begin).unwrap_or_else(|| panic!("{story}: {told}"));
                    assert!(rest.starts_with(&format!("[{stands}]")), "{story}: {told}");
                    assert_eq!(client.good("GET", &one, "").await, before, "{story}");
                    continue;
                }
                let answer = client.good("POST", &target, "").await;
                assert_eq!(at(&answer, &["status"]).as_str(), Some(expected), "{story}");
                let after = client.good("GET", &one, "").await;
                assert_eq!(at(&after, &["status"]).as_str(), Some(expected), "{story}");
                let is_taken = changes && stands == "approved" && verb == "_approve";
                let uris = at(&after, &["redirect_uris"]) != at(&before, &["redirect_uris"]);
                assert_eq!(uris, is_taken, "{story}");
                let is_decided = is_taken || verb == "_reject";
                assert_eq!(after.get("proposal").is_some(), changes && !is_decided, "{story}");
                // What stood so already is as it was, and a version that is over is still refused.
                if expected == stands && !changes && verb != "_rotate_secret" {
                    assert_eq!(after, before, "{story}");
                    let told = client.bad("POST", &format!("{target}?version=77"), "").await;
                    assert!(told.starts_with("409 version_conflict"), "{story}: {told}");
                }
            }
        }
    });
}

/// A page of anybody's made an approved client: by a form that a browser sends without asking, with the password that
/// it kept.
#[test]
fn a_form_of_another_page_changes_nothing() {
    with_oauth(|mut client| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        let body = r#"{"client_name":"App","redirect_uris":["https://app.example/cb"]}"#;
        let target = "/_oauth/client";
        for kind in [
            "text/plain",
            "application/x-www-form-urlencoded",
            "multipart/form-data; boundary=a",
            "application/yaml",
        ] {
            let fields = [("Content-Type", kind)];
            let answer = client.call_with("POST", target, &fields, body.as_bytes()).await;
            assert_eq!(answer.status, 406, "{kind}");
            let told = format!("Content-Type header [{kind}] is not supported");
            assert!(answer.text().contains(&told), "{}", answer.text());
        }
        let answer = client.call_with("POST", target, &[], body.as_bytes()).await;
        assert_eq!(answer.status, 406);
        assert!(answer.text().contains("Content-Type header is missing"), "{}", answer.text());
        // Where there is no body, there is no type to look at.
        let foreign = ("Origin", "https://other.example");
        for fields in [
            &[foreign][..],
            &[foreign, ("Sec-Fetch-Site", "cross-site")],
            &[("Origin", "null")],
            &[("Origin", "null"), ("Sec-Fetch-Site", "cross-site")],
            &[("Sec-Fetch-Site", "cross-site")],
            &[("Sec-Fetch-Site", "same-site")],
        ] {
            for (target, body) in [("/_oauth/keys/_rotate", ""), (target, body)] {
                let mut fields = fields.to_vec();
                if !body.is_empty() {
                    fields.push(("Content-Type", "application/json"));
                }
                let answer = client.call_with("POST", target, &fields, body.as_bytes()).await;
                assert_eq!(answer.status, 403, "{fields:?}: {}", answer.text());
                assert!(answer.text().contains("security_exception"), "{}", answer.text());
            }
        }
        let listed = client.good("GET", target, "").await;
        assert_eq!(at(&listed, &["clients"]).as_array().map(<[_]>::len), Some(0));
        for fields in [
            &[("Origin", ISSUER)][..],
            &[],
            &[("Origin", "null"), ("Sec-Fetch-Site", "same-origin")],
            &[("Sec-Fetch-Site", "none")],
        ] {
            let answer = client.call_with("POST", "/_oauth/keys/_rotate", fields, b"").await;
            assert_eq!(answer.status, 200, "{fields:?}: {}", answer.text());
        }
        let kind = "application/vnd.elasticsearch+json; compatible-with=8";
        let fields = [("Content-Type", kind)];
        let answer = client.call_with("POST", target, &fields, body.as_bytes()).await;
        assert_eq!(answer.status, 201, "{}", answer.text());
    });
}
