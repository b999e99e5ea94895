//! Columns of statistics: those of indices, shards and nodes alike.
//!
//! A flat table. A figure that nobody counts, since the thing it counts does not exist here (a
//! cache, a heap), is 0; `docs/api/no-effect.md` lists it.

use std::borrow::Cow;

use engine::ops::stats::Stats;

use crate::render::cat::{Cell, Column, Source};

/// One column: name, other names, words for `help`, cell.
type Entry = (&'static str, &'static [&'static str], &'static str, fn(&Stats) -> Cell);

/// All of them, in the order of indices.
#[rustfmt::skip]
const COLUMNS: &[Entry] = &[
    ("completion.size", &["cs", "completionSize"], "size of completion fields", |s| Cell::Bytes(s.loaded.values().map(|one| one.completion).sum())),
    ("fielddata.memory_size", &["fm", "fielddataMemory"], "memory of field data", |s| Cell::Bytes(s.loaded.values().map(|one| one.fielddata).sum())),
    ("fielddata.evictions", &["fe", "fielddataEvictions"], "field data given up", |_| Cell::Count(0)),
    ("query_cache.memory_size", &["qcm", "queryCacheMemory"], "memory of the query cache", |_| Cell::Bytes(0)),
    ("query_cache.evictions", &["qce", "queryCacheEvictions"], "queries given up by the cache", |_| Cell::Count(0)),
    ("query_cache.hit_count", &["qchc", "queryCacheHitCount"], "hits of the query cache", |_| Cell::Count(0)),
    ("query_cache.miss_count", &["qcmc", "queryCacheMissCount"], "misses of the query cache", |_| Cell::Count(0)),
    ("request_cache.memory_size", &["rcm", "requestCacheMemory"], "memory of the request cache", |s| Cell::Bytes(s.kept_answers.bytes)),
    ("request_cache.evictions", &["rce", "requestCacheEvictions"], "requests given up by the cache", |s| s.kept_answers.evicted.into()),
    ("request_cache.hit_count", &["rchc", "requestCacheHitCount"], "hits of the request cache", |s| s.kept_answers.found.into()),
    ("request_cache.miss_count", &["rcmc", "requestCacheMissCount"], "misses of the request cache", |s| s.kept_answers.missed.into()),
    ("flush.total", &["ft", "flushTotal"], "number of flushes", |s| s.shard.flush.count.into()),
    ("flush.total_time", &["ftt", "flushTotalTime"], "time spent in flush", |s| Cell::micros(s.shard.flush.time_us)),
    ("get.current", &["gc", "getCurrent"], "number of current get ops", |_| Cell::Count(0)),
    ("get.time", &["gti", "getTime"], "time spent in get", |s| Cell::micros(s.shard.get.time_us)),
    ("get.total", &["gto", "getTotal"], "number of get ops", |s| s.shard.get.count.into()),
    ("get.exists_time", &["geti", "getExistsTime"], "time spent in successful gets", |s| Cell::micros(s.shard.get.time_us.saturating_sub(s.shard.get_missing.time_us))),
    ("get.exists_total", &["geto", "getExistsTotal"], "number of successful gets", |s| s.shard.get.count.saturating_sub(s.shard.get_missing.count).into()),
    ("get.missing_time", &["gmti", "getMissingTime"], "time spent in failed gets", |s| Cell::micros(s.shard.get_missing.time_us)),
    ("get.missing_total", &["gmto", "getMissingTotal"], "number of failed gets", |s| s.shard.get_missing.count.into()),
    ("indexing.delete_current", &["idc", "indexingDeleteCurrent"], "number of current deletions", |s| s.shard.delete_current.into()),
    ("indexing.delete_time", &["idti", "indexingDeleteTime"], "time spent in deletions", |s| Cell::micros(s.shard.delete.time_us)),
    ("indexing.delete_total", &["idto", "indexingDeleteTotal"], "number of delete ops", |s| s.shard.delete.count.into()),
    ("indexing.index_current", &["iic", "indexingIndexCurrent"], "number of current indexing ops", |s| s.shard.index_current.into()),
    ("indexing.index_time", &["iiti", "indexingIndexTime"], "time spent in indexing", |s| Cell::micros(s.shard.index.time_us)),
    ("indexing.index_total", &["iito", "indexingIndexTotal"], "number of indexing ops", |s| s.shard.index.count.into()),
    ("indexing.index_failed", &["iif", "indexingIndexFailed"], "number of failed indexing ops", |s| (s.shard.refused_count + s.shard.conflict_count).into()),
    ("indexing.index_failed_due_to_version_conflict", &["iifvc", "indexingIndexFailedDueToVersionConflict"], "number of failed indexing ops due to version conflict", |s| s.shard.conflict_count.into()),
    ("merges.current", &["mc", "mergesCurrent"], "number of current merges", |s| s.shard.merge_current.into()),
    ("merges.current_docs", &["mcd", "mergesCurrentDocs"], "number of current merging docs", |s| s.shard.merge_current_docs.into()),
    ("merges.current_size", &["mcs", "mergesCurrentSize"], "size of current merges", |s| Cell::Bytes(s.shard.merge_current_bytes)),
    ("merges.total", &["mt", "mergesTotal"], "number of completed merge ops", |s| s.shard.merge.count.into()),
    ("merges.total_docs", &["mtd", "mergesTotalDocs"], "docs merged", |s| s.shard.merge_docs.into()),
    ("merges.total_size", &["mts", "mergesTotalSize"], "size merged", |s| Cell::Bytes(s.shard.merge_bytes)),
    ("merges.total_time", &["mtt", "mergesTotalTime"], "time spent in merges", |s| Cell::micros(s.shard.merge.time_us)),
    ("refresh.total", &["rto", "refreshTotal"], "total refreshes", |s| s.shard.refresh.count.into()),
    ("refresh.time", &["rti", "refreshTime"], "time spent in refreshes", |s| Cell::micros(s.shard.refresh.time_us)),
    ("refresh.external_total", &["rto", "refreshTotal"], "total external refreshes", |s| s.shard.refresh.count.into()),
    ("refresh.external_time", &["rti", "refreshTime"], "time spent in external refreshes", |s| Cell::micros(s.shard.refresh.time_us)),
    ("refresh.listeners", &["rli", "refreshListeners"], "number of pending refresh listeners", |s| s.shard.refresh_listener_count.into()),
    ("refresh.is_search_idle", &["rsi"], "nobody searched the shard for index.search.idle.after", |s| s.shard.is_search_idle.to_string().into()),
    ("search.fetch_current", &["sfc", "searchFetchCurrent"], "current fetch phase ops", |s| s.fetch.current.into()),
    ("search.fetch_time", &["sfti", "searchFetchTime"], "time spent in fetch phase", |s| Cell::micros(s.fetch.time_us)),
    ("search.fetch_total", &["sfto", "searchFetchTotal"], "total fetch ops", |s| s.fetch.count.into()),
    ("search.open_contexts", &["so", "searchOpenContexts"], "open search contexts", |s| s.open_contexts().into()),
    ("search.query_current", &["sqc", "searchQueryCurrent"], "current query phase ops", |s| s.query.current.into()),
    ("search.query_time", &["sqti", "searchQueryTime"], "time spent in query phase", |s| Cell::micros(s.query.time_us)),
    ("search.query_total", &["sqto", "searchQueryTotal"], "total query phase ops", |s| s.query.count.into()),
    ("search.scroll_current", &["scc", "searchScrollCurrent"], "open scroll contexts", |s| s.scroll.current.into()),
    ("search.scroll_time", &["scti", "searchScrollTime"], "time scroll contexts held open", |s| Cell::micros(s.scroll.time_us)),
    ("search.scroll_total", &["scto", "searchScrollTotal"], "completed scroll contexts", |s| s.scroll.count.into()),
    ("segments.count", &["sc", "segmentsCount"], "number of segments", |s| s.shard.segment_count.into()),
    ("segments.memory", &["sm", "segmentsMemory"], "memory used by segments", |_| Cell::Bytes(0)),
    ("segments.index_writer_memory", &["siwm", "segmentsIndexWriterMemory"], "memory used by index writer", |s| Cell::Bytes(s.shard.buffer_bytes)),
    ("segments.version_map_memory", &["svmm", "segmentsVersionMapMemory"], "memory used by version map", |s| Cell::Bytes(s.shard.version_bytes)),
    ("segments.fixed_bitset_memory", &["sfbm", "fixedBitsetMemory"], "memory of bit sets", |_| Cell::Bytes(0)),
    ("warmer.current", &["wc", "warmerCurrent"], "current warmer ops", |_| Cell::Count(0)),
    ("warmer.total", &["wto", "warmerTotal"], "total warmer ops", |_| Cell::Count(0)),
    ("warmer.total_time", &["wtt", "warmerTotalTime"], "time spent in warmers", |_| Cell::Nanos(0)),
    ("suggest.current", &["suc", "suggestCurrent"], "number of current suggest ops", |s| s.suggest.current.into()),
    ("suggest.time", &["suti", "suggestTime"], "time spent in suggest", |s| Cell::micros(s.suggest.time_us)),
    ("suggest.total", &["suto", "suggestTotal"], "number of suggest ops", |s| s.suggest.count.into()),
    ("bulk.total_operations", &["bto", "bulkTotalOperation", "bulkTotalOperations"], "number of bulk shard ops", |s| s.bulk.count.into()),
    ("bulk.total_time", &["btti", "bulkTotalTime"], "time spent in shard bulk", |s| Cell::micros(s.bulk.time_us)),
    ("bulk.total_size_in_bytes", &["btsi", "bulkTotalSizeInBytes"], "total size of shard bulk", |s| Cell::Bytes(s.bulk_bytes)),
    ("bulk.avg_time", &["bati", "bulkAvgTime"], "average time of shard bulk", |s| Cell::micros(s.bulk.time_us / s.bulk.count.max(1))),
    ("bulk.avg_size_in_bytes", &["basi", "bulkAvgSizeInBytes"], "average size of shard bulk", |s| Cell::Bytes(s.bulk_bytes / s.bulk.count.max(1))),
    ("dense_vector.value_count", &["dvc", "denseVectorCount"], "number of indexed dense vectors", |_| Cell::Count(0)),
    ("sparse_vector.value_count", &["svc", "sparseVectorCount"], "number of indexed sparse vectors", |_| Cell::Count(0)),
];

/// Whom columns are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum For {
    /// Indices: with a twin for primaries alone.
    Indices,
    /// Shards, before their sequence numbers.
    Shards,
    /// Shards, at the end.
    ShardsEnd,
    /// Nodes.
    Nodes,
}

impl For {
    fn has(self, name: &str) -> bool {
        let family = name.split('.').next().unwrap_or(name);
        match self {
            Self::Indices => !matches!(
                name,
                "query_cache.hit_count" | "query_cache.miss_count" | "refresh.is_search_idle"
            ),
            // Warmers stand behind the sequence numbers of shards.
            Self::Shards => {
                !matches!(family, "request_cache" | "suggest" | "warmer")
                    && !matches!(name, "query_cache.hit_count" | "query_cache.miss_count")
                    && !Self::ShardsEnd.has(name)
            }
            Self::ShardsEnd => {
                matches!(family, "bulk" | "dense_vector" | "sparse_vector")
                    || name == "refresh.is_search_idle"
            }
            Self::Nodes => {
                !matches!(family, "dense_vector" | "sparse_vector" | "warmer")
                    && name != "refresh.is_search_idle"
            }
        }
    }
}

/// The columns of statistics for such rows.
pub fn columns<R>(rows: For) -> Vec<Column<R>> {
    let mut columns = Vec::with_capacity(2 * COLUMNS.len());
    for (name, aliases, about, cell) in COLUMNS.iter().filter(|column| rows.has(column.0)) {
        let column = |name: Cow<'static, str>, aliases| Column {
            name,
            aliases,
            shown: false,
            right: true,
            about,
            source: Source::Stats(*cell),
        };
        columns.push(column(Cow::Borrowed(name), aliases));
        if rows == For::Indices {
            // A node alone holds primaries only, so both say the same.
            columns.push(column(Cow::Owned(format!("pri.{name}")), &[]));
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_given_once() {
        for rows in [For::Indices, For::Shards, For::ShardsEnd, For::Nodes] {
            let mut names: Vec<_> =
                columns::<()>(rows).into_iter().map(|column| column.name).collect();
            let count = names.len();
            names.sort();
            names.dedup();
            assert_eq!(names.len(), count);
        }
    }
}
