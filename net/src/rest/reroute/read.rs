//! The body of `_cluster/reroute`, read in the order in which Elasticsearch reads it: what is wrong first is told, at
//! the token that was met by then.

use engine::{Error, Result};
use json::spanned::{Member, Node};
use json::{Object, Place, Value};

use super::super::scalar;
use crate::fail::{unknown_field, unread_field, wrong_kind};
use crate::params;

/// What reads the body.
const PARSER: &str = "cluster_reroute";

/// A command that is good by itself.
#[derive(Debug)]
pub(super) struct Command {
    /// What is to be done.
    pub name: String,
    /// With what: texts, the shard's number, a flag; each there that the command has.
    pub fields: Object,
}

/// Why a command cannot be read, and which token was met by then.
type Read<T> = std::result::Result<T, (Place, Error)>;

/// A body.
#[derive(Default)]
pub(super) struct Asked {
    /// In its order.
    pub commands: Vec<Command>,
    /// Is it only tried? What a body says of that stands before what the address says.
    pub dry_run: Option<bool>,
}

/// Reads a body.
///
/// # Errors
/// In the words of Elasticsearch's parsers.
pub(super) fn asked(body: &Node) -> Result<Asked> {
    let Some(members) = body.as_object() else {
        return Err(expected(PARSER, body.at, body.token()));
    };
    let mut asked = Asked::default();
    for Member { key, key_at, value } in members {
        match key.as_str() {
            "commands" => {
                let unread = |(at, cause)| unread_field(PARSER, key, at, cause);
                asked.commands.append(&mut list(value)?.map_err(unread)?);
            }
            "dry_run" => asked.dry_run = Some(scalar::flag(PARSER, "dry_run", value)?),
            other => return Err(unknown_field(PARSER, other, *key_at)),
        }
    }
    Ok(asked)
}

/// The commands of a list.
fn list(value: &Node) -> Result<Read<Vec<Command>>> {
    if value.as_object().is_some() {
        let text =
            "expected either field name [commands], or start array, got [START_OBJECT] instead";
        return Ok(Err((value.at, Error::parse(text))));
    }
    let items = value.as_array().ok_or_else(|| wrong_kind(PARSER, "commands", value))?;
    let behind = |at: usize| items.get(at + 1).map_or(value.end, |next| next.at);
    Ok(items.iter().enumerate().map(|(at, item)| command(item, behind(at))).collect())
}

/// One command; `behind` it stands the next token.
fn command(item: &Node, behind: Place) -> Read<Command> {
    let malformed = |what: &str| Error::parse(format!("allocation command is malformed, {what}"));
    let Some(members) = item.as_object() else {
        return Err((item.at, malformed(&format!("got [{}] instead", item.token()))));
    };
    let Some(Member { key: name, value: body, .. }) = members.first() else {
        return Err((behind, nameless(behind, "null")));
    };
    // Behind a body that is no object the parser looks for its fields.
    let behind =
        members.get(1).map_or((item.end, "END_OBJECT"), |next| (next.key_at, "FIELD_NAME"));
    let fields = match name.as_str() {
        "move" => by_hand(name, &["index", "shard", "from_node", "to_node"], body, behind),
        "cancel" => by_hand(name, &["index", "shard", "node", "allow_primary"], body, behind),
        "allocate_replica" => by_parser(name, &["index", "shard", "node"], body, behind),
        "allocate_stale_primary" | "allocate_empty_primary" => {
            by_parser(name, &["index", "shard", "node", "accept_data_loss"], body, behind)
        }
        _ => Err((body.at, nameless(body.at, name))),
    }?;
    match members.get(1) {
        Some(next) => {
            let what = "done parsing a command, but didn't get END_OBJECT";
            Err((next.key_at, malformed(what)))
        }
        None => Ok(Command { name: name.clone(), fields }),
    }
}

fn nameless(at: Place, name: &str) -> Error {
    Error::new(400, "named_object_not_found_exception", format!("{at} unknown field [{name}]"))
}

fn expected(parser: &str, at: Place, token: &str) -> Error {
    let text = format!("{at} [{parser}] Expected START_OBJECT but was: {token}");
    Error::new(400, "x_content_parse_exception", text)
}

/// What a parser meets that looks for fields in a body that is no object: the token behind its first.
fn within(body: &Node, behind: (Place, &'static str)) -> (Place, &'static str) {
    match body.as_array() {
        Some([first, ..]) => (first.at, first.token()),
        Some([]) => (body.end, "END_ARRAY"),
        None => behind,
    }
}

/// The fields of a command that Elasticsearch reads token by token.
fn by_hand(
    name: &str,
    keys: &[&'static str],
    body: &Node,
    behind: (Place, &'static str),
) -> Read<Object> {
    let complex = |token: &str| {
        Error::parse(format!("[{name}] command does not support complex json tokens [{token}]"))
    };
    let mut found = Object::new();
    let end = match body.as_object() {
        Some(members) => {
            for Member { key, value, .. } in members {
                let at = |error| (value.at, error);
                let told = match value.to_value() {
                    Value::Null | Value::Array(_) | Value::Object(_) => {
                        return Err(at(complex(value.token())));
                    }
                    Value::String(text) => text,
                    other => json::to_string(&other),
                };
                if !keys.contains(&key.as_str()) {
                    let text = format!("[{name}] command does not support field [{key}]");
                    return Err(at(Error::parse(text)));
                }
                found.insert(
                    key.clone(),
                    match key.as_str() {
                        "shard" => Value::from(scalar::int_of(&told).map_err(at)?),
                        "allow_primary" => Value::from(params::flag(&told).map_err(at)?),
                        _ => Value::from(told),
                    },
                );
            }
            body.end
        }
        None => match within(body, behind) {
            (at, "END_OBJECT" | "FIELD_NAME") => at,
            (at, token @ ("END_ARRAY" | "START_ARRAY" | "START_OBJECT" | "VALUE_NULL")) => {
                return Err((at, complex(token)));
            }
            (at, _) => {
                let text = format!("[{name}] command does not support field [null]");
                return Err((at, Error::parse(text)));
            }
        },
    };
    in_order(keys, found, |key| {
        (end, Error::parse(format!("[{name}] command missing the {key} parameter")))
    })
}

/// The fields of a command that Elasticsearch's parser of objects reads.
fn by_parser(
    name: &str,
    keys: &[&'static str],
    body: &Node,
    behind: (Place, &'static str),
) -> Read<Object> {
    let Some(members) = body.as_object() else {
        let (at, token) = within(body, behind);
        return Err((at, expected(name, at, token)));
    };
    let mut found = Object::new();
    for Member { key, key_at, value } in members {
        let at = |error| (value.at, error);
        if !keys.contains(&key.as_str()) {
            return Err(at(unknown_field(name, key, *key_at)));
        }
        let read = match key.as_str() {
            "accept_data_loss" => scalar::flag(name, key, value).map(Value::from),
            "shard" => scalar::int(name, key, value).map(Value::from),
            _ => scalar::text(name, key, value).map(Value::from),
        };
        found.insert(key.clone(), read.map_err(at)?);
    }
    if found.get("shard").and_then(Value::as_i64).is_some_and(|number| number < 0) {
        found.remove("shard");
    }
    in_order(keys, found, |key| {
        let text = match key {
            "shard" => "Argument [shard] must be defined and non-negative".to_owned(),
            _ => format!("Argument [{key}] must be defined"),
        };
        (body.end, Error::illegal_argument(text))
    })
}

/// Fields in the order in which Elasticsearch writes them, flags among them; `missing` makes the failure of one that
/// is not there.
fn in_order(
    keys: &[&'static str],
    mut found: Object,
    missing: impl Fn(&str) -> (Place, Error),
) -> Read<Object> {
    let mut fields = Object::with_capacity(keys.len());
    for &key in keys {
        let value = match (found.remove(key), key) {
            (Some(value), _) => value,
            (None, "allow_primary" | "accept_data_loss") => Value::from(false),
            (None, _) => return Err(missing(key)),
        };
        fields.insert(key, value);
    }
    Ok(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reasons of a failure, each with the first word of its kind.
    fn told(body: &str) -> Vec<String> {
        let body = json::spanned::parse(body.as_bytes()).expect("JSON");
        let mut next = asked(&body).err().map(Box::new);
        let mut told = Vec::new();
        while let Some(error) = next {
            told.push(format!(
                "{}: {}",
                error.kind.split('_').next().expect("a word"),
                error.reason
            ));
            next = error.caused_by;
        }
        told
    }

    fn outer(place: &str) -> String {
        format!("x: {place} [cluster_reroute] failed to parse field [commands]")
    }

    /// The command's own place was told, and the innermost failure alone by object parsers.
    #[test]
    fn a_failure_is_told_where_the_parser_was() {
        for (body, place, causes) in [
            (
                r#"[{"move":{}}]"#,
                "[1:23]",
                &["parse: [move] command missing the index parameter"][..],
            ),
            (
                r#"[{"move":{"index":"a"}}]"#,
                "[1:34]",
                &["parse: [move] command missing the shard parameter"],
            ),
            (
                r#"[{"move":{"foo":1}}]"#,
                "[1:29]",
                &["parse: [move] command does not support field [foo]"],
            ),
            (
                r#"[{"move":{"index":["a"]}}]"#,
                "[1:31]",
                &["parse: [move] command does not support complex json tokens [START_ARRAY]"],
            ),
            (
                r#"[{"cancel":{"index":"a","shard":null}}]"#,
                "[1:45]",
                &["parse: [cancel] command does not support complex json tokens [VALUE_NULL]"],
            ),
            (
                r#"[{"move":{"index":1,"shard":"x"}}]"#,
                "[1:41]",
                &["number: For input string: \"x\""],
            ),
            (
                r#"[{"cancel":{"allow_primary":"maybe"}}]"#,
                "[1:41]",
                &["illegal: Failed to parse value [maybe] as only [true] or [false] are allowed."],
            ),
            (r#"[{"move":1}]"#, "[1:23]", &["parse: [move] command missing the index parameter"]),
            (
                r#"[{"move":null}]"#,
                "[1:26]",
                &["parse: [move] command missing the index parameter"],
            ),
            (
                r#"[{"move":[]}]"#,
                "[1:23]",
                &["parse: [move] command does not support complex json tokens [END_ARRAY]"],
            ),
            (
                r#"[{"move":{},"cancel":{}}]"#,
                "[1:23]",
                &["parse: [move] command missing the index parameter"],
            ),
            (r#"[{"foo":{}}]"#, "[1:21]", &["named: [1:21] unknown field [foo]"]),
            (r#"[{}]"#, "[1:16]", &["named: [1:16] unknown field [null]"]),
            (
                r#"[1]"#,
                "[1:14]",
                &["parse: allocation command is malformed, got [VALUE_NUMBER] instead"],
            ),
            (
                r#"[[]]"#,
                "[1:14]",
                &["parse: allocation command is malformed, got [START_ARRAY] instead"],
            ),
            (
                r#"{}"#,
                "[1:13]",
                &[
                    "parse: expected either field name [commands], or start array, got [START_OBJECT] instead",
                ],
            ),
            (
                r#"[{"allocate_replica":{"foo":1}}]"#,
                "[1:41]",
                &["x: [1:35] [allocate_replica] unknown field [foo]"],
            ),
            (
                "[\n {\"allocate_replica\":\n{\"foo\": 1}}]",
                "[3:9]",
                &["x: [3:2] [allocate_replica] unknown field [foo]"],
            ),
            (
                r#"[{"allocate_replica":1}]"#,
                "[1:35]",
                &["x: [1:35] [allocate_replica] Expected START_OBJECT but was: END_OBJECT"],
            ),
            (
                r#"[{"allocate_replica":{"index":"a"}}]"#,
                "[1:46]",
                &["illegal: Argument [shard] must be defined and non-negative"],
            ),
            (
                r#"[{"allocate_replica":{"index":"a","shard":-1,"node":"a"}}]"#,
                "[1:68]",
                &["illegal: Argument [shard] must be defined and non-negative"],
            ),
            (
                r#"[{"allocate_replica":{"index":null}}]"#,
                "[1:43]",
                &["x: [1:43] [allocate_replica] index doesn't support values of type: VALUE_NULL"],
            ),
            (
                r#"[{"allocate_stale_primary":{"accept_data_loss":"maybe"}}]"#,
                "[1:60]",
                &[
                    "x: [1:60] [allocate_stale_primary] failed to parse field [accept_data_loss]",
                    "illegal: Failed to parse value [maybe] as only [true] or [false] are allowed.",
                ],
            ),
            (
                r#"[{"move":{"index":"a","shard":0,"from_node":"x","to_node":"y"},"b":1}]"#,
                "[1:76]",
                &[
                    "parse: allocation command is malformed, done parsing a command, but didn't get END_OBJECT",
                ],
            ),
        ] {
            let mut wanted = vec![outer(place)];
            wanted.extend(causes.iter().map(|&cause| cause.to_owned()));
            assert_eq!(told(&format!(r#"{{"commands":{body}}}"#)), wanted, "{body}");
        }
        for (body, wanted) in [
            (
                r#"{"dry_run":1}"#,
                "x: [1:12] [cluster_reroute] dry_run doesn't support values of type: VALUE_NUMBER",
            ),
            (
                r#"{"commands":1}"#,
                "x: [1:13] [cluster_reroute] commands doesn't support values of type: VALUE_NUMBER",
            ),
            (r#"{"foo":1}"#, "x: [1:2] [cluster_reroute] unknown field [foo]"),
            ("[]", "x: [1:1] [cluster_reroute] Expected START_OBJECT but was: START_ARRAY"),
        ] {
            assert_eq!(told(body), [wanted], "{body}");
        }
        assert_eq!(told(r#"{"dry_run":"true","commands":[]}"#), [""; 0]);
    }

    #[test]
    fn a_command_is_read_with_all_that_it_has() {
        let body = r#"{"commands":[{"cancel":{"node":7,"shard":"1.5","index":"a"}}]}"#;
        let body = json::spanned::parse(body.as_bytes()).expect("JSON");
        let commands = asked(&body).expect("a command").commands;
        let fields = json::to_string(&Value::Object(commands[0].fields.clone()));
        assert_eq!(fields, r#"{"index":"a","shard":1,"node":"7","allow_primary":false}"#);
    }
}
