//! Shows mappings as Elasticsearch shows them: children sorted by name, defaults left out.

use json::{Object as Json, Value};

use super::node::{Child, Children, Object};
use super::options::Options;
use crate::types::{Field, IndexOptions, Kind, date_format};

/// A whole mapping.
pub(super) fn mappings(root: &Object, options: &Options) -> Value {
    let mut out = Json::new();
    object_options(root, &mut out);
    if let Some(meta) = &options.meta {
        out.insert("_meta", meta.clone());
    }
    if options.routing_required == Some(true) {
        out.insert("_routing", json::json!({"required": true}));
    }
    if let Some(formats) = &options.date_formats {
        let formats: Value = formats.iter().map(|format| format.pattern()).collect();
        out.insert("dynamic_date_formats", formats);
    }
    if !options.templates.is_empty() {
        let templates: Value =
            options.templates.iter().map(|template| template.shown.clone()).collect();
        out.insert("dynamic_templates", templates);
    }
    if let Some(value) = options.date_detection {
        out.insert("date_detection", value);
    }
    if let Some(value) = options.numeric_detection {
        out.insert("numeric_detection", value);
    }
    properties(&root.children, &mut out);
    Value::Object(out)
}

fn object_options(object: &Object, out: &mut Json) {
    if let Some(dynamic) = object.dynamic {
        out.insert("dynamic", dynamic.name());
    }
    if !object.is_enabled() {
        out.insert("enabled", false);
    }
}

fn properties(children: &Children, out: &mut Json) {
    if children.len() == 0 {
        return;
    }
    let mut properties = Json::with_capacity(children.len());
    for (name, child) in children.iter() {
        let shown = match child {
            Child::Field(child) => field(child),
            Child::Object(child) => object(child),
        };
        properties.insert(&**name, shown);
    }
    out.insert("properties", properties);
}

fn object(object: &Object) -> Value {
    let mut out = Json::new();
    if object.children.len() == 0 {
        out.insert("type", "object");
    }
    object_options(object, &mut out);
    properties(&object.children, &mut out);
    Value::Object(out)
}

/// One field.
pub(super) fn field(field: &Field) -> Value {
    let mut out = Json::new();
    out.insert("type", field.type_name());
    if !field.index {
        out.insert("index", false);
    }
    if !field.doc_values && !matches!(field.kind, Kind::Text(_)) {
        out.insert("doc_values", false);
    }
    if field.store {
        out.insert("store", true);
    }
    special(field, &mut out);
    if let Some(meta) = &field.meta {
        out.insert("meta", meta.clone());
    }
    if !field.multi_fields.is_empty() {
        let multi: Json =
            field.multi_fields.iter().map(|multi| (multi.name(), self::field(multi))).collect();
        out.insert("fields", multi);
    }
    if !field.copy_to.is_empty() {
        let targets: Value = field.copy_to.iter().map(|target| &**target).collect();
        out.insert("copy_to", targets);
    }
    Value::Object(out)
}

/// Parameters that not all types have.
fn special(field: &Field, out: &mut Json) {
    match &field.kind {
        Kind::Text(text) => {
            if text.index_options != IndexOptions::Positions {
                out.insert("index_options", text.index_options.name());
            }
            if !text.norms {
                out.insert("norms", false);
            }
            if let Some(vector) = &text.term_vector {
                out.insert("term_vector", &**vector);
            }
            let keys = ["analyzer", "search_analyzer", "search_quote_analyzer"];
            for (key, name) in keys.into_iter().zip(&text.names) {
                if let Some(name) = name {
                    out.insert(key, &**name);
                }
            }
            if text.position_increment_gap_given {
                out.insert("position_increment_gap", text.position_increment_gap);
            }
        }
        Kind::Keyword(keyword) => {
            if let Some(value) = &keyword.null_value {
                out.insert("null_value", &**value);
            }
            if keyword.eager_global_ordinals {
                out.insert("eager_global_ordinals", true);
            }
            if let Some(length) = keyword.ignore_above
                && length < i32::MAX as u32
            {
                out.insert("ignore_above", length);
            }
            if let Some(normalizer) = &keyword.normalizer {
                out.insert("normalizer", normalizer.name());
            }
        }
        Kind::Number(number) => {
            if number.ignore_malformed_given {
                out.insert("ignore_malformed", number.ignore_malformed);
            }
            if number.coerce_given {
                out.insert("coerce", number.coerce);
            }
            if let Some(value) = number.null_value {
                out.insert("null_value", field.sort_value(value));
            }
        }
        Kind::Boolean(boolean) => {
            if let Some(value) = boolean.null_value {
                out.insert("null_value", value);
            }
            if boolean.ignore_malformed_given {
                out.insert("ignore_malformed", boolean.ignore_malformed);
            }
        }
        Kind::Date(date) => {
            if date.format.pattern() != date_format::DEFAULT.pattern() {
                out.insert("format", date.format.pattern());
            }
            if let Some(locale) = &date.locale {
                out.insert("locale", &**locale);
            }
            if let Some((text, _)) = &date.null_value {
                out.insert("null_value", &**text);
            }
            if date.ignore_malformed_given {
                out.insert("ignore_malformed", date.ignore_malformed);
            }
        }
    }
}
