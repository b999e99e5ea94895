//! The file of users (`node/users`) as commands change it, and the user of it as whom a command asks the
//! running node: a superuser who lives as long as the command.
//!
//! Always true
//! 1. The file is changed by one command at a time, under the lock `node/users.lock`: from reading it to its
//!    new content nobody else changes it ([`edit`]). The lock is never held while a person is asked.
//! 2. However the command ends by itself, or is asked to end (SIGTERM, SIGINT, SIGHUP, SIGQUIT, a timer), the
//!    user is removed first.
//! 3. A command that is killed leaves a line that says when it was born; two minutes later nobody comes
//!    in by it ([`file_realm::SHORT_LIFE`]), and the next command, and the node's next start, remove it.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use authz::password::{self, PasswordHash};
use authz::record::role::SUPERUSER;
use authz::{FileRealm, Secret, file_realm};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use env::Random;
use runtime::RuntimeRandom;
use runtime::system::StopSignals;

use crate::failure::{Code, Failure, Result};
use crate::folder::{Folder, save};

/// So long another command's change of the file is waited for: each takes milliseconds.
const WAIT: Duration = Duration::from_secs(10);

/// The user who is there now: whom the thread of the signals removes.
static PRESENT: Mutex<Option<Line>> = Mutex::new(None);

/// Whether that thread was begun, and else why not: it is tried once.
static WATCH: OnceLock<std::result::Result<(), String>> = OnceLock::new();

/// A user of the file realm who lives as long as this command.
pub struct FileUser {
    name: String,
    password: Secret,
    is_there: bool,
}

/// Where its line is.
struct Line {
    folder: Folder,
    name: String,
}

impl FileUser {
    /// Adds one, with every right.
    ///
    /// # Errors
    /// Where the file cannot be read or written, or signals cannot be held back.
    pub fn add(folder: &Folder, random: &RuntimeRandom) -> Result<Self> {
        watch()?;
        let password = password::generate(random);
        let name = format!("reset-{:016x}", random.next_u64());
        let hash = PasswordHash::make(&password, password::salt(random));
        let mut present = present();
        edit(folder, |lines| {
            lines.push(file_realm::short_lived_line(&name, &[SUPERUSER], &hash, now()));
            Ok(())
        })?;
        *present = Some(Line { folder: folder.clone(), name: name.clone() });
        Ok(Self { name, password, is_there: true })
    }

    /// The header by which it comes in.
    pub fn authorization(&self) -> String {
        format!("Basic {}", BASE64.encode(format!("{}:{}", self.name, self.password.reveal())))
    }

    /// Removes the user; also tried when dropped.
    ///
    /// # Errors
    /// Where the file cannot be read or written.
    pub fn remove(mut self) -> Result<()> {
        self.is_there = false;
        remove(&mut present())
    }
}

impl Drop for FileUser {
    fn drop(&mut self) {
        if self.is_there {
            remove_or_tell(&mut present());
        }
    }
}

/// Where the file lies.
pub fn path(folder: &Folder) -> PathBuf {
    FileRealm::new(folder.node("users")).path().to_owned()
}

/// Changes the file's lines, and nobody else at the same time; users whom commands left behind go along.
/// Where the change fails the file stays as it is.
///
/// # Errors
/// Those of the change; where another command does not let go of the file; where it cannot be read or written.
pub fn edit<T>(folder: &Folder, change: impl FnOnce(&mut Vec<String>) -> Result<T>) -> Result<T> {
    let path = path(folder);
    let lock = folder.lock_file("users", WAIT)?;
    let before = read(&path)?;
    let mut lines = before.clone();
    drop_left_behind(&mut lines);
    let done = change(&mut lines)?;
    if lines != before {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        save(&path, text.as_bytes(), 0o600)?;
    }
    drop(lock);
    Ok(done)
}

/// The file's lines now, without users whom commands left behind.
///
/// # Errors
/// Where the file cannot be read.
pub fn lines(folder: &Folder) -> Result<Vec<String>> {
    let mut lines = read(&path(folder))?;
    drop_left_behind(&mut lines);
    Ok(lines)
}

/// Removes from the file whom commands left behind.
///
/// # Errors
/// Where the file cannot be read or written.
pub fn sweep(folder: &Folder) -> Result<()> {
    let now = now();
    match read(&path(folder))?.iter().any(|line| file_realm::is_over(line, now)) {
        true => edit(folder, |_| Ok(())),
        false => Ok(()),
    }
}

fn read(path: &Path) -> Result<Vec<String>> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(text.lines().map(str::to_owned).collect()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(Failure::file("reading", path, &error)),
    }
}

fn drop_left_behind(lines: &mut Vec<String>) {
    let now = now();
    lines.retain(|line| !file_realm::is_over(line, now));
}

/// The moment, in milliseconds since 1970.
pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

fn present() -> MutexGuard<'static, Option<Line>> {
    // Whoever panicked with it left a name that is still to be removed.
    PRESENT.lock().unwrap_or_else(PoisonError::into_inner)
}

fn remove(present: &mut Option<Line>) -> Result<()> {
    let Some(line) = present.take() else { return Ok(()) };
    let own = format!("{}:", line.name);
    edit(&line.folder, |lines| {
        lines.retain(|line| !line.starts_with(&own));
        Ok(())
    })
}

fn remove_or_tell(present: &mut Option<Line>) {
    let name = present.as_ref().map(|line| line.name.clone()).unwrap_or_default();
    if let Err(failure) = remove(present) {
        eprintln!("the user [{name}] is left behind for two minutes: {failure}");
    }
}

/// From now on signals that ask this process to end find the user removed first. Where that cannot be, no
/// later user is added either.
fn watch() -> Result<()> {
    let begun = WATCH.get_or_init(|| {
        let begun = StopSignals::block_for_command().and_then(|signals| {
            let thread = std::thread::Builder::new().name("signals".to_owned());
            thread.spawn(move || end_when_asked(signals)).map(drop)
        });
        begun.map_err(|error| format!("holding signals back: {error}"))
    });
    begun.clone().map_err(|why| Failure::new(Code::Failed, why))
}

fn end_when_asked(signals: StopSignals) {
    if let Ok(signal) = signals.wait() {
        // Held to the end: nobody is added meanwhile.
        let mut present = present();
        remove_or_tell(&mut present);
        std::process::exit(128 + signal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One story, since a process has one such user at a time.
    #[test]
    fn the_user_comes_and_goes_and_leaves_the_others() {
        let path = std::env::temp_dir().join(format!("corelode-helper-{}", std::process::id()));
        let folder = Folder::make(&path).expect("made");
        let users = folder.node("users");
        let ann = file_realm::line("ann", &["superuser"], &PasswordHash::nobody());
        let ours = format!("# ours\n{ann}\n");
        let read = || std::fs::read_to_string(&users).expect("there");
        std::fs::write(&users, &ours).expect("written");
        let random = RuntimeRandom::new();
        let helper = FileUser::add(&folder, &random).expect("added");
        let known = file_realm::parse(&read(), now());
        let found = known.iter().find(|user| user.name == helper.name).expect("added");
        assert!(found.password.verify(&helper.password));
        assert_eq!(known.len(), 2);
        assert_eq!(file_realm::parse(&read(), now() + 121_000).len(), 1, "it ends by itself");
        helper.remove().expect("removed");
        assert_eq!(read(), ours);
        drop(FileUser::add(&folder, &random).expect("added"));
        assert_eq!(read(), ours);

        // One who was left behind goes with the next, and by a sweep.
        let left = |born: i64| {
            let hash = PasswordHash::nobody();
            let line = file_realm::short_lived_line("reset-1", &[SUPERUSER], &hash, born);
            std::fs::write(&users, format!("{ours}{line}\n")).expect("written");
        };
        left(1);
        drop(FileUser::add(&folder, &random).expect("added"));
        assert_eq!(read(), ours);
        left(1);
        sweep(&folder).expect("swept");
        assert_eq!(read(), ours);
        left(now());
        sweep(&folder).expect("swept");
        assert_ne!(read(), ours, "another command may be at work");
        // What cannot be read is told, and not taken for a file without users.
        std::fs::write(&users, [0xff, b'\n']).expect("written");
        assert!(sweep(&folder).is_err_and(|failure| failure.sentence.contains("users")));
        std::fs::remove_dir_all(folder.path()).expect("removed");
    }

    /// Each command read the file, and wrote it back as it had read it: of two at a time one was undone.
    #[test]
    fn changes_at_the_same_time_lose_nothing() {
        let path = std::env::temp_dir().join(format!("corelode-at-once-{}", std::process::id()));
        let folder = Folder::make(&path).expect("made");
        let (commands, changes) = (4, 10);
        std::thread::scope(|scope| {
            for command in 0..commands {
                let folder = &folder;
                scope.spawn(move || {
                    for change in 0..changes {
                        let line = format!("# {command} {change}");
                        let add = |lines: &mut Vec<String>| {
                            lines.push(line);
                            Ok(())
                        };
                        edit(folder, add).expect("changed");
                    }
                });
            }
        });
        let mut lines = lines(&folder).expect("there");
        lines.sort_unstable();
        lines.dedup();
        assert_eq!(lines.len(), commands * changes);
        // A change that fails changes nothing.
        let failed = edit(&folder, |lines| -> Result<()> {
            lines.clear();
            Err(Failure::new(Code::Failed, "no"))
        });
        assert!(failed.is_err());
        assert_eq!(super::lines(&folder).expect("there").len(), commands * changes);
        std::fs::remove_dir_all(folder.path()).expect("removed");
    }
}
