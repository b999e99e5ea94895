//! What answers each route, and whether it reads a body.

use crate::rest::security::Op;

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
    Update,
    DeleteDocument,
    MultiGet,
    Search,
    MultiSearch,
    SearchTemplate,
    RenderTemplate,
    MultiSearchTemplate,
    PutScript,
    GetScript,
    DeleteScript,
    ExecuteScript,
    ScriptLanguages,
    ScriptContexts,
    RankEval,
    Scroll,
    ClearScroll,
    OpenPointInTime,
    ClosePointInTime,
    DeleteByQuery,
    UpdateByQuery,
    Reindex,
    Rethrottle,
    Tasks,
    Task,
    CancelTasks,
    Count,
    TermVectors,
    MultiTermVectors,
    Explain,
    Validate,
    CreateIndex,
    GetIndex,
    ExistsIndex,
    DeleteIndex,
    GetMapping,
    PutMapping,
    GetSettings,
    PutSettings,
    GetFieldMapping,
    CloseIndex,
    OpenIndex,
    Unfreeze,
    AddBlock,
    GetAlias,
    ExistsAlias,
    PutAlias,
    DeleteAlias,
    UpdateAliases,
    PutTemplate(cluster::TemplateKind),
    GetTemplate(cluster::TemplateKind),
    ExistsTemplate(cluster::TemplateKind),
    DeleteTemplate(cluster::TemplateKind),
    SimulateTemplate,
    SimulateIndex,
    IndexStats,
    Segments,
    Recovery,
    ShardStores,
    DiskUsage,
    FieldUsage,
    ClearCache,
    ResolveIndex,
    ResolveCluster,
    ReloadAnalyzers,
    SearchShards,
    FieldCaps,
    Resize(engine::ops::resize::Resize),
    Rollover,
    CreateDataStream,
    GetDataStream,
    DeleteDataStream,
    DataStreamStats,
    MigrateToDataStream,
    ModifyDataStreams,
    Refresh,
    Flush,
    ForceMerge,
    Analyze,
    Health,
    ClusterState,
    ClusterStats,
    ClusterInfo,
    GetClusterSettings,
    PutClusterSettings,
    PendingTasks,
    Reroute,
    AllocationExplain,
    ExcludeVotes,
    IncludeVotes,
    RemoteInfo,
    Shutdowns,
    HealthReport,
    NodesStats,
    NodesUsage,
    HotThreads,
    ReloadSecureSettings,
    RepositoriesMetering,
    Xpack,
    XpackUsage,
    SslCertificates,
    Features,
    BasicStatus,
    TrialStatus,
    StartBasic,
    Prometheus,
    Cat,
    CatTable(CatTable),
    /// `_security`.
    Security(Op),
    Nodes,
    License,
    Favicon,
    /// A path of Elasticsearch 7 whose method is known and whose handler is gone.
    Typed,
}

impl Api {
    /// It reads the request's body. Who sends one to another call is told so: what was meant would not be
    /// done.
    pub const fn takes_body(self) -> bool {
        use Api::*;
        matches!(
            self,
            AllocationExplain
                | Analyze
                | Bulk
                | CatTable(self::CatTable::Count)
                | ClearScroll
                | ClosePointInTime
                | Count
                | Create
                | CreateIndex
                | DeleteByQuery
                | ExecuteScript
                | Explain
                | FieldCaps
                | Index
                | IndexAutoId
                | ModifyDataStreams
                | MultiGet
                | MultiSearch
                | MultiSearchTemplate
                | MultiTermVectors
                | OpenPointInTime
                | PutAlias
                | PutClusterSettings
                | PutMapping
                | PutScript
                | PutSettings
                | PutTemplate(_)
                | RankEval
                | Reindex
                | ReloadSecureSettings
                | RenderTemplate
                | Reroute
                | Resize(_)
                | Rollover
                | Scroll
                | Search
                | SearchTemplate
                | Security(_)
                | SimulateIndex
                | SimulateTemplate
                | TermVectors
                | Typed
                | Update
                | UpdateAliases
                | UpdateByQuery
                | Validate
        )
    }

    /// Its body holds requests, each of which is answered by itself.
    pub const fn has_items(self) -> bool {
        use Api::*;
        matches!(self, Bulk | MultiGet | MultiSearch | MultiSearchTemplate | MultiTermVectors)
    }

    /// Its body is a sequence of values, in JSON a line each.
    pub const fn takes_lines(self) -> bool {
        matches!(self, Self::Bulk | Self::MultiSearch | Self::MultiSearchTemplate)
    }
}

/// A table of `_cat`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named as in Elasticsearch's specification")]
pub enum CatTable {
    Aliases,
    Allocation,
    ComponentTemplates,
    Count,
    Fielddata,
    Health,
    Indices,
    Master,
    NodeAttrs,
    Nodes,
    PendingTasks,
    Plugins,
    Recovery,
    Repositories,
    Segments,
    Shards,
    Snapshots,
    Tasks,
    Templates,
    ThreadPool,
}
