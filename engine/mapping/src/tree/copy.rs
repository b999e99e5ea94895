//! `copy_to`: where a value may be copied to.

use super::Mapping;
use super::node::{Child, Object};
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
            Child::Field(field) => field,
        };
        for target in &field.copy_to {
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
