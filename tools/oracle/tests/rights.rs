//! A short run of the questions that `oracle rights` asks for as long as it is told to.

use oracle::rights::ask::case;
use oracle::rights::run::run;

/// The seeds of the short run: always the same, so that it says the same.
const SEEDS: std::ops::Range<u64> = 1..13;

#[test]
fn nobody_sees_or_does_more_or_less_than_it_may() {
    let mut checked = 0;
    for seed in SEEDS {
        match run(&case(seed)) {
            Ok(counts) => checked += counts.checked,
            Err(difference) => panic!(
                "step {}: {}\nagain: cargo run -p corelode-oracle -- rights --seed {seed} --shrink",
                difference.step, difference.what
            ),
        }
    }
    assert!(checked > 20, "only {checked} answers were looked at");
}
