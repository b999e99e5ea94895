//! `_update`: its body, alone and in a bulk request.

use std::sync::Arc;

use engine::ops::document::{SourceFilter, Update, WriteAction, WriteItem};
use engine::ops::script::Script;
use engine::{Error, Result};
use env::{Bytes, Env, Spawn};
use json::Value;
use json::spanned::{self, Node};
use mapping::types::boolean;

use super::copies::{self, Copies};
use super::document::{
    answer_write, condition, names_source, refresh, routing, source_filter, source_of_body,
};
use crate::call::Call;
use crate::fail;
use crate::params;
use crate::reply::Reply;

/// `POST /{index}/_update/{id}`.
pub(super) async fn update<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let refresh = refresh(call)?;
    let copies = Copies::read(call)?;
    if call.params.text("version").is_some() || call.params.text("version_type").is_some() {
        return Err(Error::validation(&[
            "internal versioning can not be used for optimistic concurrency control. Please use \
             `if_seq_no` and `if_primary_term` instead",
        ]));
    }
    let mut item = WriteItem {
        routing: routing(call),
        if_seq_no: condition(call, "if_seq_no", "sequence numbers")?,
        if_primary_term: condition(call, "if_primary_term", "primary term")?,
        require_alias: call.params.flag("require_alias", false)?,
        ..WriteItem::new(WriteAction::Update, call.indices(), call.segment("id"))
    };
    let mut update = Update::default();
    if !call.body.is_empty() {
        (update, item) = read_away(call, call.body.clone(), update, item).await?;
    }
    if let Some(count) = call.params.int("retry_on_conflict")? {
        update.retry_on_conflict = i64::from(count);
    }
    if let Some(lang) = call.params.text("lang")
        && let Some(script) = &mut update.script
    {
        lang.clone_into(&mut script.lang);
    }
    if names_source(call) {
        update.source = wanted(source_filter(call)?);
    }
    item.update = Some(Box::new(update));
    copies::wait(call, copies, &item).await?;
    answer_write(call, item, refresh).await
}

/// A filter that asks for something.
pub(super) fn wanted(filter: SourceFilter) -> Option<SourceFilter> {
    (!filter.disabled).then_some(filter)
}

/// A longer body is read by a worker.
pub(super) const READ_HERE_BYTES_MAX: usize = 32 << 10;

/// As [`read`]; a long body is read by a worker.
///
/// # Errors
/// As there; too many wait for a worker.
pub(super) async fn read_away<E: Env>(
    call: &Call<'_, E>,
    body: Bytes,
    mut update: Update,
    mut item: WriteItem,
) -> Result<(Update, WriteItem)> {
    if body.len() <= READ_HERE_BYTES_MAX {
        read(&body, &mut update, &mut item)?;
        return Ok((update, item));
    }
    let job = move || read(&body, &mut update, &mut item).map(|()| (update, item));
    let done = call.core.env().spawn().work(job).await;
    done.map_err(|_| Error::rejected("too many requests wait for a worker"))?
}

/// Reads the body of an update; conditions in it go to `item`.
///
/// # Errors
/// In the words of Elasticsearch's parser, with the place.
pub(super) fn read(body: &[u8], update: &mut Update, item: &mut WriteItem) -> Result<()> {
    if body.iter().all(u8::is_ascii_whitespace) {
        return Err(content("[1:0]", "Expected START_OBJECT but was: null"));
    }
    // Nearly every body is good, and a tree without places costs less.
    if let Ok(Value::Object(members)) = json::parse(body)
        && plain(members, update)
    {
        return Ok(());
    }
    let node = spanned::parse(body).map_err(|error| fail::of_json(&error, body))?;
    careful(&node, update, item)
}

/// Takes the usual members; false where there is any other, or one of another kind.
fn plain(members: json::Object, update: &mut Update) -> bool {
    for (key, value) in members {
        match (key.as_str(), value) {
            ("doc", doc @ Value::Object(_)) => update.doc = Some(Arc::new(doc)),
            ("upsert", doc @ Value::Object(_)) => update.upsert = Some(Arc::new(doc)),
            ("doc_as_upsert", Value::Bool(flag)) => update.doc_as_upsert = flag,
            ("detect_noop", Value::Bool(flag)) => update.writes_noop = !flag,
            _ => {
                *update = Update {
                    retry_on_conflict: update.retry_on_conflict,
                    source: update.source.take(),
                    ..Update::default()
                };
                return false;
            }
        }
    }
    true
}

fn content(at: impl std::fmt::Display, what: &str) -> Error {
    Error::new(400, "x_content_parse_exception", format!("{at} [UpdateRequest] {what}"))
}

fn careful(node: &Node, update: &mut Update, item: &mut WriteItem) -> Result<()> {
    let Some(members) = node.as_object() else {
        let what = format!("Expected START_OBJECT but was: {}", node.token());
        return Err(content(node.at, &what));
    };
    for member in members {
        let (key, value) = (member.key.as_str(), &member.value);
        let kinds = || {
            let what = format!("{key} doesn't support values of type: {}", value.token());
            content(value.at, &what)
        };
        let inside = |cause: Error| {
            content(value.at, &format!("failed to parse field [{key}]")).caused_by(cause)
        };
        match key {
            "doc" | "upsert" => {
                value.as_object().ok_or_else(kinds)?;
                let tree = Some(Arc::new(value.to_value()));
                if key == "doc" { update.doc = tree } else { update.upsert = tree }
            }
            "doc_as_upsert" | "detect_noop" | "scripted_upsert" => {
                let flag = match (value.as_bool(), value.as_str()) {
                    (Some(flag), _) => flag,
                    (None, Some(text)) => flag_text(text).map_err(inside)?,
                    (None, None) => return Err(kinds()),
                };
                match key {
                    "doc_as_upsert" => update.doc_as_upsert = flag,
                    "detect_noop" => update.writes_noop = !flag,
                    _ => update.scripted_upsert = flag,
                }
            }
            "script" => {
                update.script = Some(Script::parse(&value.to_value()).map_err(inside)?);
            }
            "_source" => {
                update.source = wanted(source_of_body(&value.to_value()).map_err(inside)?);
            }
            "if_seq_no" | "if_primary_term" => {
                let number = value.as_number().and_then(json::Number::as_u64).ok_or_else(kinds)?;
                match key {
                    "if_seq_no" => item.if_seq_no = Some(number),
                    _ => item.if_primary_term = Some(number),
                }
            }
            _ => {
                return Err(content(member.key_at, &format!("unknown field [{key}]")));
            }
        }
    }
    Ok(())
}

fn flag_text(text: &str) -> Result<bool> {
    if text.is_empty() {
        return Err(Error::illegal_argument(boolean::neither(text)));
    }
    params::flag(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item() -> WriteItem {
        WriteItem::new(WriteAction::Update, "a", "1")
    }

    fn parse(body: &str) -> Result<(Update, WriteItem)> {
        let (mut update, mut item) = (Update::default(), item());
        read(body.as_bytes(), &mut update, &mut item)?;
        Ok((update, item))
    }

    #[test]
    fn usual_and_rare_members_are_read() {
        let (update, _) =
            parse(r#"{"doc":{"a":1},"doc_as_upsert":true,"detect_noop":false}"#).expect("good");
        assert!(update.doc.is_some() && update.doc_as_upsert && update.writes_noop);
        let body = r#"{"doc":{"a":1},"_source":["a"],"if_seq_no":3,"if_primary_term":1}"#;
        let (update, item) = parse(body).expect("good");
        assert_eq!(*update.source.expect("asked for").includes, ["a"]);
        assert_eq!((item.if_seq_no, item.if_primary_term), (Some(3), Some(1)));
        assert!(update.doc.is_some());
        let (update, _) = parse(r#"{"script":{"source":"x","lang":"foo"}}"#).expect("good");
        assert_eq!(update.script.map(|script| script.lang).as_deref(), Some("foo"));
    }

    #[test]
    fn bad_members_are_named_with_their_place() {
        for (body, reason) in [
            (r#"{"foo":1}"#, "[1:2] [UpdateRequest] unknown field [foo]"),
            (
                r#"{"doc":1}"#,
                "[1:8] [UpdateRequest] doc doesn't support values of type: VALUE_NUMBER",
            ),
            ("[]", "[1:1] [UpdateRequest] Expected START_OBJECT but was: START_ARRAY"),
            ("", "[1:0] [UpdateRequest] Expected START_OBJECT but was: null"),
            (
                r#"{"doc":{},"detect_noop":"x"}"#,
                "[1:25] [UpdateRequest] failed to parse field [detect_noop]",
            ),
        ] {
            assert_eq!(parse(body).expect_err(body).reason, reason);
        }
    }
}
