//! What was read of a date, and the moment it names.
//!
//! Fields come together as in a strict `java.time` parser: those that make a whole date or a time
//! are taken, and every other one that was read must say the same of it, or the text is no date.
//! Fields that make no whole date (a month alone, or a year of an era that is not named) are filled
//! in as by Elasticsearch, and nothing is checked against what was filled in.

use script::date::MONTHS;

use super::Round;
use super::pattern::{Field, Names};
use crate::types::calendar::{self, DAY_SECONDS, Moment, YEAR_MAX};
use crate::types::zone::Zone;

/// The numbers and names that a text gave.
#[derive(Clone, Debug, Default)]
pub(super) struct Fields {
    year: Option<i64>,
    year_of_era: Option<i64>,
    week_year: Option<i64>,
    quarter: Option<i64>,
    month: Option<i64>,
    week: Option<i64>,
    day: Option<i64>,
    day_of_year: Option<i64>,
    weekday: Option<i64>,
    hour: Option<i64>,
    hour_12: Option<i64>,
    minute: Option<i64>,
    second: Option<i64>,
    nano: Option<i64>,
    milli_of_day: Option<i64>,
    nano_of_day: Option<i64>,
    /// 1 before noon, 2 after.
    half: Option<i64>,
    /// 1 before Christ, 2 after.
    era: Option<i64>,
    /// Zone or offset.
    pub(super) zone: Option<Zone>,
}

impl Fields {
    /// Keeps a number; `None` where it is out of its range or disagrees with what was read before.
    pub(super) fn set(&mut self, field: Field, value: i64) -> Option<()> {
        let (slot, least, most, value) = match field {
            Field::Year => (&mut self.year, -YEAR_MAX, YEAR_MAX, value),
            Field::YearOfEra => (&mut self.year_of_era, 1, YEAR_MAX, value),
            Field::WeekYear => (&mut self.week_year, -YEAR_MAX, YEAR_MAX, value),
            // Ranged by the date alone: forgotten, as by java.time, where none is whole.
            Field::Quarter => (&mut self.quarter, 0, 99, value),
            Field::Month => (&mut self.month, 1, 12, value),
            Field::Week => (&mut self.week, 1, 53, value),
            Field::Day => (&mut self.day, 1, 31, value),
            Field::DayOfYear => (&mut self.day_of_year, 1, 366, value),
            Field::Weekday => (&mut self.weekday, 1, 7, value),
            Field::Hour => (&mut self.hour, 0, 23, value),
            Field::HourFrom1 => {
                (1..=24).contains(&value).then_some(())?;
                (&mut self.hour, 0, 23, value % 24)
            }
            Field::Hour12 => {
                (1..=12).contains(&value).then_some(())?;
                (&mut self.hour_12, 0, 11, value % 12)
            }
            Field::Hour12From0 => (&mut self.hour_12, 0, 11, value),
            Field::Minute => (&mut self.minute, 0, 59, value),
            Field::Second => (&mut self.second, 0, 59, value),
            Field::Nano => (&mut self.nano, 0, 999_999_999, value),
            Field::MilliOfDay => (&mut self.milli_of_day, 0, DAY_NANOS / 1_000_000 - 1, value),
            Field::NanoOfDay => (&mut self.nano_of_day, 0, DAY_NANOS - 1, value),
        };
        keep(slot, value, least, most)
    }

    /// Keeps the number of a name in its list, from 1.
    pub(super) fn set_named(&mut self, names: Names, value: i64) -> Option<()> {
        match names {
            Names::MonthShort | Names::MonthFull => self.set(Field::Month, value),
            Names::WeekdayShort | Names::WeekdayFull => self.set(Field::Weekday, value),
            Names::QuarterShort | Names::QuarterFull => self.set(Field::Quarter, value),
            Names::AmPm => keep(&mut self.half, value, 1, 2),
            Names::EraShort | Names::EraFull => keep(&mut self.era, value, 1, 2),
        }
    }

    /// The moment, or why there is none. `zone` is for texts that name none.
    pub(super) fn resolve(&self, zone: Option<&Zone>, round: Round) -> Result<Moment, String> {
        let day = self.resolve_day()?;
        let (second, nanos) = self.resolve_time(round)?;
        let local = day * DAY_SECONDS + second;
        let seconds = match self.zone.as_ref().or(zone) {
            None => local,
            Some(zone) => zone.moment_of(local, None),
        };
        Ok(Moment { seconds, nanos })
    }

    fn resolve_day(&self) -> Result<i64, String> {
        let year = self.proleptic_year()?;
        let Some(day) = self.whole_day(year)? else { return self.filled_day(year) };
        self.check_day(day)?;
        Ok(day)
    }

    /// The year, where one is given that needs no guess at its era.
    fn proleptic_year(&self) -> Result<Option<i64>, String> {
        let Some(of_era) = self.year_of_era else { return Ok(self.year) };
        let is_before = match (self.era, self.year) {
            (Some(era), _) => era == 1,
            (None, Some(year)) => year <= 0,
            (None, None) => return Ok(None),
        };
        let found = if is_before { 1 - of_era } else { of_era };
        match self.year {
            Some(year) if year != found => {
                Err(format!("Conflict found: Year {year} differs from Year {found}"))
            }
            _ => Ok(Some(found)),
        }
    }

    /// The day, where fields name one and leave nothing out.
    fn whole_day(&self, year: Option<i64>) -> Result<Option<i64>, String> {
        let of_year = match (year, self.month, self.day, self.day_of_year) {
            (Some(year), Some(_), Some(_), _) => Some(self.month_day(year)?),
            (Some(year), _, _, Some(day)) => Some(year_day(year, day)?),
            _ => None,
        };
        let (Some(year), Some(week), Some(weekday)) = (self.week_year, self.week, self.weekday)
        else {
            return Ok(of_year);
        };
        let of_week = week_day(year, week, weekday)?;
        match of_year {
            Some(day) if day != of_week => Err(format!(
                "Conflict found: Fields resolved to two different dates: {} {}",
                date_text(day),
                date_text(of_week)
            )),
            _ => Ok(Some(of_week)),
        }
    }

    /// Says every field of a date the same as the date itself? Year, month and day do where nothing else
    /// was given, which is how most dates are written: the day was made of them.
    fn check_day(&self, found: i64) -> Result<(), String> {
        let Self { era, quarter, day_of_year, weekday, week_year, week, .. } = *self;
        if [era, quarter, day_of_year, weekday, week_year, week] == [None; 6] {
            return Ok(());
        }
        let (year, month, day) = calendar::date_of(found);
        let month = i64::from(month);
        // What takes a walk to work out is so where it was given.
        let weeks = week_year.or(week).map(|_| calendar::iso_week(found));
        let (in_year, in_week) = weeks.unwrap_or_default();
        let of_year = day_of_year.map_or(0, |_| calendar::day_of_year(found));
        for (name, given, is) in [
            ("Year", self.year, year),
            ("YearOfEra", self.year_of_era, if year > 0 { year } else { 1 - year }),
            ("Era", era.map(|era| era - 1), i64::from(year > 0)),
            ("QuarterOfYear", quarter, (month - 1) / 3 + 1),
            ("MonthOfYear", self.month, month),
            ("DayOfMonth", self.day, i64::from(day)),
            ("DayOfYear", day_of_year, i64::from(of_year)),
            ("DayOfWeek", weekday, i64::from(calendar::weekday(found))),
            ("WeekBasedYear[WeekFields[MONDAY,4]]", week_year, in_year),
            ("WeekOfWeekBasedYear[WeekFields[MONDAY,4]]", week, i64::from(in_week)),
        ] {
            check(name, given, is, || date_text(found))?;
        }
        Ok(())
    }

    /// The day of fields that leave something out, which is the first there is.
    fn filled_day(&self, year: Option<i64>) -> Result<i64, String> {
        match (year.or(self.year_of_era), self.week_year) {
            (None, Some(year)) => week_day(year, self.week.unwrap_or(1), self.weekday.unwrap_or(1)),
            (year, _) => {
                let year = year.unwrap_or(1970);
                match self.day_of_year {
                    Some(day) if self.month.is_none() || self.day.is_none() => year_day(year, day),
                    _ => self.month_day(year),
                }
            }
        }
    }

    fn month_day(&self, year: i64) -> Result<i64, String> {
        let month = self.month.unwrap_or(1) as u32;
        let day = self.day.unwrap_or(1) as u32;
        if day > calendar::days_in_month(year, month) {
            return Err(if day == 29 {
                format!("Invalid date 'February 29' as '{year}' is not a leap year")
            } else {
                format!("Invalid date '{} {day}'", MONTHS[month as usize - 1])
            });
        }
        Ok(calendar::day_of(year, month, day))
    }

    /// Second of the day, nanoseconds of the second.
    fn resolve_time(&self, round: Round) -> Result<(i64, u32), String> {
        let mut time =
            Time { hour: self.hour, minute: self.minute, second: self.second, nano: self.nano };
        if let (Some(half), Some(hour)) = (self.half, self.hour_12) {
            agree(&mut time.hour, (half - 1) * 12 + hour, "HourOfDay", "AmPmOfDay")?;
        }
        if let Some(nanos) = self.nano_of_day {
            time.add_seconds(nanos / 1_000_000_000, "NanoOfDay")?;
            agree(&mut time.nano, nanos % 1_000_000_000, "NanoOfSecond", "NanoOfDay")?;
        }
        if let Some(millis) = self.milli_of_day {
            time.add_seconds(millis / 1_000, "SecondOfDay")?;
            let below = time.nano.unwrap_or(0) % 1_000_000;
            let nanos = millis % 1_000 * 1_000_000 + below;
            agree(&mut time.nano, nanos, "NanoOfSecond", "MilliOfSecond")?;
        }
        if let Some(hour) = time.hour {
            check("AmPmOfDay", self.half.map(|half| half - 1), hour / 12, || time.text())?;
            check("HourOfAmPm", self.hour_12, hour % 12, || time.text())?;
        }
        let missing = |value: i64| if round == Round::Up { value } else { 0 };
        // An hour of twelve without its half is one of the first.
        let second = time.hour.or(self.hour_12).unwrap_or(missing(23)) * 3_600
            + time.minute.unwrap_or(missing(59)) * 60
            + time.second.unwrap_or(missing(59));
        Ok((second, time.nano.unwrap_or(missing(999_999_999)) as u32))
    }
}

/// The parts of a time of day.
struct Time {
    hour: Option<i64>,
    minute: Option<i64>,
    second: Option<i64>,
    nano: Option<i64>,
}

impl Time {
    /// Takes in a second of the day, told by the field `by`.
    fn add_seconds(&mut self, seconds: i64, by: &str) -> Result<(), String> {
        agree(&mut self.hour, seconds / 3_600, "HourOfDay", by)?;
        agree(&mut self.minute, seconds / 60 % 60, "MinuteOfHour", by)?;
        agree(&mut self.second, seconds % 60, "SecondOfMinute", by)
    }

    #[cold]
    fn text(&self) -> String {
        let part = |value: Option<i64>| value.unwrap_or(0);
        let mut text = format!("{:02}:{:02}", part(self.hour), part(self.minute));
        if part(self.second) != 0 || part(self.nano) != 0 {
            text.push_str(&format!(":{:02}", part(self.second)));
        }
        text
    }
}

/// Takes `value` where nothing is known yet; what is known must be the same.
fn agree(slot: &mut Option<i64>, value: i64, name: &str, by: &str) -> Result<(), String> {
    match *slot {
        Some(before) if before != value => Err(format!(
            "Conflict found: {name} {before} differs from {name} {value} while resolving  {by}"
        )),
        _ => {
            *slot = Some(value);
            Ok(())
        }
    }
}

/// Is a field that was given what the date or time has?
fn check(
    name: &str,
    given: Option<i64>,
    is: i64,
    of: impl FnOnce() -> String,
) -> Result<(), String> {
    match given {
        Some(given) if given != is => Err(format!(
            "Conflict found: Field {name} {is} differs from {name} {given} derived from {}",
            of()
        )),
        _ => Ok(()),
    }
}

#[cold]
fn date_text(day: i64) -> String {
    let (year, month, day) = calendar::date_of(day);
    let sign = match year {
        ..0 => "-",
        10_000.. => "+",
        _ => "",
    };
    format!("{sign}{:04}-{month:02}-{day:02}", year.abs())
}

const DAY_NANOS: i64 = DAY_SECONDS * 1_000_000_000;

fn keep(slot: &mut Option<i64>, value: i64, least: i64, most: i64) -> Option<()> {
    if value < least || value > most || slot.is_some_and(|before| before != value) {
        return None;
    }
    *slot = Some(value);
    Some(())
}

fn year_day(year: i64, day: i64) -> Result<i64, String> {
    if day == 366 && !calendar::is_leap(year) {
        return Err(format!("Invalid date 'DayOfYear 366' as '{year}' is not a leap year"));
    }
    Ok(calendar::day_of(year, 1, 1) + day - 1)
}

fn week_day(year: i64, week: i64, weekday: i64) -> Result<i64, String> {
    let day = calendar::iso_year_start(year) + (week - 1) * 7 + weekday - 1;
    if calendar::iso_week(day).0 != year {
        return Err(format!("Invalid value for WeekOfWeekBasedYear: {week} in {year}"));
    }
    Ok(day)
}
