//! A request meets an index: what it means there, and what is wrong with it there alone.
//!
//! A job for any thread: what it needs of a core is in [`Asked`].

use std::sync::Arc;

use cluster::Index;
use env::budget::Lease;
use env::heap;
use mapping::Mapping;
use mapping::analysis::effort::{Exhausted, within};
use search::SearchRequest;
use search::fetch;
use search::plan::uses::Uses;
use search::plan::{self, Automata, Purse, Veil};

use super::made::{Lacks, Meter};
use super::meaning::{Meaning, Sight};
use super::{aggregate, failure};
use crate::error::{Error, Result};
use crate::gate::Limits;

/// An index that a request is to meet.
pub(super) struct Asked {
    pub(super) index: Arc<Index>,
    pub(super) mapping: Arc<Mapping>,
    pub(super) boost: f32,
    pub(super) expensive: bool,
    pub(super) buckets_max: usize,
    pub(super) now_ms: i64,
    /// There where something is hidden from the caller.
    pub(super) veil: Option<Veil>,
    pub(super) automata: Arc<Automata>,
    /// Pays for what is made while it is made.
    pub(super) lease: Lease,
}

/// Why a request does not meet an index.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stopped {
    /// It would take more steps than it may.
    Steps,
    /// There was no memory for so many bytes.
    Memory(usize),
}

impl Asked {
    /// The meaning, measured, and the steps that it took of those it may take. It is paid while it is made; whoever
    /// takes it pays for what it holds.
    pub(super) fn bind(
        &self,
        steps: u64,
        request: &SearchRequest,
        sight: Sight<'_>,
        limits: &Limits,
    ) -> std::result::Result<(Result<Meaning>, u64), Stopped> {
        let meter = Meter::new(&self.lease);
        let pay = || meter.goes_on();
        let purse = Purse::of(&pay);
        let done = within(steps, || heap::left_by(|| self.meet(request, sight, limits, purse)));
        let paid = meter.end().map_err(|Lacks(bytes)| Stopped::Memory(bytes))?;
        if let Some(mut paid) = paid {
            paid.shrink_to(0);
        }
        let ((meaning, held_bytes), took) = done.map_err(|Exhausted| Stopped::Steps)?;
        Ok((meaning.map(|meaning| Meaning { held_bytes, ..meaning }), took))
    }

    fn meet(
        &self,
        request: &SearchRequest,
        sight: Sight<'_>,
        limits: &Limits,
        purse: Purse<'_>,
    ) -> Result<Meaning> {
        let (index, mapping) = (&*self.index, &*self.mapping);
        let default_fields = index.settings.list("index.query.default_field");
        let context = plan::Context {
            boost: self.boost,
            filter: sight.found,
            seen: sight.seen,
            filter_mapping: Some(&index.mapping),
            sees: limits.fields.as_deref(),
            veil: self.veil.as_ref(),
            buckets_max: self.buckets_max,
            automata: Some(&self.automata),
            purse,
            ..context_of(index, &default_fields, self.expensive, self.now_ms)
        };
        check_rescore(request, index)?;
        let bound = plan::bind(request, mapping, &context);
        let meaning = bound.and_then(|bound| {
            let mut columns = fetch::bind_columns(request, mapping, &context)?;
            columns.visible = limits.fields.clone();
            for inner in &mut columns.inner {
                inner.restrict(limits.fields.as_ref());
            }
            let second = request.rescore.iter().map(|one| {
                let asked = SearchRequest { query: Some(one.query.clone()), ..Default::default() };
                plan::bind(&asked, mapping, &plan::Context { filter: None, ..context })
            });
            let second = second.collect::<search::error::Result<Vec<_>>>()?.into();
            let tops = aggregate::bind(request, &bound, mapping, &context, limits)?;
            let uses = Arc::new(Uses::of(&bound));
            let hides = limits.filter.is_some();
            let columns = Arc::new(columns);
            Ok(Meaning { bound, second, columns, tops, uses, hides, held_bytes: 0 })
        });
        meaning.map_err(|error| {
            let error = failure::of_search(error);
            let plain = [
                "illegal_argument_exception",
                "aggregation_execution_exception",
                "script_exception",
                "resource_not_found_exception",
            ];
            if plain.contains(&&*error.kind) {
                return error;
            }
            named(error, index)
        })
    }
}

/// What a query must know of an index beside its mapping, as the index's settings say.
pub(super) fn context_of<'a>(
    index: &'a Index,
    default_fields: &'a [String],
    expensive: bool,
    now_ms: i64,
) -> plan::Context<'a> {
    let settings = &index.settings;
    plan::Context {
        default_fields,
        highlight_max: settings
            .int("index.highlight.max_analyzed_offset")
            .map_or(1_000_000, |limit| u32::try_from(limit).unwrap_or(u32::MAX)),
        regexp_max: settings.int("index.max_regex_length").unwrap_or(1000) as usize,
        expensive,
        result_window: settings.int("index.max_result_window").unwrap_or(10_000),
        docvalue_fields_max: settings.int("index.max_docvalue_fields_search").unwrap_or(100)
            as usize,
        script_fields_max: settings.int("index.max_script_fields").unwrap_or(32) as usize,
        highlight_whole: settings.flag("index.highlight.weight_matches_mode.enabled"),
        top_metrics_max: settings.int("index.top_metrics_max_size").unwrap_or(10),
        inner_window: settings.int("index.max_inner_result_window").unwrap_or(100),
        terms_max: settings.int("index.max_terms_count").unwrap_or(65_536) as usize,
        ..plan::Context::new(&index.name, now_ms)
    }
}

/// What is wrong with a query alone in an index: only Elasticsearch's own exception of that names it.
pub(super) fn of_index(error: search::Error, index: &Index) -> Error {
    let is_own = error.kind == search::error::Kind::QueryShard;
    let error = failure::of_search(error);
    if is_own { named(error, index) } else { error }
}

/// The error with the index in it.
fn named(mut error: Error, index: &Index) -> Error {
    error.meta.push(("index_uuid".into(), index.uuid_text().into()));
    error.meta.push(("index".into(), (&*index.name).into()));
    error
}

/// What a rescorer cannot go with.
pub(super) fn check_rescore(request: &SearchRequest, index: &Index) -> Result<()> {
    if request.rescore.is_empty() {
        return Ok(());
    }
    if !request.ranks_by_score() {
        return Err(Error::illegal_argument(
            "Cannot use [sort] option in conjunction with [rescore].",
        ));
    }
    let limit = index.settings.int("index.max_rescore_window").unwrap_or(10_000);
    match request.rescore.iter().find(|one| u64::from(one.window) > limit) {
        None => Ok(()),
        Some(one) => Err(Error::illegal_argument(format!(
            "Rescore window [{}] is too large. It must be less than [{limit}]. This prevents \
             allocating massive heaps for storing the results to be rescored. This limit can be set \
             by changing the [index.max_rescore_window] index level setting.",
            one.window
        ))),
    }
}
