//! Sizes, times and dates as Elasticsearch prints them.

pub use base::units::nanos;
pub use base::units::size as bytes;

/// `count` in whole units of this name; `None` for a name that is none.
pub fn bytes_in(count: u64, unit: &str) -> Option<u64> {
    let power = match unit {
        "b" => 0,
        "k" | "kb" => 1,
        "m" | "mb" => 2,
        "g" | "gb" => 3,
        "t" | "tb" => 4,
        "p" | "pb" => 5,
        _ => return None,
    };
    Some(count >> (10 * power))
}

/// Nanoseconds in whole units of this name; `None` for a name that is none.
pub fn nanos_in(count: u64, unit: &str) -> Option<u64> {
    let size = match unit {
        "nanos" => 1,
        "micros" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return None,
    };
    Some(count / size)
}

/// `0s`, `25ms`, `1.2s`, `7.6m`: one decimal, cut off.
pub fn millis(count: u64) -> String {
    const UNITS: [(u64, &str); 4] =
        [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s")];
    if count == 0 {
        return "0s".to_owned();
    }
    let Some((size, unit)) = UNITS.iter().find(|(size, _)| count >= *size) else {
        return format!("{count}ms");
    };
    match count * 10 / size % 10 {
        0 => format!("{}{unit}", count / size),
        tenth => format!("{}.{tenth}{unit}", count / size),
    }
}

/// A segment's number as Lucene counts them, from 0; ours are counted from 1.
pub fn segment_generation(id: u64) -> u64 {
    id.saturating_sub(1)
}

/// `_0`, `_a`, `_10`: a segment as Lucene names it, its number in base 36.
pub fn segment_name(id: u64) -> String {
    let mut digits = Vec::new();
    let mut rest = segment_generation(id);
    loop {
        digits.push(char::from_digit((rest % 36) as u32, 36).unwrap_or('0'));
        rest /= 36;
        if rest == 0 {
            break;
        }
    }
    digits.push('_');
    digits.iter().rev().collect()
}

/// `50.0%`.
pub fn percent(part: u64, whole: u64) -> String {
    format!("{:.1}%", ratio(part, whole))
}

/// Percent of the whole; all of nothing is 100.
pub fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 100.0 } else { part as f64 * 100.0 / whole as f64 }
}

/// Percent of the whole to the nearest whole one, halves upwards, as Elasticsearch tells a machine's memory;
/// of nothing it is 0.
pub fn whole_percent(part: u64, whole: u64) -> u64 {
    if whole == 0 { 0 } else { (part as f64 * 100.0 / whole as f64).round() as u64 }
}

/// `2026-11-20T09:08:07.006Z`.
pub fn date(unix_ms: i64) -> String {
    base::calendar::iso(unix_ms)
}

/// `09:08:07`, of the day in UTC.
pub fn time_of_day(unix_ms: i64) -> String {
    date(unix_ms)[11..19].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_cut_to_one_decimal() {
        for (count, text) in [
            (0, "0b"),
            (1_023, "1023b"),
            (1_024, "1kb"),
            (16_179, "15.7kb"),
            (1_048_575, "1023.9kb"),
            (1_048_576, "1mb"),
            (104_857_600, "100mb"),
            (1 << 40, "1tb"),
            (u64::MAX, "16383.9pb"),
        ] {
            assert_eq!(bytes(count), text);
        }
        assert_eq!(bytes_in(1_048_577, "mb"), Some(1));
        assert_eq!(bytes_in(5, "b"), Some(5));
        assert_eq!(bytes_in(5, "x"), None);
    }

    #[test]
    fn times_are_cut_to_one_decimal() {
        for (count, text) in
            [(0, "0s"), (25, "25ms"), (1_000, "1s"), (1_290, "1.2s"), (90_000, "1.5m")]
        {
            assert_eq!(millis(count), text);
        }
    }

    #[test]
    fn nanoseconds_take_the_unit_that_fits() {
        for (count, text) in
            [(0, "0s"), (740, "740nanos"), (7_600_000, "7.6ms"), (u64::MAX, "213503.9d")]
        {
            assert_eq!(nanos(count), text);
        }
        assert_eq!(nanos_in(1_999_999, "ms"), Some(1));
        assert_eq!(nanos_in(1, "x"), None);
    }

    #[test]
    fn dates_are_iso() {
        assert_eq!(date(1_795_165_687_006), "2026-11-20T09:08:07.006Z");
        assert_eq!(time_of_day(1_795_165_687_006), "09:08:07");
        assert_eq!(percent(1, 2), "50.0%");
        assert_eq!(percent(0, 0), "100.0%");
        // Cut off, used and free together were 99.
        let told = [(2, 3), (1, 3), (1, 200), (1, 201), (0, 7), (7, 7), (1, 0)];
        let told = told.map(|(part, whole)| whole_percent(part, whole));
        assert_eq!(told, [67, 33, 1, 0, 0, 100, 0]);
    }
}
