//! A short run of the questions that `oracle find` asks for as long as it is told to.

use oracle::ask;
use oracle::find::run::run;

/// The seeds of the short run: always the same, so that it says the same.
const SEEDS: std::ops::Range<u64> = 1..19;

#[test]
fn answers_are_those_of_a_plain_reading() {
    let mut checked = 0;
    for seed in SEEDS {
        match run(&ask::case(seed)) {
            Ok(counts) => checked += counts.checked,
            Err(difference) => panic!(
                "step {}: {}\nagain: cargo run -p corelode-oracle -- find --seed {seed} --shrink",
                difference.step, difference.what
            ),
        }
    }
    assert!(checked > 20, "only {checked} answers were looked at");
}
