//! Data streams: begun, changed, rolled over, taken away.
//!
//! Each change says what is to be done, and is judged here, by the state of its turn: of two callers the
//! second finds what the first left.

use std::sync::Arc;

use json::{Object, Value};

use crate::alias::AliasAction;
use crate::command::Rules;
use crate::data_stream::{self, DataStream, StreamChange};
use crate::error::{Error, Result};
use crate::graveyard::buried;
use crate::name;
use crate::state::{Index, State};

/// Begins a data stream, as its template says. Its first index is not there yet.
pub(super) fn start(state: &State, name: &str, index: &str) -> Result<State> {
    check_name(state, name)?;
    let stream = DataStream::of_template(&state.templates, name, vec![Arc::from(index)])?;
    Ok(with(state, stream))
}

/// Makes a data stream of an alias.
pub(super) fn migrate(state: &State, name: &str) -> Result<State> {
    let wrong = |text: String| Err(Error::argument(text));
    let Some(members) = state.aliases.get(name) else {
        return wrong(format!("alias [{name}] does not exist"));
    };
    let stream = DataStream::of_template(&state.templates, name, Vec::new())?;
    let mut indices: Vec<&Arc<Index>> = Vec::new();
    let mut writer = None;
    for member in members.iter().filter_map(|member| state.index(member)) {
        let Some(alias) = member.aliases.get(name) else { continue };
        if alias.filter.is_some() || alias.index_routing.is_some() || alias.search_routing.is_some()
        {
            return wrong(format!(
                "alias [{name}] may not have custom filtering or routing for index [{}]",
                member.name
            ));
        }
        check_backing(member)?;
        if alias.is_write_index == Some(true) || members.len() == 1 {
            writer = Some(Arc::clone(&member.name));
        }
        indices.push(member);
    }
    let Some(writer) = writer else {
        return wrong(format!("alias [{name}] must specify a write index"));
    };
    let named = indices.iter().filter(|index| index.aliases.len() > 1);
    let named: Vec<&str> = named.map(|index| &*index.name).collect();
    if !named.is_empty() {
        return wrong(format!(
            "other aliases referencing indices [{}] must be removed before migrating to a data \
             stream",
            named.join(",")
        ));
    }
    let others = indices.iter().map(|index| Arc::clone(&index.name));
    let mut names: Vec<Arc<str>> = others.filter(|name| *name != writer).collect();
    names.push(writer);
    let uuids: Vec<[u8; 16]> = indices.iter().map(|index| index.uuid).collect();
    let remove = |uuid: &[u8; 16]| AliasAction::Remove { uuid: *uuid, name: name.to_owned() };
    let actions: Vec<AliasAction> = uuids.iter().map(remove).collect();
    let state = super::aliases::update(state, &actions, None)?;
    let state = hide(&state, &uuids, true)?;
    check_name(&state, name)?;
    Ok(with(&state, DataStream { indices: names, ..stream }))
}

/// Puts indices into data streams, or takes them out.
pub(super) fn modify(state: &State, changes: &[StreamChange]) -> Result<State> {
    let mut state = state.clone();
    for change in changes {
        let name = change.stream.as_str();
        let wrong = |text: String| Err(Error::argument(text));
        let Some(known) = state.data_streams.get(name) else {
            return wrong(format!("data stream [{name}] not found"));
        };
        let Some(index) = state.index(&change.index) else {
            return wrong(format!("index [{}] not found", change.index));
        };
        let uuid = index.uuid;
        let mut stream = DataStream::clone(known);
        if change.add {
            check_backing(index)?;
            match state.data_stream_of(&index.name) {
                Some(owner) if owner.name == stream.name => continue,
                Some(owner) => {
                    return wrong(format!(
                        "cannot add index [{}] to data stream [{name}] because it is already a \
                         backing index on data stream [{}]",
                        index.name, owner.name
                    ));
                }
                None => {}
            }
            without_aliases(index, name)?;
            // Before all others: the last one takes the writes.
            stream.indices.insert(0, Arc::clone(&index.name));
        } else {
            if stream.write_index() == &*index.name {
                return wrong(format!(
                    "cannot remove backing index [{}] of data stream [{name}] because it is the \
                     write index",
                    index.name
                ));
            }
            if !stream.indices.contains(&index.name) {
                return wrong(format!("index [{}] not found", index.name));
            }
            stream.indices.retain(|member| *member != index.name);
        }
        stream.generation += 1;
        state = with(&hide(&state, &[uuid], change.add)?, stream);
    }
    Ok(state)
}

/// Gives the writes of a data stream from an index to another, which is there, and was named by
/// `generation`.
pub(super) fn roll(
    state: &State,
    name: &str,
    (from, index): (&str, &str),
    generation: u64,
) -> Result<State> {
    let known = state.data_streams.get(name).filter(|known| known.write_index() == from);
    let Some(known) = known else { return Err(Error::Moved { target: name.to_owned() }) };
    let Some(next) = state.index(index) else {
        return Err(Error::NotFound { name: index.to_owned() });
    };
    let mut stream = DataStream::clone(known);
    stream.generation = generation.max(known.generation + 1);
    stream.rollover_on_write = false;
    stream.indices.push(Arc::clone(&next.name));
    Ok(with(state, stream))
}

/// Has the next write to a data stream roll it over first.
pub(super) fn mark(state: &State, name: &str) -> Result<State> {
    let Some(known) = state.data_streams.get(name) else {
        return Err(Error::argument(format!("rollover target [{name}] does not exist")));
    };
    Ok(with(state, DataStream { rollover_on_write: true, ..DataStream::clone(known) }))
}

fn with(state: &State, stream: DataStream) -> State {
    let mut streams = (*state.data_streams).clone();
    streams.insert(Arc::clone(&stream.name), Arc::new(stream));
    State { version: state.version + 1, ..state.clone() }.with_streams(streams)
}

/// Hides indices from wildcards, or shows them again.
fn hide(state: &State, uuids: &[[u8; 16]], hidden: bool) -> Result<State> {
    let mut settings = Object::new();
    settings.insert("index.hidden", if hidden { Value::from("true") } else { Value::Null });
    super::put_settings(state, uuids, &Value::Object(settings), (false, Rules::Now), None)
}

/// May a new data stream have this name?
fn check_name(state: &State, name: &str) -> Result<()> {
    if state.data_streams.contains_key(name) {
        return Err(Error::StreamExists { name: name.to_owned() });
    }
    name::check_index(name).map_err(|error| match error {
        Error::IndexName { name, why } => Error::argument(format!("data_stream [{name}] {why}")),
        other => other,
    })?;
    if state.index(name).is_some() || state.aliases.contains_key(name) {
        return Err(Error::State {
            reason: format!(
                "data stream [{name}] conflicts with existing index or alias of the same name"
            ),
        });
    }
    Ok(())
}

/// May an index be one of a data stream, by what its documents say of when they happened?
fn check_backing(index: &Index) -> Result<()> {
    let is_bare = || index.mapping.to_json().as_object().is_none_or(Object::is_empty);
    if index.mapping.total_fields() == 0 && is_bare() {
        return Err(Error::argument(format!(
            "backing index [{}] must have mappings for a timestamp field",
            index.name
        )));
    }
    data_stream::check_timestamp(&index.mapping)
}

/// An index with other names is no index of a data stream.
fn without_aliases(index: &Index, stream: &str) -> Result<()> {
    let names: Vec<&str> = index.aliases.keys().map(|name| &**name).collect();
    let (word, verb) = match names.len() {
        0 => return Ok(()),
        1 => ("alias", "is"),
        _ => ("aliases", "are"),
    };
    Err(Error::argument(format!(
        "cannot add index [{}] to data stream [{stream}] until its {word} [{}] {verb} removed",
        index.name,
        names.join(",")
    )))
}

/// Sets a data stream, or replaces it, as older logs do.
pub(super) fn put(state: &State, stream: &DataStream, create: bool) -> Result<State> {
    let name = &*stream.name;
    if create {
        check_name(state, name)?;
    }
    // Whoever looked at an older one would take away what came since.
    let is_stale = |known: &Arc<DataStream>| {
        stream.generation < known.generation
            || stream.generation == known.generation && stream.indices != known.indices
    };
    if !create && state.data_streams.get(name).is_some_and(is_stale) {
        return Err(Error::State {
            reason: format!("data stream [{name}] has been changed meanwhile"),
        });
    }
    if stream.indices.is_empty() {
        return Err(Error::argument(format!("data stream [{name}] needs an index")));
    }
    for index in &stream.indices {
        if state.index(index).is_none() {
            return Err(Error::NotFound { name: index.to_string() });
        }
    }
    Ok(with(state, stream.clone()))
}

/// Takes data streams away, with their indices.
pub(super) fn delete(state: &State, names: &[String], at_ms: Option<i64>) -> State {
    let mut streams = (*state.data_streams).clone();
    let mut gone = Vec::new();
    for name in names {
        if let Some(stream) = streams.remove(name.as_str()) {
            gone.extend(stream.indices.iter().map(Arc::clone));
        }
    }
    // Older logs may have put one index into two.
    gone.retain(|index| !streams.values().any(|other| other.indices.contains(index)));
    if streams.len() == state.data_streams.len() {
        return state.clone();
    }
    let mut indices = (*state.indices).clone();
    indices.retain(|name, _| !gone.contains(name));
    let tombstones = buried(&state.tombstones, &state.indices, &indices, at_ms);
    let after = state.with_indices(indices, true);
    State { tombstones, ..after }.with_streams(streams)
}

/// The state with the streams short of indices that are gone; the one that takes writes must stay.
pub(super) fn without_missing(state: State) -> Result<State> {
    let whole =
        |stream: &DataStream| stream.indices.iter().all(|name| state.indices.contains_key(name));
    if state.data_streams.values().all(|stream| whole(stream)) {
        return Ok(state);
    }
    let mut streams = (*state.data_streams).clone();
    for stream in streams.values_mut() {
        if whole(stream) {
            continue;
        }
        let writes = stream.write_index();
        if !state.indices.contains_key(writes) {
            return Err(Error::argument(format!(
                "index [{writes}] is the write index for data stream [{}] and cannot be deleted",
                stream.name
            )));
        }
        let mut shorter = DataStream::clone(stream);
        shorter.indices.retain(|name| state.indices.contains_key(name));
        *stream = Arc::new(shorter);
    }
    Ok(state.with_streams(streams))
}
