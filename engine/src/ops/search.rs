//! `_search` and `_count`.
//!
//! The request is read once; each index gives it a meaning of its own (`plan::bind`), each shard
//! its statistics (`plan::weigh`). The views that are searched are held until the hits are read, so
//! a refresh or merge in between changes nothing.

mod fetched;
mod present;

use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base::ShardId;
use cluster::Index;
use env::budget::{Lease, Taken};
use env::leftovers::Leaving;
use env::{Bytes, Clock, Env, Spawn};
use search::aggs::shape::Answer;
use search::dsl;
use search::fetch::{self, Columns, Fetch};
use search::phase;
use search::plan::{Bound, Plan};
use search::request::{SearchRequest, SortBy};
use search::result::{HITS_FEW, Hit, Memory, Merged, Partial, Ranked, SearchResult, one_by_one};
use search::score::explain;
use segment::View;
use segment::section::Missing;

pub(super) use fetched::{Asking, Pace, fetched};

use super::aggregate;
use super::around::{InsidePlans, inside_hits};
use super::context::HeldShard;
use super::explain::OpenPlans;
use super::footprint::{HIT_BYTES, hit_bytes};
use super::late;
use super::made::Made;
use super::meaning::{Rescored, State, Target, shards_of};
use super::slow::{Asked, Phase, Source};
use super::suggest::Suggested;
use super::{IndicesOptions, Shards, failure};
use crate::core::Core;
use crate::error::{Error, Result};
use crate::gate::Gate;
use crate::index::preference::Preference;

/// A search as it came: the parsed form is made here, once.
#[derive(Clone, Debug, Default)]
pub struct SearchCall {
    /// Index expression; empty is all.
    pub indices: String,
    /// How to read it.
    pub options: IndicesOptions,
    /// The body; empty where there is none.
    pub body: Bytes,
    /// Query parameters among `search::dsl::SEARCH_PARAMS`, decoded, in order.
    pub params: Vec<(String, String)>,
    /// A shard that fails is told beside the hits of the others; else it fails the search.
    pub partial_results: bool,
    /// Only shards of these routing values; empty is all.
    pub routing: Vec<String>,
    /// Which of these shards.
    pub preference: Preference,
    /// Goes on later: for how long it is kept.
    pub scroll: Option<KeepAlive>,
    /// `pre_filter_shard_size`.
    pub shards_unfiltered_max: Option<u32>,
    /// `batched_reduce_size`.
    pub reduce_at_once: Option<u32>,
    /// `request_cache`: its answer is kept, or is not; where nothing is said, by its size and the indices' settings.
    pub request_cache: Option<bool>,
}

/// For how long something is kept open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeepAlive {
    /// In milliseconds.
    pub ms: u64,
    /// As it was written.
    pub text: String,
}

/// Answer of a search.
#[derive(Clone, Debug)]
pub struct SearchReply {
    /// Milliseconds it took.
    pub took_ms: u64,
    /// The deadline passed before all was seen.
    pub timed_out: bool,
    /// `terminate_after` stopped it: `Some(true)`; asked for but not reached: `Some(false)`.
    pub terminated_early: Option<bool>,
    /// Which shards took part.
    pub shards: Shards,
    /// In how many steps the answers of the shards count as merged.
    pub reduce_phases: u32,
    /// Totals and hits.
    pub result: Leaving<SearchResult>,
    /// How long each shard took, where it was asked for.
    pub profile: Vec<ShardProfile>,
    /// Suggestions, in the request's order.
    pub suggest: Leaving<Vec<Suggested>>,
    /// By which a scroll goes on.
    pub scroll_id: Option<String>,
    /// Of the point in time that was searched.
    pub pit_id: Option<String>,
    /// The memory that the hits take.
    pub memory: Option<Arc<Taken>>,
    /// The memory that aggregations take, and hits inside of hits.
    pub more_memory: Memory,
}

/// Answer of a count.
#[derive(Clone, Debug)]
pub struct CountReply {
    /// Matching documents.
    pub count: u64,
    /// `terminate_after` stopped it, where asked for.
    pub terminated_early: Option<bool>,
    /// Which shards took part.
    pub shards: Shards,
}

/// What all shards together found.
pub(super) struct Run {
    targets: Leaving<Vec<Target>>,
    shards: Shards,
    reduce_phases: u32,
    pub(super) merged: Leaving<Merged>,
    /// What aggregations found, where any was asked for.
    pub(super) aggs: Option<Answer>,
    /// How long each shard took, where it was asked for.
    pub(super) profile: Vec<ShardProfile>,
    /// The memory that aggregations take.
    pub(super) memory: Memory,
    /// The memory that what was found takes, until its hits are brought.
    ranks: (Option<Taken>, Memory),
}

impl Run {
    /// The shards that were asked.
    pub(super) fn asked(&self) -> Vec<(Arc<Index>, u32)> {
        shards_of(&self.targets).map(|it| (Arc::clone(&it.index), it.number)).collect()
    }

    /// What is brought of a document may be a part of it: fields are hidden from the caller.
    pub(super) fn cuts(&self) -> bool {
        self.targets.iter().any(|target| target.cuts)
    }

    /// Those of them of which hits are on the page.
    pub(super) fn with_hits(&self) -> Vec<(Arc<Index>, u32)> {
        let mut found: Vec<ShardId> = Vec::new();
        let mut shards = Vec::new();
        for winner in &self.merged.winners {
            let Some(target) = self.targets.get(winner.target as usize) else { continue };
            if !found.contains(&target.shard()) {
                found.push(target.shard());
                shards.push((Arc::clone(&target.index), target.number));
            }
        }
        shards
    }
}

/// How long the parts of a search took in one shard.
#[derive(Clone, Debug, Default)]
pub struct ShardProfile {
    /// The index.
    pub index: String,
    /// The shard.
    pub shard: u32,
    /// Lucene's name of the query.
    pub kind: &'static str,
    /// The query as Lucene prints it.
    pub description: String,
    /// Making weights.
    pub weigh: Duration,
    /// Finding and keeping hits.
    pub search: Duration,
    /// Documents that matched.
    pub count: u64,
    /// Fetching hits, where there were any.
    pub fetch: Option<Duration>,
}

/// So much that a search finds is not counted: it is gone again at once.
const RANKS_BYTES_FREE: usize = 16 << 10;

/// So many terms and columns that all shards look into together are not counted.
const LOOKUPS_FREE: usize = 1024;

/// Sets of documents that take no more in a segment are not counted.
const GATHERED_BYTES_FREE: usize = 1 << 20;

/// What is kept of each in a segment, about.
const KNOWN_BYTES: usize = 64;

/// What a reader of one takes, about.
const READER_BYTES: usize = 2 << 10;

/// What the gate is asked for a search.
pub(super) const SEARCH: &str = "indices:data/read/search";

impl<E: Env> Core<E> {
    /// Searches.
    ///
    /// # Errors
    /// A request that cannot be read, a missing index, or the failure of every shard.
    pub async fn search(
        self: &Rc<Self>,
        gate: &dyn Gate,
        call: &SearchCall,
    ) -> Result<SearchReply> {
        let begin = self.env.clock().monotonic();
        let request = self.read_request(&call.body, &call.params, dsl::parse_search).await?;
        let is_large = request.is_large(1);
        let mut request = Leaving::known(request, is_large);
        self.count_search(&request);
        request.warnings.iter().for_each(|sentence| gate.warn(sentence));
        request.shards_unfiltered_max = call.shards_unfiltered_max;
        request.reduce_at_once = call.reduce_at_once.unwrap_or(request.reduce_at_once);
        if request.collapse.is_some() && !request.rescore.is_empty() {
            return Err(Error::validation(&[
                "cannot use `collapse` in conjunction with `rescore`",
            ]));
        }
        if request.pit.is_none() && request.sort.iter().any(|sort| sort.by == SortBy::ShardDoc) {
            return Err(Error::validation(&[
                "[_shard_doc] sort field cannot be used without [point in time]",
            ]));
        }
        if let Some(scroll) = &call.scroll {
            return self.begin_scroll(gate, call, scroll, request.stay(), begin).await;
        }
        if let Some(pit) = request.pit.take() {
            return self.search_moment(gate, call, pit, request.stay(), begin).await;
        }
        if request.slice.is_some() {
            return Err(Error::validation(&[
                "[slice] can only be used with [scroll] or [point-in-time] requests",
            ]));
        }
        let held = self.hold(gate, SEARCH, call).await?;
        let key = self.key_of(gate, (call, &request), &held);
        if let Some(reply) = key.as_ref().and_then(|key| self.told_again(key, &request, begin)) {
            return Ok(reply);
        }
        let request = Leaving::known(Arc::new(request.stay()), is_large);
        let asked = Asked::new(gate, &request, Source::Call(call), call.partial_results);
        let run = self.find(asked, &held, begin).await?;
        let mut reply = self.bring(asked, run, begin).await?;
        self.expand(gate, &held, &request, &mut reply, begin).await?;
        if let Some(key) = key {
            self.keep_answer(key, &reply);
        }
        Ok(reply)
    }

    /// Counts.
    ///
    /// # Errors
    /// As [`Core::search`].
    pub async fn count(self: &Rc<Self>, gate: &dyn Gate, call: &SearchCall) -> Result<CountReply> {
        let begin = self.env.clock().monotonic();
        let request = self.read_request(&call.body, &call.params, dsl::parse_count).await?;
        self.count_read(gate, call, Arc::new(request), begin).await
    }

    /// Counts what a request that was read asks for.
    ///
    /// # Errors
    /// As [`Core::search`].
    pub(super) async fn count_read(
        self: &Rc<Self>,
        gate: &dyn Gate,
        call: &SearchCall,
        request: Arc<SearchRequest>,
        begin: Duration,
    ) -> Result<CountReply> {
        let is_large = request.is_large(1);
        let request = Leaving::known(request, is_large);
        request.warnings.iter().for_each(|sentence| gate.warn(sentence));
        let held = self.hold(gate, SEARCH, call).await?;
        let asked = Asked::new(gate, &request, Source::Call(call), call.partial_results);
        let run = self.find(asked, &held, begin).await?;
        Ok(CountReply {
            count: run.merged.total.map_or(0, |total| total.value),
            terminated_early: run.merged.terminated_early,
            shards: run.shards,
        })
    }

    /// Asks the shards, and merges what they found.
    pub(super) async fn run(
        self: &Rc<Self>,
        gate: &dyn Gate,
        action: &'static str,
        held: &[HeldShard],
        request: &Arc<SearchRequest>,
        partial_results: bool,
        begin: Duration,
    ) -> Result<Run> {
        if !partial_results {
            Self::check_whole("query", held)?;
        }
        let deadline = request.timeout_ms.map(|ms| begin + Duration::from_millis(ms));
        let here = held.first().map_or("", |held| &*held.name);
        let mut made = Made::default();
        let request = self.looked_up(gate, here, request, &mut made).await?;
        let request = self.with_families(gate, action, held, request, begin).await?;
        // Lists that were looked up may be long.
        let is_large = request.is_large(1);
        let request = &*Leaving::known(request, is_large);
        // Each core runs one script at a time of a search, as long as it runs at all.
        let scripts = search::scripted::HEAP_BYTES * usize::from(self.shared.config.cores);
        let _scripts = request.scripted.then(|| self.room("scripts", scripts)).transpose()?;
        let targets = self.targets_of(gate, action, held, request, deadline, &mut made);
        let mut targets = targets.await?;
        let skipped = self.pass_over(request, &mut targets).await;
        // What suggests alone counts as that, where it does so.
        let watched = shards_of(&targets).map(Target::shard).filter(|_| !request.suggest_only);
        let mut watched = self.watch(watched, Phase::Query);
        let mut shards = Shards { total: held.len() as u32, skipped, ..Shards::default() };
        let mut plans = Vec::with_capacity(targets.len());
        let mut second = Vec::new();
        let mut counts = match request.dfs && targets.len() > 1 {
            true => Box::pin(self.count_together(&targets, deadline, &mut made)).await?,
            false => Vec::new(),
        };
        let mut profile = Vec::new();
        let clock = self.env.clock();
        for (at, target) in targets.iter_mut().enumerate() {
            if request.profile {
                profile.push(ShardProfile {
                    index: target.index.name.to_string(),
                    shard: target.number,
                    ..ShardProfile::default()
                });
            }
            if let (State::Ready(_, meaning), Some(profile)) = (&target.state, profile.last_mut()) {
                profile.kind = search::plan::show::kind(&meaning.bound.query.node);
                let text_bytes = request.text_bytes;
                profile.description = self.shown(&meaning.bound, &target.index, text_bytes).await?;
                made.pay(self, profile.description.len())?;
            }
            let start = clock.monotonic();
            match &target.state {
                State::Ready(view, meaning) => {
                    self.count_fields(target.shard(), &meaning.uses);
                    self.count_aggs(&request.aggs, &target.index.mapping);
                    let weighed = match counts.get_mut(at) {
                        _ if self.is_late(deadline) => Ok(None),
                        Some(counts) => {
                            let given = std::mem::take(counts);
                            let bound = &meaning.bound;
                            Box::pin(self.weigh_by(bound, view, given, deadline)).await
                        }
                        None => {
                            let bound = &meaning.bound;
                            Box::pin(self.weigh_until(bound, view, view, deadline)).await
                        }
                    };
                    match weighed {
                        Ok(plan) => {
                            let plan = match plan {
                                Some(plan) => self.with_kept(plan, &target.index, deadline).await,
                                None => Plan::of_nothing(&meaning.bound, view),
                            };
                            made.pay(self, plan.held_bytes)?;
                            plans.push((at as u32, Arc::clone(&plan)));
                            second.push((at as u32, Arc::clone(view), Arc::clone(&meaning.second)));
                            let (columns, tops) =
                                (Arc::clone(&meaning.columns), Arc::clone(&meaning.tops));
                            target.state = State::Planned(plan, columns, tops);
                        }
                        Err(error) => target.fail(&mut shards, error),
                    }
                }
                State::Planned(..) => {}
                State::Failed(error) => {
                    let error = error.clone();
                    target.fail(&mut shards, error);
                }
            }
            if let Some(profile) = profile.last_mut() {
                profile.weigh = clock.monotonic().saturating_sub(start);
            }
            self.env.spawn().yield_if_needed().await;
        }
        let unordered = |error| {
            Error::new(400, "search_phase_execution_exception", "")
                .caused_by(failure::of_search(error))
        };
        let orders = plans.iter().map(|(_, plan)| &*plan.bound.order);
        search::plan::order::check_alike(orders).map_err(unordered)?;
        let mut found = Vec::new();
        let ranks = self.room_for_ranks(&plans)?;
        let _lookups = self.room_for_lookups(&plans)?;
        if request.profile {
            // One shard after the other, so that each is measured alone.
            for one in &plans {
                let start = clock.monotonic();
                let part = self.run_plans(std::slice::from_ref(one), deadline).await?;
                let profile = &mut profile[one.0 as usize];
                profile.search = clock.monotonic().saturating_sub(start);
                let counts = part.iter().filter_map(|(_, found)| found.as_ref().ok());
                profile.count = counts.map(|partial| partial.count).sum();
                found.extend(part);
            }
        } else {
            found = self.run_plans(&plans, deadline).await?;
        }
        drop(plans);
        let mut partials = Partial::all_leaving(Vec::with_capacity(found.len()));
        let (mut memory, mut texts) = (Memory::default(), Memory::default());
        for (at, found) in found {
            match found {
                Ok(mut partial) => {
                    memory.join(std::mem::take(&mut partial.memory));
                    texts.join(std::mem::take(&mut partial.texts));
                    partials.push((at, partial.stay()));
                }
                Err(damage) => {
                    self.look_after(targets[at as usize].shard());
                    targets[at as usize].fail(&mut shards, damaged(&damage));
                }
            }
        }
        // A damaged block may have cost hits: its shard has failed, and what it found is not told.
        for target in targets.iter_mut() {
            let State::Planned(plan, ..) = &target.state else { continue };
            if let Some(damage) = fault(&plan.view) {
                self.look_after(target.shard());
                target.fail(&mut shards, damaged(&damage));
            } else if let Some(error) = plan.trouble.get() {
                let error = failure::of_search(error.clone());
                target.fail(&mut shards, error);
            }
        }
        let found = aggregate::take(&mut partials, &mut targets, &mut shards);
        self.turns.took(memory.bytes() + texts.bytes());
        if shards.failures.iter().any(|failure| failure.reason.is_no_memory()) {
            self.turns.lacked();
        }
        partials.retain(|(at, _)| matches!(targets[*at as usize].state, State::Planned(..)));
        shards.successful = shards.total - shards.failed;
        for target in targets.iter().filter(|target| matches!(target.state, State::Failed(_))) {
            watched.fail(target.shard());
        }
        if shards.failed > 0 && (!partial_results || shards.successful == 0) {
            watched.done();
            return Err(self.failed_in("query", &shards));
        }
        partials.sort_by_key(|(target, _)| *target);
        let with_hits = partials.iter().filter(|(_, partial)| !partial.hits.is_empty());
        let orders = with_hits.filter_map(|(at, _)| match &targets[*at as usize].state {
            State::Planned(plan, ..) => Some(&*plan.bound.order),
            State::Ready(..) | State::Failed(_) => None,
        });
        if let Err(error) = search::plan::order::check_comparable(request, orders) {
            watched.done();
            return Err(unordered(error));
        }
        if !request.rescore.is_empty() {
            for (at, view, bounds) in second {
                let own = (at, &view, &*bounds);
                let rescored =
                    self.rescore(request, &mut partials, own, deadline, &mut made).await?;
                targets[at as usize].rescored = rescored;
                self.env.spawn().yield_if_needed().await;
            }
        }
        if !partial_results && partials.iter().any(|(_, partial)| partial.timed_out) {
            for (at, _) in partials.iter().filter(|(_, partial)| partial.timed_out) {
                watched.fail(targets[*at as usize].shard());
                shards.note(&targets[*at as usize], late::too_late());
            }
            watched.done();
            return Err(self.failed_in("query", &shards));
        }
        watched.done();
        let merged = self.merged(request, partials).await?;
        let (aggs, said) = self.reduce(request, found, &targets).await?;
        memory.hold(said.map(Arc::new));
        memory.hold(made.memory());
        let reduce_phases = request.reduce_phases(targets.len() as u32);
        let ranks = (ranks, texts);
        Ok(Run { targets, shards, reduce_phases, merged, aggs, profile, memory, ranks })
    }

    /// Puts what was found in order: many hits by many keys on a worker.
    async fn merged(
        &self,
        request: &SearchRequest,
        partials: Leaving<Vec<(u32, Partial)>>,
    ) -> Result<Leaving<Merged>> {
        if !phase::merges_long(&partials) {
            return Ok(phase::merge(request, partials.stay()).leaving());
        }
        let (request, partials) = (request.page(), Arc::new(Mutex::new(partials)));
        let job = move || {
            let mut partials = partials.lock().unwrap_or_else(PoisonError::into_inner);
            phase::merge(&request, std::mem::take(&mut **partials)).leaving()
        };
        self.work_at_last(job).await.map_err(|error| Error::internal(error.to_string()))
    }

    /// Runs the scripts that make values of a hit.
    ///
    /// # Errors
    /// One of them failed.
    pub(super) async fn script_fields(
        &self,
        columns: &Columns,
        plan: &Plan,
        ranked: &Ranked,
        hit: &mut Hit,
    ) -> Result<()> {
        if columns.scripts.is_empty() {
            return Ok(());
        }
        let segment = &plan.view.segments[ranked.segment as usize].segment;
        let mut making = columns.scripts.begin(segment, ranked.doc, columns.visible.as_ref());
        while !making.step(phase::STEP_WORK).map_err(failure::of_search)? {
            self.env.spawn().yield_if_needed().await;
        }
        making.finish(hit);
        Ok(())
    }

    /// Gives the best hits of one shard second scores; where scores are explained, tells which. Where the time ends,
    /// they keep those that they have, and the shard has timed out.
    async fn rescore(
        &self,
        request: &SearchRequest,
        partials: &mut [(u32, search::result::Partial)],
        (at, view, bounds): (u32, &Arc<View>, &[Arc<Bound>]),
        deadline: Option<Duration>,
        made: &mut Made,
    ) -> Result<Vec<Rescored>> {
        let mut own: Vec<&mut search::result::Partial> = partials
            .iter_mut()
            .filter(|(target, _)| *target == at)
            .map(|(_, partial)| partial)
            .collect();
        let mut hits = search::phase::best_of_shard(request.window(), &mut own);
        let mut rescored = Vec::new();
        let Some(first) = own.first_mut().filter(|_| !hits.is_empty()) else {
            return Ok(rescored);
        };
        let goes_on = async || {
            self.env.spawn().yield_if_needed().await;
            !self.is_late(deadline)
        };
        let before = deadline.map(|_| hits.clone());
        for (asked, bound) in request.rescore.iter().zip(bounds) {
            let Some(plan) = self.weigh_until(bound, view, view, deadline).await? else {
                first.timed_out = true;
                break;
            };
            let top = &hits[..hits.len().min(asked.window as usize)];
            let docs = top.iter().map(|hit| (hit.segment, hit.doc));
            let explained = request.explain.then(|| docs.collect());
            let is_scripted = request.scripted;
            let done = search::phase::rescore(asked, &plan, &mut hits, is_scripted, &goes_on);
            if !done.await.map_err(|error| damaged(&error))? {
                first.timed_out = true;
                break;
            }
            if let Some(docs) = explained {
                made.pay(self, plan.held_bytes)?;
                rescored.push(Rescored { plan, docs });
            }
        }
        first.hits = hits;
        if let Some(before) = before.filter(|_| first.timed_out) {
            first.hits = before;
            rescored.clear();
        }
        Ok(rescored)
    }

    /// Memory for what the slices of all shards may find together.
    fn room_for_ranks(&self, plans: &[(u32, Arc<Plan>)]) -> Result<Option<Taken>> {
        let cores = usize::from(self.shared.config.cores);
        let of_plan = |plan: &Plan| {
            let found = plan.bound.window.min(plan.view.doc_count as usize);
            let keys = plan.bound.order.keys.len() * size_of::<search::result::Key>();
            found.saturating_mul(size_of::<Ranked>() + keys)
        };
        let bytes: usize = plans.iter().map(|(_, plan)| of_plan(plan)).sum();
        let mut memory = None;
        if bytes > RANKS_BYTES_FREE {
            self.pay(&mut memory, "ranked_hits", bytes.saturating_mul(cores))?;
        }
        Ok(memory)
    }

    /// Memory for what is looked into: of each plan that it is known, of one at a time its readers and the sets that
    /// they gather on each core.
    fn room_for_lookups(&self, plans: &[(u32, Arc<Plan>)]) -> Result<Option<Taken>> {
        let cores = usize::from(self.shared.config.cores);
        let counts = plans.iter().map(|(_, plan)| plan.lookups);
        let most = counts.clone().max().unwrap_or(0);
        let known = plans.iter().map(|(_, plan)| plan.lookups * plan.view.segments.len());
        let gathered = plans.iter().map(|(_, plan)| plan.gathered_bytes).max().unwrap_or(0);
        let bytes = known
            .sum::<usize>()
            .saturating_mul(KNOWN_BYTES)
            .saturating_add(most.saturating_mul(cores).saturating_mul(READER_BYTES))
            .saturating_add(gathered.saturating_mul(cores));
        if counts.sum::<usize>() <= LOOKUPS_FREE && gathered <= GATHERED_BYTES_FREE {
            return Ok(None);
        }
        self.room("clauses", bytes).map(Some)
    }

    /// Memory for `what`.
    ///
    /// # Errors
    /// 429 where there is too little left.
    pub fn room(&self, what: &str, bytes: usize) -> Result<Taken> {
        self.lease.take(bytes).ok_or_else(|| self.no_memory(what, bytes))
    }

    /// This core's way to the memory, for work whose size shows as it goes.
    pub fn lease(&self) -> &Lease {
        &self.lease
    }

    /// The refusal of `bytes` of memory for `what`.
    pub fn no_memory(&self, what: &str, bytes: usize) -> Error {
        Error::no_memory(what, bytes, self.lease.total_bytes())
    }

    /// Reads a search without doing it.
    ///
    /// # Errors
    /// A request that cannot be read.
    pub async fn check_search(&self, call: &SearchCall) -> Result<()> {
        self.read_request(&call.body, &call.params, dsl::parse_search).await.map(drop)
    }

    /// May the caller do `action`, or search where none is named, where this search looks? Asked before anything is
    /// told of what it says, or of what is stored for it.
    ///
    /// # Errors
    /// The 403 to send.
    pub async fn check_reach(
        self: &Rc<Self>,
        gate: &dyn Gate,
        action: Option<&'static str>,
        call: &SearchCall,
    ) -> Result<()> {
        let action = action.unwrap_or(SEARCH);
        match self.hold(gate, action, call).await {
            Err(error) if error.kind == "security_exception" => Err(error),
            // Of names that are none who may do it nowhere is not told either.
            _ => gate.anywhere(action),
        }
    }

    /// Takes `bytes` more for `what`.
    pub(crate) fn pay(&self, memory: &mut Option<Taken>, what: &str, bytes: usize) -> Result<()> {
        if self.lease.add(memory, bytes) { Ok(()) } else { Err(self.no_memory(what, bytes)) }
    }
}

/// As [`Core::check_search`], for whoever is on a worker already.
///
/// # Errors
/// A request that cannot be read.
pub fn check(call: &SearchCall) -> Result<()> {
    dsl::parse_search(&call.body, &call.params).map(drop).map_err(failure::of_search)
}

/// The first damage that a reader of the view met.
pub(super) fn fault(view: &View) -> Option<segment::Error> {
    view.segments.iter().find_map(|one| one.segment.fault().cloned())
}

pub(super) fn damaged(error: &segment::Error) -> Error {
    Error::new(500, "corrupt_index_exception", error.to_string())
}
