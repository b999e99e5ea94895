//! Days and dates of the proleptic Gregorian calendar. Day 0 is 1970-01-01.
//!
//! The arithmetic is Howard Hinnant's ("chrono-compatible low-level date algorithms"): years begin in
//! March, so that the day that comes and goes is the last, and run in eras of 400.

/// Number of a day.
pub const fn day_of(year: i64, month: u32, day: u32) -> i64 {
    // The year begins in March, so that the day that comes and goes is its last.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month as i64 + 9) % 12) + 2) / 5 + day as i64 - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// Year, month and day of a day's number.
pub const fn date_of(day: i64) -> (i64, u32, u32) {
    let day = day + 719_468;
    let era = day.div_euclid(146_097);
    let day_of_era = day.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = (day_of_year - (153 * month_from_march + 2) / 5 + 1) as u32;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + if month <= 2 { 1 } else { 0 };
    (year, month as u32, day)
}

/// A moment in milliseconds since 1970 as `2026-11-20T09:08:07.006Z`.
pub fn iso(unix_ms: i64) -> String {
    let (days, ms) = (unix_ms.div_euclid(86_400_000), unix_ms.rem_euclid(86_400_000));
    let (year, month, day) = date_of(days);
    let (seconds, ms) = (ms / 1_000, ms % 1_000);
    let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_in_full() {
        for (unix_ms, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_795_165_687_006, "2026-11-20T09:08:07.006Z"),
        ] {
            assert_eq!(iso(unix_ms), text);
        }
    }

    #[test]
    fn days_and_dates_name_each_other() {
        for (day, date) in [
            (0, (1970, 1, 1)),
            (59, (1970, 3, 1)),
            (11_016, (2000, 2, 29)),
            (20_777, (2026, 11, 20)),
            (-1, (1969, 12, 31)),
        ] {
            assert_eq!(date_of(day), date);
        }
        for day in (-800_000..800_000).step_by(7) {
            let (year, month, of_month) = date_of(day);
            assert_eq!(day_of(year, month, of_month), day);
        }
    }
}
