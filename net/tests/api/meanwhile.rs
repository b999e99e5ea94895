//! What ends while a command is on its way: what its giver holds, the session that it is given in, and for whom it
//! may be given.

use std::time::Duration;

use env::{Clock, Env};
use http::client::Response;
use json::{Value, json};
use sim::Sim;

use crate::browser::{Browser, basic, escaped, fields, location, words};
use crate::consented;
use crate::decided::{send, stage};
use crate::place::{Client, at, failure, with_oauth_clients, with_oauth_clients_on};

/// What is asked at the same time as something else.
type Call<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + 'a>>;

const JSON: [(&str, &str); 1] = [("Content-Type", "application/json")];
const CALLBACK: &str = "https://app.example/cb";

fn elastic(client: &mut Client) {
    client.authorize(Some(&basic("elastic", "secret")));
}

/// What gives `dev` another password without a hash to make, which ends the sessions of the old one.
fn reset() -> String {
    let password = authz::Secret::new("a-new-password".into());
    let hash = authz::password::PasswordHash::make(&password, [3; 16]);
    json::to_string(&json!({"password_hash": (hash.as_str())}))
}

const RESET: &str = "/_security/user/dev/_password";

async fn shown(client: &mut Client, app: &str) -> Value {
    let reference = app.rsplit('/').next().expect("a reference");
    elastic(client);
    client.good("GET", &format!("/_oauth/client/{reference}"), "").await
}

/// A role, or what it gives, was taken away while a key was on its way. The key had it for good.
#[test]
fn a_key_has_what_its_owner_holds_as_it_is_kept() {
    with_oauth_clients(2, |mut clients| async move {
        let [admin, thief] = &mut clients[..] else { panic!("two") };
        elastic(admin);
        let role = |names: &[&str]| {
            let indices = json!({"names": (names.to_vec()), "privileges": ["all"]});
            json::to_string(&json!({"cluster": ["manage_own_api_key"], "indices": [indices]}))
        };
        let user = |roles: &[&str]| {
            json::to_string(&json!({"password": "dan-knows-this", "roles": (roles.to_vec())}))
        };
        admin.good("PUT", "/_security/role/keys", &role(&["own"])).await;
        let (much, less) = (role(&["own", "others"]), role(&["own"]));
        let both = user(&["keys", "mighty"]);
        let left = r#"{"roles":["keys"]}"#.to_owned();
        for (what, before, after) in [("role/mighty", &much, &less), ("user/dan", &both, &left)] {
            admin.good("PUT", "/_security/role/mighty", &much).await;
            admin.good("PUT", "/_security/user/dan", &both).await;
            let what = format!("/_security/{what}");
            admin.good("PUT", &what, before).await;
            thief.authorize(Some(&basic("dan", "dan-knows-this")));
            let old = thief.good("POST", "/_security/api_key", r#"{"name":"old"}"#).await;
            let old = at(&old, &["id"]).as_str().expect("an id").to_owned();
            for (method, target) in [
                ("POST", "/_security/api_key".to_owned()),
                ("PUT", format!("/_security/api_key/{old}")),
            ] {
                admin.good("PUT", &what, before).await;
                thief.good("GET", "/_security/_authenticate", "").await;
                let body =
                    if method == "POST" { r#"{"name":"new"}"# } else { r#"{"metadata":{"a":1}}"# };
                admin.send("PUT", &what, &JSON, after.as_bytes()).await;
                thief.send(method, &target, &JSON, body.as_bytes()).await;
                assert_eq!(admin.answer("PUT", &what).await.status, 200);
                let done = thief.answer(method, &target).await;
                assert_eq!(done.status, 200, "{what}: {}", done.text());
                let id = json::parse(&done.body).expect("JSON");
                let id = id.get("id").and_then(Value::as_str).unwrap_or(&old).to_owned();
                let target = format!("/_security/api_key?id={id}&with_limited_by=true");
                let key = admin.good("GET", &target, "").await;
                let key = json::to_string(&at(&key, &["api_keys"]).as_array().expect("keys")[0]);
                assert!(!key.contains("others"), "{what} {method}: {key}");
                assert!(key.contains("own"), "{what} {method}: {key}");
            }
        }
    });
}

/// Somebody who has an application that was approved, and its page.
async fn approved(admin: &mut Client, other: &mut Client) -> (Browser, String) {
    let (mut dev, _) = stage(other).await;
    let app = send(&mut dev, other, "/apps/new", "One", CALLBACK, "index:a-1:read").await;
    let reference = app.rsplit('/').next().expect("a reference");
    elastic(admin);
    admin.good("POST", &format!("/_oauth/client/{reference}/_approve"), "").await;
    (dev, app)
}

/// A stranger's session was ended by another password, and what it had begun made a secret of the application, or
/// changed it, behind it: a picture is unpacked for as long as that takes.
#[test]
fn what_a_session_began_is_not_done_behind_its_end() {
    let sim = Sim::new(1);
    let (env, sim) = (sim.env(), &sim);
    with_oauth_clients_on(sim, 2, |mut clients| async move {
        let [admin, other] = &mut clients[..] else { panic!("two") };
        let (mut dev, app) = approved(admin, other).await;
        let before = shown(admin, &app).await;
        for target in [app.as_str(), "/apps/new"] {
            let page = dev.ask(other, target, &[]).await;
            let mut form = fields(&page, target);
            for (name, value) in [
                ("application_type", "web"),
                ("client_name", "Two"),
                ("redirect_uris", "https://evil.example/cb"),
                ("scope", "index:a-1:read"),
                ("confidential", "confidential"),
                ("require_pkce", "true"),
                ("action", "submit"),
            ] {
                form.push((name.into(), value.into()));
            }
            let jobs = sim.jobs();
            sim.set_latency(Duration::from_secs(9), Duration::from_secs(9));
            let ends = async {
                while sim.jobs() == jobs {
                    env.clock().sleep(Duration::from_millis(1)).await;
                }
                sim.set_latency(Duration::ZERO, Duration::from_millis(1));
                admin.good("POST", RESET, &reset()).await;
            };
            let picture = crate::developed::red();
            let halves: Vec<Call<'_, Option<Response>>> = vec![
                Box::pin(async {
                    Some(dev.upload(other, target, &form, ("logo", &picture)).await)
                }),
                Box::pin(async {
                    ends.await;
                    None
                }),
            ];
            let answer = env::join_all(halves).await.into_iter().flatten().next();
            let answer = answer.expect("an answer");
            assert_eq!((answer.status, location(&answer).as_str()), (303, "/login"), "{target}");
            assert_eq!(shown(admin, &app).await, before, "{target}");
            let all = admin.good("GET", "/_oauth/client", "").await;
            assert_eq!(at(&all, &["clients"]).as_array().map(<[_]>::len), Some(1), "{target}");
            // In again, by a password of the old form.
            let again = r#"{"password":"dev-knows-this"}"#;
            admin.good("POST", RESET, again).await;
            dev = Browser::default();
            dev.sign_in(other, "dev", "/login").await;
        }
    });
}

/// The same of a secret, which takes no longer than its way to where the state is kept.
#[test]
fn a_session_that_ended_makes_no_secret() {
    let sim = Sim::new(1);
    let (env, sim) = (sim.env(), &sim);
    with_oauth_clients_on(sim, 2, |mut clients| async move {
        let [admin, other] = &mut clients[..] else { panic!("two") };
        let (mut dev, app) = approved(admin, other).await;
        let page = dev.ask(other, &app, &[]).await;
        let mut form = fields(&page, &app);
        form.retain(|(name, _)| name == "csrf_token");
        form.push(("action".into(), "show_secret".into()));
        // The other password is on its way to the disk while the secret is asked for.
        let disk = Duration::from_millis(50);
        sim.set_latency(disk, disk);
        admin.send("POST", RESET, &JSON, reset().as_bytes()).await;
        env.clock().sleep(disk / 2).await;
        let posted = &dev.post(other, &app, &form).await;
        assert_eq!(admin.answer("POST", RESET).await.status, 200);
        sim.set_latency(Duration::ZERO, Duration::from_millis(1));
        assert_eq!(posted.status, 303, "{}", words(posted));
        assert_eq!(location(posted), "/login");
        let page = shown(admin, &app).await;
        assert_eq!(at(&page, &["version"]).as_u64(), Some(2), "{page:?}");
    });
}

/// Who could act for an account lent it to an application, had one approved or got a secret of one that has it, though
/// that right was taken away before the application was changed.
#[test]
fn an_account_is_lent_by_who_may_act_for_it_as_it_is_lent() {
    with_oauth_clients(2, |mut clients| async move {
        let [admin, thief] = &mut clients[..] else { panic!("two") };
        elastic(admin);
        let role = |run_as: &[&str]| {
            json::to_string(&json!({"cluster": ["manage_oauth"], "run_as": (run_as.to_vec())}))
        };
        let (acts, none) = (role(&["ann"]), role(&[]));
        admin.good("PUT", "/_security/role/acts", &acts).await;
        for (name, role) in [("ann", "viewer"), ("may", "acts")] {
            let password = format!("{name}-knows-this");
            let body = json!({"password": (password), "roles": [role]});
            admin.good("PUT", &format!("/_security/user/{name}"), &json::to_string(&body)).await;
        }
        let service = |account: &str| {
            json::to_string(&json!({"client_name": "Service", "application_type": "service",
                "service_account": account, "scope": "self"}))
        };
        thief.authorize(Some(&basic("may", "may-knows-this")));
        let id = |made: &Value| at(made, &["client_id"]).as_str().expect("an id").to_owned();
        let own = id(&thief.good("POST", "/_oauth/client", &service("may")).await);
        let anns = id(&thief.good("POST", "/_oauth/client", &service("ann")).await);
        let held = id(&thief.good("POST", "/_oauth/client", &service("ann")).await);
        thief.good("POST", &format!("/_oauth/client/{held}/_suspend"), "").await;
        let all = admin.good("GET", "/_oauth/client", "").await;
        for (target, body) in [
            (
                format!("/_oauth/client/{own}/_service_account"),
                r#"{"service_account":"ann"}"#.to_owned(),
            ),
            (format!("/_oauth/client/{anns}/_rotate_secret"), String::new()),
            (format!("/_oauth/client/{held}/_approve"), String::new()),
            ("/_oauth/client".to_owned(), service("ann")),
        ] {
            let change = "/_security/role/acts";
            admin.good("PUT", change, &acts).await;
            thief.good("GET", "/_security/_authenticate", "").await;
            admin.send("PUT", change, &JSON, none.as_bytes()).await;
            thief.send("POST", &target, &JSON, body.as_bytes()).await;
            assert_eq!(admin.answer("PUT", change).await.status, 200);
            let told = failure(&thief.answer("POST", &target).await);
            assert_eq!(
                told,
                "403 security_exception: user [may] may not act for the service account [ann]",
                "{target}"
            );
            assert_eq!(admin.good("GET", "/_oauth/client", "").await, all, "{target}");
        }
    });
}

/// A consent that is remembered was looked at, taken back, and given anew for less before the code was made: the code
/// was one for all that the first had given.
#[test]
fn a_consent_answers_for_its_owner_as_it_stands_when_the_code_is_made() {
    for (prompt, leads) in [("", "/consent?request="), ("&prompt=none", "error=consent_required")] {
        let sim = Sim::new(1);
        let (env, sim) = (sim.env(), &sim);
        with_oauth_clients_on(sim, 3, |mut clients| async move {
            let [silent, withdraws, renews] = &mut clients[..] else { panic!("three") };
            let (id, _) = consented::stage(silent, &[("ann", &[("*", "all")])]).await;
            let both = "index:a-1:read index:a-1:write";
            let mut first = Browser::default();
            let (_, page) = first.consent(silent, "ann", &id, both).await;
            let form = |page: &Response, scopes: &[&str]| {
                let mut form = fields(page, "/consent");
                form.extend(scopes.iter().map(|scope| ("scope".into(), (*scope).to_owned())));
                let more = [("remember", "true"), ("decision", "allow")];
                form.extend(more.map(|(name, value)| (name.to_owned(), value.to_owned())));
                form
            };
            let all: Vec<&str> = both.split(' ').collect();
            let led = location(&first.post(silent, "/consent", &form(&page, &all)).await);
            assert!(led.contains("code="), "{led}");
            let ask = format!("/authorize?response_type=code&client_id={id}&scope=");
            let wide = format!("{ask}{}{prompt}", escaped(both));
            let led = location(&first.ask(silent, &wide, &[]).await);
            assert!(led.contains("code="), "it is remembered: {led}");
            // Another tab asks for less, and a third shows what was given.
            let narrow = format!("{ask}{}&prompt=consent", escaped(all[0]));
            let led = location(&first.ask(silent, &narrow, &[]).await);
            let page = first.ask(silent, &led, &[]).await;
            let less = form(&page, &all[..1]);
            let page = first.ask(silent, "/account/apps", &[]).await;
            let mut back = fields(&page, "/account/apps");
            back.retain(|(name, _)| name == "csrf_token");
            back.push(("action".into(), "revoke_all".into()));
            let (mut second, mut third) = (first.clone(), first.clone());
            // The request is on its way to the disk while the others come in behind it.
            let disk = Duration::from_millis(50);
            sim.set_latency(disk, disk);
            let at = |tenths: u32| env.clock().sleep(disk * tenths / 10);
            let halves: Vec<Call<'_, Response>> = vec![
                Box::pin(first.ask(silent, &wide, &[])),
                Box::pin(async {
                    at(3).await;
                    second.post(withdraws, "/account/apps", &back).await
                }),
                Box::pin(async {
                    at(6).await;
                    third.post(renews, "/consent", &less).await
                }),
            ];
            let [answer, taken, given] = &env::join_all(halves).await[..] else { panic!("three") };
            sim.set_latency(Duration::ZERO, Duration::from_millis(1));
            assert_eq!(location(taken), "/account/apps");
            assert!(location(given).contains("code="), "{}", location(given));
            let led = location(answer);
            assert!(led.contains(leads) && !led.contains("code="), "{led}");
            // What stands is the narrow one.
            for (scope, is_given) in [(both, false), (all[0], true)] {
                let target = format!("{ask}{}", escaped(scope));
                let led = location(&second.ask(silent, &target, &[]).await);
                assert_eq!(led.contains("code="), is_given, "{scope}: {led}");
            }
        });
    }
}
