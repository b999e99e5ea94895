//! The common form of a date, read straight: `2024-01-02T03:04:05.678Z`.
//!
//! Documents are full of it, and every reader of `date_optional_time` takes it. What is not exactly
//! of this form (parts left out, other zones, more digits) is left to the elements.

use crate::types::calendar::{DAY_SECONDS, Moment, day_of, days_in_month};

/// The moment, where `text` is a date with time to the second, perhaps a fraction, perhaps `Z`; a
/// fraction left out becomes `nanos_missing`. The second part tells whether a zone was named.
pub(super) fn read(text: &str, nanos_missing: u32) -> Option<(Moment, bool)> {
    let bytes = text.as_bytes();
    let (date, rest) = bytes.split_at_checked(10)?;
    if date[4] != b'-' || date[7] != b'-' {
        return None;
    }
    let year = pair(date, 0)? * 100 + pair(date, 2)?;
    let (month, day) = (pair(date, 5)?, pair(date, 8)?);
    if !(1..=12).contains(&month) || day < 1 || day > days_in_month(i64::from(year), month) {
        return None;
    }
    let (time, rest) = rest.split_at_checked(9)?;
    if time[0] != b'T' || time[3] != b':' || time[6] != b':' {
        return None;
    }
    let (hour, minute, second) = (pair(time, 1)?, pair(time, 4)?, pair(time, 7)?);
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let (nanos, rest) = fraction(rest, nanos_missing)?;
    let named = match rest {
        [] => false,
        [b'Z'] => true,
        _ => return None,
    };
    let of_day = i64::from(hour * 3_600 + minute * 60 + second);
    let seconds = day_of(i64::from(year), month, day) * DAY_SECONDS + of_day;
    Some((Moment { seconds, nanos }, named))
}

#[inline]
fn pair(bytes: &[u8], at: usize) -> Option<u32> {
    let (tens, ones) = (bytes[at].wrapping_sub(b'0'), bytes[at + 1].wrapping_sub(b'0'));
    (tens < 10 && ones < 10).then(|| u32::from(tens) * 10 + u32::from(ones))
}

/// A point and one to nine digits, or `missing`; what follows.
fn fraction(bytes: &[u8], missing: u32) -> Option<(u32, &[u8])> {
    let [b'.', digits @ ..] = bytes else { return Some((missing, bytes)) };
    let width = digits.iter().take(9).take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = digits.split_at(width);
    if digits.is_empty() {
        return None;
    }
    let value = digits.iter().fold(0u32, |value, digit| value * 10 + u32::from(digit - b'0'));
    Some((value * 10u32.pow(9 - width as u32), rest))
}
