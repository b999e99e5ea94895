//! Documents of a segment as they are gathered: a list while they are few, a bit for each document once they are not.
//!
//! A bit for each is the eighth of a byte; of a large segment it is a megabyte, and a query has as many such sets as
//! clauses. Lucene's `DocIdSetBuilder` tells few from many in the same way.

use segment::bkd::Sink;

use super::term::window_range;
use super::{Bits, END, WINDOW, bits};

/// As many are sorted at the end in some tens of microseconds.
const FEW_MAX: usize = 4096;

/// A list holds one document in so many of the segment's at most: to sort more takes longer than to clear a bit for
/// each document (a hundredth of 320,000 took three times as long).
const FEW_PART: usize = 512;

/// What a list may hold of a segment of so many documents.
fn few_max(doc_count: u32) -> usize {
    FEW_MAX.min(doc_count as usize / FEW_PART)
}

/// What so many documents of a segment take, where they may be twice as many.
pub fn len_bytes(count: u64, doc_count: u32) -> usize {
    let count = usize::try_from(count).unwrap_or(usize::MAX).saturating_mul(2);
    match count <= few_max(doc_count) {
        true => count * size_of::<u32>(),
        false => doc_count as usize / 8,
    }
}

/// See the head of the file.
pub struct Gathered {
    few: Vec<u32>,
    words: Vec<u64>,
    doc_count: u32,
}

impl Gathered {
    /// None yet.
    pub fn new(doc_count: u32) -> Self {
        Self { few: Vec::new(), words: Vec::new(), doc_count }
    }

    /// A bit for each document of the segment, in whole windows, so that they can be copied without a look at the
    /// end.
    pub fn words(&mut self) -> &mut [u64] {
        if self.words.is_empty() {
            self.words.resize((self.doc_count.div_ceil(WINDOW) * (WINDOW / 64)) as usize, 0);
            for doc in std::mem::take(&mut self.few) {
                self.words[doc as usize / 64] |= 1 << (doc % 64);
            }
        }
        &mut self.words
    }

    /// All are there.
    pub fn finish(&mut self) {
        self.few.sort_unstable();
        self.few.dedup();
        self.few.shrink_to_fit();
    }

    /// The first at or after `from`, of those that are finished.
    pub fn next(&self, from: u32) -> u32 {
        if self.words.is_empty() {
            let at = self.few.partition_point(|doc| *doc < from);
            return self.few.get(at).copied().unwrap_or(END);
        }
        let mut at = from as usize / 64;
        let Some(first) = self.words.get(at) else { return END };
        let mut word = first & (u64::MAX << (from % 64));
        while word == 0 {
            at += 1;
            match self.words.get(at) {
                Some(next) => word = *next,
                None => return END,
            }
        }
        at as u32 * 64 + word.trailing_zeros()
    }

    /// Adds those of a window.
    pub fn fill(&self, window: u32, out: &mut Bits) {
        let range = window_range(window, self.doc_count);
        if self.words.is_empty() {
            let from = self.few.partition_point(|doc| *doc < range.start);
            for doc in self.few[from..].iter().take_while(|doc| **doc < range.end) {
                bits::set(out, doc - range.start);
            }
            return;
        }
        let words = &self.words[range.start as usize / 64..];
        for (word, more) in out.iter_mut().zip(words) {
            *word |= more;
        }
    }

    /// Which of `docs`, that rise, are among those that are finished.
    #[inline]
    pub fn probe(&self, docs: &[u32], matches: &mut [bool]) {
        let each = matches.iter_mut().zip(docs);
        if !self.words.is_empty() {
            for (matches, doc) in each {
                let word = self.words.get(*doc as usize / 64);
                *matches = word.is_some_and(|word| word >> (doc % 64) & 1 == 1);
            }
            return;
        }
        let mut few = self.few.as_slice();
        for (matches, doc) in each {
            few = &few[few.partition_point(|one| one < doc)..];
            *matches = few.first() == Some(doc);
        }
    }
}

impl Sink for Gathered {
    #[inline]
    fn docs(&mut self, docs: &[u32]) {
        if self.words.is_empty() && self.few.len() + docs.len() <= few_max(self.doc_count) {
            return self.few.extend_from_slice(docs);
        }
        let words = self.words();
        for doc in docs {
            words[*doc as usize / 64] |= 1 << (doc % 64);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// A list and bits tell the same, wherever one becomes the other.
        #[test]
        fn few_and_many_tell_the_same(
            doc_count in 1u32..300_000,
            parts in prop::collection::vec(prop::collection::vec(any::<prop::sample::Index>(), 0..700), 0..12),
            asked in prop::collection::vec(any::<prop::sample::Index>(), 20),
        ) {
            let of = |at: &prop::sample::Index| at.index(doc_count as usize) as u32;
            let (mut one, mut bits) = (Gathered::new(doc_count), Gathered::new(doc_count));
            bits.words();
            let mut all = std::collections::BTreeSet::new();
            for part in &parts {
                let docs: Vec<u32> = part.iter().map(of).collect();
                one.docs(&docs);
                bits.docs(&docs);
                all.extend(docs);
            }
            for set in [&mut one, &mut bits] {
                set.finish();
                prop_assert!(set.few.len() <= few_max(doc_count) && (set.few.is_empty() || set.words.is_empty()));
                let mut probed: Vec<u32> = asked.iter().map(of).chain(all.iter().copied()).collect();
                probed.sort_unstable();
                let mut matches = vec![false; probed.len()];
                set.probe(&probed, &mut matches);
                prop_assert!(probed.iter().zip(matches).all(|(doc, is_one)| all.contains(doc) == is_one));
                for doc in asked.iter().map(of).chain(all.iter().copied().take(50)) {
                    prop_assert_eq!(set.next(doc), all.range(doc..).next().copied().unwrap_or(END));
                    let window = doc / WINDOW;
                    let mut found = bits::NONE;
                    set.fill(window, &mut found);
                    let mut listed = Vec::new();
                    bits::list(&found, window * WINDOW, &mut listed);
                    let within = all.range(window * WINDOW..(window + 1) * WINDOW);
                    prop_assert!(listed.iter().eq(within), "{:?}", listed);
                }
            }
        }
    }

    #[test]
    fn what_is_expected_is_no_less_than_what_is_held() {
        assert_eq!(len_bytes(0, 1_000_000), 0);
        assert_eq!(len_bytes(100, 1_000_000), 800);
        assert_eq!(len_bytes(2_049, 1_000_000), 125_000);
        assert_eq!(len_bytes(u64::MAX, 64), 8);
    }
}
