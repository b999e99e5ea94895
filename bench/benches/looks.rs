//! What does it cost a task to let others have its core? `asks`: it is not time yet, as for nearly all that ask.
//! `gives way`: the executor looks at its rings (a poke and four more calls of the kernel), and nobody else has
//! anything to do. `gives way to one`: another task is woken there, and gives way in turn.

use std::sync::mpsc::{self, Sender};
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use env::{Clock, Env, Spawn};
use runtime::Core;

/// What a task does again and again.
#[derive(Clone, Copy)]
enum Way {
    Asks,
    Gives,
    GivesToOne,
}

/// How long a core takes for so many of these.
fn timed(way: Way, rounds: u64) -> Duration {
    let (told, tells) = mpsc::channel();
    let main = move |core: Core, told: Sender<Duration>| async move {
        let env = core.env;
        if let Way::GivesToOne = way {
            let other = env.clone();
            env.spawn().spawn(async move {
                loop {
                    other.spawn().give_way().await;
                }
            });
        }
        let begun = env.clock().monotonic();
        for _ in 0..rounds {
            match way {
                Way::Asks => env.spawn().yield_if_needed().await,
                Way::Gives | Way::GivesToOne => env.spawn().give_way().await,
            }
        }
        let took = env.clock().monotonic() - begun;
        told.send(took).expect("the bench listens");
    };
    let running = runtime::start(vec![told], main).expect("a core starts");
    let took = tells.recv().expect("it ends");
    running.join().expect("it ended well");
    took
}

fn looks(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("looks");
    for (name, way) in
        [("asks", Way::Asks), ("gives way", Way::Gives), ("gives way to one", Way::GivesToOne)]
    {
        group.bench_function(name, |bencher| {
            bencher.iter_custom(|rounds| timed(way, rounds));
        });
    }
    group.finish();
}

criterion_group!(benches, looks);
criterion_main!(benches);
