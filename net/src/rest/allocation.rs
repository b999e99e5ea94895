//! Where shards are, and why: `_cluster/reroute`, `_cluster/allocation/explain`, votes, pending
//! changes, remote clusters. One node holds all, so nothing moves and nothing waits.

use std::sync::Arc;

use base::ShardId;
use cluster::Index;
use engine::node::Entry;
use engine::{Error, Result};
use env::Env;
use json::{Value, Writer};

use super::cluster_state::{allocation_id, write_rerouted};
use super::nodes::{attributes, write_roles};
use crate::call::Call;
use crate::render::units;
use crate::reply::Reply;

/// `GET /_cluster/pending_tasks`: changes are done one after the other and answered when they are
/// durable; none waits for long enough to be seen.
pub(super) fn pending_tasks<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    call.gate.cluster("cluster:monitor/task")?;
    Ok(call.json(200, |writer| {
        writer.begin_object().key("tasks").begin_array().end_array().end_object();
    }))
}

/// `GET /_remote/info`: there are no remote clusters.
pub(super) fn remote_info<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    call.gate.cluster("cluster:monitor/remote/info")?;
    Ok(Reply::json(200, b"{}".to_vec()))
}

/// Nodes that shall have no vote, kept in the state for whoever joins later.
const EXCLUSIONS_MAX: usize = 10;

/// `POST /_cluster/voting_config_exclusions`.
pub(super) async fn exclude_votes<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let (ids, names) = (call.params.list("node_ids"), call.params.list("node_names"));
    if ids.is_empty() == names.is_empty() {
        return Err(Error::illegal_argument(if ids.is_empty() {
            "You must set [node_names] or [node_ids]"
        } else {
            "You must set [node_names] or [node_ids] but not both"
        }));
    }
    let info = &call.core.shared().config.info;
    let mut nodes: Vec<(String, String)> = call.core.state().voting_exclusions.to_vec();
    let absent = || "_absent_".to_owned();
    let wanted = ids
        .into_iter()
        .map(|id| if id == info.id { (id, info.name.clone()) } else { (id, absent()) })
        .chain(names.into_iter().map(|name| {
            if name == info.name { (info.id.clone(), name) } else { (absent(), name) }
        }));
    for node in wanted {
        if !nodes.contains(&node) {
            nodes.push(node);
        }
    }
    let most = call.core.state().settings.int("cluster.max_voting_config_exclusions");
    let most = most.and_then(|most| usize::try_from(most).ok()).unwrap_or(EXCLUSIONS_MAX);
    if nodes.len() > most {
        return Err(Error::illegal_argument(format!(
            "add voting config exclusions request would result in [{}] exclusions, more than the \
             maximum of [{most}] set by [cluster.max_voting_config_exclusions]",
            nodes.len()
        )));
    }
    call.core.set_voting_exclusions(call.gate, nodes).await?;
    Ok(Reply::json(200, Vec::new()))
}

/// `DELETE /_cluster/voting_config_exclusions`.
pub(super) async fn include_votes<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    call.core.set_voting_exclusions(call.gate, Vec::new()).await?;
    Ok(Reply::json(200, Vec::new()))
}

/// A command of `_cluster/reroute`, and why it is refused.
struct Refused {
    name: String,
    parameters: Value,
    why: String,
}

/// `POST /_cluster/reroute`: every command is judged; none has a place to move a shard to.
pub(super) async fn reroute<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    call.gate.cluster("cluster:admin/reroute")?;
    let explain = call.params.flag("explain", false)?;
    let metrics = call.params.text("metric");
    let mut refused = Vec::new();
    if let Some(body) = call.map()? {
        for (key, value) in body.as_object().into_iter().flat_map(json::Object::iter) {
            match (key, value) {
                ("commands", Value::Array(commands)) => {
                    for command in commands {
                        refused.push(judge(call, command)?);
                    }
                }
                ("dry_run", Value::Bool(_)) => {}
                _ => {
                    return Err(Error::new(
                        400,
                        "x_content_parse_exception",
                        format!("[1:2] [cluster_reroute] unknown field [{key}]"),
                    ));
                }
            }
        }
    }
    if let (Some(first), false) = (refused.first(), explain) {
        return Err(Error::illegal_argument(format!("[{}] {}", first.name, first.why)));
    }
    let mut out = Vec::new();
    let mut writer = Writer::new(&mut out);
    writer.begin_object().field_bool("acknowledged", true);
    if metrics != Some("none") {
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
                .field_str("decider", &format!("{}_allocation_command", one.name))
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

/// Reads a command; why it cannot be done.
fn judge<E: Env>(call: &Call<'_, E>, command: &Value) -> Result<Refused> {
    let one = command.as_object().filter(|object| object.len() == 1);
    let Some((name, body)) = one.and_then(|object| object.iter().next()) else {
        return Err(Error::illegal_argument("a command must be an object with one key"));
    };
    let keys: &[&str] = match name {
        "move" => &["index", "shard", "from_node", "to_node"],
        "cancel" => &["index", "shard", "node", "allow_primary"],
        "allocate_replica" => &["index", "shard", "node"],
        "allocate_stale_primary" | "allocate_empty_primary" => {
            &["index", "shard", "node", "accept_data_loss"]
        }
        _ => {
            return Err(Error::new(
                400,
                "named_object_not_found_exception",
                format!("[1:2] unknown field [{name}]"),
            ));
        }
    };
    let fields = body.as_object().ok_or_else(|| {
        Error::illegal_argument(format!("the command [{name}] must be an object"))
    })?;
    if let Some(unknown) = fields.keys().find(|key| !keys.contains(key)) {
        return Err(Error::new(
            400,
            "x_content_parse_exception",
            format!("[1:2] [{name}] unknown field [{unknown}]"),
        ));
    }
    for key in &keys[..keys.len() - usize::from(keys.len() == 4 && name != "move")] {
        if !fields.contains_key(key) {
            return Err(Error::illegal_argument(format!(
                "[{name}] command missing the {key} parameter"
            )));
        }
    }
    let index_name = fields.get("index").and_then(Value::as_str).unwrap_or_default();
    let Some(index) = call.core.state().index(index_name).cloned() else {
        return Err(Error::index_not_found(index_name, "index_or_alias"));
    };
    let number = fields.get("shard").and_then(Value::as_u64).unwrap_or(u64::MAX);
    let node = fields.get("node").or_else(|| fields.get("to_node"));
    let node = node.and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut parameters = body.clone();
    if name == "cancel"
        && let Some(object) = parameters.as_object_mut()
    {
        object.get_or_insert_with("allow_primary", || Value::from(false));
    }
    let why = if number >= u64::from(index.settings.shard_count()) {
        match name {
            "cancel" => format!(
                "can't cancel [{index_name}][{number}], failed to find it on node {{{node}}}"
            ),
            _ => format!("No shard was found for [{index_name}][{number}]"),
        }
    } else {
        match name {
            "move" => format!("[{index_name}][{number}]: there is no other node to move it to"),
            "cancel" => format!(
                "can't cancel [{index_name}][{number}] on node {{{node}}}, shard is primary and started"
            ),
            "allocate_replica" => format!(
                "[{index_name}][{number}]: a copy of this shard is already allocated to this node"
            ),
            _ => format!("primary [{index_name}][{number}] is already assigned"),
        }
    };
    Ok(Refused { name: name.to_owned(), parameters, why })
}

/// Which copy is asked about.
struct Asked {
    index: Arc<Index>,
    number: u32,
    primary: bool,
}

/// `GET|POST /_cluster/allocation/explain`.
pub(super) fn explain<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    call.gate.cluster("cluster:monitor/allocation/explain")?;
    let with_disk = call.params.flag("include_disk_info", false)?;
    let asked = match call.map()? {
        Some(body) if body.as_object().is_some_and(|object| !object.is_empty()) => {
            read(call, &body)?
        }
        _ => first_unassigned(call)?,
    };
    let started = asked.primary && is_started(call, &asked);
    Ok(call.json(200, |writer| {
        writer.begin_object();
        if call.body.is_empty() {
            writer.field_str(
                "note",
                "No shard was specified in the explain API request, so this response explains a \
                 randomly chosen unassigned shard.",
            );
        }
        writer
            .field_str("index", &asked.index.name)
            .field_u64("shard", u64::from(asked.number))
            .field_bool("primary", asked.primary)
            .field_str("current_state", if started { "started" } else { "unassigned" });
        if with_disk {
            writer.key("cluster_info").begin_object();
            writer.key("nodes").begin_object().end_object().end_object();
        }
        if started {
            explain_started(call, writer)
        } else {
            explain_unassigned(call, writer, &asked)
        }
        writer.end_object();
    }))
}

fn read<E: Env>(call: &Call<'_, E>, body: &Value) -> Result<Asked> {
    let (mut name, mut number, mut primary) = (None, None, None);
    for (key, value) in body.as_object().into_iter().flat_map(json::Object::iter) {
        match key {
            "index" => name = value.as_str(),
            "shard" => number = value.as_u64(),
            "primary" => primary = value.as_bool(),
            "current_node" => {}
            _ => {
                return Err(Error::new(
                    400,
                    "x_content_parse_exception",
                    format!("[1:2] [cluster/allocation/explain] unknown field [{key}]"),
                ));
            }
        }
    }
    let mut problems = Vec::new();
    if name.is_none() {
        problems.push("index must be specified");
    }
    if number.is_none() {
        problems.push("shard must be specified");
    }
    if primary.is_none() {
        problems.push("primary must be specified");
    }
    let (Some(name), Some(number), Some(primary)) = (name, number, primary) else {
        return Err(Error::validation(&problems));
    };
    let Some(index) = call.core.state().index(name).cloned() else {
        return Err(Error::index_not_found(name, "index_or_alias"));
    };
    let number = u32::try_from(number).unwrap_or(u32::MAX);
    if number >= index.settings.shard_count() {
        return Err(Error::new(404, "shard_not_found_exception", "no such shard").at_shard(
            &index.uuid_text(),
            number,
            name,
        ));
    }
    if !primary && index.settings.replica_count() == 0 {
        return Err(Error::illegal_argument(format!(
            "no shard was specified in the request which means the response should explain a \
             randomly-chosen unassigned shard, but there are no unassigned shards in this \
             cluster: [{name}] has no replicas"
        )));
    }
    Ok(Asked { index, number, primary })
}

fn is_started<E: Env>(call: &Call<'_, E>, asked: &Asked) -> bool {
    let shard = ShardId { index: asked.index.uuid, number: asked.number };
    !asked.index.open || matches!(call.core.directory().shards.get(&shard), Some(Entry::Open(_)))
}

fn first_unassigned<E: Env>(call: &Call<'_, E>) -> Result<Asked> {
    let state = call.core.state();
    for index in state.indices.values() {
        for number in 0..index.settings.shard_count() {
            let lost = Asked { index: Arc::clone(index), number, primary: true };
            if !is_started(call, &lost) {
                return Ok(lost);
            }
        }
        if index.settings.replica_count() > 0 {
            return Ok(Asked { index: Arc::clone(index), number: 0, primary: false });
        }
    }
    Err(Error::illegal_argument(
        "No shard was specified in the request which means the response should explain a \
         randomly-chosen unassigned shard, but there are no unassigned shards in this cluster. To \
         explain the allocation of an assigned shard you must specify the target shard in the \
         request. See https://www.elastic.co/guide/en/elasticsearch/reference/8.19/\
         cluster-allocation-explain.html for more information.",
    ))
}

fn node<E: Env>(call: &Call<'_, E>, writer: &mut Writer<'_>, prefix: &str) {
    let info = &call.core.shared().config.info;
    writer
        .field_str(&format!("{prefix}id"), &info.id)
        .field_str(&format!("{prefix}name"), &info.name)
        .field_str("transport_address", &info.transport_address);
}

fn explain_started<E: Env>(call: &Call<'_, E>, writer: &mut Writer<'_>) {
    writer.key("current_node").begin_object();
    node(call, writer, "");
    attributes(writer, &call.core.shared().config.info);
    write_roles(writer)
        .field_u64("weight_ranking", 1)
        .end_object()
        .field_str("can_remain_on_current_node", "yes")
        .field_str("can_rebalance_cluster", "yes")
        .field_str("can_rebalance_to_other_node", "no")
        .field_str(
            "rebalance_explanation",
            "Elasticsearch is not allowed to allocate or rebalance this shard to another node: \
             there is no other node.",
        );
}

fn explain_unassigned<E: Env>(call: &Call<'_, E>, writer: &mut Writer<'_>, asked: &Asked) {
    let info = &call.core.shared().config.info;
    let reason = if asked.primary { "ALLOCATION_FAILED" } else { "INDEX_CREATED" };
    writer
        .key("unassigned_info")
        .begin_object()
        .field_str("reason", reason)
        .field_str("at", &units::date(asked.index.created_ms));
    let shard = ShardId { index: asked.index.uuid, number: asked.number };
    let directory = call.core.directory();
    let failed = match directory.shards.get(&shard) {
        Some(Entry::Failed(why)) if asked.primary => Some(Arc::clone(why)),
        _ => None,
    };
    if let Some(why) = &failed {
        writer.field_str("details", why);
    }
    writer
        .field_str("last_allocation_status", "no_attempt")
        .end_object()
        .field_str("can_allocate", "no")
        .field_str(
            "allocate_explanation",
            "Elasticsearch isn't allowed to allocate this shard to any of the nodes in the \
             cluster. Choose a node to which you expect this shard to be allocated, find this \
             node in the node-by-node explanation, and address the reasons which prevent \
             Elasticsearch from allocating this shard there.",
        )
        .key("node_allocation_decisions")
        .begin_array()
        .begin_object();
    node(call, writer, "node_");
    writer.key("node_attributes").begin_object();
    for (name, value) in &info.attributes {
        writer.field_str(name, value);
    }
    write_roles(writer.end_object())
        .field_str("node_decision", "no")
        .key("deciders")
        .begin_array()
        .begin_object();
    let (decider, why) = match failed {
        Some(why) => ("max_retry", why.to_string()),
        None => (
            "same_shard",
            format!(
                "a copy of this shard is already allocated to this node [[{}][{}], node[{}], [P], \
                 s[STARTED], a[id={}]]",
                asked.index.name,
                asked.number,
                info.id,
                allocation_id(&asked.index, asked.number),
            ),
        ),
    };
    writer
        .field_str("decider", decider)
        .field_str("decision", "NO")
        .field_str("explanation", &why)
        .end_object()
        .end_array()
        .end_object()
        .end_array();
}
