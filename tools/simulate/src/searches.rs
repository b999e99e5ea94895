//! Searches, compared with the plainest model: a walk over all documents.
//!
//! A search after a refresh shows each document as it stood at one moment between the beginning of the
//! refresh and the end of the search: it is noted as a look at each id. What several questions to one
//! point in time find must be what a walk over its documents finds, to the last id.

use std::collections::BTreeMap;

use engine::Everything;
use engine::ops::IndicesOptions;
use engine::ops::scroll::MomentCall;
use engine::ops::search::{KeepAlive, SearchCall, SearchReply};
use env::Bytes;

use crate::context::{Context, Health};
use crate::documents::{self, IDS, INDICES, Question};
use crate::history::{Seen, Stamp};

/// Documents by id, as one search saw them.
type Shown = BTreeMap<String, Seen>;

/// A search whose hits tell all of each document.
fn call(indices: &str, query: &str, pit: Option<&str>) -> SearchCall {
    let pit = pit.map(|id| format!(r#","pit":{{"id":"{id}"}}"#)).unwrap_or_default();
    let body =
        format!(r#"{{"size":100,"seq_no_primary_term":true,"version":true,"query":{query}{pit}}}"#);
    SearchCall {
        indices: indices.to_owned(),
        body: Bytes::from(body.into_bytes()),
        partial_results: true,
        ..SearchCall::default()
    }
}

/// The documents of an answer; `None` where a shard has failed and said so.
fn shown(context: &Context, what: &str, reply: engine::Result<SearchReply>) -> Option<Shown> {
    let reply = match reply {
        Ok(reply) => reply,
        Err(error) => {
            context.judge(what, &error);
            return None;
        }
    };
    for failure in &reply.shards.failures {
        context.judge(what, &failure.reason);
    }
    if reply.shards.failed > 0 {
        assert!(!reply.shards.failures.is_empty(), "{what}: a shard failed and does not say why");
        return None;
    }
    let mut shown = Shown::new();
    for hit in &reply.result.hits {
        let id = hit.id.clone().expect("each hit has its id");
        let doc = documents::read(hit.source.as_deref().expect("it was asked for"));
        let (version, seq_no) = hit.version.zip(hit.seq_no).expect("they were asked for");
        let term = hit.primary_term.expect("it was asked for");
        assert_eq!(hit.routing, documents::routing(&hit.index, &id), "{what}: routing of {id}");
        let seen = Seen { doc, version, stamp: Stamp { term, seq_no } };
        let before = shown.insert(id.clone(), seen);
        assert!(before.is_none(), "{what}: [{id}] twice in one answer");
    }
    context.say(|| format!("{what} -> {} hits", shown.len()));
    Some(shown)
}

/// Refreshes, then looks at all documents at once.
pub async fn after_refresh(context: &Context) {
    let index = INDICES[context.below(2) as usize];
    all_after_refresh(context, index).await;
}

/// The same, of one index; what is shown.
pub async fn all_after_refresh(context: &Context, index: &str) -> Option<Shown> {
    let history = &context.oracle.history;
    let begin = history.tick();
    let core = context.core();
    let refreshed = core.refresh(&Everything, index, IndicesOptions::default()).await;
    match refreshed {
        Ok(shards) if shards.failed == 0 => {}
        Ok(shards) => {
            for failure in &shards.failures {
                context.judge("refresh", &failure.reason);
            }
            return None;
        }
        Err(error) => {
            context.judge("refresh", &error);
            return None;
        }
    }
    let reply = context.core().search(&Everything, &call(index, r#"{"match_all":{}}"#, None)).await;
    let shown = shown(context, &format!("search of all of [{index}]"), reply)?;
    for number in 0..IDS {
        let id = documents::id(number);
        history.saw(index, &id, shown.get(&id).copied(), begin, context.now());
    }
    Some(shown)
}

/// A write that waited for its refresh is shown.
pub async fn shows(context: &Context, index: &str, id: Option<&str>, begin: u64) {
    // Where a log fails, the refresh may fail after the write was done.
    let Some(id) = id.filter(|_| context.health.get() == Health::Sound) else { return };
    let query = format!(r#"{{"ids":{{"values":["{id}"]}}}}"#);
    let reply = context.core().search(&Everything, &call(index, &query, None)).await;
    if let Some(shown) = shown(context, &format!("search of {index}/{id}"), reply) {
        let seen = shown.get(id).copied();
        context.oracle.history.saw(index, id, seen, begin, context.now());
    }
}

/// A search without a refresh: whatever it shows was there once.
pub async fn plain(context: &Context) {
    let index = INDICES[context.below(2) as usize];
    let question = choose(context);
    let what = format!("search [{index}] for {question:?}");
    let reply = context.core().search(&Everything, &call(index, &question.query(), None)).await;
    let Some(shown) = shown(context, &what, reply) else { return };
    for (id, seen) in shown {
        assert!(question.holds(seen.doc), "{what}: {id} does not match: {seen:?}");
        context.oracle.history.glimpse(index, &id, seen);
    }
}

fn choose(context: &Context) -> Question {
    let tag = context.oracle.history.tag();
    Question::choose(&|end| context.below(end), 0, context.below(tag) + 1)
}

/// Asks one point in time several questions.
pub async fn moment(context: &Context) {
    let index = INDICES[context.below(2) as usize];
    let core = context.core();
    let keep_alive = KeepAlive { ms: 60_000, text: "1m".to_owned() };
    let opened = core
        .open_moment(
            &Everything,
            &MomentCall {
                indices: index.to_owned(),
                options: IndicesOptions::default(),
                routing: Vec::new(),
                preference: Default::default(),
                keep_alive,
            },
        )
        .await;
    let pit = match opened {
        Ok(opened) => opened.id,
        Err(error) => {
            context.judge("open a point in time", &error);
            return;
        }
    };
    let all = call("", r#"{"match_all":{}}"#, Some(&pit));
    let reply = context.core().search(&Everything, &all).await;
    if let Some(all) = shown(context, &format!("a point in time of [{index}]"), reply) {
        for _ in 0..2 {
            let question = choose(context);
            let what = format!("a point in time of [{index}]: {question:?}");
            let asked = call("", &question.query(), Some(&pit));
            let reply = context.core().search(&Everything, &asked).await;
            let Some(found) = shown(context, &what, reply) else { break };
            compare(&what, &question, &all, &found);
            context.oracle.compared.set(context.oracle.compared.get() + 1);
            context.rest().await;
        }
    }
    if let Err(error) = context.core().close_moment(&Everything, &pit).await {
        context.judge("close a point in time", &error);
    }
}

/// What was found must be what a walk over all finds.
fn compare(what: &str, question: &Question, all: &Shown, found: &Shown) {
    let expected: Shown = all
        .iter()
        .filter(|(_, seen)| question.holds(seen.doc))
        .map(|(id, seen)| (id.clone(), *seen))
        .collect();
    assert_eq!(found, &expected, "{what}, over {all:?}");
}

/// Counts and finds in an index that stands still: each of so many questions gets the plain answer.
pub async fn quiet(context: &Context, index: &str, questions: usize) {
    let Some(all) = all_after_refresh(context, index).await else { return };
    for _ in 0..questions {
        let question = choose(context);
        let what = format!("[{index}] at rest: {question:?}");
        let asked = call(index, &question.query(), None);
        let reply = context.core().search(&Everything, &asked).await;
        let Some(found) = shown(context, &what, reply) else { return };
        compare(&what, &question, &all, &found);
        let body = format!(r#"{{"query":{}}}"#, question.query());
        let counted = SearchCall { body: Bytes::from(body.into_bytes()), ..asked };
        match context.core().count(&Everything, &counted).await {
            Ok(reply) => assert_eq!(reply.count, found.len() as u64, "{what}: count"),
            Err(error) => {
                context.judge(&what, &error);
            }
        }
        context.oracle.compared.set(context.oracle.compared.get() + 1);
    }
}
