//! `copy_to` and aliases: where a value may be copied to, what a name may stand for.

use super::Mapping;
use super::node::{Alias, Child, Object};
use crate::{Error, Result};

/// Checks every target.
pub(super) fn check(mapping: &Mapping) -> Result<()> {
    object(mapping, mapping.root())
}

fn object(mapping: &Mapping, within: &Object) -> Result<()> {
    for (_, child) in within.children.iter() {
        let field = match child {
            Child::Object(inner) => {
                object(mapping, inner)?;
                continue;
            }
            Child::Alias(alias) => {
                check_alias(mapping, alias)?;
                continue;
            }
            Child::Field(field) => field,
        };
        for target in &field.copy_to {
            check_nested(mapping, &field.path, target)?;
            if mapping.is_object(target) {
                return Err(Error::illegal_argument(format!(
                    "Cannot copy to field [{target}] since it is mapped as an object"
                )));
            }
            let parent = target.rsplit_once('.').map(|(parent, _)| parent);
            let is_multi = mapping.field(target).is_some()
                && parent.is_some_and(|parent| mapping.field(parent).is_some());
            if is_multi {
                return Err(Error::illegal_argument(format!(
                    "[copy_to] may not be used to copy to a multi-field: [{target}]"
                )));
            }
        }
    }
    Ok(())
}

/// A value is copied within its own document or to one that encloses it.
fn check_nested(mapping: &Mapping, source: &str, target: &str) -> Result<()> {
    let (from, to) = (mapping.nested_of(source), mapping.nested_of(target));
    let encloses = match (from, to) {
        (_, None) => true,
        (None, Some(_)) => false,
        (Some(from), Some(to)) => {
            from == to || from.strip_prefix(to).is_some_and(|rest| rest.starts_with('.'))
        }
    };
    if encloses {
        return Ok(());
    }
    Err(Error::illegal_argument(format!(
        "Illegal combination of [copy_to] and [nested] mappings: [copy_to] may only copy data to \
         the current nested document or any of its parents, however one [copy_to] directive is \
         trying to copy data from nested object [{}] to [{}]",
        from.unwrap_or("null"),
        to.unwrap_or("null")
    )))
}

fn check_alias(mapping: &Mapping, alias: &Alias) -> Result<()> {
    let invalid = |why: &str| {
        Err(Error::mapper_parsing(format!(
            "Invalid [path] value [{}] for field alias [{}]: {why}",
            alias.target, alias.path
        )))
    };
    if alias.target == alias.path {
        return invalid("an alias cannot refer to itself.");
    }
    if mapping.is_alias(&alias.target) {
        return invalid("an alias cannot refer to another alias.");
    }
    if mapping.field(&alias.target).is_none() {
        return invalid("an alias must refer to an existing field in the mappings.");
    }
    let (own, target) = (mapping.nested_of(&alias.path), mapping.nested_of(&alias.target));
    if own == target {
        return Ok(());
    }
    let scope = |path: Option<&str>| match path {
        None => "is not nested".to_owned(),
        Some(path) => format!("'s nested scope is [{path}]"),
    };
    let own = scope(own);
    let own = if own.starts_with('\'') { own } else { format!(" {own}") };
    let target = scope(target);
    let target = if target.starts_with('\'') { target } else { format!(" {target}") };
    invalid(&format!(
        "an alias must have the same nested scope as its target. The alias{own}, but the \
         target{target}."
    ))
}
