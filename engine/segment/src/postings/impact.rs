//! Impacts: the few (frequency, length) pairs of a block that could score highest.
//!
//! A document with a higher frequency in a shorter field never scores less. So of a block only
//! those pairs matter that no other beats in both: their best score bounds the block, whatever
//! the statistics of the shard are by the time of the query (Ding and Suel 2011; Lucene's impacts).
//!
//! Always true
//! 1. For each posting of the block some pair has at least its frequency and at most its norm byte.
//! 2. Pairs rise in both: a longer field is only kept for a higher frequency.
//! 3. A frequency byte of 255 stands for "255 or more", and is read as `u32::MAX`.
//!
//! Layout: two bytes a pair, frequency and norm; a fixed number of pairs, the last repeated.
//! Where a block has more, neighbours are joined into (higher frequency, shorter field), those
//! first whose bound is the lowest.
//!
//! Absent: scores. Search turns pairs into a bound (`search/score`).

use crate::norms::decode_len;

/// Pairs of a block.
pub(crate) const BLOCK_PAIRS: usize = 4;

/// Pairs of a group of blocks.
pub(crate) const GROUP_PAIRS: usize = 8;

/// The norm byte of a field without lengths: each counts as one token.
pub(crate) const NORM_NONE: u8 = 1;

/// Pairs (frequency, norm byte), one of which scores at least as high as any document of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Impacts {
    bytes: [u8; 2 * GROUP_PAIRS],
    count: u8,
}

impl Impacts {
    /// The pairs that lie in `bytes`, at most eight.
    #[inline]
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let mut impacts = Self { bytes: [0; 2 * GROUP_PAIRS], count: (bytes.len() / 2) as u8 };
        debug_assert!(bytes.len() <= impacts.bytes.len());
        impacts.bytes[..bytes.len()].copy_from_slice(bytes);
        impacts
    }

    /// One pair.
    pub(crate) fn one(freq: u32, norm: u8) -> Self {
        Self::read(&[freq.min(255) as u8, norm])
    }

    /// The pairs: frequency, where `u32::MAX` stands for "255 or more", and norm byte. Both rise;
    /// the last may repeat.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = (u32, u8)> + '_ {
        self.bytes.as_chunks::<2>().0[..usize::from(self.count)]
            .iter()
            .map(|[freq, norm]| (if *freq == 255 { u32::MAX } else { u32::from(*freq) }, *norm))
    }
}

/// Gathers the pairs of a block or a group.
pub(crate) struct Frontier {
    /// Highest frequency for each norm byte.
    best: Box<[u32; 256]>,
    low: u8,
    high: u8,
    pairs: Vec<(u32, u8)>,
}

impl Frontier {
    /// Without pairs.
    pub(crate) fn new() -> Self {
        Self { best: Box::new([0; 256]), low: 255, high: 0, pairs: Vec::new() }
    }

    /// Takes a posting.
    #[inline]
    pub(crate) fn add(&mut self, freq: u32, norm: u8) {
        let best = &mut self.best[usize::from(norm)];
        *best = (*best).max(freq);
        self.low = self.low.min(norm);
        self.high = self.high.max(norm);
    }

    /// Takes the postings of `other`.
    pub(crate) fn add_all(&mut self, other: &Self) {
        for norm in other.low..=other.high {
            let freq = other.best[usize::from(norm)];
            if freq > 0 {
                self.add(freq, norm);
            }
        }
    }

    /// Forgets all postings.
    pub(crate) fn clear(&mut self) {
        if self.low <= self.high {
            self.best[usize::from(self.low)..=usize::from(self.high)].fill(0);
        }
        (self.low, self.high) = (255, 0);
    }

    /// Appends the `count` pairs that bound the postings taken; `len_average` is the field's, to
    /// judge which pairs are alike.
    pub(crate) fn write(&mut self, count: usize, len_average: f32, out: &mut Vec<u8>) {
        assert!(self.low <= self.high, "a block has postings");
        self.pairs.clear();
        let mut highest = 0;
        for norm in self.low..=self.high {
            let freq = self.best[usize::from(norm)];
            if freq > highest {
                highest = freq;
                self.pairs.push((freq, norm));
            }
        }
        while self.pairs.len() > count {
            join_lowest(&mut self.pairs, len_average);
        }
        let last = *self.pairs.last().expect("the lowest norm has a frequency");
        for at in 0..count {
            let (freq, norm) = self.pairs.get(at).copied().unwrap_or(last);
            out.extend_from_slice(&[freq.min(255) as u8, norm]);
        }
    }
}

/// Joins the two neighbours whose common bound is the lowest. A block is judged by its best pair,
/// so what rises below the best is free: high pairs stay exact.
fn join_lowest(pairs: &mut Vec<(u32, u8)>, len_average: f32) {
    let joined = |at: usize| weight((pairs[at + 1].0, pairs[at].1), len_average);
    let lowest = (0..pairs.len() - 1).min_by(|a, b| joined(*a).total_cmp(&joined(*b)));
    let at = lowest.expect("callers join two at least");
    pairs[at].0 = pairs[at + 1].0;
    pairs.remove(at + 1);
}

/// BM25's share of the term weight, with the usual k1 and b.
fn weight((freq, norm): (u32, u8), len_average: f32) -> f32 {
    let freq = freq as f32;
    freq / (freq + 1.2 * (0.25 + 0.75 * decode_len(norm) as f32 / len_average))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(postings: &[(u32, u8)], count: usize) -> Impacts {
        let mut frontier = Frontier::new();
        let mut out = Vec::new();
        // A frontier is reused: what stood before must not shine through.
        frontier.add(9_999, 200);
        frontier.clear();
        for (freq, norm) in postings {
            frontier.add(*freq, *norm);
        }
        frontier.write(count, 60.0, &mut out);
        assert_eq!(out.len(), 2 * count);
        Impacts::read(&out)
    }

    #[test]
    fn beaten_pairs_are_left_out() {
        let impacts = written(&[(1, 10), (3, 10), (2, 20), (3, 30), (7, 40)], 4);
        let pairs: Vec<_> = impacts.iter().collect();
        assert_eq!(pairs, [(3, 10), (7, 40), (7, 40), (7, 40)]);
    }

    #[test]
    fn high_frequency_stands_for_any() {
        assert_eq!(written(&[(255, 3)], 1).iter().next(), Some((u32::MAX, 3)));
        assert_eq!(written(&[(254, 3)], 1).iter().next(), Some((254, 3)));
    }

    proptest! {
        #[test]
        fn each_posting_is_bounded(
            postings in prop::collection::vec((1u32..400, any::<u8>()), 1..300),
            count in 1usize..=8,
        ) {
            let impacts = written(&postings, count);
            prop_assert!(impacts.iter().is_sorted());
            for (freq, norm) in postings {
                prop_assert!(impacts.iter().any(|(best, short)| best >= freq && short <= norm));
            }
        }
    }
}
