//! A code for tokens: what must be said again.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::browser::{Browser, escaped, fields, location};
use crate::consented::{CALLBACK, stage};
use crate::place::{Client, at, value, with_oauth, with_oauth_set};

const FORM: [(&str, &str); 1] = [("Content-Type", "application/x-www-form-urlencoded")];

const SCOPE: &str = "index:a-*:read";

/// A code for a request that begins at `target`.
async fn code(client: &mut Client, target: &str) -> String {
    let mut browser = Browser::default();
    let (_, page) = browser.consent_to(client, "ann", target).await;
    let mut form = fields(&page, "/consent");
    form.extend([("scope", SCOPE), ("decision", "allow")].map(|(a, b)| (a.into(), b.into())));
    let led = location(&browser.post(client, "/consent", &form).await);
    let (_, code) = led.split_once("code=").expect("a code");
    code.split('&').next().unwrap_or_default().to_owned()
}

/// What `/token` answers to a client for a code.
async fn exchange(client: &mut Client, app: &(String, String), code: &str, more: &str) -> String {
    let body = format!(
        "grant_type=authorization_code&code={code}&client_id={}&client_secret={}{more}",
        app.0, app.1
    );
    client.authorize(None);
    let answer = client.call_with("POST", "/token", &FORM, body.as_bytes()).await;
    match value(&answer).get("error").and_then(json::Value::as_str) {
        Some(error) => format!("{} {error}", answer.status),
        None => answer.status.to_string(),
    }
}

/// With PKCE the redirect URI could be left out, whatever the setting said.
#[test]
fn a_strict_server_wants_the_redirect_uri_again() {
    let verifier = "v".repeat(43);
    let challenge = URL_SAFE_NO_PAD.encode(authz::secret::sha256(verifier.as_bytes()));
    let pkce = format!("&code_challenge_method=S256&code_challenge={challenge}");
    for (strict, left_out) in [("true", "400 invalid_grant"), ("false", "200")] {
        let set = [("oauth.strict_redirect_uri", strict)];
        let (pkce, verifier) = (pkce.clone(), format!("&code_verifier={verifier}"));
        with_oauth_set(&set, |mut client, told| async move {
            let app = stage(&mut client, &[("ann", &[("a-*", "read")])]).await;
            let callback = format!("&redirect_uri={}", escaped(CALLBACK));
            let asked = format!("response_type=code&client_id={}&scope={}", app.0, escaped(SCOPE));
            let plain = format!("/authorize?{asked}{callback}");
            let with_pkce = format!("{plain}{pkce}");
            let body = format!("{asked}{callback}{pkce}&client_secret={}", app.1);
            client.authorize(None);
            let pushed = client.call_with("POST", "/par", &FORM, body.as_bytes()).await;
            let handle = at(&value(&pushed), &["request_uri"]).as_str().expect("one").to_owned();
            let pushed = format!("/authorize?client_id={}&request_uri={}", app.0, escaped(&handle));
            for (target, more) in [(&plain, ""), (&with_pkce, &*verifier), (&pushed, &*verifier)] {
                let got = code(&mut client, target).await;
                assert_eq!(exchange(&mut client, &app, &got, more).await, left_out, "{target}");
                // A code is good once, and of no use after a wrong exchange.
                let again = exchange(&mut client, &app, &got, &format!("{more}{callback}")).await;
                assert_eq!(again, "400 invalid_grant", "{target}");
            }
            // Said again it is right, and one that was never named need not be.
            let got = code(&mut client, &with_pkce).await;
            let more = format!("{verifier}{callback}");
            assert_eq!(exchange(&mut client, &app, &got, &more).await, "200");
            let unnamed = format!("/authorize?{asked}{pkce}");
            let got = code(&mut client, &unnamed).await;
            assert_eq!(exchange(&mut client, &app, &got, &verifier).await, "200");
            if strict == "true" {
                let refused = told.of("code_redeemed");
                let failed =
                    |line: &&json::Value| at(line, &["outcome"]).as_str() == Some("failed");
                assert!(refused.iter().filter(failed).count() >= 3, "{refused:?}");
            }
        });
    }
}

/// Who sent a proof of possession and forgot the code was told of the proof alone.
#[test]
fn what_is_missing_is_told_before_a_proof_is_looked_at() {
    with_oauth(|mut client| async move {
        let app = stage(&mut client, &[("ann", &[("a-*", "read")])]).await;
        client.authorize(None);
        let who = format!("client_id={}&client_secret={}", app.0, app.1);
        let fields = [FORM[0], ("DPoP", "a.b.c")];
        for (kind, parameter) in
            [("authorization_code", "code"), ("refresh_token", "refresh_token")]
        {
            for (given, expected) in [("", "invalid_request"), ("x", "invalid_dpop_proof")] {
                let body = format!("grant_type={kind}&{parameter}={given}&{who}");
                let answer = client.call_with("POST", "/token", &fields, body.as_bytes()).await;
                let told = value(&answer);
                let error = at(&told, &["error"]).as_str();
                assert_eq!((answer.status, error), (400, Some(expected)), "{kind} {given}");
            }
        }
    });
}

/// The first of two types was believed.
#[test]
fn a_form_is_of_one_type() {
    with_oauth_set(&[], |mut client, _told| async move {
        let json = ("Content-Type", "application/json");
        for target in ["/token", "/revoke", "/introspect", "/par", "/device_authorization"] {
            for fields in [[FORM[0], json], [json, FORM[0]], [FORM[0], FORM[0]]] {
                let answer = client.call_with("POST", target, &fields, b"token=x").await;
                let told = value(&answer);
                let told = (answer.status, at(&told, &["error"]).as_str().unwrap_or_default());
                assert_eq!(told, (400, "invalid_request"), "{target} {fields:?}");
            }
        }
    });
}
