//! Date formats: java.time patterns and Elasticsearch's named ones, read and printed.
//!
//! A format is alternatives joined by `||`: the first that reads a text counts, and the first
//! prints. Each is a list of [`Element`]s, made from a pattern ([`pattern`]) or a name ([`named`]),
//! or one of two clocks, `epoch_millis` and `epoch_second`. Reading fills [`Fields`] ([`read`]);
//! they are resolved to a moment as Elasticsearch does, parts left out filled in ([`resolve`]).
//!
//! Names of months and days are English, as in Elasticsearch's default locale.

mod iso;
mod localized;
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
    /// The last: 23:59:59.999999999 (of January 1st, where month and day are missing); of a whole second since 1970
    /// its last nanosecond, and of a whole millisecond.
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
    /// Elements to read and to print by; `iso`: the common form is one that they read.
    Elements { read: Vec<Element>, print: Vec<Element>, iso: bool },
}

/// Why a text is no date of an alternative.
enum Fault {
    /// It stops to be one at this byte.
    At(usize),
    /// It goes on behind the date.
    Unparsed(usize),
    /// There is no such date.
    NoDate(String),
}

impl Fault {
    /// In java.time's words.
    #[cold]
    fn sentence(&self, text: &str) -> String {
        match self {
            Self::At(index) => format!("Text '{text}' could not be parsed at index {index}"),
            Self::Unparsed(index) => {
                format!("Text '{text}' could not be parsed, unparsed text found at index {index}")
            }
            Self::NoDate(why) => format!("Text '{text}' could not be parsed: {why}"),
        }
    }
}

/// The format of date fields that name none.
pub static DEFAULT: LazyLock<Arc<DateFormat>> = LazyLock::new(|| {
    let format = DateFormat::parse_pattern("strict_date_optional_time||epoch_millis");
    Arc::new(format.expect("both names are in the table"))
});

/// The format of numbers that a request compares with dates.
pub static EPOCH_MILLIS: LazyLock<Arc<DateFormat>> = LazyLock::new(|| {
    Arc::new(DateFormat::parse_pattern("epoch_millis").expect("the name is in the table"))
});

/// The format of `date_nanos` fields that name none.
pub static NANOS: LazyLock<Arc<DateFormat>> = LazyLock::new(|| {
    let format = DateFormat::parse_pattern("strict_date_optional_time_nanos||epoch_millis");
    Arc::new(format.expect("both names are in the table"))
});

impl DateFormat {
    /// Reads a pattern: `strict_date_optional_time||epoch_millis`, `yyyy/MM/dd`.
    ///
    /// # Errors
    /// `Invalid format: [foo]: Unknown pattern letter: f`.
    pub fn parse_pattern(pattern: &str) -> Result<Self> {
        Self::check_parts(pattern)?;
        Self::parse_kept(pattern)
    }

    /// How many formats a text may be tried by.
    pub fn alternative_count(&self) -> usize {
        self.alternatives.len()
    }

    /// Has each alternative a text?
    ///
    /// # Errors
    /// `Cannot have empty element in multi date format pattern: yyyy||`.
    pub fn check_parts(pattern: &str) -> Result<()> {
        if !pattern.is_empty() && pattern.split("||").any(str::is_empty) {
            return Err(Error::illegal_argument(format!(
                "Cannot have empty element in multi date format pattern: {pattern}"
            )));
        }
        Ok(())
    }

    /// As [`Self::parse_pattern`], of a mapping that may be an older one's: an empty alternative,
    /// which none may have that is new, reads the empty text.
    ///
    /// # Errors
    /// `Invalid format: [foo]: Unknown pattern letter: f`.
    pub fn parse_kept(pattern: &str) -> Result<Self> {
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
        let mut fault = None;
        for alternative in &self.alternatives {
            match alternative.parse(text, zone, round) {
                Ok(moment) => return Ok(moment),
                Err(error) => fault = Some(error),
            }
        }
        let cause = match fault {
            Some(fault) if self.alternatives.len() == 1 => fault.sentence(text),
            _ => "Failed to parse with all enclosed parsers".to_owned(),
        };
        let reason = format!("failed to parse date field [{text}] with format [{}]", self.pattern);
        Err(Error::illegal_argument(reason).caused_by(Error::new(ErrorKind::DateTimeParse, cause)))
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
        let iso = pattern.ends_with("date_optional_time") || pattern == "iso8601";
        return Ok(Alternative::Elements { read, print, iso });
    }
    match pattern::elements(pattern) {
        Ok(read) => Ok(Alternative::Elements { print: read.clone(), read, iso: false }),
        Err(fault) => Err(Error::illegal_argument(format!("Invalid format: [{pattern}]: {fault}"))
            .caused_by(Error::illegal_argument(fault))),
    }
}

impl Alternative {
    /// The moment, or why there is none.
    fn parse(
        &self,
        text: &str,
        zone: Option<&Zone>,
        round: Round,
    ) -> std::result::Result<Moment, Fault> {
        let (list, iso) = match self {
            Self::EpochMillis => return read::epoch(text, 1_000, round).ok_or(Fault::At(0)),
            Self::EpochSecond => return read::epoch(text, 1, round).ok_or(Fault::At(0)),
            Self::Elements { read, iso, .. } => (read, *iso),
        };
        if iso {
            let nanos_missing = if round == Round::Up { 999_999_999 } else { 0 };
            match iso::read(text, nanos_missing) {
                Some((moment, named)) if named || zone.is_none() => return Ok(moment),
                _ => {}
            }
        }
        let mut fields = Fields::default();
        let end = read::elements(list, text, 0, &mut fields).map_err(Fault::At)?;
        if end < text.len() {
            return Err(Fault::Unparsed(end));
        }
        fields.resolve(zone, round).map_err(Fault::NoDate)
    }
}

#[cfg(test)]
mod tests;
