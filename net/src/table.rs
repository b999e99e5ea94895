//! The routes: every method and path that is answered, what it needs, and the query parameters it
//! knows. One flat table; what is not in it does not exist.

use http::Method;
use http::Method::{Delete, Get, Head, Post, Put};

use crate::params::Kind::{Flag, Int, Long, Own, Text, Time, Word};
use crate::params::Known;

/// What answers a route: one function of `rest` each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named as in Elasticsearch's specification")]
pub enum Api {
    Info,
    Bulk,
    Index,
    IndexAutoId,
    Create,
    Get,
    GetSource,
    DeleteDocument,
    MultiGet,
    Search,
    Count,
    CreateIndex,
    GetIndex,
    ExistsIndex,
    DeleteIndex,
    GetMapping,
    PutMapping,
    GetSettings,
    Refresh,
    Flush,
    ForceMerge,
    Analyze,
    Health,
    Cat,
    CatHealth,
    CatIndices,
    Authenticate,
    ChangePassword,
    Nodes,
    License,
    Favicon,
    /// A path of Elasticsearch 7 whose method is known and whose handler is gone.
    Typed,
}

/// One row.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    /// What answers.
    pub api: Api,
    /// By which methods.
    pub methods: &'static [Method],
    /// Segments between slashes; one in braces is a parameter.
    pub path: &'static str,
    /// The action that the gate is asked for. (`-`: the engine asks for each item, or nobody asks.)
    pub privilege: &'static str,
    /// Query parameters, beside [`crate::params::COMMON`].
    pub params: &'static [&'static [Known]],
}

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
const INDICES: &[Known] =
    &[own("ignore_unavailable"), own("allow_no_indices"), own("expand_wildcards")];

/// A body in the query.
const SOURCE: &[Known] = &[text("source").unoffered(), text("source_content_type").unoffered()];

/// Waits for a master: there is none to wait for.
const MASTER: &[Known] = &[time("master_timeout").idle(), time("timeout").idle()];

const WRITE: &[Known] = &[
    own("refresh"),
    text("routing"),
    time("timeout"),
    own("wait_for_active_shards"),
    text("pipeline"),
    flag("require_alias"),
    flag("require_data_stream"),
    flag("include_source_on_error").idle(),
];

const CONDITIONS: &[Known] = &[
    Known::new("if_seq_no", Long),
    Known::new("if_primary_term", Long),
    Known::new("version", Long),
    own("version_type"),
];

const OP_TYPE: &[Known] = &[own("op_type")];

const SOURCE_FILTER: &[Known] =
    &[text("_source"), text("_source_includes"), text("_source_excludes")];

const READ: &[Known] =
    &[own("preference").idle(), flag("realtime"), flag("refresh"), text("routing")];

const BULK: &[Known] = &[flag("list_executed_pipelines").idle()];

const SEARCH: &[Known] = &[
    Known::new("from", Int).unoffered(),
    Known::new("size", Int).unoffered(),
    text("sort"),
    text("stored_fields"),
    own("track_total_hits").unoffered(),
    flag("track_scores").unoffered(),
    flag("version").unoffered(),
    flag("seq_no_primary_term").unoffered(),
    time("timeout").unoffered(),
    Known::new("terminate_after", Int).unoffered(),
    flag("allow_partial_search_results").unoffered(),
    text("routing"),
    flag("rest_total_hits_as_int"),
    own("preference").idle(),
    own("search_type"),
    own("batched_reduce_size").idle().unoffered(),
    flag("ccs_minimize_roundtrips").idle(),
    Known::new("max_concurrent_shard_requests", Int).idle().unoffered(),
    Known::new("pre_filter_shard_size", Int).idle().unoffered(),
    flag("request_cache").idle(),
    flag("typed_keys").idle(),
    flag("ignore_throttled").idle(),
    text("stats").idle(),
];

const COUNT: &[Known] = &[
    own("min_score"),
    Known::new("terminate_after", Int),
    text("routing"),
    own("preference").idle(),
    flag("ignore_throttled").idle(),
];

const CREATE_INDEX: &[Known] = &[own("wait_for_active_shards")];

const GET_INDEX: &[Known] =
    &[flag("flat_settings"), flag("local").idle(), time("master_timeout").idle(), text("features")];

const GET_MAPPING: &[Known] = &[flag("local").idle(), time("master_timeout").idle()];

const PUT_MAPPING: &[Known] = &[flag("write_index_only").idle()];

const GET_SETTINGS: &[Known] =
    &[flag("flat_settings"), flag("local").idle(), time("master_timeout").idle()];

const FLUSH: &[Known] = &[flag("force").idle(), flag("wait_if_ongoing").idle()];

const FORCE_MERGE: &[Known] = &[
    Known::new("max_num_segments", Int),
    flag("only_expunge_deletes"),
    flag("flush"),
    flag("wait_for_completion"),
];

const ANALYZE: &[Known] = &[text("index")];

const HEALTH: &[Known] = &[
    own("expand_wildcards"),
    Known::new("level", Word(&["cluster", "indices", "shards"])),
    flag("local").idle(),
    time("master_timeout").idle(),
    time("timeout"),
    own("wait_for_active_shards"),
    own("wait_for_events").idle(),
    own("wait_for_nodes"),
    flag("wait_for_no_initializing_shards"),
    flag("wait_for_no_relocating_shards").idle(),
    own("wait_for_status"),
];

const CAT: &[Known] = &[
    flag("v"),
    text("h"),
    text("s"),
    flag("help"),
    text("bytes"),
    text("time"),
    flag("local").idle(),
    time("master_timeout").idle(),
];

const CAT_HEALTH: &[Known] = &[flag("ts")];

const CAT_INDICES: &[Known] = &[
    own("expand_wildcards"),
    own("health"),
    flag("pri").idle(),
    flag("include_unloaded_segments").idle(),
];

const NODES: &[Known] = &[flag("flat_settings"), time("timeout").idle()];

const LICENSE: &[Known] = &[flag("accept_enterprise").idle(), flag("local").idle()];

const PASSWORD: &[Known] = &[own("refresh").idle()];

const fn route(
    api: Api,
    methods: &'static [Method],
    path: &'static str,
    privilege: &'static str,
    params: &'static [&'static [Known]],
) -> Route {
    Route { api, methods, path, privilege, params }
}

/// Every route.
#[rustfmt::skip]
pub const ROUTES: &[Route] = &[
    route(Api::Info, &[Get, Head], "/", "cluster:monitor/main", &[]),
    route(Api::Favicon, &[Get], "/favicon.ico", "-", &[]),

    route(Api::Bulk, &[Post, Put], "/_bulk", "indices:data/write/bulk", &[WRITE, BULK, SOURCE_FILTER]),
    route(Api::Bulk, &[Post, Put], "/{index}/_bulk", "indices:data/write/bulk", &[WRITE, BULK, SOURCE_FILTER]),
    route(Api::Index, &[Put, Post], "/{index}/_doc/{id}", "indices:data/write/index", &[WRITE, CONDITIONS, OP_TYPE]),
    route(Api::IndexAutoId, &[Post], "/{index}/_doc", "indices:data/write/index", &[WRITE, CONDITIONS, OP_TYPE]),
    route(Api::Create, &[Put, Post], "/{index}/_create/{id}", "indices:data/write/index", &[WRITE, CONDITIONS]),
    route(Api::Get, &[Get, Head], "/{index}/_doc/{id}", "indices:data/read/get", &[READ, SOURCE_FILTER, CONDITIONS]),
    route(Api::DeleteDocument, &[Delete], "/{index}/_doc/{id}", "indices:data/write/delete", &[WRITE, CONDITIONS]),
    route(Api::GetSource, &[Get, Head], "/{index}/_source/{id}", "indices:data/read/get", &[READ, SOURCE_FILTER, CONDITIONS]),
    route(Api::MultiGet, &[Get, Post], "/_mget", "indices:data/read/mget", &[READ, SOURCE_FILTER, SOURCE]),
    route(Api::MultiGet, &[Get, Post], "/{index}/_mget", "indices:data/read/mget", &[READ, SOURCE_FILTER, SOURCE]),

    route(Api::Search, &[Get, Post], "/_search", "indices:data/read/search", &[SEARCH, SOURCE_FILTER, INDICES, SOURCE]),
    route(Api::Search, &[Get, Post], "/{index}/_search", "indices:data/read/search", &[SEARCH, SOURCE_FILTER, INDICES, SOURCE]),
    route(Api::Count, &[Get, Post], "/_count", "indices:data/read/search", &[COUNT, INDICES, SOURCE]),
    route(Api::Count, &[Get, Post], "/{index}/_count", "indices:data/read/search", &[COUNT, INDICES, SOURCE]),

    route(Api::CreateIndex, &[Put], "/{index}", "indices:admin/create", &[CREATE_INDEX, MASTER]),
    route(Api::GetIndex, &[Get], "/{index}", "indices:admin/get", &[GET_INDEX, INDICES]),
    route(Api::ExistsIndex, &[Head], "/{index}", "indices:admin/get", &[GET_INDEX, INDICES]),
    route(Api::DeleteIndex, &[Delete], "/{index}", "indices:admin/delete", &[INDICES, MASTER]),
    route(Api::GetMapping, &[Get], "/_mapping", "indices:admin/mappings/get", &[GET_MAPPING, INDICES]),
    route(Api::GetMapping, &[Get], "/{index}/_mapping", "indices:admin/mappings/get", &[GET_MAPPING, INDICES]),
    route(Api::PutMapping, &[Put, Post], "/{index}/_mapping", "indices:admin/mapping/put", &[PUT_MAPPING, INDICES, MASTER]),
    route(Api::GetSettings, &[Get], "/_settings", "indices:monitor/settings/get", &[GET_SETTINGS, INDICES]),
    route(Api::GetSettings, &[Get], "/_settings/{name}", "indices:monitor/settings/get", &[GET_SETTINGS, INDICES]),
    route(Api::GetSettings, &[Get], "/{index}/_settings", "indices:monitor/settings/get", &[GET_SETTINGS, INDICES]),
    route(Api::GetSettings, &[Get], "/{index}/_settings/{name}", "indices:monitor/settings/get", &[GET_SETTINGS, INDICES]),
    route(Api::Refresh, &[Get, Post], "/_refresh", "indices:admin/refresh", &[INDICES]),
    route(Api::Refresh, &[Get, Post], "/{index}/_refresh", "indices:admin/refresh", &[INDICES]),
    route(Api::Flush, &[Get, Post], "/_flush", "indices:admin/flush", &[FLUSH, INDICES]),
    route(Api::Flush, &[Get, Post], "/{index}/_flush", "indices:admin/flush", &[FLUSH, INDICES]),
    route(Api::ForceMerge, &[Post], "/_forcemerge", "indices:admin/forcemerge", &[FORCE_MERGE, INDICES]),
    route(Api::ForceMerge, &[Post], "/{index}/_forcemerge", "indices:admin/forcemerge", &[FORCE_MERGE, INDICES]),
    route(Api::Analyze, &[Get, Post], "/_analyze", "indices:admin/analyze", &[ANALYZE, SOURCE]),
    route(Api::Analyze, &[Get, Post], "/{index}/_analyze", "indices:admin/analyze", &[SOURCE]),

    route(Api::Health, &[Get], "/_cluster/health", "cluster:monitor/health", &[HEALTH]),
    route(Api::Health, &[Get], "/_cluster/health/{index}", "cluster:monitor/health", &[HEALTH]),
    route(Api::Cat, &[Get], "/_cat", "-", &[]),
    route(Api::CatHealth, &[Get], "/_cat/health", "cluster:monitor/health", &[CAT, CAT_HEALTH]),
    route(Api::CatIndices, &[Get], "/_cat/indices", "indices:monitor/stats", &[CAT, CAT_INDICES]),
    route(Api::CatIndices, &[Get], "/_cat/indices/{index}", "indices:monitor/stats", &[CAT, CAT_INDICES]),
    route(Api::Nodes, &[Get], "/_nodes", "cluster:monitor/nodes/info", &[NODES]),
    route(Api::Nodes, &[Get], "/_nodes/{node_id}", "cluster:monitor/nodes/info", &[NODES]),
    route(Api::Nodes, &[Get], "/_nodes/{node_id}/{metric}", "cluster:monitor/nodes/info", &[NODES]),
    route(Api::License, &[Get], "/_license", "cluster:monitor/xpack/license/get", &[LICENSE]),

    route(Api::Authenticate, &[Get], "/_security/_authenticate", "-", &[]),
    route(Api::ChangePassword, &[Put, Post], "/_security/user/_password", "-", &[PASSWORD]),
    route(Api::ChangePassword, &[Put, Post], "/_security/user/{username}/_password", "cluster:admin/xpack/security/user/change_password", &[PASSWORD]),

    route(Api::Typed, &[Post], "/{index}/{type}", "-", &[]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sound() {
        for route in ROUTES {
            assert!(route.path.starts_with('/'), "{}", route.path);
            assert!(!route.methods.is_empty(), "{}", route.path);
            let mut names: Vec<&str> =
                route.params.iter().copied().flatten().map(|known| known.name).collect();
            let count = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), count, "{}: a parameter twice", route.path);
        }
    }
}
