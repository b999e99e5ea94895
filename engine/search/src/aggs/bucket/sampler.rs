//! The best documents of each owner, passed on when the segment ends.

use std::ops::Range;

use super::choose::Diversity;
use crate::aggs::collect::{Account, Around, Batch, Collector, Group, Multitudes, Scores};
use crate::aggs::partial::{Bucket, Partial};
use crate::iter::Turn;

/// Keeps the best documents and gives them to what is below.
pub struct Sampler {
    limit: usize,
    diversity: Option<Diversity>,
    subs: Group,
    /// Score and document, for each owner.
    owners: Vec<Vec<(f32, u32)>>,
    counts: Vec<u64>,
    multitudes: Multitudes,
    /// The chosen, once the segment has ended: document, owner, score.
    chosen: Option<Vec<(u32, u32, f32)>>,
    passed: bool,
}

impl Sampler {
    /// The best `limit` documents.
    pub fn new(limit: usize, diversity: Option<Diversity>, subs: Group) -> Self {
        Self {
            limit,
            diversity,
            subs,
            owners: Vec::new(),
            counts: Vec::new(),
            multitudes: Multitudes::default(),
            chosen: None,
            passed: false,
        }
    }

    /// Drops all but the best, now and then.
    fn shrink(&mut self, owner: usize) {
        let list = &mut self.owners[owner];
        // With a diversity all must stay until values are known.
        if self.diversity.is_none() && list.len() > self.limit * 2 + 1024 {
            order(list);
            list.truncate(self.limit);
        }
    }
}

/// Best first; equal ones in their order.
fn order(list: &mut [(f32, u32)]) {
    let score = |score: f32| if score.is_nan() { 0.0 } else { score };
    list.sort_by(|a, b| score(b.0).total_cmp(&score(a.0)).then(a.1.cmp(&b.1)));
}

impl Collector for Sampler {
    fn prepare(&mut self, docs: &Range<u32>, turn: &mut Turn<'_>) -> bool {
        self.diversity.as_mut().is_none_or(|it| it.part.prepare(docs, turn))
    }

    fn collect(&mut self, batch: Batch<'_>, around: &mut Around<'_>) {
        if self.multitudes.is_plain() {
            self.multitudes = around.multitudes.clone();
        }
        for (at, doc) in batch.docs.iter().enumerate() {
            let owner = batch.owner(at) as usize;
            if owner >= self.owners.len() {
                self.owners.resize(owner + 1, Vec::new());
            }
            self.owners[owner].push((around.scores.of(*doc), *doc));
            self.shrink(owner);
        }
        around.account.grow(batch.docs.len() * 8);
    }

    fn size(&self, owners: usize) -> usize {
        self.owners.iter().map(|list| 1 + list.len()).sum::<usize>() + self.subs.size(owners)
    }

    fn leave(&mut self, turn: &mut Turn<'_>, account: &mut Account) -> segment::Result<bool> {
        if self.chosen.is_none() {
            let mut chosen = Vec::new();
            for (owner, list) in self.owners.iter_mut().enumerate() {
                order(list);
                match &mut self.diversity {
                    Some(diversity) => diversity.keep(list, self.limit),
                    None => list.truncate(self.limit),
                }
                chosen.extend(list.iter().map(|(score, doc)| (*doc, owner as u32, *score)));
            }
            self.counts = vec![0; self.owners.len()];
            self.owners.clear();
            chosen.sort_by_key(|(doc, owner, _)| (*doc, *owner));
            self.chosen = Some(chosen);
        }
        let Some(chosen) = &self.chosen else { return Ok(true) };
        if !self.passed {
            if let (Some(first), Some(last)) = (chosen.first(), chosen.last()) {
                let docs = first.0..last.0 + 1;
                let counted = self.multitudes.prepare(&docs, turn);
                if !self.subs.prepare(&docs, turn) || !counted {
                    return Ok(false);
                }
            }
            for (doc, owner, _) in chosen {
                self.counts[*owner as usize] += self.multitudes.count(*doc);
            }
            let docs: Vec<u32> = chosen.iter().map(|(doc, _, _)| *doc).collect();
            let owners: Vec<u32> = chosen.iter().map(|(_, owner, _)| *owner).collect();
            let known: Vec<f32> = chosen.iter().map(|(_, _, score)| *score).collect();
            let mut scores = Scores::default();
            scores.set(&docs, &known);
            let multitudes = &self.multitudes;
            let mut around = Around { multitudes, scores: &scores, account };
            self.subs.collect(Batch { docs: &docs, owners: &owners }, &mut around);
            self.passed = true;
        }
        self.subs.leave(turn, account)
    }

    fn finish(&mut self, owners: usize, account: &mut Account) -> segment::Result<Vec<Partial>> {
        let subs = self.subs.finish(owners, account)?;
        let counts = self.counts.iter().copied().chain(std::iter::repeat(0));
        Ok(subs
            .into_iter()
            .zip(counts)
            .map(|(subs, count)| {
                Partial::Single(Box::new(Bucket { count, subs, ..Bucket::default() }))
            })
            .collect())
    }
}
