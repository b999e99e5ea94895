//! `_msearch`: several searches in one request.
//!
//! Lines come in pairs: where and how, then what. A line that cannot be read fails the request, a
//! search that fails fails alone.

use std::time::Duration;

use engine::ops::IndicesOptions;
use engine::ops::search::{SearchCall, SearchReply};
use engine::{Error, Result};
use env::{Bytes, Clock, Env, Spawn};
use json::{Value, Writer};
use mapping::types::boolean;

use super::written::Writing;
use crate::call::Call;
use crate::fail;
use crate::render::search::{self as render, Manner};
use crate::reply::Reply;

/// Searches that are under way at the same time where nothing is said.
const CONCURRENT: usize = 8;

/// `GET|POST /_msearch`, `/{index}/_msearch`.
pub(super) async fn multi_search<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    // What cannot be read fails all of them.
    multi_search_by(call, async |search| {
        call.core.check_search(search).await?;
        Ok(Ok(search.body.clone()))
    })
    .await
}

/// Why all searches fail because of one.
pub(super) enum Refusal {
    /// This; the others are not looked at.
    Error(Error),
    /// What a search lacks; it is told with what the others lack.
    Lack(&'static str),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

/// Several searches, the body of each made and read by `make`: what it refuses fails all of them, what it made nothing
/// of its own search alone.
pub(super) async fn multi_search_by<E: Env>(
    call: &Call<'_, E>,
    make: impl AsyncFn(&SearchCall) -> std::result::Result<Result<Bytes>, Refusal>,
) -> Result<Reply> {
    let begin = call.core.env().clock().monotonic();
    let content = call.content()?;
    if content.is_empty() && call.is_blank()? {
        return Err(Error::validation(&["no requests added"]));
    }
    if content.is_empty() {
        return Err(Error::parse("request body or source parameter is required"));
    }
    if call.params.int("max_concurrent_searches")?.is_some_and(|count| count < 1) {
        return Err(Error::illegal_argument("maxConcurrentSearchRequests must be positive"));
    }
    super::search::check_type(call.params.text("search_type"))?;
    let total_as_int = call.params.flag("rest_total_hits_as_int", false)?;
    let mut asked = read(call, &content).await?;
    if asked.is_empty() {
        return Err(Error::validation(&["no requests added"]));
    }
    let mut failed: Vec<Option<Error>> = Vec::with_capacity(asked.len());
    let mut lacks = Vec::new();
    for search in &mut asked {
        let made = match make(search).await {
            Ok(made) => made,
            Err(Refusal::Error(error)) => return Err(error),
            Err(Refusal::Lack(problem)) => {
                lacks.push(problem);
                continue;
            }
        };
        match made {
            Ok(body) => search.body = body,
            Err(error) => {
                search.body = Bytes::empty();
                failed.push(Some(error));
                continue;
            }
        }
        failed.push(None);
        if total_as_int {
            super::search::exact_total(call, search).await?;
        }
        call.core.env().spawn().yield_if_needed().await;
    }
    if !lacks.is_empty() {
        return Err(Error::validation(&lacks));
    }
    super::search::check_shards_at_once(call)?;
    let concurrent = call.params.int("max_concurrent_searches")?;
    let concurrent = concurrent.map_or(CONCURRENT, |count| (count as usize).min(CONCURRENT));
    let mut replies = Vec::with_capacity(asked.len());
    let lease = call.core.lease();
    while replies.len() < asked.len() {
        let left = &asked[replies.len()..];
        // Where memory is scarce they come one by one.
        let some = &left[..left.len().min(if lease.is_scarce() { 1 } else { concurrent })];
        // Three thousand searches are no small thing because each of them is: what is kept for such is left to others.
        if !replies.is_empty() && !lease.leaves_small() {
            replies.push(Err(Error::no_memory("searches", SEARCH_BYTES, lease.total_bytes())));
            call.core.env().spawn().yield_if_needed().await;
            continue;
        }
        let under_way = some.iter().map(|one| Box::pin(call.core.search(call.gate, one))).collect();
        replies.extend(env::join_in_turns(call.core.env().clock(), under_way).await);
    }
    for (reply, failed) in replies.iter_mut().zip(failed) {
        if let Some(error) = failed {
            *reply = Err(error);
        }
    }
    let failed = replies.iter().filter_map(|reply| reply.as_ref().err());
    failed.for_each(|error| call.told.borrow_mut().failed(error));
    let took = call.core.env().clock().monotonic().saturating_sub(begin);
    let hits = replies.iter().flatten().filter_map(|reply| reply.memory.as_ref());
    // The answer repeats them.
    let bytes = hits.map(|memory| memory.bytes()).sum();
    answer(call, took, (replies, bytes), total_as_int).await
}

/// What a search is said to take where it is not even begun.
const SEARCH_BYTES: usize = 64 << 10;

/// What is written around an error, at most.
const ERROR_BYTES: usize = 64;

async fn answer<E: Env>(
    call: &Call<'_, E>,
    took: Duration,
    (replies, bytes): (Vec<Result<SearchReply>>, usize),
    total_as_int: bool,
) -> Result<Reply> {
    let node = call.core.shared().config.info.id.as_str();
    // It was looked at when the request was routed.
    let typed_keys = call.params.flag("typed_keys", false).unwrap_or(false);
    let manner = Manner { total_as_int, typed_keys, node, trace: call.trace };
    let told = |error: &Error| {
        let mut text = Vec::new();
        fail::whole(&mut Writer::new(&mut text), error, call.trace);
        (error.status, text)
    };
    let replies: Vec<_> =
        replies.into_iter().map(|reply| reply.map_err(|error| told(&error))).collect();
    let errors = replies.iter().filter_map(|reply| reply.as_ref().err());
    let bytes = errors.fold(bytes, |bytes, (_, text)| bytes + ERROR_BYTES + text.len());
    let (writing, mut body) = Writing::begin(call, bytes)?;
    let pause = async |written| writing.pause(written).await;
    let mut writer = Writer::new(&mut body);
    writer.begin_object().field_u64("took", took.as_millis() as u64);
    writer.key("responses").begin_array();
    for reply in replies {
        writer.begin_object();
        match reply {
            Ok(reply) => {
                render::members(&mut writer, reply, manner, &pause).await;
                writer.field_u64("status", 200);
            }
            Err((status, error)) => {
                writer.key("error").raw(&error).field_u64("status", u64::from(status));
            }
        }
        writer.end_object();
        call.core.env().spawn().yield_if_needed().await;
    }
    writer.end_array().end_object();
    writing.end(200, body)
}

/// Reads the pairs of lines.
async fn read<E: Env>(call: &Call<'_, E>, content: &Bytes) -> Result<Vec<SearchCall>> {
    if content.last() != Some(&b'\n') {
        return Err(Error::illegal_argument(
            "The msearch request must be terminated by a newline [\\n]",
        ));
    }
    let defaults = SearchCall {
        // What the path says outweighs the parameter of that name.
        indices: call
            .path
            .get("index")
            .or(call.params.text("index"))
            .unwrap_or_default()
            .to_owned(),
        options: call.params.indices_options(IndicesOptions::default())?,
        partial_results: true,
        routing: call.params.list("routing"),
        shards_unfiltered_max: super::search::count_of(call, "pre_filter_shard_size")?,
        params: ["include_named_queries_score", "search_type"]
            .into_iter()
            .filter_map(|name| Some((name.to_owned(), call.params.text(name)?.to_owned())))
            .collect(),
        ..SearchCall::default()
    };
    let mut asked = Vec::new();
    let mut at = 0;
    while let Some(end) = memchr::memchr(b'\n', &content[at..]) {
        let head = content.slice(at..at + end).unwrap_or_default();
        at += end + 1;
        // An empty first line is tolerated; an empty head says nothing.
        if at == 1 && memchr::memchr(b'\n', &content[at..]).is_none() {
            break;
        }
        let mut one = defaults.clone();
        if !head.iter().all(u8::is_ascii_whitespace) {
            let head = call.core.read_text(head, |head| fail::tree(head)).await?;
            header(call, &head, &mut one)?;
        }
        let Some(end) = memchr::memchr(b'\n', &content[at..]) else { break };
        one.body = content.slice(at..at + end).unwrap_or_default();
        at += end + 1;
        asked.push(one);
        call.core.env().spawn().yield_if_needed().await;
    }
    Ok(asked)
}

/// Where a search looks, and how it reads names.
fn header<E: Env>(call: &Call<'_, E>, head: &Value, one: &mut SearchCall) -> Result<()> {
    let Some(members) = head.as_object() else {
        return Err(Error::illegal_argument(format!(
            "Expected [START_OBJECT] but found [{}]",
            head.token()
        )));
    };
    for (key, value) in members.iter() {
        let flag = || match value {
            Value::Bool(flag) => Ok(*flag),
            Value::String(text) => crate::params::flag(text),
            _ => Err(Error::illegal_argument(boolean::neither(&json::to_string(value)))),
        };
        match key {
            "index" | "indices" => match value {
                Value::String(name) => one.indices.clone_from(name),
                Value::Array(names) => {
                    let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
                    one.indices = names.join(",");
                }
                Value::Null => {}
                other => {
                    return Err(Error::illegal_argument(format!(
                        "{key} must be a string or an array of strings, but was [{}]",
                        other.token()
                    )));
                }
            },
            "search_type" | "searchType" => {
                if let Some(text) = value.as_str() {
                    super::search::check_type(Some(text))?;
                    one.params.push(("search_type".to_owned(), text.to_owned()));
                }
            }
            "routing" => {
                let text = match value {
                    Value::String(text) => text.clone(),
                    other => json::to_string(other),
                };
                one.routing = text.split(',').map(str::to_owned).collect();
            }
            "preference" => {
                let text = value.as_str().unwrap_or_default();
                one.preference = super::document::preference_of(call, text)?;
            }
            "allow_partial_search_results" => one.partial_results = flag()?,
            "ignore_unavailable" | "ignoreUnavailable" => {
                one.options.ignore_unavailable = flag()?;
            }
            "allow_no_indices" | "allowNoIndices" => one.options.allow_no_indices = flag()?,
            "expand_wildcards" | "expandWildcards" => {
                let words = match value {
                    Value::String(words) => words.clone(),
                    Value::Array(words) => {
                        words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(",")
                    }
                    other => json::to_string(other),
                };
                one.options = crate::params::expand_wildcards(one.options, &words)?;
            }
            "request_cache" | "requestCache" => one.request_cache = Some(flag()?),
            "ccs_minimize_roundtrips"
            | "ccsMinimizeRoundtrips"
            | "ignore_throttled"
            | "ignoreThrottled" => {}
            other => {
                return Err(Error::illegal_argument(format!(
                    "key [{other}] is not supported in the metadata section"
                )));
            }
        }
    }
    Ok(())
}
