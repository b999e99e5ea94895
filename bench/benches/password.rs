//! What does a wrong password cost, by who made its hash? A refusal must come later than the costliest takes, or its
//! time tells whose hash was brought (`authz/src/refusals.rs`).

use std::hint::black_box;

use authz::Secret;
use authz::password::PasswordHash;
use criterion::{Criterion, criterion_group, criterion_main};

fn password(c: &mut Criterion) {
    let own = PasswordHash::make(&Secret::new("another".to_owned()), [7; 16]);
    let argon2 = own.as_str().replace("m=19456,t=2", "m=98304,t=1");
    let pbkdf2 = "{PBKDF2}100000$AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=$\
                  AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    let bcrypt = "$2a$10$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW";
    let mut group = c.benchmark_group("password");
    group.sample_size(20);
    for (name, hash) in [
        ("our own", own.as_str()),
        ("Argon2id, 96 MiB", &argon2),
        ("bcrypt, cost 10", bcrypt),
        ("PBKDF2, 100,000 rounds", pbkdf2),
    ] {
        let hash = PasswordHash::brought(hash).expect("taken");
        // Alike in both of its forms; one that is not is hashed twice.
        let wrong = Secret::new("wrong horse".to_owned());
        group.bench_function(name, |b| b.iter(|| hash.verify(black_box(&wrong))));
    }
    group.finish();
}

criterion_group!(benches, password);
criterion_main!(benches);
