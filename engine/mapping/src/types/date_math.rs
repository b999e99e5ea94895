//! Date math: `now-1d/d`, `2024-01-01||+1M/M`.

use super::date_format::{DateFormat, Round};
use crate::Result;

/// A time zone by name or offset.
#[derive(Clone, Debug)]
pub struct Zone {}

impl Zone {
    /// Reads `Z`, `+01:00`, `Europe/Berlin`.
    ///
    /// # Errors
    /// `Unknown time-zone ID: foo`.
    pub fn parse(_text: &str) -> Result<Self> {
        todo!()
    }
}

/// Milliseconds since 1970 of a date with math, as a query's bound.
///
/// # Errors
/// In Elasticsearch's words (`parse_exception`).
pub fn parse_ms(
    _format: &DateFormat,
    _text: &str,
    _now_ms: i64,
    _round: Round,
    _zone: Option<&Zone>,
) -> Result<i64> {
    todo!()
}
