//! `_mget`: several documents by id.

use engine::ops::document::GetRequest;
use engine::{Error, Result};
use env::budget::Taken;
use env::{Env, Rounds};
use json::{Object, Value, Writer};

use super::document::{
    preference, routing, source_filter, source_of_body, stored_fields, version_type,
};
use super::long_answer;
use crate::call::Call;
use crate::fail;
use crate::render::document;
use crate::reply::Reply;

/// `GET|POST /_mget`, `/{index}/_mget`.
pub(super) async fn multi_get<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    preference(call)?;
    if call.is_blank()? {
        return Err(fail::nothing("unexpected token [null], expected [START_OBJECT]"));
    }
    if call.content()?.is_empty() {
        return Err(Error::parse("request body or source parameter is required"));
    }
    let defaults = GetRequest {
        index: call.indices().to_owned(),
        id: String::new(),
        routing: routing(call),
        realtime: call.params.flag("realtime", true)?,
        refresh: call.params.flag("refresh", false)?,
        version: None,
        version_type: version_type(None)?,
        source: source_filter(call)?,
        stored_fields: stored_fields(call),
    };
    let requests = call.read(move |content| read(content, &defaults)).await?;
    let gotten = call.core.multi_get(call.gate, &requests).await;
    // The answer repeats them.
    let room = call.core.room("documents", gotten.memory.as_ref().map_or(0, Taken::bytes))?;
    let mut body = long_answer::place(room.bytes());
    let mut writer = Writer::new(&mut body);
    writer.begin_object().key("docs").begin_array();
    let mut rounds = Rounds::default();
    for (request, reply) in requests.into_iter().zip(gotten.replies) {
        if let Err(error) = &reply {
            call.told.borrow_mut().failed(error);
        }
        document::got_item(&mut writer, &request.index, &request.id, &reply, call.trace);
        let found = reply.ok().and_then(|reply| reply.found?.source);
        rounds.done(call.core.env().spawn(), found.map_or(0, |source| source.len())).await;
    }
    writer.end_array().end_object();
    Ok(Reply::json(200, body).counted(room))
}

/// The documents that a body asks for.
fn read(content: &[u8], defaults: &GetRequest) -> Result<Vec<GetRequest>> {
    let body = &fail::tree(content)?;
    let failed = |reason: String, at: json::Place| {
        let error = Error::new(400, "parsing_exception", reason);
        error.with("line", at.line).with("col", at.column)
    };
    let unexpected = |token: &str, expected: &str, at: json::Place| {
        failed(format!("unexpected token [{token}], expected [{expected}]"), at)
    };
    let begin = json::Place { line: 1, column: 1 };
    let object = body.as_object().ok_or_else(|| unexpected(body.token(), "START_OBJECT", begin))?;
    let mut requests = Vec::new();
    for (key, value) in object.iter() {
        let at = || fail::place_of_value(content, key);
        let list = value
            .as_array()
            .ok_or_else(|| unexpected(value.token(), "FIELD_NAME] or [START_ARRAY", at()))?;
        match key {
            "docs" => {
                for item in list {
                    let item = item.as_object().ok_or_else(|| {
                        Error::illegal_argument("docs array element should include an object")
                    })?;
                    requests.push(one(item, defaults)?);
                }
            }
            "ids" => {
                for id in list {
                    let id = scalar(id).ok_or_else(|| {
                        Error::illegal_argument("ids array element should only contain ids")
                    })?;
                    requests.push(GetRequest { id, ..defaults.clone() });
                }
            }
            other => {
                let reason =
                    format!("unknown key [{other}] for a START_ARRAY, expected [docs] or [ids]");
                return Err(failed(reason, at()));
            }
        }
    }
    check(&requests)?;
    Ok(requests)
}

fn check(requests: &[GetRequest]) -> Result<()> {
    if requests.is_empty() {
        return Err(Error::validation(&["no documents to get"]));
    }
    let mut problems = Vec::new();
    for (at, request) in requests.iter().enumerate() {
        if request.index.is_empty() {
            problems.push(format!("index is missing for doc {at}"));
        }
        if request.id.is_empty() {
            problems.push(format!("id is missing for doc {at}"));
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(Error::validation(&problems)) }
}

fn one(item: &Object, defaults: &GetRequest) -> Result<GetRequest> {
    let mut request = defaults.clone();
    let failed = |field: &str, value: &Value| {
        Error::parse(format!(
            "failed to parse multi get request. unexpected token [{}] for field [{field}]",
            value.token()
        ))
    };
    // What is null is as if it were not there.
    for (key, value) in item.iter().filter(|(_, value)| !value.is_null()) {
        let text = || scalar(value).ok_or_else(|| failed(key, value));
        match key {
            "_index" => request.index = text()?,
            "_id" => request.id = text()?,
            "routing" => request.routing = Some(text()?),
            "version" => {
                let version = text()?.parse().map_err(|_| failed(key, value))?;
                request.version = Some(version);
            }
            "version_type" => request.version_type = version_type(Some(&text()?))?,
            "stored_fields" => {
                request.stored_fields = match value {
                    Value::String(name) => [name.clone()].into(),
                    Value::Array(names) => {
                        names.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect()
                    }
                    _ => return Err(failed(key, value)),
                };
                let source = request.stored_fields.iter().any(|name| name == "_source");
                if item.get("_source").is_none() {
                    request.source.disabled = !source;
                }
            }
            "_source" => request.source = source_of_body(value)?,
            other => {
                return Err(Error::parse(format!(
                    "failed to parse multi get request. unknown field [{other}]"
                )));
            }
        }
    }
    Ok(request)
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.text().to_owned()),
        Value::Bool(value) => Some(value.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use engine::ops::document::{SourceFilter, VersionType};

    use super::*;

    fn defaults() -> GetRequest {
        GetRequest {
            index: "i".into(),
            id: String::new(),
            routing: None,
            realtime: true,
            refresh: false,
            version: None,
            version_type: VersionType::Internal,
            source: SourceFilter::default(),
            stored_fields: std::sync::Arc::default(),
        }
    }

    fn ask(body: &str) -> Result<Vec<GetRequest>> {
        read(body.as_bytes(), &defaults())
    }

    #[test]
    fn documents_are_asked_for_in_two_forms() {
        let asked =
            ask(r#"{"docs":[{"_id":1},{"_index":"j","_id":"2","routing":"r","_source":["a"]},
                {"_id":"3","_source":{"excludes":"b"}},{"_id":"4","_source":false}]}"#)
            .expect("good");
        let names: Vec<(&str, &str)> =
            asked.iter().map(|one| (one.index.as_str(), one.id.as_str())).collect();
        assert_eq!(names, [("i", "1"), ("j", "2"), ("i", "3"), ("i", "4")]);
        assert_eq!(*asked[1].source.includes, ["a"]);
        assert_eq!(*asked[2].source.excludes, ["b"]);
        assert!(asked[3].source.disabled);
        assert_eq!(ask(r#"{"ids":["a",5]}"#).expect("good").len(), 2);
    }

    #[test]
    fn bad_bodies_are_named() {
        let reason = |body: &str| ask(body).expect_err(body).reason;
        assert_eq!(reason("{}"), "Validation Failed: 1: no documents to get;");
        for missing in [r#"{"docs":[{}]}"#, r#"{"docs":[{"_id":null,"routing":null}]}"#] {
            assert_eq!(reason(missing), "Validation Failed: 1: id is missing for doc 0;");
        }
        for (body, column) in
            [(r#"{"ids": "1"}"#, 9), (r#"{"docs": {}}"#, 10), (r#"{"foo": []}"#, 9)]
        {
            let told = ask(body).expect_err(body).meta;
            assert_eq!(told, [("line".into(), 1.into()), ("col".into(), column.into())], "{body}");
        }
        assert!(reason(r#"{"foo":[]}"#).starts_with("unknown key [foo] for a START_ARRAY"));
        assert!(reason("[]").starts_with("unexpected token [START_ARRAY]"));
        assert!(reason(r#"{"docs":[1]}"#).starts_with("docs array element"));
        assert!(reason(r#"{"docs":[{"_id":"1","foo":1}]}"#).ends_with("unknown field [foo]"));
        assert!(reason(r#"{"docs":[{"_id":{}}]}"#).contains("START_OBJECT"));
    }
}
