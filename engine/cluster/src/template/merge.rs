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
    for (key, value) in over.iter() {
        match key {
            "properties" => {
                let known = base.get_or_insert_with("properties", Value::object);
                properties(known, value);
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

fn properties(whole: &mut Value, over: &Value) {
    let (Value::Object(base), Value::Object(over)) = (&mut *whole, over) else {
        // An empty list stands for no properties.
        return;
    };
    for (name, definition) in over.iter() {
        // A dotted name is a way through objects, so that it meets what is nested.
        match name.split_once('.') {
            Some((head, rest)) if !head.is_empty() && !rest.is_empty() => {
                let mut inner = Object::new();
                inner.insert(rest, definition.clone());
                let mut object = Object::new();
                object.insert("properties", Value::Object(inner));
                field(base, head, &Value::Object(object));
            }
            _ => field(base, name, definition),
        }
    }
}

fn field(base: &mut Object, name: &str, definition: &Value) {
    let is_object = |definition: &Value| {
        let kind = definition.get("type").and_then(Value::as_str);
        matches!(kind, None | Some("object" | "nested"))
    };
    match base.get_mut(name) {
        Some(known) if is_object(known) && is_object(definition) => {
            let (Value::Object(known), Value::Object(over)) = (known, definition) else { return };
            for (key, value) in over.iter() {
                if key == "properties" {
                    properties(known.get_or_insert_with("properties", Value::object), value);
                } else {
                    known.insert(key, value.clone());
                }
            }
        }
        Some(known) => *known = definition.clone(),
        None => {
            let mut fresh = definition.clone();
            // Dots inside are resolved for the next part to meet.
            if is_object(definition)
                && let Value::Object(object) = &mut fresh
                && let Some(inner) = object.remove("properties")
            {
                let mut expanded = Value::object();
                properties(&mut expanded, &inner);
                object.insert("properties", expanded);
            }
            base.insert(name, fresh);
        }
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
