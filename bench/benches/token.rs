//! What does a token cost at a store request? `check`: text and checksum, seal, and the look at the state among
//! 100,000 grants, of which the promise is 2 µs. `door`: all that the door does with the header, up to a caller with
//! the owner's roles, the grant and the client's ceiling. Then the caller is judged as anybody.

use std::hint::black_box;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use authz::authenticate::bearer;
use authz::password::PasswordHash;
use authz::record::client::{ApplicationType, Client, Profile, Status};
use authz::record::grant::{Grant, GrantKind};
use authz::token::text::{self, Kind};
use authz::token::{Content, Keys};
use authz::{Authenticator, Command, FileRealm, Keeper, Outcome, State, apply};
use criterion::{Criterion, criterion_group, criterion_main};
use sim::{Sim, SimEnv};

const GRANTS: u64 = 100_000;

/// The application that has all grants.
const APP: &str = "0123456789abcdef0123456789abcdef";

const SCOPE: &str = "index:orders-*:read";

/// A grant of the built-in user to the application.
fn grant(uid: u64) -> Grant {
    Grant {
        id: 0,
        kind: GrantKind::Oauth,
        user: "elastic".into(),
        uid,
        client: Some(APP.into()),
        scopes: vec![SCOPE.into()],
        details: Vec::new(),
        resource: Vec::new(),
        created: 0,
        last_used: None,
        last_address: None,
        code: None,
        refreshes: true,
        counter: 0,
        rotated: 0,
        idle_end: u64::MAX,
        absolute_end: u64::MAX,
        serial: 0,
        revoked: Vec::new(),
        parent: None,
        issued: None,
        access_end: None,
        maker: None,
    }
}

/// A state with grants of many owners, for one owner has room for fifty of an application; and one of them.
fn granted() -> (State, u64) {
    let bootstrap = Command::Bootstrap { password: PasswordHash::nobody() };
    let (state, _) = apply::apply(&State::default(), &bootstrap);
    let uid = state.user("elastic").expect("made").uid;
    let mut profile = Profile::new(ApplicationType::Web, "App");
    profile.scopes = vec![SCOPE.into()];
    let client = Client {
        client_id: Some(APP.into()),
        status: Status::Approved,
        ..Client::new("REFERENCE".into(), profile, 1)
    };
    let (mut state, _) = apply::apply(&state, &Command::PutClient { client, version: 0 });
    let mut made = Vec::new();
    for at in 0..GRANTS {
        // All others are of owners who went, which is no matter to who looks for one.
        let user = if at == GRANTS / 2 { "elastic".to_owned() } else { format!("owner-{at}") };
        let grant = Grant { user, ..grant(uid) };
        let mint = Command::Mint { by: None, most: None, grant, now: 1 };
        let (next, outcome) = apply::apply(&state, &mint);
        let Outcome::Granted(grant, _) = outcome else { panic!("{outcome:?}") };
        made.push(grant.id);
        state = next;
    }
    (state, made[made.len() / 2])
}

/// A doorkeeper that goes by this state, whose machine's clock stands still.
fn door(state: State, keys: Keys) -> Authenticator<SimEnv> {
    let (asks, _) = env::mailbox::channel(1);
    let published = Arc::new(env::published::Published::new(Arc::new(state)));
    let keeper = Keeper::new(published, asks, keys, &[0; 32]);
    Authenticator::new(Sim::new(1).env(), keeper, FileRealm::new("/data/node/users"))
}

fn token(c: &mut Criterion) {
    let (state, known) = granted();
    let keys = Keys::new(b"pepper");
    let pair = keys.access(state.epoch);
    let content = Content { grant: known, end: u64::from(u32::MAX) * 1000, serial: 0 };
    let shown = text::write(Kind::Access, &pair.seal(content));
    c.bench_function("token/check", |b| {
        b.iter(|| {
            let read = text::read(black_box(&shown)).expect("a token");
            let content = pair.open(&read.body).expect("ours");
            black_box(bearer::live(&state, content)).expect("stands")
        });
    });
    let (door, header) = (door(state.clone(), keys), format!("Bearer {shown}"));
    c.bench_function("token/door", |b| {
        b.iter(|| {
            let asked = pin!(door.authenticate(Some(black_box(&header)), "::1"));
            match asked.poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(principal) => black_box(principal).expect("let in"),
                Poll::Pending => panic!("a token waits for nothing"),
            }
        });
    });
    c.bench_function("token/junk", |b| {
        b.iter(|| black_box(text::read(black_box(&shown[..shown.len() - 1]))));
    });
}

criterion_group!(benches, token);
criterion_main!(benches);
