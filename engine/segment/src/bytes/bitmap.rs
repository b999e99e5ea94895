//! Sets of small numbers as bits, 64 a word, with counting.
//!
//! Always true
//! 1. Bit `i` is bit `i % 64` of word `i / 64`.
//! 2. Bits from the length on are zero, so words can be counted and combined whole.
//!
//! Not here: sets in files (`columns/presence`, `live`).

/// Number of words that hold `len` bits.
#[inline]
pub const fn word_count(len: u32) -> usize {
    len.div_ceil(64) as usize
}

/// Whether bit `index` is set; false beyond the words.
#[inline]
pub fn has(words: &[u64], index: u32) -> bool {
    words.get(index as usize / 64).is_some_and(|word| word >> (index % 64) & 1 == 1)
}

/// The set bits of `words`, rising.
pub fn ones(words: &[u64]) -> impl Iterator<Item = u32> + '_ {
    words.iter().enumerate().flat_map(|(number, &word)| {
        let mut left = word;
        std::iter::from_fn(move || {
            if left == 0 {
                return None;
            }
            let bit = left.trailing_zeros();
            left &= left - 1;
            Some(number as u32 * 64 + bit)
        })
    })
}

/// How many bits are set.
#[inline]
pub fn count(words: &[u64]) -> u32 {
    words.iter().map(|word| word.count_ones()).sum()
}

/// A fixed number of bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bitmap {
    words: Box<[u64]>,
    len: u32,
}

impl Bitmap {
    /// `len` bits, none set.
    pub fn new(len: u32) -> Self {
        Self { words: vec![0; word_count(len)].into(), len }
    }

    /// `len` bits, all set.
    pub fn full(len: u32) -> Self {
        let mut all = Self { words: vec![u64::MAX; word_count(len)].into(), len };
        if let Some(last) = all.words.last_mut()
            && !len.is_multiple_of(64)
        {
            *last = (1 << (len % 64)) - 1;
        }
        all
    }

    /// From words; `None` where these are too few or too many, or a bit beyond `len` is set.
    pub fn from_words(words: Vec<u64>, len: u32) -> Option<Self> {
        if words.len() != word_count(len) {
            return None;
        }
        let beyond = match len % 64 {
            0 => 0,
            used => words.last().map_or(0, |last| last >> used),
        };
        (beyond == 0).then(|| Self { words: words.into(), len })
    }

    /// Number of bits.
    #[inline]
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Whether there are no bits at all.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether bit `index` is set; false from the length on.
    #[inline]
    pub fn has(&self, index: u32) -> bool {
        has(&self.words, index)
    }

    /// Sets bit `index`; whether it was not set before.
    ///
    /// # Panics
    ///
    /// From the length on.
    #[inline]
    pub fn insert(&mut self, index: u32) -> bool {
        assert!(index < self.len, "bit inside of the map");
        let word = &mut self.words[index as usize / 64];
        let new = *word >> (index % 64) & 1 == 0;
        *word |= 1 << (index % 64);
        new
    }

    /// Clears bit `index`; whether it was set before.
    ///
    /// # Panics
    ///
    /// From the length on.
    #[inline]
    pub fn remove(&mut self, index: u32) -> bool {
        assert!(index < self.len, "bit inside of the map");
        let word = &mut self.words[index as usize / 64];
        let old = *word >> (index % 64) & 1 == 1;
        *word &= !(1 << (index % 64));
        old
    }

    /// How many bits are set.
    pub fn count(&self) -> u32 {
        count(&self.words)
    }

    /// The set bits, rising.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        ones(&self.words)
    }

    /// The words.
    #[inline]
    pub fn words(&self) -> &[u64] {
        &self.words
    }
}

/// A bitmap that knows how many bits are set before each of its bits.
#[derive(Clone, Debug)]
pub struct Ranked {
    bits: Bitmap,
    /// Bits set before each group of [`Ranked::GROUP`] words.
    before: Box<[u32]>,
}

impl Ranked {
    /// Words of a group: counting the rest costs at most seven more words, one cache line.
    const GROUP: usize = 8;

    /// Counts `bits`.
    pub fn new(bits: Bitmap) -> Self {
        let mut sum = 0;
        let groups = bits.words.chunks(Self::GROUP);
        let before = groups.map(|group| {
            let before = sum;
            sum += count(group);
            before
        });
        let before = before.collect();
        Self { bits, before }
    }

    /// The bits.
    pub fn bits(&self) -> &Bitmap {
        &self.bits
    }

    /// How many bits are set before bit `index`; `None` where that bit is not set itself.
    #[inline]
    pub fn rank(&self, index: u32) -> Option<u32> {
        if !self.bits.has(index) {
            return None;
        }
        let word = index as usize / 64;
        let group = word / Self::GROUP;
        let whole = count(&self.bits.words[group * Self::GROUP..word]);
        let partial = self.bits.words[word] & ((1 << (index % 64)) - 1);
        Some(self.before[group] + whole + partial.count_ones())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn a_bitmap_is_a_set(len in 0u32..1500, wishes: Vec<(u32, bool)>) {
            let mut bits = Bitmap::new(len);
            let mut model = BTreeSet::new();
            for (index, insert) in wishes {
                if len == 0 { break }
                let index = index % len;
                if insert {
                    prop_assert_eq!(bits.insert(index), model.insert(index));
                } else {
                    prop_assert_eq!(bits.remove(index), model.remove(&index));
                }
            }
            prop_assert_eq!(bits.count() as usize, model.len());
            prop_assert!(bits.iter().eq(model.iter().copied()));
            let ranked = Ranked::new(bits);
            for index in 0..len + 70 {
                let expected = model.contains(&index).then(|| model.range(..index).count() as u32);
                prop_assert_eq!(ranked.rank(index), expected);
            }
        }
    }

    #[test]
    fn a_full_map_ends_at_its_length() {
        for len in [0u32, 1, 63, 64, 65, 128] {
            let full = Bitmap::full(len);
            assert_eq!(full.count(), len);
            assert_eq!(Bitmap::from_words(full.words().to_vec(), len), Some(full));
        }
        assert!(Bitmap::from_words(vec![2], 1).is_none(), "a bit beyond the length");
        assert!(Bitmap::from_words(vec![0, 0], 64).is_none(), "a word too many");
    }
}
