//! Text as Java has it: numbers printed, strings counted in UTF-16 units.

/// `Double.toString`.
pub fn double(value: f64) -> String {
    shortest(
        value.is_nan(),
        value.is_infinite(),
        value < 0.0,
        value == 0.0 && value.is_sign_negative(),
        value == 0.0,
        &format!("{:e}", value.abs()),
    )
}

/// `Float.toString`.
pub fn float(value: f32) -> String {
    shortest(
        value.is_nan(),
        value.is_infinite(),
        value < 0.0,
        value == 0.0 && value.is_sign_negative(),
        value == 0.0,
        &format!("{:e}", value.abs()),
    )
}

/// Digits and exponent, as Rust prints the shortest, laid out as Java does: plain from 10^-3 below
/// 10^7, else with an exponent; a point always.
fn shortest(
    nan: bool,
    infinite: bool,
    negative: bool,
    minus_zero: bool,
    zero: bool,
    text: &str,
) -> String {
    if nan {
        return "NaN".to_owned();
    }
    let sign = if negative || minus_zero { "-" } else { "" };
    if infinite {
        return format!("{sign}Infinity");
    }
    if zero {
        return format!("{sign}0.0");
    }
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let digits: String = mantissa.chars().filter(|digit| *digit != '.').collect();
    if !(-3..7).contains(&exponent) {
        let rest = if digits.len() > 1 { &digits[1..] } else { "0" };
        return format!("{sign}{}.{rest}E{exponent}", &digits[..1]);
    }
    if exponent < 0 {
        let zeros = "0".repeat((-exponent - 1) as usize);
        return format!("{sign}0.{zeros}{digits}");
    }
    let whole = exponent as usize + 1;
    if digits.len() <= whole {
        return format!("{sign}{digits}{}.0", "0".repeat(whole - digits.len()));
    }
    format!("{sign}{}.{}", &digits[..whole], &digits[whole..])
}

/// Length in UTF-16 units.
pub fn len(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.encode_utf16().count() }
}

/// The byte offset of a UTF-16 place; inside a pair of surrogates it is before it.
pub fn byte_at(text: &str, unit: usize) -> usize {
    if text.is_ascii() {
        return unit.min(text.len());
    }
    let mut seen = 0;
    for (at, character) in text.char_indices() {
        if seen + character.len_utf16() > unit {
            return at;
        }
        seen += character.len_utf16();
    }
    text.len()
}

/// The UTF-16 place of a byte offset.
pub fn unit_at(text: &str, byte: usize) -> usize {
    len(&text[..byte])
}

/// The unit at a UTF-16 place.
pub fn char_at(text: &str, unit: usize) -> Option<u16> {
    if text.is_ascii() {
        return text.as_bytes().get(unit).map(|byte| u16::from(*byte));
    }
    text.encode_utf16().nth(unit)
}

/// `String.hashCode`.
pub fn hash(text: &str) -> i32 {
    text.encode_utf16().fold(0i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)))
}

/// `Double.parseDouble`: Rust's and Java's, without what only Rust takes.
pub fn parse_double(text: &str) -> Option<f64> {
    let text = text.trim();
    match text.trim_start_matches(['+', '-']) {
        "NaN" => return Some(f64::NAN),
        "Infinity" => {
            return Some(if text.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY });
        }
        _ => {}
    }
    let number = text.strip_suffix(['d', 'D', 'f', 'F']).unwrap_or(text);
    let body = number.strip_prefix(['+', '-']).unwrap_or(number);
    if !body.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
        return None;
    }
    number.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_print_as_javas() {
        for (value, text) in [
            (0.1, "0.1"),
            (1.0, "1.0"),
            (-0.0, "-0.0"),
            (100.0, "100.0"),
            (1e7, "1.0E7"),
            (9_999_999.0, "9999999.0"),
            (0.001, "0.001"),
            (0.000_12, "1.2E-4"),
            (1.5e300, "1.5E300"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(double(value), text);
        }
        assert_eq!(float(3.4), "3.4");
    }

    #[test]
    fn strings_count_in_utf16() {
        assert_eq!(len("a𝄞b"), 4);
        assert_eq!(byte_at("a𝄞b", 3), 5);
        assert_eq!(hash("hello"), 99_162_322);
    }
}
