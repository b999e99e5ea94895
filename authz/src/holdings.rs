//! What API keys hold of the memory, and how much they may: all together, and those of one owner.
//!
//! Whoever may make keys of its own may make any number of them, and each may carry a megabyte. All of it is in
//! memory on every node and in each snapshot, so it is judged right before a command is proposed, on the core that
//! keeps the state. `apply` takes what was judged: what a log holds means tomorrow what it means today.
//!
//! Always true
//! 1. What is counted is what the keys of the state hold; keys that let in no more count until they are forgotten.
//! 2. A change that makes keys no larger is never refused.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use json::Value;

use crate::command::Command;
use crate::error::{Error, Result};
use crate::form::Form;
use crate::record::key::ApiKey;
use crate::state::State;

/// What all keys may hold, in bytes, where nothing else is said.
const BYTES_MAX: usize = 256 << 20;

/// One owner may hold so much of it: one part in so many.
const OWNER_PART: usize = 4;

/// What a value takes beside its text.
const VALUE_BYTES: usize = 32;

/// Name and realm.
type Owner = (String, String);

/// How much the keys of a state hold.
#[derive(Debug)]
pub(crate) struct Holdings {
    keys: BTreeMap<String, (Owner, usize)>,
    owners: BTreeMap<Owner, usize>,
    all: usize,
    most: usize,
}

impl Holdings {
    /// Of all keys of a state.
    pub fn of(state: &State) -> Self {
        let mut holdings =
            Self { keys: BTreeMap::new(), owners: BTreeMap::new(), all: 0, most: BYTES_MAX };
        state.keys.values().for_each(|key| holdings.count(key));
        holdings
    }

    /// All keys may hold so many bytes.
    pub fn bound(&mut self, bytes: usize) {
        self.most = bytes;
    }

    /// May keys hold what they would hold after this command?
    ///
    /// # Errors
    /// [`Error::Heavy`] where those of one owner would hold too much, [`Error::NoMemory`] where all would.
    pub fn judge(&self, command: &Command, state: &State) -> Result<()> {
        match command {
            Command::PutKey { key, .. } => self.judge_growth(&owner(key), weight_of(key)),
            Command::UpdateKeys {
                ids, descriptors, limited_by, creator, metadata, access, ..
            } => {
                let given = [
                    descriptors.as_ref().map(Form::to_json),
                    (!limited_by.is_empty()).then(|| limited_by.to_json()),
                    creator.as_ref().map(Form::to_json),
                    metadata.as_ref().map(Form::to_json),
                    access.clone(),
                ];
                self.judge_change(&given, ids, state)
            }
            _ => Ok(()),
        }
    }

    /// May these keys be given these parts?
    fn judge_change(
        &self,
        given: &[Option<Value>; 5],
        ids: &[String],
        state: &State,
    ) -> Result<()> {
        let comes: usize = given.iter().flatten().map(weight).sum();
        let goes = |key: &Arc<ApiKey>| -> usize {
            let parts = [
                key.descriptors.to_json(),
                key.limited_by.to_json(),
                key.creator.to_json(),
                key.metadata.to_json(),
                key.access.to_json(),
            ];
            let replaced = parts.iter().zip(given).filter(|(_, given)| given.is_some());
            replaced.map(|(part, _)| weight(part)).sum()
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
            return Err(Error::NoMemory { bytes: all, bytes_max: self.most });
        }
        Ok(())
    }

    /// The keys that a command may change: [`Holdings::follow`] looks at them when it was carried out.
    pub fn touched(command: &Command) -> Vec<String> {
        match command {
            Command::PutKey { key, .. } => vec![key.id.clone()],
            Command::UpdateKeys { ids, .. } | Command::ForgetKeys { ids, .. } => ids.clone(),
            _ => Vec::new(),
        }
    }

    /// These keys are now as this state has them.
    pub fn follow(&mut self, touched: &[String], state: &State) {
        for id in touched {
            if let Some((owner, bytes)) = self.keys.remove(id) {
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
        let (owner, bytes) = (owner(key), weight_of(key));
        self.all += bytes;
        *self.owners.entry(owner.clone()).or_default() += bytes;
        self.keys.insert(key.id.clone(), (owner, bytes));
    }
}

fn owner(key: &ApiKey) -> Owner {
    (key.owner.clone(), key.realm.0.clone())
}

fn weight_of(key: &ApiKey) -> usize {
    weight(&key.to_json())
}

/// About what a value takes in memory.
fn weight(value: &Value) -> usize {
    VALUE_BYTES
        + match value {
            Value::String(text) => text.len(),
            Value::Array(items) => items.iter().map(weight).sum(),
            Value::Object(members) => {
                members.iter().map(|(key, value)| VALUE_BYTES + key.len() + weight(value)).sum()
            }
            _ => 0,
        }
}
