//! How values and keys are printed (Elasticsearch's `DocValueFormat`).

use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

use json::number::double_to_string;
use mapping::Field;
use mapping::types::DateFormat;
use mapping::types::calendar::Moment;
use mapping::types::zone::Zone;

use super::geo;

/// How values are printed.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Format {
    /// As they are: nothing beside the value.
    #[default]
    Raw,
    /// `true` or `false`.
    Boolean,
    /// As a date.
    Date {
        /// In this format.
        format: Arc<DateFormat>,
        /// By this clock.
        zone: Zone,
        /// The value counts nanoseconds.
        nanos: bool,
    },
    /// By a pattern.
    Decimal(Arc<Decimal>),
    /// As an address.
    Ip,
    /// As a field shows its terms.
    Terms(Shown),
    /// As a cell of geohashes.
    GeoHash,
    /// As a tile.
    GeoTile,
}

/// A field that shows its terms otherwise than they are kept.
#[derive(Clone, Debug)]
pub struct Shown(pub Arc<Field>);

impl PartialEq for Shown {
    fn eq(&self, other: &Self) -> bool {
        self.0.path == other.0.path
    }
}

impl Format {
    /// Nothing stands beside the value.
    pub fn is_raw(&self) -> bool {
        matches!(self, Self::Raw)
    }

    /// A long.
    pub fn long(&self, value: i64) -> String {
        match self {
            Self::Raw | Self::Ip | Self::Terms(_) => value.to_string(),
            Self::Boolean => (value != 0).to_string(),
            Self::Date { format, zone, nanos } => format.print(moment(value, *nanos), zone),
            Self::Decimal(pattern) => pattern.print_long(value),
            Self::GeoHash => geo::hash_text(value),
            Self::GeoTile => geo::tile_text(value),
        }
    }

    /// A double.
    pub fn double(&self, value: f64) -> String {
        match self {
            Self::Raw | Self::Ip | Self::Terms(_) | Self::GeoHash | Self::GeoTile => {
                double_to_string(value)
            }
            Self::Boolean => (value != 0.0).to_string(),
            // Java casts to long.
            Self::Date { .. } => self.long(value as i64),
            Self::Decimal(pattern) => pattern.print(value),
        }
    }

    /// Terms are shown otherwise than they are kept.
    pub fn is_of_terms(&self) -> bool {
        matches!(self, Self::Terms(_))
    }

    /// Bytes.
    pub fn bytes(&self, value: &[u8]) -> String {
        match self {
            Self::Ip => ip_text(value),
            Self::Terms(Shown(field)) => match field.show_term(value) {
                json::Value::String(text) => text,
                other => json::to_string(&other),
            },
            _ => String::from_utf8_lossy(value).into_owned(),
        }
    }
}

fn moment(value: i64, nanos: bool) -> Moment {
    if !nanos {
        return Moment::from_ms(value);
    }
    Moment {
        seconds: value.div_euclid(1_000_000_000),
        nanos: value.rem_euclid(1_000_000_000) as u32,
    }
}

/// An address of 16 bytes as text.
pub fn ip_text(bytes: &[u8]) -> String {
    let Ok(bytes) = <[u8; 16]>::try_from(bytes) else {
        return String::from_utf8_lossy(bytes).into_owned();
    };
    match Ipv6Addr::from(bytes).to_canonical() {
        IpAddr::V4(four) => four.to_string(),
        IpAddr::V6(six) => six.to_string(),
    }
}

/// A pattern of Java's `DecimalFormat`: `#,##0.00`, `000.0`, `0.0%`, `0.##E0`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decimal {
    prefix: String,
    suffix: String,
    integer_min: usize,
    fraction_min: usize,
    fraction_max: usize,
    group: usize,
    factor: f64,
    /// Least digits of the exponent.
    exponent_min: Option<usize>,
}

impl Decimal {
    /// Reads a pattern; its negative half is passed over.
    pub fn parse(pattern: &str) -> Self {
        let mut found = Self { factor: 1.0, ..Self::default() };
        let (mut in_number, mut after) = (false, false);
        let (mut fraction, mut since_comma) = (false, None);
        let mut quoted = false;
        let mut chars = pattern.chars().peekable();
        while let Some(c) = chars.next() {
            if c == '\'' {
                if chars.peek() == Some(&'\'') {
                    chars.next();
                    let text = if in_number { &mut found.suffix } else { &mut found.prefix };
                    text.push('\'');
                } else {
                    quoted = !quoted;
                }
                continue;
            }
            if !quoted && c == ';' {
                break;
            }
            if !quoted && !after {
                match c {
                    '#' | '0' => {
                        in_number = true;
                        if fraction {
                            found.fraction_max += 1;
                            found.fraction_min += usize::from(c == '0');
                        } else {
                            found.integer_min += usize::from(c == '0');
                            since_comma = since_comma.map(|count: usize| count + 1);
                        }
                        continue;
                    }
                    ',' if in_number && !fraction => {
                        since_comma = Some(0);
                        continue;
                    }
                    '.' if !fraction => {
                        (in_number, fraction) = (true, true);
                        continue;
                    }
                    'E' if in_number => {
                        let mut digits = 0;
                        while chars.peek() == Some(&'0') {
                            chars.next();
                            digits += 1;
                        }
                        found.exponent_min = Some(digits.max(1));
                        after = true;
                        continue;
                    }
                    _ => {}
                }
            }
            if !quoted && c == '%' {
                found.factor = 100.0;
            }
            if !quoted && c == '\u{2030}' {
                found.factor = 1000.0;
            }
            let shown = if !quoted && c == '\u{a4}' { '$' } else { c };
            if in_number {
                after = true;
                found.suffix.push(shown);
            } else {
                found.prefix.push(shown);
            }
        }
        found.group = since_comma.unwrap_or(0);
        found
    }

    /// Prints a number.
    pub fn print(&self, value: f64) -> String {
        if value.is_nan() {
            return "NaN".to_owned();
        }
        let negative = value.is_sign_negative() && value != 0.0;
        let value = value.abs() * self.factor;
        let mut out = String::new();
        if negative {
            out.push('-');
        }
        out.push_str(&self.prefix);
        if value.is_infinite() {
            out.push('\u{221e}');
        } else if let Some(least) = self.exponent_min {
            self.scientific(value, least, &mut out);
        } else {
            self.plain(value, &mut out);
        }
        out.push_str(&self.suffix);
        out
    }

    /// Prints a long, each digit of it: a double has but 53 bits.
    pub fn print_long(&self, value: i64) -> String {
        if self.exponent_min.is_some() {
            return self.print(value as f64);
        }
        let mut out = String::new();
        if value < 0 {
            out.push('-');
        }
        out.push_str(&self.prefix);
        let digits = i128::from(value).unsigned_abs() * self.factor as u128;
        self.lay_out(&digits.to_string(), &"0".repeat(self.fraction_min), &mut out);
        out.push_str(&self.suffix);
        out
    }

    /// Reads what [`Decimal::print`] wrote, as far as it told; `None` for anything else.
    pub fn read(&self, text: &str) -> Option<f64> {
        let (text, sign) = text.strip_prefix('-').map_or((text, 1.0), |rest| (rest, -1.0));
        let digits = text.strip_prefix(self.prefix.as_str())?.strip_suffix(self.suffix.as_str())?;
        let value = match digits {
            "\u{221e}" => f64::INFINITY,
            digits => digits.replace(',', "").parse::<f64>().ok()?,
        };
        Some(sign * value / self.factor)
    }

    fn plain(&self, value: f64, out: &mut String) {
        // Rust rounds a tie of the exact value to even, as HALF_EVEN does.
        let digits = format!("{value:.*}", self.fraction_max);
        let (integer, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
        self.lay_out(integer, fraction, out);
    }

    /// Digits before and behind the point, as many as are shown.
    fn lay_out(&self, integer: &str, fraction: &str, out: &mut String) {
        let integer = integer.trim_start_matches('0');
        let mut whole = "0".repeat(self.integer_min.saturating_sub(integer.len()));
        whole.push_str(integer);
        let mut kept = fraction.len();
        while kept > self.fraction_min && fraction.as_bytes()[kept - 1] == b'0' {
            kept -= 1;
        }
        if whole.is_empty() && kept == 0 {
            whole.push('0');
        }
        let len = whole.len();
        for (at, digit) in whole.chars().enumerate() {
            if at > 0 && self.group > 0 && (len - at).is_multiple_of(self.group) {
                out.push(',');
            }
            out.push(digit);
        }
        if kept > 0 {
            out.push('.');
            out.push_str(&fraction[..kept]);
        }
    }

    fn scientific(&self, value: f64, least: usize, out: &mut String) {
        let places = self.integer_min.max(1) as i32;
        let exponent = match value == 0.0 {
            true => 0,
            false => value.log10().floor() as i32 - (places - 1),
        };
        self.plain(value / 10f64.powi(exponent), out);
        out.push('E');
        if exponent < 0 {
            out.push('-');
        }
        let digits = exponent.abs().to_string();
        out.push_str(&"0".repeat(least.saturating_sub(digits.len())));
        out.push_str(&digits);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_print_as_java_does() {
        for (pattern, value, want) in [
            ("000.0", 5.25, "005.2"),
            ("000.0", 400.0, "400.0"),
            ("#,##0.00", 1_234_567.891, "1,234,567.89"),
            ("#.##", 0.5, ".5"),
            ("#.##", 0.0, "0"),
            ("0.#", 3.0, "3"),
            ("####", 12.5, "12"),
            ("$0.00", -1.005, "-$1.00"),
            ("0.0%", 0.256, "25.6%"),
            ("Value is ##0.0", 3.0, "Value is 3.0"),
            ("0.##E0", 12345.0, "1.23E4"),
            ("'#'0", 7.0, "#7"),
        ] {
            let pattern = Decimal::parse(pattern);
            assert_eq!(pattern.print(value), want, "{pattern:?} of {value}");
            let read = pattern.read(want).map(|value| pattern.print(value));
            assert_eq!(read.as_deref(), Some(want), "{pattern:?} reads {want}");
        }
    }

    #[test]
    fn every_digit_of_a_long_is_printed() {
        for (pattern, value, want) in [
            ("000.0", (1 << 53) + 1, "9007199254740993.0"),
            ("000.0", 7, "007.0"),
            ("#,##0", i64::MAX, "9,223,372,036,854,775,807"),
            ("#", i64::MIN, "-9223372036854775808"),
            ("0%", i64::MAX, "922337203685477580700%"),
            ("#.#", 0, "0"),
            ("$#.00", 0, "$.00"),
        ] {
            assert_eq!(Decimal::parse(pattern).print_long(value), want, "{pattern} of {value}");
        }
        let pattern = Format::Decimal(Arc::new(Decimal::parse("0.0")));
        assert_eq!(pattern.long((1 << 60) + 1), "1152921504606846977.0");
    }

    #[test]
    fn addresses_print_short() {
        let four: Ipv6Addr = "::ffff:10.0.0.5".parse().expect("an address");
        assert_eq!(ip_text(&four.octets()), "10.0.0.5");
        let six: Ipv6Addr = "2001:db8::1".parse().expect("an address");
        assert_eq!(ip_text(&six.octets()), "2001:db8::1");
    }
}
