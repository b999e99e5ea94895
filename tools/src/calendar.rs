//! Dates of the calendar, for certificates and the version: UTC, our time only.

use std::time::Duration;

const DAY: Duration = Duration::from_secs(86_400);

/// Year, month and day of a time since 1970.
pub fn date(unix: Duration) -> (i32, u8, u8) {
    let days = i64::try_from(unix.as_secs() / DAY.as_secs()).expect("a date");
    let (year, month, day) = base::calendar::date_of(days);
    let narrow = "a date of our time";
    (
        i32::try_from(year).expect(narrow),
        u8::try_from(month).expect(narrow),
        u8::try_from(day).expect(narrow),
    )
}

/// A time since 1970 in whole seconds, as Elasticsearch writes it: `2026-11-20T10:00:00.000Z`.
pub fn iso(unix: Duration) -> String {
    base::calendar::iso(i64::try_from(unix.as_secs() * 1_000).expect("a date"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        let at = |days: u64| date(Duration::from_secs(days * 86_400 + 5));
        assert_eq!(at(0), (1970, 1, 1));
        assert_eq!(at(59), (1970, 3, 1));
        assert_eq!(at(11_016), (2000, 2, 29));
        assert_eq!(at(20_777), (2026, 11, 20));
    }

    #[test]
    fn times_are_written_in_full() {
        assert_eq!(iso(Duration::from_secs(951_782_400 + 3_723)), "2000-02-29T01:02:03.000Z");
    }
}
