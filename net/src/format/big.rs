//! Integers and decimals of any size: their digits in JSON's text, their bytes in CBOR and Smile.
//!
//! Always true: neither way is longer than JSON's bound of a number, so that the plain arithmetic,
//! which goes as the square of the length, stays short.

use json::limits::Limits;

/// Digits of nine places each, the least first.
const LIMB: u64 = 1_000_000_000;
const LIMB_DIGITS: usize = 9;

/// No number has more digits.
const DIGITS_MAX: usize = Limits::DEFAULT.number_bytes_max;

/// A number of so many bytes has too many digits: log(256) is above 2.4.
const BYTES_MAX: usize = DIGITS_MAX * 5 / 12;

/// The decimal digits of what `digits` (each below `radix`, the highest first) say; `None` where
/// they are more than a number may have.
pub(super) fn decimal(digits: impl Iterator<Item = u8>, radix: u64) -> Option<String> {
    let mut limbs = vec![0u64];
    for digit in digits {
        let mut carry = u64::from(digit);
        for limb in &mut limbs {
            let value = *limb * radix + carry;
            (*limb, carry) = (value % LIMB, value / LIMB);
        }
        if carry > 0 {
            limbs.push(carry);
        }
        if limbs.len() * LIMB_DIGITS > DIGITS_MAX + LIMB_DIGITS {
            return None;
        }
    }
    let mut text = limbs.pop().unwrap_or(0).to_string();
    for limb in limbs.iter().rev() {
        text.push_str(&format!("{limb:09}"));
    }
    (text.len() <= DIGITS_MAX).then_some(text)
}

/// The digits of an unsigned number, its highest byte first.
pub(super) fn of_bytes(bytes: &[u8]) -> Option<String> {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    let bytes = &bytes[zeros..];
    if bytes.len() > BYTES_MAX {
        return None;
    }
    decimal(bytes.iter().copied(), 256)
}

/// The text of `-1 - n`, where `bytes` say `n` as in [`of_bytes`].
pub(super) fn below_zero(bytes: &[u8]) -> Option<String> {
    let mut more = bytes.to_vec();
    if more.len() > BYTES_MAX + 1 && more.iter().take_while(|byte| **byte == 0).count() == 0 {
        return None;
    }
    let full = more.iter_mut().rev().all(|byte| {
        *byte = byte.wrapping_add(1);
        *byte == 0
    });
    if full {
        more.insert(0, 1);
    }
    of_bytes(&more).map(|digits| format!("-{digits}"))
}

/// The text of a number in two's complement, as Java's `BigInteger` holds it.
pub(super) fn of_complement(bytes: &[u8]) -> Option<String> {
    if bytes.first().is_some_and(|byte| byte >> 7 == 1) {
        let turned: Vec<u8> = bytes.iter().map(|byte| !byte).collect();
        return below_zero(&turned);
    }
    of_bytes(bytes)
}

/// The bytes of an unsigned number, the highest first, without zeros before them.
pub(super) fn to_bytes(digits: &str) -> Vec<u8> {
    let mut bytes: Vec<u8> = Vec::new();
    for digit in digits.bytes().filter(u8::is_ascii_digit) {
        let mut carry = u32::from(digit - b'0');
        for byte in &mut bytes {
            let value = u32::from(*byte) * 10 + carry;
            (*byte, carry) = ((value & 0xff) as u8, value >> 8);
        }
        if carry > 0 {
            bytes.push(carry as u8);
        }
    }
    bytes.reverse();
    bytes
}

/// The bytes of `n`, where `digits` say `n + 1` and are not zero.
pub(super) fn to_bytes_less_one(digits: &str) -> Vec<u8> {
    let mut bytes = to_bytes(digits);
    for byte in bytes.iter_mut().rev() {
        let borrows = *byte == 0;
        *byte = byte.wrapping_sub(1);
        if !borrows {
            break;
        }
    }
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    bytes.split_off(zeros)
}

/// The text of an integer in two's complement, in as few bytes as hold its sign.
pub(super) fn to_complement(text: &str) -> Vec<u8> {
    let (mut bytes, sign) = match text.strip_prefix('-') {
        Some(digits) if digits.bytes().any(|digit| digit != b'0') => {
            let less = to_bytes_less_one(digits);
            (less.iter().map(|byte| !byte).collect(), 0xff)
        }
        other => (to_bytes(other.unwrap_or(text)), 0),
    };
    if bytes.first().is_none_or(|byte: &u8| byte >> 7 != sign & 1) {
        bytes.insert(0, sign);
    }
    bytes
}

/// `integer` divided by ten so many times, as Java prints such a decimal.
pub(super) fn scaled(integer: &str, scale: i32) -> String {
    let (sign, digits) = match integer.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", integer),
    };
    let exponent = digits.len() as i64 - 1 - i64::from(scale);
    if scale == 0 {
        return integer.to_owned();
    }
    if scale > 0 && exponent >= -6 {
        let whole = digits.len() as i64 - i64::from(scale);
        return if whole > 0 {
            let (whole, part) = digits.split_at(whole as usize);
            format!("{sign}{whole}.{part}")
        } else {
            format!("{sign}0.{}{digits}", "0".repeat((-whole) as usize))
        };
    }
    let (first, rest) = digits.split_at(1);
    let point = if rest.is_empty() { "" } else { "." };
    format!("{sign}{first}{point}{rest}E{exponent:+}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_and_bytes_say_the_same() {
        for (text, bytes) in [
            ("0", &[0][..]),
            ("127", &[127]),
            ("128", &[0, 128]),
            ("-1", &[255]),
            ("-128", &[128]),
            ("-129", &[255, 127]),
            ("255", &[0, 255]),
            ("-256", &[255, 0]),
            ("18446744073709551615", &[0, 255, 255, 255, 255, 255, 255, 255, 255]),
            ("-18446744073709551616", &[255, 0, 0, 0, 0, 0, 0, 0, 0]),
            ("1000000000000000000000000", &[0, 211, 194, 27, 206, 204, 237, 161, 0, 0, 0]),
        ] {
            assert_eq!(to_complement(text), bytes, "{text}");
            assert_eq!(of_complement(bytes).as_deref(), Some(text));
        }
        // Every number of up to 17 bits, by the machine's own arithmetic.
        for number in -70_000i64..70_000 {
            let text = number.to_string();
            let bytes = to_complement(&text);
            let value = bytes
                .iter()
                .skip(1)
                .fold(i64::from(bytes[0] as i8), |sum, byte| sum << 8 | i64::from(*byte));
            assert_eq!(value, number);
            assert_eq!(of_complement(&bytes), Some(text));
        }
    }

    #[test]
    fn what_is_too_long_is_told() {
        assert!(of_bytes(&[255; 415]).is_some_and(|text| text.len() == 1_000));
        assert_eq!(of_bytes(&[255; 417]), None);
        assert_eq!(below_zero(&[255; 5_000]), None);
        assert_eq!(decimal(std::iter::repeat_n(1, 100_000), 8), None);
        assert_eq!(of_bytes(&[0; 5_000]).as_deref(), Some("0"));
        let most = "9".repeat(DIGITS_MAX);
        assert_eq!(of_bytes(&to_bytes(&most)), Some(most));
    }

    #[test]
    fn decimals_are_printed_as_java_prints_them() {
        for (integer, scale, text) in [
            ("27315", 2, "273.15"),
            ("-5", 1, "-0.5"),
            ("1", 6, "0.000001"),
            ("1", 7, "1E-7"),
            ("123", -2, "1.23E+4"),
            ("7", 0, "7"),
            ("5", 2_147_483_647, "5E-2147483647"),
        ] {
            assert_eq!(scaled(integer, scale), text);
        }
    }
}
