//! Users of the operator's local file `node/users`: whoever may write there owns the node anyway.
//!
//! A line is `NAME:ROLE,ROLE:HASH`, the hash a PHC string; empty lines and lines that begin with
//! `#` say nothing. A user that a command makes for itself alone has ` born=MS` at the line's end, its
//! moment since 1970: such a line says nothing any more once it is [`SHORT_LIFE`] old, since a command
//! that is killed cannot remove it. The file is written by the program's commands, whole and by rename,
//! and read when a name is no reserved user's and its password is not remembered. A line that does not
//! read is skipped and logged by its number, so one typing error does not lock everybody out.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use env::{Clock, Disk, Env, ErrorKind, File};
use json::Object;

use crate::password::PasswordHash;
use crate::record::user::{Realm, User, is_name};

/// A longer file is not read.
const BYTES_MAX: u64 = 1 << 20;

/// So long a user that a command made for itself comes in. A command makes one for each question, and gives
/// the question up where connecting, or a step of sending it, takes half a minute. The node judges the
/// credential when the question comes, so that how long the answer takes does not matter.
pub const SHORT_LIFE: Duration = Duration::from_secs(120);

/// What tells a short-lived user's birth, after the hash.
const BORN: &str = " born=";

/// Where the file lies.
#[derive(Clone, Debug)]
pub struct FileRealm {
    path: PathBuf,
}

impl FileRealm {
    /// The realm of the file at `path`, which need not exist.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Where the file lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The user of this name, as the file says now. A file that cannot be read knows nobody.
    pub(crate) async fn user<E: Env>(&self, env: &E, name: &str) -> Option<Arc<User>> {
        match self.read(env).await {
            Ok(text) => parse(&text, env.clock().unix_ms())
                .into_iter()
                .find(|user| user.name == name)
                .map(Arc::new),
            Err(error) if error.kind == ErrorKind::NotFound => None,
            Err(error) => {
                log::warn!("the file of users: {error}");
                None
            }
        }
    }

    async fn read<E: Env>(&self, env: &E) -> env::Result<String> {
        let file = env.disk().open(&self.path).await?;
        let len = file.len().await?;
        let foreign =
            |what: &str| env::Error::new(ErrorKind::Io, format!("{}: {what}", self.path.display()));
        if len > BYTES_MAX {
            return Err(foreign("is longer than 1 MiB"));
        }
        let bytes = file.read_at(0, usize::try_from(len).expect("bounded above")).await?;
        String::from_utf8(bytes.to_vec()).map_err(|_| foreign("is not UTF-8"))
    }
}

/// The users of a file who come in at `now`, in milliseconds since 1970.
pub fn parse(text: &str, now: i64) -> Vec<User> {
    let mut users = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        match parse_line(line) {
            Some((user, born)) if comes_in(born, now) => users.push(user),
            Some(_) => {}
            None => log::warn!("the file of users: line {} does not read", number + 1),
        }
    }
    users
}

/// Is this the line of a user whose short life is over at `now`?
pub fn is_over(line: &str, now: i64) -> bool {
    parse_line(line).is_some_and(|(_, born)| !comes_in(born, now))
}

/// A clock that was set back must not make a life longer, so that a birth too far ahead ends it too.
fn comes_in(born: Option<i64>, now: i64) -> bool {
    born.is_none_or(|born| u128::from(now.abs_diff(born)) < SHORT_LIFE.as_millis())
}

/// A user, and when it was born where its life is short.
fn parse_line(line: &str) -> Option<(User, Option<i64>)> {
    // From the right: a name may hold a colon, roles and hash never do.
    let (rest, hash) = line.rsplit_once(':')?;
    let (name, roles) = rest.rsplit_once(':')?;
    let (hash, born) = match hash.split_once(BORN) {
        Some((hash, born)) => (hash, Some(born.trim().parse().ok()?)),
        None => (hash, None),
    };
    let password = PasswordHash::brought(hash.trim())?;
    if !is_name(name) {
        return None;
    }
    let roles = roles.split(',').map(str::trim).filter(|role| !role.is_empty());
    let user = User {
        name: name.to_owned(),
        password,
        roles: roles.map(str::to_owned).collect(),
        full_name: None,
        email: None,
        metadata: Object::new(),
        realm: Realm::File,
        enabled: true,
        uid: 0,
        password_version: 0,
    };
    Some((user, born))
}

/// The line of a user.
pub fn line(name: &str, roles: &[&str], password: &PasswordHash) -> String {
    format!("{name}:{}:{}", roles.join(","), password.as_str())
}

/// The line of a user who lives for [`SHORT_LIFE`] from `born`, in milliseconds since 1970.
pub fn short_lived_line(name: &str, roles: &[&str], password: &PasswordHash, born: i64) -> String {
    format!("{}{BORN}{born}", line(name, roles, password))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_as_it_was_written() {
        let hash = PasswordHash::nobody();
        let text = format!(
            "# who may come in\n\n{}\n{}\n",
            line("ann", &["superuser", "viewer"], &hash),
            line("a:b", &[], &hash)
        );
        let users = parse(&text, 0);
        assert_eq!(users.len(), 2);
        assert_eq!((users[0].name.as_str(), users[0].roles.len()), ("ann", 2));
        assert_eq!(users[0].realm, Realm::File);
        assert_eq!((users[1].name.as_str(), users[1].roles.len()), ("a:b", 0));
    }

    #[test]
    fn a_bad_line_does_not_hide_the_others() {
        let good = line("ann", &["superuser"], &PasswordHash::nobody());
        let text = format!("rubbish\nbob:superuser:plain\n:superuser:{good}\n{good}");
        let names: Vec<_> = parse(&text, 0).into_iter().map(|user| user.name).collect();
        assert_eq!(names.last().map(String::as_str), Some("ann"));
        assert!(!names.contains(&"bob".to_owned()));
    }

    #[test]
    fn a_short_life_ends_by_itself_and_takes_no_other_line_along() {
        let hash = PasswordHash::nobody();
        let born = 1_800_000_000_000;
        let short = short_lived_line("helper", &["superuser"], &hash, born);
        let text = format!("{short}\n{}", line("ann", &["viewer"], &hash));
        let life = i64::try_from(SHORT_LIFE.as_millis()).expect("small");
        for (now, count) in [
            (born, 2),
            (born + life - 1, 2),
            (born + life, 1),
            (born - life + 1, 2),
            (born - life, 1),
            (i64::MIN, 1),
            (i64::MAX, 1),
        ] {
            assert_eq!(parse(&text, now).len(), count, "{now}");
            assert_eq!(is_over(&short, now), count == 1, "{now}");
        }
        assert!(!is_over(&line("ann", &["viewer"], &hash), i64::MAX));
        assert!(!is_over("# ours", 0) && !is_over("", 0));
        let rubbish = format!("{} born=soon", line("helper", &["superuser"], &hash));
        assert!(parse(&rubbish, 0).is_empty(), "a birth that does not read lets nobody in");
    }
}
