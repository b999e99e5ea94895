//! Writes the positions of a field, term by term.

use base::vint;

use super::REST;
use crate::bytes::bitpack::{self, BLOCK};

/// Writes the positions of one term after the other.
pub(crate) struct PositionWriter {
    out: Vec<u8>,
    waiting: [u32; BLOCK],
    count: usize,
    /// Where the term begins in `out`.
    start: usize,
    /// Whether the term has a full block.
    is_long: bool,
}

impl PositionWriter {
    pub(crate) fn new() -> Self {
        Self { out: Vec::new(), waiting: [0; BLOCK], count: 0, start: 0, is_long: false }
    }

    /// Makes room for so many bytes.
    pub(crate) fn make_room(&mut self, bytes: usize) {
        self.out.reserve_exact(bytes);
    }

    /// Takes the positions of the term's next document.
    pub(crate) fn add(&mut self, positions: &[u32]) {
        let mut before = 0;
        for position in positions {
            assert!(*position >= before, "positions of a document rise");
            self.waiting[self.count] = position - before;
            before = *position;
            self.count += 1;
            if self.count == BLOCK {
                let header = self.out.len();
                self.out.push(0);
                self.out[header] = bitpack::pack(&self.waiting, &mut self.out);
                self.count = 0;
                self.is_long = true;
            }
        }
    }

    /// Where the next position will lie: the packed block's offset in the term, the place in it.
    pub(crate) fn place(&self) -> (usize, u8) {
        (self.out.len() - self.start, self.count as u8)
    }

    /// Ends the term; answers where it begins and how long it is.
    pub(crate) fn finish(&mut self) -> (usize, usize) {
        if self.count > 0 {
            if self.is_long {
                self.out.push(REST + self.count as u8);
            }
            for distance in &self.waiting[..self.count] {
                vint::write(&mut self.out, u64::from(*distance));
            }
        }
        let start = std::mem::replace(&mut self.start, self.out.len());
        self.count = 0;
        self.is_long = false;
        (start, self.out.len() - start)
    }

    /// The positions of all terms.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.out
    }
}
