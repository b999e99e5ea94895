//! Numbers as `i64` that sort as the numbers do: the value of every numeric column and point.
//!
//! | type                        | sortable value                                  |
//! |-----------------------------|-------------------------------------------------|
//! | long, integer, short, byte  | itself                                          |
//! | double, float               | its bits; of negative ones, the low bits flipped |
//! | date                        | milliseconds since 1970                         |
//! | boolean                     | 0 or 1                                          |
//! | half_float                  | as float, in 16 bits (`half`)                   |
//! | unsigned_long               | its bits, the sign bit flipped                  |
//! | scaled_float                | the number times its factor, rounded            |
//! | date_nanos                  | nanoseconds since 1970                          |
//!
//! So -0.0 sorts below 0.0 and NaN above infinity, as in Lucene's `NumericUtils`.
//! Points keep a value as eight bytes, big-endian, sign flipped, so that bytes sort likewise.

/// A double's sortable value.
#[inline]
pub const fn from_f64(value: f64) -> i64 {
    flip(value.to_bits() as i64)
}

/// The double of a sortable value.
#[inline]
pub const fn to_f64(sortable: i64) -> f64 {
    f64::from_bits(flip(sortable) as u64)
}

/// A float's sortable value; fits in 32 bits.
#[inline]
pub const fn from_f32(value: f32) -> i64 {
    flip_32(value.to_bits() as i32) as i64
}

/// The float of a sortable value.
#[inline]
pub const fn to_f32(sortable: i64) -> f32 {
    f32::from_bits(flip_32(sortable as i32) as u32)
}

/// A half's sortable value; fits in 16 bits.
#[inline]
pub const fn from_f16(bits: u16) -> i64 {
    flip_16(bits as i16) as i64
}

/// The bits of the half of a sortable value.
#[inline]
pub const fn to_f16(sortable: i64) -> u16 {
    flip_16(sortable as i16) as u16
}

/// An unsigned long's sortable value.
#[inline]
pub const fn from_u64(value: u64) -> i64 {
    (value ^ (1 << 63)) as i64
}

/// The unsigned long of a sortable value.
#[inline]
pub const fn to_u64(sortable: i64) -> u64 {
    sortable as u64 ^ (1 << 63)
}

/// The bytes of a sortable value in a point: they sort as the value does.
#[inline]
pub const fn to_bytes(sortable: i64) -> [u8; 8] {
    ((sortable as u64) ^ (1 << 63)).to_be_bytes()
}

/// The sortable value of a point's bytes.
#[inline]
pub const fn from_bytes(bytes: [u8; 8]) -> i64 {
    (u64::from_be_bytes(bytes) ^ (1 << 63)) as i64
}

/// Flips the low bits of negative values; its own inverse.
#[inline]
const fn flip(bits: i64) -> i64 {
    bits ^ ((bits >> 63) & i64::MAX)
}

#[inline]
const fn flip_32(bits: i32) -> i32 {
    bits ^ ((bits >> 31) & i32::MAX)
}

#[inline]
const fn flip_16(bits: i16) -> i16 {
    bits ^ ((bits >> 15) & i16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn doubles_sort_as_they_compare(a: f64, b: f64) {
            prop_assume!(!a.is_nan() && !b.is_nan());
            prop_assert_eq!(from_f64(a).cmp(&from_f64(b)), a.total_cmp(&b));
            prop_assert_eq!(to_f64(from_f64(a)).to_bits(), a.to_bits());
        }

        #[test]
        fn floats_sort_as_they_compare(a: f32, b: f32) {
            prop_assume!(!a.is_nan() && !b.is_nan());
            prop_assert_eq!(from_f32(a).cmp(&from_f32(b)), a.total_cmp(&b));
            prop_assert_eq!(to_f32(from_f32(a)).to_bits(), a.to_bits());
        }

        #[test]
        fn bytes_sort_as_values(a: i64, b: i64) {
            prop_assert_eq!(to_bytes(a).cmp(&to_bytes(b)), a.cmp(&b));
            prop_assert_eq!(from_bytes(to_bytes(a)), a);
        }
    }

    #[test]
    fn the_edges_stand_in_order() {
        let edges = [
            f64::NEG_INFINITY,
            f64::MIN,
            -1.0,
            -f64::MIN_POSITIVE,
            -0.0,
            0.0,
            4.9e-324,
            1.0,
            f64::MAX,
            f64::INFINITY,
        ];
        assert!(edges.windows(2).all(|pair| from_f64(pair[0]) < from_f64(pair[1])));
        assert_eq!(from_f64(0.0), 0);
        assert_eq!(from_f32(0.0), 0);
    }
}
