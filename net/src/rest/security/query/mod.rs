//! `_security/_query/…`: a part of the query language over a few records in memory.
//!
//! The body is read by the parser of searches, so that what it refuses is refused in the same words. What
//! Elasticsearch takes here is answered: `bool`, `match_all`, `term`, `terms`, `prefix`, `wildcard`, `range`,
//! `exists`, `ids`, `match` and `simple_query_string`, on fields that are named for each family. Aggregations are
//! there where Elasticsearch has them: over API keys.

mod aggs;
mod clause;
mod field;
mod order;
mod simple;
mod tally;

pub(super) use field::{Fields, Kind};

use engine::{Error, Result};
use env::{Env, Spawn};
use json::{Value, Writer};
use search::dsl;

use super::body::Body;
use super::listing::Listing;
use crate::call::Call;
use crate::render::aggs::How;
use crate::reply::Reply;
use clause::Test;
use order::Orders;
use tally::Tally;

/// The most that `from` and `size` may reach.
const WINDOW_MAX: u64 = 10_000;

/// A record as it is looked at.
struct Row<'r> {
    /// What `ids` asks for.
    id: &'r str,
    /// With the fields that are queried.
    data: &'r Value,
}

/// Records of one kind.
pub(super) trait Records {
    /// One of them.
    type One;

    /// They are aggregated, too.
    const AGGREGATED: bool = false;

    /// What `ids` asks for.
    fn id<'r>(&self, one: &'r Self::One) -> &'r str;

    /// With the fields that are queried; made for a look at it, and dropped then.
    fn data(&self, one: &Self::One) -> Value;

    /// What the answer holds of it.
    fn shown(&self, one: &Self::One) -> Value;
}

/// A failure of the parser of searches, in its words.
fn told(error: &search::Error) -> Error {
    Error::new(400, error.kind.name(), error.reason.clone())
}

/// What a record takes that was found, beside what it is compared by.
const FOUND_BYTES: usize = 64;

/// Answers a query over `all` of the records; `kind` names them in the answer.
pub(super) async fn answer<E: Env, R: Records>(
    call: &Call<'_, E>,
    kind: &str,
    fields: Fields,
    (records, all): (R, Vec<R::One>),
) -> Result<Reply> {
    let body = call.map().await?.unwrap_or_else(Value::object);
    let known = ["query", "from", "size", "sort", "search_after", "aggs", "aggregations"];
    let known = if R::AGGREGATED { &known[..] } else { &known[..5] };
    Body::new(&body, "query request", known)?;
    let mut asked =
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
    let test = match &asked.query {
        None => None,
        Some(query) => {
            if let Some(query) = body.get("query") {
                clause::check_kinds(query)?;
            }
            Some(Test::of(query, fields, now_ms)?)
        }
    };
    let orders = Orders::of(&asked.sort, fields)?;
    let after = match &asked.search_after {
        None => None,
        Some(after) => Some(orders.place(after, now_ms)?),
    };
    for name in ["aggs", "aggregations"] {
        body.get(name).map_or(Ok(()), aggs::check_kinds)?;
    }
    let mut tally = Tally::of(std::mem::take(&mut asked.aggs), fields, now_ms)?;
    let mut page = Listing::new(call, kind)?;
    if let Some(tally) = &mut tally {
        tally.begin(&mut page)?;
    }
    let spawn = call.core.env().spawn();
    let (mut total, mut found) = (0_u64, Vec::new());
    for (place, one) in all.iter().enumerate() {
        spawn.yield_if_needed().await;
        let needs_data = test.is_some() || tally.is_some() || !orders.is_empty();
        let data = if needs_data { records.data(one) } else { Value::Null };
        let row = Row { id: records.id(one), data: &data };
        if let Some(test) = &test
            && !test.fits(&row, spawn).await
        {
            continue;
        }
        total += 1;
        if let Some(tally) = &mut tally {
            tally.add(&row, &mut page, spawn).await?;
        }
        let keys = orders.keys(place, &data);
        if after.as_ref().is_none_or(|after| orders.compare(&keys, after).is_gt()) {
            page.pay(FOUND_BYTES + order::weight(&keys))?;
            found.push((keys, one));
        }
    }
    orders.sort(&mut found, |one| records.id(one));
    let skipped = usize::try_from(from).unwrap_or(usize::MAX);
    let found = found.iter().skip(skipped).take(usize::try_from(size).unwrap_or(usize::MAX));
    page.begin(&[("total", Value::from(total)), ("count", Value::from(found.len()))]);
    for (keys, one) in found {
        let mut shown = records.shown(one);
        if let (false, Some(shown)) = (orders.is_empty(), shown.as_object_mut()) {
            shown.insert("_sort", orders.show(keys));
        }
        page.add(&shown).await?;
    }
    page.close();
    if let Some(tally) = tally {
        aggregations(call, tally, &mut page).await?;
    }
    Ok(page.end_as_is(200))
}

/// Writes what aggregations found behind the records.
async fn aggregations<E: Env>(
    call: &Call<'_, E>,
    tally: Tally,
    page: &mut Listing<'_, '_, E>,
) -> Result<()> {
    let most = call.core.state().settings.int("search.max_buckets").unwrap_or(65_536);
    let most = usize::try_from(most).unwrap_or(0);
    let spawn = call.core.env().spawn();
    let found = match tally.is_short() {
        true => tally.finish(most)?,
        false => {
            let done = spawn.work(move || tally.finish(most)).await;
            done.map_err(|_| Error::rejected("too many requests wait for a worker"))??
        }
    };
    let how = How { typed: call.params.flag("typed_keys", false)?, total_as_int: false };
    let mut text = Vec::new();
    let mut writer = Writer::new(&mut text);
    writer.begin_object();
    let pause = async |written| crate::rest::long_answer::pause(call.core.env(), written).await;
    crate::render::aggs::aggregations(&mut writer, found, how, &pause).await;
    writer.end_object();
    page.add_members(&text)
}

#[cfg(test)]
mod tests;
