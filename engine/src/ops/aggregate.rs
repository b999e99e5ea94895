//! The aggregations of a search: what shards found is put together, and the documents that
//! `top_hits` chose are fetched.

use std::rc::Rc;
use std::sync::Arc;

use env::budget::{Lease, Taken};
use env::{Env, Spawn};
use search::aggs::cut::gap_count;
use search::aggs::finish::{hits_mut, top_hits};
use search::aggs::shape::{Answer, Fields};
use search::aggs::spec::{Agg, Aggs};
use search::aggs::{Partial, Partials, Reducer};
use search::fetch::{self, Columns, Fetch};
use search::plan::order::Order;
use search::plan::{self, Bound, Plan};
use search::request::SearchRequest;
use search::result::Ranked;

use super::around::{InsidePlans, inside_hits};
use super::footprint::hit_bytes;
use super::meaning::{State, Target};
use super::search::{Pace, damaged, fetched};
use super::slow::Watched;
use super::{Shards, failure};
use crate::core::Core;
use crate::error::{Error, Result};
use crate::gate::Limits;

/// What one `top_hits` fetches in one index.
pub(super) struct TopColumns {
    request: SearchRequest,
    columns: Columns,
    order: Arc<Order>,
    /// The path of the objects that it is inside of.
    inside: Option<String>,
}

impl TopColumns {
    fn fetch<'a>(&'a self, index: &'a str) -> Fetch<'a> {
        Fetch { order: Some(&self.order), ..Fetch::new(&self.request, index, &self.columns) }
    }
}

/// What one slice found, with the place of its shard.
pub(super) type Found = (u32, Partials);

/// Finds the columns that each `top_hits` wants.
///
/// # Errors
/// Belong to each shard of the index.
pub(super) fn bind(
    request: &SearchRequest,
    bound: &Bound,
    mapping: &mapping::Mapping,
    context: &plan::Context<'_>,
    limits: &Limits,
) -> search::Result<Arc<[TopColumns]>> {
    let Some(aggs) = &bound.aggs else { return Ok(Arc::default()) };
    let mut tops = Vec::new();
    for (asked, order, path) in top_hits(&aggs.aggs, None) {
        // What is highlighted is what the search looks for.
        let with_query = SearchRequest {
            query: request.query.clone(),
            has_inner: request.has_inner,
            ..asked.clone()
        };
        let mut columns = fetch::bind_columns(&with_query, mapping, context)?;
        columns.visible = limits.fields.clone();
        if let Some(path) = path {
            let inner = fetch::inner_of_path(path, asked, mapping, context)?;
            columns.inner = vec![inner];
        }
        for inner in &mut columns.inner {
            inner.restrict(limits.fields.as_ref());
        }
        let inside = path.map(str::to_owned);
        tops.push(TopColumns { request: asked.clone(), columns, order, inside });
    }
    Ok(tops.into())
}

/// Takes what aggregations found from the partials; a shard that cannot answer them has failed.
pub(super) fn take(
    partials: &mut [(u32, search::result::Partial)],
    targets: &mut [Target],
    shards: &mut Shards,
) -> Vec<Found> {
    let mut found = Vec::new();
    for (at, partial) in partials {
        match partial.aggs.take() {
            None => {}
            Some(Ok(aggs)) => found.push((*at, aggs)),
            Some(Err(error)) => {
                targets[*at as usize].fail(shards, failure::of_search(error));
            }
        }
    }
    found.sort_by_key(|(at, _)| *at);
    found
}

/// Work that is done on the executor, in buckets; one costs about 200 ns.
const WORK_HERE: usize = 1024;

/// Values of a digest, and bytes of a set or a histogram, whose joining costs as much as a bucket.
const VALUES_A_BUCKET: usize = 16;
const BYTES_A_BUCKET: usize = 256;

/// Is it more than a moment's work to show these partials, in buckets, and to put them together with others where
/// they are `are_joined`? Digests come sorted and are asked for a few values as they lie, sets know how many they
/// are. Looks no further than it must: to walk all of a large answer would be such work itself.
fn is_long<'a>(
    aggs: &Aggs,
    mut found: impl Iterator<Item = &'a [Partial]>,
    are_joined: bool,
) -> bool {
    let mut left = WORK_HERE;
    !found.all(|partials| all_fit(aggs, partials, are_joined, &mut left))
}

/// Takes the work of what aggregations side by side found.
fn all_fit(aggs: &Aggs, partials: &[Partial], is_joined: bool, left: &mut usize) -> bool {
    aggs.aggs.iter().zip(partials).all(|(agg, partial)| fits(agg, partial, is_joined, left))
}

/// Takes the work of one partial from what is `left`; false where that is less.
fn fits(agg: &Agg, partial: &Partial, is_joined: bool, left: &mut usize) -> bool {
    let inside = |bucket: &search::aggs::partial::Bucket, left: &mut usize| {
        // What pipelines make there, too.
        spend(left, 1 + agg.subs.pipes.len()) && all_fit(&agg.subs, &bucket.subs, is_joined, left)
    };
    match partial {
        Partial::Single(bucket) => inside(bucket, left),
        Partial::Buckets(buckets) => {
            // Those without documents are made on the way.
            let gaps = gap_count(agg, buckets)
                .saturating_mul(1 + agg.subs.aggs.len() + agg.subs.pipes.len());
            spend(left, gaps) && buckets.list.iter().all(|bucket| inside(bucket, left))
        }
        Partial::Digest(digest, _) if is_joined => spend(left, 1 + digest.held() / VALUES_A_BUCKET),
        Partial::Distinct(distinct) if is_joined || distinct.is_estimate() => {
            spend(left, 1 + distinct.bytes() / BYTES_A_BUCKET)
        }
        Partial::Hdr(hdr, _) => spend(left, 1 + hdr.bytes() / BYTES_A_BUCKET),
        _ => spend(left, 1),
    }
}

fn spend(left: &mut usize, work: usize) -> bool {
    let rest = left.checked_sub(work);
    *left = rest.unwrap_or(0);
    rest.is_some()
}

/// What is shown, and its memory.
type Reduced = (Option<Answer>, Option<Taken>);

/// Puts together what the slices of each shard found, as long as somebody wants it.
fn reduce_all(
    aggs: &Aggs,
    shards: Vec<(u32, Arc<Plan>, Vec<Partials>)>,
    (most, lease): (usize, &Lease),
    is_wanted: impl Fn() -> bool,
) -> search::Result<Reduced> {
    let mut reducer = Reducer::new(aggs);
    for (at, plan, slices) in shards {
        reducer.shard(at, &plan, slices)?;
    }
    let mut taken = None;
    let mut pay = |bytes| is_wanted() && lease.add(&mut taken, bytes);
    let answer = reducer.finish_within(most, &mut pay)?;
    Ok((answer, taken))
}

impl<E: Env> Core<E> {
    /// Buckets that an answer may have.
    pub(super) fn buckets_max(&self) -> usize {
        let most = self.state().settings.int("search.max_buckets").unwrap_or(65_536);
        usize::try_from(most).unwrap_or(0)
    }

    /// Puts together what the shards found, with its memory.
    ///
    /// # Errors
    /// More buckets than allowed, or a field that has different types in different indices.
    pub(super) async fn reduce(
        self: &Rc<Self>,
        request: &SearchRequest,
        found: Vec<Found>,
        targets: &[Target],
    ) -> Result<Reduced> {
        if request.aggs.is_empty() {
            return Ok((None, None));
        }
        let most = self.buckets_max();
        let is_joined = found.len() > 1;
        let each = found.iter().map(|(_, partials)| &***partials);
        let is_long = is_long(&request.aggs, each, is_joined);
        let mut shards: Vec<(u32, Arc<Plan>, Vec<Partials>)> = Vec::new();
        for (at, partials) in found {
            match shards.last_mut() {
                Some((last, _, slices)) if *last == at => slices.push(partials),
                _ => {
                    if let State::Planned(plan, ..) = &targets[at as usize].state {
                        shards.push((at, Arc::clone(plan), vec![partials]));
                    }
                }
            }
        }
        let scripted = search::aggs::pipeline::runs_scripts(&request.aggs);
        if !is_long && !scripted {
            let mut reducer = Reducer::new(&request.aggs);
            for (at, plan, slices) in shards {
                reducer.shard(at, &plan, slices).map_err(in_reduction)?;
                self.env.spawn().yield_if_needed().await;
            }
            let mut taken = None;
            let mut pay = |bytes| self.lease.add(&mut taken, bytes);
            let answer = reducer.finish_in_steps(most, &mut pay, self.pause()).await;
            return Ok((answer.map_err(in_reduction)?, taken));
        }
        // More than a moment's work: no executor waits for it.
        let aggs = request.aggs.clone();
        let lease = self.lease.clone();
        // Whoever leaves lets go of this.
        let asking = Arc::new(());
        let asked = Arc::downgrade(&asking);
        let is_wanted = move || asked.strong_count() > 0;
        let job = move || reduce_all(&aggs, shards, (most, &lease), is_wanted);
        let done = self
            .work_in_turn(job)
            .await
            .map_err(|_| Error::rejected("too many searches wait for a worker"))?;
        drop(asking);
        done.map_err(in_reduction)
    }

    /// Fetches the documents that `top_hits` chose, into `memory`; shards that fail are noted.
    ///
    /// # Errors
    /// There is too little of that.
    pub(super) async fn fetch_tops(
        self: &Rc<Self>,
        aggs: &mut Fields,
        targets: &[Target],
        (shards, watched): (&mut Shards, &mut Watched<E>),
        memory: &mut Option<Taken>,
    ) -> Result<()> {
        let wants =
            |target: &Target| matches!(&target.state, State::Planned(.., tops) if !tops.is_empty());
        if !targets.iter().any(wants) {
            return Ok(());
        }
        let mut inside: Vec<InsidePlans> = Vec::new();
        for hits in hits_mut(aggs) {
            self.env.spawn().yield_if_needed().await;
            let Some(hits) = hits else { continue };
            let winners = std::mem::take(&mut hits.winners);
            // A list that grows keeps room for four where there is one.
            hits.hits.reserve_exact(winners.len());
            for winner in winners {
                let target = &targets[winner.target as usize];
                let State::Planned(plan, _, tops) = &target.state else { continue };
                let segment = &plan.view.segments[winner.ranked.segment as usize].segment;
                let child = segment.parents().is_some_and(|it| !it.has(winner.ranked.doc));
                let place = tops
                    .iter()
                    .position(|top| top.request == *hits.request && top.inside.is_some() == child);
                let Some(place) = place else { continue };
                let top = &tops[place];
                if inside.len() <= place {
                    inside.resize_with(place + 1, InsidePlans::default);
                }
                let above = segment.parents().and_then(|it| it.of(winner.ranked.doc));
                let above = above.filter(|_| top.inside.is_some());
                let outer =
                    above.map(|doc| Ranked { doc, keys: Vec::new(), ..winner.ranked.clone() });
                // Damage is told by who reads.
                let read = outer.as_ref().unwrap_or(&winner.ranked);
                let fetch = top.fetch(&target.index.name);
                let pace = Pace::of(&fetch, plan, read).unwrap_or(Pace::Short);
                let bytes = || fetch.needed_bytes(plan, read);
                // What a worker may have to hold.
                let lend = || (Arc::clone(tops), Arc::clone(&target.index), Arc::clone(plan));
                if let Some(outer) = outer.clone() {
                    // The whole document first, then the object in it.
                    let plans = inside[place].of(self, winner.target, &plan.view, &top.columns);
                    let made = match plans.await {
                        Ok(plans) => {
                            let ((tops, index, plan), ranked) = (lend(), winner.ranked.clone());
                            let job = move || {
                                let top = &tops[place];
                                let parent = fetched(&top.fetch(&index.name), &plan, &outer)?;
                                let object = &top.columns.inner[0];
                                let child = object.child(&plans[0], &ranked, &outer, &parent);
                                child.map_err(|error| damaged(&error))
                            };
                            self.fetch_at(pace, bytes, job).await
                        }
                        Err(error) => Err(error),
                    };
                    match made {
                        Ok(hit) => {
                            self.pay(memory, "fetched_hits", hit_bytes(&hit))?;
                            hits.hits.push(hit);
                        }
                        Err(error) => {
                            watched.fail(target.shard());
                            shards.note(target, error);
                        }
                    }
                    self.env.spawn().yield_if_needed().await;
                    continue;
                }
                let plans = match top.columns.inner.is_empty() {
                    true => Ok(Arc::default()),
                    false => inside[place].of(self, winner.target, &plan.view, &top.columns).await,
                };
                let made = match plans {
                    Ok(plans) => {
                        let ((tops, index, plan), ranked) = (lend(), winner.ranked.clone());
                        let job = move || {
                            let top = &tops[place];
                            let mut hit = fetched(&top.fetch(&index.name), &plan, &ranked)?;
                            inside_hits(&top.columns, &plans, &ranked, &mut hit).map(|()| hit)
                        };
                        self.fetch_at(pace, bytes, job).await
                    }
                    Err(error) => Err(error),
                };
                let made = match made {
                    Ok(mut hit) => self
                        .script_fields(&top.columns, plan, &winner.ranked, &mut hit)
                        .await
                        .map(|()| hit),
                    Err(error) => Err(error),
                };
                match made {
                    Ok(hit) => {
                        self.pay(memory, "fetched_hits", hit_bytes(&hit))?;
                        hits.hits.push(hit);
                    }
                    Err(error) => {
                        watched.fail(target.shard());
                        shards.note(target, error);
                    }
                }
                self.env.spawn().yield_if_needed().await;
            }
        }
        Ok(())
    }
}

/// A failure of the last reduction, around which Elasticsearch says which phase it was.
fn in_reduction(error: search::Error) -> Error {
    let cause = failure::of_search(error);
    let plain = cause.kind == "illegal_argument_exception";
    let status = cause.status;
    let mut outer = Error::new(status, "search_phase_execution_exception", "");
    if !plain {
        outer.root_causes = Vec::new();
    }
    outer.caused_by(cause)
}
