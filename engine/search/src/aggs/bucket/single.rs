//! Aggregations with one bucket: documents that match, that lack a value, or that stand above or
//! below those at hand.

use std::ops::Range;

use crate::aggs::collect::{Account, Around, Batch, Collector, Group};
use crate::aggs::partial::{Bucket, Partial};
use crate::iter::Turn;

/// Says which documents of a batch fall into the one bucket.
pub trait Choose: Send {
    /// Names what [`Choose::choose`] will read, and gives the range that the documents chosen lie
    /// in; `None` where it must wait.
    fn prepare(&mut self, docs: &Range<u32>, turn: &mut Turn<'_>) -> Option<Range<u32>>;

    /// Puts the documents of the bucket, with their owners, into the lists.
    fn choose(
        &mut self,
        batch: Batch<'_>,
        around: &mut Around<'_>,
        docs: &mut Vec<u32>,
        owners: &mut Vec<u32>,
    );
}

/// Collects one bucket for each owner.
pub struct Single<C> {
    choose: C,
    subs: Group,
    counts: Vec<u64>,
    docs: Vec<u32>,
    owners: Vec<u32>,
}

impl<C: Choose> Single<C> {
    /// One bucket with `subs` below.
    pub fn new(choose: C, subs: Group) -> Self {
        Self { choose, subs, counts: Vec::new(), docs: Vec::new(), owners: Vec::new() }
    }
}

impl<C: Choose> Collector for Single<C> {
    fn prepare(&mut self, docs: &Range<u32>, turn: &mut Turn<'_>) -> bool {
        match self.choose.prepare(docs, turn) {
            Some(range) => self.subs.prepare(&range, turn),
            None => false,
        }
    }

    fn collect(&mut self, batch: Batch<'_>, around: &mut Around<'_>) {
        self.docs.clear();
        self.owners.clear();
        self.choose.choose(batch, around, &mut self.docs, &mut self.owners);
        for (owner, doc) in self.owners.iter().zip(&self.docs) {
            let owner = *owner as usize;
            if owner >= self.counts.len() {
                around.account.grow((owner + 1 - self.counts.len()) * 8);
                self.counts.resize(owner + 1, 0);
            }
            self.counts[owner] += around.multitudes.count(*doc);
        }
        if !self.docs.is_empty() {
            let below = Batch { docs: &self.docs, owners: &self.owners };
            self.subs.collect(below, around);
        }
    }

    fn size(&self, owners: usize) -> usize {
        self.counts.len() + self.subs.size(owners)
    }

    fn leave(&mut self, turn: &mut Turn<'_>, account: &mut Account) -> segment::Result<bool> {
        self.subs.leave(turn, account)
    }

    fn finish(&mut self, owners: usize, account: &mut Account) -> segment::Result<Vec<Partial>> {
        let subs = self.subs.finish(owners, account)?;
        let counts = std::mem::take(&mut self.counts);
        let counts = counts.into_iter().chain(std::iter::repeat(0));
        Ok(subs
            .into_iter()
            .zip(counts)
            .map(|(subs, count)| {
                Partial::Single(Box::new(Bucket { count, subs, ..Bucket::default() }))
            })
            .collect())
    }
}
