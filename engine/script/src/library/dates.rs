//! Methods of dates, their static functions and constants.

use jiff::civil::{self, Weekday};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, Unit, Zoned};

use super::{Done, int, text};
use crate::arith;
use crate::date::{DAYS, Date, MONTHS, UNITS, failed};
use crate::error::Fault;
use crate::heap::{Heap, Object, Ref, Value};

/// Stands for "a constant" where a function has its arguments' number.
const CONSTANT: u8 = u8::MAX;

/// Static functions: class, name, arguments.
const FUNCTIONS: &[(&str, &str, u8)] = &[
    ("ZonedDateTime", "parse", 1),
    ("OffsetDateTime", "parse", 1),
    ("Instant", "parse", 1),
    ("LocalDateTime", "parse", 1),
    ("LocalDate", "parse", 1),
    ("LocalTime", "parse", 1),
    ("Duration", "parse", 1),
    ("Instant", "ofEpochMilli", 1),
    ("Instant", "ofEpochSecond", 1),
    ("ZonedDateTime", "ofInstant", 2),
    ("LocalDateTime", "ofInstant", 2),
    ("ZonedDateTime", "of", 8),
    ("ZonedDateTime", "of", 2),
    ("LocalDateTime", "of", 5),
    ("LocalDateTime", "of", 6),
    ("LocalDate", "of", 3),
    ("LocalDate", "ofEpochDay", 1),
    ("LocalTime", "of", 2),
    ("LocalTime", "of", 3),
    ("ZoneId", "of", 1),
    ("ZoneOffset", "of", 1),
    ("ZoneOffset", "ofHours", 1),
    ("Duration", "between", 2),
    ("Duration", "ofMillis", 1),
    ("Duration", "ofSeconds", 1),
    ("Duration", "ofMinutes", 1),
    ("Duration", "ofHours", 1),
    ("Duration", "ofDays", 1),
    ("DateTimeFormatter", "ofPattern", 1),
    ("DateTimeFormatter", "ofPattern", 2),
    ("ZoneOffset", "UTC", CONSTANT),
    ("Instant", "EPOCH", CONSTANT),
    ("Duration", "ZERO", CONSTANT),
    ("DateTimeFormatter", "ISO_DATE_TIME", CONSTANT),
    ("DateTimeFormatter", "ISO_ZONED_DATE_TIME", CONSTANT),
    ("DateTimeFormatter", "ISO_OFFSET_DATE_TIME", CONSTANT),
    ("DateTimeFormatter", "ISO_INSTANT", CONSTANT),
    ("DateTimeFormatter", "ISO_LOCAL_DATE_TIME", CONSTANT),
    ("DateTimeFormatter", "ISO_LOCAL_DATE", CONSTANT),
    ("DateTimeFormatter", "ISO_DATE", CONSTANT),
    ("DateTimeFormatter", "ISO_LOCAL_TIME", CONSTANT),
    ("TextStyle", "FULL", CONSTANT),
    ("TextStyle", "SHORT", CONSTANT),
    ("TextStyle", "NARROW", CONSTANT),
];

/// Constants by number: days, months, units.
const fn constants() -> usize {
    DAYS.len() + MONTHS.len() + UNITS.len()
}

/// Functions and constants.
pub(super) const fn len() -> usize {
    FUNCTIONS.len() + constants()
}

/// The place of a function or constant.
pub(super) fn find(class: &str, name: &str, arity: u8) -> Option<usize> {
    if let Some(at) = FUNCTIONS.iter().position(|entry| *entry == (class, name, arity)) {
        return Some(at);
    }
    if arity != CONSTANT {
        return None;
    }
    let place = match class {
        "DayOfWeek" => DAYS.iter().position(|day| *day == name)?,
        "Month" => DAYS.len() + MONTHS.iter().position(|month| *month == name)?,
        "ChronoUnit" => DAYS.len() + MONTHS.len() + UNITS.iter().position(|unit| unit.0 == name)?,
        _ => return None,
    };
    Some(FUNCTIONS.len() + place)
}

fn day_of_week(number: usize) -> Date {
    Date::Constant("java.time.DayOfWeek", DAYS[number - 1], number as i32)
}

fn month(number: usize) -> Date {
    Date::Constant("java.time.Month", MONTHS[number - 1], number as i32)
}

fn date(heap: &Heap, value: Value) -> Done<Date> {
    match heap.as_object(value) {
        Some(Object::Date(date)) => Ok((**date).clone()),
        None if matches!(value, Value::Null) => {
            Err(Fault::null("a date is needed, and there is null"))
        }
        _ => Err(Fault::cast("a date is needed")),
    }
}

fn zone(heap: &Heap, value: Value) -> Done<TimeZone> {
    match date(heap, value)? {
        Date::Zone(zone, _) => Ok(zone),
        _ => Err(Fault::cast("a zone is needed")),
    }
}

fn unit(heap: &Heap, value: Value) -> Done<Unit> {
    match date(heap, value)? {
        Date::Constant(_, name, _) => UNITS
            .iter()
            .find(|unit| unit.0 == name)
            .map(|unit| unit.1)
            .ok_or_else(|| Fault::cast("a unit is needed")),
        _ => Err(Fault::cast("a unit is needed")),
    }
}

/// Calls a function by its place.
pub(super) fn call(found: usize, heap: &mut Heap, a: &[Value]) -> Done<Value> {
    let Some((class, name, arity)) = FUNCTIONS.get(found).copied() else {
        let place = found - FUNCTIONS.len();
        let constant = if place < DAYS.len() {
            day_of_week(place + 1)
        } else if place < DAYS.len() + MONTHS.len() {
            month(place - DAYS.len() + 1)
        } else {
            let unit = UNITS.get(place - DAYS.len() - MONTHS.len());
            let unit = unit.ok_or_else(|| Fault::illegal("no such constant"))?;
            Date::Constant("java.time.temporal.ChronoUnit", unit.0, 0)
        };
        return heap.object(Object::Date(Box::new(constant)));
    };
    let number = |at: usize| int(a[at]);
    let day = |at: usize| -> Done<civil::Date> {
        let (year, month, day) = (number(at)?, number(at + 1)?, number(at + 2)?);
        civil::Date::new(small(year)?, small(month)?, small(day)?).map_err(failed)
    };
    let time = |at: usize, seconds: bool| -> Done<civil::Time> {
        let second = if seconds { number(at + 2)? } else { 0 };
        civil::Time::new(small(number(at)?)?, small(number(at + 1)?)?, small(second)?, 0)
            .map_err(failed)
    };
    let long = |at: usize| arith::long(a[at]);
    let made = match (class, name, arity) {
        (_, "parse", _) => Date::parse(class, &text(heap, a[0])?)?,
        ("Instant", "ofEpochMilli", _) => {
            Date::Instant(Timestamp::from_millisecond(long(0)).map_err(failed)?)
        }
        ("Instant", "ofEpochSecond", _) => {
            Date::Instant(Timestamp::from_second(long(0)).map_err(failed)?)
        }
        (_, "ofInstant", _) => {
            let Date::Instant(at) = date(heap, a[0])? else {
                return Err(Fault::cast("an instant is needed"));
            };
            let zoned = at.to_zoned(zone(heap, a[1])?);
            if class == "ZonedDateTime" {
                Date::Zoned(zoned)
            } else {
                Date::Local(zoned.datetime())
            }
        }
        ("ZonedDateTime", "of", 8) => {
            let at = civil::Time::new(
                small(number(3)?)?,
                small(number(4)?)?,
                small(number(5)?)?,
                number(6)?,
            )
            .map_err(failed)?;
            Date::Zoned(day(0)?.to_datetime(at).to_zoned(zone(heap, a[7])?).map_err(failed)?)
        }
        ("ZonedDateTime", "of", _) => {
            let Date::Local(at) = date(heap, a[0])? else {
                return Err(Fault::cast("a local date with time is needed"));
            };
            Date::Zoned(at.to_zoned(zone(heap, a[1])?).map_err(failed)?)
        }
        ("LocalDateTime", "of", _) => Date::Local(day(0)?.to_datetime(time(3, arity == 6)?)),
        ("LocalDate", "of", _) => Date::Day(day(0)?),
        ("LocalDate", "ofEpochDay", _) => {
            Date::Day(civil::date(1970, 1, 1)).plus(long(0), Unit::Day)?
        }
        ("LocalTime", "of", _) => Date::Time(time(0, arity == 3)?),
        (_, "UTC", _) => Date::Zone(TimeZone::UTC, "Z".to_owned()),
        ("ZoneOffset", "ofHours", _) => {
            let hours = number(0)?;
            let name = format!("{}{:02}:00", if hours < 0 { '-' } else { '+' }, hours.abs());
            Date::Zone(Date::zone(&name)?, name)
        }
        ("ZoneId" | "ZoneOffset", _, _) => {
            let name = text(heap, a[0])?;
            Date::Zone(Date::zone(&name)?, name)
        }
        (_, "between", _) => {
            let nanos = date(heap, a[0])?.until(&date(heap, a[1])?, Unit::Millisecond)?;
            Date::Duration(SignedDuration::from_millis(nanos))
        }
        (_, "ofMillis", _) => Date::Duration(SignedDuration::from_millis(long(0))),
        (_, "ofSeconds", _) => Date::Duration(SignedDuration::from_secs(long(0))),
        (_, "ofMinutes", _) => duration(long(0), 60)?,
        (_, "ofHours" | "ofDays", _) => {
            duration(long(0), if name == "ofDays" { 86_400 } else { 3_600 })?
        }
        (_, "ofPattern", _) => Date::Format(text(heap, a[0])?),
        (_, "EPOCH", _) => Date::Instant(Timestamp::UNIX_EPOCH),
        (_, "ZERO", _) => Date::Duration(SignedDuration::ZERO),
        ("TextStyle", _, _) => Date::Constant("java.time.format.TextStyle", name, 0),
        _ => Date::Format(name.to_owned()),
    };
    heap.object(Object::Date(Box::new(made)))
}

fn duration(count: i64, seconds: i64) -> Done<Date> {
    let whole = count.checked_mul(seconds).ok_or_else(|| failed("the duration is too long"))?;
    Ok(Date::Duration(SignedDuration::from_secs(whole)))
}

fn small<T: TryFrom<i32>>(value: i32) -> Done<T> {
    T::try_from(value).map_err(|_| failed(format!("Invalid value: {value}")))
}

/// A method of a date.
pub(super) fn method(
    heap: &mut Heap,
    at: Ref,
    name: &str,
    arguments: &[Value],
) -> Done<Option<Value>> {
    let Object::Date(this) = heap.get(at) else { return Ok(None) };
    let this = (**this).clone();
    if let (true, [other]) =
        (matches!(name, "isBefore" | "isAfter" | "isEqual" | "compareTo"), arguments)
    {
        let order = this.order(&date(heap, *other)?)?;
        return Ok(Some(match name {
            "isBefore" => Value::Bool(order.is_lt()),
            "isAfter" => Value::Bool(order.is_gt()),
            "isEqual" => Value::Bool(order.is_eq()),
            _ => Value::Int(order as i32),
        }));
    }
    if let Some(found) = number_of(&this, name) {
        return Ok(Some(found));
    }
    let made = match (name, arguments) {
        ("format", [format]) => {
            let Date::Format(pattern) = date(heap, *format)? else {
                return Err(Fault::cast("a format is needed"));
            };
            let printed = format_as(&this, &pattern)?;
            return heap.string(&printed).map(Some);
        }
        ("getDisplayName", [style, _]) => {
            let (Date::Constant(_, word, _), Date::Constant(_, style, _)) =
                (&this, date(heap, *style)?)
            else {
                return Ok(None);
            };
            let len = match style {
                "SHORT" => 3,
                "NARROW" => 1,
                _ => word.len(),
            };
            let lower = word[1..len].to_lowercase();
            return heap.string(&format!("{}{lower}", &word[..1])).map(Some);
        }
        ("name", []) => {
            let Date::Constant(_, word, _) = this else { return Ok(None) };
            return heap.string(word).map(Some);
        }
        ("getId", []) => {
            let text = this.text();
            return heap.string(&text).map(Some);
        }
        ("between", [from, to]) => {
            let Some((_, unit)) = unit_of(&this) else { return Ok(None) };
            let found = date(heap, *from)?.until(&date(heap, *to)?, unit)?;
            return Ok(Some(Value::Long(found)));
        }
        ("until", [other, by]) => {
            let found = this.until(&date(heap, *other)?, unit(heap, *by)?)?;
            return Ok(Some(Value::Long(found)));
        }
        ("plus" | "minus", [count, by]) => {
            let count = signed(*count, name)?;
            this.plus(count, unit(heap, *by)?)?
        }
        ("plus" | "minus", [length]) => {
            let Date::Duration(length) = date(heap, *length)? else { return Ok(None) };
            let millis = i64::try_from(length.as_millis()).map_err(failed)?;
            this.plus(if name == "plus" { millis } else { -millis }, Unit::Millisecond)?
        }
        ("atZone", [to]) => match &this {
            Date::Instant(at) => Date::Zoned(at.to_zoned(zone(heap, *to)?)),
            Date::Local(at) => Date::Zoned(at.to_zoned(zone(heap, *to)?).map_err(failed)?),
            _ => return Ok(None),
        },
        ("withZoneSameInstant", [to]) => match &this {
            Date::Zoned(at) => Date::Zoned(at.with_time_zone(zone(heap, *to)?)),
            _ => return Ok(None),
        },
        ("withZoneSameLocal", [to]) => match &this {
            Date::Zoned(at) => {
                Date::Zoned(at.datetime().to_zoned(zone(heap, *to)?).map_err(failed)?)
            }
            _ => return Ok(None),
        },
        ("atStartOfDay", [to]) => match &this {
            Date::Day(at) => Date::Zoned(at.to_zoned(zone(heap, *to)?).map_err(failed)?),
            _ => return Ok(None),
        },
        ("truncatedTo", [by]) => truncated(&this, unit(heap, *by)?)?,
        (_, [count]) if name.starts_with("plus") || name.starts_with("minus") => {
            let by = name.trim_start_matches("plus").trim_start_matches("minus").to_uppercase();
            let Some(unit) = UNITS.iter().find(|unit| unit.0 == by) else { return Ok(None) };
            this.plus(signed(*count, name)?, unit.1)?
        }
        (_, [value]) if name.starts_with("with") => match with(&this, &name[4..], int(*value)?)? {
            Some(made) => made,
            None => return Ok(None),
        },
        (_, []) => match part_of(&this, name) {
            Some(made) => made,
            None => return Ok(None),
        },
        _ => return Ok(None),
    };
    heap.object(Object::Date(Box::new(made))).map(Some)
}

fn unit_of(date: &Date) -> Option<(&'static str, Unit)> {
    match date {
        Date::Constant(_, name, _) => UNITS.iter().find(|unit| unit.0 == *name).copied(),
        _ => None,
    }
}

fn signed(count: Value, name: &str) -> Done<i64> {
    int(count)?;
    let count = arith::long(count);
    let signed = if name.starts_with("minus") { count.checked_neg() } else { Some(count) };
    signed.ok_or_else(|| failed("long overflow"))
}

/// Parts of a date that have a day and a time.
fn split(this: &Date) -> (Option<civil::Date>, Option<civil::Time>) {
    match this {
        Date::Zoned(at) => (Some(at.date()), Some(at.time())),
        Date::Local(at) => (Some(at.date()), Some(at.time())),
        Date::Day(at) => (Some(*at), None),
        Date::Time(at) => (None, Some(*at)),
        _ => (None, None),
    }
}

fn number_of(this: &Date, name: &str) -> Option<Value> {
    if let Date::Constant(_, _, number) = this {
        return (name == "getValue").then_some(Value::Int(*number));
    }
    if let Date::Duration(length) = this {
        return Some(Value::Long(match name {
            "toMillis" => length.as_millis() as i64,
            "getSeconds" | "toSeconds" => length.as_secs(),
            "toMinutes" => length.as_mins(),
            "toHours" => length.as_hours(),
            "toDays" => length.as_hours() / 24,
            "toNanos" => length.as_nanos() as i64,
            _ => return None,
        }));
    }
    match (name, this) {
        ("toEpochMilli" | "getMillis", _) => return this.epoch_ms().map(Value::Long),
        ("toEpochSecond" | "getEpochSecond", Date::Zoned(at)) => {
            return Some(Value::Long(at.timestamp().as_second()));
        }
        ("toEpochSecond" | "getEpochSecond", Date::Instant(at)) => {
            return Some(Value::Long(at.as_second()));
        }
        ("getNano", Date::Instant(at)) => return Some(Value::Int(at.subsec_nanosecond())),
        _ => {}
    }
    let (day, time) = split(this);
    if let Some(day) = day {
        let week = day.iso_week_date();
        let found = match name {
            "getYear" => i32::from(day.year()),
            "getMonthValue" | "getMonthOfYear" => i32::from(day.month()),
            "getDayOfMonth" => i32::from(day.day()),
            "getDayOfYear" => i32::from(day.day_of_year()),
            "lengthOfMonth" => i32::from(day.days_in_month()),
            "lengthOfYear" => i32::from(day.days_in_year()),
            "getWeekyear" => i32::from(week.year()),
            "getWeekOfWeekyear" => i32::from(week.week()),
            "isLeapYear" => return Some(Value::Bool(day.in_leap_year())),
            "toEpochDay" => {
                let days = civil::date(1970, 1, 1).until((Unit::Day, day)).ok()?.get_days();
                return Some(Value::Long(i64::from(days)));
            }
            _ => i32::MIN,
        };
        if found != i32::MIN {
            return Some(Value::Int(found));
        }
    }
    let time = time?;
    Some(Value::Int(match name {
        "getHour" | "getHourOfDay" => i32::from(time.hour()),
        "getMinute" | "getMinuteOfHour" => i32::from(time.minute()),
        "getSecond" | "getSecondOfMinute" => i32::from(time.second()),
        "getNano" => time.subsec_nanosecond(),
        "getMillisOfSecond" => i32::from(time.millisecond()),
        "getMinuteOfDay" => i32::from(time.hour()) * 60 + i32::from(time.minute()),
        "toSecondOfDay" | "getSecondOfDay" => {
            (i32::from(time.hour()) * 60 + i32::from(time.minute())) * 60 + i32::from(time.second())
        }
        _ => return None,
    }))
}

fn part_of(this: &Date, name: &str) -> Option<Date> {
    let (day, time) = split(this);
    Some(match (name, this) {
        ("getDayOfWeek" | "getDayOfWeekEnum", _) => {
            day_of_week(day?.weekday().to_monday_one_offset() as usize)
        }
        ("getMonth", _) => month(day?.month() as usize),
        ("toInstant", Date::Zoned(at)) => Date::Instant(at.timestamp()),
        ("toLocalDate", _) => Date::Day(day?),
        ("toLocalTime", _) => Date::Time(time?),
        ("toLocalDateTime", Date::Zoned(at)) => Date::Local(at.datetime()),
        ("toZonedDateTime" | "toOffsetDateTime", Date::Zoned(_)) => this.clone(),
        ("getZone" | "getOffset", Date::Zoned(at)) => {
            let name = at.time_zone().iana_name().filter(|name| *name != "UTC").unwrap_or("Z");
            Date::Zone(at.time_zone().clone(), name.to_owned())
        }
        ("atStartOfDay", Date::Day(at)) => Date::Local(at.at(0, 0, 0, 0)),
        _ => return None,
    })
}

fn truncated(this: &Date, unit: Unit) -> Done<Date> {
    let cut = |at: civil::DateTime| -> Done<civil::DateTime> {
        let time = at.time();
        let (hour, minute, second, nanos) =
            (time.hour(), time.minute(), time.second(), time.subsec_nanosecond());
        let time = match unit {
            Unit::Day => civil::time(0, 0, 0, 0),
            Unit::Hour => civil::time(hour, 0, 0, 0),
            Unit::Minute => civil::time(hour, minute, 0, 0),
            Unit::Second => civil::time(hour, minute, second, 0),
            Unit::Millisecond => civil::time(hour, minute, second, nanos / 1_000_000 * 1_000_000),
            Unit::Microsecond => civil::time(hour, minute, second, nanos / 1_000 * 1_000),
            Unit::Nanosecond => time,
            _ => {
                return Err(Fault::new(
                    "unsupported_temporal_type_exception",
                    "Unit is too large to be used for truncation",
                ));
            }
        };
        Ok(at.date().to_datetime(time))
    };
    Ok(match this {
        Date::Zoned(at) => {
            let zone = at.time_zone().clone();
            Date::Zoned(cut(at.datetime())?.to_zoned(zone).map_err(failed)?)
        }
        Date::Instant(at) => {
            let utc = cut(at.to_zoned(TimeZone::UTC).datetime())?;
            Date::Instant(utc.to_zoned(TimeZone::UTC).map_err(failed)?.timestamp())
        }
        Date::Local(at) => Date::Local(cut(*at)?),
        _ => return Err(Fault::illegal("this cannot be truncated")),
    })
}

fn with(this: &Date, part: &str, value: i32) -> Done<Option<Date>> {
    let change = |day: civil::Date| -> Done<Option<civil::Date>> {
        Ok(Some(match part {
            "Year" => day.with().year(small(value)?).build().map_err(failed)?,
            "Month" => day.with().month(small(value)?).build().map_err(failed)?,
            "DayOfMonth" => day.with().day(small(value)?).build().map_err(failed)?,
            "DayOfYear" => day.with().day_of_year(small(value)?).build().map_err(failed)?,
            _ => return Ok(None),
        }))
    };
    let set = |time: civil::Time| -> Done<Option<civil::Time>> {
        Ok(Some(match part {
            "Hour" => time.with().hour(small(value)?).build().map_err(failed)?,
            "Minute" => time.with().minute(small(value)?).build().map_err(failed)?,
            "Second" => time.with().second(small(value)?).build().map_err(failed)?,
            "Nano" => time.with().subsec_nanosecond(value).build().map_err(failed)?,
            _ => return Ok(None),
        }))
    };
    let (day, time) = split(this);
    let changed_day = day.map(change).transpose()?.flatten();
    let changed_time = time.map(set).transpose()?.flatten();
    if changed_day.is_none() && changed_time.is_none() {
        return Ok(None);
    }
    let (day, time) = (changed_day.or(day), changed_time.or(time));
    Ok(Some(match (this, day, time) {
        (Date::Zoned(at), Some(day), Some(time)) => {
            let zone = at.time_zone().clone();
            Date::Zoned(day.to_datetime(time).to_zoned(zone).map_err(failed)?)
        }
        (Date::Local(_), Some(day), Some(time)) => Date::Local(day.to_datetime(time)),
        (Date::Day(_), Some(day), _) => Date::Day(day),
        (Date::Time(_), _, Some(time)) => Date::Time(time),
        _ => return Ok(None),
    }))
}

/// A date by a pattern of `DateTimeFormatter`.
fn format_as(this: &Date, pattern: &str) -> Done<String> {
    let (day, time) = split(this);
    match pattern {
        "ISO_LOCAL_DATE" | "ISO_DATE" => {
            return Ok(day.map(|day| day.to_string()).unwrap_or_default());
        }
        "ISO_LOCAL_DATE_TIME" => {
            if let (Some(day), Some(time)) = (day, time) {
                return Ok(Date::Local(day.to_datetime(time)).text());
            }
        }
        _ if pattern.starts_with("ISO_") => return Ok(this.text()),
        _ => {}
    }
    let lacks = |letter: char| {
        Fault::new(
            "unsupported_temporal_type_exception",
            format!("Unsupported field for pattern letter: {letter}"),
        )
    };
    let mut out = String::new();
    let mut letters = pattern.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter == '\'' {
            let quoted: String = letters.by_ref().take_while(|letter| *letter != '\'').collect();
            out.push_str(if quoted.is_empty() { "'" } else { &quoted });
            continue;
        }
        if !letter.is_ascii_alphabetic() {
            out.push(letter);
            continue;
        }
        let mut count = 1;
        while letters.peek() == Some(&letter) {
            letters.next();
            count += 1;
        }
        let number = match letter {
            'y' | 'u' => {
                let year = i64::from(day.ok_or_else(|| lacks(letter))?.year());
                if count == 2 { year.rem_euclid(100) } else { year }
            }
            'M' | 'L' => {
                let month = day.ok_or_else(|| lacks(letter))?.month() as usize;
                if count >= 3 {
                    out.push_str(&word(MONTHS[month - 1], count));
                    continue;
                }
                month as i64
            }
            'd' => i64::from(day.ok_or_else(|| lacks(letter))?.day()),
            'D' => i64::from(day.ok_or_else(|| lacks(letter))?.day_of_year()),
            'E' | 'e' => {
                let weekday: Weekday = day.ok_or_else(|| lacks(letter))?.weekday();
                out.push_str(&word(DAYS[weekday.to_monday_zero_offset() as usize], count.max(3)));
                continue;
            }
            'H' => i64::from(time.ok_or_else(|| lacks(letter))?.hour()),
            'h' => i64::from((time.ok_or_else(|| lacks(letter))?.hour() + 11) % 12 + 1),
            'm' => i64::from(time.ok_or_else(|| lacks(letter))?.minute()),
            's' => i64::from(time.ok_or_else(|| lacks(letter))?.second()),
            'S' => {
                let nanos = time.ok_or_else(|| lacks(letter))?.subsec_nanosecond();
                out.push_str(&format!("{nanos:09}")[..count.min(9)]);
                continue;
            }
            'a' => {
                let hour = time.ok_or_else(|| lacks(letter))?.hour();
                out.push_str(if hour < 12 { "AM" } else { "PM" });
                continue;
            }
            'X' | 'x' | 'Z' => {
                let Date::Zoned(at) = this else { return Err(lacks(letter)) };
                out.push_str(&offset(at, letter, count));
                continue;
            }
            'V' | 'z' => {
                let Date::Zoned(at) = this else { return Err(lacks(letter)) };
                out.push_str(at.time_zone().iana_name().unwrap_or("Z"));
                continue;
            }
            _ => return Err(Fault::illegal(format!("Unknown pattern letter: {letter}"))),
        };
        out.push_str(&format!("{number:0count$}"));
    }
    Ok(out)
}

fn offset(at: &Zoned, letter: char, count: usize) -> String {
    let seconds = at.offset().seconds();
    if letter == 'X' && seconds == 0 {
        return "Z".to_owned();
    }
    let sign = if seconds < 0 { '-' } else { '+' };
    let (hours, minutes) = (seconds.abs() / 3600, seconds.abs() / 60 % 60);
    match (letter, count) {
        ('X' | 'x', 1) if minutes == 0 => format!("{sign}{hours:02}"),
        ('X' | 'x', 3..) => format!("{sign}{hours:02}:{minutes:02}"),
        _ => format!("{sign}{hours:02}{minutes:02}"),
    }
}

/// `MONDAY` as `Mon` or `Monday`.
fn word(name: &str, count: usize) -> String {
    let len = if count == 3 { 3 } else { name.len() };
    format!("{}{}", &name[..1], name[1..len].to_lowercase())
}
