//! Date formats: java.time patterns and Elasticsearch's named ones, read and printed.
//!
//! A format is alternatives joined by `||`: the first that reads a text counts, and the first
//! prints. Each is a list of [`Element`]s, made from a pattern ([`pattern`]) or a name ([`named`]),
//! or one of two clocks, `epoch_millis` and `epoch_second`. Reading fills [`Fields`] ([`read`]);
//! they are resolved to a moment as Elasticsearch does, parts left out filled in ([`resolve`]).
//!
//! Names of months and days are English, as in Elasticsearch's default locale.

mod named;
mod pattern;
mod print;
mod read;
mod resolve;

use std::sync::{Arc, LazyLock};

use super::calendar::Moment;
use super::zone::Zone;
use crate::{Error, ErrorKind, Result};

use pattern::Element;
use resolve::Fields;

/// What a part that a date leaves out becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Round {
    /// The first moment: January, the 1st, midnight.
    Down,
    /// The last: 23:59:59.999999999 (of January 1st, where month and day are missing).
    Up,
}

/// A format, `||` alternatives included.
#[derive(Debug, PartialEq)]
pub struct DateFormat {
    pattern: String,
    alternatives: Vec<Alternative>,
}

#[derive(Debug, PartialEq)]
enum Alternative {
    /// Milliseconds, perhaps with a fraction.
    EpochMillis,
    /// Seconds, perhaps with a fraction.
    EpochSecond,
    /// Elements to read and to print by.
    Elements { read: Vec<Element>, print: Vec<Element> },
}

/// The format of date fields that name none.
pub static DEFAULT: LazyLock<Arc<DateFormat>> = LazyLock::new(|| {
    let format = DateFormat::parse_pattern("strict_date_optional_time||epoch_millis");
    Arc::new(format.expect("both names are in the table"))
});

impl DateFormat {
    /// Reads a pattern: `strict_date_optional_time||epoch_millis`, `yyyy/MM/dd`.
    ///
    /// # Errors
    /// `Invalid format: [foo]: Unknown pattern letter: f`.
    pub fn parse_pattern(pattern: &str) -> Result<Self> {
        if pattern.is_empty() {
            return Err(Error::illegal_argument("No date pattern provided"));
        }
        let alternatives = pattern.split("||").map(alternative).collect::<Result<Vec<_>>>()?;
        Ok(Self { pattern: pattern.to_owned(), alternatives })
    }

    /// The pattern as it was given.
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// Milliseconds since 1970 of a date; without a zone in the text it is UTC.
    ///
    /// # Errors
    /// `failed to parse date field [x] with format [y]`.
    pub fn parse_ms(&self, text: &str) -> Result<i64> {
        self.parse_ms_in(text, None, Round::Down)
    }

    /// As [`Self::parse_ms`], with a zone for texts that name none, and what missing parts become.
    ///
    /// # Errors
    /// `failed to parse date field [x] with format [y]`.
    pub fn parse_ms_in(&self, text: &str, zone: Option<&Zone>, round: Round) -> Result<i64> {
        let moment = self.parse(text, zone, round)?;
        moment.to_ms().ok_or_else(|| Error::illegal_argument("long overflow"))
    }

    /// The moment of a date.
    ///
    /// # Errors
    /// `failed to parse date field [x] with format [y]`.
    pub fn parse(&self, text: &str, zone: Option<&Zone>, round: Round) -> Result<Moment> {
        if text.is_empty() {
            return Err(Error::illegal_argument("cannot parse empty datetime"));
        }
        let mut fault = String::new();
        for alternative in &self.alternatives {
            match alternative.parse(text, zone, round) {
                Ok(moment) => return Ok(moment),
                Err(error) => fault = error,
            }
        }
        if self.alternatives.len() > 1 {
            "Failed to parse with all enclosed parsers".clone_into(&mut fault);
        }
        let reason = format!("failed to parse date field [{text}] with format [{}]", self.pattern);
        Err(Error::illegal_argument(reason).caused_by(Error::new(ErrorKind::DateTimeParse, fault)))
    }

    /// Would [`Self::parse_ms`] read this text? Makes no error texts.
    pub fn reads(&self, text: &str) -> bool {
        !text.is_empty()
            && self.alternatives.iter().any(|one| one.parse(text, None, Round::Down).is_ok())
    }

    /// Prints milliseconds since 1970, in UTC, by the first alternative.
    pub fn print_ms(&self, ms: i64) -> String {
        self.print(Moment::from_ms(ms), &Zone::UTC)
    }

    /// Prints a moment as the clocks of a zone show it, by the first alternative.
    pub fn print(&self, moment: Moment, zone: &Zone) -> String {
        match &self.alternatives[0] {
            Alternative::EpochMillis => print::epoch_millis(moment),
            Alternative::EpochSecond => print::epoch_second(moment),
            Alternative::Elements { print, .. } => print::elements(print, moment, zone),
        }
    }
}

fn alternative(pattern: &str) -> Result<Alternative> {
    // A leading 8 once told java.time patterns from Joda's.
    let pattern = pattern.strip_prefix('8').unwrap_or(pattern);
    match pattern {
        "epoch_millis" => return Ok(Alternative::EpochMillis),
        "epoch_second" => return Ok(Alternative::EpochSecond),
        _ => {}
    }
    if let Some((read, print)) = named::elements(pattern) {
        return Ok(Alternative::Elements { read, print });
    }
    match pattern::elements(pattern) {
        Ok(read) => Ok(Alternative::Elements { print: read.clone(), read }),
        Err(fault) => Err(Error::illegal_argument(format!("Invalid format: [{pattern}]: {fault}"))
            .caused_by(Error::illegal_argument(fault))),
    }
}

impl Alternative {
    /// The moment, or why not, in java.time's words.
    fn parse(
        &self,
        text: &str,
        zone: Option<&Zone>,
        round: Round,
    ) -> std::result::Result<Moment, String> {
        let at_index = |index: usize| format!("Text '{text}' could not be parsed at index {index}");
        match self {
            Self::EpochMillis => read::epoch(text, 1_000).ok_or_else(|| at_index(0)),
            Self::EpochSecond => read::epoch(text, 1).ok_or_else(|| at_index(0)),
            Self::Elements { read, .. } => {
                let mut fields = Fields::default();
                let end = read::elements(read, text, 0, &mut fields).map_err(at_index)?;
                if end < text.len() {
                    return Err(format!(
                        "Text '{text}' could not be parsed, unparsed text found at index {end}"
                    ));
                }
                fields
                    .resolve(zone, round)
                    .map_err(|why| format!("Text '{text}' could not be parsed: {why}"))
            }
        }
    }
}

#[cfg(test)]
mod tests;
