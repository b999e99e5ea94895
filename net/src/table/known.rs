//! The query parameters that routes know, in lists by what they are for: a route names the lists
//! that are its own.
//!
//! A flat table. `idle()` marks a name that changes nothing here (`docs/api/no-effect.md` says why),
//! `unoffered()` one that no error offers as what may have been meant.

use crate::params::Kind::{Flag, Int, Long, Own, Text, Time};
use crate::params::Known;

const fn flag(name: &'static str) -> Known {
    Known::new(name, Flag)
}

const fn text(name: &'static str) -> Known {
    Known::new(name, Text)
}

const fn time(name: &'static str) -> Known {
    Known::new(name, Time)
}

const fn own(name: &'static str) -> Known {
    Known::new(name, Own)
}

/// Which indices are meant.
pub(super) const INDICES: &[Known] = &[
    own("ignore_unavailable"),
    own("allow_no_indices"),
    own("expand_wildcards"),
    flag("ignore_throttled").idle().unoffered(),
];

/// A body in the query.
pub(super) const SOURCE: &[Known] =
    &[text("source").unoffered(), text("source_content_type").unoffered()];

/// Waits for a master: there is none to wait for.
pub(super) const MASTER: &[Known] = &[time("master_timeout").idle(), time("timeout").idle()];

/// A stored script.
pub(super) const PUT_SCRIPT: &[Known] = &[text("context")];

pub(super) const WRITE: &[Known] =
    &[own("refresh"), text("routing"), time("timeout"), own("wait_for_active_shards")];

/// What puts documents, whole or in parts.
pub(super) const PUT: &[Known] = &[flag("require_alias"), flag("include_source_on_error").idle()];

/// What documents that are put whole run through first.
pub(super) const PIPELINE: &[Known] = &[text("pipeline")];

/// What takes new documents may ask for a data stream.
pub(super) const STREAM: &[Known] = &[flag("require_data_stream")];

pub(super) const CONDITIONS: &[Known] = &[
    Known::new("if_seq_no", Long),
    Known::new("if_primary_term", Long),
    Known::new("version", Long),
    own("version_type"),
];

/// An update makes its own version, and meets no conflict that trying again would mend.
pub(super) const UPDATE: &[Known] = &[
    Known::new("if_seq_no", Long),
    Known::new("if_primary_term", Long),
    Known::new("version", Long).unoffered(),
    own("version_type").unoffered(),
    Known::new("retry_on_conflict", Int),
    text("lang"),
];

pub(super) const OP_TYPE: &[Known] = &[own("op_type")];

pub(super) const SOURCE_FILTER: &[Known] =
    &[text("_source"), text("_source_includes"), text("_source_excludes")];

pub(super) const READ: &[Known] = &[
    own("preference").idle(),
    flag("realtime"),
    flag("refresh"),
    text("routing"),
    text("stored_fields"),
    flag("force_synthetic_source").idle(),
];

pub(super) const BULK: &[Known] = &[flag("list_executed_pipelines").idle()];

/// A query in the words of `query_string`.
pub(super) const WORDS: &[Known] = &[
    text("q"),
    text("df"),
    text("default_operator"),
    text("analyzer"),
    flag("lenient"),
    flag("analyze_wildcard"),
];

pub(super) const SEARCH: &[Known] = &[
    flag("explain").unoffered(),
    flag("include_named_queries_score"),
    Known::new("from", Int).unoffered(),
    Known::new("size", Int).unoffered(),
    text("sort"),
    text("stored_fields"),
    text("docvalue_fields"),
    time("scroll"),
    own("track_total_hits").unoffered(),
    flag("track_scores").unoffered(),
    flag("version").unoffered(),
    flag("seq_no_primary_term").unoffered(),
    time("timeout").unoffered(),
    Known::new("terminate_after", Int).unoffered(),
    flag("allow_partial_search_results").unoffered(),
    text("routing"),
    flag("rest_total_hits_as_int"),
    own("preference"),
    own("search_type"),
    own("batched_reduce_size").unoffered(),
    flag("ccs_minimize_roundtrips").idle(),
    Known::new("max_concurrent_shard_requests", Int).idle().unoffered(),
    Known::new("pre_filter_shard_size", Int).unoffered(),
    flag("request_cache"),
    flag("typed_keys"),
    flag("force_synthetic_source").idle(),
    own("min_compatible_shard_node").idle(),
    text("stats"),
    text("suggest_field"),
    text("suggest_mode"),
    Known::new("suggest_size", Int),
    text("suggest_text"),
];

pub(super) const SCROLL: &[Known] =
    &[text("scroll_id"), time("scroll"), flag("rest_total_hits_as_int")];

pub(super) const CLEAR_SCROLL: &[Known] = &[text("scroll_id")];

pub(super) const MULTI_SEARCH: &[Known] = &[
    text("index"),
    text("routing"),
    own("search_type"),
    Known::new("max_concurrent_searches", Int),
    Known::new("max_concurrent_shard_requests", Int).idle(),
    Known::new("pre_filter_shard_size", Int),
    flag("rest_total_hits_as_int"),
    flag("include_named_queries_score"),
    flag("typed_keys"),
    flag("ccs_minimize_roundtrips").idle(),
];

pub(super) const RANK_EVAL: &[Known] = &[own("search_type")];

pub(super) const MOMENT: &[Known] = &[
    time("keep_alive"),
    text("routing"),
    own("preference"),
    flag("allow_partial_search_results").idle(),
    Known::new("max_concurrent_shard_requests", Int).idle(),
];

pub(super) const BY_QUERY: &[Known] = &[
    flag("version").idle(),
    own("conflicts"),
    flag("refresh"),
    time("scroll").idle(),
    Known::new("scroll_size", Int),
    own("slices"),
    Known::new("max_docs", Int),
    Known::new("size", Int).unoffered(),
    Known::new("from", Int).unoffered(),
    own("requests_per_second"),
    time("timeout"),
    own("wait_for_active_shards"),
    flag("wait_for_completion"),
    time("search_timeout"),
    own("search_type"),
    Known::new("terminate_after", Int),
    text("sort"),
    text("routing"),
    own("preference"),
    text("stats").idle(),
    flag("request_cache").idle(),
];

pub(super) const REINDEX: &[Known] = &[
    flag("refresh"),
    time("scroll").idle(),
    own("slices"),
    Known::new("max_docs", Int),
    own("requests_per_second"),
    time("timeout"),
    own("wait_for_active_shards"),
    flag("wait_for_completion"),
    flag("require_alias"),
    own("pipeline"),
];

pub(super) const UPDATE_BY_QUERY: &[Known] = &[own("version_type").idle()];

pub(super) const RETHROTTLE: &[Known] = &[own("requests_per_second"), text("group_by")];

pub(super) const TASKS: &[Known] = &[
    text("actions"),
    text("nodes"),
    text("parent_task_id"),
    flag("detailed"),
    flag("wait_for_completion"),
    time("timeout"),
    text("group_by"),
    time("master_timeout").idle(),
];

pub(super) const TASK: &[Known] = &[flag("wait_for_completion"), time("timeout")];

pub(super) const CANCEL_TASKS: &[Known] = &[
    text("actions"),
    text("nodes"),
    text("parent_task_id"),
    text("group_by"),
    flag("wait_for_completion"),
];

pub(super) const VECTORS: &[Known] = &[
    text("fields"),
    flag("term_statistics"),
    flag("field_statistics"),
    flag("offsets"),
    flag("positions"),
    flag("payloads").idle(),
    flag("realtime"),
    text("routing"),
    text("version"),
    text("version_type"),
    own("preference").idle(),
];

pub(super) const MANY_VECTORS: &[Known] = &[text("ids")];

pub(super) const EXPLAIN: &[Known] =
    &[text("routing"), text("stored_fields"), own("preference").idle()];

pub(super) const VALIDATE: &[Known] =
    &[flag("explain"), flag("rewrite").idle(), flag("all_shards")];

pub(super) const COUNT: &[Known] =
    &[own("min_score"), Known::new("terminate_after", Int), text("routing"), own("preference")];

pub(super) const CREATE_INDEX: &[Known] = &[own("wait_for_active_shards")];

pub(super) const GET_INDEX: &[Known] = &[
    flag("flat_settings"),
    flag("include_defaults"),
    flag("local").idle(),
    time("master_timeout").idle(),
    text("features"),
];

pub(super) const GET_MAPPING: &[Known] = &[flag("local").idle(), time("master_timeout").idle()];

pub(super) const PUT_MAPPING: &[Known] = &[flag("write_index_only")];

pub(super) const GET_SETTINGS: &[Known] = &[
    flag("flat_settings"),
    flag("include_defaults"),
    flag("local").idle(),
    time("master_timeout").idle(),
];

pub(super) const PUT_SETTINGS: &[Known] =
    &[flag("flat_settings").idle(), flag("preserve_existing"), flag("reopen")];

pub(super) const FIELD_MAPPING: &[Known] = &[flag("include_defaults"), flag("local").idle()];

pub(super) const LOCAL: &[Known] = &[flag("local").idle()];

pub(super) const PUT_TEMPLATE: &[Known] = &[flag("create"), text("cause").idle()];

pub(super) const PUT_LEGACY: &[Known] =
    &[flag("create"), Known::new("order", Int), text("cause").idle()];

pub(super) const GET_TEMPLATE: &[Known] = &[
    flag("flat_settings"),
    flag("include_defaults").idle(),
    flag("local").idle(),
    time("master_timeout").idle(),
];

/// Settings that are not shown; a template holds no secret ones.
pub(super) const FILTERED: &[Known] = &[text("settings_filter").idle()];

/// Beside what a search takes.
pub(super) const TEMPLATE: &[Known] = &[flag("profile")];

pub(super) const SIMULATE: &[Known] = &[
    flag("create"),
    text("cause").idle(),
    flag("include_defaults").idle(),
    time("master_timeout").idle(),
];

pub(super) const INDEX_STATS: &[Known] = &[
    own("level"),
    flag("forbid_closed_indices"),
    text("fields"),
    text("completion_fields"),
    text("fielddata_fields"),
    text("groups"),
    flag("include_segment_file_sizes").idle(),
    flag("include_unloaded_segments").idle(),
];

pub(super) const SEGMENTS: &[Known] = &[flag("verbose").idle()];

pub(super) const RECOVERY: &[Known] = &[flag("active_only"), flag("detailed")];

pub(super) const CLEAR_CACHE: &[Known] = &[
    flag("fielddata").idle(),
    text("fields").idle(),
    flag("query").idle(),
    flag("request").idle(),
    text("index"),
];

pub(super) const FIELD_CAPS: &[Known] = &[
    text("fields"),
    flag("include_unmapped"),
    text("filters"),
    text("types"),
    flag("include_empty_fields"),
];

pub(super) const SEARCH_SHARDS: &[Known] =
    &[own("preference"), text("routing"), flag("local").idle(), time("master_timeout").idle()];

pub(super) const RESOLVE_CLUSTER: &[Known] = &[time("timeout").idle()];

pub(super) const RELOAD: &[Known] = &[text("resource").idle()];

pub(super) const DISK_USAGE: &[Known] = &[flag("flush"), flag("run_expensive_tasks")];

pub(super) const FIELD_USAGE: &[Known] = &[text("fields")];

pub(super) const SHARD_STORES: &[Known] = &[own("status")];

pub(super) const ROLLOVER: &[Known] = &[flag("dry_run"), flag("lazy")];

pub(super) const DATA_STREAM: &[Known] = &[
    own("expand_wildcards"),
    flag("include_defaults").idle(),
    time("master_timeout").idle(),
    flag("verbose").idle(),
];

pub(super) const FLUSH: &[Known] = &[flag("force").idle(), flag("wait_if_ongoing").idle()];

pub(super) const FORCE_MERGE: &[Known] = &[
    Known::new("max_num_segments", Int),
    flag("only_expunge_deletes"),
    flag("flush"),
    flag("wait_for_completion"),
];

pub(super) const ANALYZE: &[Known] = &[text("index")];

pub(super) const HEALTH: &[Known] = &[
    own("level"),
    flag("local").idle(),
    time("master_timeout").idle(),
    own("return_200_for_cluster_health_timeout"),
    time("timeout"),
    own("wait_for_active_shards"),
    own("wait_for_events").idle(),
    own("wait_for_nodes"),
    flag("wait_for_no_initializing_shards"),
    flag("wait_for_no_relocating_shards").idle(),
    own("wait_for_relocating_shards"),
    own("wait_for_status"),
];

pub(super) const CAT: &[Known] = &[
    flag("v"),
    text("h"),
    text("s"),
    flag("help"),
    text("bytes"),
    text("time"),
    text("size").idle(),
    flag("local").idle(),
    time("master_timeout").idle(),
];

pub(super) const CAT_TS: &[Known] = &[flag("ts")];

pub(super) const CAT_INDICES: &[Known] =
    &[own("health"), flag("pri"), flag("include_unloaded_segments").idle()];

pub(super) const EXPAND: &[Known] = &[own("expand_wildcards")];

pub(super) const CAT_FIELDDATA: &[Known] = &[text("fields").idle()];

pub(super) const CAT_NODES: &[Known] = &[flag("full_id"), flag("include_unloaded_segments").idle()];

pub(super) const CAT_RECOVERY: &[Known] =
    &[flag("active_only"), flag("detailed").idle(), text("index")];

pub(super) const CAT_SEGMENTS: &[Known] = &[flag("allow_closed").idle()];

pub(super) const CAT_SNAPSHOTS: &[Known] = &[flag("ignore_unavailable").idle()];

pub(super) const CAT_PLUGINS: &[Known] = &[flag("include_bootstrap").idle()];

pub(super) const CAT_TASKS: &[Known] = &[
    text("actions"),
    flag("detailed"),
    flag("full_id"),
    text("nodes"),
    text("parent_task_id"),
    time("timeout").idle(),
    flag("wait_for_completion").idle(),
];

pub(super) const NODES: &[Known] = &[flag("flat_settings"), time("timeout").idle()];

pub(super) const TIMEOUT: &[Known] = &[time("timeout").idle()];

pub(super) const NODES_STATS: &[Known] = &[
    text("completion_fields"),
    text("fielddata_fields"),
    text("fields"),
    own("groups"),
    flag("include_segment_file_sizes").idle(),
    text("level"),
    time("timeout").idle(),
    text("types").idle(),
    flag("include_unloaded_segments").idle(),
];

pub(super) const HOT_THREADS: &[Known] = &[
    flag("ignore_idle_threads"),
    time("interval"),
    Known::new("snapshots", Int).idle(),
    Known::new("threads", Int),
    time("timeout").idle(),
    text("type"),
    text("sort").idle(),
];

pub(super) const STATE: &[Known] = &[
    flag("flat_settings"),
    flag("local").idle(),
    time("master_timeout").idle(),
    Known::new("wait_for_metadata_version", Long),
    time("wait_for_timeout"),
];

pub(super) const CLUSTER_STATS: &[Known] =
    &[flag("include_remotes").idle(), time("timeout").idle(), flag("flat_settings").idle()];

pub(super) const GET_CLUSTER_SETTINGS: &[Known] = &[
    flag("flat_settings"),
    flag("include_defaults"),
    flag("local").idle(),
    time("master_timeout").idle(),
    time("timeout").idle(),
];

pub(super) const PUT_CLUSTER_SETTINGS: &[Known] = &[flag("flat_settings")];

pub(super) const WAITING: &[Known] = &[flag("local").idle(), time("master_timeout").idle()];

pub(super) const REROUTE: &[Known] =
    &[flag("dry_run").idle(), flag("explain"), text("metric"), flag("retry_failed").idle()];

pub(super) const EXPLAIN_ALLOCATION: &[Known] = &[
    flag("include_disk_info"),
    flag("include_yes_decisions").idle(),
    time("master_timeout").idle(),
];

pub(super) const EXCLUDE_VOTES: &[Known] = &[text("node_names"), text("node_ids")];

pub(super) const INCLUDE_VOTES: &[Known] = &[flag("wait_for_removal").idle()];

pub(super) const HEALTH_REPORT: &[Known] =
    &[time("timeout").idle(), flag("verbose"), Known::new("size", Int)];

pub(super) const XPACK: &[Known] = &[text("categories"), flag("accept_enterprise").idle()];

pub(super) const START_LICENSE: &[Known] = &[flag("acknowledge").idle(), text("type").idle()];

pub(super) const LICENSE: &[Known] = &[flag("accept_enterprise").idle(), flag("local").idle()];

/// Security state is no index: there is nothing to refresh.
pub(super) const REFRESHED: &[Known] = &[own("refresh").idle()];

/// Where the path names nobody, the query may.
pub(super) const NAMED: &[Known] = &[text("name")];

pub(super) const USERS: &[Known] = &[flag("with_profile_uid")];

pub(super) const API_KEYS: &[Known] = &[
    text("id"),
    text("name"),
    flag("owner"),
    text("realm_name"),
    text("username"),
    flag("with_limited_by"),
    flag("active_only"),
    flag("with_profile_uid"),
];

pub(super) const QUERY_KEYS: &[Known] =
    &[flag("with_limited_by"), flag("with_profile_uid"), flag("typed_keys")];

pub(super) const PROFILE: &[Known] = &[text("data")];

pub(super) const PROFILE_DATA: &[Known] =
    &[Known::new("if_seq_no", Long), Known::new("if_primary_term", Long)];

pub(super) const CLEAR_REALM: &[Known] = &[text("usernames").idle()];
