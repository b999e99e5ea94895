//! The sections of statistics, as `_stats`, `_nodes/stats` and `_cluster/stats` print them.
//!
//! What has no meaning here (caches that do not exist, heap of parts of a segment) is printed as 0,
//! since tools look for the keys; `docs/api/no-effect.md` lists it.

use engine::ops::field_sizes::Loaded;
use engine::ops::stats::{Counts, Stats, Usage};
use json::Writer;

use super::units;

/// Writes figures, with readable twins in front where they are asked for (`human`).
pub struct Figures<'w, 'b> {
    writer: &'w mut Writer<'b>,
    human: bool,
    /// A name that is put together of parts: there are some seventy in the sections of one shard.
    name: String,
}

impl<'w, 'b> Figures<'w, 'b> {
    /// Into `writer`.
    pub fn new(writer: &'w mut Writer<'b>, human: bool) -> Self {
        Self { writer, human, name: String::new() }
    }

    /// A figure whose name has an end of its own.
    fn named(&mut self, parts: [&str; 2], figure: u64) -> &mut Self {
        self.name.clear();
        parts.iter().for_each(|part| self.name.push_str(part));
        self.writer.field_u64(&self.name, figure);
        self
    }

    /// Begins an object at `key`.
    pub fn begin(&mut self, key: &str) -> &mut Self {
        self.writer.key(key).begin_object();
        self
    }

    /// Ends it.
    pub fn end(&mut self) -> &mut Self {
        self.writer.end_object();
        self
    }

    /// A count.
    pub fn count(&mut self, key: &str, count: u64) -> &mut Self {
        self.writer.field_u64(key, count);
        self
    }

    /// A word.
    pub fn text(&mut self, key: &str, text: &str) -> &mut Self {
        self.writer.field_str(key, text);
        self
    }

    /// A truth.
    pub fn flag(&mut self, key: &str, flag: bool) -> &mut Self {
        self.writer.field_bool(key, flag);
        self
    }

    /// A number with fraction.
    pub fn float(&mut self, key: &str, number: f64) -> &mut Self {
        self.writer.key(key).f64(number);
        self
    }

    /// A size: `key_in_bytes`, its twin `key`.
    pub fn bytes(&mut self, key: &str, bytes: u64) -> &mut Self {
        if self.human {
            self.writer.field_str(key, &units::bytes(bytes));
        }
        self.named([key, "_in_bytes"], bytes)
    }

    /// A size: `key_in_bytes`, and its twin under another name.
    pub fn bytes_as(&mut self, key: &str, twin: &str, bytes: u64) -> &mut Self {
        if self.human {
            self.writer.field_str(twin, &units::bytes(bytes));
        }
        self.named([key, "_in_bytes"], bytes)
    }

    /// A share.
    pub fn double(&mut self, key: &str, value: f64) -> &mut Self {
        self.writer.key(key).f64(value);
        self
    }

    /// A size: `key_bytes`, its twin `key`.
    pub fn size(&mut self, key: &str, bytes: u64) -> &mut Self {
        if self.human {
            self.writer.field_str(key, &units::bytes(bytes));
        }
        self.named([key, "_bytes"], bytes)
    }

    /// A time: `key_in_millis`, its twin `key`.
    pub fn millis(&mut self, key: &str, ms: u64) -> &mut Self {
        if self.human {
            self.writer.field_str(key, &units::millis(ms));
        }
        self.named([key, "_in_millis"], ms)
    }

    /// A moment since 1970: `key_in_millis`, its twin `key`; before the first none.
    pub fn moment(&mut self, key: &str, unix_ms: u64) -> &mut Self {
        if self.human && unix_ms > 0 {
            self.writer.field_str(key, &units::date(unix_ms as i64));
        }
        self.named([key, "_in_millis"], unix_ms)
    }

    /// Total, time and what is under way: `name_total`, `name_time_in_millis`, `name_current`.
    fn usage(&mut self, name: &str, usage: Usage) -> &mut Self {
        let ms = usage.time_us / 1_000;
        self.named([name, "_total"], usage.count);
        if self.human {
            self.writer.field_str(&format!("{name}_time"), &units::millis(ms));
        }
        self.named([name, "_time_in_millis"], ms).named([name, "_current"], usage.current)
    }

    /// What writes.
    pub fn writer(&mut self) -> &mut Writer<'b> {
        self.writer
    }
}

/// Which sections are wanted: bits in the order of [`SECTIONS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sections(u32);

/// Every section: the metric that asks for it, the key that it is printed at.
pub const SECTIONS: [(&str, &str); 21] = [
    ("docs", "docs"),
    ("shard_stats", "shard_stats"),
    ("store", "store"),
    ("indexing", "indexing"),
    ("get", "get"),
    ("search", "search"),
    ("merge", "merges"),
    ("refresh", "refresh"),
    ("flush", "flush"),
    ("warmer", "warmer"),
    ("query_cache", "query_cache"),
    ("fielddata", "fielddata"),
    ("completion", "completion"),
    ("segments", "segments"),
    ("translog", "translog"),
    ("request_cache", "request_cache"),
    ("recovery", "recovery"),
    ("bulk", "bulk"),
    ("dense_vector", "dense_vector"),
    ("sparse_vector", "sparse_vector"),
    ("mappings", "mappings"),
];

impl Sections {
    /// All of them.
    pub const ALL: Self = Self((1 << SECTIONS.len()) - 1);

    /// Those that metrics name (`_all` names all), or the first metric that is none.
    ///
    /// # Errors
    /// That metric.
    pub fn of<'m>(metrics: impl IntoIterator<Item = &'m str>) -> Result<Self, &'m str> {
        let mut bits = 0;
        for metric in metrics {
            if metric == "_all" {
                return Ok(Self::ALL);
            }
            let at = SECTIONS.iter().position(|(name, _)| *name == metric).ok_or(metric)?;
            bits |= 1 << at;
        }
        Ok(Self(bits))
    }

    /// None of them.
    pub const NONE: Self = Self(0);

    fn has(self, at: usize) -> bool {
        self.0 & (1 << at) != 0
    }

    /// Is that among them which this metric asks for?
    pub fn names(self, metric: &str) -> bool {
        SECTIONS.iter().position(|(name, _)| *name == metric).is_some_and(|at| self.has(at))
    }
}

/// Patterns of the fields that are shown one by one.
#[derive(Clone, Debug, Default)]
pub struct FieldWish {
    /// In `fielddata`.
    pub fielddata: Vec<String>,
    /// In `completion`.
    pub completion: Vec<String>,
    /// Groups of searches, in `search`.
    pub groups: Vec<String>,
}

impl FieldWish {
    /// Are fields named one by one?
    pub fn names_any(&self) -> bool {
        !self.fielddata.is_empty() || !self.completion.is_empty()
    }
}

/// Writes the wanted sections as fields of the object that is open.
pub fn sections(writer: &mut Writer<'_>, stats: &Stats, wanted: Sections, human: bool) {
    sections_with(writer, stats, wanted, human, &FieldWish::default());
}

/// As [`sections`], with the wanted fields one by one.
pub fn sections_with(
    writer: &mut Writer<'_>,
    stats: &Stats,
    wanted: Sections,
    human: bool,
    fields: &FieldWish,
) {
    let mut out = Figures::new(writer, human);
    for (at, (metric, key)) in SECTIONS.iter().enumerate() {
        // Mappings are the node's: no index or shard tells of them.
        let tells = *metric != "mappings" || stats.mapped_fields.is_some();
        if wanted.has(at) && tells {
            out.begin(key);
            section(&mut out, metric, stats);
            match *metric {
                "search" => by_group(&mut out, stats, &fields.groups),
                "fielddata" => {
                    by_field(&mut out, "memory_size", stats, &fields.fielddata, |one| one.fielddata)
                }
                "completion" => {
                    by_field(&mut out, "size", stats, &fields.completion, |one| one.completion);
                }
                _ => {}
            }
            out.end();
        }
    }
}

/// `groups`, where any that is wanted was searched under.
fn by_group(out: &mut Figures<'_, '_>, stats: &Stats, wanted: &[String]) {
    let fits = |name: &str| {
        wanted.iter().any(|pattern| {
            pattern == "_all" || json::path::glob(pattern.as_bytes(), name.as_bytes())
        })
    };
    if !stats.groups.keys().any(|name| fits(name)) {
        return;
    }
    out.begin("groups");
    for (name, group) in stats.groups.iter().filter(|(name, _)| fits(name)) {
        out.begin(name)
            .usage("query", group.query)
            .usage("fetch", group.fetch)
            // Scrolls are those of no group, as on Elasticsearch.
            .usage("scroll", Usage::default())
            .usage("suggest", group.suggest)
            .end();
    }
    out.end();
}

/// `fields`, where any are wanted: those that keep anything.
fn by_field(
    out: &mut Figures<'_, '_>,
    key: &str,
    stats: &Stats,
    wanted: &[String],
    of: fn(&Loaded) -> u64,
) {
    let fits = |name: &str| {
        wanted.iter().any(|pattern| json::path::glob(pattern.as_bytes(), name.as_bytes()))
    };
    let found: Vec<(&str, u64)> = stats
        .loaded
        .iter()
        .map(|(name, loaded)| (&**name, of(loaded)))
        .filter(|(name, bytes)| *bytes > 0 && fits(name))
        .collect();
    if wanted.is_empty() || stats.shards == 0 {
        return;
    }
    out.begin("fields");
    for (name, bytes) in found {
        out.begin(name).bytes(key, bytes).end();
    }
    out.end();
}

fn section(out: &mut Figures<'_, '_>, metric: &str, stats: &Stats) {
    let shard = &stats.shard;
    match metric {
        "docs" => {
            out.count("count", shard.docs_count).count("deleted", shard.docs_deleted);
            out.bytes("total_size", shard.segment_bytes);
        }
        "shard_stats" => {
            out.count("total_count", stats.shards);
        }
        "store" => {
            out.bytes("size", shard.store_bytes)
                .bytes("total_data_set_size", shard.store_bytes)
                .bytes("reserved", 0);
        }
        "indexing" => {
            out.count("index_total", shard.index.count)
                .millis("index_time", shard.index.time_us / 1_000)
                .count("index_current", shard.index_current)
                .count("index_failed", shard.refused_count + shard.conflict_count)
                .count("index_failed_due_to_version_conflict", shard.conflict_count)
                .count("delete_total", shard.delete.count)
                .millis("delete_time", shard.delete.time_us / 1_000)
                .count("delete_current", shard.delete_current)
                .count("noop_update_total", shard.noop_update_count)
                .flag("is_throttled", false)
                .millis("throttle_time", 0)
                .double("write_load", stats.write_load());
        }
        "get" => get(out, shard),
        "search" => {
            out.count("open_contexts", stats.open_contexts())
                .usage("query", stats.query)
                .usage("fetch", stats.fetch)
                .usage("scroll", stats.scroll)
                .usage("suggest", stats.suggest);
        }
        "merge" => {
            out.count("current", shard.merge_current)
                .count("current_docs", shard.merge_current_docs)
                .bytes("current_size", shard.merge_current_bytes)
                .count("total", shard.merge.count)
                .millis("total_time", shard.merge.time_us / 1_000)
                .count("total_docs", shard.merge_docs)
                .bytes("total_size", shard.merge_bytes)
                .millis("total_stopped_time", 0)
                .millis("total_throttled_time", 0)
                .bytes("total_auto_throttle", 0);
        }
        "refresh" => {
            let ms = shard.refresh.time_us / 1_000;
            out.count("total", shard.refresh.count)
                .millis("total_time", ms)
                .count("external_total", shard.refresh.count)
                .millis("external_total_time", ms)
                .count("listeners", shard.refresh_listener_count);
        }
        "flush" => {
            out.count("total", shard.flush.count)
                .count("periodic", shard.flush_periodic_count)
                .millis("total_time", shard.flush.time_us / 1_000)
                .millis("total_time_excluding_waiting_on_lock", shard.flush.time_us / 1_000);
        }
        "warmer" => {
            out.count("current", 0).count("total", 0).millis("total_time", 0);
        }
        "query_cache" => {
            out.bytes("memory_size", 0);
            for key in
                ["total_count", "hit_count", "miss_count", "cache_size", "cache_count", "evictions"]
            {
                out.count(key, 0);
            }
        }
        "fielddata" => {
            let bytes = stats.loaded.values().map(|one| one.fielddata).sum();
            out.bytes("memory_size", bytes).count("evictions", 0);
            out.begin("global_ordinals").millis("build_time", 0).end();
        }
        "completion" => {
            out.bytes("size", stats.loaded.values().map(|one| one.completion).sum());
        }
        "segments" => segments(out, shard),
        "translog" => {
            out.count("operations", shard.log_operations)
                .bytes("size", shard.log_bytes)
                .count("uncommitted_operations", shard.log_operations)
                .bytes("uncommitted_size", shard.log_bytes)
                .count("earliest_last_modified_age", 0);
        }
        "request_cache" => {
            let kept = stats.kept_answers;
            out.bytes("memory_size", kept.bytes).count("evictions", kept.evicted);
            out.count("hit_count", kept.found).count("miss_count", kept.missed);
        }
        "recovery" => {
            out.count("current_as_source", 0)
                .count("current_as_target", 0)
                .millis("throttle_time", 0);
        }
        "bulk" => {
            let (count, ms) = (stats.bulk.count, stats.bulk.time_us / 1_000);
            out.count("total_operations", count)
                .millis("total_time", ms)
                .bytes("total_size", stats.bulk_bytes)
                .millis("avg_time", ms / count.max(1))
                .bytes("avg_size", stats.bulk_bytes / count.max(1));
        }
        // A KiB for each field: Elasticsearch's estimate, which its tools know.
        "mappings" => {
            let fields = stats.mapped_fields.unwrap_or(0);
            out.count("total_count", fields).bytes("total_estimated_overhead", fields * 1_024);
        }
        _ => {
            out.count("value_count", 0);
        }
    }
}

fn get(out: &mut Figures<'_, '_>, shard: &Counts) {
    let missing = shard.get_missing;
    out.count("total", shard.get.count)
        .millis("time", shard.get.time_us / 1_000)
        .count("exists_total", shard.get.count.saturating_sub(missing.count))
        .millis("exists_time", shard.get.time_us.saturating_sub(missing.time_us) / 1_000)
        .count("missing_total", missing.count)
        .millis("missing_time", missing.time_us / 1_000)
        .count("current", 0);
}

fn segments(out: &mut Figures<'_, '_>, shard: &Counts) {
    out.count("count", shard.segment_count);
    for part in [
        "memory",
        "terms_memory",
        "stored_fields_memory",
        "term_vectors_memory",
        "norms_memory",
        "points_memory",
        "doc_values_memory",
    ] {
        out.bytes(part, 0);
    }
    out.bytes("index_writer_memory", shard.buffer_bytes)
        .bytes("version_map_memory", shard.version_bytes)
        .bytes_as("fixed_bit_set_memory", "fixed_bit_set", 0);
    out.writer().key("max_unsafe_auto_id_timestamp").i64(-1);
    out.begin("file_sizes").end();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(wanted: &[&str], human: bool) -> String {
        let mut stats = Stats { shards: 2, ..Stats::default() };
        stats.shard.docs_count = 3;
        stats.shard.store_bytes = 2_048;
        stats.shard.segment_bytes = 3_072;
        stats.shard.index = engine::ops::stats::Work { count: 4, time_us: 5_500 };
        let mut body = Vec::new();
        let mut writer = Writer::new(&mut body);
        writer.begin_object();
        let wanted = Sections::of(wanted.iter().copied()).expect("known");
        sections(&mut writer, &stats, wanted, human);
        writer.end_object();
        String::from_utf8(body).expect("UTF-8")
    }

    #[test]
    fn a_section_is_printed_where_its_metric_is_named() {
        assert_eq!(
            text(&["store", "shard_stats"], false),
            r#"{"shard_stats":{"total_count":2},"store":{"size_in_bytes":2048,"total_data_set_size_in_bytes":2048,"reserved_in_bytes":0}}"#
        );
        assert!(
            text(&["indexing"], false).contains(r#""index_total":4,"index_time_in_millis":5,"#)
        );
        assert_eq!(Sections::of(["docs", "foo"]), Err("foo"));
        assert_eq!(Sections::of(["docs", "_all"]), Ok(Sections::ALL));
        let all: json::Value = json::parse(text(&["_all"], false).as_bytes()).expect("JSON");
        let told = SECTIONS.len() - 1;
        assert_eq!(all.as_object().map(json::Object::len), Some(told), "mappings are the node's");
    }

    #[test]
    fn people_read_twins_in_front() {
        assert_eq!(
            text(&["docs"], true),
            r#"{"docs":{"count":3,"deleted":0,"total_size":"3kb","total_size_in_bytes":3072}}"#
        );
    }
}
