//! Random mappings: fields of many types, their options now and then.

use json::{Object, Value, json};

use crate::chance::Chance;

/// A mapping.
pub fn mapping(chance: &mut Chance) -> Value {
    let mut fields = Object::new();
    fields.insert("uid", json!({"type": "long"}));
    for name in ["t1", "t2"] {
        fields.insert(name, text(chance, true));
    }
    fields.insert("all", json!({"type": "text"}));
    fields.insert("k1", keyword(chance, true));
    fields.insert("k2", json!({"type": "keyword", "normalizer": "lowercase"}));
    fields.insert("k3", json!({"type": "keyword", "ignore_above": 6}));
    fields.insert("one", json!({"type": "keyword"}));
    fields.insert("least", json!({"type": "integer"}));
    fields.insert("c", json!({"type": "constant_keyword", "value": "fixed"}));
    fields.insert("ak", json!({"type": "alias", "path": "k1"}));
    let kinds = [
        "byte",
        "short",
        "integer",
        "long",
        "unsigned_long",
        "half_float",
        "float",
        "double",
        "scaled_float",
        "boolean",
        "date",
        "date_nanos",
        "ip",
        "integer_range",
        "long_range",
        "double_range",
        "date_range",
        "geo_point",
        "wildcard",
    ];
    for kind in kinds {
        // Never all of them: a smaller mapping is asked more about each.
        if chance.one_in(3) {
            continue;
        }
        fields.insert(format!("f_{kind}"), plain(chance, kind));
    }
    fields.insert("o", json!({"properties": {"k": {"type": "keyword"}, "n": {"type": "integer"}}}));
    if !chance.one_in(3) {
        let mut inner = json!({
            "k": {"type": "keyword"},
            "n": {"type": "integer"},
            "x": {"type": "double"},
            "t": (text(chance, false)),
            "when": {"type": "date"}
        });
        if let (true, Some(inner)) = (chance.one_in(2), inner.as_object_mut()) {
            let deep = json!({"k": {"type": "keyword"}, "n": {"type": "short"}});
            inner.insert("deep", json!({"type": "nested", "properties": deep}));
        }
        fields.insert("nest", json!({"type": "nested", "properties": inner}));
    }
    let mut mapping = json!({"dynamic": false, "properties": fields});
    if let (true, Some(mapping)) = (chance.one_in(3), mapping.as_object_mut()) {
        mapping.insert("_meta", json!({"sort": (order(chance))}));
    }
    mapping
}

/// Keys by which the index is sorted, where their fields are there and nothing is nested: a case that is
/// made smaller loses some.
fn order(chance: &mut Chance) -> Value {
    let count = 1 + chance.below(3);
    let keys = (0..count).map(|_| {
        let field = chance.pick(&[
            "k1",
            "k2",
            "k3",
            "one",
            "least",
            "f_long",
            "f_double",
            "f_half_float",
            "f_scaled_float",
            "f_unsigned_long",
            "f_boolean",
            "f_date",
            "f_date_nanos",
            "f_ip",
        ]);
        json!({
            "field": field,
            "order": (chance.pick(&["asc", "desc"])),
            "mode": (chance.pick(&["min", "max"])),
            "missing": (chance.pick(&["_last", "_first"]))
        })
    });
    keys.collect()
}

fn text(chance: &mut Chance, rich: bool) -> Value {
    let mut field = Object::new();
    field.insert("type", "text");
    if !chance.one_in(3) {
        field.insert("analyzer", chance.pick(&["standard", "whitespace", "english", "english"]));
    }
    if chance.one_in(8) {
        field.insert("norms", false);
    }
    if chance.one_in(10) {
        field.insert("similarity", "boolean");
    }
    if rich && chance.one_in(2) {
        field.insert("copy_to", "all");
    }
    if rich && chance.one_in(2) {
        let subs = json!({
            "raw": {"type": "keyword", "ignore_above": 20},
            "en": {"type": "text", "analyzer": "english"}
        });
        field.insert("fields", subs);
    }
    Value::Object(field)
}

fn keyword(chance: &mut Chance, null: bool) -> Value {
    let mut field = Object::new();
    field.insert("type", "keyword");
    if null && chance.one_in(3) {
        field.insert("null_value", "none");
    }
    if chance.one_in(6) {
        field.insert("doc_values", false);
    }
    if chance.one_in(4) {
        field.insert("fields", json!({"text": {"type": "text"}}));
    }
    Value::Object(field)
}

fn plain(chance: &mut Chance, kind: &str) -> Value {
    let mut field = Object::new();
    field.insert("type", kind);
    if kind == "scaled_float" {
        field.insert("scaling_factor", chance.pick(&[10, 100]));
    }
    let number = matches!(
        kind,
        "byte" | "short" | "integer" | "long" | "unsigned_long" | "half_float" | "float" | "double"
    );
    if number && chance.one_in(4) {
        field.insert("null_value", 7);
    }
    if kind == "boolean" && chance.one_in(4) {
        field.insert("null_value", true);
    }
    if kind == "date" && chance.one_in(4) {
        field.insert("null_value", "2024-02-29");
    }
    if (number || kind == "date") && chance.one_in(8) {
        let option = chance.pick(&["doc_values", "index"]);
        field.insert(option, false);
    }
    if (number || matches!(kind, "date" | "ip")) && chance.one_in(5) {
        field.insert("ignore_malformed", true);
    }
    Value::Object(field)
}
