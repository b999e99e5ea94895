//! The slow log's file, `logs/slow.json` in the data folder: a line of JSON for each search or write
//! that took too long. Beyond [`FILE_BYTES_MAX`] it becomes `slow.1.json`, and that one goes.
//!
//! It is opened with the first line, so a node that is never slow has no such file.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use env::lines::Lines;

use crate::folder::make_private;

/// From here on a new file begins.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// The file, opened when it is needed.
#[derive(Debug)]
pub struct SlowLog {
    folder: PathBuf,
    open: Mutex<Option<(File, u64)>>,
    bytes_max: u64,
}

impl SlowLog {
    /// In the folder of logs.
    pub fn new(folder: &Path) -> Self {
        Self::bounded(folder, FILE_BYTES_MAX)
    }

    fn bounded(folder: &Path, bytes_max: u64) -> Self {
        Self { folder: folder.to_owned(), open: Mutex::default(), bytes_max }
    }

    fn path(&self) -> PathBuf {
        self.folder.join("slow.json")
    }

    fn try_keep(&self, line: &str) -> std::io::Result<()> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.as_ref().is_some_and(|(_, bytes)| *bytes >= self.bytes_max) {
            *open = None;
            fs::rename(self.path(), self.folder.join("slow.1.json"))?;
        }
        if open.is_none() {
            make_private(&self.folder)?;
            let file =
                OpenOptions::new().create(true).append(true).mode(0o600).open(self.path())?;
            let bytes = file.metadata()?.len();
            *open = Some((file, bytes));
        }
        if let Some((file, bytes)) = open.as_mut() {
            let line = format!("{line}\n");
            file.write_all(line.as_bytes())?;
            *bytes += line.len() as u64;
        }
        Ok(())
    }
}

impl Lines for SlowLog {
    fn keep(&self, line: &str) {
        if let Err(error) = self.try_keep(line) {
            tracing::warn!("the slow log takes no line: {error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_full_file_is_kept_once() {
        let folder = std::env::temp_dir().join(format!("corelode-slow-{}", std::process::id()));
        let log = SlowLog::bounded(&folder, 4);
        for line in ["one", "two", "three"] {
            log.keep(line);
        }
        // Lines tell who asked for what: the folder is private, too.
        let mode = fs::metadata(&folder).expect("made").permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        let read = |name: &str| fs::read_to_string(folder.join(name)).expect("it is there");
        assert_eq!(
            (read("slow.json").as_str(), read("slow.1.json").as_str()),
            ("three\n", "two\n")
        );
        fs::remove_dir_all(&folder).expect("it is ours");
    }
}
