//! Places in a shard as they are told to a caller from whom something of it is hidden.
//!
//! A place counts all documents before it, so that two places told how many hidden ones (and objects inside of
//! documents that are hidden) lie between. Here a place is told as a number whose last bits mean nothing without a key,
//! and is the place again when it comes back in `search_after`: a Feistel network (Luby and Rackoff, "How to construct
//! pseudorandom permutations", 1988) of six rounds of SipHash-2-4 over 38 bits, below the number of the shard
//! in the search, which is no secret. All together are 52 bits: a number of JavaScript holds them exactly.
//!
//! Always true
//! 1. `reveal(hide(place))` is the place, for each that a search over [`SHARDS_MAX`] shards can make.
//! 2. The key is of one index, and of who sees alike of it: what somebody learns where all is known to it opens no
//!    other index. What is revealed by the key of another index is a place in the same shard of the search, and none
//!    of this index has that number.

use std::hash::Hasher;

use siphasher::sip::SipHasher24;

/// Bits of each half of what is hidden.
const HALF: u32 = 19;
const MASK: u64 = (1 << HALF) - 1;
const ROUNDS: u8 = 6;

/// Shards that places of one search can be told of.
const SHARDS_MAX: u64 = 1 << 14;

/// Hides places.
#[derive(Clone, Copy, Debug)]
pub struct Veil(SipHasher24);

impl Veil {
    /// That of the program, by 16 random bytes that it makes when it starts.
    pub fn new(key: &[u8; 16]) -> Self {
        Self(SipHasher24::new_with_key(key))
    }

    /// That of one index, for those to whom these limits apply.
    #[must_use]
    pub fn of(&self, index: &[u8; 16], limits: u64) -> Self {
        let half = |number: u8| {
            let mut hasher = self.0;
            hasher.write(index);
            hasher.write_u64(limits);
            hasher.write_u8(number);
            hasher.finish()
        };
        let mut key = [0; 16];
        key[..8].copy_from_slice(&half(0).to_le_bytes());
        key[8..].copy_from_slice(&half(1).to_le_bytes());
        Self::new(&key)
    }

    /// What is told of a place: the shard's number in the search above 32 bits of document.
    pub fn hide(&self, place: i64) -> i64 {
        let place = place as u64;
        let (shard, doc) = (place >> 32 & (SHARDS_MAX - 1), place & u64::from(u32::MAX));
        let (mut left, mut right) = (doc >> HALF, doc & MASK);
        for round in 0..ROUNDS {
            (left, right) = (right, left ^ self.round(shard, round, right));
        }
        (shard << (2 * HALF) | left << HALF | right) as i64
    }

    /// The place of which this was told; the end of a shard where it was told of none; none where no shard has it.
    pub fn reveal(&self, told: u64) -> Option<u64> {
        let shard = told >> (2 * HALF);
        let (mut left, mut right) = (told >> HALF & MASK, told & MASK);
        for round in (0..ROUNDS).rev() {
            (left, right) = (right ^ self.round(shard, round, left), left);
        }
        let doc = (left << HALF | right).min(u32::MAX.into());
        (shard < SHARDS_MAX).then_some(shard << 32 | doc)
    }

    /// A seed instead of one that the caller knows: what it chooses tells nothing of what it chooses by.
    pub fn seed(&self, seed: u64) -> u64 {
        let mut hasher = self.0;
        // No round has this number.
        hasher.write_u8(u8::MAX);
        hasher.write_u64(seed);
        hasher.finish()
    }

    fn round(&self, shard: u64, round: u8, half: u64) -> u64 {
        let mut hasher = self.0;
        hasher.write_u8(round);
        hasher.write_u64(shard << 32 | half);
        hasher.finish() & MASK
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_was_hidden_is_revealed(key: [u8; 16], shard in 0..SHARDS_MAX, doc: u32) {
            let veil = Veil::new(&key);
            let place = shard << 32 | u64::from(doc);
            let told = veil.hide(place as i64);
            prop_assert!((0..1 << 52).contains(&told));
            prop_assert_eq!(veil.reveal(told as u64), Some(place));
            // To another index it is of the same shard, which is none of its own.
            let other = veil.of(&key, 7).reveal(told as u64).map(|place| place >> 32);
            prop_assert_eq!(other, Some(shard));
        }

        #[test]
        fn numbers_that_no_shard_has_are_no_places(key: [u8; 16], told in 1u64 << 52..) {
            prop_assert_eq!(Veil::new(&key).reveal(told), None);
        }
    }

    /// Neighbours are told as numbers without an order; others in another shard, another index, and to others.
    #[test]
    fn what_is_told_has_no_order() {
        let program = Veil::new(&[7; 16]);
        let veil = program.of(&[1; 16], 1);
        let told: Vec<i64> = (0..1000).map(|place| veil.hide(place)).collect();
        let rises = told.windows(2).filter(|pair| pair[0] < pair[1]).count();
        assert!((400..600).contains(&rises), "{rises}");
        let others = [program.of(&[2; 16], 1), program.of(&[1; 16], 2), Veil::new(&[8; 16])];
        for other in others {
            assert!((0..1000).zip(&told).all(|(place, told)| other.hide(place) != *told));
            assert_ne!(veil.seed(1), other.seed(1));
        }
        let in_shard_1 = |place: i64| veil.hide(1 << 32 | place) & ((1 << (2 * HALF)) - 1);
        assert!((0..1000).zip(&told).all(|(place, told)| in_shard_1(place) != *told));
        assert_ne!(veil.seed(1), veil.seed(2));
    }
}
