//! What a command does to the state: pure, and the same on every node and at every replay.

use std::collections::BTreeMap;
use std::sync::Arc;

use json::Value;
use mapping::{Delta, Mapping};

use crate::command::Command;
use crate::error::{Error, Result};
use crate::name;
use crate::settings::IndexSettings;
use crate::state::{Alias, Index, State, uuid_text};

/// The version of Elasticsearch whose language is spoken, as `index.version.created` has it.
pub const INDEX_VERSION: &str = "8536000";

/// What became of a command.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It was done, or nothing had to change.
    Done,
    /// It was refused; nothing changed.
    Refused(Error),
    /// Of `AddFields`: each delta's own answer, in order.
    Fields(Vec<Result<()>>),
}

/// The state after `command`, and what became of it. A refused command leaves the state as it was.
pub fn apply(state: &State, command: &Command) -> (State, Outcome) {
    let changed = match command {
        Command::Bootstrap { uuid } => Ok(bootstrap(state, *uuid)),
        Command::CreateIndex { name, uuid, created_ms, settings, mappings, aliases } => {
            create(state, name, *uuid, *created_ms, [settings, mappings, aliases])
        }
        Command::DeleteIndices { uuids } => Ok(delete(state, uuids)),
        Command::PutMapping { uuids, mappings } => put_mapping(state, uuids, mappings),
        Command::AddFields { deltas } => {
            let (state, answers) = add_fields(state, deltas);
            return (state, Outcome::Fields(answers));
        }
        Command::PutSettings { uuids, settings, preserve } => {
            put_settings(state, uuids, settings, *preserve)
        }
        Command::SetOpen { uuids, open } => set_open(state, uuids, *open),
    };
    match changed {
        Ok(state) => (state, Outcome::Done),
        Err(error) => (state.clone(), Outcome::Refused(error)),
    }
}

fn bootstrap(state: &State, uuid: [u8; 16]) -> State {
    if state.uuid != [0; 16] {
        return state.clone();
    }
    State { uuid, version: state.version + 1, ..state.clone() }
}

fn create(
    state: &State,
    name: &str,
    uuid: [u8; 16],
    created_ms: i64,
    [settings, mappings, aliases]: [&Value; 3],
) -> Result<State> {
    name::check_index(name)?;
    if let Some(index) = state.index(name) {
        return Err(Error::Exists { name: name.to_owned(), uuid: index.uuid_text() });
    }
    if state.aliases.contains_key(name) {
        return Err(Error::IndexName {
            name: name.to_owned(),
            why: "already exists as alias".to_owned(),
        });
    }
    let mut settings = IndexSettings::parse(settings)?;
    settings.set_private("index.provided_name", name);
    settings.set_private("index.creation_date", created_ms.to_string());
    settings.set_private("index.uuid", uuid_text(uuid));
    settings.set_private("index.version.created", INDEX_VERSION);
    let for_mapping = settings.for_mapping()?;
    let mapping =
        Mapping::parse(mappings, for_mapping).map_err(|error| Error::Mapping(error.in_create()))?;
    let aliases = parse_aliases(state, name, aliases)?;
    Ok(state.with_index(Index {
        name: Arc::from(name),
        uuid,
        settings: Arc::new(with_defaults(settings)),
        mapping: Arc::new(mapping),
        aliases: Arc::new(aliases),
        open: true,
        created_ms,
    }))
}

/// Settings that Elasticsearch shows although nobody set them.
fn with_defaults(settings: IndexSettings) -> IndexSettings {
    let mut flat = settings.to_flat();
    if let Some(object) = flat.as_object_mut() {
        for (name, default) in [
            ("index.number_of_shards", "1"),
            ("index.number_of_replicas", "1"),
            ("index.routing.allocation.include._tier_preference", "data_content"),
        ] {
            object.get_or_insert_with(name, || Value::from(default));
        }
    }
    IndexSettings::from_flat(&flat)
}

/// Reads the `aliases` of a create request.
fn parse_aliases(state: &State, index: &str, aliases: &Value) -> Result<BTreeMap<Arc<str>, Alias>> {
    let Some(object) = aliases.as_object() else {
        return Err(Error::Parse { reason: "key [aliases] must be an object".to_owned() });
    };
    let mut found = BTreeMap::new();
    for (name, body) in object.iter() {
        name::check_alias(name)?;
        if name == index || state.index(name).is_some() {
            return Err(Error::AliasName {
                name: name.to_owned(),
                why: ": an index or data stream exists with the same name as the alias".to_owned(),
            });
        }
        found.insert(Arc::from(name), parse_alias(name, body)?);
    }
    Ok(found)
}

fn parse_alias(name: &str, body: &Value) -> Result<Alias> {
    let mut alias = Alias::default();
    let Some(object) = body.as_object() else {
        return Err(Error::argument(format!("alias [{name}] must be an object")));
    };
    for (key, value) in object.iter() {
        let text = || match value {
            Value::String(text) => Ok(Some(text.clone())),
            Value::Number(number) => Ok(Some(number.text().to_owned())),
            _ => Err(Error::argument(format!("alias [{name}]: [{key}] must be a text"))),
        };
        let flag = || match value {
            Value::Bool(flag) => Ok(Some(*flag)),
            _ => Err(Error::argument(format!("alias [{name}]: [{key}] must be true or false"))),
        };
        match key {
            "filter" => match value {
                Value::Object(filter) => {
                    alias.filter = (!filter.is_empty()).then(|| value.clone());
                }
                _ => {
                    return Err(Error::argument(format!(
                        "failed to parse filter for alias [{name}]"
                    )));
                }
            },
            "routing" => {
                let routing = text()?;
                alias.index_routing.get_or_insert_with(|| routing.clone().unwrap_or_default());
                alias.search_routing.get_or_insert_with(|| routing.unwrap_or_default());
            }
            "index_routing" | "indexRouting" | "index-routing" => alias.index_routing = text()?,
            "search_routing" | "searchRouting" | "search-routing" => alias.search_routing = text()?,
            "is_write_index" => alias.is_write_index = flag()?,
            "is_hidden" => alias.is_hidden = flag()?,
            _ => {
                return Err(Error::argument(format!("Unknown field [{key}] in alias [{name}]")));
            }
        }
    }
    Ok(alias)
}

fn delete(state: &State, uuids: &[[u8; 16]]) -> State {
    let mut indices = (*state.indices).clone();
    indices.retain(|_, index| !uuids.contains(&index.uuid));
    if indices.len() == state.indices.len() {
        return state.clone();
    }
    state.with_indices(indices, true)
}

/// The indices of `uuids`, or the first that is gone.
fn all<'a>(state: &'a State, uuids: &[[u8; 16]]) -> Result<Vec<&'a Arc<Index>>> {
    uuids
        .iter()
        .map(|&uuid| {
            state.index_by_uuid(uuid).ok_or_else(|| Error::NotFound { name: uuid_text(uuid) })
        })
        .collect()
}

fn replace(state: &State, changed: Vec<Index>, aliases_changed: bool) -> State {
    if changed.is_empty() {
        return state.clone();
    }
    let mut indices = (*state.indices).clone();
    for index in changed {
        indices.insert(Arc::clone(&index.name), Arc::new(index));
    }
    state.with_indices(indices, aliases_changed)
}

fn put_mapping(state: &State, uuids: &[[u8; 16]], mappings: &Value) -> Result<State> {
    let mut changed = Vec::new();
    for index in all(state, uuids)? {
        let mapping = index.mapping.merge(mappings)?;
        if mapping.version() != index.mapping.version() {
            changed.push(Index { mapping: Arc::new(mapping), ..(**index).clone() });
        }
    }
    Ok(replace(state, changed, false))
}

fn add_fields(state: &State, deltas: &[([u8; 16], Delta)]) -> (State, Vec<Result<()>>) {
    // Each index's mapping as it grows: several deltas of one request may be of one index.
    let mut mappings: BTreeMap<[u8; 16], Mapping> = BTreeMap::new();
    let mut answers = Vec::with_capacity(deltas.len());
    for (uuid, delta) in deltas {
        let Some(index) = state.index_by_uuid(*uuid) else {
            answers.push(Err(Error::NotFound { name: uuid_text(*uuid) }));
            continue;
        };
        let mapping = mappings.get(uuid).unwrap_or(&index.mapping);
        answers.push(match mapping.apply_delta(delta) {
            Ok(grown) => {
                mappings.insert(*uuid, grown);
                Ok(())
            }
            Err(error) => Err(Error::Mapping(error)),
        });
    }
    let changed = mappings
        .into_iter()
        .filter_map(|(uuid, mapping)| {
            let index = state.index_by_uuid(uuid)?;
            let grown = mapping.version() != index.mapping.version();
            grown.then(|| Index { mapping: Arc::new(mapping), ..(**index).clone() })
        })
        .collect();
    (replace(state, changed, false), answers)
}

fn put_settings(
    state: &State,
    uuids: &[[u8; 16]],
    settings: &Value,
    preserve: bool,
) -> Result<State> {
    let mut changed = Vec::new();
    for index in all(state, uuids)? {
        let label = format!("{}/{}", index.name, index.uuid_text());
        let settings = index.settings.update(settings, preserve, index.open, &label)?;
        if settings == *index.settings {
            continue;
        }
        let for_mapping = settings.for_mapping()?;
        let mapping = Mapping::from_state_json(&index.mapping.to_state_json(), for_mapping)?;
        changed.push(Index {
            settings: Arc::new(with_defaults(settings)),
            mapping: Arc::new(mapping),
            ..(**index).clone()
        });
    }
    Ok(replace(state, changed, false))
}

fn set_open(state: &State, uuids: &[[u8; 16]], open: bool) -> Result<State> {
    let changed = all(state, uuids)?
        .into_iter()
        .filter(|index| index.open != open)
        .map(|index| Index { open, ..(**index).clone() })
        .collect();
    Ok(replace(state, changed, false))
}

#[cfg(test)]
#[path = "apply_tests.rs"]
mod tests;
