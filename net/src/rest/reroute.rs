//! `_cluster/reroute`: every command is read and judged; none has a place to move a shard to.

use engine::index::block::{self, Level};
use engine::{Error, Result};
use env::{Bytes, Env};
use json::spanned::{Member, Node};
use json::{Object, Place, Value, Writer};

use super::cluster_state::{allocation_id, write_rerouted};
use crate::call::Call;
use crate::fail;
use crate::reply::Reply;

/// A command, and why it is refused.
struct Refused {
    name: String,
    parameters: Value,
    decider: String,
    /// For people: alone, and with the command's own name before it.
    why: String,
    error: Error,
}

/// Told where the answer shows the state, which it does unless nothing of it is asked for.
const STATE_DEPRECATED: &str = "The [state] field in the response to the reroute API is deprecated and \
                                will be removed in a future version. Specify ?metric=none to adopt the \
                                future behaviour.";

/// `POST /_cluster/reroute`.
pub(super) async fn reroute<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    call.gate.cluster("cluster:admin/reroute")?;
    let explain = call.params.flag("explain", false)?;
    let refused = commands(call).await?;
    block::check_cluster(&call.core.state(), Level::MetadataWrite)?;
    if let (Some(first), false) = (refused.first(), explain) {
        return Err(first.error.clone());
    }
    let mut out = Vec::new();
    let mut writer = Writer::new(&mut out);
    writer.begin_object().field_bool("acknowledged", true);
    let metrics = call.params.text("metric");
    if metrics != Some("none") {
        call.gate.warn(STATE_DEPRECATED);
        // Elasticsearch leaves metadata out unless it is asked for.
        let metrics =
            metrics.unwrap_or("version,master_node,blocks,nodes,routing_table,routing_nodes");
        write_rerouted(call, &mut writer, metrics).await?;
    }
    if explain {
        writer.key("explanations").begin_array();
        for one in &refused {
            writer
                .begin_object()
                .field_str("command", &one.name)
                .field("parameters", &one.parameters)
                .key("decisions")
                .begin_array()
                .begin_object()
                .field_str("decider", &one.decider)
                .field_str("decision", "NO")
                .field_str("explanation", &one.why)
                .end_object()
                .end_array()
                .end_object();
        }
        writer.end_array();
    }
    writer.end_object();
    Ok(Reply::json(200, out))
}

fn parsing(at: Place, text: &str) -> Error {
    Error::new(400, "x_content_parse_exception", format!("{at} {text}"))
}

/// The commands of the body.
async fn commands<E: Env>(call: &Call<'_, E>) -> Result<Vec<Refused>> {
    let tree = |content: &Bytes| match content.is_empty() {
        true => Ok(None),
        false => fail::spanned_tree(content).map(Some),
    };
    let Some(body) = call.read(tree).await? else { return Ok(Vec::new()) };
    let Some(members) = body.as_object() else {
        let text = format!("[cluster_reroute] Expected START_OBJECT but was: {}", body.token());
        return Err(parsing(body.at, &text));
    };
    let mut refused = Vec::new();
    for member in members {
        let value = &member.value;
        let wrong_kind = || {
            let (key, token) = (&member.key, value.token());
            let text = format!("[cluster_reroute] {key} doesn't support values of type: {token}");
            parsing(value.at, &text)
        };
        match member.key.as_str() {
            "commands" => {
                for command in value.as_array().ok_or_else(wrong_kind)? {
                    refused.push(read(call, command).map_err(
                        |error| match error.kind.as_ref() {
                            "x_content_parse_exception"
                            | "named_object_not_found_exception"
                            | "parse_exception" => {
                                let text = "[cluster_reroute] failed to parse field [commands]";
                                let unknown = error.kind == "named_object_not_found_exception";
                                let body = command.as_object().and_then(|it| it.first());
                                let body = body.filter(|_| unknown).map(|it| it.value.at);
                                parsing(body.unwrap_or(command.at), text).caused_by(error)
                            }
                            _ => error,
                        },
                    )?);
                }
            }
            "dry_run" => match value.to_value() {
                Value::Bool(_) => {}
                _ => return Err(wrong_kind()),
            },
            other => return Err(fail::unknown_field("cluster_reroute", other, member.key_at)),
        }
    }
    Ok(refused)
}

/// Reads one command, and judges it.
fn read<E: Env>(call: &Call<'_, E>, command: &Node) -> Result<Refused> {
    let Some([Member { key: name, value: body, .. }]) = command.as_object() else {
        return Err(Error::parse(
            "allocation command is malformed, done parsing a command, but didn't get END_OBJECT",
        ));
    };
    // Those that move and cancel are read by hand in Elasticsearch, the others by an object parser.
    let (keys, by_hand): (&[&str], bool) = match name.as_str() {
        "move" => (&["index", "shard", "from_node", "to_node"], true),
        "cancel" => (&["index", "shard", "node", "allow_primary"], true),
        "allocate_replica" => (&["index", "shard", "node"], false),
        "allocate_stale_primary" | "allocate_empty_primary" => {
            (&["index", "shard", "node", "accept_data_loss"], false)
        }
        _ => {
            let text = format!("{} unknown field [{name}]", body.at);
            return Err(Error::new(400, "named_object_not_found_exception", text));
        }
    };
    let Some(members) = body.as_object() else {
        let text = format!("[{name}] Expected START_OBJECT but was: {}", body.token());
        return Err(parsing(body.at, &text));
    };
    for member in members {
        if !keys.contains(&member.key.as_str()) {
            return Err(match by_hand {
                true => Error::parse(format!(
                    "[{name}] command does not support field [{}]",
                    member.key
                )),
                false => fail::unknown_field(name, &member.key, member.key_at),
            });
        }
    }
    let Value::Object(mut fields) = body.to_value() else {
        return Err(Error::internal("an object that is none"));
    };
    let needed = keys.iter().filter(|key| !matches!(**key, "allow_primary" | "accept_data_loss"));
    for key in needed {
        if fields.get(key).is_none_or(Value::is_null) {
            return Err(match by_hand {
                true => Error::parse(format!("[{name}] command missing the {key} parameter")),
                false if *key == "shard" => {
                    Error::illegal_argument("Argument [shard] must be defined and non-negative")
                }
                false => Error::illegal_argument(format!("Argument [{key}] must be defined")),
            });
        }
    }
    if let Some(flag) = keys.get(3).filter(|_| name != "move") {
        fields.get_or_insert_with(flag, || Value::from(false));
    }
    judge(call, name, fields)
}

/// Why a command cannot be done.
fn judge<E: Env>(call: &Call<'_, E>, name: &str, fields: Object) -> Result<Refused> {
    let text = |key: &str| match fields.get(key) {
        Some(Value::String(text)) => text.clone(),
        Some(other) => json::to_string(other),
        None => String::new(),
    };
    let index_name = text("index");
    let number = text("shard").parse::<i64>().map_err(|_| {
        let reason = format!("For input string: \"{}\"", text("shard"));
        Error::new(400, "number_format_exception", reason)
    })?;
    let info = &call.core.shared().config.info;
    let stranger = ["node", "from_node", "to_node"]
        .into_iter()
        .filter(|key| fields.contains_key(key))
        .map(&text)
        .find(|node| *node != info.id && *node != info.name && *node != info.transport_address);
    let unresolved = stranger.map(|node| {
        // Nobody can be told how a node would decide that is not there.
        Error::illegal_argument(format!("failed to resolve [{node}], no matching nodes"))
    });
    // Only where old data is asked for is the index looked at before the node.
    if let (Some(error), true) = (&unresolved, name != "allocate_stale_primary") {
        return Err(error.clone());
    }
    let Some(index) = call.core.state().index(&index_name).cloned() else {
        return Err(Error::index_not_found(&index_name, "index_or_alias"));
    };
    if let Some(error) = unresolved {
        return Err(error);
    }
    let here =
        format!("{{{}}}{{{}}}{{{}}}{{{}}}", info.name, info.id, info.id, info.transport_address);
    let copy = format!("[{index_name}][{number}]");
    let known = u32::try_from(number).ok().filter(|it| *it < index.settings.shard_count());
    let is_started = known.is_some_and(|number| call.core.directory().has_place(&index, number));
    let (short, decider) = match name {
        "move" => ("move_allocation".to_owned(), "move_allocation_command".to_owned()),
        "cancel" => ("cancel_allocation".to_owned(), "cancel_allocation_command".to_owned()),
        _ => (name.to_owned(), format!("{name} (allocation command)")),
    };
    let loses = |word: &str| {
        format!(
            "allocating {word} primary for {copy} can result in data loss. Please confirm by setting \
             the accept_data_loss parameter to true"
        )
    };
    let accepts = fields.get("accept_data_loss").and_then(Value::as_bool).unwrap_or(false);
    let mut plain = None;
    let why = match (name, known) {
        ("cancel", None) => format!("can't cancel {copy}, failed to find it on node {here}"),
        ("cancel", Some(_)) if is_started => {
            format!("can't cancel {copy} on node {here}, shard is primary and started")
        }
        ("cancel", Some(_)) => {
            format!("can't cancel {copy}, failed to find it on node {here}")
        }
        ("move", None) => format!("can't move {copy}, failed to find it on node {here}"),
        (_, None) => {
            let error = Error::new(404, "shard_not_found_exception", "no such shard");
            let number = u32::try_from(number).unwrap_or(u32::MAX);
            plain = Some(error.at_shard(&index.uuid_text(), number, &index_name));
            "no such shard".to_owned()
        }
        ("move", Some(number)) => format!(
            "can't move {number}, from {here}, to {here}, since its not allowed, reason: [NO({})]",
            already(&info.id, &copy, &allocation_id(&index, number))
        ),
        ("allocate_replica", Some(_)) if index.settings.replica_count() == 0 => format!(
            "all copies of {copy} are already assigned. Use the move allocation command instead"
        ),
        ("allocate_replica", Some(number)) => format!(
            "allocation of {copy} on node {here} is not allowed, reason: [NO({})]",
            already(&info.id, &copy, &allocation_id(&index, number))
        ),
        (_, Some(_)) if is_started => format!("primary {copy} is already assigned"),
        ("allocate_empty_primary", Some(_)) if !accepts => loses("an empty"),
        (_, Some(_)) if !accepts => loses("a stale"),
        // What failed to open is mended with the command line, not thrown away.
        (_, Some(_)) => format!(
            "No data for shard [{number}] of index [{index_name}] found on node [{}]",
            info.name
        ),
    };
    let error = plain.unwrap_or_else(|| Error::illegal_argument(format!("[{short}] {why}")));
    Ok(Refused { name: name.to_owned(), parameters: Value::Object(fields), decider, why, error })
}

fn already(node: &str, copy: &str, id: &str) -> String {
    format!(
        "a copy of this shard is already allocated to this node [{copy}, node[{node}], [P], \
         s[STARTED], a[id={id}]]"
    )
}
