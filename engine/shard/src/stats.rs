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

/// Facts of one segment of a shard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SegmentStats {
    /// Its number.
    pub id: u64,
    /// Living documents.
    pub docs_count: u64,
    /// Deleted ones that it still holds.
    pub docs_deleted: u64,
    /// Its bytes.
    pub bytes: u64,
    /// A file holds it.
    pub committed: bool,
}

/// Counts of one shard; plain data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Searchable documents.
    pub docs_count: u64,
    /// Deleted documents that segments still hold.
    pub docs_deleted: u64,
    /// Bytes on disk: files of segments, and of their living documents; also those that the next flush removes.
    pub store_bytes: u64,
    /// Bytes of all segments, in memory and on disk.
    pub segment_bytes: u64,
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
    /// Of the manifest that it stands on: rises with each, also over restarts.
    pub commit_generation: u64,
    /// Documents that it knows as living.
    pub commit_docs_count: u64,
    /// Operations that index a document.
    pub index: Work,
    /// Operations that delete one.
    pub delete: Work,
    /// Updates that changed nothing.
    pub noop_update_count: u64,
    /// Operations under way that are to index a document, or to update one: not answered yet.
    pub index_current: u64,
    /// Those that are to delete one.
    pub delete_current: u64,
    /// Operations refused for want of room.
    pub refused_count: u64,
    /// Documents that were not indexed, since another version stood there than was asked for.
    pub conflict_count: u64,
    /// Gets.
    pub get: Work,
    /// Gets that found nothing.
    pub get_missing: Work,
    /// Refreshes.
    pub refresh: Work,
    /// Flushes.
    pub flush: Work,
    /// Flushes that were begun since the log had grown long.
    pub flush_periodic_count: u64,
    /// Merges.
    pub merge: Work,
    /// Merges that run.
    pub merge_current: u64,
    /// Documents in the segments that they read.
    pub merge_current_docs: u64,
    /// Bytes of those segments.
    pub merge_current_bytes: u64,
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
    /// Bytes of what is remembered of deletes, and of operations under way.
    pub version_bytes: u64,
    /// Writers that wait for a refresh.
    pub refresh_listener_count: u64,
    /// Nobody has searched it for `index.search.idle.after`.
    pub is_search_idle: bool,
}

impl Stats {
    /// What only grows as long as the shard is open; all else is 0.
    #[must_use]
    pub fn counters(&self) -> Self {
        Self {
            index: self.index,
            delete: self.delete,
            noop_update_count: self.noop_update_count,
            refused_count: self.refused_count,
            conflict_count: self.conflict_count,
            get: self.get,
            get_missing: self.get_missing,
            refresh: self.refresh,
            flush: self.flush,
            flush_periodic_count: self.flush_periodic_count,
            merge: self.merge,
            merge_docs: self.merge_docs,
            merge_bytes: self.merge_bytes,
            ..Self::default()
        }
    }
}

impl std::ops::AddAssign<&Stats> for Stats {
    /// Sums of two shards; of sequence numbers and generations, which no two share, the first one's stay.
    fn add_assign(&mut self, other: &Self) {
        let Self {
            docs_count,
            docs_deleted,
            store_bytes,
            segment_bytes,
            segment_count,
            segment_count_unflushed,
            seq_no_max: _,
            seq_no_applied: _,
            seq_no_visible: _,
            primary_term: _,
            commit_generation: _,
            commit_docs_count,
            index,
            delete,
            noop_update_count,
            index_current,
            delete_current,
            refused_count,
            conflict_count,
            get,
            get_missing,
            refresh,
            flush,
            flush_periodic_count,
            merge,
            merge_current,
            merge_current_docs,
            merge_current_bytes,
            merge_docs,
            merge_bytes,
            log_bytes,
            log_operations,
            buffer_bytes,
            version_bytes,
            refresh_listener_count,
            is_search_idle: _,
        } = self;
        for (sum, one) in [
            (docs_count, other.docs_count),
            (docs_deleted, other.docs_deleted),
            (commit_docs_count, other.commit_docs_count),
            (store_bytes, other.store_bytes),
            (segment_bytes, other.segment_bytes),
            (segment_count, other.segment_count),
            (segment_count_unflushed, other.segment_count_unflushed),
            (noop_update_count, other.noop_update_count),
            (index_current, other.index_current),
            (delete_current, other.delete_current),
            (flush_periodic_count, other.flush_periodic_count),
            (refused_count, other.refused_count),
            (conflict_count, other.conflict_count),
            (merge_current, other.merge_current),
            (merge_current_docs, other.merge_current_docs),
            (merge_current_bytes, other.merge_current_bytes),
            (merge_docs, other.merge_docs),
            (merge_bytes, other.merge_bytes),
            (log_bytes, other.log_bytes),
            (log_operations, other.log_operations),
            (buffer_bytes, other.buffer_bytes),
            (version_bytes, other.version_bytes),
            (refresh_listener_count, other.refresh_listener_count),
        ] {
            *sum += one;
        }
        for (sum, one) in [
            (index, other.index),
            (delete, other.delete),
            (get, other.get),
            (get_missing, other.get_missing),
            (refresh, other.refresh),
            (flush, other.flush),
            (merge, other.merge),
        ] {
            *sum += one;
        }
    }
}
