//! Dead API keys are kept for a while, and forgotten then.

mod common;

use std::time::Duration;

use authz::command::Command;
use authz::record::key::{ApiKey, Salted};
use authz::tidy::Tidy;
use common::{start, start_with};
use env::{Clock, Env};
use sim::Sim;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn key(id: &str, now: u64, expiration: Option<u64>) -> ApiKey {
    ApiKey {
        id: id.to_owned(),
        name: id.to_owned(),
        secret: Salted::new([1; 32], b"secret"),
        kind: "rest".to_owned(),
        owner: "ann".to_owned(),
        realm: ("default_native".to_owned(), "native".to_owned()),
        creation: now,
        expiration,
        invalidation: None,
        metadata: json::Object::new(),
        descriptors: Vec::new(),
        creator: None,
        limited_by: Vec::new(),
        access: None,
    }
}

/// They stayed for ever, and each start read them all.
#[test]
fn dead_keys_are_forgotten_a_while_after_their_end() {
    let sim = Sim::new(1);
    let env = sim.env();
    sim.run(async move {
        let (store, keeper) = start(&env).await;
        let now = || u64::try_from(env.clock().unix_ms()).expect("after 1970");
        let day = u64::try_from(DAY.as_millis()).expect("fits");
        let begin = now();
        for (id, expiration) in [
            ("live", None),
            ("later", Some(begin + 30 * day)),
            ("expired", Some(begin + day)),
            ("withdrawn", None),
        ] {
            let key = key(id, begin, expiration);
            keeper.ask(Command::PutKey { key, by: None, granted_by: None }).await.expect("kept");
        }
        // More than one command forgets.
        let many: Vec<String> = (0..200).map(|at| format!("many-{at}")).collect();
        for id in &many {
            let key = key(id, begin, None);
            keeper.ask(Command::PutKey { key, by: None, granted_by: None }).await.expect("kept");
        }
        let ids: Vec<String> = many.into_iter().chain(["withdrawn".to_owned()]).collect();
        keeper.ask(Command::InvalidateKeys { ids, now: begin }).await.expect("ended");
        store.keep_tidy(&env, Tidy::default());
        let names = || {
            let state = keeper.state();
            let mut names: Vec<String> = state.keys.values().map(|key| key.id.clone()).collect();
            names.retain(|name| !name.starts_with("many-1"));
            names.sort();
            names
        };
        env.clock().sleep(6 * DAY + DAY / 2).await;
        assert_eq!(names().len(), 4 + 89, "it is not long enough ago");
        env.clock().sleep(DAY).await;
        assert_eq!(names(), ["expired", "later", "live"], "that one ended a day later");
        env.clock().sleep(DAY).await;
        assert_eq!(names(), ["later", "live"]);
        assert_eq!(keeper.state().keys.values().count(), 2);
        // A key that lets in is not forgotten, whatever a command says; nor one that ended later.
        let ids = vec!["live".to_owned(), "later".to_owned(), "nobody".to_owned()];
        let told = keeper.ask(Command::ForgetKeys { ids, ended_by: now() }).await;
        let none = authz::Outcome::Each(vec![false; 3]);
        assert_eq!(told.expect("applied"), none);
        store.close().await.expect("closes");
    });
    // What was forgotten does not come back.
    let env = sim.env();
    sim.run(async move {
        let (_, keeper, _) = start_with(&env, None).await;
        assert_eq!(keeper.state().keys.values().count(), 2);
    });
}

/// A node that is started anew each hour looks as well.
#[test]
fn dead_keys_are_looked_for_at_the_start() {
    let sim = Sim::new(2);
    for looks in [false, true] {
        let env = sim.env();
        sim.run(async move {
            let (store, keeper) = start(&env).await;
            let now = u64::try_from(env.clock().unix_ms()).expect("after 1970");
            if !looks {
                let key = key("old", now, Some(now));
                keeper
                    .ask(Command::PutKey { key, by: None, granted_by: None })
                    .await
                    .expect("kept");
                env.clock().sleep(8 * DAY).await;
                assert_eq!(keeper.state().keys.values().count(), 1);
            } else {
                store.keep_tidy(&env, Tidy::default());
                env.clock().sleep(Duration::from_secs(1)).await;
                assert_eq!(keeper.state().keys.values().count(), 0);
            }
            store.close().await.expect("closes");
        });
    }
}
