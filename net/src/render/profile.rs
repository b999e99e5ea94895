//! How long the parts of a search took, in the shape of Elasticsearch's profiles.
//!
//! What is measured: making weights (`create_weight`), running the query (`next_doc`: finding,
//! scoring and keeping hits, which windows do together), and fetching. Parts of Lucene's that have
//! no counterpart here are 0.

use std::time::Duration;

use engine::ops::search::ShardProfile;
use json::Writer;

/// What Lucene tells apart.
const PARTS: [&str; 10] = [
    "set_min_competitive_score",
    "match",
    "shallow_advance",
    "next_doc",
    "score",
    "compute_max_score",
    "advance",
    "count_weight",
    "create_weight",
    "build_scorer",
];

/// `{"shards":[…]}`.
pub fn profile(writer: &mut Writer<'_>, shards: &[ShardProfile], node: &str) {
    writer.begin_object().key("shards").begin_array();
    for one in shards {
        let (index, shard) = (&one.index, one.shard);
        writer.begin_object().field_str("id", &format!("[{node}][{index}][{shard}]"));
        writer.field_str("node_id", node).field_u64("shard_id", u64::from(shard));
        writer.field_str("index", index).field_str("cluster", "(local)");
        writer.key("searches").begin_array().begin_object();
        writer.key("query").begin_array().begin_object();
        writer.field_str("type", one.kind).field_str("description", &one.description);
        writer.field_u64("time_in_nanos", nanos(one.weigh + one.search));
        breakdown(writer, one);
        writer.end_object().end_array();
        writer.field_u64("rewrite_time", nanos(one.weigh));
        writer.key("collector").begin_array().begin_object();
        writer.field_str("name", "QueryPhaseCollector");
        writer.field_str("reason", "search_query_phase");
        writer.field_u64("time_in_nanos", nanos(one.search));
        writer.end_object().end_array();
        writer.end_object().end_array();
        writer.key("aggregations").begin_array().end_array();
        if let Some(fetch) = one.fetch {
            writer.key("fetch").begin_object();
            writer.field_str("type", "fetch").field_str("description", "");
            writer.field_u64("time_in_nanos", nanos(fetch));
            writer.key("breakdown").begin_object().end_object();
            writer.end_object();
        }
        writer.end_object();
    }
    writer.end_array().end_object();
}

fn breakdown(writer: &mut Writer<'_>, one: &ShardProfile) {
    writer.key("breakdown").begin_object();
    for part in PARTS {
        let (time, count) = match part {
            "create_weight" => (nanos(one.weigh), 1),
            "next_doc" => (nanos(one.search), one.count),
            _ => (0, 0),
        };
        writer.field_u64(part, time).field_u64(&format!("{part}_count"), count);
    }
    writer.end_object();
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
