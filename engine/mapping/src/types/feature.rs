//! Features that score: a positive number beside a term, kept as the term's frequency.
//!
//! A number is kept by the upper bits of its 32-bit float, sign bit 0, eight of exponent and eight
//! of fraction, as Lucene's `FeatureField` does: so a frequency, too, rises with the number.
//!
//! Example: 10.0 is `0x41200000`, kept as `0x8240`, read back as 10.0.

/// Bits of a float that are not kept.
const SHIFT: u32 = 15;

/// The frequency that keeps a positive number.
pub const fn encode(value: f32) -> u32 {
    value.to_bits() >> SHIFT
}

/// The number that a frequency keeps.
pub const fn decode(freq: u32) -> f32 {
    f32::from_bits(freq << SHIFT)
}

/// The term of a `rank_feature`: the field has no other.
pub const ONE: &[u8] = b"";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_kept_to_eight_bits_of_fraction() {
        assert_eq!(encode(10.0), 0x8240);
        assert_eq!(decode(encode(10.0)), 10.0);
        assert_eq!(decode(encode(96.5)), 96.5);
        let kept = decode(encode(0.1));
        assert!(kept <= 0.1 && kept > 0.0996);
    }
}
