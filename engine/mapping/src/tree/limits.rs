//! How large a mapping may grow, in Elasticsearch's words.

use super::Mapping;
use super::node::{Child, Object};
use crate::types::Kind;
use crate::{Error, Result, Settings};

/// Objects inside each other that no setting can go beyond: the tree is walked by recursion.
pub(crate) const DEPTH_MAX: u64 = 500;

/// Checks a whole mapping.
pub(super) fn check(mapping: &Mapping) -> Result<()> {
    let limits = &mapping.settings().limits;
    if mapping.total_fields() > limits.total_fields {
        return Err(total(limits.total_fields, 0));
    }
    let mut joins = mapping.fields().filter(|field| matches!(field.kind, Kind::Join(_)));
    if let (Some(one), Some(two)) = (joins.next(), joins.next()) {
        return Err(Error::illegal_argument(format!(
            "Only one [parent-join] field can be defined per index, got [{}, {}]",
            one.path, two.path
        )));
    }
    let nested = mapping.nested_paths().len() as u64;
    if nested > limits.nested_fields {
        return Err(Error::illegal_argument(format!(
            "Limit of nested fields [{}] has been exceeded",
            limits.nested_fields
        )));
    }
    names(mapping.root(), limits.field_name_length)
}

fn names(object: &Object, limit: u64) -> Result<()> {
    if limit == u64::MAX {
        return Ok(());
    }
    for (name, child) in object.children.iter() {
        if name.encode_utf16().count() as u64 > limit {
            return Err(Error::illegal_argument(format!(
                "Field name [{name}] is longer than the limit of [{limit}] characters"
            )));
        }
        if let Child::Object(inner) = child {
            names(inner, limit)?;
        }
    }
    Ok(())
}

/// Is this what one of the limits here says?
pub(crate) fn is_exceeded(reason: &str) -> bool {
    let is_long = reason.starts_with("Field name [") && reason.ends_with("] characters");
    let begins = |what: &str| reason.starts_with(what);
    is_long || LIMITS.into_iter().any(begins)
}

/// How the sentences of limits begin.
const LIMITS: [&str; 3] =
    ["Limit of total fields [", "Limit of nested fields [", "Limit of mapping depth ["];

/// The sentence for too many fields; `adding` is 0 where it is not a document that adds them.
#[cold]
pub(crate) fn total(limit: u64, adding: u64) -> Error {
    let mut reason = format!("Limit of total fields [{limit}] has been exceeded");
    if adding > 0 {
        reason.push_str(&format!(" while adding new fields [{adding}]"));
    }
    Error::illegal_argument(reason)
}

/// Checks how deep an object lies; an object of the root lies at 2.
pub(crate) fn depth(settings: &Settings, path: &str) -> Result<()> {
    let limit = settings.limits.depth.min(DEPTH_MAX);
    let depth = path.bytes().filter(|byte| *byte == b'.').count() as u64 + 2;
    if depth <= limit {
        return Ok(());
    }
    Err(Error::illegal_argument(format!(
        "Limit of mapping depth [{limit}] has been exceeded due to object field [{path}]"
    )))
}
