//! Tells the program which commit it was built from; works without git and outside of a checkout.

use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let git = folder(Path::new("..")).or_else(|| folder(Path::new(".")));
    let commit = git.as_deref().and_then(commit).unwrap_or_else(|| "unknown".to_owned());
    println!("cargo:rustc-env=CORELODE_COMMIT={commit}");
    let seconds = git.as_deref().and_then(|git| seconds(git, &commit)).unwrap_or(0);
    println!("cargo:rustc-env=CORELODE_COMMIT_SECONDS={seconds}");
}

/// The git folder of a checkout; a worktree names it in a file.
fn folder(checkout: &Path) -> Option<PathBuf> {
    let git = checkout.join(".git");
    if git.is_dir() {
        return Some(git);
    }
    let text = fs::read_to_string(git).ok()?;
    Some(checkout.join(text.strip_prefix("gitdir:")?.trim()))
}

/// The commit that is checked out.
fn commit(git: &Path) -> Option<String> {
    let head_file = git.join("HEAD");
    watch(&head_file);
    // Grows with each commit that is made or checked out, wherever git keeps the branch then.
    watch(&git.join("logs/HEAD"));
    let head = fs::read_to_string(head_file).ok()?;
    let head = head.trim();
    let Some(name) = head.strip_prefix("ref:").map(str::trim) else { return hash(head) };
    // A worktree keeps its branches in the folder that it shares with the others.
    let common = match fs::read_to_string(git.join("commondir")) {
        Ok(path) => git.join(path.trim()),
        Err(_) => git.to_owned(),
    };
    // Of a branch that is packed its own file is missing, and comes with the next commit.
    watch(&common.join("refs/heads"));
    let packed = common.join("packed-refs");
    watch(&packed);
    if let Ok(text) = fs::read_to_string(common.join(name)) {
        return hash(text.trim());
    }
    let packed = fs::read_to_string(packed).ok()?;
    let line = packed.lines().find(|line| line.ends_with(&format!(" {name}")))?;
    hash(line.split(' ').next()?)
}

/// This runs again where the file changes, or a file of the folder. A missing one would have it run every time.
fn watch(path: &Path) {
    if path.exists() {
        println!("cargo:rerun-if-changed={}", path.display());
    }
}

/// When `commit` was checked out or made, since 1970: the log of HEAD tells without git's help.
fn seconds(git: &Path, commit: &str) -> Option<u64> {
    let log = fs::read_to_string(git.join("logs/HEAD")).ok()?;
    // `OLD NEW Name <mail> SECONDS ZONE<tab>what`
    let line = log.lines().find(|line| line.split(' ').nth(1) == Some(commit))?;
    line.split('\t').next()?.rsplit(' ').nth(1)?.parse().ok()
}

fn hash(text: &str) -> Option<String> {
    let is_hash = text.len() >= 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then(|| text.to_owned())
}
