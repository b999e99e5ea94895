//! What the node tells about itself.

/// `GET /`, `_nodes/http`: fixed at start.
#[derive(Clone, Debug, Default)]
pub struct NodeInfo {
    /// Node name.
    pub name: String,
    /// Node id: 22 characters.
    pub id: String,
    /// Cluster name.
    pub cluster_name: String,
    /// Cluster uuid: 22 characters.
    pub cluster_uuid: String,
    /// Bound HTTP address, `127.0.0.1:9200`.
    pub http_address: String,
    /// Published transport address.
    pub transport_address: String,
    /// Start, milliseconds since 1970.
    pub started_ms: i64,
    /// Commit the program was built from.
    pub build_hash: String,
    /// Date of that commit, ISO 8601.
    pub build_date: String,
}

/// Colour of an index or of the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Health {
    /// All copies there.
    Green,
    /// Replicas missing.
    Yellow,
    /// A primary missing.
    Red,
}

impl Health {
    /// Elasticsearch's word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Green => "green",
            Self::Yellow => "yellow",
            Self::Red => "red",
        }
    }
}

/// Counts of one index for `_cluster/health` and `_cat/indices`.
#[derive(Clone, Debug)]
pub struct IndexRow {
    /// Its name.
    pub name: String,
    /// Unique id, text form.
    pub uuid: String,
    /// Colour.
    pub health: Health,
    /// Open or closed.
    pub open: bool,
    /// Hidden from wildcards.
    pub hidden: bool,
    /// Primary shards.
    pub primaries: u32,
    /// Replicas configured for each.
    pub replicas: u32,
    /// Primary shards that answer.
    pub active: u32,
    /// Primary shards that still recover.
    pub initializing: u32,
    /// Searchable documents.
    pub docs_count: u64,
    /// Deleted documents that segments still hold.
    pub docs_deleted: u64,
    /// Bytes of segments, in memory and on disk.
    pub store_bytes: u64,
    /// Created, milliseconds since 1970.
    pub created_ms: i64,
}

/// Answer of `_cluster/health`.
#[derive(Clone, Debug)]
pub struct HealthReply {
    /// Worst colour.
    pub status: Health,
    /// A wait ended without what it waited for.
    pub timed_out: bool,
    /// One an index, sorted by name.
    pub indices: Vec<IndexRow>,
}

/// What `_cluster/health` waits for.
#[derive(Clone, Debug, Default)]
pub struct HealthWait {
    /// At least this colour.
    pub status: Option<Health>,
    /// No shard initializing.
    pub no_initializing: bool,
    /// At least so many active shards.
    pub active_shards: Option<u32>,
    /// At most this long, in milliseconds.
    pub timeout_ms: u64,
}
