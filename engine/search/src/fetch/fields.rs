//! `fields` and `stored_fields`: values out of a document's text, as the mapping reads them.
//!
//! A value is looked up by the path of its field in the source (of a multi-field: of the field it
//! belongs to; of one that others are copied to: theirs too), read by the field's type, and shown in
//! the type's own form. Nested objects come as groups, one for each object.
//!
//! Always true: what the type cannot read is left out, as it was when the document was indexed.

use std::collections::BTreeMap;
use std::sync::Arc;

use json::Value;
use mapping::document::kept::Kept;
use mapping::types::{DateFormat, KeywordFlavor, Scalar, geo, ip};
use mapping::{Field, Kind as Type, Mapping};

use crate::error::{Error, Result};
use crate::request::{FieldFormat, SearchRequest, Stored};

/// Depth of objects that are looked into.
const DEPTH_MAX: usize = 64;

/// What of a document's text is shown as `fields`.
#[derive(Debug, Default)]
pub struct Shown {
    wanted: Vec<One>,
    /// Patterns whose leaves are shown also where the mapping does not know them.
    unmapped: Vec<String>,
    /// Paths that the mapping knows, where any pattern asks for others.
    mapped: Vec<Arc<str>>,
    nested: Vec<Arc<str>>,
}

/// One field.
#[derive(Debug)]
struct One {
    /// The name it is shown under.
    name: Arc<str>,
    field: Arc<Field>,
    /// Where its values stand in the source.
    sources: Vec<Arc<str>>,
    format: Option<Format>,
    /// Nested objects around it, the outermost first.
    nested: Vec<Arc<str>>,
    /// The values are shown as they were written.
    raw: bool,
    /// It was asked for as a stored field.
    stored: bool,
}

#[derive(Debug)]
enum Format {
    Date(DateFormat),
    Wkt,
}

impl Shown {
    /// Finds the fields that a request wants.
    ///
    /// # Errors
    /// A format that a field does not have; belongs to each shard of the index.
    pub fn bind(request: &SearchRequest, mapping: &Mapping) -> Result<Self> {
        let mut shown = Self { nested: mapping.nested_paths().to_vec(), ..Self::default() };
        for wanted in &request.fields {
            shown.want(wanted, mapping)?;
        }
        if let Stored::Names(names) = &request.stored {
            shown.store(names, mapping);
        }
        if !shown.unmapped.is_empty() {
            shown.mapped = mapping.fields().map(|field| Arc::clone(&field.path)).collect();
        }
        Ok(shown)
    }

    /// Fields with `store` among `names`.
    pub fn stored(names: &[String], mapping: &Mapping) -> Self {
        let mut shown = Self { nested: mapping.nested_paths().to_vec(), ..Self::default() };
        shown.store(names, mapping);
        shown
    }

    /// Nothing is wanted.
    pub fn is_empty(&self) -> bool {
        self.wanted.is_empty() && self.unmapped.is_empty()
    }

    fn want(&mut self, wanted: &FieldFormat, mapping: &Mapping) -> Result<()> {
        for (name, field) in mapping.expand_names(&wanted.field) {
            let is_exact = *name == *wanted.field;
            let format = match (&wanted.format, &field.kind) {
                (None, _) => None,
                (Some(format), Type::Date(_)) => {
                    Some(Format::Date(DateFormat::parse_pattern(format)?))
                }
                (Some(format), Type::GeoPoint(_)) if format == "geojson" => None,
                (Some(format), Type::GeoPoint(_)) if format == "wkt" => Some(Format::Wkt),
                // A pattern passes over what has no formats.
                (Some(_), _) if !is_exact => continue,
                (Some(format), Type::GeoPoint(_)) => {
                    return Err(Error::illegal(format!(
                        "Unrecognized geometry format [{format}]."
                    )));
                }
                (Some(_), _) => {
                    return Err(Error::illegal(format!(
                        "Field [{name}] of type [{}] doesn't support formats.",
                        field.type_name()
                    )));
                }
            };
            let one = one(name, field, format, mapping);
            // Of a field that is asked for twice the last format counts.
            self.wanted.retain(|known| known.name != one.name);
            self.wanted.push(one);
        }
        if wanted.include_unmapped {
            self.unmapped.push(wanted.field.clone());
        }
        Ok(())
    }

    fn store(&mut self, names: &[String], mapping: &Mapping) {
        for name in names.iter().filter(|name| *name != "_source") {
            for (name, field) in mapping.expand_names(name) {
                if field.store {
                    let one = one(name, field, None, mapping);
                    self.wanted.push(One { stored: true, ..one });
                }
            }
        }
    }

    /// The values of a document, each as JSON text, by the names of their fields.
    pub fn values(&self, kept: Kept<'_>) -> Vec<(String, Vec<String>)> {
        // Only text that was read as JSON is stored; of a source that is not kept there is none.
        let document = json::parse(kept.source).unwrap_or_default();
        let (stored, shown): (Vec<&One>, Vec<&One>) =
            self.wanted.iter().partition(|one| one.stored);
        let mut found = group(&shown, &document, 0, "");
        if !stored.is_empty() {
            let apart = kept.stored != kept.source;
            let values = apart.then(|| json::parse(kept.stored).unwrap_or_default());
            found.extend(group(&stored, values.as_ref().unwrap_or(&document), 0, ""));
        }
        for pattern in &self.unmapped {
            let mut leaves = BTreeMap::new();
            self.leaves(&document, "", 0, &mut leaves);
            for (path, values) in leaves {
                if json::path::glob(pattern.as_bytes(), path.as_bytes())
                    && !found.iter().any(|(name, _)| *name == path)
                {
                    found.push((path, values));
                }
            }
        }
        found
            .into_iter()
            .map(|(name, values)| (name, values.iter().map(json::to_string).collect()))
            .collect()
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
                    if self.mapped.iter().any(|known| **known == *path)
                        || self.nested.iter().any(|known| **known == *path)
                    {
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
}

fn one(name: Arc<str>, field: Arc<Field>, format: Option<Format>, mapping: &Mapping) -> One {
    let sources = sources(&field, mapping);
    let mut nested = Vec::new();
    let mut path = &*field.path;
    while let Some(around) = mapping.nested_of(path) {
        if nested.iter().any(|known: &Arc<str>| **known == *around) {
            break;
        }
        nested.push(Arc::from(around));
        path = around.rsplit_once('.').map_or("", |(parent, _)| parent);
        if path.is_empty() {
            break;
        }
    }
    nested.reverse();
    let raw = matches!(field.kind, Type::Range(_) | Type::Completion(_) | Type::Flattened(_));
    One { name, field, sources, format, nested, raw, stored: false }
}

/// Where the values of a field stand, those that are copied to it too.
pub(crate) fn sources(field: &Arc<Field>, mapping: &Mapping) -> Vec<Arc<str>> {
    let mut sources = vec![source_path(&field.path, mapping)];
    for other in mapping.fields() {
        if other.copy_to.contains(&field.path) {
            sources.push(Arc::clone(&other.path));
        }
    }
    sources
}

/// Where a field's values stand: a multi-field has those of the field it belongs to.
fn source_path(path: &Arc<str>, mapping: &Mapping) -> Arc<str> {
    if let Some((parent, _)) = path.rsplit_once('.')
        && let Some(field) = mapping.field(parent)
        && field.multi_fields.iter().any(|multi| multi.path == *path)
    {
        return Arc::clone(&field.path);
    }
    Arc::clone(path)
}

/// Values of fields inside of `value`, which stands at `prefix`, `depth` nested objects deep.
fn group(wanted: &[&One], value: &Value, depth: usize, prefix: &str) -> Vec<(String, Vec<Value>)> {
    let mut found: Vec<(String, Vec<Value>)> = Vec::new();
    let mut inside: BTreeMap<&str, Vec<&One>> = BTreeMap::new();
    for one in wanted {
        if let Some(nested) = one.nested.get(depth) {
            inside.entry(nested).or_default().push(one);
            continue;
        }
        let mut values = Vec::new();
        for source in &one.sources {
            let Some(path) = below(source, prefix) else { continue };
            let mut raw = Vec::new();
            let whole = matches!(one.field.kind, Type::GeoPoint(_)) || one.raw;
            values_at(value, path, whole, 0, &mut raw);
            raw.into_iter().for_each(|value| show(one, value, &mut values));
        }
        if !values.is_empty() {
            let name = below(&one.name, prefix).unwrap_or(&one.name);
            found.push((name.to_owned(), values));
        }
    }
    for (nested, wanted) in inside {
        let Some(path) = below(nested, prefix) else { continue };
        let mut objects = Vec::new();
        values_at(value, path, false, 0, &mut objects);
        let mut groups = Vec::new();
        for object in objects {
            let mut members = json::Object::new();
            for (name, values) in group(&wanted, object, depth + 1, nested) {
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
                    normalizer.normalize(&text, &mut buffer).to_owned()
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
        (Type::Date(date), Some(scalar)) => {
            let Ok(sortable) = date.parse(&scalar.java_text()) else { return };
            let format = match &one.format {
                Some(Format::Date(format)) => format,
                _ => &date.format,
            };
            out.push(Value::String(date.print(sortable, format)));
        }
        (Type::Ip(_), Some(scalar)) => {
            if let Ok(address) = ip::parse(&scalar.java_text()) {
                out.push(Value::String(ip::show(address)));
            }
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

    #[test]
    fn values_are_found_through_arrays_and_dots() {
        assert_eq!(at(r#"{"a":{"b":1}}"#, "a.b"), ["1"]);
        assert_eq!(at(r#"{"a":[{"b":1},{"b":[2,[3]]},{"c":4}]}"#, "a.b"), ["1", "2", "3"]);
        assert_eq!(at(r#"{"a.b":1,"a":{"b":2}}"#, "a.b"), ["1", "2"]);
        assert_eq!(at(r#"{"a.b":{"c":1}}"#, "a.b.c"), ["1"]);
        assert_eq!(at(r#"{"ab":1}"#, "a"), [""; 0]);
    }
}
