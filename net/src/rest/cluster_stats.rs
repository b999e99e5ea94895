//! `_cluster/stats`: the indices and the nodes, summed up.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use cluster::Index;
use engine::ops::IndicesOptions;
use engine::ops::observe::Health;
use engine::ops::search_uses::Counts as SearchUses;
use engine::ops::stats::{Closed, IndexStats, Stats};
use engine::{Everything, Result};
use env::machine::Sample;
use env::{Env, Spawn};
use json::{Object, Value, Writer};

use super::info::VERSION;
use super::nodes::stats::write_indexing_pressure;
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
    let chosen = is_chosen(&info, call.path.get("node_id").unwrap_or("_all"))?;
    let options =
        IndicesOptions { expand_closed: true, expand_hidden: true, ..IndicesOptions::default() };
    // The right to ask is the cluster's; sums name no index.
    let action = "cluster:monitor/stats";
    let mut rows = call.core.index_stats(&Everything, action, "*", options, Closed::Show).await?;
    // What mappings hold is the cluster's; all else is told by its nodes, and is nothing where none is chosen.
    let mut usage = Usage::default();
    for row in &rows {
        usage.add(&row.index);
        call.core.env().spawn().yield_if_needed().await;
    }
    let sample = if chosen { call.core.machine().await } else { Sample::default() };
    if !chosen {
        rows.clear();
    }
    let health = rows.iter().map(|row| row.health).max().unwrap_or(Health::Green);
    let sums = IndexSums::of(&rows);
    Ok(call.json(200, |writer| {
        writer.begin_object();
        counts(writer, u64::from(chosen));
        writer
            .field_str("cluster_name", &info.cluster_name)
            .field_str("cluster_uuid", &info.cluster_uuid)
            .key("timestamp")
            .i64(call.now_ms());
        if chosen {
            writer.field_str("status", health.as_str());
        }
        // Searches are counted by the nodes that are asked.
        let uses = if chosen { call.core.shared().search_uses.sum() } else { Default::default() };
        indices(writer, (&rows, &sums, &usage, &uses), call.human);
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
        writer.key("repositories").begin_object().end_object();
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
fn searches(writer: &mut Writer<'_>, uses: &SearchUses, human: bool) {
    let mut out = Figures::new(writer, human);
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
    /// Primary shards that there should be.
    configured: u64,
    /// Those that are active.
    primaries: u64,
    /// The same by index, where it has any.
    per_index: Vec<u64>,
    stats: Stats,
}

impl IndexSums {
    fn of(rows: &[IndexStats]) -> Self {
        let mut sums = Self::default();
        for row in rows {
            sums.configured += row.shards.len() as u64;
            // Each node tells of the shards that it has: of one without a place nobody does.
            let active = row.shards.iter().filter(|it| it.standing.is_active()).count() as u64;
            if active > 0 {
                sums.primaries += active;
                sums.per_index.push(active);
            }
            row.shards.iter().filter_map(|it| it.standing.stats()).for_each(|it| sums.stats += it);
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

fn indices(
    writer: &mut Writer<'_>,
    (rows, sums, usage, uses): (&[IndexStats], &IndexSums, &Usage, &SearchUses),
    human: bool,
) {
    writer.key("indices").begin_object().field_u64("count", sums.per_index.len() as u64);
    writer.key("shards").begin_object();
    if !sums.per_index.is_empty() {
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
        sections(writer, &sums.stats, wanted, human);
    }
    usage.write(writer, human);
    writer.key("versions").begin_array();
    if !rows.is_empty() {
        let bytes = sums.stats.shard.store_bytes;
        // All indices are of the one version that there is.
        writer.begin_object().field_str("version", super::info::VERSION);
        writer.field_u64("index_count", rows.len() as u64);
        writer.field_u64("primary_shard_count", sums.configured);
        if human {
            writer.field_str("total_primary_size", &units::bytes(bytes));
        }
        writer.field_u64("total_primary_bytes", bytes).end_object();
    }
    writer.end_array();
    let mut out = Figures::new(writer, human);
    out.begin("dense_vector").count("value_count", 0).end();
    out.begin("sparse_vector").count("value_count", 0).end();
    searches(writer, uses, human);
    writer.end_object();
}

/// How often names are used in an index, by what they name.
type Counts = BTreeMap<(&'static str, String), u64>;

/// How often a name is used, and in how many indices.
type Uses = BTreeMap<String, (u64, u64)>;

/// What the types of fields are counted under.
const FIELDS: &str = "field_types";

/// Field types and parts of analysis in use.
#[derive(Default)]
struct Usage {
    /// By what they name.
    uses: BTreeMap<&'static str, Uses>,
    /// Mappings in text form, each once.
    mappings: BTreeSet<String>,
    /// Fields of those.
    fields_once: u64,
    /// Indices by what they keep of their documents' source.
    source_modes: BTreeMap<&'static str, u64>,
    /// What was counted of indices without analysis of their own, by their mappings' parts: many are of one
    /// template, and share them.
    known: BTreeMap<[usize; 2], Rc<Counts>>,
}

impl Usage {
    /// Adds what one index uses.
    fn add(&mut self, index: &Index) {
        let mut settings = index.settings.iter();
        let has_own = settings.any(|(name, _)| name.starts_with("index.analysis."));
        let parts = index.mapping.parts();
        let counts = match self.known.get(&parts) {
            Some(counts) if !has_own => Rc::clone(counts),
            _ => {
                let counts = Rc::new(self.read(index, has_own));
                if !has_own {
                    self.known.insert(parts, Rc::clone(&counts));
                }
                counts
            }
        };
        *self.source_modes.entry(index.mapping.source_mode().name()).or_default() += 1;
        for ((group, name), count) in &*counts {
            let uses = self.uses.entry(group).or_default();
            // The name is made once, and not for each index.
            match uses.get_mut(name) {
                Some((sum, indices)) => {
                    *sum += count;
                    *indices += 1;
                }
                None => {
                    uses.insert(name.clone(), (*count, 1));
                }
            }
        }
    }

    /// Reads what one index uses, and notes its mapping.
    fn read(&mut self, index: &Index, has_own: bool) -> Counts {
        let mut counts = Counts::new();
        let own = if has_own { index.settings.to_nested() } else { Value::object() };
        let own = own.at(&["index", "analysis"]).cloned().unwrap_or_else(Value::object);
        let mappings = index.mapping.to_json();
        if let Some(properties) = mappings.get("properties").and_then(Value::as_object) {
            walk(&mut counts, properties, &own);
            if self.mappings.insert(json::to_string(&mappings)) {
                let fields = counts.iter().filter(|((group, _), _)| *group == FIELDS);
                self.fields_once += fields.map(|(_, count)| count).sum::<u64>();
            }
        }
        note_analysis(&mut counts, &own);
        counts
    }

    fn field_count(&self) -> u64 {
        self.uses.get(FIELDS).into_iter().flatten().map(|(_, (count, _))| count).sum()
    }

    fn write(&self, writer: &mut Writer<'_>, human: bool) {
        let bytes: usize = self.mappings.iter().map(String::len).sum();
        Figures::new(writer, human)
            .begin("mappings")
            .count("total_field_count", self.field_count())
            .count("total_deduplicated_field_count", self.fields_once)
            .bytes("total_deduplicated_mapping_size", bytes as u64);
        writer.key(FIELDS);
        list(writer, self.uses.get(FIELDS), true);
        writer.key("runtime_field_types").begin_array().end_array();
        writer.key("source_modes").begin_object();
        for (mode, count) in &self.source_modes {
            writer.field_u64(mode, *count);
        }
        writer.end_object().end_object();
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
            list(writer, self.uses.get(group), false);
        }
        writer.key("synonyms").begin_object().end_object().end_object();
    }
}

fn note(counts: &mut Counts, group: &'static str, name: &str) {
    *counts.entry((group, name.to_owned())).or_default() += 1;
}

fn walk(counts: &mut Counts, properties: &Object, own: &Value) {
    for field in properties.values() {
        let inner = field.get("properties").and_then(Value::as_object);
        let kind = field.get("type").and_then(Value::as_str);
        let kind = kind.unwrap_or(if inner.is_some() { "object" } else { "" });
        if !kind.is_empty() {
            note(counts, FIELDS, kind);
        }
        for key in ["analyzer", "search_analyzer"] {
            if let Some(name) = field.get(key).and_then(Value::as_str)
                && own.at(&["analyzer", name]).is_none()
            {
                note(counts, "built_in_analyzers", name);
            }
        }
        if let Some(inner) = inner {
            walk(counts, inner, own);
        }
        if let Some(fields) = field.get("fields").and_then(Value::as_object) {
            walk(counts, fields, own);
        }
    }
}

fn note_analysis(counts: &mut Counts, own: &Value) {
    for (group, kinds) in [
        ("char_filter", "char_filter_types"),
        ("tokenizer", "tokenizer_types"),
        ("filter", "filter_types"),
        ("analyzer", "analyzer_types"),
    ] {
        let Some(parts) = own.get(group).and_then(Value::as_object) else { continue };
        for part in parts.values() {
            let kind = part.get("type").and_then(Value::as_str).unwrap_or("custom");
            note(counts, kinds, kind);
            if group == "analyzer" {
                for (group, builtin) in [
                    ("char_filter", "built_in_char_filters"),
                    ("tokenizer", "built_in_tokenizers"),
                    ("filter", "built_in_filters"),
                ] {
                    let names: Vec<&str> = match part.get(group) {
                        Some(Value::Array(items)) => {
                            items.iter().filter_map(Value::as_str).collect()
                        }
                        Some(Value::String(name)) => vec![name.as_str()],
                        _ => Vec::new(),
                    };
                    for name in names {
                        if own.at(&[group, name]).is_none() {
                            note(counts, builtin, name);
                        }
                    }
                }
            }
        }
    }
}

fn list(writer: &mut Writer<'_>, uses: Option<&Uses>, scripts: bool) {
    writer.begin_array();
    for (name, (count, indices)) in uses.into_iter().flatten() {
        writer
            .begin_object()
            .field_str("name", name)
            .field_u64("count", *count)
            .field_u64("index_count", *indices);
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
    os(call, writer, sample, chosen);
    let process = &sample.process;
    writer.key("process").begin_object().key("cpu").begin_object();
    writer.field_u64("percent", process.cpu_percent.unwrap_or(0)).end_object();
    if chosen {
        writer.key("open_file_descriptors").begin_object();
        for key in ["min", "max", "avg"] {
            writer.field_u64(key, process.files_open);
        }
        writer.end_object();
    }
    writer.end_object();
    jvm(call, writer, sample, chosen);
    writer.key("fs").begin_object();
    if chosen {
        Figures::new(writer, call.human)
            .bytes("total", sample.volume.total_bytes)
            .bytes("free", sample.volume.free_bytes)
            .bytes("available", sample.volume.available_bytes);
    }
    writer.end_object().key("plugins").begin_array().end_array();
    // Tools look for Elasticsearch's names of these; ours would tell them nothing.
    writer.key("network_types").begin_object();
    for key in ["transport_types", "http_types"] {
        writer.key(key);
        counted(writer, "corelode", chosen);
    }
    writer.end_object().key("discovery_types");
    counted(writer, "single-node", chosen);
    writer.key("packaging_types").begin_array();
    if chosen {
        writer.begin_object().field_str("flavor", "default").field_str("type", "tar");
        writer.field_u64("count", 1).end_object();
    }
    writer.end_array();
    writer.key("ingest").begin_object().field_u64("number_of_pipelines", 0);
    writer.key("processor_stats").begin_object().end_object().end_object();
    let shared = call.core.shared();
    let sums = if chosen { shared.meters.sums() } else { Default::default() };
    let limit_bytes = if chosen { shared.budget.total_bytes() as u64 } else { 0 };
    let mut out = Figures::new(writer, call.human);
    write_indexing_pressure(&mut out, (sums.received_bytes, sums.rejected), limit_bytes);
    writer.end_object();
}

/// How many nodes are of a kind: those that were chosen are.
fn counted(writer: &mut Writer<'_>, kind: &str, chosen: bool) {
    writer.begin_object();
    if chosen {
        writer.field_u64(kind, 1);
    }
    writer.end_object();
}

fn os<E: Env>(call: &Call<'_, E>, writer: &mut Writer<'_>, sample: &Sample, chosen: bool) {
    let os = &sample.os;
    let cores = if chosen { u64::from(call.core.shared().config.cores) } else { 0 };
    writer
        .key("os")
        .begin_object()
        .field_u64("available_processors", os.processors)
        .field_u64("allocated_processors", cores);
    for (list, key, name) in [
        ("names", "name", &os.name),
        ("pretty_names", "pretty_name", &os.pretty_name),
        ("architectures", "arch", &os.arch),
    ] {
        writer.key(list).begin_array();
        if chosen {
            writer.begin_object().field_str(key, name).field_u64("count", 1).end_object();
        }
        writer.end_array();
    }
    let (total, free) = (os.memory_total_bytes, os.memory_free_bytes);
    let used = total.saturating_sub(free);
    let mut out = Figures::new(writer, call.human);
    out.begin("mem")
        .bytes("total", total)
        .bytes("adjusted_total", total)
        .bytes("free", free)
        .bytes("used", used)
        .count("free_percent", units::whole_percent(free, total))
        .count("used_percent", units::whole_percent(used, total))
        .end()
        .end();
}

fn jvm<E: Env>(call: &Call<'_, E>, writer: &mut Writer<'_>, sample: &Sample, chosen: bool) {
    let info = &call.core.shared().config.info;
    let uptime = u64::try_from(call.now_ms() - info.started_ms).unwrap_or(0);
    writer.key("jvm").begin_object();
    Figures::new(writer, call.human).millis("max_uptime", if chosen { uptime } else { 0 });
    writer.key("versions").begin_array();
    if chosen {
        writer.begin_object();
        for key in ["version", "vm_name", "vm_version", "vm_vendor"] {
            writer.field_str(key, "none");
        }
        writer
            .field_bool("bundled_jdk", false)
            .field_bool("using_bundled_jdk", false)
            .field_u64("count", 1)
            .end_object();
    }
    writer.end_array();
    let budget = &call.core.shared().budget;
    let bytes = |bytes: usize| if chosen { bytes as u64 } else { 0 };
    let mut out = Figures::new(writer, call.human);
    out.begin("mem")
        .bytes("heap_used", bytes(budget.leased_bytes()))
        .bytes("heap_max", bytes(budget.total_bytes()))
        .end()
        .count("threads", sample.process.threads)
        .end();
}
