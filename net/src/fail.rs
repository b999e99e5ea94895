//! Failures as JSON, in Elasticsearch's exact form.
//!
//! ```text
//! {"error":{"root_cause":[{"type":T,"reason":R,…}],"type":T,"reason":R,…,"caused_by":{…}},"status":N}
//! ```
//!
//! Roots never carry a cause. A plain failure is a string: `{"error":"…","status":N}`.

use engine::Error;
use json::Writer;

use crate::reply::Reply;

/// Causes below each other that are printed; more would be a loop.
const CAUSES_MAX: usize = 32;

/// Are stack traces printed (`error_trace`)?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trace {
    /// No.
    #[default]
    No,
    /// Yes: what we have in place of one.
    Yes,
}

/// The answer to a failed request.
pub fn reply(error: &Error, trace: Trace) -> Reply {
    let mut body = Vec::with_capacity(256);
    let mut writer = Writer::new(&mut body);
    writer.begin_object().key("error");
    whole(&mut writer, error, trace);
    writer.field_u64("status", u64::from(error.status)).end_object();
    Reply::json(error.status, body)
}

/// A failure with its roots: what stands under `error`.
pub fn whole(writer: &mut Writer<'_>, error: &Error, trace: Trace) {
    writer.begin_object().key("root_cause").begin_array();
    for root in error.roots() {
        writer.begin_object();
        head(writer, root);
        stack(writer, root, trace);
        writer.end_object();
    }
    writer.end_array();
    head(writer, error);
    shards(writer, error, trace);
    below(writer, error, trace, CAUSES_MAX);
    stack(writer, error, trace);
    writer.end_object();
}

/// A failure without roots: in items of a bulk request, and as a cause.
pub fn inner(writer: &mut Writer<'_>, error: &Error, trace: Trace) {
    writer.begin_object();
    head(writer, error);
    below(writer, error, trace, CAUSES_MAX);
    stack(writer, error, trace);
    writer.end_object();
}

/// The shards that a search failed on.
fn shards(writer: &mut Writer<'_>, error: &Error, trace: Trace) {
    if error.kind != "search_phase_execution_exception" {
        return;
    }
    if error.meta.iter().all(|(key, _)| key != "phase") {
        writer.field_str("phase", "query");
    }
    writer.field_bool("grouped", true);
    writer.key("failed_shards").begin_array();
    for failure in &error.failed_shards {
        writer.begin_object();
        if failure.index.is_empty() {
            // Which shards an expired search held nobody knows any more.
            writer.key("shard").i64(-1).key("index").null();
        } else {
            writer.field_u64("shard", u64::from(failure.shard)).field_str("index", &failure.index);
        }
        match &failure.node {
            _ if failure.reason.is_no_shard() => {
                writer.key("node").null();
            }
            Some(node) => {
                writer.field_str("node", node);
            }
            None => {}
        }
        writer.key("reason");
        inner(writer, &failure.reason, trace);
        writer.end_object();
    }
    writer.end_array();
}

fn head(writer: &mut Writer<'_>, error: &Error) {
    writer.field_str("type", &error.kind).key("reason");
    match error.message() {
        Some(text) => writer.str(text),
        None => writer.null(),
    };
    for (key, value) in &error.meta {
        writer.field(key, value);
    }
}

fn below(writer: &mut Writer<'_>, error: &Error, trace: Trace, left: usize) {
    if let (Some(cause), Some(left)) = (&error.caused_by, left.checked_sub(1)) {
        writer.key("caused_by").begin_object();
        head(writer, cause);
        below(writer, cause, trace, left);
        stack(writer, cause, trace);
        writer.end_object();
    }
}

fn stack(writer: &mut Writer<'_>, error: &Error, trace: Trace) {
    if trace == Trace::Yes {
        writer.field_str("stack_trace", &format!("{}: {}", error.kind, error.reason));
    }
}

/// A failure that is one sentence, with its status beside it.
pub fn plain(status: u16, sentence: &str) -> Reply {
    let mut body = Vec::with_capacity(64 + sentence.len());
    let mut writer = Writer::new(&mut body);
    writer.begin_object().field_str("error", sentence);
    writer.field_u64("status", u64::from(status)).end_object();
    Reply::json(status, body)
}

/// The answer to a path that no route has: a sentence without its status.
pub fn no_handler(uri: &str, method: &str) -> Reply {
    let mut body = Vec::with_capacity(128);
    let sentence = format!("no handler found for uri [{uri}] and method [{method}]");
    Writer::new(&mut body).begin_object().field_str("error", &sentence).end_object();
    Reply::json(400, body)
}

/// JSON that cannot be read, as Elasticsearch 8.16 and later tell it.
pub fn of_json(error: &json::Error, source: &[u8]) -> Error {
    let text = error.jackson(source);
    let (outer, inner) = match error.kind {
        json::ErrorKind::UnexpectedEnd => ("x_content_e_o_f_exception", "json_e_o_f_exception"),
        _ => ("x_content_parse_exception", "json_parse_exception"),
    };
    Error::new(400, outer, format!("{} {text}", error.place()))
        .caused_by(Error::new(400, inner, text))
}

/// A body as a tree.
///
/// # Errors
/// As [`of_json`].
pub fn tree(source: &[u8]) -> engine::Result<json::Value> {
    json::parse(source).map_err(|error| of_json(&error, source))
}

/// A body as a tree that knows where its parts stand.
///
/// # Errors
/// As [`of_json`].
pub fn spanned_tree(source: &[u8]) -> engine::Result<json::spanned::Node> {
    json::spanned::parse(source).map_err(|error| of_json(&error, source))
}

/// Where the member `key` of a body stands; its beginning where there is none.
pub fn place_of(source: &[u8], key: &str) -> json::Place {
    place_in(source, key, |member| member.key_at)
}

/// Where the value of that member stands.
pub fn place_of_value(source: &[u8], key: &str) -> json::Place {
    place_in(source, key, |member| member.value.at)
}

fn place_in(
    source: &[u8],
    key: &str,
    of: impl Fn(&json::spanned::Member) -> json::Place,
) -> json::Place {
    let root = json::spanned::parse(source).ok();
    let members = root.as_ref().and_then(json::spanned::Node::as_object).unwrap_or_default();
    let member = members.iter().find(|member| member.key == key);
    member.map_or(json::Place { line: 1, column: 1 }, of)
}

/// 400 of a parser of queries that looks for an object in a body in which there is nothing: in these words.
pub fn nothing(reason: &str) -> Error {
    let mut error = Error::new(400, "parsing_exception", reason);
    error.meta = vec![("line".into(), 1.into()), ("col".into(), 0.into())];
    error
}

/// The same of the parser of this name.
pub fn nothing_for(parser: &str) -> Error {
    let reason = format!("[1:0] [{parser}] Expected START_OBJECT but was: null");
    Error::new(400, "x_content_parse_exception", reason)
}

/// 400 for a key that no parser of that name knows, at its place.
pub fn unknown_field(parser: &str, key: &str, at: json::Place) -> Error {
    Error::new(400, "x_content_parse_exception", format!("{at} [{parser}] unknown field [{key}]"))
}

/// 400 for a value of a kind that the key does not take.
pub fn wrong_kind(parser: &str, key: &str, value: &json::spanned::Node) -> Error {
    let (at, token) = (value.at, value.token());
    let reason = format!("{at} [{parser}] {key} doesn't support values of type: {token}");
    Error::new(400, "x_content_parse_exception", reason)
}

/// 400 for a value that could not be read, at its place.
pub fn unread_field(parser: &str, key: &str, at: json::Place, cause: Error) -> Error {
    let reason = format!("{at} [{parser}] failed to parse field [{key}]");
    Error::new(400, "x_content_parse_exception", reason).caused_by(cause)
}

/// Members of a body that a parser of that name reads, each of which must be among `keys` and begin
/// with one of its tokens.
///
/// # Errors
/// In the words of Elasticsearch's parser of objects.
pub fn members<'a>(
    body: &'a json::spanned::Node,
    parser: &str,
    keys: &[(&str, &[&str])],
) -> engine::Result<&'a [json::spanned::Member]> {
    let Some(members) = body.as_object() else {
        let what = format!("Expected START_OBJECT but was: {}", body.token());
        let reason = format!("{} [{parser}] {what}", body.at);
        return Err(Error::new(400, "x_content_parse_exception", reason));
    };
    for member in members {
        let key = member.key.as_str();
        let Some((_, tokens)) = keys.iter().find(|(known, _)| *known == key) else {
            return Err(unknown_field(parser, key, member.key_at));
        };
        if !tokens.contains(&member.value.token()) {
            return Err(wrong_kind(parser, key, &member.value));
        }
    }
    Ok(members)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(reply: &Reply) -> &str {
        std::str::from_utf8(&reply.body).expect("UTF-8")
    }

    #[test]
    fn the_form_is_elasticsearchs() {
        let error = Error::index_not_found("x", "index_or_alias");
        assert_eq!(
            text(&reply(&error, Trace::No)),
            r#"{"error":{"root_cause":[{"type":"index_not_found_exception","reason":"no such index [x]","resource.type":"index_or_alias","resource.id":"x","index_uuid":"_na_","index":"x"}],"type":"index_not_found_exception","reason":"no such index [x]","resource.type":"index_or_alias","resource.id":"x","index_uuid":"_na_","index":"x"},"status":404}"#
        );
    }

    #[test]
    fn causes_stand_below_and_roots_carry_none() {
        let cause = Error::new(400, "number_format_exception", "For input string: \"a\"");
        let error = Error::illegal_argument("outer").caused_by(cause);
        assert_eq!(
            text(&reply(&error, Trace::No)),
            r#"{"error":{"root_cause":[{"type":"illegal_argument_exception","reason":"outer"}],"type":"illegal_argument_exception","reason":"outer","caused_by":{"type":"number_format_exception","reason":"For input string: \"a\""}},"status":400}"#
        );
        assert!(text(&reply(&error, Trace::Yes)).contains(r#""stack_trace":""#));
    }

    #[test]
    fn plain_failures_are_sentences() {
        assert_eq!(text(&plain(405, "no")), r#"{"error":"no","status":405}"#);
        assert_eq!(
            text(&no_handler("/x/y/z/q", "GET")),
            r#"{"error":"no handler found for uri [/x/y/z/q] and method [GET]"}"#
        );
    }

    #[test]
    fn unreadable_json_is_told_twice() {
        let source = br#"{"a":1,}"#;
        let error = of_json(&json::parse(source).expect_err("bad"), source);
        assert!(error.reason.starts_with("[1:8] Unexpected character ('}' (code 125)): was "));
        assert_eq!(error.caused_by.expect("a cause").kind, "json_parse_exception");
        let early = of_json(&json::parse(b"{").expect_err("early"), b"{");
        assert_eq!(early.kind, "x_content_e_o_f_exception");
    }
}
