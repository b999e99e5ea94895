//! What does a token cost at a store request? Text and checksum, seal, and the look at the state among
//! 100,000 grants. The promise is 2 µs; then the roles of the caller are judged as for anybody.

use std::hint::black_box;

use authz::authenticate::bearer;
use authz::password::PasswordHash;
use authz::record::grant::{Grant, GrantKind};
use authz::token::text::{self, Kind};
use authz::token::{Content, Keys};
use authz::{Command, Outcome, State, apply};
use criterion::{Criterion, criterion_group, criterion_main};

const GRANTS: u64 = 100_000;

/// A grant of the built-in user to itself, as the token service makes them.
fn grant(uid: u64) -> Grant {
    Grant {
        id: 0,
        kind: GrantKind::Service,
        user: "elastic".into(),
        uid,
        client: None,
        scopes: Vec::new(),
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

fn token(c: &mut Criterion) {
    let bootstrap = Command::Bootstrap { password: PasswordHash::nobody() };
    let (mut state, _) = apply::apply(&State::default(), &bootstrap);
    let uid = state.user("elastic").expect("made").uid;
    let mut last = 0;
    for _ in 0..GRANTS {
        let (next, outcome) = apply::apply(
            &state,
            &Command::Mint { by: None, most: None, grant: grant(uid), now: 1 },
        );
        let Outcome::Granted(made, _) = outcome else { panic!("{outcome:?}") };
        (state, last) = (next, made.id);
    }
    let keys = Keys::new(b"pepper");
    let pair = keys.access(state.epoch);
    let content = Content { grant: last / 2, end: u32::MAX, serial: 0 };
    let shown = text::write(Kind::Access, &pair.seal(content));
    c.bench_function("token/check", |b| {
        b.iter(|| {
            let read = text::read(black_box(&shown)).expect("a token");
            let content = pair.open(&read.body).expect("ours");
            black_box(bearer::live(&state, content)).expect("stands")
        });
    });
    c.bench_function("token/junk", |b| {
        b.iter(|| black_box(text::read(black_box(&shown[..shown.len() - 1]))));
    });
}

criterion_group!(benches, token);
criterion_main!(benches);
