//! Cases that once differed, each made small and named for what it was.

use std::path::Path;

use json::Value;
use oracle::find::run::{Counts, Difference};
use oracle::{find, rights};

fn all(folder: &str, run: impl Fn(&Value) -> Result<Counts, Difference>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(folder);
    let entries = std::fs::read_dir(&folder).expect("the folder is there");
    let mut count = 0;
    for entry in entries {
        let path = entry.expect("it can be listed").path();
        let text = std::fs::read(&path).expect("it can be read");
        let case = json::parse(&text).expect("it is JSON");
        if let Err(difference) = run(&case) {
            panic!("{}, step {}: {}", path.display(), difference.step, difference.what);
        }
        count += 1;
    }
    assert!(count > 0, "no case in {}", folder.display());
}

#[test]
fn what_was_found_wrongly_once_is_found() {
    all("find", find::run::run);
}

#[test]
fn what_was_shown_or_refused_wrongly_once_is_not() {
    all("rights", rights::run::run);
}
