//! One document: index, create, get, exists, its source alone, delete.

use std::sync::Arc;

use engine::index::preference::Preference;
use engine::ops::Refresh;
use engine::ops::document::{
    GetRequest, SourceFilter, VersionType, WriteAction, WriteItem, WriteResult, parse_refresh,
};
use engine::{Error, Result};
use env::{Bytes, Env};
use http::target::encode_segment;
use json::Value;

use super::copies::{self, Copies};
use super::nodes::is_chosen;
use crate::call::Call;
use crate::render::document;
use crate::reply::Reply;

/// `PUT|POST /{index}/_doc/{id}`.
pub(super) async fn index<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let action = op_type(call)?.unwrap_or(WriteAction::Index);
    write(call, action, Some(call.segment("id").to_owned())).await
}

/// `POST /{index}/_doc`.
pub(super) async fn index_auto_id<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let action = op_type(call)?.unwrap_or(WriteAction::Create);
    write(call, action, None).await
}

/// `PUT|POST /{index}/_create/{id}`.
pub(super) async fn create<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    match call.params.text("op_type") {
        Some(word) if !word.eq_ignore_ascii_case("create") => {
            return Err(Error::illegal_argument(format!(
                "opType must be 'create', found: [{word}]"
            )));
        }
        _ => {}
    }
    write(call, WriteAction::Create, Some(call.segment("id").to_owned())).await
}

/// `DELETE /{index}/_doc/{id}`.
pub(super) async fn delete<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    write(call, WriteAction::Delete, Some(call.segment("id").to_owned())).await
}

async fn write<E: Env>(
    call: &Call<'_, E>,
    action: WriteAction,
    id: Option<String>,
) -> Result<Reply> {
    let refresh = refresh(call)?;
    let copies = Copies::read(call)?;
    let is_delete = action == WriteAction::Delete;
    if call.body.is_empty() && !is_delete {
        return Err(Error::parse("request body is required"));
    }
    let item = WriteItem {
        action,
        index: call.indices().to_owned(),
        id,
        routing: routing(call),
        if_seq_no: condition(call, "if_seq_no", "sequence numbers")?,
        if_primary_term: condition(call, "if_primary_term", "primary term")?,
        version: call.params.long("version")?,
        version_type: version_type(call.params.text("version_type"))?,
        require_alias: call.params.flag("require_alias", false)?,
        require_data_stream: call.params.flag("require_data_stream", false)?,
        only_absent: false,
        pipeline: pipeline(call),
        templates: None,
        source: if is_delete { Bytes::empty() } else { without_mark(call.body.clone()) },
        update: None,
    };
    copies::wait(call, copies, &item).await?;
    answer_write(call, item, refresh).await
}

/// Does one write and tells what it did.
pub(super) async fn answer_write<E: Env>(
    call: &Call<'_, E>,
    item: WriteItem,
    refresh: Refresh,
) -> Result<Reply> {
    let routing = item.routing.clone();
    let done = call.core.write_for(call.gate, item, refresh, call.left).await;
    let mut done = done.map_err(|mut error| {
        copies::tell_whole(call, &mut error);
        error
    })?;
    if done.result == WriteResult::Noop {
        // Elasticsearch counts no copies here, but does in a bulk request.
        (done.shards_total, done.shards_successful) = (0, 0);
    }
    let mut reply = call.json(done.result.status(), |writer| {
        writer.begin_object();
        document::written(writer, &done);
        writer.end_object();
    });
    if done.result == WriteResult::Created {
        reply = reply.field("Location", location(&done.index, &done.id, routing.as_deref()));
    }
    Ok(reply)
}

/// Where a new document is to be found.
fn location(index: &str, id: &str, routing: Option<&str>) -> String {
    let mut path = b"/".to_vec();
    encode_segment(index, &mut path);
    path.extend_from_slice(b"/_doc/");
    encode_segment(id, &mut path);
    let mut text = String::from_utf8(path).expect("escapes are ASCII");
    if let Some(routing) = routing {
        let mut value = Vec::new();
        encode_segment(routing, &mut value);
        let value = String::from_utf8(value).expect("escapes are ASCII");
        text.push_str("?routing=");
        text.push_str(&value.replace("%20", "+"));
    }
    text
}

/// `GET|HEAD /{index}/_doc/{id}`.
pub(super) async fn get<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let request = get_request(call)?;
    let reply = call.core.get(call.gate, &request).await?;
    let status = if reply.found.is_some() { 200 } else { 404 };
    Ok(call.json(status, |writer| document::got(writer, &reply)))
}

/// A document without the byte order mark that it may begin with: as part of an answer it would be no JSON. What
/// begins with two is none, and is left for its reader to say so.
pub(super) fn without_mark(source: Bytes) -> Bytes {
    const MARK: &[u8] = "\u{feff}".as_bytes();
    match source.strip_prefix(MARK) {
        Some(rest) if !rest.starts_with(MARK) => {
            source.slice(MARK.len()..source.len()).unwrap_or_default()
        }
        _ => source,
    }
}

/// `GET|HEAD /{index}/_source/{id}`.
pub(super) async fn source<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let request = get_request(call)?;
    if request.source.disabled {
        return Err(Error::validation(&["fetching source can not be disabled"]));
    }
    let reply = call.core.get(call.gate, &request).await?;
    let (what, source) = match reply.found {
        Some(found) => ("Source", found.source),
        None => ("Document", None),
    };
    match source {
        Some(source) => Ok(Reply::json(200, source.to_vec())),
        None => Err(Error::new(
            404,
            "resource_not_found_exception",
            format!("{what} not found [{}]/[{}]", reply.index, reply.id),
        )),
    }
}

fn get_request<E: Env>(call: &Call<'_, E>) -> Result<GetRequest> {
    preference(call)?;
    Ok(GetRequest {
        index: call.indices().to_owned(),
        id: call.segment("id").to_owned(),
        routing: routing(call),
        realtime: call.params.flag("realtime", true)?,
        refresh: call.params.flag("refresh", false)?,
        version: call.params.long("version")?,
        version_type: version_type(call.params.text("version_type"))?,
        source: source_filter(call)?,
        stored_fields: stored_fields(call),
    })
}

/// `stored_fields`, without the names of what is always told.
pub(super) fn stored_fields<E: Env>(call: &Call<'_, E>) -> Arc<[String]> {
    call.params.list("stored_fields").into()
}

/// `_source`, `_source_includes`, `_source_excludes` of the query.
pub(super) fn source_filter<E: Env>(call: &Call<'_, E>) -> Result<SourceFilter> {
    let mut filter = SourceFilter::default();
    match call.params.text("_source") {
        None | Some("true" | "") => {}
        // What paths are named beside it says nothing then.
        Some("false") => filter.disabled = true,
        Some(_) => filter.includes = call.params.list("_source").into(),
    }
    if call.params.text("_source_includes").is_some() {
        filter.includes = call.params.list("_source_includes").into();
    }
    filter.excludes = call.params.list("_source_excludes").into();
    // Whoever names stored fields, and nothing of the source, wants these alone.
    if !names_source(call) && call.params.text("stored_fields").is_some() {
        filter.disabled = !stored_fields(call).iter().any(|name| name == "_source");
    }
    Ok(filter)
}

/// Does the query say anything of the source?
pub(super) fn names_source<E: Env>(call: &Call<'_, E>) -> bool {
    let names = ["_source", "_source_includes", "_source_excludes"];
    names.into_iter().any(|name| call.params.text(name).is_some())
}

/// `refresh` of a write.
pub(super) fn refresh<E: Env>(call: &Call<'_, E>) -> Result<Refresh> {
    call.params.text("refresh").map_or(Ok(Refresh::No), parse_refresh)
}

/// `routing`, where it says something.
pub(super) fn routing<E: Env>(call: &Call<'_, E>) -> Option<String> {
    call.params.text("routing").filter(|text| !text.is_empty()).map(str::to_owned)
}

/// `pipeline` of a write.
pub(super) fn pipeline<E: Env>(call: &Call<'_, E>) -> Option<Box<str>> {
    call.params.text("pipeline").map(Into::into)
}

/// `preference`: which shards and nodes are asked.
pub(super) fn preference<E: Env>(call: &Call<'_, E>) -> Result<Preference> {
    let given = call.params.text("preference");
    given.map_or_else(|| Ok(Preference::default()), |text| preference_of(call, text))
}

/// As [`preference`], where it stands in a body.
pub(super) fn preference_of<E: Env>(call: &Call<'_, E>, text: &str) -> Result<Preference> {
    let info = &call.core.shared().config.info;
    Preference::parse(text, |nodes| is_chosen(info, nodes))
}

/// `_source` of a body: a flag, a pattern, a list, or includes and excludes.
pub(super) fn source_of_body(value: &Value) -> Result<SourceFilter> {
    let mut filter = SourceFilter::default();
    match value {
        Value::Bool(wanted) => filter.disabled = !wanted,
        Value::String(pattern) => filter.includes = [pattern.clone()].into(),
        Value::Array(_) => filter.includes = patterns(value)?.into(),
        Value::Object(object) => {
            for (key, value) in object.iter() {
                match key {
                    "includes" | "include" => filter.includes = patterns(value)?.into(),
                    "excludes" | "exclude" => filter.excludes = patterns(value)?.into(),
                    other => {
                        return Err(Error::parse(format!(
                            "source definition may not contain [{other}]"
                        )));
                    }
                }
            }
        }
        other => {
            return Err(Error::parse(format!("unexpected token [{}]", other.token())));
        }
    }
    Ok(filter)
}

fn patterns(value: &Value) -> Result<Vec<String>> {
    let bad = || Error::parse("source definition may only contain a string or a list of strings");
    match value {
        Value::String(one) => Ok(vec![one.clone()]),
        Value::Array(list) => {
            list.iter().map(|one| one.as_str().map(str::to_owned).ok_or_else(bad)).collect()
        }
        _ => Err(bad()),
    }
}

/// A condition on the stored document, not negative.
pub(super) fn condition<E: Env>(call: &Call<'_, E>, name: &str, what: &str) -> Result<Option<u64>> {
    match call.params.long(name)? {
        None => Ok(None),
        Some(value) => u64::try_from(value).map(Some).map_err(|_| negative(what, value)),
    }
}

/// The answer to a negative condition.
pub(super) fn negative(what: &str, value: i64) -> Error {
    Error::illegal_argument(format!("{what} must be non negative. got [{value}]."))
}

/// Who counts versions.
pub(super) fn version_type(text: Option<&str>) -> Result<VersionType> {
    match text {
        None | Some("internal") => Ok(VersionType::Internal),
        Some("external" | "external_gt") => Ok(VersionType::External),
        Some("external_gte") => Ok(VersionType::ExternalGte),
        Some(other) => Err(Error::illegal_argument(format!("No version type match [{other}]"))),
    }
}

fn op_type<E: Env>(call: &Call<'_, E>) -> Result<Option<WriteAction>> {
    match call.params.text("op_type") {
        None => Ok(None),
        Some(word) if word.eq_ignore_ascii_case("index") => Ok(Some(WriteAction::Index)),
        Some(word) if word.eq_ignore_ascii_case("create") => Ok(Some(WriteAction::Create)),
        Some(other) => Err(Error::illegal_argument(format!(
            "opType must be 'create' or 'index', found: [{other}]"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_are_escaped() {
        assert_eq!(location("a", "x y/ü", None), "/a/_doc/x%20y%2F%C3%BC");
        assert_eq!(location("a", "1", Some("a b")), "/a/_doc/1?routing=a+b");
    }

    #[test]
    fn version_types_are_words() {
        assert_eq!(version_type(Some("external_gt")), Ok(VersionType::External));
        assert_eq!(
            version_type(Some("foo")).expect_err("unknown").reason,
            "No version type match [foo]"
        );
    }
}
