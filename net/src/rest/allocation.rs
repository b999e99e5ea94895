//! Where shards are, and why: `_cluster/allocation/explain`, votes, pending changes, remote clusters. One node holds all, so nothing moves and nothing waits.

use std::sync::Arc;

use cluster::Index;
use engine::node::Primary;
use engine::{Error, Result};
use env::machine::Volume;
use env::{Bytes, Env};
use json::Writer;
use json::spanned::{Member, Node};

use super::cluster_state::allocation_id;
use super::cluster_state::unassigned::{self, Lack};
use super::nodes::{attributes, write_roles};
use super::scalar;
use crate::call::Call;
use crate::fail;
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

/// `GET /_nodes/shutdown`, `/_nodes/{node_id}/shutdown`: nodes that are being taken out, of which there is
/// none, for nobody can ask for it.
pub(super) fn shutdowns<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    call.gate.cluster("cluster:admin/shutdown/get")?;
    Ok(Reply::json(200, br#"{"nodes":[]}"#.to_vec()))
}

/// Nodes that shall have no vote, kept in the state for whoever joins later.
const EXCLUSIONS_MAX: u64 = 10;

/// `POST /_cluster/voting_config_exclusions`.
pub(super) async fn exclude_votes<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let (ids, names) = (call.params.list("node_ids"), call.params.list("node_names"));
    if ids.is_empty() == names.is_empty() {
        return Err(Error::illegal_argument(
            "You must set [node_names] or [node_ids] but not both",
        ));
    }
    let info = &call.core.shared().config.info;
    let absent = || "_absent_".to_owned();
    let nodes = ids
        .into_iter()
        .map(|id| if id == info.id { (id, info.name.clone()) } else { (id, absent()) })
        .chain(names.into_iter().map(|name| {
            if name == info.name { (info.id.clone(), name) } else { (absent(), name) }
        }));
    let most = call.core.state().settings.int("cluster.max_voting_config_exclusions");
    let most = most.and_then(|most| u64::try_from(most).ok()).unwrap_or(EXCLUSIONS_MAX);
    call.core.add_voting_exclusions(call.gate, nodes.collect(), most).await?;
    Ok(Reply::json(200, Vec::new()))
}

/// `DELETE /_cluster/voting_config_exclusions`.
pub(super) async fn include_votes<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    call.core.clear_voting_exclusions(call.gate).await?;
    Ok(Reply::json(200, Vec::new()))
}

/// What Elasticsearch points people to who name no shard.
const GUIDE: &str = "https://www.elastic.co/guide/en/elasticsearch/reference/8.19/\
                     cluster-allocation-explain.html";

/// Which copy is asked about.
struct Asked {
    index: Arc<Index>,
    number: u32,
    primary: bool,
}

/// `GET|POST /_cluster/allocation/explain`.
pub(super) async fn explain<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    call.gate.cluster("cluster:monitor/allocation/explain")?;
    let with_disk = call.params.flag("include_disk_info", false)?;
    call.core.look_after_all_closed().await;
    let read = |content: &Bytes| match content.is_empty() {
        true => Ok(Wish::default()),
        false => wish(&fail::spanned_tree(content)?),
    };
    let wish = call.read(read).await?;
    let is_any = wish == Wish::default();
    let asked = if is_any { first_unassigned(call)? } else { named(call, &wish)? };
    let directory = call.core.directory();
    let standing = asked.primary.then(|| directory.primary(&asked.index, asked.number));
    let state = match standing {
        Some(Primary::Started(_) | Primary::Closed) => "started",
        Some(Primary::Initializing) => "initializing",
        Some(Primary::Failed(_)) | None => "unassigned",
    };
    let disk = if with_disk { Some(call.core.machine().await.volume) } else { None };
    Ok(call.json(200, |writer| {
        writer.begin_object();
        if is_any {
            writer.field_str(
                "note",
                &format!(
                    "No shard was specified in the explain API request, so this response explains a \
                     randomly chosen unassigned shard. There may be other unassigned shards in this \
                     cluster which cannot be assigned for different reasons. It may not be possible \
                     to assign this shard until one of the other shards is assigned correctly. To \
                     explain the allocation of other shards (whether assigned or unassigned) you \
                     must specify the target shard in the request to this API. See {GUIDE} for more \
                     information."
                ),
            );
        }
        writer
            .field_str("index", &asked.index.name)
            .field_u64("shard", u64::from(asked.number))
            .field_bool("primary", asked.primary)
            .field_str("current_state", state);
        if let Some(volume) = &disk {
            disk_info(call, writer, volume);
        }
        match state {
            "started" => explain_started(call, writer),
            "initializing" => explain_initializing(call, writer, &asked),
            _ => explain_unassigned(call, writer, &asked),
        }
        writer.end_object();
    }))
}

/// What a body asks about.
#[derive(Debug, Default, PartialEq)]
struct Wish {
    index: Option<String>,
    number: Option<i32>,
    primary: Option<bool>,
    node: Option<String>,
}

/// Reads a body.
///
/// # Errors
/// In the words of Elasticsearch's parser of objects.
fn wish(body: &Node) -> Result<Wish> {
    const PARSER: &str = "cluster/allocation/explain";
    let Some(members) = body.as_object() else {
        let what = format!("Expected START_OBJECT but was: {}", body.token());
        let reason = format!("{} [{PARSER}] {what}", body.at);
        return Err(Error::new(400, "x_content_parse_exception", reason));
    };
    let mut wish = Wish::default();
    for Member { key, key_at, value } in members {
        let text = || scalar::text(PARSER, key, value).map(|text| Some(text.to_owned()));
        match key.as_str() {
            "index" => wish.index = text()?,
            "shard" => wish.number = Some(scalar::int(PARSER, key, value)?),
            "primary" => wish.primary = Some(scalar::flag(PARSER, key, value)?),
            "current_node" => wish.node = text()?,
            _ => return Err(fail::unknown_field(PARSER, key, *key_at)),
        }
    }
    Ok(wish)
}

/// The shard that a body names.
fn named<E: Env>(call: &Call<'_, E>, wish: &Wish) -> Result<Asked> {
    let Wish { index: name, number, primary, node } = wish;
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
    let (Some(name), &Some(number), &Some(primary)) = (name, number, primary) else {
        return Err(Error::validation(&problems));
    };
    let Some(index) = call.core.state().index(name).cloned() else {
        return Err(Error::index_not_found(name, "index_or_alias"));
    };
    let there = u32::try_from(number).ok().filter(|&it| it < index.settings.shard_count());
    let Some(number) = there else {
        return Err(Error::new(404, "shard_not_found_exception", "no such shard")
            .with("index_uuid", index.uuid_text())
            .with("shard", number.to_string())
            .with("index", name));
    };
    let info = &call.core.shared().config.info;
    let is_here = |node: &str| node == info.id || node == info.name;
    match node {
        Some(node) if primary && !is_here(node) => {
            return Err(Error::illegal_argument(format!(
                "unable to find primary shard assigned to node [{node}]"
            )));
        }
        Some(node) if !primary => {
            return Err(Error::illegal_argument(format!(
                "unable to find a replica shard assigned to node [{node}]"
            )));
        }
        _ => {}
    }
    if !primary && index.settings.replica_count() == 0 {
        let yes = call.params.flag("include_yes_decisions", false)?;
        return Err(Error::illegal_argument(format!(
            "unable to find any shards to explain [ClusterAllocationExplainRequest[index={name},\
             shard={number},primary?={primary},currentNode=null,includeYesDecisions?={yes}]] in \
             the routing table"
        )));
    }
    Ok(Asked { index, number, primary })
}

/// How full the disk is, and how large the shards on it.
fn disk_info<E: Env>(call: &Call<'_, E>, writer: &mut Writer<'_>, volume: &Volume) {
    let info = &call.core.shared().config.info;
    let used = volume.total_bytes.saturating_sub(volume.available_bytes);
    let percent = |part: u64| {
        let share =
            if volume.total_bytes == 0 { 0.0 } else { units::ratio(part, volume.total_bytes) };
        (share * 10.0).round() / 10.0
    };
    writer.key("cluster_info").begin_object().key("nodes").begin_object();
    writer.key(&info.id).begin_object().field_str("node_name", &info.name);
    // A size: `name_bytes`, before it `name` where that is asked for (`human`).
    let size = |writer: &mut Writer<'_>, name: &str, bytes: u64| {
        if call.human {
            writer.field_str(name, &units::bytes(bytes));
        }
        writer.field_u64(&format!("{name}_bytes"), bytes);
    };
    for most in ["least_available", "most_available"] {
        let path = call.core.shared().config.data.display().to_string();
        writer.key(most).begin_object().field_str("path", &path);
        size(writer, "total", volume.total_bytes);
        size(writer, "used", used);
        size(writer, "free", volume.available_bytes);
        writer
            .key("free_disk_percent")
            .f64(percent(volume.available_bytes))
            .key("used_disk_percent")
            .f64(percent(used))
            .end_object();
    }
    writer.end_object().end_object().key("shard_sizes").begin_object();
    let directory = call.core.directory();
    for index in call.core.state().indices.values() {
        for number in 0..index.settings.shard_count() {
            if let Primary::Started(reader) = directory.primary(index, number) {
                let bytes = reader.view.load().len_bytes();
                size(writer, &format!("[{}][{number}][p]", index.name), bytes);
            }
        }
    }
    writer
        .end_object()
        .key("shard_data_set_sizes")
        .begin_object()
        .end_object()
        .key("shard_paths")
        .begin_object()
        .end_object()
        .key("reserved_sizes")
        .begin_array()
        .end_array()
        .end_object();
}

/// A copy without a place.
fn first_unassigned<E: Env>(call: &Call<'_, E>) -> Result<Asked> {
    let state = call.core.state();
    let primaries = state.indices.values().flat_map(|index| {
        let numbers = 0..index.settings.shard_count();
        numbers.map(|number| Asked { index: Arc::clone(index), number, primary: true })
    });
    // A primary wherever it is: without it documents are out of reach, and that is what is asked about.
    let directory = call.core.directory();
    let lost = primaries.into_iter().find(|copy| {
        let primary = directory.primary(&copy.index, copy.number);
        matches!(primary, Primary::Failed(_))
    });
    lost.or_else(|| {
        let index = state.indices.values().find(|index| index.settings.replica_count() > 0)?;
        Some(Asked { index: Arc::clone(index), number: 0, primary: false })
    })
    .ok_or_else(|| {
        Error::illegal_argument(format!(
            "No shard was specified in the request which means the response should explain a \
             randomly-chosen unassigned shard, but there are no unassigned shards in this cluster. \
             To explain the allocation of an assigned shard you must specify the target shard in the \
             request. See {GUIDE} for more information."
        ))
    })
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

/// Of a copy that no node may take.
const NOWHERE: &str = "Elasticsearch isn't allowed to allocate this shard to any of the nodes in the cluster. Choose a \
                       node to which you expect this shard to be allocated, find this node in the \
                       node-by-node explanation, and address the reasons which prevent Elasticsearch from \
                       allocating this shard there.";

/// Of a primary whose files are damaged.
const ALL_COPIES_INVALID: &str = "Elasticsearch can't allocate this shard because all the copies of its data in the \
                                  cluster are stale or corrupt. Elasticsearch will allocate this shard when a node \
                                  containing a good copy of its data joins the cluster. If no such node is \
                                  available, restore this index from a recent snapshot.";

fn explain_initializing<E: Env>(call: &Call<'_, E>, writer: &mut Writer<'_>, asked: &Asked) {
    let info = &call.core.shared().config.info;
    writer.key("unassigned_info").begin_object();
    Lack::primary(call, &asked.index, None).write(writer, "failed_allocation_attempts", |_| {});
    writer.field_str("last_allocation_status", "no_attempt").end_object();
    writer.key("current_node").begin_object();
    node(call, writer, "");
    attributes(writer, info);
    write_roles(writer).end_object().field_str(
        "explanation",
        &format!(
            "the shard is in the process of initializing on node [{}], wait until initialization has \
             completed",
            info.name
        ),
    );
}

fn explain_unassigned<E: Env>(call: &Call<'_, E>, writer: &mut Writer<'_>, asked: &Asked) {
    let info = &call.core.shared().config.info;
    let directory = call.core.directory();
    let failure = directory.failure(&asked.index, asked.number);
    let mut replicas = unassigned::replicas(call, &asked.index);
    let lack = replicas.next().filter(|_| !asked.primary);
    let lack = lack.unwrap_or_else(|| Lack::primary(call, &asked.index, failure));
    writer.key("unassigned_info").begin_object();
    lack.write(writer, "failed_allocation_attempts", |_| {});
    writer.field_str("last_allocation_status", lack.last_attempt()).end_object();
    let lost = failure.filter(|_| asked.primary);
    let (can, why) = match lost {
        Some(_) => ("no_valid_shard_copy", ALL_COPIES_INVALID),
        None => ("no", NOWHERE),
    };
    writer
        .field_str("can_allocate", can)
        .field_str("allocate_explanation", why)
        .key("node_allocation_decisions")
        .begin_array()
        .begin_object();
    node(call, writer, "node_");
    writer.key("node_attributes").begin_object();
    for (name, value) in &info.attributes {
        writer.field_str(name, value);
    }
    write_roles(writer.end_object()).field_str("node_decision", "no");
    match lost {
        Some(failure) => {
            writer
                .key("store")
                .begin_object()
                .field_bool("in_sync", true)
                .field_str("allocation_id", &allocation_id(&asked.index, asked.number));
            unassigned::store_exception(writer, failure);
            writer.end_object();
        }
        None => against(call, writer, asked, failure.is_some()),
    }
    writer.end_object().end_array();
}

/// What speaks against a replica on this node.
fn against<E: Env>(
    call: &Call<'_, E>,
    writer: &mut Writer<'_>,
    asked: &Asked,
    is_primary_lost: bool,
) {
    let (decider, why) = if is_primary_lost {
        ("replica_after_primary_active", "primary shard for this replica is not yet active".into())
    } else {
        let copy = format!(
            "[[{}][{}], node[{}], [P], s[STARTED], a[id={}]]",
            asked.index.name,
            asked.number,
            call.core.shared().config.info.id,
            allocation_id(&asked.index, asked.number),
        );
        ("same_shard", format!("a copy of this shard is already allocated to this node {copy}"))
    };
    writer
        .field_u64("weight_ranking", 1)
        .key("deciders")
        .begin_array()
        .begin_object()
        .field_str("decider", decider)
        .field_str("decision", "NO")
        .field_str("explanation", &why)
        .end_object()
        .end_array();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The place was that of the key, and a text that spells no number was called one of a wrong kind.
    #[test]
    fn a_failure_is_told_at_the_value_with_its_cause() {
        let parser = "[cluster/allocation/explain]";
        for (body, at, what, cause) in [
            (
                r#"{"shard":"x"}"#,
                "[1:10]",
                "failed to parse field [shard]",
                "For input string: \"x\"",
            ),
            (
                r#"{"primary":"maybe"}"#,
                "[1:12]",
                "failed to parse field [primary]",
                "Failed to parse value [maybe] as only [true] or [false] are allowed.",
            ),
            (
                r#"{"primary":1}"#,
                "[1:12]",
                "primary doesn't support values of type: VALUE_NUMBER",
                "",
            ),
            (r#"{"index":null}"#, "[1:10]", "index doesn't support values of type: VALUE_NULL", ""),
            (
                r#"{"current_node":[]}"#,
                "[1:17]",
                "current_node doesn't support values of type: START_ARRAY",
                "",
            ),
            (r#"{"foo":1}"#, "[1:2]", "unknown field [foo]", ""),
            ("[]", "[1:1]", "Expected START_OBJECT but was: START_ARRAY", ""),
        ] {
            let body = json::spanned::parse(body.as_bytes()).expect("JSON");
            let error = wish(&body).expect_err("nothing that can be asked");
            assert_eq!(error.reason, format!("{at} {parser} {what}"));
            assert_eq!(
                error.caused_by.map_or(String::new(), |cause| cause.reason),
                cause,
                "{what}"
            );
        }
        let body = br#"{"index":"a","shard":"1.7","primary":"true"}"#;
        let read = wish(&json::spanned::parse(body).expect("JSON")).expect("a shard");
        assert_eq!(
            (read.index.as_deref(), read.number, read.primary),
            (Some("a"), Some(1), Some(true))
        );
    }
}
