//! Who decides on applications decides on what was shown.

use http::client::Response;

use crate::browser::{Browser, basic, fields, location, words};
use crate::place::{Client, at, with_audited, with_oauth};

/// A developer and a reviewer, signed in.
pub async fn stage(client: &mut Client) -> (Browser, Browser) {
    stage_with(client, "oauth_admin").await
}

/// The same; the reviewer has this role.
pub async fn stage_with(client: &mut Client, role: &str) -> (Browser, Browser) {
    client.authorize(Some(&basic("elastic", "secret")));
    for (name, role) in [("dev", String::new()), ("rev", format!("\"{role}\""))] {
        let body = format!(r#"{{"password":"{name}-knows-this","roles":[{role}]}}"#);
        client.good("PUT", &format!("/_security/user/{name}"), &body).await;
    }
    let (mut dev, mut rev) = (Browser::default(), Browser::default());
    dev.sign_in(client, "dev", "/login").await;
    rev.sign_in(client, "rev", "/login").await;
    (dev, rev)
}

/// Sends an application, or a change of one; answers its address.
pub async fn send(
    dev: &mut Browser,
    client: &mut Client,
    target: &str,
    name: &str,
    callback: &str,
    scope: &str,
) -> String {
    let answer = fill_in(dev, client, target, name, callback, scope).await;
    if answer.status == 303 { location(&answer) } else { panic!("{}", answer.text()) }
}

/// The same; what the form is answered.
pub async fn fill_in(
    dev: &mut Browser,
    client: &mut Client,
    target: &str,
    name: &str,
    callback: &str,
    scope: &str,
) -> Response {
    let page = dev.ask(client, target, &[]).await;
    let mut form = fields(&page, target);
    for (name, value) in [
        ("application_type", "web"),
        ("client_name", name),
        ("redirect_uris", callback),
        ("scope", scope),
        ("confidential", "confidential"),
        ("require_pkce", "true"),
        ("action", "submit"),
    ] {
        form.push((name.into(), value.into()));
    }
    dev.post(client, target, &form).await
}

async fn press(
    rev: &mut Browser,
    client: &mut Client,
    page: &Response,
    decision: &str,
) -> Response {
    let mut form = fields(page, "/admin/apps");
    form.push(("decision".into(), decision.into()));
    rev.post(client, "/admin/apps", &form).await
}

async fn shown(client: &mut Client, app: &str) -> json::Value {
    let reference = app.rsplit('/').next().expect("a reference");
    client.authorize(Some(&basic("elastic", "secret")));
    client.good("GET", &format!("/_oauth/client/{reference}"), "").await
}

/// A reviewer had the queue open; the developer sent another version; a press of *Approve* on the old page
/// approved the new one, which nobody had looked at.
#[test]
fn a_reviewer_decides_on_what_the_page_showed() {
    with_oauth(|mut client| async move {
        let (mut dev, mut rev) = stage(&mut client).await;
        let (good, evil) = ("https://good.example/cb", "https://evil.example/cb");
        let app =
            send(&mut dev, &mut client, "/apps/new", "Innocent", good, "index:a-1:read").await;
        let queue = rev.ask(&mut client, "/admin/apps", &[]).await;
        send(&mut dev, &mut client, &app, "Another", evil, "index:*:all").await;
        for decision in ["approve", "reject"] {
            let answer = press(&mut rev, &mut client, &queue, decision).await;
            assert_eq!(answer.status, 409, "{decision}: {}", answer.text());
            let told = words(&answer);
            assert!(told.contains("Another has changed since you looked at it"), "{told}");
            assert!(told.contains("evil.example"), "the queue as it is now: {told}");
            assert_eq!(at(&shown(&mut client, &app).await, &["status"]).as_str(), Some("pending"));
        }
        // What was looked at is decided.
        let queue = rev.ask(&mut client, "/admin/apps", &[]).await;
        let answer = press(&mut rev, &mut client, &queue, "approve").await;
        assert_eq!((answer.status, location(&answer)), (303, "/admin/apps".to_owned()));
        assert_eq!(at(&shown(&mut client, &app).await, &["status"]).as_str(), Some("approved"));

        // The same of a change that waits beside what is approved.
        send(&mut dev, &mut client, &app, "Changed", good, "index:a-1:read").await;
        let queue = rev.ask(&mut client, "/admin/apps", &[]).await;
        send(&mut dev, &mut client, &app, "Changed", evil, "index:*:all").await;
        for decision in ["approve", "reject"] {
            let answer = press(&mut rev, &mut client, &queue, decision).await;
            assert_eq!(answer.status, 409, "{decision}: {}", answer.text());
        }
        let now = shown(&mut client, &app).await;
        assert_eq!(at(&now, &["client_name"]).as_str(), Some("Another"));
        assert_eq!(at(&now, &["proposal", "scope"]).as_str(), Some("index:*:all"));
        // A form that names no version is about none.
        let queue = rev.ask(&mut client, "/admin/apps", &[]).await;
        let mut form = fields(&queue, "/admin/apps");
        form.retain(|(name, _)| name != "version");
        form.push(("decision".into(), "approve".into()));
        assert_eq!(rev.post(&mut client, "/admin/apps", &form).await.status, 409);
    });
}

/// A form that was sent, decided on, and sent once more by going back made a second application.
#[test]
fn a_form_that_is_sent_again_makes_no_second_application() {
    with_oauth(|mut client| async move {
        let (mut dev, mut rev) = stage(&mut client).await;
        for (decision, name) in [("approve", "One"), ("reject", "Two"), ("", "Three")] {
            let page = dev.ask(&mut client, "/apps/new", &[]).await;
            let mut form = fields(&page, "/apps/new");
            for (name, value) in [
                ("application_type", "web"),
                ("client_name", name),
                ("redirect_uris", "https://app.example/cb"),
                ("scope", "index:a-1:read"),
                ("confidential", "confidential"),
                ("require_pkce", "true"),
                ("action", "submit"),
            ] {
                form.push((name.into(), value.into()));
            }
            let app = location(&dev.post(&mut client, "/apps/new", &form).await);
            let again = dev.post(&mut client, "/apps/new", &form).await;
            assert_eq!(location(&again), app, "{name}");
            if decision.is_empty() {
                // Its developer changed it meanwhile.
                send(&mut dev, &mut client, &app, "Other", "https://b.example/", "").await;
            } else {
                let queue = rev.ask(&mut client, "/admin/apps", &[]).await;
                assert_eq!(press(&mut rev, &mut client, &queue, decision).await.status, 303);
            }
            for _ in 0..2 {
                let again = dev.post(&mut client, "/apps/new", &form).await;
                assert_eq!((again.status, location(&again)), (303, app.clone()), "{name}");
            }
            // What is another one is another one: by what it says, or by a form of its own.
            let mut other = form.clone();
            other.retain(|(name, _)| name != "client_name");
            other.push(("client_name".into(), format!("{name} more")));
            let other = location(&dev.post(&mut client, "/apps/new", &other).await);
            assert_ne!(other, app, "{name}");
            let (callback, scope) = ("https://app.example/cb", "index:a-1:read");
            let fresh = send(&mut dev, &mut client, "/apps/new", name, callback, scope).await;
            assert_ne!(fresh, app, "{name}");
            assert_ne!(fresh, other, "{name}");
            let again = dev.post(&mut client, "/apps/new", &form).await;
            assert_eq!(location(&again), app, "still that one: {name}");
            for app in [other, fresh] {
                let reference = app.rsplit('/').next().expect("a reference");
                client.authorize(Some(&basic("elastic", "secret")));
                client.good("DELETE", &format!("/_oauth/client/{reference}"), "").await;
            }
        }
    });
}

/// Scripts had no way to say which version they looked at.
#[test]
fn a_call_may_name_the_version_that_it_is_about() {
    with_oauth(|mut client| async move {
        let (mut dev, _) = stage(&mut client).await;
        let callback = "https://app.example/cb";
        let app = send(&mut dev, &mut client, "/apps/new", "One", callback, "index:a-1:read").await;
        let reference = app.rsplit('/').next().expect("a reference").to_owned();
        let seen = at(&shown(&mut client, &app).await, &["version"]).as_u64().expect("a version");
        send(&mut dev, &mut client, &app, "Two", callback, "index:a-2:read").await;
        client.authorize(Some(&basic("elastic", "secret")));
        let path =
            |verb: &str, seen: &str| format!("/_oauth/client/{reference}/{verb}?version={seen}");
        for verb in ["_approve", "_reject"] {
            let refused = client.bad("POST", &path(verb, &seen.to_string()), "").await;
            let expected =
                "409 version_conflict_engine_exception: the client is not at the version";
            assert!(refused.starts_with(expected), "{verb}: {refused}");
            let refused = client.bad("POST", &path(verb, "x"), "").await;
            assert_eq!(
                refused,
                "400 illegal_argument_exception: Failed to parse long parameter [version] with value [x]"
            );
        }
        let now = shown(&mut client, &app).await;
        assert_eq!(at(&now, &["status"]).as_str(), Some("pending"));
        let seen = at(&now, &["version"]).as_u64().expect("a version");
        let done = client.good("POST", &path("_approve", &seen.to_string()), "").await;
        assert_eq!(at(&done, &["status"]).as_str(), Some("approved"));
        assert!(done.get("version").is_none(), "who decided looks again");
        let refused = client.bad("POST", &path("_suspend", &seen.to_string()), "").await;
        assert!(refused.starts_with("409 version_conflict_engine_exception: "), "{refused}");
        client.good("POST", &path("_suspend", &(seen + 1).to_string()), "").await;
        // What is told of a new one is what is shown of it.
        let body = r#"{"client_name":"App","redirect_uris":["https://app.example/cb"]}"#;
        let made = client.good("POST", "/_oauth/client", body).await;
        let id = at(&made, &["client_id"]).as_str().expect("an id");
        let one = client.good("GET", &format!("/_oauth/client/{id}"), "").await;
        assert_eq!(at(&one, &["version"]), at(&made, &["version"]));
    });
}

/// Enter in the note pressed the first button of the form, which approves.
#[test]
fn a_key_in_the_note_decides_nothing() {
    with_oauth(|mut client| async move {
        let (mut dev, mut rev) = stage(&mut client).await;
        let callback = "https://app.example/cb";
        send(&mut dev, &mut client, "/apps/new", "One", callback, "index:a-1:read").await;
        let page = rev.ask(&mut client, "/admin/apps", &[]).await.text();
        let card = page.split_once("<article").expect("a card").1;
        let form = card.split_once("<form ").expect("a form").1;
        let form = form.split("</form>").next().expect("its end");
        // Only fields of one line send a form by themselves (HTML, "implicit submission").
        assert!(form.contains("name=\"note\""), "{form}");
        let inputs = form.split("<input").skip(1);
        for input in inputs {
            assert!(input.starts_with(" type=\"hidden\""), "{input}");
        }
        assert!(form.contains("value=\"approve\"") && form.contains("<textarea "), "{form}");
    });
}

/// The log told that something was approved, but not what; then not all of it: what stood behind a long
/// callback was cut.
#[test]
fn an_approval_is_noted_with_what_was_approved() {
    with_audited(|mut client, told| async move {
        let (mut dev, mut rev) = stage(&mut client).await;
        let long = format!("https://app.example/{}", "x".repeat(2028));
        let behind = "https://behind.example/cb";
        let (callback, scope) = (&format!("{long}\n{behind}"), "index:a-1:read index:b-1:write");
        let check = |line: &json::Value| {
            let scopes = json::json!(["index:a-1:read", "index:b-1:write"]);
            assert_eq!(at(line, &["scope"]), &scopes, "{line:?}");
            let callbacks = json::json!([(long.as_str()), behind]);
            assert_eq!(at(line, &["redirect_uris"]), &callbacks, "{line:?}");
            assert_eq!(at(line, &["outcome"]).as_str(), Some("ok"), "{line:?}");
        };
        send(&mut dev, &mut client, "/apps/new", "One", callback, scope).await;
        let queue = rev.ask(&mut client, "/admin/apps", &[]).await;
        press(&mut rev, &mut client, &queue, "approve").await;
        let lines = told.of("client_approved");
        assert_eq!(lines.len(), 1, "{lines:?}");
        check(&lines[0]);
        assert_eq!(at(&lines[0], &["user"]).as_str(), Some("rev"));
        // The same by the administration's calls.
        let app = send(&mut dev, &mut client, "/apps/new", "Two", callback, scope).await;
        let reference = app.rsplit('/').next().expect("a reference");
        client.authorize(Some(&basic("elastic", "secret")));
        client.good("POST", &format!("/_oauth/client/{reference}/_approve"), "").await;
        let lines = told.of("client_approved");
        assert_eq!(lines.len(), 1, "{lines:?}");
        check(&lines[0]);
        let body = format!(
            r#"{{"client_name":"App","redirect_uris":["{long}","{behind}"],"scope":"{scope}"}}"#
        );
        client.good("POST", "/_oauth/client", &body).await;
        check(&told.of("client_registered")[0]);
        // What is not done is not noted as done.
        send(&mut dev, &mut client, "/apps/new", "Three", callback, scope).await;
        let mut form = fields(&rev.ask(&mut client, "/admin/apps", &[]).await, "/admin/apps");
        form.retain(|(name, _)| name != "version");
        form.extend([("version", "0"), ("decision", "approve")].map(|(a, b)| (a.into(), b.into())));
        rev.post(&mut client, "/admin/apps", &form).await;
        let lines = told.of("client_approved");
        assert_eq!(at(&lines[0], &["outcome"]).as_str(), Some("failed"));
        assert!(lines[0].get("scope").is_none());
        // What the reviewer wrote stands beside what was done; the form has the place for it.
        let mut form = fields(&rev.ask(&mut client, "/admin/apps", &[]).await, "/admin/apps");
        form.retain(|(name, _)| name != "note");
        form.extend(
            [("note", "Known\u{202e} to us\r\nfor long"), ("decision", "approve")]
                .map(|(a, b)| (a.into(), b.into())),
        );
        rev.post(&mut client, "/admin/apps", &form).await;
        let lines = told.of("client_approved");
        assert_eq!(at(&lines[0], &["outcome"]).as_str(), Some("ok"));
        assert_eq!(at(&lines[0], &["reason"]).as_str(), Some("Known to us for long"));
    });
}

/// Whoever had an account, be it without any role, could fill the state with applications and their pictures.
#[test]
fn an_account_has_so_many_applications_that_nobody_approved() {
    with_oauth(|mut client| async move {
        let (mut dev, mut rev) = stage(&mut client).await;
        let (callback, scope) = ("https://app.example/cb", "index:a-1:read");
        let mut apps = Vec::new();
        for at in 0..20 {
            let name = format!("App {at}");
            apps.push(send(&mut dev, &mut client, "/apps/new", &name, callback, scope).await);
        }
        let one_more = async |dev: &mut Browser, client: &mut Client| {
            fill_in(dev, client, "/apps/new", "One more", callback, scope).await
        };
        let answer = one_more(&mut dev, &mut client).await;
        assert_eq!(answer.status, 429);
        let told = words(&answer);
        assert!(told.contains("you have 20 applications that no reviewer has approved"), "{told}");
        assert!(answer.text().contains("One more"), "what was typed is not lost");
        // Another account has room of its own; what waits may be changed.
        let page = rev.ask(&mut client, "/apps/new", &[]).await;
        assert_eq!(page.status, 200);
        send(&mut rev, &mut client, "/apps/new", "Of another", callback, scope).await;
        send(&mut dev, &mut client, &apps[0], "Changed", callback, scope).await;
        // A refused one still takes room; one that was approved, or removed, takes none.
        for (at, step, status) in [(1, "_reject", 429), (2, "_approve", 303)] {
            let reference = apps[at].rsplit('/').next().expect("a reference");
            client.authorize(Some(&basic("elastic", "secret")));
            client.good("POST", &format!("/_oauth/client/{reference}/{step}"), "").await;
            let answer = one_more(&mut dev, &mut client).await;
            assert_eq!(answer.status, status, "{step}: {}", words(&answer));
        }
    });
}

/// The form of a change that was refused, sent once more by going back, waited for a reviewer again; one of before
/// took back what was decided since.
#[test]
fn a_change_that_is_sent_again_asks_for_nothing_that_was_decided() {
    with_oauth(|mut client| async move {
        let (mut dev, mut rev) = stage(&mut client).await;
        let callback = "https://app.example/cb";
        for decision in ["approve", "reject"] {
            let scope = "index:a-1:read";
            let app = send(&mut dev, &mut client, "/apps/new", decision, callback, scope).await;
            let queue = rev.ask(&mut client, "/admin/apps", &[]).await;
            assert_eq!(press(&mut rev, &mut client, &queue, "approve").await.status, 303);
            let page = dev.ask(&mut client, &app, &[]).await;
            let mut form = fields(&page, &app);
            for (name, value) in [
                ("application_type", "web"),
                ("client_name", decision),
                ("redirect_uris", "https://other.example/cb"),
                ("scope", scope),
                ("confidential", "confidential"),
                ("require_pkce", "true"),
                ("action", "submit"),
            ] {
                form.push((name.into(), value.into()));
            }
            assert_eq!(dev.post(&mut client, &app, &form).await.status, 303);
            let waits = shown(&mut client, &app).await;
            assert!(waits.get("proposal").is_some(), "{waits:?}");
            // Twice at once is once.
            let again = dev.post(&mut client, &app, &form).await;
            assert_eq!((again.status, location(&again)), (303, app.clone()));
            assert_eq!(shown(&mut client, &app).await, waits);
            let queue = rev.ask(&mut client, "/admin/apps", &[]).await;
            assert_eq!(press(&mut rev, &mut client, &queue, decision).await.status, 303);
            let decided = shown(&mut client, &app).await;
            let again = dev.post(&mut client, &app, &form).await;
            if decision == "approve" {
                assert_eq!((again.status, location(&again)), (303, app.clone()));
            } else {
                assert_eq!(again.status, 409, "{}", words(&again));
                let told = words(&again);
                assert!(told.contains("Nothing was changed: a reviewer decided"), "{told}");
                assert!(again.text().contains("https://other.example/cb"), "nothing typed is lost");
            }
            assert_eq!(shown(&mut client, &app).await, decided);
            // Another change meanwhile is not undone.
            send(&mut dev, &mut client, &app, decision, "https://third.example/cb", scope).await;
            let changed = shown(&mut client, &app).await;
            assert_eq!(dev.post(&mut client, &app, &form).await.status, 409);
            assert_eq!(shown(&mut client, &app).await, changed);
            // Who looked, and still wants it, sends what the page holds.
            let again = dev.post(&mut client, &app, &form).await;
            form.retain(|(name, _)| name != "version");
            let fresh = fields(&again, &app).into_iter().find(|(name, _)| name == "version");
            form.push(fresh.expect("a version"));
            assert_eq!(dev.post(&mut client, &app, &form).await.status, 303);
        }
    });
}

/// A client that a reviewer made public kept the secret of before, which opened it once more when it went back.
#[test]
fn a_secret_ends_where_a_reviewed_client_does_without() {
    with_oauth(|mut client| async move {
        let (mut dev, mut rev) = stage(&mut client).await;
        let (callback, scope) = ("https://app.example/cb", "index:a-1:read");
        let app = send(&mut dev, &mut client, "/apps/new", "One", callback, scope).await;
        let mut secrets = Vec::new();
        for kind in ["confidential", "public", "confidential"] {
            let page = dev.ask(&mut client, &app, &[]).await;
            let mut form = fields(&page, &app);
            for (name, value) in [
                ("application_type", "web"),
                ("client_name", "One"),
                ("redirect_uris", callback),
                ("scope", scope),
                ("confidential", kind),
                ("require_pkce", "true"),
                ("action", "submit"),
            ] {
                form.push((name.into(), value.into()));
            }
            assert_eq!(dev.post(&mut client, &app, &form).await.status, 303, "{kind}");
            let queue = rev.ask(&mut client, "/admin/apps", &[]).await;
            assert_eq!(press(&mut rev, &mut client, &queue, "approve").await.status, 303, "{kind}");
            if kind == "public" {
                continue;
            }
            let page = dev.ask(&mut client, &app, &[]).await;
            let mut form = fields(&page, &app);
            form.retain(|(name, _)| name == "csrf_token");
            form.push(("action".into(), "show_secret".into()));
            let told = dev.post(&mut client, &app, &form).await;
            assert_eq!(told.status, 200, "{}", words(&told));
            let text = told.text();
            let secret = text.split_once("class=\"client_secret\">").expect("it is shown").1;
            secrets.push(secret.split('<').next().unwrap_or_default().to_owned());
        }
        let known = shown(&mut client, &app).await;
        let id = at(&known, &["client_id"]).as_str().expect("an id").to_owned();
        let kind = [("Content-Type", "application/x-www-form-urlencoded")];
        for (secret, status) in secrets.iter().zip([401, 200]) {
            client.authorize(Some(&basic(&id, secret)));
            let answer = client.call_with("POST", "/revoke", &kind, b"token=x").await;
            assert_eq!(answer.status, status, "{}", answer.text());
        }
    });
}
