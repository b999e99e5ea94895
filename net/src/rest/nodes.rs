//! `_nodes`: the node, by section.

pub(super) mod stats;
mod threads;

use std::collections::{BTreeMap, BTreeSet};

use engine::ops::observe::NodeInfo;
use engine::ops::stats::Stats;
use engine::{Error, Result};
use env::Env;
use env::machine::{Pool, Sample};
use json::path::glob;
use json::{Object, Value, Writer};

use super::info::VERSION;
use crate::call::Call;
use crate::fail;
use crate::render::stats::Figures;
use crate::render::units;
use crate::reply::Reply;

pub(super) use stats::stats;
pub(super) use threads::hot_threads;

/// What this node does, sorted.
pub(super) const ROLES: [&str; 3] = ["data", "ingest", "master"];

/// The same, a letter each.
pub(super) const ROLE_LETTERS: &str = "dim";

/// Sections of `_nodes`, in the order in which they are printed.
const SECTIONS: [&str; 12] = [
    "settings",
    "os",
    "process",
    "jvm",
    "thread_pool",
    "transport",
    "http",
    "remote_cluster_server",
    "plugins",
    "ingest",
    "aggregations",
    "indices",
];

/// Does a comma list of a path name this node? Names, addresses, ids, stars, attributes and roles,
/// with `:false` taking away.
///
/// # Errors
/// 400 for a role that a node is neither to have nor not to have.
pub(super) fn is_chosen(info: &NodeInfo, list: &str) -> Result<bool> {
    let mut chosen = false;
    for part in list.split(',') {
        let fits = |text: &str| glob(part.as_bytes(), text.as_bytes());
        match part {
            "" | "_all" | "_local" | "_master" | "*" => chosen = true,
            _ => match part.split_once(':') {
                Some((role, flag)) if ROLES.contains(&role) => match flag {
                    "true" | "" => chosen = true,
                    "false" => chosen = false,
                    _ => return Err(no_flag(flag)),
                },
                Some(("coordinating_only" | "voting_only", flag)) => match flag {
                    "true" | "false" | "" => {}
                    _ => return Err(no_flag(flag)),
                },
                Some((name, value)) => {
                    chosen |= info.attributes.iter().any(|(known, held)| {
                        glob(name.as_bytes(), known.as_bytes())
                            && glob(value.as_bytes(), held.as_bytes())
                    });
                    chosen |= fits(&info.transport_address);
                }
                None => {
                    chosen |=
                        fits(&info.id) || fits(&info.name) || fits(host(&info.transport_address));
                }
            },
        }
    }
    Ok(chosen)
}

fn no_flag(text: &str) -> Error {
    Error::illegal_argument(format!(
        "Failed to parse value [{text}] as only [true] or [false] are allowed."
    ))
}

/// The host of `host:port`.
pub(super) fn host(address: &str) -> &str {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    host.trim_matches(['[', ']'])
}

/// The frame of an answer about nodes: counts, the cluster's name, and what `node` writes of this
/// one where it is `chosen`.
pub(super) fn frame<E: Env>(
    call: &Call<'_, E>,
    writer: &mut Writer<'_>,
    chosen: bool,
    node: impl FnOnce(&mut Writer<'_>, &NodeInfo),
) {
    let info = &call.core.shared().config.info;
    let count = u64::from(chosen);
    writer.begin_object();
    counts(writer, count);
    writer.field_str("cluster_name", &info.cluster_name).key("nodes").begin_object();
    if chosen {
        writer.key(&info.id).begin_object();
        node(writer, info);
        writer.end_object();
    }
    writer.end_object().end_object();
}

/// `_nodes`: how many were asked.
pub(super) fn counts(writer: &mut Writer<'_>, count: u64) {
    writer
        .key("_nodes")
        .begin_object()
        .field_u64("total", count)
        .field_u64("successful", count)
        .field_u64("failed", 0)
        .end_object();
}

/// Whether all metrics are asked for, which is said alone.
pub(super) fn all_alone<E: Env>(call: &Call<'_, E>, metrics: &[&str]) -> Result<bool> {
    let all = metrics.contains(&"_all");
    if all && metrics.len() > 1 {
        return Err(Error::illegal_argument(format!(
            "request [{}] contains _all and individual metrics [{}]",
            String::from_utf8_lossy(http::Target::new(call.head.target()).path()),
            metrics.join(","),
        )));
    }
    Ok(all)
}

/// The parts of a list that the path may not choose, in Elasticsearch's words, with the near ones; no error where all
/// of them are known.
pub(super) fn all_known<E: Env>(
    call: &Call<'_, E>,
    what: &str,
    list: &str,
    is_known: impl Fn(&str) -> bool,
    offered: &[&str],
) -> Result<()> {
    let unknown: BTreeSet<&str> = list.split(',').filter(|part| !is_known(part)).collect();
    if unknown.is_empty() {
        return Ok(());
    }
    let path = String::from_utf8_lossy(http::Target::new(call.head.target()).path());
    let unknown: Vec<&str> = unknown.into_iter().collect();
    Err(crate::params::unrecognized(&path, what, &unknown, offered))
}

/// `GET /_nodes`, `/_nodes/{node_id|metric}`, `/_nodes/{node_id}/{metric}`.
pub(super) async fn nodes<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    call.gate.cluster("cluster:monitor/nodes/info")?;
    let first = call.path.get("node_id");
    let second = call.path.get("metric");
    let is_metric = |part: &str| SECTIONS.contains(&part) || part == "_none";
    let (ids, metrics) = match (first, second) {
        (ids, Some(metrics)) => (ids.unwrap_or("_all"), metrics),
        (Some(one), None) if one.split(',').all(is_metric) => ("_all", one),
        (ids, None) => (ids.unwrap_or("_all"), "_all"),
    };
    let chosen = is_chosen(&call.core.shared().config.info, ids)?;
    // What is none of them is passed over here, as Elasticsearch does; all are asked for by that word alone.
    let wants = |section: &str| metrics == "_all" || metrics.split(',').any(|part| part == section);
    let flat = call.params.flag("flat_settings", false)?;
    let sample = call.core.machine().await;
    Ok(call.json(200, |writer| {
        frame(call, writer, chosen, |writer, info| {
            head(writer, info);
            if wants("indices") {
                let total = call.core.shared().budget.total_bytes() as u64;
                Figures::new(writer, call.human).bytes("total_indexing_buffer", total);
            }
            roles(writer, info);
            for section in SECTIONS.into_iter().filter(|section| wants(section)) {
                write_section(call, writer, info, section, &sample, flat);
            }
        });
    }))
}

/// The version of the indices that are made here, as Elasticsearch counts them.
const INDEX_VERSION: u64 = 8_536_000;

/// Name, addresses, version.
fn head(writer: &mut Writer<'_>, info: &NodeInfo) {
    let ip = host(&info.transport_address);
    writer
        .field_str("name", &info.name)
        .field_str("transport_address", &info.transport_address)
        .field_str("host", ip)
        .field_str("ip", ip)
        .field_str("version", VERSION)
        .field_u64("transport_version", 8_841_000)
        .field_u64("index_version", INDEX_VERSION)
        .key("component_versions")
        .begin_object()
        .end_object()
        .field_str("build_flavor", "default")
        .field_str("build_type", "tar")
        .field_str("build_hash", &info.build_hash);
}

/// The node as the cluster's other answers describe it.
pub(super) fn described<'w, 'b>(writer: &'w mut Writer<'b>, info: &NodeInfo) -> &'w mut Writer<'b> {
    writer
        .field_str("name", &info.name)
        .field_str("ephemeral_id", &info.ephemeral_id)
        .field_str("transport_address", &info.transport_address)
        .field_str("external_id", &info.name);
    attributes(writer, info);
    write_roles(writer)
        .field_str("version", VERSION)
        .field_u64("min_index_version", 7_000_099)
        .field_u64("max_index_version", INDEX_VERSION)
}

/// Roles and attributes.
pub(super) fn roles(writer: &mut Writer<'_>, info: &NodeInfo) {
    write_roles(writer);
    attributes(writer, info);
}

/// Roles.
pub(super) fn write_roles<'w, 'b>(writer: &'w mut Writer<'b>) -> &'w mut Writer<'b> {
    writer.key("roles").begin_array();
    for role in ROLES {
        writer.str(role);
    }
    writer.end_array()
}

/// Attributes.
pub(super) fn attributes(writer: &mut Writer<'_>, info: &NodeInfo) {
    writer.key("attributes").begin_object();
    for (name, value) in &info.attributes {
        writer.field_str(name, value);
    }
    writer.end_object();
}

fn write_section<E: Env>(
    call: &Call<'_, E>,
    writer: &mut Writer<'_>,
    info: &NodeInfo,
    section: &str,
    sample: &Sample,
    flat: bool,
) {
    match section {
        "settings" => {
            writer.field("settings", &settings(info, flat));
        }
        "os" => os(call, writer, sample),
        "process" => {
            writer.key("process").begin_object();
            refresh_interval(writer, call.human)
                .field_u64("id", u64::from(sample.process.pid))
                .field_bool("mlockall", false)
                .end_object();
        }
        "jvm" => jvm(call, writer, info, sample),
        "thread_pool" => {
            writer.key("thread_pool").begin_object();
            for pool in pools_of(call, sample, &Stats::default()) {
                writer
                    .key(pool.name)
                    .begin_object()
                    .field_str("type", "fixed")
                    .field_u64("size", pool.threads)
                    .key("queue_size")
                    .i64(pool.waiting_max.map_or(-1, |most| most as i64))
                    .end_object();
            }
            writer.end_object();
        }
        "transport" => {
            addresses(writer, "transport", &info.transport_address);
            writer.key("profiles").begin_object().end_object().end_object();
        }
        "http" => {
            addresses(writer, "http", &info.http_address);
            let most = call.body_bytes_max as u64;
            Figures::new(writer, call.human).bytes("max_content_length", most);
            writer.end_object();
        }
        // There is no server for other clusters: Elasticsearch leaves the section out too.
        "remote_cluster_server" | "indices" => {}
        "plugins" => {
            writer.key("plugins").begin_array().end_array();
            writer.key("modules").begin_array().end_array();
        }
        "ingest" => {
            writer.key("ingest").begin_object().key("processors").begin_array().end_array();
            writer.end_object();
        }
        "aggregations" => {
            writer.key("aggregations").begin_object();
            for (name, kinds) in aggs_known() {
                writer.key(name).begin_object().key("types").begin_array();
                for kind in kinds {
                    writer.str(kind);
                }
                writer.end_array().end_object();
            }
            writer.end_object();
        }
        _ => {
            writer.key(section).begin_object().end_object();
        }
    }
}

/// The aggregations of documents that are known, each with the kinds of values that it reads.
fn aggs_known() -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    let reads_values = |name: &&str| {
        let reads_others = [
            "bucket_script",
            "bucket_selector",
            "bucket_sort",
            "cumulative_cardinality",
            "cumulative_sum",
            "derivative",
            "moving_fn",
            "normalize",
            "serial_diff",
        ];
        !name.ends_with("_bucket") && !reads_others.contains(name)
    };
    search::dsl::AGGREGATION_NAMES.into_iter().filter(reads_values).map(|name| {
        let kinds: &[&str] = match name {
            "avg" | "sum" | "min" | "max" | "stats" | "extended_stats" | "percentiles"
            | "percentile_ranks" | "histogram" | "date_histogram" => {
                &["boolean", "date", "numeric"]
            }
            "auto_date_histogram" => &["boolean", "date", "numeric"],
            "median_absolute_deviation"
            | "boxplot"
            | "variable_width_histogram"
            | "t_test"
            | "weighted_avg"
            | "range" => &["numeric"],
            "date_range" => &["date", "numeric"],
            "cardinality" | "value_count" | "missing" => {
                &["boolean", "date", "geopoint", "ip", "keyword", "numeric", "range"]
            }
            "terms" | "rare_terms" | "significant_terms" | "multi_terms" | "composite" => {
                &["boolean", "date", "ip", "keyword", "numeric"]
            }
            "string_stats" | "significant_text" => &["keyword"],
            "ip_range" | "ip_prefix" => &["ip"],
            "geo_bounds" | "geo_centroid" | "geo_distance" | "geohash_grid" | "geotile_grid" => {
                &["geopoint"]
            }
            _ => &["other"],
        };
        (name, kinds)
    })
}

/// The settings that were given to the node.
pub(super) fn settings(info: &NodeInfo, flat: bool) -> Value {
    let mut root = Object::new();
    // Elasticsearch's clients want the last three: how masters are elected, and what speaks.
    let own = [
        ("cluster.name", info.cluster_name.as_str()),
        ("node.name", &info.name),
        ("cluster.election.strategy", "supports_voting_only"),
        ("http.type", "corelode"),
        ("transport.type", "corelode"),
    ];
    let own = own.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
    let given = info.settings.iter().cloned();
    let mut layer: cluster::cluster_settings::Layer =
        own.chain(given).map(|(name, value)| (name, Value::from(value))).collect();
    for (name, value) in &info.attributes {
        layer.insert(format!("node.attr.{name}"), Value::from(value.as_str()));
    }
    if let Value::Object(object) = cluster::cluster_settings::render(&layer, flat) {
        root = object;
    }
    if let (false, Some(Value::Object(node))) = (flat, root.get_mut("node"))
        && node.get("attr").is_none()
    {
        node.insert("attr", Value::object());
    }
    Value::Object(root)
}

/// Figures are taken when they are asked for.
fn refresh_interval<'a, 'b>(writer: &'a mut Writer<'b>, human: bool) -> &'a mut Writer<'b> {
    if human {
        writer.field_str("refresh_interval", "0s");
    }
    writer.field_u64("refresh_interval_in_millis", 0)
}

fn os<E: Env>(call: &Call<'_, E>, writer: &mut Writer<'_>, sample: &Sample) {
    let os = &sample.os;
    writer.key("os").begin_object();
    refresh_interval(writer, call.human)
        .field_str("name", &os.name)
        .field_str("pretty_name", &os.pretty_name)
        .field_str("arch", &os.arch)
        .field_str("version", &os.version)
        .field_u64("available_processors", os.processors)
        .field_u64("allocated_processors", u64::from(call.core.shared().config.cores))
        .end_object();
}

/// Tools look for a JVM: what is told instead stands in `docs/api/no-effect.md`.
fn jvm<E: Env>(call: &Call<'_, E>, writer: &mut Writer<'_>, info: &NodeInfo, sample: &Sample) {
    writer
        .key("jvm")
        .begin_object()
        .field_u64("pid", u64::from(sample.process.pid))
        .field_str("version", "none")
        .field_str("vm_name", "none")
        .field_str("vm_version", "none")
        .field_str("vm_vendor", "none")
        .field_bool("using_bundled_jdk", false);
    if call.human {
        writer.field_str("start_time", &units::date(info.started_ms));
    }
    writer.key("start_time_in_millis").i64(info.started_ms).key("mem").begin_object();
    let total = call.core.shared().budget.total_bytes() as u64;
    Figures::new(writer, call.human)
        .bytes("heap_init", total)
        .bytes("heap_max", total)
        .bytes("non_heap_init", 0)
        .bytes("non_heap_max", 0)
        .bytes("direct_max", 0)
        .end();
    writer.key("gc_collectors").begin_array().end_array();
    writer.key("memory_pools").begin_array().end_array();
    writer
        .field_str("using_compressed_ordinary_object_pointers", "false")
        .key("input_arguments")
        .begin_array()
        .end_array()
        .end_object();
}

/// Begins a section with its addresses.
fn addresses(writer: &mut Writer<'_>, section: &str, address: &str) {
    writer.key(section).begin_object().key("bound_address").begin_array().str(address).end_array();
    writer.field_str("publish_address", address);
}

/// The same with what all shards have counted.
pub(super) async fn pools<E: Env>(call: &Call<'_, E>, sample: &Sample) -> Vec<Pool> {
    pools_of(call, sample, &call.core.node_stats().await)
}

/// Pools by the names that tools know: where executors do the work, their number stands for the
/// threads, and what is under way for the active ones.
pub(super) fn pools_of<E: Env>(call: &Call<'_, E>, sample: &Sample, stats: &Stats) -> Vec<Pool> {
    let cores = u64::from(call.core.shared().config.cores);
    let on_cores = |name: &'static str, current: u64, completed: u64| Pool {
        name,
        threads: cores,
        waiting_max: None,
        active: current.min(cores),
        waiting: current.saturating_sub(cores),
        rejected: 0,
        completed,
    };
    let shard = &stats.shard;
    let mut pools = vec![
        on_cores("flush", 0, shard.flush.count),
        on_cores("get", 0, shard.get.count),
        on_cores("refresh", 0, shard.refresh.count),
        on_cores("search", stats.query.current + stats.fetch.current, stats.query.count),
        on_cores("write", stats.bulk.current, stats.bulk.count),
    ];
    for pool in &sample.pools {
        let name = match pool.name {
            "heavy" => "force_merge",
            "documents" => "write_worker",
            "search" => "search_worker",
            "short" => "generic",
            "bodies" => "body_worker",
            "leftovers" => "drop_worker",
            "hashes" => "security-crypto",
            "files" => "management",
            other => other,
        };
        pools.push(Pool { name, ..pool.clone() });
    }
    pools.sort_by_key(|pool| pool.name);
    pools
}

/// Sections of `_nodes/usage`.
const USAGE: [&str; 2] = ["rest_actions", "aggregations"];

/// `GET /_nodes/usage` and its kin: how often each API was asked.
pub(super) fn usage<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    call.gate.cluster("cluster:monitor/nodes/usage")?;
    let metrics = call.path.get("metric").unwrap_or("_all");
    let is_known = |part: &str| USAGE.contains(&part) || part == "_all";
    all_known(call, "metric", metrics, is_known, &USAGE)?;
    let wants = |section: &str| metrics.split(',').any(|part| part == section || part == "_all");
    let info = &call.core.shared().config.info;
    let chosen = is_chosen(info, call.path.get("node_id").unwrap_or("_all"))?;
    let counts = call.core.shared().meters.requests();
    let uses = call.core.shared().search_uses.sum().aggs;
    Ok(call.json(200, |writer| {
        frame(call, writer, chosen, |writer, info| {
            writer.key("timestamp").i64(call.now_ms());
            writer.key("since").i64(info.started_ms);
            if wants("rest_actions") {
                writer.key("rest_actions").begin_object();
                for (family, spread) in counts.iter().filter(|(_, spread)| spread.count() > 0) {
                    writer.field_u64(&format!("{family}_action"), spread.count());
                }
                writer.end_object();
            }
            if wants("aggregations") {
                write_aggs(writer, &uses);
            }
        });
    }))
}

/// How often each aggregation was used, by kind of its values.
fn write_aggs(writer: &mut Writer<'_>, uses: &BTreeMap<(&'static str, &'static str), u64>) {
    writer.key("aggregations").begin_object();
    let uses: Vec<_> = uses.iter().collect();
    for of_name in uses.chunk_by(|((a, _), _), ((b, _), _)| a == b) {
        writer.key(of_name[0].0.0).begin_object();
        for ((_, kind), count) in of_name {
            writer.field_u64(kind, **count);
        }
        writer.end_object();
    }
    writer.end_object();
}

/// `POST /_nodes/reload_secure_settings`: no secure setting can be read again while the node runs.
pub(super) async fn reload_secure_settings<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    call.gate.cluster("cluster:admin/nodes/reload_secure_settings")?;
    call.read(|content| {
        const KEYS: &[(&str, &[&str])] = &[("secure_settings_password", &["VALUE_STRING"])];
        match content.is_empty() {
            true => Ok(()),
            false => {
                let body = fail::spanned_tree(content)?;
                fail::members(&body, "reload_secure_settings", KEYS).map(drop)
            }
        }
    })
    .await?;
    let info = &call.core.shared().config.info;
    let chosen = is_chosen(info, call.path.get("node_id").unwrap_or("_all"))?;
    Ok(call.json(200, |writer| {
        frame(call, writer, chosen, |writer, info| {
            writer.field_str("name", &info.name);
        });
    }))
}

/// `GET|DELETE /_nodes/{node_id}/_repositories_metering…`: there are no repositories to meter.
pub(super) fn repositories_metering<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    call.gate.cluster("cluster:monitor/xpack/repositories_metering/get_metrics")?;
    if let Some(version) = call.path.get("max_archive_version")
        && version.parse::<i64>().is_err()
    {
        return Err(Error::illegal_argument(format!(
            "Failed to parse long parameter [max_archive_version] with value [{version}]"
        )));
    }
    let info = &call.core.shared().config.info;
    let chosen = is_chosen(info, call.segment("node_id"))?;
    Ok(call.json(200, |writer| {
        let count = u64::from(chosen);
        writer.begin_object();
        counts(writer, count);
        writer.field_str("cluster_name", &info.cluster_name).key("nodes").begin_object();
        if chosen {
            writer.key(&info.id).begin_array().end_array();
        }
        writer.end_object().end_object();
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_chosen_by_many_words() {
        let info = NodeInfo {
            name: "one".into(),
            id: "AbC".into(),
            transport_address: "127.0.0.1:9300".into(),
            attributes: vec![("rack".into(), "r1".into())],
            ..NodeInfo::default()
        };
        for (list, chosen) in [
            ("_all", true),
            ("_local,x", true),
            ("on*", true),
            ("AbC", true),
            ("127.0.0.*", true),
            ("rack:r*", true),
            ("rack:r2", false),
            ("data:true", true),
            ("_all,data:false", false),
            ("data:", true),
            ("coordinating_only:true", false),
            ("two", false),
        ] {
            assert_eq!(is_chosen(&info, list).ok(), Some(chosen), "{list}");
        }
        for list in ["data:x", "_all,master:TRUE", "coordinating_only:1"] {
            let told = is_chosen(&info, list).err().map(|error| error.to_string());
            assert!(told.is_some_and(|told| told.contains("as only [true] or [false]")), "{list}");
        }
    }

    #[test]
    fn hosts_are_cut_off_their_ports() {
        assert_eq!(host("127.0.0.1:9200"), "127.0.0.1");
        assert_eq!(host("[::1]:9200"), "::1");
    }
}
