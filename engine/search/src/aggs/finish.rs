//! From what slices found to what is shown.

use std::slice;
use std::sync::Arc;

use super::background;
use super::bound::{BoundAgg, What};
use super::cut::{self, Limit};
use super::meter::{self, Meter};
use super::partial::{Bucket, Partial, Partials};
use super::pipeline;
use super::shape::{self, Answer, Fields, Hits, Name, Out};
use super::spec::{Agg, Aggs, Kind};
use script::Context;

use crate::ast::{EachScript, Query};
use crate::error::{Error, Result};
use crate::plan::order::Order;
use crate::plan::weigh::Plan;
use crate::request::SearchRequest;

/// Merges shards, one after the other, in the order of their places.
pub struct Reducer<'a> {
    aggs: &'a Aggs,
    found: Vec<Partial>,
}

impl<'a> Reducer<'a> {
    /// Nothing yet.
    pub fn new(aggs: &'a Aggs) -> Self {
        Self { aggs, found: Vec::new() }
    }

    /// Adds a shard: what each of its slices found.
    ///
    /// # Errors
    /// A field has different types in different indices, or a segment is damaged.
    pub fn shard(&mut self, target: u32, plan: &Plan, slices: Vec<Partials>) -> Result<()> {
        let mut shard = Vec::new();
        for slice in slices {
            cut::merge_all(self.aggs, &mut shard, slice.stay())?;
        }
        for ((agg, place), partial) in self.aggs.aggs.iter().zip(0..).zip(&mut shard) {
            set_target(target, partial);
            background::fill(agg, place, plan, partial);
            cut::shard(agg, partial);
        }
        cut::merge_all(self.aggs, &mut self.found, shard)
    }

    /// What is shown; `None` where no shard was asked.
    ///
    /// # Errors
    /// More buckets than allowed, or a path that leads nowhere.
    pub fn finish(self, buckets_max: usize) -> Result<Option<Answer>> {
        self.finish_within(buckets_max, &mut |_| true)
    }

    /// As [`Reducer::finish`], where `pay` has memory for what is told, or not.
    ///
    /// # Errors
    /// And where there is too little memory.
    pub fn finish_within(
        self,
        buckets_max: usize,
        pay: &mut dyn FnMut(usize) -> bool,
    ) -> Result<Option<Answer>> {
        let meter = Meter::new(pay);
        let aggs = self.aggs;
        let Some(root) = self.whole(buckets_max, &meter)? else { return Ok(None) };
        let shown = shape::all(aggs, &root, &meter);
        paid_for(shown, &meter)
    }

    /// As [`Reducer::finish_within`], where others may have the core at each `pause`.
    ///
    /// # Errors
    /// The same.
    pub async fn finish_in_steps(
        self,
        buckets_max: usize,
        pay: &mut dyn FnMut(usize) -> bool,
        pause: impl AsyncFn(),
    ) -> Result<Option<Answer>> {
        let meter = Meter::new(pay);
        let aggs = self.aggs;
        let Some(root) = self.whole(buckets_max, &meter)? else { return Ok(None) };
        pause().await;
        let shown = shape::all_in_steps(aggs, &root, &meter, &pause).await;
        paid_for(shown, &meter)
    }

    /// What all shards found together, with what pipelines make of it.
    fn whole(self, buckets_max: usize, meter: &Meter<'_>) -> Result<Option<Bucket>> {
        if self.found.is_empty() && !self.aggs.aggs.is_empty() {
            return Ok(None);
        }
        let mut root = Bucket { subs: self.found, ..Bucket::default() };
        let paid = |bytes| {
            meter.takes(bytes);
            !meter.is_over()
        };
        let mut limit = Limit::new(buckets_max, &paid);
        for (agg, partial) in self.aggs.aggs.iter().zip(&mut root.subs) {
            cut::intervals(agg, partial)?;
            cut::last(agg, partial, &mut limit)?;
        }
        meter.takes(meter::of_pipes(self.aggs, &root));
        if !meter.is_over() {
            pipeline::run(self.aggs, &mut root, meter)?;
        }
        Ok(Some(root))
    }
}

fn paid_for(shown: Fields, meter: &Meter<'_>) -> Result<Option<Answer>> {
    match meter.is_over() {
        true => Err(Error::no_memory("reduce_aggs")),
        false => Ok(Some(Out::leaving(shown))),
    }
}

/// Says of documents which shard they are of.
fn set_target(target: u32, partial: &mut Partial) {
    match partial {
        Partial::TopHits(top) => top.hits.iter_mut().for_each(|hit| hit.target = target),
        Partial::Single(bucket) => {
            bucket.subs.iter_mut().for_each(|partial| set_target(target, partial));
        }
        Partial::Buckets(buckets) => {
            for bucket in &mut buckets.list {
                bucket.subs.iter_mut().for_each(|partial| set_target(target, partial));
            }
        }
        _ => {}
    }
}

/// Documents to fetch, wherever they stand; `None` between them, after each few values that are none: of ten thousand
/// buckets others have their turn meanwhile.
pub fn hits_mut(fields: &mut Fields) -> HitsMut<'_> {
    HitsMut(vec![Open::Object(fields.iter_mut())])
}

/// See [`hits_mut`].
#[derive(Debug)]
pub struct HitsMut<'a>(Vec<Open<'a>>);

/// What has not been looked through yet of a list or an object.
#[derive(Debug)]
enum Open<'a> {
    List(slice::IterMut<'a, Out>),
    Object(slice::IterMut<'a, (Name, Out)>),
}

/// So many values are looked at in a few microseconds.
const VALUES_AT_ONCE: usize = 256;

impl<'a> Iterator for HitsMut<'a> {
    type Item = Option<&'a mut Hits>;

    fn next(&mut self) -> Option<Self::Item> {
        for _ in 0..VALUES_AT_ONCE {
            let out = match self.0.last_mut()? {
                Open::List(list) => list.next(),
                Open::Object(fields) => fields.next().map(|(_, out)| out),
            };
            match out {
                Some(Out::Hits(hits)) => return Some(Some(hits)),
                Some(Out::List(list)) => self.0.push(Open::List(list.iter_mut())),
                Some(Out::Object(fields)) => self.0.push(Open::Object(fields.iter_mut())),
                Some(_) => {}
                None => {
                    self.0.pop();
                }
            }
        }
        Some(None)
    }
}

/// Some query inside of aggregations must look documents up before it is bound.
pub fn looks_up(aggs: &Aggs) -> bool {
    aggs.aggs.iter().any(|agg| {
        let own = match &agg.kind {
            Kind::Filter(query) => query.looks_up(),
            Kind::Filters(filters) => filters.filters.iter().any(|(_, query)| query.looks_up()),
            Kind::Adjacency { filters, .. } => filters.iter().any(|(_, query)| query.looks_up()),
            Kind::Significant(sig) => sig.background.as_ref().is_some_and(Query::looks_up),
            _ => false,
        };
        own || looks_up(&agg.subs)
    })
}

/// Every query inside of aggregations: some must look documents up before they are bound.
pub fn queries_mut(aggs: &mut Aggs) -> Vec<&mut Query> {
    let mut found = Vec::new();
    for agg in &mut aggs.aggs {
        of_agg(agg, &mut found);
    }
    found
}

/// Calls `each` for all scripts of aggregations.
pub fn scripts_mut(aggs: &mut Aggs, each: EachScript<'_>) {
    for query in queries_mut(aggs) {
        query.scripts_mut(each);
    }
    for agg in &mut aggs.aggs {
        scripts_of(agg, each);
    }
    for pipe in &mut aggs.pipes {
        pipe.scripts_mut(each);
    }
}

/// Calls `each` for what every aggregation does, the outer first.
pub fn kinds_mut(aggs: &mut Aggs, each: &mut dyn FnMut(&mut Kind)) {
    for agg in &mut aggs.aggs {
        each(&mut agg.kind);
        kinds_mut(&mut agg.subs, each);
    }
}

fn scripts_of(agg: &mut Agg, each: EachScript<'_>) {
    match &mut agg.kind {
        Kind::TopHits(request) => Arc::make_mut(request).scripts_mut(each),
        kind => {
            for values in kind.values_mut() {
                if let Some(script) = &mut values.script {
                    each(script, &Context::AGGS);
                }
            }
        }
    }
    for pipe in &mut agg.subs.pipes {
        pipe.scripts_mut(each);
    }
    for sub in &mut agg.subs.aggs {
        scripts_of(sub, each);
    }
}

fn of_agg<'a>(agg: &'a mut Agg, found: &mut Vec<&'a mut Query>) {
    match &mut agg.kind {
        Kind::Filter(query) => found.push(query),
        Kind::Filters(filters) => {
            found.extend(filters.filters.iter_mut().map(|(_, query)| query));
        }
        Kind::Adjacency { filters, .. } => {
            found.extend(filters.iter_mut().map(|(_, query)| query));
        }
        Kind::Significant(sig) => found.extend(&mut sig.background),
        Kind::TTest(test) => {
            let test = &mut **test;
            found.extend(&mut test.a.1);
            found.extend(&mut test.b.1);
        }
        _ => {}
    }
    for sub in &mut agg.subs.aggs {
        of_agg(sub, found);
    }
}

/// A `top_hits` as it was asked for, its order, and the path of the objects that it is inside of.
pub type TopHitsAt<'a> = (&'a SearchRequest, Arc<Order>, Option<&'a str>);

/// Each `top_hits` of bound aggregations; `path` is that of the objects at hand.
pub fn top_hits<'a>(aggs: &'a [BoundAgg], path: Option<&'a str>) -> Vec<TopHitsAt<'a>> {
    let mut found = Vec::new();
    for agg in aggs {
        if let (Kind::TopHits(request), What::TopHits(order, _)) = (&agg.spec.kind, &agg.what) {
            found.push((&**request, Arc::clone(order), path));
        }
        let below = match (&agg.spec.kind, &agg.what) {
            (Kind::Nested(path), What::Below(Some(_))) => Some(path.as_str()),
            (Kind::ReverseNested(path), _) => path.as_deref(),
            _ => path,
        };
        found.extend(top_hits(&agg.subs, below));
    }
    found
}
