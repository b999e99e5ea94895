//! Reading a text by elements, as a strict `java.time` parser does.
//!
//! A fault is the byte where the text stops being what the elements ask for.

use super::Round;
use super::localized;
use super::pattern::{Element, Field, Names, Offset, Point, Sign};
use super::print;
use super::resolve::Fields;
use crate::types::calendar::Moment;
use crate::types::zone::Zone;

/// Reads `list` from byte `at` of `text`; answers where it ended.
pub(super) fn elements(
    list: &[Element],
    text: &str,
    mut at: usize,
    fields: &mut Fields,
) -> Result<usize, usize> {
    for element in list {
        at = match element {
            Element::Literal(literal) => {
                let rest = text.as_bytes().get(at..).unwrap_or_default();
                if !rest.starts_with(literal.as_bytes()) {
                    return Err(at);
                }
                at + literal.len()
            }
            Element::Number { field, min, max, sign, reserve } => {
                let (value, end) = number(text, at, *min, *max, *sign, *reserve)?;
                fields.set(*field, value).ok_or(at)?;
                end
            }
            Element::TwoDigitYear { field } => {
                let (value, end) = number(text, at, 2, 2, Sign::Never, 0)?;
                fields.set(*field, 2_000 + value).ok_or(at)?;
                end
            }
            Element::Fraction { min, max, point } => {
                let (nanos, end) = fraction(text, at, *min, *max, *point)?;
                fields.set(Field::Nano, nanos).ok_or(at)?;
                end
            }
            Element::Text(names) => {
                let (value, end) = name(*names, text, at).ok_or(at)?;
                fields.set_named(*names, value).ok_or(at)?;
                end
            }
            Element::Offset(form, zero) => {
                let zone = match offset(*form, zero, text, at) {
                    Some((seconds, end)) => Some((Zone::Offset(seconds), end)),
                    // The named formats read the name of a zone as well, right after the time.
                    None if *form == Offset::Any => zone_id(text, at),
                    None => None,
                };
                let (zone, end) = zone.ok_or(at)?;
                fields.zone = Some(zone);
                end
            }
            Element::Localized(form) => {
                let (seconds, end) = localized::read(*form, text, at).ok_or(at)?;
                fields.zone = Some(Zone::Offset(seconds));
                end
            }
            Element::ZoneId => {
                let (zone, end) = zone_id(text, at).ok_or(at)?;
                fields.zone = Some(zone);
                end
            }
            Element::Optional(inner) => {
                let mut tried = fields.clone();
                match elements(inner, text, at, &mut tried) {
                    Ok(end) => {
                        *fields = tried;
                        end
                    }
                    Err(_) => at,
                }
            }
        };
    }
    Ok(at)
}

fn digit(text: &str, at: usize) -> Option<i64> {
    let byte = text.as_bytes().get(at)?;
    byte.is_ascii_digit().then(|| i64::from(byte - b'0'))
}

fn number(
    text: &str,
    start: usize,
    min: u8,
    max: u8,
    sign: Sign,
    reserve: u8,
) -> Result<(i64, usize), usize> {
    let bytes = text.as_bytes();
    let (negative, positive) = match bytes.get(start) {
        Some(b'-') => (true, false),
        Some(b'+') => (false, true),
        _ => (false, false),
    };
    let allowed = match sign {
        Sign::Normal => !positive,
        Sign::ExceedsPad => true,
        Sign::Never => !positive && !negative,
    };
    if !allowed {
        return Err(start);
    }
    let first = start + usize::from(negative || positive);
    let widest = usize::from(max) + usize::from(reserve);
    let mut width = (0..widest).take_while(|n| digit(text, first + n).is_some()).count();
    if reserve > 0 {
        width = width.saturating_sub(usize::from(reserve)).max(usize::from(min).min(width));
    }
    if width < usize::from(min) {
        return Err(start);
    }
    // A plus says that the number is wider than it need be; nothing else may be.
    if sign == Sign::ExceedsPad && !negative && positive != (width > usize::from(min)) {
        return Err(start);
    }
    let mut value = 0i64;
    for at in first..first + width {
        let next = digit(text, at).ok_or(at)?;
        value = value.checked_mul(10).and_then(|v| v.checked_add(next)).ok_or(start)?;
    }
    if negative && value == 0 {
        return Err(start);
    }
    Ok((if negative { -value } else { value }, first + width))
}

fn fraction(
    text: &str,
    start: usize,
    min: u8,
    max: u8,
    point: Point,
) -> Result<(i64, usize), usize> {
    let (first, min) = match (point, text.as_bytes().get(start)) {
        (Point::Nothing, _) => (start, usize::from(min)),
        (Point::Dot | Point::DotOrComma, Some(b'.')) | (Point::DotOrComma, Some(b',')) => {
            (start + 1, 1)
        }
        _ => return Err(start),
    };
    let mut nanos = 0;
    let mut width = 0;
    while width < usize::from(max) {
        let Some(next) = digit(text, first + width) else { break };
        nanos = nanos * 10 + next;
        width += 1;
    }
    if width < min {
        return Err(start);
    }
    for _ in width..9 {
        nanos *= 10;
    }
    Ok((nanos, first + width))
}

/// The longest name that the text goes on with; its number in the list, from 1.
fn name(names: Names, text: &str, at: usize) -> Option<(i64, usize)> {
    let rest = text.get(at..)?;
    print::names(names)
        .iter()
        .enumerate()
        .filter(|(_, name)| rest.starts_with(**name))
        .max_by_key(|(_, name)| name.len())
        .map(|(n, name)| (n as i64 + 1, at + name.len()))
}

fn offset(form: Offset, zero: &str, text: &str, at: usize) -> Option<(i32, usize)> {
    let rest = text.get(at..)?;
    if zero == "Z" && rest.starts_with('Z') {
        return Some((0, at + 1));
    }
    let sign = match rest.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let pair = |at: usize| Some((digit(text, at)? * 10 + digit(text, at + 1)?) as i32);
    let hours = pair(at + 1)?;
    let mut end = at + 3;
    let colon = |end: usize| text.as_bytes().get(end) == Some(&b':');
    // After the hours: must minutes follow, may seconds, and is there a colon between?
    let (minutes_must, seconds_may, colons) = match form {
        Offset::HourMaybeMinute => (false, false, false),
        Offset::HourMinute => (true, false, false),
        Offset::HourColonMinute => (true, false, true),
        Offset::HourMinuteMaybeSecond => (true, true, false),
        Offset::HourColonMinuteMaybeSecond => (true, true, true),
        Offset::Any => (false, true, colon(end)),
    };
    let mut part = |must: bool| -> Option<i32> {
        let first = if colons && colon(end) { end + 1 } else { end };
        if colons && first == end {
            return if must { None } else { Some(0) };
        }
        match pair(first) {
            Some(value) if value < 60 => {
                end = first + 2;
                Some(value)
            }
            _ if must => None,
            _ => Some(0),
        }
    };
    let minutes = part(minutes_must)?;
    let seconds = if seconds_may { part(false)? } else { 0 };
    let total = hours * 3_600 + minutes * 60 + seconds;
    (total <= 18 * 3_600).then_some((sign * total, end))
}

/// Longest name of a zone, in characters.
const ZONE_ID_MAX: usize = 48;

fn zone_id(text: &str, at: usize) -> Option<(Zone, usize)> {
    let rest = text.get(at..)?;
    if rest.starts_with(['+', '-']) {
        let (seconds, end) = offset(Offset::HourColonMinuteMaybeSecond, "", text, at)?;
        return Some((Zone::Offset(seconds), end));
    }
    let may = |c: char| c.is_ascii_alphanumeric() || "/_+-:~".contains(c);
    let len = rest.chars().take(ZONE_ID_MAX).take_while(|c| may(*c)).count();
    (1..=len).rev().find_map(|len| Some((Zone::parse(&rest[..len]).ok()?, at + len)))
}

/// A number since 1970, of which `per_second` make a second; perhaps with a fraction, which otherwise is missing.
pub(super) fn epoch(text: &str, per_second: i128, round: Round) -> Option<Moment> {
    const NANOS: i128 = 1_000_000_000;
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, part) = digits.split_once('.').map_or((digits, None), |(a, b)| (a, Some(b)));
    // A point with nothing behind it says nothing.
    let part = part.filter(|part| !part.is_empty());
    let all_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !all_digits(whole) || whole.len() > usize::from(super::pattern::WIDTH_MAX) {
        return None;
    }
    let unit = NANOS / per_second;
    let mut nanos = whole.parse::<i128>().ok()? * unit;
    if let Some(part) = part {
        if !all_digits(part) || part.len() > 9 {
            return None;
        }
        nanos += part.parse::<i128>().ok()? * unit / 10i128.pow(part.len() as u32);
    }
    if digits.len() < text.len() {
        nanos = -nanos;
    }
    if part.is_none() && round == Round::Up {
        nanos += unit - 1;
    }
    let seconds = i64::try_from(nanos.div_euclid(NANOS)).ok()?;
    Some(Moment { seconds, nanos: nanos.rem_euclid(NANOS) as u32 })
}
