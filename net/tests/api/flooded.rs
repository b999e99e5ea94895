//! Whoever begins many requests makes room for himself.

use http::client::Response;
use json::json;

use crate::browser::{Browser, basic, escaped, location};
use crate::consented::stage;
use crate::place::{Client, at, value, with_oauth_clients_set, with_oauth_set};

const PROXY: (&str, &str) = ("oauth.trusted_proxies", "10.0.0.0/24");

/// A request of the application `app` begins in a fresh browser at this address.
async fn begin(client: &mut Client, app: &str, from: &str) -> Response {
    let target = format!("/authorize?response_type=code&client_id={app}&scope=index:a-*:read");
    client.authorize(None);
    client.call_with("GET", &target, &[("X-Forwarded-For", from)], b"").await
}

/// The page to which it led.
async fn look(client: &mut Client, begun: &Response) -> u16 {
    let cookie = begun.field("set-cookie").expect("a cookie").split(';').next().expect("a value");
    let fields = [("Cookie", cookie), ("X-Forwarded-For", "192.0.2.9")];
    client.call_with("GET", &location(begun), &fields, b"").await.status
}

/// One address with eight connections ended everybody's sign-in within seconds.
#[test]
fn a_flood_ends_nobody_elses_request() {
    let set = [PROXY, ("oauth.limit.waiting", "20")];
    with_oauth_set(&set, |mut client, _| async move {
        let app = stage(&mut client, &[("ann", &[("a-*", "read")])]).await.0;
        let owner = begin(&mut client, &app, "192.0.2.1").await;
        let mut floods = Vec::new();
        for at in 0..60 {
            // Addresses of a network that somebody may own, and many /64.
            let from = match at % 2 {
                0 => format!("203.0.113.{at}"),
                _ => format!("2001:db8:7:{at}::1"),
            };
            floods.push(begin(&mut client, &app, &from).await);
            assert_eq!(floods[at].status, 303);
        }
        assert_eq!(look(&mut client, &owner).await, 200);
        let mut living = 0;
        for flood in &floods {
            living += usize::from(look(&mut client, flood).await == 200);
        }
        assert_eq!(living, 19);
        // Whoever comes then finds a place, and the newest of the flood has one, too.
        let later = begin(&mut client, &app, "198.51.100.1").await;
        assert_eq!(look(&mut client, &later).await, 200);
        assert_eq!(look(&mut client, &owner).await, 200);
        assert_eq!(look(&mut client, &floods[59]).await, 200);
    });
}

/// Nothing said how often an address may begin.
#[test]
fn an_address_begins_so_many_a_minute() {
    let set = [PROXY, ("oauth.limit.authorize", "5")];
    with_oauth_set(&set, |mut client, told| async move {
        let app = stage(&mut client, &[("ann", &[("a-*", "read")])]).await.0;
        told.all();
        for from in ["203.0.113.1", "2001:db8::1"] {
            for _ in 0..5 {
                assert_eq!(begin(&mut client, &app, from).await.status, 303);
            }
        }
        told.all();
        // Each machine has all addresses of its /64.
        for from in ["203.0.113.1", "2001:db8::2:1"] {
            let refused = begin(&mut client, &app, from).await;
            assert_eq!(refused.status, 429);
            let seconds: u64 = refused.field("retry-after").expect("how long").parse().expect("s");
            assert!((1..=60).contains(&seconds));
            assert!(refused.text().contains("Wait a minute"), "a page: {}", refused.text());
            let lines = told.all();
            let events: Vec<_> = lines.iter().map(|line| at(line, &["event"]).as_str()).collect();
            assert_eq!(events, [Some("authorize_request"), Some("authorize_rejected")]);
        }
        for from in ["203.0.113.2", "2001:db8:0:1::1"] {
            assert_eq!(begin(&mut client, &app, from).await.status, 303, "others are others");
        }
    });
}

/// Whoever flooded from a company's address kept all of its people from starting an application, who had signed in
/// there the day before.
#[test]
fn a_flood_from_an_address_keeps_out_no_browser_that_is_known() {
    let set = [PROXY, ("oauth.limit.authorize", "5"), ("oauth.limit.waiting", "8")];
    with_oauth_set(&set, |mut client, _| async move {
        let app = stage(&mut client, &[("ann", &[("a-*", "read")])]).await.0;
        let target = format!("/authorize?response_type=code&client_id={app}&scope=index:a-*:read");
        let (company, elsewhere) = ("203.0.113.1", "203.0.113.77");
        let mut known = Browser::from(company);
        assert_eq!(known.sign_in(&mut client, "ann", "/login").await.status, 303);
        known.forget("__Host-sid");
        for _ in 0..5 {
            assert_eq!(begin(&mut client, &app, company).await.status, 303);
        }
        assert_eq!(begin(&mut client, &app, company).await.status, 429);
        let led = known.ask(&mut client, &target, &[]).await;
        assert_eq!(led.status, 303, "{}", led.text());
        for at in 0..4 {
            let from = format!("203.0.113.{}", 100 + at);
            assert_eq!(begin(&mut client, &app, &from).await.status, 303);
        }
        let page = known.ask(&mut client, &location(&led), &[]).await;
        assert_eq!(page.status, 200, "what it began waits on: {}", page.text());
        // It spends its own, with others of its account there.
        for _ in 2..=5 {
            assert_eq!(known.ask(&mut client, &target, &[]).await.status, 303);
        }
        assert_eq!(known.ask(&mut client, &target, &[]).await.status, 429);
        let mut second = Browser::from(company);
        second.sign_in(&mut client, "ann", "/login").await;
        second.forget("__Host-sid");
        assert_eq!(second.ask(&mut client, &target, &[]).await.status, 429);
        // And nobody else's: neither who is signed in, nor the account in another place.
        known.sign_in(&mut client, "ann", "/login").await;
        assert_eq!(known.ask(&mut client, &target, &[]).await.status, 303);
        second.moves(elsewhere);
        assert_eq!(second.ask(&mut client, &target, &[]).await.status, 303);
        // Nobody makes up that it is known.
        for cookie in ["x.y.z", "x", ".."] {
            let mut made_up = Browser::from(company);
            made_up.keep("__Host-dev", cookie);
            assert_eq!(made_up.ask(&mut client, &target, &[]).await.status, 429, "{cookie}");
        }
    });
}

/// Each address of a /64 counted by itself, of which one machine has all.
#[test]
fn a_machine_with_many_addresses_is_one() {
    let set = [PROXY, ("oauth.registration.mode", "open"), ("oauth.limit.register", "3")];
    with_oauth_set(&set, |mut client, _| async move {
        let body =
            r#"{"redirect_uris":["https://a.example/cb"],"token_endpoint_auth_method":"none"}"#;
        let mut statuses = Vec::new();
        for at in 0..4 {
            let from = format!("2001:db8::{at}");
            let fields = [("Content-Type", "application/json"), ("X-Forwarded-For", &*from)];
            let answer = client.call_with("POST", "/register", &fields, body.as_bytes()).await;
            statuses.push(answer.status);
        }
        assert_eq!(statuses, [201, 201, 201, 429]);
        // The same where clients say who they are, and where people sign in and type codes.
        let mut statuses = Vec::new();
        for at in 0..12 {
            let from = format!("2001:db8::{at}");
            let kind = "application/x-www-form-urlencoded";
            let fields = [("Content-Type", kind), ("X-Forwarded-For", &*from)];
            let body = b"client_id=nobody&client_secret=x&token=x";
            statuses.push(client.call_with("POST", "/revoke", &fields, body).await.status);
        }
        assert_eq!(statuses, [vec![401; 10], vec![429; 2]].concat());
    });
}

/// A full table of applications that nobody uses said to come again in a second; the first of them goes after
/// ninety days.
#[test]
fn a_full_table_says_when_there_is_room() {
    let set = [("oauth.registration.mode", "open"), ("oauth.limit.unused", "2")];
    with_oauth_set(&set, |mut client, _| async move {
        let body =
            r#"{"redirect_uris":["https://a.example/cb"],"token_endpoint_auth_method":"none"}"#;
        let mut last = None;
        for _ in 0..3 {
            last = Some(client.call("POST", "/register", body).await);
        }
        let last = last.expect("three of them");
        assert_eq!(last.status, 429);
        let seconds: u64 = last.field("retry-after").expect("how long").parse().expect("s");
        let days = 24 * 60 * 60;
        assert!((89 * days..=90 * days).contains(&seconds), "{seconds}");
    });
}

/// An account had as many sessions as somebody cared to begin.
#[test]
fn an_account_has_so_many_sessions() {
    let set = [("oauth.limit.login", "0")];
    with_oauth_set(&set, |mut client, _| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        for name in ["ann", "bob"] {
            let user = json!({"password": (format!("{name}-knows-this")), "roles": []});
            client.good("PUT", &format!("/_security/user/{name}"), &json::to_string(&user)).await;
        }
        let mut bob = Browser::default();
        bob.sign_in(&mut client, "bob", "/login").await;
        let mut all = Vec::new();
        for _ in 0..52 {
            let mut browser = Browser::default();
            assert_eq!(browser.sign_in(&mut client, "ann", "/login").await.status, 303);
            all.push(browser);
        }
        let mut statuses = Vec::new();
        for browser in &mut all {
            statuses.push(browser.ask(&mut client, "/account/sessions", &[]).await.status);
        }
        assert_eq!(statuses, [vec![303; 2], vec![200; 50]].concat());
        assert_eq!(bob.ask(&mut client, "/account/sessions", &[]).await.status, 200);
    });
}

/// Sixteen that signed in at one moment made room for one.
#[test]
fn an_account_has_no_more_sessions_where_many_sign_in_at_once() {
    let set = [("oauth.limit.login", "0"), ("oauth.limit.login_failures", "0")];
    with_oauth_clients_set(16, &set, |mut clients| async move {
        clients[0].authorize(Some(&basic("elastic", "secret")));
        let user = r#"{"password":"ann-knows-this","roles":[]}"#;
        clients[0].good("PUT", "/_security/user/ann", user).await;
        let mut all = Vec::new();
        for _ in 0..50 {
            let mut browser = Browser::default();
            browser.sign_in(&mut clients[0], "ann", "/login").await;
            all.push(browser);
        }
        let mut new: Vec<Browser> = clients.iter().map(|_| Browser::default()).collect();
        let calls = new.iter_mut().zip(&mut clients).map(|(browser, client)| {
            Box::pin(async move { browser.sign_in(client, "ann", "/login").await.status })
        });
        let statuses = env::join_all(calls.collect()).await;
        assert_eq!(statuses, [303; 16]);
        let mut living = Vec::new();
        for browser in all.iter_mut().chain(&mut new) {
            let status = browser.ask(&mut clients[0], "/account/sessions", &[]).await.status;
            living.push(status == 200);
        }
        assert_eq!(living.iter().filter(|lives| **lives).count(), 50, "{living:?}");
        assert!(living[50..].iter().all(|lives| *lives), "the new ones: {living:?}");
    });
}

/// The applications that an account may have waiting: the page blamed a field that it did not have.
#[test]
fn too_many_applications_are_no_fault_of_a_field() {
    let set = [("oauth.limit.unapproved", "1")];
    with_oauth_set(&set, |mut client, told| async move {
        let (mut dev, _) = crate::decided::stage(&mut client).await;
        let callback = "https://a.example/cb";
        let new = "/apps/new";
        crate::decided::send(&mut dev, &mut client, new, "One", callback, "").await;
        told.all();
        let second = crate::decided::fill_in(&mut dev, &mut client, new, "Two", callback, "").await;
        assert_eq!(second.status, 429);
        let page = second.text();
        assert!(!page.contains("href=\"#name\"") && !page.contains("Please look at"), "{page}");
        assert!(page.contains("1 application"), "{page}");
        assert_eq!(second.field("retry-after"), Some("3600"));
        let lines = told.all();
        let events: Vec<_> = lines.iter().map(|line| at(line, &["event"]).as_str()).collect();
        assert_eq!(events, [Some("client_registered")]);
    });
}

/// Pushes a request of this client from an address, with so many letters in a parameter.
async fn push(
    client: &mut Client,
    app: &str,
    from: &str,
    (name, letters): (&str, usize),
) -> Response {
    let callback = escaped("https://app.example/cb");
    let challenge = "c".repeat(43);
    let body = format!(
        "response_type=code&client_id={app}&redirect_uri={callback}&code_challenge={challenge}\
         &code_challenge_method=S256&{name}={}",
        "s".repeat(letters)
    );
    let fields = [("X-Forwarded-For", from), ("Content-Type", "application/x-www-form-urlencoded")];
    client.authorize(None);
    client.call_with("POST", "/par", &fields, body.as_bytes()).await
}

/// Ten requests of 64 KiB a second, pushed by one application without a secret, filled the memory in two minutes, and
/// owners' writes were refused.
#[test]
fn what_pushed_requests_hold_is_bounded() {
    let set = [PROXY, ("oauth.limit.par", "0"), ("oauth.limit.waiting", "400")];
    with_oauth_set(&set, |mut client, _| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        let made = r#"{"client_name":"A","redirect_uris":["https://app.example/cb"],"scope":"index:a-*:read",
            "token_endpoint_auth_method":"none"}"#;
        let made = client.good("POST", "/_oauth/client", made).await;
        let app = at(&made, &["client_id"]).as_str().expect("an id").to_owned();
        let long = push(&mut client, &app, "203.0.113.1", ("login_hint", 8_192)).await;
        assert_eq!(long.status, 413, "{}", long.text());
        assert!(long.text().contains(r#""error":"invalid_request""#), "{}", long.text());
        let mut taken = 0;
        let refused = loop {
            let answer = push(&mut client, &app, "203.0.113.1", ("login_hint", 7_800)).await;
            if answer.status != 201 {
                break answer;
            }
            taken += 1;
            assert!(taken < 400, "there is no end of it");
        };
        assert_eq!(refused.status, 429, "{}", refused.text());
        assert!(refused.text().contains("temporarily_unavailable"), "{}", refused.text());
        let seconds: u64 = refused.field("retry-after").expect("how long").parse().expect("s");
        assert!((1..=60).contains(&seconds), "{seconds}");
        // A client at one address has a quarter of the places, of a KiB each.
        assert!((7_800..=100 << 10).contains(&(taken * 7_800)), "{taken}");
        for other in ["203.0.113.7", "192.0.2.1"] {
            let answer = push(&mut client, &app, other, ("login_hint", 7_800)).await;
            assert_eq!(answer.status, 201, "{}", answer.text());
        }
        // What nobody reads is not kept, and takes no place.
        let short = push(&mut client, &app, "192.0.2.1", ("x", 20_000)).await;
        assert_eq!(short.status, 201, "{}", short.text());
    });
}

/// Ten public clients at one address ended everybody's device code within two minutes, and pushed requests as well.
#[test]
fn a_flood_takes_no_strangers_device_and_no_handle() {
    let set = [PROXY, ("oauth.limit.waiting", "40"), ("oauth.limit.par", "0")];
    with_oauth_set(&set, |mut client, _| async move {
        stage(&mut client, &[("ann", &[("a-*", "read")])]).await;
        let device = "urn:ietf:params:oauth:grant-type:device_code";
        let mut apps = Vec::new();
        for _ in 0..5 {
            let body = json!({"client_name": "App", "application_type": "native",
                "token_endpoint_auth_method": "none", "redirect_uris": ["http://127.0.0.1/cb"],
                "grant_types": ["authorization_code", device], "scope": "index:a-*:read"});
            let made = client.good("POST", "/_oauth/client", &json::to_string(&body)).await;
            apps.push(at(&made, &["client_id"]).as_str().expect("an id").to_owned());
        }
        client.authorize(None);
        let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
        let pushed = format!(
            "&response_type=code&code_challenge={challenge}&code_challenge_method=S256\
             &scope=index:a-*:read"
        );
        let owner = "192.0.2.1";
        for (target, more) in [("/device_authorization", ""), ("/par", &*pushed)] {
            let kept = ask(&mut client, target, (&apps[0], owner), more).await;
            assert!(kept.status < 300, "{}", kept.text());
            let mut statuses = Vec::new();
            for at in 0..100 {
                let from = format!("203.0.113.{}", at % 3);
                let answer = ask(&mut client, target, (&apps[at % 5], &from), more).await;
                statuses.push(answer.status);
                if answer.status == 429 {
                    let word = at_error(&answer);
                    assert_eq!(word.as_deref(), Some("temporarily_unavailable"));
                    let seconds = answer.field("retry-after").expect("how long").parse::<u64>();
                    assert!(seconds.is_ok_and(|seconds| seconds > 0));
                }
            }
            let taken = statuses.iter().filter(|status| **status < 300).count();
            assert!((8..20).contains(&taken), "{target}: {statuses:?}");
            assert!(statuses[50..].iter().all(|status| *status == 429), "{target}: {statuses:?}");
            // Whoever came before has what it got, and others find a place, also with the same client.
            let later = ask(&mut client, target, (&apps[1], "198.51.100.1"), more).await;
            assert!(later.status < 300, "{}", later.text());
            for (begun, app, from) in [(&kept, &apps[0], owner), (&later, &apps[1], "198.51.100.1")]
            {
                let text = |name: &str| {
                    let told = value(begun);
                    told.get(name).and_then(json::Value::as_str).unwrap_or_default().to_owned()
                };
                if target == "/par" {
                    let handle = escaped(&text("request_uri"));
                    let target = format!("/authorize?client_id={app}&request_uri={handle}");
                    let fields = [("X-Forwarded-For", from)];
                    let led = client.call_with("GET", &target, &fields, b"").await;
                    assert_eq!(led.status, 303, "{}", led.text());
                } else {
                    let more = format!("&grant_type={device}&device_code={}", text("device_code"));
                    let answer = ask(&mut client, "/token", (app, from), &more).await;
                    assert_eq!(at_error(&answer).as_deref(), Some("authorization_pending"));
                }
            }
        }
    });
}

/// What a client at an address posts.
async fn ask(client: &mut Client, target: &str, (id, from): (&str, &str), more: &str) -> Response {
    let kind = "application/x-www-form-urlencoded";
    let fields = [("Content-Type", kind), ("X-Forwarded-For", from)];
    let body = format!("client_id={id}{more}");
    client.call_with("POST", target, &fields, body.as_bytes()).await
}

fn at_error(answer: &Response) -> Option<String> {
    value(answer).get("error").and_then(json::Value::as_str).map(str::to_owned)
}
