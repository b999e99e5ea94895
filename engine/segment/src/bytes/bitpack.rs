//! Blocks of 128 integers, each in as many bits as the largest of them needs.
//!
//! A thin door before `bitpacking`'s `BitPacker4x` (SSE3 where there is, the same bytes without):
//! it tests lengths and widths, so that foreign bytes cannot make the packer panic.
//!
//! Layout: `16 * width` bytes. Value `i` lies in lane `i % 4` of the 128-bit words, lane by lane
//! from the low bits up, as in Lemire's simdcomp. Ascending values are stored as the distance
//! to the one before, less one, starting from a value that the reader knows.
//!
//! Not here: which width, which start (they stand in the headers of those who pack).

use bitpacking::{BitPacker, BitPacker4x};

/// Number of integers in a block.
pub const BLOCK: usize = BitPacker4x::BLOCK_LEN;

/// Largest width of an integer.
pub const WIDTH_MAX: u8 = 32;

/// Bytes of a block packed at `width`.
#[inline]
pub const fn packed_len(width: u8) -> usize {
    BLOCK / 8 * width as usize
}

/// Appends `values`, and answers their width.
pub fn pack(values: &[u32; BLOCK], out: &mut Vec<u8>) -> u8 {
    let packer = BitPacker4x::new();
    let width = packer.num_bits(values);
    let start = grow(out, width);
    if width > 0 {
        packer.compress(values, &mut out[start..], width);
    }
    width
}

/// Appends strictly ascending `values`, all above `before`, and answers the width. `None` stands
/// for "just below zero".
pub fn pack_ascending(before: Option<u32>, values: &[u32; BLOCK], out: &mut Vec<u8>) -> u8 {
    debug_assert!(values.is_sorted_by(|a, b| a < b), "values ascend strictly");
    debug_assert!(before.is_none_or(|before| before < values[0]), "values start above `before`");
    let packer = BitPacker4x::new();
    let width = packer.num_bits_strictly_sorted(before, values);
    let start = grow(out, width);
    if width > 0 {
        packer.compress_strictly_sorted(before, values, &mut out[start..], width);
    }
    width
}

/// Makes room for a block of `width`; answers where it starts.
fn grow(out: &mut Vec<u8>, width: u8) -> usize {
    let start = out.len();
    out.resize(start + packed_len(width), 0);
    start
}

/// Reads a block packed at `width` from the front of `input`. `None` where the width is none of
/// ours or `input` is too short; then `values` may hold anything.
#[inline]
#[must_use]
pub fn unpack(input: &[u8], width: u8, values: &mut [u32; BLOCK]) -> Option<()> {
    if width == 0 {
        values.fill(0);
        return Some(());
    }
    let input = front(input, width)?;
    BitPacker4x::new().decompress(input, values, width);
    Some(())
}

/// As [`unpack`], for ascending values. Foreign bytes may wrap around: see [`ascends`].
#[inline]
#[must_use]
pub fn unpack_ascending(
    before: Option<u32>,
    input: &[u8],
    width: u8,
    values: &mut [u32; BLOCK],
) -> Option<()> {
    if width == 0 {
        let first = before.map_or(0, |before| before.wrapping_add(1));
        for (at, value) in values.iter_mut().enumerate() {
            *value = first.wrapping_add(at as u32);
        }
        return Some(());
    }
    let input = front(input, width)?;
    BitPacker4x::new().decompress_strictly_sorted(before, input, values, width);
    Some(())
}

/// Whether a block that [`unpack_ascending`] gave ascends strictly from above `before` to `last`.
///
/// Distances are at least one by the format, so only wrapping around 2³² can break the order. It
/// cannot happen where 128 of the largest distances fit above `before`; only else values are read.
#[inline]
pub fn ascends(before: Option<u32>, width: u8, last: u32, values: &[u32; BLOCK]) -> bool {
    if values[BLOCK - 1] != last {
        return false;
    }
    let start = before.map_or(0, |before| u64::from(before) + 1);
    if start + ((BLOCK as u64) << width) <= 1 << 32 {
        return true;
    }
    before.is_none_or(|before| before < values[0]) && values.is_sorted_by(|a, b| a < b)
}

#[inline]
fn front(input: &[u8], width: u8) -> Option<&[u8]> {
    if width > WIDTH_MAX {
        return None;
    }
    input.get(..packed_len(width))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn block(value: impl FnMut(usize) -> u32) -> [u32; BLOCK] {
        std::array::from_fn(value)
    }

    #[test]
    fn each_width_packs_and_unpacks() {
        for width in 0..=32u8 {
            let mask = ((1u64 << width) - 1) as u32;
            let values =
                block(|at| (at as u32).wrapping_mul(0x9e37_79b9) & mask | (mask ^ mask >> 1));
            let mut bytes = vec![0xaa];
            assert_eq!(pack(&values, &mut bytes), width);
            assert_eq!(bytes.len(), 1 + packed_len(width));
            let mut found = [1; BLOCK];
            assert_eq!(unpack(&bytes[1..], width, &mut found), Some(()));
            assert_eq!(found, values);
            if width > 0 {
                assert_eq!(unpack(&bytes[2..], width, &mut found), None, "one byte short");
            }
        }
        assert_eq!(unpack(&[0; 1024], 33, &mut [0; BLOCK]), None);
    }

    #[test]
    fn neighbours_take_no_bytes() {
        let mut bytes = Vec::new();
        assert_eq!(pack_ascending(None, &block(|at| at as u32), &mut bytes), 0);
        assert_eq!(pack_ascending(Some(41), &block(|at| at as u32 + 42), &mut bytes), 0);
        assert!(bytes.is_empty());
        let mut found = [0; BLOCK];
        assert_eq!(unpack_ascending(Some(41), &[], 0, &mut found), Some(()));
        assert_eq!(found, block(|at| at as u32 + 42));
        assert!(ascends(Some(41), 0, 169, &found));
        assert!(!ascends(Some(41), 0, 170, &found));
    }

    #[test]
    fn wrapping_block_does_not_ascend() {
        // Width 32 with distances of 2^31: the sum passes 2^32 many times.
        let mut bytes = Vec::new();
        pack(&block(|_| 1 << 31), &mut bytes);
        let mut found = [0; BLOCK];
        assert_eq!(unpack_ascending(None, &bytes, 32, &mut found), Some(()));
        let last = found[BLOCK - 1];
        assert!(!ascends(None, 32, last, &found));
    }

    proptest! {
        #[test]
        fn ascending_values_are_read_again(
            before in prop::option::of(0u32..1 << 20),
            width in 0u32..20,
            seed: u32,
        ) {
            let mut last = before.map_or(0, |before| before + 1);
            let mut state = seed;
            let values = block(|at| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                last += u32::from(at > 0) + (state >> 8) % (1 << width);
                last
            });
            let mut bytes = Vec::new();
            let width = pack_ascending(before, &values, &mut bytes);
            let mut found = [0; BLOCK];
            prop_assert_eq!(unpack_ascending(before, &bytes, width, &mut found), Some(()));
            prop_assert_eq!(found, values);
            prop_assert!(ascends(before, width, last, &found));
        }

        #[test]
        fn foreign_bytes_do_not_panic(bytes: Vec<u8>, width: u8, before: Option<u32>) {
            let mut found = [0; BLOCK];
            let _ = unpack(&bytes, width, &mut found);
            if unpack_ascending(before, &bytes, width, &mut found).is_some()
                && ascends(before, width, found[BLOCK - 1], &found)
            {
                prop_assert!(found.is_sorted_by(|a, b| a < b));
            }
        }
    }
}
