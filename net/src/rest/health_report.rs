//! `_health_report`: how the node does, what that means for those who use it, and what helps.
//!
//! The ids of impacts and diagnoses are Elasticsearch's, so that who watches for them finds them.
//! Impacts are always told; details and diagnoses only to whom they were not too much (`verbose`).

use engine::ops::IndicesOptions;
use engine::ops::observe::{Health, HealthWait, IndexRow};
use engine::{Error, Result};
use env::Env;
use json::Writer;

use super::cluster::Counts;
use crate::call::Call;
use crate::params::flag;
use crate::reply::Reply;

/// So many resources of a diagnosis are named where `size` does not say.
const RESOURCES_MAX: usize = 1_000;

/// So many indices a sentence names.
const NAMED_MAX: usize = 10;

/// Set on indices when the disk is full.
const READ_ONLY: &str = "index.blocks.read_only_allow_delete";

/// One thing that is not as it should be.
struct Trouble {
    impact: Impact,
    diagnosis: Diagnosis,
    /// Names of the indices that it concerns; `None` where it concerns no indices alone.
    indices: Option<Vec<String>>,
    /// The node's id and name, where it concerns the node.
    node: Option<(String, String)>,
}

/// What it means for those who use the node.
struct Impact {
    id: &'static str,
    /// From 1, the worst.
    severity: u64,
    description: String,
    areas: &'static [&'static str],
}

/// Why it is so, and what helps.
struct Diagnosis {
    id: &'static str,
    cause: String,
    action: &'static str,
    help_url: &'static str,
}

/// Indicators of the health report.
const INDICATORS: [&str; 5] =
    ["disk", "master_is_stable", "repository_integrity", "shards_availability", "shards_capacity"];

/// `GET /_health_report`, `/_health_report/{feature}`.
pub(super) async fn report<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    call.gate.cluster("cluster:monitor/health_api")?;
    let feature = call.path.get("feature");
    if let Some(feature) = feature
        && !INDICATORS.contains(&feature)
    {
        return Err(Error::new(
            404,
            "resource_not_found_exception",
            format!("Did not find indicator {feature}"),
        ));
    }
    let size = match call.params.int("size")? {
        None => RESOURCES_MAX,
        Some(size) => usize::try_from(size)
            .map_err(|_| Error::validation(&["The size parameter must be a positive integer"]))?,
    };
    let verbose = call.params.text("verbose").map_or(Ok(true), flag)?;
    let all =
        IndicesOptions { expand_closed: true, expand_hidden: true, ..IndicesOptions::default() };
    let wait = HealthWait::default();
    let health = call.core.cluster_health(&engine::Everything, "", all, &wait).await?;
    let shards = Counts::all(&health.indices);
    let sample = call.core.machine().await;
    let volume = &sample.volume;
    let used = match volume.total_bytes {
        0 => 0,
        total => (total - volume.available_bytes.min(total)).saturating_mul(100) / total,
    };
    let state = call.core.state();
    let read_only: Vec<&str> = state
        .indices
        .values()
        .filter(|index| index.settings.flag(READ_ONLY))
        .map(|index| &*index.name)
        .collect();
    let blocked = read_only.len();
    let node = match call.core.disk_marks(volume.total_bytes) {
        Some(marks) if volume.available_bytes < marks.flood => Health::Red,
        Some(marks) if volume.available_bytes < marks.high => Health::Yellow,
        _ => Health::Green,
    };
    let disk = if blocked > 0 { Health::Red } else { node };
    let most = call.core.state().settings.int("cluster.max_shards_per_node").unwrap_or(1_000);
    let most = u64::try_from(most).unwrap_or(0);
    let counted = call.core.state().counted_shards();
    let room = most.saturating_sub(counted);
    let capacity = match room {
        0..5 => Health::Red,
        5..10 => Health::Yellow,
        _ => Health::Green,
    };
    let statuses = [disk, Health::Green, Health::Green, health.status, capacity];
    let shown: Vec<(&str, Health)> = INDICATORS
        .into_iter()
        .zip(statuses)
        .filter(|(name, _)| feature.is_none_or(|feature| feature == *name))
        .collect();
    let worst = shown.iter().map(|(_, status)| *status).max().unwrap_or(Health::Green);
    Ok(call.json(200, |writer| {
        writer.begin_object();
        if feature.is_none() {
            writer.field_str("status", worst.as_str());
        }
        writer.field_str("cluster_name", &call.core.shared().config.info.cluster_name);
        writer.key("indicators").begin_object();
        for (name, status) in &shown {
            let told = match *name {
                "disk" => disk_symptom(node, blocked, used),
                _ => symptom(name, *status, &shards, room),
            };
            writer
                .key(name)
                .begin_object()
                .field_str("status", status.as_str())
                .field_str("symptom", &told);
            if verbose {
                details(writer, name, &shards, (most, counted), (node, blocked), call);
            }
            let troubles = match *name {
                "disk" => room_troubles(call, node, &read_only),
                "shards_availability" => shard_troubles(call, &health.indices),
                "shards_capacity" => capacity_troubles(*status),
                // These two are never anything but green.
                _ => Vec::new(),
            };
            troubled(writer, name, &troubles, verbose.then_some(size));
            writer.end_object();
        }
        writer.end_object().end_object();
    }))
}

/// What is told of the disk, by how full it is and how many indices are blocked: those may be so by hand, or still
/// be so once there is room.
fn disk_symptom(node: Health, blocked: usize, used: u64) -> String {
    let said = match blocked {
        0 => String::new(),
        1 => "1 index is not allowed to be updated. ".to_owned(),
        _ => format!("{blocked} indices are not allowed to be updated. "),
    };
    match node {
        Health::Green if blocked == 0 => "The cluster has enough available disk space.".to_owned(),
        Health::Green => said.trim_end().to_owned(),
        Health::Red if blocked == 0 => format!(
            "Indices will soon take no writes: {used} percent of the disk of the node are in use."
        ),
        _ => format!("{said}{used} percent of the disk of the node are in use."),
    }
}

fn symptom(name: &str, status: Health, shards: &Counts, room: u64) -> String {
    match (name, status) {
        ("master_is_stable", _) => "The cluster has a stable master node".to_owned(),
        ("repository_integrity", _) => "No snapshot repositories configured.".to_owned(),
        ("shards_capacity", Health::Green) => {
            "The cluster has enough room to add new shards.".to_owned()
        }
        ("shards_capacity", _) => {
            format!(
                "Cluster is close to reaching the configured maximum number of shards: {room} more fit."
            )
        }
        (_, Health::Green) => "This cluster has all shards available.".to_owned(),
        _ => {
            let copies = |count: u64, what: &str| {
                let noun = if count == 1 { "shard" } else { "shards" };
                (count > 0).then(|| format!("{count} {what} {noun}"))
            };
            let replicas = shards.unassigned - shards.unassigned_primaries;
            let told: Vec<String> = [
                copies(shards.unassigned_primaries, "unavailable primary"),
                copies(shards.initializing, "initializing primary"),
                copies(replicas, "unavailable replica"),
            ]
            .into_iter()
            .flatten()
            .collect();
            format!("This cluster has {}.", told.join(", "))
        }
    }
}

fn details<E: Env>(
    writer: &mut Writer<'_>,
    name: &str,
    shards: &Counts,
    (most, counted): (u64, u64),
    (node, blocked): (Health, usize),
    call: &Call<'_, E>,
) {
    let info = &call.core.shared().config.info;
    writer.key("details").begin_object();
    match name {
        "disk" => {
            writer
                .field_u64("nodes_with_enough_disk_space", u64::from(node == Health::Green))
                .field_u64("nodes_with_unknown_disk_status", 0)
                .field_u64("nodes_over_high_watermark", u64::from(node == Health::Yellow))
                .field_u64("nodes_over_flood_stage_watermark", u64::from(node == Health::Red))
                .field_u64("indices_with_readonly_block", blocked as u64);
        }
        "master_is_stable" => {
            let master = |writer: &mut Writer<'_>| {
                writer
                    .begin_object()
                    .field_str("node_id", &info.id)
                    .field_str("name", &info.name)
                    .end_object();
            };
            writer.key("current_master");
            master(writer);
            writer.key("recent_masters").begin_array();
            master(writer);
            writer.end_array();
        }
        "shards_availability" => {
            let replicas = shards.unassigned - shards.unassigned_primaries;
            writer
                .field_u64("started_primaries", shards.active)
                .field_u64("unassigned_primaries", shards.unassigned_primaries)
                .field_u64("initializing_primaries", shards.initializing)
                .field_u64("creating_primaries", 0)
                .field_u64("restarting_primaries", 0)
                .field_u64("started_replicas", 0)
                .field_u64("unassigned_replicas", replicas)
                .field_u64("initializing_replicas", 0)
                .field_u64("creating_replicas", 0)
                .field_u64("restarting_replicas", 0);
        }
        "shards_capacity" => {
            writer.key("data").begin_object();
            writer.field_u64("max_shards_in_cluster", most);
            if most.saturating_sub(counted) < 10 {
                writer.field_u64("current_used_shards", counted);
            }
            // No node is kept for frozen shards.
            writer.end_object().key("frozen").begin_object();
            writer.field_u64("max_shards_in_cluster", 0).end_object();
        }
        _ => {}
    }
    writer.end_object();
}

/// `1 index [a]`, `2 indices [a, b]`: how many, and the first of those that the caller may know of.
fn counted<E: Env>(call: &Call<'_, E>, names: &[&str]) -> (String, Vec<String>) {
    let known: Vec<String> =
        names.iter().filter(|name| call.gate.learns(name)).map(|name| (*name).to_owned()).collect();
    let noun = if names.len() == 1 { "index" } else { "indices" };
    let more = if names.len() > NAMED_MAX.min(known.len()) { ", ..." } else { "" };
    let first = known[..known.len().min(NAMED_MAX)].join(", ");
    (format!("{} {noun} [{first}{more}]", names.len()), known)
}

fn shard_troubles<E: Env>(call: &Call<'_, E>, rows: &[IndexRow]) -> Vec<Trouble> {
    let mut troubles = Vec::new();
    let of = |keep: fn(&IndexRow) -> bool| -> Vec<&str> {
        rows.iter().filter(|row| keep(row)).map(|row| row.name.as_str()).collect()
    };
    let lost = of(|row| row.active + row.initializing < row.primaries);
    if !lost.is_empty() {
        let (said, indices) = counted(call, &lost);
        troubles.push(Trouble {
            impact: Impact {
                id: "primary_unassigned",
                severity: 1,
                description: format!(
                    "Cannot add data to {said}. Searches might return incomplete results."
                ),
                areas: &["ingest", "search"],
            },
            diagnosis: Diagnosis {
                id: "explain_allocations",
                cause: "Shards of these indices do not serve: their files are damaged or could \
                        not be opened."
                    .to_owned(),
                action: "Ask why with [GET _cluster/allocation/explain]. Once the disk is sound again, \
                         start the node anew; where the files are lost, index the data again.",
                help_url: "https://ela.st/diagnose-shards",
            },
            indices: Some(indices),
            node: None,
        });
    }
    let alone = of(|row| row.replicas > 0);
    if !alone.is_empty() {
        let (said, indices) = counted(call, &alone);
        troubles.push(Trouble {
            impact: Impact {
                id: "replica_unassigned",
                severity: 2,
                description: format!(
                    "Searches might be slower than usual. Fewer redundant copies of the data \
                     exist on {said}."
                ),
                areas: &["search"],
            },
            diagnosis: Diagnosis {
                id: "increase_node_capacity_for_allocations",
                cause: "Elasticsearch isn't allowed to allocate some shards from these indices \
                        because there are not enough nodes in the cluster to allocate each shard \
                        copy on a different node."
                    .to_owned(),
                action: "Increase the number of nodes in the cluster or decrease the number of \
                         replica shards in the affected indices.",
                help_url: "https://ela.st/tier-capacity",
            },
            indices: Some(indices),
            node: None,
        });
    }
    troubles
}

fn room_troubles<E: Env>(call: &Call<'_, E>, node: Health, read_only: &[&str]) -> Vec<Trouble> {
    if node == Health::Green && read_only.is_empty() {
        return Vec::new();
    }
    let info = &call.core.shared().config.info;
    let (said, indices) = counted(call, read_only);
    let impact = if read_only.is_empty() {
        Impact {
            id: "ingest_capability_at_risk",
            severity: if node == Health::Red { 1 } else { 2 },
            description: "The cluster is at risk of not being able to insert or update documents \
                          in its indices."
                .to_owned(),
            areas: &["ingest"],
        }
    } else {
        Impact {
            id: "ingest_capability_unavailable",
            severity: 1,
            description: format!(
                "{said} {} not allowed to be updated.",
                if read_only.len() == 1 { "is" } else { "are" }
            ),
            areas: &["ingest"],
        }
    };
    let (cause, action) = if node == Health::Green {
        let cause = format!(
            "{said} {} blocked by [{READ_ONLY}]: deleting is allowed, writing is not. The disk of the node has \
             enough room.",
            if read_only.len() == 1 { "is" } else { "are" }
        );
        let action = "Set [index.blocks.read_only_allow_delete] to null where the block is not meant. Set by hand or \
                      for a full disk, it is taken back by itself while there is room.";
        (cause, action)
    } else {
        let cause = if read_only.is_empty() {
            "The disk of the node has run or is likely to run out of space, which stops writes to its \
             indices."
                .to_owned()
        } else {
            format!(
                "{said} stand on a disk that has run out of space, and take no writes until it is freed."
            )
        };
        let action = "Add disk capacity or free up disk space. Indices are opened for writes again \
                      by themselves once there is room.";
        (cause, action)
    };
    vec![Trouble {
        impact,
        diagnosis: Diagnosis {
            id: "add_disk_capacity_data_nodes",
            cause,
            action,
            help_url: "https://ela.st/fix-data-disk",
        },
        indices: (!read_only.is_empty()).then_some(indices),
        node: (node != Health::Green).then(|| (info.id.clone(), info.name.clone())),
    }]
}

fn capacity_troubles(status: Health) -> Vec<Trouble> {
    let impact = match status {
        Health::Green => return Vec::new(),
        Health::Yellow => Impact {
            id: "creation_of_new_indices_at_risk",
            severity: 2,
            description: "The cluster is running low on room to add new shards. Adding data to \
                          new indices is at risk."
                .to_owned(),
            areas: &["ingest"],
        },
        Health::Red => Impact {
            id: "creation_of_new_indices_blocked",
            severity: 1,
            description: "The cluster has too many used shards to be able to create new indices."
                .to_owned(),
            areas: &["ingest"],
        },
    };
    vec![Trouble {
        impact,
        diagnosis: Diagnosis {
            id: "increase_max_shards_per_node",
            cause: "Elasticsearch is about to reach the maximum number of shards it can host, \
                    based on your current settings."
                .to_owned(),
            action: "Increase the value of [cluster.max_shards_per_node] cluster setting or \
                     remove data indices to clear up resources.",
            help_url: "https://ela.st/fix-shards-capacity",
        },
        indices: None,
        node: None,
    }]
}

/// What is wrong with an indicator; diagnoses with at most so many resources, or none.
fn troubled(
    writer: &mut Writer<'_>,
    indicator: &str,
    troubles: &[Trouble],
    diagnosed: Option<usize>,
) {
    if troubles.is_empty() {
        return;
    }
    writer.key("impacts").begin_array();
    for Trouble { impact, .. } in troubles {
        writer
            .begin_object()
            .field_str("id", &format!("elasticsearch:health:{indicator}:impact:{}", impact.id))
            .field_u64("severity", impact.severity)
            .field_str("description", &impact.description)
            .key("impact_areas")
            .begin_array();
        for area in impact.areas {
            writer.str(area);
        }
        writer.end_array().end_object();
    }
    writer.end_array();
    let Some(size) = diagnosed else { return };
    writer.key("diagnosis").begin_array();
    for Trouble { diagnosis, indices, node, .. } in troubles {
        writer
            .begin_object()
            .field_str(
                "id",
                &format!("elasticsearch:health:{indicator}:diagnosis:{}", diagnosis.id),
            )
            .field_str("cause", &diagnosis.cause)
            .field_str("action", diagnosis.action);
        if indices.is_some() || node.is_some() {
            writer.key("affected_resources").begin_object();
            if let Some(indices) = indices {
                writer.key("indices").begin_array();
                for name in indices.iter().take(size) {
                    writer.str(name);
                }
                writer.end_array();
            }
            if let Some((id, name)) = node {
                writer.key("nodes").begin_array();
                if size > 0 {
                    writer.begin_object().field_str("node_id", id).field_str("name", name);
                    writer.end_object();
                }
                writer.end_array();
            }
            writer.end_object();
        }
        writer.field_str("help_url", diagnosis.help_url).end_object();
    }
    writer.end_array();
}
