//! Date formats: java.time patterns and Elasticsearch's named ones, read and printed.

use crate::Result;

/// What a part that a date leaves out becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Round {
    /// The first moment: January, the 1st, midnight.
    Down,
    /// The last: 23:59:59.999999999 (of January 1st, where month and day are missing).
    Up,
}

/// A format, `||` alternatives included.
#[derive(Debug)]
pub struct DateFormat {
    pattern: String,
}

impl DateFormat {
    /// Reads a pattern: `strict_date_optional_time||epoch_millis`, `yyyy/MM/dd`.
    ///
    /// # Errors
    /// `Invalid format: [foo]: Unknown pattern letter: f`.
    pub fn parse_pattern(_pattern: &str) -> Result<Self> {
        todo!()
    }

    /// The pattern as it was given.
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// Milliseconds since 1970 of a date; without a zone in the text it is UTC.
    ///
    /// # Errors
    /// `failed to parse date field [x] with format [y]`.
    pub fn parse_ms(&self, _text: &str) -> Result<i64> {
        todo!()
    }

    /// Prints milliseconds since 1970, in UTC, by the first alternative.
    pub fn print_ms(&self, _ms: i64) -> String {
        todo!()
    }
}
