//! Booleans: `true`, `false`, the same as text, and the empty text, which is false.

use super::scalar::Scalar;
use crate::{Error, ErrorKind, Result};

/// The value of a document.
///
/// # Errors
/// `Failed to parse value [foo] as only [true] or [false] are allowed.`
pub fn parse(value: Scalar<'_>) -> Result<bool> {
    match value {
        Scalar::Bool(value) => Ok(value),
        Scalar::Text("true") => Ok(true),
        Scalar::Text("false" | "") => Ok(false),
        Scalar::Text(text) => Err(only(text)),
        other => Err(Error::new(
            ErrorKind::XContentParse,
            format!("Current token ({}) not of boolean type", other.token()),
        )),
    }
}

/// The sentence for text that is neither, wherever a truth is asked for.
#[cold]
pub fn neither(text: &str) -> String {
    format!("Failed to parse value [{text}] as only [true] or [false] are allowed.")
}

/// The refusal of text that is neither.
#[cold]
pub fn only(text: &str) -> Error {
    Error::illegal_argument(neither(text))
}

/// The value of a query.
///
/// # Errors
/// `Can't parse boolean value [foo], expected [true] or [false]`
pub fn parse_query(value: Scalar<'_>) -> Result<bool> {
    match value {
        Scalar::Bool(value) => Ok(value),
        Scalar::Text("true") => Ok(true),
        Scalar::Text("false") => Ok(false),
        other => Err(Error::illegal_argument(format!(
            "Can't parse boolean value [{}], expected [true] or [false]",
            other.java_text()
        ))),
    }
}
