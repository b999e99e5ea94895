//! Offsets as people write them: `GMT`, `GMT+8`, or in full `GMT+08:00` (pattern letters `O`, `OOOO`).

use std::fmt::Write;

/// How much of an offset is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Localized {
    /// Hours without a zero before them, the rest where it is not zero: `GMT+8`, `GMT+5:30`.
    Short,
    /// Hours and minutes of two digits: `GMT+08:00`.
    Full,
}

/// What all begin with; it stands alone for no offset.
const GMT: &str = "GMT";

/// Most seconds of an offset.
const OFFSET_MAX: i32 = 18 * 3_600;

/// Appends an offset of so many seconds.
pub(super) fn print(form: Localized, offset: i32, out: &mut String) {
    out.push_str(GMT);
    if offset == 0 {
        return;
    }
    let total = offset.abs();
    let (hours, minutes, seconds) = (total / 3_600, total / 60 % 60, total % 60);
    out.push(if offset < 0 { '-' } else { '+' });
    let is_full = form == Localized::Full;
    let mut put = |text: std::fmt::Arguments<'_>| {
        out.write_fmt(text).expect("a string takes any text");
    };
    match form {
        Localized::Short => put(format_args!("{hours}")),
        Localized::Full => put(format_args!("{hours:02}")),
    }
    if is_full || (minutes, seconds) != (0, 0) {
        put(format_args!(":{minutes:02}"));
    }
    if seconds != 0 {
        put(format_args!(":{seconds:02}"));
    }
}

/// Reads one at byte `at`: seconds, and where the text goes on.
pub(super) fn read(form: Localized, text: &str, at: usize) -> Option<(i32, usize)> {
    let bytes = text.as_bytes();
    let mut end = at + GMT.len();
    if text.get(at..end)? != GMT {
        return None;
    }
    let sign = match bytes.get(end) {
        Some(b'+') => 1,
        Some(b'-') => -1,
        _ => return Some((0, end)),
    };
    end += 1;
    let digit = |at: usize| {
        bytes.get(at).filter(|byte| byte.is_ascii_digit()).map(|byte| i32::from(byte - b'0'))
    };
    let mut hours = digit(end)?;
    end += 1;
    match (digit(end), form) {
        (Some(ones), _) => {
            hours = hours * 10 + ones;
            end += 1;
        }
        (None, Localized::Short) => {}
        (None, Localized::Full) => return None,
    }
    // A colon that no two digits follow belongs to what comes next.
    let part = |at: usize| match (bytes.get(at), digit(at + 1), digit(at + 2)) {
        (Some(b':'), Some(tens), Some(ones)) => Some(tens * 10 + ones),
        _ => None,
    };
    let (mut minutes, mut seconds) = (0, 0);
    if let Some(found) = part(end) {
        minutes = found;
        end += 3;
        if let Some(found) = part(end) {
            seconds = found;
            end += 3;
        }
    } else if form == Localized::Full {
        return None;
    }
    let total = hours * 3_600 + minutes * 60 + seconds;
    (total <= OFFSET_MAX).then_some((sign * total, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_printed_and_read_again() {
        for (form, offset, text) in [
            (Localized::Short, 0, "GMT"),
            (Localized::Full, 0, "GMT"),
            (Localized::Short, 28_800, "GMT+8"),
            (Localized::Short, -36_000, "GMT-10"),
            (Localized::Short, 19_800, "GMT+5:30"),
            (Localized::Short, 19_801, "GMT+5:30:01"),
            (Localized::Full, 28_800, "GMT+08:00"),
            (Localized::Full, -19_801, "GMT-05:30:01"),
        ] {
            let mut out = String::new();
            print(form, offset, &mut out);
            assert_eq!(out, text);
            assert_eq!(read(form, text, 0), Some((offset, text.len())), "{text}");
        }
    }

    #[test]
    fn what_is_no_offset_is_not_read() {
        for text in ["", "UTC", "GM", "GMT+", "GMT+x", "GMT+19"] {
            assert_eq!(read(Localized::Short, text, 0), None, "{text}");
        }
        for text in ["GMT+8", "GMT+08", "GMT+8:00", "GMT+08:0"] {
            assert_eq!(read(Localized::Full, text, 0), None, "{text}");
        }
        assert_eq!(read(Localized::Short, "GMT 5", 0), Some((0, 3)));
        assert_eq!(read(Localized::Short, "é GMT+8:é", 3), Some((28_800, 8)));
    }
}
