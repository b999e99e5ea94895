//! The audit log's file, `logs/audit.json` in the data folder: a thread takes the lines and writes
//! them, mode 0600. It is opened with the first line. Rotation is the operator's: the file may be
//! moved away at any time, the next line makes another.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;

use authz::audit::Audit;

use crate::failure::{Code, Failure, Result};

/// Starts the thread that writes below `folder`.
pub fn start(folder: &Path) -> Result<Audit> {
    let (audit, lines) = Audit::new();
    let path = folder.join("audit.json");
    std::thread::Builder::new()
        .name("audit".into())
        .spawn(move || write(&path, &lines))
        .map_err(|error| Failure::new(Code::Machine, format!("starting a thread: {error}")))?;
    Ok(audit)
}

/// Writes until nobody notes anything any more.
fn write(path: &Path, lines: &Receiver<String>) {
    let mut open: Option<File> = None;
    while let Ok(first) = lines.recv() {
        let mut text = first + "\n";
        // What waits goes out in one write.
        for line in lines.try_iter().take(1000) {
            text.push_str(&line);
            text.push('\n');
        }
        if let Err(error) = append(path, &mut open, text.as_bytes()) {
            open = None;
            tracing::error!("the audit log takes no line: {error}");
        }
    }
}

fn append(path: &Path, open: &mut Option<File>, text: &[u8]) -> std::io::Result<()> {
    // A file that was moved away is no longer ours.
    let is_there = match (&open, fs::metadata(path)) {
        (Some(file), Ok(there)) => file.metadata()?.ino() == there.ino(),
        _ => false,
    };
    if !is_there {
        let folder = path.parent().map(PathBuf::from).unwrap_or_default();
        fs::create_dir_all(folder)?;
        *open = Some(OpenOptions::new().create(true).append(true).mode(0o600).open(path)?);
    }
    match open {
        Some(file) => file.write_all(text),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_moved_away_is_made_again() {
        let folder = std::env::temp_dir().join(format!("corelode-audit-{}", std::process::id()));
        let path = folder.join("audit.json");
        let mut open = None;
        append(&path, &mut open, b"one\n").expect("written");
        append(&path, &mut open, b"two\n").expect("written");
        assert_eq!(fs::read_to_string(&path).expect("there"), "one\ntwo\n");
        fs::rename(&path, folder.join("old")).expect("moved");
        append(&path, &mut open, b"three\n").expect("written");
        assert_eq!(fs::read_to_string(&path).expect("there"), "three\n");
        fs::remove_dir_all(folder).expect("removed");
    }
}
