//! What documents may hold below a path, as far as the mapping knows.
//!
//! Always true: where it is not sure (objects, fields whose keys are values, names that are not mapped), it
//! says so.

use std::sync::Arc;

use json::fields::Members;
use json::{Object as Json, Value};

use super::Mapping;
use super::node::Child;
use crate::types::{ContextKind, Field, Kind};

/// The members of a place.
const PLACE: [&str; 6] = ["lat", "lon", "z", "geohash", "type", "coordinates"];

/// The paths below a field's own at which its values may lie; none where the mapping does not know.
pub(super) fn parts(field: &Field) -> Option<Vec<String>> {
    let named = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    Some(match &field.kind {
        Kind::Flattened(_) | Kind::RankFeatures(_) => return None,
        Kind::Range(_) => named(&["gt", "gte", "lt", "lte"]),
        Kind::GeoPoint(_) => named(&PLACE),
        Kind::Join(_) => named(&["name", "parent"]),
        Kind::Completion(completion) => {
            let mut parts: Vec<String> = named(&["input", "weight", "contexts"]);
            for context in &completion.contexts {
                let own = format!("contexts.{}", context.name);
                if matches!(context.kind, ContextKind::Geo(_)) {
                    parts.extend(PLACE.map(|name| format!("{own}.{name}")));
                }
                parts.push(own);
            }
            parts
        }
        _ => Vec::new(),
    })
}

/// Does an object stand for one value of the field, all of whose members are judged together?
fn is_one_value(kind: &Kind) -> bool {
    matches!(kind, Kind::Range(_) | Kind::GeoPoint(_) | Kind::Join(_))
}

/// Does it depend on several values of a document whether a value of the field is good?
pub(super) fn depends(field: &Field) -> bool {
    is_one_value(&field.kind) || matches!(field.kind, Kind::Completion(_))
}

impl Mapping {
    /// What may lie below a path of documents.
    pub fn members(&self, path: &str) -> Members {
        let (mut object, mut rest) = (self.root(), path);
        loop {
            if object.is_flat() || !object.is_enabled() {
                return Members::Any;
            }
            let (first, below) = match rest.split_once('.') {
                Some((first, below)) => (first, Some(below)),
                None => (rest, None),
            };
            match (object.children.get(first), below) {
                (Some(Child::Object(inner)), Some(below)) => (object, rest) = (inner, below),
                (Some(Child::Field(field)), below) => return members_of(field, below),
                _ => return Members::Any,
            }
        }
    }

    /// Does an object at this path stand for one value: a range, a place?
    pub fn is_one_value(&self, path: &str) -> bool {
        self.field(path).is_some_and(|field| is_one_value(&field.kind))
    }

    /// May it depend on several values of a document whether one of them is good?
    pub fn has_dependent_values(&self) -> bool {
        self.inner.flat.dependent
    }

    /// The objects of a partial document that are one value each (a range, a place), with their fields.
    pub fn one_values<'v>(&self, change: &'v Value) -> Vec<(Arc<Field>, &'v Json)> {
        let mut found = Vec::new();
        if let Value::Object(object) = change {
            self.add_one_values(object, &mut String::new(), &mut found);
        }
        found
    }

    fn add_one_values<'v>(
        &self,
        object: &'v Json,
        path: &mut String,
        found: &mut Vec<(Arc<Field>, &'v Json)>,
    ) {
        for (key, value) in object.iter() {
            let Value::Object(inner) = value else { continue };
            let len = path.len();
            if len > 0 {
                path.push('.');
            }
            path.push_str(key);
            match self.field(path).filter(|field| is_one_value(&field.kind)) {
                Some(field) => found.push((Arc::clone(field), inner)),
                None => self.add_one_values(inner, path, found),
            }
            path.truncate(len);
        }
    }
}

/// What may lie below a field, or `below` it.
fn members_of(field: &Field, below: Option<&str>) -> Members {
    // What does not read is left out of such a place, and stays in the source.
    let is_loose = matches!(field.kind, Kind::GeoPoint(_)) && field.ignores_malformed();
    let parts = match (parts(field), below) {
        (None, Some(_)) if matches!(field.kind, Kind::RankFeatures(_)) => Vec::new(),
        (Some(parts), _) if !is_loose => parts,
        _ => return Members::Any,
    };
    let Some(below) = below else { return Members::These(parts) };
    let inside = |part: String| Some(part.strip_prefix(below)?.strip_prefix('.')?.to_owned());
    Members::These(parts.into_iter().filter_map(inside).collect())
}

#[cfg(test)]
mod tests {
    use json::json;

    use super::*;

    #[test]
    fn the_mapping_knows_what_lies_below_its_fields() {
        let mappings = json!({"properties": {
            "k": {"type": "keyword"}, "f": {"type": "flattened"}, "rf": {"type": "rank_features"},
            "r": {"type": "integer_range"}, "loose": {"type": "geo_point", "ignore_malformed": true},
            "o": {"properties": {"k": {"type": "keyword"}}},
            "flat": {"subobjects": false, "properties": {"k": {"type": "keyword"}}},
            "c": {"type": "completion", "contexts": [{"name": "x", "type": "category"}]}}});
        let mapping = Mapping::parse(&mappings, Arc::default()).expect("legal");
        let these =
            |names: &[&str]| Members::These(names.iter().map(|&name| name.to_owned()).collect());
        for (path, members) in [
            ("k", these(&[])),
            ("o.k", these(&[])),
            ("r", these(&["gt", "gte", "lt", "lte"])),
            ("r.gte", these(&[])),
            ("rf.a", these(&[])),
            ("c", these(&["input", "weight", "contexts", "contexts.x"])),
            ("c.contexts", these(&["x"])),
            ("rf", Members::Any),
            ("f", Members::Any),
            ("f.a", Members::Any),
            ("o", Members::Any),
            ("loose", Members::Any),
            ("loose.lat", Members::Any),
            ("flat.k", Members::Any),
            ("nowhere", Members::Any),
        ] {
            assert_eq!(mapping.members(path), members, "{path}");
        }
        let change = json!({"o": {"k": {"x": 1}}, "r": {"gte": 1}, "c": {"input": "a"}});
        let found = mapping.one_values(&change);
        assert_eq!(found.iter().map(|(field, _)| &*field.path).collect::<Vec<_>>(), ["r"]);
    }
}
