//! Settings as they come: nested or dotted, with or without prefix.

use std::collections::BTreeMap;

use json::{Object, Value};

use crate::error::{Error, Result};

/// Objects in objects.
pub(super) const DEPTH_MAX: usize = 32;

/// Flattens nested keys, turns scalars into text.
///
/// # Errors
/// What is no object, or nested beyond reason.
pub fn flatten(settings: &Value) -> Result<BTreeMap<String, Value>> {
    let mut flat = BTreeMap::new();
    let Some(object) = settings.as_object() else {
        return Err(Error::Parse { reason: "key [settings] must be an object".to_owned() });
    };
    walk("", object, &mut flat, 0)?;
    Ok(flat)
}

/// As [`flatten`], with the prefix `index.` at every name that lacks it.
///
/// # Errors
/// As [`flatten`].
pub fn prefixed(settings: &Value) -> Result<BTreeMap<String, Value>> {
    let flat = flatten(settings)?;
    Ok(flat
        .into_iter()
        .map(|(name, value)| {
            if name.starts_with("index.") || name == "*" {
                (name, value)
            } else {
                (format!("index.{name}"), value)
            }
        })
        .collect())
}

pub(crate) fn walk(
    prefix: &str,
    object: &Object,
    flat: &mut BTreeMap<String, Value>,
    depth: usize,
) -> Result<()> {
    if depth > DEPTH_MAX {
        let start: String = prefix.chars().take(64).collect();
        return Err(Error::argument(format!(
            "settings below [{start}] are nested more than {DEPTH_MAX} levels deep"
        )));
    }
    for (key, value) in object.iter() {
        let name = if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") };
        match value {
            Value::Object(inner) => walk(&name, inner, flat, depth + 1)?,
            Value::Array(items) => {
                let texts: Option<Vec<Value>> =
                    items.iter().map(|item| scalar(item).map(Value::from)).collect();
                let texts = texts.ok_or_else(|| {
                    Error::argument(format!("setting [{name}] must be a list of texts"))
                })?;
                flat.insert(name, Value::Array(texts));
            }
            Value::Null => {
                flat.insert(name, Value::Null);
            }
            other => {
                let text = scalar(other).unwrap_or_default();
                flat.insert(name, Value::from(text));
            }
        }
    }
    Ok(())
}

/// The text of a text, a number or a flag.
pub(super) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Number(number) => Some(number.text().to_owned()),
        _ => None,
    }
}
