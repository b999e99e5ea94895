//! What API keys may hold, together and of one owner, and what users and roles may.

mod common;

use std::sync::Arc;

use authz::password::PasswordHash;
use authz::record::grant::{Grant, GrantKind};
use authz::record::key::{ApiKey, AppPrivilege, RoleMapping, Salted};
use authz::record::role::{Descriptor, Role};
use authz::record::user::{Realm, User};
use authz::{Command, Error, Outcome};
use common::start;
use json::{Object, Value};
use sim::Sim;

/// Notes of so many bytes.
fn notes(bytes: usize) -> Object {
    [("a", Value::from("y".repeat(bytes)))].into_iter().collect()
}

fn key(id: &str, owner: &str, bytes: usize) -> Command {
    let key = ApiKey {
        id: id.into(),
        name: id.into(),
        secret: Salted::nobody(),
        kind: "rest".into(),
        owner: owner.into(),
        realm: ("default_native".into(), "native".into()),
        creation: 1,
        expiration: None,
        invalidation: None,
        metadata: notes(bytes),
        descriptors: Vec::new(),
        limited_by: Vec::new(),
        creator: None,
        access: None,
    };
    Command::PutKey { key, by: None, granted_by: None }
}

fn noted(ids: &[&str], bytes: usize) -> Command {
    Command::UpdateKeys {
        ids: ids.iter().map(|&id| id.to_owned()).collect(),
        descriptors: None,
        limited_by: Vec::new(),
        creator: None,
        metadata: Some(notes(bytes)),
        expiration: None,
        access: None,
        by: None,
    }
}

fn heavy(outcome: &Result<Outcome, Error>) -> Option<&str> {
    match outcome {
        Err(Error::Heavy { owner, bytes, bytes_max }) => {
            assert!(bytes > bytes_max, "{bytes} {bytes_max}");
            Some(owner)
        }
        _ => None,
    }
}

#[test]
fn keys_hold_so_much_and_those_of_one_owner_a_part_of_it() {
    let sim = Sim::new(1);
    let env = sim.env();
    sim.run(async move {
        let (store, keeper) = start(&env).await;
        store.bound(400_000);
        keeper.ask(key("a1", "ann", 60_000)).await.expect("room");
        let second = keeper.ask(key("a2", "ann", 60_000)).await;
        assert_eq!(heavy(&second), Some("ann"));
        assert!(!keeper.state().keys.contains("a2"));
        keeper.ask(key("a2", "ann", 20_000)).await.expect("room for a small one");
        // A change that makes two of them large is one of both; the same id twice is one.
        assert_eq!(heavy(&keeper.ask(noted(&["a1", "a2"], 60_000)).await), Some("ann"));
        let changed = keeper.ask(noted(&["a2", "a2"], 30_000)).await.expect("room");
        assert_eq!(changed, Outcome::Each(vec![true, false]));
        assert_eq!(heavy(&keeper.ask(noted(&["a2"], 60_000)).await), Some("ann"));
        // What others hold is not taken from them, until all hold too much.
        for owner in ["bob", "cid", "dan"] {
            keeper.ask(key(owner, owner, 95_000)).await.expect("room");
        }
        let full = keeper.ask(key("e1", "eve", 60_000)).await;
        assert!(
            matches!(full, Err(Error::NoMemory { what: "api_keys", bytes_max: 400_000, .. })),
            "{full:?}"
        );
        // What makes keys no larger may always be done, also where they hold more than they may.
        store.bound(100_000);
        keeper.ask(noted(&["a1", "a2"], 1_000)).await.expect("smaller");
        let end = Command::InvalidateKeys { ids: vec!["bob".into()], now: 2 };
        keeper.ask(end).await.expect("it ends");
        assert!(keeper.ask(key("b2", "bob", 1)).await.is_err(), "it counts until it is forgotten");
        store.bound(400_000);
        assert_eq!(heavy(&keeper.ask(key("b2", "bob", 50_000)).await), Some("bob"));
        let forget = Command::ForgetKeys { ids: vec!["bob".into()], ended_by: 2 };
        keeper.ask(forget).await.expect("forgotten");
        keeper.ask(key("b2", "bob", 50_000)).await.expect("room again");
    });
}

#[test]
fn what_keys_hold_is_known_again_at_the_next_start() {
    let sim = Sim::new(2);
    let env = sim.env();
    sim.run(async move {
        let (store, keeper) = start(&env).await;
        keeper.ask(key("a1", "ann", 60_000)).await.expect("room");
        drop(keeper);
        store.close().await.expect("closed");
        let (store, keeper) = start(&env).await;
        store.bound(400_000);
        assert_eq!(heavy(&keeper.ask(key("a2", "ann", 60_000)).await), Some("ann"));
        let state: Arc<authz::State> = keeper.state();
        assert_eq!(state.keys.values().count(), 1);
    });
}

/// What a user was who goes is kept beside its keys from before creators were, and was not counted.
#[test]
fn what_is_kept_of_a_user_who_goes_is_held_by_its_keys() {
    let sim = Sim::new(3);
    let env = sim.env();
    sim.run(async move {
        let (store, keeper) = start(&env).await;
        store.bound(400_000);
        let user = User {
            name: "ann".into(),
            roles: Vec::new(),
            metadata: notes(50_000),
            realm: Realm::Native,
            ..User::elastic(PasswordHash::nobody())
        };
        let put = Command::PutUser { withdraws: None, by: None, user, keep_password: false };
        keeper.ask(put).await.expect("made");
        keeper.ask(key("a1", "ann", 30_000)).await.expect("room");
        keeper.ask(Command::DeleteUser { name: "ann".into() }).await.expect("gone");
        assert_eq!(heavy(&keeper.ask(key("a2", "ann", 30_000)).await), Some("ann"));
        // As much in its place is no more.
        keeper.ask(noted(&["a1"], 30_000)).await.expect("no larger");
        let forget = Command::ForgetKeys { ids: vec!["a1".into()], ended_by: 2 };
        keeper.ask(Command::InvalidateKeys { ids: vec!["a1".into()], now: 2 }).await.expect("ends");
        keeper.ask(forget).await.expect("forgotten");
        keeper.ask(key("a2", "ann", 90_000)).await.expect("room again");
    });
}

fn role(name: &str, bytes: usize) -> Arc<Role> {
    Arc::new(Role::new(name, Descriptor { metadata: notes(bytes), ..Descriptor::default() }))
}

/// Three hundred roles of half a megabyte held 150 MB, and their snapshot as much again; nobody counted them.
#[test]
fn users_and_roles_hold_so_much_together() {
    let sim = Sim::new(4);
    let env = sim.env();
    sim.run(async move {
        let (store, keeper) = start(&env).await;
        store.bound(400_000);
        let put = |roles: Vec<Arc<Role>>| keeper.ask(Command::PutRoles { roles });
        let full = |outcome: &Result<Outcome, Error>| {
            matches!(
                outcome,
                Err(Error::NoMemory { what: "users_and_roles", bytes_max: 400_000, .. })
            )
        };
        put(vec![role("a", 150_000), role("b", 150_000)]).await.expect("room");
        assert!(full(&put(vec![role("c", 150_000)]).await));
        assert!(full(&put(vec![role("c", 60_000), role("d", 60_000)]).await), "both together");
        // What stands in its place goes.
        put(vec![role("a", 160_000)]).await.expect("as much in its place");
        let user = |bytes| User {
            name: "ann".into(),
            roles: Vec::new(),
            metadata: notes(bytes),
            realm: Realm::Native,
            ..User::elastic(PasswordHash::nobody())
        };
        let made = |bytes| {
            let user = user(bytes);
            keeper.ask(Command::PutUser { withdraws: None, by: None, user, keep_password: false })
        };
        assert!(full(&made(150_000).await), "users count with roles");
        made(20_000).await.expect("a small one");
        let mapping = |bytes| {
            let mapping = RoleMapping { name: "m".into(), body: notes(bytes) };
            keeper.ask(Command::PutMapping { mapping })
        };
        assert!(full(&mapping(150_000).await));
        let privileges = |bytes| {
            let (application, name) = ("app".to_owned(), "p".to_owned());
            let one =
                AppPrivilege { application, name, actions: Vec::new(), metadata: notes(bytes) };
            keeper.ask(Command::PutPrivileges { privileges: vec![one] })
        };
        assert!(full(&privileges(150_000).await));
        // What goes makes room, whatever kind it was of.
        keeper.ask(Command::DeleteRoles { names: vec!["b".into()] }).await.expect("gone");
        privileges(50_000).await.expect("room");
        mapping(50_000).await.expect("room");
        keeper.ask(Command::DeleteUser { name: "ann".into() }).await.expect("gone");
        keeper.ask(Command::DeleteMapping { name: "m".into() }).await.expect("gone");
        let (application, names) = ("app".to_owned(), vec!["p".to_owned()]);
        keeper.ask(Command::DeletePrivileges { application, names }).await.expect("gone");
        put(vec![role("b", 200_000)]).await.expect("all of it went");
        // Above the bound, what becomes smaller is taken.
        store.bound(100_000);
        put(vec![role("b", 190_000)]).await.expect("smaller");
        keeper.ask(key("a1", "ann", 20_000)).await.expect("keys have a part of their own");
        drop(keeper);
        store.close().await.expect("closed");
        let (store, keeper) = start(&env).await;
        store.bound(400_000);
        let again = keeper.ask(Command::PutRoles { roles: vec![role("c", 60_000)] }).await;
        assert!(full(&again), "known again after a start");
    });
}

/// A token for this user that lives so long, in milliseconds, where it is asked for now.
fn token(user: &str, (now, life): (u64, u64)) -> Command {
    let grant = Grant {
        id: 0,
        kind: GrantKind::Service,
        user: user.into(),
        uid: 1,
        client: None,
        maker: Some("native 1 ann".into()),
        scopes: Vec::new(),
        details: Vec::new(),
        resource: Vec::new(),
        created: now,
        last_used: None,
        last_address: None,
        code: None,
        refreshes: false,
        counter: 0,
        rotated: now,
        idle_end: now + life,
        absolute_end: now + life,
        serial: 0,
        revoked: Vec::new(),
        parent: None,
        issued: None,
        access_end: None,
    };
    Command::Mint { grant, by: None, most: None, now }
}

/// Fifty-five thousand were given to one caller in two minutes, and took a hundred megabytes while the state was saved.
#[test]
fn tokens_hold_so_much_and_those_of_one_user_a_part_of_it() {
    let sim = Sim::new(7);
    let env = sim.env();
    sim.run(async move {
        let (store, keeper) = start(&env).await;
        store.bound(400_000);
        let mut given = [0; 6];
        let mut refused = [""; 6];
        for (at, user) in ["ann", "bob", "cid", "dan", "eve", "ann"].into_iter().enumerate() {
            loop {
                match keeper.ask(token(user, (1, 1_000))).await {
                    Ok(_) => given[at] += 1,
                    Err(Error::NoMemory { what, bytes, bytes_max }) => {
                        assert!(bytes > bytes_max, "{bytes} {bytes_max}");
                        refused[at] = what;
                        break;
                    }
                    other => panic!("{other:?}"),
                }
            }
        }
        let [all, own] = ["tokens", "tokens_of_one_user"];
        assert!(given[0] > 10 && given[..4].iter().all(|it| *it == given[0]), "{given:?}");
        assert!(given[4] < 4 && given[5] == 0, "four have all there are: {given:?}");
        assert_eq!(refused, [own, own, own, own, all, all]);
        // Each that is asked for later clears away some that have ended.
        for at in 0..4 * given[0] {
            keeper.ask(token("ann", (1_001 + at, 1))).await.expect("others have ended");
        }
        assert!(keeper.state().grants.len() < 10, "{}", keeper.state().grants.len());
    });
}
