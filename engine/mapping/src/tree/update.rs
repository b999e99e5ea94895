//! Changes: one tree worked into another, allowed or refused in Elasticsearch's words.
//!
//! A field's definition is replaced as a whole: what may change and is left out falls back to its
//! default. Multi-fields stay and are added to. What a document adds never changes what is there.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::node::{Child, Children, Object};
use super::render;
use crate::types::{Field, Kind};
use crate::{Error, ErrorKind, Result};

/// Who asks for the change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// A user: the new definition counts.
    Request,
    /// A document with unknown fields: what is there counts.
    Document,
}

/// `old` with `new` worked in; the same object where nothing changes.
pub(super) fn merge(old: &Arc<Object>, new: &Object, reason: Reason) -> Result<Arc<Object>> {
    let mut changed = false;
    let (mut dynamic, mut enabled) = (old.dynamic, old.enabled);
    if reason == Reason::Request {
        if new.dynamic.is_some() && new.dynamic != old.dynamic {
            dynamic = new.dynamic;
            changed = true;
        }
        let is_new = old.path.is_empty() && old.children.len() == 0;
        if new.enabled.is_some() && new.is_enabled() != old.is_enabled() {
            if !is_new {
                let name = if old.path.is_empty() { "_doc" } else { &old.path };
                return Err(Error::new(
                    ErrorKind::Mapper,
                    format!(
                        "the [enabled] parameter can't be updated for the object mapping [{name}]"
                    ),
                ));
            }
            enabled = new.enabled;
            changed = true;
        }
    }
    let mut children: BTreeMap<Arc<str>, Child> = BTreeMap::new();
    for (name, child) in new.children.iter() {
        let merged = match old.children.get(name) {
            None => {
                changed = true;
                child.clone()
            }
            Some(known) => {
                let merged = merge_child(known, child, reason)?;
                changed |= !same(known, &merged);
                merged
            }
        };
        children.insert(name.clone(), merged);
    }
    if !changed {
        return Ok(old.clone());
    }
    for (name, child) in old.children.iter() {
        children.entry(name.clone()).or_insert_with(|| child.clone());
    }
    let children = Children::new(children);
    Ok(Arc::new(Object { path: old.path.clone(), dynamic, enabled, children }))
}

fn same(one: &Child, two: &Child) -> bool {
    match (one, two) {
        (Child::Object(one), Child::Object(two)) => Arc::ptr_eq(one, two),
        (Child::Field(one), Child::Field(two)) => Arc::ptr_eq(one, two),
        _ => false,
    }
}

/// One child with a new definition worked in.
pub(super) fn merge_child(old: &Child, new: &Child, reason: Reason) -> Result<Child> {
    match (old, new) {
        (Child::Object(old), Child::Object(new)) => merge(old, new, reason).map(Child::Object),
        (Child::Field(_), _) if reason == Reason::Document => Ok(old.clone()),
        (Child::Field(old), Child::Field(new)) => merge_field(old, new).map(Child::Field),
        (Child::Object(_), Child::Field(_)) if reason == Reason::Document => Ok(old.clone()),
        (Child::Object(object), Child::Field(_)) | (Child::Field(_), Child::Object(object)) => {
            Err(Error::illegal_argument(format!(
                "can't merge a non object mapping [{}] with an object mapping",
                object.path
            )))
        }
    }
}

fn merge_field(old: &Arc<Field>, new: &Arc<Field>) -> Result<Arc<Field>> {
    if old.type_name() != new.type_name() {
        return Err(Error::illegal_argument(format!(
            "mapper [{}] cannot be changed from type [{}] to [{}]",
            old.path,
            old.type_name(),
            new.type_name()
        )));
    }
    let conflicts: Vec<String> = fixed(old)
        .into_iter()
        .zip(fixed(new))
        .filter(|((name, before), (_, after))| {
            // Norms may be turned off, not on.
            before != after && !(*name == "norms" && after == "false")
        })
        .map(|((name, before), (_, after))| {
            format!("\tCannot update parameter [{name}] from [{before}] to [{after}]")
        })
        .collect();
    if !conflicts.is_empty() {
        return Err(Error::illegal_argument(format!(
            "Mapper for [{}] conflicts with existing mapper:\n{}",
            old.path,
            conflicts.join("\n")
        )));
    }
    let mut multi_fields: Vec<Arc<Field>> = Vec::new();
    for multi in &new.multi_fields {
        let known = old.multi_fields.iter().find(|known| known.path == multi.path);
        multi_fields.push(match known {
            Some(known) => merge_field(known, multi)?,
            None => multi.clone(),
        });
    }
    for multi in &old.multi_fields {
        if multi_fields.iter().all(|known| known.path != multi.path) {
            multi_fields.push(multi.clone());
        }
    }
    multi_fields.sort_by(|a, b| a.path.cmp(&b.path));
    let merged = Field { no: old.no, multi_fields, ..Field::clone(new) };
    // A definition says all that tells one field from another, but for numbers; and where it says
    // the same, no multi-field is new.
    if render::field(&merged) == render::field(old) {
        return Ok(old.clone());
    }
    Ok(Arc::new(merged))
}

/// The parameters that may not change, as Elasticsearch prints them.
fn fixed(field: &Field) -> Vec<(&'static str, String)> {
    let null = || "null".to_owned();
    let mut list = vec![("index", field.index.to_string())];
    if !matches!(field.kind, Kind::Text(_)) {
        list.push(("doc_values", field.doc_values.to_string()));
    }
    list.push(("store", field.store.to_string()));
    match &field.kind {
        Kind::Text(text) => {
            let name = text.names[0].as_deref().unwrap_or("default").to_owned();
            let vector = text.term_vector.as_deref().unwrap_or("no").to_owned();
            list.push(("index_options", text.index_options.name().to_owned()));
            list.push(("norms", text.norms.to_string()));
            list.push(("term_vector", vector));
            list.push(("analyzer", name));
            list.push(("position_increment_gap", text.position_increment_gap.to_string()));
        }
        Kind::Keyword(keyword) => {
            let value = keyword.null_value.as_deref().map_or_else(null, str::to_owned);
            let normalizer = keyword.normalizer.as_ref().map(|found| found.name().to_owned());
            list.push(("null_value", value));
            list.push(("normalizer", normalizer.unwrap_or_else(|| "default".to_owned())));
        }
        Kind::Number(number) => {
            let value =
                number.null_value.map(|value| super::define::java_text(&field.sort_value(value)));
            list.push(("null_value", value.unwrap_or_else(null)));
        }
        Kind::Boolean(boolean) => {
            list.push(("null_value", boolean.null_value.map_or_else(null, |v| v.to_string())));
        }
        Kind::Date(date) => {
            let value = date.null_value.as_ref().map(|(text, _)| text.to_string());
            list.push(("format", date.format.pattern().to_owned()));
            list.push(("locale", date.locale.as_deref().unwrap_or("en").to_owned()));
            list.push(("null_value", value.unwrap_or_else(null)));
        }
    }
    list
}
