//! A document's text as its fields tell it, for mappings with a synthetic source.
//!
//! Elasticsearch keeps no text then and makes one of the columns. The same text is made here when the
//! document is written: names in order, objects of arrays joined, the values of a field sorted, words
//! each once, numbers and dates as their columns have them. What no column has (texts, values that
//! are too long or do not fit, what the mapping does not look at) stays as it came; so do arrays of
//! values and of objects where the index keeps them (`index.mapping.synthetic_source_keep`).

use std::collections::BTreeMap;

use json::{Object as Json, Value};

use crate::tree::Mapping;
use crate::tree::node::{Child, Object};
use crate::types::{Field, KeywordFlavor, Kind, Scalar, geo, ip, version};

use super::value::longer_than;

/// The text of a document as its fields tell it.
pub(super) fn source(mapping: &Mapping, source: &Value) -> Value {
    let mut parts = Parts::default();
    parts.members(mapping, mapping.root(), source);
    parts.finish(mapping)
}

/// What is known of one object.
#[derive(Default)]
struct Parts<'a> {
    by_name: BTreeMap<String, Part<'a>>,
}

/// What a name stands for.
enum Part<'a> {
    /// Values of a field.
    Field(&'a Field, Vec<&'a Value>),
    /// An object.
    Object(Parts<'a>),
    /// Documents of their own.
    Nested(Vec<Parts<'a>>, bool),
    /// What the mapping does not look at.
    Plain(Vec<&'a Value>),
}

impl<'a> Parts<'a> {
    fn members(&mut self, mapping: &'a Mapping, object: &'a Object, value: &'a Value) {
        for (key, value) in value.as_object().into_iter().flat_map(Json::iter) {
            self.member(mapping, Some(object), key, value);
        }
    }

    /// A member of an object, of which the mapping knows something or not.
    fn member(
        &mut self,
        mapping: &'a Mapping,
        object: Option<&'a Object>,
        key: &str,
        value: &'a Value,
    ) {
        let split = match object {
            Some(object) if object.is_flat() => None,
            _ => key.split_once('.'),
        };
        let (first, rest) = split.map_or((key, None), |(first, rest)| (first, Some(rest)));
        let child = object.and_then(|object| object.children.get(first));
        if self.keeps(mapping, child, first, rest, value) {
            return;
        }
        match (child, rest) {
            (Some(Child::Field(field)), None) => {
                let part = self.by_name.entry(first.to_owned());
                let part = part.or_insert_with(|| Part::Field(field, Vec::new()));
                if let Part::Field(_, values) = part {
                    gather(field, value, values);
                }
            }
            (Some(Child::Object(inner)), rest) if inner.is_enabled() => {
                self.inner(mapping, inner, first, rest, value);
            }
            _ => {
                let name = rest.map_or_else(|| first.to_owned(), |_| key.to_owned());
                let part = self.by_name.entry(name).or_insert_with(|| Part::Plain(Vec::new()));
                if let Part::Plain(values) = part {
                    values.push(value);
                }
            }
        }
    }

    /// Keeps an array as it came where the index does so, and what joins one that is kept: is the
    /// value taken?
    fn keeps(
        &mut self,
        mapping: &Mapping,
        child: Option<&Child>,
        first: &str,
        rest: Option<&str>,
        value: &'a Value,
    ) -> bool {
        if !mapping.settings().keep_arrays {
            return false;
        }
        let is_array = match (child, rest) {
            (Some(Child::Field(field)), None) => {
                matches!(value, Value::Array(items) if !is_point(field, items))
            }
            // Nested documents keep their order without it.
            (Some(Child::Object(inner)), None) => {
                inner.nested.is_none() && matches!(value, Value::Array(_))
            }
            _ => false,
        };
        match (self.by_name.get_mut(first), rest) {
            (Some(Part::Plain(values)), None) => values.push(value),
            // A part of an object whose array is kept stands beside it, under its whole name.
            (Some(Part::Plain(_)), Some(rest)) => {
                let part = self.by_name.entry(format!("{first}.{rest}"));
                if let Part::Plain(values) = part.or_insert_with(|| Part::Plain(Vec::new())) {
                    values.push(value);
                }
            }
            (None, None) if is_array => {
                self.by_name.insert(first.to_owned(), Part::Plain(vec![value]));
            }
            _ => return false,
        }
        true
    }

    /// A value of a known object.
    fn inner(
        &mut self,
        mapping: &'a Mapping,
        object: &'a Object,
        name: &str,
        rest: Option<&str>,
        value: &'a Value,
    ) {
        let items = match value {
            Value::Array(items) if rest.is_none() => items.as_slice(),
            one => std::slice::from_ref(one),
        };
        if object.nested.is_some() && rest.is_none() {
            let is_list = matches!(value, Value::Array(_));
            let part = self.by_name.entry(name.to_owned());
            let part = part.or_insert_with(|| Part::Nested(Vec::new(), is_list));
            for item in items.iter().filter(|item| item.as_object().is_some()) {
                let mut inner = Parts::default();
                inner.members(mapping, object, item);
                if let Part::Nested(list, _) = part {
                    list.push(inner);
                }
            }
            return;
        }
        let part = self.by_name.entry(name.to_owned());
        let part = part.or_insert_with(|| Part::Object(Parts::default()));
        let Part::Object(inner) = part else { return };
        match rest {
            Some(rest) => inner.member(mapping, Some(object), rest, value),
            None => items.iter().for_each(|item| inner.members(mapping, object, item)),
        }
    }

    fn finish(self, mapping: &Mapping) -> Value {
        let mut out = Json::with_capacity(self.by_name.len());
        for (name, part) in self.by_name {
            let value = match part {
                Part::Field(field, values) => values_of(mapping, field, &values),
                Part::Object(parts) => Some(parts.finish(mapping)).filter(|value| !is_empty(value)),
                Part::Nested(list, is_list) => {
                    let mut items: Vec<Value> =
                        list.into_iter().map(|parts| parts.finish(mapping)).collect();
                    match items.len() {
                        0 => None,
                        1 if !is_list => items.pop(),
                        _ => Some(Value::Array(items)),
                    }
                }
                Part::Plain(values) => one_or_all(values.into_iter().cloned().collect()),
            };
            if let Some(value) = value {
                out.insert(name, value);
            }
        }
        Value::Object(out)
    }
}

fn is_empty(value: &Value) -> bool {
    value.as_object().is_some_and(Json::is_empty)
}

/// The single values of a field's value, which may be an array of arrays.
fn gather<'a>(field: &Field, value: &'a Value, values: &mut Vec<&'a Value>) {
    match value {
        Value::Null => {}
        Value::Array(items) => {
            if is_point(field, items) {
                values.push(value);
            } else {
                items.iter().for_each(|item| gather(field, item, values));
            }
        }
        one => values.push(one),
    }
}

/// Is the array one point, as longitude and latitude?
fn is_point(field: &Field, items: &[Value]) -> bool {
    matches!(field.kind, Kind::GeoPoint(_)) && matches!(items.first(), Some(Value::Number(_)))
}

fn one_or_all(mut values: Vec<Value>) -> Option<Value> {
    match values.len() {
        0 => None,
        1 => values.pop(),
        _ => Some(Value::Array(values)),
    }
}

/// The values of a field as its column has them; what the column has not, after them.
fn values_of(mapping: &Mapping, field: &Field, values: &[&Value]) -> Option<Value> {
    let mut kept: Vec<(Order, Value)> = Vec::new();
    let mut others: Vec<Value> = Vec::new();
    for value in values {
        match column_value(mapping, field, value) {
            Some(known) => kept.push(known),
            None => others.push((*value).clone()),
        }
    }
    kept.sort_by(|a, b| a.0.cmp(&b.0));
    if !matches!(field.kind, Kind::Number(_) | Kind::Date(_) | Kind::Boolean(_) | Kind::GeoPoint(_))
    {
        kept.dedup_by(|a, b| a.0 == b.0);
    }
    let kept = kept.into_iter().map(|(_, value)| value);
    one_or_all(kept.chain(others).collect())
}

/// What values of a column are sorted by.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Order {
    Number(i64),
    Bytes(Vec<u8>),
}

/// A value as the field's column has it; none where it has not.
fn column_value(mapping: &Mapping, field: &Field, value: &Value) -> Option<(Order, Value)> {
    let scalar = Scalar::of_value(value);
    let words = |field: &Field| -> Option<(Order, Value)> {
        let Kind::Keyword(keyword) = &field.kind else { return None };
        let text = scalar?.java_text();
        let most = keyword.ignore_above.or(mapping.settings().ignore_above);
        if keyword.normalizer.is_some() || most.is_some_and(|most| longer_than(&text, most)) {
            return None;
        }
        let bytes = match keyword.flavor {
            KeywordFlavor::Version => version::encode(&text),
            _ => text.clone().into_bytes(),
        };
        Some((Order::Bytes(bytes), text.into()))
    };
    let column = field.doc_values;
    match &field.kind {
        Kind::Keyword(_) if column => words(field),
        // A text is told by a word field that has all of it.
        Kind::Text(_) => {
            let whole = |multi: &&std::sync::Arc<Field>| match &multi.kind {
                Kind::Keyword(keyword) => {
                    let is_plain = keyword.flavor == KeywordFlavor::Keyword;
                    multi.doc_values && is_plain && keyword.ignore_above.is_none()
                }
                _ => false,
            };
            words(field.multi_fields.iter().find(whole)?)
        }
        Kind::Number(number) if column && number.counts.is_none() => {
            let kept = number.parse(scalar?, number.coerce).ok()?;
            Some((Order::Number(kept), number.value(kept)))
        }
        Kind::Boolean(_) if column => {
            let kept = crate::types::boolean::parse(scalar?).ok()?;
            Some((Order::Number(kept.into()), Value::Bool(kept)))
        }
        Kind::Date(date) if column => {
            let kept = date.parse(&scalar?.java_text()).ok()?;
            Some((Order::Number(kept), date.print(kept, &date.format).into()))
        }
        Kind::Ip(_) if column => {
            let address = ip::parse(&scalar?.java_text()).ok()?;
            Some((Order::Bytes(address.octets().to_vec()), ip::show(address).into()))
        }
        Kind::GeoPoint(kind) if column => {
            let point = geo::parse_point(value, !kind.refuse_z).ok()?;
            geo::check(point, "").ok()?;
            let kept = geo::encode(point);
            let point = geo::decode(kept);
            Some((Order::Number(kept), json::json!({"lat": point.lat, "lon": point.lon})))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use json::json;
    use std::sync::Arc;

    fn synthetic(mappings: Value, document: &str) -> String {
        let mapping = Mapping::parse(&mappings, Arc::default()).expect("a mapping");
        json::to_string(&source(&mapping, &json::parse(document.as_bytes()).expect("JSON")))
    }

    #[test]
    fn fields_tell_the_document() {
        let mappings = json!({"dynamic": false, "properties": {
            "k": {"type": "keyword"}, "n": {"type": "long"}, "d": {"type": "date"},
            "f": {"type": "float"}, "t": {"type": "text"}, "b": {"type": "boolean"},
            "w": {"type": "text", "fields": {"raw": {"type": "keyword"}}},
            "short": {"type": "keyword", "ignore_above": 2},
            "ip": {"type": "ip"},
            "o": {"properties": {"x": {"type": "long"}, "y": {"type": "keyword"}}},
            "m": {"type": "nested", "properties": {"z": {"type": "long"}}},
            "off": {"type": "object", "enabled": false},
        }});
        for (document, want) in [
            (r#"{"n":["5",3,3,1.7],"k":["b","a","b"]}"#, r#"{"k":["a","b"],"n":[1,3,3,5]}"#),
            (r#"{"d":"2024-01-02","b":"true"}"#, r#"{"b":true,"d":"2024-01-02T00:00:00.000Z"}"#),
            (r#"{"o":[{"x":2,"y":"b"},{"x":1}],"o.y":"a"}"#, r#"{"o":{"x":[1,2],"y":["a","b"]}}"#),
            (r#"{"t":["z","a"],"w":["z","a"]}"#, r#"{"t":["z","a"],"w":["a","z"]}"#),
            (r#"{"short":["long","b","a"]}"#, r#"{"short":["a","b","long"]}"#),
            (
                r#"{"m":[{"z":[2,1]},{}],"ip":"::ffff:1.2.3.4"}"#,
                r#"{"ip":"1.2.3.4","m":[{"z":[1,2]},{}]}"#,
            ),
            (r#"{"m":{"z":1}}"#, r#"{"m":{"z":1}}"#),
            (
                r#"{"off":{"b":1,"a":[null]},"unknown":{"q":1}}"#,
                r#"{"off":{"b":1,"a":[null]},"unknown":{"q":1}}"#,
            ),
            (r#"{"k":null,"n":[],"o":{}}"#, "{}"),
        ] {
            assert_eq!(synthetic(mappings.clone(), document), want, "{document}");
        }
    }

    #[test]
    fn arrays_stay_as_they_came_where_the_index_keeps_them() {
        let mappings = json!({"dynamic": false, "properties": {
            "k": {"type": "keyword"}, "n": {"type": "long"}, "at": {"type": "geo_point"},
            "o": {"properties": {"x": {"type": "long"}, "y": {"type": "keyword"}}},
            "m": {"type": "nested", "properties": {"z": {"type": "long"}}},
        }});
        let settings = crate::Settings { keep_arrays: true, ..crate::Settings::default() };
        let mapping = Mapping::parse(&mappings, Arc::new(settings)).expect("a mapping");
        for (document, want) in [
            (r#"{"n":["5",3,3],"k":["b","a","b"]}"#, r#"{"k":["b","a","b"],"n":["5",3,3]}"#),
            (r#"{"n":"5","k":[]}"#, r#"{"k":[],"n":5}"#),
            (r#"{"o":[{"y":"b","x":2},{"x":1}]}"#, r#"{"o":[{"y":"b","x":2},{"x":1}]}"#),
            (r#"{"o":[{"x":2}],"o.x":1}"#, r#"{"o":[{"x":2}],"o.x":1}"#),
            (r#"{"o.x":1,"o":[{"x":2},{"x":0}]}"#, r#"{"o":{"x":[0,1,2]}}"#),
            (r#"{"o":{"x":[2,1]},"o.x":0}"#, r#"{"o":{"x":[[2,1],0]}}"#),
            (r#"{"m":[{"z":[2,1]}]}"#, r#"{"m":[{"z":[2,1]}]}"#),
        ] {
            let value = json::parse(document.as_bytes()).expect("JSON");
            assert_eq!(json::to_string(&source(&mapping, &value)), want, "{document}");
        }
        let point = json::parse(br#"{"at":[10.0,20.0]}"#).expect("JSON");
        let told = source(&mapping, &point);
        assert!(told.get("at").is_some_and(|at| at.get("lat").is_some()), "{told:?}");
    }
}
