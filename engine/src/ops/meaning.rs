//! Which shards a search asks, and what it means in each index.
//!
//! Names are resolved through the gate; each index gives the request a meaning of its own
//! (`plan::bind`), narrowed to what the caller may see; each shard brings the view that is held until
//! the hits are read.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use base::ShardId;
use base::hash::{Map, Set};
use cluster::Index;
use env::leftovers::Leaving;
use env::{Clock, Env, Spawn};
use search::ast::Query;
use search::dsl;
use search::fetch::Columns;
use search::plan::bind::CLAUSES_MAX;
use search::plan::uses::Uses;
use search::plan::{Automata, Bound, Plan, Veil};
use search::request::SearchRequest;
use segment::View;
use shard::Touched;

use super::aggregate::TopColumns;
use super::context::HeldShard;
use super::effort::{self, STEPS_HERE, STEPS_SHORT};
use super::late::without_query;
use super::made::Made;
use super::meet::{Asked, Stopped};
use super::search::SearchCall;
use super::{IndicesOptions, ShardFailure, Shards, failure, limited};
use crate::core::Core;
use crate::error::{Error, Result};
use crate::gate::{self, Gate, Limits, Named};
use crate::host::call::{Ask, Called, Down, ShardCall};
use crate::index::block::{self, Level};
use crate::index::resolve::{Call, closed, resolve};
use crate::node::Entry;

/// Fields that meet patterns on the executor: thirty nanoseconds each.
const MET_HERE_MAX: usize = 16 << 10;

/// Values that are tried by formats of dates on the executor: fifty nanoseconds each.
const TRIED_HERE_MAX: usize = 16 << 10;

/// A value of a request takes so many bytes at least.
const VALUE_BYTES: usize = 4;

/// One shard that is asked.
pub(super) struct Target {
    pub(super) index: Arc<Index>,
    pub(super) number: u32,
    pub(super) state: State,
    /// The query without the caller's document filter and those of aliases, where scores are explained:
    /// whoever is limited does not read there by what.
    pub(super) open: Option<Arc<Bound>>,
    /// What gave hits second scores, where scores are explained.
    pub(super) rescored: Vec<Rescored>,
    /// Fields are hidden from the caller: what is brought of a document is a part.
    pub(super) cuts: bool,
    /// There where something is hidden from the caller.
    pub(super) veil: Option<Veil>,
}

impl Target {
    /// What the caller is told of where a document stands in its segment.
    pub(super) fn told_of(&self, doc: base::DocId) -> i64 {
        let place = i64::from(doc.get());
        self.veil.map_or(place, |veil| veil.hide(place))
    }
}

/// A rescorer of one shard, and the documents that it looked at.
pub(super) struct Rescored {
    pub(super) plan: Arc<Plan>,
    /// Segment and document.
    pub(super) docs: base::hash::Set<(u32, base::DocId)>,
}

pub(super) enum State {
    /// Its view, and what the request means in its index.
    Ready(Arc<View>, Meaning),
    /// The view with weights.
    Planned(Arc<Plan>, Arc<Columns>, Arc<[TopColumns]>),
    /// Why it cannot answer.
    Failed(Error),
}

/// What a request means in one index.
#[derive(Clone)]
pub(super) struct Meaning {
    pub(super) bound: Arc<Bound>,
    /// What gives second scores.
    pub(super) second: Arc<[Arc<Bound>]>,
    pub(super) columns: Arc<Columns>,
    /// What each `top_hits` fetches.
    pub(super) tops: Arc<[TopColumns]>,
    /// What of the index is read.
    pub(super) uses: Arc<Uses>,
    /// Documents are hidden from the caller.
    pub(super) hides: bool,
    /// What all this takes, as far as it was measured.
    pub(super) held_bytes: usize,
}

impl Meaning {
    /// The query in its index.
    pub(super) fn bound(&self) -> &Arc<Bound> {
        &self.bound
    }
}

/// What all indices of a request have together.
struct Spent {
    /// What its texts may still cost.
    steps: u64,
    /// The automata that were made for it.
    automata: Arc<Automata>,
}

impl Default for Spent {
    fn default() -> Self {
        Self { steps: effort::STEPS_MAX, automata: Arc::default() }
    }
}

/// Which documents a request is about.
#[derive(Clone, Copy, Default)]
pub(super) struct Sight<'a> {
    /// Only these are found.
    pub(super) found: Option<&'a Query>,
    /// Those that the caller may see, where documents are hidden from it.
    pub(super) seen: Option<&'a Query>,
    /// Something is hidden from it in one of the indices that are searched.
    pub(super) veiled: bool,
}

impl Target {
    /// Which shard it is.
    pub(super) fn shard(&self) -> ShardId {
        ShardId { index: self.index.uuid, number: self.number }
    }

    /// The shard cannot answer (any more).
    pub(super) fn fail(&mut self, shards: &mut Shards, error: Error) {
        shards.note(self, error.clone());
        self.state = State::Failed(error);
    }
}

/// The shards of targets, each once.
pub(super) fn shards_of(targets: &[Target]) -> impl Iterator<Item = &Target> {
    targets.chunk_by(|a, b| a.shard() == b.shard()).map(|kinds| &kinds[0])
}

impl Shards {
    /// Counts a failed shard, once.
    pub(super) fn note(&mut self, target: &Target, error: Error) {
        let known = self
            .failures
            .iter()
            .any(|failure| failure.shard == target.number && failure.index == *target.index.name);
        if !known {
            self.failed += 1;
            self.successful = self.successful.saturating_sub(1);
            self.failures.push(ShardFailure {
                shard: target.number,
                index: target.index.name.to_string(),
                node: None,
                reason: error,
            });
        }
    }
}

impl<E: Env> Core<E> {
    /// The failure of a search whose shards did not answer in this phase, none of them or not enough;
    /// this node is where they all lie.
    pub(super) fn failed_in(&self, phase: &'static str, shards: &Shards) -> Error {
        let mut error = failure::of_shards(shards, phase);
        for failure in &mut error.failed_shards {
            failure.node = Some(self.shared.config.info.id.clone());
        }
        error
    }

    /// Refuses, where a part is not enough, what would not reach all shards: `held` are those that it is for.
    ///
    /// # Errors
    /// 503, which names them.
    pub(super) fn check_whole(phase: &'static str, held: &[HeldShard]) -> Result<()> {
        let is_missing =
            |shard: &&HeldShard| matches!(&shard.view, Err(error) if error.is_no_shard());
        let missing: Vec<String> = held
            .iter()
            .filter(is_missing)
            .map(|shard| format!("[{}][{}]", shard.name, shard.number))
            .collect();
        match missing.is_empty() {
            true => Ok(()),
            false => Err(failure::of_missing_shards(phase, &missing.join(", "))),
        }
    }

    /// The shards that names lead to, sorted by index and number, each with what a search of it sees
    /// now.
    pub(super) async fn hold(
        self: &Rc<Self>,
        gate: &dyn Gate,
        action: &'static str,
        call: &SearchCall,
    ) -> Result<Vec<HeldShard>> {
        self.hold_of(gate, action, &self.state(), call).await
    }

    /// As [`Self::hold`]; what the names mean is of the moment that is given.
    pub(super) async fn hold_of(
        self: &Rc<Self>,
        gate: &dyn Gate,
        action: &'static str,
        state: &cluster::State,
        call: &SearchCall,
    ) -> Result<Vec<HeldShard>> {
        let sees = gate::sees(gate, action, state);
        let names = Call::new(call.options);
        let now_ms = self.now_ms();
        let asked = Named { action, expression: &call.indices, names: state, now_ms };
        let told = |error| gate::told(gate, &asked, error);
        let pause = self.pause();
        let resolved = resolve(state, &call.indices, names, now_ms, sees, &pause).await;
        let mut resolved = resolved.map_err(told)?;
        resolved.sort_by(|a, b| a.index.cmp(&b.index));
        let mut held = Vec::new();
        for one in resolved {
            if !held.is_empty() {
                self.env.spawn().yield_if_needed().await;
            }
            match gate::ask(gate, action, &one.index, &one.via) {
                Ok(_) => {}
                Err(_) if call.options.ignore_unavailable => continue,
                Err(error) => return Err(told(error)),
            }
            let Some(index) = state.index(&one.index) else { continue };
            block::check(index, Level::Read)?;
            if !index.open {
                return Err(closed(&index.name, index.uuid));
            }
            for number in wanted_shards(index, &one.routing(&call.routing)) {
                if !call.preference.takes(&index.name, number)? {
                    continue;
                }
                let shard = ShardId { index: index.uuid, number };
                let view = match block::check_whole(index) {
                    Ok(()) => {
                        let view = self.view(shard).await;
                        view.map_err(|down| down.error(&self.state(), index, number, Ask::Read))
                    }
                    Err(error) => Err(error),
                };
                held.push(HeldShard {
                    index: index.uuid,
                    name: Arc::clone(&index.name),
                    number,
                    filters: one.filters.clone(),
                    via: one.via.clone(),
                    view,
                });
            }
        }
        // An index that was deleted while others were looked at is one that no pattern meets. One that was named is
        // missed.
        let now = self.state();
        if now.version != state.version {
            let is_named = |name: &str| call.indices.split(',').any(|part| part == name);
            held.retain(|shard| {
                let is_missed = is_named(&shard.name) && !call.options.ignore_unavailable;
                is_missed || now.index_by_uuid(shard.index).is_some()
            });
        }
        Ok(held)
    }

    /// What the request means for each shard, and for each kind of documents in it. The gate is asked
    /// again: what is held may be older than what its caller may see. In an index that has not met the request
    /// when the deadline passes, nothing is looked for.
    pub(super) async fn targets_of(
        &self,
        gate: &dyn Gate,
        action: &'static str,
        held: &[HeldShard],
        request: &Arc<SearchRequest>,
        deadline: Option<Duration>,
        made: &mut Made,
    ) -> Result<Leaving<Vec<Target>>> {
        let state = self.state();
        let boosts = self.boosts(gate, action, request).await?;
        let targets: Vec<Target> = Vec::with_capacity(held.len());
        // What its texts may cost, in all indices together.
        let mut spent = Spent::default();
        let mut targets = Leaving::known(targets, request.is_large(held.len()));
        let of_indices = || held.chunk_by(|a, b| a.index == b.index);
        let mut all_limits = Vec::new();
        for of_index in of_indices() {
            let first = &of_index[0];
            all_limits.push(gate::ask(gate, action, &first.name, &first.via)?);
            self.env.spawn().yield_if_needed().await;
        }
        // Hits of all of them are put in one order.
        let veiled = all_limits.iter().any(|limits| !limits.is_unlimited());
        for (of_index, limits) in of_indices().zip(all_limits) {
            if !targets.is_empty() {
                self.env.spawn().yield_if_needed().await;
            }
            let first = &of_index[0];
            let Some(index) = state.index_by_uuid(first.index) else {
                return Err(Error::index_not_found(&first.name, "index_or_alias"));
            };
            let boost = boosts.get(&*index.name).copied().unwrap_or(1.0);
            // Documents of which different fields are seen are searched apart, as if they lay in shards
            // of their own.
            let mut kinds = Vec::with_capacity(limits.each().len());
            for kind in limits.each() {
                let filter = filter_of(&first.filters, kind.filter.as_deref())?;
                // To whom documents are hidden, their words do not count, nor those that a filter of an alias
                // takes out.
                let seen = filter.as_ref().filter(|_| kind.filter.is_some());
                let sight = Sight { found: filter.as_ref(), seen, veiled };
                let both = (&limits, kind);
                let own = ((index, boost), deadline);
                let meaning = self.bind_until(own, request, sight, both, &mut spent).await;
                let held_bytes = meaning.as_ref().map_or(0, |meaning| meaning.held_bytes);
                made.pay(self, held_bytes)?;
                if kind.filter.is_some() {
                    limited::refuse(request)?;
                }
                // An alias's filter names fields and values too.
                let is_told =
                    kind.is_unlimited() || (kind.filter.is_none() && first.filters.is_empty());
                let open = if is_told {
                    None
                } else {
                    limited::refuse_profile(request)?;
                    let sight = Sight { found: None, seen, veiled };
                    let open = self.bind_until(own, request, sight, both, &mut spent).await.ok();
                    made.pay(self, open.as_ref().map_or(0, |open| open.held_bytes))?;
                    open.map(|open| open.bound)
                };
                kinds.push((meaning, open, kind.fields.is_some()));
            }
            for shard in of_index {
                for (meaning, open, cuts) in &kinds {
                    let state = match (meaning, &shard.view) {
                        (Err(error), _) | (_, Err(error)) => State::Failed(error.clone()),
                        (Ok(meaning), Ok(view)) => State::Ready(Arc::clone(view), meaning.clone()),
                    };
                    let (index, number, open) = (Arc::clone(index), shard.number, open.clone());
                    let (rescored, cuts) = (Vec::new(), *cuts);
                    let veil = veiled.then(|| self.veil().of(&index.uuid, limits.key));
                    targets.push(Target { index, number, state, open, rescored, cuts, veil });
                }
            }
        }
        Ok(targets)
    }

    /// What the request means in an index, to whom no document is hidden.
    ///
    /// # Errors
    /// The index cannot answer it; its texts are too costly; too many wait for a worker.
    pub(super) async fn bind(
        &self,
        index: &Arc<Index>,
        request: &Arc<SearchRequest>,
        filter: Option<&Query>,
        limits: &Limits,
    ) -> Result<Meaning> {
        let sight = Sight { found: filter, seen: None, veiled: false };
        let mut spent = Spent::default();
        // Scores are told of the whole search alone, which knows its indices' boosts.
        Box::pin(self.bind_away((index, 1.0), request, sight, (limits, limits), &mut spent)).await
    }

    /// As [`Self::bind_away`]; nothing is looked for where the deadline passes before.
    async fn bind_until(
        &self,
        (boosted, deadline): ((&Arc<Index>, f32), Option<Duration>),
        request: &Arc<SearchRequest>,
        sight: Sight<'_>,
        both: (&Limits, &Limits),
        spent: &mut Spent,
    ) -> Result<Meaning> {
        if !self.is_late(deadline) {
            // Boxed: whoever asks is large enough.
            let meaning = Box::pin(self.bind_away(boosted, request, sight, both, spent));
            if let Some(meaning) = self.in_time(deadline, meaning).await {
                return meaning;
            }
        }
        Box::pin(self.bind_away(boosted, &Arc::new(without_query(request)), sight, both, spent))
            .await
    }

    /// As [`Self::bind`], for one kind of the documents that `whole` shows; where it may take long, a worker
    /// does it. Of the steps that its texts may take those are taken that they took.
    async fn bind_away(
        &self,
        boosted: (&Arc<Index>, f32),
        request: &Arc<SearchRequest>,
        sight: Sight<'_>,
        (whole, limits): (&Limits, &Limits),
        spent: &mut Spent,
    ) -> Result<Meaning> {
        let automata = Arc::clone(&spent.automata);
        let asked = self.asked(boosted, (whole, limits), sight.veiled, automata);
        // Each pattern is met by each field.
        let met = request.stars.saturating_mul(asked.mapping.fields().len());
        // A value that is no date is tried by each format of one.
        let tried =
            (request.text_bytes / VALUE_BYTES).saturating_mul(asked.mapping.date_formats_max());
        let is_plain = !request.costly && met <= MET_HERE_MAX && tried <= TRIED_HERE_MAX;
        if is_plain {
            match asked.bind(STEPS_HERE.min(spent.steps), request, sight, limits) {
                Ok((meaning, took)) => {
                    spent.steps -= took;
                    return meaning;
                }
                Err(Stopped::Memory(bytes)) => return Err(self.no_memory("query", bytes)),
                Err(Stopped::Steps) => {}
            }
        }
        let (request, limits) = (Arc::clone(request), limits.clone());
        let (found, seen) = (sight.found.cloned(), sight.seen.cloned());
        let veiled = sight.veiled;
        let bind = Arc::new(move |steps: u64| {
            let sight = Sight { found: found.as_ref(), seen: seen.as_ref(), veiled };
            asked.bind(steps, &request, sight, &limits)
        });
        let busy = |_| Error::rejected("too many searches wait for a worker");
        let (left, short) = (spent.steps, Arc::clone(&bind));
        let mut done = Err(Stopped::Steps);
        // What was too much for this core is no short job.
        if !is_plain {
            let job = move || short(STEPS_SHORT.min(left));
            done = self.env.spawn().work_short(job).await.map_err(busy)?;
        }
        if matches!(done, Err(Stopped::Steps)) {
            done = self.work_in_turn(move || bind(left)).await.map_err(busy)?;
        }
        match done {
            Ok((meaning, took)) => {
                spent.steps -= took;
                meaning
            }
            Err(stopped) => {
                spent.steps = 0;
                Err(match stopped {
                    Stopped::Steps => effort::too_costly(effort::STEPS_MAX),
                    Stopped::Memory(bytes) => self.no_memory("query", bytes),
                })
            }
        }
    }

    /// What of this core a request needs to meet an index, with the factor of its scores.
    fn asked(
        &self,
        (index, boost): (&Arc<Index>, f32),
        (whole, kind): (&Limits, &Limits),
        veiled: bool,
        automata: Arc<Automata>,
    ) -> Asked {
        Asked {
            index: Arc::clone(index),
            mapping: self.mapping_of_kind(index, whole, kind),
            boost,
            expensive: self.state().settings.flag("search.allow_expensive_queries"),
            buckets_max: self.buckets_max(),
            now_ms: self.now_ms(),
            veil: veiled.then(|| self.veil().of(&index.uuid, whole.key)),
            automata,
            lease: self.lease.clone(),
        }
    }
}

impl<E: Env> Core<E> {
    /// What a search of the shard sees now; a shard that slept is woken.
    pub(super) async fn view(self: &Rc<Self>, shard: ShardId) -> Called<Arc<View>> {
        self.settled(shard).await?;
        let directory = self.directory();
        let reader = match directory.shards.get(&shard) {
            Some(Entry::Open(reader)) => reader,
            Some(Entry::Failed(failure)) => return Err(Down::Failed(Arc::clone(&failure.why))),
            Some(Entry::Opening) => return Err(Down::Opening),
            None => return Err(Down::Gone),
        };
        if reader.touch(self.env.clock().monotonic()) == Touched::RefreshFirst {
            self.send(shard, |reply| ShardCall::Refresh { reply }).answer().await?;
        }
        Ok(reader.view.load())
    }

    /// The indices that `indices_boost` means, each with the factor of its scores: that of the first expression that
    /// means it. Of thousands each may mean all indices.
    async fn boosts(
        &self,
        gate: &dyn Gate,
        action: &'static str,
        request: &SearchRequest,
    ) -> Result<Map<String, f32>> {
        let (state, pause) = (self.state(), self.pause());
        let (mut boosts, mut known) = (Map::default(), Set::default());
        let new = request.indices_boost.iter().filter(|(expression, _)| known.insert(expression));
        for (expression, boost) in new {
            let names = Call::new(IndicesOptions::default());
            let now_ms = self.now_ms();
            let asked = Named { action, expression, names: &*state, now_ms };
            let sees = gate::sees(gate, action, &*state);
            let meant = resolve(&*state, expression, names, now_ms, sees, &pause).await;
            let meant = meant.map_err(|error| gate::told(gate, &asked, error))?;
            for one in meant {
                boosts.entry(one.index).or_insert(*boost);
            }
        }
        Ok(boosts)
    }
}

/// The filters of the aliases that led here (any of them), and the caller's own.
pub(super) fn filter_of(
    filters: &[json::Value],
    limit: Option<&json::Value>,
) -> Result<Option<Query>> {
    // Refused as it would be once it is read, which for so many takes long.
    if filters.len() > CLAUSES_MAX {
        let reason = format!(
            "Query contains too many nested clauses; maxClauseCount is set to {CLAUSES_MAX}"
        );
        let error = search::Error::new(search::error::Kind::TooManyNestedClauses, reason);
        return Err(failure::of_search(error));
    }
    let mut clauses = json::Object::new();
    if !filters.is_empty() {
        clauses.insert("should", json::Value::Array(filters.to_vec()));
        clauses.insert("minimum_should_match", 1);
    }
    if let Some(limit) = limit {
        clauses.insert("filter", json::Value::Array(vec![limit.clone()]));
    }
    if clauses.is_empty() {
        return Ok(None);
    }
    let mut query = json::Object::new();
    query.insert("bool", json::Value::Object(clauses));
    let parse = |query: &json::Value| dsl::parse_query_value(query).map_err(failure::of_search);
    let query = parse(&json::Value::Object(query))?;
    // What is not looked up finds nothing, and where that is excluded, all.
    if query.looks_up()
        && let Some(limit) = limit
        && parse(limit)?.looks_up()
    {
        let reason = "document lookup queries are not supported as part of a role query";
        return Err(Error::illegal_argument(reason));
    }
    Ok(Some(query))
}

/// Shards that hold documents of these routing values; all where there is none.
fn wanted_shards(index: &Index, routing: &[String]) -> Vec<u32> {
    let count = index.settings.shard_count();
    if routing.is_empty() {
        return (0..count).collect();
    }
    let route = crate::index::route::Route::of(&index.settings);
    let mut numbers: Vec<u32> = routing.iter().flat_map(|routing| route.shards(routing)).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}
