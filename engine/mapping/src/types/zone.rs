//! Time zones: fixed offsets, and names with the bundled zone data (never the host's).

use jiff::civil;
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{SignedDuration, Timestamp};

use super::calendar::{DAY_SECONDS, date_of};
use crate::{Error, ErrorKind, Result};

/// A time zone.
#[derive(Clone, Debug, PartialEq)]
pub enum Zone {
    /// Seconds east of Greenwich.
    Offset(i32),
    /// A region with its history.
    Named(TimeZone),
}

impl Zone {
    /// No offset.
    pub const UTC: Self = Self::Offset(0);

    /// Reads what `java.time.ZoneId.of` reads: `Z`, `+1`, `+01:00`, `UTC+1`, `Europe/Berlin`.
    ///
    /// # Errors
    /// `Unknown time-zone ID: foo`.
    pub fn parse(text: &str) -> Result<Self> {
        if text == "Z" {
            return Ok(Self::UTC);
        }
        if text.starts_with(['+', '-']) {
            return offset(text).map(Self::Offset).ok_or_else(|| {
                let reason = format!("Invalid ID for ZoneOffset, invalid format: {text}");
                Error::new(ErrorKind::DateTime, reason)
            });
        }
        for prefix in ["UTC", "GMT", "UT"] {
            if let Some(rest) = text.strip_prefix(prefix) {
                if rest.is_empty() {
                    return Ok(Self::UTC);
                }
                if rest.starts_with(['+', '-'])
                    && let Some(offset) = offset(rest)
                {
                    return Ok(Self::Offset(offset));
                }
            }
        }
        let named = TimeZone::get(text).ok();
        // Names are looked up whatever their case; Java minds it.
        let exact = named.filter(|zone| zone.iana_name() == Some(text));
        exact.map(Self::Named).ok_or_else(|| {
            Error::new(ErrorKind::ZoneRules, format!("Unknown time-zone ID: {text}"))
        })
    }

    /// Seconds that the zone is ahead of UTC at a moment.
    pub fn offset_at(&self, seconds: i64) -> i32 {
        match self {
            Self::Offset(offset) => *offset,
            Self::Named(zone) => {
                let limits = Timestamp::MIN.as_second()..=Timestamp::MAX.as_second();
                let seconds = seconds.clamp(*limits.start(), *limits.end());
                let moment = Timestamp::from_duration(SignedDuration::from_secs(seconds));
                moment.map_or(0, |moment| zone.to_offset(moment).seconds())
            }
        }
    }

    /// Milliseconds that the zone is ahead of UTC at a moment, given in milliseconds.
    pub fn offset_ms(&self, at_ms: i64) -> i64 {
        i64::from(self.offset_at(at_ms.div_euclid(1_000))) * 1_000
    }

    /// The moment of a local time, given as seconds since 1970-01-01T00:00 there. What the clock
    /// skips counts on from before; what it shows twice means the first time, or `preferred`.
    pub fn moment_of(&self, local: i64, preferred: Option<i32>) -> i64 {
        let zone = match self {
            Self::Offset(offset) => return local.saturating_sub(i64::from(*offset)),
            Self::Named(zone) => zone,
        };
        let (day, second) = (local.div_euclid(DAY_SECONDS), local.rem_euclid(DAY_SECONDS));
        let (year, month, of_month) = date_of(day);
        // Beyond the years that the zone data reach, the rules of the last year hold.
        let year = year.clamp(-9_998, 9_998) as i16;
        let date = civil::Date::new(year, month as i8, of_month as i8)
            .or_else(|_| civil::Date::new(year, month as i8, 28));
        let Ok(date) = date else { return local };
        let time =
            civil::time((second / 3_600) as i8, (second / 60 % 60) as i8, (second % 60) as i8, 0);
        let offset = match zone.to_ambiguous_timestamp(date.to_datetime(time)).offset() {
            AmbiguousOffset::Unambiguous { offset } => offset,
            AmbiguousOffset::Gap { before, .. } => before,
            AmbiguousOffset::Fold { before, after } => {
                if preferred == Some(after.seconds()) {
                    after
                } else {
                    before
                }
            }
        };
        local.saturating_sub(i64::from(offset.seconds()))
    }
}

/// Seconds of an offset as `ZoneOffset.of` reads it: `+h`, `+hh`, `+hhmm`, `+hh:mm`, with seconds.
fn offset(text: &str) -> Option<i32> {
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let digits = text.get(1..)?;
    let pair = |text: &str| -> Option<i32> {
        let fits = (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        if fits { text.parse().ok() } else { None }
    };
    let parts: Vec<&str> = if digits.contains(':') {
        let parts: Vec<&str> = digits.split(':').collect();
        if parts.iter().any(|part| part.len() != 2) {
            return None;
        }
        parts
    } else {
        match digits.len() {
            1 | 2 => vec![digits],
            4 => vec![digits.get(..2)?, digits.get(2..)?],
            6 => vec![digits.get(..2)?, digits.get(2..4)?, digits.get(4..)?],
            _ => return None,
        }
    };
    let hours = pair(parts.first()?)?;
    let minutes = parts.get(1).map_or(Some(0), |part| pair(part))?;
    let seconds = parts.get(2).map_or(Some(0), |part| pair(part))?;
    let total = hours * 3_600 + minutes * 60 + seconds;
    let legal = parts.len() <= 3 && minutes < 60 && seconds < 60 && total <= 18 * 3_600;
    legal.then_some(sign * total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_read_as_java_reads_them() {
        for (text, want) in [
            ("Z", 0),
            ("UTC", 0),
            ("+1", 3600),
            ("-01", -3600),
            ("+0130", 5400),
            ("+01:30", 5400),
            ("+01:30:15", 5415),
            ("UTC+02:00", 7200),
            ("+18:00", 64800),
        ] {
            assert_eq!(Zone::parse(text), Ok(Zone::Offset(want)), "{text}");
        }
        for text in ["+", "+19", "+1:30", "+01:60", "foo", "europe/berlin", "+012", "é", "+é"] {
            assert!(Zone::parse(text).is_err(), "{text}");
        }
        let reason = Zone::parse("foo").expect_err("unknown").reason;
        assert_eq!(reason, "Unknown time-zone ID: foo");
    }

    #[test]
    fn named_zones_know_their_history() {
        let berlin = Zone::parse("Europe/Berlin").expect("bundled");
        assert_eq!(berlin.offset_at(0), 3_600);
        assert_eq!(berlin.offset_at(1_593_561_600), 7_200);
        // 2020-03-29 02:30 does not exist; the clock went on from before.
        let gap = 1_585_449_000;
        assert_eq!(berlin.moment_of(gap, None), gap - 3_600);
        // 2020-10-25 02:30 came twice.
        let fold = 1_603_593_000;
        assert_eq!(berlin.moment_of(fold, None), fold - 7_200);
        assert_eq!(berlin.moment_of(fold, Some(3_600)), fold - 3_600);
        assert_eq!(berlin.offset_at(i64::MAX), berlin.offset_at(253_402_207_200));
        berlin.moment_of(i64::MIN / 4, None);
    }
}
