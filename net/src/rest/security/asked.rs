//! Privileges that are asked for, and which of them somebody holds.
//!
//! Always true
//! 1. An answer has a word for each pair of a name and a privilege, so that it grows with the product of two
//!    lists: how many pairs there are is judged before the first is looked at, and memory for all of them is taken.

use authz::State;
use authz::pattern::{Effort, Wanted};
use authz::privilege::{self, Kind};
use engine::{Error, Result};
use env::budget::Taken;
use env::{Env, Rounds, Spawn};
use json::{Object, Value, Writer};

use super::body::Body;
use super::{application, descriptor};
use crate::call::Call;

/// Fields of such a request.
pub(super) const FIELDS: &[&str] = &["cluster", "index", "indices", "application"];

/// Pairs of a name and a privilege that one request may ask for.
const PAIRS_MAX: usize = 100_000;

/// Bytes of a name or a privilege: it is held against patterns, each of which may take as many steps as its square.
const TEXT_BYTES_MAX: usize = 1_024;

/// What a pair takes in an answer beside its name and its text, in bytes, on its way and as it is sent.
const PAIR_BYTES: usize = 256;

/// How often an answer holds a name while it is made.
const COPIES: usize = 4;

/// Privileges on names of one kind.
struct Entry<'a> {
    /// The application; none for indices.
    application: Option<&'a str>,
    /// Indices, or resources of the application.
    names: Vec<String>,
    privileges: Vec<String>,
    /// Also on indices that are restricted.
    restricted: bool,
}

/// What a request asks for.
pub(super) struct Asked<'a> {
    what: &'a str,
    cluster: Vec<String>,
    entries: Vec<Entry<'a>>,
    /// About what an answer takes, in bytes.
    bytes: usize,
}

/// Which of it somebody holds.
pub(super) struct Held {
    /// All of it.
    pub all: bool,
    cluster: Object,
    index: Object,
    applications: Object,
}

impl<'a> Asked<'a> {
    /// Reads what a body names, which will be looked at `times`. `what` names it in complaints.
    ///
    /// # Errors
    /// A privilege that nobody knows, a malformed body, or one that asks for nothing or for too much.
    pub async fn read<E: Env>(
        call: &Call<'_, E>,
        body: &Body<'a>,
        what: &'a str,
        times: usize,
    ) -> Result<Self> {
        let spawn = call.core.env().spawn();
        let cluster = body.texts("cluster")?.unwrap_or_default();
        known(Kind::Cluster, &cluster)?;
        let missing = |field: &str| {
            Error::parse(format!("failed to parse {what}. missing required [{field}] field"))
        };
        let mut entries = Vec::new();
        let given = match body.list("index")? {
            None => body.list("indices")?,
            found => found,
        };
        for entry in given.unwrap_or_default() {
            spawn.yield_if_needed().await;
            let fields = ["names", "privileges", "allow_restricted_indices"];
            let entry = Body::new(entry, what, &fields)?;
            let restricted = entry.flag("allow_restricted_indices")?.unwrap_or_default();
            let names = entry.texts("names")?.ok_or_else(|| missing("names"))?;
            let privileges = entry.texts("privileges")?.ok_or_else(|| missing("privileges"))?;
            known(Kind::Index, &privileges)?;
            entries.push(Entry { application: None, names, privileges, restricted });
        }
        for entry in body.list("application")?.unwrap_or_default() {
            spawn.yield_if_needed().await;
            let entry = Body::new(entry, what, &["application", "privileges", "resources"])?;
            let name = entry.text("application")?.ok_or_else(|| missing("application"))?;
            let privileges = entry.texts("privileges")?.ok_or_else(|| missing("privileges"))?;
            let names = entry.texts("resources")?.ok_or_else(|| missing("resources"))?;
            let mut problems: Vec<String> =
                application::check_name(name).err().into_iter().collect();
            let named = privileges.iter();
            problems.extend(named.filter_map(|name| application::check_action(name).err()));
            if !problems.is_empty() {
                return Err(Error::validation(&problems));
            }
            entries.push(Entry { application: Some(name), names, privileges, restricted: false });
        }
        let is_something =
            |entry: &Entry<'_>| entry.application.is_some() || !entry.names.is_empty();
        if cluster.is_empty() && !entries.iter().any(is_something) {
            return Err(Error::validation(&["must specify at least one privilege"]));
        }
        let asked = Self { what, bytes: bytes(&cluster, &entries), cluster, entries };
        let pairs = asked.pairs().saturating_mul(times);
        if pairs > PAIRS_MAX {
            return Err(Error::illegal_argument(format!(
                "{what} asks for [{pairs}] pairs of a name and a privilege, but one request may ask for at most \
                 [{PAIRS_MAX}] of them"
            )));
        }
        if let Some(long) = asked.texts().map(str::len).find(|len| *len > TEXT_BYTES_MAX) {
            return Err(Error::illegal_argument(format!(
                "{what} holds a name of [{long}] bytes, but [{TEXT_BYTES_MAX}] are the most"
            )));
        }
        Ok(asked)
    }

    fn texts(&self) -> impl Iterator<Item = &str> {
        let of_entries = self.entries.iter().flat_map(|entry| {
            entry.names.iter().chain(&entry.privileges).map(String::as_str).chain(entry.application)
        });
        self.cluster.iter().map(String::as_str).chain(of_entries)
    }

    fn pairs(&self) -> usize {
        let pairs = |entry: &Entry<'_>| entry.names.len().saturating_mul(entry.privileges.len());
        self.entries.iter().map(pairs).fold(self.cluster.len(), usize::saturating_add)
    }

    /// Looks which of it `access` holds; with the memory of the answer.
    ///
    /// # Errors
    /// Patterns that are too complex to compare; 429 where there is no memory for the answer.
    pub async fn held_by<E: Env>(
        &self,
        call: &Call<'_, E>,
        (state, access): (&State, &authz::Access),
        effort: &Effort,
    ) -> Result<(Held, Taken)> {
        let memory = call.core.room("privileges", self.bytes)?;
        let spawn = call.core.env().spawn();
        let mut held = Held {
            all: true,
            cluster: Object::new(),
            index: Object::new(),
            applications: Object::new(),
        };
        for name in &self.cluster {
            spawn.yield_if_needed().await;
            let has = access.has_cluster(name);
            held.all &= has;
            held.cluster.insert(name.as_str(), has);
        }
        for entry in &self.entries {
            let answer = match entry.application {
                None => Some(&mut held.index),
                Some(name) => {
                    held.applications.get_or_insert_with(name, Value::object).as_object_mut()
                }
            };
            let Some(answer) = answer else { continue };
            for name in &entry.names {
                spawn.yield_if_needed().await;
                let wanted = Wanted::new(name);
                let inner = answer.get_or_insert_with(name, Value::object);
                for privilege in &entry.privileges {
                    // One pair may be compared with thousands of patterns.
                    spawn.yield_if_needed().await;
                    let has = match entry.application {
                        None => access.has_index(privilege, &wanted, entry.restricted, effort),
                        Some(name) => {
                            access.has_application(state, name, privilege, &wanted, effort)
                        }
                    };
                    held.all &= has;
                    if let Some(inner) = inner.as_object_mut() {
                        inner.insert(privilege.as_str(), has);
                    }
                }
            }
        }
        if effort.is_over() {
            return Err(Error::illegal_argument(format!(
                "The patterns of {} are too complex to evaluate: ask for fewer, or for names",
                self.what
            )));
        }
        Ok((held, memory))
    }
}

impl Held {
    /// The answer to `user`.
    pub async fn written<E: Env>(&self, call: &Call<'_, E>, user: &str) -> Vec<u8> {
        let (spawn, mut rounds) = (call.core.env().spawn(), Rounds::default());
        let mut body = Vec::with_capacity(256);
        let mut writer = Writer::new(&mut body);
        writer.begin_object().key("username").str(user);
        writer.key("has_all_requested").bool(self.all);
        writer.key("cluster").begin_object();
        for (name, has) in self.cluster.iter() {
            writer.key(name).value(has);
            rounds.done(spawn, name.len()).await;
        }
        writer.end_object().key("index").begin_object();
        for (name, has) in self.index.iter() {
            writer.key(name).value(has);
            rounds.done(spawn, weight(has)).await;
        }
        writer.end_object().key("application").begin_object();
        for (name, resources) in self.applications.iter() {
            writer.key(name).begin_object();
            for (name, has) in resources.as_object().into_iter().flat_map(Object::iter) {
                writer.key(name).value(has);
                rounds.done(spawn, weight(has)).await;
            }
            writer.end_object();
        }
        writer.end_object().end_object();
        body
    }
}

/// About how long what was written is, for who counts rounds.
fn weight(has: &Value) -> usize {
    has.as_object().map_or(0, |has| has.len().saturating_mul(PAIR_BYTES))
}

/// About what the answer takes while it is made and until it is sent.
fn bytes(cluster: &[String], entries: &[Entry<'_>]) -> usize {
    let of = |names: &[String]| {
        let texts = names.iter().map(|name| PAIR_BYTES + name.len().saturating_mul(COPIES));
        texts.fold(0, usize::saturating_add)
    };
    let of_entry = |entry: &Entry<'_>| {
        let pairs = entry.names.len().saturating_mul(of(&entry.privileges));
        pairs.saturating_add(of(&entry.names))
    };
    entries.iter().map(of_entry).fold(of(cluster), usize::saturating_add)
}

/// Is each of the privileges one?
fn known(kind: Kind, privileges: &[String]) -> Result<()> {
    match privileges.iter().find(|name| !privilege::is_known(kind, name)) {
        Some(unknown) => Err(Error::illegal_argument(descriptor::unknown(kind, unknown))),
        None => Ok(()),
    }
}
