//! Which of many words stand in each document of a window.
//!
//! A place of a phrase, or a pattern in `intervals`, may be thousands of words. To ask each of them about
//! each document is quadratic where they are rare, so they are gone through once a window.
//!
//! Always true
//! 1. What is told is told whole: while it is being found, any word may stand anywhere.

use std::ops::Range;

use super::blocks::Blocks;
use super::{Bits, Turn, WINDOW, bits, window_of};

/// So many words make it worth it.
const WORDS_MANY: usize = 16;

/// So many documents that are looked up together do, too.
const DOCS_MANY: usize = 8;

/// Words that are gone through even where the turn is over, so that each turn comes further.
const WORDS_MIN: usize = 64;

/// What a word in a window costs, in documents looked at.
const WORD_WORK: usize = 32;

/// What is known of a window.
#[derive(Default)]
pub struct Members {
    /// Documents, rising, and the number of a word that stands in each.
    found: Vec<(u32, u32)>,
    /// The documents that are told about.
    range: Range<u32>,
    /// Words gone through; `None`: all.
    next: Option<usize>,
}

/// From the first document to the last, where to go through all words for all between them costs less than
/// to ask each of `words` about each of `docs`.
pub fn range_of(docs: &[u32], words: usize) -> Option<Range<u32>> {
    let (first, last) = (*docs.first()?, *docs.last()?);
    let is_worth_it = words >= WORDS_MANY && docs.len() >= DOCS_MANY;
    (is_worth_it && window_of(first) == window_of(last)).then(|| first..last + 1)
}

impl Members {
    /// Finds which words stand in the documents of `range`, which lie in one window and whose blocks are
    /// there; false where the turn is over before. Few words are not worth it: then nothing is told.
    pub fn tell(&mut self, words: &mut [Blocks], range: &Range<u32>, turn: &mut Turn<'_>) -> bool {
        if words.len() < WORDS_MANY || range.is_empty() {
            return true;
        }
        if self.range != *range {
            self.found.clear();
            (self.range, self.next) = (range.clone(), Some(0));
        }
        let Some(first) = self.next else { return true };
        let base = window_of(range.start) * WINDOW;
        let mut docs = Vec::new();
        for (at, word) in words.iter_mut().enumerate().skip(first) {
            if turn.is_over() && at >= first + WORDS_MIN {
                self.next = Some(at);
                return false;
            }
            turn.spend(2);
            if word.next(range.start) >= range.end {
                continue;
            }
            let mut here: Bits = bits::NONE;
            word.postings.fill_bits(base..range.end, &mut here);
            bits::keep_range(&mut here, range.start - base..range.end - base);
            docs.clear();
            bits::list(&here, base, &mut docs);
            self.found.extend(docs.iter().map(|doc| (*doc, at as u32)));
            turn.spend(WORD_WORK + docs.len());
        }
        self.found.sort_unstable();
        self.next = None;
        true
    }

    /// The words that stand in a document; `None`: it was not told, any may.
    pub fn of(&self, doc: u32) -> Option<&[(u32, u32)]> {
        if self.next.is_some() || !self.range.contains(&doc) {
            return None;
        }
        let start = self.found.partition_point(|(member, _)| *member < doc);
        let len = self.found[start..].iter().take_while(|(member, _)| *member == doc).count();
        Some(&self.found[start..start + len])
    }

    /// Calls `each` with the words that stand in a document, found there; false where it ends that.
    pub fn each_found(
        &self,
        words: &mut [Blocks],
        doc: u32,
        mut each: impl FnMut(&mut Blocks) -> bool,
    ) -> bool {
        match self.of(doc) {
            Some(members) => members.iter().all(|(_, at)| {
                let word = &mut words[*at as usize];
                !word.find(doc) || each(word)
            }),
            None => words.iter_mut().all(|word| !word.find(doc) || each(word)),
        }
    }
}
