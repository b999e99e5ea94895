//! Variable-length integers: seven bits a byte, low bits first, high bit says that more follow.
//!
//! | value    | bytes     |
//! |----------|-----------|
//! | 0..=127  | one       |
//! | 128      | `80 01`   |
//! | u64::MAX | ten bytes |
//!
//! Signed values go through [`zigzag`] first.

/// Appends `value` to `out`.
#[inline]
pub fn write(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends a length and then `bytes`.
pub fn write_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    write(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Takes one integer off the front of `input`; `None` where it is cut short or above `u64::MAX`.
#[inline]
pub fn read(input: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    let mut shift = 0;
    for (at, &byte) in input.iter().enumerate().take(10) {
        if at == 9 && byte > 1 {
            return None;
        }
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            *input = &input[at + 1..];
            return Some(value);
        }
        shift += 7;
    }
    None
}

/// As [`read`], for values that mostly have one byte: only the first is read in line. Lengths are such,
/// distances are not.
#[inline(always)]
pub fn read_short(input: &mut &[u8]) -> Option<u64> {
    match *input {
        [byte @ 0..0x80, rest @ ..] => {
            *input = rest;
            Some(u64::from(*byte))
        }
        _ => read(input),
    }
}

/// As [`read`], for values that must fit in 32 bits.
#[inline]
pub fn read_u32(input: &mut &[u8]) -> Option<u32> {
    read(input).and_then(|value| u32::try_from(value).ok())
}

/// Takes a length and that many bytes off the front of `input`.
#[inline]
pub fn read_bytes<'a>(input: &mut &'a [u8]) -> Option<&'a [u8]> {
    let len = usize::try_from(read_short(input)?).ok()?;
    let (bytes, rest) = input.split_at_checked(len)?;
    *input = rest;
    Some(bytes)
}

/// Maps small magnitudes of either sign to small numbers: 0, -1, 1, -2 become 0, 1, 2, 3.
#[inline]
pub const fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

/// Undoes [`zigzag`].
#[inline]
pub const fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn written_is_read(values: Vec<u64>) {
            let mut bytes = Vec::new();
            for &value in &values {
                write(&mut bytes, value);
            }
            let mut rest = bytes.as_slice();
            let mut short = rest;
            for &value in &values {
                prop_assert_eq!(read(&mut rest), Some(value));
                prop_assert_eq!(read_short(&mut short), Some(value));
                prop_assert_eq!(rest, short);
            }
            prop_assert!(rest.is_empty());
        }

        #[test]
        fn zigzag_turns_back(value: i64) {
            prop_assert_eq!(unzigzag(zigzag(value)), value);
        }

        #[test]
        fn foreign_bytes_never_pass_the_end(bytes: Vec<u8>) {
            let mut rest = bytes.as_slice();
            while read_bytes(&mut rest).is_some() {}
        }
    }

    #[test]
    fn eleven_bytes_or_a_tenth_above_one_are_refused() {
        assert_eq!(read(&mut [0xff; 11].as_slice()), None);
        let mut too_big = [0xff; 10];
        too_big[9] = 2;
        assert_eq!(read(&mut too_big.as_slice()), None);
        assert_eq!(read(&mut [0x80].as_slice()), None);
    }
}
