//! Dates and times, as far as scripts reckon with them (`java.time`).

use std::cmp::Ordering;

use jiff::civil::{self, DateTime};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan, Unit, Zoned};

use crate::error::Fault;

type Done<T> = Result<T, Fault>;

/// Anything of `java.time`.
#[derive(Clone, Debug, PartialEq)]
pub enum Date {
    /// `ZonedDateTime`.
    Zoned(Zoned),
    /// `Instant`.
    Instant(Timestamp),
    /// `LocalDateTime`.
    Local(DateTime),
    /// `LocalDate`.
    Day(civil::Date),
    /// `LocalTime`.
    Time(civil::Time),
    /// `Duration`.
    Duration(SignedDuration),
    /// `ZoneId`.
    Zone(TimeZone, String),
    /// `DateTimeFormatter`: its pattern.
    Format(String),
    /// A constant: its class, its name, its number from 1.
    Constant(&'static str, &'static str, i32),
}

/// `DayOfWeek`.
pub const DAYS: [&str; 7] =
    ["MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY"];

/// `Month`.
pub const MONTHS: [&str; 12] = [
    "JANUARY",
    "FEBRUARY",
    "MARCH",
    "APRIL",
    "MAY",
    "JUNE",
    "JULY",
    "AUGUST",
    "SEPTEMBER",
    "OCTOBER",
    "NOVEMBER",
    "DECEMBER",
];

/// `ChronoUnit`.
pub const UNITS: [(&str, Unit); 11] = [
    ("NANOS", Unit::Nanosecond),
    ("MICROS", Unit::Microsecond),
    ("MILLIS", Unit::Millisecond),
    ("SECONDS", Unit::Second),
    ("MINUTES", Unit::Minute),
    ("HOURS", Unit::Hour),
    ("HALF_DAYS", Unit::Hour),
    ("DAYS", Unit::Day),
    ("WEEKS", Unit::Week),
    ("MONTHS", Unit::Month),
    ("YEARS", Unit::Year),
];

/// `DateTimeException`.
pub fn failed(error: impl std::fmt::Display) -> Fault {
    Fault::new("date_time_exception", error.to_string())
}

fn unread(text: &str) -> Fault {
    Fault::new("date_time_parse_exception", format!("Text '{text}' could not be parsed at index 0"))
}

impl Date {
    /// A moment, in UTC.
    ///
    /// # Errors
    /// A moment beyond what can be reckoned with.
    pub fn of_millis(millis: i64) -> Done<Self> {
        let at = Timestamp::from_millisecond(millis).map_err(failed)?;
        Ok(Self::Zoned(at.to_zoned(TimeZone::UTC)))
    }

    /// A moment in nanoseconds, in UTC.
    ///
    /// # Errors
    /// A moment beyond what can be reckoned with.
    pub fn of_nanos(nanos: i64) -> Done<Self> {
        let at = Timestamp::from_nanosecond(i128::from(nanos)).map_err(failed)?;
        Ok(Self::Zoned(at.to_zoned(TimeZone::UTC)))
    }

    /// `ZonedDateTime.parse`.
    ///
    /// # Errors
    /// Text that is none.
    pub fn parse_zoned(text: &str) -> Done<Self> {
        let whole = match text.strip_suffix('Z') {
            Some(local) => format!("{local}Z[UTC]"),
            None if text.contains('[') => text.to_owned(),
            None => {
                let sign = text.rfind(['+', '-']).filter(|at| *at > 9);
                let Some(sign) = sign else { return Err(unread(text)) };
                format!("{text}[{}]", &text[sign..])
            }
        };
        whole.parse::<Zoned>().map(Self::Zoned).map_err(|_| unread(text))
    }

    /// `Instant.parse`, `LocalDate.parse` and so on, by class.
    ///
    /// # Errors
    /// Text that is none.
    pub fn parse(class: &str, text: &str) -> Done<Self> {
        let read = match class {
            "Instant" => text.parse().map(Self::Instant).ok(),
            "LocalDateTime" if text.contains(['T', 't']) => text.parse().map(Self::Local).ok(),
            "LocalDate" if text.len() == 10 => text.parse().map(Self::Day).ok(),
            "LocalTime" => text.parse().map(Self::Time).ok(),
            "Duration" => text.parse().map(Self::Duration).ok(),
            "ZonedDateTime" | "OffsetDateTime" => return Self::parse_zoned(text),
            _ => None,
        };
        read.ok_or_else(|| unread(text))
    }

    /// `ZoneId.of`.
    ///
    /// # Errors
    /// A zone that nobody knows.
    pub fn zone(name: &str) -> Done<TimeZone> {
        if matches!(name, "Z" | "UTC" | "GMT" | "Etc/UTC") {
            return Ok(TimeZone::UTC);
        }
        if name.starts_with(['+', '-']) {
            let whole = format!("2000-01-01T00:00:00{name}[{name}]");
            let zoned = whole.parse::<Zoned>();
            return zoned
                .map(|zoned| zoned.time_zone().clone())
                .map_err(|_| failed(format!("Invalid ID for ZoneOffset, invalid format: {name}")));
        }
        TimeZone::get(name).map_err(|_| {
            Fault::new("zone_rules_exception", format!("Unknown time-zone ID: {name}"))
        })
    }

    /// Milliseconds since 1970, of what is a moment.
    pub fn epoch_ms(&self) -> Option<i64> {
        match self {
            Self::Zoned(at) => Some(at.timestamp().as_millisecond()),
            Self::Instant(at) => Some(at.as_millisecond()),
            _ => None,
        }
    }

    /// Its Java class.
    pub const fn class(&self) -> &'static str {
        match self {
            Self::Zoned(_) => "java.time.ZonedDateTime",
            Self::Instant(_) => "java.time.Instant",
            Self::Local(_) => "java.time.LocalDateTime",
            Self::Day(_) => "java.time.LocalDate",
            Self::Time(_) => "java.time.LocalTime",
            Self::Duration(_) => "java.time.Duration",
            Self::Zone(..) => "java.time.ZoneRegion",
            Self::Format(_) => "java.time.format.DateTimeFormatter",
            Self::Constant(class, ..) => class,
        }
    }

    /// `hashCode`: equal dates have equal ones; it is not Java's.
    pub fn hash(&self) -> i32 {
        crate::java::hash(&self.text())
    }

    /// `compareTo`.
    ///
    /// # Errors
    /// Two things that do not compare.
    pub fn order(&self, other: &Self) -> Done<Ordering> {
        match (self, other) {
            (Self::Zoned(a), Self::Zoned(b)) => Ok(a.timestamp().cmp(&b.timestamp())),
            (Self::Instant(a), Self::Instant(b)) => Ok(a.cmp(b)),
            (Self::Local(a), Self::Local(b)) => Ok(a.cmp(b)),
            (Self::Day(a), Self::Day(b)) => Ok(a.cmp(b)),
            (Self::Time(a), Self::Time(b)) => Ok(a.cmp(b)),
            (Self::Duration(a), Self::Duration(b)) => Ok(a.cmp(b)),
            (Self::Constant(class, _, a), Self::Constant(other, _, b)) if class == other => {
                Ok(a.cmp(b))
            }
            _ => Err(Fault::cast(format!(
                "class {} cannot be cast to class {}",
                self.class(),
                other.class()
            ))),
        }
    }

    /// `toString`.
    pub fn text(&self) -> String {
        match self {
            Self::Zoned(at) => {
                let mut out = local(at.datetime());
                out.push_str(&offset(at));
                let zone = at.time_zone().iana_name().filter(|name| *name != "UTC");
                if let Some(zone) = zone {
                    out.push_str(&format!("[{zone}]"));
                }
                out
            }
            Self::Instant(at) => {
                let utc = at.to_zoned(TimeZone::UTC);
                format!("{}T{}Z", utc.date(), clock(utc.time(), true))
            }
            Self::Local(at) => local(*at),
            Self::Day(at) => at.to_string(),
            Self::Time(at) => clock(*at, false),
            Self::Duration(length) => length.to_string(),
            Self::Zone(_, name) | Self::Format(name) => name.clone(),
            Self::Constant(_, name, _) => match UNITS.iter().any(|unit| unit.0 == *name) {
                // Units print as words: `Days`.
                true => {
                    let lower = name.to_lowercase();
                    let mut letters = lower.chars();
                    let first: String =
                        letters.next().into_iter().flat_map(char::to_uppercase).collect();
                    first + letters.as_str()
                }
                false => (*name).to_owned(),
            },
        }
    }

    /// As search answers print a date: `strict_date_optional_time`.
    pub fn printed(&self) -> String {
        match self {
            Self::Zoned(at) => {
                let nanos = at.subsec_nanosecond();
                let fraction = match nanos % 1_000_000 {
                    0 => format!("{:03}", nanos / 1_000_000),
                    _ => format!("{nanos:09}").trim_end_matches('0').to_owned(),
                };
                let time = at.time();
                format!(
                    "{}T{:02}:{:02}:{:02}.{fraction}{}",
                    at.date(),
                    time.hour(),
                    time.minute(),
                    time.second(),
                    offset(at)
                )
            }
            other => other.text(),
        }
    }

    /// So much later, in a unit.
    ///
    /// # Errors
    /// Beyond what can be reckoned with.
    pub fn plus(&self, count: i64, unit: Unit) -> Done<Self> {
        let span = match unit {
            Unit::Year => 0.seconds().try_years(count),
            Unit::Month => 0.seconds().try_months(count),
            Unit::Week => 0.seconds().try_weeks(count),
            Unit::Day => 0.seconds().try_days(count),
            Unit::Hour => 0.seconds().try_hours(count),
            Unit::Minute => 0.seconds().try_minutes(count),
            Unit::Second => 0.seconds().try_seconds(count),
            Unit::Millisecond => 0.seconds().try_milliseconds(count),
            Unit::Microsecond => 0.seconds().try_microseconds(count),
            _ => 0.seconds().try_nanoseconds(count),
        }
        .map_err(failed)?;
        Ok(match self {
            Self::Zoned(at) => Self::Zoned(at.checked_add(span).map_err(failed)?),
            Self::Instant(at) => {
                let utc = at.to_zoned(TimeZone::UTC).checked_add(span).map_err(failed)?;
                Self::Instant(utc.timestamp())
            }
            Self::Local(at) => Self::Local(at.checked_add(span).map_err(failed)?),
            Self::Day(at) => Self::Day(at.checked_add(span).map_err(failed)?),
            Self::Time(at) => Self::Time(at.wrapping_add(span)),
            Self::Duration(length) => {
                let more = span.to_duration(civil::date(2000, 1, 1)).map_err(failed)?;
                let sum = length.checked_add(more);
                Self::Duration(sum.ok_or_else(|| failed("the duration is too long"))?)
            }
            _ => return Err(Fault::illegal("this cannot be added to")),
        })
    }

    /// Whole units from one to another.
    ///
    /// # Errors
    /// Two things without a way between them.
    pub fn until(&self, other: &Self, unit: Unit) -> Done<i64> {
        let span = match (self, other) {
            (Self::Zoned(a), Self::Zoned(b)) => {
                let b = b.with_time_zone(a.time_zone().clone());
                a.until((unit, &b)).map_err(failed)?
            }
            (Self::Instant(a), Self::Instant(b)) => {
                let (a, b) = (a.to_zoned(TimeZone::UTC), b.to_zoned(TimeZone::UTC));
                a.until((unit, &b)).map_err(failed)?
            }
            (Self::Local(a), Self::Local(b)) => a.until((unit, *b)).map_err(failed)?,
            (Self::Day(a), Self::Day(b)) => a.until((unit, *b)).map_err(failed)?,
            (Self::Time(a), Self::Time(b)) => a.until((unit, *b)).map_err(failed)?,
            _ => return Err(Fault::illegal("no time lies between these")),
        };
        Ok(match unit {
            Unit::Year => i64::from(span.get_years()),
            Unit::Month => i64::from(span.get_months()),
            Unit::Week => i64::from(span.get_weeks()),
            Unit::Day => i64::from(span.get_days()),
            Unit::Hour => i64::from(span.get_hours()),
            Unit::Minute => span.get_minutes(),
            Unit::Second => span.get_seconds(),
            Unit::Millisecond => span.get_milliseconds(),
            Unit::Microsecond => span.get_microseconds(),
            _ => span.get_nanoseconds(),
        })
    }
}

/// `+01:00`, `Z`
fn offset(at: &Zoned) -> String {
    let seconds = at.offset().seconds();
    if seconds == 0 {
        return "Z".to_owned();
    }
    let sign = if seconds < 0 { '-' } else { '+' };
    let (hours, minutes) = (seconds.abs() / 3600, seconds.abs() / 60 % 60);
    match seconds.abs() % 60 {
        0 => format!("{sign}{hours:02}:{minutes:02}"),
        rest => format!("{sign}{hours:02}:{minutes:02}:{rest:02}"),
    }
}

fn local(at: DateTime) -> String {
    format!("{}T{}", at.date(), clock(at.time(), false))
}

/// `10:00`, `10:00:05.123`: seconds only where there are any, fractions in threes.
fn clock(time: civil::Time, seconds: bool) -> String {
    let mut out = format!("{:02}:{:02}", time.hour(), time.minute());
    let nanos = time.subsec_nanosecond();
    if seconds || time.second() != 0 || nanos != 0 {
        out.push_str(&format!(":{:02}", time.second()));
    }
    if nanos != 0 {
        let digits = format!("{nanos:09}");
        let kept = if nanos % 1_000_000 == 0 {
            3
        } else if nanos % 1_000 == 0 {
            6
        } else {
            9
        };
        out.push('.');
        out.push_str(&digits[..kept]);
    }
    out
}
