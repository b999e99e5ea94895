//! Reads mapping definitions: `{"properties": {"price": {"type": "long"}}}`.
//!
//! What comes out is a tree of its own whose fields have no numbers yet; `update` works it into the
//! mapping that is there. A dotted name makes objects: `"a.b": {…}` is `"a": {"properties": {"b": …}}`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use json::{Object as Json, Value};

use super::node::{Alias, Child, Children, Nested, Object, join};
use super::options::{Options, Source, SourceMode};
use super::template::Template;
use super::{Dynamic, limits, params, update};
use crate::types::DateFormat;
use crate::types::boolean;
use crate::{Error, ErrorKind, Result, Settings};

/// Reads a whole definition.
pub(super) fn mappings(value: &Value, settings: &Settings) -> Result<(Options, Arc<Object>)> {
    let Value::Object(body) = value else {
        return Err(Error::mapper_parsing("mapping definition must be an object"));
    };
    let mut options = Options::default();
    let mut object = Object::default();
    let mut unknown = String::new();
    object.subobjects = body.get("subobjects").map(subobjects).transpose()?;
    let place = Place { path: "", is_flat: object.is_flat() };
    for (key, value) in body.iter() {
        match key {
            "properties" => object.children = properties(value, place, settings)?,
            "subobjects" => {}
            "dynamic" => object.dynamic = Some(dynamic(value)?),
            "enabled" => object.enabled = Some(named_flag("enabled.enabled", value)?),
            "date_detection" => options.date_detection = Some(named_flag(key, value)?),
            "numeric_detection" => options.numeric_detection = Some(named_flag(key, value)?),
            "dynamic_date_formats" => options.date_formats = Some(date_formats(value)?),
            "dynamic_templates" => {
                options.templates = Some(Template::parse_all(value)?);
            }
            "_meta" if value.as_object().is_some() || value.is_null() => {
                options.meta = Some(value.clone());
            }
            "_meta" => return Err(Error::mapper_parsing("[_meta] must be an object")),
            "_routing" => options.routing_required = Some(routing(value)?),
            "_source" => {
                options.source = source(value)?;
                options.source_given = true;
            }
            // Nothing is gained by it, and data streams say it.
            "_data_stream_timestamp" => data_stream_timestamp(value)?,
            "_field_names" => field_names(value)?,
            "_doc_count" => without_parameters(key, value)?,
            _ if FIXED.contains(&key) => return Err(not_configurable(key)),
            "runtime" => runtime(value)?,
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

/// Where a definition stands.
#[derive(Clone, Copy)]
struct Place<'a> {
    /// Path of the object around it.
    path: &'a str,
    /// Names are whole, dots and all.
    is_flat: bool,
}

/// Reads the definitions of an object's children.
fn properties(value: &Value, parent: Place<'_>, settings: &Settings) -> Result<Children> {
    let definitions = match value {
        Value::Object(definitions) => definitions,
        Value::Array(items) if items.is_empty() => return Ok(Children::default()),
        _ => return Err(not_a_map()),
    };
    let mut children: BTreeMap<Arc<str>, Child> = BTreeMap::new();
    for (name, definition) in definitions.iter() {
        let definition = match definition {
            Value::Object(definition) => definition,
            // Elasticsearch takes no notice of these: PHP writes an empty map so.
            Value::Array(items) if items.is_empty() => continue,
            // The class that Elasticsearch names is that of the field's name.
            _ => {
                return Err(Error::mapper_parsing(format!(
                    "Expected map for property [fields] on field [{name}] but got a class java.lang.String"
                )));
            }
        };
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

#[cold]
pub(super) fn not_a_map() -> Error {
    Error::new(ErrorKind::Parse, "properties must be a map type")
}

/// Reads one definition; answers the first part of its name and what lies there.
fn property(
    name: &str,
    definition: &Json,
    parent: Place<'_>,
    settings: &Settings,
) -> Result<(Arc<str>, Child)> {
    if name.is_empty() {
        return Err(Error::illegal_argument("field name cannot be an empty string"));
    }
    let (first, rest) = match name.split_once('.') {
        Some((first, rest)) if !parent.is_flat => (first, Some(rest)),
        _ => (name, None),
    };
    if name.split('.').any(|part| part.trim().is_empty()) {
        return Err(Error::illegal_argument("field name cannot contain only whitespaces"));
    }
    if parent.path.is_empty() && is_metadata(first) {
        return Err(Error::mapper_parsing(format!("Field [{first}] is defined more than once")));
    }
    let path = join(parent.path, first);
    if let Some(rest) = rest {
        limits::depth(settings, &path)?;
        let inner = Place { path: &path, is_flat: false };
        let (name, child) = property(rest, definition, inner, settings)?;
        let children = Children::new([(name, child)]);
        let object = Object { path: path.into(), children, ..Object::default() };
        return Ok((first.into(), Child::Object(Arc::new(object))));
    }
    let child = child(first, definition, path, parent, settings)?;
    Ok((first.into(), child))
}

/// Does a definition make a child of a mapping's root?
pub(super) fn judge(name: &str, definition: &Json, settings: &Settings) -> Result<()> {
    let root = Place { path: "", is_flat: false };
    child(name, definition, name.to_owned(), root, settings).map(drop)
}

/// The object that a definition makes at a path.
pub(super) fn object_of(
    name: &str,
    definition: &Json,
    path: &str,
    settings: &Settings,
) -> Result<Child> {
    let around = path.rsplit_once('.').map_or("", |(around, _)| around);
    let place = Place { path: around, is_flat: false };
    child(name, definition, path.to_owned(), place, settings)
}

/// What a definition makes; apart from its caller, which recursion keeps on the stack.
#[inline(never)]
fn child(
    first: &str,
    definition: &Json,
    path: String,
    parent: Place<'_>,
    settings: &Settings,
) -> Result<Child> {
    Ok(match kind_of(first, definition)? {
        Type::Object | Type::Nested if parent.is_flat => {
            return Err(subobject(first, parent.path));
        }
        Type::Object => Child::Object(object(definition, path, None, settings)?),
        Type::Nested => {
            let nested = Some(nested(first, definition)?);
            Child::Object(object(definition, path, nested, settings)?)
        }
        Type::Alias => Child::Alias(Arc::new(alias(first, definition, path)?)),
        Type::Field(kind) if kind == "join" && !parent.path.is_empty() => {
            return Err(Error::illegal_argument(format!(
                "join field [{path}] cannot be added inside an object or in a multi-field"
            )));
        }
        Type::Field(kind) => field(&kind, definition, &path, settings)?,
    })
}

#[inline(never)]
fn field(kind: &str, definition: &Json, path: &str, settings: &Settings) -> Result<Child> {
    Ok(Child::Field(Arc::new(params::field(kind, definition, path, settings)?)))
}

#[cold]
fn subobject(name: &str, within: &str) -> Error {
    let within = if within.is_empty() { "_doc" } else { within };
    Error::mapper_parsing(format!(
        "Tried to add subobject [{name}] to object [{within}] which does not support subobjects"
    ))
}

pub(crate) use json::fields::METADATA;

/// Those of which a mapping says nothing, not even that they are there.
const FIXED: [&str; 6] = ["_id", "_ignored", "_index", "_nested_path", "_seq_no", "_version"];

#[cold]
fn not_configurable(name: &str) -> Error {
    Error::mapper_parsing(format!("{name} is not configurable"))
}

/// A name that belongs to the system.
pub fn is_metadata(name: &str) -> bool {
    METADATA.contains(&name)
}

/// What a definition is of.
enum Type<'a> {
    Object,
    Nested,
    Alias,
    Field(Cow<'a, str>),
}

/// The type that a definition names.
fn kind_of<'a>(name: &str, definition: &'a Json) -> Result<Type<'a>> {
    match definition.get("type") {
        Some(Value::String(kind)) => Ok(match kind.as_str() {
            "object" => Type::Object,
            "nested" => Type::Nested,
            "alias" => Type::Alias,
            kind => Type::Field(kind.into()),
        }),
        _ if definition.get("properties").is_some() => Ok(Type::Object),
        _ if definition.len() == 1 && definition.get("enabled").is_some() => Ok(Type::Object),
        // Whatever else stands there is a name that no type has.
        Some(other) if !other.is_null() => Ok(Type::Field(java_text(other).into())),
        _ => Err(Error::mapper_parsing(format!("No type specified for field [{name}]"))),
    }
}

fn object(
    definition: &Json,
    path: String,
    nested: Option<Nested>,
    settings: &Settings,
) -> Result<Arc<Object>> {
    limits::depth(settings, &path)?;
    let mut object = Object { nested, ..Object::default() };
    if nested.is_none() {
        object.subobjects = definition.get("subobjects").map(subobjects).transpose()?;
    }
    let mut unknown = String::new();
    for (key, value) in definition.iter() {
        match key {
            "type" => {}
            "properties" => {
                let place = Place { path: &path, is_flat: object.is_flat() };
                object.children = properties(value, place, settings)?;
            }
            "dynamic" => object.dynamic = Some(dynamic(value)?),
            "enabled" => object.enabled = Some(named_flag("enabled.enabled", value)?),
            "subobjects" if nested.is_none() => {}
            "include_in_parent" | "include_in_root" if nested.is_some() => {}
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
    Ok(Arc::new(object))
}

fn nested(name: &str, definition: &Json) -> Result<Nested> {
    let is = |key: &str| match definition.get(key) {
        Some(value) => named_flag(&format!("{name}.{key}"), value),
        None => Ok(false),
    };
    Ok(Nested { in_parent: is("include_in_parent")?, in_root: is("include_in_root")? })
}

fn alias(name: &str, definition: &Json, path: String) -> Result<Alias> {
    let mut target = None;
    let mut meta = None;
    let mut unknown = String::new();
    for (key, value) in definition.iter() {
        match key {
            "type" => {}
            "path" => target = Some(java_text(value)),
            "meta" => meta = Some(params::meta(value, name)?),
            _ => unknown.push_str(&format!(" [{key} : {}]", java_text(value))),
        }
    }
    if !unknown.is_empty() {
        return Err(Error::mapper_parsing(format!(
            "Mapping definition for [{name}] has unsupported parameters: {unknown}"
        )));
    }
    let target = target.ok_or_else(|| {
        Error::mapper_parsing(format!("The [path] property must be specified for field [{name}]."))
    })?;
    Ok(Alias { path: path.into(), target: target.into(), meta })
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

/// As [`flag`]; what is none names the option, in Elasticsearch's spelling of it.
fn named_flag(name: &str, value: &Value) -> Result<bool> {
    flag(value).map_err(|cause| {
        Error::illegal_argument(format!("Could not convert [{name}] to boolean")).caused_by(cause)
    })
}

fn subobjects(value: &Value) -> Result<bool> {
    match java_text(value).to_ascii_lowercase().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => {
            let reason = format!("unknown subobjects value: {}", java_text(value));
            Err(Error::new(ErrorKind::Parse, reason))
        }
    }
}

fn dynamic(value: &Value) -> Result<Dynamic> {
    if value.as_str().is_some_and(|text| text.eq_ignore_ascii_case("strict")) {
        return Ok(Dynamic::Strict);
    }
    let is_dynamic = named_flag("dynamic.dynamic", value)?;
    Ok(if is_dynamic { Dynamic::True } else { Dynamic::False })
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
            Value::String(text) => formats.push(Arc::new(DateFormat::parse_kept(text)?)),
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

/// Which part of a document is kept.
fn source(value: &Value) -> Result<Source> {
    let mut source = Source::default();
    for (key, value) in metadata("_source", value)? {
        match key {
            "enabled" => source.enabled = Some(flag(value)?),
            "includes" => source.includes = paths(value),
            "excludes" => source.excludes = paths(value),
            "mode" => {
                let name = java_text(value);
                let mode = SourceMode::of_name(&name.to_ascii_lowercase());
                source.mode = Some(mode.ok_or_else(|| {
                    Error::mapper_parsing(format!(
                        "Failed to parse mapping: No enum constant \
                         org.elasticsearch.index.mapper.SourceFieldMapper.Mode.{}",
                        name.to_ascii_uppercase()
                    ))
                })?);
            }
            // It meant a form of storage that is long gone.
            "compress" | "compress_threshold" | "format" | "type" => {}
            _ => return Err(unknown_metadata(key, "_source")),
        }
    }
    if source.enabled.is_some() && source.mode.is_some() {
        return Err(Error::mapper_parsing("Cannot set both [mode] and [enabled] parameters"));
    }
    let filtered = !source.includes.is_empty() || !source.excludes.is_empty();
    if filtered && matches!(source.mode, Some(SourceMode::Synthetic | SourceMode::Disabled)) {
        return Err(Error::mapper_parsing(format!(
            "filtering the stored _source is incompatible with {} source",
            source.mode.map_or("", SourceMode::name)
        )));
    }
    Ok(source)
}

fn paths(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().map(java_text).collect(),
        one => vec![java_text(one)],
    }
}

fn data_stream_timestamp(value: &Value) -> Result<()> {
    for (key, value) in metadata("_data_stream_timestamp", value)? {
        match key {
            "enabled" => {
                flag(value)?;
            }
            _ => return Err(unknown_metadata(key, "_data_stream_timestamp")),
        }
    }
    Ok(())
}

/// A field of the system's that may be named, and nothing else.
fn without_parameters(name: &str, value: &Value) -> Result<()> {
    match metadata(name, value)?.next() {
        None => Ok(()),
        Some((key, _)) => Err(unknown_metadata(key, name)),
    }
}

/// `_field_names` could be turned off long ago; since then it says nothing.
fn field_names(value: &Value) -> Result<()> {
    match metadata("_field_names", value)?.next() {
        None => Ok(()),
        Some(("enabled", _)) => Err(Error::mapper_parsing(
            "The `enabled` setting for the `_field_names` field has been deprecated and removed. \
             Please remove it from your mappings and templates.",
        )),
        Some((key, _)) => Err(unknown_metadata(key, "_field_names")),
    }
}

/// Fields that a script makes: none are known here.
fn runtime(value: &Value) -> Result<()> {
    let Value::Object(fields) = value else {
        return Err(Error::mapper_parsing(format!(
            "runtime must be a map type, but found {}",
            java_text(value)
        )));
    };
    let Some((name, definition)) = fields.iter().next() else { return Ok(()) };
    let Some(kind) = definition.get("type").map(java_text) else {
        return Err(Error::mapper_parsing(format!("No type specified for runtime field [{name}]")));
    };
    Err(Error::mapper_parsing(format!(
        "The mapper type [{kind}] declared on runtime field [{name}] does not exist. It might have \
         been created within a future version or requires a plugin to be installed. Check the \
         documentation."
    )))
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
