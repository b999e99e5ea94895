//! Keys of fields of spans (`date_range`, `long_range`, …): every bucket that a span touches.
//!
//! A document's spans stand one after the other in its byte string, each two sortable numbers of
//! eight bytes, both ends included.

use std::ops::Range;

use base::{DocId, FieldNo};
use mapping::types::sortable;
use segment::Segment;
use segment::columns::{Binary, BinaryReader};

use super::keyed::Keys;
use crate::aggs::partial::Key;
use crate::aggs::rounding::Rounding;
use crate::aggs::source::Form;
use crate::iter::{Turn, window_of};

/// Buckets of one span at most: the answer has no more either.
const BUCKETS_MAX: usize = 65_536;

/// How ends become keys.
pub enum Grid {
    /// By width.
    Width {
        /// Width of a bucket.
        interval: f64,
        /// Where buckets begin.
        offset: f64,
        /// Only between these.
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
}

impl BySpan {
    /// The spans of a field.
    pub fn new(segment: &Segment, field: FieldNo, form: Form, grid: Grid) -> Self {
        let column = segment.binary(field).map(|column| (column.clone(), column.reader()));
        Self { column, form, grid }
    }

    /// The keys between both ends of a span.
    fn keys(&self, low: i64, high: i64, keys: &mut Vec<i64>) {
        match &self.grid {
            Grid::Width { interval, offset, hard } => {
                let place = |value: f64| ((value - offset) / interval).floor();
                let value = |key: f64| key * interval + offset;
                let (low, high) = (self.form.double(low), self.form.double(high));
                let mut key = place(low.max(hard.0));
                let last = place(high.min(hard.1));
                while key <= last && keys.len() < BUCKETS_MAX {
                    if hard.0 <= value(key) && value(key) <= hard.1 {
                        keys.push(sortable::from_f64(key));
                    }
                    key += 1.0;
                }
            }
            Grid::Time(rounding, hard) => {
                let mut key = rounding.round(self.form.millis(low).max(hard.0));
                let last = self.form.millis(high).min(hard.1.saturating_sub(1));
                while key <= last && keys.len() < BUCKETS_MAX {
                    if hard.0 <= key {
                        keys.push(key);
                    }
                    key = rounding.next(key);
                }
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
        let Some((column, mut reader)) = self.column.take() else { return };
        let mut keys = Vec::new();
        for (at, doc) in docs.iter().enumerate() {
            keys.clear();
            let Ok(Some(bytes)) = reader.get(DocId(*doc)) else { continue };
            for span in bytes.as_chunks::<16>().0 {
                let (low, high) = span.split_at(8);
                let number =
                    |bytes: &[u8]| sortable::from_bytes(bytes.try_into().unwrap_or([0; 8]));
                self.keys(number(low), number(high), &mut keys);
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
