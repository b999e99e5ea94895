//! `_termvectors` and `_mtermvectors`.

use std::sync::Arc;

use engine::ops::document::GetRequest;
use engine::ops::vectors::{VectorsCall, VectorsReply};
use engine::{Error, Result};
use env::{Bytes, Env, Spawn};
use json::{Object, Value, Writer};
use search::vectors::{Filter, Request, Term, Vector};

use super::document::{preference, routing, source_filter, version_type};
use crate::call::Call;
use crate::fail;
use crate::reply::Reply;

/// Documents of one request at most.
const DOCS_MAX: usize = 10_000;

/// `GET|POST /{index}/_termvectors`, `/{index}/_termvectors/{id}`.
pub(super) async fn one<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    preference(call)?;
    let mut asked = defaults(call)?;
    asked.get.index = call.indices().to_owned();
    asked.get.id = call.path.get("id").unwrap_or_default().to_owned();
    if let Some(body) = body(call).await? {
        read(body.as_object().unwrap_or(&Object::new()), &mut asked)?;
    }
    if asked.get.id.is_empty() && asked.artificial.is_none() {
        return Err(Error::validation(&["id or doc is missing"]));
    }
    let mut reply = call.core.term_vectors(call.gate, &call.core.state(), &asked).await?;
    let memory = reply.memory.take();
    let mut body = Vec::new();
    write(call, &mut Writer::new(&mut body), reply).await;
    let answer = Reply::json(200, body);
    Ok(match memory {
        Some(memory) => answer.counted(memory),
        None => answer,
    })
}

/// Memory for what is written is taken in such steps.
const STEP_BYTES: usize = 64 << 10;

/// An answer that grows is there twice as it moves, the second time with as much room again.
const GROWING_COPIES: usize = 3;

/// `GET|POST /_mtermvectors`, `/{index}/_mtermvectors`.
pub(super) async fn many<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    preference(call)?;
    let mut common = defaults(call)?;
    common.get.index = call.indices().to_owned();
    let (mut asked, mut said_bytes) = (Vec::new(), 0);
    if let Some(ids) = call.params.text("ids") {
        for id in ids.split(',').filter(|id| !id.is_empty()) {
            let mut one = common.clone();
            one.get.id = id.to_owned();
            asked.push(one);
        }
    }
    if let Some(body) = body(call).await? {
        if let Some(parameters) = body.get("parameters").and_then(Value::as_object) {
            read(parameters, &mut common)?;
            let routing = common.get.routing.as_ref().map_or(0, String::len);
            said_bytes = common.get.index.len() + routing;
        }
        for (key, value) in body.as_object().map(Object::iter).into_iter().flatten() {
            // Refused before each of them is read.
            check_count(value.as_array().map_or(0, <[Value]>::len))?;
            match (key, value.as_array()) {
                ("parameters", _) => {}
                ("docs", Some(docs)) => {
                    for doc in docs {
                        let doc = doc.as_object().ok_or_else(|| {
                            Error::illegal_argument("docs array element should include an object")
                        })?;
                        let mut one = common.clone();
                        read(doc, &mut one)?;
                        asked.push(one);
                    }
                }
                ("ids", Some(ids)) => {
                    let _room = call.core.room("term_vectors", ids.len() * said_bytes)?;
                    for id in ids {
                        let mut one = common.clone();
                        one.get.id = text(id).ok_or_else(|| {
                            Error::illegal_argument("ids array element should only contain ids")
                        })?;
                        asked.push(one);
                    }
                }
                (other, _) => {
                    return Err(Error::parse(format!(
                        "No parameter named [{other}] and type ARRAY"
                    )));
                }
            }
        }
    }
    if asked.is_empty() {
        return Err(Error::validation(&["multi term vectors: no documents requested"]));
    }
    check_count(asked.len())?;
    let said_bytes = asked.len() * said_bytes;
    let (mut memory, moment) = (call.core.room("term_vectors", said_bytes)?, call.core.state());
    let mut body = Vec::new();
    let mut writer = Writer::new(&mut body);
    writer.begin_object().key("docs").begin_array();
    for one in &asked {
        let reply = call.core.term_vectors(call.gate, &moment, one).await;
        // What does not fit any more fails alone. Of the others the text stays until all are answered.
        let reply = reply.and_then(|mut reply| {
            if let Some(taken) = &mut reply.memory {
                let text_bytes = taken.bytes() / 2;
                taken.shrink_to(text_bytes);
                if !memory.grow(text_bytes) {
                    return Err(call.core.no_memory("term_vectors", text_bytes));
                }
            }
            Ok(reply)
        });
        match reply {
            Ok(reply) => write(call, &mut writer, reply).await,
            Err(mut error) => {
                call.told.borrow_mut().failed(&error);
                // An item tells of a missing index without its resource.
                error.meta.retain(|(name, _)| !name.starts_with("resource."));
                writer
                    .begin_object()
                    .field_str("_index", &one.get.index)
                    .field_str("_id", &one.get.id);
                writer.key("error");
                fail::whole(&mut writer, &error, call.trace);
                writer.end_object();
            }
        }
        // Names of fields, and what is wrong with an item, may be longer than its terms.
        let written = said_bytes + writer.written().len().saturating_mul(GROWING_COPIES);
        let lacking = written.saturating_sub(memory.bytes());
        if lacking > 0 && !memory.grow(lacking.next_multiple_of(STEP_BYTES)) {
            return Err(call.core.no_memory("term_vectors", written));
        }
    }
    writer.end_array().end_object();
    memory.shrink_to(body.capacity());
    Ok(Reply::json(200, body).counted(memory))
}

async fn body<E: Env>(call: &Call<'_, E>) -> Result<Option<Value>> {
    call.read(|content| {
        if content.is_empty() {
            return Ok(None);
        }
        match fail::tree(content)? {
            body @ Value::Object(_) => Ok(Some(body)),
            other => {
                Err(Error::parse(format!("Expected [START_OBJECT] but found [{}]", other.token())))
            }
        }
    })
    .await
}

fn check_count(count: usize) -> Result<()> {
    if count > DOCS_MAX {
        return Err(Error::illegal_argument(format!("more than {DOCS_MAX} documents")));
    }
    Ok(())
}

/// What the parameters say.
fn defaults<E: Env>(call: &Call<'_, E>) -> Result<VectorsCall> {
    let params = &call.params;
    params.flag("payloads", true)?;
    Ok(VectorsCall {
        get: GetRequest {
            index: String::new(),
            id: String::new(),
            routing: routing(call),
            realtime: params.flag("realtime", true)?,
            refresh: false,
            version: params.long("version")?,
            version_type: version_type(params.text("version_type"))?,
            source: source_filter(call)?,
            stored_fields: Arc::default(),
        },
        artificial: None,
        request: Request {
            fields: params.text("fields").map(|names| {
                names.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect()
            }),
            offsets: params.flag("offsets", true)?,
            positions: params.flag("positions", true)?,
            term_statistics: params.flag("term_statistics", false)?,
            field_statistics: params.flag("field_statistics", true)?,
            ..Request::default()
        },
    })
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.text().to_owned()),
        Value::Bool(value) => Some(value.to_string()),
        _ => None,
    }
}

/// Reads one document's part of a body.
fn read(body: &Object, asked: &mut VectorsCall) -> Result<()> {
    let wrong = |key: &str| {
        Error::parse(format!("failed to parse term vectors request. unknown field [{key}]"))
    };
    let flag = |key: &str, value: &Value| match value {
        Value::Bool(value) => Ok(*value),
        Value::String(text) if text == "true" => Ok(true),
        Value::String(text) if text == "false" => Ok(false),
        _ => Err(Error::parse(format!("[{key}] must be true or false"))),
    };
    for (key, value) in body.iter() {
        match key {
            "_index" => asked.get.index = text(value).ok_or_else(|| wrong(key))?,
            "_id" => asked.get.id = text(value).ok_or_else(|| wrong(key))?,
            "routing" => asked.get.routing = text(value),
            "fields" => {
                let names = value.as_array().ok_or_else(|| {
                    Error::parse(
                        "failed to parse term vectors request. field [fields] must be an array",
                    )
                })?;
                asked.request.fields = Some(names.iter().filter_map(text).collect());
            }
            "offsets" => asked.request.offsets = flag(key, value)?,
            "positions" => asked.request.positions = flag(key, value)?,
            "payloads" => {
                flag(key, value)?;
            }
            "term_statistics" | "termStatistics" => {
                asked.request.term_statistics = flag(key, value)?;
            }
            "field_statistics" | "fieldStatistics" => {
                asked.request.field_statistics = flag(key, value)?;
            }
            "doc" if value.as_object().is_some() => {
                asked.artificial = Some(Bytes::from(json::to_string(value).into_bytes()));
            }
            "per_field_analyzer" | "perFieldAnalyzer" => {
                for (field, name) in value.as_object().map(Object::iter).into_iter().flatten() {
                    let name = text(name).ok_or_else(|| wrong(key))?;
                    Arc::make_mut(&mut asked.request.analyzers).insert(field.to_owned(), name);
                }
            }
            "filter" => asked.request.filter = Some(filter(value)?),
            "version" => asked.get.version = text(value).and_then(|text| text.parse().ok()),
            "version_type" => asked.get.version_type = version_type(text(value).as_deref())?,
            other => return Err(wrong(other)),
        }
    }
    Ok(())
}

fn filter(body: &Value) -> Result<Filter> {
    let mut filter = Filter::default();
    for (key, value) in body.as_object().map(Object::iter).into_iter().flatten() {
        let number = text(value).and_then(|text| text.parse::<u64>().ok()).ok_or_else(|| {
            Error::parse(format!("[{key}] must be a number that is not negative"))
        })?;
        match key {
            "max_num_terms" => filter.max_num_terms = number as usize,
            "min_term_freq" => filter.min_term_freq = number,
            "max_term_freq" => filter.max_term_freq = number,
            "min_doc_freq" => filter.min_doc_freq = number,
            "max_doc_freq" => filter.max_doc_freq = number,
            "min_word_length" => filter.min_word_length = number as usize,
            "max_word_length" => filter.max_word_length = number as usize,
            other => {
                return Err(Error::parse(format!(
                    "failed to parse term vectors request. the field [{other}] is not valid for \
                     filter parameter for term vector request"
                )));
            }
        }
    }
    Ok(filter)
}

/// Terms and places that are written before others may run: some ten microseconds.
const STEP: usize = 128;

/// Writes the vectors of a document, and lets each go as it is written: there may be a million.
async fn write<E: Env>(call: &Call<'_, E>, writer: &mut Writer<'_>, reply: VectorsReply) {
    writer.begin_object().field_str("_index", &reply.index);
    if let Some(id) = &reply.id {
        writer.field_str("_id", id);
    }
    writer
        .field_u64("_version", reply.version)
        .field_bool("found", reply.found)
        .field_u64("took", reply.took_ms);
    if reply.found {
        writer.key("term_vectors").begin_object();
        for vector in reply.vectors {
            writer.key(&vector.field);
            self::vector(call, writer, vector).await;
        }
        writer.end_object();
    }
    writer.end_object();
}

async fn vector<E: Env>(call: &Call<'_, E>, writer: &mut Writer<'_>, vector: Vector) {
    writer.begin_object();
    if let Some([doc_freq, docs, total]) = vector.statistics {
        writer.key("field_statistics").begin_object();
        writer
            .field_u64("sum_doc_freq", doc_freq)
            .field_u64("doc_count", docs)
            .field_u64("sum_ttf", total);
        writer.end_object();
    }
    writer.key("terms").begin_object();
    let mut done = 0;
    for term in vector.terms {
        writer.key(&term.term);
        self::term(call, writer, &term).await;
        done += 1;
        if done % STEP == 0 {
            call.core.env().spawn().yield_if_needed().await;
        }
    }
    writer.end_object().end_object();
}

async fn term<E: Env>(call: &Call<'_, E>, writer: &mut Writer<'_>, term: &Term) {
    writer.begin_object();
    if let Some((docs, total)) = term.statistics {
        writer.field_u64("doc_freq", docs).field_u64("ttf", total);
    }
    writer.field_u64("term_freq", term.freq);
    if !term.tokens.is_empty() {
        writer.key("tokens").begin_array();
        for (at, token) in term.tokens.iter().enumerate() {
            writer.begin_object();
            if let Some(position) = token.position {
                writer.field_u64("position", u64::from(position));
            }
            if let Some((start, end)) = token.offsets {
                writer
                    .field_u64("start_offset", u64::from(start))
                    .field_u64("end_offset", u64::from(end));
            }
            writer.end_object();
            if at % STEP == STEP - 1 {
                call.core.env().spawn().yield_if_needed().await;
            }
        }
        writer.end_array();
    }
    if let Some(score) = term.score {
        writer.key("score").f32(score);
    }
    writer.end_object();
}
