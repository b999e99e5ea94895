//! The user of the file realm (`node/users`) as whom a command asks the running node: a superuser who
//! lives as long as the command.
//!
//! Always true
//! 1. However the command ends by itself, or is asked to end (SIGTERM, SIGINT, SIGHUP), the user is
//!    removed first.
//! 2. A command that is killed leaves a line that says when it was born; two minutes later nobody comes
//!    in by it ([`file_realm::SHORT_LIFE`]), and the next command, and the node's next start, remove it.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

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

/// The user who is there now: whom the thread of the signals removes.
static PRESENT: Mutex<Option<Line>> = Mutex::new(None);

/// That thread is begun once.
static WATCH: Once = Once::new();

/// A user of the file realm who lives as long as this command.
pub struct FileUser {
    name: String,
    password: Secret,
    is_there: bool,
}

/// Where its line is.
struct Line {
    path: PathBuf,
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
        let line = Line { path: path(folder), name: name.clone() };
        let mut present = present();
        let mut lines = line.others()?;
        lines.push(file_realm::short_lived_line(&name, &[SUPERUSER], &hash, now()));
        write(&line.path, &lines)?;
        *present = Some(line);
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

impl Line {
    /// The file's lines but for this one, and for those that were left behind.
    fn others(&self) -> Result<Vec<String>> {
        let mut lines = lines(&self.path)?;
        lines.retain(|line| !line.starts_with(&format!("{}:", self.name)));
        Ok(lines)
    }
}

/// Where the file lies.
pub fn path(folder: &Folder) -> PathBuf {
    FileRealm::new(folder.node("users")).path().to_owned()
}

/// The file's lines, without users whom commands left behind.
pub fn lines(path: &Path) -> Result<Vec<String>> {
    let now = now();
    match std::fs::read_to_string(path) {
        Ok(text) => {
            let lines = text.lines().filter(|line| !file_realm::is_over(line, now));
            Ok(lines.map(str::to_owned).collect())
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(Failure::file("reading", path, &error)),
    }
}

/// Puts lines into the file.
pub fn write(path: &Path, lines: &[String]) -> Result<()> {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    save(path, text.as_bytes(), 0o600)
}

/// Removes from the file whom commands left behind.
pub fn sweep(folder: &Folder) -> Result<()> {
    let path = path(folder);
    let Ok(text) = std::fs::read_to_string(&path) else { return Ok(()) };
    let now = now();
    match text.lines().any(|line| file_realm::is_over(line, now)) {
        true => write(&path, &lines(&path)?),
        false => Ok(()),
    }
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
    write(&line.path, &line.others()?)
}

fn remove_or_tell(present: &mut Option<Line>) {
    let name = present.as_ref().map(|line| line.name.clone()).unwrap_or_default();
    if let Err(failure) = remove(present) {
        eprintln!("the user [{name}] is left behind for two minutes: {failure}");
    }
}

/// From now on signals that ask this process to end find the user removed first.
fn watch() -> Result<()> {
    let mut begun = Ok(());
    WATCH.call_once(|| {
        begun = StopSignals::block_for_command().and_then(|signals| {
            let thread = std::thread::Builder::new().name("signals".to_owned());
            thread.spawn(move || end_when_asked(signals)).map(drop)
        });
    });
    begun.map_err(|error| Failure::new(Code::Failed, format!("holding signals back: {error}")))
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
        std::fs::remove_dir_all(folder.path()).expect("removed");
    }
}
