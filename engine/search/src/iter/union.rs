//! How many documents hold one of some terms: by windows of 65,536 bits.
//!
//! Who wants only the number needs no window of the usual size, whose bits others join: in larger ones
//! a block of postings is rarely cut in two, and terms are asked sixteen times less often. Eight KiB of
//! bits still stay in the nearest cache. (`bench/benches/postings`.)
//!
//! Only for segments whose blocks are all there.

use segment::Postings;
use segment::postings::MANY;

use super::Turn;

/// Documents of a window.
const DOCS: u32 = MANY as u32 * 64;

/// Terms whose documents are counted, each document once.
pub struct Union {
    terms: Vec<Postings>,
    doc_count: u32,
    pos: u32,
    words: Box<[u64; MANY]>,
}

impl Union {
    /// The documents of `terms` in a segment of `doc_count`.
    pub fn new(terms: Vec<Postings>, doc_count: u32) -> Self {
        Self { terms, doc_count, pos: 0, words: Box::new([0; MANY]) }
    }

    /// Counts one window more; `None` after the last.
    pub fn step(&mut self, turn: &mut Turn<'_>) -> Option<u64> {
        if self.pos >= self.doc_count {
            return None;
        }
        let range = self.pos..self.doc_count.min(self.pos.saturating_add(DOCS));
        self.pos = range.end;
        for postings in &mut self.terms {
            postings.fill_bits(range.clone(), &mut self.words[..]);
        }
        let mut count = 0;
        for word in self.words.iter_mut() {
            count += u64::from(word.count_ones());
            *word = 0;
        }
        turn.spend(self.terms.len() * MANY + count as usize / 4);
        Some(count)
    }
}
