//! Data streams: set, replaced, taken away.

use std::sync::Arc;

use crate::data_stream::DataStream;
use crate::error::{Error, Result};
use crate::graveyard::buried;
use crate::name;
use crate::state::State;

/// Sets a data stream, or replaces it.
pub(super) fn put(state: &State, stream: &DataStream, create: bool) -> Result<State> {
    let name = &*stream.name;
    if create {
        if state.data_streams.contains_key(name) {
            return Err(Error::StreamExists { name: name.to_owned() });
        }
        name::check_index(name).map_err(|error| match error {
            Error::IndexName { name, why } => {
                Error::argument(format!("data_stream [{name}] {why}"))
            }
            other => other,
        })?;
        if state.index(name).is_some() || state.aliases.contains_key(name) {
            return Err(Error::State {
                reason: format!(
                    "data stream [{name}] conflicts with existing index or alias of the same name"
                ),
            });
        }
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
    let mut streams = (*state.data_streams).clone();
    streams.insert(Arc::clone(&stream.name), Arc::new(stream.clone()));
    Ok(State { data_streams: Arc::new(streams), version: state.version + 1, ..state.clone() })
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
    if gone.is_empty() {
        return state.clone();
    }
    let mut indices = (*state.indices).clone();
    indices.retain(|name, _| !gone.contains(name));
    let tombstones = buried(&state.tombstones, &state.indices, &indices, at_ms);
    let after = state.with_indices(indices, true);
    State { data_streams: Arc::new(streams), tombstones, ..after }
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
    Ok(State { data_streams: Arc::new(streams), ..state })
}
