//! Those who redeem codes twice, race with refresh tokens, revoke and come back; and users and keys
//! that come and go.
//!
//! What is asked
//! 1. A code is redeemed once, in all lives together. Who redeems it again shows that it was stolen:
//!    its grant is dead from then on.
//! 2. A refresh token gives its one successor; the numbers of a grant's access tokens are given once.
//! 3. What was acknowledged as ended (a grant, a user, a key) does not come back, and what was
//!    acknowledged as made does not go.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use authz::command::{Command, Outcome};
use authz::form::Hash;
use authz::password::PasswordHash;
use authz::record::client::{ApplicationType, Client, Profile, Status};
use authz::record::grant::{Code, Pending};
use authz::record::user::{Realm, User};
use authz::{Error, State};
use env::reply::Answer;
use env::{Clock, Env, Spawn};

use crate::context::{Context, Health};
use crate::indices::Register;

/// How long the same refresh token may come again.
const WINDOW_MS: u64 = 3000;
/// How long a code may be redeemed.
const CODE_MS: u64 = 60_000;

/// What is known of a code.
#[derive(Default)]
struct CodeFact {
    /// Times that it was redeemed.
    wins: u32,
    /// It is known to have been presented twice, or its grant was revoked.
    is_dead: bool,
}

/// What is known of a grant.
#[derive(Default)]
struct GrantFact {
    /// The newest refresh token that was told.
    counter: u32,
    /// It is known to have ended.
    has_ended: bool,
    /// Something was asked that nobody answered, or it may be too old.
    is_unsure: bool,
    /// Numbers of its access tokens.
    serials: BTreeSet<u32>,
    /// Its code.
    code: u64,
}

/// All that is known.
#[derive(Default)]
pub struct Secrets {
    codes: BTreeMap<u64, CodeFact>,
    grants: BTreeMap<u64, GrantFact>,
    users: BTreeMap<String, Register<bool>>,
    /// Codes redeemed and refresh tokens used well.
    successes: u64,
}

impl Secrets {
    /// The calendar jumped: anything may be over.
    pub fn calendar_jumped(&mut self) {
        self.grants.values_mut().for_each(|grant| grant.is_unsure = true);
    }

    /// Codes redeemed and refresh tokens used well.
    pub fn successes(&self) -> u64 {
        self.successes
    }
}

/// The one who tends secrets, until told to end.
pub async fn keeper(context: Rc<Context>) {
    while !context.stopping.get() {
        match context.below(8) {
            0..=3 => story(&context).await,
            4 => come_again(&context).await,
            5 => use_old_token(&context).await,
            _ => tend_user(&context).await,
        }
        context.rest().await;
        context.rest().await;
    }
    context.active.set(context.active.get() - 1);
}

fn now_ms(context: &Context) -> u64 {
    context.env.clock().unix_ms() as u64
}

fn hash(kind: u8, number: u64) -> Hash {
    let mut bytes = [kind; 32];
    bytes[..8].copy_from_slice(&number.to_le_bytes());
    Hash(bytes)
}

fn user(name: &str) -> User {
    User {
        name: name.to_owned(),
        roles: Vec::new(),
        realm: Realm::Native,
        ..User::elastic(PasswordHash::nobody())
    }
}

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

/// A command that fails: may that be?
fn judge(context: &Context, what: &str, error: &Error) {
    context.say(|| format!("{what}: {error}"));
    let is_answer = matches!(
        error,
        Error::InvalidGrant
            | Error::Foreign
            | Error::Reused
            | Error::Gone
            | Error::Changed
            | Error::UnknownUser { .. }
            | Error::Refused { .. }
    );
    assert!(
        is_answer || context.stopping.get() || context.health.get() != Health::Sound,
        "{what} failed on a sound machine: {error}"
    );
}

/// Is it sure that a command which failed so did nothing?
fn is_sure(error: &Error) -> bool {
    !matches!(error, Error::Stopped | Error::Store { .. } | Error::Log { .. } | Error::Busy)
}

async fn ask(context: &Context, what: &str, command: Command) -> Option<Outcome> {
    match context.node.keeper.ask(command).await {
        Ok(outcome) => Some(outcome),
        Err(error) => {
            judge(context, what, &error);
            None
        }
    }
}

/// Sends commands at the same time, each from a task of its own.
fn race(context: &Context, commands: Vec<Command>) -> Vec<Answer<authz::Result<Outcome>>> {
    commands
        .into_iter()
        .map(|command| {
            let (reply, answer) = env::reply::channel();
            let keeper = context.node.keeper.clone();
            context.env.spawn().spawn(async move { reply.send(keeper.ask(command).await) });
            answer
        })
        .collect()
}

/// The owner and the client, where they are missing.
async fn prepare(context: &Context) -> bool {
    let state = context.node.keeper.state();
    if state.user("ann").is_none() {
        let command =
            Command::PutUser { withdraws: None, by: None, user: user("ann"), keep_password: false };
        if ask(context, "make a user", command).await.is_none() {
            return false;
        }
    }
    if state.clients.values().next().is_none() {
        let command = Command::PutClient { client: client(), version: 0 };
        if ask(context, "make a client", command).await.is_none() {
            return false;
        }
    }
    true
}

/// A code is asked for, redeemed by one or several, and its refresh tokens are used.
async fn story(context: &Rc<Context>) {
    // Beyond fifty families of one user and client the oldest ends.
    let count = context.oracle.secrets.borrow().grants.len();
    if count > 40 || !prepare(context).await {
        return;
    }
    let number = context.oracle.history.tag();
    let now = now_ms(context);
    let (id, browser) = (hash(5, number), hash(6, number));
    let pending = Pending::new(id, browser, "c1".into(), "https://app.example/cb".into(), now);
    if ask(context, "ask", Command::PutPending { pending, now }).await.is_none() {
        return;
    }
    let Some(uid) = context.node.keeper.state().user("ann").map(|ann| ann.uid) else { return };
    let end = now_ms(context) + CODE_MS;
    let code = Code {
        hash: hash(1, number),
        client: "c1".into(),
        redirect: "https://app.example/cb".into(),
        redirect_sent: false,
        user: "ann".into(),
        uid,
        scopes: vec!["self".into()],
        details: Vec::new(),
        resource: Vec::new(),
        challenge: None,
        end,
        spent: None,
        burnt: false,
        without_refresh: None,
        begun: None,
    };
    let now = now_ms(context);
    let decide = Command::Decide {
        by: None,
        pending: hash(5, number),
        code: Some(code),
        consent: None,
        now,
    };
    if ask(context, "decide", decide).await.is_none() {
        return;
    }
    context.oracle.secrets.borrow_mut().codes.insert(number, CodeFact::default());
    let racers = [1, 1, 2, 3][context.below(4) as usize];
    let won = redeem(context, number, racers).await;
    let in_time = now_ms(context) < end;
    if won.is_none() && in_time && context.health.get() == Health::Sound && !context.stopping.get()
    {
        panic!("code {number} was allowed and nobody could redeem it");
    }
    let Some(grant) = won.filter(|_| racers == 1) else { return };
    for _ in 0..context.below(4) {
        context.rest().await;
        let counter = counter_of(context, grant);
        let racers = 1 + context.below(3);
        refresh(context, grant, counter, racers).await;
    }
    if context.one_in(3) {
        revoke(context, grant).await;
    }
}

fn counter_of(context: &Context, grant: u64) -> u32 {
    context.oracle.secrets.borrow().grants.get(&grant).map_or(0, |fact| fact.counter)
}

/// Several redeem a code at the same time; the grant of the one who won.
async fn redeem(context: &Context, number: u64, racers: u64) -> Option<u64> {
    let now = now_ms(context);
    let (won_before, dead_before) = {
        let secrets = context.oracle.secrets.borrow();
        let fact = &secrets.codes[&number];
        (fact.wins > 0, fact.is_dead)
    };
    let command = Command::Redeem {
        code: hash(1, number),
        client: "c1".into(),
        redirect: None,
        may_omit_redirect: true,
        verifier: None,
        resource: Vec::new(),
        refreshes: true,
        idle: 10_000_000,
        absolute: 50_000_000,
        life: 1_200_000,
        address: None,
        now,
    };
    // Until all are answered, any of them may have ended what came of the code.
    let set_unsure = |is_unsure: bool| {
        let mut secrets = context.oracle.secrets.borrow_mut();
        let own = secrets.grants.values_mut().filter(|grant| grant.code == number);
        own.for_each(|grant| grant.is_unsure = is_unsure);
    };
    set_unsure(true);
    let (mut won, mut all_sure) = (None, true);
    for answer in race(context, vec![command; racers as usize]) {
        let outcome = answer.await.unwrap_or(Err(Error::Stopped));
        context.say(|| format!("redeem code {number} -> {}", short(&outcome)));
        let mut secrets = context.oracle.secrets.borrow_mut();
        let Secrets { codes, grants, successes, .. } = &mut *secrets;
        let fact = codes.get_mut(&number).expect("it was allowed");
        match outcome {
            Ok(Outcome::Granted(grant, serial)) => {
                assert!(!won_before && fact.wins == 0, "code {number} was redeemed twice");
                assert!(!dead_before, "code {number} was redeemed after it was known as stolen");
                fact.wins += 1;
                *successes += 1;
                let grant_fact = GrantFact {
                    code: number,
                    has_ended: fact.is_dead,
                    is_unsure: true,
                    ..GrantFact::default()
                };
                let grant_fact = grants.entry(grant.id).or_insert(grant_fact);
                let is_new = grant_fact.serials.insert(serial);
                assert!(is_new, "access token {serial} of grant {} was given twice", grant.id);
                won = Some(grant.id);
            }
            Ok(outcome) => panic!("code {number} gave {outcome:?}"),
            Err(Error::Reused) => {
                fact.is_dead = true;
                let own = grants.values_mut().filter(|grant| grant.code == number);
                own.for_each(|grant| grant.has_ended = true);
            }
            Err(error) => {
                all_sure &= is_sure(&error);
                judge(context, &format!("redeem code {number}"), &error);
            }
        }
    }
    if all_sure {
        // A grant that was unsure before stays so only until somebody looks: it ended or it stands.
        set_unsure(won_before || racers > 1);
    }
    won
}

fn short(outcome: &authz::Result<Outcome>) -> String {
    match outcome {
        Ok(Outcome::Granted(grant, serial)) => {
            format!("grant {} counter {} token {serial}", grant.id, grant.counter)
        }
        other => format!("{other:?}"),
    }
}

/// Several use a refresh token at the same time.
async fn refresh(context: &Context, id: u64, counter: u32, racers: u64) {
    let (ended_before, counter_before) = {
        let mut secrets = context.oracle.secrets.borrow_mut();
        let Some(fact) = secrets.grants.get_mut(&id) else { return };
        // Until it is answered, nobody knows: the life may end before.
        let before = (fact.has_ended, fact.counter);
        if counter < fact.counter {
            fact.is_unsure = true;
        }
        before
    };
    let command = Command::Refresh {
        grant: id,
        counter,
        client: Some("c1".into()),
        narrowed: None,
        most: None,
        idle: 10_000_000,
        life: 1_200_000,
        window: WINDOW_MS,
        now: now_ms(context),
    };
    for answer in race(context, vec![command; racers as usize]) {
        let outcome = answer.await.unwrap_or(Err(Error::Stopped));
        context.say(|| format!("refresh {id} with {counter} -> {}", short(&outcome)));
        let mut secrets = context.oracle.secrets.borrow_mut();
        let Secrets { grants, successes, .. } = &mut *secrets;
        let fact = grants.get_mut(&id).expect("looked at above");
        match outcome {
            Ok(Outcome::Granted(grant, serial)) => {
                assert!(!ended_before, "grant {id} gave a token after it had ended");
                assert_eq!(grant.counter, counter + 1, "refresh token {counter} of grant {id}");
                assert!(
                    counter + 1 >= counter_before,
                    "refresh token {counter} of grant {id}, long rotated out, was taken"
                );
                let is_new = fact.serials.insert(serial);
                assert!(is_new, "access token {serial} of grant {id} was given twice");
                fact.counter = fact.counter.max(grant.counter);
                *successes += 1;
            }
            Ok(outcome) => panic!("refresh of grant {id} gave {outcome:?}"),
            Err(Error::Reused) => fact.has_ended = true,
            Err(error) => {
                let may_be = fact.has_ended || fact.is_unsure || counter != counter_before;
                fact.is_unsure |= !is_sure(&error);
                assert!(
                    may_be || error != Error::InvalidGrant,
                    "refresh token {counter} of grant {id} is good and was refused"
                );
                judge(context, &format!("refresh grant {id}"), &error);
            }
        }
    }
}

async fn revoke(context: &Context, id: u64) {
    // Until it is answered, it may have ended or not.
    if let Some(fact) = context.oracle.secrets.borrow_mut().grants.get_mut(&id) {
        fact.is_unsure = true;
    }
    let command = Command::Revoke { grants: vec![id], consents: context.one_in(2) };
    let outcome = ask(context, "revoke", command).await;
    context.say(|| format!("revoke {id} -> {outcome:?}"));
    if outcome.is_none() {
        return;
    }
    if let Some(fact) = context.oracle.secrets.borrow_mut().grants.get_mut(&id) {
        fact.has_ended = true;
    }
    let state = context.node.keeper.state();
    assert!(state.grants.get(&id).is_none(), "grant {id} stands after it was revoked");
    if context.one_in(2) {
        refresh(context, id, counter_of(context, id), 1).await;
    }
}

/// Some code of long ago comes again.
async fn come_again(context: &Context) {
    let number = {
        let secrets = context.oracle.secrets.borrow();
        let count = secrets.codes.len() as u64;
        if count == 0 {
            return;
        }
        let at = context.below(count) as usize;
        *secrets.codes.keys().nth(at).expect("one of them")
    };
    redeem(context, number, 1).await;
}

/// A refresh token of some grant comes, perhaps one that was rotated out.
async fn use_old_token(context: &Context) {
    let (id, counter) = {
        let secrets = context.oracle.secrets.borrow();
        let count = secrets.grants.len() as u64;
        if count == 0 {
            return;
        }
        let at = context.below(count) as usize;
        let (id, fact) = secrets.grants.iter().nth(at).expect("one of them");
        (*id, context.below(u64::from(fact.counter) + 1) as u32)
    };
    refresh(context, id, counter, 1).await;
}

async fn tend_user(context: &Context) {
    let name = format!("user{}", context.below(4));
    let makes = context.one_in(2);
    {
        let mut secrets = context.oracle.secrets.borrow_mut();
        let register = secrets.users.entry(name.clone()).or_insert_with(|| Register::new(false));
        register.begin(makes);
    }
    let command = match makes {
        true => {
            Command::PutUser { withdraws: None, by: None, user: user(&name), keep_password: false }
        }
        false => Command::DeleteUser { name: name.clone() },
    };
    let done = context.node.keeper.ask(command).await;
    context.say(|| format!("user [{name}] to {makes} -> {done:?}"));
    let mut secrets = context.oracle.secrets.borrow_mut();
    let register = secrets.users.get_mut(&name).expect("noted above");
    match done {
        Ok(_) => register.done(makes),
        Err(error) => {
            judge(context, &format!("user [{name}]"), &error);
            if is_sure(&error) {
                register.refused();
            }
        }
    }
}

/// Holds the published state against what must stand, at the start of a life.
pub fn look(context: &Context) {
    let state: std::sync::Arc<State> = context.node.keeper.state();
    let now = now_ms(context);
    let mut secrets = context.oracle.secrets.borrow_mut();
    for (id, fact) in &secrets.grants {
        let grant = state.grants.get(id);
        if fact.has_ended {
            assert!(grant.is_none(), "grant {id} came back after it had ended");
            continue;
        }
        match grant {
            Some(grant) => assert!(
                grant.counter >= fact.counter,
                "grant {id} fell back to refresh token {}, {} was told",
                grant.counter,
                fact.counter
            ),
            None => assert!(fact.is_unsure, "grant {id} is lost"),
        }
    }
    for grant in state.grants.values() {
        let serial = secrets.grants.get(&grant.id).and_then(|fact| fact.serials.last().copied());
        assert!(
            serial.is_none_or(|serial| serial < grant.serial),
            "grant {} will give access token {} again",
            grant.id,
            grant.serial
        );
    }
    for (number, fact) in &secrets.codes {
        if let Some(code) = state.codes.get(&hash(1, *number)) {
            let open = code.spent.is_none() && !code.burnt && now < code.end;
            assert!(!(open && fact.wins > 0), "code {number} was redeemed and is open again");
        }
    }
    for (name, register) in &mut secrets.users {
        register.check(&format!("user [{name}]"), state.user(name).is_some(), true);
    }
}
