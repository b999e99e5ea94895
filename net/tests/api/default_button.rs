//! Enter in a field sends a form by its first button (HTML, "implicit submission"): where buttons decide, that
//! one does nothing.

use http::client::Response;

use crate::browser::{Browser, fields, form_with, location, words};
use crate::consented::stage;
use crate::decided;
use crate::place::{Client, at, value, with_oauth};

/// What the first button of a form that decides sends: nothing is decided by it, nobody sees it or comes to it. It
/// is neither disabled nor without a place on the page, for then browsers take the next one.
fn pressed(page: &str, action: &str) -> (String, String) {
    let form = form_with(page, action, "name=\"decision\"");
    let first = form.split("<button").nth(1).expect("a button").split('>').next().expect("its end");
    for part in [" class=\"idle\"", " type=\"submit\"", " tabindex=\"-1\"", " aria-hidden=\"true\""]
    {
        assert!(first.contains(part), "{part}: {first}: {form}");
    }
    assert!(!first.contains(" disabled") && !first.contains(" hidden"), "{first}");
    let others: Vec<&str> = form.split("<button").skip(2).collect();
    assert_eq!(others.len(), 2, "{form}");
    assert!(others.iter().all(|one| one.contains("name=\"decision\"")), "{form}");
    let value = |name: &str| {
        let after = first.split_once(&format!(" {name}=\"")).expect("it sends something").1;
        after.split('"').next().unwrap_or_default().to_owned()
    };
    (value("name"), value("value"))
}

/// Enter in a field of the form: the browser stays where it is, and what is pressed then still decides.
async fn enter(
    browser: &mut Browser,
    client: &mut Client,
    page: &Response,
    action: &str,
    more: &[(&str, &str)],
) {
    let mut form = fields(page, action);
    form.extend(more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    form.push(pressed(&page.text(), action));
    let answer = browser.post(client, action, &form).await;
    assert_eq!(answer.status, 204, "{}", answer.text());
    assert!(answer.body.is_empty());
    // A status that has no body tells no length of it (RFC 9110, section 8.6).
    assert_eq!(answer.field("content-length"), None);
    // Only from a page of ours.
    form.retain(|(name, _)| name != "csrf_token");
    assert_eq!(browser.post(client, action, &form).await.status, 403);
}

/// With the focus on the box of a permission, Enter pressed *Allow*.
#[test]
fn enter_on_a_permission_allows_nothing() {
    with_oauth(|mut client| async move {
        let app = stage(&mut client, &[("ann", &[("a-*", "read")])]).await;
        let mut browser = Browser::default();
        let (_, page) = browser.consent(&mut client, "ann", &app.0, "index:a-*:read").await;
        let scope = [("scope", "index:a-*:read")];
        enter(&mut browser, &mut client, &page, "/consent", &scope).await;
        // Nothing was granted, and the request waits on.
        let told = words(&browser.ask(&mut client, "/account/apps", &[]).await);
        assert!(told.contains("No application has access"), "{told}");
        let mut form = fields(&page, "/consent");
        form.extend([scope[0], ("decision", "allow")].map(|(a, b)| (a.into(), b.into())));
        let led = location(&browser.post(&mut client, "/consent", &form).await);
        assert!(led.contains("code="), "{led}");
    });
}

#[test]
fn enter_on_the_page_of_a_device_allows_nothing() {
    with_oauth(|mut client| async move {
        stage(&mut client, &[("ann", &[("a-*", "read")])]).await;
        let device = r#"{"client_name":"TV","application_type":"native","scope":"index:a-*:read",
            "token_endpoint_auth_method":"none",
            "grant_types":["urn:ietf:params:oauth:grant-type:device_code"]}"#;
        let made = client.good("POST", "/_oauth/client", device).await;
        let id = at(&made, &["client_id"]).as_str().expect("an id").to_owned();
        client.authorize(None);
        let kind = [("Content-Type", "application/x-www-form-urlencoded")];
        let body = format!("client_id={id}&scope=index:a-*:read");
        let begun = client.call_with("POST", "/device_authorization", &kind, body.as_bytes()).await;
        let code = at(&value(&begun), &["user_code"]).as_str().expect("a code").to_owned();
        let mut browser = Browser::default();
        browser.sign_in(&mut client, "ann", "/login").await;
        let page = browser.ask(&mut client, "/device", &[]).await;
        let mut form = fields(&page, "/device");
        form.push(("user_code".into(), code));
        let page = browser.post(&mut client, "/device", &form).await;
        let scope = [("scope", "index:a-*:read")];
        enter(&mut browser, &mut client, &page, "/device", &scope).await;
        let mut form = fields(&page, "/device");
        form.extend([scope[0], ("decision", "allow")].map(|(a, b)| (a.into(), b.into())));
        let done = browser.post(&mut client, "/device", &form).await;
        assert!(words(&done).contains("Your device is connected"), "{}", words(&done));
    });
}

#[test]
fn enter_in_the_queue_approves_nothing() {
    for kind in ["web", "service"] {
        with_oauth(|mut client| async move {
            let (mut dev, mut rev) = decided::stage(&mut client).await;
            let page = dev.ask(&mut client, "/apps/new", &[]).await;
            let mut form = fields(&page, "/apps/new");
            for (name, value) in [
                ("application_type", kind),
                ("client_name", "One"),
                ("redirect_uris", "https://app.example/cb"),
                ("confidential", "confidential"),
            ] {
                form.push((name.into(), value.into()));
            }
            assert_eq!(dev.post(&mut client, "/apps/new", &form).await.status, 303);
            let page = rev.ask(&mut client, "/admin/apps", &[]).await;
            enter(&mut rev, &mut client, &page, "/admin/apps", &[("note", "Fine")]).await;
            let page = rev.ask(&mut client, "/admin/apps", &[]).await;
            assert!(page.text().contains("<article"), "it waits on");
        });
    }
}
