//! Arrows run down: a crate leans only on crates of lower floors, never on a neighbour.
//!
//! The floors are those of `docs/ARCHITECTURE.md`. Development dependencies are free.

use std::fs;
use std::path::Path;

/// Crate, folder, floor.
const FLOORS: &[(&str, &str, u8)] = &[
    ("base", "engine/base", 0),
    ("env", "engine/env", 1),
    ("json", "engine/json", 1),
    ("script", "engine/script", 1),
    ("automaton", "engine/automaton", 1),
    ("segment", "engine/segment", 2),
    ("mapping", "engine/mapping", 2),
    ("wal", "engine/wal", 2),
    ("http", "net/http", 2),
    ("runtime", "engine/runtime", 2),
    ("sim", "engine/sim", 2),
    ("search", "engine/search", 3),
    ("consensus", "engine/consensus", 3),
    ("shard", "engine/shard", 4),
    ("cluster", "engine/cluster", 4),
    ("authz", "authz", 4),
    ("engine", "engine", 5),
    ("net", "net", 6),
    ("bench", "bench", 7),
    ("corelode", "tools", 7),
    ("oracle", "tools/oracle", 7),
    ("simulate", "tools/simulate", 7),
];

/// Reads each crate's manifest and tells every arrow that does not run down.
pub fn check(root: &Path) -> Result<Vec<String>, String> {
    let mut problems = Vec::new();
    for &(name, folder, floor) in FLOORS {
        let path = root.join(folder).join("Cargo.toml");
        let manifest =
            fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        problems.extend(upward(name, floor, &manifest));
    }
    Ok(problems)
}

/// The arrows of one manifest that run sideways or up.
fn upward(name: &str, floor: u8, manifest: &str) -> Vec<String> {
    let mut problems = Vec::new();
    for dependency in dependencies(manifest) {
        let Some(&(_, _, below)) = FLOORS.iter().find(|(other, ..)| *other == dependency) else {
            continue;
        };
        if below >= floor {
            problems.push(format!(
                "{name} (floor {floor}) leans on {dependency} (floor {below}): arrows run down"
            ));
        }
    }
    problems
}

/// Names under `[dependencies]` and its target-specific forms.
fn dependencies(manifest: &str) -> Vec<&str> {
    let mut inside = false;
    let mut names = Vec::new();
    for line in manifest.lines() {
        let line = line.trim();
        if let Some(header) = line.strip_prefix('[') {
            inside = header == "dependencies]" || header.ends_with(".dependencies]");
        } else if inside && !line.starts_with('#') {
            let end = line.find(['=', '.', ' ']).unwrap_or(0);
            if end > 0 {
                names.push(&line[..end]);
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arrow_up_is_told() {
        let manifest = "[package]\nname = \"corelode-wal\"\n[dependencies]\nbase = { workspace = true }\nshard.workspace = true\n[dev-dependencies]\nengine = { workspace = true }\n";
        let problems = upward("wal", 2, manifest);
        assert_eq!(problems, ["wal (floor 2) leans on shard (floor 4): arrows run down"]);
    }

    #[test]
    fn a_neighbour_is_told() {
        assert_eq!(upward("shard", 4, "[dependencies]\ncluster = { workspace = true }").len(), 1);
        assert!(upward("shard", 4, "[dependencies]\nsearch = { workspace = true }").is_empty());
    }
}
