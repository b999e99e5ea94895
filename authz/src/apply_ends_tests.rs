//! How long things live, and what ends with what.

use super::*;
use crate::record::grant::{Consent, DeviceState, Pushed};

const HOUR: u64 = 60 * 60 * 1000;
const DAY: u64 = 24 * HOUR;

fn pushed(n: u8, end: u64) -> Pushed {
    Pushed { id: Hash([n; 32]), client: "c1".into(), params: Vec::new(), end, kept: None }
}

fn poll(now: u64) -> Command {
    Command::PollDevice {
        id: Hash([3; 32]),
        client: "c1".into(),
        refreshes: false,
        idle: 1,
        absolute: 1,
        life: 100_000,
        now,
    }
}

/// A state in which `ann` has let a device in that has not asked since.
fn with_device() -> State {
    let state = start();
    let device = Device::new(Hash([3; 32]), "BCDFGHJK".into(), "c1".into(), Vec::new(), 0);
    let state = apply(&state, &Command::PutDevice { device, now: 0 }).0;
    let decide = Command::DecideDevice {
        without_refresh: None,
        begun: None,
        by: None,
        user_code: "BCDFGHJK".into(),
        user: "ann".into(),
        uid: state.user("ann").expect("there").uid,
        scopes: Some(vec!["self".into()]),
        now: 1,
    };
    let (state, outcome) = apply(&state, &decide);
    assert_eq!(outcome, Outcome::Changed);
    state
}

fn is_same_from_disk(state: &State) {
    assert_eq!(State::from_bytes(&state.to_bytes()).as_ref(), Ok(state));
}

/// The handle went at its 60 s while its person was still signing in, and "Allow" came too late.
#[test]
fn who_began_in_time_with_a_pushed_request_may_decide_later() {
    let state = apply(&start(), &Command::PutPushed { pushed: pushed(8, 60_000), now: 0 }).0;
    let begin = |n, now| Command::PutPending {
        pending: Pending { handle: Some(Hash([8; 32])), ..pending(n, now) },
        now,
    };
    let state = apply(&state, &begin(5, 59_000)).0;
    let state = apply(&state, &begin(6, 59_500)).0;
    let late = apply(&state, &begin(7, 60_000));
    assert_eq!(late.1, Outcome::Refused(Error::Gone), "nobody begins with it after its time");
    // Whatever else happens clears away what is over.
    let other = Pending { browser: Hash([1; 32]), ..pending(9, 300_000) };
    let state = apply(&state, &Command::PutPending { pending: other, now: 300_000 }).0;
    is_same_from_disk(&state);
    let decide = |n: u8| Command::Decide {
        by: None,
        pending: Hash([n; 32]),
        code: Some(code(&state, n)),
        consent: None,
        now: 300_001,
    };
    let (state, outcome) = apply(&state, &decide(5));
    assert_eq!(outcome, Outcome::Changed);
    let (state, outcome) = apply(&state, &decide(6));
    assert_eq!(outcome, Outcome::Refused(Error::Gone), "the first decision used it up");
    assert!(state.pushed.is_empty());
    let known: Vec<_> =
        state.ends.iter().filter(|((_, what), ())| matches!(what, Ends::Pushed(_))).collect();
    assert!(known.is_empty(), "{known:?}");
}

/// Narrowed tokens counted as families, so the fiftieth refresh ended live access.
#[test]
fn narrowed_tokens_are_no_families() {
    let (mut state, outcome) = apply(&with_code(), &redeem(10));
    let first = granted(outcome).id;
    for counter in 0..60 {
        let Command::Refresh { grant, counter, client, idle, life, window, now, .. } =
            refresh(first, counter, 20 + u64::from(counter))
        else {
            panic!("a refresh")
        };
        let narrowed = Some(vec!["index:a:read".into()]);
        let command = Command::Refresh {
            grant,
            counter,
            client,
            narrowed,
            most: None,
            idle,
            life,
            window,
            now,
        };
        let (next, outcome) = apply(&state, &command);
        granted(outcome);
        state = next;
    }
    let mint = Command::Mint {
        by: None,
        most: None,
        grant: (**state.grant(first).expect("lives")).clone(),
        now: 100,
    };
    let state = apply(&state, &mint).0;
    assert!(state.grant(first).is_some(), "two families are not fifty");
    let mut full = state;
    for _ in 0..50 {
        full = apply(&full, &mint).0;
    }
    assert!(full.grant(first).is_none(), "the oldest goes");
}

#[test]
fn what_was_given_is_taken_back_whole() {
    let state = with_device();
    let state = apply(&state, &Command::PutPending { pending: pending(5, 0), now: 0 }).0;
    let consent = Consent {
        user: "ann".into(),
        uid: 1,
        client: "c1".into(),
        version: 1,
        origin: "https://app.example".into(),
        scopes: Vec::new(),
        without_refresh: None,
    };
    let decide = Command::Decide {
        by: None,
        pending: Hash([5; 32]),
        code: Some(code(&state, 1)),
        consent: Some(consent),
        now: 1,
    };
    let state = apply(&state, &decide).0;
    let withdraw = |user: &str, client: Option<&str>| Command::Withdraw {
        user: user.into(),
        client: client.map(str::to_owned),
        service: false,
    };
    for (user, client) in [("bob", None), ("ann", Some("c2"))] {
        let other = apply(&state, &withdraw(user, client)).0;
        assert_eq!((other.codes.len(), other.devices.len(), other.consents.len()), (1, 1, 1));
    }
    let mine = apply(&state, &redeem(10)).0;
    for client in [None, Some("c1")] {
        let after = apply(&state, &withdraw("ann", client)).0;
        assert!(after.codes.is_empty() && after.devices.is_empty() && after.consents.is_empty());
        assert!(after.user_codes.is_empty() && after.ends.is_empty());
        let (after, outcome) = apply(&mine, &withdraw("ann", client));
        assert!(matches!(outcome, Outcome::Ended(ended) if ended.len() == 1));
        assert!(after.grants.is_empty());
    }
}

/// A device that was let in got its tokens after its client was suspended, or its owner disabled.
#[test]
fn a_device_that_was_let_in_ends_with_its_client_and_its_owner() {
    let state = with_device();
    let known = (**state.client("c1").expect("there")).clone();
    let suspend = Client { status: Status::Suspended, ..known.clone() };
    let put = |client: Client, version| Command::PutClient { client, version };
    let after = apply(&state, &put(suspend.clone(), 1)).0;
    let again = apply(&after, &put(Client { status: Status::Approved, ..suspend }, 2)).0;
    let enable = |enabled| Command::EnableUser { name: "ann".into(), enabled };
    let back = apply(&apply(&state, &enable(false)).0, &enable(true)).0;
    let gone = apply(&state, &Command::DeleteClient { reference: "r1".into() }).0;
    for state in [again, back, gone] {
        assert_eq!(apply(&state, &poll(10_000)).1, Outcome::Refused(Error::InvalidGrant));
    }
    assert!(matches!(apply(&state, &poll(10_000)).1, Outcome::Granted(..)));
}

#[test]
fn a_device_that_comes_too_late_is_told_so_for_a_while() {
    let mut state = start();
    for (n, code) in [(3, "BCDFGHJK"), (4, "BCDFGHJL")] {
        let device = Device::new(Hash([n; 32]), code.into(), "c1".into(), Vec::new(), 0);
        state = apply(&state, &Command::PutDevice { device, now: 0 }).0;
    }
    let tick =
        |state: &State, now| apply(state, &Command::PutPending { pending: pending(5, now), now }).0;
    let state = tick(&state, 700_000);
    is_same_from_disk(&state);
    assert_eq!(apply(&state, &poll(700_001)).1, Outcome::Wait(Waiting::Expired));
    let decide = Command::DecideDevice {
        without_refresh: None,
        begun: None,
        by: None,
        user_code: "BCDFGHJK".into(),
        user: "ann".into(),
        uid: 1,
        scopes: None,
        now: 700_001,
    };
    assert_eq!(apply(&state, &decide).1, Outcome::Refused(Error::Gone));
    let state = tick(&state, 1_300_000);
    assert!(state.devices.is_empty() && state.user_codes.is_empty());
    assert_eq!(apply(&state, &poll(1_300_001)).1, Outcome::Refused(Error::InvalidGrant));
}

/// Requests of strangers pushed out the handles of everybody.
#[test]
fn who_fills_one_kind_takes_nothing_from_the_others() {
    let mut state = apply(&start(), &Command::PutPushed { pushed: pushed(8, 60_000), now: 0 }).0;
    let device = Device::new(Hash([3; 32]), "BCDFGHJK".into(), "c1".into(), Vec::new(), 0);
    state = apply(&state, &Command::PutDevice { device, now: 0 }).0;
    assert_eq!(state.devices.values().next().map(|one| one.state), Some(DeviceState::Waiting));
    for n in 0..10_010_u32 {
        let mut id = [0; 32];
        id[..4].copy_from_slice(&n.to_be_bytes());
        let mut one = pending(0, u64::from(n));
        (one.id, one.browser) = (Hash(id), Hash(id));
        state = apply(&state, &Command::PutPending { pending: one, now: u64::from(n) }).0;
    }
    assert_eq!(state.pending.len(), 10_000);
    assert!(state.pending.get(&Hash([0; 32])).is_none(), "the oldest of the kind went");
    assert_eq!((state.pushed.len(), state.devices.len()), (1, 1));
}

/// A later user of the name owned the applications of the one before, and got their secrets.
#[test]
fn a_later_user_of_the_name_owns_nothing_of_the_one_before() {
    let owned = Client {
        owner: Some("ann".into()),
        service_account: Some("ann".into()),
        ..client(Status::Approved)
    };
    let put = |client: Client, version| Command::PutClient { client, version };
    let state = apply(
        &start(),
        &put(Client { reference: "r2".into(), client_id: Some("c2".into()), ..owned.clone() }, 0),
    )
    .0;
    // One kept before users were told apart has no number.
    let mut old = state.clone();
    old.put_client(Arc::new(Client { version: 1, ..owned }));
    assert_eq!(old.client("c1").expect("there").owner_uid, None);
    is_same_from_disk(&old);
    for id in ["c1", "c2"] {
        let known = old.client(id).expect("there");
        assert!(old.owner_of(known).is_some() && old.account_of(known).is_some(), "{id}");
    }
    let state = apply(&old, &Command::DeleteUser { name: "ann".into() }).0;
    let state = apply(
        &state,
        &Command::PutUser { withdraws: None, by: None, user: user("ann"), keep_password: false },
    )
    .0;
    for id in ["c1", "c2"] {
        let known = state.client(id).expect("there");
        assert!(state.owner_of(known).is_none() && state.account_of(known).is_none(), "{id}");
        // Nor does a change by an administrator make it hers.
        let state = apply(&state, &put((**known).clone(), known.version)).0;
        assert!(state.owner_of(state.client(id).expect("there")).is_none(), "{id}");
    }
    let early = Client {
        owner: Some("zoe".into()),
        reference: "r3".into(),
        client_id: None,
        ..client(Status::Pending)
    };
    let state = apply(&state, &put(early, 0)).0;
    let state = apply(
        &state,
        &Command::PutUser { withdraws: None, by: None, user: user("zoe"), keep_password: false },
    )
    .0;
    let early = state.clients.get("r3").expect("kept");
    assert!(state.owner_of(early).is_none(), "whoever comes later is another");
}

#[test]
fn an_unreviewed_client_goes_when_nobody_used_it_for_ninety_days() {
    let open = |reference: &str, id: &str, unreviewed| Client {
        reference: reference.into(),
        client_id: Some(id.into()),
        unreviewed,
        ..client(Status::Approved)
    };
    let mut state = start();
    for (reference, id, unreviewed) in [("r2", "c2", true), ("r3", "c3", true), ("r4", "c4", false)]
    {
        let client = open(reference, id, unreviewed);
        state = apply(&state, &Command::PutClient { client, version: 0 }).0;
    }
    let (known, _) = apply(&with_code(), &redeem(10));
    let grant = known.grants.values().next().expect("redeemed");
    let mint = |now| Command::Mint {
        by: None,
        most: None,
        grant: Grant {
            client: Some("c2".into()),
            created: now,
            last_used: None,
            absolute_end: now + 1,
            code: None,
            ..(**grant).clone()
        },
        now,
    };
    state = apply(&state, &mint(80 * DAY)).0;
    assert_eq!(state.client("c2").expect("there").last_used, Some(80 * DAY));
    state = apply(&state, &mint(80 * DAY + HOUR)).0;
    assert_eq!(state.client("c2").expect("there").last_used, Some(80 * DAY), "noted once a day");
    is_same_from_disk(&state);
    let tick =
        |state: &State, now| apply(state, &Command::PutPending { pending: pending(5, now), now }).0;
    let state = tick(&state, 91 * DAY);
    assert!(state.client("c3").is_none(), "nobody ever used it");
    assert!(state.client("c2").is_some() && state.client("c4").is_some());
    let state = tick(&tick(&state, 171 * DAY), 171 * DAY);
    assert!(state.client("c2").is_none(), "nobody used it any more");
    assert!(state.client("c4").is_some() && state.client("c1").is_some(), "reviewed ones stay");
}

/// Any number of applications could wait for a reviewer, or register by themselves.
#[test]
fn clients_that_nobody_chose_are_so_many() {
    let mut state = State::default();
    let made = |at: usize, owner: Option<u64>| Client {
        client_id: Some(format!("c{at}")),
        status: if owner.is_some() { Status::Pending } else { Status::Approved },
        owner: owner.map(|_| "ann".into()),
        owner_uid: owner,
        unreviewed: owner.is_none(),
        ..Client::new(format!("r{at}"), Profile::new(ApplicationType::Web, "App"), 1)
    };
    let mut add = |at, owner| {
        let command = Command::AddClient { client: made(at, owner), room: 2 };
        let (next, outcome) = apply(&state, &command);
        state = next;
        outcome
    };
    let crowded = Outcome::Refused(Error::Crowded { room: 2 });
    // Of each of two accounts of one name, and of those that registered by themselves.
    for (at, owner) in [(0, Some(1)), (10, Some(2)), (20, None)] {
        assert_eq!(add(at, owner), Outcome::Created);
        assert_eq!(add(at + 1, owner), Outcome::Created);
        assert_eq!(add(at + 2, owner), crowded);
    }
    // A number that is taken is no other's.
    assert_eq!(state.clients.values().count(), 6);
    // One that got a token, or was approved, takes no room.
    let known = (**state.clients.get("r20").expect("there")).clone();
    let used = Client { last_used: Some(5), ..known };
    state = apply(&state, &Command::PutClient { client: used, version: 1 }).0;
    let known = (**state.clients.get("r0").expect("there")).clone();
    let approved = Client { status: Status::Approved, ..known };
    state = apply(&state, &Command::PutClient { client: approved, version: 1 }).0;
    for (at, owner, outcome) in
        [(30, None, Outcome::Created), (31, Some(1), Outcome::Created), (32, Some(2), crowded)]
    {
        let command = Command::AddClient { client: made(at, owner), room: 2 };
        let (next, told) = apply(&state, &command);
        state = next;
        assert_eq!(told, outcome, "{at}");
    }
}

/// A key from before its creator was kept is that of the user who was there, also once another one has the name.
#[test]
fn an_old_key_stays_that_of_a_user_who_goes() {
    let noted =
        |team: &str| User { metadata: [("team", team)].into_iter().collect(), ..user("ann") };
    let put = |team| Command::PutUser {
        withdraws: None,
        by: None,
        user: noted(team),
        keep_password: false,
    };
    let state = apply(&State::default(), &put("a")).0;
    let json = br#"{"is":"PutKey","key":{"id":"k","name":"k","secret":{
        "salt":"0101010101010101010101010101010101010101010101010101010101010101",
        "hash":"0101010101010101010101010101010101010101010101010101010101010101"},"kind":"rest",
        "owner":"ann","realm":["default_native","native"],"creation":1,"metadata":{},"descriptors":[],
        "limited_by":[]}}"#;
    let state = apply(&state, &Command::from_bytes(json).expect("a key of form 4")).0;
    let team = |state: &State| {
        let key = Arc::clone(state.keys.get("k").expect("there"));
        let principal = crate::Principal::key(key, state);
        principal.user().metadata.get("team").and_then(json::Value::as_str).map(str::to_owned)
    };
    assert_eq!(team(&state).as_deref(), Some("a"));
    let state = apply(&state, &Command::DeleteUser { name: "ann".into() }).0;
    assert_eq!(team(&state).as_deref(), Some("a"));
    let state = apply(&state, &put("c")).0;
    assert_eq!(team(&state).as_deref(), Some("a"));
}

/// Introspection reckoned it from the token's end, which near the end of the grant comes sooner.
#[test]
fn a_grant_knows_when_each_of_its_newest_tokens_was_issued() {
    let (mut state, outcome) = apply(&with_code(), &redeem(10_000));
    let id = granted(outcome).id;
    for round in 0..40 {
        let refresh = Command::Refresh {
            grant: id,
            counter: round,
            client: Some("c1".into()),
            narrowed: None,
            most: None,
            idle: 1_000_000,
            life: 100_000,
            window: 0,
            now: 20_000 + u64::from(round) * 1_000,
        };
        state = apply(&state, &refresh).0;
    }
    let grant = state.grant(id).expect("lives");
    // Number 0 came with the code, 1 to 40 with refresh tokens.
    assert_eq!(grant.issued_s(40), Some(59));
    assert_eq!(grant.issued_s(9), Some(28));
    assert_eq!(grant.issued_s(8), None, "32 are kept");
    // It was not issued at the moment of each question, but before the oldest that is kept.
    assert_eq!(grant.issued_by_s(8), Some(28));
    assert_eq!(grant.issued_by_s(41), None);
    // Where a refresh token lives for less, its access token still lets in.
    let short = Grant { idle_end: 60_000, ..(**grant).clone() };
    assert_eq!(short.access_end, Some(159_000));
    assert!(short.is_live(158_999) && !short.is_live(159_000));
    let old = Grant { access_end: None, ..short };
    assert!(old.is_live(59_999) && !old.is_live(60_000));
}

/// Another password and the end of what the old one had let in were two commands: a machine that stopped between
/// them kept the new password, and the thief's tokens.
#[test]
fn another_password_takes_back_in_one_command() {
    let (state, outcome) = apply(&with_code(), &redeem(10));
    let family = granted(outcome);
    let kind = crate::record::grant::GrantKind::Service;
    let own = Grant { kind, client: None, code: None, ..(*family).clone() };
    let mint = Command::Mint { grant: own, by: None, most: None, now: 11 };
    let (state, outcome) = apply(&state, &mint);
    let token = granted(outcome);
    let left = |command: &Command| {
        let state = apply(&state, command).0;
        [family.id, token.id].map(|id| state.grant(id).is_some())
    };
    for (withdraws, expected) in [
        (None, [true, true]),
        (Some(Withdrawal::Apps), [false, true]),
        (Some(Withdrawal::All), [false, false]),
    ] {
        let set = |instead_of| Command::SetPassword {
            user: "ann".into(),
            password: hash(2),
            instead_of,
            keep: None,
            withdraws,
            by: None,
        };
        assert_eq!(left(&set(None)), expected);
        assert_eq!(left(&set(Some(PasswordHash::nobody()))), [true, true], "a stronger hash");
        let put = |keep_password| Command::PutUser {
            user: user("ann"),
            keep_password,
            withdraws,
            by: None,
        };
        assert_eq!(left(&put(false)), expected);
        assert_eq!(left(&put(true)), [true, true], "the password stays");
    }
}

/// A client made any number of narrowed tokens, or of its own, each a grant that was kept until its end.
#[test]
fn of_many_grants_of_one_client_the_oldest_end() {
    let (mut state, outcome) = apply(&with_code(), &redeem(10));
    let first = granted(outcome);
    let mut made = Vec::new();
    for counter in 0..5 {
        let mut command = refresh(first.id, counter, 20 + u64::from(counter));
        if let Command::Refresh { narrowed, most, .. } = &mut command {
            (*narrowed, *most) = (Some(vec!["self".into()]), Some(3));
        }
        let (next, outcome) = apply(&state, &command);
        (state, made) = (next, [made, vec![granted(outcome).id]].concat());
    }
    let live = |state: &State, ids: &[u64]| -> Vec<bool> {
        ids.iter().map(|id| state.grant(*id).is_some()).collect()
    };
    assert_eq!(live(&state, &made), [false, false, true, true, true]);
    assert_eq!(live(&state, &[first.id]), [true], "who narrows loses nothing else");
    let kind = crate::record::grant::GrantKind::Client;
    let own = |client: &str| Command::Mint {
        grant: Grant { kind, client: Some(client.into()), code: None, ..(*first).clone() },
        by: None,
        most: Some(2),
        now: 30,
    };
    let acting = |client: Client, user: Option<&str>| Client {
        service_account: user.map(str::to_owned),
        service_uid: None,
        ..client
    };
    let other =
        Client { client_id: Some("c2".into()), reference: "r2".into(), ..client(Status::Approved) };
    let other = acting(other, Some(&first.user));
    state = apply(&state, &Command::PutClient { client: other, version: 0 }).0;
    let lend = |state: &State, user: Option<&str>| {
        let known = state.client("c1").expect("it is there");
        let (version, client) = (known.version, acting((**known).clone(), user));
        apply(state, &Command::PutClient { client, version }).0
    };
    state = lend(&state, Some(&first.user));
    let mut owned = Vec::new();
    for client in ["c2", "c1", "c1", "c1"] {
        let (next, outcome) = apply(&state, &own(client));
        (state, owned) = (next, [owned, vec![granted(outcome).id]].concat());
    }
    assert_eq!(live(&state, &owned), [true, false, true, true], "each client has its own");
    assert_eq!(live(&state, &made), [false, false, true, true, true], "and what it was granted");
    // What it got as another account than it has now is over, though nobody took it away; what it was granted is not.
    for user in [None, Some("nobody")] {
        let lent = lend(&state, user);
        assert_eq!(live(&lent, &owned), [true, false, false, false], "{user:?}");
        assert_eq!(live(&lent, &made), [false, false, true, true, true], "{user:?}");
    }
}
