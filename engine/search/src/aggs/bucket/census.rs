//! Counting the terms of a column without looking at documents: where all documents of a segment
//! count, each counts once for a term, and none is dead, the dictionary knows how many have it.
//!
//! As OpenSearch does (`tryPrecomputeAggregationForLeaf`); for keywords alone, whose dictionary and
//! column hold the same terms: the n-th term has the rank n.

use mapping::Kind;
use segment::{Segment, TermCursor};

use crate::aggs::source::{Column, Source};
use crate::iter::Turn;

/// Work of a term, in the unit of [`Turn::spend`].
const TERM_WORK: usize = 8;

/// A walk through the dictionary of a column.
pub struct Census {
    cursor: TermCursor,
    /// The rank of the next term.
    rank: usize,
}

impl Census {
    /// For the terms of `source`, where that is less work than to look at all documents.
    pub fn of(source: &Source, segment: &Segment) -> Option<Self> {
        let Column::Ordinals(number) = source.column else { return None };
        let field = source.field.as_ref()?;
        if source.missing.is_some() || !matches!(field.kind, Kind::Keyword(_)) {
            return None;
        }
        let (terms, column) = (segment.terms(number)?, segment.ordinals(number)?);
        let count = u64::from(column.term_count());
        let is_less = count.saturating_mul(TERM_WORK as u64) <= u64::from(segment.doc_count());
        (is_less && terms.term_count() == count).then(|| Self { cursor: terms.cursor(), rank: 0 })
    }

    /// Puts documents of terms beside their ranks until the turn is over; true when all are there.
    ///
    /// # Errors
    /// Where the dictionary is damaged.
    pub fn step(&mut self, counts: &mut [u32], turn: &mut Turn<'_>) -> segment::Result<bool> {
        while !turn.is_over() {
            if !turn.resident {
                self.cursor.need_next(turn.missing)?;
                if !turn.is_ready() {
                    return Ok(false);
                }
            }
            if !self.cursor.next()? {
                return Ok(true);
            }
            if let Some(count) = counts.get_mut(self.rank) {
                *count = self.cursor.info()?.doc_freq;
            }
            self.rank += 1;
            turn.spend(TERM_WORK);
        }
        Ok(false)
    }
}
