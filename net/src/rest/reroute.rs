//! `_cluster/reroute`: every command is read and judged; none has a place to move a shard to.

use engine::index::block::{self, Level};
use engine::{Error, Result};
use env::{Bytes, Env};
use json::{Object, Value, Writer};

use super::cluster_state::{allocation_id, write_rerouted};
use crate::call::Call;
use crate::fail;
use crate::reply::Reply;

mod read;

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

/// The commands of the body, each judged once all are read.
async fn commands<E: Env>(call: &Call<'_, E>) -> Result<Vec<Refused>> {
    let read = |content: &Bytes| match content.is_empty() {
        true => Ok(Vec::new()),
        false => read::commands(&fail::spanned_tree(content)?),
    };
    let commands = call.read(read).await?;
    commands.into_iter().map(|command| judge(call, &command.name, command.fields)).collect()
}

/// Why a command cannot be done.
fn judge<E: Env>(call: &Call<'_, E>, name: &str, fields: Object) -> Result<Refused> {
    let text = |key: &str| fields.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let index_name = text("index");
    let number = fields.get("shard").and_then(Value::as_i64).unwrap_or(-1);
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
