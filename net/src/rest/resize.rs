//! `_clone`, `_shrink`, `_split`, `_rollover`: indices made of, or after, others.

use engine::ops::create::Created;
use engine::ops::resize::Resize;
use engine::ops::rollover::RolloverRequest;
use engine::{Error, Result};
use env::Env;
use json::{Value, spanned};

use super::copies::Copies;
use crate::call::Call;
use crate::fail;
use crate::reply::Reply;

/// `PUT|POST /{index}/_clone/{target}` and kin.
pub(super) async fn resize<E: Env>(call: &Call<'_, E>, kind: Resize) -> Result<Reply> {
    Copies::read(call)?;
    let body = body(call, "resize_request", &["settings", "aliases", "max_primary_shard_size"])?;
    let target = call.segment("target");
    let made = call.core.resize(call.gate, kind, call.indices(), target, &body).await?;
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
    Copies::read(call)?;
    if call.params.flag("lazy", false)? {
        return Err(Error::illegal_argument("lazy rollover can be applied only on a data stream"));
    }
    let body = body(call, "rollover", &["conditions", "settings", "mappings", "aliases"])?;
    conditions(call)?;
    let request = RolloverRequest {
        target: call.indices().to_owned(),
        new_index: call.path.get("new_index").map(str::to_owned),
        dry_run: call.params.flag("dry_run", false)?,
        body,
    };
    let done = call.core.rollover(call.gate, &request).await?;
    Ok(call.json(200, |writer| {
        writer
            .begin_object()
            .field_bool("acknowledged", done.rolled_over)
            .field_bool("shards_acknowledged", done.shards_acknowledged)
            .field_str("old_index", &done.old_index)
            .field_str("new_index", &done.new_index)
            .field_bool("rolled_over", done.rolled_over)
            .field_bool("dry_run", request.dry_run)
            .field_bool("lazy", false);
        writer.key("conditions").begin_object();
        for (shown, holds) in &done.conditions {
            writer.field_bool(shown, *holds);
        }
        writer.end_object().end_object();
    }))
}

/// Conditions must be known, whatever becomes of the rest.
fn conditions<E: Env>(call: &Call<'_, E>) -> Result<()> {
    const KNOWN: [&str; 10] = [
        "max_age",
        "max_docs",
        "max_size",
        "max_primary_shard_docs",
        "max_primary_shard_size",
        "min_age",
        "min_docs",
        "min_size",
        "min_primary_shard_docs",
        "min_primary_shard_size",
    ];
    let content = call.content()?;
    let Ok(body) = spanned::parse(&content) else { return Ok(()) };
    let members = body.get("conditions").and_then(|conditions| conditions.as_object());
    for member in members.unwrap_or_default() {
        if !KNOWN.contains(&member.key.as_str()) {
            return Err(Error::new(
                400,
                "x_content_parse_exception",
                format!("{} [rollover] failed to parse field [conditions]", member.value.at),
            )
            .caused_by(fail::unknown_field("conditions", &member.key, member.key_at)));
        }
    }
    Ok(())
}

/// The body, whose keys must be known; empty where there is none.
fn body<E: Env>(call: &Call<'_, E>, parser: &str, keys: &[&str]) -> Result<Value> {
    let content = call.content()?;
    if content.is_empty() {
        return Ok(Value::object());
    }
    let body = spanned::parse(&content).map_err(|error| fail::of_json(&error, &content))?;
    let Some(members) = body.as_object() else {
        return Err(Error::new(
            400,
            "x_content_parse_exception",
            format!("{} [{parser}] Expected START_OBJECT but was: {}", body.at, body.token()),
        ));
    };
    let strange = members.iter().find(|member| !keys.contains(&member.key.as_str()));
    match strange {
        Some(member) => Err(fail::unknown_field(parser, &member.key, member.key_at)),
        None => Ok(body.to_value()),
    }
}
