//! Setting templates, and taking them away.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::command::TemplateKind;
use crate::error::{Error, Result};
use crate::state::State;
use crate::template::{ComponentTemplate, IndexTemplate, LegacyTemplate, Templates, check};

/// Sets an index template.
pub(super) fn put_index(
    state: &State,
    name: &str,
    template: &IndexTemplate,
    create: bool,
) -> Result<State> {
    let templates = &state.templates;
    if create && templates.index.contains_key(name) {
        return Err(Error::argument(format!("index template [{name}] already exists")));
    }
    check::index(templates, name, template)?;
    let mut after = (**templates).clone();
    put(&mut after.index, name, template);
    Ok(with(state, after))
}

/// Sets a component template.
pub(super) fn put_component(
    state: &State,
    name: &str,
    template: &ComponentTemplate,
    create: bool,
) -> Result<State> {
    let templates = &state.templates;
    if create && templates.component.contains_key(name) {
        return Err(Error::argument(format!("component template [{name}] already exists")));
    }
    check::component(templates, name, template)?;
    let mut after = (**templates).clone();
    put(&mut after.component, name, template);
    Ok(with(state, after))
}

/// Sets a template of the old kind.
pub(super) fn put_legacy(
    state: &State,
    name: &str,
    template: &LegacyTemplate,
    create: bool,
) -> Result<State> {
    let templates = &state.templates;
    if create && templates.legacy.contains_key(name) {
        return Err(Error::argument(format!("index_template [{name}] already exists")));
    }
    check::legacy(name, template)?;
    let mut after = (**templates).clone();
    put(&mut after.legacy, name, template);
    Ok(with(state, after))
}

/// Takes templates away.
pub(super) fn delete(state: &State, kind: TemplateKind, names: &[String]) -> Result<State> {
    let mut after = (*state.templates).clone();
    for name in names {
        let there = match kind {
            TemplateKind::Index => after.index.remove(name.as_str()).is_some(),
            TemplateKind::Component => after.component.remove(name.as_str()).is_some(),
            TemplateKind::Legacy => after.legacy.remove(name.as_str()).is_some(),
        };
        if !there {
            return Err(Error::TemplateMissing { name: name.clone() });
        }
    }
    match kind {
        TemplateKind::Component => unused(&after, names)?,
        TemplateKind::Index => streams_keep_theirs(state, &after, names)?,
        TemplateKind::Legacy => {}
    }
    Ok(with(state, after))
}

/// No index template still asks for them.
fn unused(after: &Templates, names: &[String]) -> Result<()> {
    let (mut users, mut used): (Vec<&str>, BTreeSet<&str>) = (Vec::new(), BTreeSet::new());
    for (user, template) in &after.index {
        let before = users.len();
        for part in template.composed_of.iter().filter(|part| names.contains(part)) {
            let ignored = template.ignore_missing.as_ref();
            if !ignored.is_some_and(|ignored| ignored.contains(part)) {
                used.insert(part);
                users.truncate(before);
                users.push(user);
            }
        }
    }
    if users.is_empty() {
        return Ok(());
    }
    Err(Error::argument(format!(
        "component templates [{}] cannot be removed as they are still in use by index templates \
         [{}]",
        used.into_iter().collect::<Vec<_>>().join(", "),
        users.join(", ")
    )))
}

/// Each data stream still has a template.
fn streams_keep_theirs(state: &State, after: &Templates, names: &[String]) -> Result<()> {
    let lost: Vec<&str> = state
        .data_streams
        .keys()
        .map(|name| &**name)
        .filter(|stream| {
            let by = |templates: &Templates| {
                templates.find(stream, false).map(|(name, _)| name.to_owned())
            };
            by(&state.templates).is_some_and(|name| names.contains(&name)) && by(after).is_none()
        })
        .collect();
    none_lost(names, &lost)
}

/// Refuses to remove templates without which these data streams have none.
pub(super) fn none_lost(names: &[String], lost: &[&str]) -> Result<()> {
    if lost.is_empty() {
        return Ok(());
    }
    Err(Error::argument(format!(
        "unable to remove composable templates [{}] as they are in use by a data streams [{}]",
        names.join(", "),
        lost.join(", ")
    )))
}

fn put<T: Clone>(map: &mut BTreeMap<Arc<str>, Arc<T>>, name: &str, template: &T) {
    map.insert(Arc::from(name), Arc::new(template.clone()));
}

fn with(state: &State, templates: Templates) -> State {
    State { templates: Arc::new(templates), version: state.version + 1, ..state.clone() }
}
