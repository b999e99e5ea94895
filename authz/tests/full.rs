//! A disk that is full: what takes rights away goes on, what gives them is refused.

mod common;

use authz::command::{Command, Outcome};
use authz::password::PasswordHash;
use authz::record::client::{ApplicationType, Client, ClientSecret, Profile, Status};
use authz::record::key::Salted;
use authz::record::proof::Proof;
use authz::record::user::{Realm, User};
use authz::{Error, Keeper};
use common::start;
use env::{Clock, Env};
use sim::Sim;

fn user(number: u32) -> User {
    User {
        name: format!("user{number}"),
        roles: Vec::new(),
        realm: Realm::Native,
        // So long that a log is soon full of them.
        full_name: Some("n".repeat(60_000)),
        ..User::elastic(PasswordHash::nobody())
    }
}

fn put(number: u32) -> Command {
    Command::PutUser { withdraws: None, by: None, user: user(number), keep_password: false }
}

/// Once a full disk took a key's revocation, or a stolen password's change, no better than a new key: the log
/// had filled up with those.
#[test]
fn a_full_disk_takes_what_takes_rights_away_and_refuses_what_gives_them() {
    let sim = Sim::new(5);
    let env = sim.env();
    let machine = &sim;
    let made = sim.run(async move {
        let (store, keeper) = start(&env).await;
        let profile = Profile::new(ApplicationType::Web, "App");
        let client = Client {
            client_id: Some("c1".into()),
            status: Status::Approved,
            ..Client::new("r1".into(), profile, 0)
        };
        keeper.ask(Command::PutClient { client, version: 0 }).await.expect("made");
        // The reserve is made beside other work.
        env.clock().sleep(std::time::Duration::from_secs(1)).await;
        machine.set_free_bytes(0);
        let mut made = 0;
        let refused = loop {
            match keeper.ask(put(made)).await {
                Ok(_) => made += 1,
                Err(error) => break error,
            }
        };
        assert!(matches!(refused, Error::Full { .. }), "{refused}");
        assert!(made > 5, "{made} found room");
        // More than what is left of the log's file: the reserve is given up.
        let name = |number: u32| format!("user{}", number % made);
        // One who changes the own password again and again comes to an end, and leaves room to the others.
        let mut own = 0;
        let refused = loop {
            let command = Command::SetPassword {
                withdraws: None,
                by: Some(Proof::Password { user: name(0), uid: 0, version: own }),
                user: name(0),
                password: PasswordHash::nobody(),
                instead_of: None,
                keep: None,
            };
            match keeper.ask(command).await {
                Err(refused @ Error::Full { .. }) => break refused,
                // That the proof is another's is told when it is carried out.
                _ => own += 1,
            }
            assert!(own < 400, "the last of the room is not theirs");
        };
        assert!(own > 0, "{refused}");
        for number in 0..400 {
            let password = PasswordHash::nobody();
            let command = Command::SetPassword {
                withdraws: None,
                by: None,
                user: name(number),
                password,
                instead_of: None,
                keep: None,
            };
            keeper.ask(command).await.unwrap_or_else(|error| panic!("password {number}: {error}"));
        }
        for at in 0..20 {
            let secret = ClientSecret { secret: Salted::new([at; 32], &[at]), end: None };
            let reference = "r1".to_owned();
            let rotate = Command::RotateSecret { reference, secret, beside: None, now: at.into() };
            assert_eq!(keeper.ask(rotate).await, Ok(Outcome::Changed), "secret {at}");
        }
        for number in 0..made {
            let gone = keeper.ask(Command::DeleteUser { name: name(number) }).await;
            assert_eq!(gone, Ok(Outcome::Changed), "{number}");
        }
        let again = keeper.ask(put(0)).await;
        assert!(matches!(again, Err(Error::Full { .. }) | Ok(_)), "{again:?}");
        if again.is_ok() {
            keeper.ask(Command::DeleteUser { name: name(0) }).await.expect("as the others");
        }
        drop(store);
        made
    });
    sim.crash();
    let env = sim.env();
    sim.run(async move {
        let (store, keeper) = start(&env).await;
        for number in 0..made {
            assert!(keeper.state().user(&format!("user{number}")).is_none(), "{number} came back");
        }
        sim_has_room(&keeper).await;
        // After a start nobody knew that there is no room for the next file: what was taken in ended the process.
        let mut refused = 0;
        for number in 0..600 {
            match keeper.ask(Command::DeleteUser { name: format!("nobody{number}") }).await {
                Ok(_) => {}
                Err(Error::Full { .. }) => refused += 1,
                Err(error) => panic!("{number}: {error}"),
            }
        }
        assert!(refused > 0, "the log ends");
        drop(store);
    });

    async fn sim_has_room(keeper: &Keeper) {
        // Still full: nothing new; and nothing ended the process.
        let refused = keeper.ask(put(1)).await;
        assert!(refused.is_ok() || matches!(refused, Err(Error::Full { .. })), "{refused:?}");
    }
}
