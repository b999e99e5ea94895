//! What may happen once happens once: requests for one code, one refresh token or one device code, from
//! several cores, and a power cut at every change of it.

mod common;

use std::rc::Rc;

use authz::command::Outcome;
use authz::form::Hash;
use authz::password::PasswordHash;
use authz::record::client::{ApplicationType, Client, Profile, Status};
use authz::record::grant::{Code, Device, Pending};
use authz::record::user::{Realm, User};
use authz::{Command, Error, Keeper};
use common::start;
use env::{Env, Spawn};
use sim::{Sim, SimEnv};

fn client() -> Client {
    let profile = Profile {
        redirect_uris: vec!["https://app.example/cb".into()],
        scopes: vec!["self".into()],
        ..Profile::new(ApplicationType::Web, "App")
    };
    Client {
        client_id: Some("c1".into()),
        status: Status::Approved,
        auth_method: "client_secret_basic".into(),
        grant_types: vec!["authorization_code".into(), "refresh_token".into()],
        ..Client::new("r1".into(), profile, 0)
    }
}

/// A user, a client, and a code that waits.
async fn prepare(keeper: &Keeper) {
    let user = User {
        name: "ann".into(),
        roles: Vec::new(),
        realm: Realm::Native,
        ..User::elastic(PasswordHash::nobody())
    };
    keeper
        .ask(Command::PutUser { withdraws: None, by: None, user, keep_password: false })
        .await
        .expect("made");
    keeper.ask(Command::PutClient { client: client(), version: 0 }).await.expect("made");
    let (id, browser) = (Hash([5; 32]), Hash([6; 32]));
    let pending = Pending::new(id, browser, "c1".into(), "https://app.example/cb".into(), 0);
    keeper.ask(Command::PutPending { pending, now: 0 }).await.expect("kept");
    let code = Code {
        hash: Hash([1; 32]),
        client: "c1".into(),
        redirect: "https://app.example/cb".into(),
        redirect_sent: false,
        user: "ann".into(),
        uid: keeper.state().user("ann").expect("made").uid,
        scopes: vec!["self".into()],
        details: Vec::new(),
        resource: Vec::new(),
        challenge: None,
        end: 60_000,
        spent: None,
        burnt: false,
        without_refresh: None,
        begun: None,
    };
    let decide = Command::Decide {
        by: None,
        pending: Hash([5; 32]),
        code: Some(code),
        consent: None,
        now: 1,
    };
    keeper.ask(decide).await.expect("allowed");
}

fn redeem() -> Command {
    Command::Redeem {
        code: Hash([1; 32]),
        client: "c1".into(),
        redirect: None,
        may_omit_redirect: true,
        verifier: None,
        resource: Vec::new(),
        refreshes: true,
        idle: 1_000_000,
        absolute: 5_000_000,
        life: 1_200_000,
        address: None,
        now: 10,
    }
}

fn refresh(grant: u64, counter: u32, now: u64) -> Command {
    Command::Refresh {
        grant,
        counter,
        client: Some("c1".into()),
        narrowed: None,
        most: None,
        idle: 1_000_000,
        life: 1_200_000,
        window: 3000,
        now,
    }
}

/// Carries out commands at the same time, each from a core of its own.
async fn race(
    env: &SimEnv,
    keeper: &Keeper,
    commands: Vec<Command>,
) -> Vec<authz::Result<Outcome>> {
    let answers: Vec<_> = commands
        .into_iter()
        .map(|command| {
            let (reply, answer) = env::reply::channel();
            let keeper = keeper.clone();
            env.spawn().spawn(async move { reply.send(keeper.ask(command).await) });
            answer
        })
        .collect();
    let mut outcomes = Vec::new();
    for answer in answers {
        outcomes.push(answer.await.expect("answered"));
    }
    outcomes
}

#[test]
fn one_of_those_who_race_for_a_code_wins_and_then_all_lose() {
    for seed in 0..20 {
        let sim = Sim::new(seed);
        let env = sim.env();
        sim.run(async move {
            let (_, keeper) = start(&env).await;
            prepare(&keeper).await;
            let outcomes = race(&env, &keeper, vec![redeem(), redeem(), redeem()]).await;
            let won = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
            assert_eq!(won, 1, "{outcomes:?}");
            // The second showed that the code was stolen: what the first got is dead.
            assert!(outcomes.contains(&Err(Error::Reused)));
            assert!(keeper.state().grants.is_empty());
        });
    }
}

/// A device that its person let in.
async fn allowed_device(keeper: &Keeper) {
    let user = keeper.state().user("ann").expect("made").clone();
    let scopes = vec!["self".into()];
    let device = Device::new(Hash([2; 32]), "BCDFGHJK".into(), "c1".into(), scopes, 0);
    keeper.ask(Command::PutDevice { device, now: 1 }).await.expect("kept");
    let scopes = Some(vec!["self".into()]);
    let (user_code, uid) = ("BCDFGHJK".into(), user.uid);
    let decide = Command::DecideDevice {
        without_refresh: None,
        begun: None,
        by: None,
        user_code,
        user: "ann".into(),
        uid,
        scopes,
        now: 2,
    };
    keeper.ask(decide).await.expect("allowed");
}

fn poll(now: u64) -> Command {
    Command::PollDevice {
        id: Hash([2; 32]),
        client: "c1".into(),
        refreshes: true,
        idle: 1_000_000,
        absolute: 5_000_000,
        life: 1_200_000,
        now,
    }
}

#[test]
fn one_of_those_who_race_for_a_device_code_wins() {
    for seed in 0..20 {
        let sim = Sim::new(seed);
        let env = sim.env();
        sim.run(async move {
            let (_, keeper) = start(&env).await;
            prepare(&keeper).await;
            allowed_device(&keeper).await;
            let outcomes = race(&env, &keeper, (0..4).map(|at| poll(10 + at)).collect()).await;
            let won = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
            assert_eq!(won, 1, "{outcomes:?}");
            assert_eq!(keeper.state().grants.len(), 1);
            let decided = Command::DecideDevice {
                without_refresh: None,
                begun: None,
                by: None,
                user_code: "BCDFGHJK".into(),
                user: "ann".into(),
                uid: 0,
                scopes: None,
                now: 20,
            };
            assert_eq!(keeper.ask(decided).await, Err(Error::Gone), "and it is decided once");
        });
    }
}

#[test]
fn a_device_code_that_was_answered_before_the_power_went_stays_spent() {
    let story = |env: SimEnv, told: Rc<std::cell::Cell<bool>>| async move {
        let (_, keeper) = start(&env).await;
        prepare(&keeper).await;
        allowed_device(&keeper).await;
        keeper.ask(poll(10)).await.expect("tokens");
        told.set(true);
    };
    let sim = Sim::new(7);
    sim.run(story(sim.env(), Rc::default()));
    for nth in 1..=sim.changes() {
        let sim = Sim::new(100 + nth);
        sim.cut_power_at(nth);
        let told = Rc::new(std::cell::Cell::new(false));
        assert!(sim.run_until_cut(story(sim.env(), Rc::clone(&told))).is_none(), "cut at {nth}");
        let (env, told) = (sim.env(), told.get());
        sim.run(async move {
            let (_, keeper) = start(&env).await;
            let outcome = keeper.ask(poll(20)).await;
            if told {
                assert!(outcome.is_err(), "cut at {nth}: a spent code was taken: {outcome:?}");
            }
            assert!(keeper.state().grants.len() <= 1, "cut at {nth}");
        });
    }
}

#[test]
fn those_who_race_with_one_refresh_token_get_one_successor() {
    for seed in 0..20 {
        let sim = Sim::new(seed);
        let env = sim.env();
        sim.run(async move {
            let (_, keeper) = start(&env).await;
            prepare(&keeper).await;
            let Ok(Outcome::Granted(grant, _)) = keeper.ask(redeem()).await else { panic!() };
            let commands = (0..8).map(|at| refresh(grant.id, 0, 100 + at)).collect();
            let mut serials = Vec::new();
            for outcome in race(&env, &keeper, commands).await {
                let Ok(Outcome::Granted(grant, serial)) = outcome else { panic!("{outcome:?}") };
                assert_eq!(grant.counter, 1);
                serials.push(serial);
            }
            serials.sort_unstable();
            serials.dedup();
            assert_eq!(serials.len(), 8, "each access token has a number of its own");
        });
    }
}

#[test]
fn what_was_answered_before_the_power_went_stays_spent() {
    let story = |env: SimEnv, told: Rc<std::cell::Cell<u32>>| async move {
        let (_, keeper) = start(&env).await;
        prepare(&keeper).await;
        told.set(1);
        let Ok(Outcome::Granted(grant, _)) = keeper.ask(redeem()).await else { panic!() };
        told.set(2);
        keeper.ask(refresh(grant.id, 0, 100)).await.expect("the next");
        told.set(3);
        keeper
            .ask(Command::Revoke { grants: vec![grant.id], consents: true })
            .await
            .expect("ended");
        told.set(4);
    };
    let sim = Sim::new(7);
    sim.run(story(sim.env(), Rc::default()));
    for nth in 1..=sim.changes() {
        let sim = Sim::new(100 + nth);
        sim.cut_power_at(nth);
        let told = Rc::new(std::cell::Cell::new(0));
        assert!(sim.run_until_cut(story(sim.env(), Rc::clone(&told))).is_none(), "cut at {nth}");
        let (env, told) = (sim.env(), told.get());
        sim.run(async move {
            let (_, keeper) = start(&env).await;
            let state = keeper.state();
            let grant = state.grants.values().next().cloned();
            match told {
                4 => assert!(grant.is_none(), "cut at {nth}: a revoked grant came back"),
                3 => {
                    // Perhaps revoked already, never rotated back.
                    assert!(grant.is_none_or(|grant| grant.counter == 1), "cut at {nth}");
                }
                2 => {
                    let outcome = keeper.ask(redeem()).await;
                    assert!(outcome.is_err(), "cut at {nth}: a spent code was taken: {outcome:?}");
                }
                _ => {}
            }
        });
    }
}
