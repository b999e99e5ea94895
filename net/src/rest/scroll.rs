//! Searches that stay open: `_search/scroll`, `_pit`.

use engine::ops::IndicesOptions;
use engine::ops::scroll::MomentCall;
use engine::ops::search::KeepAlive;
use engine::{Error, Result};
use env::Env;
use json::Value;

use super::document::preference;
use super::written::Writing;
use crate::call::Call;
use crate::fail;
use crate::params;
use crate::render::search::{self as render, Manner};
use crate::reply::Reply;

/// `GET|POST /_search/scroll`, `/_search/scroll/{scroll_id}`.
pub(super) async fn next<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let mut id = ids_of_url(call).into_iter().next();
    let mut keep_alive = keep_alive(call, "scroll")?;
    for (key, value) in body(call).await?.as_object().into_iter().flat_map(|it| it.iter()) {
        match (key, value) {
            ("scroll_id", Value::String(text)) => id = Some(text.clone()),
            ("scroll", Value::String(text)) => keep_alive = Some(read_keep_alive("scroll", text)?),
            _ => return Err(unknown(key, value)),
        }
    }
    let Some(id) = id else { return Err(Error::validation(&["scrollId is missing"])) };
    let reply = call.core.scroll(call.gate, &id, keep_alive.as_ref()).await?;
    let total_as_int = call.params.flag("rest_total_hits_as_int", false)?;
    // The answer repeats the hits.
    let bytes = reply.memory.as_ref().map_or(0, |memory| memory.bytes());
    let (writing, mut body) = Writing::begin(call, bytes)?;
    let node = call.core.shared().config.info.id.as_str();
    let manner = Manner { total_as_int, typed_keys: false, node, trace: call.trace };
    let pause = async |written| writing.pause(written).await;
    render::answer(&mut json::Writer::new(&mut body), reply, manner, &pause).await;
    writing.end(200, body)
}

/// `DELETE /_search/scroll`, `/_search/scroll/{scroll_id}`.
pub(super) async fn clear<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let mut ids = ids_of_url(call);
    let body = body(call).await?;
    for (key, value) in body.as_object().into_iter().flat_map(|it| it.iter()) {
        match (key, value) {
            ("scroll_id", Value::String(text)) => ids = vec![text.clone()],
            ("scroll_id", Value::Array(list)) => {
                let texts: Option<Vec<String>> =
                    list.iter().map(|one| one.as_str().map(str::to_owned)).collect();
                ids = texts.ok_or_else(|| {
                    Error::illegal_argument("scroll_id array element should only contain scroll_id")
                })?;
            }
            _ => return Err(unknown(key, value)),
        }
    }
    if ids.is_empty() {
        return Err(Error::validation(&["no scroll ids specified"]));
    }
    let all = ids.iter().any(|id| id == "_all");
    let freed = call.core.clear_scroll(call.gate, (!all).then_some(&ids)).await?;
    // Whoever names scrolls is told where none was there; who wants all gone has what he wants.
    let status = if freed > 0 || all { 200 } else { 404 };
    Ok(freed_reply(call, status, freed))
}

fn freed_reply<E: Env>(call: &Call<'_, E>, status: u16, freed: usize) -> Reply {
    call.json(status, |writer| {
        writer
            .begin_object()
            .field_bool("succeeded", true)
            .field_u64("num_freed", freed as u64)
            .end_object();
    })
}

/// `POST /{index}/_pit`.
pub(super) async fn open_moment<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let preference = preference(call)?;
    let Some(keep_alive) = keep_alive(call, "keep_alive")? else {
        return Err(Error::validation(&["[keep_alive] is not specified"]));
    };
    if let Some((key, _)) = body(call).await?.as_object().and_then(|body| body.iter().next()) {
        let place = call.place_of(key).await?;
        return Err(fail::unknown_field("open_point_in_time_request", key, place));
    }
    let asked = MomentCall {
        indices: call.indices().to_owned(),
        options: call.params.indices_options(IndicesOptions::default())?,
        routing: call.params.list("routing"),
        preference,
        keep_alive,
    };
    let reply = call.core.open_moment(call.gate, &asked).await?;
    Ok(call.json(200, |writer| {
        writer.begin_object().field_str("id", &reply.id).key("_shards").begin_object();
        writer
            .field_u64("total", u64::from(reply.shards.total))
            .field_u64("successful", u64::from(reply.shards.successful))
            .field_u64("skipped", u64::from(reply.shards.skipped))
            .field_u64("failed", u64::from(reply.shards.failed))
            .end_object()
            .end_object();
    }))
}

/// `DELETE /_pit`.
pub(super) async fn close_moment<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let mut id = None;
    for (key, value) in body(call).await?.as_object().into_iter().flat_map(|it| it.iter()) {
        match (key, value) {
            ("id", Value::String(text)) => id = Some(text.clone()),
            _ => {
                let place = call.place_of(key).await?;
                return Err(fail::unknown_field("close_point_in_time_request", key, place));
            }
        }
    }
    let Some(id) = id else {
        return Err(Error::illegal_argument("Required [id]"));
    };
    let freed = call.core.close_moment(call.gate, &id).await?;
    Ok(freed_reply(call, if freed > 0 { 200 } else { 404 }, freed))
}

/// Identifiers in the path or the query.
fn ids_of_url<E: Env>(call: &Call<'_, E>) -> Vec<String> {
    let text = call.path.get("scroll_id").or_else(|| call.params.text("scroll_id"));
    let parts = text.unwrap_or_default().split(',');
    parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// The body as an object; empty where there is none.
async fn body<E: Env>(call: &Call<'_, E>) -> Result<Value> {
    call.read(|content| {
        if content.is_empty() {
            return Ok(Value::object());
        }
        match fail::tree(content)? {
            value @ Value::Object(_) => Ok(value),
            _ => Err(Error::illegal_argument("Malformed content, must start with an object")),
        }
    })
    .await
}

fn unknown(key: &str, value: &Value) -> Error {
    Error::illegal_argument(format!(
        "Unknown parameter [{key}] in request body or parameter is of the wrong type[{}] ",
        value.token()
    ))
}

/// For how long something is kept, where the query of the URL says.
pub(super) fn keep_alive<E: Env>(call: &Call<'_, E>, name: &str) -> Result<Option<KeepAlive>> {
    call.params.text(name).map(|text| read_keep_alive(name, text)).transpose()
}

fn read_keep_alive(name: &str, text: &str) -> Result<KeepAlive> {
    let ms = params::time_ms(name, text)?.unwrap_or(u64::MAX);
    Ok(KeepAlive { ms, text: text.to_owned() })
}
