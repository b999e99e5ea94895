//! Guesses: what a value that no field is there for would become.

use std::sync::Arc;

use json::{Object as Json, Value};

use super::node::{Child, Object};
use super::template::Template;
use super::{Options, define, params};
use crate::types::{DateFormat, Field, Scalar, date_format, number};
use crate::{Error, Result, Settings};

/// What a JSON value is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detected {
    Object,
    String,
    Long,
    Double,
    Boolean,
    Date,
}

impl Detected {
    /// As templates name it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Object => "object",
            Self::String => "string",
            Self::Long => "long",
            Self::Double => "double",
            Self::Boolean => "boolean",
            Self::Date => "date",
        }
    }

    /// The type a field of it gets.
    pub const fn default_type(self) -> &'static str {
        match self {
            Self::Object => "object",
            Self::String => "text",
            Self::Long => "long",
            Self::Double => "float",
            Self::Boolean => "boolean",
            Self::Date => "date",
        }
    }
}

/// What a value is taken for, and for dates by which format.
pub(crate) fn detect<'o>(
    value: Scalar<'_>,
    options: &'o Options,
) -> (Detected, Option<&'o Arc<DateFormat>>) {
    let text = match value {
        Scalar::Bool(_) => return (Detected::Boolean, None),
        Scalar::Integer(_) | Scalar::Big(_) => return (Detected::Long, None),
        Scalar::Decimal(..) => return (Detected::Double, None),
        Scalar::Text(text) => text,
    };
    let (long, double) = (number::is_java_long(text), number::is_java_double(text));
    if long || double {
        // Numbers are never dates: too many of them would read as years.
        return match options.numeric_detection == Some(true) {
            true if long => (Detected::Long, None),
            true => (Detected::Double, None),
            false => (Detected::String, None),
        };
    }
    if options.date_detection != Some(false) && may_be_date(text) {
        let found = options.date_formats().iter().find(|format| format.reads(text));
        if let Some(format) = found {
            return (Detected::Date, Some(format));
        }
    }
    (Detected::String, None)
}

/// Quick look, so that prose is not read by every format: dates are short and have a digit, unless
/// somebody's format writes days and months in words only.
fn may_be_date(text: &str) -> bool {
    text.len() <= 128 && text.bytes().any(|byte| byte.is_ascii_digit())
}

/// The field or object that a new value of this path becomes, by the template that decides about it; its definition
/// beside it.
pub(crate) fn guess(
    path: &str,
    detected: Detected,
    format: Option<&Arc<DateFormat>>,
    template: Option<&Template>,
    settings: &Settings,
) -> Result<(Child, Json)> {
    let name = path.rsplit('.').next().unwrap_or_default();
    let (kind, definition) = match template {
        Some(template) => {
            let (kind, definition) = template.definition(name, detected.default_type());
            let is_object = matches!(&*kind, "object" | "nested");
            (kind, if is_object { of_object(&definition) } else { definition })
        }
        None => (detected.default_type().to_owned(), default_definition(detected, format)),
    };
    let child = if matches!(&*kind, "object" | "nested") {
        if detected != Detected::Object {
            return Err(Error::mapper_parsing(format!(
                "dynamic template for [{name}] makes an object of a value"
            )));
        }
        match is_plain(&definition) {
            true => {
                super::limits::depth(settings, path)?;
                Child::Object(Arc::new(Object { path: path.into(), ..Object::default() }))
            }
            false => define::object_of(name, &definition, path, settings)?,
        }
    } else {
        Child::Field(Arc::new(params::field(&kind, &definition, path, settings)?))
    };
    Ok((child, definition))
}

/// What of a template's mapping says something of objects: one for values of all kinds may say more, which is passed
/// over.
fn of_object(definition: &Json) -> Json {
    const SAYS: [&str; 7] = [
        "type",
        "properties",
        "dynamic",
        "enabled",
        "subobjects",
        "include_in_parent",
        "include_in_root",
    ];
    let own = definition.iter().filter(|(key, _)| SAYS.contains(key));
    own.map(|(key, value)| (key.to_owned(), value.clone())).collect()
}

/// Is this an object that says nothing of itself? Of any other it depends on what it says what becomes of what lies in
/// it.
pub(crate) fn is_plain(definition: &Json) -> bool {
    definition.len() == 1 && definition.get("type").and_then(Value::as_str) == Some("object")
}

fn default_definition(detected: Detected, format: Option<&Arc<DateFormat>>) -> Json {
    let mut definition = Json::new();
    definition.insert("type", detected.default_type());
    match detected {
        Detected::String => {
            definition.insert(
                "fields",
                json::json!({"keyword": {"type": "keyword", "ignore_above": 256}}),
            );
        }
        Detected::Date => {
            if let Some(format) = format
                && format.pattern() != date_format::DEFAULT.pattern()
            {
                definition.insert("format", format.pattern());
            }
        }
        _ => {}
    }
    definition
}

/// How many mappers a new child counts for: itself and its multi-fields.
pub(crate) fn weight(child: &Child) -> u64 {
    match child {
        Child::Field(field) => 1 + field.multi_fields.len() as u64,
        Child::Object(_) | Child::Alias(_) => 1,
    }
}

/// What two values of one new field say where they do not agree.
pub(crate) fn disagreement(path: &str, one: &Field, two: &Field) -> Option<Error> {
    (one.type_name() != two.type_name()).then(|| {
        Error::illegal_argument(format!(
            "mapper [{path}] cannot be changed from type [{}] to [{}]",
            one.type_name(),
            two.type_name()
        ))
    })
}

/// A mapping fragment.
pub(crate) fn fragment(properties: Json) -> Value {
    let mut mappings = Json::new();
    mappings.insert("properties", properties);
    Value::Object(mappings)
}
