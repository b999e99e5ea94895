//! Mappings of several templates as one: later parts over earlier ones.

use json::{Object, Value};

/// `over` worked into `whole` as composable templates are: a field's definition is replaced as a
/// whole, objects grow, dynamic templates are added or replaced by name.
pub(super) fn composable(whole: &mut Value, over: &Value) {
    let Value::Object(over) = over else { return };
    if !matches!(whole, Value::Object(_)) {
        *whole = Value::object();
    }
    let Value::Object(base) = whole else { return };
    let flat = is_flat(base) || is_flat(over);
    for (key, value) in over.iter() {
        match key {
            "properties" => {
                let known = base.get_or_insert_with("properties", Value::object);
                properties(known, value, flat);
            }
            "dynamic_templates" => named(base, value),
            "_meta" => {
                let known = base.get_or_insert_with("_meta", Value::object);
                deep(known, value);
            }
            _ => {
                base.insert(key, value.clone());
            }
        }
    }
}

/// As [`composable`], of templates of the old kind: definitions are merged key by key.
pub(super) fn legacy(whole: &mut Value, over: &Value) {
    let Value::Object(over) = over else { return };
    if !matches!(whole, Value::Object(_)) {
        *whole = Value::object();
    }
    let Value::Object(base) = whole else { return };
    for (key, value) in over.iter() {
        if key == "dynamic_templates" {
            named(base, value);
        } else {
            deep(base.get_or_insert_with(key, || Value::Null), value);
        }
    }
}

/// Objects are merged, all else is replaced.
fn deep(whole: &mut Value, over: &Value) {
    match (whole, over) {
        (Value::Object(base), Value::Object(over)) => {
            for (key, value) in over.iter() {
                deep(base.get_or_insert_with(key, || Value::Null), value);
            }
        }
        (whole, over) => *whole = over.clone(),
    }
}

/// `flat`: names are whole, dots and all.
fn properties(whole: &mut Value, over: &Value, flat: bool) {
    let (Value::Object(base), Value::Object(over)) = (&mut *whole, over) else {
        // An empty list stands for no properties.
        return;
    };
    for (name, definition) in resolved(over, flat).iter() {
        field(base, name, definition);
    }
}

fn field(base: &mut Object, name: &str, definition: &Value) {
    match base.get_mut(name) {
        Some(known) if is_object(known) && is_object(definition) => {
            let (Value::Object(known), Value::Object(over)) = (known, definition) else { return };
            let flat = is_flat(known) || is_flat(over);
            for (key, value) in over.iter() {
                if key == "properties" {
                    properties(known.get_or_insert_with("properties", Value::object), value, flat);
                } else {
                    known.insert(key, value.clone());
                }
            }
        }
        Some(known) => *known = definition.clone(),
        None => {
            base.insert(name, definition.clone());
        }
    }
}

/// The definitions of one part by their first names: a dotted name is a way through objects, so that
/// it meets what other parts nest. What one part says twice in different words stays as it is spelled:
/// only parts that follow each other replace, and whoever reads the mapping refuses what contradicts.
fn resolved(definitions: &Object, flat: bool) -> Object {
    let mut whole = Object::new();
    let mut unlike: Vec<&str> = Vec::new();
    for (name, definition) in definitions.iter() {
        let (head, definition) = match first(name, flat) {
            (head, Some(rest)) => {
                let inner: Object = [(rest.to_owned(), definition.clone())].into_iter().collect();
                let mut object = Object::new();
                object.insert("properties", Value::Object(resolved(&inner, false)));
                (head, Value::Object(object))
            }
            (name, None) => (name, inside_resolved(definition)),
        };
        match whole.get_mut(head) {
            None => {
                whole.insert(head, definition);
            }
            Some(known) => {
                if !unite(known, &definition) {
                    unlike.push(head);
                }
            }
        }
    }
    for head in unlike {
        whole.remove(head);
        for (name, definition) in definitions.iter() {
            if first(name, flat).0 == head {
                whole.insert(name, definition.clone());
            }
        }
    }
    whole
}

/// The first part of a name, and the rest.
fn first(name: &str, flat: bool) -> (&str, Option<&str>) {
    match name.split_once('.') {
        Some((head, rest)) if !flat && !head.is_empty() && !rest.is_empty() => (head, Some(rest)),
        _ => (name, None),
    }
}

/// An object's definition with the names in it resolved; a field's as it is.
fn inside_resolved(definition: &Value) -> Value {
    match definition {
        Value::Object(object) if is_object(definition) => {
            let resolved = |(key, value): (&str, &Value)| match (key, value) {
                ("properties", Value::Object(inner)) => {
                    (key.to_owned(), Value::Object(resolved(inner, is_flat(object))))
                }
                _ => (key.to_owned(), value.clone()),
            };
            Value::Object(object.iter().map(resolved).collect())
        }
        other => other.clone(),
    }
}

/// Works one more definition of the same name into `known`, where both say the same or are objects
/// that complete each other; else false, and `known` is worth nothing.
fn unite(known: &mut Value, other: &Value) -> bool {
    if known == other {
        return true;
    }
    if !is_object(known) || !is_object(other) {
        return false;
    }
    let (Value::Object(known), Value::Object(other)) = (known, other) else { return false };
    // These say what an object is, and a second definition may not change that.
    for key in ["type", "enabled", "subobjects"] {
        if known.get(key) != other.get(key) && !(key == "type" && is_plain(known, other)) {
            return false;
        }
    }
    for (key, value) in other.iter() {
        match known.get_mut(key) {
            None => {
                known.insert(key, value.clone());
            }
            Some(Value::Object(inner)) if key == "properties" => {
                let Value::Object(more) = value else { return false };
                for (name, definition) in more.iter() {
                    match inner.get_mut(name) {
                        None => {
                            inner.insert(name, definition.clone());
                        }
                        Some(before) => {
                            if !unite(before, definition) {
                                return false;
                            }
                        }
                    }
                }
            }
            Some(before) if before != value => return false,
            Some(_) => {}
        }
    }
    true
}

/// Is neither nested? `object` may be said or not.
fn is_plain(one: &Object, two: &Object) -> bool {
    let is_nested = |object: &Object| object.get("type").and_then(Value::as_str) == Some("nested");
    !is_nested(one) && !is_nested(two)
}

fn is_object(definition: &Value) -> bool {
    let kind = definition.get("type").and_then(Value::as_str);
    matches!(kind, None | Some("object" | "nested"))
}

/// Are names inside whole, dots and all?
fn is_flat(object: &Object) -> bool {
    match object.get("subobjects") {
        Some(Value::Bool(said)) => !said,
        Some(Value::String(said)) => said == "false",
        _ => false,
    }
}

/// `dynamic_templates`: one of a known name is replaced where it stands, others follow.
fn named(base: &mut Object, over: &Value) {
    let Value::Array(over) = over else {
        base.insert("dynamic_templates", over.clone());
        return;
    };
    let mut list = match base.remove("dynamic_templates") {
        Some(Value::Array(list)) => list,
        _ => Vec::new(),
    };
    let name =
        |item: &Value| item.as_object().and_then(|object| object.keys().next().map(str::to_owned));
    for item in over {
        let wanted = name(item);
        match list.iter_mut().find(|known| wanted.is_some() && name(known) == wanted) {
            Some(known) => *known = item.clone(),
            None => list.push(item.clone()),
        }
    }
    base.insert("dynamic_templates", Value::Array(list));
}

#[cfg(test)]
mod tests {
    use json::json;

    use super::*;

    #[test]
    fn a_later_definition_replaces_a_whole_field_and_objects_grow() {
        let mut whole = json!({
            "properties": {
                "a": {"type": "keyword", "ignore_above": 5},
                "o": {"properties": {"x": {"type": "long"}}},
            },
            "dynamic_templates": [{"one": {"match": "a"}}, {"two": {"match": "b"}}],
        });
        composable(
            &mut whole,
            &json!({
                "dynamic": "strict",
                "properties": {"a": {"type": "long"}, "o.y": {"type": "date"}},
                "dynamic_templates": [{"three": {}}, {"one": {"match": "c"}}],
            }),
        );
        let expected = json!({
            "properties": {
                "a": {"type": "long"},
                "o": {"properties": {"x": {"type": "long"}, "y": {"type": "date"}}},
            },
            "dynamic": "strict",
            "dynamic_templates": [{"one": {"match": "c"}}, {"two": {"match": "b"}}, {"three": {}}],
        });
        for key in ["properties", "dynamic", "dynamic_templates"] {
            assert_eq!(whole.get(key), expected.get(key), "{key}");
        }
    }

    /// `a` beside `a.b` once was the later of the two alone: an index was made, and lacked a field.
    #[test]
    fn what_one_part_says_twice_in_different_words_stays_for_the_parse_to_refuse() {
        for properties in [
            json!({"a.b": {"type": "text"}, "a": {"type": "long"}}),
            json!({"a": {"type": "long"}, "a.b": {"type": "text"}}),
            json!({"a.b": {"type": "text"}, "a": {"properties": {"b": {"type": "long"}}}}),
            json!({"a.b": {"type": "text"}, "a.b.c": {"type": "long"}}),
            json!({"a": {"type": "nested"}, "a.b": {"type": "long"}}),
            json!({"a.b": {"type": "long"}, "a": {"type": "nested"}}),
            json!({"a.b": {"type": "long"}, "a": {"enabled": false}}),
        ] {
            for before in [json!({}), json!({"properties": {"z": {"type": "long"}}})] {
                let mut whole = before;
                composable(&mut whole, &json!({"properties": (properties.clone())}));
                for (name, definition) in properties.as_object().expect("an object").iter() {
                    assert_eq!(whole.at(&["properties", name]), Some(definition), "{whole:?}");
                }
            }
        }
    }

    #[test]
    fn one_part_may_say_the_same_twice_and_complete_an_object() {
        let mut whole = json!({"properties": {"a.c": {"type": "long"}}});
        composable(
            &mut whole,
            &json!({"properties": {
                "o.x": {"type": "long"},
                "o": {"type": "object", "dynamic": "strict", "properties": {
                    "x": {"type": "long"}, "y.z": {"type": "date"},
                }},
                "o.y.w": {"type": "date"},
            }}),
        );
        let o = whole.at(&["properties", "o"]).expect("there");
        assert_eq!(o.get("dynamic"), Some(&json!("strict")));
        assert_eq!(
            o.get("properties"),
            Some(&json!({
                "x": {"type": "long"},
                "y": {"properties": {"z": {"type": "date"}, "w": {"type": "date"}}},
            }))
        );
    }

    #[test]
    fn names_without_subobjects_stay_whole() {
        let mut whole = json!({"subobjects": false, "properties": {"t": {"type": "long"}}});
        composable(
            &mut whole,
            &json!({"properties": {"t.max": {"type": "long"}, "t": {"type": "date"}}}),
        );
        assert_eq!(
            whole.get("properties"),
            Some(&json!({"t": {"type": "date"}, "t.max": {"type": "long"}}))
        );
    }

    #[test]
    fn old_templates_merge_key_by_key() {
        let mut whole = json!({"properties": {"a": {"type": "keyword", "ignore_above": 5}}});
        legacy(&mut whole, &json!({"properties": {"a": {"store": true}}}));
        assert_eq!(
            whole.at(&["properties", "a"]),
            Some(&json!({"type": "keyword", "ignore_above": 5, "store": true}))
        );
    }
}
