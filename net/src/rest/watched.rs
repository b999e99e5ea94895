//! Requests that only look, while they run: each is a task that may be cancelled, and is given up where
//! its client has left, as Elasticsearch cancels the tasks of a closed channel.
//!
//! A client that has closed its sending half alone looks like one that has left, and is told why it gets
//! no more: as in Elasticsearch, where a channel is closed with either half. What takes less than a
//! moment (`conn`) is answered to both.
//!
//! Not here: what writes. It is done to its end, whoever waits for it; before its beginning it waits for copies
//! no longer than its client does (`copies`).

use std::pin::pin;

use engine::task::TaskSpec;
use engine::{Error, Result};
use env::Env;

use super::task::headers;
use crate::call::Call;
use crate::reply::Reply;
use crate::table::Api;

/// A longer body is told by its beginning, as it came.
const SOURCE_BYTES_MAX: usize = 4 << 10;

/// Answers a call by its route, as long as it is wanted.
///
/// # Errors
/// In Elasticsearch's words; `task_cancelled_exception` where it was given up.
pub async fn answer<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let left = call.left;
    let mut answer = pin!(super::answer(call));
    if !call.route.only_looks() {
        return answer.await;
    }
    if !call.route.is_task() {
        return left.or(answer).await.unwrap_or_else(|| Err(cancelled("channel closed")));
    }
    let mut watched = pin!(call.core.watched(|| spec(call), answer.as_mut()));
    match left.or(watched.as_mut()).await {
        Some(Ok(answered)) => answered,
        Some(Err(reason)) => Err(cancelled(&reason)),
        None => Err(cancelled("channel closed")),
    }
}

fn cancelled(reason: &str) -> Error {
    Error::new(400, "task_cancelled_exception", format!("task cancelled [{reason}]"))
}

fn spec<E: Env>(call: &Call<'_, E>) -> TaskSpec {
    TaskSpec {
        kind: "transport",
        action: call.route.privilege,
        description: description(call),
        cancellable: true,
        parent: None,
        headers: headers(call),
        owner: call.gate.owner().to_owned(),
    }
}

/// As Elasticsearch describes the request; most it does not.
fn description<E: Env>(call: &Call<'_, E>) -> String {
    let text = |name: &str| call.params.text(name).filter(|text| !text.is_empty());
    match call.route.api {
        Api::Search | Api::Count => {
            let kind = text("search_type").unwrap_or("query_then_fetch").to_uppercase();
            let mut told = format!("indices[{}], search_type[{kind}]", call.indices());
            if let Some(scroll) = text("scroll") {
                told.push_str(&format!(", scroll[{scroll}]"));
            }
            told.push_str(&format!(", source[{}]", source(call)));
            for name in ["routing", "preference"] {
                if let Some(value) = text(name) {
                    told.push_str(&format!(", {name}[{value}]"));
                }
            }
            told
        }
        Api::FieldCaps => {
            format!("indices[{}], fields[{}]", call.indices(), text("fields").unwrap_or_default())
        }
        _ => String::new(),
    }
}

/// The body, without the spaces.
fn source<E: Env>(call: &Call<'_, E>) -> String {
    let content = call.content().unwrap_or_default();
    if content.len() > SOURCE_BYTES_MAX {
        return String::from_utf8_lossy(&content[..SOURCE_BYTES_MAX]).into_owned() + "...";
    }
    json::parse(&content).map(|body| json::to_string(&body)).unwrap_or_default()
}
