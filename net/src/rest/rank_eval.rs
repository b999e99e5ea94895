//! `_rank_eval`: how good searches are, by ratings of what they should find.

mod metric;
mod read;

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::ops::IndicesOptions;
use engine::ops::search::{SearchCall, SearchReply};
use engine::{Error, Result};
use env::{Bytes, Env, Spawn};
use json::{Value, Writer};
use search::result::Hit;

use crate::call::Call;
use crate::fail;
use crate::render::search::hit;
use crate::reply::Reply;
use metric::{Metric, Quality};
use read::{Asked, Rated, Search};

/// Searches that are under way at the same time, at most.
const CONCURRENT_MAX: usize = 8;

/// A search that was judged, or why it was not.
struct Judged<'a> {
    rated: &'a Rated,
    outcome: Result<(Quality, SearchReply)>,
}

/// `GET|POST /_rank_eval`, `/{index}/_rank_eval`.
pub(super) async fn rank_eval<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    if call.is_blank()? {
        return Err(fail::nothing_for("rank_eval"));
    }
    if call.content()?.is_empty() {
        return Err(Error::parse("request body or source parameter is required"));
    }
    super::search::check_type(call.params.text("search_type"))?;
    let kind = call.params.text("search_type").map(|kind| ("search_type".into(), kind.into()));
    let base = SearchCall {
        indices: call.indices().to_owned(),
        options: call.params.indices_options(IndicesOptions::default())?,
        params: kind.into_iter().collect(),
        partial_results: true,
        ..SearchCall::default()
    };
    let asked = call.read(read::read).await?;
    call.core.check_reach(call.gate, None, &base).await?;
    let concurrent = usize::try_from(asked.concurrent).unwrap_or(1).min(CONCURRENT_MAX);
    let mut judged: Vec<Judged<'_>> = Vec::with_capacity(asked.requests.len());
    for some in asked.requests.chunks(concurrent) {
        let under_way = some.iter().map(|rated| Box::pin(judge(call, &base, &asked, rated)));
        judged.extend(env::join_in_turns(call.core.env().clock(), under_way.collect()).await);
        call.core.env().spawn().yield_if_needed().await;
    }
    let failed = || judged.iter().filter_map(|one| one.outcome.as_ref().err());
    if let Some(denied) = failed().find(|error| error.status == 403) {
        return Err(denied.clone());
    }
    failed().for_each(|error| call.told.borrow_mut().failed(error));
    let hits = judged.iter().filter_map(|one| one.outcome.as_ref().ok()?.1.memory.as_ref());
    // The answer repeats them.
    let room = call.core.room("fetched_hits", hits.map(|memory| memory.bytes()).sum())?;
    let mut body = super::long_answer::place(room.bytes());
    answer(call, &mut Writer::new(&mut body), &asked, &judged).await;
    Ok(Reply::json(200, body).counted(room))
}

/// Does one of the searches.
async fn judge<'a, E: Env>(
    call: &Call<'_, E>,
    base: &SearchCall,
    asked: &Asked,
    rated: &'a Rated,
) -> Judged<'a> {
    let outcome = async {
        let body = body_of(call, asked, rated).await?;
        let search = SearchCall { body: Bytes::from(json::to_vec(&body)), ..base.clone() };
        let reply = call.core.search(call.gate, &search).await?;
        let ratings: Vec<Option<i32>> =
            reply.result.hits.iter().map(|hit| rating(rated, hit)).collect();
        Ok((asked.metric.evaluate(&ratings, &rated.all), reply))
    };
    Judged { rated, outcome: outcome.await }
}

/// The search with what the metric needs of it: so many hits, and of each what is to be shown.
async fn body_of<E: Env>(call: &Call<'_, E>, asked: &Asked, rated: &Rated) -> Result<Value> {
    let mut body = match &rated.search {
        Search::Body(body) => body.clone(),
        Search::Template { id, params } => {
            let Some(script) = asked.templates.get(id) else {
                return Err(Error::illegal_argument(format!("no template [{id}] was given")));
            };
            let mut script = script.clone();
            script.params = params.clone();
            let text = call.core.render_template(&Arc::new(script)).await?;
            let body = call.core.read_text(Bytes::from(text.into_bytes()), |text| fail::tree(text));
            let body = body.await?;
            read::check(&body)?;
            body
        }
    };
    let Some(members) = body.as_object_mut() else {
        return Err(Error::parse("a search must be an object"));
    };
    members.insert("size", i64::from(asked.metric.window()));
    let shown = rated.summary.iter().cloned().map(Value::String).collect();
    members.insert(
        "_source",
        if rated.summary.is_empty() { Value::Bool(false) } else { Value::Array(shown) },
    );
    Ok(body)
}

fn rating(rated: &Rated, hit: &Hit) -> Option<i32> {
    let key = (hit.index.to_string(), hit.id.as_deref()?.to_owned());
    rated.ratings.get(&key).copied()
}

async fn answer<E: Env>(
    call: &Call<'_, E>,
    writer: &mut Writer<'_>,
    asked: &Asked,
    judged: &[Judged<'_>],
) {
    // Of two requests of one id that went alike the later one counts.
    let (mut good, mut bad) = (BTreeMap::new(), BTreeMap::new());
    for Judged { rated, outcome } in judged {
        match outcome {
            Ok(found) => drop(good.insert(&rated.id, (rated, found))),
            Err(error) => drop(bad.insert(&rated.id, error)),
        }
    }
    let sum: f64 = good.values().map(|(_, (quality, _))| quality.score).sum();
    writer.begin_object().key("metric_score");
    number(writer, sum / good.len() as f64);
    writer.key("details").begin_object();
    for (id, (rated, (quality, reply))) in good {
        writer.key(id).begin_object();
        detail(writer, (rated, asked.metric), quality, &reply.result.hits);
        writer.end_object();
        call.core.env().spawn().yield_if_needed().await;
    }
    writer.end_object().key("failures").begin_object();
    for (id, error) in bad {
        writer.key(id).begin_object().key("error");
        fail::whole(writer, error, call.trace);
        writer.end_object();
        call.core.env().spawn().yield_if_needed().await;
    }
    writer.end_object().end_object();
}

fn detail(
    writer: &mut Writer<'_>,
    (rated, metric): (&Rated, Metric),
    quality: &Quality,
    hits: &[Hit],
) {
    writer.key("metric_score");
    number(writer, quality.score);
    writer.key("unrated_docs").begin_array();
    for hit in hits.iter().filter(|hit| rating(rated, hit).is_none()) {
        let id = hit.id.as_deref().unwrap_or_default();
        writer.begin_object().field_str("_index", &hit.index).field_str("_id", id).end_object();
    }
    writer.end_array().key("hits").begin_array();
    for one in hits {
        writer.begin_object().key("hit");
        hit(writer, one, false);
        match rating(rated, one) {
            Some(rating) => writer.key("rating").i64(rating.into()),
            None => writer.key("rating").null(),
        };
        writer.end_object();
    }
    writer.end_array();
    metric.detail(writer, quality);
}

/// As Java prints a double; what is none stands in quotes.
fn number(writer: &mut Writer<'_>, value: f64) {
    if value.is_nan() {
        writer.str("NaN")
    } else {
        writer.f64(value)
    };
}
