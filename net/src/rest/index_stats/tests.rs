//! The size of the answer to `_stats`.

use std::sync::Arc;

use engine::ops::observe::Health;

use super::*;

/// Indices of one shard each, of the same figures.
fn rows(count: u8) -> Vec<IndexStats> {
    let mut state = cluster::State::default();
    for number in 0..count {
        let new = cluster::NewIndex::new(&format!("index-{number}"), [number; 16], 5);
        state = cluster::apply(&state, &cluster::Command::CreateIndex(new)).0;
    }
    let stats = || ShardStats { number: 0, standing: Standing::Started(Box::default()) };
    let row = |index: &Arc<cluster::Index>| IndexStats {
        index: Arc::clone(index),
        health: Health::Green,
        shards: vec![stats()],
    };
    state.indices.values().map(row).collect()
}

/// Each index once reserved 8 KiB whatever was asked, and the answer to a sum of many was refused for want
/// of memory.
#[test]
fn an_answer_holds_little_more_than_what_is_written() {
    let rows = rows(100);
    let config = Config::new(1, "/data");
    for sections in [Sections::ALL, Sections::of(["docs"]).expect("known")] {
        for level in ["cluster", "indices", "shards"] {
            let wanted = Wish { sections, fields: FieldWish::default(), human: false };
            let out = body(&rows, level, &wanted, &config);
            json::parse(&out).expect("JSON");
            let most = 2 * out.len() + 1_024;
            assert!(out.capacity() <= most, "{level}: {} of {}", out.len(), out.capacity());
        }
    }
}

/// The figures are written once, and shown in both places.
#[test]
fn figures_of_a_shard_stand_among_what_it_says_else() {
    let config = Config::new(1, "/data");
    let sections = Sections::of(["docs"]).expect("known");
    let wanted = Wish { sections, fields: FieldWish::default(), human: false };
    let told = json::parse(&body(&rows(1), "shards", &wanted, &config)).expect("JSON");
    let docs = told.at(&["_all", "primaries", "docs", "count"]);
    assert_eq!(docs.and_then(json::Value::as_u64), Some(0));
    let index = told.at(&["indices", "index-0"]).expect("there");
    assert_eq!(index.get("primaries"), index.get("total"));
    let shard = &index.at(&["shards", "0"]).and_then(json::Value::as_array).expect("a list")[0];
    assert_eq!(shard.get("docs"), index.at(&["primaries", "docs"]));
    assert!(shard.get("routing").is_some() && shard.get("commit").is_some());
}
