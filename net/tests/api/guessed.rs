//! Passwords that are guessed, many at once and on several cores; and how often a client may ask.

use http::client::Response;
use json::json;

use crate::browser::{Browser, basic, fields};
use crate::place::{Client, at, at_once, with_oauth_behind_a_proxy, with_oauth_clients};

async fn person(client: &mut Client, name: &str) {
    client.authorize(Some(&basic("elastic", "secret")));
    let body = json!({"password": (format!("{name}-knows-this")), "roles": []});
    client.good("PUT", &format!("/_security/user/{name}"), &json::to_string(&body)).await;
}

fn own(name: &str) -> String {
    basic(name, &format!("{name}-knows-this"))
}

fn count(answers: &[Response], status: u16) -> usize {
    answers.iter().filter(|answer| answer.status == status).count()
}

/// A failure was counted after the password was looked at: as many as came at once were looked at.
#[test]
fn guesses_at_once_are_no_more_than_one_after_another() {
    with_oauth_clients(24, |mut clients| async move {
        person(&mut clients[0], "ann").await;
        for (at, client) in clients.iter_mut().enumerate() {
            client.authorize(Some(&basic("ann", &format!("guess-{at}"))));
        }
        let answers = at_once(&mut clients, "GET", "/_security/_authenticate", |_| String::new());
        let answers = answers.await;
        assert_eq!((count(&answers, 401), count(&answers, 429)), (10, 14));
    });
}

/// The same at the page: five are free, and then delays begin.
#[test]
fn sign_ins_at_once_are_no_more_than_one_after_another() {
    with_oauth_clients(24, |mut clients| async move {
        person(&mut clients[0], "ann").await;
        let mut people = Vec::new();
        for client in &mut clients {
            let mut browser = Browser::default();
            let page = browser.ask(client, "/login", &[]).await;
            let mut form = fields(&page, "/login");
            form.push(("username".into(), "ann".into()));
            people.push((browser, form));
        }
        let calls = clients.iter_mut().zip(&mut people).enumerate();
        let calls = calls.map(|(at, (client, (browser, form)))| {
            form.push(("password".into(), format!("guess-{at}")));
            browser.post(client, "/login", form)
        });
        let answers = env::join_all(calls.map(Box::pin).collect()).await;
        assert_eq!((count(&answers, 400), count(&answers, 429)), (5, 19));
    });
}

/// Who came in takes nothing from others: a right password counts as no failure, however many come at once.
#[test]
fn right_passwords_count_for_nothing() {
    with_oauth_clients(24, |mut clients| async move {
        person(&mut clients[0], "ann").await;
        for _ in 0..2 {
            for client in &mut clients {
                client.authorize(Some(&own("ann")));
            }
            let answers =
                at_once(&mut clients, "GET", "/_security/_authenticate", |_| String::new()).await;
            assert_eq!(count(&answers, 200), 24);
            // Nobody remembers it any more.
            person(&mut clients[0], "ann").await;
        }
        for guess in 0..10 {
            clients[0].authorize(Some(&basic("ann", &format!("guess-{guess}"))));
            let answer = clients[0].call("GET", "/_security/_authenticate", "").await;
            assert_eq!(answer.status, 401, "{guess}");
        }
    });
}

/// Each core remembered for itself, and a stranger's guesses kept a person out on every other.
#[test]
fn who_was_let_in_on_one_core_is_let_in_on_all() {
    with_oauth_clients(2, |mut clients| async move {
        person(&mut clients[0], "ann").await;
        clients[0].authorize(Some(&own("ann")));
        clients[0].good("GET", "/_security/_authenticate", "").await;
        for guess in 0..12 {
            clients[0].authorize(Some(&basic("ann", &format!("guess-{guess}"))));
            let answer = clients[0].call("GET", "/_security/_authenticate", "").await;
            assert_eq!(answer.status, if guess < 10 { 401 } else { 429 });
        }
        clients[1].authorize(Some(&own("ann")));
        clients[1].good("GET", "/_security/_authenticate", "").await;
        // A change of the user is known to all as well.
        clients[0].authorize(Some(&basic("elastic", "secret")));
        let body = r#"{"password":"another-one","roles":[]}"#;
        clients[0].good("PUT", "/_security/user/ann", body).await;
        clients[1].authorize(Some(&own("ann")));
        assert_eq!(clients[1].call("GET", "/_security/_authenticate", "").await.status, 429);
    });
}

/// All clients behind one address that used `Basic` shared one rate.
#[test]
fn each_client_spends_its_own_rate() {
    with_oauth_clients(1, |mut clients| async move {
        let client = &mut clients[0];
        let mut made = Vec::new();
        for name in ["One", "Two"] {
            client.authorize(Some(&basic("elastic", "secret")));
            let body = json!({"client_name": name, "redirect_uris": ["https://app.example/cb"]});
            let answer = client.good("POST", "/_oauth/client", &json::to_string(&body)).await;
            let text = |key: &str| at(&answer, &[key]).as_str().expect("a text").to_owned();
            made.push((text("client_id"), text("client_secret")));
        }
        let form = [("Content-Type", "application/x-www-form-urlencoded")];
        let body = b"grant_type=refresh_token&refresh_token=x";
        let mut statuses = Vec::new();
        client.authorize(Some(&basic(&made[0].0, &made[0].1)));
        for _ in 0..101 {
            statuses.push(client.call_with("POST", "/token", &form, body).await.status);
        }
        assert_eq!((statuses[..100].to_vec(), statuses[100]), (vec![400; 100], 429));
        client.authorize(Some(&basic(&made[1].0, &made[1].1)));
        assert_eq!(client.call_with("POST", "/token", &form, body).await.status, 400);
        // Who only uses a client's name spends nothing of it.
        client.authorize(None);
        let named = format!("grant_type=refresh_token&refresh_token=x&client_id={}", made[1].0);
        for _ in 0..9 {
            let answer = client.call_with("POST", "/token", &form, named.as_bytes()).await;
            assert_eq!(answer.status, 401);
        }
        client.authorize(Some(&basic(&made[1].0, &made[1].1)));
        for _ in 0..99 {
            assert_eq!(client.call_with("POST", "/token", &form, body).await.status, 400);
        }
        assert_eq!(client.call_with("POST", "/token", &form, body).await.status, 429);
    });
}

/// Guesses once at the page; the status.
async fn guess(client: &mut Client, browser: &mut Browser, name: &str, password: &str) -> u16 {
    let page = browser.ask(client, "/login", &[]).await;
    let mut form = fields(&page, "/login");
    form.push(("username".into(), name.into()));
    form.push(("password".into(), password.into()));
    browser.post(client, "/login", &form).await.status
}

/// A sign-in from a browser that was not known here was held up, up to a minute, by whoever guessed at the account
/// from anywhere.
#[test]
fn who_guesses_elsewhere_holds_up_nobody_here() {
    with_oauth_behind_a_proxy(|mut client| async move {
        person(&mut client, "ann").await;
        let mut stranger = Browser::from("203.0.113.1");
        let mut statuses = Vec::new();
        for at in 0..7 {
            statuses.push(guess(&mut client, &mut stranger, "ann", &format!("guess-{at}")).await);
        }
        assert_eq!(statuses, [400, 400, 400, 400, 400, 429, 429]);
        let mut neighbour = Browser::from("203.0.113.9");
        assert_eq!(guess(&mut client, &mut neighbour, "ann", "ann-knows-this").await, 429);
        let mut owner = Browser::from("198.51.100.1");
        assert_eq!(guess(&mut client, &mut owner, "ann", "ann-knows-this").await, 303);
        // And at the other doors.
        for (from, password, expected) in [
            ("203.0.113.1", "wrong", [vec![401; 10], vec![429; 2]].concat()),
            ("198.51.100.2", "ann-knows-this", vec![200]),
        ] {
            for status in expected {
                client.authorize(Some(&basic("ann", password)));
                let fields = [("X-Forwarded-For", from)];
                let answer =
                    client.call_with("GET", "/_security/_authenticate", &fields, b"").await;
                assert_eq!(answer.status, status, "{from}");
            }
        }
    });
}

/// Who has many networks guesses no more than so often in all; the person is let in from where it came in before,
/// and by a browser that is known.
#[test]
fn who_guesses_from_everywhere_is_slowed_and_the_person_is_let_in() {
    with_oauth_behind_a_proxy(|mut client| async move {
        person(&mut client, "ann").await;
        let mut known = Browser::from("198.51.100.1");
        assert_eq!(guess(&mut client, &mut known, "ann", "ann-knows-this").await, 303);
        let mut counts = [0, 0];
        for network in 0..12 {
            let mut stranger = Browser::from(&format!("203.0.{network}.1"));
            for at in 0..5 {
                let status = guess(&mut client, &mut stranger, "ann", &format!("guess-{at}")).await;
                counts[usize::from(status == 429)] += 1;
            }
        }
        // A delay of some seconds may end meanwhile.
        assert!(counts[0] >= 40 && counts[1] >= 10, "{counts:?}");
        let right = "ann-knows-this";
        let mut new = Browser::from("192.0.2.1");
        assert_eq!(guess(&mut client, &mut new, "ann", right).await, 429, "nobody knows it");
        let mut home = Browser::from("198.51.100.77");
        assert_eq!(guess(&mut client, &mut home, "ann", right).await, 303);
        // The browser is known wherever it is.
        known.moves("192.0.2.1");
        assert_eq!(guess(&mut client, &mut known, "ann", right).await, 303);
    });
}

/// Whoever showed nothing that names a client, or showed it in a way that is not offered, could go on for ever; and
/// nobody's question about a token was counted at all.
#[test]
fn who_shows_nothing_is_counted_too() {
    let form = [("Content-Type", "application/x-www-form-urlencoded")];
    let expected = &[vec![401; 10], vec![429; 2]].concat();
    let assertion = "&client_assertion=e30.e30.x\
        &client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
    for (target, header, more) in [
        ("/introspect", None, ""),
        ("/introspect", Some("Bearer zzz"), ""),
        ("/introspect", Some("ApiKey zzz"), ""),
        ("/introspect", Some("Basic !!!!"), ""),
        ("/introspect", None, "&client_id=PUBLIC"),
        ("/token", None, ""),
        ("/token", Some("Basic !!!!"), ""),
        ("/token", Some("Bearer x"), "&client_id=SECRET"),
        ("/token", None, "&client_id=SECRET&ASSERTION"),
        ("/revoke", None, ""),
    ] {
        with_oauth_clients(1, |mut clients| async move {
            let client = &mut clients[0];
            client.authorize(Some(&basic("elastic", "secret")));
            let mut made = Vec::new();
            for method in ["none", "client_secret_basic"] {
                let body = json!({"client_name": "One", "redirect_uris": ["https://app.example/cb"],
                    "token_endpoint_auth_method": method});
                let answer = client.good("POST", "/_oauth/client", &json::to_string(&body)).await;
                made.push(at(&answer, &["client_id"]).as_str().expect("a text").to_owned());
            }
            let more = more.replace("PUBLIC", &made[0]).replace("SECRET", &made[1]);
            let more = more.replace("&ASSERTION", assertion);
            let body = format!("grant_type=refresh_token&refresh_token=x&token=x{more}");
            client.authorize(header);
            let mut statuses = Vec::new();
            for _ in 0..12 {
                let answer = client.call_with("POST", target, &form, body.as_bytes()).await;
                statuses.push(answer.status);
                assert_eq!(answer.field("retry-after").is_some(), answer.status == 429);
            }
            assert_eq!(&statuses, expected, "{target} {header:?} {more}");
            // Who has a right to ask is let in all the same.
            client.authorize(Some(&basic("elastic", "secret")));
            let answer = client.call_with("POST", "/introspect", &form, b"token=x").await;
            assert_eq!(answer.status, 200, "{}", answer.text());
        });
    }
}
