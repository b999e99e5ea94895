//! `top_hits` and `top_metrics`: the best documents of each owner.

use std::ops::Range;
use std::sync::Arc;

use super::bucket::terms::Part;
use super::collect::{Account, Around, Batch, Collector};
use super::format::Format;
use super::partial::{Partial, TopHits, TopMetric};
use crate::collect::sort::Sorter;
use crate::iter::Turn;
use crate::plan::order::Order;
use crate::plan::weigh::Plan;
use crate::result::{Key as SortKey, Ranked, Winner};
use base::DocId;

/// What the allocator takes for a list beside its elements.
const LIST_BYTES: usize = 24;

/// The documents of one owner.
#[derive(Clone, Default)]
struct Owner {
    total: u64,
    max_score: f32,
    /// Document and score: all where an order needs columns, else the best by score.
    docs: Vec<(u32, f32)>,
}

/// Keeps documents and ranks them when the segment ends.
pub struct Best {
    plan: Arc<Plan>,
    number: u32,
    order: Arc<Order>,
    limit: usize,
    owners: Vec<Owner>,
    ranked: Vec<Vec<Ranked>>,
    settled: usize,
    metrics: Option<Metrics>,
}

/// What `top_metrics` shows of a document.
pub struct Metrics {
    /// The values.
    pub parts: Vec<(Part, Format)>,
    /// How the sort key is printed.
    pub format: Format,
}

impl Best {
    /// The best `limit` documents of a segment in an order.
    pub fn new(
        plan: Arc<Plan>,
        number: u32,
        order: Arc<Order>,
        limit: usize,
        metrics: Option<Metrics>,
    ) -> Self {
        let (owners, ranked) = (Vec::new(), Vec::new());
        Self { plan, number, order, limit, owners, ranked, settled: 0, metrics }
    }

    fn by_score(&self) -> bool {
        self.order.keys.is_empty()
    }
}

/// Best first, then in the order of the index.
fn by_score(a: &(u32, f32), b: &(u32, f32)) -> std::cmp::Ordering {
    let score = |score: f32| if score.is_nan() { 0.0 } else { score };
    score(b.1).total_cmp(&score(a.1)).then(a.0.cmp(&b.0))
}

impl Collector for Best {
    fn prepare(&mut self, docs: &Range<u32>, turn: &mut Turn<'_>) -> bool {
        self.metrics
            .iter_mut()
            .flat_map(|metrics| &mut metrics.parts)
            .all(|(part, _)| part.prepare(docs, turn))
    }

    fn collect(&mut self, batch: Batch<'_>, around: &mut Around<'_>) {
        let (limit, ranks) = (self.limit, self.by_score());
        let mut bytes = 0;
        for (at, doc) in batch.docs.iter().enumerate() {
            let owner = batch.owner(at) as usize;
            if owner >= self.owners.len() {
                let new = Owner { max_score: f32::NAN, ..Owner::default() };
                let before = self.owners.capacity();
                self.owners.resize(owner + 1, new);
                bytes += (self.owners.capacity() - before) * size_of::<Owner>();
            }
            let owner = &mut self.owners[owner];
            let score = around.scores.of(*doc);
            owner.total += 1;
            owner.max_score = owner.max_score.max(score);
            if limit == 0 {
                continue;
            }
            let before = owner.docs.capacity();
            owner.docs.push((*doc, score));
            bytes += (owner.docs.capacity() - before) * size_of::<(u32, f32)>();
            bytes += if before == 0 { LIST_BYTES } else { 0 };
            if ranks && owner.docs.len() >= limit * 2 + 64 {
                owner.docs.sort_by(by_score);
                owner.docs.truncate(limit);
            }
        }
        around.account.grow(bytes);
    }

    fn size(&self, _owners: usize) -> usize {
        self.owners.len()
    }

    fn leave(&mut self, turn: &mut Turn<'_>, account: &mut Account) -> segment::Result<bool> {
        while self.settled < self.owners.len() {
            let mut docs = std::mem::take(&mut self.owners[self.settled].docs);
            let ranked = if self.by_score() {
                docs.sort_by(by_score);
                docs.truncate(self.limit);
                docs.iter()
                    .map(|(doc, score)| Ranked {
                        score: *score,
                        keys: Vec::new(),
                        segment: self.number,
                        doc: DocId(*doc),
                    })
                    .collect()
            } else {
                let mut sorter = Sorter::new(Arc::clone(&self.order), self.limit);
                if let Some(lease) = account.lease() {
                    sorter.set_lease(lease.clone());
                }
                let ready = sorter.enter(&self.plan, self.number, turn)?
                    && docs.iter().all(|(doc, _)| sorter.prepare(*doc..doc + 1, turn));
                let ready = ready && {
                    let list: Vec<u32> = docs.iter().map(|(doc, _)| *doc).collect();
                    let scores: Vec<f32> = docs.iter().map(|(_, score)| *score).collect();
                    sorter.offer(&list, &scores);
                    sorter.leave(turn)?
                };
                if let Some(fault) = sorter.fault() {
                    account.fail(fault.clone());
                    return Ok(true);
                }
                if !ready {
                    self.owners[self.settled].docs = docs;
                    return Ok(false);
                }
                sorter.into_sorted()
            };
            let each = size_of::<Ranked>() + self.order.keys.len() * size_of::<SortKey>();
            let texts: usize =
                ranked.iter().flat_map(|one| &one.keys).map(SortKey::held_bytes).sum();
            account.grow(size_of::<Vec<Ranked>>() + LIST_BYTES + ranked.len() * each);
            account.grow(texts);
            if account.fault().is_some() {
                // Nothing of it will be told.
                return Ok(true);
            }
            self.ranked.push(ranked);
            self.settled += 1;
        }
        Ok(true)
    }

    fn finish(&mut self, owners: usize, account: &mut Account) -> segment::Result<Vec<Partial>> {
        let mut out = Vec::with_capacity(owners);
        let mut ranked = std::mem::take(&mut self.ranked).into_iter();
        let mut known = std::mem::take(&mut self.owners).into_iter();
        for _ in 0..owners {
            let list = ranked.next().unwrap_or_default();
            let new = || Owner { max_score: f32::NAN, ..Owner::default() };
            let owner = known.next().unwrap_or_else(new);
            out.push(match &mut self.metrics {
                None => {
                    account.grow(LIST_BYTES + list.len() * size_of::<Winner>());
                    let hits =
                        list.into_iter().map(|ranked| Winner { target: 0, ranked }).collect();
                    Partial::TopHits(TopHits {
                        total: owner.total,
                        max_score: owner.max_score,
                        hits,
                    })
                }
                Some(metrics) => Partial::TopMetrics(metrics.of(list, account)?),
            });
        }
        Ok(out)
    }
}

impl Metrics {
    fn of(&mut self, list: Vec<Ranked>, account: &mut Account) -> segment::Result<Vec<TopMetric>> {
        let of_one = LIST_BYTES + TopMetric::bytes(self.parts.len());
        let mut out = Vec::with_capacity(list.len());
        for ranked in list {
            // Of ten thousand buckets, ninety values each are 50 MB: before they are made.
            account.grow(of_one);
            if account.fault().is_some() {
                break;
            }
            let mut metrics = Vec::with_capacity(self.parts.len());
            for (part, format) in &mut self.parts {
                let mut value = None;
                part.each(&[ranked.doc.get()], |_, raw| {
                    value.get_or_insert(raw);
                });
                metrics.push(match value {
                    Some(raw) => {
                        let key = part.key(raw)?;
                        account.grow(key.held_bytes());
                        Some((key, format.clone()))
                    }
                    None => None,
                });
            }
            let sort = match ranked.keys.into_iter().next() {
                Some(key) => key,
                None => SortKey::Score(ranked.score),
            };
            // Stand-ins for no value are no values.
            let missing = matches!(sort, SortKey::Long(i64::MAX | i64::MIN) | SortKey::Null)
                || matches!(sort, SortKey::Double(value) if value.is_infinite());
            if missing {
                continue;
            }
            out.push(TopMetric { sort, format: self.format.clone(), metrics });
        }
        Ok(out)
    }
}
