//! `_nodes/stats`: every figure measured; what tools look for and nothing here has (a heap, its
//! collectors) is told by the memory budget or as 0 (`docs/api/no-effect.md`).

use engine::meter::Scripts;
use engine::ops::IndicesOptions;
use engine::ops::observe::NodeInfo;
use engine::ops::stats::{Closed, IndexStats, Stats};
use engine::{Error, Everything, Result};
use env::Env;
use env::machine::{Cgroup, Pool, Sample, Volume};
use json::Writer;

use super::{all_alone, all_known, frame, host, is_chosen, pools_of};
use crate::call::Call;
use crate::render::stats::{FieldWish, Figures, SECTIONS, Sections, sections_with};
use crate::render::units;
use crate::reply::Reply;
use crate::rest::index_stats;

/// Sections, in the order in which they are printed.
const METRICS: [&str; 18] = [
    "indices",
    "os",
    "process",
    "jvm",
    "thread_pool",
    "fs",
    "transport",
    "http",
    "breaker",
    "script",
    "discovery",
    "ingest",
    "adaptive_selection",
    "script_cache",
    "indexing_pressure",
    "repositories",
    "allocations",
    "scrub",
];

/// What is asked for of each node.
struct Wish<'a> {
    metrics: Vec<&'a str>,
    sections: Sections,
    fields: FieldWish,
    level: &'a str,
    /// Indices, where the level asks for them.
    rows: Vec<IndexStats>,
}

impl Wish<'_> {
    /// Figures of shards as members of the object that is open.
    fn figures(&self, writer: &mut Writer<'_>, stats: &Stats, human: bool) {
        sections_with(writer, stats, self.sections, human, &self.fields);
    }
}

/// `GET /_nodes/stats` and its kin.
pub(crate) async fn stats<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    call.gate.cluster("cluster:monitor/nodes/stats")?;
    let mut wish = wish(call)?;
    let by_group = !wish.fields.groups.is_empty();
    let by_index = wish.level != "node" || by_group;
    if by_index {
        let all = IndicesOptions {
            expand_closed: true,
            expand_hidden: true,
            ..IndicesOptions::default()
        };
        let action = "cluster:monitor/nodes/stats";
        // The right to ask is the cluster's.
        wish.rows = call.core.index_stats(&Everything, action, "*", all, Closed::Show).await?;
        if by_group {
            call.core.fill_groups(&mut wish.rows).await;
        }
    }
    let info = &call.core.shared().config.info;
    let chosen = is_chosen(info, call.path.get("node_id").unwrap_or("_all"))?;
    let sample = call.core.machine().await;
    // Whoever asked of each index had the files of closed ones looked after.
    let mut counts = match by_index {
        true => call.core.node_stats_as_looked_at().await,
        false => call.core.node_stats().await,
    };
    if wish.fields.names_any() {
        let hidden = call.core.hidden_names(call.gate).await;
        wish.rows.iter_mut().for_each(|row| hidden.leave_out_of_index(row));
        hidden.leave_out_of_node(&call.core.state(), &mut counts);
    }
    if by_group {
        let shards = wish.rows.iter().flat_map(|row| &row.shards);
        // What is no more counts under no name, as on Elasticsearch.
        counts.groups = Stats::sum(shards.filter_map(|shard| shard.standing.stats())).groups;
    }
    Ok(call.json(200, |writer| {
        frame(call, writer, chosen, |writer, info| {
            writer.key("timestamp").i64(call.now_ms());
            writer
                .field_str("name", &info.name)
                .field_str("transport_address", &info.transport_address)
                .field_str("host", host(&info.transport_address))
                .field_str("ip", &info.transport_address);
            super::roles(writer, info);
            for metric in &wish.metrics {
                section(call, writer, metric, &wish, (info, &sample, &counts));
            }
        });
    }))
}

fn wish<'c, E: Env>(call: &'c Call<'_, E>) -> Result<Wish<'c>> {
    let asked = call.path.get("metric").unwrap_or("_all");
    let parts: Vec<&str> = asked.split(',').collect();
    let all = all_alone(call, &parts)?;
    let known = |part: &str| METRICS.contains(&part) || part == "breakers" || part == "_all";
    all_known(call, "metric", asked, known, &METRICS)?;
    let named = |metric: &str| {
        asked.split(',').any(|part| part == metric || (part == "breakers" && metric == "breaker"))
    };
    let metrics: Vec<&str> = METRICS.into_iter().filter(|metric| all || named(metric)).collect();
    let sections = match call.path.get("index_metric") {
        None => Sections::ALL,
        Some(list) if all && list != "_all" => {
            return Err(Error::illegal_argument(format!(
                "request [{}] contains index metrics [{list}] but all stats requested",
                String::from_utf8_lossy(http::Target::new(call.head.target()).path()),
            )));
        }
        Some(_) if !metrics.contains(&"indices") => {
            return Err(Error::illegal_argument(format!(
                "request [{}] contains index metrics [{}] but indices stats not requested",
                String::from_utf8_lossy(http::Target::new(call.head.target()).path()),
                call.segment("index_metric"),
            )));
        }
        Some("_all") => Sections::ALL,
        Some(list) => {
            // Among others `_all` is a name like any other.
            let known: Vec<&str> = SECTIONS.iter().map(|(name, _)| *name).collect();
            all_known(call, "index metric", list, |part| known.contains(&part), &known)?;
            Sections::of(list.split(','))
                .map_err(|unknown| Error::internal(format!("[{unknown}] is among those known")))?
        }
    };
    let asked = call.params.text("level").unwrap_or("node");
    let known = ["node", "indices", "shards"];
    let Some(level) = known.into_iter().find(|level| level.eq_ignore_ascii_case(asked)) else {
        return Err(Error::illegal_argument(format!(
            "level parameter must be one of [node] or [indices] or [shards] but was [{asked}]"
        )));
    };
    let read = if metrics.contains(&"indices") { sections } else { Sections::NONE };
    index_stats::check_params(call, read, true)?;
    let fields = index_stats::fields(call);
    Ok(Wish { metrics, sections, fields, level, rows: Vec::new() })
}

fn section<E: Env>(
    call: &Call<'_, E>,
    writer: &mut Writer<'_>,
    metric: &str,
    wish: &Wish<'_>,
    (info, sample, counts): (&NodeInfo, &Sample, &Stats),
) {
    let now_ms = call.now_ms();
    match metric {
        "indices" => {
            writer.key("indices").begin_object();
            wish.figures(writer, counts, call.human);
            by_level(writer, wish, info, call.human);
            writer.end_object();
        }
        "os" => os(writer, sample, now_ms, call.human),
        "process" => process(writer, sample, now_ms, call.human),
        "jvm" => jvm(call, writer, info, sample),
        "thread_pool" => thread_pools(writer, &pools_of(call, sample, counts)),
        "fs" => fs(call, writer, sample, now_ms),
        "transport" => {
            let mut out = Figures::new(writer, call.human);
            out.begin("transport").count("server_open", 0).count("total_outbound_connections", 0);
            out.count("rx_count", 0).bytes("rx_size", 0).count("tx_count", 0).bytes("tx_size", 0);
            out.end();
        }
        "http" => http(call, writer),
        "breaker" => breakers(call, writer),
        "script" => script(call, writer),
        "discovery" => discovery(call, writer),
        "ingest" => ingest(call, writer),
        "script_cache" => {
            let mut out = Figures::new(writer, call.human);
            out.begin("script_cache").begin("sum");
            scripts(&mut out, call.core.shared().meters.sums().scripts);
            out.end().end();
        }
        "indexing_pressure" => indexing_pressure(call, writer),
        "scrub" => scrub(call, writer),
        "allocations" => allocations(call, writer, counts),
        // Nothing is chosen between copies, or kept elsewhere: these are empty.
        _ => {
            writer.key(metric).begin_object().end_object();
        }
    }
}

/// What threads do, pool by pool.
pub(in crate::rest) fn thread_pools(writer: &mut Writer<'_>, pools: &[Pool]) {
    writer.key("thread_pool").begin_object();
    for pool in pools {
        writer
            .key(pool.name)
            .begin_object()
            .field_u64("threads", pool.threads)
            .field_u64("queue", pool.waiting)
            .field_u64("active", pool.active)
            .field_u64("rejected", pool.rejected)
            .field_u64("largest", pool.threads)
            .field_u64("completed", pool.completed)
            .end_object();
    }
    writer.end_object();
}

/// Connections.
pub(in crate::rest) fn http<E: Env>(call: &Call<'_, E>, writer: &mut Writer<'_>) {
    let sums = call.core.shared().meters.sums();
    writer
        .key("http")
        .begin_object()
        .field_u64("current_open", sums.connections_open)
        .field_u64("total_opened", sums.connections_opened)
        .key("clients")
        .begin_array()
        .end_array()
        .key("routes")
        .begin_object()
        .end_object()
        .end_object();
}

/// How often scripts were made ready.
pub(in crate::rest) fn script<E: Env>(call: &Call<'_, E>, writer: &mut Writer<'_>) {
    let mut out = Figures::new(writer, call.human);
    out.begin("script");
    scripts(&mut out, call.core.shared().meters.sums().scripts);
    out.end();
}

/// Pipelines: there are none.
pub(in crate::rest) fn ingest<E: Env>(call: &Call<'_, E>, writer: &mut Writer<'_>) {
    let mut out = Figures::new(writer, call.human);
    out.begin("ingest").begin("total").count("count", 0).millis("time", 0);
    out.count("current", 0).count("failed", 0).end().begin("pipelines").end().end();
}

/// The same of each index, or of each shard.
fn by_level(writer: &mut Writer<'_>, wish: &Wish<'_>, info: &NodeInfo, human: bool) {
    if wish.level == "node" {
        return;
    }
    writer.key(wish.level).begin_object();
    for row in &wish.rows {
        writer.key(&row.index.name);
        if wish.level == "indices" {
            writer.begin_object();
            wish.figures(writer, &row.sum(), human);
            writer.end_object();
            continue;
        }
        writer.begin_array();
        for shard in &row.shards {
            let Some(stats) = shard.standing.stats() else { continue };
            writer.begin_object().key(&shard.number.to_string()).begin_object();
            writer.key("routing").begin_object().field_str("state", shard.standing.as_str());
            writer.field_bool("primary", true).field_str("node", &info.id);
            writer.key("relocating_node").null().end_object();
            wish.figures(writer, stats, human);
            writer.end_object().end_object();
        }
        writer.end_array();
    }
    writer.end_object();
}

fn percent(part: u64, whole: u64) -> u64 {
    part.saturating_mul(100).checked_div(whole).unwrap_or(0)
}

fn os(writer: &mut Writer<'_>, sample: &Sample, now_ms: i64, human: bool) {
    let os = &sample.os;
    writer.key("os").begin_object().key("timestamp").i64(now_ms).key("cpu").begin_object();
    if let Some(percent) = os.cpu_percent {
        writer.field_u64("percent", percent);
    }
    if let Some([one, five, fifteen]) = os.load {
        writer.key("load_average").begin_object();
        writer.key("1m").f64(one).key("5m").f64(five).key("15m").f64(fifteen).end_object();
    }
    writer.end_object();
    let (total, free) = (os.memory_total_bytes, os.memory_free_bytes);
    let used = total.saturating_sub(free);
    let mut out = Figures::new(writer, human);
    out.begin("mem")
        .bytes("total", total)
        .bytes("adjusted_total", total)
        .bytes("free", free)
        .bytes("used", used)
        .count("free_percent", units::whole_percent(free, total))
        .count("used_percent", units::whole_percent(used, total))
        .end();
    out.begin("swap")
        .bytes("total", os.swap_total_bytes)
        .bytes("free", os.swap_free_bytes)
        .bytes("used", os.swap_total_bytes.saturating_sub(os.swap_free_bytes))
        .end();
    if let Some(group) = &os.cgroup {
        cgroup(writer, group);
    }
    writer.end_object();
}

fn cgroup(writer: &mut Writer<'_>, group: &Cgroup) {
    writer
        .key("cgroup")
        .begin_object()
        .key("cpuacct")
        .begin_object()
        .field_str("control_group", &group.accounts)
        .field_u64("usage_nanos", group.cpu_usage_ns)
        .end_object()
        .key("cpu")
        .begin_object()
        .field_str("control_group", &group.cpu)
        .field_u64("cfs_period_micros", group.cpu_period_us)
        .key("cfs_quota_micros")
        .i64(group.cpu_quota_us)
        .key("stat")
        .begin_object()
        .field_u64("number_of_elapsed_periods", group.periods)
        .field_u64("number_of_times_throttled", group.throttled)
        .field_u64("time_throttled_nanos", group.throttled_ns)
        .end_object()
        .end_object()
        .key("memory")
        .begin_object()
        .field_str("control_group", &group.memory)
        .field_str("limit_in_bytes", &group.memory_limit)
        .field_str("usage_in_bytes", &group.memory_usage)
        .end_object()
        .end_object();
}

fn process(writer: &mut Writer<'_>, sample: &Sample, now_ms: i64, human: bool) {
    let process = &sample.process;
    writer
        .key("process")
        .begin_object()
        .key("timestamp")
        .i64(now_ms)
        .field_u64("open_file_descriptors", process.files_open)
        .field_u64("max_file_descriptors", process.files_max);
    let mut out = Figures::new(writer, human);
    out.begin("cpu");
    if let Some(percent) = process.cpu_percent {
        out.count("percent", percent);
    }
    out.millis("total", process.cpu_total_ms).end();
    out.begin("mem").bytes("total_virtual", process.virtual_bytes).end();
    cores(writer, human, sample);
    writer.end_object();
}

/// How the executors do: beyond Elasticsearch, which has none.
fn cores(writer: &mut Writer<'_>, human: bool, sample: &Sample) {
    writer.key("cores").begin_array();
    for core in &sample.cores {
        writer.begin_object();
        Figures::new(writer, human)
            .count("longest_stretch_in_micros", core.stretch_max_us)
            .count("long_stretches", core.long_stretches)
            .count("stalls", core.stalls)
            .millis("stalled", core.stalled_ms);
        writer.end_object();
    }
    writer.end_array();
}

/// The memory of a JVM: what is told instead.
fn write_jvm_memory<E: Env>(call: &Call<'_, E>, writer: &mut Writer<'_>, sample: &Sample) {
    let budget = &call.core.shared().budget;
    let (used, total) = (budget.leased_bytes() as u64, budget.total_bytes() as u64);
    let outside = sample.process.resident_bytes.saturating_sub(used);
    let mut out = Figures::new(writer, call.human);
    out.bytes("heap_used", used)
        .count("heap_used_percent", percent(used, total))
        .bytes("heap_committed", total)
        .bytes("heap_max", total)
        .bytes("non_heap_used", outside)
        .bytes("non_heap_committed", outside);
}

fn jvm<E: Env>(call: &Call<'_, E>, writer: &mut Writer<'_>, info: &NodeInfo, sample: &Sample) {
    let now_ms = call.now_ms();
    let uptime = u64::try_from(now_ms - info.started_ms).unwrap_or(0);
    writer.key("jvm").begin_object().key("timestamp").i64(now_ms);
    Figures::new(writer, call.human).millis("uptime", uptime);
    writer.key("mem").begin_object();
    write_jvm_memory(call, writer, sample);
    let mut out = Figures::new(writer, call.human);
    out.begin("pools");
    for pool in ["young", "survivor", "old"] {
        out.begin(pool).bytes("used", 0).bytes("max", 0).bytes("peak_used", 0);
        out.bytes("peak_max", 0).end();
    }
    out.end().end();
    out.begin("threads")
        .count("count", sample.process.threads)
        .count("peak_count", sample.process.threads_peak)
        .end();
    out.begin("gc").begin("collectors");
    for collector in ["young", "old"] {
        out.begin(collector).count("collection_count", 0).millis("collection_time", 0).end();
    }
    out.end().end();
    out.begin("buffer_pools");
    for pool in ["mapped", "direct"] {
        out.begin(pool).count("count", 0).bytes("used", 0).bytes("total_capacity", 0).end();
    }
    out.end();
    out.begin("classes").count("current_loaded_count", 0).count("total_loaded_count", 0);
    out.count("total_unloaded_count", 0).end().end();
}

fn fs<E: Env>(call: &Call<'_, E>, writer: &mut Writer<'_>, sample: &Sample, now_ms: i64) {
    let volume = &sample.volume;
    writer.key("fs").begin_object().key("timestamp").i64(now_ms).key("total").begin_object();
    sizes(writer, volume, call.human);
    writer.end_object().key("data").begin_array().begin_object();
    let path = call.core.shared().config.data.display().to_string();
    writer
        .field_str("path", &path)
        .field_str("mount", &volume.mount)
        .field_str("type", &volume.kind);
    sizes(writer, volume, call.human);
    if let Some(marks) = call.core.disk_marks(volume.total_bytes) {
        Figures::new(writer, call.human)
            .bytes("low_watermark_free_space", marks.low)
            .bytes("high_watermark_free_space", marks.high)
            .bytes("flood_stage_free_space", marks.flood);
    }
    writer.end_object().end_array();
    if !sample.devices.is_empty() {
        devices(writer, sample);
    }
    writer.end_object();
}

fn sizes(writer: &mut Writer<'_>, volume: &Volume, human: bool) {
    Figures::new(writer, human)
        .bytes("total", volume.total_bytes)
        .bytes("free", volume.free_bytes)
        .bytes("available", volume.available_bytes);
}

fn devices(writer: &mut Writer<'_>, sample: &Sample) {
    let mut total = env::machine::Device::default();
    writer.key("io_stats").begin_object().key("devices").begin_array();
    for device in &sample.devices {
        writer.begin_object().field_str("device_name", &device.name);
        operations(writer, device);
        writer.end_object();
        total.reads += device.reads;
        total.writes += device.writes;
        total.read_kib += device.read_kib;
        total.written_kib += device.written_kib;
        total.busy_ms += device.busy_ms;
    }
    writer.end_array().key("total").begin_object();
    operations(writer, &total);
    writer.end_object().end_object();
}

fn operations(writer: &mut Writer<'_>, device: &env::machine::Device) {
    writer
        .field_u64("operations", device.reads + device.writes)
        .field_u64("read_operations", device.reads)
        .field_u64("write_operations", device.writes)
        .field_u64("read_kilobytes", device.read_kib)
        .field_u64("write_kilobytes", device.written_kib)
        .field_u64("io_time_in_millis", device.busy_ms);
}

/// One budget bounds all: each breaker has its limit, and the parent tells what is taken.
fn breakers<E: Env>(call: &Call<'_, E>, writer: &mut Writer<'_>) {
    let budget = &call.core.shared().budget;
    let (used, total) = (budget.leased_bytes() as u64, budget.total_bytes() as u64);
    writer.key("breakers").begin_object();
    for (name, estimated, tripped) in [
        ("request", 0, 0),
        ("fielddata", 0, 0),
        ("inflight_requests", 0, 0),
        ("parent", used, budget.refused_count() as u64),
    ] {
        writer
            .key(name)
            .begin_object()
            .field_u64("limit_size_in_bytes", total)
            .field_str("limit_size", &units::bytes(total))
            .field_u64("estimated_size_in_bytes", estimated)
            .field_str("estimated_size", &units::bytes(estimated))
            .key("overhead")
            .f64(1.0)
            .field_u64("tripped", tripped)
            .end_object();
    }
    writer.end_object();
}

/// How often scripts were compiled.
pub(in crate::rest) fn scripts(out: &mut Figures<'_, '_>, scripts: Scripts) {
    out.count("compilations", scripts.compilations)
        .count("cache_evictions", scripts.evictions)
        .count("compilation_limit_triggered", scripts.refused);
}

/// Changes of the cluster state are done one after the other, and are then in force everywhere.
fn discovery<E: Env>(call: &Call<'_, E>, writer: &mut Writer<'_>) {
    let version = call.core.state().version;
    let mut out = Figures::new(writer, call.human);
    out.begin("discovery").begin("cluster_state_queue");
    out.count("total", 0).count("pending", 0).count("committed", 0).end();
    out.begin("published_cluster_states").count("full_states", version);
    out.count("incompatible_diffs", 0).count("compatible_diffs", 0).end();
    out.begin("cluster_state_update").end().end();
}

/// The shards that are here, where all of them belong. No load is foretold, and no size but what is.
fn allocations<E: Env>(call: &Call<'_, E>, writer: &mut Writer<'_>, counts: &Stats) {
    let bytes = counts.shard.store_bytes;
    let mut out = Figures::new(writer, call.human);
    out.begin("allocations")
        .count("shards", call.core.shard_counts().assigned)
        .count("undesired_shards", 0)
        .float("forecasted_ingest_load", 0.0)
        .bytes("forecasted_disk_usage", bytes)
        .bytes("current_disk_usage", bytes)
        .end();
}

/// The rounds through the whole store (ours alone; Elasticsearch reads a file only when it is used).
fn scrub<E: Env>(call: &Call<'_, E>, writer: &mut Writer<'_>) {
    let told = &call.core.shared().scrubbing;
    let (begun, ended) = (told.rounds_begun.get(), told.rounds_ended.get());
    let mut out = Figures::new(writer, call.human);
    out.begin("scrub")
        .count("rounds", ended)
        .count("rounds_current", begun.saturating_sub(ended))
        .count("parts_done", told.done.get())
        .count("parts_total", told.wanted.get())
        .count("files", told.files.get())
        .bytes("read", told.read_bytes.get())
        .count("damages", told.damages.get())
        .moment("last_begin", told.begun_ms.get())
        .moment("last_end", told.ended_ms.get())
        .end();
}

fn indexing_pressure<E: Env>(call: &Call<'_, E>, writer: &mut Writer<'_>) {
    let shared = call.core.shared();
    let (sums, total) = (shared.meters.sums(), shared.budget.total_bytes() as u64);
    write_indexing_pressure(
        &mut Figures::new(writer, call.human),
        (sums.received_bytes, sums.rejected),
        total,
    );
}

/// So many bytes came, and so many requests were refused, under such a limit.
pub(in crate::rest) fn write_indexing_pressure(
    out: &mut Figures<'_, '_>,
    (received_bytes, rejected): (u64, u64),
    limit_bytes: u64,
) {
    out.begin("indexing_pressure").begin("memory").begin("current");
    for part in ["combined_coordinating_and_primary", "coordinating", "primary", "replica", "all"] {
        out.bytes(part, 0);
    }
    out.end().begin("total");
    for part in ["combined_coordinating_and_primary", "coordinating", "primary", "replica", "all"] {
        out.bytes(part, if part == "replica" { 0 } else { received_bytes });
    }
    out.count("coordinating_rejections", rejected)
        .count("primary_rejections", 0)
        .count("replica_rejections", 0)
        .count("primary_document_rejections", 0)
        .end();
    out.bytes("limit", limit_bytes).end().end();
}
