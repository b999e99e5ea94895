//! What is asked of a definition that is new, and not of one that is read again.
//!
//! Definitions are read again from the cluster's state and its log, and must mean there what they
//! meant at first: a rule that an older one may break cannot stand in `define`. It stands here. Each
//! rule asks one definition by itself, without its index's settings, so that a part of a template
//! can be asked, too.
//!
//! Not here: what `define` refuses.

use json::{Object as Json, Value};

use super::define::{java_text, not_a_map};
use super::params::{int, unknown_type};
use crate::types::{DateFormat, NumberKind};
use crate::{Error, Result};

/// May this definition be given anew?
pub(super) fn mappings(value: &Value) -> Result<()> {
    let Value::Object(body) = value else { return Ok(()) };
    for (key, value) in body.iter() {
        match key {
            "properties" => properties(value)?,
            "dynamic_date_formats" => {
                let items = match value {
                    Value::Array(items) => items.as_slice(),
                    one => std::slice::from_ref(one),
                };
                items.iter().filter_map(Value::as_str).try_for_each(DateFormat::check_parts)?;
            }
            "dynamic_templates" => {
                let named = value.as_array().into_iter().flatten().filter_map(Value::as_object);
                for (_, template) in named.flat_map(Json::iter) {
                    if let Some(Value::Object(definition)) = template.get("mapping") {
                        // That of another type is told by the template that it is in.
                        if definition.get("type").is_some_and(|kind| kind.as_str().is_none()) {
                            continue;
                        }
                        property("__dynamic__test", definition)?;
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn properties(value: &Value) -> Result<()> {
    let definitions = match value {
        Value::Object(definitions) => definitions,
        Value::Array(items) if items.is_empty() => return Ok(()),
        // Templates that were worked into each other dropped it.
        _ => return Err(not_a_map()),
    };
    for (name, definition) in definitions.iter() {
        let Value::Object(definition) = definition else { continue };
        property(name.rsplit('.').next().unwrap_or_default(), definition)?;
    }
    Ok(())
}

/// An object, or a field with its multi-fields.
fn property(name: &str, definition: &Json) -> Result<()> {
    match definition.get("type") {
        None | Some(Value::Null | Value::String(_)) => {}
        Some(other) => return Err(unknown_type(&java_text(other), name)),
    }
    let kind = definition.get("type").and_then(Value::as_str);
    if matches!(kind, None | Some("object" | "nested")) {
        if let Some(inner) = definition.get("properties") {
            properties(inner)?;
        }
        if kind.is_some() {
            return Ok(());
        }
    }
    if kind == Some("text") {
        positions(name, definition)?;
    }
    for (key, value) in definition.iter() {
        match key {
            "ignore_above" | "depth_limit" | "max_input_length" | "position_increment_gap" => {
                int(value)?;
            }
            "index_prefixes" => {
                for key in ["min_chars", "max_chars"] {
                    value.get(key).map(int).transpose()?;
                }
            }
            "format" => {
                DateFormat::check_parts(&java_text(value))
                    .map_err(|cause| super::params::in_parameter(key, name, cause))?;
            }
            "copy_to" => copy_to(value, name, definition)?,
            "null_value" => null_value(kind.and_then(NumberKind::of_name), value)?,
            "fields" => {
                let fields = value.as_object().into_iter().flat_map(Json::iter);
                for (name, definition) in fields {
                    if let Value::Object(definition) = definition {
                        property(name, definition)?;
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// What a text keeps beside its words needs them, or their positions.
fn positions(name: &str, definition: &Json) -> Result<()> {
    let text = |key: &str| definition.get(key).map(java_text);
    let given = |key: &str| text(key).is_some_and(|value| value != "null");
    let is_indexed = text("index").as_deref() != Some("false");
    let has_positions =
        is_indexed && !matches!(text("index_options").as_deref(), Some("docs" | "freqs"));
    let refuse = |why: String| Err(Error::illegal_argument(why));
    if given("position_increment_gap") && !has_positions {
        return refuse(format!(
            "Cannot set position_increment_gap on field [{name}] without positions enabled"
        ));
    }
    if given("index_prefixes") && !is_indexed {
        return refuse(format!("Cannot set index_prefixes on unindexed field [{name}]"));
    }
    if text("index_phrases").as_deref() != Some("true") || has_positions {
        return Ok(());
    }
    refuse(match is_indexed {
        false => format!("Cannot set index_phrases on unindexed field [{name}]"),
        true => {
            format!("Cannot set index_phrases on field [{name}] if positions are not enabled")
        }
    })
}

/// Each target is a name that a field can have.
fn copy_to(value: &Value, name: &str, definition: &Json) -> Result<()> {
    let targets = match value {
        Value::Array(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    };
    for target in targets {
        let Value::String(target) = target else {
            if target.is_null() {
                return Err(Error::mapper_parsing(format!(
                    "[copy_to] on mapper [{name}] of type [{}] must not have a [null] value",
                    definition.get("type").map(java_text).unwrap_or_default()
                )));
            }
            continue;
        };
        let why = match target {
            target if target.is_empty() => "field name cannot be an empty string",
            target if target.split('.').any(|part| part.trim().is_empty()) => {
                "field name cannot contain only whitespaces"
            }
            _ => continue,
        };
        return Err(super::params::in_parameter("copy_to", name, Error::illegal_argument(why)));
    }
    Ok(())
}

/// The value that stands for null in a field of whole numbers is one.
fn null_value(kind: Option<NumberKind>, value: &Value) -> Result<()> {
    use NumberKind::{Byte, Integer, Long, Short};
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().unwrap_or(0.0),
        _ => return Ok(()),
    };
    if matches!(kind, Some(Long | Integer | Short | Byte)) && number.fract() != 0.0 {
        let text = java_text(value);
        return Err(Error::illegal_argument(format!("Value [{text}] has a decimal part")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use json::json;

    use super::*;

    fn refused(definition: &Value) -> String {
        let mut fields = Json::new();
        fields.insert("a", definition.clone());
        let value = json!({"properties": fields});
        mappings(&value).expect_err("refused").reason
    }

    #[test]
    fn a_type_is_a_name() {
        // Such an object was taken for one, and is, where it is read again.
        for kind in [json!(1), json!(["object"]), json!(true), json!({"x": 1})] {
            let definition = json!({"type": kind.clone(), "properties": {}});
            let told = format!("The mapper type [{}] declared on field [a] ", java_text(&kind));
            assert!(refused(&definition).starts_with(&told), "{kind:?}");
            let multi = json!({"type": "text", "fields": {"a": {"type": kind}}});
            assert!(refused(&multi).starts_with(&told), "{multi:?}");
        }
        let fields = json!({"properties": {"a": {"type": null, "properties": {}}}});
        assert_eq!(mappings(&fields), Ok(()));
    }

    #[test]
    fn what_a_text_keeps_needs_its_words_or_their_positions() {
        let gap = "Cannot set position_increment_gap on field [a] without positions enabled";
        let prefixes = "Cannot set index_prefixes on unindexed field [a]";
        let phrases = "Cannot set index_phrases on field [a] if positions are not enabled";
        let unindexed = "Cannot set index_phrases on unindexed field [a]";
        for (definition, why) in [
            (json!({"index_options": "docs", "position_increment_gap": 50}), gap),
            (json!({"index_options": "freqs", "position_increment_gap": 0}), gap),
            (json!({"index": false, "position_increment_gap": 50}), gap),
            (json!({"index": false, "index_prefixes": {}}), prefixes),
            (json!({"index": "false", "index_prefixes": {"min_chars": 1}}), prefixes),
            (json!({"index_options": "docs", "index_phrases": true}), phrases),
            (json!({"index": false, "index_phrases": "true"}), unindexed),
        ] {
            let mut text = definition.as_object().expect("an object").clone();
            text.insert("type", "text");
            assert_eq!(refused(&Value::Object(text.clone())), why, "{definition:?}");
            let multi = json!({"type": "keyword", "fields": {"a": Value::Object(text)}});
            assert_eq!(refused(&multi), why, "{definition:?}");
        }
        for definition in [
            json!({"type": "text", "position_increment_gap": 50, "index_phrases": true}),
            json!({"type": "text", "index_options": "offsets", "index_phrases": true}),
            json!({"type": "text", "index_options": "docs", "index_prefixes": {}}),
            json!({"type": "text", "index": false, "index_phrases": false}),
        ] {
            assert_eq!(mappings(&json!({"properties": {"a": definition}})), Ok(()));
        }
    }

    #[test]
    fn values_are_copied_to_names() {
        let field = |target: Value| json!({"type": "keyword", "copy_to": target});
        let empty = "Error parsing [copy_to] on field [a]: field name cannot be an empty string";
        let blank =
            "Error parsing [copy_to] on field [a]: field name cannot contain only whitespaces";
        let null = "[copy_to] on mapper [a] of type [keyword] must not have a [null] value";
        for (target, why) in [
            (json!(""), empty),
            (json!(["b", ""]), empty),
            (json!(" "), blank),
            (json!("b..c"), blank),
            (json!("b."), blank),
            (json!([null]), null),
        ] {
            assert_eq!(refused(&field(target.clone())), why, "{target:?}");
            let templates = json!({"dynamic_templates": [{"t": {
                "match": "*", "mapping": {"type": "keyword", "copy_to": target.clone()}}}]});
            assert!(mappings(&templates).is_err(), "{target:?}");
        }
        for target in [json!("b"), json!(["b", "c.d"]), json!([]), json!({}), json!(5)] {
            assert_eq!(mappings(&json!({"properties": {"a": field(target)}})), Ok(()));
        }
    }
}
