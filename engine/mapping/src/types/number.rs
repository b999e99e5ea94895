//! Numbers: what a document's value becomes for each width, and what is refused.
//!
//! The ways differ as they do in Elasticsearch: a number token is read as Jackson reads it (an
//! integer type cuts the decimals off), a string as Java does, and only where `coerce` allows it.
//! `long` reads strings digit by digit, so none is lost; the smaller integers go through a double.

use std::borrow::Cow;

use super::scalar::Scalar;
use super::{half, sortable};
use crate::{Error, ErrorKind, Result};

/// Widths and kinds of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NumberKind {
    /// 64-bit integer.
    Long,
    /// 32-bit integer.
    Integer,
    /// 16-bit integer.
    Short,
    /// 8-bit integer.
    Byte,
    /// 64-bit float.
    Double,
    /// 32-bit float.
    Float,
    /// 16-bit float.
    HalfFloat,
    /// 64-bit integer without sign.
    UnsignedLong,
    /// 64-bit integer that is a decimal times a factor of the field.
    ScaledFloat,
}

impl NumberKind {
    /// Elasticsearch's name of the type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Long => "long",
            Self::Integer => "integer",
            Self::Short => "short",
            Self::Byte => "byte",
            Self::Double => "double",
            Self::Float => "float",
            Self::HalfFloat => "half_float",
            Self::UnsignedLong => "unsigned_long",
            Self::ScaledFloat => "scaled_float",
        }
    }

    /// The type of that name.
    pub fn of_name(name: &str) -> Option<Self> {
        [
            Self::Long,
            Self::Integer,
            Self::Short,
            Self::Byte,
            Self::Double,
            Self::Float,
            Self::HalfFloat,
            Self::UnsignedLong,
            Self::ScaledFloat,
        ]
        .into_iter()
        .find(|kind| kind.name() == name)
    }

    /// Java's name of the class that holds it.
    const fn class(self) -> &'static str {
        match self {
            Self::Long | Self::UnsignedLong => "Long",
            // A byte is read as an int.
            Self::Integer | Self::Byte => "Integer",
            Self::Short => "Short",
            Self::Double | Self::ScaledFloat => "Double",
            Self::Float | Self::HalfFloat => "Float",
        }
    }

    /// Has it decimals?
    pub const fn is_float(self) -> bool {
        matches!(self, Self::Double | Self::Float | Self::HalfFloat)
    }

    /// Least and greatest value of an integer type.
    pub const fn range(self) -> (i64, i64) {
        match self {
            Self::Integer => (i32::MIN as i64, i32::MAX as i64),
            Self::Short => (i16::MIN as i64, i16::MAX as i64),
            Self::Byte => (i8::MIN as i64, i8::MAX as i64),
            _ => (i64::MIN, i64::MAX),
        }
    }

    /// With its article, as error texts name it.
    const fn with_article(self) -> &'static str {
        match self {
            Self::Long => "a long",
            Self::Integer => "an integer",
            Self::Short => "a short",
            Self::Byte => "a byte",
            Self::Double => "a double",
            Self::Float => "a float",
            Self::HalfFloat => "a half_float",
            Self::UnsignedLong => "unsigned long",
            Self::ScaledFloat => "a scaled_float",
        }
    }

    /// The sortable value of a double that this type keeps (of integers, cut).
    pub const fn sortable_of(self, value: f64) -> i64 {
        match self {
            Self::HalfFloat => sortable::from_f16(half::from_f32(value as f32)),
            Self::Float => sortable::from_f32(value as f32),
            Self::Double => sortable::from_f64(value),
            Self::UnsignedLong => sortable::from_u64(value as u64),
            _ => value as i64,
        }
    }

    /// The double of a sortable value of this type.
    pub fn double_of(self, sortable: i64) -> f64 {
        match self {
            Self::HalfFloat => f64::from(half::to_f32(sortable::to_f16(sortable))),
            Self::Float => f64::from(sortable::to_f32(sortable)),
            Self::Double => sortable::to_f64(sortable),
            Self::UnsignedLong => sortable::to_u64(sortable) as f64,
            _ => sortable as f64,
        }
    }

    /// The sortable value of a document's value.
    ///
    /// # Errors
    /// In Elasticsearch's words. Those of kind `XContentParse` lack the place.
    #[inline]
    pub fn parse(self, value: Scalar<'_>, coerce: bool) -> Result<i64> {
        match (self, value) {
            (Self::Long, Scalar::Integer(value)) => Ok(value),
            (Self::Double, Scalar::Decimal(value, _)) if value.is_finite() => {
                Ok(sortable::from_f64(value))
            }
            (Self::UnsignedLong, value) => super::numeric::parse_unsigned(value),
            _ if self.is_float() => self.parse_float(value, coerce),
            _ => self.parse_integer(value, coerce),
        }
    }

    fn parse_float(self, value: Scalar<'_>, coerce: bool) -> Result<i64> {
        if let Scalar::Text(text) = value {
            self.check_text(coerce)?;
            // A float is rounded once, from its digits.
            if matches!(self, Self::Float | Self::HalfFloat) {
                return self.finite_float(java_float(text)?);
            }
            return self.finite(java_double(text)?);
        }
        let value = match value {
            Scalar::Integer(value) => value as f64,
            Scalar::Decimal(value, _) => value,
            Scalar::Big(origin) => java_double(origin.text())?,
            other => return Err(not_numeric(other)),
        };
        match self {
            Self::Float | Self::HalfFloat => self.finite_float(value as f32),
            _ => self.finite(value),
        }
    }

    fn finite(self, value: f64) -> Result<i64> {
        if value.is_finite() {
            return Ok(sortable::from_f64(value));
        }
        Err(self.only_finite(&json::number::double_to_string(value)))
    }

    pub(super) fn finite_float(self, value: f32) -> Result<i64> {
        if self == Self::HalfFloat {
            let bits = half::from_f32(value);
            if half::to_f32(bits).is_finite() {
                return Ok(sortable::from_f16(bits));
            }
        } else if value.is_finite() {
            return Ok(sortable::from_f32(value));
        }
        Err(self.only_finite(&json::number::float_to_string(value)))
    }

    #[cold]
    fn only_finite(self, value: &str) -> Error {
        Error::illegal_argument(format!(
            "[{}] supports only finite values, but got [{value}]",
            self.name()
        ))
    }

    fn check_text(self, coerce: bool) -> Result<()> {
        if coerce {
            return Ok(());
        }
        Err(Error::illegal_argument(format!("{} value passed as String", self.class())))
    }

    fn parse_integer(self, value: Scalar<'_>, coerce: bool) -> Result<i64> {
        let (least, most) = self.range();
        // A number's own digits are shown where it does not fit.
        let mut origin_text = None;
        let value = match value {
            Scalar::Text(text) => {
                self.check_text(coerce)?;
                if self == Self::Long {
                    return long_of_text(text, coerce);
                }
                let double = java_double(text)?;
                // A byte is read as an int first.
                let (low, high) =
                    if self == Self::Byte { Self::Integer.range() } else { (least, most) };
                if double < low as f64 || double > high as f64 {
                    let read = if self == Self::Byte { Self::Integer } else { self };
                    return Err(read.out_of_range(text));
                }
                double as i64
            }
            Scalar::Integer(value) => value,
            Scalar::Decimal(double, origin) => {
                let value = double as i64;
                // All but a long are read as an int first: its ends stand before decimals are cut.
                let (low, high) =
                    if self == Self::Long { self.range() } else { Self::Integer.range() };
                if !(low as f64..=high as f64).contains(&double) {
                    return Err(self.numeric_out_of_range(origin.text()));
                }
                origin_text = Some(origin.text());
                if !coerce && value as f64 != double {
                    return Err(Error::illegal_argument(format!(
                        "{} cannot be converted to {} without data loss",
                        json::number::double_to_string(double),
                        self.class()
                    )));
                }
                value
            }
            Scalar::Big(origin) => return Err(self.numeric_out_of_range(origin.text())),
            other @ Scalar::Bool(_) => return Err(not_numeric(other)),
        };
        if value >= least && value <= most {
            return Ok(value);
        }
        let fits_int = i32::try_from(value).is_ok();
        Err(match self {
            Self::Byte if fits_int => self.out_of_range(&value.to_string()),
            _ => match origin_text {
                Some(text) => self.numeric_out_of_range(text),
                None => self.numeric_out_of_range(&value.to_string()),
            },
        })
    }

    /// What Elasticsearch itself says.
    #[cold]
    pub(super) fn out_of_range(self, text: &str) -> Error {
        Error::illegal_argument(format!(
            "Value [{text}] is out of range for {}",
            self.with_article()
        ))
    }

    /// What Jackson says of a number token.
    #[cold]
    fn numeric_out_of_range(self, text: &str) -> Error {
        let (name, (least, most)) = match self {
            Self::Long => ("long", Self::Long.range()),
            _ => ("int", Self::Integer.range()),
        };
        let (low, high) = Self::Integer.range();
        let fits_int =
            text.parse::<f64>().is_ok_and(|number| (low as f64..=high as f64).contains(&number));
        let reason = if self == Self::Short && fits_int {
            format!("Numeric value ({text}) out of range of Java short")
        } else {
            format!("Numeric value ({text}) out of range of {name} ({least} - {most})")
        };
        Error::new(ErrorKind::XContentParse, reason)
    }
}

#[cold]
fn not_numeric(value: Scalar<'_>) -> Error {
    not_numeric_token(value.token())
}

/// What is said of a token that is no number.
#[cold]
pub(crate) fn not_numeric_token(token: &str) -> Error {
    Error::new(
        ErrorKind::XContentParse,
        format!("Current token ({token}) not numeric, can not use numeric value accessors"),
    )
}

/// A long of text, digit by digit; decimals are cut where `coerce` allows it.
pub(super) fn long_of_text(text: &str, coerce: bool) -> Result<i64> {
    let plus = text.strip_prefix('+').filter(|rest| !rest.starts_with(['+', '-']));
    if let Ok(value) = plus.unwrap_or(text).parse::<i64>() {
        return Ok(value);
    }
    let Some(decimal) = Decimal::of(text) else {
        return Err(Error::illegal_argument(format!("For input string: \"{text}\"")));
    };
    if !coerce && !decimal.is_whole() {
        return Err(Error::illegal_argument(format!("Value [{text}] has a decimal part")));
    }
    decimal.to_i64().ok_or_else(|| NumberKind::Long.out_of_range(text))
}

/// A decimal as Java's `BigDecimal` reads it, without its arithmetic.
struct Decimal<'a> {
    negative: bool,
    /// Digits without the point.
    digits: Cow<'a, str>,
    /// Where the point stands among the digits.
    point: i64,
}

impl<'a> Decimal<'a> {
    fn of(text: &'a str) -> Option<Self> {
        let (negative, rest) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (rest, 0),
        };
        let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits: Cow<'a, str> =
            if part.is_empty() { whole.into() } else { format!("{whole}{part}").into() };
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        Some(Self { negative, digits, point: whole.len() as i64 + i64::from(exponent) })
    }

    /// Digits before the point, and after it.
    fn split(&self) -> (&str, &str) {
        let point = self.point.clamp(0, self.digits.len() as i64) as usize;
        self.digits.split_at(point)
    }

    fn is_whole(&self) -> bool {
        self.split().1.bytes().all(|digit| digit == b'0')
    }

    /// The whole part, where it fits.
    fn to_i64(&self) -> Option<i64> {
        let (whole, _) = self.split();
        let whole = whole.trim_start_matches('0');
        let zeros = (self.point - self.digits.len() as i64).max(0);
        if whole.is_empty() {
            return Some(0);
        }
        if whole.len() as i64 + zeros > 19 {
            return None;
        }
        let value = whole.parse::<i128>().ok()? * 10i128.pow(zeros as u32);
        i64::try_from(if self.negative { -value } else { value }).ok()
    }
}

/// `Double.parseDouble`: blanks around, a sign, digits, an exponent, a last `d` or `f`.
pub fn java_double(text: &str) -> Result<f64> {
    match java_number(text) {
        Java::Digits(digits) => digits.parse().map_err(|_| Error::number_format(text)),
        Java::Value(value) => Ok(value),
        Java::Empty => Err(Error::new(ErrorKind::NumberFormat, "empty String")),
        Java::No => Err(Error::number_format(text)),
    }
}

/// `Float.parseFloat`.
pub fn java_float(text: &str) -> Result<f32> {
    match java_number(text) {
        Java::Digits(digits) => digits.parse().map_err(|_| Error::number_format(text)),
        Java::Value(value) => Ok(value as f32),
        Java::Empty => Err(Error::new(ErrorKind::NumberFormat, "empty String")),
        Java::No => Err(Error::number_format(text)),
    }
}

enum Java<'a> {
    /// What Rust reads as Java does.
    Digits(&'a str),
    /// NaN or an infinity.
    Value(f64),
    Empty,
    No,
}

/// The grammar of `Double.valueOf`, but for hexadecimal floats, which are refused.
fn java_number(text: &str) -> Java<'_> {
    let text = text.trim_matches(|c| c <= ' ');
    if text.is_empty() {
        return Java::Empty;
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let negative = text.starts_with('-');
    match unsigned {
        "NaN" => return Java::Value(f64::NAN),
        "Infinity" if negative => return Java::Value(f64::NEG_INFINITY),
        "Infinity" => return Java::Value(f64::INFINITY),
        _ => {}
    }
    let digits = text.strip_suffix(['d', 'D', 'f', 'F']).unwrap_or(text);
    let plain = unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && digits.bytes().all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
    if plain { Java::Digits(digits) } else { Java::No }
}

/// Would `Long.parseLong` read it?
pub fn is_java_long(text: &str) -> bool {
    let rest = text.strip_prefix('+').filter(|rest| !rest.starts_with(['+', '-']));
    rest.unwrap_or(text).parse::<i64>().is_ok()
}

/// Would `Double.parseDouble` read it?
pub fn is_java_double(text: &str) -> bool {
    java_double(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::scalar::Origin;

    fn text(kind: NumberKind, text: &str, coerce: bool) -> std::result::Result<i64, String> {
        kind.parse(Scalar::Text(text), coerce).map_err(|error| error.reason)
    }

    fn number(kind: NumberKind, digits: &str, coerce: bool) -> std::result::Result<i64, String> {
        let value = json::parse(digits.as_bytes()).expect("a number");
        let scalar = Scalar::of_value(&value).expect("a scalar");
        kind.parse(scalar, coerce).map_err(|error| error.reason)
    }

    #[test]
    fn coercion_cuts_decimals_and_reads_strings() {
        use NumberKind::*;
        assert_eq!(text(Long, "5", true), Ok(5));
        assert_eq!(text(Long, "5.7", true), Ok(5));
        assert_eq!(text(Long, "-1.5e3", true), Ok(-1500));
        assert_eq!(text(Long, "9223372036854775807.9", true), Ok(i64::MAX));
        assert_eq!(text(Long, "+7", true), Ok(7));
        assert_eq!(number(Integer, "5.7", true), Ok(5));
        assert_eq!(number(Integer, "-3.9", true), Ok(-3));
        assert_eq!(text(Integer, " 12 ", true), Ok(12));
        assert_eq!(text(Float, "1.25", true), Ok(sortable::from_f32(1.25)));
        assert_eq!(number(Double, "7", true), Ok(sortable::from_f64(7.0)));
        assert_eq!(
            number(Double, "18446744073709551616", true),
            Ok(sortable::from_f64(2f64.powi(64)))
        );
        assert_eq!(number(Long, "5.0", false), Ok(5));
        // A short is read as an int, then cut, then compared with its own ends.
        assert_eq!(number(Short, "32767.9", true), Ok(32767));
        assert_eq!(number(Byte, "-128.9", true), Ok(-128));
        assert_eq!(number(Integer, "2147483647.0", true), Ok(2_147_483_647));
        assert_eq!(number(Long, "9223372036854775807.9", true), Ok(i64::MAX));
    }

    #[test]
    fn what_does_not_fit_is_refused_in_elasticsearchs_words() {
        use NumberKind::*;
        for (got, want) in [
            (text(Long, "cheap", true), "For input string: \"cheap\""),
            (text(Double, "abc", true), "For input string: \"abc\""),
            (text(Double, " ", true), "empty String"),
            (text(Long, "5", false), "Long value passed as String"),
            (text(Integer, "5", false), "Integer value passed as String"),
            (number(Long, "5.5", false), "5.5 cannot be converted to Long without data loss"),
            (number(Byte, "200", true), "Value [200] is out of range for a byte"),
            (
                text(Integer, "3000000000", true),
                "Value [3000000000] is out of range for an integer",
            ),
            (
                number(Integer, "3000000000", true),
                "Numeric value (3000000000) out of range of int (-2147483648 - 2147483647)",
            ),
            (
                number(Integer, "2147483647.9", true),
                "Numeric value (2147483647.9) out of range of int (-2147483648 - 2147483647)",
            ),
            (
                number(Integer, "-2147483648.9", true),
                "Numeric value (-2147483648.9) out of range of int (-2147483648 - 2147483647)",
            ),
            (
                number(Short, "2147483647.9", true),
                "Numeric value (2147483647.9) out of range of int (-2147483648 - 2147483647)",
            ),
            (
                number(Byte, "2147483647.9", true),
                "Numeric value (2147483647.9) out of range of int (-2147483648 - 2147483647)",
            ),
            (number(Short, "32768.5", true), "Numeric value (32768.5) out of range of Java short"),
            (number(Byte, "128.5", true), "Value [128] is out of range for a byte"),
            (number(Short, "40000", true), "Numeric value (40000) out of range of Java short"),
            (
                number(Long, "9223372036854775808", true),
                "Numeric value (9223372036854775808) out of range of long (-9223372036854775808 - \
                 9223372036854775807)",
            ),
            (text(Long, "1e99", true), "Value [1e99] is out of range for a long"),
            (text(Double, "NaN", true), "[double] supports only finite values, but got [NaN]"),
            (
                number(Float, "1e39", true),
                "[float] supports only finite values, but got [Infinity]",
            ),
        ] {
            assert_eq!(got, Err(want.to_owned()));
        }
        let error = Long.parse(Scalar::Bool(true), true).expect_err("no number");
        assert_eq!(
            error.reason,
            "Current token (VALUE_TRUE) not numeric, can not use numeric value accessors"
        );
    }

    #[test]
    fn java_reads_what_people_write() {
        for (text, long, double) in [
            ("12", true, true),
            ("+12", true, true),
            ("+-12", false, false),
            (" 12", false, true),
            ("1e5", false, true),
            ("1f", false, true),
            (".5d", false, true),
            ("NaN", false, true),
            ("-Infinity", false, true),
            ("inf", false, false),
            ("nan", false, false),
            ("0x10", false, false),
            ("", false, false),
            ("1.2.3", false, false),
            ("2024-01-01", false, false),
        ] {
            assert_eq!((is_java_long(text), is_java_double(text)), (long, double), "{text:?}");
        }
    }

    #[test]
    fn long_text_is_read_as_the_plainest_arithmetic_reads_it() {
        proptest::proptest!(|(whole in -9_300_000_000_000_000_000i128..9_300_000_000_000_000_000, part in "[0-9]{0,4}")| {
            let text = format!("{whole}.{part}");
            let got = long_of_text(&text, true).ok();
            proptest::prop_assert_eq!(got, i64::try_from(whole).ok());
        });
        proptest::proptest!(|(text in "[-+0-9.eE]{0,12}")| {
            let _ = long_of_text(&text, true);
            let _ = NumberKind::Long.parse(Scalar::Decimal(1e300, Origin::Text(&text)), true);
        });
    }
}
