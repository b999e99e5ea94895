//! The data folder: who uses it, who this node is, where things lie.
//!
//! ```text
//! certs/       certificates and keys, keys 0600
//! node/        lock, identity, keystore, users, users.lock, ready, suspect
//! cluster/     authz/       replicated state: log and snapshot
//! indices/     UUID/SHARD/  manifest, log files, segments
//! ```
//!
//! Always true
//! 1. Folders made here have mode 0700, files 0600 unless they are public.
//! 2. A file is written whole: another name, synced, renamed, its folder synced.
//! 3. While a [`Folder`] is locked, no other process serves from it, also where somebody removes the file
//!    that says which one does.
//! 4. What belongs together is not made anew where a part of it is lost: who the node is beside anything it held, a
//!    keystore beside users and keys, users and keys or the cluster state beside the node that had some. A folder that
//!    was emptied is lost as one that is gone; that it is to begin anew is said by a file in it ([`ANEW`]).

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use base::checksum::checksum;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use env::Random;
use json::{Value, json};

use crate::failure::{Code, Failure, Result};

/// The form of identity and keystore that this program writes and reads.
const FORMAT: u64 = 1;

/// The file by which an operator says that a part of the folder is to begin anew. It goes once that is done.
const ANEW: &str = "anew";

/// So often whoever waits for a file looks again.
const LOOK: Duration = Duration::from_millis(10);

/// Bytes of the key under which secrets are hashed.
const PEPPER_BYTES: usize = 32;

/// A data folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    path: PathBuf,
}

/// Who this node is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Id of the node, 22 characters, for good.
    pub node: String,
    /// Id of the cluster that this node founded, 22 characters, for good.
    pub cluster: String,
    /// Id of this start, 22 characters.
    pub start: String,
}

/// Keeps the folder; the lock goes with the process, however it ends.
#[derive(Debug)]
pub struct Lock {
    #[expect(dead_code, reason = "held, never read")]
    file: Option<File>,
    /// The folder itself: its file may be removed, or made anew, by anybody who tidies up.
    #[expect(dead_code, reason = "held, never read")]
    folder: Option<File>,
}

/// A file system that takes no lock file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lack {
    Refused,
    Borne,
}

impl Folder {
    /// The folder at `path`; made where it is missing.
    pub fn make(path: &Path) -> Result<Self> {
        // Whoever names it can name another: the setting is wrong, not the node.
        let failed = |error: std::io::Error| {
            Failure::new(
                Code::Setting,
                format!(
                    "path.data (--data) is [{}], but must be a folder that can be made and written: \
                     {error}",
                    path.display()
                ),
            )
        };
        if path.as_os_str().is_empty() {
            return Err(failed(std::io::Error::other("it has no name")));
        }
        for folder in [path.to_owned(), path.join("node"), path.join("certs")] {
            make_private(&folder).map_err(failed)?;
        }
        Self::at(path)
    }

    /// The folder at `path`, which must exist.
    pub fn at(path: &Path) -> Result<Self> {
        let failed = |error: std::io::Error| Failure::file("data folder", path, &error);
        Ok(Self { path: path.canonicalize().map_err(failed)? })
    }

    /// The folder itself, absolute.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A file of `node/`.
    pub fn node(&self, name: &str) -> PathBuf {
        self.path.join("node").join(name)
    }

    /// A file of `certs/`.
    pub fn certs(&self, name: &str) -> PathBuf {
        self.path.join("certs").join(name)
    }

    /// Keeps every other process out, or says which one is in.
    pub fn lock(&self) -> Result<Lock> {
        self.lock_for(Lack::Refused)
    }

    /// As [`Folder::lock`], for who only reads: also where nothing can be written, as on a disk that was
    /// mounted so to save what is on it.
    pub fn lock_to_read(&self) -> Result<Lock> {
        self.lock_for(Lack::Borne)
    }

    fn lock_for(&self, unwritable: Lack) -> Result<Lock> {
        let path = self.node("lock");
        if !self.path.join("node").is_dir() && self.holds_any() {
            return Err(Failure::new(
                Code::Folder,
                format!(
                    "{} is missing, and with it who this node is (identity) and its secret (keystore); bring it \
                     back from a copy of the data folder",
                    self.path.join("node").display()
                ),
            ));
        }
        let failed = |error: &std::io::Error| match error.kind() {
            ErrorKind::StorageFull => Failure::new(
                Code::Log,
                format!(
                    "locking {}: {error}; make room on the disk, and start again",
                    path.display()
                ),
            ),
            _ => Failure::file("locking", &path, error),
        };
        let mut file = match (open_lock(&path), unwritable) {
            (Ok(file), _) => Some(file),
            (Err(error), Lack::Borne) if error.kind() == ErrorKind::ReadOnlyFilesystem => None,
            (Err(error), _) => return Err(failed(&error)),
        };
        let folder = File::open(&self.path).map_err(|error| failed(&error))?;
        let taken = match file.as_ref().map_or(Ok(()), File::try_lock) {
            // A file system without locks of folders has those of files at least.
            Ok(()) => match folder.try_lock() {
                Ok(()) => Ok(Some(folder)),
                Err(TryLockError::Error(_)) => Ok(None),
                Err(taken) => Err(taken),
            },
            Err(taken) => Err(taken),
        };
        let folder = match taken {
            Ok(folder) => folder,
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                let read = file.as_mut().map(|file| file.read_to_string(&mut holder));
                let by = match read {
                    Some(Ok(_)) if !holder.trim().is_empty() => format!(" {}", holder.trim()),
                    _ => String::new(),
                };
                return Err(Failure::new(
                    Code::Folder,
                    format!(
                        "the data folder {} is in use by process{by}; stop it, or choose another \
                         folder with --data",
                        self.path.display()
                    ),
                ));
            }
            Err(TryLockError::Error(error)) => return Err(failed(&error)),
        };
        if let Some(file) = &mut file {
            let written = file.set_len(0).and_then(|()| write!(file, "{}", std::process::id()));
            written.map_err(|error| failed(&error))?;
        }
        Ok(Lock { file, folder })
    }

    /// Keeps every other command from a file of `node/`, by a lock beside it. One that is at it is waited
    /// for, but not for longer than `wait`.
    pub fn lock_file(&self, name: &str, wait: Duration) -> Result<Lock> {
        let path = self.node(&format!("{name}.lock"));
        let failed = |error: std::io::Error| Failure::file("locking", &path, &error);
        let file = open_lock(&path).map_err(failed)?;
        let begun = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Lock { file: Some(file), folder: None }),
                Err(TryLockError::WouldBlock) if begun.elapsed() < wait => std::thread::sleep(LOOK),
                Err(TryLockError::WouldBlock) => {
                    let sentence = format!(
                        "another command is changing {}; try again when it is through",
                        self.node(name).display()
                    );
                    return Err(Failure::new(Code::Failed, sentence));
                }
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
        }
    }

    /// Removes the empty files by which killed starts judged the disk ([`runtime::PROBE`]); others stay.
    ///
    /// # Errors
    /// A folder that cannot be read, or a file that cannot be removed.
    pub fn sweep_probes(&self) -> Result<()> {
        for path in ["node", "authz", "cluster"].map(|name| self.path.join(name)) {
            let failed = |error: std::io::Error| Failure::file("sweeping", &path, &error);
            let entries = match std::fs::read_dir(&path) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                entries => entries.map_err(failed)?,
            };
            for entry in entries {
                let entry = entry.map_err(failed)?;
                let name = entry.file_name();
                let digits = name
                    .to_str()
                    .and_then(|name| name.strip_prefix(runtime::PROBE)?.strip_suffix(".tmp"));
                let is_probe = digits.is_some_and(|digits| u64::from_str_radix(digits, 16).is_ok());
                let is_empty = |it: std::fs::Metadata| it.is_file() && it.len() == 0;
                if is_probe && entry.metadata().is_ok_and(is_empty) {
                    std::fs::remove_file(entry.path()).map_err(failed)?;
                }
            }
        }
        Ok(())
    }

    /// Who this node is; drawn at the first start.
    ///
    /// # Errors
    /// Where it is gone, and what the node held is not: clients and dashboards know both by these names.
    pub fn identity(&self, random: &impl Random) -> Result<Identity> {
        let path = self.node("identity");
        let draw = || {
            let mut bytes = [0; 16];
            random.fill(&mut bytes);
            BASE64.encode(bytes)
        };
        let known = read_sealed(&path)?;
        if known.is_none() && self.holds_any() {
            if !self.node("keystore").exists() {
                return Err(lost(
                    &self.path.join("node"),
                    "or what was in it, and with it the ids by which others know this node and its cluster, and the \
                     secret by which tokens are told",
                    r#"write {"format":1} into node/identity: new ids are drawn then. Move the folder authz away, too, and make one in its place with nothing but an empty file `anew` in it: `elastic` gets a new password, and users, roles, API keys and clients are to be made again"#,
                ));
            }
            return Err(lost(
                &path,
                "and with it the ids by which others know this node and its cluster",
                r#"write {"format":1} into it: new ids are drawn then"#,
            ));
        }
        let id = |value: &Value, key: &str| {
            let text = value.get(key).and_then(Value::as_str);
            text.filter(|text| text.len() == 22).map(str::to_owned)
        };
        let says = |value: &Value| value.get("node").is_some() || value.get("cluster").is_some();
        if let Some(value) = known.filter(says) {
            return match (id(&value, "node"), id(&value, "cluster")) {
                (Some(node), Some(cluster)) => Ok(Identity { node, cluster, start: draw() }),
                _ => Err(Failure::file("reading", &path, &"it names no node and cluster")),
            };
        }
        let identity = Identity { node: draw(), cluster: draw(), start: draw() };
        let value = json!({
            "format": FORMAT,
            "node": identity.node.as_str(),
            "cluster": identity.cluster.as_str(),
        });
        save(&path, sealed(&value).as_bytes(), 0o600)?;
        Ok(identity)
    }

    /// Makes the folder of users and keys at the first start with any, and notes that there are some.
    ///
    /// # Errors
    /// Where there were some, and they are gone: new ones would let in whoever is first to be told the password
    /// of `elastic`.
    pub fn claim_authz(&self) -> Result<()> {
        self.claim(Part::Authz)
    }

    /// Makes the folder of the cluster state at the first start, and notes that there is one; before anything is
    /// put beside it.
    ///
    /// # Errors
    /// Where there was one, and it is gone: indices, templates and settings would be so, too, without a word.
    pub fn claim_cluster(&self) -> Result<()> {
        self.claim(Part::Cluster)
    }

    /// Refuses a part of the folder that was there and is gone, or emptied; also for commands that make none.
    ///
    /// # Errors
    /// It is lost, or who the node is cannot be read.
    pub fn refuse_lost(&self, part: Part) -> Result<()> {
        let (with_it, otherwise) = match part {
            Part::Cluster => (
                "and with it which indices, aliases, templates and settings there are",
                "make a folder there with nothing but an empty file `anew` in it, and move the folder indices away: \
                 all of them are to be made again",
            ),
            Part::Authz => (
                "and with it all users, roles, API keys and grants of this node",
                "make a folder there with nothing but an empty file `anew` in it: `elastic` gets a new password \
                 then, and everything else is to be made again",
            ),
        };
        if self.is_lost(part)? {
            return Err(lost(&self.part(part), with_it, otherwise));
        }
        if self.is_emptied(part)? {
            return Err(lost(&self.part(part).join(consensus::snapshot::NAME), with_it, otherwise));
        }
        Ok(())
    }

    /// Makes a part of the folder at the first start, and notes that it is there.
    fn claim(&self, part: Part) -> Result<()> {
        self.refuse_lost(part)?;
        let (path, identity) = (self.part(part), self.node("identity"));
        let made = make_private(&path).and_then(|()| sync_folder_of(&path));
        made.map_err(|error| Failure::file("making", &path, &error))?;
        let mut value = read_sealed(&identity)?.unwrap_or_else(Value::object);
        if notes(&value, part.noted()) {
            return Ok(());
        }
        let Some(members) = value.as_object_mut() else { return Ok(()) };
        members.remove("checksum");
        members.insert(part.noted(), true);
        save(&identity, sealed(&value).as_bytes(), 0o600)
    }

    /// Notes which parts hold something now, so that they are not taken for new ones when that is lost; for whoever
    /// has seen them begin.
    ///
    /// # Errors
    /// The note cannot be written, or is not what was written before.
    pub fn note_filled(&self) -> Result<()> {
        let identity = self.node("identity");
        let mut value = read_sealed(&identity)?.unwrap_or_else(Value::object);
        let mut is_new = false;
        for part in [Part::Cluster, Part::Authz] {
            let path = self.part(part);
            if !path.join(consensus::snapshot::NAME).is_file() {
                continue;
            }
            if !notes(&value, part.filled())
                && let Some(members) = value.as_object_mut()
            {
                members.insert(part.filled(), true);
                is_new = true;
            }
        }
        if is_new {
            if let Some(members) = value.as_object_mut() {
                members.remove("checksum");
            }
            save(&identity, sealed(&value).as_bytes(), 0o600)?;
        }
        for part in [Part::Cluster, Part::Authz].map(|part| self.part(part)) {
            if part.join(consensus::snapshot::NAME).is_file() && is_to_begin_anew(&part) {
                remove(&part.join(ANEW))?;
            }
        }
        Ok(())
    }

    /// Does the folder of such a part stand, and is what was in it gone? One whose first start was cut short holds
    /// nothing yet, nor does one that is to begin anew.
    ///
    /// # Errors
    /// Who the node is cannot be read.
    pub fn is_emptied(&self, part: Part) -> Result<bool> {
        let path = self.part(part);
        if path.join(consensus::snapshot::NAME).exists() || is_to_begin_anew(&path) {
            return Ok(false);
        }
        let identity = read_sealed(&self.node("identity"))?;
        Ok(path.is_dir() && identity.is_some_and(|value| notes(&value, part.filled())))
    }

    /// Was a start of this node with security once whole, so that clients may know its authority?
    ///
    /// # Errors
    /// Who the node is cannot be read.
    pub fn is_known(&self) -> Result<bool> {
        let identity = read_sealed(&self.node("identity"))?;
        Ok(identity.is_some_and(|value| notes(&value, Part::Authz.filled())))
    }

    /// Was there such a part, and is it gone?
    ///
    /// # Errors
    /// Who the node is cannot be read.
    pub fn is_lost(&self, part: Part) -> Result<bool> {
        if self.part(part).is_dir() {
            return Ok(false);
        }
        if read_sealed(&self.node("identity"))?.is_some_and(|value| notes(&value, part.noted())) {
            return Ok(true);
        }
        // Before it was noted, users and keys were never made without a cluster state.
        Ok(part == Part::Cluster && self.has_entries("authz"))
    }

    /// Is there anything beside `node/` and `certs/` that a node held?
    pub fn holds_any(&self) -> bool {
        ["cluster", "authz", "indices"].iter().any(|part| self.path.join(part).exists())
    }

    fn has_entries(&self, name: &str) -> bool {
        let part = self.path.join(name);
        let entries = std::fs::read_dir(&part);
        let is_held = |entry: std::io::Result<std::fs::DirEntry>| {
            entry.is_ok_and(|entry| entry.file_name() != ANEW || !is_to_begin_anew(&part))
        };
        entries.is_ok_and(|mut entries| entries.any(is_held))
    }

    fn part(&self, part: Part) -> PathBuf {
        self.path.join(part.folder())
    }

    /// Makes the keystore at the first start: the key under which tokens are hashed at rest.
    ///
    /// # Errors
    /// Where it is gone, and what was hashed by it is not.
    pub fn make_keystore(&self, random: &impl Random) -> Result<()> {
        let path = self.node("keystore");
        if read_sealed(&path)?.is_some() {
            return Ok(());
        }
        if self.has_entries("authz") {
            return Err(lost(
                &path,
                "and no token, code or session that users and clients hold can be told without it",
                "move the folder authz away and make one in its place with nothing but an empty file `anew` in it: \
                 `elastic` gets a new password then, and users, roles, API keys and clients are to be made again",
            ));
        }
        let mut pepper = [0; PEPPER_BYTES];
        random.fill(&mut pepper);
        let value = json!({"format": FORMAT, "pepper": (BASE64.encode(pepper))});
        save(&path, sealed(&value).as_bytes(), 0o600)
    }

    /// The secret of the keystore, from which the keys of tokens follow.
    pub fn pepper(&self) -> Result<Vec<u8>> {
        let path = self.node("keystore");
        let value = read_sealed(&path)?;
        let pepper = value.as_ref().and_then(|value| value.get("pepper")).and_then(Value::as_str);
        let pepper = pepper.and_then(|text| BASE64.decode(text).ok());
        pepper.filter(|pepper| pepper.len() >= PEPPER_BYTES).ok_or_else(|| {
            Failure::new(Code::Setting, format!("{}: it holds no secret", path.display()))
        })
    }
}

/// A part of the data folder that is made once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The cluster state.
    Cluster,
    /// Users, roles, keys and grants.
    Authz,
}

impl Part {
    /// The name of its folder.
    pub const fn folder(self) -> &'static str {
        match self {
            Self::Cluster => "cluster",
            Self::Authz => "authz",
        }
    }

    /// The member of the identity that notes its folder.
    const fn noted(self) -> &'static str {
        match self {
            Self::Cluster => "state",
            Self::Authz => "authz",
        }
    }

    /// The member of the identity that notes that there is something in it.
    const fn filled(self) -> &'static str {
        match self {
            Self::Cluster => "state_filled",
            Self::Authz => "authz_filled",
        }
    }
}

/// Does an empty file say that this part of the folder is to begin anew? A folder of that name, or a file with
/// something in it, is somebody's, and says nothing.
fn is_to_begin_anew(part: &Path) -> bool {
    let meta = std::fs::symlink_metadata(part.join(ANEW));
    meta.is_ok_and(|meta| meta.is_file() && meta.len() == 0)
}

/// Does the identity note this?
fn notes(identity: &Value, member: &str) -> bool {
    identity.get(member) == Some(&Value::Bool(true))
}

/// A part of the data folder is gone, and is not made anew without a word.
fn lost(path: &Path, with_it: &str, otherwise: &str) -> Failure {
    let sentence = format!(
        "{} is missing, {with_it}; bring it back from a copy of the data folder. Where there is none, {otherwise}",
        path.display()
    );
    Failure::new(Code::Failed, sentence)
}

fn open_lock(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

/// What ends a sealed file: the checksum of all bytes before it, in eight hexadecimal digits, and `"}`.
const SEAL: &str = r#","checksum":""#;

/// The text of an object, with its checksum as its last member.
fn sealed(value: &Value) -> String {
    let text = json::to_string(value);
    let text = text.strip_suffix('}').expect("it is an object");
    format!("{text}{SEAL}{:08x}\"}}", checksum(text.as_bytes()))
}

/// A file of `node/` that must be what was written, to the bit; `None` where it is missing. What was
/// written before there were checksums has none, and no member that is not known.
pub fn read_sealed(path: &Path) -> Result<Option<Value>> {
    let Some(value) = read_json(path)? else { return Ok(None) };
    let wrong = |what: &str| Err(Failure::file("reading", path, &what));
    let text =
        std::fs::read_to_string(path).map_err(|error| Failure::file("reading", path, &error))?;
    if let Some((body, seal)) = text.rsplit_once(SEAL) {
        return match seal == format!("{:08x}\"}}", checksum(body.as_bytes())) {
            true => Ok(Some(value)),
            false => wrong("it disagrees with its checksum"),
        };
    }
    let known = ["format", "node", "cluster", "pepper"];
    let members = value.as_object().map(json::Object::keys);
    match members.is_some_and(|mut members| members.all(|member| known.contains(&member))) {
        true => Ok(Some(value)),
        false => wrong("it has members that nobody wrote"),
    }
}

/// A small JSON file of ours; `None` where it is missing. A later form ends the program.
pub fn read_json(path: &Path) -> Result<Option<Value>> {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Failure::file("reading", path, &error)),
    };
    let value = json::parse(&bytes).map_err(|error| Failure::file("reading", path, &error))?;
    match value.get("format").and_then(Value::as_u64) {
        Some(found) if found > FORMAT => Err(Failure::new(
            Code::Setting,
            format!(
                "{} has format version {found}, this program knows {FORMAT} at most; start the \
                 program that wrote it, or a later one",
                path.display()
            ),
        )),
        _ => Ok(Some(value)),
    }
}

/// Makes a folder with mode 0700, and those above it.
pub fn make_private(path: &Path) -> std::io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Removes a file, for good; it need not be there.
pub fn remove(path: &Path) -> Result<()> {
    let gone = match std::fs::remove_file(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => Err(error),
        Ok(()) => sync_folder_of(path),
    };
    gone.map_err(|error| Failure::file("removing", path, &error))
}

/// Puts `bytes` at `path`, whole or not at all.
pub fn save(path: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    let failed = |error: std::io::Error| Failure::file("writing", path, &error);
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(".tmp");
    let write = || {
        // Removed first: an old rest may have another mode.
        match std::fs::remove_file(&unfinished) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create_new(true).mode(mode).open(&unfinished)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&unfinished, path)?;
        sync_folder_of(path)
    };
    write().map_err(failed)
}

fn sync_folder_of(path: &Path) -> std::io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

#[cfg(test)]
mod tests;
