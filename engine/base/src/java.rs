//! How Java prints a double or a float.
//!
//! `Double.toString` (JDK 19 and later) prints the shortest decimal that reads back as the same
//! value, at least two digits, plain from 10^-3 below 10^7, otherwise `d.dE±n`. The digits come
//! from ryu; where it gives one digit alone, Java looks among the decimals of two digits, which
//! matters for the smallest subnormals only (`4.9E-324`, not `5.0E-324`).

/// Java's `Double.toString`.
pub fn double_to_string(value: f64) -> String {
    let mut out = Vec::new();
    write_f64(&mut out, value);
    ascii(out)
}

/// Java's `Float.toString`.
pub fn float_to_string(value: f32) -> String {
    let mut out = Vec::new();
    write_f32(&mut out, value);
    ascii(out)
}

/// `Math.round`: to the nearest whole number, halves up; exact also where adding a half is not.
pub fn round(value: f64) -> i64 {
    let floor = value.floor();
    (if value - floor >= 0.5 { floor + 1.0 } else { floor }) as i64
}

/// Appends Java's `Double.toString` (`NaN`, `Infinity` and `-Infinity` without quotes).
pub fn write_f64(out: &mut Vec<u8>, value: f64) {
    if !value.is_finite() {
        return write_special(out, value.is_nan(), value > 0.0);
    }
    let size = value.abs();
    let two = || Some(format!("{size:.1e}")).filter(|text| text.parse::<f64>() == Ok(size));
    let two = || if size < f64::MIN_POSITIVE { two() } else { None };
    write_finite(out, value.is_sign_negative(), ryu::Buffer::new().format_finite(size), two);
}

/// Appends Java's `Float.toString`.
pub fn write_f32(out: &mut Vec<u8>, value: f32) {
    if !value.is_finite() {
        return write_special(out, value.is_nan(), value > 0.0);
    }
    let size = value.abs();
    let two = || Some(format!("{size:.1e}")).filter(|text| text.parse::<f32>() == Ok(size));
    let two = || if size < f32::MIN_POSITIVE { two() } else { None };
    write_finite(out, value.is_sign_negative(), ryu::Buffer::new().format_finite(size), two);
}

/// Appends a number of which `shortest` is the shortest text. Java wants two digits: where there is but
/// one, the `two` nearest are taken if the number is the same. They are others than that one and 0 for subnormals alone,
/// whose neighbours are far: to print them takes a microsecond.
fn write_finite(
    out: &mut Vec<u8>,
    is_negative: bool,
    shortest: &str,
    two: impl FnOnce() -> Option<String>,
) {
    if is_negative {
        out.push(b'-');
    }
    let mut decimal = Decimal::read(shortest.as_bytes());
    if decimal.len == 0 {
        return out.extend_from_slice(b"0.0");
    }
    if decimal.len == 1
        && let Some(nearest) = two()
    {
        decimal = Decimal::read(nearest.as_bytes());
    }
    decimal.print(out);
}

fn write_special(out: &mut Vec<u8>, nan: bool, positive: bool) {
    out.extend_from_slice(match (nan, positive) {
        (true, _) => b"NaN",
        (false, true) => b"Infinity",
        (false, false) => b"-Infinity",
    });
}

fn ascii(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("only ASCII is written here")
}

/// `0.d₁d₂…d_len × 10^point`, without sign; `d₁` is not 0, nor is the last digit unless alone.
#[derive(Clone, Copy)]
struct Decimal {
    digits: [u8; 20],
    len: usize,
    point: i32,
}

impl Decimal {
    /// Reads digits with at most one point and an exponent after `e`, of a number above 0.
    fn read(text: &[u8]) -> Self {
        let mut decimal = Self { digits: [0; 20], len: 0, point: 0 };
        let mut after_point = false;
        for (at, &byte) in text.iter().enumerate() {
            match byte {
                b'.' => after_point = true,
                b'e' => {
                    let exponent = std::str::from_utf8(&text[at + 1..]).unwrap_or_default();
                    decimal.point += exponent.parse::<i32>().expect("ryu writes the exponent");
                    break;
                }
                b'0' if decimal.len == 0 => decimal.point -= i32::from(after_point),
                digit => {
                    decimal.digits[decimal.len] = digit;
                    decimal.len += 1;
                    decimal.point += i32::from(!after_point);
                }
            }
        }
        while decimal.len > 1 && decimal.digits[decimal.len - 1] == b'0' {
            decimal.len -= 1;
        }
        decimal
    }

    fn print(&self, out: &mut Vec<u8>) {
        let digits = &self.digits[..self.len];
        let or_zero = |rest: &[u8], out: &mut Vec<u8>| {
            out.extend_from_slice(if rest.is_empty() { b"0" } else { rest });
        };
        match usize::try_from(self.point) {
            Ok(whole @ 1..=7) => {
                let head = whole.min(self.len);
                out.extend_from_slice(&digits[..head]);
                out.resize(out.len() + (whole - head), b'0');
                out.push(b'.');
                or_zero(&digits[head..], out);
            }
            _ if (-2..=0).contains(&self.point) => {
                out.extend_from_slice(b"0.");
                out.resize(out.len() + self.point.unsigned_abs() as usize, b'0');
                out.extend_from_slice(digits);
            }
            _ => {
                out.push(digits[0]);
                out.push(b'.');
                or_zero(&digits[1..], out);
                out.push(b'E');
                out.extend_from_slice((self.point - 1).to_string().as_bytes());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn halves_round_up_and_nothing_else_does() {
        // As JDK 21 does; adding a half first would give 1 and 4503599627370498.
        for (value, rounded) in [
            (0.5, 1),
            (-0.5, 0),
            (-1.5, -1),
            (2.4, 2),
            (0.499_999_999_999_999_94, 0),
            (4_503_599_627_370_497.0, 4_503_599_627_370_497),
            (-4_503_599_627_370_497.0, -4_503_599_627_370_497),
            (f64::NAN, 0),
            (f64::INFINITY, i64::MAX),
        ] {
            assert_eq!(round(value), rounded, "{value}");
        }
    }

    #[test]
    fn doubles_print_as_java_prints_them() {
        // Values and texts of JDK 21; those with E-5, E12, E-4 and E21 stand in numbers.md.
        let table: &[(f64, &str)] = &[
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (-1.5, "-1.5"),
            (100.0, "100.0"),
            (0.1, "0.1"),
            (0.001, "0.001"),
            (0.0012, "0.0012"),
            (0.00099, "9.9E-4"),
            (1.0e-4, "1.0E-4"),
            (1.0e-5, "1.0E-5"),
            (9_999_999.0, "9999999.0"),
            (1.0e7, "1.0E7"),
            (12_345_678.9, "1.23456789E7"),
            (1.0e10, "1.0E10"),
            (1.710_028_8e12, "1.7100288E12"),
            (1.0e21, "1.0E21"),
            (2.0e-3, "0.002"),
            (2.0e23, "2.0E23"),
            (1.0e23, "1.0E23"),
            (f64::from(0.0001_f32), "9.999999747378752E-5"),
            (f64::MAX, "1.7976931348623157E308"),
            (f64::MIN_POSITIVE, "2.2250738585072014E-308"),
            (5e-324, "4.9E-324"),
            (1e-323, "9.9E-324"),
            (123.456, "123.456"),
            (1_234_567.0, "1234567.0"),
            (0.333_333_333_333_333_3, "0.3333333333333333"),
        ];
        for (value, text) in table {
            assert_eq!(double_to_string(*value), *text);
        }
        assert_eq!(double_to_string(f64::NAN), "NaN");
        assert_eq!(double_to_string(f64::NEG_INFINITY), "-Infinity");
    }

    #[test]
    fn floats_print_as_java_prints_them() {
        let table: &[(f32, &str)] = &[
            (1.0, "1.0"),
            (0.133_531_39, "0.13353139"),
            (0.267_062_78, "0.26706278"),
            (1.203_972_8, "1.2039728"),
            (0.0001, "1.0E-4"),
            (1e21, "1.0E21"),
            (1e10, "1.0E10"),
            (6.600_000_4, "6.6000004"),
            (f32::MAX, "3.4028235E38"),
            (1e-45, "1.4E-45"),
            (3.0e-45, "2.8E-45"),
            (16_777_216.0, "1.6777216E7"),
        ];
        for (value, text) in table {
            assert_eq!(float_to_string(*value), *text);
        }
    }

    proptest! {
        #[test]
        fn printed_doubles_read_back(bits: u64) {
            let value = f64::from_bits(bits);
            prop_assume!(value.is_finite());
            prop_assert_eq!(double_to_string(value).parse::<f64>().map(f64::to_bits), Ok(bits));
        }

        #[test]
        fn printed_floats_read_back(bits: u32) {
            let value = f32::from_bits(bits);
            prop_assume!(value.is_finite());
            prop_assert_eq!(float_to_string(value).parse::<f32>().map(f32::to_bits), Ok(bits));
        }
    }
}
