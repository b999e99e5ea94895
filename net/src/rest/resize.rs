//! `_clone`, `_shrink`, `_split`, `_rollover`: indices made of, or after, others.

use base::units;
use engine::ops::create::Created;
use engine::ops::resize::Resize;
use engine::ops::rollover::{Condition, Reach, RolloverRequest};
use engine::{Error, Result};
use env::{Bytes, Env};
use json::spanned::{Kind, Node};
use json::{Place, Value};

use super::copies::{self, Copies};
use crate::call::Call;
use crate::fail;
use crate::params::no_time;
use crate::reply::Reply;

/// `PUT|POST /{index}/_clone/{target}` and kin.
pub(super) async fn resize<E: Env>(call: &Call<'_, E>, kind: Resize) -> Result<Reply> {
    let copies = Copies::read(call)?;
    const KEYS: [Key; 3] =
        [("settings", OBJECT), ("aliases", OBJECT), ("max_primary_shard_size", TEXT)];
    let read = |content: &Bytes| Ok(body(content, "resize_request", &KEYS)?.to_value());
    let body = call.read(read).await?;
    let target = call.segment("target");
    let asked = (&body, copies.count());
    let mut made = call.core.resize(call.gate, kind, call.indices(), target, asked).await?;
    let index = std::slice::from_ref(&made.index);
    made.shards_acknowledged &= copies::acknowledged(call, copies, index).await?;
    Ok(created(call, &made))
}

/// What creation answers.
pub(super) fn created<E: Env>(call: &Call<'_, E>, made: &Created) -> Reply {
    call.json(200, |writer| {
        writer
            .begin_object()
            .field_bool("acknowledged", true)
            .field_bool("shards_acknowledged", made.shards_acknowledged)
            .field_str("index", &made.index)
            .end_object();
    })
}

/// `POST /{index}/_rollover`, `/{index}/_rollover/{new_index}`.
pub(super) async fn rollover<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let copies = Copies::read(call)?;
    let lazy = call.params.flag("lazy", false)?;
    const KEYS: [Key; 4] =
        [("conditions", OBJECT), ("settings", OBJECT), ("mappings", OBJECT), ("aliases", OBJECT)];
    let dry_run = call.params.flag("dry_run", false);
    if matches!(dry_run, Ok(true)) {
        call.told.borrow_mut().only_tries();
    }
    let read = move |content: &Bytes| {
        let body = body(content, "rollover", &KEYS)?;
        Ok((dry_run?, conditions(&body)?, body.to_value()))
    };
    let (dry_run, conditions, body) = call.read(read).await?;
    let request = RolloverRequest {
        target: call.indices().to_owned(),
        new_index: call.path.get("new_index").map(str::to_owned),
        dry_run,
        lazy,
        conditions,
        body,
    };
    let done = call.core.rollover(call.gate, &request).await?;
    if !done.rolled_over && !done.postponed {
        // Nothing was begun that would name it.
        call.told.borrow_mut().indices(vec![done.old_index.clone()]);
    }
    let there = done.rolled_over
        && done.shards_acknowledged
        && copies::acknowledged(call, copies, std::slice::from_ref(&done.new_index)).await?;
    Ok(call.json(200, |writer| {
        writer
            .begin_object()
            .field_bool("acknowledged", done.rolled_over || done.postponed)
            .field_bool("shards_acknowledged", there)
            .field_str("old_index", &done.old_index)
            .field_str("new_index", &done.new_index)
            .field_bool("rolled_over", done.rolled_over)
            .field_bool("dry_run", request.dry_run)
            .field_bool("lazy", lazy);
        writer.key("conditions").begin_object();
        for (shown, holds) in &done.conditions {
            writer.field_bool(shown, *holds);
        }
        writer.end_object().end_object();
    }))
}

/// A parser's key and the tokens that its value may begin with.
type Key = (&'static str, &'static [&'static str]);

const OBJECT: &[&str] = &["START_OBJECT"];
const TEXT: &[&str] = &["VALUE_STRING"];
const COUNT: &[&str] = &["VALUE_NUMBER", "VALUE_STRING"];

/// The conditions of a rollover, read.
fn conditions(body: &Node) -> Result<Vec<Condition>> {
    const KEYS: [Key; 10] = [
        ("max_age", TEXT),
        ("max_docs", COUNT),
        ("max_size", TEXT),
        ("max_primary_shard_docs", COUNT),
        ("max_primary_shard_size", TEXT),
        ("min_age", TEXT),
        ("min_docs", COUNT),
        ("min_size", TEXT),
        ("min_primary_shard_docs", COUNT),
        ("min_primary_shard_size", TEXT),
    ];
    let Some(conditions) = body.get("conditions") else { return Ok(Vec::new()) };
    // The outer parser tells where the inner one stopped: at the value.
    let outer = |at, cause| fail::unread_field("rollover", "conditions", at, cause);
    let mut read = Vec::new();
    for member in conditions.as_object().unwrap_or_default() {
        let (key, value) = (member.key.as_str(), &member.value);
        let Some((name, tokens)) = KEYS.into_iter().find(|(name, _)| *name == key) else {
            let unknown = fail::unknown_field("conditions", key, member.key_at);
            return Err(outer(value.at, unknown));
        };
        if !tokens.contains(&value.token()) {
            return Err(outer(value.at, fail::wrong_kind("conditions", key, value)));
        }
        read.push(condition(name, value).map_err(|cause| {
            outer(value.at, fail::unread_field("conditions", key, value.at, cause))
        })?);
    }
    Ok(read)
}

/// One condition, whose value is of the right kind.
fn condition(name: &'static str, value: &Node) -> Result<Condition> {
    let text = match &value.kind {
        Kind::Number(number) => number.text(),
        _ => value.as_str().unwrap_or_default(),
    };
    let size = || -> Result<i64> {
        let bytes = units::bytes(name, text).map_err(Error::parse)?;
        Ok(bytes.map_or(-1, |bytes| i64::try_from(bytes).unwrap_or(i64::MAX)))
    };
    let what = name.get(4..).unwrap_or_default();
    let reach = match what {
        "age" => {
            let age = units::time_asked(name, text).map_err(|reason| no_time(reason, text))?;
            Reach::AgeMs(age.map_or(-1, |age| i64::try_from(age.as_millis()).unwrap_or(i64::MAX)))
        }
        "size" => Reach::Bytes(size()?),
        "primary_shard_size" => Reach::LargestBytes(size()?),
        "docs" => Reach::Docs(long(text)?),
        _ => Reach::LargestDocs(long(text)?),
    };
    let asked = match reach {
        Reach::Docs(count) | Reach::LargestDocs(count) => Value::from(count),
        _ => Value::from(text),
    };
    Ok(Condition { name, least: name.starts_with("min_"), reach, asked })
}

/// A long as Jackson reads it: what stands behind the point is dropped.
fn long(text: &str) -> Result<i64> {
    let whole = || text.parse().ok().filter(|value: &f64| value.abs() < i64::MAX as f64);
    match text.parse() {
        Ok(count) => Ok(count),
        Err(_) => whole()
            .map(|value| value as i64)
            .ok_or_else(|| Error::illegal_argument(format!("For input string: \"{text}\""))),
    }
}

/// The body, whose keys and kinds must be known; an empty object where there is none.
fn body(content: &[u8], parser: &str, keys: &[Key]) -> Result<Node> {
    if content.is_empty() {
        return Ok(Node::from_value(&Value::object(), Place { line: 1, column: 1 }));
    }
    let body = fail::spanned_tree(content)?;
    fail::members(&body, parser, keys)?;
    Ok(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Condition>> {
        conditions(&json::spanned::parse(text.as_bytes()).expect("good JSON"))
    }

    #[test]
    fn conditions_are_counts_times_and_sizes() {
        let text =
            r#"{"conditions":{"max_docs":"7","min_age":"2m","max_primary_shard_size":"1kb"}}"#;
        let found = read(text).expect("good conditions");
        let [docs, age, size] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((docs.name, docs.least, docs.reach), ("max_docs", false, Reach::Docs(7)));
        assert_eq!(docs.asked, Value::from(7));
        assert_eq!((age.least, age.reach), (true, Reach::AgeMs(120_000)));
        assert_eq!((size.reach, &size.asked), (Reach::LargestBytes(1_024), &Value::from("1kb")));
        assert_eq!(
            read(r#"{"conditions":{"max_docs":1.9}}"#).expect("read")[0].reach,
            Reach::Docs(1)
        );
    }

    #[test]
    fn a_bad_condition_is_told_with_its_place_and_cause() {
        for (text, told) in [
            (
                r#"{"conditions":{"max_docs":"x"}}"#,
                [
                    "[1:27] [rollover] failed to parse field [conditions]",
                    "[1:27] [conditions] failed to parse field [max_docs]",
                    "For input string: \"x\"",
                ],
            ),
            (
                r#"{"conditions":{"max_size":"5"}}"#,
                [
                    "[1:27] [rollover] failed to parse field [conditions]",
                    "[1:27] [conditions] failed to parse field [max_size]",
                    "failed to parse setting [max_size] with value [5] as a size in bytes: unit is missing or unrecognized",
                ],
            ),
            (
                r#"{"conditions":{"max_age":5}}"#,
                [
                    "[1:26] [rollover] failed to parse field [conditions]",
                    "[1:26] [conditions] max_age doesn't support values of type: VALUE_NUMBER",
                    "",
                ],
            ),
            (
                r#"{"conditions":{"max_docs":null}}"#,
                [
                    "[1:27] [rollover] failed to parse field [conditions]",
                    "[1:27] [conditions] max_docs doesn't support values of type: VALUE_NULL",
                    "",
                ],
            ),
        ] {
            let error = read(text).expect_err(text);
            let mut reasons = vec![error.reason.clone()];
            let mut next = error.caused_by;
            while let Some(cause) = next {
                reasons.push(cause.reason.clone());
                next = cause.caused_by;
            }
            reasons.resize(3, String::new());
            assert_eq!(reasons, told, "{text}");
        }
    }
}
