//! What tools ask at their start: license, features.

use engine::{Error, Result};
use env::Env;
use json::Writer;

use super::info::license_uid;
use super::nodes::stats;
use crate::call::Call;
use crate::params::flag;
use crate::reply::Reply;

mod usage;

/// Features of Elasticsearch, by name: is it there, and is it on?
fn features(security: bool) -> [(&'static str, bool, bool); 27] {
    [
        ("aggregate_metric", false, false),
        ("analytics", true, true),
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
        ("universal_profiling", false, false),
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

/// A time that never comes, as Elasticsearch has it for licenses without end: a year before the last that fits.
/// Elasticsearch tells none in this answer, which its clients that have types then cannot read.
const NEVER_MS: u64 = i64::MAX as u64 - 365 * 24 * 60 * 60 * 1_000;

/// `GET /_xpack`.
pub(super) fn xpack<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    call.gate.cluster("cluster:monitor/xpack/info")?;
    super::info::accepts_enterprise(call)?;
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
                .field_u64("expiry_date_in_millis", NEVER_MS)
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

/// `GET /_xpack/usage`.
pub(super) fn xpack_usage<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    call.gate.cluster("cluster:monitor/xpack/usage")?;
    let usage = usage::usage(call);
    Ok(call.json(200, |writer| _ = writer.value(&usage)))
}

/// `GET /_features`: those that keep state which could be reset: none.
pub(super) fn get_features<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    call.gate.cluster("cluster:admin/features/get")?;
    Ok(call.json(200, |writer| {
        writer.begin_object().key("features").begin_array().end_array().end_object();
    }))
}

/// `GET /_info/{target}`: parts of the nodes' statistics, summed up over all nodes.
pub(super) async fn cluster_info<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    call.gate.cluster("cluster:monitor/nodes/info")?;
    const TARGETS: [&str; 4] = ["http", "ingest", "script", "thread_pool"];
    let asked = call.segment("target");
    let known = |part: &str| TARGETS.contains(&part) || part == "_all";
    super::nodes::all_known(call, "target", asked, known, &TARGETS)?;
    let all = asked.split(',').any(|part| part == "_all");
    if all && asked != "_all" {
        return Err(Error::illegal_argument(format!(
            "request [/_info/{asked}] contains _all and individual target [{asked}]"
        )));
    }
    let wants = |target: &str| all || asked.split(',').any(|part| part == target);
    let info = &call.core.shared().config.info;
    // Asked of the machine and of all shards only where they are told.
    let pools = match wants("thread_pool") {
        true => super::nodes::pools(call, &call.core.machine().await).await,
        false => Vec::new(),
    };
    Ok(call.json(200, |writer| {
        writer.begin_object().field_str("cluster_name", &info.cluster_name);
        if wants("http") {
            stats::http(call, writer);
        }
        if wants("ingest") {
            stats::ingest(call, writer);
        }
        if wants("script") {
            stats::script(call, writer);
        }
        if wants("thread_pool") {
            stats::thread_pools(writer, &pools);
        }
        writer.end_object();
    }))
}
