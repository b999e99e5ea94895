//! What most aggregations share: where values come from, and how they are printed.

use json::Place;
use json::spanned::{Kind as Json, Node};

use super::super::context::{Fault, Read, Takes, double_of, object, scalar, text};
use crate::aggs::spec::Values;
use crate::error::Error;

/// Which of the shared keys an aggregation knows.
#[derive(Clone, Copy, Debug)]
pub struct Knows {
    /// Name of its parser.
    pub parser: &'static str,
    /// `format`.
    pub format: bool,
    /// `time_zone`.
    pub zone: bool,
    /// `script`.
    pub script: bool,
    /// A field (or script) must be named.
    pub required: bool,
}

impl Knows {
    /// An aggregation over a field, with scripts and formats.
    pub const fn new(parser: &'static str) -> Self {
        Self { parser, format: true, zone: false, script: true, required: true }
    }

    /// Without `format`.
    #[must_use]
    pub const fn unformatted(mut self) -> Self {
        self.format = false;
        self
    }

    /// Without `script`.
    #[must_use]
    pub const fn unscripted(mut self) -> Self {
        self.script = false;
        self
    }

    /// With `time_zone`.
    #[must_use]
    pub const fn zoned(mut self) -> Self {
        self.zone = true;
        self
    }
}

/// Reads an aggregation over a field; keys of its own go to `each`.
pub fn values_object<'a>(
    knows: Knows,
    own: &[(&'static str, Takes)],
    node: &'a Node,
    mut each: impl FnMut(&'a str, &'a Node) -> Read<()>,
) -> Read<Values> {
    let mut fields =
        vec![("field", Takes::String), ("missing", Takes::Value), ("value_type", Takes::String)];
    if knows.format {
        fields.push(("format", Takes::String));
    }
    if knows.zone {
        fields.push(("time_zone", Takes::Value));
    }
    if knows.script {
        fields.push(("script", Takes::Any));
    }
    fields.extend_from_slice(own);
    let mut values = Values::default();
    object(knows.parser, &fields, node, |key, value| {
        match key {
            "field" => values.field = text(value)?,
            "missing" => values.missing = scalar(value)?,
            "value_type" => values.value_type = Some(value_type(value)?),
            "format" if knows.format => values.format = Some(text(value)?),
            "time_zone" if knows.zone => values.time_zone = Some(zone(value)?),
            "script" if knows.script => {
                values.script = Some(Box::new(super::super::script::read(value)?));
            }
            _ => each(key, value)?,
        }
        Ok(())
    })?;
    if knows.required && values.field.is_empty() && values.script.is_none() {
        return Err(no_field(knows.script, node.end));
    }
    Ok(values)
}

/// Neither field nor script.
pub fn no_field(script: bool, at: Place) -> Fault {
    let names = if script { "field, script" } else { "field" };
    Fault::illegal(at, format!("Required one of fields [{names}], but none were specified. "))
}

/// What Elasticsearch says where scripts are switched off.
pub fn no_scripts(at: Place) -> Fault {
    Fault::illegal(at, "cannot execute [inline] scripts")
}

fn value_type(node: &Node) -> Read<String> {
    let word = text(node)?;
    match word.as_str() {
        "string" | "byte" | "short" | "integer" | "long" | "float" | "double" | "number"
        | "numeric" | "date" | "boolean" | "ip" | "unsigned_long" | "geo_point" | "geopoint" => {
            Ok(word)
        }
        _ => Err(Fault::illegal(node.at, format!("Unknown value type [{word}]"))),
    }
}

fn zone(node: &Node) -> Read<String> {
    match &node.kind {
        Json::Number(number) => {
            let hours = number.as_i64().unwrap_or(i64::MAX);
            let at = node.at;
            mapping::types::zone::hours(hours).map_err(|error| Fault { error: error.into(), at })
        }
        _ => {
            let name = text(node)?;
            match mapping::types::date_math::Zone::parse(&name) {
                Ok(_) => Ok(name),
                Err(error) => Err(Fault { error: error.into(), at: node.at }),
            }
        }
    }
}

/// A count that must be above zero.
pub fn positive(key: &str, name: &str, node: &Node) -> Read<u32> {
    let value = super::super::context::int(node)?;
    match u32::try_from(value) {
        Ok(value) if value > 0 => Ok(value),
        _ => Err(Fault::illegal(
            node.at,
            format!("[{key}] must be greater than 0. Found [{value}] in [{name}]"),
        )),
    }
}

/// A count that must not be below zero.
pub fn natural(key: &str, name: &str, node: &Node) -> Read<u64> {
    let value = long(node)?;
    u64::try_from(value).map_err(|_| {
        Fault::illegal(
            node.at,
            format!("[{key}] must be greater than or equal to 0. Found [{value}] in [{name}]"),
        )
    })
}

/// A long, cut towards zero.
pub fn long(node: &Node) -> Read<i64> {
    match &node.kind {
        Json::Number(number) => match number.as_i64() {
            Some(value) => Ok(value),
            None => Ok(number.as_f64() as i64),
        },
        _ => {
            let word = text(node)?;
            word.trim().parse::<i64>().or_else(|_| {
                word.trim()
                    .parse::<f64>()
                    .map(|value| value as i64)
                    .map_err(|_| Fault { error: Error::number(&word), at: node.at })
            })
        }
    }
}

/// A double.
pub fn double(node: &Node) -> Read<f64> {
    double_of(node)
}

/// Doubles of an array, or a single one.
pub fn doubles(node: &Node) -> Read<Vec<f64>> {
    match &node.kind {
        Json::Array(nodes) => nodes.iter().map(double).collect(),
        _ => Ok(vec![double(node)?]),
    }
}
