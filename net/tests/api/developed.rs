//! A developer's own pages: what a form keeps, and what it does when it is sent again.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::client::Response;

use crate::browser::{Browser, basic, fields, form_with, location, words};
use crate::decided::{send, stage};
use crate::place::{Client, at, with_oauth, with_oauth_clients};

const CALLBACK: &str = "https://app.example/cb";
const RED: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGM4IScHAAK2AQU0pnWqAAAAAElFTkSuQmCC";
const BLUE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGOQkzsBAAFiAQURG6MhAAAAAElFTkSuQmCC";

/// The bytes of a picture.
pub fn red() -> Vec<u8> {
    STANDARD.decode(RED).expect("red")
}

/// The form at `target`, filled in; what stands in it by itself comes along.
async fn form(
    dev: &mut Browser,
    client: &mut Client,
    target: &str,
    more: &[(&str, &str)],
) -> Vec<(String, String)> {
    let page = dev.ask(client, target, &[]).await;
    let mut form = fields(&page, target);
    let usual = [
        ("application_type", "web"),
        ("client_name", "One"),
        ("redirect_uris", CALLBACK),
        ("scope", "index:a-1:read"),
        ("confidential", "confidential"),
        ("require_pkce", "true"),
        ("action", "submit"),
    ];
    for (name, value) in usual.iter().filter(|(name, _)| more.iter().all(|(own, _)| own != name)) {
        form.push(((*name).into(), (*value).into()));
    }
    form.extend(more.iter().map(|(name, value)| ((*name).into(), (*value).into())));
    form
}

async fn post(
    dev: &mut Browser,
    client: &mut Client,
    target: &str,
    more: &[(&str, &str)],
) -> Response {
    let form = form(dev, client, target, more).await;
    dev.post(client, target, &form).await
}

async fn shown(client: &mut Client, app: &str) -> json::Value {
    client.authorize(Some(&basic("elastic", "secret")));
    let reference = app.rsplit('/').next().expect("a reference");
    client.good("GET", &format!("/_oauth/client/{reference}"), "").await
}

/// The kind was changed while it waited, and what it might do stayed that of the first one: a public program in
/// a browser came to act for itself.
#[test]
fn another_kind_has_grants_of_its_own() {
    let code = json::json!(["authorization_code", "refresh_token"]);
    let own = json::json!(["client_credentials"]);
    let device = json::json!([
        "authorization_code",
        "refresh_token",
        "urn:ietf:params:oauth:grant-type:device_code"
    ]);
    with_oauth(|mut client| async move {
        let (mut dev, _) = stage(&mut client).await;
        for (at_first, then, secret, expected) in [
            ("service", "web", "confidential", &code),
            ("service", "browser", "public", &code),
            ("web", "service", "confidential", &own),
            ("native", "web", "confidential", &code),
            ("web", "native", "public", &device),
        ] {
            for rejects in [false, true] {
                let story = format!("{at_first} to {then}, rejected {rejects}");
                let name = &format!("{at_first} {then} {rejects}");
                let kind = [("application_type", at_first), ("client_name", name)];
                let answer = post(&mut dev, &mut client, "/apps/new", &kind).await;
                let app = location(&answer);
                if rejects {
                    client.authorize(Some(&basic("elastic", "secret")));
                    let reference = app.rsplit('/').next().expect("a reference");
                    let target = format!("/_oauth/client/{reference}/_reject");
                    client.good("POST", &target, "").await;
                }
                let more =
                    [("application_type", then), ("client_name", name), ("confidential", secret)];
                let answer = post(&mut dev, &mut client, &app, &more).await;
                assert_eq!(answer.status, 303, "{story}: {}", words(&answer));
                let now = shown(&mut client, &app).await;
                assert_eq!(at(&now, &["application_type"]).as_str(), Some(then), "{story}");
                assert_eq!(at(&now, &["grant_types"]), expected, "{story}");
            }
        }
    });
}

async fn picture(browser: &mut Browser, client: &mut Client, target: &str) -> Option<String> {
    let answer = browser.ask(client, target, &[]).await;
    (answer.status == 200).then(|| STANDARD.encode(&answer.body))
}

/// Where the pictures of the entry in the queue are: the one before, and the one that would be.
fn pictures(page: &str) -> Vec<String> {
    let fact = page.split_once("<dt>Logo</dt>").map_or("", |(_, after)| after);
    let fact = fact.split("</dd>").next().unwrap_or_default();
    let images = fact.split("<img").skip(1);
    images
        .map(|image| {
            image
                .split("src=\"")
                .nth(1)
                .expect("a source")
                .split('"')
                .next()
                .unwrap_or("")
                .replace("&amp;", "&")
        })
        .collect()
}

/// A change of the logo alone showed the new picture without a word; an edit of what waits lost it, and the change
/// left the queue; none could be taken away.
#[test]
fn a_logo_is_part_of_what_changes() {
    with_oauth(|mut client| async move {
        let (mut dev, mut rev) = stage(&mut client).await;
        let (red, blue) =
            (STANDARD.decode(RED).expect("red"), STANDARD.decode(BLUE).expect("blue"));
        let first = form(&mut dev, &mut client, "/apps/new", &[]).await;
        let answer = dev.upload(&mut client, "/apps/new", &first, ("logo", &red)).await;
        let app = location(&answer);
        let one = format!("/_oauth/client/{}", app.rsplit('/').next().expect("a reference"));
        client.authorize(Some(&basic("elastic", "secret")));
        client.good("POST", &format!("{one}/_approve"), "").await;
        let page = dev.ask(&mut client, &app, &[]).await.text();
        assert!(page.contains("name=\"remove_logo\""), "{page}");

        // Another one: both are shown, with words.
        let other = form(&mut dev, &mut client, &app, &[]).await;
        let answer = dev.upload(&mut client, &app, &other, ("logo", &blue)).await;
        assert_eq!(answer.status, 303, "{}", words(&answer));
        let page = rev.ask(&mut client, "/admin/apps", &[]).await;
        assert!(words(&page).contains("another picture"), "{}", words(&page));
        let shown = pictures(&page.text());
        assert_eq!(shown.len(), 2, "{}", page.text());
        assert_eq!(picture(&mut rev, &mut client, &shown[0]).await.as_deref(), Some(RED));
        assert_eq!(picture(&mut rev, &mut client, &shown[1]).await.as_deref(), Some(BLUE));

        // The developer words it otherwise meanwhile, and sends no file: the picture waits on.
        let more = [("description", "In other words")];
        assert_eq!(post(&mut dev, &mut client, &app, &more).await.status, 303);
        let page = rev.ask(&mut client, "/admin/apps", &[]).await;
        let shown_now = pictures(&page.text());
        assert_eq!(shown_now.len(), 2, "it waits on: {}", page.text());
        // No picture of before is taken for the one of now, by a browser that keeps them.
        assert_ne!(shown_now[1], shown[1]);
        assert_eq!(picture(&mut rev, &mut client, &shown_now[1]).await.as_deref(), Some(BLUE));

        // Both at once say nothing.
        let both = form(&mut dev, &mut client, &app, &[("remove_logo", "true")]).await;
        let answer = dev.upload(&mut client, &app, &both, ("logo", &red)).await;
        assert_eq!(answer.status, 400, "{}", words(&answer));

        // It can be taken away, which is a change as any.
        assert_eq!(post(&mut dev, &mut client, &app, &[("remove_logo", "true")]).await.status, 303);
        let page = rev.ask(&mut client, "/admin/apps", &[]).await;
        assert!(words(&page).contains("taken away"), "{}", words(&page));
        let kept = picture(&mut dev, &mut client, &format!("{app}/logo")).await;
        assert_eq!(kept.as_deref(), Some(RED), "until it is reviewed");
        client.authorize(Some(&basic("elastic", "secret")));
        client.good("POST", &format!("{one}/_approve"), "").await;
        assert_eq!(picture(&mut dev, &mut client, &format!("{app}/logo")).await, None);
        let page = dev.ask(&mut client, &app, &[]).await.text();
        assert!(!page.contains("name=\"remove_logo\""), "there is none: {page}");
    });
}

/// A name of characters that show nothing.
#[test]
fn a_name_shows_something() {
    with_oauth(|mut client| async move {
        let (mut dev, _) = stage(&mut client).await;
        for name in [
            "\u{2800}",
            "\u{2800}\u{2800} \u{2800}",
            "a\u{2800}b",
            "\u{301}\u{302}",
            "\u{1d159}",
            "\u{16fe4}",
        ] {
            let answer = post(&mut dev, &mut client, "/apps/new", &[("client_name", name)]).await;
            assert_eq!(answer.status, 400, "{name:?}");
            assert!(words(&answer).contains("Please look at Name : "), "{}", words(&answer));
        }
        for name in ["e\u{301}", "\u{1f680}", "\u{915}\u{93f}"] {
            let answer = post(&mut dev, &mut client, "/apps/new", &[("client_name", name)]).await;
            assert_eq!(answer.status, 303, "{name:?}: {}", words(&answer));
        }
    });
}

/// What the summary of a refused form calls a field is what stands beside it.
#[test]
fn a_refused_field_is_called_by_its_label() {
    with_oauth(|mut client| async move {
        let (mut dev, _) = stage(&mut client).await;
        for (field, value, label) in [
            ("redirect_uris", "nope", "Callback addresses"),
            ("client_uri", "nope", "Its page"),
            ("contacts", "nope", "Contact"),
            ("scope", "nope", "Scopes"),
            ("application_type", "nope", "Kind of application"),
            ("confidential", "nope", "Can it keep a secret?"),
        ] {
            let answer = post(&mut dev, &mut client, "/apps/new", &[(field, value)]).await;
            assert_eq!(answer.status, 400, "{field}");
            let link = format!("<a href=\"#{field}\">{label}</a>");
            assert!(answer.text().contains(&link), "{link}: {}", answer.text());
        }
    });
}

/// A second press of *Send for review* made a second application.
#[test]
fn a_form_that_is_sent_twice_makes_one_application() {
    with_oauth(|mut client| async move {
        let (mut dev, _) = stage(&mut client).await;
        let filled = form(&mut dev, &mut client, "/apps/new", &[]).await;
        let first = dev.post(&mut client, "/apps/new", &filled).await;
        let again = dev.post(&mut client, "/apps/new", &filled).await;
        assert_eq!((first.status, again.status), (303, 303));
        assert_eq!(location(&first), location(&again));
        let reference = location(&first).rsplit('/').next().expect("a reference").to_owned();
        let list = dev.ask(&mut client, "/apps", &[]).await;
        assert_eq!(list.text().matches("<article").count(), 1, "{}", list.text());
        assert!(
            words(&list).contains(&format!("Reference number {reference}")),
            "{}",
            words(&list)
        );
        // Something else is another one, and so is the same, by a form of its own, once that one does not wait any
        // more.
        let other = post(&mut dev, &mut client, "/apps/new", &[("client_name", "Two")]).await;
        assert_ne!(location(&other), location(&first));
        client.authorize(Some(&basic("elastic", "secret")));
        client.good("POST", &format!("/_oauth/client/{reference}/_approve"), "").await;
        let anew = form(&mut dev, &mut client, "/apps/new", &[]).await;
        let third = dev.post(&mut client, "/apps/new", &anew).await;
        assert_eq!(third.status, 303);
        assert_ne!(location(&third), location(&first));
        let again = dev.post(&mut client, "/apps/new", &anew).await;
        assert_eq!(location(&again), location(&third), "also of a later one");
        let again = dev.post(&mut client, "/apps/new", &filled).await;
        assert_eq!(location(&again), location(&first), "each form has made one");
        // What waits was changed: it is another one by now.
        let app = location(&third);
        send(&mut dev, &mut client, &app, "Changed", CALLBACK, "index:a-1:read").await;
        let anew = form(&mut dev, &mut client, "/apps/new", &[]).await;
        let fourth = dev.post(&mut client, "/apps/new", &anew).await;
        assert_ne!(location(&fourth), app);
    });
}

/// The same of two that come at one moment.
#[test]
fn two_forms_of_one_moment_make_one_application() {
    with_oauth_clients(2, |mut clients| async move {
        let (mut dev, _) = stage(&mut clients[0]).await;
        let mut there = Browser::default();
        there.sign_in(&mut clients[1], "dev", "/login").await;
        let (one, two) = clients.split_at_mut(1);
        let (one, two) = (&mut one[0], &mut two[0]);
        let first = form(&mut dev, one, "/apps/new", &[]).await;
        let second = form(&mut there, two, "/apps/new", &[]).await;
        let posts: Vec<std::pin::Pin<Box<dyn Future<Output = Response> + '_>>> = vec![
            Box::pin(dev.post(one, "/apps/new", &first)),
            Box::pin(there.post(two, "/apps/new", &second)),
        ];
        let answers = env::join_all(posts).await;
        assert!(answers.iter().all(|answer| answer.status == 303), "{answers:?}");
        assert_eq!(location(&answers[0]), location(&answers[1]));
    });
}

/// Two posts of one old page made two new secrets, and the one in use ended.
#[test]
fn an_old_page_makes_one_new_secret() {
    with_oauth(|mut client| async move {
        let (mut dev, _) = stage(&mut client).await;
        let answer = post(&mut dev, &mut client, "/apps/new", &[]).await;
        let app = location(&answer);
        let reference = app.rsplit('/').next().expect("a reference").to_owned();
        client.authorize(Some(&basic("elastic", "secret")));
        client.good("POST", &format!("/_oauth/client/{reference}/_approve"), "").await;
        let is_shown = |answer: &Response| answer.text().contains("class=\"client_secret\"");
        for action in ["show_secret", "rotate_secret"] {
            let page = dev.ask(&mut client, &app, &[]).await;
            form_with(&page.text(), &app, action);
            let mut form = fields(&page, &app);
            form.push(("action".into(), action.into()));
            assert!(is_shown(&dev.post(&mut client, &app, &form).await), "{action}");
            let again = dev.post(&mut client, &app, &form).await;
            assert!(!is_shown(&again), "{action} again: {}", again.text());
            if action == "rotate_secret" {
                assert_eq!(again.status, 409);
                assert!(words(&again).contains("No secret was made"), "{}", words(&again));
            }
        }
        // The page as it is now does.
        let page = dev.ask(&mut client, &app, &[]).await;
        let mut form = fields(&page, &app);
        form.push(("action".into(), "rotate_secret".into()));
        assert!(is_shown(&dev.post(&mut client, &app, &form).await));
    });
}

/// What was typed was lost when the session ended meanwhile, without a word before.
#[test]
fn a_long_form_says_how_long_there_is() {
    with_oauth(|mut client| async move {
        let (mut dev, _) = stage(&mut client).await;
        for target in
            ["/apps/new".to_owned(), location(&post(&mut dev, &mut client, "/apps/new", &[]).await)]
        {
            let page = dev.ask(&mut client, &target, &[]).await;
            let told = words(&page);
            assert!(told.contains("Please send it before "), "{target}: {told}");
            assert!(told.contains("30 minutes"), "{target}: {told}");
        }
    });
}
