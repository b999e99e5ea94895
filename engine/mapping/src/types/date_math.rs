//! Date math: `now-1d/d`, `2024-01-01||+1M/M`.
//!
//! An anchor, `now` or a date and `||`, then steps: `+1M` and `-3d` move, `/d` goes to the beginning
//! of the unit, or, where the bound rounds up, to its last millisecond. Units: `y M w d h H m s`.
//! Steps of days and above move on the calendar of the zone, those below on the clock.

use super::calendar::{DAY_SECONDS, Moment, YEAR_MAX, date_of, day_of, days_in_month, weekday};
use super::date_format::{DateFormat, Round};
pub use super::zone::Zone;
use crate::{Error, ErrorKind, Result};

/// Milliseconds since 1970 of a date with math, as a query's bound.
///
/// # Errors
/// In Elasticsearch's words (`parse_exception`).
pub fn parse_ms(
    format: &DateFormat,
    text: &str,
    now_ms: i64,
    round: Round,
    zone: Option<&Zone>,
) -> Result<i64> {
    let moment = parse(format, text, now_ms, round, zone)?;
    moment.to_ms().ok_or_else(|| Error::illegal_argument("long overflow"))
}

/// The moment of a date with math.
///
/// # Errors
/// In Elasticsearch's words (`parse_exception`).
pub fn parse(
    format: &DateFormat,
    text: &str,
    now_ms: i64,
    round: Round,
    zone: Option<&Zone>,
) -> Result<Moment> {
    if let Some(math) = text.strip_prefix("now") {
        return steps(math, Moment::from_ms(now_ms), round, zone);
    }
    match text.split_once("||") {
        None => date(format, text, round, zone),
        Some((anchor, math)) => steps(math, date(format, anchor, Round::Down, zone)?, round, zone),
    }
}

fn date(format: &DateFormat, text: &str, round: Round, zone: Option<&Zone>) -> Result<Moment> {
    if text.is_empty() {
        return Err(fault("cannot parse empty datetime".to_owned()));
    }
    format.parse(text, zone, round).map_err(|cause| {
        fault(format!(
            "failed to parse date field [{text}] with format [{}]: [{}]",
            format.pattern(),
            cause.reason
        ))
        .caused_by(cause)
    })
}

fn fault(reason: String) -> Error {
    Error::new(ErrorKind::Parse, reason)
}

fn steps(math: &str, anchor: Moment, round: Round, zone: Option<&Zone>) -> Result<Moment> {
    let zone = zone.unwrap_or(&Zone::UTC);
    let mut at = anchor;
    let mut chars = math.chars().peekable();
    while let Some(operator) = chars.next() {
        let (rounds, sign) = match operator {
            '/' => (true, 1),
            '+' => (false, 1),
            '-' => (false, -1),
            _ => return Err(fault(format!("operator not supported for date math [{math}]"))),
        };
        let truncated = || fault(format!("truncated date math [{math}]"));
        let mut digits = String::new();
        while let Some(digit) = chars.next_if(char::is_ascii_digit) {
            digits.push(digit);
        }
        let unit = chars.next().ok_or_else(truncated)?;
        let count: i32 = if digits.is_empty() {
            1
        } else {
            digits.parse().map_err(|_| Error::number_format(&digits))?
        };
        if rounds && count != 1 {
            return Err(fault(format!(
                "rounding `/` can only be used on single unit types [{math}]"
            )));
        }
        let unit = Unit::of(unit)
            .ok_or_else(|| fault(format!("unit [{unit}] not supported for date math [{math}]")))?;
        at = if rounds {
            let start = unit.start(at, zone);
            if round == Round::Up {
                let end = unit.plus(start, 1, zone)?;
                Moment::from_ms(end.to_ms().ok_or_else(overflow)?.saturating_sub(1))
            } else {
                start
            }
        } else {
            unit.plus(at, sign * i64::from(count), zone)?
        };
    }
    Ok(at)
}

fn overflow() -> Error {
    Error::illegal_argument("long overflow")
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Year,
    Month,
    Week,
    Day,
    Hour,
    Minute,
    Second,
}

impl Unit {
    const fn of(letter: char) -> Option<Self> {
        Some(match letter {
            'y' => Self::Year,
            'M' => Self::Month,
            'w' => Self::Week,
            'd' => Self::Day,
            'h' | 'H' => Self::Hour,
            'm' => Self::Minute,
            's' => Self::Second,
            _ => return None,
        })
    }

    /// Seconds of the units that the clock counts.
    const fn seconds(self) -> Option<i64> {
        match self {
            Self::Hour => Some(3_600),
            Self::Minute => Some(60),
            Self::Second => Some(1),
            _ => None,
        }
    }

    fn plus(self, at: Moment, count: i64, zone: &Zone) -> Result<Moment> {
        if let Some(unit) = self.seconds() {
            let seconds = at.seconds.checked_add(count * unit).ok_or_else(overflow)?;
            return Ok(Moment { seconds, ..at });
        }
        let offset = zone.offset_at(at.seconds);
        let local = at.seconds.saturating_add(i64::from(offset));
        let (day, second) = (local.div_euclid(DAY_SECONDS), local.rem_euclid(DAY_SECONDS));
        let day = match self {
            Self::Week => day + 7 * count,
            Self::Year | Self::Month => {
                let months = if self == Self::Year { 12 * count } else { count };
                let (year, month, of_month) = date_of(day);
                let months = year * 12 + i64::from(month) - 1 + months;
                let (year, month) = (months.div_euclid(12), months.rem_euclid(12) as u32 + 1);
                day_of(year, month, of_month.min(days_in_month(year, month)))
            }
            _ => day + count,
        };
        let limits = day_of(-YEAR_MAX, 1, 1)..=day_of(YEAR_MAX, 12, 31);
        if !limits.contains(&day) {
            return Err(Error::illegal_argument(format!(
                "Invalid value for Year (valid values -{YEAR_MAX} - {YEAR_MAX})"
            )));
        }
        let seconds = zone.moment_of(day * DAY_SECONDS + second, Some(offset));
        Ok(Moment { seconds, nanos: at.nanos })
    }

    /// The beginning of the unit that the moment lies in.
    fn start(self, at: Moment, zone: &Zone) -> Moment {
        let offset = zone.offset_at(at.seconds);
        let local = at.seconds.saturating_add(i64::from(offset));
        let (day, second) = (local.div_euclid(DAY_SECONDS), local.rem_euclid(DAY_SECONDS));
        let (year, month, _) = date_of(day);
        let (day, second) = match self {
            Self::Year => (day_of(year, 1, 1), 0),
            Self::Month => (day_of(year, month, 1), 0),
            Self::Week => (day + 1 - i64::from(weekday(day)), 0),
            Self::Day => (day, 0),
            Self::Hour => (day, second - second % 3_600),
            Self::Minute => (day, second - second % 60),
            Self::Second => (day, second),
        };
        let seconds = zone.moment_of(day * DAY_SECONDS + second, Some(offset));
        Moment { seconds, nanos: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::date_format::DEFAULT;

    const NOW: i64 = 1_718_461_845_123; // 2024-06-15T14:30:45.123Z

    fn at(text: &str, round: Round, zone: Option<&str>) -> String {
        let zone = zone.map(|zone| Zone::parse(zone).expect("a zone"));
        let ms = parse_ms(&DEFAULT, text, NOW, round, zone.as_ref()).expect("good math");
        DEFAULT.print_ms(ms)
    }

    #[test]
    fn bounds_round_as_elasticsearch_says() {
        let both = |text: &str| (at(text, Round::Down, None), at(text, Round::Up, None));
        for (text, down, up) in [
            ("now", "2024-06-15T14:30:45.123Z", "2024-06-15T14:30:45.123Z"),
            ("now/d", "2024-06-15T00:00:00.000Z", "2024-06-15T23:59:59.999Z"),
            ("now-1d/d", "2024-06-14T00:00:00.000Z", "2024-06-14T23:59:59.999Z"),
            ("now/w", "2024-06-10T00:00:00.000Z", "2024-06-16T23:59:59.999Z"),
            ("now/y", "2024-01-01T00:00:00.000Z", "2024-12-31T23:59:59.999Z"),
            ("now/h+2m", "2024-06-15T14:02:00.000Z", "2024-06-15T15:01:59.999Z"),
            ("2024-02", "2024-02-01T00:00:00.000Z", "2024-02-01T23:59:59.999Z"),
            ("2024-02||/M", "2024-02-01T00:00:00.000Z", "2024-02-29T23:59:59.999Z"),
            ("2024-01-31||+1M", "2024-02-29T00:00:00.000Z", "2024-02-29T00:00:00.000Z"),
            ("2019-06-15||/y", "2019-01-01T00:00:00.000Z", "2019-12-31T23:59:59.999Z"),
            ("2024-02-29||-1y", "2023-02-28T00:00:00.000Z", "2023-02-28T00:00:00.000Z"),
            ("1704067200000", "2024-01-01T00:00:00.000Z", "2024-01-01T00:00:00.000Z"),
        ] {
            assert_eq!(both(text), (down.to_owned(), up.to_owned()), "{text}");
        }
    }

    #[test]
    fn zones_move_days_and_dates_without_one() {
        assert_eq!(at("now/d", Round::Down, Some("+10:00")), "2024-06-15T14:00:00.000Z");
        assert_eq!(
            at("2024-03-31", Round::Down, Some("Europe/Berlin")),
            "2024-03-30T23:00:00.000Z"
        );
        assert_eq!(
            at("2024-03-31||+1d", Round::Down, Some("Europe/Berlin")),
            "2024-03-31T22:00:00.000Z",
            "a day of 23 hours"
        );
        assert_eq!(
            at("2024-03-31T01:00:00Z", Round::Down, Some("Europe/Berlin")),
            "2024-03-31T01:00:00.000Z"
        );
    }

    #[test]
    fn faults_are_told_in_elasticsearchs_words() {
        for (text, want) in [
            ("now+1x", "unit [x] not supported for date math [+1x]"),
            ("now+1", "truncated date math [+1]"),
            ("now+", "truncated date math [+]"),
            ("now*1d", "operator not supported for date math [*1d]"),
            ("now/2d", "rounding `/` can only be used on single unit types [/2d]"),
            (
                "foo",
                "failed to parse date field [foo] with format \
                 [strict_date_optional_time||epoch_millis]: [failed to parse date field [foo] \
                 with format [strict_date_optional_time||epoch_millis]]",
            ),
            ("||+1d", "cannot parse empty datetime"),
            ("now+99999999999d", "For input string: \"99999999999\""),
        ] {
            let error = parse_ms(&DEFAULT, text, NOW, Round::Down, None).expect_err("refused");
            assert_eq!(error.reason, want);
        }
        assert!(parse_ms(&DEFAULT, "now+2000000000y", NOW, Round::Down, None).is_err());
    }

    #[test]
    fn hostile_math_never_panics() {
        proptest::proptest!(|(text in "(now|2024(-0[1-9])?\\|\\|)([+/-][0-9]{0,10}[yMwdhHmsx]){0,4}", now: i64)| {
            let zone = Zone::parse("America/New_York").expect("bundled");
            for round in [Round::Down, Round::Up] {
                let _ = parse_ms(&DEFAULT, &text, now, round, Some(&zone));
                let _ = parse_ms(&DEFAULT, &text, now, round, None);
            }
        });
    }
}
