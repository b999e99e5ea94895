//! The writes of an alias or a data stream, passed on to the next index while another changes them: each
//! is judged by what the other left.
//!
//! Each round has names of its own, so nothing of it is known but what this round was answered.

use cluster::{State, TemplateKind};
use engine::ops::alias::{AliasChange, AliasRequest};
use engine::ops::document::{WriteAction, WriteItem};
use engine::ops::rollover::RolloverRequest;
use engine::ops::{IndicesOptions, Refresh};
use engine::{Error, Everything};
use env::Bytes;
use json::Value;

use super::{Work, at_once};
use crate::context::Context;

const TEMPLATE: &str = "handed";
const STREAMS: &str = "handed";

/// What became of a part of a round.
type Done = Result<String, Error>;

/// One round.
pub(super) async fn pass_on(context: &Context) {
    let tag = context.oracle.history.tag();
    match context.one_in(2) {
        true => alias(context, &format!("passed{tag}")).await,
        false => stream(context, &format!("{STREAMS}{tag}")).await,
    }
}

fn body(text: &str) -> Value {
    json::parse(text.as_bytes()).expect("well-formed")
}

/// Was it done? What was not may be so.
fn judged(context: &Context, what: &str, done: &Done) -> bool {
    match done {
        Ok(_) => true,
        Err(error) => {
            context.judge(what, error);
            false
        }
    }
}

async fn rolled(context: &Context, target: &str, lazy: bool) -> Done {
    let request = RolloverRequest {
        target: target.to_owned(),
        body: Value::object(),
        lazy,
        ..RolloverRequest::default()
    };
    let done = context.core().rollover(&Everything, &request).await;
    context.say(|| format!("[{target}] is rolled over, lazy {lazy} -> {done:?}"));
    done.map(|done| done.new_index)
}

async fn made(context: &Context, index: &str, text: &str) -> Done {
    let done = context.core().create_index(&Everything, index, &body(text)).await;
    context.say(|| format!("make [{index}] -> {done:?}"));
    done.map(|done| done.index)
}

async fn deleted(context: &Context, index: &str) -> Done {
    let options = IndicesOptions::default();
    let done = context.core().delete_index(&Everything, index, options).await;
    context.say(|| format!("remove [{index}] -> {done:?}"));
    done.map(|()| index.to_owned())
}

async fn taken_away(context: &Context, alias: &str, index: &str) -> Done {
    let request = AliasRequest {
        change: AliasChange::Remove { must_exist: None },
        indices: vec![index.to_owned()],
        aliases: vec![alias.to_owned()],
    };
    let done = context.core().update_aliases(&Everything, &[request]).await;
    context.say(|| format!("take [{alias}] from [{index}] -> {done:?}"));
    done.map(|_| String::new())
}

/// The indices that have an alias.
fn behind<'a>(state: &'a State, alias: &str) -> Vec<&'a str> {
    let indices = state.aliases.get(alias).map(|indices| &**indices).unwrap_or_default();
    indices.iter().map(|name| &**name).collect()
}

/// An alias of one index, which is rolled over while it is taken away, or its index is deleted: it leads to
/// the next index, or nowhere.
async fn alias(context: &Context, alias: &str) {
    let (first, next) = (format!("{alias}-000001"), format!("{alias}-000002"));
    let made = made(context, &first, &format!(r#"{{"aliases":{{"{alias}":{{}}}}}}"#)).await;
    if !judged(context, "the first index", &made) {
        return;
    }
    let deletes = context.one_in(2);
    let other: Work<'_, Done> = match deletes {
        true => Box::pin(deleted(context, &first)),
        false => Box::pin(taken_away(context, alias, &first)),
    };
    let works: Vec<Work<'_, Done>> = vec![Box::pin(rolled(context, alias, false)), other];
    let done = at_once(context, works).await;
    let state = context.node.cores[0].state();
    match (&done[0], &done[1]) {
        (Ok(new), other) => {
            assert_eq!(*new, next);
            assert_eq!(behind(&state, alias), [next.as_str()]);
            // What was to be taken away was not there any more.
            if let Err(error) = other
                && (deletes || error.kind != "aliases_not_found_exception")
            {
                context.judge("the other change", error);
            }
        }
        (Err(error), other) => {
            let is_gone = error.reason == format!("rollover target [{alias}] does not exist");
            if !is_gone {
                context.judge("the rollover", error);
            }
            if judged(context, "the other change", other) && is_gone {
                assert_eq!(behind(&state, alias), [""; 0]);
                assert!(state.index(&next).is_none(), "[{next}] was made for nothing");
            }
        }
    }
    for index in [first, next] {
        if context.node.cores[0].state().index(&index).is_some() {
            let done = deleted(context, &index).await;
            judged(context, "what is left", &done);
        }
    }
}

/// A data stream that is rolled over by a call and by a write while another takes the name of its next index:
/// both go on, and the newest index has the writes.
async fn stream(context: &Context, name: &str) {
    let template = body(&format!(r#"{{"index_patterns":["{STREAMS}*"],"data_stream":{{}}}}"#));
    let kind = TemplateKind::Index;
    let core = context.core();
    let done = core.put_template(&Everything, kind, TEMPLATE, &template, false).await;
    if !judged(context, "the template of streams", &done.map(|_| String::new())) {
        return;
    }
    let done = context.core().create_stream(&Everything, name).await;
    if !judged(context, "a stream", &done.map(|()| String::new())) {
        return;
    }
    let done = rolled(context, name, true).await;
    judged(context, "a stream is marked", &done);
    let state = context.node.cores[0].state();
    let Some(stream) = state.data_streams.get(name) else { return };
    let next = stream.write_index().replace("-000001", "-000002");
    let write = async {
        let item = WriteItem {
            source: Bytes::from(br#"{"@timestamp":1}"#.to_vec()),
            ..WriteItem::new(WriteAction::Create, name, "first")
        };
        let done = context.core().write(&Everything, item, Refresh::No).await;
        context.say(|| format!("write to [{name}] -> {done:?}"));
        done.map(|done| done.index)
    };
    let works: Vec<Work<'_, Done>> = vec![
        Box::pin(write),
        Box::pin(rolled(context, name, false)),
        Box::pin(made(context, &next, "{}")),
    ];
    let done = at_once(context, works).await;
    judged(context, "a write that rolls over", &done[0]);
    judged(context, "the rollover of a stream", &done[1]);
    if let Err(error) = &done[2]
        && error.kind != "resource_already_exists_exception"
    {
        context.judge("who takes the next name", error);
    }
    let state = context.node.cores[0].state();
    if let Some(stream) = state.data_streams.get(name) {
        let there = |index: &std::sync::Arc<str>| state.index(index).is_some();
        assert!(stream.indices.iter().all(there), "[{name}] lacks an index: {stream:?}");
        if let Ok(written) = &done[0] {
            assert!(
                stream.indices.iter().any(|index| **index == **written),
                "{written} {stream:?}"
            );
        }
        let is_taken = done[2].is_ok();
        let has = stream.indices.iter().any(|index| **index == *next);
        assert!(!(is_taken && has), "[{next}] is somebody else's");
    }
    let options = IndicesOptions::default();
    let gone = context.core().delete_streams(&Everything, name, options).await;
    judged(context, "a stream goes", &gone.map(|()| String::new()));
    if done[2].is_ok() {
        let gone = deleted(context, &next).await;
        judged(context, "the index of that name", &gone);
    }
}
