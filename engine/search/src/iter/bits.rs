//! Bits of a window, as plain loops over words.

use std::ops::Range;

use super::{Bits, WINDOW};

/// No document.
pub const NONE: Bits = [0; WINDOW as usize / 64];

/// Number of bits set.
#[inline]
pub fn count(bits: &Bits) -> u32 {
    bits.iter().map(|word| word.count_ones()).sum()
}

/// True where no bit is set.
#[inline]
pub fn is_empty(bits: &Bits) -> bool {
    bits.iter().all(|word| *word == 0)
}

/// Keeps the bits that are set in both.
#[inline]
pub fn and(bits: &mut Bits, other: &Bits) {
    for (word, other) in bits.iter_mut().zip(other) {
        *word &= other;
    }
}

/// Keeps the bits that are not set in the other.
#[inline]
pub fn and_not(bits: &mut Bits, other: &Bits) {
    for (word, other) in bits.iter_mut().zip(other) {
        *word &= !other;
    }
}

/// Adds the bits of the other.
#[inline]
pub fn or(bits: &mut Bits, other: &Bits) {
    for (word, other) in bits.iter_mut().zip(other) {
        *word |= other;
    }
}

/// Sets one bit.
#[inline]
pub fn set(bits: &mut Bits, place: u32) {
    bits[place as usize / 64] |= 1 << (place % 64);
}

/// Is this bit set?
#[inline]
pub fn has(bits: &Bits, place: u32) -> bool {
    bits[place as usize / 64] >> (place % 64) & 1 == 1
}

/// Sets the bits of a range of places.
pub fn set_range(bits: &mut Bits, range: Range<u32>) {
    for (at, word) in (0u32..).zip(bits.iter_mut()) {
        let low = range.start.saturating_sub(at * 64).min(64);
        let high = range.end.saturating_sub(at * 64).min(64);
        if low < high {
            let mask = if high == 64 { u64::MAX } else { (1 << high) - 1 };
            *word |= mask & (u64::MAX << low);
        }
    }
}

/// Clears the bits outside of a range of places.
pub fn keep_range(bits: &mut Bits, range: Range<u32>) {
    let mut mask = NONE;
    set_range(&mut mask, range);
    and(bits, &mask);
}

/// Calls `each` with the place of each bit set, rising.
#[inline]
pub fn for_each(bits: &Bits, mut each: impl FnMut(u32)) {
    for (at, word) in (0u32..).zip(bits) {
        let mut word = *word;
        while word != 0 {
            each(at * 64 + word.trailing_zeros());
            word &= word - 1;
        }
    }
}

/// Documents that [`list`] writes at once.
const STEP: usize = 4;

/// Appends the documents of the bits of the window that begins at `base`.
///
/// Whether a word has bits, and how many, cannot be foretold, and a wrong guess costs more than writing
/// four places, wanted or not: words without bits are taken out first, all at once
/// (`bench/benches/bits`).
pub fn list(bits: &Bits, base: u32, docs: &mut Vec<u32>) {
    let mut at = docs.len();
    let end = at + count(bits) as usize;
    docs.resize(end + STEP, 0);
    let mut words = (0u32..).zip(bits).fold(0, |all, (n, word)| all | u64::from(*word != 0) << n);
    while words != 0 {
        let number = words.trailing_zeros();
        words &= words - 1;
        let (mut word, first) = (bits[number as usize], base + number * 64);
        let next = at + word.count_ones() as usize;
        loop {
            for slot in &mut docs[at..at + STEP] {
                *slot = first.wrapping_add(word.trailing_zeros());
                word &= word.wrapping_sub(1);
            }
            at += STEP;
            if at >= next {
                break;
            }
        }
        at = next;
    }
    docs.truncate(end);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ranges_are_exactly_their_bits(start in 0..WINDOW, len in 0..WINDOW) {
            let end = (start + len).min(WINDOW);
            let mut bits = NONE;
            set_range(&mut bits, start..end);
            let mut docs = Vec::new();
            list(&bits, 100, &mut docs);
            prop_assert_eq!(docs, (100 + start..100 + end).collect::<Vec<_>>());
            let mut all = [u64::MAX; 64];
            keep_range(&mut all, start..end);
            prop_assert_eq!(all, bits);
        }

        #[test]
        fn listed_are_the_places_told_one_by_one(
            places in prop::collection::vec(0..WINDOW, 0..600),
            before in prop::collection::vec(any::<u32>(), 0..3),
        ) {
            let mut bits = NONE;
            places.iter().for_each(|place| set(&mut bits, *place));
            let mut expected = before.clone();
            for_each(&bits, |place| expected.push(8192 + place));
            let mut docs = before;
            list(&bits, 8192, &mut docs);
            prop_assert_eq!(docs, expected);
        }
    }
}
