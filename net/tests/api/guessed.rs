//! Passwords that are guessed, many at once and on several cores; and how often a client may ask.

use http::client::Response;
use json::json;

use crate::browser::{Browser, basic, fields};
use crate::place::{Client, at, at_once, with_oauth_clients};

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
