//! A command is judged by what let its giver in, at the moment when it is carried out.

use super::*;
use crate::record::client::ClientSecret;
use crate::record::grant::Consent;
use crate::record::key::{ApiKey, Salted, ServiceToken};
use crate::record::proof::Proof;

fn set_password(n: u8, by: Option<Proof>) -> Command {
    Command::SetPassword {
        withdraws: None,
        user: "ann".into(),
        password: hash(n),
        instead_of: None,
        keep: Some(Hash([4; 32])),
        by,
    }
}

fn session(state: &State, by: Option<Proof>) -> Command {
    let session = Session {
        id: Hash([4; 32]),
        user: "ann".into(),
        uid: state.user("ann").expect("there").uid,
        auth_time: 0,
        seen: 0,
        end: 1000,
        agent: None,
        address: None,
    };
    Command::PutSession { session, instead_of: Some(Hash([4; 32])), by, now: 1 }
}

fn mint(state: &State, by: Option<Proof>) -> Command {
    let grant = granted(apply(&with_code(), &redeem(2)).1);
    let uid = state.user("ann").expect("there").uid;
    let kind = crate::record::grant::GrantKind::Service;
    Command::Mint {
        grant: Grant { kind, uid, client: None, ..(*grant).clone() },
        by,
        most: None,
        now: 2,
    }
}

fn put_key(id: &str, by: Option<Proof>, granted_by: Option<Proof>) -> Command {
    let key = ApiKey {
        id: id.into(),
        name: id.into(),
        secret: Salted::nobody(),
        kind: "rest".into(),
        owner: "ann".into(),
        realm: ("default_native".into(), "native".into()),
        creation: 0,
        expiration: None,
        invalidation: None,
        metadata: json::Object::new(),
        descriptors: Vec::new(),
        limited_by: Vec::new(),
        creator: None,
        access: None,
    };
    Command::PutKey { key, by, granted_by }
}

fn update_key(id: &str, by: Option<Proof>) -> Command {
    Command::UpdateKeys {
        ids: vec![id.into()],
        descriptors: None,
        limited_by: Vec::new(),
        creator: None,
        metadata: None,
        expiration: Some(9),
        access: None,
        by,
    }
}

fn put_token(name: &str, by: Option<Proof>) -> Command {
    let (account, secret) = ("elastic/kibana".into(), Salted::nobody());
    let token = ServiceToken { account, name: name.into(), secret, creation: 0 };
    Command::PutServiceToken { token, by }
}

fn lapsed() -> Outcome {
    Outcome::Refused(Error::Lapsed)
}

/// A change of the own password was let in with the old one, hashed, and overwrote what an administrator had
/// given meanwhile; the page went on to a new session, and the token service to a token.
#[test]
fn who_came_with_an_old_password_gets_nothing_once_there_is_another() {
    let before = start();
    let known = before.user("ann").expect("there").proof();
    let by = || Some(known.clone());
    let own = || {
        let user = User { password: hash(7), ..user("ann") };
        Command::PutUser { withdraws: None, user, keep_password: false, by: Some(known.clone()) }
    };
    for command in [set_password(7, by()), own(), session(&before, by()), mint(&before, by())] {
        assert_ne!(apply(&before, &command).1, lapsed(), "{command:?}");
    }
    let put = Command::PutUser {
        withdraws: None,
        by: None,
        user: User { password: hash(8), ..user("ann") },
        keep_password: false,
    };
    let disable = Command::EnableUser { name: "ann".into(), enabled: false };
    for meanwhile in [set_password(8, None), put, disable] {
        let state = apply(&before, &meanwhile).0;
        for command in [set_password(7, by()), own(), session(&state, by()), mint(&state, by())] {
            let (after, outcome) = apply(&state, &command);
            assert_eq!(outcome, lapsed(), "{command:?}");
            assert_eq!(after.users, state.users);
        }
    }
}

/// Neither a stronger hash of the same password nor another change of the user makes a password an old one.
#[test]
fn a_password_stays_the_same_however_it_is_hashed() {
    let mut state = apply(&start(), &set_password(1, None)).0;
    let known = state.user("ann").expect("there").proof();
    for command in [
        Command::SetPassword {
            withdraws: None,
            user: "ann".into(),
            password: hash(2),
            instead_of: Some(hash(1)),
            keep: None,
            by: None,
        },
        Command::PutUser { withdraws: None, by: None, user: user("ann"), keep_password: true },
    ] {
        state = apply(&state, &command).0;
    }
    assert_eq!(state.user("ann").expect("there").password, hash(2));
    assert_eq!(apply(&state, &set_password(3, Some(known))).1, Outcome::Changed);
    let read = State::from_bytes(&state.to_bytes()).expect("reads");
    assert_eq!(read.users, state.users);
}

/// A request whose body ended after the reset of the password that let it in made a key all the same, which went on.
#[test]
fn who_came_with_what_ended_meanwhile_makes_and_changes_no_key() {
    let made = apply(&start(), &put_key("old", None, None)).0;
    let made = apply(&made, &put_token("old", None)).0;
    let ann = made.user("ann").expect("there").proof();
    let reset = set_password(8, None);
    let ended = Command::InvalidateKeys { ids: vec!["old".into()], now: 1 };
    let removed =
        Command::DeleteServiceToken { account: "elastic/kibana".into(), name: "old".into() };
    let service =
        Proof::Service { account: "elastic/kibana".into(), name: "old".into(), salt: None };
    for (by, meanwhile) in
        [(ann, reset), (Proof::Key { id: "old".into() }, ended), (service, removed)]
    {
        let by = || Some(by.clone());
        let after = apply(&made, &meanwhile).0;
        for command in [
            put_key("new", by(), None),
            put_key("new", None, by()),
            put_token("new", by()),
            update_key("old", by()),
        ] {
            assert_ne!(apply(&made, &command).1, lapsed(), "{command:?}");
            let (kept, outcome) = apply(&after, &command);
            assert_eq!(outcome, lapsed(), "{command:?}");
            assert_eq!(
                (kept.keys, kept.service_tokens),
                (after.keys.clone(), after.service_tokens.clone())
            );
        }
    }
}

/// A token was made anew under its name while a command of the old one was on its way, and the new one answered for
/// it.
#[test]
fn a_token_of_a_service_account_is_no_later_one_of_its_name() {
    let put = |salt: u8| {
        let secret = Salted::new([salt; 32], b"secret");
        let (account, name) = ("elastic/kibana".into(), "t".into());
        let token = ServiceToken { account, name, secret, creation: 0 };
        Command::PutServiceToken { token, by: None }
    };
    let (account, name) = ("elastic/kibana".to_owned(), "t".to_owned());
    let removed = Command::DeleteServiceToken { account: account.clone(), name: name.clone() };
    let known = apply(&start(), &put(1)).0;
    let token = known.service_tokens.get(&(account.clone(), name.clone())).expect("there");
    let by = crate::Principal::service(Arc::clone(token), &known).proof();
    let command = put_key("new", by, None);
    assert_eq!(apply(&known, &command).1, Outcome::Created);
    for (salt, expected) in [(1, Outcome::Created), (2, lapsed())] {
        let later = apply(&apply(&known, &removed).0, &put(salt)).0;
        assert_eq!(apply(&later, &command).1, expected);
        // A log of before knows the name alone.
        let old = Proof::Service { account: account.clone(), name: name.clone(), salt: None };
        assert_eq!(apply(&later, &put_key("new", Some(old), None)).1, Outcome::Created);
    }
}

/// A later user of the name has another password, also where it is the same letters.
#[test]
fn a_password_of_a_user_who_is_gone_is_no_password_of_a_later_one() {
    let state = start();
    let known = state.user("ann").expect("there").proof();
    let state = apply(&state, &Command::DeleteUser { name: "ann".into() }).0;
    let put =
        Command::PutUser { withdraws: None, by: None, user: user("ann"), keep_password: false };
    let state = apply(&state, &put).0;
    assert_eq!(apply(&state, &set_password(3, Some(known))).1, lapsed());
}

/// The page's session stays through the own change of a password, and ends with an administrator's, which comes
/// between that and the new session.
#[test]
fn a_session_that_ended_is_not_renewed() {
    let state = apply(&start(), &session(&start(), None)).0;
    let state = apply(&state, &set_password(5, None)).0;
    let renew = |state: &State| {
        let by = Some(Proof::Session { id: Hash([4; 32]) });
        apply(state, &session(state, by)).1
    };
    assert_eq!(renew(&state), Outcome::Created);
    let reset = Command::SetPassword {
        withdraws: None,
        user: "ann".into(),
        password: hash(6),
        instead_of: None,
        keep: None,
        by: None,
    };
    assert_eq!(renew(&apply(&state, &reset).0), lapsed());
}

/// A suspension came between the look at the client and the decision, and the code outlived it: the client was
/// approved again, and redeemed it.
#[test]
fn a_decision_counts_only_where_client_and_session_still_may() {
    let signed_in = apply(&start(), &session(&start(), None)).0;
    let signed_in = apply(&signed_in, &Command::PutPending { pending: pending(5, 0), now: 0 }).0;
    let scopes = vec!["index:a:read".to_owned()];
    let device = Device::new(Hash([8; 32]), "BCDFGHJK".into(), "c1".into(), scopes.clone(), 0);
    let waiting = apply(&signed_in, &Command::PutDevice { device, now: 0 }).0;
    let by = Some(Proof::Session { id: Hash([4; 32]) });
    let uid = waiting.user("ann").expect("there").uid;
    let commands = [
        Command::Decide {
            pending: Hash([5; 32]),
            code: Some(code(&waiting, 1)),
            consent: None,
            by: by.clone(),
            now: 1,
        },
        Command::DecideDevice {
            without_refresh: None,
            begun: None,
            user_code: "BCDFGHJK".into(),
            user: "ann".into(),
            uid,
            scopes: Some(scopes),
            by,
            now: 1,
        },
    ];
    let known = waiting.client("c1").expect("there").version;
    let suspend = Command::PutClient { client: client(Status::Suspended), version: known };
    let suspended = apply(&waiting, &suspend).0;
    let sign_out = Command::EndSessions { ids: vec![Hash([4; 32])] };
    let signed_out = apply(&waiting, &sign_out).0;
    for decide in &commands {
        assert_eq!(apply(&waiting, decide).1, Outcome::Changed);
        assert_eq!(apply(&signed_out, decide).1, lapsed());
        let (after, outcome) = apply(&suspended, decide);
        assert_eq!(outcome, Outcome::Refused(Error::Gone));
        let again = Command::PutClient { client: client(Status::Approved), version: known + 1 };
        let after = apply(&after, &again).0;
        assert!(after.codes.is_empty());
    }
}

/// A client that acts for itself gets nothing once it is suspended, and what it asked for before is nothing after.
#[test]
fn a_client_that_was_suspended_meanwhile_gets_no_token() {
    let state = start();
    let by = Some(Proof::Client { id: "c1".into() });
    let known = state.client("c1").expect("there").version;
    let suspend = Command::PutClient { client: client(Status::Suspended), version: known };
    assert!(matches!(apply(&state, &mint(&state, by.clone())).1, Outcome::Granted(..)));
    let state = apply(&state, &suspend).0;
    assert_eq!(apply(&state, &mint(&state, by)).1, lapsed());
}

/// A developer changed its application again and again, and each suspension found another version than it had
/// looked at: 409, nine times in a row.
#[test]
fn a_suspension_is_of_whatever_version_stands() {
    let state = with_code();
    let suspend = Command::SuspendClient { reference: "r1".into() };
    let known = state.client("c1").expect("there").version;
    let state =
        apply(&state, &Command::PutClient { client: client(Status::Approved), version: known }).0;
    let (state, outcome) = apply(&state, &suspend);
    assert_eq!(outcome, Outcome::Changed);
    assert!(state.codes.is_empty());
    let client = state.client("c1").expect("there");
    assert_eq!((client.status, client.version), (Status::Suspended, known + 2));
    assert_eq!(apply(&state, &suspend).1, Outcome::Unchanged);
    let none = Command::SuspendClient { reference: "r2".into() };
    assert_eq!(apply(&state, &none).1, Outcome::Refused(Error::Changed));
    let rejected = Client { status: Status::Rejected, ..(**client).clone() };
    let put = Command::PutClient { version: rejected.version, client: rejected };
    let state = apply(&state, &put).0;
    assert_eq!(apply(&state, &suspend).1, Outcome::Refused(Error::Changed));
}

/// Who changed the application again and again put off that its stolen secret was replaced: 409, eleven of twelve
/// times.
#[test]
fn a_rotation_is_of_whatever_version_stands() {
    const DAY: u64 = 24 * 60 * 60 * 1000;
    let secret = |n: u8| ClientSecret { secret: Salted::new([n; 32], &[n]), end: None };
    let rotate = |n, beside: Option<Vec<ClientSecret>>, now| Command::RotateSecret {
        reference: "r1".into(),
        secret: secret(n),
        beside,
        now,
    };
    let known = start().client("c1").expect("there").version;
    let change = Command::PutClient { client: client(Status::Approved), version: known };
    let (state, outcome) = apply(&apply(&start(), &change).0, &rotate(1, Some(Vec::new()), 5));
    assert_eq!(outcome, Outcome::Changed);
    let knows = |state: &State, now| {
        let client = state.client("c1").expect("there");
        [1, 2, 3].map(|n: u8| client.knows(&[n], now))
    };
    assert_eq!(knows(&state, 6), [true, false, false]);
    // Two tabs of its owner: the second shows nothing, and ends nothing.
    let (state, outcome) = apply(&state, &rotate(2, Some(vec![secret(1)]), 7));
    assert_eq!(outcome, Outcome::Changed);
    let again = apply(&state, &rotate(3, Some(vec![secret(1)]), 7)).1;
    assert_eq!(again, Outcome::Refused(Error::Changed));
    assert_eq!(knows(&state, 8), [true, true, false]);
    assert_eq!(knows(&state, 7 + DAY), [false, true, false]);
    let twice = apply(&state, &rotate(3, None, 9)).0;
    assert_eq!(knows(&twice, 10), [false, true, true], "what was stolen ends");
    for status in [Status::Rejected, Status::Suspended] {
        let known = (**state.client("c1").expect("there")).clone();
        let put = Command::PutClient { version: known.version, client: Client { status, ..known } };
        let outcome = apply(&apply(&state, &put).0, &rotate(3, None, 9)).1;
        assert_eq!(outcome == Outcome::Changed, status == Status::Suspended);
    }
    let gone = Command::DeleteClient { reference: "r1".into() };
    let outcome = apply(&apply(&state, &gone).0, &rotate(3, None, 9)).1;
    assert_eq!(outcome, Outcome::Refused(Error::Changed));
}

/// A consent was taken back while it answered for its owner once more, or taken back and given anew for less: the code
/// came after that, for all that the first one had given.
#[test]
fn a_consent_that_was_taken_back_lets_nobody_in() {
    let state = apply(&start(), &session(&start(), None)).0;
    let uid = state.user("ann").expect("there").uid;
    let decide = |state: &State, n: u8, consent, by| {
        let state = apply(state, &Command::PutPending { pending: pending(n, 0), now: 0 }).0;
        let (id, code) = (Hash([n; 32]), Some(code(&state, n)));
        apply(&state, &Command::Decide { pending: id, code, consent, by, now: 1 })
    };
    let version = state.client("c1").expect("there").version;
    let consent = |scopes: &[&str]| Consent {
        user: "ann".into(),
        uid,
        client: "c1".into(),
        version,
        origin: "https://app.example".into(),
        scopes: scopes.iter().map(|&scope| scope.to_owned()).collect(),
        without_refresh: None,
    };
    let by = |seen| Some(Proof::Consent { session: Hash([4; 32]), client: "c1".into(), seen });
    let asked = || Some(Proof::Session { id: Hash([4; 32]) });
    let (much, less) = (consent(&["self", "cluster:monitor"]), consent(&["self"]));
    for seen in [None, Some(much.clone())] {
        assert_eq!(decide(&state, 5, None, by(seen.clone())).1, lapsed());
        let (given, outcome) = decide(&state, 5, Some(much.clone()), asked());
        assert_eq!(outcome, Outcome::Changed);
        assert_eq!(decide(&given, 6, None, by(seen.clone())).1, Outcome::Changed);
        let withdraw =
            Command::Withdraw { user: "ann".into(), client: Some("c1".into()), service: false };
        let withdrawn = apply(&given, &withdraw).0;
        assert_eq!(decide(&withdrawn, 6, None, by(seen.clone())).1, lapsed());
        let narrower = decide(&withdrawn, 7, Some(less.clone()), asked()).0;
        // Logs of before name no consent, and mean what they meant.
        let expected = if seen.is_some() { lapsed() } else { Outcome::Changed };
        assert_eq!(decide(&narrower, 6, None, by(seen.clone())).1, expected);
        assert_eq!(decide(&narrower, 6, None, by(Some(less.clone()))).1, Outcome::Changed);
        let again = decide(&withdrawn, 7, Some(much.clone()), asked()).0;
        assert_eq!(decide(&again, 6, None, by(seen.clone())).1, Outcome::Changed);
        // The client was changed since: its owner is asked again.
        let known = (**given.client("c1").expect("there")).clone();
        let put = Command::PutClient { version: known.version, client: known };
        assert_eq!(decide(&apply(&given, &put).0, 6, None, by(seen)).1, expected);
    }
}
