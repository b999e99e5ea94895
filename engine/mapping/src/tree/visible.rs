//! A mapping with some fields hidden: what a caller with limits sees (decision D7).
//!
//! Always true
//! 1. What is left keeps its number, so that it reads the same columns and postings.
//! 2. A hidden field takes its multi-fields and parts along where they are hidden too; one that is
//!    permitted stays, though the field above it is hidden, under its own path.
//! 3. Another name of a hidden field is hidden.

use std::sync::Arc;

use super::Mapping;
use super::node::{Child, Children, Object};
use crate::types::Field;

impl Mapping {
    /// This mapping with the fields alone that `permits` says yes to.
    pub fn visible(&self, permits: &dyn Fn(&str) -> bool) -> Self {
        let root = reduce(self.root(), permits);
        let inner = &self.inner;
        Self::build(
            inner.version,
            inner.next_no,
            Arc::new(root),
            inner.options.clone(),
            inner.settings.clone(),
        )
    }
}

fn reduce(object: &Object, permits: &dyn Fn(&str) -> bool) -> Object {
    let mut kept: Vec<(Arc<str>, Child)> = Vec::new();
    for (name, child) in object.children.iter() {
        match child {
            Child::Object(inner) => {
                let reduced = reduce(inner, permits);
                if reduced.children.len() > 0 || (inner.children.len() == 0 && permits(&inner.path))
                {
                    kept.push((name.clone(), Child::Object(Arc::new(reduced))));
                }
            }
            Child::Alias(alias) => {
                if permits(&alias.path) && permits(&alias.target) {
                    kept.push((name.clone(), child.clone()));
                }
            }
            Child::Field(field) => kept.extend(field_of(name, field, permits)),
        }
    }
    Object { children: Children::new(kept), ..object.clone() }
}

/// A field with the permitted ones of its multi-fields; those of a hidden field stand for
/// themselves, under names that are their paths' rest.
fn field_of(
    name: &Arc<str>,
    field: &Arc<Field>,
    permits: &dyn Fn(&str) -> bool,
) -> Vec<(Arc<str>, Child)> {
    let multi: Vec<Arc<Field>> =
        field.multi_fields.iter().filter(|other| permits(&other.path)).cloned().collect();
    if permits(&field.path) {
        if multi.len() == field.multi_fields.len() {
            return vec![(name.clone(), Child::Field(field.clone()))];
        }
        let reduced = Field { multi_fields: multi, ..Field::clone(field) };
        return vec![(name.clone(), Child::Field(Arc::new(reduced)))];
    }
    let own = |other: Arc<Field>| {
        let rest = other.path.rsplit('.').next().unwrap_or_default();
        (Arc::from(format!("{name}.{rest}")), Child::Field(other))
    };
    multi.into_iter().map(own).collect()
}

#[cfg(test)]
mod tests {
    use json::json;

    use super::*;

    #[test]
    fn hidden_fields_are_unknown_and_the_others_keep_their_numbers() {
        let mappings = json!({"properties": {
            "a": {"type": "text", "fields": {"raw": {"type": "keyword"}}},
            "b": {"type": "keyword"},
            "o": {"properties": {"x": {"type": "long"}, "y": {"type": "long"}}},
            "other": {"type": "alias", "path": "b"}}});
        let whole = Mapping::parse(&mappings, Arc::default()).expect("legal");
        let seen = whole.visible(&|path| matches!(path, "a" | "o.x" | "other"));
        let paths: Vec<&str> = seen.fields().map(|field| &*field.path).collect();
        assert_eq!(paths, ["a", "o.x"]);
        for path in ["a", "o.x"] {
            let no = |mapping: &Mapping| mapping.field(path).map(|field| field.no);
            assert_eq!(no(&seen), no(&whole), "{path}");
        }
        assert!(seen.lookup("other").is_none(), "another name of a hidden field");
        assert!(seen.lookup("a.raw").is_none());
        let shown = json::to_string(&seen.to_json());
        assert!(!shown.contains("raw") && !shown.contains("\"y\"") && !shown.contains("\"b\""));
        let seen = whole.visible(&|path| path == "a.raw");
        assert!(seen.lookup("a").is_none());
        assert!(seen.lookup("a.raw").is_some());
    }
}
