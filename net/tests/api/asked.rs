//! What scripts, forms and requests say, to the letter.

use crate::browser::{Browser, location};
use crate::consented::stage;
use crate::place::{with_oauth, with_oauth_set};

/// The answer to a script's question before its question was the one answer of these endpoints that a cache might keep.
#[test]
fn no_cache_keeps_what_a_script_is_told() {
    with_oauth(|mut client| async move {
        stage(&mut client, &[]).await;
        let page = "https://spa.example";
        let body = r#"{"client_name":"SPA","token_endpoint_auth_method":"none",
            "redirect_uris":["https://spa.example/cb"]}"#;
        client.good("POST", "/_oauth/client", body).await;
        client.authorize(None);
        for target in ["/token", "/revoke", "/par", "/device_authorization"] {
            for (origin, status) in [(page, 204), ("https://other.example", 405)] {
                let fields = [("Origin", origin), ("Access-Control-Request-Method", "POST")];
                let answer = client.call_with("OPTIONS", target, &fields, b"").await;
                assert_eq!(answer.status, status, "{target}");
                assert_eq!(answer.field("cache-control"), Some("no-store"), "{target} {origin}");
                assert_eq!(answer.field("pragma"), Some("no-cache"), "{target} {origin}");
                let allowed = answer.field("access-control-allow-origin");
                assert_eq!(allowed, (status == 204).then_some(page));
            }
        }
    });
}

/// `+5` was a number of seconds.
#[test]
fn an_age_is_digits() {
    with_oauth(|mut client| async move {
        let app = stage(&mut client, &[]).await.0;
        for (age, is_good) in [
            ("5", true),
            ("05", true),
            ("%2B5", false),
            ("-5", false),
            ("5.0", false),
            ("x", false),
        ] {
            let target = format!("/authorize?response_type=code&client_id={app}&max_age={age}");
            let led = location(&Browser::default().ask(&mut client, &target, &[]).await);
            let expected = if is_good { "/login?request=" } else { "error=invalid_request" };
            assert!(led.contains(expected), "{age}: {led}");
        }
    });
}

/// The field of the page cut a password that the store takes.
#[test]
fn no_field_cuts_a_password() {
    let set = [("oauth.limit.login", "0")];
    with_oauth_set(&set, |mut client, _| async move {
        stage(&mut client, &[("ann", &[])]).await;
        let mut browser = Browser::default();
        let login = browser.ask(&mut client, "/login", &[]).await.text();
        browser.sign_in(&mut client, "ann", "/login").await;
        let account = browser.ask(&mut client, "/account/security", &[]).await.text();
        for page in [login, account] {
            let fields: Vec<&str> =
                page.split("<input").filter(|it| it.contains("type=\"password\"")).collect();
            assert!(!fields.is_empty(), "{page}");
            for field in fields {
                let field = field.split('>').next().unwrap_or_default();
                assert!(!field.contains("maxlength"), "{field}");
            }
        }
    });
}
