//! Rights that end while a command is on its way to the core that keeps the state.

mod common;

use std::sync::Arc;

use authz::password::PasswordHash;
use authz::record::key::{ApiKey, Salted};
use authz::record::role::{Descriptor, IndexEntry, Role};
use authz::record::user::{Realm, User};
use authz::{Command, Error, Keeper, Need, Outcome, Principal, Right};
use common::start;
use sim::Sim;

const MANAGE: &str = "cluster:admin/xpack/security/user/put";

fn role(cluster: &[&str]) -> Command {
    let cluster = cluster.iter().map(|&name| name.to_owned()).collect();
    let descriptor = Descriptor { cluster, ..Descriptor::default() };
    Command::PutRoles { roles: vec![Arc::new(Role::new("mighty", descriptor))] }
}

fn user(name: &str) -> Command {
    let user = User {
        name: name.into(),
        password: PasswordHash::nobody(),
        roles: vec!["mighty".into()],
        full_name: None,
        email: None,
        metadata: json::Object::new(),
        realm: Realm::Native,
        enabled: true,
        uid: 0,
        password_version: 0,
    };
    Command::PutUser { user, keep_password: false, withdraws: None, by: None }
}

fn right(keeper: &Keeper) -> Right {
    let state = keeper.state();
    let vic = Arc::clone(state.user("vic").expect("there"));
    Right::new(Principal::user_of(vic, &state), Need::Action(MANAGE), 1)
}

/// Between the look after a password's hash and the command lay its way to the core that keeps the state: a right
/// that was taken away in it was used once more.
#[test]
fn a_right_that_ends_on_the_way_does_nothing_more() {
    let sim = Sim::new(1);
    let env = sim.env();
    sim.run(async move {
        let (_store, keeper) = start(&env).await;
        for (way, end) in [
            ("role", role(&[])),
            ("roles", Command::DeleteRoles { names: vec!["mighty".into()] }),
            ("disabled", Command::EnableUser { name: "vic".into(), enabled: false }),
            ("deleted", Command::DeleteUser { name: "vic".into() }),
        ] {
            keeper.ask(role(&["manage_security"])).await.expect("kept");
            keeper.ask(user("vic")).await.expect("kept");
            let held = right(&keeper);
            held.judge(&keeper.state()).expect("held, as far as this core knows");
            let door = format!("door-{way}");
            // Both are on their way at once, one before the other.
            let ended = keeper.ask(end);
            let used = keeper.ask_by_right(user(&door), held.clone());
            let both = env::join_all(vec![
                Box::pin(ended) as std::pin::Pin<Box<dyn Future<Output = _>>>,
                Box::pin(used),
            ]);
            let [ended, used] = both.await.try_into().expect("two");
            ended.expect("ended");
            let expected = matches!(
                (way, &used),
                ("role" | "roles", Err(Error::Denied(_)))
                    | ("disabled" | "deleted", Err(Error::Lapsed))
            );
            assert!(expected, "{way}: {used:?}");
            assert!(keeper.state().user(&door).is_none(), "{way}");
            // The other way round it is used while it is held.
            keeper.ask(role(&["manage_security"])).await.expect("kept");
            keeper.ask(user("vic")).await.expect("kept");
            let used = keeper.ask_by_right(user(&door), right(&keeper)).await;
            assert_eq!(used, Ok(Outcome::Created), "{way}");
        }
    });
}

/// Who looks after keys of its own needs no right to those of all.
#[test]
fn a_right_to_own_keys_is_one_as_long_as_it_is_held() {
    let sim = Sim::new(1);
    let env = sim.env();
    sim.run(async move {
        let (_store, keeper) = start(&env).await;
        keeper.ask(role(&["manage_own_api_key"])).await.expect("kept");
        keeper.ask(user("vic")).await.expect("kept");
        const CREATE: &str = "cluster:admin/xpack/security/api_key/create";
        let judge = |need| Right { need, ..right(&keeper) }.judge(&keeper.state());
        assert_eq!(judge(Need::OwnKeysOr(CREATE)), Ok(()));
        assert!(matches!(judge(Need::Action(MANAGE)), Err(Error::Denied(_))));
        keeper.ask(role(&["manage_api_key"])).await.expect("kept");
        assert_eq!([judge(Need::OwnKeysOr(CREATE)), judge(Need::Action(CREATE))], [Ok(()), Ok(())]);
        keeper.ask(role(&["monitor"])).await.expect("kept");
        assert!(matches!(judge(Need::OwnKeysOr(CREATE)), Err(Error::Denied(_))));
    });
}

/// A role by which keys are limited.
fn reads(role: &str, index: &str) -> Command {
    let descriptor = Descriptor {
        cluster: vec!["manage_own_api_key".into()],
        indices: vec![IndexEntry::plain(&[index], &["read"])],
        run_as: vec!["dan".into()],
        ..Descriptor::default()
    };
    Command::PutRoles { roles: vec![Arc::new(Role::new(role, descriptor))] }
}

fn key(id: &str, limited_by: Vec<Arc<Role>>) -> Command {
    let key = ApiKey {
        id: id.into(),
        name: id.into(),
        secret: Salted::new([1; 32], b"secret"),
        kind: "rest".into(),
        owner: "vic".into(),
        realm: ("default_native".into(), "native".into()),
        creation: 1,
        expiration: None,
        invalidation: None,
        metadata: json::Object::new(),
        descriptors: Vec::new(),
        limited_by,
        creator: None,
        access: None,
    };
    Command::PutKey { key, by: None, granted_by: None }
}

/// The indices that a key's limits name.
fn limits(keeper: &Keeper, id: &str) -> Vec<String> {
    let state = keeper.state();
    let key = state.keys.get(id).expect("kept");
    let entries = key.limited_by.iter().flat_map(|role| &role.descriptor.indices);
    entries.flat_map(|entry| entry.names.clone()).collect()
}

type Asked<'k> = std::pin::Pin<Box<dyn Future<Output = authz::Result<Outcome>> + 'k>>;

/// What two commands become of which one is on its way before the other.
async fn both<'k>(
    first: impl Future<Output = authz::Result<Outcome>> + 'k,
    then: impl Future<Output = authz::Result<Outcome>> + 'k,
) -> authz::Result<Outcome> {
    let asked: Vec<Asked<'k>> = vec![Box::pin(first), Box::pin(then)];
    let [first, then] = env::join_all(asked).await.try_into().expect("two");
    first.expect("carried out");
    then
}

/// A role was taken away while a key was on its way: it kept, for good, what its owner held no more.
#[test]
fn a_key_is_limited_by_what_its_owner_holds_as_it_is_kept() {
    let sim = Sim::new(1);
    let env = sim.env();
    sim.run(async move {
        let (_store, keeper) = start(&env).await;
        keeper.ask(user("vic")).await.expect("kept");
        keeper.ask(reads("less", "c")).await.expect("kept");
        let none = User {
            roles: vec!["less".into()],
            ..(**keeper.state().user("vic").expect("there")).clone()
        };
        let without =
            Command::PutUser { user: none, keep_password: true, withdraws: None, by: None };
        for (id, end, left) in
            [("role", reads("mighty", "b"), &["b"][..]), ("user", without, &["c"])]
        {
            keeper.ask(reads("mighty", "a")).await.expect("kept");
            let state = keeper.state();
            let vic = Principal::user_of(Arc::clone(state.user("vic").expect("there")), &state);
            let right =
                Right { owner: Some(vic.clone()), ..Right::new(vic.clone(), Need::Nothing, 1) };
            let limited_by = vic.roles(&state);
            // Another one, which is changed.
            let old = format!("old-{id}");
            keeper.ask(key(&old, limited_by.clone())).await.expect("kept");
            let change = Command::UpdateKeys {
                ids: vec![old.clone()],
                descriptors: None,
                limited_by: limited_by.clone(),
                creator: None,
                metadata: None,
                expiration: None,
                access: None,
                by: None,
            };
            let made =
                both(keeper.ask(end), keeper.ask_by_right(key(id, limited_by), right.clone()));
            assert_eq!(made.await, Ok(Outcome::Created), "{id}");
            assert_eq!(limits(&keeper, id), left, "{id}");
            assert_eq!(limits(&keeper, &old), ["a"], "not yet changed");
            keeper.ask_by_right(change, right).await.expect("changed");
            assert_eq!(limits(&keeper, &old), left, "{id}");
        }
    });
}

/// Who may not act for somebody any more, or for nobody, for that one is gone, gets no key of theirs.
#[test]
fn a_key_of_another_ends_with_the_right_to_act_as_that_one() {
    let sim = Sim::new(1);
    let env = sim.env();
    sim.run(async move {
        let (_store, keeper) = start(&env).await;
        let gone = || Command::DeleteUser { name: "dan".into() };
        for (id, end) in [("role", role(&[])), ("dan", gone())] {
            keeper.ask(reads("mighty", "a")).await.expect("kept");
            for name in ["vic", "dan"] {
                keeper.ask(user(name)).await.expect("kept");
            }
            let state = keeper.state();
            let one = |name: &str| Arc::clone(state.user(name).expect("there"));
            let vic = Principal::user_of(one("vic"), &state);
            let dan = Principal::run_as(one("dan"), &vic, &state);
            let right = Right { owner: Some(dan), ..Right::new(vic, Need::Nothing, 1) };
            let used = keeper.ask_by_right(key(id, Vec::new()), right);
            assert_eq!(both(keeper.ask(end), used).await, Err(Error::Lapsed), "{id}");
            assert!(keeper.state().keys.get(id).is_none(), "{id}");
        }
    });
}

/// An account was lent, and what opens it given out, by who might not act for it any more.
#[test]
fn a_right_to_act_for_an_account_is_one_as_long_as_it_is_held() {
    let sim = Sim::new(1);
    let env = sim.env();
    sim.run(async move {
        let (_store, keeper) = start(&env).await;
        let ends = [role(&[]), Command::DeleteUser { name: "dan".into() }];
        for (at, end) in ends.into_iter().enumerate() {
            keeper.ask(reads("mighty", "a")).await.expect("kept");
            for name in ["vic", "dan"] {
                keeper.ask(user(name)).await.expect("kept");
            }
            let state = keeper.state();
            let vic = Principal::user_of(Arc::clone(state.user("vic").expect("there")), &state);
            let right = Right { account: Some("dan".into()), ..Right::new(vic, Need::Nothing, 1) };
            assert_eq!(right.judge(&keeper.state()), Ok(()));
            let lent = keeper.ask_by_right(user(&format!("lent-{at}")), right);
            let refused = Error::NotForAccount { user: "vic".into(), account: "dan".into() };
            assert_eq!(both(keeper.ask(end), lent).await, Err(refused));
        }
    });
}
