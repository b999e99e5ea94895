//! Every cluster setting that is known: whom it concerns, its type, its default.
//!
//! A flat table. What a setting does stands where it is read; one without a meaning in our design
//! is listed in `docs/api/no-effect.md`.

use crate::command::Rules;
use crate::settings_table::{Kind, Known, Type};

/// One that `PUT /_cluster/settings` sets. A name that ends in a dot stands for all names below it.
const fn cluster(name: &'static str, ty: Type, default: &'static str) -> Known {
    Known { name, kind: Kind::Dynamic, ty, default }
}

/// One that stands in the file and at the command line of each node only.
const fn node(name: &'static str, ty: Type, default: &'static str) -> Known {
    Known { name, kind: Kind::Static, ty, default }
}

use Type::{
    AnyCase, Bool, Bytes, FloatIn, Level, List, Memory, Rate, Text, TimeFrom, Watermark, Word,
};

const INT: Type = Type::Int(0, i32::MAX as i64);
const POSITIVE: Type = Type::Int(1, i32::MAX as i64);
const FROM_MINUS_ONE: Type = Type::Int(-1, i32::MAX as i64);
const TIME: Type = Type::Time { never: false };
const TIME_OR_NEVER: Type = Type::Time { never: true };
const AT_LEAST_0: Type = FloatIn(0.0, f64::MAX);
const ENABLE: Type = AnyCase(&["all", "primaries", "new_primaries", "none"]);
const REBALANCE: Type = AnyCase(&["all", "primaries", "replicas", "none"]);

/// Names with a dot in front that are not warned of.
const DOT_PATTERNS: &str = r"\.ml-state-\d+,\.slo-observability\.sli-v\d+.*,\.slo-observability\.summary-v\d+.*,\.entities\.v\d+\.latest\..*,\.monitoring-es-8-.*,\.monitoring-logstash-8-.*,\.monitoring-kibana-8-.*,\.monitoring-beats-8-.*,\.monitoring-ent-search-8-.*";

/// All of them, sorted by name.
pub(crate) const TABLE: &[Known] = &[
    cluster("action.auto_create_index", List, "true"),
    cluster("action.destructive_requires_name", Bool, "true"),
    cluster("action.search.shard_count.limit", Type::Int(1, i64::MAX), "9223372036854775807"),
    node("bootstrap.", Text, ""),
    cluster("cluster.auto_shrink_voting_configuration", Bool, "true"),
    cluster("cluster.blocks.read_only", Bool, "false"),
    cluster("cluster.blocks.read_only_allow_delete", Bool, "false"),
    cluster("cluster.deprecation_indexing.enabled", Bool, "true"),
    node("cluster.election.strategy", Text, "supports_voting_only"),
    cluster("cluster.indices.close.enable", Bool, "true"),
    node("cluster.indices.tombstones.size", INT, "500"),
    cluster("cluster.indices.validate_ignored_dot_patterns", List, DOT_PATTERNS),
    cluster("cluster.info.update.interval", TimeFrom("10s"), "30s"),
    cluster("cluster.info.update.timeout", TIME, "15s"),
    node("cluster.initial_master_nodes", List, ""),
    cluster("cluster.max_shards_per_node", POSITIVE, "1000"),
    cluster("cluster.max_shards_per_node.frozen", POSITIVE, "3000"),
    cluster("cluster.max_voting_config_exclusions", POSITIVE, "10"),
    cluster("cluster.metadata.", Text, ""),
    node("cluster.name", Text, "corelode"),
    cluster("cluster.no_master_block", Word(&["all", "write", "metadata_write"]), "metadata_write"),
    cluster("cluster.persistent_tasks.allocation.enable", AnyCase(&["all", "none"]), "all"),
    cluster("cluster.persistent_tasks.allocation.recheck_interval", TIME, "30s"),
    cluster("cluster.remote.", Text, ""),
    cluster(
        "cluster.routing.allocation.allow_rebalance",
        AnyCase(&["always", "indices_primaries_active", "indices_all_active"]),
        "always",
    ),
    cluster("cluster.routing.allocation.awareness.attributes", List, ""),
    cluster("cluster.routing.allocation.awareness.force.", Text, ""),
    cluster("cluster.routing.allocation.balance.disk_usage", AT_LEAST_0, "2.0E-11"),
    cluster("cluster.routing.allocation.balance.index", AT_LEAST_0, "0.55"),
    cluster("cluster.routing.allocation.balance.shard", AT_LEAST_0, "0.45"),
    cluster("cluster.routing.allocation.balance.threshold", FloatIn(1.0, f64::MAX), "1.0"),
    cluster("cluster.routing.allocation.balance.write_load", AT_LEAST_0, "10.0"),
    cluster("cluster.routing.allocation.cluster_concurrent_rebalance", FROM_MINUS_ONE, "2"),
    cluster("cluster.routing.allocation.disk.reroute_interval", TIME, "60s"),
    cluster("cluster.routing.allocation.disk.threshold_enabled", Bool, "true"),
    cluster("cluster.routing.allocation.disk.watermark.enable_for_single_data_node", Bool, "true"),
    cluster("cluster.routing.allocation.disk.watermark.flood_stage", Watermark, "95%"),
    cluster("cluster.routing.allocation.disk.watermark.flood_stage.frozen", Watermark, "95%"),
    cluster(
        "cluster.routing.allocation.disk.watermark.flood_stage.frozen.max_headroom",
        Bytes,
        "20GB",
    ),
    cluster("cluster.routing.allocation.disk.watermark.flood_stage.max_headroom", Bytes, "1GB"),
    cluster("cluster.routing.allocation.disk.watermark.high", Watermark, "90%"),
    cluster("cluster.routing.allocation.disk.watermark.high.max_headroom", Bytes, "2GB"),
    cluster("cluster.routing.allocation.disk.watermark.low", Watermark, "85%"),
    cluster("cluster.routing.allocation.disk.watermark.low.max_headroom", Bytes, "4GB"),
    cluster("cluster.routing.allocation.enable", ENABLE, "all"),
    cluster("cluster.routing.allocation.exclude.", Text, ""),
    cluster("cluster.routing.allocation.include.", Text, ""),
    cluster("cluster.routing.allocation.node_concurrent_incoming_recoveries", INT, "2"),
    cluster("cluster.routing.allocation.node_concurrent_outgoing_recoveries", INT, "2"),
    cluster("cluster.routing.allocation.node_concurrent_recoveries", INT, "2"),
    cluster("cluster.routing.allocation.node_initial_primaries_recoveries", INT, "4"),
    cluster("cluster.routing.allocation.require.", Text, ""),
    cluster("cluster.routing.allocation.same_shard.host", Bool, "false"),
    cluster("cluster.routing.allocation.total_shards_per_node", FROM_MINUS_ONE, "-1"),
    node(
        "cluster.routing.allocation.type",
        Word(&["balanced", "desired_balance"]),
        "desired_balance",
    ),
    cluster("cluster.routing.rebalance.enable", REBALANCE, "all"),
    cluster("cluster.routing.use_adaptive_replica_selection", Bool, "true"),
    cluster("cluster.service.slow_master_task_logging_threshold", TIME, "10s"),
    cluster("cluster.service.slow_task_logging_threshold", TIME, "30s"),
    node("discovery.seed_hosts", List, ""),
    node("discovery.type", Text, "multi-node"),
    node("gateway.", Text, ""),
    cluster("health.node.enabled", Bool, "true"),
    cluster("health.reporting.local.monitor.interval", TimeFrom("10s"), "30s"),
    cluster("http.client_stats.enabled", Bool, "true"),
    node("http.compression", Bool, "true"),
    node("http.host", List, ""),
    node("http.max_content_length", Bytes, "100mb"),
    node("http.max_header_size", Bytes, "16kb"),
    node("http.max_initial_line_length", Bytes, "4kb"),
    node("http.port", Text, "9200-9300"),
    cluster("http.tracer.exclude", List, ""),
    cluster("http.tracer.include", List, ""),
    node("http.type", Text, "corelode"),
    cluster("indices.breaker.fielddata.limit", Memory, "40%"),
    cluster("indices.breaker.fielddata.overhead", AT_LEAST_0, "1.03"),
    cluster("indices.breaker.request.limit", Memory, "60%"),
    cluster("indices.breaker.request.overhead", AT_LEAST_0, "1.0"),
    cluster("indices.breaker.total.limit", Memory, "95%"),
    cluster("indices.id_field_data.enabled", Bool, "false"),
    cluster("indices.lifecycle.history_index_enabled", Bool, "true"),
    cluster("indices.lifecycle.poll_interval", TimeFrom("1s"), "10m"),
    cluster("indices.lifecycle.rollover.only_if_has_documents", Bool, "true"),
    cluster("indices.mapping.dynamic_timeout", TIME, "30s"),
    cluster("indices.mapping.max_in_flight_updates", Type::Int(1, 1000), "10"),
    node("indices.memory", Text, ""),
    node("indices.memory.index_buffer_size", Text, "10%"),
    node("indices.queries.cache.size", Text, "10%"),
    node("indices.query.bool.max_clause_count", POSITIVE, "4096"),
    cluster("indices.recovery.internal_action_long_timeout", TimeFrom("0s"), "30m"),
    cluster("indices.recovery.internal_action_retry_timeout", TIME, "1m"),
    cluster("indices.recovery.internal_action_timeout", TIME, "15m"),
    cluster("indices.recovery.max_bytes_per_sec", Bytes, "40mb"),
    cluster("indices.recovery.max_concurrent_file_chunks", Type::Int(1, 8), "2"),
    cluster("indices.recovery.max_concurrent_operations", Type::Int(1, 4), "1"),
    cluster("indices.recovery.max_concurrent_snapshot_file_downloads", Type::Int(1, 20), "5"),
    cluster(
        "indices.recovery.max_concurrent_snapshot_file_downloads_per_node",
        Type::Int(1, 25),
        "25",
    ),
    cluster("indices.recovery.recovery_activity_timeout", TimeFrom("0s"), "30m"),
    cluster("indices.recovery.retry_delay_network", TIME, "5s"),
    cluster("indices.recovery.retry_delay_state_sync", TIME, "500ms"),
    cluster("indices.recovery.use_snapshots", Bool, "true"),
    node("indices.requests.cache.size", Text, "1%"),
    cluster("indices.scrub.interval", TIME_OR_NEVER, "7d"),
    cluster("indices.scrub.max_bytes_per_sec", Bytes, "20mb"),
    cluster("ingest.geoip.downloader.enabled", Bool, "false"),
    cluster("logger.", Level, ""),
    cluster("monitor.fs.health.enabled", Bool, "true"),
    cluster("monitor.fs.health.slow_path_logging_threshold", TimeFrom("1ms"), "5s"),
    cluster("network.breaker.inflight_requests.limit", Memory, "100%"),
    cluster("network.breaker.inflight_requests.overhead", AT_LEAST_0, "2.0"),
    node("network.host", List, ""),
    node("node.attr.", Text, ""),
    node("node.name", Text, ""),
    node("node.processors", Text, ""),
    node("node.roles", List, ""),
    node("oauth.enabled", Bool, "true"),
    node("oauth.issuer", Text, ""),
    node("path.data", Text, ""),
    node("path.logs", Text, ""),
    node("path.repo", List, ""),
    node("reindex.remote.whitelist", List, ""),
    node("script.allowed_contexts", List, ""),
    node("script.allowed_types", List, ""),
    cluster("script.max_compilations_rate", Rate, "150/5m"),
    cluster("script.max_size_in_bytes", INT, "65535"),
    cluster("search.aggs.rewrite_to_filter_by_filter", Bool, "true"),
    cluster("search.allow_expensive_queries", Bool, "true"),
    cluster("search.default_allow_partial_results", Bool, "true"),
    cluster("search.default_keep_alive", TIME, "5m"),
    cluster("search.default_search_timeout", TIME_OR_NEVER, "-1"),
    cluster("search.keep_alive_interval", TIME, "1m"),
    cluster("search.low_level_cancellation", Bool, "true"),
    cluster("search.max_async_search_response_size", Bytes, "10mb"),
    cluster("search.max_buckets", INT, "65536"),
    cluster("search.max_keep_alive", TIME, "24h"),
    cluster("search.max_open_scroll_context", INT, "500"),
    cluster("search.query_phase_parallel_collection_enabled", Bool, "true"),
    cluster("search.worker_threads_enabled", Bool, "true"),
    cluster("slm.history_index_enabled", Bool, "true"),
    cluster("slm.minimum_interval", TIME, "15m"),
    cluster("slm.retention_duration", TIME, "1h"),
    cluster("snapshot.max_concurrent_operations", POSITIVE, "1000"),
    cluster("stack.templates.enabled", Bool, "true"),
    node("thread_pool.", Text, ""),
    node("transport.host", List, ""),
    node("transport.port", Text, "9300-9400"),
    cluster("transport.slow_operation_logging_threshold", TIME, "5s"),
    cluster("transport.tracer.exclude", List, ""),
    cluster("transport.tracer.include", List, ""),
    node("transport.type", Text, "corelode"),
    cluster("xpack.monitoring.collection.enabled", Bool, "false"),
    cluster("xpack.monitoring.collection.interval", TIME_OR_NEVER, "10s"),
    cluster("xpack.monitoring.elasticsearch.collection.enabled", Bool, "true"),
    node("xpack.security.enabled", Bool, "true"),
    node("xpack.security.http.", Text, ""),
    node("xpack.security.transport.", Text, ""),
];

/// Those that are known since version 7 of the form of commands.
const SINCE_7: [&str; 1] = ["cluster.indices.validate_ignored_dot_patterns"];

/// Those that are known since version 8.
const SINCE_8: [&str; 17] = [
    "cluster.deprecation_indexing.enabled",
    "health.node.enabled",
    "health.reporting.local.monitor.interval",
    "http.client_stats.enabled",
    "http.tracer.exclude",
    "http.tracer.include",
    "indices.lifecycle.rollover.only_if_has_documents",
    "indices.recovery.internal_action_retry_timeout",
    "indices.recovery.max_concurrent_snapshot_file_downloads_per_node",
    "monitor.fs.health.enabled",
    "monitor.fs.health.slow_path_logging_threshold",
    "search.query_phase_parallel_collection_enabled",
    "search.worker_threads_enabled",
    "slm.minimum_interval",
    "slm.retention_duration",
    "transport.slow_operation_logging_threshold",
    "xpack.monitoring.elasticsearch.collection.enabled",
];

/// The setting of that name, where these rules know it.
pub(crate) fn find_by(rules: Rules, name: &str) -> Option<&'static Known> {
    find(name).filter(|_| match rules {
        Rules::Before => !SINCE_7.contains(&name) && !SINCE_8.contains(&name),
        Rules::Former => !SINCE_8.contains(&name),
        Rules::Now => true,
    })
}

/// The setting of that name.
pub(crate) fn find(name: &str) -> Option<&'static Known> {
    let before = TABLE.partition_point(|known| known.name <= name);
    let nearest = TABLE[..before].iter().rev();
    // A family stands before its members, with nothing of another family between.
    for known in nearest {
        if known.name == name && !name.ends_with('.') {
            return Some(known);
        }
        let family = known.name.ends_with('.') && name.len() > known.name.len();
        if family && name.starts_with(known.name) {
            return Some(known);
        }
        if known.name.split('.').next() != name.split('.').next() {
            break;
        }
    }
    None
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
            let name = known.name.to_owned() + if known.name.ends_with('.') { "x" } else { "" };
            assert_eq!(find(&name).map(|found| found.name), Some(known.name));
        }
        for unknown in ["", "logger.", "logger", "action", "cluster.routing.allocation.exclude"] {
            assert!(find(unknown).is_none(), "{unknown}");
        }
    }

    #[test]
    fn defaults_can_be_read() {
        for known in TABLE.iter().filter(|known| !known.default.is_empty()) {
            let checked = crate::settings::check_text(known, known.default);
            assert!(checked.is_ok(), "{}: {checked:?}", known.name);
        }
    }
}
