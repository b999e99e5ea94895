//! Who was let in with a password that is replaced while the request is on its way.

use std::cell::Cell;
use std::time::Duration;

use env::{Clock, Env};
use http::client::Response;
use json::json;
use sim::Sim;

use crate::browser::{Browser, basic, fields};
use crate::consented;
use crate::place::{Client, at, failure, with_oauth_clients, with_oauth_clients_on};

/// `vic`, and what gives that user the password `a-new-password` without a hash to make.
async fn stage(admin: &mut Client) -> String {
    admin.authorize(Some(&basic("elastic", "secret")));
    let body = json!({"password": "vic-knows-this", "roles": ["superuser"]});
    admin.good("PUT", "/_security/user/vic", &json::to_string(&body)).await;
    let password = authz::Secret::new("a-new-password".into());
    let hash = authz::password::PasswordHash::make(&password, [3; 16]);
    json::to_string(&json!({"password_hash": (hash.as_str())}))
}

/// Whether `vic` comes in with a password.
async fn comes_in(client: &mut Client, password: &str) -> bool {
    client.authorize(Some(&basic("vic", password)));
    client.call("GET", "/_security/_authenticate", "").await.status == 200
}

/// The thief's request was let in with the old password, hashed, and replaced what the administrator had given
/// meanwhile.
#[test]
fn an_old_password_replaces_no_new_one() {
    for (method, target, body) in [
        ("PUT", "/_security/user/_password", r#"{"password":"stolen-for-good"}"#),
        ("PUT", "/_security/user/vic", r#"{"password":"stolen-for-good","roles":["superuser"]}"#),
        (
            "POST",
            "/_security/oauth2/token",
            r#"{"grant_type":"password","username":"vic","password":"vic-knows-this"}"#,
        ),
    ] {
        let overtaken = &Cell::new(0);
        for seed in 1..=8 {
            with_oauth_clients_on(&Sim::new(seed), 2, |mut clients| async move {
                let [admin, thief] = &mut clients[..] else { panic!("two") };
                let reset = stage(admin).await;
                thief.authorize(Some(&basic("vic", "vic-knows-this")));
                let json = [("Content-Type", "application/json")];
                thief.send(method, target, &json, body.as_bytes()).await;
                admin.good("POST", "/_security/user/vic/_password", &reset).await;
                let answer = thief.answer(method, target).await;
                // Now and then a thief is done before the administrator begins.
                if answer.status != 200 {
                    let told = failure(&answer);
                    assert_eq!(told.split(':').next(), Some("401 security_exception"), "{target}");
                    overtaken.set(overtaken.get() + 1);
                }
                assert!(comes_in(admin, "a-new-password").await, "{target}");
                assert!(!comes_in(admin, "stolen-for-good").await);
                assert!(!comes_in(admin, "vic-knows-this").await);
            });
        }
        assert!(overtaken.get() > 0, "{target}");
    }
}

/// An administrator whose password was replaced went on with others' for as long as a hash takes: with that of
/// somebody else, with a new superuser, in another's name.
#[test]
fn an_old_password_of_an_administrator_gives_nobody_another() {
    const STOLEN: &str = r#"{"password":"stolen-for-good","roles":["superuser"]}"#;
    let run_as = [("es-security-runas-user", "dan")];
    for (method, target, body, more) in [
        ("POST", "/_security/user/dan/_password", r#"{"password":"stolen-for-good"}"#, &[][..]),
        ("PUT", "/_security/user/door", STOLEN, &[]),
        ("PUT", "/_security/user/door", STOLEN, &run_as),
    ] {
        with_oauth_clients(2, |mut clients| async move {
            let [admin, thief] = &mut clients[..] else { panic!("two") };
            let reset = stage(admin).await;
            let dan = r#"{"password":"dan-knows-this","roles":["superuser"]}"#;
            admin.good("PUT", "/_security/user/dan", dan).await;
            thief.authorize(Some(&basic("vic", "vic-knows-this")));
            let fields = [&[("Content-Type", "application/json")], more].concat();
            thief.send(method, target, &fields, body.as_bytes()).await;
            admin.good("POST", "/_security/user/vic/_password", &reset).await;
            let answer = thief.answer(method, target).await;
            let told = failure(&answer);
            assert_eq!(told.split(':').next(), Some("401 security_exception"), "{told}");
            for name in ["dan", "door"] {
                admin.authorize(Some(&basic(name, "stolen-for-good")));
                assert_eq!(admin.call("GET", "/", "").await.status, 401, "{name}");
            }
        });
    }
}

/// A superuser who became none while a password was hashed had the command carried out: with a new superuser, a
/// password of somebody else, a key or a token in another's name.
#[test]
fn a_right_that_ends_while_a_password_is_hashed_does_nothing_more() {
    const DOOR: &str = r#"{"password":"stolen-for-good","roles":["superuser"]}"#;
    const DAN: &str = r#""grant_type":"password","username":"dan","password":"dan-knows-this""#;
    let (by_role, by_user) = (("role/mighty", "{}"), ("user/vic", r#"{"roles":[]}"#));
    for (method, target, body) in [
        ("PUT", "/_security/user/door", DOOR.to_owned()),
        ("POST", "/_security/user/dan/_password", r#"{"password":"stolen-for-good"}"#.to_owned()),
        ("POST", "/_security/api_key/grant", format!(r#"{{{DAN},"api_key":{{"name":"kept"}}}}"#)),
        ("POST", "/_security/oauth2/token", format!("{{{DAN}}}")),
        ("POST", "/_security/profile/_activate", format!("{{{DAN}}}")),
    ] {
        for (what, without) in [by_role, by_user] {
            let body = body.clone();
            let sim = Sim::new(1);
            let (env, sim) = (sim.env(), &sim);
            with_oauth_clients_on(sim, 2, |mut clients| async move {
                let [admin, thief] = &mut clients[..] else { panic!("two") };
                admin.authorize(Some(&basic("elastic", "secret")));
                admin.good("PUT", "/_security/role/mighty", r#"{"cluster":["all"]}"#).await;
                for (name, role) in [("vic", "mighty"), ("dan", "superuser")] {
                    let password = format!("{name}-knows-this");
                    let user = json!({"password": (password), "roles": [role]});
                    let user = json::to_string(&user);
                    admin.good("PUT", &format!("/_security/user/{name}"), &user).await;
                }
                // Whose password is known is let in at once: what takes long is the other one's hash.
                assert!(comes_in(thief, "vic-knows-this").await);
                let json = [("Content-Type", "application/json")];
                let jobs = sim.jobs();
                sim.set_latency(Duration::from_secs(9), Duration::from_secs(9));
                thief.send(method, target, &json, body.as_bytes()).await;
                while sim.jobs() == jobs {
                    env.clock().sleep(Duration::from_millis(1)).await;
                }
                sim.set_latency(Duration::ZERO, Duration::from_millis(1));
                admin.good("PUT", &format!("/_security/{what}"), without).await;
                let told = failure(&thief.answer(method, target).await);
                assert!(told.starts_with("403 security_exception: action ["), "{target}: {told}");
                for name in ["dan", "door"] {
                    thief.authorize(Some(&basic(name, "stolen-for-good")));
                    assert_eq!(thief.call("GET", "/", "").await.status, 401, "{target} {name}");
                }
                let keys = admin.good("GET", "/_security/api_key?name=kept", "").await;
                assert_eq!(keys, json!({"api_keys": []}));
            });
        }
    }
}

/// So long that its caller is judged before it comes.
fn long(body: &str) -> String {
    format!("{}{body}", " ".repeat(70_000))
}

/// A slow request was judged by its head alone: its body ended after what had let it in, and it was carried out.
#[test]
fn what_ends_while_a_body_comes_lets_nobody_in() {
    const KEY: (&str, &str, &str) = ("POST", "/_security/api_key", r#"{"name":"kept"}"#);
    const DOCUMENT: (&str, &str, &str) = ("PUT", "/a/_doc/1", r#"{"n":1}"#);
    for (by_key, is_by_another, (method, target, body)) in [
        (false, false, KEY),
        (false, false, DOCUMENT),
        (false, true, DOCUMENT),
        (true, false, DOCUMENT),
        (true, true, DOCUMENT),
    ] {
        with_oauth_clients(2, |mut clients| async move {
            let [admin, thief] = &mut clients[..] else { panic!("two") };
            let (reset, body) = (stage(admin).await, long(body));
            admin.good("PUT", "/a", "").await;
            let writer = r#"{"indices":[{"names":["a"],"privileges":["write"]}]}"#;
            admin.good("PUT", "/_security/role/writer", writer).await;
            // Nobody becomes a superuser by a key.
            let dan = r#"{"password":"dan-knows-this","roles":["writer"]}"#;
            admin.good("PUT", "/_security/user/dan", dan).await;
            let vic = basic("vic", "vic-knows-this");
            thief.authorize(Some(&vic));
            let key = thief.good("POST", "/_security/api_key", r#"{"name":"k"}"#).await;
            let text = |name: &str| at(&key, &[name]).as_str().expect("a text").to_owned();
            let shown = if by_key { format!("ApiKey {}", text("encoded")) } else { vic };
            let run_as = if is_by_another { "es-security-runas-user: dan\r\n" } else { "" };
            let head = format!(
                "{method} {target} HTTP/1.1\r\nHost: a\r\nAuthorization: {shown}\r\n{run_as}\
                 Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
                body.len()
            );
            let (begin, end) = body.as_bytes().split_at(3);
            thief.write(&[head.as_bytes(), begin].concat()).await;
            // Its head is judged by then.
            admin.good("GET", "/a/_search", "").await;
            let ids = json::to_string(&json!({"ids": [(text("id"))]}));
            match by_key {
                true => admin.good("DELETE", "/_security/api_key", &ids).await,
                false => admin.good("POST", "/_security/user/vic/_password", &reset).await,
            };
            thief.write(end).await;
            let told = failure(&thief.answer(method, target).await);
            assert!(told.starts_with("401 security_exception: unable to authenticate"), "{told}");
            let keys = admin.good("GET", "/_security/api_key?name=kept", "").await;
            assert_eq!(keys, json!({"api_keys": []}));
            admin.good("POST", "/a/_refresh", "").await;
            let count = admin.good("GET", "/a/_count", "").await;
            assert_eq!(at(&count, &["count"]).as_u64(), Some(0));
        });
    }
}

/// A token ended alone, while the body came: the grant lived on by its others, and so did the request. One of a
/// service account that got another's name was taken for that one.
#[test]
fn a_token_that_ends_while_a_body_comes_lets_nobody_in() {
    const FORM: &str = "application/x-www-form-urlencoded";
    const FLEET: &str = "/_security/service/elastic/fleet-server/credential/token/t";
    for (kind, index) in [("own", "a-1"), ("application", "a-1"), ("service", ".fleet-actions-1")] {
        with_oauth_clients(2, |mut clients| async move {
            let [admin, thief] = &mut clients[..] else { panic!("two") };
            let all = [("*", "all")];
            let app = consented::stage(admin, &[("ann", &all)]).await;
            admin.authorize(Some(&basic("elastic", "secret")));
            let target = format!("/{index}/_doc");
            admin.good("POST", &target, "{}").await;
            let ask = r#"{"grant_type":"password","username":"ann","password":"ann-knows-this"}"#;
            let token = match kind {
                "own" => {
                    let told = admin.good("POST", "/_security/oauth2/token", ask).await;
                    assert!(at(&told, &["refresh_token"]).as_str().is_some());
                    at(&told, &["access_token"]).as_str().expect("a token").to_owned()
                }
                "application" => {
                    let scope = "index:*:all";
                    let given = consented::promised(admin, &app, "ann", scope).await.1;
                    given.expect("some")["Bearer ".len()..].to_owned()
                }
                _ => {
                    let told = admin.good("POST", FLEET, "").await;
                    at(&told, &["token", "value"]).as_str().expect("a token").to_owned()
                }
            };
            let head = format!(
                "POST {target} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\n\
                 Content-Type: application/json\r\nContent-Length: 70007\r\n\r\n"
            );
            for ends in [false, true] {
                thief.write(format!("{head}{}", long("{\"n\"")).as_bytes()).await;
                // Its head is judged by then.
                admin.authorize(Some(&basic("elastic", "secret")));
                admin.good("GET", "/_search", "").await;
                if ends {
                    let own = json::to_string(&json!({"token": (token.as_str())}));
                    let form = format!("token={token}&client_id={}&client_secret={}", app.0, app.1);
                    match kind {
                        "own" => drop(admin.good("DELETE", "/_security/oauth2/token", &own).await),
                        "application" => {
                            admin.authorize(None);
                            let kind = [("Content-Type", FORM)];
                            let gone =
                                admin.call_with("POST", "/revoke", &kind, form.as_bytes()).await;
                            assert_eq!(gone.status, 200);
                        }
                        _ => {
                            admin.good("DELETE", FLEET, "").await;
                            admin.good("POST", FLEET, "").await;
                        }
                    }
                }
                thief.write(b":1}").await;
                let answer = thief.answer("POST", &target).await;
                let status = if ends { 401 } else { 201 };
                assert_eq!(answer.status, status, "{kind}: {}", answer.text());
            }
        });
    }
}

/// A right that was taken back while the body came, and one that was given, are those of the moment.
#[test]
fn rights_are_those_of_when_a_request_has_come() {
    with_oauth_clients(2, |mut clients| async move {
        let [admin, other] = &mut clients[..] else { panic!("two") };
        stage(admin).await;
        admin.good("PUT", "/a", "").await;
        let roles = |roles: &[&str]| {
            json::to_string(&json!({"password": "dan-knows-this", "roles": (roles.to_vec())}))
        };
        let writer = r#"{"indices":[{"names":["a"],"privileges":["write"]}]}"#;
        let admins = basic("elastic", "secret");
        for (before, after, status) in [(writer, "{}", 403), ("{}", writer, 201)] {
            admin.good("PUT", "/_security/role/changes", before).await;
            admin.good("PUT", "/_security/user/dan", &roles(&["changes"])).await;
            let head = format!(
                "POST /a/_doc HTTP/1.1\r\nHost: a\r\nAuthorization: {}\r\n\
                 Content-Type: application/json\r\nContent-Length: 70007\r\n\r\n",
                basic("dan", "dan-knows-this")
            );
            other.write(format!("{head}{}", long("{\"n\"")).as_bytes()).await;
            admin.authorize(Some(&basic("dan", "dan-knows-this")));
            admin.good("GET", "/_security/_authenticate", "").await;
            admin.authorize(Some(&admins));
            admin.good("PUT", "/_security/role/changes", after).await;
            other.write(b":1}").await;
            let answer = other.answer("POST", "/a/_doc").await;
            assert_eq!(answer.status, status, "{}", answer.text());
        }
    });
}

/// A right that was taken away while a command was on its way to the core that keeps the state was used once more: here
/// to take it back.
#[test]
fn a_right_that_ends_on_the_way_of_a_command_gives_itself_back_no_more() {
    with_oauth_clients(2, |mut clients| async move {
        let [admin, thief] = &mut clients[..] else { panic!("two") };
        stage(admin).await;
        let json = [("Content-Type", "application/json")];
        let (mighty, none) = (r#"{"cluster":["manage_security"]}"#, r#"{"cluster":[]}"#);
        let bulk = format!(r#"{{"roles":{{"changes":{mighty}}}}}"#);
        let other = r#"{"cluster":["manage_security"],"metadata":{"of":"the thief"}}"#;
        let user = r#"{"password":"dan-knows-this","roles":["changes"]}"#;
        admin.good("PUT", "/_security/role/changes", mighty).await;
        admin.good("PUT", "/_security/user/dan", user).await;
        thief.authorize(Some(&basic("dan", "dan-knows-this")));
        for (method, target, body) in
            [("PUT", "/_security/role/changes", other), ("POST", "/_security/role", bulk.as_str())]
        {
            admin.good("PUT", "/_security/role/changes", mighty).await;
            thief.good("GET", "/_security/_authenticate", "").await;
            let role = "/_security/role/changes";
            admin.send("PUT", role, &json, none.as_bytes()).await;
            thief.send(method, target, &json, body.as_bytes()).await;
            let taken = admin.answer("PUT", role).await;
            assert_eq!(taken.status, 200);
            let used = thief.answer(method, target).await;
            let now = admin.good("GET", role, "").await;
            let cluster = at(&now, &["changes", "cluster"]).as_array().map(<[_]>::len);
            assert_eq!(cluster, Some(0), "{target}: {} {}", used.status, used.text());
        }
    });
}

/// The same by the page, which went on to a session of its own.
#[test]
fn the_page_of_an_old_password_gives_neither_password_nor_session() {
    with_oauth_clients(2, |mut clients| async move {
        let [admin, thief] = &mut clients[..] else { panic!("two") };
        let reset = stage(admin).await;
        let mut browser = Browser::default();
        browser.sign_in(thief, "vic", "/login").await;
        let page = browser.ask(thief, "/account/security", &[]).await;
        let mut form = fields(&page, "/account/security");
        for (name, value) in [
            ("password", "vic-knows-this"),
            ("new_password", "stolen-for-good"),
            ("new_password_again", "stolen-for-good"),
        ] {
            form.push((name.into(), value.into()));
        }
        type Call<'a> = std::pin::Pin<Box<dyn Future<Output = Response> + 'a>>;
        let calls: Vec<Call<'_>> = vec![
            Box::pin(browser.post(thief, "/account/security", &form)),
            Box::pin(admin.call("POST", "/_security/user/vic/_password", &reset)),
        ];
        let [posted, given] = &env::join_all(calls).await[..] else { panic!("two") };
        assert_eq!(given.status, 200, "{}", given.text());
        assert_ne!(posted.status, 200, "{}", posted.text());
        let account = browser.ask(thief, "/account/apps", &[]).await;
        assert_eq!(account.status, 303, "nobody is signed in: {}", account.text());
        assert!(comes_in(admin, "a-new-password").await);
        assert!(!comes_in(admin, "stolen-for-good").await);
    });
}

/// A tool that set up its users once more, with the passwords they had, had honest sign-ins refused: the password
/// was right before and after.
#[test]
fn the_same_password_given_again_refuses_nobody() {
    with_oauth_clients(2, |mut clients| async move {
        let [admin, honest] = &mut clients[..] else { panic!("two") };
        stage(admin).await;
        let hash = authz::Secret::new("vic-knows-this".into());
        let hash = authz::password::PasswordHash::make(&hash, [4; 16]);
        let again = json!({"password_hash": (hash.as_str()), "roles": ["superuser"]});
        let again = json::to_string(&again);
        let ask = r#"{"grant_type":"password","username":"vic","password":"vic-knows-this"}"#;
        honest.authorize(Some(&basic("elastic", "secret")));
        let json = [("Content-Type", "application/json")];
        honest.send("POST", "/_security/oauth2/token", &json, ask.as_bytes()).await;
        admin.good("PUT", "/_security/user/vic", &again).await;
        let answer = honest.answer("POST", "/_security/oauth2/token").await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        type Call<'a> = std::pin::Pin<Box<dyn Future<Output = Response> + 'a>>;
        let mut browser = Browser::default();
        let page = browser.ask(honest, "/login", &[]).await;
        let mut form = fields(&page, "/login");
        for (name, value) in [("username", "vic"), ("password", "vic-knows-this")] {
            form.push((name.into(), value.into()));
        }
        let calls: Vec<Call<'_>> = vec![
            Box::pin(browser.post(honest, "/login", &form)),
            Box::pin(admin.call("PUT", "/_security/user/vic", &again)),
        ];
        let [signed_in, given] = &env::join_all(calls).await[..] else { panic!("two") };
        assert_eq!(given.status, 200, "{}", given.text());
        assert_eq!(signed_in.status, 303, "{}", signed_in.text());
    });
}
