//! Places in a shard as they are told to a caller from whom something of it is hidden.
//!
//! A place counts all documents before it, so that two places told how many hidden ones (and objects inside of
//! documents that are hidden) lie between. Here a place is told as a number that means nothing without a key, and is the
//! place again when it comes back in `search_after`: a Feistel network (Luby and Rackoff, "How to construct
//! pseudorandom permutations", 1988) of four rounds of SipHash-2-4 over 52 bits, as many as a number of
//! JavaScript holds exactly.
//!
//! Always true: `reveal(hide(place))` is the place, for each that a search can make.

use std::hash::Hasher;

use siphasher::sip::SipHasher24;

/// Bits of each half.
const HALF: u32 = 26;
const MASK: u64 = (1 << HALF) - 1;
const ROUNDS: u8 = 4;

/// Shards that places of one search can be in. What is revealed beyond was made up.
const SHARDS_MAX: u64 = 1 << 14;

/// Hides places, by a key that the program makes when it starts.
#[derive(Clone, Copy, Debug)]
pub struct Veil(SipHasher24);

impl Veil {
    /// Hides by this key, 16 random bytes.
    pub fn new(key: &[u8; 16]) -> Self {
        Self(SipHasher24::new_with_key(key))
    }

    /// What is told of a place: the shard's number in the search above 32 bits of document.
    pub fn hide(&self, place: i64) -> i64 {
        let place = place as u64;
        let (mut left, mut right) = (place >> HALF & MASK, place & MASK);
        for round in 0..ROUNDS {
            (left, right) = (right, left ^ self.round(round, right));
        }
        (left << HALF | right) as i64
    }

    /// The place of which this was told; none where it was told of none.
    pub fn reveal(&self, told: u64) -> Option<u64> {
        let (mut left, mut right) = (told >> HALF, told & MASK);
        if left > MASK {
            return None;
        }
        for round in (0..ROUNDS).rev() {
            (left, right) = (right ^ self.round(round, left), left);
        }
        let place = left << HALF | right;
        (place >> 32 < SHARDS_MAX).then_some(place)
    }

    /// A seed instead of one that the caller knows: what it chooses by places tells nothing of them.
    pub fn seed(&self, seed: u64) -> u64 {
        let mut hasher = self.0;
        // No round has this number.
        hasher.write_u8(u8::MAX);
        hasher.write_u64(seed);
        hasher.finish()
    }

    fn round(&self, round: u8, half: u64) -> u64 {
        let mut hasher = self.0;
        hasher.write_u8(round);
        hasher.write_u64(half);
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
        }

        #[test]
        fn numbers_that_nobody_was_told_are_no_places(key: [u8; 16], told in 1u64 << 52..) {
            prop_assert_eq!(Veil::new(&key).reveal(told), None);
        }
    }

    /// Neighbours are told as numbers without an order, others under another key.
    #[test]
    fn what_is_told_has_no_order() {
        let veil = Veil::new(&[7; 16]);
        let told: Vec<i64> = (0..1000).map(|place| veil.hide(place)).collect();
        let rises = told.windows(2).filter(|pair| pair[0] < pair[1]).count();
        assert!((400..600).contains(&rises), "{rises}");
        let other = Veil::new(&[8; 16]);
        assert!((0..1000).zip(&told).all(|(place, told)| other.hide(place) != *told));
        assert_ne!(veil.seed(1), veil.seed(2));
        assert_ne!(veil.seed(1), other.seed(1));
    }
}
