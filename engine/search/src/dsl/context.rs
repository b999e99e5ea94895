//! What every reader of the query language leans on: faults with the place where the reader
//! stood, values as Elasticsearch's parser coerces them, and its two ways to read an object.
//!
//! Elasticsearch streams tokens, we walk a tree; the words and places come out the same because a
//! [`Fault`] keeps where the stream would have stood (`at`), beside whatever the error itself says.
//! An outer object parser that wraps an inner failure names that place.

use json::spanned::{Kind as Json, Member, Node};
use mapping::types::boolean;

use super::suggest;
use crate::ast::Scalar;
use crate::error::{Error, Kind, Place};

/// Depth of queries inside queries (`indices.query.bool.max_nested_depth`).
pub const DEPTH_MAX: u32 = 30;

/// An error on its way out.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// What went wrong.
    pub error: Error,
    /// Where a stream of tokens would have stood.
    pub at: Place,
}

/// Answer of a reader.
pub type Read<T> = Result<T, Fault>;

impl Fault {
    /// `parsing_exception` here.
    pub fn parsing(at: Place, reason: impl Into<String>) -> Self {
        Self { error: Error::parsing(at, reason), at }
    }

    /// `illegal_argument_exception`, met here.
    pub fn illegal(at: Place, reason: impl Into<String>) -> Self {
        Self { error: Error::illegal(reason), at }
    }

    /// `x_content_parse_exception` about a place, met here.
    pub fn content(about: Place, at: Place, reason: impl std::fmt::Display) -> Self {
        Self { error: Error::content(about, reason), at }
    }

    /// As an object parser wraps what a field's reader throws.
    #[must_use]
    pub fn inside(self, parser: &str, field: &str) -> Self {
        let outer =
            Error::content(self.at, format_args!("[{parser}] failed to parse field [{field}]"));
        Self { error: outer.caused_by(self.error), at: self.at }
    }

    /// As readers do that turn an object parser's failure into their own: the same words again.
    #[must_use]
    pub fn again_as_parsing(self) -> Self {
        let outer = Error::parsing(self.at, self.error.reason.clone());
        Self { error: outer.caused_by(self.error), at: self.at }
    }
}

/// A value that counts as one: `null` and containers do not.
pub fn is_value(node: &Node) -> bool {
    matches!(node.kind, Json::Bool(_) | Json::Number(_) | Json::String(_))
}

/// A scalar; `None` of `null`.
pub fn scalar(node: &Node) -> Read<Option<Scalar>> {
    Ok(Some(match &node.kind {
        Json::Null => return Ok(None),
        Json::Bool(value) => Scalar::Bool(*value),
        Json::Number(number) => Scalar::Number(number_text(number)),
        Json::String(text) => Scalar::String(text.clone()),
        Json::Array(_) | Json::Object(_) => return Err(no_text(node)),
    }))
}

/// Any scalar but `null`, as text.
pub fn text(node: &Node) -> Read<String> {
    match &node.kind {
        Json::Bool(value) => Ok(value.to_string()),
        Json::Number(number) => Ok(number.text().to_owned()),
        Json::String(text) => Ok(text.clone()),
        Json::Null | Json::Array(_) | Json::Object(_) => Err(no_text(node)),
    }
}

/// Any scalar as text; `None` of `null`.
pub fn text_or_null(node: &Node) -> Read<Option<String>> {
    if node.is_null() { Ok(None) } else { text(node).map(Some) }
}

fn no_text(node: &Node) -> Fault {
    let Place { line, column } = node.at;
    Fault::illegal(node.at, format!("Expected text at {line}:{column} but found {}", node.token()))
}

/// As Java prints the number that the JSON reader made of it.
fn number_text(number: &json::Number) -> String {
    if number.is_integer() {
        match number.text() {
            "-0" => "0".to_owned(),
            text => text.to_owned(),
        }
    } else {
        json::number::double_to_string(number.as_f64())
    }
}

/// A float: a number, or a string that holds one.
pub fn float(node: &Node) -> Read<f32> {
    match &node.kind {
        Json::Number(number) => Ok(number.text().parse().unwrap_or(f32::NAN)),
        Json::String(text) => {
            let number = text.trim();
            number.parse().map_err(|_| Fault { error: Error::number(number), at: node.at })
        }
        _ => Err(not_numeric(node)),
    }
}

/// A double: a number, or a string that holds one.
pub fn double_of(node: &Node) -> Read<f64> {
    match &node.kind {
        Json::Number(number) => Ok(number.as_f64()),
        Json::String(text) => {
            let number = text.trim();
            number.parse().map_err(|_| Fault { error: Error::number(number), at: node.at })
        }
        _ => Err(not_numeric(node)),
    }
}

/// An int: a number cut towards zero, or a string that holds one.
pub fn int(node: &Node) -> Read<i32> {
    let (text, value) = match &node.kind {
        Json::Number(number) => (number.text(), number.as_f64()),
        Json::String(text) => match text.trim().parse::<f64>() {
            Ok(value) => (text.as_str(), value),
            Err(_) => return Err(Fault { error: Error::number(text), at: node.at }),
        },
        _ => return Err(not_numeric(node)),
    };
    if value.trunc() >= f64::from(i32::MIN) && value.trunc() <= f64::from(i32::MAX) {
        return Ok(value as i32);
    }
    let reason =
        format!("Numeric value ({text}) out of range of int ({} - {})", i32::MIN, i32::MAX);
    Err(Fault::content(node.at, node.at, reason))
}

fn not_numeric(node: &Node) -> Fault {
    let reason = format!(
        "Current token ({}) not numeric, can not use numeric value accessors",
        node.token()
    );
    Fault::content(node.at, node.at, reason)
}

/// A boolean, or a string that holds one.
pub fn boolean(node: &Node) -> Read<bool> {
    match &node.kind {
        Json::Bool(value) => Ok(*value),
        Json::String(text) => boolean_text(text).map_err(|error| Fault { error, at: node.at }),
        _ => {
            let reason = format!("Current token ({}) not of boolean type", node.token());
            Err(Fault::content(node.at, node.at, reason))
        }
    }
}

/// `true` or `false` and nothing else.
pub fn boolean_text(text: &str) -> Result<bool, Error> {
    match text {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(Error::illegal(boolean::neither(text))),
    }
}

/// A factor of a score, which is never negative.
pub fn boost(node: &Node) -> Read<f32> {
    let boost = float(node)?;
    if boost < 0.0 {
        let reason = format!(
            "negative [boost] are not allowed in [{boost:?}], use a value between 0 and 1 to deboost"
        );
        return Err(Fault::illegal(node.at, reason));
    }
    if !boost.is_finite() {
        let printed = json::number::float_to_string(boost);
        return Err(Fault::illegal(
            node.at,
            format!("boost must be a positive float, got {printed}"),
        ));
    }
    Ok(boost)
}

/// The members of a node that is known to be an object.
pub fn members(node: &Node) -> &[Member] {
    node.as_object().unwrap_or_default()
}

/// What values a field of an object parser takes.
#[derive(Clone, Copy, Debug)]
pub enum Takes {
    /// An object or an array of them, or `null`.
    Objects,
    /// A string.
    String,
    /// A string or an array of strings.
    Strings,
    /// A number or a string that holds one.
    Number,
    /// A boolean or a string that holds one.
    Bool,
    /// Any scalar or `null`.
    Value,
    /// An object.
    Object,
    /// An array.
    Array,
    /// Anything: the reader of the field looks itself.
    Any,
}

impl Takes {
    fn takes(self, node: &Node) -> bool {
        match self {
            Self::Objects => matches!(node.kind, Json::Object(_) | Json::Array(_) | Json::Null),
            Self::String => matches!(node.kind, Json::String(_)),
            Self::Strings => matches!(node.kind, Json::String(_) | Json::Array(_)),
            Self::Number => matches!(node.kind, Json::Number(_) | Json::String(_)),
            Self::Bool => matches!(node.kind, Json::Bool(_) | Json::String(_)),
            Self::Value => is_value(node) || node.is_null(),
            Self::Object => matches!(node.kind, Json::Object(_)),
            Self::Array => matches!(node.kind, Json::Array(_)),
            Self::Any => true,
        }
    }
}

/// Reads an object as Elasticsearch's `ObjectParser` of this name and these fields does.
pub fn object<'a>(
    parser: &str,
    fields: &[(&str, Takes)],
    node: &'a Node,
    mut field: impl FnMut(&'a str, &'a Node) -> Read<()>,
) -> Read<()> {
    for Member { key, key_at, value } in members(node) {
        let Some((_, takes)) = fields.iter().find(|(name, _)| name == key) else {
            let near = suggest::near(key, fields.iter().map(|(name, _)| *name));
            let reason = format!("[{parser}] unknown field [{key}]{near}");
            return Err(Fault::content(*key_at, value.at, reason));
        };
        if !takes.takes(value) {
            let reason =
                format!("[{parser}] {key} doesn't support values of type: {}", value.token());
            return Err(Fault::content(value.at, value.at, reason));
        }
        field(key, value).map_err(|fault| fault.inside(parser, key))?;
    }
    Ok(())
}

/// The one field that a query like `term` names, refused where a second one comes.
#[derive(Debug, Default)]
pub struct OneField<'a>(Option<&'a str>);

impl<'a> OneField<'a> {
    /// Takes `field`, met at `at`.
    pub fn set(&mut self, query: &str, field: &'a str, at: Place) -> Read<()> {
        if let Some(first) = self.0 {
            let reason = format!(
                "[{query}] query doesn't support multiple fields, found [{first}] and [{field}]"
            );
            return Err(Fault::parsing(at, reason));
        }
        self.0 = Some(field);
        Ok(())
    }

    /// The field.
    pub fn get(&self) -> Option<&'a str> {
        self.0
    }

    /// The field, which must have a name.
    pub fn required(&self, end: Place) -> Read<String> {
        match self.0 {
            Some(field) if !field.is_empty() => Ok(field.to_owned()),
            _ => Err(Fault::illegal(end, "field name is null or empty")),
        }
    }
}

/// `[term] query does not support [foo]`.
pub fn unsupported(query: &str, key: &str, value: &Node) -> Fault {
    Fault::parsing(value.at, format!("[{query}] query does not support [{key}]"))
}

/// `[match] unknown token [START_ARRAY] after [foo]`.
pub fn unknown_token(query: &str, key: &str, value: &Node) -> Fault {
    Fault::parsing(value.at, format!("[{query}] unknown token [{}] after [{key}]", value.token()))
}

/// The error of a body that is no JSON: Elasticsearch's kind around Jackson's.
pub fn not_json(error: &json::Error, source: &[u8]) -> Error {
    let jackson = error.jackson(source);
    let (outer, inner) = match error.kind {
        json::ErrorKind::UnexpectedEnd => (Kind::XContentEnd, Kind::JsonEnd),
        _ => (Kind::XContent, Kind::JsonParse),
    };
    let place = error.place();
    Error::new(outer, format!("{place} {jackson}")).caused_by(Error::new(inner, jackson))
}
