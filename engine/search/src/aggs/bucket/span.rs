//! Keys of fields of spans (`date_range`, `long_range`, …): every bucket that a span touches.
//!
//! A document's spans stand one after the other in its byte string, each two sortable numbers of
//! eight bytes, both ends included.

use std::ops::Range;
use std::sync::Arc;

use base::{DocId, FieldNo};
use mapping::types::sortable;
use segment::Segment;
use segment::columns::{Binary, BinaryReader};

use super::keyed::Keys;
use crate::aggs::cut::too_many;
use crate::aggs::partial::Key;
use crate::aggs::rounding::Rounding;
use crate::aggs::source::Form;
use crate::iter::function::Trouble;
use crate::iter::{Turn, window_of};

/// How ends become keys.
pub enum Grid {
    /// By width.
    Width {
        /// Width of a bucket.
        interval: f64,
        /// Where buckets begin.
        offset: f64,
        /// Only what lies between these.
        hard: (f64, f64),
    },
    /// By time.
    Time(Rounding, (i64, i64)),
}

/// Buckets that spans touch.
pub struct BySpan {
    column: Option<(Binary, BinaryReader)>,
    form: Form,
    grid: Grid,
    /// Buckets that an answer may have.
    most: usize,
    /// Where it is told that a document has more.
    trouble: Trouble,
}

impl BySpan {
    /// The spans of a field.
    pub fn new(
        segment: &Segment,
        field: FieldNo,
        form: Form,
        grid: Grid,
        (most, trouble): (usize, &Trouble),
    ) -> Self {
        let column = segment.binary(field).map(|column| (column.clone(), column.reader()));
        Self { column, form, grid, most, trouble: Arc::clone(trouble) }
    }

    /// The keys between both ends of a span; false where there are too many, which is known before they
    /// are told.
    fn keys(&self, low: i64, high: i64, keys: &mut Vec<i64>) -> bool {
        let room = self.most.saturating_sub(keys.len());
        match &self.grid {
            Grid::Width { interval, offset, hard } => {
                let place = |value: f64| ((value - offset) / interval).floor();
                let (low, high) = (self.form.double(low), self.form.double(high));
                let first = place(low.max(hard.0));
                let count = place(high.min(hard.1)) - first + 1.0;
                if count > room as f64 {
                    return false;
                }
                // Beyond 2^53 several are the same number.
                keys.extend((0..count as u64).map(|at| sortable::from_f64(first + at as f64)));
                true
            }
            Grid::Time(rounding, hard) => {
                let mut key = rounding.round(self.form.millis(low).max(hard.0));
                // Unlike a moment's, a span's bucket at the upper end counts
                // (`DateRangeHistogramAggregator`).
                let last = rounding.round(self.form.millis(high).min(hard.1));
                let least = i128::from(last) - i128::from(key);
                if least / i128::from(rounding.width_max()) > room as i128 {
                    return false;
                }
                let end = keys.len() + room;
                while key <= last && keys.len() < end {
                    keys.push(key);
                    key = rounding.next(key);
                }
                key > last
            }
        }
    }
}

impl Keys for BySpan {
    fn prepare(&mut self, docs: &Range<u32>, turn: &mut Turn<'_>) -> bool {
        let Some((column, _)) = &self.column else { return true };
        if turn.resident || docs.is_empty() {
            return true;
        }
        for window in window_of(docs.start)..=window_of(docs.end - 1) {
            if column.need(window, turn.missing).is_err() {
                return true;
            }
        }
        turn.is_ready()
    }

    fn each<F: FnMut(usize, i64)>(&mut self, docs: &[u32], mut give: F) {
        if self.trouble.get().is_some() {
            return;
        }
        let Some((column, mut reader)) = self.column.take() else { return };
        let mut keys = Vec::new();
        'docs: for (at, doc) in docs.iter().enumerate() {
            keys.clear();
            let Ok(Some(bytes)) = reader.get(DocId(*doc)) else { continue };
            for span in bytes.as_chunks::<16>().0 {
                let (low, high) = span.split_at(8);
                let number =
                    |bytes: &[u8]| sortable::from_bytes(bytes.try_into().unwrap_or([0; 8]));
                if !self.keys(number(low), number(high), &mut keys) {
                    // The first fault is told.
                    let _ = self.trouble.set(too_many(self.most));
                    break 'docs;
                }
            }
            keys.sort_unstable();
            keys.dedup();
            for key in &keys {
                give(at, *key);
            }
        }
        self.column = Some((column, reader));
    }

    fn key(&mut self, key: i64) -> segment::Result<Option<Key>> {
        Ok(Some(match &self.grid {
            Grid::Width { interval, offset, .. } => {
                Key::Double(sortable::to_f64(key) * interval + offset + 0.0)
            }
            Grid::Time(..) => Key::Long(key),
        }))
    }
}
