//! Clients that write and read documents, all of them the same few ids.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use engine::ops::bulk::BulkRequest;
use engine::ops::by_query::{ByQueryCall, Slices, Work};
use engine::ops::document::{
    Found, GetRequest, Update, VersionType, WriteAction, WriteItem, WriteResult, Written,
};
use engine::ops::search::SearchCall;
use engine::ops::{IndicesOptions, Refresh};
use engine::task::TaskSpec;
use engine::{Everything, Left};
use env::Bytes;

use crate::context::{Context, Health};
use crate::documents::{self, IDS, INDICES};
use crate::history::{Answer, Attempt, Condition, Doc, Seen, Stamp, What};
use crate::{node, searches};

/// Clients of a life.
pub const CLIENTS: u64 = 3;

/// One client, until it is told to end.
pub async fn client(context: Rc<Context>) {
    while !context.stopping.get() {
        match context.below(24) {
            0..=6 => write_one(&context).await,
            7..=9 => write_many(&context).await,
            10..=13 => read(&context).await,
            14 => read_many(&context).await,
            15 | 16 => searches::after_refresh(&context).await,
            17 => searches::moment(&context).await,
            18 => searches::plain(&context).await,
            19 => by_query(&context).await,
            20..=22 => tend(&context).await,
            _ => node::sleep(&context.env, Duration::from_micros(context.pause_us * 3)).await,
        }
        context.rest().await;
    }
    context.active.set(context.active.get() - 1);
}

/// An index, sometimes by its alias.
fn choose_index(context: &Context) -> &'static str {
    INDICES[context.below(2) as usize]
}

/// The name to say for an index.
fn spoken(context: &Context, index: &str) -> String {
    if context.one_in(4) { format!("{index}-alias") } else { index.to_owned() }
}

/// A write of this machine's choice, noted as begun.
struct Planned {
    attempt: Attempt,
    what: What,
    index: &'static str,
    item: WriteItem,
}

fn plan(context: &Context, last: Option<Seen>) -> Planned {
    let index = choose_index(context);
    let id = documents::id(context.below(IDS));
    let history = &context.oracle.history;
    let condition = match context.below(8) {
        0 | 1 => last.map_or(Condition::None, |seen| Condition::At(seen.stamp)),
        _ => Condition::None,
    };
    let what = match context.below(10) {
        0..=4 => What::Put { tag: history.tag(), create: false, condition },
        5 => What::Put { tag: history.tag(), create: true, condition: Condition::None },
        6 | 7 => What::Update { tag: history.tag(), upsert: context.one_in(2) },
        8 => What::Delete { condition },
        _ => {
            let version = last.map_or(1, |seen| seen.version) + context.below(3);
            What::Put { tag: history.tag(), create: false, condition: Condition::External(version) }
        }
    };
    let item = item(&spoken(context, index), index, &id, what);
    let attempt = history.begin(index, &id, what, context.now());
    Planned { attempt, what, index, item }
}

/// The write that an attempt asks for.
fn item(spoken: &str, index: &str, id: &str, what: What) -> WriteItem {
    let condition = match what {
        What::Put { condition, .. } | What::Delete { condition } => condition,
        _ => Condition::None,
    };
    let (if_seq_no, if_primary_term) = match condition {
        Condition::At(stamp) => (Some(stamp.seq_no), Some(stamp.term)),
        _ => (None, None),
    };
    let (version, version_type) = match condition {
        Condition::External(version) => (Some(version as i64), VersionType::External),
        _ => (None, VersionType::Internal),
    };
    let whole = |tag| documents::source(Doc { tag, base: tag });
    let (action, source, update) = match what {
        What::Put { tag, create, .. } => {
            let action = if create { WriteAction::Create } else { WriteAction::Index };
            (action, whole(tag), None)
        }
        What::Update { tag, upsert } => {
            let parsed = |text: String| json::parse(text.as_bytes()).expect("well-formed");
            let update = Update {
                doc: Some(Arc::new(documents::change(tag))),
                upsert: upsert.then(|| Arc::new(parsed(whole(tag)))),
                ..Update::default()
            };
            (WriteAction::Update, String::new(), Some(Box::new(update)))
        }
        _ => (WriteAction::Delete, String::new(), None),
    };
    WriteItem {
        routing: documents::routing(index, id),
        if_seq_no,
        if_primary_term,
        version,
        version_type,
        source: Bytes::from(source.into_bytes()),
        update,
        ..WriteItem::new(action, spoken, id)
    }
}

/// Notes what became of a write.
fn note(context: &Context, planned: &Planned, result: &engine::Result<Written>) {
    let id = planned.item.id.as_deref().unwrap_or_default();
    let told = || format!("{:?} {}/{id}", planned.what, planned.index);
    let answer = match result {
        Ok(done) => {
            let stamp = Stamp { term: done.primary_term, seq_no: done.seq_no };
            context.say(|| format!("{} -> {:?} {} {stamp:?}", told(), done.result, done.version));
            let was_there = match done.result {
                WriteResult::Created | WriteResult::NotFound => false,
                WriteResult::Updated | WriteResult::Deleted => true,
                WriteResult::Noop => panic!("{} changed nothing", told()),
            };
            if let What::Put { tag, .. } | What::Update { tag, .. } = planned.what {
                given(context, planned.index, stamp, tag);
            }
            if let What::Put { tag, .. } = planned.what
                && let Some(field) = documents::extra(Doc { tag, base: tag })
            {
                context.oracle.fields.borrow_mut().insert((planned.index.to_owned(), field));
            }
            Answer::Written { was_there, version: done.version, stamp }
        }
        Err(error) if error.status == 409 => Answer::Conflict,
        Err(error) if error.status == 404 && error.kind == "document_missing_exception" => {
            Answer::Missing
        }
        Err(error) => match context.judge(&told(), error) {
            true => Answer::Refused,
            false => Answer::Unknown,
        },
    };
    context.oracle.history.end(&planned.attempt, answer, context.now());
}

/// A place in the history of the index with one shard is given once.
fn given(context: &Context, index: &str, stamp: Stamp, tag: u64) {
    if index == "one" {
        let key = (index.to_owned(), stamp);
        let before = *context.oracle.given.borrow_mut().entry(key).or_insert(tag);
        assert_eq!(before, tag, "{stamp:?} of [{index}] was given twice");
    }
}

async fn write_one(context: &Context) {
    let last = match context.one_in(3) {
        true => look(context, choose_index(context), &documents::id(context.below(IDS))).await,
        false => None,
    };
    let planned = plan(context, last);
    let refresh = match context.below(12) {
        0 => Refresh::Now,
        1 => Refresh::Wait,
        _ => Refresh::No,
    };
    let begin = context.oracle.history.tick();
    let done = context.core().write(&Everything, planned.item.clone(), refresh).await;
    note(context, &planned, &done);
    if done.is_ok() && refresh != Refresh::No {
        searches::shows(context, planned.index, planned.item.id.as_deref(), begin).await;
    }
}

async fn write_many(context: &Context) {
    let planned: Vec<Planned> = (0..2 + context.below(5)).map(|_| plan(context, None)).collect();
    let items = planned.iter().map(|planned| planned.item.clone()).collect();
    let request = BulkRequest { items, refresh: Refresh::No };
    let reply = context.core().bulk(&Everything, request).await;
    for (planned, outcome) in planned.iter().zip(&reply.items) {
        note(context, planned, &outcome.result);
    }
}

async fn read(context: &Context) {
    look(context, choose_index(context), &documents::id(context.below(IDS))).await;
}

fn get(context: &Context, index: &str, id: &str) -> GetRequest {
    GetRequest {
        index: spoken(context, index),
        id: id.to_owned(),
        routing: documents::routing(index, id),
        ..GetRequest::default()
    }
}

/// Reads a document in real time.
pub async fn look(context: &Context, index: &str, id: &str) -> Option<Seen> {
    let attempt = context.oracle.history.begin(index, id, What::Look, context.now());
    let reply = context.core().get(&Everything, &get(context, index, id)).await;
    looked(context, index, id, &attempt, reply.map(|reply| reply.found))
}

/// Reads a document of a damaged machine: `None` where that fails. Where the newest writes may be
/// lost, what is read need not follow from the history, but must have been sent.
pub async fn peek(
    context: &Context,
    index: &str,
    id: &str,
    may_lose: bool,
) -> Option<Option<Seen>> {
    let history = &context.oracle.history;
    let begin = history.tick();
    let reply = context.core().get(&Everything, &get(context, index, id)).await;
    let found = match reply {
        Ok(reply) => reply.found,
        Err(error) => {
            context.judge(&format!("get {index}/{id}"), &error);
            return None;
        }
    };
    let seen = found.map(|found| {
        let source = found.source.as_deref().expect("it was asked for");
        let stamp = Stamp { term: found.primary_term, seq_no: found.seq_no };
        Seen { doc: documents::read(source), version: found.version, stamp }
    });
    context.say(|| format!("get {index}/{id} -> {seen:?}"));
    match (may_lose, seen) {
        (false, seen) => history.saw(index, id, seen, begin, context.now()),
        (true, Some(seen)) => history.glimpse(index, id, seen),
        (true, None) => {}
    }
    Some(seen)
}

async fn read_many(context: &Context) {
    let index = choose_index(context);
    let ids: Vec<String> = (0..IDS).map(documents::id).collect();
    let now = context.now();
    let begin = |id: &String| context.oracle.history.begin(index, id, What::Look, now);
    let attempts: Vec<Attempt> = ids.iter().map(begin).collect();
    let requests: Vec<GetRequest> = ids.iter().map(|id| get(context, index, id)).collect();
    let replies = context.core().multi_get(&Everything, &requests).await.replies;
    for ((id, attempt), reply) in ids.iter().zip(&attempts).zip(replies) {
        looked(context, index, id, attempt, reply.map(|reply| reply.found));
    }
}

fn looked(
    context: &Context,
    index: &str,
    id: &str,
    attempt: &Attempt,
    found: engine::Result<Option<Found>>,
) -> Option<Seen> {
    let seen = match found {
        Ok(found) => found.map(|found| {
            assert_eq!(found.routing, documents::routing(index, id), "routing of {index}/{id}");
            let source = found.source.as_deref().expect("it was asked for");
            let stamp = Stamp { term: found.primary_term, seq_no: found.seq_no };
            Seen { doc: documents::read(source), version: found.version, stamp }
        }),
        Err(error) => {
            context.judge(&format!("get {index}/{id}"), &error);
            context.oracle.history.end(attempt, Answer::Refused, context.now());
            return None;
        }
    };
    context.say(|| format!("get {index}/{id} -> {seen:?}"));
    if let Some(seen) = seen {
        given(context, index, seen.stamp, seen.doc.tag);
    }
    context.oracle.history.end(attempt, Answer::Saw(seen), context.now());
    seen
}

/// Deletes or writes again what carries a tag.
async fn by_query(context: &Context) {
    let (index, id) = (choose_index(context), documents::id(context.below(IDS)));
    let Some(seen) = look(context, index, &id).await else { return };
    let tag = seen.doc.tag;
    let deletes = context.one_in(2);
    let (what, work) = match deletes {
        true => (What::DeleteTagged(tag), Work::Delete),
        false => (What::TouchTagged(tag), Work::Update),
    };
    let core = context.core();
    let attempt = context.oracle.history.begin(index, &id, what, context.now());
    if context.one_in(2) {
        // What is not refreshed is not found.
        let refreshed = core.refresh(&Everything, index, IndicesOptions::default()).await;
        drop(refreshed);
    }
    let body = format!(r#"{{"query":{{"term":{{"tag":"t{tag}"}}}}}}"#);
    let call = ByQueryCall {
        work,
        search: SearchCall {
            indices: index.to_owned(),
            body: Bytes::from(body.into_bytes()),
            partial_results: false,
            ..SearchCall::default()
        },
        proceed: true,
        docs_max: None,
        batch: 1000,
        slices: Slices::Count(1),
        requests_per_second: f32::INFINITY,
        refresh: false,
        pipeline: None,
        lacking: None,
        script: None,
    };
    let task = core.begin_task(TaskSpec::default());
    let done = core.by_query(&Everything, &call, task.control(), &Left::default()).await;
    let answer = match done {
        Ok(reply) => {
            let status = &reply.status;
            context.say(|| format!("{what:?} {index}/{id} -> {status:?}"));
            let count = if deletes { status.deleted } else { status.updated };
            assert!(count <= 1, "{what:?} {index}: {count} documents have this tag");
            match (reply.failures.is_empty(), count) {
                (false, _) => {
                    assert!(
                        context.health.get() != Health::Sound || context.stopping.get(),
                        "{what:?} {index}/{id}: {:?}",
                        reply.failures
                    );
                    Answer::Unknown
                }
                (true, 1) => Answer::Done,
                (true, _) => Answer::Conflict,
            }
        }
        Err(error) => match context.judge(&format!("{what:?} {index}/{id}"), &error) {
            true => Answer::Refused,
            false => Answer::Unknown,
        },
    };
    context.oracle.history.end(&attempt, answer, context.now());
}

/// Refreshes, flushes, merges.
async fn tend(context: &Context) {
    let (core, index) = (context.core(), choose_index(context));
    let options = IndicesOptions::default();
    let (what, done) = match context.below(6) {
        0 | 1 => ("refresh", core.refresh(&Everything, index, options).await),
        2 | 3 => ("flush", core.flush(&Everything, index, options).await),
        number => {
            let aim = match number {
                4 => shard::Aim::Count(1 + context.below(2) as usize),
                _ => [shard::Aim::Tidy, shard::Aim::Deletes][context.below(2) as usize],
            };
            let flush = context.one_in(2);
            ("force merge", core.force_merge(&Everything, index, options, aim, flush).await)
        }
    };
    match done {
        Ok(shards) => {
            context.say(|| format!("{what} {index} -> {shards:?}"));
            for failure in &shards.failures {
                context.judge(&format!("{what} {index}"), &failure.reason);
            }
        }
        Err(error) => {
            context.judge(&format!("{what} {index}"), &error);
        }
    }
}
