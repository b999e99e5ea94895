//! Reads mapping definitions: `{"properties": {"price": {"type": "long"}}}`.
//!
//! What comes out is a tree of its own whose fields have no numbers yet; `update` works it into the
//! mapping that is there. A dotted name makes objects: `"a.b": {…}` is `"a": {"properties": {"b": …}}`.

use std::collections::BTreeMap;
use std::sync::Arc;

use json::{Object as Json, Value};

use super::node::{Child, Children, Object, join};
use super::options::Options;
use super::template::Template;
use super::{Dynamic, limits, params, update};
use crate::types::DateFormat;
use crate::types::boolean;
use crate::{Error, Result, Settings};

/// Reads a whole definition.
pub(super) fn mappings(value: &Value, settings: &Settings) -> Result<(Options, Arc<Object>)> {
    let Value::Object(body) = value else {
        return Err(Error::mapper_parsing("mapping definition must be an object"));
    };
    let mut options = Options::default();
    let mut object = Object::default();
    let mut unknown = String::new();
    for (key, value) in body.iter() {
        match key {
            "properties" => object.children = properties(value, "", settings)?,
            "dynamic" => object.dynamic = Some(dynamic(value)?),
            "enabled" => object.enabled = Some(flag(value)?),
            "date_detection" => options.date_detection = Some(flag(value)?),
            "numeric_detection" => options.numeric_detection = Some(flag(value)?),
            "dynamic_date_formats" => options.date_formats = Some(date_formats(value)?),
            "dynamic_templates" => options.templates = Template::parse_all(value, settings)?,
            "_meta" => options.meta = Some(value.clone()),
            "_routing" => options.routing_required = Some(routing(value)?),
            "_source" => source(value)?,
            "_doc" => {
                return Err(Error::illegal_argument(
                    "The mapping definition cannot be nested under a type",
                ));
            }
            _ => unknown.push_str(&format!(" [{key} : {}]", java_text(value))),
        }
    }
    if !unknown.is_empty() {
        return Err(Error::mapper_parsing(format!(
            "Root mapping definition has unsupported parameters: {unknown}"
        )));
    }
    Ok((options, Arc::new(object)))
}

/// Reads the definitions of an object's children.
fn properties(value: &Value, parent: &str, settings: &Settings) -> Result<Children> {
    let definitions = match value {
        Value::Object(definitions) => definitions,
        Value::Array(items) if items.is_empty() => return Ok(Children::default()),
        _ => return Err(Error::mapper_parsing("properties must be a map type")),
    };
    let mut children: BTreeMap<Arc<str>, Child> = BTreeMap::new();
    for (name, definition) in definitions.iter() {
        let (first, child) = property(name, definition, parent, settings)?;
        let child = match children.remove(&first) {
            None => child,
            // `a` and `a.b` beside each other.
            Some(known) => update::merge_child(&known, &child, update::Reason::Request)?,
        };
        children.insert(first, child);
    }
    Ok(Children::new(children))
}

/// Reads one definition; answers the first part of its name and what lies there.
fn property(
    name: &str,
    definition: &Value,
    parent: &str,
    settings: &Settings,
) -> Result<(Arc<str>, Child)> {
    if name.is_empty() {
        return Err(Error::mapper_parsing("Field name cannot be an empty string"));
    }
    let (first, rest) = name.split_once('.').map_or((name, None), |(a, b)| (a, Some(b)));
    if name.split('.').any(|part| part.trim().is_empty()) {
        return Err(Error::mapper_parsing(format!(
            "Field name cannot contain only whitespace: [{}]",
            join(parent, name)
        )));
    }
    let path = join(parent, first);
    if let Some(rest) = rest {
        limits::depth(settings, &path)?;
        let (name, child) = property(rest, definition, &path, settings)?;
        let children = Children::new([(name, child)]);
        let object = Object { path: path.into(), children, ..Object::default() };
        return Ok((first.into(), Child::Object(Arc::new(object))));
    }
    let Value::Object(definition) = definition else {
        return Err(Error::mapper_parsing(format!(
            "Expected map for property [fields] on field [{first}] but got a class {}",
            java_class(definition)
        )));
    };
    let child = match kind_of(first, definition)? {
        None => Child::Object(Arc::new(object(definition, path, settings)?)),
        Some(kind) => Child::Field(Arc::new(params::field(kind, definition, &path, settings)?)),
    };
    Ok((first.into(), child))
}

/// The type that a definition names; none for objects.
fn kind_of<'a>(name: &str, definition: &'a Json) -> Result<Option<&'a str>> {
    match definition.get("type") {
        Some(Value::String(kind)) if kind == "object" => Ok(None),
        Some(Value::String(kind)) => Ok(Some(kind)),
        _ if definition.get("properties").is_some() => Ok(None),
        _ if definition.len() == 1 && definition.get("enabled").is_some() => Ok(None),
        _ => Err(Error::mapper_parsing(format!("No type specified for field [{name}]"))),
    }
}

fn object(definition: &Json, path: String, settings: &Settings) -> Result<Object> {
    limits::depth(settings, &path)?;
    let mut object = Object::default();
    let mut unknown = String::new();
    for (key, value) in definition.iter() {
        match key {
            "type" => {}
            "properties" => object.children = properties(value, &path, settings)?,
            "dynamic" => object.dynamic = Some(dynamic(value)?),
            "enabled" => object.enabled = Some(flag(value)?),
            _ => unknown.push_str(&format!(" [{key} : {}]", java_text(value))),
        }
    }
    if !unknown.is_empty() {
        let name = path.rsplit('.').next().unwrap_or_default();
        return Err(Error::mapper_parsing(format!(
            "Mapping definition for [{name}] has unsupported parameters: {unknown}"
        )));
    }
    object.path = path.into();
    Ok(object)
}

/// A boolean, perhaps as text.
pub(super) fn flag(value: &Value) -> Result<bool> {
    match value {
        Value::Bool(value) => Ok(*value),
        Value::String(text) if text == "true" => Ok(true),
        Value::String(text) if text == "false" => Ok(false),
        other => Err(boolean::only(&java_text(other))),
    }
}

fn dynamic(value: &Value) -> Result<Dynamic> {
    match value {
        Value::Bool(true) => return Ok(Dynamic::True),
        Value::Bool(false) => return Ok(Dynamic::False),
        Value::String(text) => match text.to_ascii_lowercase().as_str() {
            "true" => return Ok(Dynamic::True),
            "false" => return Ok(Dynamic::False),
            "strict" => return Ok(Dynamic::Strict),
            _ => {}
        },
        _ => {}
    }
    Err(Error::illegal_argument(format!(
        "No enum constant org.elasticsearch.index.mapper.ObjectMapper.Dynamic.{}",
        java_text(value).to_ascii_uppercase()
    )))
}

fn date_formats(value: &Value) -> Result<Vec<Arc<DateFormat>>> {
    let items = match value {
        Value::Array(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    };
    let mut formats = Vec::new();
    for item in items {
        match item {
            // Elasticsearch takes `none` for no detection.
            Value::String(text) if text == "none" => {}
            Value::String(text) => formats.push(Arc::new(DateFormat::parse_pattern(text)?)),
            other => {
                return Err(Error::mapper_parsing(format!(
                    "Invalid date format [{}]",
                    java_text(other)
                )));
            }
        }
    }
    Ok(formats)
}

fn routing(value: &Value) -> Result<bool> {
    let mut required = false;
    for (key, value) in metadata("_routing", value)? {
        match key {
            "required" => required = flag(value)?,
            _ => return Err(unknown_metadata(key, "_routing")),
        }
    }
    Ok(required)
}

/// The source is always kept whole; only what says so is taken.
fn source(value: &Value) -> Result<()> {
    for (key, value) in metadata("_source", value)? {
        match key {
            "enabled" if flag(value)? => {}
            _ => return Err(unknown_metadata(key, "_source")),
        }
    }
    Ok(())
}

fn metadata<'a>(
    name: &str,
    value: &'a Value,
) -> Result<impl Iterator<Item = (&'a str, &'a Value)>> {
    let object = value
        .as_object()
        .ok_or_else(|| Error::mapper_parsing(format!("[{name}] config must be an object")))?;
    Ok(object.iter())
}

fn unknown_metadata(key: &str, name: &str) -> Error {
    Error::mapper_parsing(format!("unknown parameter [{key}] on metadata field [{name}]"))
}

/// What Java's `toString` makes of parsed JSON: `{a=1, b=[x, y]}`.
pub(crate) fn java_text(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) if number.is_integer() => number.text().to_owned(),
        Value::Number(number) => json::number::double_to_string(number.as_f64()),
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(java_text).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(object) => {
            let members: Vec<String> =
                object.iter().map(|(key, value)| format!("{key}={}", java_text(value))).collect();
            format!("{{{}}}", members.join(", "))
        }
    }
}

/// Java's class of a parsed value.
fn java_class(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "java.lang.String",
        Value::Bool(_) => "java.lang.Boolean",
        Value::Number(number) if number.is_integer() => {
            if number.as_i64().is_some_and(|value| i32::try_from(value).is_ok()) {
                "java.lang.Integer"
            } else {
                "java.lang.Long"
            }
        }
        Value::Number(_) => "java.lang.Double",
        Value::Array(_) => "java.util.ArrayList",
        Value::Null | Value::Object(_) => "java.util.LinkedHashMap",
    }
}
