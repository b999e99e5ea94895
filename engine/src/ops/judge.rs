//! One document, judged by a rule: whether a search finds it. Its text is not read for that.
//!
//! Always true: what is absent costs about what is hidden costs. The rule is asked all the same, of
//! another document that stands in; so how long an answer takes tells little of which it is.

use std::rc::Rc;
use std::sync::Arc;

use base::{DocId, FieldNo, ShardId};
use cluster::Index;
use env::{Env, Spawn};
use search::ast::Query;
use search::judge::Judge;
use search::phase::STEP_WORK;
use search::plan::Plan;
use search::request::SearchRequest;
use segment::View;
use segment::section::Missing;

use super::search::{damaged, fault};
use crate::core::Core;
use crate::error::Result;
use crate::gate::Limits;
use crate::host::call::Ask;

/// A document as searches see it.
pub(super) struct Judged {
    /// Its sequence number.
    pub(super) seq_no: u64,
    /// The rule finds it.
    pub(super) passes: bool,
}

impl<E: Env> Core<E> {
    /// The document with this id, as searches see it; without a rule each passes.
    ///
    /// # Errors
    /// A rule that the index cannot answer, damage, a shard that does not serve.
    pub(super) async fn judge(
        self: &Rc<Self>,
        index: &Arc<Index>,
        number: u32,
        id: &str,
        rule: Option<&Query>,
    ) -> Result<Option<Judged>> {
        let shard = ShardId { index: index.uuid, number };
        let view = self.view(shard).await;
        let view = view.map_err(|down| down.error(&self.state(), index, number, Ask::Read))?;
        let found = view.find(id.as_bytes()).map_err(|error| damaged(&error))?;
        let passes = match (rule, found.or_else(|| stand_in(&view))) {
            (Some(rule), Some((at, doc))) => self.passes_rule(index, &view, rule, at, doc).await?,
            _ => true,
        };
        let Some((at, doc)) = found else { return Ok(None) };
        let seq_no = view.segments[at].segment.numeric(FieldNo::SEQ_NO);
        let seq_no = seq_no.and_then(|column| column.first(doc));
        match (seq_no, fault(&view)) {
            (_, Some(damage)) => Err(damaged(&damage)),
            (seq_no, None) => Ok(seq_no.map(|seq_no| Judged { seq_no: seq_no as u64, passes })),
        }
    }

    async fn passes_rule(
        self: &Rc<Self>,
        index: &Arc<Index>,
        view: &Arc<View>,
        rule: &Query,
        at: usize,
        doc: DocId,
    ) -> Result<bool> {
        let request =
            SearchRequest { query: Some(rule.clone()), size: 0, ..SearchRequest::default() };
        // The rule knows all fields.
        let meaning = self.bind(index, &Arc::new(request), None, &Limits::default()).await?;
        let plan: Arc<Plan> = self.weigh(meaning.bound(), view).await?;
        let Some(mut judge) = Judge::new(&plan, at, doc) else { return Ok(false) };
        let mut missing = Missing::new();
        let passes = loop {
            match judge.step(STEP_WORK, &mut missing) {
                Some(passes) => break passes,
                None => missing.fetch(),
            }
            self.env.spawn().yield_if_needed().await;
        };
        // A script that failed has not said yes.
        Ok(passes && plan.trouble.get().is_none())
    }
}

/// Some living document of the largest segment.
fn stand_in(view: &View) -> Option<(usize, DocId)> {
    let segments = view.segments.iter().enumerate();
    let (at, largest) = segments.max_by_key(|(_, at)| at.segment.doc_count())?;
    let first = match &largest.live {
        Some(live) => live.bits().iter().next()?,
        None => 0,
    };
    Some((at, DocId(first)))
}
