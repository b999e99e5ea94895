//! Indices: create, get, exists, delete; refresh, flush, merge; analyze.

use engine::ops::IndicesOptions;
use engine::ops::admin::{Aim, IndexInfo};
use engine::{Error, Result};
use env::{Bytes, Env};
use json::{Object, Value, Writer};

use super::copies::{self, Copies};
use super::long_answer::Growing;
use super::settings::{settings_view, write_defaults};
use crate::call::Call;
use crate::fail;
use crate::render::document;
use crate::reply::Reply;

/// `PUT /{index}`.
pub(super) async fn create<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let body = call.map().await?.unwrap_or_else(Value::object);
    let copies = Copies::read(call)?;
    let (name, count) = (call.indices(), copies.count());
    let mut created = call.core.create_index_of(call.gate, name, body, count).await?;
    let made = std::slice::from_ref(&created.index);
    created.shards_acknowledged &= copies::acknowledged(call, copies, made).await?;
    Ok(call.json(200, |writer| {
        writer
            .begin_object()
            .field_bool("acknowledged", true)
            .field_bool("shards_acknowledged", created.shards_acknowledged)
            .field_str("index", &created.index)
            .end_object();
    }))
}

/// `GET /{index}`.
pub(super) async fn get<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let mut parts = call.params.list("features");
    if parts.is_empty() {
        parts = ["aliases", "mappings", "settings"].map(str::to_owned).to_vec();
    }
    if let Some(other) =
        parts.iter().find(|part| !["aliases", "mappings", "settings"].contains(&part.as_str()))
    {
        return Err(Error::illegal_argument(format!("Invalid features specified [{other}]")));
    }
    let infos = infos(call, "indices:admin/get").await?;
    let flat = call.params.flag("flat_settings", false)?;
    let defaults = call.params.flag("include_defaults", false)?;
    let wants = |part: &str| parts.iter().any(|wanted| wanted == part);
    let mut growing = Growing::new(call, "indices");
    let mut body = Vec::with_capacity(256);
    let mut writer = Writer::new(&mut body);
    writer.begin_object();
    for info in &infos {
        let mappings = if wants("mappings") { info.shown_bytes() } else { 0 };
        let settings = if wants("settings") { info.settings_bytes() } else { 0 };
        let aliases = if wants("aliases") { info.aliases_bytes() } else { 0 };
        growing.more(&mut writer, mappings + settings + aliases).await?;
        writer.key(&info.name).begin_object();
        if wants("aliases") {
            writer.key("aliases").begin_object();
            for (name, alias) in &info.aliases {
                writer.field(name, &alias.to_json());
            }
            writer.end_object();
        }
        if wants("mappings") {
            writer.field("mappings", &info.mappings());
        }
        if wants("settings") {
            writer.key("settings");
            settings_view(&mut writer, &info.settings(), flat, call.human, &[]);
            if defaults {
                write_defaults(call, &mut writer, info, flat, &[]);
            }
        }
        if let Some(stream) = &info.stream {
            writer.field_str("data_stream", stream);
        }
        writer.end_object();
    }
    writer.end_object();
    Ok(growing.end(200, body))
}

/// What the expression of the path names.
pub(super) async fn infos<E: Env>(
    call: &Call<'_, E>,
    action: &'static str,
) -> Result<Vec<IndexInfo>> {
    let options = call.params.indices_options(IndicesOptions::default())?;
    call.core.index_infos(call.gate, action, call.indices(), options).await
}

/// `HEAD /{index}`.
pub(super) async fn exists<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let options = call.params.indices_options(IndicesOptions::default())?;
    let there = call.core.indices_exist(call.gate, call.indices(), options).await?;
    Ok(Reply::text(if there { 200 } else { 404 }, Vec::new()))
}

/// `DELETE /{index}`.
pub(super) async fn delete<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let base = IndicesOptions { expand_closed: true, ..IndicesOptions::default() };
    let options = call.params.indices_options(base)?;
    call.core.delete_index(call.gate, call.indices(), options).await?;
    Ok(call.acknowledged())
}

/// `GET|POST /_refresh`, `/{index}/_refresh`.
pub(super) async fn refresh<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let options = call.params.indices_options(IndicesOptions::default())?;
    let shards = call.core.refresh(call.gate, call.indices(), options).await?;
    Ok(broadcast(call, &shards))
}

/// `GET|POST /_flush`, `/{index}/_flush`.
pub(super) async fn flush<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let force = call.params.flag("force", false)?;
    if force && !call.params.flag("wait_if_ongoing", true)? {
        return Err(Error::validation(&["wait_if_ongoing must be true for a force flush"]));
    }
    let options = call.params.indices_options(IndicesOptions::default())?;
    let shards = call.core.flush(call.gate, call.indices(), options).await?;
    Ok(broadcast(call, &shards))
}

/// `POST /_forcemerge`, `/{index}/_forcemerge`.
pub(super) async fn force_merge<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let segments = call.params.int("max_num_segments")?;
    let expunge = call.params.flag("only_expunge_deletes", false)?;
    if expunge && segments.is_some() {
        return Err(Error::validation(&[
            "cannot set only_expunge_deletes and max_num_segments at the same time, those two \
             parameters are mutually exclusive",
        ]));
    }
    let aim = match segments {
        _ if expunge => Aim::Deletes,
        // None and less are what Elasticsearch takes for "as the policy says".
        None | Some(..=0) => Aim::Tidy,
        Some(count) => Aim::Count(usize::try_from(count).unwrap_or(usize::MAX)),
    };
    let flush = call.params.flag("flush", true)?;
    let options = call.params.indices_options(IndicesOptions::default())?;
    if !call.params.flag("wait_for_completion", true)? {
        let begun = call.core.begin_force_merge(call.gate, call.indices(), options, aim, flush);
        let task = begun.await?;
        let node = &call.core.shared().config.info.id;
        return Ok(call.json(200, |writer| {
            writer.begin_object().field_str("task", &format!("{node}:{task}")).end_object();
        }));
    }
    let shards = call.core.force_merge(call.gate, call.indices(), options, aim, flush).await?;
    Ok(broadcast(call, &shards))
}

fn broadcast<E: Env>(call: &Call<'_, E>, shards: &engine::ops::Shards) -> Reply {
    call.json(document::broadcast_status(shards), |writer| {
        document::broadcast(writer, shards, call.trace);
    })
}

/// `POST /_cache/clear`, `/{index}/_cache/clear`: answers that are kept; an index has no other cache.
pub(super) async fn clear_cache<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let options = call.params.indices_options(IndicesOptions::default())?;
    let names = match call.indices() {
        "" => call.params.text("index").unwrap_or_default(),
        names => names,
    };
    let (request, others) = (call.params.flag("request", false)?, ["query", "fielddata"]);
    let mut is_other = !call.params.list("fields").is_empty();
    for name in others {
        is_other |= call.params.flag(name, false)?;
    }
    // Where none is named all are meant.
    let answers = request || !is_other;
    let shards = call.core.clear_cache(call.gate, names, options, answers).await?;
    Ok(broadcast(call, &shards))
}

/// `GET|POST /_analyze`, `/{index}/_analyze`.
pub(super) async fn analyze<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    if call.is_blank()? {
        return Err(fail::nothing_for("analyze_request"));
    }
    let read = |content: &Bytes| match content.is_empty() {
        true => Err(Error::parse("request body or source parameter is required")),
        false => fail::tree(content),
    };
    let body = call.read(read).await?;
    let index = call.path.get("index").or_else(|| call.params.text("index"));
    match call.core.analyze(call.gate, index, body).await {
        Ok((analysis, memory)) => super::analyze::answer(call, analysis, memory).await,
        Err(error) => call.read(move |content| Err(placed(error, content))).await,
    }
}

/// What is wrong with a member of the body is told with the member's place.
fn placed(mut error: Error, content: &[u8]) -> Error {
    let named = error.reason.strip_prefix("[analyze_request] ").map(|text| {
        let member = text.split(['[', ']']).nth(1).filter(|_| !text.starts_with("text"));
        member.or_else(|| text.split(' ').next()).unwrap_or_default().to_owned()
    });
    if let Some(member) = named {
        let place = match error.reason.contains("] unknown field [") {
            true => fail::place_of(content, &member),
            false => fail::place_of_value(content, &member),
        };
        error.reason = format!("{place} {}", error.reason);
    }
    error
}

/// Objects below each other as one, keys joined by dots.
pub(super) fn flatten(value: &Value) -> Vec<(String, Value)> {
    fn walk(prefix: &str, object: &Object, flat: &mut Vec<(String, Value)>) {
        for (key, value) in object.iter() {
            let path = if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") };
            match value {
                Value::Object(inner) => walk(&path, inner, flat),
                other => flat.push((path, other.clone())),
            }
        }
    }
    let mut flat = Vec::new();
    if let Value::Object(object) = value {
        walk("", object, &mut flat);
    }
    flat
}

/// The reverse of [`flatten`]; where a name is both a value and a prefix, it stays joined.
pub(super) fn nest(flat: &[(String, Value)]) -> Value {
    let mut root = Object::new();
    for (path, value) in flat {
        let mut object = &mut root;
        let mut rest = path.as_str();
        while let Some((head, tail)) = rest.split_once('.') {
            let free = object.get(head).is_none_or(|inner| matches!(inner, Value::Object(_)));
            if !free {
                break;
            }
            let inner = object.get_or_insert_with(head, Value::object);
            let Value::Object(inner) = inner else { unreachable!("looked at above") };
            object = inner;
            rest = tail;
        }
        object.insert(rest, value.clone());
    }
    Value::Object(root)
}

/// Writes a flat list as an object.
pub(super) fn write_flat(writer: &mut Writer<'_>, flat: &[(String, Value)]) {
    writer.begin_object();
    for (key, value) in flat {
        writer.field(key, value);
    }
    writer.end_object();
}

#[cfg(test)]
mod tests {
    use json::json;

    use super::*;

    #[test]
    fn settings_are_flat_or_nested() {
        let nested = json!({"index": {"a": {"b": "1", "c": "2"}, "d": "3"}});
        let flat = flatten(&nested);
        let names: Vec<&str> = flat.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["index.a.b", "index.a.c", "index.d"]);
        assert_eq!(nest(&flat), nested);
        let odd = vec![("a".to_owned(), Value::from("1")), ("a.b".to_owned(), Value::from("2"))];
        assert_eq!(nest(&odd), json!({"a": "1", "a.b": "2"}));
    }
}
