//! `check`: reads every byte of a stopped node's store and verifies it. Nothing is changed.
//!
//! Each damage is a line with file, section and offset. Exit codes: 0 sound, 1 damaged, 2 could not
//! run (a node is using the folder, or there is none).
//!
//! Looked at: identity and keystore; snapshot and log of cluster and authz state; of each shard the
//! two slots of its manifest, every segment and file of living documents that it names, and its
//! log. Files that no manifest names are what an interrupted save left; they hold nothing. Indices that
//! the cluster state does not name are told where they hold documents, and so is what is not of the kind
//! that its name says: a link or a file in the place of a folder, a folder in that of a file.

#[cfg(test)]
mod rot;
mod store;

use std::fmt;
use std::io::Write;
use std::sync::mpsc;

use env::read_only;
use json::{Value, json};

use crate::command;
use crate::config::{data_folder, security};
use crate::failure::{Code, Failure, Result};
use crate::folder::{Folder, Part, read_sealed};

/// Something that is not as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Which file, relative to the data folder.
    pub file: String,
    /// Which part of it.
    pub section: Option<String>,
    /// Where in it.
    pub offset: Option<u64>,
    /// What was expected and what was found.
    pub what: String,
}

impl Damage {
    /// Of a whole file.
    pub fn file(file: impl Into<String>, what: impl fmt::Display) -> Self {
        Self { file: file.into(), section: None, offset: None, what: what.to_string() }
    }

    fn to_json(&self) -> Value {
        json!({
            "file": self.file.as_str(),
            "section": (self.section.clone()),
            "offset": self.offset,
            "what": self.what.as_str(),
        })
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(section) = &self.section {
            write!(f, ", {section}")?;
        }
        if let Some(offset) = self.offset {
            write!(f, ", offset {offset}")?;
        }
        write!(f, ": {}", self.what)
    }
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Shards looked at.
    pub shard_count: u64,
    /// Files read.
    pub file_count: u64,
    /// Bytes read.
    pub bytes: u64,
    /// What is damaged.
    pub damages: Vec<Damage>,
}

/// Runs the command.
pub fn run(options: &command::Check) -> Result<()> {
    let unable = |failure: Failure| Failure { code: Code::Usage, ..failure };
    let sources = options.sources().map_err(unable)?;
    let folder = Folder::at(&data_folder(&sources)).map_err(unable)?;
    // A node without security never made any.
    let lost = security(&sources).map_err(unable)? && folder.is_lost(Part::Authz).unwrap_or(true);
    let _lock = folder.lock_to_read().map_err(unable)?;
    let mut report = Report::default();
    tell_node(&folder, &mut report);
    tell_lost(&folder, &mut report);
    let (tell, told) = mpsc::channel();
    let seed = (folder.path().to_owned(), report, tell);
    let running = runtime::start(vec![seed], move |core, (folder, mut report, tell)| async move {
        store::check(&read_only(core.env), &folder, lost, &mut report).await;
        // The other side waits as long as the executor runs.
        tell.send(report).ok();
    })
    .map_err(|error| Failure::new(Code::Usage, error.message))?;
    let report = told.recv();
    running.join().map_err(|error| Failure::new(Code::Usage, error.message))?;
    let report = report.map_err(|_| Failure::new(Code::Usage, "the check ended early"))?;
    print(&report, options.json)
        .map_err(|error| Failure::new(Code::Usage, format!("standard output: {error}")))?;
    match report.damages.len() {
        0 => Ok(()),
        1 => Err(Failure::new(Code::Failed, "1 damage found")),
        count => Err(Failure::new(Code::Failed, format!("{count} damages found"))),
    }
}

/// Tells of who the node is and of its secret.
pub(crate) fn tell_node(folder: &Folder, report: &mut Report) {
    for name in ["identity", "keystore"] {
        report.file_count += 1;
        let file = format!("node/{name}");
        match read_sealed(&folder.node(name)) {
            // Each could stand in the other's place, sound as it is.
            Ok(Some(_)) if name == "keystore" => {
                if let Err(failure) = folder.pepper() {
                    report.damages.push(Damage::file(file, failure));
                }
            }
            Ok(Some(value)) if value.get("pepper").is_some() => {
                report.damages.push(Damage::file(file, "it names no node and cluster"));
            }
            Ok(Some(_)) => {}
            // It is made before anything else is.
            Ok(None) if !folder.holds_any() => {}
            Ok(None) => report.damages.push(Damage::file(file, "it is missing")),
            Err(failure) => report.damages.push(Damage::file(file, failure)),
        }
    }
}

/// Tells of parts that were there and are gone, where the walk cannot know of them.
fn tell_lost(folder: &Folder, report: &mut Report) {
    // What cannot be read was told.
    let is_lost = |part| folder.is_lost(part).unwrap_or(false);
    if !is_lost(Part::Cluster) {
        return;
    }
    let what =
        "it is missing, and with it which indices, aliases, templates and settings there are";
    report.damages.push(Damage::file(Part::Cluster.folder(), what));
    if is_lost(Part::Authz) {
        let what = "it is missing, and with it users, roles and keys";
        report.damages.push(Damage::file(Part::Authz.folder(), what));
    }
}

fn print(report: &Report, as_json: bool) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    if as_json {
        let damages: Vec<Value> = report.damages.iter().map(Damage::to_json).collect();
        let value = json!({
            "sound": (report.damages.is_empty()),
            "shards": report.shard_count,
            "files": report.file_count,
            "bytes": report.bytes,
            "damages": damages,
        });
        writeln!(out, "{}", json::to_string(&value))?;
    } else {
        for damage in &report.damages {
            writeln!(out, "{damage}")?;
        }
        let Report { shard_count, file_count, bytes, .. } = report;
        let verdict = if report.damages.is_empty() { "sound" } else { "damaged" };
        let counted = |count: u64, one: &str| match count {
            1 => format!("1 {one}"),
            _ => format!("{count} {one}s"),
        };
        let (shards, files) = (counted(*shard_count, "shard"), counted(*file_count, "file"));
        writeln!(out, "{verdict}: {shards}, {files}, {bytes} bytes read")?;
    }
    out.flush()
}
