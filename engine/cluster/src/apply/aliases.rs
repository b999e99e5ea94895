//! Changes of aliases, all or none.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::replace;
use crate::alias::{Alias, AliasAction};
use crate::error::{Error, Result};
use crate::name;
use crate::state::{Index, State};

/// The state after all actions.
pub(super) fn update(before: &State, actions: &[AliasAction], at_ms: Option<i64>) -> Result<State> {
    let gone: Vec<[u8; 16]> = actions
        .iter()
        .filter_map(|action| match action {
            AliasAction::RemoveIndex { uuid } => Some(*uuid),
            _ => None,
        })
        .collect();
    // First, so that an alias may take the name of an index that goes.
    let state = super::delete(before, &gone, at_ms)?;
    let mut lists: BTreeMap<[u8; 16], BTreeMap<Arc<str>, Alias>> = BTreeMap::new();
    let mut touched: BTreeSet<&str> = BTreeSet::new();
    for action in actions {
        let (uuid, name) = match action {
            AliasAction::RemoveAny { uuids, names, must_exist } => {
                // Whoever names an index and removes it in the same change means another.
                if let Some(uuid) = uuids.iter().find(|uuid| gone.contains(uuid)) {
                    return Err(before.gone(*uuid));
                }
                let indices = uuids.iter().filter_map(|uuid| state.index_by_uuid(*uuid));
                let removed = remove_any(indices, names, &mut lists);
                if *must_exist && !removed {
                    return Err(Error::AliasesMissing { names: names.clone() });
                }
                touched.extend(names.iter().map(String::as_str));
                continue;
            }
            AliasAction::Add { uuid, name, .. } | AliasAction::Remove { uuid, name } => {
                (*uuid, name.as_str())
            }
            AliasAction::RemoveIndex { .. } => continue,
        };
        let index = state.index_by_uuid(uuid).ok_or_else(|| before.gone(uuid))?;
        let list = lists.entry(uuid).or_insert_with(|| (*index.aliases).clone());
        touched.insert(name);
        if let AliasAction::Add { alias, .. } = action {
            check_name(&state, name)?;
            check_free(&state, index)?;
            list.insert(Arc::from(name), alias.clone());
        } else {
            list.remove(name);
        }
    }
    let changed: Vec<Index> = lists
        .into_iter()
        .filter_map(|(uuid, list)| {
            let index = state.index_by_uuid(uuid)?;
            (list != *index.aliases).then(|| Index {
                aliases: Arc::new(list),
                aliases_version: index.aliases_version + 1,
                ..(**index).clone()
            })
        })
        .collect();
    let after = replace(&state, changed, true);
    check(&after, touched.into_iter())?;
    Ok(after)
}

/// Takes from `lists` what the indices have of `names`. Any?
fn remove_any<'a>(
    indices: impl Iterator<Item = &'a Arc<Index>>,
    names: &[String],
    lists: &mut BTreeMap<[u8; 16], BTreeMap<Arc<str>, Alias>>,
) -> bool {
    let mut removed = false;
    for index in indices {
        for alias in names.iter().filter(|name| index.aliases.contains_key(name.as_str())) {
            let list = lists.entry(index.uuid).or_insert_with(|| (*index.aliases).clone());
            list.remove(alias.as_str());
            removed = true;
        }
    }
    removed
}

/// An index of a data stream has no other names.
fn check_free(state: &State, index: &Index) -> Result<()> {
    let Some(stream) = state.data_stream_of(&index.name) else { return Ok(()) };
    Err(Error::argument(format!(
        "The provided expressions [{}] match a backing index belonging to data stream [{}]. Data \
         stream backing indices don't support aliases.",
        index.name, stream.name
    )))
}

/// May an alias bear this name?
pub(super) fn check_name(state: &State, name: &str) -> Result<()> {
    name::check_alias(name)?;
    if state.index(name).is_some() || state.data_streams.contains_key(name) {
        return Err(is_index(name));
    }
    Ok(())
}

/// The name of an alias is an index's.
pub(super) fn is_index(name: &str) -> Error {
    Error::AliasName {
        name: name.to_owned(),
        why: ": an index or data stream exists with the same name as the alias".to_owned(),
    }
}

/// What must hold for all indices behind one alias.
pub(super) fn check<'a>(state: &State, names: impl Iterator<Item = &'a str>) -> Result<()> {
    for name in names {
        let Some(indices) = state.aliases.get(name) else { continue };
        let said = || {
            indices.iter().filter_map(|index| {
                let alias = state.index(index)?.aliases.get(name)?;
                Some((&**index, alias))
            })
        };
        let writers: Vec<&str> = said()
            .filter(|(_, alias)| alias.is_write_index == Some(true))
            .map(|(index, _)| index)
            .collect();
        if writers.len() > 1 {
            return Err(Error::State {
                reason: format!(
                    "alias [{name}] has more than one write index [{}]",
                    writers.join(",")
                ),
            });
        }
        let hides = |alias: &Alias| alias.is_hidden == Some(true);
        let hidden: Vec<&str> =
            said().filter(|(_, alias)| hides(alias)).map(|(index, _)| index).collect();
        let shown: Vec<&str> =
            said().filter(|(_, alias)| !hides(alias)).map(|(index, _)| index).collect();
        if !hidden.is_empty() && !shown.is_empty() {
            return Err(Error::State {
                reason: format!(
                    "alias [{name}] has is_hidden set to true on indices [{}] but does not have \
                     is_hidden set to true on indices [{}]; alias must have the same is_hidden \
                     setting on all indices",
                    hidden.join(","),
                    shown.join(",")
                ),
            });
        }
    }
    Ok(())
}
