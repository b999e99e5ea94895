//! Days and dates of the proleptic Gregorian calendar; a moment in time.
//!
//! Day 0 is 1970-01-01. Years may be any that `java.time` allows.

pub use base::calendar::{date_of, day_of};

/// The years that `java.time.Year` allows: ± this.
pub const YEAR_MAX: i64 = 999_999_999;

/// Seconds of a day.
pub const DAY_SECONDS: i64 = 86_400;

/// A moment: seconds since 1970, and nanoseconds of that second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment {
    /// Seconds since 1970-01-01T00:00:00Z.
    pub seconds: i64,
    /// `0 <= nanos < 1_000_000_000`.
    pub nanos: u32,
}

impl Moment {
    /// From milliseconds since 1970.
    pub const fn from_ms(ms: i64) -> Self {
        Self { seconds: ms.div_euclid(1000), nanos: ms.rem_euclid(1000) as u32 * 1_000_000 }
    }

    /// Nanoseconds since 1970; `None` beyond 64 bits.
    pub const fn to_nanos(self) -> Option<i64> {
        match self.seconds.checked_mul(1_000_000_000) {
            Some(nanos) => nanos.checked_add(self.nanos as i64),
            None => None,
        }
    }

    /// Milliseconds since 1970, cut; `None` beyond 64 bits.
    pub const fn to_ms(self) -> Option<i64> {
        match self.seconds.checked_mul(1000) {
            Some(ms) => ms.checked_add((self.nanos / 1_000_000) as i64),
            // The first second that begins below the range may end inside it.
            None if self.seconds < 0 => match (self.seconds + 1).checked_mul(1000) {
                Some(ms) => ms.checked_sub(1000 - (self.nanos / 1_000_000) as i64),
                None => None,
            },
            None => None,
        }
    }
}

/// Has the year a 29th of February?
pub const fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// Days of a month.
pub const fn days_in_month(year: i64, month: u32) -> u32 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Day of the week, Monday is 1.
pub const fn weekday(day: i64) -> u32 {
    (day + 3).rem_euclid(7) as u32 + 1
}

/// Day of the year, January 1st is 1.
pub const fn day_of_year(day: i64) -> u32 {
    let (year, _, _) = date_of(day);
    (day - day_of(year, 1, 1) + 1) as u32
}

/// ISO year and week of a day: the week belongs to the year that has its Thursday.
pub const fn iso_week(day: i64) -> (i64, u32) {
    let thursday = day + 4 - weekday(day) as i64;
    let (year, _, _) = date_of(thursday);
    (year, (thursday - day_of(year, 1, 1)) as u32 / 7 + 1)
}

/// The Monday on which an ISO year begins.
pub const fn iso_year_start(year: i64) -> i64 {
    let fourth = day_of(year, 1, 4);
    fourth - weekday(fourth) as i64 + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn days_are_counted_as_by_walking() {
        // The plainest calendar: one day after the other, from 1599 to 2401.
        let (mut year, mut month, mut day) = (1599, 1, 1);
        let mut number = day_of(year, month, day);
        while year < 2402 {
            assert_eq!(day_of(year, month, day), number);
            assert_eq!(date_of(number), (year, month, day));
            number += 1;
            day += 1;
            if day > days_in_month(year, month) {
                (month, day) = (month + 1, 1);
            }
            if month > 12 {
                (year, month) = (year + 1, 1);
            }
        }
        assert_eq!(day_of(1970, 1, 1), 0);
        assert_eq!(weekday(0), 4, "a Thursday");
    }

    #[test]
    fn weeks_belong_to_the_year_of_their_thursday() {
        assert_eq!(iso_week(day_of(2021, 1, 3)), (2020, 53));
        assert_eq!(iso_week(day_of(2021, 1, 4)), (2021, 1));
        assert_eq!(iso_week(day_of(2018, 12, 31)), (2019, 1));
        assert_eq!(iso_year_start(2021), day_of(2021, 1, 4));
        assert_eq!(day_of_year(day_of(2020, 12, 31)), 366);
    }

    proptest! {
        #[test]
        fn dates_turn_back(day in -365_000_000_000i64..365_000_000_000) {
            let (year, month, of_month) = date_of(day);
            prop_assert_eq!(day_of(year, month, of_month), day);
            prop_assert!(of_month >= 1 && of_month <= days_in_month(year, month));
        }

        #[test]
        fn milliseconds_turn_back(ms: i64) {
            prop_assert_eq!(Moment::from_ms(ms).to_ms(), Some(ms));
        }
    }
}
