//! What a search does around its hits: second scores, and the hits inside a hit.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use env::Env;
use search::ast::{self, Node, Query, Scalar};
use search::fetch::{Columns, Inner, InnerPlans};
use search::request::{InnerHits, SearchRequest};
use search::result::{Hit, Ranked};
use segment::View;

use super::context::HeldShard;
use super::failure;
use super::search::{SEARCH, SearchReply, damaged};
use crate::core::Core;
use crate::error::Result;
use crate::gate::Gate;

impl<E: Env> Core<E> {
    /// Looks up the hits that stand for the same value as each hit of `reply`, in the views that these
    /// were found in.
    pub(super) async fn expand(
        self: &Rc<Self>,
        gate: &dyn Gate,
        held: &[HeldShard],
        request: &SearchRequest,
        reply: &mut SearchReply,
        begin: Duration,
    ) -> Result<()> {
        let Some(collapse) = &request.collapse else { return Ok(()) };
        for inner in &collapse.inner_hits {
            let name: Arc<str> = inner.name.as_ref().unwrap_or(&collapse.field).as_str().into();
            for hit in reply.result.hits.iter_mut() {
                let asked = Arc::new(of_group(request, &collapse.field, inner, hit));
                // Boxed: this search never expands again, but its type could.
                let run = self.run(gate, SEARCH, held, &asked, true, begin).await?;
                let found = Box::pin(self.present(&asked, run, true, begin)).await?;
                reply.more_memory.hold(found.memory);
                hit.inner_hits.push((Arc::clone(&name), found.result.stay()));
            }
        }
        Ok(())
    }
}

/// Plans of the hits inside, of each shard that has winners.
#[derive(Default)]
pub(super) struct InsidePlans(Vec<(u32, Arc<[InnerPlans]>)>);

impl InsidePlans {
    /// Those of one shard, made when they are asked for first. In its view documents inside are
    /// seen, too.
    pub(super) async fn of<E: Env>(
        &mut self,
        core: &Core<E>,
        target: u32,
        view: &Arc<View>,
        columns: &Columns,
    ) -> Result<Arc<[InnerPlans]>> {
        if !self.0.iter().any(|(known, _)| *known == target) {
            // Who is inside of a living document lives.
            let inside = Arc::new(view.inside().map_err(|error| damaged(&error))?);
            let plans = weigh_all(core, &columns.inner, &inside, view).await?;
            self.0.push((target, plans.into()));
        }
        let found = self.0.iter().find(|(known, _)| *known == target);
        Ok(found.map_or_else(Arc::default, |(_, plans)| Arc::clone(plans)))
    }
}

async fn weigh_all<E: Env>(
    core: &Core<E>,
    all: &[Inner],
    view: &Arc<View>,
    outer: &Arc<View>,
) -> Result<Vec<InnerPlans>> {
    let mut plans = Vec::with_capacity(all.len());
    for inner in all {
        let plan = core.weigh_inside(&inner.bound, view, outer).await?;
        let mut levels = Vec::with_capacity(inner.levels.len());
        for level in &inner.levels {
            levels.push(core.weigh_inside(level, view, outer).await?);
        }
        // Boxed: hits inside of hits are as deep as the request.
        let inner = Box::pin(weigh_all(core, &inner.inner, view, outer)).await?;
        plans.push(InnerPlans { plan, levels, inner });
    }
    Ok(plans)
}

/// Tells which documents inside of a hit matched.
pub(super) fn inside_hits(
    columns: &Columns,
    plans: &[InnerPlans],
    ranked: &Ranked,
    hit: &mut Hit,
) -> Result<()> {
    for (inner, plans) in columns.inner.iter().zip(plans) {
        let mut found = inner.hits(plans, ranked, hit).map_err(|error| damaged(&error))?;
        for hit in &mut found.hits {
            if let Some(error) = hit.failed.take() {
                return Err(failure::of_search(error));
            }
        }
        hit.inner_hits.push((Arc::clone(&inner.name), found));
    }
    Ok(())
}

/// The search for all hits of the value that `hit` stands for.
fn of_group(request: &SearchRequest, field: &str, inner: &InnerHits, hit: &Hit) -> SearchRequest {
    let value = hit.fields.iter().find(|(name, _)| name == field);
    let value = value.and_then(|(_, values)| values.first());
    let value = value.and_then(|text| json::parse(text.as_bytes()).ok());
    let scalar = match value {
        Some(json::Value::String(text)) => Some(Scalar::String(text)),
        Some(json::Value::Number(number)) => Some(Scalar::Number(number.text().to_owned())),
        Some(json::Value::Bool(flag)) => Some(Scalar::Bool(flag)),
        _ => None,
    };
    let mut joined = ast::Bool {
        must: vec![request.query.clone().unwrap_or_else(Query::all)],
        ..ast::Bool::default()
    };
    match scalar {
        Some(value) => {
            let term = ast::Term { field: field.to_owned(), value, case_insensitive: false };
            joined.filter.push(Query::new(Node::Term(term)));
        }
        None => joined.must_not.push(Query::new(Node::Exists(field.to_owned()))),
    }
    SearchRequest {
        query: Some(Query::new(Node::Bool(joined))),
        post_filter: request.post_filter.clone(),
        min_score: request.min_score,
        scripted: request.scripted,
        ..(*inner.request).clone()
    }
}
