//! Printing a moment by elements.

use std::fmt::Write as _;

use super::localized;
use super::pattern::{Element, Field, Names, Offset, Point, Sign};
use crate::types::calendar::{self, DAY_SECONDS, Moment};
use crate::types::zone::Zone;

/// The words of a list, in order.
pub(super) const fn names(names: Names) -> &'static [&'static str] {
    match names {
        Names::MonthShort => {
            &["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        }
        Names::MonthFull => &[
            "January",
            "February",
            "March",
            "April",
            "May",
            "June",
            "July",
            "August",
            "September",
            "October",
            "November",
            "December",
        ],
        Names::WeekdayShort => &["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"],
        Names::WeekdayFull => {
            &["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
        }
        Names::AmPm => &["AM", "PM"],
        Names::EraShort => &["BC", "AD"],
        Names::EraFull => &["Before Christ", "Anno Domini"],
        Names::QuarterShort => &["Q1", "Q2", "Q3", "Q4"],
        Names::QuarterFull => &["1st quarter", "2nd quarter", "3rd quarter", "4th quarter"],
    }
}

/// A moment as the clocks of a zone show it.
struct Local<'z> {
    day: i64,
    year: i64,
    month: u32,
    day_of_month: u32,
    second_of_day: i64,
    nanos: u32,
    offset: i32,
    zone: &'z Zone,
}

/// The moment in the zone, by these elements.
pub(super) fn elements(list: &[Element], moment: Moment, zone: &Zone) -> String {
    let offset = zone.offset_at(moment.seconds);
    let seconds = moment.seconds.saturating_add(i64::from(offset));
    let day = seconds.div_euclid(DAY_SECONDS);
    let (year, month, day_of_month) = calendar::date_of(day);
    let second_of_day = seconds.rem_euclid(DAY_SECONDS);
    let local =
        Local { day, year, month, day_of_month, second_of_day, nanos: moment.nanos, offset, zone };
    let mut out = String::new();
    local.print(list, &mut out);
    out
}

/// Milliseconds since 1970; parts of one after a point.
pub(super) fn epoch_millis(moment: Moment) -> String {
    epoch(moment, 1_000, 6)
}

/// Seconds since 1970; parts of one after a point.
pub(super) fn epoch_second(moment: Moment) -> String {
    epoch(moment, 1, 9)
}

fn epoch(moment: Moment, per_second: i128, digits: usize) -> String {
    let nanos = i128::from(moment.seconds) * 1_000_000_000 + i128::from(moment.nanos);
    let unit = 1_000_000_000 / per_second;
    let (whole, part) = (nanos.abs() / unit, nanos.abs() % unit);
    let sign = if nanos < 0 { "-" } else { "" };
    if part == 0 {
        return format!("{sign}{whole}");
    }
    let part = format!("{part:0digits$}");
    format!("{sign}{whole}.{}", part.trim_end_matches('0'))
}

impl Local<'_> {
    fn print(&self, list: &[Element], out: &mut String) {
        for element in list {
            match element {
                Element::Literal(text) => out.push_str(text),
                Element::Number { field, min, sign, .. } => {
                    number(out, self.field(*field), usize::from(*min), *sign);
                }
                Element::TwoDigitYear { field } => {
                    let year = self.field(*field).rem_euclid(100);
                    number(out, year, 2, Sign::Never);
                }
                Element::Fraction { min, max, point } => {
                    self.fraction(out, usize::from(*min), usize::from(*max), *point);
                }
                Element::Text(list) => {
                    out.push_str(names(*list)[self.name(*list)]);
                }
                Element::Offset(form, zero) => self.offset(out, *form, zero),
                Element::Localized(form) => localized::print(*form, self.offset, out),
                Element::ZoneId => match self.zone {
                    Zone::Named(zone) => out.push_str(zone.iana_name().unwrap_or("Z")),
                    Zone::Offset(_) => self.offset(out, Offset::Any, "Z"),
                },
                Element::Optional(inner) => self.print(inner, out),
            }
        }
    }

    fn field(&self, field: Field) -> i64 {
        let hour = self.second_of_day / 3_600;
        match field {
            Field::Year => self.year,
            Field::YearOfEra => {
                if self.year > 0 {
                    self.year
                } else {
                    1 - self.year
                }
            }
            Field::WeekYear => calendar::iso_week(self.day).0,
            Field::Quarter => i64::from((self.month - 1) / 3 + 1),
            Field::Month => i64::from(self.month),
            Field::Week => i64::from(calendar::iso_week(self.day).1),
            Field::Day => i64::from(self.day_of_month),
            Field::DayOfYear => i64::from(calendar::day_of_year(self.day)),
            Field::Weekday => i64::from(calendar::weekday(self.day)),
            Field::Hour => hour,
            Field::HourFrom1 => (hour + 23) % 24 + 1,
            Field::Hour12 => (hour + 11) % 12 + 1,
            Field::Hour12From0 => hour % 12,
            Field::Minute => self.second_of_day / 60 % 60,
            Field::Second => self.second_of_day % 60,
            Field::Nano => i64::from(self.nanos),
            Field::MilliOfDay => self.second_of_day * 1_000 + i64::from(self.nanos / 1_000_000),
            Field::NanoOfDay => self.second_of_day * 1_000_000_000 + i64::from(self.nanos),
        }
    }

    /// Which name of a list it is, from 0.
    fn name(&self, names: Names) -> usize {
        match names {
            Names::MonthShort | Names::MonthFull => self.month as usize - 1,
            Names::WeekdayShort | Names::WeekdayFull => calendar::weekday(self.day) as usize - 1,
            Names::AmPm => usize::from(self.second_of_day >= DAY_SECONDS / 2),
            Names::EraShort | Names::EraFull => usize::from(self.year > 0),
            Names::QuarterShort | Names::QuarterFull => (self.month as usize - 1) / 3,
        }
    }

    fn fraction(&self, out: &mut String, min: usize, max: usize, point: Point) {
        let digits = format!("{:09}", self.nanos);
        let used = digits.trim_end_matches('0').len().clamp(min, max);
        if used == 0 {
            return;
        }
        if point != Point::Nothing {
            out.push('.');
        }
        out.push_str(&digits[..used]);
    }

    fn offset(&self, out: &mut String, form: Offset, zero: &str) {
        if self.offset == 0 {
            out.push_str(zero);
            return;
        }
        let total = self.offset.abs();
        let (hours, minutes, seconds) = (total / 3_600, total / 60 % 60, total % 60);
        out.push(if self.offset < 0 { '-' } else { '+' });
        let colon = match form {
            Offset::HourColonMinute | Offset::HourColonMinuteMaybeSecond | Offset::Any => ":",
            _ => "",
        };
        let mut put = |text: std::fmt::Arguments<'_>| {
            out.write_fmt(text).expect("a string takes any text");
        };
        put(format_args!("{hours:02}"));
        if form != Offset::HourMaybeMinute || minutes != 0 {
            put(format_args!("{colon}{minutes:02}"));
        }
        let seconds_may = matches!(
            form,
            Offset::HourMinuteMaybeSecond | Offset::HourColonMinuteMaybeSecond | Offset::Any
        );
        if seconds_may && seconds != 0 {
            put(format_args!("{colon}{seconds:02}"));
        }
    }
}

fn number(out: &mut String, value: i64, min: usize, sign: Sign) {
    let digits = value.unsigned_abs().to_string();
    if value < 0 {
        out.push('-');
    } else if sign == Sign::ExceedsPad && digits.len() > min {
        out.push('+');
    }
    for _ in digits.len()..min {
        out.push('0');
    }
    out.push_str(&digits);
}
