//! `_scripts`, `_script_context`, `_script_language`, and searches by template.

use std::sync::Arc;

use authz::principal::Via;
use engine::ops::script::{Script, Source};
use engine::ops::search::SearchCall;
use engine::{Error, Result};
use env::{Bytes, Env};
use json::Value;
use search::dsl::SEARCH_PARAMS;

use crate::admit::Caller;
use crate::call::Call;
use crate::fail;
use crate::reply::Reply;
use crate::rest::multi_search::Refusal;

/// What is said of a template of which neither text nor name is there.
const MISSING: &str = "template is missing";

/// `PUT|POST /_scripts/{id}`, `/_scripts/{id}/{context}`.
pub(super) async fn put<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let read = |content: &Bytes| match content.is_empty() {
        true => Err(Error::parse("request body is required")),
        false => fail::tree(content),
    };
    let body = call.read(read).await?;
    let context = call.path.get("context").or_else(|| call.params.text("context"));
    call.core.put_script(call.gate, call.segment("id"), &body, context).await?;
    Ok(call.acknowledged())
}

/// `GET /_scripts/{id}`.
pub(super) fn get<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let id = call.segment("id");
    let found = call.core.stored_script(call.gate, id)?;
    let status = if found.is_some() { 200 } else { 404 };
    Ok(call.json(status, |writer| {
        writer.begin_object().field_str("_id", id).field_bool("found", found.is_some());
        if let Some(script) = &found {
            writer.field("script", script);
        }
        writer.end_object();
    }))
}

/// `DELETE /_scripts/{id}`.
pub(super) async fn delete<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    call.core.delete_script(call.gate, call.segment("id")).await?;
    Ok(call.acknowledged())
}

/// `GET|POST /_scripts/painless/_execute`.
pub(super) async fn execute<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let body = body(call).await?;
    let Some(script) = body.get("script") else {
        return Err(Error::illegal_argument("Required [script]"));
    };
    let context = body.get("context").and_then(Value::as_str).unwrap_or("painless_test");
    if context != "painless_test" || body.get("context_setup").is_some() {
        return Err(Error::illegal_argument(format!("unsupported context [{context}]")));
    }
    let script = Script::parse(script)?;
    let result = call.core.painless_execute(call.gate, &script).await?;
    Ok(call.json(200, |writer| {
        writer.begin_object().field_str("result", &result).end_object();
    }))
}

/// `GET /_script_language`.
pub(super) fn languages<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    call.gate.cluster(call.route.privilege)?;
    Ok(call.json(200, |writer| {
        writer.begin_object().key("types_allowed").begin_array().str("inline").str("stored");
        writer.end_array().key("language_contexts").begin_array();
        writer.begin_object().field_str("language", "mustache").key("contexts").begin_array();
        writer.str("template").end_array().end_object();
        writer.begin_object().field_str("language", "painless").key("contexts").begin_array();
        for name in context_names() {
            writer.str(name);
        }
        writer.end_array().end_object().end_array().end_object();
    }))
}

/// `GET /_script_context`.
pub(super) fn contexts<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    call.gate.cluster(call.route.privilege)?;
    Ok(call.json(200, |writer| {
        writer.begin_object().key("contexts").begin_array();
        for name in context_names() {
            writer.begin_object().field_str("name", name).key("methods").begin_array();
            writer
                .begin_object()
                .field_str("name", "execute")
                .field_str("return_type", "java.lang.Object");
            writer.key("params").begin_array().end_array().end_object();
            writer.end_array().end_object();
        }
        writer.end_array().end_object();
    }))
}

/// Contexts in which scripts run here.
fn context_names() -> impl Iterator<Item = &'static str> {
    engine::ops::script::CONTEXTS.iter().map(|context| context.name)
}

async fn body<E: Env>(call: &Call<'_, E>) -> Result<Value> {
    call.read(|content| match content.is_empty() {
        true => Err(Error::parse("request body or source parameter is required")),
        false => fail::tree(content),
    })
    .await
}

/// A template with what fills it.
struct Template {
    script: Arc<Script>,
    explain: Option<Value>,
    profile: Option<Value>,
}

impl Template {
    /// Reads `{"source" | "id", "params", "explain", "profile"}`.
    fn parse(body: &Value, id: Option<&str>) -> Result<Self> {
        let Some(members) = body.as_object() else {
            return Err(Error::parse("a search template must be an object"));
        };
        let mut source = id.map(|id| Source::Stored(id.to_owned()));
        let mut params = Value::object();
        let (mut explain, mut profile) = (None, None);
        for (key, value) in members.iter() {
            match (key, value) {
                ("source" | "inline", Value::String(text)) => {
                    source = Some(Source::Inline(text.clone()));
                }
                ("source" | "inline", Value::Object(_)) => {
                    source = Some(Source::Inline(json::to_string(value)));
                }
                ("id", Value::String(id)) => source = Some(Source::Stored(id.clone())),
                ("params", Value::Object(_)) => params = value.clone(),
                ("params", Value::Null) => {}
                ("explain", _) => explain = Some(value.clone()),
                ("profile", _) => profile = Some(value.clone()),
                ("source" | "inline" | "id" | "params", _) => {
                    return Err(Error::new(
                        400,
                        "x_content_parse_exception",
                        format!(
                            "[search_template] {key} doesn't support values of type: {}",
                            value.token()
                        ),
                    ));
                }
                _ => {
                    return Err(Error::new(
                        400,
                        "x_content_parse_exception",
                        format!("[search_template] unknown field [{key}]"),
                    ));
                }
            }
        }
        let source = match source {
            Some(Source::Inline(text) | Source::Stored(text)) if text.is_empty() => {
                return Err(Error::validation(&[MISSING]));
            }
            Some(source) => source,
            None => return Err(Error::validation(&[MISSING, "template's script type is missing"])),
        };
        let script = Arc::new(Script { source, lang: "mustache".to_owned(), params });
        Ok(Self { script, explain, profile })
    }

    /// The search that it becomes.
    async fn render<E: Env>(&self, call: &Call<'_, E>) -> Result<Bytes> {
        let text = call.core.render_template(&self.script).await?;
        if self.explain.is_none() && self.profile.is_none() {
            return Ok(Bytes::from(text.into_bytes()));
        }
        let more = [("explain", self.explain.clone()), ("profile", self.profile.clone())];
        let add = move |text: &Bytes| {
            let mut body = json::parse(text).map_err(|error| fail::of_json(&error, text))?;
            if let Some(members) = body.as_object_mut() {
                for (key, value) in more {
                    if let Some(value) = value {
                        members.insert(key, value);
                    }
                }
            }
            Ok(Bytes::from(json::to_vec(&body)))
        };
        call.core.read_text(Bytes::from(text.into_bytes()), add).await
    }
}

/// `GET|POST /_search/template`, `/{index}/_search/template`.
pub(super) async fn search<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    if call.is_blank()? {
        return Err(fail::nothing_for("search_template"));
    }
    let body = body(call).await?;
    let mut template = Template::parse(&body, None)?;
    if call.params.flag("profile", false)? {
        template.profile = Some(Value::Bool(true));
    }
    let mut request = super::search::request(call, &SEARCH_PARAMS)?;
    call.core.check_reach(call.gate, None, &request).await?;
    request.body = template.render(call).await?;
    super::search::run(call, request).await
}

/// `GET|POST /_render/template`, `/_render/template/{id}`.
pub(super) async fn render<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let id = call.path.get("id");
    let body = match id {
        Some(_) if call.content()?.is_empty() => Value::object(),
        _ => body(call).await?,
    };
    let template = Template::parse(&body, id)?;
    let is_stored = matches!(template.script.source, Source::Stored(_));
    if is_stored
        && let Caller::Known(known) = call.caller
        && matches!(known.via(), Via::Oauth(_))
    {
        // No scope lets an application read what is stored there.
        call.gate.cluster("cluster:admin/script/get")?;
    }
    let text = template.render(call).await?;
    let output = call.core.read_text(text, |text| fail::tree(text)).await?;
    Ok(call.json(200, |writer| {
        writer.begin_object().field("template_output", &output).end_object();
    }))
}

/// What a template makes of a search, which can be read.
async fn made<E: Env>(
    call: &Call<'_, E>,
    template: &Template,
    search: &SearchCall,
) -> Result<Bytes> {
    call.core.check_reach(call.gate, None, search).await?;
    let body = template.render(call).await?;
    // It is there until all searches of the request are done.
    let taken = call.core.room("template", body.len())?;
    let body = Bytes::counted(body, taken);
    let search = SearchCall { body: body.clone(), ..search.clone() };
    call.core.check_search(&search).await?;
    Ok(body)
}

/// `GET|POST /_msearch/template`, `/{index}/_msearch/template`.
pub(super) async fn multi_search<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    super::multi_search::multi_search_by(call, async |search| {
        let body = call.core.read_text(search.body.clone(), |line| fail::tree(line)).await?;
        // One that is empty is missing; one that is not there makes the search none.
        let is_there = ["source", "id"].iter().any(|name| body.get(name).is_some());
        let template = Template::parse(&body, None).map_err(|error| match error.kind.as_ref() {
            "action_request_validation_exception" if is_there => Refusal::Lack(MISSING),
            "action_request_validation_exception" => {
                Error::illegal_argument("Malformed search template").into()
            }
            _ => error.into(),
        })?;
        Ok(made(call, &template, search).await)
    })
    .await
}
