//! An application that is changed while its owner decides: what was shown is what is allowed, and nobody is led to
//! where it answers no more.

use http::client::Response;

use crate::browser::{Browser, basic, escaped, fields, location, words};
use crate::decided;
use crate::place::{Client, at, value, with_oauth};

const OLD: &str = "https://old.example/cb";
const NEW: &str = "https://new.example/cb";
const SCOPE: &str = "index:a-*:read";

/// An application with two addresses, and who may have it approved.
struct App {
    dev: Browser,
    /// Where its developer changes it.
    place: String,
    id: String,
    secret: String,
}

impl App {
    /// Made by its developer, and approved.
    async fn new(client: &mut Client) -> Self {
        let (mut dev, _) = decided::stage(client).await;
        let both = format!("{OLD}\n{NEW}");
        let place = decided::send(&mut dev, client, "/apps/new", "App", &both, SCOPE).await;
        client.authorize(Some(&basic("elastic", "secret")));
        let reader = r#"{"indices":[{"names":["a-*"],"privileges":["read"]}]}"#;
        client.good("PUT", "/_security/role/reader", reader).await;
        let ann = r#"{"password":"ann-knows-this","roles":["reader"]}"#;
        client.good("PUT", "/_security/user/ann", ann).await;
        client.good("PUT", "/a-1/_doc/1?refresh=true", r#"{"n":1}"#).await;
        let mut app = Self { dev, place, id: String::new(), secret: String::new() };
        let made = app.approve(client).await;
        app.id = at(&made, &["client_id"]).as_str().expect("an id").to_owned();
        let target = format!("/_oauth/client/{}/_rotate_secret", app.id);
        let made = client.good("POST", &target, "").await;
        app.secret = at(&made, &["client_secret"]).as_str().expect("a secret").to_owned();
        app
    }

    async fn approve(&self, client: &mut Client) -> json::Value {
        let reference = self.place.rsplit('/').next().expect("a reference");
        client.authorize(Some(&basic("elastic", "secret")));
        client.good("POST", &format!("/_oauth/client/{reference}/_approve"), "").await
    }

    /// Its developer sends it with this name and these addresses, and it is approved.
    async fn change(&mut self, client: &mut Client, name: &str, callbacks: &str) {
        let place = self.place.clone();
        decided::send(&mut self.dev, client, &place, name, callbacks, SCOPE).await;
        self.approve(client).await;
    }

    /// Where it sends people, to be led back to `callback`.
    fn authorize(&self, callback: &str) -> String {
        format!(
            "/authorize?response_type=code&client_id={}&redirect_uri={}&scope={}\
             &code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256",
            self.id,
            escaped(callback),
            escaped(SCOPE)
        )
    }

    /// Its code for tokens.
    async fn redeem(&self, client: &mut Client, led: &str) -> Response {
        let code = led.split_once("code=").expect("a code").1.split('&').next().expect("text");
        let form = format!(
            "grant_type=authorization_code&code={code}&client_id={}&client_secret={}\
             &code_verifier=dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
            self.id, self.secret
        );
        let kind = [("Content-Type", "application/x-www-form-urlencoded")];
        client.authorize(None);
        client.call_with("POST", "/token", &kind, form.as_bytes()).await
    }
}

/// Presses a button of the page that asks.
async fn press(
    browser: &mut Browser,
    client: &mut Client,
    page: &Response,
    decision: &str,
) -> Response {
    let mut form = fields(page, "/consent");
    for (name, value) in [("scope", SCOPE), ("remember", "true"), ("decision", decision)] {
        form.push((name.into(), value.into()));
    }
    browser.post(client, "/consent", &form).await
}

fn leads_nowhere(answer: &Response) -> bool {
    !answer.fields.iter().any(|(name, _)| name.eq_ignore_ascii_case("location"))
}

/// The address was compared when the request came. One that was taken from the client while its owner had the page
/// before them got its code, or its refusal, all the same.
#[test]
fn nobody_is_led_to_an_address_that_was_taken_away() {
    for decision in ["allow", "deny"] {
        with_oauth(|mut client| async move {
            let mut app = App::new(&mut client).await;
            let mut browser = Browser::default();
            let target = app.authorize(OLD);
            let (request, page) = browser.consent_to(&mut client, "ann", &target).await;
            app.change(&mut client, "App", NEW).await;
            let answer = press(&mut browser, &mut client, &page, decision).await;
            assert_eq!(answer.status, 403, "{decision}: {}", answer.text());
            assert!(leads_nowhere(&answer), "{decision}");
            for page in ["consent", "login"] {
                let target = format!("/{page}?request={request}");
                let answer = browser.ask(&mut client, &target, &[]).await;
                assert_eq!((answer.status, leads_nowhere(&answer)), (400, true), "{target}");
            }
        });
    }
}

/// The same where the code was on its way already.
#[test]
fn a_code_for_an_address_that_was_taken_away_is_none() {
    with_oauth(|mut client| async move {
        let mut app = App::new(&mut client).await;
        for (gone, status) in [(NEW, 200), (OLD, 400)] {
            let kept = if gone == NEW { OLD } else { NEW };
            app.change(&mut client, "App", &format!("{OLD}\n{NEW}")).await;
            let mut browser = Browser::default();
            let target = app.authorize(OLD);
            let (_, page) = browser.consent_to(&mut client, "ann", &target).await;
            let led = location(&press(&mut browser, &mut client, &page, "allow").await);
            assert!(led.starts_with(OLD), "{led}");
            app.change(&mut client, "App", kept).await;
            let answer = app.redeem(&mut client, &led).await;
            assert_eq!(answer.status, status, "{}", answer.text());
            let error =
                value(&answer).get("error").and_then(json::Value::as_str).map(str::to_owned);
            assert_eq!(error.as_deref(), (status == 400).then_some("invalid_grant"));
        }
    });
}

/// The owner was shown one application, and allowed what it had become meanwhile; with "do not ask again" nobody
/// was ever shown that.
#[test]
fn an_owner_allows_what_the_page_showed() {
    with_oauth(|mut client| async move {
        let mut app = App::new(&mut client).await;
        let mut browser = Browser::default();
        let target = app.authorize(NEW);
        let (request, page) = browser.consent_to(&mut client, "ann", &target).await;
        app.change(&mut client, "Another", NEW).await;
        let answer = press(&mut browser, &mut client, &page, "allow").await;
        assert_eq!(answer.status, 409, "{}", answer.text());
        assert!(leads_nowhere(&answer));
        let told = words(&answer);
        assert!(told.contains("was changed while you looked at it"), "{told}");
        // Loaded again, the page shows what it is now, and that may be allowed and remembered.
        let page = browser.ask(&mut client, &format!("/consent?request={request}"), &[]).await;
        assert!(words(&page).contains("Another wants access"), "{}", words(&page));
        let led = location(&press(&mut browser, &mut client, &page, "allow").await);
        assert!(led.starts_with(&format!("{NEW}?code=")), "{led}");
        let led = location(&browser.ask(&mut client, &target, &[]).await);
        assert!(led.starts_with(&format!("{NEW}?code=")), "remembered: {led}");
        app.change(&mut client, "A third", NEW).await;
        let led = location(&browser.ask(&mut client, &target, &[]).await);
        assert!(led.starts_with("/consent?"), "asked again: {led}");
        // A refusal needs no second look.
        let page = browser.ask(&mut client, &led, &[]).await;
        app.change(&mut client, "A fourth", NEW).await;
        let led = location(&press(&mut browser, &mut client, &page, "deny").await);
        assert!(led.contains("error=access_denied"), "{led}");
    });
}

/// A token of the form that says another version than its page showed is none of ours.
#[test]
fn a_form_says_the_version_that_its_page_showed() {
    with_oauth(|mut client| async move {
        let app = App::new(&mut client).await;
        let mut browser = Browser::default();
        let (_, page) = browser.consent_to(&mut client, "ann", &app.authorize(NEW)).await;
        let target = format!("/_oauth/client/{}", app.id);
        client.authorize(Some(&basic("elastic", "secret")));
        let version = at(&client.good("GET", &target, "").await, &["version"]).as_u64();
        let version = version.expect("a number");
        let mut form = fields(&page, "/consent");
        let token = form.iter_mut().find(|(name, _)| name == "csrf_token").expect("a token");
        let (own, rest) = token.1.split_once('.').expect("two parts");
        assert_eq!(own, version.to_string());
        token.1 = format!("{}.{rest}", version + 1);
        form.push(("decision".into(), "deny".into()));
        let answer = browser.post(&mut client, "/consent", &form).await;
        assert_eq!(answer.status, 403, "{}", answer.text());
        assert!(leads_nowhere(&answer));
    });
}
