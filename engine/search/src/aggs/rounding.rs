//! Moments rounded down to the beginning of their bucket: on the calendar of a zone, or by a fixed
//! length.

use mapping::types::calendar::{DAY_SECONDS, date_of, day_of, weekday};
use mapping::types::zone::Zone;

use super::spec::{Interval, Unit};

/// One step of `auto_date_histogram`: a unit, and how many of it a bucket may span.
#[derive(Debug)]
pub struct Step {
    /// Its name.
    pub name: &'static str,
    /// The letter behind a count of it.
    pub letter: &'static str,
    /// The unit.
    pub unit: Unit,
    /// Counts of it.
    pub inner: &'static [u32],
    /// Milliseconds, about.
    pub ms: i64,
}

/// The steps of `auto_date_histogram`.
pub const AUTO: [Step; 6] = [
    Step { name: "second", letter: "s", unit: Unit::Second, inner: &[1, 5, 10, 30], ms: 1_000 },
    Step { name: "minute", letter: "m", unit: Unit::Minute, inner: &[1, 5, 10, 30], ms: 60_000 },
    Step { name: "hour", letter: "h", unit: Unit::Hour, inner: &[1, 3, 12], ms: 3_600_000 },
    Step { name: "day", letter: "d", unit: Unit::Day, inner: &[1, 7], ms: 86_400_000 },
    Step { name: "month", letter: "M", unit: Unit::Month, inner: &[1, 3], ms: 2_629_746_000 },
    Step {
        name: "year",
        letter: "y",
        unit: Unit::Year,
        inner: &[1, 5, 10, 20, 50, 100],
        ms: 31_556_952_000,
    },
];

/// How moments become the beginnings of buckets.
#[derive(Clone, Debug, PartialEq)]
pub struct Rounding {
    /// Length of a bucket.
    pub interval: Interval,
    /// Whose clock.
    pub zone: Zone,
    /// Moves the beginnings.
    pub offset_ms: i64,
}

impl Rounding {
    /// The beginning of the bucket that `ms` lies in.
    pub fn round(&self, ms: i64) -> i64 {
        let moved = ms.saturating_sub(self.offset_ms);
        let zone_ms = self.zone.offset_ms(moved);
        let local = moved.saturating_add(zone_ms);
        let floor = floor(self.interval, local);
        let start = self.utc(floor, zone_ms);
        // Where the clock was set back, the later of two equal times may lie after the moment.
        let start = if start > moved { floor.saturating_sub(zone_ms) } else { start };
        start.saturating_add(self.offset_ms)
    }

    /// The length of every bucket, in milliseconds; `None` where a calendar or the clocks of a place
    /// make them differ.
    fn width(&self) -> Option<i64> {
        if !matches!(self.zone, Zone::Offset(_)) {
            return None;
        }
        match self.interval {
            Interval::Fixed(ms) => Some(ms),
            Interval::Calendar(Unit::Second) => Some(1_000),
            Interval::Calendar(Unit::Minute) => Some(60_000),
            Interval::Calendar(Unit::Hour) => Some(3_600_000),
            Interval::Calendar(Unit::Day) => Some(DAY_SECONDS * 1000),
            Interval::Calendar(Unit::Week) => Some(7 * DAY_SECONDS * 1000),
            Interval::Calendar(_) => None,
        }
    }

    /// No bucket is longer, in milliseconds: a year of a leap day, and a day for what clocks are set by.
    pub fn width_max(&self) -> i64 {
        match self.interval {
            Interval::Fixed(ms) => ms.saturating_add(DAY_SECONDS * 1000),
            Interval::Calendar(_) => 367 * DAY_SECONDS * 1000,
        }
    }

    /// The beginning of the bucket after the one that begins at `start`.
    pub fn next(&self, start: i64) -> i64 {
        let clock = match self.interval {
            Interval::Fixed(ms) => Some(ms),
            Interval::Calendar(Unit::Second) => Some(1_000),
            Interval::Calendar(Unit::Minute) => Some(60_000),
            Interval::Calendar(Unit::Hour) => Some(3_600_000),
            Interval::Calendar(_) => None,
        };
        if let Some(ms) = clock {
            // What a clock counts goes on where it is set back; days of a fixed length do not.
            let next = self.round(start.saturating_add(ms));
            if next > start {
                return next;
            }
        }
        let moved = start.saturating_sub(self.offset_ms);
        let zone_ms = self.zone.offset_ms(moved);
        let local = moved.saturating_add(zone_ms);
        let next = next(self.interval, local);
        let mut found = self.utc(next, zone_ms).saturating_add(self.offset_ms);
        if found <= start {
            // An hour that the clock shows twice.
            found = start.saturating_add(next - local);
        }
        found
    }

    /// The moment at which the clock shows `local`.
    fn utc(&self, local: i64, zone_ms: i64) -> i64 {
        if let Zone::Offset(seconds) = &self.zone {
            return local.saturating_sub(i64::from(*seconds) * 1000);
        }
        let (second, ms) = (local.div_euclid(1000), local.rem_euclid(1000));
        let preferred = Some((zone_ms / 1000) as i32);
        self.zone.moment_of(second, preferred).saturating_mul(1000).saturating_add(ms)
    }
}

fn floor(interval: Interval, local: i64) -> i64 {
    const DAY: i64 = DAY_SECONDS * 1000;
    let by = |width: i64| local.div_euclid(width).saturating_mul(width);
    match interval {
        Interval::Fixed(ms) => by(ms),
        Interval::Calendar(unit) => match unit {
            Unit::Second => by(1_000),
            Unit::Minute => by(60_000),
            Unit::Hour => by(3_600_000),
            Unit::Day => by(DAY),
            Unit::Week => {
                let day = local.div_euclid(DAY);
                (day + 1 - i64::from(weekday(day))) * DAY
            }
            Unit::Month | Unit::Quarter | Unit::Year => {
                let (year, month, _) = date_of(local.div_euclid(DAY));
                let month = match unit {
                    Unit::Month => month,
                    Unit::Quarter => (month - 1) / 3 * 3 + 1,
                    _ => 1,
                };
                day_of(year, month, 1) * DAY
            }
        },
    }
}

fn next(interval: Interval, local: i64) -> i64 {
    const DAY: i64 = DAY_SECONDS * 1000;
    let months = |count: u32| {
        let (year, month, day) = date_of(local.div_euclid(DAY));
        let months = year * 12 + i64::from(month - 1) + i64::from(count);
        let day = day_of(months.div_euclid(12), months.rem_euclid(12) as u32 + 1, day.min(28));
        day * DAY + local.rem_euclid(DAY)
    };
    match interval {
        Interval::Fixed(ms) => local.saturating_add(ms),
        Interval::Calendar(unit) => match unit {
            Unit::Second => local.saturating_add(1_000),
            Unit::Minute => local.saturating_add(60_000),
            Unit::Hour => local.saturating_add(3_600_000),
            Unit::Day => local.saturating_add(DAY),
            Unit::Week => local.saturating_add(7 * DAY),
            Unit::Month => months(1),
            Unit::Quarter => months(3),
            Unit::Year => months(12),
        },
    }
}

/// Buckets of one length between two moments, numbered from 0.
#[derive(Clone, Debug)]
pub struct Beat {
    /// How many there are.
    pub span: usize,
    first: i64,
    width: i64,
    /// `1 / width`: a multiplication and a look beside it cost less than a division.
    inverse: f64,
}

/// Buckets of a [`Beat`] at most.
const BEAT_MAX: i64 = 1 << 16;

/// Moments from here on have no exact double.
const EXACT_MAX: u64 = 1 << 52;

impl Beat {
    /// The number of the bucket that `ms` lies in.
    #[inline]
    pub fn place(&self, ms: i64) -> i64 {
        let behind = ms.wrapping_sub(self.first);
        let place = (behind as f64 * self.inverse) as i64;
        let within = behind.wrapping_sub(place.wrapping_mul(self.width));
        place - i64::from(within < 0) + i64::from(within >= self.width)
    }

    /// The beginning of a bucket.
    #[inline]
    pub fn start(&self, place: i64) -> i64 {
        self.first.saturating_add(place.saturating_mul(self.width))
    }
}

/// Rounds many moments: remembers the bucket of the last.
#[derive(Clone, Debug)]
pub struct Rounder {
    rounding: Rounding,
    /// The length of all buckets, where they have one.
    width: Option<i64>,
    start: i64,
    end: i64,
}

impl Rounder {
    /// Nothing remembered yet.
    pub fn new(rounding: Rounding) -> Self {
        Self { width: rounding.width(), rounding, start: 0, end: 0 }
    }

    /// The buckets between two moments; `None` where they differ in length or are too many.
    pub fn beat(&self, low: i64, high: i64) -> Option<Beat> {
        let width = self.width?;
        if low.unsigned_abs().max(high.unsigned_abs()) > EXACT_MAX {
            return None;
        }
        let first = self.rounding.round(low);
        let span = (high.checked_sub(first)? / width).checked_add(1)?;
        (1..=BEAT_MAX).contains(&span).then(|| Beat {
            span: span as usize,
            first,
            width,
            inverse: 1.0 / width as f64,
        })
    }

    /// The beginning of the bucket that `ms` lies in.
    #[inline]
    pub fn round(&mut self, ms: i64) -> i64 {
        if self.start <= ms && ms < self.end {
            return self.start;
        }
        self.start = self.rounding.round(ms);
        self.end = match self.width {
            Some(width) => self.start.saturating_add(width),
            None => self.rounding.next(self.start),
        };
        if ms >= self.end {
            // Beside a change of the clock: nothing to remember.
            self.end = self.start;
        }
        self.start
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rounding(interval: Interval, zone: &str) -> Rounding {
        Rounding { interval, zone: Zone::parse(zone).expect("a zone"), offset_ms: 0 }
    }

    #[test]
    fn a_beat_finds_the_buckets_that_rounding_finds() {
        let intervals = [
            Interval::Fixed(1),
            Interval::Fixed(7_001),
            Interval::Calendar(Unit::Minute),
            Interval::Calendar(Unit::Day),
            Interval::Calendar(Unit::Week),
        ];
        let mut seed = 88_172_645_463_325_252_u64;
        let mut draw = |below: i64| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            (seed % below as u64) as i64
        };
        for interval in intervals {
            for (zone, offset_ms) in [("UTC", 0), ("+05:45", -3_600_000), ("-11:00", 17)] {
                let rounding = Rounding { offset_ms, ..rounding(interval, zone) };
                let mut rounder = Rounder::new(rounding.clone());
                let width = rounding.width().expect("one length");
                for low in [-1_i64, 0, 1_710_000_000_000, -4_000_000_000_123] {
                    let high = low + draw(width * 60_000);
                    let beat = rounder.beat(low, high).expect("not too many");
                    for at in 0..500 {
                        let edge = beat.start(at % beat.span as i64);
                        let moments = [low + draw(high - low + 1), edge, edge - 1, low, high];
                        for ms in moments.into_iter().filter(|ms| (low..=high).contains(ms)) {
                            assert_eq!(beat.start(beat.place(ms)), rounding.round(ms));
                            assert_eq!(rounder.round(ms), rounding.round(ms));
                            assert!((0..beat.span as i64).contains(&beat.place(ms)));
                        }
                    }
                }
            }
        }
        let months = Rounder::new(rounding(Interval::Calendar(Unit::Month), "UTC"));
        assert!(months.beat(0, 1 << 40).is_none(), "months differ");
        let there = Rounder::new(rounding(Interval::Calendar(Unit::Day), "Europe/Paris"));
        assert!(there.beat(0, 1 << 40).is_none(), "days differ");
        let ms = Rounder::new(rounding(Interval::Fixed(1), "UTC"));
        assert!(ms.beat(0, BEAT_MAX).is_none(), "too many");
        assert!(ms.beat(i64::MIN, i64::MAX).is_none(), "no exact doubles");
    }

    #[test]
    fn days_of_new_york_have_23_to_25_hours() {
        let days = rounding(Interval::Calendar(Unit::Day), "America/New_York");
        // 2024-03-09, a day before the clock is set forward.
        let first = days.round(1_710_000_000_000);
        assert_eq!(first, 1_709_960_400_000);
        assert_eq!(days.next(first), 1_710_046_800_000);
        assert_eq!(days.next(1_710_046_800_000), 1_710_129_600_000, "23 hours");
    }

    #[test]
    fn units_of_the_calendar_begin_where_they_should() {
        // 2024-06-15T14:30:45.123Z, a Saturday.
        let at = 1_718_461_845_123;
        for (unit, want) in [
            (Unit::Second, 1_718_461_845_000),
            (Unit::Minute, 1_718_461_800_000),
            (Unit::Hour, 1_718_460_000_000),
            (Unit::Day, 1_718_409_600_000),
            (Unit::Week, 1_717_977_600_000),
            (Unit::Month, 1_717_200_000_000),
            (Unit::Quarter, 1_711_929_600_000),
            (Unit::Year, 1_704_067_200_000),
        ] {
            assert_eq!(rounding(Interval::Calendar(unit), "UTC").round(at), want, "{unit:?}");
        }
    }

    #[test]
    fn buckets_follow_one_another_without_gap_in_any_zone() {
        let units = [
            Interval::Calendar(Unit::Hour),
            Interval::Calendar(Unit::Day),
            Interval::Calendar(Unit::Week),
            Interval::Calendar(Unit::Month),
            Interval::Calendar(Unit::Quarter),
            Interval::Calendar(Unit::Year),
            Interval::Fixed(86_400_000),
            Interval::Fixed(5_400_000),
        ];
        for zone in ["UTC", "America/New_York", "+05:30", "Australia/Lord_Howe"] {
            for interval in units {
                let rounding = rounding(interval, zone);
                let mut rounder = Rounder::new(rounding.clone());
                let mut at = 1_696_000_000_000;
                while at < 1_713_000_000_000 {
                    let start = rounding.round(at);
                    assert_eq!(rounder.round(at), start);
                    assert!(start <= at, "{zone} {interval:?} {at}");
                    assert_eq!(rounding.round(start), start, "{zone} {interval:?} {at}");
                    assert!(rounding.next(start) > start);
                    at += 1_234_567 * 5;
                }
            }
        }
    }

    #[test]
    fn offsets_move_beginnings() {
        let mut days = rounding(Interval::Calendar(Unit::Day), "UTC");
        days.offset_ms = 6 * 3_600_000;
        let six = 1_718_409_600_000 + 6 * 3_600_000;
        assert_eq!(days.round(six), six);
        assert_eq!(days.round(six - 1), six - 86_400_000);
        assert_eq!(days.next(six), six + 86_400_000);
    }

    /// Days since 1970 of the beginning of the bucket that a day lies in, by walking the calendar.
    fn walked(unit: Unit, day: i64) -> i64 {
        let is_leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let len = |year: i64, month: usize| match month {
            1 => 28 + i64::from(is_leap(year)),
            3 | 5 | 8 | 10 => 30,
            _ => 31,
        };
        // 1970 began on a Thursday.
        if unit == Unit::Week {
            return day - (day + 3).rem_euclid(7);
        }
        let (mut year, mut first) = (1970, 0);
        let of_year = |year: i64| 365 + i64::from(is_leap(year));
        while first > day {
            year -= 1;
            first -= of_year(year);
        }
        while first + of_year(year) <= day {
            first += of_year(year);
            year += 1;
        }
        let mut begins = vec![first];
        (0..11).for_each(|month| begins.push(begins[month] + len(year, month)));
        let month = begins.iter().rposition(|begin| *begin <= day).expect("the first does");
        match unit {
            Unit::Month => begins[month],
            Unit::Quarter => begins[month / 3 * 3],
            Unit::Year => first,
            _ => day,
        }
    }

    const ALL_UNITS: [Unit; 5] = [Unit::Day, Unit::Week, Unit::Month, Unit::Quarter, Unit::Year];

    proptest! {
        #[test]
        fn buckets_begin_where_walking_the_calendar_ends(
            ms in -3_000_000_000_000i64..6_000_000_000_000,
            unit in prop::sample::select(ALL_UNITS.to_vec()),
            minutes in -12 * 60..=14 * 60i64,
            offset_ms in -40_000_000i64..40_000_000,
        ) {
            let zone = Zone::Offset(minutes as i32 * 60);
            let rounding = Rounding { interval: Interval::Calendar(unit), zone, offset_ms };
            let moved = minutes * 60_000 - offset_ms;
            let day = (ms + moved).div_euclid(86_400_000);
            let start = walked(unit, day) * 86_400_000 - moved;
            prop_assert_eq!(rounding.round(ms), start);
            let after = rounding.next(start);
            prop_assert!(start <= ms && ms < after);
            prop_assert_eq!(rounding.round(after), after);
            prop_assert_eq!(rounding.round(after - 1), start, "no gap");
        }

        #[test]
        fn fixed_lengths_and_places_round_down_and_stay(
            ms in 0i64..2_100_000_000_000,
            length in 1i64..1_000_000_000,
            unit in prop::sample::select(ALL_UNITS.to_vec()),
            zone in prop::sample::select(vec!["UTC", "America/New_York", "Europe/Paris", "+05:45"]),
        ) {
            for interval in [Interval::Fixed(length), Interval::Calendar(unit)] {
                let rounding = rounding(interval, zone);
                let start = rounding.round(ms);
                prop_assert!(start <= ms);
                prop_assert_eq!(rounding.round(start), start);
                prop_assert!(rounding.next(start) > start);
                if zone == "UTC" && interval == Interval::Fixed(length) {
                    prop_assert_eq!(start, ms / length * length);
                }
            }
        }
    }
}
