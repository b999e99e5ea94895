//! `_search` and `_count`.

use engine::ops::IndicesOptions;
use engine::ops::search::SearchCall;
use engine::{Error, Result};
use env::{Bytes, Env};
use search::dsl::{COUNT_PARAMS, SEARCH_PARAMS};

use super::document::preference;
use super::written::Writing;
use crate::call::Call;
use crate::fail;
use crate::render::search::{self as render, Manner};
use crate::reply::Reply;

/// `GET|POST /_search`, `/{index}/_search`.
pub(super) async fn search<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    if call.is_blank()? {
        return Err(fail::nothing("Expected [START_OBJECT] but found [null]"));
    }
    let request = request(call, &SEARCH_PARAMS)?;
    run(call, request).await
}

/// Runs a search that was read.
pub(super) async fn run<E: Env>(call: &Call<'_, E>, mut request: SearchCall) -> Result<Reply> {
    check(call)?;
    request.partial_results = call.params.flag("allow_partial_search_results", true)?;
    let total_as_int = call.params.flag("rest_total_hits_as_int", false)?;
    if total_as_int {
        exact_total(call, &mut request).await?;
    }
    let reply = call.core.search(call.gate, &request).await?;
    // The answer repeats the hits.
    let bytes = reply.memory.as_ref().map_or(0, |memory| memory.bytes());
    let (writing, mut body) = Writing::begin(call, bytes)?;
    let node = call.core.shared().config.info.id.as_str();
    let typed_keys = call.params.flag("typed_keys", false)?;
    let manner = Manner { total_as_int, typed_keys, node, trace: call.trace };
    let pause = async |written| writing.pause(written).await;
    render::answer(&mut json::Writer::new(&mut body), reply, manner, &pause).await;
    writing.end(200, body)
}

/// `GET|POST /_count`, `/{index}/_count`.
pub(super) async fn count<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let request = request(call, &COUNT_PARAMS)?;
    let reply = call.core.count(call.gate, &request).await?;
    let node = call.core.shared().config.info.id.as_str();
    let manner = Manner { total_as_int: false, typed_keys: false, node, trace: call.trace };
    Ok(call.json(200, |writer| render::count(writer, &reply, manner)))
}

/// What the address says of a search; its body as it was sent.
pub(super) fn request<E: Env>(call: &Call<'_, E>, known: &[&str]) -> Result<SearchCall> {
    let params = call
        .params
        .iter()
        .filter(|(name, _)| known.contains(name))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    Ok(SearchCall {
        indices: call.indices().to_owned(),
        options: call.params.indices_options(IndicesOptions::default())?,
        body: call.content()?,
        params,
        partial_results: true,
        routing: call.params.list("routing"),
        preference: preference(call)?,
        scroll: super::scroll::keep_alive(call, "scroll")?,
        shards_unfiltered_max: count_of(call, "pre_filter_shard_size")?,
        reduce_at_once: count_of(call, "batched_reduce_size")?,
        request_cache: match call.params.text("request_cache") {
            Some(_) => Some(call.params.flag("request_cache", false)?),
            None => None,
        },
    })
}

/// A count that was judged before, where it was given.
pub(super) fn count_of<E: Env>(call: &Call<'_, E>, name: &str) -> Result<Option<u32>> {
    let count = call.params.int(name)?;
    Ok(count.map(|count| u32::try_from(count).unwrap_or(u32::MAX)))
}

/// A total that is a number must be exact, and is made so where nothing was said.
pub(super) async fn exact_total<E: Env>(
    call: &Call<'_, E>,
    request: &mut SearchCall,
) -> Result<()> {
    let inexact = |given: &str| {
        Err(Error::illegal_argument(format!(
            "[rest_total_hits_as_int] cannot be used if the tracking of total hits is not \
             accurate, got {given}"
        )))
    };
    let given = request.params.iter().find(|(name, _)| name == "track_total_hits");
    if let Some((_, value)) = given {
        return match value.as_str() {
            "true" | "false" | "" => Ok(()),
            other => inexact(other),
        };
    }
    // A body that cannot be read is told about by whoever reads it whole.
    let read = |body: &Bytes| {
        let body = json::parse(body).unwrap_or_default();
        Ok(body.get("track_total_hits").cloned())
    };
    match call.core.read_text(request.body.clone(), read).await? {
        None => request.params.push(("track_total_hits".to_owned(), "true".to_owned())),
        Some(value) if value.as_bool().is_some() => {}
        Some(value) => return inexact(&json::to_string(&value)),
    }
    Ok(())
}

/// Parameters that choose nothing here, but may be wrong.
fn check<E: Env>(call: &Call<'_, E>) -> Result<()> {
    if call.params.text("scroll").is_some() && call.params.flag("request_cache", false)? {
        return Err(Error::validation(&["[request_cache] cannot be used in a scroll context"]));
    }
    check_type(call.params.text("search_type"))?;
    if let Some(version) = call.params.text("min_compatible_shard_node") {
        check_version(version)?;
    }
    if call.params.int("batched_reduce_size")?.is_some_and(|size| size < 2) {
        return Err(Error::illegal_argument("batchedReduceSize must be >= 2"));
    }
    check_shards_at_once(call)
}

/// How many shards are asked, and when they are looked at before, is at least one.
pub(super) fn check_shards_at_once<E: Env>(call: &Call<'_, E>) -> Result<()> {
    for (name, java) in [
        ("max_concurrent_shard_requests", "maxConcurrentShardRequests"),
        ("pre_filter_shard_size", "preFilterShardSize"),
    ] {
        if call.params.int(name)?.is_some_and(|count| count < 1) {
            return Err(Error::illegal_argument(format!("{java} must be >= 1")));
        }
    }
    Ok(())
}

/// How statistics are gathered.
pub(super) fn check_type(text: Option<&str>) -> Result<()> {
    match text {
        None | Some("query_then_fetch" | "dfs_query_then_fetch") => Ok(()),
        Some(other) => Err(Error::illegal_argument(format!("No search type for [{other}]"))),
    }
}

/// A version that each node must have: this one's is the only one.
fn check_version(text: &str) -> Result<()> {
    let numbers = |text: &str| -> Option<Vec<u32>> {
        let numbers = text.split('.').map(|part| part.parse().ok()).collect::<Option<Vec<u32>>>();
        numbers.filter(|numbers| numbers.len() == 3)
    };
    let wanted = numbers(text).ok_or_else(|| {
        let reason = format!(
            "the version needs to contain major, minor, and revision, and optionally the build: {text}"
        );
        Error::illegal_argument(reason)
    })?;
    if Some(wanted) <= numbers(super::VERSION) {
        return Ok(());
    }
    Err(Error::new(
        400,
        "version_mismatch_exception",
        format!("One of the shards is incompatible with the required minimum version [{text}]"),
    ))
}
