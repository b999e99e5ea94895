//! Changes: one tree worked into another, allowed or refused in Elasticsearch's words.
//!
//! A field's definition is replaced as a whole: what may change and is left out falls back to its
//! default. Multi-fields stay and are added to. What a document adds never changes what is there.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::node::{Child, Children, Nested, Object};
use super::render;
use crate::types::{ContextKind, Contexts, Field, Join, Kind, NumberKind, TextFlavor};
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
    let (mut subobjects, mut nested) = (old.subobjects, old.nested);
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
        if new.subobjects.is_some() && new.is_flat() != old.is_flat() {
            if !is_new {
                let name = if old.path.is_empty() { "_doc" } else { &old.path };
                return Err(Error::new(
                    ErrorKind::Mapper,
                    format!(
                        "the [subobjects] parameter can't be updated for the object mapping [{name}]"
                    ),
                ));
            }
            subobjects = new.subobjects;
            changed = true;
        }
        if old.nested != new.nested {
            nested = merge_nested(old, new)?;
            changed |= nested != old.nested;
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
    Ok(Arc::new(Object { path: old.path.clone(), dynamic, enabled, subobjects, nested, children }))
}

/// An object stays nested or not, and so does what it shows outside.
fn merge_nested(old: &Object, new: &Object) -> Result<Option<Nested>> {
    let path = &old.path;
    let illegal = |reason: String| Err(Error::illegal_argument(reason));
    match (&old.nested, &new.nested) {
        (None, Some(_)) | (Some(_), None) => {
            illegal(format!("can't merge a non-nested mapping [{path}] with a nested mapping"))
        }
        (Some(old), Some(new)) if old.in_parent != new.in_parent => Err(Error::new(
            ErrorKind::Mapper,
            "the [include_in_parent] parameter can't be updated on a nested object mapping",
        )),
        (Some(old), Some(new)) if old.in_root != new.in_root => Err(Error::new(
            ErrorKind::Mapper,
            "the [include_in_root] parameter can't be updated on a nested object mapping",
        )),
        (old, _) => Ok(*old),
    }
}

/// Is one child the other, not only equal to it?
pub(super) fn same(one: &Child, two: &Child) -> bool {
    match (one, two) {
        (Child::Object(one), Child::Object(two)) => Arc::ptr_eq(one, two),
        (Child::Field(one), Child::Field(two)) => Arc::ptr_eq(one, two),
        (Child::Alias(one), Child::Alias(two)) => one == two,
        _ => false,
    }
}

/// One child with a new definition worked in.
pub(super) fn merge_child(old: &Child, new: &Child, reason: Reason) -> Result<Child> {
    match (old, new) {
        (Child::Object(old), Child::Object(new)) => merge(old, new, reason).map(Child::Object),
        (Child::Field(old), Child::Field(new)) if reason == Reason::Document => {
            Ok(Child::Field(with_value(old, new)))
        }
        (Child::Field(_) | Child::Alias(_), _) if reason == Reason::Document => Ok(old.clone()),
        (Child::Field(old), Child::Field(new)) => merge_field(old, new).map(Child::Field),
        (Child::Alias(_), Child::Alias(_)) => Ok(new.clone()),
        (Child::Alias(alias), _) => Err(Error::illegal_argument(format!(
            "Cannot merge a field alias mapping [{}] with a mapping that is not for a field alias.",
            alias.path
        ))),
        (Child::Field(field), Child::Alias(_)) => Err(Error::illegal_argument(format!(
            "mapper [{}] cannot be changed from type [{}] to [alias]",
            field.path,
            field.type_name()
        ))),
        (Child::Object(object), Child::Alias(_)) => Err(Error::illegal_argument(format!(
            "can't merge a non object mapping [{}] with an object mapping",
            object.path
        ))),
        (Child::Object(_), Child::Field(_)) if reason == Reason::Document => Ok(old.clone()),
        (Child::Object(object), Child::Field(_)) | (Child::Field(_), Child::Object(object)) => {
            Err(Error::illegal_argument(format!(
                "can't merge a non object mapping [{}] with an object mapping",
                object.path
            )))
        }
    }
}

/// Families may grow, not shrink: what is kept of documents rests on them.
fn check_relations(path: &str, old: &Join, new: &Join) -> Result<()> {
    let conflict = |what: String| {
        Err(Error::illegal_argument(format!(
            "Mapper for [{path}] conflicts with existing mapper:\n\tCannot update parameter \
             [relations]: {what}"
        )))
    };
    for (parent, children) in &old.relations {
        let Some(kept) = new.children(parent) else {
            return conflict(format!("Cannot remove parent [{parent}] in join field [{path}]"));
        };
        if let Some(gone) = children.iter().find(|child| !kept.contains(child)) {
            return conflict(format!("Cannot remove child [{gone}] in join field [{path}]"));
        }
    }
    for (parent, children) in &new.relations {
        if old.children(parent).is_none() && old.parent(parent).is_some() {
            return conflict(format!(
                "Cannot create parent [{parent}] from an existing child in join field [{path}]"
            ));
        }
        let known = |child: &&Arc<str>| old.parent(child).is_none() && old.knows(child);
        if let Some(child) = children.iter().find(known) {
            return conflict(format!(
                "Cannot create child [{child}] from an existing parent in join field [{path}]"
            ));
        }
    }
    Ok(())
}

/// The first document says what a `constant_keyword` is.
fn with_value(old: &Arc<Field>, new: &Arc<Field>) -> Arc<Field> {
    match (&old.kind, &new.kind) {
        (Kind::ConstantKeyword(known), Kind::ConstantKeyword(found))
            if known.value.is_none() && found.value.is_some() =>
        {
            Arc::new(Field { kind: new.kind.clone(), ..Field::clone(old) })
        }
        _ => old.clone(),
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
    if let (Kind::Join(old_join), Kind::Join(new_join)) = (&old.kind, &new.kind) {
        check_relations(&old.path, old_join, new_join)?;
    }
    let conflicts: Vec<String> = fixed(old)
        .into_iter()
        .zip(fixed(new))
        .filter(|((name, before), (_, after))| {
            // Norms may be turned off, not on; what has no value may get one.
            let allowed = match *name {
                "norms" => after == "false",
                "value" => before == "null",
                _ => false,
            };
            before != after && !allowed
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
    let parts = numbered(&old.parts, &new.parts);
    let merged = Field { no: old.no, multi_fields, parts, ..Field::clone(new) };
    // A definition says all that tells one field from another, but for numbers; and where it says
    // the same, no multi-field is new.
    if render::field(&merged) == render::field(old) {
        return Ok(old.clone());
    }
    Ok(Arc::new(merged))
}

/// New parts with the numbers of the old ones: a type's parts may not change in number.
fn numbered(old: &[Arc<Field>], new: &[Arc<Field>]) -> Vec<Arc<Field>> {
    let with_no = |part: &Arc<Field>| {
        let known = old.iter().find(|known| known.path == part.path);
        let no = known.map_or(part.no, |known| known.no);
        Arc::new(Field { no, ..Field::clone(part) })
    };
    new.iter().map(with_no).collect()
}

/// The parameters that may not change, as Elasticsearch prints them.
fn fixed(field: &Field) -> Vec<(&'static str, String)> {
    let null = || "null".to_owned();
    let named =
        |name: &Option<Arc<str>>, default: &str| name.as_deref().unwrap_or(default).to_owned();
    let mut list = vec![("index", field.index.to_string())];
    if !matches!(field.kind, Kind::Text(_)) {
        list.push(("doc_values", field.doc_values.to_string()));
    }
    list.push(("store", field.store.to_string()));
    match &field.kind {
        Kind::Text(text) => {
            list.push(("index_options", text.index_options.name().to_owned()));
            list.push(("norms", text.norms.to_string()));
            list.push(("term_vector", named(&text.term_vector, "no")));
            list.push(("similarity", named(&text.similarity, "null")));
            list.push(("analyzer", named(&text.names[0], "default")));
            list.push(("position_increment_gap", text.position_increment_gap.to_string()));
            list.push(("index_phrases", text.index_phrases.to_string()));
            let prefixes = text.index_prefixes.map_or_else(null, |(least, most)| {
                format!("{{min_chars={least}, max_chars={most}}}")
            });
            list.push(("index_prefixes", prefixes));
            if let TextFlavor::SearchAsYouType(size) = text.flavor {
                list.push(("max_shingle_size", size.to_string()));
            }
        }
        Kind::Keyword(keyword) => {
            let normalizer = keyword.normalizer.as_ref().map(|found| found.name().to_owned());
            list.push(("null_value", named(&keyword.null_value, "null")));
            list.push(("index_options", keyword.index_options.name().to_owned()));
            list.push(("norms", keyword.norms.to_string()));
            list.push(("similarity", named(&keyword.similarity, "null")));
            list.push(("normalizer", normalizer.unwrap_or_else(|| "default".to_owned())));
        }
        Kind::Number(number) => {
            let value =
                number.null_value.map(|value| super::define::java_text(&number.value(value)));
            if number.number == NumberKind::ScaledFloat {
                let factor = json::number::double_to_string(number.scale);
                list.push(("scaling_factor", factor));
            }
            list.push(("null_value", value.unwrap_or_else(null)));
            if let Some(counts) = &number.counts {
                let increments = counts.position_increments.to_string();
                list.push(("enable_position_increments", increments));
            }
        }
        Kind::Boolean(boolean) => {
            list.push(("null_value", boolean.null_value.map_or_else(null, |v| v.to_string())));
        }
        Kind::Date(date) => {
            let value = date.null_value.as_ref().map(|(text, _)| text.to_string());
            list.push(("format", date.format.pattern().to_owned()));
            list.push(("locale", named(&date.locale, "en")));
            list.push(("null_value", value.unwrap_or_else(null)));
        }
        Kind::Ip(ip) => {
            let value = ip.null_value.as_ref().map(|(text, _)| text.to_string());
            list.push(("null_value", value.unwrap_or_else(null)));
        }
        Kind::Range(range) => {
            list.push(("format", range.date_format().pattern().to_owned()));
            list.push(("locale", named(&range.locale, "")));
        }
        Kind::RankFeature(feature) | Kind::RankFeatures(feature) => {
            list.push(("positive_score_impact", (!feature.negative).to_string()));
        }
        Kind::Completion(completion) => {
            list.push(("analyzer", completion.analyzer.name().to_owned()));
            list.push(("preserve_separators", completion.preserve_separators.to_string()));
            let increments = completion.preserve_position_increments.to_string();
            list.push(("preserve_position_increments", increments));
            list.push(("contexts", contexts(&completion.contexts)));
        }
        Kind::ConstantKeyword(constant) => list.push(("value", named(&constant.value, "null"))),
        Kind::Flattened(flattened) => {
            list.push(("null_value", named(&flattened.null_value, "null")));
        }
        Kind::GeoPoint(_) | Kind::Binary | Kind::Join(_) => {}
    }
    list
}

fn contexts(contexts: &[Contexts]) -> String {
    let shown: Vec<String> = contexts
        .iter()
        .map(|context| match context.kind {
            ContextKind::Category => format!("{{name={}, type=CATEGORY}}", context.name),
            ContextKind::Geo(precision) => {
                format!("{{name={}, type=GEO, precision={precision}}}", context.name)
            }
        })
        .collect();
    format!("[{}]", shown.join(", "))
}
