//! The calendar, by its definition: days since 1970, months, weeks, and one zone's summer time.

use super::{Read, skip};

/// A day in milliseconds.
pub const DAY: i64 = 86_400_000;

/// Days since 1970-01-01 of a date (Howard Hinnant's formula).
pub fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year - era * 400;
    let of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The date of a day since 1970-01-01.
pub fn date(days: i64) -> (i64, i64, i64) {
    let mut year = 1970 + days.div_euclid(366);
    while self::days(year + 1, 1, 1) <= days {
        year += 1;
    }
    let mut month = 1;
    while month < 12 && self::days(year, month + 1, 1) <= days {
        month += 1;
    }
    (year, month, days - self::days(year, month, 1) + 1)
}

fn days_of_month(year: i64, month: i64) -> i64 {
    let (next_year, next) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    days(next_year, next, 1) - days(year, month, 1)
}

/// What a zone adds to UTC at a moment; knows UTC, `+hh:mm` and Berlin since 1996.
pub fn offset(zone: &str, utc_ms: i64) -> Read<i64> {
    if zone.is_empty() || zone == "UTC" || zone == "Z" {
        return Ok(0);
    }
    if let Some(rest) = zone.strip_prefix(['+', '-']) {
        let (hours, minutes) = rest.split_once(':').unwrap_or((rest, "0"));
        let (Ok(hours), Ok(minutes)) = (hours.parse::<i64>(), minutes.parse::<i64>()) else {
            return skip(format!("an unknown zone [{zone}]"));
        };
        let ms = (hours * 60 + minutes) * 60_000;
        return Ok(if zone.starts_with('-') { -ms } else { ms });
    }
    if zone != "Europe/Berlin" {
        return skip(format!("an unknown zone [{zone}]"));
    }
    let (year, _, _) = date(utc_ms.div_euclid(DAY));
    let last_sunday = |month| {
        let last = days(year, month, 31);
        // 1970-01-01 was a Thursday.
        (last - (last + 4).rem_euclid(7)) * DAY + 3_600_000
    };
    let summer = last_sunday(3) <= utc_ms && utc_ms < last_sunday(10);
    Ok(if summer { 7_200_000 } else { 3_600_000 })
}

/// The moment that a zone's clock calls `local`: the earlier of two, the end of a gap.
pub fn to_utc(zone: &str, local_ms: i64) -> Read<i64> {
    let early = local_ms - offset(zone, local_ms - DAY)?;
    let late = local_ms - offset(zone, local_ms + DAY)?;
    for moment in [early.min(late), early.max(late)] {
        if moment + offset(zone, moment)? == local_ms {
            return Ok(moment);
        }
    }
    // In a gap: the moment at which it is jumped.
    Ok(local_ms - offset(zone, local_ms - DAY)?)
}

/// The begin of the unit that holds a moment of a zone's clock.
pub fn floor_local(unit: &str, local: i64) -> Read<i64> {
    let day = local.div_euclid(DAY);
    let (year, month, _) = date(day);
    Ok(match unit {
        "second" | "1s" | "s" => local.div_euclid(1_000) * 1_000,
        "minute" | "1m" | "m" => local.div_euclid(60_000) * 60_000,
        "hour" | "1h" | "h" => local.div_euclid(3_600_000) * 3_600_000,
        "day" | "1d" | "d" => day * DAY,
        "week" | "1w" | "w" => (day - (day + 3).rem_euclid(7)) * DAY,
        "month" | "1M" | "M" => days(year, month, 1) * DAY,
        "quarter" | "1q" => days(year, (month - 1) / 3 * 3 + 1, 1) * DAY,
        "year" | "1y" | "y" => days(year, 1, 1) * DAY,
        other => return skip(format!("an unknown unit [{other}]")),
    })
}

/// The begin of the unit that holds a moment.
pub fn floor(unit: &str, zone: &str, utc_ms: i64) -> Read<i64> {
    let local = utc_ms + offset(zone, utc_ms)?;
    if matches!(unit, "hour" | "1h" | "h" | "minute" | "1m" | "m" | "second" | "1s" | "s") {
        // Short units follow the clock's offset at that moment.
        return Ok(floor_local(unit, local)? - offset(zone, utc_ms)?);
    }
    to_utc(zone, floor_local(unit, local)?)
}

/// A moment `count` units later, by the calendar.
pub fn add(unit: &str, ms: i64, count: i64) -> Read<i64> {
    let (day, rest) = (ms.div_euclid(DAY), ms.rem_euclid(DAY));
    let months = |count: i64| {
        let (year, month, day) = date(day);
        let whole = year * 12 + month - 1 + count;
        let (year, month) = (whole.div_euclid(12), whole.rem_euclid(12) + 1);
        days(year, month, day.min(days_of_month(year, month))) * DAY + rest
    };
    Ok(match unit {
        "second" | "1s" | "s" => ms + count * 1_000,
        "minute" | "1m" | "m" => ms + count * 60_000,
        "hour" | "1h" | "h" | "H" => ms + count * 3_600_000,
        "day" | "1d" | "d" => ms + count * DAY,
        "week" | "1w" | "w" => ms + count * 7 * DAY,
        "month" | "1M" | "M" => months(count),
        "quarter" | "1q" => months(count * 3),
        "year" | "1y" | "y" => months(count * 12),
        other => return skip(format!("an unknown unit [{other}]")),
    })
}

/// `2024-01-31T10:00:00.000Z`, in a zone `…+01:00`.
pub fn show(zone: &str, utc_ms: i64) -> Read<String> {
    let offset = offset(zone, utc_ms)?;
    let local = utc_ms + offset;
    let ((year, month, day), rest) = (date(local.div_euclid(DAY)), local.rem_euclid(DAY));
    let (hour, minute) = (rest / 3_600_000, rest / 60_000 % 60);
    let (second, ms) = (rest / 1_000 % 60, rest % 1_000);
    let tail = match offset / 60_000 {
        0 => "Z".to_owned(),
        minutes => {
            let sign = if minutes < 0 { '-' } else { '+' };
            format!("{sign}{:02}:{:02}", minutes.abs() / 60, minutes.abs() % 60)
        }
    };
    Ok(format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}{tail}"))
}

/// The first moment that a text means, and the last: `2024-01-31` is a whole day. In milliseconds.
/// Date math (`||+1M/d`) too, a zone of the request for texts without one.
pub fn parse(text: &str, zone: &str) -> Read<(i64, i64)> {
    let (base, math) = text.split_once("||").unwrap_or((text, ""));
    let (mut first, mut last) = parse_plain(base, zone)?;
    if math.is_empty() {
        return Ok((first, last));
    }
    // Math begins at the first moment, and only rounding makes a span again.
    last = first;
    let mut rest = math;
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('/') {
            let (unit, after) = after.split_at(1);
            first = floor(unit, zone, first)?;
            let local = first + offset(zone, first)?;
            last = to_utc(zone, add(unit, local, 1)?)? - 1;
            rest = after;
            if !rest.is_empty() {
                return skip("date math after rounding");
            }
            continue;
        }
        let sign = if rest.starts_with('-') { -1 } else { 1 };
        let digits = rest[1..].find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
        let count: i64 = if digits == 0 { 1 } else { rest[1..=digits].parse().unwrap_or(1) };
        let unit = &rest[1 + digits..2 + digits];
        let local = first + offset(zone, first)?;
        first = to_utc(zone, add(unit, local, sign * count)?)?;
        last = first;
        rest = &rest[2 + digits..];
    }
    Ok((first, last))
}

fn parse_plain(text: &str, zone: &str) -> Read<(i64, i64)> {
    if text.len() > 4 && text.bytes().all(|byte| byte.is_ascii_digit()) {
        let ms = text.parse().map_err(|_| super::Skip(format!("a date [{text}]")))?;
        return Ok((ms, ms));
    }
    let (day, clock) = text.split_once('T').unwrap_or((text, ""));
    let numbers = |text: &str, mark: char| -> Read<Vec<i64>> {
        let parts = text.split(mark).filter(|part| !part.is_empty()).map(str::parse);
        parts.collect::<Result<_, _>>().map_err(|_| super::Skip(format!("a date [{text}]")))
    };
    let (clock, own) = match clock.find(['Z', '+', '-']) {
        Some(at) => (&clock[..at], Some(&clock[at..])),
        None => (clock, None),
    };
    let zone = own.unwrap_or(zone);
    let parts = numbers(day, '-')?;
    let at = |at: usize| parts.get(at).copied();
    let Some(year) = at(0) else { return skip(format!("a date [{text}]")) };
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, ""));
    let clock = numbers(clock, ':')?;
    let mut local = days(year, at(1).unwrap_or(1), at(2).unwrap_or(1)) * DAY;
    for (number, unit) in clock.iter().zip([3_600_000, 60_000, 1_000]) {
        local += number * unit;
    }
    let fraction: i64 = format!("{fraction:0<3}")[..3].parse().unwrap_or(0);
    local += fraction;
    let unit = match (parts.len(), clock.len()) {
        // A month or a day that is not said is the first.
        (_, 0) => "d",
        (_, 1) => "h",
        (_, 2) => "m",
        _ => "s",
    };
    let first = to_utc(zone, local)?;
    let exact = clock.len() == 3 && text.contains('.');
    let last = if exact { first } else { to_utc(zone, add(unit, local, 1)? - 1)? };
    Ok((first, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(days(1970, 1, 1), 0);
        assert_eq!(days(2000, 2, 29), 11_016);
        assert_eq!(date(11_017), (2000, 3, 1));
        assert_eq!(parse("2024-02", "").unwrap(), (1_706_745_600_000, 1_706_831_999_999));
        assert_eq!(show("", 1_709_251_199_999).unwrap(), "2024-02-29T23:59:59.999Z");
        let berlin = parse("2024-07-01T00:00:00.000", "Europe/Berlin").unwrap().0;
        assert_eq!(show("Europe/Berlin", berlin).unwrap(), "2024-07-01T00:00:00.000+02:00");
        assert_eq!(show("", berlin).unwrap(), "2024-06-30T22:00:00.000Z");
        assert_eq!(
            show("", parse("2024-01-31||+1M/d", "").unwrap().1).unwrap(),
            "2024-02-29T23:59:59.999Z"
        );
    }
}
