//! Parameters of field definitions: which each type knows, and what they must be.
//!
//! A parameter that no issue of this project has brought yet is answered as one that nobody knows,
//! unless it has no effect here (`eager_global_ordinals`) or the value given is the one we have.

mod completion;
mod kinds;
mod text;

use std::sync::Arc;

use json::{Object as Json, Value};

use super::define::{flag, java_text};
use super::node::{UNNUMBERED, join};
use crate::types::{Field, Kind, Scalar, TextFlavor, boolean, geo, ip};
use crate::{Error, ErrorKind, Result, Settings};

/// Reads the definition of a field of type `kind`.
pub(super) fn field(
    kind: &str,
    definition: &Json,
    path: &str,
    settings: &Settings,
) -> Result<Field> {
    read(kind, definition, path, settings, Level::Field)
}

/// No type has this name.
#[cold]
pub(super) fn unknown_type(kind: &str, name: &str) -> Error {
    Error::mapper_parsing(format!(
        "The mapper type [{kind}] declared on field [{name}] does not exist. It might have been \
         created within a future version or requires a plugin to be installed. Check the \
         documentation."
    ))
}

/// Is there a type of this name, for a field?
pub(super) fn is_type(kind: &str, settings: &Settings) -> bool {
    kinds::default(kind, "", settings).is_ok()
}

/// Where a definition stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Field,
    Multi,
}

fn read(
    kind: &str,
    definition: &Json,
    path: &str,
    settings: &Settings,
    level: Level,
) -> Result<Field> {
    let name = path.rsplit('.').next().unwrap_or_default();
    let mut field = Field {
        no: UNNUMBERED,
        path: path.into(),
        kind: kinds::default(kind, name, settings)?,
        index: true,
        doc_values: true,
        store: false,
        copy_to: Vec::new(),
        multi_fields: Vec::new(),
        parts: Vec::new(),
        meta: None,
    };
    let has = Common::of(&field.kind);
    field.index = has.index_default;
    field.doc_values = has.doc_values_default;
    let mut null_value = None;
    for (key, value) in definition.iter() {
        if value.is_null() && !matches!(key, "null_value" | "type" | "value") {
            return Err(Error::mapper_parsing(format!(
                "[{key}] on mapper [{name}] of type [{kind}] must not have a [null] value"
            )));
        }
        match key {
            "type" => {}
            "fields" if level == Level::Field => {
                field.multi_fields = multi_fields(value, path, settings)?;
            }
            "fields" => {
                return Err(Error::mapper_parsing(format!(
                    "Encountered a multi-field [{path}] which itself contains a multi-field. \
                     Defining chained multi-fields is not supported."
                )));
            }
            "copy_to" if level == Level::Field => field.copy_to = copy_to(value),
            "copy_to" => {
                return Err(Error::mapper_parsing(format!(
                    "copy_to in multi fields is not allowed. Found the copy_to in field [{name}] \
                     which is within a multi field."
                )));
            }
            "meta" => field.meta = Some(meta(value, name)?),
            "index" if has.index => field.index = flag(value)?,
            "store" if has.store => field.store = flag(value)?,
            "doc_values" if has.doc_values => field.doc_values = flag(value)?,
            // Read last: it is judged by the other parameters.
            "null_value" if has.null_value => null_value = Some(value),
            _ => {
                if !kinds::special(&mut field.kind, key, value, name, settings)? {
                    return Err(Error::mapper_parsing(format!(
                        "unknown parameter [{key}] on mapper [{name}] of type [{kind}]"
                    )));
                }
            }
        }
    }
    if let Some(value) = null_value
        && !value.is_null()
    {
        set_null_value(&mut field.kind, value, name)?;
    }
    kinds::finish(&mut field, settings)?;
    Ok(field)
}

/// Which of the parameters that many types share a type knows.
struct Common {
    index: bool,
    index_default: bool,
    store: bool,
    doc_values: bool,
    doc_values_default: bool,
    null_value: bool,
}

impl Common {
    fn of(kind: &Kind) -> Self {
        let all = Self {
            index: true,
            index_default: true,
            store: true,
            doc_values: true,
            doc_values_default: true,
            null_value: true,
        };
        let none = Self {
            index: false,
            index_default: true,
            store: false,
            doc_values: false,
            doc_values_default: false,
            null_value: false,
        };
        use crate::types::KeywordFlavor::{Version, Wildcard};
        match kind {
            Kind::Text(text) => match text.flavor {
                TextFlavor::MatchOnly => none,
                _ => Self { index: true, store: true, ..none },
            },
            Kind::Keyword(keyword) => match keyword.flavor {
                Wildcard => Self { doc_values_default: true, null_value: true, ..none },
                Version => Self { doc_values_default: true, ..none },
                _ => all,
            },
            Kind::Range(_) => Self { null_value: false, ..all },
            Kind::Binary => Self { store: true, doc_values: true, index_default: false, ..none },
            Kind::RankFeature(_) => Self { null_value: true, ..none },
            Kind::RankFeatures(_) | Kind::Completion(_) => none,
            Kind::ConstantKeyword(_) => Self { index_default: false, ..none },
            Kind::Flattened(_) => Self { store: false, ..all },
            Kind::Join(_) => Self { doc_values_default: true, ..none },
            _ => all,
        }
    }
}

fn set_null_value(kind: &mut Kind, value: &Value, name: &str) -> Result<()> {
    let wrapped = |cause| in_parameter("null_value", name, cause);
    if let Kind::GeoPoint(point) = kind {
        let place = geo::parse_point(value, !point.refuse_z).map_err(wrapped)?;
        geo::check(place, "").map_err(wrapped)?;
        point.null_value = Some((value.clone(), place));
        return Ok(());
    }
    let scalar = Scalar::of_value(value).ok_or_else(|| {
        Error::mapper_parsing(format!("[null_value] on mapper [{name}] must be a single value"))
    })?;
    match kind {
        Kind::Keyword(keyword) => keyword.null_value = Some(scalar.java_text().into()),
        Kind::Flattened(flattened) => flattened.null_value = Some(scalar.java_text().into()),
        Kind::Number(number) => {
            number.null_value = Some(number.parse(scalar, true)?);
        }
        Kind::Boolean(boolean) => {
            boolean.null_value = Some(boolean::parse(scalar)?);
        }
        Kind::Date(date) => {
            let text = scalar.java_text();
            let value = date.parse(&text).map_err(wrapped)?;
            date.null_value = Some((text.into(), value));
        }
        Kind::Ip(ip) => {
            let text = scalar.java_text();
            let address = ip::parse(&text).map_err(wrapped)?;
            ip.null_value = Some((text.into(), address));
        }
        Kind::RankFeature(feature) => {
            let number = crate::types::NumberKind::Float.parse(scalar, true).map_err(wrapped)?;
            feature.null_value = Some(crate::types::sortable::to_f32(number));
        }
        _ => {}
    }
    Ok(())
}

pub(super) fn in_parameter(parameter: &str, field: &str, cause: Error) -> Error {
    Error::new(
        ErrorKind::IllegalArgument,
        format!("Error parsing [{parameter}] on field [{field}]: {}", cause.reason),
    )
    .caused_by(cause)
}

fn multi_fields(value: &Value, path: &str, settings: &Settings) -> Result<Vec<Arc<Field>>> {
    let name = path.rsplit('.').next().unwrap_or_default();
    let definitions = match value {
        Value::Object(definitions) => definitions,
        Value::Array(items) if items.is_empty() => return Ok(Vec::new()),
        other => {
            return Err(Error::mapper_parsing(format!(
                "expected map for property [fields] on field [{name}] or [index] but got a {}",
                java_text(other)
            )));
        }
    };
    let mut fields = Vec::new();
    for (multi, definition) in definitions.iter() {
        if multi.contains('.') {
            return Err(Error::mapper_parsing(format!(
                "Field name [{multi}] which is a multi field of [{name}] cannot contain '.'"
            )));
        }
        if multi.trim().is_empty() {
            return Err(Error::mapper_parsing(format!(
                "Field name cannot contain only whitespace: [{}]",
                join(path, multi)
            )));
        }
        let Value::Object(definition) = definition else {
            return Err(Error::mapper_parsing(format!(
                "illegal field [{multi}], only fields can be specified inside fields"
            )));
        };
        let kind = match definition.get("type") {
            None | Some(Value::Null) => {
                return Err(Error::mapper_parsing(format!(
                    "no type specified for property [{multi}]"
                )));
            }
            Some(kind) => java_text(kind),
        };
        let kind = kind.as_str();
        if matches!(kind, "object" | "nested" | "alias") {
            return Err(Error::mapper_parsing(format!(
                "Type [{kind}] cannot be used in multi field"
            )));
        }
        let path = join(path, multi);
        if kind == "join" {
            return Err(Error::illegal_argument(format!(
                "join field [{path}] cannot be added inside an object or in a multi-field"
            )));
        }
        fields.push(Arc::new(read(kind, definition, &path, settings, Level::Multi)?));
    }
    fields.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(fields)
}

fn copy_to(value: &Value) -> Vec<Arc<str>> {
    match value {
        Value::Array(items) => items.iter().map(|item| java_text(item).into()).collect(),
        one => vec![java_text(one).into()],
    }
}

/// At most five short texts by short names.
pub(super) fn meta(value: &Value, name: &str) -> Result<Value> {
    let refused = |what: String| Err(Error::mapper_parsing(what));
    let Value::Object(members) = value else {
        return refused(format!(
            "[meta] must be an object, got {}[{}] for field [{name}]",
            value.token(),
            java_text(value)
        ));
    };
    if members.len() > 5 {
        return refused(format!(
            "[meta] can't have more than 5 entries, but got {} on field [{name}]",
            members.len()
        ));
    }
    for (key, value) in members.iter() {
        if key.encode_utf16().count() > 20 {
            return refused(format!(
                "[meta] keys can't be longer than 20 chars, but got [{key}] for field [{name}]"
            ));
        }
        match value {
            Value::String(text) if text.encode_utf16().count() <= 50 => {}
            Value::String(text) => {
                return refused(format!(
                    "[meta] values can't be longer than 50 chars, but got [{text}] for field [{name}]"
                ));
            }
            other => {
                return refused(format!(
                    "[meta] values can only be strings, but got [{}] for field [{name}]",
                    java_text(other)
                ));
            }
        }
    }
    let mut members = members.clone();
    members.sort_keys();
    Ok(Value::Object(members))
}

/// A number that is not negative, perhaps as text.
fn not_negative(value: &Value, key: &str) -> Result<u32> {
    let number = long(value)?;
    if number < 0 {
        return Err(Error::illegal_argument(format!("[{key}] must be positive, got [{number}]")));
    }
    // Beyond Java's int nothing is that long; `int` refuses it where it is new.
    Ok(u32::try_from(number).unwrap_or(u32::MAX).min(i32::MAX as u32))
}

/// A whole number, perhaps as text.
fn long(value: &Value) -> Result<i64> {
    let text = java_text(value);
    if let Value::Number(number) = value
        && !number.is_integer()
    {
        let double = number.as_f64();
        if double.fract() != 0.0 {
            return Err(Error::illegal_argument(format!("{text} is not an integer value")));
        }
        return Ok(double as i64);
    }
    text.parse().map_err(|_| Error::number_format(&text))
}

/// One that is an int of Java, or no number.
pub(super) fn int(value: &Value) -> Result<()> {
    match long(value) {
        Ok(number) if i32::try_from(number).is_err() => Err(match value {
            Value::Number(_) => Error::new(ErrorKind::Arithmetic, "integer overflow"),
            text => Error::number_format(&java_text(text)),
        }),
        // What is no number is refused by who reads it.
        _ => Ok(()),
    }
}

/// Only English names of months and days are known.
fn locale(value: &Value) -> Result<Arc<str>> {
    let text = java_text(value);
    let language = text.split(['_', '-']).next().unwrap_or_default();
    if matches!(language, "" | "en" | "ROOT" | "root") {
        return Ok(text.into());
    }
    Err(Error::illegal_argument(format!("Unknown language: {language}")))
}
