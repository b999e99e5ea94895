//! `_delete_by_query`, `_update_by_query`, `_reindex`, and `_rethrottle` of them.

use std::collections::BTreeSet;

use engine::ops::IndicesOptions;
use engine::ops::by_query::{
    ByQueryCall, ByQueryReply, Destination, Lacking, Routing, Slices, Work,
};
use engine::ops::document::VersionType;
use engine::ops::script::Script;
use engine::ops::search::SearchCall;
use engine::task::{Running, TaskSpec};
use engine::{Error, Left, Result};
use env::budget::Taken;
use env::{Bytes, Env};
use json::spanned::Node;
use json::{Object, Value};

use super::copies::{self, Copies};
use super::document::{pipeline, preference, version_type};
use super::task::headers;
use crate::call::Call;
use crate::fail;
use crate::render::by_query as render;
use crate::renewed::Renewed;
use crate::reply::Reply;

/// `scroll_size` where nothing is said.
const BATCH: u32 = 1_000;

/// Different failures of what goes on without its caller that are told to the log.
const TOLD_MAX: usize = 10;

/// What work takes while it waits, for its speed or its turn: its parts, where each of them stands, its request.
const TASK_BYTES: usize = 48 << 10;

/// Each part of a task has its texts, too.
const TEXT_COPIES: usize = 4;

/// `POST /{index}/_delete_by_query`.
pub(super) async fn delete<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let (asked, in_url) = (asked(call, Work::Delete), call.params.text("q").is_some());
    let read = move |content: &Bytes| {
        let (mut body, mut asked) = (body(content)?, asked?);
        take_common(&mut body, &mut asked, &["max_docs", "size", "conflicts"])?;
        if body.get("query").is_none() && !in_url {
            return Err(Error::validation(&["query is missing"]));
        }
        with_search(asked, &body)
    };
    let asked = call.read(read).await?;
    let description = format!("delete-by-query [{}]", call.indices());
    run(call, asked, "indices:data/write/delete/byquery", description, None).await
}

/// `POST /{index}/_update_by_query`.
pub(super) async fn update<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let asked = asked(call, Work::Update);
    let read = move |content: &Bytes| {
        let (mut body, mut asked) = (body(content)?, asked?);
        take_common(&mut body, &mut asked, &["max_docs", "size", "conflicts", "script"])?;
        with_search(asked, &body)
    };
    let asked = call.read(read).await?;
    let description = format!("update-by-query [{}]", call.indices());
    run(call, asked, "indices:data/write/update/byquery", description, None).await
}

/// `POST /_reindex`.
pub(super) async fn reindex<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    if call.params.text("pipeline").is_some() {
        return Err(Error::illegal_argument(
            "_reindex doesn't support [pipeline] as a query parameter. Specify it in the [dest] object \
             instead.",
        ));
    }
    let said = Said {
        asked: asked(call, Work::Delete),
        docs_max: url_docs_max(call),
        require_alias: call.params.flag("require_alias", false),
    };
    let (asked, to) = call.read(move |content| read_reindex(content, said)).await?;
    let description = format!("reindex from [{}] to [{}]", asked.search.indices, to.index);
    let index = to.index.clone();
    let asked = ByQueryCall { work: Work::Reindex(to), ..asked };
    run(call, asked, "indices:data/write/reindex", description, Some(&index)).await
}

/// What the URL says of copying; told only where the body is good so far.
struct Said {
    asked: Result<ByQueryCall>,
    docs_max: Result<Vec<i64>>,
    require_alias: Result<bool>,
}

/// Reads the body of a request that copies.
fn read_reindex(content: &[u8], said: Said) -> Result<(ByQueryCall, Destination)> {
    if content.is_empty() {
        return Err(Error::parse("request body is required"));
    }
    let root = fail::spanned_tree(content)?;
    let mut source = Object::new();
    let mut to = Destination {
        index: String::new(),
        create: false,
        version_type: VersionType::Internal,
        routing: Routing::Keep,
        require_alias: said.require_alias?,
    };
    let mut asked = said.asked?;
    let members = root.as_object().ok_or_else(|| {
        let what = format!("Expected START_OBJECT but was: {}", root.token());
        object_error(&root, "reindex", &what)
    })?;
    let mut routing = None;
    for member in members {
        let value = &member.value;
        let inside = |cause: Error| {
            let what = format!("failed to parse field [{}]", member.key);
            object_error(value, "reindex", &what).caused_by(cause)
        };
        match member.key.as_str() {
            "source" => match value.to_value() {
                Value::Object(members) => source = members,
                _ => return Err(wrong_kind(value, "reindex", &member.key)),
            },
            "dest" => {
                routing = destination(value, &mut to, &mut asked.pipeline).map_err(|cause| {
                    let what = format!("failed to parse field [{}]", member.key);
                    let at = value.end;
                    Error::new(400, "x_content_parse_exception", format!("{at} [reindex] {what}"))
                        .caused_by(cause)
                })?;
            }
            "max_docs" | "size" => {
                let number = value.as_number().and_then(json::Number::as_i64);
                let number = number.ok_or_else(|| wrong_kind(value, "reindex", &member.key))?;
                docs_max(&mut asked, number).map_err(inside)?;
            }
            "conflicts" => {
                let word =
                    value.as_str().ok_or_else(|| wrong_kind(value, "reindex", "conflicts"))?;
                asked.proceed = conflicts(word).map_err(inside)?;
            }
            "script" => asked.script = Some(Script::parse(&value.to_value()).map_err(inside)?),
            other => {
                return Err(Error::new(
                    400,
                    "x_content_parse_exception",
                    format!("{} [reindex] unknown field [{other}]", member.key_at),
                ));
            }
        }
    }
    said_docs_max(&said.docs_max?, &mut asked)?;
    if let Some(remote) = source.get("remote") {
        return Err(refuse_remote(remote));
    }
    take_source(&mut source, &mut asked)?;
    check_source(&source).map_err(|cause| {
        let at = members.iter().find(|member| member.key == "source");
        let at = at.map_or(root.at, |member| member.value.end);
        let what = format!("{at} [reindex] failed to parse field [source]");
        Error::new(400, "x_content_parse_exception", what).caused_by(cause)
    })?;
    let mut problems = Vec::new();
    if asked.search.indices.is_empty() {
        problems.push("use _all if you really want to copy from all existing indexes");
    }
    if source.get("from").is_some() {
        problems.push("from is not supported in this context");
    }
    if asked.batch == 0 {
        problems.push("[size] cannot be [0] in a scroll context");
    }
    if to.index.is_empty() {
        problems.push("index must be specified");
    }
    match routing.as_deref() {
        None | Some("keep") => {}
        Some("discard") => to.routing = Routing::Discard,
        Some(text) => match text.strip_prefix('=') {
            Some(value) => to.routing = Routing::Set(value.to_owned()),
            None => {
                problems.push("routing must be unset, [keep], [discard] or [=<some new value>]")
            }
        },
    }
    if source.get("slice").is_some() && asked.slices != Slices::Count(1) {
        problems.push("can't specify both manual and automatic slicing at the same time");
    }
    if !problems.is_empty() {
        return Err(Error::validation(&problems));
    }
    asked.search.body = Bytes::from(json::to_vec(&Value::Object(source)));
    Ok((asked, to))
}

/// Tasks that have a speed.
const WORK: [&str; 3] = [
    "indices:data/write/delete/byquery",
    "indices:data/write/update/byquery",
    "indices:data/write/reindex",
];

/// `POST /_reindex/{task_id}/_rethrottle` and its two kin.
pub(super) async fn rethrottle<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    call.gate.cluster(call.route.privilege)?;
    let Some(speed) = speed(call)? else {
        return Err(Error::illegal_argument("requests_per_second is a required parameter"));
    };
    let id = super::task::TaskId::parse(call.segment("task_id"))?;
    super::task::check_groups(call)?;
    let Some(number) = id.number_here(call) else {
        return super::task::of_one(call, &id, None, true).await;
    };
    let known = call.core.task(number).await.filter(|state| state.outcome.is_none());
    if known.is_some_and(|state| !WORK.contains(&state.row.spec.action)) {
        return super::task::unfit(call, &id).await;
    }
    let row = call.core.rethrottle_task(number, speed).await;
    super::task::of_one(call, &id, row, true).await
}

/// The body as an object; empty where there is none.
fn body(content: &[u8]) -> Result<Value> {
    if content.is_empty() {
        return Ok(Value::object());
    }
    match fail::tree(content)? {
        value @ Value::Object(_) => Ok(value),
        other => {
            Err(Error::parse(format!("Expected [START_OBJECT] but found [{}]", other.token())))
        }
    }
}

/// What is asked for with the search that is left of the body.
fn with_search(mut asked: ByQueryCall, body: &Value) -> Result<ByQueryCall> {
    refuse_keys(body)?;
    asked.search.body = Bytes::from(json::to_vec(body));
    Ok(asked)
}

/// What the query of the URL asks for.
fn asked<E: Env>(call: &Call<'_, E>, work: Work) -> Result<ByQueryCall> {
    super::search::check_type(call.params.text("search_type"))?;
    let mut params = Vec::new();
    for (name, value) in call.params.iter() {
        if search::dsl::SEARCH_PARAMS.contains(&name)
            && !matches!(name, "size" | "version" | "stored_fields" | "timeout")
        {
            params.push((name.to_owned(), value.to_owned()));
        }
    }
    if let Some(timeout) = call.params.text("search_timeout") {
        params.push(("timeout".to_owned(), timeout.to_owned()));
    }
    let mut asked = ByQueryCall {
        work,
        search: SearchCall {
            indices: call.indices().to_owned(),
            options: call.params.indices_options(IndicesOptions::default())?,
            params,
            partial_results: false,
            routing: call.params.list("routing"),
            preference: preference(call)?,
            ..SearchCall::default()
        },
        proceed: call.params.text("conflicts").map_or(Ok(false), conflicts)?,
        docs_max: None,
        batch: BATCH,
        slices: slices(call)?,
        requests_per_second: speed(call)?.unwrap_or(f32::INFINITY),
        refresh: call.params.flag("refresh", false)?,
        pipeline: pipeline(call),
        lacking: None,
        script: None,
    };
    if let Some(size) = call.params.int("scroll_size")? {
        asked.batch = u32::try_from(size).map_err(|_| {
            Error::illegal_argument(format!("[size] parameter cannot be negative, found [{size}]"))
        })?;
    }
    let mut problems = Vec::new();
    if asked.batch == 0 {
        problems.push("[size] cannot be [0] in a scroll context");
    }
    if call.params.int("from")?.is_some_and(|from| from > 0) {
        problems.push("using [from] is not allowed in a scroll context");
        problems.push("from is not supported in this context");
    }
    if !problems.is_empty() {
        return Err(Error::validation(&problems));
    }
    Ok(asked)
}

/// Members of the body that are ours, taken out of what the search will read.
fn take_common(body: &mut Value, asked: &mut ByQueryCall, ours: &[&str]) -> Result<()> {
    let Value::Object(members) = std::mem::take(body) else { return Ok(()) };
    let mut rest = Object::new();
    for (key, value) in members.iter() {
        match key {
            "max_docs" | "size" if ours.contains(&key) => {
                let Some(number) = value.as_i64() else {
                    let reason = format!("Unknown key for a {} in [{key}].", value.token());
                    return Err(Error::new(400, "parsing_exception", reason));
                };
                docs_max(asked, number)?;
            }
            "conflicts" if ours.contains(&key) => {
                asked.proceed = conflicts(value.as_str().unwrap_or_default())?;
            }
            "script" if ours.contains(&key) => asked.script = Some(Script::parse(value)?),
            _ => {
                rest.insert(key, value.clone());
            }
        }
    }
    *body = Value::Object(rest);
    Ok(())
}

/// Members of a search that mean nothing here.
fn refuse_keys(body: &Value) -> Result<()> {
    for key in ["stored_fields", "fields", "from"] {
        if body.get(key).is_some() {
            return Err(Error::validation(&[format!("{key} is not supported in this context")]));
        }
    }
    Ok(())
}

fn docs_max(asked: &mut ByQueryCall, number: i64) -> Result<()> {
    let Ok(count) = u64::try_from(number) else {
        return Err(Error::illegal_argument(format!(
            "[max_docs] parameter cannot be negative, found [{number}]"
        )));
    };
    match asked.docs_max {
        Some(known) if known != count => Err(Error::illegal_argument(format!(
            "[max_docs] set to two different values [{known}] and [{count}]"
        ))),
        _ => {
            asked.docs_max = Some(count);
            Ok(())
        }
    }
}

/// How many documents the URL wants at most, by either name.
fn url_docs_max<E: Env>(call: &Call<'_, E>) -> Result<Vec<i64>> {
    let mut counts = Vec::new();
    for name in ["max_docs", "size"] {
        // Elasticsearch 6 said -1 for all.
        counts.extend(call.params.int(name)?.filter(|count| *count != -1).map(i64::from));
    }
    Ok(counts)
}

/// Takes what [`url_docs_max`] found.
fn said_docs_max(counts: &[i64], asked: &mut ByQueryCall) -> Result<()> {
    counts.iter().try_for_each(|count| docs_max(asked, *count))?;
    if let (Some(docs), Slices::Count(count)) = (asked.docs_max, asked.slices)
        && docs < u64::from(count)
    {
        return Err(Error::illegal_argument("[max_docs] should be >= [slices]"));
    }
    Ok(())
}

fn conflicts(word: &str) -> Result<bool> {
    match word {
        "proceed" => Ok(true),
        "abort" => Ok(false),
        other => Err(Error::illegal_argument(format!(
            "conflicts may only be \"proceed\" or \"abort\" but was [{other}]"
        ))),
    }
}

fn slices<E: Env>(call: &Call<'_, E>) -> Result<Slices> {
    let Some(text) = call.params.text("slices") else { return Ok(Slices::Count(1)) };
    if text == "auto" {
        return Ok(Slices::Auto);
    }
    let bad = |text: &str| {
        let error = Error::illegal_argument(format!(
            "[slices] must be a positive integer or the string \"auto\", but was [{text}]"
        ));
        if text.parse::<i32>().is_ok() {
            return error;
        }
        let reason = format!("For input string: \"{text}\"");
        error.caused_by(Error::new(400, "number_format_exception", reason))
    };
    match text.parse::<u32>() {
        Ok(count @ 1..=1024) => Ok(Slices::Count(count)),
        Ok(count @ 1025..) => Err(Error::illegal_argument(format!(
            "The number of slices [{count}] is too large. It must be less than [1024]. This limit \
             can be set by changing the [index.max_slices_per_scroll] index level setting."
        ))),
        _ => Err(bad(text)),
    }
}

/// Documents a second; infinite: no limit.
fn speed<E: Env>(call: &Call<'_, E>) -> Result<Option<f32>> {
    let Some(text) = call.params.text("requests_per_second") else { return Ok(None) };
    let bad = || {
        Error::illegal_argument(
            "[requests_per_second] must be a float greater than 0. Use -1 to disable throttling.",
        )
    };
    match text.parse::<f32>() {
        Ok(-1.0) => Ok(Some(f32::INFINITY)),
        Ok(speed) if speed > 0.0 && speed.is_finite() => Ok(Some(speed)),
        Ok(_) => Err(bad()),
        Err(_) => Err(bad().caused_by(Error::new(
            400,
            "number_format_exception",
            format!("For input string: \"{text}\""),
        ))),
    }
}

fn object_error(node: &Node, parser: &str, what: &str) -> Error {
    Error::new(400, "x_content_parse_exception", format!("{} [{parser}] {what}", node.at))
}

fn wrong_kind(node: &Node, parser: &str, key: &str) -> Error {
    let what = format!("{key} doesn't support values of type: {}", node.token());
    object_error(node, parser, &what)
}

/// `dest`; answers what it says of routing.
fn destination(
    node: &Node,
    to: &mut Destination,
    pipeline: &mut Option<Box<str>>,
) -> Result<Option<String>> {
    let mut routing = None;
    let members = node.as_object().ok_or_else(|| {
        let what = format!("Expected START_OBJECT but was: {}", node.token());
        object_error(node, "dest", &what)
    })?;
    for member in members {
        let value = &member.value;
        let text = || value.as_str().ok_or_else(|| wrong_kind(value, "dest", &member.key));
        let inside = |cause: Error| {
            let what = format!("failed to parse field [{}]", member.key);
            object_error(value, "dest", &what).caused_by(cause)
        };
        match member.key.as_str() {
            "index" => text()?.clone_into(&mut to.index),
            "routing" => routing = Some(text()?.to_owned()),
            "op_type" => match text()? {
                "index" => to.create = false,
                "create" => to.create = true,
                other => {
                    return Err(inside(Error::illegal_argument(format!(
                        "opType must be 'create' or 'index', found: [{other}]"
                    ))));
                }
            },
            "version_type" => {
                to.version_type = version_type(Some(text()?)).map_err(inside)?;
            }
            "pipeline" => *pipeline = Some(text()?.into()),
            other => {
                return Err(Error::new(
                    400,
                    "x_content_parse_exception",
                    format!("{} [dest] unknown field [{other}]", member.key_at),
                ));
            }
        }
    }
    Ok(routing)
}

/// Members of `source` that are not the search's own.
fn take_source(source: &mut Object, asked: &mut ByQueryCall) -> Result<()> {
    let mut rest = Object::new();
    for (key, value) in source.iter() {
        match (key, value) {
            ("index", Value::String(name)) => asked.search.indices.clone_from(name),
            ("index", Value::Array(names)) => {
                let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
                asked.search.indices = names.join(",");
            }
            ("size", Value::Number(number)) => {
                let size = number.as_i64().unwrap_or(-1);
                asked.batch = u32::try_from(size).map_err(|_| {
                    Error::illegal_argument(format!(
                        "[size] parameter cannot be negative, found [{size}]"
                    ))
                })?;
            }
            _ => {
                rest.insert(key, value.clone());
            }
        }
    }
    *source = rest;
    Ok(())
}

/// What the search will read of `source`.
fn check_source(source: &Object) -> Result<()> {
    let body = Bytes::from(json::to_vec(&Value::Object(source.clone())));
    engine::ops::search::check(&SearchCall { body, ..SearchCall::default() })
}

/// Other clusters are not read: no host is on the list of those allowed.
fn refuse_remote(remote: &Value) -> Error {
    const KNOWN: [&str; 7] =
        ["host", "username", "password", "headers", "connect_timeout", "socket_timeout", "api_key"];
    let host = remote.get("host").and_then(Value::as_str).unwrap_or_default();
    let Some((_, address)) = host.split_once("://") else {
        return Error::illegal_argument(format!(
            "[host] must be of the form [scheme]://[host]:[port](/[pathPrefix])? but was [{host}]"
        ));
    };
    for key in ["connect_timeout", "socket_timeout"] {
        if let Some(text) = remote.get(key).and_then(Value::as_str)
            && let Err(error) = crate::params::time_ms(key, text)
        {
            return error.caused_by(Error::new(
                400,
                "number_format_exception",
                format!("For input string: \"{text}\""),
            ));
        }
    }
    let unknown: Vec<&str> = remote
        .as_object()
        .into_iter()
        .flat_map(|members| members.iter().map(|(key, _)| key))
        .filter(|key| !KNOWN.contains(key))
        .collect();
    if !unknown.is_empty() {
        return Error::illegal_argument(format!(
            "Unsupported fields in [remote]: [{}]",
            unknown.join(",")
        ));
    }
    let address = address.split('/').next().unwrap_or_default();
    Error::illegal_argument(format!("[{address}] not whitelisted in reindex.remote.whitelist"))
}

/// Does it, or begins to.
async fn run<E: Env>(
    call: &Call<'_, E>,
    mut asked: ByQueryCall,
    action: &'static str,
    description: String,
    target: Option<&str>,
) -> Result<Reply> {
    if target.is_none() {
        said_docs_max(&url_docs_max(call)?, &mut asked)?;
    }
    let copies = Copies::read(call)?;
    let written = target.unwrap_or_else(|| call.indices());
    if let Some(error) = copies::lacking(call, copies, written, None)? {
        asked.lacking = Some(Lacking { wait: copies::patience(call)?, error });
    }
    let spec = TaskSpec {
        kind: "transport",
        action,
        description,
        cancellable: true,
        parent: None,
        headers: headers(call),
        owner: call.gate.owner().to_owned(),
    };
    let work = asked.work.clone();
    let memory = call.core.room("task", TASK_BYTES + TEXT_COPIES * spec.held_bytes())?;
    let running = call.core.begin_task(spec);
    if call.params.flag("wait_for_completion", true)? {
        // It may take as long as the caller likes: what it may do is what it may do then.
        let gate = Renewed { door: call.gate, now: call.caller.lasting_gate(call) };
        let reply = call.core.by_query(&gate, &asked, running.control(), call.left).await?;
        let status = status(&reply);
        for failure in &reply.failures {
            call.told.borrow_mut().failed(&failure.cause);
        }
        return Ok(call.json(status, |writer| {
            writer.begin_object();
            render::answer(writer, &reply, render::Of::work(&work), call.human, call.trace);
            writer.end_object();
        }));
    }
    let id = running.control().number();
    begin(call, asked, running, memory);
    let node = &call.core.shared().config.info.id;
    Ok(call.json(200, |writer| {
        writer.begin_object().field_str("task", &format!("{node}:{id}")).end_object();
    }))
}

/// The work goes on when the caller is gone.
fn begin<E: Env>(call: &Call<'_, E>, asked: ByQueryCall, running: Running<E>, memory: Taken) {
    let gate = call.caller.lasting_gate(call);
    let core = std::rc::Rc::clone(call.core);
    let turns = call.core.turns();
    turns.run(turns.current(), async move {
        let nobody = Left::default();
        let outcome = core.by_query(gate.as_ref(), &asked, running.control(), &nobody).await;
        let mut told = BTreeSet::new();
        let failed = outcome.iter().flat_map(|reply| &reply.failures).map(|failure| &failure.cause);
        for why in failed.chain(outcome.as_ref().err()) {
            if told.insert(&why.reason) && told.len() <= TOLD_MAX {
                gate.failed(why);
            }
        }
        let ended = running.ended(outcome);
        super::task::store(&core, &ended).await;
        running.keep(ended);
        drop(memory);
    });
}

/// 200, or the worst of what went wrong.
fn status(reply: &ByQueryReply) -> u16 {
    let base = if reply.timed_out { 408 } else { 200 };
    reply.failures.iter().map(|failure| failure.cause.status).max().unwrap_or(base).max(base)
}
