//! Settings as they come: nested or dotted, with or without prefix; times and sizes.

use std::collections::BTreeMap;
use std::time::Duration;

use json::{Object, Value};

use crate::error::{Error, Result};

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
    if depth > 32 {
        let start: String = prefix.chars().take(64).collect();
        return Err(Error::argument(format!(
            "settings below [{start}] are nested more than 32 levels deep"
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

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Number(number) => Some(number.text().to_owned()),
        _ => None,
    }
}

/// Reads `500ms`, `1s`, `2h`; a bare `0` is allowed.
///
/// # Errors
/// What is wrong, in Elasticsearch's words.
pub fn parse_time(text: &str) -> std::result::Result<Duration, &'static str> {
    const WRONG: &str = "unit is missing or unrecognized";
    let text = text.trim().to_ascii_lowercase();
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    let digits = text.find(|char: char| !char.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let nanos: u128 = match unit.trim() {
        "nanos" => 1,
        "micros" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return Err(WRONG),
    };
    let number: u64 = number.parse().map_err(|_| WRONG)?;
    let nanos = u64::try_from(u128::from(number) * nanos).map_err(|_| WRONG)?;
    Ok(Duration::from_nanos(nanos))
}

/// Reads `512mb`, `10gb`, `100b`; a bare number is refused, as Elasticsearch does.
pub fn parse_bytes(text: &str) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    let digits = text.find(|char: char| !char.is_ascii_digit() && char != '.')?;
    let (number, unit) = text.split_at(digits);
    let shift = match unit.trim() {
        "b" => 0,
        "k" | "kb" => 10,
        "m" | "mb" => 20,
        "g" | "gb" => 30,
        "t" | "tb" => 40,
        "p" | "pb" => 50,
        _ => return None,
    };
    let number: f64 = number.parse().ok()?;
    let bytes = number * (1u64 << shift) as f64;
    (bytes.is_finite() && bytes < u64::MAX as f64).then_some(bytes as u64)
}
