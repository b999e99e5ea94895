//! A mapping with some fields hidden: what a caller with limits sees (decision D7).
//!
//! Always true
//! 1. What is left keeps its number, so that it reads the same columns and postings.
//! 2. A hidden field takes its multi-fields and parts along where they are hidden too; one that is
//!    permitted stays, though the field above it is hidden, under its own path.
//! 3. Another name of a hidden field is hidden, and so is that others are copied into it.
//! 4. It is shown without what the root says of fields by name or pattern (`dynamic_templates`, parts of `_source`).

use std::sync::Arc;

use json::fields::{Fields, Members};

use super::Mapping;
use super::members::parts;
use super::node::{Child, Children, Object};
use crate::types::{Field, Kind};

/// What may be seen of fields.
pub trait Sight {
    /// May the field at this path be seen?
    fn permits(&self, path: &str) -> bool;

    /// And with all members that documents may give it?
    fn permits_members(&self, path: &str) -> bool;

    /// And no member of it is hidden that it may have?
    fn permits_parts(&self, path: &str, members: &Members) -> bool;
}

impl Sight for Fields {
    fn permits(&self, path: &str) -> bool {
        Self::permits(self, path)
    }

    fn permits_members(&self, path: &str) -> bool {
        Self::permits_members(self, path)
    }

    fn permits_parts(&self, path: &str, members: &Members) -> bool {
        Self::permits_parts(self, path, members)
    }
}

/// Is all seen that answers about a field may tell? Keys of documents are values, where a field takes any;
/// and a completion tells the values of the fields that narrow it.
fn tells_nothing_hidden(whole: &Mapping, field: &Field, sight: &dyn Sight) -> bool {
    let Some(parts) = parts(field) else { return sight.permits_members(&field.path) };
    let is_seen = sight.permits_parts(&field.path, &Members::These(parts));
    match &field.kind {
        Kind::Completion(completion) if is_seen => {
            let mut paths = completion.contexts.iter().filter_map(|one| one.path.as_deref());
            paths.all(|path| sight.permits_parts(path, &whole.members(path)))
        }
        _ => is_seen,
    }
}

impl Mapping {
    /// This mapping with the fields alone that may be seen. One of which a part is hidden that its values
    /// would tell is hidden whole.
    pub fn visible(&self, sight: &dyn Sight) -> Self {
        let root = reduce(self, self.root(), sight);
        let inner = &self.inner;
        let seen = Self::build(
            inner.version,
            inner.next_no,
            Arc::new(root),
            inner.options.clone(),
            inner.settings.clone(),
        );
        Self { reduced: true, ..seen }
    }
}

fn reduce(whole: &Mapping, object: &Object, sight: &dyn Sight) -> Object {
    let mut kept: Vec<(Arc<str>, Child)> = Vec::new();
    for (name, child) in object.children.iter() {
        match child {
            Child::Object(inner) => {
                let reduced = reduce(whole, inner, sight);
                if reduced.children.len() > 0
                    || (inner.children.len() == 0 && sight.permits(&inner.path))
                {
                    kept.push((name.clone(), Child::Object(Arc::new(reduced))));
                }
            }
            Child::Alias(alias) => {
                let target = whole.field(&alias.target);
                if sight.permits(&alias.path)
                    && target.is_some_and(|field| tells_nothing_hidden(whole, field, sight))
                {
                    kept.push((name.clone(), child.clone()));
                }
            }
            Child::Field(field) => kept.extend(field_of(whole, name, field, sight)),
        }
    }
    Object { children: Children::new(kept), ..object.clone() }
}

/// A field with the permitted ones of its multi-fields; those of a hidden field stand for
/// themselves, under names that are their paths' rest.
fn field_of(
    whole: &Mapping,
    name: &Arc<str>,
    field: &Arc<Field>,
    sight: &dyn Sight,
) -> Vec<(Arc<str>, Child)> {
    let multi: Vec<Arc<Field>> = field
        .multi_fields
        .iter()
        .filter(|other| tells_nothing_hidden(whole, other, sight))
        .cloned()
        .collect();
    if tells_nothing_hidden(whole, field, sight) {
        let is_seen = |target: &&Arc<str>| match whole.field(target) {
            Some(target) => tells_nothing_hidden(whole, target, sight),
            None => sight.permits(target),
        };
        let copy_to: Vec<Arc<str>> = field.copy_to.iter().filter(is_seen).cloned().collect();
        if multi.len() == field.multi_fields.len() && copy_to.len() == field.copy_to.len() {
            return vec![(name.clone(), Child::Field(field.clone()))];
        }
        let reduced = Field { multi_fields: multi, copy_to, ..Field::clone(field) };
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
    use json::fields::FieldRule;
    use json::json;

    use super::*;

    fn sight(grant: &[&str], except: &[&str]) -> Fields {
        let list = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        Fields(vec![vec![FieldRule { grant: Some(list(grant)), except: list(except) }]])
    }

    #[test]
    fn hidden_fields_are_unknown_and_the_others_keep_their_numbers() {
        let mappings = json!({"properties": {
            "a": {"type": "text", "fields": {"raw": {"type": "keyword"}}},
            "b": {"type": "keyword"},
            "o": {"properties": {"x": {"type": "long"}, "y": {"type": "long"}}},
            "other": {"type": "alias", "path": "b"}}});
        let whole = Mapping::parse(&mappings, Arc::default()).expect("legal");
        let seen = whole.visible(&sight(&["a", "o.x", "other"], &[]));
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
        let seen = whole.visible(&sight(&["a.raw"], &[]));
        assert!(seen.lookup("a").is_none());
        assert!(seen.lookup("a.raw").is_some());
    }

    #[test]
    fn nothing_beside_the_fields_names_a_hidden_one() {
        let mappings = json!({
            "_source": {"excludes": ["sec", "a", "sec*"]},
            "dynamic_templates": [{"t": {"match": "sec_*", "mapping": {"type": "keyword"}}}],
            "properties": {
                "a": {"type": "keyword", "copy_to": ["sec", "b"]}, "b": {"type": "keyword"},
                "c": {"type": "keyword", "copy_to": ["secret_new"]}, "sec": {"type": "keyword"}}});
        let whole = Mapping::parse(&mappings, Arc::default()).expect("legal");
        assert_eq!(json::to_string(&whole.to_json()).matches("sec").count(), 6);
        let seen = whole.visible(&sight(&["*"], &["sec*"]));
        let shown = json!({
            "_source": {"excludes": ["a"]},
            "properties": {
                "a": {"type": "keyword", "copy_to": ["b"]}, "b": {"type": "keyword"},
                "c": {"type": "keyword"}}});
        assert_eq!(seen.to_json(), shown);
    }

    #[test]
    fn a_field_whose_values_would_tell_a_hidden_part_is_hidden_whole() {
        let mappings = json!({"properties": {
            "f": {"type": "flattened"}, "r": {"type": "rank_features"},
            "g": {"type": "geo_point"}, "n": {"type": "integer_range"},
            "c": {"type": "completion", "contexts": [{"name": "x", "type": "category", "path": "s"}]},
            "s": {"type": "keyword"}}});
        let whole = Mapping::parse(&mappings, Arc::default()).expect("legal");
        for (grant, except, expected) in [
            (&["*"][..], &[][..], &["c", "f", "g", "n", "r", "s"][..]),
            (&["*"], &["f.a", "r.a", "g.lat", "n.lt", "s"], &[]),
            (&["*"], &["*.a"], &["c", "g", "n", "s"]),
            (&["*"], &["*.lat", "*.gte", "*.x"], &["s"]),
            (&["f", "r", "g", "n"], &[], &["g", "n"]),
            (&["f.a", "f.b"], &[], &[]),
        ] {
            let seen = whole.visible(&sight(grant, except));
            let mut paths: Vec<&str> = seen.fields().map(|field| &*field.path).collect();
            paths.sort_unstable();
            paths.retain(|path| !path.contains("._"));
            assert_eq!(paths, expected, "{grant:?} {except:?}");
            assert!(expected.contains(&"f") || seen.lookup("f.a").is_none());
        }
    }
}
