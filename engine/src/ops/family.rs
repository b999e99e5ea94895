//! `has_child` and `has_parent`: the families are looked for before the search, by a search of its own
//! for those that are asked about, ordered by their parents' ids. What it finds is put into the query;
//! from there on only terms are looked up.
//!
//! Always true
//! 1. Both searches read the same views, and the inner one sees what its caller may see; filters of
//!    aliases bind the outer one alone.
//! 2. What the inner search finds is counted as memory, like the hits of any search.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use env::Env;
use search::SearchRequest;
use search::ast::{Bool, Family, Found, NestedScore, Node, Query, Scalar, Term};
use search::plan::family::{Tie, tie};
use search::request::{Order, Sort, SortBy, TrackTotal};
use search::result::Key;

use super::context::HeldShard;
use super::search::Run;
use crate::core::Core;
use crate::error::Result;
use crate::gate::Gate;

impl<E: Env> Core<E> {
    /// The request with the families that it asks about.
    ///
    /// # Errors
    /// As a search.
    pub(super) async fn with_families(
        self: &Rc<Self>,
        gate: &dyn Gate,
        action: &'static str,
        held: &[HeldShard],
        request: Arc<SearchRequest>,
        begin: Duration,
    ) -> Result<Arc<SearchRequest>> {
        if !request.families {
            return Ok(request);
        }
        let mut request = Arc::unwrap_or_clone(request);
        let mut asked = Vec::new();
        each(&mut request, &mut |family| asked.push(family.clone()));
        let mut found = Vec::with_capacity(asked.len());
        for family in &asked {
            // Where its time ends the families are not whole, and the search that asks has none left, too.
            let kind = (request.costly, request.timeout_ms);
            found.push(self.find_family(gate, action, held, family, (kind, begin)).await?);
        }
        let mut found = found.into_iter();
        each(&mut request, &mut |family| family.found = found.next());
        Ok(Arc::new(request))
    }

    /// The families of all indices that are held.
    async fn find_family(
        self: &Rc<Self>,
        gate: &dyn Gate,
        action: &'static str,
        held: &[HeldShard],
        family: &Family,
        ((costly, timeout_ms), begin): ((bool, Option<u64>), Duration),
    ) -> Result<Vec<Found>> {
        let state = self.state();
        let mut found = Vec::new();
        for shards in held.chunk_by(|one, other| one.index == other.index) {
            let Some(index) = state.index_by_uuid(shards[0].index) else { continue };
            // What is wrong with the relation is told by the index's shards.
            let Ok(Some(tie)) = tie(family, &index.mapping) else { continue };
            let shards: Vec<HeldShard> =
                shards.iter().map(|it| HeldShard { filters: Vec::new(), ..it.clone() }).collect();
            let mut request = inner(family, &tie);
            (request.costly, request.timeout_ms) = (costly, timeout_ms);
            let request = Arc::new(request);
            let run = Box::pin(self.run(gate, action, &shards, &request, false, begin)).await?;
            found.push(Found { index: index.name.to_string(), parents: families(family, &run) });
        }
        Ok(found)
    }
}

/// Calls `take` for each family that is asked about, always in the same order.
fn each(request: &mut SearchRequest, take: &mut dyn FnMut(&mut Family)) {
    let mut visit = |query: &mut Query| {
        query.visit_mut(&mut |query| {
            if let Node::Family(family) = &mut query.node {
                take(family);
            }
        });
    };
    [&mut request.query, &mut request.post_filter].into_iter().flatten().for_each(&mut visit);
    search::aggs::queries_mut(&mut request.aggs).into_iter().for_each(&mut visit);
    request.rescore.iter_mut().for_each(|one| visit(&mut one.query));
}

/// The search for those that are asked about.
fn inner(family: &Family, tie: &Tie) -> SearchRequest {
    let names = tie.asked.iter().map(|name| {
        let value = Scalar::String(name.clone());
        Query::new(Node::Term(Term { field: tie.field.clone(), value, case_insensitive: false }))
    });
    let both =
        Bool { must: vec![family.query.clone()], filter: names.collect(), ..Bool::default() };
    let sort = Sort::new(SortBy::Field(tie.parents.clone()), Order::Ascending);
    SearchRequest {
        query: Some(Query::new(Node::Bool(both))),
        size: u32::MAX,
        families: true,
        scripted: true,
        whole: true,
        sort: vec![sort],
        total: TrackTotal::No,
        track_scores: family.score_mode != NestedScore::None,
        shards_unfiltered_max: Some(u32::MAX),
        ..SearchRequest::default()
    }
}

/// The parents of the families that a search found, with their scores.
fn families(family: &Family, run: &Run) -> Vec<(Box<[u8]>, f32)> {
    let parent = |winner: &search::result::Winner| match winner.ranked.keys.first() {
        Some(Key::Term(id)) => Some(id.clone()),
        _ => None,
    };
    let mut found = Vec::new();
    for members in run.merged.winners.chunk_by(|one, other| parent(one) == parent(other)) {
        let count = members.len() as u32;
        let Some(id) = parent(&members[0]) else { continue };
        if !(family.least..=family.most).contains(&count) {
            continue;
        }
        let scores = members.iter().map(|winner| winner.ranked.score);
        let score = match family.score_mode {
            NestedScore::None => 1.0,
            NestedScore::Min => scores.fold(f32::INFINITY, f32::min),
            NestedScore::Max => scores.fold(0.0, f32::max),
            NestedScore::Sum => scores.sum(),
            NestedScore::Avg => scores.sum::<f32>() / count as f32,
        };
        found.push(((*id).into(), score));
    }
    found
}
