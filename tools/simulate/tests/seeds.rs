//! Some seeds of the simulation, as part of every test run. `SIM_SEEDS=from..to` runs others;
//! `cargo run --profile sim -p corelode-simulate` runs many more in the same time.

use std::time::{Duration, Instant};

use simulate::run::run;
use simulate::table::{keep_quiet, try_seed};

/// Seeds stop being begun after so long: a debug build on a busy machine is slow.
const LONG: Duration = Duration::from_secs(20);

#[test]
fn whole_nodes_keep_what_they_promised() {
    keep_quiet();
    let begun = Instant::now();
    let (mut acknowledged, mut count) = (0, 0);
    for seed in sim::seeds("SIM_SEEDS", 0..40) {
        match try_seed(seed, false) {
            Ok(outcome) => acknowledged += outcome.acknowledged,
            Err(finding) => {
                // This one is to be printed.
                drop(std::panic::take_hook());
                panic!("seed {seed}: {}", finding.what)
            }
        }
        count += 1;
        if begun.elapsed() > LONG && count >= 3 {
            break;
        }
    }
    assert!(acknowledged > 0, "{count} seeds came to something");
}

#[test]
fn the_same_seed_gives_the_same_trace() {
    for seed in [1, 2] {
        assert_eq!(run(seed, false), run(seed, false), "seed {seed}");
    }
}
