//! Counts of one shard, for `_stats`, `_cat` and tests.

/// How often a kind of work was done, and how long it took in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Times done.
    pub count: u64,
    /// Microseconds in all.
    pub time_us: u64,
}

impl std::ops::AddAssign for Work {
    fn add_assign(&mut self, other: Self) {
        self.count += other.count;
        self.time_us += other.time_us;
    }
}

/// Counts of one shard; plain data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Searchable documents.
    pub docs_count: u64,
    /// Deleted documents that segments still hold.
    pub docs_deleted: u64,
    /// Bytes of all segments, in memory and on disk.
    pub store_bytes: u64,
    /// Segments of the view.
    pub segment_count: u64,
    /// Segments that only memory and the log hold.
    pub segment_count_unflushed: u64,
    /// Highest sequence number given; `None` before the first.
    pub seq_no_max: Option<u64>,
    /// All up to here is durable and applied.
    pub seq_no_applied: Option<u64>,
    /// All up to here is searchable.
    pub seq_no_visible: Option<u64>,
    /// The reign.
    pub primary_term: u64,
    /// Operations that index a document.
    pub index: Work,
    /// Operations that delete one.
    pub delete: Work,
    /// Operations refused.
    pub refused_count: u64,
    /// Gets.
    pub get: Work,
    /// Gets that found nothing.
    pub get_missing_count: u64,
    /// Refreshes.
    pub refresh: Work,
    /// Flushes.
    pub flush: Work,
    /// Merges.
    pub merge: Work,
    /// Documents merged.
    pub merge_docs: u64,
    /// Bytes read by merges.
    pub merge_bytes: u64,
    /// Bytes of the log that a flush would free.
    pub log_bytes: u64,
    /// Operations of the log that a flush would free.
    pub log_operations: u64,
    /// Bytes of the buffer, and of segments that wait in memory for a flush.
    pub buffer_bytes: u64,
    /// Writers that wait for a refresh.
    pub refresh_listener_count: u64,
}
