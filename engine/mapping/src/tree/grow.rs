//! What many documents add, worked in at once.
//!
//! Each change of a mapping makes its flat table anew, so a thousand documents of one new field each
//! would make a thousand tables of up to a thousand fields. Here the tree grows by one delta after
//! the other, and there is one table in the end.
//!
//! Always true: what comes of it is what [`Mapping::apply_delta`] makes of one delta after the other,
//! numbers and version too. Where any of them might be refused, nothing is made here.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::node::{self, Child, Children, Object};
use super::update::{Reason, merge_child, same};
use super::{Delta, Mapping, copy, define, limits};
use crate::Result;

/// An object of the tree and what has become of it.
struct Growing {
    old: Arc<Object>,
    /// Children that are new, or not what they were.
    grown: BTreeMap<Arc<str>, Grown>,
}

enum Grown {
    Child(Child),
    Object(Growing),
}

/// The mapping with all of these worked in; `None` where one of them is for [`Mapping::apply_delta`] to judge.
pub(super) fn all(mapping: &Mapping, deltas: &[&Delta]) -> Option<Mapping> {
    let inner = &mapping.inner;
    let (mut version, mut next_no) = (inner.version, inner.next_no);
    let mut root = Growing::of(&inner.root);
    for delta in deltas {
        let (_, new) = define::mappings(&delta.mappings, &inner.settings).ok()?;
        // Whether an alias is good depends on what is there when it comes.
        if has_alias(&new) {
            return None;
        }
        version += u64::from(root.add(&new, &mut next_no).ok()?);
    }
    if version == inner.version {
        return Some(mapping.clone());
    }
    let (options, settings) = (inner.options.clone(), inner.settings.clone());
    let next = Mapping::build(version, next_no, root.done(), options, settings);
    // Of what these forbid nothing is allowed again by what comes after it.
    limits::check(&next).and_then(|()| copy::check(&next)).ok()?;
    Some(next)
}

fn has_alias(object: &Object) -> bool {
    object.children.iter().any(|(_, child)| match child {
        Child::Alias(_) => true,
        Child::Object(inner) => has_alias(inner),
        Child::Field(_) => false,
    })
}

impl Growing {
    fn of(old: &Arc<Object>) -> Self {
        Self { old: Arc::clone(old), grown: BTreeMap::new() }
    }

    /// Takes in what is new of an object at the same path, and numbers it; true where anything was.
    fn add(&mut self, new: &Object, next_no: &mut u32) -> Result<bool> {
        let mut changed = false;
        for (name, child) in new.children.iter() {
            if let (Some(Grown::Object(inner)), Child::Object(new)) =
                (self.grown.get_mut(name), child)
            {
                changed |= inner.add(new, next_no)?;
                continue;
            }
            let known = match self.grown.get(name) {
                Some(Grown::Child(known)) => Some(known),
                // A field in the place of an object: what is there stays.
                Some(Grown::Object(_)) => continue,
                None => self.old.children.get(name),
            };
            let grown = match (known, child) {
                (None, child) => Grown::Child(node::number_child(child, next_no)),
                (Some(Child::Object(known)), Child::Object(new)) => {
                    let mut inner = Self::of(known);
                    if !inner.add(new, next_no)? {
                        continue;
                    }
                    Grown::Object(inner)
                }
                (Some(known), child) => {
                    let merged = merge_child(known, child, Reason::Document)?;
                    if same(known, &merged) {
                        continue;
                    }
                    Grown::Child(merged)
                }
            };
            changed = true;
            self.grown.insert(Arc::clone(name), grown);
        }
        Ok(changed)
    }

    fn done(self) -> Arc<Object> {
        if self.grown.is_empty() {
            return self.old;
        }
        let old = self.old.children.iter().map(|(name, child)| (name.clone(), child.clone()));
        let grown = self.grown.into_iter().map(|(name, grown)| match grown {
            Grown::Child(child) => (name, child),
            Grown::Object(inner) => (name, Child::Object(inner.done())),
        });
        let children = Children::new(old.chain(grown));
        Arc::new(Object { children, ..Object::clone(&self.old) })
    }
}
