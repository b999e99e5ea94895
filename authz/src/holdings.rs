//! What API keys hold of the memory, and how much they may: all together, and those of one owner; what the
//! records of administrators do ([`records`]), and tokens ([`tokens`]).
//!
//! Whoever may make keys of its own may make any number of them, and each may carry a megabyte. All of it is in
//! memory on every node and in each snapshot, so it is judged right before a command is proposed, on the core that
//! keeps the state. `apply` takes what was judged: what a log holds means tomorrow what it means today.
//!
//! Always true
//! 1. What is counted is what the keys of the state hold; keys that let in no more count until they are forgotten.
//! 2. A change that makes keys no larger is never refused.
//! 3. Each key is weighed when it comes and when it changes, not when another is judged; at a start, others run
//!    between two of them.

mod records;
mod tokens;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use env::Spawn;

use crate::command::Command;
use crate::error::{Error, Result};
use crate::form::{Form, VALUE_BYTES};
use crate::record::key::ApiKey;
use crate::state::State;
use records::Records;

/// What all keys may hold, in bytes, where nothing else is said.
const BYTES_MAX: usize = 256 << 20;

/// One owner may hold so much of it: one part in so many.
const OWNER_PART: usize = 4;

/// Name and realm.
type Owner = (String, String);

/// What the parts of a key take that a change may replace, in the order of [`parts_of`].
type Parts = [usize; 5];

/// What a key takes.
#[derive(Debug)]
struct Held {
    owner: Owner,
    bytes: usize,
    parts: Parts,
}

/// How much the keys of a state hold.
#[derive(Debug)]
pub(crate) struct Holdings {
    keys: BTreeMap<String, Held>,
    owners: BTreeMap<Owner, usize>,
    all: usize,
    records: Records,
    most: usize,
}

/// What a command may change: keys by their ids, and records by their names.
#[derive(Debug, Default)]
pub(crate) struct Touched {
    keys: Vec<String>,
    records: Vec<records::Name>,
}

impl Holdings {
    /// Of all keys and records of a state, which stays as it is meanwhile.
    pub async fn of(state: &State, spawn: &impl Spawn) -> Self {
        let mut holdings = Self {
            keys: BTreeMap::new(),
            owners: BTreeMap::new(),
            all: 0,
            records: Records::default(),
            most: BYTES_MAX,
        };
        for name in Records::names(state) {
            holdings.records.follow(&name, state);
            spawn.yield_if_needed().await;
        }
        for key in state.keys.values() {
            holdings.count(key);
            spawn.yield_if_needed().await;
        }
        holdings
    }

    /// All keys may hold so many bytes, records as many, and tokens as many.
    pub fn bound(&mut self, bytes: usize) {
        self.most = bytes;
    }

    /// May keys and records hold what they would hold after this command?
    ///
    /// # Errors
    /// [`Error::Heavy`] where the keys of one owner would hold too much, [`Error::NoMemory`] where all would.
    pub fn judge(&self, command: &Command, state: &State) -> Result<()> {
        match command {
            Command::PutKey { key, .. } => self.judge_growth(&owner(key), weight(key)),
            Command::UpdateKeys {
                ids, descriptors, limited_by, creator, metadata, access, ..
            } => {
                let given = [
                    descriptors.as_ref().map(weight),
                    (!limited_by.is_empty()).then(|| weight(limited_by)),
                    creator.as_ref().map(weight),
                    metadata.as_ref().map(weight),
                    access.as_ref().map(weight),
                ];
                self.judge_change(&given, ids, state)
            }
            Command::Mint { grant, most: None, now, .. } => {
                tokens::judge(grant, *now, state, self.most)
            }
            _ => self.records.judge(command, state, self.most),
        }
    }

    /// May these keys be given these parts?
    fn judge_change(
        &self,
        given: &[Option<usize>; 5],
        ids: &[String],
        state: &State,
    ) -> Result<()> {
        let comes: usize = given.iter().flatten().sum();
        let goes = |key: &Arc<ApiKey>| -> usize {
            let parts = self.keys.get(&key.id).map(|held| held.parts).unwrap_or_default();
            let replaced = parts.iter().zip(given).filter(|(_, given)| given.is_some());
            replaced.map(|(part, _)| part).sum()
        };
        let ids: BTreeSet<&String> = ids.iter().collect();
        let mut owners: BTreeMap<Owner, Vec<&Arc<ApiKey>>> = BTreeMap::new();
        for key in ids.into_iter().filter_map(|id| state.keys.get(id)) {
            owners.entry(owner(key)).or_default().push(key);
        }
        for (owner, keys) in owners {
            let most = comes.saturating_mul(keys.len());
            // What goes is only looked at where that decides.
            if self.judge_growth(&owner, most).is_err() {
                let gone: usize = keys.into_iter().map(goes).sum();
                self.judge_growth(&owner, most.saturating_sub(gone))?;
            }
        }
        Ok(())
    }

    /// May keys of this owner hold so many bytes more?
    fn judge_growth(&self, owner: &Owner, grown: usize) -> Result<()> {
        if grown == 0 {
            return Ok(());
        }
        let own = self.owners.get(owner).copied().unwrap_or_default().saturating_add(grown);
        let most = self.most / OWNER_PART;
        if own > most {
            return Err(Error::Heavy { owner: owner.0.clone(), bytes: own, bytes_max: most });
        }
        let all = self.all.saturating_add(grown);
        if all > self.most {
            return Err(Error::NoMemory { what: "api_keys", bytes: all, bytes_max: self.most });
        }
        Ok(())
    }

    /// What a command may change: [`Holdings::follow`] looks at it when that was carried out.
    pub fn touched(&self, command: &Command, state: &State) -> Touched {
        let keys = match command {
            Command::PutKey { key, .. } => vec![key.id.clone()],
            Command::UpdateKeys { ids, .. } | Command::ForgetKeys { ids, .. } => ids.clone(),
            // What the user was is kept beside its keys from before that was.
            Command::DeleteUser { name } => {
                let own = self.keys.iter().filter(|(_, held)| held.owner.0 == *name);
                own.map(|(id, _)| id.clone()).collect()
            }
            _ => Vec::new(),
        };
        Touched { keys, records: records::touched(command, state) }
    }

    /// What was touched is now as this state has it.
    pub fn follow(&mut self, touched: &Touched, state: &State) {
        for name in &touched.records {
            self.records.follow(name, state);
        }
        for id in &touched.keys {
            if let Some(Held { owner, bytes, .. }) = self.keys.remove(id) {
                self.all -= bytes;
                if let Some(own) = self.owners.get_mut(&owner) {
                    *own -= bytes;
                    if *own == 0 {
                        self.owners.remove(&owner);
                    }
                }
            }
            if let Some(key) = state.keys.get(id) {
                self.count(key);
            }
        }
    }

    fn count(&mut self, key: &ApiKey) {
        let (owner, bytes) = (owner(key), weight(key));
        self.all += bytes;
        *self.owners.entry(owner.clone()).or_default() += bytes;
        self.keys.insert(key.id.clone(), Held { owner, bytes, parts: parts_of(key) });
    }
}

fn owner(key: &ApiKey) -> Owner {
    (key.owner.clone(), key.realm.0.clone())
}

fn parts_of(key: &ApiKey) -> Parts {
    [
        weight(&key.descriptors),
        weight(&key.limited_by),
        weight(&key.creator),
        weight(&key.metadata),
        weight(&key.access),
    ]
}

/// About what something takes in memory; as much as a value without text, where it is not written.
fn weight(form: &impl Form) -> usize {
    form.weight().unwrap_or(VALUE_BYTES)
}
