//! What may be set for one shard, and changed while it runs.

use std::time::Duration;

/// When an acknowledged operation is on stable storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Before the acknowledgement.
    #[default]
    Request,
    /// At most [`ShardConfig::sync_interval`] after it.
    Async,
}

/// How often new operations become searchable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RefreshInterval {
    /// Not set: every second, but not while nobody searches.
    #[default]
    Unset,
    /// Set: at this interval, whether or not anybody searches.
    Every(Duration),
    /// Set to -1: only where asked for.
    Never,
}

impl RefreshInterval {
    /// The interval used where none is set.
    pub const DEFAULT: Duration = Duration::from_secs(1);

    /// The time between two refreshes, where there are any.
    pub fn period(self) -> Option<Duration> {
        match self {
            Self::Unset => Some(Self::DEFAULT),
            Self::Every(period) => Some(period),
            Self::Never => None,
        }
    }
}

/// Settings of merging: those of Lucene's TieredMergePolicy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MergeConfig {
    /// Segments that may stand on one tier before some are merged.
    pub segments_per_tier: u32,
    /// Most segments merged at once.
    pub merge_at_once_max: u32,
    /// No merge makes a segment above this (but for a forced one).
    pub segment_bytes_max: u64,
    /// Smaller segments count as this large.
    pub floor_bytes: u64,
    /// Share of deleted documents, in percent, that is let stand.
    pub deletes_percent_allowed: f64,
    /// Share of deleted documents, in percent, up to which a segment is let stand where it is asked
    /// to drop deletes.
    pub expunge_percent_allowed: f64,
}

impl Default for MergeConfig {
    fn default() -> Self {
        Self {
            segments_per_tier: 10,
            merge_at_once_max: 10,
            segment_bytes_max: 5 << 30,
            floor_bytes: 2 << 20,
            deletes_percent_allowed: 20.0,
            expunge_percent_allowed: 10.0,
        }
    }
}

/// Settings of one shard.
#[derive(Clone, Debug, PartialEq)]
pub struct ShardConfig {
    /// `index.refresh_interval`.
    pub refresh_interval: RefreshInterval,
    /// `index.search.idle.after`: without a search for so long, a shard whose interval is not set
    /// stops refreshing.
    pub idle_after: Duration,
    /// `index.translog.durability`.
    pub durability: Durability,
    /// `index.translog.sync_interval`: how late an `async` acknowledgement may be durable.
    pub sync_interval: Duration,
    /// Size of the log's files while little is written.
    pub log_file_bytes_min: u64,
    /// Size up to which they grow while much is written.
    pub log_file_bytes_max: u64,
    /// `index.translog.flush_threshold_size`: a longer log is flushed.
    pub flush_log_bytes: u64,
    /// `index.flush_after_merge`: more than so much of files that merges made needless is removed by a flush.
    pub obsolete_bytes_max: u64,
    /// A shard that took nothing for so long is flushed, so that it opens at once.
    pub flush_idle_after: Duration,
    /// `index.max_refresh_listeners`: when more wait, a refresh is forced.
    pub refresh_listeners_max: usize,
    /// `index.gc_deletes`: how long the version of a deleted document is remembered.
    pub gc_deletes: Duration,
    /// A buffer above this is refreshed before its time.
    pub buffer_bytes_max: usize,
    /// A buffer up to this is sealed on the spot: a worker would take longer to answer.
    pub seal_inline_bytes_max: usize,
    /// Segments that wait in memory for a flush may take so much.
    pub unflushed_bytes_max: usize,
    /// Merging.
    pub merge: MergeConfig,
}

impl Default for ShardConfig {
    fn default() -> Self {
        Self {
            refresh_interval: RefreshInterval::Unset,
            idle_after: Duration::from_secs(30),
            durability: Durability::Request,
            sync_interval: Duration::from_secs(5),
            log_file_bytes_min: 256 << 10,
            log_file_bytes_max: 64 << 20,
            flush_log_bytes: 128 << 20,
            obsolete_bytes_max: 64 << 20,
            flush_idle_after: Duration::from_secs(300),
            refresh_listeners_max: 1000,
            gc_deletes: Duration::from_secs(60),
            buffer_bytes_max: 48 << 20,
            seal_inline_bytes_max: 48 << 10,
            unflushed_bytes_max: 64 << 20,
            merge: MergeConfig::default(),
        }
    }
}
