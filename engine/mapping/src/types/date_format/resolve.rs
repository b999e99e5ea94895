//! What was read of a date, and the moment it names.

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
            // Read and forgotten, as by java.time where no day of the quarter is given.
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
            Field::MilliOfDay => {
                (&mut self.nano_of_day, 0, DAY_NANOS - 1, value.checked_mul(1_000_000)?)
            }
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
        let (second, nanos) = self.resolve_time(round);
        let local = day * DAY_SECONDS + second;
        let seconds = match self.zone.as_ref().or(zone) {
            None => local,
            Some(zone) => zone.moment_of(local, None),
        };
        Ok(Moment { seconds, nanos })
    }

    fn resolve_day(&self) -> Result<i64, String> {
        let of_era = self.year_of_era.map(|year| if self.era == Some(1) { 1 - year } else { year });
        let day = match (self.year.or(of_era), self.week_year) {
            (None, Some(year)) => {
                week_day(year, self.week.unwrap_or(1), self.weekday.unwrap_or(1))?
            }
            (year, _) => {
                let year = year.unwrap_or(1970);
                match self.day_of_year {
                    Some(366) if !calendar::is_leap(year) => {
                        return Err(format!(
                            "Invalid date 'DayOfYear 366' as '{year}' is not a leap year"
                        ));
                    }
                    Some(day) => calendar::day_of(year, 1, 1) + day - 1,
                    None => self.month_day(year)?,
                }
            }
        };
        // java.time checks the day of the week against proleptic years only.
        match self.weekday.filter(|_| self.year.is_some()) {
            Some(weekday) if i64::from(calendar::weekday(day)) != weekday => {
                Err("Conflict found: the day of the week is not that of the date".to_owned())
            }
            _ => Ok(day),
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
    fn resolve_time(&self, round: Round) -> (i64, u32) {
        if let Some(nanos) = self.nano_of_day {
            return (nanos / 1_000_000_000, (nanos % 1_000_000_000) as u32);
        }
        let missing = |value: i64| if round == Round::Up { value } else { 0 };
        let half = if self.half == Some(2) { 12 } else { 0 };
        let hour = self.hour.or(self.hour_12.map(|hour| hour + half));
        let second = hour.unwrap_or(missing(23)) * 3_600
            + self.minute.unwrap_or(missing(59)) * 60
            + self.second.unwrap_or(missing(59));
        (second, self.nano.unwrap_or(missing(999_999_999)) as u32)
    }
}

const DAY_NANOS: i64 = DAY_SECONDS * 1_000_000_000;

fn keep(slot: &mut Option<i64>, value: i64, least: i64, most: i64) -> Option<()> {
    if value < least || value > most || slot.is_some_and(|before| before != value) {
        return None;
    }
    *slot = Some(value);
    Some(())
}

fn week_day(year: i64, week: i64, weekday: i64) -> Result<i64, String> {
    let day = calendar::iso_year_start(year) + (week - 1) * 7 + weekday - 1;
    if calendar::iso_week(day).0 != year {
        return Err(format!("Invalid value for WeekOfWeekBasedYear: {week} in {year}"));
    }
    Ok(day)
}
