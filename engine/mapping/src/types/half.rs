//! Floats of 16 bits: IEEE 754 `binary16`, rounded to the nearest, ties to even.
//!
//! Example: 1.0 is `0x3c00`, 65504.0 the greatest finite one, 65520.0 rounds to infinity.

/// The nearest half of a float, as bits.
pub const fn from_f32(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 16) as u16 & 0x8000;
    let exponent = (bits >> 23) as i32 & 0xff;
    let mantissa = bits & 0x7f_ffff;
    if exponent == 0xff {
        let quiet = if mantissa == 0 { 0 } else { 0x200 };
        return sign | 0x7c00 | quiet;
    }
    let exponent = exponent - 127 + 15;
    if exponent >= 0x1f {
        return sign | 0x7c00;
    }
    let (whole, shift) = if exponent <= 0 {
        if exponent < -10 {
            return sign;
        }
        // Below the least exponent the leading one stands among the others.
        (mantissa | 0x80_0000, (14 - exponent) as u32)
    } else {
        (mantissa | (exponent as u32) << 23, 13)
    };
    let kept = whole >> shift;
    let rest = whole & ((1 << shift) - 1);
    let half = 1 << (shift - 1);
    let up = rest > half || (rest == half && kept & 1 == 1);
    sign | (kept as u16 + up as u16)
}

/// The float of a half.
pub fn to_f32(bits: u16) -> f32 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let (exponent, mantissa) = (i32::from(bits >> 10 & 0x1f), f32::from(bits & 0x3ff));
    sign * match exponent {
        0 => mantissa * 2f32.powi(-24),
        0x1f if mantissa == 0.0 => f32::INFINITY,
        0x1f => f32::NAN,
        _ => (1024.0 + mantissa) * 2f32.powi(exponent - 25),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_read_back() {
        for bits in 0..=u16::MAX {
            let value = to_f32(bits);
            if value.is_nan() {
                assert!(to_f32(from_f32(value)).is_nan());
            } else {
                assert_eq!(from_f32(value), bits, "{value}");
            }
        }
    }

    #[test]
    fn floats_go_to_the_nearest_half() {
        for (value, want) in [
            (1.0, 0x3c00),
            (65_504.0, 0x7bff),
            (65_519.9, 0x7bff),
            (65_520.0, 0x7c00),
            (70_000.0, 0x7c00),
            (0.1, 0x2e66),
            (-0.1, 0xae66),
            (2f32.powi(-25), 0),
            (2f32.powi(-25) * 1.5, 1),
            (1e-10, 0),
        ] {
            assert_eq!(from_f32(value), want, "{value}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_half_lies_nearer(value in -70_000f32..70_000f32) {
            let bits = from_f32(value);
            let near = f64::from(to_f32(bits));
            for other in [bits.wrapping_sub(1), bits.wrapping_add(1)] {
                let other = f64::from(to_f32(other));
                if other.is_finite() && near.is_finite() {
                    let (one, two) = (near - f64::from(value), other - f64::from(value));
                    proptest::prop_assert!(one.abs() <= two.abs());
                }
            }
        }
    }
}
