//! The routes: every method and path that is answered, what it needs, and the lists of query
//! parameters ([`known`]) it takes. One flat table; what is not in it does not exist.

mod api;
mod known;

use cluster::TemplateKind::{Component, Index as Composed, Legacy};
use engine::ops::resize::Resize::{Clone, Shrink, Split};
use http::Method;
use http::Method::{Delete, Get, Head, Post, Put};

use crate::params::Known;
use crate::rest::security::Op;
pub use api::{Api, CatTable};
use known::*;

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

impl Route {
    /// Is what it needs a right on indices? (Rights on templates are the cluster's.)
    pub fn is_of_indices(&self) -> bool {
        let of_templates = ["indices:admin/template/", "indices:admin/index_template/"];
        self.privilege.starts_with("indices:")
            && !of_templates.iter().any(|prefix| self.privilege.starts_with(prefix))
    }

    /// Changes nothing, so that it may be given up anywhere. (A point in time that is opened is
    /// wanted, and what clears a scroll is done to its end.)
    pub fn only_looks(&self) -> bool {
        let looks = ["indices:data/read/", "indices:monitor/", "cluster:monitor/"];
        looks.iter().any(|prefix| self.privilege.starts_with(prefix))
            && !self.methods.contains(&Method::Delete)
            && self.api != Api::OpenPointInTime
    }

    /// Of what only looks: is it a task while it runs? Reads of single documents are too short to be seen,
    /// and what looks at tasks lists itself.
    pub fn is_task(&self) -> bool {
        let other = ["indices:data/read/get", "indices:data/read/mget", "cluster:monitor/task"];
        self.only_looks() && !other.iter().any(|prefix| self.privilege.starts_with(prefix))
    }

    /// Its place in `engine::meter::FAMILIES`: with whom its requests are timed.
    pub fn family(&self) -> usize {
        let family = match self.privilege {
            _ if self.path.starts_with("/_cat") => "cat",
            "indices:data/write/bulk" => "bulk",
            "indices:data/read/get" | "indices:data/read/mget" => "get",
            text if text.starts_with("indices:data/write/") => "document",
            text if text.starts_with("indices:data/read/scroll") => "scroll",
            text if text.starts_with("indices:data/read/") => "search",
            text if text.starts_with("indices:") => "indices",
            text if text.contains("/security/") => "security",
            text if text.starts_with("cluster:") && text.contains("/task") => "task",
            text if text.starts_with("cluster:") => "cluster",
            _ => "other",
        };
        let at = engine::meter::FAMILIES.iter().position(|known| *known == family);
        at.unwrap_or(engine::meter::FAMILIES.len() - 1)
    }
}

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

    route(Api::Bulk, &[Post, Put], "/_bulk", "indices:data/write/bulk", &[WRITE, PUT, PIPELINE, STREAM, BULK, SOURCE_FILTER]),
    route(Api::Bulk, &[Post, Put], "/{index}/_bulk", "indices:data/write/bulk", &[WRITE, PUT, PIPELINE, STREAM, BULK, SOURCE_FILTER]),
    route(Api::Index, &[Put, Post], "/{index}/_doc/{id}", "indices:data/write/index", &[WRITE, PUT, PIPELINE, STREAM, CONDITIONS, OP_TYPE]),
    route(Api::IndexAutoId, &[Post], "/{index}/_doc", "indices:data/write/index", &[WRITE, PUT, PIPELINE, STREAM, CONDITIONS, OP_TYPE]),
    route(Api::Create, &[Put, Post], "/{index}/_create/{id}", "indices:data/write/index", &[WRITE, PUT, PIPELINE, STREAM, CONDITIONS, OP_TYPE]),
    route(Api::Get, &[Get, Head], "/{index}/_doc/{id}", "indices:data/read/get", &[READ, SOURCE_FILTER, CONDITIONS]),
    route(Api::DeleteDocument, &[Delete], "/{index}/_doc/{id}", "indices:data/write/delete", &[WRITE, CONDITIONS]),
    route(Api::GetSource, &[Get, Head], "/{index}/_source/{id}", "indices:data/read/get", &[READ, SOURCE_FILTER, CONDITIONS]),
    route(Api::Update, &[Post], "/{index}/_update/{id}", "indices:data/write/update", &[WRITE, PUT, UPDATE, SOURCE_FILTER]),
    route(Api::MultiGet, &[Get, Post], "/_mget", "indices:data/read/mget", &[READ, SOURCE_FILTER, SOURCE]),
    route(Api::MultiGet, &[Get, Post], "/{index}/_mget", "indices:data/read/mget", &[READ, SOURCE_FILTER, SOURCE]),

    route(Api::Search, &[Get, Post], "/_search", "indices:data/read/search", &[WORDS, SEARCH, SOURCE_FILTER, INDICES, SOURCE]),
    route(Api::Search, &[Get, Post], "/{index}/_search", "indices:data/read/search", &[WORDS, SEARCH, SOURCE_FILTER, INDICES, SOURCE]),
    route(Api::MultiSearch, &[Get, Post], "/_msearch", "indices:data/read/msearch", &[MULTI_SEARCH, INDICES, SOURCE]),
    route(Api::MultiSearch, &[Get, Post], "/{index}/_msearch", "indices:data/read/msearch", &[MULTI_SEARCH, INDICES, SOURCE]),
    route(Api::SearchTemplate, &[Get, Post], "/_search/template", "indices:data/read/search/template", &[TEMPLATE, WORDS, SEARCH, SOURCE_FILTER, INDICES, SOURCE]),
    route(Api::SearchTemplate, &[Get, Post], "/{index}/_search/template", "indices:data/read/search/template", &[TEMPLATE, WORDS, SEARCH, SOURCE_FILTER, INDICES, SOURCE]),
    route(Api::RenderTemplate, &[Get, Post], "/_render/template", "indices:data/read/search/template", &[SOURCE]),
    route(Api::RenderTemplate, &[Get, Post], "/_render/template/{id}", "indices:data/read/search/template", &[SOURCE]),
    route(Api::MultiSearchTemplate, &[Get, Post], "/_msearch/template", "indices:data/read/msearch/template", &[MULTI_SEARCH, INDICES, SOURCE]),
    route(Api::MultiSearchTemplate, &[Get, Post], "/{index}/_msearch/template", "indices:data/read/msearch/template", &[MULTI_SEARCH, INDICES, SOURCE]),
    route(Api::ExecuteScript, &[Get, Post], "/_scripts/painless/_execute", "cluster:admin/scripts/painless/execute", &[SOURCE]),
    route(Api::PutScript, &[Put, Post], "/_scripts/{id}", "cluster:admin/script/put", &[PUT_SCRIPT, MASTER]),
    route(Api::PutScript, &[Put, Post], "/_scripts/{id}/{context}", "cluster:admin/script/put", &[PUT_SCRIPT, MASTER]),
    route(Api::GetScript, &[Get], "/_scripts/{id}", "cluster:admin/script/get", &[MASTER]),
    route(Api::DeleteScript, &[Delete], "/_scripts/{id}", "cluster:admin/script/delete", &[MASTER]),
    route(Api::ScriptLanguages, &[Get], "/_script_language", "cluster:admin/script_language/get", &[]),
    route(Api::ScriptContexts, &[Get], "/_script_context", "cluster:admin/script_context/get", &[]),
    route(Api::Scroll, &[Get, Post], "/_search/scroll", "indices:data/read/scroll", &[SCROLL, SOURCE]),
    route(Api::Scroll, &[Get, Post], "/_search/scroll/{scroll_id}", "indices:data/read/scroll", &[SCROLL, SOURCE]),
    route(Api::ClearScroll, &[Delete], "/_search/scroll", "indices:data/read/scroll/clear", &[CLEAR_SCROLL, SOURCE]),
    route(Api::ClearScroll, &[Delete], "/_search/scroll/{scroll_id}", "indices:data/read/scroll/clear", &[CLEAR_SCROLL, SOURCE]),
    route(Api::OpenPointInTime, &[Post], "/{index}/_pit", "indices:data/read/open_point_in_time", &[MOMENT, INDICES, SOURCE]),
    route(Api::ClosePointInTime, &[Delete], "/_pit", "indices:data/read/close_point_in_time", &[SOURCE]),
    route(Api::DeleteByQuery, &[Post], "/{index}/_delete_by_query", "indices:data/write/delete/byquery", &[WORDS, BY_QUERY, SOURCE_FILTER, INDICES, SOURCE]),
    route(Api::UpdateByQuery, &[Post], "/{index}/_update_by_query", "indices:data/write/update/byquery", &[WORDS, BY_QUERY, PIPELINE, UPDATE_BY_QUERY, SOURCE_FILTER, INDICES, SOURCE]),
    route(Api::Reindex, &[Post], "/_reindex", "indices:data/write/reindex", &[REINDEX]),
    route(Api::Rethrottle, &[Post], "/_delete_by_query/{task_id}/_rethrottle", "cluster:admin/reindex/rethrottle", &[RETHROTTLE]),
    route(Api::Rethrottle, &[Post], "/_update_by_query/{task_id}/_rethrottle", "cluster:admin/reindex/rethrottle", &[RETHROTTLE]),
    route(Api::Rethrottle, &[Post], "/_reindex/{task_id}/_rethrottle", "cluster:admin/reindex/rethrottle", &[RETHROTTLE]),
    route(Api::Tasks, &[Get], "/_tasks", "cluster:monitor/tasks/lists", &[TASKS]),
    route(Api::Task, &[Get], "/_tasks/{task_id}", "cluster:monitor/task/get", &[TASK]),
    route(Api::CancelTasks, &[Post], "/_tasks/_cancel", "cluster:admin/tasks/cancel", &[CANCEL_TASKS]),
    route(Api::CancelTasks, &[Post], "/_tasks/{task_id}/_cancel", "cluster:admin/tasks/cancel", &[CANCEL_TASKS]),
    route(Api::RankEval, &[Get, Post], "/_rank_eval", "indices:data/read/rank_eval", &[RANK_EVAL, INDICES, SOURCE]),
    route(Api::RankEval, &[Get, Post], "/{index}/_rank_eval", "indices:data/read/rank_eval", &[RANK_EVAL, INDICES, SOURCE]),
    route(Api::TermVectors, &[Get, Post], "/{index}/_termvectors", "indices:data/read/tv", &[VECTORS, SOURCE]),
    route(Api::TermVectors, &[Get, Post], "/{index}/_termvectors/{id}", "indices:data/read/tv", &[VECTORS, SOURCE]),
    route(Api::MultiTermVectors, &[Get, Post], "/_mtermvectors", "indices:data/read/mtv", &[VECTORS, MANY_VECTORS, SOURCE]),
    route(Api::MultiTermVectors, &[Get, Post], "/{index}/_mtermvectors", "indices:data/read/mtv", &[VECTORS, MANY_VECTORS, SOURCE]),
    route(Api::Explain, &[Get, Post], "/{index}/_explain/{id}", "indices:data/read/explain", &[WORDS, EXPLAIN, SOURCE_FILTER, SOURCE]),
    route(Api::Validate, &[Get, Post], "/_validate/query", "indices:admin/validate/query", &[WORDS, VALIDATE, INDICES, SOURCE]),
    route(Api::Validate, &[Get, Post], "/{index}/_validate/query", "indices:admin/validate/query", &[WORDS, VALIDATE, INDICES, SOURCE]),
    route(Api::Count, &[Get, Post], "/_count", "indices:data/read/search", &[WORDS, COUNT, INDICES, SOURCE]),
    route(Api::Count, &[Get, Post], "/{index}/_count", "indices:data/read/search", &[WORDS, COUNT, INDICES, SOURCE]),

    route(Api::CreateIndex, &[Put], "/{index}", "indices:admin/create", &[CREATE_INDEX, MASTER]),
    route(Api::GetIndex, &[Get], "/{index}", "indices:admin/get", &[GET_INDEX, INDICES]),
    route(Api::ExistsIndex, &[Head], "/{index}", "indices:admin/get", &[GET_INDEX, INDICES]),
    route(Api::DeleteIndex, &[Delete], "/{index}", "indices:admin/delete", &[INDICES, MASTER]),
    route(Api::GetMapping, &[Get], "/_mapping", "indices:admin/mappings/get", &[GET_MAPPING, INDICES]),
    route(Api::GetMapping, &[Get], "/{index}/_mapping", "indices:admin/mappings/get", &[GET_MAPPING, INDICES]),
    route(Api::GetMapping, &[Get], "/_mappings", "indices:admin/mappings/get", &[GET_MAPPING, INDICES]),
    route(Api::GetMapping, &[Get], "/{index}/_mappings", "indices:admin/mappings/get", &[GET_MAPPING, INDICES]),
    route(Api::PutMapping, &[Put, Post], "/{index}/_mapping", "indices:admin/mapping/put", &[PUT_MAPPING, INDICES, MASTER]),
    route(Api::PutMapping, &[Put, Post], "/{index}/_mappings", "indices:admin/mapping/put", &[PUT_MAPPING, INDICES, MASTER]),
    route(Api::GetSettings, &[Get], "/_settings", "indices:monitor/settings/get", &[GET_SETTINGS, INDICES]),
    route(Api::GetSettings, &[Get], "/_settings/{name}", "indices:monitor/settings/get", &[GET_SETTINGS, INDICES]),
    route(Api::GetSettings, &[Get], "/{index}/_settings", "indices:monitor/settings/get", &[GET_SETTINGS, INDICES]),
    route(Api::GetSettings, &[Get], "/{index}/_settings/{name}", "indices:monitor/settings/get", &[GET_SETTINGS, INDICES]),
    route(Api::DeleteIndex, &[Delete], "/", "indices:admin/delete", &[INDICES, MASTER]),
    route(Api::GetFieldMapping, &[Get], "/_mapping/field/{fields}", "indices:admin/mappings/fields/get", &[FIELD_MAPPING, INDICES]),
    route(Api::GetFieldMapping, &[Get], "/{index}/_mapping/field/{fields}", "indices:admin/mappings/fields/get", &[FIELD_MAPPING, INDICES]),
    route(Api::PutSettings, &[Put], "/_settings", "indices:admin/settings/update", &[PUT_SETTINGS, INDICES, MASTER]),
    route(Api::PutSettings, &[Put], "/{index}/_settings", "indices:admin/settings/update", &[PUT_SETTINGS, INDICES, MASTER]),
    route(Api::CloseIndex, &[Post], "/_close", "indices:admin/close", &[CREATE_INDEX, INDICES, MASTER]),
    route(Api::CloseIndex, &[Post], "/{index}/_close", "indices:admin/close", &[CREATE_INDEX, INDICES, MASTER]),
    route(Api::OpenIndex, &[Post], "/_open", "indices:admin/open", &[CREATE_INDEX, INDICES, MASTER]),
    route(Api::OpenIndex, &[Post], "/{index}/_open", "indices:admin/open", &[CREATE_INDEX, INDICES, MASTER]),
    route(Api::Unfreeze, &[Post], "/{index}/_unfreeze", "indices:admin/freeze", &[CREATE_INDEX, INDICES, MASTER]),
    route(Api::AddBlock, &[Put], "/{index}/_block/{block}", "indices:admin/block/add", &[INDICES, MASTER]),

    route(Api::GetAlias, &[Get], "/_alias", "indices:admin/aliases/get", &[LOCAL, INDICES, MASTER]),
    route(Api::GetAlias, &[Get], "/_alias/{name}", "indices:admin/aliases/get", &[LOCAL, INDICES, MASTER]),
    route(Api::GetAlias, &[Get], "/{index}/_alias", "indices:admin/aliases/get", &[LOCAL, INDICES, MASTER]),
    route(Api::GetAlias, &[Get], "/{index}/_alias/{name}", "indices:admin/aliases/get", &[LOCAL, INDICES, MASTER]),
    route(Api::GetAlias, &[Get], "/_aliases", "indices:admin/aliases/get", &[LOCAL, INDICES, MASTER]),
    route(Api::ExistsAlias, &[Head], "/_alias/{name}", "indices:admin/aliases/get", &[LOCAL, INDICES, MASTER]),
    route(Api::ExistsAlias, &[Head], "/{index}/_alias", "indices:admin/aliases/get", &[LOCAL, INDICES, MASTER]),
    route(Api::ExistsAlias, &[Head], "/{index}/_alias/{name}", "indices:admin/aliases/get", &[LOCAL, INDICES, MASTER]),
    route(Api::PutAlias, &[Put], "/_alias", "indices:admin/aliases", &[MASTER]),
    route(Api::PutAlias, &[Put, Post], "/_alias/{name}", "indices:admin/aliases", &[MASTER]),
    route(Api::PutAlias, &[Put], "/{index}/_alias", "indices:admin/aliases", &[MASTER]),
    route(Api::PutAlias, &[Put, Post], "/{index}/_alias/{name}", "indices:admin/aliases", &[MASTER]),
    route(Api::PutAlias, &[Put], "/{index}/_aliases", "indices:admin/aliases", &[MASTER]),
    route(Api::PutAlias, &[Put, Post], "/_aliases/{name}", "indices:admin/aliases", &[MASTER]),
    route(Api::PutAlias, &[Put, Post], "/{index}/_aliases/{name}", "indices:admin/aliases", &[MASTER]),
    route(Api::DeleteAlias, &[Delete], "/{index}/_alias/{name}", "indices:admin/aliases", &[MASTER]),
    route(Api::DeleteAlias, &[Delete], "/{index}/_aliases/{name}", "indices:admin/aliases", &[MASTER]),
    route(Api::UpdateAliases, &[Post], "/_aliases", "indices:admin/aliases", &[MASTER]),

    route(Api::PutTemplate(Composed), &[Put, Post], "/_index_template/{name}", "indices:admin/index_template/put", &[PUT_TEMPLATE, MASTER]),
    route(Api::GetTemplate(Composed), &[Get], "/_index_template", "indices:admin/index_template/get", &[GET_TEMPLATE]),
    route(Api::GetTemplate(Composed), &[Get], "/_index_template/{name}", "indices:admin/index_template/get", &[GET_TEMPLATE]),
    route(Api::ExistsTemplate(Composed), &[Head], "/_index_template/{name}", "indices:admin/index_template/get", &[GET_TEMPLATE]),
    route(Api::DeleteTemplate(Composed), &[Delete], "/_index_template/{name}", "indices:admin/index_template/delete", &[MASTER]),
    route(Api::SimulateTemplate, &[Post], "/_index_template/_simulate", "indices:admin/index_template/simulate", &[SIMULATE]),
    route(Api::SimulateTemplate, &[Post], "/_index_template/_simulate/{name}", "indices:admin/index_template/simulate", &[SIMULATE]),
    route(Api::SimulateIndex, &[Post], "/_index_template/_simulate_index/{name}", "indices:admin/index_template/simulate_index", &[SIMULATE]),
    route(Api::PutTemplate(Component), &[Put, Post], "/_component_template/{name}", "cluster:admin/component_template/put", &[PUT_TEMPLATE, MASTER]),
    route(Api::GetTemplate(Component), &[Get], "/_component_template", "cluster:admin/component_template/get", &[GET_TEMPLATE, FILTERED]),
    route(Api::GetTemplate(Component), &[Get], "/_component_template/{name}", "cluster:admin/component_template/get", &[GET_TEMPLATE, FILTERED]),
    route(Api::ExistsTemplate(Component), &[Head], "/_component_template/{name}", "cluster:admin/component_template/get", &[GET_TEMPLATE]),
    route(Api::DeleteTemplate(Component), &[Delete], "/_component_template/{name}", "cluster:admin/component_template/delete", &[MASTER]),
    route(Api::PutTemplate(Legacy), &[Put, Post], "/_template/{name}", "indices:admin/template/put", &[PUT_LEGACY, MASTER]),
    route(Api::GetTemplate(Legacy), &[Get], "/_template", "indices:admin/template/get", &[GET_TEMPLATE]),
    route(Api::GetTemplate(Legacy), &[Get], "/_template/{name}", "indices:admin/template/get", &[GET_TEMPLATE]),
    route(Api::ExistsTemplate(Legacy), &[Head], "/_template/{name}", "indices:admin/template/get", &[GET_TEMPLATE]),
    route(Api::DeleteTemplate(Legacy), &[Delete], "/_template/{name}", "indices:admin/template/delete", &[MASTER]),

    route(Api::IndexStats, &[Get], "/_stats", "indices:monitor/stats", &[INDEX_STATS, INDICES]),
    route(Api::IndexStats, &[Get], "/_stats/{metric}", "indices:monitor/stats", &[INDEX_STATS, INDICES]),
    route(Api::IndexStats, &[Get], "/{index}/_stats", "indices:monitor/stats", &[INDEX_STATS, INDICES]),
    route(Api::IndexStats, &[Get], "/{index}/_stats/{metric}", "indices:monitor/stats", &[INDEX_STATS, INDICES]),
    route(Api::Segments, &[Get], "/_segments", "indices:monitor/segments", &[SEGMENTS, INDICES]),
    route(Api::Segments, &[Get], "/{index}/_segments", "indices:monitor/segments", &[SEGMENTS, INDICES]),
    route(Api::Recovery, &[Get], "/_recovery", "indices:monitor/recovery", &[RECOVERY, INDICES]),
    route(Api::Recovery, &[Get], "/{index}/_recovery", "indices:monitor/recovery", &[RECOVERY, INDICES]),
    route(Api::ShardStores, &[Get], "/_shard_stores", "indices:monitor/shard_stores", &[SHARD_STORES, INDICES]),
    route(Api::ShardStores, &[Get], "/{index}/_shard_stores", "indices:monitor/shard_stores", &[SHARD_STORES, INDICES]),
    route(Api::DiskUsage, &[Post], "/{index}/_disk_usage", "indices:admin/analyze_disk_usage", &[DISK_USAGE, INDICES]),
    route(Api::FieldUsage, &[Get], "/{index}/_field_usage_stats", "indices:monitor/field_usage_stats", &[FIELD_USAGE, INDICES]),
    route(Api::ClearCache, &[Post], "/_cache/clear", "indices:admin/cache/clear", &[CLEAR_CACHE, INDICES]),
    route(Api::ClearCache, &[Post], "/{index}/_cache/clear", "indices:admin/cache/clear", &[CLEAR_CACHE, INDICES]),
    route(Api::ResolveIndex, &[Get, Post], "/_resolve/index/{name}", "indices:admin/resolve/index", &[INDICES]),
    route(Api::FieldCaps, &[Get, Post], "/_field_caps", "indices:data/read/field_caps", &[FIELD_CAPS, INDICES, SOURCE]),
    route(Api::FieldCaps, &[Get, Post], "/{index}/_field_caps", "indices:data/read/field_caps", &[FIELD_CAPS, INDICES, SOURCE]),
    route(Api::ResolveCluster, &[Get], "/_resolve/cluster", "cluster:monitor/remote/info", &[RESOLVE_CLUSTER, INDICES]),
    route(Api::ResolveCluster, &[Get], "/_resolve/cluster/{name}", "indices:admin/resolve/cluster", &[RESOLVE_CLUSTER, INDICES]),
    route(Api::ReloadAnalyzers, &[Get, Post], "/{index}/_reload_search_analyzers", "indices:admin/reload_analyzers", &[RELOAD, INDICES]),
    route(Api::SearchShards, &[Get, Post], "/_search_shards", "indices:admin/shards/search_shards", &[SEARCH_SHARDS, INDICES]),
    route(Api::SearchShards, &[Get, Post], "/{index}/_search_shards", "indices:admin/shards/search_shards", &[SEARCH_SHARDS, INDICES]),
    route(Api::Resize(Clone), &[Put, Post], "/{index}/_clone/{target}", "indices:admin/resize", &[CREATE_INDEX, MASTER]),
    route(Api::Resize(Shrink), &[Put, Post], "/{index}/_shrink/{target}", "indices:admin/resize", &[CREATE_INDEX, MASTER]),
    route(Api::Resize(Split), &[Put, Post], "/{index}/_split/{target}", "indices:admin/resize", &[CREATE_INDEX, MASTER]),
    route(Api::Rollover, &[Post], "/{index}/_rollover", "indices:admin/rollover", &[ROLLOVER, CREATE_INDEX, MASTER]),
    route(Api::Rollover, &[Post], "/{index}/_rollover/{new_index}", "indices:admin/rollover", &[ROLLOVER, CREATE_INDEX, MASTER]),
    route(Api::CreateDataStream, &[Put], "/_data_stream/{name}", "indices:admin/data_stream/create", &[MASTER]),
    route(Api::GetDataStream, &[Get], "/_data_stream", "indices:admin/data_stream/get", &[DATA_STREAM]),
    route(Api::GetDataStream, &[Get], "/_data_stream/{name}", "indices:admin/data_stream/get", &[DATA_STREAM]),
    route(Api::DeleteDataStream, &[Delete], "/_data_stream/{name}", "indices:admin/data_stream/delete", &[DATA_STREAM]),
    route(Api::MigrateToDataStream, &[Post], "/_data_stream/_migrate/{name}", "indices:admin/data_stream/migrate", &[MASTER]),
    route(Api::ModifyDataStreams, &[Post], "/_data_stream/_modify", "indices:admin/data_stream/modify", &[]),
    route(Api::DataStreamStats, &[Get], "/_data_stream/_stats", "indices:monitor/data_stream/stats", &[DATA_STREAM]),
    route(Api::DataStreamStats, &[Get], "/_data_stream/{name}/_stats", "indices:monitor/data_stream/stats", &[DATA_STREAM]),
    route(Api::Refresh, &[Get, Post], "/_refresh", "indices:admin/refresh", &[INDICES]),
    route(Api::Refresh, &[Get, Post], "/{index}/_refresh", "indices:admin/refresh", &[INDICES]),
    route(Api::Flush, &[Get, Post], "/_flush", "indices:admin/flush", &[FLUSH, INDICES]),
    route(Api::Flush, &[Get, Post], "/{index}/_flush", "indices:admin/flush", &[FLUSH, INDICES]),
    route(Api::ForceMerge, &[Post], "/_forcemerge", "indices:admin/forcemerge", &[FORCE_MERGE, INDICES]),
    route(Api::ForceMerge, &[Post], "/{index}/_forcemerge", "indices:admin/forcemerge", &[FORCE_MERGE, INDICES]),
    route(Api::Analyze, &[Get, Post], "/_analyze", "indices:admin/analyze", &[ANALYZE, SOURCE]),
    route(Api::Analyze, &[Get, Post], "/{index}/_analyze", "indices:admin/analyze", &[ANALYZE, SOURCE]),

    route(Api::Health, &[Get], "/_cluster/health", "cluster:monitor/health", &[HEALTH, INDICES]),
    route(Api::Health, &[Get], "/_cluster/health/{index}", "cluster:monitor/health", &[HEALTH, INDICES]),
    route(Api::Cat, &[Get], "/_cat", "-", &[]),
    route(Api::CatTable(CatTable::Aliases), &[Get], "/_cat/aliases", "indices:admin/aliases/get", &[CAT, EXPAND]),
    route(Api::CatTable(CatTable::Aliases), &[Get], "/_cat/aliases/{name}", "indices:admin/aliases/get", &[CAT, EXPAND]),
    route(Api::CatTable(CatTable::Allocation), &[Get], "/_cat/allocation", "cluster:monitor/state", &[CAT]),
    route(Api::CatTable(CatTable::Allocation), &[Get], "/_cat/allocation/{node_id}", "cluster:monitor/state", &[CAT]),
    route(Api::CatTable(CatTable::ComponentTemplates), &[Get], "/_cat/component_templates", "cluster:admin/component_template/get", &[CAT]),
    route(Api::CatTable(CatTable::ComponentTemplates), &[Get], "/_cat/component_templates/{name}", "cluster:admin/component_template/get", &[CAT]),
    route(Api::CatTable(CatTable::Count), &[Get, Post], "/_cat/count", "indices:data/read/search", &[CAT, CAT_TS, WORDS, SOURCE]),
    route(Api::CatTable(CatTable::Count), &[Get, Post], "/_cat/count/{index}", "indices:data/read/search", &[CAT, CAT_TS, WORDS, SOURCE]),
    route(Api::CatTable(CatTable::Fielddata), &[Get], "/_cat/fielddata", "cluster:monitor/nodes/stats", &[CAT, CAT_FIELDDATA]),
    route(Api::CatTable(CatTable::Fielddata), &[Get], "/_cat/fielddata/{fields}", "cluster:monitor/nodes/stats", &[CAT, CAT_FIELDDATA]),
    route(Api::CatTable(CatTable::Health), &[Get], "/_cat/health", "cluster:monitor/health", &[CAT, CAT_TS]),
    route(Api::CatTable(CatTable::Indices), &[Get], "/_cat/indices", "indices:monitor/stats", &[CAT, CAT_INDICES, INDICES]),
    route(Api::CatTable(CatTable::Indices), &[Get], "/_cat/indices/{index}", "indices:monitor/stats", &[CAT, CAT_INDICES, INDICES]),
    route(Api::CatTable(CatTable::Master), &[Get], "/_cat/master", "cluster:monitor/state", &[CAT]),
    route(Api::CatTable(CatTable::NodeAttrs), &[Get], "/_cat/nodeattrs", "cluster:monitor/nodes/info", &[CAT]),
    route(Api::CatTable(CatTable::Nodes), &[Get], "/_cat/nodes", "cluster:monitor/nodes/stats", &[CAT, CAT_NODES]),
    route(Api::CatTable(CatTable::PendingTasks), &[Get], "/_cat/pending_tasks", "cluster:monitor/task", &[CAT]),
    route(Api::CatTable(CatTable::Plugins), &[Get], "/_cat/plugins", "cluster:monitor/nodes/info", &[CAT, CAT_PLUGINS]),
    route(Api::CatTable(CatTable::Recovery), &[Get], "/_cat/recovery", "indices:monitor/recovery", &[CAT, CAT_RECOVERY, INDICES]),
    route(Api::CatTable(CatTable::Recovery), &[Get], "/_cat/recovery/{index}", "indices:monitor/recovery", &[CAT, CAT_RECOVERY, INDICES]),
    route(Api::CatTable(CatTable::Repositories), &[Get], "/_cat/repositories", "cluster:admin/repository/get", &[CAT]),
    route(Api::CatTable(CatTable::Segments), &[Get], "/_cat/segments", "indices:monitor/segments", &[CAT, CAT_SEGMENTS, INDICES]),
    route(Api::CatTable(CatTable::Segments), &[Get], "/_cat/segments/{index}", "indices:monitor/segments", &[CAT, CAT_SEGMENTS, INDICES]),
    route(Api::CatTable(CatTable::Shards), &[Get], "/_cat/shards", "indices:monitor/stats", &[CAT]),
    route(Api::CatTable(CatTable::Shards), &[Get], "/_cat/shards/{index}", "indices:monitor/stats", &[CAT]),
    route(Api::CatTable(CatTable::Snapshots), &[Get], "/_cat/snapshots", "cluster:admin/snapshot/get", &[CAT, CAT_SNAPSHOTS]),
    route(Api::CatTable(CatTable::Snapshots), &[Get], "/_cat/snapshots/{repository}", "cluster:admin/snapshot/get", &[CAT, CAT_SNAPSHOTS]),
    route(Api::CatTable(CatTable::Tasks), &[Get], "/_cat/tasks", "cluster:monitor/tasks/lists", &[CAT, CAT_TASKS]),
    route(Api::CatTable(CatTable::Templates), &[Get], "/_cat/templates", "cluster:admin/indices/template/get", &[CAT]),
    route(Api::CatTable(CatTable::Templates), &[Get], "/_cat/templates/{name}", "cluster:admin/indices/template/get", &[CAT]),
    route(Api::CatTable(CatTable::ThreadPool), &[Get], "/_cat/thread_pool", "cluster:monitor/nodes/info", &[CAT]),
    route(Api::CatTable(CatTable::ThreadPool), &[Get], "/_cat/thread_pool/{thread_pool_patterns}", "cluster:monitor/nodes/info", &[CAT]),

    route(Api::ClusterState, &[Get], "/_cluster/state", "cluster:monitor/state", &[STATE, INDICES]),
    route(Api::ClusterState, &[Get], "/_cluster/state/{metric}", "cluster:monitor/state", &[STATE, INDICES]),
    route(Api::ClusterState, &[Get], "/_cluster/state/{metric}/{index}", "cluster:monitor/state", &[STATE, INDICES]),
    route(Api::ClusterStats, &[Get], "/_cluster/stats", "cluster:monitor/stats", &[CLUSTER_STATS]),
    route(Api::ClusterStats, &[Get], "/_cluster/stats/nodes/{node_id}", "cluster:monitor/stats", &[CLUSTER_STATS]),
    route(Api::GetClusterSettings, &[Get], "/_cluster/settings", "cluster:monitor/settings", &[GET_CLUSTER_SETTINGS]),
    route(Api::PutClusterSettings, &[Put], "/_cluster/settings", "cluster:admin/settings/update", &[PUT_CLUSTER_SETTINGS, MASTER]),
    route(Api::PendingTasks, &[Get], "/_cluster/pending_tasks", "cluster:monitor/task", &[WAITING]),
    route(Api::Reroute, &[Post], "/_cluster/reroute", "cluster:admin/reroute", &[REROUTE, MASTER, SOURCE]),
    route(Api::AllocationExplain, &[Get, Post], "/_cluster/allocation/explain", "cluster:monitor/allocation/explain", &[EXPLAIN_ALLOCATION, SOURCE]),
    route(Api::ExcludeVotes, &[Post], "/_cluster/voting_config_exclusions", "cluster:admin/voting_config/add_exclusions", &[EXCLUDE_VOTES, MASTER]),
    route(Api::IncludeVotes, &[Delete], "/_cluster/voting_config_exclusions", "cluster:admin/voting_config/clear_exclusions", &[INCLUDE_VOTES, MASTER]),
    route(Api::Shutdowns, &[Get], "/_nodes/shutdown", "cluster:admin/shutdown/get", &[MASTER]),
    route(Api::Shutdowns, &[Get], "/_nodes/{node_id}/shutdown", "cluster:admin/shutdown/get", &[MASTER]),
    route(Api::RemoteInfo, &[Get], "/_remote/info", "cluster:monitor/remote/info", &[]),
    route(Api::ClusterInfo, &[Get], "/_info/{target}", "cluster:monitor/nodes/info", &[]),
    route(Api::HealthReport, &[Get], "/_health_report", "cluster:monitor/health_api", &[HEALTH_REPORT]),
    route(Api::HealthReport, &[Get], "/_health_report/{feature}", "cluster:monitor/health_api", &[HEALTH_REPORT]),
    route(Api::Nodes, &[Get], "/_nodes", "cluster:monitor/nodes/info", &[NODES]),
    route(Api::Nodes, &[Get], "/_nodes/{node_id}", "cluster:monitor/nodes/info", &[NODES]),
    route(Api::Nodes, &[Get], "/_nodes/{node_id}/{metric}", "cluster:monitor/nodes/info", &[NODES]),
    route(Api::NodesStats, &[Get], "/_nodes/stats", "cluster:monitor/nodes/stats", &[NODES_STATS]),
    route(Api::NodesStats, &[Get], "/_nodes/stats/{metric}", "cluster:monitor/nodes/stats", &[NODES_STATS]),
    route(Api::NodesStats, &[Get], "/_nodes/stats/{metric}/{index_metric}", "cluster:monitor/nodes/stats", &[NODES_STATS]),
    route(Api::NodesStats, &[Get], "/_nodes/{node_id}/stats", "cluster:monitor/nodes/stats", &[NODES_STATS]),
    route(Api::NodesStats, &[Get], "/_nodes/{node_id}/stats/{metric}", "cluster:monitor/nodes/stats", &[NODES_STATS]),
    route(Api::NodesStats, &[Get], "/_nodes/{node_id}/stats/{metric}/{index_metric}", "cluster:monitor/nodes/stats", &[NODES_STATS]),
    route(Api::NodesUsage, &[Get], "/_nodes/usage", "cluster:monitor/nodes/usage", &[TIMEOUT]),
    route(Api::NodesUsage, &[Get], "/_nodes/usage/{metric}", "cluster:monitor/nodes/usage", &[TIMEOUT]),
    route(Api::NodesUsage, &[Get], "/_nodes/{node_id}/usage", "cluster:monitor/nodes/usage", &[TIMEOUT]),
    route(Api::NodesUsage, &[Get], "/_nodes/{node_id}/usage/{metric}", "cluster:monitor/nodes/usage", &[TIMEOUT]),
    route(Api::HotThreads, &[Get], "/_nodes/hot_threads", "cluster:monitor/nodes/hot_threads", &[HOT_THREADS]),
    route(Api::HotThreads, &[Get], "/_nodes/{node_id}/hot_threads", "cluster:monitor/nodes/hot_threads", &[HOT_THREADS]),
    route(Api::ReloadSecureSettings, &[Post], "/_nodes/reload_secure_settings", "cluster:admin/nodes/reload_secure_settings", &[TIMEOUT]),
    route(Api::ReloadSecureSettings, &[Post], "/_nodes/{node_id}/reload_secure_settings", "cluster:admin/nodes/reload_secure_settings", &[TIMEOUT]),
    route(Api::RepositoriesMetering, &[Get], "/_nodes/{node_id}/_repositories_metering", "cluster:monitor/xpack/repositories_metering/get_metrics", &[]),
    route(Api::RepositoriesMetering, &[Delete], "/_nodes/{node_id}/_repositories_metering/{max_archive_version}", "cluster:monitor/xpack/repositories_metering/clear_metrics", &[]),
    route(Api::License, &[Get], "/_license", "cluster:monitor/xpack/license/get", &[LICENSE]),
    route(Api::BasicStatus, &[Get], "/_license/basic_status", "cluster:monitor/xpack/license/get", &[]),
    route(Api::TrialStatus, &[Get], "/_license/trial_status", "cluster:monitor/xpack/license/get", &[]),
    route(Api::StartBasic, &[Post], "/_license/start_basic", "cluster:admin/xpack/license/start_basic", &[START_LICENSE, MASTER]),
    route(Api::Xpack, &[Get], "/_xpack", "cluster:monitor/xpack/info", &[XPACK]),
    route(Api::XpackUsage, &[Get], "/_xpack/usage", "cluster:monitor/xpack/usage", &[WAITING]),
    route(Api::SslCertificates, &[Get], "/_ssl/certificates", "cluster:monitor/xpack/ssl/certificates/get", &[]),
    route(Api::Features, &[Get], "/_features", "cluster:admin/features/get", &[WAITING]),
    route(Api::Prometheus, &[Get], "/_prometheus", "cluster:monitor/nodes/stats", &[]),

    route(Api::Security(Op::Authenticate), &[Get], "/_security/_authenticate", "-", &[]),
    route(Api::Security(Op::ChangePassword), &[Put, Post], "/_security/user/_password", "-", &[REFRESHED]),
    route(Api::Security(Op::ChangePassword), &[Put, Post], "/_security/user/{username}/_password", "cluster:admin/xpack/security/user/change_password", &[REFRESHED]),
    route(Api::Security(Op::GetUser), &[Get], "/_security/user", "cluster:admin/xpack/security/user/get", &[USERS]),
    route(Api::Security(Op::GetUser), &[Get], "/_security/user/{username}", "cluster:admin/xpack/security/user/get", &[USERS]),
    route(Api::Security(Op::PutUser), &[Put, Post], "/_security/user/{username}", "cluster:admin/xpack/security/user/put", &[REFRESHED]),
    route(Api::Security(Op::DeleteUser), &[Delete], "/_security/user/{username}", "cluster:admin/xpack/security/user/delete", &[REFRESHED]),
    route(Api::Security(Op::EnableUser), &[Put, Post], "/_security/user/{username}/_enable", "cluster:admin/xpack/security/user/set_enabled", &[REFRESHED]),
    route(Api::Security(Op::DisableUser), &[Put, Post], "/_security/user/{username}/_disable", "cluster:admin/xpack/security/user/set_enabled", &[REFRESHED]),
    route(Api::Security(Op::QueryUser), &[Get, Post], "/_security/_query/user", "cluster:admin/xpack/security/user/query", &[USERS]),
    route(Api::Security(Op::GetRole), &[Get], "/_security/role", "cluster:admin/xpack/security/role/get", &[NAMED]),
    route(Api::Security(Op::GetRole), &[Get], "/_security/role/{name}", "cluster:admin/xpack/security/role/get", &[]),
    route(Api::Security(Op::PutRole), &[Put, Post], "/_security/role/{name}", "cluster:admin/xpack/security/role/put", &[REFRESHED]),
    route(Api::Security(Op::DeleteRole), &[Delete], "/_security/role/{name}", "cluster:admin/xpack/security/role/delete", &[REFRESHED]),
    route(Api::Security(Op::BulkPutRole), &[Post], "/_security/role", "cluster:admin/xpack/security/role/bulk_put", &[REFRESHED]),
    route(Api::Security(Op::BulkDeleteRole), &[Delete], "/_security/role", "cluster:admin/xpack/security/role/bulk_delete", &[REFRESHED]),
    route(Api::Security(Op::QueryRole), &[Get, Post], "/_security/_query/role", "cluster:admin/xpack/security/role/query", &[]),
    route(Api::Security(Op::GetRoleMapping), &[Get], "/_security/role_mapping", "cluster:admin/xpack/security/role_mapping/get", &[NAMED]),
    route(Api::Security(Op::GetRoleMapping), &[Get], "/_security/role_mapping/{name}", "cluster:admin/xpack/security/role_mapping/get", &[]),
    route(Api::Security(Op::PutRoleMapping), &[Put, Post], "/_security/role_mapping/{name}", "cluster:admin/xpack/security/role_mapping/put", &[REFRESHED]),
    route(Api::Security(Op::DeleteRoleMapping), &[Delete], "/_security/role_mapping/{name}", "cluster:admin/xpack/security/role_mapping/delete", &[REFRESHED]),
    route(Api::Security(Op::BuiltinPrivileges), &[Get], "/_security/privilege/_builtin", "cluster:admin/xpack/security/privilege/builtin/get", &[]),
    route(Api::Security(Op::GetPrivileges), &[Get], "/_security/privilege", "cluster:admin/xpack/security/privilege/get", &[]),
    route(Api::Security(Op::GetPrivileges), &[Get], "/_security/privilege/{application}", "cluster:admin/xpack/security/privilege/get", &[]),
    route(Api::Security(Op::GetPrivileges), &[Get], "/_security/privilege/{application}/{name}", "cluster:admin/xpack/security/privilege/get", &[]),
    route(Api::Security(Op::PutPrivileges), &[Put, Post], "/_security/privilege", "cluster:admin/xpack/security/privilege/put", &[REFRESHED]),
    route(Api::Security(Op::DeletePrivileges), &[Delete], "/_security/privilege/{application}/{name}", "cluster:admin/xpack/security/privilege/delete", &[REFRESHED]),
    route(Api::Security(Op::HasPrivileges), &[Get, Post], "/_security/user/_has_privileges", "-", &[]),
    route(Api::Security(Op::HasPrivileges), &[Get, Post], "/_security/user/{user}/_has_privileges", "-", &[]),
    route(Api::Security(Op::UserPrivileges), &[Get], "/_security/user/_privileges", "-", &[]),
    route(Api::Security(Op::CreateApiKey), &[Put, Post], "/_security/api_key", "cluster:admin/xpack/security/api_key/create", &[REFRESHED]),
    route(Api::Security(Op::GetApiKey), &[Get], "/_security/api_key", "cluster:admin/xpack/security/api_key/get", &[API_KEYS]),
    route(Api::Security(Op::InvalidateApiKey), &[Delete], "/_security/api_key", "cluster:admin/xpack/security/api_key/invalidate", &[]),
    route(Api::Security(Op::GrantApiKey), &[Post], "/_security/api_key/grant", "cluster:admin/xpack/security/api_key/grant", &[REFRESHED]),
    route(Api::Security(Op::BulkUpdateApiKeys), &[Post], "/_security/api_key/_bulk_update", "cluster:admin/xpack/security/api_key/bulk_update", &[]),
    route(Api::Security(Op::UpdateApiKey), &[Put], "/_security/api_key/{id}", "cluster:admin/xpack/security/api_key/update", &[]),
    route(Api::Security(Op::QueryApiKeys), &[Get, Post], "/_security/_query/api_key", "cluster:admin/xpack/security/api_key/query", &[QUERY_KEYS]),
    route(Api::Security(Op::CreateCrossClusterApiKey), &[Post], "/_security/cross_cluster/api_key", "cluster:admin/xpack/security/cross_cluster/api_key/create", &[]),
    route(Api::Security(Op::UpdateCrossClusterApiKey), &[Put], "/_security/cross_cluster/api_key/{id}", "cluster:admin/xpack/security/cross_cluster/api_key/update", &[]),
    route(Api::Security(Op::GetToken), &[Post], "/_security/oauth2/token", "cluster:admin/xpack/security/token/create", &[]),
    route(Api::Security(Op::InvalidateToken), &[Delete], "/_security/oauth2/token", "cluster:admin/xpack/security/token/invalidate", &[]),
    route(Api::Security(Op::GetServiceAccounts), &[Get], "/_security/service", "cluster:admin/xpack/security/service_account/get", &[]),
    route(Api::Security(Op::GetServiceAccounts), &[Get], "/_security/service/{namespace}", "cluster:admin/xpack/security/service_account/get", &[]),
    route(Api::Security(Op::GetServiceAccounts), &[Get], "/_security/service/{namespace}/{service}", "cluster:admin/xpack/security/service_account/get", &[]),
    route(Api::Security(Op::GetServiceCredentials), &[Get], "/_security/service/{namespace}/{service}/credential", "cluster:admin/xpack/security/service_account/credential/get", &[]),
    route(Api::Security(Op::CreateServiceToken), &[Post], "/_security/service/{namespace}/{service}/credential/token", "cluster:admin/xpack/security/service_account/token/create", &[REFRESHED]),
    route(Api::Security(Op::CreateServiceToken), &[Put, Post], "/_security/service/{namespace}/{service}/credential/token/{name}", "cluster:admin/xpack/security/service_account/token/create", &[REFRESHED]),
    route(Api::Security(Op::DeleteServiceToken), &[Delete], "/_security/service/{namespace}/{service}/credential/token/{name}", "cluster:admin/xpack/security/service_account/token/delete", &[REFRESHED]),
    route(Api::Security(Op::ClearCache), &[Put, Post], "/_security/realm/{realms}/_clear_cache", "cluster:admin/xpack/security/realm/cache/clear", &[CLEAR_REALM]),
    route(Api::Security(Op::ClearCache), &[Put, Post], "/_security/role/{name}/_clear_cache", "cluster:admin/xpack/security/roles/cache/clear", &[]),
    route(Api::Security(Op::ClearCache), &[Put, Post], "/_security/privilege/{application}/_clear_cache", "cluster:admin/xpack/security/privilege/cache/clear", &[]),
    route(Api::Security(Op::ClearCache), &[Put, Post], "/_security/api_key/{ids}/_clear_cache", "cluster:admin/xpack/security/api_key/cache/clear", &[]),
    route(Api::Security(Op::ClearCache), &[Put, Post], "/_security/service/{namespace}/{service}/credential/token/{name}/_clear_cache", "cluster:admin/xpack/security/service_account/credential/cache/clear", &[]),
    route(Api::Security(Op::EnrollNode), &[Get], "/_security/enroll/node", "cluster:admin/xpack/security/enroll/node", &[]),
    route(Api::Security(Op::EnrollKibana), &[Get], "/_security/enroll/kibana", "cluster:admin/xpack/security/enroll/kibana", &[]),

    route(Api::Security(Op::ActivateProfile), &[Post], "/_security/profile/_activate", "cluster:admin/xpack/security/profile/activate", &[]),
    route(Api::Security(Op::GetProfile), &[Get], "/_security/profile/{uid}", "cluster:admin/xpack/security/profile/get", &[PROFILE]),
    route(Api::Security(Op::UpdateProfile), &[Put, Post], "/_security/profile/{uid}/_data", "cluster:admin/xpack/security/profile/put/data", &[REFRESHED, PROFILE_DATA]),
    route(Api::Security(Op::EnableProfile), &[Put, Post], "/_security/profile/{uid}/_enable", "cluster:admin/xpack/security/profile/set_enabled", &[REFRESHED]),
    route(Api::Security(Op::DisableProfile), &[Put, Post], "/_security/profile/{uid}/_disable", "cluster:admin/xpack/security/profile/set_enabled", &[REFRESHED]),
    route(Api::Security(Op::SuggestProfiles), &[Get, Post], "/_security/profile/_suggest", "cluster:admin/xpack/security/profile/suggest", &[PROFILE]),
    route(Api::Security(Op::ProfileHasPrivileges), &[Get, Post], "/_security/profile/_has_privileges", "cluster:admin/xpack/security/profile/has_privileges", &[]),

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

    #[test]
    fn only_what_changes_nothing_may_be_given_up() {
        let given_up = |api: Api| ROUTES.iter().filter(|it| it.api == api).all(Route::only_looks);
        for api in [Api::Search, Api::Count, Api::MultiSearch, Api::Health, Api::Task] {
            assert!(given_up(api), "{api:?}");
        }
        for api in [Api::Bulk, Api::Reindex, Api::OpenPointInTime, Api::ClearScroll, Api::Refresh] {
            assert!(!given_up(api), "{api:?}");
        }
        let writes =
            |route: &&Route| route.methods.contains(&Put) || route.methods.contains(&Delete);
        assert!(!ROUTES.iter().filter(writes).any(Route::only_looks));
    }

    /// What everybody may ask, or what asks the gate for each of its items.
    const FREE: &[&str] = &[
        "/favicon.ico",
        "/_cat",
        "/_security/_authenticate",
        "/_security/user/_password",
        "/_security/user/_has_privileges",
        "/_security/user/{user}/_has_privileges",
        "/_security/user/_privileges",
        "/{index}/{type}",
    ];

    #[test]
    fn what_a_scope_gives_of_each_route_is_told_to_owners() {
        use authz::oauth::part;
        for route in ROUTES.iter().filter(|route| route.is_of_indices()) {
            let (path, action) = (route.path, route.privilege);
            assert!(
                part::is_told(action) || part::HELPERS.contains(&action),
                "{path}: {action} is in no part"
            );
        }
    }

    #[test]
    fn each_route_asks_for_an_action_that_a_named_privilege_grants() {
        use authz::privilege::{Kind as Of, granting};
        for route in ROUTES {
            let (path, action) = (route.path, route.privilege);
            if action == "-" {
                assert!(FREE.contains(&path), "{path}: asks nobody");
                continue;
            }
            let is_index = action.starts_with("indices:") || action.starts_with("internal:");
            assert!(is_index || action.starts_with("cluster:"), "{path}: {action}");
            let mut named = granting(Of::Cluster, action);
            if is_index {
                named.extend(granting(Of::Index, action));
            }
            named.retain(|name| *name != "all");
            assert!(!named.is_empty(), "{path}: only `all` grants {action}");
        }
    }
}
