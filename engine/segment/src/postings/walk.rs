//! The positions of a term in one document, a few at a time.
//!
//! A document may hold millions of positions; who walks them holds one chunk of 128, however many
//! there are, and can stop between any two.
//!
//! Always true
//! 1. Positions given never fall; a term that stands twice at a place gives it twice.
//! 2. Damage ends the walk and is recorded in the segment.

use std::sync::Arc;

use super::block::BLOCK;
use crate::error::Result;
use crate::positions::PositionCursor;
use crate::terms::FieldTerms;

/// What a chunk costs, in steps over single positions: they are unpacked many at a time.
const CHUNK_WORK: usize = BLOCK / 4;

/// A walk over the positions of one document.
pub struct Walk {
    terms: Arc<FieldTerms>,
    cursor: PositionCursor,
    /// Positions that follow those in `values`.
    left: u32,
    /// The last position of the chunk before.
    last: u32,
    values: Vec<u32>,
    at: usize,
}

impl Walk {
    /// A walk over the next `freq` positions of a cursor.
    pub(super) fn new(terms: Arc<FieldTerms>, cursor: PositionCursor, freq: u32) -> Self {
        Self { terms, cursor, left: freq, last: 0, values: Vec::with_capacity(BLOCK), at: 0 }
    }

    /// Where it stands; `None` after the last position.
    #[inline]
    pub fn peek(&mut self) -> Option<u32> {
        if self.at == self.values.len() && !self.load() {
            return None;
        }
        self.values.get(self.at).copied()
    }

    /// Moves to the next position.
    #[inline]
    pub fn pass(&mut self) {
        self.at = (self.at + 1).min(self.values.len());
    }

    /// Moves to the first position at or after `target`, and tells it. Takes its effort out of
    /// `work`, in steps; where that is used up on the way it stands, and tells a position, before
    /// `target`.
    #[inline]
    pub fn seek(&mut self, target: u32, work: &mut usize) -> Option<u32> {
        loop {
            let at = self.peek()?;
            if at >= target {
                return Some(at);
            }
            if *work == 0 {
                return Some(at);
            }
            if self.values.last().is_some_and(|last| *last < target) {
                self.at = self.values.len();
                *work = work.saturating_sub(CHUNK_WORK);
            } else {
                self.at += self.values[self.at..].partition_point(|value| *value < target);
            }
        }
    }

    fn load(&mut self) -> bool {
        self.values.clear();
        self.at = 0;
        let count = self.left.min(BLOCK as u32);
        if count == 0 {
            return false;
        }
        self.left -= count;
        if let Err(error) = self.read(count) {
            self.values.clear();
            self.left = 0;
            self.terms.fail(error);
        }
        !self.values.is_empty()
    }

    /// Each chunk begins where the last ended.
    fn read(&mut self, count: u32) -> Result<()> {
        self.cursor.read_from(self.last, count, &mut self.values)?;
        self.last = self.values.last().copied().unwrap_or(self.last);
        Ok(())
    }
}
