//! How many documents hold both of two terms: by windows of 65,536 bits.
//!
//! Who wants only the number needs no list. Where the terms are about as common, a document of the rarer one
//! is looked up in nearly every block of the other; to set a bit for each, and to look at those bits once for
//! each document of the other, costs less. A block of the other that lies as bits is not even
//! taken apart.
//!
//! Only for segments whose blocks are all there.

use segment::Postings;
use segment::postings::MANY;

use super::Turn;

/// Documents of a window.
const DOCS: u32 = MANY as u32 * 64;

/// Two terms whose common documents are counted.
pub struct Overlap {
    /// The rarer one.
    lead: Postings,
    other: Postings,
    doc_count: u32,
    pos: u32,
    words: Box<[u64; MANY]>,
    /// Work of a window.
    work: usize,
}

impl Overlap {
    /// The documents of two terms in a segment of `doc_count`.
    pub fn new(a: Postings, b: Postings, doc_count: u32) -> Self {
        let (lead, other) = if a.doc_freq() <= b.doc_freq() { (a, b) } else { (b, a) };
        let docs = u64::from(lead.doc_freq()) + u64::from(other.doc_freq());
        let share = docs * u64::from(DOCS) / u64::from(doc_count.max(1));
        let work = MANY + share as usize / 4;
        Self { lead, other, doc_count, pos: 0, words: Box::new([0; MANY]), work }
    }

    /// Counts one window more; `None` after the last.
    pub fn step(&mut self, turn: &mut Turn<'_>) -> Option<u64> {
        if self.pos >= self.doc_count {
            return None;
        }
        let range = self.pos..self.doc_count.min(self.pos.saturating_add(DOCS));
        self.pos = range.end;
        self.words.fill(0);
        self.lead.fill_bits(range.clone(), &mut self.words[..]);
        turn.spend(self.work);
        Some(self.other.count_bits(range, &self.words))
    }
}
