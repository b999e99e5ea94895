//! An index that a caller reached by a name: what of its aliases may be told, and what of its mapping
//! may be changed.
//!
//! What is hidden is decided by the rights that led here **and** by those to read: who may manage an
//! index as a whole and read a part of it learns nothing more by managing.

use std::sync::Arc;

use cluster::{Alias, Command, Index, NewIndex, State};
use json::{Object, Value};
use mapping::Mapping;

use super::filters;
use crate::error::{Error, Result};
use crate::gate::{Fields, Gate, Limits};

/// The action that shows documents.
pub(crate) const READ: &str = "indices:data/read/search";

/// An index that a caller may use.
#[derive(Clone, Debug)]
pub(crate) struct Reached {
    /// The index.
    pub index: Arc<Index>,
    /// The aliases and data streams that led to it ([`crate::index::resolve::Resolved::via`]).
    pub via: Vec<String>,
    /// What may be seen of it by the action that was asked for.
    pub limits: Limits,
}

impl Reached {
    /// Is any document or field of it hidden?
    pub fn is_limited(&self, gate: &dyn Gate) -> bool {
        !self.seen(gate).is_empty()
    }

    /// Its aliases of which the caller was granted `action`. Their filters name fields and values, so they
    /// are told to whom nothing is hidden.
    pub fn shown_aliases(&self, gate: &dyn Gate, action: &'static str) -> Vec<(String, Alias)> {
        let is_limited = self.is_limited(gate);
        let granted = self.index.aliases.iter().filter(|(name, _)| gate.sees(action, name));
        granted
            .map(|(name, alias)| {
                let mut alias = alias.clone();
                alias.filter = alias.filter.filter(|_| !is_limited);
                (name.to_string(), alias)
            })
            .collect()
    }

    /// May the caller work these mappings into it? Not onto a field that is hidden, nor from one or into one:
    /// a copy or another name would show it. To whom documents are hidden it may do nothing to them: what a
    /// filter finds hangs on fields, other names for them, copies, objects and analyzers, and the caller would
    /// choose its documents itself. Asked before the mappings are compared with what is there, so that nothing
    /// is told of that.
    ///
    /// # Errors
    /// 403 with the path as the caller wrote it.
    pub fn check_mapping(&self, gate: &dyn Gate, mappings: &Value) -> Result<()> {
        let action = "indices:admin/mapping/put";
        check_mappings(&self.seen(gate), (action, &self.index.name), mappings)
    }

    /// May the caller let an alias of it have this filter?
    ///
    /// # Errors
    /// 403 where it asks for what is hidden.
    pub fn check_filter(&self, gate: &dyn Gate, alias: &str, filter: Option<&Value>) -> Result<()> {
        filters::check(&self.seen(gate), Some(&self.index.mapping), alias, filter)
    }

    /// Its mapping with the fields alone that are seen.
    pub fn seen_mapping(&self, gate: &dyn Gate) -> Arc<Mapping> {
        let hiding = self.seen(gate).into_iter().filter_map(|limits| limits.fields);
        hiding.fold(Arc::clone(&self.index.mapping), |mapping, fields| {
            Arc::new(mapping.visible(&*fields))
        })
    }

    /// What may be seen of it, by each of its rights that tell; none where all is seen.
    pub fn seen(&self, gate: &dyn Gate) -> Vec<Limits> {
        let both = std::iter::once(self.limits.clone()).chain(self.reading(gate));
        both.filter(|limits| !limits.is_unlimited()).collect()
    }

    /// What the caller reads of it, by each name that led here; by its own, and, where that shows not all, by
    /// every other that leads to it. None who reads nothing.
    fn reading(&self, gate: &dyn Gate) -> Vec<Limits> {
        let index = &*self.index.name;
        // A refusal would be noted, so it is asked first whether there is one.
        let own = gate.sees(READ, index).then(|| gate.index(READ, index).ok()).flatten();
        let is_whole = own.as_ref().is_some_and(Limits::is_unlimited);
        let others = self.index.aliases.keys().map(|name| &**name).filter(|_| !is_whole);
        let led = self.via.iter().map(String::as_str).filter(|name| *name != index);
        let seen = led.chain(others).filter(|name| gate.sees_by_alias(READ, index, name));
        let by_names = seen.filter_map(|name| gate.index_by_alias(READ, index, name).ok());
        by_names.chain(own).collect()
    }
}

/// May a caller of these limits work these mappings into an index, or make it with them?
///
/// # Errors
/// As [`Reached::check_mapping`].
pub(crate) fn check_mappings(
    limits: &[Limits],
    (action, index): (&str, &str),
    mappings: &Value,
) -> Result<()> {
    let refuse = |path: String, what: &str| {
        let reason = format!("action [{action}] on index [{index}] reaches [{path}], {what}");
        Err(Error::new(403, "security_exception", reason))
    };
    let sets: Vec<&Arc<Fields>> = limits.iter().filter_map(|one| one.fields.as_ref()).collect();
    let permits = |path: &str| sets.iter().all(|fields| fields.permits(path));
    if !sets.is_empty()
        && let Some(path) = beyond(mappings, &permits)
    {
        return refuse(path, "which is beyond the fields that the caller may see");
    }
    match first_said(mappings).filter(|_| hide_documents(limits)) {
        None => Ok(()),
        Some(path) => refuse(path, CHOOSES),
    }
}

/// Is any document hidden by these limits?
pub(crate) fn hide_documents(limits: &[Limits]) -> bool {
    limits.iter().any(|limits| limits.filter.is_some() || !limits.kinds.is_empty())
}

/// The first thing that a mapping says: the path of a field, or a word of its own.
fn first_said(mappings: &Value) -> Option<String> {
    mappings.as_object()?.iter().find_map(|(key, value)| match (key, value) {
        ("properties" | "runtime", Value::Object(fields)) => {
            fields.keys().next().map(str::to_owned)
        }
        _ => Some(key.to_owned()),
    })
}

/// May a caller of these limits give an index these settings, flat or not?
///
/// # Errors
/// 403 for what an index is sorted by that is hidden, and for how texts are read where documents are.
pub(crate) fn check_settings(
    limits: &[Limits],
    (action, index): (&str, &str),
    settings: &Value,
) -> Result<()> {
    if limits.iter().all(Limits::is_unlimited) {
        return Ok(());
    }
    // What is wrong with them otherwise is told where they are put.
    let flat = cluster::settings::flatten(settings).unwrap_or_default();
    let hides_documents = hide_documents(limits);
    for (name, value) in &flat {
        let short = name.strip_prefix("index.").unwrap_or(name);
        let group = short.split('.').next().unwrap_or(short);
        let values = value.as_array().unwrap_or(std::slice::from_ref(value));
        let mut fields = values.iter().filter_map(Value::as_str).flat_map(|text| text.split(','));
        let hidden = |field: &str| !limits.iter().all(|limits| limits.shows(field.trim()));
        let what = if short == "sort.field" && fields.any(hidden) {
            "which names fields beyond those that the caller may see"
        } else if hides_documents && ["analysis", "query", "mapping"].contains(&group) {
            CHOOSES
        } else {
            continue;
        };
        let reason = format!("action [{action}] on index [{index}] reaches [{name}], {what}");
        return Err(Error::new(403, "security_exception", reason));
    }
    Ok(())
}

/// What a caller of an index that is yet to be made will not see of it: by this action and its right to read, and
/// by the aliases that it will have, its own and those of templates, where its name does not show all.
pub(crate) fn limits_of_new(
    gate: &dyn Gate,
    action: &'static str,
    state: &State,
    new: &NewIndex,
) -> Vec<Limits> {
    let index = &*new.name;
    // A refusal would be noted, so it is asked first whether there is one.
    let ask = |action| gate.sees(action, index).then(|| gate.index(action, index).ok()).flatten();
    let read = ask(READ);
    let is_whole = read.as_ref().is_some_and(Limits::is_unlimited);
    let mut limits: Vec<Limits> = ask(action).into_iter().chain(read).collect();
    if !is_whole {
        // What is wrong with it is told where it is made.
        let whole = cluster::compose(state, Command::CreateIndex(new.clone()));
        let aliases = match &whole {
            Ok(Command::CreateIndex(whole)) => &whole.aliases,
            _ => &new.aliases,
        };
        let aliases = aliases.as_object().map(Object::keys).into_iter().flatten();
        let others = aliases.filter(|alias| gate.sees_by_alias(READ, index, alias));
        limits.extend(others.filter_map(|alias| gate.index_by_alias(READ, index, alias).ok()));
    }
    limits.retain(|limits| !limits.is_unlimited());
    limits
}

/// Why a caller may not decide what its own filter finds.
const CHOOSES: &str = "which may decide what documents the caller sees";

/// The first thing in a mapping that is not permitted.
fn beyond(mappings: &Value, permits: &dyn Fn(&str) -> bool) -> Option<String> {
    for (key, value) in mappings.as_object()?.iter() {
        let found = match (key, value) {
            ("properties", Value::Object(properties)) => members(properties, "", permits),
            ("runtime", Value::Object(fields)) => {
                fields.keys().find(|name| !permits(name)).map(str::to_owned)
            }
            // They reach for fields that are not there yet, of any name; and stand in the place of those of before.
            ("dynamic_templates", _) => Some(key.to_owned()),
            _ => None,
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

fn members(properties: &Object, above: &str, permits: &dyn Fn(&str) -> bool) -> Option<String> {
    let first = |path: &str| (!permits(path)).then(|| path.to_owned());
    for (name, definition) in properties.iter() {
        let path = if above.is_empty() { name.to_owned() } else { format!("{above}.{name}") };
        let inner = definition.get("properties").and_then(Value::as_object);
        // An object on the way to a field may be named; what is said of it concerns all below.
        let is_way = inner.is_some_and(|inner| {
            let said = definition.as_object().map(Object::keys).into_iter().flatten();
            !inner.is_empty()
                && said.filter(|key| !["properties", "type"].contains(key)).count() == 0
        });
        let own = if is_way { None } else { first(&path) };
        let below = || inner.and_then(|inner| members(inner, &path, permits));
        let kinds = || {
            let fields = definition.get("fields").and_then(Value::as_object);
            let mut names = fields.map(Object::keys).into_iter().flatten();
            names.find_map(|name| first(&format!("{path}.{name}")))
        };
        let elsewhere = || {
            let listed = definition.get("copy_to").and_then(Value::as_array).unwrap_or_default();
            let single = [definition.get("copy_to"), definition.get("path")];
            let targets = single.into_iter().flatten().chain(listed);
            targets.filter_map(Value::as_str).find_map(first)
        };
        let found = own.or_else(below).or_else(kinds).or_else(elsewhere);
        if found.is_some() {
            return found;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use json::json;

    use super::*;

    #[test]
    fn a_mapping_reaches_no_hidden_field() {
        let permits = |path: &str| ["seen", "a.b", "seen.raw"].contains(&path);
        let refused = |mappings: Value| beyond(&mappings, &permits);
        for fine in [
            json!({}),
            json!({"dynamic": false}),
            json!({"properties": {"seen": {"type": "text", "fields": {"raw": {"type": "keyword"}}}}}),
            json!({"properties": {"a": {"type": "object", "properties": {"b": {"type": "long"}}}}}),
            json!({"runtime": {"seen": {"type": "long"}}}),
        ] {
            assert_eq!(refused(fine.clone()), None, "{fine:?}");
        }
        for (mappings, path) in [
            (json!({"properties": {"secret": {"type": "long"}}}), "secret"),
            (json!({"properties": {"a": {"properties": {"c": {"type": "long"}}}}}), "a.c"),
            (
                json!({"properties": {"a": {"dynamic": false, "properties": {"b": {"type": "long"}}}}}),
                "a",
            ),
            (json!({"properties": {"seen": {"fields": {"x": {"type": "long"}}}}}), "seen.x"),
            (json!({"properties": {"seen": {"copy_to": "secret"}}}), "secret"),
            (json!({"properties": {"seen": {"copy_to": ["a.b", "secret"]}}}), "secret"),
            (json!({"properties": {"seen": {"type": "alias", "path": "secret"}}}), "secret"),
            (json!({"properties": {"secret": null}}), "secret"),
            (json!({"runtime": {"secret": null}}), "secret"),
            (json!({"dynamic_templates": [{"t": {"mapping": {}}}]}), "dynamic_templates"),
            // They take the place of those that are there.
            (json!({"dynamic_templates": []}), "dynamic_templates"),
        ] {
            assert_eq!(refused(mappings).as_deref(), Some(path));
        }
    }
}
