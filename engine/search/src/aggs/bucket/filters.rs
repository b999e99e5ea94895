//! Keys that are places of filters: one each, or each pair.

use std::ops::Range;

use super::keyed::Keys;
use super::matcher::Matcher;
use crate::aggs::partial::Key;
use crate::iter::Turn;

/// Documents by the filters they match.
pub struct ByFilter {
    filters: Vec<Matcher>,
    /// Documents that match none have the place behind the last.
    other: bool,
    /// Also each pair of filters.
    pairs: bool,
}

impl ByFilter {
    /// A bucket for each filter.
    pub fn new(filters: Vec<Matcher>, other: bool) -> Self {
        Self { filters, other, pairs: false }
    }

    /// A bucket for each filter and each pair of them.
    pub fn pairs(filters: Vec<Matcher>) -> Self {
        Self { filters, other: false, pairs: true }
    }
}

impl Keys for ByFilter {
    fn span(&self) -> usize {
        let count = self.filters.len();
        if self.pairs { count * count } else { count + 1 }
    }

    fn prepare(&mut self, docs: &Range<u32>, turn: &mut Turn<'_>) -> bool {
        let mut ready = true;
        for filter in &mut self.filters {
            ready &= filter.prepare(docs, turn);
        }
        ready
    }

    fn each<F: FnMut(usize, i64)>(&mut self, docs: &[u32], mut give: F) {
        let count = self.filters.len();
        let mut matched = Vec::with_capacity(count);
        for (at, doc) in docs.iter().enumerate() {
            matched.clear();
            for (place, filter) in self.filters.iter().enumerate() {
                if filter.matches(*doc) {
                    matched.push(place);
                }
            }
            if self.pairs {
                for (first, a) in matched.iter().enumerate() {
                    for b in &matched[first..] {
                        give(at, (a * count + b) as i64);
                    }
                }
                continue;
            }
            for place in &matched {
                give(at, *place as i64);
            }
            if matched.is_empty() && self.other {
                give(at, count as i64);
            }
        }
    }

    fn key(&mut self, key: i64) -> segment::Result<Option<Key>> {
        Ok(Some(Key::Long(key)))
    }

    fn always_max(&self) -> usize {
        if self.pairs { 0 } else { self.filters.len() + usize::from(self.other) }
    }

    fn always(&mut self) -> segment::Result<Vec<i64>> {
        if self.pairs {
            return Ok(Vec::new());
        }
        Ok((0..(self.filters.len() + usize::from(self.other)) as i64).collect())
    }
}
