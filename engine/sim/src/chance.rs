//! Numbers that look random and follow from a seed (SplitMix64, Steele et al. 2014).

/// A source of numbers.
#[derive(Clone, Debug)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`, which is above 0.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        assert!(end > 0, "nothing is below 0");
        ((u128::from(self.next()) * u128::from(end)) >> 64) as u64
    }

    /// A number from `first` to `last`, both included.
    pub(crate) fn between(&mut self, first: u64, last: u64) -> u64 {
        assert!(first <= last, "an empty range");
        match (last - first).checked_add(1) {
            Some(width) => first + self.below(width),
            None => self.next(),
        }
    }

    /// True in `percent` of a hundred cases.
    pub(crate) fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let number = self.next().to_le_bytes();
            chunk.copy_from_slice(&number[..chunk.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_in_their_range() {
        let mut chance = Chance::new(1);
        let mut seen = [false; 5];
        for _ in 0..200 {
            seen[(chance.between(3, 7) - 3) as usize] = true;
        }
        assert_eq!(seen, [true; 5]);
        assert_eq!(chance.below(1), 0);
        let _ = chance.between(0, u64::MAX);
    }
}
