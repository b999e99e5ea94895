//! `fields` and `stored_fields`: values out of a document's text, as the mapping reads them.
//!
//! A value is looked up by the path of its field in the source (of a multi-field: of the field it
//! belongs to; of one that others are copied to: theirs too), read by the field's type, and shown in
//! the type's own form. Nested objects come as groups, one for each object.
//!
//! Always true: what the type cannot read is left out, as it was when the document was indexed, and told apart.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::hash::{Map, Set};
use json::Value;
use json::path::Globs;
use mapping::analysis::Room;
use mapping::document::kept::Kept;
use mapping::types::{KeywordFlavor, Scalar, geo, ip};
use mapping::{Kind as Type, Mapping};

use super::wanted::{self, Format, One};
use crate::error::Result;
use crate::request::{SearchRequest, Stored};

/// Depth of objects that are looked into.
const DEPTH_MAX: usize = 64;

/// Nanoseconds that a byte of a text takes to be read as a tree, walked through and shown.
const READ_NS: u64 = 25;

/// What of a document's text is shown as `fields`.
#[derive(Debug, Default)]
pub struct Shown {
    wanted: Vec<One>,
    /// Paths at which values of those stand, and all that lead there.
    paths: Set<Box<str>>,
    /// Patterns whose leaves are shown also where the mapping does not know them.
    unmapped: Option<Globs>,
    /// Paths that the mapping knows, nested objects too, where any pattern asks for others.
    mapped: Set<Arc<str>>,
}

/// Values by the names of their fields, each as JSON text.
pub type Named = Vec<(String, Vec<String>)>;

impl Shown {
    /// Finds the fields that a request wants.
    ///
    /// # Errors
    /// A format that a field does not have; belongs to each shard of the index.
    pub fn bind(request: &SearchRequest, mapping: &Mapping) -> Result<Self> {
        let mut shown = Self::of(wanted::of_fields(&request.fields, mapping)?);
        if let Stored::Names(names) = &request.stored {
            shown.add(wanted::of_stored(names, mapping));
        }
        let unmapped = request.fields.iter().filter(|wanted| wanted.include_unmapped);
        let unmapped = Globs::new(unmapped.map(|wanted| wanted.field.as_bytes()));
        if !unmapped.is_empty() {
            shown.unmapped = Some(unmapped);
            shown.mapped.extend(mapping.fields().map(|field| Arc::clone(&field.path)));
            shown.mapped.extend(mapping.nested_paths().iter().cloned());
        }
        Ok(shown)
    }

    /// About how much memory it takes.
    pub fn held_bytes(&self) -> usize {
        let paths = self.paths.iter().map(|path| size_of::<Box<str>>() + path.len());
        self.wanted.len() * size_of::<One>() + paths.sum::<usize>()
    }

    /// Fields with `store` among `names`.
    pub fn stored(names: &[String], mapping: &Mapping) -> Self {
        Self::of(wanted::of_stored(names, mapping))
    }

    fn of(wanted: Vec<One>) -> Self {
        let mut shown = Self::default();
        shown.add(wanted);
        shown
    }

    fn add(&mut self, wanted: Vec<One>) {
        for path in wanted.iter().flat_map(|one| one.sources.iter().chain(&one.nested)) {
            self.look_for(path);
        }
        self.wanted.extend(wanted);
    }

    /// Notes a path, and all that lead there.
    fn look_for(&mut self, path: &str) {
        let mut path = path;
        while self.paths.insert(path.into())
            && let Some((parent, _)) = path.rsplit_once('.')
        {
            path = parent;
        }
    }

    /// Nanoseconds that a byte of a text costs, about.
    pub(super) fn cost(&self) -> u64 {
        let unmapped = self.unmapped.as_ref().map_or(0, |patterns| patterns.words() as u64);
        if self.is_empty() { 0 } else { READ_NS + unmapped }
    }

    /// Nothing is wanted.
    pub fn is_empty(&self) -> bool {
        self.wanted.is_empty() && self.unmapped.is_none()
    }

    /// The values of a document, and those that were passed over when it was indexed (`ignored_field_values`).
    pub fn values(&self, kept: Kept<'_>) -> (Named, Named) {
        let mut ignored = Vec::new();
        // Only text that was read as JSON is stored; of a source that is not kept there is none.
        let document = json::parse(kept.source).unwrap_or_default();
        let (stored, shown): (Vec<&One>, Vec<&One>) =
            self.wanted.iter().partition(|one| one.stored);
        let mut found = self.group(&shown, &document, (0, ""), &mut ignored);
        if !stored.is_empty() {
            let apart = kept.stored != kept.source;
            let values = apart.then(|| json::parse(kept.stored).unwrap_or_default());
            let values = values.as_ref().unwrap_or(&document);
            found.extend(self.group(&stored, values, (0, ""), &mut Vec::new()));
        }
        if let Some(patterns) = &self.unmapped {
            let mut leaves = BTreeMap::new();
            self.leaves(&document, "", 0, &mut leaves);
            let known: Set<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
            leaves.retain(|path, _| !known.contains(path.as_str()));
            drop(known);
            let mut matched: Vec<(usize, String, Vec<Value>)> = leaves
                .into_iter()
                .filter_map(|(path, values)| {
                    let first = *patterns.matches(path.as_bytes()).first()?;
                    Some((first, path, values))
                })
                .collect();
            matched.sort_by_key(|(pattern, ..)| *pattern);
            found.extend(matched.into_iter().map(|(_, path, values)| (path, values)));
        }
        let written = |found: Vec<(String, Vec<Value>)>| {
            let values = |values: Vec<Value>| values.iter().map(json::to_string).collect();
            found.into_iter().map(|(name, found)| (name, values(found))).collect()
        };
        (written(found), written(ignored))
    }

    /// Leaves of the document that the mapping does not know.
    fn leaves(
        &self,
        value: &Value,
        path: &str,
        depth: usize,
        out: &mut BTreeMap<String, Vec<Value>>,
    ) {
        if depth > DEPTH_MAX {
            return;
        }
        match value {
            Value::Object(members) => {
                for (key, value) in members.iter() {
                    let path =
                        if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
                    if self.mapped.contains(path.as_str()) {
                        continue;
                    }
                    self.leaves(value, &path, depth + 1, out);
                }
            }
            Value::Array(values) => {
                for value in values {
                    self.leaves(value, path, depth + 1, out);
                }
            }
            Value::Null => {}
            leaf => out.entry(path.to_owned()).or_default().push(leaf.clone()),
        }
    }

    /// Values of fields inside of `value`, which stands at `prefix`, `depth` nested objects deep. What a field
    /// passed over comes to `ignored`.
    fn group(
        &self,
        wanted: &[&One],
        value: &Value,
        (depth, prefix): (usize, &str),
        ignored: &mut Vec<(String, Vec<Value>)>,
    ) -> Vec<(String, Vec<Value>)> {
        let mut standing = Standing { paths: &self.paths, values: Map::default() };
        standing.look(value, &mut prefix.to_owned(), 0);
        let standing = standing.values;
        let mut found: Vec<(String, Vec<Value>)> = Vec::new();
        let mut inside: BTreeMap<&str, Vec<&One>> = BTreeMap::new();
        for one in wanted {
            if let Some(nested) = one.nested.get(depth) {
                inside.entry(nested).or_default().push(one);
                continue;
            }
            let (mut values, mut passed) = (Vec::new(), Vec::new());
            let whole = matches!(one.field.kind, Type::GeoPoint(_)) || one.raw;
            // Words are counted where a document is indexed.
            let counts = matches!(&one.field.kind, Type::Number(number) if number.counts.is_some());
            for source in &one.sources {
                let mut raw = Vec::new();
                for (value, depth) in standing.get(&**source).into_iter().flatten() {
                    values_at(value, "", whole, *depth, &mut raw);
                }
                for value in raw {
                    let before = values.len();
                    show(one, value, &mut values);
                    if values.len() == before && !value.is_null() && !one.raw && !counts {
                        passed.push(value.clone());
                    }
                }
            }
            let name = below(&one.name, prefix).unwrap_or(&one.name);
            if !values.is_empty() {
                found.push((name.to_owned(), values));
            }
            if !passed.is_empty() {
                ignored.push((name.to_owned(), passed));
            }
        }
        for (nested, wanted) in inside {
            let Some(path) = below(nested, prefix) else { continue };
            let mut objects = Vec::new();
            for (value, depth) in standing.get(nested).into_iter().flatten() {
                values_at(value, "", false, *depth, &mut objects);
            }
            let mut groups = Vec::new();
            for object in objects {
                let mut members = json::Object::new();
                // Of what stands in nested objects Elasticsearch does not tell it.
                let own = self.group(&wanted, object, (depth + 1, nested), &mut Vec::new());
                for (name, values) in own {
                    members.insert(name, Value::Array(values));
                }
                if !members.is_empty() {
                    groups.push(Value::Object(members));
                }
            }
            if !groups.is_empty() {
                found.push((path.to_owned(), groups));
            }
        }
        found
    }
}

/// Values that stand at paths, found in one walk, through objects, arrays and keys with dots.
struct Standing<'a> {
    /// Paths that are looked for, and all that lead there.
    paths: &'a Set<Box<str>>,
    /// Of each path the values, with the depth at which they were found.
    values: Map<String, Vec<(&'a Value, usize)>>,
}

impl<'a> Standing<'a> {
    /// Looks into `value`, which stands at `path` (empty: at the root).
    fn look(&mut self, value: &'a Value, path: &mut String, depth: usize) {
        if depth > DEPTH_MAX {
            return;
        }
        match value {
            Value::Object(members) => {
                for (key, value) in members.iter() {
                    let len = path.len();
                    if len > 0 {
                        path.push('.');
                    }
                    path.push_str(key);
                    if !key.is_empty() && self.paths.contains(path.as_str()) {
                        match self.values.get_mut(path.as_str()) {
                            Some(values) => values.push((value, depth + 1)),
                            None => {
                                drop(self.values.insert(path.clone(), vec![(value, depth + 1)]))
                            }
                        }
                        self.look(value, path, depth + 1);
                    }
                    path.truncate(len);
                }
            }
            Value::Array(values) => {
                values.iter().for_each(|value| self.look(value, path, depth + 1));
            }
            _ => {}
        }
    }
}

/// What of a path is left below another.
pub fn below<'a>(path: &'a str, prefix: &str) -> Option<&'a str> {
    if prefix.is_empty() {
        return Some(path);
    }
    path.strip_prefix(prefix)?.strip_prefix('.')
}

/// Values at a path, through objects, arrays and keys with dots. `whole`: arrays at the end are
/// values themselves.
pub fn values_at<'a>(
    value: &'a Value,
    path: &str,
    whole: bool,
    depth: usize,
    out: &mut Vec<&'a Value>,
) {
    if depth > DEPTH_MAX {
        return;
    }
    if path.is_empty() {
        match value {
            Value::Array(values) if !whole => {
                values.iter().for_each(|value| values_at(value, path, whole, depth + 1, out));
            }
            value => out.push(value),
        }
        return;
    }
    match value {
        Value::Object(members) => {
            for (key, value) in members.iter() {
                if let Some(rest) = path.strip_prefix(key) {
                    if rest.is_empty() {
                        values_at(value, "", whole, depth + 1, out);
                    } else if let Some(rest) = rest.strip_prefix('.') {
                        values_at(value, rest, whole, depth + 1, out);
                    }
                }
            }
        }
        Value::Array(values) => {
            values.iter().for_each(|value| values_at(value, path, whole, depth + 1, out));
        }
        _ => {}
    }
}

/// One value of the source in the form of its field's type.
fn show(one: &One, value: &Value, out: &mut Vec<Value>) {
    let field = &one.field;
    let scalar = Scalar::of_value(value);
    match (&field.kind, scalar) {
        (Type::GeoPoint(_), _) => points(one, value, out),
        (Type::Range(range), _) => {
            let format = match &one.format {
                Some(Format::Date(format)) => Some(&**format),
                _ => None,
            };
            let several = value.as_array().unwrap_or(std::slice::from_ref(value));
            out.extend(several.iter().filter_map(|value| range.shown(value, format)));
        }
        (_, _) if one.raw => match value {
            Value::Array(values) => out.extend(values.iter().cloned()),
            Value::Null => {}
            value => out.push(value.clone()),
        },
        (Type::Keyword(keyword), scalar) => {
            let text = match (scalar, &keyword.null_value) {
                (Some(scalar), _) => scalar.java_text(),
                (None, Some(null)) if value.is_null() => null.to_string(),
                _ => return,
            };
            let above = |limit: u32| text.encode_utf16().count() > limit as usize;
            if keyword.ignore_above.is_some_and(above) {
                return;
            }
            let mut buffer = String::new();
            let shown = match (&keyword.normalizer, &keyword.flavor) {
                (Some(normalizer), flavor) if !matches!(flavor, KeywordFlavor::Version) => {
                    match normalizer.normalize(&text, &mut buffer, &Room::default()) {
                        Some(normal) => normal.to_owned(),
                        None => return,
                    }
                }
                _ => text,
            };
            out.push(Value::String(shown));
        }
        (Type::Text(_), Some(scalar)) => out.push(Value::String(scalar.java_text())),
        (Type::Number(number), scalar) => {
            let sortable = match scalar {
                Some(scalar) => number.parse(scalar, true).ok(),
                None if value.is_null() => number.null_value,
                None => None,
            };
            out.extend(sortable.map(|sortable| number.value(sortable)));
        }
        (Type::Boolean(boolean), scalar) => {
            let flag = match scalar {
                Some(scalar) => mapping::types::boolean::parse(scalar).ok(),
                None if value.is_null() => boolean.null_value,
                None => None,
            };
            out.extend(flag.map(Value::Bool));
        }
        (Type::Date(date), scalar) => {
            let sortable = match scalar {
                Some(scalar) => date.parse(&scalar.java_text()).ok(),
                None if value.is_null() => date.null_value.as_ref().map(|(_, null)| *null),
                None => None,
            };
            let Some(sortable) = sortable else { return };
            let format = match &one.format {
                Some(Format::Date(format)) => format,
                _ => &date.format,
            };
            out.push(Value::String(date.print(sortable, format)));
        }
        (Type::Ip(of_ip), scalar) => {
            let address = match scalar {
                Some(scalar) => ip::parse(&scalar.java_text()).ok(),
                None if value.is_null() => of_ip.null_value.as_ref().map(|(_, null)| *null),
                None => None,
            };
            out.extend(address.map(|address| Value::String(ip::show(address))));
        }
        (_, Some(_)) => out.push(value.clone()),
        (_, None) => {}
    }
}

/// A point, or several.
fn points(one: &One, value: &Value, out: &mut Vec<Value>) {
    if let Value::Array(values) = value
        && !values.iter().any(|value| value.as_number().is_some())
    {
        values.iter().for_each(|value| points(one, value, out));
        return;
    }
    let Ok(point) = geo::parse_point(value, true) else { return };
    out.push(match one.format {
        Some(Format::Wkt) => {
            Value::String(format!("POINT ({} {})", shortest(point.lon), shortest(point.lat)))
        }
        _ => json::json!({"type": "Point", "coordinates": [point.lon, point.lat]}),
    });
}

fn shortest(value: f64) -> String {
    json::to_string(&Value::from(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(document: &str, path: &str) -> Vec<String> {
        let document = json::parse(document.as_bytes()).expect("JSON");
        let mut found = Vec::new();
        values_at(&document, path, false, 0, &mut found);
        found.into_iter().map(json::to_string).collect()
    }

    /// One walk finds for every path what a walk for it alone does.
    #[test]
    fn values_of_many_paths_are_found_in_one_walk() {
        for document in [
            r#"{"a":{"b":1}}"#,
            r#"{"a":[{"b":1},{"b":[2,[3]]},{"c":4}]}"#,
            r#"{"a.b":1,"a":{"b":2,"":5,".b":6},"":{"a":7},".a":8}"#,
            r#"{"a.b":{"c":[1,{"d":2}]},"a":[[{"b.c":3}],{"b":{"c":null}}]}"#,
            r#"[{"a":1},{"a":{"b":2}}]"#,
            r#"{"ab":1,"a.":{"b":2},"a..b":3}"#,
        ] {
            let root = json::parse(document.as_bytes()).expect("JSON");
            let asked = ["a", "a.b", "a.b.c", "a.b.c.d", "b", "c.d"];
            let mut shown = Shown::default();
            asked.iter().for_each(|path| shown.look_for(path));
            let mut standing = Standing { paths: &shown.paths, values: Map::default() };
            standing.look(&root, &mut String::new(), 0);
            for path in asked {
                let mut found = Vec::new();
                for (value, depth) in standing.values.get(path).into_iter().flatten() {
                    values_at(value, "", false, *depth, &mut found);
                }
                let found: Vec<String> = found.into_iter().map(json::to_string).collect();
                assert_eq!(found, at(document, path), "{path} in {document}");
            }
        }
    }

    #[test]
    fn values_are_found_through_arrays_and_dots() {
        assert_eq!(at(r#"{"a":{"b":1}}"#, "a.b"), ["1"]);
        assert_eq!(at(r#"{"a":[{"b":1},{"b":[2,[3]]},{"c":4}]}"#, "a.b"), ["1", "2", "3"]);
        assert_eq!(at(r#"{"a.b":1,"a":{"b":2}}"#, "a.b"), ["1", "2"]);
        assert_eq!(at(r#"{"a.b":{"c":1}}"#, "a.b.c"), ["1"]);
        assert_eq!(at(r#"{"ab":1}"#, "a"), [""; 0]);
    }
}
