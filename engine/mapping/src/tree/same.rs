//! Whether two mappings say the same, without rendering either whole.

use std::sync::Arc;

use super::node::{Child, Object};
use super::{Mapping, render};
use crate::types::Field;

/// Equal versions, numbers, options and trees. Mappings that grew from one share what they had in
/// common, and that is not looked into.
pub(super) fn is_same(one: &Mapping, other: &Mapping) -> bool {
    let (one, other) = (&one.inner, &other.inner);
    one.version == other.version
        && one.next_no == other.next_no
        && one.options == other.options
        && objects(&one.root, &other.root)
}

pub(super) fn objects(one: &Arc<Object>, other: &Arc<Object>) -> bool {
    let outside = |object: &Object| {
        let Object { dynamic, enabled, subobjects, nested, .. } = object;
        (*dynamic, *enabled, *subobjects, *nested)
    };
    Arc::ptr_eq(one, other)
        || (outside(one) == outside(other)
            && one.children.len() == other.children.len()
            && one.children.iter().zip(other.children.iter()).all(
                |((one_name, one), (other_name, other))| {
                    one_name == other_name && children(one, other)
                },
            ))
}

fn children(one: &Child, other: &Child) -> bool {
    match (one, other) {
        (Child::Field(one), Child::Field(other)) => fields(one, other),
        (Child::Object(one), Child::Object(other)) => objects(one, other),
        (Child::Alias(one), Child::Alias(other)) => one == other,
        _ => false,
    }
}

fn fields(one: &Arc<Field>, other: &Arc<Field>) -> bool {
    let all = |one: &[Arc<Field>], other: &[Arc<Field>]| {
        one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one.no == other.no)
    };
    Arc::ptr_eq(one, other)
        || (one.no == other.no
            && all(&one.multi_fields, &other.multi_fields)
            && all(&one.parts, &other.parts)
            // Shows the multi-fields too.
            && render::field(one) == render::field(other))
}
