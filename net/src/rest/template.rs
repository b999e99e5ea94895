//! Templates: `_index_template`, `_component_template`, `_template`, and trying them out.

use cluster::TemplateKind;
use cluster::template::{COMPONENT_KEYS, INDEX_KEYS, STREAM_KEYS};
use engine::ops::simulate::Simulated;
use engine::{Error, Result};
use env::Env;
use json::spanned::Member;
use json::{Object, Value, Writer};
use mapping::types::boolean;

use super::indices::flatten;
use super::long_answer::Growing;
use crate::call::Call;
use crate::fail;
use crate::reply::Reply;

/// `PUT|POST /_index_template/{name}` and kin.
pub(super) async fn put<E: Env>(call: &Call<'_, E>, kind: TemplateKind) -> Result<Reply> {
    let mut body = required(call, kind).await?;
    if kind == TemplateKind::Legacy
        && let Some(order) = call.params.int("order")?
        && let Value::Object(object) = &mut body
        && !object.contains_key("order")
    {
        object.insert("order", i64::from(order));
    }
    let create = call.params.flag("create", false)?;
    let name = call.segment("name");
    let warning = call.core.put_template(call.gate, kind, name, &body, create).await?;
    warning.iter().for_each(|sentence| call.gate.warn(sentence));
    Ok(call.acknowledged())
}

/// `GET /_index_template`, `/_index_template/{name}` and kin.
pub(super) async fn get<E: Env>(call: &Call<'_, E>, kind: TemplateKind) -> Result<Reply> {
    let name = call.segment("name");
    let found = call.core.templates(call.gate, kind, name)?;
    // Whoever names some, even by a pattern, and none is there: 404, with the empty list.
    let status = if found.is_empty() && !name.is_empty() { 404 } else { 200 };
    let flat = call.params.flag("flat_settings", false)?;
    let lists = match kind {
        TemplateKind::Index => Some(("index_templates", "index_template")),
        TemplateKind::Component => Some(("component_templates", "component_template")),
        TemplateKind::Legacy => None,
    };
    let mut growing = Growing::new(call, "templates");
    let mut body = Vec::with_capacity(256);
    let mut writer = Writer::new(&mut body);
    writer.begin_object();
    if let Some((list, _)) = lists {
        writer.key(list).begin_array();
    }
    for (at, (name, template)) in found.iter().enumerate() {
        growing.more_at(at, &mut writer, name.len() + template.held_bytes()).await?;
        let template = shown(&template.to_json(), flat);
        match lists {
            Some((_, one)) => {
                writer.begin_object().field_str("name", name);
                writer.field(one, &template).end_object();
            }
            None => drop(writer.field(name, &template)),
        }
    }
    if lists.is_some() {
        writer.end_array();
    }
    writer.end_object();
    Ok(growing.end(status, body))
}

/// `HEAD /_index_template/{name}` and kin.
pub(super) fn exists<E: Env>(call: &Call<'_, E>, kind: TemplateKind) -> Result<Reply> {
    let there = match call.core.templates(call.gate, kind, call.segment("name")) {
        Ok(found) => !found.is_empty(),
        Err(error) if error.status == 404 => false,
        Err(error) => return Err(error),
    };
    Ok(Reply::text(if there { 200 } else { 404 }, Vec::new()))
}

/// `DELETE /_index_template/{name}` and kin.
pub(super) async fn delete<E: Env>(call: &Call<'_, E>, kind: TemplateKind) -> Result<Reply> {
    call.core.delete_templates(call.gate, kind, call.segment("name")).await?;
    Ok(call.acknowledged())
}

/// `POST /_index_template/_simulate`, `/_index_template/_simulate/{name}`.
pub(super) async fn simulate<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let body = optional(call).await?;
    let found = call.core.simulate_template(call.gate, call.path.get("name"), body).await?;
    Ok(simulated(call, &found))
}

/// `POST /_index_template/_simulate_index/{name}`.
pub(super) async fn simulate_index<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let body = optional(call).await?;
    match call.core.simulate_index(call.gate, call.segment("name"), body).await? {
        Some(found) => Ok(simulated(call, &found)),
        None => Ok(call.json(200, |writer| {
            writer.begin_object().end_object();
        })),
    }
}

fn simulated<E: Env>(call: &Call<'_, E>, found: &Simulated) -> Reply {
    call.json(200, |writer| {
        writer.begin_object().field("template", &found.template);
        writer.key("overlapping").begin_array();
        for (name, patterns) in &found.overlapping {
            writer.begin_object().field_str("name", name);
            let patterns: Value = patterns.iter().map(String::as_str).collect();
            writer.field("index_patterns", &patterns).end_object();
        }
        writer.end_array().end_object();
    })
}

/// The body with its keys looked at.
async fn required<E: Env>(call: &Call<'_, E>, kind: TemplateKind) -> Result<Value> {
    if kind == TemplateKind::Legacy {
        return call.required_map().await;
    }
    optional_of(call, kind).await?.ok_or_else(|| Error::parse("request body is required"))
}

async fn optional<E: Env>(call: &Call<'_, E>) -> Result<Option<Value>> {
    optional_of(call, TemplateKind::Index).await
}

async fn optional_of<E: Env>(call: &Call<'_, E>, kind: TemplateKind) -> Result<Option<Value>> {
    call.read(move |content| read(content, kind)).await
}

fn read(content: &[u8], kind: TemplateKind) -> Result<Option<Value>> {
    if content.is_empty() {
        return Ok(None);
    }
    let body = fail::spanned_tree(content)?;
    let (parser, keys) = match kind {
        TemplateKind::Component => ("component_template", COMPONENT_KEYS),
        _ => ("index_template", INDEX_KEYS),
    };
    let Some(members) = body.as_object() else {
        return Err(Error::new(
            400,
            "x_content_parse_exception",
            format!("{} [{parser}] Expected START_OBJECT but was: {}", body.at, body.token()),
        ));
    };
    for member in members {
        if !keys.contains(&member.key.as_str()) {
            return Err(fail::unknown_field(parser, &member.key, member.key_at));
        }
        if member.key == "priority"
            && let Some(text) = member.value.as_str()
            && text.parse::<i64>().is_err()
        {
            let at = member.value.at;
            let what = format!("{at} [{parser}] failed to parse field [priority]");
            let cause = Error::illegal_argument(format!("For input string: \"{text}\""));
            return Err(Error::new(400, "x_content_parse_exception", what).caused_by(cause));
        }
        let is_object = |member: &Member| member.value.as_object().is_some();
        if matches!(&*member.key, "template" | "_meta" | "data_stream") && !is_object(member) {
            return Err(fail::wrong_kind(parser, &member.key, &member.value));
        }
        if member.key == "data_stream" {
            stream_options(parser, member.value.as_object().unwrap_or_default())?;
        }
        if member.key == "template" {
            for inner in member.value.as_object().unwrap_or_default() {
                let (key, value) = (inner.key.as_str(), &inner.value);
                let cause = match key {
                    "settings" | "aliases" if !is_object(inner) => {
                        fail::wrong_kind("template", key, value)
                    }
                    "settings" | "aliases" | "mappings" => continue,
                    _ => fail::unknown_field("template", key, inner.key_at),
                };
                return Err(fail::unread_field(parser, "template", value.at, cause));
            }
        }
    }
    Ok(Some(body.to_value()))
}

/// The keys of `data_stream`, each of which is true or false.
fn stream_options(parser: &str, options: &[Member]) -> Result<()> {
    const PARSER: &str = "data_stream_template";
    for option in options {
        let (key, value) = (option.key.as_str(), &option.value);
        let cause = match value.as_str() {
            _ if !STREAM_KEYS.contains(&key) => fail::unknown_field(PARSER, key, option.key_at),
            Some("true" | "false") => continue,
            Some(text) => {
                let cause = Error::illegal_argument(boolean::neither(text));
                fail::unread_field(PARSER, key, value.at, cause)
            }
            None if value.token() == "VALUE_BOOLEAN" => continue,
            None => fail::wrong_kind(PARSER, key, value),
        };
        return Err(fail::unread_field(parser, "data_stream", value.at, cause));
    }
    Ok(())
}

/// The body with its settings flat, where that is wanted.
pub(super) fn shown(body: &Value, flat: bool) -> Value {
    if !flat {
        return body.clone();
    }
    let mut body = body.clone();
    let part = match &mut body {
        Value::Object(object) if object.contains_key("settings") => Some(object),
        Value::Object(object) => object.get_mut("template").and_then(Value::as_object_mut),
        _ => None,
    };
    if let Some(part) = part
        && let Some(settings) = part.get("settings").cloned()
    {
        let flat: Object = flatten(&settings).into_iter().collect();
        part.insert("settings", Value::Object(flat));
    }
    body
}
