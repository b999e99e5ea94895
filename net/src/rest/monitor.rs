//! What tools ask at their start, and what people ask in trouble: license, features, health report.

use engine::ops::IndicesOptions;
use engine::ops::observe::{Health, HealthWait};
use engine::{Error, Result};
use env::Env;
use json::Writer;

use super::cluster::Counts;
use super::info::license_uid;
use crate::call::Call;
use crate::params::flag;
use crate::render::stats::Figures;
use crate::reply::Reply;

/// Features of Elasticsearch, by name: is it there, and is it on?
fn features(security: bool) -> [(&'static str, bool, bool); 26] {
    [
        ("aggregate_metric", false, false),
        ("analytics", false, false),
        ("archive", false, false),
        ("ccr", false, false),
        ("data_streams", true, true),
        ("data_tiers", false, false),
        ("enrich", false, false),
        ("enterprise_search", false, false),
        ("eql", false, false),
        ("esql", false, false),
        ("frozen_indices", false, false),
        ("graph", false, false),
        ("ilm", false, false),
        ("logsdb", false, false),
        ("logstash", false, false),
        ("ml", false, false),
        ("monitoring", false, false),
        ("rollup", false, false),
        ("searchable_snapshots", false, false),
        ("security", true, security),
        ("slm", false, false),
        ("spatial", false, false),
        ("sql", false, false),
        ("transform", false, false),
        ("voting_only", false, false),
        ("watcher", false, false),
    ]
}

/// `GET /_license/basic_status`, `trial_status`: the license is the free one, and stays.
pub(super) fn license_status<E: Env>(call: &Call<'_, E>, key: &'static str) -> Result<Reply> {
    call.gate.cluster("cluster:monitor/xpack/license/get")?;
    Ok(call.json(200, |writer| {
        writer.begin_object().field_bool(key, false).end_object();
    }))
}

/// `POST /_license/start_basic`.
pub(super) fn start_basic<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    call.gate.cluster("cluster:admin/xpack/license/start_basic")?;
    Ok(call.json(403, |writer| {
        writer
            .begin_object()
            .field_bool("acknowledged", true)
            .field_bool("basic_was_started", false)
            .field_str("error_message", "Operation failed: Current license is basic.")
            .end_object();
    }))
}

/// `GET /_xpack`.
pub(super) fn xpack<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    call.gate.cluster("cluster:monitor/xpack/info")?;
    let info = &call.core.shared().config.info;
    let categories = call.params.list("categories");
    for category in &categories {
        if !["build", "license", "features"].contains(&category.as_str()) {
            return Err(Error::illegal_argument(format!(
                "No enum constant org.elasticsearch.protocol.xpack.XPackInfoRequest.Category.{}",
                category.to_uppercase()
            )));
        }
    }
    let wants = |name: &str| categories.is_empty() || categories.iter().any(|one| one == name);
    // Here, and here only, words for people are the default.
    let human = call.params.text("human").map_or(Ok(true), flag)?;
    Ok(call.json(200, |writer| {
        writer.begin_object();
        if wants("build") {
            writer
                .key("build")
                .begin_object()
                .field_str("hash", &info.build_hash)
                .field_str("date", &info.build_date)
                .end_object();
        }
        if wants("license") {
            writer
                .key("license")
                .begin_object()
                .field_str("uid", &license_uid(&info.cluster_uuid))
                .field_str("type", "basic")
                .field_str("mode", "basic")
                .field_str("status", "active")
                .end_object();
        }
        if wants("features") {
            writer.key("features").begin_object();
            write_features(writer, call.security.is_some());
            writer.end_object();
        }
        if human {
            writer.field_str("tagline", "You know, for X");
        }
        writer.end_object();
    }))
}

fn write_features(writer: &mut Writer<'_>, security: bool) {
    for (name, available, enabled) in features(security) {
        writer
            .key(name)
            .begin_object()
            .field_bool("available", available)
            .field_bool("enabled", enabled)
            .end_object();
    }
}

/// `GET /_xpack/usage`: what is there and on; counters only where something counts.
pub(super) fn xpack_usage<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    call.gate.cluster("cluster:monitor/xpack/usage")?;
    Ok(call.json(200, |writer| {
        writer.begin_object();
        write_features(writer, call.security.is_some());
        writer.end_object();
    }))
}

/// `GET /_features`: those that keep state which could be reset: none.
pub(super) fn get_features<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    call.gate.cluster("cluster:admin/features/get")?;
    Ok(call.json(200, |writer| {
        writer.begin_object().key("features").begin_array().end_array().end_object();
    }))
}

/// `GET /_info/{target}`: parts of the nodes' statistics, summed up over all nodes.
pub(super) fn cluster_info<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    call.gate.cluster("cluster:monitor/nodes/info")?;
    const TARGETS: [&str; 4] = ["http", "ingest", "script", "thread_pool"];
    let asked = call.segment("target");
    let known = |part: &str| TARGETS.contains(&part) || part == "_all";
    if let Some(unknown) = asked.split(',').find(|part| !known(part)) {
        return Err(super::nodes::unknown_metric(call, unknown, &TARGETS));
    }
    let all = asked.split(',').any(|part| part == "_all");
    if all && asked != "_all" {
        return Err(Error::illegal_argument(format!(
            "request [/_info/{asked}] contains _all and individual target [{asked}]"
        )));
    }
    let wants = |target: &str| all || asked.split(',').any(|part| part == target);
    let info = &call.core.shared().config.info;
    let sums = call.core.shared().meters.sums();
    Ok(call.json(200, |writer| {
        writer.begin_object().field_str("cluster_name", &info.cluster_name);
        let mut out = Figures::new(writer, call.human);
        if wants("http") {
            out.begin("http").count("current_open", sums.connections_open);
            out.count("total_opened", sums.connections_opened).end();
        }
        if wants("ingest") {
            out.begin("ingest").begin("total").count("count", 0).millis("time", 0);
            out.count("current", 0).count("failed", 0).end().begin("pipelines").end().end();
        }
        if wants("script") {
            out.begin("script");
            super::nodes::stats::scripts(&mut out, sums.scripts);
            out.end();
        }
        if wants("thread_pool") {
            out.begin("thread_pool").end();
        }
        writer.end_object();
    }))
}

/// Indicators of the health report.
const INDICATORS: [&str; 5] =
    ["disk", "master_is_stable", "repository_integrity", "shards_availability", "shards_capacity"];

/// `GET /_health_report`, `/_health_report/{feature}`.
pub(super) async fn health_report<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
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
    if let Some(size) = call.params.int("size")?
        && size < 0
    {
        return Err(Error::illegal_argument("The size parameter must be a positive integer"));
    }
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
    let blocked = call.core.blocked_for_room();
    let disk = match call.core.disk_marks(volume.total_bytes) {
        _ if blocked > 0 => Health::Red,
        Some(marks) if volume.available_bytes < marks.flood => Health::Red,
        Some(marks) if volume.available_bytes < marks.high => Health::Yellow,
        _ => Health::Green,
    };
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
            writer
                .key(name)
                .begin_object()
                .field_str("status", status.as_str())
                .field_str("symptom", &symptom(name, *status, &shards, used, room));
            if verbose {
                details(writer, name, &shards, (most, counted), (disk, blocked), call);
            }
            writer.end_object();
        }
        writer.end_object().end_object();
    }))
}

fn symptom(name: &str, status: Health, shards: &Counts, used: u64, room: u64) -> String {
    match (name, status) {
        ("disk", Health::Green) => "The cluster has enough available disk space.".to_owned(),
        ("disk", Health::Red) => format!(
            "Indices take no writes, or will soon: {used} percent of the disk of the node are in use."
        ),
        ("disk", _) => format!("{used} percent of the disk of the node are in use."),
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
            let replicas = shards.unassigned - shards.unassigned_primaries;
            format!(
                "This cluster has {} unavailable primary and {replicas} unavailable replica shards.",
                shards.unassigned_primaries
            )
        }
    }
}

fn details<E: Env>(
    writer: &mut Writer<'_>,
    name: &str,
    shards: &Counts,
    (most, counted): (u64, u64),
    (disk, blocked): (Health, usize),
    call: &Call<'_, E>,
) {
    let info = &call.core.shared().config.info;
    writer.key("details").begin_object();
    match name {
        "disk" => {
            writer
                .field_u64("nodes_with_enough_disk_space", u64::from(disk == Health::Green))
                .field_u64("nodes_with_unknown_disk_status", 0)
                .field_u64("nodes_over_high_watermark", u64::from(disk == Health::Yellow))
                .field_u64("nodes_over_flood_stage_watermark", u64::from(disk == Health::Red))
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
            writer.end_object();
        }
        _ => {}
    }
    writer.end_object();
}
