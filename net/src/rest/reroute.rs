//! `_cluster/reroute`: every command is read and judged; none has a place to move a shard to, and a copy that is
//! given up would be taken up at once where it is.

use engine::index::block::{self, Level};
use engine::{Error, Result};
use env::{Bytes, Env};
use json::{Object, Value, Writer};

use super::cluster_state::{allocation_id, write_rerouted};
use super::long_answer::Growing;
use crate::audit;
use crate::call::Call;
use crate::fail;
use crate::reply::Reply;

mod read;

/// A command, and what is thought of it.
struct Judged {
    name: String,
    parameters: Value,
    decider: String,
    /// For people.
    why: String,
    /// Of one that is refused: what the caller is told who does not ask for reasons.
    refused: Option<Error>,
    /// Of one that gives up a copy: of which shard.
    gives_up: Option<Copied>,
}

/// Told where the answer shows the state, which it does unless nothing of it is asked for.
const STATE_DEPRECATED: &str = "The [state] field in the response to the reroute API is deprecated and \
                                will be removed in a future version. Specify ?metric=none to adopt the \
                                future behaviour.";

/// `POST /_cluster/reroute`.
pub(super) async fn reroute<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    call.gate.cluster("cluster:admin/reroute")?;
    let explain = call.params.flag("explain", false)?;
    let asked = read(call).await?;
    match asked.dry_run.unwrap_or(call.params.flag("dry_run", false)?) {
        true => call.told.borrow_mut().only_tries(),
        false => audit::begin_named(call).await?,
    }
    let judged = judge_all(call, asked.commands, explain)?;
    block::check_cluster(&call.core.state(), Level::MetadataWrite)?;
    let mut refused = judged.iter().filter_map(|one| one.refused.as_ref());
    if let (Some(first), false) = (refused.next(), explain) {
        return Err(first.clone());
    }
    let mut growing = Growing::new(call, "cluster_state");
    let mut out = Vec::new();
    let mut writer = Writer::new(&mut out);
    writer.begin_object().field_bool("acknowledged", true);
    let metrics = call.params.text("metric");
    if metrics != Some("none") {
        call.gate.warn(STATE_DEPRECATED);
        // Elasticsearch leaves metadata out unless it is asked for.
        let metrics =
            metrics.unwrap_or("version,master_node,blocks,nodes,routing_table,routing_nodes");
        write_rerouted(call, &mut writer, metrics, &mut growing).await?;
    }
    if explain {
        writer.key("explanations").begin_array();
        for one in &judged {
            writer
                .begin_object()
                .field_str("command", &one.name)
                .field("parameters", &one.parameters)
                .key("decisions")
                .begin_array()
                .begin_object()
                .field_str("decider", &one.decider)
                .field_str("decision", if one.refused.is_some() { "NO" } else { "YES" })
                .field_str("explanation", &one.why)
                .end_object()
                .end_array()
                .end_object();
        }
        writer.end_array();
    }
    writer.end_object();
    Ok(growing.end(200, out))
}

/// What the body asks for.
async fn read<E: Env>(call: &Call<'_, E>) -> Result<read::Asked> {
    let read = |content: &Bytes| match content.is_empty() {
        true => Ok(read::Asked::default()),
        false => read::asked(&fail::spanned_tree(content)?),
    };
    call.read(read).await
}

/// The commands, each judged.
fn judge_all<E: Env>(
    call: &Call<'_, E>,
    commands: Vec<read::Command>,
    explain: bool,
) -> Result<Vec<Judged>> {
    // One after the other, as they would be done: a copy that was given up is not there for those that follow.
    let mut given_up = Vec::new();
    let judge = |command: read::Command| {
        let judged = judge(call, &command.name, command.fields, &given_up, explain)?;
        given_up.extend(judged.gives_up.clone());
        Ok(judged)
    };
    commands.into_iter().map(judge).collect()
}

/// A shard: its index and its number.
type Copied = (String, i64);

/// Can a command be done, and why not? Who asks to `explain` is told of more by a decision.
///
/// # Errors
/// What is wrong with a command that no decision tells of.
fn judge<E: Env>(
    call: &Call<'_, E>,
    name: &str,
    fields: Object,
    given_up: &[Copied],
    explain: bool,
) -> Result<Judged> {
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
    let (short, decider) = match name {
        "move" => ("move_allocation".to_owned(), "move_allocation_command".to_owned()),
        "cancel" => ("cancel_allocation".to_owned(), "cancel_allocation_command".to_owned()),
        _ => (name.to_owned(), format!("{name} (allocation command)")),
    };
    let judged = |fields: Object, why: String, refused: Option<Error>| Judged {
        name: name.to_owned(),
        parameters: Value::Object(fields),
        decider,
        why,
        refused,
        gives_up: None,
    };
    let index = call.core.state().index(&index_name).cloned();
    let missing = index.is_none() && name != "move";
    let missing = missing.then(|| Error::index_not_found(&index_name, "index_or_alias"));
    // Only where old data is asked for is the index looked at before the node.
    let is_stale = name == "allocate_stale_primary";
    let first =
        if is_stale { missing.clone().or(unresolved) } else { unresolved.or(missing.clone()) };
    if let Some(error) = first {
        let is_told = match name {
            "allocate_replica" | "allocate_empty_primary" => true,
            _ => is_stale && missing.is_none(),
        };
        return match explain && is_told {
            true => Ok(judged(fields, error.reason.clone(), Some(error))),
            false => Err(error),
        };
    }
    let here =
        format!("{{{}}}{{{}}}{{{}}}{{{}}}", info.name, info.id, info.id, info.transport_address);
    let copy = format!("[{index_name}][{number}]");
    let is_gone = || given_up.iter().any(|(index, at)| *index == index_name && *at == number);
    let known = index.as_ref().filter(|_| !matches!(name, "cancel" | "move") || !is_gone());
    let known = known.and_then(|index| {
        let number = u32::try_from(number).ok()?;
        (number < index.settings.shard_count()).then_some((&**index, number))
    });
    let directory = call.core.directory();
    let is_started = known.is_some_and(|(index, number)| directory.has_place(index, number));
    let failure = known.and_then(|(index, number)| directory.failure(index, number));
    let loses = |word: &str| {
        format!(
            "allocating {word} primary for {copy} can result in data loss. Please confirm by setting \
             the accept_data_loss parameter to true"
        )
    };
    let flag = |key: &str| fields.get(key).and_then(Value::as_bool).unwrap_or(false);
    let accepts = flag("accept_data_loss");
    let id = |(index, number)| already(&info.id, &copy, &allocation_id(index, number));
    let mut plain = None;
    let why = match (name, known) {
        ("cancel", Some(_)) if is_started && flag("allow_primary") => {
            let why = format!("shard {number} on node {here} can be cancelled");
            let gives_up = Some((index_name, number));
            return Ok(Judged { gives_up, ..judged(fields, why, None) });
        }
        ("cancel", Some(_)) if is_started => {
            format!("can't cancel {copy} on node {here}, shard is primary and started")
        }
        ("cancel", _) => {
            format!("can't cancel {copy}, failed to find it on node {here}")
        }
        ("move", None) => {
            let text = format!("[{short}] can't move {copy}, failed to find it on node {here}");
            plain = Some(Error::illegal_argument(text));
            format!("shard {number} not found")
        }
        (_, None) => {
            let error = Error::new(404, "shard_not_found_exception", "no such shard");
            let number = u32::try_from(number).unwrap_or(u32::MAX);
            let uuid = index.as_ref().map(|index| index.uuid_text()).unwrap_or_default();
            plain = Some(error.at_shard(&uuid, number, &index_name));
            "no such shard".to_owned()
        }
        ("move", Some(held)) => format!(
            "can't move {number}, from {here}, to {here}, since its not allowed, reason: [NO({})]",
            id(held)
        ),
        ("allocate_replica", Some((index, _))) if index.settings.replica_count() == 0 => format!(
            "all copies of {copy} are already assigned. Use the move allocation command instead"
        ),
        ("allocate_replica", Some(held)) => format!(
            "allocation of {copy} on node {here} is not allowed, reason: [NO({})]",
            id(held)
        ),
        ("allocate_empty_primary", Some(_)) if failure.is_some() && !accepts => loses("an empty"),
        (_, Some(_)) if failure.is_some() && !accepts => loses("a stale"),
        (_, Some(_)) => match failure {
            None => format!("primary {copy} is already assigned"),
            // Its files are there: they are mended, not thrown away for whoever asks.
            Some(failure) => format!(
                "primary {copy} failed on node {here} and is not made anew by this command: {}",
                failure.why
            ),
        },
    };
    let error = plain.unwrap_or_else(|| Error::illegal_argument(format!("[{short}] {why}")));
    Ok(judged(fields, why, Some(error)))
}

fn already(node: &str, copy: &str, id: &str) -> String {
    format!(
        "a copy of this shard is already allocated to this node [{copy}, node[{node}], [P], \
         s[STARTED], a[id={id}]]"
    )
}
