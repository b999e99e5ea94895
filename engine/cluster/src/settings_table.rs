//! Every index setting that is known: its kind, its type, its default.
//!
//! A flat table. What a setting does stands where it is read; one without a meaning in our design
//! is listed in `docs/api/no-effect.md`.

use crate::command::Rules;

/// When a setting may be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// At creation only.
    Final,
    /// At creation, or while the index is closed.
    Static,
    /// Always.
    Dynamic,
    /// By the server only.
    Private,
}

/// What values look like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Type {
    /// An integer between two bounds.
    Int(i64, i64),
    /// `true` or `false`.
    Bool,
    /// A time with unit; `-1` where it is allowed.
    Time {
        /// `-1` is allowed.
        never: bool,
    },
    /// A time with unit, at least this one.
    TimeFrom(&'static str),
    /// The same, and at most that one.
    TimeIn(&'static str, &'static str),
    /// A size with unit.
    Bytes,
    /// A size with unit, at least this one.
    BytesFrom(&'static str),
    /// One of these words.
    Word(&'static [&'static str]),
    /// The same, in any letters.
    AnyCase(&'static [&'static str]),
    /// Any text.
    Text,
    /// A number with fraction between two bounds.
    FloatIn(f64, f64),
    /// A level of a log.
    Level,
    /// How much of a document the slow log shows: a number of bytes, `true`, `false`.
    Shown,
    /// How full a disk may be: a share, or a size that stays free.
    Watermark,
    /// A share of the memory in percent, or a size.
    Memory,
    /// So many in a time, `150/5m`.
    Rate,
    /// A text or a list of texts.
    List,
    /// `false`, or a range of replicas: `0-1`, `0-all`.
    Expand,
    /// How many copies must be there: a number, or `all`.
    Copies,
    /// `true`, `false`, a share of one, or a size with unit.
    Compound,
    /// Nothing: whoever sets it is told so.
    Gone,
}

/// One setting.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// Whole name.
    pub name: &'static str,
    /// When it may be set.
    pub kind: Kind,
    /// What values look like.
    pub ty: Type,
    /// What counts where it is not set, as text; empty where there is none.
    pub default: &'static str,
}

const ANY_INT: Type = Type::Int(i32::MIN as i64, i32::MAX as i64);
const INT: Type = Type::Int(0, i32::MAX as i64);
const LONG: Type = Type::Int(0, i64::MAX);
const LONG_POSITIVE: Type = Type::Int(1, i64::MAX);

/// Copies of a shard. Each shows in tables and states even where it has no place, so there is a bound
/// that Elasticsearch reaches by its limit of shards a node.
const REPLICAS: Type = Type::Int(0, 1000);
const POSITIVE: Type = Type::Int(1, i32::MAX as i64);
const TIME: Type = Type::Time { never: false };
/// More than the header of a log.
const LOG_BYTES: Type = Type::BytesFrom("56b");
const AT_LEAST_0: Type = Type::FloatIn(0.0, f64::MAX);
const TIME_OR_NEVER: Type = Type::Time { never: true };

const fn known(name: &'static str, kind: Kind, ty: Type, default: &'static str) -> Known {
    Known { name, kind, ty, default }
}

use Kind::{Dynamic, Final, Private, Static};

/// All of them, sorted by name.
pub const TABLE: &[Known] = &[
    known("index.allocation.existing_shards_allocator", Private, Type::Text, "gateway_allocator"),
    known("index.allocation.max_retries", Dynamic, INT, "5"),
    known("index.analyze.max_token_count", Dynamic, POSITIVE, "10000"),
    known("index.auto_expand_replicas", Dynamic, Type::Expand, "false"),
    known("index.blocks.metadata", Dynamic, Type::Bool, "false"),
    known("index.blocks.read", Dynamic, Type::Bool, "false"),
    known("index.blocks.read_only", Dynamic, Type::Bool, "false"),
    known("index.blocks.read_only_allow_delete", Dynamic, Type::Bool, "false"),
    known("index.blocks.write", Dynamic, Type::Bool, "false"),
    known("index.bloom_filter_for_id_field.enabled", Dynamic, Type::Bool, "true"),
    known("index.codec", Static, Type::Word(&["default", "best_compression"]), "default"),
    known("index.compound_format", Dynamic, Type::Compound, "1gb"),
    known("index.creation_date", Private, Type::Text, ""),
    known("index.data_path", Final, Type::Gone, ""),
    known("index.default_pipeline", Dynamic, Type::Text, "_none"),
    known("index.fielddata.cache", Static, Type::Word(&["node", "none"]), "node"),
    known("index.final_pipeline", Dynamic, Type::Text, "_none"),
    known("index.flush_after_merge", Dynamic, Type::BytesFrom("0b"), "64mb"),
    known("index.format", Final, ANY_INT, "0"),
    known("index.gc_deletes", Dynamic, TIME_OR_NEVER, "60s"),
    known("index.hidden", Dynamic, Type::Bool, "false"),
    known("index.highlight.max_analyzed_offset", Dynamic, POSITIVE, "1000000"),
    known("index.highlight.weight_matches_mode.enabled", Dynamic, Type::Bool, "true"),
    known("index.indexing.slowlog.include.user", Dynamic, Type::Bool, "false"),
    known("index.indexing.slowlog.reformat", Dynamic, Type::Bool, "true"),
    known("index.indexing.slowlog.source", Dynamic, Type::Shown, "1000"),
    known("index.indexing.slowlog.threshold.index.debug", Dynamic, TIME_OR_NEVER, "-1"),
    known("index.indexing.slowlog.threshold.index.info", Dynamic, TIME_OR_NEVER, "-1"),
    known("index.indexing.slowlog.threshold.index.trace", Dynamic, TIME_OR_NEVER, "-1"),
    known("index.indexing.slowlog.threshold.index.warn", Dynamic, TIME_OR_NEVER, "-1"),
    known("index.lifecycle.indexing_complete", Dynamic, Type::Bool, "false"),
    known("index.lifecycle.name", Dynamic, Type::Text, ""),
    known("index.lifecycle.origination_date", Dynamic, Type::Int(-1, i64::MAX), "-1"),
    known("index.lifecycle.parse_origination_date", Dynamic, Type::Bool, "false"),
    known("index.lifecycle.prefer_ilm", Dynamic, Type::Bool, "true"),
    known("index.lifecycle.rollover_alias", Dynamic, Type::Text, ""),
    known("index.lifecycle.step.wait_time_threshold", Dynamic, TIME, "12h"),
    known("index.load_fixed_bitset_filters_eagerly", Static, Type::Bool, "true"),
    known("index.mapping.coerce", Static, Type::Bool, "true"),
    known("index.mapping.depth.limit", Dynamic, LONG_POSITIVE, "20"),
    known("index.mapping.dimension_fields.limit", Dynamic, LONG, "32768"),
    known("index.mapping.field_name_length.limit", Dynamic, LONG_POSITIVE, "9223372036854775807"),
    known("index.mapping.ignore_above", Dynamic, INT, "2147483647"),
    known("index.mapping.ignore_malformed", Static, Type::Bool, "false"),
    known("index.mapping.nested_fields.limit", Dynamic, LONG, "50"),
    known("index.mapping.nested_objects.limit", Dynamic, LONG, "10000"),
    known(
        "index.mapping.source.mode",
        Final,
        Type::Word(&["disabled", "stored", "synthetic"]),
        "stored",
    ),
    known(
        "index.mapping.synthetic_source_keep",
        Static,
        Type::AnyCase(&["none", "arrays"]),
        "none",
    ),
    known("index.mapping.total_fields.ignore_dynamic_beyond_limit", Dynamic, Type::Bool, "false"),
    known("index.mapping.total_fields.limit", Dynamic, LONG, "1000"),
    known("index.max_adjacency_matrix_filters", Dynamic, Type::Int(2, i32::MAX as i64), "100"),
    known("index.max_docvalue_fields_search", Dynamic, INT, "100"),
    known("index.max_inner_result_window", Dynamic, POSITIVE, "100"),
    known("index.max_ngram_diff", Dynamic, INT, "1"),
    known("index.max_query_string_length", Dynamic, POSITIVE, "32000"),
    known("index.max_refresh_listeners", Dynamic, INT, "1000"),
    known("index.max_regex_length", Dynamic, POSITIVE, "1000"),
    known("index.max_rescore_window", Dynamic, POSITIVE, "10000"),
    known("index.max_result_window", Dynamic, POSITIVE, "10000"),
    known("index.max_script_fields", Dynamic, INT, "32"),
    known("index.max_shingle_diff", Dynamic, INT, "3"),
    known("index.max_slices_per_scroll", Dynamic, POSITIVE, "1024"),
    known("index.max_terms_count", Dynamic, POSITIVE, "65536"),
    known("index.merge.policy.deletes_pct_allowed", Dynamic, Type::FloatIn(5.0, 50.0), "20.0"),
    known("index.merge.policy.expunge_deletes_allowed", Dynamic, AT_LEAST_0, "10.0"),
    known("index.merge.policy.floor_segment", Dynamic, Type::Bytes, "2mb"),
    known("index.merge.policy.max_merge_at_once", Dynamic, Type::Int(2, i32::MAX as i64), "10"),
    known(
        "index.merge.policy.max_merge_at_once_explicit",
        Dynamic,
        Type::Int(2, i32::MAX as i64),
        "30",
    ),
    known("index.merge.policy.max_merged_segment", Dynamic, Type::Bytes, "5gb"),
    known("index.merge.policy.merge_factor", Dynamic, Type::Int(2, i32::MAX as i64), "32"),
    known("index.merge.policy.segments_per_tier", Dynamic, Type::FloatIn(2.0, f64::MAX), "10.0"),
    known(
        "index.merge.policy.type",
        Dynamic,
        Type::AnyCase(&["unset", "tiered", "time_based"]),
        "UNSET",
    ),
    known("index.merge.scheduler.auto_throttle", Dynamic, Type::Bool, "true"),
    known("index.merge.scheduler.max_merge_count", Dynamic, POSITIVE, ""),
    known("index.merge.scheduler.max_thread_count", Dynamic, POSITIVE, ""),
    known("index.mode", Final, Type::Word(&["standard"]), "standard"),
    known("index.number_of_replicas", Dynamic, REPLICAS, "1"),
    known("index.number_of_routing_shards", Final, Type::Int(1, 1024 * 1024), ""),
    known("index.number_of_shards", Final, Type::Int(1, 1024), "1"),
    known("index.percolator.map_unmapped_fields_as_text", Static, Type::Bool, "false"),
    known("index.priority", Dynamic, INT, "1"),
    known("index.provided_name", Private, Type::Text, ""),
    known("index.queries.cache.enabled", Static, Type::Bool, "true"),
    known("index.query.default_field", Dynamic, Type::List, "*"),
    known("index.query.parse.allow_unmapped_fields", Static, Type::Bool, "true"),
    known("index.query_string.lenient", Static, Type::Bool, "false"),
    known("index.refresh_interval", Dynamic, TIME_OR_NEVER, "1s"),
    known("index.requests.cache.enable", Dynamic, Type::Bool, "true"),
    known("index.resize.source.name", Private, Type::Text, ""),
    known("index.resize.source.uuid", Private, Type::Text, ""),
    known(
        "index.routing.allocation.enable",
        Dynamic,
        Type::AnyCase(&["all", "primaries", "new_primaries", "none"]),
        "all",
    ),
    known("index.routing.allocation.include._tier_preference", Dynamic, Type::Text, "data_content"),
    known(
        "index.routing.allocation.total_shards_per_node",
        Dynamic,
        Type::Int(-1, i32::MAX as i64),
        "-1",
    ),
    known(
        "index.routing.rebalance.enable",
        Dynamic,
        Type::AnyCase(&["all", "primaries", "replicas", "none"]),
        "all",
    ),
    known("index.routing_partition_size", Final, POSITIVE, "1"),
    known("index.search.idle.after", Dynamic, Type::TimeFrom("0m"), "30s"),
    known("index.search.slowlog.include.user", Dynamic, Type::Bool, "false"),
    known("index.search.slowlog.threshold.fetch.debug", Dynamic, TIME_OR_NEVER, "-1"),
    known("index.search.slowlog.threshold.fetch.info", Dynamic, TIME_OR_NEVER, "-1"),
    known("index.search.slowlog.threshold.fetch.trace", Dynamic, TIME_OR_NEVER, "-1"),
    known("index.search.slowlog.threshold.fetch.warn", Dynamic, TIME_OR_NEVER, "-1"),
    known("index.search.slowlog.threshold.query.debug", Dynamic, TIME_OR_NEVER, "-1"),
    known("index.search.slowlog.threshold.query.info", Dynamic, TIME_OR_NEVER, "-1"),
    known("index.search.slowlog.threshold.query.trace", Dynamic, TIME_OR_NEVER, "-1"),
    known("index.search.slowlog.threshold.query.warn", Dynamic, TIME_OR_NEVER, "-1"),
    known("index.search.throttled", Private, Type::Bool, "false"),
    known(
        "index.shard.check_on_startup",
        Static,
        Type::Word(&["false", "true", "checksum"]),
        "false",
    ),
    known("index.soft_deletes.enabled", Final, Type::Bool, "true"),
    known("index.soft_deletes.retention.operations", Dynamic, INT, "0"),
    known("index.soft_deletes.retention_lease.period", Dynamic, TIME, "12h"),
    known("index.sort.field", Final, Type::List, ""),
    known("index.sort.missing", Final, Type::List, ""),
    known("index.sort.mode", Final, Type::List, ""),
    known("index.sort.order", Final, Type::List, ""),
    known("index.store.fs.fs_lock", Static, Type::Word(&["native", "simple"]), "native"),
    known("index.store.preload", Static, Type::List, ""),
    known("index.store.stats_refresh_interval", Static, TIME, "10s"),
    known("index.store.type", Static, Type::Word(&["fs", "hybridfs", "mmapfs", "niofs"]), ""),
    known("index.top_metrics_max_size", Dynamic, POSITIVE, "10"),
    known("index.translog.durability", Dynamic, Type::AnyCase(&["request", "async"]), "REQUEST"),
    known("index.translog.flush_threshold_age", Dynamic, Type::TimeIn("1s", "1h"), "1m"),
    known("index.translog.flush_threshold_size", Dynamic, LOG_BYTES, "128mb"),
    known("index.translog.generation_threshold_size", Dynamic, LOG_BYTES, "64mb"),
    known("index.translog.retention.age", Dynamic, TIME_OR_NEVER, "-1"),
    known("index.translog.retention.size", Dynamic, Type::Bytes, "-1"),
    known("index.translog.sync_interval", Dynamic, Type::TimeFrom("100ms"), "5s"),
    known("index.unassigned.node_left.delayed_timeout", Dynamic, TIME, "1m"),
    known("index.uuid", Private, Type::Text, ""),
    known("index.verified_before_close", Private, Type::Bool, "false"),
    known("index.version.created", Private, Type::Text, ""),
    known("index.warmer.enabled", Dynamic, Type::Bool, "true"),
    known("index.write.wait_for_active_shards", Dynamic, Type::Copies, "1"),
];

/// Settings whose names go on as the user likes; any value is taken.
pub const PREFIXES: &[&str] = &[
    "index.routing.allocation.exclude.",
    "index.routing.allocation.include.",
    "index.routing.allocation.require.",
];

/// Those that are known since version 8 of the form of commands.
const SINCE_8: [&str; 4] = [
    "index.flush_after_merge",
    "index.highlight.weight_matches_mode.enabled",
    "index.top_metrics_max_size",
    "index.translog.flush_threshold_age",
];

/// The setting of that name, where these rules know it.
pub(crate) fn find_by(rules: Rules, name: &str) -> Option<&'static Known> {
    find(name).filter(|_| rules == Rules::Now || !SINCE_8.contains(&name))
}

/// The setting of that name.
pub fn find(name: &str) -> Option<&'static Known> {
    TABLE.binary_search_by(|known| known.name.cmp(name)).ok().map(|at| &TABLE[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_every_name_is_found() {
        for pair in TABLE.windows(2) {
            assert!(pair[0].name < pair[1].name, "{} before {}", pair[0].name, pair[1].name);
        }
        for known in TABLE {
            assert!(find(known.name).is_some());
        }
    }
}
