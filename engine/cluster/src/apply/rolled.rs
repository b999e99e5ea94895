//! An alias whose writes the next index takes: judged by the state of its turn, as each change of a data
//! stream is ([`super::streams`]).

use super::aliases;
use crate::alias::{Alias, AliasAction};
use crate::error::{Error, Result};
use crate::state::State;
use crate::template::Part;

/// Gives the writes of an alias from one index to another, which is there: with what the alias says of
/// the old one, which keeps it only where it was said to take the writes.
pub(super) fn roll(state: &State, name: &str, from: [u8; 16], index: &str) -> Result<State> {
    let writer = state.writer_of(name).filter(|(old, _)| old.uuid == from);
    let Some((old, explicit)) = writer else {
        return Err(Error::Moved { target: name.to_owned() });
    };
    let Some(next) = state.index(index) else {
        return Err(Error::NotFound { name: index.to_owned() });
    };
    let said = old.aliases.get(name).cloned().unwrap_or_default();
    let set = |uuid: [u8; 16], is_write_index: Option<bool>| AliasAction::Add {
        uuid,
        name: name.to_owned(),
        alias: Alias { is_write_index, ..said.clone() },
    };
    let before = match explicit {
        true => set(from, Some(false)),
        false => AliasAction::Remove { uuid: from, name: name.to_owned() },
    };
    let after = set(next.uuid, explicit.then_some(true));
    aliases::update(state, &[before, after], None)
}

/// May `next` be the index to which `alias` is rolled over? An alias that the templates of that index
/// give, too, would point to both.
///
/// # Errors
/// In Elasticsearch's words.
pub fn check_next(state: &State, alias: &str, next: &str) -> Result<()> {
    let said = state.writer_of(alias).and_then(|(old, _)| old.aliases.get(alias));
    let hidden = said.is_some_and(|said| said.is_hidden == Some(true));
    let keys = |part: &Part| {
        let aliases = part.aliases.as_ref().filter(|aliases| aliases.contains_key(alias))?;
        Some(aliases.keys().cloned().collect::<Vec<_>>().join(", "))
    };
    let found = match state.templates.find(next, hidden) {
        Some((name, template)) => {
            let components = template.composed_of.iter();
            let components =
                components.filter_map(|name| state.templates.component.get(name.as_str()));
            let mut parts =
                components.map(|component| &component.template).chain(&template.template);
            parts.find_map(keys).map(|keys| (name, keys))
        }
        None => {
            let legacy = state.templates.find_legacy(next, hidden);
            legacy.into_iter().find_map(|(name, body)| Some((name, keys(&body.part)?)))
        }
    };
    match found {
        None => Ok(()),
        Some((template, keys)) => Err(Error::argument(format!(
            "Rollover alias [{alias}] can point to multiple indices, found duplicated alias [[{keys}]] \
             in index template [{template}]"
        ))),
    }
}
