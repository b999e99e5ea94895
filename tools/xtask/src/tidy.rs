//! What `docs/STYLE.md` asks of every file, checked as text.
//!
//! 1. A file opens with a `//!` head.
//! 2. A file that is no test and no flat table stays below 700 lines.
//! 3. Core crates ask `env`, not the system, for time, files, threads and the network.
//! 4. Nothing unfinished, nothing that names one machine's folders.
//! 5. What `docs/TESTING.md` and `docs/SECURITY.md` name as a test is there.

use std::fs;
use std::path::{Path, PathBuf};

const LINES_MAX: usize = 700;

/// Folders of crates that reach the outside only through `env`.
const CORE: &[&str] = &[
    "engine/base",
    "engine/env",
    "engine/json",
    "engine/automaton",
    "engine/wal",
    "engine/mapping",
    "engine/segment",
    "engine/search",
    "engine/consensus",
    "engine/shard",
    "engine/cluster",
    "engine/src",
    "authz",
    "net/http",
    "net/src",
];

/// Calls that such crates must not make.
const OUTSIDE: &[&str] = &[
    "std::fs",
    "TcpListener",
    "TcpStream",
    "UdpSocket",
    "ToSocketAddrs",
    "std::thread",
    "Instant::now",
    "SystemTime::now",
    "std::process",
    "std::env::var",
    "collections::HashMap",
    "collections::HashSet",
];

/// Pages that say which test shows what is promised.
const PROOFS: &[&str] = &["docs/TESTING.md", "docs/SECURITY.md"];

/// Tells each line that breaks a rule as `file:line: what`.
pub fn check(root: &Path) -> Result<Vec<String>, String> {
    let mut files = Vec::new();
    for folder in ["engine", "authz", "net", "bench", "fuzz", "tools"] {
        collect(&root.join(folder), &mut files)?;
    }
    files.sort();
    let (mut problems, mut sources) = (Vec::new(), Vec::new());
    for file in files {
        let text = read(&file)?;
        let name = file.strip_prefix(root).unwrap_or(&file).to_string_lossy().into_owned();
        if name.ends_with(".rs") {
            problems.extend(of_file(&name, &text));
        }
        sources.push(text);
    }
    for name in PROOFS {
        problems.extend(of_proofs(name, &read(&root.join(name))?, &sources));
    }
    Ok(problems)
}

fn read(file: &Path) -> Result<String, String> {
    fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for entry in entries {
        let path = entry.map_err(|error| error.to_string())?.path();
        if path.is_dir() {
            if !path.ends_with("target") && !path.ends_with("node_modules") {
                collect(&path, files)?;
            }
        } else if path.extension().is_some_and(|kind| kind == "rs" || kind == "py") {
            files.push(path);
        }
    }
    Ok(())
}

fn of_file(name: &str, text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let is_test =
        name.contains("/tests/") || name.ends_with("/tests.rs") || name.contains("_tests");
    let is_table = name.contains("/table") || name.contains("_table");
    let lines = text.lines().count();
    if !text.starts_with("//!") {
        problems.push(format!("{name}:1: no head: what is this file, what always holds"));
    }
    if lines > LINES_MAX && !is_test && !is_table {
        problems.push(format!("{name}: {lines} lines: does it still hold one thing?"));
    }
    let core = CORE.iter().any(|folder| name.starts_with(folder)) && !is_test;
    let checker = name.starts_with("tools/xtask/");
    for (at, line) in text.lines().enumerate() {
        // Inline tests stand last; what they do is their own affair.
        if line.trim_start().starts_with("#[cfg(test)]") || line.contains("cfg(all(test") {
            break;
        }
        let code = line.split("//").next().unwrap_or_default();
        if core && let Some(call) = OUTSIDE.iter().find(|call| code.contains(**call)) {
            problems.push(format!("{name}:{}: {call}: ask env instead", at + 1));
        }
        if !checker {
            for word in ["todo!(", "unimplemented!(", "#[ignore", "/home/", "/root/", "/work/"] {
                if line.contains(word) {
                    problems.push(format!("{name}:{}: {word}", at + 1));
                }
            }
        }
    }
    problems
}

/// Names of tests on such a page that no source knows: words of it in backticks, with at least three underscores.
fn of_proofs(page: &str, text: &str, sources: &[String]) -> Vec<String> {
    let mut problems = Vec::new();
    for (at, line) in text.lines().enumerate() {
        for name in line.split('`').skip(1).step_by(2) {
            let is_plain =
                |byte: u8| byte == b'_' || byte.is_ascii_lowercase() || byte.is_ascii_digit();
            let is_test = name.bytes().all(is_plain)
                && name.bytes().filter(|byte| *byte == b'_').count() >= 3;
            // Metrics are written without the name that they all begin with.
            let written = name.strip_prefix("corelode_").unwrap_or(name);
            if is_test && !sources.iter().any(|source| source.contains(written)) {
                problems.push(format!("{page}:{}: {name}: no such test", at + 1));
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_that_is_not_there_is_told() {
        let page = "It holds | `a_test_that_is_there`, `one_that_is_not_there`, `GET /_a_b_c_d` |";
        let sources = ["fn a_test_that_is_there() {}".to_owned()];
        let told = of_proofs("docs/TESTING.md", page, &sources);
        assert_eq!(told, ["docs/TESTING.md:1: one_that_is_not_there: no such test"]);
    }

    #[test]
    fn a_core_file_that_asks_the_system_is_told() {
        let text = "//! Head.\nuse std::fs;\n// std::fs in a comment is fine\n#[cfg(test)]\nuse std::fs;\n";
        let problems = of_file("engine/wal/src/file.rs", text);
        assert_eq!(problems, ["engine/wal/src/file.rs:2: std::fs: ask env instead"]);
        assert!(of_file("tools/src/serve.rs", text).is_empty());
    }

    #[test]
    fn a_missing_head_and_a_long_file_are_told() {
        let text = "fn a() {}\n".repeat(LINES_MAX + 1);
        assert_eq!(of_file("net/src/conn.rs", &text).len(), 2);
        assert_eq!(of_file("net/src/table.rs", &text).len(), 1, "flat tables may be long");
    }
}
