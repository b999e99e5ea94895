//! How many documents of a block have their bit set in a window of [`MANY`] words: what two terms share is
//! counted so, without a list of it.

use std::ops::Range;

/// Words of a large window: eight KiB, which stay in the nearest cache.
pub const MANY: usize = 1024;

/// The bit at `place`: 0 or 1.
#[inline]
pub(super) fn bit(place: u32, bits: &[u64; MANY]) -> u32 {
    (bits[place as usize / 64 % MANY] >> (place % 64) & 1) as u32
}

/// How many bits are set in both: in `words`, which count from document `first`, and in `bits`, which count
/// from the first of `range` and stand for no document outside of it.
pub(super) fn of_words(
    words: &[[u8; 8]],
    first: u32,
    range: &Range<u32>,
    bits: &[u64; MANY],
) -> u32 {
    let last = first.saturating_add(words.len() as u32 * 64);
    if first < range.start || last > range.end {
        return of_part(words, first, range, bits);
    }
    let (index, shift) = ((first - range.start) as usize / 64 % MANY, (first - range.start) % 64);
    let here = &bits[index..];
    let next = here[1..].iter().chain(&[0]);
    let pairs = words.iter().zip(here).zip(next);
    pairs
        .map(|((word, here), next)| {
            // In two steps, as none may be by 64.
            let other = here >> shift | next << 1 << (63 - shift);
            (u64::from_le_bytes(*word) & other).count_ones()
        })
        .sum()
}

/// As [`of_words`], where `range` holds but a part of them.
fn of_part(words: &[[u8; 8]], first: u32, range: &Range<u32>, bits: &[u64; MANY]) -> u32 {
    let mut count = 0;
    for (at, word) in (0u32..).zip(words) {
        let base = first.saturating_add(at * 64);
        let mut word = u64::from_le_bytes(*word);
        while word != 0 {
            let doc = base.saturating_add(word.trailing_zeros());
            word &= word - 1;
            if range.contains(&doc) {
                count += bit(doc - range.start, bits);
            }
        }
    }
    count
}

/// How many bits are set in a range of places.
pub(super) fn of_run(places: Range<u32>, bits: &[u64; MANY]) -> u32 {
    let mut count = 0;
    for at in places.start / 64..places.end.div_ceil(64) {
        let low = places.start.saturating_sub(at * 64);
        let high = (places.end - at * 64).min(64);
        let mask = if high == 64 { u64::MAX } else { (1 << high) - 1 };
        count += (bits[at as usize % MANY] & mask & !((1 << low) - 1)).count_ones();
    }
    count
}
