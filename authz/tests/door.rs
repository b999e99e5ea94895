//! The store and the doorkeeper together, on a simulated machine.

mod common;

use std::rc::Rc;
use std::time::Duration;

use authz::authenticate::REMEMBERED;
use authz::password::PasswordHash;
use authz::store::First;
use authz::{AuthError, Authenticator, FileRealm, Keeper, Secret, Store, file_realm};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use common::start_with;
use env::{Clock, Env};
use sim::{Sim, SimEnv};

const USERS: &str = "/data/node/users";

fn secret(text: &str) -> Secret {
    Secret::new(text.to_owned())
}

fn basic(user: &str, password: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))
}

/// A node's authz: the store, the way to it, and one core's doorkeeper.
struct Open {
    store: Rc<Store<SimEnv>>,
    keeper: Keeper,
    door: Authenticator<SimEnv>,
}

async fn open(env: &SimEnv, preset: Option<&str>) -> (Open, First) {
    let (store, keeper, first) = start_with(env, preset.map(secret)).await;
    let door = Authenticator::new(env.clone(), keeper.clone(), FileRealm::new(USERS));
    (Open { store, keeper, door }, first)
}

async fn comes_in(door: &Authenticator<SimEnv>, user: &str, password: &str) -> bool {
    match door.authenticate(Some(&basic(user, password)), "::1").await {
        Ok(principal) => {
            assert_eq!(principal.name(), user);
            true
        }
        Err(error) => {
            assert_eq!(error, AuthError::Wrong { user: user.to_owned() });
            false
        }
    }
}

#[test]
fn the_first_start_makes_a_password_that_lets_in_and_stays() {
    let sim = Sim::new(1);
    let password = sim.run({
        let env = sim.env();
        async move {
            let (open, first) = open(&env, None).await;
            let First::Generated(password) = first else { panic!("{first:?}") };
            assert!(comes_in(&open.door, "elastic", password.reveal()).await);
            let principal = open
                .door
                .authenticate(Some(&basic("elastic", password.reveal())), "::1")
                .await
                .expect("let in");
            assert_eq!(principal.user().realm.names(), ("reserved", "reserved"));
            assert!(principal.gate().cluster("cluster:admin/anything").is_ok());
            open.store.close().await.expect("closes");
            password
        }
    });
    let env = sim.env();
    sim.run(async move {
        let (open, first) = open(&env, Some("another")).await;
        assert!(matches!(first, First::No), "the preset is for the first start alone: {first:?}");
        assert!(comes_in(&open.door, "elastic", password.reveal()).await);
        assert!(!comes_in(&open.door, "elastic", "another").await);
    });
}

#[test]
fn a_password_that_was_made_here_needs_no_hash_to_be_known() {
    let sim = Sim::new(12);
    let env = sim.env();
    sim.run(async {
        let (open, _) = open(&env, Some("correct horse")).await;
        let made = sim.jobs();
        assert!(comes_in(&open.door, "elastic", "correct horse").await);
        assert_eq!(sim.jobs(), made, "no slow hash");
        assert!(!comes_in(&open.door, "elastic", "wrong horse").await);
        assert_eq!(sim.jobs(), made + 1);
        let changed = open.keeper.set_password(&env, "elastic", secret("another one"), None);
        changed.await.expect("changed");
        assert!(!comes_in(&open.door, "elastic", "correct horse").await);
        open.store.close().await.expect("closes");
    });
    sim.run(async {
        let (open, _) = open(&env, Some("another one")).await;
        let made = sim.jobs();
        assert!(comes_in(&open.door, "elastic", "another one").await);
        assert_eq!(sim.jobs(), made + 1, "a later start knows no password");
    });
}

#[test]
fn wrong_passwords_and_unknown_users_get_the_same_answer() {
    let sim = Sim::new(2);
    let env = sim.env();
    sim.run(async move {
        let (open, first) = open(&env, Some("correct horse")).await;
        assert!(matches!(first, First::Preset));
        assert!(!comes_in(&open.door, "elastic", "wrong horse").await);
        assert!(!comes_in(&open.door, "nobody", "correct horse").await);
        assert!(!comes_in(&open.door, "", "").await);
        assert!(comes_in(&open.door, "elastic", "correct horse").await);
        assert!(!comes_in(&open.door, "elastic", "wrong horse").await, "also once it is known");
        assert_eq!(open.door.authenticate(None, "::1").await.err(), Some(AuthError::Missing));
    });
}

#[test]
fn a_changed_password_bites_at_once() {
    let sim = Sim::new(3);
    let env = sim.env();
    sim.run(async move {
        let (open, _) = open(&env, Some("before the change")).await;
        assert!(comes_in(&open.door, "elastic", "before the change").await);
        let set = |user, password| open.keeper.set_password(&env, user, secret(password), None);
        set("elastic", "after the change").await.expect("changed");
        assert!(!comes_in(&open.door, "elastic", "before the change").await);
        assert!(comes_in(&open.door, "elastic", "after the change").await);
        let short = set("elastic", "12345").await.expect_err("too short");
        assert!(short.to_string().contains("at least [6]"), "{short}");
        let unknown = set("bob", "long enough").await.expect_err("unknown");
        assert_eq!(unknown, authz::Error::UnknownUser { name: "bob".into() });
    });
}

#[test]
fn a_verified_password_is_remembered_for_twenty_minutes() {
    let sim = Sim::new(4);
    let env = sim.env();
    sim.run(async move {
        let (open, _) = open(&env, Some("correct horse")).await;
        assert!(comes_in(&open.door, "elastic", "correct horse").await);
        // Real time, only to see that no slow hash ran: the fast way takes microseconds, each
        // hash tens of milliseconds, so a thousand of them would take half a minute.
        for _ in 0..1000 {
            assert!(comes_in(&open.door, "elastic", "correct horse").await);
        }
        env.clock().sleep(REMEMBERED - Duration::from_secs(1)).await;
        assert_eq!(format!("{:?}", open.door), "Authenticator(1 remembered)");
        env.clock().sleep(Duration::from_secs(2)).await;
        assert!(!comes_in(&open.door, "elastic", "wrong").await);
        assert_eq!(format!("{:?}", open.door), "Authenticator(0 remembered)");
        assert!(comes_in(&open.door, "elastic", "correct horse").await);
    });
}

#[test]
fn a_user_of_the_operators_file_comes_in_while_the_line_is_there() {
    let sim = Sim::new(5);
    let env = sim.env();
    let plant = |lines: &str| sim.plant(USERS, lines.as_bytes());
    let hash = PasswordHash::make(&secret("from the file"), [1; 16]);
    sim.run(async {
        let (open, _) = open(&env, Some("correct horse")).await;
        assert!(!comes_in(&open.door, "helper", "from the file").await);
        plant(&format!("{}\n", file_realm::line("helper", &["superuser"], &hash)));
        assert!(comes_in(&open.door, "helper", "from the file").await);
        assert!(!comes_in(&open.door, "helper", "wrong").await);
        let principal = open
            .door
            .authenticate(Some(&basic("helper", "from the file")), "::1")
            .await
            .expect("let in");
        assert_eq!(principal.user().realm.names(), ("default_file", "file"));
        plant("");
        assert!(!comes_in(&open.door, "helper", "from the file").await, "never remembered");
        plant(&format!("{}\n", file_realm::line("elastic", &["superuser"], &hash)));
        assert!(
            !comes_in(&open.door, "elastic", "from the file").await,
            "reserved users come first"
        );
        // The file comes before native users of the same name, who come in too.
        let native = authz::record::user::User {
            password: PasswordHash::make(&secret("native one"), [2; 16]),
            realm: authz::record::user::Realm::Native,
            roles: vec!["viewer".into()],
            ..principal.user().clone()
        };
        let command = authz::Command::PutUser {
            withdraws: None,
            by: None,
            user: native,
            keep_password: false,
        };
        open.keeper.ask(command).await.expect("put");
        plant(&format!("{}\n", file_realm::line("helper", &["superuser"], &hash)));
        for (password, realm) in
            [("from the file", "file"), ("native one", "native"), ("from the file", "file")]
        {
            let found = open.door.authenticate(Some(&basic("helper", password)), "::1").await;
            assert_eq!(found.expect("let in").user().realm.names().1, realm);
        }
        assert!(!comes_in(&open.door, "helper", "neither").await);
        plant("");
        assert!(!comes_in(&open.door, "helper", "from the file").await);
    });
}

/// A command that is killed leaves the superuser behind that it made for itself.
#[test]
fn a_user_whom_a_command_left_behind_comes_in_no_more() {
    let sim = Sim::new(5);
    let env = sim.env();
    let hash = PasswordHash::make(&secret("from the file"), [1; 16]);
    sim.run(async {
        let (open, _) = open(&env, Some("correct horse")).await;
        let born = env.clock().unix_ms();
        let line = file_realm::short_lived_line("helper", &["superuser"], &hash, born);
        sim.plant(USERS, format!("{line}\n").as_bytes());
        assert!(comes_in(&open.door, "helper", "from the file").await);
        env.clock().sleep(file_realm::SHORT_LIFE).await;
        assert!(!comes_in(&open.door, "helper", "from the file").await);
    });
}

#[test]
fn a_hash_of_weaker_parameters_is_replaced_at_login() {
    let sim = Sim::new(6);
    let env = sim.env();
    sim.run(async move {
        let (open, _) = open(&env, Some("correct horse")).await;
        // Made elsewhere with 256 KiB; its password is "password".
        let weak = "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$\
                    nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4";
        let weak = PasswordHash::parse(weak).expect("well formed");
        let command = authz::Command::SetPassword {
            withdraws: None,
            by: None,
            user: "elastic".into(),
            password: weak.clone(),
            instead_of: None,
            keep: None,
        };
        open.store.propose(command).await.expect("changed");
        assert!(comes_in(&open.door, "elastic", "password").await);
        env.clock().sleep(Duration::from_secs(1)).await;
        let state = open.keeper.state();
        let now = &state.user("elastic").expect("there").password;
        assert_ne!(*now, weak);
        assert!(!now.is_outdated());
        assert!(comes_in(&open.door, "elastic", "password").await);
    });
}

/// People came from another store with hashes of bcrypt, and could not be let in.
#[test]
fn a_hash_made_elsewhere_lets_in_and_is_replaced_at_login() {
    let sim = Sim::new(8);
    let env = sim.env();
    sim.run(async move {
        let (open, _) = open(&env, Some("correct horse")).await;
        for (hash, password) in [
            ("$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW", "U*U"),
            (
                "{PBKDF2}1000$AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=$ezTXKzrtu3uRVUVG5Asx+GIToYvZs6A8p9VT93h5rTQ=",
                "correct horse",
            ),
        ] {
            let foreign = PasswordHash::parse(hash).expect("well formed");
            let command = authz::Command::SetPassword { withdraws: None, by: None,
                user: "elastic".into(),
                password: foreign.clone(),
                instead_of: None,
                keep: None,
            };
            open.store.propose(command).await.expect("changed");
            assert!(!comes_in(&open.door, "elastic", "wrong").await);
            env.clock().sleep(Duration::from_secs(1)).await;
            let kept = open.keeper.state().user("elastic").expect("there").password.clone();
            assert_eq!(kept, foreign, "a wrong password changes nothing");
            assert!(comes_in(&open.door, "elastic", password).await);
            env.clock().sleep(Duration::from_secs(1)).await;
            let now = open.keeper.state().user("elastic").expect("there").password.clone();
            assert!(now.as_str().starts_with("$argon2id$") && !now.is_outdated());
            assert!(comes_in(&open.door, "elastic", password).await);
        }
    });
}

/// A refusal came 150 ms late, which is longer than our own hash takes, and shorter than the costliest of those that
/// are brought: its users were told from names that nobody has.
#[test]
fn a_costly_hash_is_refused_when_nobodys_is() {
    let sim = Sim::new(9);
    let env = sim.env();
    sim.run(async {
        let (open, _) = open(&env, Some("correct horse")).await;
        let mut took = Vec::new();
        // One hash of Argon2id of 96 MiB, for each of two forms of a password, and our own: measured where nothing
        // else went on.
        for (name, hash_ms) in [("elastic", 2 * 134), ("nobody", 1)] {
            let hash = Duration::from_millis(hash_ms);
            sim.set_latency(hash, hash);
            let begun = env.clock().monotonic();
            assert!(!comes_in(&open.door, name, "wrong horse").await);
            took.push((env.clock().monotonic() - begun).as_millis());
        }
        assert_eq!(took[0], took[1]);
    });
}

#[test]
fn power_may_go_at_every_change_of_the_first_start() {
    let first_start = |env: SimEnv| async move {
        let (open, _) = open(&env, Some("correct horse")).await;
        open.keeper
            .set_password(&env, "elastic", secret("battery staple"), None)
            .await
            .expect("changed");
        open.store.close().await.expect("closes");
    };
    let sim = Sim::new(7);
    sim.run(first_start(sim.env()));
    let changes = sim.changes();
    for nth in 1..=changes {
        let sim = Sim::new(100 + nth);
        sim.cut_power_at(nth);
        assert!(sim.run_until_cut(first_start(sim.env())).is_none(), "cut at {nth}");
        let env = sim.env();
        sim.run(async move {
            // Whatever was cut, the next start finds a user, with the old or the new password.
            let (open, _) = open(&env, Some("correct horse")).await;
            let old = comes_in(&open.door, "elastic", "correct horse").await;
            let new = comes_in(&open.door, "elastic", "battery staple").await;
            assert!(old ^ new, "cut at {nth}: old {old}, new {new}");
        });
    }
}
