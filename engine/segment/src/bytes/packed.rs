//! Integers of one bit width, each of which can be read alone or all of which can be read fast.
//!
//! Always true
//! 1. The width is 0 to 64; a width of 0 takes no byte and every value is 0.
//! 2. Reading never passes the end of bytes whose length was checked by [`Packed::new`].
//! 3. A value read alone equals the value read among all; a property test holds them equal.
//!
//! Layout
//!
//! A width up to 32 is one plane. Above, the low 32 bits of all values come first, then a second
//! plane with the bits above. A plane of `n` values is
//!
//! | bytes                 | what                                                      |
//! |-----------------------|-----------------------------------------------------------|
//! | (n / 128) * 16 * bits | groups of 128 values, in the four lanes of `bitpacking`   |
//! | rest                  | the last n % 128 values one after another, low bits first |
//!
//! In a group, value `i` stands in lane `i % 4`; a lane is a stream of 32 values of `bits` bits
//! each, cut into little-endian 32-bit words, and word `w` of lane `l` is word `4 w + l` of the
//! group. That is why one value costs two loads (`bitpacking` itself only reads whole groups).
//!
//! Example: the values 1, 2, 3 at 4 bits are `21 03`.
//!
//! Not here: choosing a width, minimum or factor (`columns/numeric`, `bkd/leaf`).

use bitpacking::{BitPacker, BitPacker4x};

/// Values of a group.
const GROUP: usize = BitPacker4x::BLOCK_LEN;

/// Widest plane.
const PLANE_BITS: u32 = 32;

/// Bits that the largest of some values needs.
#[inline]
pub fn width(largest: u64) -> u8 {
    (u64::BITS - largest.leading_zeros()) as u8
}

/// Bytes that `count` values of `bits` bits take.
pub fn byte_count(count: usize, bits: u8) -> usize {
    debug_assert!(bits <= 64);
    let bits = u32::from(bits);
    let low = plane_bytes(count, bits.min(PLANE_BITS));
    low + plane_bytes(count, bits.saturating_sub(PLANE_BITS))
}

/// Bytes of one plane.
fn plane_bytes(count: usize, bits: u32) -> usize {
    let bits = bits as usize;
    (count / GROUP) * (GROUP / 8) * bits + ((count % GROUP) * bits).div_ceil(8)
}

/// Appends `values`, none of which needs more than `bits` bits.
pub fn write(values: &[u64], bits: u8, out: &mut Vec<u8>) {
    assert!(bits <= 64, "a value has 64 bits");
    debug_assert!(values.iter().all(|&value| width(value) <= bits));
    let start = out.len();
    let bits_low = u32::from(bits).min(PLANE_BITS);
    let bits_high = u32::from(bits) - bits_low;
    write_plane(values, 0, bits_low, out);
    write_plane(values, PLANE_BITS, bits_high, out);
    assert_eq!(out.len() - start, byte_count(values.len(), bits));
}

/// Appends `bits` bits of each value, from bit `shift` on.
fn write_plane(values: &[u64], shift: u32, bits: u32, out: &mut Vec<u8>) {
    if bits == 0 {
        return;
    }
    let part = |value: u64| (value >> shift) as u32;
    let (groups, tail) = values.as_chunks::<GROUP>();
    let mut plain = [0u32; GROUP];
    for group in groups {
        for (to, &value) in plain.iter_mut().zip(group) {
            *to = part(value);
        }
        let at = out.len();
        out.resize(at + GROUP / 8 * bits as usize, 0);
        BitPacker4x::new().compress(&plain, &mut out[at..], bits as u8);
    }
    let (mut pending, mut pending_bits) = (0u64, 0u32);
    for &value in tail {
        pending |= u64::from(part(value)) << pending_bits;
        pending_bits += bits;
        while pending_bits >= 8 {
            out.push(pending as u8);
            pending >>= 8;
            pending_bits -= 8;
        }
    }
    if pending_bits > 0 {
        out.push(pending as u8);
    }
}

/// A view of packed values.
#[derive(Clone, Copy, Debug)]
pub struct Packed<'a> {
    low: Plane<'a>,
    /// Bits above the low 32; of width 0 where there are none.
    high: Plane<'a>,
    count: usize,
}

impl<'a> Packed<'a> {
    /// Takes `count` values of `bits` bits off the front of `bytes`; `None` where these are too
    /// few or the width is none.
    pub fn new(bytes: &'a [u8], count: usize, bits: u8) -> Option<(Self, &'a [u8])> {
        if bits > 64 || count > u32::MAX as usize {
            return None;
        }
        let bits_low = u32::from(bits).min(PLANE_BITS);
        let bits_high = u32::from(bits) - bits_low;
        let (low, rest) = bytes.split_at_checked(plane_bytes(count, bits_low))?;
        let (high, rest) = rest.split_at_checked(plane_bytes(count, bits_high))?;
        let low = Plane { bytes: low, bits: bits_low };
        let high = Plane { bytes: high, bits: bits_high };
        Some((Self { low, high, count }, rest))
    }

    /// How many values there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Value `index`, which must be below [`Packed::len`].
    #[inline]
    pub fn get(&self, index: usize) -> u64 {
        assert!(index < self.count, "index inside the packed values");
        let low = u64::from(self.low.get(index, self.count));
        if self.high.bits == 0 {
            return low;
        }
        low | u64::from(self.high.get(index, self.count)) << PLANE_BITS
    }

    /// Gives every value in order to `each`, in batches with the index of their first.
    #[inline]
    pub fn for_each_batch(&self, mut each: impl FnMut(usize, &[u64])) {
        let mut wide = [0u64; GROUP];
        let (mut low, mut high) = ([0u32; GROUP], [0u32; GROUP]);
        let mut start = 0;
        while start < self.count {
            let len = GROUP.min(self.count - start);
            self.low.read(start, len, &mut low);
            for (to, &from) in wide.iter_mut().zip(&low) {
                *to = u64::from(from);
            }
            if self.high.bits > 0 {
                self.high.read(start, len, &mut high);
                for (to, &from) in wide.iter_mut().zip(&high) {
                    *to |= u64::from(from) << PLANE_BITS;
                }
            }
            each(start, &wide[..len]);
            start += len;
        }
    }

    /// Whether all values have at most 32 bits.
    #[inline]
    pub fn is_narrow(&self) -> bool {
        self.high.bits == 0
    }

    /// As [`Packed::for_each_batch`], for values of at most 32 bits.
    #[inline]
    pub fn for_each_narrow(&self, mut each: impl FnMut(usize, &[u32])) {
        assert!(self.is_narrow(), "values of at most 32 bits");
        let mut values = [0; GROUP];
        let mut start = 0;
        while start < self.count {
            let len = GROUP.min(self.count - start);
            self.low.read(start, len, &mut values);
            each(start, &values[..len]);
            start += len;
        }
    }

    /// Reads all values, which must have at most 32 bits, into the front of `out`.
    #[inline]
    pub fn read_u32(&self, out: &mut [u32]) {
        assert_eq!(self.high.bits, 0, "values of at most 32 bits");
        let (groups, tail) = out[..self.count].as_chunks_mut::<GROUP>();
        for (number, group) in groups.iter_mut().enumerate() {
            self.low.read(number * GROUP, GROUP, group);
        }
        let start = groups.len() * GROUP;
        self.low.read(start, tail.len(), tail);
    }
}

/// Values of at most 32 bits.
#[derive(Clone, Copy, Debug)]
struct Plane<'a> {
    bytes: &'a [u8],
    bits: u32,
}

impl Plane<'_> {
    /// Value `index` of `count`.
    #[inline]
    fn get(&self, index: usize, count: usize) -> u32 {
        let bits = self.bits as usize;
        if bits == 0 {
            return 0;
        }
        let (group, within) = (index / GROUP, index % GROUP);
        let start = group * (GROUP / 8) * bits;
        if index >= count / GROUP * GROUP {
            return self.tail(start, within);
        }
        // Two words of the lane hold the value; where it ends in the first, the second is shifted
        // away, and reading the first again keeps the load inside the group.
        let (lane, bit) = (within % 4, within / 4 * bits);
        let (word, shift) = (bit / 32, bit % 32);
        let next = if shift + bits > 32 { word + 1 } else { word };
        let both = u64::from(self.word(start + (word * 4 + lane) * 4))
            | u64::from(self.word(start + (next * 4 + lane) * 4)) << 32;
        (both >> shift) as u32 & mask(self.bits)
    }

    /// Value `within` the tail that starts at byte `start`.
    #[inline]
    fn tail(&self, start: usize, within: usize) -> u32 {
        let bit = within * self.bits as usize;
        let bytes = &self.bytes[start + bit / 8..];
        let mut eight = [0u8; 8];
        let len = bytes.len().min(8);
        eight[..len].copy_from_slice(&bytes[..len]);
        (u64::from_le_bytes(eight) >> (bit % 8)) as u32 & mask(self.bits)
    }

    /// The little-endian word at byte `at`.
    #[inline]
    fn word(&self, at: usize) -> u32 {
        let bytes = self.bytes[at..].first_chunk::<4>().expect("a group ends on a whole word");
        u32::from_le_bytes(*bytes)
    }

    /// Reads the `len` values from `start`, a group's first, into the front of `out`.
    #[inline]
    fn read(&self, start: usize, len: usize, out: &mut [u32]) {
        debug_assert_eq!(start % GROUP, 0);
        if self.bits == 0 {
            out[..len].fill(0);
            return;
        }
        let at = start / GROUP * (GROUP / 8) * self.bits as usize;
        if len == GROUP {
            BitPacker4x::new().decompress(&self.bytes[at..], out, self.bits as u8);
            return;
        }
        for (within, to) in out[..len].iter_mut().enumerate() {
            *to = self.tail(at, within);
        }
    }
}

/// The low `bits` bits set, for 1 to 32.
#[inline]
fn mask(bits: u32) -> u32 {
    u32::MAX >> (32 - bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Packs `values`, reads them in all three ways and compares.
    fn check(values: &[u64], bits: u8) {
        let mut bytes = Vec::new();
        write(values, bits, &mut bytes);
        assert_eq!(bytes.len(), byte_count(values.len(), bits));
        bytes.extend_from_slice(b"rest");
        let (packed, rest) = Packed::new(&bytes, values.len(), bits).unwrap();
        assert_eq!(rest, b"rest");
        let alone: Vec<u64> = (0..values.len()).map(|index| packed.get(index)).collect();
        assert_eq!(alone, values, "alone, {bits} bits");
        let mut batched = vec![0; values.len()];
        packed.for_each_batch(|at, batch| batched[at..at + batch.len()].copy_from_slice(batch));
        assert_eq!(batched, values, "batched, {bits} bits");
        if bits <= 32 {
            let mut batched = Vec::new();
            packed.for_each_narrow(|at, batch| {
                assert_eq!(at, batched.len());
                batched.extend(batch.iter().map(|&value| u64::from(value)));
            });
            assert_eq!(batched, values, "narrow, {bits} bits");
            let mut narrow = vec![0; values.len()];
            packed.read_u32(&mut narrow);
            assert!(narrow.iter().map(|&value| u64::from(value)).eq(values.iter().copied()));
        }
    }

    #[test]
    fn every_width_keeps_values_around_the_group_edges() {
        for bits in 0..=64u8 {
            let top = if bits == 0 { 0 } else { u64::MAX >> (64 - bits) };
            for count in [0usize, 1, 3, 127, 128, 129, 255, 256, 300] {
                let values: Vec<u64> = (0..count as u64)
                    .map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) & top)
                    .collect();
                check(&values, bits);
                check(&vec![top; count], bits);
            }
        }
    }

    #[test]
    fn the_example_of_the_head_holds() {
        let mut bytes = Vec::new();
        write(&[1, 2, 3], 4, &mut bytes);
        assert_eq!(bytes, [0x21, 0x03]);
    }

    #[test]
    fn too_few_bytes_or_too_wide_a_value_are_refused() {
        assert!(Packed::new(&[0; 15], 128, 1).is_none());
        assert!(Packed::new(&[0; 16], 128, 1).is_some());
        assert!(Packed::new(&[0; 4096], 1, 65).is_none());
        assert!(Packed::new(&[0; 8], usize::MAX, 8).is_none());
    }

    proptest! {
        #[test]
        fn packed_is_read(values in prop::collection::vec(any::<u64>(), 0..400), shift in 0u32..64) {
            let values: Vec<u64> = values.iter().map(|value| value >> shift).collect();
            let bits = width(values.iter().copied().max().unwrap_or(0));
            check(&values, bits);
        }
    }
}
