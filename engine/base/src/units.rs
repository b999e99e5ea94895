//! Times and sizes with units, as Elasticsearch reads them, and what it says of those it cannot read;
//! and times as it prints them.

use std::time::Duration;

/// Reads `500ms`, `1s`, `2h`, a bare `0`; `None` for `-1`, which stands for no limit.
///
/// # Errors
/// The whole sentence, with the name of what was set.
pub fn time(name: &str, text: &str) -> Result<Option<Duration>, String> {
    let bad = |why: &str| {
        format!("failed to parse setting [{name}] with value [{text}] as a time value: {why}")
    };
    let plain = text.trim().to_ascii_lowercase();
    let Some((number, nanos)) = time_parts(&plain) else {
        let (digits, is_negative) = match plain.strip_prefix('-') {
            Some(digits) => (digits.trim_start_matches('0'), true),
            None => (plain.trim_start_matches('0'), false),
        };
        return match (digits, is_negative) {
            ("", false) if !plain.is_empty() => Ok(Some(Duration::ZERO)),
            ("1", true) => Ok(None),
            _ => Err(bad("unit is missing or unrecognized")),
        };
    };
    match number.parse::<i64>() {
        Ok(-1) => Ok(None),
        Ok(count) => {
            let count =
                u64::try_from(count).map_err(|_| bad("negative durations are not supported"))?;
            let nanos = count.checked_mul(nanos).ok_or_else(|| bad("the time is too long"))?;
            Ok(Some(Duration::from_nanos(nanos)))
        }
        Err(_) if number.bytes().all(|byte| byte.is_ascii_digit()) && !number.is_empty() => {
            Err(bad("the time is too long"))
        }
        Err(_) if number.parse::<f64>().is_ok() => {
            Err(format!("failed to parse [{text}], fractional time values are not supported"))
        }
        Err(_) => Err(format!("failed to parse [{text}]")),
    }
}

/// A time that somebody asks for, as [`time`], but for `1M`: what is kept of older days has it as a minute, and to
/// Elasticsearch it is no time, for it means months to others.
///
/// # Errors
/// As [`time`].
pub fn time_asked(name: &str, text: &str) -> Result<Option<Duration>, String> {
    match no_minutes(name, text) {
        Some(reason) => Err(reason),
        None => time(name, text),
    }
}

/// Why a time whose unit is `M` is none.
pub fn no_minutes(name: &str, text: &str) -> Option<String> {
    text.trim().ends_with('M').then(|| {
        format!(
            "failed to parse setting [{name}] with value [{text}] as a time value: unit is missing \
             or unrecognized"
        )
    })
}

/// What of a time, which [`time`] does not read, stands where its number should be.
pub fn no_number_of_time(text: &str) -> Option<String> {
    let plain = text.trim().to_ascii_lowercase();
    let (number, _) = time_parts(&plain)?;
    number.parse::<i64>().is_err().then(|| number.to_owned())
}

/// The number of a time in small letters, and the nanoseconds of its unit.
fn time_parts(plain: &str) -> Option<(&str, u64)> {
    // Longer units first where one ends in another.
    const UNITS: [(&str, u64); 7] = [
        ("nanos", 1),
        ("micros", 1_000),
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
        ("m", 60_000_000_000),
        ("h", 3_600_000_000_000),
        ("d", 86_400_000_000_000),
    ];
    UNITS.iter().find_map(|(unit, nanos)| Some((plain.strip_suffix(unit)?.trim(), *nanos)))
}

/// Is this the text of no size, with its unit?
pub fn is_no_size(text: &str) -> bool {
    text == "-1b" || text == "-1B"
}

/// Reads `512mb`, `1.5kb`, `100b`, a bare `0`; `None` for `-1` and `-1b`. Powers of 1024.
///
/// # Errors
/// The whole sentence, with the name of what was set.
pub fn bytes(name: &str, text: &str) -> Result<Option<u64>, String> {
    let sentence = format!("failed to parse setting [{name}] with value [{text}]");
    let plain = text.trim().to_ascii_lowercase();
    match plain.as_str() {
        "-1" => return Ok(None),
        _ if is_no_size(text) => return Ok(None),
        "0" => return Ok(Some(0)),
        _ => {}
    }
    let Some((number, shift)) = split(&plain) else {
        return Err(format!("{sentence} as a size in bytes: unit is missing or unrecognized"));
    };
    let number: f64 = number.parse().map_err(|_| sentence.clone())?;
    let bytes = number * (1u64 << shift) as f64;
    if !bytes.is_finite() || bytes >= i64::MAX as f64 {
        return Err(format!("{sentence} as a size in bytes"));
    }
    if bytes < 0.0 {
        return Err(format!("{sentence} as a size in bytes"));
    }
    Ok(Some(bytes as u64))
}

/// Is this a size, as [`bytes`] reads it, of a number that is not whole by its letters: `1.5gb`, `1.0gb`?
pub fn is_fraction(text: &str) -> bool {
    let plain = text.trim().to_ascii_lowercase();
    split(&plain).is_some_and(|(number, _)| {
        number.parse::<i64>().is_err() && matches!(bytes("", text), Ok(Some(_)))
    })
}

/// The number of a size in small letters, and the power of two of its unit.
fn split(plain: &str) -> Option<(&str, u32)> {
    const UNITS: [(&str, u32); 11] = [
        ("kb", 10),
        ("k", 10),
        ("mb", 20),
        ("m", 20),
        ("gb", 30),
        ("g", 30),
        ("tb", 40),
        ("t", 40),
        ("pb", 50),
        ("p", 50),
        ("b", 0),
    ];
    UNITS.iter().find_map(|(unit, shift)| Some((plain.strip_suffix(unit)?.trim(), *shift)))
}

/// A time as Elasticsearch prints it: `0s`, `740nanos`, `25.3micros`, `7.6ms`, `1.2s`: one decimal, cut off.
pub fn nanos(count: u64) -> String {
    const UNITS: [(u64, &str); 6] = [
        (86_400_000_000_000, "d"),
        (3_600_000_000_000, "h"),
        (60_000_000_000, "m"),
        (1_000_000_000, "s"),
        (1_000_000, "ms"),
        (1_000, "micros"),
    ];
    if count == 0 {
        return "0s".to_owned();
    }
    let Some((size, unit)) = UNITS.iter().find(|(size, _)| count >= *size) else {
        return format!("{count}nanos");
    };
    match u128::from(count) * 10 / u128::from(*size) % 10 {
        0 => format!("{}{unit}", count / size),
        tenth => format!("{}.{tenth}{unit}", count / size),
    }
}

/// A size as Elasticsearch prints it: `15.7kb`, `0b`: powers of 1024, one decimal, cut off.
pub fn size(count: u64) -> String {
    const UNITS: [&str; 5] = ["kb", "mb", "gb", "tb", "pb"];
    if count < 1024 {
        return format!("{count}b");
    }
    let mut unit = 0;
    while unit + 1 < UNITS.len() && count >> (10 * (unit + 2)) > 0 {
        unit += 1;
    }
    // In tenths, so that nothing is rounded up.
    let tenths = (u128::from(count) * 10) >> (10 * (unit + 1));
    match tenths % 10 {
        0 => format!("{}{}", tenths / 10, UNITS[unit]),
        tenth => format!("{}.{tenth}{}", tenths / 10, UNITS[unit]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_of_a_whole_number_by_its_letters() {
        for (text, is_one) in [
            ("1.5gb", true),
            ("1.0gb", true),
            (" 2.5 MB ", true),
            ("1e3kb", true),
            ("1gb", false),
            ("+5kb", false),
            ("-1", false),
            ("0", false),
            ("1.5", false),
            ("40%", false),
            ("x.5gb", false),
            ("", false),
        ] {
            assert_eq!(is_fraction(text), is_one, "{text}");
        }
    }

    #[test]
    fn times_are_read() {
        for (text, ms) in [
            ("1s", Some(1_000)),
            ("2m", Some(120_000)),
            (" 3H ", Some(10_800_000)),
            ("1d", Some(86_400_000)),
            ("5ms", Some(5)),
            ("1500micros", Some(1)),
            ("1000000nanos", Some(1)),
            ("0", Some(0)),
            ("00", Some(0)),
            ("-1", None),
            ("-1s", None),
        ] {
            let read = time("t", text).map(|time| time.map(|time| time.as_millis()));
            assert_eq!(read, Ok(ms), "{text}");
        }
    }

    #[test]
    fn what_is_no_time_is_named() {
        let start = |text: &str| {
            format!("failed to parse setting [t] with value [{text}] as a time value: ")
        };
        for text in ["foo", "5", "", "-", "-5", "1 week"] {
            assert_eq!(
                time("t", text),
                Err(start(text) + "unit is missing or unrecognized"),
                "{text}"
            );
        }
        assert_eq!(time("t", "-5s"), Err(start("-5s") + "negative durations are not supported"));
        for text in ["9999999999999d", "99999999999999999999d"] {
            assert_eq!(time("t", text), Err(start(text) + "the time is too long"));
        }
        assert_eq!(
            time("t", "1.5h"),
            Err("failed to parse [1.5h], fractional time values are not supported".to_owned())
        );
        assert_eq!(time("t", "xs"), Err("failed to parse [xs]".to_owned()));
    }

    #[test]
    fn sizes_are_read() {
        for (text, count) in [
            ("512mb", Some(512 << 20)),
            ("1.5kb", Some(1_536)),
            ("2g", Some(2 << 30)),
            ("7b", Some(7)),
            ("0", Some(0)),
            ("-1", None),
        ] {
            assert_eq!(bytes("s", text), Ok(count), "{text}");
        }
        let start = |text: &str| format!("failed to parse setting [s] with value [{text}]");
        for text in ["12", "", "x", "1.5"] {
            let words = start(text) + " as a size in bytes: unit is missing or unrecognized";
            assert_eq!(bytes("s", text), Err(words), "{text}");
        }
        assert_eq!(bytes("s", "foob"), Err(start("foob")));
        assert!(bytes("s", "-5b").is_err());
        assert!(bytes("s", "99999999999pb").is_err());
        assert!(bytes("s", "NaNb").is_err());
    }
}
