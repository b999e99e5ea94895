//! The audit log's file, `logs/audit.json` in the data folder: a thread takes the lines and writes
//! them, mode 0600. It is opened with the first line. Rotation is the operator's: the file may be
//! moved away at any time, the next line makes another. Lines that the file does not take wait, up to
//! [`WAITING_BYTES_MAX`], and are tried again with the next one; the first line behind those that were lost
//! says how many they were. A strict log is synced after each write: what is done after its line is done by a machine
//! that has kept the line.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;
use std::time::{SystemTime, UNIX_EPOCH};

use authz::audit::{self, Audit, Item, Losses};

use crate::failure::{Code, Failure, Result};
use crate::folder::make_private;

/// Lines that wait for a file that takes none.
const WAITING_BYTES_MAX: usize = 4 << 20;

/// Starts the thread that writes below `folder`; `strict`: what cannot be written is not done.
pub fn start(folder: &Path, strict: bool) -> Result<Audit> {
    let (audit, lines) = Audit::new(strict);
    let losses = audit.losses();
    let path = folder.join("audit.json");
    std::thread::Builder::new()
        .name("audit".into())
        .spawn(move || write(&path, &lines, &losses, strict))
        .map_err(|error| Failure::new(Code::Machine, format!("starting a thread: {error}")))?;
    Ok(audit)
}

/// Writes until nobody notes anything any more.
fn write(path: &Path, lines: &Receiver<Item>, losses: &Losses, strict: bool) {
    let mut open: Option<File> = None;
    let mut text = String::new();
    let mut was_refused = false;
    let mut lost = 0u64;
    let lose = |lost: &mut u64| {
        *lost += 1;
        losses.add(1);
    };
    while let Ok(first) = lines.recv() {
        let (mut asked, mut begin, mut fleeting) = (Vec::new(), Vec::new(), Vec::new());
        // What waits goes out in one write.
        for item in std::iter::once(first).chain(lines.try_iter().take(1000)) {
            match item {
                Item::Line(line) if text.len() + line.len() < WAITING_BYTES_MAX => {
                    text.push_str(&line);
                    text.push('\n');
                }
                Item::Line(_) => lose(&mut lost),
                Item::Ask(reply) => asked.push(reply),
                Item::Begin { line, waits, reply } => {
                    if text.len() + line.len() >= WAITING_BYTES_MAX {
                        // Nothing begins whose line has no place.
                        if waits {
                            lose(&mut lost);
                        }
                        reply.send(false);
                        continue;
                    }
                    let from = text.len();
                    text.push_str(&line);
                    text.push('\n');
                    begin.push(reply);
                    if !waits {
                        fleeting.push(from..text.len());
                    }
                }
            }
        }
        let written = match text.is_empty() {
            true => Ok(()),
            false => append(path, &mut open, text.as_bytes(), strict),
        };
        let was_taken = written.is_ok();
        // Who asks may ask for a line that is lost, whatever is written of the others.
        let is_written = was_taken && lost == 0;
        match written {
            Ok(()) => {
                text.clear();
                if lost > 0 {
                    // It waits as any other line, and is there before the next one.
                    text.push_str(&audit::lost_line(now_ms(), std::mem::take(&mut lost)));
                    text.push('\n');
                    if append(path, &mut open, text.as_bytes(), strict).is_ok() {
                        text.clear();
                    }
                }
            }
            Err(error) => {
                open = None;
                for line in fleeting.into_iter().rev() {
                    text.replace_range(line, "");
                }
                if !was_refused {
                    tracing::error!("the audit log takes no line: {error}");
                }
            }
        }
        was_refused = !was_taken;
        for reply in asked {
            reply.send(is_written);
        }
        for reply in begin {
            reply.send(was_taken);
        }
    }
}

/// Milliseconds since 1970.
fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Appends to the file, which is made where it is not there; `strict`: it is on the disk then.
fn append(path: &Path, open: &mut Option<File>, text: &[u8], strict: bool) -> std::io::Result<()> {
    // A file that was moved away is no longer ours.
    let is_there = match (&open, fs::metadata(path)) {
        (Some(file), Ok(there)) => file.metadata()?.ino() == there.ino(),
        _ => false,
    };
    if !is_there {
        let folder = path.parent().map(PathBuf::from).unwrap_or_default();
        make_private(&folder)?;
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
        if strict {
            // Its name, too, and its folder's.
            for folder in folder.ancestors().take(2).filter(|it| !it.as_os_str().is_empty()) {
                File::open(folder)?.sync_all()?;
            }
        }
        *open = Some(file);
    }
    let Some(file) = open else { return Ok(()) };
    let before = file.metadata()?.len();
    let written =
        file.write_all(text).and_then(|()| if strict { file.sync_data() } else { Ok(()) });
    written.inspect_err(|_| {
        // All of it is tried again: no half line stays in between.
        file.set_len(before).ok();
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::sync::mpsc::SyncSender;

    use super::*;

    #[test]
    fn lines_wait_for_a_file_that_takes_none() {
        let folder =
            std::env::temp_dir().join(format!("corelode-audit-waits-{}", std::process::id()));
        // A file stands where the folder would be.
        fs::write(&folder, "").expect("written");
        let audit = start(&folder, true).expect("started");
        audit.note(1, "one", "ok", &[]);
        assert!(!futures_lite::future::block_on(audit.is_written()));
        fs::remove_file(&folder).expect("removed");
        audit.note(2, "two", "ok", &[]);
        assert!(futures_lite::future::block_on(audit.is_written()));
        let text = fs::read_to_string(folder.join("audit.json")).expect("there");
        let events: Vec<&str> = text.lines().collect();
        assert!(events[0].contains("\"one\"") && events[1].contains("\"two\""), "{text}");
        fs::remove_dir_all(folder).expect("removed");
    }

    /// Once they were dropped without a word.
    #[test]
    fn lines_that_are_lost_are_counted() {
        let folder =
            std::env::temp_dir().join(format!("corelode-audit-lost-{}", std::process::id()));
        fs::write(&folder, "").expect("written");
        let audit = start(&folder, true).expect("started");
        let value = "x".repeat(1000);
        let facts: Vec<(String, &str)> =
            (0..100).map(|at| (format!("f{at}"), value.as_str())).collect();
        let facts: Vec<(&str, &str)> =
            facts.iter().map(|(name, it)| (name.as_str(), *it)).collect();
        // A hundred thousand characters each.
        (0..50).for_each(|at| audit.note(at, "wide", "ok", &facts));
        assert!(!futures_lite::future::block_on(audit.is_written()));
        fs::remove_file(&folder).expect("removed");
        audit.note(99, "last", "ok", &[]);
        // Whoever asks with the first line that is taken may have lost one.
        futures_lite::future::block_on(audit.is_written());
        assert!(futures_lite::future::block_on(audit.is_written()));
        let text = fs::read_to_string(folder.join("audit.json")).expect("there");
        let count = |event: &str| text.lines().filter(|line| line.contains(event)).count();
        let told = text.lines().find(|line| line.contains("audit_lines_lost")).expect("told");
        let lost = 50 - count("\"wide\"");
        assert!(lost > 0 && told.contains(&format!("\"count\":\"{lost}\"")), "{told}");
        assert_eq!((count("\"last\""), count("audit_lines_lost")), (1, 1));
        fs::remove_dir_all(folder).expect("removed");
    }

    /// A line that had no place among those that waited was taken for written once the file took the others: its
    /// change was made. It is answered by itself.
    #[test]
    fn nothing_begins_whose_line_is_lost() {
        let folder =
            std::env::temp_dir().join(format!("corelode-audit-begins-{}", std::process::id()));
        let path = folder.join("audit.json");
        let (lines, items) = std::sync::mpsc::sync_channel(100);
        let line = |size: usize| Item::Line("x".repeat(size));
        let begin = |lines: &SyncSender<Item>, waits: bool| {
            let (reply, answer) = env::reply::channel();
            let line = format!("begun, waits: {waits}");
            lines.send(Item::Begin { line, waits, reply }).expect("sent");
            answer
        };
        let ask = |lines: &SyncSender<Item>| {
            let (reply, answer) = env::reply::channel();
            lines.send(Item::Ask(reply)).expect("sent");
            answer
        };
        let heard = |answer| futures_lite::future::block_on(answer);
        let losses = Losses::default();
        std::thread::scope(|scope| {
            let (items, losses, path) = (items, losses.clone(), path.clone());
            // A file stands where the folder would be.
            fs::write(&folder, "").expect("written");
            scope.spawn(move || write(&path, &items, &losses, true));
            let small = [begin(&lines, true), begin(&lines, false)].map(heard);
            assert_eq!(small, [Some(false), Some(false)]);
            let kept = "begun, waits: true\n".len();
            lines.send(line(WAITING_BYTES_MAX - kept - 2)).expect("sent");
            assert_eq!(heard(ask(&lines)), Some(false));
            fs::remove_file(&folder).expect("removed");
            // There is no place, though the file takes what waits.
            let (no_place, written) = (begin(&lines, true), ask(&lines));
            assert_eq!(heard(no_place), Some(false));
            heard(written);
            assert_eq!(
                [begin(&lines, true), begin(&lines, false)].map(heard),
                [Some(true), Some(true)]
            );
            drop(lines);
        });
        let text = fs::read_to_string(&path).expect("there");
        let count = |wanted: &str| text.lines().filter(|line| line.starts_with(wanted)).count();
        assert_eq!((count("begun, waits: true"), count("begun, waits: false")), (2, 1));
        assert_eq!(text.lines().filter(|line| line.contains("audit_lines_lost")).count(), 1);
        fs::remove_dir_all(folder).expect("removed");
    }

    #[test]
    fn a_file_that_was_moved_away_is_made_again() {
        let folder = std::env::temp_dir().join(format!("corelode-audit-{}", std::process::id()));
        let path = folder.join("audit.json");
        let mut open = None;
        append(&path, &mut open, b"one\n", true).expect("written");
        append(&path, &mut open, b"two\n", false).expect("written");
        assert_eq!(fs::read_to_string(&path).expect("there"), "one\ntwo\n");
        // Lines tell who asked for what: the folder is private, too.
        let mode = fs::metadata(&folder).expect("made").permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        fs::rename(&path, folder.join("old")).expect("moved");
        append(&path, &mut open, b"three\n", true).expect("written");
        assert_eq!(fs::read_to_string(&path).expect("there"), "three\n");
        fs::remove_dir_all(folder).expect("removed");
    }
}
