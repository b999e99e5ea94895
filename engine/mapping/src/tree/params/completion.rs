//! Parameters of texts to be completed.

use std::sync::Arc;

use json::Value;

use super::super::define::{flag, java_text};
use super::kinds::not_configured;
use super::not_negative;
use crate::analysis::Analyzer;
use crate::types::completion::{CONTEXTS_MAX, INPUT_LENGTH};
use crate::types::{Completion, ContextKind, Contexts, Kind};
use crate::{Error, Result, Settings};

/// Texts to be completed, with nothing said about them.
pub(super) fn default(settings: &Settings) -> Kind {
    let analyzer = settings.analysis.analyzer("simple");
    let analyzer = analyzer.unwrap_or(settings.analysis.default_analyzer());
    Kind::Completion(Box::new(Completion {
        analyzer: analyzer.clone(),
        search_analyzer: analyzer.clone(),
        names: [None, None],
        preserve_separators: true,
        preserve_position_increments: true,
        max_input_length: INPUT_LENGTH,
        contexts: Vec::new(),
    }))
}

/// Reads a parameter; `false` where it is none.
pub(super) fn parameter(
    completion: &mut Completion,
    key: &str,
    value: &Value,
    name: &str,
    _settings: &Settings,
) -> Result<bool> {
    match key {
        "analyzer" => completion.names[0] = Some(java_text(value).into()),
        "search_analyzer" => completion.names[1] = Some(java_text(value).into()),
        "preserve_separators" => completion.preserve_separators = flag(value)?,
        "preserve_position_increments" => completion.preserve_position_increments = flag(value)?,
        "max_input_length" => {
            let length = not_negative(value, key)?;
            if length == 0 {
                return Err(Error::illegal_argument("[max_input_length] must be > 0 but was [0]"));
            }
            completion.max_input_length = length;
        }
        "contexts" => completion.contexts = contexts(value, name)?,
        _ => return Ok(false),
    }
    Ok(true)
}

fn contexts(value: &Value, name: &str) -> Result<Vec<Contexts>> {
    let items = match value {
        Value::Array(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    };
    if items.is_empty() {
        return Err(Error::new(
            crate::ErrorKind::Parse,
            format!("expected at least one context mapping for completion field [{name}]"),
        ));
    }
    if items.len() > CONTEXTS_MAX {
        return Err(Error::illegal_argument(format!(
            "Limit of completion field contexts [{CONTEXTS_MAX}] has been exceeded"
        )));
    }
    let mut found: Vec<Contexts> = Vec::new();
    for item in items {
        let context = context(item)?;
        if found.iter().any(|known| known.name == context.name) {
            return Err(Error::illegal_argument(format!(
                "duplicate context name '{}'",
                context.name
            )));
        }
        found.push(context);
    }
    Ok(found)
}

fn context(value: &Value) -> Result<Contexts> {
    let parse = |reason: String| Error::new(crate::ErrorKind::Parse, reason);
    let text = |key: &str| value.get(key).map(java_text);
    let name = text("name").ok_or_else(|| parse("name is required in mapping".to_owned()))?;
    let kind = text("type").ok_or_else(|| parse("type is required in mapping".to_owned()))?;
    let kind = match kind.to_ascii_lowercase().as_str() {
        "category" => ContextKind::Category,
        "geo" => {
            let digits = match value.get("precision") {
                None => 6,
                Some(Value::String(text)) if text.parse::<u32>().is_err() => {
                    crate::types::completion::digits_of(metres(text)?)
                }
                Some(value) => not_negative(value, "precision")?,
            };
            if !(1..=12).contains(&digits) {
                return Err(Error::illegal_argument(format!(
                    "precision must be between 1 and 12, got [{digits}]"
                )));
            }
            ContextKind::Geo(digits as u8)
        }
        other => return Err(parse(format!("unknown context type[{other}]"))),
    };
    for (key, value) in value.as_object().into_iter().flat_map(json::Object::iter) {
        let known = matches!(key, "name" | "type" | "path")
            || (key == "precision" && matches!(kind, ContextKind::Geo(_)));
        if !known {
            return Err(Error::mapper_parsing(format!(
                "Mapping definition has unsupported parameters:  [{key} : {}]",
                java_text(value)
            )));
        }
    }
    Ok(Contexts { name: name.into(), kind, path: text("path").map(Into::into) })
}

/// `5km` in metres.
fn metres(text: &str) -> Result<f64> {
    const UNITS: [(&str, f64); 10] = [
        ("nmi", 1852.0),
        ("NM", 1852.0),
        ("mi", 1609.344),
        ("yd", 0.9144),
        ("ft", 0.3048),
        ("in", 0.0254),
        ("km", 1000.0),
        ("cm", 0.01),
        ("mm", 0.001),
        ("m", 1.0),
    ];
    let found = UNITS.iter().find_map(|(unit, size)| Some((text.strip_suffix(unit)?, *size)));
    let (number, size) = found.unwrap_or((text, 1.0));
    number.trim().parse::<f64>().map(|number| number * size).map_err(|_| {
        Error::illegal_argument(format!("failed to parse distance [{text}]"))
            .caused_by(Error::number_format(number))
    })
}

/// Finds the analyzers.
pub(super) fn finish(completion: &mut Completion, settings: &Settings) -> Result<()> {
    let find = |name: &Option<Arc<str>>| -> Result<Option<Arc<Analyzer>>> {
        let Some(name) = name.as_deref() else { return Ok(None) };
        let found = settings.analysis.analyzer(name).cloned();
        found.map(Some).ok_or_else(|| not_configured(name))
    };
    if let Some(found) = find(&completion.names[0])? {
        completion.analyzer = found;
    }
    completion.search_analyzer = match find(&completion.names[1])? {
        Some(found) => found,
        None => completion.analyzer.clone(),
    };
    Ok(())
}
