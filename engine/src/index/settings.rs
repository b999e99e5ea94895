//! Index settings as a shard reads them.

use cluster::IndexSettings;
use shard::{Durability, MergeConfig, RefreshInterval, ShardConfig};

/// The shard's part of an index's settings; what is not set has the shard's default.
pub(crate) fn shard_config(settings: &IndexSettings) -> ShardConfig {
    let default = ShardConfig::default();
    let time = |name: &str| settings.time(name).flatten();
    ShardConfig {
        refresh_interval: match settings.time("index.refresh_interval") {
            None => RefreshInterval::Unset,
            Some(None) => RefreshInterval::Never,
            Some(Some(period)) => RefreshInterval::Every(period),
        },
        idle_after: time("index.search.idle.after").unwrap_or(default.idle_after),
        durability: match settings
            .text("index.translog.durability")
            .map(str::to_ascii_lowercase)
            .as_deref()
        {
            Some("async") => Durability::Async,
            _ => Durability::Request,
        },
        sync_interval: time("index.translog.sync_interval").unwrap_or(default.sync_interval),
        flush_log_bytes: settings
            .bytes("index.translog.flush_threshold_size")
            .unwrap_or(default.flush_log_bytes),
        obsolete_bytes_max: settings
            .bytes("index.flush_after_merge")
            .unwrap_or(default.obsolete_bytes_max),
        refresh_listeners_max: settings
            .int("index.max_refresh_listeners")
            .map_or(default.refresh_listeners_max, |count| count as usize),
        gc_deletes: time("index.gc_deletes").unwrap_or(default.gc_deletes),
        merge: MergeConfig {
            segments_per_tier: settings
                .text("index.merge.policy.segments_per_tier")
                .and_then(|text| text.parse::<f64>().ok())
                .map_or(default.merge.segments_per_tier, |count| count.max(2.0) as u32),
            // None at all stands for what is not set, as in Elasticsearch.
            segment_bytes_max: settings
                .bytes("index.merge.policy.max_merged_segment")
                .filter(|bytes| *bytes > 0)
                .unwrap_or(default.merge.segment_bytes_max),
            floor_bytes: settings
                .bytes("index.merge.policy.floor_segment")
                .unwrap_or(default.merge.floor_bytes),
            merge_at_once_max: settings
                .int("index.merge.policy.max_merge_at_once")
                .map_or(default.merge.merge_at_once_max, |count| count.max(2) as u32),
            deletes_percent_allowed: settings
                .text("index.merge.policy.deletes_pct_allowed")
                .and_then(|text| text.parse::<f64>().ok())
                .unwrap_or(default.merge.deletes_percent_allowed),
            expunge_percent_allowed: settings
                .text("index.merge.policy.expunge_deletes_allowed")
                .and_then(|text| text.parse::<f64>().ok())
                .unwrap_or(default.merge.expunge_percent_allowed),
        },
        ..default
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_largest_segment_of_nothing_is_not_set() {
        let merged = |said: &str| {
            let text = format!(r#"{{"index.merge.policy.max_merged_segment":"{said}"}}"#);
            let settings = json::parse(text.as_bytes()).expect("JSON");
            let settings = IndexSettings::parse(&settings).expect("a size");
            shard_config(&settings).merge.segment_bytes_max
        };
        assert_eq!(merged("0"), MergeConfig::default().segment_bytes_max);
        assert_eq!(merged("0b"), MergeConfig::default().segment_bytes_max);
        assert_eq!(merged("7mb"), 7 << 20);
    }
}
