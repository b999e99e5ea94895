//! Texts, truths and whole numbers in bodies, as Elasticsearch's parsers of objects read them: where a number or a
//! truth is wanted, a text that spells one will do.

use engine::{Error, Result};
use json::spanned::Node;

use crate::fail::{unread_field, wrong_kind};
use crate::params;

/// A text that a parser of that name finds under a key.
///
/// # Errors
/// Anything else, at its place.
pub(super) fn text<'n>(parser: &str, key: &str, value: &'n Node) -> Result<&'n str> {
    value.as_str().ok_or_else(|| wrong_kind(parser, key, value))
}

/// A truth.
///
/// # Errors
/// Anything else, at its place.
pub(super) fn flag(parser: &str, key: &str, value: &Node) -> Result<bool> {
    match (value.as_bool(), value.as_str()) {
        (Some(flag), _) => Ok(flag),
        (None, Some(text)) => {
            params::flag(text).map_err(|cause| unread_field(parser, key, value.at, cause))
        }
        (None, None) => Err(wrong_kind(parser, key, value)),
    }
}

/// A whole number of 32 bits.
///
/// # Errors
/// Anything else, at its place.
pub(super) fn int(parser: &str, key: &str, value: &Node) -> Result<i32> {
    let text = value.as_str().or_else(|| value.as_number().map(json::Number::text));
    let text = text.ok_or_else(|| wrong_kind(parser, key, value))?;
    int_of(text).map_err(|cause| unread_field(parser, key, value.at, cause))
}

/// A whole number of 32 bits that a text spells; what stands behind a point is dropped.
///
/// # Errors
/// Anything else.
pub(super) fn int_of(text: &str) -> Result<i32> {
    let number = text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    let number = number.ok_or_else(|| {
        Error::new(400, "number_format_exception", format!("For input string: \"{text}\""))
    })?;
    if !(f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&number) {
        let reason = format!("Value [{text}] is out of range for an integer");
        return Err(Error::illegal_argument(reason));
    }
    Ok(number as i32)
}
