//! Rights that end while a command is on its way to the core that keeps the state.

use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use authz::password::PasswordHash;
use authz::record::role::{Descriptor, Role};
use authz::record::user::{Realm, User};
use authz::token::Keys;
use authz::{Command, Error, Keeper, Need, Outcome, Principal, Right, Secret, Store};
use sim::{Sim, SimEnv};

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

async fn started(env: &SimEnv) -> (Rc<Store<SimEnv>>, Keeper) {
    let preset = Some(Secret::new("secret".to_owned()));
    let started = Store::start(env, Path::new("/data/authz"), preset, Keys::new(b"pepper")).await;
    let (store, keeper, _) = started.expect("opens");
    (store, keeper)
}

fn right(keeper: &Keeper) -> Right {
    let state = keeper.state();
    let vic = Arc::clone(state.user("vic").expect("there"));
    Right { principal: Principal::user_of(vic, &state), need: Need::Action(MANAGE), now_ms: 1 }
}

/// Between the look after a password's hash and the command lay its way to the core that keeps the state: a right
/// that was taken away in it was used once more.
#[test]
fn a_right_that_ends_on_the_way_does_nothing_more() {
    let sim = Sim::new(1);
    let env = sim.env();
    sim.run(async move {
        let (_store, keeper) = started(&env).await;
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
        let (_store, keeper) = started(&env).await;
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
