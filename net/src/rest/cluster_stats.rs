//! `_cluster/stats`: the indices and the nodes, summed up.

use std::collections::{BTreeMap, BTreeSet};

use cluster::Index;
use engine::ops::IndicesOptions;
use engine::ops::observe::Health;
use engine::ops::stats::{Closed, IndexStats, Stats};
use engine::{Everything, Result};
use env::machine::Sample;
use env::{Env, Spawn};
use json::{Object, Value, Writer};

use super::info::VERSION;
use super::nodes::{ROLES, counts, is_chosen};
use crate::call::Call;
use crate::render::stats::{Figures, Sections, sections};
use crate::render::units;
use crate::reply::Reply;

/// Roles that Elasticsearch knows.
const ALL_ROLES: [&str; 13] = [
    "data",
    "data_cold",
    "data_content",
    "data_frozen",
    "data_hot",
    "data_warm",
    "index",
    "ingest",
    "master",
    "ml",
    "remote_cluster_client",
    "search",
    "transform",
];

/// `GET /_cluster/stats`, `/_cluster/stats/nodes/{node_id}`.
pub(super) async fn stats<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    call.gate.cluster("cluster:monitor/stats")?;
    let info = call.core.shared().config.info.clone();
    let chosen = is_chosen(&info, call.path.get("node_id").unwrap_or("_all"));
    let options =
        IndicesOptions { expand_closed: true, expand_hidden: true, ..IndicesOptions::default() };
    // The right to ask is the cluster's; sums name no index.
    let action = "cluster:monitor/stats";
    let mut rows = call.core.index_stats(&Everything, action, "*", options, Closed::Show).await?;
    if !chosen {
        rows.clear();
    }
    let health = rows.iter().map(|row| row.health).max().unwrap_or(Health::Green);
    let sample = call.core.machine().await;
    let sums = IndexSums::of(&rows);
    let mut usage = Usage::default();
    for (at, row) in rows.iter().enumerate() {
        usage.add(at, &row.index);
        call.core.env().spawn().yield_if_needed().await;
    }
    Ok(call.json(200, |writer| {
        writer.begin_object();
        counts(writer, u64::from(chosen));
        writer
            .field_str("cluster_name", &info.cluster_name)
            .field_str("cluster_uuid", &info.cluster_uuid)
            .key("timestamp")
            .i64(call.now_ms())
            .field_str("status", health.as_str());
        indices(call, writer, (&rows, &sums, &usage));
        nodes(call, writer, &sample, chosen);
        writer.key("snapshots").begin_object();
        writer.key("current_counts").begin_object();
        for key in [
            "snapshots",
            "shard_snapshots",
            "snapshot_deletions",
            "concurrent_operations",
            "cleanups",
        ] {
            writer.field_u64(key, 0);
        }
        writer.end_object().key("repositories").begin_object().end_object().end_object();
        across_clusters(writer, call.human);
        writer.end_object();
    }))
}

/// Searches of other clusters: there are none, so there never was one.
fn across_clusters(writer: &mut Writer<'_>, human: bool) {
    let mut out = Figures::new(writer, human);
    out.begin("ccs").begin("_search");
    for key in ["total", "success", "skipped"] {
        out.count(key, 0);
    }
    for key in ["took", "took_mrt_true", "took_mrt_false"] {
        out.begin(key).count("max", 0).count("avg", 0).count("p90", 0).end();
    }
    out.count("remotes_per_search_max", 0).double("remotes_per_search_avg", 0.0);
    for key in ["failure_reasons", "features", "clients", "clusters"] {
        out.begin(key).end();
    }
    out.end().end();
}

/// How searches were asked since the node started.
fn searches<E: Env>(call: &Call<'_, E>, writer: &mut Writer<'_>) {
    let uses = call.core.shared().search_uses.sum();
    let mut out = Figures::new(writer, call.human);
    out.begin("search").count("total", uses.total);
    // There is one kind of rescorer, and no retriever.
    let rescored = uses.sections.get("rescore").map(|count| ("query", *count));
    for (key, counts) in [
        ("queries", &uses.queries),
        ("rescorers", &rescored.into_iter().collect()),
        ("sections", &uses.sections),
        ("retrievers", &BTreeMap::new()),
    ] {
        out.begin(key);
        for (name, count) in counts {
            out.count(name, *count);
        }
        out.end();
    }
    out.end();
}

/// What is told of all indices together.
#[derive(Default)]
struct IndexSums {
    primaries: u64,
    per_index: Vec<u64>,
    stats: Stats,
}

impl IndexSums {
    fn of(rows: &[IndexStats]) -> Self {
        let mut sums = Self::default();
        for row in rows {
            let started = row.shards.len() as u64;
            sums.primaries += started;
            sums.per_index.push(started);
            sums.stats += &row.sum();
        }
        sums
    }
}

fn spread(writer: &mut Writer<'_>, key: &str, values: &[u64]) {
    let sum: u64 = values.iter().sum();
    writer
        .key(key)
        .begin_object()
        .field_u64("min", values.iter().copied().min().unwrap_or(0))
        .field_u64("max", values.iter().copied().max().unwrap_or(0))
        .key("avg")
        .f64(sum as f64 / values.len().max(1) as f64)
        .end_object();
}

fn indices<E: Env>(
    call: &Call<'_, E>,
    writer: &mut Writer<'_>,
    (rows, sums, usage): (&[IndexStats], &IndexSums, &Usage),
) {
    writer.key("indices").begin_object().field_u64("count", rows.len() as u64);
    writer.key("shards").begin_object();
    if !rows.is_empty() {
        writer
            .field_u64("total", sums.primaries)
            .field_u64("primaries", sums.primaries)
            .key("replication")
            .f64(0.0)
            .key("index")
            .begin_object();
        spread(writer, "shards", &sums.per_index);
        spread(writer, "primaries", &sums.per_index);
        writer.key("replication").begin_object().key("min").f64(0.0).key("max").f64(0.0);
        writer.key("avg").f64(0.0).end_object().end_object();
    }
    writer.end_object();
    let wanted =
        Sections::of(["docs", "store", "fielddata", "query_cache", "completion", "segments"]);
    if let Ok(wanted) = wanted {
        sections(writer, &sums.stats, wanted, call.human);
    }
    usage.write(writer, call.human);
    writer.key("versions").begin_array();
    if !rows.is_empty() {
        let bytes = sums.stats.shard.store_bytes;
        // All indices are of the one version that there is.
        writer.begin_object().field_str("version", super::info::VERSION);
        writer.field_u64("index_count", rows.len() as u64);
        writer.field_u64("primary_shard_count", sums.primaries);
        if call.human {
            writer.field_str("total_primary_size", &units::bytes(bytes));
        }
        writer.field_u64("total_primary_bytes", bytes).end_object();
    }
    writer.end_array();
    let mut out = Figures::new(writer, call.human);
    out.begin("dense_vector").count("value_count", 0).end();
    out.begin("sparse_vector").count("value_count", 0).end();
    searches(call, writer);
    writer.end_object();
}

/// How often a name is used, and in how many indices.
type Uses = BTreeMap<String, (u64, BTreeSet<usize>)>;

/// Field types and parts of analysis in use.
#[derive(Default)]
struct Usage {
    fields: Uses,
    /// Mappings in text form, each once.
    mappings: BTreeSet<String>,
    /// Fields of those.
    fields_once: u64,
    analysis: BTreeMap<&'static str, Uses>,
}

impl Usage {
    /// Adds what one index uses; `at` is its place among all.
    fn add(&mut self, at: usize, index: &Index) {
        let own = index.settings.to_nested();
        let own = own.at(&["index", "analysis"]).cloned().unwrap_or_else(Value::object);
        let mappings = index.mapping.to_json();
        if let Some(properties) = mappings.get("properties").and_then(Value::as_object) {
            let before = self.field_count();
            self.walk(at, properties, &own);
            let fields = self.field_count() - before;
            if self.mappings.insert(json::to_string(&mappings)) {
                self.fields_once += fields;
            }
        }
        self.note_analysis(at, &own);
    }

    fn field_count(&self) -> u64 {
        self.fields.values().map(|(count, _)| count).sum()
    }

    fn note(uses: &mut Uses, name: &str, at: usize) {
        let (count, indices) = uses.entry(name.to_owned()).or_default();
        *count += 1;
        indices.insert(at);
    }

    fn walk(&mut self, at: usize, properties: &Object, own: &Value) {
        for field in properties.values() {
            let inner = field.get("properties").and_then(Value::as_object);
            let kind = field.get("type").and_then(Value::as_str);
            let kind = kind.unwrap_or(if inner.is_some() { "object" } else { "" });
            if !kind.is_empty() {
                Self::note(&mut self.fields, kind, at);
            }
            for key in ["analyzer", "search_analyzer"] {
                if let Some(name) = field.get(key).and_then(Value::as_str)
                    && own.at(&["analyzer", name]).is_none()
                {
                    let uses = self.analysis.entry("built_in_analyzers").or_default();
                    Self::note(uses, name, at);
                }
            }
            if let Some(inner) = inner {
                self.walk(at, inner, own);
            }
            if let Some(fields) = field.get("fields").and_then(Value::as_object) {
                self.walk(at, fields, own);
            }
        }
    }

    fn note_analysis(&mut self, at: usize, own: &Value) {
        for (group, kinds) in [
            ("char_filter", "char_filter_types"),
            ("tokenizer", "tokenizer_types"),
            ("filter", "filter_types"),
            ("analyzer", "analyzer_types"),
        ] {
            let Some(parts) = own.get(group).and_then(Value::as_object) else { continue };
            for part in parts.values() {
                let kind = part.get("type").and_then(Value::as_str).unwrap_or("custom");
                Self::note(self.analysis.entry(kinds).or_default(), kind, at);
                if group == "analyzer" {
                    for (key, group, builtin) in [
                        ("char_filter", "char_filter", "built_in_char_filters"),
                        ("tokenizer", "tokenizer", "built_in_tokenizers"),
                        ("filter", "filter", "built_in_filters"),
                    ] {
                        let names: Vec<&str> = match part.get(key) {
                            Some(Value::Array(items)) => {
                                items.iter().filter_map(Value::as_str).collect()
                            }
                            Some(Value::String(name)) => vec![name.as_str()],
                            _ => Vec::new(),
                        };
                        for name in names {
                            if own.at(&[group, name]).is_none() {
                                Self::note(self.analysis.entry(builtin).or_default(), name, at);
                            }
                        }
                    }
                }
            }
        }
    }

    fn write(&self, writer: &mut Writer<'_>, human: bool) {
        let bytes: usize = self.mappings.iter().map(String::len).sum();
        Figures::new(writer, human)
            .begin("mappings")
            .count("total_field_count", self.field_count())
            .count("total_deduplicated_field_count", self.fields_once)
            .bytes("total_deduplicated_mapping_size", bytes as u64);
        writer.key("field_types");
        list(writer, &self.fields, true);
        writer.key("runtime_field_types").begin_array().end_array().end_object();
        writer.key("analysis").begin_object();
        for group in [
            "char_filter_types",
            "tokenizer_types",
            "filter_types",
            "analyzer_types",
            "built_in_char_filters",
            "built_in_tokenizers",
            "built_in_filters",
            "built_in_analyzers",
        ] {
            writer.key(group);
            match self.analysis.get(group) {
                Some(uses) => list(writer, uses, false),
                None => {
                    writer.begin_array().end_array();
                }
            }
        }
        writer.key("synonyms").begin_object().end_object().end_object();
    }
}

fn list(writer: &mut Writer<'_>, uses: &Uses, scripts: bool) {
    writer.begin_array();
    for (name, (count, indices)) in uses {
        writer
            .begin_object()
            .field_str("name", name)
            .field_u64("count", *count)
            .field_u64("index_count", indices.len() as u64);
        if scripts {
            writer.field_u64("script_count", 0);
        }
        writer.end_object();
    }
    writer.end_array();
}

fn nodes<E: Env>(call: &Call<'_, E>, writer: &mut Writer<'_>, sample: &Sample, chosen: bool) {
    let one = u64::from(chosen);
    writer.key("nodes").begin_object().key("count").begin_object().field_u64("total", one);
    writer.field_u64("coordinating_only", 0);
    for role in ALL_ROLES {
        writer.field_u64(role, if ROLES.contains(&role) { one } else { 0 });
    }
    writer.field_u64("voting_only", 0).end_object();
    writer.key("versions").begin_array();
    if chosen {
        writer.str(VERSION);
    }
    writer.end_array();
    os(call, writer, sample, one);
    let process = &sample.process;
    writer.key("process").begin_object().key("cpu").begin_object();
    writer.field_u64("percent", process.cpu_percent.unwrap_or(0)).end_object();
    writer.key("open_file_descriptors").begin_object();
    for key in ["min", "max", "avg"] {
        writer.field_u64(key, process.files_open);
    }
    writer.end_object().end_object();
    jvm(call, writer, sample, one);
    writer.key("fs").begin_object();
    Figures::new(writer, call.human)
        .bytes("total", sample.volume.total_bytes)
        .bytes("free", sample.volume.free_bytes)
        .bytes("available", sample.volume.available_bytes);
    writer.end_object().key("plugins").begin_array().end_array();
    // Tools look for Elasticsearch's names of these; ours would tell them nothing.
    writer.key("network_types").begin_object();
    for key in ["transport_types", "http_types"] {
        writer.key(key).begin_object().field_u64("corelode", one).end_object();
    }
    writer.end_object();
    writer.key("discovery_types").begin_object().field_u64("single-node", one).end_object();
    writer.key("packaging_types").begin_array();
    writer.begin_object().field_str("flavor", "default").field_str("type", "tar");
    writer.field_u64("count", one).end_object().end_array();
    writer.key("ingest").begin_object().field_u64("number_of_pipelines", 0);
    writer.key("processor_stats").begin_object().end_object().end_object();
    super::nodes::stats::indexing_pressure(call, writer);
    writer.end_object();
}

fn os<E: Env>(call: &Call<'_, E>, writer: &mut Writer<'_>, sample: &Sample, one: u64) {
    let os = &sample.os;
    writer
        .key("os")
        .begin_object()
        .field_u64("available_processors", os.processors)
        .field_u64("allocated_processors", u64::from(call.core.shared().config.cores));
    for (list, key, name) in [
        ("names", "name", &os.name),
        ("pretty_names", "pretty_name", &os.pretty_name),
        ("architectures", "arch", &os.arch),
    ] {
        writer.key(list).begin_array().begin_object().field_str(key, name);
        writer.field_u64("count", one).end_object().end_array();
    }
    let (total, free) = (os.memory_total_bytes, os.memory_free_bytes);
    let share = |part: u64| part.saturating_mul(100).checked_div(total).unwrap_or(0);
    let mut out = Figures::new(writer, call.human);
    out.begin("mem")
        .bytes("total", total)
        .bytes("adjusted_total", total)
        .bytes("free", free)
        .bytes("used", total.saturating_sub(free))
        .count("free_percent", share(free))
        .count("used_percent", share(total.saturating_sub(free)))
        .end()
        .end();
}

fn jvm<E: Env>(call: &Call<'_, E>, writer: &mut Writer<'_>, sample: &Sample, one: u64) {
    let info = &call.core.shared().config.info;
    let uptime = u64::try_from(call.now_ms() - info.started_ms).unwrap_or(0);
    writer.key("jvm").begin_object();
    Figures::new(writer, call.human).millis("max_uptime", uptime);
    writer.key("versions").begin_array().begin_object();
    for key in ["version", "vm_name", "vm_version", "vm_vendor"] {
        writer.field_str(key, "none");
    }
    writer
        .field_bool("bundled_jdk", false)
        .field_bool("using_bundled_jdk", false)
        .field_u64("count", one)
        .end_object()
        .end_array();
    let budget = &call.core.shared().budget;
    let mut out = Figures::new(writer, call.human);
    out.begin("mem")
        .bytes("heap_used", budget.leased_bytes() as u64)
        .bytes("heap_max", budget.total_bytes() as u64)
        .end()
        .count("threads", sample.process.threads)
        .end();
}
