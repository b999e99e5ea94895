//! The power goes while a request is carried out: what it was to do is done whole, or not begun.

use std::cell::Cell;

use authz::Secret;
use sim::Sim;

use crate::browser::{Browser, basic, fields};
use crate::consented::{promised, stage};
use crate::place::{Client, kept, with_oauth_on, with_oauth_until_cut};

/// By which `ann` gets another password, and the old one's grants end.
#[derive(Clone, Copy, Debug)]
enum Way {
    Password,
    User,
    Page,
}

/// `ann` has let an application in, and gets another password; `begun` is told how many changes the disk had seen
/// before.
async fn story(mut client: Client, way: Way, (sim, begun): (&Sim, &Cell<u64>)) {
    let app = stage(&mut client, &[("ann", &[("a-*", "read")])]).await;
    promised(&mut client, &app, "ann", "index:a-*:read").await.1.expect("some");
    let mut browser = Browser::default();
    browser.sign_in(&mut client, "ann", "/login").await;
    let page = browser.ask(&mut client, "/account/security", &[]).await;
    let mut form = fields(&page, "/account/security");
    for (name, value) in [
        ("password", "ann-knows-this"),
        ("new_password", "another-one"),
        ("new_password_again", "another-one"),
        ("revoke_grants", "true"),
    ] {
        form.push((name.into(), value.into()));
    }
    client.authorize(Some(&basic("elastic", "secret")));
    begun.set(sim.changes());
    match way {
        Way::Password => {
            let body = r#"{"password":"another-one"}"#;
            client.good("POST", "/_security/user/ann/_password", body).await;
        }
        Way::User => {
            let body = r#"{"password":"another-one","roles":["ann"]}"#;
            client.good("PUT", "/_security/user/ann", body).await;
        }
        Way::Page => {
            let page = browser.post(&mut client, "/account/security", &form).await;
            assert_eq!(page.status, 200, "{}", page.text());
        }
    }
}

/// Whether the new password is in force on the disk, and how many grants of `ann` are.
fn found(sim: &Sim) -> (bool, usize) {
    let state = kept(sim);
    let ann = state.user("ann").expect("there");
    let is_new = ann.password.verify(&Secret::new("another-one".into()));
    (is_new, state.grants_of("ann", None).count())
}

/// Whoever saw no answer, and found the new password good, believed that the thief was out: the power had gone
/// between two commands, and the grants of before lived.
#[test]
fn no_power_cut_leaves_the_old_access_with_the_new_password() {
    for way in [Way::Password, Way::User, Way::Page] {
        let (sim, begun) = (Sim::new(1), Cell::new(0));
        with_oauth_on(&sim, |client| story(client, way, (&sim, &begun)));
        let ended = sim.changes();
        assert!(begun.get() < ended, "{way:?}: nothing was written");
        let mut seen = Vec::new();
        for nth in begun.get() + 1..=ended {
            let (sim, begun) = (Sim::new(1), Cell::new(0));
            sim.cut_power_at(nth);
            with_oauth_until_cut(&sim, |client| story(client, way, (&sim, &begun)));
            seen.push(found(&sim));
        }
        sim.crash();
        seen.push(found(&sim));
        let is_whole = |one: &(bool, usize)| matches!(one, (false, 1) | (true, 0));
        assert!(seen.iter().all(is_whole), "{way:?}: {seen:?}");
        assert_eq!(seen.last(), Some(&(true, 0)), "{way:?}: what was answered is kept");
    }
}
