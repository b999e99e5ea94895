//! In which language pages are, and that programs hear English whatever a person reads.

use http::client::Response;
use json::json;

use crate::browser::{Browser, escaped, fields, location, words};
use crate::consented::stage;
use crate::decided;
use crate::place::{Client, at, value, with_audited, with_issuer, with_oauth};

/// The language of a page, as each part of it tells.
fn language(page: &Response) -> String {
    let tag = page.field("content-language").expect("a page").to_owned();
    assert_eq!(page.field("vary"), Some("Accept-Language"));
    let html = page.text();
    assert!(html.contains(&format!("<html lang=\"{tag}\">")), "{html}");
    let footer = match &*tag {
        "de" => "Sie sind beim Autorisierungsserver",
        _ => "You are at the authorization server",
    };
    assert!(html.contains(footer), "{html}");
    tag
}

/// Loads a page as somebody who reads these languages.
async fn load(client: &mut Client, target: &str, reads: &str) -> Response {
    client.authorize(None);
    client.call_with("GET", target, &[("Accept-Language", reads)], b"").await
}

#[test]
fn an_address_chooses_before_a_header_does() {
    with_oauth(|mut client| async move {
        for (target, reads, expected) in [
            ("/login", "", "en"),
            ("/login", "fr, *;q=0", "en"),
            ("/login", "de-AT, en;q=0.8", "de"),
            ("/login", "de;q=0.5, en;q=0.7", "en"),
            ("/login", "de;q=5, \u{fc}", "en"),
            ("/login?ui_locales=en", "de", "en"),
            ("/login?ui_locales=fr%20de-CH%20en", "en", "de"),
            ("/login?ui_locales=fr", "de", "de"),
            ("/login?ui_locales=%22%3E%3Cscript%3E", "de", "de"),
            ("/login?ui_locales=%ff&x=1", "de", "de"),
            ("/account/a/b?ui_locales=de", "en", "de"),
            ("/authorize?client_id=unknown&ui_locales=de", "en", "de"),
            ("/authorize?client_id=unknown", "de", "de"),
            ("/consent?request=none", "de", "de"),
        ] {
            let page = load(&mut client, target, reads).await;
            assert_eq!(language(&page), expected, "{target} {reads}");
            assert!(!page.text().contains("script>"), "{target}");
        }
        // Two lines are one list.
        let lines = [("Accept-Language", "en;q=0.3"), ("Accept-Language", "de;q=0.4")];
        let page = client.call_with("GET", "/login", &lines, b"").await;
        assert_eq!(language(&page), "de");
        let answer = client.call("GET", "/.well-known/oauth-authorization-server", "").await;
        let told = value(&answer);
        assert_eq!(at(&told, &["ui_locales_supported"]), &json!(["en", "de"]));
        assert_eq!(answer.field("content-language"), None);
    });
}

/// Signs in for a request, with a wrong password first, and decides; each page is in German.
async fn decide(client: &mut Client, browser: &mut Browser, target: &str, more: &str) -> String {
    let led = location(&browser.ask(client, target, &[]).await);
    assert!(led.starts_with("/login?request=") && led.ends_with(more), "{led}");
    let page = browser.ask(client, &led, &[]).await;
    assert_eq!(language(&page), "de");
    assert!(words(&page).contains("Melden Sie sich an, um mit App fortzufahren."));
    let login = format!("/login{}", more.replacen('&', "?", 1));
    let mut form = fields(&page, &login);
    form.extend([("username", "ann"), ("password", "wrong")].map(|(a, b)| (a.into(), b.into())));
    let page = browser.post(client, &login, &form).await;
    assert_eq!((page.status, &*language(&page)), (400, "de"));
    assert!(words(&page).contains("Name oder Passwort ist falsch."), "{}", page.text());
    let mut form = fields(&page, &login);
    let right = [("username", "ann"), ("password", "ann-knows-this")];
    form.extend(right.map(|(a, b)| (a.into(), b.into())));
    let led = location(&browser.post(client, &login, &form).await);
    assert!(led.starts_with("/consent?request=") && led.ends_with(more), "{led}");
    let page = browser.ask(client, &led, &[]).await;
    assert_eq!(language(&page), "de");
    let told = words(&page);
    for part in ["Dokumente in a-* lesen (heute 2 Indizes", "geprüft", "Erlauben"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let consent = format!("/consent{}", more.replacen('&', "?", 1));
    let mut form = fields(&page, &consent);
    // A form of nowhere is told so in the same language.
    let page = browser.post(client, &consent, &form[1..]).await;
    assert_eq!((page.status, &*language(&page)), (403, "de"));
    assert!(words(&page).contains("Dieses Formular ist nicht gültig"), "{}", page.text());
    let scope = [("scope", "index:a-*:read"), ("decision", "allow")];
    form.extend(scope.map(|(a, b)| (a.into(), b.into())));
    let led = location(&browser.post(client, &consent, &form).await);
    assert!(led.starts_with("https://app.example/cb?code="), "{led}");
    assert!(!led.contains("ui_locales"), "{led}");
    let page = browser.post(client, &consent, &form).await;
    assert_eq!((page.status, &*language(&page)), (403, "de"));
    assert!(words(&page).contains("Diese Anfrage ist nicht mehr gültig"), "{}", page.text());
    led
}

#[test]
fn the_way_to_a_decision_is_in_one_language() {
    with_oauth(|mut client| async move {
        let (id, secret) = stage(&mut client, &[("ann", &[("a-*", "read")])]).await;
        let scope = escaped("index:a-*:read");
        let target = format!("/authorize?response_type=code&client_id={id}&scope={scope}");
        let chosen = format!("{target}&ui_locales={}", escaped("tlh de_DE DE-at en"));
        let mut browser = Browser::default();
        browser.reads("en");
        decide(&mut client, &mut browser, &chosen, "&ui_locales=de").await;
        // What a header says needs no carrying.
        let mut browser = Browser::default();
        browser.reads("de");
        decide(&mut client, &mut browser, &target, "").await;
        // What was pushed is the request, and its address says nothing of it.
        let who = format!("client_id={id}&client_secret={secret}");
        let push = async |client: &mut Client, more: &str| {
            let body = format!("{who}&response_type=code&scope={scope}{more}");
            let form = [("Content-Type", "application/x-www-form-urlencoded")];
            let answer = client.call_with("POST", "/par", &form, body.as_bytes()).await;
            let handle =
                at(&value(&answer), &["request_uri"]).as_str().expect("a handle").to_owned();
            format!("/authorize?client_id={id}&request_uri={}&ui_locales=en", escaped(&handle))
        };
        client.authorize(None);
        let pushed = push(&mut client, "&ui_locales=de").await;
        let mut browser = Browser::default();
        browser.reads("en");
        decide(&mut client, &mut browser, &pushed, "&ui_locales=de").await;
        let pushed = push(&mut client, "").await;
        let mut browser = Browser::default();
        browser.reads("de");
        decide(&mut client, &mut browser, &pushed, "").await;
        // Two wishes are a mistake of the application's, as any other parameter that comes twice.
        let twice = format!("{chosen}&ui_locales=en");
        let led = location(&Browser::default().ask(&mut client, &twice, &[]).await);
        assert!(led.contains("error=invalid_request"), "{led}");
    });
}

#[test]
fn a_language_goes_on_below_a_path() {
    with_issuer("https://h.example:9200/es", |mut client| async move {
        let (id, _) = stage(&mut client, &[("ann", &[("a-*", "read")])]).await;
        let target = format!("/es/authorize?response_type=code&client_id={id}&ui_locales=de");
        let mut browser = Browser::default();
        let led = location(&browser.ask(&mut client, &target, &[]).await);
        assert!(led.starts_with("/es/login?request=") && led.ends_with("&ui_locales=de"), "{led}");
        let page = browser.ask(&mut client, &led, &[]).await;
        assert!(page.text().contains("action=\"/es/login?ui_locales=de\""), "{}", page.text());
        assert!(page.text().contains("href=\"/es/login/style.css\""), "{}", page.text());
    });
}

#[test]
fn the_way_of_a_device_is_in_one_language() {
    with_oauth(|mut client| async move {
        stage(&mut client, &[("ann", &[("a-*", "read")])]).await;
        let mut browser = Browser::default();
        let target = "/device?user_code=WDJB-MJHT&ui_locales=de";
        let led = location(&browser.ask(&mut client, target, &[]).await);
        assert_eq!(led, "/login?user_code=WDJB-MJHT&ui_locales=de");
        let page = browser.ask(&mut client, &led, &[]).await;
        let mut form = fields(&page, "/login?ui_locales=de");
        let who = [("username", "ann"), ("password", "ann-knows-this")];
        form.extend(who.map(|(a, b)| (a.into(), b.into())));
        let led = location(&browser.post(&mut client, "/login?ui_locales=de", &form).await);
        assert_eq!(led, target);
        let page = browser.ask(&mut client, &led, &[]).await;
        assert_eq!(language(&page), "de");
        let mut form = fields(&page, "/device?ui_locales=de");
        form.push(("user_code".into(), "WDJB-MJHT".into()));
        let page = browser.post(&mut client, "/device?ui_locales=de", &form).await;
        assert_eq!((page.status, &*language(&page)), (400, "de"));
        assert!(words(&page).contains("Dieser Code ist nicht bekannt"), "{}", page.text());
        // Pages that are reached from there are in German, too.
        assert!(page.text().contains("href=\"/account/sessions?ui_locales=de\""));
        let page = browser.ask(&mut client, "/account/sessions?ui_locales=de", &[]).await;
        assert!(words(&page).contains("Überall abmelden"), "{}", page.text());
        let page = browser.ask(&mut client, "/account/sessions", &[]).await;
        assert_eq!(language(&page), "en");
    });
}

/// What a form is refused for is told in its person's language; the audit log is in English.
#[test]
fn forms_are_refused_in_the_language_of_their_page() {
    with_audited(|mut client, told| async move {
        let (mut dev, mut rev) = decided::stage(&mut client).await;
        dev.reads("de");
        rev.reads("de");
        told.all();
        let callback = "https://app.example/#x";
        for (callback, kind, refusal) in [
            (callback, "web", "Zeile 1: sie ist keine absolute URI"),
            ("", "web", "mindestens eine Rücksprungadresse ist nötig"),
            ("https://a.example/", "tv", "wählen Sie eine der vier Arten"),
            ("https://a.example/", "browser", "kann kein Geheimnis wahren"),
        ] {
            let page = dev.ask(&mut client, "/apps/new", &[]).await;
            assert_eq!(language(&page), "de");
            let mut form = fields(&page, "/apps/new");
            let typed = [
                ("application_type", kind),
                ("client_name", "One"),
                ("redirect_uris", callback),
                ("confidential", "confidential"),
            ];
            form.extend(typed.map(|(name, value)| (name.to_owned(), value.to_owned())));
            let page = dev.post(&mut client, "/apps/new", &form).await;
            assert_eq!((page.status, &*language(&page)), (400, "de"));
            assert!(words(&page).contains(refusal), "{refusal}: {}", words(&page));
        }
        let page = dev.ask(&mut client, "/account/security", &[]).await;
        let mut form = fields(&page, "/account/security");
        let typed = [
            ("password", "dev-knows-this"),
            ("new_password", "password"),
            ("new_password_again", "password"),
        ];
        form.extend(typed.map(|(name, value)| (name.to_owned(), value.to_owned())));
        let page = dev.post(&mut client, "/account/security", &form).await;
        assert!(words(&page).contains("die zuerst ausprobiert werden"), "{}", words(&page));
        let page = dev.ask(&mut client, "/admin/apps", &[]).await;
        assert_eq!((page.status, &*language(&page)), (403, "de"));
        let reasons: Vec<String> = told
            .all()
            .iter()
            .filter_map(|line| line.get("reason").and_then(json::Value::as_str).map(str::to_owned))
            .collect();
        let english = [
            "[redirect_uris] line 1: it is no absolute URI",
            "[redirect_uris] at least one callback address is needed",
            "[application_type] choose one of the four kinds",
            "[confidential] a program in a browser cannot keep a secret",
            "The new password is one of those that are tried first.",
            "This page is for reviewers",
        ];
        assert_eq!(reasons.len(), english.len(), "{reasons:?}");
        for (reason, expected) in reasons.iter().zip(english) {
            assert!(reason.starts_with(expected), "{reason}");
        }
        // The queue and the page of an application are read whole.
        let app = decided::send(
            &mut dev,
            &mut client,
            "/apps/new",
            "Karten",
            "https://app.example/cb",
            "index:a-1:read",
        )
        .await;
        let page = dev.ask(&mut client, &app, &[]).await;
        assert!(words(&page).contains("wartet auf Prüfung"), "{}", words(&page));
        let page = rev.ask(&mut client, "/admin/apps", &[]).await;
        for part in
            ["Dokumente in a-1 lesen", "Webanwendung auf einem Server", "Wahrt ein Geheimnis ja"]
        {
            assert!(words(&page).contains(part), "{part}: {}", words(&page));
        }
    });
}

/// Programs are answered in the same bytes, whatever whoever started them reads.
#[test]
fn programs_hear_english() {
    with_oauth(|mut client| async move {
        let (id, secret) = stage(&mut client, &[("ann", &[("a-*", "read")])]).await;
        let who = format!("client_id={id}&client_secret={secret}");
        let form = "application/x-www-form-urlencoded";
        let bad_client = r#"{"client_name":"x","redirect_uris":["http://a.example/#f"]}"#;
        let nameless = r#"{"client_name":"","redirect_uris":["https://a.example/"]}"#;
        let mut compare =
            async |method: &str, target: &str, kind: &str, body: &str, status: u16| {
                let mut answers = Vec::new();
                for reads in ["en", "de"] {
                    let more = [("Content-Type", kind), ("Accept-Language", reads)];
                    answers.push(client.call_with(method, target, &more, body.as_bytes()).await);
                }
                assert_eq!(answers[0].status, status, "{target}: {}", answers[0].text());
                assert_eq!(answers[0].text(), answers[1].text(), "{target}");
                assert_eq!(answers[1].field("content-language"), None, "{target}");
            };
        let json = "application/json";
        compare("POST", "/_oauth/client", json, bad_client, 400).await;
        compare("POST", "/_oauth/client", json, nameless, 400).await;
        compare("GET", &format!("/_oauth/client/{id}"), json, "", 200).await;
        compare("GET", "/_oauth/nothing", json, "", 400).await;
        compare("POST", "/token", form, &format!("{who}&grant_type=x"), 400).await;
        compare("POST", "/par", form, &format!("{who}&scope=everything"), 400).await;
        compare("POST", "/register", json, "{}", 400).await;
        compare("POST", "/register", json, nameless, 400).await;
        // What goes back to the application, too, though the address asks for German.
        let target = format!("/authorize?client_id={id}&response_type=token&ui_locales=de");
        let led = location(&Browser::default().ask(&mut client, &target, &[]).await);
        assert!(led.contains("error_description=The%20only%20response_type%20is%20code"), "{led}");
    });
}
