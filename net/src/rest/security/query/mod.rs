//! `_security/_query/…`: a part of the query language over a few records in memory.
//!
//! The body is read by the parser of searches, so that what it refuses is refused in the same words. What
//! Elasticsearch takes here is answered: `bool`, `match_all`, `term`, `terms`, `prefix`, `wildcard`, `range`,
//! `exists`, `ids`, `match` and `simple_query_string`, on fields that are named for each family. Aggregations are
//! not there.

mod clause;
mod field;
mod order;
mod simple;

pub(super) use field::{Fields, Kind};

use engine::{Error, Result};
use env::Env;
use json::{Object, Value};
use search::dsl;

use super::body::Body;
use super::value;
use crate::call::Call;
use crate::reply::Reply;
use clause::Test;
use order::Orders;

/// The most that `from` and `size` may reach.
const WINDOW_MAX: u64 = 10_000;

/// A record: its id, what is queried, what is shown.
pub(super) struct Row {
    /// What `ids` asks for.
    pub id: String,
    /// With the fields that are queried.
    pub data: Value,
    /// What the answer holds of it.
    pub shown: Value,
}

/// A failure of the parser of searches, in its words.
fn told(error: &search::Error) -> Error {
    Error::new(400, error.kind.name(), error.reason.clone())
}

/// Answers a query over `rows`; `kind` names them in the answer.
pub(super) async fn answer<E: Env>(
    call: &Call<'_, E>,
    kind: &str,
    fields: Fields,
    mut rows: Vec<Row>,
) -> Result<Reply> {
    let body = call.map().await?.unwrap_or_else(Value::object);
    Body::new(&body, "query request", &["query", "from", "size", "sort", "search_after"])?;
    let asked =
        call.read(|content| dsl::parse_search(content, &[]).map_err(|error| told(&error))).await?;
    let (from, size) = (u64::from(asked.from), u64::from(asked.size));
    if from + size > WINDOW_MAX {
        return Err(Error::validation(&[format!(
            "Result window is too large, from + size must be less than or equal to: [{WINDOW_MAX}] \
             but was [{}]",
            from + size
        )]));
    }
    let now_ms = call.now_ms();
    if let Some(query) = &asked.query {
        if let Some(query) = body.get("query") {
            clause::check_kinds(query)?;
        }
        let test = Test::of(query, fields, now_ms)?;
        rows.retain(|row| test.fits(row));
    }
    let orders = Orders::of(&asked.sort, fields)?;
    let total = rows.len();
    let mut rows = orders.sorted(rows);
    if let Some(after) = &asked.search_after {
        let place = orders.place(after, now_ms)?;
        rows.retain(|(keys, _)| orders.compare(keys, &place).is_gt());
    }
    let page: Vec<Value> = rows
        .into_iter()
        .skip(from as usize)
        .take(size as usize)
        .map(|(keys, row)| {
            let mut shown = row.shown;
            if let (false, Some(shown)) = (orders.is_empty(), shown.as_object_mut()) {
                shown.insert("_sort", orders.show(&keys));
            }
            shown
        })
        .collect();
    let mut answer = Object::new();
    answer.insert("total", total);
    answer.insert("count", page.len());
    answer.insert(kind, page);
    Ok(value(200, &Value::Object(answer)))
}

#[cfg(test)]
mod tests;
