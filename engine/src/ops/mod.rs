//! Operations: what `net` may ask of a core. Requests and answers are plain data.
//!
//! Each is a method of [`crate::Core`]; any core takes any request. The file of a family holds its
//! requests, answers and work.

pub mod admin;
mod aggregate;
pub mod alias;
pub(crate) mod alias_filter;
mod alone;
pub mod analyze;
pub(crate) mod answers;
mod around;
mod blind;
pub mod bulk;
pub mod by_query;
pub mod cluster_settings;
pub mod context;
pub mod create;
pub mod data_stream;
mod deprecated;
mod dfs;
pub mod document;
pub mod dotted;
mod effort;
pub mod explain;
pub(crate) mod failure;
mod family;
pub mod field_caps;
pub mod field_sizes;
pub mod field_uses;
mod filters;
mod footprint;
pub mod get;
pub mod groups;
pub mod hidden_names;
pub mod index_settings;
mod judge;
pub(crate) mod kept;
mod late;
pub(crate) mod limited;
mod lookup;
mod made;
mod meaning;
mod meet;
pub mod mustache;
pub(crate) mod node_stats;
pub mod observe;
mod prepare;
mod reached;
pub mod reading;
pub mod resize;
pub mod resolve_index;
mod resting;
pub(crate) mod rolling;
pub mod rollover;
pub mod script;
pub mod scroll;
pub mod search;
pub mod search_uses;
pub mod simulate;
mod since;
mod skip;
mod sliced;
pub(crate) mod slices;
pub(crate) mod slow;
pub mod stats;
pub mod suggest;
pub mod template;
pub mod vectors;
mod weigh;
mod widened;

use crate::host::call::{Ask, Down};

/// How an expression of index names is read: `ignore_unavailable`, `allow_no_indices`,
/// `expand_wildcards`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndicesOptions {
    /// Missing or closed concrete names are passed over.
    pub ignore_unavailable: bool,
    /// A wildcard that matches nothing is fine.
    pub allow_no_indices: bool,
    /// Wildcards match open indices.
    pub expand_open: bool,
    /// Wildcards match closed indices.
    pub expand_closed: bool,
    /// Wildcards match hidden indices.
    pub expand_hidden: bool,
}

impl Default for IndicesOptions {
    fn default() -> Self {
        Self {
            ignore_unavailable: false,
            allow_no_indices: true,
            expand_open: true,
            expand_closed: false,
            expand_hidden: false,
        }
    }
}

/// `refresh` of a write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Refresh {
    /// Searchable when the interval says so.
    #[default]
    No,
    /// Answer after a refresh forced now.
    Now,
    /// Answer after the next refresh.
    Wait,
}

/// `_shards` of an answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shards {
    /// Copies asked for (of a broadcast: configured copies).
    pub total: u32,
    /// Copies that did it.
    pub successful: u32,
    /// Copies passed over because they could not match.
    pub skipped: u32,
    /// Copies that failed.
    pub failed: u32,
    /// One entry a failed shard: shard number, index, why.
    pub failures: Vec<ShardFailure>,
}

impl Shards {
    /// Counts those of another index too.
    fn add(&mut self, mut other: Self) {
        self.total += other.total;
        self.successful += other.successful;
        self.skipped += other.skipped;
        self.failed += other.failed;
        self.failures.append(&mut other.failures);
    }

    /// One that was counted gave no answer. That it is not there is no failure: as in Elasticsearch such a one
    /// counts in `total` alone.
    fn miss(&mut self, after: &cluster::State, index: &cluster::Index, shard: u32, down: &Down) {
        if down.is_absent() {
            return;
        }
        let reason = down.error(after, index, shard, Ask::Read);
        self.failed += 1;
        let index = index.name.to_string();
        self.failures.push(ShardFailure { shard, index, node: None, reason });
    }
}

/// Why one shard failed.
#[derive(Clone, Debug, PartialEq)]
pub struct ShardFailure {
    /// Number of the shard.
    pub shard: u32,
    /// Its index; empty where the search that knew it is gone.
    pub index: String,
    /// Id of the node that failed, which the outermost answer names; `None` before.
    pub node: Option<String>,
    /// Why.
    pub reason: crate::Error,
}
