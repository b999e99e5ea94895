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
    /// In Java's words: `Unknown time-zone ID: foo`.
    pub fn parse(text: &str) -> Result<Self> {
        if text.chars().nth(1).is_none() || text.starts_with(['+', '-']) {
            return offset(text).map(Self::Offset);
        }
        for prefix in ["UTC", "GMT", "UT"] {
            let Some(rest) = text.strip_prefix(prefix) else { continue };
            if rest.is_empty() {
                return Ok(Self::UTC);
            }
            if rest.starts_with(['+', '-']) {
                return offset(rest).map(Self::Offset).map_err(|cause| {
                    date_time(format!("Invalid ID for offset-based ZoneId: {text}"))
                        .caused_by(cause)
                });
            }
        }
        region(text)
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

/// A name that has the form of one, and stands in the zone data.
fn region(text: &str) -> Result<Zone> {
    let may = |(at, c): (usize, char)| {
        c.is_ascii_alphabetic() || at > 0 && (c.is_ascii_digit() || "/~._+-".contains(c))
    };
    if !text.chars().enumerate().all(may) {
        return Err(date_time(format!(
            "Invalid ID for region-based ZoneId, invalid format: {text}"
        )));
    }
    // Names are looked up whatever their case; Java minds it.
    let named = TimeZone::get(text).ok().filter(|zone| zone.iana_name() == Some(text));
    named
        .map(Zone::Named)
        .ok_or_else(|| Error::new(ErrorKind::ZoneRules, format!("Unknown time-zone ID: {text}")))
}

/// Seconds of an offset as `ZoneOffset.of` reads it: `+h`, `+hh`, `+hhmm`, `+hh:mm`, with seconds.
fn offset(text: &str) -> Result<i32> {
    if text == "Z" {
        return Ok(0);
    }
    let invalid = |what: &str, text: &str| {
        Err(date_time(format!("Invalid ID for ZoneOffset, {what}: {text}")))
    };
    let mut padded: Vec<char> = text.chars().collect();
    if padded.len() == 2 {
        padded.insert(1, '0');
    }
    // Where the digits of each part begin; all but the first may follow a colon.
    let (starts, has_colons): (&[usize], bool) = match padded.len() {
        3 => (&[1], false),
        5 => (&[1, 3], false),
        6 => (&[1, 4], true),
        7 => (&[1, 3, 5], false),
        9 => (&[1, 4, 7], true),
        _ => return invalid("invalid format", text),
    };
    let text: String = padded.iter().collect();
    let mut parts = [0; 3];
    for (part, start) in parts.iter_mut().zip(starts) {
        if has_colons && *start > 1 && padded[start - 1] != ':' {
            return invalid("colon not found when expected", &text);
        }
        let digit = |at: usize| padded[at].to_digit(10);
        let (Some(tens), Some(ones)) = (digit(*start), digit(start + 1)) else {
            return invalid("non numeric characters found", &text);
        };
        *part = (tens * 10 + ones) as i32;
    }
    let sign = match padded[0] {
        '+' => 1,
        '-' => -1,
        _ => return invalid("plus/minus not found when expected", &text),
    };
    let [hours, minutes, seconds] = parts.map(|part| sign * part);
    in_range("hours", hours.into(), HOURS_MAX)?;
    in_range("minutes", minutes.into(), 59)?;
    in_range("seconds", seconds.into(), 59)?;
    if i64::from(hours.abs()) == HOURS_MAX && (minutes, seconds) != (0, 0) {
        return Err(date_time("Zone offset not in valid range: -18:00 to +18:00".to_owned()));
    }
    Ok(hours * 3_600 + minutes * 60 + seconds)
}

/// An offset's name of whole hours, as `ZoneOffset.ofHours` takes them: `+01:00`.
///
/// # Errors
/// More than 18 hours.
pub fn hours(hours: i64) -> Result<String> {
    in_range("hours", hours, HOURS_MAX)?;
    Ok(format!("{}{:02}:00", if hours < 0 { '-' } else { '+' }, hours.abs()))
}

/// No offset has more hours.
const HOURS_MAX: i64 = 18;

fn in_range(part: &str, value: i64, most: i64) -> Result<()> {
    if (-most..=most).contains(&value) {
        return Ok(());
    }
    Err(date_time(format!(
        "Zone offset {part} not in valid range: value {value} is not in the range -{most} to {most}"
    )))
}

fn date_time(reason: String) -> Error {
    Error::new(ErrorKind::DateTime, reason)
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
    }

    #[test]
    fn what_is_no_zone_is_refused_in_javas_words() {
        let offset = "Invalid ID for ZoneOffset, ";
        for (text, reason) in [
            ("", format!("{offset}invalid format: ")),
            ("5", format!("{offset}invalid format: 5")),
            ("x", format!("{offset}invalid format: x")),
            ("+012", format!("{offset}invalid format: +012")),
            ("+x", format!("{offset}non numeric characters found: +0x")),
            ("+1:30", format!("{offset}non numeric characters found: +1:30")),
            ("+01-30", format!("{offset}colon not found when expected: +01-30")),
            ("+18:01", "Zone offset not in valid range: -18:00 to +18:00".to_owned()),
            ("-18:00:01", "Zone offset not in valid range: -18:00 to +18:00".to_owned()),
            (
                "+99:00",
                "Zone offset hours not in valid range: value 99 is not in the range -18 to 18"
                    .to_owned(),
            ),
            (
                "-01:60",
                "Zone offset minutes not in valid range: value -60 is not in the range -59 to 59"
                    .to_owned(),
            ),
            ("UTC+25", "Invalid ID for offset-based ZoneId: UTC+25".to_owned()),
            ("GMT+x", "Invalid ID for offset-based ZoneId: GMT+x".to_owned()),
            ("5x", "Invalid ID for region-based ZoneId, invalid format: 5x".to_owned()),
            ("a b", "Invalid ID for region-based ZoneId, invalid format: a b".to_owned()),
        ] {
            let error = Zone::parse(text).expect_err("no zone");
            assert_eq!((error.kind, error.reason), (ErrorKind::DateTime, reason), "{text}");
        }
        let cause = Zone::parse("UTC+25").expect_err("no zone").caused_by.expect("a cause");
        assert!(cause.reason.contains("value 25 is not"), "{}", cause.reason);
        for text in ["foo", "UTCx", "europe/berlin"] {
            let error = Zone::parse(text).expect_err("unknown");
            assert_eq!(error.kind, ErrorKind::ZoneRules, "{text}");
            assert_eq!(error.reason, format!("Unknown time-zone ID: {text}"));
        }
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
