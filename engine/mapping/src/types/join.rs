//! Families: a document is the parent or the child of others of its index.
//!
//! The field's own terms are the names (`question`, `answer`). For each name that has children, a
//! part of the field, `join#question`, has the id of the parent as its term: a parent's own id, a
//! child's parent's. So the members of a family share a term, and stand in one shard by their
//! routing.

use std::sync::Arc;

use json::{Object as Json, Value};

/// Names that have children, each with these.
pub type Relations = Vec<(Arc<str>, Vec<Arc<str>>)>;

/// A field of families.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Join {
    /// Each name that has children, with their names; in the mapping's order.
    pub relations: Relations,
    /// `eager_global_ordinals`; without effect.
    pub lazy: bool,
}

impl Join {
    /// Is there such a name?
    pub fn knows(&self, name: &str) -> bool {
        self.children(name).is_some() || self.parent(name).is_some()
    }

    /// The names of the children of a name; none where it has none.
    pub fn children(&self, name: &str) -> Option<&[Arc<str>]> {
        let found = self.relations.iter().find(|(parent, _)| **parent == *name);
        found.map(|(_, children)| children.as_slice())
    }

    /// The name of the parent of a name; none where it is at the top.
    pub fn parent(&self, name: &str) -> Option<&Arc<str>> {
        let is_child = |children: &[Arc<str>]| children.iter().any(|child| **child == *name);
        self.relations.iter().find(|(_, children)| is_child(children)).map(|(parent, _)| parent)
    }

    /// The place of a name with children among the parts of the field.
    pub fn part(&self, parent: &str) -> Option<usize> {
        self.relations.iter().position(|(name, _)| **name == *parent)
    }

    /// As mappings show it.
    pub fn to_json(&self) -> Value {
        let mut out = Json::with_capacity(self.relations.len());
        for (parent, children) in &self.relations {
            let shown = match children.as_slice() {
                [one] => Value::from(&**one),
                several => several.iter().map(|name| &**name).collect(),
            };
            out.insert(&**parent, shown);
        }
        Value::Object(out)
    }
}
