//! Which documents fall into an aggregation's one bucket.

use std::ops::Range;

use base::hash::Map;

use super::matcher::Matcher;
use super::single::Choose;
use super::terms::Part;
use crate::aggs::collect::{Around, Batch};
use crate::iter::Turn;

/// Those that match.
pub struct Matching(pub Matcher);

impl Choose for Matching {
    fn prepare(&mut self, docs: &Range<u32>, turn: &mut Turn<'_>) -> Option<Range<u32>> {
        self.0.prepare(docs, turn).then(|| docs.clone())
    }

    fn choose(
        &mut self,
        batch: Batch<'_>,
        _around: &mut Around<'_>,
        docs: &mut Vec<u32>,
        owners: &mut Vec<u32>,
    ) {
        for (at, doc) in batch.docs.iter().enumerate() {
            if self.0.matches(*doc) {
                docs.push(*doc);
                owners.push(batch.owner(at));
            }
        }
    }
}

/// Those without a value.
pub struct Lacking(pub Part);

impl Choose for Lacking {
    fn prepare(&mut self, docs: &Range<u32>, turn: &mut Turn<'_>) -> Option<Range<u32>> {
        self.0.prepare(docs, turn).then(|| docs.clone())
    }

    fn choose(
        &mut self,
        batch: Batch<'_>,
        _around: &mut Around<'_>,
        docs: &mut Vec<u32>,
        owners: &mut Vec<u32>,
    ) {
        let mut has = vec![false; batch.docs.len()];
        self.0.each(batch.docs, |at, _| has[at] = true);
        for (at, doc) in batch.docs.iter().enumerate() {
            if !has[at] {
                docs.push(*doc);
                owners.push(batch.owner(at));
            }
        }
    }
}

/// All.
pub struct Everything;

impl Choose for Everything {
    fn prepare(&mut self, docs: &Range<u32>, _turn: &mut Turn<'_>) -> Option<Range<u32>> {
        Some(docs.clone())
    }

    fn choose(
        &mut self,
        batch: Batch<'_>,
        _around: &mut Around<'_>,
        docs: &mut Vec<u32>,
        owners: &mut Vec<u32>,
    ) {
        docs.extend_from_slice(batch.docs);
        owners.extend((0..batch.docs.len()).map(|at| batch.owner(at)));
    }
}

/// None: the index has nothing of the kind.
pub struct Nobody;

impl Choose for Nobody {
    fn prepare(&mut self, docs: &Range<u32>, _turn: &mut Turn<'_>) -> Option<Range<u32>> {
        Some(docs.clone())
    }

    fn choose(
        &mut self,
        _batch: Batch<'_>,
        _around: &mut Around<'_>,
        _docs: &mut Vec<u32>,
        _owners: &mut Vec<u32>,
    ) {
    }
}

/// Some, by chance: a hash of the document's place decides, or of a number of its own.
pub struct ByChance {
    /// How likely.
    pub probability: f64,
    /// Makes chance another.
    pub seed: u64,
    /// Number of the segment's first document.
    pub base: u32,
    /// The number that decides instead of the place.
    pub by: Option<Part>,
}

impl Choose for ByChance {
    fn prepare(&mut self, docs: &Range<u32>, turn: &mut Turn<'_>) -> Option<Range<u32>> {
        let is_ready = self.by.as_mut().is_none_or(|by| by.prepare(docs, turn));
        is_ready.then(|| docs.clone())
    }

    fn choose(
        &mut self,
        batch: Batch<'_>,
        _around: &mut Around<'_>,
        docs: &mut Vec<u32>,
        owners: &mut Vec<u32>,
    ) {
        let below = (self.probability * u64::MAX as f64) as u64;
        let (probability, seed) = (self.probability, self.seed as i64);
        let mut choose = |at: usize, number: i64| {
            let hash = crate::aggs::metric::distinct::hash_long(number ^ seed);
            if probability >= 1.0 || hash < below {
                docs.push(batch.docs[at]);
                owners.push(batch.owner(at));
            }
        };
        match &mut self.by {
            Some(by) => by.each(batch.docs, choose),
            None => {
                for (at, doc) in batch.docs.iter().enumerate() {
                    choose(at, i64::from(self.base) + i64::from(*doc));
                }
            }
        }
    }
}

/// No more than so many documents for each value; the best were chosen before.
pub struct Diversity {
    /// Their values.
    pub part: Part,
    /// So many.
    pub most: u32,
}

impl Diversity {
    /// Drops documents, best first, whose value has enough.
    pub fn keep(&mut self, ranked: &mut Vec<(f32, u32)>, limit: usize) {
        let mut docs: Vec<u32> = ranked.iter().map(|(_, doc)| *doc).collect();
        docs.sort_unstable();
        let mut values: Map<u32, i64> = Map::default();
        self.part.each(&docs, |at, value| {
            values.entry(docs[at]).or_insert(value);
        });
        let mut seen: Map<i64, u32> = Map::default();
        ranked.retain(|(_, doc)| match values.get(doc) {
            Some(value) => {
                let count = seen.entry(*value).or_default();
                *count += 1;
                *count <= self.most
            }
            None => true,
        });
        ranked.truncate(limit);
    }
}
