//! What a command does to the state: pure, and the same on every node and at every replay.

use std::collections::BTreeMap;
use std::sync::Arc;

use json::Value;
use mapping::analysis::holding;
use mapping::{Delta, Mapping};

use crate::command::{Command, Rules};
use crate::error::{Error, Result};
use crate::graveyard::buried;
use crate::share::{Known, shared};
use crate::state::{Index, Rollover, State};
use crate::vacancy::resized;

mod admit;
mod aliases;
mod create;
mod rolled;
mod streams;
mod templates;

pub use admit::{admit, admit_index};
pub use create::{check_new_name, check_soft_deletes, compose};
pub use rolled::check_next;

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
    if let Command::AddFields { deltas } = command {
        let (state, answers) = add_fields(state, deltas);
        return (state, Outcome::Fields(answers));
    }
    // Of two who delete one index at once the second hears that it is gone. (In a batch it is no failure:
    // that would change what logs mean.)
    if let Command::DeleteIndices { uuids } = command.inner()
        && let Some(first) = uuids.first()
        && uuids.iter().all(|uuid| state.index_by_uuid(*uuid).is_none())
    {
        return (state.clone(), Outcome::Refused(state.gone(*first)));
    }
    match changed(state, command, None) {
        Ok(state) => (state, Outcome::Done),
        Err(error) => (state.clone(), Outcome::Refused(error)),
    }
}

/// The state after `command`, which is done at `at_ms`, where that is known.
fn changed(state: &State, command: &Command, at_ms: Option<i64>) -> Result<State> {
    match command {
        Command::At { now_ms, command } => changed(state, command, Some(*now_ms)),
        Command::Bootstrap { uuid, created_ms } => Ok(bootstrap(state, *uuid, *created_ms)),
        Command::CreateIndex(new) => create::create(state, new),
        Command::DeleteIndices { uuids } => delete(state, uuids, at_ms),
        Command::PutMapping { uuids, mappings } => put_mapping(state, uuids, mappings),
        Command::AddFields { deltas } => {
            let (state, answers) = add_fields(state, deltas);
            answers.into_iter().collect::<Result<Vec<()>>>()?;
            Ok(state)
        }
        Command::PutSettings { uuids, settings, preserve, rules } => {
            put_settings(state, uuids, settings, (*preserve, *rules), at_ms)
        }
        Command::SetOpen { uuids, open, rules } => set_open(state, uuids, (*open, *rules), at_ms),
        Command::EndCopy { uuid } => end_copy(state, *uuid),
        Command::NoteRollover { uuid, target, rollover } => {
            note_rollover(state, *uuid, target, rollover)
        }
        Command::UpdateAliases { actions } => aliases::update(state, actions, at_ms),
        Command::PutIndexTemplate { name, template, create } => {
            templates::put_index(state, name, template, *create)
        }
        Command::PutComponentTemplate { name, template, create } => {
            templates::put_component(state, name, template, *create)
        }
        Command::PutLegacyTemplate { name, template, create } => {
            templates::put_legacy(state, name, template, *create)
        }
        Command::DeleteTemplates { kind, names } => templates::delete(state, *kind, names),
        Command::StartStream { name, index } => streams::start(state, name, index),
        Command::MigrateAlias { name } => streams::migrate(state, name),
        Command::ModifyStreams { changes } => streams::modify(state, changes),
        Command::RollStream { name, from, index, generation } => {
            streams::roll(state, name, (from, index), *generation)
        }
        Command::RollAlias { name, from, index } => rolled::roll(state, name, *from, index),
        Command::MarkStream { name } => streams::mark(state, name),
        Command::PutDataStream { stream, create } => streams::put(state, stream, *create),
        Command::DeleteDataStreams { names } => Ok(streams::delete(state, names, at_ms)),
        Command::PutScript { id, script } => {
            let mut scripts = (*state.scripts).clone();
            scripts.insert(Arc::from(id.as_str()), Arc::new(script.clone()));
            Ok(State { scripts: Arc::new(scripts), version: state.version + 1, ..state.clone() })
        }
        Command::DeleteScript { id } => {
            let mut scripts = (*state.scripts).clone();
            if scripts.remove(id.as_str()).is_none() {
                return Ok(state.clone());
            }
            Ok(State { scripts: Arc::new(scripts), version: state.version + 1, ..state.clone() })
        }
        Command::PutClusterSettings { persistent, transient, rules } => {
            put_cluster_settings(state, (persistent, transient), *rules)
        }
        Command::AddVotingExclusions { nodes, most } => {
            let mut all = state.voting_exclusions.to_vec();
            for node in nodes {
                if !all.contains(node) {
                    all.push(node.clone());
                }
            }
            if all.len() as u64 > *most {
                return Err(Error::argument(format!(
                    "add voting config exclusions request would result in [{}] exclusions, more than the \
                     maximum of [{most}] set by [cluster.max_voting_config_exclusions]",
                    all.len()
                )));
            }
            let set = Command::SetVotingExclusions { nodes: all };
            changed(state, &set, at_ms)
        }
        Command::SetVotingExclusions { nodes } => {
            if **nodes == *state.voting_exclusions {
                return Ok(state.clone());
            }
            Ok(State {
                voting_exclusions: nodes.as_slice().into(),
                version: state.version + 1,
                ..state.clone()
            })
        }
        Command::Batch(commands) => commands
            .iter()
            .try_fold(state.clone(), |state, command| changed(&state, command, at_ms)),
    }
}

fn bootstrap(state: &State, uuid: [u8; 16], created_ms: Option<i64>) -> State {
    let uuid = if state.uuid == [0; 16] { uuid } else { state.uuid };
    let created_ms = state.created_ms.or(created_ms);
    if (uuid, created_ms) == (state.uuid, state.created_ms) {
        return state.clone();
    }
    State { uuid, created_ms, version: state.version + 1, ..state.clone() }
}

fn delete(state: &State, uuids: &[[u8; 16]], at_ms: Option<i64>) -> Result<State> {
    let mut indices = (*state.indices).clone();
    indices.retain(|_, index| !uuids.contains(&index.uuid));
    if indices.len() == state.indices.len() {
        return Ok(state.clone());
    }
    let tombstones = buried(&state.tombstones, &state.indices, &indices, at_ms);
    let after = State { tombstones, ..state.with_indices(indices, true) };
    streams::without_missing(after)
}

/// The indices of `uuids`, or the first that is gone.
fn all<'a>(state: &'a State, uuids: &[[u8; 16]]) -> Result<Vec<&'a Arc<Index>>> {
    uuids.iter().map(|&uuid| state.index_by_uuid(uuid).ok_or_else(|| state.gone(uuid))).collect()
}

fn replace(state: &State, changed: Vec<Index>, aliases_changed: bool) -> State {
    if changed.is_empty() {
        return state.clone();
    }
    let mut indices = (*state.indices).clone();
    for index in changed {
        let index = shared(&indices, index);
        indices.insert(Arc::clone(&index.name), Arc::new(index));
    }
    state.with_indices(indices, aliases_changed)
}

fn put_mapping(state: &State, uuids: &[[u8; 16]], mappings: &Value) -> Result<State> {
    let mut changed = Vec::new();
    // Of a hundred indices that become alike, one tree is kept as it is made.
    let mut known = Known::default();
    for index in all(state, uuids)? {
        let mapping = index.mapping.merge(mappings)?;
        if mapping.version() == index.mapping.version() {
            continue;
        }
        let more = mapping.text_bytes().saturating_sub(index.mapping.text_bytes());
        holding::hold_mapping(more)?;
        let index = known.shared(Index { mapping: Arc::new(mapping), ..(**index).clone() });
        changed.push(Arc::unwrap_or_clone(index));
    }
    Ok(replace(state, changed, false))
}

fn add_fields(state: &State, deltas: &[([u8; 16], Delta)]) -> (State, Vec<Result<()>>) {
    // Several deltas of one request may be of one index, whose mapping is made anew once.
    let mut of_each: BTreeMap<[u8; 16], Vec<usize>> = BTreeMap::new();
    for (at, (uuid, _)) in deltas.iter().enumerate() {
        of_each.entry(*uuid).or_default().push(at);
    }
    let mut answers = vec![Ok(()); deltas.len()];
    let mut changed = Vec::new();
    for (uuid, places) in of_each {
        let Some(index) = state.index_by_uuid(uuid) else {
            places.into_iter().for_each(|at| answers[at] = Err(state.gone(uuid)));
            continue;
        };
        let own: Vec<&Delta> = places.iter().map(|&at| &deltas[at].1).collect();
        let (mapping, done) = index.mapping.apply_deltas(&own);
        for (at, done) in places.into_iter().zip(done) {
            answers[at] = done.map_err(Error::Mapping);
        }
        if mapping.version() != index.mapping.version() {
            changed.push(Index { mapping: Arc::new(mapping), ..(**index).clone() });
        }
    }
    (replace(state, changed, false), answers)
}

fn put_settings(
    state: &State,
    uuids: &[[u8; 16]],
    settings: &Value,
    (preserve, rules): (bool, Rules),
    at_ms: Option<i64>,
) -> Result<State> {
    let mut changed = Vec::new();
    for index in all(state, uuids)? {
        let label = format!("{}/{}", index.name, index.uuid_text());
        let settings = index.settings.update(settings, preserve, (index.open, rules), &label)?;
        if settings == *index.settings {
            continue;
        }
        let mapping = match settings.means_the_same_to_mappings(&index.settings) {
            true => Arc::clone(&index.mapping),
            false => {
                let state = index.mapping.to_state_json();
                Arc::new(Mapping::from_state_json(&state, settings.for_mapping()?)?)
            }
        };
        let settings = create::with_defaults(settings);
        let (before, after) = (index.settings.replica_count(), settings.replica_count());
        changed.push(Index {
            added: resized(&index.added, before, after, at_ms),
            settings: Arc::new(settings),
            mapping,
            settings_version: index.settings_version + 1,
            ..(**index).clone()
        });
    }
    Ok(replace(state, changed, false))
}

fn put_cluster_settings(
    state: &State,
    (persistent, transient): (&Value, &Value),
    rules: Rules,
) -> Result<State> {
    let settings = state.settings.update_by(rules, persistent, transient)?;
    if settings == *state.settings {
        return Ok(state.clone());
    }
    Ok(State { settings: Arc::new(settings), version: state.version + 1, ..state.clone() })
}

fn set_open(
    state: &State,
    uuids: &[[u8; 16]],
    (open, rules): (bool, Rules),
    at_ms: Option<i64>,
) -> Result<State> {
    let changed = all(state, uuids)?
        .into_iter()
        .filter(|index| index.open != open)
        .map(|index| {
            let mut settings = (*index.settings).clone();
            // As Elasticsearch marks what it closed in order.
            settings.set_verified_before_close(!open);
            // That mark is a setting, too.
            let counts = rules == Rules::Now && settings != *index.settings;
            Index {
                open,
                settings: Arc::new(settings),
                settings_version: index.settings_version + u64::from(counts),
                turned_ms: at_ms,
                // All copies are made anew.
                added: Arc::default(),
                ..(**index).clone()
            }
        })
        .collect();
    Ok(replace(state, changed, false))
}

fn end_copy(state: &State, uuid: [u8; 16]) -> Result<State> {
    let changed = all(state, &[uuid])?
        .into_iter()
        .filter(|index| index.copying)
        .map(|index| Index { copying: false, ..(**index).clone() })
        .collect();
    Ok(replace(state, changed, false))
}

fn note_rollover(
    state: &State,
    uuid: [u8; 16],
    target: &str,
    rollover: &Rollover,
) -> Result<State> {
    let changed = all(state, &[uuid])?
        .into_iter()
        .map(|index| {
            let mut rollovers = (*index.rollovers).clone();
            rollovers.insert(Arc::from(target), rollover.clone());
            Index { rollovers: Arc::new(rollovers), ..(**index).clone() }
        })
        .collect();
    Ok(replace(state, changed, false))
}

#[cfg(test)]
mod tests;
