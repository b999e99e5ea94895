//! The filter of an alias: a query, and one that each index of the alias can answer. Else every search
//! through the alias would fail, and whoever set it would not know.
//!
//! Not here: what of a filter a limited caller may ask (`filters`).

use cluster::{Index, State};
use json::Value;
use mapping::analysis::effort::{Exhausted, within};
use search::ast::{Node, Query};
use search::{dsl, plan};

use super::effort::{self, STEPS_OF_FILTER};
use super::{failure, meet};
use crate::error::{Error, Result};
use crate::gate::Gate;

/// A filter must be a query; for whom the index is not known. Whoever sets it is warned of what of it is
/// deprecated: whoever searches through the alias never sees it.
///
/// # Errors
/// With the query's error as cause.
pub(crate) fn check_query(gate: &dyn Gate, alias: &str, filter: Option<&Value>) -> Result<()> {
    let mut query = read(filter).map_err(|error| refused(alias, failure::of_search(error)))?;
    dsl::deprecated_in(&mut query).into_iter().for_each(|sentence| gate.warn(sentence));
    Ok(())
}

/// A filter must be a query that `index` can answer at `now_ms`.
///
/// # Errors
/// As [`check_query`].
pub(crate) fn check(
    state: &State,
    index: &Index,
    alias: &str,
    filter: Option<&Value>,
    now_ms: i64,
) -> Result<()> {
    let wrong = |error| refused(alias, meet::of_index(error, index));
    let Some(mut query) = read(filter).map_err(wrong)? else { return Ok(()) };
    // Nobody would look it up when the alias is searched.
    let mut looks_up = false;
    query.visit_mut(&mut |query| looks_up |= matches!(query.node, Node::TermsLookup(_)));
    if looks_up {
        let why = "async actions are left after rewrite";
        return Err(refused(alias, Error::new(500, "illegal_state_exception", why)));
    }
    let default_fields = index.settings.list("index.query.default_field");
    let expensive = state.settings.flag("search.allow_expensive_queries");
    let context = meet::context_of(index, &default_fields, expensive, now_ms);
    let checked = within(STEPS_OF_FILTER, || plan::check_query(&query, &index.mapping, &context));
    let (checked, _) =
        checked.map_err(|Exhausted| refused(alias, effort::too_costly(STEPS_OF_FILTER)))?;
    checked.map_err(wrong)
}

/// The filters of all aliases of an index that is to be made.
///
/// # Errors
/// As [`check`].
pub(crate) fn check_all(state: &State, index: &Index, now_ms: i64) -> Result<()> {
    let mut aliases = index.aliases.iter();
    aliases.try_for_each(|(name, said)| check(state, index, name, said.filter.as_deref(), now_ms))
}

/// The query; none where there is no filter, or an empty one.
fn read(filter: Option<&Value>) -> search::error::Result<Option<Query>> {
    match filter {
        Some(Value::Object(object)) if !object.is_empty() => {
            dsl::parse_query(&json::to_vec(&Value::Object(object.clone()))).map(Some)
        }
        _ => Ok(None),
    }
}

fn refused(alias: &str, cause: Error) -> Error {
    Error::illegal_argument(format!("failed to parse filter for alias [{alias}]")).caused_by(cause)
}
