//! What commands do to users, and what happens once in the flows.

use std::sync::Arc;

use super::*;
use crate::command::{Waiting, Withdrawal};
use crate::error::Error;
use crate::form::Hash;
use crate::password::PasswordHash;
use crate::record::client::{ApplicationType, Client, Profile, Status};
use crate::record::grant::{Code, Device, DeviceState, Grant, Pending};
use crate::record::session::Session;
use crate::record::user::{Realm, User};
use crate::secret::Secret;

fn hash(salt: u8) -> PasswordHash {
    PasswordHash::make(&Secret::new("secret".into()), [salt; 16])
}

fn user(name: &str) -> User {
    User {
        name: name.into(),
        roles: vec!["superuser".into()],
        realm: Realm::Native,
        metadata: json::Object::new(),
        ..User::elastic(PasswordHash::nobody())
    }
}

/// A state with the user `ann` and the approved client `c1`.
fn start() -> State {
    let mut state = State::default();
    for command in [
        Command::Bootstrap { password: PasswordHash::nobody() },
        Command::PutUser { withdraws: None, by: None, user: user("ann"), keep_password: false },
        Command::PutClient { client: client(Status::Approved), version: 0 },
    ] {
        state = apply(&state, &command).0;
    }
    state
}

fn client(status: Status) -> Client {
    let profile = Profile {
        redirect_uris: vec!["https://app.example/cb".into()],
        scopes: vec!["index:a*:all".into()],
        ..Profile::new(ApplicationType::Web, "App")
    };
    Client {
        client_id: Some("c1".into()),
        status,
        auth_method: "client_secret_basic".into(),
        grant_types: vec!["authorization_code".into()],
        ..Client::new("r1".into(), profile, 0)
    }
}

fn code(state: &State, n: u8) -> Code {
    Code {
        hash: Hash([n; 32]),
        client: "c1".into(),
        redirect: "https://app.example/cb".into(),
        redirect_sent: true,
        user: "ann".into(),
        uid: state.user("ann").expect("there").uid,
        scopes: vec!["index:a:read".into()],
        details: Vec::new(),
        resource: Vec::new(),
        challenge: Some("challenge".into()),
        end: 60_000,
        spent: None,
        burnt: false,
        without_refresh: None,
        begun: None,
    }
}

fn pending(n: u8, created: u64) -> Pending {
    let (id, browser) = (Hash([n; 32]), Hash([9; 32]));
    let redirect = "https://app.example/cb".into();
    Pending { redirect_sent: true, ..Pending::new(id, browser, "c1".into(), redirect, created) }
}

fn redeem(now: u64) -> Command {
    Command::Redeem {
        code: Hash([1; 32]),
        client: "c1".into(),
        redirect: Some("https://app.example/cb".into()),
        may_omit_redirect: false,
        verifier: Some("challenge".into()),
        resource: Vec::new(),
        refreshes: true,
        idle: 1_000_000,
        absolute: 5_000_000,
        life: 100_000,
        address: None,
        now,
    }
}

/// A state in which a code waits.
fn with_code() -> State {
    let state = start();
    let state = apply(&state, &Command::PutPending { pending: pending(5, 0), now: 0 }).0;
    let decide = Command::Decide {
        by: None,
        pending: Hash([5; 32]),
        code: Some(code(&state, 1)),
        consent: None,
        now: 1,
    };
    let (state, outcome) = apply(&state, &decide);
    assert_eq!(outcome, Outcome::Changed);
    state
}

fn granted(outcome: Outcome) -> Arc<Grant> {
    match outcome {
        Outcome::Granted(grant, _) => grant,
        other => panic!("{other:?}"),
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
        life: 100_000,
        window: 3000,
        now,
    }
}

#[test]
fn bootstrap_makes_the_users_once() {
    let (one, outcome) = apply(&State::default(), &Command::Bootstrap { password: hash(1) });
    assert_eq!(outcome, Outcome::Changed);
    let user = one.user("elastic").expect("made");
    assert!(user.enabled && user.is_reserved());
    assert_eq!(one.roles_of(&user.roles).len(), 1);
    assert!(one.user("kibana_system").is_some_and(|user| user.is_reserved()));
    let (two, outcome) = apply(&one, &Command::Bootstrap { password: hash(2) });
    assert_eq!(outcome, Outcome::Unchanged);
    assert_eq!(two.users, one.users);
    assert_eq!((one.version, two.version), (1, 2));
}

#[test]
fn a_stronger_hash_does_not_undo_a_change() {
    let set = |password, instead_of| Command::SetPassword {
        withdraws: None,
        by: None,
        user: "elastic".into(),
        password,
        instead_of,
        keep: None,
    };
    let (before, _) = apply(&State::default(), &Command::Bootstrap { password: hash(1) });
    let (changed, outcome) = apply(&before, &set(hash(2), None));
    assert_eq!(outcome, Outcome::Changed);
    let password_version = changed.version;
    let expected = User {
        password: hash(2),
        password_version,
        ..(**before.user("elastic").expect("made")).clone()
    };
    assert_eq!(**changed.user("elastic").expect("still there"), expected);
    let (after, outcome) = apply(&changed, &set(hash(3), Some(hash(1))));
    assert_eq!(outcome, Outcome::Unchanged);
    assert_eq!(after.users, changed.users);
    assert_eq!(apply(&changed, &set(hash(3), Some(hash(2)))).1, Outcome::Changed);
}

#[test]
fn reserved_users_stay_and_others_come_and_go() {
    let state = start();
    let put =
        Command::PutUser { withdraws: None, by: None, user: user("elastic"), keep_password: true };
    assert!(matches!(apply(&state, &put).1, Outcome::Refused(Error::Refused { .. })));
    let delete = Command::DeleteUser { name: "elastic".into() };
    assert!(matches!(apply(&state, &delete).1, Outcome::Refused(Error::Refused { .. })));
    let put =
        Command::PutUser { withdraws: None, by: None, user: user("bob"), keep_password: true };
    assert!(matches!(apply(&state, &put).1, Outcome::Refused(_)), "a new user wants a password");
    let first = state.user("ann").expect("there").uid;
    let (state, outcome) = apply(&state, &Command::DeleteUser { name: "ann".into() });
    assert_eq!(outcome, Outcome::Changed);
    let put =
        Command::PutUser { withdraws: None, by: None, user: user("ann"), keep_password: false };
    let (state, outcome) = apply(&state, &put);
    assert_eq!(outcome, Outcome::Created);
    assert_ne!(state.user("ann").expect("there").uid, first, "another ann");
}

#[test]
fn a_code_is_spent_once_and_its_replay_ends_what_came_of_it() {
    let state = with_code();
    let (state, outcome) = apply(&state, &redeem(10));
    let grant = granted(outcome);
    assert!(state.grant(grant.id).is_some());
    // Long after the code's own end it is still remembered.
    let state = apply(&state, &refresh(grant.id, 0, 70_000)).0;
    let (state, outcome) = apply(&state, &redeem(80_000));
    assert_eq!(outcome, Outcome::Refused(Error::Reused));
    assert!(state.grant(grant.id).is_none());
    assert_eq!(apply(&state, &redeem(80_001)).1, Outcome::Refused(Error::InvalidGrant));
}

#[test]
fn whatever_is_wrong_with_a_code_burns_it_but_another_client_does_not() {
    let state = with_code();
    for (change, burns) in [
        ("client", false),
        ("redirect", true),
        ("verifier", true),
        ("no verifier", true),
        ("late", false),
        ("disabled", true),
        ("suspended", true),
    ] {
        let mut command = redeem(10);
        let mut state = state.clone();
        if let Command::Redeem { client, redirect, verifier, now, .. } = &mut command {
            match change {
                "client" => *client = "c2".into(),
                "redirect" => *redirect = Some("https://app.example/cb/".into()),
                "verifier" => *verifier = Some("other".into()),
                "no verifier" => *verifier = None,
                "late" => *now = 60_000,
                "disabled" => {
                    let user = Arc::new(User { enabled: false, ..user("ann") });
                    state.users.insert("ann".into(), user);
                }
                _ => state.put_client(Arc::new(client_of(Status::Suspended))),
            }
        }
        let (after, outcome) = apply(&state, &command);
        assert!(matches!(outcome, Outcome::Refused(_)), "{change}");
        assert!(after.grants.is_empty(), "{change}");
        let is_burnt = after.codes.get(&Hash([1; 32])).is_some_and(|code| code.burnt);
        assert_eq!(is_burnt, burns, "{change}");
    }
}

fn client_of(status: Status) -> Client {
    client(status)
}

#[test]
fn refresh_tokens_rotate_and_reuse_ends_the_family() {
    let (state, outcome) = apply(&with_code(), &redeem(10));
    let id = granted(outcome).id;
    let (state, outcome) = apply(&state, &refresh(id, 0, 1000));
    assert_eq!(granted(outcome).counter, 1);
    // The same token again, soon: the same successor.
    let (state, outcome) = apply(&state, &refresh(id, 0, 3999));
    assert_eq!(granted(outcome).counter, 1);
    // A token that was never given, and another client: nothing happens.
    assert_eq!(apply(&state, &refresh(id, 2, 3999)).1, Outcome::Refused(Error::InvalidGrant));
    let mut other = refresh(id, 1, 3999);
    if let Command::Refresh { client, .. } = &mut other {
        *client = Some("c2".into());
    }
    let (state, outcome) = apply(&state, &other);
    assert_eq!(outcome, Outcome::Refused(Error::InvalidGrant));
    assert!(state.grant(id).is_some());
    // Too late, or once the successor was used: the family ends.
    let (late, outcome) = apply(&state, &refresh(id, 0, 4000));
    assert_eq!(outcome, Outcome::Refused(Error::Reused));
    assert!(late.grant(id).is_none());
    let (state, _) = apply(&state, &refresh(id, 1, 4001));
    let (state, outcome) = apply(&state, &refresh(id, 0, 4002));
    assert_eq!(outcome, Outcome::Refused(Error::Reused));
    assert!(state.grant(id).is_none());
    // Its owner hears of it, until it is read or a month has passed; nobody else does.
    let told = |state: &State, user: &str, now| {
        let user = state.user(user).expect("known");
        state.notices_of(user, now).map(|notice| notice.app.clone()).collect::<Vec<_>>()
    };
    assert_eq!(told(&state, "ann", 4002), ["App"]);
    assert_eq!(told(&state, "ann", u64::MAX), [""; 0]);
    assert_eq!(told(&state, "elastic", 4002), [""; 0]);
    assert_eq!(State::from_bytes(&state.to_bytes()).as_ref(), Ok(&state));
    let (read, _) = apply(&state, &Command::DropNotices { grants: vec![id] });
    assert_eq!(told(&read, "ann", 4002), [""; 0]);
    assert!(read.ends.iter().all(|((_, what), ())| *what != Ends::Notice(id)));
}

#[test]
fn a_narrowed_token_dies_with_its_family() {
    let (state, outcome) = apply(&with_code(), &redeem(10));
    let id = granted(outcome).id;
    let mut command = refresh(id, 0, 1000);
    if let Command::Refresh { narrowed, .. } = &mut command {
        *narrowed = Some(vec!["self".into()]);
    }
    let (state, outcome) = apply(&state, &command);
    let child = granted(outcome);
    assert_eq!((child.parent, child.scopes.as_slice()), (Some(id), &["self".to_owned()][..]));
    assert_eq!(state.grant(id).expect("there").scopes, ["index:a:read"]);
    assert!(state.grant(child.id).is_some());
    // What it left open the family's other tokens share; its own rights end with it, whether or not somebody gave an
    // order meanwhile.
    let ann = Arc::clone(state.user("ann").expect("there"));
    let bearer = crate::Principal::oauth(Arc::clone(&child), ann, Default::default(), &state);
    for (now, is_over) in [(child.absolute_end - 1, false), (child.absolute_end, true)] {
        assert!(bearer.stands(&state, now));
        assert_eq!(bearer.goes_on(&state, now), !is_over);
        assert_eq!(bearer.renewed(&state, now).is_none(), is_over);
    }
    let state = apply(&state, &Command::Revoke { grants: vec![id], consents: true }).0;
    assert!(state.grant(child.id).is_none());
}

#[test]
fn a_suspended_client_loses_its_grants_for_good() {
    let (state, outcome) = apply(&with_code(), &redeem(10));
    let id = granted(outcome).id;
    let put = |status, version| Command::PutClient { client: client(status), version };
    assert_eq!(apply(&state, &put(Status::Suspended, 7)).1, Outcome::Refused(Error::Changed));
    let (state, _) = apply(&state, &put(Status::Suspended, 1));
    assert!(state.grant(id).is_none());
    let known = (**state.client("c1").expect("there")).clone();
    let again = Client { status: Status::Approved, ..known };
    let (state, _) = apply(&state, &Command::PutClient { client: again, version: 2 });
    assert!(state.grant(id).is_none(), "what was revoked stays revoked");
}

/// Whoever redeemed a code with the secret just before the client gave it up kept what came of it: where it begins was
/// read before the change had its turn.
#[test]
fn what_a_client_got_with_its_secret_ends_when_it_has_none() {
    let code = with_code();
    let known = (**code.client("c1").expect("there")).clone();
    let open = |version| {
        let profile = Profile { confidential: false, ..known.profile.clone() };
        Command::OpenClient { client: Client { profile, ..known.clone() }, version }
    };
    assert_eq!(apply(&code, &open(7)).1, Outcome::Refused(Error::Changed));
    let (opened, outcome) = apply(&code, &open(1));
    assert_eq!(outcome, Outcome::Changed);
    assert_eq!(apply(&opened, &redeem(10)).1, Outcome::Refused(Error::InvalidGrant));

    let (state, outcome) = apply(&code, &redeem(10));
    let id = granted(outcome).id;
    let device = Device::new(Hash([3; 32]), "BCDFGHJK".into(), "c1".into(), Vec::new(), 0);
    let state = apply(&state, &Command::PutDevice { device, now: 0 }).0;
    assert!(state.grant(id).is_some() && state.devices.len() == 1);
    let state = apply(&state, &open(1)).0;
    assert!(state.grant(id).is_none() && state.devices.is_empty());
    // What it is granted from now on stands.
    let client = state.client("c1").expect("there");
    assert!(!client.profile.confidential && client.grants_from == state.next + 1);
}

#[test]
fn a_request_is_answered_once() {
    let state = apply(&start(), &Command::PutPending { pending: pending(5, 0), now: 0 }).0;
    let deny =
        Command::Decide { by: None, pending: Hash([5; 32]), code: None, consent: None, now: 1 };
    let (state, outcome) = apply(&state, &deny);
    assert_eq!(outcome, Outcome::Changed);
    let allow = Command::Decide {
        by: None,
        pending: Hash([5; 32]),
        code: Some(code(&state, 1)),
        consent: None,
        now: 2,
    };
    let (state, outcome) = apply(&state, &allow);
    assert_eq!(outcome, Outcome::Refused(Error::Gone));
    assert!(state.codes.is_empty());
}

#[test]
fn a_browser_keeps_twenty_requests_and_old_ones_go() {
    let mut state = start();
    for n in 0..30 {
        let pending = pending(n, u64::from(n));
        state = apply(&state, &Command::PutPending { pending, now: u64::from(n) }).0;
    }
    assert_eq!(state.pending.len(), 20);
    assert!(state.pending.get(&Hash([9; 32])).is_none());
    assert!(state.pending.get(&Hash([10; 32])).is_some());
    for n in 0..5 {
        let mut later = pending(100 + n, 2_000_000);
        later.browser = Hash([n; 32]);
        state = apply(&state, &Command::PutPending { pending: later, now: 2_000_000 }).0;
    }
    assert_eq!(state.pending.len(), 5, "those that were over were cleared away");
    assert_eq!(state.ends.len(), 5);
}

#[test]
fn a_device_is_let_in_once() {
    let scopes = vec!["self".into()];
    let device = Device::new(Hash([3; 32]), "BCDFGHJK".into(), "c1".into(), scopes, 0);
    let poll = |now| Command::PollDevice {
        id: Hash([3; 32]),
        client: "c1".into(),
        refreshes: false,
        idle: 1,
        absolute: 1,
        life: 100_000,
        now,
    };
    let decide = |scopes, now| Command::DecideDevice {
        without_refresh: None,
        begun: None,
        by: None,
        user_code: "BCDFGHJK".into(),
        user: "ann".into(),
        uid: start().user("ann").expect("there").uid,
        scopes,
        now,
    };
    let state = apply(&start(), &Command::PutDevice { device, now: 0 }).0;
    let (state, outcome) = apply(&state, &poll(1000));
    assert_eq!(outcome, Outcome::Wait(Waiting::Pending));
    let (state, outcome) = apply(&state, &poll(5999));
    assert_eq!(outcome, Outcome::Wait(Waiting::TooFast));
    let (state, outcome) = apply(&state, &poll(15_998));
    assert_eq!(outcome, Outcome::Wait(Waiting::TooFast), "the interval has grown for good");
    assert_eq!(apply(&state, &poll(600_000)).1, Outcome::Wait(Waiting::Expired));
    let refused = apply(&state, &decide(None, 16_000)).0;
    assert_eq!(apply(&refused, &poll(20_000)).1, Outcome::Wait(Waiting::Refused));
    let again = apply(&refused, &decide(Some(vec!["self".into()]), 16_001)).1;
    assert_eq!(again, Outcome::Refused(Error::Gone), "a refusal is final");
    let allowed = apply(&state, &decide(Some(vec!["self".into()]), 16_000)).0;
    let (after, outcome) = apply(&allowed, &poll(16_001));
    assert_eq!(granted(outcome).user, "ann");
    assert_eq!(apply(&after, &poll(30_000)).1, Outcome::Refused(Error::InvalidGrant));
}

/// The longest life of what refreshes counted from the moment in which a code was redeemed, or a device came back.
#[test]
fn what_refreshes_lives_from_the_consent_on() {
    for (begun, now, end) in [(None, 9_000, 5_009_000), (Some(1_000), 9_000, 5_001_000)] {
        let code = Code { begun, ..code(&start(), 1) };
        let mut state = start();
        state.put_code(Arc::new(code));
        assert_eq!(granted(apply(&state, &redeem(now)).1).absolute_end, end);
    }
    let mut state = start();
    state.put_code(Arc::new(Code { begun: Some(0), ..code(&start(), 1) }));
    let mut late = redeem(50_000);
    if let Command::Redeem { absolute, .. } = &mut late {
        *absolute = 50_000;
    }
    assert_eq!(apply(&state, &late).1, Outcome::Refused(Error::InvalidGrant));
    let device = Device {
        state: DeviceState::Allowed,
        user: Some("ann".into()),
        uid: start().user("ann").expect("there").uid,
        begun: Some(1_000),
        ..Device::new(Hash([3; 32]), "BCDFGHJK".into(), "c1".into(), vec!["self".into()], 0)
    };
    let mut state = start();
    state.put_device(Arc::new(device));
    let poll = Command::PollDevice {
        id: Hash([3; 32]),
        client: "c1".into(),
        refreshes: true,
        idle: 1_000_000,
        absolute: 5_000_000,
        life: 100_000,
        now: 9_000,
    };
    assert_eq!(granted(apply(&state, &poll).1).absolute_end, 5_001_000);
}

#[test]
fn a_profile_keeps_what_is_kept_in_it() {
    let uid = crate::record::profile::uids("ann").next().expect("one");
    let activate = |state: &State, now| {
        let profile = crate::record::profile::Profile::of(state.user("ann").expect("known"), now);
        apply(state, &Command::ActivateProfile { profile })
    };
    let change = |data: json::Value, only_at| Command::ChangeProfile {
        uid: uid.clone(),
        labels: None,
        data: Some(data),
        enabled: Some(false),
        only_at,
    };
    assert_eq!(apply(&start(), &change(json::json!({}), None)).1, Outcome::Unchanged);
    let (state, outcome) = activate(&start(), 7);
    assert_eq!(outcome, Outcome::Created);
    let seq_no = state.profiles.get(&uid).expect("made").seq_no;
    let (state, _) = apply(&state, &change(json::json!({"a": {"x": 1}}), Some(seq_no)));
    let late = apply(&state, &change(json::json!({}), Some(seq_no))).1;
    assert_eq!(late, Outcome::Refused(Error::Changed));
    let (state, _) = apply(&state, &change(json::json!({"a": {"y": 2}}), None));
    let (state, outcome) = activate(&state, 9);
    assert_eq!(outcome, Outcome::Changed);
    let profile = state.profiles.get(&uid).expect("there");
    assert_eq!(profile.data, json::json!({"a": {"x": 1, "y": 2}}));
    assert_eq!((profile.enabled, profile.synchronized), (false, 9));
    assert_eq!(State::from_bytes(&state.to_bytes()).as_ref(), Ok(&state));
}

/// A user of the file and a stored one of the same name wrote over each other's profile.
#[test]
fn accounts_of_one_name_have_a_profile_each() {
    let activate = |state: &State, realm: &str, role: &str| {
        let of = crate::record::profile::Profile::of(state.user("ann").expect("known"), 7);
        let profile =
            crate::record::profile::Profile { realm: realm.into(), roles: vec![role.into()], ..of };
        apply(state, &Command::ActivateProfile { profile })
    };
    let (state, first) = activate(&start(), "default_file", "viewer");
    let (state, second) = activate(&state, "default_native", "boss");
    let (state, again) = activate(&state, "default_file", "editor");
    assert_eq!([first, second, again], [Outcome::Created, Outcome::Created, Outcome::Changed]);
    let kept = |realm: &str| {
        let profile = state.profile_of("ann", realm).expect("kept");
        (profile.uid.rsplit_once('_').expect("a number").1.to_owned(), profile.roles.join(","))
    };
    assert_eq!(kept("default_file"), ("0".into(), "editor".into()));
    assert_eq!(kept("default_native"), ("1".into(), "boss".into()));
}

#[test]
fn a_new_password_ends_sessions() {
    let session = |n: u8| Session {
        id: Hash([n; 32]),
        user: "ann".into(),
        uid: 0,
        auth_time: 0,
        seen: 0,
        end: 1000,
        agent: None,
        address: None,
    };
    let mut state = start();
    for n in 0..3 {
        let put = Command::PutSession { by: None, session: session(n), instead_of: None, now: 1 };
        state = apply(&state, &put).0;
    }
    let set = |keep| Command::SetPassword {
        withdraws: None,
        by: None,
        user: "ann".into(),
        password: PasswordHash::nobody(),
        instead_of: None,
        keep,
    };
    let kept = apply(&state, &set(Some(Hash([1; 32])))).0;
    assert_eq!(kept.sessions.len(), 1);
    assert!(apply(&state, &set(None)).0.sessions.is_empty());
    assert_eq!(apply(&state, &set(None)).0.ends.len(), 0);
}

#[test]
fn a_whole_state_is_read_as_it_was_written() {
    let (state, outcome) = apply(&with_code(), &redeem(10));
    granted(outcome);
    let state = apply(&state, &Command::PutPending { pending: pending(7, 20), now: 20 }).0;
    let read = State::from_bytes(&state.to_bytes()).expect("reads");
    assert_eq!(read.grants, state.grants);
    assert_eq!(read.owners, state.owners);
    assert_eq!(read.client_ids, state.client_ids);
    assert_eq!(read.pending, state.pending);
    assert_eq!(read.codes, state.codes);
}

#[path = "apply_ends_tests.rs"]
mod ends;
#[path = "apply_proof_tests.rs"]
mod proof;
